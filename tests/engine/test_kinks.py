"""Kinks, ties, poles and edges of domains: PyTorch 2.13's recorded numbers, but for the departures that are listed.

`torch_kinks.json` is the record; `kink_forms.json` says each of its cases as an expression over leaves x, y, z. Where
the record rounds an input, the forms have it exactly.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.evaluation.outputs import Weight, cotangents
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE
from agrad.engine.language import build, literal
from agrad.engine.ops.departures import DEPARTURES, Departure
from agrad.engine.run.cpu import evaluate

DATA: Final = Path(__file__).parents[1] / "data"
ROWS: Final[list[dict[str, Any]]] = json.loads((DATA / "torch_kinks.json").read_text(encoding="utf-8"))
FORMS: Final[dict[str, dict[str, Any]]] = json.loads((DATA / "kink_forms.json").read_text(encoding="utf-8"))
DEPARTING: Final = {(row.form, row.point): row for row in DEPARTURES}

LAPACK_CHOOSES: Final = {"nuclear norm of rank-1 [[1,1],[1,1]]"}
"""Where the record is one end of a subdifferential and the machine's LAPACK decides which: any orthogonal end holds."""

LEAVES: Final = "xyz"
BETWEEN: Final = " ; "
PRINTED: Final = 5.1e-6
"""Half a unit of the last of six digits, relative."""
ROUNDING: Final = 1e-15
"""Relative to the largest entry: PyTorch's record has rounding errors where the number is 0."""


class Found(NamedTuple):
    """What agrad gives: a value and gradients, or the text of its complaint in place of either."""

    value: Any
    gradients: list[Any] | str
    grad_fn: str | None


def number(text: str) -> Any:
    """A recorded number or list of numbers."""
    return complex(text) if "j" in text else np.asarray(literal(text), dtype=np.float64)


def case_of(row: dict[str, Any]) -> tuple[str, str]:
    """The expression of a row and its point: the key of a departure."""
    return FORMS[row["case"]]["form"], row["inputs"]


def found(row: dict[str, Any]) -> Found:
    """Evaluate the expression of a row; the sum of a real result is differentiated, and a complex one as it is."""
    form = FORMS[row["case"]]
    texts = dict(zip(LEAVES, row["inputs"].split(BETWEEN), strict=False)) | form.get("inputs", {})
    inputs = {name: np.asarray(number(text))[()] for name, text in texts.items()}
    try:
        formulas = build(Source("out = " + form["form"]), inputs=inputs, wrt=list(inputs))
        out = formulas.names["out"]
        value = evaluate([out])[out]
    except AgradError as error:
        return Found(error.message, [], None)
    try:
        ones = () if out.dtype.kind == "c" else (Weight("out", None),)
        flowing = gradients([out], cotangents({"out": out}, ones))
        nodes = [flowing.get(node) for node in formulas.wrt.values()]
        values = evaluate([node for node in nodes if node is not None])
    except AgradError as error:
        return Found(value, error.message, out.grad_fn)
    return Found(value, [None if node is None else values[node] for node in nodes], out.grad_fn)


def is_printed(text: str, got: Any) -> bool:
    """Whether a number or an array is the recorded one, to the printed digits; the sign of a zero is not compared."""
    if text == "None" or got is None:
        return text == "None" and got is None
    expected, got = np.asarray(number(text)), np.asarray(got)
    if expected.shape != got.shape:
        return False
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    with np.errstate(invalid="ignore"):
        near = np.abs(expected - got) <= PRINTED * np.abs(expected) + ROUNDING * scale
        return bool(np.all(near | (expected == got) | (np.isnan(expected) & np.isnan(got))))


def are_printed(texts: str, got: list[Any] | str) -> bool:
    """Whether the gradients are the recorded ones, leaf by leaf."""
    parts = texts.split(BETWEEN)
    return not isinstance(got, str) and len(parts) == len(got) and all(map(is_printed, parts, got))


def complaint(text: str) -> str:
    """PyTorch's error as agrad words it: without the type, and with agrad's names of the ops."""
    return text.partition("Error: ")[2].replace("aten::", "")


def assert_complains(recorded: str, message: Any) -> None:
    """The complaint says what PyTorch's says; of a singular matrix it need not name the zero pivot."""
    assert isinstance(message, str), f"no complaint, but {message}"
    if recorded.endswith("the input matrix is singular."):
        assert message.rstrip(".").endswith("the input matrix is singular")
    else:
        assert message.startswith(complaint(recorded))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["case"]) for row in ROWS])
def test_kink(row: dict[str, Any]) -> None:
    """A case gives PyTorch's value, gradients and grad_fn, or its complaint; a departure gives agrad's gradients."""
    got = found(row)
    if row["value"].startswith("ERR "):
        assert_complains(row["value"], got.value)
        return
    if row["value"]:  # none is recorded where PyTorch complained of the gradient of a complex value
        assert is_printed(row["value"], got.value), f"value {got.value}"
        assert got.grad_fn == row["grad_fn"]
    departure = DEPARTING.get(case_of(row))
    if departure is not None:
        assert departure.torch == row["grad"]
        assert are_printed(departure.agrad, got.gradients), f"gradients {got.gradients}"
        assert not are_printed(row["grad"], got.gradients)
    elif "Error: " in row["grad"]:
        assert_complains(row["grad"], got.gradients)
    elif row["case"] in LAPACK_CHOOSES:
        matrix = np.asarray(number(row["inputs"]))
        np.testing.assert_allclose(got.gradients[0] @ got.gradients[0].T, np.eye(len(matrix)), atol=1e-14)
        np.testing.assert_allclose(np.sum(got.gradients[0] * matrix), got.value, rtol=1e-14)
    else:
        assert are_printed(row["grad"], got.gradients), f"gradients {got.gradients}"


def test_each_case_has_an_expression_and_each_departure_a_case() -> None:
    """239 cases, each said once as an expression; no departure is listed without a record of what PyTorch gives."""
    assert len(ROWS) == 239
    assert [row["case"] for row in ROWS] == list(FORMS)
    counted = Counter(map(case_of, ROWS))
    assert set(counted.values()) == {1}
    assert set(DEPARTING) <= set(counted)
    assert len(DEPARTING) == len(DEPARTURES)


@pytest.mark.parametrize("row", DEPARTURES, ids=lambda row: f"{row.form} at {row.point}")
def test_a_departure_says_why(row: Departure) -> None:
    """Each names a row of the table, two different gradients, and a reason in one sentence."""
    assert row.op in TABLE
    assert row.torch != row.agrad
    assert row.why
    assert "\n" not in row.why
    assert not row.why.endswith(".")
