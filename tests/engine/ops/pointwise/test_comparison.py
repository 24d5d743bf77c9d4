"""Comparisons and logic: values, dtypes, and that no gradient flows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.referees.arithmetic import PreciseArithmetic

Value = Callable[[Node], Any]

NAN, INF = math.nan, math.inf
SPECIAL = np.array([-INF, -1.0, -0.0, 0.0, 2.0, INF, NAN])


@pytest.mark.parametrize(
    ("name", "ufunc"),
    [
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
        ("eq", np.equal),
        ("ne", np.not_equal),
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
        ("isclose", np.isclose),
    ],
)
def test_two_tensors(value: Value, name: str, ufunc: Callable[..., Any]) -> None:
    """A comparison of all pairs, zeros, infinities and NaN included, gives booleans of the broadcast shape."""
    column, row = SPECIAL[:, None], SPECIAL
    node = TABLE[name](leaf(column), leaf(row))
    assert node.shape == (7, 7)
    assert node.dtype == np.bool_
    assert value(node) == ufunc(column, row).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("isnan", [0, 0, 0, 0, 0, 0, 1]),
        ("isinf", [1, 0, 0, 0, 0, 1, 0]),
        ("isfinite", [0, 1, 1, 1, 1, 0, 0]),
        ("isposinf", [0, 0, 0, 0, 0, 1, 0]),
        ("isneginf", [1, 0, 0, 0, 0, 0, 0]),
        ("signbit", [1, 1, 1, 0, 0, 0, 0]),
        ("logical_not", [0, 0, 1, 1, 0, 0, 0]),
    ],
)
def test_one_tensor(value: Value, name: str, expected: list[int]) -> None:
    """The tests of one tensor see infinities, NaN and the sign of zero."""
    assert value(TABLE[name](leaf(SPECIAL))) == [bool(entry) for entry in expected]


@pytest.mark.parametrize(
    ("alias", "name"),
    [("less", "lt"), ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge"), ("not_equal", "ne")],
)
def test_long_names(alias: str, name: str) -> None:
    """The long names of PyTorch and NumPy mean the same rows."""
    assert TABLE[alias] is TABLE[name]


def test_no_gradient(value: Value) -> None:
    """The result of a comparison requires no gradient and has no grad_fn."""
    node = leaf(np.float64(1.0), requires_grad=True) > 0.0
    assert value(node) is True
    assert not node.requires_grad
    assert node.grad_fn is None


def test_bitwise_on_masks_and_integers(value: Value) -> None:
    """Masks stay masks and integers stay integers; mixed they are integers."""
    mask, other = leaf(np.array([True, True, False])), leaf(np.array([True, False, False]))
    six, three = leaf(np.array([6])), leaf(np.array([3]))
    assert value(make.bitwise_and(mask, other)) == [True, False, False]
    assert value(make.bitwise_or(mask, other)) == [True, True, False]
    assert value(make.bitwise_xor(mask, other)) == [False, True, False]
    assert value(make.bitwise_not(mask)) == [False, False, True]
    assert [value(op(six, three)) for op in (make.bitwise_and, make.bitwise_or, make.bitwise_xor)] == [[2], [7], [5]]
    assert value(make.bitwise_not(six)) == [-7]
    assert make.bitwise_and(mask, six).dtype == np.int64


def test_bitwise_on_floats_is_refused() -> None:
    """Floats under & and | are refused, and the message says what to write."""
    with pytest.raises(InputError, match="booleans and integers") as caught:
        make.bitwise_and(leaf(1.0), leaf(True))
    assert "(x > 0) & (y > 0)" in caught.value.hint


def test_isclose_tolerances(value: Value) -> None:
    """The tolerances are PyTorch's, relative to the second tensor, and NaN equals NaN only on demand."""
    assert value(make.isclose(leaf(1.0), leaf(1.0 + 9e-6)))
    assert not value(make.isclose(leaf(1.0), leaf(1.0 + 3e-5)))
    assert value(make.isclose(leaf(1.0), leaf(1.1), rtol=0.1))
    assert not value(make.isclose(leaf(NAN), leaf(NAN)))
    assert value(make.isclose(leaf(NAN), leaf(NAN), equal_nan=True))


COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor", "isclose"]


@given(x=st.floats(-5.0, 5.0), y=st.floats(-5.0, 5.0), tie=st.booleans())
def test_formulas_mean_what_kernels_do(value: Value, x: float, y: float, tie: bool) -> None:
    """What a row means in exact arithmetic is what its kernel computes, at ties too."""
    exact = PreciseArithmetic()
    y = x if tie else y
    for name in COMPARISONS:
        node = TABLE[name](leaf(np.float64(x)), leaf(np.float64(y)))
        assert node.op.formula is not None
        assert node.op.formula(exact, exact.number(x), exact.number(y), **node.attrs) == value(node), name
