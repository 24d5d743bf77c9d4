"""Files judged without processes: judges that always say the same, and results made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.checking.finding import FileResult
from agrad.engine.checking.judging import judged
from agrad.engine.checking.policy import Policy
from agrad.engine.checking.subjects import subjects
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.referees import Case, Check, Judgement

JudgeText = Callable[..., FileResult]


class Fixed:
    """Judges that say what they are told to say.

    Args:
        check: of every gradient.
        claims: of every file.
    """

    def __init__(self, check: Check, claims: list[Any]) -> None:
        self._check = check
        self._claims = claims
        self.cases: list[Case] = []

    def check(self, case: Case) -> Check:
        """The same check of any case."""
        self.cases.append(case)
        return self._check

    def claims(self, formulas: Any) -> list[Any]:  # noqa: ARG002  # as the real ones
        """The same claims of any file."""
        return self._claims


AGREEMENT = Check.of([Judgement("mpmath", "agree", 15)])


@pytest.fixture
def judge_text() -> JudgeText:
    """Judges a text by judges that say the same of everything."""

    def judge(
        text: str, *, name: str = "a.txt", check: Check = AGREEMENT, claims: Any = (), policy: Policy | None = None
    ) -> FileResult:
        policy = policy or Policy()

        def read() -> Any:
            formulas = build(Source(text, name))
            return formulas, subjects(formulas, [], [], policy.seed)

        return judged(name, read, Fixed(check, list(claims)), policy)  # type: ignore[arg-type]  # they judge as well

    return judge
