"""How tensors are printed: the options of `torch.set_printoptions`, in force for the whole process as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """What decides a tensor's text besides its value.

    Attributes:
        precision: digits after the point.
        threshold: a tensor of more elements is summarised.
        edgeitems: how many entries a summary keeps at either end of an axis.
        linewidth: characters of a line.
        sci_mode: whether numbers are written with exponents; None leaves it to the numbers.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES: Final = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
"""The named sets of options; another name changes nothing, as in PyTorch."""

_in_force: list[PrintOptions] = [PrintOptions()]


def print_options() -> PrintOptions:
    """The options in force."""
    return _in_force[-1]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change the options that are given and keep the others; `sci_mode` alone goes back to None, as in PyTorch."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    base = PROFILES.get(profile or "", print_options())
    _in_force[-1] = replace(base, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The options in force by name, as `set_printoptions` takes them."""
    return asdict(print_options())


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Change options as `set_printoptions` does, for the length of a `with` block."""
    before = print_options()
    set_printoptions(**options)
    try:
        yield
    finally:
        _in_force[-1] = before
