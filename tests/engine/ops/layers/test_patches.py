"""Patches as columns: values by hand, the transpose, a convolution as a product, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import TABLE, Node, leaf, make

Value = Callable[[Node], Any]
unfold = TABLE["nn.unfold"]


def test_patches_are_columns(value: Value) -> None:
    """Each column is one patch; fold adds what overlaps."""
    x = leaf(np.arange(1.0, 7.0).reshape(1, 2, 3))
    columns = unfold(x, 2)
    assert value(columns) == [[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]
    assert value(make.fold(columns, (2, 3), 2)) == [[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]


def test_names_of_the_functions() -> None:
    """PyTorch's names; the tensor method `unfold` is another op."""
    x = leaf(np.ones((1, 1, 3, 3)), requires_grad=True)
    columns = unfold(x, 2)
    assert columns.grad_fn == "Im2ColBackward0"
    assert make.fold(columns, 3, 2).grad_fn == "Col2ImBackward0"
    assert TABLE["unfold"] is not unfold


@settings(max_examples=30, deadline=None)
@given(
    dilation=st.integers(1, 2),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 1)),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    seed=st.integers(0, 9),
)
def test_a_convolution_is_a_product_with_the_columns(
    value: Value, pairings: Callable[..., list[float]], seed: int, **geometry: Any
) -> None:
    """conv2d is the weight's matrix times the columns, and fold and unfold are each other's transposes."""
    random = np.random.default_rng(seed)
    x, weight = leaf(random.standard_normal((2, 2, 5, 6))), random.standard_normal((3, 2, 2, 3))
    columns = unfold(x, (2, 3), **geometry)
    product = weight.reshape(3, -1) @ np.array(value(columns))
    expected = np.array(value(make.conv2d(x, leaf(weight), **geometry)))
    np.testing.assert_allclose(product.reshape(expected.shape), expected, atol=1e-12)
    for function, shape in (
        (lambda x: unfold(x, (2, 3), **geometry), (2, 5, 6)),
        (lambda x: make.fold(x, (5, 6), (2, 3), **geometry), columns.shape),
    ):
        one, other = pairings(function, shape, seed)
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10)


def test_sizes_that_do_not_fit() -> None:
    """The message is PyTorch's."""
    with pytest.raises(ShapeError, match="calculated shape of the array of sliding blocks as"):
        unfold(leaf(np.zeros((1, 2, 2, 2))), 3)
    with pytest.raises(ShapeError, match="to be divisible by the product of kernel_size"):
        make.fold(leaf(np.zeros((1, 17, 16))), (6, 6), 3)
    with pytest.raises(ShapeError, match=r"expected size of input's dimension 2 to match .* 4 \* 4 = 16"):
        make.fold(leaf(np.zeros((1, 18, 15))), (6, 6), 3)
    with pytest.raises(InputError, match="It is expected kernel_size equals to 2"):
        unfold(leaf(np.zeros((1, 2, 6, 6))), (3, 3, 3))
