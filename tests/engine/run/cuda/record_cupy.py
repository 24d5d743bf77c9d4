"""Records what the real CuPy offers: its names and their parameters. Run where CuPy is installed; it needs no GPU.

python tests/engine/run/cuda/record_cupy.py
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parent / "cupy_names.json"
MODULES: Final = (
    "cupy", "cupy.linalg", "cupy.fft", "cupy.random", "cupy.lib.stride_tricks", "cupy.cuda", "cupy.cuda.runtime",
    "cupyx", "cupyx.scipy.special",
)  # fmt: skip
UFUNC: Final = {"kind": "ufunc", "parameters": ["*", "out", "dtype", "casting"]}
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY


def parameters(function: Any) -> list[str] | None:
    """The names of a function's parameters: `*` for any number of positional ones, `**` for any keywords."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return _from_doc(function)
    names = []
    for each in found:
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            names.append("*")
        elif each.kind is inspect.Parameter.VAR_KEYWORD:
            names.append("**")
        elif each.kind is _POSITIONAL:
            names.append(f"{each.name}/")
        else:
            names.append(each.name)
    return names


def _from_doc(function: Any) -> list[str] | None:
    """Parameters from the first line of the docstring, where functions of Cython say them."""
    first = (getattr(function, "__doc__", None) or "").strip().split("\n", 1)[0]
    found = re.match(r"[\w.]+\((.*)\)", first)
    if found is None:
        return None
    inside = re.sub(r"\[[^\]]*\]|\([^)]*\)", "", found.group(1))
    names = []
    for part in filter(None, (each.strip() for each in inside.split(","))):
        name = part.split("=")[0].split(":")[0].split()[-1]
        names.append("**" if name.startswith("**") else "*" if name.startswith("*") else name)
    return [name for name in names if name not in ("self", "/")]


def described(value: Any) -> dict[str, Any]:
    """What is recorded of one name."""
    kind = type(value).__name__
    if kind == "ufunc":
        return {**UFUNC, "nin": value.nin, "nout": value.nout, "types": [str(each) for each in value.types]}
    if kind in ("_GUFunc", "GUFunc"):
        return {"kind": "gufunc", "parameters": ["*", "out", "dtype", "casting", "axes", "axis", "keepdims", "order"]}
    if inspect.isclass(value):
        return {"kind": "class", "parameters": parameters(value)}
    return {"kind": "function", "parameters": parameters(value)} if callable(value) else {"kind": "value"}


def recorded() -> dict[str, Any]:
    """Everything that is written into the file."""
    import cupy

    modules = {}
    for name in MODULES:
        module = import_module(name)
        modules[name] = {
            each: described(getattr(module, each))
            for each in sorted(dir(module))
            if not each.startswith("_") and not inspect.ismodule(getattr(module, each))
        }
    nvrtc = cupy.cuda.nvrtc
    modules["cupy.cuda.nvrtc"] = {
        each: described(getattr(nvrtc, each)) for each in sorted(dir(nvrtc)) if each[0] != "_"
    }
    methods = {
        each: described(getattr(cupy.ndarray, each)) for each in sorted(dir(cupy.ndarray)) if not each.startswith("_")
    }
    operators = sorted(each for each in dir(cupy.ndarray) if each.startswith("__"))
    return {"cupy": cupy.__version__, "modules": modules, "ndarray": methods, "operators": operators}


if __name__ == "__main__":
    FILE.write_text(json.dumps(recorded(), sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print(FILE)
