"""A strict stand-in for CuPy on NumPy, for machines without a GPU.

It has only the names and parameters that the real one has (`cupy_names.json`), raises its TypeErrors, wraps indices
around, gives arrays without axes for single numbers, poisons what is not written, and counts what costs time: waits,
copies and launches. Kernels run on the host.
"""

from __future__ import annotations

import contextlib
import json
import types
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.linalg
import scipy.special

from .host import KERNEL, HostModule

NAMES: Final = json.loads((Path(__file__).parent / "cupy_names.json").read_text(encoding="utf-8"))
DTYPES: Final = frozenset("?bBhHiIlLqQefdFD")
SCIPY_LINALG: Final = {"expm": ["a"], "lu_factor": ["a", "overwrite_a", "check_finite"]}
"""Functions of cupyx.scipy.linalg, which cannot be imported without a device, by CuPy's reference."""
ALIGNMENT: Final = 256
_NOT_ARRAYS: Final = frozenset({"ndim", "size", "shape", "iscomplexobj", "isrealobj", "isscalar", "result_type",
                                "can_cast", "broadcast_shapes", "finfo", "iinfo", "dtype", "common_type"})  # fmt: skip
_WAITING: Final = frozenset({"nonzero", "flatnonzero", "unique", "argwhere", "bincount", "array_equal", "allclose"})
"""Functions of CuPy that wait for the device, because the shape or kind of their result depends on values."""
_UP: Final = frozenset({"array", "asarray", "ascontiguousarray", "asanyarray"})
_AT: Final = {
    "add": "iIqQlLefd", "subtract": "iI", "maximum": "iIlLqQfd", "minimum": "iIlLqQfd",
}  # fmt: skip
_REDUCES: Final = frozenset({"add", "multiply"})


class CUDARuntimeError(RuntimeError):
    """CuPy's, with its attribute."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class OutOfMemoryError(MemoryError):
    """CuPy's."""


class NVRTCError(RuntimeError):
    """CuPy's."""


