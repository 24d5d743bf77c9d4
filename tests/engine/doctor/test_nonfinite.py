"""Numbers that are not finite, and numbers that are right although the plain chain rule has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.doctor.chain import chain_of
from agrad.engine.doctor.finding import Finding
from agrad.engine.doctor.nonfinite import findings, worst_entry
from agrad.engine.errors import AgradError

from .conftest import Run

CASES: Final[dict[str, dict[str, Any]]] = {
    case["id"]: case
    for line in (Path(__file__).parents[2] / "data" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
}
ELSEWHERE: Final = "where zero does not stop the chain rule, "
STOPS: Final = "nothing flows where the gradient that comes in is 0"

TOLD: Final[dict[str, list[str]]] = {
    "mask-01-sqrt-negative": [
        "repaired 2:20 the gradient by t[0]: the plain chain rule gives nan, 3.0 is right",
        "sqrt(t) passes on 0.0 x nan = nan: the gradient that comes in times its slope at -2.25",
        "in that slope: sqrt(-2.25) = nan",
        STOPS,
        ELSEWHERE + "write sqrt(where(t > 0.0, t, 0.5)), with a where on the inside too",
    ],
    "mask-03-exp-overflow": [
        "repaired 2:21 the gradient by a: the plain chain rule gives nan, 1.0 is right",
        "exp(a) passes on 0.0 x inf = nan: the gradient that comes in times its slope at 800.0",
        STOPS,
        ELSEWHERE + "write exp(where(a <= 0.0, a, 0.5)), with a where on the inside too",
    ],
    "mask-06-second-order-if": [
        "repaired 2:20 the gradient by x: the plain chain rule gives nan, 0.0 is right",
        "sqrt(x) passes on 0.0 x nan = nan: the gradient that comes in times its slope at -3.0",
        "in that slope: sqrt(-3.0) = nan",
        STOPS,
        ELSEWHERE + "write sqrt(where(x > 0.0, x, 0.5)), with a where on the inside too",
    ],
    "mask-07-nested-switch-shared": [
        "repaired 3:5 the gradient by c: the plain chain rule gives nan, 1.0 is right",
        "(a - c)**2 passes on 0.0 x (-inf) = nan: the gradient that comes in times its slope at -inf",
        STOPS,
        ELSEWHERE + "write where(a == -inf, 0.5, a - c)**2, with a where on the inside too",
    ],
    "mask-08-row-norms": [
        "repaired 2:5 the gradient by P[2, 0]: the plain chain rule gives nan, 0.0 is right",
        "sqrt(sum(P**2, dim=1)) passes on 0.0 x inf = nan: the gradient that comes in times its slope at 0.0",
        "elsewhere, sqrt(0): PyTorch inf, JAX inf, HIPS autograd inf, MyGrad inf, CasADi [inf]",
        STOPS,
        ELSEWHERE + "keep the argument of sqrt inside of its domain with a where on the inside too",
    ],
    "mask-10-nan-target-mse": [
        "repaired 4:26 the gradient by x[1]: the plain chain rule gives nan, 0.0 is right",
        "(x - t)**2 passes on 0.0 x nan = nan: the gradient that comes in times its slope at nan",
        STOPS,
        ELSEWHERE + "write where(hole, 0.5, x - t)**2, with a where on the inside too",
    ],
    "mask-12-handmade-sinc-vector": [
        "repaired 3:27 the gradient by w[0]: the plain chain rule gives nan, 0.0 is right",
        "sin(t)/t passes on 0.0 x nan = nan: the gradient that comes in times its slope",
        "in that slope: 0.0/0.0 = nan",
        STOPS,
        ELSEWHERE + "write sin(t)/where(t < 1e-12, 0.5, t), with a where on the inside too",
    ],
    "mask-13-sliced-singularity": [
        "value 3:5 the first value that is not finite: 1.0/0.0 = inf",
        "div has a value for a divisor other than 0",
        "restrict to g*a != 0",
        "repaired 3:5 the gradient by a: the plain chain rule gives nan, -0.06999999999999999 is right",
        "1.0/(g*a) passes on 0.0 x (-inf) = nan: the gradient that comes in times its slope at 0.0",
        STOPS,
        ELSEWHERE + "leave out what is not used before it is computed",
    ],
    "kink-08-sqrt-of-square": [
        "repaired 2:5 the gradient by x: the plain chain rule gives nan, 0.0 is chosen",
        "sqrt((x - 1.0)**2) passes on 1.0 x inf = inf: the gradient that comes in times its slope at 0.0",
        "(x - 1.0)**2 makes inf x 0.0 = nan of it",
        "elsewhere, sqrt(0): PyTorch inf, JAX inf, HIPS autograd inf, MyGrad inf, CasADi [inf]",
        "the function has a kink here",
    ],
    "sing-03-rmse-of-nothing": [
        "repaired 3:8 the gradient by u[0]: the plain chain rule gives nan, 0.0 is right",
        "sqrt(mean(p**2)) passes on 1.0 x inf = inf: the gradient that comes in times its slope at 0.0",
        "p**2 makes inf x 0.0 = nan of it",
        "elsewhere, sqrt(0): PyTorch inf, JAX inf, HIPS autograd inf, MyGrad inf, CasADi [inf]",
        "nothing flows through p**2, which is flat here",
    ],
    "sing-09-acos-of-clip": [
        "repaired 2:6 the gradient by c: the plain chain rule gives nan, 0.0 is right",
        "acos(clamp(c, -1.0, 1.0)) passes on 1.0 x (-inf) = -inf: the gradient that comes in times its slope at 1.0",
        "clamp(c, -1.0, 1.0) makes -inf x 0.0 = nan of it",
        "nothing flows through clamp(c, -1.0, 1.0), which is flat here",
    ],
    "sing-10-masked-softmax": [
        "repaired 3:13 the gradient by a[1]: the plain chain rule gives nan, 0.0 is right",
        "a*mask passes on -0.0 x (-inf) = nan: the gradient that comes in times its slope",
        STOPS,
        ELSEWHERE + "leave out what is not used before it is computed",
    ],
    "sinc-03-piecewise-second": [
        "repaired 2:26 the gradient by x: the plain chain rule gives nan, 0.0 is right",
        "sin(x)/x passes on 0.0 x nan = nan: the gradient that comes in times its slope",
        "in that slope: 0.0/0.0 = nan",
        STOPS,
        ELSEWHERE + "write sin(x)/where(x == 0.0, 0.5, x), with a where on the inside too",
    ],
    "pow-02-zero-base-table": [
        "gradient 3:9 the first gradient that is not finite, on the way back to x[2]: 1.0 x inf = inf",
        "x**p passes on 1.0 x inf = inf: the gradient that comes in times its slope",
        "the slope by x[2] is inf from the right, and there is nothing on the left",
        "restrict x: pow has a value and a slope for a base above 0",
        "repaired 3:9 the gradient by x[3]: the plain chain rule gives nan, 0.0 is right",
        "x**p passes on 1.0 x nan = nan: the gradient that comes in times its slope",
        "in that slope: 0.0 * inf = nan",
        "elsewhere, x**y at (0,0): PyTorch 0.0 ; 0.0, JAX nan ; 0.0, HIPS autograd 0.0 ; 0.0, MyGrad 0.0 ; 0.0, "
        "CasADi [nan, -inf]",
        "a factor that is exactly 0 stops the product",
    ],
    "pow-06-cobb-douglas-corner": [
        "repaired 3:5 the gradient by x: the plain chain rule gives nan, 0.0 is given",
        "x**0.3 passes on 0.0 x inf = nan: the gradient that comes in times its slope at 0.0",
        STOPS,
        ELSEWHERE + "leave out what is not used before it is computed",
    ],
    "tail-01-naive-softplus": [
        "repaired 2:5 the gradient by x[2]: the plain chain rule gives nan, 1.0 is right",
        "log(1.0 + exp(x)) passes on 1.0 x nan = nan: the gradient that comes in times its slope at inf",
        "it is computed in another form",
    ],
    "tail-14-logistic-regression": [
        "repaired 6:35 the gradient by w[0]: the plain chain rule gives nan, -1.6918979240725094e-10 is right",
        "log(1.0 - p) passes on -0.0 x inf = nan: the gradient that comes in times its slope at 0.0",
        STOPS,
        ELSEWHERE + "leave out what is not used before it is computed",
    ],
}
"""What is told of the field cases that have anything which is not finite: every line of every finding."""

HEALTHY: Final = sorted(set(CASES) - set(TOLD) - {"ang-04-bhattacharyya"})


def told(run: Run, text: str, output: str | None = None, wrt: list[str] | None = None) -> list[Finding]:
    """The findings of a text; none where nothing on the way is suspect, or the text is refused."""
    try:
        formulas, evaluation = run(text, output, wrt)
    except AgradError:
        return []
    chain = chain_of(evaluation)
    return list(findings(formulas, evaluation, chain)) if evaluation.is_suspect and chain is not None else []


def lines(finding: Finding) -> list[str]:
    """A finding as lines: its kind, place and message, its notes, its hint."""
    data = finding.as_json()
    first = f"{finding.kind} {data['line']}:{data['column']} {finding.message}"
    return [first, *finding.notes, *([finding.hint] if finding.hint else [])]


@pytest.mark.parametrize("name", TOLD)
def test_field_cases(name: str, run: Run) -> None:
    """Of each case from the field with anything not finite: what is told is true, word by word."""
    case = CASES[name]
    found = told(run, case["expression"], case["output"], case["wrt"])
    assert [line for finding in found for line in lines(finding)] == TOLD[name]


@pytest.mark.parametrize("name", HEALTHY)
def test_field_cases_without_anything_infinite(name: str, run: Run) -> None:
    """Of the others nothing is told."""
    case = CASES[name]
    assert told(run, case["expression"], case["output"], case["wrt"]) == []


@pytest.mark.parametrize("name", [name for name, told_ in TOLD.items() if "write " in told_[-1]])
def test_what_is_to_be_written_elsewhere_has_a_finite_chain(name: str, run: Run) -> None:
    """With the `where` on the inside that is advised, the plain chain rule gives agrad's number too."""
    case = CASES[name]
    (finding,) = told(run, case["expression"], case["output"], case["wrt"])
    assert finding.span is not None
    advised = finding.hint.removeprefix(ELSEWHERE + "write ").removesuffix(", with a where on the inside too")
    start, end = finding.span
    text = case["expression"][:start] + advised + case["expression"][end:]
    formulas, evaluation = run(text, case["output"], case["wrt"])
    chain = chain_of(evaluation)
    assert chain is not None
    for leaf in case["wrt"]:
        plain = chain.plain[formulas.names[leaf]]
        assert np.all(np.isfinite(plain))
        np.testing.assert_allclose(plain, case["expected"].get("grad", {}).get(leaf, plain))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x = 0.0\ny = log(x)",
            [
                "value 2:5 the first value that is not finite: log(0.0) = -inf",
                "log has a value for x > 0",
                "y tends to -inf from the right, and there is nothing on the left",
                "restrict x: log has a value and a slope for x > 0",
                "gradient 2:5 the first gradient that is not finite, on the way back to x: 1.0 x inf = inf",
                "log(x) passes on 1.0 x inf = inf: the gradient that comes in times its slope at 0.0",
                "restrict x: log has a value and a slope for x > 0",
            ],
        ),
        (
            "x = 0.0\ny = sin(x)/x",
            [
                "value 2:5 the first value that is not finite: 0.0/0.0 = nan",
                "div has a value for a divisor other than 0",
                "y tends to 1.0 from both sides",
                "write where(x == 0, 1.0, sin(x)/x)",
                "gradient 2:5 the first gradient that is not finite, on the way back to x: 1.0 x nan = nan",
                "sin(x)/x passes on 1.0 x nan = nan: the gradient that comes in times its slope",
                "in that slope: 0.0/0.0 = nan",
                "restrict to x != 0",
            ],
        ),
        (
            "x = 0.0\ny = sqrt(x)",
            [
                "gradient 2:5 the first gradient that is not finite, on the way back to x: 1.0 x inf = inf",
                "sqrt(x) passes on 1.0 x inf = inf: the gradient that comes in times its slope at 0.0",
                "elsewhere, sqrt(0): PyTorch inf, JAX inf, HIPS autograd inf, MyGrad inf, CasADi [inf]",
                "the slope by x is inf from the right, and there is nothing on the left",
                "restrict to x > 0, or smooth it with a small constant: sqrt(x + 1e-12)",
            ],
        ),
        (
            "x = inf\ny = x - x",
            [
                "value 2:5 the first value that is not finite: inf - inf = nan",
                "two infinities have no difference: keep both finite, or subtract before they overflow",
            ],
        ),
        (
            "x = 1000.0\ny = exp(x)",
            [
                "value 2:5 the first value that is not finite: exp(1000.0) = inf",
                "too large for float64: it is 1.97007e+434",
                "y tends to 1.97007e+434 from both sides",
                "keep x below 709.78, or work with its logarithm (logsumexp, log_softmax, softplus)",
                "gradient 2:5 the first gradient that is not finite, on the way back to x: 1.0 x inf = inf",
                "exp(x) passes on 1.0 x inf = inf: the gradient that comes in times its slope at 1000.0",
                "the slope by x is 1.97007e+434 from both sides",
            ],
        ),
    ],
)
def test_what_is_not_finite(text: str, expected: list[str], run: Run) -> None:
    """The first value and the first gradient: the operation with its numbers, both sides, and what to do."""
    assert [line for finding in told(run, text) for line in lines(finding)] == expected


