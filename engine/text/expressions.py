"""Graph to text: nodes as expressions of the language, with no more parentheses than precedence asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import LEAF, Node
from .spelling import UNSPOKEN, Listed, arguments, function_name, plain_text

LONGEST: Final = 400
"""The length of an expression above which `expression` leaves parts of it out and `program` names them."""
_SHORT: Final = 24
"""A shared part of at most this length is written again rather than named."""
_LARGEST: Final = 64
"""How many elements an array may have to be written out."""

_COMPARISON, _OR, _AND, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = 1, 2, 3, 4, 5, 6, 7, 8


class Piece(NamedTuple):
    """The text of a node, and how tightly its outermost operator binds."""

    text: str
    binding: int

    def within(self, binding: int) -> str:
        """The text, in parentheses where it binds less tightly than its place asks for."""
        return self.text if self.binding >= binding else f"({self.text})"


INFIX: Final[Mapping[str, tuple[str, int]]] = {
    "add": ("+", _SUM),
    "sub": ("-", _SUM),
    "mul": ("*", _PRODUCT),
    "flow": ("*", _PRODUCT),
    "meet": ("*", _PRODUCT),
    "div": ("/", _PRODUCT),
    "floor_divide": ("//", _PRODUCT),
    "remainder": ("%", _PRODUCT),
    "matmul": ("@", _PRODUCT),
    "bitwise_and": ("&", _AND),
    "bitwise_or": ("|", _OR),
    "lt": ("<", _COMPARISON),
    "le": ("<=", _COMPARISON),
    "gt": (">", _COMPARISON),
    "ge": (">=", _COMPARISON),
    "eq": ("==", _COMPARISON),
    "ne": ("!=", _COMPARISON),
}
"""Operators between two arguments, and how tightly they bind."""
PREFIX: Final = {"neg": "-", "bitwise_not": "~"}
"""Operators before one argument."""
_NONE: Final[Mapping[Node, str]] = {}


def expression(node: Node, names: Mapping[Node, str] = _NONE, *, longest: int = LONGEST) -> str:
    """A node as one expression.

    Args:
        node: what is written.
        names: nodes that are written by a name instead of their own expression.
        longest: parts that would be longer are written `...`.
    """
    return _piece(node, names, longest).text


def _piece(node: Node, names: Mapping[Node, str], longest: int) -> Piece:
    pieces: dict[Node, Piece] = {}
    for part in _in_order([node], names):
        piece = _written(part, pieces, names)
        pieces[part] = piece if len(piece.text) <= longest else Piece(UNSPOKEN, _ATOM)
    return pieces[node]


def program(outputs: Mapping[str, Node], names: Mapping[Node, str] = _NONE, *, longest: int = LONGEST) -> list[str]:
    """Some nodes as lines of an expression file, one assignment each; what is long, or used twice, gets a name.

    Args:
        outputs: the nodes by the names that they are assigned to.
        names: other nodes that are written by a name instead of their own expression.
        longest: a longer part gets a name.
    """
    given = dict(names)
    nodes = _in_order(outputs.values(), names)
    uses = Counter([arg for node in nodes if node not in names for arg in node.args])
    fresh = _fresh_names([*names.values(), *outputs, *[node.name for node in nodes if node.name]])
    pieces: dict[Node, Piece] = {}
    lines: list[str] = []
    assigned = {node: name for name, node in reversed(list(outputs.items()))}
    for node in nodes:
        piece = _written(node, pieces, given)
        name = assigned.get(node)
        if name is None and node.args and node not in given:
            shared = uses[node] > 1 and len(piece.text) > _SHORT
            name = next(fresh) if shared or len(piece.text) > longest else None
        if name is not None and piece.text != name:
            lines.append(f"{name} = {piece.text}")
            piece = Piece(name, _ATOM)
        pieces[node] = piece
    return lines + [f"{name} = {pieces[node].text}" for name, node in outputs.items() if assigned[node] != name]


def _fresh_names(taken: Iterable[str]) -> Iterator[str]:
    """Names t1, t2 ... that nobody has."""
    known = set(taken)
    number = 0
    while True:
        number += 1
        if f"t{number}" not in known:
            yield f"t{number}"


def _in_order(targets: Iterable[Node], names: Mapping[Node, str]) -> list[Node]:
    """The targets and all that they are computed from, arguments first; not what only named nodes are computed from."""
    seen = set(targets)
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node not in names:
            fresh = [arg for arg in node.args if arg not in seen]
            seen.update(fresh)
            stack += fresh
    return sorted(seen, key=attrgetter("serial"))


def _written(node: Node, pieces: Mapping[Node, Piece], names: Mapping[Node, str]) -> Piece:
    """The text of a node whose arguments are written."""
    name = names.get(node)
    if name is not None:
        return Piece(name, _ATOM)
    if node.op is LEAF:
        return Piece(node.name, _ATOM) if node.name else _value(node.value)
    op = node.op.name
    if op in INFIX and len(node.args) == 2:
        return _infix(node, pieces)
    if op in PREFIX:
        return Piece(PREFIX[op] + pieces[node.args[0]].within(_POWER), _SIGN)
    own = _OWN.get(op)
    return own(node, pieces) if own is not None else _call(node, pieces)


def _infix(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    """An operator between two arguments: Python's precedence, from the left; comparisons stand in parentheses."""
    sign, binding = INFIX[node.op.name]
    left, right = (_operand(arg, other, pieces) for arg, other in (node.args, reversed(node.args)))
    least = binding + (binding == _COMPARISON)
    return Piece(f"{left.within(least)} {sign} {right.within(binding + 1)}", binding)


