"""Statements of a snippet: one function for each kind. It gives what ends the statements around it, or None."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .assign import assign, delete
from .classes import make_class
from .functions import Return, make_function
from .handling import raising, trying, with_block
from .operators import compute
from .scope import Frame

if TYPE_CHECKING:
    from .interpreter import Interpreter

BREAK: Final = "break"
CONTINUE: Final = "continue"


def expression(run: Interpreter, node: ast.Expr, frame: Frame) -> None:
    """An expression whose value nobody takes."""
    run.evaluate(node.value, frame)


def assignment(run: Interpreter, node: ast.Assign, frame: Frame) -> None:
    """`a = b = value`."""
    value = run.evaluate(node.value, frame)
    for target in node.targets:
        assign(run, target, value, frame)


def annotated(run: Interpreter, node: ast.AnnAssign, frame: Frame) -> None:
    """`name: kind = value`; the annotation is not evaluated."""
    if node.value is not None:
        assign(run, node.target, run.evaluate(node.value, frame), frame)


def augmented(run: Interpreter, node: ast.AugAssign, frame: Frame) -> None:
    """`target += value`: the target is evaluated once."""
    target, kind = node.target, type(node.op)
    if isinstance(target, ast.Name):
        left = frame.load(target.id)
        right = run.evaluate(node.value, frame)
        run.at = node
        frame.store(target.id, compute(run.meter, kind, left, right, in_place=True))
    elif isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, frame)
        run.at = target
        left = run.access.read(owner, target.attr)
        right = run.evaluate(node.value, frame)
        run.at = node
        run.access.write(owner, target.attr, compute(run.meter, kind, left, right, in_place=True))
    else:
        owner = run.evaluate(target.value, frame)
        index = run.evaluate(target.slice, frame)
        run.at = target
        left = owner[index]
        right = run.evaluate(node.value, frame)
        run.at = node
        owner[index] = compute(run.meter, kind, left, right, in_place=True)


def deletion(run: Interpreter, node: ast.Delete, frame: Frame) -> None:
    """`del target`."""
    for target in node.targets:
        run.at = target
        delete(run, target, frame)


def conditional(run: Interpreter, node: ast.If, frame: Frame) -> Any:
    """`if`."""
    condition = run.evaluate(node.test, frame)
    run.at = node.test
    return run.execute(node.body if condition else node.orelse, frame)


def while_loop(run: Interpreter, node: ast.While, frame: Frame) -> Any:
    """`while`, with its `else`."""
    while True:
        run.meter.step()
        condition = run.evaluate(node.test, frame)
        run.at = node.test
        if not condition:
            return run.execute(node.orelse, frame)
        signal = run.execute(node.body, frame)
        if signal is BREAK:
            return None
        if isinstance(signal, Return):
            return signal


def for_loop(run: Interpreter, node: ast.For, frame: Frame) -> Any:
    """`for`, with its `else`."""
    values = run.evaluate(node.iter, frame)
    run.at = node.iter
    for value in values:
        run.meter.step()
        assign(run, node.target, value, frame)
        signal = run.execute(node.body, frame)
        if signal is BREAK:
            return None
        if isinstance(signal, Return):
            return signal
        run.at = node.iter
    return run.execute(node.orelse, frame)


def return_(run: Interpreter, node: ast.Return, frame: Frame) -> Return:
    """`return value`."""
    return Return(run.evaluate(node.value, frame) if node.value is not None else None)


def assertion(run: Interpreter, node: ast.Assert, frame: Frame) -> None:
    """`assert condition, message`."""
    condition = run.evaluate(node.test, frame)
    run.at = node.test
    if not condition:
        raise AssertionError(*([run.evaluate(node.msg, frame)] if node.msg is not None else []))


def function_definition(run: Interpreter, node: ast.FunctionDef, frame: Frame) -> None:
    """`def`, with its decorators."""
    _decorated(run, node, make_function(run, node, frame), frame)


def class_definition(run: Interpreter, node: ast.ClassDef, frame: Frame) -> None:
    """`class`, with its decorators."""
    _decorated(run, node, make_class(run, node, frame), frame)


def _decorated(run: Interpreter, node: ast.FunctionDef | ast.ClassDef, value: Any, frame: Frame) -> None:
    # Python evaluates decorators before the definition; nothing but their own effects can tell.
    decorators = [(each, run.evaluate(each, frame)) for each in node.decorator_list]
    for place, decorator in reversed(decorators):
        run.at = place
        value = run.call(decorator, [value], {})
    frame.store(node.name, value)


def import_(run: Interpreter, node: ast.Import, frame: Frame) -> None:
    """`import torch.nn as nn`: binds a namespace."""
    for alias in node.names:
        found = run.imports.module(alias.name)
        if alias.asname is None:
            found = run.imports.root(alias.name.split(".")[0])
        frame.store(alias.asname or alias.name.split(".")[0], found)


def import_from(run: Interpreter, node: ast.ImportFrom, frame: Frame) -> None:
    """`from torch import nn`: binds names of a namespace."""
    for alias in node.names:
        frame.store(alias.asname or alias.name, run.imports.member(node.module or "", alias.name))


def break_(_run: Interpreter, _node: ast.Break, _frame: Frame) -> str:
    """`break`."""
    return BREAK


def continue_(_run: Interpreter, _node: ast.Continue, _frame: Frame) -> str:
    """`continue`."""
    return CONTINUE


def nothing(_run: Interpreter, _node: ast.stmt, _frame: Frame) -> None:
    """`pass`; and `global` and `nonlocal`, which say something of a scope, not of its run."""


Execute = Callable[[Any, Any, Frame], Any]

STATEMENTS: Final[Mapping[type[ast.AST], Execute]] = {
    ast.Expr: expression,
    ast.Assign: assignment,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.Delete: deletion,
    ast.If: conditional,
    ast.While: while_loop,
    ast.For: for_loop,
    ast.Return: return_,
    ast.Break: break_,
    ast.Continue: continue_,
    ast.Assert: assertion,
    ast.Raise: raising,
    ast.Try: trying,
    ast.With: with_block,
    ast.FunctionDef: function_definition,
    ast.ClassDef: class_definition,
    ast.Import: import_,
    ast.ImportFrom: import_from,
    ast.Pass: nothing,
    ast.Global: nothing,
    ast.Nonlocal: nothing,
}
