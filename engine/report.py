"""What a run has found, as plain rows and as JSON-ready data: the one thing the command line prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .errors import AgradError, SeveralErrors, Source
from .files.json_data import json_value
from .graph import DType, Node

if TYPE_CHECKING:
    from .derivatives.matrices import Matrices
    from .doctor import Diagnosis
    from .evaluation.evaluate import Evaluation
    from .language import Formulas
    from .referees import Blame, Check

SCHEMA_VERSION: Final = 1


class Row(NamedTuple):
    """One named node, as the table and the JSON show it.

    Attributes:
        name: as the file writes it.
        line: its line in the file, from 1; None for an input that no line assigns.
        expression: the text of its right side; empty for an input.
        op: the op's name, or "leaf".
        shape, dtype: of its value.
        value: a number or an array.
        requires_grad, is_leaf, grad_fn: as PyTorch's.
        grad: its gradient, or None where PyTorch would keep none.
    """

    name: str
    line: int | None
    expression: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    value: Any
    requires_grad: bool
    is_leaf: bool
    grad_fn: str | None
    grad: Any


@dataclass(slots=True)
class Report:
    """Everything that one run of `agrad eval` has found.

    Attributes:
        file: the name of the first text.
        device, dtype: where and in what it ran.
        wrt: the names that gradients were asked for.
        outputs: the names that were differentiated.
        rows: the named nodes, inputs first, then in the order of the text.
        values: the value of each output, by name.
        gradients: the gradient for each name of `wrt`; zeros where the outputs do not depend on it.
        warnings: sentences for the person.
        check: what the referees said; None while they have not, or were not asked.
        matrices: Jacobians, the Hessian and higher derivatives, where they were asked for.
        matrix_check: what the referees said of those.
        source: the text, for lines and columns in it.
        diagnosis: what the doctor says of kinks, of what is not finite and of lost digits; None until it was asked.
        anomaly: whether the way back of what is not finite was asked for.
    """

    file: str
    device: str
    dtype: str
    wrt: list[str]
    outputs: list[str]
    rows: list[Row]
    values: dict[str, Any]
    gradients: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    check: Check | None = None
    matrices: Matrices | None = None
    matrix_check: Check | None = None
    source: Source | None = None
    diagnosis: Diagnosis | None = None
    anomaly: bool = False

    def as_json(self, *, full: bool = False, nodes: list[Any] | None = None) -> dict[str, Any]:
        """The report as data that `json.dumps(..., allow_nan=False)` takes.

        Args:
            full: write arrays of any size in full.
            nodes: what stands for the nodes; their rows as data if not given.
        """
        data = {
            "schema_version": SCHEMA_VERSION,
            "file": self.file,
            "device": self.device,
            "dtype": self.dtype,
            "wrt": self.wrt,
            "outputs": self.outputs,
            "values": {name: json_value(value, full=full) for name, value in self.values.items()},
            "gradients": {name: json_value(value, full=full) for name, value in self.gradients.items()},
            "nodes": [_row_as_json(row, full) for row in self.rows] if nodes is None else nodes,
            "check": check_as_json(self.check, self.source),
            "warnings": self.warnings,
        }
        if self.diagnosis is not None:
            self._add_diagnosis(data, self.diagnosis, full)
        if self.matrices is not None:
            data |= self.matrices.as_json(full=full)
            data["matrix_check"] = check_as_json(self.matrix_check, self.source)
        return data

    def _add_diagnosis(self, data: dict[str, Any], diagnosis: Diagnosis, full: bool) -> None:
        """Add what the doctor says; what it has nothing to say of is left out."""
        if diagnosis.kinks:
            data["check"]["kinks"] = [choice.as_json() for choice in diagnosis.kinks]
        if diagnosis.findings:
            data["findings"] = [finding.as_json() for finding in diagnosis.findings]
        if self.anomaly:
            data["anomaly"] = diagnosis.trail.as_json(full=full) if diagnosis.trail is not None else None


def _row_as_json(row: Row, full: bool) -> dict[str, Any]:
    entry: dict[str, Any] = row._asdict()
    entry["shape"] = list(row.shape)
    entry["value"] = json_value(row.value, full=full)
    entry["grad"] = None if row.grad is None else json_value(row.grad, full=full)
    return entry


def make_report(formulas: Formulas, evaluation: Evaluation, *, device: str, dtype: str) -> Report:
    """The report of a text that was evaluated; the referees have not been asked yet."""
    outputs = list(evaluation.outputs)
    subject = f"{', '.join(outputs)} {'does' if len(outputs) == 1 else 'do'}"
    return Report(
        file=formulas.source.name,
        device=device,
        dtype=dtype,
        wrt=list(evaluation.wrt),
        outputs=outputs,
        rows=make_rows(formulas, evaluation.values, evaluation.grads),
        values={name: evaluation.values[node] for name, node in evaluation.outputs.items()},
        gradients={name: evaluation.gradient(name) for name in evaluation.wrt},
        warnings=[
            *formulas.warnings,
            *[f"{subject} not depend on {name}: its gradient is zero" for name in evaluation.unused],
            *evaluation.warnings,
        ],
        source=formulas.source,
    )


def make_rows(formulas: Formulas, values: Mapping[Node, Any], grads: Mapping[Node, Any]) -> list[Row]:
    """A row for each input and each assignment of a text.

    Args:
        formulas: the text, read.
        values: the value of each named node.
        grads: the gradients that are to be shown, by node.
    """
    rows = [
        _row(binding.name, None, "", binding.node, values[binding.node], grads.get(binding.node))
        for binding in formulas.bindings
        if binding.given
    ]
    bindings = formulas.bindings[len(rows) :]
    text = formulas.source.text
    lines = formulas.source.lines([binding.statement.start for binding in bindings])
    for binding, line in zip(bindings, lines, strict=True):
        node = binding.node
        start, end = binding.expression
        rows.append(_row(binding.name, line, text[start:end], node, values[node], grads.get(node)))
    return rows


@lru_cache  # NumPy makes the name anew each time, which is slow
def _name_of(dtype: DType) -> str:
    return dtype.name


def _row(name: str, line: int | None, expression: str, node: Node, value: Any, grad: Any) -> Row:
    return Row(
        name,
        line,
        expression,
        (node.args[0] if node.op.name == "output" else node).op.name,  # eigh, not the taking apart of its results
        node.shape,
        _name_of(node.dtype),
        value,
        node.requires_grad,
        node.is_leaf,
        node.grad_fn,
        grad,
    )


def check_as_json(check: Check | None, source: Source | None = None) -> dict[str, Any]:
    """The verdicts as data; where nobody was asked, the verdict is `skipped`.

    Args:
        check: what the referees said.
        source: the text, where the line of an op that is to blame is wanted.
    """
    if check is None:
        return {"verdict": "skipped", "referees": [], "digits": {}, "blame": None}
    referees = []
    for judgement in check.referees:
        entry: dict[str, Any] = {
            "name": judgement.name,
            "verdict": judgement.verdict,
            "digits": judgement.digits,
            "reason": judgement.reason or None,
        }
        if judgement.forms and judgement.verdict == "agree":  # elsewhere, at a kink say, they hold on one side
            entry["forms"] = dict(judgement.forms)
        referees.append(entry)
    return {
        "verdict": check.verdict,
        "referees": referees,
        "digits": dict(check.entries),
        "blame": None if check.blame is None else blame_as_json(check.blame, source),
    }


def blame_as_json(blame: Blame, source: Source | None = None) -> dict[str, Any]:
    """The op that is to blame as data."""
    span = blame.node.span
    place = source.location(span.start) if source is not None and span is not None else None
    return {
        "op": blame.op,
        "fault": blame.fault,
        "argument": blame.argument,
        "reason": blame.reason,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def error_as_json(error: AgradError) -> dict[str, Any]:
    """An error as data: the first one under `error`, and all of them under `errors` where there are several."""
    if isinstance(error, SeveralErrors):
        entries = [_error_entry(each) for each in error.errors]
        return {"schema_version": SCHEMA_VERSION, "error": entries[0], "errors": entries}
    return {"schema_version": SCHEMA_VERSION, "error": _error_entry(error)}


def _error_entry(error: AgradError) -> dict[str, Any]:
    place = error.location
    return {
        "code": error.code,
        "message": error.message,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "hint": error.hint or None,
    }
