"""What there is of CUDA on this machine, and for everything missing one line that says how to get it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from ...errors import DeviceError, LimitError

GET_CUPY: Final = "pip install 'agrad[cuda13]' for a driver of CUDA 13, or 'agrad[cuda12]' for one of CUDA 12"
GET_DRIVER: Final = "install NVIDIA's driver, and in a container start it with access to the GPU"
GET_DEVICE: Final = "see what nvidia-smi lists, and what CUDA_VISIBLE_DEVICES allows"
GET_LIBRARIES: Final = (
    "pip install 'cupy-cuda13x[ctk]' (or 'cupy-cuda12x[ctk]'), or install the CUDA Toolkit of the same version"
)

_OLD_OR_NO_DRIVER: Final = 35  # cudaErrorInsufficientDriver: also what no driver at all gives
_NO_DEVICE: Final = 100  # cudaErrorNoDevice
_NONE_VISIBLE: Final = "no CUDA device is visible"
_LIBRARIES: Final = ("cublas", "cusolver")  # what matmul and solve need


class Part(NamedTuple):
    """One thing that computing on a device needs.

    Attributes:
        name: what it is.
        there: whether it is there.
        found: its version; where it is missing, a sentence that says so.
        hint: how to get it; empty where it is there.
        needed: whether nothing runs without it.
    """

    name: str
    there: bool
    found: str
    hint: str = ""
    needed: bool = True


class Device(NamedTuple):
    """One device.

    Attributes:
        number: the N of `cuda:N`.
        name: as the driver calls it.
        compute_capability: such as "9.0".
        memory, free: in bytes.
    """

    number: int
    name: str
    compute_capability: str
    memory: int
    free: int


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that was looked for, in the order in which it is needed, and the devices."""

    parts: list[Part]
    devices: list[Device]

    @property
    def missing(self) -> Part | None:
        """The first part that is needed and not there."""
        return next((part for part in self.parts if part.needed and not part.there), None)


def status() -> Status:
    """What is there. It never raises, and touches no device before it knows that there is one."""
    parts: list[Part] = []
    cupy = _cupy(parts)
    if cupy is None or not _driver(cupy, parts):
        return Status(parts, [])
    devices = _devices(cupy, parts)
    parts.append(_attempt("NVRTC", lambda: ".".join(str(part) for part in cupy.cuda.nvrtc.getVersion())))
    parts += [
        _attempt(name, lambda name=name: _loaded(name), needed=False)  # type: ignore[misc]  # mypy cannot infer it
        for name in _LIBRARIES
    ]
    return Status(parts, devices)


def _loaded(name: str) -> str:
    import_module(f"cupy_backends.cuda.libs.{name}")
    return "found"


def _attempt(name: str, look: Callable[[], str], *, needed: bool = True) -> Part:
    try:
        return Part(name, True, look(), needed=needed)
    except Exception as fault:  # whatever a library's loader raises means that it is not there
        return Part(name, False, f"{name} cannot be loaded: {_line(fault)}", GET_LIBRARIES, needed)


def _cupy(parts: list[Part]) -> Any:
    try:
        installed = find_spec("cupy") is not None
    except (ImportError, ValueError):
        installed = False
    if not installed:
        parts.append(Part("CuPy", False, "CuPy is not installed", GET_CUPY))
        return None
    try:
        cupy = import_module("cupy")
    except Exception as fault:  # its binary parts fail in many ways
        parts.append(Part("CuPy", False, f"CuPy is installed but cannot be imported: {_line(fault)}", GET_CUPY))
        return None
    parts.append(Part("CuPy", True, cupy.__version__))
    return cupy


def _driver(cupy: Any, parts: list[Part]) -> bool:
    runtime = cupy.cuda.runtime
    version = runtime.driverGetVersion()
    try:
        runtime.getDeviceCount()
    except runtime.CUDARuntimeError as fault:
        if fault.status == _NO_DEVICE:
            parts += [Part("driver", True, _cuda(version)), Part("device", False, _NONE_VISIBLE, GET_DEVICE)]
        elif fault.status != _OLD_OR_NO_DRIVER:
            parts.append(Part("driver", False, f"the driver fails: {_line(fault)}", GET_DRIVER))
        elif version == 0:
            parts.append(Part("driver", False, "there is no NVIDIA driver on this machine", GET_DRIVER))
        else:
            needs = runtime.runtimeGetVersion() // 1000
            found = f"the driver is for {_cuda(version)}, and this CuPy needs CUDA {needs}"
            parts.append(Part("driver", False, found, f"update the driver, or {GET_CUPY}"))
        return False
    parts.append(Part("driver", True, _cuda(version)))
    return True


