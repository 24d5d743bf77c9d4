"""One row of the table of ops: everything that agrad knows of one op, and the table itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .node import Node

Shape = tuple[int, ...]
DType = np.dtype[Any]
Attrs = Mapping[str, Any]


class Interval(NamedTuple):
    """Where an argument of an op may lie, for sampling: both ends are outside of it."""

    low: float
    high: float


REAL: Final = Interval(-3.0, 3.0)
POSITIVE: Final = Interval(0.1, 4.0)
UNIT: Final = Interval(-0.95, 0.95)
PROBABILITY: Final = Interval(0.05, 0.95)


@dataclass(frozen=True, slots=True)
class Example:
    """A call that runs, for the reference page and for the derivative tests.

    Attributes:
        form: the call as an expression file writes it, over the names of `inputs`.
        inputs: the shape of each float leaf in it.
        within: where the entries of a leaf are sampled; a leaf that is not named here is sampled in `REAL`.
        orders: the highest order of derivative that exists inside of `within`.
    """

    form: str
    inputs: Mapping[str, Shape]
    within: Mapping[str, Interval] = field(default_factory=dict)
    orders: int = 3


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """One row of the table: everything that agrad knows of one op. A row is also callable: it makes a node.

    Attributes:
        name: the function's name in an expression file, PyTorch's where PyTorch has one.
        doc: one sentence.
        family: the group it stands in: binary, elementwise, activation, reduction, scan, shape, index, linalg, nn ...
        call: makes the node (or `Outputs`) from the arguments of a call. Its parameters are the call's; those annotated
            `Node` are tensors and get numbers and lists converted, the others get plain Python values.
        forms: the calling forms, as a person writes them (PyTorch's and NumPy's).
        aliases: other names of the same function; "special.x" and "linalg.x" are reached by `torch.special.x` too.
        method: whether `x.name(...)` is a form.
        numpy: defaults that differ where the call is written with the prefix `np.` or `jnp.`.
        infer: from arguments and attributes to (shape, dtype) of the result. None where the row only composes others.
        kernel: `kernel(xp, *values, **attrs)`, with `xp` NumPy or CuPy. None where the row only composes others.
        c: for elementwise ops, a C expression over `{0}`, `{1}` ... for fused kernels.
        formula: what the op means, for the referees: `formula(m, *values, **attrs)` over the exact arithmetic `m`
            (mpmath numbers or SymPy expressions, see `ops/exact.py`). For an elementwise op the values are single
            numbers, for others object arrays of them.
        elementwise: one entry of the result depends on one entry of each argument.
        real: it has no complex form: complex arguments are refused, as in PyTorch.
        slopes: for elementwise ops, one function an argument: `slope(*arguments, result, **attrs)` gives the local
            derivative as a node, or a number (1: the cotangent passes, 0: it is zero), or None where none exists.
        rule: for other ops, `rule(node, g)` gives a cotangent for each argument (None: nothing flows). Neither
            mentions broadcasting: that is undone on the edge, in gradient.py.
        differentiable: False where asking for a gradient through it is an error, as in PyTorch.
        examples: calls that run; the first is the reference's.
        domain: where the op is defined and differentiable, in words.
        kink: what is chosen where no derivative exists (convention torch-2.13), in words.
        at_kink: `at_kink(xp, *values, **attrs)`: whether an entry stands just where the derivative jumps, is infinite
            or does not exist: what `kink` says in words, as a quick test. None where there is no such point.
        grad_fn: PyTorch's name for the result's `grad_fn`, or a function of (args, attrs) where the form decides.
        outputs: how many values the kernel gives; where more than one, `output` nodes take them apart.
        batch: how it runs once for a whole batch of arguments, see `ops/batch.py`. None where it needs no rule
            (elementwise) or has none: then a batch is run member by member.
    """

    name: str
    doc: str
    family: str
    call: Callable[..., Any]
    forms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    method: bool = True
    numpy: Mapping[str, Any] = field(default_factory=dict)
    infer: Callable[[Sequence[Node], Attrs], tuple[Shape, DType]] | None = None
    kernel: Callable[..., Any] | None = None
    c: str | None = None
    formula: Callable[..., Any] | None = None
    elementwise: bool = False
    real: bool = False
    slopes: tuple[Callable[..., Any], ...] | None = None
    rule: Callable[[Node, Any], Sequence[Node | None]] | None = None
    differentiable: bool = True
    examples: tuple[Example, ...] = ()
    domain: str = "all real numbers"
    kink: str = "none: smooth"
    at_kink: Callable[..., Any] | None = None
    grad_fn: str | Callable[[Sequence[Node], Attrs], str] = ""
    outputs: int = 1
    batch: Callable[[Node, Sequence[Node], Sequence[bool]], Node | None] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make a node, as an expression file's call does."""
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


TABLE: Final[dict[str, Op]] = {}
"""The table of ops: every name and alias of a function to its row. The families in ops/ fill it."""


def add_row(op: Op) -> Op:
    """Put a row into the table under its name and aliases."""
    for name in (op.name, *op.aliases):
        if name in TABLE:
            raise ValueError(f"two rows are called {name}")
        TABLE[name] = op
    return op
