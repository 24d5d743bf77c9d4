"""What goes up to a device and comes down: small arrays in one copy, large ones in pieces, one wait at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

SMALL: Final = 2**20
"""Bytes up to which an array goes up with others in one copy."""
PIECE: Final = 32 * 2**20
"""Bytes of a large array that are copied at once, while the next are being put into pinned memory."""
_ALIGNMENT: Final = 256

Array = Any


class Waiting(NamedTuple):
    """A large array that is sent when it is first read, so that what does not read it need not wait.

    Attributes:
        source: on the host.
        target: its memory on the device, which nothing else has used.
    """

    source: np.ndarray[Any, Any]
    target: Array


class Uploaded(NamedTuple):
    """Arrays on their way up.

    Attributes:
        arrays: on the device, in the order of the stream, or `Waiting`.
        staging: pinned memory that must not be given back before the stream has been waited for.
    """

    arrays: list[Any]
    staging: list[Any]


def upload(cupy: Any, cupyx: Any, arrays: Sequence[np.ndarray[Any, Any]], stream: Any) -> Uploaded:
    """Start to copy arrays to the device; large ones only get their memory.

    Args:
        cupy, cupyx: CuPy.
        arrays: arrays of the host.
        stream: the stream that everything runs on.
    """
    staging: list[Any] = []
    small = [array for array in arrays if array.nbytes <= SMALL]
    packed = iter(_upload_together(cupy, cupyx, small, stream, staging))
    return Uploaded(
        [
            next(packed) if array.nbytes <= SMALL else Waiting(array, cupy.empty(array.shape, array.dtype))
            for array in arrays
        ],
        staging,
    )


def _upload_together(
    cupy: Any, cupyx: Any, arrays: Sequence[np.ndarray[Any, Any]], stream: Any, held: list[Any]
) -> list[Array]:
    """Views into one buffer, which is copied at once."""
    places = []
    size = 0
    for array in arrays:
        places.append(size)
        size += -(-max(array.nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
    if not size:
        return []
    staging = cupyx.empty_pinned((size,), np.uint8)
    for place, array in zip(places, arrays, strict=True):
        staging[place : place + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    buffer = cupy.empty((size,), np.uint8)
    buffer.set(staging, stream)
    held.append(staging)
    return [
        cupy.ndarray(array.shape, array.dtype, buffer.data + place) for place, array in zip(places, arrays, strict=True)
    ]


def send(cupy: Any, cupyx: Any, waiting: Waiting, stream: Any, held: list[Any]) -> Any:
    """Copy a large array through two pinned buffers in turn: one is filled while the other is copied.

    Args:
        cupy, cupyx: CuPy.
        waiting: the array.
        stream: a stream for copies, beside the one that computes.
        held: what must not be given back before the copies are done is added to it.

    Returns:
        An event: what reads the array must wait for it.
    """
    source = np.ascontiguousarray(waiting.source).reshape(-1)
    flat = waiting.target.reshape(-1)
    each = PIECE // source.dtype.itemsize
    turns = 2 if source.size > each else 1
    buffers = [cupyx.empty_pinned((min(each, source.size),), source.dtype) for _ in range(turns)]
    held += buffers
    copied: list[Any] = [None] * turns
    for number, start in enumerate(range(0, source.size, each)):
        turn = number % turns
        if copied[turn] is not None:
            copied[turn].synchronize()  # the copy from this buffer only, not what runs beside it
        piece = source[start : start + each]
        buffers[turn][: piece.size] = piece
        flat[start : start + piece.size].set(buffers[turn][: piece.size], stream)
        copied[turn] = cupy.cuda.Event(disable_timing=True)
        copied[turn].record(stream)
    return copied[turn]


def download(cupy: Any, cupyx: Any, arrays: Sequence[Array], stream: Any) -> list[np.ndarray[Any, Any]]:
    """Arrays of the device on the host: all are copied, and then waited for once."""
    if not arrays:
        return []
    landings = []
    for array in arrays:
        if not array.size:
            landings.append(np.empty(array.shape, array.dtype))
            continue
        landing = cupyx.empty_pinned(array.shape, array.dtype)
        whole = array if array.flags.c_contiguous else cupy.array(array, None, True, "C")
        whole.get(stream, "C", landing, blocking=False)
        landings.append(landing)
    stream.synchronize()
    return [np.array(landing) for landing in landings]
