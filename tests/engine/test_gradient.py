"""Graph to graph: accumulation, broadcasting, what stops, higher orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import NoGradientError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate


def variable(value: Any) -> Node:
    """A float64 leaf that requires a gradient."""
    return leaf(np.asarray(value, dtype=np.float64)[()], requires_grad=True)


def gradient(output: Node, *wrt: Node, weights: Any = None) -> list[Any]:
    """The values of the gradients of an output; None where nothing flows."""
    cotangent = leaf(np.ones(output.shape)[()] if weights is None else np.asarray(weights, dtype=np.float64)[()])
    found = gradients([output], [cotangent])
    values = evaluate([found[node] for node in wrt if node in found])
    return [values[found[node]] if node in found else None for node in wrt]


def test_equal_subexpressions_keep_their_own_gradients() -> None:
    """With a = x*y, b = x*y and z = a + 2*b, a has gradient 1 and b has 2."""
    x, y = variable(3.0), variable(2.0)
    a, b = x * y, x * y
    assert gradient(a + 2 * b, a, b, x) == [1.0, 2.0, 6.0]


def test_a_node_used_twice_accumulates() -> None:
    """The contributions of all uses are added."""
    x = variable(3.0)
    assert gradient(x * x + x, x) == [7.0]


def test_broadcasting_is_undone() -> None:
    """Gradients come back in the shape of each argument, summed over the axes it was broadcast along."""
    column, row = variable([[2.0], [3.0]]), variable([1.0, 4.0, 5.0])
    found = gradient(column * row, column, row)
    assert found[0].tolist() == [[10.0], [10.0]]
    assert found[1].tolist() == [5.0, 5.0, 5.0]


def test_nothing_flows_to_an_unrelated_leaf() -> None:
    """A leaf that the output does not depend on has no gradient at all."""
    x, other = variable(1.0), variable(1.0)
    assert gradient(x * 2.0, other) == [None]


def test_several_outputs_are_weighted_and_added() -> None:
    """The gradient of several outputs is the sum of each one's times its cotangent."""
    x = variable(2.0)
    outputs = [x * x, x * 3.0]
    found = gradients(outputs, [leaf(np.float64(10.0)), leaf(np.float64(1.0))])
    assert evaluate([found[x]])[found[x]] == 43.0


def test_zero_stops_before_an_infinite_slope() -> None:
    """A zero cotangent times an infinite local derivative is zero, not NaN, for scalars and for arrays."""
    x = variable(0.0)
    assert gradient((1.0 / x) * 0.0, x) == [0.0]
    v = variable([0.0, 2.0])
    assert gradient(1.0 / v, v, weights=[0.0, 1.0])[0].tolist() == [0.0, -0.25]


def test_an_infinite_slope_that_is_used_stays_infinite() -> None:
    """Only a zero stops: an infinite derivative with a weight stays infinite."""
    x = variable(0.0)
    assert gradient(1.0 / x, x) == [-np.inf]


def test_zero_stops_at_second_order_too() -> None:
    """The second derivative through a product with zero is zero as well."""
    x = variable(0.0)
    first = gradients([(1.0 / x) * 0.0], [leaf(np.float64(1.0))])[x]
    assert gradient(first, x) == [0.0]


def test_a_constant_zero_slope_stops_an_infinite_cotangent() -> None:
    """What is constant around the point has gradient zero, whatever is made of it: outside a clamp, times written 0."""
    c = variable(10.0)
    assert gradient(make.acos(make.clamp(c, -1.0, 1.0)), c) == [0.0]
    u = variable([1.7, -0.4])
    assert gradient(make.sqrt(make.mean((0.0 * u) ** 2)), u)[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "branch", [lambda x: make.log(make.sqrt(x)), lambda x: make.exp(1.0 / x), lambda x: 1.0 / (x * x)]
)
@pytest.mark.parametrize("at", [0.0, -1.0])
def test_a_dead_branch_is_dead_at_every_order(branch: Any, at: float) -> None:
    """The branch that `where` does not take passes zeros at orders 1 to 3, even where its slopes are infinite, NaN."""
    x = variable(at)
    node = make.where(x > 0.0, branch(x), 0.0)
    for _ in range(3):
        node = gradients([node], [leaf(np.float64(1.0))])[x]
        assert evaluate([node])[node] == 0.0


@given(st.floats(-3, 3), st.floats(0.5, 3))
def test_higher_orders_of_a_quotient(numerator: float, denominator: float) -> None:
    """Derivatives of derivatives come out of the same rules: orders 1 to 3 of a/y."""
    y = variable(denominator)
    node = numerator / y
    for order, factor in ((1, -1.0), (2, 2.0), (3, -6.0)):
        node = gradients([node], [leaf(np.float64(1.0))])[y]
        value = evaluate([node])[node]
        assert value == pytest.approx(factor * numerator / denominator ** (order + 1), rel=1e-13)


def test_a_float32_leaf_gets_a_float32_gradient() -> None:
    """A gradient has the dtype of its node, also where wider values flow in."""
    narrow = leaf(np.float32(2.0), requires_grad=True)
    wide = variable([1.0, 2.0])
    found = gradients([wide * narrow], [leaf(np.ones(2))])
    assert found[narrow].dtype == np.float32
    assert found[wide].dtype == np.float64


def test_an_op_without_derivative_says_so_when_asked() -> None:
    """A gradient through floor_divide is refused when it is asked for, not when the node is made."""
    x = variable(5.0)
    z = make.floor_divide(x, 2.0)
    assert z.requires_grad
    with pytest.raises(NoGradientError, match="floor_divide"):
        gradients([z], [leaf(np.float64(1.0))])


def test_a_deep_chain_does_not_recurse() -> None:
    """A chain of 20,000 products is differentiated without recursion."""
    x = node = variable(1.0)
    for _ in range(20_000):
        node = node * 1.0
    assert gradient(node, x) == [1.0]
