"""Every row of the table: derivatives of orders 1 to 3 inside its domain against its formula in high precision.

The n-th derivative of the weighted sum of a result along a random line is taken twice: as gradient of gradient of the
graph in float64, contracted with the line's direction each time, and as a difference quotient of the rows' formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import REAL, TABLE, Example, Node, Op, Outputs, ancestors, apply, leaf, make
from agrad.engine.language import build
from agrad.engine.referees.case import Case
from agrad.engine.referees.point import Point
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

DIGITS: Final = 160
"""A third difference with steps of 10**-20 loses 60 of them."""
TOLERANCE: Final = 1e-9


def examples(*, differentiable: bool) -> Iterator[Any]:
    """Each example of each row, or of each that has a derivative."""
    for op in sorted(set(TABLE.values()), key=lambda op: op.name):
        for number, example in enumerate(op.examples):
            if not differentiable or (op.differentiable and example.inputs and example.orders > 0):
                yield pytest.param(op, example, id=f"{op.name}-{number}")


def weighted(output: Node, rng: np.random.Generator) -> Node | None:
    """A random weighted sum of an output, real and imaginary parts both; None where it has no derivative."""
    if output.dtype.kind not in "fc" or not output.requires_grad:
        return None
    parts = [make.real(output), make.imag(output)] if output.dtype.kind == "c" else [output]
    total: Node | None = None
    for part in parts:
        term = make.sum(part * leaf(rng.uniform(0.5, 1.5, part.shape)[()]))
        total = term if total is None else total + term
    return total


def derivatives_of_graph(total: Node, line: dict[Node, Node], orders: int) -> list[tuple[float, float]]:
    """The derivatives along a line by nested gradients, each with the size of the parts that it is a sum of."""
    wanted: list[tuple[Node, Node]] = []
    one = leaf(np.float64(1.0))
    for _ in range(orders):
        found = gradients([total], [one])
        parts = [found[node] * move for node, move in line.items() if node in found]
        if not parts:
            break
        total, size = make.sum(parts[0]), make.sum(make.abs(parts[0]))
        for part in parts[1:]:
            total, size = total + make.sum(part), size + make.sum(make.abs(part))
        wanted.append((total, size))
    values = evaluate([node for pair in wanted for node in pair])
    pairs = [(float(values[value]), float(values[size])) for value, size in wanted]
    return pairs + [(0.0, 0.0)] * (orders - len(pairs))


def derivatives_of_formula(total: Node, line: dict[Node, Node], orders: int) -> list[Any]:
    """The derivatives along a line by central differences of the formulas."""
    case = Case([total], [np.float64(1.0)], {}, {})
    point = Point(case, ancestors([total, *line]), Budget(10**8, 60.0), DIGITS)
    m = point.m
    h = m.number(10) ** -20
    moves = {node: dict(enumerate(map(m.number, np.ravel(move.value).tolist()))) for node, move in line.items()}
    reached = range(-2, 3) if orders > 2 else range(-1, 2)
    f = {step: point.total if step == 0 else point.at(moves, step * h) for step in reached}
    slopes = [(f[1] - f[-1]) / (2 * h), (f[1] - 2 * f[0] + f[-1]) / h**2]
    if orders > 2:
        slopes.append((f[2] - 2 * f[1] + 2 * f[-1] - f[-2]) / (2 * h**3))
    return slopes[:orders]


def output_of(example: Example, rng: np.random.Generator) -> tuple[Node, list[Node]]:
    """The result of an example at a random point inside its domain, and its leaves."""
    inputs = {}
    for name, shape in example.inputs.items():
        low, high = example.within.get(name, REAL)
        inputs[name] = rng.uniform(low, high, shape)
    formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
    output: Any = formulas.names["out"]
    return (output.nodes[0] if isinstance(output, Outputs) else output), list(formulas.wrt.values())


def disagreements(example: Example, seed: int) -> list[str]:
    """Where the derivatives of an example at a random point along a random line are not those of its formulas."""
    rng = np.random.default_rng(seed)
    output, leaves = output_of(example, rng)
    total = weighted(output, rng)
    if total is None:
        return []
    line = {node: leaf(rng.uniform(-1.0, 1.0, node.shape)[()]) for node in leaves}
    computed = derivatives_of_graph(total, line, example.orders)
    exact = derivatives_of_formula(total, line, example.orders)
    return [
        f"order {order}: {value!r}, by the formula {float(true)!r} (parts of size {size:.3g})"
        for order, ((value, size), true) in enumerate(zip(computed, exact, strict=True), 1)
        if not abs(value - float(true)) <= TOLERANCE * (abs(float(true)) + size) + 1e-13
    ]


@pytest.mark.parametrize(("op", "example"), list(examples(differentiable=False)))
def test_values_follow_from_the_formula(op: Op, example: Example) -> None:
    """The kernel computes what the formula means."""
    output, _ = output_of(example, np.random.default_rng(crc32(example.form.encode())))
    point = Point(Case([], [], {}, {}), ancestors([output]), Budget(10**8, 60.0), 40)
    exact = np.array([complex(value) for value in point.values[output].flat]).reshape(output.shape)
    tolerance = 1e-6 if output.dtype.name in ("float32", "complex64") else TOLERANCE
    np.testing.assert_allclose(evaluate([output])[output], exact, rtol=tolerance, atol=1e-12, err_msg=op.name)


@pytest.mark.parametrize(("op", "example"), list(examples(differentiable=True)))
def test_derivatives_follow_from_the_formula(op: Op, example: Example) -> None:
    """Orders 1 to 3 at one random point inside the domain of the row."""
    found = disagreements(example, crc32(example.form.encode()))
    assert not found, f"{op.name}, {example.form}: {found}"


ELEMENTWISE: Final = [row.values[1] for row in examples(differentiable=True) if row.values[0].elementwise]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(example=st.sampled_from(ELEMENTWISE), seed=st.integers(0, 2**32 - 1))
def test_elementwise_derivatives_hold_anywhere_inside(example: Example, seed: int) -> None:
    """Other points than the one that every row is tested at."""
    assert not disagreements(example, seed), example.form


def test_a_rule_that_is_wrong_at_the_second_order_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule whose value is right but which cannot be differentiated itself does not pass."""
    tanh = TABLE["tanh"]
    frozen = replace(tanh, slopes=(lambda _x, y: make.detach(1.0 - y * y),))
    monkeypatch.setitem(TABLE, "tanh", replace(frozen, call=lambda x: apply(frozen, (x,))))
    found = disagreements(tanh.examples[0], 0)
    assert [fault.split(":")[0] for fault in found] == ["order 2", "order 3"]
