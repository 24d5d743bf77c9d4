"""Claims and domains: how they are written, what they mean as nodes, and their errors with a place."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.errors import AgradError, InputError, LanguageError, Source
from agrad.engine.language import build, render
from agrad.engine.language.claims import Claims, read_claims
from agrad.engine.run.cpu import evaluate


def claims(text: str, **options: object) -> Claims:
    """What a text claims."""
    return read_claims(build(Source(text, "a.txt"), **options))  # type: ignore[arg-type]  # of several types


def left_of(text: str) -> list[float]:
    """The value of the last claim's left side, as the engine computes it."""
    side = claims(text).sides[-1].left
    return np.asarray(evaluate([side])[side]).tolist()  # type: ignore[no-any-return]  # NumPy's list


def caret(text: str) -> str:
    """What the first caret of a text's error stands under."""
    with pytest.raises(AgradError) as caught:
        claims(text)
    error = caught.value
    assert error.source is not None
    return error.source.text[slice(*error.spans[0])]


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("d(z)/d(x) == 0", 12.0),
        ("-d(z)/d(x) == 0", -12.0),
        ("2*d(z)/d(x) == 0", 24.0),
        ("1 + d(z)/d(x) == 0", 13.0),
        ("(d(z)/d(x))**2 == 0", 144.0),
        ("1/(d(z)/d(x)) == 0", 1 / 12),
        ("d2(z)/d(x)**2 == 0", 12.0),
        ("d2(z)/(d(x)*d(y)) == 0", 0.0),
        ("d(z + y)/d(y) == 0", 1.0),
        ("d([x, x**2])/d(x) == [0, 0]", [1.0, 4.0]),
        ("grad(z, x) == 0", 12.0),
        ("hessian(z, x) == 0", 12.0),
    ],
)
def test_derivatives_are_written_as_quotients(claim: str, value: object) -> None:
    """With factors and signs before them, and in brackets elsewhere."""
    assert left_of(f"x = 2.0\ny = 3.0\nz = x**3\nassert {claim}") == value


def test_a_factor_may_be_a_matrix() -> None:
    """`A @ d(z)/d(x)` is the matrix times the gradient."""
    assert left_of("A = [[1.0, 2], [3, 4]]\nx = [1.0, 1]\nassert A @ d(sum(x**2))/d(x) == [0, 0]") == [6.0, 14.0]


def test_parts_of_a_claim() -> None:
    """The comparison, the tolerance, the words, what is expected, and the text without the words."""
    found = claims(
        "x = 1.0\nassert x == 1, 'one'\n  # expect: refuted\nassert x ~= 2 , 'two'\nassert x ~= 1 within 1e-3"
        "\nassert x <= 1; assert x != 2  # three"
    ).sides
    assert [(s.text, s.operator, s.within, s.label, s.expected) for s in found] == [
        ("x == 1", "eq", None, "one", None),
        ("x ~= 2", "approximate", None, "two", "refuted"),
        ("x ~= 1 within 1e-3", "approximate", 1e-3, None, None),
        ("x <= 1", "le", None, None, None),
        ("x != 2", "ne", None, None, None),
    ]


def test_names_mean_what_they_mean_on_that_line() -> None:
    """A later assignment does not change an earlier claim."""
    found = claims("x = 1.0\ny = 2*x\nassert y == 2*x\ny = 3*x\nassert y == 3*x")
    assert [evaluate([s.left])[s.left] for s in found.sides] == [2.0, 3.0]


def test_every_derivative_is_noted() -> None:
    """Those of the formulas too, each as a node of its own, so that it can be judged."""
    found = claims("x = 2.0\nz = x*3.0\ng = grad(z, x)\nassert g == 3\nassert d(z)/d(x) == 3")
    assert len(found.derivatives) == 2
    assert found.names["g"] in found.derivatives
    assert found.sides[1].left in found.derivatives


def test_domains() -> None:
    """Intervals with and without their ends, sets, constants, several names."""
    found = claims(
        "x = 1\ny = 1\nn = 2\nx, y in (0, inf)\nn in {1, 2, 2**2}  # a set\nw = 0.5\nw in [-pi/2, 1)\nz = x + n + w*y"
    )
    assert {name: str(domain) for name, domain in found.domains.items()} == {
        "x": "(0, inf)",
        "y": "(0, inf)",
        "n": "{1, 2, 4}",
        "w": "[-1.5708, 1)",
    }


def test_leaves_that_may_vary() -> None:
    """Floats, but not those that are fixed, or used as plain numbers or labels."""
    found = claims(
        "x = 1.0\nc = tensor(2.0, requires_grad=False)\nk = 2\nlabel = 1\nz = [1.0, 2, 3]\n"
        "y = x*c + sum(z[k:]) + cross_entropy(z, label)\nassert y == y"
    )
    assert [*found.leaves] == ["x", "z"]


