"""The patterns that rows pass on hold every entry that is not zero."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives.batching import batched
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, Outputs, leaf
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate
from agrad.engine.sparsity import passing
from agrad.engine.sparsity.compression import patterns_of
from agrad.engine.sparsity.meeting import Size
from agrad.engine.sparsity.pattern import FullError, Pattern, identity

ENOUGH: Final = 10**9


def forms() -> Iterator[Any]:
    """Each example of each row that has a derivative."""
    for op in sorted(set(TABLE.values()), key=lambda op: op.name):
        for number, example in enumerate(op.examples):
            if op.differentiable and example.inputs and example.orders > 0:
                yield pytest.param(example, id=f"{op.name}-{number}")


def matrix_of(targets: list[Node], seed: Node) -> list[Any]:
    """The matrix of each target, linear in the seed up to a constant: a row for each of the seed's entries."""
    unit = np.concatenate((np.zeros((1, seed.size)), np.eye(seed.size))).reshape(-1, *seed.shape)
    rows = batched(targets, {seed: leaf(unit.astype(seed.dtype))})
    values = evaluate(rows)
    return [np.reshape(values[row][1:] - values[row][:1], (seed.size, -1)) for row in rows]


def covers(pattern: Pattern, matrix: Any) -> bool:
    """Whether every entry that is not zero is in a pattern."""
    held = np.zeros(matrix.shape, bool)
    held[pattern.seeds, pattern.entries] = True
    return bool(np.all(held | (matrix == 0)))


