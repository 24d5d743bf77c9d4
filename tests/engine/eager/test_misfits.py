"""Tests of what PyTorch says of arguments that a function does not take; the texts were recorded from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.eager.dispatch import call
from agrad.engine.eager.misfits import NUMBER_FIRST, TENSORS_ONLY, invalid, refuse_keywords
from agrad.engine.eager.tensor import Tensor
from agrad.engine.graph import TABLE, Node, leaf


def ones(*shape: int) -> Node:
    """A node of ones."""
    return leaf(np.ones(shape, dtype=np.float32))


def one() -> Tensor:
    """A tensor of one number."""
    return Tensor([1.0])


def test_the_lists_name_rows() -> None:
    """Each function that the lists speak of is a row of the table."""
    assert {op.name for op in TABLE.values()} >= NUMBER_FIRST | TENSORS_ONLY
    assert not NUMBER_FIRST & TENSORS_ONLY


@pytest.mark.parametrize(
    ("name", "args", "keywords", "message"),
    [
        ("log", [], {}, 'log() missing 1 required positional arguments: "input"'),
        ("log", [one(), one(), one()], {}, "log() takes 1 positional argument but 3 were given"),
        ("log", [one()], {"foo": 1}, "log() got an unexpected keyword argument 'foo'"),
        ("log", [2.0], {}, "log(): argument 'input' (position 1) must be Tensor, not float"),
        ("sum", [2.0], {}, "sum(): argument 'input' (position 1) must be Tensor, not float"),
        ("maximum", [one(), 2.0], {}, "maximum(): argument 'other' (position 2) must be Tensor, not float"),
        ("mul", ["a", one()], {}, "mul(): argument 'input' (position 1) must be Tensor, not str"),
        ("cumsum", [one()], {}, 'cumsum() missing 1 required positional arguments: "dim"'),
        ("matrix_power", [one(), 0.5], {}, "matrix_power(): argument 'n' (position 2) must be int, not float"),
    ],
)
def test_functions(name: str, args: list[Any], keywords: dict[str, Any], message: str) -> None:
    """A function says which argument it does not take."""
    with pytest.raises(TypeError) as caught:
        call(TABLE[name], args, keywords, function=name)
    assert str(caught.value) == message


def test_methods() -> None:
    """A method does not count the tensor that it belongs to."""
    with pytest.raises(TypeError, match=r"^TensorBase\.exp\(\) takes no arguments \(1 given\)$"):
        call(TABLE["exp"], (one(), 2), {})


def test_a_number_may_come_first_where_pytorch_lets_it() -> None:
    """`torch.add(2.0, x)` is a call like any other."""
    assert call(TABLE["add"], (2.0, one()), {}, function="add").tolist() == [3.0]


def test_numpys_keyword_is_refused_with_the_forms() -> None:
    """`axes` is no keyword of PyTorch's functions."""
    with pytest.raises(TypeError) as caught:
        refuse_keywords(TABLE["sum"], (ones(2),), {"axes": 0}, None)
    assert str(caught.value) == (
        "sum() received an invalid combination of arguments - got (axes=int, ), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    )
    with pytest.raises(TypeError, match=r"^prod\(\) got an unexpected keyword argument 'axes'"):
        refuse_keywords(TABLE["prod"], (ones(2),), {"axes": 0}, "prod")
    refuse_keywords(TABLE["sum"], (ones(2),), {"dim": 0}, None)


def test_functions_with_one_form_have_no_list_of_them() -> None:
    """Only where a function has several forms does PyTorch list them."""
    assert invalid(TABLE["exp"], ("a",), {}, "exp") is None
    assert "got (str, str)" in str(invalid(TABLE["lerp"], ("a", "b"), {}, "lerp"))
