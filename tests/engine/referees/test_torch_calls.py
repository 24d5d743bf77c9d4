"""The table of PyTorch's calls, held to PyTorch's recorded names: `tests/data/torch_names.json`, from PyTorch 2.13."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import AgradError, Source
from agrad.engine.graph import LEAF, TABLE, Node, Op, ancestors
from agrad.engine.language import build
from agrad.engine.referees import torch_calls
from agrad.engine.referees.torch_calls import ABSENT, NAMED, WRITTEN

RECORD: Final[dict[str, list[str]]] = json.loads(
    (Path(__file__).parents[2] / "data" / "torch_names.json").read_text(encoding="utf-8")
)["functions"]
ROWS: Final = list({op.name: op for op in TABLE.values()}.values())

# Rows that only derivatives, or one composition that PyTorch has whole, are made of.
INNER: Final = {
    "bessel_i",
    "bessel_ie_derivative",
    "erfcx_derivative",
    "first_largest",
    "recurrence",
    "sinc_derivative",
    "spread",
}


def _missing(named: Any) -> list[str]:
    """What a table of names has that PyTorch does not."""
    found = []
    for row, (path, parameters) in named.items():
        if path not in RECORD:
            found.append(f"{row}: {path}")
        else:
            found += [f"{row}: {path}({name}=)" for name in parameters.values() if name not in RECORD[path]]
    return found


def _taken(source: str) -> set[str]:
    """The paths of names that are taken from a module called `t`, as far as they are functions of it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id in ("t", "f"):
            found.add(".".join((["nn", "functional"] if node.id == "f" else []) + parts))
    return found


def test_named_functions_and_parameters_are_torch_s() -> None:
    """Each function and each parameter of the table is in PyTorch's record."""
    assert _missing(NAMED) == []


def test_a_wrong_name_is_found() -> None:
    """A function or a parameter that PyTorch does not have is reported."""
    assert _missing({"exp": ("expp", {})}) == ["exp: expp"]
    assert _missing({"sum": ("sum", {"dim": "axes"})}) == ["sum: sum(axes=)"]


def test_functions_of_written_calls_are_torch_s() -> None:
    """Each function that a written call takes from PyTorch is in the record."""
    taken = _taken(inspect.getsource(torch_calls))
    modules = {"nn", "nn.functional", "linalg", "special", "fft"}
    assert len(taken) > 60
    assert {name for name in taken if name not in modules and name not in RECORD} == set()


def test_a_wrong_function_of_a_written_call_is_found() -> None:
    """The names are read from the source as they stand there."""
    assert _taken("lambda t: t.linalg.sovle(t.nn.functional.pad(f.relu))") >= {
        "linalg.sovle",
        "nn.functional.pad",
        "nn.functional.relu",
    }


def _is_primitive(op: Op) -> bool:
    return op.infer is not None and op.kernel is not None and op.family != "cotangent"


def test_every_row_has_a_call_or_a_reason() -> None:
    """A row that stands in graphs is called by one of the tables, or is listed as one that PyTorch lacks."""
    known = {*NAMED, *WRITTEN, *ABSENT, *INNER}
    assert sorted(op.name for op in ROWS if _is_primitive(op) and op.name not in known) == []
    assert sorted(known - {op.name for op in ROWS}) == []
    assert not set(NAMED) & set(WRITTEN)


def _graphs() -> list[list[Node]]:
    """The graph of every example of the table."""
    found = []
    for op in ROWS:
        for example in op.examples:
            rng = np.random.default_rng(0)
            inputs = {
                name: rng.uniform(*example.within.get(name, (-3.0, 3.0)), shape)
                for name, shape in example.inputs.items()
            }
            try:
                formulas = build(Source(f"out = {example.form}"), inputs=inputs)
            except AgradError as error:  # pragma: no cover  # the table's own tests say so
                pytest.fail(f"{example.form}: {error}")
            found.append(ancestors([formulas.names["out"]]))
    return found


def test_every_parameter_is_passed() -> None:
    """No example of the table has a node whose parameter the table of names leaves out."""
    nodes = [node for graph in _graphs() for node in graph if node.op is not LEAF and node.op.name in NAMED]
    assert len(nodes) > 500
    for node in nodes:
        unpassed = torch_calls.UNPASSED.get(node.op.name, frozenset())
        assert set(node.attrs) - unpassed <= set(NAMED[node.op.name][1]), node.op.name
