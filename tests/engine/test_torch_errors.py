"""PyTorch's errors, warnings and results, row by row.

`data/torch_errors.json` was recorded from PyTorch 2.13 (CPU): the code, then the class and the text of what it raised,
the warnings, and the text of `res` where it raised nothing. `data/torch_errors_pending.json` names the rows that agrad
does not match: those of features that it does not have (`excepted`) and those to be done (`pending`), with the reasons.

`data/torch_argument_errors.json` was recorded in the same way: calls with arguments of a wrong type, number or size.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.eager.modes import State
from agrad.engine.eager.namespace import torch
from agrad.engine.printing.options import set_printoptions

DATA = Path(__file__).parents[1] / "data"
ROWS: list[dict[str, Any]] = json.loads((DATA / "torch_errors.json").read_text(encoding="utf-8"))
LISTED: dict[str, dict[str, str]] = json.loads((DATA / "torch_errors_pending.json").read_text(encoding="utf-8"))
ARGUMENTS: list[dict[str, Any]] = json.loads((DATA / "torch_argument_errors.json").read_text(encoding="utf-8"))
MISSING = {**LISTED["excepted"], **LISTED["pending"]}

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_TRACEBACK = re.compile(r"(Traceback of forward call that caused the error:).*", re.DOTALL)
_python_import = __import__


@pytest.fixture(autouse=True)
def switches() -> Iterator[None]:
    """Each row begins with PyTorch's default switches and leaves them behind."""
    kept = {name: getattr(State, name) for name in ("grad", "inference", "anomaly", "check_nan")}
    State.said.clear()
    yield
    State.said.clear()
    for name, value in kept.items():
        setattr(State, name, value)
    torch.set_default_dtype(torch.float32)
    set_printoptions(profile="default")


def imported(name: str, *args: Any, **keywords: Any) -> Any:
    """Python's import, with agrad's namespace in the place of PyTorch."""
    if name.partition(".")[0] != "torch":
        return _python_import(name, *args, **keywords)
    module: Any = torch
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    names = args[2] if len(args) > 2 else keywords.get("fromlist")
    return module if names else torch


def outcome(code: str) -> dict[str, Any]:
    """What a row's code does, in the form in which the rows record it."""
    builtins = {**vars(__import__("builtins")), "__import__": imported}
    names: dict[str, Any] = {
        "__builtins__": builtins,
        "torch": torch,
        "F": torch.nn.functional,
        "D": torch.float64,
        "np": np,
        "copy": copy,
        "io": io,
        "pickle": pickle,
    }
    found: dict[str, Any] = {"raised": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, names)  # noqa: S102  # the rows are recorded data of the tests
        except Exception as error:
            found.update(raised=type(error).__name__, message=str(error))
    if caught:
        found["warnings"] = [
            {"category": each.category.__name__, "message": comparable(str(each.message))} for each in caught
        ]
    if "res" in names and found["raised"] is None:
        found["result"] = _ADDRESS.sub("0x0", repr(names["res"]))
    return found


def comparable(message: str) -> str:
    """A warning without the places that it names."""
    return _TRACEBACK.sub(r"\1", message)


def expected(row: dict[str, Any]) -> dict[str, Any]:
    """What a row records, as `outcome` gives it."""
    wanted = {name: row[name] for name in ("raised", "message", "warnings", "result") if name in row}
    if "warnings" in wanted:
        wanted["warnings"] = [{**each, "message": comparable(each["message"])} for each in wanted["warnings"]]
    if "result" in wanted:
        wanted["result"] = _ADDRESS.sub("0x0", wanted["result"])
    return wanted


@pytest.mark.parametrize("row", [pytest.param(row, id=row["key"]) for row in ROWS])
def test_row(row: dict[str, Any]) -> None:
    """A row gives PyTorch's error, warnings and result; a row that is listed as missing does not."""
    found = outcome(row["code"])
    if row["key"] in MISSING:
        assert found != expected(row), "this row passes: take it off the list"
    else:
        assert found == expected(row)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["key"]) for row in ARGUMENTS])
def test_wrong_arguments(row: dict[str, Any]) -> None:
    """Arguments that a function does not take are refused in PyTorch's words."""
    assert outcome(row["code"]) == expected(row)


def test_how_many_match() -> None:
    """At least 240 of the 277 rows match; each of the others is listed with its reason."""
    assert set(MISSING) <= {row["key"] for row in ROWS}
    assert all(MISSING.values())
    assert not set(LISTED["excepted"]) & set(LISTED["pending"])
    assert len(ROWS) - len(MISSING) >= 240
