"""The fewest values through which all that others need of a graph must pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Final

from ..values import Value

WIDEST: Final = 12
"""Values in a cut at most: where there must be more, what is needed is taken itself."""
_BOUNDLESS: Final = 2**30

_Side = tuple[Value | None, bool]
"""Where a value is computed (False) or read (True); of no value, the begin and the end of everything."""
_BEGIN: Final[_Side] = (None, False)
_END: Final[_Side] = (None, True)


def narrowest(wanted: Sequence[Value], among: Collection[Value], is_source: Callable[[Value], bool]) -> list[Value]:
    """The smallest set of values without which none of the wanted ones can be computed, the nearest to these.

    By the maximal flow of a graph in which each value lets one unit pass (Menger's theorem).

    Args:
        wanted: what is needed.
        among: what it is computed from, itself included.
        is_source: whether a value begins there.
    """
    room = _room(wanted, set(among), is_source)
    for _ in range(WIDEST + 1):
        reached = _search(room)
        if _BEGIN not in reached:
            found = {value for value, read in reached if value is not None and read and (value, False) not in reached}
            return sorted(found, key=lambda value: value.index)
        side = _BEGIN
        while side != _END:
            following = reached[side]
            room[following][side] -= 1
            room[side][following] = room[side].get(following, 0) + 1
            side = following
    return list(wanted)


def _room(
    wanted: Sequence[Value], inside: set[Value], is_source: Callable[[Value], bool]
) -> dict[_Side, dict[_Side, int]]:
    """How much may flow to each side of a value, by the side that it comes from."""
    room: dict[_Side, dict[_Side, int]] = {_BEGIN: {}, _END: {(value, True): _BOUNDLESS for value in wanted}}
    for value in inside:
        room[value, True] = {(value, False): 1}
        room[value, False] = {(arg, True): _BOUNDLESS for arg in value.args if arg in inside}
        if is_source(value):
            room[value, False][_BEGIN] = _BOUNDLESS
    return room


def _search(room: dict[_Side, dict[_Side, int]]) -> dict[_Side, _Side]:
    """All sides from which more can flow to the end, each with the next on its way; the search ends at the begin."""
    reached: dict[_Side, _Side] = {_END: _END}
    queue = deque([_END])
    while queue:
        side = queue.popleft()
        for before, left in room[side].items():
            if left and before not in reached:
                reached[before] = side
                if before == _BEGIN:
                    return reached
                queue.append(before)
    return reached
