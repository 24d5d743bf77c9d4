"""How long `agrad eval` takes on the smallest sample, as ratios to importing what it stands on, in one run.

python tests/benchmarks/start_up.py [--torch PYTHON] [--rounds N]

Measure an installed wheel, with PYTHONDONTWRITEBYTECODE unset. `--torch` names a Python that has PyTorch.
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
SAMPLE = str(Path(__file__).parents[2] / "samples" / "paraboloid.txt")


def seconds(command: list[str], folder: str, environment: dict[str, str]) -> float:
    """The wall-clock time of one run of a command, in seconds."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Run all commands in turns, so that noise falls on each alike, and print medians and ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch")
    options.add_argument("--rounds", type=int, default=21)
    chosen = options.parse_args()
    evaluate = [AGRAD, "eval", SAMPLE, "--wrt", "x,y"]
    commands = {
        "import click, rich.table, numpy": [sys.executable, "-c", "import click, rich.table, numpy"],
        "agrad eval --no-check": [*evaluate, "--no-check"],
        "agrad eval": evaluate,
    }
    if chosen.torch:
        commands["import torch"] = [chosen.torch, "-c", "import torch"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:  # away from the sources, so that the installed package is measured
        for command in commands.values():
            seconds(command, folder, environment)
        for _ in range(chosen.rounds):
            for name, command in commands.items():
                taken[name].append(seconds(command, folder, environment))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, median in medians.items():
        ratios = "  ".join(f"{median / medians[base]:6.2f} of {base}" for base in commands if "import" in base)
        print(f"{name:34} {median * 1000:7.0f} ms  {ratios}")


if __name__ == "__main__":
    main()
