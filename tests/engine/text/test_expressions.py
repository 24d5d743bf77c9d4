"""Nodes as text: precedence, notation, names for what is shared, and the way back through the language."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import Source
from agrad.engine.graph import LEAF, REAL, TABLE, Example, Node, Op, ancestors, leaf, make
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate
from agrad.engine.text.expressions import expression, program

INPUTS = {"x": np.array([0.5, -1.25, 2.0]), "y": np.array([1.5, 0.75, -0.5]), "A": np.arange(6.0).reshape(2, 3) - 2.5}


def _node(text: str) -> Node:
    return build(Source(f"out = {text}"), inputs=_known_in(text), wrt=[]).names["out"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(x * y) + x", "x * y + x"),
        ("x * (y + x)", "x * (y + x)"),
        ("x - (y - x)", "x - (y - x)"),
        ("(x - y) - x", "x - y - x"),
        ("x / (y * x)", "x / (y * x)"),
        ("x ** (y ** x)", "x**y**x"),
        ("(x ** y) ** x", "(x**y)**x"),
        ("(-x) ** 2", "(-x)**2"),
        ("-(x ** 2)", "-x**2"),
        ("-(-x)", "-(-x)"),
        ("x ** -y", "x**-y"),
        ("-(x * y)", "-(x * y)"),
        ("x * -y", "x * -y"),
        ("2.0 * x + 0.5", "2 * x + 0.5"),
        ("x - 1e300", "x - 1e+300"),
        ("(x < y) == (y < x)", "(x < y) == (y < x)"),
        ("(x < y) & ~(y < x)", "(x < y) & ~(y < x)"),
        ("A @ x + y[0]", "A @ x + y[0]"),
        ("A[:, 1:]", "A[:, 1:]"),
        ("(x + y)[1]", "(x + y)[1]"),
        ("A.sum(dim=0)", "sum(A, 0)"),
        ("torch.sum(A)", "sum(A)"),
        ("A.sum(1, keepdim=True)", "sum(A, 1, True)"),
        ("torch.cat([x, y])", "cat([x, y])"),
        ("torch.max(A, 0).values", "max(A, 0).values"),
        ("torch.where(x > 0.5, x, 0.0)", "where(x > 0.5, x, 0.0)"),
        ("F.selu(x)", "selu(x)"),
        ("F.gelu(x, approximate='tanh')", "gelu(x, 'tanh')"),
        ("A.reshape(3, 2)", "reshape(A, (3, 2))"),
        ("x * [1.0, 2.0, inf]", "x * [1.0, 2.0, inf]"),
    ],
)
def test_notation(text: str, written: str) -> None:
    """An expression is written with the fewest parentheses, whole numbers and keywords."""
    assert expression(_node(text)) == written


def test_names_stand_for_nodes() -> None:
    """A node with a name is written by it, and nothing that only it needs is."""
    inner = _node("exp(x)")
    assert expression(inner * inner + 1.0, {inner: "e"}) == "e * e + 1"


def test_what_is_shared_gets_a_name() -> None:
    """A long part that stands twice is written once, under a name that nobody has; short ones are repeated."""
    t1 = leaf(np.ones(3))
    t1.name = "t1"
    shared = make.exp(make.sin(make.cos(make.tanh(make.exp(t1)))))
    short = make.exp(t1)
    assert program({"out": shared * shared + short * short}) == [
        "t2 = exp(sin(cos(tanh(exp(t1)))))",
        "out = t2 * t2 + exp(t1) * exp(t1)",
    ]
    assert program({"a": short, "b": short}) == ["a = exp(t1)", "b = a"]


def test_a_deep_graph_and_a_shared_one() -> None:
    """Depth costs no recursion, and a part that doubles with every step no memory."""
    x = leaf(np.float64(0.5))
    x.name = "x"
    deep = doubled = x
    for _ in range(5000):
        deep = make.sin(deep)
    for _ in range(200):
        doubled = doubled + doubled * doubled
    assert "..." in expression(deep, longest=50)
    assert max(map(len, program({"out": deep}))) < 500
    assert len("\n".join(program({"out": doubled}))) < 20_000
    assert len(expression(doubled)) <= 400 + 400


def speakable(node: Node) -> bool:
    """Whether the language has a calling form of everything that a node is computed from."""
    return all(part.op is LEAF or part.op.forms for part in ancestors([node]))


def _examples() -> list[Any]:
    return [
        pytest.param(op, example, id=f"{op.name}-{number}")
        for op in sorted(set(TABLE.values()), key=lambda op: op.name)
        for number, example in enumerate(op.examples)
    ]


@pytest.mark.parametrize(("op", "example"), _examples())
def test_every_example_comes_back(op: Op, example: Example) -> None:
    """The text of each row's examples builds a graph with the very same value, unless it says `...`."""
    random = np.random.default_rng(3)
    inputs = {name: random.uniform(*example.within.get(name, REAL), shape) for name, shape in example.inputs.items()}
    formulas = build(Source(f"result = {example.form}"), inputs=inputs, wrt=list(inputs))
    for name, node in formulas.names.items():
        if not name.startswith("result") or node.op is LEAF or not speakable(node):
            continue
        lines = program({"result": node}, {formulas.names[given]: given for given in inputs})
        if op.name == "rrelu" or any("..." in line for line in lines):  # rrelu: prelu takes no weight for each element
            continue
        text = "\n".join(lines)
        again = build(Source(text), inputs={name: value for name, value in inputs.items() if name in text}, wrt=[])
        result = again.names["result"]
        assert np.array_equal(evaluate([node])[node], evaluate([result])[result], equal_nan=True), text


