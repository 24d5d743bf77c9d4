"""The sweep over long graphs against the graph of gradients, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine import sweep
from agrad.engine.errors import NoGradientError, Source
from agrad.engine.evaluation import evaluate as evaluation
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.gradient import gradients
from agrad.engine.graph import REAL, TABLE, Example, Node, Shape, ancestors, leaf, make
from agrad.engine.language import Formulas, build
from agrad.engine.run.cpu import evaluate as evaluate_nodes
from agrad.engine.run.plan import make_plan


def same(first: Any, second: Any) -> bool:
    """Whether two values are the same bits and of the same dtype; NaN is like NaN."""
    first, second = np.asarray(first), np.asarray(second)
    return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")


def compare(outputs: Sequence[Node], nodes: Sequence[Node]) -> int:
    """Compare values and gradients of some nodes; gives how many gradients there are."""
    weights = [leaf(np.ones(output.shape, output.dtype)[()]) for output in outputs]
    graph = gradients(outputs, weights)
    plan = evaluate_nodes([*nodes, *[graph[node] for node in nodes if node in graph]])
    values = sweep.values_of(ancestors([*nodes, *outputs]))
    found = sweep.gradients_at(values, outputs, weights, set(nodes))
    assert found.keys() == graph.keys() & set(nodes)
    for node in nodes:
        assert same(values[node], plan[node]), node
        if node in graph:
            assert same(found[node], plan[graph[node]]), node
    return len(found)


def cases() -> Iterator[Any]:
    """Each example of each row that has a derivative; of elementwise rows with single numbers too."""
    for op in sorted(set(TABLE.values()), key=lambda op: op.name):
        for number, example in enumerate(op.examples):
            if op.differentiable and example.inputs and example.orders > 0:
                yield pytest.param(example, example.inputs, id=f"{op.name}-{number}")
                if op.elementwise and set(example.inputs.values()) == {(3,)}:
                    yield pytest.param(example, dict.fromkeys(example.inputs, ()), id=f"{op.name}-{number}-numbers")


@pytest.mark.parametrize(("example", "shapes"), list(cases()))
def test_every_row_gives_the_gradients_of_its_graph(example: Example, shapes: Mapping[str, Shape]) -> None:
    """The rules of all rows give the same numbers in both ways, with arrays and with single numbers."""
    rng = np.random.default_rng(crc32(example.form.encode()))
    inputs = {name: rng.uniform(*example.within.get(name, REAL), shape)[()] for name, shape in shapes.items()}
    formulas = build(Source(f"made = {example.form}", ""), inputs=inputs)
    nodes = [binding.node for binding in formulas.bindings]
    made = [binding.node for binding in formulas.bindings if binding.name.startswith("made")]
    outputs = [node for node in made if node.dtype.kind in "fc"]
    assert compare(outputs, nodes)


def test_a_wrong_rule_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would see a sweep that goes by other slopes."""
    x = leaf(np.float64(0.5), requires_grad=True)
    y = make.exp(x) * x
    assert compare([y], [x, y]) == 2
    monkeypatch.setattr(sweep, "_times", lambda g, slope: g * slope * 2)
    monkeypatch.setattr(sweep, "_flow", lambda _xp, g, slope: g * slope)
    z = make.neg(x) * x
    with pytest.raises(AssertionError):
        compare([z], [x])


