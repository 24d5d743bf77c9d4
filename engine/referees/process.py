"""The referees' process seen from outside."""

from __future__ import annotations

from ..worker.process import Worker


class RefereeProcess(Worker):
    """A worker that imports SymPy at once and then waits for cases, see `child`.

    Args:
        imports: the slow import to begin with: "sympy" or "mpmath".
    """

    def __init__(self, imports: str = "sympy") -> None:
        super().__init__("agrad.engine.referees.child", imports)
