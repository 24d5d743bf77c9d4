"""Rows of a table by number, bags of them, bilinear forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import Node, leaf, make

Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

TABLE_OF_ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]


def test_rows_by_number(value: Value, slopes: Slopes) -> None:
    """A row that is picked twice gets both cotangents; the padding row gets none."""
    assert value(make.embedding([[2, 0]], leaf(np.array(TABLE_OF_ROWS)))) == [[[5.0, 0.0], [1.0, 2.0]]]
    assert slopes(lambda w: make.embedding([2, 0, 2], w), TABLE_OF_ROWS) == [[[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]]
    padded = slopes(lambda w: make.embedding([2, 0, 2], w, padding_idx=-1), TABLE_OF_ROWS)
    assert padded == [[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"mode": "sum"}, [[6.0, 2.0], [3.0, 4.0], [0.0, 0.0]]),
        ({"mode": "mean"}, [[3.0, 1.0], [3.0, 4.0], [0.0, 0.0]]),
        ({"mode": "max"}, [[5.0, 2.0], [3.0, 4.0], [0.0, 0.0]]),
        ({"mode": "mean", "padding_idx": 2}, [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]),
        ({"mode": "max", "padding_idx": 2}, [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]),
    ],
)
def test_bags(value: Value, options: dict[str, Any], expected: list[Any]) -> None:
    """Sums, averages and largest entries of each bag; an empty bag gives zeros, padding rows do not count."""
    bags = make.embedding_bag([0, 2, 1], leaf(np.array(TABLE_OF_ROWS)), offsets=[0, 2, 3], **options)
    assert value(bags) == expected


def test_gradients_of_bags(slopes: Slopes) -> None:
    """Of equal largest entries the first gets the cotangent; weights of samples have a gradient of their own."""
    tied = slopes(lambda w: make.embedding_bag([[1, 0]], w, mode="max"), [[2.0, 1.0], [2.0, 5.0]])
    assert tied == [[[0.0, 0.0], [1.0, 1.0]]]
    table, weights = slopes(
        lambda w, u: make.embedding_bag([0, 1, 0], w, offsets=[0, 2], mode="sum", per_sample_weights=u),
        TABLE_OF_ROWS,
        [10.0, 20.0, 30.0],
    )
    assert table == [[40.0, 40.0], [20.0, 20.0], [0.0, 0.0]]
    assert weights == [3.0, 7.0, 3.0]


def test_a_last_offset_that_only_ends(value: Value) -> None:
    """With include_last_offset the last offset begins no bag."""
    bags = make.embedding_bag([0, 2, 1], leaf(np.array(TABLE_OF_ROWS)), [0, 2, 3], mode="sum", include_last_offset=True)
    assert value(bags) == [[6.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: make.embedding([3], w), "index out of range in self"),
        (lambda w: make.embedding([-1], w), "index out of range in self"),
        (lambda w: make.embedding([0], w, padding_idx=7), "Padding_idx must be within num_embeddings"),
        (lambda w: make.embedding([0], w, max_norm=1.0), "max_norm is not supported"),
        (lambda w: make.embedding_bag([0], w), "offsets has to be a 1D Tensor but got None"),
        (lambda w: make.embedding_bag([0, 1], w, [1]), r"offsets\[0\] has to be 0"),
        (lambda w: make.embedding_bag([0, 1], w, [0, 3]), "can not be greater than input's length 2"),
        (lambda w: make.embedding_bag([[0]], w, mode="most"), "mode has to be one of sum, mean or max"),
    ],
)
def test_parameters_that_do_not_fit(call: Callable[[Node], Node], message: str) -> None:
    """The message is PyTorch's where PyTorch has one."""
    with pytest.raises(InputError, match=message):
        call(leaf(np.array(TABLE_OF_ROWS)))


def test_bilinear_form(value: Value, slopes: Slopes) -> None:
    """The sum of x[i] * w[o, i, j] * y[j], linear in each of the three, for any leading axes."""
    random = np.random.default_rng(5)
    x, y, w, b = (random.standard_normal(shape) for shape in ((2, 3, 4), (2, 3, 5), (6, 4, 5), (6,)))
    result = value(make.bilinear(leaf(x), leaf(y), leaf(w), leaf(b)))
    np.testing.assert_allclose(result, np.einsum("abi,oij,abj->abo", x, w, y) + b, atol=1e-12)
    to_x, to_y, to_w = slopes(make.bilinear, [2.0], [3.0], [[[5.0]], [[7.0]]])
    assert (to_x, to_y, to_w) == ([36.0], [24.0], [[[6.0]], [[6.0]]])


def test_bilinear_shapes_that_do_not_fit() -> None:
    """The message is PyTorch's."""
    x, w = leaf(np.zeros((4, 2))), leaf(np.zeros((5, 2, 3)))
    with pytest.raises(ShapeError, match="input batch dimensions do not match at dim 0: got 4 and 5"):
        make.bilinear(x, leaf(np.zeros((5, 3))), w)
    with pytest.raises(ShapeError, match="input2 size does not match weight size: got 2 but expected 3"):
        make.bilinear(x, x, w)
