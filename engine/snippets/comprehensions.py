"""Comprehensions and generator expressions: each has names of its own, and counts its rounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .assign import assign
from .scope import Frame, scope_of

if TYPE_CHECKING:
    from .interpreter import Interpreter


def _rounds(run: Interpreter, generators: list[ast.comprehension], inner: Frame, first: Any) -> Iterator[None]:
    """Bind the targets of a comprehension once for each of its elements."""
    generator, rest = generators[0], generators[1:]
    for value in first:
        run.meter.step()
        assign(run, generator.target, value, inner)
        for condition in generator.ifs:
            if not run.evaluate(condition, inner):
                break
        else:
            if rest:
                yield from _rounds(run, rest, inner, run.evaluate(rest[0].iter, inner))
            else:
                yield


def _begun(run: Interpreter, node: Any, frame: Frame) -> tuple[Frame, Iterator[None]]:
    """The frame of a comprehension, and its rounds; what it goes over is evaluated outside, as Python does."""
    scope = scope_of([generator.target for generator in node.generators])
    inner = frame.inner(scope, f"<{type(node).__name__.lower()}>")
    values = run.evaluate(node.generators[0].iter, frame)
    run.at = node.generators[0].iter
    return inner, _rounds(run, node.generators, inner, iter(values))


def list_comprehension(run: Interpreter, node: ast.ListComp, frame: Frame) -> list[Any]:
    """`[value for ...]`."""
    inner, rounds = _begun(run, node, frame)
    return [run.evaluate(node.elt, inner) for _ in rounds]


def set_comprehension(run: Interpreter, node: ast.SetComp, frame: Frame) -> set[Any]:
    """`{value for ...}`."""
    inner, rounds = _begun(run, node, frame)
    return {run.evaluate(node.elt, inner) for _ in rounds}


def dict_comprehension(run: Interpreter, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
    """`{key: value for ...}`."""
    inner, rounds = _begun(run, node, frame)
    return {run.evaluate(node.key, inner): run.evaluate(node.value, inner) for _ in rounds}


def generator_expression(run: Interpreter, node: ast.GeneratorExp, frame: Frame) -> Iterator[Any]:
    """`(value for ...)`: the elements are computed when they are asked for."""
    inner, rounds = _begun(run, node, frame)
    return (run.evaluate(node.elt, inner) for _ in rounds)
