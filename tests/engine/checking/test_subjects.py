"""What is differentiated in a file that is checked."""

from __future__ import annotations

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.checking.subjects import Subject, subjects
from agrad.engine.errors import InputError, Source
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import build


def of(text: str, *asked: str, weights: list[Weight] | None = None, seed: int = 0) -> list[Subject]:
    """The subjects of a text."""
    return subjects(build(Source(text)), asked, weights or [], seed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1.0\nz = x**2\n", ["z"]),
        ("x = 1.0\na = x**2\nb = exp(x)\nc = b + 1\n", ["a", "c"]),
        ("x = 1.0\nunused = 2.0\nz = x**2\n", ["z"]),
        ("x = 1.0\nk = x > 0\nz = x**2\n", ["z"]),
        ("x = 1.0\nz = x**2\nz = x**3\n", ["z", "z"]),
        ("x = 1.0\nz = x**2\ny = z\n", ["y"]),
        ("x = 1.0\n", ["x"]),
        ("x = 1.0\nz = exp(x)\ng = grad(z, x)\n", ["z", "g"]),
        ("x = [1.0, 2]\nm = max(x, 0)\n", ["m.values", "m.indices"]),
        ("x = 1.0\nz = x**2\nassert d(z)/d(x) == 2*x\n", ["z"]),
    ],
)
def test_every_result_is_an_output(text: str, expected: list[str]) -> None:
    """What nothing else uses is judged, and the last name, and what the file itself differentiates."""
    assert [subject.name for subject in of(text)] == expected


def test_named_outputs_only() -> None:
    """Where names are asked for, only they are judged, in that order, and a wrong name is an error."""
    text = "x = 1.0\na = x**2\nb = x**3\n"
    assert [subject.name for subject in of(text, "b", "a")] == ["b", "a"]
    with pytest.raises(InputError, match="has no name c"):
        of(text, "c")


def test_weights_are_the_same_in_every_run() -> None:
    """The cotangent of a result that is no number depends on its name, its shape and the seed alone."""
    text = "x = ones(50)\ny = x**2\nw = x**3\n"
    one, other = of(text), of("x = ones(50)\nextra = x + 1\ny = x**2\nw = x**3\n")
    np.testing.assert_array_equal(one[0].weight, other[1].weight)
    assert not np.array_equal(one[0].weight, one[1].weight)
    assert not np.array_equal(one[0].weight, of(text, seed=1)[0].weight)


def test_no_weight_hides_an_entry() -> None:
    """A cotangent is of either sign and never near zero; a complex one has both parts."""
    (subject,) = of("x = ones(400)\ny = x * 2\n")
    sizes = np.abs(subject.weight)
    assert sizes.min() >= 0.5
    assert sizes.max() <= 1.5
    assert {-1.0, 1.0} == set(np.sign(subject.weight))
    (subject,) = of("x = ones(3)\ny = x * 2j\n")
    assert subject.weight.dtype.kind == "c"
    assert np.abs(subject.weight.imag).min() >= 0.5


def test_a_single_real_number_needs_no_weight() -> None:
    """The gradient of a number is that of the number; a complex one is weighted."""
    assert of("x = 1.0\ny = x**2\n")[0].weight is None
    assert of("x = 1.0\ny = x * 1j\n")[0].weight is not None


def test_weights_that_are_stated() -> None:
    """A weight goes to the output that it names, or to the next one; one too many is an error."""
    text = "x = ones(2)\na = x**2\nb = x**3\n"
    first, second = of(text, weights=[Weight("b", [1, 2]), Weight(None, None)])
    assert second.weight == [1, 2]
    np.testing.assert_array_equal(first.weight, [1.0, 1.0])
    with pytest.raises(InputError, match="q is no output: the outputs are a, b"):
        of(text, weights=[Weight("q", [1, 2])])
    with pytest.raises(InputError, match="too many"):
        of(text, weights=[Weight(None, None)] * 3)
