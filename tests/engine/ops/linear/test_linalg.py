"""Matrix products of every rank, and the zero that stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.ops.linear.linalg import product_of_cotangent
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

AWKWARD = st.sampled_from([0.0, 1.0, -2.0, math.inf, -math.inf, math.nan])
SHAPES = [
    ((3,), (3,), "DotBackward0"),
    ((2, 3), (3, 4), "MmBackward0"),
    ((2, 3), (3,), "MvBackward0"),
    ((2,), (2, 3), "SqueezeBackward4"),
    ((2, 3, 4), (2, 4, 5), "UnsafeViewBackward0"),
    ((2, 3, 4), (4, 5), "UnsafeViewBackward0"),
    ((3, 4), (2, 4, 5), "CloneBackward0"),
    ((2, 1, 3, 4), (5, 4, 2), "UnsafeViewBackward0"),
    ((4,), (2, 4, 5), "UnsafeViewBackward0"),
    ((2, 3, 4), (4,), "UnsafeViewBackward0"),
]


@pytest.mark.parametrize(("one", "two", "name"), SHAPES)
def test_products_of_all_ranks(one: tuple[int, ...], two: tuple[int, ...], name: str) -> None:
    """Value, grad_fn and slopes of a product follow from the ranks; stacks broadcast."""
    chance = np.random.default_rng(7)
    x, y = (leaf(chance.normal(size=shape), requires_grad=True) for shape in (one, two))
    node = make.matmul(x, y)
    assert node.grad_fn == name
    weight = chance.normal(size=node.shape)
    found = gradients([node], [leaf(weight[()] if weight.shape else np.float64(weight))])
    values = evaluate([node, found[x], found[y]])
    np.testing.assert_allclose(values[node], x.value @ y.value)
    for argument in (x, y):
        direction = chance.normal(size=argument.shape)
        moved = direction @ y.value if argument is x else x.value @ direction
        assert np.sum(values[found[argument]] * direction) == pytest.approx(np.sum(weight * moved))


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (
            (2,),
            (3,),
            "inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements, "
            "but got 2 and 3 elements respectively",
        ),
        ((2, 2), (3,), "size mismatch, got input (2), mat (2x2), vec (3)"),
        ((2, 3, 4), (3,), "size mismatch, got input (6), mat (6x4), vec (3)"),
        ((3,), (2, 2), "mat1 and mat2 shapes cannot be multiplied (1x3 and 2x2)"),
        ((2, 3, 4), (3, 5), "mat1 and mat2 shapes cannot be multiplied (6x4 and 3x5)"),
        (
            (2, 3, 4),
            (2, 3, 5),
            "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3].",
        ),
        ((3,), (2, 4, 5), "Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [2, 4]."),
        ((2, 3), (5, 4, 2), "Expected size for first two dimensions of batch2 tensor to be: [5, 3] but got: [5, 4]."),
    ],
)
def test_the_message_is_that_of_pytorchs_routine(one: tuple[int, ...], two: tuple[int, ...], message: str) -> None:
    """Shapes that do not fit are told in the words of the routine that PyTorch would call for their ranks."""
    with pytest.raises(ShapeError) as caught:
        make.matmul(leaf(np.ones(one)), leaf(np.ones(two)))
    assert caught.value.message == message


def test_shapes_that_do_not_fit_are_told() -> None:
    """The message has PyTorch's words and both shapes."""
    with pytest.raises(ShapeError, match=r"cannot be multiplied .2x3 and 2x3."):
        make.matmul(leaf(np.ones((2, 3))), leaf(np.ones((2, 3))))
    with pytest.raises(ShapeError, match="at least 1D"):
        make.matmul(leaf(np.ones(2)), leaf(np.float64(1.0)))
    with pytest.raises(ShapeError, match="1D tensors expected"):
        make.dot(leaf(np.ones((2, 2))), leaf(np.ones(2)))


