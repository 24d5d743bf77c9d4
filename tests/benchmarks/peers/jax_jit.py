"""JAX, compiled by jit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from .peer import Prepared, as_arrays

if TYPE_CHECKING:
    from works.work import Inputs, Work

jax.config.update("jax_enable_x64", True)


def prepare(work: Work, inputs: Inputs, threads: int) -> Prepared:  # noqa: ARG001  # as many as cores are allowed
    """Trace; the first call compiles."""
    arrays = {name: jax.device_put(array) for name, array in inputs.items()}
    wrt = [arrays[name] for name in work.wrt]
    others = {name: array for name, array in arrays.items() if name not in work.wrt}

    def loss(wrt: list[Any], others: dict[str, Any]) -> Any:
        return work.losses["jax"](jnp, **dict(zip(work.wrt, wrt, strict=True)), **others)

    if work.derivative == "hessian":
        hessian = jax.jit(jax.hessian(lambda x: loss([x], {})))
        return Prepared(lambda: [jax.block_until_ready(hessian(wrt[0]))], as_arrays)
    function = jax.jit(jax.value_and_grad(loss))

    def call() -> list[Any]:
        value, slopes = jax.block_until_ready(function(wrt, others))
        return [value, *slopes]

    return Prepared(call, as_arrays)
