"""What the tests of rows share: values, slopes and second derivatives at a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf
from agrad.engine.run.cpu import evaluate

Function = Callable[..., Node]


def _variable(value: Any) -> Node:
    return leaf(np.asarray(value, dtype=np.float64)[()], requires_grad=True)


def _gradients(output: Node, wrt: Sequence[Node]) -> list[Node | None]:
    ones = leaf(np.ones(output.shape, output.dtype)[()])
    found = gradients([output], [ones])
    return [found.get(node) for node in wrt]


def _values(nodes: Sequence[Node | None]) -> list[Any]:
    values = evaluate([node for node in nodes if node is not None])
    return [None if node is None else values[node].tolist() for node in nodes]


@pytest.fixture(scope="session")
def value() -> Callable[[Node], Any]:
    """Gives the value of a node as Python numbers and lists."""
    return lambda node: np.asarray(evaluate([node])[node]).tolist()


@pytest.fixture(scope="session")
def slopes() -> Callable[..., list[Any]]:
    """Gives the gradient of the sum of a function at a point, for each argument; None where nothing flows."""

    def slopes_at(function: Function, *point: Any) -> list[Any]:
        variables = [_variable(entry) for entry in point]
        return _values(_gradients(function(*variables), variables))

    return slopes_at


@pytest.fixture(scope="session")
def curvature() -> Callable[..., list[list[Any]]]:
    """Gives all second derivatives of a function of scalars at a point; 0 where nothing flows."""

    def curvature_at(function: Function, *point: float) -> list[list[Any]]:
        variables = [_variable(entry) for entry in point]
        rows = []
        for first in _gradients(function(*variables), variables):
            second = [None] * len(variables) if first is None else _values(_gradients(first, variables))
            rows.append([0.0 if entry is None else entry for entry in second])
        return rows

    return curvature_at


@pytest.fixture(scope="session")
def derivatives() -> Callable[..., list[float]]:
    """Gives the value and the derivatives of orders 1 to n of a function of one number; 0 where nothing flows."""

    def derivatives_at(function: Function, x: float, orders: int) -> list[float]:
        variable = _variable(x)
        found: list[Node | None] = [function(variable)]
        for _ in range(orders):
            last = found[-1]
            flows = last is not None and last.requires_grad
            found.append(_gradients(last, [variable])[0] if last is not None and flows else None)
        return [0.0 if entry is None else entry for entry in _values(found)]

    return derivatives_at


@pytest.fixture(scope="session")
def pairings() -> Callable[..., list[float]]:
    """Gives <f(x), g> and <x, cotangent of x>, which are equal where f is linear in x, at random x and g."""

    def pairings_at(function: Function, shape: Sequence[int], seed: int) -> list[float]:
        random = np.random.default_rng(seed)
        x = _variable(random.standard_normal(shape))
        output = function(x)
        g = random.standard_normal(output.shape)
        back = gradients([output], [leaf(g[()])])[x]
        values = evaluate([output, back])
        return [float(np.sum(values[output] * g)), float(np.sum(x.value * values[back]))]

    return pairings_at
