"""Which derivatives are asked for, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.closed_forms.request import Derived
from agrad.engine.errors import InputError, LimitError, NoGradientError

Derive = Callable[..., Derived]


def test_every_entry_of_a_vector_is_an_output(derive: Derive) -> None:
    """The Jacobian of a vector has an entry for each pair, most of them 0 here."""
    found = derive("x**2", x=[1.0, 2.0])
    assert [(each.output, each.by[0], each.number) for each in found.derivatives] == [
        (("z", (0,)), ("x", (0,)), 2.0),
        (("z", (0,)), ("x", (1,)), 0.0),
        (("z", (1,)), ("x", (0,)), 0.0),
        (("z", (1,)), ("x", (1,)), 4.0),
    ]
    assert [each.is_zero for each in found.derivatives] == [False, True, True, False]


@pytest.mark.parametrize(
    ("text", "more", "error", "words"),
    [
        ("sum(x)", {"x": np.ones(300).tolist()}, LimitError, "x has 300 entries: closed forms are written for at most"),
        ("x * y", {"x": np.ones(30).tolist(), "y": 2.0}, LimitError, "930 derivatives: at most 400"),
        ("sum(x)", {"x": np.ones(40).tolist(), "order": 2}, LimitError, "860 derivatives: at most 400"),
        ("h = x**2\nz = h*x", {"x": 2.0, "wrt": ["h", "x"], "order": 2}, InputError, "which is no leaf"),
        ("real(z0 * z0)", {"z0": 1.0 + 2.0j}, InputError, "closed forms are of real numbers"),
        ("z = detach(x)", {"x": 2.0}, NoGradientError, "does not require grad"),
    ],
)
def test_what_is_refused(derive: Derive, text: str, more: dict[str, Any], error: type[Exception], words: str) -> None:
    """Too many entries, too many derivatives, and what has none are errors that say so."""
    with pytest.raises(error, match=words):
        derive(text, **more)


def test_a_node_inside_has_a_second_derivative_alone(derive: Derive) -> None:
    """By one node inside of the graph any order can be asked for."""
    found = derive("h = x**2\nz = h**3", wrt=["h"], order=2, x=2.0)
    assert [each.written["text"] for each in found.derivatives] == ["3*h**2", "6*h"]
    assert [each.verdict for each in found.derivatives] == ["agree", "agree"]
