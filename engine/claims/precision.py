"""How many digits exact arithmetic needs, and when its numbers have grown beyond all bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..referees.arithmetic import PreciseArithmetic
from ..referees.forward import evaluate_graph
from ..run.cpu import run
from ..run.plan import make_plan
from ..worker.budget import Budget

DIGITS: Final = 60
"""Decimal digits of the exact arithmetic; where the sides cancel, more are used."""

SPARE: Final = 20
"""So many digits more than are said to be needed do no harm."""
MOST_DIGITS: Final = 1600
"""Where more would be needed, nothing is said."""

_MOVES: Final = frozenset(("leaf", "shape", "index", "creation"))
_ALGEBRAIC: Final = frozenset(
    (
        *("abs", "add", "clamp", "clone", "div", "dot", "eq", "ge", "gt", "le", "log", "lt", "matmul", "maximum"),
        *(
            "mean",
            "minimum",
            "mm",
            "mul",
            "mv",
            "ne",
            "neg",
            "outer",
            "output",
            "positive",
            "pow",
            "prod",
            "reciprocal",
        ),
        *("relu", "sign", "sqrt", "square", "sub", "sum", "where"),
    )
)
"""Ops whose results are about as large as powers of their arguments."""
_SQUARING: Final = frozenset(("erf", "erfc", "erfinv", "gelu", "log_ndtr", "ndtr", "erfcx"))

_COMPARISONS: Final = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_STEPS: Final = frozenset(("floor", "ceil", "trunc", "frac", "round"))
_SIGNS: Final = frozenset(("sign", "sgn", "heaviside", "signbit"))
_QUOTIENTS: Final = frozenset(("remainder", "fmod", "floor_divide", "div_floor", "div_trunc"))
_MOST_COMPARED: Final = 10_000
_DOUBT: Final = 15
"""What differs by so many digits less than there are may be equal."""


class BoundedArithmetic(PreciseArithmetic):
    """Exact arithmetic that knows when a number has grown beyond what it can hold."""

    beyond = False

    def exp(self, x: Any) -> Any:
        """e**x."""
        value = super().exp(x)
        self.beyond = self.beyond or (not self.finite(value) and self.finite(self._lifted(x)))
        return value

    def power(self, x: Any, y: Any) -> Any:
        """x**y, as PyTorch means it for reals."""
        value = super().power(x, y)
        self.beyond = self.beyond or (not self.finite(value) and not self.undefined_number(value) and x != 0)
        return value

    def _beyond(self, name: str, x: Any) -> Any:
        self.beyond = True
        return super()._beyond(name, x)


def is_algebraic(node: Node) -> bool:
    """Whether a node is a leaf, a moved one, or a sum, product, quotient, root or comparison."""
    return node.op.family in _MOVES or (node.op.name in _ALGEBRAIC and node.op.name != "log")


def is_doubtful(m: PreciseArithmetic, node: Node, values: Mapping[Node, Any]) -> bool:
    """Whether a node turns on a difference that is smaller than what rounding may make of none.

    Args:
        m: the arithmetic of the values.
        node: one whose arguments have values.
        values: arrays of exact numbers.
    """
    name = node.op.name
    quotient = name in _QUOTIENTS
    if not (name in _COMPARISONS or name in _STEPS or name in _SIGNS or quotient):
        return False
    args = [values[arg] for arg in node.args]
    if any(not isinstance(arg, np.ndarray) or arg.size > _MOST_COMPARED for arg in args):
        return False
    if name in _COMPARISONS or quotient:
        pairs = list(zip(*[array.flat for array in np.broadcast_arrays(*args[:2])], strict=True))
    else:
        pairs = [(entry, 0) for entry in args[0].flat]
    return any(_is_near(m, one, other, name in _STEPS, quotient) for one, other in pairs)


def _is_near(m: PreciseArithmetic, one: Any, other: Any, steps: bool, quotient: bool) -> bool:
    """Whether two numbers differ by next to nothing, or one is next to a whole number."""
    if not all(hasattr(each, "_mpf_") or type(each) is int for each in (one, other)):
        return False
    if not (m.finite(one) and m.finite(other)):
        return False
    if quotient:
        if other == 0:
            return False
        one, other, steps = one / other, m.number(0), True
    if steps:
        other = m.context.nint(one)
    gap = abs(one - other)
    return bool(0 < gap <= max(1, abs(one), abs(other)) * m.context.mpf(10) ** (_DOUBT - m.digits))


def digits_needed(nodes: Sequence[Node]) -> int:
    """How many digits exact arithmetic needs here, so that no difference of numbers on the way is lost.

    Sums need the range of their terms; functions that end in powers of e need as many digits as their arguments
    say: 1 - sigmoid(1000) is 10**-434.
    """
    exponents = [0.0]
    largest = 0.0
    values = run(make_plan([node for node in nodes if node.op.outputs == 1]))
    for node in nodes:
        if node.op.outputs > 1 or node.dtype.kind == "c":
            continue
        sizes = np.abs(np.asarray(values[node], np.float64))
        sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
        if sizes.size:
            exponents += [float(np.log10(sizes.min())), float(np.log10(sizes.max()))]
        if node.op.family not in _MOVES and node.op.name not in _ALGEBRAIC:
            for arg in [arg for arg in node.args if arg in values and arg.dtype.kind != "c"]:
                size = float(np.max(np.abs(np.asarray(values[arg], np.float64)), initial=0.0))
                largest = max(largest, size * size if node.op.name in _SQUARING else size)
    if not np.isfinite(largest):
        return MOST_DIGITS + 1
    return int(min(DIGITS + 2 * (max(exponents) - min(exponents)) + largest, MOST_DIGITS + 1))


def steady(nodes: Sequence[Node], digits: int, budget: Budget) -> bool:
    """Whether the numbers on the way are the same with more digits, to 15 of them."""
    few, many = BoundedArithmetic(DIGITS), BoundedArithmetic(digits)
    first, second = [evaluate_graph(m, nodes, {}, budget) for m in (few, many)]
    for node in nodes:
        if isinstance(first[node], np.ndarray) and node.dtype.kind == "f":
            for one, other in zip(first[node].flat, second[node].flat, strict=True):
                if many.finite(other) and not abs(many.context.mpf(one) - other) <= abs(other) * 1e-15:
                    return False
    return True
