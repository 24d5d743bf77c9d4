"""The single real numbers of a gradient: read, written and named."""

from __future__ import annotations

import numpy as np

from agrad.engine.graph import leaf
from agrad.engine.limits.places import are_finite, places


def test_entries_and_parts() -> None:
    """Of a real node each entry is one, of a complex node each has two parts."""
    real = leaf(np.array([[1.0, 2.0]]), requires_grad=True)
    assert [place.label for place in places("x", real)] == ["x[0, 0]", "x[0, 1]"]
    plane = leaf(np.complex128(3 - 4j), requires_grad=True)
    assert [place.label for place in places("c", plane)] == ["c.real", "c.imag"]
    assert [place.at({plane: np.array(3 - 4j)}) for place in places("c", plane)] == ["c.real = 3.0", "c.imag = -4.0"]


def test_one_part_is_written_alone() -> None:
    """The other part stays as it is, and an infinite one does not turn it into NaN."""
    node = leaf(np.array([1j, 2.0]), requires_grad=True)
    numbers = np.array([complex(1.0, np.nan), 5.0])
    first, second, *_ = places("c", node)
    second.put(numbers, np.inf)
    assert first.of(numbers) == 1.0
    assert second.of(numbers) == np.inf
    first.put(numbers, -2.0)
    assert (numbers[0].real, numbers[0].imag, numbers[1]) == (-2.0, np.inf, 5.0)


def test_finite_gradients() -> None:
    """One part that is not finite is enough."""
    assert are_finite({"x": 1.0, "c": np.array([1j])})
    assert not are_finite({"x": 1.0, "c": np.array([complex(0, np.nan)])})
