"""How rows are made that only move entries: what they mean is what NumPy's own call does to exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply
from .infer import integers
from .row import Infer


def shape_given(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape in the attribute `shape`, the dtype of the first argument."""
    return attrs["shape"], args[0].dtype


def shape_kept(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    """The shape and dtype of the first argument."""
    return args[0].shape, args[0].dtype


def by_kernel(kernel: Callable[..., Any], positions: int | None = None) -> Callable[..., Any]:
    """The formula of a row that only moves entries: its kernel on object arrays, which computes nothing.

    Args:
        kernel: the row's kernel.
        positions: the first of the arguments that are positions rather than entries; all after it are positions too.
    """

    def formula(m: Any, *values: Any, **attrs: Any) -> Any:
        moved = [
            np.asarray(value, dtype=object if positions is None or index < positions else None)
            for index, value in enumerate(values)
        ]
        if positions is not None:
            moved[positions:] = [value.astype(np.int64) for value in moved[positions:]]
        result = np.asarray(kernel(np, *moved, **attrs), dtype=object)
        # Entries that the kernel filled in are Python's or NumPy's zeros, not numbers of the arithmetic.
        filled = np.empty(result.shape, dtype=object)
        for place, entry in enumerate(result.ravel()):
            filled.flat[place] = m.number(entry) if type(entry) in (int, float, bool) else entry
        return filled

    return formula


def moving(
    name: str,
    doc: str,
    *,
    call: Callable[..., Any],
    forms: tuple[str, ...],
    kernel: Callable[..., Any],
    rule: Callable[[Node, Node], Sequence[Node | None]] | None,
    grad_fn: str | Callable[[Sequence[Node], Attrs], str],
    inputs: Mapping[str, Shape],
    infer: Infer = shape_given,
    family: str = "shape",
    positions: int | None = None,
    **fields: Any,
) -> Op:
    """A row whose result holds entries of its arguments, and zeros.

    Args:
        name, doc, call, forms, kernel, rule, grad_fn, infer, family, fields: see `Op`.
        inputs: the shapes of the leaves in the first form, which is the example.
        positions: see `by_kernel`.
    """
    return add_row(
        Op(
            name=name,
            doc=doc,
            family=family,
            call=call,
            forms=forms,
            infer=infer,
            kernel=kernel,
            formula=fields.pop("formula", None) or by_kernel(kernel, positions),
            rule=rule,
            grad_fn=grad_fn,
            examples=fields.pop("examples", (Example(forms[0], inputs),)),
            domain=fields.pop("domain", "all numbers: linear"),
            kink=fields.pop("kink", "none: linear"),
            **fields,
        )
    )


def joining(
    name: str,
    doc: str,
    *,
    call: Callable[..., Any],
    forms: tuple[str, ...],
    inputs: Mapping[str, Shape],
    grad_fn: str | Callable[[Sequence[Node], Attrs], str],
    family: str = "shape",
    **fields: Any,
) -> Op:
    """A row that only joins moving rows.

    Args:
        name, doc, call, forms, grad_fn, family, fields: see `Op`.
        inputs: the shapes of the leaves in the first form, which is the example.
    """
    return add_row(
        Op(
            name=name,
            doc=doc,
            family=family,
            call=call,
            forms=forms,
            grad_fn=grad_fn,
            examples=fields.pop("examples", (Example(forms[0], inputs),)),
            domain=fields.pop("domain", "all numbers: linear"),
            kink=fields.pop("kink", "none: linear"),
            **fields,
        )
    )


def listed(values: Sequence[Any], what: str, *keywords: Any) -> tuple[int, ...]:
    """Integers given one by one, as one tuple or by keyword, as a tuple.

    Raises:
        InputError: where one is no integer.
    """
    for keyword in keywords:
        if keyword is not None:
            return integers(keyword, what)
    if len(values) == 1:
        return integers(values[0], what)
    return integers(tuple(values), what)


def renamed(node: Node, grad_fn: str) -> Node:
    """The same op under the name that PyTorch's `grad_fn` has where another function calls it."""
    return apply(node.op, node.args, node.attrs, grad_fn=grad_fn, like=node)


def several(nodes: Sequence[Node]) -> Outputs:
    """The results of a call that gives a tuple of tensors, named by their positions."""
    return Outputs(tuple(str(index) for index in range(len(nodes))), tuple(nodes))
