"""PyTorch's recorded kinks, ties and edges the way that `agrad eval` goes: a closer look changes no convention."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.evaluation.evaluate import evaluate
from agrad.engine.evaluation.outputs import Weight, cotangents
from agrad.engine.gradient import gradients
from agrad.engine.language import Formulas, build, literal
from agrad.engine.run.cpu import evaluate as values_of

DATA: Final = Path(__file__).parents[1] / "data"
ROWS: Final[list[dict[str, Any]]] = json.loads((DATA / "torch_kinks.json").read_text(encoding="utf-8"))
FORMS: Final[dict[str, dict[str, Any]]] = json.loads((DATA / "kink_forms.json").read_text(encoding="utf-8"))
LEAVES: Final = "xyz"


def read(row: dict[str, Any]) -> Formulas:
    """The expression of a row over its inputs."""
    form = FORMS[row["case"]]
    texts = dict(zip(LEAVES, row["inputs"].split(" ; "), strict=False)) | form.get("inputs", {})
    inputs = {
        name: complex(text) if "j" in text else np.asarray(literal(text), dtype=np.float64)[()]
        for name, text in texts.items()
    }
    return build(Source("out = " + form["form"]), inputs=inputs, wrt=list(inputs))


def plain(formulas: Formulas) -> dict[str, Any]:
    """The gradients of the rules alone."""
    out = formulas.names["out"]
    flowing = gradients([out], cotangents({"out": out}, [Weight("out", None)]))
    found = {name: flowing[node] for name, node in formulas.wrt.items() if node in flowing}
    values = values_of(found.values())
    return {name: np.asarray(values[node]) for name, node in found.items()}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["case"]) for row in ROWS])
def test_finite_numbers_stay(row: dict[str, Any]) -> None:
    """What the rules have finite at a kink is PyTorch's convention or the derivative, and stays."""
    try:
        formulas = read(row)
        rules = plain(formulas)
    except AgradError:  # a singular matrix, a complex result: test_kinks.py has what is said of it
        return
    found = evaluate(formulas, {"out": formulas.names["out"]}, [Weight(None, None)])
    for name, numbers in rules.items():
        got = np.asarray(found.gradient(name))
        kept = np.isfinite(numbers)
        np.testing.assert_allclose(got[kept], numbers[kept], rtol=1e-12, atol=0, err_msg=name)
        assert not np.any(np.isnan(got) & ~np.isnan(numbers))
