"""The derivative of a row as text, read off its own example: never written by hand.

An elementwise row shows each slope; any other the cotangent of each argument, with `g` for the cotangent of the result;
a row that only joins others shows first what it joins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ..gradient import gradients
from ..graph import Node, Op, ancestors, leaf, make
from ..language.signatures import signature
from ..text.expressions import expression, program
from ..text.spelling import UNSPOKEN
from .worked import Sample

MOST: Final = 900
"""A definition or a rule of more characters is told by the ops that it is made of."""
_WIDEST: Final = 90


def rule_lines(op: Op, at: Sample | None) -> list[str]:
    """The rule of a row, a line for each argument, after lines that define what they share.

    Args:
        op: the row.
        at: one of its examples; None where it has none, for rows that only rules call.
    """
    if at is None:
        return []
    if op.family == "creation" and not at.leaves:
        return ["none: a leaf has no inputs"]
    if not op.differentiable:
        return ["none: asking for a gradient through it is an error"]
    outputs = at.differentiable
    if not outputs:
        return ["none: nothing flows back through the result"]
    own = next((node for node in ancestors(outputs.values()) if node.op is op), None)
    if own is None:
        return _joined(at, outputs)
    names = _argument_names(own)
    lines = _slopes(own, names) if op.slopes is not None else _cotangents(own, names)
    return lines or ["none: nothing flows back through the result"]


def _argument_names(node: Node) -> dict[Node, str]:
    """A name for each argument: a leaf's own, or that of the parameter; written numbers stay numbers."""
    known = signature(node.op)
    words = [parameter.name for parameter in known.parameters if parameter.tensor or parameter.node]
    listed = not words or len(words) < len(node.args)
    names: dict[Node, str] = {}
    for place, arg in enumerate(node.args):
        if arg not in names and not arg.is_number:
            word = f"x{place + 1}" if listed else {"input": "x", "other": "y"}.get(words[place], words[place])
            names[arg] = arg.name or word
    return names


def _slopes(node: Node, names: Mapping[Node, str]) -> list[str]:
    """The local derivative by each argument that varies."""
    lines = []
    value = expression(node, names)
    subject = value if re.match(r"[\w.]+\(.*\)$", value) else f"({value})"
    for arg, slope_of in zip(node.args, node.op.slopes or (), strict=True):
        if arg.requires_grad:
            slope = slope_of(*node.args, node, **node.attrs)
            text = "0" if slope is None else expression(slope, names) if isinstance(slope, Node) else f"{slope:.16g}"
            lines.append(f"d/d{names[arg]} {subject} = {text}")
    return lines


def _cotangents(node: Node, names: dict[Node, str]) -> list[str]:
    """The cotangent that a row's rule gives to each argument."""
    known = {node: "out", **names}
    if node.op.outputs > 1:
        assert node.op.infer is not None
        parts = _several(node)
        known |= {part: f"out[{place}]" for place, part in enumerate(parts)}
        weights = [_weight(part) for part in parts]
        known |= {weight: f"g[{place}]" for place, weight in enumerate(weights)}
        found = node.op.rule(node, weights) if node.op.rule is not None else []
    else:
        weight = _weight(node)
        known[weight] = "g"
        found = node.op.rule(node, weight) if node.op.rule is not None else []
    wanted: dict[str, Node] = {}
    lines = []
    for arg, part in zip(node.args, found, strict=False):
        label = f"grad({names.get(arg, 'x')})"
        if part is None or not arg.requires_grad:
            continue
        if part in known:
            lines.append(f"{label} = {known[part]}")
        else:
            wanted[label] = part
    return lines + _program(wanted, known)


def _several(node: Node) -> list[Node]:
    """The results of an op that gives several, as nodes."""
    return [make.output(node, index) for index in range(node.op.outputs)]


def _weight(node: Node) -> Node:
    return leaf(np.ones(node.shape, node.dtype)[()])


def _program(wanted: Mapping[str, Node], names: Mapping[Node, str]) -> list[str]:
    """Lines for some nodes, or what they are made of where nobody would read the lines."""
    lines = program(wanted, names, longest=_WIDEST)
    if _readable(lines):
        return lines
    return [f"{label} = made of {_parts([node], names)}" for label, node in wanted.items()]


def _joined(at: Sample, outputs: Mapping[str, Node]) -> list[str]:
    """What a row that joins others makes of its arguments, and the cotangents that follow."""
    names: dict[Node, str] = {node: name for name, node in at.leaves.items()}
    weights = {node: _weight(node) for node in outputs.values()}
    names |= {weights[node]: f"g{name.removeprefix('out')}" for name, node in outputs.items()}
    found = gradients(list(weights), list(weights.values()))
    wanted = {f"grad({name})": found[node] for name, node in at.leaves.items() if node in found}
    direct = [f"{label} = {names[node]}" for label, node in wanted.items() if node in names]
    rest = {label: node for label, node in wanted.items() if node not in names}
    whole = program({**outputs, **rest}, names, longest=_WIDEST)
    if _readable(whole):
        return whole + direct
    return (
        _program(outputs, names) + direct + _program(rest, {**names, **{node: name for name, node in outputs.items()}})
    )


def _readable(lines: Sequence[str]) -> bool:
    """Whether somebody would read it: not too long, no array written out, nothing left out."""
    text = "\n".join(lines)
    return len(text) <= MOST and len(lines) <= 12 and not any(UNSPOKEN in line and len(lines) > 3 for line in lines)


def _parts(nodes: list[Node], names: Mapping[Node, str]) -> str:
    """The ops that nodes are made of, those that come last first."""
    plain = ("flow", "meet", "leaf", "output")
    made = [node for node in ancestors(nodes) if node not in names and node.op.name not in plain]
    return ", ".join(dict.fromkeys(node.op.name for node in reversed(made)))
