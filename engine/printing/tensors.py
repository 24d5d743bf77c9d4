"""The text of a tensor, letter for letter as PyTorch 2.13 prints it.

The rules are those of PyTorch's `torch/_tensor_str.py`: one form for all numbers of a tensor (whole numbers, fixed
point or exponents), one width taken from those that are finite and not zero, a few entries at the ends of a long axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..graph import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, DType, Shape
from .options import PrintOptions, print_options

_RATIO: Final = 1000.0
_LARGE: Final = 1.0e8
_SMALL: Final = 1.0e-4

Nested = Any
"""Texts of the entries in lists within lists, one level an axis; a single text for a tensor without axes."""


def tensor_text(
    value: Any,
    *,
    requires_grad: bool = False,
    grad_fn: str | None = None,
    default_dtype: DType = FLOAT32,
    prefix: str = "tensor(",
) -> str:
    """The text of a tensor, in the print options in force.

    Args:
        value: an array, a NumPy scalar or a plain number, of any dtype.
        requires_grad: said at the end, where there is no `grad_fn`.
        grad_fn: the name of the function that made it (`AddBackward0`).
        default_dtype: the dtype in force for new tensors, which is not said.
        prefix: what stands before the entries, the bracket included.
    """
    options = print_options()
    array = np.asarray(value)
    suffixes = _what_it_is(array, default_dtype, options)
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = prefix + ("[]" if array.size == 0 else _entries(array, len(prefix), options))
    return _with_suffixes(text, suffixes, len(prefix), options)


def parameter_text(value: Any, *, requires_grad: bool = True, default_dtype: DType = FLOAT32) -> str:
    """The text of an `nn.Parameter`."""
    return "Parameter containing:\n" + tensor_text(value, requires_grad=requires_grad, default_dtype=default_dtype)


def size_text(shape: Shape) -> str:
    """The text of a `torch.Size`."""
    return f"torch.Size([{', '.join(map(str, shape))}])"


def dtype_text(dtype: DType) -> str:
    """PyTorch's name of a dtype: `torch.float32`."""
    return f"torch.{dtype.name}"


def formatted(value: Any, spec: str, text: Callable[[], str]) -> str:
    """What `f"{tensor:spec}"` gives: a number's format for a tensor without axes, the whole text for another.

    Args:
        value: the tensor's value.
        spec: what stands after the colon.
        text: makes the tensor's text, where it is needed.

    Raises:
        TypeError: for a spec beside a tensor with axes, in Python's words.
    """
    if np.ndim(value) == 0:
        return format(np.asarray(value).item(), spec)
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return text()


def _what_it_is(array: np.ndarray[Any, Any], default_dtype: DType, options: PrintOptions) -> list[str]:
    """The size and the dtype, each where the entries do not tell it."""
    empty = array.size == 0
    suffixes = []
    if (empty and array.ndim != 1) or not (empty or options.edgeitems):
        suffixes.append(f"size={array.shape}")
    default_complex = COMPLEX128 if default_dtype == FLOAT64 else COMPLEX64
    told = (default_dtype,) if empty else (default_dtype, default_complex, np.dtype(np.int64), np.dtype(np.bool_))
    if array.dtype not in told:
        suffixes.append(f"dtype={dtype_text(array.dtype)}")
    return suffixes


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int, options: PrintOptions) -> str:
    """The text closed after its suffixes, each on a line of its own where the line would become too long."""
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > options.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            length = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(parts) + ")"


def _entries(array: np.ndarray[Any, Any], indent: int, options: PrintOptions) -> str:
    """The entries in brackets, summarised where they are more than the threshold."""
    cut = (False,) * array.ndim
    if array.size > options.threshold and array.ndim:
        if not options.edgeitems:
            return "[...]"
        cut = tuple(length > 2 * options.edgeitems for length in array.shape)
        array = _ends(array, cut, options.edgeitems)
    texts, width = _texts(array, options)
    if not array.ndim:
        return texts[0]
    per_line = max(1, int((options.linewidth - indent - array.ndim + 1) // (width + 2)))
    nested: Nested = texts
    for length in reversed(array.shape[1:]):
        nested = [nested[start : start + length] for start in range(0, len(nested), length)]
    return _bracketed(nested, array.ndim, indent, cut, per_line, options.edgeitems)


def _ends(array: np.ndarray[Any, Any], cut: Sequence[bool], edge: int) -> np.ndarray[Any, Any]:
    """The entries that a summary shows: the two ends of each long axis."""
    for axis, is_cut in enumerate(cut):
        if is_cut:
            length = array.shape[axis]
            array = np.take(array, [*range(edge), *range(length - edge, length)], axis=axis)
    return array


def _bracketed(nested: Nested, ndim: int, indent: int, cut: Sequence[bool], per_line: int, edge: int) -> str:
    """The texts in brackets: rows under each other, an empty line between matrices, the inner ones deeper.

    The number of entries in a line is the same in all rows, as all stand equally deep.
    """
    if ndim == 1:
        items = [*nested[:edge], " ...", *nested[edge:]] if cut[-1] else nested
        lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [_bracketed(row, ndim - 1, indent + 1, cut, per_line, edge) for row in nested]
    if cut[-ndim]:
        rows.insert(edge, "...")
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _texts(array: np.ndarray[Any, Any], options: PrintOptions) -> tuple[list[str], int]:
    """The text of each entry, padded, in the order of the array, and the width that a line reckons with."""
    flat = array.reshape(-1)
    if array.dtype.kind != "c":
        return _padded(flat, options)
    reals, real_width = _padded(flat.real, options)
    imaginaries, imaginary_width = _padded(flat.imag, options)
    # The width is reckoned with the padding of both parts, but only the real part is padded.
    parts = (text.lstrip() + "j" for text in imaginaries)
    texts = [real + (part if part[0] in "+-" else "+" + part) for real, part in zip(reals, parts, strict=True)]
    return texts, real_width + imaginary_width + 1


def _padded(flat: np.ndarray[Any, Any], options: PrintOptions) -> tuple[list[str], int]:
    """The texts of real numbers or booleans, all in one form and padded to one width, and that width."""
    if flat.dtype.kind != "f":
        texts = [str(value) for value in flat.tolist()]
        width = max(map(len, texts))
    else:
        values = flat.astype(np.float64)
        decisive = np.isfinite(values) & (values != 0.0)
        write = _form(values[decisive], options)
        texts = [write(value) for value in values.tolist()]
        width = max((len(text) for text, decides in zip(texts, decisive.tolist(), strict=True) if decides), default=1)
    return [text.rjust(width) for text in texts], width


def _form(decisive: np.ndarray[Any, Any], options: PrintOptions) -> Callable[[float], str]:
    """How each number of a tensor is written, as those decide that are finite and not zero."""
    if not decisive.size:
        return _whole
    magnitudes = np.abs(decisive)
    least, most = magnitudes.min(), magnitudes.max()
    with np.errstate(over="ignore"):
        wide = most / least > _RATIO or most > _LARGE or least < _SMALL
    if wide if options.sci_mode is None else options.sci_mode:
        return f"{{:.{options.precision}e}}".format
    if np.array_equal(decisive, np.ceil(decisive)):
        return _whole
    return f"{{:.{options.precision}f}}".format


def _whole(value: float) -> str:
    """A whole number with the point that tells a float, or inf or nan."""
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