_UNARY = ("sin", "exp", "log", "sqrt", "abs", "relu", "tanh", "neg", "square", "floor", "softplus")
_BINARY = ("+", "-", "*", "/", "**")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Lines that compute from the lines before them, at points where much is infinite or stops."""
    starts = st.sampled_from(["0.0", "-0.0", "1.0", "-2.5", "1e200", "1e-200", "0.3"])
    lines = [f"x{index} = {draw(starts)}" for index in range(3)]
    for index in range(3, draw(st.integers(5, 20))):
        operands = [f"x{draw(st.integers(0, index - 1))}" for _ in range(3)]
        kind = draw(st.integers(0, 3))
        if kind == 0:
            lines.append(f"x{index} = {draw(st.sampled_from(_UNARY))}({operands[0]})")
        elif kind == 1:
            lines.append(f"x{index} = {operands[0]} {draw(st.sampled_from(_BINARY))} {draw(starts)}")
        elif kind == 2:
            lines.append(f"x{index} = where({operands[0]} > 0.5, {operands[1]}, {operands[2]})")
        else:
            lines.append(f"x{index} = {operands[0]} {draw(st.sampled_from(_BINARY))} {operands[1]}")
    return "\n".join(lines)


@settings(deadline=None)
@given(texts())
def test_random_texts_give_the_same_bits(text: str) -> None:
    """Values and gradients are those of the graph, infinities, NaN, and zeros that stop among them."""
    formulas = build(Source(text, ""))
    nodes = list(dict.fromkeys(binding.node for binding in formulas.bindings))
    output = formulas.names[formulas.last]
    if output.requires_grad:
        compare([output], nodes)


@pytest.mark.parametrize(
    "text",
    [
        "x = [1.0, 2.0, 3.0]\nv = x[0]*sin(x[1])\nw = v*x\nz = sum(w) + v",  # numbers and arrays in turns
        "x = tensor(0.7, dtype=float32)\ny = 2.0\nz = sin(x)*y + x.to(float64)",  # two dtypes
        "x = 0.5\nw = x * (1 + 2j)\nz = abs(exp(w)) + real(w)*x",  # complex numbers on the way
        "A = [[2.0, 1.0], [1.0, 3.0]]\nw, V = torch.linalg.eigh(A)\nz = w[0]*2 + w[1]**2",  # several results
        "x = 2.0\ny = grad(x**3, x)\nz = y*x",  # a gradient in the text
        "x = 3.0\ny = x**x\nz = torch.lerp(x, y, 0.25)",
    ],
)
def test_all_kinds_of_values(text: str) -> None:
    """Arrays, dtypes, complex numbers and several results pass by the general way, and nothing is lost."""
    formulas = build(Source(text, ""))
    nodes = list(dict.fromkeys(binding.node for binding in formulas.bindings))
    assert compare([formulas.names[formulas.last]], nodes) >= 2


LONG = "".join(f"x{i} = x{i - 1}*0.99 + sin(x{i - 2})*0.01\n" for i in range(2, 800))


def both_ways(monkeypatch: pytest.MonkeyPatch, formulas: Formulas, **options: Any) -> tuple[Evaluation, Evaluation]:
    """A long text by the sweep and by a plan."""
    outputs = chosen_outputs(formulas, [])
    swept = evaluate(formulas, outputs, **options)
    monkeypatch.setattr(evaluation, "is_long", lambda _order: False)
    return swept, evaluate(formulas, outputs, **options)


@pytest.mark.parametrize("retain_grad", [False, True])
@pytest.mark.parametrize(
    "more",
    [
        "",
        "u = exp(x799)\nv = log(1 + u)\nz = v + u",  # rewritten, and u stands inside of the pattern
        "n = sqrt(x0**2 + x1**2)\nz = n*x799",
    ],
)
def test_a_long_text_is_evaluated_as_a_short_one(monkeypatch: pytest.MonkeyPatch, more: str, retain_grad: bool) -> None:
    """Values and gradients of a long text are those of the plan, rewritten or not."""
    formulas = build(Source("x0 = 0.5\nx1 = 0.25\n" + LONG + more, ""), wrt=["x0", "x1", "x700"])
    swept, planned = both_ways(monkeypatch, formulas, retain_grad=retain_grad)
    assert list(swept.grads) == list(planned.grads)
    for node, grad in planned.grads.items():
        assert same(swept.grads[node], grad), node
    for binding in formulas.bindings:
        assert same(swept.values[binding.node], planned.values[binding.node]), binding.name


def test_a_long_text_makes_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep is what computes a long text; a short one has a plan."""
    made: list[int] = []

    def counted(targets: Any, **options: Any) -> Any:
        made.append(1)
        return make_plan(targets, **options)

    monkeypatch.setattr("agrad.engine.run.cpu.make_plan", counted)
    for text, plans in ((LONG, 0), ("x2 = x1*x0", 1)):
        formulas = build(Source("x0 = 0.5\nx1 = 0.25\n" + text, ""))
        made.clear()
        evaluate(formulas, chosen_outputs(formulas, []))
        assert len(made) == plans


def test_few_nodes_of_a_long_text_get_their_closer_look() -> None:
    """What is differentiated counts: a kink is told where the output depends on few of the nodes."""
    formulas = build(Source("x0 = 0.5\nx1 = 0.25\n" + LONG + "z = abs(x0 - 0.5)", ""), wrt=["x0"])
    assert evaluate(formulas, chosen_outputs(formulas, [])).kinks


def test_an_op_without_derivative_is_refused_in_a_long_text() -> None:
    """The error is that of the graph of gradients, with its place."""
    text = "x0 = 0.5\nx1 = 0.25\n" + LONG + "n = x799 // x0\nz = n*x1"
    formulas = build(Source(text, ""))
    with pytest.raises(NoGradientError, match="derivative for floor_divide is not implemented") as caught:
        evaluate(formulas, chosen_outputs(formulas, []))
    assert caught.value.spans


def test_large_arrays_are_left_to_the_planner() -> None:
    """A graph is long by its nodes, and only where these are small."""
    x = leaf(np.ones(1000), requires_grad=True)
    chain = [x]
    for _ in range(3000):
        chain.append(chain[-1] * 0.5)
    assert not sweep.is_long(ancestors(chain))
    assert not sweep.is_long(ancestors([leaf(np.float64(1.0), requires_grad=True) * 2.0]))
