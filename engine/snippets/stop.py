"""What ends a snippet from outside: a limit reached, or something refused while it ran."""

from __future__ import annotations

from typing import NoReturn

from ..errors import AgradError, InputError, LimitError


class Stop(BaseException):  # the name says what it does
    """Ends a snippet past its own `except` and `finally`.

    Attributes:
        reason: what the person is told; its place in the text is filled in by the interpreter.
    """

    def __init__(self, reason: AgradError) -> None:
        super().__init__(reason.message)
        self.reason = reason


class Closed(BaseException):  # as above
    """Ends a snippet because the reader of its output has gone."""


def refuse(message: str, hint: str = "") -> NoReturn:
    """End the snippet because of what it asks for."""
    raise Stop(InputError(message, hint=hint, code="refused"))


def limit(message: str, hint: str = "") -> NoReturn:
    """End the snippet because it is too large or too slow."""
    raise Stop(LimitError(message, hint=hint))
