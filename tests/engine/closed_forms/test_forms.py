"""Closed forms: what they are, where they hold, and that each agrees with agrad's gradient at the point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.closed_forms.request import Derived, label
from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import evaluate
from agrad.engine.graph import TABLE, Example
from agrad.engine.language import build

from .conftest import derived

Derive = Callable[..., Derived]

EXAMPLES: Final = {
    op.name: op.examples[0]
    for op in TABLE.values()
    if op.family in ("binary", "elementwise", "activation") and op.slopes is not None and any(op.slopes) and op.examples
}


def forms(found: Derived) -> dict[str, str]:
    """The text of each derivative by what it is by."""
    return {" ".join(label(place) for place in each.by): each.written["text"] for each in found.derivatives}


@pytest.mark.parametrize(
    ("text", "inputs", "expected"),
    [
        ("x**2 + y", {"x": 1.0, "y": 2.0}, {"x": "2*x", "y": "1"}),
        ("x**0.5 * 0.1", {"x": 2.0}, {"x": "1/(20*sqrt(x))"}),
        ("relu(x - 1) * y", {"x": 3.0, "y": 2.0}, {"x": "where(x > 1, y, 0)", "y": "where(x > 1, x - 1, 0)"}),
        ("abs(x)", {"x": -3.0}, {"x": "sign(x)"}),
        ("sum(x * w)", {"x": [1.0, 2.0], "w": [3.0, 4.0]}, {
            "x[0]": "w[0]", "x[1]": "w[1]", "w[0]": "x[0]", "w[1]": "x[1]",
        }),
        ("det(A)", {"A": [[1.0, 2.0], [3.0, 4.0]]}, {
            "A[0, 0]": "A[1, 1]", "A[0, 1]": "-A[1, 0]", "A[1, 0]": "-A[0, 1]", "A[1, 1]": "A[0, 0]",
        }),
        ("detach(x) * x + floor(x)", {"x": 2.5}, {"x": "x"}),
        ("lgamma(x)", {"x": 2.5}, {"x": "digamma(x)"}),
        ("where(y > 0, x**2, x)", {"x": 3.0, "y": 1.0}, {"x": "where(y > 0, 2*x, 1)", "y": "0"}),
        ("y = x\nz = x * y", {"x": 3.0}, {"x": "2*x"}),
        ("x = 3.0\nx = x * x\nz = 2 * x", {}, {"x": "4*x"}),
    ],
)  # fmt: skip
def test_forms(derive: Derive, text: str, inputs: dict[str, Any], expected: dict[str, str]) -> None:
    """The derivative is written in the names of the file, entries by their index, choices with their conditions."""
    found = derive(text, **inputs)
    assert forms(found) == expected
    assert {each.verdict for each in found.derivatives} == {"agree"}
    assert min(each.digits or 0 for each in found.derivatives) >= 15


@pytest.mark.parametrize("example", [pytest.param(each, id=name) for name, each in EXAMPLES.items()])
def test_every_elementwise_op(example: Example) -> None:
    """The form of every elementwise op agrees with its gradient, and means the same number as text of agrad's."""
    rng = np.random.default_rng(0)
    inputs = {
        name: np.round(rng.uniform(*example.within.get(name, (-3.0, 3.0))), 2) if shape else 0.5
        for name, shape in example.inputs.items()
    }
    found = derived(f"z = {example.form}", simplify=False, **inputs)
    for each in found.derivatives:
        assert each.verdict == "agree", (each.written, each.reason)
        text = each.written["text"]
        if "besseli(" not in text:  # agrad has those of orders 0 and 1
            formulas = build(Source(f"r = {text}"), inputs=inputs, spare=inputs.keys())
            value = evaluate(formulas._replace(wrt={}), {}).values[formulas.names["r"]]
            np.testing.assert_allclose(float(value), each.number, rtol=1e-7, atol=1e-12, err_msg=text)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(["sin(h)", "h*x", "tanh(h)", "h + y", "exp(h)/3", "maximum(h, y)", "h**2"]), max_size=4),
    st.floats(-2, 2).filter(lambda x: abs(x) > 0.01),
)
def test_random_compositions_agree(steps: list[str], x: float) -> None:
    """Whatever is composed, forms of orders 1 and 2 agree with gradients and gradients of gradients."""
    text = "\n".join(["h = x*y", *[f"h = {step}" for step in steps]])
    found = derived(text, order=2, x=x, y=0.7, simplify=False)
    assert {each.verdict for each in found.derivatives} <= {"agree", "kink"}


def test_a_wrong_gradient_is_found(derive: Derive) -> None:
    """A gradient that is 1% off disagrees with the form, and both numbers are told."""
    (found,) = derive("sin(x)", x=0.5, factor=1.01).derivatives
    assert found.verdict == "disagree"
    assert (found.reason or "").startswith(
        "at the file's point the form is 0.8775825619, the gradient 0.88635838750927"
    )


def test_what_cancels_agrees_with_its_rounding(derive: Derive) -> None:
    """Where a derivative is 0 because its parts cancel, a gradient of the size of their rounding agrees."""
    text = "sum(softmax(x, 0)) * y"
    found = derive(text, x=[0.3, 1.1, -0.4], y=2.0, simplify=False)
    assert {each.verdict for each in found.derivatives} == {"agree"}
    (found,) = derive("z = (x + 0.1) - x - 0.1 + x * 0", x=0.7).derivatives
    assert found.verdict == "agree"


