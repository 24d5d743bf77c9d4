"""Special functions: tails to the third order, poles, the points where a closed form is 0/0."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, as_node, leaf, make

inf, nan = math.inf, math.nan

TAILS = [
    # op, point, then the value and the derivatives of orders 1 to 3, from mpmath with 250 digits
    ("erf", 6.0, [1.0, 2.617301239249265e-16, -3.1407614870991178e-15, 3.716567759733956e-14]),
    ("erf", 1e-09, [1.1283791670955127e-09, 1.1283791670955126, -2.2567583341910253e-09, -2.256758334191025]),
    (
        "erfc",
        25.0,
        [8.300172571196523e-274, -4.1534010636398965e-272, 2.0767005318199483e-270, -1.0375195856972462e-268],
    ),
    ("erfcx", -2.0, [108.94090438997797, -436.8919967270074, 1965.4497956879854, -9609.367169659972]),
    ("erfcx", 1.999, [0.2555025145905779, -0.10688011376238205, 0.08369833435915235, -0.0928945142816371]),
    ("erfcx", 2.001, [0.2552889216359497, -0.10671290270844205, 0.08351280663271429, -0.09263335868964563]),
    ("erfcx", 30.0, [0.01879588886141675, -0.0006258354105074841, 4.165309238445888e-05, -4.156098962403721e-06]),
    (
        "erfcx",
        10000.0,
        [5.641895807268084e-05, -5.641895750849127e-09, 1.1283791332441388e-12, -3.3851373320296714e-16],
    ),
    (
        "erfinv",
        0.9999999999999991,
        [5.686128441310391, 97539097489305.25, 1.0819423657911088e29, 2.4188262881973398e44],
    ),
    ("erfinv", 1e-09, [8.86226925452758e-10, 0.886226925452758, 1.392081999207927e-09, 1.392081999207927]),
    ("ndtr", -30.0, [4.906713927148187e-198, 1.4736461348785476e-196, 4.420938404635642e-195, 1.3248078752558141e-193]),
    ("ndtri", 1e-100, [-21.273453560965326, 4.690375414837741e98, -4.6800792702224667e198, 9.349930103069341e298]),
    ("log_ndtr", -40.0, [-804.6084420137538, 40.02496884720726, -0.9993773316214086, 3.101744039648625e-05]),
    ("log_ndtr", -1.0, [-1.8410216450092636, 1.525135276160981, -0.8009023344296512, 0.11693119540604884]),
    ("log_ndtr", 13.0, [-6.11716439954988e-39, 7.998827757006812e-38, -1.0398476084108856e-36, 1.3438030631771444e-35]),
    (
        "lgamma",
        1.0000000074505806,
        [-4.3005917874997554e-09, -0.5772156526458191, 1.644934048936183, -2.4041137579355705],
    ),
    ("lgamma", -2.5, [-0.056243716497674054, 1.103156640645243, 9.539246644989124, -0.1082040516417274]),
    ("digamma", -7.5, [2.08009081757942, 9.744766282170433, -0.015564511795903924, 194.8143059276446]),
    ("sinc", 0.0, [1.0, 0.0, -3.289868133696453, 0.0]),
    ("sinc", 1e-07, [0.9999999999999836, -3.28986813369642e-07, -3.2898681336963556, 1.948181820680026e-06]),
    ("sinc", 0.001, [0.999998355066745, -0.0032898648867278964, -3.289858392793072, 0.01948179531659038]),
    ("sinc", 0.64, [0.4500240563851148, -1.3684427311721679, -0.16517587258158992, 7.340313730731438]),
    ("sinc", 2.5, [0.12732395447351627, -0.05092958178940651, -1.215893396004392, 1.4590720752052706]),
    (
        "sinc",
        1.0000000001164153,
        [-1.1641532181338229e-10, -0.9999999997671694, 2.0000000004504814, 3.8696043992874336],
    ),
    ("logit", 0.5000000009313226, [3.725290298461914e-09, 4.0, 2.9802322387695312e-08, 32.0]),
    ("logit", 1e-12, [-27.63102111592755, 1000000000001.0, -1e24, 2e36]),
    ("i0", 0.0, [1.0, 0.0, 0.5, 0.0]),
    ("i0", 300.0, [4.475847367935052e128, 4.468381385036955e128, 4.4609527633182624e128, 4.453561191174616e128]),
    ("i1", 0.0, [0.0, 0.5, 0.0, 0.375]),
    ("i1", 300.0, [4.468381385036955e128, 4.4609527633182624e128, 4.453561191174616e128, 4.446206360640096e128]),
    ("i0e", 10000.0, [0.003989472674604732, -1.9947862106984187e-07, 2.992254131753587e-11, -7.480822382680316e-15]),
    ("i0e", -10000.0, [0.003989472674604732, 1.9947862106984187e-07, 2.992254131753587e-11, 7.480822382680316e-15]),
    ("i1e", 10000.0, [0.003989273195983662, -1.9944869852852436e-07, 2.991506049515319e-11, -7.478204029372813e-15]),
    ("i1e", -3.0, [-0.19682671329730086, -0.01943526356790907, -0.0016096787034987584, 0.00569343502520764]),
]


@pytest.mark.parametrize(("name", "x", "expected"), TAILS)
def test_tails(derivatives: Any, name: str, x: float, expected: list[float]) -> None:
    """Value and derivatives keep their digits in the tails, at 0 and across the borders of their methods."""
    assert derivatives(TABLE[name], x, 3) == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("erfc", 26.6, 1.0885125885443089e-309),
        ("erfc", 27.0, 5.237048923789255e-319),
        ("erfc", 28.0, 0.0),
        ("ndtr", -38.0, 2.885428360068781e-316),
        ("ndtr", -40.0, 0.0),
        ("log_ndtr", 38.0, -2.885428360068784e-316),
        ("gelu", -38.0, -1.0964627768261379e-314),
        ("i0", 710.0, 3.3453345586196545e306),
        ("i0", -713.0, 6.7051282636709985e307),
        ("i0", 714.0, inf),
        ("i0", -inf, inf),
        ("i1", -inf, -inf),
        ("i1", 712.0, 2.4666770135246152e307),
        ("i1", -712.0, -2.4666770135246152e307),
    ],
)
def test_the_least_and_the_largest_values(value: Any, name: str, x: float, expected: float) -> None:
    """Values are there as long as the dtype holds them, though scipy.special gives 0 or infinity before that."""
    assert value(TABLE[name](x)) == pytest.approx(expected, rel=1e-13, abs=2e-322)


@pytest.mark.parametrize(
    ("name", "points", "values", "expected"),
    [
        ("lgamma", [0.0, -1.0, -inf], [inf, inf, inf], [-inf, nan, nan]),
        ("digamma", [0.0], [-inf], [inf]),
        ("erfinv", [-1.0, 1.0], [-inf, inf], [inf, inf]),
        ("ndtri", [0.0, 1.0], [-inf, inf], [inf, inf]),
        ("logit", [0.0, 1.0, -0.1, 1.1], [-inf, inf, nan, nan], [inf, inf, nan, nan]),
        ("entr", [0.0, -1.0], [0.0, -inf], [inf, nan]),
        ("i0e", [0.0], [1.0], [0.0]),
        ("i1e", [0.0], [0.0], [0.5]),
        ("log_ndtr", [inf], [0.0], [0.0]),
    ],
)
def test_edges(
    slopes: Any, value: Any, name: str, points: list[float], values: list[float], expected: list[float]
) -> None:
    """At poles and ends of a domain value and derivative are PyTorch's."""
    assert value(TABLE[name](as_node(np.array(points)))) == pytest.approx(values, nan_ok=True)
    assert slopes(TABLE[name], points)[0] == pytest.approx(expected, nan_ok=True)


