"""What the doctor says, as lines."""

from __future__ import annotations

import numpy as np

from agrad.cli.render.diagnosis import TOLD, diagnosis_lines
from agrad.cli.screen import Screen
from agrad.engine.doctor import Diagnosis
from agrad.engine.doctor.conventions import Elsewhere
from agrad.engine.doctor.finding import Finding
from agrad.engine.doctor.kinks import Choice, Kinked
from agrad.engine.doctor.trail import Place, Trail
from agrad.engine.errors import Source, Span

PLAIN = Screen()
KINKED = Kinked("abs", "abs(x)", 2, "0 at 0", Elsewhere("abs(0)", {"PyTorch": "0.0", "JAX": "1.0"}))
FINDING = Finding("value", "it is odd", "mend it", Span(10, 16), Source("x = 1\ny = log(x)\n", "a.txt"), ("a note",))


def test_a_kink() -> None:
    """Slopes, the interval between, the choice; then the convention and what others choose, each once."""
    diagnosis = Diagnosis([Choice(f"x[{n}]", -1.0, 1.0, 0.0, [KINKED]) for n in range(2)])
    assert diagnosis_lines(diagnosis, PLAIN) == [
        "kink  x[0]: slope -1.0 from the left, 1.0 from the right; between them lies [-1.0, 1.0], and 0.0 is chosen",
        "kink  x[1]: slope -1.0 from the left, 1.0 from the right; between them lies [-1.0, 1.0], and 0.0 is chosen",
        "      torch-2.13, abs in abs(x), line 2: 0 at 0",
        "      elsewhere, abs(0): PyTorch 0.0, JAX 1.0",
    ]


def test_many_kinks_are_counted() -> None:
    """After the first few, how many more there are."""
    diagnosis = Diagnosis([Choice(f"x[{n}]", 0.0, 1.0, 0.5, []) for n in range(TOLD + 3)])
    lines = diagnosis_lines(diagnosis, PLAIN)
    assert len(lines) == TOLD + 1
    assert lines[-1] == "      and 3 more like these"


def test_a_jump_has_nothing_between() -> None:
    """Where both slopes are one infinity the function jumps."""
    inf = float("inf")
    (line,) = diagnosis_lines(Diagnosis([Choice("x", inf, inf, 0.0, [])]), PLAIN)
    assert line == "kink  x: slope inf from the left, inf from the right; it jumps, and 0.0 is chosen"


def test_a_finding_has_its_carets_notes_and_hint() -> None:
    """As an error has, with the notes before the hint; what is repaired is a note, no warning."""
    assert diagnosis_lines(Diagnosis(findings=[FINDING]), PLAIN) == [
        "warning: a.txt:2:5: it is odd",
        "  | y = log(x)",
        "  |     ^^^^^^",
        "  a note",
        "  hint: mend it",
    ]
    repaired = Finding("repaired", "it is right", "", None, FINDING.source)
    assert diagnosis_lines(Diagnosis(findings=[repaired]), PLAIN) == ["note: it is right"]
    painted = diagnosis_lines(Diagnosis(findings=[FINDING, repaired]), Screen(colour=True))
    assert painted[0].startswith("\x1b[33mwarning:\x1b[0m a.txt")
    assert painted[-2:] == ["", "\x1b[36mnote:\x1b[0m it is right"]


def test_a_trail_stands_in_columns() -> None:
    """A line for each node, from the output to the leaf, and how many are left out in the middle."""
    value = np.float64(0.5)
    places = [Place("log(x)", 2, "log", value, value, np.float64("inf")), Place("x", None, "leaf", value, value, None)]
    assert diagnosis_lines(Diagnosis(trail=Trail("y", "x", places, 7), followed=True), PLAIN, anomaly=True) == [
        "anomaly: from y back to x, by the plain chain rule",
        "  line  expression  value  gradient  slope",
        "  2     log(x)      0.5    0.5       inf",
        "  ... 7 more ...",
        "        x           0.5    0.5       -",
    ]


def test_no_anomaly_is_said_where_it_was_asked_for() -> None:
    """Only then, and whether it could be looked for."""
    assert diagnosis_lines(Diagnosis(), PLAIN) == []
    assert diagnosis_lines(Diagnosis(followed=True), PLAIN, anomaly=True) == [
        "anomaly: none: every gradient is finite, by the plain chain rule too"
    ]
    assert diagnosis_lines(Diagnosis(), PLAIN, anomaly=True) == [
        "anomaly: not followed: the graph is too large, or nothing is differentiated"
    ]


def test_nothing_that_a_terminal_would_obey() -> None:
    """Texts and names are escaped; with ASCII alone, every other character too."""
    source = Source("é = 1 # \x1b[31m\n", "a\x1b.txt")
    odd = Finding("value", "odd \x1b[2J", "\x07", Span(0, 1), source, ("\x9b", "é"))
    kink = Choice("é\x1b", -1.0, 1.0, 0.0, [Kinked("abs", "é\x1b", 1, "0", None)])
    trail = Trail("é\x1b", "x", [Place("é\x1b", 1, "leaf", np.float64(1.0), None, None)], 0)
    for ascii_only in (False, True):
        lines = diagnosis_lines(Diagnosis([kink], [odd], trail), Screen(ascii_only=ascii_only), anomaly=True)
        assert all(line.isprintable() for line in lines)
        assert all(line.isascii() for line in lines) is ascii_only
