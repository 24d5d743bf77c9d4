"""What binds the library of tensors to a snippet: its namespaces, its public classes, its questions."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .library import Library, Public
from .warn import CatchWarnings, Caught

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .places import Places


def imported(tree: ast.Module) -> frozenset[str]:
    """The first names of the modules that a snippet imports."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return frozenset(names)


def modules(names: frozenset[str]) -> Mapping[str, Callable[[], Any]]:
    """The makers of the modules that need tensors, among those that a snippet imports."""
    if "torch" not in names:
        return {}
    from ..eager.namespace import torch

    return {"torch": lambda: torch}


def library(names: frozenset[str]) -> Library:
    """What is public of the classes of NumPy and of tensors, where the snippet imports any."""
    classes = [Public(Caught), Public(CatchWarnings)]
    if "torch" in names:
        classes += _tensor_classes()
    if names & {"numpy", "torch"}:
        from .numeric import numpy_classes

        classes += numpy_classes()
    return Library(classes)


def _tensor_classes() -> list[Public]:
    from ..eager import custom, dtypes, function, layers, optim, tensor
    from ..eager.autograd import GradientEdge
    from ..eager.modes import Switch
    from ..eager.namespace import torch

    return [
        Public(
            tensor.Tensor, hidden=frozenset({"node"}), underscored=frozenset({"_version", "_is_view"}), settable=None
        ),
        Public(function.GradFunction, hidden=frozenset({"node"}), underscored=frozenset({"_saved_", "_raw_saved_"})),
        Public(function.Handle, hidden=frozenset({"id"})),
        Public(GradientEdge),
        Public(custom.Context, settable=None, callable=False),
        Public(custom.Function, derivable=True),
        Public(layers.Module, settable=None, derivable=True),
        Public(optim.Optimizer),
        Public(dtypes.dtype, hidden=frozenset({"name", "numpy", "word"})),
        Public(dtypes.Size),
        Public(dtypes.device),
        Public(Switch, callable=False),
        Public(type(torch), underscored=frozenset({"__version__"}), callable=False),
    ]


@contextlib.contextmanager
def connect(run: Interpreter, places: Places, names: frozenset[str]) -> Iterator[None]:
    """Let the library ask where the snippet stands."""
    if "torch" not in names:
        yield
        return
    from ..eager.modes import State
    from .failure import traceback_text

    State.where = lambda: traceback_text(run, places)
    try:
        yield
    finally:
        State.where = None
