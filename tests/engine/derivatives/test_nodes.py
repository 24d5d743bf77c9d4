"""Derivatives as nodes: `grad(z, x)`, `jacobian(z, x)` and `hessian(z, x)` inside of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives import nodes as derivatives
from agrad.engine.derivatives.jacobian import rows_of
from agrad.engine.derivatives.nodes import by_directions, by_entries, jacobian, merged, repeated
from agrad.engine.errors import AgradError, LimitError, NoGradientError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import ancestors, leaf, make
from agrad.engine.language import Formulas, build
from agrad.engine.run.cpu import evaluate


def values(text: str, **options: Any) -> dict[str, Any]:
    """The value of every name of a text."""
    formulas = build(Source(text), **options)
    found = evaluate(formulas.names.values())
    return {name: np.asarray(found[node]).tolist() for name, node in formulas.names.items()}


def read(text: str, **options: Any) -> Formulas:
    """A text, read."""
    return build(Source(text), **options)


def error_of(text: str, **options: Any) -> AgradError:
    """The error of a text."""
    with pytest.raises(AgradError) as caught:
        build(Source(text), **options)
    return caught.value


def test_a_gradient_is_a_node() -> None:
    """It has a value, and what is computed from it is differentiated again."""
    found = values("x = [1.0, 2.0]\nz = sum(x**3)\ng = grad(z, x)\np = sum(g**2)\nq = grad(p, x)")
    assert found["g"] == [3.0, 12.0]
    assert found["q"] == [36.0, 288.0]


def test_nested_gradients() -> None:
    """The third derivative by three calls inside each other."""
    assert values("x = 2.0\nd = grad(grad(grad(x**4, x), x), x)")["d"] == 48.0


def test_jacobian_and_hessian_have_the_shapes_of_both() -> None:
    """Rows are entries of the result, columns entries of the tensor; both of them keep their own shapes."""
    found = values("A = [[1.0, 2.0], [3.0, 4.0]]\nj = jacobian(sum(A**2, 0), A)\nh = hessian(sum(A)*sum(A**2), A)")
    assert found["j"] == [[[2.0, 0.0], [6.0, 0.0]], [[0.0, 4.0], [0.0, 8.0]]]
    A = np.array([1.0, 2.0, 3.0, 4.0])  # noqa: N806  # the file's name
    expected = 2 * (A[:, None] + A[None, :]) + 2 * A.sum() * np.eye(4)
    assert np.array_equal(np.reshape(found["h"], (4, 4)), expected)


def test_a_jacobian_is_differentiated_again() -> None:
    """The gradient of a determinant of a Jacobian."""
    text = "x = [0.5, 2.0]\ny = stack([x[0]**2*x[1], x[0] + x[1]**3])\nd = det(jacobian(y, x))\ng = grad(d, x)"
    u, v = 0.5, 2.0
    found = values(text)
    assert found["d"] == pytest.approx(2 * u * v * 3 * v**2 - u**2)
    assert found["g"] == pytest.approx([6 * v**3 - 2 * u, 18 * u * v**2])


def test_weights() -> None:
    """A third argument weights a result of several numbers."""
    assert values("x = [1.0, 2.0]\ng = grad(x**2, x, [1, 10])")["g"] == [2.0, 40.0]
    assert "Mismatch in shape" in error_of("x = [1.0, 2.0]\ng = grad(x**2, x, [1.0, 2.0, 3.0])").message


def test_smooth_functions_through_a_singular_step() -> None:
    """What is rewritten for gradients is rewritten here, unless a name inside of it would be passed by."""
    assert values("x = 0.0\nd = grad(grad(where(x == 0.0, 1.0, sin(x)/x), x), x)")["d"] == pytest.approx(-1 / 3)
    named = read("x = 1.0\ns = exp(x)\nz = log(1.0 + s)\ng = grad(z, x)")
    weight = gradients([named.names["g"]], [leaf(np.float64(1.0))])
    assert named.names["s"] in weight


def test_detached_parts_are_constants() -> None:
    """What is detached has no derivative, inside of a gradient too."""
    assert values("x = 3.0\ng = grad(detach(x)*x, x)\nh = grad(g*x, x)")["g"] == 3.0
    assert values("x = 3.0\ng = grad(detach(x)*x, x)\nh = grad(g*x, x)")["h"] == 3.0


def test_a_leaf_inside_of_a_gradient_needs_no_declaration() -> None:
    """Where others are asked for or declared, the leaf is differentiated by all the same, and not listed."""
    asked = read("x = 1.0\ny = 2.0\ng = grad(x*y**2, y)", wrt=["x"])
    assert list(asked.wrt) == ["x"]
    assert evaluate([asked.names["g"]])[asked.names["g"]] == 4.0
    declared = read("x = tensor(3.0, requires_grad=True)\ny = 2.0\nu = y*x\ng = grad(u**2*x, u)\nh = grad(y**2, y)")
    assert list(declared.wrt) == ["x"]
    assert evaluate([declared.names["h"]])[declared.names["h"]] == 4.0
    nested = read("x = 1.0\ny = 2.0\nw = 3.0\ng = grad(grad(x*y**2*w**2, y), w)", wrt=["x"])
    assert evaluate([nested.names["g"]])[nested.names["g"]] == 24.0


def test_derivatives_by_what_is_not_used_are_zero_and_said() -> None:
    """A result that does not depend on the tensor has derivative zero, with a warning; a constant is no new leaf."""
    formulas = read("a = 0.3\nx = 1.0\nd = grad(grad(a*x, x), x)\nc = grad(x, x)")
    assert evaluate([formulas.names["d"]])[formulas.names["d"]] == 0.0
    assert formulas.warnings == ["<text>:3: what is differentiated does not depend on x: zero"]
    assert list(formulas.wrt) == ["a", "x"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("x = [1.0, 2.0]\ng = grad(x, x)", "only for scalar outputs", "jacobian(z, x)"),
        ("x = [1.0, 2.0]\nh = hessian(x, x)", "only for scalar outputs", "hessian(sum(z), x)"),
        ("x = [1.0, 2.0]\ng = grad(argmax(x), x)", "does not require grad and does not have a grad_fn", "int64"),
        (
            "x = tensor(1.0, requires_grad=False)\ng = grad(x**2, x)",
            "One of the differentiated Tensors",
            "leaf of floats",
        ),
        ("x = tensor([1, 2], dtype=int64)\ng = grad(sum(x*1.0), x)", "One of the differentiated Tensors", "int64"),
        ("x = 1.0\ny = 2.0\ng = grad(x*y, [x, y])", "not have been used in the graph", "one in each call"),
        ("x = 1.0\nj = jacobian(exp(1j*x), x)", "complex result", "real()"),
        ("x = 1.0\ng = grad(exp(1j*x), x)", "only for real scalar outputs", "real()"),
    ],
)
def test_what_cannot_be_differentiated(text: str, message: str, hint: str) -> None:
    """PyTorch's words, a hint, and the place of the call."""
    error = error_of(text)
    assert message in error.message
    assert hint in error.hint
    assert error.spans


