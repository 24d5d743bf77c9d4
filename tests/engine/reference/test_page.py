"""The reference of the ops: rules as text, forms with their grad_fn, examples with numbers, names and spellings."""

from __future__ import annotations

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, Op
from agrad.engine.ops.departures import DEPARTURES
from agrad.engine.reference.page import HIDDEN, named, reference, rows

ROWS = rows()


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS])
def test_every_row_has_an_entry(op: Op) -> None:
    """A rule that can be printed, an example with finite inputs and its numbers, and a grad_fn where one is made."""
    entry = reference(op)
    assert entry.rule
    assert all(line.isprintable() for line in entry.rule)
    assert entry.example is not None
    assert entry.example.values
    assert all(np.isfinite(value).all() for value in entry.example.inputs.values())
    if entry.orders and op.family not in ("creation", "derivative", "complex"):
        assert entry.example.gradients or len(entry.example.values) > 1 or entry.rule[0].startswith("none")
    assert bool(entry.grad_fns) or not op.grad_fn or not op.differentiable or op.family == "creation"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("log1p", ["d/dx log1p(x) = 1 / (1 + x)"]),
        ("mul", ["d/dx (x * y) = y", "d/dy (x * y) = x"]),
        ("pow", ["d/dx (x**y) = y * x**(y - 1)"]),
        ("sigmoid", ["d/dx sigmoid(x) = sigmoid(x) * sigmoid(-x)"]),
        ("where", ["grad(x) = where(condition, g, 0.0)", "grad(y) = where(condition, 0.0, g)"]),
        ("matmul", ["grad(A) = g @ permute(B, (1, 0))", "grad(B) = permute(A, (1, 0)) @ g"]),
        ("mm", ["out = A @ B", "grad(A) = g @ permute(B, (1, 0))", "grad(B) = permute(A, (1, 0)) @ g"]),
        ("cat", ["grad(x) = g[:3]", "grad(y) = g[3:]"]),
        ("floor_divide", ["none: asking for a gradient through it is an error"]),
        ("ones", ["none: a leaf has no inputs"]),
        ("detach", ["none: nothing flows back through the result"]),
    ],
)
def test_rules_are_read_off_the_table(name: str, rule: list[str]) -> None:
    """Slopes of elementwise rows, cotangents of others, definitions of rows that join others."""
    assert list(reference(TABLE[name]).rule)[: len(rule)] == rule


def test_an_entry() -> None:
    """Forms with the grad_fn of each, parameters with defaults, the example's numbers."""
    entry = reference(TABLE["remainder"])
    assert dict(entry.forms)["x % y"] == "RemainderBackward1"
    assert dict(entry.forms)["x % 0.25"] == "RemainderBackward0"
    assert ("dim", "an integer or None", "None") in reference(TABLE["softmax"]).parameters
    assert ("*sizes", "integers", None) in reference(TABLE["reshape"]).parameters
    example = reference(TABLE["square"]).example
    assert example is not None
    np.testing.assert_allclose(example.values["out"], example.inputs["x"] ** 2)
    np.testing.assert_allclose(example.gradients["x"], 2 * example.inputs["x"])
    assert example.command.startswith('agrad eval -e "out = ')


def test_helpers_are_explained() -> None:
    """What a rule calls and nobody else can is told in a sentence."""
    assert [name for name, _ in reference(TABLE["asin"]).helpers] == ["one_minus_square"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("log1p", "log1p"),
        ("torch.log1p", "log1p"),
        ("np.absolute", "abs"),
        ("F.relu", "relu"),
        ("torch.nn.functional.relu", "relu"),
        ("x.sum", "sum"),
        ("Tensor.sum()", "sum"),
        ("torch.linalg.solve", "linalg.solve"),
        ("linalg.solve", "linalg.solve"),
        ("**", "pow"),
        ("@", "matmul"),
        ("*", "mul"),
        ("max.values", "max.values"),
        ("flow", "flow"),
    ],
)
def test_spellings(spelling: str, name: str) -> None:
    """Aliases, prefixes, methods and operators all lead to the row."""
    assert named(spelling).name == name


@pytest.mark.parametrize(("name", "hint"), [("sofmax", "softmax"), ("torch.sgmoid", "sigmoid"), ("zzz", "agrad ops")])
def test_unknown_names(name: str, hint: str) -> None:
    """A name that is nobody's is answered with the nearest."""
    with pytest.raises(InputError, match=f"there is no op {name}") as caught:
        named(name)
    assert hint in caught.value.hint


def test_rows_are_chosen() -> None:
    """By family, by words; those that only rules call are shown when asked for."""
    assert {op.family for op in rows(family="scan")} == {"scan"}
    assert "cross_entropy" in [op.name for op in rows(search="cross entropy")] or rows(search="cross_entropy")
    assert rows(search="no such words at all") == []
    assert not [op for op in ROWS if op.family == HIDDEN]
    assert [op for op in rows(hidden=True) if op.family == HIDDEN] == rows(family=HIDDEN)
    with pytest.raises(InputError, match="no family lnalg") as caught:
        rows(family="lnalg")
    assert "linalg" in caught.value.hint


def test_departures_stand_with_their_rows() -> None:
    """Each point where agrad's gradient is not PyTorch's is told in the entry of an op that exists."""
    told = [departure for op in ROWS for departure in reference(op).departures]
    assert sorted(told) == sorted(DEPARTURES)
