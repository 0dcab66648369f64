"""What a run's figures rest on that a reader has to know.

What the file does not show, and what stands in for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import isfinite
from typing import Final

from core.compliance.conventions import is_plain
from core.compliance.coverage import AS_PRINTED
from core.compliance.file_figures import NOT_PRINTED, PARTS
from core.compliance.kernels import BUCKETS
from core.compliance.measures import recovered
from core.compliance.pool_sums import Pool, Unmeasurable
from core.compliance.spans import masked_par
from core.compliance.spreads import average_spread
from core.definition.terms import AGENCIES
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import Lien
from core.portfolio.model.notes import DataWarning

LIKE_OBLIGORS_MAX: Final = 30
"""Obligors, the largest first, whose names are compared."""

LEADING_LETTERS_MIN: Final = 4
"""Letters of a first word that tells groups apart; a shorter one is shared by chance."""

AMOUNT_TOLERANCE: Final = 0.05
"""Currency units by which a printed haircut may differ from the one of the loans: rounding of a few rows."""

ABROAD_MOST_PCT: Final = 50.0
"""Percent of par outside the home countries above which these are hardly the deal's."""

WHOLE_PCT: Final = 99.995
"""Percent of par that is all of it as it is printed."""

_OF_INTEREST: Final = ("ic_ratio", "ic_ratio_senior")
_OF_INDUSTRIES: Final = ("industry_concentration", "second_industry_concentration")
_OF_CASH: Final = ("oc_ratio", "oc_ratio_senior", "interest_diversion_ratio")


def findings(pool: Pool, ran: frozenset[str]) -> Iterator[DataWarning]:
    """Yield the warnings of a run in a fixed order, `ran` being its tests by the suites' ids.

    Without a definition, warnings about loans are only about masked values. A warning about what stands in for a gap of
    the file comes where a test that ran depends on it.
    """
    yield from _masked(pool)
    if not is_plain(pool.definition):
        for find_in_loans in (_join, _alike, _bonds, _coupons) if pool.denominator > 0 else ():
            yield from find_in_loans(pool)
        yield from _lives(pool)
    for tests, find in _FINDERS:
        if not ran.isdisjoint(tests):
            yield from find(pool)


def _no_principal_cash(pool: Pool) -> Iterator[DataWarning]:
    if pool.portfolio.deal.principal_cash is None:
        yield DataWarning("no_principal_cash", "no page says what principal cash there is: it counts as 0")


def _no_rating(pool: Pool) -> Iterator[DataWarning]:
    if not pool.portfolio.ranks:
        yield DataWarning(
            "no_rating", "the file has no column of ratings: overcollateralisation counts every loan as unrated"
        )


def _unrated(pool: Pool) -> Iterator[DataWarning]:
    if pool.view.is_mostly_unrated:
        yield DataWarning(
            "unrated_not_ccc", "no agency rates most loans, as in private credit: they are in no CCC bucket"
        )


def _industries(pool: Pool) -> Iterator[DataWarning]:
    if pool.printed_industries:
        place = pool.printed_industries[0].place
        yield DataWarning(
            "industries_by_table", f"no row names an industry: the shares are those of the file's table ({place})"
        )


def _home(pool: Pool) -> Iterator[DataWarning]:
    """Where most loans are abroad, as they are under the home countries of another market."""
    abroad = pool.covered(pool.tally.foreign_par)
    if abroad > ABROAD_MOST_PCT:
        yield DataWarning(
            "home_elsewhere",
            f"{abroad:.2f} % of par is outside the home countries: are the definition's home countries this deal's?",
        )


def _crosswalk(pool: Pool) -> Iterator[DataWarning]:
    """Where the factors of Moody's scale are averaged of a deal whose loans other agencies alone rate."""
    ranks = pool.portfolio.ranks
    others = any(name in ranks for name in BUCKETS[1:])
    if not is_plain(pool.definition) and others and not any(name.startswith(BUCKETS[0]) for name in ranks):
        yield DataWarning(
            "no_moodys_rating", "the file has no ratings of Moody's: the rating factor is by the letters of others"
        )


