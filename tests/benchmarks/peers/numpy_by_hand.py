"""NumPy, with derivatives that a person derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .peer import Prepared, as_arrays

if TYPE_CHECKING:
    from works.work import Inputs, Work


def prepare(work: Work, inputs: Inputs, threads: int) -> Prepared:  # noqa: ARG001  # its BLAS reads the environment
    """Nothing is to be prepared."""
    return Prepared(lambda: work.by_hand(**inputs), as_arrays)
