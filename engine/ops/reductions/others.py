"""The product of all other elements: the slope of a product, which never divides by an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Node, Op, add_row, apply, make
from .. import infer
from ..fold import conjugate, flowing
from .scaled import product_of_others
from .scan import recurrence, shift


def _others_formula(m: Any, x: Any, axis: int) -> Any:
    result = x.copy()
    for place in np.ndindex(*x.shape):
        lane = [x[(*place[:axis], entry, *place[axis + 1 :])] for entry in range(x.shape[axis]) if entry != place[axis]]
        result[place] = m.product(lane)
    return result


def _others_rule(node: Node, g: Node) -> list[Node | None]:
    """By way of the products before and after each element, whose product it is."""
    x, axis = conjugate(node.args[0]), node.attrs["axis"]
    found = None
    for reverse in (False, True):
        step = -1 if reverse else 1
        running, rest = (apply(make.cumprod, (x,), {"dim": (axis,), "reverse": way}) for way in (reverse, not reverse))
        to_running = shift(flowing(g, shift(rest, axis, -step, 1.0)), axis, -step, 0.0)
        # The row's own rule conjugates what it multiplies with, and so does this one.
        part = recurrence(shift(x, axis, -step, 0.0), to_running, axis, not reverse)
        part = flowing(part, shift(running, axis, step, 1.0))
        found = part if found is None else found + part
    return [found]


OTHERS = add_row(
    Op(
        name="others",
        doc="The product of all other elements along an axis, for each one.",
        family="cotangent",
        call=lambda x, axis: others(x, axis),
        method=False,
        infer=infer.same,
        kernel=product_of_others,
        formula=_others_formula,
        rule=_others_rule,
        grad_fn="MulBackward0",
    )
)


def others(x: Node, axis: int) -> Node:
    """The product of all other elements along an axis, for each one."""
    return apply(OTHERS, (x,), {"axis": axis})