def _recoveries(pool: Pool) -> Iterator[DataWarning]:
    """Whose recovery rates are averaged where nobody said, and what becomes of loans without one."""
    agency = pool.view.recovery_agency
    if agency not in ("b", "c"):
        covered = pool.covered(pool.tally.recovery_given)
        if covered < WHOLE_PCT:
            yield DataWarning(
                "recovery_assumed", f"{100 - covered:.2f} % of par has no recovery rate: the one of its kind is assumed"
            )
        return
    covered = pool.covered(recovered(pool, agency)[0])
    if not pool.definition.ratings.recovery or covered < WHOLE_PCT:
        yield DataWarning(
            "recovery_agency",
            f"the weighted average recovery rate is by {AGENCY_NAMES[agency]}'s rates, which "
            f"{covered:.2f} % of par has",
        )


def _haircuts(pool: Pool) -> Iterator[DataWarning]:
    """Parts of the OC numerator that the file prints and its loans give otherwise."""
    if not pool.printed:
        return
    own = pool.adjustments_of_loans
    texts = [
        f"{part.words} {pool.printed[name]:,.2f} ({_cell(pool, name)}), by the loans {own.get(name, 0.0):,.2f}"
        for name, part in PARTS.items()
        if name in pool.printed and part.words and abs(pool.printed[name] - own.get(name, 0.0)) > AMOUNT_TOLERANCE
    ]
    if texts:
        yield DataWarning("haircuts_as_printed", f"the file's own OC numerator counts: {'; '.join(texts)}")


def _cell(pool: Pool, name: str) -> str:
    return pool.portfolio.source_cells.get(f"deal.{name}", "of no cell of its own")


def _hidden_excess(pool: Pool) -> Iterator[DataWarning]:
    """CCC above its limit that no row shows, and that has no price for that."""
    if pool.masked_ccc == NOT_PRINTED or "ccc_haircut" in pool.printed:
        return
    agency, rules = pool.ccc[0], pool.definition.par_value
    hidden = pool.hidden_excess(agency, pool.adjustments["ccc_excess"])
    if hidden:
        yield DataWarning(
            "ccc_excess_not_shown",
            f"{hidden:,.2f} of the CCC excess is known by {AGENCY_NAMES[AGENCIES[agency]]}'s rating table alone: it is "
            f"carried at {rules.ccc_unpriced:g} % ({_cell(pool, f'masked_ccc_{AGENCIES[agency]}')})",
        )


def _rating_tables(pool: Pool) -> Iterator[DataWarning]:
    """CCC that rows do not show."""
    for agency, more, name in zip("abc", pool.masked_ccc, AGENCY_NAMES.values(), strict=True):
        if more:
            yield DataWarning(
                "ccc_by_rating_table",
                f"{more:,.2f} of par counts as CCC or below by {name}'s rating table, and no row shows it "
                f"({_cell(pool, f'masked_ccc_{agency}')})",
                fields=(f"deal.masked_ccc_{agency}",),
            )


def _printed_defaults(pool: Pool) -> Iterator[DataWarning]:
    """Defaulted par that is known as a sum alone."""
    par, tally = pool.portfolio.deal.defaulted_par, pool.tally
    is_open = "is_defaulted" not in pool.portfolio.flags and not tally.aged_par and not tally.defaulted_rows
    if par and is_open:
        yield DataWarning(
            "defaults_as_printed",
            f"the file prints {par:,.2f} of defaulted par ({_cell(pool, 'defaulted_par')}), and no row says which "
            "loans these are",
        )


