"""Derivatives in claims: `d(z)/d(x)`, and which nodes are derivatives of what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..derivatives.calls import FAMILY
from ..errors import AgradError, InputError, Span
from ..graph import TABLE, DType, Node, Op, make
from .binding import bind
from .calls import Calls
from .listing import described
from .lower import Lowering
from .postfix import Call, Instruction

_ORDERS: Final = {"d": 1, "d2": 2}
"""What is written above the line of a derivative, and its order."""

_CANCELLED: Final = 1e-3
"""Where less than this part of written numbers is left of them, the rounding of both is kept in sight."""
_ABSORBED: Final = 1e-8
"""A number that is a smaller part of the other loses digits in the sum with it."""


class Derivative(NamedTuple):
    """A derivative that a text asks for.

    Attributes:
        output: what is differentiated.
        by: what by, one for each order.
        weights: of the entries of the output, which are summed; None: each entry is differentiated.
    """

    output: Node
    by: tuple[Node, ...]
    weights: Node | None


class _Differential:
    """`d(z)`, or a product with it: what is above the line of `d(z)/d(x)`, or below it."""

    __slots__ = ("before", "nodes", "order", "span")

    def __init__(
        self, nodes: tuple[Node, ...], order: int, span: Span, before: tuple[Callable[[Node], Any], ...] = ()
    ) -> None:
        self.nodes = nodes
        self.order = order
        self.span = span
        self.before = before  # what is done to the derivative: factors in front of it


class DerivativeCalls(Calls):
    """Calls that note which nodes are derivatives."""

    derivatives: dict[Node, Derivative]

    def _apply(self, op: Op, positional: list[Any], keywords: dict[str, Any], *, numpy: bool) -> Any:
        result = super()._apply(op, positional, keywords, numpy=numpy)
        if op.family != FAMILY:
            return result
        arguments, named = bind(op, self.converter, positional, keywords, numpy=numpy)
        output, by, *rest = [*arguments, *named.values()]
        weights = rest[0] if rest and rest[0] is not None else None
        if op.name == "grad" and weights is None:
            weights = TABLE["ones_like"].call(output)
        order = 2 if op.name == "hessian" else 1
        return self.noted(result, Derivative(output, (by,) * order, weights if op.name == "grad" else None))

    def noted(self, result: Node, derivative: Derivative) -> Node:
        """A node of its own for a derivative."""
        node: Node = make.clone(result)
        self.derivatives[node] = derivative
        return node


class DerivativeLowering(Lowering):
    """Lowering that knows `d(z)/d(x)`.

    Attributes:
        claiming: whether a claim is lowered, and not a formula.
    """

    claiming = False

    def __init__(
        self, dtype: DType, unknown: Callable[[str, int, int], Any], warn: Callable[[str, Span], None]
    ) -> None:
        super().__init__(dtype, unknown, warn)
        self.noting = DerivativeCalls(dtype, warn)
        self.noting.derivatives = {}
        self.calls = self.noting
        self.converter = self.calls.converter
        self.indices = type(self.indices)(dtype, self.calls.integers, self.calls.reads, self.converter)

    def stack_of(self, instructions: list[Instruction]) -> list[Any]:
        """As `Lowering` does it; a differential that nothing divides is an error."""
        stack = super().stack_of(instructions)
        for value in stack:
            if isinstance(value, _Differential):
                raise _incomplete(value)
        return stack

    def _call(self, call: Call, stack: list[Any], start: int, end: int, method: bool = False) -> Any:
        order = _ORDERS.get(call.path[0]) if len(call.path) == 1 and not method else None
        if order is None or not self.claiming or call.positional != 1 or call.keywords:
            return super()._call(call, stack, start, end, method)
        node = self.converter.tensor(self.converter.operand(stack.pop()))
        if not isinstance(node, Node):
            raise InputError(f"{described(node)} has no derivative", spans=(Span(start, end),))
        return _Differential((node,), order, Span(start, end))

    def _binary(self, name: str, left: Any, right: Any) -> Any:
        if not isinstance(left, _Differential) and not isinstance(right, _Differential):
            result = super()._binary(name, left, right)
            if type(result) is float and name in ("add", "sub") and _loses(result, left, right):
                return TABLE[name].call(self._float(float(left)), self._float(float(right)))
            return result
        if name == "div" and isinstance(left, _Differential) and isinstance(right, _Differential):
            return self._divided(left, right)
        if isinstance(right, _Differential):
            if name == "mul" and isinstance(left, _Differential) and left.order == right.order == 1:
                return _Differential((*left.nodes, *right.nodes), 1, Span(left.span.start, right.span.end))
            if name in ("mul", "matmul") and not isinstance(left, _Differential):
                factor = self.converter.operand(left)
                right.before = (lambda node: TABLE[name].call(factor, node), *right.before)
                return right
        elif isinstance(left, _Differential) and name == "pow" and right == 2 and len(left.nodes) == 1:
            return _Differential(left.nodes * 2, left.order, left.span, left.before)
        raise _incomplete(left if isinstance(left, _Differential) else right)

    def _unary(self, name: str, value: Any) -> Any:
        if not isinstance(value, _Differential):
            return super()._unary(name, value)
        value.before = (lambda node: TABLE[name].call(node), *value.before)
        return value

    def _divided(self, above: _Differential, below: _Differential) -> Any:
        """The derivative that a quotient of differentials writes."""
        if len(above.nodes) != 1 or below.before or below.order != 1:
            raise _incomplete(above)
        if above.order != len(below.nodes):
            whole = Span(above.span.start, below.span.end)
            hint = "write d2(z)/d(x)**2 or d2(z)/(d(x)*d(y)) for the second derivative, (d(z)/d(x))**2 for the square"
            raise InputError("the orders above and below the line differ", spans=(whole,), hint=hint)
        for node in below.nodes:
            if node.name is None:
                hint = "write d(z)/d(x) with a name x of the file"
                raise InputError("a derivative is taken by a name", spans=(below.span,), hint=hint)
        try:
            result = self._derivative(above.nodes[0], below.nodes)
        except AgradError as error:
            error.spans = error.spans or (Span(above.span.start, below.span.end),)
            raise
        for step in reversed(above.before):
            result = step(result)
        return result

    def _derivative(self, output: Node, by: tuple[Node, ...]) -> Node:
        single = not output.shape
        if len(by) == 1:
            result = TABLE["grad" if single else "jacobian"].call(output, by[0])
        elif not single:
            raise InputError("the second derivative is that of a single number", hint="write d2(sum(z))/d(x)**2")
        elif by[0] is by[1]:
            result = TABLE["hessian"].call(output, by[0])
        else:
            result = TABLE["jacobian"].call(TABLE["grad"].call(output, by[0]), by[1])
        weights = make.ones_like(output) if single and len(by) == 1 else None
        return self.noting.noted(result, Derivative(output, by, weights))


def _loses(result: float, left: float, right: float) -> bool:
    """Whether a sum of two written numbers is mostly the rounding of these, or has lost the smaller one."""
    low, high = sorted((abs(left), abs(right)))
    return 0 < abs(result) < high * _CANCELLED or 0 < low < high * _ABSORBED


def _incomplete(differential: _Differential) -> InputError:
    return InputError(
        "d(...) stands only in a derivative",
        spans=(differential.span,),
        hint="write d(z)/d(x), in brackets where more stands behind it: (d(z)/d(x))**2, 1/(d(z)/d(x))",
    )
