"""What `agrad check` does once its options are known: finds the files, judges each, writes, compares with a lock."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from agrad.engine.checking.directives import Directives, directives
from agrad.engine.checking.discovery import STANDARD_INPUT, expression_files
from agrad.engine.checking.finding import FileResult, Finding, Tally, exit_code, faults
from agrad.engine.checking.judges import Judges
from agrad.engine.checking.judging import judged
from agrad.engine.checking.lock import Asked, Lock, compared, lock_of
from agrad.engine.checking.lock_file import read_lock, write_lock
from agrad.engine.checking.ordered import InOrder
from agrad.engine.checking.policy import Policy
from agrad.engine.checking.subjects import Subject, subjects
from agrad.engine.checking.versions import this_run
from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.files.data import read_data
from agrad.engine.files.texts import check_target
from agrad.engine.language import Formulas, assignments, build

from .check_writer import Writer
from .options import names
from .progress import Bar
from .reading import located_in, read_source, weight_of

MOST_JOBS: Final = 8
"""Unless the command line says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a person asks for: the options of the same names."""

    files: Sequence[str]
    exclude: Sequence[str]
    at: Sequence[str]
    data: Sequence[str]
    wrt: Sequence[str]
    outputs: Sequence[str]
    grad_tensors: Sequence[str]
    dtype: str | None
    jobs: int | None
    fail_fast: bool
    lock: str | None
    update_lock: bool
    policy: Policy


@dataclass(frozen=True, slots=True)
class Given:
    """Values from the command line.

    Attributes:
        at: of `--at`.
        data: of `--data`; a file need not use them.
    """

    at: dict[str, Any]
    data: dict[str, Any]


def run(request: Request, writer: Writer) -> int:
    """Check the files and write what was found; gives the exit code."""
    _require_against(request.policy)
    gc.enable()  # many files are read: what the text of one has left must not stay
    files = expression_files(request.files, request.exclude)
    before = _lock_before(request)
    given = _given(request)
    single = len(files) == 1
    results: list[FileResult] = []
    tally = Tally()

    def work(file: str, judges: Judges) -> FileResult:
        return judged(file, lambda: read(file, request, given, single), judges, request.policy)

    in_order = InOrder(files, work, lambda: Judges(request.policy), request.jobs or _cores())
    with Bar(len(files), "checking") as bar:
        for result in in_order:
            results.append(result)
            with bar.hidden():
                writer.result(result)
            bar.advance()
            if request.fail_fast and result.failed:
                break
    tally.files, tally.left = len(results), len(files) - len(results)
    findings = [finding for result in results for finding in result.findings]
    extra = [*_unused(given, results, single), *_compared(request, before, results)]
    lock = None
    try:
        lock = _lock_after(request, before, results)
    except InputError as error:
        extra += faults(error, request.lock or "")
    tally.add([*findings, *extra])
    code = exit_code([*findings, *extra])
    writer.end(results, extra, tally, code)
    if lock is not None and request.lock is not None:
        _keep(request.lock, lock, writer, complete=not tally.left and not code)
    return code


def _cores() -> int:
    """How many files to look at at once: each takes a core, and processes with SymPy in them."""
    available = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return min(len(available), MOST_JOBS)


def _require_against(policy: Policy) -> None:
    """Refuse to compare with what is not there: nobody would notice that nothing was compared.

    Raises:
        InputError: where PyTorch is wanted and not installed.
    """
    if not policy.against:
        return
    from agrad.engine.referees import against_torch

    if not against_torch.installed():
        raise InputError("--against torch: PyTorch is not installed", hint="pip install torch", code="usage")


def read(file: str, request: Request, given: Given, single: bool) -> tuple[Formulas, list[Subject]]:
    """A file read into a graph, and what is differentiated in it: as it says itself, or else as the command line does.

    Args:
        file: its name.
        request: the options.
        given: the values given there.
        single: whether it is the only file, so that each value of `--at` must be one of its own.
    """
    source = read_source(file, ())
    said = directives(source)
    values, spare = _values(said, given, single)
    with _told_of(source, said, {"--wrt": not request.wrt, "--at": True, "--data": True}):
        formulas = build(
            source,
            inputs=values,
            spare=spare,
            wrt=names(request.wrt or said.wrt, "--wrt") or None,
            dtype=np.dtype(request.dtype or said.dtype or "float64"),
        )
    with _told_of(source, said, {"--output": not request.outputs, "--grad-tensors": not request.grad_tensors}):
        weights = [weight_of(text, formulas) for text in request.grad_tensors or said.grad_tensors]
        asked = names(request.outputs or said.output, "--output")
        return formulas, subjects(formulas, asked, weights, request.policy.seed)


@contextmanager
def _told_of(source: Source, said: Directives, options: Mapping[str, bool]) -> Iterator[None]:
    """Let an error in the value of an option be told of the file, at the option where the file has it.

    Args:
        source: the text.
        said: its options.
        options: the names of those that are read, and whether the file's own may be meant.
    """
    try:
        yield
    except AgradError as error:
        if error.source is not None and error.source is not source:  # the text of an option
            error.message, error.spans = f"{error.source.name}: {error.message}", ()
            error.source = None
        said.locate(error, source, *[name for name, own in options.items() if own])
        error.source = source
        raise


def _values(said: Directives, given: Given, single: bool) -> tuple[dict[str, Any], set[str]]:
    """The values of inputs, those of the command line last, and the names that the text need not use."""
    needed = said.at.keys() | (given.at.keys() if single else set())
    values = said.data | said.at | given.data | given.at
    return values, values.keys() - needed


def _given(request: Request) -> Given:
    at: dict[str, Any] = {}
    with located_in("--at"):
        for text in request.at:
            at.update(assignments(text))
    data: dict[str, Any] = {}
    for option in request.data:
        data.update(read_data(option))
    return Given(at, data)


def _unused(given: Given, results: Sequence[FileResult], single: bool) -> list[Finding]:
    """Values of `--at` that no file uses: a name is misspelt. A single file says so itself."""
    if single or not all(result.readable for result in results):
        return []
    known = frozenset().union(*[result.names for result in results])
    return [
        Finding(
            kind="input",
            subject="",
            verdict="error",
            outcome="broken",
            reason=f"--at gives {name} a value, and no file uses it",
            file=STANDARD_INPUT,
            exit_code=InputError.exit_code,
        )
        for name in given.at
        if name not in known
    ]


def _lock_before(request: Request) -> Lock | None:
    """The lock that is there, once it is sure that a new one could be written.

    Raises:
        InputError: where `--lock` names no lock, or `--update-lock` stands alone.
        OutputError: where it could not be written.
    """
    if request.lock is None:
        if request.update_lock:
            raise InputError("--update-lock: which lock?", hint="name it with --lock FILE", code="usage")
        return None
    before = read_lock(request.lock)
    if before is None or request.update_lock:
        check_target(request.lock)
    return before


def _compared(request: Request, before: Lock | None, results: Sequence[FileResult]) -> list[Finding]:
    if request.lock is None or before is None or request.update_lock:
        return []
    return compared(before, _now(request), results, request.lock, request.policy.tolerance, _asked(request))


def _asked(request: Request) -> Asked:
    return Asked(frozenset(names(request.outputs, "--output")), frozenset(names(request.wrt, "--wrt")))


def _now(request: Request) -> Lock:
    return this_run(request.dtype or "float64", request.policy.seed)


def _lock_after(request: Request, before: Lock | None, results: Sequence[FileResult]) -> Lock | None:
    """The lock that is to be written; None where none is.

    Raises:
        InputError: where numbers of other conventions would stay in it.
    """
    if request.lock is None or (before is not None and not request.update_lock):
        return None
    return lock_of(results, request.lock, _now(request), before, _asked(request))


def _keep(path: str, lock: Lock, writer: Writer, *, complete: bool) -> None:
    """Write the lock where everything in it is right."""
    if not complete:
        writer.note(f"{path} is not written: not everything is right")
        return
    write_lock(path, lock)
    count = sum(map(len, lock.files.values()))
    writer.note(f"{path} is written: {count} {'output' if count == 1 else 'outputs'}")
