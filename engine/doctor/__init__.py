"""The doctor: what a person should know of the numbers of a run beyond the verdict.

At kinks what is chosen and what others choose; where something is not finite, or would not be by the plain chain rule,
where that begins; where digits are lost, a form that keeps them. A healthy run costs a few comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluation.evaluate import Evaluation
    from ..language import Formulas
    from ..referees import Check
    from .finding import Finding
    from .kinks import Choice
    from .trail import Trail

__all__ = ["Diagnosis", "examine"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor says of a run.

    Attributes:
        kinks: what is chosen at kinks.
        findings: of numbers that are not finite, or have few right digits.
        trail: the way back on which a gradient becomes what is not finite, where it was asked for and there is one.
        followed: whether the way back was looked at, and could be.
    """

    kinks: Sequence[Choice] = ()
    findings: Sequence[Finding] = ()
    trail: Trail | None = None
    followed: bool = False


def examine(formulas: Formulas, evaluation: Evaluation, check: Check | None, *, anomaly: bool = False) -> Diagnosis:
    """Look at a run.

    Args:
        formulas: its text.
        evaluation: what was computed.
        check: what the referees say; None where they were not asked: then digits are not counted.
        anomaly: whether the whole way back is wanted where a gradient is not finite.
    """
    lost = [] if check is None else list(_lost_digits(formulas, evaluation, check))
    at_kink = check is not None and check.verdict == "kink"
    if not (evaluation.is_suspect or anomaly or at_kink):
        return Diagnosis(findings=lost)
    from .chain import chain_of
    from .kinks import choices

    kinks = choices(formulas, evaluation, check)
    if not (evaluation.is_suspect or anomaly):
        return Diagnosis(kinks, lost)
    from . import named, nonfinite

    chain = chain_of(evaluation)
    if chain is None:
        return Diagnosis(kinks, [*named.findings(formulas, evaluation), *lost])
    certified = check is None or check.verdict != "disagree"
    found = list(nonfinite.findings(formulas, evaluation, chain, certified=certified))
    worst = nonfinite.worst_entry(formulas, evaluation, chain) if anomaly else None
    if worst is None:
        return Diagnosis(kinks, [*found, *lost], followed=True)
    from .trail import trail_of

    return Diagnosis(kinks, [*found, *lost], trail_of(formulas, evaluation, chain, *worst), followed=True)


def _lost_digits(formulas: Formulas, evaluation: Evaluation, check: Check) -> Iterator[Finding]:
    """What there is to be said of digits; the analysis is imported only where something suggests a loss."""
    from .suspicion import suspected

    if suspected(evaluation, check):
        from . import digits

        yield from digits.findings(formulas, evaluation, check)
