"""The reference of the ops: as a list, as the entry of one op, as JSON and as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np

from agrad.engine.files.json_data import json_value
from agrad.engine.graph import Op
from agrad.engine.ops.departures import CONVENTION
from agrad.engine.reference.page import HIDDEN, OPERATORS, Reference
from agrad.engine.report import SCHEMA_VERSION

from ..screen import Screen
from .numbers import NORMAL, Detail, value_text
from .text import columns, escaped, shortened, tokens, wrapped

_GAP: Final = 2
_LABEL: Final = 12
_LEAST: Final = 24
"""Columns that a sentence needs beside a name or a label; where there are fewer it stands below."""
_COARSE: Final = Detail(4, 12)
"""What every machine agrees on."""
_NOISE: Final = 1e-12
_FREE_SIGNS: Final = frozenset(("eig", "eigh", "eigvals", "svd", "qr"))
"""Functions some of whose results another build may give in another order or with the other sign."""


def list_lines(rows: Sequence[Op], screen: Screen) -> list[str]:
    """The names and sentences of ops, by family."""
    lines: list[str] = []
    width = max(columns(op.name) for op in rows) + _GAP
    for family, group in groupby(rows, key=lambda op: op.family):
        lines += [*([""] if lines else []), screen.painted(family, "bold")]
        for op in group:
            lines += _named(op, width, screen)
    return lines


def _named(op: Op, width: int, screen: Screen) -> list[str]:
    """The name of an op and its sentence beside it, or below it where the screen is narrow."""
    doc = escaped(op.doc, ascii_only=screen.ascii_only)
    room = screen.width - width - _GAP
    if room >= _LEAST:
        return [f"{' ' * _GAP}{op.name:<{width}}{shortened(doc, room)}".rstrip()]
    return [" " * _GAP + op.name, " " * 2 * _GAP + shortened(doc, screen.width - 2 * _GAP)]


def list_json(rows: Sequence[Op]) -> dict[str, Any]:
    """The names, forms and sentences of ops."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ops": [
            {"name": op.name, "family": op.family, "doc": op.doc, "aliases": list(op.aliases), "forms": list(op.forms)}
            for op in rows
        ],
    }


def entry_json(entry: Reference) -> dict[str, Any]:
    """Everything that is told of an op."""
    example = entry.example
    return {
        "schema_version": SCHEMA_VERSION,
        "name": entry.name,
        "family": entry.family,
        "doc": entry.doc,
        "aliases": list(entry.aliases),
        "forms": [{"form": form, "grad_fn": grad_fn} for form, grad_fn in entry.forms],
        "parameters": [{"name": name, "takes": takes, "default": default} for name, takes, default in entry.parameters],
        "rule": list(entry.rule),
        "helpers": dict(entry.helpers),
        "domain": entry.domain,
        "kink": entry.kink,
        "convention": CONVENTION,
        "grad_fn": list(entry.grad_fns),
        "orders": entry.orders,
        "example": None
        if example is None
        else {
            "form": example.form,
            "command": example.command,
            "inputs": _json_values(example.inputs),
            "values": _json_values(example.values),
            "gradients": _json_values(example.gradients),
        },
        "departures": [departure._asdict() for departure in entry.departures],
    }


def _json_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: json_value(value) for name, value in values.items()}


def entry_lines(entry: Reference, screen: Screen) -> list[str]:
    """All that is told of an op, for a screen."""
    title = f"{screen.painted(entry.name, 'bold')}  ({entry.family})"
    lines = [title, *_block(entry.doc, "", screen), ""]
    for label, texts in _fields(entry):
        for place, text in enumerate(texts):
            lines += _block(text, "" if place else label, screen)
    if entry.example is not None:
        lines += _block(entry.example.command, "example", screen)
        for name, value in _results(entry):
            lines += _block(f"{name} = {value_text(value, NORMAL)}", "", screen)
    return lines


def _block(text: str, label: str, screen: Screen) -> list[str]:
    """A text beside its label, in as many lines as it needs."""
    text = escaped(text, ascii_only=screen.ascii_only)
    room = screen.width - _GAP - _LABEL
    if room < _LEAST:
        lines = [" " * 2 * _GAP + line for line in wrapped(text, screen.width - 2 * _GAP, tokens)]
        return [" " * _GAP + screen.painted(label, "dim"), *lines] if label else lines
    first, *more = wrapped(text, room, tokens) or [""]
    head = " " * _GAP + screen.painted(label, "dim") + " " * (_LABEL - len(label)) if label else " " * (_GAP + _LABEL)
    return [(head + first).rstrip(), *[" " * (_GAP + _LABEL) + line for line in more]]


