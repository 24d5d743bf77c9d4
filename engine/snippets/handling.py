"""What a snippet does about errors: `raise`, `try`, `with`. What ends it from outside passes through."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from .assign import assign
from .scope import Frame
from .stop import Closed, Stop

if TYPE_CHECKING:
    from .interpreter import Interpreter

FATAL: Final = (Stop, Closed, MemoryError, KeyboardInterrupt)
"""What a snippet cannot catch."""


def raising(run: Interpreter, node: ast.Raise, frame: Frame) -> None:
    """`raise error from cause`; without an error, the one being handled."""
    if node.exc is None:
        around: Frame | None = frame
        while around is not None and around.handled is None:
            around = around.outer
        if around is None or around.handled is None:
            raise RuntimeError("No active exception to reraise")
        raise around.handled
    error = run.evaluate(node.exc, frame)
    cause = run.evaluate(node.cause, frame) if node.cause is not None else None
    run.at = node
    if not _is_error(error):
        raise TypeError("exceptions must derive from BaseException")
    if node.cause is None:
        raise error
    if cause is not None and not _is_error(cause):
        raise TypeError("exception causes must derive from BaseException")
    raise error from cause


def _is_error(value: Any) -> bool:
    return isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException))


def trying(run: Interpreter, node: ast.Try, frame: Frame) -> Any:
    """`try`, with its handlers, `else` and `finally`; what ends the snippet from outside is not handled."""
    try:
        signal = _handled(run, node, frame)
    except FATAL:
        raise
    except BaseException as error:
        depth = run.at
        ending = run.execute(node.finalbody, frame)
        if ending is not None:
            return ending
        run.at = depth
        raise error
    ending = run.execute(node.finalbody, frame)
    return signal if ending is None else ending


def _handled(run: Interpreter, node: ast.Try, frame: Frame) -> Any:
    try:
        signal = run.execute(node.body, frame)
    except FATAL:
        raise
    except BaseException as error:
        run.note(error)
        for handler in node.handlers:
            if handler.type is None or _matches(error, run.evaluate(handler.type, frame)):
                return _in_handler(run, handler, error, frame)
        raise
    return run.execute(node.orelse, frame) if signal is None else signal


def _matches(error: BaseException, kinds: Any) -> bool:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return isinstance(error, kinds)


def _in_handler(run: Interpreter, handler: ast.ExceptHandler, error: BaseException, frame: Frame) -> Any:
    kept, frame.handled = frame.handled, error
    if handler.name is not None:
        frame.store(handler.name, error)
    try:
        signal = run.execute(handler.body, frame)
        if run.failed is error:
            run.failed = None  # it would keep alive whatever the frames of its traceback hold
        return signal
    finally:
        frame.handled = kept
        if handler.name is not None:
            frame.home(handler.name).pop(handler.name, None)


def with_block(run: Interpreter, node: ast.With, frame: Frame) -> Any:
    """`with manager as target`."""
    return _within(run, node, node.items, frame)


def _within(run: Interpreter, node: ast.With, items: list[ast.withitem], frame: Frame) -> Any:
    if not items:
        return run.execute(node.body, frame)
    manager = run.evaluate(items[0].context_expr, frame)
    run.at = items[0].context_expr
    kind = type(manager)
    enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
    if enter is None or leave is None:
        missing = "" if enter is None else " (missed __exit__ method)"
        raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol{missing}")
    value = enter(manager)
    try:
        if items[0].optional_vars is not None:
            assign(run, items[0].optional_vars, value, frame)
        signal = _within(run, node, items[1:], frame)
    except FATAL as ending:
        if kind not in run.access.classes:  # a switch of the library is put back; the snippet's own code is not run
            leave(manager, type(ending), ending, None)
        raise
    except BaseException as error:
        run.note(error)
        if not leave(manager, type(error), error, None):
            raise
        return None
    leave(manager, None, None, None)
    return signal
