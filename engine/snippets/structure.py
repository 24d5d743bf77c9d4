"""What Python itself refuses once a text is parsed: `return` outside a function, `break` outside a loop, and so on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .scope import Comprehension, parameter_names, scope_of

Fault = tuple[ast.AST, str]


def faults(tree: ast.Module) -> Iterator[Fault]:
    """What is wrong, with its place; the texts are Python's."""
    yield from _block(tree.body, inside=None, loop=False)
    for node in ast.walk(tree):
        yield from _starred(node)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            names = parameter_names(node.args)
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                yield node, f"duplicate argument '{twice}' in function definition"
        elif isinstance(node, Comprehension):
            yield from _comprehension(node)
    yield from _declarations(tree)


def _block(body: list[ast.stmt], *, inside: ast.AST | None, loop: bool) -> Iterator[Fault]:
    for node in body:
        if isinstance(node, ast.Return) and not isinstance(inside, ast.FunctionDef):
            yield node, "'return' outside function"
        elif isinstance(node, ast.Break) and not loop:
            yield node, "'break' outside loop"
        elif isinstance(node, ast.Continue) and not loop:
            yield node, "'continue' not properly in loop"
        elif isinstance(node, ast.Nonlocal) and inside is None:
            yield node, "nonlocal declaration not allowed at module level"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from _block(node.body, inside=node, loop=False)
        elif isinstance(node, (ast.For, ast.While)):
            yield from _block(node.body, inside=inside, loop=True)
            yield from _block(node.orelse, inside=inside, loop=loop)
        elif isinstance(node, ast.Try):
            handlers = [each for handler in node.handlers for each in handler.body]
            bare = [index for index, handler in enumerate(node.handlers) if handler.type is None]
            if bare and bare[0] != len(node.handlers) - 1:
                yield node.handlers[bare[0]], "default 'except:' must be last"
            yield from _block([*node.body, *handlers, *node.orelse, *node.finalbody], inside=inside, loop=loop)
        elif isinstance(node, (ast.If, ast.With)):
            yield from _block([*node.body, *getattr(node, "orelse", [])], inside=inside, loop=loop)


_MANY = (ast.Call, ast.Tuple, ast.List, ast.Set, ast.ClassDef)


def _starred(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
        stars = [each for each in node.elts if isinstance(each, ast.Starred)]
        if len(stars) > 1:
            yield stars[1], "multiple starred expressions in assignment"
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Starred) and not isinstance(node, _MANY):
            if isinstance(child.ctx, ast.Store):
                yield child, "starred assignment target must be in a list or tuple"
            else:
                yield child, "can't use starred expression here"


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[Fault]:
    targets = scope_of([generator.target for generator in node.generators]).local
    for each in ast.walk(node):
        if isinstance(each, ast.NamedExpr) and each.target.id in targets:
            name = each.target.id
            yield each, f"assignment expression cannot rebind comprehension iteration variable '{name}'"


def _declarations(tree: ast.Module) -> Iterator[Fault]:
    """`nonlocal` of what no function around binds; `global` and `nonlocal` of parameters."""
    stack: list[tuple[ast.AST, tuple[frozenset[str], ...]]] = [(tree, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.FunctionDef):
            scope = scope_of(node.body, parameter_names(node.args))
            for name in scope.nonlocals:
                if not any(name in names for names in around):
                    yield node, f"no binding for nonlocal '{name}' found"
            for name in (scope.nonlocals | scope.globals) & set(parameter_names(node.args)):
                yield node, f"name '{name}' is parameter and {'nonlocal' if name in scope.nonlocals else 'global'}"
            around = (*around, frozenset(scope.local))
        stack += [(child, around) for child in ast.iter_child_nodes(node)]
