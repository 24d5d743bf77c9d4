"""Graphs to be computed on two devices: recorded forms and programs, random ones, and chains."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import AgradError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, Outputs, leaf, make
from agrad.engine.language import build

DATA: Final = Path(__file__).parents[1] / "data"


class Graph(NamedTuple):
    """A graph, and the nodes of it whose values are compared.

    Attributes:
        name: what it is called.
        targets: an output and its gradients, by name.
    """

    name: str
    targets: dict[str, Node]


def with_gradients(name: str, out: Node, weights: Any, wrt: dict[str, Node]) -> Graph:
    """A graph of an output and its gradients."""
    cotangent = np.ones(out.shape, out.dtype) if weights is None else np.asarray(weights).astype(out.dtype)
    found = gradients([out], [leaf(cotangent[()])]) if wrt else {}
    return Graph(name, {"value": out, **{f"d{key}": found[node] for key, node in wrt.items() if node in found}})


def of_text(name: str, text: str, inputs: dict[str, Any], dtype: str = "float64") -> Graph:
    """The graph of a text with the output z, differentiated by all inputs that are floats."""
    wrt = [key for key, value in inputs.items() if np.asarray(value).dtype.kind == "f"]
    given = {key: np.asarray(value).astype(dtype)[()] if key in wrt else value for key, value in inputs.items()}
    formulas = build(Source(text), inputs=given, wrt=wrt, dtype=np.dtype(dtype))
    return with_gradients(name, formulas.names["z"], None, {key: formulas.names[key] for key in wrt})


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def _array(value: Any) -> Any:
    if isinstance(value, dict):
        return (np.asarray(value["real"]) + 1j * np.asarray(value["imag"]))[()]
    return np.asarray(value)[()]


def _float(value: Any) -> Any:
    array = np.asarray(_array(value))
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def recorded() -> Iterator[Graph]:
    """Every calling form and program whose answers PyTorch has given, if agrad has it."""
    for row in _rows("golden_ops.jsonl"):
        inputs = {name: _float(value) for name, value in row["inputs"].items()}
        inputs |= {name: np.asarray(_array(value)) for name, value in row["constants"].items()}
        yield from _recorded(row["form"], "out = " + row["form"], "out", row, inputs, list(row["inputs"]))
    for number, row in enumerate(_rows("golden_programs.jsonl")):
        yield from _recorded(f"program {number}", row["program"], row["output"], row, {}, row["wrt"])


def _recorded(
    name: str, text: str, output: str, row: dict[str, Any], inputs: dict[str, Any], wrt: Sequence[str]
) -> Iterator[Graph]:
    try:
        formulas = build(Source(text), inputs=inputs, wrt=list(wrt))
        out = formulas.names[output]
        weights = None if row["cotangent"] is None else _array(row["cotangent"])
        if not isinstance(out, Outputs):
            yield with_gradients(name, out, weights, {key: formulas.wrt[key] for key in row["grads"]})
    except AgradError:
        return  # pending, or an error on every device


# Random graphs

_SMOOTH: Final = ("tanh", "exp", "sin", "cos", "sigmoid", "atan", "erf", "softplus", "square", "neg", "abs", "relu",
                  "logsigmoid", "sqrt", "log1p", "expm1", "gelu", "silu")  # fmt: skip
_PAIRS: Final = ("add", "sub", "mul", "maximum", "minimum", "hypot", "where", "logaddexp", "atan2", "lt")
_FOLDS: Final = ("sum", "mean", "amax", "softmax", "logsumexp", "cumsum")


def random_graph(seed: int) -> Graph:
    """A random graph on a few arrays that broadcast, with reductions in it, and its gradients."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(random.choice(["float64", "float32"]))
    shape = tuple(int(size) for size in random.choice([1, 2, 3, 5, 8, 33, 70], size=random.integers(1, 4)))
    leaves = [leaf(_sampled(random, shape, dtype), requires_grad=True)]
    for _ in range(random.integers(1, 4)):
        narrow = tuple(size if random.random() < 0.6 else 1 for size in shape)[random.integers(0, len(shape)) :]
        leaves.append(leaf(_sampled(random, narrow, dtype), requires_grad=True))
    nodes: list[Node] = list(leaves)
    for _ in range(random.integers(3, 14)):
        nodes.append(_grown(random, nodes))
    total = make.sum(nodes[-1])
    for node in nodes[len(leaves) : -1]:
        if random.random() < 0.3:
            total = total + make.sum(make.tanh(node))
    return with_gradients(f"random {seed}", total, None, {f"x{place}": each for place, each in enumerate(leaves)})


