"""Where a gradient that is not finite begins."""

from __future__ import annotations

from agrad.engine.doctor.chain import chain_of
from agrad.engine.doctor.origin import Origin, bracketed, origin, stopping_factor

from .conftest import Run


def of(run: Run, text: str, name: str = "x", place: tuple[int, ...] = ()) -> Origin:
    """The origin in a text."""
    formulas, evaluation = run(text)
    chain = chain_of(evaluation)
    assert chain is not None
    return origin(chain, formulas.names[name], place)


def test_it_is_followed_to_its_first_node(run: Run) -> None:
    """Through several nodes, to the edge that makes an infinity, and where that becomes NaN."""
    found = of(run, "x = 0.0\na = x**2\nb = a + 0\ny = 2*sqrt(b)\n")
    assert found.first is not None
    assert (found.first.edge.consumer.op.name, found.first.text) == ("sqrt", "2.0 x inf = inf")
    assert found.turn is not None
    assert (found.turn.edge.consumer.op.name, found.turn.text) == ("pow", "inf x 0.0 = nan")
    assert [step.edge.consumer.op.name for step in found.steps] == ["sqrt", "add", "pow"]
    assert stopping_factor(found) == 1


def test_the_entry_is_followed(run: Run) -> None:
    """Of an array, the entry that was asked for, not the first that is not finite."""
    found = of(run, "x = [0.0, 1.0, 0.0]\ny = sum(sqrt(x)*[1, 1, 5])\n", place=(2,))
    assert found.first is not None
    assert (found.first.index, found.first.text) == ((2,), "5.0 x inf = inf")


def test_opposite_infinities_have_no_sum(run: Run) -> None:
    """Where two edges bring infinities of both signs, the first is the origin of both."""
    found = of(run, "x = 0.0\ny = sqrt(x) - sqrt(2*x)\n")
    assert found.first is not None
    assert found.first.passed in (float("inf"), -float("inf"))


def test_a_sum_that_overflows_has_no_edge(run: Run) -> None:
    """Where only the sum of finite contributions is not finite, there is no edge to name."""
    found = of(run, "x = 1.0\ny = 1e308*x + 1e308*x\n")
    assert found.first is None
    assert found.node.name == "x"
    assert stopping_factor(found) is None


def test_a_rule_that_is_no_product(run: Run) -> None:
    """Of such a rule the step has no factors, and says what it passes."""
    found = of(run, "x = [0.0, 0.0]\ny = sum(cumprod(x, 0)/0)\n", place=(0,))
    assert found.first is not None
    assert bracketed(-1.0) == "(-1.0)"
    assert bracketed(1.0) == "1.0"
