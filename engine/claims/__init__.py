"""Claims about formulas: proved for all inputs, tried at points, or refuted with a counter-example.

Whatever is asked for is imported when it is asked for: judging wants SymPy and mpmath, in a process of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .difference import judge_difference
    from .judge import judge_claims
    from .judgement import ClaimJudgement, CounterExample

_HOMES = {
    "ClaimJudgement": "judgement",
    "CounterExample": "judgement",
    "judge_claims": "judge",
    "judge_difference": "difference",
}

__all__ = ["ClaimJudgement", "CounterExample", "judge_claims", "judge_difference"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
