"""Distributions: Excel's documented values, exact fractions, inverses that come back, and behaviour at the edges."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.functions.statistics import density
from tests.core.formula.calculated import calculated, same
from tests.rows import every

# (formula, expected, tolerance): documentation shows six to nine digits.
SIX, FULL = 1e-6, 1e-12
CASES: tuple[tuple[str, Any, float], ...] = (
    ("=NORM.DIST(42,40,1.5,TRUE)", 0.9087888, SIX), ("=NORM.DIST(42,40,1.5,FALSE)", 0.10934, 1e-5),
    ("=NORM.DIST(1,0,0,TRUE)", "#NUM!", FULL), ("=NORM.S.DIST(1.333333,TRUE)", 0.908788726, SIX),
    ("=NORM.S.DIST(1.333333,FALSE)", 0.164010148, SIX), ("=NORMSDIST(-30)", 4.906713927148e-198, FULL),
    ("=NORM.INV(0.908789,40,1.5)", 42.000002, SIX), ("=NORM.S.INV(0.908789)", 1.3333347, SIX),
    ("=NORM.S.INV(0)", "#NUM!", FULL), ("=NORM.S.INV(1)", "#NUM!", FULL), ("=PHI(0.75)", 0.301137432, SIX),
    ("=GAUSS(2)", 0.477249868, SIX), ("=LOGNORM.DIST(4,3.5,1.2,TRUE)", 0.0390836, 2e-6),
    ("=LOGNORM.DIST(4,3.5,1.2,FALSE)", 0.0176176, 2e-6), ("=LOGNORM.DIST(0,1,1,TRUE)", "#NUM!", FULL),
    ("=LOGNORM.INV(0.039084,3.5,1.2)", 4.0000252, SIX), ("=LOGNORMDIST(4,3.5,1.2)", 0.0390836, 2e-6),
    ("=T.DIST(60,1,TRUE)", 0.99469533, SIX), ("=T.DIST(8,3,FALSE)", 0.00073691, 1e-5),
    ("=T.DIST(1,0.5,TRUE)", "#NUM!", FULL),
    ("=T.DIST(,,)", "#DIV/0!", FULL), ("=T.DIST.2T(1.959999998,60)", 0.054645, 1e-5),
    ("=T.DIST.2T(-1,60)", "#NUM!", FULL),
    ("=T.DIST.RT(1.959999998,60)", 0.027322, 2e-5), ("=TDIST(1.959999998,60,2)", 0.05464493, SIX),
    ("=TDIST(1,10,3)", "#NUM!", FULL), ("=T.INV(0.75,2)", 0.8164966, SIX), ("=T.INV.2T(0.546449,60)", 0.606533, SIX),
    ("=T.INV.2T(1.5,10)", -0.6998120613124317, FULL), ("=TINV(1.5,10)", "#NUM!", FULL), ("=T.INV(0,5)", "#NUM!", FULL),
    ("=TINV(0.054645,60)", 1.959999998, SIX), ("=F.DIST(15.20686486,6,4,TRUE)", 0.99, SIX),
    ("=F.DIST(15.20686486,6,4,FALSE)", 0.0012238, 1e-5), ("=F.DIST.RT(15.20686486,6,4)", 0.01, SIX),
    ("=F.DIST(-1,6,4,TRUE)", "#NUM!", FULL), ("=F.DIST(1,0.5,4,TRUE)", "#NUM!", FULL),
    ("=F.INV(0.01,6,4)", 0.10930991, SIX),
    ("=F.INV.RT(0.01,6,4)", 15.20686486, SIX), ("=FINV(0,6,4)", "#NUM!", FULL),
    ("=CHISQ.DIST(0.5,1,TRUE)", 0.52049988, SIX), ("=CHISQ.DIST(2,3,FALSE)", 0.20755375, SIX),
    ("=CHISQ.DIST(10,1E12,TRUE)", "#NUM!", FULL), ("=CHISQ.DIST(0,2,FALSE)", 0.5, FULL),
    ("=CHISQ.DIST(-1,2,TRUE)", "#NUM!", FULL),
    ("=CHISQ.DIST.RT(18.307,10)", 0.0500006, SIX), ("=CHISQ.INV(0.93,1)", 3.283020287, SIX),
    ("=CHISQ.INV(0.6,2)", 1.832581464, SIX), ("=CHISQ.INV.RT(0.050001,10)", 18.306973, SIX),
    ("=CHISQ.INV(1,2)", "#NUM!", FULL),
    ("=BETA.DIST(2,8,10,TRUE,1,3)", 0.6854706, SIX), ("=BETA.DIST(2,8,10,FALSE,1,3)", 1.4837646, SIX),
    ("=BETA.DIST(4,8,10,TRUE,1,3)", "#NUM!", FULL), ("=BETADIST(2,8,10,1,3)", 0.6854706, SIX),
    ("=BETA.INV(0.685470581,8,10,1,3)", 2, SIX), ("=BETA.INV(0,8,10)", "#NUM!", FULL),
    ("=BETA.DIST(0,1,3,FALSE)", 3, FULL),
    ("=GAMMA.DIST(10.00001131,9,2,FALSE)", 0.032639, 5e-6), ("=GAMMA.DIST(10.00001131,9,2,TRUE)", 0.068094, 5e-6),
    ("=GAMMA.DIST(0,1,1,FALSE)", "#NUM!", FULL), ("=GAMMA.DIST(-1,1,1,TRUE)", "#NUM!", FULL),
    ("=GAMMA.INV(0.068094,9,2)", 10.0000112, SIX), ("=GAMMA.INV(GAMMA.DIST(1E-5,9,2,TRUE),9,2)", 1e-5, FULL),
    ("=GAMMA.INV(GAMMA.DIST(10,0.5,2,FALSE),0.5,2)", 0.0000011349986734693372, FULL), ("=GAMMA(2.5)", 1.329340388, SIX),
    ("=GAMMA(-3.75)", 0.267866129, SIX), ("=GAMMA(0)", "#NUM!", FULL), ("=GAMMA(-2)", "#NUM!", FULL),
    ("=GAMMA(172)", "#NUM!", FULL),
    ("=GAMMALN(4)", 1.791759469, SIX), ("=GAMMALN(0)", "#NUM!", FULL), ("=EXPON.DIST(0.2,10,TRUE)", 0.86466472, SIX),
    ("=EXPON.DIST(0.2,10,FALSE)", 1.35335283, SIX), ("=EXPON.DIST(-1,10,TRUE)", "#NUM!", FULL),
    ("=WEIBULL.DIST(105,20,100,TRUE)", 0.929581, SIX), ("=WEIBULL.DIST(105,20,100,FALSE)", 0.035589, 1e-5),
    ("=WEIBULL.DIST(0,0.5,1,FALSE)", "#NUM!", FULL),
    ("=BINOM.DIST(6,10,0.5,FALSE)", 0.205078125, FULL), ("=BINOM.DIST(11,10,0.5,FALSE)", "#NUM!", FULL),
    ("=BINOM.DIST(-1E-10,10,0.5,TRUE)", "#NUM!", FULL), ("=BINOM.DIST(2,3000,0.5,TRUE)", 0, FULL),
    ("=BINOM.DIST(2.9,10.9,0.5,FALSE)", 45 / 1024, FULL), ("=BINOM.DIST.RANGE(60,0.75,48)", 0.083974967, SIX),
    ("=BINOM.DIST.RANGE(60,0.75,45,50)", 0.523629793, SIX), ("=BINOM.DIST.RANGE(10,0.5,5,4)", "#NUM!", FULL),
    ("=BINOM.INV(6,0.5,0.75)", 4, FULL), ("=BINOM.INV(10,0,0.8)", "#NUM!", FULL),
    ("=BINOM.INV(10,1,0.8)", "#NUM!", FULL),
    ("=BINOM.INV(10,0.7,1E-6)", 0, FULL), ("=BINOM.INV(100000,0.0000001,0.8)", 0, FULL),
    ("=CRITBINOM(6,0.5,0.75)", 4, FULL),
    ("=NEGBINOM.DIST(10,5,0.25,TRUE)", 0.3135141, SIX), ("=NEGBINOM.DIST(10,5,0.25,FALSE)", 0.0550487, SIX),
    ("=NEGBINOM.DIST(-1E-10,10,0.5,TRUE)", "#NUM!", FULL), ("=NEGBINOMDIST(10,5,0.25)", 0.0550487, SIX),
    ("=POISSON.DIST(2,5,TRUE)", 0.124652019, SIX), ("=POISSON.DIST(2,5,FALSE)", 0.084224337, SIX),
    ("=POISSON.DIST(-1,5,FALSE)", "#NUM!", FULL), ("=POISSON(0,0,FALSE)", 1, FULL),
    ("=HYPGEOM.DIST(1,4,8,20,TRUE)", 0.465428277, SIX), ("=HYPGEOM.DIST(1,4,8,20,FALSE)", 0.363261094, SIX),
    ("=HYPGEOM.DIST(5,4,8,20,FALSE)", 0, FULL), ("=HYPGEOM.DIST(5,4,8,20,TRUE)", 1, FULL),
    ("=HYPGEOMDIST(1,4,8,20)", 0.363261094, SIX),
    ("=ERF(0.745)", 0.70792892, SIX), ("=ERF(1)", 0.84270079, SIX), ("=ERF(1,2)", 0.152621472, SIX),
    ("=ERF(TRUE)", "#VALUE!", FULL),
    ("=ERFC(1)", 0.15729921, SIX), ("=ERF(6,7)", 2.1519736712498913e-17 - 4.183825607779414e-23, FULL),
    ("=ERFC.PRECISE(30)", 2.564656203756112e-393, FULL),
    ("=DELTA(5,4)", 0, FULL), ("=DELTA(0.5,0)", 0, FULL), ("=DELTA(0)", 1, FULL), ("=DELTA(1,TRUE)", "#VALUE!", FULL),
    ("=GESTEP(5,4)", 1, FULL), ("=GESTEP(-4,-5)", 1, FULL), ("=GESTEP(-1)", 0, FULL),
    ('=GESTEP("x",1)', "#VALUE!", FULL),
)  # fmt: skip


@every("formula, expected, tolerance", CASES)
def test_values(formula: str, expected: Any, tolerance: float) -> None:
    result = calculated(formula)
    assert same(result, expected, tolerance) or (expected == 0 and abs(result) < 1e-300), result


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 64))
def test_binomial_probabilities_are_those_of_exact_fractions(successes: int, failures: int, sixtyfourths: int) -> None:
    trials, p = successes + failures, Fraction(sixtyfourths, 64)
    exact = math.comb(trials, successes) * p**successes * (1 - p) ** failures
    result = density.binomial(successes, trials, float(p), float(1 - p))
    assert math.isclose(result, float(exact), rel_tol=2e-13, abs_tol=1e-300)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_draws_are_those_of_exact_fractions(drawn: int, rest: int, others: int, more: int) -> None:
    sample, successes, population = drawn + rest, drawn + others, drawn + rest + others + more
    if population:
        exact = Fraction(
            math.comb(successes, drawn) * math.comb(population - successes, rest), math.comb(population, sample)
        )
        assert same(calculated(f"=HYPGEOM.DIST({drawn},{sample},{successes},{population},FALSE)"), float(exact), 1e-12)
        ways = sum(
            math.comb(successes, x) * math.comb(population - successes, sample - x)
            for x in range(max(0, sample - population + successes), drawn + 1)
        )
        below = Fraction(ways, math.comb(population, sample))
        assert same(calculated(f"=HYPGEOM.DIST({drawn},{sample},{successes},{population},TRUE)"), float(below), 1e-12)


SHARES = st.floats(1e-6, 1 - 1e-6)
INVERSES = (
    ("NORM.INV", "NORM.DIST({},3,2,TRUE)", "3,2"),
    ("LOGNORM.INV", "LOGNORM.DIST({},0.5,0.7,TRUE)", "0.5,0.7"),
    ("T.INV", "T.DIST({},7,TRUE)", "7"),
    ("T.INV.2T", "T.DIST.2T({},3)", "3"),
    ("F.INV", "F.DIST({},5,9,TRUE)", "5,9"),
    ("F.INV.RT", "F.DIST.RT({},5,9)", "5,9"),
    ("CHISQ.INV", "CHISQ.DIST({},4,TRUE)", "4"),
    ("CHISQ.INV.RT", "CHISQ.DIST.RT({},4)", "4"),
    ("BETA.INV", "BETA.DIST({},2,3,TRUE,1,4)", "2,3,1,4"),
    ("GAMMA.INV", "GAMMA.DIST({},2.5,2,TRUE)", "2.5,2"),
)


@pytest.mark.parametrize(("inverse", "distribution", "parameters"), INVERSES)
@settings(max_examples=40)
@given(share=SHARES)
def test_inverses_come_back(inverse: str, distribution: str, parameters: str, share: float) -> None:
    x = calculated(f"={inverse}({share!r},{parameters})")
    assert math.isclose(calculated("=" + distribution.format(f"({x!r})")), share, rel_tol=1e-9)


@settings(max_examples=40)
@given(st.floats(0.05, 40), st.integers(1, 30), st.integers(1, 30))
def test_densities_are_the_slopes_of_what_they_cumulate(x: float, first: int, second: int) -> None:
    step = x * 1e-5
    for distribution, parameters in (
        ("CHISQ.DIST", f"{first}"), ("GAMMA.DIST", f"{first / 4},{second / 9}"), ("F.DIST", f"{first},{second}"),
        ("T.DIST", f"{first}"), ("WEIBULL.DIST", f"{first / 7},{second}"), ("LOGNORM.DIST", f"1,{first / 8}"),
    ):  # fmt: skip
        high, low = (calculated(f"={distribution}({place!r},{parameters},TRUE)") for place in (x + step, x - step))
        slope = calculated(f"={distribution}({x!r},{parameters},FALSE)")
        assert math.isclose((high - low) / (2 * step), slope, rel_tol=1e-4, abs_tol=1e-9)
