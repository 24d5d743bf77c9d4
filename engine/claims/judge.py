"""The claims of a file, judged: each in a process of its own that is ended where it takes too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from ..language.claims import read_claims
from ..language.tokens import one_line
from ..referees.case import CannotJudge
from ..worker.process import Worker
from .child import MODULE
from .judgement import CANNOT, HOLDS, PROVED, REFUTED, ClaimJudgement, CounterExample, Finding
from .question import Question, asked, written

if TYPE_CHECKING:
    from ..language import Formulas

POINTS: Final = 100
"""At how many points a claim is tried, unless the caller says otherwise."""
SECONDS: Final = 5.0
"""How long the judgement of one claim may take, unless the caller says otherwise."""

_OPERATIONS: Final = 20_000_000
_HINT: Final = "; if the claim is meant where both are defined only, declare that: x in (0, inf)"


class Judge:
    """Judges questions one after another in a process that is started again where it had to be ended.

    It is a context manager: leaving it ends the process.

    Args:
        points: at how many points a question is tried.
        seed: of those that are random.
        seconds: how long one question may take.
        worker: a process that was started early, for `child.MODULE`; it is left alone in the end.
    """

    def __init__(
        self, *, points: int = POINTS, seed: int = 0, seconds: float = SECONDS, worker: Worker | None = None
    ) -> None:
        self._points = points
        self._seed = seed
        self._seconds = seconds
        self._given = worker
        self._own: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.end()

    def _worker(self) -> Worker:
        if self._given is not None and self._given.alive:
            return self._given
        if self._own is None or not self._own.alive:
            self._own = Worker(MODULE)
        return self._own

    def judge(self, question: Question) -> Finding:
        """What is found of a question."""
        try:
            text = written(question)
        except CannotJudge as reason:
            return Finding(CANNOT, reason=str(reason))
        worker = self._worker()
        worker.ask(
            {
                "question": text,
                "points": self._points,
                "seed": self._seed,
                "seconds": self._seconds,
                "operations": _OPERATIONS,
            }
        )
        return _finding(question, worker.answers(self._seconds), self._seconds)


def _finding(question: Question, answers: Sequence[Mapping[str, Any]], seconds: float) -> Finding:
    """The finding that the lines of the process tell."""
    told: dict[str, Any] = {key: value for answer in answers for key, value in answer.items()}
    sampled, error = told.get("sampled"), told.get("error")
    if sampled is None:
        return Finding(CANNOT, reason=error or f"no answer within {seconds:g} s, or out of memory")
    if "found" in sampled:
        return _refuted(question, sampled)
    if sampled["trouble"] is not None:
        return Finding(CANNOT, sampled["points"], reason=sampled["trouble"])
    notes = "; ".join(sampled["notes"]) or None
    proof = told.get("proof")
    if proof is not None and proof["reason"] is None:
        domain = _domains(question)
        if proof["partial"]:
            domain += " for which the sides are defined"
        return Finding(PROVED, sampled["points"], reason=notes, domain=domain)
    why = proof["reason"] if proof is not None else error or f"SymPy was not done within {seconds:g} s"
    return Finding(HOLDS, sampled["points"], reason="; ".join([f"not proved: {why}", *sampled["notes"]]))


def _domains(question: Question) -> str:
    """Where the leaves lie, in words: `x, y in (0, inf)`."""
    shared: dict[str, list[str]] = {}
    for name, domain in question.domains.items():
        shared.setdefault(str(domain), []).append(name)
    words = "; ".join([f"{', '.join(names)} in {domain}" for domain, names in shared.items()])
    return words or ("real inputs" if question.leaves else "")


def _refuted(question: Question, sampled: Mapping[str, Any]) -> Finding:
    found = sampled["found"]
    inputs = {name: np.array(value, np.float64)[()] for name, value in found["inputs"].items()}
    entry = f"[{', '.join(map(str, found['entry']))}]" if found["entry"] else None
    reason = None
    if found["undefined"]:
        side = "left" if found["left"] != found["left"] else "right"  # NaN
        reason = f"the {side} side alone is undefined there{_HINT if question.leaves else ''}"
    elif not found["exact"]:
        reason = "compared in float64 alone: it is too large for exact arithmetic"
    texts = tuple(found["texts"]) if found["texts"] is not None else None
    example = CounterExample(inputs, found["left"], found["right"], entry, texts)
    return Finding(REFUTED, sampled["points"], example, reason)


def judge_claims(
    formulas: Formulas,
    *,
    points: int = POINTS,
    seed: int = 0,
    tolerance: float | None = None,
    seconds: float = SECONDS,
    worker: Worker | None = None,
) -> list[ClaimJudgement]:
    """What is found of every claim of a file, in their order.

    Args:
        formulas: the file.
        points: at how many points each is tried.
        seed: of those that are random.
        tolerance: how far the sides may differ where no claim says it, as part of the larger or of 1; None: not at all
            as mathematics, and 1e-6 where the claim says `~=`.
        seconds: how long each may take.
        worker: a process that was started early for `child.MODULE`; it is not ended here.

    Raises:
        AgradError: located, where a claim has an unknown name or shapes that do not fit.
    """
    claims = read_claims(formulas)
    if not claims.sides:
        return []
    leaves = {key: (node,) for key, node in claims.leaves.items()}
    judgements = []
    with Judge(points=points, seed=seed, seconds=seconds, worker=worker) as judge:
        for sides in claims.sides:
            within = sides.within if sides.within is not None else tolerance
            question = asked(
                sides.operator,
                (sides.left, sides.right),
                leaves,
                claims.domains,
                claims.derivatives,
                within,
                claims.reads,
            )
            place = formulas.source.location(sides.span.start)
            judgements.append(
                ClaimJudgement(
                    one_line(sides.text),
                    place.file,
                    place.line,
                    place.column,
                    sides.span,
                    judge.judge(question),
                    sides.label,
                    sides.expected,
                )
            )
    return judgements
