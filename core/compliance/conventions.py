"""A portfolio as a deal's definition sees it.

Ratings by their ladder, recoveries, obligors, industries and home.

What is masked is rated, and the rating is not shown: `core.portfolio.model.ratings.MASKED` in the place of a rank where
the definition leaves it out, else what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance.masks import has_infinite
from core.definition.choices import BY_NAME, Setting, with_settings
from core.definition.definition import AgencyRatings, Definition, Family, ParValue, Ratings
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.cells.parsing import TextColumn, currency, pool_of
from core.portfolio.model.facts import Agency
from core.portfolio.model.fields import Lien
from core.portfolio.model.interpretation import Choice
from core.portfolio.model.portfolio import Deal, Names, defaulted_loans
from core.portfolio.model.ratings import (
    CCC,
    DEFAULTED,
    FACTORS,
    MASKED,
    UNBUCKETED,
    is_masked,
    is_not_rated,
    rank,
    watch,
)
from core.portfolio.pages.identify import name_keys

DEFAULT: Final = Definition()
"""What holds without a definition."""

_FIRST: Final = AgencyRatings(columns=("any",))

PLAIN: Final = Definition(standard=True, ratings=Ratings(_FIRST, _FIRST, _FIRST))
"""The suites' own defaults as a market's standard: what choices of a reading change where no ready-made one decides."""

BBB_MINUS: Final = 10
"""The worst rank of investment grade."""

WORST_NOTCHED: Final = 21
"""A rating that is notched down becomes no default."""

UNRATED_SHARE_MAX: Final = 0.5
"""Share of loans without a rating of any agency above which they are private credit, and no CCC for that."""

DEFAULTED_AT: Final = {"lower": 0, "market_value": 1, "recovery": 2, "none": 3}

Assumed = Literal["value", "best", "worst"]
"""What ratings that are masked or missing are taken for under `bounds`: the definition's own word, or the ends of their
range."""

Bools = NDArray[np.bool_]
Ranks = NDArray[np.uint8]


class Rules(NamedTuple):
    """What the compiled pass asks of a definition, in its order.

    Percent of par, years, money.
    """

    discount: float
    discount_fixed: float
    release: float
    release_fixed: float
    worthless_years: float
    unquoted_ccc_price: float
    small_home: float
    small_abroad: float
    defers: bool
    defaulted_at: int


class FiniteColumns(Mapping[str, NDArray[np.float64]]):
    """Columns of numbers with what is infinite left blank.

    Each is looked at when it is first read: compiled passes, which read most of them, take the infinite for blank.
    """

    def __init__(self, columns: Mapping[str, NDArray[np.float64]]) -> None:
        self._columns = columns
        self._finite: dict[str, NDArray[np.float64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        column = self._finite.get(name)
        if column is None:
            column = self._columns[name]
            self._finite[name] = column = np.where(np.isinf(column), nan, column) if has_infinite(column) else column
        return column

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(slots=True)
class View:
    """The columns that the compiled pass walks, and each agency's ratings by its ladder."""

    columns: dict[str, NDArray[np.float64]]
    """Columns of numbers for compiled passes."""
    names: dict[str, Names]
    flags: dict[str, NDArray[np.uint8]]
    ranks: dict[str, Ranks]
    lien: NDArray[np.uint8] | None
    home: int
    rules: Rules
    factors: tuple[float, ...]
    """By rank, 0 to UNBUCKETED: what the suites' rating factor takes a loan for; NaN leaves it out."""
    is_mostly_unrated: bool = False
    """Whether no agency rates most loans, as in private credit, and no definition says what these count as: they are in
    no CCC bucket then."""
    unrated_rows: int = 0
    """Loans of which the file says that no agency rates them, where no definition says what these count as."""
    has_bounds: bool = False
    """Whether a rating that is masked or missing is anywhere between two."""
    recovery_agency: str | None = None
    """Whose recovery rates the weighted average is of; None where nothing says."""
    industry_agency: str | None = None
    """Whose industries `industry` are; None where nothing says."""
    diversity_field: str = "industry"
    """Name of the industries by which Moody's diversity goes: those of the tests, unless a definition takes another
    agency's for these."""
    affiliates: list[tuple[str, str]] = field(default_factory=list)
    """Obligors that were joined to another by their names: (its name, the other's)."""
    numbers: FiniteColumns = field(init=False)
    """The same columns for everything else."""

    def __post_init__(self) -> None:
        self.numbers = FiniteColumns(self.columns)

    def defaulted(self, portfolio: Portfolio) -> NDArray[np.bool_]:
        """Which loans are defaulted by the ratings as they are seen here."""
        as_of = portfolio.deal.as_of
        known = as_of if as_of is not None and isfinite(as_of) else None
        return defaulted_loans(portfolio.row_count, self.columns, self.flags, self.ranks, known)


