"""The number that a SymPy expression has in an arithmetic: an own walk, each shared part once."""

from __future__ import annotations

from typing import Any, Final

from ..worker.budget import Budget
from .arithmetic import PreciseArithmetic
from .case import CannotJudge

_FUNCTIONS: Final = {"polygamma": "psi", "LambertW": "lambertw", "ceiling": "ceil"}


def evaluated(m: PreciseArithmetic, root: Any, known: dict[Any, Any], budget: Budget) -> Any:
    """The value of an expression.

    Args:
        m: the arithmetic.
        root: SymPy's expression.
        known: the value of each symbol in it; the values of all its parts are added.
        budget: what may be spent.

    Raises:
        CannotJudge: where it holds something that has no value.
    """
    stack = [root]
    while stack:
        part = stack[-1]
        if part in known:
            stack.pop()
            continue
        missing = [arg for arg in part.args if arg not in known] if not part.is_Rational else []
        if missing:
            stack.extend(missing)
            continue
        budget.spend()
        known[part] = _part(m, part, [known[arg] for arg in part.args] if not part.is_Rational else [])
        stack.pop()
    return known[root]


def _part(m: PreciseArithmetic, part: Any, args: list[Any]) -> Any:
    """The value of one part from the values of its arguments."""
    if part.is_Rational:
        return m.ratio(int(part.p), int(part.q))
    if part.is_Add:
        return m.total(args)
    if part.is_Mul:
        return m.product(args)
    if part.is_Pow:
        if args[0] == 0 and args[1] == -1:
            return m.undefined()  # the sign of the zero is not known
        return m.power(*args)
    if part.is_NumberSymbol:
        return m.function("exp", m.number(1)) if part.func.__name__ == "Exp1" else _constant(m, part)
    if not args:
        return _special(m, part)
    name = part.func.__name__
    if name == "Abs":
        return abs(args[0])
    if name == "sign":
        # SymPy differentiates |x| to it, and |x| has no derivative at zero.
        return m.number((args[0] > 0) - (args[0] < 0)) if args[0] != 0 else m.undefined()
    name = _FUNCTIONS.get(name, name)
    if not hasattr(m.context, name):
        raise CannotJudge(f"SymPy's derivative holds {name}")
    return m.function(name, *args)


def _constant(m: PreciseArithmetic, part: Any) -> Any:
    names = {"Pi": "pi", "EulerGamma": "euler", "Catalan": "catalan", "GoldenRatio": "phi"}
    return +getattr(m.context, names[part.func.__name__])


def _special(m: PreciseArithmetic, part: Any) -> Any:
    name = part.func.__name__
    if name == "Infinity":
        return m.inf
    if name == "NegativeInfinity":
        return -m.inf
    return m.undefined()
