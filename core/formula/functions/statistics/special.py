"""The incomplete gamma and beta functions and their inverses, from scipy.special.

SciPy is imported at the first call: that costs 100 ms, which most formulas need not pay.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _scipy() -> Any:
    from scipy import special  # type: ignore[import-untyped]

    return special


def beta_below(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function up to x."""
    return float(_scipy().betainc(a, b, x))


def beta_above(a: float, b: float, x: float) -> float:
    """Return what `beta_below` lacks to 1."""
    return float(_scipy().betaincc(a, b, x))


def beta_inverse(a: float, b: float, share: float) -> float:
    """Return the x up to which `beta_below` is the share."""
    return float(_scipy().betaincinv(a, b, share))


def gamma_below(shape: float, x: float) -> float:
    """Return the regularised incomplete gamma function up to x."""
    return float(_scipy().gammainc(shape, x))


def gamma_above(shape: float, x: float) -> float:
    """Return what `gamma_below` lacks to 1."""
    return float(_scipy().gammaincc(shape, x))


def gamma_inverse(shape: float, share: float) -> float:
    """Return the x up to which `gamma_below` is the share."""
    return float(_scipy().gammaincinv(shape, share))


def gamma_inverse_above(shape: float, share: float) -> float:
    """Return the x from which on `gamma_above` is the share."""
    return float(_scipy().gammainccinv(shape, share))


def student_inverse(freedom: float, share: float) -> float:
    """Return the t below which a share of Student's distribution lies."""
    return float(_scipy().stdtrit(freedom, share))
