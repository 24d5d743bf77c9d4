"""Jacobians, Hessians and products with them, as functions of functions."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.namespace import torch

functional = torch.autograd.functional
func = torch.func


def square(x: Any) -> Any:
    """Each entry squared."""
    return x**2


def cubes(x: Any) -> Any:
    """The sum of the cubes."""
    return (x**3).sum()


V = torch.tensor([1.0, 2.0])


def test_jacobian() -> None:
    """A row for each entry of the result; a tuple for several inputs."""
    assert functional.jacobian(square, V).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    found = functional.jacobian(lambda x, y: (x * y).sum(), (V, V * 3))
    assert [part.tolist() for part in found] == [[3.0, 6.0], [1.0, 2.0]]


def test_hessian() -> None:
    """Second derivatives, of one input and of several."""
    assert functional.hessian(cubes, V).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    found = functional.hessian(lambda x, y: (x * y).sum(), (V, V))
    assert found[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_products() -> None:
    """vjp, jvp, hvp and vhp give the result and the product."""
    ones = torch.ones(2)
    assert functional.vjp(square, V, ones)[1].tolist() == [2.0, 4.0]
    assert functional.jvp(square, V, ones)[1].tolist() == [2.0, 4.0]
    assert functional.hvp(cubes, V, ones)[1].tolist() == [6.0, 12.0]
    value, product = functional.vhp(cubes, V, ones)
    assert (value.item(), product.tolist()) == (9.0, [6.0, 12.0])


def test_create_graph() -> None:
    """With it the Jacobian has a past."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert functional.jacobian(square, x, create_graph=True).grad_fn.name() == "ViewBackward0"
    assert not functional.jacobian(square, x).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: functional.hessian(square, V), RuntimeError, "should contain a single element"),
        (lambda: functional.jacobian(lambda _: 3.0, V), TypeError, "has type <class 'float'>"),
        (
            lambda: functional.vjp(square, V),
            RuntimeError,
            "The vector v can only be None if the user-provided function",
        ),
        (lambda: functional.vjp(square, V, torch.ones(3)), RuntimeError, "v has invalid size: should be torch.Size"),
        (
            lambda: functional.jacobian(lambda _: torch.ones(2), V, strict=True),
            RuntimeError,
            "Output 0 of the user-pro",
        ),
        (lambda: functional.hessian(lambda x: x.sum(), V, strict=True), RuntimeError, "is independent of the input"),
        (lambda: func.grad(square)(V), RuntimeError, "Expected f.* to return a scalar Tensor, got tensor with 1 dims"),
        (lambda: func.grad(square)(torch.tensor(2)), RuntimeError, "only Tensors of floating point dtype can require"),
        (lambda: func.jvp(square, (V,), (torch.ones(3),)), RuntimeError, "Trying to set a forward gradient that has a"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    """What cannot be differentiated is refused with PyTorch's words."""
    with pytest.raises(error, match=text):
        call()


def test_func_transforms() -> None:
    """Gradients of functions, nested and with respect to several arguments."""
    assert func.grad(cubes)(V).tolist() == [3.0, 12.0]
    assert func.grad(func.grad(torch.sin))(torch.tensor(0.5)).item() == pytest.approx(-0.479425, abs=1e-6)
    assert [part.tolist() for part in func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(V, V * 3)] == [
        [3.0, 6.0],
        [1.0, 2.0],
    ]
    assert func.jacrev(square)(V).tolist() == func.jacfwd(square)(V).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert func.hessian(cubes)(V).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    value, pullback = func.vjp(square, V)
    assert (value.tolist(), pullback(torch.ones(2))[0].tolist()) == ([1.0, 4.0], [2.0, 4.0])
    assert func.jvp(square, (V,), (torch.ones(2),))[1].tolist() == [2.0, 4.0]


def test_func_results_have_no_past() -> None:
    """What a transform gives requires a gradient only where something outside of it does."""
    w = torch.tensor(2.0, requires_grad=True)
    assert not func.grad(cubes)(V).requires_grad
    assert func.grad(lambda x: (w * x).sum())(V).requires_grad


def test_vmap() -> None:
    """A function over a batch, along chosen dimensions, also of a gradient."""
    batch = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    found = func.vmap(func.grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(V, batch)
    assert found.tolist() == [[2.0, 0.0], [0.0, 16.0]]
    with pytest.raises(ValueError, match=r"got sizes \[2, 3\] for the mapped dimension"):
        func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(3, 3))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: a.item(), r"vmap: It looks like you're calling .item\(\) on a Tensor"),
        (lambda a: a if a > 0 else -a, "vmap: It looks like you're attempting to use a Tensor in some data-dependent"),
    ],
)
def test_members_of_a_batch_keep_their_values(function: Any, text: str) -> None:
    """A function over a batch must not ask for the values of one member; its results are plain again."""
    with pytest.raises(RuntimeError, match=text):
        func.vmap(function)(torch.ones(2))
    assert func.vmap(lambda a: a * 2)(torch.ones(2))[0].item() == 2.0
