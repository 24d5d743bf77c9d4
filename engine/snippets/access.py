"""Attributes: which of them a snippet may read and set, on what. Whatever is not listed here is refused."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from .formatting import Formatter
from .library import Library
from .limits import Meter
from .namespaces import Namespace
from .stand_ins import BuiltinFunction, TypeName
from .stop import refuse
from .words import METHODS

_TEXT: Final = (
    "capitalize casefold center count endswith expandtabs find format format_map index isalnum isalpha isascii "
    "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip "
    "partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines "
    "startswith strip swapcase title upper zfill"
)
_SET: Final = "copy difference intersection isdisjoint issubset issuperset symmetric_difference union"
_INTEGER: Final = "real imag numerator denominator conjugate bit_length bit_count as_integer_ratio"

LISTED: Final[Mapping[type, frozenset[str]]] = {
    kind: frozenset(names.split())
    for kind, names in {
        str: _TEXT,
        bytes: "",
        int: _INTEGER,
        bool: _INTEGER,
        float: "real imag conjugate is_integer hex fromhex as_integer_ratio",
        complex: "real imag conjugate",
        list: "append clear copy count extend index insert pop remove reverse sort",
        tuple: "count index",
        dict: "clear copy fromkeys get items keys pop popitem setdefault update values",
        set: _SET + " add clear difference_update discard intersection_update pop remove symmetric_difference_update "
        "update",
        frozenset: _SET,
        range: "start stop step count index",
        slice: "start stop step",
        type(None): "",
        type(Ellipsis): "",
        property: "getter setter deleter",
        staticmethod: "",
        classmethod: "",
        types.GeneratorType: "close",
        types.BuiltinFunctionType: "",
        types.MethodType: "",
        enumerate: "",
        zip: "",
        map: "",
        filter: "",
        reversed: "",
        super: "",
        BuiltinFunction: "",
        TypeName: "",
    }.items()
}
"""Python's own kinds of values, and their attributes that may be read."""

_NAMED: Final = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, BuiltinFunction, TypeName)

Guard = Callable[..., Any]