def _cuda(version: int) -> str:
    return f"CUDA {version // 1000}.{version % 1000 // 10}"


def _devices(cupy: Any, parts: list[Part]) -> list[Device]:
    devices: list[Device] = []
    try:
        for index in range(cupy.cuda.runtime.getDeviceCount()):
            properties = cupy.cuda.runtime.getDeviceProperties(index)
            with cupy.cuda.Device(index):
                free, memory = cupy.cuda.runtime.memGetInfo()
            name = properties["name"]
            capability = f"{properties['major']}.{properties['minor']}"
            devices.append(Device(index, name.decode() if isinstance(name, bytes) else name, capability, memory, free))
    except cupy.cuda.runtime.CUDARuntimeError as fault:  # a device in use by another, or broken
        parts.append(Part("device", False, f"the device fails: {_line(fault)}", GET_DEVICE))
        return devices
    found = f"{len(devices)} found" if devices else _NONE_VISIBLE
    parts.append(Part("device", bool(devices), found, "" if devices else GET_DEVICE))
    return devices


def _line(fault: BaseException) -> str:
    return str(fault).strip().split("\n", 1)[0] or type(fault).__name__


def index_of(device: str) -> int:
    """The N of `cuda:N`; 0 of `cuda`."""
    return int(device.partition(":")[2] or 0)


def require(device: str) -> Device:
    """The device of a name such as `cuda:1`.

    Raises:
        DeviceError: where it cannot be used: what is missing, and how to get it.
    """
    found = status()
    missing = found.missing
    if missing is not None:
        raise DeviceError(
            f"--device {device}: {missing.found}; to get it: {missing.hint}"
        )  # one line, for every format
    index = index_of(device)
    if index >= len(found.devices):
        listed = f"{len(found.devices)} device{'s' if len(found.devices) > 1 else ''}"
        raise DeviceError(f"--device {device}: there is no such device, only {listed}, from cuda:0")
    return found.devices[index]


def choose() -> tuple[str, str]:
    """What `--device auto` means here: `cuda` where it can be used, else `cpu`; and why, in one sentence."""
    found = status()
    missing = found.missing
    if missing is None:
        return "cuda", f"--device auto: computing on {found.devices[0].name}"
    return "cpu", f"--device auto: computing on the CPU: {missing.found}"


@contextmanager
def device_faults(device: str) -> Iterator[None]:
    """Let faults of CUDA inside of the block be told as errors for people.

    Raises:
        LimitError: where the device has no memory left.
        DeviceError: for every other fault of the device or its libraries.
    """
    try:
        yield
    except Exception as fault:
        told = _told(fault, device)
        if told is None:
            raise
        raise told from fault


def _told(fault: Exception, device: str) -> Exception | None:
    names = {kind.__name__ for kind in type(fault).__mro__}
    if "OutOfMemoryError" in names:
        return LimitError(
            f"--device {device}: out of memory: {_line(fault)}", hint="smaller inputs, float32, or --device cpu"
        )
    if "CompileException" in names or "NVRTCError" in names:
        return DeviceError(f"--device {device}: a kernel does not compile: {_line(fault)}", hint=GET_LIBRARIES)
    if "DynamicLibNotFoundError" in names or (isinstance(fault, ImportError) and "cupy" in str(fault.name or fault)):
        return DeviceError(f"--device {device}: a library of CUDA is missing: {_line(fault)}", hint=GET_LIBRARIES)
    if names & {"CUDARuntimeError", "CUDADriverError", "CUBLASError", "CUSOLVERError", "CuFFTError"}:
        return DeviceError(f"--device {device}: {_line(fault)}", hint="agrad devices shows what is there")
    return None