def test_logit_with_eps(slopes: Any) -> None:
    """With eps the derivative is 0 outside of [eps, 1 - eps], and that of the bound at the bounds."""
    found = slopes(lambda x: make.logit(x, eps=0.1), [0.05, 0.1, 0.5, 0.9, 0.95])[0]
    assert found == pytest.approx([0.0, 11.11111111111111, 4.0, 11.11111111111111, 0.0], rel=1e-14)


def test_third_derivative_beyond_the_density(derivatives: Any) -> None:
    """Where the density underflows, the derivatives of log_ndtr are 0 and not nan, though erfcx overflows there."""
    assert derivatives(make.log_ndtr, 700.0, 3) == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@given(x=st.floats(-5, 5))
def test_sinc_everywhere(derivatives: Any, order: int, x: float) -> None:
    """Every derivative of sinc agrees with the sum of its series, next to 0 and where the methods change."""
    with mpmath.workdps(60):
        t = mpmath.pi * mpmath.mpf(x)
        term = lambda k: (-1) ** int(k) * t ** (2 * int(k) - order) / ((2 * k + 1) * mpmath.factorial(2 * k - order))
        expected = mpmath.pi**order * mpmath.fsum(term(k) for k in range((order + 1) // 2, 60))
    assert derivatives(make.sinc, x, order)[order] == pytest.approx(
        float(expected), rel=1e-12, abs=1e-13 * math.pi**order
    )


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@given(x=st.floats(-5, 50))
def test_erfcx_everywhere(derivatives: Any, order: int, x: float) -> None:
    """Every derivative of erfcx is (-2)**n times an integral of positive terms, and keeps all of its digits."""
    with mpmath.workdps(60):
        z = mpmath.mpf(x)
        before, value = 2 / mpmath.sqrt(mpmath.pi), mpmath.exp(z * z) * mpmath.erfc(z)
        for n in range(1, order + 1):
            before, value = value, (before - 2 * z * value) / (2 * n)
        expected = float(value * (-2) ** order * mpmath.factorial(order))
    assert derivatives(make.erfcx, x, order)[order] == pytest.approx(expected, rel=1e-12, abs=0.0)


@given(st.floats(-20, 20).filter(lambda x: abs(x - round(x)) > 1e-3))
def test_derivatives_of_lgamma(derivatives: Any, x: float) -> None:
    """lgamma, digamma, polygamma: a chain that holds between the poles too."""
    with mpmath.workdps(40):
        expected = [float(mpmath.polygamma(n, x)) for n in range(4)]
    found = derivatives(make.digamma, x, 3)
    for mine, right in zip(found[1:], expected[1:], strict=True):
        assert mine == pytest.approx(right, rel=1e-12, abs=1e-11)
    assert derivatives(make.lgamma, x, 1)[1] == pytest.approx(expected[0], rel=1e-11, abs=1e-13)


def test_calling_forms_of_polygamma(value: Any) -> None:
    """polygamma takes the order first as a function, and second as a method; order 0 is digamma."""
    x = as_node(1.5)
    assert value(make.polygamma(2, x)) == value(make.polygamma(x, 2)) == pytest.approx(-0.8287966442343199, rel=1e-14)
    assert make.polygamma(0, x).op is TABLE["digamma"]


@pytest.mark.parametrize(
    ("name", "arguments"), [("polygamma", (-1, 1.5)), ("polygamma", (1.5, 1.5)), ("mvlgamma", (1.5, 0))]
)
def test_bad_parameters(name: str, arguments: tuple[Any, ...]) -> None:
    """An order or dimension that makes no sense is refused."""
    with pytest.raises(InputError):
        TABLE[name](*arguments)


def test_mvlgamma(derivatives: Any) -> None:
    """The multivariate gamma function is a sum of lgammas, half a unit apart."""
    expected = [
        math.log(math.pi) * 1.5 + sum(math.lgamma(2.5 - j / 2) for j in range(3)),
        *(float(sum(mpmath.polygamma(n, 2.5 - j / 2) for j in range(3))) for n in range(2)),
    ]
    assert derivatives(lambda x: make.mvlgamma(x, 3), 2.5, 2) == pytest.approx(expected, rel=1e-14)


def test_gamma(derivatives: Any) -> None:
    """math.gamma is there with its derivatives, on the negative side too."""
    expected = [float(mpmath.diff(mpmath.gamma, -2.5, n)) for n in range(3)]
    assert derivatives(make.gamma, -2.5, 2) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        # value, then derivatives, from mpmath with 60 digits: next to a pole, next to 0 and far out
        ("digamma", -0.9999999999999999, [-9007199254740992.0, 8.112963841460668e31]),
        ("digamma", -3.00000001, [100000001.86386473, 1.0000000121549424e16]),
        ("digamma", -100.00000000000001, [70368744177668.61]),
        ("lgamma", -0.9999999999999999, [36.7368005696771, -9007199254740992.0, 8.112963841460668e31]),
        ("lgamma", 5e-324, [744.4400719213812, -inf]),
        ("i1", 1e-310, [5e-311, 0.5, 3.75e-311]),
        ("i0e", 1e20, [3.989422804014327e-11, -1.9947114020071634e-31, 2.992067103010745e-51, -7.480167757526862e-71]),
        ("i1e", 1e20, [3.989422804014327e-11, -1.9947114020071634e-31, 2.992067103010745e-51, -7.480167757526862e-71]),
        ("i0e", inf, [0.0, 0.0, 0.0]),
        ("i1e", -inf, [0.0, 0.0, 0.0]),
        ("erfcx", inf, [0.0, 0.0, 0.0]),
        ("log10", 1.7976931348623157e308, [308.25471555991675, 2.415843246442137e-309]),
    ],
)
def test_next_to_poles_and_far_out(derivatives: Any, name: str, x: float, expected: list[float]) -> None:
    """Where the library's function is infinite, NaN or has lost its digits, value and derivatives are right."""
    assert derivatives(TABLE[name], x, len(expected) - 1) == pytest.approx(expected, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    ("x", "order", "expected"),
    [
        (-1500.3, 1, 15.078747391529484),
        (-2000.75, 2, -124.02510697088706),
        (-99999.7, 3, 769.02091430513387),
        (-1e19, 1, inf),
    ],
)
def test_polygamma_far_below_zero(value: Any, x: float, order: int, expected: float) -> None:
    """Between poles far down the value is there at once, however many whole numbers lie above."""
    assert value(make.polygamma(order, leaf(x))) == pytest.approx(expected, rel=1e-11)
