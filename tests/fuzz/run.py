"""Random expressions before the referees: `python tests/fuzz/run.py --count 100000 --jobs 2`.

Every expression is read, evaluated and judged. Exit code 1 where one crashed, took longer than it may, or where a
referee objected: an objection is either a wrong gradient or a wrong referee, and either is a fault.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # workers and readers alike find the module beside this one

from expressions import Expression, expression

from agrad.engine.errors import AgradError
from agrad.engine.evaluation.evaluate import Evaluation, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.referees import Case, Referees

CHUNK = 200
WARMING = 4
"""A seed of an ordinary expression."""
ROOM = 1.5
"""What a check may take beyond its seconds: the ending of a process, and a machine that does other things."""
BROKEN = re.compile(r"\w+(Error|Exception)\b")
"""A reason that is an exception: the referee itself has failed."""
EVALUATION = 12.0
"""What reading, running and looking closer may take."""


@dataclass(slots=True)
class Record:
    """What became of one expression.

    Attributes:
        seed: its seed.
        outcome: the verdict, "empty", "refused" (an error for the person), "crash" or "late".
        verdicts: what each referee said.
        seconds: how long evaluation and check took.
        text: the file, where the outcome is a fault.
        reason: what was said.
    """

    seed: int
    outcome: str
    verdicts: dict[str, str] = field(default_factory=dict)
    seconds: tuple[float, float] = (0.0, 0.0)
    text: str = ""
    reason: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether somebody has to look at it."""
        return self.outcome in ("crash", "late", "disagree") or "disagree" in self.verdicts.values()


def judged(seed: int, referees: Referees, seconds: float) -> Record:
    """Read, evaluate and judge one random expression."""
    text = ""
    try:
        found = expression(seed)
        if found is None:
            return Record(seed, "empty")
        text = found.text
        record = judgement(seed, found, referees, seconds)
        # A machine that does other things is late now and then, an expression that hangs always.
        return record if record.outcome != "late" else judgement(seed, found, referees, seconds)
    except AgradError as error:
        return Record(seed, "refused", reason=error.message)
    except Exception:  # whatever it is, it is the find that this program is for
        return Record(seed, "crash", text=text, reason=traceback.format_exc(limit=-6))


def judgement(seed: int, found: Expression, referees: Referees, allowed: float) -> Record:
    """Evaluate and judge an expression."""
    start = time.monotonic()
    formulas = found.formulas
    weights = [] if found.cotangent is None else [Weight(None, found.cotangent)]
    evaluation = evaluate(formulas, {formulas.last: formulas.names[formulas.last]}, weights)
    between = time.monotonic()
    check = referees.check(case_of(evaluation))
    seconds = (between - start, time.monotonic() - between)
    verdicts = {judgement.name: judgement.verdict for judgement in check.referees}
    late = seconds[0] > EVALUATION or seconds[1] > allowed + ROOM
    broken = any(BROKEN.match(judgement.reason or "") for judgement in check.referees)
    outcome = "late" if late else "crash" if broken else check.verdict
    record = Record(seed, outcome, dict(verdicts), seconds)
    if record.is_fault:
        said = [f"{judgement.name}: {judgement.verdict}: {judgement.reason}" for judgement in check.referees]
        record.reason = "\n".join([*said, f"blame: {check.blame}", f"gradients: {case_of(evaluation).gradients}"])
        record.text = f"{found.text}\n# cotangent: {found.cotangent}"
    return record


def case_of(evaluation: Evaluation) -> Case:
    """The case of an evaluation."""
    gradients = {name: evaluation.gradient(name) for name in evaluation.wrt if name not in evaluation.unused}
    return Case(list(evaluation.outputs.values()), evaluation.cotangents, evaluation.wrt, gradients)


def chunk(seeds: Sequence[int], seconds: float, operations: int) -> list[Record]:
    """The records of some seeds, by one process of referees."""
    with Referees(seconds=seconds, operations=operations) as referees:
        judged(WARMING, referees, seconds)  # its process starts, which is no part of any check
        records = [judged(seed, referees, seconds) for seed in seeds]
    gc.collect()
    return records


def _text_of(seed: int) -> str:
    found = expression(seed)
    return "" if found is None else f"{found.text}\n# cotangent: {found.cotangent}"


def chunks(first: int, count: int) -> Iterator[range]:
    """The seeds, in parts."""
    for start in range(first, first + count, CHUNK):
        yield range(start, min(start + CHUNK, first + count))


def records(work: Callable[[Sequence[int]], list[Record]], parts: Iterable[range], jobs: int) -> Iterator[list[Record]]:
    """The records of all parts as they are ready; a process that dies costs a fault, and the others go on."""
    waiting = deque(parts)
    alone: deque[range] = deque()
    while waiting or alone:
        # What ran as a process died runs again by itself, so that the one at fault is known.
        workers, most, source = (1, 1, alone) if alone else (jobs, 2 * jobs, waiting)
        with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=40) as pool:
            running: dict[Future[list[Record]], range] = {}
            try:
                while source or running:
                    while source and len(running) < most:
                        running[pool.submit(work, source[0])] = source[0]
                        source.popleft()  # only now: a pool that is broken takes none
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield future.result()
                        del running[future]
            except BrokenProcessPool:
                for future, part in running.items():
                    if future.done() and future.exception() is None:
                        yield future.result()
                    elif source is not alone:
                        alone.append(part)
                    elif len(part) > 1:
                        half = len(part) // 2
                        alone.extend((part[:half], part[half:]))
                    else:
                        yield [Record(part[0], "crash", text=_text_of(part[0]), reason="its process died")]


def main() -> int:
    """Run it; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=5.0, help="what the referees may take for one expression")
    parser.add_argument("--operations", type=int, default=200_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="one JSON line for every fault")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    by_referee: Counter[str] = Counter()
    faults: list[Record] = []
    slowest = [0.0, 0.0]
    start = time.monotonic()
    work = partial(chunk, seconds=options.seconds, operations=options.operations)
    for found in records(work, chunks(options.first, options.count), options.jobs):
        for record in found:
            outcomes[record.outcome] += 1
            by_referee.update(f"{name} {verdict}" for name, verdict in record.verdicts.items())
            slowest = [max(pair) for pair in zip(slowest, record.seconds, strict=True)]
            if record.is_fault:
                faults.append(record)
                print(f"--- seed {record.seed}: {record.outcome}\n{record.text}\n{record.reason}", flush=True)
                if options.out is not None:
                    with options.out.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(asdict(record)) + "\n")
        done = sum(outcomes.values())
        print(f"{done} in {time.monotonic() - start:.0f} s, {len(faults)} faults", file=sys.stderr, flush=True)
    print(f"{sum(outcomes.values())} expressions: {dict(outcomes.most_common())}")
    print(f"referees: {dict(by_referee.most_common())}")
    print(f"slowest evaluation {slowest[0]:.1f} s, slowest check {slowest[1]:.1f} s; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