class Access:
    """Reads and sets attributes for a snippet.

    Args:
        meter: counts what methods use up.
        library: the classes of PyTorch's side, and what of them is public.
    """

    def __init__(self, meter: Meter, library: Library) -> None:
        self.meter = meter
        self.library = library
        self.classes: set[type] = set()
        """The classes that the snippet has made."""
        self.formatter = Formatter(meter, self.read)
        self._guards: dict[tuple[type, str], Guard] = {
            (str, "format"): self._format,
            (str, "format_map"): lambda text, values: self._format(text, **values),
            (str, "center"): self._filled(str.center),
            (str, "ljust"): self._filled(str.ljust),
            (str, "rjust"): self._filled(str.rjust),
            (str, "zfill"): self._filled(str.zfill),
            (str, "expandtabs"): self._expand,
            (str, "replace"): self._replace,
            (str, "join"): lambda text, values: text.join(meter.gathered(values)),
            (list, "extend"): lambda values, more: values.extend(meter.gathered(more)),
            (set, "update"): lambda values, *more: values.update(*[meter.gathered(each) for each in more]),
            (dict, "fromkeys"): lambda keys, value=None: dict.fromkeys(meter.gathered(keys), value),
        }

    def read(self, value: Any, name: str) -> Any:
        """The attribute of a value.

        Raises:
            AttributeError: where it has none, with Python's text.
            Stop: where a snippet may not read it.
        """
        if type(name) is not str:
            raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
        if name.startswith("_") and not self._may_read_underscored(value, name):
            refuse(f"attributes that begin with an underscore are not run: {name}")
        kind = type(value)
        listed = LISTED.get(kind)
        if listed is not None:
            return self._listed(value, name, kind, listed)
        if kind is Namespace:
            return value.member(name)
        if isinstance(value, type):
            return self._of_class(value, name)
        if self.library.is_hidden(kind, name):
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        if kind in self.classes or isinstance(value, (BaseException, types.FunctionType)):
            return getattr(value, name)
        if self.library.is_public(kind, name) or isinstance(value, tuple):  # of several results, by their names
            return getattr(value, name)
        if not hasattr(value, name):
            return getattr(value, name)  # raises Python's own error
        return refuse(f"the attribute {name} of {_called(kind)} is not on the list")

    def write(self, value: Any, name: str, new: Any) -> None:
        """Set an attribute; errors as `read`."""
        self._may_write(value, name)
        setattr(value, name, new)

    def delete(self, value: Any, name: str) -> None:
        """Delete an attribute; errors as `read`."""
        self._may_write(value, name)
        delattr(value, name)

    def _may_write(self, value: Any, name: str) -> None:
        kind = type(value)
        if name.startswith("_"):
            refuse(f"attributes that begin with an underscore are not set: {name}")
        if self.library.is_hidden(kind, name):
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        if kind in self.classes or kind is types.FunctionType or (isinstance(value, type) and value in self.classes):
            return
        if kind in LISTED or isinstance(value, BaseException) or self.library.may_set(kind, name):
            return
        refuse(f"attributes of {_called(kind)} are not set")

    def _may_read_underscored(self, value: Any, name: str) -> bool:
        if name == "__name__":
            return isinstance(value, (*_NAMED, type))
        if type(value) is super:
            return name in METHODS
        if name == "__init__":
            return isinstance(value, type) and (value in self.classes or self.library.may_derive(value))
        return self.library.is_public(type(value), name)

    def _listed(self, value: Any, name: str, kind: type, listed: frozenset[str]) -> Any:
        if kind is super or name not in listed:
            found = getattr(value, name)  # raises Python's own error where there is none
            if kind is super or name == "__name__":
                return found
            return refuse(f"the attribute {name} of {_called(kind)} is not on the list")
        guard = self._guards.get((kind, name))
        if guard is None:
            return getattr(value, name)
        if name == "fromkeys":
            return BuiltinFunction(guard, name)
        return BuiltinFunction(partial(guard, value), name)

    def _of_class(self, kind: type, name: str) -> Any:
        """An attribute of a class: one of Python's own has those on the list, as functions of the value."""
        if kind in LISTED:
            if name == "__name__" or name in LISTED[kind]:
                guard = self._guards.get((kind, name))
                return BuiltinFunction(guard, name) if guard is not None else getattr(kind, name)
            getattr(kind, name)
            return refuse(f"the attribute {name} of {_called(kind)} is not on the list")
        if name == "mro":
            return refuse("the attribute mro of a class is not on the list")
        if self.library.is_hidden(kind, name):
            raise AttributeError(f"type object '{kind.__name__}' has no attribute '{name}'")
        if kind in self.classes or name == "__name__" or self.library.is_public(kind, name):
            return getattr(kind, name)
        if not hasattr(kind, name):
            return getattr(kind, name)
        return refuse(f"the attribute {name} of the class {kind.__name__} is not on the list")

    def _format(self, text: str, /, *args: Any, **kwargs: Any) -> str:
        return self.formatter.vformat(text, args, kwargs)

    def _filled(self, method: Callable[..., str]) -> Guard:
        def filled(text: str, width: int, *fill: str) -> str:
            if isinstance(width, int):
                self.meter.width(width)
            return method(text, width, *fill)

        return filled

    def _expand(self, text: str, tabsize: int = 8) -> str:
        self.meter.width(tabsize)
        self.meter.text(len(text) + text.count("\t") * tabsize)
        return text.expandtabs(tabsize)

    def _replace(self, text: str, old: str, new: str, count: int = -1) -> str:
        if isinstance(old, str) and isinstance(new, str):
            self.meter.text(len(text) + text.count(old) * len(new))
        return text.replace(old, new, count)


def _called(kind: type) -> str:
    return f"a value of type {kind.__name__}"
