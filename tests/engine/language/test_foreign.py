"""What is not of the language is answered with what to write instead."""

from __future__ import annotations

import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.language import build

_HEAD = "x = 2.0\ny = [1.0, 2.0, 3.0]\n"


def error_of(line: str) -> tuple[AgradError, str]:
    """The one error of a line after some assignments, and the text under its first caret."""
    text = _HEAD + line
    with pytest.raises(AgradError) as caught:
        build(Source(text, "f"))
    error = caught.value
    assert error.spans
    return error, text[slice(*error.spans[0])]


@pytest.mark.parametrize(
    ("line", "column", "under", "message", "hint"),
    [
        ("z = x^2", 6, "^", "'^' is no power", "**"),
        ("z = 2x", 5, "2x", "operator is missing between 2 and x", "2*x"),
        ("z = 2 x", 5, "2 x", "operator is missing", "2*x"),
        ("z = x y", 5, "x y", "operator is missing", "x*y"),
        ("z = (x)(y)", 5, "(x)(", "operator is missing", "(x)*(...)"),
        ("z = x(3)", 5, "x(3)", "x is a value, not a function", "x*(...)"),
        ("z = 3(x)", 5, "3(", "operator is missing", "3*(...)"),
        ("z = (x = 3)", 8, "=", "'=' inside an expression", "=="),
        ("z = sin(x", 8, "(", "'(' is never closed", ")"),
        ("z = [1, 2", 5, "[", "'[' is never closed", "]"),
        ("z = x)", 6, ")", "without an opening bracket", ""),
        ("z = (1]", 5, "(", "'(' is closed by ']'", ")"),
        ("z := x", 3, ":=", "':=' is not supported", "NAME = EXPRESSION"),
        ("z = !x", 5, "!", "'!' is no operator", "~"),
        ("z = x!", 5, "x!", "no factorial", "lgamma(x + 1)"),
        ("z = x && y", 7, "&&", "not of the language", "&"),
        ("z = x || y", 7, "||", "not of the language", "|"),
        ("z = x => y", 7, "=>", "not of the language", ">="),
        ("z = x =< y", 7, "=<", "not of the language", "<="),
        ("z = x <> y", 7, "<>", "not of the language", "!="),
        ("z = 1 < x < 3", 5, "1 < x <", "cannot be chained", "(a < b) & (b < c)"),
        ("z = x > 1 & y > 2", 5, "x > 1 & y >", "cannot be chained", "(a < b) & (b < c)"),
        ("z = x and y", 7, "and", "'and' does not work", "&"),
        ("z = x or y", 7, "or", "'or' does not work", "|"),
        ("z = not x", 5, "not", "'not' does not work", "~"),
        ("z = x is y", 7, "is", "'is' inside", "=="),
        ("z = “x”", 5, "“", "U+201C", '"'),
        ("z = x \u2212 1", 7, "\u2212", "U+2212", "-"),
        ("z = 2\u00d7x", 6, "\u00d7", "U+00D7", "*"),
        ("z = x÷2", 6, "÷", "U+00F7", "/"),
        ("z = x·2", 6, "·", "U+00B7", "*"),
        ("z = \uff08x\uff09", 5, "\uff08", "U+FF08", "("),
        ("z = x\uff0b1", 6, "\uff0b", "U+FF0B", "+"),
        ("z = x²", 5, "x²", "superscript", "x**2"),
        ("z = √x", 5, "√", "U+221A", "sqrt"),
        ("z = x\x00", 6, "\x00", "control character (U+0000)", "remove"),
        ("z = x\x1b[31m", 6, "\x1b", "control character (U+001B)", "remove"),
        ("z = x +", 7, "+", "ends too early", "brackets"),
        ("z = ", 3, "=", "expected", ""),
        ("z = * x", 5, "*", "a value is expected here", ""),
        ("z = x if x > 1", 5, "x if x > 1", "'if' without 'else'", "where"),
        ("z = x else 3", 7, "else", "'else' without 'if'", "if CONDITION"),
        ("z = {1, 2}", 5, "{", "'{' is not supported", "[ ]"),
        ("z = x \\ y", 7, "\\", "backslash", "remove"),
        ("z = 'abc", 5, "'", "string that does not end", "'"),
        ("z = f'abc'", 5, "f'abc'", "only as an argument", ""),
        ("z = 1__0", 5, "1__0", "1__0 is no number", "1_000"),
        ("z = y[1:2:3:4]", 7, "1:2:3:", "at most three parts", "START:STOP:STEP"),
        ("z = x.sum(*y)", 11, "*", "cannot be unpacked", "each argument"),
        ("z = sin(dim=0, x)", 16, "x", "positional argument after", "first"),
        ("z = sin(x=1, x=2)", 14, "x", "given twice", ""),
        ("z = y.sum(,)", 11, ",", "value is expected before ','", ""),
        ("z = y[]", 7, "]", "value is expected before ']'", ""),
        ("z: float = 1", 2, ":", "only in a slice", ""),
        ("z = 2.T", 5, "2.T", "operator is missing", "2.*T"),
        ("x ^= 2", 3, "^=", "not of the language", "**="),
        ("lambda = 3", 1, "lambda", "keyword and cannot be a name", "lambda_"),
        ("True = 3", 1, "True", "keyword and cannot be a name", ""),
        ("x + 1 = 3", 1, "x + 1", "cannot assign to x + 1", "NAME = EXPRESSION"),
        ("1 = x", 1, "1", "cannot assign to 1", "=="),
        ("f(x) = 2", 1, "f(x)", "functions cannot be defined", "f = EXPRESSION"),
        ("x.a = 2", 1, "x.a", "attribute .a cannot be assigned", ""),
        ("z = 1 w = 2", 7, "w", "second assignment", "line of its own"),
    ],
)
def test_foreign_notation_says_what_to_write(line: str, column: int, under: str, message: str, hint: str) -> None:
    """Message, line, column, what is under the caret, and the hint."""
    error, found = error_of(line)
    assert message in error.message
    assert hint in error.hint
    place = error.location
    assert place is not None
    assert (place.line, place.column) == (3, column)
    assert found == under


@pytest.mark.parametrize(
    ("line", "under", "hint"),
    [
        ("import torch", "import", "not needed"),
        ("from torch import nn", "from", "not needed"),
        ("print(x)", "print(x)", "every named value is shown"),
        ("print x", "print x", "every named value is shown"),
        ("def f(t):", "def", "formula itself"),
        ("for i in range(3):", "for", "whole tensor"),
        ("while x > 1:", "while", "whole tensor"),
        ("if x > 0:", "if", "where(CONDITION"),
        ("with torch.no_grad():", "with", "requires_grad=False"),
        ("return x", "return", "last assignment is the output"),
        ("f = lambda t: t", "lambda", "formula itself"),
        ("x.backward()", "x.backward()", "--output"),
        ("x.requires_grad_()", "x.requires_grad_()", "requires_grad=True"),
        ("g = x.grad", "x.grad", "shown in the table"),
        ("torch.manual_seed(0)", "torch.manual_seed(0)", "seed=0"),
        ("x.add_(1)", "add_", "x = x.add"),
    ],
)
def test_python_statements_say_what_to_do_instead(line: str, under: str, hint: str) -> None:
    """A Python statement is named and answered."""
    error, found = error_of(line)
    assert found == under
    assert hint in error.hint
