"""A lock: what moved, by how much, what is new and what is gone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agrad.engine.checking.finding import FileResult, Finding
from agrad.engine.checking.lock import Asked, Lock, compared, file_of, key_of, lock_of
from agrad.engine.checking.versions import this_run
from agrad.engine.errors import InputError

from .conftest import JudgeText

NOW = this_run("float64", 0)
TEXT = "x = 1.5\nw = [1.0, 2]\nz = x**2\ny = x * w\n"


def lock_for(*results: FileResult) -> Lock:
    """The lock of results, lying in the current folder."""
    return lock_of(results, "gradients.lock", NOW)


def moved(lock: Lock, *results: FileResult, now: Lock = NOW, tolerance: float | None = None) -> list[Finding]:
    """What a comparison finds."""
    return compared(lock, now, results, "gradients.lock", tolerance)


@pytest.fixture(autouse=True)
def _files_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(TEXT)


def test_nothing_has_moved(judge_text: JudgeText) -> None:
    """The same file has the same numbers."""
    assert moved(lock_for(judge_text(TEXT)), judge_text(TEXT)) == []


def test_a_moved_gradient_is_told_with_both_numbers(judge_text: JudgeText) -> None:
    """What moved stands with its file and line, entry, both numbers and the relative change."""
    found = moved(lock_for(judge_text(TEXT)), judge_text(TEXT.replace("[1.0, 2]", "[1.0, 2.5]")))
    assert [(each.verdict, each.subject, each.exit_code) for each in found] == [
        ("moved", "y", 1),
        ("moved", "d(y)/d(x)", 1),
    ]
    assert re.fullmatch(r"y\[1\] was -?\d\.\d+ and is -?\d\.\d+, a relative change of 0.25", found[0].reason)
    assert found[0].place is not None
    assert found[0].place[:2] == ("a.txt", 4)
    assert "--update-lock" in found[0].hint


def test_names_come_and_go(judge_text: JudgeText) -> None:
    """A new output, a new leaf and those that are gone are named."""
    later = TEXT.replace("z =", "q =").replace("y = x", "v = 1.0\ny = v * x") + "r = 3 * x\n"
    found = moved(lock_for(judge_text(TEXT)), judge_text(later))
    assert {(each.verdict, each.subject) for each in found} == {
        ("added", "q"),
        ("removed", "z"),
        ("added", "r"),
        ("added", "d(y)/d(v)"),
    }


def test_files_come_and_go(judge_text: JudgeText) -> None:
    """A new file is told; one of the lock only where it is gone, not where it was not looked at."""
    both = lock_for(judge_text(TEXT), judge_text(TEXT, name="b.txt"))
    assert moved(both, judge_text(TEXT)) == []
    Path("b.txt").unlink()
    assert [(each.verdict, each.file) for each in moved(both, judge_text(TEXT))] == [("removed", "b.txt")]
    found = moved(lock_for(judge_text(TEXT)), judge_text(TEXT), judge_text(TEXT, name="new.txt"))
    assert [(each.verdict, each.file) for each in found] == [("added", "new.txt")]


def test_a_file_that_cannot_be_read_has_not_moved(judge_text: JudgeText) -> None:
    """What is wrong with it is told already."""
    assert moved(lock_for(judge_text(TEXT)), judge_text("z = (\n")) == []


def test_other_conventions_and_versions(judge_text: JudgeText) -> None:
    """Another seed or dtype is told of itself, another version only beside what moved."""
    lock = lock_for(judge_text(TEXT))
    later = replace(NOW, versions={**NOW.versions, "numpy": "9.9"})
    assert moved(lock, judge_text(TEXT), now=later) == []
    (finding, *_) = moved(lock, judge_text(TEXT.replace("1.5", "1.75")), now=later)
    assert any("numpy was" in line and "is 9.9" in line for line in finding.details)
    (finding,) = moved(lock, judge_text(TEXT), now=this_run("float64", 7))
    assert finding.reason == "seed was 0 and is 7"


def test_only_what_was_asked_for_is_compared_and_written(judge_text: JudgeText) -> None:
    """Outputs and gradients that were not asked for are neither gone nor dropped; what is gone from the text is."""
    lock = lock_for(judge_text(TEXT))
    result = judge_text(TEXT)
    only = Asked(frozenset({"z"}))
    del result.recorded["y"]
    assert compared(lock, NOW, [result], "gradients.lock", None, only) == []
    assert [each.subject for each in compared(lock, NOW, [result], "gradients.lock", None)] == ["y"]
    assert lock_of([result], "gradients.lock", NOW, lock, only).files == lock.files

    by_x = Asked(wrt=frozenset({"x"}))
    result = judge_text(TEXT)
    narrow = replace(result.recorded["y"], gradients={"x": result.recorded["y"].gradients["x"]})
    result.recorded["y"] = narrow
    assert compared(lock, NOW, [result], "gradients.lock", None, by_x) == []
    assert [each.subject for each in compared(lock, NOW, [result], "gradients.lock", None)] == ["d(y)/d(w)"]
    assert lock_of([result], "gradients.lock", NOW, lock, by_x).files == lock.files

    gone = judge_text("x = 1.5\nz = x**2\n")
    assert list(lock_of([gone], "gradients.lock", NOW, lock, only).files["a.txt"]) == ["z"]


def test_what_is_kept_has_the_conventions_of_the_rest(judge_text: JudgeText) -> None:
    """No lock says of numbers that they came out under conventions that they did not."""
    before = lock_for(judge_text(TEXT), judge_text(TEXT, name="b.txt"))
    with pytest.raises(InputError, match="another seed: 0"):
        lock_of([judge_text(TEXT)], "gradients.lock", this_run("float64", 7), before)
    both = [judge_text(TEXT), judge_text(TEXT, name="b.txt")]
    assert lock_of(both, "gradients.lock", this_run("float64", 7), before).conventions["seed"] == 7
    single = judge_text(TEXT)
    single.dtype = "float32"
    del single.recorded["y"]
    with pytest.raises(InputError, match="another dtype: float64"):
        lock_of([single], "gradients.lock", NOW, before, Asked(frozenset({"z"})))


def test_each_file_has_its_dtype(judge_text: JudgeText) -> None:
    """A file of another dtype than the run's is kept with its own, and is told where it becomes another."""
    single = judge_text(TEXT, name="b.txt")
    single.dtype = "float32"
    lock = lock_for(judge_text(TEXT), single)
    assert (lock.dtype_of("a.txt"), lock.dtype_of("b.txt")) == ("float64", "float32")
    assert moved(lock, judge_text(TEXT), single) == []
    (finding,) = moved(lock, judge_text(TEXT), judge_text(TEXT, name="b.txt"))
    assert (finding.file, finding.reason) == ("b.txt", "dtype was float32 and is float64")
    assert lock_of([judge_text(TEXT)], "gradients.lock", NOW, lock).dtypes == {"b.txt": "float32"}


