"""What a statement did to the tensors that have names: the rows of `--trace`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .namespaces import Namespace

_MOST: Final = 200
"""How many tensors are looked at."""
_WIDEST: Final = 60
"""The characters of a value that is shown whole."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A tensor as it stands after a statement; every column is an attribute of the tensor itself.

    Attributes:
        name: the variable, or the place in a list or dictionary.
        value, grad: as printed, on one line; the shape where that would be long.
        requires_grad, is_leaf, grad_fn, version: as printed.
    """

    name: str
    value: str
    requires_grad: str
    is_leaf: str
    grad_fn: str
    grad: str
    version: str


class Tracer:
    """Finds the tensors that changed.

    Args:
        kind: the class of tensors.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._before: dict[str, Traced] = {}

    def changed(self, names: Mapping[str, Any]) -> list[Traced]:
        """The tensors among the values of names that are new, or not as they were."""
        now = {name: self._traced(name, tensor) for name, tensor in self._tensors(names)}
        rows = [row for name, row in now.items() if self._before.get(name) != row]
        self._before = now
        return rows

    def _tensors(self, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        left = _MOST
        for name, value in names.items():
            for place, tensor in self._within(name, value):
                if not left:
                    return
                left -= 1
                yield place, tensor

    def _within(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, self._kind):
            yield name, value
        elif type(value) in (list, tuple):
            for index, each in enumerate(value[:_MOST]):
                if isinstance(each, self._kind):
                    yield f"{name}[{index}]", each
        elif type(value) is dict:
            for key, each in list(value.items())[:_MOST]:
                if isinstance(each, self._kind):
                    yield f"{name}[{key!r}]", each
        elif not isinstance(value, (Namespace, type)) and type(value).__module__ == "__main__":
            for key, each in vars(value).items():
                if isinstance(each, self._kind):
                    yield f"{name}.{key}", each

    def _traced(self, name: str, tensor: Any) -> Traced:
        function = tensor.grad_fn
        # Looking at the grad of a result that keeps none is what PyTorch warns of.
        grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
        return Traced(
            name,
            written(tensor),
            str(tensor.requires_grad),
            str(tensor.is_leaf),
            "None" if function is None else type(function).__name__,
            "None" if grad is None else written(grad),
            str(tensor._version),
        )


def written(tensor: Any) -> str:
    """The entries of a tensor as it prints them, on one line; its shape and type where they are many."""
    if tensor.numel() <= _WIDEST:
        text = " ".join(repr(tensor.detach()).split())
        text = text.partition("(")[2].rpartition(")")[0].partition(", dtype=")[0]
        if len(text) <= _WIDEST:
            return text
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
