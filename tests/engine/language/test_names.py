"""Functions under their prefixes, constants, dtypes, and the nearest names."""

from __future__ import annotations

import math

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.graph import TABLE
from agrad.engine.language import names


@pytest.mark.parametrize(
    "path",
    [
        *("sum", "torch.sum", "np.sum", "jnp.sum", "numpy.sum", "torch.special.expit", "scipy.special.expit"),
        *("np.linalg.norm", "torch.linalg.norm", "linalg.norm", "torch.nn.functional.relu", "F.relu"),
        *("nn.functional.relu", "math.sqrt"),
    ],
)
def test_prefixes_lead_to_the_rows(path: str) -> None:
    """A function is found under every prefix that libraries have for it."""
    found = names.function(tuple(path.split(".")))
    assert found is not None
    assert found[1] == path.startswith(("np.", "numpy.", "jnp."))


def test_a_module_has_its_own_row_where_the_names_differ() -> None:
    """`torch.linalg.norm` is not `torch.norm`."""
    plain, module = names.function(("torch", "norm")), names.function(("torch", "linalg", "norm"))
    assert plain is not None
    assert module is not None
    assert plain[0] is TABLE["norm"]
    assert module[0] is TABLE["linalg.norm"]


def test_rows_that_only_rules_use_cannot_be_called() -> None:
    """A row without a calling form is neither found nor suggested."""
    hidden = [name for name, op in TABLE.items() if not op.forms]
    assert "flow" in hidden
    for name in hidden:
        assert names.row(name) is None
        assert name not in names.method_names()
    assert "flow" not in names.function_names()


def test_constants_and_dtypes() -> None:
    """Bare and under a prefix."""
    assert names.static(("pi",)) == math.pi
    assert names.static(("np", "inf")) == math.inf
    assert names.static(("torch", "float32")) == np.dtype("float32")
    assert names.static(("None",)) is None
    for path in (("tau",), ("foo",), ("torch", "foo")):
        with pytest.raises(KeyError):
            names.static(path)


def test_the_nearest_names_are_suggested() -> None:
    """At most three, best first; none where none is near."""
    assert names.nearest("sinn", ["sin", "cos"]) == "did you mean sin?"
    assert names.nearest("Sum", ["sum"]) == "did you mean sum?"
    assert names.nearest("qwerty", ["sin", "cos"]) == ""
