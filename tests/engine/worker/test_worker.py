"""A worker answers request after request, and nothing that it does keeps the one who asks."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from agrad.engine.worker.budget import Budget, BudgetSpent
from agrad.engine.worker.process import Worker
from agrad.engine.worker.serving import told

MakeWorker = Callable[[str], Worker]


def test_one_process_answers_many_requests(make_worker: MakeWorker) -> None:
    """Each request has its own answers, and what the process knows stays."""
    worker = make_worker(
        """
for number in range(request["count"]):
    yield {"number": number, "process": os.getpid()}
"""
    )
    seen = set()
    for count in (1, 0, 3):
        worker.ask({"count": count})
        answers = worker.answers(5.0)
        assert [answer["number"] for answer in answers] == list(range(count))
        seen |= {answer["process"] for answer in answers}
    assert len(seen) == 1
    assert worker.alive


def test_long_requests_and_answers_pass(make_worker: MakeWorker) -> None:
    """More than a pipe holds keeps nobody waiting, in both directions."""
    worker = make_worker("yield {'back': request['text'] * 2}")
    for length in (10, 3_000_000):
        worker.ask({"text": "a" * length})
        (answer,) = worker.answers(5.0)
        assert len(answer["back"]) == 2 * length


def test_numbers_that_are_not_finite_pass(make_worker: MakeWorker) -> None:
    """NaN and infinities come back as they are."""
    worker = make_worker("yield {'back': request['numbers']}")
    worker.ask({"numbers": [float("inf"), -0.0]})
    assert worker.answers(5.0) == [{"back": [float("inf"), -0.0]}]


def test_what_goes_wrong_is_the_last_answer(make_worker: MakeWorker) -> None:
    """An error is told with its kind, what came before it is kept, and the worker goes on."""
    worker = make_worker(
        """
yield {"step": 1}
if request["how"] == "failure":
    raise ValueError("some bug")
if request["how"] == "import":
    import module_that_nobody_has
if request["how"] == "budget":
    budget.spend(10**9)
"""
    )
    found = {}
    for how in ("failure", "import", "budget", "none"):
        worker.ask({"how": how})
        found[how] = worker.answers(5.0)
    assert found == {
        "failure": [{"step": 1}, {"error": "ValueError: some bug", "kind": "failure"}],
        "import": [{"step": 1}, {"error": "module_that_nobody_has is not installed", "kind": "import"}],
        "budget": [{"step": 1}, {"error": "more than 200,000 operations", "kind": "budget"}],
        "none": [{"step": 1}],
    }


def test_the_alarm_ends_what_looks_at_no_clock(make_worker: MakeWorker) -> None:
    """Also where somebody catches it once, and the next request has its whole time."""
    worker = make_worker(
        """
if request["hangs"]:
    try:
        while True:
            pass
    except Exception:
        while True:
            pass
time.sleep(0.1)
yield {"done well": True}
"""
    )
    worker.ask({"hangs": False, "seconds": 2.0})
    assert worker.answers(2.0) == [{"done well": True}]
    begin = time.monotonic()
    worker.ask({"hangs": True, "seconds": 0.3})
    assert worker.answers(0.3) == [{"error": "not done within 0.3 s", "kind": "budget"}]
    assert time.monotonic() - begin < 0.3 + 0.5
    worker.ask({"hangs": False, "seconds": 2.0})
    assert worker.answers(2.0) == [{"done well": True}]


def test_what_no_alarm_ends_is_killed(make_worker: MakeWorker) -> None:
    """Work that hears no signal is ended from outside, half a second after its time, and the worker is not alive."""
    worker = make_worker(
        """
yield {"step": 1}
if request["hangs"]:
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    while True:
        pass
"""
    )
    worker.ask({"hangs": False})
    worker.answers(5.0)
    begin = time.monotonic()
    worker.ask({"hangs": True, "seconds": 0.2})
    assert worker.answers(0.2) == [{"step": 1}]
    assert time.monotonic() - begin < 0.2 + 0.5 + 0.5
    assert not worker.alive
    worker.ask({"hangs": False})
    assert worker.answers(0.2) == []


def test_memory_is_limited(make_worker: MakeWorker) -> None:
    """More than the request allows is an answer, not the end of the machine; the process is not used again."""
    worker = make_worker(
        """
held = bytearray(request["bytes"])
yield {"held": len(held)}
"""
    )
    worker.ask({"bytes": 1 << 20, "memory": 64 << 20})
    assert worker.answers(5.0) == [{"held": 1 << 20}]
    worker.ask({"bytes": 1 << 30, "memory": 64 << 20})
    assert worker.answers(5.0) == [{"error": "out of memory", "kind": "memory"}]
    assert not worker.alive


def test_a_process_that_dies_is_seen(make_worker: MakeWorker) -> None:
    """What it said before is kept."""
    worker = make_worker("yield {'step': 1}\nos._exit(3)")
    worker.ask({})
    assert worker.answers(5.0) == [{"step": 1}]
    assert not worker.alive


def test_last_words_are_no_answer(make_worker: MakeWorker) -> None:
    """What a library prints as it ends the process is not read as an answer."""
    worker = make_worker("yield {'step': 1}\nos.write(1, b'gmp: overflow in mpz type\\n')\nos.abort()")
    worker.ask({})
    assert worker.answers(5.0) == [{"step": 1}]
    assert not worker.alive


def test_leaving_ends_it(make_worker: MakeWorker) -> None:
    """Whatever it is doing, and twice is no error."""
    with make_worker("while True: pass\nyield {}") as worker:
        worker.ask({"seconds": 60.0})
    assert not worker.alive
    assert worker._process.returncode is not None
    worker.end()


def test_it_ends_with_its_parent() -> None:
    """When nobody can ask any more, nothing is left running."""
    code = (
        "import sys, os\n"
        "from agrad.engine.worker.process import Worker\n"
        "worker = Worker('agrad.engine.referees.child', 'mpmath')\n"
        "print(worker._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(pid):
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    """Whether a process exists and is no zombie that nobody has fetched."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123  # as everywhere for /proc
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_starting_imports_nothing_slow() -> None:
    """A worker can be started before anything else."""
    code = "import sys, agrad.engine.worker.process; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_errors_in_words() -> None:
    """What Python says of huge numbers is put into other words."""
    assert told(OverflowError("too many digits in integer"))["error"] == "a number with too many digits"
    assert told(MemoryError())["kind"] == "memory"


def test_a_budget_counts() -> None:
    """Operations and seconds end it, and a part of it ends earlier."""
    budget = Budget(100, 60.0)
    budget.spend(60)
    part = budget.part(0.5)
    part.spend(20)
    with pytest.raises(BudgetSpent, match="more than 20 operations"):
        part.spend()
    budget.spend(40)
    with pytest.raises(BudgetSpent, match="more than 100 operations"):
        budget.spend()
    late = Budget(1000, 0.0)
    late.spend(10)
    assert late.seconds_left == 0.0
    with pytest.raises(BudgetSpent, match="not done within 0 s"):
        late.spend(100)
