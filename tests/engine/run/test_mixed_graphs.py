"""Random graphs of everything that fuses and much that does not, with gradients: fused as by single kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make

Both = Callable[[Sequence[Node]], tuple[list[Any], list[Any]]]

UNARY = ("exp", "tanh", "neg", "abs", "sigmoid", "relu", "square", "sin")
BINARY = ("add", "sub", "mul", "div", "maximum", "flow", "meet")
MOST = 400


class Growth:
    """A random graph that grows from a few leaves that share axes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        rows, columns = int(self.rng.integers(2, 9)), int(self.rng.integers(1, 6))
        self.table = (rows, columns)
        shapes = [self.table, self.table, (columns,), (rows, 1), (rows,), (1, columns), (columns, columns)]
        self.leaves = [leaf(self.rng.uniform(0.3, 2.0, shape), requires_grad=True) for shape in shapes]
        self.pool = [*self.leaves]
        self.places = leaf(self.rng.integers(0, columns, (rows, 1)))

    def _axis(self, node: Node) -> int:
        return int(self.rng.integers(0, max(node.ndim, 1)))

    def step(self) -> Node:
        """Another node of those that are there."""
        rng = self.rng
        x, y = (self.pool[int(rng.integers(len(self.pool)))] for _ in range(2))
        ways: list[Callable[[], Node]] = [
            *[lambda name=name: getattr(make, name)(x) for name in UNARY],
            *[lambda name=name: getattr(make, name)(x, y) for name in BINARY],
            lambda: make.where(x > y, x, y),
            lambda: make.sum(x, self._axis(x), bool(rng.integers(2))),
            lambda: make.softmax(x, self._axis(x)),
            lambda: make.mean(x),
            lambda: make.transpose(x, 0, 1),
            lambda: make.reshape(x, -1),
            lambda: make.unsqueeze(x, self._axis(x)),
            lambda: make.standardize(x, self._axis(x)) if x.ndim else make.exp(x),
            lambda: make.matmul(x, y),
            lambda: make.gather(make.log_softmax(x, 1), 1, self.places),
            lambda: make.cumsum(x, self._axis(x)),
            lambda: make.cat([x, y], self._axis(x)),
            lambda: make.stack([x, x * y], self._axis(x)),
            lambda: make.narrow(x, self._axis(x), 0, 1),
            lambda: make.select(x, self._axis(x), 0),
        ]
        return ways[int(rng.integers(len(ways)))]()

    def targets(self) -> list[Node]:
        """The sum of the last node, some others, and the gradients by the leaves."""
        made: list[Node] = []
        for _ in range(int(self.rng.integers(3, 25))):
            try:
                node = self.step()
            except AgradError:  # shapes that do not fit
                continue
            if node.size <= MOST:
                made.append(node)
                self.pool.append(node)
        total = make.sum((made or self.pool)[-1] * 0.5)
        found = gradients([total], [leaf(np.float64(1.0))])
        some = [node for node in made if self.rng.random() < 0.2]
        return [total, *some, *[found[node] for node in self.leaves if node in found]]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("start", range(0, 320, 40))
def test_mixed_graphs_and_their_gradients(both: Both, start: int) -> None:
    """Values, intermediates and gradients of random graphs agree to rounding, whatever is fused with what."""
    for seed in range(start, start + 40):
        targets = Growth(seed).targets()
        for fused, plain in zip(*both(targets), strict=True):
            assert (fused.dtype, fused.shape) == (plain.dtype, plain.shape)
            scale = np.max(np.abs(np.where(np.isfinite(plain), plain, 0.0)), initial=1.0)
            np.testing.assert_allclose(fused, plain, rtol=1e-8, atol=1e-9 * scale, err_msg=f"seed {seed}")
