"""A text evaluated, from names to gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError, NoGradientError, Source
from agrad.engine.evaluation.evaluate import chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import Formulas, build
from agrad.engine.report import make_report


def formulas(text: str, **options: Any) -> Formulas:
    """The formulas of a text."""
    return build(Source(text, "a.txt"), **options)


def test_last_assignment_is_the_output() -> None:
    """Without a name, what is assigned last is differentiated."""
    read = formulas("x = 2.0\na = x**2\nb = a * 3\n")
    assert list(chosen_outputs(read, [])) == ["b"]
    assert list(chosen_outputs(read, ["a", "x"])) == ["a", "x"]


def test_unknown_output_is_answered_with_the_nearest() -> None:
    """The error says what the text has."""
    with pytest.raises(InputError, match=r"a\.txt has no name losss") as caught:
        chosen_outputs(formulas("x = 2.0\nloss = x**2\n"), ["losss"])
    assert caught.value.hint == "did you mean loss?"


def test_grads_are_kept_as_pytorch_keeps_them() -> None:
    """Leaves keep their gradients, other nodes only where they are asked for or all are."""
    read = formulas("x = 2.0\nh = x**2\nz = h * 3\n")
    outputs = chosen_outputs(read, [])
    kept = evaluate(read, outputs)
    assert {node.name: float(grad) for node, grad in kept.grads.items()} == {"x": 12.0}
    kept = evaluate(read, outputs, retain_grad=True)
    assert {node.name: float(grad) for node, grad in kept.grads.items()} == {"x": 12.0, "h": 3.0, "z": 1.0}


def test_equal_expressions_are_separate_nodes() -> None:
    """Nodes that are written equal keep gradients of their own."""
    read = formulas("x = 2.0\ny = 3.0\na = x*y\nb = x*y\nz = a + 2*b\n", wrt=["a", "b"])
    found = evaluate(read, chosen_outputs(read, []))
    assert (found.gradient("a"), found.gradient("b")) == (1.0, 2.0)


def test_name_that_nothing_depends_on() -> None:
    """Its gradient is zeros of its shape and dtype, and the report warns of it."""
    read = formulas("x = 2.0\nw = [1.0, 2.0]\nz = x * 3\n", wrt=["x", "w"], dtype=np.dtype(np.float32))
    found = evaluate(read, chosen_outputs(read, []))
    assert found.unused == ["w"]
    assert found.gradient("w").tolist() == [0.0, 0.0]
    assert found.gradient("w").dtype == np.float32
    report = make_report(read, found, device="cpu", dtype="float32")
    assert report.warnings == ["z does not depend on w: its gradient is zero"]
    assert next(row for row in report.rows if row.name == "w").grad is None


def test_cotangents_weigh_the_outputs() -> None:
    """The gradient is that of the weighted sum of all outputs."""
    read = formulas("x = [1.0, 2.0]\ny = x**2\ns = sum(x)\n")
    found = evaluate(read, chosen_outputs(read, ["y", "s"]), [Weight("y", [1.0, 10.0])])
    assert found.gradient("x").tolist() == [3.0, 41.0]


def test_op_without_derivative_is_refused() -> None:
    """An output that nothing can flow through says so."""
    read = formulas("x = 2.0\nn = x > 1\n")
    with pytest.raises(NoGradientError, match="element 0 of tensors does not require grad"):
        evaluate(read, chosen_outputs(read, []))


def test_rows_have_lines_of_their_own_text() -> None:
    """Inputs have no line, and a second text counts its lines from 1."""
    source = Source("\nz = x**2", "a.txt")
    source.append("w = z * 2\n\nv = w", "b.txt")
    read = build(source, inputs={"x": 3.0})
    report = make_report(read, evaluate(read, chosen_outputs(read, [])), device="cpu", dtype="float64")
    assert [(row.name, row.line, row.expression) for row in report.rows] == [
        ("x", None, ""),
        ("z", 2, "x**2"),
        ("w", 1, "z * 2"),
        ("v", 3, "w"),
    ]
    assert report.file == "a.txt"
