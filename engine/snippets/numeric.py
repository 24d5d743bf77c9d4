"""What of NumPy's classes is public to a snippet: numbers in, numbers out, no files and no memory addresses."""

from __future__ import annotations

from typing import Final

from .library import Public

_SCALAR: Final = (
    "T all any argmax argmin astype clip conj copy cumprod cumsum dtype flatten imag item itemsize max mean min nbytes "
    "ndim prod ravel real repeat reshape round shape size squeeze std strides sum tolist transpose var"
)
_ARRAY: Final = _SCALAR + " argsort diagonal dot fill flat nonzero searchsorted sort swapaxes take trace"
_TYPE: Final = "itemsize kind name ndim shape"


def numpy_classes() -> list[Public]:
    """NumPy's arrays, numbers and types of numbers."""
    import numpy as np

    return [
        Public(np.ndarray, listed=frozenset(_ARRAY.split())),
        Public(np.generic, listed=frozenset(_SCALAR.split())),
        Public(np.dtype, listed=frozenset(_TYPE.split())),
        Public(np.ufunc, listed=frozenset()),
    ]
