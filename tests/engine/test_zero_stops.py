"""Zero means stop, for every row of the table: under masks, on axes of zeros, and at the ends of domains.

One property a kind of fault. What no right number exists for is listed here, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import REAL, TABLE, Example, Node, leaf
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

INF: Final = math.inf
LARGEST: Final = float(np.finfo(np.float64).max)
TINY: Final = float(np.finfo(np.float64).tiny)
ENDS: Final = (0.0, -0.0, 1.0, -1.0, INF, -INF, LARGEST, -LARGEST, TINY, -TINY, 5e-324, -5e-324)


def examples(*, elementwise: bool) -> Iterator[Example]:
    """Each example, once, of the rows that a person can call and that have a derivative."""
    seen = set()
    for op in sorted(set(TABLE.values()), key=lambda op: op.name):
        if op.elementwise == elementwise and op.differentiable and op.family != "cotangent":
            for example in op.examples:
                if example.inputs and example.orders > 0 and example.form not in seen:
                    seen.add(example.form)
                    yield example


def middle(example: Example, name: str) -> float:
    """A point inside of where a leaf is sampled, and on no kink of the rows."""
    low, high = example.within.get(name, REAL)
    return low + 0.61803 * (high - low)


def read(lines: str, inputs: dict[str, Any]) -> tuple[Node, dict[str, Node]]:
    """The node called `out` of a text, and the leaves that were given."""
    formulas = build(Source(lines), inputs=inputs, wrt=list(inputs))
    return formulas.names["out"], formulas.wrt


def flowing(output: Node) -> dict[Node, Node]:
    """The gradient of the sum of an output, as nodes."""
    return gradients([output], [leaf(np.ones(output.shape, output.dtype)[()])])


def is_real(example: Example) -> bool:
    """Whether its result is real, so that it can be compared, masked and summed."""
    inputs = {name: np.full(shape, middle(example, name))[()] for name, shape in example.inputs.items()}
    return read(f"out = {example.form}", inputs)[0].dtype.kind == "f"


POINTWISE: Final = [row for row in examples(elementwise=True) if is_real(row)]
MASKED: Final = [row for row in POINTWISE if all(shape == (3,) for shape in row.inputs.values())]

MASKS: Final = {
    "where": "torch.where(tensor([False, True, True]), f, 0.0)",
    "the other branch of where": "torch.where(tensor([True, False, False]), 2.0, f)",
    "a factor of zero": "f * tensor([0.0, 1.0, 1.0])",
    "a factor of zero for all": "(f * 0.0)[:1]",
    "one-hot weights": "torch.sum(f * tensor([0.0, 0.0, 1.0]))",
    "a dot product with zero weights": "torch.dot(f, tensor([0.0, 2.0, 1.0]))",
    "a dropped slice": "f[1:]",
    "a list of other entries": "f[[2, 1, 2]]",
    "a mask": "f[tensor([False, True, True])]",
    "masked_fill": "f.masked_fill(tensor([True, False, False]), 7.0)",
    "overwritten by assignment": "f * 1.0\nout[0] = 2.0",
    "a part of split": "torch.split(f, [1, 2])[1]",
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(example=st.sampled_from(MASKED), data=st.data())
def test_what_is_masked_out_has_gradient_zero(mask: str, example: Example, data: st.DataObject) -> None:
    """An entry that a mask drops has gradient 0 at orders 1 and 2, whatever value and slopes the op has there."""
    inputs = {}
    for name in example.inputs:
        dropped = data.draw(st.sampled_from(ENDS) | st.floats(), label=name)
        inputs[name] = np.array([dropped, middle(example, name), middle(example, name)])
    output, leaves = read(f"f = {example.form}\nout = {mask}", inputs)
    first = flowing(output)
    for name, node in leaves.items():
        found = [first[node]] if node in first else []
        found += [second[node] for second in map(flowing, found) if node in second]
        values = evaluate(found)
        for order, gradient in enumerate(found, 1):
            assert values[gradient][0] == 0.0, f"order {order} by {name}: {values[gradient]}"


SINGULAR: Final = {
    "eig": "eigenvectors of equal eigenvalues depend on a choice",
    "eigh": "eigenvectors of equal eigenvalues depend on a choice",
    "svd": "singular vectors of equal singular values depend on a choice",
    "qr": "the factors of a matrix of lower rank depend on a choice",
    "lu": "the factors of a singular matrix are not continuous",
    "lu_factor": "the factors of a singular matrix are not continuous",
    "inv": "a singular matrix has no inverse",
    "inverse": "a singular matrix has no inverse",
    "matrix_power": "a singular matrix has no inverse",
    "cond": "a singular matrix has no inverse",
    "solve": "a singular matrix has no inverse",
    "solve_triangular": "a singular matrix has no inverse",
    "triangular_solve": "a singular matrix has no inverse",
    "cholesky_solve": "a singular matrix has no inverse",
    "cholesky_inverse": "a singular matrix has no inverse",
}
"""Rows whose derivative does not exist at a matrix of zeros, or for a row of zeros."""


def reductions() -> list[Example]:
    """The examples of rows that are not elementwise, where zeros are no fault."""
    rows = []
    for example in examples(elementwise=False):
        called = {part.rpartition(".")[2] for part in example.form.replace("[", "(").split("(")}
        if not called & set(SINGULAR):
            rows.append(example)
    return rows


@pytest.mark.parametrize("example", [pytest.param(row, id=row.form) for row in reductions()])
@pytest.mark.parametrize("whole", [True, False], ids=["all zeros", "one row of zeros"])
def test_zeros_do_not_harm_a_finite_result(example: Example, whole: bool) -> None:
    """Where a row's value on zeros is finite, its gradient is finite as well."""
    rng = np.random.default_rng(1)
    inputs = {}
    for name, shape in example.inputs.items():
        values = np.asarray(rng.uniform(*example.within.get(name, REAL), shape))
        values[() if whole or not shape else 0] = 0.0
        inputs[name] = values[()]
    output, leaves = read(f"out = {example.form}", inputs)
    if not isinstance(output, Node) or output.dtype.kind != "f":
        return
    first = flowing(output)
    values = evaluate([output, *first.values()])
    if np.all(np.isfinite(values[output])):
        for name, node in leaves.items():
            assert node not in first or np.all(np.isfinite(values[first[node]])), name


