"""mpmath's numbers as the exact arithmetic of formulas, in a context of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from .case import CannotJudge

LARGEST_EXPONENT: Final = 2**60
"""Numbers above 2**this are infinite here: far beyond every double, still cheap to compute with."""

_LARGEST_ARGUMENT: Final = 60
"""The bits of an argument whose exponential is still a number here."""
_REDUCED: Final = 10_000
"""The bits of an argument from which a multiple of pi can still be taken."""
_NAMES: Final = {"digamma": "digamma", "polygamma": "psi", "ceil": "ceil", "arg": "arg"}
_UNBOUNDED: Final = frozenset({"gamma", "factorial", "sinh", "cosh", "exp", "besseli", "rgamma"})
_WITHIN_ONE: Final = frozenset({"acos", "asin"})
_PERIODIC: Final = frozenset({"sin", "cos", "tan", "sec", "csc", "cot", "besselj"})
_FAR_BELOW: Final = -10_000
_FAR: Final = 100
"""The bits of an argument from which on the logarithm of the gamma function is its asymptotic series."""


@lru_cache(maxsize=64)
def _context(digits: int, thread: int) -> Any:  # noqa: ARG001  # a context is no other thread's
    """A context of mpmath with so many digits; making one takes a millisecond."""
    import mpmath

    context = mpmath.mp.clone()
    context.dps = digits
    return context


class PreciseArithmetic:
    """The `Arithmetic` of mpmath numbers.

    Args:
        digits: the decimal digits that it works with.
    """

    def __init__(self, digits: int = 50) -> None:
        self.context: Any = _context(digits, threading.get_ident())
        self.context.dps = digits  # anew, since what interrupts mpmath may leave it with other digits
        self.pi: Any = +self.context.pi
        self.e: Any = +self.context.e
        self.inf: Any = self.context.inf
        self._nan: Any = self.context.nan
        self._zero: Any = self.context.mpf(0)
        # What rounding may carry beyond the end of a domain: no double is that near to one without standing on it.
        self._rounding: Any = self.context.mpf(10) ** (5 - digits)

    @property
    def digits(self) -> int:
        """The decimal digits that it works with."""
        return int(self.context.dps)

    def number(self, value: complex) -> Any:
        """A Python number, exactly."""
        if isinstance(value, complex):
            return self.context.mpc(value)
        return self.context.mpf(value)

    def ratio(self, numerator: int, denominator: int) -> Any:
        """A fraction."""
        return self.context.mpf(numerator) / denominator

    def function(self, name: str, *args: Any) -> Any:
        """A function of mpmath; undefined where a real argument gives a complex value, and at poles."""
        args = tuple(self._lifted(arg) for arg in args)
        if name in _WITHIN_ONE and 1 < abs(args[0]) < 1 + self._rounding:
            args = (self.context.sign(args[0]),)
        own = _OWN.get(name)
        if own is not None:
            return own(self, *args)
        if name == "polygamma" and self._is_far_below(*args):
            if args[1] == self.context.floor(args[1]):
                return self._nan
            raise CannotJudge("mpmath adds up a term for every whole number above the argument of polygamma")
        size = max((self.context.mag(arg) for arg in args if arg and self.finite(arg)), default=0)
        endless = name.startswith("bessel") and not all(self.finite(arg) for arg in args)
        # What grows with a complex number grows with its real part.
        grows = max((self.context.mag(arg.real) for arg in args if arg.real and self.finite(arg)), default=0)
        if size > _REDUCED or (name in _UNBOUNDED and grows > _LARGEST_ARGUMENT) or endless:
            return self._beyond(name, args[-1])
        try:
            value = getattr(self.context, _NAMES.get(name, name))(*args)
        except (ValueError, ZeroDivisionError):
            return self._nan
        except (OverflowError, NotImplementedError, self.context.NoConvergence) as error:
            raise CannotJudge(f"mpmath cannot compute {name} here") from error
        return self._real(+value, args)  # some keep the digits that they worked with: x % abs(x) would be x itself

    def _beyond(self, name: str, x: Any) -> Any:
        if isinstance(x, self.context.mpc):
            raise CannotJudge(f"the argument of {name} is too large for complex numbers")
        if name == "besseli" and x < 0:
            raise CannotJudge(f"mpmath cannot compute {name} at minus infinity")
        if name in _PERIODIC:
            raise CannotJudge(f"the argument of {name} is too large to be reduced")
        if name in ("sinh",) and x < 0:
            return -self.inf
        return self.inf if x > 0 or name == "cosh" else self._nan

    def _is_far_below(self, order: Any, x: Any) -> bool:
        return bool(order) and isinstance(x, self.context.mpf) and bool(x < _FAR_BELOW)

    def _lifted(self, value: Any) -> Any:
        return value if isinstance(value, (self.context.mpf, self.context.mpc)) else self.number(value)

    def _real(self, value: Any, args: Sequence[Any]) -> Any:
        if isinstance(value, self.context.mpc) and not any(isinstance(arg, self.context.mpc) for arg in args):
            return self._nan
        return value

    def exp(self, x: Any) -> Any:
        """e**x."""
        x = self._lifted(x)
        if isinstance(x, self.context.mpf) and abs(x) > LARGEST_EXPONENT:
            return self.inf if x > 0 else self._zero
        if isinstance(x, self.context.mpc) and (abs(x.real) > LARGEST_EXPONENT or self.context.mag(x.imag) > _REDUCED):
            return self._beyond("exp", x)
        return self.context.exp(x)

    def log(self, x: Any) -> Any:
        """The natural logarithm."""
        x = self._lifted(x)
        if x == 0:
            return -self.inf
        try:
            return self._real(self.context.ln(x), (x,))
        except OverflowError as error:  # mpmath adds the squares of both parts of a complex number
            raise CannotJudge("a complex number has parts too different for its logarithm") from error

    def logaddexp(self, x: Any, y: Any) -> Any:
        """log(e**x + e**y), also where the exponentials are beyond all numbers."""
        x, y = self._lifted(x), self._lifted(y)
        larger = x if x >= y else y
        if self.finite(x) and self.finite(y) and abs(larger) > LARGEST_EXPONENT:
            return larger + self.log(1 + self.exp((y if larger is x else x) - larger))
        return self.log(self.exp(x) + self.exp(y))

    def sqrt(self, x: Any) -> Any:
        """The square root."""
        x = self._lifted(x)
        if isinstance(x, self.context.mpf) and x < 0 and -x < self._rounding:
            return self._zero
        return self._real(self.context.sqrt(x), (x,))

    def power(self, x: Any, y: Any) -> Any:
        """x**y, as PyTorch means it for reals."""
        x, y = self._lifted(x), self._lifted(y)
        if y == 0:
            return self.number(1)
        if self.undefined_number(x) or self.undefined_number(y):
            return self._nan
        if x == 0:
            return self._zero if y.real > 0 else self.inf if not y.imag else self._nan
        if isinstance(x, self.context.mpf) and x < 0 and (not self.finite(y) or y != self.context.floor(y)):
            return self._nan
        if self.finite(x) and self.finite(y) and (isinstance(x, self.context.mpc) or isinstance(y, self.context.mpc)):
            if abs(y) * (abs(self.context.mag(x)) + 2) > LARGEST_EXPONENT:
                raise CannotJudge("a complex power is too large")
        elif self.finite(y) and isinstance(x, self.context.mpf) and isinstance(y, self.context.mpf):
            # mpmath writes out all digits of y: of an exponential of 10**16 they fill the memory. So large a number is
            # even, as it has fewer digits than zeros behind them.
            is_large = self.context.mag(y) > _REDUCED
            exponent = y * self.log(abs(x))
            if is_large or (self.finite(x) and abs(exponent) > LARGEST_EXPONENT):
                size = self.exp(exponent)
                return size if x > 0 or is_large or y % 2 == 0 else -size
        return self._real(self.context.power(x, y), (x, y))

    def absolute(self, x: Any) -> Any:
        """The absolute value."""
        return abs(x)

    def where(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """One of two values."""
        return yes() if condition else no()

    def equal(self, x: Any, y: Any) -> bool:
        """Whether two numbers are equal."""
        return bool(x == y)

    def constant(self, x: Any) -> Any:
        """The number itself: what moves it is decided by the graph."""
        return x

    def both(self, *conditions: Any) -> bool:
        """Whether all conditions hold."""
        return all(conditions)

    def maximum(self, values: Sequence[Any]) -> Any:
        """The largest number; undefined where one is."""
        return next((v for v in values if self.undefined_number(v)), None) or max(values)

    def minimum(self, values: Sequence[Any]) -> Any:
        """The smallest number; undefined where one is."""
        return next((v for v in values if self.undefined_number(v)), None) or min(values)

    def floor(self, x: Any) -> Any:
        """The largest integer that is not above x."""
        return self.context.floor(x)

    def remainder(self, x: Any, y: Any) -> Any:
        """What is left of x after whole multiples of y, with the sign of y."""
        x, y = self._lifted(x), self._lifted(y)
        if not (self.finite(x) and self.finite(y)):
            return x % y
        if not (x and y):
            return x if y else self.undefined()
        # All digits from the larger number to the smaller are written out: of an exponential of 10**10 they fill the
        # memory.
        apart = self.context.mag(x) - self.context.mag(y)
        if apart > _REDUCED:
            raise CannotJudge("the quotient whose whole part is taken off is too large")
        if apart < -_REDUCED:
            return x if (x > 0) == (y > 0) else x + y
        return x % y

    def undefined(self) -> Any:
        """Not a number."""
        return self._nan

    def order(self, values: Sequence[Any]) -> Sequence[int]:
        """The positions from the smallest to the largest, those that are undefined last."""
        return sorted(range(len(values)), key=lambda i: (self.undefined_number(values[i]), values[i]))

    def total(self, values: Sequence[Any]) -> Any:
        """The sum."""
        return self.context.fsum(values)

    def product(self, values: Sequence[Any]) -> Any:
        """The product."""
        return self.context.fprod(values)

    def boolean(self, condition: Any) -> bool:
        """Whether a condition holds."""
        return bool(condition)

    def divide(self, x: Any, y: Any) -> Any:
        """The quotient, with an infinity over zero, as floating point has it."""
        if y == 0:
            return self._nan if x == 0 or isinstance(x, self.context.mpc) else self.inf * self.context.sign(x)
        return x / y

    def undefined_number(self, x: Any) -> bool:
        """Whether it is not a number."""
        return bool(self.context.isnan(x))

    def finite(self, x: Any) -> bool:
        """Whether it is a number and not infinite."""
        return bool(self.context.isfinite(x))

    def matrix_function(self, name: str, matrix: Any) -> tuple[Any, ...]:
        """Factors of a matrix by mpmath's iterations."""
        given = self.context.matrix(matrix.tolist())
        try:
            results = _OF_MATRICES[name](self.context, given)
        except (ValueError, ZeroDivisionError, RuntimeError, self.context.NoConvergence) as error:
            raise CannotJudge(f"mpmath's {name} does not converge here") from error
        return tuple(_array(result) for result in results)

    def clipped(self, x: Any, largest: float) -> Any:
        """Infinite where the size is above the largest of a dtype."""
        if hasattr(x, "_mpf_") and abs(x) > largest:  # of whatever context
            return self.inf if x > 0 else -self.inf
        return x

    def exponent(self, x: Any) -> int:
        """The decimal exponent of a positive number, rounded up."""
        return int(self.context.ceil(self.context.log10(x)))

    def text(self, x: Any, digits: int) -> str:
        """A number in decimal."""
        return str(self.context.nstr(x, digits))