def cash_of(deal: Deal, definition: Definition) -> float:
    """Principal cash as the conventions count it."""
    cash, counts = deal.principal_cash, definition.conventions.principal_cash
    if cash is None or not isfinite(cash) or counts == "none":
        return 0.0
    return max(0.0, cash) if counts == "positive" else cash


def currency_of(portfolio: Portfolio, recorded: str | None = None) -> str | None:
    """Return the currency that decides on a market's standard.

    The file's, else that of most loans, else the deal's record.
    """
    if portfolio.deal.currency is not None:
        return currency(portfolio.deal.currency)
    column = portfolio.names.get("currency")
    if column is None or not 0 < len(column.values) <= CURRENCIES_MAX:
        return recorded
    counts: dict[str, int] = {}
    for code, name in enumerate(map(currency, column.values)):
        counts[name] = counts.get(name, 0) + int(np.count_nonzero(column.codes == code))
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else recorded


def standard_of(portfolio: Portfolio) -> Definition | None:
    """Return the ready-made definition by which a portfolio without one goes.

    `euro` by its currency; None where that is `us_bsl`, which the suites' own defaults stand for.
    """
    code = currency_of(portfolio)
    if code is None:
        return None
    from core.definition import READY, ready_for  # with them comes the formula engine, which other runs do without

    name = ready_for(code)
    return None if name == "us_bsl" else READY[name]


def definition_for(portfolio: Portfolio, definition: Definition | str | None) -> Definition | None:
    """Return the rules that decide.

    A definition, the ready-made one of a name, or where none is given the market's, with the choices that the file's
    own figures decided.

    A definition whose document names no base is put over that of its market, as a run without one goes by it.

    Raises:
        UnknownDefinition: no ready-made definition has the name.
    """
    if isinstance(definition, str):
        from core.definition import definition_of

        return definition_of(definition)
    if definition is None:
        return _with_choices(standard_of(portfolio), portfolio)
    if definition.standard:
        return _with_choices(definition, portfolio)
    return definition if definition.base is not None else _under_market(portfolio, definition)


def _under_market(portfolio: Portfolio, definition: Definition) -> Definition:
    """Return a definition over the standard of its market, by its own currency, else the file's."""
    code = definition.conventions.currency or currency_of(portfolio)
    if code is None:
        return definition
    from core.definition import READY, ready_for, under_market

    name = ready_for(code)
    return definition if name == "us_bsl" else under_market(definition, READY[name], name)


def _with_choices(standard: Definition | None, portfolio: Portfolio) -> Definition | None:
    """Return a market's standard, changed by what the file's own figures decided.

    None for the suites' own defaults.
    """
    if portfolio.interpretation is None:
        return standard
    settings = [setting for choice in portfolio.interpretation.changed for setting in _settings_of(choice)]
    return with_settings(PLAIN if standard is None else standard, settings) if settings else standard


def _settings_of(used: Choice) -> tuple[Setting, ...]:
    """Return the settings of a reading, or none for one of an earlier version."""
    known = BY_NAME.get(used.name)
    options = () if known is None else known.options
    return next((option.sets for option in options if option.name == used.reading.option), ())


def is_plain(definition: Definition | None) -> bool:
    """Return whether the suites' own defaults decide, with or without choices of a reading."""
    return definition is None or definition is DEFAULT or (definition.standard and definition.name is None)


CURRENCIES_MAX: Final = 200
"""Distinct texts of a column that names currencies."""


class AllLoans(NamedTuple):
    """What the view of some loans takes from all loans of their file."""

    is_mostly_unrated: bool
    recovery_agency: str | None
    """The agency whose recovery rates the general ones are; None where no agency's are."""


