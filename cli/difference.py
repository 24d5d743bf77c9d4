"""What `agrad diff` does once its options are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from agrad.engine.claims import judge_difference
from agrad.engine.claims.judgement import CANNOT, HOLDS, PROVED, REFUTED, Finding, told
from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.files.texts import read_text
from agrad.engine.language import assignments, build

from .options import names
from .render.text import escaped
from .screen import Screen, standard_screen, write, write_lines

if TYPE_CHECKING:
    from agrad.engine.claims.difference import Difference
    from agrad.engine.language import Formulas
    from agrad.engine.worker.process import Worker

DIFFERS: Final = 1
_COLOURS: Final = {PROVED: "green", HOLDS: "green", REFUTED: "red", CANNOT: "yellow"}


def run(
    old: str,
    new: str,
    *,
    outputs: Sequence[str],
    wrt: Sequence[str],
    at: Sequence[str],
    format_: str,
    ascii_only: bool,
    worker: Worker,
    **limits: Any,
) -> int:
    """Compare two files and write what is found; gives the exit code."""
    given: dict[str, Any] = {}
    for text in at:
        given.update(assignments(text))
    files = [_read(path, given) for path in (old, new)]
    unused = [name for name in given if not any(name in formulas.names for formulas in files)]
    if unused:
        raise InputError(f"--at: neither file uses {unused[0]}", code="name")
    found = judge_difference(*files, outputs=outputs, wrt=names(wrt, "--wrt") if wrt else (), worker=worker, **limits)
    if format_ == "json":
        from .render.json import json_text

        write(json_text(as_json(old, new, found)))
    else:
        write_lines(lines(old, new, found, standard_screen(ascii_only=ascii_only)))
    return DIFFERS if any(each.finding.verdict == REFUTED for each in found.compared) else 0


def _read(path: str, given: dict[str, Any]) -> Formulas:
    source = Source(read_text(path), path)
    try:
        return build(source, inputs=given, spare=given)
    except AgradError as error:
        error.source = error.source or source
        raise


def as_json(old: str, new: str, found: Difference) -> dict[str, Any]:
    """What was found as strict JSON holds it."""
    compared = [
        {
            "what": each.what,
            "verdict": each.finding.verdict,
            "points": each.finding.points,
            "counterexample": None if each.finding.counterexample is None else each.finding.counterexample.as_json(),
            "reason": each.finding.reason,
        }
        for each in found.compared
    ]
    equal = not any(each.finding.verdict == REFUTED for each in found.compared)
    return {"schema_version": 1, "old": old, "new": new, "equal": equal, "compared": compared, "notes": found.notes}


def lines(old: str, new: str, found: Difference, screen: Screen) -> list[str]:
    """What was found as text for people."""
    width = max((len(each.what) for each in found.compared), default=0)
    result = []
    for each in found.compared:
        what = escaped(f"{each.what:<{width}}", ascii_only=screen.ascii_only)
        verdict = escaped(_sentence(each.finding, old, new), ascii_only=screen.ascii_only)
        result.append(f"{what}  {screen.painted(verdict, _COLOURS[each.finding.verdict])}")
        if each.finding.reason and each.finding.verdict != CANNOT:
            result.append(f"{'':<{width}}  ({escaped(each.finding.reason, ascii_only=screen.ascii_only)})")
    result += [escaped(f"note: {note}", ascii_only=screen.ascii_only) for note in found.notes]
    differing = sum(each.finding.verdict == REFUTED for each in found.compared)
    unjudged = sum(each.finding.verdict == CANNOT for each in found.compared)
    total = len(found.compared)
    summary = f"{total - differing - unjudged} of {total} equal"
    summary += f", {differing} different" if differing else ""
    summary += f", {unjudged} not judged" if unjudged else ""
    return [*result, "", summary]


def _sentence(finding: Finding, old: str, new: str) -> str:
    if finding.verdict == PROVED:
        return "equal, " + told(finding, ("", ""))
    if finding.verdict == HOLDS:
        return f"equal at {finding.points} point{'s' if finding.points != 1 else ''}"
    if finding.verdict == REFUTED:
        return told(finding, (f"{old} gives", f"{new} gives")).replace("refuted: ", "different: ", 1)
    return told(finding, ("", ""))
