"""Jacobians, Hessians and repeated derivatives of the rewritten graph, with right numbers where it is singular."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..graph import Node
from ..referees.case import Case
from ..rewrite import rewritten
from ..run.device import current_way
from ..singular import at_kink, overflows, watched
from . import jacobian as batches

if TYPE_CHECKING:
    from ..limits import Block

_SECONDS: Final = 5.0
"""How long closer looks at all rows of a Jacobian may take together."""


class Derived(NamedTuple):
    """Derivatives of one output.

    Attributes:
        found: what was asked for, in the form of `jacobian.py`.
        warnings: what a person should know of how the numbers were found.
    """

    found: Any
    warnings: list[str]


def jacobian(name: str, output: Node, inputs: Mapping[str, Node]) -> Derived:
    """The Jacobian of an output by each input: {input node: array of the output's shape followed by the input's}.

    Args:
        name: the output's.
        output: a node of real numbers.
        inputs: nodes that require a gradient, by name.

    Raises:
        NoGradientError, LimitError: as `jacobian.jacobian`.
    """
    output = _computed(output, inputs)
    found = batches.jacobian(output, list(inputs.values()))
    if not _is_singular(output, found.values()):
        return Derived(found, [])
    from ..limits import repaired, shortened  # imports mpmath, which takes longer than all else

    arrays = {node: np.array(array) for node, array in found.items()}
    warnings: list[str] = []
    end = time.monotonic() + _SECONDS
    places = sorted(np.ndindex(output.shape), key=lambda place: _is_finite_at(place, arrays.values()))
    for done, place in enumerate(places):
        left = end - time.monotonic()
        if left <= 0:
            warnings.insert(
                0,
                f"a closer look at the Jacobian of {name} took too long: of {len(places) - done:,} of its "
                f"{len(places):,} rows the chain rule's numbers stand as they are",
            )
            break
        weights = np.zeros(output.shape, output.dtype)
        weights[place] = 1
        case = Case([output], [weights], dict(inputs), {key: arrays[node][place] for key, node in inputs.items()})
        repairs = repaired(case, f"{name}[{', '.join(map(str, place))}]" if place else name, seconds=left)
        for key, node in inputs.items():
            arrays[node][place] = repairs.gradients[key]
        warnings += repairs.warnings
    return Derived(arrays, shortened(warnings))


def _is_finite_at(place: tuple[int, ...], arrays: Iterable[Any]) -> bool:
    """Whether no number of a row of the Jacobian is broken; broken rows are looked at first."""
    return all(bool(np.all(np.isfinite(array[place]))) for array in arrays)


def hessian(name: str, output: Node, inputs: Mapping[str, Node]) -> Derived:
    """The second derivatives of a single number: {input node: {input node: array of the shapes of both}}.

    Args:
        name: the output's.
        output: a node of one real number.
        inputs: nodes that require a gradient, by name.

    Raises:
        NoGradientError, LimitError: as `jacobian.hessian`.
    """
    output = _computed(output, inputs)
    blocks = batches.hessian(output, list(inputs.values()))
    arrays = [block for row in blocks.values() for block in row.values()]
    if not _is_singular(output, arrays):
        return Derived(blocks, [])
    from ..limits import Block, repaired_blocks

    names = list(inputs)
    wanted = [Block((a, b), np.array(blocks[inputs[a]][inputs[b]])) for i, a in enumerate(names) for b in names[i:]]
    warnings = repaired_blocks(name, output, inputs, wanted)
    found: dict[Node, dict[Node, Any]] = {node: {} for node in inputs.values()}
    for block in wanted:
        first, second = (inputs[key] for key in block.by)
        found[first][second] = block.numbers
        if first is not second:
            found[second][first] = _swapped(block, first)
    return Derived(
        {first: {node: found[first][node] for node in inputs.values()} for first in inputs.values()}, warnings
    )


def _swapped(block: Block, first: Node) -> Any:
    order = (*range(first.ndim, block.numbers.ndim), *range(first.ndim))
    return block.numbers.transpose(order)


def derivatives(name: str, output: Node, input: str, node: Node, order: int) -> Derived:
    """The derivatives of orders 1 to `order` of a single number by a single number, each of the input's shape.

    Args:
        name, input: the names of the output and the input.
        output, node: their nodes.
        order: the highest.
    """
    output = _computed(output, {input: node})
    found = batches.derivatives(output, node, order)
    if not _is_singular(output, found):
        return Derived(found, [])
    from ..limits import Block, repaired_blocks

    wanted = [Block((input,) * count, np.array(value)) for count, value in enumerate(found, 1)]
    warnings = repaired_blocks(name, output, {input: node}, wanted)
    return Derived([block.numbers[()] for block in wanted], warnings)


def _computed(output: Node, inputs: Mapping[str, Node]) -> Node:
    """The rewritten output, or itself where an input stands inside of a pattern."""
    rewriting = rewritten([output])
    inside = any(node in rewriting.bypassed or rewriting[node] is not node for node in inputs.values())
    return output if inside else rewriting[output]


def _is_singular(output: Node, arrays: Any) -> bool:
    """Whether the quick test asks for a closer look."""
    nodes = watched([output])
    if not nodes:
        return False
    if not all(np.all(np.isfinite(array)) for array in arrays):
        return True
    values = current_way().evaluate(nodes)
    return overflows(nodes, values) or at_kink(nodes, values)
