"""Gradients against difference quotients."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.exceptions import GradcheckError
from agrad.engine.eager.namespace import torch

gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


def leaf(*values: float) -> Any:
    """A vector of doubles that requires a gradient."""
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def test_right_gradients_agree() -> None:
    """First and second derivatives of smooth functions pass."""
    p, q = leaf(1.2, 0.4), torch.tensor([[2.0], [-1.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(torch.matmul, (p, q))
    assert gradgradcheck(lambda t: (t.sin() ** 3).sum(), p)


def test_a_wrong_gradient_is_shown() -> None:
    """Both Jacobians are in the message; without exceptions the answer is False."""
    text = (
        r"Jacobian mismatch for output 0 with respect to input 0,\n"
        r"numerical:tensor\(\[\[3.0000\]\], dtype=torch.float64\)"
    )
    with pytest.raises(GradcheckError, match=text):
        gradcheck(lambda t: t * t.detach(), (leaf(1.5),))
    assert not gradcheck(lambda t: t * t.detach(), (leaf(1.5),), raise_exception=False)


def test_kinks_fail() -> None:
    """At the kink of relu the quotient is a half."""
    with pytest.raises(GradcheckError, match=r"0\.5000"):
        gradcheck(torch.relu, (leaf(0.0),))


def test_inputs_are_checked() -> None:
    """Something must require a gradient, single floats are warned of, overlapping memory is refused."""
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
        gradcheck(torch.sin, (torch.ones(2, dtype=torch.float64),))
    single = torch.tensor([1.0], requires_grad=True)
    with (
        pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"),
        pytest.raises(GradcheckError),
    ):
        gradcheck(torch.sin, (single,))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(torch.sin, (leaf(1.0).expand(3),))
