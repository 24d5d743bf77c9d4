"""Sums of products without the products: one pass over two blocks where there were two, and no buffer between."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from .alignment import alignment, folded_axes
from .fusion import FusedRun
from .values import Value

CHUNK: Final = 128
"""Products that are added up at a time, in some dozens of sums side by side, before such sums are added in pairs."""

_LONG: Final = 4_096
"""Elements of a row up to which it is one such sum."""

_RELEASING: Final = 500
"""Sums in one call up to which NumPy keeps Python's lock, however long they are: no other worker goes on meanwhile."""

_SHORT: Final = 64
"""Elements of a row from which a call for each row is worth it."""

_SUMS: Final = frozenset({"sum", "sum_to_size"})
_PRODUCTS: Final = frozenset({"mul", "square", "flow", "meet"})


def products_in_sums(run: FusedRun) -> dict[Value, Value]:
    """The product that a sum adds up, of those sums of a run that can take its factors as nothing else needs it.

    It is found by the run, not by its programs: so both of them add up in the same way.
    """
    values = (*run.members, *run.endings)
    uses = Counter(arg for value in values for arg in value.args)
    uses.update(run.outputs)
    members, endings = frozenset(run.members), frozenset(run.endings)
    return {
        value: value.args[0]
        for value in values
        if value.op.name in _SUMS and value.args[0] in members and uses[value.args[0]] == 1
        if value.dtype == value.args[0].dtype and _is_of_blocks(value.args[0])
        if _is_along(value, value.args[0].shape[len(run.lead) :], ends=value in endings, lead=len(run.lead))
    }


def _is_of_blocks(product: Value) -> bool:
    """Whether a value is a product of two blocks, neither of them broadcast."""
    return (
        product.op.name in _PRODUCTS
        and product.dtype.kind == "f"
        and all(edge.rows for edge in alignment(product).edges)
        and all(
            arg.shape == product.shape
            and arg.dtype == product.dtype
            and not arg.is_constant
            and arg.op.name != "expand"
            for arg in product.args
        )
    )


def _is_along(value: Value, rest: tuple[int, ...], *, ends: bool, lead: int) -> bool:
    """Whether a sum folds axes along which products can be added up."""
    axes = tuple(axis - lead + 1 for axis in folded_axes(value) if axis >= lead)
    if not ends:
        return axes == (len(rest),) and _SHORT <= rest[-1] <= _LONG
    return len(axes) == len(rest) or (len(rest) == 1 and rest[0] >= _SHORT)


def stopped(_xp: Any, *factors: Any, kernel: Callable[..., Any], side: int) -> Any:
    """A factor of a product that stops at zeros, with a zero where it has stopped something."""
    product = factors[0] * factors[1]
    halted = (product != product) & (kernel(np, *factors) == 0)
    return np.where(halted, product.dtype.type(0), factors[side])


def row_sums(left: Any, right: Any, out: Any) -> Any:
    """The sum of the products of each row of two blocks, along their last axis."""
    *lead, width = left.shape
    parts = _parts(math.prod(lead), width)
    split = (*lead, parts, width // parts)
    columns = right.reshape(split)[..., None]
    if parts == 1:
        np.matmul(left.reshape(split)[..., None, :], columns, out=out.reshape((*lead, 1, 1, 1)))
        return out
    sums = np.matmul(left.reshape(split)[..., None, :], columns)
    np.add.reduce(sums.reshape((*lead, parts)), axis=-1, out=out.reshape(lead))
    return out


@lru_cache(maxsize=64)
def _parts(rows: int, width: int) -> int:
    """How many sums each row is split into, so that a call releases Python's lock; 1 where the rows do not split."""
    counts = range(1, width // _SHORT + 1)
    return next((count for count in counts if width % count == 0 and rows * count > _RELEASING), 1)


def sum_of_products(left: Any, right: Any, axes: tuple[int, ...]) -> Any:
    """The sum of the products of two blocks over all of their axes, or over their rows alone."""
    if len(axes) < left.ndim:
        return np.einsum("ij,ij->j", left, right)
    left, right = left.reshape(-1), right.reshape(-1)
    whole = len(left) - len(left) % CHUNK
    sums = np.matmul(left[:whole].reshape(-1, 1, CHUNK), right[:whole].reshape(-1, CHUNK, 1))
    return np.add.reduce(sums, axis=None) + np.matmul(left[whole:], right[whole:])
