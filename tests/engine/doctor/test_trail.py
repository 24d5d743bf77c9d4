"""The whole way back of one gradient."""

from __future__ import annotations

import json

import numpy as np

from agrad.engine.doctor.chain import chain_of
from agrad.engine.doctor.trail import EACH_END, Trail, trail_of

from .conftest import Run


def trail(run: Run, text: str, name: str, index: tuple[int, ...] = ()) -> Trail:
    """The way back of a text."""
    formulas, evaluation = run(text)
    chain = chain_of(evaluation)
    assert chain is not None
    return trail_of(formulas, evaluation, chain, name, index)


def test_every_node_from_the_output_to_the_leaf(run: Run) -> None:
    """Each has its line, value, the gradient that comes in and its slope by the next."""
    found = trail(run, "t = [-2.25, 0.49]\ny = where(t > 0, sqrt(t), 3*t)\nloss = sum(y)\n", "t", (0,))
    assert (found.output, found.leaf, found.omitted) == ("loss", "t", 0)
    assert [(place.expression, place.line, place.op) for place in found.places] == [
        ("sum(y)", 3, "sum"),
        ("where(t > 0, sqrt(t), 3*t)", 2, "where"),
        ("sqrt(t)", 2, "sqrt"),
        ("t", 1, "leaf"),
    ]
    root = found.places[2]
    np.testing.assert_array_equal(root.value, [np.nan, 0.7])
    np.testing.assert_array_equal(root.gradient, [0.0, 1.0])
    np.testing.assert_array_equal(root.slope, [np.nan, 0.5 / 0.7])
    assert found.places[-1].slope is None


def test_gradients_follow_from_the_slopes(run: Run) -> None:
    """Along a chain of numbers each gradient is the one before it times the slope."""
    found = trail(run, "x = 0.0\na = sqrt(x)\nb = 3*a\ny = exp(b)\n", "x")
    for one, other in zip(found.places, found.places[1:], strict=False):
        assert one.gradient * one.slope == other.gradient


def test_the_middle_of_a_long_way_is_left_out(run: Run) -> None:
    """Both ends are told, and how many nodes are between them."""
    lines = ["x0 = 0.0", "x1 = sqrt(x0)", *[f"x{n} = x{n - 1}*1.0" for n in range(2, 40)]]
    found = trail(run, "\n".join(lines), "x0")
    assert len(found.places) == 2 * EACH_END
    assert found.omitted == 40 - 2 * EACH_END
    assert (found.places[0].line, found.places[-1].line) == (40, 1)


def test_as_data(run: Run) -> None:
    """The same for programs: strict JSON, with null where there is no slope."""
    data = trail(run, "x = 0.0\ny = log(x)\n", "x").as_json()
    assert data == {
        "output": "y",
        "leaf": "x",
        "omitted": 0,
        "steps": [
            {"expression": "log(x)", "line": 2, "op": "log", "value": "-Infinity", "gradient": 1.0,
             "slope": "Infinity"},
            {"expression": "x", "line": 1, "op": "leaf", "value": 0.0, "gradient": "Infinity", "slope": None},
        ],
    }  # fmt: skip
    json.dumps(data, allow_nan=False)
