"""What stands under the table."""

from __future__ import annotations

import numpy as np

from agrad.cli.render.summary import result_lines, verdict_lines
from agrad.cli.screen import Screen
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.referees import Blame, Check, Judgement
from agrad.engine.report import Report, check_as_json

PLAIN = Screen()


def test_verdicts_stand_on_one_line() -> None:
    """Each referee with its digits; then the closed forms."""
    check = Check.of([Judgement("sympy", "agree", 16, forms={"x": "2*x"}), Judgement("mpmath", "agree", 15)])
    assert verdict_lines(check, ["z"], PLAIN) == ["sympy: agree, 16 digits   mpmath: agree, 15 digits", "dz/dx = 2*x"]
    assert verdict_lines(check, ["z", "w"], PLAIN)[1] == "d/dx = 2*x"


def test_disagreement_names_the_entry_and_the_reason() -> None:
    """Where a referee objects, the worst entry and why are there."""
    check = Check.of([Judgement("mpmath", "disagree", 2, reason="the slope is 3.0", entry="x[0, 1]")])
    assert verdict_lines(check, ["z"], PLAIN) == [
        "mpmath: disagree, 2 digits at x[0, 1]",
        "  mpmath: the slope is 3.0",
    ]
    assert "\x1b[31mdisagree" in verdict_lines(check, ["z"], Screen(colour=True))[0]


def test_the_worst_entry_is_named_where_digits_are_lost() -> None:
    """Fewer digits than float64 usually has are said with their place; of all digits no place matters."""
    check = Check.of([Judgement("sympy", "agree", 15, entry="x[0]"), Judgement("mpmath", "agree", 9, entry="x[1]")])
    assert verdict_lines(check, ["z"], PLAIN) == ["sympy: agree, 15 digits   mpmath: agree, 9 digits at x[1]"]


def test_the_op_that_is_to_blame_stands_with_its_line() -> None:
    """What is wrong with which op, and where it stands in the text, for people and as data."""
    source = Source("x = 0.5\nz = tanh(x)\n", "a.txt")
    node = build(source, wrt=["x"]).names["z"]
    check = Check("disagree", [], Blame(node, "rule", 0, "the derivative by argument 1 is 0.79, not 0.54"))
    assert verdict_lines(check, ["z"], PLAIN, source) == [
        "  to blame: the rule of tanh, line 2: the derivative by argument 1 is 0.79, not 0.54"
    ]
    assert verdict_lines(check, ["z"], PLAIN)[0].startswith("  to blame: the rule of tanh: ")
    assert check_as_json(check, source)["blame"] == {
        "op": "tanh",
        "fault": "rule",
        "argument": 0,
        "reason": "the derivative by argument 1 is 0.79, not 0.54",
        "line": 2,
        "column": 5,
    }
    assert check_as_json(check)["blame"]["line"] is None


def test_digits_of_each_entry_are_data() -> None:
    """As mpmath has counted them, nested as the gradients are."""
    counted = {"x": [16, 9], "y": 15}
    check = Check.of(
        [
            Judgement("sympy", "agree", 16, entries={"x": [16, 16], "y": 16}),
            Judgement("mpmath", "agree", 9, entries=counted),
        ]
    )
    assert check_as_json(check)["digits"] == counted


def test_closed_form_is_shown_only_where_it_holds() -> None:
    """At a kink SymPy's form is that of one side: neither text nor JSON show it."""
    check = Check.of([Judgement("sympy", "kink", reason="two branches meet", forms={"x": "-1"})])
    assert not any("dz/dx" in line for line in verdict_lines(check, ["z"], PLAIN))
    assert "forms" not in check_as_json(check)["referees"][0]
    agreed = Check.of([Judgement("sympy", "agree", 16, forms={"x": "2*x"})])
    assert check_as_json(agreed)["referees"][0]["forms"] == {"x": "2*x"}


def test_outputs_and_warnings() -> None:
    """Each output has a line, each warning too, with nothing in them that a terminal would obey."""
    report = Report("a", "cpu", "float64", [], ["z"], [], {"z": np.float64(2 / 3)}, {}, ["odd \x1b[31m name"])
    assert result_lines(report, PLAIN, full=False) == ["output  z = 0.666667", "warning: odd \\x1b[31m name"]
    assert result_lines(report, PLAIN, full=True)[0] == "output  z = 0.6666666666666666"
