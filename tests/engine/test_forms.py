"""Calling forms that have no recorded numbers: random ones, and those through which PyTorch has no derivative."""

from __future__ import annotations

import re

import numpy as np
import pytest

from agrad.engine.errors import NoGradientError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf
from agrad.engine.language import build


def _out(form: str) -> tuple[Node, list[Node]]:
    values = {"x": np.array([0.5, -1.0, 2.0]), "y": np.array([1.0, 2.0, 3.0])}
    inputs = {name: value for name, value in values.items() if re.search(rf"\b{name}\b", form)}
    formulas = build(Source(f"out = {form}"), inputs=inputs, wrt=list(inputs))
    return formulas.names["out"], list(formulas.wrt.values())


@pytest.mark.parametrize(
    ("form", "grad_fn"),
    [
        ("x // y", "NotImplemented"),
        ("torch.floor_divide(x, y)", "NotImplemented"),
        ("1.0 % x", "NotImplemented"),
        ("torch.heaviside(x.detach(), y)", "NotImplemented"),
        ("x.detach()", None),
        ("F.dropout(x, 0.0, training=True)", None),
        ("F.dropout(x, 0.5, training=True, seed=0)", "MulBackward0"),
        ("F.dropout(x, 0.5, training=False)", None),
        ("F.rrelu(x, training=True, seed=0)", "RreluWithNoiseBackward0"),
        ("F.gumbel_softmax(x, seed=0)", "SoftmaxBackward0"),
        ("F.gumbel_softmax(x, hard=True, seed=0)", "AddBackward0"),
    ],
)
def test_grad_fn(form: str, grad_fn: str | None) -> None:
    """A form carries PyTorch's grad_fn, or none where the result is a leaf; a gradient through none is an error."""
    out, leaves = _out(form)
    assert out.grad_fn == grad_fn
    if grad_fn == "NotImplemented":
        with pytest.raises(NoGradientError, match="not implemented"):
            gradients([out], [leaf(np.ones(3))])
    elif grad_fn is not None:
        assert leaves[0] in gradients([out], [leaf(np.ones(3))])
