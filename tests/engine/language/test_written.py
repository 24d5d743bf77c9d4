"""Arithmetic between written numbers is Python's, within what a float can hold."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import AgradError, LimitError
from agrad.engine.language.written import checked, fold

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "lt": operator.lt,
    "eq": operator.eq,
}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(_OPERATORS)), st.integers(-50, 50), st.integers(-50, 50))
def test_integers_stay_integers(name: str, a: int, b: int) -> None:
    """Sums, products and comparisons of integers are exact; a division by zero is an error."""
    if b == 0 and name in ("floor_divide", "remainder"):
        with pytest.raises(AgradError, match="division by zero"):
            fold(name, a, b)
    else:
        assert fold(name, a, b) == _OPERATORS[name](a, b)


@pytest.mark.parametrize("arguments", [(2, 2000), (9, 9**9), (-3, 10**6), (10.0, 400), (1e200, 2), (2, 10**400)])
def test_powers_that_no_float_holds_are_refused_before_they_are_computed(arguments: tuple[Any, Any]) -> None:
    """The error says how many digits there would be."""
    with pytest.raises(LimitError):
        fold("pow", *arguments)


def test_integers_larger_than_the_largest_float_are_refused() -> None:
    """A product of integers within the limit stays exact."""
    assert fold("mul", 2**500, 2**500) == 2**1000
    with pytest.raises(LimitError, match=r"about 30[0-9] digits"):
        checked(2**1025)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "bitwise_and", "lt", "matmul"]),
    st.one_of(st.integers(), st.floats(), st.complex_numbers(), st.booleans()),
    st.one_of(st.integers(), st.floats(), st.complex_numbers(), st.booleans()),
)
def test_any_two_numbers_have_a_result_or_an_error(name: str, a: Any, b: Any) -> None:
    """Nothing but our own errors is raised."""
    try:
        result = fold(name, a, b)
    except AgradError as error:
        result = error.message
    assert result is not None
