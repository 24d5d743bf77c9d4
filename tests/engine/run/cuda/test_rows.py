"""The C text of the table: on the host it gives what the kernels give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import mpmath
import numpy as np
import pytest

from agrad.engine.run.cuda import special
from agrad.engine.run.cuda.text import literal

from .host import MISSING, HostModule
from .rows import COMPLEX, ROWS, RowKernel, arguments, row_kernels, text_of_rows

Array = np.ndarray[Any, Any]

EXACT: Final = frozenset((
    "abs", "add", "addcdiv", "addcmul", "angle", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil",
    "clamp", "clamp.Tensor", "clamp_max", "clamp_max.Tensor", "clamp_min", "clamp_min.Tensor", "clone", "copysign",
    "deg2rad", "detach", "div", "div_floor", "div_trunc", "eq", "floor", "floor_divide", "flow", "fmax", "fmin", "fmod",
    "frac", "ge", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "isclose", "isfinite",
    "isinf", "isnan", "isneginf", "isposinf", "le", "leaky_relu", "lerp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "maximum", "meet", "minimum", "mul", "nan_to_num", "ne", "neg", "one_minus_square", "prelu",
    "rad2deg", "reciprocal", "relu", "remainder", "round", "round.decimals", "rsqrt", "same_value", "sgn", "sign",
    "signbit", "softshrink", "softsign", "spread", "sqrt", "square", "sub", "threshold", "to", "trunc", "where",
))  # fmt: skip
"""Rows of operations that C and NumPy round alike."""
ULPS: Final = {
    "bessel_i": 32, "bessel_ie_derivative": 16, "binary_cross_entropy.element": 16, "digamma": 16,
    "erfcx_derivative": 8, "gamma": 8, "gelu.tanh": 8, "i0e": 16, "i1e": 16, "log_ndtr": 16, "sech_squared": 8,
    "sinc_derivative": 32, "tanhshrink": 8,
}  # fmt: skip
"""How many units in the last place the others may be away, where it is not 4."""
IN_DOUBLE: Final = frozenset((
    "bessel_i", "bessel_ie_derivative", "digamma", "erfcx_derivative", "i0e", "i1e", "mvlgamma", "polygamma",
    "round.decimals", "sinc_derivative", "tanhshrink",
))  # fmt: skip
"""Rows whose C text computes in double: of floats they are held to the float64 kernel, which is closer to the truth."""
SIGN_OF_ZERO: Final = frozenset((
    "clamp", "clamp.Tensor", "clamp_max", "clamp_max.Tensor", "clamp_min", "clamp_min.Tensor", "fmax", "fmin",
    "hardtanh", "logsigmoid", "maximum", "minimum",
))  # fmt: skip
"""Rows where NumPy's own choice between 0.0 and -0.0 depends on the machine, or is nobody's."""


def _tail(x: Array, value: Array) -> Array:
    """exp(-x**2/2) amplifies the rounding of its argument by x**2."""
    return value * (1 + x * x)


def _at_least_one(_x: Array, value: Array) -> Array:
    """The function has zeros between its poles: near them its rounding errors are those of ordinary values."""
    return np.maximum(np.abs(value), 1.0)


SIZE: Final[Mapping[str, Callable[[Array, Array], Array]]] = {
    "erfc": _tail,
    "ndtr": _tail,
    "gelu": _tail,
    "log_ndtr": _tail,
    "gelu.tanh": lambda x, value: value * (1 + np.abs(x) * (1.6 + 0.08 * x * x)),
    "digamma": _at_least_one,
    "lgamma": _at_least_one,
    "mvlgamma": _at_least_one,
    "logaddexp": _at_least_one,
    "logaddexp2": _at_least_one,
    "tanhshrink": lambda x, value: np.where(np.abs(x) < 0.1, value, x),
}
"""What a unit in the last place is taken of, where it is not the value."""


@pytest.fixture(scope="module")
def module() -> HostModule:
    """All rows, compiled for the host."""
    if MISSING:
        pytest.skip(MISSING)
    return HostModule([text_of_rows()])


def _expected(kernel: RowKernel, values: list[Array]) -> Array:
    if kernel.op.name in IN_DOUBLE:
        values = [value.astype(np.float64) if value.dtype == np.float32 else value for value in values]
    assert kernel.op.kernel is not None
    with np.errstate(all="ignore"):
        return np.asarray(kernel.op.kernel(np, *values, **kernel.attrs)).astype(kernel.dtype)


def _ulps(found: Array, expected: Array, size: Array) -> Array:
    """How far two arrays are apart, in units of the last place of a size; subnormal numbers are equal."""
    info = np.finfo(expected.dtype)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(size).astype(expected.dtype), info.tiny))
        apart = np.abs(found - expected) / unit
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    vanishing = (np.abs(found) < info.tiny) & (np.abs(expected) < info.tiny)
    return np.where(same | vanishing, 0.0, np.where(np.isfinite(apart), apart, np.inf))


@pytest.mark.parametrize("kernel", [pytest.param(kernel, id=kernel.name) for kernel in row_kernels()])
def test_c_text_gives_the_kernels_values(kernel: RowKernel, module: HostModule) -> None:
    """At special points, in the tails and elsewhere, within the bound of the row; what C rounds alike is equal."""
    values = arguments(kernel.dtypes)
    found = np.full(values[0].shape, 77, kernel.dtype)
    module.launch(kernel.name, (2,), (32,), [*values, found, np.int64(found.size)])
    expected = _expected(kernel, values)
    if kernel.dtype.kind != "f":
        assert np.array_equal(found, expected)
        return
    if kernel.op.name in EXACT:
        wrong = ~((found == expected) | (np.isnan(found) & np.isnan(expected)))
        assert not wrong.any(), [(value[wrong][0]) for value in (*values, found, expected)]
        if kernel.op.name not in SIGN_OF_ZERO:
            assert np.array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))
        return
    with np.errstate(all="ignore"):
        size = SIZE[kernel.op.name](values[0], expected) if kernel.op.name in SIZE else expected
        if kernel.op.name == "bessel_ie_derivative" and kernel.attrs["degree"]:
            # It is the sum of two of degree 0, of opposite signs.
            first = _expected(kernel._replace(attrs=dict(kernel.attrs) | {"degree": 0}), values)
            size = np.maximum(np.abs(first), np.abs(expected))
        if kernel.op.name == "sinc_derivative":
            size = np.maximum(np.abs(expected), np.pi ** kernel.attrs["order"] / (kernel.attrs["order"] + 1))
    apart = _ulps(found, expected, np.asarray(size))
    worst = int(np.argmax(apart))
    assert apart[worst] <= ULPS.get(kernel.op.name, 4), [value[worst] for value in (*values, found, expected)]


def test_every_elementwise_row_has_c_text() -> None:
    """All rows but those of complex numbers have a kernel here, and so each is held to its own."""
    assert {kernel.op.name for kernel in row_kernels()} == {op.name for op in ROWS} - COMPLEX
    assert all(op.c is not None for op in ROWS)


def test_a_planted_wrong_constant_is_caught() -> None:
    """A wrong digit in a C text is beyond every bound."""
    if MISSING:
        pytest.skip(MISSING)
    kernel = next(kernel for kernel in row_kernels() if kernel.name.startswith("row_gelu_tanh") and "64" in kernel.name)
    planted = kernel._replace(text=kernel.text.replace("0.07135481627260025", "0.071354816273"))
    assert planted.text != kernel.text
    with pytest.raises(AssertionError):
        test_c_text_gives_the_kernels_values(planted, HostModule([planted.text]))


def test_the_coefficients_of_digamma_are_right() -> None:
    """Each is the float64 next to the number it stands for."""
    with mpmath.workdps(50):
        for parts, series, near in (
            (special.DIGAMMA_ROOT, special.DIGAMMA_AT_ROOT, 1.46),
            (special.DIGAMMA_LEFT_ROOT, special.DIGAMMA_AT_LEFT_ROOT, -0.504),
        ):
            root = mpmath.findroot(mpmath.digamma, near)
            assert parts == (float(root), float(root - float(root)))
            assert series == tuple(float((-1) ** (n + 1) * mpmath.zeta(n + 1, root)) for n in range(1, len(series) + 1))


def test_functions_stand_in_front_once() -> None:
    """Only the functions that a text calls are put in front of it, each of them once."""
    assert special.functions_for("exp(x) + lgamma(y)") == ""
    text = special.functions_for("bessel_i(x, 2) + i0e(x) + i1e(x)")
    assert text.count("double bessel_ie(int") == text.count("double bessel_i(double") == 1


def test_a_number_has_its_value_in_its_dtype() -> None:
    """Signs, infinities and NaN are written as C has them, and a float32 with the digits that it has."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    assert literal(0.1, single) == "0.10000000149011612f"
    assert literal(-0.0, double) == "(-0.0)"
    assert literal(float("-inf"), single) == "(-(float) INFINITY)"
    assert literal(1e300, single) == "((float) INFINITY)"
    assert literal(float("nan"), double) == "((double) NAN)"
    assert literal(3, np.dtype(np.int64)) == "3"
    assert literal(-(2**63), np.dtype(np.int64)) == "(-9223372036854775807LL - 1)"
