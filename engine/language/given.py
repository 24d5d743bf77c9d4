"""Values from outside of the text as leaves."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..errors import InputError, Span
from ..graph import BOOL, COMPLEX64, COMPLEX128, FLOAT32, INT64, INTEGERS, DType, Node, leaf
from .integers import Integers

_EXACT: Final = 2**53
"""Integers up to here are floats without loss."""


def given_leaf(name: str, value: Any, dtype: DType, integers: Integers, span: Span) -> Node:
    """The leaf of a value that is given from outside.

    Args:
        name: what it is given for.
        value: a number, an array or nested lists.
        dtype: the dtype of floats.
        integers: told where it is written as integers.
        span: where the name stands.

    Raises:
        InputError: where it is no array of numbers.
    """
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"the value given for {name} is no array of numbers: {error}", spans=(span,)) from None
    if type(value) is int and not -INTEGERS <= value < INTEGERS:
        return leaf(dtype.type(leaf(value).value))
    kind = array.dtype.kind
    if kind not in "biufc":
        raise InputError(
            f"the value given for {name} is no array of numbers: its dtype is {array.dtype}", spans=(span,)
        )
    if kind in "iu":
        if kind == "u" and array.size and array.max() >= INTEGERS:
            raise InputError(f"the value given for {name} has an integer beyond 2**63 - 1", spans=(span,))
        if array.size and int(np.abs(array).max()) > _EXACT:
            return leaf(array.astype(INT64)[()])
        node = leaf(array.astype(dtype)[()])
        integers.add(node)
    elif kind == "b":
        node = leaf(array.astype(BOOL, copy=False)[()])
    elif kind == "c":
        node = leaf(array.astype(COMPLEX64 if dtype == FLOAT32 else COMPLEX128, copy=False)[()])
    else:
        node = leaf(array.astype(dtype, copy=False)[()])  # large data is read where it is
    return node
