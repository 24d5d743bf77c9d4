"""`agrad check`, called in this process."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import agrad.engine.ops  # fills the table
from agrad.cli.main import agrad
from agrad.engine.graph import TABLE
from agrad.engine.referees import Case, Check, Judgement

RIGHT = "x = 1.5\nz = x**2 + 1\n"
VECTOR = "x = [1.0, 2.0]\ny = x**3\n"
WRONG = "x = 2.0\nz = x**2\nz = x +\n"


def run(*arguments: str, text: str | None = None) -> Result:
    """One run."""
    return CliRunner().invoke(agrad, ["check", *arguments], input=text)


def data(*arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON of a run."""
    result = run("--format", "json", *arguments)
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout, parse_constant=pytest.fail)
    return found


def verdicts(found: dict[str, Any]) -> list[list[str]]:
    """The verdicts of each file."""
    return [[finding["verdict"] for finding in file["findings"]] for file in found["files"]]


class Kind:
    """Judges that find what the names say: an output called `bad` disagrees, `bend` is a kink, `odd` is not judged."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def check(self, case: Case) -> Check:
        """The check of a case."""
        name = case.outputs[0].name or ""
        verdict: Any = {"bad": "disagree", "bend": "kink", "odd": "cannot judge"}.get(name, "agree")
        return Check.of([Judgement("mpmath", verdict, 15 if verdict == "agree" else None, None)])

    def claims(self, formulas: Any) -> list[Any]:  # noqa: ARG002  # as the real ones
        """None."""
        return []

    def end(self) -> None:
        """Nothing was started."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes: judges that decide by the name of the output."""
    monkeypatch.setattr("agrad.cli.checking.Judges", Kind)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(**texts: str) -> None:
    """Write files: `a="..."` is a.txt."""
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text)


@pytest.mark.usefixtures("folder")
def test_real_referees_agree() -> None:
    """Each result of each file is judged by all three referees, also where it is no single number."""
    put(a=RIGHT, b=VECTOR + "s = sum(x)\n")
    found = data("a.txt", "b.txt")
    assert verdicts(found) == [["agree"], ["agree", "agree"]]
    (finding,) = found["files"][0]["findings"]
    assert {each["name"]: each["verdict"] for each in finding["check"]["referees"]} == dict.fromkeys(
        ("sympy", "mpmath", "differences"), "agree"
    )
    assert finding["digits"] >= 15
    assert [finding["file"], finding["line"], finding["column"]] == ["a.txt", 2, 1]
    assert found["summary"]["words"] == "2 files: 3 gradients agree"


@pytest.mark.usefixtures("folder")
def test_only_the_referees_that_are_named() -> None:
    """With --referee nobody else is asked."""
    put(a=RIGHT)
    (finding,) = data("a.txt", "--referee", "mpmath", "--referee", "mpmath")["files"][0]["findings"]
    assert [each["name"] for each in finding["check"]["referees"]] == ["mpmath"]


@pytest.mark.usefixtures("folder")
def test_a_kink_is_told_and_fails_where_it_must() -> None:
    """The verdict at a kink is `kink`: no failure, unless kinks are to be strict."""
    put(a="x = 0.0\nz = abs(x)\n")
    result = run("a.txt")
    assert result.exit_code == 0
    assert re.search(r"^  2  kink.*  d\(z\)/d\(x\)", result.stdout, re.MULTILINE)
    assert run("a.txt", "--strict-kinks").exit_code == 1


@pytest.mark.usefixtures("folder", "quick")
def test_the_table() -> None:
    """A line for each finding under its file, and the summary."""
    put(a="x = 1.0\nz = x**2\nbad = x**3\nbend = x\nodd = x + 1\n")
    result = run("a.txt")
    assert result.exit_code == 1
    assert result.stdout == (
        "a.txt\n"
        "  2  agree, 15 digits  d(z)/d(x)\n"
        "  3  disagree          d(bad)/d(x)\n"
        "    a.txt:3:1: disagree\n"
        "      | bad = x**3\n"
        "      | ^^^^^^^^^^\n"
        "    mpmath: disagree\n"
        "  5  cannot judge      d(odd)/d(x)\n"
        "    mpmath: cannot judge\n"
        "\n"
        "1 file: 1 gradient agrees, 1 gradient disagrees, 1 cannot be judged\n"
    )


