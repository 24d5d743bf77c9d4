"""The works: what agrad and its peers are timed on, within a process each."""

from __future__ import annotations

from typing import Final

from .attention import ATTENTION
from .chain import CHAIN
from .cross_entropy import CROSS_ENTROPY
from .expression import EXPRESSION
from .hessian import HESSIAN
from .logistic import LOGISTIC
from .network import NETWORK
from .normalisation import BATCH_NORM, LAYER_NORM
from .work import Work

WORKS: Final[dict[str, Work]] = {
    work.name: work
    for work in (
        EXPRESSION,
        CHAIN,
        CROSS_ENTROPY,
        LAYER_NORM,
        BATCH_NORM,
        NETWORK,
        LOGISTIC,
        ATTENTION,
        HESSIAN,
    )
}
