"""From text to tokens: one regular expression cuts a line into strings that cover it without gaps."""

from __future__ import annotations

import keyword
import re
from typing import Any, Final

from .postfix import BINARY as TWO_OPERANDS

SPACE: Final = 0
NAME: Final = 1
NUMBER: Final = 2
BINARY: Final = 3
SIGN: Final = 4
COMPARE: Final = 5
OPEN: Final = 6
CLOSE: Final = 7
COMMA: Final = 8
COLON: Final = 9
ATTRIBUTE: Final = 10
ASSIGN: Final = 11
AUGMENTED: Final = 12
KEYWORD: Final = 13
STRING: Final = 14
ELLIPSIS: Final = 15
SEMICOLON: Final = 16
BACKSLASH: Final = 17
INVERT: Final = 18
RUN: Final = 19
FOREIGN: Final = 20
BAD_NUMBER: Final = 21
APPROXIMATE: Final = 22

Entry = tuple[Any, ...]
"""The kind of a token, then what the parser needs of it: for an operator its floor and what it pushes."""

_PRODUCTS: Final = frozenset("\u00b7\u0387")
"""Dots that Unicode allows in names and that people write for a product."""

_NAME = r"[^\W\d][\w{extra}]*"
_NUMBER = (
    r"0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9][0-9_]*)?[jJ]?"
)
_TEXT = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_LONG_OPERATORS = r"\*\*=|//=|\*\*|//|[-+*/%@&|^]=|==|!=|<=|>=|<<|>>|:=|~=|=>|=<|<>|->|&&|\|\||\.\.\."

WHOLE_NAME: Final = r"(?>[^\W\d]\w*)"
WHOLE_NUMBER: Final = rf"(?>{_NUMBER})"
"""Names and numbers in a longer expression, no shorter than as tokens of their own."""

# A flat list of many numbers is one token, so that data of a million numbers costs no token each.
_NUMBERS = r"\[[-+0-9._eE, \t]{40,}\]"


def pattern_for(text: str) -> re.Pattern[str]:
    """The expression that cuts `text`: combining marks, which may stand in names, are those that occur in it."""
    if text.isascii():
        return _ASCII
    marks = [
        c for c in set(text) if not c.isascii() and not c.isalnum() and ("a" + c).isidentifier() and c not in _PRODUCTS
    ]
    return _compiled("".join(sorted(map(re.escape, marks)))) if marks else _ASCII


def _compiled(extra: str) -> re.Pattern[str]:
    name = _NAME.replace("{extra}", extra)
    return re.compile(
        rf"[ \t\f\v\xa0]+|{name}|{_LONG_OPERATORS}|{_NUMBERS}|{_NUMBER}|\.[ \t]*{name}|[-+*/()=,]"
        rf"|#[^\n]*|{_TEXT}|[\s\S]"
    )


_ASCII: Final = _compiled("")
_WITHOUT_RUNS: Final = re.compile(rf"[ \t]+|{_NUMBER}|{_LONG_OPERATORS}|[eE_][eE_0-9]*|[\s\S]")


_COMMENT: Final = re.compile(rf"{_TEXT}|#[^\n]*")
_LINE_END: Final = re.compile(r"\s*\\?\n\s*")


def one_line(text: str) -> str:
    """The text of an expression that may span lines, on one line and without the comments inside of it."""
    if "\n" in text:
        text = _COMMENT.sub(lambda found: "" if found[0].startswith("#") else found[0], text)
        text = _LINE_END.sub(" ", text).strip()
    return text.replace("\t", " ")


def split_run(lexeme: str) -> list[str]:
    """The single tokens of a list of numbers that turned out to be more than that."""
    return _WITHOUT_RUNS.findall(lexeme)


def number_of(lexeme: str) -> int | float | complex:
    """The number that a token writes.

    Raises:
        ValueError: where it is none, or an integer with too many digits to be read.
    """
    last = lexeme[-1]
    if last in "jJ":
        return complex(lexeme)
    if lexeme.isdecimal():
        return int(lexeme)
    if lexeme[:2] in _BASES:
        return int(lexeme, 0)
    try:
        return float(lexeme)
    except ValueError:
        return int(lexeme, 10)


_BASES: Final = frozenset(("0x", "0X", "0o", "0O", "0b", "0B"))

KEYWORDS: Final = frozenset(keyword.kwlist)
_VALUES: Final = frozenset(("False", "None", "True"))

# What the operator stack holds: precedence, start (below 0: two operands), code of the instruction, its payload.
TERNARY: Final = 1
COMPARISON: Final = 3
PREFIX: Final = 9


def _operators() -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for precedence, names in (
        (4, {"|": "bitwise_or"}),
        (6, {"&": "bitwise_and"}),
        (7, {"+": "add", "-": "sub"}),
        (8, {"*": "mul", "/": "div", "//": "floor_divide", "%": "remainder", "@": "matmul"}),
        (10, {"**": "pow"}),
    ):
        for lexeme, name in names.items():
            kind = SIGN if precedence == 7 else BINARY
            # `**` groups from the right: an equal operator on the stack stays there.
            floor = precedence + 1 if lexeme == "**" else precedence
            entries[lexeme] = (kind, floor, (precedence, -1, TWO_OPERANDS, name))
            entries[lexeme + "="] = (AUGMENTED, name)
    for lexeme, name in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}.items():
        entries[lexeme] = (COMPARE, COMPARISON + 1, (COMPARISON, -1, TWO_OPERANDS, name))
    entries["~="] = (APPROXIMATE, COMPARISON + 1, (COMPARISON, -1, TWO_OPERANDS, "approximate"))
    for lexeme in "([":
        entries[lexeme] = (OPEN,)
    for lexeme in ")]":
        entries[lexeme] = (CLOSE,)
    singles = {",": COMMA, ":": COLON, "=": ASSIGN, ";": SEMICOLON, "\\": BACKSLASH, "~": INVERT, "...": ELLIPSIS}
    entries.update({lexeme: (kind,) for lexeme, kind in singles.items()})
    return entries


_OPERATORS: Final = _operators()


def fresh_entries() -> dict[str, Entry]:
    """The tokens that are known from the start; the parser adds each new one once."""
    return dict(_OPERATORS)


def classify(lexeme: str) -> Entry:
    """The kind of a token that is no operator."""
    first = lexeme[0]
    if first in " \t\f\v\xa0#\r":
        return (SPACE,)
    if first == "[":
        return (RUN,)
    if (first.isdecimal() and first.isascii()) or (first == "." and len(lexeme) > 1 and lexeme[1] in "0123456789"):
        try:
            return (NUMBER, number_of(lexeme))
        except ValueError:
            return (BAD_NUMBER,)
    if first == "." and len(lexeme) > 1:
        name = lexeme[1:].lstrip()
        return (ATTRIBUTE, name) if name.isidentifier() else (FOREIGN,)
    if lexeme.isidentifier():
        return (KEYWORD,) if lexeme in KEYWORDS and lexeme not in _VALUES else (NAME,)
    if first in "\"'" and len(lexeme) > 1:
        return (STRING, lexeme[1:-1])
    return (FOREIGN,)
