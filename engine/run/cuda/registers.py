"""How many registers a kernel of a run needs, as it is estimated before anything is compiled.

A value takes registers from where it is computed or loaded to where it is read last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...graph import DType
from ..fusion import FusedRun
from ..values import Value
from .special import functions_for

AMPLE: Final = 56
"""Registers up to which two blocks share a multiprocessor on every architecture, with 128 for a thread."""
MOST: Final = 136
"""Registers up to which a run is one kernel: with a multiprocessor of its own, a block has 255 for a thread."""
BASE: Final = 20
"""Registers for indices, addresses and what a launch brings along."""
FUNCTION: Final = 20
"""Registers that a function of CUDA's library works in."""
OWN_FUNCTION: Final = 32
"""Registers that a function of `special` works in: it calls some of CUDA's."""

_PLAIN: Final = frozenset(
    {"add", "sub", "mul", "neg", "abs", "flow", "meet", "square", "maximum", "minimum", "relu", "where", "to", "lt",
     "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_not", "isnan", "clamp", "clamp_min",
     "clamp_max", "one_minus_square", "expand", "reshape", "squeeze", "unsqueeze", "first", "taken", "placed", "share",
     "over_whole", "sum", "sum_to_size", "amax", "amin", "largest_place"}
)  # fmt: skip
"""Members that are an instruction or two."""


def registers_of(dtype: DType) -> int:
    """The registers of one value of a dtype."""
    return max(1, dtype.itemsize // 4)


def is_plain(value: Value) -> bool:
    """Whether a member is an instruction or two, and not a function of a library."""
    return value.op.name in _PLAIN


def _within(value: Value) -> int:
    """Registers that a member needs while it is computed."""
    if is_plain(value):
        return 0
    return OWN_FUNCTION if value.op.c and functions_for(value.op.c) else FUNCTION


def pressure_of(run: FusedRun) -> int:
    """The most registers in use at once in a kernel of a run."""
    order = in_order(run.members, (*run.outputs, *run.endings))
    return pressure(order, run.members, run.endings)


def pressure(order: Sequence[Value], inside: Iterable[Value], endings: Iterable[Value]) -> int:
    """The most registers in use at once.

    Args:
        order: what a kernel computes, in this order: members, and endings where they add.
        inside: the members among them.
        endings: the endings among them: what they add up takes registers all the time.
    """
    ends = last_reads(order)
    known = set(inside)
    held = sum(registers_of(ending.args[0].dtype) if ending.op.name != "sum" else 2 for ending in endings)
    live = most = 0
    for place, value in enumerate(order):
        for arg in dict.fromkeys(value.args):
            if arg not in known and not arg.is_constant and arg.shape:
                known.add(arg)
                live += registers_of(arg.dtype)
        most = max(most, live + _within(value))
        if value in known:
            live += registers_of(value.dtype)
            most = max(most, live)
        live -= sum(registers_of(arg.dtype) for arg in ends.get(place, ()) if arg in known)
    return BASE + held + most


def last_reads(order: Sequence[Value]) -> Mapping[int, list[Value]]:
    """What is read last by each of some values, by its place; what nobody reads ends where it is computed."""
    last: dict[Value, int] = {}
    for place, value in enumerate(order):
        last[value] = place
        for arg in value.args:
            if not arg.is_constant and arg.shape:
                last[arg] = place
    found: dict[int, list[Value]] = {}
    for value, place in last.items():
        found.setdefault(place, []).append(value)
    return found


def in_order(members: Iterable[Value], results: Iterable[Value]) -> list[Value]:
    """Members and endings in the order in which a kernel computes them: for one result after the other."""
    inside = set(members)
    found: dict[Value, None] = {}
    for result in sorted(results, key=place_of):
        found.update(dict.fromkeys(closure([result], inside, found)))
        found[result] = None
    return [*found]


def place_of(value: Value) -> int:
    """Where a value stands among all of a plan."""
    return value.index


def closure(values: Iterable[Value], inside: set[Value], there: Iterable[Value]) -> list[Value]:
    """Those among some members that values are computed from, themselves among them; none behind what is there."""
    found = set(there)
    stack = [value for value in values if value not in found]
    own: set[Value] = set(stack)
    while stack:
        for arg in stack.pop().args:
            if arg in inside and arg not in found and arg not in own:
                own.add(arg)
                stack.append(arg)
    return sorted(own, key=place_of)
