"""The CUDA executor: runs a graph with generated kernels and, for the rest, the table's kernels on CuPy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

from ...conditions import current, in_bytes
from ...errors import LimitError
from ...graph import Node
from ..values import UNIFORM, Value
from .compile import loaded
from .kernels import Kernel, RunKernels
from .program import DeviceProgram, HostStep, KernelStep, LibraryStep, device_program
from .scatter import Library
from .status import device_faults, index_of, require
from .transfers import Waiting, download, send, upload

_RESERVE: Final = 0.95
"""The share of the free memory that a graph may be estimated to take."""
_PACK_BYTES: Final = 16


class Executor:
    """Computes on one device.

    Args:
        device: its name: `cuda` or `cuda:N`.

    Attributes:
        device: the name.
        launched: how many generated kernels were launched.
        stream: the stream that everything runs on.

    Raises:
        DeviceError: where the device cannot be used.
    """

    def __init__(self, device: str) -> None:
        require(device)
        self.device = device
        self.launched = 0
        self.cupy: Any = import_module("cupy")
        self.cupyx: Any = import_module("cupyx")
        self._library = Library(self.cupy)
        self._number = index_of(device)
        self._staging: list[Any] = []
        with device_faults(device), self.cupy.cuda.Device(self._number):
            self.stream: Any = self.cupy.cuda.Stream(non_blocking=True)
            self._copies: Any = self.cupy.cuda.Stream(non_blocking=True)

    def evaluate(self, nodes: Iterable[Node], values: Mapping[Node, Any] | None = None) -> dict[Node, Any]:
        """The values of some nodes.

        Args:
            nodes: which.
            values: other values for some leaves, of the same shape and dtype.
        """
        return self.run(device_program(nodes, varying=values or ()), values)

    def run(self, program: DeviceProgram, values: Mapping[Node, Any] | None = None) -> dict[Node, Any]:
        """The values of the nodes that a program was made for.

        Raises:
            LimitError: where it needs more memory than the device has, or than may be taken.
            DeviceError: where the device fails.
        """
        if values and not program.plan.assumed.isdisjoint(values):
            program = device_program(program.plan.results, varying=values)
        with device_faults(self.device), self.cupy.cuda.Device(self._number), self.stream:
            try:
                slots, downloaded = self._run(program, values)
            except BaseException:
                with contextlib.suppress(Exception):  # a device that has failed fails again
                    self.stream.synchronize()
                raise
            return self._results(program, slots, downloaded)

    def _run(self, program: DeviceProgram, values: Mapping[Node, Any] | None) -> tuple[list[Any], dict[int, Any]]:
        """What lies in the slots at the end, and the results that lay on the device."""
        for careful in (False, True):
            slots = self.upload(program, values, large=False)
            tests = self.compute(program, slots, careful=careful)
            downloaded, held = self._downloaded(program, slots, tests)
            if held:
                break
        return slots, downloaded

    def upload(
        self, program: DeviceProgram, values: Mapping[Node, Any] | None = None, *, large: bool = True
    ) -> list[Any]:
        """What the values of a program's leaves lie in: the first part of `run`.

        Args:
            program: what will be computed.
            values: other values for some leaves.
            large: send large arrays now, and not when they are first read.

        Raises:
            LimitError: where the program needs more memory than the device has, or than may be taken.
        """
        given = values or {}
        slots: list[Any] = [None] * len(program.plan.values)
        for node, slot in program.plan.leaves:
            slots[slot] = given.get(node, node.value)
        for slot in program.on_host:
            value = program.plan.values[slot]
            if value.is_constant and not value.shape:
                slots[slot] = value.known
        self._check_memory(program)
        arrays = [np.asarray(slots[slot]) for _, slot in program.uploads]
        found = upload(self.cupy, self.cupyx, arrays, self.stream)
        self._staging = found.staging  # until the results are waited for
        for (_, slot), array in zip(program.uploads, found.arrays, strict=True):
            slots[slot] = array
            if large:
                self._on_device(slots, slot, program)
        return slots

    def compute(self, program: DeviceProgram, slots: list[Any], *, careful: bool = False) -> list[Any]:
        """Start everything between the copies; the device need not have finished: the second part of `run`.

        Args:
            program: what is computed.
            slots: of `upload`.
            careful: stop at zeros in products of matrices; else they are plain, and there are tests that must hold.

        Returns:
            Arrays without axes: whether each plain product is finite, as it must be, or zeros would stop something.
        """
        tests: list[Any] = []
        functions = self._functions_of(program)
        for action, frees in zip(program.actions, program.frees, strict=True):
            if isinstance(action, HostStep):
                with np.errstate(all="ignore"):
                    inputs = [slots[slot] for slot in action.inputs]
                    slots[action.output] = action.kernel(np, *inputs, **action.attrs)
            elif isinstance(action, KernelStep):
                self._launch(action, program, functions, slots)
            else:
                self._call(action, program, slots, None if careful else tests)
            for slot in frees:
                slots[slot] = None
        return tests

    # Memory

    def _check_memory(self, program: DeviceProgram) -> None:
        """Refuse what cannot fit, or is more than was allowed, before anything is allocated."""
        allowed = current().memory
        if allowed is not None and program.beside > allowed:
            raise LimitError(
                f"--device {self.device}: this needs about {in_bytes(program.beside)} of the device's memory beside "
                f"its inputs, and --max-memory is {in_bytes(allowed)}",
                hint="give a larger --max-memory",
                code="memory",
            )
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        free += self.cupy.get_default_memory_pool().free_bytes()
        if program.peak > free * _RESERVE:
            raise LimitError(
                f"--device {self.device}: this needs about {in_bytes(program.peak)}, "
                f"and the device has {in_bytes(free)} free",
                hint="smaller inputs, --dtype float32, or --device cpu",
                code="memory",
            )

    def _downloaded(self, program: DeviceProgram, slots: list[Any], tests: list[Any]) -> tuple[dict[int, Any], bool]:
        """The results that lie on the device, by slot, and whether all tests held."""
        wanted = [
            slot for slot in dict.fromkeys(program.plan.results.values()) if isinstance(slots[slot], self.cupy.ndarray)
        ]
        arrays = [slots[slot] for slot in wanted]
        if tests:
            arrays.append(self.cupy.stack(tests))
        found = download(self.cupy, self.cupyx, arrays, self.stream)
        held = bool(found.pop().all()) if tests else True
        return dict(zip(wanted, found, strict=True)), held

    def _results(self, program: DeviceProgram, slots: list[Any], downloaded: Mapping[int, Any]) -> dict[Node, Any]:
        results = {}
        for node, slot in program.plan.results.items():
            value = downloaded[slot] if slot in downloaded else slots[slot]
            if value is None:
                value = _uniform(np, program.plan.values[slot])
            results[node] = value if node.shape or not isinstance(value, np.ndarray) else value[()]
        return results

    # Kernels

    def _functions_of(self, program: DeviceProgram) -> Mapping[str, Any]:
        kernels = program.kernels
        if not kernels:
            return {}
        found: Mapping[str, Any] | None = program.loaded.get(self._number)
        if found is None:
            found = program.loaded[self._number] = loaded(self.cupy, kernels).functions
        return found

    def _launch(self, step: KernelStep, program: DeviceProgram, functions: Mapping[str, Any], slots: list[Any]) -> None:
        run, kernels = step.run, step.kernels
        arrays = {
            "input": [self._given(slots, slot, program) for slot in step.inputs],
            "output": [self.cupy.empty(value.shape, value.dtype) for value in run.results],
            "part": self._parts(kernels),
        }
        for kernel in kernels.kernels:
            functions[kernel.name](kernel.grid, kernel.block, self._arguments(kernel, step, arrays))
            self.launched += 1
        for slot, array in zip(step.outputs, arrays["output"], strict=True):
            slots[slot] = array

    def _parts(self, kernels: RunKernels) -> list[Any]:
        return [self.cupy.empty((part.size,), part.dtype) for part in kernels.parts]

    def _given(self, slots: list[Any], slot: int, program: DeviceProgram) -> Any:
        """An input of a kernel: a number of the host as it is; an array without gaps and at a multiple of 16 bytes."""
        if slot in program.on_host:
            return slots[slot]
        array = self._on_device(slots, slot, program)
        if not array.flags.c_contiguous or array.data.ptr % _PACK_BYTES:
            array = slots[slot] = self.cupy.array(array, None, True, "C")
        return array

    def _arguments(self, kernel: Kernel, step: KernelStep, arrays: Mapping[str, list[Any]]) -> tuple[Any, ...]:
        """The arguments of a launch, their dtypes checked: nobody else would."""
        given = []
        for kind, index in kernel.arguments:
            if kind == "number":
                given.append(step.run.inputs[index].value.dtype.type(arrays["input"][index]))
                continue
            array = arrays[kind][index]
            if kind == "input":
                value = step.run.inputs[index].value
                assert array.dtype == value.dtype, (array.dtype, value)
                assert array.shape == value.shape, (array.shape, value)
            given.append(array)
        return tuple(given)

    # The library

    def _call(self, step: LibraryStep, program: DeviceProgram, slots: list[Any], tests: list[Any] | None) -> None:
        """One row's kernel; of the product of a cotangent the plain one, where its test can be kept for the end."""
        value = step.value
        attrs = value.attrs
        plain = tests is not None and attrs.get("cotangent") is not None
        if plain:
            attrs = {**attrs, "cotangent": None}
        assert value.op.kernel is not None, value.op.name
        inputs = [self._on_device(slots, slot, program) for slot in step.inputs]
        with self.cupyx.errstate(linalg="raise"):
            result = value.op.kernel(self._library, *inputs, **attrs)
        slots[step.output] = self._as_arrays(result, value)
        if plain and tests is not None:
            tests.append(self.cupy.isfinite(self.cupy.sum(result)))

    def _as_arrays(self, result: Any, value: Value) -> Any:
        """A result on the device: one that a kernel has made on the host goes up."""
        if isinstance(result, tuple):
            return tuple(self._as_array(each, each.dtype) for each in result)
        return self._as_array(result, value.dtype)

    def _as_array(self, result: Any, dtype: np.dtype[Any]) -> Any:
        if isinstance(result, self.cupy.ndarray):
            return result if result.dtype == dtype else result.astype(dtype)
        return self.cupy.asarray(result, dtype)

    def _on_device(self, slots: list[Any], slot: int, program: DeviceProgram) -> Any:
        """What a library's kernel is given: written numbers stay numbers, all else is an array of the device."""
        array = slots[slot]
        if isinstance(array, Waiting):
            self.stream.wait_event(send(self.cupy, self.cupyx, array, self._copies, self._staging))
            array = slots[slot] = array.target
        if isinstance(array, (self.cupy.ndarray, tuple)):
            return array
        value = program.plan.values[slot]
        if type(array) in (bool, int, float, complex):
            return array
        if array is None:
            slots[slot] = _uniform(self.cupy, value)
        else:
            slots[slot] = self.cupy.asarray(array, value.dtype)
        return slots[slot]


def _uniform(xp: Any, value: Value) -> Any:
    """One number everywhere, as an array."""
    assert value.op is UNIFORM, value
    if xp is np:
        return np.broadcast_to(np.asarray(value.known, value.dtype), value.shape)[()]
    return xp.full(value.shape, value.known, value.dtype)
