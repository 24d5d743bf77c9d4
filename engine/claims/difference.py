"""Whether two files say the same: values and gradients of outputs, compared on the same terms as claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..errors import InputError, NoGradientError
from ..graph import LEAF, TABLE, Node, leaf, make
from ..language.claims import Claims, read_claims
from ..language.differentials import Derivative
from ..language.domains import Domain
from ..language.names import nearest
from ..worker.process import Worker
from .judge import POINTS, SECONDS, Judge
from .judgement import Finding
from .question import asked

if TYPE_CHECKING:
    from ..language import Formulas

_ENTRIES: Final = 64
"""Jacobians of up to so many entries are compared; larger ones are weighted and summed."""


class Compared(NamedTuple):
    """One thing that two files have in common.

    Attributes:
        what: its name, or a derivative: `d(z)/d(x)`.
        finding: what is found.
    """

    what: str
    finding: Finding


class Pair(NamedTuple):
    """Two files beside each other.

    Attributes:
        old, new: what they say.
        leaves: the leaves that they share, by what the old file calls them.
        domains: where these lie.
    """

    old: Claims
    new: Claims
    leaves: dict[str, tuple[Node, Node]]
    domains: dict[str, Domain]


class Difference(NamedTuple):
    """Everything that was compared.

    Attributes:
        compared: each output, and each of its gradients.
        notes: what a person should know of names that are not shared.
    """

    compared: list[Compared]
    notes: list[str]


def judge_difference(
    old: Formulas,
    new: Formulas,
    *,
    outputs: Sequence[str] = (),
    everything: bool = False,
    wrt: Sequence[str] = (),
    points: int = POINTS,
    seed: int = 0,
    tolerance: float | None = None,
    seconds: float = SECONDS,
    worker: Worker | None = None,
) -> Difference:
    """Compare the outputs of two files and their gradients by the leaves that the files share.

    Args:
        old, new: the files; the values of the shared leaves are those of the old one.
        outputs: names of outputs, or `OLD=NEW` where they are called otherwise; the last one of each by default.
        everything: compare every name that both files compute, instead.
        wrt: names of shared leaves to differentiate by; all of them by default.
        points, seed, tolerance, seconds, worker: as `judge.judge_claims` has them.

    Raises:
        InputError: where names are missing or shapes do not fit.
    """
    pair, notes = _paired(old, new)
    for name in wrt:
        if not any(name in (old.name, new.name, key) for key, (old, new) in pair.leaves.items()):
            hint = nearest(name, pair.leaves) or f"shared are {', '.join(pair.leaves) or 'none'}"
            raise InputError(f"--wrt: {name} is no leaf of floats that both files have", hint=hint, code="name")
    compared = []
    with Judge(points=points, seed=seed, seconds=seconds, worker=worker) as judge:
        for name, nodes in _outputs(old, new, pair, _shared(pair) if everything else outputs).items():
            for what, sides, derivatives in _asked_of(name, nodes, pair, wrt):
                question = asked(
                    "eq",
                    sides,
                    pair.leaves,
                    pair.domains,
                    {**pair.old.derivatives, **pair.new.derivatives, **derivatives},
                    tolerance,
                    {**pair.old.reads, **pair.new.reads},
                )
                compared.append(Compared(what, judge.judge(question)))
    return Difference(compared, notes)


def _paired(old: Formulas, new: Formulas) -> tuple[Pair, list[str]]:
    """The files with the leaves that they share, and what is to be said of the others."""
    claims = read_claims(old), read_claims(new)
    files = old.source.name, new.source.name
    leaves: dict[str, tuple[Node, Node]] = {}
    notes = []
    for name in dict.fromkeys([_name(key, each) for each in claims for key in each.leaves]):
        keys = [each.called(name) for each in claims]
        if not all(keys):
            place = 0 if not keys[0] else 1
            there = claims[place].names.get(name)
            how = "is not in" if there is None else "is computed in" if there.op is not LEAF else "does not vary in"
            notes.append(f"{name} keeps its value: it {how} {files[place]}")
            continue
        if len(keys[0]) != len(keys[1]):
            times = [f"{len(each)} time{'s' * (len(each) > 1)}" for each in keys]
            raise InputError(
                f"{name} is given a value {times[0]} in {files[0]} and {times[1]} in {files[1]}: "
                "which of these are meant to be the same cannot be told",
                hint=f"use another name for each value of {name}",
                code="name",
            )
        for key, other_key in zip(*keys, strict=True):
            one, other = claims[0].leaves[key], claims[1].leaves[other_key]
            if one.shape != other.shape:
                raise InputError(
                    f"{key} has shape {list(one.shape)} in {files[0]} and {list(other.shape)} in {files[1]}",
                    hint="a leaf that both files have must have one shape",
                    code="shape",
                )
            leaves[key] = one, other
    return Pair(*claims, leaves, _domains(claims, leaves, files)), notes


def _name(key: str, claims: Claims) -> str:
    """The name of the leaf that a file calls so."""
    return claims.leaves[key].name or key


def _domains(
    claims: tuple[Claims, Claims], leaves: Mapping[str, tuple[Node, Node]], files: tuple[str, str]
) -> dict[str, Domain]:
    """The domains of the shared leaves; one that only one file declares holds for both."""
    found = {}
    for name, nodes in leaves.items():
        node = nodes[0]
        domains = [
            domain
            for each, leaf_of_it in zip(claims, nodes, strict=True)
            for key, domain in each.domains.items()
            if each.leaves[key] is leaf_of_it
        ]
        if len(set(domains)) > 1:
            raise InputError(
                f"{name} lies in {domains[0]} in {files[0]} and in {domains[1]} in {files[1]}",
                hint="declare one domain",
                code="domain",
            )
        if domains:
            outside = domains[0].first_outside(node.value)
            if outside is not None:
                raise InputError(
                    f"{name} is {outside!r} in {files[0]}, outside of its domain {domains[0]}", code="domain"
                )
            found[name] = domains[0]
    return found


def _shared(pair: Pair) -> list[str]:
    """The names that both files compute: real numbers that are no leaves of both."""
    found = []
    for name, one in pair.old.names.items():
        other = pair.new.names.get(name)
        if other is not None and name not in pair.leaves and one.dtype.kind in "fib" and other.dtype.kind in "fib":
            found.append(name)
    if not found:
        raise InputError("the files compute no name in common", hint="write --output OLD=NEW", code="name")
    return found


def _outputs(old: Formulas, new: Formulas, pair: Pair, wanted: Sequence[str]) -> dict[str, tuple[Node, Node]]:
    """The outputs to compare, by the name that they have in the old file."""
    texts = list(wanted)
    if not texts:
        last = old.last if old.last in new.names else new.last
        if last not in old.names:
            raise InputError(
                f"the last names differ: {old.last} in {old.source.name}, {new.last} in {new.source.name}",
                hint=f"write --output {old.last}={new.last} to compare these, or --output NAME for a shared one",
                code="name",
            )
        texts = [last]
    found = {}
    for text in texts:
        name, equals, other = text.partition("=")
        names = name.strip(), other.strip() if equals else name.strip()
        for each, claims, formulas in zip(names, (pair.old, pair.new), (old, new), strict=True):
            if each not in claims.names:
                hint = nearest(each, claims.names) or f"its names are {', '.join([*claims.names][:8])}"
                raise InputError(f"--output: {formulas.source.name} has no name {each}", hint=hint, code="name")
        nodes = pair.old.names[names[0]], pair.new.names[names[1]]
        if nodes[0].shape != nodes[1].shape:
            raise InputError(
                f"{name} has shape {list(nodes[0].shape)} in {old.source.name} "
                f"and {list(nodes[1].shape)} in {new.source.name}",
                hint="only outputs of one shape can be equal",
                code="shape",
            )
        if any(node.dtype.kind not in "fib" for node in nodes):
            raise InputError(f"{name} is complex: only real outputs are compared", code="dtype")
        found[names[0]] = nodes
    return found


_Asked = tuple[str, tuple[Node, Node], dict[Node, Derivative]]


def _asked_of(name: str, nodes: tuple[Node, Node], pair: Pair, wrt: Sequence[str]) -> Iterator[_Asked]:
    """The value of an output, then its gradients: what is compared, in words and as nodes."""
    yield name, nodes, {}
    for by, leaves in pair.leaves.items():
        if (wrt and not {by, *[at.name for at in leaves]} & {*wrt}) or any(node.dtype.kind != "f" for node in nodes):
            continue
        derivatives: dict[Node, Derivative] = {}
        try:
            sides = [_derivative(node, at, derivatives) for node, at in zip(nodes, leaves, strict=True)]
        except NoGradientError:
            continue
        yield f"d({name})/d({by})", (sides[0], sides[1]), derivatives


def _derivative(output: Node, by: Node, derivatives: dict[Node, Derivative]) -> Node:
    """A derivative as a node, noted among the others."""
    weights: Any = None
    if not output.shape or output.size * by.size > _ENTRIES:
        weights = (
            leaf(np.linspace(0.5, 1.5, output.size).reshape(output.shape)) if output.shape else leaf(np.float64(1))
        )
        result = TABLE["grad"].call(output, by, weights)
    else:
        result = TABLE["jacobian"].call(output, by)
    node: Node = make.clone(result)
    derivatives[node] = Derivative(output, (by,), weights)
    return node
