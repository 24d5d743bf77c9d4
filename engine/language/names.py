"""What names mean: functions under their prefixes, constants, dtypes, and the nearest ones of a misspelt name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ..graph import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT64, TABLE, DType, Op

PREFIXES: Final = frozenset(
    (
        "torch",
        "F",
        "np",
        "numpy",
        "jnp",
        "jax",
        "math",
        "cmath",
        "scipy",
        "nn",
        "linalg",
        "special",
        "fft",
        "functional",
    )
)
"""Names that may stand before a dot without being a value."""

_NUMPY: Final = frozenset(("np", "numpy", "jnp", "jax"))
_MODULES: Final = {"linalg": "linalg.", "special": "special.", "fft": "fft.", "nn": "nn.", "functional": "nn."}

CONSTANTS: Final[dict[str, Any]] = {
    "inf": math.inf,
    "infty": math.inf,
    "nan": math.nan,
    "pi": math.pi,
    "e": math.e,
    "tau": math.tau,
    "newaxis": None,
}
"""Numbers that have a name; under a prefix all of them, alone only those of `BARE_CONSTANTS`."""

BARE_CONSTANTS: Final[dict[str, Any]] = {
    "inf": math.inf,
    "nan": math.nan,
    "pi": math.pi,
    "e": math.e,
    "True": True,
    "False": False,
    "None": None,
}

DTYPES: Final[dict[str, DType]] = {
    "float64": FLOAT64,
    "double": FLOAT64,
    "float": FLOAT64,
    "float32": FLOAT32,
    "int64": INT64,
    "long": INT64,
    "int": INT64,
    "int32": np.dtype(np.int32),
    "bool": BOOL,
    "bool_": BOOL,
    "complex64": COMPLEX64,
    "cfloat": COMPLEX64,
    "complex128": COMPLEX128,
    "cdouble": COMPLEX128,
    "complex": COMPLEX128,
}

SYMBOLS: Final = {
    "\u03c0": "pi",
    "Pi": "pi",
    "PI": "pi",
    "Inf": "inf",
    "NaN": "nan",
    "infinity": "inf",
    "Infinity": "inf",
}
"""Names that people give the constants elsewhere; they are free here."""

FOREIGN_FUNCTIONS: Final = {
    "print": "leave it out: every named value is shown",
    "backward": "gradients are computed without being asked: see --output and --grad-tensors",
    "input": "use the name itself and give it a value: --at NAME=VALUE",
    "range": "write arange(N)",
    "Variable": "write tensor(..., requires_grad=True)",
    "Parameter": "write tensor(..., requires_grad=True)",
    "manual_seed": "write randn(..., seed=0)",
    "no_grad": "write only the formulas; constructors take requires_grad=False",
    "exit": "leave it out",
}
"""Functions of Python and PyTorch that an expression file has no use for, and what to do instead."""

FOREIGN_METHODS: Final = {
    "backward": "gradients are computed without being asked: name the output with --output",
    "requires_grad_": "write tensor(..., requires_grad=True), or name it with --wrt",
    "requires_grad": "it is shown in the table; name leaves with --wrt",
    "retain_grad": "leave it out and use --retain-grad",
    "grad": "it is shown in the table; name leaves with --wrt",
    "grad_fn": "it is shown in the table",
    "is_leaf": "it is shown in the table",
    "item": "use the value itself",
    "tolist": "use the value itself",
    "numpy": "use the value itself",
    "cpu": "leave it out and use --device",
    "cuda": "leave it out and use --device",
    "data": "use the value itself, or detach(x)",
    "zero_": "leave it out: gradients never accumulate",
    "zero_grad": "leave it out: gradients never accumulate",
    "append": "write a list with all items",
}
"""Methods and attributes of PyTorch that an expression file has no use for, and what to do instead."""


def row(name: str) -> Op | None:
    """The row of a function that a text may call: one with a calling form, not one that only rules use."""
    op = TABLE.get(name)
    return op if op is not None and op.forms else None


def function(path: tuple[str, ...]) -> tuple[Op, bool] | None:
    """The row that a dotted name calls, and whether NumPy's defaults apply; None where there is none."""
    name = path[-1]
    if len(path) > 1 and path[0] not in PREFIXES:
        return None
    numpy = len(path) > 1 and path[0] in _NUMPY
    modules = [_MODULES[part] for part in reversed(path[:-1]) if part in _MODULES]
    if path[0] == "F" and len(path) > 1:
        modules.append("nn.")
    for whole in (*[module + name for module in modules], name):
        op = row(whole)
        if op is not None:
            return op, numpy
    return None


def static(path: tuple[str, ...]) -> Any:
    """What a dotted or plain name without a call means: a constant or a dtype.

    Raises:
        KeyError: where it means nothing.
    """
    name = path[-1]
    if len(path) > 1 and path[0] in PREFIXES and name in CONSTANTS:
        return CONSTANTS[name]
    if len(path) == 1 and name in BARE_CONSTANTS:
        return BARE_CONSTANTS[name]
    return DTYPES[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?` with the nearest of the known names; empty where none is near."""
    import difflib

    lowered: dict[str, str] = {}
    for candidate in known:
        lowered.setdefault(candidate.lower(), candidate)
    found = difflib.get_close_matches(name.lower()[:60], list(lowered), n=3, cutoff=0.6)
    names = [lowered[match] for match in found]
    if not names:
        return ""
    return f"did you mean {', '.join(names[:-1]) + ' or ' + names[-1] if len(names) > 1 else names[0]}?"


def function_names() -> list[str]:
    """Every function's name without its module, for suggestions."""
    return sorted({name.rsplit(".", 1)[-1] for name, op in TABLE.items() if op.forms})


def method_names() -> list[str]:
    """Every method's name, for suggestions."""
    return sorted(name for name, op in TABLE.items() if op.forms and op.method and "." not in name)
