"""Outputs and their cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import InputError, NoGradientError
from agrad.engine.evaluation.outputs import Weight, cotangents
from agrad.engine.graph import Node, leaf


def node(value: Any, requires_grad: bool = True) -> Node:
    """A leaf of the value."""
    return leaf(np.asarray(value)[()], requires_grad=requires_grad)


def test_scalar_is_weighted_by_one() -> None:
    """An output of one element needs no weight, whatever its shape."""
    assert cotangents({"z": node(2.0)})[0].value == 1.0
    assert cotangents({"z": node([[2.0]])})[0].shape == (1, 1)


def test_vector_needs_weights() -> None:
    """PyTorch's words, and what to write instead."""
    with pytest.raises(InputError, match="grad can be implicitly created only for scalar outputs") as caught:
        cotangents({"y": node([1.0, 2.0])})
    assert '--grad-tensors "[1, 1]"' in caught.value.hint
    assert "y has shape [2]" in caught.value.hint


def test_complex_output_is_refused() -> None:
    """PyTorch's words, and what to take instead."""
    with pytest.raises(InputError, match=r"only for real scalar outputs but got torch\.complex128") as caught:
        cotangents({"z": node(1 + 2j)})
    assert caught.value.hint == "take real(z), imag(z) or abs(z)"


def test_output_without_gradient() -> None:
    """PyTorch's words with the position, and why."""
    with pytest.raises(NoGradientError, match="element 1 of tensors does not require grad") as caught:
        cotangents({"a": node(1.0), "b": node(1.0, requires_grad=False)})
    assert "b depends on nothing" in caught.value.hint
    with pytest.raises(NoGradientError) as caught:
        cotangents({"n": node(1, requires_grad=False)})
    assert "int64" in caught.value.hint


def test_wrong_shape_is_named() -> None:
    """PyTorch's words with the names and shapes."""
    with pytest.raises(InputError) as caught:
        cotangents({"y": node([1.0, 2.0])}, [Weight(None, np.ones(3))])
    assert caught.value.message == (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of torch.Size([2])."
    )
    assert "output[0] is y of shape [2]" in caught.value.hint


@pytest.mark.parametrize("weights", [[Weight(None, 1.0)], [Weight(None, 1.0)] * 3, [Weight("a", 1.0)] * 2])
def test_wrong_count_is_named(weights: list[Weight]) -> None:
    """PyTorch's words with the names of the outputs."""
    with pytest.raises(InputError, match=f"got 2 tensors and {len(weights)} gradients") as caught:
        cotangents({"a": node(1.0), "b": node(1.0)}, weights)
    assert "a, b" in caught.value.hint


def test_named_weights_find_their_output() -> None:
    """A named weight goes to its output, the others go to the rest in order."""
    outputs = {"a": node([1.0, 2.0]), "b": node([3.0])}
    found = cotangents(outputs, [Weight("b", [5]), Weight(None, None)])
    assert [each.value.tolist() for each in found] == [[1.0, 1.0], [5.0]]
    assert found[1].dtype == np.float64


def test_named_weight_leaves_scalars_alone() -> None:
    """An output of one element is weighted by 1 where only others are named."""
    assert cotangents({"a": node([1.0, 2.0]), "b": node(3.0)}, [Weight("a", [1, 2])])[1].value == 1.0


def test_name_that_is_no_output() -> None:
    """A weight for something else is refused with the outputs' names."""
    with pytest.raises(InputError, match="c is no output: the outputs are a"):
        cotangents({"a": node(1.0)}, [Weight("c", 1.0)])


def test_complex_weight_of_a_real_output() -> None:
    """PyTorch refuses it too."""
    with pytest.raises(InputError, match="required to have the same dtype"):
        cotangents({"a": node(1.0)}, [Weight(None, 1j)])
