"""What a run was made with: versions, and the conventions under which its numbers came out."""

from __future__ import annotations

import numpy as np

from .lock import Lock

KINKS = "torch-2.13"
"""The convention of what is chosen at a kink."""


def this_run(dtype: str, seed: int) -> Lock:
    """A lock without files: versions and conventions of this run.

    Args:
        dtype: of floats; a file may say another, and the lock keeps it beside.
        seed: of the cotangents of outputs that are no single number.
    """
    versions = {"agrad": agrad_version(), "numpy": np.__version__}
    return Lock(versions, {"kinks": KINKS, "dtype": dtype, "seed": seed}, {})


def agrad_version() -> str:
    """The version of agrad as it was installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("agrad")
    except PackageNotFoundError:
        return "source"
