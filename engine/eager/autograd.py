"""`torch.autograd`: backward and grad, with every argument's meaning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node, make
from . import dispatch
from .backward import Run
from .function import GradFunction
from .modes import warn_once
from .record import constant, value_of
from .tensor import Tensor

_CREATE_GRAPH: Final = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)


class GradientEdge:
    """A place in the graph that a gradient can be asked of without its tensor."""

    def __init__(self, node: GradFunction | None, output_nr: int, tensor: Tensor) -> None:
        self.node = node
        self.output_nr = output_nr
        self.tensor = tensor


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of the graph that a tensor's gradient runs along."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(tensor.grad_fn, tensor.output_nr, tensor)


def _listed(values: Any) -> tuple[Any, ...]:
    if isinstance(values, Tensor):
        return (values,)
    if isinstance(values, GradientEdge):
        return (values.tensor,)
    if type(values) is dict:
        values = values.values()
    return tuple(value.tensor if isinstance(value, GradientEdge) else value for value in values)


def _weights(given: Any, count: int) -> tuple[Any, ...]:
    if given is None:
        return (None,) * count
    return (given,) if isinstance(given, Tensor) else tuple(given)


def _cotangent(index: int, output: Tensor, weight: Any, batched: bool) -> Tensor | None:
    """The weight of one output, made up where there is none, or refused."""
    if not isinstance(output, Tensor):
        raise AssertionError("Expected output to be a torch.Tensor")
    if isinstance(weight, Tensor):
        shape = weight.shape[1:] if batched else weight.shape
        if shape != output.shape:
            if batched:
                raise RuntimeError(
                    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                    "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                    f"output, but a mismatch was detected: grad_output[{index}] has a shape of {weight.shape[2:]} and "
                    f"output[{index}] has a shape of {output.shape}. If you only want some tensors in `grad_output` to "
                    "be considered batched, consider using vmap."
                )
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{index}] has a shape of {weight.shape} and output[{index}] has a "
                f"shape of {output.shape}."
            )
        if weight.is_complex() != output.is_complex():
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                f"dtype: grad_output[{index}] has a dtype of {weight.dtype} and output[{index}] has a dtype of "
                f"{output.dtype}."
            )
        return weight
    if weight is not None:
        raise TypeError(f"gradients can be either Tensors or None, but got {type(weight).__name__}")
    if not output.requires_grad:
        return None
    if output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not output.is_floating_point():
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
    return Tensor._made(np.ones_like(output._array))


def _check_roots(outputs: Sequence[Tensor]) -> None:
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")


def _run(
    outputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    *,
    keep: bool,
    create: bool,
    inputs: Sequence[Tensor] | None,
    accumulate: bool,
) -> Run:
    roots: list[tuple[Node, Node]] = []
    for output, weight in zip(outputs, weights, strict=True):
        assert weight is not None
        node = weight.node if create else constant(weight._array)
        if node.dtype != output._array.dtype:
            node = make.to(node, output._array.dtype)
            value_of(node, recorded=create)
        roots.append((output.node, node))
    for tensor in inputs or ():
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    targets = None if inputs is None else [tensor.node for tensor in inputs]
    run = Run(roots, keep=keep, create=create, targets=targets, accumulate=accumulate)
    run.go()
    return run


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of weighted tensors to the `.grad` of the leaves, or of `inputs` alone."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    chosen = None if inputs is None else _listed(inputs)
    if chosen is not None and not chosen:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _listed(tensors)
    given = _weights(grad_tensors, len(outputs))
    weights = [_cotangent(index, *pair, False) for index, pair in enumerate(zip(outputs, given, strict=False))]
    if len(weights) != len(outputs) or len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    if create_graph:
        warn_once(_CREATE_GRAPH, stacklevel=4)
    _check_roots(outputs)
    for tensor in chosen or ():
        tensor.retain_grad()
    keep = create_graph if retain_graph is None else bool(retain_graph)
    _run(outputs, weights, keep=keep, create=bool(create_graph), inputs=chosen, accumulate=True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of weighted outputs with respect to the inputs, as a tuple (a dict for a dict of inputs)."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    unused = materialize_grads if allow_unused is None else allow_unused
    results = _listed(outputs)
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not "
            "supported."
        )
    chosen = _listed(inputs)
    if not chosen:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    given = _weights(grad_outputs, len(results))
    weights = [
        _cotangent(index, *pair, is_grads_batched) for index, pair in enumerate(zip(results, given, strict=False))
    ]
    if len(given) != len(results):
        raise RuntimeError(f"got {len(results)} tensors and {len(given)} gradients")
    keep = create_graph if retain_graph is None else bool(retain_graph)
    if is_grads_batched:
        found = _batched(results, weights, chosen, keep=keep, create=create_graph, unused=unused)
    else:
        found = _of_inputs(results, weights, chosen, keep=keep, create=create_graph, unused=unused)
    if materialize_grads:
        found = [
            Tensor._made(np.zeros_like(tensor._array)) if part is None else part
            for part, tensor in zip(found, chosen, strict=True)
        ]
    if type(inputs) is dict:
        return dict(zip(inputs, found, strict=True))
    return tuple(found)


def _of_inputs(
    outputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    *,
    keep: bool,
    create: bool,
    unused: bool,
) -> list[Tensor | None]:
    _check_roots(outputs)
    for tensor in inputs:
        if isinstance(tensor, Tensor) and not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    run = _run(outputs, weights, keep=keep, create=create, inputs=inputs, accumulate=False)
    found: list[Tensor | None] = []
    for index, tensor in enumerate(inputs):
        g = run.captured.get(tensor.node)
        if g is None:
            if not unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            found.append(None)
        elif create and g.requires_grad:
            found.append(Tensor._of_node(g))
        else:
            array = np.asarray(g.value)
            found.append(Tensor._made(array if array.base is None and array.flags.writeable else array.copy()))
    return found


def _batched(
    outputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    *,
    keep: bool,
    create: bool,
    unused: bool,
) -> list[Tensor | None]:
    """One run for each row of the weights; the gradients stacked."""
    count = max(len(weight) for weight in weights if weight is not None)
    rows = [
        _of_inputs(
            outputs,
            [None if weight is None else weight[index] for weight in weights],
            inputs,
            keep=keep or index < count - 1,
            create=create,
            unused=unused,
        )
        for index in range(count)
    ]
    return [
        None if column[0] is None else dispatch.operate("stack", list(column)) for column in zip(*rows, strict=True)
    ]


def variable(data: Tensor, requires_grad: bool = False, volatile: bool | None = None) -> Tensor:
    """PyTorch's old name for a tensor: the same memory, with `requires_grad` as asked."""
    if volatile is not None:
        warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2)
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    made = Tensor._made(data._array)
    return made.requires_grad_() if requires_grad else made
