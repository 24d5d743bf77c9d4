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
    """A judgement of each referee that is asked for, then SymPy's closed forms; or which of some ops is wrong.

    Args:
        request: `case` as `description` has it, `referees` in order, whether mpmath looks along `directions` only; or
            `ops`, a list of cases of one op each.
        budget: what all may spend together.
    """
    from . import symbolic
    from .blame import first_wrong, unpacked
    from .description import rebuilt
    from .hearing import heard

    if "ops" in request:
        found = first_wrong([unpacked(data) for data in request["ops"]], budget)
        yield {"wrong": None if found is None else found._asdict()}
        return
    case = rebuilt(request["case"])
    for judgement in heard(case, request["referees"], budget, directions=request["directions"]):
        yield asdict(judgement)
    if symbolic.NAME in request["referees"]:
        with suppress(BudgetSpent):
            yield {"forms": symbolic.closed_forms(case, Budget(budget.operations, budget.seconds_left))}


if __name__ == "__main__":
    serve(answers, "agrad.engine.ops", "agrad.engine.referees.hearing", "agrad.engine.referees.blame", *sys.argv[1:2])
