"""Kernels taken apart: the same numbers by calls with given results as by the kernel, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.graph import TABLE, leaf
from agrad.engine.run.blocks import Programs
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import fused_plan, make_plan
from agrad.engine.run.steps import RunStep
from agrad.engine.run.tracing import StandIn, traced


def calls_of(*nodes: Any) -> list[str]:
    """The calls of the one run that computes nodes, by name."""
    (step,) = [step for step in fused_plan(nodes, least=2).steps if isinstance(step, RunStep)]
    calls = Programs(step.run).plain.calls
    return [getattr(call.function, "__name__", call.kind) for call in calls if call.kind not in ("check", "part")]


def test_most_rows_are_taken_apart() -> None:
    """The rows of everyday formulas are seen through: none of them is called as it is."""
    x = leaf(np.linspace(0.1, 1.0, 8))
    for name in (
        "exp",
        "sigmoid",
        "softplus",
        "relu",
        "gelu.tanh",
        "sech_squared",
        "silu",
        "elu",
        "logsigmoid",
        "square",
    ):
        call = {"gelu.tanh": lambda: TABLE["gelu"](x, approximate="tanh")}.get(name, lambda: TABLE[name](x))  # noqa: B023  # called at once
        assert not any("kernel" in called or called == "<lambda>" for called in calls_of(call()))


def test_equal_calls_of_different_ops_are_made_once() -> None:
    """sigmoid(x) and sigmoid(-x) share their exponential, whose argument is -|x| in both."""
    x = leaf(np.linspace(-1.0, 1.0, 8))
    assert calls_of(TABLE["sigmoid"](x), TABLE["sigmoid"](-x)).count("exp") == 1


def test_negatives_are_passed_on() -> None:
    """A product of negatives has no sign of its own, and a sum with one is a difference."""
    x, y = leaf(np.linspace(-1.0, 1.0, 8)), leaf(np.linspace(1.0, 2.0, 8))
    assert "negative" not in calls_of((-x) * (-y))
    assert calls_of(x + -y) == ["subtract"]
    assert calls_of(-(x * -y)) == ["multiply"]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf])
def test_signs_of_zero_stay(value: float) -> None:
    """Differences instead of sums with negatives give the same zeros, sign and all."""
    x, y = leaf(np.full(8, value)), leaf(np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan]))
    nodes = [-x + y, x + -y, -x + -y, -x - y, x - (-y), -x - (-y), (-x) * y, (-x) / y, abs_of(-x), -(x * y) + x]
    fused, plain = run(fused_plan(nodes, least=2)), run(make_plan(nodes, fuse=False))
    for node in nodes:
        np.testing.assert_array_equal(fused[node], plain[node])
        finite = ~np.isnan(plain[node])
        assert np.array_equal(np.signbit(fused[node][finite]), np.signbit(plain[node][finite]))


def abs_of(node: Any) -> Any:
    """The absolute value of a node."""
    return TABLE["abs"](node)


def test_a_kernel_that_looks_at_numbers_is_not_taken_apart() -> None:
    """A kernel that branches on its argument cannot be traced, and one of several results neither."""
    record = lambda *call: call
    argument = StandIn(0, np.ones(1), record)
    assert traced(lambda xp, x: x if xp.sum(x) else -x, [argument], {}) is None
    assert traced(lambda _xp, x: x if x > 0 else -x, [argument], {}) is None
    assert traced(lambda xp, x: xp.modf(x)[0], [argument], {}) is None
    assert traced(lambda xp, x: xp.exp(x) + 1.0, [argument], {}) is not None
