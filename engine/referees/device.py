"""The CPU as a referee of a device: the same graph on both, entry by entry.

How far two right answers may be apart depends on the graph: an error of one rounding in a sum that cancels is a large
error of its result. So the CPU runs the graph again a few times, each result moved up or down by as much as the
device's function may be off, and what that does to an entry is what the entry is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import FLOAT32, FLOAT64, LEAF, Node, ancestors
from ..run.device import Compute
from .case import AGREE, CANNOT, DISAGREE, Judgement

NAME: Final = "cpu"
RUNS: Final = 8
"""How often the graph is run with moved results."""
_FACTOR: Final = 4.0
"""How many times the largest difference that was seen is allowed."""
_REDUCTION: Final = 4.0
"""Units in the last place, times the logarithm of how many numbers are added up."""
_LARGEST: Final = 20_000_000
"""Elements of all values together, above which nothing is compared: the runs keep all of them."""

ULPS: Final[Mapping[str, tuple[float, float]]] = {
    "exp": (2, 1), "exp2": (2, 1), "expm1": (1, 1), "log": (1, 1), "log2": (1, 1), "log10": (2, 1), "log1p": (1, 1),
    "rsqrt": (2, 1), "sin": (2, 2), "cos": (2, 2), "tan": (4, 2), "asin": (2, 2), "acos": (2, 2), "atan": (2, 2),
    "sinh": (3, 2), "cosh": (2, 1), "tanh": (2, 2), "asinh": (3, 3), "acosh": (4, 3), "atanh": (3, 2),
    "atan2": (3, 2), "hypot": (3, 2), "pow": (8, 2), "erf": (2, 2), "erfc": (4, 5), "erfinv": (2, 5), "erfcx": (4, 4),
    "ndtri": (5, 7), "lgamma": (6, 4), "gamma": (11, 10), "i0": (6, 6), "i1": (6, 6), "fmod": (0, 0),
}  # fmt: skip
"""How far the functions of CUDA's library may be off, of float32 and of float64 (CUDA C++ Programming Guide,
mathematical functions); to each is added as much for NumPy's."""
_COMPOSED: Final = (16.0, 16.0)
"""Elementwise ops of several functions."""
_ROUNDED_ALIKE: Final = frozenset((
    "abs", "add", "addcdiv", "addcmul", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp",
    "clamp.Tensor", "clamp_max", "clamp_max.Tensor", "clamp_min", "clamp_min.Tensor", "clone", "copysign", "deg2rad",
    "detach", "div", "div_floor", "div_trunc", "eq", "floor", "floor_divide", "flow", "fmax", "fmin", "fmod", "frac",
    "ge", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "isclose", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "le", "leaky_relu", "lerp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "maximum", "meet", "minimum", "mul", "nan_to_num", "ne", "neg", "one_minus_square", "prelu",
    "rad2deg", "real", "imag", "conj", "complex", "reciprocal", "relu", "remainder", "round", "same_value", "sgn",
    "sign", "signbit", "softshrink", "softsign", "spread", "sqrt", "square", "sub", "threshold", "to", "trunc",
    "where",
))  # fmt: skip
"""Elementwise ops that both devices round alike."""
_SUMS: Final = frozenset(("sum", "sum_to_size", "mean", "cumsum"))
"""Reductions that add up and do nothing else."""
_MOVING: Final = frozenset(("shape", "index", "creation", "comparison"))
"""Families that only move numbers, or compare them."""
_CHOOSING: Final = frozenset((
    "amax", "amin", "max", "min", "argmax", "argmin", "sort", "argsort", "cummax", "cummin", "first_largest", "any",
    "all", "count_nonzero", "median", "nanmedian", "mode", "kthvalue", "output", "expand", "shift", "cummax.indices",
    "cummin.indices", "gather", "scatter", "sum_to_size",
))  # fmt: skip
"""Reductions that give one of their numbers; the sum of one number is among them where nothing is added."""


def device_judgement(targets: Mapping[str, Node], found: Mapping[Node, Any]) -> Judgement:
    """What the CPU says of numbers that a device has computed.

    Args:
        targets: the nodes that are compared, by how they are to be called.
        found: the device's values of them.
    """
    order = ancestors(targets.values())
    if sum(node.size for node in order) > _LARGEST:
        return Judgement(NAME, CANNOT, reason=f"the values have more than {_LARGEST:,} elements together")
    random = np.random.default_rng(20)
    plain = _run(order, None)
    moved = [_run(order, random) for _ in range(RUNS)]
    least: float | None = None
    for name, node in targets.items():
        got, expected = np.asarray(found[node]), np.asarray(plain[node])
        if (got.shape, got.dtype) != (expected.shape, expected.dtype):
            kinds = [f"{each.dtype} of shape {list(each.shape)}" for each in (got, expected)]
            reason = f"the device gives {kinds[0]}, the CPU {kinds[1]}"
            return Judgement(NAME, DISAGREE, reason=reason, entry=name)
        wrong, digits = _compared(got, expected, [np.asarray(run[node]) for run in moved])
        if wrong is not None:
            entry = f"{name}{list(wrong) if wrong else ''}"
            reason = f"the device gives {got[wrong]!r}, the CPU {expected[wrong]!r}"
            return Judgement(NAME, DISAGREE, reason=reason, entry=entry)
        least = digits if least is None else min(least, digits)
    return Judgement(NAME, AGREE, digits=None if least is None or math.isinf(least) else int(least))


