"""The graph at one point in exact numbers of one precision, and its value a small shift away from the point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node
from ..run.cpu import evaluate
from ..worker.budget import Budget
from .arithmetic import PreciseArithmetic
from .case import Case
from .forward import Values, array_of, entry_of, evaluate_graph, evaluate_node, weighted_sum
from .roundings import Roundings
from .waves import QUOTIENTS, has_waves, travel
from .zeros import beside_cuts, without_traces

Direction = Mapping[Node, Mapping[int, Any]]
"""For some nodes, how far each entry (by its flat position) moves."""

_STOPPED: Final = frozenset({"xlogy", "xlog1py", "entr", "pow"})
"""Ops that are zero or one at a zero where their logarithm is infinite."""
_SIGNED_ZEROS: Final[Mapping[str, tuple[int, ...]]] = {
    "copysign": (1,),
    "signbit": (0,),
    "atan2": (0, 1),
    "div": (1,),
    "reciprocal": (0,),
}
"""The arguments of ops whose value hangs on the sign of a zero, which exact numbers do not have."""


class Point:
    """The values of a graph at the point of a case.

    Args:
        case: the case.
        nodes: all nodes of the case, arguments before results.
        budget: what may be spent.
        digits: decimal digits to work with.
        rounding: where given, a seed: each result is then off by one rounding of its dtype, up or down at random but
            the same way at every shift, and so are the arguments of what adds them up. It shows what floating point
            can know of the gradient at all. `AS_STORED`: each result is off by what its dtype rounds there.
        below: take zeros as negative ones, where their sign counts.
    """

    def __init__(
        self,
        case: Case,
        nodes: Sequence[Node],
        budget: Budget,
        digits: int,
        rounding: int | None = None,
        *,
        below: bool = False,
    ) -> None:
        self.m = PreciseArithmetic(digits)
        self.case = case
        self.nodes = nodes
        self._budget = budget
        self._below = -(self.m.number(10) ** -(4 * digits)) if below else None
        order = {node: position for position, node in enumerate(nodes)}
        self._roundings = Roundings(self.m, order, rounding) if rounding is not None else None
        self._affected: dict[tuple[Node, ...], list[Node]] = {}
        self._floats: dict[Node, Any] = {}
        self._last: tuple[Direction, Any, Values] | None = None
        self.values: Values = {}
        for node in nodes:
            value = self._whole(node, self.values)
            self.values[node] = (
                self._roundings.first(node, value, [self.values[arg] for arg in node.args])
                if self._roundings is not None
                else value
            )
        self.total = self._total(self.values)

    @cached_property
    def magnitude(self) -> int:
        """The decimal exponent of the largest finite number in the graph, whole quotients among them, at least 0."""
        largest = self.m.number(1)
        for node in self.nodes:
            if node.dtype.kind in "fc" and node.op.outputs == 1:
                for entry in self.values[node].flat:
                    size = abs(entry)
                    if size > largest and self.m.finite(size):
                        largest = size
            if node.op.name in QUOTIENTS:
                pairs = np.broadcast(*[self.values[arg] for arg in node.args])
                sizes = [abs(x / y) for x, y in pairs if y and self.m.finite(x) and self.m.finite(y)]
                largest = max([largest, *sizes])
        return max(0, int(self.m.exponent(largest)))

    @cached_property
    def waves(self) -> frozenset[Node]:
        """The nodes that repeat, leap or have poles again and again."""
        return frozenset(node for node in self.nodes if has_waves(node))

    @cached_property
    def signed_zero(self) -> Node | None:
        """The first node whose value hangs on the sign of a zero."""
        for node in self.nodes:
            for place in _SIGNED_ZEROS.get(node.op.name, ()):
                if place < len(node.args) and any(entry == 0 for entry in self.values[node.args[place]].flat):
                    return node
        return None

    @cached_property
    def has_end(self) -> bool:
        """Whether something on the way is not finite, or would be so were it not for a zero beside it."""
        for node in self.nodes:
            if node.op.outputs > 1 or node.dtype.kind not in "fc":
                continue
            if not all(self.m.finite(entry) for entry in self.values[node].flat):
                return True
            if node.op.name in _STOPPED and any(entry == 0 for entry in self.values[node.args[0]].flat):
                return True
        return False

    @cached_property
    def overflows(self) -> Node | None:
        """The first node whose value is outside of the range of its dtype, so that floating point cannot hold it."""
        for node in self.nodes:
            if node.dtype.kind in "fc" and node.op is not LEAF and node.op.outputs == 1:
                limit = float(np.finfo(node.dtype).max)
                if any(self.m.finite(entry) and abs(entry) > limit for entry in self.values[node].flat):
                    return node
        return None

    @cached_property
    def underflows(self) -> Node | None:
        """The first node with a value that is too small for all digits of its dtype."""
        for node in self.nodes:
            if node.dtype.kind in "fc" and node.op.outputs == 1:
                limit = float(np.finfo(node.dtype).tiny)
                if any(0 < abs(entry) < limit for entry in self.values[node].flat):
                    return node
        return None

    def at(self, direction: Direction, step: Any) -> Any:
        """The number that is differentiated, a step away from the point in a direction."""
        return self._total_of(self._changed(direction, step))

    def passed_over(self, direction: Direction, step: Any) -> tuple[Any, Any]:
        """What a step may pass over unseen.

        Returns:
            How many waves, leaps or poles, by the farthest way of an argument of what has them; and the largest move of
            a number on the way beside its own size, which is large where it may change its sign.
        """
        changed = self._changed(direction, step)
        waves, beside = self.m.number(0), self.m.number(0)
        for node in changed:
            if node in self.waves:
                before = [self.values[arg] for arg in node.args]
                after = [changed.get(arg, value) for arg, value in zip(node.args, before, strict=True)]
                waves = max(waves, travel(self.m, node, before, after))
            if node.dtype.kind in "fc" and node.op.outputs == 1:
                beside = max(beside, self._moved(self.values[node], changed[node]))
        return waves, beside

    def _moved(self, before: Any, after: Any) -> Any:
        """The largest move of an entry beside its own size; those at zero have none."""
        pairs = zip(before.flat, after.flat, strict=True)
        moves = [abs(now - then) / abs(then) for then, now in pairs if now is not then and then and self.m.finite(then)]
        return max((move for move in moves if self.m.finite(move)), default=self.m.number(0))

    def _total_of(self, changed: Values) -> Any:
        """The number that is differentiated, with what a step changes."""
        if not any(output in changed for output in self.case.outputs):
            return self.total
        return self._total({**{output: self.values[output] for output in self.case.outputs}, **changed})

    def _changed(self, direction: Direction, step: Any) -> Values:
        """The values that a step changes; those of the last one are kept, as it is mostly asked for again."""
        if self._last is not None and self._last[0] is direction and self._last[1] == step:
            return self._last[2]
        changed: Values = {}
        for node, moves in direction.items():
            entries = self.values[node].ravel().tolist()
            for position, move in moves.items():
                entries[position] = entries[position] + move * step
            changed[node] = array_of(node.shape, entries)
        self._follow(changed, self.nodes_after(tuple(direction)))
        self._last = direction, step, changed
        return changed

    def _follow(self, changed: Values, nodes: Sequence[Node]) -> None:
        """Add what the changes lead to, through nodes in order."""
        for node in nodes:
            if any(arg in changed for arg in node.args):
                value = self._updated(node, changed)
                if value is not None:
                    changed[node] = value

    def at_single_uses(self, direction: Direction, step: Any, most: int) -> list[list[Any]]:
        """For each node that is used more than once, the number where only one of its uses sees what a step changes.

        For each complex node, the number where only its real or only its imaginary part changes.

        Args:
            direction: where to.
            step: how far.
            most: how many uses are looked at.
        """
        changed = self._changed(direction, step)
        users: dict[Node, list[tuple[Node, int]]] = {}
        for node in self.nodes_after(tuple(direction)):
            for place, arg in enumerate(node.args):
                if arg in changed:
                    users.setdefault(arg, []).append((node, place))
        found = []
        for node, uses in users.items():
            most -= len(uses)
            if len(uses) > 1 and most >= 0:
                found.append([self._at_use(user, place, changed[node]) for user, place in uses])
            if node.dtype.kind == "c" and most >= 0:
                most -= len(uses)
                found.append([self._at_part(node, changed[node], turn) for turn in (1, 1j)])
        return found

    def _at_part(self, node: Node, value: Any, turn: complex) -> Any:
        entries = []
        for now, before in zip(value.flat, self.values[node].flat, strict=True):
            move = now - before
            entries.append(before + self.m.number(turn) * (move.imag if turn == 1j else move.real))
        changed = {node: array_of(node.shape, entries)}
        self._follow(changed, self.nodes_after((node,)))
        return self._total_of(changed)

    def _at_use(self, user: Node, place: int, value: Any) -> Any:
        args = [self.values[arg] for arg in user.args]
        args[place] = value
        changed: Values = {user: evaluate_node(self.m, user, args, self._budget)}
        self._follow(changed, self.nodes_after((user,)))
        return self._total_of(changed)

    def _total(self, values: Values) -> Any:
        return weighted_sum(self.m, [values[output] for output in self.case.outputs], self.case.cotangents)

    def nodes_after(self, starts: tuple[Node, ...]) -> list[Node]:
        """The nodes that depend on some others, without these, in order; what is detached keeps its value."""
        known = self._affected.get(starts)
        if known is None:
            reached = set(starts)
            known = []
            for node in self.nodes:
                if node.op.name != "detach" and node not in reached and any(arg in reached for arg in node.args):
                    reached.add(node)
                    known.append(node)
            self._affected[starts] = known
        return known

    def _whole(self, node: Node, values: Values) -> Any:
        if node.op is LEAF:
            return evaluate_graph(self.m, [node], {}, self._budget)[node]
        args = self._signed(node, [values[arg] for arg in node.args])
        beside = beside_cuts(self.m, node, args, self._float)
        if beside is not None:
            return without_traces(self.m, evaluate_node(self.m, node, beside, self._budget))
        return self._computed(node, args)

    def _computed(self, node: Node, args: list[Any]) -> Any:
        """What an op makes of its arguments, with what it loses inside."""
        if self._roundings is not None:
            args = self._roundings.of_arguments(node, args)
        return evaluate_node(self.m, node, args, self._budget)

    def _float(self, node: Node) -> Any:
        """The value of a node in floating point: it has the signs of zeros."""
        if node not in self._floats:
            self._floats[node] = evaluate([node])[node]
        return self._floats[node]

    def _signed(self, node: Node, args: list[Any]) -> list[Any]:
        """The arguments of an op, with zeros that count as negative."""
        places = _SIGNED_ZEROS.get(node.op.name, ()) if self._below is not None else ()
        for place in places:
            if place < len(args):
                entries = [self._below if entry == 0 else entry for entry in args[place].flat]
                args[place] = array_of(args[place].shape, entries)
        return args

    def _updated(self, node: Node, changed: Values) -> Any:
        """The new value of a node, or None where nothing in it changed; elementwise, only what changed is computed."""
        old = [self.values[arg] for arg in node.args]
        new = self._signed(node, [changed.get(arg, value) for arg, value in zip(node.args, old, strict=True)])
        old = self._signed(node, old)
        if not node.op.elementwise:
            value = self._computed(node, new)
            if self._roundings is not None and self._roundings.drifts(node):
                value = value + self._roundings.drift(node, new[0] - old[0], self.values)
            return self._rounded(node, value)
        if beside_cuts(self.m, node, new, self._float) is not None:
            return self._rounded(node, self._whole(node, {**self.values, **changed}))
        before = [np.broadcast_to(value, node.shape).ravel().tolist() for value in old]
        after = [np.broadcast_to(value, node.shape).ravel().tolist() for value in new]
        entries = self.values[node].ravel().tolist()
        touched = False
        for position, (now, then) in enumerate(zip(zip(*after, strict=True), zip(*before, strict=True), strict=True)):
            if any(a is not b for a, b in zip(now, then, strict=True)):
                entries[position] = entry_of(self.m, node, now, self._budget)
                if self._roundings is not None:
                    entries[position] = self._roundings.of_entry(node, position, entries[position])
                touched = True
        return array_of(node.shape, entries) if touched else None

    def _rounded(self, node: Node, value: Any) -> Any:
        return value if self._roundings is None else self._roundings.of_result(node, value)
