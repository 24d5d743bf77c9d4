"""HIPS autograd, on NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import autograd.numpy as anp
from autograd import hessian, value_and_grad

from .peer import Prepared, as_arrays

if TYPE_CHECKING:
    from works.work import Inputs, Work


def prepare(work: Work, inputs: Inputs, threads: int) -> Prepared:  # noqa: ARG001  # its BLAS reads the environment
    """It traces anew at each call."""
    others = {name: array for name, array in inputs.items() if name not in work.wrt}
    wrt = tuple(inputs[name] for name in work.wrt)

    def loss(*wrt: Any) -> Any:
        return work.losses["autograd"](anp, **dict(zip(work.wrt, wrt, strict=True)), **others)

    if work.derivative == "hessian":
        second = hessian(loss)
        return Prepared(lambda: [second(*wrt)], as_arrays)
    function = value_and_grad(loss, argnum=tuple(range(len(wrt))))

    def call() -> list[Any]:
        value, slopes = function(*wrt)
        return [value, *slopes]

    return Prepared(call, as_arrays)
