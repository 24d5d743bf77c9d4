"""The built-in functions, types and exceptions that a snippet has."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from .access import LISTED
from .formatting import formatted
from .stand_ins import BuiltinFunction, TypeName
from .stop import refuse

if TYPE_CHECKING:
    from .interpreter import Interpreter

_TYPES: Final = (
    "bool complex dict float frozenset int list object property range set slice staticmethod classmethod str tuple"
)
_FUNCTIONS: Final = (
    "abs ascii bin callable chr divmod hash hex id isinstance issubclass len next oct ord repr reversed round"
)
_EXCEPTIONS: Final = (
    "ArithmeticError AssertionError AttributeError BaseException DeprecationWarning EOFError Exception "
    "FloatingPointError FutureWarning ImportError IndexError KeyError KeyboardInterrupt LookupError MemoryError "
    "ModuleNotFoundError NameError NotImplementedError OverflowError RecursionError RuntimeError RuntimeWarning "
    "StopIteration SyntaxWarning TypeError UnboundLocalError UserWarning ValueError Warning ZeroDivisionError"
)
_AS_THEY_ARE: Final = (*f"{_TYPES} {_FUNCTIONS} {_EXCEPTIONS}".split(), "Ellipsis", "NotImplemented")
_WATCHED: Final = (
    "all any enumerate filter format getattr hasattr iter map max min pow print setattr delattr sorted sum super type "
    "zip"
)
_MADE: Final = tuple(_WATCHED.split())

NAMES: Final = frozenset([*_AS_THEY_ARE, *_MADE, "__name__"])
"""The built-in names of a snippet."""

CONSTRUCTORS: Final = frozenset(
    kind for name in _AS_THEY_ARE if isinstance(kind := getattr(builtins, name), type) and kind is not object
) | {object}
"""The classes of Python's own that a snippet may call."""

_MISSING: Final = object()


def make_builtins(run: Interpreter) -> dict[str, Any]:
    """The built-in names of one snippet, with their values."""
    functions = _Functions(run)
    values: dict[str, Any] = {name: getattr(builtins, name) for name in _AS_THEY_ARE}
    for name in _MADE:
        values[name] = BuiltinFunction(getattr(functions, name), name)
    values["__name__"] = "__main__"
    return values


