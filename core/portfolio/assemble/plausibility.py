"""Checks of what makes a portfolio's figures doubtful: what each looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.assemble.odd_loans import LIFE_YEARS_MAX, ODD, OF_DAYS, with_places
from core.portfolio.cells.string_pool import key
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AnyPortfolio, PortfolioData
from core.portfolio.model.ratings import AGENCY_OF, is_masked
from core.values import EPOCH, day_of
from core.words import agreed, counted

SCALE_MIN: Final = 30.0
"""How many times as large as the notes, or as small, par is in other units than they are."""

BESIDE_NOTES: Final = (0.6, 2.0)
"""Par and principal cash over the notes, within which a deal's assets lie."""

SHARE_MIN: Final = 0.10
"""Share of loans without a price or a maturity from which a warning is given."""

AFTER_MATURITY_MIN: Final = 0.25
"""Share of loans that mature after the deal from which a date of the one or the other is doubtful."""

LOAN_MIN: Final = 25_000.0
"""Par that the middle one of a deal's loans is not below: few are of less than 100,000, and of those in thousands few
are of more than 25 million."""

LOAN_MAX: Final = 1e9
"""Par that the loans of a deal do not have on average."""

LOANS_MIN: Final = 10
"""Loans of a list from which their size tells the unit of par."""


class LoanCounts(dict[str, float]):
    """What the checks count over the loans, by name; 0 for what was not counted."""

    def __missing__(self, name: str) -> float:
        return 0.0

    def add(self, more: LoanCounts) -> None:
        """Add the counts of other loans."""
        for name, count in more.items():
            self[name] += count


def count_loans(portfolio: PortfolioData) -> LoanCounts:
    """Return what the checks ask of every loan."""
    counts, numbers = count_days(portfolio), portfolio.numbers
    par, unfunded = numbers.get("par_value"), numbers.get("unfunded")
    with np.errstate(invalid="ignore", over="ignore"):
        if par is not None:
            counts["par"] = float(np.nansum(par))
            counts["negative"] = int(np.count_nonzero(par < 0))
            counts["sized par"] = int(np.count_nonzero(par > 0))
            counts["small par"] = int(np.count_nonzero((par > 0) & (par < LOAN_MIN)))
        if unfunded is not None:
            counts["undrawn"] = int(np.count_nonzero(unfunded > 0))
        for odd in ODD:
            counts[odd.words] = int(np.count_nonzero(odd.find(portfolio)))
    for target in ("price", "maturity_date"):
        if target in numbers:
            counts["blank " + target] = int(np.count_nonzero(np.isnan(numbers[target])))
    counts["unrated"] = int(np.count_nonzero(_find_unrated(portfolio)))
    return counts


def _find_unrated(portfolio: PortfolioData) -> NDArray[np.bool_]:
    """Return loans without a rating; none where no column has any."""
    fields = [target for target in AGENCY_OF if target in portfolio.ranks]
    if not fields:
        return np.zeros(portfolio.row_count, np.bool_)
    unrated = ~np.any([portfolio.ranks[target] > 0 for target in fields], axis=0)
    return unrated & ~_find_masked_rows(portfolio, fields) if unrated.any() else np.asarray(unrated, np.bool_)


def count_days(portfolio: PortfolioData) -> LoanCounts:
    """Return what the checks of the deal's days ask of every loan."""
    counts, deal = LoanCounts(), portfolio.deal
    maturity = portfolio.numbers.get("maturity_date")
    if maturity is None or not portfolio.row_count:
        return counts
    with np.errstate(invalid="ignore"):
        for name, find in OF_DAYS.items():
            counts[name] = int(np.count_nonzero(find(portfolio)))
        if deal.stated_maturity is not None:
            counts["late"] = int(np.count_nonzero(maturity > deal.stated_maturity))
    return counts


def _find_masked_rows(portfolio: PortfolioData, targets: list[str]) -> NDArray[np.bool_]:
    """Return loans with a rating that is known and not shown."""
    rows = np.zeros(portfolio.row_count, np.bool_)
    for target in targets:
        names = portfolio.names.get(target)
        if names is not None:
            rows |= np.array([*(is_masked(text) for text in names.values), False], np.bool_)[names.codes]
    return rows


def doubts(portfolio: PortfolioData, counts: LoanCounts | None = None) -> list[DataWarning]:
    """Return what to know before a figure is trusted, in the order of `CHECKS`.

    `counts` are those of all loans, where they were counted elsewhere.
    """
    counts = count_loans(portfolio) if counts is None else counts
    return [warning for check in CHECKS for warning in check(portfolio, counts)]


