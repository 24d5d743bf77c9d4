"""`import`: which modules a snippet may name, and what their names are bound to. Nothing is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .namespaces import SMALL, Namespace

MODULES: Final = ("torch", "numpy", "math", "warnings", "copy", "time", "typing", "__future__")
"""The modules that are bound, with those inside them."""

_REASONS: Final[Mapping[str, str]] = {
    "os": "a snippet reaches no files and no system",
    "sys": "a snippet reaches no system",
    "subprocess": "a snippet starts no programs",
    "socket": "a snippet reaches no network",
    "requests": "a snippet reaches no network",
    "urllib": "a snippet reaches no network",
    "pathlib": "a snippet reaches no files",
    "matplotlib": "a snippet draws nothing; print the numbers",
}


def importable(module: str, name: str | None, bound: str | None) -> str:
    """Why a module, or a name of it, cannot be imported; empty where nothing is known against it."""
    parts = module.split(".")
    whole = module if name is None else f"{module}.{name}"
    if parts[0] not in MODULES:
        reason = _REASONS.get(parts[0], f"the modules are {', '.join(MODULES[:-1])}")
        return f"{parts[0]} is not on the list of modules\n{reason}"
    if name == "*":
        return f"import the names of {module} one by one, not *"
    inner = parts[1:] + ([name] if name is not None else [])
    if any(part.startswith("_") for part in inner) or (bound or "").startswith("__"):
        return f"names that begin with an underscore are not imported: {whole}"
    if parts[0] != "torch" and len(parts) > 1 and module not in ("numpy.linalg", "numpy.random"):
        return f"{module} is not on the list of modules"
    return ""


class Imports:
    """Gives modules to a snippet.

    Args:
        given: makers of modules by their names, in place of those that need nothing of the snippet.
        read: reads an attribute as the snippet may.
    """

    def __init__(self, given: Mapping[str, Callable[[], Any]], read: Callable[[Any, str], Any]) -> None:
        self._makers: dict[str, Callable[[], Any]] = {**SMALL, **given}
        self._made: dict[str, Any] = {}
        self._read = read

    def root(self, name: str) -> Any:
        """The module that a dotted name begins with."""
        if name not in self._made:
            if name not in self._makers:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            self._made[name] = self._makers[name]()
        return self._made[name]

    def module(self, name: str) -> Any:
        """The module of a dotted name.

        Raises:
            ModuleNotFoundError: where there is none, with Python's text.
        """
        first, *rest = name.split(".")
        found = self.root(first)
        for part in rest:
            try:
                found = self._read(found, part)
            except AttributeError:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name) from None
        return found

    def member(self, module: str, name: str) -> Any:
        """A name of a module.

        Raises:
            ImportError: where it has none, with Python's text.
        """
        found = self.module(module)
        try:
            return self._read(found, name)
        except AttributeError:
            raise ImportError(f"cannot import name '{name}' from '{module}'", name=module) from None


__all__ = ["MODULES", "Imports", "Namespace", "importable"]
