"""Two files compared: outputs, gradients, what is paired and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.claims.difference import Difference, judge_difference
from agrad.engine.errors import InputError, Source
from agrad.engine.language import build
from agrad.engine.worker.process import Worker

Compare = Callable[..., Difference]


@pytest.fixture
def difference(worker: Worker) -> Compare:
    """Compares two texts."""

    def compare(old: str, new: str, **options: Any) -> Difference:
        files = [build(Source(text, name)) for text, name in ((old, "old.txt"), (new, "new.txt"))]
        return judge_difference(files[0], files[1], worker=worker, **({"points": 30} | options))

    return compare


def verdicts(found: Difference) -> dict[str, str]:
    """The verdict on each thing compared."""
    return {each.what: each.finding.verdict for each in found.compared}


def test_equal_formulas_are_proved_so(difference: Compare) -> None:
    """Value and gradients by every leaf that both files have; names inside may differ."""
    old = "x = 1.0\ny = 2.0\nz = (x + y)**2"
    new = "y = 5.0\nx = 3.0\nhalf = x*y\nz = x**2 + y**2 + 2*half"
    assert verdicts(difference(old, new)) == {"z": "proved", "d(z)/d(x)": "proved", "d(z)/d(y)": "proved"}


def test_different_formulas_have_a_counter_example(difference: Compare) -> None:
    """Also where they are equal at the point of the old file."""
    found = difference("x = 2.0\nz = x**2", "x = 2.0\nz = 2*x")
    assert verdicts(found) == {"z": "refuted", "d(z)/d(x)": "refuted"}
    example = found.compared[0].finding.counterexample
    assert example is not None
    assert (dict(example.inputs), example.left, example.right) == ({"x": 1.0}, 1.0, 2.0)


def test_equal_values_with_different_gradients(difference: Compare) -> None:
    """`detach` changes no value, and the gradient."""
    found = difference("x = 2.0\nz = x*x", "x = 2.0\nz = x*detach(x)")
    assert verdicts(found) == {"z": "holds", "d(z)/d(x)": "refuted"}


def test_outputs_are_chosen_by_name(difference: Compare) -> None:
    """The last shared name, or `--output`, with another name for the new file."""
    old, new = "x = 2.0\nz = x**2\nw = 3*x", "x = 2.0\nw = 3*x\nother = x*x"
    assert [*verdicts(difference(old, new))] == ["w", "d(w)/d(x)"]
    assert verdicts(difference(old, new, outputs=["z=other"], wrt=["x"])) == {"z": "proved", "d(z)/d(x)": "proved"}
    with pytest.raises(InputError, match=r"the last names differ: z in old\.txt, other in new\.txt"):
        difference("x = 2.0\nz = x**2", "x = 2.0\nother = x*x")
    with pytest.raises(InputError, match=r"new\.txt has no name z"):
        difference(old, new, outputs=["z"])


def test_every_shared_name_may_be_compared(difference: Compare) -> None:
    """All that both files compute, in the order of the old one."""
    found = difference("x = 2.0\na = 2*x\nb = a**2", "x = 2.0\nb = 4*x**2\nc = b\na = x", everything=True, wrt=["x"])
    assert verdicts(found) == {"a": "refuted", "d(a)/d(x)": "refuted", "b": "proved", "d(b)/d(x)": "proved"}
    with pytest.raises(InputError, match="the files compute no name in common"):
        difference("x = 2.0\na = 2*x", "x = 2.0\nb = 2*x", everything=True)


def test_arrays_are_compared_entry_by_entry(difference: Compare) -> None:
    """A Jacobian, not a sum in which differences cancel."""
    found = difference("x = [1.0, 2]\ny = 3*x", "x = [1.0, 2]\ny = x + sum(x)*[1.0, 1]")
    assert verdicts(found) == {"y": "refuted", "d(y)/d(x)": "refuted"}


def test_leaves_that_only_one_file_has_keep_their_values(difference: Compare) -> None:
    """And are told."""
    found = difference("x = 2.0\nz = 3*x", "x = 2.0\nk = 3.0\nz = k*x")
    assert verdicts(found) == {"z": "proved", "d(z)/d(x)": "proved"}
    assert found.notes == ["k keeps its value: it is not in old.txt"]


def test_what_does_not_fit_is_an_error(difference: Compare) -> None:
    """Shapes of leaves and outputs, names to differentiate by, domains."""
    with pytest.raises(InputError, match=r"x has shape \[2\] in old.txt and \[3\] in new.txt"):
        difference("x = [1.0, 2]\nz = sum(x)", "x = [1.0, 2, 3]\nz = sum(x)")
    with pytest.raises(InputError, match=r"z has shape \[\] in old.txt and \[2\] in new.txt"):
        difference("x = [1.0, 2]\nz = sum(x)", "x = [1.0, 2]\nz = 2*x")
    with pytest.raises(InputError, match="--wrt: k is no leaf of floats that both files have"):
        difference("x = 1.0\nz = x", "x = 1.0\nz = x*1", wrt=["k"])
    with pytest.raises(InputError, match=r"x lies in \(0, 2\) in old\.txt and in \(0, 3\) in new\.txt"):
        difference("x = 1.0\nx in (0, 2)\nz = 2*x", "x = 1.0\nx in (0, 3)\nz = 2*x")


def test_a_domain_in_either_file_holds_for_both(difference: Compare) -> None:
    """What differs outside of it is no difference."""
    old = "x = 1.0\nz = 2*log(x)"
    assert verdicts(difference(old, "x = 1.0\nz = log(x**2)"))["z"] == "refuted"
    assert verdicts(difference(old, "x = 1.0\nx in (0, inf)\nz = log(x**2)"))["z"] == "proved"


def test_values_of_one_name_are_paired_in_their_order(difference: Compare) -> None:
    """Each varies; where the files have not as many, nobody can say which are meant to be the same."""
    old = "x = 2.0\nz = x**2\nx = 3.0\ny = x"
    new = "x = 2.0\nz = 4*x/2\nx = 3.0\ny = x"
    found = difference(old, new, outputs=["z"])
    assert verdicts(found) == {"z": "refuted", "d(z)/d(x (line 1))": "refuted", "d(z)/d(x)": "proved"}
    assert set(verdicts(difference(old, old, outputs=["z"], wrt=["x"])).values()) == {"proved"}
    with pytest.raises(InputError, match=r"x is given a value 2 times in old\.txt and 1 time in new\.txt"):
        difference(old, "x = 2.0\nz = x**2", outputs=["z"])


def test_rounding_is_no_difference(difference: Compare) -> None:
    """Nor is what cancels against nothing."""
    assert verdicts(difference("x = 2.0\nx in (0.5, 9)\nz = exp(log(x)) - x", "x = 2.0\nz = 0*x"))["z"] == "proved"
