"""Text from a file made safe to print, measured in columns of a terminal, and broken where it may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from agrad.engine.language.tokens import one_line as tokens_on_one_line

_UNSAFE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_TOKEN: Final = re.compile(r"(?:\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?|[^\W\d]\w*\.?)[)\]]*,?|[^\w\s]|\s+")


def escaped(text: str, *, ascii_only: bool = False) -> str:
    """The text with everything escaped that a terminal could act upon: controls, bidi marks, line ends.

    Args:
        ascii_only: escape every character that is not ASCII too.
    """
    if text.isascii():
        return text if text.isprintable() else "".join([c if " " <= c <= "~" else _escape(c) for c in text])
    return "".join([c if " " <= c <= "~" or not (ascii_only or _unsafe(c)) else _escape(c) for c in text])


def _unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE_CATEGORIES


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum([_character_columns(c) for c in text])


def _character_columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def one_line(expression: str) -> str:
    """The text of an expression that may span lines, with comments inside of it left out, on one line."""
    return tokens_on_one_line(expression)


def shortened(text: str, limit: int) -> str:
    """The text, or as many whole tokens of its beginning as fit, and `...`."""
    if len(text) <= limit:
        return text
    end = 0
    for token in _TOKEN.finditer(text, 0, limit + 64):
        if token.end() > limit - 4:
            break
        end = token.end()
    return f"{text[:end].rstrip()} ..."


def words(text: str) -> list[str]:
    """The pieces of a value between which a line may be broken: at spaces."""
    return re.findall(r" *\S+ *", text)


def tokens(text: str) -> list[str]:
    """The pieces of an expression between which a line may be broken: never inside a number or a name."""
    return _TOKEN.findall(text)


def name_parts(text: str) -> list[str]:
    """The pieces of a `grad_fn` or a heading between which a line may be broken: before capitals, after `_`."""
    return re.findall(r"[A-Z]?[^A-Z_]*_*", text)[:-1] or [text]


def least_columns(text: str, split: Callable[[str], list[str]]) -> int:
    """How wide the text must be at least so that no piece of it is broken."""
    return max([_hang(line) + columns(piece.strip()) for line in text.split("\n") for piece in split(line)], default=0)


def _hang(line: str) -> int:
    """How far the numbers of an array stand from the left: behind its brackets."""
    return len(line) - len(line.lstrip(" ["))


def wrapped(text: str, width: int, split: Callable[[str], list[str]]) -> list[str]:
    """The text in lines of at most `width` columns, broken at its own line ends, at spaces, or inside of long words.

    Args:
        split: the pieces between which a word longer than a line may be broken; a longer piece is a longer line.
    """
    lines: list[str] = []
    for part in text.split("\n"):
        line, room = "", width - _hang(part)
        for word in [part] if columns(part) <= width else words(part):
            for piece in [word] if columns(word.rstrip()) <= room else split(word):
                if line.strip() and columns(line) + columns(piece.rstrip()) > width:
                    lines.append(line.rstrip())
                    line = " " * _hang(part)
                line += piece
        lines.append(line.rstrip())
    return lines