def _fields(entry: Reference) -> Iterator[tuple[str, list[str]]]:
    """The fields of an entry that are texts, those that say nothing left out."""
    yield "forms", list(_forms(entry))
    operators = [sign for sign, name in OPERATORS.items() if name == entry.name]
    yield "also", [", ".join([*entry.aliases, *operators])] if entry.aliases or operators else []
    yield (
        "takes",
        [
            f"{name}: {takes}" + ("" if default is None else f" [{default}]")
            for name, takes, default in entry.parameters
        ],
    )
    yield "rule", list(entry.rule)
    yield "", [f"{name}: {doc}" for name, doc in entry.helpers]
    yield "domain", [entry.domain]
    yield "kink", [f"{entry.kink}  ({CONVENTION})"]
    yield "grad_fn", [", ".join(entry.grad_fns)] if entry.grad_fns else []
    yield "orders", [f"1 to {entry.orders}" if entry.orders > 1 else str(entry.orders)] if entry.orders else []
    yield (
        "departs",
        [f"{each.form} at {each.point}: {each.agrad}, PyTorch {each.torch}; {each.why}" for each in entry.departures],
    )


def _forms(entry: Reference) -> Iterator[str]:
    """Each calling form, with its grad_fn where they differ."""
    differ = len(entry.grad_fns) > 1
    width = max((columns(form) for form, _ in entry.forms), default=0)
    for form, grad_fn in entry.forms:
        yield f"{form:<{width}}  {grad_fn}" if differ and grad_fn else form


def _results(entry: Reference) -> list[tuple[str, Any]]:
    example = entry.example
    if example is None:
        return []
    return [*example.values.items(), *[(f"grad({name})", value) for name, value in example.gradients.items()]]


def page(entries: Sequence[Reference], *, whole: bool) -> list[str]:
    """Entries as a Markdown page; the whole table with a heading, a contents list and the departures."""
    lines: list[str] = _opening(entries) if whole else []
    for family, group in groupby(entries, key=lambda entry: entry.family):
        if whole:
            lines += [f"## {family}", ""]
        for entry in group:
            lines += [*_section(entry), ""]
    if whole:
        lines += _departures(entries)
    return lines[:-1] if lines and not lines[-1] else lines


def _opening(entries: Sequence[Reference]) -> list[str]:
    families = list(dict.fromkeys(entry.family for entry in entries))
    return [
        "# The ops of agrad",
        "",
        "This page is written by `agrad ops --format markdown`, from the table; `agrad ops NAME` shows one op.",
        "",
        "In a rule, `g` is the cotangent of the result `out`, and `grad(x)` is what flows to `x`. Broadcasting is",
        "undone where cotangents are added up, and a product with a cotangent of 0 is 0 whatever the other factor is.",
        "Rules are read off an example, so shapes in them are those of the example; `...` stands for what the language",
        "cannot say, and `made of` for a rule that is too long to be read. What is chosen at a kink follows the",
        f"convention `{CONVENTION}`, except at the points of the last section.",
        "",
        *[f"- [{family}](#{_anchor(family)}): " + _names(entries, family) for family in families],
        "",
    ]


def _anchor(text: str) -> str:
    return text.replace(".", "").lower()


def _names(entries: Sequence[Reference], family: str) -> str:
    return ", ".join([f"`{entry.name}`" for entry in entries if entry.family == family])


def _section(entry: Reference) -> list[str]:
    """One op."""
    lines = [f"### {entry.name}", "", _prose(entry.doc), ""]
    for label, texts in _fields(entry):
        if not texts:
            continue
        if label in ("forms", "takes"):
            lines.append(f"- {label}: " + ", ".join([f"`{' '.join(text.split())}`" for text in texts]))
        elif label in ("also", "grad_fn"):
            lines.append(f"- {label}: `{texts[0]}`")
        elif label in ("domain", "kink", "orders"):
            lines.append(f"- {label}: {_prose(' '.join(texts[0].split()))}")
    if entry.rule:
        rule = [*entry.rule, *[f"# {name}: {doc}" for name, doc in entry.helpers]]
        lines += ["", "```text", *rule, "```"]
    if entry.example is not None:
        shown = [] if entry.name.rpartition(".")[2] in _FREE_SIGNS else _results(entry)
        results = [f"{name} = {value_text(_steady(value), _COARSE)}" for name, value in shown]
        lines += ["", "```text", f"$ {entry.example.command}", *results, "```"]
    return lines


def _steady(value: Any) -> Any:
    """A value without what rounding leaves in the place of 0, which machines do not agree on."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or not array.size:
        return value
    least = _NOISE * max(1.0, np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))
    steady = np.where(np.abs(array.real) <= least, 0.0, array.real).astype(array.real.dtype)
    if array.dtype.kind == "c":
        return steady + 1j * np.where(np.abs(array.imag) <= least, 0.0, array.imag)
    return steady[()]


def _prose(text: str) -> str:
    """A sentence in which nothing is taken for markup."""
    for mark in "\\*_<[|":
        text = text.replace(mark, f"\\{mark}")
    return text


def _departures(entries: Sequence[Reference]) -> list[str]:
    """The table of the points where agrad's gradient is not PyTorch's."""
    found = [departure for entry in entries if entry.family != HIDDEN for departure in entry.departures]
    if not found:
        return []
    rows = [("form", "point", "PyTorch", "agrad", "why"), ("---",) * 5]
    rows += [(f"`{each.form}`", each.point, each.torch, each.agrad, _prose(each.why)) for each in found]
    return ["## Where agrad departs from PyTorch", "", *[f"| {' | '.join(row)} |" for row in rows], ""]
