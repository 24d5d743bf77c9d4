"""Elementary functions: tails to the third order, edges of domains, complex numbers, dtypes."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Op, leaf, make
from agrad.engine.run.cpu import evaluate

inf, nan = math.inf, math.nan

TAILS = [
    # op, point, then the value and the derivatives of orders 1 to 3, from mpmath with 250 digits
    ("tanh", 21.0, [1.0, 2.299808905717424e-18, -4.599617811434848e-18, 9.199235622869696e-18]),
    ("tanh", -6.5, [-0.9999954793514042, 9.04127675535057e-06, 1.8082471765831005e-05, 3.6164616553290086e-05]),
    ("tanh", 300.0, [1.0, 1.0601586212017243e-260, -2.1203172424034486e-260, 4.240634484806897e-260]),
    ("sigmoid", 40.0, [1.0, 4.248354255291589e-18, -4.248354255291589e-18, 4.248354255291589e-18]),
    ("sigmoid", -40.0, [4.248354255291589e-18, 4.248354255291589e-18, 4.248354255291589e-18, 4.248354255291589e-18]),
    ("sigmoid", -700.0, [9.85967654375977e-305, 9.85967654375977e-305, 9.85967654375977e-305, 9.85967654375977e-305]),
    ("expm1", -40.0, [-1.0, 4.248354255291589e-18, 4.248354255291589e-18, 4.248354255291589e-18]),
    ("expm1", 1e-09, [1.0000000005000001e-09, 1.000000001, 1.000000001, 1.000000001]),
    ("log1p", 1e-12, [9.999999999995e-13, 0.999999999999, -0.999999999998, 1.999999999994]),
    ("atan", 1000000.0, [1.5707953267948966, 9.99999999999e-13, -1.999999999996e-18, 5.99999999998e-24]),
    ("atan", 1e75, [1.5707963267948966, 1.0000000000000001e-150, -2.0000000000000005e-225, 6.000000000000002e-300]),
    ("asinh", 1000000.0, [14.50865773852447, 9.999999999995e-07, -9.999999999985e-13, 1.999999999994e-18]),
    ("asinh", 1e75, [173.38702915511337, 1.0000000000000001e-75, -1.0000000000000001e-150, 2.0000000000000005e-225]),
    ("asin", 0.9999999998835847, [1.570781068005834, 65536.00000190735, 281474976702464.0, 3.626777458808703e24]),
    ("asin", 1e-09, [1e-09, 1.0, 1e-09, 1.0]),
    ("acosh", 1.0000000001164153, [1.525878906235197e-05, 65535.99999809265, -281474976718848.0, 3.626777458879072e24]),
    ("acosh", 1e75, [173.38702915511337, 1.0000000000000001e-75, -1.0000000000000001e-150, 2.0000000000000005e-225]),
    ("atanh", 0.9999999998835847, [11.783502069489966, 4294967296.25, 3.6893488147419103e19, 6.338253001141147e29]),
    ("atanh", 1e-09, [1e-09, 1.0, 2e-09, 2.0]),
    ("rsqrt", 1e-60, [1e30, -5.0000000000000004e89, 7.5e149, -1.875e210]),
]


@pytest.mark.parametrize(("name", "x", "expected"), TAILS)
def test_tails(derivatives: Any, name: str, x: float, expected: list[float]) -> None:
    """Value and derivatives keep their digits where the textbook form cancels, overflows or underflows."""
    assert derivatives(TABLE[name], x, 3) == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    ("name", "points", "expected"),
    [
        ("abs", [0.0, -0.0, -2.0], [0.0, 0.0, -1.0]),
        ("sign", [-2.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        ("sgn", [-2.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        ("sqrt", [0.0, -1.0], [inf, nan]),
        ("rsqrt", [0.0, -1.0], [-inf, nan]),
        ("reciprocal", [0.0], [-inf]),
        ("log", [0.0, -1.0], [inf, -1.0]),
        ("log1p", [-1.0], [inf]),
        ("asin", [-1.0, 1.0, 1.5], [inf, inf, nan]),
        ("acos", [-1.0, 1.0, -1.5], [-inf, -inf, nan]),
        ("acosh", [1.0, 0.5, -2.0], [inf, nan, nan]),
        ("atanh", [-1.0, 1.0], [inf, inf]),
        ("tan", [math.pi / 2], [2.667093788113571e32]),
        ("sigmoid", [-800.0, 800.0, nan], [0.0, 0.0, nan]),
        ("deg2rad", [90.0], [math.pi / 180]),
    ],
)
def test_edges(slopes: Any, name: str, points: list[float], expected: list[float]) -> None:
    """At a kink the convention holds; at the edge of a domain the derivative is infinite, outside of it nan."""
    assert slopes(TABLE[name], points)[0] == pytest.approx(expected, rel=1e-15, abs=0.0, nan_ok=True)


def test_zero_stops(slopes: Any) -> None:
    """Zero means stop: the square passes exactly 0, and the infinite slope of sqrt behind it does no harm."""
    assert slopes(lambda x: make.square(make.sqrt(make.abs(x))), 0.0) == [0.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda z: make.abs(z), 0.6 + 0.8j),
        (lambda z: make.real(make.sgn(z)), 0.128 - 0.096j),
        (lambda z: make.real(make.square(z)), 6 - 8j),
        (lambda z: make.real(make.exp(z)), complex(np.conj(np.exp(3 + 4j)))),
        (lambda z: make.real(make.sigmoid(z)), complex(np.conj(np.exp(-3 - 4j) / (1 + np.exp(-3 - 4j)) ** 2))),
        (lambda z: make.real(make.atan(z)), complex(np.conj(1 / (1 + (3 + 4j) ** 2)))),
        (lambda z: make.real(make.asinh(z)), complex(np.conj(1 / np.sqrt(1 + (3 + 4j) ** 2)))),
    ],
)
def test_complex(function: Any, expected: complex) -> None:
    """The gradient with respect to a complex number follows PyTorch's conjugate convention."""
    z = leaf(np.complex128(3 + 4j), requires_grad=True)
    grad = gradients([function(z)], [leaf(np.float64(1.0))])[z]
    assert evaluate([grad])[grad] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["abs", "sgn"])
