"""The referee PyTorch: what it says without PyTorch, and, where PyTorch is installed, of right and wrong gradients."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.gradient import gradients
from agrad.engine.graph import leaf
from agrad.engine.language import build
from agrad.engine.referees import Case, against_torch
from agrad.engine.referees.case import Judgement
from agrad.engine.run.cpu import evaluate as run_graph
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]
DATA: Final = Path(__file__).parents[2] / "data"

with_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


def judged(case: Case) -> Judgement:
    """What the referee says within a usual budget."""
    return against_torch.judge(case, Budget())


def evaluated(text: str) -> Case:
    """A text's gradients as `agrad eval` has them, repairs included."""
    formulas = build(Source(text))
    output = formulas.names[formulas.last]
    weights = [Weight(None, None)] if output.size != 1 else []
    found = evaluate(formulas, {formulas.last: output}, weights)
    given = {name: found.gradient(name) for name in found.wrt}
    return Case([output], found.cotangents, found.wrt, given)


def test_without_torch(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyTorch is not installed the referee says so, and how to get it; nothing raises."""
    monkeypatch.setitem(sys.modules, "torch", None)
    judgement = judged(make_case("x**2", x=3.0))
    assert (judgement.name, judgement.verdict) == ("torch", "cannot judge")
    assert judgement.reason == "torch is not installed: pip install torch"


def test_whatever_torch_refuses_is_a_reason(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of PyTorch's is the reason of a verdict, in its first line."""

    def refuse(_array: Any) -> Any:
        raise RuntimeError("no such\nthing")

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(as_tensor=refuse))
    judgement = judged(make_case("x**2", x=3.0))
    assert (judgement.verdict, judgement.reason) == ("cannot judge", "PyTorch refuses: no such")


def test_it_is_not_imported_unless_asked() -> None:
    """To import the referee, or to ask whether PyTorch is there, does not import PyTorch."""
    if "torch" not in sys.modules:
        assert against_torch.installed() == (find_spec("torch") is not None)
        assert "torch" not in sys.modules


def recorded(row: dict[str, Any]) -> Case:
    """A calling form at its recorded point, with its recorded cotangent."""

    def array(value: Any) -> Any:
        return (
            np.asarray(value["real"]) + 1j * np.asarray(value["imag"]) if isinstance(value, dict) else np.array(value)
        )

    inputs = {name: array(value) * 1.0 for name, value in row["inputs"].items()}
    inputs |= {name: array(value) for name, value in row["constants"].items()}
    formulas = build(Source(f"out = {row['form']}"), inputs=inputs, wrt=list(row["grads"]))
    output = formulas.names["out"]
    weights = np.ones(output.shape) if row["cotangent"] is None else array(row["cotangent"])
    cotangent = np.asarray(weights, output.dtype)[()]
    found = gradients([output], [leaf(cotangent)])
    given = {name: found[node] for name, node in formulas.wrt.items() if node in found}
    values = run_graph(list(given.values()))
    return Case([output], [cotangent], formulas.wrt, {name: values[node] for name, node in given.items()})


@with_torch
def test_all_calling_forms() -> None:
    """The same graph has the same gradients in PyTorch, for every form; where it may differ, PyTorch does not judge."""
    rows = [json.loads(line) for line in (DATA / "golden_ops.jsonl").read_text(encoding="utf-8").splitlines()]
    others = {}
    for row in rows:
        judgement = judged(recorded(row))
        if judgement.verdict != "agree":
            others[row["form"]] = (judgement.verdict, (judgement.reason or "").split(";")[0])
    assert len(rows) == 562
    # Which sign an eigenvector has depends on the build of LAPACK.
    assert (
        others.items()
        <= {
            "F.hardsigmoid(x)": (
                "cannot judge",
                "PyTorch's derivative of hardsigmoid has the digits of single precision",
            ),
            "torch.scatter(M, 1, gi, M2)": (
                "cannot judge",
                "an index of scatter stands twice, and PyTorch's gradient counts both",
            ),
            "torch.linalg.svd(M, full_matrices=False).U": (
                "cannot judge",
                "the result of linalg.svd is one of several, and PyTorch's is another one",
            ),
            "torch.linalg.eigh(S).eigenvectors": (
                "cannot judge",
                "the result of linalg.eigh is one of several, and PyTorch's is another one",
            ),
        }.items()
    )
    assert "torch.scatter(M, 1, gi, M2)" in others


@with_torch
def test_a_wrong_gradient_is_named(make_case: MakeCase) -> None:
    """A factor, a sign and a wrong entry are each found, with both numbers in the reason."""
    case = make_case("sum(x**2 * w)", x=[1.0, 2.0], w=[3.0, 4.0])
    case.gradients["x"] = np.array([6.0, -16.0])
    judgement = judged(case)
    assert (judgement.verdict, judgement.entry) == ("disagree", "x[1]")
    assert judgement.reason == "the derivative by x[1] is 16.0, not -16.0"


@with_torch
@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("x = -1.0\nz = where(x > 0, sqrt(x), 0.0)", "cannot judge", "zero times an infinite slope of sqrt"),
        ("x = 1e-9\nz = sinc(x)", "cannot judge", "derivative of sinc cancels near 0"),
        ("x = [[1.0, 1.0], [1.0, 1.0]]\nz = det(x)", "cannot judge", "no derivative at singular matrices"),
        ("y = 3e-170\nx = 4e-170\na = atan2(y, x)", "cannot judge", "is out of range"),
        ("x = 0.0\ny = 0.0\nz = hypot(x, y)", "cannot judge", "a cone's tip"),
        ("x = 2.0\nz = math.gamma(x)", "cannot judge", "PyTorch has no gamma"),
        ("x = 0.0\nz = abs(x)", "agree", ""),
    ],
)
def test_where_torch_is_wrong(text: str, verdict: str, reason: str) -> None:
    """Where PyTorch's number is NaN or known to be wrong, the referee says why, and does not object."""
    judgement = judged(evaluated(text))
    assert judgement.verdict == verdict
    assert reason in (judgement.reason or "")


@with_torch
def test_complex_and_single_precision(make_case: MakeCase) -> None:
    """Complex gradients follow PyTorch's convention, and single precision has its own number of digits."""
    assert judged(make_case("real(z * z) + imag(z)", z=1.0 + 2.0j)).verdict == "agree"
    single = judged(make_case("sum(tanh(x) * x)", x=[0.5, 2.0], dtype="float32"))
    assert single.verdict == "agree"
    assert single.digits is not None
    assert single.digits >= 5


@with_torch
def test_an_inner_node(make_case: MakeCase) -> None:
    """The gradient by a node inside of the graph is compared too."""
    assert judged(make_case("h = x**2\nz = h * h", wrt=["x", "h"], x=3.0)).verdict == "agree"
