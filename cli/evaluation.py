"""What `agrad eval` does once its options are known: read, evaluate, write, and have it checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click
import numpy as np

from agrad.engine.data import read_data
from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.evaluation import Evaluation, chosen_outputs, evaluate, unknown_name
from agrad.engine.files import check_target, decoded, read_text, save_npz
from agrad.engine.language import Formulas, assignments, build, literal
from agrad.engine.ops.concrete import value_of
from agrad.engine.outputs import Weight
from agrad.engine.report import Report, make_report

from .options import names
from .screen import Screen, standard_screen, write, write_lines

if TYPE_CHECKING:
    from agrad.engine.graph import Node
    from agrad.engine.matrices import Matrices
    from agrad.engine.referees import Check, RefereeProcess, RunningCheck

DISAGREED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a person asks for: the options of the same names."""

    file: str | None
    expressions: Sequence[str]
    at: Sequence[str]
    data: Sequence[str]
    wrt: Sequence[str]
    outputs: Sequence[str]
    grad_tensors: Sequence[str]
    retain_grad: bool
    jacobian: bool
    hessian: bool
    order: int | None
    device: str
    dtype: str
    format_: str
    full: bool
    save: str | None
    ascii_only: bool


@dataclass(frozen=True, slots=True)
class Style:
    """How results are to be written."""

    format_: str
    full: bool
    screen: Screen


def run(request: Request, process: RefereeProcess | None) -> int:
    """Do what is asked for, with the referees where their process is there; gives the exit code."""
    if request.save is not None:
        check_target(request.save)
    formulas = read_formulas(request)
    try:
        outputs = chosen_outputs(formulas, names(request.outputs, "--output"))
        weights = [weight_of(text, formulas) for text in request.grad_tensors]
        found = derived(formulas, outputs, request)
        evaluation = evaluated(formulas, outputs, weights, request)
    except AgradError as error:
        error.source = error.source or formulas.source
        raise
    report = make_report(formulas, evaluation, device=request.device, dtype=request.dtype)
    if found is not None:
        report.wrt = list(formulas.wrt)
        report.warnings += [warning for warning in found.warnings if warning not in report.warnings]
        report.matrices = found
    if request.save is not None:
        gradients = {f"grad/{name}": gradient for name, gradient in report.gradients.items()}
        save_npz(request.save, report.values | gradients | (found.arrays() if found is not None else {}))
    style = Style(request.format_, request.full, standard_screen(ascii_only=request.ascii_only))
    return conclude(report, evaluation, style, process)


def evaluated(formulas: Formulas, outputs: dict[str, Node], weights: Sequence[Weight], request: Request) -> Evaluation:
    """Values and gradients; values only where a Jacobian is asked for of what has no gradient without weights."""
    if request.jacobian and not weights and any(node.size != 1 for node in outputs.values()):
        return replace(evaluate(formulas._replace(wrt={}), {}), outputs=outputs)
    return evaluate(formulas, outputs, weights, retain_grad=request.retain_grad)


def derived(formulas: Formulas, outputs: dict[str, Node], request: Request) -> Matrices | None:
    """What is asked for beyond gradients."""
    if not (request.jacobian or request.hessian or request.order):
        return None
    from agrad.engine.matrices import Wanted, matrices

    return matrices(outputs, formulas.wrt, Wanted(request.jacobian, request.hessian, request.order or 0))


def read_formulas(request: Request) -> Formulas:
    """The text of the file and the lines, read into a graph over the values given."""
    overrides: dict[str, Any] = {}
    with located_in("--at"):
        for text in request.at:
            overrides.update(assignments(text))
    loaded: dict[str, Any] = {}
    for option in request.data:
        loaded.update(read_data(option))
    return build(
        read_source(request.file, request.expressions),
        inputs=loaded | overrides,
        spare=loaded.keys() - overrides,
        wrt=names(request.wrt, "--wrt") or None,
        dtype=np.dtype(request.dtype),
    )


def read_source(file: str | None, expressions: Sequence[str]) -> Source:
    """The text of FILE, followed by the lines of every -e."""
    if file is None and not expressions:
        raise InputError(
            "nothing to evaluate", hint="name a FILE, or - for the standard input, or give -e EXPR", code="usage"
        )
    labels = [f"-e {number}" if len(expressions) > 1 else "-e" for number in range(1, len(expressions) + 1)]
    texts = list(zip(labels, expressions, strict=True))
    if file is not None:
        texts.insert(0, ("<stdin>", _standard_input()) if file == "-" else (file, read_text(file)))
    (label, text), *others = texts
    source = Source(text, label)
    for label, text in others:
        source.append(text, label)
    return source


def _standard_input() -> str:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("the standard input is closed", code="file")
    return decoded(stream, "<stdin>")


def weight_of(text: str, formulas: Formulas) -> Weight:
    """The cotangent that one `--grad-tensors` gives."""
    name, equals, rest = text.partition("=")
    if equals and name.strip().isidentifier():
        return Weight(name.strip(), _weight_value(rest.strip(), formulas))
    return Weight(None, _weight_value(text.strip(), formulas))


