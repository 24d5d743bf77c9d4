"""Values of shared options."""

from __future__ import annotations

import pytest

from agrad.cli.options import names, require_device
from agrad.engine.errors import DeviceError, InputError


def test_names_may_be_joined_or_repeated() -> None:
    """`--wrt x,y --wrt z` names three, and none twice."""
    assert names(["x, y", "z", "x"], "--wrt") == ["x", "y", "z"]
    assert names([], "--wrt") == []


@pytest.mark.parametrize("value", ["", "x,", ",", "x,,y"])
def test_missing_name_is_an_error(value: str) -> None:
    """An empty name is said with the option it stands in."""
    with pytest.raises(InputError, match="--wrt"):
        names([value], "--wrt")


def test_only_the_cpu_is_there() -> None:
    """Any other device is refused."""
    require_device("cpu")
    with pytest.raises(DeviceError, match="--device cuda"):
        require_device("cuda")