Where = Callable[..., Any]

UNDEFINED: Final[dict[str, tuple[Where, str]]] = {
    "atan2": (
        lambda x, y: np.isinf(x) & np.isinf(y),
        "the value is a convention of IEEE 754 for two infinities, not a limit",
    ),
    "angle(torch.complex": (
        lambda x, y: (np.isinf(x) & np.isinf(y)) | (np.maximum(np.abs(x), np.abs(y)) < TINY),
        "as atan2; and next to 0 the slope 1/|z| leaves the range, its sine and cosine with it",
    ),
    "x ** y": (
        lambda x, y: (x <= 0) | np.isinf(x) | np.isinf(y),
        "a negative base has powers at whole exponents only, and an infinite exponent has no neighbours",
    ),
    "torch.float_power(x, y)": (lambda x, y: (x <= 0) | np.isinf(x) | np.isinf(y), "as x ** y"),
    "** 2)": (
        lambda x, y: np.maximum(np.abs(x), np.abs(y)) >= LARGEST,
        "the parts of a complex product are computed together, and one of them overflows",
    ),
}
"""Where a finite value has no slope, or none that floats can hold: by a part of the form."""


@pytest.mark.parametrize(
    "example",
    [pytest.param(row, id=row.form) for row in MASKED if "tensor(" not in row.form and "prelu" not in row.form],
)
def test_ends_of_the_domain_are_not_nan(example: Example) -> None:
    """At 0, at +-1, at the infinities and at the largest and smallest floats, a finite value has a slope."""
    names = list(example.inputs)
    grid = np.meshgrid(*[ENDS if len(names) < 3 else ENDS[:6]] * len(names))
    inputs = {name: axis.ravel() for name, axis in zip(names, grid, strict=True)}
    output, leaves = read(f"out = {example.form}", inputs)
    first = flowing(output)
    values = evaluate([output, *first.values()])
    excused = np.isnan(values[output]) | np.isinf(values[output])
    for part, (where, _) in UNDEFINED.items():
        if part in example.form:
            excused |= where(*inputs.values())
    for name, node in leaves.items():
        if node in first:
            missing = np.isnan(values[first[node]]) & ~excused
            assert not missing.any(), f"by {name} at {[tuple(axis[missing]) for axis in inputs.values()]}"


@pytest.mark.parametrize(
    ("form", "x", "slope"),
    [
        ("torch.log(1 + torch.exp(x))", 800.0, math.nan),
        ("torch.log2(torch.exp(x))", 800.0, math.nan),
        ("torch.log10(torch.exp(x))", 800.0, math.nan),
        ("torch.log1p(torch.exp(x))", 800.0, math.nan),
        ("torch.log(1 / x)", 0.0, math.nan),
        ("torch.asinh(torch.exp(x))", 800.0, math.nan),
        ("torch.acosh(torch.exp(x))", 800.0, math.nan),
        ("torch.digamma(torch.exp(x))", 800.0, math.nan),
        ("torch.xlogy(2.0, torch.exp(x))", 800.0, math.nan),
        ("torch.special.xlog1py(2.0, torch.exp(x))", 800.0, math.nan),
        ("torch.sqrt(x * x)", 1e200, math.nan),
        ("(x * x) ** 0.5", 1e200, math.nan),
        ("(x * x) ** tensor(0.5)", 1e200, math.nan),
        ("torch.where(x > 700, x, torch.log(1 + torch.exp(x)))", 800.0, 1.0),
        ("torch.log(x)", INF, 0.0),
        ("torch.sqrt(x)", INF, 0.0),
        ("1 / (1 + torch.exp(-x))", -800.0, 0.0),
        ("torch.atan(torch.exp(x))", 800.0, 0.0),
    ],
)
def test_an_overflow_is_no_silent_zero(form: str, x: float, slope: float) -> None:
    """The slope of a growing function of something that has overflowed is NaN: its zero would stop what is not zero.

    An infinite leaf is meant; a bounded function of an overflow is right, its slope 0 too; a dead branch stops.
    """
    output, leaves = read(f"out = {form}", {"x": np.float64(x)})
    gradient = flowing(output)[leaves["x"]]
    assert evaluate([gradient])[gradient] == pytest.approx(slope, nan_ok=True, abs=0.0)
