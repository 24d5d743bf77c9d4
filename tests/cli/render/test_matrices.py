"""Jacobians and Hessians as text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.cli.render.matrices import drawn, matrices_lines
from agrad.cli.screen import Screen
from agrad.engine.derivatives.curvature import curvature
from agrad.engine.derivatives.matrices import Matrices, Wanted, matrices
from agrad.engine.errors import Source
from agrad.engine.language import build


def lines(text: str, wanted: Wanted, *, width: int = 80, full: bool = False) -> list[str]:
    """What is written of the last output of a text."""
    formulas = build(Source(text))
    found = matrices({formulas.last: formulas.names[formulas.last]}, formulas.wrt, wanted)
    return matrices_lines(found, Screen(width=width), full=full)


def test_a_jacobian_with_labels() -> None:
    """Rows are entries of the output, columns those of all leaves."""
    assert lines("x = [1.0, 2.0]\ny = 3.0\nv = x*y", Wanted(jacobian=True)) == [
        "jacobian of v",
        "      x[0]  x[1]    y",
        "v[0]   3.0   0.0  1.0",
        "v[1]   0.0   3.0  2.0",
    ]


def test_a_hessian_and_its_curvature() -> None:
    """The whole matrix, its eigenvalues, definiteness and condition number."""
    assert lines("x = [1.0, 2.0]\nz = x[0]**2 + 3*x[1]**2", Wanted(hessian=True)) == [
        "hessian of z",
        "      x[0]  x[1]",
        "x[0]   2.0   0.0",
        "x[1]   0.0   6.0",
        "eigenvalues   [2.0, 6.0]",
        "definiteness  positive definite",
        "condition     3.0",
    ]


def test_derivatives_of_higher_orders() -> None:
    """A line for each."""
    assert lines("t = 2.0\nz = t**3", Wanted(order=3)) == [
        "derivatives of z",
        "dz/dt = 12.0",
        "d^2z/dt^2 = 12.0",
        "d^3z/dt^3 = 6.0",
    ]


def test_large_ones_are_described() -> None:
    """Shape, share of entries that are not zero and the largest entries; all entries where they are asked for."""
    text = "x = linspace(1, 2, 40)\nz = sum(x**3)"
    found = lines(text, Wanted(hessian=True))
    assert found[1] == "x, x: shape [40, 40], 2.5 % not zero"
    assert found[2].startswith("  largest: [39, 39] 12.0, [38, 38] 11.8462")
    assert found[3] == "eigenvalues   40: [6.0, 6.15385, 6.30769, ..., 11.6923, 11.8462, 12.0]"
    assert len(lines(text, Wanted(hessian=True), full=True, width=10_000)) == 2 + 40 + 3


def test_columns_that_do_not_fit_stand_below() -> None:
    """No line is wider than the screen where a single column fits, and no number is cut."""
    matrix = np.arange(12.0).reshape(2, 6) * 1.25
    found = drawn(matrix, ["y[0]", "y[1]"], [f"x[{place}]" for place in range(6)], Screen(width=20), full=False)
    assert max(map(len, found)) <= 20
    assert found == [
        "      x[0]  x[1]",
        "y[0]   0.0  1.25",
        "y[1]   7.5  8.75",
        "",
        "      x[2]   x[3]",
        "y[0]   2.5   3.75",
        "y[1]  10.0  11.25",
        "",
        "      x[4]   x[5]",
        "y[0]   5.0   6.25",
        "y[1]  12.5  13.75",
    ]


def test_what_is_not_symmetric_is_said() -> None:
    """A Hessian whose mirror images differ was taken where there is none."""
    blocks = {"x": {"x": np.array([[2.0, 1.0], [0.0, 2.0]])}}
    asymmetric = replace(hessian_of_two(), hessian=blocks, curvature=curvature(blocks["x"]["x"]))
    assert "not symmetric" in matrices_lines(asymmetric, Screen(), full=False)[-1]
    assert "not symmetric" not in matrices_lines(hessian_of_two(), Screen(), full=False)[-1]


def hessian_of_two() -> Matrices:
    """The Hessian of a function of two variables."""
    formulas = build(Source("x = [1.0, 2.0]\nz = x[0]*x[1]"))
    return matrices({"z": formulas.names["z"]}, formulas.wrt, Wanted(hessian=True))


def test_names_are_escaped() -> None:
    """A name that the terminal cannot write."""
    found = lines("\u03b1 = 2.0\nz = \u03b1**2", Wanted(jacobian=True))
    assert "\u03b1" in found[1]
    formulas = build(Source("\u03b1 = 2.0\nz = \u03b1**2"))
    matrix = matrices({"z": formulas.names["z"]}, formulas.wrt, Wanted(jacobian=True))
    assert all(line.isascii() for line in matrices_lines(matrix, Screen(ascii_only=True), full=False))
