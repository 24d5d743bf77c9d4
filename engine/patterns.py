"""The patterns that are rewritten: what is looked for, what it is computed as, and why.

Each pattern is the same function as its replacement wherever the plain graph has a value. A replacement that is less
exact somewhere, or that has a value where the function has none, is used on its own side of a `where` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .graph import Node, make

_STEEP: Final = 300.0
"""From here on exponentials are near the ends of float64; within, plain sums of them are exact enough."""
_LEAST: Final = 1e-290
"""A sum of exponentials that is smaller may have lost some of them."""
_DEPTH: Final = 12


class Found(NamedTuple):
    """A pattern at one node: what to compute in its place, and the nodes that both are functions of."""

    replacement: Node
    variables: tuple[Node, ...]


class Rewrite(NamedTuple):
    """One named rewrite.

    Attributes:
        name: for tests and the reference.
        plain, new: the pattern and its replacement, as a person writes them.
        why: a sentence.
        ops: the ops that the root of the pattern may be.
        inner: the ops of which one of its arguments is: a quick test before the pattern is looked for.
        find: the pattern at a node, or None where it is not there.
    """

    name: str
    plain: str
    new: str
    why: str
    ops: tuple[str, ...]
    inner: tuple[str, ...]
    find: Callable[[Node], Found | None]


# --- what patterns are made of -----------------------------------------------------------------------------------


def _is(node: Node, *names: str) -> bool:
    return node.op.name in names


def _real(node: Node) -> bool:
    return node.dtype.kind == "f"


def _number(node: Node) -> float | None:
    """The value of a written number."""
    return float(node.value) if type(node.value) in (int, float) else None


def constant(node: Node) -> float | None:
    """The value of a written number, or of a whole tensor of one number that varies with nothing."""
    if node.is_number:
        return _number(node)
    if node.requires_grad or node.dtype.kind not in "fi":
        return None
    if node.op.name == "leaf":
        value = node.value if node.size == 1 else node.value.flat[0] if _uniform(node) else None
        return None if value is None else float(np.asarray(value).reshape(-1)[0])
    if _is(node, "expand", "to", "reshape") and len(node.args) == 1:
        return constant(node.args[0])
    return None


def _uniform(node: Node) -> bool:
    return bool(node.size) and all(stride == 0 for stride in node.value.strides)


def same(first: Node, second: Node, depth: int = _DEPTH) -> bool:
    """Whether two nodes are one, or are the same ops of the same nodes."""
    if first is second:
        return True
    if first.is_number and second.is_number:
        return bool(first.value == second.value)
    if not depth or first.op is not second.op or not first.args or len(first.args) != len(second.args):
        return False
    if first.attrs != second.attrs or first.op.name in ("rand", "randn", "dropout"):
        return False
    return all(same(a, b, depth - 1) for a, b in zip(first.args, second.args, strict=True))


def _squared(node: Node) -> Node | None:
    """x, of x**2, x*x or square(x)."""
    if not _real(node):
        return None
    if _is(node, "square"):
        return node.args[0]
    if _is(node, "pow") and _number(node.args[1]) == 2:
        return node.args[0]
    if _is(node, "mul") and same(node.args[0], node.args[1]):
        return node.args[0]
    return None


def _root(node: Node) -> Node | None:
    """x, of sqrt(x) or x**0.5."""
    if not _real(node):
        return None
    if _is(node, "sqrt"):
        return node.args[0]
    if _is(node, "pow") and _number(node.args[1]) == 0.5:
        return node.args[0]
    return None


def _inner(node: Node, name: str) -> Node | None:
    """x, of name(x)."""
    return node.args[0] if _is(node, name) and _real(node) else None


def _sum_of(node: Node) -> tuple[Node, Node, bool] | None:
    """The parts of a + b and of a - b, and whether the second is subtracted."""
    if _is(node, "add", "sub") and _real(node) and not node.attrs.get("alpha"):
        return node.args[0], node.args[1], _is(node, "sub")
    return None


def _shaped(made: Node, like: Node) -> Node:
    """Broadcast to the shape of what it replaces: a number beside a tensor of ones has no shape of its own."""
    if made.shape == like.shape:
        return made
    wide: Node = make.expand(made, like.shape)
    return wide


# --- exponentials and logarithms ---------------------------------------------------------------------------------


def _terms(node: Node) -> list[Node]:
    """The terms of a sum of several."""
    terms: list[Node] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if _is(part, "add") and not part.attrs and len(terms) + len(stack) < _DEPTH:
            stack += reversed(part.args)
        else:
            terms.append(part)
    return terms


def _softplus(node: Node) -> Found | None:
    x = _one_and_exponential(_inner(node, "log"))
    if x is None:
        inner = _inner(node, "log1p")
        x = None if inner is None else _inner(inner, "exp")
    return None if x is None else Found(_shaped(make.softplus(x), node), (x,))


def _one_and_exponential(total: Node | None) -> Node | None:
    """x, of 1 + exp(x)."""
    if total is None or not _is(total, "add") or not _real(total):
        return None
    for one, other in (total.args, total.args[::-1]):
        if constant(one) == 1 and _is(other, "exp"):
            return other.args[0]
    return None


def _logaddexp(node: Node) -> Found | None:
    total = _inner(node, "log")
    if total is None or not _is(total, "add"):
        return None
    exponents: list[Node | float] = []
    for term in _terms(total):
        number = constant(term)
        if _is(term, "exp") and _real(term):
            exponents.append(term.args[0])
        elif number is not None and number > 0:
            exponents.append(math.log(number))
        else:
            return None
    variables = tuple(dict.fromkeys(part for part in exponents if isinstance(part, Node)))
    if len(variables) < 1 or len(exponents) < 2:
        return None
    joined: Any = exponents[0]
    steep: Any = None
    for part in exponents[1:]:
        joined = make.logaddexp(joined, part) if isinstance(joined, Node) else make.logaddexp(part, joined)
    for part in variables:
        beyond = make.gt(make.abs(part), _STEEP)
        steep = beyond if steep is None else make.logical_or(steep, beyond)
    return Found(make.where(steep, joined, node), variables)


def _logsumexp(node: Node) -> Found | None:
    total = _inner(node, "log")
    if total is None or not _is(total, "sum") or not _is(total.args[0], "exp") or not _real(total.args[0]):
        return None
    x = total.args[0].args[0]
    if not x.size:
        return None
    dim, keep = total.attrs["dim"], total.attrs["keepdim"]
    steep = make.gt(make.abs(make.amax(x, dim, keep)), _STEEP)
    return Found(make.where(steep, make.logsumexp(x, dim, keep), node), (x,))


def _log_softmax(node: Node) -> Found | None:
    inner = _inner(node, "log")
    if inner is None or not _is(inner, "softmax"):
        return None
    (dim,) = inner.attrs["dim"] if len(inner.attrs.get("dim", ())) == 1 else (None,)
    return None if dim is None else Found(make.log_softmax(inner.args[0], dim), (inner.args[0],))


def _exponential_over_sum(node: Node) -> Found | None:
    """exp(x) / sum(exp(x)): by hand it is inf/inf for large and 0/0 for very negative numbers."""
    if not _is(node, "div") or not _is(node.args[0], "exp") or not _is(node.args[1], "sum") or not _real(node):
        return None
    top, total = node.args
    x, (dim, keep) = top.args[0], (total.attrs["dim"], total.attrs["keepdim"])
    if not same(total.args[0], top) or len(dim) != 1 or not (keep or x.ndim == 1):
        return None
    within = make.logical_and(make.gt(total, _LEAST), make.lt(total, math.inf))
    return Found(make.where(within, node, make.softmax(x, dim[0])), (x,))


def _logsigmoid(node: Node) -> Found | None:
    inner = _inner(node, "log")
    x = None if inner is None else _inner(inner, "sigmoid")
    return None if x is None else Found(make.logsigmoid(x), (x,))


def _sigmoid(node: Node) -> Found | None:
    if _is(node, "reciprocal"):
        total = node.args[0]
    elif _is(node, "div") and constant(node.args[0]) == 1:
        total = node.args[1]
    else:
        return None
    x = _one_and_exponential(total)
    if x is None:
        return None
    # The exponent of 1/(1 + exp(-z)) is a negation: the sigmoid's argument is then z itself.
    argument = x.args[0] if _is(x, "neg") and _real(x) else make.neg(x)
    variable = x.args[0] if _is(x, "neg") and _real(x) else x
    return Found(_shaped(make.sigmoid(argument), node), (variable,))


def _sigmoid_of_ratio(node: Node) -> Found | None:
    """exp(x) / (1 + exp(x)): by hand it is inf/inf from 710 on."""
    if not _is(node, "div") or not _is(node.args[0], "exp") or not _real(node):
        return None
    x = node.args[0].args[0]
    other = _one_and_exponential(node.args[1])
    return Found(_shaped(make.sigmoid(x), node), (x,)) if other is not None and same(x, other) else None


def _one_minus_sigmoid(node: Node) -> Found | None:
    parts = _sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1:
        return None
    x = _inner(parts[1], "sigmoid")
    return None if x is None else Found(_shaped(make.sigmoid(make.neg(x)), node), (x,))


def _expm1(node: Node) -> Found | None:
    parts = _sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if _is(second, "exp") and not minus:
        first, second = second, first
    number = constant(second)
    if not _is(first, "exp") or number is None or (number if minus else -number) != 1:
        return None
    return Found(_shaped(make.expm1(first.args[0]), node), (first.args[0],))


def _one_minus_exponential(node: Node) -> Found | None:
    """1 - exp(x)."""
    parts = _sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1 or not _is(parts[1], "exp") or not _real(parts[1]):
        return None
    x = parts[1].args[0]
    return Found(_shaped(make.neg(make.expm1(x)), node), (x,))


def _log_one_minus_exponential(node: Node) -> Found | None:
    """log(1 - exp(x)), whose inner part is rewritten already."""
    inner = _inner(node, "log")
    inner = None if inner is None else _inner(inner, "neg")
    x = None if inner is None else _inner(inner, "expm1")
    if x is None:
        return None
    far = make.lt(x, -math.log(2))
    return Found(make.where(far, make.log1p(make.neg(make.exp(x))), node), (x,))


def _one_minus_cosine(node: Node) -> Found | None:
    parts = _sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1 or not _is(parts[1], "cos") or not _real(parts[1]):
        return None
    x = parts[1].args[0]
    near = make.lt(make.abs(x), 1.0)
    return Found(make.where(near, make.square(make.sin(x * 0.5)) * 2.0, node), (x,))


def _one_minus_tanh(node: Node) -> Found | None:
    """1 - tanh(x) and 1 + tanh(x)."""
    parts = _sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if not minus and constant(second) == 1:
        first, second = second, first
    if constant(first) != 1 or not _is(second, "tanh") or not _real(second):
        return None
    x = second.args[0]
    sign = -2.0 if minus else 2.0
    far = make.gt(make.abs(x), 1.0)
    return Found(make.where(far, make.sigmoid(x * sign) * 2.0, node), (x,))


def _one_minus_tanh_squared(node: Node) -> Found | None:
    parts = _sum_of(node)
    square = None if parts is None or not parts[2] or constant(parts[0]) != 1 else _squared(parts[1])
    x = None if square is None else _inner(square, "tanh")
    if x is None:
        return None
    far = make.gt(make.abs(x), 1.0)
    halves = make.sigmoid(x * 2.0) * make.sigmoid(x * -2.0)
    return Found(make.where(far, halves * 4.0, node), (x,))


def _log1p(node: Node) -> Found | None:
    inner = _inner(node, "log")
    parts = None if inner is None else _sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    if constant(first) == 1:
        x = make.neg(second) if minus else second
        return Found(_shaped(make.log1p(x), node), (second,)) if _real(second) else None
    if constant(second) == 1 and not minus and _real(first):
        return Found(_shaped(make.log1p(first), node), (first,))
    return None


def _log_of_exponential(node: Node) -> Found | None:
    inner = _inner(node, "log")
    x = None if inner is None else _inner(inner, "exp")
    return None if x is None else Found(x, (x,))


def _exponential_of_log(node: Node) -> Found | None:
    inner = _inner(node, "exp")
    x = None if inner is None else _inner(inner, "log")
    return None if x is None else Found(make.where(make.ge(x, 0.0), x, node), (x,))


def _weighted_log(node: Node) -> Found | None:
    """p * log(p), whose limit at 0 is 0."""
    if not _is(node, "mul") or not _real(node):
        return None
    for p, other in (node.args, node.args[::-1]):
        if _is(other, "log") and same(other.args[0], p):
            return Found(make.where(make.ge(p, 0.0), 0.0 - make.entr(p), node), (p,))
    return None


# --- roots, squares and norms ------------------------------------------------------------------------------------


def _root_of_square(node: Node) -> Found | None:
    inner = _root(node)
    x = None if inner is None else _squared(inner)
    return None if x is None else Found(make.abs(x), (x,))


def _square_of_root(node: Node) -> Found | None:
    inner = _squared(node)
    x = None if inner is None else _root(inner)
    return None if x is None else Found(make.where(make.ge(x, 0.0), x, node), (x,))


def _square_of_absolute(node: Node) -> Found | None:
    inner = _squared(node)
    x = None if inner is None else _inner(inner, "abs")
    return None if x is None or not _real(x) else Found(make.square(x), (x,))


def _square_of_norm(node: Node) -> Found | None:
    inner = _squared(node)
    if inner is None or not _is(inner, "linalg.vector_norm") or inner.attrs["p"] != 2 or not _real(inner.args[0]):
        return None
    v = inner.args[0]
    return Found(make.sum(make.square(v), inner.attrs["dim"], inner.attrs["keepdim"]), (v,))


def _square_of_hypot(node: Node) -> Found | None:
    inner = _squared(node)
    if inner is None or not _is(inner, "hypot"):
        return None
    x, y = inner.args
    return Found(make.square(x) + make.square(y), tuple(dict.fromkeys((x, y))))


def _norm(node: Node) -> Found | None:
    total = _root(node)
    if total is None or not _is(total, "sum"):
        return None
    v = _squared(total.args[0])
    if v is None or not v.size:
        return None
    made = make.vector_norm(v, 2, total.attrs["dim"], total.attrs["keepdim"])
    return Found(made, (v,))


def _hypot(node: Node) -> Found | None:
    total = _root(node)
    if total is None or not _is(total, "add"):
        return None
    x, y = (_squared(part) for part in total.args)
    if x is None or y is None:
        return None
    # hypot rounds once where the root of a sum rounds three times, so it is never further off.
    return Found(_shaped(make.hypot(x, y), node), tuple(dict.fromkeys((x, y))))


# --- removable singularities -------------------------------------------------------------------------------------


def _sinc(node: Node) -> Found | None:
    """where(x == 0, 1, sin(x)/x), or the other way around with x != 0."""
    if not _is(node, "where") or not _real(node):
        return None
    condition, at_zero, elsewhere = node.args
    if _is(condition, "ne"):
        at_zero, elsewhere = elsewhere, at_zero
    elif not _is(condition, "eq"):
        return None
    if constant(at_zero) != 1 or not _is(elsewhere, "div") or not _is(elsewhere.args[0], "sin"):
        return None
    x = elsewhere.args[1]
    tested = [arg for arg in condition.args if constant(arg) != 0]
    if len(tested) != 1 or not same(elsewhere.args[0].args[0], x) or not same(tested[0], x):
        return None
    # Near 0 only: further out x/pi would be rounded before its sine is taken.
    near = make.lt(make.abs(x), 1.0)
    return Found(make.where(near, make.sinc(x * (1 / math.pi)), node), (x,))


REWRITES: Final[tuple[Rewrite, ...]] = (
    Rewrite(
        "softplus",
        "log(1 + exp(x))",
        "softplus(x)",
        "exp(x) overflows from 710 on",
        ("log", "log1p"),
        ("add", "exp"),
        _softplus,
    ),
    Rewrite(
        "logaddexp",
        "log(exp(a) + exp(b))",
        "logaddexp(a, b)",
        "the exponentials overflow or vanish although their logarithm does not",
        ("log",),
        ("add",),
        _logaddexp,
    ),
    Rewrite(
        "logsumexp",
        "log(sum(exp(x)))",
        "logsumexp(x)",
        "the exponentials overflow or vanish although their logarithm does not",
        ("log",),
        ("sum",),
        _logsumexp,
    ),
    Rewrite(
        "log-softmax",
        "log(softmax(x))",
        "log_softmax(x)",
        "a small probability rounds to 0",
        ("log",),
        ("softmax",),
        _log_softmax,
    ),
    Rewrite(
        "softmax",
        "exp(x)/sum(exp(x))",
        "softmax(x)",
        "exp(x) overflows from 710 on",
        ("div",),
        ("exp",),
        _exponential_over_sum,
    ),
    Rewrite(
        "logsigmoid", "log(sigmoid(x))", "logsigmoid(x)", "the sigmoid vanishes", ("log",), ("sigmoid",), _logsigmoid
    ),
    Rewrite(
        "sigmoid",
        "1/(1 + exp(-x))",
        "sigmoid(x)",
        "exp(-x) overflows although the quotient and its slope do not",
        ("div", "reciprocal"),
        ("add",),
        _sigmoid,
    ),
    Rewrite(
        "sigmoid-of-ratio",
        "exp(x)/(1 + exp(x))",
        "sigmoid(x)",
        "inf/inf from 710 on",
        ("div",),
        ("exp",),
        _sigmoid_of_ratio,
    ),
    Rewrite(
        "one-minus-sigmoid",
        "1 - sigmoid(x)",
        "sigmoid(-x)",
        "the sigmoid rounds to 1 from 37 on",
        ("sub",),
        ("sigmoid",),
        _one_minus_sigmoid,
    ),
    Rewrite(
        "expm1", "exp(x) - 1", "expm1(x)", "near 0 the difference loses its digits", ("sub", "add"), ("exp",), _expm1
    ),
    Rewrite(
        "one-minus-exp",
        "1 - exp(x)",
        "-expm1(x)",
        "near 0 the difference loses its digits",
        ("sub",),
        ("exp",),
        _one_minus_exponential,
    ),
    Rewrite(
        "log-one-minus-exp",
        "log(1 - exp(x))",
        "log(-expm1(x))",
        "near 0 and far from it digits are lost",
        ("log",),
        ("neg",),
        _log_one_minus_exponential,
    ),
    Rewrite(
        "one-minus-cos",
        "1 - cos(x)",
        "2*sin(x/2)**2",
        "near 0 the difference loses its digits",
        ("sub",),
        ("cos",),
        _one_minus_cosine,
    ),
    Rewrite(
        "one-minus-tanh",
        "1 - tanh(x)",
        "2*sigmoid(-2*x)",
        "tanh rounds to 1 from 19 on",
        ("sub", "add"),
        ("tanh",),
        _one_minus_tanh,
    ),
    Rewrite(
        "one-minus-tanh-squared",
        "1 - tanh(x)**2",
        "4*sigmoid(2*x)*sigmoid(-2*x)",
        "tanh rounds to 1 from 19 on",
        ("sub",),
        ("pow", "square", "mul"),
        _one_minus_tanh_squared,
    ),
    Rewrite("log-of-exp", "log(exp(x))", "x", "exp(x) overflows or vanishes", ("log",), ("exp",), _log_of_exponential),
    Rewrite(
        "log1p", "log(1 + x)", "log1p(x)", "near 0 the sum loses the digits of x", ("log",), ("add", "sub"), _log1p
    ),
    Rewrite(
        "exp-of-log", "exp(log(x))", "x", "at 0 the logarithm is infinite", ("exp",), ("log",), _exponential_of_log
    ),
    Rewrite(
        "x-log-x", "p*log(p)", "-entr(p)", "at 0 it is 0*inf although its limit is 0", ("mul",), ("log",), _weighted_log
    ),
    Rewrite(
        "root-of-square",
        "sqrt(x**2)",
        "abs(x)",
        "the square leaves the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("pow", "square", "mul"),
        _root_of_square,
    ),
    Rewrite(
        "square-of-root",
        "sqrt(x)**2",
        "x",
        "the slope of the root is infinite at 0",
        ("pow", "square", "mul"),
        ("sqrt", "pow"),
        _square_of_root,
    ),
    Rewrite(
        "square-of-abs",
        "abs(x)**2",
        "x**2",
        "abs has a kink at 0",
        ("pow", "square", "mul"),
        ("abs",),
        _square_of_absolute,
    ),
    Rewrite(
        "square-of-norm",
        "norm(v)**2",
        "sum(v**2)",
        "the norm has a kink at the zero vector",
        ("pow", "square", "mul"),
        ("linalg.vector_norm",),
        _square_of_norm,
    ),
    Rewrite(
        "square-of-hypot",
        "hypot(x, y)**2",
        "x**2 + y**2",
        "hypot has a kink at the origin",
        ("pow", "square", "mul"),
        ("hypot",),
        _square_of_hypot,
    ),
    Rewrite(
        "norm",
        "sqrt(sum(v**2))",
        "norm(v)",
        "the squares leave the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("sum",),
        _norm,
    ),
    Rewrite(
        "hypot",
        "sqrt(x**2 + y**2)",
        "hypot(x, y)",
        "the squares leave the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("add",),
        _hypot,
    ),
    Rewrite(
        "sinc",
        "where(x == 0, 1, sin(x)/x)",
        "sinc(x/pi)",
        "the branch at 0 is a number and has no derivatives",
        ("where",),
        ("div",),
        _sinc,
    ),
)
"""All rewrites. Where several fit one node, the first is taken."""


def _by_pair(rewrites: Sequence[Rewrite]) -> dict[tuple[str, str], tuple[Rewrite, ...]]:
    pairs = dict.fromkeys((op, inner) for rewrite in rewrites for op in rewrite.ops for inner in rewrite.inner)
    return {
        pair: tuple(rewrite for rewrite in rewrites if pair[0] in rewrite.ops and pair[1] in rewrite.inner)
        for pair in pairs
    }


BY_PAIR: Final = _by_pair(REWRITES)
"""For an op and the op of one of its arguments, the rewrites whose pattern may have them as its root."""

ROOTS: Final = frozenset(op for op, _ in BY_PAIR)
"""The ops that the root of any pattern may be."""
