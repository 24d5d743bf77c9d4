"""What a snippet is given in the place of values of Python that would let it do more than it may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TypeName:
    """The class of a value that a snippet may name and compare but not call.

    Args:
        kind: the class.
    """

    __slots__ = ("__name__", "_kind")

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self.__name__ = kind.__name__

    def __repr__(self) -> str:
        return repr(self._kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeName) and self._kind is other._kind

    def __hash__(self) -> int:
        return hash(self._kind)


class BuiltinFunction:
    """A built-in function, as Python shows it.

    Args:
        function: what it does.
        name: its name.
    """

    __slots__ = ("__name__", "_function")

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As Python's."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


BuiltinFunction.__name__ = BuiltinFunction.__qualname__ = "builtin_function_or_method"
BuiltinFunction.__module__ = "builtins"
