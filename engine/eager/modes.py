"""What holds for all that is computed while it is switched on: gradients or none, inference, anomaly detection."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ClassVar


class State:
    """The switches as they stand.

    Attributes:
        grad: whether operations are recorded.
        inference: whether new tensors are inference tensors.
        anomaly: whether a backward run looks for NaN and remembers where operations were called.
        check_nan: whether anomaly detection looks for NaN.
        where: where the script stands, as the text of a traceback; set by whoever runs scripts.
        mapping: whether a function runs for the members of a batch, whose values it must not ask for.
        said: the warnings that come once in a process, as far as they were given.
    """

    grad: bool = True
    inference: bool = False
    anomaly: bool = False
    check_nan: bool = True
    where: Callable[[], str] | None = None
    mapping: bool = False
    said: ClassVar[set[str]] = set()


def warn_once(text: str, stacklevel: int) -> None:
    """Warn where it was not said yet in this process."""
    if text not in State.said:
        State.said.add(text)
        warnings.warn(text, stacklevel=stacklevel)


class Switch:
    """Sets switches while a block or a function runs, and puts them back.

    Args:
        settings: the switches by name.
        at_once: whether they are set at once, and not first where the block begins.
    """

    def __init__(self, settings: dict[str, Any], *, at_once: bool = False) -> None:
        self._settings = settings
        self._kept: list[dict[str, Any]] = []
        self._at_once = at_once
        if at_once:
            self._set()

    def _set(self) -> None:
        self._kept.append({name: getattr(State, name) for name in self._settings})
        for name, value in self._settings.items():
            setattr(State, name, value)

    def __enter__(self) -> None:
        if self._at_once:
            self._at_once = False
        else:
            self._set()

    def __exit__(self, *_: object) -> None:
        for name, value in self._kept.pop().items():
            setattr(State, name, value)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, run with the switches set."""
        if self._at_once:  # as PyTorch: a switch that decorates changes nothing where it stands
            self._at_once = False
            self.__exit__()

        @functools.wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with Switch(self._settings):
                return function(*args, **kwargs)

        return switched


def _mode(settings: dict[str, Any], function: Callable[..., Any] | None) -> Any:
    switch = Switch(settings)
    return switch if function is None else switch(function)


def no_grad(orig_func: Callable[..., Any] | None = None) -> Any:
    """Nothing is recorded: results do not require a gradient."""
    return _mode({"grad": False}, orig_func)


def enable_grad(orig_func: Callable[..., Any] | None = None) -> Any:
    """Operations are recorded, also inside of `no_grad`."""
    return _mode({"grad": True}, orig_func)


def set_grad_enabled(mode: bool) -> Switch:
    """Record or do not, from here on, or while a block runs."""
    return Switch({"grad": bool(mode)}, at_once=True)


def inference_mode(mode: Any = True) -> Any:
    """Nothing is recorded, and tensors made here can never take part in anything that is."""
    if callable(mode):
        return _mode({"grad": False, "inference": True}, mode)
    return Switch({"grad": False, "inference": True} if mode else {"inference": False})


def is_grad_enabled() -> bool:
    """Whether operations are recorded."""
    return State.grad


def is_inference_mode_enabled() -> bool:
    """Whether new tensors are inference tensors."""
    return State.inference


def set_detect_anomaly(mode: bool, check_nan: bool = True) -> Switch:
    """Look for NaN in backward runs, from here on, or while a block runs."""
    return Switch({"anomaly": bool(mode), "check_nan": bool(check_nan)}, at_once=True)


def detect_anomaly(check_nan: bool = True) -> Switch:
    """Look for NaN in backward runs while a block runs."""
    warnings.warn(
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
        "debugging.",
        stacklevel=2,
    )
    return Switch({"anomaly": True, "check_nan": bool(check_nan)})


def is_anomaly_enabled() -> bool:
    """Whether backward runs look for NaN."""
    return State.anomaly
