"""Tests of what PyTorch refuses or warns of before it computes; the texts were recorded from PyTorch 2.13."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.eager.checks import CHECKS, before
from agrad.engine.eager.modes import State
from agrad.engine.graph import TABLE, Node, leaf


@pytest.fixture(autouse=True)
def nothing_was_said() -> Iterator[None]:
    """Warnings that come once in a process come again in each test."""
    State.said.clear()
    yield
    State.said.clear()


def ones(*shape: int, dtype: str = "float32") -> Node:
    """A tensor of ones."""
    return leaf(np.ones(shape, dtype=dtype))


def check(name: str, *arguments: Any, **named: Any) -> None:
    """Run the check of a row on arguments."""
    before(TABLE[name], arguments, named)


def test_every_check_belongs_to_a_row() -> None:
    """A check is found by the name of a row."""
    assert set(CHECKS) <= {op.name for op in TABLE.values()}


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2, 2), (2, 2), "expected m1 and m2 to have the same dtype, but got: float != double"),
        ((2,), (2, 2), "expected m1 and m2 to have the same dtype, but got: float != double"),
        ((2, 2, 2), (2, 2), "expected m1 and m2 to have the same dtype, but got: float != double"),
        ((2, 2), (2,), "addmv input tensors must have the same dtype, but got Double, Float, and Double"),
        ((2,), (2,), "dot : expected both vectors to have same dtype, but found Float and Double"),
        ((2, 2, 2), (2, 2, 2), "expected scalar type Float but found Double"),
    ],
)
def test_products_want_one_dtype(left: tuple[int, ...], right: tuple[int, ...], message: str) -> None:
    """Tensors of two dtypes have no product of matrices; the words are those of the routine that would run."""
    with pytest.raises(RuntimeError) as caught:
        check("matmul", ones(*left), ones(*right, dtype="float64"))
    assert str(caught.value) == message
    check("matmul", ones(*left), ones(*right))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "mean",
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            "Got: Long",
        ),
        ("std", "std and var only support floating point and complex dtypes"),
        ("norm", "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long"),
        ("inverse", "linalg.inv: Expected a floating point or complex tensor as input. Got Long"),
        ("det", "linalg.det: Expected a floating point or complex tensor as input. Got Long"),
    ],
)
def test_integers_are_not_converted(name: str, message: str) -> None:
    """Where PyTorch takes floats only, integers are refused with its words."""
    with pytest.raises(RuntimeError) as caught:
        check(name, ones(2, 2, dtype="int64"))
    assert str(caught.value) == message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(name, ones(2, 2))


def test_a_dtype_that_is_asked_for_decides_about_a_mean() -> None:
    """The mean of integers is taken where a float dtype is asked for."""
    check("mean", ones(2, dtype="int64"), dtype=np.dtype(np.float32))
    with pytest.raises(RuntimeError, match="Optional dtype must be either"):
        check("mean", ones(2), dtype=np.dtype(np.int64))


def test_a_mask_minus_a_number_is_refused() -> None:
    """Minus with one mask names the ways to invert it; two masks are the row's own matter."""
    with pytest.raises(RuntimeError, match=r"Subtraction, the `-` operator, with a bool tensor is not supported\."):
        check("sub", ones(2, dtype="bool"), 1)
    check("sub", ones(2, dtype="bool"), ones(2, dtype="bool"))
    check("sub", ones(2), 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((1,), {}), ((1, 2), {"dim": 0}), ((2,), {"correction": 2}), ((0,), {}), ((3, 2), {"dim": (1,), "correction": 2})],
)
def test_too_few_degrees_of_freedom_are_warned_of(arguments: tuple[int, ...], named: dict[str, Any]) -> None:
    """A deviation over no more numbers than the correction warns under its own name."""
    with pytest.warns(UserWarning, match=r"^var\(\): degrees of freedom is <= 0\. Correction should be strictly less"):
        check("var", ones(*arguments), **named)


def test_a_deviation_without_correction_of_one_number_is_fine() -> None:
    """With `unbiased=False`, also as the only argument, one number is enough."""
    check("var", ones(1), unbiased=False)
    check("var", ones(1), False)


