"""What a snippet may be written with: the whole text is looked at before anything of it runs.

The list says what is allowed; whatever is not on it is refused, with its place and the reason.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..errors import AgradError, InputError, LimitError, SeveralErrors, Source, Span
from .imports import importable
from .places import Places
from .scope import bound_names
from .structure import faults
from .words import ATTRIBUTES, METHODS

LONGEST: Final = 1_000_000
"""The characters that a snippet may have."""
DEEPEST: Final = 200
"""How deep its expressions and blocks may be nested."""
_TOLD: Final = 10
"""How many refusals are told at once."""

NODES: Final[frozenset[type[ast.AST]]] = frozenset(
    {
        ast.Module,
        # statements
        ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Return, ast.Delete,
        ast.Assert, ast.Raise, ast.If, ast.For, ast.While, ast.Try, ast.ExceptHandler, ast.With, ast.withitem,
        ast.FunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.alias,
        # expressions
        ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Call, ast.keyword,
        ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Tuple, ast.List,
        ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
        ast.JoinedStr, ast.FormattedValue, ast.arguments, ast.arg,
        # contexts and operators
        ast.Load, ast.Store, ast.Del, ast.And, ast.Or, ast.Not, ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Div,
        ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd, ast.FloorDiv, ast.Invert,
        ast.UAdd, ast.USub, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
    }
)  # fmt: skip
"""The kinds of nodes of Python's syntax tree that are run."""

_REASONS: Final[Mapping[type[ast.AST], str]] = {
    ast.Yield: "generators are not run; collect the values in a list",
    ast.YieldFrom: "generators are not run; collect the values in a list",
    ast.Await: "nothing here is asynchronous",
    ast.AsyncFunctionDef: "nothing here is asynchronous",
    ast.AsyncFor: "nothing here is asynchronous",
    ast.AsyncWith: "nothing here is asynchronous",
    ast.Match: "match is not run; write if and elif",
    ast.TryStar: "groups of exceptions are not run; write except",
}

BUILTIN_REASONS: Final[Mapping[str, str]] = {
    "open": "a snippet reads and writes no files",
    "input": "a snippet asks no questions",
    "eval": "a snippet runs no text as code",
    "exec": "a snippet runs no text as code",
    "compile": "a snippet runs no text as code",
    "breakpoint": "a snippet starts no debugger",
    "exit": "a snippet ends at its end; raise an error to end it sooner",
    "quit": "a snippet ends at its end; raise an error to end it sooner",
}


