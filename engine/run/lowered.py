"""Ops taken apart into passes over their rows or columns, so that what they share is computed once.

A softmax is a largest element, a difference, exponentials, their sum and a quotient: steps that a fused run does on one
block while it is in the cache, and that the backward pass finds done already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from ..graph import BOOL, INT64, TABLE, Attrs, DType, Op, Shape
from ..ops.infer import reduced
from .rows import (
    ADDED,
    CONTRACTED,
    FIRST,
    LARGEST_PLACE,
    MEANS,
    MOMENTS,
    OVER_WHOLE,
    PART,
    PLACED,
    ROOT_IN_RANGE,
    SHARE,
    SLIM,
    TAKEN,
)
from .values import Value, Values

_NO_ATTRS: Final[Attrs] = {}

_SUMS_DEEP: Final = 4
"""Sums of sums through which an element is looked for: each level may double what is taken of the rows."""


class _Lowering:
    """Makes the values that one op is taken apart into."""

    def __init__(self, values: Values, x: Value, dim: tuple[int, ...]) -> None:
        self.values = values
        self.x = x
        self.dim = dim
        self.kept = reduced(x.shape, dim, True)
        self.count = math.prod(x.shape[axis] for axis in dim)

    def on(self, name: str | Op, *args: Value) -> Value:
        """A row on arguments that broadcast, in the dtype of x."""
        op = TABLE[name] if isinstance(name, str) else name
        shape = self.x.shape if any(arg.shape == self.x.shape for arg in args) else self.kept
        return self.values.make(op, args, _NO_ATTRS, shape, self.x.dtype)

    def folded(self, name: str | Op, x: Value, dtype: DType | None = None) -> Value:
        """A row that folds the axes, which are kept with length 1."""
        op = TABLE[name] if isinstance(name, str) else name
        attrs = {"dim": self.dim, "keepdim": True} if isinstance(name, str) else {"dim": self.dim}
        return self.values.make(op, (x,), attrs, self.kept, dtype or x.dtype)

    def number(self, value: float) -> Value:
        """A number of the dtype of x."""
        return self.values.uniform(self.x.dtype.type(value), (), self.x.dtype)

    def without(self, value: Value, keepdim: bool) -> Value:
        """The same without the axes of length 1, unless they are to be kept."""
        if keepdim:
            return value
        shape = reduced(self.x.shape, self.dim, False)
        return self.values.make(TABLE["reshape"], (value,), {"shape": shape}, shape, value.dtype)

    # Exponentials

    def peak(self) -> Value:
        """The largest element; of rows, the one that stands where it is asked for anyway."""
        place = self.place()
        if place is None:
            return self.folded("amax", self.x)
        return self.values.make(TAKEN, (self.x, place), {"dim": self.dim}, self.kept, self.x.dtype)

    def apart(self) -> Value:
        """The elements less the largest."""
        return self.on("sub", self.x, self.peak())

    def place(self) -> Value | None:
        """Where the first of the largest stands, if it stands in rows."""
        if self.dim != (len(self.x.shape) - 1,):
            return None
        return self.values.make(LARGEST_PLACE, (self.x,), {"dim": self.dim}, self.kept, INT64)

    def rest(self) -> Value:
        """The sum of the exponentials of all but the first largest, whose own is 1."""
        powers = self.on("exp", self.apart())
        zero = self.number(0.0)
        place = self.place()
        noted = self.values.noted
        if place is None:
            mask = self.values.make(TABLE["first_largest"], (self.x,), {"dim": self.dim}, self.x.shape, BOOL)
            others = self.values.make(TABLE["where"], (mask, zero, powers), _NO_ATTRS, self.x.shape, self.x.dtype)
            rest = self.folded("sum", others)
            noted[self.x, self.dim] = rest, powers
            return rest
        # The largest is taken out for the sum and put back: in a run one element a row, and no copy of the rows.
        dim = {"dim": self.dim}
        largest = self.values.make(TAKEN, (powers, place), dim, self.kept, self.x.dtype)
        others = self.values.make(PLACED, (powers, zero, place), dim, self.x.shape, self.x.dtype)
        rest = self.folded("sum", others)
        back = self.values.make(PLACED, (others, largest, place), dim, self.x.shape, self.x.dtype)
        noted[self.x, self.dim] = rest, back
        return rest

    # Distances from the mean

    def parts(self, op: Op, count: int) -> list[Value]:
        """What a reduction over the first axes gives together, one by one."""
        stack = self.values.make(op, (self.x,), {"dim": self.dim}, (count, *self.kept), self.x.dtype)
        return [self.values.make(PART, (stack,), {"index": index}, self.kept, self.x.dtype) for index in range(count)]

    def centered(self) -> Value:
        """The elements less their mean, by way of their distance from the first: of equal ones it is exactly 0."""
        if 0 in self.dim:
            first, mean = self.parts(MEANS, 2)
            return self.on("sub", self.on("sub", self.x, first), mean)
        apart = self.on("sub", self.x, self.folded(FIRST, self.x))
        return self.on("sub", apart, self.on("div", self.folded("sum", apart), self.number(self.count)))

    def distances(self, *, about_mean: bool = True) -> tuple[Value, Value]:
        """The elements, less their mean or as they are, and the sum of their squares."""
        if not about_mean:
            return self.x, self.folded("sum", self.on("square", self.x))
        if 0 in self.dim:
            first, mean, squares = self.parts(MOMENTS, 3)
            return self.on("sub", self.on("sub", self.x, first), mean), squares
        centered = self.centered()
        return centered, self.folded("sum", self.on("square", centered))


def _softmax(lowering: _Lowering, attrs: Attrs) -> Value:  # noqa: ARG001  # every lowering takes the attributes
    noted = lowering.values.noted.get((lowering.x, lowering.dim))
    if noted is None:
        powers = lowering.on("exp", lowering.apart())
        return lowering.on(SHARE, powers, lowering.folded("sum", powers))
    rest, powers = noted
    return lowering.on(SHARE, powers, lowering.on("add", rest, lowering.number(1.0)))


def _log_softmax(lowering: _Lowering, attrs: Attrs) -> Value:  # noqa: ARG001  # as above
    return lowering.on("sub", lowering.apart(), lowering.on("log1p", lowering.rest()))


def _logsumexp(lowering: _Lowering, attrs: Attrs) -> Value:
    rest = lowering.rest()
    peak = lowering.peak()
    finite = lowering.values.make(TABLE["isfinite"], (peak,), _NO_ATTRS, lowering.kept, BOOL)
    result = lowering.on("where", finite, lowering.on("add", peak, lowering.on("log1p", rest)), peak)
    return lowering.without(result, attrs["keepdim"])


def _mean(lowering: _Lowering, attrs: Attrs) -> Value:
    total = lowering.folded("sum", lowering.x)
    return lowering.without(lowering.on("div", total, lowering.number(lowering.count)), attrs["keepdim"])


def _centered(lowering: _Lowering, attrs: Attrs) -> Value:  # noqa: ARG001  # as above
    return lowering.centered()


def _root(lowering: _Lowering, squares: Value, attrs: Attrs) -> Value:
    """The root of a mean square plus eps: NaN where a square overflowed, unless the elements are looked at again."""
    mean = lowering.on("div", squares, lowering.number(lowering.count))
    root = lowering.on("sqrt", lowering.on("add", mean, lowering.number(attrs["eps"])))
    finite = lowering.values.make(TABLE["isfinite"], (root,), _NO_ATTRS, lowering.kept, BOOL)
    known = lowering.on("where", finite, root, lowering.number(math.nan))
    again = {"dim": lowering.dim, "eps": attrs["eps"], "about_mean": attrs["about_mean"]}
    return lowering.values.make(ROOT_IN_RANGE, (known, lowering.x), again, lowering.kept, lowering.x.dtype)


def _deviation(lowering: _Lowering, attrs: Attrs) -> Value:
    squares = lowering.distances(about_mean=attrs["about_mean"])[1]
    return lowering.without(_root(lowering, squares, attrs), attrs["keepdim"])


def _standardize(lowering: _Lowering, attrs: Attrs) -> Value:
    centered, squares = lowering.distances(about_mean=attrs["about_mean"])
    # A root is no number so small that its reciprocal overflows: one quotient a row is enough.
    root = _root(lowering, squares, attrs)
    return lowering.on("mul", centered, lowering.on("div", lowering.number(1.0), root))


def _var(lowering: _Lowering, attrs: Attrs) -> Value:
    freedom = max(lowering.count - attrs["correction"], 0)
    variance = lowering.on("div", lowering.distances()[1], lowering.number(freedom))
    return lowering.without(variance, attrs["keepdim"])


_LOWERINGS: Final[dict[str, Callable[[_Lowering, Attrs], Value]]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "mean": _mean,
    "centered": _centered,
    "standardize": _standardize,
    "deviation": _deviation,
    "var": _var,
}


def lowered(values: Values, op: Op, args: Sequence[Value], attrs: Attrs, shape: Shape, dtype: DType) -> Value:
    """The value of an op, taken apart where that makes passes that others can share."""
    if args:
        x = args[0]
        lowering = _LOWERINGS.get(op.name)
        large = x.size >= values.large or (lowering is _mean and x.size)
        if lowering is not None and large and x.dtype.kind == "f" and x.dtype == dtype and attrs["dim"]:
            return lowering(_Lowering(values, x, attrs["dim"]), attrs)
        if op.name == "flow" and args[1].op is SHARE and x.shape == args[1].args[1].shape != shape:
            # A number of each row times shares of the row's whole: the number over the whole, times parts, one pass
            # less. It stops where the number is 0; a part that vanished does not stop an infinite one.
            part, whole = args[1].args
            factor = values.make(OVER_WHOLE, (x, whole), _NO_ATTRS, x.shape, dtype)
            return values.make(TABLE["flow"], (factor, part), _NO_ATTRS, shape, dtype)
        if op.name == "gather" and x.size >= values.large:
            found = _gathered_before(values, x, args[1], attrs, _SUMS_DEEP)
            if found is not None:
                return found
        if op.name == "sub" and x.op.name == "scatter_add" and x.size >= values.large and args[1].shape == shape:
            start, source, index = x.args
            if start.known is not None and start.known == 0 and _is_single(x, index) and dtype == x.dtype:
                return values.make(
                    ADDED, (_negative(values, args[1]), source, index), {"dim": (x.attrs["axis"],)}, shape, dtype
                )
        if op.name == "where":
            found = _in_places(values, args, shape, dtype)
            if found is not None:
                return found
        if op.name == "matmul" and x.op.name == "permute" and x.attrs["dims"] == (1, 0):
            (left,) = x.args
            right = args[1]
            if len(right.shape) == 2 and left.size >= values.large and min(left.shape[1], right.shape[1]) <= SLIM:
                return values.make(CONTRACTED, (left, right), attrs, shape, dtype)
        if op.name == "sum" and x.size >= values.large:
            found = _of_single(values, x, attrs, shape)
            if found is not None:
                return found
    return values.make(op, args, attrs, shape, dtype)


def _negative(values: Values, x: Value) -> Value:
    """A value with the other sign: of a product, that of its smaller factor."""
    if x.op.name in ("mul", "flow", "meet"):
        small = min(x.args, key=lambda arg: arg.size)
        if small.size < x.size:
            turned = values.make(TABLE["neg"], (small,), _NO_ATTRS, small.shape, small.dtype)
            args = [turned if arg is small else arg for arg in x.args]
            return values.make(x.op, args, x.attrs, x.shape, x.dtype)
    return values.make(TABLE["neg"], (x,), _NO_ATTRS, x.shape, x.dtype)


def _is_single(x: Value, index: Value) -> bool:
    """Whether positions along the last axis name one element of each row."""
    axis = len(x.shape) - 1
    given = x.attrs.get("axis", axis)
    return given == axis and axis > 0 and index.shape == (*x.shape[:axis], 1)


def _gathered_before(values: Values, x: Value, index: Value, attrs: Attrs, levels: int) -> Value | None:
    """One element of each row of a sum or difference: of what is added, taken before it is."""
    axis = len(x.shape) - 1
    if attrs["axis"] != axis or not axis or index.shape != (*x.shape[:axis], 1):
        return None
    if not levels or x.op.name not in ("add", "sub", "neg", "mul"):
        return None
    taken = []
    for arg in x.args:
        if arg.shape == x.shape and arg.known is None:
            found = _gathered_before(values, arg, index, attrs, levels - 1)
            taken.append(found or values.make(TABLE["gather"], (arg, index), attrs, index.shape, arg.dtype))
        elif arg.shape in ((), index.shape):
            taken.append(arg)
        else:
            return None
    return values.make(x.op, taken, x.attrs, index.shape, x.dtype)


def _in_places(values: Values, args: Sequence[Value], shape: Shape, dtype: DType) -> Value | None:
    """Rows in which one element, the first of the largest of other rows, is another: no mask is needed."""
    mask, single, rest = args
    if mask.op.name != "first_largest" or mask.size < values.large:
        return None
    dim = mask.attrs["dim"]
    kept = reduced(mask.shape, dim, True)
    fits = rest.shape == mask.shape == shape and rest.dtype == dtype
    if dim != (len(mask.shape) - 1,) or not fits or not (single.known is not None or single.shape == kept):
        return None
    place = values.make(LARGEST_PLACE, mask.args, {"dim": dim}, kept, INT64)
    return values.make(PLACED, (rest, single, place), {"dim": dim}, shape, dtype)


def _of_single(values: Values, x: Value, attrs: Attrs, shape: Shape) -> Value | None:
    """A sum over rows that hold one number each, and zeros: that number."""
    dim = attrs["dim"]
    kept = reduced(x.shape, dim, True)
    single: Value | None = None
    if x.op.name == "scatter_add" and dim == (x.attrs["axis"],) and dim[0] > 0:
        start, source, index = x.args
        if start.known is not None and start.known == 0 and index.shape == kept:
            single = source
    elif x.op.name == "where" and dim == (len(x.shape) - 1,) and dim[0] > 0:
        mask, taken, zero = x.args
        largest = mask.op.name == "first_largest" and mask.attrs["dim"] == dim and mask.shape == taken.shape
        if largest and zero.known is not None and zero.known == 0:
            place = values.make(LARGEST_PLACE, mask.args, {"dim": dim}, kept, INT64)
            single = values.make(TAKEN, (taken, place), {"dim": dim}, kept, x.dtype)
    if single is None or single.shape == shape:
        return single
    return values.make(TABLE["reshape"], (single,), {"shape": shape}, shape, x.dtype)
