"""What SymPy knows of an expression from the assumptions of its symbols: its sign, and whether it is zero."""

from __future__ import annotations

from typing import Any


class UndecidedError(Exception):
    """The sign of an expression is not the same, or not known, for all numbers of a case."""

    def __init__(self, expression: Any) -> None:
        super().__init__(str(expression))
        self.expression = expression


def sign_of(sympy: Any, expression: Any, near: Any = None) -> int:
    """The sign of an expression by the assumptions of its symbols; `near` is as near to zero as one likes.

    Raises:
        UndecidedError: where they do not tell.
    """
    if near is not None and near in expression.free_symbols:
        limit = expression.subs(near, 0)
        if limit.is_finite is not False:
            try:
                sign = sign_of(sympy, limit)
            except UndecidedError:
                sign = 0
            if sign:
                return sign
    if expression in (sympy.oo, -sympy.oo):
        return 1 if expression == sympy.oo else -1
    for rewritten in (lambda form: form, sympy.factor):
        form = rewritten(expression)
        if form.is_positive:
            return 1
        if form.is_negative:
            return -1
        if form.is_zero:
            return 0
    raise UndecidedError(expression)


def known(sympy: Any, kind: str, expression: Any, near: Any = None) -> bool:
    """Whether something is known to hold for all numbers of a case."""
    if kind == "defined":
        return not expression.free_symbols
    try:
        sign = sign_of(sympy, expression, near)
    except UndecidedError:
        forms = (expression, sympy.factor(expression))
        if kind == "nonnegative":
            return any(form.is_nonnegative for form in forms)
        return kind == "nonzero" and any(form.is_nonzero for form in forms)
    return {"nonzero": sign != 0, "positive": sign > 0, "nonnegative": sign >= 0}[kind]


def is_zero(sympy: Any, expression: Any) -> bool:
    """Whether SymPy simplifies an expression to zero: cheap ways first."""
    if expression == 0:
        return True
    if expression.has(sympy.erfc):
        expression = expression.rewrite(sympy.erf)
    for way in (
        lambda form: _numerator(sympy, form),
        lambda form: _numerator(sympy, form.rewrite(sympy.exp)),
        lambda form: sympy.expand_log(sympy.expand(form)),
        lambda form: _numerator(sympy, sympy.expand_log(form.rewrite(sympy.exp))),
        sympy.simplify,
        lambda form: sympy.simplify(sympy.logcombine(form)),
    ):
        if way(expression) == 0:
            return True
    return False


def _numerator(sympy: Any, expression: Any) -> Any:
    """The numerator of an expression, multiplied out, with a symbol for each power of e: exp(2*x - y) is u**2 / v."""
    powers: dict[Any, Any] = {}

    def product(power: Any) -> Any:
        factors = []
        for term in sympy.Add.make_args(sympy.expand(power.exp if power.is_Pow else power.args[0])):
            part, rest = term.as_coeff_Mul()
            whole, base = (part.p, rest / part.q) if part.is_Rational else (1, term)
            factors.append(powers.setdefault(base, sympy.Dummy("e", positive=True)) ** whole)
        return sympy.Mul(*factors)

    plain = expression.replace(lambda part: isinstance(part, sympy.exp), product)
    numerator = sympy.numer(sympy.together(plain))
    symbols = sorted(numerator.free_symbols, key=str)
    if not symbols or not numerator.is_polynomial(*symbols):
        return sympy.expand(numerator)
    return 0 if sympy.Poly(numerator, *symbols).is_zero else numerator
