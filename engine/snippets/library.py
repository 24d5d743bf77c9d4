"""The classes that a snippet meets besides Python's own: what of each is public, set, derived from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Public:
    """What a snippet may do with the values of a class and of those derived from it.

    Every attribute is read that does not begin with an underscore and is not hidden.

    Attributes:
        kind: the class.
        listed: where it is given, no attributes but these are read.
        hidden: attributes that are ours and not PyTorch's: to a snippet they are not there.
        underscored: attributes that begin with an underscore, or beginnings of these that end with one, and are read.
        settable: attributes that may be set; None for all.
        derivable: whether a snippet may derive classes from it.
        callable: whether a snippet that has a value of it may have the class as well, and so make others.
    """

    kind: type
    listed: frozenset[str] | None = None
    hidden: frozenset[str] = frozenset()
    underscored: frozenset[str] = frozenset()
    settable: frozenset[str] | None = frozenset()
    derivable: bool = False
    callable: bool = True


class Library:
    """The public part of many classes.

    Args:
        classes: derived classes before those that they are derived from.
    """

    def __init__(self, classes: Iterable[Public] = ()) -> None:
        self._classes = list(classes)
        self._found: dict[type, Public | None] = {}

    def of(self, kind: type) -> Public | None:
        """What is public of a class; None where nothing is known of it."""
        if kind not in self._found:
            self._found[kind] = next((each for each in self._classes if issubclass(kind, each.kind)), None)
        return self._found[kind]

    def is_public(self, kind: type, name: str) -> bool:
        """Whether an attribute of the values of a class may be read, if they have it."""
        public = self.of(kind)
        if public is None:
            return False
        if not name.startswith("_"):
            return name not in public.hidden and (public.listed is None or name in public.listed)
        return any(name == each or (each.endswith("_") and name.startswith(each)) for each in public.underscored)

    def is_hidden(self, kind: type, name: str) -> bool:
        """Whether an attribute is ours only."""
        public = self.of(kind)
        return public is not None and name in public.hidden

    def may_set(self, kind: type, name: str) -> bool:
        """Whether an attribute of the values of a class may be set."""
        public = self.of(kind)
        return public is not None and (public.settable is None or name in public.settable)

    def may_derive(self, kind: type) -> bool:
        """Whether a snippet may derive classes from a class."""
        public = self.of(kind)
        return public is not None and public.derivable
