"""Products that leave the range of their dtype on the way and come back into it: each as a fraction and an exponent."""

from __future__ import annotations

from typing import Any, Final

_BLOCK: Final = 512
"""Fractions from the root of 1/2 to that of 2 that are multiplied before they are brought back there."""
_ROOM: Final = {2: 13, 4: 120, 8: 1000}
"""Binary exponents that a product may reach on the way, by bytes of the dtype, without a digit lost."""


def _part(axis: int, begin: int | None, end: int | None) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(begin, end))


def _fractions(xp: Any, x: Any) -> tuple[Any, Any]:
    """Numbers near 1, and the binary exponents that make the given ones of them."""
    fraction, exponent = xp.frexp(x)
    low = xp.abs(fraction) < 0.5**0.5
    return xp.where(low, fraction * 2, fraction), exponent.astype(xp.int64) - low


def _whole(xp: Any, fraction: Any, exponent: Any) -> Any:
    """The number of a fraction and an exponent, which may be out of range."""
    return xp.ldexp(fraction, xp.clip(exponent, -5_000, 5_000).astype(xp.int32))


def _running(xp: Any, x: Any, axis: int) -> tuple[Any, Any]:
    """The running products along an axis, as fractions and exponents."""
    fractions, exponents = _fractions(xp, x)
    found, carried = [], None
    for begin in range(0, x.shape[axis], _BLOCK):
        block = fractions[_part(axis, begin, begin + _BLOCK)]
        places = exponents[_part(axis, begin, begin + _BLOCK)]
        if carried is not None:
            block = xp.concatenate((carried[0] * block[_part(axis, 0, 1)], block[_part(axis, 1, None)]), axis=axis)
            places = xp.concatenate((carried[1] + places[_part(axis, 0, 1)], places[_part(axis, 1, None)]), axis=axis)
        product, moved = _fractions(xp, xp.cumprod(block, axis=axis))
        total = xp.cumsum(places, axis=axis) + moved
        found.append((product, total))
        carried = product[_part(axis, -1, None)], total[_part(axis, -1, None)]
    parts = [xp.concatenate(each, axis=axis) for each in zip(*found, strict=True)]
    return parts[0], parts[1]


def _stays(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Along which lanes no product of some elements can leave the range of the dtype; the axes are kept."""
    exponents = xp.where(x == 0, 0, xp.frexp(x)[1])
    room = _ROOM[x.dtype.itemsize]
    above = xp.sum(xp.maximum(exponents, 0), axis=axes, dtype=xp.int64, keepdims=True)
    below = xp.sum(xp.minimum(exponents - 1, 0), axis=axes, dtype=xp.int64, keepdims=True)
    return (above < room) & (below > -room)


def running_product(xp: Any, x: Any, axis: int) -> Any:
    """The products of all elements up to each one."""
    plain = xp.cumprod(x, axis=axis)
    if x.dtype.kind != "f" or not x.size:
        return plain
    size = xp.abs(plain)
    low = xp.finfo(x.dtype).tiny
    beyond = (size < low) | ~xp.isfinite(size)
    # What is 0, or not finite, from such an element on stays so however it is computed.
    before = xp.concatenate((xp.zeros_like(beyond[_part(axis, 0, 1)]), beyond[_part(axis, None, -1)]), axis=axis)
    left = beyond & ~before & (x != 0) & xp.isfinite(x)
    if not xp.any(left):
        return plain
    since = xp.cumsum(beyond, axis=axis) > 0
    return xp.where(since, _whole(xp, *_running(xp, x, axis)), plain)


def product(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The product of all elements along some axes."""
    plain = xp.prod(x, axis=dim, keepdims=keepdim)
    if x.dtype.kind != "f" or not x.size or not dim:
        return plain
    stays = _stays(xp, x, dim)
    if xp.all(stays):
        return plain
    kept = [axis for axis in range(x.ndim) if axis not in dim]
    rows = xp.transpose(x, (*kept, *dim)).reshape(*[x.shape[axis] for axis in kept], -1)
    fraction, exponent = _running(xp, rows, rows.ndim - 1)
    whole = _whole(xp, fraction[..., -1], exponent[..., -1])
    return xp.where(stays.reshape(plain.shape), plain, whole.reshape(plain.shape))[()]


def product_of_others(xp: Any, x: Any, axis: int) -> Any:
    """The product of all other elements along an axis, for each one."""
    turn = (*(slice(None),) * axis, slice(None, None, -1))
    ones = xp.ones_like(x[_part(axis, 0, 1)])

    def shifted(first: Any, products: Any) -> Any:
        return xp.concatenate((first, products[_part(axis, None, -1)]), axis=axis)

    before, after = (shifted(ones, xp.cumprod(each, axis=axis)) for each in (x, x[turn]))
    plain = before * after[turn]
    if x.dtype.kind != "f" or not x.size:
        return plain
    stays = _stays(xp, x, (axis,))
    if xp.all(stays):
        return plain
    none = xp.zeros(ones.shape, xp.int64)
    (before, low), (after, high) = (_running(xp, each, axis) for each in (x, x[turn]))
    exponent = shifted(none, low) + shifted(none, high)[turn]
    return xp.where(stays, plain, _whole(xp, shifted(ones, before) * shifted(ones, after)[turn], exponent))
