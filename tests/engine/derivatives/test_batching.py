"""Batching: a whole batch of gradients is what single runs give, through every row of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from zlib import crc32

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives.batching import arguments_of_all, batched, bytes_of_one_run, varying
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import REAL, TABLE, Example, Node, Outputs, apply, leaf, make
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

COUNT: Final = 3
TOLERANCE: Final = 1e-13


def examples() -> Iterator[Any]:
    """Each example of each row that has a derivative."""
    for op in sorted(set(TABLE.values()), key=lambda op: op.name):
        for number, example in enumerate(op.examples):
            if op.differentiable and example.inputs and example.orders > 0:
                yield pytest.param(example, id=f"{op.name}-{number}")


def gradient_graphs(example: Example) -> list[tuple[list[Node], list[Node]]]:
    """The gradient of an example, and the gradient of that, each with the leaves of its cotangents."""
    rng = np.random.default_rng(crc32(example.form.encode()))
    inputs = {name: rng.uniform(*example.within.get(name, REAL), shape) for name, shape in example.inputs.items()}
    formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
    output: Any = formulas.names["out"]
    output = output.nodes[0] if isinstance(output, Outputs) else output
    graphs, leaves, targets = [], [], [output]
    for _ in range(min(example.orders, 2)):
        targets = [target for target in targets if target.requires_grad]
        cotangents = [leaf(np.zeros(target.shape, target.dtype)[()]) for target in targets]
        found = gradients(targets, cotangents)
        leaves = [*leaves, *cotangents]
        targets = [found[node] for node in formulas.wrt.values() if node in found]
        if targets:
            graphs.append((targets, leaves))
    return graphs


def values_of(leaves: list[Node]) -> dict[Node, Any]:
    """A random batch for each leaf, with a zero in it, as every row of an identity has them."""
    rng = np.random.default_rng(0)
    batch = {node: rng.uniform(-1, 1, (COUNT, *node.shape)).astype(node.dtype) for node in leaves}
    for value in batch.values():
        value.flat[0] = 0
    return batch


@pytest.mark.parametrize("example", list(examples()))
def test_a_batch_is_what_single_runs_are(example: Example) -> None:
    """The gradient, and its gradient, for a batch of cotangents: the same numbers, shapes and dtypes."""
    for targets, leaves in gradient_graphs(example):
        batch = values_of(leaves)
        together = batched(targets, {node: leaf(value) for node, value in batch.items()})
        found = evaluate(together)
        for place in range(COUNT):
            single = evaluate(targets, {node: value[place][()] for node, value in batch.items()})
            for target, whole in zip(targets, together, strict=True):
                assert (whole.shape, whole.dtype) == ((COUNT, *target.shape), target.dtype)
                one, other = np.asarray(single[target]), np.asarray(found[whole])[place]
                assert np.all(np.abs(one - other) <= TOLERANCE * np.max(np.abs(one), initial=0.0)), example.form


def test_every_batching_rule_is_used() -> None:
    """The examples reach every row that has a rule, so that the test above tests it."""
    used = {
        node.op.name
        for parameter in examples()
        for targets, leaves in gradient_graphs(parameter.values[0])
        for node in varying(targets, dict.fromkeys(leaves))
    }
    ruled = {op.name for op in TABLE.values() if op.batch is not None}
    assert ruled - used <= UNREACHED


UNREACHED: Final = {"assemble", "nansum", "standardize", "contiguous", "alias", "softmax", "log_softmax"}
"""Rows that no gradient graph puts a cotangent into; they are tried below, `assemble` in the tests of its own."""


def alone(form: str, **shapes: tuple[int, ...]) -> tuple[Node, list[Node]]:
    """A formula of leaves that all vary."""
    inputs = {name: np.zeros(shape) for name, shape in shapes.items()}
    formulas = build(Source(f"out = {form}"), inputs=inputs, wrt=list(inputs))
    return formulas.names["out"], list(formulas.wrt.values())


@pytest.mark.parametrize(
    ("form", "shapes"),
    [
        ("nansum(x, 0)", {"x": (3, 2)}),
        ("softmax(x, 1)", {"x": (3, 2)}),
        ("log_softmax(x, 0)", {"x": (3, 2)}),
        ("F.layer_norm(A, [3])", {"A": (2, 3)}),
        ("x[...]", {"x": (3,)}),
        ("A.contiguous()", {"A": (2, 3)}),
        ("A[[0, 1], :, [1, 0]]", {"A": (2, 3, 2)}),
        ("A[:, [0, 1], [1, 0]]", {"A": (2, 3, 2)}),
        ("torch.index_put(A, ([0, 1],), B, accumulate=True)", {"A": (3, 2), "B": (2, 2)}),
        ("roll(A, 1)", {"A": (2, 3)}),
        ("x + A", {"x": (3,), "A": (2, 3)}),
        ("s * A", {"s": (), "A": (2, 3)}),
        ("x @ y", {"x": (3,), "y": (3,)}),
        ("A @ x", {"A": (2, 3), "x": (3,)}),
        ("x @ A", {"A": (3, 2), "x": (3,)}),
        ("A @ T", {"A": (2, 3), "T": (4, 3, 2)}),
        ("T @ x", {"T": (4, 2, 3), "x": (3,)}),
        ("cumsum(s, 0)", {"s": ()}),
        ("sum(s)", {"s": ()}),
        ("x.expand(2, 3)", {"x": (3,)}),
        ("stack([s, t])", {"s": (), "t": ()}),
    ],
)
def test_batches_of_arguments(form: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """All arguments vary, and each by itself: the batch is what single runs give."""
    output, leaves = alone(form, **shapes)
    fixed = {node: np.asarray(value[0])[()] for node, value in values_of(leaves).items()}
    for moving in [leaves, *[[node] for node in leaves]]:
        batch = values_of(moving)
        (whole,) = batched([output], {node: leaf(value) for node, value in batch.items()})
        found = evaluate([whole], fixed)[whole]
        for place in range(COUNT):
            single = evaluate([output], {**fixed, **{node: value[place][()] for node, value in batch.items()}})[output]
            np.testing.assert_allclose(found[place], single, rtol=TOLERANCE, atol=1e-15)


def test_a_row_without_a_rule_is_run_member_by_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its rule a row gives the same numbers, by one node for each member."""
    plain = replace(TABLE["cumsum"], batch=None)
    monkeypatch.setitem(TABLE, "cumsum", plain)
    x = leaf(np.zeros(3))
    node = apply(plain, (x,), {"dim": (0,)})
    batch = np.arange(6.0).reshape(2, 3)
    (whole,) = batched([node], {x: leaf(batch)})
    assert np.array_equal(evaluate([whole])[whole], np.cumsum(batch, axis=1))
    assert [part.op.name for part in whole.args] == ["cumsum", "cumsum"]


