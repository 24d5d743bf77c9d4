"""What is differentiated: the outputs and a cotangent for each, with PyTorch's complaints where they do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, NoGradientError
from ..graph import Node, leaf


class Weight(NamedTuple):
    """A cotangent as a person gives it.

    Attributes:
        output: the name of the output that it is for; None: the next one in order.
        value: a number or an array; None: ones of the output's shape.
    """

    output: str | None
    value: Any


def cotangents(outputs: Mapping[str, Node], weights: Sequence[Weight] = ()) -> list[Node]:
    """The cotangent of each output as a leaf of its shape and dtype.

    Args:
        outputs: the nodes to differentiate, by name.
        weights: one for each output, or none at all: then each output must be a single real number, weighted by 1.
            Where all of them are named, an output without one is weighted by 1 too.

    Raises:
        NoGradientError: where an output requires no gradient.
        InputError: where the count, a shape or a dtype does not fit, in PyTorch's words and with the names.
    """
    for position, (name, node) in enumerate(outputs.items()):
        if not node.requires_grad:
            raise _no_gradient(position, name, node)
    given = _matched(outputs, weights)
    return [
        leaf(_fitted(position, name, node, given[name]) if name in given else _implicit(name, node))
        for position, (name, node) in enumerate(outputs.items())
    ]


def _no_gradient(position: int, name: str, node: Node) -> NoGradientError:
    if node.dtype.kind not in "fc":
        why = f"{name} is of dtype {node.dtype.name}, and only floats and complex numbers have a gradient"
    else:
        why = f"{name} depends on nothing that requires one: name a leaf with --wrt or write requires_grad=True"
    return NoGradientError(
        f"element {position} of tensors does not require grad and does not have a grad_fn",
        hint=why,
        spans=(node.span,) if node.span else (),
    )


def _matched(outputs: Mapping[str, Node], weights: Sequence[Weight]) -> dict[str, Any]:
    named = {weight.output: weight.value for weight in weights if weight.output is not None}
    in_order = [weight.value for weight in weights if weight.output is None]
    for name in named:
        if name not in outputs:
            raise InputError(f"{name} is no output: the outputs are {', '.join(outputs)}", code="grad-tensors")
    free = [name for name in outputs if name not in named]
    repeated = len(named) + len(in_order) != len(weights)
    if repeated or (in_order and len(in_order) != len(free)):
        raise InputError(
            f"got {len(outputs)} tensors and {len(weights)} gradients",
            hint=f"give --grad-tensors once for each output: {', '.join(outputs)}",
            code="grad-tensors",
        )
    return {**dict(zip(free, in_order, strict=False)), **named}


def _implicit(name: str, node: Node) -> Any:
    if node.size != 1:
        raise InputError(
            "grad can be implicitly created only for scalar outputs",
            hint=f"{name} has shape {list(node.shape)}: give its weights with --grad-tensors ones"
            + (f' or --grad-tensors "{_literal_of_ones(node)}"' if 0 < node.size <= _SPELLED else ""),
            spans=(node.span,) if node.span else (),
            code="grad-tensors",
        )
    if node.dtype.kind == "c":
        raise InputError(
            f"grad can be implicitly created only for real scalar outputs but got torch.{node.dtype.name}",
            hint=f"take real({name}), imag({name}) or abs({name})",
            spans=(node.span,) if node.span else (),
            code="grad-tensors",
        )
    return np.ones(node.shape, node.dtype)[()]


_SPELLED = 8


def _literal_of_ones(node: Node) -> str:
    return str(np.ones(node.shape, np.int64).tolist())


def _fitted(position: int, name: str, node: Node, value: Any) -> Any:
    if value is None:
        return np.ones(node.shape, node.dtype)[()]
    value = np.asarray(value)
    if value.shape != node.shape:
        raise InputError(
            f"Mismatch in shape: grad_output[{position}] has a shape of torch.Size({list(value.shape)}) "
            f"and output[{position}] has a shape of torch.Size({list(node.shape)}).",
            hint=f"output[{position}] is {name} of shape {list(node.shape)}: its --grad-tensors must have that shape",
            code="grad-tensors",
        )
    if value.dtype.kind == "c" and node.dtype.kind != "c":
        raise InputError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{position}] has a dtype of torch.{value.dtype.name} "
            f"and output[{position}] has a dtype of torch.{node.dtype.name}.",
            hint=f"{name} is real: give real weights",
            code="grad-tensors",
        )
    return value.astype(node.dtype)[()]