@pytest.mark.usefixtures("folder", "quick")
def test_exit_codes() -> None:
    """A disagreement exits 1 before an input that is wrong 2; what cannot be judged exits 0 unless it is strict."""
    put(good=RIGHT, bad="x = 1.0\nbad = x**2\n", broken=WRONG, odd="x = 1.0\nodd = x**2\n")
    assert run("good.txt").exit_code == 0
    assert run("good.txt", "bad.txt", "broken.txt").exit_code == 1
    assert run("good.txt", "broken.txt", "none.txt").exit_code == 2
    assert run("odd.txt").exit_code == 0
    assert run("odd.txt", "--strict").exit_code == 1
    assert run().exit_code == 2
    (Path.cwd() / "empty").mkdir()
    assert run("empty").exit_code == 2


@pytest.mark.usefixtures("folder", "quick")
def test_a_broken_file_leaves_the_others() -> None:
    """A file that cannot be read is a finding at its place, and the others are judged."""
    put(a=RIGHT, b=WRONG, c=RIGHT)
    found = data("a.txt", "b.txt", "c.txt", "missing.txt", code=2)
    assert verdicts(found) == [["agree"], ["error"], ["agree"], ["error"]]
    (finding,) = found["files"][1]["findings"]
    assert [finding["line"], finding["kind"]] == [3, "input"]


@pytest.mark.usefixtures("folder", "quick")
def test_summary_on_stderr_for_programs() -> None:
    """Where programs read the results, the summary stands on stderr; in the table it is the last line."""
    put(a=RIGHT)
    for format_ in ("json", "jsonl", "junit", "github", "sarif"):
        result = run("a.txt", "--format", format_)
        assert result.stderr == "1 file: 1 gradient agrees\n"
    result = run("a.txt")
    assert result.stderr == ""
    assert result.stdout.endswith("\n1 file: 1 gradient agrees\n")


@pytest.mark.usefixtures("folder", "quick")
def test_lines_of_json() -> None:
    """One object a file, in order, and the sums last."""
    put(a=RIGHT, b=WRONG)
    lines = [json.loads(line) for line in run("a.txt", "b.txt", "--format", "jsonl").stdout.splitlines()]
    assert [line.get("file") for line in lines] == ["a.txt", "b.txt", None]
    assert lines[-1]["summary"]["exit_code"] == 2


@pytest.mark.usefixtures("folder", "quick")
@pytest.mark.parametrize("format_", ["table", "json", "jsonl", "github", "sarif"])
def test_jobs_change_nothing(format_: str) -> None:
    """The output is the same, byte by byte, however many files are looked at at once."""
    for number in range(12):
        put(**{f"f{number}": f"x = {number}.5\n{'bad' if number % 5 == 4 else 'z'} = x**2\n"})
    outputs = {run(".", "--format", format_, "--jobs", jobs).output for jobs in ("1", "2", "7")}
    assert len(outputs) == 1


@pytest.mark.usefixtures("folder", "quick")
def test_fail_fast_stops_at_the_first_failure() -> None:
    """Nothing after the first failing file is told, whatever the jobs, and how many are left is."""
    put(a=RIGHT, b="x = 1.0\nbad = x**2\n", c=RIGHT, d=WRONG)
    for jobs in ("1", "4"):
        result = run(".", "--fail-fast", "--jobs", jobs)
        assert result.exit_code == 1
        assert "c.txt" not in result.stdout
        assert result.stdout.splitlines()[-1] == (
            "2 files: 1 gradient agrees, 1 gradient disagrees, 2 files not looked at"
        )


