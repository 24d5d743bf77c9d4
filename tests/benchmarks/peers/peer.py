"""What a peer is: a way to compute a work's value and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class UnableError(Exception):
    """A peer cannot do a work; the text says why."""


class Prepared(NamedTuple):
    """A work made ready by a peer.

    Attributes:
        call: one evaluation, finished when it returns: value and derivatives as the peer has them.
        arrays: what `call` returned to NumPy arrays: the value (not for a Hessian), then the derivatives.
    """

    call: Callable[[], Any]
    arrays: Callable[[Any], list[NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer, before anything of it is imported.

    Attributes:
        name: one word.
        module: the module beside this one that has `prepare(work, inputs, threads)`, which may raise UnableError.
        distributions: what must be installed for it.
        entry: the function of the module.
        differentiates: whether it finds derivatives by itself.
    """

    name: str
    module: str
    distributions: tuple[str, ...]
    entry: str = "prepare"
    differentiates: bool = True


def as_arrays(found: Sequence[Any]) -> list[NDArray[Any]]:
    """What NumPy understands, as arrays."""
    return [np.asarray(each) for each in found]
