"""Constructors: dtypes, sizes and streams."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine import conditions
from agrad.engine.errors import InputError, LimitError
from agrad.engine.graph import BOOL, COMPLEX64, FLOAT32, FLOAT64, INT64, LEAF, Node, leaf, make
from agrad.engine.ops.infer import with_default_dtype


@pytest.mark.parametrize(
    ("node", "dtype"),
    [
        (make.tensor([1, 2]), FLOAT64),
        (make.tensor(2), FLOAT64),
        (make.tensor([True, False]), BOOL),
        (make.tensor([1, 2], dtype=INT64), INT64),
        (make.tensor([]), FLOAT64),
        (make.tensor([1j, 2.0]), np.dtype(complex)),
        (make.arange(5), FLOAT64),
        (make.eye(2), FLOAT64),
        (make.full((2,), 3), FLOAT64),
        (make.full((2,), True), BOOL),
        (make.zeros_like(leaf(np.ones(2, np.float32))), FLOAT32),
        (make.randperm(4, seed=0), INT64),
    ],
)
def test_dtypes(node: Node, dtype: Any) -> None:
    """Numbers are floats unless they are booleans or complex, or a dtype is given."""
    assert node.op is LEAF
    assert node.dtype == dtype
    assert np.asarray(node.value).dtype == dtype


def test_default_dtype() -> None:
    """Inside of the block floats have the other dtype, and after it the old one."""
    with with_default_dtype(FLOAT32):
        made = [make.tensor([1.0]), make.ones(2), make.linspace(0, 1, 3), make.randn(2, seed=0), make.eye(2)]
        assert {node.dtype for node in made} == {FLOAT32}
        assert make.tensor([1j]).dtype == COMPLEX64
        assert make.tensor([1.0], dtype=FLOAT64).dtype == FLOAT64
    assert make.ones(2).dtype == FLOAT64


def test_values() -> None:
    """Each constructor makes NumPy's numbers."""
    assert make.zeros(2, 3).value.tolist() == [[0.0] * 3] * 2
    assert make.ones((2,)).value.tolist() == [1.0, 1.0]
    assert make.full((), 0.5).shape == ()
    assert make.eye(2, 3).value.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert make.arange(1, 2, 0.25).value.tolist() == [1.0, 1.25, 1.5, 1.75]
    assert make.arange(3, 0, -1).value.tolist() == [3.0, 2.0, 1.0]
    assert make.linspace(0, 1, 5).value.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert make.logspace(0, 2, 3).value.tolist() == [1.0, 10.0, 100.0]
    assert make.one_hot(leaf(np.array([0.0, 2.0]))).value.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert make.tensor(2.0).value == 2.0
    assert not make.tensor(2.0).is_number


def test_requires_grad() -> None:
    """A leaf may ask for a gradient, if it holds floats."""
    assert make.ones(2, requires_grad=True).requires_grad
    with pytest.raises(InputError, match="Only Tensors of floating point and complex dtype can require gradients"):
        make.tensor([1, 2], dtype=INT64, requires_grad=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: make.ones(10**12),
        lambda: make.zeros(10**6, 10**6),
        lambda: make.full((10**12,), 1.0),
        lambda: make.eye(10**6),
        lambda: make.arange(10**12),
        lambda: make.linspace(0, 1, 10**12),
        lambda: make.randn(10**12, seed=0),
        lambda: make.expand(leaf(1.0), 10**12),
    ],
)
def test_too_large_is_refused_before_it_is_allocated(call: Callable[[], Node]) -> None:
    """A tensor of 10**12 numbers is refused with its size, and no memory is taken."""
    tracemalloc.start()
    with pytest.raises(LimitError, match=r"8,000 GB") as caught:
        call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.exit_code == 3
    assert peak < 10**6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.tensor([[1.0, 2.0], [3.0]]), "expected sequence of length 2 at dim 1 (got 1)"),
        (lambda: make.tensor(["a"]), "a tensor holds numbers or nested lists of numbers"),
        (lambda: make.zeros(-1), "Trying to create tensor with negative dimension -1: [-1]"),
        (lambda: make.zeros(2.5), "sizes must be integers, not 2.5"),
        (lambda: make.arange(3, 1), "upper bound and lower bound inconsistent with step sign"),
        (lambda: make.arange(1, 3, 0), "step must be nonzero"),
        (lambda: make.linspace(0, 1), 'linspace() missing 1 required positional arguments: "steps"'),
        (lambda: make.linspace(0, 1, -2), "number of steps must be non-negative"),
        (lambda: make.randn(3), "randn needs a seed"),
        (lambda: make.randn(3, seed=-1), "a seed is an integer of 0 or more, not -1"),
        (
            lambda: make.randint(5, 5, (2,), seed=0),
            "random_ expects 'from' to be less than 'to', but got from=5 >= to=5",
        ),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """What cannot be made is a sentence, PyTorch's where it has one."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


def test_a_constructor_cuts_no_gradient_off() -> None:
    """tensor() of a variable would lose its gradient, so that it is refused; as_tensor keeps it."""
    variable = leaf(np.ones(2), requires_grad=True)
    with pytest.raises(InputError, match="would cut it off"):
        make.tensor(variable)
    assert make.as_tensor(variable) is variable


def test_streams_are_numpys() -> None:
    """A seed gives the numbers of NumPy's default generator, on every call."""
    assert make.randn(3, seed=7).value.tolist() == np.random.default_rng(7).standard_normal(3).tolist()
    assert make.rand(2, 2, seed=7).value.tolist() == np.random.default_rng(7).random((2, 2)).tolist()
    assert make.normal(1.0, 2.0, (3,), seed=7).value.tolist() == (1.0 + 2.0 * make.randn(3, seed=7).value).tolist()
    assert make.randint(0, 9, (4,), seed=7).value.tolist() == np.random.default_rng(7).integers(0, 9, 4).tolist()
    assert make.randn_like(leaf(np.ones(3)), seed=7).value.tolist() == make.randn(3, seed=7).value.tolist()


@pytest.mark.parametrize("make_it", [lambda: make.arange(1e7), lambda: make.zeros(5000, 1000), lambda: make.eye(4000)])
def test_a_leaf_that_the_free_memory_does_not_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, make_it: Callable[[], Node]
) -> None:
    """Before it is made, and with both numbers."""
    monkeypatch.setattr(conditions, "free_memory", lambda: 10_000_000)
    with pytest.raises(
        LimitError, match=r"would make an array of shape .* MB, and three quarters of what is free are 7\.5 MB"
    ):
        make_it()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((5,), [0.0, 1.0, 2.0, 3.0, 4.0]),
        ((1, 8, 3), [1.0, 4.0, 7.0]),
        ((0.5, 2.5, 0.5), [0.5, 1.0, 1.5, 2.0]),
        ((4, -4, -3), [4.0, 1.0, -2.0]),
        ((2**53, 2**53 + 3), [2.0**53, 2.0**53, 2.0**53 + 2]),
    ],
)
def test_ranges(value: Callable[[Node], Any], args: tuple[float, ...], expected: list[float]) -> None:
    """By steps from the start, integers without rounding until they are floats."""
    assert value(make.arange(*args)) == expected


def test_a_range_is_in_memory_about_once() -> None:
    """No copy of it stands beside it."""
    make.arange(10)
    tracemalloc.start()
    try:
        make.arange(1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * 8_000_000
