"""Derivatives as Python functions: text that runs, over `math` and, where that lacks a function, `scipy.special`."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

import sympy

from .notations import FunctionPrinter, python_names

_SHARED: Final = 20
"""Operations from which on shared parts of a function get names."""


class Functions:
    """A module of functions, written one after another.

    Args:
        leaves: the names that the functions take, in order.
    """

    def __init__(self, leaves: Sequence[str]) -> None:
        self._names = python_names(list(leaves))
        self._leaves = list(leaves)
        self._taken: set[str] = set()
        self._texts: list[str] = []
        self._imports: set[str] = set()

    def add(self, name: str, entries: Any, says: str) -> None:
        """Add a function.

        Args:
            name: what it is to be called, more or less.
            entries: what it returns: an object array of expressions.
            says: its docstring.
        """
        name = unicodedata.normalize("NFKC", name)  # as Python reads it
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        arguments = ", ".join(self._names[leaf] for leaf in self._leaves)
        head = f"def {name}({arguments}):\n    {json.dumps(says, ensure_ascii=False)}\n"
        printer = FunctionPrinter(self._names)
        try:
            body = self._body(printer, entries)
        except NotImplementedError as function:
            self._texts.append(f"# {name}: Python and SciPy have no {function}\n")
            return
        self._imports |= {"scipy.special" if module == "scipy" else module for module in printer.module_imports}
        self._texts.append(head + body)

    def leave_out(self, name: str, reason: str) -> None:
        """Say why there is no function."""
        self._texts.append(f"# {name}: {' '.join(reason.split())}\n")

    def _body(self, printer: FunctionPrinter, entries: Any) -> str:
        expressions = list(entries.flat)
        lines = []
        # A part of a branch must not be computed outside of it.
        if sum(int(sympy.count_ops(e)) for e in expressions) >= _SHARED and not any(
            e.has(sympy.Piecewise) for e in expressions
        ):
            parts, expressions = sympy.cse(expressions, symbols=self._spare_symbols())
            lines = [f"    {symbol.name} = {printer.doprint(part)}\n" for symbol, part in parts]
        texts = iter([printer.doprint(expression) for expression in expressions])
        return "".join([*lines, f"    return {_nested(entries.shape, texts)}\n"])

    def _spare_symbols(self) -> Any:
        """Symbols that are no leaf's: t0, t1, ..."""
        taken = {*self._leaves, *self._names.values()}
        return (sympy.Symbol(name) for name in (f"t{place}" for place in range(10**6)) if name not in taken)

    def text(self) -> str:
        """The whole module."""
        imports = "".join(f"import {name}\n" for name in sorted(self._imports))
        return "\n\n".join([*([imports] if imports else []), *self._texts])


def _nested(shape: Sequence[int], texts: Any) -> str:
    if not shape:
        return str(next(texts))
    return f"[{', '.join(_nested(shape[1:], texts) for _ in range(shape[0]))}]"


def function_name(output: str, by: Sequence[str]) -> str:
    """As in `dz_dx` and `d2z_dx_dy`."""
    order = len(by)
    return f"d{order if order > 1 else ''}{output}_{'_'.join(f'd{name}' for name in by)}"
