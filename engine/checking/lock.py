"""A lock: what all gradients were, to be compared with what they are now."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from ..errors import InputError
from .difference import TOLERANCE, Difference, differences, relative_change
from .finding import FAILED, FAILURE, FileResult, Finding, Recorded

Files = Mapping[str, Mapping[str, "Locked"]]
"""For each file, as it is named from the folder of the lock, its outputs by name."""

_TOLD: Final = 4
"""So many entries of an array are told beside the worst; the others are counted."""


class Locked(NamedTuple):
    """One output in a lock: its value and gradients, as JSON holds them."""

    value: Any
    gradients: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock holds.

    Attributes:
        versions: of agrad and NumPy, which wrote it; told where something has moved.
        conventions: under which the numbers came out: must be the same.
        files: all numbers.
        dtypes: of floats, for the files where it is not that of the conventions.
    """

    versions: Mapping[str, str]
    conventions: Mapping[str, Any]
    files: Files
    dtypes: Mapping[str, str] = field(default_factory=dict)

    def dtype_of(self, key: str) -> Any:
        """The dtype of floats of a file."""
        return self.dtypes.get(key, self.conventions.get("dtype", "unknown"))


class Asked(NamedTuple):
    """What a run was asked for: only that is compared and written anew. Nothing means everything.

    Attributes:
        outputs: names of outputs.
        wrt: names that they are differentiated by.
    """

    outputs: frozenset[str] = frozenset()
    wrt: frozenset[str] = frozenset()

    def output(self, name: str) -> bool:
        """Whether an output, as a lock names it, was asked for."""
        return not self.outputs or name.split(" ", 1)[0] in self.outputs

    def gradient(self, name: str) -> bool:
        """Whether the gradients by a name were asked for."""
        return not self.wrt or name in self.wrt


EVERYTHING: Final = Asked()


def key_of(file: str, lock: str) -> str:
    """How a lock names a file: from its own folder, with forward slashes on every system."""
    if file == "-":
        return file
    try:
        named = os.path.relpath(os.path.abspath(file), os.path.dirname(os.path.abspath(lock)))  # noqa: PTH100, PTH120
    except ValueError:  # another drive
        named = os.path.abspath(file)  # noqa: PTH100
    return named.replace(os.sep, "/")


def file_of(key: str, lock: str) -> str:
    """The file that a lock names, as a path."""
    return os.path.join(os.path.dirname(lock), key)  # noqa: PTH118, PTH120


def lock_of(
    results: Sequence[FileResult], path: str, now: Lock, before: Lock | None = None, asked: Asked = EVERYTHING
) -> Lock:
    """The lock of what was found.

    Args:
        results: of each file.
        path: where the lock lies or will lie.
        now: versions and conventions; its files are not looked at.
        before: a lock whose other files, as far as they still exist, are kept.
        asked: what was asked for; of what was not, the numbers of `before` are kept.

    Raises:
        InputError: where numbers are kept that came out under other conventions.
    """
    kept = before or now
    files = {key: outputs for key, outputs in kept.files.items() if _exists(key, path)}
    dtypes = {key: kept.dtype_of(key) for key in files}
    mixed = set(files)
    for result in results:
        key = key_of(result.file, path)
        found, partly = _joined(result, files.get(key, {}), asked)
        if not partly:
            mixed.discard(key)
        elif dtypes[key] != result.dtype:
            raise _other_convention(path, "dtype", dtypes[key])
        files[key], dtypes[key] = found, result.dtype
    for name, value in now.conventions.items():
        if mixed and name != "dtype" and kept.conventions.get(name) != value:
            raise _other_convention(path, name, kept.conventions.get(name, "unknown"))
    return replace(
        now,
        files=dict(sorted(files.items())),
        dtypes={key: dtype for key, dtype in sorted(dtypes.items()) if dtype != now.conventions.get("dtype")},
    )


def _joined(result: FileResult, old: Mapping[str, Locked], asked: Asked) -> tuple[dict[str, Locked], bool]:
    """The outputs of a file, those that were not asked for as they were; and whether there are any such numbers."""
    partly = False
    found = {name: Locked(entry.value, dict(entry.gradients)) for name, entry in result.recorded.items()}
    for name, entry in old.items():
        if name not in found:
            if not asked.output(name) and name.split(" ", 1)[0] in result.names:
                found[name] = entry
                partly = True
            continue
        gradients = found[name].gradients
        rest = [
            wrt for wrt in entry.gradients if wrt not in gradients and not asked.gradient(wrt) and wrt in result.names
        ]
        if rest:
            partly = True
            found[name] = Locked(
                found[name].value, _in_order_of(entry.gradients, {**entry.gradients, **gradients}, [*gradients, *rest])
            )
    return _in_order_of(old, found, found) if partly else found, partly


