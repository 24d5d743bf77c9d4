"""Functions of a snippet: real Python functions, so that the library and Python may call them, whose body we walk."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .scope import Frame, Scope, parameter_names, scope_of

if TYPE_CHECKING:
    from .interpreter import Interpreter


@dataclass(slots=True)
class Return:
    """What `return` gives."""

    value: Any


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function, as Python binds values to them.

    Attributes:
        name: of the function, as it stands in messages.
        positional: those that take positions.
        only_positional: how many of them cannot be given by name.
        only_named: those given by name only.
        rest, named_rest: the names of `*args` and `**kwargs`.
        defaults: values by name.
    """

    name: str
    positional: tuple[str, ...]
    only_positional: int
    only_named: tuple[str, ...]
    rest: str | None
    named_rest: str | None
    defaults: Mapping[str, Any]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The values by name.

        Raises:
            TypeError: where they do not fit, with Python's text.
        """
        values = dict(zip(self.positional, args, strict=False))
        more: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key in values and key not in self.positional[: self.only_positional]:
                raise TypeError(f"{self.name}() got multiple values for argument '{key}'")
            if key in self.positional[self.only_positional :] or key in self.only_named:
                values[key] = value
            elif self.named_rest is not None:
                more[key] = value
            else:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
        if len(args) > len(self.positional) and self.rest is None:
            raise TypeError(self._too_many(len(args)))
        for names, kind in ((self.positional, "positional"), (self.only_named, "keyword-only")):
            missing = []
            for name in names:
                if name not in values:
                    if name in self.defaults:
                        values[name] = self.defaults[name]
                    else:
                        missing.append(name)
            if missing:
                many = "" if len(missing) == 1 else "s"
                listed = _listed([repr(each) for each in missing])
                raise TypeError(f"{self.name}() missing {len(missing)} required {kind} argument{many}: {listed}")
        if self.rest is not None:
            values[self.rest] = tuple(args[len(self.positional) :])
        if self.named_rest is not None:
            values[self.named_rest] = more
        return values

    def _too_many(self, given: int) -> str:
        most = len(self.positional)
        least = sum(1 for name in self.positional if name not in self.defaults)
        takes = f"from {least} to {most}" if least < most else str(most)
        plural = "" if most == 1 and least == most else "s"
        verb = "was" if given == 1 else "were"
        return f"{self.name}() takes {takes} positional argument{plural} but {given} {verb} given"


def _listed(words: Sequence[str]) -> str:
    if len(words) < 3:
        return " and ".join(words)
    return ", ".join(words[:-1]) + f", and {words[-1]}"


def parameters_of(run: Interpreter, name: str, arguments: ast.arguments, frame: Frame) -> Parameters:
    """The parameters as they are written, with the values of their defaults."""
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    defaults: dict[str, Any] = {}
    if arguments.defaults:
        for each, node in zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True):
            defaults[each] = run.evaluate(node, frame)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = run.evaluate(default, frame)
    return Parameters(
        name,
        tuple(positional),
        len(arguments.posonlyargs),
        tuple(each.arg for each in arguments.kwonlyargs),
        arguments.vararg.arg if arguments.vararg else None,
        arguments.kwarg.arg if arguments.kwarg else None,
        defaults,
    )


def _qualified(name: str, frame: Frame) -> str:
    if frame.name == "<module>":
        return name
    return f"{frame.name}.{name}" if frame.is_class else f"{frame.name}.<locals>.{name}"


def _made(
    run: Interpreter, node: ast.FunctionDef | ast.Lambda, name: str, frame: Frame, body: Callable[[Frame], Any]
) -> Callable[..., Any]:
    qualified = _qualified(name, frame)
    parameters = parameters_of(run, qualified, node.args, frame)
    scope: Scope = scope_of(node.body if isinstance(node.body, list) else [node.body], parameter_names(node.args))
    owner = frame.owner if frame.is_class else []

    def function(*args: Any, **kwargs: Any) -> Any:
        run.meter.step()
        inner = frame.inner(scope, qualified)
        inner.values = parameters.bind(args, kwargs)
        inner.owner = owner
        inner.first = args[0] if args else None
        came_from = run.at
        run.meter.enter()
        run.calls.append((name, came_from))
        try:
            return body(inner)
        except BaseException as error:
            run.note(error)
            raise
        finally:
            run.calls.pop()
            run.meter.leave()
            run.at = came_from

    function.__name__ = name
    function.__qualname__ = qualified
    function.__module__ = "__main__"
    function.__doc__ = None
    return function


def make_lambda(run: Interpreter, node: ast.Lambda, frame: Frame) -> Callable[..., Any]:
    """The function that a `lambda` gives."""
    return _made(run, node, "<lambda>", frame, lambda inner: run.evaluate(node.body, inner))


def make_function(run: Interpreter, node: ast.FunctionDef, frame: Frame) -> Any:
    """The function that a `def` gives, without its decorators."""

    def body(inner: Frame) -> Any:
        signal = run.execute(node.body, inner)
        return signal.value if isinstance(signal, Return) else None

    return _made(run, node, node.name, frame, body)