def with_days(
    portfolio: AnyPortfolio,
    days: Mapping[str, date | None],
    whose: str,
    *,
    first: bool,
    counts: LoanCounts | None = None,
) -> AnyPortfolio:
    """Return the portfolio with somebody's days of the deal.

    They fill what the file leaves open, or go before it.

    A warning tells where the two differ, and what these days make doubtful is told anew.

    Args:
        days: fields of `Deal` and their days; None says nothing.
        whose: as a warning calls it.
        first: they go before the file's.
        counts: of all loans by these days, where they were counted elsewhere.
    """
    deal, warnings = portfolio.deal, []
    new_days: dict[str, Any] = {}
    for name, day in days.items():
        if day is None:
            continue
        own, day_number = getattr(deal, name), float((day - EPOCH).days)
        if own is None or first:
            new_days[name] = day_number
        if own is not None and own != day_number:
            which = f"{whose} counts" if first else "the file counts"
            message = f"the {name.replace('_', ' ')} is {day_of(own)} by the file and {day} by {whose}: {which}"
            warnings.append(DataWarning("deal_days_differ", message))
    if not new_days and not warnings:
        return portfolio
    dated = replace(portfolio, deal=replace(deal, **new_days))
    other_warnings = [warning for warning in portfolio.notes.warnings if warning.code not in _OF_DAYS]
    counts = count_days(dated) if counts is None else counts
    return replace(dated, notes=replace(portfolio.notes, warnings=[*other_warnings, *warnings, *_days(dated, counts)]))


