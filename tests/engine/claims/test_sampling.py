"""Claims tried at points: planted errors are found, right claims are not refuted, counter-examples are simple."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.claims.compare import compared
from agrad.engine.claims.proof import Proof
from agrad.engine.claims.question import Question
from agrad.engine.claims.sampling import Sampled, sampled
from agrad.engine.claims.sides import Sides
from agrad.engine.graph import TABLE
from agrad.engine.worker.budget import Budget

Sample = Callable[..., Sampled]
Prove = Callable[[str], Proof]


def point_of(found: Sampled) -> dict[str, Any]:
    """The counter-example's leaves as lists."""
    assert found.point is not None
    return {name: np.asarray(value).tolist() for name, value in found.point.items()}


def sides_of(found: Sampled) -> tuple[float, float]:
    """Both sides at the counter-example."""
    assert found.found is not None
    return found.found.left, found.found.right


RIGHT = (
    "x = 3.0\nz = x**2\nassert d(z)/d(x) == 2*x",
    "x = 1.0\nassert softplus(x) == log(1 + exp(x))",
    "x = 1.0\nassert d(softplus(x))/d(x) == sigmoid(x)",
    "x = 0.1\nassert 0.1*x*3 == 0.3*x",
    "x = 0.1\nassert (x + 1)**2 - x**2 - 2*x == 1",
    "x = 0.1\nassert d(erf(x))/d(x) == 2/sqrt(pi)*exp(-x**2)",
    "x = 1.0\nassert -log(1 - sigmoid(x)) == softplus(x)",
    "x = 1.0\nassert exp(x) >= 1 + x",
    "x = 1.0\nassert d(abs(x))/d(x) == sign(x)",
    "x = 1.0\nassert d(relu(x - 3))/d(x) == where(x > 3, 1, 0)",
    "x = [3.0, 1, 2]\nassert d(max(x))/d(x) == where(x == max(x), 1, 0)/sum(where(x == max(x), 1, 0))",
    "A = [[1.0, 2], [3, 4]]\nassert grad(det(A), A) == det(A)*inverse(A).T",
    "x = [0.5, -1, 2]\np = softmax(x, 0)\nassert jacobian(p, x) == diag(p) - outer(p, p)",
    "x = 1.0\ny = 2.0\nz = sin(x*y)\nassert d2(z)/(d(x)*d(y)) == cos(x*y) - x*y*sin(x*y)",
    "x = 1.0\nh = x**2\nz = h**3\nassert d(z)/d(h) == 3*h**2",
)


@pytest.mark.parametrize("text", RIGHT)
def test_right_claims_are_not_refuted(sample: Sample, text: str) -> None:
    """At simple numbers, kinks, ties, ends and extreme floats alike."""
    found = sample(text)
    assert (found.found, found.trouble) == (None, None), (point_of(found) if found.point else None, found.trouble)
    assert found.points >= 20


REFUTED = (
    # equal at the file's point, and not elsewhere
    ("x = 2.0\nz = x**2\nassert d(z)/d(x) == 4", {"x": 0.0}, (0.0, 4.0)),
    ("x = 2.0\ny = 2.0\nassert x**y == y**x + 0*x", {"x": 0.0, "y": 1.0}, (0.0, 1.0)),
    # equal but for one end of the domain
    ("x = 0.5\nx in [0, 1]\nassert x == where(x == 1, 0, x)", {"x": 1.0}, (1.0, 0.0)),
    ("x = 0.5\nx in [-3, 1]\nassert x == where(x == -3, 0, x)", {"x": -3.0}, (-3.0, 0.0)),
    # equal but for one number in the middle, and beyond one
    ("x = 0.5\nassert x == where(x == 0.75, 0, x)", {"x": 0.75}, (0.75, 0.0)),
    ("x = 0.5\nassert x == where(x > 20, 21, x)", {"x": 100.0}, (100.0, 21.0)),
    # kinks
    ("x = 1.0\nassert d(abs(x))/d(x) == 1", {"x": -1.0}, (-1.0, 1.0)),
    ("x = 1.0\nassert d(abs(x))/d(x) == where(x == 0, 3, sign(x))", {"x": 0.0}, (0.0, 3.0)),
    ("x = 1.0\nassert sqrt(x**2) == x", {"x": -1.0}, (1.0, -1.0)),
    # comparisons
    ("x = 1.0\nassert x**2 > 0", {"x": 0.0}, (0.0, 0.0)),
    ("x = 1.0\nassert x != 3", {"x": 3.0}, (3.0, 3.0)),
    ("x = 1.0\nassert x**2 >= x", {"x": 0.5}, (0.25, 0.5)),
    # a tolerance that is too small
    ("x = 1.0\nx in [-1, 1]\nassert sin(x) ~= x within 0.1", {"x": 1.0}, (0.8414709848078965, 1.0)),
)


