"""How many digits of a gradient are right.

The error of an entry is measured against the true entry: 3 right digits are an error below 10^-3 of it. Where the true
entry is zero it is measured against the largest true entry of all leaves, and so it is where the parts of an entry
cancel in floating point and only rounding is left (`rounded`). The worst entry counts. A double cannot have
more than `MOST` right digits; what lies outside of a dtype's range counts as its infinity or its zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .case import AGREE, CANNOT, DISAGREE, Case, Judgement

MOST: Final = 16
ENOUGH: Final = {"float64": 8, "float32": 4, "complex128": 8, "complex64": 4}
"""How many right digits are an agreement: fewer than arithmetic gives, more than a wrong rule gives by chance."""
LISTED: Final = 1000
"""The digits of more entries are not listed: the worst one is named."""

Truth = Mapping[str, Any]
"""For each name of a case an object array of mpmath numbers, with None where there is no derivative."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a gradient beside its true value."""

    name: str
    index: tuple[int, ...]
    got: complex
    true: Any
    digits: int
    enough: int
    scale: Any = 0

    @property
    def label(self) -> str:
        """As in `x[0, 1]`, or `x` for a scalar."""
        return entry_label(self.name, self.index)


def entry_label(name: str, index: tuple[int, ...]) -> str:
    """An entry of a gradient in words."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def given(case: Case, name: str) -> Any:
    """What agrad gives for a name, as an array; zeros where nothing flows."""
    node = case.wrt[name]
    value = case.gradients.get(name)
    return np.zeros(node.shape, node.dtype) if value is None else np.asarray(value).reshape(node.shape)


def compare(m: Any, case: Case, truth: Truth, rounded: Collection[str] = ()) -> Iterator[Entry]:
    """Each entry of each gradient beside its true value.

    Args:
        m: the arithmetic of mpmath numbers that the truth is written in.
        case: the case.
        truth: the true gradients, for some or all names; entries that are None are left out.
        rounded: labels of entries that are measured against the largest.
    """
    limits = {name: np.finfo(case.wrt[name].dtype) for name in truth}
    scale = m.number(0)
    for name, array in truth.items():
        for true in array.flat:
            if true is None:
                continue
            size = abs(true)
            if m.finite(size) and size > scale and size < float(limits[name].max):
                scale = size
    for name, array in truth.items():
        got = given(case, name)
        enough = ENOUGH.get(case.wrt[name].dtype.name, 4)
        for index in np.ndindex(array.shape):
            if array[index] is None:
                continue
            value = got[index].item()
            entry = Entry(name, index, value, array[index], 0, enough, scale)
            least = scale if entry.label in rounded else m.number(0)
            yield replace(entry, digits=right_digits(m, value, array[index], scale, limits[name], least))


def right_digits(m: Any, got: complex, true: Any, scale: Any, limit: Any, least: Any = 0) -> int:
    """How many digits of one entry are right, from 0 to `MOST`; the error is measured against `least` at least."""
    number = m.number(got)
    if not m.finite(number) or not m.finite(true):
        return MOST if number == m.clipped(true, float(limit.max)) else 0
    size = abs(true)
    if size > float(limit.max):
        return 0
    error = abs(number - true)
    if error <= float(limit.smallest_subnormal):
        return MOST
    reference = max(size, least) if size > float(limit.smallest_subnormal) else scale
    if reference == 0:
        return 0
    return max(0, min(MOST, -int(m.exponent(error / reference))))


def shown(m: Any, value: Any) -> str:
    """A true value in a reason: ten digits suffice to see the difference."""
    return str(m.text(value, 10))


def verdict_of(
    name: str, m: Any, case: Case, truth: Truth, rounded: Collection[str] = ()
) -> tuple[Judgement, list[Entry]]:
    """The judgement where nothing is known but the truth, and the entries that object to it."""
    worst: Entry | None = None
    objections = []
    found: dict[str, list[tuple[tuple[int, ...], int]]] = {}
    for entry in compare(m, case, truth, rounded):
        if m.undefined_number(entry.true):
            return Judgement(name, CANNOT, None, f"the derivative by {entry.label} is undefined here", entry.label), []
        found.setdefault(entry.name, []).append((entry.index, entry.digits))
        if worst is None or entry.digits < worst.digits:
            worst = entry
        if entry.digits < entry.enough:
            objections.append(entry)
    if worst is None:
        return Judgement(name, AGREE, MOST), []
    entries = _listed(case, found)
    if not objections:
        return Judgement(name, AGREE, worst.digits, None, worst.label, entries=entries), []
    reason = f"the derivative by {worst.label} is {shown(m, worst.true)}, not {worst.got!r}"
    return Judgement(name, DISAGREE, worst.digits, reason, worst.label, entries=entries), objections


def _listed(case: Case, found: Mapping[str, list[tuple[tuple[int, ...], int]]]) -> dict[str, Any]:
    """The digits of all entries, nested as the gradients are; None for an entry that has no derivative."""
    if sum(len(counts) for counts in found.values()) > LISTED:
        return {}
    listed = {}
    for name, counts in found.items():
        array = np.full(case.wrt[name].shape, None, dtype=object)
        for index, digits in counts:
            array[index] = digits
        listed[name] = array.tolist()
    return listed
