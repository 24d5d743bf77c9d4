"""Namespaces that `import` binds: names and values, and nothing of the modules that they stand for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final


class Namespace:
    """A module as a snippet sees it.

    Args:
        name: the module's.
        members: what it has.
    """

    __slots__ = ("_members", "_name")

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self._name = name
        self._members = dict(members)

    def member(self, name: str) -> Any:
        """The member of a name.

        Raises:
            AttributeError: where there is none, with Python's text.
        """
        if name in self._members:
            return self._members[name]
        raise AttributeError(f"module '{self._name}' has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<module '{self._name}'>"


_MATH: Final = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist e erf erfc exp expm1 fabs floor fmod "
    "frexp fsum gamma hypot inf isclose isfinite isinf isnan isqrt ldexp lgamma log log10 log1p log2 modf nan pi pow "
    "prod radians remainder sin sinh sqrt tan tanh tau trunc gcd"
)
_NUMPY: Final = (
    "abs absolute all allclose any arange arccos arcsin arctan arctan2 argmax argmin array array_equal asarray bool_ "
    "ceil clip concatenate cos cosh cross cumprod cumsum diag diff dot e empty exp expand_dims expm1 eye flip float32 "
    "float64 floor full full_like hstack identity inf int32 int64 isclose isfinite isinf isnan linspace log log10 "
    "log1p log2 logspace matmul max maximum mean median min minimum nan newaxis ones ones_like outer pi power prod "
    "ravel repeat reshape round sign sin sinh sqrt square squeeze stack std sum tan tanh tile trace transpose var "
    "vstack where zeros zeros_like"
)
_NUMPY_LINALG: Final = "cholesky det eig eigh eigvals eigvalsh inv matrix_rank norm pinv qr slogdet solve svd"
_NUMPY_RANDOM: Final = "seed rand randn normal uniform randint permutation"


def math_namespace() -> Namespace:
    """`math`, without the functions whose integers grow without bound."""
    return Namespace("math", {name: getattr(math, name) for name in _MATH.split()})


def time_namespace() -> Namespace:
    """`time`, as far as it only looks at the clock."""
    return Namespace("time", {name: getattr(time, name) for name in ("time", "perf_counter", "monotonic")})


def copy_namespace() -> Namespace:
    """`copy`."""
    import copy

    return Namespace("copy", {"copy": copy.copy, "deepcopy": copy.deepcopy})


def numpy_namespace() -> Namespace:
    """The little of NumPy that notes use."""
    import numpy as np

    members = {name: getattr(np, name) for name in _NUMPY.split()}
    members["linalg"] = Namespace("numpy.linalg", {name: getattr(np.linalg, name) for name in _NUMPY_LINALG.split()})
    members["random"] = Namespace("numpy.random", {name: getattr(np.random, name) for name in _NUMPY_RANDOM.split()})
    return Namespace("numpy", members)


class Annotation:
    """What stands for a name of `typing`: annotations are not evaluated."""

    def __getitem__(self, _parameters: Any) -> Annotation:
        return self


def typing_namespace() -> Namespace:
    """`typing`, for annotations."""
    names = "Any Callable Dict Iterable Iterator List Mapping NamedTuple Optional Sequence Set Tuple Type Union"
    return Namespace("typing", {name: Annotation() for name in names.split() if name != "NamedTuple"})


def future_namespace() -> Namespace:
    """`__future__`: what it asks for is so already."""
    return Namespace("__future__", dict.fromkeys(("annotations", "division", "print_function")))


Maker = Callable[[], Namespace]
SMALL: Final[Mapping[str, Maker]] = {
    "math": math_namespace,
    "time": time_namespace,
    "copy": copy_namespace,
    "numpy": numpy_namespace,
    "typing": typing_namespace,
    "__future__": future_namespace,
}
"""The namespaces that need nothing of a running snippet."""
