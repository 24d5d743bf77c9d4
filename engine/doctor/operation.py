"""One operation at one entry: where a number that is not finite was made, from what, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import LEAF, Node
from ..referees.digits import entry_label
from .chain import first_broken, is_finite
from .finding import Number, bracketed, number_text, scalar

SYMBOLS: Final[Mapping[str, str]] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "flow": "x",
    "meet": "x",
}
_TIGHT: Final = frozenset({"/", "**"})

SECONDS: Final = 1.0
"""How long the value of one operation on 50 digits may take."""


class Made(NamedTuple):
    """Where a number that is not finite comes from.

    Attributes:
        node: the operation that makes it, or the leaf that brings it.
        place: the entry.
        entries: the numbers that the operation is given there; empty where its entries do not stand one to one.
        result: what it gives.
    """

    node: Node
    place: tuple[int, ...]
    entries: tuple[Number, ...]
    result: Number

    @property
    def text(self) -> str:
        """The operation with its numbers: `0.0/0.0 = nan`."""
        result = number_text(self.result)
        if not self.node.args:
            return entry_label(self.node.name or "a number", self.place) + f" is {result}"
        if not self.entries:
            return f"{entry_label(self.node.op.name + '(...)', self.place)} = {result}"
        return f"{operation_text(self.node.op.name, self.entries)} = {result}"


def operation_text(name: str, entries: Sequence[Number]) -> str:
    """An operation on numbers as a person writes it."""
    symbol = SYMBOLS.get(name)
    if symbol is None or len(entries) != 2:
        return f"{name}({', '.join(map(number_text, entries))})"
    first, second = entries
    if symbol == "+" and number_text(second).startswith("-") and not isinstance(second, complex):
        symbol, second = "-", -second
    texts = [bracketed(first, first=True), bracketed(second)]
    return symbol.join(texts) if symbol in _TIGHT else f" {symbol} ".join(texts)


def first_made(nodes: Iterable[Node], values: Mapping[Node, Any]) -> Made | None:
    """The first operation that makes a number that is not finite out of such as are, or NaN out of such as are not.

    Where none does, the first leaf with a name that brings one.

    Args:
        nodes: arguments before results.
        values: of those with one result.
    """
    brought: Made | None = None
    for node in nodes:
        value = values.get(node)
        if value is None or is_finite(value):
            continue
        if node.op is LEAF:
            if brought is None and node.name is not None:
                index = first_broken(value)
                brought = Made(node, index, (), scalar(np.asarray(value)[index]))
            continue
        made = made_at(node, [values.get(arg) for arg in node.args], value)
        if made is not None:
            return made
    return brought


def made_at(node: Node, args: Sequence[Any], value: Any) -> Made | None:
    """Where a node makes a number that is not finite, if it does."""
    if node.dtype.kind not in "fc" or not node.args or any(arg is None for arg in args) or is_finite(value):
        return None
    value = np.asarray(value)
    if not node.op.elementwise:
        fresh = all(is_finite(arg) for arg in args)
        fresh = fresh or bool(np.any(np.isnan(value)) and not any(_any_nan(arg) for arg in args))
        if not fresh:
            return None
        index = first_broken(value)
        return Made(node, index, (), scalar(value[index]))
    wide = [np.broadcast_to(np.asarray(arg), value.shape) for arg in args]
    finite = np.ones(value.shape, bool)
    defined = np.ones(value.shape, bool)
    for arg in wide:
        if arg.dtype.kind in "fc":
            finite &= np.isfinite(arg)
            defined &= ~np.isnan(arg)
    fresh_at = (~np.isfinite(value) & finite) | (np.isnan(value) & defined)
    if not np.any(fresh_at):
        return None
    index = first_broken(np.where(fresh_at, np.nan, 0.0))
    return Made(node, index, tuple(scalar(arg[index]) for arg in wide), scalar(value[index]))


def _any_nan(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.any(np.isnan(array)))


def reason(made: Made) -> str:
    """Why an operation gives what is not finite, from its formula on 50 digits; empty where that does not say it.

    That it was given up after `SECONDS` is said.
    """
    node = made.node
    if not made.entries or node.op.formula is None or any(part.dtype.kind == "c" for part in (node, *node.args)):
        return ""
    if made.result != made.result and any(entry in (np.inf, -np.inf) for entry in made.entries):
        return ""
    from ..referees.arithmetic import PreciseArithmetic
    from ..referees.case import CannotJudge
    from ..referees.forward import entry_of
    from ..worker.budget import Budget, BudgetSpent
    from ..worker.interrupt import interrupted

    m = PreciseArithmetic()
    budget = Budget(1_000, SECONDS)
    try:
        with interrupted(budget):
            exact = entry_of(m, node, [m.number(entry) for entry in made.entries], budget)
            if m.finite(exact):
                return f"too large for {node.dtype.name}: it is {m.text(exact, 6)}"
    except (BudgetSpent, MemoryError) as spent:
        return f"what it is on 50 digits was given up: {str(spent) or 'out of memory'}"
    except (CannotJudge, ArithmeticError, TypeError, ValueError):
        return ""
    domain = node.op.domain.split(";")[0]
    return f"{node.op.name} has a value for {domain}" if domain and not domain.startswith("all ") else ""