def _erfcx(m: PreciseArithmetic, x: Any, order: int) -> Any:
    """A derivative of exp(x**2)*erfc(x) for large x, by its asymptotic series (DLMF 7.12.1)."""
    order = int(order)
    if not m.finite(x):
        return m.number(0)
    if x < m.digits:  # its terms grow before they are small enough
        raise CannotJudge("the series of erfcx is for large numbers")
    least = m.context.mpf(10) ** -m.digits
    term, total, k = m.number(1), m.number(0), 0
    while abs(term) > least:
        total += term * m.context.rf(2 * k + 1, order)
        k += 1
        term = -term * (2 * k - 1) / (2 * x * x)
    return (-1) ** order * total / (x ** (order + 1) * m.context.sqrt(m.context.pi))


def _loggamma(m: PreciseArithmetic, x: Any) -> Any:
    """The logarithm of the gamma function; for large x by its asymptotic series (DLMF 5.11.1)."""
    context = m.context
    if not isinstance(x, context.mpf) or not m.finite(x) or x <= 0 or context.mag(x) < _FAR:
        try:
            return context.loggamma(x)
        except (ValueError, ZeroDivisionError):
            return m.undefined()
    total = (x - context.mpf(1) / 2) * context.ln(x) - x + context.ln(2 * context.pi) / 2
    least = context.mpf(10) ** -m.digits
    k = 1
    while (term := context.bernoulli(2 * k) / (2 * k * (2 * k - 1) * x ** (2 * k - 1))) and abs(term) > least:
        total += term
        k += 1
    return total


