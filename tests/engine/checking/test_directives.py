"""What a file says of how it is to be checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agrad.engine.checking.directives import directives
from agrad.engine.errors import InputError, SeveralErrors, Source, Span


def test_options_stand_in_comments() -> None:
    """Options are read from lines that begin with `# check:`, any number of them, and from nowhere else."""
    lines = (
        '# check: --at "x=1, y=[1, 2]" --wrt x',
        "z = 1  # check: --wrt w",
        "  #check: --output=z --dtype float32",
        "#",
    )
    found = directives(Source("\n".join(lines), "a.txt"))
    assert set(found.at) == {"x", "y"}
    np.testing.assert_array_equal(found.at["y"], [1.0, 2.0])
    assert found.wrt == ["x"]
    assert found.output == ["z"]
    assert found.dtype == "float32"
    assert not found.grad_tensors


def test_data_lies_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data file is named from the folder of the text, whatever the current one."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "exam.csv").write_text("hours,sleep\n1,2\n3,4\n")
    np.save(tmp_path / "sub" / "w.npy", np.array([1.0, 2.0]))
    text = "# check: --data exam.csv --data w=sub/w.npy\n"
    assert set(directives(Source(text, str(tmp_path / "a.txt"))).data) == {"hours", "sleep", "w"}
    monkeypatch.chdir(tmp_path)
    assert set(directives(Source(text, "<stdin>")).data) == {"hours", "sleep", "w"}


@pytest.mark.parametrize("path", ["/etc/data.csv", "../data.csv", "a/../../b.csv", "x=/etc/x.npy", '"x=..\\x.npy"'])
def test_no_file_leads_out_of_its_folder(path: str) -> None:
    """A text cannot make agrad read a file elsewhere."""
    with pytest.raises(InputError, match="outside of the file's folder"):
        directives(Source(f"# check: --data {path}\n", "some/a.txt"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--lock x", "knows no --lock"),
        ("z", "knows no z"),
        ("--wrt", "--wrt lacks its value"),
        ("--dtype float16", "float64 or float32"),
        ('--at "x=1', "no closing quotation"),
        ("--at x=q(", "."),
        ("--data none.csv", "no such file: none.csv"),
    ],
)
def test_what_is_wrong_is_said_in_its_place(text: str, said: str) -> None:
    """An option that no file may give, or that is not complete, is an error at its line."""
    with pytest.raises(InputError, match=said) as caught:
        directives(Source(f"x = 1.0\n# check: {text}\n", "a.txt"))
    assert caught.value.location is not None
    assert caught.value.location[:2] == ("a.txt", 2)


@pytest.mark.parametrize(
    ("text", "column", "length"),
    [
        ("--wrt x --lock y", 18, 6),
        ("--wrt x --dtype float16 --output z", 18, 15),
        ("--dtype=float16", 10, 15),
        ("--wrt x --output", 18, 8),
        ("--wrt x  --at 'x=q('  --output z", 19, 11),
        ("--wrt x --data none.csv", 18, 15),
        ("--wrt x 'y", 9, 11),
    ],
)
def test_what_is_wrong_stands_at_its_option(text: str, column: int, length: int) -> None:
    """Of several options on a line the wrong one is underlined, with its value."""
    with pytest.raises(InputError) as caught:
        directives(Source(f"x = 1.0\n# check: {text}\n", "a.txt"))
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (2, column)
    (span,) = caught.value.spans
    assert span.end - span.start == length


def test_an_error_finds_its_option() -> None:
    """A later error without a place stands at the option that it speaks of; one with a place keeps it."""
    source = Source("# check: --wrt a,b --wrt c --output d\n# check: --grad-tensors d=1\n", "a.txt")
    found = directives(source)
    assert [option.name for option in found.options] == ["--wrt", "--wrt", "--output", "--grad-tensors"]

    def at(message: str, *names: str) -> str:
        error = InputError(message)
        found.locate(error, source, *names)
        return source.text[error.spans[0].start : error.spans[0].end] if error.spans else ""

    assert at("c is no name", "--wrt") == "--wrt c"
    assert at("b is no name", "--wrt") == "--wrt a,b"
    assert at("--output: a.txt has no name d", "--output", "--grad-tensors") == "--output d"
    assert at("one --grad-tensors too many", "--output", "--grad-tensors") == "--grad-tensors d=1"
    assert at("nothing of it", "--wrt") == "--wrt c"
    assert at("c is no name", "--at") == ""
    placed, free = InputError("c", spans=(Span(0, 1),)), InputError("c")
    found.locate(SeveralErrors([placed, free]), source, "--wrt")
    assert placed.spans == (Span(0, 1),)
    assert free.location is not None
    assert free.location.column == 20