def view_of(
    portfolio: Portfolio, definition: Definition | None, assumed: Assumed = "value", of_all: AllLoans | None = None
) -> View:
    """Return the portfolio under a definition's conventions.

    None for those of the suites. `of_all` is given where these are some of the file's loans.
    """
    if definition is None:
        return _plain(portfolio, of_all)
    view = View(
        dict(portfolio.numbers),
        dict(portfolio.names),
        dict(portfolio.flags),
        dict(portfolio.ranks),
        _liens(portfolio),
        0,
        _rules(definition),
        _suite_factors(definition, assumed),
    )
    if is_plain(definition) and _with_agencies_of(definition, PLAIN) == definition:
        view.ranks = _plain_ranks(portfolio)
    else:
        _rate(view, portfolio, definition, assumed)
    if is_plain(definition) or (definition.ratings.unrated_is_ccc and definition.leaves(*_SAY_UNRATED)):
        _set_apart_unrated(view, portfolio, of_all)
    _take_industry(view, portfolio, definition)
    _take_diversity(view, definition.classifications.diversity, portfolio.names.get("industry"))
    join_families(view, definition)
    _find_home(view, definition.conventions.home_countries)
    _take_recoveries(view, portfolio, definition.ratings.recovery, of_all)
    _carry_categories(view, portfolio, definition)
    return view


def _plain(portfolio: Portfolio, of_all: AllLoans | None) -> View:
    """By the suites' conventions: the columns as they are, but for masked ratings."""
    countries = portfolio.names.get("country")
    home = countries.values.index("US") if countries is not None and "US" in countries.values else -2
    ranks = _plain_ranks(portfolio)
    view = View(
        dict(portfolio.numbers), portfolio.names, portfolio.flags, ranks, _liens(portfolio), home, _RULES, _FACTORS
    )
    _set_apart_unrated(view, portfolio, of_all)
    _take_industry(view, portfolio, None)
    _take_recoveries(view, portfolio, (), of_all)
    return view


def _with_agencies_of(definition: Definition, source: Definition) -> Definition:
    """Return the definition with another's ratings, its own recoveries."""
    return replace(definition, ratings=replace(source.ratings, recovery=definition.ratings.recovery))


def _plain_ranks(portfolio: Portfolio) -> dict[str, Ranks]:
    """Return the ratings as they are, but for those that every agency masks."""
    ranks = portfolio.ranks
    masked = _masked_by_all(portfolio)
    if masked is None:
        return dict(ranks)
    own = ranks.get("rating")
    own = np.zeros(portfolio.row_count, np.uint8) if own is None else own
    return {**ranks, "rating": np.where(masked & (own == 0), np.uint8(MASKED), own)}


def _set_apart_unrated(view: View, portfolio: Portfolio, of_all: AllLoans | None) -> None:
    """Take loans that no agency rates out of the CCC buckets, where most are such and no definition says otherwise."""
    if portfolio.names.keys().isdisjoint(_AGENCY_FIELDS) and (of_all is None or not of_all.is_mostly_unrated):
        return  # ratings that came as ranks say of no loan that nobody rates it
    unrated = _unrated(portfolio)
    view.unrated_rows = int(np.count_nonzero(unrated))
    view.is_mostly_unrated = (
        are_mostly_unrated(view.unrated_rows, portfolio.row_count) if of_all is None else of_all.is_mostly_unrated
    )
    if view.is_mostly_unrated:
        own = view.ranks.get("rating", np.zeros(portfolio.row_count, np.uint8))
        view.ranks = {**view.ranks, "rating": np.where(unrated & (own == 0), np.uint8(UNBUCKETED), own)}


def are_mostly_unrated(unrated_rows: int, rows: int) -> bool:
    """Return whether so many loans without a rating of any agency are private credit, and no CCC for that."""
    return unrated_rows > UNRATED_SHARE_MAX * rows


def _unrated(portfolio: Portfolio) -> NDArray[np.bool_]:
    """Loans of which the file says that no agency rates them; a blank says nothing."""
    says_none = np.zeros(portfolio.row_count, np.bool_)
    for column in _AGENCY_FIELDS:
        texts = portfolio.names.get(column) if column in portfolio.ranks else None
        if texts is not None:
            codes = [code for code, text in enumerate(texts.values) if is_not_rated(text) and not is_masked(text)]
            if codes:
                says_none |= _have_code(texts, codes)
    for ranks in portfolio.ranks.values() if says_none.any() else ():
        says_none &= ranks == 0
    return says_none


