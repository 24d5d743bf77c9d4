"""Random expression files: calls of every row of the table on what earlier lines made, at hostile points too."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import AgradError, Source
from agrad.engine.graph import REAL, TABLE, Example, Interval, Node, Op
from agrad.engine.language import Formulas, build

GRID: Final = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0)
"""Where kinks, ties and edges of domains are likely."""
EXTREMES: Final = (1e-300, 1e300, -1e300, 5e-324, 1e-16, 1e16, 710.0, -745.0, 40.0, -0.0, 1e-8, 1e8, 20.5)
_SHAPES: Final = ((), (), (3,), (3,), (2, 3))
_MOST_ELEMENTS: Final = 64
_OPERATORS: Final = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / {}",
    "{} ** 2",
    "2 ** {}",
    "1 - {}",
    "-{}",
    "{} ** {}",
    "{} * 0.5",
)
_NAME: Final = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?![\w('\"]|\s*=[^=])")


@dataclass(frozen=True, slots=True)
class Expression:
    """One random file.

    Attributes:
        text: its lines.
        formulas: the text, read.
        cotangent: the weights of its last name; None for a scalar.
    """

    text: str
    formulas: Formulas
    cotangent: Any


@cache
def calls() -> list[tuple[Op, Example]]:
    """Every example of every row that a file may call."""
    rows = dict.fromkeys(TABLE.values())
    return [(op, example) for op in rows for example in op.examples if op.forms]


class Growing:
    """A file that grows line by line.

    Args:
        choose: where its choices come from.
    """

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.leaves: list[str] = []
        self.lines: list[str] = []
        self.formulas: Formulas | None = None
        self.point = choose.choices(("ordinary", "grid", "extreme"), (5, 3, 2))[0]

    @property
    def named(self) -> dict[str, Node]:
        """The nodes so far that are floats and not large."""
        if self.formulas is None:
            return {}
        nodes = self.formulas.names.items()
        return {name: node for name, node in nodes if node.dtype.kind == "f" and node.size <= _MOST_ELEMENTS}

    def grow(self) -> None:
        """Add a line that the language takes; where it refuses one, add none."""
        leaves, lines, formulas = list(self.leaves), list(self.lines), self.formulas
        self.lines.append("")
        right = self._call() if self.choose.random() < 0.7 else self._operation()
        self.lines[-1] = f"v{len(self.lines) - 1} = {right}"
        try:
            self.formulas = build(Source("\n".join([*self.leaves, *self.lines]), "fuzz"))
            if self.formulas.names[self.formulas.last].size > _MOST_ELEMENTS:
                self.leaves, self.lines, self.formulas = leaves, lines, formulas
        except AgradError:
            self.leaves, self.lines, self.formulas = leaves, lines, formulas

    def _operation(self) -> str:
        pattern = self.choose.choice(_OPERATORS)
        first = self._operand(None)
        shape = self._shape_of(first)
        return pattern.format(*([first] + [self._operand(shape)] * (pattern.count("{}") - 1)))

    def _call(self) -> str:
        op, example = self._fitting()
        renamed = {}
        elementwise_shape = None
        for name, shape in example.inputs.items():
            if op.elementwise and self.choose.random() < 0.8:
                renamed[name] = self._operand(elementwise_shape)
                elementwise_shape = self._shape_of(renamed[name])
            else:
                renamed[name] = self._operand(shape, example.within.get(name, REAL))
        return _NAME.sub(lambda match: renamed.get(match[1], match[1]), example.form)

    def _fitting(self) -> tuple[Op, Example]:
        """A call that takes what the last line made, if a few draws find one."""
        last = self._shape_of(f"v{len(self.lines) - 2}")  # the line that grows stands in the list already
        drawn = self.choose.choices(calls(), k=12)
        fits = [(op, example) for op, example in drawn if op.elementwise or last in example.inputs.values()]
        return fits[0] if fits else drawn[0]

    def _operand(self, shape: tuple[int, ...] | None, within: Interval = REAL) -> str:
        """A name with that shape (any, where it is None): one of the file's, or a fresh leaf."""
        fitting = [name for name, node in self.named.items() if shape is None or node.shape == shape]
        if fitting and self.choose.random() < 0.8:
            return fitting[-1] if self.choose.random() < 0.7 else self.choose.choice(fitting)
        name = f"x{len(self.leaves)}"
        shape = self.choose.choice(_SHAPES) if shape is None else shape
        self.leaves.append(f"{name} = {self._value(shape, within)!r}")
        return name

    def _shape_of(self, name: str) -> tuple[int, ...] | None:
        node = self.named.get(name)
        return None if node is None else node.shape

    def _value(self, shape: tuple[int, ...], within: Interval) -> Any:
        if not shape:
            return self._number(within)
        return [self._value(shape[1:], within) for _ in range(shape[0])]

    def _number(self, within: Interval) -> float:
        kind = self.point if self.choose.random() < 0.6 else "ordinary"
        if kind == "grid":
            return self.choose.choice(GRID)
        if kind == "extreme":
            return self.choose.choice(EXTREMES)
        return round(self.choose.uniform(within.low, within.high), self.choose.choice((2, 4, 15)))


def expression(seed: int) -> Expression | None:
    """The random file of a seed; None where none of its lines can be differentiated."""
    choose = random.Random(seed)  # noqa: S311  # reproducible, no secret
    growing = Growing(choose)
    for _ in range(choose.randint(1, 7)):
        growing.grow()
    formulas = growing.formulas
    if formulas is None or not formulas.wrt:
        return None
    output = formulas.names[formulas.last]
    if not output.requires_grad or output.dtype.kind != "f":
        return None
    return Expression(formulas.source.text, formulas, _weights(choose, output.shape) if output.shape else None)


def _weights(choose: random.Random, shape: Sequence[int]) -> Any:
    if not shape:
        return choose.choice((1.0, 0.5, -2.0, round(choose.uniform(-1, 1), 3)))
    return [_weights(choose, shape[1:]) for _ in range(shape[0])]
