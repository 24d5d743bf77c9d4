"""Memory and errors: what does not fit or has no value is told as on the CPU, and the device goes on working."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agrad.engine.errors import AgradError, InputError, LimitError
from agrad.engine.graph import leaf, make
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.program import device_program

from .cases import of_text
from .check import Check


def checks(executor: Executor, scale: float) -> Iterator[Check]:
    """Each fault as a check."""

    def too_large() -> tuple[bool, dict[str, Any]]:
        row = make.expand(leaf(np.ones((1, 1))), (40_000, 40_000))
        nodes = [make.tanh(row * float(number)) for number in range(2, 18)]
        program = device_program(nodes)
        error = _error(lambda: executor.run(program))
        return isinstance(error, LimitError), {"estimate": program.peak, "told": str(error)}

    def singular(text: str, matrix: Any) -> tuple[bool, dict[str, Any]]:
        graph = of_text("singular", text, {"a": matrix})
        error = _error(lambda: executor.evaluate(graph.targets.values()))
        return isinstance(error, InputError), {"told": str(error)}

    def goes_on() -> tuple[bool, dict[str, Any]]:
        graph = of_text("afterwards", "z = sum(x * x)", {"x": np.arange(5.0)})
        found = executor.evaluate(graph.targets.values())
        return bool(found[graph.targets["value"]] == 30.0), {}

    def subnormal() -> tuple[bool, dict[str, Any]]:
        graph = of_text("subnormal", "z = x * 0.5", {"x": np.full(5, 1e-40)}, "float32")
        found = executor.evaluate([graph.targets["value"]])[graph.targets["value"]]
        return bool((found == np.float32(1e-40) * np.float32(0.5)).all()), {"found": found.tolist()}

    def pieces() -> tuple[bool, dict[str, Any]]:
        x = np.random.default_rng(1).normal(size=max(200_003, int(9_000_011 * scale)))
        graph = of_text("pieces", "z = sum(x * x)", {"x": x})
        found = executor.evaluate(graph.targets.values())
        return bool(np.array_equal(found[graph.targets["dx"]], 2 * x)), {"bytes": x.nbytes}

    yield Check("a graph that does not fit", too_large)
    yield Check("solve with a singular matrix", lambda: singular("z = sum(solve(a, ones(2)))", np.zeros((2, 2))))
    yield Check("cholesky of no definite matrix", lambda: singular("z = sum(cholesky(a))", -np.eye(2)))
    yield Check("subnormal numbers are kept", subnormal)
    yield Check("a large input goes up in pieces", pieces)
    yield Check("the device works afterwards", goes_on)


def _error(call: Callable[[], Any]) -> AgradError | None:
    try:
        call()
    except AgradError as error:
        return error
    return None
