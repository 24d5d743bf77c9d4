"""Joining tensors and taking them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import FLOAT32, Node, leaf, make

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]


def numbers(*shape: int, start: float = 0.0) -> Node:
    """A leaf that counts."""
    return leaf((np.arange(float(np.prod(shape))) + start).reshape(shape)[()], requires_grad=True)


X, Y = numbers(3), numbers(3, start=10.0)
A, B = numbers(2, 3), numbers(2, 3, start=10.0)


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
@pytest.mark.parametrize("pair", [(X, Y), (A, B)], ids=["vectors", "matrices"])
def test_stacking_is_numpys(value: Value, name: str, pair: tuple[Node, Node]) -> None:
    """The stacks of vectors and matrices are NumPy's."""
    assert value(getattr(make, name)(pair)) == getattr(np, name)([node.value for node in pair]).tolist()


def test_cat_and_stack(value: Value) -> None:
    """cat joins along a dimension that is there, stack along a new one; an empty vector may stand anywhere."""
    assert value(make.cat([A, B], 1)) == np.concatenate([A.value, B.value], 1).tolist()
    assert value(make.cat([A, numbers(0)])) == A.value.tolist()
    assert value(make.stack([X, Y], -1)) == np.stack([X.value, Y.value], -1).tolist()
    assert value(make.stack([numbers(), 2.0])) == [0.0, 2.0]
    assert value(make.cat([make.stack([X, Y])])) == [X.value.tolist(), Y.value.tolist()]


def test_numbers_take_the_dtype_of_tensors() -> None:
    """A number written between tensors does not widen them."""
    single = leaf(np.float32(1.5))
    assert make.stack([single, 2.0]).dtype == FLOAT32
    assert make.cat([leaf(np.ones(2, np.float32)), leaf(np.ones(2))]).dtype == np.float64


def test_the_same_tensor_twice_gets_both_parts(slopes: Slopes) -> None:
    """A tensor that is joined to itself gets the sum of what flows to both places."""
    weights = leaf(np.array([1.0, 2.0, 10.0, 20.0]))
    assert slopes(lambda x: make.cat([x, x]) * weights, [1.0, 1.0]) == [[11.0, 22.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.cat([]), "torch.cat(): expected a non-empty list of Tensors"),
        (lambda: make.cat([numbers(), X]), "zero-dimensional tensor (at position 0) cannot be concatenated"),
        (lambda: make.cat([X, A]), "Tensors must have same number of dimensions: got 1 and 2"),
        (
            lambda: make.cat([numbers(2, 2), numbers(3, 3)]),
            "Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3 for tensor number 1 in "
            "the list.",
        ),
        (
            lambda: make.stack([numbers(2), numbers(3)]),
            "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1",
        ),
        (
            lambda: make.split(X, [1, 1]),
            "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at dimension 0), "
            "but got split_sizes=[1, 1]",
        ),
        (lambda: make.chunk(X, 0), "chunk expects `chunks` to be greater than 0, got: 0"),
        (lambda: make.tensor_split(X, 0), "number of sections must be larger than 0, got 0"),
        (lambda: make.unbind(numbers()), "Dimension specified as 0 but tensor has no dimensions"),
        (lambda: make.cartesian_prod(X, A), "Expect a 1D vector, but got shape [2, 3]"),
    ],
)
def test_errors(call: Callable[[], Any], message: str) -> None:
    """What does not fit together is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


@FEW
@given(size=st.integers(1, 9), each=st.integers(1, 9))
def test_parts_joined_again_are_the_whole(value: Value, size: int, each: int) -> None:
    """Split, chunk, tensor_split and unbind lose nothing, in whatever sizes."""
    whole = numbers(size)
    for parts in (make.split(whole, each), make.chunk(whole, each), make.tensor_split(whole, each)):
        assert value(make.cat(list(parts.nodes))) == whole.value.tolist()
    assert value(make.stack(list(make.unbind(whole).nodes))) == whole.value.tolist()
    assert [part.size for part in make.tensor_split(whole, each).nodes] == [
        part.size for part in np.array_split(whole.value, each)
    ]


def test_names_of_parts() -> None:
    """Parts have the grad_fn of the function that took them."""
    assert {part.grad_fn for part in make.split(X, 2).nodes} == {"SplitBackward0"}
    assert {part.grad_fn for part in make.split(X, (1, 2)).nodes} == {"SplitWithSizesBackward0"}
    assert {part.grad_fn for part in make.unbind(A).nodes} == {"UnbindBackward0"}
    assert {part.grad_fn for part in make.tensor_split(X, 2).nodes} == {"SliceBackward0"}


def test_numpys_split_names_the_number_of_parts() -> None:
    """NumPy's split takes a number of equal parts where PyTorch's takes their size."""
    assert [part.shape for part in make.split(numbers(6), 2).nodes] == [(2,), (2,), (2,)]
    assert [part.shape for part in make.split(numbers(6), 2, sections=True).nodes] == [(3,), (3,)]


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_grids_are_numpys(value: Value, indexing: Any) -> None:
    """meshgrid is NumPy's in both orders, also of three vectors."""
    lines = [numbers(2), numbers(3, start=10.0), numbers(4, start=20.0)]
    expected = np.meshgrid(*[line.value for line in lines], indexing=indexing)
    assert [value(grid) for grid in make.meshgrid(*lines, indexing=indexing).nodes] == [e.tolist() for e in expected]


def test_block_diag(value: Value) -> None:
    """Matrices stand along the diagonal, vectors as rows, numbers as single entries."""
    assert value(make.block_diag(numbers(1, 2, start=1.0), numbers(start=5.0))) == [[1.0, 2.0, 0.0], [0.0, 0.0, 5.0]]
