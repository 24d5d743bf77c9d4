"""What is not finite among the names alone: of graphs that are not looked at node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import Span
from ..evaluation.evaluate import Evaluation
from ..language import Formulas
from ..referees.digits import entry_label
from .chain import first_broken, is_finite
from .finding import Finding, Kind


def findings(formulas: Formulas, evaluation: Evaluation) -> Iterator[Finding]:
    """The first value and the first gradient that are not finite."""
    named = ((binding.name, binding.expression, evaluation.values[binding.node]) for binding in formulas.bindings)
    yield from _first(formulas, "value", "whose value", named)
    used = [name for name in evaluation.wrt if name not in evaluation.unused]
    places = {binding.name: binding.expression for binding in formulas.bindings}
    asked = ((name, places.get(name), evaluation.gradient(name)) for name in used)
    yield from _first(formulas, "gradient", "whose gradient", asked)


def _first(
    formulas: Formulas, kind: Kind, whose: str, named: Iterable[tuple[str, Span | None, Any]]
) -> Iterator[Finding]:
    for name, span, value in named:
        if is_finite(value):
            continue
        array = np.asarray(value)
        place = first_broken(array)
        count = int(np.count_nonzero(~np.isfinite(array)))
        entry = entry_label(name, place)
        message = f"the first name {whose} is not finite: {entry}, {array[place].item()!r}"
        notes = (f"{count:,} of its {array.size:,} entries are not",) if count > 1 else ()
        yield Finding(kind, message, "", span, formulas.source, notes, {"entry": entry, "count": count})
        return
