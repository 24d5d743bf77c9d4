"""Digits that are lost: the first node where it happens, how many are left, and a form that keeps them, run.

Each node of the graph, forwards and backwards, is computed in float64 and with 50 digits. That is done only where the
referees have found few right digits in a gradient, or a quick test in float64 suspects a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from ..evaluation.evaluate import Closer, Evaluation
from ..gradient import gradients
from ..graph import LEAF, Node, ancestors, apply, leaf, make
from ..language import Formulas
from ..referees.case import CannotJudge, Check
from ..referees.digits import entry_label
from ..run.cpu import evaluate
from ..text.expressions import expression
from ..worker.budget import OPERATIONS, Budget, BudgetSpent
from ..worker.interrupt import interrupted
from .causes import Cause, cause_of
from .counting import MOST, right_digits
from .finding import LONGEST, Finding, text_of
from .forms import FORMS, Form
from .suspicion import FEW, Target, targets

SECONDS: Final = 2.0
_DIGITS: Final = 60
_DROP: Final = 3
"""So many digits must be lost at one node for it to be named."""
_BETTER: Final = 3
"""So many digits must a form win for it to be told."""
_TRIED: Final = 20
REMEDIES: Final = {
    "underflow": "work with its logarithm",
    "overflow": "work with its logarithm, or scale the numbers down",
}
"""What to do about a cause where no form is known."""


class Advice(NamedTuple):
    """A form that keeps digits.

    Attributes:
        form: the form.
        digits: how many the number has with it.
        text: how it is written here; empty where that is long.
        instead: what the text has in its place.
    """

    form: Form
    digits: int
    text: str
    instead: str


def findings(formulas: Formulas, evaluation: Evaluation, check: Check | None) -> Iterator[Finding]:
    """The number with the fewest right digits among the gradients, and one among the values, where they are few."""
    closer = evaluation.closer
    if closer is None or any(node.dtype.kind == "c" for node in closer.watching):
        return
    told: set[Node] = set()
    made: list[Finding] = []
    for target in targets(evaluation, check):
        try:
            loss = _Loss(formulas, evaluation, closer, target)
            with interrupted(loss.budget):
                found = loss.finding(told)
        except (CannotJudge, BudgetSpent):
            continue
        except Exception as failure:  # what a formula cannot do leaves no advice, and is said
            message = f"the digits of {target.label} cannot be counted: {type(failure).__name__}: {failure}"
            found = Finding("digits", message, "", None, formulas.source, (), {"entry": target.label, "rewrite": None})
        if found is not None:
            made.append(found)
    yield from _joined(made)


def _joined(made: Sequence[Finding]) -> list[Finding]:
    """The findings, those with the same advice as one."""
    kept: list[Finding] = []
    for finding in made:
        rewrite = finding.facts["rewrite"]
        place = next((i for i, other in enumerate(kept) if rewrite and other.facts["rewrite"] == rewrite), None)
        if place is None:
            kept.append(finding)
            continue
        other = kept[place]
        left = f"{finding.facts['entry']} has {finding.facts['digits']} of them"
        hint = f"{other.hint}, {finding.facts['entry']} {finding.facts['rewrite_digits']}"
        kept[place] = replace(other, notes=(*other.notes, left), hint=hint)
    return kept


class _Loss:
    """The way of one number through the graph, in float64 and exactly."""

    def __init__(self, formulas: Formulas, evaluation: Evaluation, closer: Closer, target: Target) -> None:
        from ..referees.arithmetic import PreciseArithmetic

        self.formulas = formulas
        self.evaluation = evaluation
        self.closer = closer
        self.target = target
        self.m: Any = PreciseArithmetic(_DIGITS)
        self.budget = Budget(OPERATIONS, SECONDS)
        self.flowing = self._flowing(closer.outputs)

    def _flowing(self, outputs: Sequence[Node]) -> Mapping[Node, Node]:
        if self.target.node is None:
            return {}
        weights = [
            leaf(np.asarray(weight, output.dtype)[()])
            for weight, output in zip(self.evaluation.cotangents, outputs, strict=True)
        ]
        return gradients(outputs, weights)

    def _wanted(self, outputs: Sequence[Node], flowing: Mapping[Node, Node]) -> Node | None:
        if self.target.node is not None:
            return flowing.get(self.target.node)
        return outputs[self.target.output or 0]

    def finding(self, told: set[Node]) -> Finding | None:
        """What is to be said of the number; None where it has its digits, or no one node loses them.

        Args:
            told: nodes of which it has been said already; the one that is named is added.
        """
        from ..referees.forward import evaluate_graph

        wanted = self._wanted(self.closer.outputs, self.flowing)
        if wanted is None:
            return None
        order = ancestors([wanted])
        exact = evaluate_graph(self.m, order, {}, self.budget)
        found = evaluate([node for node in order if node.op.outputs == 1])
        index, left = self._worst(found[wanted], exact[wanted], wanted)
        if left >= FEW[wanted.dtype.name]:
            return None
        place = self._first_loss(order, found, exact, MOST[wanted.dtype.name] - left)
        if place is None or self._spoken(place[0]) in told:
            return None
        node, entry = place
        told.add(self._spoken(node))
        cause = cause_of(node, found, entry)
        advice = self._advice(exact[wanted], index, left)
        return self._finding(index, left, node, cause, advice, shown=self._is_shown(exact[wanted], wanted, index))

    def _is_shown(self, exact: Any, node: Node, index: tuple[int, ...]) -> bool:
        """Whether the number is shown as float64 has it, and was not put right by a closer look."""
        if self.target.output is None:
            return True
        shown = self.evaluation.values[list(self.evaluation.outputs.values())[self.target.output]]
        return bool(right_digits(self.m, shown, exact, node)[index] < FEW[node.dtype.name])

    def _worst(self, got: Any, exact: Any, node: Node) -> tuple[tuple[int, ...], int]:
        """The entry of the number that is looked at, or the worst of a value, and its right digits."""
        digits = right_digits(self.m, got, exact, node)
        index = self.target.index
        if self.target.node is None and digits.shape:
            index = tuple(int(i) for i in np.unravel_index(int(np.argmin(digits)), digits.shape))
        return index, int(digits[index])

    def _first_loss(
        self, order: Sequence[Node], found: Mapping[Node, Any], exact: Mapping[Node, Any], lost: int
    ) -> tuple[Node, tuple[int, ...]] | None:
        """The first node, and its entry, that has far fewer right digits than what it is computed from."""
        least = max(_DROP, lost // 2)
        digits: dict[Node, Any] = {}
        for node in order:
            if node.op.outputs > 1:
                continue
            digits[node] = own = right_digits(self.m, found[node], exact[node], node)
            if node.op is LEAF or not own.size or node.dtype.kind != "f":
                continue
            given = [digits[arg] for arg in node.args if arg in digits and digits[arg].size]
            if node.op.elementwise:
                before = np.minimum.reduce([np.broadcast_to(arg, own.shape) for arg in given])
            else:
                before = np.full(own.shape, min((float(np.min(arg)) for arg in given), default=16.0))
            drop = before - own
            if np.max(drop) >= least:
                return node, tuple(int(i) for i in np.unravel_index(int(np.argmax(drop)), own.shape))
        return None

    def _spoken(self, node: Node) -> Node:
        """The node of the text that a node belongs to: itself, or the one whose gradient it is a part of."""
        if node.span is not None:
            return node
        shown = self.closer.shown.get(node)
        if shown is not None:
            return shown
        later = [(gradient.serial, of) for of, gradient in self.flowing.items() if gradient.serial >= node.serial]
        forward = node in self.closer.found
        return node if forward or not later else min(later, key=lambda pair: pair[0])[1]

    def _advice(self, exact: Any, index: tuple[int, ...], left: int) -> Advice | None:
        """The form with which the number has the most digits, if they are far more."""
        fitting = (
            (node, form, made)
            for node in ancestors(self.closer.outputs)
            if node.args and node.dtype.kind == "f"
            for form in FORMS
            if (made := form.find(node)) is not None
        )
        best: Advice | None = None
        for (node, form, made), _ in zip(fitting, range(_TRIED), strict=False):
            digits = self._digits_with(node, made, exact, index)
            if digits >= left + _BETTER and (best is None or digits > best.digits):
                best = Advice(form, digits, self._written(made), text_of(self.formulas, self._spoken(node)))
        return best

    def _digits_with(self, node: Node, made: Node, exact: Any, index: tuple[int, ...]) -> int:
        """The right digits of the number where a node is computed in another form."""
        if made.shape != node.shape:
            made = make.expand(made, node.shape)
        if made.dtype != node.dtype:
            made = make.to(made, node.dtype)
        outputs = _replaced(self.closer.outputs, node, made)
        wanted = self._wanted(outputs, self._flowing(outputs))
        if wanted is None:
            return 0
        return int(right_digits(self.m, evaluate([wanted])[wanted], exact, wanted)[index])

    def _written(self, node: Node) -> str:
        names = {binding.node: binding.name for binding in self.formulas.bindings}
        text = expression(node, {n: name for n, name in names.items() if n is not node})
        return text if len(text) <= LONGEST else ""

    def _finding(
        self, index: tuple[int, ...], left: int, node: Node, cause: Cause, advice: Advice | None, *, shown: bool
    ) -> Finding:
        spoken = self._spoken(node)
        label = entry_label(self.target.label, index) if self.target.node is None else self.target.label
        what = text_of(self.formulas, spoken)
        place = what if spoken is node or node in self.closer.found else f"the gradient of {what}"
        most = MOST[node.dtype.name]
        has = f"{label} has {left}" if shown else f"{label} is right here; {node.dtype.name} alone has {left}"
        message = f"{has} of {most} right digits: the others are lost in {place}"
        hint = REMEDIES.get(cause.name, "")
        if advice is not None:
            hint = (
                f"write {advice.text or advice.form.new} for {advice.instead}: {label} then has {advice.digits} digits"
            )
        facts = {
            "entry": label,
            "digits": left,
            "cause": cause.name,
            "operation": cause.operation or None,
            "rewrite": (advice.text or advice.form.new) if advice is not None else None,
            "rewrite_digits": advice.digits if advice is not None else None,
        }
        return Finding("digits", message, hint, spoken.span, self.formulas.source, (cause.words,), facts)


def _replaced(outputs: Sequence[Node], old: Node, made: Node) -> list[Node]:
    """The outputs with one node computed in another form."""
    new: dict[Node, Node] = {old: made}
    for node in ancestors(outputs):
        if node is not old and any(arg in new for arg in node.args):
            args = [new.get(arg, arg) for arg in node.args]
            new[node] = apply(node.op, args, node.attrs, grad_fn=node.grad_fn, like=node)
    return [new.get(output, output) for output in outputs]
