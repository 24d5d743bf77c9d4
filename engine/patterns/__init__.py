"""The patterns that are rewritten: what is looked for, what it is computed as, and why.

Each pattern is the same function as its replacement wherever the plain graph has a value. A replacement that is less
exact somewhere, or that has a value where the function has none, is used on its own side of a `where` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ..graph import Node
from . import differences, exponentials, removable, roots
from .match import Found, same

__all__ = ["BY_ROOT", "REWRITES", "Found", "Rewrite", "same"]


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


REWRITES: Final[tuple[Rewrite, ...]] = (
    Rewrite(
        "softplus",
        "log(1 + exp(x))",
        "softplus(x)",
        "exp(x) overflows from 710 on",
        ("log", "log1p"),
        ("add", "exp"),
        exponentials.softplus,
    ),
    Rewrite(
        "logaddexp",
        "log(exp(a) + exp(b))",
        "logaddexp(a, b)",
        "the exponentials overflow or vanish although their logarithm does not",
        ("log",),
        ("add",),
        exponentials.logaddexp,
    ),
    Rewrite(
        "logsumexp",
        "log(sum(exp(x)))",
        "logsumexp(x)",
        "the exponentials overflow or vanish although their logarithm does not",
        ("log",),
        ("sum",),
        exponentials.logsumexp,
    ),
    Rewrite(
        "log-softmax",
        "log(softmax(x))",
        "log_softmax(x)",
        "a small probability rounds to 0",
        ("log",),
        ("softmax",),
        exponentials.log_softmax,
    ),
    Rewrite(
        "softmax",
        "exp(x)/sum(exp(x))",
        "softmax(x)",
        "exp(x) overflows from 710 on",
        ("div",),
        ("exp",),
        exponentials.exponential_over_sum,
    ),
    Rewrite(
        "logsigmoid",
        "log(sigmoid(x))",
        "logsigmoid(x)",
        "the sigmoid vanishes",
        ("log",),
        ("sigmoid",),
        exponentials.logsigmoid,
    ),
    Rewrite(
        "sigmoid",
        "1/(1 + exp(-x))",
        "sigmoid(x)",
        "exp(-x) overflows although the quotient and its slope do not",
        ("div", "reciprocal"),
        ("add",),
        exponentials.sigmoid,
    ),
    Rewrite(
        "sigmoid-of-ratio",
        "exp(x)/(1 + exp(x))",
        "sigmoid(x)",
        "inf/inf from 710 on",
        ("div",),
        ("exp",),
        exponentials.sigmoid_of_ratio,
    ),
    Rewrite(
        "one-minus-sigmoid",
        "1 - sigmoid(x)",
        "sigmoid(-x)",
        "the sigmoid rounds to 1 from 37 on",
        ("sub",),
        ("sigmoid",),
        differences.one_minus_sigmoid,
    ),
    Rewrite(
        "expm1",
        "exp(x) - 1",
        "expm1(x)",
        "near 0 the difference loses its digits",
        ("sub", "add"),
        ("exp",),
        differences.expm1,
    ),
    Rewrite(
        "one-minus-exp",
        "1 - exp(x)",
        "-expm1(x)",
        "near 0 the difference loses its digits",
        ("sub",),
        ("exp",),
        differences.one_minus_exponential,
    ),
    Rewrite(
        "log-one-minus-exp",
        "log(1 - exp(x))",
        "log(-expm1(x))",
        "near 0 and far from it digits are lost",
        ("log",),
        ("neg",),
        differences.log_one_minus_exponential,
    ),
    Rewrite(
        "one-minus-cos",
        "1 - cos(x)",
        "2*sin(x/2)**2",
        "near 0 the difference loses its digits",
        ("sub",),
        ("cos",),
        differences.one_minus_cosine,
    ),
    Rewrite(
        "one-minus-tanh",
        "1 - tanh(x)",
        "2*sigmoid(-2*x)",
        "tanh rounds to 1 from 19 on",
        ("sub", "add"),
        ("tanh",),
        differences.one_minus_tanh,
    ),
    Rewrite(
        "one-minus-tanh-squared",
        "1 - tanh(x)**2",
        "4*sigmoid(2*x)*sigmoid(-2*x)",
        "tanh rounds to 1 from 19 on",
        ("sub",),
        ("pow", "square", "mul"),
        differences.one_minus_tanh_squared,
    ),
    Rewrite(
        "log-of-exp",
        "log(exp(x))",
        "x",
        "exp(x) overflows or vanishes",
        ("log",),
        ("exp",),
        exponentials.log_of_exponential,
    ),
    Rewrite(
        "log1p",
        "log(1 + x)",
        "log1p(x)",
        "near 0 the sum loses the digits of x",
        ("log",),
        ("add", "sub"),
        differences.log1p,
    ),
    Rewrite(
        "exp-of-log",
        "exp(log(x))",
        "x",
        "at 0 the logarithm is infinite",
        ("exp",),
        ("log",),
        exponentials.exponential_of_log,
    ),
    Rewrite(
        "x-log-x",
        "p*log(p)",
        "-entr(p)",
        "at 0 it is 0*inf although its limit is 0",
        ("mul",),
        ("log",),
        exponentials.weighted_log,
    ),
    Rewrite(
        "root-of-square",
        "sqrt(x**2)",
        "abs(x)",
        "the square leaves the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("pow", "square", "mul"),
        roots.root_of_square,
    ),
    Rewrite(
        "square-of-root",
        "sqrt(x)**2",
        "x",
        "the slope of the root is infinite at 0",
        ("pow", "square", "mul"),
        ("sqrt", "pow"),
        roots.square_of_root,
    ),
    Rewrite(
        "square-of-abs",
        "abs(x)**2",
        "x**2",
        "abs has a kink at 0",
        ("pow", "square", "mul"),
        ("abs",),
        roots.square_of_absolute,
    ),
    Rewrite(
        "square-of-norm",
        "norm(v)**2",
        "sum(v**2)",
        "the norm has a kink at the zero vector",
        ("pow", "square", "mul"),
        ("linalg.vector_norm",),
        roots.square_of_norm,
    ),
    Rewrite(
        "square-of-hypot",
        "hypot(x, y)**2",
        "x**2 + y**2",
        "hypot has a kink at the origin",
        ("pow", "square", "mul"),
        ("hypot",),
        roots.square_of_hypot,
    ),
    Rewrite(
        "norm",
        "sqrt(sum(v**2))",
        "norm(v)",
        "the squares leave the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("sum",),
        roots.norm,
    ),
    Rewrite(
        "hypot",
        "sqrt(x**2 + y**2)",
        "hypot(x, y)",
        "the squares leave the range, and the root has no slope at 0",
        ("sqrt", "pow"),
        ("add",),
        roots.hypot,
    ),
    Rewrite(
        "sinc",
        "where(x == 0, 1, sin(x)/x)",
        "sinc(x/pi)",
        "the branch at 0 is a number and has no derivatives",
        ("where",),
        ("div",),
        removable.sinc,
    ),
)
"""All rewrites. Where several fit one node, the first is taken."""


def _by_root(rewrites: Sequence[Rewrite]) -> dict[str, dict[str, tuple[Rewrite, ...]]]:
    pairs = dict.fromkeys((op, inner) for rewrite in rewrites for op in rewrite.ops for inner in rewrite.inner)
    found: dict[str, dict[str, tuple[Rewrite, ...]]] = {}
    for root, inner in pairs:
        fitting = [rewrite for rewrite in rewrites if root in rewrite.ops and inner in rewrite.inner]
        found.setdefault(root, {})[inner] = tuple(fitting)
    return found


BY_ROOT: Final = _by_root(REWRITES)
"""For each op that may be the root of a pattern, and the op of one of its arguments, the rewrites in question."""