def test_inputs_from_outside_may_be_used_in_claims_alone() -> None:
    """A value that is given is not called unused, and is a leaf."""
    found = claims("y = 1.0\nassert x == y", inputs={"x": 1.0})
    assert [*found.leaves] == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("x = 1.0\nassert d(q)/d(x) == 1", "q has no value", "q"),
        ("x = 1.0\nassert d(x)/d(x + 1) == 1", "a derivative is taken by a name", "d(x + 1)"),
        ("x = 1.0\nassert d(x)/d(2) == 1", "a derivative is taken by a name", "d(2)"),
        ("x = 1.0\nassert d(x) == 1", "d(...) stands only in a derivative", "d(x)"),
        ("x = 1.0\nassert d(x)/d(x)**2 == 1", "the orders above and below the line differ", "d(x)/d(x)"),
        ("x = 1.0\nassert d2(x)/d(x) == 1", "the orders above and below the line differ", "d2(x)/d(x)"),
        ("x = 1.0\nassert 1/d(x)/d(x) == 1", "d(...) stands only in a derivative", "d(x)"),
        ("x = [1.0, 2]\nassert x == [1, 2, 3]", "the sides have shapes [2] and [3]", "x"),
        ("x = [1.0, 2]\nassert grad(x, x) == 1", "grad can be implicitly created", "grad(x, x)"),
        ("x = 1.0\nassert x", "a claim compares two formulas", "x"),
        ("x = 1.0\nassert x = 1", "'=' in a claim", "="),
        ("x = 1.0\nassert x == 1 within 0", "a tolerance is a number above 0", "0"),
        ("x = 1.0\nassert x == 1 == 1", "comparisons cannot be chained", "x == 1 =="),
        ("x = 1.0\nassert x == 'a'", "a side of a claim is an array of real numbers", "'a'"),
        ("x = 1.0\nassert x == 1j", "a side of a claim is an array of real numbers", "1j"),
        ("x = 1.0\n# expect: refused\nassert x == 1", "nothing can be expected to be refused", "refused"),
        ("x = 1.0\ny = x ~= 2", "'~=' compares the sides of a claim", "~="),
        ("x = 1.0\ny = x within 2", "an operator is missing between x and within", "x within"),
        ("x = 1.0\nx in (0, 1", "'(' is never closed", "("),
        ("x = 1.0\nx in", "a domain is expected after 'in'", "in"),
        ("x = 1.0\nx in (0, 1, 2)", "an interval has two ends", "(0, 1, 2)"),
        ("x = 1.0\nx in (1, 0)", "no number lies in (1, 0)", "1, 0"),
        ("x = 1.0\nx in (0, x)", "a domain is written with numbers", "x"),
        ("x = 1.0\nx in {inf}", "infinity is no value", "inf"),
        ("x = 1.0\n2*x in (0, 1)", "only names have a domain", "2*x"),
        ("x = 1.0\nx in (0, 2)\nx in (0, 3)", "x has a domain already: (0, 2)", "x"),
        ("x = -1.0\nx in (0, inf)", "x is -1.0, outside of its domain (0, inf)", "x"),
        ("x = 1.0\ny = 2*x\ny in (0, 3)", "y is no leaf that varies: it has no domain", "y"),
        ("x = 1.0\nxx in (0, 3)", "xx is no name of the file: it has no domain", "xx"),
        ("x = 1.0\ny = x in (0, 3)", "'in' inside an expression", "in"),
    ],
)
def test_errors_have_a_place(text: str, message: str, place: str) -> None:
    """What is wrong, where, and under the right characters."""
    assert caret(text) == place
    with pytest.raises(InputError) as caught:
        claims(text)
    assert caught.value.message.startswith(message)
    assert render(caught.value).startswith("a.txt:")


def test_syntax_errors_in_claims_are_errors_of_the_file() -> None:
    """They are told even where nobody asks what is claimed; unknown names are not looked up then."""
    with pytest.raises(LanguageError):
        build(Source("x = 1.0\nassert x == (1"))
    assert build(Source("x = 1.0\nassert nobody == x")).claims


def test_a_text_says_the_same_with_and_without_its_claims() -> None:
    """Claims make no nodes and no leaves where they are not asked for."""
    text = "x = 2.0\nz = x**2\n"
    plain, claimed = build(Source(text)), build(Source(text + "x in (0, inf)\nassert d(z)/d(x) == 2*x"))
    assert [b.name for b in plain.bindings] == [b.name for b in claimed.bindings]
    assert (plain.last, [*plain.wrt]) == (claimed.last, [*claimed.wrt])
