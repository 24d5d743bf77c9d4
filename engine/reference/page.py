"""The reference of the ops, as plain data: everything in it comes from the table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..errors import AgradError, InputError, Source
from ..graph import TABLE, Example, Op
from ..language import build, names
from ..language.signatures import Parameter, signature
from ..ops.departures import DEPARTURES, Departure
from ..text.expressions import INFIX
from .rule import rule_lines
from .worked import Worked, results, sample, worked

OPERATORS: Final = {sign: op for op, (sign, _) in reversed(list(INFIX.items()))} | {"**": "pow", "~": "bitwise_not"}
"""The row of each operator."""
_ASSIGNMENT: Final = re.compile(r"(\w+)(?:, \w+)*(?:\[.*\])? = ")
_FAMILIES: Final = (
    "binary",
    "elementwise",
    "activation",
    "comparison",
    "reduction",
    "scan",
    "shape",
    "index",
    "linalg",
    "nn.functional",
    "loss",
    "complex",
    "derivative",
    "creation",
)
"""The order of the families."""
_STAND_INS: Final[dict[str, Any]] = {
    **{name: np.full(3, 0.5) for name in "xywu"},
    **{name: np.eye(3) for name in "ABLM"},
    **{name: np.ones((2, 3, 3)) for name in "TU"},
    "z": np.full(3, 0.5 + 0.5j),
    "c": np.array([True, False, True]),
}
"""Leaves for a form that is written over other names than its row's examples."""
HIDDEN: Final = "cotangent"
"""The family of the rows that only rules call."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Everything that is told of one op.

    Attributes:
        name, family, doc, aliases, domain, kink: as its row says.
        forms: each calling form, with PyTorch's grad_fn for it; None where it makes no node or is not known.
        parameters: each parameter of the call: its name, what it takes, and its default as text (None: required).
        rule: the derivative as lines of text.
        helpers: the ops in these lines that no form calls, and what they are.
        grad_fns: PyTorch's names for the grad_fn of its result.
        orders: the highest order of derivative that is tested; 0 where it has none.
        example: one that runs; None for a row that only rules call.
        departures: the points where its gradient is not PyTorch's.
    """

    name: str
    family: str
    doc: str
    aliases: tuple[str, ...]
    forms: tuple[tuple[str, str | None], ...]
    parameters: tuple[tuple[str, str, str | None], ...]
    rule: tuple[str, ...]
    helpers: tuple[tuple[str, str], ...]
    domain: str
    kink: str
    grad_fns: tuple[str, ...]
    orders: int
    example: Worked | None
    departures: tuple[Departure, ...]


def rows(*, family: str | None = None, search: str | None = None, hidden: bool = False) -> list[Op]:
    """The rows of the table, by family and name.

    Args:
        family: only those of one family.
        search: only those with these words in a name, a form or the doc.
        hidden: also those that only rules call.

    Raises:
        InputError: where no family is called so.
    """
    families = sorted({op.family for op in TABLE.values()}, key=_place)
    found = sorted(set(TABLE.values()), key=lambda op: (_place(op.family), op.name.lower(), op.name))
    if family is not None:
        if family not in families:
            raise InputError(
                f"there is no family {family}",
                hint=names.nearest(family, families) or f"the families are: {', '.join(families)}",
                code="usage",
            )
        found = [op for op in found if op.family == family]
    if search is not None:
        words = search.lower().split()
        found = [op for op in found if all(word in _searched(op) for word in words)]
    shown = hidden or family == HIDDEN
    return [op for op in found if shown or op.family != HIDDEN]


def _place(family: str) -> tuple[int, str]:
    """Where a family stands among all: first those that are listed, then others by name."""
    return (_FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)), family


def _searched(op: Op) -> str:
    return " ".join([op.name, *op.aliases, *op.forms, op.doc]).lower()


