"""Values as strict JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from agrad.engine.files.json_data import json_value, summary


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3.0, 3.0),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), 0.1),
        (np.float32([0.1, 1e30]), [0.1, 1e30]),
        (float("nan"), "NaN"),
        (np.array([np.inf, -np.inf, 1.0]), ["Infinity", "-Infinity", 1.0]),
        (np.array([[1.0], [np.nan]]), [[1.0], ["NaN"]]),
        (2, 2),
        (True, True),
        (np.bool_(True), True),
        (np.int64(7), 7),
        (np.array([], np.float64), []),
        (1 + 2j, {"real": 1.0, "imag": 2.0}),
        (np.array([1j, complex("nan")]), {"real": [0.0, "NaN"], "imag": [1.0, 0.0]}),
    ],
)
def test_values_are_strict_json(value: Any, expected: Any) -> None:
    """Non-finite floats are words, complex numbers come by parts, float32 is as short as it can be."""
    found = json_value(value)
    assert found == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == expected


def test_large_arrays_are_summarised() -> None:
    """Above 1000 elements the shape, statistics of the finite elements and the ends stand for the array."""
    array = np.arange(1001.0)
    array[3] = np.nan
    found = json_value(array.reshape(7, 143))
    assert list(found) == ["shape", "dtype", "min", "max", "mean", "norm", "nonfinite", "head", "tail"]
    assert found["shape"] == [7, 143]
    assert (found["min"], found["max"], found["nonfinite"]) == (0.0, 1000.0, 1)
    assert found["mean"] == pytest.approx((500500 - 3) / 1000)
    assert found["head"] == [0.0, 1.0, 2.0, "NaN", 4.0]
    assert found["tail"][-1] == 1000.0
    assert json_value(array, full=True)[4] == 4.0
    assert isinstance(json_value(array[:1000]), list)


def test_summary_neither_overflows_nor_vanishes() -> None:
    """The norm of huge and of tiny elements is right."""
    assert summary(np.full(1200, 1e200))["norm"] == pytest.approx(1e200 * np.sqrt(1200))
    assert summary(np.full(1200, 1e-200))["norm"] == pytest.approx(1e-200 * np.sqrt(1200))
    assert summary(np.full(1200, 1e308))["mean"] == pytest.approx(1e308)
    assert summary(np.full(1200, np.nan))["mean"] is None
    assert summary(np.full(1200, 3 + 4j))["min"] is None


def test_many_rows_without_elements_are_summarised() -> None:
    """An array of more empty rows than are written is told by its shape, of fewer by nested lists."""
    assert json_value(np.zeros((2, 0))) == [[], []]
    told = json_value(np.zeros((70000, 0)))
    assert told["shape"] == [70000, 0]
    assert told["head"] == []
    assert json_value(np.zeros((0, 70000))) == []
    assert len(json_value(np.zeros((2000, 0)), full=True)) == 2000
