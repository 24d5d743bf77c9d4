"""Random expressions and claims: what was found once stays right, and a small fresh draw finds nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.graph import TABLE, make
from agrad.engine.language import build
from agrad.engine.referees import Referees

TESTS: Final = Path(__file__).parent
FINDS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (TESTS / "data" / "fuzz_finds.jsonl").read_text(encoding="utf-8").splitlines()
]
SEEDS: Final = range(5_000_000, 5_000_100)
CLAIMS: Final = range(900_000, 900_050)
SECONDS: Final = 5.0


DEADLY: Final = 7


def _dies(seeds: Sequence[int]) -> list[Any]:
    """Work whose process dies at one seed."""
    if DEADLY in seeds:
        os._exit(1)
    return []


def _module(name: str) -> ModuleType:
    """A module of the fuzz program, which is no package."""
    path = TESTS / "fuzz" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fuzz() -> Iterator[ModuleType]:
    """The program, with its generator."""
    before = list(sys.path)
    module = _module("run")
    yield module
    sys.path[:] = before
    for name in ("run", "expressions"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def referees() -> Iterator[Referees]:
    """One process of referees for all."""
    with Referees(seconds=SECONDS) as pool:
        yield pool


@pytest.mark.parametrize("find", FINDS, ids=range(len(FINDS)))
def test_a_find_is_no_fault_any_more(find: dict[str, Any], fuzz: ModuleType, referees: Referees) -> None:
    """What once crashed or was called wrong is evaluated, or refused in words, and no referee objects."""
    try:
        found = fuzz.Expression(find["text"], build(Source(find["text"], "find.txt")), find["cotangent"])
        record = fuzz.judgement(0, found, referees, SECONDS)
    except AgradError as error:
        assert error.message  # noqa: PT017  # either outcome is right
        return
    assert not record.is_fault, f"{record.outcome} {record.verdicts}\n{record.reason}"


def test_a_fresh_draw_finds_nothing(fuzz: ModuleType, referees: Referees) -> None:
    """A hundred random expressions: none crashes, hangs or is called wrong, and most are judged."""
    records = [fuzz.judged(seed, referees, SECONDS) for seed in SEEDS]
    assert not [f"{record.text}\n{record.reason}" for record in records if record.is_fault]
    assert sum(record.outcome == "agree" for record in records) > len(records) / 2


def test_a_seed_is_one_expression(fuzz: ModuleType) -> None:
    """The same seed gives the same file."""
    first, second = fuzz.expression(12), fuzz.expression(12)
    assert first.text == second.text
    assert first.cotangent == second.cotangent


@pytest.fixture
def wrong_tanh() -> Iterator[None]:
    """A rule for tanh that is wrong."""
    row = TABLE["tanh"]
    right = row.slopes
    object.__setattr__(row, "slopes", (lambda _x, y: 1.0 + make.square(y),))
    yield
    object.__setattr__(row, "slopes", right)


@pytest.mark.usefixtures("wrong_tanh")
def test_a_planted_fault_is_found(fuzz: ModuleType, referees: Referees) -> None:
    """With a wrong rule for tanh an expression with tanh in it is a fault."""
    formulas = build(Source("x = 0.5\nz = torch.tanh(x) ** 2", "planted.txt"))
    assert fuzz.judgement(0, fuzz.Expression("", formulas, None), referees, SECONDS).is_fault


def test_a_process_that_dies_is_a_fault_and_the_others_go_on(fuzz: ModuleType) -> None:
    """What ends a process is named by its seed, and every other seed is done."""
    parts = [range(5), range(5, 10), range(10, 15)]
    found = list(fuzz.records(_dies, parts, 2))
    assert [(record.seed, record.outcome) for records in found for record in records] == [(DEADLY, "crash")]


@pytest.fixture(scope="module")
def claims() -> Iterator[ModuleType]:
    """The program for claims, with its textbook."""
    before = list(sys.path)
    yield _module("claims")
    sys.path[:] = before
    for name in ("claims", "textbook"):
        sys.modules.pop(name, None)


def test_claims_of_a_textbook_are_judged_right(claims: ModuleType) -> None:
    """Of fifty claims no true one is refuted and no false one let pass, and most true ones are proved or hold."""
    records = list(claims.records(CLAIMS.start, len(CLAIMS), SECONDS))
    assert not [f"{record.text}\n{record.reason}" for record in records if record.is_fault]
    true = [record.verdict for record in records if record.is_true]
    assert sum(verdict in ("proved", "holds") for verdict in true) > 0.8 * len(true) > 0


@pytest.mark.parametrize("planted", [("x = 2\nassert x + 1e-3 == x\n", True), ("x = 2\nassert x == x\n", False)])
def test_a_claim_that_is_judged_wrong_is_a_fault(
    planted: tuple[str, bool], claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that is called true and refuted is a fault, and so is one that is called false and proved."""
    monkeypatch.setattr(claims, "claim", lambda _seed: planted)
    (record,) = claims.records(0, 1, SECONDS)
    assert record.is_fault
