"""The closer look at graphs with complex numbers on the way, and at complex entries."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import pytest

from agrad.engine.doctor.kinks import choices
from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import build
from agrad.engine.referees import Case, check

EXACT: Final = 1e-13
INF: Final = math.inf
PLANE: Final = "x = 0.0; y = 0.0; c = torch.complex(x, y); z = "


def run(text: str, cotangent: object = None) -> Evaluation:
    """A text evaluated, statements parted by semicolons."""
    read = build(Source(text.replace("; ", "\n")))
    outputs = chosen_outputs(read, [])
    weights = [Weight(None, cotangent)] if next(iter(outputs.values())).shape else []
    return evaluate(read, outputs, weights)


class Point(NamedTuple):
    """A text and its true gradient."""

    text: str
    gradient: dict[str, object]


POINTS: Final = (
    Point(PLANE + "(torch.sqrt(c)**2).real", {"x": 1.0, "y": 0.0}),
    Point(PLANE + "(torch.sgn(c)*c.abs()).imag", {"x": 0.0, "y": 1.0}),
    Point(PLANE + "torch.where(c.abs() == 0, 1.0, torch.sin(c.abs())/c.abs()) + x", {"x": 1.0, "y": 0.0}),
    Point(PLANE + "c.abs()**2 + y", {"x": 0.0, "y": 1.0}),
    Point("x = 1.0; y = 0.0; z = (torch.acos(torch.complex(x, y))**2).real", {"x": -2.0, "y": 0.0}),
    Point("x = 2.0; y = 0.0; z = (torch.complex(y, y)**x).real", {"x": 0.0, "y": 0.0}),
    Point("x = 0.0; y = 0.0; z = (y**torch.complex(x + 2.0, x)).real", {"x": 0.0, "y": 0.0}),
    Point("x = 0.0; y = 1.0; z = torch.complex(torch.sqrt(x), y).abs()", {"x": 0.5, "y": 1.0}),
    Point("x = [0.0, 1.0, 4.0]; f = torch.fft.fft(sqrt(x)); z = torch.fft.ifft(f*f).real[0]", {"x": [1.0, 2.0, 0.5]}),
    Point("x = 800.0; y = 0.0; z = log(torch.exp(torch.complex(x, y)).abs())", {"x": 1.0, "y": 0.0}),
    Point("x = 800.0; y = 1.0; e = torch.exp(torch.complex(x, y)); z = (e/e).real + x", {"x": 1.0, "y": 0.0}),
    Point(
        "x = 1e200; y = 1e200; c = torch.complex(x, y); z = sqrt((c*torch.conj(c)).real)",
        {"x": math.sqrt(0.5), "y": math.sqrt(0.5)},
    ),
    Point(PLANE + "(c**c).real", {"x": -INF}),
    Point(PLANE + "xlogy(c.real, c.abs())", {"x": -INF, "y": 0.0}),
    # Complex leaves: the derivative by the real part plus i times that by the imaginary part.
    Point("c = tensor(0.0+0.0j); z = (torch.sqrt(c)**2).imag", {"c": 1j}),
    Point("c = tensor(0.0+0.0j); z = (torch.sgn(c)*c.abs()).real", {"c": 1.0}),
    Point("c = tensor(1.0+0.0j); z = (torch.acos(c)**2).real", {"c": -2.0}),
    Point("c = tensor(800.0+1.0j); z = log(torch.exp(c).abs())", {"c": 1.0}),
    Point("c = tensor(0.0+0.0j); w = tensor(2.0+0.0j); z = (c**w).imag", {"c": 0.0, "w": 0.0}),
)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.text)
def test_a_number_that_the_chain_rule_has_not(point: Point) -> None:
    """The derivative of the whole function is given, and mpmath does not object to it."""
    found = run(point.text)
    for name, gradient in point.gradient.items():
        np.testing.assert_allclose(found.gradient(name), gradient, rtol=EXACT, atol=0)
    gradients = {name: found.gradient(name) for name in found.wrt}
    judged = check(Case(list(found.outputs.values()), found.cotangents, found.wrt, gradients))
    assert judged.verdict in ("agree", "kink")


def test_a_zero_that_rounding_hides_behind_nan() -> None:
    """Where a difference of equal numbers meets an infinite slope, nothing moves."""
    text = (
        "x = [0.6792, 0.3821, -2.35]; y = -2.444; a = torch.fmod(torch.complex(x, y).abs(), y); "
        "z = torch.special.entr(a - a)"
    )
    found = run(text, [0.5, -2.0, -2.0])
    np.testing.assert_array_equal(found.gradient("x"), 0.0)
    np.testing.assert_array_equal(found.gradient("y"), 0.0)


class Bend(NamedTuple):
    """A text, and of each kink the entry, both slopes and the number that is given."""

    text: str
    kinks: list[tuple[str, float, float, float]]


BENDS: Final = (
    Bend(PLANE + "c.abs()", [("x", -1.0, 1.0, 0.0), ("y", -1.0, 1.0, 0.0)]),
    Bend(PLANE + "torch.sqrt(c).real", [("x", 0.0, INF, 0.0), ("y", -INF, INF, 0.0)]),
    Bend("x = [1.0, 1.0]; z = torch.fft.rfft(x).abs()[1]", [("x[0]", -1.0, 1.0, 0.0), ("x[1]", -1.0, 1.0, 0.0)]),
    Bend(
        "c = tensor([0j, 1+1j]); z = c.abs().sum()",
        [("c[0].real", -1.0, 1.0, 0.0), ("c[0].imag", -1.0, 1.0, 0.0)],
    ),
    Bend(
        "c = tensor(0.0+0.0j); z = (c**c).abs()",
        [("c.imag", math.pi / 2, -math.pi / 2, 0.0)],
    ),
)


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.text)
def test_kinks(bend: Bend) -> None:
    """Both slopes of each entry, and of each part of a complex one, are told."""
    found = run(bend.text)
    assert [kink.label for kink in found.kinks] == [entry for entry, *_ in bend.kinks]
    numbers = [(kink.left, kink.right, kink.shown) for kink in found.kinks]
    np.testing.assert_allclose(numbers, [numbers for _, *numbers in bend.kinks], rtol=EXACT)


def test_parts_are_told_apart() -> None:
    """What is said of a kink in the plane names the part."""
    text = "c = tensor(0.0+0.0j)\nz = c.abs()"
    read = build(Source(text))
    found = evaluate(read, chosen_outputs(read, []))
    assert [choice.entry for choice in choices(read, found)] == ["c.real", "c.imag"]


@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
@pytest.mark.parametrize(
    ("function", "x", "part"),
    [("sqrt", -4.0, "imag"), ("acos", 2.0, "imag"), ("acosh", 0.5, "imag"), ("asin", -3.0, "imag")],
)
def test_on_a_branch_cut_the_side_is_that_of_the_value(zero: str, function: str, x: float, part: str) -> None:
    """Along the cut the derivative is that of the branch that the sign of the zero chooses, at a kink of it as well."""
    text = f"x = {x}; y = {zero}; z = torch.{function}(torch.complex(x, y)).{part} + relu(x - ({x}))"
    found = run(text)
    z = np.array([complex(x - 1e-6, float(zero)), complex(x + 1e-6, float(zero))])
    low, high = getattr(
        {"sqrt": np.sqrt(z), "acos": np.arccos(z), "asin": np.arcsin(z), "acosh": np.arccosh(z)}[function], part
    )
    assert found.gradient("x") == pytest.approx((high - low) / 2e-6, rel=1e-6)
    assert {kink.label for kink in found.kinks} == {"x", "y"}
