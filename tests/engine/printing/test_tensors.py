"""Tests of the text of tensors.

`data/tensor_texts.jsonl` was recorded by running PyTorch 2.13 (CPU): a row holds `entries` (numbers, "nan" and "inf" as
strings, complex numbers as pairs) that are repeated to fill `shape`, the `dtype`, what was set before
(`default_dtype`, `options` of `torch.set_printoptions`), `requires_grad` and `grad_fn`, and the `text`: `repr` of the
tensor, or `format(tensor, spec)` where there is a `spec`, or `repr` of an `nn.Parameter` where `parameter` is true.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.printing.options import get_printoptions, printoptions, set_printoptions
from agrad.engine.printing.tensors import dtype_text, formatted, parameter_text, size_text, tensor_text

RECORDED = Path(__file__).parents[2] / "data" / "tensor_texts.jsonl"
ROWS = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    """Each test begins with PyTorch's default options and leaves them behind."""
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def number(entry: Any) -> complex:
    """A number as a row writes it."""
    if isinstance(entry, list):
        return complex(float(entry[0]), float(entry[1]))
    return float(entry) if isinstance(entry, str) else entry  # type: ignore[no-any-return]  # rows are untyped


def array(row: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The tensor of a row."""
    numbers = np.array([number(entry) for entry in row["entries"]])
    with np.errstate(all="ignore"):
        filled = np.resize(numbers, row["shape"]) if numbers.size else np.zeros(row["shape"])
        return np.asarray(filled).astype(row["dtype"])


def text(row: dict[str, Any]) -> str:
    """What agrad writes for a row."""
    value, default = array(row), np.dtype(row.get("default_dtype", "float32"))
    requires_grad = row.get("requires_grad", False)
    if row.get("parameter"):
        return parameter_text(value, requires_grad=requires_grad, default_dtype=default)

    def whole() -> str:
        return tensor_text(value, requires_grad=requires_grad, grad_fn=row.get("grad_fn"), default_dtype=default)

    return formatted(value, row["spec"], whole) if "spec" in row else whole()


def test_texts_are_pytorchs() -> None:
    """Every recorded tensor has PyTorch's text, letter for letter."""
    wrong = []
    for line, row in enumerate(ROWS, start=1):
        with printoptions(**row.get("options", {})):
            if text(row) != row["text"]:
                wrong.append(f"line {line}: expected\n{row['text']}\ngot\n{text(row)}")
    assert len(ROWS) > 400
    assert not wrong, "\n".join(wrong[:5])


def test_the_prefix_moves_the_lines_that_follow() -> None:
    """Rows are indented by the length of what stands before the first bracket."""
    assert tensor_text(np.eye(2), prefix="G(", default_dtype=np.dtype(np.float64)) == "G([[1., 0.],\n   [0., 1.]])"


def test_plain_numbers_and_scalars_have_texts() -> None:
    """A plain number or a NumPy scalar is a tensor without axes."""
    assert tensor_text(np.float32(2.5)) == "tensor(2.5000)"
    assert tensor_text(3) == "tensor(3)"


def test_sizes_and_dtypes_are_written_as_pytorch_does() -> None:
    """A size names itself, a dtype is in PyTorch's namespace."""
    assert size_text(()) == "torch.Size([])"
    assert size_text((2, 3)) == "torch.Size([2, 3])"
    assert dtype_text(np.dtype(np.complex64)) == "torch.complex64"


def test_a_format_is_refused_for_a_tensor_with_axes() -> None:
    """Only a tensor without axes takes a format, in Python's words for the others."""
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor\.__format__"):
        formatted(np.ones(2), ".2f", str)
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        formatted(np.ones(()), "d", str)


def test_options_not_given_stay_except_the_scientific_mode() -> None:
    """`set_printoptions` keeps what it is not told, but forgets the scientific mode, as PyTorch does."""
    set_printoptions(precision=2, sci_mode=True)
    set_printoptions(linewidth=100)
    expected = {"precision": 2, "threshold": 1000, "edgeitems": 3, "linewidth": 100, "sci_mode": None}
    assert get_printoptions() == expected


def test_an_unknown_profile_changes_nothing() -> None:
    """A profile that does not exist is passed over in silence, as in PyTorch."""
    set_printoptions(precision=7)
    set_printoptions(profile="loud")
    assert get_printoptions()["precision"] == 7


def test_options_of_a_block_end_with_it() -> None:
    """Options are put back after the block, also when it fails."""

    def failing() -> None:
        with printoptions(precision=1):
            raise RuntimeError(tensor_text(np.float32(0.25)))

    with pytest.raises(RuntimeError, match=r"tensor\(0\.2\)"):
        failing()
    assert tensor_text(np.float32(0.25)) == "tensor(0.2500)"
