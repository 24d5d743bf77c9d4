"""Operator precedence: the value of an expression is Python's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import AgradError, Source
from agrad.engine.language import build
from agrad.engine.language.parser import Parser
from agrad.engine.language.postfix import arity
from agrad.engine.run.cpu import evaluate

_NAMES = {"a": 1.25, "b": -0.5, "c": 3.0}
_HEAD = "".join(f"{name} = {value}\n" for name, value in _NAMES.items())


def value(expression: str) -> float:
    """The value of an expression over a, b and c."""
    formulas = build(Source(f"{_HEAD}z = {expression}\n"))
    node = formulas.names["z"]
    return float(evaluate([node])[node])


_atoms = st.sampled_from(["a", "b", "c", "2", "3", "0.5", "1.", ".25", "1e1", "1_0"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "//", "%", " + ", " * "])
    return st.one_of(
        st.tuples(inner, operators, inner).map("".join),
        st.tuples(st.sampled_from(["-", "+", "- "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(_atoms, st.sampled_from(["**2", "**-1", "**2**-1", "**-2**2"])).map("".join),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} > {t[2]} else {t[2]})"),
    )


@settings(max_examples=60, deadline=None)
@given(st.recursive(_atoms, _compound, max_leaves=12))
def test_random_expressions_have_the_value_that_python_gives(expression: str) -> None:
    """Random expressions over + - * / // % ** unary signs, brackets and if-else have Python's value."""
    try:
        expected = eval(expression, dict(_NAMES))  # noqa: S307  # the reference is Python itself
    except (ZeroDivisionError, OverflowError, TypeError):
        return  # TypeError: Python's complex numbers have no order
    if isinstance(expected, complex) or not math.isfinite(expected):
        return
    found = math.nan
    try:
        found = value(expression)
    except AgradError as error:
        message = error.message
    else:
        message = ""
    if message:
        assert "fractional power" in message  # Python's value is complex there
        return
    if "//" in expression or "%" in expression:
        assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9) or abs(found - expected) >= 0.24
    else:
        assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("expression", "postfix"),
    [
        ("-x**2", "x 2 pow neg"),
        ("2**-1", "2 1 neg pow"),
        ("x**y**z", "x y z pow pow"),
        ("-x*y", "x neg y mul"),
        ("x - y - z", "x y sub z sub"),
        ("x @ y * z", "x y matmul z mul"),
        ("~x & y | z", "x bitwise_not y bitwise_and z bitwise_or"),
        ("x + y < z * 2", "x y add z 2 mul lt"),
        ("a if c else b if d else e", "a c b d e where where"),
        ("(x + y) * z", "x y add z mul"),
        ("x if y > 0 else -x", "x y 0 gt x neg where"),
    ],
)
def test_operators_group_as_in_python(expression: str, postfix: str) -> None:
    """The postfix form shows which operator binds tighter."""
    [statement] = Parser(expression).statements()
    shown = ["where" if payload is None else str(payload) for _, payload, _, _ in statement.instructions]
    assert " ".join(shown) == postfix


@settings(max_examples=60, deadline=None)
@given(st.recursive(_atoms, _compound, max_leaves=12))
def test_postfix_takes_what_is_there_and_leaves_one_value(expression: str) -> None:
    """Each instruction finds its operands on the stack, and one value is left."""
    [statement] = Parser(expression).statements()
    assert statement.error is None
    depth = 0
    for instruction in statement.instructions:
        depth -= arity(instruction)
        assert depth >= 0
        depth += 1
    assert depth == 1


@pytest.mark.parametrize(
    ("expression", "spans"),
    [
        ("x + y*z", ["x", "y", "z", "y*z", "x + y*z"]),
        ("(x + y)*z", ["x", "y", "x + y", "z", "(x + y)*z"]),
        ("sin( x )", ["x", "sin( x )"]),
        ("x.sum(dim = 0)", ["x", "0", "x.sum(dim = 0)"]),
        ("-x ** 2", ["x", "2", "x ** 2", "-x ** 2"]),
        ("x[1:, 0]", ["x", "1", "", "1:", "0", "x[1:, 0]"]),
        ("[x, 1].T", ["x", "1", "[x, 1]", "[x, 1].T"]),
        ("torch.pi", ["torch.pi"]),
    ],
)
def test_each_instruction_has_the_span_of_its_whole_sub_expression(expression: str, spans: list[str]) -> None:
    """The span of an instruction covers everything that it is computed from."""
    [statement] = Parser(expression).statements()
    assert [expression[start:end] for _, _, start, end in statement.instructions] == spans


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("+".join(["x"] * 100_000), 99_999),
        ("(" * 100_000 + "x" + ")" * 100_000, 0),
        ("-" * 100_000 + "x", 100_000),
        ("sin(" * 20_000 + "x" + ")" * 20_000, 20_000),
        ("x if x > 0 else " * 5_000 + "x", 10_000),
    ],
)
def test_nothing_recurses(text: str, count: int) -> None:
    """Sums of 10^5 terms and 10^5 nested brackets are read."""
    [statement] = Parser(text).statements()
    assert statement.error is None
    assert sum(arity(instruction) > 0 for instruction in statement.instructions) == count
