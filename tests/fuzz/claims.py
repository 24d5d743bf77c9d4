"""Claims that are true, and claims that are not, before the judge: `python tests/fuzz/claims.py --count 1000`.

A true claim that is refuted with a number on both sides is a fault, and so is a false one that is proved or holds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from textbook import formula, one

from agrad.engine.claims import judge_claims
from agrad.engine.claims.child import MODULE
from agrad.engine.errors import AgradError, Source
from agrad.engine.language import build
from agrad.engine.worker.process import Worker

POINTS = 30
DOMAINS = ("", "x, y in (-inf, inf)\n", "x, y in (0, inf)\n", "x, y in [0, 1]\n", "x, y in (1, 2)\n")
VALUES = {
    "x, y in [0, 1]\n": ("0.5", "0", "1", "0.3"),
    "x, y in (1, 2)\n": ("1.5", "1.1"),
    "x, y in (0, inf)\n": ("2", "0.7", "30"),
}
ANYWHERE = ("0.7", "0", "-1.5", "3", "20", "-0.01")
TRUE = (
    "{f} == {g}",
    "{f} <= {g}",
    "{f} >= {g}",
    "d({f})/d(x) == {s}",
    "d({g})/d(x) == {s}",
    "hessian({f}, x) == d({s})/d(x)",
)
FALSE = ("{f} == {g} + 1e-9", "{f} < {g}", "{f} != {g}", "{f} >= {g} + 1e-9", "d({f})/d(x) == {s} + 1e-9")


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one claim.

    Attributes:
        seed: its seed.
        text: the file.
        is_true: whether the claim is true wherever both sides are defined.
        verdict: what was found.
        reason: what was said.
        is_fault: whether that is wrong.
    """

    seed: int
    text: str
    is_true: bool
    verdict: str
    reason: str
    is_fault: bool


def claim(seed: int) -> tuple[str, bool]:
    """A file with one claim, and whether it is true."""
    random = np.random.default_rng(seed)
    made = formula(random, one(random, (1, 1, 2, 2, 2, 3)))
    is_true = bool(random.random() < 0.75)
    said = one(random, TRUE if is_true else FALSE).format(f=made.text, g=made.equal, s=made.slope)
    domain = one(random, DOMAINS)
    x, y = (one(random, VALUES.get(domain, ANYWHERE)) for _ in range(2))
    return f"x = {x}\ny = {y}\n{domain}assert {said}\n", is_true


def judged(seed: int, worker: Worker, seconds: float) -> Record:
    """The judgement of one claim."""
    text, is_true = claim(seed)
    try:
        (found,) = judge_claims(build(Source(text, "claim.txt")), points=POINTS, seconds=seconds, worker=worker)
    except AgradError as error:
        return Record(seed, text, is_true, "refused", error.message, is_fault=False)
    example = found.counterexample
    finite = example is not None and bool(np.isfinite([example.left, example.right]).all())
    wrong = found.verdict == "refuted" and finite if is_true else found.verdict in ("proved", "holds")
    return Record(seed, text, is_true, found.verdict, found.reason or "", wrong)


def records(first: int, count: int, seconds: float) -> Iterator[Record]:
    """The records of some seeds."""
    worker = Worker(MODULE)
    try:
        for seed in range(first, first + count):
            if not worker.alive:
                worker = Worker(MODULE)
            yield judged(seed, worker, seconds)
    finally:
        worker.end()


def main() -> int:
    """Judge claims, print the faults and the counts of verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    counts: Counter[tuple[bool, str]] = Counter()
    faults = 0
    for record in records(options.first, options.count, options.seconds):
        counts[record.is_true, record.verdict] += 1
        if record.is_fault:
            faults += 1
            print(json.dumps(asdict(record)), flush=True)
    print({f"{'true' if is_true else 'false'}, {verdict}": n for (is_true, verdict), n in sorted(counts.items())})
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
