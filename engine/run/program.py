"""What is done for each block of a fused run: calls on registers, which are buffers, inputs or outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..graph import Attrs, DType, Shape


class Call(NamedTuple):
    """One call of a program.

    Attributes:
        kind: "call" (a universal function), "where", "cast", "fold" (a reduction along rows), "dot" (the sums
            of products along the last axis), "view" (another shape), "wide" (broadcast), "kernel" (a row's kernel as it
            is), "fresh" (one that gives no view), "placed" and "added" (one element of each row is another), "check" (a
            test for NaN) or "part" (of an ending).
        function: what is called; of a part, the place of its ending.
        inputs: registers.
        output: the register of its result.
        attrs: what is passed by name.
        rows: whether the result has the rows of the block; else it is the same for all blocks.
        shape: the result's shape behind the rows.
        dtype: its dtype.
    """

    kind: str
    function: Any
    inputs: tuple[int, ...]
    output: int
    attrs: Attrs
    rows: bool
    shape: Shape
    dtype: DType


Layout = tuple[bool, Shape, DType]
"""Whether an array has the rows of the block, its shape behind them and its dtype."""


class Ending(NamedTuple):
    """How blocks give parts of a reduction over the rows.

    Attributes:
        axes: the axes of the block that are folded away.
        tested: whether a part is to be tested for NaN.
    """

    axes: tuple[int, ...]
    tested: bool


@dataclass(slots=True)
class Program:
    """What is done for each block.

    Attributes:
        registers: how many there are.
        constants: registers that hold numbers.
        inputs: the register of each of the run's inputs.
        outputs: the register of each of its outputs.
        calls: what is called, in order.
        endings: how each ending is computed.
        buffers: whether each buffer has the rows of the block, its shape behind them and its dtype.
        place_of: the buffer of each register that has one.
        shared: registers that are made where an output is to be, and become it: that output's register.
    """

    registers: int = 0
    constants: dict[int, Any] = field(default_factory=dict)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    buffers: list[Layout] = field(default_factory=list)
    place_of: dict[int, int] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)


class Register(NamedTuple):
    """What is known of a register while a program is made."""

    rows: bool
    shape: Shape
    dtype: DType
    tainted: bool


WRITTEN: Final = frozenset({"call", "cast", "fold", "dot", "placed", "added"})
"""Kinds of calls that write their result into an array that is given to them."""
