"""Derivatives in closed form as lines, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from agrad.engine.closed_forms.latex_names import latex_name
from agrad.engine.closed_forms.request import Derivative, Derived, label

from ..screen import Screen
from .numbers import float_text
from .text import escaped

_MANY: Final = 6
"""Notes of one kind that are all written."""
_HERE: Final = ", where the file's point is"


def lines_of(derived: Derived, format_: str, screen: Screen) -> list[str]:
    """An equation for each derivative that is not zero, and one line for those that are."""
    shown = [d for d in derived.derivatives if not (d.is_zero and d.output[1])]
    lines: list[str] = []
    for derivative in shown:
        if not derivative.written:
            line = _line(f"{name_of(_whole(derivative))}: no closed form: {derivative.reason}", screen)
            lines += [line] if line not in lines else []
        elif format_ == "latex":
            lines.append(_line(f"{latex_name_of(derivative)} = {derivative.written['latex']}", screen))
        elif format_ == "unicode":
            lines += _drawn(derivative, screen)
        else:
            lines.append(_line(f"{name_of(derivative)} = {derivative.written['text']}", screen))
    zeros = len(derived.derivatives) - len(shown)
    if zeros and format_ != "latex":
        lines.append(f"{'all' if not shown else 'the other'} {zeros} derivatives are 0")
    return lines


def _whole(derivative: Derivative) -> Derivative:
    """The derivative without its entries: what one reason is given for."""
    return replace(derivative, output=(derivative.output[0], ()), by=tuple((name, ()) for name, _ in derivative.by))


def name_of(derivative: Derivative) -> str:
    """As in `dz/dx[0]` and `d^2z/dx dy`."""
    order = len(derivative.by)
    counts = Counter(label(place) for place in derivative.by)
    by = " ".join(f"d{name}{f'^{count}' if count > 1 else ''}" for name, count in counts.items())
    return f"d{f'^{order}' if order > 1 else ''}{label(derivative.output)}/{by}"


def latex_name_of(derivative: Derivative) -> str:
    """As in `\\frac{\\partial z}{\\partial x_{0}}`."""
    order = len(derivative.by)
    counts = Counter(label(place) for place in derivative.by)
    by = r" \, ".join(rf"\partial {latex_name(name)}{f'^{{{n}}}' if n > 1 else ''}" for name, n in counts.items())
    return rf"\frac{{\partial{f'^{{{order}}}' if order > 1 else ''} {latex_name(label(derivative.output))}}}{{{by}}}"


def _drawn(derivative: Derivative, screen: Screen) -> list[str]:
    """A drawing behind its name, which stands at half its height."""
    lines = derivative.written["unicode"].split("\n")
    head = f"{name_of(derivative)} = "
    if not screen.ascii_only:
        head = head.replace("d", "\u2202", 1).replace("/d", "/\u2202").replace(" d", " \u2202")
    middle = len(lines) // 2
    drawn = [_line(f"{head if at == middle else ' ' * len(head)}{line}", screen) for at, line in enumerate(lines)]
    return [*([""] if len(lines) > 1 else []), *drawn, *([""] if len(lines) > 1 else [])]


def _line(text: str, screen: Screen) -> str:
    return escaped(text.rstrip(), ascii_only=screen.ascii_only)


def notes_of(derived: Derived, screen: Screen) -> list[str]:
    """Kinks, conditions, and whether the forms agree with the gradients at the file's point."""
    found = derived.derivatives
    lines = [
        f"kink of {kink['op']} at {kink['where']}{_HERE if kink['here'] else ''}: {kink['takes']}"
        for kink in _distinct([kink for derivative in found for kink in derivative.kinks])
    ]
    conditions = _distinct([condition for derivative in found for condition in derivative.conditions])
    if conditions:
        text = " and ".join(conditions[:_MANY])
        more = f" and {len(conditions) - _MANY} more of this kind" if len(conditions) > _MANY else ""
        lines.append(f"holds where {text}{more}, as at the file's point")
    lines = [*_shortened(lines), *_verdicts(found)]
    if derived.spent and all(derivative.written for derivative in found):
        lines.append(f"not simplified further: {derived.spent}")
    return [_line(line, screen) for line in lines]


def _verdicts(found: Sequence[Derivative]) -> list[str]:
    """One sentence on those that agree, and one on each that does not."""
    agreeing = [derivative.digits or 0 for derivative in found if derivative.verdict == "agree"]
    lines = [
        f"{derivative.verdict}: {name_of(derivative)}: {derivative.reason}"
        for derivative in found
        if derivative.written and derivative.verdict != "agree"
    ]
    lines = _shortened(lines)
    if agreeing:
        digits = f"to {min(agreeing)} digits"
        if len(agreeing) == 1 == len(found):
            lines.append(f"agrees with the gradient at the file's point {digits}")
        elif len(agreeing) == len(found):
            lines.append(f"all agree with the gradients at the file's point {digits}")
        else:
            lines.append(f"{len(agreeing)} of {len(found)} agree with the gradients at the file's point {digits}")
    return lines


def _shortened(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _MANY else [*lines[:_MANY], f"and {len(lines) - _MANY} more of this kind"]


def _distinct(entries: Sequence[Any]) -> list[Any]:
    return [entry for place, entry in enumerate(entries) if entry not in entries[:place]]


def as_json(derived: Derived, file: str, warnings: Sequence[str]) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "schema_version": 1,
        "file": file,
        "leaves": list(derived.leaves),
        "derivatives": [_entry(derivative) for derivative in derived.derivatives],
        "python": derived.python or None,
        "complete": derived.complete,
        "warnings": [*warnings, *([derived.spent] if derived.spent else [])],
    }


def _entry(derivative: Derivative) -> dict[str, Any]:
    return {
        "output": label(derivative.output),
        "by": [label(place) for place in derivative.by],
        "form": derivative.written.get("text"),
        "latex": derivative.written.get("latex"),
        "gradient": derivative.number if _finite(derivative.number) else float_text(derivative.number, 0),
        "verdict": derivative.verdict,
        "digits": derivative.digits,
        "reason": derivative.reason,
        "kinks": [dict(kink) for kink in derivative.kinks],
        "conditions": list(derivative.conditions),
    }


def _finite(number: float) -> bool:
    return number - number == 0
