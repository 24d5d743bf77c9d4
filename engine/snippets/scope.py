"""Names: which of them a function binds, and where the value of each stands while it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_NOTHING: Final = object()

Function = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(slots=True)
class Scope:
    """The names that a function, a class or a comprehension binds.

    Attributes:
        local: its own.
        globals: those declared `global`.
        nonlocals: those declared `nonlocal`.
    """

    local: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)


def scope_of(nodes: Iterable[ast.AST], parameters: Iterable[str] = ()) -> Scope:
    """The scope of a body: what it assigns, without what functions and classes inside it assign."""
    scope = Scope(set(parameters))
    for node in _own(nodes):
        if isinstance(node, ast.Global):
            scope.globals.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.nonlocals.update(node.names)
        else:
            scope.local.update(bound_names(node))
    scope.local -= scope.globals | scope.nonlocals
    return scope


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that one node binds by itself."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)):
        if node.name is not None:
            yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a body in no order; of an inner function or class only its name and what is evaluated outside."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            stack += [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
            stack += getattr(node, "decorator_list", [])
        elif isinstance(node, ast.ClassDef):
            stack += [*node.bases, *node.decorator_list]
        elif isinstance(node, Comprehension):
            # The targets are the comprehension's own; `:=` inside it binds in the function around it.
            stack += [each for each in ast.walk(node) if isinstance(each, ast.NamedExpr)]
        else:
            stack += ast.iter_child_nodes(node)


def parameter_names(arguments: ast.arguments) -> list[str]:
    """All parameters of a function."""
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names + [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]


class Frame:
    """The names of one running body.

    Args:
        scope: what it binds; None for the top level, whose names are the globals.
        outer: the function around it, or the top level; None there.
        builtins: the names that need no binding.
        name: of the function, as it stands in messages.
    """

    __slots__ = ("builtins", "first", "handled", "is_class", "name", "outer", "owner", "scope", "top", "values")

    def __init__(
        self, scope: Scope | None, outer: Frame | None, builtins: Mapping[str, Any], name: str = "<module>"
    ) -> None:
        self.scope = scope
        self.outer = outer
        self.builtins = builtins
        self.name = name
        self.values: dict[str, Any] = {}
        self.top: Frame = outer.top if outer is not None else self
        self.handled: BaseException | None = None
        self.is_class = False
        self.owner: list[type] = []
        self.first: Any = None

    def inner(self, scope: Scope, name: str) -> Frame:
        """The frame of a function, class or comprehension that stands in this one."""
        around = self
        while around.is_class and around.outer is not None:  # a class is no scope for its methods
            around = around.outer
        return Frame(scope, around, self.builtins, name)

    def load(self, name: str) -> Any:
        """The value of a name.

        Raises:
            NameError: where it has none; the subclass and the text are Python's.
        """
        found = self.values.get(name, _NOTHING)
        if found is not _NOTHING:
            return found
        if self.scope is not None and name in self.scope.local and not self.is_class:
            raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
        if self.scope is None or name not in self.scope.globals:
            frame = self.outer
            while frame is not None and frame.scope is not None:
                if name in frame.scope.local:
                    return frame.free(name)
                frame = frame.outer
        found = self.top.values.get(name, _NOTHING)
        if found is _NOTHING:
            found = self.builtins.get(name, _NOTHING)
        if found is _NOTHING:
            raise NameError(f"name '{name}' is not defined", name=name)
        return found

    def free(self, name: str) -> Any:
        """The value of an own name for a function inside."""
        found = self.values.get(name, _NOTHING)
        if found is _NOTHING:
            raise NameError(
                f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            )
        return found

    def home(self, name: str) -> dict[str, Any]:
        """Where a name that this frame assigns stands."""
        scope = self.scope
        if scope is None or name in scope.local:
            return self.values
        if name in scope.globals:
            return self.top.values
        frame = self.outer
        while frame is not None and frame.scope is not None:
            if name in frame.scope.local:
                return frame.values
            frame = frame.outer
        return self.top.values if frame is not None and name not in scope.nonlocals else self.values

    def store(self, name: str, value: Any) -> None:
        """Bind a name."""
        self.home(name)[name] = value

    def delete(self, name: str) -> None:
        """Unbind a name.

        Raises:
            NameError: where it is not bound.
        """
        home = self.home(name)
        if name not in home:
            self.load(name)
            raise NameError(f"name '{name}' is not defined", name=name)
        del home[name]
