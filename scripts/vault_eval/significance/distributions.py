"""The beta and t distributions, by their textbook series: what intervals and tests need of a statistics library.

Good to 11 digits. Further ones depend on the platform's exp and lgamma; what is printed is rounded to `DIGITS`, so that a
report is the same everywhere.
"""

from __future__ import annotations

from math import erfc, exp, isqrt, lgamma, log, log1p, sqrt

DIGITS = 10
_STEPS_MAX = 200
_SQRT_2 = sqrt(2)
# The power integral: Simpson's rule over this many pieces, out to this many standard deviations.
_PIECES = 200
_DEVIATIONS = 8.0


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for x within 0 and 1: the continued fraction of DLMF 8.17.22."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    fraction = 1.0
    # From the inside out; beyond some multiple of sqrt(a + b) terms nothing changes.
    for m in range(20 + 4 * isqrt(int(a + b)), 0, -1):
        fraction = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / fraction
        k = m - 1
        fraction = 1 - (a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) / fraction
    return exp(_log_power(x, a, b)) / (a * fraction)


def beta_quantile(share: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = share, for a share between 0 and 1: Newton's steps, halving where one leaves the bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_STEPS_MAX):
        excess = beta_cdf(x, a, b) - share
        low, high = (low, x) if excess > 0 else (x, high)
        step = excess / (exp(_log_power(x, a, b)) / (x * (1 - x)) or 1.0)
        following = x - step if low < x - step < high else (low + high) / 2
        if abs(following - x) <= 1e-15 * x:
            break
        x = following
    return x


def t_p_value(t: float, freedom: int) -> float:
    """P(|T| >= |t|) of Student's t with so many degrees of freedom: I_x(v/2, 1/2) at x = v / (v + t^2)."""
    return beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5)


def t_critical(alpha: float, freedom: int) -> float:
    """The t >= 0 with P(|T| >= t) = alpha."""
    x = beta_quantile(alpha, freedom / 2, 0.5)
    return sqrt(freedom * (1 - x) / x)


def t_power(effect: float, n: int, critical: float) -> float:
    """The power of a one-sample t test against a standardised effect: P(|T| >= c) of the noncentral t, c = `critical`.

    With s = sqrt(chi^2 / v): the mean over s of Phi(delta - c s) + Phi(-delta - c s), delta = effect * sqrt(n).
    """
    freedom, delta = n - 1, effect * sqrt(n)
    constant = log(2) + freedom / 2 * log(freedom / 2) - lgamma(freedom / 2)
    reach = _DEVIATIONS / sqrt(2 * freedom)
    start = max(1e-9, 1 - reach)
    width = (1 + reach - start) / _PIECES
    total = 0.0
    for piece in range(_PIECES + 1):
        s = start + piece * width
        density = exp(constant + (freedom - 1) * log(s) - freedom * s * s / 2)
        weight = 1 if piece in (0, _PIECES) else 2 + 2 * (piece % 2)
        total += weight * density * (_normal_cdf(delta - critical * s) + _normal_cdf(-delta - critical * s))
    return total * width / 3


def _log_power(x: float, a: float, b: float) -> float:
    """The logarithm of x^a (1 - x)^b / B(a, b)."""
    return a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)


def _normal_cdf(z: float) -> float:
    return erfc(-z / _SQRT_2) / 2