class Machine:
    """What there is, and what it has been asked to do.

    Attributes:
        counts: "waits", "event waits", "uploads", "downloads", "kernels" (own) and "calls" (of the library).
        free, total: bytes of the device's memory.
        devices: how many there are.
        backwards: whether warps and blocks run from the last to the first.
        linalg: CuPy's mode for singular matrices.
        library: kernels that were compiled together beforehand.
        order: copies up and launches, in the order in which they were asked for.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.free = 8 * 2**30
        self.total = 8 * 2**30
        self.devices = 1
        self.backwards = False
        self.linalg = "ignore"
        self.library: HostModule | None = None
        self.order: list[str] = []


machine: Final = Machine()


def _real(value: Any) -> Any:
    return value._array if isinstance(value, ndarray) else value


def _unwrapped(value: Any, *, strict: bool) -> Any:
    """An argument for NumPy: CuPy takes arrays of its own and single numbers, and lists of them where it joins."""
    if isinstance(value, np.ndarray) or (strict and isinstance(value, (list, tuple))):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)(_unwrapped(each, strict=False) for each in value)
    return _real(value)


def _wrapped(result: Any) -> Any:
    if isinstance(result, tuple):
        if hasattr(result, "_fields"):
            return type(result)(*[_wrapped(each) for each in result])
        return tuple(_wrapped(each) for each in result)
    if isinstance(result, list):
        return [_wrapped(each) for each in result]
    return ndarray._of(np.asarray(result)) if isinstance(result, (np.ndarray, np.generic)) else result


class MemoryPointer:
    """An address, which can be moved and asked for."""

    def __init__(self, memory: np.ndarray[Any, Any], offset: int = 0) -> None:
        self.memory = memory
        self.offset = offset

    @property
    def ptr(self) -> int:
        """The address."""
        return int(self.memory.ctypes.data) + self.offset

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.memory, self.offset + offset)


def _fresh(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Poisoned memory at an address as CuPy's."""
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size > machine.free:
        raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes (allocated so far: 0 bytes).")
    memory = np.full(size + ALIGNMENT, 0xFF, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


class ndarray:
    """An array of the device."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # as CuPy's

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None, strides: Any = None, order: str = "C"
    ) -> None:
        assert strides is None
        assert order == "C"
        if memptr is None:
            self._array = _fresh(shape, dtype)
        else:
            whole = memptr.memory.reshape(-1).view(np.uint8)
            self._array = np.ndarray(shape, dtype, buffer=whole.data, offset=memptr.offset)

    @classmethod
    def _of(cls, array: np.ndarray[Any, Any]) -> ndarray:
        if array.dtype.char not in DTYPES:
            raise ValueError(f"Unsupported dtype {array.dtype}")
        made = cls.__new__(cls)
        made._array = array
        return made

    @property
    def data(self) -> MemoryPointer:
        """Where it lies."""
        return MemoryPointer(self._array)

    def __array__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or ufunc.__name__ not in NAMES["modules"]["cupy"]:
            return NotImplemented
        return getattr(cupy, ufunc.__name__)(*args, **kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        return getattr(cupy, function.__name__)(*args, **kwargs)

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """The array on the host."""
        assert order == "C"
        machine.counts["downloads"] += 1
        if blocking or out is None:
            machine.counts["waits"] += 1
            return self._array.copy()
        assert isinstance(out, np.ndarray)
        assert (out.shape, out.dtype) == (self._array.shape, self._array.dtype)
        np.copyto(out, self._array)
        return out

    def set(self, arr: np.ndarray[Any, Any], stream: Any = None) -> None:
        """Copy an array of the host."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        assert arr.shape == self._array.shape
        assert arr.dtype == self._array.dtype
        machine.counts["uploads"] += 1
        machine.order.append("upload")
        self._array[...] = arr

    def _number(self) -> Any:
        machine.counts["waits"] += 1
        return self._array.item()

    def item(self, *args: int) -> Any:
        """One number, on the host."""
        machine.counts["waits"] += 1
        return self._array.item(*args)

    def tolist(self) -> Any:
        """All numbers, on the host."""
        machine.counts["waits"] += 1
        return self._array.tolist()

    def __bool__(self) -> bool:
        return bool(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __index__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self._array)))

    def __getattr__(self, name: str) -> Any:
        entry = NAMES["ndarray"].get(name)
        if entry is None or name.startswith("_"):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        real = getattr(self._array, name)
        if entry["kind"] == "value":
            return _wrapped(real) if isinstance(real, np.ndarray) else real
        return _checked(f"ndarray.{name}", real, entry, strict=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("shape", "real", "imag"):
            setattr(self._array, name, _unwrapped(value, strict=True))
        else:
            object.__setattr__(self, name, value)

    def _key(self, key: Any) -> Any:
        """A key with indices that wrap around, as CuPy's do; one that depends on a mask waits."""
        axis = 0
        found = []
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            if isinstance(part, np.ndarray) and part.dtype == bool:
                machine.counts["waits"] += 1
            if isinstance(part, (ndarray, np.ndarray, list)):
                array = np.asarray(_real(part))
                if isinstance(part, ndarray) and array.dtype == bool:
                    machine.counts["waits"] += 1
                elif array.dtype != bool and axis < self._array.ndim:
                    array = array % max(self._array.shape[axis], 1)
                axis += array.ndim if array.dtype == bool else 1
                found.append(array)
            else:
                found.append(part)
                axis = self._array.ndim - (len(parts) - len(found)) if part is Ellipsis else axis + (part is not None)
        return tuple(found)

    def __getitem__(self, key: Any) -> ndarray:
        machine.counts["calls"] += 1
        return ndarray._of(np.asarray(self._array[self._key(key)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (np.ndarray, list)):
            raise TypeError(f"Unsupported type {type(value)}")
        machine.counts["calls"] += 1
        self._array[self._key(key)] = _real(value)

    def __repr__(self) -> str:
        return f"fake {self._array!r}"


_OPERATORS: Final = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "matmul": "matmul", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARISONS: Final = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip


def _operator(name: str, *, turned: bool = False, inside: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: ndarray, other: Any) -> Any:
        if isinstance(other, (list, tuple, str)):
            return NotImplemented
        one, two = (other, self) if turned else (self, other)
        function = getattr(cupy, name)
        return function(one, two, out=self) if inside else function(one, two)

    return apply


for _short, _name in _OPERATORS.items():
    setattr(ndarray, f"__{_short}__", _operator(_name))
    setattr(ndarray, f"__r{_short}__", _operator(_name, turned=True))
    setattr(ndarray, f"__i{_short}__", _operator(_name, inside=True))
for _short, _name in _COMPARISONS.items():
    setattr(ndarray, f"__{_short}__", _operator(_name))
for _short, _name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(ndarray, f"__{_short}__", lambda self, _name=_name: getattr(cupy, _name)(self))


def _checked(name: str, real: Callable[..., Any], entry: dict[str, Any], *, strict: bool) -> Callable[..., Any]:
    """A function of NumPy that takes what CuPy's takes."""
    known = entry["parameters"]
    short = name.rpartition(".")[2]

    def call(*args: Any, **kwargs: Any) -> Any:
        machine.counts["calls"] += 1
        if known is not None:
            plain = [each.rstrip("/") for each in known if not each.startswith("*")]
            if "**" not in known and not set(kwargs) <= set(plain):
                raise TypeError(f"Wrong arguments {sorted(set(kwargs) - set(plain))} for {name}")
            if "*" not in known and len(args) > len(plain):
                raise TypeError(f"{name}() takes {len(plain)} positional arguments but {len(args)} were given")
        if short in _WAITING:
            machine.counts["waits"] += 1
        out = kwargs.get("out")
        values = [_unwrapped(each, strict=strict) for each in args]
        named = {key: _unwrapped(each, strict=False) for key, each in kwargs.items()}
        with np.errstate(all="ignore"):
            result = real(*values, **named)
        if isinstance(out, ndarray):
            return out
        return result if short in _NOT_ARRAYS else _wrapped(result)

    return call


class Ufunc:
    """A universal function with the loops and methods that CuPy's has."""

    def __init__(self, name: str, entry: dict[str, Any]) -> None:
        self.name = name
        self.types = entry["types"]
        self.nin = entry["nin"]
        self._real = _ufunc_of(name)
        self._call = _checked(name, self._real, entry, strict=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Of arrays and single numbers."""
        return self._call(*args, **kwargs)

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        """Unbuffered, for the dtypes that CuPy has it for."""
        if a.dtype.char not in _AT.get(self.name, ""):
            raise TypeError(f"`{self.name}.at` is not supported for {a.dtype}")
        machine.counts["calls"] += 1
        key = a._key(indices)
        getattr(self._real, "at")(a._array, key if len(key) > 1 else key[0], _unwrapped(b, strict=True))  # noqa: B009  # as found

    def reduce(self, array: ndarray, axis: int = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Of sums and products only."""
        if self.name not in _REDUCES:
            raise NotImplementedError(f"`{self.name}.reduce` is not implemented")
        machine.counts["calls"] += 1
        return _wrapped(self._real.reduce(array._array, axis=axis, dtype=dtype, out=out, keepdims=keepdims))

    def accumulate(self, array: ndarray, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Of sums and products only."""
        if self.name not in _REDUCES:
            raise NotImplementedError(f"`{self.name}.accumulate` is not implemented")
        machine.counts["calls"] += 1
        return _wrapped(self._real.accumulate(array._array, axis=axis, dtype=dtype, out=out))


def _ufunc_of(name: str) -> Any:
    return getattr(np, name) if hasattr(np, name) else getattr(scipy.special, name)


# Functions that differ from NumPy's


def _empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    assert order == "C"
    machine.counts["calls"] += 1
    return ndarray(shape, dtype)


def _empty_like(
    prototype: ndarray, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    return _empty(prototype.shape if shape is None else shape, dtype or prototype.dtype)


def _up(name: str) -> Callable[..., Any]:
    real = getattr(np, name)
    entry = NAMES["modules"]["cupy"][name]

    def call(*args: Any, **kwargs: Any) -> ndarray:
        unknown = set(kwargs) - set(entry["parameters"])
        if unknown:
            raise TypeError(f"{name}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        kwargs |= dict(zip(entry["parameters"][1:], args[1:], strict=False))
        kwargs.pop("blocking", None)
        first = args[0]
        if isinstance(first, ndarray):
            machine.counts["calls"] += 1
        else:
            machine.counts["uploads"] += 1
        if isinstance(first, (list, tuple)) and any(isinstance(each, ndarray) for each in first):
            return ndarray._of(np.stack([np.asarray(_real(each)) for each in first]))
        result = np.asarray(real(_real(first), **kwargs))
        if not isinstance(first, ndarray):
            result = result.copy()  # the device has memory of its own
        return ndarray._of(result)

    return call


def _put_along_axis(arr: ndarray, indices: ndarray, values: Any, axis: int) -> None:
    machine.counts["calls"] += 1
    wrapped = indices._array % arr.shape[axis]
    np.put_along_axis(arr._array, wrapped, _unwrapped(values, strict=True), axis)


def _take_along_axis(a: ndarray, indices: ndarray, axis: int) -> ndarray:
    machine.counts["calls"] += 1
    return ndarray._of(np.take_along_axis(a._array, indices._array % max(a.shape[axis], 1), axis))


def _take(a: ndarray, indices: Any, axis: int | None = None, out: Any = None) -> ndarray:
    machine.counts["calls"] += 1
    assert out is None
    return ndarray._of(np.asarray(np.take(a._array, _real(indices), axis=axis, mode="wrap")))


def _argsort(a: ndarray, axis: int = -1, kind: str | None = None) -> ndarray:
    """CuPy's sort is stable, whatever it is asked for."""
    machine.counts["calls"] += 1
    assert kind in (None, "stable")
    return ndarray._of(np.argsort(a._array, axis=axis, kind="stable"))


def _asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def _linear(name: str) -> Callable[..., Any]:
    """A function of linear algebra: without errstate a singular matrix gives rubbish, in silence."""
    plain = _checked(f"linalg.{name}", getattr(np.linalg, name), NAMES["modules"]["cupy.linalg"][name], strict=False)

    def call(*args: Any, **kwargs: Any) -> Any:
        if name == "solve" and args[0].ndim > 2:
            batch = args[0].shape[:-2]
            if args[1].shape[: len(batch)] != batch:
                raise ValueError("a must have the same batch dimensions as b")
        try:
            return plain(*args, **kwargs)
        except np.linalg.LinAlgError:
            if machine.linalg == "raise" or name == "eig":
                raise
            return _wrapped(np.full(args[-1].shape, np.nan, args[-1].dtype))

    return call


@contextlib.contextmanager
def _errstate(*, divide: Any = None, linalg: Any = None, fallback_mode: Any = None) -> Iterator[None]:
    before = machine.linalg
    machine.linalg = linalg or before
    try:
        yield
    finally:
        machine.linalg = before


class Stream:
    """A queue of the device. Waiting for it is what is counted."""

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        self.ptr = 0

    def synchronize(self) -> None:
        """Wait for everything in it."""
        machine.counts["waits"] += 1

    def wait_event(self, event: Event) -> None:
        """Let what comes later in it wait for a mark; the host does not."""
        assert isinstance(event, Event)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_fault: object) -> None:
        return None


class Event:
    """A mark in a stream."""

    def __init__(self, block: bool = True, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.at = 0

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark."""
        self.at = machine.counts["kernels"] + machine.counts["calls"]

    def synchronize(self) -> None:
        """Wait for it."""
        machine.counts["event waits"] += 1


class Device:
    """One device, which becomes the current one."""

    compute_capability = "90"

    def __init__(self, device: int | None = None) -> None:
        self.id = device or 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_fault: object) -> None:
        return None

    def synchronize(self) -> None:
        """Wait for everything on it."""
        machine.counts["waits"] += 1


class RawKernel:
    """One function of a module."""

    def __init__(self, module: RawModule, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        """Launch it: as CuPy, it looks at no dtype and no stride."""
        assert all(isinstance(each, int) and each > 0 for each in (*grid, *block)), (grid, block)
        assert len(grid) <= 3
        assert int(np.prod(block)) <= 1024
        assert grid[0] < 2**31
        assert all(each <= 65535 for each in grid[1:])
        for each in args:
            assert isinstance(each, (ndarray, np.generic, int, float)), type(each)
        machine.counts["kernels"] += 1
        machine.order.append("kernel")
        self._module.host.launch(self._name, grid, block, [_real(each) for each in args])


class RawModule:
    """A binary that the fake NVRTC has made, loaded: its text goes through the compiler of the host."""

    def __init__(self, code: str | None = None, *, path: str | None = None, **_options: Any) -> None:
        assert code is None, "CuPy would compile it with -ftz=true"
        assert path is not None
        self._path = path
        self._host: HostModule | None = None

    @property
    def host(self) -> HostModule:
        """The kernels."""
        assert self._host is not None
        self._host.backwards = machine.backwards
        return self._host

    def get_function(self, name: str) -> RawKernel:
        """A kernel by its name; the module is loaded with the first."""
        if self._host is None:
            binary = Path(self._path).read_bytes()
            assert binary.startswith(_nvrtc.MAGIC), "not a binary"
            text = binary[len(_nvrtc.MAGIC) :].decode()
            # A kernel's name is made from its text: one that was compiled with many others is the same.
            known = machine.library is not None and set(KERNEL.findall(text)) <= set(machine.library.kernels.items())
            self._host = machine.library if known else HostModule([text])
        assert self._host is not None
        if name not in self._host.kernels:
            raise AttributeError(f"no function {name}")
        return RawKernel(self, name)


class _nvrtc:
    """NVRTC, whose binaries are the text."""

    MAGIC = b"\x7fELF of the fake: "
    NVRTCError = NVRTCError
    programs: Final[dict[int, list[str]]] = {}

    @staticmethod
    def getVersion() -> tuple[int, int]:
        """The version."""
        return (13, 0)

    @staticmethod
    def getSupportedArchs() -> list[int]:
        """The architectures."""
        return [75, 80, 86, 89, 90, 100, 120]

    @classmethod
    def createProgram(cls, src: str, name: str, headers: tuple[str, ...], include_names: tuple[str, ...]) -> int:
        """A program of a text."""
        number = len(cls.programs) + 1
        cls.programs[number] = [src]
        return number

    @classmethod
    def compileProgram(cls, prog: int, options: tuple[str, ...]) -> None:
        """Compile it."""
        assert isinstance(options, tuple)
        assert "-ftz=true" not in options
        machine.counts["compilations"] += 1

    @classmethod
    def getCUBIN(cls, prog: int) -> bytes:
        """Its binary."""
        return cls.MAGIC + cls.programs[prog][0].encode()

    @classmethod
    def getPTX(cls, prog: int) -> bytes:
        """Its assembly."""
        return cls.getCUBIN(prog)

    @classmethod
    def destroyProgram(cls, prog: int) -> None:
        """Drop it."""
        cls.programs[prog] = []


def _empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray[Any, Any]:
    return np.full(shape, 77, dtype)


# The modules


class _Pool:
    def free_bytes(self) -> int:
        """Bytes that are kept and not in use."""
        return 0

    def free_all_blocks(self) -> None:
        """Give them back."""

    def used_bytes(self) -> int:
        """Bytes in use."""
        return 0


class _Module(types.ModuleType):
    """A module that has what CuPy's of the same name has."""

    def __getattr__(self, name: str) -> Any:
        found = _attribute(self.__name__, name)
        setattr(self, name, found)
        return found


@cache
def _attribute(module: str, name: str) -> Any:
    entry = NAMES["modules"].get(module, {}).get(name)
    if entry is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    if entry["kind"] == "ufunc":
        return Ufunc(name, entry)
    if module == "cupy.linalg" and entry["kind"] == "function":
        return _linear(name)
    source: Any = scipy.special if module == "cupyx.scipy.special" else np
    for part in module.split(".")[1:] if source is np else ():
        source = getattr(source, part)
    real = getattr(source, name)
    if entry["kind"] in ("class", "value"):
        return real
    return _checked(f"{module.partition('.')[2]}.{name}".lstrip("."), real, entry, strict=entry["kind"] == "gufunc")


def _module(name: str, **own: Any) -> _Module:
    made = _Module(name)
    made.__path__ = []
    vars(made).update(own)
    return made


_runtime: Final = types.SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: machine.devices,
    driverGetVersion=lambda: 13000,
    runtimeGetVersion=lambda: 13000,
    memGetInfo=lambda: (machine.free, machine.total),
    getDeviceProperties=lambda _index: {"name": b"the fake", "major": 9, "minor": 0, "multiProcessorCount": 2},
)
cuda: Final = _module(
    "cupy.cuda",
    runtime=_runtime,
    nvrtc=_nvrtc,
    Device=Device,
    Stream=Stream,
    Event=Event,
    get_elapsed_time=lambda _start, _end: 1.0,
    is_available=lambda: machine.devices > 0,
)
cupy: Final = _module(
    "cupy",
    __version__=NAMES["cupy"],
    ndarray=ndarray,
    RawModule=RawModule,
    empty=_empty,
    empty_like=_empty_like,
    put_along_axis=_put_along_axis,
    take_along_axis=_take_along_axis,
    take=_take,
    argsort=_argsort,
    asnumpy=_asnumpy,
    get_default_memory_pool=_Pool,
    get_default_pinned_memory_pool=_Pool,
    cuda=cuda,
    linalg=_module("cupy.linalg"),
    fft=_module("cupy.fft"),
    random=_module("cupy.random"),
    lib=types.SimpleNamespace(stride_tricks=_module("cupy.lib.stride_tricks")),
    **{name: _up(name) for name in sorted(_UP & set(NAMES["modules"]["cupy"]))},
)
_special: Final = _module("cupyx.scipy.special")
_scipy_linalg: Final = _module(
    "cupyx.scipy.linalg",
    **{
        name: _checked(name, getattr(scipy.linalg, name), {"parameters": parameters}, strict=False)
        for name, parameters in SCIPY_LINALG.items()
    },
)
_scipy: Final = _module("cupyx.scipy", special=_special, linalg=_scipy_linalg)
cupyx: Final = _module("cupyx", errstate=_errstate, empty_pinned=_empty_pinned, scipy=_scipy)

MODULES: Final = {
    "cupy": cupy,
    "cupyx": cupyx,
    "cupyx.scipy": _scipy,
    "cupyx.scipy.special": _special,
    "cupyx.scipy.linalg": _scipy_linalg,
    "cupy_backends.cuda.libs.cublas": types.ModuleType("cublas"),
    "cupy_backends.cuda.libs.cusolver": types.ModuleType("cusolver"),
}
"""What stands in sys.modules while the fake is in use."""
cupy.__spec__ = __import__("importlib.machinery").machinery.ModuleSpec("cupy", None)


@contextlib.contextmanager
def installed() -> Iterator[Machine]:
    """Let `import cupy` give the fake while the block runs; everything counted from zero."""
    import sys

    before = {name: sys.modules.get(name) for name in MODULES}
    sys.modules.update(MODULES)
    fresh = Machine()
    vars(machine).update(vars(fresh))
    try:
        yield machine
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
