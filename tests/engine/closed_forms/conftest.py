"""Derivatives of a text in closed form, derived in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.closed_forms.child import handle
from agrad.engine.closed_forms.request import Derived, Wanted, asked, fill_in, request
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.worker.budget import Budget

Derive = Callable[..., Derived]


def derived(
    text: str,
    *,
    order: int = 1,
    wrt: list[str] | None = None,
    formats: tuple[str, ...] = ("text",),
    simplify: bool = True,
    factor: float = 1.0,
    operations: int = 200_000,
    **inputs: Any,
) -> Derived:
    """The derivatives of the last name of a text.

    Args:
        text: a text, or the expression of one line.
        order, wrt, formats, simplify: as the options of the same names.
        factor: what agrad's numbers are multiplied by before they are compared: a planted fault.
        operations: the worker's budget.
        inputs: values of inputs.
    """
    formulas = build(Source(text if "=" in text else f"z = {text}"), inputs=inputs, wrt=wrt)
    outputs = {formulas.last: formulas.names[formulas.last]}
    found = asked(formulas, outputs, order)
    for derivative in found.derivatives:
        derivative.number *= factor
    wanted = Wanted(formats, order, simplify)
    sent = json.loads(json.dumps(request(formulas, outputs, found, wanted)))
    fill_in(found, json.loads(json.dumps(list(handle(sent, Budget(operations, 60.0))))), 60.0)
    return found


@pytest.fixture
def derive() -> Derive:
    """Derives a text."""
    return derived
