"""Quick tests of whether an argument stands exactly on a kink, for `Op.at_kink`: a bool, or an array of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Test = Callable[..., Any]

_ENDS: Final = 8.0
"""How many units of rounding from the end of a domain count as its end: a sum of probabilities is 1 only so nearly."""


def at_zero(_xp: Any, x: Any, *_others: Any, **_attrs: Any) -> Any:
    """The first argument is 0."""
    return x == 0


def at(*points: float) -> Test:
    """The first argument is one of some numbers."""

    def test(_xp: Any, x: Any, **_attrs: Any) -> Any:
        found = x == points[0]
        for point in points[1:]:
            found = found | (x == point)
        return found

    return test


def near(*points: float) -> Test:
    """The first argument is within rounding of one of some numbers that are not 0."""

    def test(xp: Any, x: Any, **_attrs: Any) -> Any:
        room = _ENDS * float(xp.finfo(x.dtype).eps)
        found: Any = False
        for point in points:
            found = found | (xp.abs(x - point) <= room * abs(point))
        return found

    return test


def at_attributes(*names: str, signs: tuple[int, ...] = (1,)) -> Test:
    """The first argument is the value of one of some attributes, or its negative where `signs` has -1."""

    def test(_xp: Any, x: Any, **attrs: Any) -> Any:
        found: Any = False
        for name in names:
            bound = attrs[name]
            if bound is not None:
                for sign in signs:
                    found = found | (x == sign * bound)
        return found

    return test


def at_bounds(_xp: Any, x: Any, *bounds: Any, **_attrs: Any) -> Any:
    """The first argument is equal to one of the others."""
    found: Any = False
    for bound in bounds:
        found = found | (x == bound)
    return found


def at_whole(xp: Any, x: Any, **_attrs: Any) -> Any:
    """The first argument is an integer."""
    return x == xp.floor(x)


def at_half(xp: Any, x: Any, **_attrs: Any) -> Any:
    """The first argument lies in the middle between two integers."""
    return x - xp.floor(x) == 0.5


def at_step(xp: Any, x: Any, y: Any, **_attrs: Any) -> Any:
    """The quotient of two arguments is an integer."""
    return xp.remainder(x, y) == 0


def both_zero(_xp: Any, x: Any, y: Any, **_attrs: Any) -> Any:
    """Both arguments are 0."""
    return (x == 0) & (y == 0)


def root_at_zero(_xp: Any, x: Any, y: Any, **_attrs: Any) -> Any:
    """A power of 0, but for those with a whole exponent above 0."""
    return (x == 0) & ((y.imag != 0) | (y.real % 1 != 0) | (y.real <= 0))


def tied(xp: Any, x: Any, dim: tuple[int, ...], **_attrs: Any) -> Any:
    """Two entries along some axes are equal."""
    count = 1
    for axis in dim:
        count *= x.shape[axis]
    rows = xp.moveaxis(x, dim, range(-len(dim), 0)).reshape(-1, count) if dim else x.reshape(-1, 1)
    return _neighbours(xp, rows)


def tied_for(*, largest: bool) -> Test:
    """Several entries along some axes are the largest, or the smallest."""

    def test(xp: Any, x: Any, dim: tuple[int, ...], **_attrs: Any) -> Any:
        extreme = (xp.max if largest else xp.min)(x, axis=dim, keepdims=True)
        return xp.sum(x == extreme, axis=dim) > 1

    return test


def tied_along(xp: Any, x: Any, axis: int, **_attrs: Any) -> Any:
    """Two entries along an axis are equal."""
    if not x.ndim:
        return False
    return _neighbours(xp, xp.moveaxis(x, axis, -1))


def _neighbours(xp: Any, rows: Any) -> Any:
    ordered = xp.sort(rows, axis=-1)
    return ordered[..., 1:] == ordered[..., :-1]


def norm_at_kink(xp: Any, x: Any, p: float, dim: tuple[int, ...], **_attrs: Any) -> Any:
    """The vector is zero, or an entry where p is 1 or less; where p is infinite, two are equally far from 0."""
    if p in (float("inf"), -float("inf")):
        return xp.any(x == 0) | xp.any(tied(xp, xp.abs(x), dim))
    return xp.all(x == 0, axis=dim) if p > 1 else x == 0


def constant_along(xp: Any, x: Any, dim: tuple[int, ...], **_attrs: Any) -> Any:
    """All entries along some axes are equal."""
    return xp.max(x, axis=dim) == xp.min(x, axis=dim) if x.size else False
