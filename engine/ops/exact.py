"""The exact arithmetic that the formulas of the table are written over.

A row's `formula` says what the op means, once, for every referee. It gets an `Arithmetic`: mpmath's numbers (with 50
digits or more) or SymPy's expressions. Python's own operators (`+ - * / **`, `<` and its kin) work on both; what they
do not cover stands here. Formulas are independent of kernels and of rules: they never use NumPy's floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Number = Any
"""An mpmath number or a SymPy expression."""


class Arithmetic(Protocol):
    """What a formula may use. Functions take and give single numbers."""

    pi: Number
    e: Number
    inf: Number

    def number(self, value: complex) -> Number:
        """A Python number as an exact one: 0.5 is 1/2."""

    def ratio(self, numerator: int, denominator: int) -> Number:
        """An exact fraction."""

    def function(self, name: str, *args: Number) -> Number:
        """A named special function of mpmath's and SymPy's common stock, where it has no attribute of its own here.

        Names are mpmath's: sin, cos, tan, sinpi, cospi, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh,
        exp, log, sqrt, gamma, loggamma, digamma, polygamma, zeta, erf, erfc, erfinv, besseli, besselj, floor, ceil,
        sign, conj, re, im, arg; and erfcx(x, order), a derivative of exp(x**2)*erfc(x) for large x, not SymPy's.
        """

    def exp(self, x: Number) -> Number:
        """e**x."""

    def log(self, x: Number) -> Number:
        """The natural logarithm; minus infinity at 0, and undefined (`undefined()`) below."""

    def logaddexp(self, x: Number, y: Number) -> Number:
        """log(e**x + e**y), also where the exponentials are beyond all numbers."""

    def sqrt(self, x: Number) -> Number:
        """The square root; undefined below 0."""

    def power(self, x: Number, y: Number) -> Number:
        """x**y as PyTorch means it for reals: 1 where y is 0, undefined for a negative x and a y that is no integer."""

    def absolute(self, x: Number) -> Number:
        """The absolute value."""

    def where(self, condition: Any, yes: Callable[[], Number], no: Callable[[], Number]) -> Number:
        """One of two values; the one that is not chosen need not be defined, hence functions."""

    def equal(self, x: Number, y: Number) -> Any:
        """Whether two numbers are equal, as a condition for `where`."""

    def constant(self, x: Number) -> Number:
        """The number as one that does not move with what it is computed from: what `detach` means."""

    def both(self, *conditions: Any) -> Any:
        """Whether all conditions hold."""

    def maximum(self, values: Sequence[Number]) -> Number:
        """The largest of one or more numbers."""

    def minimum(self, values: Sequence[Number]) -> Number:
        """The smallest of one or more numbers."""

    def floor(self, x: Number) -> Number:
        """The largest integer that is not above x."""

    def remainder(self, x: Number, y: Number) -> Number:
        """What is left of x after whole multiples of y, with the sign of y, however large the quotient."""

    def undefined(self) -> Number:
        """Not a number."""

    def order(self, values: Sequence[Number]) -> Sequence[int]:
        """The positions of the numbers from the smallest to the largest, equal ones in their order."""

    def total(self, values: Sequence[Number]) -> Number:
        """The sum of any number of numbers, 0 of none."""

    def product(self, values: Sequence[Number]) -> Number:
        """The product of any number of numbers, 1 of none."""

    def boolean(self, condition: Any) -> bool:
        """Whether a condition holds at the point, for formulas whose shape depends on it."""

    def matrix_function(self, name: str, matrix: Any) -> tuple[Any, ...]:
        """What only iteration gives of one matrix (an object array): a tuple of matrices.

        Names are "eigh" (a column of ascending eigenvalues, eigenvectors as columns, of a Hermitian matrix), "eig" (the
        same of any matrix, in any order and of any length), "svd" (U, a column of descending singular values, Vh, as
        few as there are values) and "expm" (the exponential).
        """