def missing(targets: list[Node], seed: Node, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many targets have a pattern, and how many of those have entries outside of it."""
    monkeypatch.setattr("agrad.engine.sparsity.compression._FULLEST", 1)
    known = patterns_of(targets, seed, ENOUGH)
    found = [(known.get(target), matrix) for target, matrix in zip(targets, matrix_of(targets, seed), strict=True)]
    patterns = [(pattern, matrix) for pattern, matrix in found if pattern is not None]
    return len(patterns), sum(not covers(pattern, matrix) for pattern, matrix in patterns)


@pytest.mark.parametrize("example", list(forms()))
def test_no_entry_outside(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of each example, and its gradient in turn: where there is a pattern, all else is zero."""
    random = np.random.default_rng(1)
    inputs = {name: random.uniform(0.2, 0.8, shape) for name, shape in example.inputs.items()}
    formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
    output: Any = formulas.names["out"]
    targets = [output.nodes[0] if isinstance(output, Outputs) else output]
    for _ in range(min(example.orders, 2)):
        if not targets or not targets[0].requires_grad or targets[0].dtype.kind != "f":
            return
        seed = leaf(np.broadcast_to(targets[0].dtype.type(0), targets[0].shape)[()])
        found = gradients(targets[:1], [seed])
        gradient = [found[node] for node in formulas.wrt.values() if node in found]
        assert missing(gradient, seed, monkeypatch)[1] == 0
        seed.value = np.asarray(random.uniform(0.5, 1.5, seed.shape), seed.dtype)[()]
        targets = gradient


EXACT: Final = {
    "x[1:]": {"x": (4,)},
    "x[[2, 0, 2]]": {"x": (3,)},
    "A.T": {"A": (2, 3)},
    "A.reshape(3, 2)": {"A": (2, 3)},
    "cat([x, y])": {"x": (2,), "y": (3,)},
    "stack([x, y], 1)": {"x": (2,), "y": (2,)},
    "x.expand(2, 3)": {"x": (3,)},
    "sum(A, 0)": {"A": (2, 3)},
    "A.mean(1)": {"A": (2, 3)},
    "A * x": {"A": (2, 3), "x": (3,)},
    "torch.gather(A, 1, [[0, 2], [1, 1]])": {"A": (2, 3)},
    "torch.scatter_add(A, 1, [[0, 2, 2], [1, 1, 0]], B)": {"A": (2, 3), "B": (2, 3)},
    "torch.index_put(x, ([0, 0],), y, accumulate=True)": {"x": (3,), "y": (2,)},
    "torch.index_put(x, ([0, 2],), y)": {"x": (3,), "y": (2,)},
    "triu(A)": {"A": (3, 3)},
    "flip(x, 0)": {"x": (3,)},
    "roll(A, 1, 1)": {"A": (2, 3)},
    "pad(x, (1, 2))": {"x": (3,)},
    "diag(x)": {"x": (3,)},
    "A @ x": {"A": (2, 3), "x": (3,)},
    "x @ A": {"A": (3, 2), "x": (3,)},
    "A @ T": {"A": (2, 3), "T": (2, 3, 2)},
    "F.conv1d(x, full([1, 1, 2], 0.5), stride=2, padding=1, dilation=2)": {"x": (2, 1, 7)},
    "F.conv2d(x, full([4, 1, 2, 3], 0.5), padding=(0, 1), groups=2)": {"x": (1, 2, 4, 3)},
    "F.conv_transpose1d(x, full([2, 3, 3], 0.5), stride=2, padding=1)": {"x": (2, 2, 4)},
    "F.avg_pool2d(x, 2, stride=1, padding=1)": {"x": (1, 2, 3, 4)},
    "F.avg_pool1d(x, 3, stride=2)": {"x": (1, 2, 7)},
    "F.adaptive_avg_pool2d(x, (2, 3))": {"x": (1, 1, 5, 4)},
}


@pytest.mark.parametrize("form", EXACT)
def test_patterns_are_no_larger_than_they_must_be(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that move, add and multiply, forward over the directions and backward over the entries."""
    monkeypatch.setattr("agrad.engine.sparsity.compression._FULLEST", 1)
    random = np.random.default_rng(2)
    inputs = {name: random.uniform(0.5, 1.5, shape) for name, shape in EXACT[form].items()}
    formulas = build(Source(f"out = {form}"), inputs=inputs, wrt=list(inputs))
    output = formulas.names["out"]
    seed = leaf(np.zeros(output.shape))
    found = gradients([output], [seed])
    backward = [(found[node], seed) for node in formulas.wrt.values()]
    forward = [(output, node) for node in formulas.wrt.values()]
    for target, start in (*backward, *forward):
        pattern = patterns_of([target], start, ENOUGH)[target]
        assert pattern is not None
        (matrix,) = matrix_of([target], start)
        assert covers(pattern, matrix)
        assert pattern.seeds.size == np.count_nonzero(matrix)


def test_sums_up_to_each_entry_meet_along_their_axis_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their pattern is twice as full as it must be, and holds nothing of other lanes."""
    monkeypatch.setattr("agrad.engine.sparsity.compression._FULLEST", 1)
    formulas = build(Source("y = cumsum(A, 1)"), inputs={"A": np.ones((2, 3))})
    y, start = formulas.names["y"], formulas.wrt["A"]
    pattern = patterns_of([y], start, ENOUGH)[y]
    assert pattern is not None
    assert covers(pattern, matrix_of([y], start)[0])
    assert pattern.seeds.reshape(6, 3).tolist() == [[0, 1, 2]] * 3 + [[3, 4, 5]] * 3


def test_rows_without_a_pattern() -> None:
    """What is not known to pass patterns on, and all behind it, has none; what stands beside it keeps its own."""
    formulas = build(Source("u = real(fft.fft(x))\nv = u * 2.0\nw = x * 3.0"), inputs={"x": np.ones(4)})
    x, names = formulas.wrt["x"], formulas.names
    known = patterns_of([names["v"], names["w"]], x, ENOUGH)
    assert known[names["v"]] is None
    pattern = known[names["w"]]
    assert pattern is not None
    assert pattern.seeds.tolist() == [0, 1, 2, 3]


BY_LANES: Final = {
    "torch.gather(A, 1, argsort(A, 1)[:, :2])": {"A": (2, 3)},
    "torch.scatter_add(B, 1, argsort(A, 1)[:, :2], A[:, :2])": {"A": (2, 3), "B": (2, 3)},
    "torch.scatter(B, 0, argsort(A, 0)[:, :2], A)": {"A": (2, 3), "B": (2, 3)},
    "solve(T, A)": {"T": (2, 3, 3), "A": (2, 3, 1)},
}


@pytest.mark.parametrize("form", BY_LANES)
def test_lanes_and_matrices_meet_whole(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions that are others for other values may be any along their axis, and no lane reaches another."""
    monkeypatch.setattr("agrad.engine.sparsity.compression._FULLEST", 1)
    random = np.random.default_rng(5)
    inputs = {name: random.uniform(0.5, 1.5, shape) for name, shape in BY_LANES[form].items()}
    formulas = build(Source(f"y = {form}"), inputs=inputs, wrt=list(inputs))
    y, seed = formulas.names["y"], leaf(np.zeros(formulas.names["y"].shape))
    gradient = gradients([y], [seed])[formulas.wrt["A"]]
    pattern = patterns_of([gradient], seed, ENOUGH)[gradient]
    assert pattern is not None
    assert covers(pattern, matrix_of([gradient], seed)[0])
    assert pattern.seeds.size <= 3 * seed.size


def test_positions_that_depend_on_variables() -> None:
    """A sorted tensor's entries stand elsewhere for other values: no pattern."""
    formulas = build(Source("y = x[argsort(x)]"), inputs={"x": np.array([2.0, 1.0, 3.0])})
    assert patterns_of([formulas.names["y"]], formulas.wrt["x"], ENOUGH)[formulas.names["y"]] is None


def test_full_patterns_end_the_search() -> None:
    """Before anything of that size is made."""
    formulas = build(Source("y = x.expand(1000, 1000).T + x"), inputs={"x": np.ones(1000)})
    y, x = formulas.names["y"], formulas.wrt["x"]
    assert patterns_of([y], x, 10_000)[y] is None
    with pytest.raises(FullError):
        passing.passed(y.args[0].args[0], {x: identity(1000)}, Size(1000, 10_000))


def test_a_wrong_pattern_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that passes too little on fails the comparison above."""
    module = importlib.import_module("agrad.engine.sparsity.compression")
    plain = module.passed

    def faulty(node: Node, known: Any, size: Any) -> Any:
        pattern = plain(node, known, size)
        if node.op.name != "slice_scatter" or pattern is None:
            return pattern
        return Pattern(np.zeros_like(pattern.starts), pattern.seeds[:0])

    monkeypatch.setattr(module, "passed", faulty)
    formulas = build(Source("y = x[1:]"), inputs={"x": np.ones(3)})
    seed = leaf(np.zeros(2))
    gradient = gradients([formulas.names["y"]], [seed])[formulas.wrt["x"]]
    assert missing([gradient], seed, monkeypatch) == (1, 1)
