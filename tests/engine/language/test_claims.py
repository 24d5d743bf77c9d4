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
        "w": "[-1.5707963267948966, 1)",
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


def test_every_leaf_varies() -> None:
    """One whose name is assigned again keeps a key of its own, with its line; names of the same leaf are one."""
    found = claims("x = 1.0\ny = x\nz = x**2\nx = 3.0\nx, w = 4.0, 5.0\nassert z == x*y*w")
    assert {key: float(node.value) for key, node in found.leaves.items()} == {
        "x (line 1)": 1.0,
        "x (line 4)": 3.0,
        "x": 4.0,
        "w": 5.0,
    }
    assert found.called("x") == ["x (line 1)", "x (line 4)", "x"]
    on_one_line = claims("x = 1.0; z = x; x = 2.0; x = 3.0; assert z == x")
    assert sorted(float(node.value) for node in on_one_line.leaves.values()) == [1.0, 2.0, 3.0]


def test_a_domain_is_that_of_the_leaf_that_its_name_means_there() -> None:
    """Each value of a name may have one; above all of them it is that of the first."""
    found = claims("x in (0, 9)\nx = 1.0\nz = x\nx = -3.0\nx in (-5, 0)\nassert z == x")
    assert {key: str(domain) for key, domain in found.domains.items()} == {"x (line 2)": "(0, 9)", "x": "(-5, 0)"}
    assert caret("x = 1.0\nx = 2*x\nx in (0, 3)") == "x"


def test_numbers_that_cancel_are_kept_apart() -> None:
    """A sum of written numbers that is mostly their rounding, or that loses one of them, is not one number."""
    for text in ("0.1*3 - 0.3", "1e-7 + 1e-30", "1 - 1e-12"):
        left = claims(f"x = 1.0\nassert {text} == x").sides[0].left
        assert left.op.name in ("add", "sub"), text
    assert claims("x = 1.0\nassert 0.1 + 0.25 == x").sides[0].left.op.name == "leaf"


@pytest.mark.parametrize("between", ["", "\n", "# a word\n", "\n\n  # a word\n\n"])
def test_what_is_expected_holds_across_blank_lines_and_comments(between: str) -> None:
    """Up to the claim, and for that claim alone."""
    found = claims(f"x = 1.0\n# expect: refuted\n{between}assert x == 1\n\nassert x == 2")
    assert [side.expected for side in found.sides] == ["refuted", None]


@pytest.mark.parametrize(
    "claim",
    [
        "(1 < x) & (x < 3)",
        "(x == 1) | (x == 2)",
        "~(x == 3)",
        "all(y > 0)",
        "(y > 0).all()",
        "logical_and(x > 1, x < 3)",
    ],
)
def test_a_condition_is_a_claim_that_it_is_true(claim: str) -> None:
    """As the hints for chained comparisons, `and` and `not` have it written."""
    (side,) = claims(f"x = 2.0\ny = [1.0, 2]\nassert {claim}, 'words'").sides
    assert (side.operator, side.text, side.label) == ("eq", claim, "words")
    values = evaluate([side.left, side.right])
    assert bool(values[side.left]) is bool(values[side.right]) is True


def test_a_claim_of_a_number_is_none() -> None:
    """Bits are no truth values."""
    assert caret("x = 1.0\nassert 2 & 3") == "2 & 3"
    assert caret("x = 1.0\nassert (x == 1) & (x == 1) within 2").startswith("(x == 1) & (x == 1)")