def _masked_by_all(portfolio: Portfolio) -> NDArray[np.bool_] | None:
    """Loans that no agency rates openly and one or more rate behind a mask.

    None where there are none.
    """
    masked_by_every: NDArray[np.bool_] | None = None
    for column in _AGENCY_FIELDS:
        if column in portfolio.ranks and (masked := masked_rows(portfolio, column)) is not None:
            masked_by_every = masked if masked_by_every is None else masked_by_every | masked
    if masked_by_every is None:
        return None
    for column in _AGENCY_FIELDS:
        if column in portfolio.ranks:
            masked_by_every = masked_by_every & (portfolio.ranks[column] == 0)
    return masked_by_every if masked_by_every.any() else None


_SAY_UNRATED: Final = ("ratings.unrated_is_ccc", *(f"ratings.{agency}.unrated" for agency in AGENCIES))
"""Keys of a definition that say what a loan without a rating counts as."""

_AGENCY_FIELDS: Final = tuple(f"rating_agency_{agency}" for agency in AGENCIES)


def masked_rows(portfolio: Portfolio, field: str) -> NDArray[np.bool_] | None:
    """Rows whose rating is masked in a column; None where none is."""
    texts, ranks = portfolio.names.get(field), portfolio.ranks[field]
    codes = [] if texts is None else [code for code, text in enumerate(texts.values) if is_masked(text)]
    if texts is None or not codes or ranks.all():
        return None
    rows = _have_code(texts, codes) & (ranks == 0)
    return rows if rows.any() else None


CODES_COMPARED_MAX: Final = 4
"""Codes for which comparing all rows with each is faster than a table: 10 us for 100,000 rows beside 90."""


def _have_code(names: Names, codes: list[int]) -> NDArray[np.bool_]:
    """Return which rows have one of some codes."""
    if len(codes) > CODES_COMPARED_MAX:
        table = np.zeros(len(names.values) + 1, np.bool_)  # the last for a blank
        table[codes] = True
        return table[names.codes]
    rows = np.zeros(len(names.codes), np.bool_)
    for code in codes:
        rows |= names.codes == code
    return rows


def _rules(definition: Definition) -> Rules:
    par, conventions = definition.par_value, definition.conventions
    return Rules(
        par.discount_below if par.discount else -1.0,
        par.discount_below_fixed if par.discount else -1.0,
        par.discount_release,
        par.discount_release_fixed,
        par.defaulted_zero_after_years,
        par.ccc_unpriced,
        conventions.small_facility_home,
        conventions.small_facility_abroad,
        par.deferring,
        DEFAULTED_AT[par.defaulted],
    )


# ---- ratings


def counted_as(policy: str | float | None, factors: Sequence[float]) -> tuple[int, float]:
    """(rank, factor) of what a rating counts as.

    Rank 0 where it is a factor alone, factor NaN where it is left out.
    """
    if isinstance(policy, float | int):
        return 0, float(policy)
    symbol = rank(policy) if policy is not None else 0
    return (symbol, factors[symbol - 1]) if symbol else (0, nan)


def policy_of(ratings: AgencyRatings, kind: Literal["masked", "unrated"], assumed: Assumed) -> str | float | None:
    """Return what a masked rating, or a loan without one, counts as."""
    policy: str | float = getattr(ratings, kind)
    return getattr(ratings, f"{kind}_{assumed}") if policy == "bounds" else policy


def _suite_factors(definition: Definition, assumed: Assumed = "value") -> tuple[float, ...]:
    ratings = definition.ratings.a
    unrated = counted_as(policy_of(ratings, "unrated", assumed), FACTORS)[1]
    masked = counted_as(ratings.masked, FACTORS)[1]
    return (unrated, *map(float, FACTORS), masked, unrated)


_RULES: Final = _rules(DEFAULT)
_FACTORS: Final = _suite_factors(DEFAULT)


