"""The worker that derives closed forms: `python -m agrad.engine.closed_forms.child`; it answers `request.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .. import ops  # noqa: F401  # fills the table
from ..referees.case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge
from ..referees.description import rebuilt
from ..referees.digits import ENOUGH, right_digits
from ..worker.budget import Budget, BudgetSpent
from ..worker.serving import serve
from .forms import LARGEST, QUICK, THOROUGH, Forms

_ROUNDING: Final = 64


@dataclass(slots=True)
class Derivative:
    """One derivative that is asked for: of an entry of an output by entries of leaves, and agrad's number."""

    position: int
    output: str
    entry: tuple[int, ...]
    by: list[tuple[str, tuple[int, ...]]]
    number: float
    scale: float
    dtype: str
    expression: Any = None


class Derivation:
    """The work on one request.

    Args:
        request: as `request.described_request` writes it.
        budget: what may be spent.
    """

    def __init__(self, request: Mapping[str, Any], budget: Budget) -> None:
        self._case = rebuilt(request["case"])
        self._outputs = dict(zip(request["outputs"], self._case.outputs, strict=True))
        self._leaves: list[str] = request["leaves"]
        self._formats: list[str] = request["formats"]
        self._ascii: bool = request["ascii"]
        self._simplify: bool = request["simplify"]
        self._asked = [_derivative(asked) for asked in request["derivatives"]]
        self._budget = budget
        self._forms: dict[tuple[str, tuple[str, ...]], Forms] = {}

    def answers(self) -> Iterator[dict[str, Any]]:
        """An answer for each derivative as soon as it is known, better ones later, then the functions in Python."""
        failed: dict[tuple[str, tuple[str, ...]], str] = {}
        for asked in self._asked:
            key = self._key(asked)
            if key not in failed:
                try:
                    yield self._first(asked)
                    continue
                except CannotJudge as reason:
                    failed[key] = str(reason)
                except RecursionError:
                    failed[key] = "nested too deeply for SymPy"
                except (BudgetSpent, MemoryError):
                    raise
                except Exception as error:  # SymPy fails in many ways
                    failed[key] = f"SymPy fails: {type(error).__name__}: {error}"
            yield {"position": asked.position, "reason": failed[key]}
        if "python" in self._formats:
            yield {"python": self._python(failed)}
        for attempts in (QUICK, THOROUGH) if self._simplify else ():
            for asked in self._asked:
                if asked.expression is not None:
                    yield from self._shorter(asked, attempts)
            if "python" in self._formats:
                yield {"python": self._python(failed)}

    def _key(self, asked: Derivative) -> tuple[str, tuple[str, ...]]:
        """Which symbols the output is expanded over: all leaves, or one node inside of the graph."""
        inside = tuple(dict.fromkeys(name for name, _ in asked.by if name not in self._leaves))
        return asked.output, inside

    def _expanded(self, asked: Derivative) -> Forms:
        key = self._key(asked)
        if key not in self._forms:
            names = [*key[1], *self._leaves]
            symbols = {name: self._case.wrt[name] for name in names}
            self._forms[key] = Forms(self._outputs[asked.output], symbols, self._budget)
        return self._forms[key]

    def _first(self, asked: Derivative) -> dict[str, Any]:
        forms = self._expanded(asked)
        by = [forms.symbols[name][index] for name, index in asked.by]
        expression = forms.derivative(asked.entry, by)
        size = int(forms.m.sympy.count_ops(expression))
        if size > LARGEST:
            raise CannotJudge(f"too large to be written: {size:,} operations, and at most {LARGEST:,} are")
        return self._answer(asked, forms, expression)

    def _shorter(self, asked: Derivative, attempts: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
        """The answer again, if there is a shorter form; out of time the one that is there stays."""
        forms = self._expanded(asked)
        best = forms.shorter(asked.expression, attempts)
        if best != asked.expression:
            yield self._answer(asked, forms, best)

    def _answer(self, asked: Derivative, forms: Forms, expression: Any) -> dict[str, Any]:
        from . import notations

        asked.expression = expression
        shown = notations.with_decimals(forms.shown(expression))
        writers = {
            "text": notations.text,
            "unicode": lambda form: notations.drawing(form, ascii_only=self._ascii),
            "latex": notations.latex,
        }
        by = [forms.symbols[name][index] for name, index in asked.by]
        written = {name: writer(shown) for name, writer in writers.items() if name in self._formats}
        return {
            "position": asked.position,
            "written": written,
            "kinks": [
                {"where": notations.text(relation), "op": op, "takes": takes, "here": here}
                for relation, op, takes, here in forms.kinks(by)
            ],
            "conditions": [notations.text(condition) for condition in forms.conditions()],
            **_judged(asked, forms, expression),
        }

    def _python(self, failed: Mapping[tuple[str, tuple[str, ...]], str]) -> str:
        """A function for each output and each leaf, or pair of leaves, that it is differentiated by."""
        from .functions import Functions, function_name

        functions = Functions([*self._leaves, *self._inside()])
        groups: dict[tuple[str, tuple[str, ...]], list[Derivative]] = {}
        for asked in self._asked:
            groups.setdefault((asked.output, tuple(name for name, _ in asked.by)), []).append(asked)
        for (output, by), members in groups.items():
            name = function_name(output, by)
            if any(asked.expression is None for asked in members):
                functions.leave_out(name, failed.get(self._key(members[0]), "no closed form"))
                continue
            shape = (*self._outputs[output].shape, *(size for leaf in by for size in self._case.wrt[leaf].shape))
            entries = np.empty(shape, dtype=object)
            for asked in members:
                forms = self._expanded(asked)
                place = (*asked.entry, *(i for _, index in asked.by for i in index))
                entries[place] = _for_python(forms, asked.expression)
            if any(entry is None for entry in entries.flat):  # pairs come once: the rest is symmetric
                continue
            functions.add(name, entries, _sentence(output, by))
        return functions.text()

    def _inside(self) -> list[str]:
        """The nodes inside of the graph that are differentiated by."""
        return list(dict.fromkeys(name for asked in self._asked for name, _ in asked.by if name not in self._leaves))


def _for_python(forms: Forms, expression: Any) -> Any:
    from .notations import with_decimals

    return with_decimals(forms.shown(expression))


def _sentence(output: str, by: Sequence[str]) -> str:
    return f"The derivative of {output} by {' and '.join(by)}."


def _derivative(asked: Mapping[str, Any]) -> Derivative:
    by = [(name, tuple(index)) for name, index in asked["by"]]
    number, scale = float(asked["number"]), float(asked["scale"])
    return Derivative(asked["position"], asked["output"], tuple(asked["entry"]), by, number, scale, asked["dtype"])


def _judged(asked: Derivative, forms: Forms, expression: Any) -> dict[str, Any]:
    """What the form says of agrad's number at the point."""
    m = forms.m.precise
    try:
        true = forms.point.value(expression)
    except CannotJudge as reason:
        return {"verdict": CANNOT, "digits": None, "reason": str(reason)}
    if m.undefined_number(true):
        return {"verdict": CANNOT, "digits": None, "reason": "at the file's point the form has no value"}
    limit = np.finfo(asked.dtype)
    digits = right_digits(m, asked.number, true, m.number(asked.scale), limit)
    if digits < ENOUGH[asked.dtype]:
        # Where parts cancel floating point leaves their rounding: their size is the measure.
        size = forms.point.size_of_parts(expression)
        if m.finite(size) and abs(m.number(asked.number) - true) <= size * _ROUNDING * float(limit.eps):
            digits = right_digits(m, asked.number, true, size, limit, size)
    if digits >= ENOUGH[asked.dtype]:
        return {"verdict": AGREE, "digits": digits, "reason": None}
    says = f"at the file's point the form is {m.text(true, 10)}, the gradient {asked.number!r}"
    if forms.tied() and forms.is_between(asked.number, expression):
        return {"verdict": KINK, "digits": digits, "reason": f"{says}: the point lies on a kink"}
    if math.isnan(asked.number) or not m.finite(true):
        return {"verdict": CANNOT, "digits": digits, "reason": says}
    return {"verdict": DISAGREE, "digits": digits, "reason": says}


def handle(request: dict[str, Any], budget: Budget) -> Iterator[dict[str, Any]]:
    """The answers to a request; out of time, those that there are."""
    try:
        yield from Derivation(request, budget).answers()
    except BudgetSpent as spent:
        yield {"error": str(spent), "kind": "budget"}


if __name__ == "__main__":
    serve(handle, "sympy")
