"""Questions of claims as a person writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.claims.child import MODULE
from agrad.engine.claims.proof import Proof, proved
from agrad.engine.claims.question import Question, asked, read, written
from agrad.engine.claims.sampling import Sampled, sampled
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.language.claims import read_claims
from agrad.engine.worker.budget import Budget
from agrad.engine.worker.process import Worker

Ask = Callable[[str], Question]
Sample = Callable[..., Sampled]
Prove = Callable[[str], Proof]


def question_of(text: str) -> Question:
    """The last claim of a text, as the process that judges it reads it."""
    claims = read_claims(build(Source(text)))
    sides = claims.sides[-1]
    leaves = {name: (node,) for name, node in claims.leaves.items()}
    question = asked(
        sides.operator,
        (sides.left, sides.right),
        leaves,
        claims.domains,
        claims.derivatives,
        sides.within,
        claims.reads,
    )
    return read(written(question))


@pytest.fixture
def ask() -> Ask:
    """Reads the last claim of a text."""
    return question_of


@pytest.fixture
def sample() -> Sample:
    """Tries the last claim of a text at points."""

    def sample(text: str, count: int = 60) -> Sampled:
        return sampled(question_of(text), Budget(20_000_000, 20.0), count=count, seed=0)

    return sample


@pytest.fixture
def prove() -> Prove:
    """Has SymPy prove the last claim of a text."""
    return lambda text: proved(question_of(text), Budget(20_000_000, 60.0))


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One process for all claims of a module, as its start takes longest."""
    with Worker(MODULE) as worker:
        yield worker