def _rate(view: View, portfolio: Portfolio, definition: Definition, assumed: Assumed) -> None:
    """Each agency's ranks by its ladder, into the columns of the pass."""
    shown = {agency: _show(portfolio, agency, definition) for agency in AGENCIES}
    nobody: Bools | None = None
    masked_anywhere: Bools | None = None
    for agency in AGENCIES:
        ratings: AgencyRatings = getattr(definition.ratings, agency)
        if shown[agency][0] is None:
            continue  # an agency that rates nothing in the file is none of the deal's
        ranks, has_masks = _ladder(agency, shown, ratings, assumed)
        view.has_bounds |= has_masks and ratings.masked == "bounds"
        column = f"rating_agency_{agency}"
        view.ranks[f"{column}_ladder"] = view.ranks[column] = ranks
        blank = ranks == 0
        nobody = blank if nobody is None else nobody & blank
        view.has_bounds |= ratings.unrated == "bounds" and bool(blank.any())
        if len(ranks) and ranks[ranks.argmax()] >= MASKED:
            masked = ranks == MASKED
            view.ranks[column] = np.where(masked, np.uint8(0), ranks)
            masked_anywhere = masked if masked_anywhere is None else masked_anywhere | masked
    nobody = np.ones(portfolio.row_count, np.bool_) if nobody is None else nobody
    _rate_deal(view, definition, assumed, nobody, masked_anywhere)


def _ladder(
    agency: str, shown: Mapping[str, tuple[Ranks | None, Bools | None]], ratings: AgencyRatings, assumed: Assumed
) -> tuple[Ranks, bool]:
    """(an agency's ranks, whether some of its ratings are masked).

    Its own, else another's notched down.
    """
    own, masked = shown[agency]
    assert own is not None
    ranks, open_rows = own, masked  # copied where one changes
    for source in ratings.notched_from:
        theirs, _ = shown[source]
        if theirs is None:
            continue
        take = (ranks == 0) & (theirs > 0)
        if masked is not None and ratings.masked != "other_agency":
            take &= ~masked
        if np.count_nonzero(take):
            ranks = ranks.copy()
            ranks[take] = notched(theirs[take], ratings)
            open_rows = None if open_rows is None else open_rows & ~take
    if masked is None or open_rows is None or not masked.any():
        return ranks, False
    counts, _ = counted_as(policy_of(ratings, "masked", assumed), FACTORS)
    ranks = ranks.copy()
    ranks[open_rows] = counts or MASKED
    return ranks, True


def _rate_deal(
    view: View, definition: Definition, assumed: Assumed, nobody: Bools, masked_anywhere: Bools | None
) -> None:
    """Set the deal's own ranks for loans that no agency rates, or one masks."""
    deal_ranks = view.ranks.get("rating")
    alone = nobody if deal_ranks is None else nobody & (deal_ranks == 0)
    has_alone = np.count_nonzero(alone) > 0
    if not has_alone and masked_anywhere is None:
        return
    deal = np.zeros(len(nobody), np.uint8) if deal_ranks is None else deal_ranks.copy()
    without = deal == 0
    if has_alone:
        if not _is_unrated_ccc(definition, assumed):
            deal[alone] = UNBUCKETED
        view.has_bounds |= any(getattr(definition.ratings, agency).unrated == "bounds" for agency in AGENCIES)
    if masked_anywhere is not None:
        deal[~nobody & masked_anywhere & without] = MASKED
    if deal_ranks is not None or deal.any():
        view.ranks["rating"] = deal


def _is_unrated_ccc(definition: Definition, assumed: Assumed) -> bool:
    """Return whether a loan that no agency rates is in the CCC buckets.

    Under bounds, whether it may be, or must be.
    """
    bounded = [ratings for agency in AGENCIES if (ratings := getattr(definition.ratings, agency)).unrated == "bounds"]
    symbols = [symbol for ratings in bounded if (symbol := getattr(ratings, f"unrated_{assumed}")) is not None]
    if not symbols:
        return definition.ratings.unrated_is_ccc
    are_ccc = [rank(symbol) >= CCC for symbol in symbols]
    return all(are_ccc) if assumed == "best" else any(are_ccc)


def notched(ranks: Ranks, ratings: AgencyRatings) -> Ranks:
    """Another agency's ranks, as many notches down as the definition says."""
    down = np.where(ranks <= BBB_MINUS, ratings.notches_investment_grade, ratings.notches_below)
    return np.minimum(ranks + down, WORST_NOTCHED).astype(np.uint8)


def own_ranks(portfolio: Portfolio, agency: str, definition: Definition) -> Ranks | None:
    """Return the agency's own ratings as a definition reads them, or None."""
    return _show(portfolio, agency, definition)[0]


