"""Constructors: leaves made from a literal, a shape or a stream of random numbers.

Numbers are floats unless a dtype says otherwise: `arange(5)` and `tensor([1, 2])` hold floats, as everything that
gradients are taken of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...conditions import SMALL, in_bytes, most_of_free
from ...errors import InputError, LimitError, ShapeError
from ...graph import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT64,
    INTEGERS,
    DType,
    Example,
    Node,
    Shape,
    as_node,
    leaf,
    make,
    require_room,
)
from ..concrete import value_of
from ..infer import default_dtype, integers
from ..row import compose

_EXACT: Final = 2**53
"""Integers up to this are floats as well."""


def _complex_dtype() -> DType:
    return COMPLEX64 if default_dtype() == FLOAT32 else COMPLEX128


def checked_size(size: Any, what: str, dtype: DType = FLOAT64) -> Shape:
    """The sizes of an array that is about to be made.

    Raises:
        InputError: where one is negative or no integer.
        LimitError: where the array would be too large, also for the memory that is free.
    """
    shape = integers(size, "sizes")
    for entry in shape:
        if entry < 0:
            raise ShapeError(f"Trying to create tensor with negative dimension {entry}: {list(shape)}")
    require_room(what, shape, dtype)
    needed = math.prod(shape) * dtype.itemsize
    most = most_of_free() if needed > SMALL else None
    if most is not None and needed > most:
        raise LimitError(
            f"{what} would make an array of shape {list(shape)}: {in_bytes(needed)}, and three quarters of what is "
            f"free are {in_bytes(most)}",
            code="memory",
        )
    return shape


def made(value: Any, requires_grad: bool) -> Node:
    """A leaf of an array, as a NumPy scalar where it has no axes.

    Raises:
        InputError: where a gradient is wanted of something that is no float.
    """
    value = np.asarray(value)
    if requires_grad and value.dtype.kind not in "fc":
        raise InputError(
            "Only Tensors of floating point and complex dtype can require gradients",
            hint=f"the dtype is {value.dtype}; leave dtype= out, or write dtype=float64",
        )
    return leaf(value[()], requires_grad=requires_grad)


# --- from a literal ----------------------------------------------------------------------------------------------


def _without_nodes(data: Any) -> Any:
    """Nested lists with the values of the nodes in them."""
    if isinstance(data, Node):
        if data.requires_grad:
            raise InputError(
                "tensor() of something that requires a gradient would cut it off from the graph",
                hint="write [x, y], torch.stack or x.clone() to keep the gradient, x.detach() to drop it",
            )
        return value_of(data)
    if isinstance(data, (list, tuple)):
        return [_without_nodes(entry) for entry in data]
    return data


def _ragged(data: Any) -> InputError:
    """The error of nested lists that are no rectangle, where they first are none."""
    shape: list[int] = []
    first = data
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if first else None
    level: list[Any] = [data]
    for dim, size in enumerate(shape):
        for entry in level:
            if not isinstance(entry, (list, tuple)):
                return ShapeError(f"expected sequence of length {size} at dim {dim} (got a number)", hint=_RECTANGLE)
            if len(entry) != size:
                return ShapeError(
                    f"expected sequence of length {size} at dim {dim} (got {len(entry)})", hint=_RECTANGLE
                )
        level = [inner for entry in level for inner in entry]
    return InputError("a tensor holds numbers or nested lists of numbers", hint=_RECTANGLE)


_RECTANGLE: Final = "the rows of a nested list must be of equal length"


def array_of(data: Any, dtype: DType | None = None) -> Any:
    """A number or nested lists of numbers as an array.

    Args:
        data: also an array, and nodes whose values are known.
        dtype: where it is not given, booleans stay booleans, complex numbers stay complex, and all others become
            floats of the default dtype.

    Raises:
        InputError: where the lists are ragged or hold something that is no number.
    """
    data = _without_nodes(data)
    try:
        value = np.asarray(data)
    except (ValueError, OverflowError):
        raise _ragged(data) from None
    if value.dtype.kind == "O" or (value.dtype.kind == "u" and (dtype is None or np.dtype(dtype).kind in "fc")):
        value = _as_floats(value)
    if value.dtype.kind not in "biufc":
        raise _ragged(data)
    if dtype is not None and np.dtype(dtype).kind in "iu" and np.any(np.abs(value) >= INTEGERS):
        raise InputError("an integer is too large", hint="the largest is 2**63 - 1")
    if dtype is None:
        kind = value.dtype.kind
        dtype = value.dtype if kind == "b" else _complex_dtype() if kind == "c" else default_dtype()
    if value.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise InputError(f"complex numbers do not fit into {np.dtype(dtype)}", hint="write dtype=complex128")
    with np.errstate(all="ignore"):
        return np.array(value, dtype=dtype)


def _as_floats(value: Any) -> Any:
    """An array of numbers of which some are larger than any integer of a tensor; another one as it is."""
    if not all(isinstance(entry, (int, float)) for entry in value.flat):
        return value
    try:
        return value.astype(FLOAT64)
    except OverflowError:
        raise LimitError("a number is too large for a float", hint="the largest float is 1.8e308") from None


def _tensor(data: Any, dtype: np.dtype[Any] | None = None, requires_grad: bool = False) -> Node:
    return made(array_of(data, dtype), requires_grad)


_CONSTANT: Final[Mapping[str, Any]] = {"domain": "any numbers", "kink": "none: a leaf"}


def constructor(name: str, doc: str, call: Callable[..., Node], *forms: str, **fields: Any) -> None:
    """A row that makes a leaf; its first form is its example, which has nothing to differentiate."""
    fields.setdefault("examples", (Example(forms[0], {}, orders=0),))
    compose(name, doc, family="creation", call=call, forms=forms, method=False, **_CONSTANT, **fields)


constructor(
    "tensor",
    "A leaf from a number or nested lists of numbers: floats, unless they are booleans, complex or a dtype is given.",
    _tensor,
    "torch.tensor([1.0, 2.0])",
    "torch.tensor([[1, 2], [3, 4]])",
    "torch.tensor(2.0, requires_grad=True)",
    "torch.tensor([0, 1], dtype=torch.int64)",
)


def _as_tensor(data: Node | Any, dtype: np.dtype[Any] | None = None) -> Node:
    if not isinstance(data, Node):
        return _tensor(data, dtype)
    return data if dtype is None or data.dtype == dtype else make.to(data, dtype)


constructor(
    "as_tensor",
    "The tensor itself, or a leaf from nested lists of numbers.",
    _as_tensor,
    "torch.as_tensor([1.0, 2.0])",
    "np.array([1.0, 2.0])",
    "np.asarray([1.0, 2.0])",
    aliases=("array", "asarray"),
)

# --- from a shape ------------------------------------------------------------------------------------------------


def sizes_of(size: Sequence[Any], keyword: Any) -> Any:
    """Sizes given one by one, as one tuple or by keyword."""
    if keyword is not None:
        return keyword
    return size[0] if len(size) == 1 else tuple(size)


def _filled(name: str, fill: Any, size: Any, dtype: DType | None, requires_grad: bool) -> Node:
    """A leaf of one number, of the dtype that the number would have in a tensor."""
    if dtype is None:
        dtype = array_of(fill).dtype
    shape = checked_size(size, name, np.dtype(dtype))
    return made(np.full(shape, fill, dtype=dtype), requires_grad)


def _zeros(*size: int, shape: Any = None, dtype: np.dtype[Any] | None = None, requires_grad: bool = False) -> Node:
    return _filled("zeros", 0, sizes_of(size, shape), dtype, requires_grad)


def _ones(*size: int, shape: Any = None, dtype: np.dtype[Any] | None = None, requires_grad: bool = False) -> Node:
    return _filled("ones", 1, sizes_of(size, shape), dtype, requires_grad)


def _full(
    size: Any,
    fill_value: Node | complex,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    if isinstance(fill_value, Node):
        return make.expand(fill_value, checked_size(size, "full"))  # type: ignore[no-any-return]  # a row's call is of any type
    return _filled("full", fill_value, size, dtype, requires_grad)


constructor("zeros", "A leaf of zeros.", _zeros, "torch.zeros(2, 3)", "torch.zeros((2, 3))", "np.zeros((2, 3))")
constructor("ones", "A leaf of ones.", _ones, "torch.ones(2, 3)", "torch.ones((2, 3))", "np.ones((2, 3))")
constructor("full", "A leaf of one number.", _full, "torch.full((2, 3), 0.5)", "np.full((2, 3), 0.5)")


def _filled_like(name: str, fill: Any, input: Node, dtype: DType | None, requires_grad: bool) -> Node:
    node = as_node(input)
    kept = default_dtype() if node.is_number and node.dtype.kind in "iuf" else node.dtype
    return _filled(name, fill, node.shape, dtype or kept, requires_grad)


def _zeros_like(input: Node, dtype: np.dtype[Any] | None = None, requires_grad: bool = False) -> Node:
    return _filled_like("zeros_like", 0, input, dtype, requires_grad)


def _ones_like(input: Node, dtype: np.dtype[Any] | None = None, requires_grad: bool = False) -> Node:
    return _filled_like("ones_like", 1, input, dtype, requires_grad)


def _full_like(
    input: Node, fill_value: complex, dtype: np.dtype[Any] | None = None, requires_grad: bool = False
) -> Node:
    return _filled_like("full_like", fill_value, input, dtype, requires_grad)


def _like(name: str, doc: str, call: Callable[..., Node], arguments: str = "x") -> None:
    """A row for a leaf that has the shape of a tensor."""
    forms = tuple(f"{prefix}.{name}({arguments})" for prefix in ("torch", "np"))
    constructor(name, doc, call, *forms, examples=(Example(f"x * {forms[0]}", {"x": (3,)}),))


_like("zeros_like", "A leaf of zeros, of the shape and dtype of a tensor.", _zeros_like)
_like("ones_like", "A leaf of ones, of the shape and dtype of a tensor.", _ones_like)
_like("full_like", "A leaf of one number, of the shape and dtype of a tensor.", _full_like, "x, 0.5")


def _eye(
    n: int, m: int | None = None, k: int = 0, *, dtype: np.dtype[Any] | None = None, requires_grad: bool = False
) -> Node:
    rows, columns = checked_size((n, n if m is None else m), "eye")
    return made(np.eye(rows, columns, k, dtype=dtype or default_dtype()), requires_grad)


constructor(
    "eye",
    "A leaf that is a matrix with ones on its diagonal.",
    _eye,
    "torch.eye(3)",
    "torch.eye(2, 3)",
    "np.eye(3)",
    "np.identity(3)",
    aliases=("identity",),
)

# --- rows of numbers ---------------------------------------------------------------------------------------------


def _arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    *,
    stop: float | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    end = stop if end is None else end
    low, high = (0, start) if end is None else (start, end)
    if step == 0:
        raise InputError("step must be nonzero")
    if not all(math.isfinite(number) for number in (low, high, step)):
        raise InputError(f"unsupported range: {low} -> {high} by {step}", hint="the ends and the step must be finite")
    if (high - low) / step < 0:
        raise InputError(
            "upper bound and lower bound inconsistent with step sign",
            hint=f"from {low} to {high} the step must be {'positive' if high > low else 'negative'}",
        )
    (count,) = checked_size(math.ceil((high - low) / step), "arange")
    exact = abs(low) + abs(step) * count <= _EXACT
    # In place: a range of 10**9 numbers is in memory once.
    numbers: Any = np.arange(count, dtype=FLOAT64 if exact or float in (type(low), type(step)) else INT64)
    numbers *= step
    numbers += low
    return made(numbers.astype(dtype or default_dtype(), copy=False), requires_grad)


constructor(
    "arange",
    "A leaf that counts from start, 0 if not given, by step, up to but without end.",
    _arange,
    "torch.arange(5)",
    "torch.arange(1, 2, 0.25)",
    "np.arange(5)",
)


def _steps(name: str, steps: int | None) -> int:
    if steps is None:
        raise InputError(f'{name}() missing 1 required positional arguments: "steps"', hint="say how many numbers")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise InputError("number of steps must be non-negative", hint=f"steps is {steps!r}")
    return checked_size(steps, name)[0]


def _linspace(
    start: float,
    end: float,
    steps: int | None = None,
    *,
    num: int | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    count = _steps("linspace", steps if num is None else num)
    return made(np.linspace(start, end, count).astype(dtype or default_dtype()), requires_grad)


def _logspace(
    start: float,
    end: float,
    steps: int | None = None,
    base: float = 10.0,
    *,
    num: int | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    count = _steps("logspace", steps if num is None else num)
    with np.errstate(all="ignore"):
        powers = np.float64(base) ** np.linspace(start, end, count)
    return made(powers.astype(dtype or default_dtype()), requires_grad)


constructor(
    "linspace",
    "A leaf of evenly spaced numbers, both ends among them; NumPy's makes 50 if not told.",
    _linspace,
    "torch.linspace(0, 1, 5)",
    "np.linspace(0, 1)",
    numpy={"steps": 50},
)
constructor(
    "logspace",
    "A leaf of powers of a base whose exponents are evenly spaced, both ends among them.",
    _logspace,
    "torch.logspace(0, 2, 3)",
    "torch.logspace(0, 2, 3, base=2.0)",
    numpy={"steps": 50},
)

# --- labels ----------------------------------------------------------------------------------------------------------


def _one_hot(tensor: Node, num_classes: int = -1) -> Node:
    labels = np.asarray(value_of(as_node(tensor)))
    whole = labels.astype(np.int64)
    if np.any(whole != labels) or whole.min(initial=0) < 0:
        raise InputError("Class values must be non-negative.", hint="labels are whole numbers from 0")
    classes = int(whole.max(initial=-1)) + 1 if num_classes == -1 else num_classes
    if whole.max(initial=-1) >= classes:
        raise InputError("Class values must be smaller than num_classes.", hint=f"the largest label is {whole.max()}")
    shape = checked_size((*whole.shape, classes), "one_hot")
    return made((whole[..., None] == np.arange(shape[-1])).astype(default_dtype()), requires_grad=False)


constructor(
    "one_hot",
    "A leaf with a one at the place of each label along a new last dimension, and zeros elsewhere.",
    _one_hot,
    "torch.nn.functional.one_hot(torch.tensor([0, 2]), 3)",
    "F.one_hot(torch.tensor([0, 2]))",
)
