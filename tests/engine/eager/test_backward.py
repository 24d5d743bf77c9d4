"""The backward run: what arrives where, in which order, what is freed and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.eager.namespace import torch

SECOND = "Trying to backward through the graph a second time"


def leaf(*values: float) -> Any:
    """A vector that requires a gradient."""
    return torch.tensor(list(values), requires_grad=True)


def test_gradients_add_up() -> None:
    """Every run adds to the same `.grad`, in place."""
    x = leaf(3.0, -1.0)
    (x**2).sum().backward()
    kept = x.grad
    (x**2).sum().backward()
    assert kept is x.grad
    assert kept.tolist() == [12.0, -4.0]
    x.grad.zero_()
    (x * 5).sum().backward()
    assert kept.tolist() == [5.0, 5.0]


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_product_rule(a: float, b: float) -> None:
    """The gradient of a product is the other factor."""
    x, y = leaf(a), leaf(b)
    (x * y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == (y.tolist(), x.tolist())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2,
        lambda x: x / 2,
        lambda x: x**2,
        torch.exp,
        torch.relu,
        torch.abs,
        lambda x: x.max(),
        lambda x: x[[0]],
        lambda x: torch.where(x > 0, x, 0.0),
        lambda x: x.norm(),
    ],
)
def test_what_saves_values_runs_once(function: Any) -> None:
    """A function that needs values refuses a second run, with PyTorch's words."""
    out = function(leaf(1.0, 2.0)).sum()
    out.backward()
    with pytest.raises(RuntimeError, match=SECOND):
        out.backward()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: -x,
        lambda x: x.mean(),
        lambda x: x[0],
        lambda x: x.clone(),
        lambda x: torch.cat([x, x]),
        lambda x: x.cumsum(0),
        lambda x: torch.add(x, x, alpha=2),
        torch.round,
        lambda x: x.double(),
        lambda x: x.reshape(1, 2).t(),
    ],
)
def test_what_saves_nothing_runs_again(function: Any) -> None:
    """A function that needs no values may run twice, and the gradients add up."""
    x = leaf(1.0, 2.0)
    out = function(x).sum()
    out.backward()
    once = x.grad.tolist()
    out.backward()
    assert x.grad.tolist() == [2 * value for value in once]


def test_retain_graph_keeps_the_values() -> None:
    """With `retain_graph` another run is possible, and the run after it frees."""
    x = leaf(2.0)
    y = x**2
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8.0]
    with pytest.raises(RuntimeError, match=SECOND):
        y.backward()


def test_saved_values_are_gone_after_a_run() -> None:
    """`_saved_self` can be read before the run and not after it."""
    y = leaf(3.0) ** 2
    assert (y.grad_fn._saved_self.tolist(), y.grad_fn._saved_exponent) == ([3.0], 2)
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND):
        y.grad_fn._saved_self  # noqa: B018  # reading is what is tested


def test_a_shared_part_is_freed_for_both() -> None:
    """Two results of one part cannot both be run without `retain_graph`."""
    h = leaf(1.0).exp()
    a, b = h * 2, h * 3
    a.backward()
    with pytest.raises(RuntimeError, match=SECOND):
        b.backward()


@pytest.mark.parametrize(
    ("function", "name"),
    [(torch.exp, "Exp"), (torch.sigmoid, "Sigmoid"), (torch.tanh, "Tanh"), (torch.relu, "Relu"), (torch.sqrt, "Sqrt")],
)
def test_a_result_that_was_needed_must_not_be_written_to(function: Any, name: str) -> None:
    """Functions that save their result notice that it was written to."""
    y = function(leaf(1.0, 2.0))
    y.add_(1)
    text = rf"\[torch.FloatTensor \[2\]\], which is output 0 of {name}, is at version 1; expected version 0 instead"
    with pytest.raises(RuntimeError, match=text):
        y.sum().backward()


def test_an_input_that_was_needed_must_not_be_written_to() -> None:
    """A factor that was stepped inside of no_grad is refused; one that is not needed is not."""
    x, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    z = (x * w).sum()
    total = (x + w).sum()
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match=r"inplace operation: \[torch.FloatTensor \[2\]\] is at version 1"):
        z.backward()
    total.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_data_is_not_counted() -> None:
    """What is written through `.data` is what the gradient is then computed with."""
    x = leaf(2.0)
    y = x**2
    x.data.add_(98)
    y.backward()
    assert (y.item(), x.grad.item()) == (4.0, 200.0)


