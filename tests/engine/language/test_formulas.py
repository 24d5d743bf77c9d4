"""Formulas: bindings, what to differentiate by, values from outside, dtypes, and texts of any kind."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import AgradError, InputError, Source, Span
from agrad.engine.graph import FLOAT32, INT64
from agrad.engine.language import Formulas, build, render
from agrad.engine.run.cpu import evaluate


def formulas(text: str, **options: Any) -> Formulas:
    """The formulas of a text."""
    return build(Source(text, "f.txt"), **options)


def value(found: Formulas, name: str) -> Any:
    """The value of a name."""
    return evaluate([found.names[name]])[found.names[name]]


def test_bindings_stand_in_the_order_of_the_text() -> None:
    """Both bindings of a name that is assigned twice are kept; `names` has the last."""
    found = formulas("x = 1.0\ny = x*2\nx = y + x\nx += 1")
    assert [b.name for b in found.bindings] == ["x", "y", "x", "x"]
    assert found.names["x"] is found.bindings[3].node
    assert found.last == "x"
    assert value(found, "x") == 4.0
    assert [found.source.text[slice(*b.expression)] for b in found.bindings] == ["1.0", "x*2", "y + x", "1"]


def test_an_alias_is_the_same_node() -> None:
    """`y = x` gives a second name, and the first one stays the node's."""
    found = formulas("x = 1.0\ny = x")
    assert found.names["x"] is found.names["y"]
    assert found.names["y"].name == "x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1.0\ny = [1.0, 2.0]\nz = x*y", ["x", "y"]),
        ("x = tensor([1.0], requires_grad=True)\ny = 2.0\nz = x*y", ["x"]),
        ("x = tensor([1.0], requires_grad=False)\ny = 2.0\nz = x*y", ["y"]),
        ("x = 1.0 # requires_grad\nz = x", ["x"]),
        ("x = [1.0, 2.0]\ni = [0, 1]\nk = 1\nz = x[i] + x[k]", ["x"]),
        ("x = [1.0, 2.0]\nk = 1\nz = x[k]*k", ["x", "k"]),
        ("x = [1.0, 2.0]\nb = [True, False]\nz = x[b]", ["x"]),
        ("x = ones(2)\nz = x*2", ["x"]),
        ("x = [1.0, 2.0]\nn = x.shape[0]\nz = x/n", ["x"]),
        ("x = [1.0, 2.0]\nd = 0\nz = x.sum(d)", ["x"]),
    ],
)
def test_the_default_is_every_leaf_of_floats_that_is_declared_or_used_as_such(text: str, expected: list[str]) -> None:
    """Declared leaves if there are any, else named leaves of floats that are not only indices or axes."""
    found = formulas(text)
    assert list(found.wrt) == expected
    assert all(node.requires_grad for node in found.wrt.values())


def test_only_the_leaves_that_are_asked_for_require_a_gradient() -> None:
    """`wrt` in the order asked."""
    found = formulas("x = 1.0\ny = 2.0\nv = 3.0\nz = x*y*v", wrt=["v", "x"])
    assert list(found.wrt) == ["v", "x"]
    assert [found.names[name].requires_grad for name in ("x", "y", "v")] == [True, False, True]


def test_an_intermediate_node_may_be_asked_for() -> None:
    """Then the leaves that it depends on require a gradient too, and only those."""
    found = formulas("x = 1.0\ny = 2.0\na = x*2\nz = a*y", wrt=["a"])
    assert found.wrt["a"] is found.names["a"]
    assert found.names["a"].requires_grad
    assert [found.names[name].requires_grad for name in ("x", "y")] == [True, False]


@pytest.mark.parametrize(
    ("text", "wrt", "message", "hint"),
    [
        ("alpha = 1.0", "alpah", "no name of the file", "alpha"),
        ("b = [True]", "b", "its dtype is bool", ""),
        ("y = arange(3).sum()", "y", "depends on no leaf of floats", ""),
    ],
)
def test_what_cannot_be_differentiated_by_is_an_error(text: str, wrt: str, message: str, hint: str) -> None:
    """An unknown name, booleans, a constant."""
    with pytest.raises(InputError, match=message) as caught:
        formulas(text, wrt=[wrt])
    assert hint in caught.value.hint
    assert caught.value.source is not None


def test_names_without_a_value_come_from_outside() -> None:
    """An input is a leaf, its binding is marked as given and shows where it is first used."""
    found = formulas("z = x**2 + y", inputs={"x": 1, "y": [1.0, 2.0]})
    assert [(b.name, b.given) for b in found.bindings] == [("x", True), ("y", True), ("z", False)]
    assert found.bindings[0].expression == Span(4, 5)
    assert list(found.wrt) == ["x", "y"]
    np.testing.assert_array_equal(value(found, "z"), [2.0, 3.0])


