"""Every elementwise row of the table as a kernel of its own, with arguments that try its special points and tails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from agrad.engine.errors import Source
from agrad.engine.graph import TABLE, Node, Op, Outputs, ancestors, leaf
from agrad.engine.language import build
from agrad.engine.run.cuda.special import functions_for
from agrad.engine.run.cuda.text import Value, c_type, expression

ROWS: Final = sorted({op for op in TABLE.values() if op.elementwise}, key=lambda op: op.name)
COMPLEX: Final = frozenset(("complex", "real", "imag", "conj"))
"""Rows of complex numbers: they run through the library, never in a generated kernel."""

_MORE: Final[Mapping[str, list[dict[str, Any]]]] = {
    "erfcx_derivative": [{"order": 2}, {"order": 3}],
    "polygamma": [{"n": 2}, {"n": 5}],
    "mvlgamma": [{"p": 3}],
    "sinc_derivative": [{"order": 2}, {"order": 3}, {"order": 6}],
    "bessel_i": [{"degree": 3}, {"degree": 7}],
    "bessel_ie_derivative": [{"degree": degree, "order": order} for degree in (0, 1) for order in (1, 2, 3)],
    "round.decimals": [{"decimals": -2}, {"decimals": 3}],
}
"""Parameters beside those of the examples."""
_POINTS: Final = (
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e-3, -1e-3, np.inf, -np.inf, np.nan, 10.0, -10.0, 100.0,
    -100.0, 1e5, -1e5, 1e10, 0.25, 0.75, 7.0, 20.0, 30.0, 33.0, 50.0, 88.0, 700.0, -30.0, -700.0,
)  # fmt: skip


class RowKernel(NamedTuple):
    """A row with parameters and dtypes, as a kernel `name(arguments..., out, n)`."""

    name: str
    op: Op
    attrs: Mapping[str, Any]
    dtypes: tuple[np.dtype[Any], ...]
    dtype: np.dtype[Any]
    text: str


def _nodes_of_examples() -> dict[str, list[Node]]:
    """The nodes that the examples of the table make, by the name of their row."""
    found: dict[str, list[Node]] = {}
    for op in set(TABLE.values()):
        for example in op.examples:
            inputs = {name: np.zeros(shape) + 0.5 for name, shape in example.inputs.items()}
            out = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs)).names["out"]
            for node in ancestors(out.nodes if isinstance(out, Outputs) else [out]):
                if node.op.elementwise and all(arg.dtype.kind != "c" for arg in node.args):
                    found.setdefault(node.op.name, []).append(node)
    return found


def _kernels() -> Iterator[RowKernel]:
    examples = _nodes_of_examples()
    for op in ROWS:
        if op.name in COMPLEX:
            continue
        nodes = examples.get(op.name, [])
        bools = [arg.dtype.kind == "b" for arg in nodes[0].args] if nodes else [False, False]
        attributes = {repr(node.attrs): dict(node.attrs) for node in nodes} or {"": {}}
        for attrs in [*attributes.values(), *_MORE.get(op.name, [])]:
            if getattr(attrs.get("dtype"), "kind", "") == "c":
                continue
            for dtype in (np.dtype(np.float64), np.dtype(np.float32)):
                yield _kernel(op, attrs, tuple(np.dtype(bool) if one else dtype for one in bools))


def _kernel(op: Op, attrs: Mapping[str, Any], dtypes: tuple[np.dtype[Any], ...]) -> RowKernel:
    assert op.infer is not None
    _, dtype = op.infer([leaf(np.zeros((), kind)) for kind in dtypes], attrs)
    name = f"row_{op.name.replace('.', '_')}_{'_'.join(str(value) for value in attrs.values())}_{dtypes[-1].name}"
    name = "".join(character if character.isalnum() else "_" for character in name)
    value = expression(op, attrs, [Value(f"v{index}", kind) for index, kind in enumerate(dtypes)], dtype)
    pointers = [f"const {c_type(kind)}* a{index}" for index, kind in enumerate(dtypes)]
    loads = [f"    const {c_type(kind)} v{index} = a{index}[i];" for index, kind in enumerate(dtypes)]
    text = "\n".join([
        f'extern "C" __global__ void {name}({", ".join(pointers)}, {c_type(dtype)}* out, long long n) {{',
        "  long long step = (long long) gridDim.x * blockDim.x;",
        "  for (long long i = blockIdx.x * (long long) blockDim.x + threadIdx.x; i < n; i += step) {",
        *loads,
        f"    out[i] = {value};",
        "  }",
        "}",
        "",
    ])  # fmt: skip
    return RowKernel(name, op, attrs, dtypes, dtype, text)


@cache
def row_kernels() -> tuple[RowKernel, ...]:
    """A kernel for each row, its parameters, and float64 and float32."""
    return tuple({kernel.name: kernel for kernel in _kernels()}.values())


@cache
def text_of_rows() -> str:
    """All of them as one text."""
    text = "".join(kernel.text for kernel in row_kernels())
    return functions_for(text) + text


def arguments(dtypes: tuple[np.dtype[Any], ...]) -> list[np.ndarray[Any, Any]]:
    """Values for the arguments of a kernel: special points in all pairs, denormal and huge numbers, and random ones."""
    kind = dtypes[-1] if dtypes[-1].kind == "f" else np.dtype(np.float64)
    random = np.random.default_rng(3)
    info = np.finfo(kind)
    ends = [info.tiny, -info.tiny, info.smallest_subnormal, info.max, info.min, 1 + info.eps, 1 - info.eps]
    points = np.array([*_POINTS, *ends]).astype(kind)
    spread = np.concatenate([
        3 * random.normal(size=300), random.uniform(0, 1, 150), random.uniform(-1, 1, 150),
        np.exp(random.uniform(-20, 5, 150)), -np.exp(random.uniform(-20, 5, 150)), 0.5 * random.integers(-6, 6, 60),
    ]).astype(kind)  # fmt: skip
    if len(dtypes) == 1:
        columns = [np.concatenate([points, spread])]
    else:
        grids = [grid.ravel() for grid in np.meshgrid(points, points)]
        grids += [random.permutation(np.resize(points, grids[0].size)) for _ in dtypes[2:]]
        columns = [np.concatenate([grid, random.permutation(spread), spread[:50]]) for grid in grids]
    return [
        np.nan_to_num(column) > 0 if dtype.kind == "b" else column
        for column, dtype in zip(columns, dtypes, strict=True)
    ]
