"""The gradient of a tensor: reading it, setting it, keeping it, and hooks on its way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from . import dispatch, dtypes
from .function import Handle

if TYPE_CHECKING:
    from ..graph import Node
    from .tensor import Tensor

_NON_LEAF_GRAD: Final = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the "
    "leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)


class Gradients:
    """What a tensor has to do with its gradient.

    Attributes:
        is_leaf, requires_grad, shape, dtype: the tensor's own.
    """

    _grad: Tensor | None
    _retains: bool
    is_leaf: Any
    requires_grad: Any
    shape: Any
    dtype: Any

    if TYPE_CHECKING:

        @property
        def node(self) -> Node: ...  # noqa: D102  # the tensor says it

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward runs have added up; None before the first."""
        if self._grad is None and not self.is_leaf and not self._retains:
            warnings.warn(_NON_LEAF_GRAD, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            self._grad = None
            return
        if not isinstance(value, dispatch.tensor_class):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value.dtype is not self.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{_c_name(value.dtype)}' to a tensor with grad_dtype "
                f"'{self.dtype.word}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
                "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any "
                "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
                "downstream systems that assume they match."
            )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Keep its gradient in `.grad`, although it is no leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf and not self._retains:
            self._retains = True

    def register_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """Call a function with its gradient in each backward run; what it returns replaces the gradient."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return Handle(self.node.record.hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """Call a function with the tensor each time after its `.grad` was added to."""
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return Handle(self._after_accumulation, hook)

    @property
    def _after_accumulation(self) -> dict[int, Callable[..., Any]]:
        hooks: dict[int, Callable[..., Any]] = self.__dict__.setdefault("_accumulation_hooks", {})
        return hooks


def _c_name(kind: dtypes.dtype) -> str:
    return {"float32": "float", "float64": "double", "int64": "long", "int32": "int"}.get(kind.name, kind.name)
