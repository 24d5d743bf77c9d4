"""The chain rule once more: it finds what the rules give, and sees where a gradient is something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agrad.engine import gradient
from agrad.engine.referees import Case
from agrad.engine.referees.chain import follows_rules

MakeCase = Callable[..., Case]

PROGRAMS = [
    "z = x**2 + y",
    "a = x * y\nz = a * sin(a) + a",
    "z = sum(sort(x).values * y[0])",
    "q = torch.linalg.qr(torch.outer(x, y) + 3 * torch.eye(3))\nz = sum(q.Q * 2) + sum(q.R ** 2)",
    "z = torch.var_mean(x * y, 0)[0]",
    "c = torch.complex(x, y)\nz = torch.real(sum(c * c * torch.conj(c)))",
    "z = sum(x.detach() * y) + sum(x[x > 0])",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_gradient_by_the_engine_follows_the_rules(make_case: MakeCase, text: str) -> None:
    """Several uses, several results, complex numbers and what is detached: the sums are the engine's."""
    case = make_case(text, x=[0.5, -1.5, 2.5], y=[1.5, 0.25, -0.5])
    assert follows_rules(case)


@pytest.mark.parametrize("text", PROGRAMS[:-1])
def test_a_gradient_that_is_something_else_does_not(make_case: MakeCase, text: str) -> None:
    """One entry that is off by its millionth is seen, and so is a gradient that is left out."""
    case = make_case(text, x=[0.5, -1.5, 2.5], y=[1.5, 0.25, -0.5])
    off = np.array(case.gradients["x"])
    off.flat[int(np.argmax(np.abs(off)))] *= 1 + 1e-6
    assert not follows_rules(replace(case, gradients={**case.gradients, "x": off}))
    assert not follows_rules(replace(case, gradients={"y": case.gradients["y"]}))


def test_a_use_that_is_not_added_is_seen(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the engine keeps only the last of several uses, each op is right and the sum is not."""

    def last_only(pending: dict[Any, Any], node: Any, more: Any) -> None:
        pending[node] = more

    monkeypatch.setattr(gradient, "add", last_only)
    assert not follows_rules(make_case("x * sin(x)", x=0.5))


def test_what_is_not_finite_is_compared_as_well(make_case: MakeCase) -> None:
    """NaN and infinity where the rules give them, and nowhere else."""
    case = make_case("x / (x - y)", x=0.5, y=0.5)
    assert not np.isfinite(case.gradients["x"])
    assert follows_rules(case)
    assert not follows_rules(replace(case, gradients={**case.gradients, "x": np.float64(1.0)}))
    case = make_case("x * y", x=0.0, y=3.0)
    assert not follows_rules(replace(case, gradients={**case.gradients, "x": np.float64("nan")}))
