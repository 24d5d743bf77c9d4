"""BLAS on one thread inside of blocks, and as it was afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.conditions import Conditions, under
from agrad.engine.graph import TABLE, leaf
from agrad.engine.run import blas, blocks
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import make_plan


class Recorded:
    """Stands for the functions of a library; notes what is set."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.noted: list[int] = []

    def get(self) -> int:
        """How many threads there are."""
        return self.count

    def set(self, count: int) -> None:
        """Set how many threads there are."""
        self.count = count
        self.noted.append(count)


def test_threads_are_one_inside_and_as_before_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number is set to 1, and back, also after an error; where it is 1 already nothing is done."""
    library = Recorded(4)
    monkeypatch.setattr(blas, "_threads", lambda: library)
    with pytest.raises(ZeroDivisionError), blas.one_thread():
        _ = 1 / 0
    assert library.noted == [1, 4]
    with blas.one_thread(), blas.one_thread():
        pass
    assert library.noted == [1, 4, 1, 4]
    monkeypatch.setattr(blas, "_threads", lambda: None)
    with blas.one_thread():
        pass


def test_products_in_blocks_use_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with a product of its rows, on several workers, sets BLAS to one thread; others leave it alone."""
    library = Recorded(2)
    monkeypatch.setattr(blas, "_threads", lambda: library)
    monkeypatch.setattr(blocks, "WORKING_BYTES", 10_000)
    monkeypatch.setattr(blocks, "LONG", 1)
    x = leaf(np.random.default_rng(0).random((4000, 20)))
    with under(Conditions(workers=2)):
        run(make_plan([TABLE["exp"](x)]))
        assert library.noted == []
        run(make_plan([TABLE["exp"](TABLE["matmul"](x, leaf(np.ones(20))) * 0.1)]))
    assert library.noted == [1, 2]


class Interrupted(Recorded):
    """A library whose setting of threads is interrupted right after it."""

    def set(self, count: int) -> None:
        """Set how many threads there are, and be interrupted the first time."""
        super().set(count)
        if len(self.noted) == 1:
            raise KeyboardInterrupt


def test_an_interrupt_leaves_the_threads_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that comes just when they have been set."""
    library = Interrupted(4)
    monkeypatch.setattr(blas, "_threads", lambda: library)
    with pytest.raises(KeyboardInterrupt), blas.one_thread():
        pass
    assert library.count == 4
