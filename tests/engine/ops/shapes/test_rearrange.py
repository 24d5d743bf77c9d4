"""Order, copies, diagonals, borders and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import Node, leaf, make
from agrad.engine.referees.arithmetic import PreciseArithmetic

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]


def numbers(*shape: int) -> Node:
    """A leaf that counts from 1."""
    return leaf((np.arange(float(np.prod(shape))) + 1.0).reshape(shape)[()], requires_grad=True)


X, A, T = numbers(3), numbers(2, 3), numbers(2, 3, 4)


@FEW
@given(offset=st.integers(-4, 4), rows=st.integers(1, 4), columns=st.integers(1, 4))
def test_diagonals_and_triangles_are_numpys(value: Value, offset: int, rows: int, columns: int) -> None:
    """Every diagonal and triangle, also outside of the matrix, is NumPy's."""
    matrix = numbers(rows, columns)
    assert value(make.diagonal(matrix, offset)) == np.diagonal(matrix.value, offset).tolist()
    assert value(make.diag(matrix, offset)) == np.diag(matrix.value, offset).tolist()
    assert value(make.diag(X, offset)) == np.diag(X.value, offset).tolist()
    assert value(make.tril(matrix, offset)) == np.tril(matrix.value, offset).tolist()
    assert value(make.triu(matrix, offset)) == np.triu(matrix.value, offset).tolist()


def test_diagonal_names() -> None:
    """diag is PyTorch's copy of a diagonal, or an embedding."""
    assert make.diag(A).grad_fn == "DiagonalBackward0_copy"
    assert make.diag(X).grad_fn == "DiagEmbedBackward0"


@FEW
@given(k=st.integers(-5, 5), shift=st.integers(-7, 7))
def test_turns_and_rolls_are_numpys(value: Value, k: int, shift: int) -> None:
    """rot90, roll and flip are NumPy's."""
    assert value(make.rot90(A, k)) == np.rot90(A.value, k).tolist()
    assert value(make.roll(A, shift)) == np.roll(A.value, shift).tolist()
    assert value(make.roll(A, (shift, 1), (0, 1))) == np.roll(A.value, (shift, 1), (0, 1)).tolist()
    assert value(make.flip(A)) == np.flip(A.value).tolist()
    assert value(make.flip(A, -1)) == np.flip(A.value, -1).tolist()


def test_repeats(value: Value, slopes: Slopes) -> None:
    """repeat copies the tensor, repeat_interleave each entry; what flows back is summed over the copies."""
    assert value(make.repeat(X, 2)) == np.tile(X.value, 2).tolist()
    assert value(make.tile(A, 2)) == np.tile(A.value, 2).tolist()
    assert value(make.repeat_interleave(X, 2)) == np.repeat(X.value, 2).tolist()
    assert value(make.repeat_interleave(X, leaf(np.array([0, 2, 1])))) == [2.0, 2.0, 3.0]
    assert value(make.repeat(X, 2, each=True)) == np.repeat(X.value, 2).tolist()
    assert slopes(lambda x: make.repeat(x, 2, 2), [1.0, 1.0]) == [[4.0, 4.0]]
    assert slopes(lambda x: make.repeat(x, 0), [1.0, 1.0]) == [[0.0, 0.0]]


@pytest.mark.parametrize(("mode", "numpys"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
@FEW
@given(before=st.integers(0, 3), after=st.integers(0, 3))
def test_borders_are_numpys(value: Value, mode: str, numpys: Any, before: int, after: int) -> None:
    """The borders made of the tensor's own entries are NumPy's."""
    line = numbers(1, 4)
    expected = np.pad(line.value, ((0, 0), (before, after)), mode=numpys).tolist()
    assert value(make.pad(line, (before, after), mode)) == expected


def test_constant_borders(value: Value, slopes: Slopes) -> None:
    """A border takes a value, a negative width cuts, and nothing flows to what is cut."""
    assert value(make.pad(X, (1, 1), value=9.0)) == [9.0, 1.0, 2.0, 3.0, 9.0]
    assert value(make.pad(X, (-1, 2))) == [2.0, 3.0, 0.0, 0.0]
    assert slopes(lambda x: make.pad(x, (-1, 2)), [1.0, 1.0, 1.0]) == [[0.0, 1.0, 1.0]]
    assert make.pad(T, (1, 1, 1, 1), "reflect").grad_fn == "ReflectionPad2DBackward0"
    assert make.pad(T, (1, 1), "replicate").grad_fn == "ReplicationPad1DBackward0"
    assert value(make.pad(X, ((1, 2),), numpy=True)) == np.pad(X.value, ((1, 2),)).tolist()


def test_windows_add_up_where_they_overlap(value: Value, slopes: Slopes) -> None:
    """unfold and as_strided see an entry in several windows, and its gradient is the sum over them."""
    assert value(make.unfold(X, 0, 2, 1)) == [[1.0, 2.0], [2.0, 3.0]]
    assert slopes(lambda x: make.unfold(x, 0, 2, 1), [1.0, 2.0, 3.0]) == [[1.0, 2.0, 1.0]]
    assert value(make.as_strided(X, (2, 2), (1, 1))) == [[1.0, 2.0], [2.0, 3.0]]
    assert slopes(lambda x: make.as_strided(x, (2, 2), (1, 1)), [1.0, 2.0, 3.0]) == [[1.0, 2.0, 1.0]]
    assert make.unfold(T, 1, 2, 1).shape == (2, 2, 4, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.diagonal(T, 0, 1, 1), "diagonal dimensions cannot be identical 1, 1"),
        (lambda: make.diag(T), "diag(): Supports 1D or 2D tensors. Got 3D"),
        (lambda: make.tril(X), "tril: input tensor must have at least 2 dimensions"),
        (lambda: make.flip(X, (0, 0)), "dim 0 appears multiple times in the list of dims"),
        (lambda: make.fliplr(X), "Input must be >= 2-d."),
        (lambda: make.roll(A, (1, 2), 0), "shifts and dimensions must align. shifts: 2, dims:1"),
        (lambda: make.rot90(X), "expected total dims >= 2, but got total dims = 1"),
        (
            lambda: make.rot90(A, 1, (0, 0)),
            "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0",
        ),
        (
            lambda: make.repeat(A, 2),
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
        ),
        (lambda: make.pad(X, (1,)), "Padding length must be divisible by 2"),
        (lambda: make.pad(X, (1, 1), "mirror"), "Unrecognised padding mode mirror"),
        (
            lambda: make.pad(T, (5, 1), "reflect"),
            "Padding size should be less than the corresponding input dimension, but got: padding (5, 1) at dimension "
            "2 of input [2, 3, 4]",
        ),
        (lambda: make.unfold(X, 0, 5, 1), "maximum size for tensor at dimension 0 is 3 but size is 5"),
        (lambda: make.unfold(X, 0, 2, 0), "step is 0 but must be > 0"),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """What cannot be rearranged is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


def test_flip_of_a_number_on_exact_numbers() -> None:
    """The referees can flip a tensor without axes: there is nothing to turn."""
    m = PreciseArithmetic(30)
    node = make.flip(numbers(), ())
    assert node.op.formula is not None
    assert node.op.formula(m, np.array(m.number(2.5), dtype=object), **node.attrs).item() == m.number(2.5)
