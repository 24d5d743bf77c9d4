"""Cases from public bug reports, where others give NaN, a silent zero or a wrong number: each is right here.

`tests/data/field_cases.jsonl` holds them, with answers of 40 digits. They go the way that `agrad eval` goes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.derivatives.orders import derivatives, hessian, jacobian
from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.graph import Node
from agrad.engine.language import Formulas, build

CASES: Final[list[dict[str, Any]]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
DIGITS: Final = 1e-12
TAIL_DIGITS: Final = 1e-10
SUBNORMAL: Final = 5e-324

ERRORS: Final = {
    "pow-08-caret": ("'^' is no power here", "**"),
    "spec-08-complex-output": (
        "grad can be implicitly created only for real scalar outputs",
        "real(f), imag(f) or abs(f)",
    ),
    "use-02-grad-outputs-shape": ("torch.Size([3])", "shape [2]"),
}
"""Of the cases that must be refused, what the message and what the hint say."""

UNDEFINED: Final = {
    "ang-01-atan2-origin": [
        "a is not differentiable by y at y = 0.0: it jumps there, the slope is inf from the left and inf from the",
        "a is not differentiable by x at x = 0.0: it jumps there, the slope is -inf from the left and 0.0 from the",
    ],
    "pow-06-cobb-douglas-corner": [
        "f is not differentiable at x = 0.0, y = 0.0: along the direction (1, 1) the slope is 1.0, and the partial "
        "derivatives add up to 0.0"
    ],
}
"""Of the cases without any right number, what the warnings say."""

ASSERTED: Final = {"grad", "derivatives", "hessian", "jacobian", "left", "right", "error", "undefined"}


def array(value: Any) -> Any:
    """A recorded number or nested list, infinities and NaN written as text."""
    if isinstance(value, list):
        return np.array([array(entry) for entry in value])
    return np.float64(value)


def assert_close(case: dict[str, Any], got: Any, expected: Any) -> None:
    """All digits that are asked for are right, also of the smallest numbers."""
    rtol = TAIL_DIGITS if case["id"].startswith("tail") else DIGITS
    np.testing.assert_allclose(got, array(expected), rtol=rtol, atol=SUBNORMAL, err_msg=case["id"])


def read(case: dict[str, Any]) -> tuple[Formulas, Node]:
    """The text of a case and its output."""
    formulas = build(Source(case["expression"]), wrt=case["wrt"])
    return formulas, formulas.names[case["output"]]


def run(case: dict[str, Any]) -> Evaluation:
    """A case evaluated as a person would have it; weights of ones for an output that is no number."""
    formulas, output = read(case)
    weights = []
    if "grad_outputs" in case:
        weights = [Weight(None, np.array(case["grad_outputs"]))]
    elif output.shape:
        weights = [Weight(None, None)]
    return evaluate(formulas, chosen_outputs(formulas, [case["output"]]), weights)


def slopes(case: dict[str, Any], found: Evaluation, name: str, side: str) -> Any:
    """The slopes of one side: the kink's where there is one, elsewhere the gradient."""
    numbers = np.array(found.gradient(name))
    for kink in found.kinks:
        if kink.name == name:
            numbers[kink.place] = getattr(kink, side)
    assert any(kink.name == name for kink in found.kinks), case["id"]
    return numbers


def named(case_id: str) -> dict[str, Any]:
    """One case."""
    return next(case for case in CASES if case["id"] == case_id)


def holding(key: str) -> list[Any]:
    """The cases whose expected answer has an entry."""
    return [pytest.param(case, id=case["id"]) for case in CASES if key in case["expected"]]


