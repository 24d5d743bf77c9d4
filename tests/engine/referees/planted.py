"""Rules that are wrong in the ways rules really are: for tests that demand an objection, and the blame on the op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agrad.engine.graph import Node, Op, make

Slopes = tuple[Callable[..., Any], ...]
Rule = Callable[[Op, Node, Any], list[Any]]
"""From the right row, a node and its cotangent to wrong cotangents of the arguments."""

X3: Final = [0.3, 1.2, -0.7]
Y3: Final = [1.7, 0.4, 0.9]
A3: Final = [[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [1.5, 0.2, 0.7]]
B3: Final = [[0.2, -0.4, 1.1], [0.6, 0.9, -0.3], [1.3, 0.1, 0.8]]


@dataclass(frozen=True, slots=True)
class Plant:
    """A wrong rule and a formula that shows it.

    Attributes:
        name: what is wrong.
        op: whose rule it is.
        text: the formula.
        inputs: the values of its leaves.
        slopes, rule: the wrong rule, of an elementwise op or of another.
        argument: the position of the argument that it is wrong for.
        blind: the referees that cannot judge here, for a reason that they give.
    """

    name: str
    op: str
    text: str
    inputs: Mapping[str, Any]
    slopes: Slopes | None = None
    rule: Rule | None = None
    argument: int = 0
    blind: frozenset[str] = field(default_factory=frozenset)


def _parts(right: Op, node: Node, g: Any) -> list[Any]:
    assert right.rule is not None
    return list(right.rule(node, g))


def _turned(right: Op, node: Node, g: Any, argument: int = 0) -> list[Any]:
    """The right cotangents, those of one argument one place further on its first axis."""
    parts = _parts(right, node, g)
    parts[argument] = make.roll(parts[argument], 1, 0)
    return parts


def _times(factor: float) -> Rule:
    return lambda right, node, g: [part if part is None else part * factor for part in _parts(right, node, g)]


def _standardized(_right: Op, node: Node, g: Any) -> list[Any]:
    return [g / make.sqrt(make.var(node.args[0], -1, correction=0, keepdim=True) + node.attrs["eps"])]


TAIL: Final = frozenset({"differences"})
"""What is too small beside the values for quotients in float64."""

PLANTS: Final = [
    # Signs and factors.
    Plant("the sign of the cosine", "cos", "sum(cos(x) * y)", {"x": X3, "y": Y3}, (lambda x, _y: make.sin(x),)),
    Plant("a minus lost", "sub", "sum((x - y)**2)", {"x": X3, "y": Y3}, (lambda *_: 1, lambda *_: 1), argument=1),
    Plant("one in ten thousand", "exp", "sum(exp(x)**2)", {"x": X3}, (lambda _x, y: y * 1.0001,)),
    Plant(
        "no square of the denominator",
        "div",
        "sum(y / x)",
        {"x": Y3, "y": X3},
        (lambda _x, y, _z: 1.0 / y, lambda _x, y, z: -z * y),
        argument=1,
    ),
    Plant("a half lost", "sqrt", "sum(sqrt(x) * x)", {"x": Y3}, (lambda _x, y: 1.0 / y,)),
    Plant("the natural logarithm instead", "log10", "sum(log10(x))", {"x": Y3}, (lambda x, _y: 1.0 / x,)),
    Plant(
        "the exponent not lowered",
        "pow",
        "sum(x ** y)",
        {"x": Y3, "y": [2.0, 3.0, 0.5]},
        (lambda _x, y, z: y * z, lambda x, _y, z: z * make.log(x)),
    ),
    Plant(
        "no logarithm of the base",
        "pow",
        "sum(x ** y)",
        {"x": Y3, "y": [2.0, 3.0, 0.5]},
        (lambda x, y, z: y * z / x, lambda _x, _y, z: z),
        argument=1,
    ),
    Plant("the inverse's sign", "inverse", "sum(inv(A) * B)", {"A": A3, "B": B3}, rule=_times(-1.0)),
    # The order of arguments.
    Plant(
        "each factor itself", "mul", "sum(x * y * y)", {"x": X3, "y": Y3}, (lambda x, _y, _z: x, lambda _x, y, _z: y)
    ),
    Plant(
        "atan2 the other way round",
        "atan2",
        "sum(atan2(x, y))",
        {"x": X3, "y": Y3},
        (lambda x, y, _z: -x / (x * x + y * y), lambda x, y, _z: y / (x * x + y * y)),
    ),
    Plant(
        "the other branch",
        "where",
        "sum(where(x > 0, x * y, y**3))",
        {"x": X3, "y": Y3},
        rule=lambda _row, node, g: [None, make.where(node.args[0], 0.0, g), make.where(node.args[0], g, 0.0)],
        argument=1,
    ),
    Plant(
        "the parts of cat exchanged",
        "cat",
        "sum(cat([x, y]) * cat([y, x])**2)",
        {"x": X3, "y": Y3},
        rule=lambda right, node, g: list(reversed(_parts(right, node, g))),
    ),
    # Transposes.
    Plant(
        "no transpose of the right factor",
        "matmul",
        "sum(sin(A @ B))",
        {"A": A3, "B": B3},
        rule=lambda _row, node, g: [make.matmul(g, node.args[1]), make.matmul(make.t(node.args[0]), g)],
    ),
    Plant(
        "no transpose of the left factor",
        "matmul",
        "sum(sin(A @ B))",
        {"A": A3, "B": B3},
        rule=lambda _row, node, g: [make.matmul(g, make.t(node.args[1])), make.matmul(node.args[0], g)],
        argument=1,
    ),
    Plant(
        "no transpose of the inverse",
        "det",
        "det(A) ** 2",
        {"A": A3},
        rule=lambda _row, node, g: [g * node * make.inverse(node.args[0])],
    ),
    Plant("a transpose not undone", "permute", "sum(A.T * B)", {"A": A3, "B": B3}, rule=lambda _row, _node, g: [g]),
    # Axes.
    Plant(
        "a sum's other axis",
        "sum",
        "sum(sum(A, dim=0)**2)",
        {"A": A3},
        rule=lambda _row, node, g: [make.unsqueeze(g, 1) + 0.0 * node.args[0]] if g.ndim else [g + 0.0 * node.args[0]],
    ),
    Plant(
        "a softmax's other axis",
        "softmax",
        "sum(softmax(A, dim=0) * B)",
        {"A": A3, "B": B3},
        rule=lambda _row, node, g: [node * (g - make.sum(g * node, 1, keepdim=True))],
    ),
    Plant(
        "a running sum not turned round",
        "cumsum",
        "sum(cumsum(x, 0)**2)",
        {"x": X3},
        rule=lambda _row, _node, g: [make.cumsum(g, 0)],
    ),
    Plant("a flip not undone", "flip", "sum(flip(x, [0]) * y)", {"x": X3, "y": Y3}, rule=lambda _row, _node, g: [g]),
    # Indices.
    Plant("the next position", "select", "x[1] ** 3", {"x": X3}, rule=_turned),
    Plant("the next slice", "slice", "sum(x[1:] ** 2)", {"x": X3}, rule=_turned),
    Plant("gathered from the next", "gather", "sum(gather(x, 0, tensor([0, 2]))**2)", {"x": X3}, rule=_turned),
    Plant("not the largest", "amax", "amax(x * y, 0)", {"x": X3, "y": Y3}, rule=_turned),
    Plant(
        "a kernel not turned round",
        "conv1d",
        "sum(conv1d(x.reshape(1, 1, 3), w.reshape(1, 1, 2))**2)",
        {"x": X3, "w": [0.4, -1.1]},
        rule=lambda right, node, g: [_parts(right, node, g)[0], make.flip(_parts(right, node, g)[1], [2])],
        argument=1,
    ),
    # Sums over elements.
    Plant("no 1/n", "mean", "mean(x * y)", {"x": X3, "y": Y3}, rule=lambda _row, node, g: [g + 0.0 * node.args[0]]),
    Plant("n for n - 1", "var", "var(x)", {"x": X3}, rule=_times(2 / 3)),
    Plant(
        "not normalized",
        "logsumexp",
        "logsumexp(x, 0)",
        {"x": X3},
        rule=lambda _row, node, g: [g * make.exp(node.args[0])],
    ),
    Plant(
        "not divided by the norm",
        "linalg.vector_norm",
        "norm(x)",
        {"x": X3},
        rule=lambda _row, node, g: [g * node.args[0]],
    ),
    Plant(
        "the entry itself not left out",
        "prod",
        "prod(x)",
        {"x": X3},
        rule=lambda _row, node, g: [g * node + 0.0 * node.args[0]],
    ),
    Plant(
        "without the softmax",
        "log_softmax",
        "sum(log_softmax(x, 0) * y)",
        {"x": X3, "y": Y3},
        rule=lambda _row, _node, g: [g],
    ),
    Plant(
        "mean and variance held", "standardize", "sum(layer_norm(A, (3,)) * B)", {"A": A3, "B": B3}, rule=_standardized
    ),
    # Tails and small numbers.
    Plant("1 - y far out", "sigmoid", "sigmoid(x)", {"x": 40.0}, (lambda _x, y: y * (1.0 - y),), blind=TAIL),
    Plant("1 - y**2 far out", "tanh", "tanh(x)", {"x": 25.0}, (lambda _x, y: 1.0 - y * y,), blind=TAIL),
    Plant(
        "one near zero",
        "log1p",
        "sum(log1p(x))",
        {"x": [1e-3, -2e-3]},
        (lambda x, _y: make.where(make.lt(make.abs(x), 1e-2), 1.0, 1.0 / (1.0 + x)),),
    ),
    Plant("the value near zero", "expm1", "sum(expm1(x))", {"x": [1e-4, 2e-4]}, (lambda _x, y: y,)),
    Plant(
        "one too early",
        "softplus",
        "softplus(x)",
        {"x": 12.0},
        (lambda x, _y, **_: make.where(make.gt(x, 10.0), 1.0, make.sigmoid(x)),),
    ),
    # Kinks and borders.
    Plant(
        "steeper than both sides",
        "relu",
        "relu(x)",
        {"x": 0.0},
        (lambda x, _y: make.where(make.eq(x, 0.0), 2.0, make.where(make.gt(x, 0.0), 1.0, 0.0)),),
    ),
    Plant("no zero outside", "clamp", "sum(clamp(x, 0, 1) * y)", {"x": X3, "y": Y3}, (lambda *_, **__: 1,)),
]
