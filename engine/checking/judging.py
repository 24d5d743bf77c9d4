"""One file judged: the gradient of each of its outputs by the referees, and each of its claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import AgradError, LimitError, NoGradientError
from ..evaluation.evaluate import Evaluation, evaluate
from ..evaluation.outputs import Weight
from ..files.json_data import json_value
from ..graph import Node, ancestors
from ..referees import precise, symbolic
from ..referees.case import AGREE, CANNOT, DISAGREE, KINK, SKIPPED_CHECK, Blame, Case, Check, Judgement
from .finding import FileResult, Finding, Recorded, faults
from .policy import Policy, code_of
from .subjects import Subject

if TYPE_CHECKING:
    from ..claims import ClaimJudgement
    from ..language import Formulas
    from .judges import Judges

Read = Callable[[], tuple["Formulas", Sequence[Subject]]]
"""Reads a file: its formulas, and what is to be differentiated in it."""

LARGEST_RECORDED: Final = 10_000
"""A lock keeps every entry of arrays up to this size, and the statistics and ends of larger ones."""

REASONS: Final = (DISAGREE, KINK, CANNOT)
"""The verdicts whose reasons a person wants to read."""


def judged(file: str, read: Read, judges: Judges, policy: Policy) -> FileResult:
    """Everything that is found in a file; what is wrong with it is a finding as well.

    Args:
        file: as it was named.
        read: reads it.
        judges: those of this thread.
        policy: how.
    """
    began = time.monotonic()
    result = FileResult(file)
    try:
        formulas, subjects = read()
        result.names = frozenset(formulas.names)
        result.dtype = formulas.dtype.name
        with np.errstate(all="ignore"):  # what overflows is judged, not warned of
            _judge(formulas, subjects, result, judges, policy)
    except AgradError as error:
        result.findings += faults(error, file)
    except MemoryError:
        result.findings += faults(LimitError("out of memory", code="memory"), file)
    result.findings.sort(key=lambda finding: finding.span.start if finding.span is not None else -1)
    result.seconds = time.monotonic() - began
    return result


def _judge(formulas: Formulas, subjects: Sequence[Subject], result: FileResult, judges: Judges, policy: Policy) -> None:
    result.warnings += formulas.warnings
    bindings: dict[Node, list[int]] = {}
    for position, binding in enumerate(formulas.bindings):
        bindings.setdefault(binding.node, []).append(position)
    for subject in subjects:
        try:
            narrow = _narrowed(formulas, subject, bindings)
            result.findings.append(_gradient(narrow, subject, result, judges, policy))
        except AgradError as error:  # the other outputs are judged all the same
            if error.source is None:
                error.source, error.spans = formulas.source, error.spans or (subject.span,)
            result.findings += faults(error, result.file)
    try:
        result.findings += [_claim(formulas, claim, result.file, policy) for claim in judges.claims(formulas)]
    except AgradError as error:
        error.source = error.source or formulas.source
        result.findings += faults(error, result.file)


def _narrowed(formulas: Formulas, subject: Subject, bindings: Mapping[Node, Sequence[int]]) -> Formulas:
    """Only what an output is computed from: a file of many results would be run as a whole for each of them.

    Args:
        formulas: the file.
        subject: the output.
        bindings: where each node is bound, as positions in `formulas.bindings`.
    """
    nodes = ancestors([subject.node])
    places = sorted(place for node in nodes for place in bindings.get(node, ()))
    below = set(nodes)
    wrt = {name: node for name, node in formulas.wrt.items() if node in below} or formulas.wrt
    return formulas._replace(bindings=tuple(formulas.bindings[place] for place in places), wrt=wrt)


def _gradient(formulas: Formulas, subject: Subject, result: FileResult, judges: Judges, policy: Policy) -> Finding:
    weights = [] if subject.weight is None else [Weight(subject.name, subject.weight)]
    comparing = judges.comparing() if policy.device != "cpu" else None
    on_device: dict[str, Any] = {"compute": comparing} if comparing is not None else {}
    try:
        evaluation = evaluate(formulas, {subject.name: subject.node}, weights, **on_device)
    except NoGradientError as error:
        return _finding(formulas, subject, result.file, policy, SKIPPED_CHECK, error.hint or error.message)
    result.warnings += [warning for warning in evaluation.warnings if warning not in result.warnings]
    result.recorded[_unused_name(subject.name, result)] = _record(formulas, subject, evaluation)
    gradients = {name: evaluation.gradient(name) for name in evaluation.wrt if name not in evaluation.unused}
    check = judges.check(Case([subject.node], evaluation.cotangents, evaluation.wrt, gradients))
    if comparing is not None:
        check = replace(Check.of([*check.referees, comparing.judgement()]), blame=check.blame)
    return _finding(formulas, subject, result.file, policy, check)


def _unused_name(name: str, result: FileResult) -> str:
    """A name that the record does not have yet: a text may give several results the same one."""
    number = 1
    unused = name
    while unused in result.recorded:
        number += 1
        unused = f"{name} ({number})"
    return unused


def _record(formulas: Formulas, subject: Subject, evaluation: Evaluation) -> Recorded:
    gradients = {name: _kept(evaluation.gradient(name)) for name in evaluation.wrt}
    return Recorded(_kept(evaluation.values[subject.node]), gradients, formulas.source, subject.span)


def _kept(value: Any) -> Any:
    """A value as a lock keeps it: every entry, or the statistics of a very large array."""
    return json_value(value, full=np.size(value) <= LARGEST_RECORDED)


def _finding(
    formulas: Formulas, subject: Subject, file: str, policy: Policy, check: Check, reason: str = ""
) -> Finding:
    digits = _digits(check)
    verdict: str = check.verdict
    details = [_told(each) for each in check.referees if each.verdict in REASONS and verdict != AGREE]
    if policy.digits is not None and verdict == AGREE and (digits is None or digits < policy.digits):
        verdict, reason = DISAGREE, f"{digits} digits are right where {policy.digits} are wanted"
        details = [_told(each) for each in check.referees]
    if check.blame is not None:
        details.append(_blamed(check.blame, formulas))
    outcome = policy.outcome(verdict)
    return Finding(
        kind="gradient",
        subject=f"d({subject.name})/d({', '.join(formulas.wrt)})",
        verdict=verdict,
        outcome=outcome,
        reason=reason,
        details=tuple(details),
        file=file,
        source=formulas.source,
        span=subject.span,
        digits=digits,
        check=check,
        exit_code=code_of(outcome),
    )


def _blamed(blame: Blame, formulas: Formulas) -> str:
    """Which op is wrong by itself, and where it stands."""
    at = ""
    if blame.node.span is not None:
        place = formulas.source.location(blame.node.span.start)
        at = f" at {place.file}:{place.line}:{place.column}"
    part = "" if blame.argument is None else f" for argument {blame.argument + 1}"
    return f"to blame: the {blame.fault} of {blame.op}{part}{at}: {blame.reason}"


def _digits(check: Check) -> int | None:
    """How many digits are right by the most exact referee that counted them."""
    counted = {each.name: each.digits for each in check.referees if each.digits is not None}
    return next(
        (counted[name] for name in (precise.NAME, symbolic.NAME) if name in counted),
        min(counted.values(), default=None),
    )


def _told(judgement: Judgement) -> str:
    """A referee's verdict in words."""
    digits = "" if judgement.digits is None else f", {judgement.digits} digits"
    entry = f" at {judgement.entry}" if judgement.entry else ""
    reason = f": {judgement.reason}" if judgement.reason else ""
    return f"{judgement.name}: {judgement.verdict}{digits}{entry}{reason}"


def _claim(formulas: Formulas, claim: ClaimJudgement, file: str, policy: Policy) -> Finding:
    verdict: str = claim.verdict
    reason = claim.sentence.removeprefix(verdict).lstrip(": ")
    if claim.failed and verdict != "refuted":
        verdict, reason = "refuted", f"it was expected to be refuted, and is not: {claim.sentence}"
    elif verdict == "refuted" and not claim.failed:
        verdict = "refuted as expected"
    outcome = policy.outcome(verdict)
    return Finding(
        kind="claim",
        subject=claim.text if claim.label is None else f"{claim.text} ({claim.label})",
        verdict=verdict,
        outcome=outcome,
        reason=reason,
        file=file,
        source=formulas.source,
        span=claim.span,
        claim=claim,
        exit_code=code_of(outcome),
    )