@pytest.mark.usefixtures("folder", "quick")
def test_standard_input() -> None:
    """`-` is the standard input, looked at once."""
    result = run("-", "-", text=RIGHT)
    assert result.exit_code == 0
    assert result.stdout.startswith("-\n  2  agree")


@pytest.mark.usefixtures("folder", "quick")
def test_values_from_outside() -> None:
    """Inputs come from --at and --data; with many files each uses what it has; a name that none uses is an error."""
    Path("v.json").write_text('{"w": [1.0, 2.0], "spare": 3.0}')
    put(a="z = u**2\n", b="y = w**2\n")
    assert run("a.txt", "b.txt").exit_code == 2
    assert run("a.txt", "b.txt", "--at", "u=1.5", "--data", "v.json").exit_code == 0
    result = run("a.txt", "b.txt", "--at", "u=1.5, q=1", "--data", "v.json")
    assert result.exit_code == 2
    assert "--at gives q a value, and no file uses it" in result.stdout
    assert run("a.txt", "--at", "u=1.5, q=1").exit_code == 2


@pytest.mark.usefixtures("folder", "quick")
def test_a_file_says_how_it_is_checked() -> None:
    """The options in a file's comments are its own, and the command line goes before them."""
    Path("sub").mkdir()
    Path("sub/v.csv").write_text("w\n1\n2\n")
    Path("sub/a.txt").write_text('# check: --data v.csv --wrt w --output y --at "k=2"\ny = k*w\nz = sum(w)\n')
    (file,) = data("sub")["files"]
    assert [finding["subject"] for finding in file["findings"]] == ["d(y)/d(w)"]
    (file,) = data("sub", "--wrt", "k", "--output", "z", "--output", "y")["files"]
    assert [finding["subject"] for finding in file["findings"]] == ["d(y)/d(k)", "d(z)/d(k)"]
    Path("sub/a.txt").write_text("z = 1.0\n# check: --frobnicate\n")
    result = run("sub")
    assert result.exit_code == 2
    assert "sub/a.txt:2:" in result.stdout


@pytest.mark.usefixtures("folder", "quick")
def test_weights_of_outputs() -> None:
    """Weights stand on the command line or in the file; what is wrong with one is told of the file that it is for."""
    put(a="# check: --grad-tensors y=[1,2]\nx = [1.0, 3.0]\ny = x**2\n")
    run("a.txt", "--lock", "g.lock")
    assert '"gradients": {"x": [2.0, 12.0]}' in Path("g.lock").read_text()
    assert run("a.txt", "--lock", "g.lock", "--grad-tensors", "ones").exit_code == 1
    finding = data("a.txt", "--grad-tensors", "[1, foo(]", code=2)["files"][0]["findings"][0]
    assert finding["file"] == "a.txt"
    assert finding["reason"].startswith("--grad-tensors: ")


@pytest.mark.usefixtures("folder", "quick")
def test_names_are_shown_escaped() -> None:
    """A name of a file that would move a terminal's cursor is written out."""
    Path("a\x1b[2J.txt").write_text(WRONG)
    for format_ in ("table", "json", "jsonl", "junit", "github", "sarif"):
        result = run(".", "--format", format_)
        assert "\x1b" not in result.output
        assert result.exit_code == 2


@pytest.mark.usefixtures("folder", "quick")
def test_ascii() -> None:
    """With --ascii nothing else is written."""
    Path("ä.txt").write_text("x = 1.0\nbad = x\nblöd = x*'é'\n")
    for format_ in ("table", "json", "jsonl", "junit", "sarif"):
        assert run("ä.txt", "--ascii", "--format", format_).output.isascii()