def test_every_case_is_asserted() -> None:
    """None is left out: each of the 69 has an answer of a kind that one of these tests looks at."""
    assert len(CASES) == len({case["id"] for case in CASES}) == 69
    assert all(ASSERTED & set(case["expected"]) for case in CASES)
    counts = {key: sum(key in case["expected"] for case in CASES) for key in sorted(ASSERTED)}
    assert counts == {
        "derivatives": 10,
        "error": 3,
        "grad": 49,
        "hessian": 4,
        "jacobian": 1,
        "left": 5,
        "right": 5,
        "undefined": 2,
    }
    keys = ("derivatives", "error", "grad", "hessian", "jacobian", "undefined")
    assert sum(counts[key] for key in keys) == 69
    assert set(ERRORS) == {case["id"] for case in CASES if "error" in case["expected"]}
    assert set(UNDEFINED) == {case["id"] for case in CASES if "undefined" in case["expected"]}


@pytest.mark.parametrize("case", holding("grad"))
def test_gradient(case: dict[str, Any]) -> None:
    """Every entry of every gradient is right."""
    found = run(case)
    for name, expected in case["expected"]["grad"].items():
        assert_close(case, found.gradient(name), expected)


@pytest.mark.parametrize("case", holding("left"))
def test_slopes_at_kinks(case: dict[str, Any]) -> None:
    """At a kink both slopes are known."""
    found = run(case)
    for side in ("left", "right"):
        for name, expected in case["expected"][side].items():
            assert_close(case, slopes(case, found, name, side), expected)


@pytest.mark.parametrize("case", holding("derivatives"))
def test_derivatives(case: dict[str, Any]) -> None:
    """Derivatives of all orders are right."""
    formulas, output = read(case)
    for name, expected in case["expected"]["derivatives"].items():
        found = derivatives(case["output"], output, name, formulas.wrt[name], len(expected))
        assert_close(case, found.found, expected)


@pytest.mark.parametrize("case", holding("hessian"))
def test_hessian(case: dict[str, Any]) -> None:
    """Every block of the Hessian is right."""
    formulas, output = read(case)
    found = hessian(case["output"], output, formulas.wrt).found
    for name, row in case["expected"]["hessian"].items():
        for other, expected in row.items():
            assert_close(case, found[formulas.wrt[name]][formulas.wrt[other]], expected)


@pytest.mark.parametrize("case", holding("jacobian"))
def test_jacobian(case: dict[str, Any]) -> None:
    """Every entry of the Jacobian is right."""
    formulas, output = read(case)
    found = jacobian(case["output"], output, formulas.wrt).found
    for name, expected in case["expected"]["jacobian"].items():
        assert_close(case, found[formulas.wrt[name]], expected)


@pytest.mark.parametrize("case", holding("error"))
def test_error(case: dict[str, Any]) -> None:
    """What has no answer is refused, with a message that says what to write instead."""
    message, hint = ERRORS[case["id"]]
    with pytest.raises(AgradError) as caught:
        run(case)
    assert message in caught.value.message
    assert hint in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("case", holding("undefined"))
def test_undefined(case: dict[str, Any]) -> None:
    """Where no derivative exists, a warning names the point and the evidence, and the number is finite."""
    found = run(case)
    for line in UNDEFINED[case["id"]]:
        assert any(warning.startswith(line) for warning in found.warnings), found.warnings
    assert all(np.isfinite(found.gradient(name)) for name in case["wrt"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if isinstance(case["expected_forward"], (int, float, list))], ids=lambda c: c["id"]
)
def test_value(case: dict[str, Any]) -> None:
    """The value is right too."""
    if "error" in case["expected"]:
        case = {**case, "grad_outputs": np.ones(np.shape(case["expected_forward"]))}
    found = run(case)
    (output,) = found.outputs.values()
    expected = array(case["expected_forward"])
    # Of what cancels, rounding is left: a distance that is zero, a map that is chaotic.
    np.testing.assert_allclose(found.values[output], expected, rtol=1e-11, atol=1e-15, err_msg=case["id"])


def test_wrong_weights_are_an_input_error() -> None:
    """Weights of the input's length are no usage of another kind: the error says it is the input that is bad."""
    with pytest.raises(InputError):
        run(named("use-02-grad-outputs-shape"))
