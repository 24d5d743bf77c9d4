"""What a plan is: steps on slots, in order, and which slots nobody needs after each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..graph import Attrs, Node

if TYPE_CHECKING:
    from .fusion import FusedRun


class Step(NamedTuple):
    """One kernel to run.

    Attributes:
        kernel: the row's kernel.
        attrs: its plain parameters.
        inputs: the slots of its arguments.
        output: the slot of its result.
        frees: slots of arrays that nobody needs afterwards; a number is not worth the note.
    """

    kernel: Callable[..., Any]
    attrs: Attrs
    inputs: tuple[int, ...]
    output: int
    frees: tuple[int, ...]


class RunStep(NamedTuple):
    """One fused run.

    Attributes:
        run: what is computed.
        inputs: the slots of its inputs.
        outputs: the slots of its results: its outputs, then its endings.
        frees: as a step's.
        made: what an executor has made of the run, for the next time.
    """

    run: FusedRun
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]
    made: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an executor does, in order.

    Attributes:
        leaves: each leaf in use and its slot.
        steps: what to run: only kernels where nothing is fused.
        results: the slot of each node that was asked for.
        slots: how many slots there are.
        fused: whether there are large arrays, and runs among the steps.
        values: what is in each slot.
        assumed: leaves whose number is part of the plan: it does not hold for another one.
        nbytes: of all arrays among the values together.
    """

    leaves: list[tuple[Node, int]]
    steps: list[Any]
    results: dict[Node, int]
    slots: int
    fused: bool = False
    values: list[Any] = field(default_factory=list)
    assumed: frozenset[Node] = frozenset()
    nbytes: int = 0


def set_frees(steps: list[Any], seen: bytearray) -> None:
    """Liveness, from the last step to the first: a slot is freed where it is seen first from behind."""
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        frees = []
        for slot in step.inputs:
            if not seen[slot]:
                seen[slot] = True
                frees.append(slot)
        if frees:
            steps[index] = step._replace(frees=tuple(frees))
