"""Names and the nodes that they mean: bindings of the text, values given from outside, and names without a value."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from ..errors import AgradError, InputError, Source, Span
from ..graph import LEAF, DType, Node, Outputs, leaf
from . import names
from . import parser as p
from .given import given_leaf
from .listing import Listing, as_leaf_value, described, has_nodes
from .lower import POISON, Lowering
from .written import NUMBERS


class Binding(NamedTuple):
    """A name given to a node by one statement.

    Attributes:
        name: as written.
        node: its value.
        expression: where the right side stands; for a value that is given from outside, where its name is first used.
        statement: where the whole statement stands.
        given: whether the value comes from outside of the text.
    """

    name: str
    node: Node
    expression: Span
    statement: Span
    given: bool = False


class Bindings:
    """What each name means so far.

    Args:
        source: the text.
        given: values from outside.
        spare: names of those that the text need not use.
        wanted: the names whose leaves require a gradient; None where all do.
        dtype: the dtype of floats.
    """

    def __init__(
        self, source: Source, given: dict[str, Any], spare: Collection[str], wanted: set[str] | None, dtype: DType
    ) -> None:
        self.source = source
        self.given = given
        self.spare = spare
        self.wanted = wanted
        self.dtype = dtype
        self.lowering = Lowering(dtype, self._unknown, self._warn)
        self.environment = self.lowering.environment
        self.bindings: list[Binding] = []
        self.outside: list[Binding] = []
        self.used: set[str] = set()
        self.warnings: dict[str, None] = {}
        self.claims: list[Span] = []
        self.errors: list[AgradError] = []
        self.statement = Span(0, 0)

    def bind(self, name: str, value: Any, statement: p.Statement, target: Span) -> Any:
        """Give a value a name; the value as it is bound (a number becomes a leaf)."""
        if isinstance(value, Outputs):
            for part, result in zip(value.names, value.nodes, strict=True):
                whole = f"{name}.{part}" if part.isidentifier() else f"{name}[{part.strip('[]')}]"
                self.record(whole, result, statement)
            self.environment[name] = value
            return value
        node = self._tensor_of(value)
        if node is None:
            if name in self.given:
                raise InputError(f"{name} is {described(value)} in the text and cannot be given", spans=(target,))
            self.environment[name] = value
            return value
        fresh = node.op is LEAF and node.name is None
        if name in self.given:
            node = self._replaced(name, node, fresh or node.op is LEAF, target)
        if fresh:
            node.span = statement.expression
            if self._requires(name) and node.dtype.kind in "fc" and node not in self.lowering.calls.explicit:
                node.requires_grad = True
        self.environment[name] = node
        self.record(name, node, statement)
        return node

    def record(self, name: str, node: Node, statement: p.Statement) -> None:
        """Add a binding; the first name of a node is its name."""
        if node.name is None:
            node.name = name
        if node.span is None:
            node.span = statement.expression
        self.bindings.append(Binding(name, node, statement.expression, statement.span))

    def _tensor_of(self, value: Any) -> Node | None:
        """The node that a value is as a named one; None where it stays a plain value (a dtype, a tuple of strings)."""
        if isinstance(value, Node):
            return leaf(as_leaf_value(value.value, self.dtype)) if value.is_number else value
        whole = False
        if type(value) in NUMBERS:
            if self.lowering.calls.measured and type(value) is int:
                return leaf(np.int64(value))
            whole = type(value) is int
            node = leaf(as_leaf_value(value, self.dtype))
        elif isinstance(value, Listing):
            if self.lowering.calls.measured or (value.shape is None and not has_nodes(value)):
                return None
            if value.shape is None:
                tensor: Node = self.lowering.converter.tensor(value)
                return tensor
            node = leaf(value.array(self.dtype))
            whole = value.integers
        else:
            return None
        if whole:
            self.lowering.calls.integers.add(node)
        return node

    def _requires(self, name: str) -> bool:
        return self.wanted is None or name in self.wanted

    def _replaced(self, name: str, node: Node, is_leaf: bool, target: Span) -> Node:
        """The leaf of a value from outside in the place of a leaf of the text."""
        if not is_leaf:
            if name in self.used:
                return node
            line = self.source.location(target.start).line
            raise InputError(
                f"{name} is computed on line {line}: it cannot be given a value",
                spans=(target,),
                hint="give values to leaves only, or remove the line",
            )
        self.used.add(name)
        place = self.source.location(target.start)
        self.warnings[f"{name} of {place.file}:{place.line} is replaced by the value given"] = None
        replacement = given_leaf(name, self.given[name], self.dtype, self.lowering.calls.integers, target)
        if node in self.lowering.calls.explicit:
            self.lowering.calls.explicit.add(replacement)
            replacement.requires_grad = node.requires_grad and replacement.dtype.kind in "fc"
        return replacement

    def _unknown(self, name: str, start: int, end: int) -> Any:
        """The value of a name that the text has not assigned so far."""
        if name in self.given:
            self.used.add(name)
            node = given_leaf(name, self.given[name], self.dtype, self.lowering.calls.integers, Span(start, end))
            node.requires_grad = self._requires(name) and node.dtype.kind in "fc"
            node.name, node.span = name, Span(start, end)
            self.environment[name] = node
            self.outside.append(Binding(name, node, Span(start, end), Span(start, end), given=True))
            return node
        try:
            return names.static((name,))
        except KeyError:
            pass
        self.environment[name] = POISON
        raise self._no_value(name, Span(start, end))

    def _no_value(self, name: str, span: Span) -> InputError:
        later = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=(?!=)", re.MULTILINE).search(self.source.text, span.end)
        if later is None:
            unpacked = re.compile(rf"^[^=\n#]*\b{re.escape(name)}\b[^=\n#]*=(?!=)", re.MULTILINE)
            later = unpacked.search(self.source.text, span.end)
        own = self.source.text.find(name, self.statement[0]) == self.statement[0]
        if later is not None:
            line = self.source.location(later.end()).line
            return InputError(
                f"{name} is used before it is assigned, on line {line}",
                spans=(span,),
                hint=f"move line {line} up, or give {name} a value: --at {name}=...",
            )
        if name in names.PREFIXES:
            return InputError(f"{name} is a module", spans=(span,), hint=f"write {name}.FUNCTION(...)")
        known = [n for n, value in self.environment.items() if value is not POISON]
        symbol = names.SYMBOLS.get(name)
        near = f"did you mean {symbol}?" if symbol else names.nearest(name, [*known, *names.BARE_CONSTANTS])
        if names.function((name,)) is not None:
            return InputError(f"{name} is a function", spans=(span,), hint=f"call it: {name}(...)")
        value = f"give it a value: --at {name}=..."
        message = f"{name} has no value before its own assignment" if own else f"{name} has no value"
        return InputError(message, spans=(span,), hint=f"{near[:-1]}, or {value}" if near else value)

    def poison(self, statement: p.Statement) -> None:
        """The names of a statement that failed have no value, and nothing is said where they are used."""
        for name, _, _ in statement.targets:
            self.environment[name] = POISON
            self.used.add(name)

    def _warn(self, message: str, span: Span) -> None:
        place = self.source.location(span.start)
        self.warnings[f"{place.file}:{place.line}: {message}"] = None

    def check_given(self) -> None:
        """Each value from outside must be used."""
        for name in self.given:
            if name not in self.used and name not in self.spare:
                known = [*self.environment]
                hint = names.nearest(name, known) or f"the names of the file are {', '.join(known[:8])}"
                self.errors.append(InputError(f"the file does not use {name}, which is given a value", hint=hint))
