"""Roots, squares and norms: what has no slope at 0, and squares that leave the range of float64."""

from __future__ import annotations

from ..graph import Node, make
from .match import Found, argument_of, is_op, is_real, root_of, shaped, squared


def root_of_square(node: Node) -> Found | None:
    """sqrt(x**2)."""
    inner = root_of(node)
    x = None if inner is None else squared(inner)
    return None if x is None else Found(make.abs(x), (x,))


def square_of_root(node: Node) -> Found | None:
    """sqrt(x)**2."""
    inner = squared(node)
    x = None if inner is None else root_of(inner)
    return None if x is None else Found(make.where(make.ge(x, 0.0), x, node), (x,))


def square_of_absolute(node: Node) -> Found | None:
    """abs(x)**2."""
    inner = squared(node)
    x = None if inner is None else argument_of(inner, "abs")
    return None if x is None or not is_real(x) else Found(make.square(x), (x,))


def square_of_norm(node: Node) -> Found | None:
    """norm(v)**2."""
    inner = squared(node)
    if inner is None or not is_op(inner, "linalg.vector_norm") or inner.attrs["p"] != 2 or not is_real(inner.args[0]):
        return None
    v = inner.args[0]
    return Found(make.sum(make.square(v), inner.attrs["dim"], inner.attrs["keepdim"]), (v,))


def square_of_hypot(node: Node) -> Found | None:
    """hypot(x, y)**2."""
    inner = squared(node)
    if inner is None or not is_op(inner, "hypot"):
        return None
    x, y = inner.args
    return Found(make.square(x) + make.square(y), tuple(dict.fromkeys((x, y))))


def norm(node: Node) -> Found | None:
    """sqrt(sum(v**2))."""
    total = root_of(node)
    if total is None or not is_op(total, "sum"):
        return None
    v = squared(total.args[0])
    if v is None or not v.size:
        return None
    made = make.vector_norm(v, 2, total.attrs["dim"], total.attrs["keepdim"])
    return Found(made, (v,))


def hypot(node: Node) -> Found | None:
    """sqrt(x**2 + y**2)."""
    total = root_of(node)
    if total is None or not is_op(total, "add"):
        return None
    x, y = (squared(part) for part in total.args)
    if x is None or y is None:
        return None
    # hypot rounds once where the root of a sum rounds three times, so it is never further off.
    return Found(shaped(make.hypot(x, y), node), tuple(dict.fromkeys((x, y))))
