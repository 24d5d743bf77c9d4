"""An error that a snippet did not catch, as text: Python's last line, then where it was and what to do."""

from __future__ import annotations

import ast
import traceback
from typing import Any

from .interpreter import Interpreter
from .places import Places
from .repair import repair
from .scope import bound_names


def last_line(error: BaseException) -> str:
    """The last line of Python's traceback: the class and the text of an error."""
    return "".join(traceback.format_exception_only(type(error), error)).rstrip("\n")


def failure_text(error: BaseException, run: Interpreter, tree: ast.Module, places: Places) -> str:
    """What is written to stderr for an error that nobody caught, without a line end.

    The second line names the failing expression, the tensors in it with the lines that they are from, and the repair.
    """
    node = run.failed_at if run.failed is error else run.at
    location = places.source.location(places.span(node).start)
    said = f"{location.file}:{location.line}:{location.column}: in {places.text(node)}"
    top = getattr(run.statement, "lineno", location.line)
    if not top <= location.line <= (getattr(run.statement, "end_lineno", top) or top):
        said += f", called from line {top}"
    names = _tensors(node, run)
    origins = [f"{name} is from line {line}" for name in names if (line := _line_of(name, tree, location.line))]
    if origins:
        said += f" ({', '.join(origins)})"
    hint = getattr(error, "hint", "")
    what = hint if isinstance(hint, str) and hint else repair(str(error), _subject(node, names))
    return f"{last_line(error)}\n{said}" + (f": {' '.join(what.split())}" if what else "")


def _tensors(node: ast.AST, run: Interpreter) -> list[str]:
    """The names of tensors that an expression reads."""
    found: dict[str, None] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and _is_tensor(run.top.values.get(each.id), run):
            found[each.id] = None
    return list(found)


def _is_tensor(value: Any, run: Interpreter) -> bool:
    return hasattr(value, "requires_grad") and run.access.library.of(type(value)) is not None


def _line_of(name: str, tree: ast.Module, before: int) -> int:
    """The line of the last statement above that binds a name; 0 where there is none."""
    lines = [
        each.lineno
        for each in ast.walk(tree)
        if isinstance(each, (ast.Name, ast.FunctionDef)) and each.lineno < before and name in bound_names(each)
    ]
    return max(lines, default=0)


def _subject(node: ast.AST, names: list[str]) -> str:
    """What an error of this expression is about: the object of a method, the first tensor, or a word for either."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id in names:
        return owner.id
    return names[0] if names else "it"


def traceback_text(run: Interpreter, places: Places) -> str:
    """Where the snippet stands, as the entries of Python's traceback."""
    lines = []
    for name, node in run.place():
        number = int(getattr(node, "lineno", 1))
        lines.append(f'  File "{run.name}", line {number}, in {name}\n')
        text = places.line(number).strip()
        if text:
            lines.append(f"    {text}\n")
    return "".join(lines).rstrip("\n")
