"""The tensor: its attributes, its values, its text."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from agrad.engine.eager import dtypes
from agrad.engine.eager.namespace import torch


def test_a_leaf_and_a_result() -> None:
    """A leaf has no function; a result names the function that made it, and links to those of its inputs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2 + 1
    assert (x.is_leaf, x.grad_fn, x.grad, x.requires_grad) == (True, None, None, True)
    assert (y.is_leaf, y.grad_fn.name(), y.requires_grad) == (False, "AddBackward0", True)
    (inner, number), nothing = y.grad_fn.next_functions
    assert (inner.name(), number, nothing) == ("MulBackward0", 0, (None, 0))
    assert inner.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert inner.next_functions[0][0].variable is x
    assert y.grad_fn is y.grad_fn


def test_a_result_may_be_told_that_it_requires_a_gradient() -> None:
    """The method does nothing to a result that requires a gradient already; the attribute cannot be set."""
    y = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    assert y.requires_grad_(True) is y
    assert not y.is_leaf
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = True
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)


def test_deleting_a_gradient_forgets_it() -> None:
    """`del x.grad` leaves None."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    del x.grad
    assert x.grad is None


def test_text_of_functions() -> None:
    """A function prints as PyTorch's object does, and its class has its name."""
    x = torch.tensor(1.0, requires_grad=True)
    function = (x + 1).grad_fn
    assert str(function).startswith("<AddBackward0 object at 0x")
    assert type(function).__name__ == "AddBackward0"
    assert repr(type(x)) == "<class 'torch.Tensor'>"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (lambda: torch.tensor([1, 2]), "tensor([1, 2])"),
        (lambda: torch.tensor(True), "tensor(True)"),
        (lambda: torch.tensor(2.0, requires_grad=True), "tensor(2., requires_grad=True)"),
        (lambda: torch.tensor(2.0, requires_grad=True) * 2, "tensor(4., grad_fn=<MulBackward0>)"),
        (lambda: torch.tensor(1.0, dtype=torch.float64), "tensor(1., dtype=torch.float64)"),
        (lambda: torch.nn.Parameter(torch.tensor([1.0])), "Parameter containing:\ntensor([1.], requires_grad=True)"),
        (lambda: torch.ones(2, 3).shape, "torch.Size([2, 3])"),
        (lambda: torch.tensor([1.0, 3.0]).max(0), "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))"),
        (lambda: torch.float32, "torch.float32"),
    ],
)
def test_printing(made: object, text: str) -> None:
    """Tensors, sizes, types and several results print as PyTorch prints them."""
    assert repr(made()) == text  # type: ignore[operator]  # a function without arguments


@pytest.mark.parametrize(
    ("data", "dtype"),
    [(1, "int64"), (1.0, "float32"), ([1, 2.5], "float32"), (True, "bool"), (1j, "complex64"), ([], "float32")],
)
def test_types_of_new_tensors(data: object, dtype: str) -> None:
    """Integers stay integers, floats have the default type."""
    assert torch.tensor(data).dtype is dtypes.DTYPES[dtype]


def test_default_dtype() -> None:
    """`set_default_dtype` decides the type of new floats, and what integers become."""
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.0).dtype is torch.float64
        assert torch.tensor([1]).exp().dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.tensor([1]).exp().dtype is torch.float32
    assert (torch.tensor([1]) * 1.5).dtype is torch.float32


def test_promotion() -> None:
    """Tensors with axes over tensors without over numbers, as in PyTorch."""
    single = torch.tensor(2.0, dtype=torch.float64)
    assert (torch.ones(2) * single).dtype is torch.float32
    assert (torch.tensor(1.0) * single).dtype is torch.float64
    assert (torch.arange(3) + torch.tensor(0.5)).dtype is torch.float32
    assert (torch.arange(3) / 2).dtype is torch.float32


