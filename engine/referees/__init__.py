"""Independent ways to the same gradient: SymPy, high precision, differences. No referee uses a rule.

SymPy and mpmath are imported only where a check runs; `RefereeProcess` alone may be imported, from `process`, before
anything else of the engine, so that it starts early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .case import SKIPPED_CHECK, Blame, Case, Check, Judgement, Verdict
    from .panel import Referees
    from .process import RefereeProcess
    from .verdict import RunningCheck, check, start_check

_HOMES = {
    "SKIPPED_CHECK": "case",
    "Blame": "case",
    "Case": "case",
    "Check": "case",
    "Judgement": "case",
    "RefereeProcess": "process",
    "Referees": "panel",
    "RunningCheck": "verdict",
    "Verdict": "case",
    "check": "verdict",
    "start_check": "verdict",
}

__all__ = [
    "SKIPPED_CHECK",
    "Blame",
    "Case",
    "Check",
    "Judgement",
    "RefereeProcess",
    "Referees",
    "RunningCheck",
    "Verdict",
    "check",
    "start_check",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
