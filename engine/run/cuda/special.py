"""C text of the functions that neither C nor CUDA has, in front of the kernels that use them.

All of them compute in double; a float is rounded once, at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

DIGAMMA_ROOT: Final = (1.4616321449683622, 9.549995429965697e-17)
"""The positive zero of digamma: a float64, and what is left of it."""
DIGAMMA_AT_ROOT: Final = (
    0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652, 0.10782405069126237,
    -0.07219956125645471, 0.04880428816414311, -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
    0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328, 0.002305126326734928,
    -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602, -0.0003454680251063077,
    0.00023635601564027053, -0.00016170622091974803, 0.0001106337276874741, -7.569179582195066e-05,
    5.178575795222081e-05, -3.5430070947659604e-05, 2.424006611860132e-05, -1.6584242271854135e-05,
)  # fmt: skip
"""The Taylor coefficients of digamma there, from the first power on: (-1)**(n + 1) * zeta(n + 1, root)."""
DIGAMMA_LEFT_ROOT: Final = (-0.5040830082644554, -8.15428206243813e-18)
"""The zero of digamma between -1 and 0, in the same two parts."""
DIGAMMA_AT_LEFT_ROOT: Final = (
    8.939798558792134, -0.8093454625306507, 32.258572064915505, -2.761011648790828, 128.27342343090902,
    -14.70672173553036, 513.2704629562862, -75.37700066344631, 2055.5357119463315, -368.5783503832191,
    8234.667099203069, -1743.364608867363, 32997.785655255044, -8051.818155363498, 132262.95480834588,
    -36529.94596948565, 530280.3912420176, -163451.79342700253, 2126602.3725968753, -723318.8861804305,
    8530604.878543982, -3172131.3155744765, 34228316.69580112, -13807481.997263888, 137373435.87411496,
    -59721085.411294304, 551481251.858545, -256915093.79875362,
)  # fmt: skip
"""The Taylor coefficients of digamma there."""


_ARRAY: Final = "__device__ const double {name}[{length}] = {{{values}}};"


def _array(name: str, values: Sequence[float]) -> str:
    return _ARRAY.format(name=name, length=len(values), values=", ".join(repr(value) for value in values))


_ROUND_DECIMALS: Final = """
__device__ double power_of_ten(int exponent) {
  double value = 1.0;
  for (int i = exponent < 0 ? -exponent : exponent; i > 0; --i) value *= 10.0;
  return value;
}
__device__ double round_decimals(double x, int decimals) {
  double scale = power_of_ten(decimals);
  if (decimals < 0) return rint(x / scale) * scale;
  double product = x * scale, below = floor(product);
  if (!(fabs(product) < 9007199254740992.0)) return x;
  // A product may be rounded to the middle between two integers where the number itself is not there.
  double error = decimals <= 22 && product - below == 0.5 ? fma(x, scale, -product) : 0.0;
  return (error != 0.0 ? below + (error > 0.0 ? 1.0 : 0.0) : rint(product)) / scale;
}
__device__ float round_decimals(float x, int decimals) { return (float) round_decimals((double) x, decimals); }
"""

# DLMF 5.11.2 (expansion), 5.5.2 (recurrence), 5.5.4 (reflection).
_DIGAMMA: Final = f"""
{_array("digamma_at_root", DIGAMMA_AT_ROOT)}
{_array("digamma_at_left_root", DIGAMMA_AT_LEFT_ROOT)}
__device__ double digamma_near(const double* series, double away) {{
  double sum = 0.0;
  for (int n = {len(DIGAMMA_AT_ROOT) - 1}; n >= 0; --n) sum = sum * away + series[n];
  return sum * away;
}}
__device__ double digamma(double x) {{
  if (x != x || x == INFINITY) return x;
  if (x == 0.0) return copysign((double) INFINITY, -x);
  if (fabs(x - {DIGAMMA_ROOT[0]!r}) < 0.35)
    return digamma_near(digamma_at_root, (x - {DIGAMMA_ROOT[0]!r}) - {DIGAMMA_ROOT[1]!r});
  if (fabs(x - ({DIGAMMA_LEFT_ROOT[0]!r})) < 0.12)
    return digamma_near(digamma_at_left_root, (x - ({DIGAMMA_LEFT_ROOT[0]!r})) - ({DIGAMMA_LEFT_ROOT[1]!r}));
  double value = 0.0;
  if (x < 0.0) {{
    double beyond = x - rint(x);
    if (beyond == 0.0 || x == -INFINITY) return NAN;
    value = -3.141592653589793 / tan(3.141592653589793 * beyond);
    x = 1.0 - x;
  }}
  for (; x < 10.0; x += 1.0) value -= 1.0 / x;
  double z = 1.0 / (x * x);
  double series = ((((((z / 12 - 691.0 / 32760) * z + 1.0 / 132) * z - 1.0 / 240) * z + 1.0 / 252) * z - 1.0 / 120) * z
    + 1.0 / 12) * z;
  return value + (log(x) - 0.5 / x - series);
}}
__device__ float digamma(float x) {{ return (float) digamma((double) x); }}
"""

# The Hurwitz zeta function by Euler's and Maclaurin's sum (DLMF 25.11.5), polygamma by DLMF 25.11.12.
_POLYGAMMA: Final = """
__device__ double hurwitz_zeta(double s, double q) {
  const double numbers[12] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9,
    7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
    1.8152105401943546773e17, -7.1661652561756670113e18};
  if (q != q) return q;
  if (q == INFINITY) return 0.0;
  if (q <= 0.0 && q == floor(q)) return INFINITY;
  if (q < -1e7) return NAN;  /* a sum of more terms than anybody waits for */
  if (q > 1e8) return (1.0 / (s - 1.0) + 1.0 / (2.0 * q)) * pow(q, 1.0 - s);
  double sum = pow(q, -s), a = q, term = 0.0;
  for (int i = 0; i < 9 || a <= 9.0; ++i) {
    a += 1.0;
    term = pow(a, -s);
    sum += term;
    if (fabs(term) < 1.1102230246251565e-16 * fabs(sum) && a > 0.0) return sum;
  }
  sum += term * a / (s - 1.0);
  sum -= 0.5 * term;
  double factor = 1.0, k = 0.0;
  for (int i = 0; i < 12; ++i) {
    factor *= s + k;
    term /= a;
    double next = factor * term / numbers[i];
    sum += next;
    if (fabs(next) < 1.1102230246251565e-16 * fabs(sum)) return sum;
    k += 1.0;
    factor *= s + k;
    term /= a;
    k += 1.0;
  }
  return sum;
}
__device__ double polygamma(int n, double x) {
  double factorial = n % 2 ? 1.0 : -1.0;
  for (int k = 2; k <= n; ++k) factorial *= k;
  return factorial * hurwitz_zeta(n + 1.0, x);
}
__device__ float polygamma(int n, float x) { return (float) polygamma(n, (double) x); }
"""

_MVLGAMMA: Final = """
__device__ double mvlgamma(double x, int p) {
  double sum = p * (p - 1) / 4.0 * 1.1447298858494002;
  for (int j = 0; j < p; ++j) sum += lgamma(x - j / 2.0);
  return sum;
}
__device__ float mvlgamma(float x, int p) { return (float) mvlgamma((double) x, p); }
"""

# As the kernel: near 0 by the Taylor series of sin(t)/t, elsewhere upwards by t*s(n) = sin(t + n*pi/2) - n*s(n-1).
_SINC_DERIVATIVE: Final = """
__device__ double sinc_derivative(double x, int order) {
  double t = 3.141592653589793 * x, scale = pow(3.141592653589793, (double) order);
  if (fabs(t) < order + 1) {
    int first = (order + 1) / 2;
    double factorial = 1.0, series = 0.0;
    for (int j = 2; j <= 2 * (first + 20) - order; ++j) factorial *= j;
    for (int k = first + 20; k >= first; --k) {
      series = series * t * t + (k % 2 ? -1.0 : 1.0) / ((2.0 * k + 1.0) * factorial);
      int m = 2 * k - order;
      if (m > 1) factorial /= (double) m * (m - 1);
    }
    return (order % 2 ? series * t : series) * scale;
  }
  double whole = rint(x), rest = (x - whole) * 3.141592653589793;
  double sign = fmod(whole, 2.0) == 0.0 ? 1.0 : -1.0;
  double sine = sign * sin(rest), cosine = sign * cos(rest), value = sine / t;
  for (int n = 1; n <= order; ++n) {
    double turned = n % 4 == 0 ? sine : n % 4 == 1 ? cosine : n % 4 == 2 ? -sine : -cosine;
    value = (turned - n * value) / t;
  }
  return value * scale;
}
__device__ float sinc_derivative(float x, int order) { return (float) sinc_derivative((double) x, order); }
"""

# As the kernel: the repeated integrals of erfc (DLMF 7.18.4, 7.18.7), for large x by the continued fraction of ratios.
_ERFCX_DERIVATIVE: Final = """
__device__ double erfcx_derivative(double x, int order) {
  double scale = 1.0, value;
  for (int n = 1; n <= order; ++n) scale *= -2.0 * n;
  if (x < 2.0) {
    double before = 1.1283791670955126;
    value = erfcx(x);
    for (int n = 1; n <= order; ++n) {
      double next = (before - 2.0 * x * value) / (2.0 * n);
      before = value;
      value = next;
    }
    return value * scale;
  }
  double ratio = 1.0 / (sqrt(x * x + 120.0) + x);
  value = 1.1283791670955126;
  for (int n = 60; n >= 1; --n) {
    ratio = 1.0 / (2.0 * x + 2.0 * n * ratio);
    if (n <= order + 1) value *= ratio;
  }
  return value * scale;
}
__device__ float erfcx_derivative(float x, int order) { return (float) erfcx_derivative((double) x, order); }
"""

# I of degree 0 and 1 times exp(-|x|): the series of DLMF 10.25.2, all of whose terms are positive, and far out 10.40.1.
_BESSEL: Final = """
__device__ double bessel_ie(int degree, double x) {
  double size = fabs(x), sign = degree % 2 && x < 0.0 ? -1.0 : 1.0;
  if (size == INFINITY) return 0.0 * sign;
  if (size < 30.0) {
    double term = 1.0, square = 0.25 * size * size;
    for (int k = 1; k <= degree; ++k) term *= 0.5 * size / k;
    double sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= square / ((double) k * (k + degree));
      sum += term;
    }
    return sign * sum * exp(-size);
  }
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 60 && fabs(term) > 1e-17; ++k) {
    double odd = 2.0 * k - 1.0;
    term *= (odd * odd - 4.0 * degree * degree) / (8.0 * k * size);
    sum += term;
  }
  return sign * sum / (2.5066282746310002 * sqrt(size));
}
__device__ double i0e(double x) { return x != x ? x : bessel_ie(0, x); }
__device__ double i1e(double x) { return x != x ? x : x == 0.0 ? x : bessel_ie(1, x); }
__device__ float i0e(float x) { return (float) i0e((double) x); }
__device__ float i1e(float x) { return (float) i1e((double) x); }
"""

# Of degrees from 2: far out downwards from degree 0 by the continued fraction of the ratios (DLMF 10.33.1).
_BESSEL_I: Final = """
__device__ double bessel_i(double x, int degree) {
  if (x != x) return x;
  double size = fabs(x), sign = degree % 2 && x < 0.0 ? -1.0 : 1.0;
  if (size < 1e-200) return x * 0.0;
  if (size > 800.0) return sign * INFINITY;
  double scaled;
  if (size < 30.0) {
    scaled = bessel_ie(degree, size);
  } else {
    double ratio = 0.0;
    scaled = i0e(size);
    for (int k = degree + 40 + (int) (9.0 * sqrt(size)); k >= 1; --k) {
      ratio = 1.0 / (2.0 * k / size + ratio);
      if (k <= degree) scaled *= ratio;
    }
  }
  double half = exp(0.5 * size);
  return sign * scaled * half * half;
}
__device__ float bessel_i(float x, int degree) { return (float) bessel_i((double) x, degree); }
"""

# The derivative of some order of exp(-s)*I0(s): Kummer's function (DLMF 10.39.5) turned so that all terms are positive
# (13.2.39), far out by 13.7.2.
_BESSEL_IE_DERIVATIVE: Final = """
__device__ double decaying_derivative(double size, int order) {
  double z = 2.0 * size, scale = order % 2 ? -1.0 : 1.0;
  for (int k = 1; k <= order; ++k) scale *= 2.0 * (k - 0.5);
  if (z < 60.0) {
    for (int k = 1; k <= order; ++k) scale /= k;
    double term = 1.0, sum = 1.0;
    for (int k = 0; term > 1e-17 * sum; ++k) {
      term *= (0.5 + k) / (order + 1.0 + k) * z / (k + 1.0);
      sum += term;
    }
    return scale * sum * exp(-z);
  }
  double term = 1.0, sum = 1.0;
  for (int k = 0; k < 50 && term > 1e-17 * sum; ++k) {
    double next = term * (order + 0.5 + k) * (0.5 + k) / ((k + 1.0) * z);
    if (next >= term) break;
    term = next;
    sum += term;
  }
  return scale / sqrt(3.141592653589793 * z) * pow(z, (double) -order) * sum;
}
__device__ double bessel_ie_derivative(double x, int degree, int order) {
  if (x != x) return x;
  double size = fabs(x), value = decaying_derivative(size, order);
  if (degree) value += decaying_derivative(size, order + 1);
  return (degree + order) % 2 ? value * (x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0) : value;
}
__device__ float bessel_ie_derivative(float x, int degree, int order) {
  return (float) bessel_ie_derivative((double) x, degree, order);
}
"""

# C's ~ makes a whole number of a truth value, and each whole number but 0 is true.
_BITWISE_NOT: Final = """
__device__ bool bitwise_not(bool x) { return !x; }
__device__ int bitwise_not(int x) { return ~x; }
__device__ long long bitwise_not(long long x) { return ~x; }
"""

# As NumPy's: the whole multiple is exact but for one rounding, which the last line undoes.
_FLOOR_DIVIDE: Final = """
template <class T> __device__ T floor_divide(T x, T y) {
  if (y == 0) return x / y;
  T rest = fmod(x, y), quotient = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
  if (quotient == 0) return copysign((T) 0, x / y);
  T below = floor(quotient);
  return quotient - below > (T) 0.5 ? below + 1 : below;
}
"""

# As the kernel: what rounding lifts to a whole number that the quotient does not reach is one less. In integers, where
# a half is 0, there is no rounding.
_TRUNC_DIVIDE: Final = """
template <class T> __device__ T trunc_divide(T x, T y) {
  if ((T) 0.5 == 0) return x / y;
  T quotient = x / y, whole = trunc(quotient), most = (T) (sizeof(T) == 4 ? 8388608.0 : 4503599627370496.0);
  if (whole == quotient && fabs(whole) < most && fabs(fmod(x, y)) > fabs(y) / 2) return whole - copysign((T) 1, whole);
  return whole;
}
"""

# As the kernel: near 0 by its series.
_TANHSHRINK: Final = """
__device__ double tanhshrink(double x) {
  if (!(fabs(x) < 0.1)) return x - tanh(x);
  double square = x * x;
  return x * square * (1.0 / 3 + square * (-2.0 / 15 + square * (17.0 / 315 + square * (-62.0 / 2835
    + square * (1382.0 / 155925 + square * (-21844.0 / 6081075 + square * (929569.0 / 638512875)))))));
}
__device__ float tanhshrink(float x) { return (float) tanhshrink((double) x); }
"""

_TEXTS: Final = {
    "bitwise_not": (_BITWISE_NOT,),
    "floor_divide": (_FLOOR_DIVIDE,),
    "trunc_divide": (_TRUNC_DIVIDE,),
    "tanhshrink": (_TANHSHRINK,),
    "round_decimals": (_ROUND_DECIMALS,),
    "digamma": (_DIGAMMA,),
    "polygamma": (_POLYGAMMA,),
    "mvlgamma": (_MVLGAMMA,),
    "sinc_derivative": (_SINC_DERIVATIVE,),
    "erfcx_derivative": (_ERFCX_DERIVATIVE,),
    "i0e": (_BESSEL,),
    "i1e": (_BESSEL,),
    "bessel_i": (_BESSEL, _BESSEL_I),
    "bessel_ie_derivative": (_BESSEL_IE_DERIVATIVE,),
}
_CALL: Final = re.compile(r"\b(" + "|".join(_TEXTS) + r")\(")


def functions_for(text: str) -> str:
    """The text of the functions that a kernel's text calls."""
    needed = [part for name in sorted(set(_CALL.findall(text))) for part in _TEXTS[name]]
    return "".join(dict.fromkeys(needed))