def _interest(pool: Pool) -> Iterator[DataWarning]:
    """Yield what of the period's interest is estimated, or left out."""
    income, numbers = pool.interest, pool.portfolio.numbers
    if income["interest_basis"] == AS_PRINTED:
        yield DataWarning(
            "interest_as_printed",
            f"the numerator of interest coverage is {income['interest_basis']} ({_cell(pool, 'interest_available')})",
        )
    if "estimated" in income["interest_basis"]:
        yield DataWarning(
            "interest_estimated",
            f"interest coverage is an estimate: the period's interest is {income['interest_basis']}",
        )
    if "estimated" in income["senior_fees_basis"]:
        yield DataWarning("fees_estimated", f"senior fees are {income['senior_fees_basis']}")
    has_base = isfinite(pool.base_rate) or "base_rate_level" in numbers
    if "spread" in numbers and "all_in_rate" not in numbers and not has_base:
        yield DataWarning("no_base_rate", "loans have a spread and no base rate: only the spread counts as interest")


def _bonds(pool: Pool) -> list[DataWarning]:
    """Return a warning where bonds count as senior secured because nothing says otherwise."""
    bonds = pool.tally.par_by_lien[Lien.BOND]
    if not bonds or not pool.definition.ratings.bonds_secured:
        return []
    return [
        DataWarning(
            "bonds_secured",
            f"bonds of {pool.share(bonds):.2f} % count as senior secured: the file does not say whether one is not",
        )
    ]


def _join(pool: Pool) -> list[DataWarning]:
    """Return a warning where obligors count as one by their names, with what the largest would be apart."""
    joined = pool.view.affiliates
    if not joined:
        return []
    shown = ", ".join(f"{name} with {rival}" for name, rival in joined)
    apart = pool.largest_apart
    return [
        DataWarning(
            "affiliates_by_name",
            f"obligors count as one by their names, which no page says: {shown}; apart, the largest has "
            f"{pool.share(apart):.2f} %",
            len(joined),
        )
    ]


def _lives(pool: Pool) -> list[DataWarning]:
    """Return a warning where lives are taken to maturity."""
    if "average_life" in pool.portfolio.numbers or pool.portfolio.amortization is not None or not pool.tally.life_par:
        return []
    return [
        DataWarning(
            "lives_by_maturity",
            "the file has no average lives and no scheduled payments: each loan is taken to its maturity",
        )
    ]


def _masked(pool: Pool) -> list[DataWarning]:
    """Return a warning for each agency some of whose ratings are not shown."""
    warnings = []
    for agency in AGENCIES:
        field = f"rating_agency_{agency}"
        if field not in pool.portfolio.ranks:
            continue
        par, rows = masked_par(pool, field)
        if not rows:
            continue
        if pool.masked_ratings["abc".index(agency)] is not None:
            warnings.append(
                DataWarning(
                    "masked_by_rating_table",
                    f"the rating by {AGENCY_NAMES[agency]} of {pool.covered(par):.2f} % of par is masked: its rating "
                    f"table says how much of it has which rating ({_cell(pool, f'masked_ratings_{agency}')})",
                    int(rows),
                    (field,),
                )
            )
            continue
        way = getattr(pool.definition.ratings, agency).masked
        warnings.append(
            DataWarning(
                "masked_ratings",
                f"the rating by {AGENCY_NAMES[agency]} of {pool.covered(par):.2f} % of par is masked: it counts as "
                f"{_way_words(way)}, and never as CCC unless the definition says so",
                int(rows),
                (field,),
            )
        )
    return warnings


def _way_words(way: str | float) -> str:
    words = {
        "other_agency": "another agency's rating, or is left out where there is none",
        "left_out": "left out",
        "bounds": "anything between the definition's best and worst",
    }
    return words.get(way, way) if isinstance(way, str) else f"the factor {way:g}"