def _operand(node: Node, other: Node, pieces: Mapping[Node, Piece]) -> Piece:
    """The text of an operand: a whole float is written as an integer where the other one makes it a float again."""
    piece = pieces[node]
    if node.op is LEAF and node.name is None and type(node.value) is float and piece.text.endswith(".0"):
        wide = other.dtype.kind in "fc" and not other.is_number
        if wide and node.value != 0:
            return Piece(piece.text[:-2], piece.binding)
    return piece


def _power(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    base, exponent = node.args
    left = _operand(base, exponent, pieces).within(_ATOM)
    return Piece(f"{left}**{_operand(exponent, base, pieces).within(_SIGN)}", _POWER)


def _select(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    return _indexed(node, node.attrs["axis"], str(node.attrs["index"]), pieces)


def _slice(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    start, stop, step = (node.attrs[name] for name in ("start", "stop", "step"))
    size = node.args[0].shape[node.attrs["axis"]]
    text = f"{start or ''}:{'' if stop == size else stop}" + (f":{step}" if step != 1 else "")
    return _indexed(node, node.attrs["axis"], text, pieces)


def _index(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    axes = node.attrs["axes"]
    if axes != tuple(range(axes[0], axes[0] + len(axes))):
        return _call(node, pieces)
    return _indexed(node, axes[0], ", ".join([pieces[arg].text for arg in node.args[1:]]), pieces)


def _indexed(node: Node, axis: int, text: str, pieces: Mapping[Node, Piece]) -> Piece:
    return Piece(f"{pieces[node.args[0]].within(_ATOM)}[{':, ' * axis}{text}]", _ATOM)


def _index_put(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    axes, accumulate = node.attrs["axes"], node.attrs["accumulate"]
    target, values, *places = (pieces[arg].text for arg in node.args)
    lists = f"({', '.join(places)},)" if axes == tuple(range(len(axes))) else UNSPOKEN
    return Piece(f"index_put({target}, {lists}, {values}{', accumulate=True' if accumulate else ''})", _ATOM)


def _output(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    return Piece(f"{pieces[node.args[0]].within(_ATOM)}[{node.attrs['index']}]", _ATOM)


_OWN: Final[Mapping[str, Callable[[Node, Mapping[Node, Piece]], Piece]]] = {
    "pow": _power,
    "select": _select,
    "slice": _slice,
    "index": _index,
    "index_put": _index_put,
    "output": _output,
}
"""Ops that have a notation of their own."""


def _call(node: Node, pieces: Mapping[Node, Piece]) -> Piece:
    """A function on arguments."""
    function, field = function_name(node)
    texts = []
    for keyword, value in arguments(node):
        if isinstance(value, Node):
            text = pieces[value].text
        elif isinstance(value, Listed):
            text = f"[{', '.join([pieces[each].text for each in value])}]"
        else:
            text = plain_text(value)
        texts.append(text if keyword is None else f"{keyword}={text}")
    call = f"{function}({', '.join(texts)})"
    return Piece(f"{call}.{field}" if field else call, _ATOM)


def _value(value: Any) -> Piece:
    """The value of a leaf without a name: a number or nested lists."""
    if np.ndim(value):
        if np.size(value) > _LARGEST:
            return Piece(f"{UNSPOKEN}", _ATOM)
        return Piece(f"[{', '.join([_value(each).text for each in value])}]", _ATOM)
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, complex):
        return Piece(f"complex({number.real!r}, {number.imag!r})", _ATOM)
    text = repr(number)
    return Piece(text, _SIGN if text.startswith("-") else _ATOM)