@pytest.mark.parametrize(("text", "point", "sides"), REFUTED)
def test_planted_errors_are_found(
    sample: Sample, text: str, point: dict[str, float], sides: tuple[float, float]
) -> None:
    """With the simplest counter-example, and the exact values of both sides there."""
    found = sample(text, 100)
    assert (point_of(found), sides_of(found)) == (point, sides)


def test_wrong_sides_of_matrices_have_few_entries(sample: Sample) -> None:
    """A counter-example of a lost transpose is zero but for what shows it."""
    found = sample("W = [[2.0, 1], [1, 3]]\nx = [1.0, -1]\ny = W @ x\nassert grad(sum(y**2)/2, x) == W @ y")
    point = point_of(found)
    assert sum(np.asarray(value).astype(bool).sum() for value in point.values()) == 2
    assert sorted(sides_of(found)) == [0.0, 1.0]


def test_one_defined_side_refutes(sample: Sample) -> None:
    """Where one side is defined and the other is not; where both are undefined does not count."""
    found = sample("x = 2.0\nassert log(x**2) == 2*log(x)")
    assert found.found is not None
    assert (point_of(found), found.found.kind) == ({"x": -1.0}, "undefined")
    assert sample("x = 2.0\nx in (0, inf)\nassert log(x**2) == 2*log(x)").found is None
    assert sample("x = 2.0\nassert d(sqrt(x))/d(x) == 0.5/sqrt(x)").found is None


def test_overflow_refutes_nothing_and_is_named(sample: Sample) -> None:
    """A formula that float64 cannot hold is right as mathematics; the note says which side it is."""
    found = sample("x = 1.0\nassert softplus(x) == log(1 + exp(x))", 100)
    assert found.found is None
    assert any(note.endswith("in float64 the right side overflows") for note in found.notes)


def test_lost_digits_are_named(sample: Sample) -> None:
    """Cancellation is no difference either."""
    found = sample("x = 0.5\nx in (0, 1)\nassert (1 - cos(x))/x**2 == sin(x/2)**2*2/x**2", 100)
    assert found.found is None
    assert any("the left side has" in note and "right digits" in note for note in found.notes)


def test_a_choice_at_a_kink_is_no_error(sample: Sample) -> None:
    """Any number between both slopes may stand for a derivative that does not exist."""
    found = sample("x = 1.0\nassert d(abs(x))/d(x) == where(x >= 0, 1, -1)")
    assert found.found is None
    assert found.notes == ["at x = 0.0 there is no derivative: the slopes are -1.0 and 1.0, and agrad takes 0.0"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("cos(x)", "trouble"), ("2*cos(x)", "refuted")],
)
def test_a_wrong_rule_certifies_nothing(
    sample: Sample, monkeypatch: pytest.MonkeyPatch, claim: str, verdict: str
) -> None:
    """With a planted rule the right claim cannot be judged, and the one that the rule agrees with is refuted."""
    op = TABLE["sin"]
    assert op.slopes is not None
    right = op.slopes[0]
    monkeypatch.setattr(type(op), "__setattr__", object.__setattr__)
    monkeypatch.setattr(op, "slopes", (lambda x, y: right(x, y) * 2.0,))
    found = sample(f"x = 0.5\nassert d(sin(x))/d(x) == {claim}")
    if verdict == "trouble":
        assert found.trouble is not None
        assert found.trouble.startswith("the rules give 1.75516")
    else:
        assert found.found is not None
        assert sides_of(found) == (1.0, 2.0)


def test_large_graphs_are_compared_in_float64(sample: Sample) -> None:
    """Where exact arithmetic would take too long, a clear difference still refutes, and a right claim holds."""
    text = (
        "X = randn(200, 20, seed=0)\nt = rand(200, seed=1)\nw = randn(20, seed=2)\np = sigmoid(X @ w)\n"
        "loss = mean(softplus(X @ w) - t*(X @ w))\nassert grad(loss, w) == "
    )
    right, wrong = sample(text + "X.T @ (p - t)/200"), sample(text + "X.T @ (p - t)")
    assert (right.found, right.points) == (None, 60)
    assert wrong.found is not None
    assert not wrong.found.exact
    left, other = sides_of(wrong)
    assert other == pytest.approx(200 * left)


def test_exact_arithmetic_that_takes_too_long_is_given_up(ask: Callable[[str], Question]) -> None:
    """What float64 shows counts then."""
    found = sampled(ask("x = [1.0, 2, 3]\nassert sum(2*x) == 2*sum(x)"), Budget(40, 60.0), count=30, seed=0)
    assert (found.points, found.found, found.trouble) == (30, None, None)
    found = sampled(ask("x = [1.0, 2, 3]\nassert sum(2*x) == 3*sum(x)"), Budget(40, 60.0), count=30, seed=0)
    assert found.found is not None
    assert not found.found.exact


def test_large_arrays_are_no_trouble(ask: Callable[[str], Question]) -> None:
    """A counter-example of a million entries is looked for in seconds."""
    begin = time.monotonic()
    found = sampled(ask("x = zeros(1000000)\nassert sum(x) == 0"), Budget(10**7, 10.0), count=30, seed=0)
    assert time.monotonic() - begin < 30
    assert sides_of(found) == (1e6, 0.0)


