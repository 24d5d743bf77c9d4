"""The referee of high precision: digits, kinks, edges of domains, tails, lost digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.referees import Case, precise
from agrad.engine.referees.case import Judgement
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]


def judged(case: Case, **options: Any) -> Judgement:
    """What the referee says within a usual budget."""
    return precise.judge(case, Budget(), **options)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("x**2 + y", {"x": 1.0, "y": 2.0}),
        ("sum(tanh(x @ w))", {"x": [[1.0, -2.0], [0.5, 3.0]], "w": [0.1, 0.2]}),
        ("exp(-x)", {"x": 700.0}),
        ("tanh(x)", {"x": 300.0}),
        ("sigmoid(x)", {"x": -700.0}),
        ("sin(x)", {"x": 1e22}),
        ("x * 1e-300", {"x": 1e-300}),
        ("log(x)", {"x": 1e-300}),
        ("where(x > 0, log(x), x)", {"x": -1.0}),
        ("(x**2 + y**2) / (x - y)", {"x": 1e150, "y": 3.0}),
    ],
)
def test_right_gradients_agree(make_case: MakeCase, text: str, inputs: dict[str, Any]) -> None:
    """Also far out in the tails, at tiny and at huge points."""
    judgement = judged(make_case(text, **inputs))
    assert (judgement.verdict, judgement.reason) == ("agree", None)
    assert judgement.digits is not None
    assert judgement.digits >= 14


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("x**3", {"x": 0.0}),
        ("cos(x)", {"x": 0.0}),
        ("abs(x)**1.5", {"x": 0.0}),
        ("(x - 1)**2", {"x": 1.0}),
        ("sum(x - mean(x))", {"x": [1.0, 2.0, 4.0]}),
        ("sum(softmax(x, 0))", {"x": [0.0, 0.0]}),
    ],
)
def test_a_derivative_of_exactly_zero_is_seen(make_case: MakeCase, text: str, inputs: dict[str, Any]) -> None:
    """A difference quotient that only shrinks with its step is zero, and agrad's zero agrees with it."""
    case = make_case(text, **inputs)
    case.gradients["x"] = np.zeros_like(case.gradients["x"])
    assert judged(case).verdict == "agree"


@pytest.mark.parametrize(
    ("text", "inputs", "outside"),
    [
        ("abs(x)", {"x": 0.0}, 1.5),
        ("relu(x)", {"x": 0.0}, -0.5),
        ("amax(x)", {"x": [1.0, 1.0, 1.0]}, [1.5, 0.0, 0.0]),
        ("maximum(x, 2*x)", {"x": 0.0}, 0.5),
    ],
)
def test_a_kink_is_said_and_its_slopes_are_bounds(
    make_case: MakeCase, text: str, inputs: dict[str, Any], outside: Any
) -> None:
    """Between the left and the right slope any gradient is a convention; outside of them it is wrong."""
    case = make_case(text, **inputs)
    judgement = judged(case)
    assert judgement.verdict == "kink"
    assert "slopes by x" in str(judgement.reason)
    case.gradients["x"] = np.asarray(outside)
    assert judged(case).verdict == "disagree"


def test_a_kink_within_rounding_is_a_kink(make_case: MakeCase) -> None:
    """0.1*0.3 - 0.03 is zero in floating point and not in exact numbers: neither slope is wrong."""
    case = make_case("relu(0.1*x - 0.03)", x=0.3)
    for value in (0.0, 0.1):
        case.gradients["x"] = np.float64(value)
        assert judged(case).verdict in ("agree", "kink")
    case.gradients["x"] = np.float64(0.5)
    assert judged(case).verdict == "disagree"


@pytest.mark.parametrize(("text", "got"), [("sqrt(x)", np.inf), ("x*sqrt(x)", 0.0), ("log(x)", np.inf)])
def test_at_the_edge_of_a_domain_the_one_side_decides(make_case: MakeCase, text: str, got: float) -> None:
    """An infinite slope agrees with agrad's infinity of the same sign, and a finite one with its number."""
    case = make_case(text, x=0.0)
    case.gradients["x"] = np.float64(got)
    judgement = judged(case)
    assert (judgement.verdict, judgement.reason) == ("agree", "one-sided: the edge of the domain")
    case.gradients["x"] = np.float64(-np.inf)
    assert judged(case).verdict == "disagree"