def _compared(
    got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], moved: Sequence[np.ndarray[Any, Any]]
) -> tuple[tuple[int, ...] | None, float]:
    """The place of the worst entry that is too far off, if one is; and how many digits are the same."""
    if got.dtype.kind not in "fc":
        differs = (got != expected) & np.logical_and.reduce([run == expected for run in moved])
        return _worst(differs.astype(float), differs), math.inf
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        apart = np.abs(got - expected)
        spread = np.maximum.reduce([np.abs(run - expected) for run in moved])
        allowed = _FACTOR * np.where(np.isnan(spread), np.inf, spread)
        allowed = allowed + 2 * info.eps * np.abs(expected) + info.tiny
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        # Where both are finite, by the distance; else they must be alike, unless the moved runs are of both kinds.
        both = np.isfinite(got) & np.isfinite(expected)
        stable = np.logical_and.reduce([np.isfinite(run) == np.isfinite(expected) for run in moved])
        wrong = ~same & np.where(both, apart > allowed, stable)
        relative = np.where(same | ~both, 0.0, apart / np.maximum(np.abs(expected), info.tiny))
    largest = float(np.max(relative, initial=0.0))
    digits = -math.log10(largest) if largest else -math.log10(info.eps)
    return _worst(np.where(both, apart, np.inf), wrong), digits


def _worst(size: np.ndarray[Any, Any], wrong: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    if not wrong.any():
        return None
    place = np.argmax(np.where(wrong, size, -1.0))
    return tuple(int(index) for index in np.unravel_index(place, wrong.shape))


def _run(order: Sequence[Node], random: np.random.Generator | None) -> dict[Node, Any]:
    """The values of all nodes, moved at random where a generator is given."""
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in order:
            if node.op is LEAF:
                values[node] = node.value
                continue
            assert node.op.kernel is not None, node.op.name
            args = [values[arg] for arg in node.args]
            if _adds_up(node):
                if random is not None:
                    args = [_moved(arg, _spread_of_sum(arg), random) for arg in args]
                args = [_widened(arg, node) for arg in args]
            value = node.op.kernel(np, *args, **node.attrs)
            if getattr(value, "dtype", node.dtype) != node.dtype:
                value = value.astype(node.dtype)
            if random is not None:
                value = _moved(value, _bound(node), random)
            values[node] = value
    return values


def _adds_up(node: Node) -> bool:
    """Whether an op adds many numbers, in an order that is its own."""
    op = node.op
    return not op.elementwise and op.family not in _MOVING and (op.name not in _CHOOSING or op.name == "sum_to_size")


def _spread_of_sum(arg: Any) -> float:
    return _REDUCTION * math.log2(max(np.size(arg), 2))


def _widened(arg: Any, node: Node) -> Any:
    """What is added up, with more digits: NumPy adds up columns one after another, and the error grows with them."""
    dtype = getattr(arg, "dtype", None)
    if dtype == FLOAT32:
        return arg.astype(FLOAT64)
    return arg.astype(np.longdouble) if dtype == FLOAT64 and node.op.name in _SUMS else arg


def _bound(node: Node) -> float:
    """Units in the last place by which a result is moved."""
    if _adds_up(node):
        # `_FACTOR` times as much is allowed: `_REDUCTION` times the logarithm.
        return 2 * math.log2(max([2, *[arg.size for arg in node.args]]))
    if not node.op.elementwise or node.op.name in _ROUNDED_ALIKE:
        return 0.0
    single, double = ULPS.get(node.op.name, _COMPOSED)
    return 2 * (single if node.dtype.name in ("float32", "complex64") else double)


def _moved(value: Any, ulps: float, random: np.random.Generator) -> Any:
    """Floats moved up or down by some units in the last place."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, tuple) or dtype is None or dtype.kind not in "fc" or not ulps:
        return value
    # Not all by the same amount: two that are moved against each other must not come to nothing.
    steps = (random.integers(0, 2, np.shape(value)) * 2 - 1) * random.uniform(0.5, 1.0, np.shape(value))
    moves = np.asarray(steps * (ulps * np.finfo(dtype).eps / 2), np.finfo(dtype).dtype)
    return (value + value * moves).astype(dtype)[()]


class Comparing:
    """A way to compute that remembers what it gave, so that the CPU can judge it afterwards.

    Args:
        compute: the device's.
    """

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._found: dict[Node, Any] = {}

    def __call__(self, nodes: Iterable[Node]) -> Mapping[Node, Any]:
        """The values of some nodes."""
        found = self._compute(nodes)
        self._found.update(found)
        return found

    def judgement(self) -> Judgement:
        """What the CPU says of all values that were given."""
        names: dict[str, Node] = {}
        for node in self._found:
            name = node.name or f"a value of {node.op.name}"
            names.setdefault(name if name not in names else f"{name} (node {node.serial})", node)
        return device_judgement(names, self._found)
