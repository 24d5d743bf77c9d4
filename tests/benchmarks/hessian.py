"""How long the Hessian of Rosenbrock's function takes once the text is read, beside `torch.func.hessian` in one run.

    python tests/benchmarks/hessian.py [--torch PYTHON] [--size N] [--rounds N]

`--torch` names a Python that has PyTorch. Rounds of both alternate, so that noise falls on each alike.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from agrad.engine.derivatives import jacobian
from agrad.engine.derivatives import nodes as derivatives
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import make_plan

FORMULA: Final = "f = sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
RUNS: Final = 15
THEIRS: Final = f"""
import sys, time, torch
x = torch.linspace(-1.5, 1.5, int(sys.argv[1]), dtype=torch.float64)
hessian = torch.func.hessian(lambda x: (100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2).sum())
for _ in range(3):
    hessian(x)
for line in sys.stdin:
    for _ in range({RUNS}):
        begin = time.perf_counter()
        hessian(x)
        print(time.perf_counter() - begin)
    print("done", flush=True)
"""


def measured(work: Callable[[], Any]) -> list[float]:
    """The seconds of each of some calls."""
    taken = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return taken


def ours(size: int) -> dict[str, Callable[[], Any]]:
    """What is measured of agrad, by name."""
    formulas = build(Source(FORMULA), inputs={"x": np.linspace(-1.5, 1.5, size)})
    f, x = formulas.names["f"], formulas.wrt["x"]
    node = derivatives.hessian(f, x)
    plan = make_plan([node])
    return {
        "run, graph and plan made": lambda: run(plan),
        "plan and run, graph made": lambda: run(make_plan([node])),
        "graph, plan and run": lambda: jacobian.hessian(f, [x]),
    }


def main() -> None:
    """Run all in turns and print medians and ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch")
    options.add_argument("--size", type=int, default=200)
    options.add_argument("--rounds", type=int, default=7)
    chosen = options.parse_args()
    works = ours(chosen.size)
    taken: dict[str, list[float]] = {name: [] for name in works}
    other: subprocess.Popen[str] | None = None
    if chosen.torch:
        command = [chosen.torch, "-c", THEIRS, str(chosen.size)]
        other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        taken["torch.func.hessian"] = []
    for work in works.values():
        measured(work)
    for _ in range(chosen.rounds):
        for name, work in works.items():
            taken[name] += measured(work)
        if other is not None and other.stdin is not None and other.stdout is not None:
            other.stdin.write("\n")
            other.stdin.flush()
            for line in iter(other.stdout.readline, "done\n"):
                taken["torch.func.hessian"].append(float(line))
    if other is not None and other.stdin is not None:
        other.stdin.close()
        other.wait()
    base = statistics.median(taken["torch.func.hessian"]) if other is not None else None
    for name, times in taken.items():
        median = statistics.median(times)
        ratio = f"  {median / base:5.2f} of torch.func.hessian" if base else ""
        print(f"{name:26} {median * 1000:8.2f} ms  least {min(times) * 1000:8.2f} ms{ratio}")


if __name__ == "__main__":
    main()
