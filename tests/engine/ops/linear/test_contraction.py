"""einsum, tensordot and inner against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Value = Callable[[Node], Any]

EQUATIONS = [
    ("ij,jk->ik", ((2, 3), (3, 4)), "ViewBackward0"),
    ("ij,jk", ((2, 3), (3, 4)), "ViewBackward0"),
    ("i,i->", ((3,), (3,)), "ViewBackward0"),
    ("ii->i", ((3, 3),), "PermuteBackward0"),
    ("ii", ((3, 3),), "SumBackward1"),
    ("ij->", ((2, 3),), "SumBackward1"),
    ("ij->ji", ((2, 3),), "PermuteBackward0"),
    ("i,j->ij", ((2,), (3,)), "MulBackward0"),
    ("ij,ij->ij", ((2, 3), (2, 3)), "MulBackward0"),
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5)), "ViewBackward0"),
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 5)), "ViewBackward0"),
    ("i,ij,j->", ((2,), (2, 3), (3,)), "ViewBackward0"),
    ("ij,kj->ik", ((2, 3), (4, 3)), "ViewBackward0"),
    ("ijk,k->ij", ((2, 3, 4), (4,)), "ViewBackward0"),
    ("bhqd,bhkd->bhqk", ((2, 2, 3, 4), (2, 2, 5, 4)), "ViewBackward0"),
    ("ij,jk,kl->li", ((2, 3), (3, 4), (4, 2)), "ViewBackward0"),
    ("iij,jk->ik", ((2, 2, 3), (3, 4)), "ViewBackward0"),
    ("i,jk->j", ((2,), (3, 4)), "ViewBackward0"),
]


@pytest.mark.parametrize(("equation", "shapes", "name"), EQUATIONS)
def test_einsum_is_numpys_and_linear(equation: str, shapes: tuple[tuple[int, ...], ...], name: str) -> None:
    """The value is NumPy's, the name PyTorch's, and each slope gives the value of a change in its argument."""
    chance = np.random.default_rng(3)
    nodes = [leaf(chance.normal(size=shape), requires_grad=True) for shape in shapes]
    result = make.einsum(equation, *nodes)
    assert result.grad_fn == name
    weight = chance.normal(size=result.shape)
    found = gradients([result], [leaf(weight if weight.shape else np.float64(weight))])
    values = evaluate([result, *(found[node] for node in nodes)])
    arrays = [node.value for node in nodes]
    np.testing.assert_allclose(values[result], np.einsum(equation, *arrays))
    for place, node in enumerate(nodes):
        direction = chance.normal(size=node.shape)
        moved = np.einsum(equation, *arrays[:place], direction, *arrays[place + 1 :])
        assert np.sum(values[found[node]] * direction) == pytest.approx(np.sum(weight * moved))


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij->ij", "number of subscripts in the equation .1. does not match the number of operands"),
        ("ijk,jk->i", "does not match the number of dimensions"),
        ("i1,jk->i", "invalid subscript"),
        ("ij,jk->iz", "does not appear"),
        ("ij,jk->ii", "more than once"),
        ("ij,ik->jk", "does not broadcast"),
    ],
)
def test_wrong_equations_are_told(equation: str, message: str) -> None:
    """An equation that does not fit its operands says where."""
    with pytest.raises(InputError, match=message):
        make.einsum(equation, leaf(np.ones((2, 3))), leaf(np.ones((3, 4))))


def test_tensordot_and_inner(value: Value) -> None:
    """Contractions by count, by axes and over last axes are NumPy's."""
    chance = np.random.default_rng(3)
    one, two = chance.normal(size=(2, 3, 4)), chance.normal(size=(4, 3, 2))
    for dims in (1, ([2], [0]), ([1, 2], [1, 0])):
        np.testing.assert_allclose(value(make.tensordot(leaf(one), leaf(two), dims)), np.tensordot(one, two, dims))
    np.testing.assert_allclose(value(make.inner(leaf(one), leaf(one[0]))), np.inner(one, one[0]))
    with pytest.raises(InputError, match="contracted dimensions need to match"):
        make.tensordot(leaf(one), leaf(two), 2)
