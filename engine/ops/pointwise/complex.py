"""Complex numbers: their parts, conjugates and angles.

Gradients follow PyTorch's convention: the gradient of a real loss L at z = x + iy is dL/dx + i dL/dy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
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
from .. import kinks
from ..indexing.slice import selected, typed
from ..infer import broadcast, floating, promote, real_part_of
from ..move import renamed
from ..row import compose, unary
from ..shapes.join import STACK

_FAMILY: Final = "complex"
_PARTS: Final = {"x": (3,), "y": (3,)}

# --- made of parts -----------------------------------------------------------------------------------------------


def _complex_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    shape = broadcast(*[arg.shape for arg in args])
    return shape, COMPLEX64 if promote(args) == FLOAT32 else COMPLEX128


def _complex_kernel(xp: Any, real: Any, imag: Any) -> Any:
    # Part by part: real + 1j*imag would turn an infinite part into NaN.
    real, imag = xp.asarray(real), xp.asarray(imag)
    single = real.dtype == FLOAT32 and imag.dtype == FLOAT32
    result = xp.empty(xp.broadcast_shapes(real.shape, imag.shape), dtype=COMPLEX64 if single else COMPLEX128)
    result.real = real
    result.imag = imag
    return result[()]


def _real_pair(first: Any, second: Any) -> tuple[Node, Node]:
    """Two real tensors of one floating dtype."""
    nodes = as_node(first), as_node(second)
    dtype = promote(nodes)
    if dtype.kind == "c":
        raise InputError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            + " and ".join(str(node.dtype) for node in nodes),
            hint="the parts of a complex number are real; write z.real",
        )
    dtype = dtype if dtype.kind == "f" else FLOAT64
    return typed(nodes[0], dtype), typed(nodes[1], dtype)


def _complex(real: Node, imag: Node) -> Node:
    return apply(COMPLEX, _real_pair(real, imag))


COMPLEX = add_row(
    Op(
        name="complex",
        doc="The complex numbers of a real and an imaginary part.",
        family=_FAMILY,
        call=_complex,
        forms=("torch.complex(x, y)",),
        c="CMPLX({0}, {1})",
        method=False,
        infer=_complex_infer,
        kernel=_complex_kernel,
        formula=lambda m, x, y: x + m.number(1j) * y,
        elementwise=True,
        rule=lambda _node, g: [make.real(g), make.imag(g)],
        examples=(Example("torch.complex(x, y).abs()", _PARTS, dict.fromkeys(_PARTS, POSITIVE)),),
        domain="all real numbers: linear",
        kink="none: linear",
        grad_fn="ComplexBackward0",
    )
)


def _polar(abs: Node, angle: Node) -> Node:
    length, turn = _real_pair(abs, angle)
    return renamed(_complex(length * make.cos(turn), length * make.sin(turn)), "PolarBackward0")


compose(
    "polar",
    "The complex numbers of a length and an angle.",
    family=_FAMILY,
    call=_polar,
    forms=("torch.polar(x, y)",),
    method=False,
    examples=(Example("torch.polar(x, y).real", _PARTS),),
    grad_fn="PolarBackward0",
)

# --- parts -------------------------------------------------------------------------------------------------------


def _part_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    return args[0].shape, real_part_of(args[0].dtype)


def _real(input: Node) -> Node:
    node = as_node(input)
    return apply(REAL_PART, (node,)) if node.dtype.kind == "c" else node


REAL_PART = add_row(
    Op(
        name="real",
        doc="The real part; a real tensor is its own.",
        family=_FAMILY,
        call=_real,
        forms=("torch.real(z)", "z.real", "np.real(z)"),
        c="creal({0})",
        method=False,
        infer=_part_infer,
        kernel=lambda xp, z: xp.real(z)[()],
        formula=lambda m, z: m.function("re", z),
        elementwise=True,
        rule=lambda node, g: [make.to(g, node.args[0].dtype)],
        examples=(Example("torch.real(torch.complex(x, y) ** 2)", _PARTS, {"x": POSITIVE}),),
        domain="all complex numbers: linear",
        kink="none: linear",
        grad_fn="SelectBackward0",
    )
)


def _imag(input: Node) -> Node:
    node = as_node(input)
    if node.dtype.kind != "c":
        raise InputError(
            "imag is not implemented for tensors with non-complex dtypes.",
            hint="a real tensor has no imaginary part; write torch.complex(x, y) to make a complex one",
        )
    return apply(IMAG_PART, (node,))


IMAG_PART = add_row(
    Op(
        name="imag",
        doc="The imaginary part of a complex tensor.",
        family=_FAMILY,
        call=_imag,
        forms=("torch.imag(z)", "z.imag", "np.imag(z)"),
        c="cimag({0})",
        method=False,
        infer=_part_infer,
        kernel=lambda xp, z: xp.imag(z)[()],
        formula=lambda m, z: m.function("im", z),
        elementwise=True,
        rule=lambda _node, g: [_complex(g * 0.0, g)],
        examples=(Example("torch.imag(torch.complex(x, y) ** 2)", _PARTS, {"x": POSITIVE}),),
        domain="all complex numbers: linear",
        kink="none: linear",
        grad_fn="SelectBackward0",
    )
)

# --- conjugates --------------------------------------------------------------------------------------------------


def conjugate(node: Node, grad_fn: str = "ConjBackward0") -> Node:
    """The conjugate of a node; a real one is its own."""
    return apply(CONJ, (node,), grad_fn=grad_fn) if node.dtype.kind == "c" else node


def _conj(input: Node) -> Node:
    return conjugate(as_node(input))


CONJ = add_row(
    Op(
        name="conj",
        doc="The complex conjugate; a real tensor is its own.",
        family=_FAMILY,
        call=_conj,
        forms=("torch.conj(z)", "z.conj()", "np.conj(z)", "np.conjugate(z)"),
        c="conj({0})",
        aliases=("conjugate",),
        infer=lambda args, _attrs: (args[0].shape, args[0].dtype),
        kernel=lambda xp, z: xp.conj(z),
        formula=lambda m, z: m.function("conj", z),
        elementwise=True,
        rule=lambda _node, g: [conjugate(g)],
        examples=(Example("torch.conj(torch.complex(x, y)).imag", _PARTS),),
        domain="all complex numbers: linear over the reals",
        kink="none",
        grad_fn="ConjBackward0",
    )
)


def _conj_physical(input: Node) -> Node:
    return conjugate(as_node(input), "ConjPhysicalBackward0")


compose(
    "conj_physical",
    "The complex conjugate, as a copy.",
    family=_FAMILY,
    call=_conj_physical,
    forms=("torch.conj_physical(z)", "z.conj_physical()"),
    examples=(Example("torch.conj_physical(torch.complex(x, y)).imag", _PARTS),),
    grad_fn="ConjPhysicalBackward0",
)


def _resolve_conj(input: Node) -> Node:
    node = as_node(input)
    return make.clone(node) if node.op is CONJ else node


compose(
    "resolve_conj",
    "The tensor itself, or a copy where it is a conjugate that PyTorch has not written out.",
    family=_FAMILY,
    call=_resolve_conj,
    forms=("torch.resolve_conj(z)", "z.resolve_conj()"),
    examples=(Example("torch.complex(x, y).conj().resolve_conj().imag", _PARTS),),
    grad_fn="CloneBackward0",
)

# --- angle -------------------------------------------------------------------------------------------------------


def _angle_kernel(xp: Any, x: Any) -> Any:
    x = xp.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT64
    turned = xp.where(x < 0, dtype.type(math.pi), dtype.type(0))
    return (xp.where(xp.isnan(x), x, turned) if x.dtype.kind == "f" else turned)[()]


def _angle(input: Node) -> Node:
    node = as_node(input)
    if node.dtype.kind != "c":
        return apply(ANGLE, (node,))
    return renamed(make.atan2(_imag(node), _real(node)), "AngleBackward0")


ANGLE = unary(
    "angle",
    "The angle of a complex number, from -pi to pi; of a real one 0, or pi where it is negative.",
    family=_FAMILY,
    call=_angle,
    forms=("torch.angle(x)", "z.angle()", "np.angle(z)"),
    infer=floating,
    kernel=_angle_kernel,
    c="(({0}) < 0 ? 3.141592653589793 : ({0}) != ({0}) ? ({0}) : 0.0)",
    formula=lambda m, x: m.where(
        x < 0, lambda: m.pi, lambda: m.where(x >= 0, lambda: m.number(0), lambda: x)
    ),  # x where it is NaN
    slope=lambda _x, _y: 0,
    examples=(
        Example("torch.angle(x)", {"x": (3,)}, {"x": POSITIVE}),
        Example("torch.angle(torch.complex(x, y))", _PARTS, {"x": POSITIVE}),
    ),
    domain="all complex numbers but 0; it jumps where the real part is negative and the imaginary part changes sign",
    at_kink=kinks.at_zero,
    kink="at 0, and for all real numbers, the gradient is 0",
    grad_fn="AngleBackward0",
)

# --- as pairs of real numbers ------------------------------------------------------------------------------------


def _view_as_real(input: Node) -> Node:
    node = as_node(input)
    if node.dtype.kind != "c":
        raise InputError("view_as_real is only supported for complex tensors", hint=f"the dtype is {node.dtype}")
    return apply(STACK, (_real(node), _imag(node)), {"axis": node.ndim}, grad_fn="ViewAsRealBackward0")


def _view_as_complex(input: Node) -> Node:
    node = as_node(input)
    if not node.ndim or node.shape[-1] != 2:
        raise ShapeError(
            "Tensor must have a last dimension of size 2",
            hint=f"its shape is {list(node.shape)}; real and imaginary part stand side by side",
        )
    last = node.ndim - 1
    return renamed(_complex(selected(node, last, 0), selected(node, last, 1)), "ViewAsComplexBackward0")


compose(
    "view_as_real",
    "Real and imaginary part side by side along a new last dimension.",
    family=_FAMILY,
    call=_view_as_real,
    forms=("torch.view_as_real(z)",),
    method=False,
    examples=(Example("torch.view_as_real(torch.complex(x, y))", _PARTS),),
    grad_fn="ViewAsRealBackward0",
)
compose(
    "view_as_complex",
    "The complex numbers whose parts stand side by side along the last dimension.",
    family=_FAMILY,
    call=_view_as_complex,
    forms=("torch.view_as_complex(A)",),
    method=False,
    examples=(Example("torch.view_as_complex(A).imag", {"A": (3, 2)}),),
    grad_fn="ViewAsComplexBackward0",
)
