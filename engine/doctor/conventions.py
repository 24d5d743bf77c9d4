"""What PyTorch, JAX and others choose at points where no derivative exists, as recorded from them.

`cross_framework_kinks.json` holds a row for each point that was tried. A row is told only at a point of just its kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Node

PROGRAMS: Final[Mapping[str, str]] = {
    "torch": "PyTorch",
    "jax": "JAX",
    "hips": "HIPS autograd",
    "mg": "MyGrad",
    "ca": "CasADi",
}
"""The keys of a row, and whose answers they hold."""
_NONE: Final = "-"


class Elsewhere(NamedTuple):
    """What others choose at a point.

    Attributes:
        point: the point, as its row calls it.
        answers: the derivative that each program gives, as text; several arguments are separated by ` ; `.
    """

    point: str
    answers: Mapping[str, str]

    @property
    def text(self) -> str:
        """The same in one line."""
        return f"{self.point}: {', '.join(f'{program} {answer}' for program, answer in self.answers.items())}"

    def as_json(self) -> dict[str, str]:
        """The same as data."""
        return {"point": self.point, **self.answers}


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of point that a row stands for.

    Attributes:
        row: its `case`.
        op: the op that is differentiated.
        holds: whether a node and the values of its arguments are of the kind.
    """

    row: str
    op: str
    holds: Callable[[Node, Sequence[Any]], Any]


def _both(first: float, second: float) -> Callable[[Node, Sequence[Any]], Any]:
    return lambda _node, values: (values[0] == first) & (values[1] == second)


def _power(base: float, exponent: float, *, written: bool) -> Callable[[Node, Sequence[Any]], Any]:
    def holds(node: Node, values: Sequence[Any]) -> Any:
        return node.args[1].is_number == written and np.any((values[0] == base) & (values[1] == exponent))

    return holds


def _two_largest(node: Node, values: Sequence[Any]) -> bool:
    return _is_vector(node, values[0]) and np.count_nonzero(values[0] == np.max(values[0])) == 2


def _two_equal(node: Node, values: Sequence[Any]) -> bool:
    ordered = np.sort(values[0])
    rising = not node.attrs.get("descending")
    return rising and np.ndim(ordered) == 1 and len(ordered) > 1 and np.count_nonzero(np.diff(ordered) == 0) == 1


def _is_vector(node: Node, value: Any) -> bool:
    return np.ndim(value) == 1 and node.shape == ()


def _constant(*, several: bool) -> Callable[[Node, Sequence[Any]], Any]:
    def holds(node: Node, values: Sequence[Any]) -> Any:
        value = values[0]
        whole = _is_vector(node, value) and node.attrs.get("correction") == 0
        return whole and (len(value) > 1) == several and np.all(value == value[0])

    return holds


def _masked_root(node: Node, values: Sequence[Any]) -> bool:
    condition, yes, no = node.args
    masked = condition.op.name == "gt" and yes.op.name == "sqrt" and condition.args[0] is yes.args[0]
    zeros = masked and bool(np.all(np.asarray(values[2]) == 0)) and not no.requires_grad
    bound = condition.args[1].value if masked and condition.args[1].is_number else None
    return zeros and bound == 0 and bool(np.any(~np.asarray(values[0]) & (np.asarray(values[1]) == 0)))


KINDS: Final[tuple[Kind, ...]] = (
    Kind("abs(0)", "abs", lambda _node, values: values[0] == 0),
    Kind("relu(0)", "relu", lambda _node, values: values[0] == 0),
    Kind(
        "maximum(x,0) scalar const at 0",
        "maximum",
        lambda node, values: node.args[1].is_number and np.any((values[0] == 0) & (values[1] == 0)),
    ),
    Kind(
        "maximum(a,b) tie",
        "maximum",
        lambda node, values: all(arg.requires_grad for arg in node.args) and np.any(values[0] == values[1]),
    ),
    Kind("max of [1,2,2]", "max", _two_largest),
    Kind(
        "clip(x,0,1) at 0",
        "clamp",
        lambda node, values: node.attrs.get("max") is not None and np.any(values[0] == node.attrs.get("min")),
    ),
    Kind(
        "norm([0,0])",
        "linalg.vector_norm",
        lambda node, values: _is_vector(node, values[0]) and node.attrs["p"] == 2 and not np.any(values[0]),
    ),
    Kind("sqrt(0)", "sqrt", lambda _node, values: values[0] == 0),
    Kind("x**y at (0,0)", "pow", _power(0, 0, written=False)),
    Kind("x**0 const at 0", "pow", _power(0, 0, written=True)),
    Kind("atan2(0,0)", "atan2", _both(0, 0)),
    Kind("hypot(0,0)", "hypot", _both(0, 0)),
    Kind("where(x>0,sqrt(x),0) at 0", "where", _masked_root),
    Kind("sign(0)", "sign", lambda _node, values: values[0] == 0),
    Kind("floor(1)", "floor", lambda _node, values: values[0] == np.floor(values[0])),
    Kind("round(1.5)", "round", lambda _node, values: values[0] - np.floor(values[0]) == 0.5),
    Kind(
        "logsumexp [-inf,-inf]",
        "logsumexp",
        lambda node, values: _is_vector(node, values[0]) and np.all(values[0] == -np.inf),
    ),
    Kind("logaddexp(-inf,-inf)", "logaddexp", _both(-np.inf, -np.inf)),
    Kind("xlogy(0,0)", "xlogy", _both(0, 0)),
    Kind("std of [3.] ddof=0", "std", _constant(several=False)),
    Kind("std of [2,2,2] ddof=0", "std", _constant(several=True)),
    Kind("sort [2,2,1] -> last", "sort", _two_equal),
)
"""The kinds of points; the rows that no kind names are of points where a derivative exists, or of whole programs."""


@cache
def rows() -> Mapping[str, Mapping[str, str]]:
    """The recorded rows, by the name of their point."""
    text = files(__package__).joinpath("cross_framework_kinks.json").read_text(encoding="utf-8")
    return {row["case"]: row for row in json.loads(text)}


def elsewhere(node: Node, values: Sequence[Any]) -> Elsewhere | None:
    """What others choose where a node stands, if a row is of just this kind of point, which is one of real numbers.

    Args:
        node: the node.
        values: of its arguments.
    """
    if any(arg.dtype.kind == "c" for arg in node.args):
        return None
    with np.errstate(all="ignore"):
        for kind in KINDS:
            if kind.op == node.op.name and bool(np.any(kind.holds(node, values))):
                row = rows()[kind.row]
                answers = {program: row[key] for key, program in PROGRAMS.items() if row[key] != _NONE}
                return Elsewhere(kind.row, answers)
    return None
