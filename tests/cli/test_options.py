"""Values of shared options."""

from __future__ import annotations

import pytest

from agrad.cli.options import names, require_device
from agrad.engine.errors import DeviceError, InputError
from agrad.engine.run.cuda import status
from agrad.engine.run.cuda.status import Part, Status


def test_names_may_be_joined_or_repeated() -> None:
    """`--wrt x,y --wrt z` names three, and none twice."""
    assert names(["x, y", "z", "x"], "--wrt") == ["x", "y", "z"]
    assert names([], "--wrt") == []


@pytest.mark.parametrize("value", ["", "x,", ",", "x,,y"])
def test_missing_name_is_an_error(value: str) -> None:
    """An empty name is said with the option it stands in."""
    with pytest.raises(InputError, match="--wrt"):
        names([value], "--wrt")


def test_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA without what it needs is an error, never the CPU; `auto` is the CPU there, and says so."""
    missing = Status([Part("CuPy", False, "CuPy is not installed", "pip install it")], [])
    monkeypatch.setattr(status, "status", lambda: missing)
    assert require_device("cpu") == require_device("auto") == "cpu"
    for device in ("cuda", "cuda:1"):
        with pytest.raises(DeviceError, match=f"--device {device}: CuPy is not installed; to get it: pip install it"):
            require_device(device)


def test_auto_says_what_it_has_chosen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The choice and its reason are one line on stderr."""
    monkeypatch.setattr(status, "choose", lambda: ("cuda", "--device auto: computing on it"))
    assert require_device("auto") == "cuda"
    assert capsys.readouterr() == ("", "--device auto: computing on it\n")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "cpu:0", ""])
def test_unknown_device_is_an_error(device: str) -> None:
    """A name that is no device's says what to write."""
    with pytest.raises(InputError, match="no such device"):
        require_device(device)