def _columns(portfolio: Portfolio, agency: str, definition: Definition) -> tuple[str, ...]:
    """Return the columns of an agency's ratings to read.

    Where the definition leaves that to the file, the one that the file's own tests go by is the first; `derived` stays
    where that is the same column, since its watch has moved it already.
    """
    columns: tuple[str, ...] = getattr(definition.ratings, agency).columns
    if not definition.leaves(f"ratings.{agency}.columns"):
        return columns
    field, cells = f"rating_agency_{agency}", portfolio.source_cells
    if f"{field}_derived" not in portfolio.ranks or cells.get(field) == cells.get(f"{field}_derived"):
        return columns
    return ("any", *(column for column in columns if column != "any"))


def _show(portfolio: Portfolio, agency: str, definition: Definition) -> tuple[Ranks | None, Bools | None]:
    """(ranks, masked) of an agency's own ratings, masked None where none is.

    The first of its columns that shows one, moved by its watch; None where the file has none of its columns.
    """
    worst: Ranks | None = None
    ratings: AgencyRatings = getattr(definition.ratings, agency)
    masked: Bools | None = None
    for column in _columns(portfolio, agency, definition):
        field = f"rating_agency_{agency}" + ("" if column == "any" else f"_{column}")
        ranks = portfolio.ranks.get(field)
        if ranks is None:
            continue
        hidden = masked_rows(portfolio, field)
        if hidden is not None:
            masked = hidden if masked is None else masked | hidden
        moved = ranks if column == "derived" else _watch(portfolio, field, agency, ranks, ratings)
        worst = moved if worst is None else np.where(worst == 0, moved, worst)
    if worst is None:
        return None, None
    return worst, None if masked is None else masked & (worst == 0)


def _watch(portfolio: Portfolio, field: str, agency: str, ranks: Ranks, ratings: AgencyRatings) -> Ranks:
    """Move ratings on watch as the definition says; derived ones are moved already."""
    if not (ratings.watch_negative or ratings.watch_positive):
        return ranks
    moves = np.zeros(portfolio.row_count, np.int16)
    for name in (field, f"watch_{agency}"):
        texts = portfolio.names.get(name)
        if texts is not None and (ways := [watch(text) for text in texts.values]) and any(ways):
            moves_by_row = np.array([*ways, 0], np.int16)[texts.codes]
            moves = np.where(moves_by_row != 0, moves_by_row, moves)
    if not moves.any():
        return ranks
    steps = np.where(moves < 0, ratings.watch_negative, np.where(moves > 0, -ratings.watch_positive, 0))
    moved = np.clip(ranks.astype(np.int16) + steps, 1, WORST_NOTCHED)
    return np.where((ranks == 0) | (ranks == DEFAULTED), ranks, moved).astype(np.uint8)


# ---- obligors, industries, home, recoveries


def _liens(portfolio: Portfolio) -> NDArray[np.uint8] | None:
    """Return the liens, where a flag alone says what is a bond."""
    is_bond, lien = portfolio.flags.get("is_bond"), portfolio.lien
    if is_bond is None or not is_bond.any():
        return lien
    if lien is None:
        return np.where(is_bond != 0, np.uint8(Lien.BOND), np.uint8(Lien.BLANK))
    unsaid = (lien == Lien.BLANK) | (lien == Lien.OTHER)
    return np.where(unsaid & (is_bond != 0), np.uint8(Lien.BOND), lien)


FILES_INDUSTRY: Final = "industry_of_file"
"""Name of the file's own industries, where a definition takes an agency's for its tests."""


def _take_industry(view: View, portfolio: Portfolio, definition: Definition | None) -> None:
    """Take the industries of the agency that the definition names, else of the only one by whose industries the file
    prints
    tests, else the file's general ones.

    None of this moves Moody's diversity: it goes by the general ones, or by Moody's where these are another agency's or
    there are none.
    """
    own = agency_of(portfolio, "industry")
    printed = printed_agency(portfolio, "industry") if portfolio.facts.all else None
    chosen: str | None = printed
    if definition is not None and definition.classifications.industry != "any":
        chosen = definition.classifications.industry
    column, general = view.names.get(f"industry_{chosen}"), view.names.get("industry")
    has_moodys = "industry_a" in view.names and (general is None or own in ("b", "c"))
    if has_moodys and chosen != "a":
        view.diversity_field = "industry_a"
    if column is None:
        view.industry_agency = own or printed
        return
    view.names = dict(view.names)
    if general is not None and not has_moodys and own != chosen:
        view.names[FILES_INDUSTRY] = general
        view.diversity_field = FILES_INDUSTRY
    view.names["industry"] = column
    view.industry_agency = chosen


