"""Reports, checks and errors as JSON-ready data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from agrad.engine.errors import InputError, SeveralErrors, Source, Span
from agrad.engine.report import Report, Row, check_as_json, error_as_json


def report(**changes: Any) -> Report:
    """A small report."""
    row = Row("z", 3, "x**2 + y", "add", (), "float64", np.float64(3.0), True, False, "AddBackward0", None)
    fields: dict[str, Any] = {
        "file": "a.txt",
        "device": "cpu",
        "dtype": "float64",
        "wrt": ["x"],
        "outputs": ["z"],
        "rows": [row],
        "values": {"z": np.float64(3.0)},
        "gradients": {"x": np.float64(2.0)},
    }
    return Report(**fields | changes)


def test_report_has_the_keys_that_programs_rely_on() -> None:
    """The JSON of a run is that of the documented example."""
    data = report().as_json()
    assert list(data) == [
        "schema_version", "file", "device", "dtype", "wrt", "outputs", "values", "gradients",
        "nodes", "check", "warnings",
    ]  # fmt: skip
    assert data["schema_version"] == 1
    assert data["nodes"] == [
        {
            "name": "z",
            "line": 3,
            "expression": "x**2 + y",
            "op": "add",
            "shape": [],
            "dtype": "float64",
            "value": 3.0,
            "requires_grad": True,
            "is_leaf": False,
            "grad_fn": "AddBackward0",
            "grad": None,
        }
    ]
    assert data["check"] == {"verdict": "skipped", "referees": [], "digits": {}, "blame": None}
    json.dumps(data, allow_nan=False)


def test_skipped_check_is_no_agreement() -> None:
    """Where nobody was asked the verdict says so."""
    assert check_as_json(None)["verdict"] == "skipped"


def test_error_has_its_place() -> None:
    """An error with a span has file, line and column; one without has nulls."""
    error = InputError("wrong", hint="write right", spans=(Span(6, 9),))
    error.source = Source("x = 1\nyyy = 2\n", "a.txt")
    assert error_as_json(error) == {
        "schema_version": 1,
        "error": {
            "code": "input", "message": "wrong", "file": "a.txt", "line": 2, "column": 1, "hint": "write right",
        },
    }  # fmt: skip
    assert error_as_json(InputError("wrong"))["error"]["line"] is None


def test_several_errors_are_all_there() -> None:
    """The first is `error`, and all are `errors`."""
    data = error_as_json(SeveralErrors([InputError("one"), InputError("two")]))
    assert data["error"]["message"] == "one"
    assert [entry["message"] for entry in data["errors"]] == ["one", "two"]
