"""CasADi: a Function of MX matrices, or of SX scalars for a Hessian, which it makes sparse and this makes dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import casadi

from .peer import Prepared, UnableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from works.work import Inputs, Work

MOST_GB: Final = 4


def prepare(work: Work, inputs: Inputs, threads: int) -> Prepared:  # noqa: ARG001  # it has one thread
    """Build the function of value and gradients."""
    floats = {name: array for name, array in inputs.items() if array.dtype.kind == "f"}
    if any(array.dtype != "float64" for array in floats.values()):
        raise UnableError("CasADi computes in float64 only")
    if "casadi" not in work.losses or any(array.ndim > 2 for array in floats.values()):
        raise UnableError("CasADi has no arrays of more than two axes")
    kind = casadi.SX if work.derivative == "hessian" else casadi.MX
    symbols = {name: kind.sym(name, *_matrix(array.shape)) for name, array in floats.items()}
    others = {name: array for name, array in inputs.items() if name not in floats}
    loss = work.losses["casadi"](casadi, **symbols, **others)
    given = [casadi.DM(array) for array in floats.values()]
    if work.derivative == "hessian":
        second = casadi.Function("second", list(symbols.values()), [casadi.hessian(loss, symbols[work.wrt[0]])[0]])
        return Prepared(lambda: [second.call(given)[0].full()], list)
    value = casadi.Function("value", list(symbols.values()), [loss], list(symbols), ["loss"])
    # All gradients of one reverse sweep.
    function = value.factory("function", list(symbols), ["loss", *[f"grad:loss:{name}" for name in work.wrt]])
    gigabytes = function.sz_w() * 8 / 2**30
    if gigabytes > MOST_GB:
        raise UnableError(f"CasADi would need {gigabytes:.0f} GB for what it computes on the way")
    shapes = [(), *[inputs[name].shape for name in work.wrt]]

    def arrays(found: Sequence[Any]) -> list[NDArray[np.generic]]:
        return [each.full().reshape(shape) for each, shape in zip(found, shapes, strict=True)]

    return Prepared(lambda: function.call(given), arrays)


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    return (1, 1) if not shape else (shape[0], 1) if len(shape) == 1 else (shape[0], shape[1])
