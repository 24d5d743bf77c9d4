"""Several directions taken together: which ways they go, and where they lead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

from ..graph import Node
from .point import Direction


def sides_of(directions: Sequence[tuple[Direction, int]]) -> list[tuple[int, ...]]:
    """The signs that the steps take together: repeated directions go one way."""
    places = [
        (node, position) for direction, _ in directions for node, moves in direction.items() for position in moves
    ]
    sides = product((1, -1), repeat=len(places))
    return [
        signs
        for signs in sides
        if all(a == b for (p, a), (q, b) in combinations(zip(places, signs, strict=True), 2) if p == q)
    ]


def moved(directions: Sequence[Direction], steps: Sequence[Any], m: Any) -> Direction:
    """The sum of some directions, each times its number of steps."""
    total: dict[Node, dict[int, Any]] = {}
    for direction, count in zip(directions, steps, strict=True):
        for node, moves in direction.items():
            place = total.setdefault(node, {})
            for position, move in moves.items():
                place[position] = place.get(position, m.number(0)) + count * move
    return total
