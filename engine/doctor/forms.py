"""Forms that keep the digits which another form loses: for advice only, so that the text decides.

What `engine/patterns` holds is rewritten by itself and needs no advice. A form here is the same function in exact
numbers; whether it has more digits at a point is found out by running it there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..graph import Node, make
from ..patterns.match import argument_of, constant, is_op, is_real, number_of, root_of, same, squared, sum_of


class Form(NamedTuple):
    """One form.

    Attributes:
        plain, new: what loses digits and what does not, as a person writes them.
        find: what to compute in the place of a node, or None where the node is not of this form.
    """

    plain: str
    new: str
    find: Callable[[Node], Any]


def _difference(first: Node, second: Node) -> Node:
    """first - second, without the part that both have: of `x + 1` and `x` it is 1."""
    for whole, part, sign in ((first, second, 1), (second, first, -1)):
        parts = sum_of(whole)
        if parts is None:
            continue
        a, b, minus = parts
        if same(a, part):
            return _signed(b, -sign if minus else sign)
        if same(b, part) and not minus:
            return _signed(a, sign)
    made: Node = make.sub(first, second)
    return made


def _signed(node: Node, sign: int) -> Node:
    made: Node = node if sign > 0 else make.neg(node)
    return made


def _halves(first: Node, second: Node) -> tuple[Node, Node]:
    """Half of the sum and half of the difference."""
    return make.mul(make.add(first, second), 0.5), make.mul(_difference(first, second), 0.5)


def _subtracted(node: Node) -> tuple[Node, Node] | None:
    """a and b of a - b, also of -b + a."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if minus:
        return first, second
    for one, other in ((first, second), (second, first)):
        if is_op(one, "neg"):
            return other, one.args[0]
    return None


def _of_both(node: Node, name: str) -> tuple[Node, Node] | None:
    """x and y of name(x) - name(y)."""
    pair = _subtracted(node)
    if pair is None:
        return None
    x, y = (argument_of(part, name) for part in pair)
    return None if x is None or y is None else (x, y)


def _roots(node: Node) -> Node | None:
    pair = _subtracted(node)
    if pair is None:
        return None
    x, y = (root_of(part) for part in pair)
    if x is None or y is None:
        return None
    made: Node = make.div(_difference(x, y), make.add(*pair))
    return made