@pytest.mark.parametrize(
    ("point", "quotient", "limit", "slope"),
    [(0.0, "sin(x)/x", 1.0, 0.0), (2.0, "(x**2 - 4)/(x - 2)", 4.0, 1.0), (0.0, "(exp(x) - 1)/(2*x)", 0.5, 0.25)],
)
def test_the_limit_that_is_advised_is_right(point: float, quotient: str, limit: float, slope: float, run: Run) -> None:
    """The formula with the limit in it has a finite value and the right slope at the point."""
    value, *_ = told(run, f"x = {point}\ny = {quotient}")
    _, evaluation = run(f"x = {point}\ny = " + value.hint.removeprefix("write "))
    assert [evaluation.values[node] for node in evaluation.outputs.values()] == [limit]
    np.testing.assert_allclose(evaluation.gradient("x"), slope, atol=1e-12)


def test_facts_are_for_programs(run: Run) -> None:
    """Both factors, both sides and the entry are data; what is not finite is written as in all JSON."""
    (finding,) = told(run, "x = [4.0, 0.0]\ny = sum(sqrt(x))")
    data = finding.as_json()
    assert data["entry"] == "x[1]"
    assert data["factors"] == [1.0, "Infinity"]
    assert (data["left"], data["right"]) == ("NaN", "Infinity")
    json.dumps(data, allow_nan=False)


def test_a_disagreement_is_not_called_right(run: Run) -> None:
    """Where a referee disagrees with the gradient it is given, not right."""
    formulas, evaluation = run(CASES["mask-03-exp-overflow"]["expression"])
    chain = chain_of(evaluation)
    assert chain is not None
    (finding,) = findings(formulas, evaluation, chain, certified=False)
    assert finding.message == "the gradient by a: the plain chain rule gives nan, 1.0 is given"


def test_the_worst_entry_is_one_that_is_shown(run: Run) -> None:
    """The way back is told of a gradient that is not finite as it is shown, before one that is right."""
    text = "x = [-1.0, 4.0]\nz = 0.0\ny = sum(where(x > 0, sqrt(x), 0)) + sqrt(z)"
    formulas, evaluation = run(text)
    chain = chain_of(evaluation)
    assert chain is not None
    assert worst_entry(formulas, evaluation, chain) == ("z", ())
    formulas, evaluation = run("x = 4.0\ny = sqrt(x)")
    chain = chain_of(evaluation)
    assert chain is not None
    assert worst_entry(formulas, evaluation, chain) is None
