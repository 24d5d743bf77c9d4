"""The language of expression files: text to graph, with located errors.

The names are brought in when they are first asked for: the library of tensors wants the binding of arguments alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagnostics import escaped, render
    from .formulas import RESULT, Binding, Formulas, build
    from .literals import assignments, literal

__all__ = ["RESULT", "Binding", "Formulas", "assignments", "build", "escaped", "literal", "render"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .diagnostics import escaped, render
    from .formulas import RESULT, Binding, Formulas, build
    from .literals import assignments, literal

    found = (RESULT, Binding, Formulas, assignments, build, escaped, literal, render)
    globals().update(zip(__all__, found, strict=True))
    return globals()[name]
