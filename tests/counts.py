"""How many of the recorded answers agrad gives: `python tests/counts.py` runs them all and prints the counts."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from agrad.engine.ops.departures import DEPARTURES

TESTS = Path(__file__).parent
DATA = TESTS / "data"
FILES = ("test_golden.py", "test_kinks.py", "test_field_cases.py")


class Tally:
    """A pytest plugin that remembers how many tests of each file failed, and says nothing else."""

    def __init__(self) -> None:
        self.failed: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that failed, in whatever phase."""
        if report.failed:
            self.failed[Path(report.fspath).name] += 1


def main() -> int:
    """Run the recorded answers; 0 if each is given or stands in a list with its reason."""
    tally = Tally()
    with redirect_stdout(StringIO()) as said:
        code = pytest.main([str(TESTS / "engine" / name) for name in FILES], plugins=[tally])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        print(said.getvalue())
        return int(code)
    pending = json.loads((DATA / "golden_pending.json").read_text(encoding="utf-8"))
    forms = (DATA / "golden_ops.jsonl").read_text(encoding="utf-8").count("\n")
    programs = (DATA / "golden_programs.jsonl").read_text(encoding="utf-8").count("\n")
    kinks = len(json.loads((DATA / "torch_kinks.json").read_text(encoding="utf-8")))
    cases = (DATA / "field_cases.jsonl").read_text(encoding="utf-8").count("\n")
    departures = len(DEPARTURES)
    listed = len(pending["ops"]) + len(pending["departures"])
    print(f"calling forms   {forms - listed} of {forms} as PyTorch, {listed} listed with a reason")
    print(f"programs        {programs - len(pending['programs'])} of {programs} as PyTorch")
    print(f"kinks           {kinks - departures} of {kinks} as PyTorch, {departures} listed with a reason")
    print(f"field cases     {cases} of {cases}")
    for name in FILES:
        if tally.failed[name]:
            print(f"but {tally.failed[name]} tests of {name} fail")
    return int(code)


if __name__ == "__main__":
    raise SystemExit(main())