def test_a_given_value_replaces_a_leaf_of_the_text_with_a_warning() -> None:
    """The text's own value is not used."""
    found = formulas("x = 1.0\nz = x*2", inputs={"x": 5})
    assert value(found, "z") == 10.0
    assert found.warnings == ["x of f.txt:1 is replaced by the value given"]


def test_a_declared_leaf_stays_declared_when_its_value_is_replaced() -> None:
    """`requires_grad=True` of the text holds for the value given."""
    found = formulas("x = tensor([1.0], requires_grad=True)\ny = 1.0\nz = x*y", inputs={"x": [2.0]})
    assert list(found.wrt) == ["x"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"z": 1.0}, "z is computed on line 2"),
        ({"xx": 1.0}, "the file does not use xx"),
        ({"x": "abc"}, "no array of numbers"),
        ({"x": [[1], [2, 3]]}, "no array of numbers"),
        ({"x": object()}, "no array of numbers"),
    ],
)
def test_wrong_inputs_are_errors(inputs: dict[str, Any], message: str) -> None:
    """A computed name, an unused name, values that are no numbers."""
    with pytest.raises(InputError, match=message):
        formulas("x = 1.0\nz = x*2", inputs=inputs)


def test_integers_from_outside_are_labels_where_labels_are_wanted() -> None:
    """An array of integers indexes, and counts as floats elsewhere."""
    found = formulas("z = y[i] + x", inputs={"i": np.array([0, 2]), "x": np.array([1, 2]), "y": [1.0, 2.0, 3.0]})
    assert found.names["i"].dtype == INT64
    assert found.names["x"].requires_grad
    assert list(found.wrt) == ["y", "x"]


def test_float32_reaches_every_leaf() -> None:
    """Numbers, lists, constructors, functions of numbers and values from outside are float32."""
    found = formulas(
        "x = 1.5\ny = [1, 2]\nw = ones(2)\nz = x*y*w*2.5 + sqrt(2)*v", dtype=FLOAT32, inputs={"v": np.array(1.0)}
    )
    assert {b.node.dtype for b in found.bindings} == {FLOAT32}


def test_several_results_are_named_and_unpacked() -> None:
    """A name for a call with several results binds each of them; unpacking binds names."""
    found = formulas(
        "A = [[1.0, 2.0], [4.0, 3.0]]\nr = torch.max(A, 0)\nv, i = torch.max(A, 0)\na, b = A\nz = r.values"
    )
    assert [b.name for b in found.bindings] == ["A", "r.values", "r.indices", "v", "i", "a", "b", "z"]
    np.testing.assert_array_equal(value(found, "v"), [4.0, 3.0])
    np.testing.assert_array_equal(value(found, "b"), [4.0, 3.0])


def test_unpacking_into_a_wrong_number_of_names_is_an_error() -> None:
    """The message has both numbers."""
    with pytest.raises(InputError, match="3 names for 2 values"):
        formulas("a, b, c = [1.0, 2.0]")


def test_an_item_assignment_binds_the_name_again() -> None:
    """`b[1] = v` makes a new node of the same name."""
    found = formulas("b = [1.0, 2.0]\nx = 5.0\nb[1] = x*2\nz = b*1")
    np.testing.assert_array_equal(value(found, "z"), [1.0, 10.0])
    assert [b.name for b in found.bindings] == ["b", "x", "b", "z"]


def test_an_expression_alone_is_the_result() -> None:
    """An expression without a name is bound to `result`."""
    found = formulas("x = 3.0\nx**2")
    assert found.last == "result"
    assert value(found, "result") == 9.0


def test_claims_are_kept_and_not_evaluated() -> None:
    """Lines with `assert` and domains are spans."""
    text = "x = 1.0\nassert d(z)/d(x) == 2*x, 'slope'\nx in (0, inf)\nz = x**2"
    found = formulas(text)
    assert [text[slice(*claim)] for claim in found.claims] == ["assert d(z)/d(x) == 2*x, 'slope'", "x in (0, inf)"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "assert 1 == 1"])
def test_a_text_without_formulas_is_an_error(text: str) -> None:
    """There is nothing to evaluate, and the message has a place."""
    with pytest.raises(InputError, match="no formula") as caught:
        formulas(text)
    assert caught.value.location is not None


