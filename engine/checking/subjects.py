"""What is differentiated in a file that is checked: every result of it, each with weights that are always the same."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..errors import InputError, Span
from ..evaluation.evaluate import unknown_name
from ..evaluation.outputs import Weight
from ..graph import LEAF, Node, ancestors

if TYPE_CHECKING:
    from ..language import Binding, Formulas

_DERIVED: Final = re.compile(r"\b(?:grad|jacobian|hessian)\s*\(\s*([^\W\d]\w*)\s*,")
_DECIMALS: Final = 3


class Subject(NamedTuple):
    """One output of a file.

    Attributes:
        name: as written.
        node: what is differentiated.
        span: its statement.
        weight: its cotangent; None for ones, which a single real number has.
    """

    name: str
    node: Node
    span: Span
    weight: Any


def subjects(formulas: Formulas, asked: Sequence[str], weights: Sequence[Weight], seed: int) -> list[Subject]:
    """The outputs of a file: those asked for, or every name that nothing else in the file uses, and the last one.

    What the file itself differentiates, `grad(z, x)`, is an output too: the referees are to judge that gradient.

    Args:
        formulas: the file, read.
        asked: names; none for all.
        weights: cotangents that were stated.
        seed: of the cotangents of the other outputs that are no single real number.

    Raises:
        InputError: where a name is not of the file, or a weight is of no output.
    """
    chosen = _asked(formulas, asked) if asked else _results(formulas)
    stated = _stated(weights, chosen)
    return [
        Subject(
            binding.name,
            binding.node,
            binding.statement,
            stated[binding.name] if binding.name in stated else _weight(binding, seed),
        )
        for binding in chosen
    ]


def _asked(formulas: Formulas, asked: Sequence[str]) -> list[Binding]:
    last = {binding.name: binding for binding in formulas.bindings}
    for name in asked:
        if name not in last:
            raise unknown_name("--output", name, formulas)
    return [last[name] for name in asked]


def _results(formulas: Formulas) -> list[Binding]:
    own = [binding for binding in formulas.bindings if not binding.given]
    used = {arg for node in ancestors([binding.node for binding in own]) for arg in node.args}
    derived = set(_DERIVED.findall(formulas.source.text))
    last = own[-1].node
    found: dict[Node, Binding] = {}
    for binding in own:
        node = binding.node
        if node is last or (_is_result(node) and (node not in used or _is_meant(binding, formulas, derived))):
            found[node] = binding
    return list(found.values())


def _is_result(node: Node) -> bool:
    return node.op is not LEAF and node.dtype.kind in "fc"


def _is_meant(binding: Binding, formulas: Formulas, derived: set[str]) -> bool:
    return binding.name in derived and formulas.names.get(binding.name) is binding.node


def _stated(weights: Sequence[Weight], chosen: Sequence[Binding]) -> Mapping[str, Any]:
    """The cotangents that were stated, by the name of their output; ones are written out."""
    free = [binding for binding in chosen if all(weight.output != binding.name for weight in weights)]
    found: dict[str, Any] = {}
    for weight in weights:
        binding = next((each for each in chosen if each.name == weight.output), None)
        if weight.output is None and free:
            binding = free.pop(0)
        if binding is None:
            name = weight.output or "one --grad-tensors too many"
            outputs = ", ".join(each.name for each in chosen)
            raise InputError(f"{name} is no output: the outputs are {outputs}", code="grad-tensors")
        node = binding.node
        found[binding.name] = np.ones(node.shape, node.dtype)[()] if weight.value is None else weight.value
    return found


def _weight(binding: Binding, seed: int) -> Any:
    """A cotangent that is the same in every run: sizes between 1/2 and 3/2 with either sign, never zero.

    A zero would hide whatever flows from its entry.
    """
    node = binding.node
    if node.size == 1 and node.dtype.kind != "c":
        return None
    random = np.random.default_rng([seed, zlib.crc32(binding.name.encode("utf-8", "surrogatepass"))])

    def draw() -> Any:
        sizes = np.round(random.uniform(0.5, 1.5, node.shape), _DECIMALS)
        return sizes * random.choice([-1.0, 1.0], node.shape)

    return (draw() + 1j * draw() if node.dtype.kind == "c" else draw())[()]
