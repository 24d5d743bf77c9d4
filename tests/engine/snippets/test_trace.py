"""The rows of --trace: the tensors that a statement made or changed, by their own attributes."""

from __future__ import annotations

from agrad.engine.eager.namespace import torch
from agrad.engine.eager.tensor import Tensor
from agrad.engine.snippets.trace import Tracer, written


def test_new_and_changed_tensors_are_rows() -> None:
    """A tensor is a row when it appears, when its grad does, and when it is written into."""
    tracer = Tracer(Tensor)
    names = {"x": torch.tensor([1.0, 2.0], requires_grad=True), "n": 3}
    (row,) = tracer.changed(names)
    assert (row.name, row.value, row.requires_grad, row.is_leaf, row.grad_fn) == (
        "x",
        "[1., 2.]",
        "True",
        "True",
        "None",
    )
    assert tracer.changed(names) == []
    names["y"] = names["x"].sum()
    (row,) = tracer.changed(names)
    assert (row.name, row.grad_fn, row.grad) == ("y", "SumBackward0", "None")
    names["y"].backward()
    (row,) = tracer.changed(names)
    assert (row.name, row.grad) == ("x", "[1., 1.]")
    with torch.no_grad():
        names["x"].add_(1)
    (row,) = tracer.changed(names)
    assert (row.value, row.version) == ("[2., 3.]", "1")


def test_tensors_in_containers_have_names() -> None:
    """Tensors in lists and dictionaries are found, and named by their place."""
    names = {"xs": [torch.ones(1), 2], "d": {"w": torch.zeros(1)}}
    assert [row.name for row in Tracer(Tensor).changed(names)] == ["xs[0]", "d['w']"]


def test_long_values_are_told_by_shape() -> None:
    """A value that would be long is its type and shape."""
    assert written(torch.zeros(50, 50)) == "float32 [50, 50]"
    assert written(torch.tensor([[1.0, 2.0], [3.0, 4.0]])) == "[[1., 2.], [3., 4.]]"
