"""What a check has found: one finding for each gradient, claim and fault, with its place; all of a file; the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..errors import AgradError, SeveralErrors, Source, Span

if TYPE_CHECKING:
    from ..claims import ClaimJudgement
    from ..referees import Check

Kind = Literal["gradient", "claim", "lock", "input"]
Outcome = Literal["passed", "noted", "failed", "broken"]

PASSED: Final = "passed"
NOTED: Final = "noted"
"""No failure, and not what was hoped for: a kink, a referee without an answer."""
FAILED: Final = "failed"
BROKEN: Final = "broken"
"""Nothing could be judged: the text is wrong, or a limit was reached."""

FAILURE: Final = 1
"""The exit code of a finding that failed."""


class Place(NamedTuple):
    """A stretch of a file: lines and columns from 1, the end column behind the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at, and what came out.

    Attributes:
        kind: a gradient, a claim, an entry of a lock, or a fault of the input.
        subject: what it is about, as a person writes it: `d(loss)/d(w, b)`, the text of a claim.
        verdict: the word of the referees, of the claims, of the lock (`moved`, `added`, `removed`), or `error`.
        outcome: what the verdict means under the policy.
        reason: why, in a sentence; empty where the verdict says it all.
        hint: what to do instead; mostly empty.
        details: further sentences: counter-examples, what each referee says.
        file: the file as it was named.
        source, span: where in the text it stands, if it stands there.
        digits: how many digits are right in the worst entry.
        check: what the referees said, of a gradient.
        claim: what was found of a claim.
        exit_code: what the command exits with if this is the worst.
    """

    kind: Kind
    subject: str
    verdict: str
    outcome: Outcome
    file: str
    reason: str = ""
    hint: str = ""
    details: tuple[str, ...] = ()
    source: Source | None = None
    span: Span | None = None
    digits: int | None = None
    check: Check | None = None
    claim: ClaimJudgement | None = None
    exit_code: int = 0

    @property
    def place(self) -> Place | None:
        """Where it stands in the file."""
        if self.source is None or self.span is None:
            return None
        start, end = self.source.location(self.span.start), self.source.location(max(self.span.end, self.span.start))
        return Place(start.file, start.line, start.column, end.line, end.column)

    @property
    def as_error(self) -> AgradError:
        """The finding as an error, to be drawn with its line and carets."""
        error = AgradError(
            self.reason or self.verdict, hint=self.hint, spans=(self.span,) if self.span is not None else ()
        )
        error.source = self.source
        return error


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a lock keeps of one output.

    Attributes:
        value: as JSON holds it.
        gradients: the same, for each name that it was differentiated by.
        source, span: where its statement stands.
    """

    value: Any
    gradients: Mapping[str, Any]
    source: Source
    span: Span


@dataclass(slots=True)
class FileResult:
    """Everything found in one file.

    Attributes:
        file: as it was named.
        findings: in the order of the text.
        recorded: what a lock keeps of each output, by name.
        warnings: sentences that came with the numbers.
        seconds: how long it took.
        names: every name of the text; empty where it could not be read.
        dtype: of its floats.
    """

    file: str
    findings: list[Finding] = field(default_factory=list)
    recorded: dict[str, Recorded] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    names: frozenset[str] = frozenset()
    dtype: str = "float64"

    @property
    def failed(self) -> bool:
        """Whether anything in it makes the command exit with another code than 0."""
        return any(finding.exit_code for finding in self.findings)

    @property
    def readable(self) -> bool:
        """Whether the text could be read and run."""
        return all(finding.outcome != BROKEN for finding in self.findings)


def faults(error: AgradError, file: str) -> list[Finding]:
    """What is wrong with a text, a finding each."""
    if isinstance(error, SeveralErrors):
        return [finding for each in error.errors for finding in faults(each, file)]
    return [
        Finding(
            kind="input",
            subject="",
            verdict="error",
            outcome=BROKEN,
            reason=error.message,
            hint=error.hint,
            file=file,
            source=error.source if error.spans else None,
            span=error.spans[0] if error.spans and error.source is not None else None,
            exit_code=error.exit_code,
        )
    ]


def exit_code(findings: Iterable[Finding]) -> int:
    """1 where anything failed; else 2 where an input is wrong, 3 where a limit was reached, 0 where all is well."""
    codes = {finding.exit_code for finding in findings} - {0}
    return min(codes, default=0)


_GRADIENTS: Final[Mapping[str, tuple[str, str]]] = {
    "agree": ("gradient agrees", "gradients agree"),
    "disagree": ("gradient disagrees", "gradients disagree"),
    "kink": ("kink", "kinks"),
    "cannot judge": ("cannot be judged", "cannot be judged"),
    "skipped": ("skipped", "skipped"),
}
_CLAIMS: Final[Mapping[str, tuple[str, str]]] = {
    "proved": ("claim proved", "claims proved"),
    "holds": ("claim holds", "claims hold"),
    "refuted": ("claim refuted", "claims refuted"),
    "refuted as expected": ("claim refuted as expected", "claims refuted as expected"),
    "cannot judge": ("claim cannot be judged", "claims cannot be judged"),
    "skipped": ("claim skipped", "claims skipped"),
}
_LOCK: Final[Mapping[str, tuple[str, str]]] = {
    "moved": ("number moved", "numbers moved"),
    "added": ("added to the lock", "added to the lock"),
    "removed": ("gone from the files", "gone from the files"),
}
_INPUT: Final[Mapping[str, tuple[str, str]]] = {"error": ("error", "errors")}
_WORDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "gradient": _GRADIENTS,
    "claim": _CLAIMS,
    "lock": _LOCK,
    "input": _INPUT,
}
"""For each kind its verdicts, in the order of the summary, as one and as several of them are called."""


@dataclass(slots=True)
class Tally:
    """The sums over all files.

    Attributes:
        files: how many were looked at.
        left: how many were not, after a failure.
        verdicts: how many findings there are of each kind and verdict.
    """

    files: int = 0
    left: int = 0
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, findings: Iterable[Finding]) -> None:
        """Count findings."""
        self.verdicts.update((finding.kind, finding.verdict) for finding in findings)

    @property
    def words(self) -> str:
        """The sums as one line: `12 files: 31 gradients agree, 2 kinks, 5 claims proved`."""
        parts = []
        for kind, names in _WORDS.items():
            for verdict, (one, several) in names.items():
                count = self.verdicts[kind, verdict]
                if count:
                    parts.append(f"{count} {one if count == 1 else several}")
        if self.left:
            parts.append(f"{self.left} {'file' if self.left == 1 else 'files'} not looked at")
        head = f"{self.files} {'file' if self.files == 1 else 'files'}"
        return f"{head}: {', '.join(parts)}" if parts else f"{head}: nothing to judge"

    def as_json(self) -> dict[str, Any]:
        """The sums as data: for each kind its verdicts and how many there are."""
        counts: dict[str, Any] = {"files": self.files, "not_looked_at": self.left}
        for kind in _WORDS:
            counts[kind] = {verdict: count for (of, verdict), count in sorted(self.verdicts.items()) if of == kind}
        return counts