def _acosh(m: PreciseArithmetic, x: Any) -> Any:
    """The inverse hyperbolic cosine; mpmath's own loses an imaginary part below zero that is small against 1."""
    if isinstance(x, m.context.mpc) and x.imag < 0:
        return m.context.conj(m.context.acosh(m.context.conj(x)))
    return m._real(m.context.acosh(x), (x,))


_OWN: Final[dict[str, Callable[..., Any]]] = {
    "acosh": _acosh,
    "erfcx": _erfcx,
    "loggamma": _loggamma,
    "exp": PreciseArithmetic.exp,
    "log": PreciseArithmetic.log,
    "sqrt": PreciseArithmetic.sqrt,
    "floor": PreciseArithmetic.floor,
    "conj": lambda m, x: m.context.conj(x),
    "re": lambda m, x: m.context.re(x),
    "im": lambda m, x: m.context.im(x),
}

_OF_MATRICES: Final[dict[str, Callable[..., Any]]] = {
    "eigh": lambda context, matrix: context.eigh(matrix),
    "eig": lambda context, matrix: context.eig(matrix),
    "svd": lambda context, matrix: context.svd(matrix),
    "expm": lambda context, matrix: (context.expm(matrix),),
}


def _array(result: Any) -> Any:
    """An object array of a matrix of mpmath, or of a list."""
    result = [[entry] for entry in result] if isinstance(result, list) else result.tolist()
    array = np.empty((len(result), len(result[0]) if result else 0), dtype=object)
    for place in np.ndindex(array.shape):
        array[place] = result[place[0]][place[1]]
    return array
