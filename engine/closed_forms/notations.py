"""Expressions in several notations: agrad's own language, Unicode, LaTeX, Python.

The text is what an expression file may say: it can be pasted behind `assert d(z)/d(x) ==`.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from sympy import Float, Rational, S
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.pretty import PrettyPrinter, pretty_use_unicode
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.pycode import PythonCodePrinter
from sympy.printing.str import StrPrinter

from .latex_names import latex_name

_DIGITS: Final = 200
"""Fractions with larger numbers are written as decimals."""
_TEXT_NAMES: Final = {"loggamma": "lgamma", "ceiling": "ceil", "Abs": "abs"}
_SPECIAL: Final = {
    "polygamma": "polygamma",
    "besseli": "iv",
    "besselj": "jv",
    "erfinv": "erfinv",
    "erfcinv": "erfcinv",
    "zeta": "zeta",
    "digamma": "digamma",
}
"""Functions that Python's math lacks, and what they are called in scipy.special."""
_RESERVED: Final = frozenset({*keyword.kwlist, "math", "scipy", "abs", "float", "__debug__"})


def with_decimals(expression: Any) -> Any:
    """An expression in which fractions of large numbers, which floats stood for, are written as those floats."""
    fractions = {
        number: Float(int(number.p) / int(number.q), 17)
        for number in expression.atoms(Rational)
        if int(number.q) > _DIGITS or (abs(int(number.p)) > _DIGITS and int(number.q) != 1)
    }
    return expression.xreplace(fractions) if fractions else expression


class TextPrinter(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
    """agrad's own language."""

    def _print_Float(self, expr: Any) -> str:  # noqa: N802  # as above
        return repr(float(expr))

    def _print_Exp1(self, expr: Any) -> str:  # noqa: ARG002, N802  # as above
        return "e"

    def _print_Infinity(self, expr: Any) -> str:  # noqa: ARG002, N802  # as above
        return "inf"

    def _print_NegativeInfinity(self, expr: Any) -> str:  # noqa: ARG002, N802  # as above
        return "-inf"

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802  # as above
        *branches, (last, condition) = expr.args
        text = str(self._print(last))
        if condition != S.true:
            text = f"where({self._print(condition)}, {text}, nan)"
        for branch, condition in reversed(branches):
            text = f"where({self._print(condition)}, {self._print(branch)}, {text})"
        return text

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802  # as above
        condition, yes, no = expr.args
        return str(self._print((condition & yes) | (~condition & no)))

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802  # as above
        level = PRECEDENCE["Relational"]
        left, right = (self.parenthesize(side, level) for side in expr.args)
        return f"{left} {expr.rel_op} {right}"

    def _print_Function(self, expr: Any) -> str:  # noqa: N802  # as above
        name = expr.func.__name__
        args = [self._print(arg) for arg in expr.args]
        if name in ("polygamma", "besseli") and args[0] in ("0", "1") and (name, args[0]) != ("polygamma", "1"):
            return f"{'digamma' if name == 'polygamma' else 'i' + args[0]}({args[1]})"
        return f"{_TEXT_NAMES.get(name, name)}({', '.join(args)})"

    _print_Abs = _print_Function  # noqa: N815  # as above


class UnicodePrinter(PrettyPrinter):  # type: ignore[misc]  # as above
    """SymPy's drawing in two dimensions, names as they are."""

    def _print_Float(self, expr: Any) -> Any:  # noqa: N802  # as above
        return prettyForm(repr(float(expr)))

    def _print_Symbol(self, expr: Any, bold_name: bool = False) -> Any:  # noqa: ARG002, N802  # as above
        return prettyForm(expr.name)


class FormulaPrinter(LatexPrinter):  # type: ignore[misc]  # as above
    """LaTeX, names escaped."""

    def _print_Float(self, expr: Any) -> str:  # noqa: N802  # as above
        return _latex_decimal(repr(float(expr)))

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:  # noqa: ARG002, N802  # as above
        return latex_name(expr.name)


class FunctionPrinter(PythonCodePrinter):  # type: ignore[misc]  # as above
    """Python over `math`, and over `scipy.special` for what that lacks."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__({"fully_qualified_modules": True})
        self._names = names

    def _print_Float(self, expr: Any) -> str:  # noqa: N802  # as above
        return repr(float(expr))

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802  # as above
        name, bracket, index = expr.name.partition("[")
        entries = index.rstrip("]").split(", ") if bracket else []
        return str(self._names.get(name, name)) + "".join(f"[{entry}]" for entry in entries)

    def _print_sign(self, expr: Any) -> str:
        argument = self._print(expr.args[0])
        return f"(({argument} > 0) - ({argument} < 0))"

    def _print_Function(self, expr: Any) -> str:  # noqa: N802  # as above
        name = expr.func.__name__
        if name not in _SPECIAL:
            raise NotImplementedError(name)
        self.module_imports["scipy"].add("special")
        return f"scipy.special.{_SPECIAL[name]}({', '.join(self._print(arg) for arg in expr.args)})"

    _print_polygamma = _print_besseli = _print_besselj = _print_erfinv = _print_zeta = _print_Function


def text(expression: Any) -> str:
    """An expression in agrad's language."""
    return str(TextPrinter().doprint(expression))


def drawing(expression: Any, *, ascii_only: bool) -> str:
    """An expression drawn over several lines."""
    before = pretty_use_unicode(not ascii_only)
    try:
        settings = {"use_unicode": not ascii_only, "wrap_line": False}
        return str(UnicodePrinter(settings).doprint(expression))
    finally:
        pretty_use_unicode(before)


def latex(expression: Any) -> str:
    """An expression in LaTeX."""
    return str(FormulaPrinter({"ln_notation": False}).doprint(expression))


def _latex_decimal(decimal: str) -> str:
    mantissa, _, exponent = decimal.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def python_names(names: list[str]) -> dict[str, str]:
    """For each name one that Python takes for a variable, all different for Python, which folds letters (NFKC)."""
    found: dict[str, str] = {}
    taken: set[str] = set(_RESERVED)
    for name in names:
        safe = unicodedata.normalize("NFKC", name)
        while safe in taken:
            safe += "_"
        taken.add(safe)
        found[name] = safe
    return found