@pytest.mark.usefixtures("folder", "quick")
def test_a_lock_is_written_and_then_compared() -> None:
    """The first run writes the lock, the next one finds nothing, and a change of the file exits 1 with both numbers."""
    put(a=RIGHT, b=VECTOR)
    result = run(".", "--lock", "g.lock")
    assert (result.exit_code, result.stderr) == (0, "g.lock is written: 2 outputs\n")
    first = Path("g.lock").read_text()
    assert run(".", "--lock", "g.lock").output.endswith("2 files: 2 gradients agree\n")
    put(a=RIGHT.replace("**2", "**3"))
    result = run(".", "--lock", "g.lock")
    assert result.exit_code == 1
    assert "  moved    a.txt:2:1: d(z)/d(x): x was 3.0 and is 6.75, a relative change of 1.2\n" in result.stdout
    assert result.stdout.count("--update-lock") == 1
    assert Path("g.lock").read_text() == first
    assert run(".", "--lock", "g.lock", "--update-lock").exit_code == 0
    assert Path("g.lock").read_text() != first
    assert run(".", "--lock", "g.lock").exit_code == 0


@pytest.mark.usefixtures("folder", "quick")
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--wrt q", "q is no name"),
        ("--wrt x,,z", "a name is missing"),
        ("--wrt n", "n cannot be differentiated by"),
        ("--output q", "has no name q"),
        ("--grad-tensors q", "has no name q"),
        ("--grad-tensors q=1", "q is no output"),
        ("--grad-tensors '[1, 2'", "never closed"),
        ("--grad-tensors z=@none.npy", "no such file"),
        ("--at k=5", "k, which is given a value"),
    ],
)
def test_an_option_of_a_file_that_is_wrong_has_its_place(option: str, said: str) -> None:
    """What is wrong with an option that a file gives stands at its line and column in every format."""
    put(a=f"x = 1.5\nn = x > 2\nz = x**2\n# check: --dtype float64 {option}\n")
    result = run("a.txt")
    assert result.exit_code == 2
    assert said in result.stdout
    assert "a.txt:4:26: " in result.stdout
    assert "line=4,endLine=4,col=26," in run("a.txt", "--format", "github").stdout
    (finding,) = data("a.txt", code=2)["files"][0]["findings"]
    assert (finding["line"], finding["column"]) == (4, 26)
    sarif = json.loads(run("a.txt", "--format", "sarif").stdout)
    (found,) = sarif["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    sarif = json.loads(run("-", "--format", "sarif", text=Path("a.txt").read_text()).stdout)
    (found,) = sarif["runs"][0]["results"]
    assert found["message"]["text"].startswith("<stdin>:4:26: ")


@pytest.mark.usefixtures("folder", "quick")
def test_weights_of_another_shape_have_the_place_of_their_output() -> None:
    """Weights that do not fit an output are told at its statement."""
    put(a="x = 1.5\nz = x**2\n# check: --grad-tensors [1,2]\n")
    (finding,) = data("a.txt", code=2)["files"][0]["findings"]
    assert finding["line"] == 2


@pytest.mark.usefixtures("folder", "quick")
@pytest.mark.parametrize("format_", ["table", "json", "jsonl", "junit", "github", "sarif"])
def test_a_name_that_is_no_utf_8_is_written_escaped(format_: str) -> None:
    """The bytes of such a name are written as escapes in every format, never as half a character."""
    try:
        Path(os.fsdecode(b"a\xff.txt")).write_text(WRONG)
    except OSError:
        pytest.skip("the system has no such names")
    result = run(".", "--format", format_)
    assert result.exit_code == 2
    escape = {"json": "a\\\\xff.txt", "jsonl": "a\\\\xff.txt", "sarif": "a%FF.txt"}.get(format_, "a\\xff.txt")
    assert escape in result.stdout
    assert "udcff" not in result.stdout
    assert "\udcff" not in result.stdout


@pytest.mark.usefixtures("folder", "quick")
@pytest.mark.parametrize("narrow", [["--output", "z"], ["--wrt", "w"], ["--output", "w", "--wrt", "x"]])
def test_a_narrower_check_leaves_the_rest_of_the_lock(narrow: list[str]) -> None:
    """Where only some outputs or gradients are asked for, the others are not said to be gone, and stay in the lock."""
    put(b="x = 1.5\nw = 2*x\nz = x * w\nw2 = x + w\n")
    everything = ["--output", "w,z,w2", "--wrt", "x"]
    if "--output" not in narrow:
        put(b="x = 1.5\nw = 2.0\nz = x * w\n")
        everything = []
    assert run("b.txt", "--lock", "g.lock", *everything).exit_code == 0
    first = Path("g.lock").read_text()
    result = run("b.txt", "--lock", "g.lock", *narrow)
    assert (result.exit_code, "removed" in result.output) == (0, False)
    assert run("b.txt", "--lock", "g.lock", "--update-lock", *narrow).exit_code == 0
    assert Path("g.lock").read_text() == first


@pytest.mark.usefixtures("folder", "quick")
def test_a_lock_keeps_the_dtype_of_each_file() -> None:
    """A file that says its own dtype is not recorded under another; a change of it is told."""
    put(a=RIGHT, b="# check: --dtype float32\n" + RIGHT)
    assert run(".", "--lock", "g.lock").exit_code == 0
    lock = json.loads(Path("g.lock").read_text())
    assert lock["conventions"]["dtype"] == "float64"
    assert lock["dtypes"] == {"b.txt": "float32"}
    assert run(".", "--lock", "g.lock").exit_code == 0
    put(b=RIGHT)
    result = run(".", "--lock", "g.lock")
    assert result.exit_code == 1
    assert "dtype was float32 and is float64" in result.stdout


@pytest.mark.usefixtures("folder", "quick")
@pytest.mark.parametrize("format_", ["table", "json"])
def test_a_lock_never_mixes_conventions(format_: str) -> None:
    """A part of a lock is not written under another seed than the rest of it."""
    put(a=RIGHT, b=RIGHT)
    assert run(".", "--lock", "g.lock").exit_code == 0
    first = Path("g.lock").read_text()
    result = run("a.txt", "--lock", "g.lock", "--update-lock", "--seed", "7", "--format", format_)
    assert result.exit_code == 2
    assert "g.lock keeps numbers of another seed: 0" in result.stdout
    if format_ == "json":
        json.loads(result.stdout)
    assert Path("g.lock").read_text() == first


@pytest.mark.usefixtures("folder", "quick")
def test_a_lock_holds_nothing_wrong() -> None:
    """Where something disagrees, cannot be read or was not looked at, no lock is written."""
    put(a=RIGHT, b="x = 1.0\nbad = x**2\n")
    result = run(".", "--lock", "g.lock")
    assert result.exit_code == 1
    assert "not written" in result.stderr
    assert not Path("g.lock").exists()


@pytest.mark.usefixtures("folder", "quick")
def test_locks_that_are_none() -> None:
    """A file that is no lock is refused before anything runs, and never written over."""
    put(a=RIGHT)
    Path("g.lock").write_text("my diary")
    for more in ([], ["--update-lock"]):
        result = run("a.txt", "--lock", "g.lock", *more)
        assert (result.exit_code, result.stdout) == (2, "")
        assert Path("g.lock").read_text() == "my diary"
    assert run("a.txt", "--update-lock").exit_code == 2
    assert run("a.txt", "--lock", "none/g.lock").exit_code == 3


@pytest.mark.usefixtures("folder", "quick")
def test_tolerance_of_the_lock() -> None:
    """A change within --tolerance has not moved."""
    put(a=RIGHT)
    run(".", "--lock", "g.lock")
    put(a=RIGHT.replace("1.5", "1.500001"))
    assert run(".", "--lock", "g.lock").exit_code == 1
    assert run(".", "--lock", "g.lock", "--tolerance", "1e-5").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_digits() -> None:
    """Where more digits are wanted than are right, the gradient counts as wrong."""
    put(a="x = 0.1\nz = exp(x) - 1 - x\n")
    assert run("a.txt", "--referee", "mpmath").exit_code == 0
    result = run("a.txt", "--referee", "mpmath", "--digits", "16")
    assert result.exit_code == 1
    assert "digits are right where 16 are wanted" in result.stdout


@pytest.mark.usefixtures("folder")
def test_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch, where it is installed, is one more referee; where it is not, asking for it is an error."""
    from agrad.engine.referees import against_torch

    put(a=RIGHT)
    monkeypatch.setattr(against_torch, "installed", lambda: False)
    result = run("a.txt", "--against", "torch")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "PyTorch is not installed" in result.stderr
    monkeypatch.setattr(against_torch, "installed", lambda: True)
    monkeypatch.setattr(against_torch, "judge", lambda _case, _budget: Judgement("torch", "disagree", 0, "it gives 7"))
    (finding,) = data("a.txt", "--against", "torch", "--referee", "mpmath", code=1)["files"][0]["findings"]
    assert [(each["name"], each["verdict"]) for each in finding["check"]["referees"]] == [
        ("mpmath", "agree"),
        ("torch", "disagree"),
    ]
    assert finding["details"] == ["torch: disagree, 0 digits: it gives 7"]


@pytest.mark.usefixtures("folder")
def test_claims_are_judged() -> None:
    """A proved claim passes, a refuted one fails with its counter-example at its line, unless that is expected."""
    lines = [
        "x = 2.0",
        "z = x**2",
        "assert d(z)/d(x) == 2*x",
        "# expect: refuted",
        "assert d(z)/d(x) == 3*x",
        "assert z == x**3",
    ]
    put(a="\n".join(lines))
    (found,) = data("a.txt", "--referee", "mpmath", code=1)["files"]
    *others, finding = found["findings"]
    assert [each["verdict"] for each in others] == ["agree", "proved", "refuted as expected"]
    assert [finding["verdict"], finding["line"], finding["column"], finding["subject"]] == [
        "refuted",
        6,
        1,
        "z == x**3",
    ]
    assert re.match(r"at x = .* the left side is .* and the right side is ", finding["reason"])
    assert set(finding["claim"]["counterexample"]["inputs"]) == {"x"}


@pytest.mark.usefixtures("folder")
def test_a_wrong_rule_is_blamed() -> None:
    """A planted wrong rule exits 1, and the finding names the op and where it stands."""
    op = TABLE["sin"]
    assert op.slopes is not None
    (slope,) = op.slopes
    object.__setattr__(op, "slopes", (lambda *values, **attrs: -slope(*values, **attrs),))
    try:
        put(a="x = 0.5\nz = 3 * sin(x)\n")
        finding = data("a.txt", code=1)["files"][0]["findings"][0]
    finally:
        object.__setattr__(op, "slopes", (slope,))
    assert finding["verdict"] == "disagree"
    assert [finding["check"]["blame"][key] for key in ("op", "fault", "argument", "line", "column")] == [
        "sin",
        "rule",
        0,
        2,
        9,
    ]
    assert any(
        line.startswith("to blame: the rule of sin for argument 1 at a.txt:2:9: ") for line in finding["details"]
    )


@pytest.mark.usefixtures("folder")
def test_claims_are_told_whole_and_expectations_are_met() -> None:
    """The words of a claim over several lines keep their signs; what is there to be refuted fails where it is not."""
    put(
        a="x = 1.5\nx in (0, 1.23456789e3)\nassert (x +  # none\n  0) == x, 'part #12 done'\n"
        "# expect: refuted\n\nassert nan == nan\n"
    )
    result = run("a.txt", "--points", "10", "--ascii")
    assert result.exit_code == 1
    assert "(x + 0) == x (part #12 done)  for all x in (0, 1234.56789)" in result.stdout
    assert "it was expected to be refuted, and is not: cannot judge" in result.stdout
