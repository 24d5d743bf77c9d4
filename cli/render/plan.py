"""A plan as text: one paragraph a step, and what all of it takes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from ..screen import Screen
from .text import escaped

_Word = Callable[[str], str]


def plan_lines(plan: dict[str, Any], screen: Screen) -> list[str]:
    """The lines of a plan."""
    steps = plan["steps"]
    word = partial(escaped, ascii_only=screen.ascii_only)
    fused = sum(step["kind"] == "fused" for step in steps)
    lines = [screen.painted(f"{_count(len(steps), 'step')}, {_count(fused, 'fused run')}", "bold")]
    for number, step in enumerate(steps, 1):
        lines += _wrapped(f"{number:>3}  {_HEADS[step['kind']](step, word)}", screen)
        if step["kind"] == "fused":
            lines += _wrapped(f"     {_ops(step['members'])}", screen)
            lines += _wrapped(f"     {_blocks(step)}", screen)
        lines += _wrapped(f"     {_figures(step)}", screen)
    allowed = plan["bytes_allowed"]
    lines += _wrapped(
        f"inputs {_bytes(plan['bytes_inputs'])}, results {_bytes(plan['bytes_results'])}, "
        f"moved {_bytes(plan['bytes_moved'])}, at most {_bytes(plan['bytes_peak'])} held beside the inputs"
        + (f" (allowed: {_bytes(allowed)})" if allowed is not None else ""),
        screen,
    )
    lines.append(f"about {_seconds(plan['seconds'])} on {_count(plan['workers'], 'core')}")
    return lines


def _wrapped(text: str, screen: Screen) -> list[str]:
    return textwrap.wrap(text, screen.width, subsequent_indent=" " * 7, break_long_words=False) or [""]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _listed(names: Sequence[str], word: _Word) -> str:
    return ", ".join(word(name) for name in names)


def _fused_head(step: dict[str, Any], word: _Word) -> str:
    parts = [f"fused run over {_count(step['rows'], 'row')}: reads {_listed(step['inputs'], word)}"]
    if step["outputs"]:
        parts.append(f"writes {_listed(step['outputs'], word)}")
    if step["reductions"]:
        reductions = [f"{word(each['result'])} ({each['op']})" for each in step["reductions"]]
        parts.append(f"reduces to {', '.join(reductions)}")
    return "; ".join(parts)


def _single_head(step: dict[str, Any], word: _Word) -> str:
    shape = " x ".join(str(size) for size in step["shape"]) or "a number"
    head = f"{step['op']} of {_listed(step['inputs'], word)}" if step["inputs"] else step["op"]
    return f"{head} gives {word(step['result'])} ({shape}, {step['dtype']})"


def _sweep_head(step: dict[str, Any], word: _Word) -> str:
    """A text of many small values, which no plan is made for."""
    ops = ", ".join(f"{word(each['op'])} ({each['count']:,} times)" for each in step["ops"])
    return f"one sweep there and back over {_count(step['nodes'], 'node')}, one at a time: {ops}"


_HEADS: Final[dict[str, Callable[[dict[str, Any], _Word], str]]] = {
    "fused": _fused_head,
    "step": _single_head,
    "sweep": _sweep_head,
}


def _ops(members: Sequence[dict[str, Any]]) -> str:
    """The ops of a run in their order; neighbours that are the same are counted."""
    words = []
    for op, group in groupby(member["op"] for member in members):
        times = sum(1 for _ in group)
        words.append(op if times == 1 else f"{op} ({times} times)")
    return "ops: " + (", ".join(words) or "none")


def _blocks(step: dict[str, Any]) -> str:
    tested = "; products are tested for 0 times infinity" if step["guarded"] else ""
    return (
        f"{_count(step['blocks'], 'block')} of {_count(step['block'], 'row')}, {_count(step['calls'], 'call')} each, "
        f"{_count(step['buffers'], 'buffer')}{tested}"
    )


def _figures(step: dict[str, Any]) -> str:
    return (
        f"{_bytes(step['bytes_read'])} read, {_bytes(step['bytes_written'])} written, "
        f"{_bytes(step['bytes_peak'])} held, {_seconds(step['seconds'])}"
    )


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _seconds(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
