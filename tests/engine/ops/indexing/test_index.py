"""x[...]: views, lists of positions and masks, and what is put back at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import Node, leaf, make
from agrad.engine.ops.indexing.index import add_at

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]
SHAPE = (3, 4, 2)
ENTRIES = np.arange(24.0).reshape(SHAPE)

SLICES = st.builds(slice, st.none() | st.integers(-6, 6), st.none() | st.integers(-6, 6), st.none() | st.integers(1, 3))


def numbers(*shape: int) -> Node:
    """A leaf that counts from 0."""
    return leaf(np.arange(float(np.prod(shape))).reshape(shape)[()], requires_grad=True)


X, A = numbers(3), numbers(3, 3)


def at(node: Node, *items: Any) -> Node:
    """A node's part at an index."""
    result: Node = make.getitem(node, items)
    return result


@st.composite
def indices(draw: st.DrawFn) -> tuple[Any, ...]:
    """Index tuples that NumPy and PyTorch read alike: no list stands beside an integer."""
    lists = draw(st.booleans())
    items: list[Any] = []
    for size in SHAPE[: draw(st.integers(0, 3))]:
        places = st.lists(st.integers(-size, size - 1), min_size=2, max_size=2)
        items.append(draw(SLICES | (places if lists else st.integers(-size, size - 1))))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
        if items.index(Ellipsis) < len(items) - 1:  # what follows counts from the last dimension
            items = items[: items.index(Ellipsis) + 1]
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@FEW
@given(items=indices())
def test_parts_are_numpys(value: Value, items: tuple[Any, ...]) -> None:
    """Integers, ranges, None, `...` and lists of positions pick what NumPy picks."""
    part = at(leaf(ENTRIES), *items)
    assert part.shape == ENTRIES[items].shape
    assert value(part) == ENTRIES[items].tolist()


@FEW
@given(items=indices(), number=st.floats(-5, 5))
def test_assignments_are_numpys(value: Value, items: tuple[Any, ...], number: float) -> None:
    """`x[index] = number` changes what NumPy changes."""
    expected = ENTRIES.copy()
    expected[items] = number
    assert value(make.setitem(leaf(ENTRIES), items, number)) == expected.tolist()


@FEW
@given(items=indices())
def test_repeated_positions_accumulate(slopes: Slopes, items: tuple[Any, ...]) -> None:
    """The gradient of an entry is how often it was picked."""
    counts = np.zeros(SHAPE)
    np.add.at(counts, items, 1.0)
    assert slopes(lambda x: at(x, *items), ENTRIES) == [counts.tolist()]


def test_an_integer_beside_a_list_is_read_first(value: Value) -> None:
    """As in PyTorch, and not in NumPy, an integer is a selection and does not move the list's dimension."""
    entries = numbers(2, 3, 4)
    assert at(entries, 0, slice(None), [0, 1]).shape == (3, 2)
    assert value(at(entries, 0, slice(None), [0, 1])) == entries.value[0][:, [0, 1]].tolist()


@pytest.mark.parametrize(
    ("items", "grad_fn"),
    [
        ((0,), "SelectBackward0"),
        ((leaf(np.int64(1)),), "SelectBackward0"),
        ((slice(0, 2),), "SliceBackward0"),
        ((slice(None),), "SliceBackward0"),
        ((slice(None), 1), "SelectBackward0"),
        ((slice(None), slice(1, None)), "SliceBackward0"),
        ((slice(None), slice(None)), "AliasBackward0"),
        ((Ellipsis,), "AliasBackward0"),
        ((), "AliasBackward0"),
        ((None,), "UnsqueezeBackward0"),
        (([0, 2],), "IndexBackward0"),
        (([0, 2], 1), "IndexBackward0"),
        ((True,), "IndexBackward0"),
        ((leaf(np.array([True, False, True])),), "IndexBackward0"),
    ],
)
def test_names(items: tuple[Any, ...], grad_fn: str) -> None:
    """A part has the grad_fn of the last of the views that its index means."""
    assert at(A, *items).grad_fn == grad_fn


def test_masks(value: Value, slopes: Slopes) -> None:
    """A mask picks in row-major order, over the dimensions that it has, and may come from the tensor itself."""
    mask = A.value > 4
    assert value(at(A, A > 4.0)) == A.value[mask].tolist()
    assert value(at(A, leaf(mask[0]))) == A.value[mask[0]].tolist()
    assert value(at(A, slice(None), leaf(mask[2]))) == A.value[:, mask[2]].tolist()
    assert slopes(lambda x: at(x, x > 0.0) ** 2, [-1.0, 2.0, 3.0]) == [[0.0, 4.0, 6.0]]
    assert at(X, False).shape == (0, 3)


