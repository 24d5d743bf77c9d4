"""What a row's call takes, read once from the annotations of its parameters."""

from __future__ import annotations

import inspect
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Op

_LABELS: Final = frozenset(("index", "indices", "idx", "labels"))

"""Parameters that want integers although they are tensors."""

_PLACES: Final = frozenset(("dim", "dims", "axis", "axes", "size", "sizes", "shape", "repeats", "correction", "k", "n"))
"""Parameters that say where or how many, whatever their annotation allows."""

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "complex": (int, float, complex),
    "bool": (bool,),
    "str": (str,),
}

_WORDS: Final = {
    "int": "an integer",
    "float": "a number",
    "complex": "a number",
    "bool": "True or False",
    "str": "a string",
    "None": "None",
    "DType": "a dtype",
}


class Parameter(NamedTuple):
    """One parameter of a row's call.

    Attributes:
        name: as the row calls it.
        kind: how it is given, as `inspect` says.
        required: whether it has no default.
        tensor: whether numbers and lists become tensors.
        node: whether a tensor may stay one.
        tensors: whether it is a sequence of tensors.
        types: the plain types that are taken; empty where all are.
        listed: whether a list of plain values is taken.
        words: the plain types in words.
        label: whether a tensor of integers is wanted.
        place: whether it says where or how many, so that a tensor written as integers means them.
        default: what it is where it is not given.
    """

    name: str
    kind: Any
    required: bool
    tensor: bool
    node: bool
    tensors: bool
    types: tuple[type, ...]
    listed: bool
    words: str
    label: bool
    place: bool
    default: Any


class Signature(NamedTuple):
    """The parameters of a row's call, and whether a single tensor is enough for it."""

    parameters: tuple[Parameter, ...]
    positional: tuple[Parameter, ...]
    rest: Parameter | None
    by_name: dict[str, Parameter]
    any_keyword: bool
    one_tensor: bool


_signatures: dict[Op, Signature] = {}


def signature(op: Op) -> Signature:
    """What a row's call takes, read from its annotations once."""
    known = _signatures.get(op)
    if known is None:
        known = _signatures[op] = _read(op)
    return known


def _read(op: Op) -> Signature:
    parameters = [_parameter(p) for p in inspect.signature(op.call).parameters.values()]
    kinds = inspect.Parameter
    positional = tuple([p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)])
    rest = next((p for p in parameters if p.kind is kinds.VAR_POSITIONAL), None)
    named = [p for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    others = [p.required for p in named]
    return Signature(
        tuple(named),
        positional,
        rest,
        {p.name: p for p in named},
        any(p.kind is kinds.VAR_KEYWORD for p in parameters),
        bool(positional)
        and (positional[0].node or positional[0].tensor)
        and not (positional[0].label or positional[0].place or any(others[1:])),
    )


def _parameter(p: inspect.Parameter) -> Parameter:
    annotation = "Any" if p.annotation is inspect.Parameter.empty else str(p.annotation)
    parts = _parts(annotation)
    sequences = [part for part in parts if part.startswith(("Sequence[", "list[", "tuple[", "Iterable["))]
    tensors = any("Node" in part for part in sequences)
    node = "Node" in parts or "Any" in parts
    plain = [part for part in parts if part != "Node" and part not in sequences]
    words = [_WORDS[part] for part in plain if part in _WORDS]
    types: tuple[type, ...] = ()
    for part in plain:
        types += _KINDS.get(part, ())
    dtype = any("dtype" in part or part == "DType" for part in plain)
    open_ended = "Any" in parts
    if dtype:
        types += (np.dtype,)
        words.append("a dtype")
    return Parameter(
        p.name,
        p.kind,
        p.default is inspect.Parameter.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD),
        "Node" in parts and not types and not open_ended,
        node,
        tensors,
        () if open_ended else (*types, *((type(None),) if "None" in plain else ())),
        bool(sequences) or open_ended or p.kind is p.VAR_POSITIONAL,
        " or ".join(dict.fromkeys(words)) or ("a list" if sequences else "a plain value"),
        p.name in _LABELS,
        p.name in _PLACES,
        None if p.default is inspect.Parameter.empty else p.default,
    )


def _parts(annotation: str) -> list[str]:
    """The alternatives of an annotation, split at the bars outside of brackets."""
    parts, depth, current = [], 0, ""
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()]
