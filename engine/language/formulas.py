"""From the text of an expression file to formulas: named nodes, what to differentiate by, and all errors at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..derivatives.nodes import UndeclaredError
from ..errors import AgradError, InputError, Source, Span
from ..graph import FLOAT64, LEAF, DType, Node, ancestors
from . import names
from .bindings import Binding
from .statements import RESULT, Statements, located


class Formulas(NamedTuple):
    """What an expression file says.

    Attributes:
        source: the text.
        bindings: each name given to a node, in the order of the text; values given from outside come first.
        names: the last node of each name.
        wrt: what to differentiate by, resolved: as asked for, else the leaves that are declared with
            `requires_grad=True`, else every named leaf of floats that is not only an index.
        last: the name that is assigned last: the output where none is asked for.
        warnings: what a person should know, one sentence each.
        claims: where lines stand that claim something (`assert ...`, `x in (0, inf)`); `claims.read_claims` says what.
        inputs: the values that were given from outside.
        dtype: the dtype of floats.
    """

    source: Source
    bindings: tuple[Binding, ...]
    names: dict[str, Node]
    wrt: dict[str, Node]
    last: str
    warnings: list[str]
    claims: list[Span]
    inputs: Mapping[str, Any]
    dtype: DType


def build(
    source: Source,
    *,
    inputs: Mapping[str, Any] | None = None,
    spare: Collection[str] = (),
    wrt: Sequence[str] | None = None,
    dtype: DType = FLOAT64,
) -> Formulas:
    """The formulas of an expression file.

    Args:
        source: its text.
        inputs: values of names from outside; they replace the leaves that the text gives these names.
        spare: names of inputs that the text need not use: those of a data file that holds more.
        wrt: names to differentiate by.
        dtype: the dtype of floats.

    Raises:
        AgradError: with spans and source; `SeveralErrors` where there are many.
    """
    given = dict(inputs or {})
    dtype = np.dtype(dtype)
    wanted = set(wrt) if wrt is not None else None
    if wanted is None and "requires_grad" in source.text:
        wanted = set()
    formulas = _read(source, given, spare, wanted, dtype)
    if wrt is None:
        if wanted is not None and not formulas.declared():
            formulas = _read(source, given, spare, None, dtype)
        return formulas.result(formulas.default_wrt())
    resolved = formulas.resolve(wrt)
    missing = formulas.leaves_below(resolved)
    if missing:
        formulas = _read(source, given, spare, {*wrt, *missing}, dtype)
        resolved = formulas.resolve(wrt)
    for name, node in resolved.items():
        if not node.requires_grad:
            raise located(
                InputError(
                    f"{name} cannot be differentiated by: "
                    + (
                        f"its dtype is {node.dtype}"
                        if node.dtype.kind not in "fc"
                        else "it depends on no leaf of floats"
                    ),
                ),
                source,
            )
    return formulas.result(resolved)


def _read(
    source: Source, given: dict[str, Any], spare: Collection[str], wanted: Collection[str] | None, dtype: DType
) -> Text:
    """The text, read again until every leaf that `grad(z, x)` in it differentiates by requires a gradient.

    Args:
        wanted: the names of leaves that require a gradient anyway; None: all.
    """
    inside: set[str] = set()
    while True:
        formulas = Text(source, given, spare, None if wanted is None else {*wanted, *inside}, dtype)
        formulas.inside = inside
        try:
            formulas.read()
        except AgradError:
            missing = formulas.undeclared() - inside
            if wanted is None or not missing:
                raise
            inside = inside | missing
            continue
        formulas.settle_integers()
        return formulas


class Text(Statements):
    """One pass over the text, and what it says of gradients.

    Attributes:
        inside: the names of leaves that require a gradient only because the text itself differentiates by them.
    """

    inside: Collection[str] = ()

    def undeclared(self) -> set[str]:
        """The names of leaves that the text differentiates by and that require no gradient, where they could."""
        leaves = [leaf for error in self.errors if isinstance(error, UndeclaredError) for leaf in error.leaves]
        fixed = self.lowering.calls.explicit
        return {leaf.name for leaf in leaves if leaf.name is not None and leaf not in fixed}

    def settle_integers(self) -> None:
        """Names that are only used as integers mean their leaf of integers; plain numbers ask for no gradient."""
        integers = self.lowering.calls.integers
        if not integers.twins and not integers.constants:
            return
        everything = [*self.outside, *self.bindings]
        used = {arg for node in ancestors([b.node for b in everything]) for arg in node.args}
        asked = self.wanted or set()
        swap: dict[Node, Node] = {}
        for binding in everything:
            node = binding.node
            if node.op is not LEAF or node in used or binding.name in asked or node in self.lowering.calls.explicit:
                continue
            if node in integers.twins:
                swap[node] = integers.twins[node]
            elif node in integers.constants:
                node.requires_grad = False
        for bindings in (self.outside, self.bindings):
            for place, binding in enumerate(bindings):
                twin = swap.get(binding.node)
                if twin is not None:
                    twin.name, twin.span = binding.node.name, binding.node.span
                    bindings[place] = binding._replace(node=twin)
                    if self.environment.get(binding.name) is binding.node:
                        self.environment[binding.name] = twin

    @cached_property
    def last_nodes(self) -> dict[str, Node]:
        """The last node of each name, once all is read."""
        return {binding.name: binding.node for binding in (*self.outside, *self.bindings)}

    def declared(self) -> list[Node]:
        """The leaves that the text declares with `requires_grad=True`."""
        return [node for node in self.lowering.calls.explicit if node.requires_grad]

    def default_wrt(self) -> dict[str, Node]:
        """The named leaves that require a gradient."""
        found = {}
        seen: set[Node] = set()
        for binding in (*self.outside, *self.bindings):
            node = binding.node
            if node.op is LEAF and node.requires_grad and node not in seen and node.name not in self.inside:
                seen.add(node)
                found[binding.name] = node
        return found

    def resolve(self, wrt: Sequence[str]) -> dict[str, Node]:
        """The nodes of the names to differentiate by.

        Raises:
            InputError: where a name is none of the text's.
        """
        known = self.last_nodes
        for name in wrt:
            if name not in known:
                hint = names.nearest(name, known) or f"the names are {', '.join([*known][:8])}"
                raise located(
                    InputError(f"{name} is no name of the file: it cannot be differentiated by", hint=hint), self.source
                )
        return {name: known[name] for name in wrt}

    def leaves_below(self, wrt: Mapping[str, Node]) -> set[str]:
        """Names of leaves that must require a gradient so that those of `wrt` do, and do not yet."""
        missing: set[str] = set()
        for node in wrt.values():
            if node.op is LEAF:
                if not node.requires_grad and node.name is not None:
                    missing.add(node.name)
                continue
            for part in ancestors([node]):
                if part.op is LEAF and part.name is not None and not part.requires_grad and part.dtype.kind in "fc":
                    missing.add(part.name)
        return missing - (self.wanted or set())

    def result(self, wrt: dict[str, Node]) -> Formulas:
        """Everything that the text says."""
        return Formulas(
            self.source,
            (*self.outside, *self.bindings),
            self.last_nodes,
            wrt,
            self.bindings[-1].name,
            list(self.warnings),
            self.claims,
            self.given,
            self.dtype,
        )


__all__ = ["RESULT", "Binding", "Formulas", "build"]
