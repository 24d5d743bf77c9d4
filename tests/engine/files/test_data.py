"""Input data from files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from agrad.engine.errors import InputError, LimitError
from agrad.engine.files.data import MAPPED_FROM, read_data


def write(folder: Path, name: str, content: str | bytes) -> str:
    """A file with the content; its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_npz_gives_its_arrays_by_name(tmp_path: Path) -> None:
    """Integers become int64 and half floats float64; float32 stays."""
    path = str(tmp_path / "a.npz")
    np.savez(path, x=np.float16([1, 2]), n=np.int8(3), s=np.float32([1]))
    arrays = read_data(path)
    assert {name: array.dtype.name for name, array in arrays.items()} == {"x": "float64", "n": "int64", "s": "float32"}
    assert arrays["n"] == 3
    assert arrays["n"].shape == ()


def test_unsigned_integers_keep_their_value(tmp_path: Path) -> None:
    """An unsigned integer that int64 holds stays itself, and a larger one is refused: it would become negative."""
    path = str(tmp_path / "a.npy")
    for array in (np.array([0, 2**63 - 1], np.uint64), np.array([2**32 - 1], np.uint32), np.uint64(7), np.uint8([])):
        np.save(path, array)
        read = read_data(f"n={path}")["n"]
        assert read.dtype == np.int64
        assert read.tolist() == array.tolist()
    for array in (np.array([1, 2**63], np.uint64), np.uint64(2**64 - 1), np.array([2**63], ">u8")):
        np.save(path, array)
        with pytest.raises(LimitError, match="an integer is too large") as caught:
            read_data(f"n={path}")
        assert caught.value.hint == "the largest is 2**63 - 1"
        np.savez(tmp_path / "a.npz", n=array)
        with pytest.raises(LimitError, match=r"n of .*too large"):
            read_data(str(tmp_path / "a.npz"))


def test_a_large_mapped_file_of_unsigned_integers_is_refused_too(tmp_path: Path) -> None:
    """What is read page by page is looked at as well."""
    path = str(tmp_path / "a.npy")
    array = np.zeros(MAPPED_FROM // 8, np.uint64)
    array[-1] = 2**63
    np.save(path, array)
    with pytest.raises(LimitError, match="an integer is too large"):
        read_data(f"n={path}")


@pytest.mark.parametrize("code", ["f2", "f4", "f8", "c8", "c16", "i2", "i8", "u4", "g", "G"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_bytes_of_every_order_are_the_same_numbers(tmp_path: Path, code: str, order: str) -> None:
    """Numbers of another machine are those of this one, and single precision stays single."""
    kept = {"f4": "float32", "c8": "complex64", "i2": "int64", "i8": "int64", "u4": "int64"}
    path = str(tmp_path / "a.npy")
    np.save(path, np.array([1, 2, 3]).astype(np.dtype(code).newbyteorder(order)))  # type: ignore[call-overload]  # any dtype
    read = read_data(f"x={path}")["x"]
    assert read.dtype.isnative
    assert read.dtype.name == kept.get(code, "complex128" if code in ("c16", "G") else "float64")
    assert read.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_a_wider_float_that_float64_cannot_hold_is_refused(tmp_path: Path, dtype: type) -> None:
    """A finite number never becomes infinity by being read; infinities and NaN stay what they are."""
    path = str(tmp_path / "a.npy")
    np.save(path, np.array([np.inf, np.nan, 1], dtype))
    assert np.isinf(read_data(f"x={path}")["x"][0])
    wide = np.array([1e300], dtype) ** 2
    if not np.isfinite(wide[0]):
        pytest.skip("no wider float on this machine")
    np.save(path, wide)
    with pytest.raises(LimitError, match="too large for a float"):
        read_data(f"x={path}")


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.csv", "x\n1\n1e400\n", ":3: column 'x'"),
        ("a.csv", "x\n-1e400\n", ":2: column 'x'"),
        ("a.json", '{"x": 1e400}', ""),
        ("a.json", '{"x": [1.5, -1e999]}', ""),
        ("a.json", '{"x": [' + "9" * 400 + "]}", "x of"),
        ("a.json", '{"x": ' + "9" * 400 + "}", "x of"),
    ],
)
def test_written_numbers_beyond_every_float_are_refused(tmp_path: Path, name: str, content: str, place: str) -> None:
    """A finite number in a text never becomes infinity by being read."""
    with pytest.raises(LimitError, match="too large for a float") as caught:
        read_data(write(tmp_path, name, content))
    assert place in caught.value.message


def test_infinity_that_is_written_stays(tmp_path: Path) -> None:
    """The words for infinity are no overflow."""
    assert np.isinf(read_data(write(tmp_path, "a.csv", "x\ninf\n-Infinity\n"))["x"]).all()
    assert np.isinf(read_data(write(tmp_path, "a.json", '{"x": [Infinity, "-Infinity"]}'))["x"]).all()


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, 10**30, -(10**30)])
def test_large_integers_of_json_are_floats(tmp_path: Path, number: int) -> None:
    """Integers in JSON are floats however large, alone, in a list and beside words: never another number."""
    content = f'{{"x": {number}, "y": [{number}, 1], "z": [[{number}], ["Infinity"]]}}'
    read = read_data(write(tmp_path, "a.json", content))
    assert read["x"] == read["y"][0] == read["z"][0, 0] == float(number)
    assert read["y"].dtype == np.float64
    assert np.isinf(read["z"][1, 0])


