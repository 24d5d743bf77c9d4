"""Jacobians, Hessians and repeated derivatives as values: batched passes, in parts that fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..errors import LimitError
from ..graph import Node, leaf
from ..run.device import current_way
from ..sparsity import compressed
from .batching import arguments_of_all, batched, bytes_of_one_run
from .nodes import Runs, by_directions, by_entries, gradient, is_wide, repeated, transposed

MOST_ENTRIES: Final = 2**27
"""The largest array of derivatives that is made: 1 GB of float64."""

MEMORY_MB: Final = 4
"""How much memory the values of one batch may take, beside the result: what a cache holds, for more is slower."""


def jacobian(output: Node, inputs: Sequence[Node]) -> dict[Node, Any]:
    """The Jacobian of an output by each input: an array of the output's shape followed by the input's.

    Args:
        output: a node of real numbers.
        inputs: nodes that require a gradient.

    Raises:
        NoGradientError: where an op on the path has no derivative.
        LimitError: where one would be too large.
    """
    for node in inputs:
        _require_room(output, node)
    narrow = [node for node in inputs if not is_wide(output, node)]
    found: dict[Node, Any] = {}
    if narrow:
        found.update(zip(narrow, rows_of(by_entries(output, narrow)), strict=True))
    for node in inputs:
        if node not in found:
            columns = rows_of(by_directions(output, node))[0]
            found[node] = columns.transpose(transposed(columns.shape, node.ndim))
    return {node: found[node] for node in inputs}


def hessian(output: Node, inputs: Sequence[Node]) -> dict[Node, dict[Node, Any]]:
    """The second derivatives of a single number: for each pair of inputs an array of the shapes of both.

    The block of two inputs is computed over the entries of the smaller one, and is the transpose of the block of the
    two the other way around.

    Args:
        output: a node of one real number.
        inputs: nodes that require a gradient.

    Raises:
        NoGradientError: where an op on the path has no derivative.
        LimitError: where a block would be too large.
    """
    slopes = dict(zip(inputs, gradient(output, inputs), strict=True))
    blocks: dict[tuple[Node, Node], Any] = {}
    by_size = sorted(inputs, key=lambda node: node.size)
    for place, first in enumerate(by_size):
        others = by_size[place:]
        for other in others:
            _require_room(first, other)
        for other, block in zip(others, rows_of(by_entries(slopes[first], others)), strict=True):
            blocks[first, other] = block
            if other is not first:
                blocks[other, first] = block.transpose(transposed(block.shape, first.ndim))
    return {first: {other: blocks[first, other] for other in inputs} for first in inputs}


def derivatives(output: Node, node: Node, order: int) -> list[Any]:
    """The derivatives of orders 1 to `order` of a single number by a single number, each of the input's shape.

    Raises:
        NoGradientError: where an op on the path has no derivative.
        LimitError: where a graph would be too large.
    """
    wanted = repeated(output, node, order)
    values = current_way().evaluate(wanted)
    return [values[each] for each in wanted]


def rows_of(runs: Runs, megabytes: float = MEMORY_MB) -> list[Any]:
    """The matrix of each target of a linear map, as an array of the shape of its leaf followed by the target's.

    Args:
        runs: the map.
        megabytes: how much memory the values of one batch may take; a single run is always made whole.
    """
    nodes = compressed(runs.targets, runs.leaf, 0)
    values = current_way().evaluate([node for node in nodes if node is not None])
    others = [target for target, node in zip(runs.targets, nodes, strict=True) if node is None]
    rest = iter(_all_rows(Runs(runs.leaf, others), megabytes) if others else ())
    return [next(rest) if node is None else values[node] for node in nodes]


def _all_rows(runs: Runs, megabytes: float) -> list[Any]:
    """As `rows_of`, from a run for each entry of the leaf."""
    varying, total = runs.leaf, runs.leaf.size
    shared = arguments_of_all(runs.targets, {varying: None})
    way = current_way()
    values = way.evaluate(shared)
    fixed = {node: leaf(np.asarray(values[node])[()]) for node in shared}
    most = int(max(megabytes * 2**20 // max(bytes_of_one_run(runs.targets, {varying: None}), 1), 1))
    parts = max(-(-total // most), 1)
    count = max(-(-total // parts), 1)
    member = leaf(np.zeros((count, *varying.shape), varying.dtype))
    nodes = batched(runs.targets, {varying: member}, fixed)
    compute = way.prepare(nodes, [member])
    results = [np.empty((total, *target.shape), target.dtype) for target in runs.targets]
    for start in range(0, total, count):
        stop = min(start + count, total)
        rows = np.zeros((count, total), varying.dtype)
        rows[np.arange(stop - start), np.arange(start, stop)] = 1
        found = compute({member: rows.reshape(member.shape)})
        for result, node in zip(results, nodes, strict=True):
            result[start:stop] = found[node][: stop - start]
    return [result.reshape((*varying.shape, *result.shape[1:])) for result in results]


def _require_room(first: Node, second: Node) -> None:
    """Refuse an array that is too large before anything is computed."""
    entries = first.size * second.size
    if entries > MOST_ENTRIES:
        gigabytes = entries * second.dtype.itemsize / 1e9
        raise LimitError(
            f"derivatives of shape {list(first.shape)} by shape {list(second.shape)} would take {gigabytes:,.0f} GB",
            hint=f"the limit is {MOST_ENTRIES:,} entries; differentiate a part, or by a part",
        )
