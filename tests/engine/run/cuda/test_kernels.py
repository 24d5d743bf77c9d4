"""Generated kernels: what their text promises, and that faults planted into it are caught."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import leaf, make
from agrad.engine.run.cuda.kernels import SHARED_FUNCTIONS, module_text
from agrad.engine.run.cuda.program import DeviceProgram, KernelStep, LibraryStep, device_program
from agrad.engine.run.cuda.scope import moved

from ....gpu.cases import of_text
from .host import MISSING, BarrierError, HostModule
from .nvrtc import MISSING as NO_NVRTC
from .nvrtc import compiled

on_host = pytest.mark.skipif(bool(MISSING), reason=MISSING)
with_nvrtc = pytest.mark.skipif(bool(NO_NVRTC), reason=NO_NVRTC)

BLOCK_SUM = (
    SHARED_FUNCTIONS
    + 'extern "C" __global__ void total(const double* x, double* out) {\n'
    + "  out[threadIdx.x] = block_all(x[threadIdx.x], Sum());\n}\n"
)


def _total(text: str, *, backwards: bool) -> Any:
    out = np.full(256, np.nan)
    HostModule([text], backwards=backwards).launch("total", (1,), (256,), [np.arange(256.0), out])
    return out


@on_host
def test_a_block_folds_what_its_threads_have() -> None:
    """Every thread gets the sum, in either order of the warps."""
    for backwards in (False, True):
        assert (_total(BLOCK_SUM, backwards=backwards) == 255 * 128).all()


@on_host
def test_a_missing_barrier_is_caught() -> None:
    """Without the barrier before the shared numbers are read, some thread has a wrong sum in one of the orders."""
    planted = BLOCK_SUM.replace("  __syncthreads();\n  value = of_warp[0];", "  value = of_warp[0];")
    assert planted != BLOCK_SUM
    sums = [_total(planted, backwards=backwards) for backwards in (False, True)]
    assert any((found != 255 * 128).any() for found in sums)


@on_host
def test_a_divergent_barrier_is_caught() -> None:
    """A barrier that only a part of the block reaches is an error."""
    planted = BLOCK_SUM.replace("  __syncthreads();\n  value", "  if (thread < 32) __syncthreads();\n  value")
    with pytest.raises(BarrierError, match="a barrier"):
        _total(planted, backwards=False)


@on_host
def test_a_divergent_shuffle_is_caught() -> None:
    """A shuffle that only a part of a warp reaches is an error."""
    planted = BLOCK_SUM.replace("  value = warp_all(value, fold);", "  if (thread % 2) value = warp_all(value, fold);")
    assert planted != BLOCK_SUM
    with pytest.raises(BarrierError, match="a shuffle"):
        _total(planted, backwards=False)


def _program(text: str, dtype: str = "float64", **shapes: tuple[int, ...]) -> DeviceProgram:
    graph = of_text("planned", text, {name: np.ones(shape) for name, shape in shapes.items()}, dtype)
    return device_program(graph.targets.values())


def test_one_kernel_has_several_outputs_and_reductions() -> None:
    """Value, gradient and three reductions of one pass are one kernel, and a second ends the reductions."""
    program = _program("z = sum((a * w + b) ** 2)", a=(5000, 7), w=(7,), b=(7,))
    (step,) = [action for action in program.actions if isinstance(action, KernelStep)]
    assert len(step.kernels.kernels) == 2
    assert len(step.run.outputs) == 1
    assert len(step.run.endings) == 3
    assert not any("atomic" in kernel.text for kernel in program.kernels)


def test_a_small_sum_needs_no_second_pass() -> None:
    """Where one block suffices, it writes the result itself."""
    assert _program("z = sum(tanh(x) ** 2)", x=(1000,)).launches == 1


def test_rows_and_what_is_read_of_them_are_one_kernel() -> None:
    """A softmax over rows, its product and all gradients: one kernel and one that ends the sums."""
    program = _program("z = sum(softmax(a * w, 1) * b)", a=(400, 50), w=(50,), b=(400, 50))
    assert program.launches == 2
    assert not [action for action in program.actions if isinstance(action, LibraryStep)]


def test_indices_are_wide_only_where_they_must_be() -> None:
    """Of a few elements an index has 32 bits; where there are more than 2**31 bytes of them to count, 64."""
    assert all("unsigned long long" not in kernel.text for kernel in _program("z = sum(x * 2.0)", x=(5000,)).kernels)
    huge = make.tanh(make.expand(leaf(np.ones((1, 1))), (2**16, 2**15)) * leaf(np.ones((2**16, 1))))
    (kernel,) = device_program([huge]).kernels
    assert "unsigned long long" in kernel.text
    assert "unsigned int i" not in kernel.text


def test_equal_kernels_have_one_name() -> None:
    """A kernel's name is made from its text: the same graph twice is one text."""
    first, second = (_program("z = sum(tanh(x * y))", x=(5000,), y=(5000,)) for _ in range(2))
    assert module_text(first.kernels + second.kernels) == module_text(first.kernels)


def test_a_broadcast_place() -> None:
    """Where an argument that is broadcast is read: the axes that it has, with its own strides."""
    assert moved("e", (4, 5), (4, 5)) == "e"
    assert moved("e", (4, 5), (5,)) == "(e) % 5"
    assert moved("e", (4, 5), (4, 1)) == "e / 5"
    assert moved("e", (4, 5), (1,)) == "0"
    for wide, narrow in [((2, 3, 4), (2, 1, 4)), ((2, 3, 4), (3, 1)), ((2, 1, 4, 5), (2, 1, 1, 5)), ((6, 2), (2,))]:
        places = np.broadcast_to(np.arange(np.prod(narrow)).reshape(narrow), wide).ravel()
        text = moved("e", wide, narrow).replace("/", "//")
        for index, expected in enumerate(places):
            assert _computed(text, index) == expected, (wide, narrow, text)


def _computed(text: str, index: int) -> int:
    """The value of a text of whole numbers, *, //, %, + and brackets, read by the language's own parser."""
    from agrad.engine.errors import Source
    from agrad.engine.language import build
    from agrad.engine.run.cpu import evaluate

    formulas = build(Source(f"z = {text} + 0"), inputs={"e": np.int64(index)})
    return int(evaluate([formulas.names["z"]])[formulas.names["z"]])


@with_nvrtc
@pytest.mark.parametrize(("dtype", "pack"), [("float64", "v2.f64"), ("float32", "v4.f32")])
def test_arrays_in_order_are_read_and_written_by_packs(dtype: str, pack: str) -> None:
    """The assembly of a pass over 100,001 elements loads and stores 16 bytes at once; a tail is done singly."""
    text = module_text(_program("z = sum(tanh(x * y + 1) ** 2)", dtype, x=(100_001,), y=(100_001,)).kernels)
    assembly = compiled(text, "compute_90").decode()
    assert f"ld.global.nc.{pack}" in assembly
    assert f"st.global.{pack}" in assembly


@with_nvrtc
def test_products_are_not_contracted_and_small_numbers_kept() -> None:
    """No product and sum become one operation, and no float32 result is flushed to zero."""
    text = module_text(_program("z = sum(x * y + x)", "float32", x=(5000,), y=(5000,)).kernels)
    assembly = compiled(text, "compute_90").decode()
    assert not re.search(r"fma\.rn|\.ftz", assembly)