def _in_order_of(old: Mapping[str, Any], entries: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The entries of some names, those that were there before where they were."""
    wanted = set(names)
    return {name: entries[name] for name in dict.fromkeys([*old, *entries]) if name in wanted}


def _other_convention(path: str, name: str, value: Any) -> InputError:
    return InputError(
        f"{path} keeps numbers of another {name}: {value}",
        hint="write all of it anew" if name == "kinks" else f"write all of it anew, or give --{name} {value}",
        code="lock",
    )


def _exists(key: str, path: str) -> bool:
    try:
        return os.path.exists(file_of(key, path))  # noqa: PTH110  # a hostile name is no error here
    except ValueError:
        return False


def compared(
    lock: Lock,
    now: Lock,
    results: Sequence[FileResult],
    path: str,
    tolerance: float | None,
    asked: Asked = EVERYTHING,
) -> list[Finding]:
    """Everything that is not as the lock has it.

    Files of the lock that were not looked at are left alone while they exist, and what was not asked for as well.

    Args:
        lock: what was.
        now: versions and conventions of this run.
        results: what is.
        path: of the lock.
        tolerance: the relative difference below which a number has not moved; None for the default.
        asked: what was asked for.
    """
    told = tuple(
        f"{name} was {lock.versions.get(name, 'unknown')} and is {version}"
        for name, version in now.versions.items()
        if lock.versions.get(name) != version
    )
    comparison = _Comparison(path, TOLERANCE if tolerance is None else tolerance, told, asked)
    found = list(comparison.conventions(lock.conventions, now.conventions))
    seen = {key_of(result.file, path) for result in results}
    for result in results:
        key = key_of(result.file, path)
        if not result.readable:
            continue
        if key in lock.files:
            found += comparison.dtype(result, lock.dtype_of(key))
            found += comparison.outputs(result, lock.files[key])
        elif result.recorded:
            found.append(comparison.finding("added", "", "the lock does not have this file", result.file))
    found += [
        comparison.finding("removed", "", "the lock has this file, and it is gone", file_of(key, path))
        for key in lock.files
        if key not in seen and not _exists(key, path)
    ]
    return found


class _Comparison:
    """Makes findings of differences.

    Args:
        path: of the lock.
        tolerance: relative.
        versions: sentences on versions that are not those of the lock.
        asked: what was asked for.
    """

    def __init__(self, path: str, tolerance: float, versions: tuple[str, ...], asked: Asked) -> None:
        self.path = path
        self.tolerance = tolerance
        self.versions = versions
        self.asked = asked

    def finding(
        self,
        verdict: str,
        subject: str,
        reason: str,
        file: str,
        place: Recorded | None = None,
        more: Sequence[str] = (),
    ) -> Finding:
        """One finding; what to do about it is the same for all."""
        return Finding(
            kind="lock",
            subject=subject,
            verdict=verdict,
            outcome=FAILED,
            reason=reason,
            hint=f"if this is as it should be, write {self.path} anew with --update-lock",
            details=(*more, *self.versions),
            file=file,
            source=place.source if place is not None else None,
            span=place.span if place is not None else None,
            exit_code=FAILURE,
        )

    def conventions(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
        """What was agreed on and is no longer so."""
        for name in dict.fromkeys([*old, *new]):
            if name != "dtype" and old.get(name) != new.get(name):
                words = Difference(name, old.get(name, "unknown"), new.get(name, "unknown")).words
                yield self.finding("moved", "", words, self.path)

    def dtype(self, result: FileResult, old: Any) -> Iterator[Finding]:
        """The dtype of a file's floats, where it is another."""
        if old != result.dtype:
            yield self.finding("moved", "", Difference("dtype", old, result.dtype).words, result.file)

    def outputs(self, result: FileResult, old: Mapping[str, Locked]) -> Iterator[Finding]:
        """What moved in a file, what is new in it and what is gone."""
        for name, entry in result.recorded.items():
            if name in old:
                yield from self._output(name, entry, old[name], result.file)
            else:
                yield self.finding("added", name, "the lock does not have it", result.file, entry)
        for name in old:
            if name not in result.recorded and self.asked.output(name):
                yield self.finding("removed", name, "the lock has it, and the file no longer", result.file)

    def _output(self, name: str, entry: Recorded, old: Locked, file: str) -> Iterator[Finding]:
        moved = [self._moved(name, name, entry, (old.value, entry.value), file)]
        for wrt, gradient in entry.gradients.items():
            subject = f"d({name})/d({wrt})"
            if wrt in old.gradients:
                moved.append(self._moved(subject, wrt, entry, (old.gradients[wrt], gradient), file))
            else:
                yield self.finding("added", subject, "the lock does not have it", file, entry)
        yield from [finding for finding in moved if finding is not None]
        for wrt in old.gradients:
            if wrt not in entry.gradients and self.asked.gradient(wrt):
                yield self.finding(
                    "removed",
                    f"d({name})/d({wrt})",
                    "the lock has it, and it is differentiated by no longer",
                    file,
                    entry,
                )

    def _moved(self, subject: str, label: str, entry: Recorded, pair: tuple[Any, Any], file: str) -> Finding | None:
        found = list(differences(*pair, label, self.tolerance))
        if not found:
            return None
        worst = max(found, key=lambda each: relative_change(each.old, each.new) or math.inf)
        more = [each.words for each in found if each is not worst]
        if len(more) > _TOLD:
            more = [*more[:_TOLD], f"and {len(more) - _TOLD} more entries"]
        return self.finding("moved", subject, worst.words, file, entry, more)
