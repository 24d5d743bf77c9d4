"""The tensor: values that compute at once, and the attributes that PyTorch's autograd gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np

from ..graph import LEAF, TABLE, Node
from ..printing.tensors import tensor_text
from . import dispatch, dtypes, writing
from .function import GradFunction, edge
from .gradients import Gradients
from .measures import Measures
from .methods import Methods
from .modes import State
from .operators import Operators
from .record import Record, Version, constant
from .views import positions, seen

_FLAGS: Final = "you can only change requires_grad flags of leaf variables."
_FLAGS_OFF: Final = (
    f"{_FLAGS} If you want to use a computed variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach()."
)
_DETACH_VIEW: Final = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
    "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
    "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "torch/optim/optimizer.py as the solution."
)


class Tensor(Operators, Methods, Measures, Gradients):
    """An array of numbers that remembers what it was computed from.

    `Tensor(sequence)` and `Tensor(size, ...)` make one of the default floats, as PyTorch's own constructor does.
    """

    __hash__ = object.__hash__
    __array_priority__ = 1000

    _array: np.ndarray[Any, Any]
    _node: Node
    _base: Tensor | None
    _counter: Version
    _grad: Tensor | None
    _seen: int
    _rebound: int
    _base_rebound: int
    _made_without_grad: bool
    _from_many: bool
    _retains: bool
    _inference: bool
    _mapped: bool = False

    def __new__(cls, *data: Any) -> Self:
        """A tensor of a sequence, or of unspecified (zero) entries of some sizes."""
        if len(data) == 1 and isinstance(data[0], (list, tuple, np.ndarray)):
            array = np.array(data[0], dtype=dtypes.default_float())
        elif len(data) == 1 and isinstance(data[0], Tensor):
            return cls._made(data[0]._array, version=data[0]._counter)
        else:
            array = np.zeros(data if data else (0,), dtype=dtypes.default_float())
        return cls._made(array)

    @classmethod
    def _made(
        cls,
        array: np.ndarray[Any, Any],
        node: Node | None = None,
        *,
        base: Tensor | None = None,
        version: Version | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """A tensor over memory, with the node that it is the value of."""
        self = object.__new__(cls)
        self._array = array
        self._counter = version or Version()
        self._base = base
        self._rebound = 0
        self._base_rebound = 0 if base is None else base._rebound
        self._made_without_grad = base is not None and not State.grad
        self._from_many = False
        self._grad = None
        self._retains = False
        self._inference = State.inference
        if node is None:
            node = constant(array) if not requires_grad else _leaf(array)
        self._bind(node)
        return self

    @classmethod
    def _of_node(cls, node: Node) -> Tensor:
        """The tensor that a node belongs to, or a new one over its value."""
        owner: Tensor | None = node.record.owner if node.record is not None else None
        if owner is not None and owner._node is node:
            return owner
        if node.value is None:
            from .record import value_of  # only here

            value_of(node, recorded=True)
        return Tensor._made(np.asarray(node.value), node)

    def _bind(self, node: Node) -> None:
        """Make a node the tensor's own."""
        record: Record | None = node.record
        if record is None:
            record = node.record = Record()
        node.value = self._array
        record.version = self._counter
        if node.op is not LEAF:
            record.saved = (*record.saved[: len(node.args)], (self._counter, self._counter.count))
        record.belongs_to(self, leaf=node.op is LEAF and node.requires_grad)
        if State.anomaly and node.op is not LEAF and node.requires_grad:
            from .anomaly import place  # costs nothing where it is off

            record.place = place()
        self._node = node
        self._seen = self._counter.count

    @property
    def node(self) -> Node:
        """The node that it is the value of, after whatever was written into what it is a view of."""
        base = self._base
        if base is None or self._made_without_grad:
            return self._node
        written = self._counter.count != self._seen and self._node.op is not LEAF
        if written or base._rebound != self._base_rebound:
            self._base_rebound = base._rebound
            if base.node.requires_grad:
                self._bind(seen(base.node, positions(self._array, base._array)))
        return self._node

    @property
    def _stale(self) -> bool:
        """Whether it is a view made while nothing was recorded, of memory that was written to since."""
        return self._made_without_grad and self._node.requires_grad and self._counter.count != self._seen

    # --- what it is ----------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients with respect to it, or through it, are recorded."""
        return self.node.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: Any) -> None:
        self._require(bool(flag), "only Tensors of floating point and complex dtype can require gradients")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` and give back the tensor; a result that requires one already may be told so again."""
        if requires_grad and not self.is_leaf:
            return self
        self._require(bool(requires_grad), "only Tensors of floating point dtype can require gradients")
        return self

    def _require(self, flag: bool, fault: str) -> None:
        if not self.is_leaf:
            raise RuntimeError(_FLAGS if flag else _FLAGS_OFF)
        if flag and self._array.dtype.kind not in "fc":
            raise RuntimeError(fault)
        if flag and self._inference and not State.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if flag != self._node.requires_grad:
            self._bind(_leaf(self._array) if flag else constant(self._array))

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the user, or requires no gradient."""
        if self._stale:
            raise RuntimeError(dispatch.STALE)
        return self.node.is_leaf

    @property
    def grad_fn(self) -> GradFunction | None:
        """The function that made it; None for a leaf."""
        if self._stale:
            raise RuntimeError(dispatch.STALE)
        node = self.node
        return None if node.is_leaf else edge(node)[0]

    @property
    def output_nr(self) -> int:
        """Which of its function's results it is."""
        return 0 if self.is_leaf else edge(self.node)[1]

    @property
    def retains_grad(self) -> bool:
        """Whether it is no leaf and keeps its gradient all the same."""
        return self._retains

    @property
    def _version(self) -> int:
        return self._counter.count

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor without a past, whose writes nobody counts."""
        return Tensor._made(self._array)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        same = value._array.shape == self._array.shape and value._array.dtype == self._array.dtype
        self._array = value._array
        if same or self._node.op is not LEAF:
            self._node.value = self._array
        else:
            self._bind(_leaf(self._array) if self._node.requires_grad else constant(self._array))

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return self._inference

    def _is_view(self) -> bool:
        return self._base is not None

    def __repr__(self) -> str:
        function = None if self._stale else self.grad_fn
        return tensor_text(
            self._array,
            requires_grad=self.requires_grad,
            grad_fn="Invalid" if self._stale else None if function is None else type(function).__name__,
            default_dtype=dtypes.default_float(),
        )

    # --- its past ------------------------------------------------------------------------------------------------

    def detach(self) -> Tensor:
        """The same memory as a tensor without a past."""
        return Tensor._made(self._array, version=self._counter)

    def detach_(self) -> Self:
        """Forget its past."""
        if self._base is not None:
            raise RuntimeError(_DETACH_VIEW)
        self._bind(constant(self._array))
        return self

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of the tensor, weighted by `gradient`, to the leaves' `.grad`."""
        from .autograd import backward  # it works on tensors

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    # --- its methods ---------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """The methods that are rows of the table, and their in-place forms."""
        if name in _PROPERTIES:
            return dispatch.call(TABLE[name], (self,), {})
        row = TABLE.get(name)
        if row is not None and row.method:
            return lambda *args, **keywords: dispatch.call(row, (self, *args), keywords)
        if name.endswith("_") and not name.startswith("_"):
            row = TABLE.get(name[:-1])
            if row is not None and row.method:
                return lambda *args, **keywords: writing.in_place(self, row, args, keywords)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a "
                "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        copied = type(self)._made(self._array.copy(), requires_grad=self.requires_grad)
        memo[id(self)] = copied
        return copied


_PROPERTIES: Final = ("T", "mT", "H", "mH", "real", "imag")

Tensor.__module__ = "torch"
dispatch.tensor_class = Tensor


class Parameter(Tensor):
    """A tensor that a model learns: it requires a gradient unless told otherwise."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        """A parameter over a tensor's memory."""
        array = np.zeros(0, dtype=dtypes.default_float()) if data is None else data._array
        if requires_grad and array.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return cls._made(array, requires_grad=requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


Parameter.__module__ = "torch.nn.parameter"


def _leaf(array: np.ndarray[Any, Any]) -> Node:
    return Node(LEAF, (), {}, array.shape, array.dtype, True, None, array)


def tensors_in(values: Sequence[Any]) -> list[Tensor]:
    """The tensors among some values."""
    return [value for value in values if isinstance(value, Tensor)]