@settings(max_examples=30, deadline=None)
@given(st.lists(AWKWARD, min_size=4, max_size=4), st.lists(AWKWARD, min_size=4, max_size=4), st.sampled_from([0, 1]))
def test_a_zero_cotangent_stops_in_products(one: list[float], two: list[float], side: int) -> None:
    """A product with a cotangent is the sum of the single products in which the cotangent is not zero."""
    left, right = np.reshape(one, (2, 2)), np.reshape(two, (2, 2))
    node = product_of_cotangent(leaf(left), leaf(right), side)
    with np.errstate(all="ignore"):
        single = left[:, :, None] * right[None, :, :]
        cotangent = left[:, :, None] if side == 0 else right[None, :, :]
        wanted = np.where(cotangent == 0, 0.0, single).sum(axis=1)
    np.testing.assert_array_equal(evaluate([node])[node], wanted)


def test_a_dropped_row_passes_nothing_back(slopes: Slopes) -> None:
    """An infinite row of a matrix that the output does not use leaves the vector's slope finite."""
    matrix = leaf(np.array([[math.inf, 1.0], [1.0, 2.0]]))
    assert slopes(lambda v: make.select(make.matmul(matrix, v), 0, 1), [1.0, 1.0]) == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (lambda a, _x, _t: make.mm(a, a), "MmBackward0"),
        (lambda a, x, _t: make.mv(a, x), "MvBackward0"),
        (lambda _a, x, _t: make.dot(x, x), "DotBackward0"),
        (lambda _a, x, _t: make.vdot(x, x), "VdotBackward0"),
        (lambda a, _x, _t: make.vecdot(a, a), "SumBackward1"),
        (lambda _a, _x, t: make.bmm(t, t), "BmmBackward0"),
        (lambda _a, x, _t: make.outer(x, x), "MulBackward0"),
        (lambda a, _x, _t: make.addmm(a, a, a), "AddmmBackward0"),
        (lambda a, x, _t: make.addmv(x, a, x), "AddmvBackward0"),
        (lambda a, x, _t: make.addr(a, x, x), "AddrBackward0"),
        (lambda _a, _x, t: make.baddbmm(t, t, t), "BaddbmmBackward0"),
        (lambda a, _x, _t: make.trace(a), "TraceBackward0"),
        (lambda _a, x, _t: make.cross(x, x), "LinalgCrossBackward0"),
        (lambda a, _x, _t: make.kron(a, a), "UnsafeViewBackward0"),
        (lambda a, _x, _t: make.multi_dot([a, a, a]), "ViewBackward0"),
    ],
)
def test_grad_fn_of_named_products(node: Callable[..., Node], name: str) -> None:
    """Each named product has PyTorch's grad_fn."""
    sizes: tuple[tuple[int, ...], ...] = ((3, 3), (3,), (2, 3, 3))
    assert node(*(leaf(np.ones(size), requires_grad=True) for size in sizes)).grad_fn == name


def test_weights_of_added_products(value: Value, slopes: Slopes) -> None:
    """beta weighs what is added to, alpha the product."""
    ones = leaf(np.ones((2, 2)))
    assert value(make.addmm(ones, ones, ones, beta=0.5, alpha=2)) == [[4.5, 4.5], [4.5, 4.5]]
    assert slopes(lambda c: make.addmm(c, ones, ones, beta=0.5), [[1.0, 1.0], [1.0, 1.0]]) == [[[0.5, 0.5], [0.5, 0.5]]]


def test_small_products(value: Value, slopes: Slopes) -> None:
    """Cross product, trace and Kronecker product of small numbers, by hand."""
    assert value(make.cross(leaf(np.array([1.0, 0.0, 0.0])), leaf(np.array([0.0, 1.0, 0.0])))) == [0.0, 0.0, 1.0]
    assert slopes(make.trace, [[1.0, 2.0], [3.0, 4.0]]) == [[[1.0, 0.0], [0.0, 1.0]]]
    assert value(make.kron(leaf(np.array([1.0, 2.0])), leaf(np.array([1.0, 10.0])))) == [1.0, 10.0, 2.0, 20.0]
