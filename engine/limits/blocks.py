"""Hessians and derivatives of higher order, from quotients on both sides in every direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import Node
from ..referees.case import CannotJudge, Case
from ..referees.slopes import Slopes
from ..worker.budget import Budget, BudgetSpent
from ..worker.interrupt import interrupted
from .look import OPERATIONS, SECONDS, failed, size_of
from .settled import label, settled, shortened


class Block(NamedTuple):
    """Derivatives by all entries of one or several nodes, to be put right in place.

    Attributes:
        by: the names of the nodes; a Hessian's block has two, the third derivative three times the same.
        numbers: an array of the shapes of these nodes, one after another.
    """

    by: tuple[str, ...]
    numbers: Any


def repaired_blocks(
    subject: str,
    output: Node,
    inputs: Mapping[str, Node],
    blocks: Sequence[Block],
    *,
    seconds: float = SECONDS,
    operations: int = OPERATIONS,
) -> list[str]:
    """Put right numbers into derivatives of any order of a single number, and say what was wrong.

    Args:
        subject: what is differentiated.
        output: its node.
        inputs: the nodes, by the names in the blocks.
        blocks: are changed in place.
        seconds, operations: what it may cost.
    """
    case = Case([output], [np.ones(output.shape, output.dtype)], dict(inputs), {})
    warnings: list[str] = []
    budget = Budget(operations * 2, seconds)
    try:
        with interrupted(budget):
            slopes = Slopes(case, budget)
            for block in blocks:
                _settle_block(subject, slopes, inputs, block, warnings)
    except (BudgetSpent, CannotJudge):
        pass
    except Exception as failure:  # what a formula cannot do leaves the rules' numbers as they are
        warnings.append(failed(f"the derivatives of {subject}", failure))
    return shortened(warnings)


def _settle_block(subject: str, slopes: Slopes, inputs: Mapping[str, Node], block: Block, warnings: list[str]) -> None:
    nodes = [inputs[name] for name in block.by]
    flat = block.numbers.reshape([node.size for node in nodes])
    same = len(nodes) == 2 and nodes[0] is nodes[1]
    finite = np.abs(flat[np.isfinite(flat)])
    scale = max(float(np.max(finite, initial=0.0)), size_of(slopes))
    for places in np.ndindex(flat.shape):
        if len(nodes) > 2 and len(set(places)) > 1:
            continue
        if same and places[0] > places[1]:
            flat[places] = flat[places[::-1]]
            continue
        slope = slopes.order([slopes.unit(node, place) for node, place in zip(nodes, places, strict=True)])
        number = settled(slopes.m, float(flat[places]), slope, nodes[0], scale)
        flat[places] = number.number
        if number.reason is not None:
            by = " and ".join(label(*entry) for entry in zip(block.by, nodes, places, strict=True))
            warnings.append(f"the derivative of {subject} by {by}: {number.reason}")
    block.numbers[...] = flat.reshape(block.numbers.shape)
