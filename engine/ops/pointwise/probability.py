"""Entropy terms and odds of probabilities."""

from __future__ import annotations

from typing import Any

from ...graph import POSITIVE, PROBABILITY, Node, apply, make
from .. import kinks
from ..row import as_float, unary
from .library import from_library

_FAMILY = "elementwise"


SPREAD = unary(
    "spread",
    "x*(1 - x), with a derivative that is one difference.",
    family="cotangent",
    forms=("spread(x)",),
    method=False,
    kernel=lambda _xp, x: x * (1.0 - x),
    c="{0} * (1.0 - {0})",
    formula=lambda _m, x: x * (1 - x),
    slope=lambda x, _y: 1.0 - 2.0 * x,
    grad_fn="MulBackward0",
)


def _logit_slope(x: Node, _y: Node) -> Node:
    spread = make.spread(x)
    return make.where(spread >= 0, 1.0 / spread, float("nan"))  # type: ignore[no-any-return]  # a row's call is of any type


def _logit(input: Node, eps: float | None = None) -> Node:
    input = as_float(input)
    if eps is not None:
        input = make.clamp(input, eps, 1.0 - eps)
    return apply(LOGIT, (input,))


LOGIT = unary(
    "logit",
    "The inverse log(x/(1 - x)) of the logistic function; with eps, of x brought into [eps, 1 - eps].",
    family=_FAMILY,
    real=True,
    call=_logit,
    forms=("torch.logit(x)", "x.logit()", "torch.logit(x, eps=1e-6)", "torch.special.logit(x)"),
    kernel=from_library("logit"),
    c="(fabs({0} - 0.5) < 0.2 ? log1p(2.0 * ({0} - 0.5)) - log1p(-2.0 * ({0} - 0.5)) : log({0} / (1.0 - {0})))",
    formula=lambda m, x: m.log(x / (1 - x)),
    slope=_logit_slope,
    within=PROBABILITY,
    domain="0 < x < 1",
    kink="infinite at 0 and 1, nan outside; with eps: 0 outside of [eps, 1 - eps]",
    grad_fn="LogitBackward0",
)


def _entr_formula(m: Any, x: Any) -> Any:
    below = lambda: m.where(x < 0, lambda: -m.inf, lambda: x)  # x where it is NaN
    at_most_zero = lambda: m.where(m.equal(x, m.number(0)), lambda: m.number(0), below)
    return m.where(x > 0, lambda: -x * m.log(x), at_most_zero)


ENTR = unary(
    "entr",
    "The entropy term -x*log(x), and 0 at 0.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.entr(x)",),
    method=False,
    kernel=from_library("entr"),
    c="({0} > 0 ? -{0} * log({0}) : {0} == 0 ? 0.0 : {0} < 0 ? -INFINITY : {0})",
    formula=_entr_formula,
    slope=lambda x, _y: -1.0 - make.log(x),
    within=POSITIVE,
    domain="x >= 0; differentiable for x > 0",
    at_kink=kinks.at_zero,
    kink="infinite at 0, nan below",
    grad_fn="SpecialEntrBackward0",
)
