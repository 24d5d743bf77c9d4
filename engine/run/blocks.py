"""Runs a fused run on NumPy: block by block, in buffers that stay in the cache, by a worker on each core."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from threading import Thread
from typing import Any, Final

import numpy as np

from ..conditions import core_count
from .blas import one_thread
from .compiler import Compiler, without_leading_ones
from .frame import Frame
from .fusion import FusedRun
from .merging import Merging
from .program import Program
from .rows import CONTRACTED
from .steps import RunStep
from .values import Value

WORKING_BYTES: Final = 8_388_608
"""What a block of all inputs, outputs and buffers takes: a core's share of the last cache, a few times its own. So a
call on one block is also long enough that what Python costs, and the workers' taking turns in it, does not show.
Of 4, 6, 8, 12 and 16 MB it is the least from which chains of elements, layers and batches take no less time."""

LONG: Final = 2_048
"""Elements that a call is to have at least, also where so many values are alive that they leave the cache."""

MOST_WORKING_BYTES: Final = 3 * WORKING_BYTES
"""What a block may take at most, unless a single row takes more."""

BROADCAST_BY: Final = 256
"""Elements that NumPy is to take at a time where it broadcasts. It copies rows shorter than that (8,192 unless told)
together first, which costs more than what is then done with them. No result depends on it."""

SHORT: Final = 2
"""Blocks for each worker below which another worker is not worth its start."""


class Programs:
    """The two programs of a run, made once.

    Attributes:
        plain: products as they are, tested afterwards.
        guarded: zeros stop everywhere; the same program where nothing can stop.
        block_rows: how many rows a block has.
        row_bytes: what a row takes of all that a worker holds of a block: inputs, outputs, buffers and other results.
        multiplies: whether there are matrix products in it.
        has_long_rows: whether there are rows that need not be copied together.
    """

    def __init__(self, run: FusedRun) -> None:
        self.run = run
        self.plain = Compiler(run, guarded=False).compiled()
        plain = self.plain
        tests = any(call.kind == "check" for call in plain.calls) or any(ending.tested for ending in plain.endings)
        self.guarded = Compiler(run, guarded=True).compiled() if tests else self.plain
        self.block_rows = _block_rows(run, self.plain)
        self.row_bytes = max(_row_bytes(run, program) + _fresh_bytes(program) for program in (plain, self.guarded))
        axes = len(run.lead)
        values = (*run.members, *[operand.value for operand in run.inputs if operand.rows])
        self.has_long_rows = any(len(value.shape) > axes and value.shape[-1] >= BROADCAST_BY for value in values)
        self.multiplies = any(value.op.name in ("matmul", CONTRACTED.name) for value in (*run.members, *run.endings))


def _block_rows(run: FusedRun, program: Program) -> int:
    """How many rows a block has: a number that does not depend on the workers."""
    row = _row_bytes(run, program)
    widths = [math.prod(value.shape[len(run.lead) :]) for value in _outside(run)]
    width = max([*widths, *[math.prod(shape) for by_rows, shape, _ in program.buffers if by_rows]], default=1)
    long_enough = min(LONG // max(width, 1), MOST_WORKING_BYTES // max(row, 1))
    return max(1, min(run.rows, max(WORKING_BYTES // max(row, 1), long_enough)))


def programs_of(step: RunStep) -> Programs:
    """The programs of a step, made once."""
    programs: Programs | None = step.made.get("cpu")
    if programs is None:
        programs = step.made["cpu"] = Programs(step.run)
    return programs


def _outside(run: FusedRun) -> list[Value]:
    """The values whose rows a block reads or writes."""
    return [*[operand.value for operand in run.inputs if operand.rows], *run.outputs]


def _row_bytes(run: FusedRun, program: Program) -> int:
    """What a row takes of inputs, outputs and buffers."""
    row = sum(math.prod(value.shape[len(run.lead) :]) * value.dtype.itemsize for value in _outside(run))
    return row + sum(math.prod(shape) * dtype.itemsize for by_rows, shape, dtype in program.buffers if by_rows)


def _fresh_bytes(program: Program) -> int:
    """What a row takes of results that have memory of their own until the next block."""
    fresh = [call for call in program.calls if call.kind in ("where", "kernel", "fresh") and call.rows]
    return sum(math.prod(call.shape) * call.dtype.itemsize for call in fresh)


def run_blocks(
    programs: Programs,
    arrays: Sequence[Any],
    *,
    over: Mapping[int, Any] | None = None,
    into: Mapping[int, Any] | None = None,
    workers: int | None = None,
    watch: Callable[[float], None] | None = None,
) -> list[Any]:
    """The results of a run: its outputs, then its endings.

    Args:
        programs: the run, made ready.
        arrays: the values of its inputs.
        over: for some outputs, by their place, the input that they are written over: of their shape and dtype, read by
            rows, and needed by nobody else.
        into: for some other outputs, by their place, the array that they are written into; others are new.
        workers: how many threads work; one a core if not given.
        watch: told from time to time which share of the rows is done.
    """
    job = Job(programs, arrays, over or {}, into or {})
    most = core_count() if workers is None else workers
    more = min(most, job.blocks // SHORT) - 1
    helpers: list[Thread] = []
    with one_thread() if more > 0 and programs.multiplies else nullcontext():
        try:
            helpers += started(job.help, more)
            job.work(watch)
        finally:
            job.stopped = True
            for helper in helpers:
                helper.join()
    if job.fault is not None:
        raise job.fault
    return job.results()


def started(work: Callable[[], None], count: int) -> Iterator[Thread]:
    """Threads that do some work: as many as asked for, or as the system gives."""
    for _ in range(count):
        thread = Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # a limit on threads: the work is done by those that are there
            return
        yield thread


class Job:
    """One execution of a run."""

    def __init__(
        self, programs: Programs, arrays: Sequence[Any], over: Mapping[int, Any], into: Mapping[int, Any]
    ) -> None:
        run = programs.run
        self.programs = programs
        self.rows = run.rows
        self.block_rows = programs.block_rows
        self.blocks = -(-self.rows // self.block_rows)
        self.stopped = False
        self.fault: BaseException | None = None
        self.guards = False
        self._next = count()
        self.over = over
        given = {**into, **over}
        self.outputs = [
            given[place] if place in given else np.empty(value.shape, value.dtype)
            for place, value in enumerate(run.outputs)
        ]
        self.merging = [Merging(value, self.blocks) for value in run.endings]
        axes = len(run.lead)
        self.slices: list[Callable[[int, int], Any] | None] = []
        self.whole: list[Any] = []
        for operand, array in zip(run.inputs, arrays, strict=True):
            array = np.asarray(array)
            self.slices.append(_rows_of(array, operand.value, axes) if operand.rows else None)
            self.whole.append(None if operand.rows else array.reshape(without_leading_ones(array.shape)))
        self.written = [
            output.reshape((self.rows, *value.shape[axes:]))
            for output, value in zip(self.outputs, run.outputs, strict=True)
        ]

    def results(self) -> list[Any]:
        """What was computed."""
        return [*self.outputs, *[merging.result() for merging in self.merging]]

    def help(self) -> None:
        """What another worker does."""
        try:
            self.work(None)
        except BaseException as fault:  # it is raised again by the thread that waits
            self.fault = self.fault or fault
            self.stopped = True

    def work(self, watch: Callable[[float], None] | None) -> None:
        """Take block after block until none is left."""
        with np.errstate(all="ignore"), _broadcasting(self.programs):
            plain: Frame | None = Frame(self, self.programs.plain)
            guarded: Frame | None = None
            while not self.stopped:
                index = next(self._next)
                if index >= self.blocks:
                    return
                start = index * self.block_rows
                stop = min(start + self.block_rows, self.rows)
                if self.guards or plain is None or not plain.done(index, start, stop):
                    # Where one block has something to stop, others mostly have it too.
                    self.guards = True
                    plain = None
                    guarded = guarded or Frame(self, self.programs.guarded)
                    if not guarded.done(index, start, stop):
                        raise AssertionError("a guarded block is tested")
                if watch is not None:
                    watch(stop / self.rows)


@contextmanager
def _broadcasting(programs: Programs) -> Iterator[None]:
    """Let NumPy broadcast by rows, in this thread, where rows are long."""
    before = np.getbufsize()
    if programs.has_long_rows:
        np.setbufsize(BROADCAST_BY)
    try:
        yield
    finally:
        np.setbufsize(before)


def _rows_of(array: Any, value: Value, axes: int) -> Callable[[int, int], Any]:
    """Gives the rows of an array from one to another, without a copy of the array."""
    if axes == 1:
        return lambda start, stop: array[start:stop]
    rest = value.shape[axes:]
    rows = math.prod(value.shape[:axes])
    try:
        flat = np.reshape(array, (rows, *rest), copy=False)
    except ValueError:
        width = math.prod(rest)
        return lambda start, stop: array.flat[start * width : stop * width].reshape((stop - start, *rest))
    return lambda start, stop: flat[start:stop]
