"""What stands under the table: outputs, warnings, the verdict and the closed forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agrad.engine.report import Report

from ..screen import Screen
from .numbers import EVERYTHING, NORMAL, value_text
from .text import escaped

if TYPE_CHECKING:
    from agrad.engine.errors import Source
    from agrad.engine.referees import Blame, Check, Judgement

_COLOUR_OF: Final[Mapping[str, str]] = {"agree": "green", "disagree": "red"}
"""Every other verdict is yellow."""
_FULL: Final = 14
"""Where fewer digits than that are right, the entry that has them is named."""


def result_lines(report: Report, screen: Screen, *, full: bool) -> list[str]:
    """The outputs and the warnings."""
    detail = EVERYTHING if full else NORMAL
    label = screen.painted("output", "bold")
    lines = [
        f"{label}  {escaped(name, ascii_only=screen.ascii_only)} = {value_text(value, detail)}"
        for name, value in report.values.items()
    ]
    return lines + warning_lines(report, screen)


def warning_lines(report: Report, screen: Screen) -> list[str]:
    """The warnings."""
    return [
        f"{screen.painted('warning:', 'yellow')} {escaped(warning, ascii_only=screen.ascii_only)}"
        for warning in report.warnings
    ]


def verdict_lines(check: Check, outputs: list[str], screen: Screen, source: Source | None = None) -> list[str]:
    """A line on what the referees say, their reasons, the op to blame, and the derivatives in closed form."""
    lines = ["   ".join([_verdict(judgement, screen) for judgement in check.referees])] if check.referees else []
    lines += [
        f"  {judgement.name}: {escaped(judgement.reason, ascii_only=screen.ascii_only)}"
        for judgement in check.referees
        if judgement.reason
    ]
    if check.blame is not None:
        lines.append(f"  {screen.painted('to blame:', 'red')} {_blamed(check.blame, screen, source)}")
    numerator = f"d{outputs[0]}" if len(outputs) == 1 else "d"
    for judgement in check.referees:
        if judgement.verdict == "agree":  # elsewhere, at a kink say, the form is that of one side
            lines += [
                escaped(f"{numerator}/d{name} = {form}", ascii_only=screen.ascii_only)
                for name, form in judgement.forms.items()
            ]
    return lines


def _verdict(judgement: Judgement, screen: Screen) -> str:
    verdict = screen.painted(judgement.verdict, _COLOUR_OF.get(judgement.verdict, "yellow"))
    digits = "" if judgement.digits is None else f", {judgement.digits} digits"
    told = judgement.verdict == "disagree" or (judgement.digits is not None and judgement.digits < _FULL)
    entry = f" at {judgement.entry}" if judgement.entry and told else ""
    return f"{judgement.name}: {verdict}{digits}{escaped(entry, ascii_only=screen.ascii_only)}"


def _blamed(blame: Blame, screen: Screen, source: Source | None) -> str:
    """The op, its line and what is wrong, as in `the rule of tanh, line 3: ...`."""
    span = blame.node.span
    line = f", line {source.location(span.start).line}" if source is not None and span is not None else ""
    return escaped(f"the {blame.fault} of {blame.op}{line}: {blame.reason}", ascii_only=screen.ascii_only)