def test_an_update_keeps_what_was_not_looked_at(judge_text: JudgeText) -> None:
    """The files of a lock that still exist stay in it; others leave it."""
    before = lock_for(judge_text(TEXT), judge_text(TEXT, name="b.txt"), judge_text(TEXT, name="gone.txt"))
    after = lock_of([judge_text("x = 1.0\nz = x\n")], "gradients.lock", NOW, before)
    assert list(after.files) == ["a.txt", "b.txt"]
    assert list(after.files["a.txt"]) == ["z"]


def test_files_are_named_from_the_folder_of_the_lock() -> None:
    """The same lock serves from whatever folder agrad is run."""
    assert key_of("sub/a.txt", "sub/gradients.lock") == "a.txt"
    assert key_of(str(Path.cwd() / "a.txt"), "sub/gradients.lock") == "../a.txt"
    assert Path(file_of("../a.txt", "sub/gradients.lock")).as_posix() == "sub/../a.txt"
    assert key_of("-", "gradients.lock") == "-"


def test_many_entries_are_counted(judge_text: JudgeText) -> None:
    """Of many moved entries the worst comes first, some are told and the rest counted."""
    text = "x = ones(20)\nz = sum(x**2)\n"
    found = moved(lock_for(judge_text(text)), judge_text(text.replace("ones(20)", "arange(2.0, 22.0)")))
    (gradient,) = [each for each in found if each.subject == "d(z)/d(x)"]
    assert gradient.reason == "x[19] was 2.0 and is 42.0, a relative change of 20"
    assert len(gradient.details) == 5
    assert gradient.details[-1] == "and 15 more entries"
