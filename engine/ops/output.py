"""Kernels that give several results at once, and the ops that take these apart.

`linalg.qr` is one node of two results, which nobody sees; Q and R are `output` nodes of it. So one factorisation serves
all results, and gradient.py hands its rule all their cotangents together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..graph import Attrs, DType, Node, Op, Outputs, Shape, add_row, apply

Results = Callable[[Sequence[Node], Attrs], Sequence[tuple[Shape, DType]]]

_RESULTS: Final[dict[str, Results]] = {}


def _infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    source = args[0]
    return _RESULTS[source.op.name](source.args, source.attrs)[attrs["index"]]


OUTPUT: Final = add_row(
    Op(
        name="output",
        doc="One of the results of an op that has several.",
        family="cotangent",
        call=lambda source, index: output(source, index),
        method=False,
        infer=_infer,
        kernel=lambda _xp, results, index: results[index],
        formula=lambda _m, results, index: results[index],
        # No rule: gradient.py collects the cotangents of all outputs for the rule of their source.
    )
)


def output(source: Node, index: int) -> Node:
    """One result of a node that has several."""
    return apply(OUTPUT, (source,), {"index": index}, grad_fn=source.grad_fn or "")


def row_of_several(name: str, doc: str, *, results: Results, outputs: int, **fields: Any) -> Op:
    """A row whose kernel and formula give a tuple, and whose rule gets a list of cotangents (None: nothing flows).

    Args:
        name, doc, fields: see `Op`.
        results: from arguments and attributes to shape and dtype of each result.
        outputs: how many results there are.
    """
    _RESULTS[name] = results
    row = Op(name=name, doc=doc, outputs=outputs, infer=lambda args, attrs: results(args, attrs)[0], **fields)
    return add_row(row)


def results_of(source: Node, *names: str) -> Outputs:
    """The results of a node by name, in their order."""
    return Outputs(names, tuple(output(source, index) for index in range(len(names))))
