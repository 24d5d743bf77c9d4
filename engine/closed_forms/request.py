"""Which derivatives are asked for, agrad's own numbers for them, and the answers of the worker put together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..errors import InputError, LimitError
from ..graph import Node, ancestors
from ..language import Formulas
from ..referees.case import CANNOT, CannotJudge, Case, Verdict
from ..referees.description import described
from .gradient_numbers import Place, gradient_numbers

MOST: Final = 400
"""How many derivatives are derived at a time."""
LARGEST_LEAF: Final = 256
"""Entries of a leaf that get a symbol each."""


@dataclass(slots=True)
class Derivative:
    """One derivative: what it is of, by what, and what the worker says.

    Attributes:
        output: the entry of the output.
        by: the entries that it is differentiated by, one after another.
        number: agrad's number at the file's point.
        written: the form in each notation that was asked for; empty where there is none.
        verdict, digits, reason: what the form, evaluated with 50 digits, says of the number; or why there is no form.
        kinks: where it may jump: an equation (`where`), the `op`, what it `takes` there, in words, and whether that is
            `here`, at the file's point.
        conditions: what was decided at the point: the form holds where all of it does.
    """

    output: Place
    by: tuple[Place, ...]
    number: float
    written: Mapping[str, str] = field(default_factory=dict)
    verdict: Verdict = CANNOT
    digits: int | None = None
    reason: str | None = None
    kinks: Sequence[Mapping[str, Any]] = ()
    conditions: Sequence[str] = ()

    @property
    def is_zero(self) -> bool:
        """Whether it is zero everywhere."""
        return self.written.get("text") == "0"


@dataclass(slots=True)
class Derived:
    """All derivatives, in order, with the functions in Python where these were asked for."""

    derivatives: list[Derivative]
    leaves: Mapping[str, Node]
    python: str = ""
    spent: str = ""

    @property
    def complete(self) -> bool:
        """Whether each derivative has a form."""
        return all(derivative.written for derivative in self.derivatives)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How derivatives are to be written.

    Attributes:
        formats: names of notations: "text" (always), "unicode", "latex", "python".
        order: the highest order.
        simplify: whether shorter forms are looked for.
        ascii_only: whether a drawing must be ASCII.
        seconds: how long the worker may take.
    """

    formats: tuple[str, ...]
    order: int = 1
    simplify: bool = True
    ascii_only: bool = False
    seconds: float = 5.0


def label(place: Place) -> str:
    """As in `x[0, 1]`, or `x` for a scalar."""
    name, index = place
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def asked(formulas: Formulas, outputs: Mapping[str, Node], order: int) -> Derived:
    """The derivatives of some outputs by all of `formulas.wrt`, with agrad's numbers.

    Raises:
        InputError: where order and nodes do not fit.
        LimitError: where there are too many.
    """
    leaves = _leaves(formulas, outputs)
    wrt = formulas.wrt
    for name, node in wrt.items():
        if node.size > LARGEST_LEAF:
            raise LimitError(
                f"{name} has {node.size:,} entries: closed forms are written for at most {LARGEST_LEAF}",
                hint="agrad eval gives the numbers",
            )
        if node.dtype.kind != "f":
            raise InputError(f"{name} is of dtype {node.dtype.name}: closed forms are of real numbers")
        if order > 1 and name not in leaves and len(wrt) > 1:
            raise InputError(f"--order {order} by {name}, which is no leaf: give it alone with --wrt {name}")
    entries = [(name, index) for name, node in wrt.items() for index in np.ndindex(node.shape)]
    tops = [(name, index) for name, node in outputs.items() for index in np.ndindex(node.shape)]
    count = len(tops) * sum(math.comb(len(entries) + n - 1, n) for n in range(1, order + 1))
    if count > MOST:
        raise LimitError(
            f"{count:,} derivatives: at most {MOST} are derived at a time",
            hint="choose with --wrt and --output, or a lower --order",
        )
    derivatives = [
        Derivative(top, by, 0.0)
        for n in range(1, order + 1)
        for top in tops
        for by in itertools.combinations_with_replacement(entries, n)
    ]
    numbers = gradient_numbers(formulas, outputs, [(derivative.output, derivative.by) for derivative in derivatives])
    for derivative, number in zip(derivatives, numbers, strict=True):
        derivative.number = number
    return Derived(derivatives, leaves)


def _leaves(formulas: Formulas, outputs: Mapping[str, Node]) -> dict[str, Node]:
    """The leaves of floats that the outputs are computed from, which get symbols: by the names that they are asked by.

    A leaf whose name was given to another node later on gets a number behind it.
    """
    used = set(ancestors([*outputs.values(), *formulas.wrt.values()]))
    wrt = {name: node for name, node in formulas.wrt.items() if not node.args}
    found: dict[str, Node] = {}
    for binding in formulas.bindings:
        node = binding.node
        if node not in used or node in found.values() or not _has_symbols(node):
            continue
        name = next((name for name, asked_for in wrt.items() if asked_for is node), binding.name)
        taken, place = {**formulas.names, **wrt, **found}, 0
        while taken.get(name, node) is not node and wrt.get(name) is not node:
            place += 1
            name = f"{binding.name}_{place}"
        found[name] = node
    return found


def _has_symbols(node: Node) -> bool:
    return not node.args and node.dtype.kind == "f" and node.size <= LARGEST_LEAF


def request(formulas: Formulas, outputs: Mapping[str, Node], derived: Derived, wanted: Wanted) -> dict[str, Any]:
    """What is sent to the worker.

    Raises:
        LimitError: where the graph cannot be described to it.
    """
    nodes = {**formulas.wrt, **derived.leaves}
    scales: dict[tuple[str, int], float] = {}
    for d in derived.derivatives:
        key = (d.output[0], len(d.by))
        if math.isfinite(d.number):
            scales[key] = max(scales.get(key, 0.0), abs(d.number))
    try:
        case = described(Case(list(outputs.values()), [0.0] * len(outputs), nodes, {}))
    except CannotJudge as reason:
        raise LimitError(f"no closed forms: {reason}") from None
    return {
        "case": case,
        "outputs": list(outputs),
        "leaves": list(derived.leaves),
        "formats": list(wanted.formats),
        "ascii": wanted.ascii_only,
        "simplify": wanted.simplify,
        "seconds": wanted.seconds,
        "derivatives": [
            {
                "position": position,
                "output": d.output[0],
                "entry": d.output[1],
                "by": d.by,
                "number": d.number,
                "scale": scales.get((d.output[0], len(d.by)), 0.0),
                "dtype": outputs[d.output[0]].dtype.name,
            }
            for position, d in enumerate(derived.derivatives)
        ],
    }


def fill_in(derived: Derived, answers: Sequence[Mapping[str, Any]], seconds: float) -> None:
    """Put the worker's answers where they belong; a later answer is a better one."""
    for answer in answers:
        if "python" in answer:
            derived.python = answer["python"]
        elif "error" in answer:
            derived.spent = answer["error"]
        else:
            found = derived.derivatives[answer["position"]]
            for name in ("written", "verdict", "digits", "reason", "kinks", "conditions"):
                if name in answer:
                    setattr(found, name, answer[name])
    why = derived.spent or f"no answer within {seconds:g} s, or out of memory"
    for derivative in derived.derivatives:
        if not derivative.written and derivative.reason is None:
            derivative.reason = why