def test_fixed_leaves_stay(sample: Sample) -> None:
    """Leaves that are declared with requires_grad=False, or used as labels, keep their values."""
    found = sample(
        "z = [0.5, -1, 2]\nlabel = 2\nt = tensor([0, 0, 1], requires_grad=False)\n"
        "assert grad(cross_entropy(z, label), z) == softmax(z, 0) - t"
    )
    assert (found.found, found.trouble) == (None, None)


def test_no_point_is_no_verdict(sample: Sample) -> None:
    """Sides that are undefined everywhere are not called equal."""
    found = sample("x = 1.0\nassert sqrt(-x**2 - 1) == log(-x**2 - 1)")
    assert found.points == 0
    assert found.trouble is not None


def test_large_graphs_that_cancel_are_not_refuted(sample: Sample) -> None:
    """In float64 alone a difference of numbers is as exact as these, and no more."""
    text = "X = randn(2000, 100, seed=0)\nw = randn(100, seed=2)\nassert X @ w - (X @ (3*w))/3 == "
    assert sample(text + "0").found is None
    assert sample(text + "X @ w").found is not None


def test_what_happens_beside_a_switch_is_seen(sample: Sample) -> None:
    """Also where the switch itself is a float, and the difference fades beyond it."""
    found = sample("x = 1.0\nassert log(1 + exp(x)) == where(x > 20, x, log(1 + exp(x)))", 100)
    assert (point_of(found), sides_of(found)) == ({"x": 21.0}, (21.000000000758256, 21.0))


LOGISTIC = """X = [[1, 0.5], [1, -1.5]]
t = [1, 0]
w = [0.2, -0.4]
p = sigmoid(X @ w)
loss = -sum(t*log(p) + (1 - t)*log(1 - p)) / 2
assert hessian(loss, w) == X.T @ diag(p*(1 - p)) @ X / """


@pytest.mark.parametrize(
    ("matrix", "w"),
    [
        ([[0.0, 0.0], [-1.1, 0.2]], [-45.0, -100.0]),
        ([[0.0, 100.0], [0.0, 0.0]], [0.0, 0.2]),
        ([[0.0, 1.0], [0.0, 0.0]], [0.0, 30.0]),
    ],
)
def test_what_rounding_makes_of_a_saturated_graph_refutes_nothing(
    ask: Callable[[str], Question], matrix: Any, w: Any
) -> None:
    """Without exact arithmetic, float64 is held against itself a little away from the point."""
    point = {"X": np.array(matrix), "t": np.zeros(2), "w": np.array(w)}
    sides = Sides(ask(LOGISTIC + "2"), Budget())
    sides.give_up()
    assert not compared(sides, point, exactly=False).refutes


def test_what_is_wrong_is_refuted_without_exact_arithmetic(ask: Callable[[str], Question]) -> None:
    """A factor shows in float64 alone."""
    point = {"X": np.array([[1.0, 0.5], [1.0, -1.5]]), "t": np.array([1.0, 0.0]), "w": np.array([0.2, -0.4])}
    sides = Sides(ask(LOGISTIC + "3"), Budget())
    sides.give_up()
    assert compared(sides, point, exactly=False).refutes


def test_points_where_other_numbers_are_picked_do_not_count(sample: Sample, prove: Prove) -> None:
    """A mask was built for the values of the file: other points show nothing of it, nor does a proof."""
    text = "x = [0.5, -1.2, 2.0]\nassert sum(x[x > 0]) == x[0] + x[2]"
    found = sample(text, 60)
    assert found.found is None
    assert 5 < found.points <= 60
    assert prove(text).reason is not None
    assert prove("x = [0.5, -1.2, 2.0]\nassert sum(x[[0, 2]]) == x[0] + x[2]").reason is None


def test_what_only_picks_is_a_leaf_of_the_claim(sample: Sample, ask: Callable[[str], Question]) -> None:
    """A leaf that does nothing but choose varies, as far as the same is chosen."""
    text = "y = [1.0, -1.0]\nx = tensor([3.0, 4.0], requires_grad=False)\nassert sum(x[y > 0]) == 3"
    assert sample(text).found is None
    assert list(ask(text).leaves) == ["y"]


def test_rounding_decides_no_inequality(ask: Callable[[str], Question]) -> None:
    """Which of two nearly equal floats is the larger says nothing where large numbers cancel to them."""
    sides = Sides(ask("x = 2.0\nassert ((x + 1e8)**2 - (x - 1e8)**2)/4e8 >= x + 1e-10"), Budget())
    for alone in (False, True):
        if alone:
            sides.give_up()
        found = {compared(sides, {"x": np.float64(place / 7)}, exactly=False).kind for place in range(1, 40)}
        assert "holds" not in found
    assert (
        compared(Sides(ask("x = 2.0\nassert exp(x) >= x"), Budget()), {"x": np.float64(2.0)}, exactly=False).kind
        == "holds"
    )
