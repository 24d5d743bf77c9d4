"""The referee "torch": the same graph run by PyTorch, where it is installed, and differentiated by its autograd.

It is asked only where a person asks for it: its import takes seconds. PyTorch computes in floating point by rules of
its own, so that what it says is no proof: where it gives NaN, or loses the digits in which the two differ, it cannot
judge, and the departures of agrad are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from ..worker.budget import Budget, BudgetSpent
from .arithmetic import PreciseArithmetic
from .case import CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .digits import Entry, given, verdict_of
from .torch_run import Run, departure

NAME: Final = "torch"
MISSING: Final = "torch is not installed: pip install torch"
_ROUNDING: Final = 32
"""Units of rounding of the largest gradient inside of the graph: a smaller difference may be PyTorch's own rounding."""


@cache
def _precise() -> PreciseArithmetic:
    return PreciseArithmetic(50)


def installed() -> bool:
    """Whether PyTorch can be imported; nothing is."""
    return find_spec("torch") is not None


def judge(case: Case, budget: Budget) -> Judgement:
    """What PyTorch says of a case.

    Args:
        case: the case.
        budget: what may be spent; each node counts as one operation.
    """
    try:
        torch = import_module("torch")
    except ImportError:
        return Judgement(NAME, CANNOT, None, MISSING)
    try:
        return _judged(torch, case, budget)
    except (BudgetSpent, CannotJudge) as reason:
        return Judgement(NAME, CANNOT, None, str(reason))
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        words = str(error) or type(error).__name__
        return Judgement(NAME, CANNOT, None, f"PyTorch refuses: {words.splitlines()[0]}")


def _judged(torch: Any, case: Case, budget: Budget) -> Judgement:
    run = Run(torch, case, budget)
    truth, undefined = _truth(case, run.gradients())
    judgement, objections = verdict_of(NAME, _precise(), case, truth)
    if judgement.verdict == DISAGREE:
        return _second_look(case, run, truth, judgement, objections)
    if undefined:
        return Judgement(NAME, CANNOT, None, f"PyTorch gives nan for {undefined[0]}{run.where_nan()}", undefined[0])
    return judgement


def _truth(case: Case, found: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """PyTorch's gradients as exact numbers, and where it has none: these entries are left out."""
    truth: dict[str, Any] = {}
    undefined: list[str] = []
    for name, array in found.items():
        got = given(case, name)
        truth[name] = entries = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            number = array[index].item()
            if number == number:
                entries[index] = _precise().number(number)
                continue
            label = f"{name}[{', '.join(map(str, index))}]" if index else name
            undefined.append(label if got[index] == got[index] else f"{label}, as agrad does")
    return truth, undefined


def _second_look(
    case: Case, run: Run, truth: Mapping[str, Any], judgement: Judgement, objections: Sequence[Entry]
) -> Judgement:
    """The judgement, once it is known whether PyTorch's numbers have the digits in which they differ from agrad's."""

    def excused(why: str) -> Judgement:
        return Judgement(NAME, CANNOT, judgement.digits, f"{why}; {judgement.reason}", judgement.entry)

    beyond = run.first_beyond()
    if beyond is not None:
        return excused(f"PyTorch has {beyond[1]} in {beyond[0].op.name} here{departure(beyond[0].op.name)}")
    fault = run.known_fault(objections)
    if fault:
        return excused(fault)
    floor = float(np.finfo(run.real_dtype).eps) * _ROUNDING * run.largest_gradient()
    noise = run.noise(objections)
    errors = {entry.label: abs(entry.got - complex(entry.true)) for entry in objections}
    if all(error <= max(floor, 10 * noise[label]) for label, error in errors.items()):
        # Where the parts of an entry cancel only rounding is left, which changes as the leaves are moved by as much.
        rounded = [label for label, error in errors.items() if error <= min(floor, 10 * noise[label])]
        again, _ = verdict_of(NAME, _precise(), case, truth, rounded)
        return again if again.verdict != DISAGREE else excused("PyTorch loses these digits here")
    free = run.first_other_choice()
    if free:
        return excused(f"the result of {free} is one of several, and PyTorch's is another one")
    kink = run.kink()
    if kink and run.is_between(objections):
        return Judgement(NAME, KINK, judgement.digits, f"at a kink of {kink}; {judgement.reason}", judgement.entry)
    extreme = run.extreme()
    return excused(extreme) if extreme else judgement


__all__ = ["MISSING", "NAME", "installed", "judge"]
