"""`autograd.backward` and `autograd.grad`: every argument, every refusal."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.modes import State
from agrad.engine.eager.namespace import torch

grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    """A vector that requires a gradient."""
    return torch.tensor(list(values), requires_grad=True)


def test_several_outputs_with_weights() -> None:
    """Each output counts with its weight, and the gradients add up."""
    x = leaf(1.0, 2.0)
    torch.autograd.backward([x * 3, x**2], grad_tensors=[torch.ones(2), torch.tensor([0.5, 0.1])])
    assert [round(value, 5) for value in x.grad.tolist()] == [4.0, 3.4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: (x * 2).backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (lambda x: (x * 2).backward(torch.ones(3)), RuntimeError, r"grad_output\[0\] has a shape of torch.Size\(\[3\]"),
        (lambda x: (x * 2).backward(3.0), TypeError, "'float' object is not iterable"),
        (lambda x: torch.autograd.backward([x * 2], [3.0]), TypeError, "either Tensors or None, but got float"),
        (
            lambda x: torch.autograd.backward([x.sum(), x.prod()], [torch.tensor(1.0)]),
            RuntimeError,
            "got 2 tensors and 1",
        ),
        (
            lambda _: torch.tensor(2.0).backward(),
            RuntimeError,
            "element 0 of tensors does not require grad and does not",
        ),
        (lambda x: x.sum().backward(inputs=[]), RuntimeError, r"`inputs` argument to `backward\(\)` cannot be empty."),
        (lambda x: grad(x.sum(), []), RuntimeError, r"`inputs` argument to `grad\(\)` cannot be empty."),
        (lambda x: grad(x.sum(), leaf(1.0)), RuntimeError, "The differentiated Tensor at index 0 appears to not have"),
        (lambda x: grad(x.sum(), torch.ones(1)), RuntimeError, "One of the differentiated Tensors does not require"),
        (
            lambda x: grad(x.sum(), x, allow_unused=False, materialize_grads=True),
            ValueError,
            "Expected allow_unused to be",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    """Wrong arguments are refused with PyTorch's class and words."""
    with pytest.raises(error, match=text):
        call(leaf(1.0, 2.0))


def test_grad_gives_gradients_and_adds_to_nothing() -> None:
    """`grad` returns the gradients and leaves `.grad` alone."""
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a, b = grad((x * y).sum(), [x, y])
    assert (a.tolist(), b.tolist(), x.grad, y.grad) == ([3.0, 4.0], [1.0, 2.0], None, None)


def test_grad_of_a_dictionary() -> None:
    """A dictionary of inputs gives a dictionary of gradients."""
    x = leaf(2.0)
    assert grad((x**2).sum(), {"x": x})["x"].tolist() == [4.0]


def test_unused_inputs() -> None:
    """An input that nothing depends on is an error, None or zeros, as asked."""
    x, spare = leaf(2.0), leaf(7.0, 8.0)
    assert grad((x * 3).sum(), [x, spare], allow_unused=True)[1] is None
    assert grad((x * 3).sum(), [x, spare], materialize_grads=True)[1].tolist() == [0.0, 0.0]


def test_batched_weights() -> None:
    """A row of weights gives a row of gradients."""
    x = leaf(1.0, 2.0)
    (found,) = grad(x * 2, x, torch.eye(2), is_grads_batched=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_gradients_can_be_differentiated() -> None:
    """With `create_graph` a gradient has a past of its own."""
    x = leaf(2.0)
    (first,) = grad(x**4, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.item(), second.item(), third.item(), third.requires_grad) == (32.0, 48.0, 48.0, False)
    assert first.grad_fn.name() == "MulBackward0"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.log, "DivBackward0"),
        (torch.tanh, "TanhBackwardBackward0"),
        (torch.sigmoid, "SigmoidBackwardBackward0"),
        (torch.relu, "ThresholdBackwardBackward0"),
        (torch.exp, "MulBackward0"),
    ],
)
def test_names_of_gradients(function: Any, name: str) -> None:
    """A gradient's function has PyTorch's name."""
    x = leaf(1.0, 2.0)
    (g,) = grad(function(x).sum(), x, create_graph=True)
    assert g.grad_fn.name() == name


def test_create_graph_in_backward_warns() -> None:
    """The leaf and its gradient refer to each other, which PyTorch warns of."""
    x = leaf(2.0)
    State.said.clear()
    with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True will create a reference cycle"):
        (x**3).backward(create_graph=True)
    assert repr(x.grad) == "tensor([12.], grad_fn=<CopyBackwards>)"


def test_inputs_of_backward() -> None:
    """Only the given tensors get gradients, also where they are no leaves."""
    x, y = leaf(2.0), leaf(3.0)
    middle = x * 2
    (middle * y).backward(inputs=[middle])
    assert (middle.grad.tolist(), x.grad, y.grad) == ([3.0], None, None)


def test_deprecated_arguments_warn() -> None:
    """`grad_variables` still works, `only_inputs` is ignored; both warn."""
    x = leaf(2.0)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        torch.autograd.backward(x * 2, grad_variables=torch.ones(1))
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        grad(x * 2, x, only_inputs=False)
    with pytest.warns(UserWarning, match="volatile was removed"):
        torch.autograd.Variable(torch.ones(1), volatile=True)


def test_an_edge_stands_for_its_tensor() -> None:
    """A gradient can be asked of a place in the graph."""
    x = leaf(2.0)
    y = x**2
    (g,) = grad(y * 3, [torch.autograd.graph.get_gradient_edge(y)])
    assert g.tolist() == [3.0]


def test_complex_gradients() -> None:
    """Complex leaves follow PyTorch's conjugate convention, and complex outputs need a weight."""
    w = torch.tensor([1 + 2j, -1j], requires_grad=True)
    (w.abs() ** 2).sum().backward()
    assert [complex(round(z.real, 5), round(z.imag, 5)) for z in w.grad.tolist()] == [2 + 4j, -2j]
    with pytest.raises(RuntimeError, match=r"real scalar outputs but got torch.complex64"):
        (w**2).sum().backward()
