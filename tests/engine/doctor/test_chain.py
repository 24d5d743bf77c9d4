"""The chain rule as it stands, beside the one where zero stops."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.doctor import chain as chains
from agrad.engine.doctor.chain import chain_of, first_broken, is_finite

from .conftest import Run

MASK = "t = [-2.25, 0.49]\ny = where(t > 0, sqrt(t), 3*t)\nloss = sum(y)\n"


def test_zero_stops_in_one_and_not_in_the_other(run: Run) -> None:
    """The plain gradient of a masked root is NaN where agrad's is 3."""
    formulas, evaluation = run(MASK)
    chain = chain_of(evaluation)
    assert chain is not None
    t = formulas.names["t"]
    np.testing.assert_array_equal(chain.plain[t], [np.nan, 0.5 / 0.7])
    np.testing.assert_array_equal(chain.guarded[t], evaluation.gradient("t"))


def test_edges_have_both_factors(run: Run) -> None:
    """What a root passes back is the gradient that comes in times its slope."""
    formulas, evaluation = run("x = 4.0\ny = 3*sqrt(x)\n")
    chain = chain_of(evaluation)
    assert chain is not None
    (edge,) = chain.edges(formulas.names["x"])
    assert (edge.consumer.op.name, edge.incoming, edge.slope, edge.passed) == ("sqrt", 3.0, 0.25, 0.75)


def test_edges_add_up_to_the_gradient(run: Run) -> None:
    """Of finite numbers the edges into a node sum to its gradient, also through broadcasting and several results."""
    text = "A = [[2.0, 0.3], [0.3, 1.0]]\nw, V = eigh(A)\nz = sum(w*[1.0, 2.0]) + sum(V**2*A) + sum(A)\n"
    formulas, evaluation = run(text)
    chain = chain_of(evaluation)
    assert chain is not None
    leaf = formulas.names["A"]
    total = sum(np.broadcast_to(edge.passed, leaf.shape) for edge in chain.edges(leaf))
    np.testing.assert_allclose(total, evaluation.gradient("A"), rtol=1e-12)


def test_inside_of_a_rule(run: Run) -> None:
    """Of a rule that is no product its operations and their values can be seen."""
    formulas, evaluation = run("x = [1.0, 2.0]\ny = sum(softmax(x, 0)*[1.0, 3.0])\n")
    chain = chain_of(evaluation)
    assert chain is not None
    (edge,) = chain.edges(formulas.names["x"])
    nodes, values = chain.inside(edge)
    assert edge.slope is None
    np.testing.assert_allclose(values[nodes[-1]], evaluation.gradient("x"))


def test_no_chain_of_a_large_graph(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """More elements than `LARGEST` have none."""
    monkeypatch.setattr(chains, "LARGEST", 1)
    assert chain_of(run("x = 1.0\ny = x*x\n")[1]) is None


def test_a_chain_of_complex_numbers(run: Run) -> None:
    """The factors are complex, and what arrives at a real leaf is real."""
    formulas, evaluation = run("x = 2.0\nc = complex(x, 1.0)\ny = real(c*c)\n")
    chain = chain_of(evaluation)
    assert chain is not None
    edges = chain.edges(formulas.names["c"])
    assert [complex(edge.slope) for edge in edges] == [2 - 1j, 2 - 1j]
    assert float(chain.plain[formulas.names["x"]]) == 4.0


def test_finite_and_first_broken() -> None:
    """Integers and booleans are finite; of an array the first number that is not is found."""
    assert is_finite(np.array([True]))
    assert is_finite(3)
    assert not is_finite(np.float64("inf"))
    assert first_broken(np.array([[1.0, 2.0], [np.nan, np.inf]])) == (1, 0)
    assert first_broken(np.float64("nan")) == ()
