"""An example of a row at a point: its leaves and results as nodes, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import Source
from ..gradient import gradients
from ..graph import LEAF, REAL, Example, Node, leaf
from ..language import Formulas, build
from ..run.cpu import evaluate

_STEPS: Final = (0.6180339887498949, 0.41421356237309503)
"""The fractions of the linear and of the quadratic part of the sequence that examples are sampled from."""


class Sample(NamedTuple):
    """An example at a point.

    Attributes:
        example: it.
        inputs: the value of each of its leaves.
        leaves: their nodes.
        outputs: its results, by name: `out` alone, or `out.values` and its kin.
    """

    example: Example
    inputs: dict[str, np.ndarray]
    leaves: dict[str, Node]
    outputs: dict[str, Node]

    @property
    def differentiable(self) -> dict[str, Node]:
        """The results that a gradient can be asked of."""
        return {name: node for name, node in self.outputs.items() if node.requires_grad and node.op is not LEAF}


def sample(example: Example) -> Sample:
    """An example at a point inside of its domain: the same on every run and machine, with few digits."""
    inputs: dict[str, np.ndarray] = {}
    count = 0
    for name, shape in example.inputs.items():
        low, high = example.within.get(name, REAL)
        size = int(np.prod(shape))
        places = np.arange(count + 1, count + size + 1, dtype=np.float64)
        count += size
        parts = np.mod(_STEPS[0] * places + _STEPS[1] * places**2, 1.0)
        digits = 2 if high - low >= 1 else 3
        inputs[name] = np.clip(np.round(low + (high - low) * (0.04 + 0.92 * parts), digits), low, high).reshape(shape)
    formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
    return Sample(example, inputs, dict(formulas.wrt), results(formulas))


def results(formulas: Formulas) -> dict[str, Node]:
    """What the name `out` stands for: one node, or several called `out.values` and so on."""
    return {name: node for name, node in formulas.names.items() if name == "out" or name.startswith("out.")}


@dataclass(frozen=True, slots=True)
class Worked:
    """An example with its numbers.

    Attributes:
        form: the call.
        inputs: the value of each leaf.
        values: the value of each result.
        gradients: the gradient by each leaf of the sum of the result; empty where there is none.
        command: what to type to see it.
    """

    form: str
    inputs: dict[str, Any]
    values: dict[str, Any]
    gradients: dict[str, Any]
    command: str


def worked(at: Sample) -> Worked:
    """The numbers of an example."""
    outputs = at.differentiable
    found: dict[Node, Node] = {}
    # A gradient of several results at once, or of an eigenvector, would need weights that mean something.
    if len(at.outputs) == 1 and at.example.orders > 0 and outputs:
        (out,) = outputs.values()
        found = gradients([out], [leaf(np.ones(out.shape, out.dtype)[()])])
    grads = {name: found[node] for name, node in at.leaves.items() if node in found}
    values = evaluate([*at.outputs.values(), *grads.values()])
    return Worked(
        at.example.form,
        at.inputs,
        {name: values[node] for name, node in at.outputs.items()},
        {name: values[node] for name, node in grads.items()},
        _command(at.example, at.inputs, weighted=any(node.shape for node in at.outputs.values())),
    )


def _command(example: Example, inputs: dict[str, Any], *, weighted: bool) -> str:
    """The command line that shows an example."""
    quote = "'" if '"' in example.form else '"'
    command = f"agrad eval -e {quote}out = {example.form}{quote}"
    if inputs:
        command += f' --at "{", ".join(f"{name}={value.tolist()!r}" for name, value in inputs.items())}"'
    return command + (" --grad-tensors ones" if weighted and example.orders else "")
