"""Arguments of calls: what annotations ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError
from agrad.engine.graph import FLOAT64, INT64, Node, Op, leaf
from agrad.engine.language.binding import Converter, bind
from agrad.engine.language.integers import Integers
from agrad.engine.language.listing import Listing, collect
from agrad.engine.language.signatures import signature


def everything(
    input: Node,
    other: Node | float | None = None,
    tensors: Sequence[Node] = (),
    *size: int,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    mode: str = "mean",
    dtype: np.dtype[Any] | None = None,
) -> None:
    """A call with a parameter of each kind."""


OP = Op(name="everything", doc="", family="test", call=everything, numpy={"mode": "sum"}, forms=("everything(x)",))


def converter(integers: Integers) -> Converter:
    """A converter that takes any number as a constant."""
    return Converter(FLOAT64, integers.plain, lambda node, _where: integers.constant(node), integers.twin, integers.add)


def bound(*positional: Any, numpy: bool = False, **keywords: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that a call would get."""
    return bind(OP, converter(Integers()), positional, keywords, numpy=numpy)


def listing(*values: Any) -> Listing:
    """A written list."""
    return collect(list(values), False, FLOAT64)


def test_tensors_are_made_of_numbers_and_lists_where_the_annotation_says_node() -> None:
    """A number stays weak, a list becomes an array."""
    [node], _ = bound(2.5)
    assert node.value == 2.5
    assert node.is_number
    [node], _ = bound(listing(1, 2))
    np.testing.assert_array_equal(node.value, [1.0, 2.0])


def test_plain_values_stay_plain_where_the_annotation_allows_both() -> None:
    """`Node | float | None` keeps numbers and None, and takes tensors as they are."""
    x = leaf(np.float64(1.0))
    for value in (0.5, None, x):
        assert bound(x, value)[0] == [x, value]


def test_sequences_of_tensors_hold_nodes() -> None:
    """Each item becomes a tensor, rows of a rectangle too."""
    x = leaf(np.float64(1.0))
    tensors = bound(x, None, collect([listing(1, 2), listing(3, 4)], False, FLOAT64))[0][2]
    assert [node.value.tolist() for node in tensors] == [[1.0, 2.0], [3.0, 4.0]]
    assert bound(x, None, listing(x, 2.0))[0][2][0] is x


def test_static_lists_are_tuples() -> None:
    """So that attributes can be hashed."""
    x = leaf(np.float64(1.0))
    assert bound(x, dim=listing(0, 1))[1] == {"dim": (0, 1)}


def test_a_tensor_written_as_an_integer_is_an_integer_where_one_is_wanted() -> None:
    """Axes and sizes may be named numbers."""
    integers = Integers()
    x, n = leaf(np.float64(1.0)), leaf(np.float64(3.0))
    integers.add(n)
    arguments, keywords = bind(OP, converter(integers), [x, None, listing(), n], {"dim": n}, numpy=False)
    assert arguments[3] == 3
    assert keywords["dim"] == 3
    assert integers.twins[n].dtype == INT64


@pytest.mark.parametrize("keyword", ["axis", "axes"])
def test_keywords_of_numpy_are_translated(keyword: str) -> None:
    """`axis` is `dim`, `keepdims` is `keepdim`."""
    assert bound(1.0, **{keyword: 0, "keepdims": True})[1] == {"dim": 0, "keepdim": True}


def test_defaults_of_numpy_hold_under_its_prefix_unless_given() -> None:
    """The row's `numpy` fills in what the call leaves out."""
    assert bound(1.0, numpy=True)[1] == {"mode": "sum"}
    assert bound(1.0, numpy=True, mode="max")[1] == {"mode": "max"}


@pytest.mark.parametrize(
    ("positional", "keywords", "message", "argument"),
    [
        ((), {}, "misses its argument input", None),
        (("a",), {}, "input of everything must be a tensor, not the string 'a'", 0),
        ((1.0,), {"dim": "a"}, "dim of everything must be an integer", 1),
        ((1.0,), {"keepdim": 2}, "keepdim of everything must be True or False, not 2", 1),
        ((1.0,), {"mode": 3}, "mode of everything must be a string, not 3", 1),
        ((1.0,), {"dtype": "f"}, "dtype of everything must be None or a dtype", 1),
        ((1.0,), {"keepdmi": True}, "has no parameter keepdmi", 1),
        ((1.0,), {"input": 1.0}, "input of everything is given twice", 1),
        ((1.0, None, 3.0), {}, "tensors of everything must be a list of tensors, not 3.0", 2),
    ],
)
def test_arguments_that_do_not_fit_are_named(
    positional: tuple[Any, ...], keywords: dict[str, Any], message: str, argument: int | None
) -> None:
    """The message names the parameter, and the error knows which argument it is."""
    with pytest.raises(InputError) as caught:
        bound(*positional, **keywords)
    assert message in caught.value.message
    assert getattr(caught.value, "argument", None) == argument


def test_signatures_are_read_once() -> None:
    """The second look gives the same object."""
    assert signature(OP) is signature(OP)
    assert signature(OP).one_tensor
