"""What `agrad eval` does once its options are known: read, evaluate, write, and have it checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import click

from agrad.engine.errors import AgradError
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.files.texts import check_target, save_npz
from agrad.engine.language import Formulas
from agrad.engine.report import Report, make_report
from agrad.engine.run.cpu import evaluate as evaluate_nodes

from .options import names
from .reading import TextRequest, read_formulas, weight_of
from .screen import Screen, standard_screen, write, write_lines

if TYPE_CHECKING:
    from agrad.engine.derivatives.matrices import Matrices
    from agrad.engine.graph import Node
    from agrad.engine.referees import Check, RefereeProcess, RunningCheck
    from agrad.engine.referees.device import Comparing
    from agrad.engine.run.device import Compute, Way

DISAGREED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(TextRequest):
    """What a person asks for: the options of the same names."""

    outputs: Sequence[str]
    grad_tensors: Sequence[str]
    retain_grad: bool
    jacobian: bool
    hessian: bool
    order: int | None
    strict_kinks: bool
    anomaly: bool
    device: str
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


@dataclass(frozen=True, slots=True)
class Run:
    """A text that was evaluated, for the doctor.

    Attributes:
        formulas, evaluation: the text and what was computed.
        strict_kinks: whether a kink is a disagreement.
        comparing: what a device has computed, for the CPU to judge.
    """

    formulas: Formulas
    evaluation: Evaluation
    strict_kinks: bool
    comparing: Comparing | None = None


def run(request: Request, process: RefereeProcess | None) -> int:
    """Do what is asked for, with the referees where their process is there; gives the exit code."""
    if request.save is not None:
        check_target(request.save)
    formulas = read_formulas(request)
    try:
        outputs = chosen_outputs(formulas, names(request.outputs, "--output"))
        weights = [weight_of(text, formulas) for text in request.grad_tensors]
        comparing, way = computing_on(request)
        found = derived(formulas, outputs, request, way)
        evaluation = evaluated(formulas, outputs, weights, request, comparing or evaluate_nodes)
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
    report.anomaly = request.anomaly
    style = Style(request.format_, request.full, standard_screen(ascii_only=request.ascii_only))
    return conclude(report, Run(formulas, evaluation, request.strict_kinks, comparing), style, process)


def computing_on(request: Request) -> tuple[Comparing | None, Way]:
    """The way to compute on the device that is asked for; it remembers what it gave where that is not the CPU.

    Raises:
        DeviceError: where the device cannot be used.
    """
    from agrad.engine.run.device import ON_CPU, way_on

    if request.device == "cpu":
        return None, ON_CPU
    from agrad.engine.referees.device import Comparing

    way = way_on(request.device)
    comparing = Comparing(way.evaluate)
    return comparing, way._replace(evaluate=comparing)


def evaluated(
    formulas: Formulas, outputs: dict[str, Node], weights: Sequence[Weight], request: Request, compute: Compute
) -> Evaluation:
    """Values and gradients; values only where a Jacobian is asked for of what has no gradient without weights."""
    if request.jacobian and not weights and any(node.size != 1 for node in outputs.values()):
        return replace(evaluate(formulas._replace(wrt={}), {}), outputs=outputs)
    return evaluate(formulas, outputs, weights, retain_grad=request.retain_grad, compute=compute)


def derived(formulas: Formulas, outputs: dict[str, Node], request: Request, way: Way) -> Matrices | None:
    """What is asked for beyond gradients, computed in a way."""
    if not (request.jacobian or request.hessian or request.order):
        return None
    from agrad.engine.derivatives.matrices import Wanted, matrices
    from agrad.engine.run.device import computing

    with computing(way):
        return matrices(outputs, formulas.wrt, Wanted(request.jacobian, request.hessian, request.order or 0))


def conclude(report: Report, done: Run, style: Style, process: RefereeProcess | None) -> int:
    """Write the report, and what the referees say of it if their process is there; gives the exit code."""
    waiting, more = _start_checks(report, done.evaluation, process) if process is not None else (None, None)
    if waiting is not None:
        import agrad.engine.doctor.suspicion  # noqa: F401  # while the referees are at work
    if style.format_ == "json":
        from .render.json import report_text

        _finish(report, waiting, more)
        _ask_cpu(report, done, checked=process is not None)
        _examine(report, done, checked=process is not None)
        write(report_text(report, full=style.full))
    else:
        write_rows(report, style)
        write_matrices(report, style)
        _finish(report, waiting, more)
        _ask_cpu(report, done, checked=process is not None)
        if report.check is not None and (waiting is not None or done.comparing is not None):
            write_verdict(report.check, report, style)
        if report.matrix_check is not None:
            write_matrix_verdict(report, report.matrix_check, style)
        _examine(report, done, checked=process is not None)
        write_diagnosis(report, style)
    return DISAGREED if _is_refused(report, done) else 0


def _examine(report: Report, done: Run, *, checked: bool) -> None:
    """Ask the doctor; without the referees only where something stands on a kink or is not finite."""
    if checked or report.anomaly or done.evaluation.is_suspect:
        from agrad.engine.doctor import examine

        report.diagnosis = examine(done.formulas, done.evaluation, report.check, anomaly=report.anomaly)


def _is_refused(report: Report, done: Run) -> bool:
    """Whether a referee disagrees, or there is a kink where none is allowed."""
    verdicts = {check.verdict for check in (report.check, report.matrix_check) if check is not None}
    at_kink = "kink" in verdicts or bool(done.evaluation.kinks)
    return "disagree" in verdicts or (done.strict_kinks and at_kink)


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


def _ask_cpu(report: Report, done: Run, *, checked: bool) -> None:
    """Let the CPU judge what a device has computed, as one more referee."""
    if not checked or done.comparing is None:
        return
    from agrad.engine.referees.case import Check

    before = report.check
    blame = before.blame if before is not None else None
    report.check = replace(
        Check.of([*(before.referees if before is not None else ()), done.comparing.judgement()]), blame=blame
    )


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


def write_verdict(check: Check, report: Report, style: Style) -> None:
    """Write what the referees say under the rows; beside CSV, which has no room for it, on stderr."""
    from .render.summary import verdict_lines

    if style.format_ == "csv":
        screen = Screen(ascii_only=style.screen.ascii_only)
        _to_stderr(verdict_lines(check, report.outputs, screen, report.source))
    else:
        write_lines(verdict_lines(check, report.outputs, style.screen, report.source))


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


def write_diagnosis(report: Report, style: Style) -> None:
    """Write what the doctor says, under the verdicts; beside CSV on stderr."""
    if report.diagnosis is None:
        return
    from .render.diagnosis import diagnosis_lines

    screen = Screen(ascii_only=style.screen.ascii_only) if style.format_ == "csv" else style.screen
    lines = diagnosis_lines(report.diagnosis, screen, anomaly=report.anomaly)
    if style.format_ == "csv":
        _to_stderr(lines)
    elif lines:
        fence = ["```"] if style.format_ == "markdown" else []
        write_lines(["", *fence, *lines, *fence])


def _to_stderr(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(line, err=True)
