"""Claims proved by SymPy: what is proved, and what must not be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agrad.engine.claims.proof import Proof

Prove = Callable[[str], Proof]

PROVED = (
    "x = 3.0\nz = x**2\nassert d(z)/d(x) == 2*x",
    "x = 3.0\nz = x**3\nassert d2(z)/d(x)**2 == 6*x",
    "x = 1.0\ny = 2.0\nz = sin(x*y)\nassert d2(z)/(d(x)*d(y)) == cos(x*y) - x*y*sin(x*y)",
    "x = 1.0\nassert softplus(x) == log(1 + exp(x))",
    "x = 1.0\nassert tanh(x) == (exp(x) - exp(-x))/(exp(x) + exp(-x))",
    "x = 1.0\nassert d(gelu(x))/d(x) == 0.5*(1 + erf(x/sqrt(2))) + x*exp(-x**2/2)/sqrt(2*pi)",
    "x = 1.0\nx in (0, inf)\nassert d(x**x)/d(x) == x**x*(log(x) + 1)",
    "x = 1.0\nassert 0.1*x*3 == 0.3*x",
    # case by case, kinks included
    "x = 1.0\nassert sqrt(x**2) == abs(x)",
    "x = 1.0\nassert d(abs(x))/d(x) == sign(x)",
    "x = 1.0\nassert d(relu(x - 3))/d(x) == where(x > 3, 1, 0)",
    "x = 1.0\nassert d(x*abs(x))/d(x) == 2*abs(x)",
    "x = 0.5\nx in [0, 1]\nassert d(asin(x))/d(x) == 1/sqrt(1 - x**2)",
    "x = 0.5\nx in (0, 1)\nassert log(x/(1 - x)) == log(x) - log(1 - x)",
    "x = 1.0\nx in {1, 2, 3}\nassert (x - 1)*(x - 2)*(x - 3) == 0",
    # arrays
    "x = [0.5, -1, 2]\np = softmax(x, 0)\nassert jacobian(p, x) == diag(p) - outer(p, p)",
    "A = [[1.0, 2], [3, 4]]\nb = [1.0, 2]\nassert grad(sum((A @ b)**2), A) == 2*outer(A @ b, b)",
    "A = [[1.0, 2], [3, 4]]\nb = [1.0, 2]\nh = A @ b\nz = sum(h**3)\nassert d(z)/d(h) == 3*h**2",
    # comparisons
    "x = 1.0\nassert x**2 + 1 > 0",
    "x = 1.0\nassert x**2 >= 0",
    "x = 1.0\nassert exp(x) != 0",
    "x = 0.5\nx in [0, 1]\nassert x <= 1",
)


@pytest.mark.parametrize("text", PROVED)
def test_identities_are_proved(prove: Prove, text: str) -> None:
    """SymPy finds the sides equal in every case of the domain."""
    assert prove(text).reason is None


NOT_PROVED = (
    ("x = 3.0\nz = x**2\nassert d(z)/d(x) == 4*x", "SymPy does not find the sides equal"),
    # SymPy's own simplification forgets where a formula is undefined
    ("x = 3.0\nassert x/x == 1", "a side is undefined unless x is not zero"),
    ("x = 3.0\nassert sqrt(x)**2 == x", "a side is undefined unless x is not negative"),
    ("x = 3.0\nassert log(x**2) == 2*log(x)", "a side is undefined unless x is positive"),
    ("x = 3.0\nassert d(log(x))/d(x) == 1/x", "a side is undefined unless x is positive"),
    ("x = [1.0, 2]\nassert x/x == 1", "a side is undefined unless x[0] is not zero"),
    # kinks and ends
    ("x = 1.0\nassert d(abs(x))/d(x) == where(x >= 0, 1, -1)", "SymPy does not find the sides equal"),
    ("x = 1.0\nassert sqrt(x**2) == x", "SymPy does not find the sides equal"),
    ("x = 0.5\nx in [0, 1]\nassert x == where(x == 1, 0, x)", "SymPy does not find the sides equal"),
    ("x = 0.5\nassert x == where(x == 0.75, 0, x)", "SymPy does not find the sides equal"),
    ("x = 1.0\nassert x**2 > 0", "SymPy does not find that x**2 is positive"),
    ("x = 1.0\nx in {1, 2, 4}\nassert (x - 1)*(x - 2)*(x - 3) == 0", "SymPy does not find the sides equal"),
    # what SymPy has no words for
    ("x = 1.5\nassert floor(x) + 1 == floor(x + 1)", "a floor jumps"),
    ("x = [1.0, 2]\nassert maximum(x[0], x[1]) == maximum(x[1], x[0])", "the sign of x[0] - x[1] is not known"),
    ("x = randn(50, seed=0)\nassert sum(2*x) == 2*sum(x)", "more than 40 numbers are too many for SymPy"),
    ("x = 1.0\ny = detach(x)*x\nassert d(y)/d(x) == x", "a part of it is detached"),
)


@pytest.mark.parametrize(("text", "reason"), NOT_PROVED)
def test_what_is_not_proved_says_why(prove: Prove, text: str, reason: str) -> None:
    """Nothing wrong is proved, nor what is undefined on one side, and the reason is given."""
    assert prove(text).reason == reason


def test_both_sides_undefined_is_told(prove: Prove) -> None:
    """Sides that are undefined for the same numbers are equal where they are defined."""
    assert prove("x = 1.0\nassert d(1/x)/d(x) == -1/x**2") == Proof(None, partial=True)
    assert prove("x = 1.0\nx in (0, inf)\nassert d(1/x)/d(x) == -1/x**2") == Proof(None, partial=False)


def test_a_wrong_rule_proves_nothing(prove: Prove, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof differentiates the formula itself."""
    from agrad.engine.graph import TABLE

    op = TABLE["sin"]
    monkeypatch.setattr(type(op), "__setattr__", object.__setattr__)  # rows are frozen
    monkeypatch.setattr(op, "slopes", (lambda *parts: parts[-1],))
    assert prove("x = 0.5\nassert d(sin(x))/d(x) == sin(x)").reason == "SymPy does not find the sides equal"
    assert prove("x = 0.5\nassert d(sin(x))/d(x) == cos(x)").reason is None
