"""The referees' own process: `python -P -m agrad.engine.referees.child [sympy | mpmath]`, cases in, judgements out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from ..worker.budget import Budget, BudgetSpent
from ..worker.serving import serve


def answers(request: dict[str, Any], budget: Budget) -> Iterator[dict[str, Any]]:
    """A judgement of each referee that is asked for, then SymPy's closed forms; or what is wrong with some ops.

    Args:
        request: `case` as `description` has it, `referees` in order, whether mpmath looks along `directions` only; or
            `ops`, a list of cases of one op each, parts of that case, which is None where it is large.
        budget: what all may spend together.
    """
    from . import symbolic
    from .alone import unpacked
    from .blame import examined
    from .description import rebuilt
    from .hearing import heard

    case = None if request["case"] is None else rebuilt(request["case"])
    if "ops" in request:
        found = examined([unpacked(data) for data in request["ops"]], budget, case)
        yield {**found._asdict(), "wrong": None if found.wrong is None else found.wrong._asdict()}
        return
    assert case is not None
    for judgement in heard(case, request["referees"], budget, directions=request["directions"]):
        yield asdict(judgement)
    if symbolic.NAME in request["referees"]:
        with suppress(BudgetSpent):
            yield {"forms": symbolic.closed_forms(case, Budget(budget.operations, budget.seconds_left))}


if __name__ == "__main__":
    serve(answers, "agrad.engine.ops", "agrad.engine.referees.hearing", "agrad.engine.referees.blame", *sys.argv[1:2])
