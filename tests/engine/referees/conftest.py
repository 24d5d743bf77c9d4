"""Cases for the referees, from formulas as a person writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import leaf
from agrad.engine.language import build
from agrad.engine.referees import Case
from agrad.engine.run.cpu import evaluate

MakeCase = Callable[..., Case]


def case_of(text: str, *, wrt: list[str] | None = None, dtype: str = "float64", **inputs: Any) -> Case:
    """The gradient of a formula (or of the last name of several lines) as agrad gives it, with cotangents of one."""
    formulas = build(Source(text if "=" in text else f"z = {text}"), inputs=inputs, wrt=wrt, dtype=np.dtype(dtype))
    output = formulas.names[formulas.last]
    cotangent = np.ones(output.shape, output.dtype)[()]
    found = gradients([output], [leaf(cotangent)])
    values = evaluate([found[node] for node in formulas.wrt.values() if node in found])
    given = {name: values[found[node]] for name, node in formulas.wrt.items() if node in found}
    return Case([output], [cotangent], dict(formulas.wrt), given)


@pytest.fixture
def make_case() -> MakeCase:
    """Makes a case of a formula."""
    return case_of