def named(name: str) -> Op:
    """The row that somebody means by a name, an operator or a dotted spelling such as `torch.x`, `F.x` or `x.sum`.

    Raises:
        InputError: where nothing is called so.
    """
    spelling = name.strip().removesuffix("()")
    if spelling in OPERATORS:
        return TABLE[OPERATORS[spelling]]
    path = tuple(spelling.split("."))
    found = names.function(path)
    if found is not None:
        return found[0]
    if spelling in TABLE:
        return TABLE[spelling]
    last = TABLE.get(path[-1])
    if last is not None and last.forms and (last.method or path[0] in names.PREFIXES):
        return last
    hint = names.nearest(path[-1], names.function_names()) or "agrad ops lists them all"
    raise InputError(f"there is no op {name}", hint=hint, code="usage")


def reference(op: Op) -> Reference:
    """Everything that is told of a row."""
    at = next((sample(example) for example in op.examples), None)
    most = max(op.examples, key=lambda example: len(example.inputs), default=None)
    rule = tuple(rule_lines(op, None if most is None else sample(most)))
    forms = tuple((form, _grad_fn(op, form)) for form in op.forms)
    grad_fns = tuple(dict.fromkeys(name for _, name in forms if name))
    if not grad_fns and isinstance(op.grad_fn, str) and op.grad_fn:
        grad_fns = (op.grad_fn,)
    return Reference(
        op.name,
        op.family,
        op.doc,
        op.aliases,
        forms,
        tuple(_parameters(op)),
        rule,
        tuple(_helpers(rule)),
        op.domain,
        op.kink,
        grad_fns,
        max((example.orders for example in op.examples), default=0) if op.differentiable else 0,
        None if at is None else worked(at),
        tuple(departure for departure in DEPARTURES if departure.op == op.name),
    )


def _helpers(rule: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The ops of a rule that cannot be called, with their docs."""
    for name in dict.fromkeys(re.findall(r"([\w.]+)\(", " ".join(rule))):
        op = TABLE.get(name)
        if op is not None and op.family == HIDDEN:
            yield name, op.doc


def _halves(example: Example) -> dict[str, Any]:
    return {name: np.full(shape, 0.5) for name, shape in example.inputs.items()}


def _grad_fn(op: Op, form: str) -> str | None:
    """PyTorch's name for the grad_fn of a form, built on leaves as the row's examples have them."""
    assigned = _ASSIGNMENT.match(form)  # `x[0] = 2.0` and `w, V = eigh(A)` are statements already
    text = form if assigned else f"out = {form}"
    for known in (*[_halves(example) for example in op.examples], _STAND_INS):
        inputs = {name: value for name, value in known.items() if re.search(rf"\b{name}\b", form)}
        varying = [name for name, value in inputs.items() if value.dtype.kind in "fc"]
        try:
            formulas = build(Source(text), inputs=inputs, wrt=varying)
        except AgradError:
            continue
        found = [formulas.names[assigned[1]]] if assigned else list(results(formulas).values())
        for node in found:
            if node.grad_fn is not None:
                return node.grad_fn
    return None


def _parameters(op: Op) -> Iterator[tuple[str, str, str | None]]:
    known = signature(op)
    read = {parameter.name: parameter for parameter in known.parameters}
    for name, own in inspect.signature(op.call).parameters.items():
        if own.kind is own.VAR_POSITIONAL:
            yield f"*{name}", "tensors" if "Node" in str(own.annotation) else "integers", None
        elif name in read:
            parameter = read[name]
            yield name, _taken(parameter), None if parameter.required else _default(parameter.default)


def _taken(parameter: Parameter) -> str:
    """What a parameter takes, in words."""
    if parameter.tensors:
        return "a list of tensors"
    if parameter.tensor:
        return "a tensor of integers" if parameter.label else "a tensor"
    words = "anything" if not parameter.types else parameter.words
    return f"a tensor or {words}" if parameter.node and parameter.types else words


def _default(value: Any) -> str:
    return value.name if isinstance(value, np.dtype) else repr(value)
