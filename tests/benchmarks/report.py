"""What was measured as text: a table for each case, a line for each goal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_WARM = ("warm", "least", "on cores", "agrad takes")
_FIRST = ("first call", "with start", "agrad takes", "extra MB", "numbers")


def comparison_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """A case in lines: every peer, then the goals."""
    yield data["title"]
    rows: list[tuple[str, ...]] = [("peer", *_WARM, *_FIRST)]
    for peer, found in data["peers"].items():
        if found["problem"]:
            continue
        rows.append(
            (
                peer,
                seconds(found["median_s"]),
                seconds(found["least_s"]),
                seconds(found["cpu_median_s"]),
                _ratio(data["ratios"].get(peer)),
                seconds(found["first_call_s"]),
                seconds(found["with_start_s"]),
                _ratio(data["ratios_with_start"].get(peer)),
                _megabytes(found),
                _numbers(found),
            )
        )
    yield from aligned(rows)
    yield from _problems(data["peers"])
    if "bound" in data:
        bound = data["bound"]
        yield (
            f"  bound: {seconds(bound['ufuncs_s'] + bound['memory_s'])}: the ufuncs in the cache "
            f"{seconds(bound['ufuncs_s'])}, one pass of memory {seconds(bound['memory_s'])}"
        )
    yield from _goals("agrad", data)


def process_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """Whole processes in lines."""
    yield data["title"]
    variants = data["variants"]
    rows = [
        ("command", "median", "least", "on cores", "peak MB", *[f"{variant} takes" for variant in variants], "numbers")
    ]
    for peer, found in data["peers"].items():
        if not found["problem"]:
            parts = [_ratio(told["ratios"].get(peer)) for told in variants.values()]
            times = [seconds(found[each]) for each in ("median_s", "least_s", "cpu_median_s")]
            rows.append((peer, *times, f"{found['peak_mb'] or 0:.0f}", *parts, _numbers(found)))
    yield from aligned(rows)
    yield from _problems(data["peers"])
    for variant, told in variants.items():
        yield from _goals(variant, told)


def growth_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """How the time of a work grows, in lines."""
    times = ", ".join(f"{size:,}: {seconds(taken)}" for size, taken in zip(data["sizes"], data["seconds"], strict=True))
    on_cores = data["exponent_on_cores"]
    also = f", of time on the cores {on_cores:.2f}" if on_cores is not None else ""
    yield f"{data['title']}: exponent {data['exponent']:.2f}{also}  ({times})"


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """Rows as columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  " + "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip()


def seconds(value: float | None) -> str:
    """A time in three digits."""
    if value is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * scale >= 1 or unit == "us":
            number = value * scale
            return f"{number:.{max(0, 2 - len(str(int(number))) + 1)}f} {unit}"
    raise AssertionError


def _megabytes(found: Mapping[str, Any]) -> str:
    if found["extra_mb"] is None:
        return "-"
    return f"{found['extra_mb']:.0f} of {found['allowed_mb']:.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{_part(value)} of it"


def _part(value: float) -> str:
    return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"


def _numbers(found: Mapping[str, Any]) -> str:
    if found["agrees"] is None:
        return ""
    error = found.get("error")
    words = "agree" if found["agrees"] else "DISAGREE"
    return words if error is None else f"{words} {error}" if isinstance(error, str) else f"{words} {error:.0e}"


def _problems(peers: Mapping[str, Any]) -> Iterable[str]:
    for peer, found in peers.items():
        if found["problem"]:
            yield f"  {peer}: {found['problem']}"


def _goals(name: str, data: Mapping[str, Any]) -> Iterable[str]:
    for peer, goal in data["goals"].items():
        whom = peer.replace("best", f"the best, {data['best']}")
        yield (
            f"  {name} takes {_part(goal['ratio'])} of {whom}; wanted at most {goal['goal']:.2f}: "
            f"{'met' if goal['met'] else 'MISSED'}"
        )