def test_outside_of_the_domain_it_cannot_judge(make_case: MakeCase) -> None:
    """Where the value is not a number there is no derivative, and the reason says so."""
    judgement = judged(make_case("log(x)", x=-1.0))
    assert (judgement.verdict, judgement.reason) == ("cannot judge", "the value is not a number here")


def test_lost_digits_are_not_blamed_on_a_rule(make_case: MakeCase) -> None:
    """Where cancellation in the forward value destroys the gradient's digits, it says that floating point lost them."""
    judgement = judged(make_case("(x + 1e10 - 1e10)**2", x=1e-4))
    assert judgement.verdict == "cannot judge"
    assert "floating point loses" in str(judgement.reason)


def test_entries_that_are_only_rounding_do_not_matter(make_case: MakeCase) -> None:
    """Where the parts of an entry cancel, its error is measured against the largest entry; a wrong zero still shows."""
    case = make_case("sum(softmax(x @ x, 0)**2)", x=np.linspace(-1.0, 1.0, 25).reshape(5, 5))
    judgement = judged(case)
    assert judgement.verdict == "agree"
    assert judgement.digits is not None
    assert judgement.digits >= 12
    case = make_case("x + exp(y)", x=1.0, y=-60.0)
    case.gradients["y"] = np.float64(0.0)
    assert judged(case).verdict == "disagree"


def test_overflow_is_named(make_case: MakeCase) -> None:
    """A value outside of the doubles explains a gradient that is not a number, and the op is named."""
    judgement = judged(make_case("exp(x) / (1 + exp(x))", x=800.0))
    assert judgement.verdict == "cannot judge"
    assert "exp overflows" in str(judgement.reason)


def test_a_nan_where_a_derivative_exists_is_wrong(make_case: MakeCase) -> None:
    """Not a number does not pass for caution."""
    case = make_case("x**2", x=3.0)
    case.gradients["x"] = np.float64(np.nan)
    assert judged(case).verdict == "disagree"


def test_a_jump_leaves_the_gradient_open(make_case: MakeCase) -> None:
    """At a jump the slope is infinite on one side, so a finite gradient is a convention."""
    assert judged(make_case("floor(x) * x", x=2.0)).verdict == "kink"
    assert judged(make_case("floor(x) * x", x=2.5)).verdict == "agree"


@pytest.mark.parametrize("text", ["atan2(x, 0*x)", "1/x", "x % 3"])
def test_jumps_and_poles_are_no_derivatives(make_case: MakeCase, text: str) -> None:
    """Where the function leaves its value at once on either side, every gradient is a convention."""
    assert judged(make_case(text, x=0.0)).verdict == "kink"


def test_a_vertical_tangent_is_infinite(make_case: MakeCase) -> None:
    """A cube root's slope at zero is infinite on both sides: a finite gradient is wrong there."""
    case = make_case("sign(x) * abs(x)**(1/3)", x=0.0)
    case.gradients["x"] = np.float64(np.inf)
    assert judged(case).verdict == "agree"
    case.gradients["x"] = np.float64(0.0)
    assert judged(case).verdict == "disagree"


def test_intermediate_nodes_are_cut_free(make_case: MakeCase) -> None:
    """The gradient by an intermediate node is that of a leaf in its place."""
    case = make_case("y = x**2\nz = y*x + sin(y)", wrt=["x", "y"], x=1.5)
    assert judged(case).verdict == "agree"
    case.gradients["y"] = case.gradients["y"] * 1.0001
    assert judged(case).verdict == "disagree"


def test_complex_leaves_follow_the_convention_of_the_conjugate(make_case: MakeCase) -> None:
    """The gradient by a complex leaf is that by its real part plus i times that by its imaginary part."""
    case = make_case("sum(real(c * c * exp(c)))", c=np.array([1.0 + 2.0j, -0.5j]))
    assert judged(case).verdict == "agree"
    case.gradients["c"] = np.conj(case.gradients["c"])
    assert judged(case).verdict == "disagree"


