"""Statements one after another: each gives names to nodes, and its error does not stop the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..errors import AgradError, InputError, SeveralErrors, Source, Span
from ..graph import LEAF, TABLE, Node, Outputs
from ..ops.infer import with_default_dtype
from . import foreign
from . import parser as p
from .bindings import Binding, Bindings
from .claim_lines import COMPARISONS, Claim
from .listing import Listing, described
from .lower import PoisonedError
from .postfix import BINARY, LOAD
from .tokens import FOREIGN, SPACE

MOST_ERRORS: Final = 20
"""How many errors one run reports."""

RESULT: Final = "result"
"""The name of an expression that is written without one."""

_AUGMENTED: Final = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "@": "matmul",
    "**": "pow",
    "&": "bitwise_and",
    "|": "bitwise_or",
}
_new = tuple.__new__


def located(error: AgradError, source: Source) -> AgradError:
    """An error with the text that its spans refer to."""
    error.source = source
    return error


class Statements(Bindings):
    """Takes the statements of a text in their order."""

    def read(self) -> None:
        """Read every statement.

        Raises:
            AgradError: the one error, or `SeveralErrors`.
        """
        with with_default_dtype(self.dtype), np.errstate(all="ignore"):
            for statement in p.Parser(self.source.text).statements():
                if statement.error is not None:
                    self.errors.append(statement.error)
                    self.poison(statement)
                else:
                    try:
                        self._take(statement)
                    except PoisonedError:
                        self.poison(statement)
                    except AgradError as error:
                        if not error.spans:
                            error.spans = (statement.expression,)
                        self.errors.append(error)
                        self.poison(statement)
                if len(self.errors) >= MOST_ERRORS:
                    break
        if not self.errors:
            self.check_given()
        if not self.errors and not self.bindings:
            end = len(self.source.text)
            self.errors.append(
                InputError(
                    "nothing to evaluate: no formula in the text",
                    spans=(Span(end, end),),
                    hint="write NAME = EXPRESSION, one a line",
                )
            )
        for each in self.errors:
            each.source = self.source
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise located(SeveralErrors(self.errors), self.source)

    def _take(self, statement: p.Statement) -> None:
        lowering = self.lowering
        lowering.calls.measured = False
        self.statement = statement.span
        kind = statement.kind
        if kind == p.ASSIGNMENT:
            value = lowering.value_of(statement.line) if statement.line is not None else None
            if value is None:
                value = lowering.run(statement.instructions)
            for name, start, end in statement.targets:
                if type(value) is Node and value.op is not LEAF and name not in self.given:
                    if value.name is None:
                        value.name = name
                    self.environment[name] = value
                    self.bindings.append(_new(Binding, (name, value, statement.expression, statement.span, False)))
                else:
                    value = self.bind(name, value, statement, Span(start, end))
        elif kind == p.CLAIM:
            self.claim(statement)
        elif kind == p.BARE:
            self.bind(RESULT, lowering.run(statement.instructions), statement, statement.span)
        elif kind == p.AUGMENTED:
            self._augment(statement)
        elif kind == p.ITEM:
            self._set_item(statement)
        else:
            self._unpack(statement)

    def claim(self, statement: p.Statement) -> None:
        """Note where a claim or a domain stands; what it says is lowered only where it is judged (`claims.py`).

        Raises:
            InputError: where it compares nothing.
        """
        self.claims.append(statement.span)
        if isinstance(statement.claim, Claim) and not statement.claim.operator:
            raise InputError(
                "a claim compares two formulas",
                spans=(statement.expression,),
                hint=f"write assert LEFT == RIGHT; the comparisons are {' '.join(COMPARISONS.values())}",
            )
        self.used.update(each[1] for each in statement.instructions if each[0] == LOAD and each[1] in self.given)

    def _augment(self, statement: p.Statement) -> None:
        name, start, end = statement.targets[0]
        if statement.operator not in _AUGMENTED:
            at = self.source.text.index(statement.operator, end)
            raise foreign.no_operand(self.source.text, FOREIGN, statement.operator + "=", at, at, SPACE)
        instructions = [
            (LOAD, name, start, end),
            *statement.instructions,
            (BINARY, _AUGMENTED[statement.operator], start, statement.span[1]),
        ]
        self.bind(name, self.lowering.run(instructions), statement, Span(start, end))

    def _set_item(self, statement: p.Statement) -> None:
        left, right = statement.instructions[: statement.split], statement.instructions[statement.split :]
        name, start, end = statement.targets[0]
        index = left[-1]
        base, *items = self.lowering.stack_of(left[:-1])
        value = self.lowering.run(right)
        base = self.lowering.converter.tensor(base)
        if type(base) is not Node:
            raise InputError(f"items of {described(base)} cannot be assigned")
        try:
            chosen = self.lowering.indices.items(items, index[1] < 0)
            node = TABLE["setitem"].call(base, chosen, self.lowering.converter.tensor(value))
        except AgradError as error:
            if not error.spans:
                error.spans = (Span(index[2], index[3]), statement.expression)
            raise
        node.span = statement.span
        self.bind(name, node, statement, Span(start, end))

    def _unpack(self, statement: p.Statement) -> None:
        value = self.lowering.run(statement.instructions)
        parts: Sequence[Any]
        if isinstance(value, Listing):
            if value.shape is not None and len(value.shape) > 1:
                rank, shape = value.rank, value.shape[1:]
                parts = [Listing(item, value.is_tuple, shape, rank) for item in value.items]
            else:
                parts = value.items
        elif isinstance(value, Outputs):
            parts = value.nodes
        elif isinstance(value, Node):
            if not value.shape:
                raise InputError("a tensor without axes cannot be unpacked")
            if value.shape[0] != len(statement.targets):
                parts = range(value.shape[0])
            else:
                result = TABLE["unbind"].call(value)
                parts = result.nodes if isinstance(result, Outputs) else result
        else:
            raise InputError(f"{described(value)} cannot be unpacked")
        if len(parts) != len(statement.targets):
            raise InputError(
                f"{len(statement.targets)} names for {len(parts)} values",
                spans=(Span(statement.targets[0][1], statement.targets[-1][2]), statement.expression),
            )
        for (name, start, end), part in zip(statement.targets, parts, strict=True):
            self.bind(name, part, statement, Span(start, end))