def _sampled(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return np.asarray(random.normal(size=shape)).astype(dtype)[()]


def _grown(random: np.random.Generator, nodes: list[Node]) -> Node:
    """One more node on some of the last ones, its size kept in bounds."""
    x = nodes[random.integers(max(0, len(nodes) - 5), len(nodes))]
    kind = random.random()
    if kind < 0.45:
        name = random.choice(_SMOOTH)
        if name in ("sqrt", "log1p"):
            x = make.abs(x) + 0.5
        if name in ("exp", "expm1", "square"):
            x = make.tanh(x)
        return getattr(make, name)(x)  # type: ignore[no-any-return]  # a row's call is of any type
    y = nodes[random.integers(0, len(nodes))]
    if kind < 0.85 and _broadcasts(x, y):
        name = random.choice(_PAIRS)
        if name == "where":
            return make.where(x < y, x, y * 0.5)  # type: ignore[no-any-return]  # as above
        if name == "lt":
            return make.to(x < y, x.dtype)  # type: ignore[no-any-return]  # as above
        return getattr(make, name)(x, y)  # type: ignore[no-any-return]  # as above
    if not x.shape:
        return make.tanh(x)  # type: ignore[no-any-return]  # as above
    name, axis = random.choice(_FOLDS), int(random.integers(0, len(x.shape)))
    if name in ("softmax", "cumsum"):
        return getattr(make, name)(x, axis)  # type: ignore[no-any-return]  # as above
    return getattr(make, name)(x, axis, keepdim=bool(random.random() < 0.7))  # type: ignore[no-any-return]  # as above


def _broadcasts(x: Node, y: Node) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(x.shape, y.shape))) <= 50_000
    except ValueError:
        return False


# Works


_STEPS: Final = ("tanh(y{0} * 1.1 + 0.1)", "y{0} + exp(-y{0} ** 2)", "sin(y{0}) * 0.9", "sigmoid(y{0}) - 0.3 * y{0}")
_DEARER_STEPS: Final = (
    "erf(y{0}) * 1.1", "y{0} + atan2(y{0}, 1.3)", "hypot(y{0}, 0.7)", "log1p(y{0} ** 2)", "gelu(y{0}) + 0.1",
    "lgamma(abs(y{0}) + 1.5)", "expm1(-abs(y{0}))", "y{0} * exp(-y{0})", "(abs(y{0}) + 0.5) ** 1.7", "softplus(y{0})",
)  # fmt: skip


def chain(length: int, elements: int, dtype: str = "float64", *, dearer: bool = False) -> Graph:
    """Elementwise ops one after another, then a sum, with the gradient."""
    steps = _DEARER_STEPS if dearer else _STEPS
    lines = [
        "y0 = x",
        *[f"y{number + 1} = {steps[number % len(steps)].format(number)}" for number in range(length)],
        f"z = sum(y{length})",
    ]
    x = np.random.default_rng(5).normal(size=elements)
    name = f"chain of {length}{' dearer ops' if dearer else ''}, {elements:,} {dtype}"
    return of_text(name, "\n".join(lines), {"x": x}, dtype)


def random_chain(seed: int) -> Graph:
    """Many elementwise ops on each other, some read far away, some of a row or a column, with sums and gradients."""
    random = np.random.default_rng(1000 + seed)
    dtype = np.dtype("float64" if seed % 3 else "float32")
    shapes = ((37, 11), (37, 11), (11,), (37, 1))
    leaves = [leaf(_sampled(random, shape, dtype), requires_grad=True) for shape in shapes]
    nodes: list[Node] = list(leaves)
    sums = []
    for number in range(int(random.integers(20, 130))):
        x, y = nodes[-1], nodes[int(random.integers(0, len(nodes)))]
        kind = number % 3
        if kind == 0:
            name = random.choice(("tanh", "sin", "sigmoid", "erf", "atan", "softplus"))
            nodes.append(getattr(make, name)(x * float(random.uniform(0.5, 1.5))))
        else:
            nodes.append(make.hypot(x, y) if kind == 1 and random.random() < 0.2 else x * 0.5 + y * 0.25)
        if random.random() < 0.04:
            sums.append(make.sum(nodes[-1]))
    total = make.sum(nodes[-1])
    for each in sums:
        total = total + each * 0.1
    wrt = {f"x{place}": each for place, each in enumerate(leaves)}
    return with_gradients(f"random chain {seed}", total, None, wrt)
