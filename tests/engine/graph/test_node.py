"""Nodes, and what is set when one is made."""

from __future__ import annotations

import numpy as np
import pytest

import agrad.engine.ops
from agrad.engine.errors import LimitError
from agrad.engine.graph import FLOAT32, FLOAT64, TABLE, Op, add_row, ancestors, as_node, leaf, make


def scalar(value: float, *, requires_grad: bool = False) -> agrad.engine.graph.Node:
    """A leaf of one number."""
    return leaf(np.float64(value), requires_grad=requires_grad)


def test_a_leaf_is_a_leaf_and_has_no_grad_fn() -> None:
    """A leaf that requires a gradient is a leaf without grad_fn."""
    x = scalar(1.0, requires_grad=True)
    assert (x.is_leaf, x.grad_fn, x.requires_grad) == (True, None, True)


def test_a_result_requires_grad_when_an_argument_does() -> None:
    """A result inherits requires_grad, and then is no leaf and has PyTorch's grad_fn."""
    x, y = scalar(1.0, requires_grad=True), scalar(2.0)
    z = x * y
    assert (z.requires_grad, z.is_leaf, z.grad_fn) == (True, False, "MulBackward0")


def test_a_result_of_constants_is_a_leaf_to_pytorch() -> None:
    """A result that requires no gradient counts as a leaf and has no grad_fn."""
    z = scalar(1.0) + scalar(2.0)
    assert (z.requires_grad, z.is_leaf, z.grad_fn) == (False, True, None)


def test_integers_and_booleans_never_require_grad() -> None:
    """A written integer or boolean requires no gradient even when asked to."""
    assert not leaf(3, requires_grad=True).requires_grad
    assert not leaf(True, requires_grad=True).requires_grad


def test_equal_nodes_are_not_merged() -> None:
    """Two equal products are two nodes: each has a gradient of its own."""
    x, y = scalar(1.0), scalar(2.0)
    assert (x * y) is not (x * y)


def test_written_numbers_promote_weakly() -> None:
    """A number written in the text does not widen a float32 tensor, and makes an integer one float64."""
    narrow = leaf(np.ones(3, dtype=np.float32))
    assert (narrow * 2.5).dtype == FLOAT32
    assert (leaf(np.arange(3)) * 2.5).dtype == FLOAT64


def test_a_number_without_axes_promotes_weaker_than_a_tensor() -> None:
    """A float64 tensor without axes does not widen a float32 vector, as in PyTorch."""
    assert (leaf(np.ones(3, dtype=np.float32)) * scalar(2.0)).dtype == FLOAT32


def test_integers_never_widen_a_float() -> None:
    """A float32 tensor times an int64 tensor is float32, as in PyTorch; a float64 widens a complex64."""
    narrow = leaf(np.ones(3, dtype=np.float32))
    assert (narrow * leaf(np.arange(3))).dtype == FLOAT32
    assert (leaf(np.ones(3)) * leaf(np.ones(3, dtype=np.complex64))).dtype == np.complex128


def test_a_result_that_is_too_large_is_refused_before_it_exists() -> None:
    """An outer product of 10^12 elements is refused with its size when the node is made."""
    column, line = make.expand(scalar(1.0), (10**6, 1)), make.expand(scalar(1.0), (1, 10**6))
    with pytest.raises(LimitError, match=r"8,000 GB"):
        _ = column * line


def test_a_written_number_is_one_leaf_wherever_it_stands() -> None:
    """Numbers written in many places share a leaf; 1, 1.0 and True do not, nor do 0.0 and -0.0."""
    assert as_node(0.99) is as_node(0.99)
    assert len({as_node(1), as_node(1.0), as_node(True)}) == 3
    assert np.copysign(1.0, as_node(-0.0).value) == -1.0


def test_ancestors_come_in_order_and_a_deep_chain_does_not_recurse() -> None:
    """Arguments come before results, in a chain deeper than any recursion limit."""
    x = node = scalar(1.0)
    for _ in range(20_000):
        node = node + 1.0
    order = ancestors([node])
    assert x in order
    assert order[-1] is node
    assert all(arg.serial < entry.serial for entry in order for arg in entry.args)


def test_two_rows_of_one_name_are_refused() -> None:
    """A second row under a name that is taken is an error when it is added."""
    row = TABLE["add"]
    with pytest.raises(ValueError, match="two rows are called add"):
        add_row(Op(name="add", doc="", family="", call=row.call))
