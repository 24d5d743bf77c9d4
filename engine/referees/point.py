"""The graph at one point in exact numbers of one precision, and its value a small shift away from the point."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node
from ..worker.budget import Budget
from .arithmetic import PreciseArithmetic
from .case import Case
from .forward import Values, array_of, entry_of, evaluate_graph, evaluate_node, weighted_sum

Direction = Mapping[Node, Mapping[int, Any]]
"""For some nodes, how far each entry (by its flat position) moves."""

ROUNDING: Final = {"float32": 2.0**-24, "complex64": 2.0**-24}
_MOVES_ONLY: Final = frozenset({"shape", "index", "creation"})
_ADDS: Final = ("add", "reduce", "accumulate", "put")
"""Words in the names of ops of those families that compute nevertheless."""
_WHOLE_QUOTIENTS: Final = frozenset({"remainder", "fmod", "div_floor", "div_trunc", "floor_divide"})
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
            can know of the gradient at all.
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
        self._rounding = rounding
        self._below = -(self.m.number(10) ** -(4 * digits)) if below else None
        self._order = {node: position for position, node in enumerate(nodes)}
        self._factors: dict[tuple[Node, str], list[Any]] = {}
        self._affected: dict[tuple[Node, ...], list[Node]] = {}
        if rounding is None and not below:
            self.values: Values = evaluate_graph(self.m, nodes, {}, budget)
        else:
            self.values = {}
            for node in nodes:
                self.values[node] = self._rounded(node, self._whole(node, self.values))
        self.total = self._total(self.values)

    @cached_property
    def magnitude(self) -> int:
        """The decimal exponent of the largest finite number in the graph, at least 0."""
        largest = self.m.number(1)
        for node in self.nodes:
            if node.dtype.kind in "fc" and node.op.outputs == 1:
                for entry in self.values[node].flat:
                    size = abs(entry)
                    if size > largest and self.m.finite(size):
                        largest = size
        return max(int(self.m.exponent(largest)), self.quotient)

    @cached_property
    def quotient(self) -> int:
        """The decimal exponent of the largest quotient whose whole part an op takes: how many periods there are."""
        largest = self.m.number(1)
        for node in self.nodes:
            if node.op.name in _WHOLE_QUOTIENTS:
                pairs = np.broadcast(*[self.values[arg] for arg in node.args])
                sizes = [abs(x / y) for x, y in pairs if y and self.m.finite(x) and self.m.finite(y)]
                largest = max([largest, *sizes])
        return int(self.m.exponent(largest))

    @cached_property
    def signed_zero(self) -> Node | None:
        """The first node whose value hangs on the sign of a zero."""
        for node in self.nodes:
            for place in _SIGNED_ZEROS.get(node.op.name, ()):
                if place < len(node.args) and any(entry == 0 for entry in self.values[node.args[place]].flat):
                    return node
        return None

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
        changed = self._changed(direction, step)
        if not any(output in changed for output in self.case.outputs):
            return self.total
        return self._total({**{output: self.values[output] for output in self.case.outputs}, **changed})

    def _changed(self, direction: Direction, step: Any) -> Values:
        """The values that a step changes."""
        changed: Values = {}
        for node, moves in direction.items():
            entries = self.values[node].ravel().tolist()
            for position, move in moves.items():
                entries[position] = entries[position] + move * step
            changed[node] = array_of(node.shape, entries)
        self._follow(changed, self.nodes_after(tuple(direction)))
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
        return found

    def _at_use(self, user: Node, place: int, value: Any) -> Any:
        args = [self.values[arg] for arg in user.args]
        args[place] = value
        changed: Values = {user: evaluate_node(self.m, user, args, self._budget)}
        self._follow(changed, self.nodes_after((user,)))
        return self._total({**{output: self.values[output] for output in self.case.outputs}, **changed})

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
        return evaluate_node(self.m, node, self._jostled(node, args), self._budget)

    def _signed(self, node: Node, args: list[Any]) -> list[Any]:
        """The arguments of an op, with zeros that count as negative."""
        places = _SIGNED_ZEROS.get(node.op.name, ()) if self._below is not None else ()
        for place in places:
            if place < len(args):
                entries = [self._below if entry == 0 else entry for entry in args[place].flat]
                args[place] = array_of(args[place].shape, entries)
        return args

    def _jostled(self, node: Node, args: list[Any]) -> list[Any]:
        """The arguments of an op of many numbers, each off by one rounding: what is lost inside of it."""
        if self._rounding is None or node.op.elementwise or _moves_only(node):
            return args
        found = []
        for place, (arg, value) in enumerate(zip(node.args, args, strict=True)):
            if arg.dtype.kind not in "fc" or isinstance(value, tuple):
                found.append(value)
                continue
            factors = self._factors_of(arg, f"{self._order[node]} {place}")
            pairs = zip(value.flat, factors, strict=True)
            if node.op.family == "linalg":  # its algorithms are right up to rounding of the largest entry
                largest = max((abs(entry) for entry in value.flat if self.m.finite(entry)), default=self.m.number(0))
                found.append(array_of(arg.shape, [entry + (f - 1) * largest for entry, f in pairs]))
            else:
                found.append(array_of(arg.shape, [entry * f for entry, f in pairs]))
        return found

    def _updated(self, node: Node, changed: Values) -> Any:
        """The new value of a node, or None where nothing in it changed; elementwise, only what changed is computed."""
        old = [self.values[arg] for arg in node.args]
        new = self._signed(node, [changed.get(arg, value) for arg, value in zip(node.args, old, strict=True)])
        old = self._signed(node, old)
        if not node.op.elementwise:
            return self._rounded(node, evaluate_node(self.m, node, self._jostled(node, new), self._budget))
        before = [np.broadcast_to(value, node.shape).ravel().tolist() for value in old]
        after = [np.broadcast_to(value, node.shape).ravel().tolist() for value in new]
        entries = self.values[node].ravel().tolist()
        touched = False
        for position, (now, then) in enumerate(zip(zip(*after, strict=True), zip(*before, strict=True), strict=True)):
            if any(a is not b for a, b in zip(now, then, strict=True)):
                entries[position] = entry_of(self.m, node, now, self._budget)
                if self._rounding is not None and node.dtype.kind in "fc":
                    entries[position] = entries[position] * self._factors_of(node)[position]
                touched = True
        return array_of(node.shape, entries) if touched else None

    def _rounded(self, node: Node, value: Any) -> Any:
        if self._rounding is None or node.dtype.kind not in "fc" or node.op is LEAF or node.op.outputs > 1:
            return value
        if _moves_only(node) or node.op.name == "output":
            return value
        pairs = zip(value.flat, self._factors_of(node), strict=True)
        return array_of(node.shape, [entry * factor for entry, factor in pairs])

    def _factors_of(self, node: Node, place: str = "") -> list[Any]:
        """A factor for each entry of a node; others where it is an argument at some place."""
        factors = self._factors.get((node, place))
        if factors is None:
            unit = ROUNDING.get(node.dtype.name, 2.0**-53)
            # Of different sizes, so that two roundings do not cancel just where the values themselves do.
            seed = f"{self._rounding} {self._order[node]} {place}"
            source = random.Random(seed)  # noqa: S311  # reproducible, no secret
            one = self.m.number(1)
            parts: list[complex] = [source.choice((-unit, unit)) * source.uniform(0.3, 1.0) for _ in range(node.size)]
            if node.dtype.kind == "c":  # the parts of a complex number are rounded by its size
                parts = [complex(part, source.choice((-unit, unit)) * source.uniform(0.3, 1.0)) for part in parts]
            factors = self._factors[node, place] = [one + self.m.number(part) for part in parts]
        return factors


def _moves_only(node: Node) -> bool:
    """Whether a node's numbers are those of its arguments, so that none is rounded."""
    return node.op.family in _MOVES_ONLY and not any(word in node.op.name for word in _ADDS)
