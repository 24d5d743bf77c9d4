"""Which files a check looks at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agrad.engine.checking.discovery import expression_files
from agrad.engine.errors import InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of expression files, with others among them."""
    for name in ("b.txt", "a.txt", "deep/er/c.txt", "deep/d.csv", ".hidden/e.txt", ".f.txt", "old/g.draft.txt"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("z = 1.0\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_folder_means_every_text_below_it() -> None:
    """Folders are searched to the bottom, sorted, without what is hidden and what is no .txt."""
    assert expression_files(["files"]) == ["files/a.txt", "files/b.txt", "files/deep/er/c.txt", "files/old/g.draft.txt"]
    assert expression_files(["files/deep/"]) == ["files/deep/er/c.txt"]


@pytest.mark.usefixtures("folder")
def test_each_file_comes_once() -> None:
    """However often and under whatever spelling a file is named, it is looked at once."""
    named = ["files/b.txt", "./files/b.txt", "files/deep/../b.txt", "files"]
    assert expression_files(named).count("files/b.txt") == 1
    assert len(expression_files(named)) == 4
    assert expression_files(["-", "files/a.txt", "-"]) == ["-", "files/a.txt"]


def test_a_link_is_the_file_that_it_leads_to(folder: Path) -> None:
    """A link to a file does not make it two, and a link to a folder above ends no run."""
    (folder / "files" / "same.txt").symlink_to(folder / "files" / "a.txt")
    (folder / "files" / "loop").symlink_to(folder / "files")
    assert len(expression_files(["files"])) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_a_folder_is_no_file(folder: Path) -> None:
    """Nothing waits for a pipe that happens to lie in a folder; a link that leads nowhere is looked at, and told."""
    os.mkfifo(folder / "files" / "pipe.txt")
    (folder / "files" / "lost.txt").symlink_to("nowhere.txt")
    found = expression_files(["files"])
    assert "files/pipe.txt" not in found
    assert "files/lost.txt" in found


@pytest.mark.usefixtures("folder")
def test_a_named_file_is_taken_whatever_it_is_called() -> None:
    """What is named stands, whether it ends in .txt or exists at all."""
    assert expression_files(["files/deep/d.csv", "none.txt", "nul\0.txt"]) == [
        "files/deep/d.csv",
        "none.txt",
        "nul\0.txt",
    ]


@pytest.mark.usefixtures("folder")
def test_patterns_leave_files_out() -> None:
    """A pattern is matched with the name and with the path; a file that is named is not left out."""
    assert expression_files(["files"], ["*.draft.txt", "files/deep/*"]) == ["files/a.txt", "files/b.txt"]
    assert expression_files(["files/a.txt"], ["a.txt"]) == ["files/a.txt"]


def test_a_folder_without_expression_files_is_an_error(tmp_path: Path) -> None:
    """Nothing to check is not the same as nothing wrong."""
    with pytest.raises(InputError, match="holds no expression files"):
        expression_files([str(tmp_path)])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("deep", ["a", "b", "g.draft"]),
        ("deep/", ["a", "b", "g.draft"]),
        ("er", ["a", "b", "g.draft"]),
        ("files/deep", ["a", "b", "g.draft"]),
        ("./files/deep/", ["a", "b", "g.draft"]),
        ("files/deep/*", ["a", "b", "g.draft"]),
        ("d*p", ["a", "b", "g.draft"]),
        ("files", ["a", "b", "c", "g.draft"]),
        ("a.txt/", ["a", "b", "c", "g.draft"]),
        ("a.txt", ["b", "c", "g.draft"]),
        ("./files/a.txt", ["b", "c", "g.draft"]),
        ("*.draft.txt", ["a", "b", "c"]),
    ],
)
def test_a_folder_that_is_excluded_leaves_out_what_is_below_it(pattern: str, left: list[str]) -> None:
    """A pattern that fits a folder below the one named excludes all in it; one with a slash at its end fits no file."""
    assert [Path(path).name.removesuffix(".txt") for path in expression_files(["files"], [pattern])] == left