def test_complex_zero(name: str) -> None:
    """At the complex 0 the magnitude and the direction have gradient 0, as in PyTorch."""
    z = leaf(np.complex128(0), requires_grad=True)
    grad = gradients([make.real(getattr(make, name)(z))], [leaf(np.float64(1.0))])[z]
    assert evaluate([grad])[grad] == 0


def test_complex_direction_next_to_zero() -> None:
    """The direction of the least numbers is right, and so is the slope of their magnitude."""
    z = leaf(np.complex128(5e-324 - 5e-324j), requires_grad=True)
    grad = gradients([make.abs(z)], [leaf(np.float64(1.0))])[z]
    assert evaluate([grad])[grad] == pytest.approx(math.sqrt(0.5) * (1 - 1j), rel=1e-15)


ROWS = sorted(
    {op for op in TABLE.values() if op.slopes is not None and len(op.slopes) == 1 and op.family != "cotangent"},
    key=lambda op: op.name,
)
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "clamp": {"min": 0.2, "max": 0.7},
    "clamp_min": {"min": 0.2},
    "clamp_max": {"max": 0.7},
    "mvlgamma": {"p": 1},
    "polygamma": {"n": 1},
    "round.decimals": {"decimals": 1},
    "threshold": {"threshold": 0.2, "value": 0.5},
    "to": {"dtype": np.dtype(np.float32)},
}


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS if op.name != "double"])
def test_single_precision(op: Op) -> None:
    """A float32 argument gives a float32 value and gradient, without and with axes."""
    for value in (np.float32(0.6), np.full(3, 0.6, np.float32)):
        x = leaf(value, requires_grad=True)
        y = op(input=x, **ATTRIBUTES.get(op.name, {}))
        nodes = [y]
        if y.requires_grad:
            nodes.append(gradients([y], [leaf(np.ones(y.shape, np.float32)[()])])[x])
        for result in evaluate(nodes).values():
            assert result.dtype == np.float32
            assert result.shape == value.shape


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array([True, False]), np.True_, 2, True])
def test_integers_and_booleans(value: Any, value_of_dtype: Any) -> None:
    """Integers and booleans become float64 in a function, and stay what they are under a sign."""
    assert value_of_dtype(make.exp(leaf(value))) == np.float64
    assert value_of_dtype(make.sigmoid(leaf(value))) == np.float64
    assert value_of_dtype(make.sign(leaf(value))).kind in "ib"


