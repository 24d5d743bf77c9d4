"""Classes of a snippet: real Python classes, made of functions that the snippet has written."""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

from .expressions import starred
from .scope import Frame, Scope
from .stop import refuse

if TYPE_CHECKING:
    from .interpreter import Interpreter


def make_class(run: Interpreter, node: ast.ClassDef, frame: Frame) -> type:
    """The class of a `class` statement, without its decorators."""
    bases = tuple(starred(run, node.bases, frame))
    run.at = node
    for base in bases:
        if not _may_derive(run, base):
            refuse(f"a class is not derived from {getattr(base, '__name__', type(base).__name__)} here")
    inner = frame.inner(Scope(), node.name)
    inner.name = node.name if frame.name == "<module>" else f"{frame.name}.<locals>.{node.name}"
    # A class within a class reads the names of neither; what it binds stays in its own frame.
    inner.is_class = True
    inner.scope = _ClassScope()
    inner.owner = []
    run.execute(node.body, inner)
    members = dict(inner.values)
    members["__module__"] = "__main__"
    members["__qualname__"] = inner.name
    made = types.new_class(node.name, bases, {}, lambda namespace: namespace.update(members))
    inner.owner.append(made)
    run.access.classes.add(made)
    return made


class _ClassScope(Scope):
    """The scope of a class body: whatever it assigns is its own."""

    def __init__(self) -> None:
        super().__init__()
        self.local = _Everything()


class _Everything(set[str]):
    def __contains__(self, _name: object) -> bool:
        return True


def _may_derive(run: Interpreter, base: Any) -> bool:
    if not isinstance(base, type):
        return False
    if base is object or base in run.access.classes or run.access.library.may_derive(base):
        return True
    return issubclass(base, Exception) and base.__module__ == "builtins"
