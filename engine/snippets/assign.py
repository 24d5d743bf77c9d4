"""Assignment: values to names, attributes, elements, and tuples of these."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .scope import Frame


def assign(run: Interpreter, target: ast.AST, value: Any, frame: Frame) -> None:
    """Give a value to a target.

    Raises:
        ValueError, TypeError: where a tuple of targets does not fit, with Python's text.
    """
    if isinstance(target, ast.Name):
        frame.store(target.id, value)
    elif isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, frame)
        run.at = target
        run.access.write(owner, target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner = run.evaluate(target.value, frame)
        index = run.evaluate(target.slice, frame)
        run.at = target
        owner[index] = run.meter.gathered(value) if isinstance(index, slice) and type(owner) is list else value
    elif isinstance(target, (ast.Tuple, ast.List)):
        run.at = target
        _unpack(run, target.elts, value, frame)
    else:
        raise AssertionError(f"no target: {target}")


def _unpack(run: Interpreter, targets: list[ast.expr], value: Any, frame: Frame) -> None:
    star = next((index for index, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    wanted = len(targets)
    values: list[Any] = []
    try:
        iterator = iter(value)
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    for each in run.meter.counted(iterator) if star is None else run.meter.gathered(value):
        values.append(each)
        if star is None and len(values) > wanted:
            raise ValueError(f"too many values to unpack (expected {wanted})")
    if star is None:
        if len(values) < wanted:
            raise ValueError(f"not enough values to unpack (expected {wanted}, got {len(values)})")
    else:
        if len(values) < wanted - 1:
            raise ValueError(f"not enough values to unpack (expected at least {wanted - 1}, got {len(values)})")
        end = len(values) - (wanted - 1 - star)
        values[star:end] = [values[star:end]]
    for target, each in zip(targets, values, strict=True):
        assign(run, target.value if isinstance(target, ast.Starred) else target, each, frame)


def delete(run: Interpreter, target: ast.AST, frame: Frame) -> None:
    """Delete a name, an attribute, an element."""
    if isinstance(target, ast.Name):
        frame.delete(target.id)
    elif isinstance(target, ast.Attribute):
        run.access.delete(run.evaluate(target.value, frame), target.attr)
    elif isinstance(target, ast.Subscript):
        owner = run.evaluate(target.value, frame)
        del owner[run.evaluate(target.slice, frame)]
    elif isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            delete(run, each, frame)
