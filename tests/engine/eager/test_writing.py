"""Operations in place: values, versions, views, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.eager.namespace import torch


def leaf(*values: float) -> Any:
    """A vector that requires a gradient."""
    return torch.tensor(list(values), requires_grad=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.zero_(),
        lambda x: x.fill_(2.0),
        lambda x: x.copy_(torch.ones(2)),
        lambda x: x.__iadd__(1),
        lambda x: x.__setitem__(slice(None), 1.0),
        lambda x: x.__setitem__([0], 1.0),
    ],
)
def test_leaves_are_not_written_to(write: Any) -> None:
    """A leaf that requires a gradient refuses, and may be written to where nothing is recorded."""
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match=r"^a leaf Variable that requires grad is being used in an in-place operation"
    ):
        write(x)
    with torch.no_grad():
        write(x)
    assert (x._version, x.requires_grad, x.is_leaf) == (1, True, True)


@pytest.mark.parametrize(
    "write", [lambda x: x[:1].mul_(2), lambda x: x.view(2).add_(1), lambda x: x.__setitem__(0, 1.0)]
)
def test_views_of_leaves_are_not_written_to(write: Any) -> None:
    """A view of such a leaf refuses with words of its own."""
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used"):
        write(leaf(1.0, 2.0))


def test_a_result_is_written_to() -> None:
    """The tensor becomes the result of the operation, and the gradient goes through it."""
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(3)
    y += x
    assert (repr(y), y._version) == ("tensor([4., 8.], grad_fn=<AddBackward0>)", 2)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_what_an_operation_in_place_needs_of_its_tensor_is_kept() -> None:
    """`y.pow_(2)` and `y *= x` need the values before, which are kept."""
    x = leaf(3.0)
    y = x * 1
    y.pow_(2)
    y *= x
    y.backward()
    assert x.grad.tolist() == [27.0]


def test_a_view_writes_into_its_base() -> None:
    """Base and views share memory, version and past."""
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = a * 1
    flat = b.view(-1)
    flat[1:3] *= 10
    assert b.tolist() == [[1.0, 20.0], [30.0, 4.0]]
    assert (b.grad_fn.name(), flat.grad_fn.name()) == ("torch::autograd::CopySlices", "AsStridedBackward0")
    assert (b._version, flat._version) == (2, 2)
    (b**2).sum().backward()
    assert a.grad.tolist() == [[2.0, 400.0], [600.0, 8.0]]


def test_writing_into_a_transposed_view() -> None:
    """The places of a view are found through its strides."""
    a = torch.ones(2, 3, requires_grad=True)
    b = a * 1
    b.t()[1].mul_(torch.tensor([5.0, 7.0]))
    assert b.tolist() == [[1.0, 5.0, 1.0], [1.0, 7.0, 1.0]]
    b.sum().backward()
    assert a.grad.tolist() == [[1.0, 5.0, 1.0], [1.0, 7.0, 1.0]]


def test_writing_into_a_diagonal() -> None:
    """A diagonal is a view like any other, with or without a gradient."""
    plain = torch.zeros(2, 2)
    plain.diagonal().add_(1)
    assert plain.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    y.diagonal().mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [[3.0, 1.0], [1.0, 3.0]]


@pytest.mark.parametrize("function", [torch.sigmoid, torch.tanh, torch.sqrt, torch.relu, torch.expm1])
def test_an_overwritten_input_that_nobody_saved(function: Any) -> None:
    """Functions that save their result alone are right after their input was overwritten."""
    x = leaf(0.5, 2.0)
    function(x).sum().backward()
    expected = x.grad.tolist()
    x.grad = None
    y = x * 1
    out = function(y)
    y.view(2).zero_()
    out.sum().backward()
    assert x.grad.tolist() == pytest.approx(expected, rel=1e-5)


def test_division_in_place_keeps_its_dividend() -> None:
    """Two divisions one after the other, the second through a view, have the right gradient."""
    x, w = leaf(2.0, 3.0), leaf(2.0)
    y = x * 1
    y.div_(w)
    y[:1].div_(w)
    y.sum().backward()
    assert x.grad.tolist() == [0.25, 0.5]
    assert w.grad.tolist() == [-2 * 2 / 8 - 3 / 4]


def test_a_variable_written_into_a_constant() -> None:
    """The constant then depends on the variable."""
    w = leaf(2.0)
    x = torch.zeros(3)
    x[1] = w[0] * 3
    assert (x.requires_grad, x.is_leaf) == (True, False)
    (x**2).sum().backward()
    assert w.grad.tolist() == [36.0]


def test_an_overwritten_entry_has_no_gradient() -> None:
    """What was there before is cut off where something else was put."""
    x = leaf(1.0, 2.0)
    y = x * 1
    y[0] = 5.0
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("parts", "name"), [(lambda x: x.unbind(), "Unbind"), (lambda x: x.split(1), "Split")])
def test_one_of_many_views_is_not_written_to(parts: Any, name: str) -> None:
    """Views that come several at once refuse."""
    part = parts(leaf(1.0, 2.0) * 1)[0]
    with pytest.raises(RuntimeError, match=f"Output 0 of {name} is a view and is being modified inplace"):
        part.mul_(2)


def test_a_view_made_without_recording_is_not_written_to() -> None:
    """Whether that should be recorded is not clear, so PyTorch refuses."""
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        view = x[0:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.mul_(2)


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda: torch.zeros(2).add_(torch.ones(2, 2)), r"output with shape \[2\] doesn't match the broadcast shape"),
        (lambda: torch.tensor([1, 2]).add_(1.5), "result type Float can't be cast to the desired output type Long"),
        (lambda: torch.ones(1).expand(3).add_(1), "more than one element of the written-to tensor refers to a single"),
        (lambda: torch.zeros(2).__setitem__(0, torch.ones(3)), "the number of sizes provided"),
    ],
)
def test_what_does_not_fit(write: Any, text: str) -> None:
    """Sizes, types and overlapping memory are checked before anything is written."""
    with pytest.raises(RuntimeError, match=text):
        write()


def test_integers_and_plain_tensors() -> None:
    """Without gradients, writing is plain writing, seen through every view."""
    a = torch.ones(2, 3)
    row = a[1]
    a[0] += 1
    a[:, 1] *= 3
    a[a > 5] = 0
    a.t()[0] = 7
    assert a.tolist() == [[7.0, 0.0, 2.0], [7.0, 3.0, 1.0]]
    assert row.tolist() == [7.0, 3.0, 1.0]
