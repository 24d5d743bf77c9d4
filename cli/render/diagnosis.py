"""What the doctor says, under the verdicts: kinks and their conventions, findings with carets, the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agrad.engine.language.diagnostics import render

from ..screen import Screen
from .numbers import NORMAL, float_text, value_text
from .text import columns, escaped, one_line, shortened

if TYPE_CHECKING:
    from agrad.engine.doctor import Diagnosis
    from agrad.engine.doctor.finding import Finding
    from agrad.engine.doctor.kinks import Choice
    from agrad.engine.doctor.trail import Place, Trail

TOLD: Final = 5
"""So many kinks are told; the others are counted."""
_COLOURS: Final = {"repaired": "cyan"}
_WIDEST: Final = 40
_HEADINGS: Final = ("line", "expression", "value", "gradient", "slope")


def diagnosis_lines(diagnosis: Diagnosis, screen: Screen, *, anomaly: bool = False) -> list[str]:
    """All of it, as lines.

    Args:
        diagnosis: what was found.
        screen: what it is drawn for.
        anomaly: whether the way back was asked for: then it is said too where there is none.
    """
    parts = [_kink_lines(diagnosis, screen), *[_finding_lines(finding, screen) for finding in diagnosis.findings]]
    if diagnosis.trail is not None:
        parts.append(_trail_lines(diagnosis.trail, screen))
    elif anomaly:
        why = "every gradient is finite, by the plain chain rule too"
        if not diagnosis.followed:
            why = "the graph is too large, or nothing is differentiated"
        parts.append([f"anomaly: {'none' if diagnosis.followed else 'not followed'}: {why}"])
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines and part else part
    return lines


def _kink_lines(diagnosis: Diagnosis, screen: Screen) -> list[str]:
    told = diagnosis.kinks[:TOLD]
    lines = [f"{screen.painted('kink', 'yellow')}  {escaped(_choice(c), ascii_only=screen.ascii_only)}" for c in told]
    if len(diagnosis.kinks) > TOLD:
        lines.append(f"      and {len(diagnosis.kinks) - TOLD} more like these")
    seen: dict[str, None] = {}
    for choice in told:
        for kinked in choice.ops:
            place = f", line {kinked.line}" if kinked.line is not None else ""
            text = shortened(one_line(kinked.expression), _WIDEST)
            seen.setdefault(f"      {choice.convention}, {kinked.op} in {text}{place}: {kinked.sentence}")
            if kinked.others is not None:
                seen.setdefault(f"      elsewhere, {kinked.others.text}")
    return lines + [escaped(line, ascii_only=screen.ascii_only) for line in seen]


def _choice(choice: Choice) -> str:
    left, right, chosen = (float_text(number, 0) for number in (choice.left, choice.right, choice.chosen))
    low, high = (float_text(end, 0) for end in choice.between)
    slopes = f"{choice.entry}: slope {left} from the left, {right} from the right"
    between = "it jumps" if low == high else f"between them lies [{low}, {high}]"
    return f"{slopes}; {between}, and {chosen} is chosen"


def _finding_lines(finding: Finding, screen: Screen) -> list[str]:
    lines = render(finding.as_error()).split("\n")
    hint = 1 if finding.hint else 0
    lines[len(lines) - hint : len(lines) - hint] = [f"  {note}" for note in finding.notes]
    first, *rest = [escaped(line, ascii_only=screen.ascii_only) for line in lines]
    label = screen.painted("note:" if finding.kind == "repaired" else "warning:", _COLOURS.get(finding.kind, "yellow"))
    return [f"{label} {first.removeprefix('error: ')}", *rest]


def _trail_lines(trail: Trail, screen: Screen) -> list[str]:
    """A line a node, from the output to the leaf, in columns."""
    rows = [list(_HEADINGS), *[_cells(place, screen) for place in trail.places]]
    widths = [max(columns(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(text + " " * (width - columns(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if trail.omitted:
        middle = 1 + len(trail.places) // 2
        lines.insert(middle, f"... {trail.omitted} more ...")
    title = f"anomaly: from {trail.output} back to {trail.leaf}, by the plain chain rule"
    return [escaped(title, ascii_only=screen.ascii_only), *[f"  {line}" for line in lines]]


def _cells(place: Place, screen: Screen) -> list[str]:
    numbers = ["-" if part is None else value_text(part, NORMAL) for part in (place.value, place.gradient, place.slope)]
    text = escaped(shortened(one_line(place.expression), _WIDEST), ascii_only=screen.ascii_only)
    return ["" if place.line is None else str(place.line), text, *numbers]