def test_float32_needs_fewer_digits(make_case: MakeCase) -> None:
    """Seven digits are all that float32 has."""
    judgement = judged(make_case("sum(exp(x) / (1 + x))", dtype="float32", x=[0.5, 1.5]))
    assert judgement.verdict == "agree"
    assert judgement.digits is not None
    assert 5 <= judgement.digits <= 9


def test_random_directions_catch_one_wrong_entry(make_case: MakeCase) -> None:
    """Along random directions a right gradient agrees and a wrong entry shows."""
    case = make_case("sum(exp(sin(x)) * x)", x=np.linspace(-1.0, 2.0, 50))
    assert judged(case, directions=True).reason == "along 3 random directions"
    case.gradients["x"][17] += 1e-3
    assert judged(case, directions=True).verdict == "disagree"


def test_a_spent_budget_is_a_reason(make_case: MakeCase) -> None:
    """It stops and says what ran out."""
    case = make_case("sum(exp(x))", x=np.linspace(0.0, 1.0, 40))
    judgement = precise.judge(case, Budget(operations=100))
    assert (judgement.verdict, judgement.reason) == ("cannot judge", "more than 100 operations")
    judgement = precise.judge(case, Budget(seconds=0.0))
    assert judgement.reason == "not done within 0 s"


def test_along_directions_an_intermediate_node_moves_by_itself(make_case: MakeCase) -> None:
    """What it is computed from would move it as well, so the leaves have directions of their own."""
    case = make_case("y = x**2\nz = sum(y*x + sin(y))", wrt=["x", "y"], x=[1.5, 0.7])
    assert judged(case, directions=True).verdict == "agree"
    case.gradients["y"] = case.gradients["y"] * 1.0001
    assert judged(case, directions=True).verdict == "disagree"


def test_a_corner_without_a_gradient_is_a_kink(make_case: MakeCase) -> None:
    """Partial derivatives along the edges are none where the slope into the domain is another one."""
    case = make_case("x**0.5 * y**0.5", x=0.0, y=0.0)
    case.gradients.update(x=np.float64(0.0), y=np.float64(0.0))
    judgement = judged(case)
    assert judgement.verdict == "kink"
    assert str(judgement.reason).startswith("not differentiable: into the domain the slope is 1.0")


def test_underflow_has_its_own_word(make_case: MakeCase) -> None:
    """A gradient on the way that no double can hold explains a zero, and the node is named."""
    case = make_case("v = x * y\nz = rsqrt(v)", wrt=["x", "y"], x=1e300, y=20.5)
    case.gradients["y"] = np.float64(0.0)
    judgement = judged(case)
    assert judgement.verdict == "cannot judge"
    assert str(judgement.reason).startswith("the gradient by v underflows here in floating point")


def test_a_finite_number_is_no_overflow(make_case: MakeCase) -> None:
    """An overflow leaves infinities, NaN and zeros: another wrong number is wrong."""
    case = make_case("x * 3 + exp(x) * 0", x=800.0)
    case.gradients["x"] = np.float64(2.0)
    assert judged(case).verdict == "disagree"


def test_entries_lost_inside_an_op_are_lost(make_case: MakeCase) -> None:
    """A sum of large numbers that cancel knows its small result only up to their rounding."""
    case = make_case("sum(x)**2", x=[1e10, 1e-4, -1e10])
    case.gradients["x"] = case.gradients["x"] * 0 + np.float64(1.9e-4)
    assert judged(case).verdict == "cannot judge"
    case.gradients["x"] = case.gradients["x"] * 0 + np.float64(2.9)
    assert judged(case).verdict == "disagree"


@pytest.mark.parametrize("text", ["x * (1 / x)", "x / (x + y)", "3.0 * x - x * 3.0"])
def test_parts_that_cancel_leave_rounding(make_case: MakeCase, text: str) -> None:
    """Where the uses of a node contribute parts that cancel, an error as small as their rounding is no wrong rule."""
    case = make_case(f"{text} + 0*y", x=0.93, y=1e-17)
    case.gradients["x"] = np.float64(1e-16)
    assert judged(case).verdict in ("agree", "cannot judge")
    case.gradients["x"] = np.float64(1e-12)
    assert judged(case).verdict == "disagree"


