"""Graph to graph: what depends on fixed numbers alone is computed at once, and what they make needless is left out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..graph import LEAF, DType, Node, ancestors, apply, leaf, make

_STOPPING: Final = frozenset({"flow", "meet"})
_PRODUCTS: Final = frozenset({"mul", *_STOPPING})
_MOST_BYTES: Final = 2**20
"""Larger arrays are computed in each run rather than held between runs."""
_PUTS: Final = frozenset({"slice_scatter", "select_scatter"})


def folded(target: Node, fixed: Node, since: int) -> Node:
    """The same value in fewer steps, to the same bits but for the sign of zeros.

    Args:
        target: what is asked for.
        fixed: a leaf that is never given another value.
        since: only nodes made from here on, by their `serial`, are replaced.
    """
    folding = _Folding(fixed)
    new: dict[Node, Node] = {}
    for node in ancestors([target]):
        if node.op is LEAF:
            new[node] = folding.seen(node)
        elif node.serial < since or node.op.outputs > 1:
            new[node] = node
        else:
            new[node] = folding.simpler(node, tuple([new[arg] for arg in node.args]))
    return new[target]


class _Folding:
    """Nodes made again, and the values of those that never change."""

    def __init__(self, fixed: Node) -> None:
        self.values: dict[Node, Any] = {fixed: fixed.value}
        self._numbers: dict[tuple[str, DType], Node] = {}

    def seen(self, node: Node) -> Node:
        """A leaf, noted if it is a number that was written or made, and no variable."""
        made = isinstance(node.value, np.generic) and node.name is None and not node.requires_grad
        if node.is_number or made:
            self.values[node] = node.value
        return node

    def simpler(self, node: Node, args: tuple[Node, ...]) -> Node:
        """A node of other arguments."""
        if args and node.size * node.dtype.itemsize <= _MOST_BYTES and all(arg in self.values for arg in args):
            assert node.op.kernel is not None
            with np.errstate(all="ignore"):
                value = node.op.kernel(np, *[self.values[arg] for arg in args], **node.attrs)
            if getattr(value, "dtype", None) == node.dtype:
                return self._leaf(value)
        name = node.op.name
        if name in _PRODUCTS:
            return self._product(node, args)
        if name == "neg" and args[0].dtype == node.dtype:
            return self._negative(args[0])
        if name == "add" and all(arg.dtype == node.dtype for arg in args):
            one, other = args
            if other.op.name == "neg":
                return apply(make.sub, (one, other.args[0]))
            if one.op.name == "neg":
                return apply(make.sub, (other, one.args[0]))
        if name in _PUTS and args[1].op.name == "neg" and args[0] in self.values and not np.any(self.values[args[0]]):
            return self._negative(apply(node.op, (args[0], args[1].args[0]), node.attrs))
        if all(old is arg for old, arg in zip(node.args, args, strict=True)):
            return node
        return apply(node.op, args, node.attrs, grad_fn=node.grad_fn, like=node)

    def _leaf(self, value: Any) -> Node:
        # A part of a larger array is read more slowly; one that is only repeated takes no memory.
        if np.ndim(value) and 0 not in value.strides:
            value = np.ascontiguousarray(value)
        node = leaf(value)
        self.values[node] = value
        return node

    def _number(self, value: Any, dtype: DType) -> Node:
        """A number as an array without axes: NumPy takes it faster than a Python number."""
        key = (repr(value), dtype)
        if key not in self._numbers:
            self._numbers[key] = self._leaf(np.array(value, dtype))
        return self._numbers[key]

    def _product(self, node: Node, args: tuple[Node, ...]) -> Node:
        """A negative passes its sign on, a one is left out, and a factor that cannot stop needs no guard."""
        op = node.op
        for place, arg in enumerate(args):
            other = args[1 - place]
            if arg.op.name == "neg" and arg.dtype == node.dtype and (other.dtype == node.dtype or other.is_number):
                plain = (*args[:place], arg.args[0], *args[place + 1 :])
                return self._negative(self._product(node, plain))
        for place, arg in enumerate(args):
            if arg not in self.values or node.dtype.kind != "f":
                continue
            value, other = np.asarray(self.values[arg]), args[1 - place]
            cannot_stop = np.all(np.isfinite(value)) and ((op.name == "flow" and place == 1) or np.all(value))
            if op.name in _STOPPING and not cannot_stop:
                continue
            op = make.mul
            if value.size and other.shape == node.shape and other.dtype == node.dtype and _is_uniform(value):
                return self._times(other, value.flat[0])
        if op is node.op and all(old is arg for old, arg in zip(node.args, args, strict=True)):
            return node
        return apply(op, args, like=node)

    def _times(self, node: Node, number: Any) -> Node:
        """A node times a number, in one product with a factor that it has already where that rounds the same."""
        if number == 1:
            return node
        if node.op.name in _PRODUCTS and np.isfinite(number):
            for place, arg in enumerate(node.args):
                value = self.values.get(arg)
                if value is not None and arg.dtype == node.dtype and _is_exact(value, number):
                    return self._scaled(node, place, number)
        return apply(make.mul, (self._number(number, node.dtype), node), like=node)

    def _negative(self, node: Node) -> Node:
        if node.op.name == "neg":
            return node.args[0]
        if node.op.name in _PRODUCTS:
            for place, arg in enumerate(node.args):
                if arg in self.values and arg.dtype == node.dtype:
                    return self._scaled(node, place, -1)
        return apply(make.neg, (node,))

    def _scaled(self, node: Node, place: int, number: Any) -> Node:
        """A product one of whose factors, which never changes, is another."""
        value = self.values[node.args[place]]
        with np.errstate(all="ignore"):
            scaled = np.asarray(value * node.dtype.type(number))
        other = self._leaf(scaled) if scaled.ndim else self._number(scaled[()], node.dtype)
        return apply(node.op, (*node.args[:place], other, *node.args[place + 1 :]), like=node)


def _is_exact(value: Any, number: Any) -> bool:
    """Whether something times a factor, then times a number, is that times the product of both, to the last bit.

    So it is where the first changes signs at most, or where neither makes anything smaller and one of the two is a
    power of two; then only what is subnormal already may be rounded otherwise.
    """
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(value * number)):
            return False
    if np.all((value == 0) | (np.abs(value) == 1)):
        return True
    raising = bool(np.all(np.abs(value) >= 1)) and abs(number) >= 1
    return raising and any(bool(np.all(np.abs(np.frexp(each)[0]) == 0.5)) for each in (value, number))


def _is_uniform(value: Any) -> bool:
    return bool(np.all(value == value.flat[0]))