def parsed(source: Source) -> ast.Module:
    """The syntax tree of a snippet, all of it on the list.

    Raises:
        InputError, SeveralErrors: where it is no Python or not on the list; `source` and `spans` are set.
        LimitError: where it is too long or too deeply nested.
    """
    if len(source.text) > LONGEST:
        raise LimitError(f"{source.name} is longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text, source.name)
    except SyntaxError as error:
        raise _syntax_error(error, source) from None
    except (RecursionError, MemoryError):
        deep = LimitError("an expression is nested too deeply for Python's parser", spans=(Span(0, 1),))
        deep.source = source
        raise deep from None
    except ValueError as error:
        raise InputError(f"{source.name}: {error}", code="syntax") from None
    errors = list(Refusals(source, tree).errors())
    if not errors:
        return tree
    for each in errors:
        each.source = source
    if len(errors) == 1:
        raise errors[0]
    several = SeveralErrors(errors[:_TOLD])
    several.source = source
    raise several


def _syntax_error(error: SyntaxError, source: Source) -> InputError:
    found = InputError(f"this is no Python: {error.msg}", code="syntax")
    places = Places(source)
    if error.lineno:
        start = places.offset(error.lineno, 0) + max(0, (error.offset or 1) - 1)
        end = start + 1
        if error.end_lineno == error.lineno and error.end_offset and error.offset:
            end = start + max(1, error.end_offset - error.offset)
        found.spans = (Span(min(start, len(source.text)), min(end, len(source.text) + 1)),)
    found.source = source
    return found


class Refusals:
    """A look at every node of a tree.

    Args:
        source: its text.
        tree: what is looked at.
    """

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.places = Places(source)
        self.tree = tree
        self.assigned: set[str] = set()

    def errors(self) -> Iterator[AgradError]:
        """What is not on the list, in the order of the text."""
        found = []
        nodes = list(self._nodes())
        for node, _ in nodes:
            self.assigned.update(bound_names(node))
            if isinstance(node, ast.arg):
                self.assigned.add(node.arg)
        for node, place in nodes:
            look = _LOOKS.get(type(node))
            said = "" if type(node) in NODES else _REASONS.get(type(node), "this is not on the list of what is run")
            if not said and look is not None:
                said = look(self, node)
            if said:
                message, _, hint = said.partition("\n")
                found.append(InputError(message, hint=hint, spans=(self.places.span(place),), code="refused"))
        for node, message in faults(self.tree):
            error = InputError(f"this is no Python: {message}", spans=(self.places.span(node),), code="syntax")
            found.append(error)
        found.sort(key=lambda error: error.spans[0])
        yield from found

    def _nodes(self) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Every node, with the one that says where it stands."""
        stack: list[tuple[ast.AST, ast.AST, int]] = [(self.tree, self.tree, 0)]
        while stack:
            node, place, depth = stack.pop()
            place = node if hasattr(node, "lineno") else place
            if depth > DEEPEST:
                error = LimitError(f"nested more than {DEEPEST} deep", spans=(self.places.span(place),))
                error.source = self.places.source
                raise error
            yield node, place
            # A chain of `elif`, or of `a.b().c()`, is as deep for us as it is in the tree: it is run by recursion.
            stack += [(child, place, depth + 1) for child in ast.iter_child_nodes(node)]

    def name(self, node: ast.Name) -> str:
        """Names of Python's own that are not bound here; names with two underscores."""
        if node.id.startswith("__") and node.id != "__name__":
            return f"names that begin with two underscores are not run: {node.id}"
        if node.id in self.assigned or node.id in _allowed_builtins() or not hasattr(builtins, node.id):
            return ""
        return BUILTIN_REASONS.get(node.id, "it is not on the list of built-in functions") + f": {node.id}"

    def attribute(self, node: ast.Attribute) -> str:
        """Attributes that begin with an underscore."""
        name = node.attr
        if not name.startswith("_") or name.startswith("_saved_"):
            return ""
        if isinstance(node.ctx, ast.Load) and (name in ATTRIBUTES or (name in METHODS and _is_super(node.value))):
            return ""
        return f"attributes that begin with an underscore are not run: {name}"

    def named(self, node: Any) -> str:
        """What binds a name other than by `=`: parameters, keywords, functions, handlers of exceptions."""
        name = getattr(node, "arg", None) or getattr(node, "name", None) or ""
        if name.startswith("__"):
            return f"names that begin with two underscores are not run: {name}"
        return ""

    def function(self, node: ast.FunctionDef) -> str:
        """Methods with underscores that are not on the list."""
        if not node.name.startswith("__") or node.name in METHODS:
            return ""
        return f"methods that begin with two underscores are not run, but for a few: {node.name}"

    def declared(self, node: ast.Global | ast.Nonlocal) -> str:
        """Names declared `global` or `nonlocal`."""
        return next(
            (f"names that begin with two underscores are not run: {n}" for n in node.names if n[:2] == "__"), ""
        )

    def class_definition(self, node: ast.ClassDef) -> str:
        """Metaclasses and other keywords of a class."""
        if node.keywords:
            return "a class takes base classes only, no keywords"
        return self.named(node)

    def call(self, node: ast.Call) -> str:
        """`print` to a file."""
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            for keyword in node.keywords:
                if keyword.arg == "file":
                    return "print writes to the standard output only: file="
        return ""

    def imports(self, node: ast.Import) -> str:
        """Modules that are not on the list."""
        return next((said for alias in node.names if (said := importable(alias.name, None, alias.asname))), "")

    def imports_from(self, node: ast.ImportFrom) -> str:
        """Names that modules on the list do not have."""
        if node.level:
            return "a snippet has no package around it: write the whole name of the module"
        module = node.module or ""
        return next((said for alias in node.names if (said := importable(module, alias.name, alias.asname))), "")


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _allowed_builtins() -> frozenset[str]:
    from .builtin import NAMES

    return NAMES


_LOOKS: Final[Mapping[type[ast.AST], Callable[[Refusals, Any], str]]] = {
    ast.Name: Refusals.name,
    ast.Attribute: Refusals.attribute,
    ast.arg: Refusals.named,
    ast.keyword: Refusals.named,
    ast.ExceptHandler: Refusals.named,
    ast.FunctionDef: Refusals.function,
    ast.ClassDef: Refusals.class_definition,
    ast.Global: Refusals.declared,
    ast.Nonlocal: Refusals.declared,
    ast.Call: Refusals.call,
    ast.Import: Refusals.imports,
    ast.ImportFrom: Refusals.imports_from,
}
