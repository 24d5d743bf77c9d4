"""Linear maps along single axes: averages over windows and interpolation between samples.

An axis is described by a tuple: (kind, size, count, ...), where count is the size afterwards. Its kinds are

    ("window", size, count, kernel, stride, before, dilation, inclusive)   windows that slide; inclusive: padding counts
    ("adaptive", size, count)                                   windows that divide the axis as evenly as they can
    (mode, size, count, scale, aligned)                         interpolation: a mode of `MODES`; scale None: count/size

The map and its transpose are one op each, with each other as derivatives. Source of the interpolation's formulas:
PyTorch's documentation of `interpolate`; the cubic kernel is R. Keys', "Cubic convolution interpolation", 1981.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...graph import FLOAT64, Attrs, DType, Example, Node, Op, Shape, add_row, apply, make
from .. import batch

Axis = tuple[Any, ...]
Axes = tuple[Axis, ...]

MODES: Final = ("nearest", "nearest-exact", "linear", "cubic", "linear-antialias", "cubic-antialias")
_SHARPNESS: Final = {"cubic": -0.75, "cubic-antialias": -0.5}

# --- where each result looks -------------------------------------------------------------------------------------


def window_bounds(axis: Axis) -> tuple[Any, Any]:
    """The first position and the end of each window, of the kinds "window" and "adaptive", not cut at the borders."""
    kind, size, count = axis[:3]
    number = np.arange(count)
    if kind == "adaptive":
        return number * size // count, -(-(number + 1) * size // count)
    _, _, _, kernel, stride, before, dilation, _ = axis
    first = number * stride - before
    return first, first + dilation * (kernel - 1) + 1


def window_positions(axis: Axis) -> tuple[Any, Any]:
    """The positions in each window, (count, entries), and which of them lie inside of the axis."""
    first, end = window_bounds(axis)
    step = axis[6] if axis[0] == "window" else 1
    positions = first[:, None] + step * np.arange(-(-int(np.max(end - first)) // step))
    return positions, (positions >= 0) & (positions < np.minimum(end, axis[1])[:, None])


def window_sizes(axis: Axis) -> Any:
    """What a sum over each window is divided by to give its average."""
    first, end = window_bounds(axis)
    if axis[0] == "window" and axis[7]:
        return np.minimum(end, axis[1] + axis[5]) - first
    return np.minimum(end, axis[1]) - np.maximum(first, 0)


def _ratio(axis: Axis) -> Fraction:
    """How far the source moves for one step of the result."""
    _, size, count, scale, aligned = axis
    if aligned:
        return Fraction(size - 1, count - 1) if count > 1 else Fraction(0)
    return Fraction(size, count) if scale is None else 1 / Fraction(scale)


def _spline(x: Any, sharpness: float) -> Any:
    """Keys' cubic kernel at distances x >= 0."""
    near = ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * sharpness - 4 * sharpness
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _interpolation(axis: Axis) -> tuple[Any, Any]:
    """Positions and weights, (count, taps) each, for the modes of interpolation."""
    kind, size, count, _, aligned = axis
    ratio = _ratio(axis)
    number = np.arange(count)
    if kind.startswith("nearest"):
        half = Fraction(1, 2) if kind == "nearest-exact" else Fraction(0)
        places = [min(int((at + half) * ratio), size - 1) for at in range(count)]
        return np.array(places)[:, None], np.ones((count, 1))
    if kind.endswith("-antialias"):
        return _antialiased(axis)
    step = float(ratio)
    source = number * step if aligned else (number + 0.5) * step - 0.5
    if kind == "linear":
        source = np.maximum(source, 0.0)
        low = np.minimum(source.astype(np.int64), size - 1)
        part = np.minimum(source - low, 1.0)
        return np.stack([low, np.minimum(low + 1, size - 1)], 1), np.stack([1 - part, part], 1)
    low = np.floor(source).astype(np.int64)[:, None] + np.arange(-1, 3)
    return np.clip(low, 0, size - 1), _spline(np.abs(source[:, None] - low), _SHARPNESS[kind])


