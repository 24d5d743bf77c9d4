"""Anomaly detection: where an operation was called, and what is said when its gradient fails."""

from __future__ import annotations

import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..graph import Node
from .modes import State

if TYPE_CHECKING:
    from .record import Record

_OURS: Final = str(Path(__file__).parent)


def place() -> str:
    """Where the script stands, as the lines of a traceback."""
    if State.where is not None:
        return State.where()
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(_OURS)]
    return "".join(traceback.format_list(frames))


def warn(node: Node, name: str) -> None:
    """Say where the operation was called whose gradient failed."""
    record: Record | None = node.record
    if record is not None and record.place is not None:
        text = f"Error detected in {name}. Traceback of forward call that caused the error:\n{record.place}"
    else:
        text = (
            f"Error detected in {name}. No forward pass information available. Enable detect anomaly during forward "
            "pass for more information."
        )
    warnings.warn(text, stacklevel=4)
