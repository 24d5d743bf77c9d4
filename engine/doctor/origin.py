"""Where a gradient that is not finite begins: followed from the leaf, against the way it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import Node
from .chain import Chain, Edge, first_broken, is_finite
from .finding import Number, bracketed, number_text, scalar


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of the way back at one entry.

    Attributes:
        edge: what is passed back.
        index: the entry of the product of both factors.
    """

    edge: Edge
    index: tuple[int, ...]

    @property
    def factors(self) -> tuple[Number, Number] | None:
        """The two numbers that are multiplied; None where the rule is no product."""
        if self.edge.slope is None:
            return None
        shape = np.shape(self.edge.passed)
        incoming, slope = (np.broadcast_to(part, shape)[self.index] for part in (self.edge.incoming, self.edge.slope))
        return scalar(incoming), scalar(slope)

    @property
    def is_fresh(self) -> bool:
        """Whether what comes in is no NaN yet."""
        factors = self.factors
        return factors is not None and factors[0] == factors[0]

    @property
    def passed(self) -> Number:
        """What they give."""
        return scalar(np.asarray(self.edge.passed)[self.index])

    @property
    def text(self) -> str:
        """The product with its numbers: `0.0 x inf = nan`."""
        factors = self.factors
        if factors is None:
            return number_text(self.passed)
        return f"{bracketed(factors[0], first=True)} x {bracketed(factors[1])} = {number_text(self.passed)}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a gradient that is not finite begins, on the way back to a leaf.

    Attributes:
        node: the first node that receives it.
        first: what brings it there; None where only the sum of several contributions is not finite.
        later: what is passed on from there to the leaf, in that order.
    """

    node: Node
    first: Step | None
    later: tuple[Step, ...]

    @property
    def turn(self) -> Step | None:
        """Where an infinity becomes NaN."""
        return next((step for step in self.later if step.passed != step.passed and step.is_fresh), None)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of it."""
        return self.later if self.first is None else (self.first, *self.later)


def origin(chain: Chain, leaf: Node, place: tuple[int, ...]) -> Origin:
    """Follow an entry of a gradient that is not finite from a leaf to where it begins."""
    node = leaf
    later: list[Step] = []
    while True:
        steps = [step for edge in chain.edges(node) if (step := _broken_at(edge, place)) is not None]
        first = next((step for step in steps if _is_whole(chain, step.edge)), None)
        if first is not None or not steps:
            return Origin(node, first, tuple(later))
        later.insert(0, steps[0])
        node = steps[0].edge.consumer
        gradient = chain.plain.get(node, steps[0].edge.incoming)
        place = steps[0].index if _has_broken(gradient, steps[0].index) else first_broken(gradient)


def _broken_at(edge: Edge, place: tuple[int, ...]) -> Step | None:
    """An edge at an entry that it makes not finite: at the same one, if it can be."""
    if is_finite(edge.passed):
        return None
    return Step(edge, place if _has_broken(edge.passed, place) else first_broken(edge.passed))


def _has_broken(value: Any, index: tuple[int, ...]) -> bool:
    array = np.asarray(value)
    inside = len(index) == array.ndim and all(i < n for i, n in zip(index, array.shape, strict=True))
    return inside and not np.isfinite(array[index])


def _is_whole(chain: Chain, edge: Edge) -> bool:
    """Whether what comes in at a node is finite, so that what it passes on is its own doing."""
    return is_finite(chain.plain[edge.consumer]) if edge.consumer in chain.plain else is_finite(edge.incoming)


def stopping_factor(found: Origin) -> int | None:
    """Which factor is zero where zero stops the chain rule: 0 for what comes in, 1 for the slope."""
    step = found.turn or found.first
    if step is None or step.factors is None or step.passed == step.passed or 0 not in step.factors:
        return None
    return step.factors.index(0)
