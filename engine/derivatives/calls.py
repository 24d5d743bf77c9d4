"""`grad(z, x)`, `jacobian(z, x)` and `hessian(z, x)`: rows of the table that an expression file may call.

They stand apart from `ops/`, for they are made of gradients, which are made of all other rows.
"""

from __future__ import annotations

from typing import Final

from ..errors import InputError, NoGradientError
from ..graph import LEAF, Example, Node, Op, add_row, ancestors, as_node, leaf, make
from ..rewrite import rewritten
from .nodes import gradient, hessian, jacobian, require_differentiable, require_real, require_scalar

FAMILY: Final = "derivative"
"""The family of these rows."""


def _result(node: Node) -> Node:
    """A derivative as a node of its own: a leaf it gives back would get a second name."""
    return make.clone(node) if node.op is LEAF else node


def _require_used(output: Node, node: Node) -> None:
    """Refuse a tensor made for the call: only by a leaf or a name that the output does not depend on is it zero.

    Raises:
        NoGradientError: in PyTorch's words.
    """
    if node.op is not LEAF and node.name is None and node not in ancestors([output]):
        raise NoGradientError(
            "One of the differentiated Tensors appears to not have been used in the graph.",
            hint="differentiate by a name, one in each call",
        )


def _computed(output: Node, node: Node) -> Node:
    """What is differentiated for an output: the rewritten graph, unless that passes by a name inside of a pattern."""
    rewriting = rewritten([output])
    if not rewriting.fired or rewriting[node] is not node or any(each.name for each in rewriting.bypassed):
        return output
    return rewriting[output]


def _grad(output: Node, input: Node, grad_outputs: Node | None = None) -> Node:
    output, input = as_node(output), as_node(input)
    require_differentiable(output, [input])
    _require_used(output, input)
    if grad_outputs is None:
        require_scalar(output, "write grad(sum(z), x), give weights as a third argument, or write jacobian(z, x)")
        return _result(gradient(_computed(output, input), [input])[0])
    weights = as_node(grad_outputs)
    if weights.is_number:
        weights = leaf(output.dtype.type(weights.value))
    if weights.shape != output.shape:
        raise InputError(
            f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(weights.shape)}) "
            f"and output[0] has a shape of torch.Size({list(output.shape)}).",
            hint="the weights must have the shape of the result that is differentiated",
        )
    return _result(gradient(_computed(output, input), [input], weights)[0])


def _jacobian(output: Node, input: Node) -> Node:
    output, input = as_node(output), as_node(input)
    require_differentiable(output, [input])
    _require_used(output, input)
    require_real(output, "the Jacobian")
    return _result(jacobian(_computed(output, input), input))


def _hessian(output: Node, input: Node) -> Node:
    output, input = as_node(output), as_node(input)
    require_differentiable(output, [input])
    _require_used(output, input)
    require_scalar(output, "the Hessian is that of a single number: write hessian(sum(z), x)")
    if input.dtype.kind == "c":
        raise InputError(
            "the Hessian by a complex tensor is not one of numbers", hint="use its real and imaginary parts"
        )
    return _result(hessian(_computed(output, input), input))


_DOMAIN: Final = "where what is differentiated has the derivative"
_KINK: Final = "those of the ops that are differentiated"

GRAD: Final[Op] = add_row(
    Op(
        name="grad",
        doc="The gradient of a single number by a tensor, or of several weighted; it can be differentiated again.",
        family=FAMILY,
        call=_grad,
        forms=("grad(z, x)", "grad(z, x, weights)"),
        method=False,
        examples=(
            Example("grad(sum(x**3), x)", {"x": (3,)}, orders=2),
            Example("grad(x*y, x, y)", {"x": (3,), "y": (3,)}, orders=2),
        ),
        domain=_DOMAIN,
        kink=_KINK,
    )
)

JACOBIAN: Final[Op] = add_row(
    Op(
        name="jacobian",
        doc="The derivative of every entry of a tensor by every entry of another: its shape is that of both joined.",
        family=FAMILY,
        call=_jacobian,
        forms=("jacobian(z, x)",),
        method=False,
        examples=(Example("jacobian(x*sum(x**2), x)", {"x": (3,)}, orders=2),),
        domain=_DOMAIN,
        kink=_KINK,
    )
)

HESSIAN: Final[Op] = add_row(
    Op(
        name="hessian",
        doc="The second derivatives of a number by all pairs of a tensor's entries: its shape is the tensor's twice.",
        family=FAMILY,
        call=_hessian,
        forms=("hessian(z, x)",),
        method=False,
        examples=(Example("hessian(sum(x)*sum(x**3), x)", {"x": (3,)}, orders=1),),
        domain=_DOMAIN,
        kink=_KINK,
    )
)
