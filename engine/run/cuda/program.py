"""A plan for a device: what becomes generated kernels, what goes through the library, what the host computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...graph import LEAF, Attrs, Node
from ..fusion import FusedRun, Operand
from ..plan import fused_plan
from ..steps import Plan, RunStep
from ..values import UNIFORM, Value
from .kernels import Kernel, RunKernels
from .layout import fusible, supported
from .passes import kernels_of
from .scatter import workspace
from .splitting import parts_of


class HostStep(NamedTuple):
    """A number that depends on numbers only: the host computes it while the device is busy."""

    kernel: Callable[..., Any]
    attrs: Attrs
    inputs: tuple[int, ...]
    output: int


class LibraryStep(NamedTuple):
    """One row's kernel, on CuPy."""

    value: Value
    inputs: tuple[int, ...]
    output: int


class KernelStep(NamedTuple):
    """Generated kernels."""

    run: FusedRun
    kernels: RunKernels
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


Action = HostStep | LibraryStep | KernelStep


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """What the device does, in order.

    Attributes:
        plan: the plan that it was made of.
        actions: what is done.
        frees: after each action, the slots that nobody needs any more.
        uploads: leaves that the device reads, and their slots.
        on_host: slots whose values are numbers of the host.
        peak: bytes that are in use at the same time at most, workspaces of the library guessed.
        beside: the same without the leaves.
        loaded: the functions of its kernels, by the number of the device that they are loaded on.
    """

    plan: Plan
    actions: list[Action]
    frees: list[tuple[int, ...]]
    uploads: list[tuple[Node, int]]
    on_host: frozenset[int]
    peak: int
    beside: int
    loaded: dict[int, Any] = field(default_factory=dict)

    @property
    def kernels(self) -> list[Kernel]:
        """All generated kernels."""
        steps = [action for action in self.actions if isinstance(action, KernelStep)]
        return [kernel for step in steps for kernel in step.kernels.kernels]

    @property
    def launches(self) -> int:
        """How many kernels are launched, those of the library not counted."""
        return len(self.kernels)


def device_program(targets: Iterable[Node], varying: Iterable[Node] = ()) -> DeviceProgram:
    """The program that computes some nodes.

    Args:
        targets: the nodes that are asked for.
        varying: leaves that will be given other values than their own.
    """
    plan = fused_plan(targets, varying=varying, least=2, fits=fusible, lowers_from=2)
    return _Maker(plan).program()


