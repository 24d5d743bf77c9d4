"""What a file claims: the sides of each claim as nodes, the domains of its leaves, and the derivatives in them.

The text is read once more, for claims alone: there every leaf may be differentiated by, and every derivative is noted,
so that it can be judged as what it means and not by the rules that compute it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import InputError, ShapeError, Span
from ..graph import LEAF, Node, ancestors
from . import names
from . import parser as p
from .bindings import Binding
from .claim_lines import Claim, DomainLine
from .differentials import Derivative, DerivativeLowering
from .domains import Domain, domain_of
from .formulas import Formulas, Text
from .listing import described
from .postfix import Instruction
from .statements import located

EXPECTATIONS: Final = ("refuted",)
"""What a comment `# expect: ...` above a claim may say."""

_EXPECT: Final = re.compile(r"\s*#[ \t]*expect:[ \t]*(\S*)")


@dataclass(frozen=True, slots=True)
class Sides:
    """A claim as nodes.

    Attributes:
        operator: a key of `claim_lines.COMPARISONS`.
        left, right: its sides.
        text: what is claimed, as it is written.
        span: where.
        within: the tolerance, where one is written.
        label: the words of the claim.
        expected: the verdict that a comment above it expects, if any.
    """

    operator: str
    left: Node
    right: Node
    text: str
    span: Span
    within: float | None = None
    label: str | None = None
    expected: str | None = None


class Claims(NamedTuple):
    """Everything that a file claims.

    Attributes:
        sides: each claim.
        leaves: the leaves that may vary, by name: floats that are not declared with `requires_grad=False`, and that
            are not used as an index, a size or another plain number. A leaf whose name is assigned again later is
            called `x (line 1)`.
        domains: where they lie, as far as it is declared.
        names: the last node of each name.
        derivatives: the nodes that are derivatives, of the text's formulas too.
        reads: for nodes that were built from the values of others, these others.
    """

    sides: list[Sides]
    leaves: dict[str, Node]
    domains: dict[str, Domain]
    names: dict[str, Node]
    derivatives: dict[Node, Derivative]
    reads: dict[Node, list[Node]]

    def called(self, name: str) -> list[str]:
        """What the leaves are called whose name it is, in the order of the text."""
        return [key for key, node in self.leaves.items() if name in (node.name, key)]


def read_claims(formulas: Formulas) -> Claims:
    """What a text claims, and all of its derivatives.

    Raises:
        AgradError: located, where a name is unknown, shapes do not fit, or a leaf lies outside of its domain.
    """
    text = _ClaimText(formulas.source, dict(formulas.inputs), (*formulas.inputs,), None, formulas.dtype)
    with text.lowering.calls.reads.collect():
        text.read()
    text.settle_integers()
    leaves = text.leaves()
    keys = {node: key for key, node in leaves.items()}
    domains: dict[str, Domain] = {}
    for name, meant, domain, span in text.domains:
        found = keys.get(meant) if meant is not None else None
        if found is None and (meant is None or meant.op is LEAF):
            # A domain may stand above its leaf, too: it is then the first one of that name.
            found = next((key for key, node in leaves.items() if node.name == name), None)
        if found is None:
            raise located(text.no_leaf(name, span), formulas.source)
        if found in domains:
            error = InputError(f"{found} has a domain already: {domains[found]}", spans=(span,))
            raise located(error, formulas.source)
        outside = domain.first_outside(leaves[found].value)
        if outside is not None:
            message = f"{found} is {outside!r}, outside of its domain {domain}"
            raise located(InputError(message, spans=(span,), hint="give it another value"), formulas.source)
        domains[found] = domain
    return Claims(text.sides, leaves, domains, text.last_nodes, text.derivatives, text.lowering.calls.reads.of)


class _ClaimText(Text):
    """One pass over the text that takes the claims too."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.claiming = DerivativeLowering(self.dtype, self._unknown, self._warn)
        self.lowering = self.claiming
        self.environment = self.lowering.environment
        self.derivatives = self.claiming.noting.derivatives
        self.sides: list[Sides] = []
        self.domains: list[tuple[str, Node | None, Domain, Span]] = []

    def claim(self, statement: p.Statement) -> None:
        """Lower a claim, or read a domain.

        Raises:
            AgradError: with spans, where it cannot be.
        """
        super().claim(statement)
        if isinstance(statement.claim, DomainLine):
            self._take_domain(statement.claim)
        elif statement.claim is not None:
            self.claiming.claiming = True
            try:
                self.sides.append(self._sides(statement.claim, statement))
            finally:
                self.claiming.claiming = False

    def _sides(self, claim: Claim, statement: p.Statement) -> Sides:
        left, right = self._side(claim.left), self._side(claim.right)
        if claim.is_condition and left.dtype.kind != "b":
            hint = f"write assert LEFT == RIGHT, or conditions of truth values; this is of dtype {left.dtype}"
            raise InputError("a claim compares two formulas", spans=(_span(claim.left),), hint=hint)
        if left.shape != right.shape and left.shape and right.shape:
            raise ShapeError(
                f"the sides have shapes {list(left.shape)} and {list(right.shape)}",
                spans=(_span(claim.left), _span(claim.right)),
                hint="both sides have one shape, or one side is a single number",
            )
        span = statement.span
        return Sides(
            claim.operator,
            left,
            right,
            self.source.text[claim.written.start : claim.written.end],
            span,
            self._tolerance(claim.within) if claim.within else None,
            claim.label,
            self._expected(span),
        )

    def _side(self, instructions: list[Instruction]) -> Node:
        value = self.lowering.run(instructions)
        try:
            node = self.lowering.converter.tensor(self.lowering.converter.operand(value))
        except InputError:
            node = None
        if not isinstance(node, Node) or node.dtype.kind not in "fib":
            what = f"of dtype {node.dtype}" if isinstance(node, Node) else described(value)
            raise InputError(f"a side of a claim is an array of real numbers, not {what}", spans=(_span(instructions),))
        return node

    def _tolerance(self, instructions: list[Instruction]) -> float:
        value = _number(self.lowering.run(instructions))
        if value is None or not 0 < value < np.inf:
            raise InputError("a tolerance is a number above 0", spans=(_span(instructions),), hint="write within 1e-6")
        return value

    def _take_domain(self, line: DomainLine) -> None:
        values = []
        for instructions in line.ends:
            value = _number(self.lowering.run(instructions))
            if value is None or value != value:
                raise InputError("a domain is written with numbers", spans=(_span(instructions),))
            values.append(value)
        domain = domain_of(line.brackets, values, Span(line.ends[0][-1][2], line.ends[-1][-1][3]))
        for name, span in line.names:
            value = self.environment.get(name)
            self.domains.append((name, value if isinstance(value, Node) else None, domain, span))

    def _expected(self, span: Span) -> str | None:
        """What a comment above a claim expects: only blank lines and comments may stand between them."""
        text = self.source.text
        found, begin = None, text.rfind("\n", 0, span.start) + 1
        while begin and found is None:
            begin, end = text.rfind("\n", 0, begin - 1) + 1, begin
            line = text[begin:end].strip()
            if line and not line.startswith("#"):
                return None
            found = _EXPECT.match(text, begin, end)
        if found is None:
            return None
        if found[1] not in EXPECTATIONS:
            raise InputError(
                f"nothing can be expected to be {found[1] or 'nothing'}",
                spans=(Span(found.start(1), max(found.end(1), found.start(1) + 1)),),
                hint=f"write # expect: {EXPECTATIONS[0]}",
            )
        return found[1]

    def leaves(self) -> dict[str, Node]:
        """The leaves that may vary, by what they are called: one whose name is assigned again has its line with it."""
        fixed = self.fixed()
        found: dict[Node, Binding] = {}
        for binding in (*self.outside, *self.bindings):
            node = binding.node
            if node not in fixed and node.op is LEAF and node.dtype.kind == "f" and node.requires_grad:
                found.setdefault(node, binding)
        last = {binding.name: node for node, binding in found.items()}
        leaves: dict[str, Node] = {}
        for node, binding in found.items():
            key = name = binding.name
            if last[name] is not node:
                key = f"{name} (line {self.source.location(binding.statement.start).line})"
            while key in leaves:
                key += "'"
            leaves[key] = node
        return leaves

    def fixed(self) -> set[Node]:
        """The leaves that are used as an index, a size, a label or another plain number."""
        integers = self.lowering.calls.integers
        sides = [side for each in self.sides for side in (each.left, each.right)]
        nodes = ancestors([*sides, *[binding.node for binding in self.bindings]])
        labels = {arg for node in nodes if node.op.name == "to" and node.dtype.kind in "iu" for arg in node.args}
        return {*integers.twins, *integers.constants, *labels}

    def no_leaf(self, name: str, span: Span) -> InputError:
        """The error of a domain of what is no leaf that varies."""
        node = self.environment.get(name)
        if node is None:
            hint = names.nearest(name, self.environment) or f"the names are {', '.join([*self.environment][:8])}"
            return InputError(f"{name} is no name of the file: it has no domain", spans=(span,), hint=hint)
        return InputError(
            f"{name} is no leaf that varies: it has no domain",
            spans=(span,),
            hint="leaves of floats have one, unless declared with requires_grad=False or used as plain numbers",
        )


def _span(instructions: list[Instruction]) -> Span:
    return Span(instructions[-1][2], instructions[-1][3])


def _number(value: Any) -> float | None:
    """A written number as a float, or None."""
    if isinstance(value, Node) and value.op is LEAF and not value.shape and value.name is None:
        value = value.value
    if isinstance(value, (int, float, np.floating)) and not isinstance(value, bool):
        return float(value)
    return None