def test_lines_of_a_second_source_have_their_own_numbers() -> None:
    """An inline expression after a file is located in itself."""
    source = Source("x = 1.0\n", "a.txt")
    source.append("y = x + q", "-e")
    with pytest.raises(InputError) as caught:
        build(source)
    assert render(caught.value).startswith("-e:1:9: q has no value")


def test_a_parameter_that_is_a_plain_number_is_warned_of() -> None:
    """A leaf that a row takes as a plain number gets no gradient, and the text is told so."""
    found = formulas("s = 0.1\nx = [1.0, -2.0]\ny = F.leaky_relu(x, s)")
    assert list(found.wrt) == ["x"]
    assert "s is a plain number as negative_slope of leaky_relu" in found.warnings[0]


@pytest.mark.parametrize(
    "numbers", [", ".join(str(i / 8) for i in range(20_000)), ",\n".join(str(i / 8) for i in range(20_000))]
)
def test_long_lists_are_one_leaf(numbers: str) -> None:
    """A list of many numbers, on one line or on many."""
    found = formulas(f"x = [{numbers}]\nz = x[3]")
    np.testing.assert_array_equal(found.names["x"].value, np.arange(20_000) / 8)


def test_a_long_list_may_be_an_index_or_hold_expressions() -> None:
    """What looks like a long list of numbers keeps its meaning where it is not one."""
    many = ", ".join(["0"] * 30)
    found = formulas(f"x = [5.0, 6.0]\ny = x[[{many}, 1]]\nz = [{many}, 1-2, x[1]]\nw = [{many}][2] + x")
    assert found.names["y"].shape == (31,)
    assert found.names["z"].shape == (32,)
    assert value(found, "z")[-2] == -1.0


def test_a_sum_of_many_terms_and_many_lines_are_built() -> None:
    """20,000 terms, and a chain of 2,000 lines."""
    assert value(formulas("x = 0.5\ny = " + " + ".join(["x"] * 20_000)), "y") == 10_000.0
    lines = ["x0 = 1.0", *(f"x{i} = x{i - 1}*0.99 + 0.01" for i in range(1, 2_000))]
    assert abs(value(formulas("\n".join(lines)), "x1999") - 1.0) < 1e-12


@pytest.mark.parametrize("bracket", ["(", "["])
def test_brackets_that_never_close_are_one_error(bracket: str) -> None:
    """Many open brackets are answered at once."""
    with pytest.raises(AgradError, match="never closed"):
        formulas("y = " + bracket * 20_000)


def test_lists_nested_too_deep_are_an_error() -> None:
    """No array has as many axes."""
    for inner in ("1", "x"):
        with pytest.raises(AgradError, match="nested more than 32 deep"):
            formulas("x = 1.0\ny = " + "[" * 10_000 + inner + "]" * 10_000)


_FRAGMENTS = st.sampled_from(
    [
        "x",
        "y",
        "A",
        "z",
        "1",
        "2.5",
        "0",
        "-",
        "+",
        "*",
        "/",
        "**",
        "//",
        "%",
        "@",
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        "...",
        "None",
        "True",
        "=",
        "==",
        "<",
        "&",
        "|",
        "~",
        "^",
        ";",
        ".T",
        ".sum()",
        ".shape",
        "[0]",
        "[1:]",
        "torch.",
        "np.",
        "F.",
        "dim=0",
        "axis=1",
        "if",
        "else",
        "and",
        "in",
        "assert",
        "'a'",
        '"',
        "#",
        "\\",
        "1e400",
        "0.3j",
        "9**9",
        "import",
        "print(x)",
        "sin(",
        "exp(",
        "where(",
        "cat(",
        "stack(",
        "ones(",
        "tensor(",
        "requires_grad=True",
        "float(",
        "list(",
        "max(",
        "sort(",
        "reshape(",
        ":=",
        "!",
        "+=",
        "\n",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_FRAGMENTS, max_size=14).map(" ".join))
def test_any_pieces_of_the_language_are_built_or_refused(text: str) -> None:
    """A random line raises nothing but errors that can be shown."""
    try:
        formulas("x = 2.0\ny = [1.0, 2.0]\nA = [[1.0, 2.0], [3.0, 4.0]]\nz = " + text)
    except AgradError as error:
        shown = render(error)
    else:
        shown = "built"
    assert shown


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_built_or_refused(text: str) -> None:
    """Any text raises nothing but errors, which are shown without control characters."""
    try:
        formulas(text)
    except AgradError as error:
        shown = render(error)
    else:
        shown = ""
    assert all(character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs") for character in shown)
