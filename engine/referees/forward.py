"""The forward graph over an exact arithmetic: each node by its row's formula, never by a kernel or a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import LEAF, Node, Shape
from ..worker.budget import Budget
from .case import CannotJudge

Values = dict[Node, Any]
"""An object array for each node; several in a tuple for a node with several outputs."""


def array_of(shape: Shape, entries: Sequence[Any]) -> Any:
    """An object array of some entries, in C order."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def exact_leaf(m: Any, node: Node) -> Any:
    """The value of a leaf as exact numbers; booleans stay booleans."""
    entries = np.asarray(node.value).ravel().tolist()
    if node.dtype.kind != "b":
        entries = [m.number(entry) for entry in entries]
    return array_of(node.shape, entries)


def cost_of(node: Node) -> int:
    """Roughly how many operations on numbers a node's formula takes."""
    if node.op is LEAF or node.op.name == "output":
        return 0
    if node.op.elementwise or node.op.family in ("shape", "index", "creation", "cotangent"):
        return node.size
    if node.op.name in ("matmul", "mm", "mv", "dot", "bmm", "outer", "inner", "addmm", "linear"):
        return 2 * node.size * max((arg.shape[-1] for arg in node.args if arg.shape), default=1)
    largest = max((arg.size for arg in node.args), default=1)
    if node.op.name.startswith("conv") and node.op.family == "nn.functional":
        return 2 * max(node.size, node.args[0].size) * math.prod(node.args[1].shape[1:])
    if node.op.family == "linalg" and node.args and node.args[0].ndim >= 2:
        return 4 * largest * node.args[0].shape[-1]
    return node.size + largest


def evaluate_node(m: Any, node: Node, args: Sequence[Any], budget: Budget) -> Any:
    """The value of a node on exact arguments.

    Raises:
        CannotJudge: where its row has no formula, or the formula divides by zero or does not give what `infer` says.
    """
    if node.op.name == "output":
        return args[0][node.attrs["index"]]
    formula = node.op.formula
    if formula is None:
        raise CannotJudge(f"{node.op.name} has no formula")
    if node.op.elementwise:
        columns = [np.broadcast_to(arg, node.shape).ravel().tolist() for arg in args]
        return array_of(node.shape, [entry_of(m, node, entries, budget) for entries in zip(*columns, strict=True)])
    budget.spend(cost_of(node))
    try:
        result = formula(m, *args, **node.attrs)
    except ZeroDivisionError:
        raise CannotJudge(f"{node.op.name} divides by zero here") from None
    if node.op.outputs > 1:
        return tuple(part if isinstance(part, np.ndarray) else array_of((), [part]) for part in result)
    return _shaped(node, result)


def entry_of(m: Any, node: Node, entries: Sequence[Any], budget: Budget) -> Any:
    """One entry of an elementwise node; a division by zero has the result of floating point, or none."""
    budget.spend()
    try:
        return node.op.formula(m, *entries, **node.attrs)  # type: ignore[misc]  # its row has one: the caller looked
    except ZeroDivisionError:
        if node.op.name == "div":
            return m.divide(*entries)
        if node.op.name == "reciprocal":
            return m.inf
        return m.undefined()


def _shaped(node: Node, result: Any) -> Any:
    if not isinstance(result, np.ndarray):
        return array_of((), [result])
    if result.shape != node.shape:
        raise CannotJudge(f"the formula of {node.op.name} gives shape {result.shape}, not {node.shape}")
    # NumPy puts an object array without axes itself into a slot that it is assigned to.
    entries = [entry.item() if isinstance(entry, np.ndarray) else entry for entry in result.ravel().tolist()]
    return array_of(node.shape, entries)


def evaluate_graph(m: Any, nodes: Sequence[Node], given: Mapping[Node, Any], budget: Budget) -> Values:
    """The values of all nodes, which stand in order; those that are given are not computed."""
    values: Values = dict(given)
    for node in nodes:
        if node in values:
            continue
        if node.op is LEAF:
            budget.spend(0)
            values[node] = exact_leaf(m, node)
        else:
            values[node] = evaluate_node(m, node, [values[arg] for arg in node.args], budget)
    return values


def weighted_sum(m: Any, outputs: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    """The one number that is differentiated: outputs times cotangents, summed, for complex ones the real part.

    PyTorch's cotangent of a complex output has the derivatives by its real and imaginary part as its parts.
    """
    terms = []
    for output, cotangent in zip(outputs, cotangents, strict=True):
        for value, weight in zip(output.flat, np.asarray(cotangent).ravel().tolist(), strict=True):
            if weight == 0:
                continue
            if isinstance(weight, complex):
                terms.append(m.function("re", m.number(weight.conjugate()) * value))
            else:
                terms.append(value if weight == 1 else m.number(weight) * value)
    return m.total(terms)
