"""The referees' own process: `python -P -m agrad.engine.referees.child`, one case in, one judgement a line out.

It reads the case while SymPy is being imported. Its memory is limited, and an alarm ends it should its parent be gone.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from types import FrameType
from typing import Any, Final

from .case import CANNOT, Budget, BudgetSpent, Judgement

MEMORY: Final = 1 << 30
"""How many bytes the process may take beyond what it has after its imports."""


def main() -> None:
    """Read one request, write one line for each referee, then one for the closed forms."""
    gc.disable()  # the imports make a million objects and no garbage
    request: list[str] = []
    reader = threading.Thread(target=lambda: request.append(sys.stdin.readline()), daemon=True)
    reader.start()
    from .. import ops  # noqa: F401  # fills the table
    from . import precise, symbolic
    from .description import rebuilt

    with suppress(ImportError):  # while the parent still works
        import_module("sympy" if "sympy" in sys.argv else "mpmath")
    reader.join()
    if not request[0].strip():
        return
    print(json.dumps({"started": True}), flush=True)
    order = json.loads(request[0])
    gc.enable()
    _limit_memory()
    budget = Budget(order["operations"], order["seconds"])
    _set_alarm(budget)
    case = rebuilt(order["case"])
    facts = precise.Facts()
    for name in order["referees"]:
        if name == precise.NAME:
            half = Budget(order["operations"], budget.seconds_left / 2)
            _answer(name, lambda half=half: precise.judge(case, half, facts, directions=order["directions"]))
        else:
            fresh = Budget(order["operations"], budget.seconds_left)
            _answer(name, lambda fresh=fresh: symbolic.judge(case, fresh, facts))
    if symbolic.NAME in order["referees"]:
        with suppress(Exception):
            forms = symbolic.closed_forms(case, Budget(order["operations"], budget.seconds_left))
            print(json.dumps({"forms": forms}), flush=True)
    print(json.dumps({"done": True}), flush=True)


def _answer(name: str, judge: Any) -> None:
    """Write a referee's judgement; whatever goes wrong in it is its reason."""
    try:
        judgement: Judgement = judge()
    except BudgetSpent as spent:
        judgement = Judgement(name, CANNOT, None, str(spent))
    except MemoryError:
        judgement = Judgement(name, CANNOT, None, f"more than {MEMORY >> 20} MB")
    except ImportError as error:
        judgement = Judgement(name, CANNOT, None, f"{error.name} is not installed")
    except Exception as error:  # a referee that fails has no say
        judgement = Judgement(name, CANNOT, None, f"{type(error).__name__}: {error}")
    print(json.dumps(asdict(judgement)), flush=True)


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        with suppress(OSError), open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123  # no need of pathlib
            used = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def _set_alarm(budget: Budget) -> None:
    """Interrupt SymPy when the time is up; the parent kills what does not stop then."""

    def spent(_signal: int, _frame: FrameType | None) -> None:
        raise BudgetSpent(f"not done within {budget.seconds:g} s")

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, spent)
        signal.setitimer(signal.ITIMER_REAL, budget.seconds, 0.5)


if __name__ == "__main__":
    main()