def _antialiased(axis: Axis) -> tuple[Any, Any]:
    """As `_interpolation`, with a kernel that widens where the result is smaller than the source."""
    kind, size, count = axis[:3]
    step = float(_ratio(axis))
    reach = (1.0 if kind.startswith("linear") else 2.0) * max(step, 1.0)
    centre = step * (np.arange(count) + 0.5)
    first = np.maximum((centre - reach + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + reach + 0.5).astype(np.int64), size)
    positions = first[:, None] + np.arange(int(np.max(end - first)))
    distance = np.abs((positions - centre[:, None] + 0.5) / max(step, 1.0))
    weights = np.maximum(1 - distance, 0) if kind.startswith("linear") else _spline(distance, _SHARPNESS[kind])
    weights = np.where(positions < end[:, None], weights, 0.0)
    return np.minimum(positions, size - 1), weights / np.sum(weights, axis=1, keepdims=True)


@lru_cache(maxsize=256)
def _table(axis: Axis, transposed: bool) -> tuple[Any, Any]:
    """Which entries make up each result: positions and weights, (taps, results) each, padded with weight 0."""
    kind, size, count = axis[:3]
    if kind in ("window", "adaptive"):
        positions, inside = window_positions(axis)
        weights = inside.astype(np.float64)
    else:
        positions, weights = _interpolation(axis)
    target = np.broadcast_to(np.arange(count)[:, None], positions.shape)[weights != 0]
    source, weights = positions[weights != 0], weights[weights != 0]
    if transposed:
        target, source, size, count = source, target, count, size
    # A border entry may stand several times for one result.
    pairs, place = np.unique(target * size + source, return_inverse=True)
    weights = np.bincount(place.ravel(), weights, len(pairs))
    target, source = pairs // size, pairs % size
    tap = np.arange(len(target)) - np.searchsorted(target, target)
    shape = (int(np.max(tap, initial=0)) + 1, count)
    table = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    table[0][tap, target] = source
    table[1][tap, target] = weights
    return table


# --- numbers -----------------------------------------------------------------------------------------------------


def _along(xp: Any, x: Any, axis: int, positions: Any, weights: Any) -> Any:
    tail = (1,) * (x.ndim - axis - 1)
    guarded = xp is not np  # a device would be waited for
    while True:
        total = None
        for position, weight in zip(positions, weights, strict=True):
            part = xp.take(x, xp.asarray(position), axis)
            if not np.all(weight == 1):
                factor = xp.asarray(weight.astype(part.real.dtype)).reshape(-1, *tail)
                # An entry of weight 0 is no part of the sum, even where it is not finite.
                part = xp.where(factor == 0, part.dtype.type(0), part * factor) if guarded else part * factor
            total = part if total is None else total + part
        if guarded or xp.isfinite(xp.sum(total)):
            return total
        guarded = True


def _divided(xp: Any, x: Any, axes: Axes, divisor: float | None) -> Any:
    if divisor is not None:
        return x / divisor
    if axes[0][0] not in ("window", "adaptive"):
        return x
    total = window_sizes(axes[0])
    for axis in axes[1:]:
        total = total[..., None] * window_sizes(axis)
    return x / xp.asarray(total.astype(x.real.dtype))


def _kernel(xp: Any, x: Any, axes: Axes, divisor: float | None, transposed: bool) -> Any:
    if transposed:
        x = _divided(xp, x, axes, divisor)
    for place, axis in enumerate(axes, x.ndim - len(axes)):
        x = _along(xp, x, place, *_table(axis, transposed))
    return x if transposed else _divided(xp, x, axes, divisor)


# --- meaning -----------------------------------------------------------------------------------------------------


def _exact_spline(x: Fraction, sharpness: Fraction) -> Fraction:
    if x <= 1:
        return (sharpness + 2) * x**3 - (sharpness + 3) * x**2 + 1
    return sharpness * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else Fraction(0)


