"""Choose the columns of one sheet of loans, and type each once."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Workbook
from core.portfolio.cells import number_cells, scaling, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.scaling import RatesBeside, Scale
from core.portfolio.cells.string_pool import Cells, StringPool
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn, text_column
from core.portfolio.mapping import pipeline
from core.portfolio.mapping.funded import basis_place, funded_place, is_whole, part_place
from core.portfolio.mapping.names import NAMES
from core.portfolio.mapping.pipeline import FieldColumn, FieldWork, InUnit
from core.portfolio.mapping.rates import spread_place
from core.portfolio.model.facts import AGENCIES
from core.portfolio.model.fields import (
    IDENTIFIERS,
    KEYS,
    PROFILES,
    Field,
    Mapping,
)
from core.portfolio.model.ratings import AGENCY_OF
from core.portfolio.pages.currency import says_currency
from core.portfolio.sheets import table
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.columns.aliases import DENIED
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.shared_ratings import RatingParts, agencies_of, rating_parts
from core.portfolio.sheets.columns.vocabulary import heading
from core.portfolio.sheets.headings.days import is_before, of_earlier_days
from core.portfolio.sheets.headings.feeds import is_of_parent
from core.portfolio.sheets.located import LocatedTable
from core.portfolio.sheets.rows import pools
from core.portfolio.sheets.rows.above import fill_blanks

KINDS: Final = ("facility", "issuer", "final")
"""Further ratings of an agency, the first free one of which a column feeds."""

KINDS_OF_ROLE: Final = {"rating_facility": ("facility", "final"), "rating_issuer": ("issuer", "final")}
"""The same for a column whose heading says whose rating it is."""

RATE_COLUMNS_MAX: Final = 6
"""Columns of all-in rates that are compared."""

ZERO_RATES_MAX: Final = 0.5
"""Share of the loans without a rate in the first of them, above which another one that has it is the all-in rate."""

OF_RATING_PARTS: Final = 6.0
"""Weight of a column whose cells have the ratings of several agencies."""

RATING_COLUMNS_MAX: Final = 400
"""Columns that are asked for the ratings of several agencies."""

OF_COMPANIES: Final = frozenset(("issuer_id", "industry", "industry_b", "industry_c", "country"))
"""Fields that a row which names a company may say for its loans below, which have no name of their own."""

PRICE_LEAST: Final = 20.0
"""Percent of par that the middle one of a pool's prices is not below."""

PRICE_MOST: Final = 200.0


