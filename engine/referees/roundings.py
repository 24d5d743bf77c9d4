"""Results off by one rounding of their dtype, and what an op of many numbers loses inside of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node
from .arithmetic import PreciseArithmetic
from .forward import array_of

AS_STORED: Final = -1
ROUNDING: Final = {"float32": 2.0**-24, "complex64": 2.0**-24}
"""Half a unit in the last place of one, by dtype."""
DOUBLE: Final = 2.0**-53
"""The same of every other dtype."""
_MOVES_ONLY: Final = frozenset({"shape", "index", "creation"})
_ADDS: Final = ("add", "reduce", "accumulate", "put")
"""Words in the names of ops of those families that compute nevertheless."""
_CHOOSES: Final = frozenset(
    {
        *("max", "max.values", "min", "min.values", "amax", "amin", "cummax", "cummin", "mode.values"),
        *("median", "median.values", "nanmedian", "nanmedian.values", "kthvalue.values"),
        *("max_pool2d", "max_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool_positions"),
    }
)
"""Ops whose results are some of the entries that they are given."""
_FACTORS: Final = frozenset({"qr.tall", "qr.complete", "lu.both"})
"""Algorithms on matrices whose results `linalg` functions are made of."""
_BY_ROWS: Final = frozenset({"standardize", "deviation", "centered"})
"""Ops whose results are right beside the largest distance along their axes only."""
_MEANS: Final = 8
"""How many roundings of that size the means and sums of such an op and of its gradient add up to."""
_BESIDE_ONE: Final = frozenset({("grid_sample", 1)})
"""Arguments to which 1 is added, so that they are right beside that only."""
_SUMS: Final = 4
"""How many roundings of that 1 there are: it is scaled and moved as well."""
_SUMMING: Final[Mapping[str, Callable[..., Any]]] = {"sum": np.sum, "mean": np.mean, "nansum": np.nansum}
"""Ops that lose small terms beside large ones, and how NumPy adds."""
_BY_PARTS: Final = frozenset({"complex", "add", "sub", "neg", "conj"})
"""Ops of complex numbers that compute each part by itself."""


class Roundings:
    """How each number of a graph is rounded: the same way wherever the graph is looked at.

    Args:
        m: the arithmetic of the numbers.
        order: the position of each node among all.
        seed: of the roundings, up or down at random and of different sizes; `AS_STORED`: those of the dtypes.
    """

    def __init__(self, m: PreciseArithmetic, order: Mapping[Node, int], seed: int) -> None:
        self._m = m
        self._order = order
        self._seed = seed
        self._factors: dict[tuple[Node, str], list[Any]] = {}
        self._offsets: dict[Node, list[Any]] = {}
        self._spans: dict[Node, Any] = {}

    def first(self, node: Node, value: Any, args: Sequence[Any]) -> Any:
        """A node's value at the point itself, rounded; what its dtype holds of it says how, where that is asked for."""
        if self._seed == AS_STORED and node.op is not LEAF and isinstance(value, np.ndarray):
            self._offsets[node] = self._stored(node, value, args)
        return self.of_result(node, value)

    def of_result(self, node: Node, value: Any) -> Any:
        """A node's value anywhere, rounded."""
        if node.dtype.kind not in "fc" or node.op is LEAF or node.op.outputs > 1:
            return value
        if _moves_only(node) or node.op.name == "output":
            return value
        return array_of(node.shape, [self.of_entry(node, position, entry) for position, entry in enumerate(value.flat)])

    def of_entry(self, node: Node, position: int, entry: Any) -> Any:
        """One entry of a node's value, rounded."""
        if self._seed == AS_STORED:
            return entry + self._offsets[node][position] if node in self._offsets else entry
        return _off(node, entry, self._factors_of(node)[position]) if node.dtype.kind in "fc" else entry

    def of_arguments(self, node: Node, args: list[Any]) -> list[Any]:
        """The arguments of an op of many numbers, each off by one rounding: what is lost inside of it."""
        if self._seed == AS_STORED or node.op.elementwise or _moves_only(node):
            return args
        found = []
        for place, (arg, value) in enumerate(zip(node.args, args, strict=True)):
            if arg.dtype.kind not in "fc" or isinstance(value, tuple):
                found.append(value)
                continue
            factors = self._factors_of(arg, f"{self._order[node]} {place}")
            pairs = zip(value.flat, factors, strict=True)
            if of_matrices(node):  # its algorithms are right up to rounding of the largest entry
                largest = max((abs(entry) for entry in value.flat if self._m.finite(entry)), default=self._m.number(0))
                found.append(array_of(arg.shape, [entry + (f - 1) * largest for entry, f in pairs]))
            elif node.op.name in _BY_ROWS:
                if node not in self._spans:  # of the point itself: an error that moved with it would not be seen
                    self._spans[node] = self._spans_along(value, node.attrs["dim"])
                spans = self._spans[node].flat
                entries = [entry + (f - 1) * _MEANS * span for (entry, f), span in zip(pairs, spans, strict=True)]
                found.append(array_of(arg.shape, entries))
            else:
                beside = _SUMS if (node.op.name, place) in _BESIDE_ONE else 0
                found.append(array_of(arg.shape, [entry * f + (f - 1) * beside for entry, f in pairs]))
        return found

    def drifts(self, node: Node) -> bool:
        """Whether an op works by rows, so that its gradient adds up what it rounds along them."""
        return node.op.name in _BY_ROWS and self._seed != AS_STORED

    def drift(self, node: Node, moves: Any, values: Mapping[Node, Any]) -> Any:
        """What the rounding of a gradient along axes adds to a result: a little of each move beside the largest one.

        Args:
            node: a node that drifts.
            moves: how far its argument has moved.
            values: the values at the point.
        """
        dim, arg = node.attrs["dim"], node.args[0]
        inward = array_of(arg.shape, [factor - 1 for factor in self._factors_of(arg, f"{self._order[node]} in")])
        outward = array_of(node.shape, [factor - 1 for factor in self._factors_of(node, "out")])
        drift = np.sum(inward * moves, axis=dim, keepdims=True) * outward * (_MEANS / rounding_of(node))
        if node.op.name != "standardize":
            return drift
        spans = self._spans_along(values[arg], dim)
        return drift * self._spans_along(values[node], dim) / np.where(spans == 0, self._m.number(1), spans)

    def _spans_along(self, value: Any, dim: tuple[int, ...]) -> Any:
        """For each entry how far apart those along some axes are: a distance from their mean is right beside that."""
        finite = np.vectorize(self._m.finite, otypes=[bool])(value)
        plain = np.where(finite, value, self._m.number(0))
        spans = np.max(plain, axis=dim, keepdims=True) - np.min(plain, axis=dim, keepdims=True)
        return np.broadcast_to(spans, value.shape)

    def _stored(self, node: Node, value: Any, args: Sequence[Any]) -> list[Any]:
        """How far what a node's dtype holds of its entries is from them."""
        zero = self._m.number(0)
        if node.dtype.kind != "f" or node.op.outputs > 1:
            return [zero] * node.size
        with np.errstate(all="ignore"):
            if node.op.name in _SUMMING:
                terms = np.array([node.args[0].dtype.type(entry) for entry in args[0].flat]).reshape(node.args[0].shape)
                held = _SUMMING[node.op.name](terms, axis=node.attrs["dim"], keepdims=node.attrs["keepdim"])
            else:
                held = np.array([node.dtype.type(entry) for entry in value.flat])
        pairs = zip(np.ravel(held).tolist(), value.flat, strict=True)
        return [self._m.number(near) - entry if np.isfinite(near) else zero for near, entry in pairs]

    def _factors_of(self, node: Node, place: str = "") -> list[Any]:
        """A factor for each entry of a node; others where it is an argument at some place."""
        factors = self._factors.get((node, place))
        if factors is None:
            unit = rounding_of(node)
            # Of different sizes, so that two roundings do not cancel just where the values themselves do.
            seed = f"{self._seed} {self._order[node]} {place}"
            source = random.Random(seed)  # noqa: S311  # reproducible, no secret
            one = self._m.number(1)
            parts: list[complex] = [source.choice((-unit, unit)) * source.uniform(0.3, 1.0) for _ in range(node.size)]
            if node.dtype.kind == "c":  # the parts of a complex number are rounded by its size
                parts = [complex(part, source.choice((-unit, unit)) * source.uniform(0.3, 1.0)) for part in parts]
            # No fraction of two: of a large number it would be a whole number of waves again.
            uneven = self._m.ratio(6, 7)
            factors = self._factors[node, place] = [one + self._m.number(part) * uneven for part in parts]
        return factors


def rounding_of(node: Node) -> float:
    """Half a unit in the last place of one, in a node's dtype."""
    return ROUNDING.get(node.dtype.name, DOUBLE)


def of_matrices(node: Node) -> bool:
    """Whether an op is an algorithm on whole matrices."""
    return node.op.family == "linalg" or node.op.name in _FACTORS


def _off(node: Node, entry: Any, factor: Any) -> Any:
    """An entry off by its factor; what computes both parts of a complex number apart leaves one that is zero so."""
    if node.dtype.kind == "c" and node.op.name in _BY_PARTS and (entry.real == 0 or entry.imag == 0):
        return entry * factor.real
    return entry * factor


def _moves_only(node: Node) -> bool:
    """Whether a node's numbers are those of its arguments, so that none is rounded."""
    if node.op.name in _CHOOSES:
        return True
    return node.op.family in _MOVES_ONLY and not any(word in node.op.name for word in _ADDS)
