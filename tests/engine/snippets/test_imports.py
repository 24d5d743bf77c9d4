"""Imports: what is bound, under which name, and what is refused."""

from __future__ import annotations

import pytest

from agrad.engine.errors import Source
from agrad.engine.snippets import Limits, Streams, run_snippet
from agrad.engine.snippets.imports import importable


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("import torch", "torch.ones(1).item()"),
        ("import torch as t", "t.ones(1).item()"),
        ("import torch.nn.functional as F", "F.relu(one()).item()"),
        ("import torch.nn", "torch.ones(1).item()"),
        ("from torch import ones as one, nn", "one(1).item()"),
        ("from torch.autograd import grad, Variable", "Variable and 1.0"),
        ("import numpy as np", "float(np.ones(1)[0])"),
        ("from math import cos", "cos(0)"),
        ("from __future__ import annotations", "1.0"),
    ],
)
def test_bound_names(statement: str, value: str) -> None:
    """Each of the usual imports binds what notes use."""
    helper = "def one(n=1):\n    import torch\n    return torch.ones(n)\n"
    written = bytearray()
    code = run_snippet(Source(f"{helper}{statement}\nprint({value})\n"), Limits(), Streams(written.extend, print))
    assert (code, written.decode()) == (0, "1.0\n")


def test_nothing_is_imported_that_is_not_there() -> None:
    """A name that a namespace lacks is Python's error, which a script may catch."""
    written = bytearray()
    text = (
        "try:\n    from torch import nothing_like_it\nexcept ImportError as e:\n    print(e)\n"
        "try:\n    import torch.nothing\nexcept ModuleNotFoundError as e:\n    print(e)\n"
    )
    assert run_snippet(Source(text), Limits(), Streams(written.extend, print)) == 0
    assert written.decode() == "cannot import name 'nothing_like_it' from 'torch'\nNo module named 'torch.nothing'\n"


def test_refusals() -> None:
    """Modules that are not on the list, stars and private names are refused with a reason."""
    assert "network" in importable("socket", None, None)
    assert "one by one" in importable("torch", "*", None)
    assert "underscore" in importable("torch", "_C", None)
    assert importable("torch.nn", "functional", "F") == ""
