"""Recorded answers of PyTorch 2.13: values, gradients and grad_fn names of calling forms and of whole programs.

Rows that do not pass yet are listed in `tests/data/golden_pending.json`, and beside them, each with the reason, those
where PyTorch's own answer is not the right one; a listed row that passes is a failure, so that the lists only shrink.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

DATA = Path(__file__).parents[1] / "data"
TOLERANCE = 1e-9


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


OPS = _rows("golden_ops.jsonl")
PROGRAMS = _rows("golden_programs.jsonl")
PENDING = json.loads((DATA / "golden_pending.json").read_text(encoding="utf-8"))


def _array(value: Any) -> Any:
    if isinstance(value, dict):
        return (np.asarray(value["real"]) + 1j * np.asarray(value["imag"]))[()]
    return np.asarray(value)[()]


def _assert_close(got: Any, recorded: Any, what: str) -> None:
    expected = np.asarray(_array(recorded))
    got = np.asarray(got)
    assert got.shape == expected.shape, what
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    # The absolute part is for entries that cancel to zero: float64 rounding of the other entries.
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE * max(scale, 1e-4), err_msg=what)


def _weights(output: Node, recorded: Any) -> Node:
    weights = np.ones(output.shape) if recorded is None else np.asarray(_array(recorded))
    return leaf(weights.astype(output.dtype)[()])


def _float(value: Any) -> Any:
    array = np.asarray(_array(value))
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def check_op(row: dict[str, Any]) -> None:
    """Evaluate one calling form and compare it with what PyTorch gave."""
    inputs = {name: _float(value) for name, value in row["inputs"].items()}
    inputs |= {name: np.asarray(_array(value)) for name, value in row["constants"].items()}
    formulas = build(Source("out = " + row["form"]), inputs=inputs, wrt=list(row["inputs"]))
    out = formulas.names["out"]
    found = gradients([out], [_weights(out, row["cotangent"])])
    wanted = {name: found.get(formulas.wrt[name]) for name in row["grads"]}
    values = evaluate([out, *[node for node in wanted.values() if node is not None]])
    assert np.shape(values[out]) == out.shape
    assert np.asarray(values[out]).dtype == out.dtype
    _assert_close(values[out], row["value"], "value")
    for name, recorded in row["grads"].items():
        node = wanted[name]
        assert (node is None) == (recorded is None), f"gradient of {name}"
        if node is not None:
            _assert_close(values[node], recorded, f"gradient of {name}")
    assert str(out.grad_fn or "NoneType") == row["grad_fn"]


def check_program(row: dict[str, Any]) -> None:
    """Evaluate one program and compare values, gradients and the grad_fn of every line with what PyTorch gave."""
    formulas = build(Source(row["program"]), wrt=row["wrt"])
    out = formulas.names[row["output"]]
    found = gradients([out], [_weights(out, row["cotangent"])])
    wanted = {name: found.get(formulas.wrt[name]) for name in row["grads"]}
    values = evaluate([out, *[node for node in wanted.values() if node is not None]])
    _assert_close(values[out], row["value"], "value")
    for name, recorded in row["grads"].items():
        node = wanted[name]
        assert (node is None) == (recorded is None), f"gradient of {name}"
        if node is not None:
            _assert_close(values[node], recorded, f"gradient of {name}")
    assert {name: formulas.names[name].grad_fn or "NoneType" for name in row["nodes"]} == row["nodes"]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["form"]) for row in OPS])
def test_calling_form(row: dict[str, Any]) -> None:
    """A calling form gives PyTorch's value, gradients and grad_fn; a form listed as pending does not yet."""
    if row["form"] in PENDING["ops"] or row["form"] in PENDING["departures"]:
        with pytest.raises(Exception):  # noqa: B017, PT011  # whatever is missing: an op, an argument, a number
            check_op(row)
    else:
        check_op(row)


@pytest.mark.parametrize("index", range(len(PROGRAMS)))
def test_program(index: int) -> None:
    """A program gives PyTorch's values, gradients and grad_fns; a program listed as pending does not yet."""
    if index in PENDING["programs"]:
        with pytest.raises(Exception):  # noqa: B017, PT011  # whatever is missing: an op, an argument, a number
            check_program(PROGRAMS[index])
    else:
        check_program(PROGRAMS[index])


def test_how_many_pass() -> None:
    """The counts that the README states."""
    missing = {*PENDING["ops"], *PENDING["departures"]}
    assert missing <= {row["form"] for row in OPS}
    assert len(OPS) - len(missing) >= 556
    assert len(PROGRAMS) - len(PENDING["programs"]) == 300