def _weight_value(text: str, formulas: Formulas) -> Any:
    if text == "ones":
        return None
    if text.startswith("@"):
        return next(iter(read_data(f"weights={text[1:]}").values()))
    if text in formulas.names:
        return value_of(formulas.names[text])
    if text.isidentifier():
        raise unknown_name("--grad-tensors", text, formulas)
    with located_in("--grad-tensors"):
        return literal(text)


@contextmanager
def located_in(option: str) -> Iterator[None]:
    """Let an error in the value of an option say which option it is."""
    try:
        yield
    except AgradError as error:
        if error.source is not None:
            error.source = Source(error.source.text, option)
        raise


def conclude(report: Report, evaluation: Evaluation, style: Style, process: RefereeProcess | None) -> int:
    """Write the report, and what the referees say of it if their process is there; gives the exit code."""
    waiting, more = _start_checks(report, evaluation, process) if process is not None else (None, None)
    if style.format_ == "json":
        from .render.json import json_text

        _finish(report, waiting, more)
        write(json_text(report.as_json(full=style.full)))
    else:
        write_rows(report, style)
        write_matrices(report, style)
        _finish(report, waiting, more)
        if waiting is not None and report.check is not None:
            write_verdict(report.check, report.outputs, style)
        if report.matrix_check is not None:
            write_matrix_verdict(report, report.matrix_check, style)
    checks = (report.check, report.matrix_check)
    return DISAGREED if any(check is not None and check.verdict == "disagree" for check in checks) else 0


def _start_checks(
    report: Report, evaluation: Evaluation, process: RefereeProcess
) -> tuple[RunningCheck | None, RunningCheck | None]:
    """The checks of the gradients and of the matrices, as far as there are any."""
    waiting = _start_check(evaluation, process) if evaluation.cotangents else None
    if report.matrices is None or not report.matrices.case.outputs:
        return waiting, None
    from agrad.engine.referees import start_check

    return waiting, start_check(report.matrices.case, process=None if waiting is not None else process)


def _finish(report: Report, waiting: RunningCheck | None, more: RunningCheck | None) -> None:
    if waiting is not None:
        report.check = waiting.finish()
    if more is not None:
        report.matrix_check = more.finish()
        report.check = report.check or report.matrix_check


def _start_check(evaluation: Evaluation, process: RefereeProcess) -> RunningCheck:
    from agrad.engine.referees import Case, start_check

    gradients = {name: evaluation.gradient(name) for name in evaluation.wrt if name not in evaluation.unused}
    case = Case(list(evaluation.outputs.values()), evaluation.cotangents, evaluation.wrt, gradients)
    return start_check(case, process=process)


def write_rows(report: Report, style: Style) -> None:
    """Write the rows in a format for people, or as CSV, with outputs and warnings."""
    screen, full = style.screen, style.full
    if style.format_ == "csv":
        from .render.csv import csv_text
        from .render.summary import warning_lines

        write(csv_text(report.rows, full=full, ascii_only=screen.ascii_only))
        _to_stderr(warning_lines(report, Screen(ascii_only=screen.ascii_only)))
        return
    from .render.summary import result_lines

    write_lines([*_row_lines(report, style), "", *result_lines(report, screen, full=full)])


def _row_lines(report: Report, style: Style) -> list[str]:
    if style.format_ == "plain":
        from .render.plain import plain_lines

        return plain_lines(report.rows, full=style.full, ascii_only=style.screen.ascii_only)
    if style.format_ == "markdown":
        from .render.markdown import markdown_lines

        return markdown_lines(report.rows, full=style.full, ascii_only=style.screen.ascii_only)
    from .render.table import table_lines

    return table_lines(report.rows, style.screen, full=style.full)


def write_verdict(check: Check, outputs: list[str], style: Style) -> None:
    """Write what the referees say under the rows; beside CSV, which has no room for it, on stderr."""
    from .render.summary import verdict_lines

    if style.format_ == "csv":
        _to_stderr(verdict_lines(check, outputs, Screen(ascii_only=style.screen.ascii_only)))
    else:
        write_lines(verdict_lines(check, outputs, style.screen))


def write_matrices(report: Report, style: Style) -> None:
    """Write Jacobians, the Hessian and higher derivatives under the rows; beside CSV on stderr."""
    if report.matrices is None:
        return
    from .render.matrices import matrices_lines

    if style.format_ == "csv":
        _to_stderr(matrices_lines(report.matrices, Screen(ascii_only=style.screen.ascii_only), full=style.full))
        return
    fence = ["```"] if style.format_ == "markdown" else []
    write_lines(["", *fence, *matrices_lines(report.matrices, style.screen, full=style.full), *fence, ""])


def write_matrix_verdict(report: Report, check: Check, style: Style) -> None:
    """Write what the referees say of the matrices, without closed forms: those would be of a weighted sum."""
    from .render.summary import verdict_lines

    bare = replace(check, referees=[replace(judgement, forms={}) for judgement in check.referees])
    screen = Screen(ascii_only=style.screen.ascii_only) if style.format_ == "csv" else style.screen
    first, *rest = verdict_lines(bare, report.outputs, screen) or [check.verdict]
    subject = report.matrices.words if report.matrices is not None else ""
    lines = [f"{subject}, weighted and summed: {first}", *rest]
    if style.format_ == "csv":
        _to_stderr(lines)
    else:
        write_lines(lines)


def _to_stderr(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(line, err=True)