class _Maker:
    """Turns the steps of a plan into actions."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.values = plan.values
        self.slot_of = {value: slot for slot, value in enumerate(plan.values)}
        self.actions: list[Action] = []
        self._host: set[int] = {
            slot
            for slot, value in enumerate(plan.values)
            if value.is_constant or (value.op is LEAF and not value.shape)
        }
        self._waiting: dict[Value, None] = {}
        self._asked = {plan.values[slot] for slot in plan.results.values()}
        self._readers: dict[Value, list[Value]] = {}
        for step in plan.steps:
            run = step.run if isinstance(step, RunStep) else None
            for value in (*run.members, *run.endings) if run is not None else (plan.values[step.output],):
                for arg in value.args:
                    self._readers.setdefault(arg, []).append(value)

    def program(self) -> DeviceProgram:
        """The program."""
        for step in self.plan.steps:
            if isinstance(step, RunStep):
                self._run(step.run)
            else:
                self._single(self.values[step.output])
        self._end_group()
        read = {slot for action in self.actions if not isinstance(action, HostStep) for slot in action.inputs}
        uploads = [(node, slot) for node, slot in self.plan.leaves if slot in read and slot not in self._host]
        frees = _frees(self.actions, set(self.plan.results.values()))
        host = frozenset(self._host)
        leaves = [slot for _, slot in uploads]
        peak = _peak(self.values, self.actions, frees, leaves, host)
        beside = _peak(self.values, self.actions, frees, (), host | {*leaves})
        return DeviceProgram(self.plan, self.actions, frees, uploads, host, peak, beside)

    def _run(self, run: FusedRun) -> None:
        if self._waits_for([operand.value for operand in run.inputs]):
            self._end_group()
        if supported(run):
            self._append(run)
        else:
            for value in (*run.members, *run.endings):
                self._single(value)

    def _append(self, whole: FusedRun) -> None:
        for run in parts_of(whole):
            inputs = self._slots(operand.value for operand in run.inputs)
            numbers = frozenset(operand.value for operand in run.inputs if self._slot(operand.value) in self._host)
            self.actions.append(KernelStep(run, kernels_of(run, numbers), inputs, self._slots(run.results)))

    def _single(self, value: Value) -> None:
        """One step: on the host, with others like it in a kernel, or through the library."""
        assert value.op.kernel is not None, value.op.name
        if value.op is UNIFORM:
            return  # a constant: it is made where it is read
        inputs = self._slots(value.args)
        numbers = all(slot in self._host and not arg.shape for slot, arg in zip(inputs, value.args, strict=True))
        if not value.shape and value.args and numbers:
            self._host.add(self._slot(value))
            self.actions.append(HostStep(value.op.kernel, value.attrs, inputs, self._slot(value)))
        elif value.op.elementwise and fusible(value):
            self._waiting[value] = None
        else:
            if self._waits_for(value.args):
                self._end_group()
            self.actions.append(LibraryStep(value, inputs, self._slot(value)))

    def _waits_for(self, values: Sequence[Value]) -> bool:
        return any(value in self._waiting for value in values)

    def _end_group(self) -> None:
        """Elementwise steps become one kernel with others of their shape, also where they have no rows in common."""
        waiting, self._waiting = self._waiting, {}
        for members in _alike(waiting):
            inside = set(members)
            args = dict.fromkeys(arg for value in members for arg in value.args if arg not in inside)
            read = [arg for arg in args if not arg.is_constant]
            shape = members[0].shape
            in_order = all(arg.shape == shape or arg.size == 1 for arg in read)
            inputs = tuple(Operand(arg, in_order and bool(shape) and arg.shape == shape) for arg in read)
            outputs = tuple(value for value in members if self._is_read(value, inside))
            self._append(FusedRun(shape if in_order else (), inputs, tuple(members), outputs, ()))

    def _is_read(self, value: Value, inside: set[Value]) -> bool:
        """Whether a value is asked for, or others than these read it."""
        return value in self._asked or any(reader not in inside for reader in self._readers.get(value, ()))

    def _slots(self, values: Iterable[Value]) -> tuple[int, ...]:
        return tuple([self._slot(value) for value in values])

    def _slot(self, value: Value) -> int:
        """The slot of a value; members that the plan keeps in no slot get one of their own."""
        slot = self.slot_of.get(value)
        if slot is None:
            slot = self.slot_of[value] = len(self.values)
            self.values.append(value)
            if value.is_constant or (value.op is LEAF and not value.shape):
                self._host.add(slot)
        return slot


def _alike(values: Iterable[Value]) -> list[list[Value]]:
    """Consecutive values of the same shape."""
    groups: list[list[Value]] = []
    for value in values:
        if groups and groups[-1][0].shape == value.shape:
            groups[-1].append(value)
        else:
            groups.append([value])
    return groups


def _frees(actions: Sequence[Action], kept: set[int]) -> list[tuple[int, ...]]:
    """The slots that are read last by each action."""
    seen = set(kept)
    frees: list[tuple[int, ...]] = []
    for action in reversed(actions):
        results = action.outputs if isinstance(action, KernelStep) else (action.output,)
        last = tuple(slot for slot in dict.fromkeys((*action.inputs, *results)) if slot not in seen)
        seen.update(last)
        frees.append(last)
    return frees[::-1]


def _peak(
    values: Sequence[Value],
    actions: Sequence[Action],
    frees: Sequence[tuple[int, ...]],
    uploads: Sequence[int],
    uncounted: frozenset[int],
) -> int:
    """The most bytes in use at once: arrays, parts of reductions, and for the library as much again as it reads."""

    def size(slots: Iterable[int]) -> int:
        return sum(values[slot].nbytes for slot in slots if slot not in uncounted)

    live = peak = size(uploads)
    for action, freed in zip(actions, frees, strict=True):
        results = action.outputs if isinstance(action, KernelStep) else (action.output,)
        live += size(results)
        extra = 0
        if isinstance(action, KernelStep):
            extra = sum(part.size * part.dtype.itemsize for part in action.kernels.parts)
        elif isinstance(action, LibraryStep):
            extra = sum(values[slot].nbytes for slot in dict.fromkeys(action.inputs)) + workspace(action.value)
        peak = max(peak, live + extra)
        live -= size(freed)
    return peak