def test_npy_needs_a_name(tmp_path: Path) -> None:
    """One array is read under the name that the option gives it, and refused without one."""
    path = str(tmp_path / "a.npy")
    np.save(path, np.eye(2))
    assert read_data(f"w={path}")["w"].tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match="without a name"):
        read_data(path)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    """An object array and a plain pickle are refused, and no code in them runs."""
    marker = tmp_path / "ran"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (marker,))

    np.save(tmp_path / "a.npy", np.array([Trap()], dtype=object))
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    np.savez(tmp_path / "c.npz", x=np.array([Trap()], dtype=object))
    for option in (f"x={tmp_path / 'a.npy'}", f"x={tmp_path / 'b.npy'}", str(tmp_path / "c.npz")):
        with pytest.raises(InputError, match="no plain NumPy file") as caught:
            read_data(option)
        assert "pickle" in caught.value.hint
    assert not marker.exists()


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_damaged_files_are_named(tmp_path: Path, suffix: str) -> None:
    """A truncated archive or array is an input error, not a crash."""
    np.savez(tmp_path / "a.npz", x=np.arange(100.0))
    np.save(tmp_path / "a.npy", np.arange(100.0))
    content = (tmp_path / f"a.{suffix}").read_bytes()
    with pytest.raises(InputError, match=r"a\." + suffix):
        read_data("x=" + write(tmp_path, f"b.a.{suffix}", content[: len(content) // 2]))


def test_csv_columns_are_vectors_by_header(tmp_path: Path) -> None:
    """Each column of numbers is a vector; a column of text is left out."""
    arrays = read_data(write(tmp_path, "a.csv", 'x,label,y\n1,"a, b",2e-3\n\n-2,c,nan\n'))
    assert list(arrays) == ["x", "y"]
    assert arrays["x"].tolist() == [1.0, -2.0]
    assert arrays["y"][0] == 2e-3
    assert np.isnan(arrays["y"][1])


def test_csv_with_a_name_is_a_matrix(tmp_path: Path) -> None:
    """NAME=FILE.csv gives the columns side by side."""
    path = write(tmp_path, "a.csv", "x;y\n1;2\n3;4\n")
    assert read_data(f"m={path}")["m"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("1,2\n3,4\n", "must name the columns"),
        ("x,x\n1,2\n", "two columns are called 'x'"),
        ("x,y\n1,2\n3\n", r":3: 1 cells where the header has 2"),
        ("x,y\n1,2\n3,four\n", r":3: column 'y': 'four' is not a number"),
        ("x,y\n1,2\n3,\n", r":3: column 'y': an empty cell"),
        ("x\na\n", "no column of numbers"),
    ],
)
def test_csv_errors_are_located(tmp_path: Path, content: str, said: str) -> None:
    """What is wrong in a table of numbers is said with its line."""
    with pytest.raises(InputError, match=said):
        read_data(write(tmp_path, "a.csv", content))


def test_json_gives_numbers_lists_and_complex(tmp_path: Path) -> None:
    """Values are floats, the words of strict JSON are read, complex numbers come by parts."""
    arrays = read_data(
        write(tmp_path, "a.json", '{"x": 1, "y": [[1, "NaN"]], "z": {"real": [1], "imag": [2]}, "b": true}')
    )
    assert arrays["x"] == 1.0
    assert arrays["x"].dtype == np.float64
    assert arrays["y"].shape == (1, 2)
    assert np.isnan(arrays["y"][0, 1])
    assert arrays["z"][0] == 1 + 2j
    assert arrays["b"].dtype == np.bool_


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", r"a\.json:1:2: not JSON"),
        ('{"x": 1, "x": 2}', "'x' stands twice"),
        ('{"x": [[1], [1, 2]]}', "ragged"),
        ('{"x": "one"}', "no number"),
        ('{"x": null}', "no number"),
        ("[1, 2]", "holds no names"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_errors_are_named(tmp_path: Path, content: str, said: str) -> None:
    """What is wrong in a JSON file is said in one sentence."""
    with pytest.raises(InputError, match=said):
        read_data(write(tmp_path, "a.json", content))


def test_unknown_suffix_is_refused(tmp_path: Path) -> None:
    """Only the four kinds of files are read."""
    with pytest.raises(InputError, match=r"cannot read \.pkl as data"):
        read_data(write(tmp_path, "a.pkl", b""))


def test_path_with_an_equals_sign(tmp_path: Path) -> None:
    """A file whose name looks like NAME=FILE is read as what it is."""
    write(tmp_path, "x=a.csv", "y\n1\n")
    assert list(read_data(str(tmp_path / "x=a.csv"))) == ["y"]


def test_large_npy_is_mapped(tmp_path: Path) -> None:
    """A large array is a view of its file, not a copy in memory, and cannot be written to; a small one is read."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(2.0**18))
    array = read_data(f"x={path}")["x"]
    assert isinstance(array.base, np.memmap)
    assert not array.flags.writeable
    assert array.sum() == np.arange(2.0**18).sum()
    np.save(path, np.arange(4.0))
    assert not isinstance(read_data(f"x={path}")["x"].base, np.memmap)


def test_large_npy_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    """A large file with less data than its header says is damaged, mapped or not."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(2.0**18))
    path.write_bytes(path.read_bytes()[: 2**20 + 100])
    with pytest.raises(InputError, match="damaged"):
        read_data(f"x={path}")


def test_large_npy_of_other_numbers_is_converted(tmp_path: Path) -> None:
    """Numbers that the graph does not take as they are become those that it takes."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(2**19, dtype=">f8"))
    assert read_data(f"x={path}")["x"].dtype == np.float64
    np.save(path, np.arange(2**19, dtype=np.int32))
    assert read_data(f"x={path}")["x"].dtype == np.int64
