"""What `agrad derive` does once its options are known: read, have derived, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from agrad.engine.closed_forms.request import Derived, Wanted, asked, fill_in, request
from agrad.engine.errors import AgradError
from agrad.engine.evaluation.evaluate import chosen_outputs
from agrad.engine.language import Formulas

from .options import names
from .reading import TextRequest, read_formulas
from .render.derive import as_json, lines_of, notes_of
from .screen import Screen, standard_screen, write, write_lines

if TYPE_CHECKING:
    from agrad.engine.worker.process import Worker

DISAGREED: Final = 1
INCOMPLETE: Final = 3
_NOTATIONS: Final = {
    "text": ("text",),
    "unicode": ("text", "unicode"),
    "latex": ("text", "latex"),
    "python": ("text", "python"),
    "json": ("text", "latex", "python"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(TextRequest):
    """What a person asks for: the options of the same names."""

    outputs: Sequence[str]
    order: int
    format_: str
    simplify: bool
    seconds: float
    ascii_only: bool


def run(wish: Request, worker: Worker) -> int:
    """Do what is asked for; gives the exit code."""
    formulas = read_formulas(wish)
    try:
        outputs = chosen_outputs(formulas, names(wish.outputs, "--output"))
        derived = asked(formulas, outputs, wish.order)
    except AgradError as error:
        error.source = error.source or formulas.source
        raise
    screen = standard_screen(ascii_only=wish.ascii_only)
    wanted = Wanted(_NOTATIONS[wish.format_], wish.order, wish.simplify, screen.ascii_only, wish.seconds)
    worker.ask(request(formulas, outputs, derived, wanted))
    fill_in(derived, worker.answers(wish.seconds), wish.seconds)
    _write(derived, formulas, wish.format_, screen)
    if any(derivative.verdict == "disagree" for derivative in derived.derivatives):
        return DISAGREED
    return 0 if derived.complete else INCOMPLETE


def _write(derived: Derived, formulas: Formulas, format_: str, screen: Screen) -> None:
    """Write the forms to the standard output; what is no part of the notation goes to stderr."""
    if format_ == "json":
        from .render.json import json_text

        write(json_text(as_json(derived, formulas.source.name, formulas.warnings)))
        return
    notes = notes_of(derived, screen if format_ in ("text", "unicode") else Screen(ascii_only=screen.ascii_only))
    if format_ == "python":
        write(derived.python or "")
    else:
        write_lines(lines_of(derived, format_, screen))
    if format_ in ("text", "unicode"):
        write_lines(["", *notes] if notes else [])
    else:
        for line in notes:
            click.echo(line, err=True)
