"""Derivatives of higher order at singular points: what cannot be looked at."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.limits import Block, blocks, repaired_blocks
from agrad.engine.referees.case import CannotJudge


def look() -> tuple[np.ndarray, list[str]]:
    """A second derivative of x**2 at 0 that is given wrong, after the look at it."""
    formulas = build(Source("x = 0.0\nz = x**2"))
    numbers = np.array(3.0)
    found = repaired_blocks("z", formulas.names["z"], dict(formulas.wrt), [Block(("x", "x"), numbers)])
    return numbers, found


def test_a_wrong_number_is_put_right() -> None:
    """The second derivative is 2, from both sides."""
    numbers, warnings = look()
    assert numbers == 2.0
    assert warnings == [
        "the derivative of z by x and x: the chain rule over float64 gives 3.0 here; the derivative is 2.0, from "
        "50-digit quotients"
    ]


def test_a_look_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside of a formula is told, and the numbers stay; that nothing can be judged needs no word."""

    def raising(error: Exception) -> object:
        def fail(*_: object) -> None:
            raise error

        return fail

    monkeypatch.setattr(blocks, "Slopes", raising(TypeError("no such number")))
    numbers, warnings = look()
    assert numbers == 3.0
    assert warnings == [
        "a closer look at the derivatives of z failed (TypeError: no such number): its numbers are float64's, as they "
        "are"
    ]
    monkeypatch.setattr(blocks, "Slopes", raising(CannotJudge("there is no formula")))
    assert look()[1] == []
