"""What PyTorch says of arguments that a function does not take: too many, unknown, missing, of another type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..errors import AgradError
from ..graph import Op
from ..language.signatures import signature
from .exceptions import as_python

_FORMS: Final = {
    ("sum", True): "(*, torch.dtype dtype = None)\n"
    "(tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)",
    ("sum", False): "(Tensor input, *, torch.dtype dtype = None)\n"
    "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)",
    ("mean", True): "(*, torch.dtype dtype = None)\n"
    "(tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)",
    ("mean", False): "(Tensor input, *, torch.dtype dtype = None, Tensor out = None)\n"
    "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)",
    ("lerp", False): "(Tensor input, Tensor end, Tensor weight, *, Tensor out = None)\n"
    "(Tensor input, Tensor end, Number weight, *, Tensor out = None)",
    ("lerp", True): "(Tensor end, Tensor weight)\n(Tensor end, Number weight)",
}
"""The calling forms of functions that have several, as messages list them: of the function, and of the method."""

NUMBER_FIRST: Final = frozenset(
    (
        *("add", "div", "float_power", "floor_divide", "full", "mul", "normal", "pow", "remainder", "rsub", "sub"),
        *("xlog1py", "where", "xlogy"),
    )
)
"""Functions that may begin with a number."""

TENSORS_ONLY: Final = frozenset(
    (
        *("atan2", "bmm", "cross", "dist", "dot", "fmax", "fmin", "heaviside", "hypot", "inner", "isclose", "ldexp"),
        *("logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor", "matmul", "maximum", "minimum"),
        *("mm", "mv", "outer", "vdot"),
    )
)
"""Functions whose second argument must be a tensor too."""

_UNKNOWN: Final = re.compile(r" has no parameter (\w+)$")
_TOO_MANY: Final = re.compile(r" takes \d+ positional argument")
_MISSING: Final = re.compile(r" misses its arguments? (.+)$")


def in_words(
    error: AgradError | TypeError, op: Op, args: Sequence[Any], keywords: Mapping[str, Any], function: str | None
) -> Exception:
    """The exception with which a call fails, in PyTorch's words.

    Args:
        error: what the call raised.
        op: the row that was called.
        args, keywords: as the script gave them, the tensor whose method it is first.
        function: the name under which it was called; None for a method.
    """
    exception = error if isinstance(error, TypeError) else _misfit(error, op, args, function) or as_python(error)
    if isinstance(exception, TypeError) and (function is None or "(position 1)" not in str(exception)):
        exception = invalid(op, args, keywords, function) or exception
    return exception


def _misfit(error: AgradError, op: Op, args: Sequence[Any], function: str | None) -> TypeError | None:
    """What PyTorch says where the binder found an argument too many, too few or unknown."""
    name = function or op.name
    unknown = _UNKNOWN.search(error.message)
    if unknown:
        return TypeError(f"{name}() got an unexpected keyword argument '{unknown[1]}'")
    missing = _MISSING.search(error.message)
    if missing:
        names = [f'"{each}"' for each in missing[1].split(", ")]
        return TypeError(f"{name}() missing {len(names)} required positional arguments: {', '.join(names)}")
    if _TOO_MANY.search(error.message):
        own = 1 if function is None else 0
        takes, given = len(signature(op).positional) - own, len(args) - own
        if not takes:
            return TypeError(f"TensorBase.{name}() takes no arguments ({given} given)")
        return TypeError(
            f"{name}() takes {takes} positional argument{'s' * (takes != 1)} but {given} "
            f"{'were' if given != 1 else 'was'} given"
        )
    return None


def invalid(op: Op, args: Sequence[Any], keywords: Mapping[str, Any], function: str | None) -> TypeError | None:
    """What PyTorch says where no form of a function fits; None where it has one form only.

    Args:
        op, args, keywords, function: as of `in_words`.
    """
    name, method = function or op.name, function is None
    forms = _FORMS.get((name, method))
    if forms is None:
        return None
    given = [type(value).__name__ for value in args[method:]]
    given += [f"{keyword}={type(value).__name__}" for keyword, value in keywords.items()]
    words = ", ".join(given) + (", " if keywords else "")
    listed = "".join(f" * {form}\n" for form in forms.splitlines())
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({words}), but expected one of:\n{listed}"
    )


def refuse_keywords(op: Op, args: Sequence[Any], keywords: Mapping[str, Any], function: str | None) -> None:
    """Refuse the keyword that NumPy has and PyTorch has not.

    Args:
        op, args, keywords, function: as of `in_words`.
    """
    if "axes" in keywords and not any(parameter.name == "axes" for parameter in signature(op).parameters):
        raise invalid(op, args, keywords, function) or TypeError(
            f"{function or op.name}() got an unexpected keyword argument 'axes'"
        )
