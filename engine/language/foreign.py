"""What other languages, Python itself and typesetting write, and what an expression file writes instead."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..errors import LanguageError, Span
from . import tokens as t

_CHARACTERS: Final = {
    "\u2212": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u0387": "*",
    "\u22c5": "*",
    "\u2217": "*",
    "\u00f7": "/",
    "\u2215": "/",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\u2032": "'",
    "\u221a": "sqrt(...)",
    "\u2211": "sum(...)",
    "\u220f": "prod(...)",
    "\u221e": "inf",
    "\u2026": "...",
    "\u2192": "->",
    "&&": "&",
    "||": "|",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "^=": "**=",
}
"""Characters and operators that are not of the language, and what to write for each."""

_WORDS: Final = {"and": "&", "or": "|", "not": "~"}
_SUPERSCRIPTS: Final = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")

_ASSIGNMENT: Final = re.compile(r"[ \t]*=(?!=)")

STATEMENTS: Final = {
    "import": "imports are not needed: torch., F., np., math. and their functions are known",
    "from": "imports are not needed: torch., F., np., math. and their functions are known",
    "def": "write the formula itself, with the values that it is called with assigned before it",
    "class": "write the formulas themselves, one assignment a line",
    "for": "write the steps out, or use an operation over the whole tensor",
    "while": "write the steps out, or use an operation over the whole tensor",
    "if": "write NAME = VALUE if CONDITION else OTHER, or where(CONDITION, VALUE, OTHER)",
    "elif": "write NAME = VALUE if CONDITION else OTHER, or where(CONDITION, VALUE, OTHER)",
    "else": "write NAME = VALUE if CONDITION else OTHER, or where(CONDITION, VALUE, OTHER)",
    "with": "write only the formulas; constructors take requires_grad=False",
    "return": "assign it to a name: result = EXPRESSION; the last assignment is the output",
    "lambda": "write the formula itself as an assignment",
    "del": "names stay; leave this line out",
    "global": "leave this line out",
    "pass": "leave this line out",
    "raise": "leave this line out",
    "try": "leave this line out",
    "async": "leave this line out",
    "await": "leave this line out",
    "yield": "assign it to a name",
}
"""Python statements that an expression file has none of, and what to do instead."""


def statement(word: str, start: int) -> LanguageError:
    """A Python statement where an assignment is expected."""
    return LanguageError(
        f"'{word}' is a Python statement; an expression file holds assignments",
        spans=(Span(start, start + len(word)),),
        hint=STATEMENTS.get(word, "write NAME = EXPRESSION"),
    )


def stray_backslash(start: int) -> LanguageError:
    """A backslash that does not end its line."""
    return LanguageError(
        "a backslash stands only at the end of a line, to continue it",
        spans=(Span(start, start + 1),),
        hint="remove it",
    )


def chained(begin: int, end: int) -> LanguageError:
    """A comparison of a comparison: `a < b < c`."""
    return LanguageError(
        "comparisons cannot be chained",
        spans=(Span(begin, end),),
        hint="write (a < b) & (b < c), with brackets around each comparison",
    )


def attribute_of_number(text: str, start: int, end: int, name: str) -> LanguageError:
    """A method or attribute of a written number or a string."""
    return LanguageError(
        f"{text[start:end]}: a number has no .{name}", spans=(Span(start, end),), hint=f"write {name}(...) instead"
    )


def no_operand(text: str, kind: int, lexeme: str, start: int, last: int, previous: int) -> LanguageError:
    """A token where a value is expected."""
    span = Span(start, start + len(lexeme))
    if kind == t.KEYWORD:
        if lexeme in _WORDS:
            return _word(lexeme, span)
        return statement(lexeme, start)
    if kind in (t.FOREIGN, t.BAD_NUMBER):
        return _foreign(text, kind, lexeme, start)
    if kind == t.BINARY and previous == t.BINARY and last == start and lexeme == "*":
        return LanguageError("'***' is no operator", spans=(Span(start - 2, start + 1),), hint="write ** for a power")
    if lexeme in ("*", "**") and previous in (t.OPEN, t.COMMA):
        return LanguageError(f"arguments cannot be unpacked with '{lexeme}'", spans=(span,), hint="write each argument")
    if kind == t.ASSIGN and previous == t.COMPARE:
        return LanguageError("a value is expected, not '='", spans=(span,), hint="comparisons are < <= > >= == !=")
    if kind == t.ATTRIBUTE:
        return LanguageError("a value is expected before the dot", spans=(span,), hint="write NAME.method(...)")
    where = f"before '{lexeme}'" if kind in (t.CLOSE, t.COMMA, t.COLON) else f"here, not '{lexeme}'"
    return LanguageError(f"a value is expected {where}", spans=(span,))


def no_operator(text: str, kind: int, lexeme: str, start: int, begin: int, last: int, previous: int) -> LanguageError:
    """A token after a value, where an operator is expected."""
    end = start + len(lexeme)
    left = text[begin:last]
    if kind in (t.NAME, t.NUMBER, t.OPEN) and (kind != t.OPEN or lexeme == "("):
        right = lexeme if kind != t.OPEN else "(...)"
        shown = left if len(left) <= 20 and "\n" not in left else "(...)"
        if previous == t.NAME and text[begin:last] == "print":
            return _foreign_call("print", begin, end)
        if kind == t.NAME and _ASSIGNMENT.match(text, end):
            return LanguageError(
                "a second assignment on the same line",
                spans=(Span(start, end),),
                hint="put it on a line of its own, or write a comma or a semicolon before it",
            )
        return LanguageError(
            f"an operator is missing between {shown} and {right}",
            spans=(Span(begin, end),),
            hint=f"write {shown}*{right} to multiply"
            + (f", {shown}, {right} for two items" if kind == previous == t.NUMBER else ""),
        )
    if kind == t.STRING:
        return LanguageError(
            "a string stands only as an argument", spans=(Span(begin, end),), hint="write f(x, 'text')"
        )
    if kind == t.KEYWORD:
        if lexeme in _WORDS:
            return _word(lexeme, Span(start, end))
        if lexeme in ("is", "in"):
            return LanguageError(
                f"'{lexeme}' inside an expression", spans=(Span(start, end),), hint="write == to compare"
            )
        return LanguageError(
            f"'{lexeme}' inside an expression", spans=(Span(start, end),), hint=STATEMENTS.get(lexeme, "remove it")
        )
    if kind in (t.FOREIGN, t.BAD_NUMBER):
        return _foreign(text, kind, lexeme, start, begin=begin, last=last)
    if kind == t.BACKSLASH:
        return stray_backslash(start)
    if kind == t.INVERT:
        return LanguageError("'~' stands before a value", spans=(Span(start, end),), hint="write ~x, or != to compare")
    if kind == t.APPROXIMATE:
        return LanguageError(
            "'~=' compares the sides of a claim",
            spans=(Span(start, end),),
            hint="write assert LEFT ~= RIGHT on a line of its own",
        )
    if kind == t.AUGMENTED:
        return LanguageError(
            f"'{lexeme}' inside an expression",
            spans=(Span(start, end),),
            hint=f"write NAME {lexeme} VALUE on its own line",
        )
    if kind == t.COLON:
        return LanguageError(
            "':' stands only in a slice, x[START:STOP]",
            spans=(Span(start, end),),
            hint="Python's blocks (if, for, def) have no place in an expression file",
        )
    if kind == t.SEMICOLON:
        return LanguageError("';' inside brackets", spans=(Span(start, end),), hint="write , between items")
    return LanguageError(f"an operator is expected before '{lexeme}'", spans=(Span(start, end),))


def _foreign_call(name: str, start: int, end: int) -> LanguageError:
    return LanguageError(
        f"'{name}' is a Python statement; an expression file holds assignments",
        spans=(Span(start, end),),
        hint="leave it out: every named value is shown",
    )


def _word(lexeme: str, span: Span) -> LanguageError:
    instead = _WORDS[lexeme]
    example = "~c" if lexeme == "not" else f"(a < b) {instead} (c < d)"
    return LanguageError(
        f"'{lexeme}' does not work on tensors",
        spans=(span,),
        hint=f"write {instead}, with brackets around each comparison: {example}",
    )


def _foreign(text: str, kind: int, lexeme: str, start: int, *, begin: int = -1, last: int = -1) -> LanguageError:
    """A character or operator that the language has not."""
    span = Span(start, start + len(lexeme))
    if kind == t.BAD_NUMBER:
        hint = "underscores stand between digits: 1_000" if "_" in lexeme else ""
        many = len(lexeme) > 300 and not hint
        return LanguageError(
            f"a number of {len(lexeme):,} digits is too large" if many else f"{lexeme} is no number",
            spans=(span,),
            hint=hint or "write it as a float: 1e300",
        )
    if lexeme == "^":
        return LanguageError("'^' is no power here", spans=(span,), hint="write ** for a power: x**2")
    if lexeme in ("<<", ">>"):
        return LanguageError(f"'{lexeme}' is not supported", spans=(span,), hint="write * 2**n or // 2**n")
    if lexeme == ":=":
        return LanguageError(
            "':=' is not supported", spans=(span,), hint="write = on a line of its own: NAME = EXPRESSION"
        )
    if lexeme == "!" and begin >= 0:
        left = text[begin:last]
        return LanguageError(
            "'!' is no factorial here", spans=(Span(begin, span.end),), hint=f"write exp(lgamma({left} + 1))"
        )
    if lexeme == "!":
        return LanguageError("'!' is no operator", spans=(span,), hint="write ~ for not, != for unequal")
    if lexeme in "{}":
        return LanguageError(f"'{lexeme}' is not supported", spans=(span,), hint="write lists with [ ]")
    if lexeme in "\"'":
        return LanguageError("a string that does not end", spans=(span,), hint=f"add the closing {lexeme}")
    if lexeme in _CHARACTERS:
        return LanguageError(
            f"'{lexeme}' {_code_point(lexeme)}is not of the language",
            spans=(span,),
            hint=f"write {_CHARACTERS[lexeme]}",
        )
    return _character(lexeme, span)


def _character(lexeme: str, span: Span) -> LanguageError:
    stripped = lexeme.rstrip("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    if stripped != lexeme:
        power = lexeme[len(stripped) :].translate(_SUPERSCRIPTS)
        return LanguageError(
            f"'{lexeme}' holds a superscript", spans=(span,), hint=f"write {stripped.lstrip('.') or 'x'}**{power}"
        )
    plain = unicodedata.normalize("NFKC", lexeme)
    if plain != lexeme and plain.isascii() and plain.isprintable():
        return LanguageError(
            f"'{lexeme}' {_code_point(lexeme)}is not of the language", spans=(span,), hint=f"write {plain}"
        )
    if len(lexeme) == 1 and not lexeme.isprintable():
        return LanguageError(f"a control character {_code_point(lexeme)}".rstrip(), spans=(span,), hint="remove it")
    return LanguageError(f"'{lexeme}' {_code_point(lexeme)}is not of the language".replace("  ", " "), spans=(span,))


def _code_point(lexeme: str) -> str:
    return f"(U+{ord(lexeme):04X}) " if len(lexeme) == 1 and not (lexeme.isascii() and lexeme.isprintable()) else ""
