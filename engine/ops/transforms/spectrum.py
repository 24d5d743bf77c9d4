"""Fourier transforms of real and of conjugate-symmetric signals along several dimensions, and frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import TABLE, DType, Example, Node, Shape, as_node, leaf, make
from ..infer import default_dtype
from ..move import renamed
from ..row import compose
from .fourier import axes_and_sizes

_FAMILY: Final = "complex"
_PLANE: Final = (-2, -1)
_SWAPPED: Final = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _swapped(norm: str | None) -> str:
    """The normalisation that scales the other direction; an unknown one stays, for the transform to refuse."""
    return _SWAPPED.get(norm or "backward", str(norm))


def _axes_and_sizes(x: Node, s: Any, dim: Any) -> tuple[Shape, tuple[int | None, ...]]:
    axes, sizes = axes_and_sizes(x, s, dim)
    if not axes:
        raise InputError("a real transform must have at least one dimension")
    return axes, sizes


def _half(input: Node, s: Any, dim: Any, norm: str | None) -> Node:
    x = as_node(input)
    axes, sizes = _axes_and_sizes(x, s, dim)
    result = TABLE["fft.rfft"].call(x, sizes[-1], axes[-1], norm)
    for axis, size in zip(axes[:-1], sizes[:-1], strict=True):
        result = TABLE["fft.fft"].call(result, size, axis, norm)
    return renamed(result, "FftR2CBackward0")


def _whole(input: Node, s: Any, dim: Any, norm: str | None) -> Node:
    x = as_node(input)
    axes, sizes = _axes_and_sizes(x, s, dim)
    for axis, size in zip(axes[:-1], sizes[:-1], strict=True):
        x = TABLE["fft.ifft"].call(x, size, axis, norm)
    return TABLE["fft.irfft"].call(x, sizes[-1], axes[-1], norm)  # type: ignore[no-any-return]  # any row's call


def _rfft2(input: Node, s: Any = None, dim: Any = _PLANE, norm: str | None = None) -> Node:
    return _half(input, s, dim, norm)


def _rfftn(input: Node, s: Any = None, dim: Any = None, norm: str | None = None) -> Node:
    return _half(input, s, dim, norm)


def _irfft2(input: Node, s: Any = None, dim: Any = _PLANE, norm: str | None = None) -> Node:
    return _whole(input, s, dim, norm)


def _irfftn(input: Node, s: Any = None, dim: Any = None, norm: str | None = None) -> Node:
    return _whole(input, s, dim, norm)


def _hfft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    x = as_node(input)
    x = make.conj(x) if x.dtype.kind == "c" else x
    return TABLE["fft.irfft"].call(x, n, dim, _swapped(norm))  # type: ignore[no-any-return]  # any row's call


def _ihfft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    return make.conj(TABLE["fft.rfft"].call(input, n, dim, _swapped(norm)))  # type: ignore[no-any-return]  # any row's call


def _add(name: str, doc: str, call: Callable[..., Node], grad_fn: str, example: str, x: Shape) -> None:
    compose(
        f"fft.{name}",
        doc,
        family=_FAMILY,
        call=call,
        forms=(f"torch.fft.{name}(x)", f"torch.fft.{name}(x, norm='ortho')", f"np.fft.{name}(x)"),
        method=False,
        examples=(Example(example.format(f"torch.fft.{name}"), {"x": x}),),
        domain="all numbers: linear over the reals",
        kink="none: linear",
        grad_fn=grad_fn,
    )


_REAL_GIVEN: Final = "{}(x).imag"
_HALF_GIVEN: Final = "{}(torch.complex(x, x ** 2))"

_add(
    "rfft2",
    "The Fourier transform of a real tensor over the last two dimensions, of the last one the half that says all.",
    _rfft2,
    "FftR2CBackward0",
    _REAL_GIVEN,
    (2, 3),
)
_add(
    "rfftn",
    "The Fourier transform of a real tensor over several dimensions, of the last one the half that says all.",
    _rfftn,
    "FftR2CBackward0",
    _REAL_GIVEN,
    (2, 3),
)
_add(
    "irfft2",
    "The real tensor whose Fourier transform over the last two dimensions begins with the given half.",
    _irfft2,
    "FftC2RBackward0",
    _HALF_GIVEN,
    (2, 2),
)
_add(
    "irfftn",
    "The real tensor whose Fourier transform over several dimensions begins with the given half.",
    _irfftn,
    "FftC2RBackward0",
    _HALF_GIVEN,
    (2, 2),
)
_add(
    "hfft",
    "The Fourier transform, which is real, of a signal of which half is given, the rest being its conjugate.",
    _hfft,
    "FftC2RBackward0",
    _HALF_GIVEN,
    (3,),
)
_add(
    "ihfft",
    "The first half of the signal, symmetric up to conjugation, whose Fourier transform is the given real tensor.",
    _ihfft,
    "ConjBackward0",
    _REAL_GIVEN,
    (4,),
)

# --- frequencies -------------------------------------------------------------------------------------------------


def _frequencies(name: str, n: Any, d: float, dtype: DType | None, requires_grad: bool) -> Node:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"{name}: n must be a positive integer, not {n!r}", hint="n is the length of the signal")
    numbers = np.arange(n // 2 + 1) if name == "rfftfreq" else np.fft.ifftshift(np.arange(n) - n // 2)
    return leaf((numbers / (n * d)).astype(dtype or default_dtype()), requires_grad=requires_grad)


def _fftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False) -> Node:
    return _frequencies("fftfreq", n, d, dtype, requires_grad)


def _rfftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False) -> Node:
    return _frequencies("rfftfreq", n, d, dtype, requires_grad)


for _name, _call in (("fftfreq", _fftfreq), ("rfftfreq", _rfftfreq)):
    compose(
        f"fft.{_name}",
        f"The frequencies of the entries of {_name.removesuffix('freq')}, for n samples a time d apart.",
        family=_FAMILY,
        call=_call,
        forms=(f"torch.fft.{_name}(4)", f"torch.fft.{_name}(4, d=0.1)", f"np.fft.{_name}(4)"),
        method=False,
        examples=(Example(f"torch.fft.{_name}(4, d=0.1) * x", {"x": ()}),),
        domain="a constant",
        kink="none: a constant",
    )
