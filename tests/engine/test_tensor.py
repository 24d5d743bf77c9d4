"""The library's front door."""

from __future__ import annotations

from agrad.engine.tensor import Tensor, backward, grad, no_grad, tensor, torch


def test_the_names_are_those_of_the_namespace() -> None:
    """A program and a script use the same functions."""
    assert (torch.tensor, torch.Tensor, torch.no_grad) == (tensor, Tensor, no_grad)
    assert (torch.autograd.backward, torch.autograd.grad) == (backward, grad)


def test_a_first_gradient() -> None:
    """z = x**2 + y at 1 and 2 has the gradients 2 and 1."""
    x, y = tensor(1.0, requires_grad=True), tensor(2.0, requires_grad=True)
    z = x**2 + y
    backward(z)
    assert (z.item(), x.grad.item(), y.grad.item()) == (3.0, 2.0, 1.0)  # type: ignore[union-attr]  # they are there
