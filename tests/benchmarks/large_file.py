"""How long a file of many scalar lines takes, with gradients, and its peak memory, beside parsing it with `ast`.

python tests/benchmarks/large_file.py [--lines N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AGRAD = str(Path(sys.executable).with_name("agrad"))
PARSE = "import ast, sys; ast.parse(open(sys.argv[1]).read())"


def write(path: Path, lines: int) -> None:
    """A recurrence that stays bounded, one scalar assignment a line."""
    text = ["x0 = 0.5", "x1 = 0.25"]
    text += [f"x{i} = x{i - 1}*0.99 + sin(x{i - 2})*0.01" for i in range(2, lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def measure(command: list[str], folder: str) -> tuple[float, float]:
    """Wall-clock seconds and peak megabytes of one run."""
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123  # a device, not a path
        process = subprocess.Popen(command, cwd=folder, stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return time.perf_counter() - begin, usage.ru_maxrss / 1000


def main() -> None:
    """Run both in turns and print medians, the ratio and the peaks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        write(path, chosen.lines)
        commands = {
            "ast.parse": [sys.executable, "-c", PARSE, str(path)],
            "agrad eval --no-check": [AGRAD, "eval", str(path), "--wrt", "x0,x1", "--no-check", "--format", "json"],
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(chosen.rounds):
            for name, command in commands.items():
                taken[name].append(measure(command, folder))
    base = statistics.median(seconds for seconds, _ in taken["ast.parse"])
    for name, runs in taken.items():
        median = statistics.median(seconds for seconds, _ in runs)
        print(f"{name:24} {median:7.2f} s  {median / base:5.2f} of ast.parse  {max(peak for _, peak in runs):6.0f} MB")


if __name__ == "__main__":
    main()
