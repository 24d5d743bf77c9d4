"""Two values as JSON holds them: which of their entries differ, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

ULPS: Final = 4
TOLERANCE: Final = 1e-12
"""Numbers within so many units in the last place, or within this relative difference, have not moved: versions of NumPy
add in different orders, and no change of a formula is as small."""


class Difference(NamedTuple):
    """One entry that is not what it was: its label, and both numbers."""

    entry: str
    old: Any
    new: Any

    @property
    def words(self) -> str:
        """The difference in words."""
        change = relative_change(self.old, self.new)
        told = "" if change is None else f", a relative change of {change:.2g}"
        return f"{self.entry} was {_shown(self.old)} and is {_shown(self.new)}{told}"


def differences(old: Any, new: Any, label: str, tolerance: float) -> Iterator[Difference]:
    """Where two values, as JSON holds them, differ: entry by entry where their shapes are the same.

    It follows the new value, which is ours; the old one may be anything.
    """
    waiting: list[tuple[tuple[str, ...], Any, Any]] = [((), old, new)]
    while waiting:
        path, old, new = waiting.pop()
        if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
            pairs = list(enumerate(zip(old, new, strict=True)))
            waiting += [((*path, str(place)), *pair) for place, pair in reversed(pairs)]
        elif isinstance(new, dict) and isinstance(old, dict) and new.keys() == old.keys():
            waiting += [((*path, name), old[name], new[name]) for name in reversed(new)]
        elif not _same(old, new, tolerance):
            yield Difference(_label(label, path), old, new)


def _label(label: str, path: Sequence[str]) -> str:
    places = [part for part in path if part.isdecimal()]
    names = "".join(f".{part}" for part in path if not part.isdecimal())
    return f"{label}[{', '.join(places)}]{names}" if places else label + names


def _same(old: Any, new: Any, tolerance: float) -> bool:
    if not _is_number(old) or not _is_number(new):
        return type(old) is type(new) and bool(old == new)
    one, other = _float(old), _float(new)
    if one == other:
        return True
    if not (math.isfinite(one) and math.isfinite(other)):
        return False
    largest = max(abs(one), abs(other))
    return abs(one / 2 - other / 2) <= max(ULPS * math.ulp(largest), tolerance * largest) / 2


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of a hostile lock
        return math.inf if value > 0 else -math.inf


def relative_change(old: Any, new: Any) -> float | None:
    """How far a number has moved, relative to what it was; None where that says nothing."""
    if not _is_number(old) or not _is_number(new):
        return None
    one, other = _float(old), _float(new)
    if one == 0 or not (math.isfinite(one) and math.isfinite(other)):
        return None
    return abs(other / one - 1)


_WIDEST: Final = 60


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):
        what = _shape(value) if isinstance(value, list) else f"{len(value)} entries"
        return f"an array of {what}" if isinstance(value, list) else f"an object of {what}"
    text = repr(value) if _is_number(value) and abs(_float(value)) < math.inf else str(value)[: _WIDEST + 1]
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."


def _shape(value: Any) -> str:
    sizes = []
    while isinstance(value, list):
        sizes.append(len(value))
        value = value[0] if value else None
    return f"shape {sizes}"
