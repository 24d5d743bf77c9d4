"""What expressions mean: rows, attributes, indices, numbers that fold, spans of nodes and errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError, InputError, LimitError, SeveralErrors, ShapeError, Source
from agrad.engine.graph import Node
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

_HEAD = "x = 2.0\ny = [1.0, 2.0, 3.0]\nA = [[1.0, 2.0], [3.0, 4.0]]\nb = [True, False, True]\nk = 1\n"


def node_of(expression: str) -> Node:
    """The node of an expression over some leaves."""
    return build(Source(f"{_HEAD}z = {expression}")).names["z"]


def value(expression: str) -> Any:
    """The value of an expression over some leaves."""
    node = node_of(expression)
    return evaluate([node])[node]


def error_of(expression: str) -> tuple[AgradError, list[str]]:
    """The error of an expression, and the texts that its spans cover."""
    text = f"{_HEAD}z = {expression}"
    with pytest.raises(AgradError) as caught:
        build(Source(text))
    return caught.value, [text[slice(*span)] for span in caught.value.spans]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("y[0]", 1.0),
        ("y[-1]", 3.0),
        ("y[k]", 2.0),
        ("y[k + 1]", 3.0),
        ("y[0:2]", [1.0, 2.0]),
        ("y[::2]", [1.0, 3.0]),
        ("y[k:]", [2.0, 3.0]),
        ("A[:, 1]", [2.0, 4.0]),
        ("A[..., 0]", [1.0, 3.0]),
        ("A[0, None]", [[1.0, 2.0]]),
        ("A[(1, 0)]", 3.0),
        ("y[[0, 2]]", [1.0, 3.0]),
        ("y[b]", [1.0, 3.0]),
        ("y[y > 1.5]", [2.0, 3.0]),
        ("[5.0, 6.0][1]", 6.0),
        ("A.T[0]", [1.0, 3.0]),
        ("A.mT[0]", [1.0, 3.0]),
        ("A.shape[0]*x", 4.0),
        ("A.ndim*x", 4.0),
        ("A.size(1)*x", 4.0),
        ("len(y)*x", 6.0),
        ("y.numel()*x", 6.0),
        ("y.sum()", 6.0),
        ("torch.sum(y)", 6.0),
        ("np.sum(A, axis=0)", [4.0, 6.0]),
        ("A.sum(dim=1, keepdim=True)", [[3.0], [7.0]]),
        ("A.sum(axis=1, keepdims=True)", [[3.0], [7.0]]),
        ("A.sum(k)", [3.0, 7.0]),
        ("y.reshape(3, 1).shape[0] + 0*x", 3.0),
        ("y.reshape((3, k))[0]", [1.0]),
        ("y.exp().log().sum()", 6.0),
        ("math.sqrt(4)", 2.0),
        ("[x, 2*x, 1]", [2.0, 4.0, 1.0]),
        ("[[x, 1], [2, x]]", [[2.0, 1.0], [2.0, 2.0]]),
        ("torch.stack([x, x])", [2.0, 2.0]),
        ("torch.cat([y, [9, 8]])", [1.0, 2.0, 3.0, 9.0, 8.0]),
        ("x if x > 1 else -x", 2.0),
        ("x if False else -x", -2.0),
        ("where(y > 1.5, y, 0)", [0.0, 2.0, 3.0]),
        ("y.where(b, 0.0)", [1.0, 0.0, 3.0]),
        ("list(A)[1]", [3.0, 4.0]),
        ("torch.max(A, 0).values", [3.0, 4.0]),
        ("torch.max(A, 0)[0]", [3.0, 4.0]),
        ("~(y > 1.5)", [True, False, False]),
        ("(y > 0) & (y < 2)", [True, False, False]),
        ("x*float('inf')", math.inf),
        ("x*np.inf", math.inf),
        ("x*torch.pi", 2 * math.pi),
        ("y.to(torch.float32)", [1.0, 2.0, 3.0]),
        ("np.std(y)", math.sqrt(2 / 3)),
        ("torch.std(y)", 1.0),
        ("np.std(y, ddof=1)", 1.0),
        ("torch.gather(A, 1, [[0], [1]])", [[1.0], [4.0]]),
        ("pow(x, 3)", 8.0),
        ("A @ [1, 1]", [3.0, 7.0]),
        ("[1, 2, 3]*y", [1.0, 4.0, 9.0]),
    ],
)
def test_expressions_have_the_value_that_pytorch_or_numpy_gives(expression: str, expected: Any) -> None:
    """Indices, attributes, methods, prefixes, lists, conditions and integers in the places of integers."""
    np.testing.assert_allclose(value(expression), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1/2", 0.5),
        ("2**10", 1024.0),
        ("-7//2", -4.0),
        ("-7 % 3", 2.0),
        ("2**-1", 0.5),
        ("1 < 2", True),
        ("True & False", False),
        ("0.3j*2", 0.6j),
        ("1e999", math.inf),
        ("-inf", -math.inf),
        ("2*pi", 2 * math.pi),
    ],
)
def test_written_numbers_are_folded_into_one_leaf(expression: str, expected: Any) -> None:
    """Arithmetic between numbers only makes no nodes."""
    node = node_of(expression)
    assert node.args == ()
    assert node.value == expected
    assert isinstance(node.value, np.generic)


@pytest.mark.parametrize(
    ("expression", "kind", "message", "under"),
    [
        ("9**9**9", LimitError, "about 369,693,100 digits", "9**9**9"),
        ("2*10.0**400", LimitError, "about 400 digits", "10.0**400"),
        ("1/0", InputError, "division by zero", "1/0"),
        ("x + 5 % 0", InputError, "division by zero", "5 % 0"),
        ("(-8)**(1/3)", InputError, "fractional power", "(-8)**(1/3)"),
        ("2 @ 3", InputError, "matrices", "2 @ 3"),
        ("1.5 & 2", InputError, "booleans and integers", "1.5 & 2"),
        ("ones(10**12)", LimitError, "8,000 GB", "ones(10**12)"),
        ("x + [[1, 2], [3]]", ShapeError, "item 0 is of length 2, item 1 of length 1", "[3]"),
        ("[1, [2]]", ShapeError, "item 0 is a number, item 1 of length 1", "[2]"),
        ("y[1.5]", InputError, "an index must be an integer, not 1.5", "y[1.5]"),
        ("y[x]", InputError, "an index holds integers", "y[x]"),
        ("y['a']", InputError, "the string 'a' is no index", "y['a']"),
        ("y[x:]", InputError, "a slice has integers", "x:"),
        ("y + 'a'", InputError, "cannot be calculated with", "y + 'a'"),
        ("torch.max(A, 0)*2", InputError, "several results", "torch.max(A, 0)*2"),
        ("sqrt()", InputError, "misses its argument input", "sqrt()"),
        ("sqrt(x, x, x)", InputError, "takes 1 positional argument (input), not 3", "sqrt(x, x, x)"),
        ("y.sum(dim=0, axis=0)", InputError, "given twice", "0"),
        ("torch.cat(x, y)", InputError, "must be", "y"),
    ],
)
def test_wrong_expressions_are_located(expression: str, kind: type[AgradError], message: str, under: str) -> None:
    """The error is of its kind, and the caret is under the part that is wrong."""
    error, spans = error_of(expression)
    assert isinstance(error, kind)
    assert message in error.message
    assert spans[0] == under


@pytest.mark.parametrize(
    ("expression", "message", "under", "hint"),
    [
        ("torch.sqr(x)", "unknown function torch.sqr", "torch.sqr", "sqrt"),
        ("sinn(x)", "unknown function sinn", "sinn", "sin"),
        ("x.sqr()", "unknown method .sqr()", "sqr", "sqrt"),
        ("A.mt", "unknown attribute .mt", "A.mt", "mT"),
        ("A.sum(dmi=0)", "sum has no parameter dmi", "dmi", "dim"),
        ("A.sum(0, keepdmi=True)", "sum has no parameter keepdmi", "keepdmi", "keepdim"),
        ("torch.max(A, 0).value", "unknown attribute .value", "torch.max(A, 0).value", "values"),
        ("torch.floatt", "unknown name torch.floatt", "torch.floatt", "float"),
        ("sin", "sin is a function", "sin", "sin(...)"),
        ("x.sin", ".sin is a method", "x.sin", ".sin()"),
        ("torch", "torch is a module", "torch", "torch.FUNCTION"),
        ("xx", "xx has no value", "xx", "--at xx="),
        ("π*x", "π has no value", "π", "pi"),
    ],
)
def test_misspelt_names_are_answered_with_the_nearest(expression: str, message: str, under: str, hint: str) -> None:
    """Functions, methods, attributes, keywords, names."""
    error, spans = error_of(expression)
    assert message in error.message
    assert spans == [under]
    assert hint in error.hint


def test_shape_errors_of_operators_have_both_operands() -> None:
    """The spans are those of the left and of the right operand."""
    error, spans = error_of("A*2 + exp(y)")
    assert isinstance(error, ShapeError)
    assert spans == ["A*2", "exp(y)"]


def test_nodes_know_their_names_and_places() -> None:
    """A named node has the name given first; an inner node has the span of its sub-expression."""
    text = "x = 2.0\nz = sin(x)*3 + x\nw = z"
    formulas = build(Source(text))
    z = formulas.names["z"]
    assert formulas.names["w"] is z
    assert (z.name, text[slice(*z.span or (0, 0))]) == ("z", "sin(x)*3 + x")
    assert [text[slice(*arg.span or (0, 0))] for arg in z.args] == ["sin(x)*3", "2.0"]


def test_a_failed_statement_does_not_cascade() -> None:
    """What uses the name of a failed statement is silent, and an unknown name is reported once."""
    with pytest.raises(SeveralErrors) as caught:
        build(Source("a = 2x\nb = a + 1\nc = q\nd = q + b\ne = c.foo\nf = [1, [2]]"))
    assert [error.message.split()[0] for error in caught.value.errors] == ["an", "q", "ragged"]


def test_at_most_twenty_errors_are_collected() -> None:
    """A hopeless text does not flood the screen."""
    with pytest.raises(SeveralErrors) as caught:
        build(Source("\n".join(f"a{i} = {i}x" for i in range(1000))))
    assert len(caught.value.errors) == 20


@pytest.mark.parametrize(
    ("text", "hint"),
    [("y = x\nx = 1", "line 2"), ("a = b\nb = a", "line 2"), ("a = w\nw, v = [1.0, 2.0]", "line 2")],
)
def test_a_name_that_is_assigned_later_says_where(text: str, hint: str) -> None:
    """Using a name too early, also in a circle, names the line of its assignment."""
    with pytest.raises(InputError, match="used before it is assigned") as caught:
        build(Source(text))
    assert hint in caught.value.hint


def test_names_that_are_functions_and_prefixes_may_be_assigned() -> None:
    """`e`, `pi`, `F` and `sum` mean what the text says once they are assigned, and functions are still called."""
    formulas = build(Source("e = 3.0\nF = [[1.0, 2.0]]\nsum = sum(F)\nz = e*F.T + sum(F)\npi = e"))
    np.testing.assert_array_equal(evaluate([formulas.names["z"]])[formulas.names["z"]], [[6.0], [9.0]])


def test_operators_keep_the_name_of_their_grad_fn() -> None:
    """The short way of scalar arithmetic makes the nodes that the rows make."""
    names = {
        "x + x": "Add",
        "x - x": "Sub",
        "x*x": "Mul",
        "x/x": "Div",
        "x**x": "Pow",
        "x + 1.5": "Add",
        "x*1.5": "Mul",
    }
    for expression, name in names.items():
        assert node_of(expression).grad_fn in (f"{name}Backward0", f"{name}Backward1"), expression
    assert node_of("1.5 - x").grad_fn == "RsubBackward1"
