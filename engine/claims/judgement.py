"""What is said of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ..errors import Span
from ..files.json_data import json_value
from ..language.diagnostics import escaped

ClaimVerdict = Literal["proved", "holds", "refuted", "cannot judge"]

PROVED: Final = "proved"
HOLDS: Final = "holds"
REFUTED: Final = "refuted"
CANNOT: Final = "cannot judge"

_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class CounterExample:
    """A point at which a claim does not hold.

    Attributes:
        inputs: the value of each leaf, by name.
        left, right: both sides there, at the entry where they differ most; NaN where a side is undefined.
        entry: which entry that is, as in `[0, 1]`; None where the sides are single numbers.
        texts: both sides with as many digits as tell them apart, where as floats they are one number.
    """

    inputs: Mapping[str, Any]
    left: float
    right: float
    entry: str | None = None
    texts: tuple[str, str] | None = None

    @property
    def place(self) -> str:
        """The point in words: `x = 2.0, w = [0.0, 1.0]`."""
        return ", ".join([f"{escaped(name)} = {_shown(value)}" for name, value in self.inputs.items()])

    def as_json(self) -> dict[str, Any]:
        """As strict JSON holds it."""
        data = {
            "inputs": {name: json_value(value) for name, value in self.inputs.items()},
            "left": json_value(self.left),
            "right": json_value(self.right),
            "entry": self.entry,
        }
        return data if self.texts is None else data | {"texts": list(self.texts)}


@dataclass(frozen=True, slots=True)
class Finding:
    """What is found of two formulas.

    Attributes:
        verdict: `proved` for all inputs in their domains, `holds` at the points that were tried, `refuted`, or
            `cannot judge`.
        points: at how many points both sides were compared.
        counterexample: the simplest point that was found to refute it.
        reason: why nothing better can be said, or what a person should know.
        domain: what it is proved for, in words: domains, or real inputs; empty where nothing varies.
    """

    verdict: ClaimVerdict
    points: int = 0
    counterexample: CounterExample | None = None
    reason: str | None = None
    domain: str = ""


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """What is said of one claim.

    Attributes:
        text: what is claimed, as it is written but on one line (not made safe to print).
        file, line, column: where it stands.
        span: the same in the source.
        finding: what is found.
        label: the words of the claim.
        expected: the verdict that the file expects, where it is another than that the claim holds.
    """

    text: str
    file: str
    line: int
    column: int
    span: Span
    finding: Finding
    label: str | None = None
    expected: str | None = None

    @property
    def verdict(self) -> ClaimVerdict:
        """What is said of it."""
        return self.finding.verdict

    @property
    def points(self) -> int:
        """At how many points both sides were compared."""
        return self.finding.points

    @property
    def counterexample(self) -> CounterExample | None:
        """Where it does not hold."""
        return self.finding.counterexample

    @property
    def reason(self) -> str | None:
        """Why nothing better can be said, or what a person should know."""
        return self.finding.reason

    @property
    def failed(self) -> bool:
        """Whether it is wrong and not expected to be, or expected to be wrong and is not."""
        if self.expected == REFUTED:
            return self.verdict != REFUTED
        return self.verdict == REFUTED

    @property
    def sentence(self) -> str:
        """The verdict in words, safe to print."""
        return told(self.finding, ("the left side is", "the right side is"))

    def as_json(self) -> dict[str, Any]:
        """As strict JSON holds it."""
        return {
            "claim": self.text,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "verdict": self.verdict,
            "points": self.points,
            "counterexample": None if self.counterexample is None else self.counterexample.as_json(),
            "reason": self.reason,
            "label": self.label,
            "expected": self.expected,
        }


def told(finding: Finding, sides: tuple[str, str]) -> str:
    """A finding in words, safe to print.

    Args:
        finding: what is found.
        sides: the words before the value of each side.
    """
    example = finding.counterexample
    if finding.verdict == REFUTED and example is not None:
        at = f"at {example.place} " if example.inputs else ""
        of = f"in entry {example.entry} " if example.entry else ""
        values = example.texts or (_side(example.left), _side(example.right))
        left, right = [f"{words} {value}" for words, value in zip(sides, values, strict=True)]
        return f"refuted: {at}{of}{left} and {right}"
    if finding.verdict == PROVED:
        return f"proved for all {escaped(finding.domain)}" if finding.domain else PROVED
    if finding.verdict == HOLDS:
        return f"holds at {finding.points} point{'s' if finding.points != 1 else ''}"
    return f"{CANNOT}: {escaped(finding.reason)}" if finding.reason else CANNOT


def _side(value: float) -> str:
    return "undefined" if value != value else repr(value)


def _shown(value: Any) -> str:
    array = np.asarray(value)
    if array.size > _LISTED:
        return f"an array of shape {list(array.shape)}"
    return repr(array.tolist())
