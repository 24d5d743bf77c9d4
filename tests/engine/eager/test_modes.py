"""Switches: recording, inference, anomaly detection."""

from __future__ import annotations

import pytest

from agrad.engine.eager.namespace import torch


def test_nothing_is_recorded_in_a_block() -> None:
    """Results inside of `no_grad` require nothing, `enable_grad` inside of it does."""
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        assert torch.ones(1, requires_grad=True).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_decorators() -> None:
    """The switches decorate functions, with and without brackets."""
    x = torch.ones(2, requires_grad=True)

    @torch.no_grad()
    def first() -> bool:
        return bool((x * 2).requires_grad)

    @torch.no_grad
    def second() -> bool:
        return bool((x * 2).requires_grad)

    assert (first(), second(), torch.is_grad_enabled()) == (False, False, True)


def test_set_grad_enabled_holds_at_once_and_for_a_block() -> None:
    """As a call it stays, as a block it is put back."""
    x = torch.ones(2, requires_grad=True)
    torch.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert torch.is_grad_enabled()


def test_an_error_in_a_block_puts_the_switch_back() -> None:
    """The mode after a block does not depend on how it ended."""
    with pytest.raises(ValueError, match="inside"), torch.no_grad():
        raise ValueError("inside")
    assert torch.is_grad_enabled()


def test_inference_tensors() -> None:
    """They take no part in anything that is recorded, and are not written to outside."""
    with torch.inference_mode():
        tensor = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        tensor * x
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        tensor.add_(1)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        tensor.requires_grad_()


def test_detect_anomaly_warns() -> None:
    """It is slow, and says so."""
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        torch.autograd.detect_anomaly()
