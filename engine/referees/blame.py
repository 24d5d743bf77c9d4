"""Which op is to blame for a wrong gradient: each node by itself, as a tiny case, before its own referee.

The engine's side (`op_cases`) computes what a node's kernel and rule give at the values that its arguments have; the
referees' side (`first_wrong`) knows neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import AgradError
from ..gradient import gradients
from ..graph import LEAF, Node, ancestors, leaf
from ..run.cpu import evaluate
from ..worker.budget import Budget, BudgetSpent
from . import differences, precise
from .arithmetic import PreciseArithmetic
from .case import DISAGREE, CannotJudge, Case, Fault, Judgement
from .description import described, packed_array, rebuilt, unpacked_array
from .digits import shown
from .forward import cost_of
from .point import Point

_TOLERANCE: Final = {"float64": 1e-6, "complex128": 1e-6}
"""How wrong a value may be, as a part of itself."""
_TOLERANCE_SHORT: Final = 1e-3
_SLACK: Final = 1_000
"""And how many times the effect of single roundings."""
_DIGITS: Final = 50
_LARGEST: Final = 2**20
"""Elements of a node that is looked at by itself."""
_LARGEST_GRAPH: Final = 2**24
"""Elements of all nodes, whose values are needed together."""


class OpCase(NamedTuple):
    """One op at one point.

    Attributes:
        case: its result by each of its arguments; the gradients are its rule's, for a random cotangent.
        value: what its kernel gives; None where it is not to be compared.
    """

    case: Case
    value: Any


class Wrong(NamedTuple):
    """What is wrong with one of some ops.

    Attributes:
        position: which of them it is.
        fault, argument, reason: as of `Blame`.
    """

    position: int
    fault: Fault
    argument: int | None
    reason: str


def op_cases(case: Case) -> Iterator[tuple[Node, OpCase]]:
    """Each node that the outputs are computed from, as a case of its own, in order from the leaves."""
    nodes = ancestors(case.outputs)
    if sum(node.size for node in nodes) > _LARGEST_GRAPH:
        return
    parts: dict[Node, list[Node]] = {}
    for node in nodes:
        if node.op.name == "output":
            parts.setdefault(node.args[0], []).append(node)
    values = evaluate(nodes)
    for position, node in enumerate(nodes):
        if node.op is LEAF or node.op.name == "output" or node.op.kernel is None or node.size > _LARGEST:
            continue
        with suppress(AgradError, CannotJudge):
            yield node, _op_case(node, parts.get(node, []), values, position)


def _op_case(node: Node, parts: Sequence[Node], values: dict[Node, Any], seed: int) -> OpCase:
    args = tuple(Node(LEAF, (), {}, arg.shape, arg.dtype, arg.requires_grad, None, values[arg]) for arg in node.args)
    again = _like(node, args)
    outputs = [_like(part, (again,)) for part in parts] if node.op.outputs > 1 else [again]
    outputs = [output for output in outputs if output.dtype.kind in "fc"]
    wrt = {f"argument {place + 1}": arg for place, arg in enumerate(args) if arg.requires_grad}
    value = values[node] if node.op.outputs == 1 else None
    if not outputs or not node.requires_grad:
        return OpCase(Case([again], [_zeros(again)], {}, {}), value)
    random = np.random.default_rng(seed)
    cotangents = [_cotangent(output, random) for output in outputs]
    found = gradients(outputs, [leaf(cotangent) for cotangent in cotangents])
    given = evaluate([found[arg] for arg in wrt.values() if arg in found])
    by_rule = {name: given[found[arg]] for name, arg in wrt.items() if arg in found}
    return OpCase(Case(outputs, cotangents, wrt, by_rule), value)


def _like(node: Node, args: tuple[Node, ...]) -> Node:
    return Node(node.op, args, node.attrs, node.shape, node.dtype, node.requires_grad, node.grad_fn)


def packed(op_case: OpCase) -> dict[str, Any]:
    """The case of one op as plain data.

    Raises:
        CannotJudge: as `description.described` says.
    """
    value = None if op_case.value is None else packed_array(op_case.value)
    return {"case": described(op_case.case), "value": value}


def unpacked(data: dict[str, Any]) -> OpCase:
    """The case of plain data."""
    return OpCase(rebuilt(data["case"]), None if data["value"] is None else unpacked_array(data["value"]))


def _zeros(node: Node) -> Any:
    return np.zeros(node.shape, node.dtype)[()]


def _cotangent(node: Node, random: np.random.Generator) -> Any:
    """Weights of the size of one; just one where there is one number, or each entry stands for itself."""
    if node.size == 1 or node.op.elementwise:
        return np.ones(node.shape, node.dtype)[()]
    weights = random.uniform(0.5, 1.5, node.shape)
    if node.dtype.kind == "c":
        weights = weights + 1j * random.uniform(0.5, 1.5, node.shape)
    return weights.astype(node.dtype)[()]


def first_wrong(cases: Sequence[OpCase], budget: Budget) -> Wrong | None:
    """The first op whose value or rule is wrong, as far as the budget goes.

    Raises:
        BudgetSpent: where it is spent before all are looked at.
    """
    for position, (case, value) in enumerate(cases):
        if value is not None:
            reason = _value_objection(case.outputs[0], value, budget)
            if reason is not None:
                return Wrong(position, "value", None, reason)
        for name, node in case.wrt.items():
            by_one = replace(case, wrt={name: node})
            judgement = _judged(by_one, budget)
            if judgement.verdict == DISAGREE:
                return Wrong(position, "rule", int(name.split()[1]) - 1, str(judgement.reason))
    return None


def _judged(case: Case, budget: Budget) -> Judgement:
    budget.require_time()
    nodes = ancestors(case.outputs)
    fresh = Budget(budget.operations, budget.seconds_left)
    if 2 * precise.DIRECTIONS * sum(cost_of(node) for node in nodes) > budget.operations:
        return differences.judge(case, fresh)
    return precise.judge(case, fresh, directions=precise.cost(case, nodes) > budget.operations)


def _value_objection(node: Node, value: Any, budget: Budget) -> str | None:
    """What is to be said against the value of a node by its formula; None where nothing is."""
    if node.size + cost_of(node) > budget.operations:
        return None
    left = Budget(budget.operations, budget.seconds_left)
    try:
        rough = Point(Case([node], [_zeros(node)], {}, {}), ancestors([node]), left, _DIGITS)
        digits = _DIGITS + rough.magnitude
        true = rough if digits < 2 * _DIGITS else Point(rough.case, rough.nodes, left, digits)
        noisy = Point(rough.case, rough.nodes, left, digits, 0)
    except (BudgetSpent, CannotJudge):
        return None
    m = true.m
    numbers = zip(true.values[node].flat, noisy.values[node].flat, strict=True)
    for got, (right, off) in zip(np.asarray(value).ravel().tolist(), numbers, strict=True):
        if not _is_near(m, node, got, right, off):
            return f"its value is {got!r}, not {right if isinstance(right, (bool, np.bool_)) else shown(m, right)}"
    return None


def _is_near(m: PreciseArithmetic, node: Node, got: Any, right: Any, off: Any) -> bool:
    """Whether a value is right, up to many times what one rounding of the arguments does to it."""
    if isinstance(right, (bool, np.bool_)) or node.dtype.kind == "b":
        return bool(got) == bool(right) or bool(off) != bool(right)
    number = m.number(got)
    if m.undefined_number(right):
        return True
    if node.dtype.kind not in "fc":
        return bool(number == right or right != off)
    limit = np.finfo(node.dtype)
    clipped = m.clipped(right, float(limit.max))
    if not m.finite(number) or not m.finite(clipped):
        return bool(number == clipped)
    part = _TOLERANCE.get(node.dtype.name, _TOLERANCE_SHORT)
    room = abs(right - off) * _SLACK if m.finite(off) else m.inf
    return bool(abs(number - right) <= max(abs(right) * part, room, float(limit.tiny)))