class _Functions:
    """The built-in functions that look at what they are given, or count what they use up.

    Args:
        run: the snippet that calls them.
    """

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self.meter = run.meter
        self._type_names: dict[builtins.type, TypeName] = {}

    def all(self, values: Iterable[Any], /) -> bool:
        """As Python's."""
        return builtins.all(self.meter.counted(values))

    def any(self, values: Iterable[Any], /) -> bool:
        """As Python's."""
        return builtins.any(self.meter.counted(values))

    def sum(self, values: Iterable[Any], /, start: Any = 0) -> Any:
        """As Python's."""
        return builtins.sum(self.meter.counted(values), start)

    def max(self, *values: Any, **options: Any) -> Any:
        """As Python's."""
        return builtins.max(*self._first_counted(values), **options)

    def min(self, *values: Any, **options: Any) -> Any:
        """As Python's."""
        return builtins.min(*self._first_counted(values), **options)

    def _first_counted(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.meter.counted(values[0]),) if len(values) == 1 else values

    def sorted(self, values: Iterable[Any], /, **options: Any) -> list[Any]:
        """As Python's."""
        return builtins.sorted(self.meter.gathered(values), **options)

    def enumerate(self, values: Iterable[Any], start: int = 0) -> Iterator[Any]:
        """As Python's."""
        return builtins.enumerate(self.meter.counted(values), start)

    def zip(self, *values: Iterable[Any], strict: bool = False) -> Iterator[Any]:
        """As Python's."""
        return builtins.zip(*[self.meter.counted(each) for each in values], strict=strict)

    def map(self, function: Callable[..., Any], /, *values: Iterable[Any]) -> Iterator[Any]:
        """As Python's."""
        return builtins.map(function, *[self.meter.counted(each) for each in values])

    def filter(self, function: Callable[..., Any] | None, values: Iterable[Any], /) -> Iterator[Any]:
        """As Python's."""
        return builtins.filter(function, self.meter.counted(values))

    def iter(self, values: Any, sentinel: Any = _MISSING, /) -> Iterator[Any]:
        """As Python's."""
        if sentinel is _MISSING:
            return builtins.iter(values)
        return builtins.iter(self.meter.counted(builtins.iter(values, sentinel)))

    def pow(self, base: Any, exp: Any, mod: Any = None) -> Any:
        """As Python's."""
        if mod is not None:
            return builtins.pow(base, exp, mod)
        if isinstance(base, int) and isinstance(exp, int):
            self.meter.power(base, exp)
        return builtins.pow(base, exp)

    def print(
        self, *values: Any, sep: str | None = " ", end: str | None = "\n", flush: bool = False, **other: Any
    ) -> None:
        """As Python's, to the standard output."""
        if "file" in other:
            refuse("print writes to the standard output only: file=")
        if other:
            raise TypeError(f"'{next(iter(other))}' is an invalid keyword argument for print()")
        for name, text in (("sep", sep), ("end", end)):
            if text is not None and type(text) is not str:
                raise TypeError(f"{name} must be None or a string, not {type(text).__name__}")
        del flush  # everything is written at once
        sep, end = " " if sep is None else sep, "\n" if end is None else end
        self.run.write(sep.join([str(value) for value in values]) + end)

    def format(self, value: Any, format_spec: str = "", /) -> str:
        """As Python's."""
        return formatted(value, format_spec, self.meter)

    def getattr(self, value: Any, name: str, /, *default: Any) -> Any:
        """As Python's, for the attributes that may be read."""
        try:
            return self.run.access.read(value, name)
        except AttributeError:
            if default:
                return default[0]
            raise

    def hasattr(self, value: Any, name: str, /) -> bool:
        """As Python's, for the attributes that may be read."""
        try:
            self.run.access.read(value, name)
        except AttributeError:
            return False
        return True

    def setattr(self, value: Any, name: str, new: Any, /) -> None:
        """As Python's, for the attributes that may be set."""
        self._check_name(name)
        self.run.access.write(value, name, new)

    def delattr(self, value: Any, name: str, /) -> None:
        """As Python's, for the attributes that may be set."""
        self._check_name(name)
        self.run.access.delete(value, name)

    def _check_name(self, name: Any) -> None:
        if type(name) is not str:
            raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")

    def type(self, value: Any, /, *more: Any) -> Any:
        """The class of a value; classes are not made here."""
        if more:
            refuse("type tells the class of a value; it makes no classes")
        kind = builtins.type(value)
        if kind.__name__ == "Namespace":
            kind = ModuleType
        public = self.run.access.library.of(kind)
        if kind in CONSTRUCTORS or kind in self.run.access.classes or (public is not None and public.callable):
            return kind
        if issubclass(kind, BaseException):
            return kind
        if isinstance(value, builtins.type):
            refuse("the class of a class is not on the list")
        return self._type_names.setdefault(kind, TypeName(kind))

    def super(self, *args: Any) -> Any:
        """The class before, for a class and an object; without them the interpreter fills them in."""
        if len(args) != 2 or args[0] not in self.run.access.classes:
            refuse("super takes a class of this snippet and an object")
        return builtins.super(*args)


def counted_constructors(run: Interpreter) -> Mapping[Any, Callable[..., Any]]:
    """The types that gather what they are given, each with a function that counts it."""

    def gatherer(kind: Callable[..., Any]) -> Callable[..., Any]:
        def gather(*args: Any, **kwargs: Any) -> Any:
            if args:
                args = (run.meter.gathered(args[0]), *args[1:])
            return kind(*args, **kwargs)

        return gather

    return {kind: gatherer(kind) for kind in (list, tuple, set, frozenset, dict)}


__all__ = ["CONSTRUCTORS", "LISTED", "NAMES", "counted_constructors", "make_builtins"]