def test_whole_floats_are_positions(value: Value) -> None:
    """A tensor of whole numbers picks, although numbers of a file are floats."""
    assert value(at(X, leaf(np.array([0.0, 2.0])))) == [0.0, 2.0]
    assert value(at(X, leaf(np.float64(2.0)))) == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: at(X, 5), "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda: at(X, 10**30), "Overflow when unpacking long long"),
        (lambda: at(X, -4), "index -4 is out of bounds for dimension 0 with size 3"),
        (lambda: at(A, 0, 5), "index 5 is out of bounds for dimension 1 with size 3"),
        (lambda: at(X, [0, 5]), "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda: at(A, 0, 0, 0), "too many indices for tensor of dimension 2"),
        (
            lambda: at(numbers(), 0),
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
            "C++ to convert a 0-dim tensor to a number",
        ),
        (lambda: at(X, slice(None, None, -1)), "step must be greater than zero"),
        (lambda: at(X, slice(None, None, 0)), "slice step cannot be zero"),
        (lambda: at(X, [0.5]), "tensors used as indices must be long, int, byte or bool tensors"),
        (
            lambda: at(A, [0, 1], [0, 1, 2]),
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (
            lambda: at(X, leaf(np.array([True, False]))),
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3] at index 0",
        ),
        (
            lambda: make.setitem(X, ([0, 1],), numbers(3)),
            "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2]",
        ),
        (lambda: make.select(X, 0, 5), "select(): index 5 out of range for tensor of size [3] at dimension 0"),
        (lambda: make.select(numbers(), 0, 0), "select() cannot be applied to a 0-dim tensor."),
        (lambda: make.narrow(X, 0, 2, 2), "start (2) + length (2) exceeds dimension size (3)."),
        (lambda: make.narrow(X, 0, 0, -1), "narrow(): length must be non-negative."),
        (
            lambda: make.slice_scatter(A, X),
            "expected src to have a size equal to the slice of self. src size = [3], slice size = [3, 3]",
        ),
        (
            lambda: make.masked_fill(X, leaf(np.array([0, 2, 1])), 0.0),
            "masked_fill_ only supports boolean masks, but got mask with dtype int64",
        ),
        (
            lambda: make.masked_fill(X, X > 0.0, X),
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).",
        ),
        (
            lambda: make.masked_scatter(X, X > 0.0, numbers(1)),
            "Number of elements of source < number of ones in mask",
        ),
        (
            lambda: make.take(A, [9]),
            "out of range: tried to access index 9 on a tensor of 9 elements.",
        ),
        (lambda: make.index_select(A, 0, [[0]]), "index_select(): Index is supposed to be a vector"),
        (
            lambda: make.index_add(X, 0, [0, 2], X),
            "index_add_(): Number of indices (2) should be equal to source.size(dim): (3), for dim: 0",
        ),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """What cannot be picked is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


def test_the_ends_of_a_range_may_be_beyond_every_integer(value: Value) -> None:
    """As in Python, a range is cut where the entries end."""
    assert value(at(X, slice(-(10**30), 10**30))) == value(X)
    assert value(at(X, slice(10**30, None))) == []


def test_a_backward_range_has_a_hint() -> None:
    """PyTorch has no negative steps; the hint says what to write."""
    with pytest.raises(InputError) as caught:
        at(X, slice(None, None, -1))
    assert "flip" in caught.value.hint


@pytest.mark.parametrize(
    ("items", "grad_fn"),
    [
        ((0,), "CopySlices"),
        ((slice(0, 2),), "CopySlices"),
        ((slice(None), [0, 2]), "IndexPutBackward0"),
        (([0, 2],), "IndexPutBackward0"),
        ((0, [0, 2]), "CopySlices"),
        ((Ellipsis,), "FillBackward3"),
        ((slice(None), None), "CopySlices"),
    ],
)
def test_names_of_assignments(items: tuple[Any, ...], grad_fn: str) -> None:
    """An assignment has PyTorch's grad_fn, and still requires a gradient where all was overwritten."""
    assert make.setitem(A, items, 5.0).grad_fn == grad_fn


def test_nothing_flows_to_what_is_overwritten(slopes: Slopes) -> None:
    """The gradient stops at a replaced entry and goes to the value put there; of two for one place, to the last."""
    assert slopes(lambda x, v: make.setitem(x, (1,), v), [1.0, 2.0, 3.0], 9.0) == [[1.0, 0.0, 1.0], 1.0]
    assert slopes(lambda x, v: make.setitem(x, ([0, 0],), v), [1.0, 2.0], [8.0, 9.0]) == [[0.0, 1.0], [0.0, 1.0]]
    assert slopes(lambda x, v: make.index_put(x, ([0, 0],), v, accumulate=True), [1.0, 2.0], [8.0, 9.0]) == [
        [1.0, 1.0],
        [1.0, 1.0],
    ]
    assert slopes(lambda x: make.masked_fill(1.0 / x, make.eq(x, 0.0), 0.0), [0.0, 2.0]) == [[0.0, -0.25]]


def test_parts_away_from_a_pole(slopes: Slopes) -> None:
    """What is not picked stops the gradient, even where the slope behind it is infinite."""
    assert slopes(lambda x: at(1.0 / x, 1), [0.0, 2.0]) == [[0.0, -0.25]]
    assert slopes(lambda x: at(1.0 / x, [1, 1]), [0.0, 2.0]) == [[0.0, -0.5]]
    assert slopes(lambda x: make.index_fill(1.0 / x, 0, [0], 0.0), [0.0, 2.0]) == [[0.0, -0.25]]


def test_parts_of_a_curved_function(curvature: Callable[..., Any]) -> None:
    """Second derivatives go through an index and its transpose."""
    assert curvature(lambda x: at(make.stack([x**3, x]), 0), 2.0) == [[12.0]]
    assert curvature(lambda x: at(make.stack([x**3, x]), [0, 0, 1]), 2.0) == [[24.0]]


def test_add_at_is_add_at() -> None:
    """Values added at one flat list of positions have the bits of NumPy's own way, repeated and negative ones too."""
    rng = np.random.default_rng(0)
    start = rng.standard_normal((5, 4))
    rows, columns = rng.integers(-5, 5, (30, 1)), rng.integers(-4, 4, 7)
    values = rng.standard_normal((30, 7))
    flat, plain = start.copy(), start.copy()
    add_at(np, flat, (rows, columns), values)
    np.add.at(plain, (rows, columns), values)
    assert np.array_equal(flat, plain)
    add_at(np, flat, (rows[:, 0], slice(None)), values[:, :4])
    np.add.at(plain, (rows[:, 0], slice(None)), values[:, :4])
    assert np.array_equal(flat, plain)