def _take_diversity(view: View, stated: str | None, general: Names | None) -> None:
    """Take the industries of Moody's diversity where the definition names them.

    `general` are the file's own.
    """
    if stated is None:
        return
    view.diversity_field = "industry" if stated == "any" else f"industry_{stated}"
    if stated == "any" and general is not None and view.names["industry"] is not general:
        view.names[FILES_INDUSTRY] = general
        view.diversity_field = FILES_INDUSTRY


def join_families(view: View, definition: Definition) -> None:
    """One obligor for all names of a family, by the obligor's key or the borrower's name; then affiliates by name."""
    families, obligor = definition.classifications.families, view.names.get("obligor")
    if obligor is None:
        return
    if families:
        obligor = view.names["obligor"] = _with_families(view, obligor, families)
    if definition.classifications.affiliates_by_name and len(obligor.values) <= AFFILIATES_MAX:
        _join_affiliates(view, obligor)


AFFILIATES_MAX: Final = 20_000
"""Obligors up to which affiliates are looked for."""

NAME_LETTERS_MIN: Final = 4
"""Letters of a name that another one may begin with: a shorter one is shared by chance."""


def _join_affiliates(view: View, obligor: Names) -> None:
    """Join an obligor whose name begins with the whole name of another to that one."""
    root, joined = None, {}
    used = np.flatnonzero(np.bincount(obligor.codes + 1, minlength=len(obligor.values) + 1)[1:])
    for at in sorted(used.tolist(), key=obligor.values.__getitem__):
        name = obligor.values[at]
        if root is not None and name.startswith(obligor.values[root] + " "):
            joined[at] = root
        else:
            root = at if len(name) >= NAME_LETTERS_MIN and not name.isdigit() else None
    if joined:
        table = np.arange(-1, len(obligor.values), dtype=np.int32)
        table = np.append(table[1:], np.int32(-1))
        table[list(joined)] = list(joined.values())
        view.names["obligor"] = Names(table[obligor.codes], obligor.values)
        view.affiliates = [(obligor.values[at], obligor.values[to]) for at, to in joined.items()]


def _with_families(view: View, obligor: Names, families: tuple[Family, ...]) -> Names:
    family_of = {key: at for at, family in enumerate(families) for key in _keys(family.obligors)}
    first = len(obligor.values)
    table = np.array([*(family_of.get(key, -1) for key in _keys(obligor.values)), -1], np.int32)
    member = table[obligor.codes]
    borrower = view.names.get("borrower_name")
    if borrower is not None:
        by_name = np.array([*(family_of.get(key, -1) for key in _keys(borrower.values)), -1], np.int32)
        member = np.where(member < 0, by_name[borrower.codes], member)
    codes = np.where(member >= 0, member + np.int32(first), obligor.codes).astype(np.int32)
    return Names(codes, (*obligor.values, *(family.name for family in families)))


def _keys(texts: Sequence[str]) -> list[str]:
    """Return what tells companies apart, of each name."""
    named = name_keys(TextColumn(*pool_of(list(texts))))
    return [named.text[code] if code >= 0 else "" for code in named.codes.tolist()]


def _find_home(view: View, countries: tuple[str, ...]) -> None:
    """Set the code of the home country; several become one."""
    column = view.names.get("country")
    if column is None:
        view.home = -2
        return
    home = [code for code, name in enumerate(column.values) if name in countries]
    if len(home) < 2:
        view.home = home[0] if home else -2
        return
    table = np.arange(-1, len(column.values), dtype=np.int32)
    table = np.append(table[1:], np.int32(-1))
    table[home] = home[0]
    view.home = home[0]
    view.names["country"] = Names(table[column.codes], column.values)


def agency_of(portfolio: Portfolio, field: str) -> str | None:
    """Return the agency whose column feeds a general field, or None."""
    cells, general = portfolio.source_cells, portfolio.numbers.get(field)
    for agency in AGENCIES:
        own = f"{field}_{agency}"
        if field in cells and cells.get(own) == cells[field]:
            return agency
        column = portfolio.numbers.get(own)
        if general is not None and column is not None and np.array_equal(general, column, equal_nan=True):
            return agency
    return None