def _exact_window(axis: Axis, at: int, divided: bool) -> Iterator[tuple[int, Fraction]]:
    kind, size, count = axis[:3]
    if kind == "adaptive":
        places = list(range(at * size // count, -(-(at + 1) * size // count)))
        total = len(places)
    else:
        _, _, _, kernel, stride, before, dilation, inclusive = axis
        reached = [at * stride - before + step * dilation for step in range(kernel)]
        places = [place for place in reached if 0 <= place < size]
        total = sum(place < size + before for place in reached) if inclusive else len(places)
    for place in places:
        yield place, Fraction(1, total) if divided else Fraction(1)


def _exact_interpolation(axis: Axis, at: int) -> Iterator[tuple[int, Fraction]]:
    kind, size, _, _, aligned = axis
    ratio, half = _ratio(axis), Fraction(1, 2)
    if kind == "nearest":
        yield min(size - 1, int(at * ratio)), Fraction(1)
    elif kind == "nearest-exact":
        yield min(size - 1, int((at + half) * ratio)), Fraction(1)
    elif kind == "linear":
        source = min(max(at * ratio if aligned else (at + half) * ratio - half, Fraction(0)), Fraction(size - 1))
        yield int(source), 1 - source % 1
        yield min(int(source) + 1, size - 1), source % 1
    elif kind == "cubic":
        source = at * ratio if aligned else (at + half) * ratio - half
        for place in range(source // 1 - 1, source // 1 + 3):
            yield min(max(place, 0), size - 1), _exact_spline(abs(source - place), Fraction(_SHARPNESS[kind]))
    else:
        widening = max(ratio, Fraction(1))
        found = []
        for place in range(size):
            distance = abs(place + half - (at + half) * ratio) / widening
            smooth = kind == "cubic-antialias"
            weight = _exact_spline(distance, Fraction(_SHARPNESS[kind])) if smooth else max(1 - distance, Fraction(0))
            found.append((place, weight))
        for place, weight in found:
            yield place, weight / sum(each for _, each in found)


def _exact_terms(axes: Axes, where: Shape, divided: bool) -> list[tuple[Shape, Fraction]]:
    """The entries that make up one result, and their exact weights."""
    terms: list[tuple[Shape, Fraction]] = [((), Fraction(1))]
    for axis, at in zip(axes, where, strict=True):
        windowed = axis[0] in ("window", "adaptive")
        found = list(_exact_window(axis, at, divided) if windowed else _exact_interpolation(axis, at))
        terms = [((*before, place), weight * part) for before, weight in terms for place, part in found]
    return [(place, weight) for place, weight in terms if weight != 0]


def _formula(m: Any, x: Any, axes: Axes, divisor: float | None, transposed: bool) -> Any:
    rank = len(axes)
    shape = (*x.shape[: x.ndim - rank], *[axis[1 if transposed else 2] for axis in axes])
    sums: dict[Shape, list[Any]] = {where: [] for where in np.ndindex(*shape)}
    for where in np.ndindex(*[axis[2] for axis in axes]):
        for place, weight in _exact_terms(axes, where, divisor is None):
            exact = weight if divisor is None else weight / Fraction(divisor)
            factor = m.ratio(exact.numerator, exact.denominator)
            for lead in np.ndindex(*shape[: len(shape) - rank]):
                target, source = (place, where) if transposed else (where, place)
                sums[(*lead, *target)].append(x[(*lead, *source)] * factor)
    result = np.empty(shape, dtype=object)
    for where, values in sums.items():
        result[where] = m.total(values)
    return result


# --- rows --------------------------------------------------------------------------------------------------------


def _infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    axes = attrs["axes"]
    sizes = [axis[1 if attrs["transposed"] else 2] for axis in axes]
    return (*args[0].shape[: args[0].ndim - len(axes)], *sizes), args[0].dtype


def _rule(node: Node, g: Node) -> list[Node | None]:
    return [apply(node.op, (g,), {**node.attrs, "transposed": not node.attrs["transposed"]})]


def resampled(row: Op, x: Node, axes: Sequence[Axis], divisor: float | None = None, grad_fn: str | None = None) -> Node:
    """The node of such a row: its last axes mapped, the averages of windows divided by `divisor` where it is given."""
    attrs = {"axes": tuple(axes), "divisor": divisor, "transposed": False}
    return apply(row, (x,), attrs, grad_fn=grad_fn)


def floating(x: Node) -> Node:
    """A tensor of integers as floats, any other itself."""
    return x if x.dtype.kind in "fc" else make.to(x, FLOAT64)


def resampling(
    name: str,
    doc: str,
    *,
    call: Callable[..., Any],
    forms: tuple[str, ...],
    examples: tuple[Example, ...],
    grad_fn: str | Callable[[Sequence[Node], Attrs], str],
    domain: str = "all numbers: linear",
    kink: str = "none: linear",
) -> Op:
    """A row whose op maps the last axes, each by itself and linearly.

    Args:
        name, doc, call, forms, examples, grad_fn, domain, kink: see `Op`.
    """
    return add_row(
        Op(
            name=name,
            doc=doc,
            family="nn.functional",
            call=call,
            forms=forms,
            method=False,
            infer=_infer,
            batch=batch.trailing,
            kernel=_kernel,
            formula=_formula,
            rule=_rule,
            examples=examples,
            domain=domain,
            kink=kink,
            grad_fn=grad_fn,
        )
    )