def test_ops_without_a_derivative_say_so() -> None:
    """The moment that a gradient is asked through one."""
    with pytest.raises(NoGradientError, match="is not implemented"):
        build(Source("x = [1.0, 2.0]\ng = grad(sum(x // 2.0), x)"))


def test_large_jacobians_are_refused() -> None:
    """Before anything of that size is made."""
    error = error_of("x = ones(4000)\nj = jacobian(outer(x, x), x)")
    assert isinstance(error, LimitError)
    assert "64,000,000,000 entries" in error.message


def test_both_ways_give_the_same_jacobian() -> None:
    """Runs over the result's entries and runs along the tensor's directions; a wide result takes the second."""
    x = leaf(np.array([0.3, -1.2]), requires_grad=True)
    weights = leaf(np.random.default_rng(1).standard_normal((12, 2)))
    y = make.cumsum(make.tanh(make.matmul(weights, x)) * make.exp(make.sum(x)), 0)
    rows = rows_of(by_entries(y, [x]))[0]
    columns = rows_of(by_directions(y, x))[0]
    np.testing.assert_allclose(rows, columns.T, rtol=1e-14, atol=1e-15)
    node = jacobian(y, x)
    np.testing.assert_allclose(evaluate([node])[node], rows, rtol=1e-14, atol=1e-15)
    assert node.op.name == "permute"


def test_directions_stop_at_zeros() -> None:
    """A direction that does not move an entry gives exactly zero there, whatever the slope."""
    x = leaf(np.array([0.0, 1.0]), requires_grad=True)
    found = rows_of(by_directions(make.sqrt(x), x))[0]
    assert np.array_equal(found, [[np.inf, 0.0], [0.0, 0.5]])


def test_equal_parts_become_one_node() -> None:
    """Only for a derivative by one node, which is kept: the value stays, the graph shrinks."""
    x = leaf(np.float64(0.7), requires_grad=True)
    output = make.exp(x) * make.exp(x) + 2.0 * make.exp(x)
    small = merged(output, {x})
    assert len(ancestors([small])) == len(ancestors([output])) - 2
    assert evaluate([small])[small] == evaluate([output])[output]
    assert x in ancestors([small])
    zeros = merged(x * leaf(np.float64(-0.0)) + x * leaf(np.float64(0.0)), {x})
    assert zeros.args[0] is not zeros.args[1]
    y = make.exp(x)
    assert y in ancestors([merged(make.exp(x) * y + make.sin(make.exp(x)), {x, y})])


def test_graphs_of_high_orders_stay_small() -> None:
    """The tenth derivative of a short formula, and a limit where it would be a graph of millions."""
    formulas = read("x = 0.7\nz = tanh(x)*exp(x)")
    chain = repeated(formulas.names["z"], formulas.wrt["x"], 10)
    assert len(ancestors([chain[-1]])) < 10_000
    assert float(evaluate([chain[-1]])[chain[-1]]) == pytest.approx(-1878.9059310, rel=1e-9)


def test_graphs_that_grow_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order by order, before they are computed."""
    monkeypatch.setattr(derivatives, "MOST_NODES", 100)
    formulas = read("x = 0.7\nz = tanh(x)*exp(x)")
    with pytest.raises(LimitError, match="the derivative of order 5 is a graph of"):
        repeated(formulas.names["z"], formulas.wrt["x"], 20)


def test_gradients_of_jacobian_nodes_agree_with_gradients() -> None:
    """The sum of a Jacobian's rows is the gradient of the sum."""
    x = leaf(np.array([0.3, -1.2, 2.0]), requires_grad=True)
    y = make.softmax(x, 0) * x
    whole = make.sum(jacobian(y, x), 0)
    plain = gradients([make.sum(y)], [leaf(np.float64(1.0))])[x]
    found = evaluate([whole, plain])
    np.testing.assert_allclose(found[whole], found[plain], rtol=1e-14)
