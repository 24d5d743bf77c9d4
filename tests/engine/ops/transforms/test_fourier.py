"""Fourier transforms: NumPy's values, and gradients that are the transposed transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import COMPLEX64, TABLE, Node, leaf, make

Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

NORMS = st.sampled_from(["backward", "forward", "ortho"])


def transform(name: str, *args: Any, **kwargs: Any) -> Node:
    """A row of the family by its short name."""
    result: Node = TABLE[f"fft.{name}"].call(*args, **kwargs)
    return result


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 6), length=st.integers(1, 8), norm=NORMS, seed=st.integers(0, 99))
def test_transforms_are_numpys(value: Value, size: int, length: int, norm: Any, seed: int) -> None:
    """Each transform is NumPy's, cut or filled to any length, in each scaling."""
    random = np.random.default_rng(seed)
    real, turning = random.standard_normal((2, 3, size))
    z = leaf(real + 1j * turning)
    for name in ("fft", "ifft", "irfft"):
        expected = getattr(np.fft, name)(z.value, length, norm=norm)
        np.testing.assert_allclose(value(transform(name, z, length, norm=norm)), expected, atol=1e-12)
    expected = np.fft.rfft(real, length, axis=0, norm=norm)
    np.testing.assert_allclose(value(transform("rfft", leaf(real), length, 0, norm)), expected, atol=1e-12)
    for name in ("fft2", "ifftn", "fftshift", "ifftshift"):
        np.testing.assert_allclose(value(transform(name, z)), getattr(np.fft, name)(z.value), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 6), norm=NORMS, seed=st.integers(0, 99))
def test_energy_is_kept(slopes: Slopes, size: int, norm: str, seed: int) -> None:
    """The energy of a transform is that of the signal up to its scaling, so that its gradient is 2x times that."""
    x = np.random.default_rng(seed).standard_normal(size)
    scale = {"backward": size, "ortho": 1.0, "forward": 1.0 / size}[norm]

    def energy(x: Node) -> Node:
        z = transform("fft", x, norm=norm)
        return make.real(z * make.conj(z))

    np.testing.assert_allclose(slopes(energy, x)[0], 2 * x * scale, atol=1e-12)


@pytest.mark.parametrize("size", [4, 5])
def test_there_and_back(slopes: Slopes, size: int) -> None:
    """A real signal comes back from its half transform, with gradients of 1."""

    def back(x: Node) -> Node:
        return transform("irfft", transform("rfft", x), size)

    np.testing.assert_allclose(slopes(back, np.arange(float(size)))[0], np.ones(size), atol=1e-14)


def test_names_and_dtypes() -> None:
    """Names are PyTorch's for real and for complex signals; single precision stays single."""
    x = leaf(np.ones(4, np.float32), requires_grad=True)
    z = transform("fft", x)
    assert z.dtype == COMPLEX64
    assert [node.grad_fn for node in (z, transform("fft", z), transform("rfft", x), transform("irfft", z))] == [
        "FftR2CBackward0",
        "FftC2CBackward0",
        "FftR2CBackward0",
        "FftC2RBackward0",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transform("fft", leaf(np.ones(3)), 0), "Invalid number of data points (0) specified"),
        (lambda: transform("fft", leaf(1.0)), "Dimension specified as -1 but tensor has no dimensions"),
        (lambda: transform("fft", leaf(np.ones(3)), norm="half"), 'Invalid normalization mode: "half"'),
        (lambda: transform("rfft", leaf(np.ones(3) * 1j)), "rfft expects a real input tensor, but got complex128"),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """What cannot be transformed is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message