def printed_agency(portfolio: Portfolio, measure: str) -> Agency | None:
    """Return the agency for whose rates or industries the file prints a limit, where it is the only one."""
    if not portfolio.facts.all:
        return None
    limited = {
        fact.subject.agency
        for fact in portfolio.facts.of("test", measure)
        if fact.trigger is not None
        and fact.subject is not None
        and fact.subject.agency is not None
        and not fact.is_guessed
    }
    return limited.pop() if len(limited) == 1 else None


def _take_recoveries(view: View, portfolio: Portfolio, agencies: tuple[str, ...], of_all: AllLoans | None) -> None:
    """Take the recovery rates of the agencies that the definition names, else Moody's.

    The rates of the kinds of loans are on Moody's scale. The file's general ones count where these are blank and are
    no other agency's.
    """
    numbers = portfolio.numbers
    with_rates = [agency for agency in agencies if f"recovery_rate_{agency}" in numbers]
    of_general = agency_of(portfolio, "recovery_rate") if of_all is None else of_all.recovery_agency
    if "recovery_rate" not in numbers:
        of_general = next((agency for agency in AGENCIES if f"recovery_rate_{agency}" in numbers), None)
    if not with_rates and ("recovery_rate_a" not in numbers or (of_general == "a" and "recovery_rate" in numbers)):
        printed = printed_agency(portfolio, "warr")
        has_own = printed is not None and f"recovery_rate_{printed}" in numbers
        view.recovery_agency = of_general if of_general == "a" or not has_own else printed
        return
    with_rates = with_rates or ["a"]
    columns = [numbers[f"recovery_rate_{agency}"] for agency in with_rates]
    general = numbers.get("recovery_rate") if of_general in (None, with_rates[0]) else None
    lowest = columns[0]
    for column in columns[1:]:
        lowest = np.fmin(lowest, column)
    view.recovery_agency = with_rates[0]
    for name, column in (("recovery_rate", columns[0]), ("carrying_recovery", lowest)):
        view.columns[name] = column if general is None else np.where(np.isnan(column), general, column)


# ---- categories of the OC numerator that are limits themselves


def _carry_categories(view: View, portfolio: Portfolio, definition: Definition) -> None:
    """Percent of par at which long-dated and current pay loans are carried, where the definition carries them below."""
    par_value = definition.par_value
    if par_value.long_dated == par_value.current_pay == "par":
        return
    par = np.where(view.defaulted(portfolio) | np.isnan(view.numbers["par_value"]), 0.0, view.numbers["par_value"])
    cpa = float(par.sum()) + cash_of(portfolio.deal, definition)
    carried = np.full(portfolio.row_count, 100.0)
    price = view.numbers.get("price", np.full(portfolio.row_count, nan))
    for flag, way, limit, value in _categories(par_value):
        marked = view.flags.get(flag)
        if way == "par" or marked is None:
            continue
        rows = np.flatnonzero((marked != 0) & (par > 0))
        worth = np.zeros(len(rows)) if value is not None else np.clip(price[rows], 0.0, 100.0)
        worth = np.where(np.isnan(worth), par_value.ccc_unpriced, worth)
        # The cheapest loans are the excess; of one price, those further down the file.
        order = np.lexsort((-rows, worth))
        left = float(par[rows].sum()) if limit is None else max(0.0, float(par[rows].sum()) - limit / 100 * cpa)
        for at in order.tolist():
            if left <= 0:
                break
            row = rows[at]
            part = min(left, float(par[row]))
            left -= part
            share = part / float(par[row])
            carried[row] = min(carried[row], 100.0 - share * (100.0 - float(worth[at])))
    if (carried < 100.0).any():
        view.columns["carried_at"] = carried


def _categories(par: ParValue) -> list[tuple[str, str, float | None, float | None]]:
    """(flag, how it is carried, limit in percent, value; None for the market's) of each category."""
    return [
        ("is_long_dated", par.long_dated, par.long_dated_limit if par.long_dated == "excess_at_zero" else None, 0.0),
        (
            "is_current_pay",
            par.current_pay,
            par.current_pay_limit if par.current_pay == "excess_at_market" else None,
            None,
        ),
    ]
