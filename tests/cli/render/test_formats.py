"""JSON, CSV, Markdown and plain lines."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

from agrad.cli.render.csv import csv_text
from agrad.cli.render.json import json_text, report_text
from agrad.cli.render.markdown import markdown_lines
from agrad.cli.render.plain import plain_lines
from agrad.engine.report import Report, Row

ROWS = [
    Row("x_1", 1, "1.0", "leaf", (), "float64", np.float64(1.0), True, True, None, np.float64(2.0)),
    Row("变", 2, "a | b\x1b", "add", (2,), "float64", np.array([1.0, np.nan]), True, False, "AddBackward0", None),
]


def test_json_is_strict_ascii_and_one_line_a_node() -> None:
    """The text parses back to the data."""
    data = {"a": 1, "nodes": [{"name": "θ"}, {"name": "y"}], "b": [], "c": [1, 2]}
    text = json_text(data)
    assert json.loads(text) == data
    assert text.isascii()
    assert text.count("\n") == 6


def test_a_report_is_written_as_its_data() -> None:
    """The text of a report is that of its data, whatever its nodes hold."""
    large = np.arange(2000.0)
    more = [
        Row('q"\\', None, "", "leaf", (), "float64", np.float64("nan"), True, True, None, np.float64("-inf")),
        Row("n", 3, "a < b", "lt", (), "bool", np.bool_(True), False, True, None, None),
        Row("c", 4, "1j", "leaf", (), "complex128", np.complex128(1j), False, True, None, None),
        Row("f", 5, "large", "mul", (2000,), "float64", large, True, False, "MulBackward0", large),
        Row("s", 6, "0.1", "leaf", (), "float32", np.float32(0.1), True, True, None, np.float32(1e-30)),
        Row("i", 7, "3", "leaf", (), "int64", 3, False, True, None, None),
    ]
    report = Report("a.txt", "cpu", "float64", ["x"], ["z"], [*ROWS, *more], {"z": 1.0}, {"x": np.float64(0.5)})
    for full in (False, True):
        assert report_text(report, full=full) == json_text(report.as_json(full=full))
    report.rows = []
    assert report_text(report, full=False) == json_text(report.as_json())


def test_csv_reads_back() -> None:
    """Arrays are in their JSON form, what does not exist is empty, escapes are escaped."""
    header, first, second = csv.reader(io.StringIO(csv_text(ROWS, full=False, ascii_only=False)))
    assert header == list(Row._fields)
    assert first == ["x_1", "1", "1.0", "leaf", "[]", "float64", "1.0", "true", "true", "", "2.0"]
    assert second[0] == "变"
    assert second[2] == "a | b\\x1b"
    assert json.loads(second[6]) == [1.0, "NaN"]
    assert second[10] == ""


def test_markdown_escapes_its_own_marks() -> None:
    """A bar in an expression does not begin a column, an underscore in a name no emphasis."""
    lines = markdown_lines(ROWS, full=False, ascii_only=False)
    assert lines[1].count("|") == 9
    assert "| x\\_1 |" in lines[2]
    assert "`a \\| b\\x1b`" in lines[3]
    assert all(line.replace("\\|", "").count("|") == 9 for line in lines)


def test_plain_lines_are_aligned() -> None:
    """Columns begin at the same place in each line, also after wide letters."""
    lines = plain_lines(ROWS, full=False, ascii_only=False)
    assert lines[1].index("1.0") == lines[0].index("expression")
    assert lines[2].index("a | b") + 1 == lines[0].index("expression")
    assert plain_lines(ROWS[:1], full=False, ascii_only=False)[1].split() == [
        "1", "x_1", "1.0", "1.0", "True", "True", "None", "2.0",
    ]  # fmt: skip
