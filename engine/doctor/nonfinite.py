"""Numbers that are not finite: where the first one is made, from what, and what it is in the limit.

Also for numbers that agrad has right although the plain chain rule has none: what it would have given, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..graph import Node
from ..language import Formulas
from ..referees.case import Case
from ..referees.digits import entry_label
from . import repairs
from .branches import remedy
from .chain import Chain, Edge, first_broken, is_finite
from .conventions import Elsewhere, elsewhere
from .finding import Finding, Kind, Number, bracketed, number_text, scalar, text_of
from .operation import Made, first_made, made_at, reason
from .origin import Origin, Step, origin, stopping_factor
from .sides import Sides, slopes_beside, values_beside


def findings(formulas: Formulas, evaluation: Evaluation, chain: Chain, *, certified: bool = True) -> Iterator[Finding]:
    """The first value that is not finite, the first such gradient, and the first that is right here only.

    Args:
        formulas, evaluation, chain: the run.
        certified: whether no referee disagrees with the gradients, so that they may be called right.
    """
    doctor = _Doctor(formulas, evaluation, chain, certified)
    outputs = set(evaluation.outputs.values())
    named = {binding.node for binding in formulas.bindings}
    broken = [n for n in chain.nodes if n in named and n.args and not is_finite(evaluation.values[n])]
    if broken:
        made = first_made(chain.nodes, chain.values)
        if made is not None and (made.node.args or any(node in outputs for node in broken)):
            yield doctor.value(made)
    yield from [doctor.gradient(name) for name in doctor.broken_names()[:1]]
    yield from [doctor.repaired(name) for name in doctor.repaired_names()[:1]]


def worst_entry(formulas: Formulas, evaluation: Evaluation, chain: Chain) -> tuple[str, tuple[int, ...]] | None:
    """The entry whose way back is told: of a gradient that is not finite as it is shown, or by the plain chain rule."""
    doctor = _Doctor(formulas, evaluation, chain, certified=True)
    on_the_way = [name for name in doctor.broken_names() if evaluation.wrt[name] in chain.plain]
    broken = [name for name in on_the_way if not is_finite(chain.plain[evaluation.wrt[name]])]
    for name in [*broken, *doctor.repaired_names()]:
        return name, first_broken(chain.plain[evaluation.wrt[name]])
    return None


class Told(NamedTuple):
    """What happens where a gradient that is not finite begins.

    Attributes:
        notes: in words.
        hint: what to do about it.
        facts: as data.
    """

    notes: list[str]
    hint: str
    facts: dict[str, Any]


class _Doctor:
    """The sentences on one run."""

    def __init__(self, formulas: Formulas, evaluation: Evaluation, chain: Chain, certified: bool) -> None:
        self.formulas = formulas
        self.evaluation = evaluation
        self.chain = chain
        self.certified = certified
        self.subject = ", ".join(evaluation.outputs)

    def text(self, node: Node) -> str:
        """What the text calls a node."""
        if node.is_number:
            return repr(node.value)
        return node.name or text_of(self.formulas, node)

    def _own_text(self, node: Node) -> str:
        return text_of(self.formulas, node)

    def broken_names(self) -> list[str]:
        """The names whose gradient is not finite as it is shown."""
        wrt = self.evaluation.wrt
        used = [name for name in wrt if name not in self.evaluation.unused and wrt[name].dtype.kind in "fc"]
        return [name for name in used if not is_finite(self.evaluation.gradient(name))]

    def repaired_names(self) -> list[str]:
        """The names of which some entry is finite as it is shown, and is not by the plain chain rule."""
        return [name for name in self.evaluation.wrt if np.any(self._repaired_at(name))]

    def _repaired_at(self, name: str) -> Any:
        node = self.evaluation.wrt[name]
        if node not in self.chain.plain or node.dtype.kind != "f":
            return np.False_
        return np.isfinite(self.evaluation.gradient(name)) & ~np.isfinite(self.chain.plain[node])

    def value(self, made: Made) -> Finding:
        """On the first value that is not finite."""
        bad = any(not is_finite(self.evaluation.values[node]) for node in self.evaluation.outputs.values())
        sides = self._values_beside() if made.node.args and bad else None
        notes = [reason(made), f"{self.subject} tends to {sides.text}" if sides is not None else ""]
        facts = {
            "operation": made.text,
            "entry": entry_label(self.text(made.node), made.place),
            "factors": list(made.entries),
            **_sides_facts(sides),
        }
        is_output = made.node in self.evaluation.outputs.values()
        hint = repairs.of_value(made, sides.alike if sides is not None and is_output else None, self.text)
        return self._finding("value", f"the first value that is not finite: {made.text}", notes, hint, made.node, facts)

    def gradient(self, name: str) -> Finding:
        """On the first gradient that is not finite."""
        node = self.evaluation.wrt[name]
        shown = np.asarray(self.evaluation.gradient(name))
        place = first_broken(shown)
        entry = entry_label(name, place)
        if node not in self.chain.plain or is_finite(self.chain.plain[node]):
            message = f"the gradient by {entry} is {number_text(shown[place])}, although every factor is finite"
            return self._finding("gradient", message, [], "", node, {"entry": entry})
        found = origin(self.chain, node, place)
        told = self._at(found)
        sides = slopes_beside(self._case(name), node, _flat(node, place)) if node.dtype.kind == "f" else None
        notes = [*told.notes, f"the slope by {entry} is {sides.text}" if sides is not None else ""]
        message = f"the first gradient that is not finite, on the way back to {entry}: {told.facts['operation']}"
        where = found.first.edge.consumer if found.first is not None else found.node
        facts = {"entry": entry, **told.facts, **_sides_facts(sides)}
        return self._finding("gradient", message, notes, told.hint, where, facts)

    def repaired(self, name: str) -> Finding:
        """On the first gradient that is right here and is not by the plain chain rule."""
        node = self.evaluation.wrt[name]
        place = first_broken(np.where(self._repaired_at(name), np.nan, 0.0))
        entry = entry_label(name, place)
        shown = float(np.asarray(self.evaluation.gradient(name))[place])
        plain = float(np.asarray(self.chain.plain[node])[place])
        found = origin(self.chain, node, place)
        told = self._at(found)
        stands, why = self._why_right(name, place, shown, found)
        hint = remedy(self.chain, found, self.text) if stopping_factor(found) == 0 else ""
        message = f"the gradient by {entry}: the plain chain rule gives {number_text(plain)}, {stands}"
        where = found.first.edge.consumer if found.first is not None else found.node
        facts = {"entry": entry, "plain": plain, "shown": shown, **told.facts}
        return self._finding("repaired", message, [*told.notes, why], hint, where, facts)

    def _why_right(self, name: str, place: tuple[int, ...], shown: float, found: Origin) -> tuple[str, str]:
        """That agrad's own number stands, and why."""
        node = self.evaluation.wrt[name]
        number = number_text(shown)
        if any(kink.name == name and kink.place == place for kink in self.evaluation.kinks):
            return f"{number} is chosen", "the function has a kink here"
        bent = any("not differentiable" in warning for warning in self.evaluation.warnings)
        stands = f"{number} is right" if self.certified and not bent else f"{number} is given"
        guarded = float(np.asarray(self.chain.guarded[node])[place])
        if np.isfinite(guarded) and (guarded == shown or abs(guarded - shown) <= 1e-9 * abs(shown)):
            step = found.turn or found.first
            stops = stopping_factor(found)
            if step is None or stops is None:
                return stands, "a factor that is exactly 0 stops the product"
            if stops == 1:
                return stands, f"nothing flows through {self._own_text(step.edge.consumer)}, which is flat here"
            return stands, "nothing flows where the gradient that comes in is 0"
        rules = (self.evaluation.rules or self.evaluation.grads).get(node)
        if rules is not None and np.isfinite(np.asarray(rules)[place]):
            return stands, "it is computed in another form"
        return stands, "it is the slope on both sides, from 50 digits"

    def _at(self, found: Origin) -> Told:
        """What happens at an origin."""
        step = found.first
        if step is None:
            parts = [np.asarray(edge.passed).ravel()[:1] for edge in self.chain.edges(found.node)]
            factors = [scalar(part[0]) for part in parts if part.size]
            note = f"what flows into {self.text(found.node)} has no finite sum"
            operation = " + ".join(bracketed(factor) for factor in factors)
            return Told([note], "scale the numbers down", {"operation": operation, "factors": factors})
        consumer = step.edge.consumer
        own = self._own_text(consumer)
        facts: dict[str, Any] = {"operation": step.text, "factors": list(step.factors or ())}
        at = self._argument_at(step)
        if step.factors is None:
            made = self._inside(step.edge)
            if made is not None:
                facts = {"operation": made.text, "factors": list(made.entries)}
            notes = [f"it comes out of the rule of {own}"]
        else:
            place = f" at {number_text(at)}" if at is not None else ""
            notes = [f"{own} passes on {step.text}: the gradient that comes in times its slope{place}"]
            slope = step.factors[1]
            made = self._inside(step.edge, undefined=True) if slope != slope else None
            if made is not None and made.entries and made.place in ((), step.index):
                notes.append(f"in that slope: {made.text}")
        if found.turn is not None:
            notes.append(f"{self._own_text(found.turn.edge.consumer)} makes {found.turn.text} of it")
        others = self._elsewhere(step)
        if others is not None:
            notes.append(f"elsewhere, {others.text}")
            facts["others"] = others.as_json()
        return Told(notes, repairs.of_gradient(consumer, at, self.text), facts)

    def _elsewhere(self, step: Step) -> Elsewhere | None:
        """What others choose at the entry where a node stands, or a `where` over it."""
        node = step.edge.consumer
        around = [node, *[each for each in self.chain.consumers.get(node, ()) if each.op.name == "where"]]
        told = [self._elsewhere_at(each, step.index) for each in around]
        return next((others for others in reversed(told) if others is not None), None)

    def _elsewhere_at(self, node: Node, index: tuple[int, ...]) -> Elsewhere | None:
        if any(arg not in self.chain.values for arg in node.args):
            return None
        values = [self.chain.values[arg] for arg in node.args]
        if node.op.elementwise and len(index) == node.ndim:
            values = [np.broadcast_to(value, node.shape)[index] for value in values]
        return elsewhere(node, values)

    def _argument_at(self, step: Step) -> Number | None:
        """The number that an operation on one number stands at."""
        consumer = step.edge.consumer
        varying = [arg for arg in consumer.args if not arg.is_number]
        if not consumer.op.elementwise or len(varying) != 1 or varying[0] not in self.chain.values:
            return None
        return scalar(np.broadcast_to(self.chain.values[varying[0]], consumer.shape)[step.index])

    def _inside(self, edge: Edge, *, undefined: bool = False) -> Made | None:
        """The first operation inside of a rule that makes what is not finite, or NaN."""
        nodes, values = self.chain.inside(edge)
        fresh = (made_at(node, [values.get(arg) for arg in node.args], values[node]) for node in nodes)
        return next((made for made in fresh if made and (made.result != made.result or not undefined)), None)

    def _values_beside(self) -> Sides | None:
        """What the outputs tend to beside the point, by the only number that moves."""
        wrt = [node for name, node in self.evaluation.wrt.items() if name not in self.evaluation.unused]
        if len(wrt) != 1 or wrt[0].size != 1 or wrt[0].dtype.kind != "f":
            return None
        return values_beside(self._case(next(iter(self.evaluation.wrt))), wrt[0], 0)

    def _case(self, name: str) -> Case:
        wrt = {name: self.evaluation.wrt[name]}
        return Case(list(self.evaluation.outputs.values()), list(self.evaluation.cotangents), wrt, {})

    def _finding(
        self, kind: Kind, message: str, notes: list[str], hint: str, node: Node, facts: dict[str, Any]
    ) -> Finding:
        told = tuple(note for note in notes if note)
        return Finding(kind, message, hint, node.span, self.formulas.source, told, facts)


def _sides_facts(sides: Sides | None) -> dict[str, Any]:
    return {} if sides is None else {"left": sides.left, "right": sides.right}


def _flat(node: Node, index: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(index, node.shape)) if index else 0
