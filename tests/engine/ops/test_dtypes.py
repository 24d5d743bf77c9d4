"""Each row with each dtype in each argument: a value of the declared dtype, or an error that a person can read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.graph import TABLE, Example, Node, Op, Outputs, leaf, make
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

ROWS = sorted({op for op in TABLE.values() if op.family != "cotangent"}, key=lambda op: op.name)
DTYPES = {
    "bool": "{} > 0",
    "int64": "ceil({}).to(torch.int64)",
    "float32": "{}.to(torch.float32)",
    "complex64": "torch.complex({0}, 0.5 * {0}).to(torch.complex64)",
    "complex128": "torch.complex({0}, 0.5 * {0})",
}
LEAKS = ("numpy", "ufunc", "operand", "cannot take these arguments")


def _casts(example: Example) -> Iterator[str]:
    """The example behind lines that give one argument, or all, another dtype, beside floats of either width."""
    names = list(example.inputs)
    for dtype, cast in DTYPES.items():
        for changed in {(name,) for name in names} | {tuple(names)}:
            for rest in ("float64", "float32") if dtype == "int64" and len(changed) < len(names) else ("float64",):
                lines = [
                    f"{name} = {(cast if name in changed else DTYPES.get(rest, '{}')).format(name + '_')}"
                    for name in names
                ]
                yield "\n".join([*lines, f"out = {example.form}"])


def _nodes(text: str, example: Example) -> list[Node]:
    random = np.random.default_rng(7)
    inputs = {}
    for name, shape in example.inputs.items():
        low, high = example.within.get(name, (-3.0, 3.0))
        inputs[f"{name}_"] = np.asarray(random.uniform(low, high, shape))[()]
    out = build(Source(text), inputs=inputs, wrt=list(inputs)).names["out"]
    return list(out.nodes) if isinstance(out, Outputs) else [out]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS])
def test_a_value_of_the_declared_dtype_or_an_error_in_words(op: Op) -> None:
    """Whatever the dtypes, an example gives what was declared, or an error of agrad that speaks of no array module."""
    for example in op.examples:
        for text in _casts(example):
            try:
                values = evaluate(_nodes(text, example))
            except AgradError as error:
                told = error.message
                assert not any(leak in told for leak in LEAKS), (text, told)
                continue
            for node, value in values.items():
                assert np.asarray(value).dtype == node.dtype, text
                assert np.shape(value) == node.shape, text


@pytest.mark.parametrize(
    "name",
    [
        "floor", "ceil", "hypot", "atan2", "copysign", "entr", "erfinv", "frac", "heaviside", "i0", "i1e", "isneginf",
        "lgamma", "logit", "ndtri", "signbit", "trunc", "hardtanh", "relu", "maximum", "lt", "amax", "argmax", "sort",
        "median", "cummax", "softmax", "softmin", "clamp", "layer_norm", "max_pool2d", "grid_sample", "cross_entropy",
    ],
)  # fmt: skip
def test_ops_of_real_numbers_refuse_complex_ones(name: str) -> None:
    """What has an order, or no complex form, names itself and the dtype, as PyTorch does."""
    for dtype, word in (("complex64", "ComplexFloat"), ("complex128", "ComplexDouble")):
        example = TABLE[name].examples[0]
        lines = [f"{each} = {DTYPES[dtype].format(each + '_')}" for each in example.inputs]
        with pytest.raises(InputError, match=rf"\"[\w.]+\" not implemented for '{word}'") as caught:
            _nodes("\n".join([*lines, f"out = {example.form}"]), example)
        assert "takes real numbers" in caught.value.hint


def test_bounds_of_booleans() -> None:
    """As in PyTorch: integer bounds make integers of booleans, float bounds floats."""
    mask = leaf(np.array([True, False]))
    for node, dtype, entries in (
        (make.clamp(mask, -1, 1), np.int64, [1, 0]),
        (make.clamp(mask, min=1), np.int64, [1, 1]),
        (make.clamp_max(mask, 0), np.int64, [0, 0]),
        (make.clamp(mask, 0.25, 0.5), np.float64, [0.5, 0.25]),
        (make.square(mask), np.int64, [1, 0]),
    ):
        value = evaluate([node])[node]
        assert value.dtype == node.dtype == dtype
        assert value.tolist() == entries


@pytest.mark.parametrize("name", ["lerp", "addcmul"])
def test_ops_that_booleans_alone_have_no_form_of(name: str) -> None:
    """They are refused with PyTorch's words."""
    mask = leaf(np.array([True, False]))
    with pytest.raises(InputError, match=f"\"{name}\" not implemented for 'Bool'"):
        TABLE[name](mask, mask, mask)


@pytest.mark.parametrize(
    ("form", "shapes"),
    [
        ("matmul", ((2, 3), (3, 2))),
        ("mm", ((2, 3), (3, 2))),
        ("mv", ((2, 3), (3,))),
        ("dot", ((3,), (3,))),
        ("vdot", ((3,), (3,))),
        ("linalg.solve", ((2, 2), (2,))),
    ],
)
def test_integers_do_not_widen_a_product(form: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """float32 times int64 is float32, as declared, in either order."""
    random = np.random.default_rng(1)
    floats = [random.uniform(1, 2, shape).astype(np.float32) for shape in shapes]
    for which in (0, 1):
        args = [leaf(np.ceil(x * 3).astype(np.int64) if place == which else x) for place, x in enumerate(floats)]
        node = TABLE[form](*args)
        value = evaluate([node])[node]
        assert node.dtype == value.dtype == np.float32


def test_the_direction_of_a_float32_and_an_integer() -> None:
    """It is declared, and computed, in float32."""
    node = make.direction(leaf(np.array([3, 0])), leaf(np.array([4, 1], dtype=np.float32)))
    value = evaluate([node])[node]
    assert node.dtype == value.dtype == np.float32
    assert value.tolist() == pytest.approx([0.6, 0.0])


def test_a_wrongly_declared_dtype_is_found() -> None:
    """The sweep objects to a row that declares another dtype than it computes."""
    row = TABLE["square"]
    honest = row.infer
    assert honest is not None
    object.__setattr__(row, "infer", lambda args, attrs: (honest(args, attrs)[0], np.dtype(np.float32)))
    try:
        with pytest.raises(AssertionError):
            test_a_value_of_the_declared_dtype_or_an_error_in_words(row)
    finally:
        object.__setattr__(row, "infer", honest)