def test_what_does_not_vary_is_not_repeated() -> None:
    """A part that is the same for all runs is computed once, and a target of that kind is only expanded."""
    x, v = leaf(np.ones(3), requires_grad=True), leaf(np.zeros(3))
    slope = make.exp(x)
    product, other = batched([v * slope, slope], {v: leaf(np.ones((2, 3)))})
    assert slope in product.args
    assert (other.op.name, other.shape) == ("expand", (2, 3))
    assert arguments_of_all([v * slope], {v: None}) == [slope]


def test_infinite_slopes_stop_at_zeros() -> None:
    """Each row of an identity stops at its zeros, and only where the one meets an infinite slope is it infinite."""
    x = leaf(np.array([0.0, 4.0, 0.0]), requires_grad=True)
    v = leaf(np.zeros(3))
    gradient = gradients([make.sqrt(x)], [v])[x]
    (whole,) = batched([gradient], {v: leaf(np.eye(3))})
    assert np.array_equal(evaluate([whole])[whole], np.diag([np.inf, 0.25, np.inf]))
    matrix = leaf(np.array([[np.inf, 1.0], [2.0, 3.0]]))
    y, w = leaf(np.zeros(2), requires_grad=True), leaf(np.zeros(2))
    (whole,) = batched([gradients([make.matmul(matrix, y)], [w])[y]], {w: leaf(np.eye(2))})
    assert np.array_equal(evaluate([whole])[whole], matrix.value)


def test_memory_of_one_run() -> None:
    """The most that is held at one time counts what varies only, and what is still needed only."""
    v = leaf(np.zeros(1000))
    shared = make.exp(leaf(np.zeros(1000)))
    end = make.sum(((v * shared) * shared) * shared)
    assert bytes_of_one_run([end], {v: None}) == 2 * 8000
    assert bytes_of_one_run([v + shared, v * shared], {v: None}) == 3 * 8000
