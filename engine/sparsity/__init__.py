"""Linear maps by structure: which entries of their matrices can be other than zero, and as few runs as that allows."""

from __future__ import annotations

from .compression import compressed

__all__ = ["compressed"]