def test_hooks_run_in_the_order_of_the_graph() -> None:
    """The latest operation comes first, and a leaf as soon as its gradient is complete."""
    order: list[str] = []
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    d = a * b
    e = d + c
    for name, tensor in {"a": a, "b": b, "c": c, "d": d, "e": e}.items():
        tensor.register_hook(lambda _g, name=name: order.append(name))
    e.backward()
    assert order == ["e", "c", "d", "a", "b"]


def test_only_what_leads_to_the_inputs_runs() -> None:
    """Hooks of tensors that lead to no wanted input stay silent, and their functions are not freed."""
    order: list[str] = []
    a, b = leaf(1.0), leaf(2.0)
    c, d = a.exp(), b * 1
    for name, tensor in {"a": a, "b": b, "c": c, "d": d}.items():
        tensor.register_hook(lambda _g, name=name: order.append(name))
    torch.autograd.grad((c + d).sum(), b)
    assert order == ["d", "b"]
    c.backward()
    assert a.grad.tolist() == c.tolist()


def test_a_leaf_among_the_outputs_comes_first() -> None:
    """Nothing else can flow into it, so it gets its gradient before any function runs."""
    order: list[str] = []
    a, b = leaf(1.0), leaf(2.0)
    y = a.exp()
    for name, tensor in {"a": a, "b": b, "y": y}.items():
        tensor.register_hook(lambda _g, name=name: order.append(name))
    torch.autograd.backward([y, b])
    assert order == ["b", "y", "a"]


def test_quotients_round_once() -> None:
    """The gradient of a logarithm is a quotient, as PyTorch computes it: 3/3 is 1 and prints as 1."""
    x = leaf(49.0)
    (x.log() * 49).backward()
    assert repr(x.grad) == "tensor([1.])"


def test_a_hook_changes_the_gradient() -> None:
    """What a hook returns takes the gradient's place, until the hook is removed."""
    x = leaf(1.0, 2.0)
    handle = x.register_hook(lambda g: g * 10)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_hook_must_return_a_gradient() -> None:
    """A hook that returns another size or no tensor is refused."""
    x = leaf(1.0, 2.0)
    handle = x.register_hook(lambda _g: torch.ones(3))
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the size of value"):
        x.sum().backward()
    handle.remove()
    x.register_hook(lambda _g: 3)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        x.sum().backward()


def test_hooks_of_functions() -> None:
    """A function's hooks see what it received and what it passes on."""
    seen: list[Any] = []
    x = leaf(2.0)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    y.grad_fn.register_prehook(lambda go: (go[0] * 3,))
    (y * 1).sum().backward()
    ((inputs, outputs),) = seen
    assert (inputs[0].tolist(), inputs[1], outputs[0].tolist()) == ([6.0], None, [3.0])
    assert x.grad.tolist() == [6.0]


def test_hooks_after_accumulation() -> None:
    """They get the leaf, with its gradient added already."""
    seen = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.item()))
    (x * 2).backward()
    (x * 2).backward()
    assert seen == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_zero_times_infinity_is_what_pytorch_gives() -> None:
    """Dead branches of `where` give NaN here, as in PyTorch."""
    x = leaf(4.0, 0.0)
    torch.where(x > 0, x.sqrt(), torch.zeros(2)).sum().backward()
    assert x.grad[0].item() == 0.25
    assert x.grad[1].isnan().item()


def test_choosing_functions_stop_what_is_infinite() -> None:
    """Where relu or clamp chose zero, even an infinite gradient is not let through; a factor of zero gives NaN."""
    x = leaf(0.0)
    torch.sqrt(torch.relu(x)).backward()
    assert x.grad.tolist() == [0.0]
    y = leaf(0.0)
    torch.sqrt(y * 0).backward()
    assert y.grad.isnan().item()


def test_anomaly_detection_names_the_function() -> None:
    """A NaN in a gradient is an error that names the function, with a warning that says where it was called."""
    x = leaf(0.0)
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match=r"Error detected in SqrtBackward0. Traceback of forward call"),
        pytest.raises(RuntimeError, match=r"Function 'SqrtBackward0' returned nan values in its 0th output."),
    ):
        (torch.sqrt(x) * 0).backward()


def test_deep_graphs_do_not_recurse() -> None:
    """A chain of many thousand operations runs."""
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1.0]


def test_no_derivative() -> None:
    """An op without a derivative may be computed, and says so when it is run backward."""
    y = leaf(1.0, 2.0) // 2.0
    assert repr(y) == "tensor([0., 1.], grad_fn=<NotImplemented>)"
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.sum().backward()
