"""Where agrad's number at a kink, a pole or an edge is not PyTorch's, and why: for the op reference and for the tests.

Everywhere else the convention is torch-2.13: PyTorch's number, as the rows of the table say in words.
"""

from __future__ import annotations

from typing import Final, NamedTuple

CONVENTION: Final = "torch-2.13"
"""The name of the convention at kinks."""


class Departure(NamedTuple):
    """One point where agrad gives another gradient than PyTorch 2.13.

    Attributes:
        op: the row of the table that it concerns.
        form: the call, over the leaves x and y.
        point: their values, in order, separated by " ; ".
        torch: PyTorch's gradients of the sum of the result, one a leaf, separated in the same way.
        agrad: agrad's.
        why: what makes it the better number, in one sentence.
    """

    op: str
    form: str
    point: str
    torch: str
    agrad: str
    why: str


_DEAD = "the branch that is not taken stops the gradient: the derivative of the branch that is taken is the right one"
_NOTHING = "with x = 0 the value is 0 whatever y is, so that its slope by y is 0 at the edge of the domain too"

DEPARTURES: Final = (
    Departure(
        "where",
        "torch.where(x > 0, torch.sqrt(x), 0.0)",
        "-1",
        "nan",
        "0",
        _DEAD,
    ),
    Departure(
        "where",
        "torch.where(x > 0, torch.sqrt(x), 0.0)",
        "0",
        "nan",
        "0",
        _DEAD,
    ),
    Departure(
        "where",
        "torch.where(x == 0, 1.0, torch.sin(x) / x)",
        "0",
        "nan",
        "0",
        _DEAD,
    ),
    Departure(
        "masked_fill",
        "(1 / x).masked_fill(x == 0, 0.0)",
        "0",
        "nan",
        "0",
        "an entry that is filled over does not reach the result, and its slope is 0 whatever it was",
    ),
    Departure(
        "getitem",
        "(1 / x)[1]",
        "[0, 2]",
        "[nan, -0.25]",
        "[0, -0.25]",
        "an entry that is not taken does not reach the result, and its slope is 0 whatever it is",
    ),
    Departure(
        "mul",
        "(1 / x) * 0",
        "0",
        "nan",
        "0",
        "a product with a written 0 is constant around the point, so that its slope is 0",
    ),
    Departure(
        "mul",
        "x * torch.log(x)",
        "0",
        "nan",
        "-inf",
        "the derivative log(x) + 1 is -inf at 0 from the right; 0 * (1/0) in it is a product whose factor 0 stops",
    ),
    Departure(
        "hypot",
        "torch.hypot(x, y)",
        "0 ; 0",
        "nan ; nan",
        "0 ; 0",
        "the length has a cone's tip there, and the subgradient of least norm is 0, as for PyTorch's own norm",
    ),
    Departure(
        "sinc",
        "torch.sinc(x)",
        "1e-09",
        "0",
        "-3.28987e-09",
        "sinc is smooth, and near 0 its derivative is -pi**2 * x / 3; the quotient of differences cancels to 0",
    ),
    Departure(
        "log",
        "torch.log(torch.sum(torch.exp(x)))",
        "[1000, 0]",
        "[nan, 0]",
        "[nan, nan]",
        "the sum has overflowed, and a slope of 0 there would stop at exp: 0 instead of 1; torch.logsumexp is right",
    ),
    Departure(
        "xlogy",
        "torch.xlogy(x, y)",
        "0 ; 0",
        "0 ; nan",
        "0 ; 0",
        _NOTHING,
    ),
    Departure(
        "xlog1py",
        "torch.special.xlog1py(x, y)",
        "0 ; -1",
        "0 ; nan",
        "0 ; 0",
        _NOTHING,
    ),
    Departure(
        "prod",
        "torch.prod(x)",
        "[nan, 2, 3]",
        "[nan, nan, nan]",
        "[6, nan, nan]",
        "the derivative by an entry is the product of the others, which the entry itself does not touch",
    ),
    Departure(
        "det",
        "torch.det(x)",
        "[[1, 1], [1, 1]]",
        "[[0, 0], [0, 0]]",
        "[[1, -1], [-1, 1]]",
        "the determinant is a polynomial: its derivative is the matrix of cofactors, for singular matrices too",
    ),
)
"""The points that are known, one a kind of fault."""