def _root_minus(node: Node) -> Node | None:
    """sqrt(b**2 + r) - b as r/(sqrt(b**2 + r) + b); also b - sqrt(...), and b + sqrt(...) where b is below 0."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    for root, other, sign, order in ((first, second, -1 if minus else 1, 1), (second, first, 1, -1 if minus else 1)):
        inner = root_of(root)
        rest = None if inner is None else _rest_of_square(inner, other)
        if rest is None:
            continue
        # root + sign*other = (root**2 - other**2)/(root - sign*other), all of it with the sign of the root.
        if order < 0:
            made: Node = make.neg(make.div(rest, make.add(root, other)))
            return made
        below = make.sub(root, other) if sign > 0 else make.add(root, other)
        quotient: Node = make.div(rest, below)
        return quotient
    return None


def _rest_of_square(inner: Node, other: Node) -> Node | None:
    """r, of b**2 + r, r + b**2 and b**2 - s, where `other` is b or -b; and x, of 1 + x where it is 1."""
    parts = sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    bare = other.args[0] if is_op(other, "neg") else other
    one = constant(bare) == 1

    def is_square(node: Node) -> bool:
        base = squared(node)
        return (base is not None and same(base, bare)) or (one and constant(node) == 1)

    if is_square(first):
        return _signed(second, -1 if minus else 1)
    return first if is_square(second) and not minus else None


def _squares(node: Node) -> Node | None:
    pair = _subtracted(node)
    if pair is None:
        return None
    a, b = (squared(part) if constant(part) != 1 else part for part in pair)
    if a is None or b is None or (constant(pair[0]) == 1 and constant(pair[1]) == 1):
        return None
    made: Node = make.mul(_difference(a, b), make.add(a, b))
    return made


def _cosines(node: Node) -> Node | None:
    pair = _of_both(node, "cos")
    if pair is None:
        return None
    middle, half = _halves(*pair)
    made: Node = make.mul(make.mul(make.sin(middle), make.sin(half)), -2.0)
    return made


def _cosine_minus_one(node: Node) -> Node | None:
    pair = _subtracted(node)
    x = argument_of(pair[0], "cos") if pair is not None and constant(pair[1]) == 1 else None
    if x is None:
        return None
    made: Node = make.mul(make.square(make.sin(make.mul(x, 0.5))), -2.0)
    return made


def _sines(node: Node) -> Node | None:
    pair = _of_both(node, "sin")
    if pair is None:
        return None
    middle, half = _halves(*pair)
    made: Node = make.mul(make.mul(make.cos(middle), make.sin(half)), 2.0)
    return made


def _exponentials(node: Node) -> Node | None:
    pair = _of_both(node, "exp")
    if pair is None:
        return None
    first, second = pair
    if is_op(second, "neg") and same(second.args[0], first):
        made: Node = make.mul(make.sinh(first), 2.0)
        return made
    product: Node = make.mul(make.exp(second), make.expm1(_difference(first, second)))
    return product


def _logarithms(node: Node) -> Node | None:
    pair = _subtracted(node)
    if pair is None:
        return None
    first, second = (_under_log(part) for part in pair)
    if first is None or second is None:
        return None
    made: Node = make.log1p(make.div(_difference(first, second), second))
    return made


def _under_log(node: Node) -> Node | None:
    """x, of log(x), and 1 + x, of log1p(x), which log(1 + x) may have become."""
    shifted = argument_of(node, "log1p")
    return argument_of(node, "log") if shifted is None else make.add(shifted, 1.0)


def _log_of_quotient(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "div"):
        return None
    above, below = inner.args
    made: Node = make.log1p(make.div(_difference_of_ones(above, below), below))
    return made


def _difference_of_ones(above: Node, below: Node) -> Node:
    """above - below; of 1 + x and 1 - x it is 2*x."""
    parts, others = sum_of(above), sum_of(below)
    if parts is None or others is None:
        return _difference(above, below)
    (one, x, minus), (other_one, other_x, other_minus) = parts, others
    if constant(one) == 1 and constant(other_one) == 1 and same(x, other_x) and minus != other_minus:
        made: Node = make.mul(_signed(x, -1 if minus else 1), 2.0)
        return made
    return _difference(above, below)


def _reciprocals(node: Node) -> Node | None:
    pair = _subtracted(node)
    if pair is None or not all(is_op(part, "div", "reciprocal") and is_real(part) for part in pair):
        return None
    if any(is_op(part, "div") and constant(part.args[0]) != 1 for part in pair):
        return None
    x, y = (part.args[-1] for part in pair)
    made: Node = make.div(_difference(y, x), make.mul(x, y))
    return made


def _arctangents(node: Node) -> Node | None:
    pair = _of_both(node, "atan")
    if pair is None:
        return None
    made: Node = make.atan2(_difference(*pair), make.add(make.mul(*pair), 1.0))
    return made


def _power_minus_one(node: Node) -> Node | None:
    """(1 + x)**n - 1."""
    pair = _subtracted(node)
    if pair is None or constant(pair[1]) != 1 or not is_op(pair[0], "pow", "square"):
        return None
    base = pair[0].args[0]
    parts = sum_of(base)
    if parts is None or 1 not in (constant(parts[0]), constant(parts[1])) or not is_real(base):
        return None
    first, second, minus = parts
    if constant(first) == 1:
        x = _signed(second, -1 if minus else 1)
    elif not minus:
        x = first
    else:
        return None
    exponent: Any = pair[0].args[1] if is_op(pair[0], "pow") else 2.0
    if is_op(pair[0], "square") or number_of(exponent) == 2:
        made: Node = make.mul(x, make.add(x, 2.0))
        return made
    growth: Node = make.expm1(make.mul(make.log1p(x), exponent))
    return growth


def _variance(node: Node) -> Node | None:
    """mean(x**2) - mean(x)**2."""
    pair = _subtracted(node)
    if pair is None or not is_op(pair[0], "mean"):
        return None
    x, middle = squared(pair[0].args[0]), squared(pair[1])
    if x is None or middle is None or not is_op(middle, "mean") or not same(middle.args[0], x):
        return None
    dim = pair[0].attrs["dim"]
    if middle.attrs["dim"] != dim or len(dim) != x.ndim:
        return None
    made: Node = make.mean(make.square(make.sub(x, make.mean(x))))
    return made


def _hyperbolic_cosine(node: Node) -> Node | None:
    pair = _subtracted(node)
    if pair is None:
        return None
    x = argument_of(pair[0], "cosh")
    if x is None or constant(pair[1]) != 1:
        return None
    made: Node = make.mul(make.square(make.sinh(make.mul(x, 0.5))), 2.0)
    return made


def _complement(name: str, other: Callable[[Node], Node]) -> Callable[[Node], Node | None]:
    def find(node: Node) -> Node | None:
        pair = _subtracted(node)
        x = argument_of(pair[1], name) if pair is not None and constant(pair[0]) == 1 else None
        return None if x is None else other(x)

    return find


def _inverse_hyperbolic_sine(node: Node) -> Node | None:
    """log(x + sqrt(x**2 + 1))."""
    inner = argument_of(node, "log")
    parts = None if inner is None else sum_of(inner)
    if parts is None or parts[2]:
        return None
    for x, root in (parts[:2], parts[1::-1]):
        below = root_of(root)
        rest = None if below is None else _rest_of_square(below, x)
        if rest is not None and constant(rest) == 1 and constant(x) != 1:
            made: Node = make.asinh(x)
            return made
    return None


def _log_cosh(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "cosh")
    if x is None:
        return None
    made: Node = make.sub(make.logaddexp(x, make.neg(x)), math.log(2))
    return made


def _log_cosh_near_zero(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "cosh")
    if x is None:
        return None
    made: Node = make.log1p(make.mul(make.square(make.sinh(make.mul(x, 0.5))), 2.0))
    return made


def _common_part(node: Node) -> Node | None:
    """(a + b) - a."""
    pair = _subtracted(node)
    made = None if pair is None else _difference(*pair)
    return None if made is None or is_op(made, "sub") else made


def _log_of_product(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "prod", "mul"):
        return None
    if is_op(inner, "mul"):
        made: Node = make.add(*[make.log(arg) for arg in inner.args])
        return made
    if len(inner.attrs["dim"]) != inner.args[0].ndim:
        return None
    total: Node = make.sum(make.log(inner.args[0]))
    return total


def _log_of_power(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "pow") or not is_real(inner.args[0]):
        return None
    exponent = number_of(inner.args[1])
    base = inner.args[0]
    even = exponent is not None and exponent % 2 == 0
    made: Node = make.mul(make.log(make.abs(base) if even else base), inner.args[1])
    return made


def _log_gamma(node: Node) -> Node | None:
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "gamma")
    return None if x is None else make.lgamma(x)


def _quotient_of_exponentials(node: Node) -> Node | None:
    if not is_op(node, "div") or not all(is_op(arg, "exp") for arg in node.args):
        return None
    made: Node = make.exp(_difference(*[arg.args[0] for arg in node.args]))
    return made


def _product_of_exponentials(node: Node) -> Node | None:
    if not is_op(node, "mul") or not all(is_op(arg, "exp") for arg in node.args):
        return None
    made: Node = make.exp(make.add(*[arg.args[0] for arg in node.args]))
    return made


def _log1p_of_expm1(node: Node) -> Node | None:
    """log(x) where x is 1 + y: what the automatic rewrites leave, a sum in another order."""
    inner = argument_of(node, "log")
    parts = None if inner is None else sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    outer = sum_of(first)
    if outer is None or constant(outer[0]) != 1:
        return None
    rest = _signed(outer[1], -1 if outer[2] else 1)
    made: Node = make.log1p(make.sub(rest, second) if minus else make.add(rest, second))
    return made


FORMS: Final[tuple[Form, ...]] = (
    Form("sqrt(a) - sqrt(b)", "(a - b)/(sqrt(a) + sqrt(b))", _roots),
    Form("sqrt(b**2 + r) - b", "r/(sqrt(b**2 + r) + b)", _root_minus),
    Form("a**2 - b**2", "(a - b)*(a + b)", _squares),
    Form("cos(a) - cos(b)", "-2*sin((a + b)/2)*sin((a - b)/2)", _cosines),
    Form("cos(x) - 1", "-2*sin(x/2)**2", _cosine_minus_one),
    Form("sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)", _sines),
    Form("exp(a) - exp(b)", "exp(b)*expm1(a - b)", _exponentials),
    Form("log(a) - log(b)", "log1p((a - b)/b)", _logarithms),
    Form("log(a/b)", "log1p((a - b)/b)", _log_of_quotient),
    Form("1/a - 1/b", "(b - a)/(a*b)", _reciprocals),
    Form("atan(a) - atan(b)", "atan2(a - b, 1 + a*b)", _arctangents),
    Form("(1 + x)**n - 1", "expm1(n*log1p(x))", _power_minus_one),
    Form("mean(x**2) - mean(x)**2", "mean((x - mean(x))**2)", _variance),
    Form("cosh(x) - 1", "2*sinh(x/2)**2", _hyperbolic_cosine),
    Form("1 - erf(x)", "erfc(x)", _complement("erf", lambda x: make.erfc(x))),
    Form("1 - erfc(x)", "erf(x)", _complement("erfc", lambda x: make.erf(x))),
    Form("log(x + sqrt(x**2 + 1))", "asinh(x)", _inverse_hyperbolic_sine),
    Form("log(cosh(x))", "logaddexp(x, -x) - log(2)", _log_cosh),
    Form("log(cosh(x))", "log1p(2*sinh(x/2)**2)", _log_cosh_near_zero),
    Form("(a + b) - a", "b", _common_part),
    Form("log(a*b)", "log(a) + log(b)", _log_of_product),
    Form("log(x**n)", "n*log(x)", _log_of_power),
    Form("log(gamma(x))", "lgamma(x)", _log_gamma),
    Form("exp(a)/exp(b)", "exp(a - b)", _quotient_of_exponentials),
    Form("exp(a)*exp(b)", "exp(a + b)", _product_of_exponentials),
    Form("log(1 + x + y)", "log1p(x + y)", _log1p_of_expm1),
)
"""All forms. Each is tried at a node that it fits; the one with the most digits there is told."""
