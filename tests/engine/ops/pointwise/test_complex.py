"""Complex numbers, with gradients in PyTorch's convention: dL/dx + i dL/dy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import COMPLEX64, FLOAT32, Node, leaf, make
from agrad.engine.run.cpu import evaluate

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]
PARTS = st.floats(-3, 3).filter(lambda part: abs(part) > 0.1)


def gradient(function: Callable[[Node], Node], point: complex) -> Any:
    """The gradient of a real function at a complex point."""
    z = leaf(np.complex128(point), requires_grad=True)
    out = function(z)
    found = gradients([out], [leaf(np.float64(1.0))])[z]
    return evaluate([found])[found]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (make.real, 1.0),
        (make.imag, 1j),
        (lambda z: make.real(make.conj(z)), 1.0),
        (lambda z: make.imag(make.conj(z)), -1j),
        (make.angle, -0.16 + 0.12j),
        (lambda z: make.real(z * make.conj(z)), 6.0 + 8.0j),
        (lambda z: make.real(z * z), 6.0 - 8.0j),
        (lambda z: make.select(make.view_as_real(z), 0, 1), 1j),
    ],
)
def test_gradients_at_3_plus_4i(function: Callable[[Node], Node], expected: complex) -> None:
    """Real functions of 3+4i have the gradients that PyTorch gives them."""
    assert gradient(function, 3 + 4j) == pytest.approx(expected, rel=1e-14)


def test_angle_at_zero_and_of_reals(slopes: Callable[..., Any], value: Value) -> None:
    """At 0 and for real numbers the gradient of the angle is 0; a negative number has the angle pi."""
    assert gradient(make.angle, 0j) == 0
    assert slopes(make.angle, [-1.0, 0.0, 1.0]) == [[0.0, 0.0, 0.0]]
    assert value(make.angle(leaf(np.array([-1.0, -0.0, 1.0])))) == [math.pi, 0.0, 0.0]
    assert math.isnan(value(make.angle(leaf(np.float64(math.nan)))))


@FEW
@given(x=PARTS, y=PARTS)
def test_length_and_angle_make_the_number_again(value: Value, x: float, y: float) -> None:
    """polar of a number's length and angle is the number, and so are its parts joined."""
    z = leaf(np.complex128(complex(x, y)))
    assert value(make.polar(make.abs(z), make.angle(z))) == pytest.approx(complex(x, y), rel=1e-14)
    assert value(make.complex(make.real(z), make.imag(z))) == complex(x, y)
    assert value(make.view_as_complex(make.view_as_real(z))) == complex(x, y)


@FEW
@given(x=PARTS, y=PARTS)
def test_parts_give_gradients_to_real_leaves(slopes: Callable[..., Any], x: float, y: float) -> None:
    """Real leaves below a complex number get real gradients: |x + iy|^2 has 2x and 2y."""

    def square(x: Node, y: Node) -> Node:
        z = make.complex(x, y)
        return make.real(z * make.conj(z))

    assert slopes(square, x, y) == pytest.approx([2 * x, 2 * y], rel=1e-14)


def test_infinite_parts_stay_apart(value: Value) -> None:
    """An infinite part does not turn the other into NaN."""
    assert value(make.complex(1.0, math.inf)) == complex(1.0, math.inf)


def test_dtypes_and_names() -> None:
    """Single precision stays single, a real tensor is its own conjugate and real part, names are PyTorch's."""
    single = leaf(np.ones(2, np.float32), requires_grad=True)
    z = make.complex(single, single)
    assert z.dtype == COMPLEX64
    assert make.imag(z).dtype == FLOAT32
    assert make.real(single) is single
    assert make.conj(single) is single
    assert [node.grad_fn for node in (z, make.real(z), make.conj(z), make.conj_physical(z), make.angle(z))] == [
        "ComplexBackward0",
        "SelectBackward0",
        "ConjBackward0",
        "ConjPhysicalBackward0",
        "AngleBackward0",
    ]
    assert make.resolve_conj(make.conj(z)).grad_fn == "CloneBackward0"
    assert make.resolve_conj(z) is z


def test_conjugate_transpose(value: Value) -> None:
    """H and mH conjugate and transpose."""
    z = leaf(np.array([[1 + 2j, 3.0]]))
    assert value(make.H(z)) == [[1 - 2j], [3.0]]
    assert value(make.mH(z)) == value(make.H(z))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.imag(leaf(1.0)), "imag is not implemented for tensors with non-complex dtypes."),
        (lambda: make.view_as_real(leaf(1.0)), "view_as_real is only supported for complex tensors"),
        (lambda: make.view_as_complex(leaf(np.ones(3))), "Tensor must have a last dimension of size 2"),
        (
            lambda: make.complex(leaf(np.complex128(1j)), 1.0),
            "Expected both inputs to be Half, Float or Double tensors but got complex128 and float64",
        ),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """A real tensor where a complex one is wanted, and the reverse, is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message
