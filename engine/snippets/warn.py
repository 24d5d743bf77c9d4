"""Warnings as Python shows them: once a line and text, with the line of the snippet; and the module `warnings`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from .namespaces import Namespace

_ACTIONS: Final = ("default", "always", "ignore", "error", "once", "module")


class Warnings:
    """What becomes of the warnings of one snippet.

    Args:
        line: tells the line that is running.
        tell: takes the text that is shown.
        name: of the snippet's file.
    """

    def __init__(self, line: Callable[[], int], tell: Callable[[str], object], name: str) -> None:
        self._line = line
        self._tell = tell
        self._name = name
        self._filters: list[tuple[str, str, type[Warning]]] = []
        self._record: list[Any] | None = None
        self._seen: set[tuple[Any, ...]] = set()
        self.source_line: Callable[[int], str] = str
        """Gives the text of a line."""

    def __enter__(self) -> Warnings:
        self._caught = warnings.catch_warnings()
        self._caught.__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = self._shown
        return self

    def __exit__(self, *_error: object) -> None:
        self._caught.__exit__(None, None, None)

    def _shown(self, message: Any, category: type[Warning], *_place: Any, **_more: Any) -> None:
        # Python shows these only where the code of `__main__` itself raises them.
        quiet = issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning))
        self._decide(message, category, "ignore" if quiet else "default")

    def warn(self, message: Any, category: type[Warning] = UserWarning, stacklevel: int = 1) -> None:
        """As Python's; the line shown is always that of the snippet."""
        del stacklevel
        self._decide(message, type(message) if isinstance(message, Warning) else category, "default")

    def _decide(self, message: Any, category: type[Warning], otherwise: str) -> None:
        """Show a warning, record it, raise it or drop it, as the filters say."""
        text = str(message)
        action = next(
            (does for does, part, kind in self._filters if text.startswith(part) and issubclass(category, kind)),
            otherwise,
        )
        if action == "error":
            raise message if isinstance(message, Warning) else category(text)
        key = (text, category) if action in ("once", "module") else (text, category, self._line())
        if action == "ignore" or (action != "always" and key in self._seen):
            return
        self._seen.add(key)
        if self._record is not None:
            self._record.append(Caught(message if isinstance(message, Warning) else category(text), category))
            return
        line = self._line()
        shown = f"{self._name}:{line}: {category.__name__}: {text}\n"
        source = self.source_line(line).strip()
        self._tell(shown + (f"  {source}\n" if source else ""))

    def simplefilter(
        self, action: str, category: type[Warning] = Warning, lineno: int = 0, append: bool = False
    ) -> None:
        """As Python's."""
        self.filterwarnings(action, "", category, "", lineno, append)

    def filterwarnings(
        self,
        action: str,
        message: str = "",
        category: type[Warning] = Warning,
        module: str = "",
        lineno: int = 0,
        append: bool = False,
    ) -> None:
        """As Python's, where the message is the beginning of a text."""
        del module, lineno
        if action not in _ACTIONS:
            raise AssertionError(f"invalid action: {action!r}")
        self._filters.insert(len(self._filters) if append else 0, (action, message.removesuffix(".*"), category))

    def resetwarnings(self) -> None:
        """As Python's."""
        self._filters.clear()

    def catch_warnings(self, *, record: bool = False) -> CatchWarnings:
        """As Python's."""
        return CatchWarnings(self, record)

    def namespace(self) -> Namespace:
        """The module `warnings`."""
        names = ("warn", "simplefilter", "filterwarnings", "resetwarnings", "catch_warnings")
        return Namespace("warnings", {name: getattr(self, name) for name in names})

    def swap(self, filters: list[Any], record: list[Any] | None) -> tuple[list[Any], list[Any] | None]:
        """Put other filters and another record in place; gives those that were there."""
        kept = (self._filters, self._record)
        self._filters, self._record = filters, record
        return kept

    def filters(self) -> list[Any]:
        """A copy of the filters in force."""
        return list(self._filters)


class Caught:
    """A recorded warning.

    Attributes:
        message: the warning.
        category: its class.
    """

    def __init__(self, message: Warning, category: type[Warning]) -> None:
        self.message = message
        self.category = category


class CatchWarnings:
    """Keeps the filters of a block to the block, and may record its warnings.

    Args:
        warnings: whose filters they are.
        record: whether to record.
    """

    def __init__(self, warnings: Warnings, record: bool) -> None:
        self._warnings = warnings
        self._record = record
        self._kept: tuple[list[Any], list[Any] | None] = ([], None)

    def __enter__(self) -> list[Any] | None:
        found: list[Any] | None = [] if self._record else None
        kept_record = self._warnings.swap([], None)
        self._warnings.swap(*kept_record)
        self._kept = kept_record
        self._warnings.swap(self._warnings.filters(), found if self._record else kept_record[1])
        return found

    def __exit__(self, *_error: object) -> None:
        self._warnings.swap(*self._kept)