def _check_required_fields(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    if missing := portfolio.notes.missing_required:
        yield DataWarning(
            "required_missing",
            f"no column of {portfolio.sheet_name!r} is {', '.join(missing)}: it is required",
            fields=tuple(missing),
        )


def _commitment(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    header = portfolio.notes.matched_columns.get("par_value", "")
    if any(warning.code == "par_less_unfunded" for warning in portfolio.notes.warnings):
        return
    if key(header).startswith("commitment"):
        undrawn = int(counts["undrawn"])
        if undrawn:
            message = f"par is the column {header!r}, with what {_of(undrawn, portfolio, 'has/have')} not drawn"
            yield DataWarning("par_is_commitment", message, undrawn)


def _par_beside_notes(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    tranches = portfolio.tranches
    if "par_value" not in portfolio.numbers or tranches is None:
        return
    assets = counts["par"] + (portfolio.deal.principal_cash or 0.0)
    notes = float(np.nansum(tranches.current_balance))
    if assets <= 0 or notes <= 0:
        return
    times = assets / notes
    text = f"the loans and principal cash are {assets:,.2f}, the notes {notes:,.2f}"
    if times > SCALE_MIN or times < 1 / SCALE_MIN:
        yield DataWarning("par_scale", f"{text}: one of them is in thousands or millions")
    elif not BESIDE_NOTES[0] <= times <= BESIDE_NOTES[1]:
        yield DataWarning("par_unlike_notes", f"{text}: loans or notes are missing, or counted twice")


def _par_alone(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    """Yield a doubt on par of unusual size for loans where no notes tell its unit."""
    tranches, small = portfolio.tranches, int(counts["small par"])
    if tranches is not None and np.nansum(tranches.current_balance) > 0:
        return
    if counts["sized par"] >= LOANS_MIN and 2 * small > counts["sized par"]:
        message = f"par of {_of(small, portfolio)} is below {LOAN_MIN:,.0f}: it may be in thousands or millions"
        yield DataWarning("unit_doubtful", message, small, ("par_value",))
    elif counts["par"] > LOAN_MAX * max(1.0, counts["sized par"]):
        count = int(counts["sized par"])
        message = f"par of {_of(count, portfolio)} is above {LOAN_MAX:,.0f} on average: its unit may be another one"
        yield DataWarning("unit_doubtful", message, count, ("par_value",))


_OF_DAYS: Final = frozenset(("as_of_outside_life", "past_maturity", "far_maturity", "matures_after_deal"))


def _days(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    deal, day = portfolio.deal, portfolio.deal.as_of
    if day is not None and deal.closing_date is not None and day < deal.closing_date:
        yield DataWarning(
            "as_of_outside_life", f"the day {day_of(day)} is before the deal closed, {day_of(deal.closing_date)}"
        )
    if day is not None and deal.stated_maturity is not None and day > deal.stated_maturity:
        yield DataWarning(
            "as_of_outside_life", f"the day {day_of(day)} is after the deal's maturity, {day_of(deal.stated_maturity)}"
        )
    if "maturity_date" not in portfolio.numbers or not portfolio.row_count:
        return
    if day is not None:
        past, far = int(counts["past"]), int(counts["far"])
        if past:
            message = f"{_of(past, portfolio)} matured before {day_of(day)}: life 0"
            yield DataWarning("past_maturity", with_places(message, portfolio, OF_DAYS["past"]), past)
        if far:
            message = (
                f"{_of(far, portfolio, 'matures/mature')} more than {LIFE_YEARS_MAX:g} years after {day_of(day)}: the "
                "one date or the other is doubtful"
            )
            yield DataWarning("far_maturity", with_places(message, portfolio, OF_DAYS["far"]), far)
    if deal.stated_maturity is not None:
        late = int(counts["late"])
        if late > AFTER_MATURITY_MIN * portfolio.row_count:
            yield DataWarning(
                "matures_after_deal",
                f"{_of(late, portfolio, 'matures/mature')} after the deal, {day_of(deal.stated_maturity)}",
                late,
            )


def _odd_loans(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    for code, fields, find, words in ODD:
        if count := int(counts[words]):
            message = with_places(words.format(_of(count, portfolio)), portfolio, find)
            yield DataWarning(code, message, count, fields)


def _shares(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    count = portfolio.row_count
    if not count:
        return
    if missing := int(counts["unrated"]):
        message = f"{_of(missing, portfolio, 'has/have')} no rating of any agency"
        yield DataWarning("no_rating", with_places(message, portfolio, _find_unrated), missing)
    if portfolio.lien is not None and (missing := portfolio.notes.lien_blank_rows or 0) >= SHARE_MIN * count:
        yield DataWarning(
            "no_lien",
            f"{counted(missing, 'row', 'does/do')} not say {agreed(missing, 'its/their')} lien: first lien",
            missing,
        )
    for code, target, words in (
        ("no_price", "price", "no price"),
        ("no_maturity", "maturity_date", "no maturity that can be read"),
    ):
        missing = int(counts["blank " + target]) if target in portfolio.numbers else count
        if missing >= SHARE_MIN * count:
            yield DataWarning(code, f"{_of(missing, portfolio, 'has/have')} {words}", missing)


_COUNTS: Final = (
    ("lien_unrecognised", "lien_unrecognised_rows", "row",
     "has words for a lien that say none: not first lien/have words for a lien that say none: not first lien"),
    ("rows_without_par", "loans_without_par", "row",
     "looks like a loan and has no par that can be read: it is left out/"
     "look like loans and have no par that can be read: they are left out"),
    ("rows_after_end", "rows_after_end", "row",
     "below the end of the table looks like a loan, and is left out/"
     "below the end of the table look like loans, and are left out"),
    ("unidentified_rows", "unidentified_rows", "row",
     "has a par, and no name or identifier: it is left out/have a par, and no name or identifier: they are left out"),
    ("error_cells", "error_cells", "cell", "holds an error, and counts as blank/hold an error, and count as blank"),
    ("conflicting_lots", "conflicting_lots", "position",
     "has lots that differ in a rating or the maturity/have lots that differ in a rating or the maturity"),
    ("destroyed_identifiers", "destroyed_identifiers", "identifier",
     "is lost: a spreadsheet made a number of it/are lost: a spreadsheet made numbers of them"),
)  # fmt: skip
"""Code, count in `Notes`, what it is of, what is said of one and of several."""


def _negative(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    """Yield positions that are negative with all their lots.

    An unsettled sale that nets with its position is none.
    """
    count = portfolio.notes.negative_par_rows
    if count and counts["negative"]:
        words = "has a negative par, which lowers the sums/have a negative par, which lowers the sums"
        message = with_places(counted(count, "row", words), portfolio, lambda loans: loans.numbers["par_value"] < 0)
        yield DataWarning("negative_par", message, count)


def _rows(portfolio: PortfolioData, counts: LoanCounts) -> Iterator[DataWarning]:
    notes = portfolio.notes
    for code, name, noun, words in _COUNTS:
        if count := getattr(notes, name):
            yield DataWarning(code, notes.with_rows_of(name, counted(count, noun, words), count), count)
    for target, count in sorted(notes.unreadable_cells.items()):
        message = f"{counted(count, 'cell')} of {target} cannot be read, and {agreed(count, 'counts/count')} as blank"
        yield DataWarning("unreadable_cells", notes.with_rows_of(target, message, count), count, (target,))


def _of(count: int, portfolio: PortfolioData, verb: str = "") -> str:
    """Return a count of the loans, with its half of the verb "has/have"."""
    text = f"{count:,} of {counted(portfolio.row_count, 'loan')}"
    return f"{text} {agreed(count, verb)}" if verb else text


CHECKS: Final[tuple[Callable[[PortfolioData, LoanCounts], Iterator[DataWarning]], ...]] = (
    _check_required_fields, _commitment, _par_beside_notes, _par_alone, _days, _odd_loans, _shares, _negative, _rows,
)  # fmt: skip
"""Every check of a portfolio; what pages say of each other is noted where they are read."""