def test_few_examples_cannot_be_said() -> None:
    """The language has words for nearly everything."""
    unsaid = set()
    for parameter in _examples():
        op, example = parameter.values
        inputs = {name: np.ones(shape) * 0.5 for name, shape in example.inputs.items()}
        out = build(Source(f"out = {example.form}"), inputs=inputs, wrt=[]).names.get("out")
        if out is not None and "..." in "\n".join(program({"out": out})):
            unsaid.add(op.name)
    assert len(unsaid) <= 20, unsaid


NUMBERS = st.sampled_from([2.0, -3.0, 0.5, -0.0, 1e-9, 7, -2])
UNARY = ("neg", "exp", "sin", "abs", "sigmoid", "square", "relu", "sum", "reciprocal")
VECTORS = ("flip", "softmax", "cumsum")
BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "remainder", "hypot")
COMPARISONS = ("lt", "le", "eq", "ne")


@st.composite
def graphs(draw: st.DrawFn) -> Node:
    """A random graph over x and y, in which nodes are used again."""
    nodes: list[Node] = []
    for name in ("x", "y"):
        node = leaf(INPUTS[name])
        node.name = name
        nodes.append(node)
    pick = st.sampled_from(nodes)
    for _ in range(draw(st.integers(1, 12))):
        node = draw(pick)
        other: Any = draw(st.one_of(pick, NUMBERS))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            made = getattr(make, draw(st.sampled_from(UNARY)))(node)
        elif kind == 1 and node.shape:
            made = getattr(make, draw(st.sampled_from(VECTORS)))(node, 0)
        elif kind == 2:
            made = make.where(getattr(make, draw(st.sampled_from(COMPARISONS)))(node, other), node, other)
        elif kind == 3 and isinstance(other, Node) and other.shape == node.shape:
            made = make.sum(make.stack([node, other]), 0)
        else:
            pair = (other, node) if draw(st.booleans()) else (node, other)
            made = getattr(make, draw(st.sampled_from(BINARY)))(*pair)
        nodes.append(made)
    return nodes[-1]


def _known_in(text: str) -> dict[str, Any]:
    """The values of the names that a text uses."""
    return {name: value for name, value in INPUTS.items() if re.search(rf"\b{name}\b", text)}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(node=graphs())
def test_random_graphs_come_back(node: Node) -> None:
    """The text of a random graph builds one with the very same value, in one expression or in lines."""
    if node.op is LEAF:
        return
    value = evaluate([node])[node]
    texts = ["\n".join(program({"result": node}, longest=60)), f"result = {expression(node, longest=100_000)}"]
    for text in texts:
        result = build(Source(text), inputs=_known_in(text), wrt=[]).names["result"]
        assert np.array_equal(value, evaluate([result])[result], equal_nan=True), text
