"""Discrete Fourier transforms, all made of one row: the complex transform along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    POSITIVE,
    Attrs,
    DType,
    Example,
    Node,
    Op,
    Shape,
    add_row,
    apply,
    as_node,
    make,
)
from .. import batch
from ..indexing.slice import sliced, typed
from ..infer import axes_of, axis_of, integers
from ..move import renamed
from ..pointwise.complex import conjugate
from ..row import compose
from ..shapes.join import joined

_FAMILY: Final = "complex"
_SWAPPED: Final = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_NORMS: Final = "backward, forward and ortho"


def _dft_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    if not args[0].shape[attrs["axis"]]:
        raise InputError("Invalid number of data points (0) specified")
    return args[0].shape, args[0].dtype


def _dft_kernel(xp: Any, z: Any, axis: int, inverse: bool, norm: str) -> Any:
    transform = xp.fft.ifft if inverse else xp.fft.fft
    return transform(z, axis=axis, norm=norm).astype(z.dtype, copy=False)


def _dft_formula(m: Any, z: Any, axis: int, inverse: bool, norm: str) -> Any:
    lanes = np.moveaxis(z, axis, -1)
    size = lanes.shape[-1]
    sign = 1 if inverse else -1
    turns = [m.pi * m.ratio(2 * step, size) for step in range(size)]
    roots = [m.function("cos", turn) + m.number(1j) * (sign * m.function("sin", turn)) for turn in turns]
    scale = m.sqrt(m.number(size)) if norm == "ortho" else m.number(1)
    if norm == ("backward" if inverse else "forward"):
        scale = m.number(size)
    result = np.empty(lanes.shape, dtype=object)
    for place in np.ndindex(lanes.shape):
        lane, at = lanes[place[:-1]], place[-1]
        result[place] = m.total([entry * roots[step * at % size] for step, entry in enumerate(lane)]) / scale
    return np.moveaxis(result, -1, axis)


def _dft_rule(node: Node, g: Node) -> list[Node | None]:
    axis, inverse, norm = (node.attrs[name] for name in ("axis", "inverse", "norm"))
    return [apply(DFT, (g,), {"axis": axis, "inverse": not inverse, "norm": _SWAPPED[norm]})]


def _scaling(norm: str | None) -> str:
    if norm is not None and norm not in _SWAPPED:
        raise InputError(f'Invalid normalization mode: "{norm}"', hint=f"the modes are {_NORMS}")
    return norm or "backward"


def _as_complex(node: Node) -> Node:
    return typed(node, COMPLEX64 if node.dtype in (FLOAT32, COMPLEX64) else COMPLEX128)


def _resized(node: Node, axis: int, size: int | None) -> Node:
    """A node cut or filled with zeros to a length along a dimension."""
    if size is None:
        return node
    if size < 1:
        raise InputError(f"Invalid number of data points ({size}) specified")
    if size <= node.shape[axis]:
        return node if size == node.shape[axis] else sliced(node, axis, 0, size)
    widths = tuple((0, size - node.shape[axis]) if place == axis else (0, 0) for place in range(node.ndim))
    return make.pad(node, widths, numpy=True)  # type: ignore[no-any-return]  # a row's call is of any type


def _axis(node: Node, dim: int) -> int:
    if not node.ndim:
        raise InputError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis_of(dim, node.ndim)


def _transformed(node: Node, size: int | None, dim: int, norm: str | None, *, inverse: bool) -> Node:
    axis = _axis(node, dim)
    wide = _as_complex(_resized(node, axis, size))
    return apply(DFT, (wide,), {"axis": axis, "inverse": inverse, "norm": _scaling(norm)})


def _fft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    node = as_node(input)
    result = _transformed(node, n, dim, norm, inverse=False)
    return result if node.dtype.kind == "c" else renamed(result, "FftR2CBackward0")


def _ifft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    node = as_node(input)
    result = _transformed(node, n, dim, norm, inverse=True)
    # PyTorch conjugates the transform of a real tensor.
    return result if node.dtype.kind == "c" else renamed(result, "ConjBackward0")


_SIGNAL: Final = {"x": (4,)}

DFT: Op = add_row(
    Op(
        name="fft.fft",
        doc="The discrete Fourier transform along a dimension, of length n.",
        family=_FAMILY,
        call=_fft,
        forms=("torch.fft.fft(x)", "torch.fft.fft(z, n=5, norm='ortho')", "np.fft.fft(x)"),
        method=False,
        infer=_dft_infer,
        batch=batch.along_axes,
        kernel=_dft_kernel,
        formula=_dft_formula,
        rule=_dft_rule,
        examples=(
            Example("torch.fft.fft(x).abs()", _SIGNAL, {"x": POSITIVE}),
            Example("torch.fft.fft(x).imag", _SIGNAL),
        ),
        domain="all complex numbers: linear",
        kink="none: linear",
        grad_fn="FftC2CBackward0",
    )
)
compose(
    "fft.ifft",
    "The inverse discrete Fourier transform along a dimension, of length n.",
    family=_FAMILY,
    call=_ifft,
    forms=("torch.fft.ifft(z)", "np.fft.ifft(z)"),
    method=False,
    examples=(Example("torch.fft.ifft(torch.complex(x, x ** 2)).real", _SIGNAL),),
    domain="all complex numbers: linear",
    kink="none: linear",
    grad_fn="FftC2CBackward0",
)


def _rfft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    node = as_node(input)
    if node.dtype.kind == "c":
        raise InputError(f"rfft expects a real input tensor, but got {node.dtype}", hint="write torch.fft.fft")
    whole = _transformed(node, n, dim, norm, inverse=False)
    axis = _axis(node, dim)
    return renamed(sliced(whole, axis, 0, whole.shape[axis] // 2 + 1), "FftR2CBackward0")


def _irfft(input: Node, n: int | None = None, dim: int = -1, norm: str | None = None) -> Node:
    node = as_node(input)
    axis = _axis(node, dim)
    size = 2 * (node.shape[axis] - 1) if n is None else n
    if size < 1:
        raise InputError(f"Invalid number of data points ({size}) specified")
    half = _as_complex(_resized(node, axis, size // 2 + 1))
    # The other half is the conjugate of this one backwards; the real part drops what is not a real signal's.
    mirrored = make.flip(conjugate(sliced(half, axis, 1, (size + 1) // 2)), axis)
    whole = joined([half, mirrored], axis)
    result = apply(DFT, (whole,), {"axis": axis, "inverse": True, "norm": _scaling(norm)})
    return renamed(make.real(result), "FftC2RBackward0")


compose(
    "fft.rfft",
    "The first half of the Fourier transform of a real tensor, which says all.",
    family=_FAMILY,
    call=_rfft,
    forms=("torch.fft.rfft(x)", "np.fft.rfft(x)"),
    method=False,
    examples=(Example("torch.fft.rfft(x).imag", _SIGNAL),),
    domain="all real numbers: linear",
    kink="none: linear",
    grad_fn="FftR2CBackward0",
)
compose(
    "fft.irfft",
    "The real tensor, of length n, whose Fourier transform begins with the given half.",
    family=_FAMILY,
    call=_irfft,
    forms=("torch.fft.irfft(z)", "torch.fft.irfft(z, n=5)", "np.fft.irfft(z)"),
    method=False,
    examples=(Example("torch.fft.irfft(torch.complex(x, x ** 2))", _SIGNAL),),
    domain="all complex numbers: linear over the reals",
    kink="none: linear",
    grad_fn="FftC2RBackward0",
)

# --- several dimensions ------------------------------------------------------------------------------------------


def axes_and_sizes(node: Node, s: Any, dim: Any) -> tuple[Shape, tuple[int | None, ...]]:
    """The dimensions of a transform and the signal's size along each, None where it is as it is.

    Raises:
        InputError: where dimensions repeat, or sizes and dimensions are not equally many.
    """
    sizes = None if s is None else integers(s, "s")
    if dim is not None:
        axes = tuple(axis_of(axis, node.ndim) for axis in integers(dim, "dim"))
    elif sizes is not None and len(sizes) > node.ndim:
        raise InputError(f"Got shape with {len(sizes)} values but input tensor only has {node.ndim} dimensions.")
    else:
        axes = tuple(range(node.ndim if sizes is None else len(sizes)))
        axes = tuple(node.ndim - len(axes) + axis for axis in axes)
    if len(set(axes)) != len(axes):
        raise InputError("FFT dims must be unique", hint=f"dim={list(axes)}")
    if sizes is not None and len(sizes) != len(axes):
        raise InputError("When given, dim and shape arguments must have the same length", hint=f"dims are {list(axes)}")
    return axes, tuple(None if size == -1 else size for size in sizes or [-1] * len(axes))


def _along(node: Node, s: Any, dim: Any, norm: str | None, *, inverse: bool) -> Node:
    axes, sizes = axes_and_sizes(node, s, dim)
    for axis, size in zip(axes, sizes, strict=True):
        node = _transformed(node, size, axis, norm, inverse=inverse)
    return node


def _fftn(input: Node, s: Any = None, dim: Any = None, norm: str | None = None) -> Node:
    return _along(as_node(input), s, dim, norm, inverse=False)


def _ifftn(input: Node, s: Any = None, dim: Any = None, norm: str | None = None) -> Node:
    return _along(as_node(input), s, dim, norm, inverse=True)


def _fft2(input: Node, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Node:
    return _along(as_node(input), s, dim, norm, inverse=False)


def _ifft2(input: Node, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Node:
    return _along(as_node(input), s, dim, norm, inverse=True)


for _name, _doc, _call in (
    ("fftn", "The discrete Fourier transform along several dimensions.", _fftn),
    ("ifftn", "The inverse discrete Fourier transform along several dimensions.", _ifftn),
    ("fft2", "The discrete Fourier transform along the last two dimensions.", _fft2),
    ("ifft2", "The inverse discrete Fourier transform along the last two dimensions.", _ifft2),
):
    compose(
        f"fft.{_name}",
        _doc,
        family=_FAMILY,
        call=_call,
        forms=(f"torch.fft.{_name}(A)", f"np.fft.{_name}(A)"),
        method=False,
        examples=(Example(f"torch.fft.{_name}(A).real", {"A": (2, 3)}),),
        domain="all complex numbers: linear",
        kink="none: linear",
        grad_fn="FftC2CBackward0",
    )


def _shifted(input: Node, dim: Any, sign: int) -> Node:
    node = as_node(input)
    axes = axes_of(dim, node.ndim)
    shifts = tuple(sign * (node.shape[axis] // 2) for axis in axes)
    return make.roll(node, shifts, axes)  # type: ignore[no-any-return]  # a row's call is of any type


def _fftshift(input: Node, dim: Any = None) -> Node:
    return _shifted(input, dim, 1)


def _ifftshift(input: Node, dim: Any = None) -> Node:
    return _shifted(input, dim, -1)


for _name, _doc, _shift in (
    ("fftshift", "The tensor rolled so that frequency 0 stands in the middle.", _fftshift),
    ("ifftshift", "The tensor rolled so that frequency 0 stands first again.", _ifftshift),
):
    compose(
        f"fft.{_name}",
        _doc,
        family=_FAMILY,
        call=_shift,
        forms=(f"torch.fft.{_name}(x)", f"np.fft.{_name}(x)"),
        method=False,
        examples=(Example(f"torch.fft.{_name}(x)", _SIGNAL),),
        domain="all numbers: linear",
        kink="none: linear",
        grad_fn="RollBackward0",
    )
