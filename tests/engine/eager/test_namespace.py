"""The namespace of scripts: constructors, random numbers, optimisers, layers, and where functions are found."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.namespace import Namespace, torch


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: torch.arange(5), "tensor([0, 1, 2, 3, 4])"),
        (lambda: torch.arange(1, 2, 0.25), "tensor([1.0000, 1.2500, 1.5000, 1.7500])"),
        (lambda: torch.linspace(0, 1, 3), "tensor([0.0000, 0.5000, 1.0000])"),
        (lambda: torch.full((2,), 3), "tensor([3, 3])"),
        (lambda: torch.eye(2), "tensor([[1., 0.],\n        [0., 1.]])"),
        (lambda: torch.zeros(2, dtype=torch.int32), "tensor([0, 0], dtype=torch.int32)"),
        (lambda: torch.ones_like(torch.tensor([1.0]), requires_grad=True), "tensor([1.], requires_grad=True)"),
        (lambda: torch.where(torch.tensor([True, False, True])), "(tensor([0, 2]),)"),
        (lambda: torch.nonzero(torch.tensor([0, 5])), "tensor([[1]])"),
        (lambda: torch.unique(torch.tensor([3, 1, 3])), "tensor([1, 3])"),
        (lambda: torch.nn.functional.one_hot(torch.tensor([0, 2])), "tensor([[1, 0, 0],\n        [0, 0, 1]])"),
        (lambda: torch.Tensor([1, 2]), "tensor([1., 2.])"),
    ],
)
def test_constructors(made: Any, text: str) -> None:
    """Constructors make what PyTorch's make."""
    assert repr(made()) == text


def test_the_random_streams_are_pytorchs() -> None:
    """The numbers of a seed are those that PyTorch draws on the processor."""
    torch.manual_seed(0)
    assert repr(torch.rand(3)) == "tensor([0.4963, 0.7682, 0.0885])"
    assert repr(torch.randn(3)) == "tensor([0.3643, 0.1344, 0.1642])"
    assert repr(torch.randn(20)[:4]) == "tensor([-0.2041, -0.0885,  0.5239, -0.6659])"
    assert repr(torch.rand(2, dtype=torch.float64)) == "tensor([0.3453, 0.8557], dtype=torch.float64)"
    assert torch.randint(0, 10, (3,)).tolist() == [9, 3, 1]
    assert torch.randperm(5).tolist() == [1, 0, 4, 3, 2]


def test_names_are_where_pytorch_keeps_them() -> None:
    """Functions stand in PyTorch's namespaces, and NumPy's names in none."""
    present = ("arctan2", "absolute", "concatenate", "amax", "maximum", "clip", "sinc", "dot", "outer", "linalg")
    assert all(hasattr(torch, name) for name in present)
    assert not any(hasattr(torch, name) for name in ("power", "expand_dims", "cbrt", "mse_loss", "flow", "getitem"))
    assert hasattr(torch.nn.functional, "mse_loss")
    assert hasattr(torch.special, "expit")
    assert isinstance(torch.autograd, Namespace)


def test_functions_want_tensors() -> None:
    """A number where a tensor must stand is a TypeError that says which argument it is."""
    with pytest.raises(TypeError, match=r"log\(\): argument 'input' \(position 1\) must be Tensor, not float"):
        torch.log(2.0)


def test_momentum() -> None:
    """Steps of SGD with momentum are PyTorch's."""
    theta, bias = torch.tensor([2.0], requires_grad=True), torch.tensor(0.5, requires_grad=True)
    optimizer = torch.optim.SGD([theta, bias], lr=0.125, momentum=0.5)
    seen = []
    for _ in range(4):
        cost = (theta * 2 + bias - 1).pow(2).sum()
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        seen.append((round(cost.item(), 4), round(theta.item(), 4)))
    assert seen == [(12.25, 0.25), (0.7656, -0.1875), (3.876, 0.5781), (0.003, 0.9883)]


def test_adam_moves_by_its_rate() -> None:
    """The first step of Adam is as long as its rate."""
    x = torch.tensor([5.0], requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.1)
    (x**2).sum().backward()
    optimizer.step()
    assert x.item() == pytest.approx(4.9, abs=1e-6)


def test_optimisers_take_leaves() -> None:
    """A result, and no parameters at all, are refused."""
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)
    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        torch.optim.SGD([], lr=0.1)


def test_clipping() -> None:
    """The norm of all gradients together is brought to the largest that is allowed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x**2).sum().backward()
    assert torch.nn.utils.clip_grad_norm_([x], 1.0).item() == pytest.approx(20**0.5)
    assert x.grad.norm().item() == pytest.approx(1.0, abs=1e-5)


def test_modules_find_their_parameters() -> None:
    """A module's parameters, and those of modules in it, have names."""

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]  # a member of a namespace
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(2.0))
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.layer(x) * self.scale

    net = Net()
    net(torch.ones(3, 2)).sum().backward()
    assert [name for name, _ in net.named_parameters()] == ["scale", "layer.weight", "layer.bias"]
    assert net.layer.bias.grad.tolist() == [6.0]
    net.zero_grad()
    assert net.scale.grad is None


def test_texts_of_modules_and_optimisers() -> None:
    """Modules and optimisers print as PyTorch's."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU())
    text = "Sequential(\n  (0): Linear(in_features=2, out_features=1, bias=True)\n  (1): ReLU()\n)"
    assert repr(net) == text
    assert list(net.state_dict()) == ["0.weight", "0.bias"]
    assert repr(torch.optim.SGD(net.parameters(), lr=0.1)).splitlines()[-3:] == [
        "    nesterov: False",
        "    weight_decay: 0",
        ")",
    ]


def test_rates_follow_their_schedule() -> None:
    """A schedule changes the rates after the optimiser's steps, and warns of the other order."""
    x = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        schedule.step()
    (x * 2).backward()
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.1]


def test_filling_parameters() -> None:
    """`nn.init` overwrites parameters where nothing is recorded."""
    layer = torch.nn.Linear(2, 2, bias=False)
    torch.nn.init.eye_(layer.weight)
    assert layer(torch.tensor([3.0, 4.0])).tolist() == [3.0, 4.0]
    assert (layer.weight.is_leaf, layer.weight.requires_grad) == (True, True)
