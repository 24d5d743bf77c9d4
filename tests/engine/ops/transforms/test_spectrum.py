"""Transforms of real and of symmetric signals: NumPy's values, transposes, frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, Node, leaf, make

Value = Callable[[Node], Any]

NORMS = st.sampled_from([None, "backward", "forward", "ortho"])


def transform(name: str, *args: Any, **kwargs: Any) -> Node:
    """A row of the family by its short name."""
    result: Node = TABLE[f"fft.{name}"].call(*args, **kwargs)
    return result


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 5), length=st.integers(2, 7), norm=NORMS, seed=st.integers(0, 99))
def test_transforms_are_numpys(value: Value, size: int, length: int, norm: Any, seed: int) -> None:
    """Each transform is NumPy's, cut or filled to any length, in each scaling."""
    random = np.random.default_rng(seed)
    real, turning = random.standard_normal((2, 2, 3, size))
    z = real + 1j * turning
    for name, x in (("rfft2", real), ("rfftn", real), ("irfft2", z), ("irfftn", z)):
        axes = (1, 2) if name.endswith("2") else (0, 2)
        expected = getattr(np.fft, name)(x, (3, length), axes, norm)
        np.testing.assert_allclose(value(transform(name, leaf(x), (3, length), axes, norm)), expected, atol=1e-12)
    for name, x in (("hfft", z), ("ihfft", real)):
        expected = getattr(np.fft, name)(x, length, norm=norm)
        np.testing.assert_allclose(value(transform(name, leaf(x), length, norm=norm)), expected, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(length=st.integers(2, 6), norm=NORMS, seed=st.integers(0, 99))
def test_cotangents_are_transposes(pairings: Callable[..., list[float]], length: int, norm: Any, seed: int) -> None:
    """<F x, g> is <x, cotangent> for the real and imaginary parts of each transform."""
    for function in (
        lambda x: transform("hfft", torch_complex(x), length, norm=norm),
        lambda x: transform("irfft2", torch_complex(x), (2, length), norm=norm),
        lambda x: make.imag(transform("rfft2", x, (2, length), norm=norm)),
        lambda x: make.real(transform("ihfft", x, length, norm=norm)),
    ):
        one, other = pairings(function, (3, 4), seed)
        assert one == pytest.approx(other, rel=1e-9, abs=1e-10)


def torch_complex(x: Node) -> Node:
    """A complex tensor that is linear in a real one."""
    result: Node = make.complex(x, 2.0 * x)
    return result


def test_frequencies(value: Value) -> None:
    """As NumPy's: first those from 0 on, then the negative ones; of real signals those from 0 on."""
    for n in (1, 4, 5):
        for name in ("fftfreq", "rfftfreq"):
            np.testing.assert_allclose(value(transform(name, n, d=0.5)), getattr(np.fft, name)(n, 0.5))


def test_parameters_that_do_not_fit() -> None:
    """The message is PyTorch's."""
    x = leaf(np.zeros((4, 4)))
    with pytest.raises(InputError, match="FFT dims must be unique"):
        transform("rfftn", x, dim=(0, 0))
    with pytest.raises(InputError, match="When given, dim and shape arguments must have the same length"):
        transform("rfftn", x, s=(2,), dim=(0, 1))
    with pytest.raises(InputError, match="Got shape with 3 values but input tensor only has 2 dimensions"):
        transform("irfftn", x, s=(2, 2, 2))
    with pytest.raises(InputError, match='Invalid normalization mode: "loud"'):
        transform("hfft", x, norm="loud")