def test_directions_do_not_leap_over_waves(make_case: MakeCase) -> None:
    """A huge entry is moved no farther than a large one: tan has as many poles there as elsewhere."""
    case = make_case("sum(log(tan(x)**2 + 2))", x=[0.23, 20.5, 1e300])
    assert judged(case, directions=True).verdict == "agree"
    case.gradients["x"] = case.gradients["x"] * 1.001
    assert judged(case, directions=True).verdict == "disagree"


@pytest.mark.parametrize(
    ("text", "wrong", "words"),
    [
        ("c.abs()", 2j, "the imaginary part of c"),
        ("c.abs()", -2.0, "the real part of c"),
        ("c.abs() + c.real", 0.5 + 0.5j, None),
        ("torch.sqrt(c - 4.0).imag", 0.5, "the derivative by c"),
    ],
)
def test_kinks_in_the_plane(make_case: MakeCase, text: str, wrong: complex, words: str | None) -> None:
    """Each part of a complex entry has slopes of its own, and what lies outside of them is objected to."""
    case = make_case(text, c=np.complex128(0))
    assert judged(case).verdict == "kink"
    case.gradients["c"] = np.complex128(wrong)
    judgement = judged(case)
    assert judgement.verdict == ("kink" if words is None else "disagree")
    assert words is None or words in str(judgement.reason)


@pytest.mark.parametrize(("zero", "right"), [(0.0, -0.25), (-0.0, 0.25)])
def test_the_sign_of_a_zero_chooses_the_side_of_a_cut(make_case: MakeCase, zero: float, right: float) -> None:
    """The slope along a branch cut is that of the value's side, and one that no side has is wrong."""
    case = make_case("torch.sqrt(torch.complex(x, y)).imag", x=-4.0, y=zero)
    assert case.gradients["x"] == right
    assert judged(case).verdict == "kink"
    case.gradients["x"] = np.float64(2 * right)
    assert judged(case).verdict == "disagree"


def test_signs_of_eigenvectors_are_those_of_the_matrix_with_its_zeros(make_case: MakeCase) -> None:
    """A step away from a zero of the matrix LAPACK may choose another sign, which is no kink of the function."""
    matrix = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]]
    text = "sum(torch.linalg.eigh(A + A.T).eigenvectors * B)"
    assert judged(make_case(text, wrt=["A"], A=matrix, B=np.arange(9.0).reshape(3, 3))).verdict == "agree"


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("far", [1e20, -1e30, 1e300, -1e308])
def test_samples_far_outside_of_an_image_are_judged_at_once(make_case: MakeCase, far: float, padding: str) -> None:
    """The whole part of a coordinate is found digit by digit, not pixel by pixel."""
    text = f"sum(F.grid_sample(x, g, padding_mode='{padding}', align_corners=False))"
    case = make_case(text, x=np.ones((1, 1, 2, 3)), g=[[[[far, 0.1]]]])
    assert precise.judge(case, Budget(seconds=5)).verdict in ("agree", "cannot judge")
    exact = precise.judge(make_case(text, x=np.ones((1, 1, 2, 3)), g=[[[[1.25, 0.1]]]]), Budget())
    assert exact.verdict == "agree"


def test_infinite_slopes_do_not_cancel_along_a_direction(make_case: MakeCase) -> None:
    """Wherever the entries move, all of them grow, or all shrink; a wrong sign of one is found."""
    text = "sum(sign(x)*sqrt(abs(x))*[1.0, -1.0, 1.0])"
    case = make_case(text, x=[0.0, 0.0, 1.0])
    case.gradients["x"] = np.array([np.inf, -np.inf, 0.5])
    assert judged(case, directions=True).verdict == "agree"
    case.gradients["x"] = np.array([1.0, -np.inf, 0.5])
    assert judged(case, directions=True).verdict == "disagree"
    case.gradients["x"] = np.array([-np.inf, 2.0, 0.5])
    assert judged(case, directions=True).verdict == "disagree"


def test_a_direction_out_of_the_domain_tells_nothing(make_case: MakeCase) -> None:
    """Where one entry may only grow and another only shrink, no step along both is inside."""
    case = make_case("sum(sqrt(x)*[1.0, -1.0, 1.0])", x=[0.0, 0.0, 1.0])
    assert np.isinf(case.gradients["x"][:2]).all()
    assert judged(case, directions=True).verdict == "cannot judge"
