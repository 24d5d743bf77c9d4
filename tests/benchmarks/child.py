"""One peer on one work in a process of its own: JSON lines in, JSON lines out.

The first line that it is given is the order. It answers with what the start, the first call and its memory took and
how far its numbers are from the reference; then each line `{"budget": s, "most": n}` is answered by the times of warm
calls.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import PEERS
from peers.peer import Peer, Prepared, UnableError
from timing import forget_peak, memory_mb, times
from works import WORKS
from works.work import Inputs, Work


def main() -> None:
    """Serve until the standard input ends."""
    # What a peer prints itself goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    order = json.loads(sys.stdin.readline())
    try:
        prepared, told = started(order)
    except UnableError as error:
        say({"unable": str(error)})
        return
    say(told)
    for line in sys.stdin:
        turn = json.loads(line)
        say(times(prepared.call, turn["budget"], turn["most"])._asdict())


def started(order: dict[str, Any]) -> tuple[Prepared, dict[str, Any]]:
    """Import a peer, let it compute a work for the first time, and compare.

    Args:
        order: `peer`, `work`, `size`, `dtype`, `threads`; `began`, when the process was started (seconds of the epoch);
            `reference`, a folder for the right numbers, which are written by the first who comes.
    """
    peer, work = PEERS[order["peer"]], WORKS[order["work"]]
    module = importlib.import_module(f"peers.{peer.module}")
    start = time.time() - order["began"]
    inputs = work.inputs(order["size"], order["dtype"])
    forget_peak()
    before = memory_mb("VmRSS")
    begin = time.perf_counter()
    prepared: Prepared = getattr(module, peer.entry)(work, inputs, order["threads"])
    found = prepared.call()
    first = time.perf_counter() - begin
    peak = memory_mb("VmHWM")
    arrays = prepared.arrays(found)
    told = {
        "start": start,
        "first": first,
        "extra_mb": peak - before if peak is not None and before is not None else None,
        "results_mb": sum(array.nbytes for array in arrays) / 2**20,
        "dtypes": sorted({array.dtype.name for array in arrays}),
        "error": greatest_error(arrays, reference(work, order["size"], Path(order["reference"]))),
        "versions": versions(peer),
    }
    return prepared, told


def reference(work: Work, size: int, folder: Path) -> list[NDArray[Any]]:
    """The right numbers: derived by hand, in float64, from the same inputs as rounded for the dtype of the folder."""
    paths = [folder / f"{place}.npy" for place in range(len(work.wrt) + (work.derivative == "gradient"))]
    if not paths[-1].exists():
        inputs: Inputs = {
            name: array.astype("float64") if array.dtype.kind == "f" else array
            for name, array in work.inputs(size, folder.name).items()
        }
        for path, array in zip(paths, work.by_hand(**inputs), strict=True):
            np.save(path, array)
    return [np.load(path, mmap_mode="r") for path in paths]


def greatest_error(found: list[NDArray[Any]], right: list[NDArray[Any]]) -> float:
    """The greatest difference of an entry, as a part of the greatest entry of its array; infinity for another shape."""
    if [array.shape for array in found] != [array.shape for array in right]:
        return float("inf")
    errors = [
        np.max(np.abs(array.astype("float64") - exact)) / max(float(np.max(np.abs(exact))), 1e-300)
        for array, exact in zip(found, right, strict=True)
    ]
    return float(np.max(errors))


def versions(peer: Peer) -> dict[str, str]:
    """The versions of what a peer stands on."""
    told = {"python": sys.version.split()[0]}
    for name in peer.distributions:
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = "unknown"
    return told


if __name__ == "__main__":
    main()
