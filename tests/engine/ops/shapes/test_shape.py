"""Views: shapes, orders of dimensions, and PyTorch's names for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import Node, leaf, make

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]


def numbers(*shape: int) -> Node:
    """A leaf that counts from 0."""
    return leaf(np.arange(float(np.prod(shape))).reshape(shape)[()], requires_grad=True)


A = numbers(2, 3)
T = numbers(2, 3, 4)
SCALAR = numbers()


@pytest.mark.parametrize(
    ("result", "grad_fn"),
    [
        (make.reshape(A, 6), "ViewBackward0"),
        (make.reshape(A, 2, 3), "ViewBackward0"),
        (make.reshape(make.t(A), 6), "UnsafeViewBackward0"),
        (make.reshape(make.t(A), 3, 2), "ReshapeAliasBackward0"),
        (make.flatten(make.T(A) * 2.0), "UnsafeViewBackward0"),
        (make.flatten(make.t(make.t(A))), "ViewBackward0"),
        (make.flatten(A + make.reshape(make.t(numbers(3, 2)), 2, 3)), "ViewBackward0"),
        (make.reshape(make.expand(numbers(3), 2, 3), 6), "UnsafeViewBackward0"),
        (make.reshape(make.getitem(numbers(4), slice(None, None, 2)), 2, 1), "ReshapeAliasBackward0"),
        (make.flatten(make.permute(T, 0, 1, 2)), "ViewBackward0"),
        (make.flatten(make.unsqueeze(make.permute(T, 2, 0, 1), 0)), "UnsafeViewBackward0"),
        (make.flatten(make.contiguous(make.t(A))), "ViewBackward0"),
        (make.ravel(make.t(A)), "ViewBackward0"),
        (make.squeeze(A), "SqueezeBackward0"),
        (make.squeeze(A, 0), "SqueezeBackward1"),
        (make.squeeze(A, (0, 1)), "SqueezeBackward2"),
        (make.t(A), "TBackward0"),
        (make.T(A), "PermuteBackward0"),
        (make.mT(A), "TransposeBackward0"),
        (make.H(A), "TransposeBackward0"),
        (make.transpose(A), "PermuteBackward0"),
        (make.transpose(A, (1, 0)), "PermuteBackward0"),
        (make.movedim(T, 0, 2), "PermuteBackward0"),
        (make.expand(A, 2, 3), "ExpandBackward0"),
        (make.atleast_2d(SCALAR), "ViewBackward0"),
        (make.atleast_2d(numbers(3)), "UnsqueezeBackward0"),
    ],
)
def test_names(result: Node, grad_fn: str) -> None:
    """A view has the grad_fn that PyTorch gives it, which depends on where the entries lie in memory."""
    assert result.grad_fn == grad_fn


def test_no_op_of_its_own() -> None:
    """What PyTorch gives back as it is, is the same node here."""
    vector = numbers(3)
    assert make.flatten(vector) is vector
    assert make.flatten(T, 1, 1) is T
    assert make.contiguous(A) is A
    assert make.atleast_1d(vector) is vector
    assert make.mT(SCALAR) is SCALAR


def test_shapes_without_dimensions(value: Value) -> None:
    """Tensors without dimensions go through as in PyTorch."""
    assert make.flatten(SCALAR).shape == (1,)
    assert make.reshape(SCALAR, -1).shape == (1,)
    assert make.reshape(numbers(1), ()).shape == ()
    assert make.transpose(SCALAR, 0, -1).shape == ()
    assert make.permute(SCALAR, ()).shape == ()
    assert make.squeeze(SCALAR, 0).shape == ()
    assert make.t(SCALAR).shape == ()
    assert make.movedim(SCALAR, 0, 0).shape == ()
    assert make.expand(SCALAR, 2, 3).shape == (2, 3)
    assert value(make.flatten(SCALAR)) == [0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.reshape(numbers(9), 4), "shape '[4]' is invalid for input of size 9"),
        (lambda: make.reshape(A, -1, 4), "shape '[-1, 4]' is invalid for input of size 6"),
        (lambda: make.reshape(A, -1, -1), "only one dimension can be inferred"),
        (lambda: make.reshape(A, -2, 3), "invalid shape dimension -2 at index 0 of shape [-2, 3]"),
        (
            lambda: make.view(make.t(A), 6),
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.",
        ),
        (
            lambda: make.expand(numbers(3), 2),
            "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.  "
            "Target sizes: [2].  Tensor sizes: [3]",
        ),
        (
            lambda: make.expand(numbers(3), -1, 3),
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
        ),
        (
            lambda: make.unflatten(numbers(3), 0, (3, 2)),
            "unflatten: Provided sizes [3, 2] don't multiply up to the size of dim 0 (3) in the input tensor",
        ),
    ],
)
def test_sizes_that_do_not_fit(call: Callable[[], Node], message: str) -> None:
    """A size that does not fit is PyTorch's sentence, and a hint."""
    with pytest.raises(ShapeError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: make.unsqueeze(numbers(3), 2),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (
            lambda: make.transpose(A, 0, 2),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (lambda: make.permute(A, 0, 0), "permute(): duplicate dims are not allowed."),
        (lambda: make.movedim(T, (0, 0), (1, 0)), "movedim: repeated dim in `source` ([0, 0])"),
        (lambda: make.t(T), "t() expects a tensor with <= 2 dimensions, but self is 3D"),
        (
            lambda: make.mT(numbers(3)),
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.",
        ),
        (lambda: make.H(T), "tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor."),
    ],
)
def test_dimensions_that_are_not_there(call: Callable[[], Node], message: str) -> None:
    """A dimension that is not there is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


@FEW
@given(order=st.permutations(range(4)), data=st.data())
def test_orders_of_dimensions(value: Value, order: list[int], data: st.DataObject) -> None:
    """permute, transpose and movedim are NumPy's transpose, swapaxes and moveaxis."""
    entries = np.arange(24.0).reshape(2, 1, 3, 4)
    node = leaf(entries)
    first, second = data.draw(st.tuples(*[st.integers(-4, 3)] * 2))
    assert value(make.permute(node, order)) == np.transpose(entries, order).tolist()
    assert value(make.transpose(node, first, second)) == np.swapaxes(entries, first, second).tolist()
    assert value(make.movedim(node, first, second)) == np.moveaxis(entries, first, second).tolist()


def test_strides_are_followed_at_bounded_cost() -> None:
    """A reshape far behind a transpose asks only the nodes near by, so that long chains stay cheap."""
    node = make.t(A)
    for _ in range(5000):
        node = node + 1.0
    assert make.flatten(node).grad_fn in ("UnsafeViewBackward0", "ViewBackward0")