def test_what_sympy_cannot_do_is_a_reason(derive: Derive, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside of SymPy is the reason why there is no form; while simplifying, the form stays as it is."""

    def fail(_expression: Any, *_more: Any) -> Any:
        raise NotImplementedError("odd")

    monkeypatch.setattr("sympy.factor_terms", fail)
    monkeypatch.setattr("sympy.simplify", fail)
    assert forms(derive("x**2 + x", x=2.0)) == {"x": "2*x + 1"}
    monkeypatch.setattr("sympy.diff", fail)
    (found,) = derive("x**2 + x", x=2.0).derivatives
    assert found.reason == "SymPy fails: NotImplementedError: odd"


def test_the_second_order_by_pairs(derive: Derive) -> None:
    """Orders 1 and 2 are each pair once, with agrad's second derivatives beside them."""
    found = derive("x**2 * y", order=2, x=3.0, y=2.0)
    assert forms(found) == {"x": "2*x*y", "y": "x**2", "x x": "2*y", "x y": "2*x", "y y": "0"}
    assert [each.number for each in found.derivatives] == [12.0, 9.0, 4.0, 6.0, 0.0]
    assert {each.verdict for each in found.derivatives} == {"agree"}


def test_signs_are_constants_between_their_jumps(derive: Derive) -> None:
    """The second derivative of abs is 0, never a delta."""
    assert forms(derive("abs(x) * x", order=2, x=-2.0)) == {"x": "x*sign(x) + abs(x)", "x x": "2*sign(x)"}


def test_an_inner_node_is_a_symbol(derive: Derive) -> None:
    """By a node inside of the graph the form is over its name; by its leaf it goes through it."""
    assert forms(derive("h = x**2\nz = h*h", wrt=["h", "x"], x=2.0)) == {"h": "2*h", "x": "4*x**3"}


def test_kinks_are_told(derive: Derive) -> None:
    """Where the form jumps stands beside it, with the op, what it takes there, and whether the file is there."""
    (found,) = derive("relu(2*x - 1)", x=0.5).derivatives
    (kink,) = found.kinks
    assert (kink["where"], kink["op"], kink["here"]) == ("2*x == 1", "relu", True)
    assert kink["takes"].startswith("0 at 0")
    (found,) = derive("relu(2*x - 1)", x=0.75).derivatives
    assert [each["here"] for each in found.kinks] == [False]


def test_at_a_tie_the_verdict_is_kink(derive: Derive) -> None:
    """Where the form takes one branch and agrad shares, neither is wrong."""
    found = derive("maximum(x, y)", x=2.0, y=2.0)
    assert {each.verdict for each in found.derivatives} == {"kink"}
    wrong = derive("maximum(x, y)", x=2.0, y=2.0, factor=3.0)
    assert {each.verdict for each in wrong.derivatives} == {"disagree"}


def test_what_an_order_decides_is_a_condition(derive: Derive) -> None:
    """A form that holds for one order of the entries says which."""
    found = derive("sum(sort(x).values * [1, 2, 3])", x=[3.0, 1.0, 2.0])
    assert forms(found) == {"x[0]": "3", "x[1]": "1", "x[2]": "2"}
    assert found.derivatives[0].conditions == ["x[1] <= x[2]", "x[2] <= x[0]"]


def test_a_smooth_function_has_no_conditions(derive: Derive) -> None:
    """How a formula goes about it, as in logsumexp or a pivot, is no condition."""
    assert derive("logsumexp(x, 0)", x=[3.0, 1.0]).derivatives[0].conditions == []


def test_at_a_hole_the_form_has_no_value(derive: Derive) -> None:
    """Where the form is 0/0 nothing is judged."""
    (found,) = derive("where(x == 0, 1.0, sin(x)/x)", x=0.0).derivatives
    assert (found.verdict, found.reason) == ("cannot judge", "at the file's point the form has no value")


@pytest.mark.parametrize(
    ("text", "inputs", "reason"),
    [
        ("linalg.eigvalsh(A)[0]", {"A": [[2.0, 1.0], [1.0, 3.0]]}, "SymPy has no closed form of eigh"),
        ("real(complex(x, x)**2)", {"x": 1.0}, "complex numbers have no closed form here"),
        ("sum(tanh(x @ x @ x))", {"x": np.eye(5).tolist()}, "too large"),
    ],
)
def test_where_there_is_none(derive: Derive, text: str, inputs: dict[str, Any], reason: str) -> None:
    """A derivative without a form says why, in words."""
    found = derive(text, **inputs)
    assert not found.complete
    assert all(reason in (each.reason or "") for each in found.derivatives)


def test_out_of_operations(derive: Derive) -> None:
    """Work beyond the budget ends with what there is, and the reason for the rest."""
    found = derive("sum(sin(x) * cos(x))", x=[1.0, 2.0, 3.0], operations=3)
    assert {each.reason for each in found.derivatives} == {"more than 3 operations"}


def test_deep_nesting_is_a_reason(derive: Derive) -> None:
    """An expression nested beyond what SymPy can walk says so."""
    text = "h = x\n" + "h = sin(h)\n" * 2000
    (found,) = derive(text, x=0.5).derivatives
    assert "deep" in (found.reason or "") or "large" in (found.reason or "")
