"""Errors of the engine as the Python exceptions that PyTorch raises."""

from __future__ import annotations

import re
from typing import Final

from ..errors import AgradError, LimitError, NoGradientError, SeveralErrors


class LinAlgError(RuntimeError):
    """A matrix that cannot be factorised or solved with."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


class GradcheckError(RuntimeError):
    """A gradient that differs from its difference quotient."""


_BY_CODE: Final[dict[str, type[Exception]]] = {
    "index": IndexError,
    "singular": LinAlgError,
    "type": TypeError,
    "value": ValueError,
}
"""The classes of errors whose rows say of what kind they are."""

_CLASSES: Final[tuple[tuple[re.Pattern[str], type[Exception]], ...]] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (
            r"Dimension out of range|too many indices|Target \S+ is out of bounds",
            IndexError,
        ),
        (r"invalid index of a 0-dim|slice\(\) cannot be applied|select\(\): index", IndexError),
        (
            r"expected sequence of length|step must be greater than zero|Unknown |invalid reduction|slice step",
            ValueError,
        ),
        (r"\w+ has no parameter|misses its argument|positional argument|must be .*, not |given twice", TypeError),
        (r"singular|positive-definite", LinAlgError),
    )
)
_NO_DERIVATIVE: Final = re.compile(r"derivative for (\S+) is not implemented: it has none")


def as_python(error: AgradError) -> Exception:
    """The exception of an error: PyTorch's class and text; the hint stays with it as `hint`."""
    if isinstance(error, SeveralErrors):
        error = error.errors[0]
    text = "ZeroDivisionError" if error.message.endswith(": integer division by zero") else error.message
    kind: type[Exception] = RuntimeError
    if isinstance(error, LimitError):
        kind = MemoryError
    elif isinstance(error, NoGradientError):
        text = _NO_DERIVATIVE.sub(r"derivative for aten::\1 is not implemented", text)
    elif error.code in _BY_CODE:
        kind = _BY_CODE[error.code]
    else:
        for pattern, found in _CLASSES:
            if pattern.search(text):
                kind = found
                break
    exception = kind(text)
    exception.hint = error.hint  # type: ignore[attr-defined]  # for whoever shows the second line
    return exception