class SheetColumns:
    """Types the columns of one sheet of loans, each once.

    Args:
        with_blank_par: rows that are loans but for a blank par are read, too.
        par_place: the column of par; None chooses it by what the headings say.
    """

    def __init__(
        self,
        book: Workbook,
        located: LocatedTable,
        mapping: Mapping,
        *,
        with_blank_par: bool = False,
        par_place: int | None = None,
    ) -> None:
        self._sheet, self.header, self._flag = located.sheet, located.header, located.lists
        self._stored = book.sheets[self._sheet.index]
        """The sheet as it came; another one where columns of a scraped table were merged."""
        pool = StringPool(self._sheet.text, book.number_formats, date_1904=book.date_1904)
        end = self._sheet.row_count if located.end is None else located.end
        self.below = RowsBelow(self._sheet, pool, self.header.row + 1, end)
        self.mapping = mapping
        self.works = pipeline.works(mapping)
        self._outcomes: dict[tuple[str, int], FieldColumn] = {}
        self._loan_cells: dict[int, Cells] = {}
        self._par: NDArray[np.float64] | None = None
        self._unread_par = 0
        self._divisor: NDArray[np.float64] | None = None
        """The par that prices in currency are divided by: none where the mapping says that it is no number."""
        self.unreadable: dict[str, int] = {}
        """Target -> cells with something in them that is no value of it."""
        self.columns = {target: places[0] for target, places in self.header.columns.items()}
        """Target -> the column that feeds it."""
        self._rating_parts: dict[int, RatingParts] = {}
        """Columns whose cells have the ratings of several agencies."""
        self._part_ratings()
        self._prefer_issuers()
        self._take_other_ratings()
        self.passed_over: dict[int, str] = {}
        """Columns whose values are not what their header promises, with what they are."""
        self.scales: dict[str, Scale] = {}
        """Target -> the unit its column was found to be in."""
        self.level_column: int | None = None
        """Of the columns that tell of the base rate the one with its level."""
        self._is_wider = with_blank_par
        self._spread_by_cells = False
        self._is_lien_flag = False
        self._second_part: int | None = None
        """The column whose amounts are added to those of par's own."""
        self._first_par: int | None = None
        """The column for par that gave way to one of funded balances."""
        if par_place is None:
            self._choose_par()
        else:
            self.columns["par_value"] = par_place
        par = self._all_par()
        self._all = None if par is None else par.column.values
        self.rows = self._of_latest_day(table.pick(self.below, self.header, mapping, self._all))
        """Which of the rows below the header are loans."""
        if self.rows.name_pair is not None:
            self._part_names()
        self._rows, self._borrower = (
            _with_blank_par(self.rows) if with_blank_par else (self.rows.rows, self.rows.borrower)
        )
        if par is not None:
            no_loans = self.rows.left_out.get("ignored_blank_par", np.zeros(0, np.int64))
            self._unread_par = 0 if par.lost is None else int(np.count_nonzero(par.lost[no_loans]))
            par = par.take(self._rows)
            self._par = par.column.values
            if self.works["par_value"].field.type == "number":
                self._divisor = self._par
                self._outcomes["par_value", self.columns["par_value"]] = par
        self._keep_rating_parts()
        self._choose_price()
        self._choose_all_in()
        self._choose_spread()

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """Return the sheet's number, 1-based, of each row that is read."""
        return self.below.rows(self._rows) + 1

    def outcome(self, target: str, place: int | None = None) -> FieldColumn:
        """Return a field as typed from a column, in its unit, with what is wrong."""
        place = self.columns[target] if place is None else place
        outcome = self._outcomes.get((target, place))
        if outcome is None:
            work = self._work(target, place)
            cells = self._cells_of(target, place)
            if work.says_unit:
                self.scales[target] = Scale("as written", "nothing")
            outcome = self._outcomes[target, place] = pipeline.run(work, cells, self._in_unit(place))
        return outcome

    @property
    def end(self) -> int:
        """Return the row of the sheet below its last loan."""
        rows = self.rows.rows
        if isinstance(rows, slice):
            return self.below.row(rows.stop - 1) + 1 if rows.stop else self.header.row + 1
        return self.below.row(int(rows[-1])) + 1 if len(rows) else self.header.row + 1

    def par_in_deal_currency(self, currency: str) -> NDArray[np.float64] | None:
        """Return par by a column in the deal's currency, where another one feeds par."""
        for place in self.header.columns.get("par_value", [])[1:]:
            if says_currency(self.header.texts[place], currency):
                return number_cells.read_numbers(self.cells(place)).values * self.header.magnitude(place)
        return None

    def cells(self, column: int) -> Cells:
        """Return a column's cells of the rows that are loans."""
        cells = self._loan_cells.get(column)
        if cells is None:
            cells = self.below.cells(column)
            if not isinstance(self._rows, slice) or self._rows != slice(0, len(cells.kinds)):
                cells = cells.take(self._rows)
            self._loan_cells[column] = cells
        return cells

    def _day_place(self) -> int | None:
        """Return the column with the day of each row, if there is one."""
        place = self.columns.get("as_of")
        if place is not None:
            is_day = self.works["as_of"].field.type == "date" and pools.is_day_of_list(self.header.texts.get(place, ""))
            return place if is_day else None
        fed = {column for places in self.header.columns.values() for column in places} | self.header.beside
        headings = sorted(self.header.texts.items())
        return next((at for at, heading in headings if at not in fed and pools.is_day(heading)), None)

    def _days(self, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the day of each of some rows by a column of days; None without one."""
        place = self._day_place()
        if place is None:
            return None
        cells = self.below.cells(place).take(rows)
        if place != self.columns.get("as_of"):
            return number_cells.read_dates(cells)
        return pipeline.transform_cells(self._work("as_of", place), cells, self._in_unit(place)).column.values

    def _of_latest_day(self, picked: table.LoanRows) -> table.LoanRows:
        """Drop the rows of earlier days that list the same loans once more."""
        places = picked.places
        days = self._days(places)
        if days is None or not len(places):
            return picked
        par = None if self._all is None else self._all[places]
        is_earlier = pools.of_earlier_days(days, self._loan_keys(picked, needs_facility=par is not None), par)
        return table.without_rows(picked, is_earlier, "earlier_rows") if is_earlier.any() else picked

    def _loan_keys(self, picked: table.LoanRows, *, needs_facility: bool) -> list[NDArray[np.int64]]:
        """Return for each way to know a loan a number by row.

        Args:
            needs_facility: whether a borrower's name alone is no way to know one of its loans.
        """
        places = picked.places
        source = places if picked.borrower is None else picked.borrower
        identifiers = [self.below.cells(self.columns[target]).take(places) for target in KEYS if target in self.columns]
        names = [
            self.below.cells(self.columns[target]).take(source if target == "borrower_name" else places)
            for target in NAMES
            if target in self.columns
        ]
        return pools.row_keys(identifiers, [] if needs_facility and "facility_name" not in self.columns else names)

    def _prefer_issuers(self) -> None:
        """Let an issuer's, a plain or a derived rating go before that of a facility."""
        for agency in AGENCIES:
            target = f"rating_agency_{agency}"
            places = self.header.columns.get(target, [])
            roles = [evidence.role if (evidence := self.header.evidence.get(place)) else "" for place in places]
            if not places or roles[0] != f"rating_facility_{agency}" or self.works[target].field.own:
                continue
            others = (
                at
                for better_role in (f"rating_issuer_{agency}", f"rating_{agency}")
                for at, role in zip(places, roles, strict=True)
                if role == better_role and not is_of_parent(self.header.texts.get(at, ""))
            )
            better = next(chain(others, self.header.columns.get(f"{target}_derived", ())), None)
            if better is not None:
                self.columns[target] = better

    def _part_ratings(self) -> None:
        """Let a column with the ratings of several agencies feed one field of each."""
        texts = sorted(self.header.texts.items())[:RATING_COLUMNS_MAX]
        shared = {
            place: text for place, text in texts if place not in self.header.beside and self._may_be_parted(place, text)
        }
        earlier = of_earlier_days(shared.items())
        for place, text in shared.items():
            if place in earlier:
                continue
            parts = rating_parts(text_cells.read_text(self.below.cells(place)), agencies_of(text))
            if parts is not None:
                self._feed_ratings(place, parts)

    def _may_be_parted(self, place: int, text: str) -> bool:
        """Return whether a column may have the ratings of several agencies."""
        fed = [target for target, places in self.header.columns.items() if place in places]
        if any(target in self.works and self.works[target].field.own for target in fed):
            return False
        if "rating" in fed:
            return True
        # A list of agencies alone says nothing of a rating: it does with that word.
        return bool(agencies_of(text)) and _weights(text).get("rating", 0.0) > 0 and not is_before(text)

    def _feed_ratings(self, place: int, parts: RatingParts) -> None:
        """Give each agency's part of a column the first free field of its ratings.

        Nothing where none is free.
        """
        fields = self.header.columns
        columns = {target: [at for at in places if at != place] for target, places in fields.items()}
        columns = {target: places for target, places in columns.items() if places}
        kinds = _kinds_of_shared(self.header.texts[place])
        fed = set[str]()
        for agency in parts.columns:
            rating = f"rating_agency_{agency}"
            names = [name for kind in kinds if (name := f"{rating}_{kind}".rstrip("_")) in self.works]
            fed.update([name for name in names if name not in columns][:1])
            also = f"facility_{rating}"
            if kinds == ("facility",) and also in self.works and also not in columns:
                fed.add(also)
        if not fed:
            return
        self._rating_parts[place] = parts
        columns |= {name: [place] for name in sorted(fed)}
        first = next(iter(parts.columns))
        own = RoleEvidence(f"rating_{first}", OF_RATING_PARTS, 0.0, reasons=("its cells have a rating of each agency",))
        self.header = replace(self.header, columns=columns, evidence=self.header.evidence | {place: own})
        self.columns = {target: places[0] for target, places in columns.items()}

    def _keep_rating_parts(self) -> None:
        """Keep each agency's ratings of the loans, as its field's column."""
        for target, place in self.columns.items():
            agency = AGENCY_OF.get(target)
            parts = self._rating_parts.get(place)
            if agency is None or parts is None or agency not in parts.columns:
                continue
            column = parts.columns[agency]
            text = text_column(TextColumn(column.codes[self._rows], column.text))
            self._outcomes[target, place] = FieldColumn(text, lost=parts.unread[agency][self._rows])

    def _take_other_ratings(self) -> None:
        """Let a free column of ratings feed one of its agency's further ratings.

        Which of several the file's own tests go by is decided by their sums. No rating of a facility is the issuer's,
        nor the other way round.
        """
        for agency in AGENCIES:
            rating = f"rating_agency_{agency}"
            used = set(self.columns.values())
            others = [
                place
                for place in self.header.columns.get(rating, [])[1:]
                if place not in used and self.header.demoted.get(place) != "earlier"
            ]
            roles = {place: evidence.role if (evidence := self.header.evidence.get(place)) else "" for place in others}
            new_columns: dict[str, int] = {}
            for place in others:
                kinds = KINDS_OF_ROLE.get(roles[place].removesuffix(f"_{agency}"), KINDS)
                targets = (f"{rating}_{kind}" for kind in kinds)
                free = (
                    free_target
                    for free_target in targets
                    if free_target in self.works and free_target not in self.columns and free_target not in new_columns
                )
                if (target := next(free, None)) is not None:
                    new_columns[target] = place
            self.columns |= new_columns
            places = self.header.columns | {target: [place] for target, place in new_columns.items()}
            self.header = replace(self.header, columns=places)

    def _cells_of(self, target: str, place: int) -> Cells:
        """Return the cells that feed a target.

        Of borrowers those of the rows that name them; parts of a column that has both borrowers and facilities.
        """
        name_pair = self.rows.name_pair
        source = self._borrower if target == "borrower_name" else None
        if name_pair is not None and target in NAMES:
            return name_pair[NAMES.index(target)].take(self._rows if source is None else source)
        if source is not None:
            return self.below.cells(place).take(source)
        if self._borrower is None or target not in OF_COMPANIES:
            return self.cells(place)
        return fill_blanks(self.cells(place), self.below.cells(place).take(self._borrower))

    def _part_names(self) -> None:
        """Let the column that has both borrowers and facilities feed both."""
        place = next(self.columns[target] for target in NAMES if target in self.columns)
        for target in NAMES:
            if target in self.works:
                self.columns.setdefault(target, place)

    def _choose_par(self) -> None:
        """Put funded balances before a column that may be of the day of the loan."""
        work = self.works.get("par_value")
        place = None if work is None else funded_place(self.header, work.field.own)
        if place is not None:
            self._first_par = self.columns["par_value"]
            self.columns["par_value"] = place
            self.passed_over[self._first_par] = "another column has what is funded"
            return
        place = None if work is None else basis_place(self.header, work.field.own)
        if place is not None:
            self.passed_over[self.columns["par_value"]] = (
                "another column has par as traded, in the deal's currency, or today"
            )
            self.columns["par_value"] = place

    def _all_par(self) -> FieldColumn | None:
        """Return the par of all rows below the header, in units of currency.

        It is the default where the rest of a loan is there.
        """
        place = self.columns.get("par_value")
        if place is None:
            return None
        work = self._work("par_value", place)
        if work.field.type != "number":  # in a mapping of one's own; what is done with text or dates makes no amount
            work = FieldWork(Field("par_value", "number"))
        outcome = pipeline.transform_cells(work, self.below.cells(place), self._in_unit(place))
        part = None if work.field.own else part_place(self.header, place)
        if part is not None:
            outcome.column = self._with_part(outcome.column, work, part)
        if work.field.default is not None:
            keeps = np.zeros(self.below.height, np.bool_) if outcome.lost is None else outcome.lost
            for targets in (("borrower_name",), (*IDENTIFIERS, "facility_name", "maturity_date")):
                masks = [
                    self.below.cells(self.columns[target]).present() for target in targets if target in self.columns
                ]
                keeps = keeps | ~np.any(masks, axis=0) if masks else keeps
            outcome.column = pipeline.fill_default(work, outcome.column, keeps)
        return outcome

    def _with_part(self, column: NormalColumn, work: FieldWork, part: int) -> NormalColumn:
        """Return par with its part of another column, unless that is in it already.

        The scale stays the first's.
        """
        scale = self.scales.get("par_value")
        second = pipeline.transform_cells(work, self.below.cells(part), self._in_unit(part)).column.values
        if scale is not None:
            self.scales["par_value"] = scale
        if is_whole(self.header, (self.columns["par_value"], part), (column.values, second)):
            return column
        is_blank = np.isnan(column.values) & np.isnan(second)
        self._second_part = part
        rest = [place for place in self.header.columns["par_value"] if place != part]
        self.header = replace(self.header, columns=self.header.columns | {"par_value": rest})
        return column.with_values(np.where(is_blank, np.nan, np.nan_to_num(column.values) + np.nan_to_num(second)))

    def _work(self, target: str, place: int) -> FieldWork:
        """Return what is done with a column that feeds a target."""
        evidence = self.header.evidence.get(place)
        work = self.works[target].on(self.header.preferences.get((target, place), 0))
        return replace(work, is_denied=True) if evidence and DENIED.get(evidence.role) == target else work

    def _in_unit(self, place: int) -> InUnit:
        """Return figures of a column in their target's unit, and keep why it is that."""

        def in_unit(target: str, numbers: Numbers) -> NDArray[np.float64]:
            unit, magnitude = self.header.unit(place), self.header.magnitude(place)
            numbers = self.with_usual_sign(target, place, numbers)
            has_par = self._divisor is not None
            scale = self.scales[target] = scaling.scale(
                target, numbers, unit, magnitude, has_par=has_par, beside=self._rates_beside
            )
            if target == "price" and scale.unit != "currency" and self._has_values(place, numbers):
                scale = self.scales[target] = Scale("currency", "par")
                return scaling.scale_values(numbers, scale, self._divisor)
            values = scaling.scale_values(numbers, scale, self._divisor)
            return self._as_prices(values, magnitude) if target == "price" else values

        return in_unit

    def with_usual_sign(self, target: str, place: int, numbers: Numbers) -> Numbers:
        """Return a column's numbers with the decimal sign that its target asks for."""
        if target in scaling.PRICES and numbers.swapped is not None:
            role, _ = heading(self.header.texts.get(place, "")).best()
            par = self._divisor
            if role == "market_value" or (par is not None and scaling.are_values_of(numbers.values, par)):
                return numbers
        return number_cells.with_usual_sign(target, numbers, self.header.magnitude(place))

    def _has_values(self, place: int, numbers: Numbers) -> bool:
        """Return whether a column of values has market values in the unit of par."""
        evidence = self.header.evidence.get(place)
        is_value = evidence is not None and evidence.role in ("market_value", "price") and self._divisor is not None
        return is_value and self._divisor is not None and scaling.are_values_of(numbers.values, self._divisor)

    def _as_prices(self, values: NDArray[np.float64], magnitude: float) -> NDArray[np.float64]:
        """Return market values in percent of par.

        Those in the unit of par, which a line above the header says, where they would be next to nothing in units of
        currency.
        """
        of_par = self.header.magnitude(self.columns["par_value"]) if "par_value" in self.columns else 1.0
        if magnitude != 1.0 or of_par == 1.0 or self._divisor is None:
            return values
        known = values[values > 0]
        usual = float(np.median(known)) if len(known) else 0.0
        return values * of_par if PRICE_LEAST <= usual * of_par <= PRICE_MOST else values

    def _rates_beside(self) -> RatesBeside:
        """Return spreads and all-in rates of the loans, which decide other units."""
        spread, all_in = (
            self.outcome(target).column if target in self.columns else None for target in ("spread", "all_in_rate")
        )
        if spread is None:
            return RatesBeside()
        unit = self.scales["spread"].unit if "spread" in self.scales else ""
        if all_in is None or spread.type != "number" or all_in.type != "number":
            return RatesBeside(unit)
        return RatesBeside(unit, all_in.values - spread.values / 100.0)

    def _choose_price(self) -> None:
        """Prefer a later column of prices to market values in currency."""
        places = self.header.columns.get("price", [])
        if len(places) < 2 or self._work("price", places[0]).says_unit:
            return
        at = scaling.price_place(places, self.cells)
        self.columns["price"] = places[at]
        self.passed_over |= dict.fromkeys(places[:at], "it holds amounts of currency, not prices")

    def _choose_all_in(self) -> None:
        """Prefer a later column of rates to one that has only those of fixed loans."""
        places = self.header.columns.get("all_in_rate", [])[:RATE_COLUMNS_MAX]
        if len(places) < 2 or self.works["all_in_rate"].field.own:
            return
        rates = [np.nan_to_num(number_cells.read_numbers(self.cells(place)).values) > 0 for place in places]
        lacking = [np.count_nonzero(later & ~rates[0]) for later in rates]
        best = int(np.argmax(lacking))
        if lacking[best] > ZERO_RATES_MAX * len(rates[0]) and not (rates[0] & ~rates[best]).any():
            self.columns["all_in_rate"] = places[best]
            self.passed_over[places[0]] = "it is 0 or blank where another column has a rate"

    def _choose_spread(self) -> None:
        """Let a column of indexes and margins feed a missing spread."""
        if "spread" not in self.works:
            return
        taken = self.header.beside.union(self.columns.values(), self.header.demoted)
        is_known = self.mapping.id in PROFILES
        spare = {place: text for place, text in self.header.texts.items() if is_known and place not in taken}
        spread_column = spread_place(self.columns, self.cells, spare)
        if spread_column is not None:
            target, self.columns["spread"] = spread_column
            self._spread_by_cells = not target
            if target == "all_in_rate":
                del self.columns[target]


def _with_blank_par(
    picked: table.LoanRows,
) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64] | None]:
    """Add rows that lack nothing but par, and the row of each one's borrower."""
    more = picked.left_out.get("ignored_blank_par")
    if more is None or not len(more):
        return picked.rows, picked.borrower
    loans = picked.rows if not isinstance(picked.rows, slice) else np.arange(picked.rows.start, picked.rows.stop)
    rows = np.union1d(loans, more)
    if picked.borrower is None:
        return rows, None
    source = rows.copy()
    source[np.searchsorted(rows, loans)] = picked.borrower
    return rows, source


def _weights(text: str) -> dict[str, float]:
    """Return what a heading of ratings says, which may leave out this word."""
    return dict(heading(f"{text} Rating").weights)


def _kinds_of_shared(text: str) -> tuple[str, ...]:
    """Return the kinds that ratings below a heading may be, best first.

    "" are those that the tests go by.
    """
    weights = _weights(text)
    of_facility, of_issuer = (
        max(weights.get(f"{role}_{agency}", 0.0) for agency in AGENCIES) for role in KINDS_OF_ROLE
    )
    if of_facility > of_issuer:
        return ("facility",)
    if not agencies_of(text):
        return ("",)
    return ("", "issuer", "final") if of_issuer > of_facility else ("", *KINDS)
