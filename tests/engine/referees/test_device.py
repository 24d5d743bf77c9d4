"""The CPU as a referee of a device's numbers: it takes roundings, and nothing more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.graph import Node, leaf, make
from agrad.engine.referees.device import Comparing, device_judgement
from agrad.engine.run.cpu import evaluate

RANDOM = np.random.default_rng(4)


def _judged(node: Node, change: Any) -> Any:
    value = evaluate([node])[node]
    return device_judgement({"z": node}, {node: np.asarray(change(np.array(value)), np.asarray(value).dtype)[()]})


def _graphs() -> dict[str, Node]:
    x = leaf(RANDOM.normal(size=1000))
    a = leaf(RANDOM.normal(size=(40, 40)))
    return {
        "tanh": make.tanh(x),
        "product": x * x,
        "sum": make.sum(make.exp(x)),
        "matmul": make.matmul(a, a),
        "single": make.sum(make.sin(leaf(RANDOM.normal(size=500).astype(np.float32)))),
    }


@pytest.mark.parametrize("name", ["tanh", "product", "sum", "matmul", "single"])
def test_equal_numbers_agree(name: str) -> None:
    """What the CPU gives itself has all its digits."""
    judgement = _judged(_graphs()[name], lambda value: value)
    assert judgement.verdict == "agree"
    assert judgement.digits >= (6 if name == "single" else 15)


@pytest.mark.parametrize("name", ["tanh", "sum", "matmul", "single"])
def test_a_rounding_agrees(name: str) -> None:
    """One unit in the last place is what another library may give."""
    assert _judged(_graphs()[name], lambda value: np.nextafter(value, np.inf)).verdict == "agree"


@pytest.mark.parametrize("name", ["tanh", "product", "sum", "matmul", "single"])
def test_a_wrong_digit_disagrees(name: str) -> None:
    """A relative error of a ten thousandth in one entry is told, with the entry and both numbers."""

    def planted(value: Any) -> Any:
        changed = np.atleast_1d(value).copy()
        changed.flat[-1] *= 1 + 1e-4
        return changed.reshape(np.shape(value))

    judgement = _judged(_graphs()[name], planted)
    assert judgement.verdict == "disagree"
    assert judgement.entry.startswith("z")
    assert "the device gives" in judgement.reason


def test_what_is_rounded_alike_must_be_equal_but_for_two_units() -> None:
    """A product that is off by ten units is wrong, while a sum with cancellation may be further off."""
    product = _graphs()["product"]
    assert _judged(product, lambda value: value * (1 + 1e-14)).verdict == "disagree"
    x = leaf(RANDOM.normal(size=1000))
    cancelled = make.sum(x) - make.sum(make.flip(x, (0,)))
    assert _judged(cancelled, lambda value: value + 1e-14).verdict == "agree"
    assert _judged(cancelled, lambda value: value + 1e-9).verdict == "disagree"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_another_kind_of_number_disagrees(value: float) -> None:
    """NaN or an infinity in the place of a number is never within a tolerance, nor the other way round."""
    assert _judged(_graphs()["tanh"], lambda found: np.where(np.arange(1000) == 7, value, found)).verdict == "disagree"
    infinite = make.exp(leaf(np.array([1000.0, 1.0])))
    assert _judged(infinite, lambda found: found).verdict == "agree"
    assert _judged(infinite, lambda found: np.where(np.isinf(found), 1e308, found)).verdict == "disagree"


def test_another_shape_dtype_or_truth_value_disagrees() -> None:
    """They are compared before the numbers."""
    x = leaf(np.arange(4.0))
    node = x < 2.0
    assert _judged(node, lambda found: found).verdict == "agree"
    assert _judged(node, lambda found: ~found).verdict == "disagree"
    assert device_judgement({"z": x}, {x: np.zeros(3)}).verdict == "disagree"


def test_what_is_too_large_cannot_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and is no agreement."""
    monkeypatch.setattr("agrad.engine.referees.device._LARGEST", 10)
    judgement = _judged(_graphs()["sum"], lambda value: value)
    assert judgement.verdict == "cannot judge"
    assert "more than 10 elements" in judgement.reason


def test_a_way_to_compute_is_remembered() -> None:
    """Everything that a device gave is judged afterwards."""
    x = leaf(np.ones(3))
    total = make.sum(x)
    comparing = Comparing(evaluate)
    assert comparing([total])[total] == 3.0
    assert comparing.judgement().verdict == "agree"
    wrong = Comparing(lambda nodes: {node: np.float64(4.0) for node in nodes})
    wrong([total])
    assert wrong.judgement().verdict == "disagree"