@pytest.fixture
def value_of_dtype() -> Any:
    """Gives the dtype of a node's value, once it is found to be the inferred one."""

    def dtype_of(node: Any) -> np.dtype[Any]:
        result = np.asarray(evaluate([node])[node])
        assert (result.shape, result.dtype) == (node.shape, node.dtype)
        return result.dtype

    return dtype_of


@given(st.floats(-700, 700))
def test_sigmoid_is_complementary(derivatives: Any, x: float) -> None:
    """sigmoid(x) + sigmoid(-x) is 1, and its derivative is their product, in both tails."""
    value, slope = derivatives(make.sigmoid, x, 1)
    other = derivatives(make.sigmoid, -x, 0)[0]
    assert value + other == pytest.approx(1.0, rel=1e-15)
    assert slope == pytest.approx(value * other, rel=1e-15, abs=0.0)


@given(st.floats(-340, 340))
def test_tanh_never_goes_flat(derivatives: Any, x: float) -> None:
    """The derivative of tanh is never a wrong zero: it is cosh(x)**-2."""
    assert derivatives(make.tanh, x, 1)[1] == pytest.approx(math.cosh(x) ** -2, rel=1e-13, abs=0.0)


INVERSE: Final = {"asin": np.arcsin, "acos": np.arccos, "acosh": np.arccosh, "asinh": np.arcsinh}


def gradient_at(name: str, z: complex) -> complex:
    """The gradient of the real part of a function."""
    node = leaf(np.complex128(z), requires_grad=True)
    output = make.real(TABLE[name](node))
    found = gradients([output], [leaf(np.float64(1.0))])
    with np.errstate(all="ignore"):
        return complex(evaluate([found[node]])[found[node]])


@pytest.mark.parametrize("name", list(INVERSE))
@pytest.mark.parametrize("z", [2 + 0j, complex(2, -0.0), -2 + 0j, complex(-2, -0.0), 2j, complex(-0.0, 2), -2j, 0.5j])
def test_inverse_functions_on_their_cuts(name: str, z: complex) -> None:
    """Along a branch cut the slope is that of the side which the signs of zeros choose, as the value is."""
    function = INVERSE[name]
    sizes = [(abs(z.real) + step * bool(z.real), abs(z.imag) + step * bool(z.imag)) for step in (-1e-6, 1e-6)]
    low, high = (np.complex128(complex(np.copysign(x, z.real), np.copysign(y, z.imag))) for x, y in sizes)
    slope = (function(high) - function(low)) / (high - low)
    assert gradient_at(name, z) == pytest.approx(complex(np.conj(slope)), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", list(INVERSE))
def test_inverse_functions_far_out(name: str) -> None:
    """No square overflows: the slope is 1/z up to a unit."""
    assert abs(gradient_at(name, complex(3e200, 4e200))) == pytest.approx(2e-201, rel=1e-14)


def test_tangents_far_out() -> None:
    """Where a complex tangent is nearly i its slope is an exponential, and it ends at zero without NaN."""
    assert gradient_at("tan", 0.3 + 20j) == pytest.approx(complex(np.conj(1 / np.cos(0.3 + 20j) ** 2)), rel=1e-12)
    assert gradient_at("tanh", -20 + 0.3j) == pytest.approx(complex(np.conj(1 / np.cosh(-20 + 0.3j) ** 2)), rel=1e-12)
    assert gradient_at("tan", 0.3 + 800j) == gradient_at("tanh", 800 + 0.3j) == 0
    near = np.pi / 2 - 1e-8
    assert gradient_at("tan", complex(near, 0.0)) == pytest.approx(1 / np.cos(near) ** 2, rel=1e-13)