def test_requires_grad_can_be_set_on_leaves_only() -> None:
    """A leaf of floats may be switched; a result and integers may not, with PyTorch's words."""
    x = torch.ones(2)
    x.requires_grad = True
    y = x * 1
    with pytest.raises(RuntimeError, match=r"you can only change requires_grad flags of leaf variables. If you"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype can require gradients"):
        torch.tensor([1]).requires_grad = True
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        torch.tensor([1], requires_grad=True)


def test_what_was_computed_before_does_not_require_a_gradient_afterwards() -> None:
    """Switching a tensor on changes nothing for results that exist already."""
    x = torch.ones(2, 2, requires_grad=True)
    z = torch.ones(2, 1)
    y = x @ z
    z.requires_grad = True
    y.backward(torch.ones(2, 1))
    assert z.grad is None
    (x @ z).backward(torch.ones(2, 1))
    assert z.grad.tolist() == [[2.0], [2.0]]


def test_reading_the_gradient_of_a_result_warns() -> None:
    """`.grad` of a tensor that is no leaf gives None and a warning, unless it is retained."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match=r"The .grad attribute of a Tensor that is not a leaf Tensor"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert (y.retains_grad, x.retains_grad) == (True, False)


def test_setting_a_gradient_is_checked() -> None:
    """A gradient must be a tensor of the same size and type, and not the tensor itself."""
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"attempting to assign a gradient of size '\[3\]'"):
        x.grad = torch.ones(3)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None but got grad of type float"):
        x.grad = 1.0
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    x.grad = torch.zeros(2)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_detach_and_data_share_memory() -> None:
    """`detach` shares memory and versions, `data` memory alone."""
    x = torch.ones(2, requires_grad=True)
    x.detach()[0] = 5.0
    assert (x.tolist(), x._version) == ([5.0, 1.0], 1)
    x.data[1] = 7.0
    assert (x.tolist(), x._version) == ([5.0, 7.0], 1)
    y = x.clone().detach()
    y[0] = 0.0
    assert x.tolist() == [5.0, 7.0]
    assert x.data_ptr() == x.detach().data_ptr() != y.data_ptr()


def test_numpy_shares_memory() -> None:
    """An array and its tensor are one memory, both ways."""
    array = np.zeros(2)
    tensor = torch.from_numpy(array)
    tensor[0] = 1.0
    array[1] = 2.0
    assert tensor.tolist() == [1.0, 2.0] == tensor.numpy().tolist()
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        torch.ones(2, requires_grad=True).numpy()


def test_conversions() -> None:
    """One element becomes a Python number; several are refused."""
    assert (float(torch.tensor(2.5)), int(torch.tensor(7)), bool(torch.tensor(0.0))) == (2.5, 7, False)
    assert [10, 20][torch.tensor(1)] == 20
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        format(torch.ones(2), ".2f")
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(torch.tensor(1.0))


def test_operators_refuse_what_is_no_number() -> None:
    """Python's own error names both types."""
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*: 'Tensor' and 'NoneType'"):
        torch.ones(2) * None


def test_iteration_gives_views() -> None:
    """A tensor is unpacked along its first dimension; the parts share one function."""
    a, b = torch.tensor([1.0, 2.0], requires_grad=True)
    assert (a.item(), b.item(), a.grad_fn.name()) == (1.0, 2.0, "UnbindBackward0")
    assert a.grad_fn is b.grad_fn
    assert (a.output_nr, b.output_nr) == (0, 1)


def test_strides_follow_the_memory() -> None:
    """A transposed tensor is no longer contiguous, and cannot be viewed in one row."""
    x = torch.ones(2, 3).t()
    assert (x.stride(), x.is_contiguous(), x.contiguous().stride()) == ((1, 3), False, (2, 1))
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.view(6)


def test_unknown_names() -> None:
    """An unknown function or method is an AttributeError with Python's text."""
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'rleu'"):
        torch.rleu  # noqa: B018  # reading is what is tested
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'foo'"):
        torch.ones(1).foo()
