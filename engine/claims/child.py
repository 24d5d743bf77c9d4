"""The process that judges claims: `python -P -m agrad.engine.claims.child`, a question in, what was found out.

The points come first, for they are quick and a counter-example ends it; SymPy has the rest of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..worker.budget import Budget
from ..worker.serving import serve

MODULE: Final = "agrad.engine.claims.child"
"""What a worker that judges claims runs."""

_POINTS: Final = 0.6
"""The part of the time that the points may take."""


def answers(request: dict[str, Any], budget: Budget) -> Iterator[dict[str, Any]]:
    """What the points say, then what SymPy says.

    Args:
        request: `question` as `question.written` writes it, `points`, `seed`.
        budget: what may be spent.
    """
    from .. import ops  # noqa: F401  # they fill the table
    from .proof import proved
    from .question import read
    from .sampling import sampled

    question = read(request["question"])
    found = sampled(question, budget.part(_POINTS), count=request["points"], seed=request["seed"])
    yield {"sampled": found.plain()}
    if found.found is None and found.trouble is None:
        reason, partial = proved(question, budget)
        yield {"proof": {"reason": reason, "partial": partial}}


if __name__ == "__main__":
    serve(answers, "agrad.engine.ops", "agrad.engine.claims.sampling", "sympy")
