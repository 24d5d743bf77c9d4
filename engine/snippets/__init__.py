"""Runs short PyTorch scripts over our tensors: Python's syntax tree, walked over a white list."""

from __future__ import annotations

from .limits import Limits
from .run import After, Streams, run_snippet, run_watched

__all__ = ["After", "Limits", "Streams", "run_snippet", "run_watched"]
