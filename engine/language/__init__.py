"""The language of expression files: text to graph, with located errors."""

from __future__ import annotations

from .build import RESULT, Binding, Formulas, build
from .diagnostics import escaped, render
from .literals import assignments, literal

__all__ = ["RESULT", "Binding", "Formulas", "assignments", "build", "escaped", "literal", "render"]
