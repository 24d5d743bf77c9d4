"""Operations whose backward a script writes."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.namespace import torch

Function = torch.autograd.Function


class Exponential(Function):  # type: ignore[misc, valid-type]  # a member of a namespace
    """The exponential, from its own result."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """e**x."""
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The result is the slope."""
        (result,) = ctx.saved_tensors
        return g * result


class Pair(Function):  # type: ignore[misc, valid-type]  # as above
    """A product and a sum of two tensors, times a number."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, factor: int) -> Any:
        """Both results."""
        ctx.factor = factor
        ctx.save_for_backward(a, b)
        return a * b * factor, a + b

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        """One gradient for each input; none for the number."""
        a, b = ctx.saved_tensors
        return g * b * ctx.factor + h, g * a * ctx.factor + h, None


def test_its_function_has_its_name() -> None:
    """`grad_fn` is named after the class, and the gradient is the script's."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = Exponential.apply(x)
    assert repr(y) == "tensor([1.0000, 2.7183], grad_fn=<ExponentialBackward>)"
    assert str(y.grad_fn).startswith("<torch.autograd.function.ExponentialBackward object at 0x")
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_saved_tensors_are_freed() -> None:
    """A second run is refused where the script reads what it saved."""
    y = Exponential.apply(torch.tensor([1.0], requires_grad=True))
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_it_is_differentiated_again() -> None:
    """A backward of differentiable operations has a gradient itself."""
    x = torch.tensor([1.0], requires_grad=True)
    (g,) = torch.autograd.grad(Exponential.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.tolist() == g.tolist()


def test_several_results_share_a_function() -> None:
    """Each result gives its gradient; those that were not used are zeros."""
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    product, total = Pair.apply(a, b, 5)
    assert product.grad_fn is total.grad_fn
    product.backward(retain_graph=True)
    total.backward()
    assert (a.grad.item(), b.grad.item()) == (16.0, 11.0)


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (lambda g: (g, g), RuntimeError, r"incorrect number of gradients \(expected 1, got 2\)"),
        (
            lambda _g: torch.ones(3),
            RuntimeError,
            r"invalid gradient at index 0 - got \[3\] but expected shape compatible",
        ),
        (lambda _g: 3, TypeError, r"expected Variable or None \(got int\)"),
    ],
)
def test_answers_are_checked(answer: Any, error: type[Exception], text: str) -> None:
    """What backward returns must fit the inputs."""

    class Wrong(Function):  # type: ignore[misc, valid-type]  # as above
        @staticmethod
        def forward(_ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(_ctx: Any, g: Any) -> Any:
            return answer(g)

    with pytest.raises(error, match=text):
        Wrong.apply(torch.ones(2, requires_grad=True)).sum().backward()


def test_without_backward() -> None:
    """A function without one may be computed and not differentiated."""

    class Half(Function):  # type: ignore[misc, valid-type]  # as above
        @staticmethod
        def forward(_ctx: Any, x: Any) -> Any:
            return x / 2

    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
        Half.apply(torch.ones(1, requires_grad=True)).backward()


def test_once_differentiable() -> None:
    """Its gradient refuses to be differentiated."""

    class Square(Function):  # type: ignore[misc, valid-type]  # as above
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0]

    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once"):
        g.backward()


def test_results_that_are_not_differentiable() -> None:
    """Marked results require nothing."""

    class Largest(Function):  # type: ignore[misc, valid-type]  # as above
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            place = x.argmax()
            ctx.mark_non_differentiable(place)
            return x * 2, place

        @staticmethod
        def backward(_ctx: Any, g: Any, _place: Any) -> Any:
            return g * 2

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    doubled, place = Largest.apply(x)
    assert (place.item(), place.requires_grad, doubled.requires_grad) == (1, False, True)
    doubled.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
