"""Each row on arrays without elements: value and gradient of the right shapes, or an error that a person can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, Op, Outputs, Shape, ancestors, leaf, make
from agrad.engine.language import build
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.case import CannotJudge
from agrad.engine.referees.forward import evaluate_graph
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

ROWS = sorted({op for op in TABLE.values() if op.family != "cotangent"}, key=lambda op: op.name)
LEAKS = ("numpy", "ufunc", "cannot take these arguments", "by zero")
RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "torch_empty.jsonl").read_text(encoding="utf-8").splitlines()
]
"""What PyTorch 2.13 gives where every input is filled with 0.5: the first entries of each value, and the sum of each
gradient."""


def _unlike(case: Mapping[str, Any]) -> bool:
    """Where PyTorch is not followed."""
    form, shapes = case["form"], case["shapes"]
    if "F.conv" in form:  # of no channels it makes no channels, whatever the weight says
        return "transpose" not in form and shapes["x"][1] == 0
    if "batch_norm" in form:  # statistics and weights of other channels than there are
        return shapes["x"][1] == 0
    if "attention" in form:  # a key for which there is no value
        return bool(shapes["k"][0]) and not shapes["v"][0]
    return "group_norm" in form and shapes["x"] == [1, 4, 0]  # the gradient of the weight of no elements is NaN there


def _without(sizes: Mapping[str, Shape]) -> Iterator[dict[str, Shape]]:
    """The shapes with size 0 for all axes, for each axis of one input, of all inputs, and for all axes of one size."""
    yield {name: (0,) * len(shape) for name, shape in sizes.items()}
    for name, shape in sizes.items():
        for axis in range(len(shape)):
            yield {**sizes, name: (*shape[:axis], 0, *shape[axis + 1 :])}
    for axis in range(max((len(shape) for shape in sizes.values()), default=0)):
        yield {name: tuple(0 if place == axis else z for place, z in enumerate(shape)) for name, shape in sizes.items()}
        yield {
            name: tuple(0 if len(shape) - 1 - place == axis else size for place, size in enumerate(shape))
            for name, shape in sizes.items()
        }
    for gone in {size for shape in sizes.values() for size in shape}:
        yield {name: tuple(0 if size == gone else size for size in shape) for name, shape in sizes.items()}


def _run(form: str, sizes: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The values of a form where all inputs are 0.5, and the gradients of their sum; each of the declared shape."""
    inputs = {name: np.full(shape, 0.5)[()] for name, shape in sizes.items()}
    formulas = build(Source(f"out = {form}"), inputs=inputs, wrt=list(inputs))
    out = formulas.names["out"]
    nodes = list(out.nodes) if isinstance(out, Outputs) else [out]
    values = evaluate(nodes)
    for node in nodes:
        assert np.shape(values[node]) == node.shape
        assert np.asarray(values[node]).dtype == node.dtype
    smooth = [node for node in nodes if node.requires_grad]
    found = gradients(smooth, [leaf(np.ones(node.shape, node.dtype)[()]) for node in smooth]) if smooth else {}
    leaves = {name: node for name in inputs if (node := formulas.names[name]) in found and isinstance(node, Node)}
    cotangents = evaluate([found[node] for node in leaves.values()])
    slopes = {name: cotangents[found[node]] for name, node in leaves.items()}
    for name, slope in slopes.items():
        assert np.shape(slope) == tuple(sizes[name])
    return [values[node] for node in nodes], slopes


def _run_exactly(form: str, sizes: Mapping[str, Any]) -> None:
    """What the referees compute: the same values and gradients over exact numbers."""
    inputs = {name: np.full(shape, 0.5)[()] for name, shape in sizes.items()}
    out = build(Source(f"out = {form}"), inputs=inputs, wrt=list(inputs)).names["out"]
    nodes = list(out.nodes) if isinstance(out, Outputs) else [out]
    smooth = [node for node in nodes if node.requires_grad]
    found = gradients(smooth, [leaf(np.ones(node.shape, node.dtype)[()]) for node in smooth]) if smooth else {}
    with suppress(CannotJudge):
        evaluate_graph(PreciseArithmetic(), ancestors([*nodes, *found.values()]), {}, Budget())


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS])
def test_a_value_and_a_gradient_or_an_error_in_words(op: Op) -> None:
    """Whatever axes are empty, an example gives arrays of the declared shapes, or an error that is agrad's own."""
    for example in op.examples:
        for sizes in _without(example.inputs):
            told = ""
            try:
                _run(example.form, sizes)
                _run_exactly(example.form, sizes)
            except AgradError as error:
                told = error.message
            assert not any(leak in told for leak in LEAKS), (example.form, sizes, told)


def test_what_pytorch_gives() -> None:
    """Where PyTorch gives values of empty arrays, so does agrad, and the same ones, with the same gradients."""
    for case in RECORDED:
        if _unlike(case):
            continue
        values, slopes = _run(case["form"], case["shapes"])
        for value, expected in zip(values, case["values"], strict=True):
            assert list(np.shape(value)) == expected["shape"], case
            head = np.ravel(np.real(value))[: len(expected["head"])].tolist()
            assert head == pytest.approx([float(entry) for entry in expected["head"]], nan_ok=True), case
        for name, expected in (case["gradients"] or {}).items():
            total = float(np.sum(slopes[name])) if name in slopes else 0.0
            assert total == pytest.approx(float(expected), nan_ok=True), case


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("sum(softmax(x, 0))", (0,)),
        ("sum(log_softmax(x, 0))", (5, 0)),
        ("sum(softmin(x, -1))", (2, 0)),
        ("F.cross_entropy(x, x)", (0, 3)),
        ("torch.det(x)", (0, 0)),
        ("sum(torch.linalg.lu(x).U)", (0, 3)),
        ("sum(torch.linalg.pinv(x))", (0, 2)),
        ("sum(torch.linalg.matrix_exp(x))", (0, 0)),
    ],
)
def test_gradients_of_empty_arrays(text: str, shape: Shape) -> None:
    """They are empty arrays of the same shape."""
    _, slopes = _run(text, {"x": shape})
    assert np.shape(slopes["x"]) == shape


@pytest.mark.parametrize("name", ["fft", "ifft"])
def test_a_transform_of_no_points(name: str) -> None:
    """It is refused with PyTorch's words."""
    with pytest.raises(InputError, match=r"Invalid number of data points \(0\) specified"):
        TABLE[f"fft.{name}"](leaf(np.zeros(0)))


@pytest.mark.parametrize("order", [np.inf, -np.inf, -1.0])
def test_a_norm_that_no_elements_have(order: float) -> None:
    """It is refused with PyTorch's words."""
    with pytest.raises(InputError, match=r"cannot compute the .* norm on an empty tensor"):
        make.vector_norm(leaf(np.zeros(0)), order)
