"""Jacobians, Hessians and higher derivatives as text: labelled rows and columns, or what large ones come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from agrad.engine.derivatives.curvature import Curvature, digest, whole_matrix
from agrad.engine.derivatives.matrices import Blocks, Matrices, names_of_entries

from ..screen import Screen
from .layout import GAP
from .numbers import EVERYTHING, NORMAL, float_text, value_text
from .text import columns, escaped

LARGEST_DRAWN: Final = 144
"""Matrices of more entries are described, unless everything is asked for."""
_EIGENVALUES_SHOWN: Final = 12
_ASYMMETRY: Final = 1e-6
"""Mirror images that differ by more than rounding, relative to the largest entry."""


def matrices_lines(found: Matrices, screen: Screen, *, full: bool) -> list[str]:
    """All that was found, under headings, with an empty line between two parts."""
    parts = [_jacobian_lines(name, row, found, screen, full) for name, row in found.jacobian.items()]
    if found.hessian:
        parts.append(_hessian_lines(found, screen, full))
    if found.derivatives:
        parts.append(_derivative_lines(found, screen, full))
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines else part
    return lines


def _jacobian_lines(name: str, row: Mapping[str, Any], found: Matrices, screen: Screen, full: bool) -> list[str]:
    shapes = found.shapes
    size = int(np.prod(shapes[name], dtype=np.int64))
    heading = screen.painted(f"jacobian of {_safe(name, screen)}", "bold")
    if _is_large(row.values(), full):
        return [heading, *_described({name: dict(row)}, screen)]
    matrix = np.concatenate([np.reshape(block, (size, -1 if size else 0)) for block in row.values()], axis=1)
    across = [entry for by in row for entry in names_of_entries(by, shapes[by])]
    return [heading, *drawn(matrix, names_of_entries(name, shapes[name]), across, screen, full=full)]


def _hessian_lines(found: Matrices, screen: Screen, full: bool) -> list[str]:
    names = list(found.hessian)
    heading = screen.painted(f"hessian of {_safe(found.outputs[0], screen)}", "bold")
    blocks = [block for row in found.hessian.values() for block in row.values()]
    if _is_large(blocks, full):
        lines = [heading, *_described(found.hessian, screen)]
    else:
        shapes = {name: found.shapes[name] for name in names}
        labels = [entry for name in names for entry in names_of_entries(name, shapes[name])]
        lines = [heading, *drawn(whole_matrix(found.hessian, shapes), labels, labels, screen, full=full)]
    return lines if found.curvature is None else [*lines, *_curvature_lines(found.curvature, screen, full)]


def _curvature_lines(found: Curvature, screen: Screen, full: bool) -> list[str]:
    detail = EVERYTHING if full else NORMAL
    if found.eigenvalues is None:
        return ["eigenvalues   unknown: an entry is not finite, or there are too many rows"]
    values = found.eigenvalues
    shown = value_text(values, detail)
    if not full and len(values) > _EIGENVALUES_SHOWN:
        ends = [float_text(float(value), detail.digits) for value in (*values[:3], *values[-3:])]
        shown = f"{len(values)}: [{', '.join(ends[:3])}, ..., {', '.join(ends[3:])}]"
    lines = [f"eigenvalues   {shown}", f"definiteness  {found.definiteness}"]
    if found.condition is not None:
        lines.append(f"condition     {float_text(found.condition, detail.digits)}")
    if found.asymmetry > _ASYMMETRY:
        lines.append(f"{screen.painted('warning:', 'yellow')} the Hessian is not symmetric: it is taken at a kink")
    return lines


def _derivative_lines(found: Matrices, screen: Screen, full: bool) -> list[str]:
    detail = EVERYTHING if full else NORMAL
    output = _safe(found.outputs[0], screen)
    lines = [screen.painted(f"derivatives of {output}", "bold")]
    for name, values in found.derivatives.items():
        leaf = _safe(name, screen)
        for order, value in enumerate(values, 1):
            power = f"^{order}" if order > 1 else ""
            lines.append(f"d{power}{output}/d{leaf}{power} = {value_text(value, detail)}")
    return lines


def _is_large(blocks: Iterable[Any], full: bool) -> bool:
    return not full and sum([np.size(block) for block in blocks]) > LARGEST_DRAWN


def _described(blocks: Blocks, screen: Screen) -> list[str]:
    """A line for each block, and one for its largest entries."""
    lines = []
    for first, row in blocks.items():
        for second, block in row.items():
            facts = digest(block)
            pair = _safe(f"{first}, {second}", screen)
            share = f"{100 * facts.nonzero:.3g} % not zero"
            bad = f", {facts.nonfinite} not finite" if facts.nonfinite else ""
            lines.append(f"{pair}: shape {list(facts.shape)}, {share}{bad}")
            if facts.largest:
                largest = [f"{list(entry.place)} {float_text(entry.value, NORMAL.digits)}" for entry in facts.largest]
                lines.append(f"  largest: {', '.join(largest)}")
    return lines


def drawn(matrix: Any, down: Sequence[str], across: Sequence[str], screen: Screen, *, full: bool) -> list[str]:
    """A matrix with a label for each row and column; columns that do not fit stand in further blocks below.

    Args:
        matrix: two-dimensional.
        down, across: the labels of its rows and of its columns.
        screen: says how wide a block may be.
        full: write all digits.
    """
    detail = EVERYTHING if full else NORMAL
    rows = [[value_text(value, detail) for value in row] for row in matrix]
    head = [_safe(label, screen) for label in across]
    side = [_safe(label, screen) for label in down]
    widths = [max(map(columns, (label, *[row[place] for row in rows]))) for place, label in enumerate(head)]
    margin = max(map(columns, side), default=0)
    lines: list[str] = []
    begin = 0
    while begin < len(head):
        end, used = begin, margin
        while end < len(head) and (end == begin or used + GAP + widths[end] <= screen.width):
            used += GAP + widths[end]
            end += 1
        if lines:
            lines.append("")
        for label, texts in (("", head), *zip(side, rows, strict=True)):
            cells = [" " * (widths[place] - columns(texts[place])) + texts[place] for place in range(begin, end)]
            lines.append((" " * GAP).join([label + " " * (margin - columns(label)), *cells]))
        begin = end
    return lines


def _safe(text: str, screen: Screen) -> str:
    return escaped(text, ascii_only=screen.ascii_only)