@pytest.mark.parametrize(
    ("name", "named", "kernel"),
    [
        ("softmax", {"dim": 0}, "softmax_kernel_impl"),
        ("softmax", {"dim": -1}, "softmax_lastdim_kernel_impl"),
        ("log_softmax", {"dim": 1}, "log_softmax_lastdim_kernel_impl"),
        ("gelu", {}, "GeluKernelImpl"),
        ("elu", {}, "elu_cpu"),
    ],
)
def test_functions_without_a_kernel_for_integers(name: str, named: dict[str, Any], kernel: str) -> None:
    """Some functions have no kernel for integers; a dtype that is asked for comes first."""
    with pytest.raises(NotImplementedError) as caught:
        check(name, ones(2, 2, dtype="int64"), **named)
    assert str(caught.value) == f"\"{kernel}\" not implemented for 'Long'"
    check(name, ones(2, 2), **named)
    check(name, ones(2, 2, dtype="int64"), **named, dtype=np.dtype(np.float32))


def test_labels_are_long() -> None:
    """Labels are 64-bit or 8-bit integers, one for each row of scores."""
    with pytest.raises(RuntimeError, match="expected target dtype to be Long or Byte, but got Int"):
        check("nll_loss", ones(1, 2), ones(1, dtype="int32"))
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size \(1\)\."):
        check("cross_entropy", ones(2, 2), ones(1, dtype="int64"))
    check("cross_entropy", ones(2, 2), ones(2, 2))
    check("nll_loss", ones(2, 2), ones(2, dtype="int64"))


def test_probabilities_lie_between_0_and_1() -> None:
    """The binary cross entropy takes probabilities, of one size."""
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        check("binary_cross_entropy", leaf(np.array([1.5])), ones(1))
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        check("binary_cross_entropy", ones(1), leaf(np.array([-1.0])))
    with pytest.raises(
        ValueError, match=r"target size \(torch\.Size\(\[2, 1\]\)\) that is different to the input size"
    ):
        check("binary_cross_entropy", ones(2), ones(2, 1))
    with pytest.raises(ValueError, match=r"Target size \(torch\.Size\(\[2, 1\]\)\) must be the same as input size"):
        check("binary_cross_entropy_with_logits", ones(2), ones(2, 1))


@pytest.mark.parametrize(
    ("name", "arguments", "named", "message"),
    [
        (
            "mse_loss",
            ((2,), (2, 1)),
            {},
            "Using a target size (torch.Size([2, 1])) that is different to the input size",
        ),
        ("l1_loss", ((2,), (2, 1)), {}, "Using a target size (torch.Size([2, 1])) that is different to the input size"),
        ("softmax", ((2,),), {}, "Implicit dimension choice for softmax has been deprecated."),
        ("log_softmax", ((2,),), {"dim": None}, "Implicit dimension choice for log_softmax has been deprecated."),
        ("kl_div", ((2,), (2,)), {}, "reduction: 'mean' divides the total loss by both the batch size"),
        ("cross", ((3,), (3,)), {}, "Using torch.cross without specifying the dim arg is deprecated."),
    ],
)
def test_what_is_left_to_chance_is_warned_of(
    name: str, arguments: tuple[tuple[int, ...], ...], named: dict[str, Any], message: str
) -> None:
    """Sizes that broadcast in a loss and dims that are left out give PyTorch's warnings."""
    with pytest.warns(UserWarning, match="^" + re.escape(message)) as caught:
        check(name, *[ones(*shape) for shape in arguments], **named)
    assert len(caught) == 1


def test_what_is_said_in_full_is_not_warned_of() -> None:
    """Equal sizes, a dim and another reduction pass in silence."""
    check("mse_loss", ones(2), ones(2))
    check("softmax", ones(2), 0)
    check("log_softmax", ones(2), dim=0)
    check("kl_div", ones(2), ones(2), reduction="sum")
    check("cross", ones(3), ones(3), dim=0)


def test_transposing_what_is_no_matrix_is_warned_of() -> None:
    """`.T` of a tensor that has not two dimensions is deprecated, of none in other words."""
    with pytest.warns(UserWarning, match=r"The use of `x\.T` on tensors of dimension other than 2"):
        check("T", ones(2, 2, 2))
    with pytest.warns(UserWarning, match=r"Tensor\.mT is deprecated on 0-D tensors"):
        check("mT", ones())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check("T", ones(2, 2))
        check("mT", ones(2, 2, 2))
        check("T", ones(2, 2, 2))  # it was said already