def _alike(pool: Pool) -> list[DataWarning]:
    """Return a warning where obligors of like names together would be the largest obligor."""
    if "obligor" not in pool.view.names or "issuer_id" in pool.portfolio.names:
        return []
    most = pool.largest_by_name("obligor", LIKE_OBLIGORS_MAX)
    if len(most) < 2:
        return []
    amounts = pool.par_by_name("obligor")[most].tolist()
    groups: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for at, amount in zip(most, amounts, strict=True):
        name = pool.name("obligor", at)
        word = name.partition(" ")[0].upper()
        if len(word) >= LEADING_LETTERS_MIN and word.isalpha():
            groups[word].append((amount, name))
    largest_par = amounts[0]
    like = [
        (total, [name for _, name in sorted(members, reverse=True)])
        for members in groups.values()
        if len(members) > 1 and (total := sum(amount for amount, _ in members)) > largest_par > 0
    ]
    if not like:
        return []
    amount, members = max(like)
    return [
        DataWarning(
            "obligors_alike",
            f"{', '.join(members)} count as {len(members)} obligors; as one they would be the largest with "
            f"{pool.share(amount):.2f} %: name families of obligors in the definition",
            len(members),
        )
    ]


def _excess_spread(pool: Pool) -> list[DataWarning]:
    """Return a warning where the average spread has what the file adds to it."""
    amount = pool.portfolio.deal.excess_spread
    if not amount or not pool.tally.spread_par > 0 or not pool.par > pool.fixed_par:
        return []
    more = 0.0
    with suppress(Unmeasurable):
        more = average_spread(pool, "was").breakdown.get("excess_spread_pct", 0.0)
    if not more:
        return []
    message = (
        f"the average spread has {more:.2f} % by the file's own excess spread of {amount:,.2f} "
        f"({_cell(pool, 'excess_spread')}): with it the figure is the printed one"
    )
    return [DataWarning("excess_spread_as_printed", message)]


def _floored_coupon(pool: Pool) -> Iterator[DataWarning]:
    """Where the file's own average says that coupons below their reference take nothing off."""
    portfolio = pool.portfolio
    if not (portfolio.facts.all or portfolio.deal.is_excess_floored):  # nothing of the file's own says so
        return
    if not pool.tally.spread_par > 0 or not pool.definition.leaves("conventions.excess_coupon"):
        return
    with suppress(Unmeasurable):
        breakdown = average_spread(pool, "was").breakdown
        if breakdown.get("excess_coupon_rule") == "floored" != pool.definition.conventions.excess_coupon:
            yield DataWarning(
                "excess_coupon_floored",
                f"the excess coupon of {breakdown['excess_coupon_pct']:.2f} % is below zero and counts as none, since "
                "the file's own average spread is ours without it",
            )


def _coupons(pool: Pool) -> list[DataWarning]:
    """Return a warning where fixed-rate loans have coupons and nothing says against which they are measured."""
    reference = pool.definition.conventions.reference_coupon
    if reference is None:
        reference = pool.portfolio.deal.reference_coupon
    tally = pool.tally
    if (
        reference is not None
        or pool.definition.conventions.excess_coupon == "none"
        or not tally.coupon_par > 0
        or pool.share(pool.fixed_par) < 1.0
    ):
        return []
    coupon, share = tally.coupon_sum / tally.coupon_par, pool.share(pool.fixed_par)
    return [
        DataWarning(
            "reference_coupon_unknown",
            f"{share:.2f} % of the loans are fixed at {coupon:.2f} % on average and no reference coupon is known"
            ": the weighted average spread counts no excess coupon",
        )
    ]


_FINDERS: Final[tuple[tuple[tuple[str, ...], Callable[[Pool], Iterable[DataWarning]]], ...]] = (
    (("foreign_country_concentration",), _home),
    (("was",), _excess_spread),
    (("was",), _floored_coupon),
    (_OF_INTEREST, _interest),
    (_OF_CASH, _no_principal_cash),
    (_OF_CASH, _no_rating),
    ((*_OF_CASH, "ccc_bucket_pct"), _unrated),
    (_OF_CASH, _haircuts),
    (_OF_CASH, _hidden_excess),
    (("ccc_bucket_pct",), _rating_tables),
    (_OF_INDUSTRIES, _industries),
    (("delinquency_pct",), _printed_defaults),
    (("average_rating_factor",), _crosswalk),
    (("weighted_average_recovery_rate",), _recoveries),
)
"""Tests, and what is said of the file where one of them ran."""
