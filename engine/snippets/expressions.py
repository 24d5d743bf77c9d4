"""Expressions of a snippet: one function for each kind of node."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .comprehensions import dict_comprehension, generator_expression, list_comprehension, set_comprehension
from .formatting import formatted
from .functions import make_lambda
from .operators import COMPARISONS, UNARY, compute
from .scope import Frame

if TYPE_CHECKING:
    from .interpreter import Interpreter


def constant(_run: Interpreter, node: ast.Constant, _frame: Frame) -> Any:
    """A number, a text, None."""
    return node.value


def name(run: Interpreter, node: ast.Name, frame: Frame) -> Any:
    """The value of a name."""
    found = frame.values.get(node.id, frame)
    if found is not frame:
        return found
    run.at = node
    return frame.load(node.id)


def attribute(run: Interpreter, node: ast.Attribute, frame: Frame) -> Any:
    """`value.name`."""
    value = run.evaluate(node.value, frame)
    run.at = node
    return run.access.read(value, node.attr)


def subscript(run: Interpreter, node: ast.Subscript, frame: Frame) -> Any:
    """`value[index]`."""
    value = run.evaluate(node.value, frame)
    index = run.evaluate(node.slice, frame)
    run.at = node
    return value[index]


def slice_(run: Interpreter, node: ast.Slice, frame: Frame) -> slice:
    """`begin:end:step`."""
    return slice(*[run.evaluate(part, frame) if part else None for part in (node.lower, node.upper, node.step)])


def starred(
    run: Interpreter, nodes: list[ast.expr], frame: Frame, called: Callable[[], str] = lambda: "Value"
) -> list[Any]:
    """The values of several expressions, `*values` taken apart; an error names what `called` gives."""
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            more = run.evaluate(node.value, frame)
            run.at = node
            try:
                iter(more)
            except TypeError:
                raise TypeError(f"{called()} after * must be an iterable, not {type(more).__name__}") from None
            values.extend(run.meter.gathered(more))
        else:
            values.append(run.evaluate(node, frame))
    return values


def dictionary(run: Interpreter, node: ast.Dict, frame: Frame) -> dict[Any, Any]:
    """`{key: value, **more}`."""
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            found.update(run.evaluate(value, frame))
        else:
            made = run.evaluate(key, frame)
            found[made] = run.evaluate(value, frame)
    return found


def call(run: Interpreter, node: ast.Call, frame: Frame) -> Any:
    """`function(values, name=value)`."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        function: Any = frame.load("super")
        args = _super_arguments(frame)
    else:
        function = run.evaluate(node.func, frame)
        args = starred(run, node.args, frame, lambda: f"{_called(function)} argument")
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        if not isinstance(value, Mapping):
            raise TypeError(f"{_called(function)} argument after ** must be a mapping, not {type(value).__name__}")
        for key, each in value.items():
            if type(key) is not str:
                raise TypeError("keywords must be strings")
            if key in kwargs:
                raise TypeError(f"{_called(function)} got multiple values for keyword argument '{key}'")
            kwargs[key] = each
    run.at = node
    return run.call(function, args, kwargs)


def _called(function: Any) -> str:
    return f"{getattr(function, '__qualname__', None) or getattr(function, '__name__', type(function).__name__)}()"


def _super_arguments(frame: Frame) -> list[Any]:
    inner: Frame | None = frame
    while inner is not None and not inner.owner:
        inner = inner.outer
    if inner is None:
        raise RuntimeError("super(): no arguments")
    return [inner.owner[0], inner.first]


def binary(run: Interpreter, node: ast.BinOp, frame: Frame) -> Any:
    """`left + right`."""
    left = run.evaluate(node.left, frame)
    right = run.evaluate(node.right, frame)
    run.at = node
    return compute(run.meter, type(node.op), left, right)


def unary(run: Interpreter, node: ast.UnaryOp, frame: Frame) -> Any:
    """`-value`, `not value`."""
    value = run.evaluate(node.operand, frame)
    run.at = node
    return UNARY[type(node.op)](value)


def boolean(run: Interpreter, node: ast.BoolOp, frame: Frame) -> Any:
    """`left and right`: the values after the one that decides are not looked at."""
    wanted = isinstance(node.op, ast.Or)
    value = run.evaluate(node.values[0], frame)
    for each in node.values[1:]:
        run.at = node
        if bool(value) is wanted:
            return value
        value = run.evaluate(each, frame)
    return value


def comparison(run: Interpreter, node: ast.Compare, frame: Frame) -> Any:
    """`left < middle < right`."""
    left = run.evaluate(node.left, frame)
    last = len(node.ops) - 1
    value: Any = True
    for index, (kind, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = run.evaluate(right_node, frame)
        run.at = node
        value = COMPARISONS[type(kind)](left, right)
        if index < last and not value:
            break
        left = right
    return value


def conditional(run: Interpreter, node: ast.IfExp, frame: Frame) -> Any:
    """`value if condition else other`."""
    condition = run.evaluate(node.test, frame)
    run.at = node.test
    return run.evaluate(node.body if condition else node.orelse, frame)


def assignment_expression(run: Interpreter, node: ast.NamedExpr, frame: Frame) -> Any:
    """`(name := value)`."""
    value = run.evaluate(node.value, frame)
    frame.store(node.target.id, value)
    return value


_CONVERSIONS: Final[Mapping[str, Callable[[Any], str]]] = {"s": str, "r": repr, "a": ascii}


def joined(run: Interpreter, node: ast.JoinedStr, frame: Frame) -> str:
    """An f-string."""
    return "".join([run.evaluate(part, frame) for part in node.values])


def replaced(run: Interpreter, node: ast.FormattedValue, frame: Frame) -> str:
    """A field of an f-string."""
    value = run.evaluate(node.value, frame)
    specification = run.evaluate(node.format_spec, frame) if node.format_spec is not None else ""
    run.at = node.value
    if node.conversion >= 0:
        value = _CONVERSIONS[chr(node.conversion)](value)
    return formatted(value, specification, run.meter)


Evaluate = Callable[[Any, Any, Frame], Any]

EXPRESSIONS: Final[Mapping[type[ast.AST], Evaluate]] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.Slice: slice_,
    ast.Tuple: lambda run, node, frame: tuple(starred(run, node.elts, frame)),
    ast.List: lambda run, node, frame: starred(run, node.elts, frame),
    ast.Set: lambda run, node, frame: set(starred(run, node.elts, frame)),
    ast.Dict: dictionary,
    ast.Call: call,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.BoolOp: boolean,
    ast.Compare: comparison,
    ast.IfExp: conditional,
    ast.NamedExpr: assignment_expression,
    ast.Lambda: make_lambda,
    ast.JoinedStr: joined,
    ast.FormattedValue: replaced,
    ast.ListComp: list_comprehension,
    ast.SetComp: set_comprehension,
    ast.DictComp: dict_comprehension,
    ast.GeneratorExp: generator_expression,
}
