"""The samples of claims: those that hold are proved, and the wrong ones are refuted with the numbers said here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.claims import ClaimJudgement, judge_claims
from agrad.engine.claims.child import MODULE
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.worker.process import Worker

FOLDER = Path(__file__).parents[1] / "samples" / "claims"
RIGHT = sorted(FOLDER.glob("*.txt"))
WRONG: dict[str, tuple[dict[str, Any], tuple[float, float], str]] = {
    "lost_transpose": ({"W": [[0.0, 0.0], [1.0, 0.0]], "x": [1.0, 0.0]}, (1.0, 0.0), "[0]"),
    "missing_mean": (
        {"X": [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]], "t": [0.0] * 4, "w": [0.0, 1.0]},
        (0.5, 2.0),
        "[1]",
    ),
    "sign": ({"z": [0.0, 0.0, 0.0]}, (1 / 3, -1 / 3), "[0]"),
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One process for all samples."""
    with Worker(MODULE) as worker:
        yield worker


def judged(path: Path, worker: Worker) -> list[ClaimJudgement]:
    """What is said of the claims of a file."""
    formulas = build(Source(path.read_text(encoding="utf-8"), path.name))
    return judge_claims(formulas, points=20, seconds=30.0, worker=worker)


def test_the_samples_are_there() -> None:
    """Five derivations that hold, three that do not."""
    assert [path.stem for path in RIGHT] == [
        "attention",
        "batch_norm",
        "black_scholes",
        "logistic_regression",
        "softmax",
    ]
    assert sorted(path.stem for path in FOLDER.glob("wrong/*.txt")) == sorted(WRONG)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in RIGHT])
def test_derivations_that_hold_are_proved(path: Path, worker: Worker) -> None:
    """For all inputs, by SymPy."""
    found = judged(path, worker)
    assert len(found) >= 2
    assert {each.verdict for each in found} == {"proved"}, [each.sentence for each in found]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_derivations_are_refuted(name: str, worker: Worker) -> None:
    """With the smallest counter-example, as the file expects; the right derivation beside it is proved."""
    wrong, right = judged(FOLDER / "wrong" / f"{name}.txt", worker)
    inputs, sides, entry = WRONG[name]
    assert (wrong.verdict, wrong.expected, wrong.failed) == ("refuted", "refuted", False)
    assert wrong.counterexample is not None
    assert {key: np.asarray(value).tolist() for key, value in wrong.counterexample.inputs.items()} == inputs
    assert (wrong.counterexample.left, wrong.counterexample.right) == pytest.approx(sides, rel=1e-15)
    assert wrong.counterexample.entry == entry
    assert (right.verdict, right.failed) == ("proved", False)


def test_every_sample_says_what_it_is() -> None:
    """In its first line, in words, and how it is run in the second."""
    for path in FOLDER.rglob("*.txt"):
        first, second, *_ = path.read_text(encoding="utf-8").splitlines()
        assert re.match(r"# [A-Z].{30,}", first), path.name
        assert second == f"# run: agrad check {path.relative_to(FOLDER.parents[1]).as_posix()}"
