"""Type the columns of one sheet of loans, each once, in their fields' units."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.places import pages_of, range_place
from core.grid.sheet import Workbook
from core.portfolio.cells import parsing
from core.portfolio.cells.flags import is_second_lien_flag, second_liens
from core.portfolio.cells.loans import UNSAID, Loans, put_column
from core.portfolio.cells.parsing import NO_TEXT, TEXT, Cells, StringPool, TextColumn, bit
from core.portfolio.cells.typed import NormalColumn, text_column
from core.portfolio.mapping import pipeline
from core.portfolio.mapping.ambiguous import ambiguous_columns, unrecognised_flags
from core.portfolio.mapping.basis import basis_place, is_whole, part_place
from core.portfolio.mapping.funded import funded_place, settle_commitments, tell_of_funded
from core.portfolio.mapping.names import NAMES, industries_of_headings, prefer_liens_of_names, without_continued
from core.portfolio.mapping.pipeline import FieldColumn, FieldWork, InUnit, is_ruled
from core.portfolio.mapping.rates import put_rates, spread_place
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import (
    IDENTIFIERS,
    KEYS,
    PROFILES,
    SHARED_TARGETS,
    Field,
    Mapping,
)
from core.portfolio.model.notes import DataWarning, Notes
from core.portfolio.model.ratings import AGENCY_OF
from core.portfolio.pages.currency import currencies, says_currency
from core.portfolio.sheets import table
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.columns.aliases import DENIED
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.shared_ratings import RatingParts, agencies_of, rating_parts
from core.portfolio.sheets.columns.vocabulary import heading, tokens_of
from core.portfolio.sheets.located import LocatedTable
from core.portfolio.sheets.rows import pools
from core.portfolio.sheets.rows.above import fill_blanks
from core.portfolio.sheets.rows.headings import GroupValues, values_of
from core.portfolio.sheets.rows.spans import currency_signs
from core.portfolio.sheets.stacked import lists_beside
from core.words import agreed, counted

FOOTING_DIGITS: Final = 0.005
"""Currency units by which a sheet's total may differ from the sum of its loans."""


AGENCIES: Final = ("a", "b", "c")
"""Moody's, S&P and Fitch, as names of fields have them."""

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

HEADERS_TOLD: Final = 5
"""Columns that a warning names."""


OF_COMPANIES: Final = frozenset(("issuer_id", "industry", "industry_b", "industry_c", "country"))
"""Fields that a row which names a company may say for its loans below, which have no name of their own."""

NO_COLLATERAL: Final = (
    ("no_collateral_rows", "heading says that it is no collateral"),
    ("part_rows", "name says something of the loan above"),
    ("equity_rows", "type or facility is that of shares, warrants or units"),
    ("contract_rows", "type or name is that of a swap, a forward, a Treasury bill or a money fund"),
)
"""Rows that are left out by what is said of them -> why."""


PRICE_LEAST: Final = 20.0
"""Percent of par that the middle one of a pool's prices is not below."""
PRICE_MOST: Final = 200.0
VALUE_LEAST: Final = 10.0
"""Percent of par that the middle one of a pool's market values is not below."""

SHOWN_MIN: Final = 0.8
"""Share of the amounts with a currency from which it is that of their loans."""

NEAR_SHARE: Final = 1e-3
"""Share of the sum by which a figure that stands alone may differ from it and still be meant for it."""


class LoanReader:
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
        self.scales: dict[str, parsing.Scale] = {}
        """Target -> the unit its column was found to be in."""
        self.level_column: int | None = None
        """Of the columns that tell of the base rate the one with its level."""
        self._is_wider = with_blank_par
        self._spread_by_cells = False
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
                self.scales[target] = parsing.Scale("as written", "nothing")
            outcome = self._outcomes[target, place] = pipeline.run(work, cells, self._in_unit(place))
        return outcome

    def loans(self, *, all_ruled: bool = False) -> Loans:
        """Return the mapped columns of the rows that are loans.

        Those that rules are about come as typed, too, or `all_ruled`.
        """
        rows = self._rows
        loans = Loans(row_count=rows.stop - rows.start if isinstance(rows, slice) else len(rows))
        loans.sheet_name = self._sheet.name
        loans.sheet_rows = self.row_numbers.astype(np.int32)
        loans.page_lines = self._sheet.page_lines if len(self._sheet.page_lines) else None
        for target in self.columns:
            if target == "base_rate":
                self._base_rate(loans)
            elif target == "par_value" and self._par is not None:
                loans.numbers[target] = self._par
            else:
                self._put_column(loans, target, self.outcome(target))
            if all_ruled or is_ruled(self.works[target], self.mapping):
                loans.ruled[target] = self.outcome(target).column
        if self._borrower is not None:
            without_continued(loans)
        if "par_value" in self.columns:
            self._settle_par(loans, self.columns["par_value"])
        if self.rows.name_pair is not None:
            self._tell_of_nameless(loans)
        self._take_industries(loans)
        self._take_groups(loans)
        self._stand_ins(loans)
        loans.notes.warnings += ambiguous_columns(self._sheet, self.header, self.columns)
        self._note(loans, self.columns | self._rates(loans))
        self._warn_of_level(loans)
        self._warn_of_values(loans)
        self._tell_of_spread(loans)
        self._tell_of_rating_parts(loans)
        if self._all is not None:
            self._foot(loans, self._all)
        if self._unread_par:
            message = (
                f"{counted(self._unread_par, 'row')} of sheet {self._sheet.name!r} "
                f"{agreed(self._unread_par, 'is left out: its/are left out: their')} par cannot be read."
            )
            loans.notes.warnings.append(DataWarning("unreadable_cells", message, self._unread_par, ("par_value",)))
        return loans

    def _settle_par(self, loans: Loans, place: int) -> None:
        """Warn of signs and rivals of par, and take commitments from their column."""
        if self._stored is not self._sheet:
            self._tell_of_signs(loans, place)
        if "currency" not in self.columns:
            self._keep_currencies(loans, place)
        if self._second_part is not None:
            names = [" ".join(self.header.texts[at].split()) for at in (place, self._second_part)]
            message = f"Par is the sum of the columns {names[0]!r} and {names[1]!r}."
            loans.notes.warnings.append(DataWarning("par_is_sum", message, fields=("par_value",)))
        if self._first_par is not None:
            tell_of_funded(loans, self.header, place, self._first_par, self.cells)
        settle_commitments(loans, self.header, place, self.cells)

    def _take_industries(self, loans: Loans) -> None:
        """Take the industries from the headings above the loans where no column has any."""
        industry = loans.texts.get("industry")
        if self.rows.industry is not None and not self._is_wider and (industry is None or (industry.codes < 0).all()):
            industries_of_headings(loans, self.rows.industry, self._sheet.text)

    def _take_groups(self, loans: Loans) -> None:
        """Take what headings or the sheet's name say of loans, where no column does."""
        groups = {} if self._is_wider else dict(self.rows.groups)
        for field, value in values_of(self._sheet.name).items():
            groups.setdefault(field, GroupValues(np.zeros(loans.row_count, np.int32), (value,)))
        for target, group in groups.items():
            if (
                target in (self._flag, *self.columns)
                or target not in self.works
                or group.codes.shape != (loans.row_count,)
            ):
                continue
            _, text = parsing.pool_of(group.values)
            column = text_column(parsing.TextColumn(group.codes, text))
            if target == "is_defaulted":
                is_yes = np.array([value == "yes" for value in group.values], np.uint8)
                loans.flags[target] = parsing.spread_out(is_yes, UNSAID, group.codes)
            else:
                put_column(loans, target, column)
            of_group = group.codes >= 0
            if target == "lien_type":
                of_group = prefer_liens_of_names(loans, of_group)
            count = int(np.count_nonzero(of_group))
            if not count:
                continue
            message = (
                f"No column of sheet {self._sheet.name!r} says {target}; headings or the sheet's name do for "
                f"{counted(count, 'loan')}: {', '.join(map(repr, group.values[:HEADERS_TOLD]))}."
            )
            loans.notes.warnings.append(DataWarning("values_of_headings", message, count, (target,)))

    def unmapped_headings(self) -> list[str]:
        """Return headers of columns that feed no field, in order."""
        used = set(chain.from_iterable(self.header.columns.values()))
        texts = {column: " ".join(text.split()) for column, text in sorted(self.header.texts.items())}
        return [text for column, text in texts.items() if column not in used and text]

    def _foot(self, loans: Loans, par: NDArray[np.float64]) -> None:
        """Warn of a total that is not the sum of the loans; one of several will do."""
        left_out = self.rows.left_out
        row_groups = [left_out.get(reason, np.zeros(0, np.int64)) for reason in ("total_rows", "unidentified_rows")]
        with np.errstate(over="ignore", invalid="ignore"):
            own = float(np.nansum(par[self._rows]))
            # What nothing calls a total is one where it comes near the sum.
            near = row_groups[1][np.abs(par[row_groups[1]] - own) <= NEAR_SHARE * abs(own)]
            totals = np.concatenate((row_groups[0], near))
            totals = totals[~np.isnan(par[totals])]
            figures = par[totals]
            if not len(figures) or abs(float(figures.sum()) - own) <= FOOTING_DIGITS:
                return
            differences = np.abs(figures - own)
        if not (differences <= FOOTING_DIGITS).any():
            nearest = int(np.argmin(differences))
            row = self.below.row(int(totals[nearest]))
            message = (
                f"The total of sheet {self._sheet.name!r}{pages_of(self._sheet, row, row)} is {figures[nearest]:,.2f}; "
                f"its loans add up to {own:,.2f}."
            )
            # By half a cent a loan the two differ for the rounding of each: that makes no figure doubtful.
            is_more = differences.min() > FOOTING_DIGITS * loans.row_count
            loans.notes.warnings.append(
                DataWarning("page_total_differs", message, fields=("par_value",) if is_more else ())
            )

    @property
    def end(self) -> int:
        """Return the row of the sheet below its last loan."""
        rows = self.rows.rows
        if isinstance(rows, slice):
            return self.below.row(rows.stop - 1) + 1 if rows.stop else self.header.row + 1
        return self.below.row(int(rows[-1])) + 1 if len(rows) else self.header.row + 1

    def _note_no_collateral(self, notes: Notes) -> None:
        """Count and warn of rows that say that they are no collateral."""
        for reason, words in NO_COLLATERAL:
            rows = self.rows.left_out.get(reason)
            if rows is None:
                continue
            par = 0.0 if self._all is None else float(np.nansum(self._all[rows]))
            notes.no_collateral_rows += len(rows)
            notes.no_collateral_par += par
            message = (
                f"{counted(len(rows), 'row')} of sheet {self._sheet.name!r} with a par of {par:,.2f} "
                f"{agreed(len(rows), 'is no loan: its/are no loans: their')} {words}."
            )
            notes.warnings.append(DataWarning("no_collateral", message, len(rows)))

    def par_in_deal_currency(self, currency: str) -> NDArray[np.float64] | None:
        """Return par by a column in the deal's currency, where another one feeds par."""
        for place in self.header.columns.get("par_value", [])[1:]:
            if says_currency(self.header.texts[place], currency):
                return parsing.read_numbers(self.cells(place)).values * self.header.magnitude(place)
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
            return parsing.read_dates(cells)
        return pipeline.transform_cells(self._work("as_of", place), cells, self._in_unit(place)).column.values

    def _warn_of_bare(self, notes: Notes) -> None:
        """Warn of loans with a name and a par alone, where the others say more."""
        if self.rows.is_bare is None or self._all is None:
            return
        places = self.rows.places
        bare = places[self.rows.is_bare[places]]
        if not len(bare):
            return
        message = (
            f"{counted(len(bare), 'loan')} of sheet {self._sheet.name!r} {agreed(len(bare), 'has/have')} only a name "
            f"and a par: {float(np.nansum(self._all[bare])):,.2f} of {float(np.nansum(self._all[places])):,.2f}."
        )
        notes.warnings.append(DataWarning("bare_loans", message, len(bare)))

    def _warn_of_like_totals(self, notes: Notes) -> None:
        """Warn of loans whose name begins as that of a total."""
        rows = self.rows.like_totals
        if rows is None or not len(rows) or "borrower_name" not in self.columns:
            return
        names = parsing.read_text(self.below.cells(self.columns["borrower_name"]).take(rows[:HEADERS_TOLD]))
        shown = ", ".join(repr(names.text[int(code)]) for code in names.codes if code >= 0)
        are_loans = agreed(len(rows), "is a loan with a name/are loans with names")
        message = (
            f"{counted(len(rows), 'row')} of sheet {self._sheet.name!r} {are_loans} like a total's; no other rows add "
            f"up to {agreed(len(rows), 'its/their')} par: {shown}."
        )
        notes.warnings.append(DataWarning("bare_loans", message, len(rows)))

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

    def _warn_of_pools(self, notes: Notes) -> None:
        """Warn of loans of several days or deals in one list."""
        rows, name = self.rows.places, self._sheet.name
        earlier, days, place = self.rows.left_out.get("earlier_rows"), self._days(rows), self._day_place()
        heading = "" if place is None else self.header.texts.get(place, "")
        if days is not None and self._doubts_days(days):
            notes.warnings += pools.warn_of_days(days, heading, name)
        if earlier is not None:
            par = None if self._all is None else float(np.nansum(self._all[earlier]))
            notes.warnings.append(pools.warn_of_earlier(len(earlier), par, heading, name))
        for place, heading in sorted(self.header.texts.items()):
            if pools.is_of_deals(heading) and place not in self.header.beside:
                cells = self.below.cells(place).take(rows)
                notes.warnings += pools.warn_of_deals(cells, self._borrower_codes(), heading, name)

    def _borrower_codes(self) -> NDArray[np.int64] | None:
        """Return a number of each loan's borrower; None without a column of them."""
        if "borrower_name" not in self.columns:
            return None
        source = self.rows.places if self.rows.borrower is None else self.rows.borrower
        return self.below.cells(self.columns["borrower_name"]).codes[source].astype(np.int64)

    def _doubts_days(self, days: NDArray[np.float64]) -> bool:
        """Return whether days are the list's, or loans stand again on the latest."""
        return "as_of" in self.columns or pools.lists_again(days, self._loan_keys(self.rows, needs_facility=False))

    def _prefer_issuers(self) -> None:
        """Let an issuer's rating, or a derived one, go before that of a facility."""
        for agency in AGENCIES:
            target = f"rating_agency_{agency}"
            places = self.header.columns.get(target, [])
            roles = [evidence.role if (evidence := self.header.evidence.get(place)) else "" for place in places]
            if not places or roles[0] != f"rating_facility_{agency}" or self.works[target].field.own:
                continue
            issuers = (at for at, role in zip(places, roles, strict=True) if role == f"rating_issuer_{agency}")
            better = next(chain(issuers, self.header.columns.get(f"{target}_derived", ())), None)
            if better is not None:
                self.columns[target] = better

    def _part_ratings(self) -> None:
        """Let a column with the ratings of several agencies feed one field of each."""
        for place, text in sorted(self.header.texts.items())[:RATING_COLUMNS_MAX]:
            if place in self.header.beside or not self._may_be_parted(place, text):
                continue
            parts = rating_parts(parsing.read_text(self.below.cells(place)), agencies_of(text))
            if parts is not None:
                self._rating_parts[place] = parts
                self._feed_ratings(place, parts)

    def _may_be_parted(self, place: int, text: str) -> bool:
        """Return whether a column may have the ratings of several agencies."""
        fed = [target for target, places in self.header.columns.items() if place in places]
        if any(target in self.works and self.works[target].field.own for target in fed):
            return False
        return len(agencies_of(text)) > 1 or "rating" in fed

    def _feed_ratings(self, place: int, parts: RatingParts) -> None:
        """Give each agency's part of a column the first free field of its ratings."""
        fields = self.header.columns
        columns = {target: [at for at in places if at != place] for target, places in fields.items()}
        columns = {target: places for target, places in columns.items() if places}
        is_facility = "facility" in tokens_of(self.header.texts[place])
        for agency in parts.columns:
            rating = f"rating_agency_{agency}"
            names = [f"{rating}_facility"] if is_facility else [rating, *(f"{rating}_{kind}" for kind in KINDS)]
            free = [name for name in names if name in self.works and name not in columns][:1]
            also = f"facility_{rating}"
            if is_facility and also in self.works and also not in columns:
                free.append(also)
            columns |= {name: [place] for name in free}
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

    def _tell_of_rating_parts(self, loans: Loans) -> None:
        """Warn of ratings of which symbols, not the heading, tell the agency."""
        for place, parts in self._rating_parts.items():
            fields = tuple(target for target, at in self.columns.items() if at == place)
            if parts.doubt and fields:
                text = " ".join(self.header.texts[place].split())
                names = ", ".join(AGENCY_NAMES[agency] for agency in parts.columns)
                message = f"Column {text!r} is taken for ratings of {names}: {parts.doubt}."
                loans.notes.warnings.append(DataWarning("ambiguous_column", message, None, fields))

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

    def _tell_of_signs(self, loans: Loans, place: int) -> None:
        """Warn of amounts with signs of several currencies in cells of their own."""
        signs = currency_signs(self._stored, self._sheet, place)
        if len(signs) > 1:
            usual = max(signs, key=lambda sign: signs[sign])
            others = ", ".join(repr(sign) for sign in sorted(signs) if sign != usual)
            count = sum(signs.values()) - signs[usual]
            text = " ".join(self.header.texts.get(place, "").split())
            has = agreed(count, "has/have")
            message = f"{counted(count, 'cell')} of {text!r} {has} {others} where others have {usual!r}."
            loans.notes.warnings.append(DataWarning("signs_differ", message, count, ("par_value",)))

    def _keep_currencies(self, loans: Loans, place: int) -> None:
        """Take the loans' currencies from their amounts, where most of these show one.

        Where some show another one than the rest, a warning tells of them. A table may show dollars in its first row
        alone.
        """
        column = currencies(self.cells(place))
        if not len(column.text):
            return
        shown = column.codes[column.codes >= 0]
        codes, counts = np.unique(shown, return_counts=True)
        blank = int(np.count_nonzero(self.cells(place).present())) - len(shown)
        if len(codes) > 1 and blank <= (1 - SHOWN_MIN) * len(column.codes):
            loans.texts["currency"] = column
        elif len(codes) > 1 or (len(codes) and blank and len(shown) > 1 and column.text[int(codes[0])] != "USD"):
            usual = -1 if blank >= counts.max() else int(codes[np.argmax(counts)])
            others = ", ".join(column.text[int(code)] for code in codes if code != usual)
            count = int(counts[codes != usual].sum())
            header_text = " ".join(self.header.texts.get(place, "").split())
            rest = "no currency" if usual < 0 else column.text[usual]
            message = f"{counted(count, 'cell', 'shows/show')} {others} in {header_text!r}, others {rest}."
            loans.notes.warnings.append(DataWarning("signs_differ", message, count, ("par_value",)))

    def _tell_of_nameless(self, loans: Loans) -> None:
        """Warn of loans above the first company of a column with both names."""
        borrower = loans.texts.get("borrower_name")
        count = loans.row_count if borrower is None else int(np.count_nonzero(borrower.codes < 0))
        if count:
            message = f"{counted(count, 'loan', 'stands/stand')} under no borrower on sheet {self._sheet.name!r}."
            loans.notes.warnings.append(DataWarning("names_above", message, count))

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
            self.passed_over[self.columns["par_value"]] = "another column has par as traded, or in the deal's currency"
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

        def in_unit(target: str, numbers: parsing.Numbers) -> NDArray[np.float64]:
            unit, magnitude = self.header.unit(place), self.header.magnitude(place)
            numbers = self.with_usual_sign(target, place, numbers)
            has_par = self._divisor is not None
            scale = self.scales[target] = parsing.scale(
                target, numbers, unit, magnitude, has_par=has_par, beside=self._rates_beside
            )
            if target == "price" and scale.unit != "currency" and self._has_values(place, numbers):
                scale = self.scales[target] = parsing.Scale("currency", "par")
                return parsing.scale_values(numbers, scale, self._divisor)
            values = parsing.scale_values(numbers, scale, self._divisor)
            return self._as_prices(values, magnitude) if target == "price" else values

        return in_unit

    def with_usual_sign(self, target: str, place: int, numbers: parsing.Numbers) -> parsing.Numbers:
        """Return a column's numbers with the decimal sign that its target asks for."""
        if target in parsing.PRICES and numbers.swapped is not None:
            role, _ = heading(self.header.texts.get(place, "")).best()
            par = self._divisor
            if role == "market_value" or (par is not None and parsing.are_values_of(numbers.values, par)):
                return numbers
        return parsing.with_usual_sign(target, numbers, self.header.magnitude(place))

    def _has_values(self, place: int, numbers: parsing.Numbers) -> bool:
        """Return whether a column of values has market values in the unit of par."""
        evidence = self.header.evidence.get(place)
        is_value = evidence is not None and evidence.role in ("market_value", "price") and self._divisor is not None
        return is_value and self._divisor is not None and parsing.are_values_of(numbers.values, self._divisor)

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

    def _rates_beside(self) -> parsing.RatesBeside:
        """Return spreads and all-in rates of the loans, which decide other units."""
        spread, all_in = (
            self.outcome(target).column if target in self.columns else None for target in ("spread", "all_in_rate")
        )
        if spread is None:
            return parsing.RatesBeside()
        unit = self.scales["spread"].unit if "spread" in self.scales else ""
        if all_in is None or spread.type != "number" or all_in.type != "number":
            return parsing.RatesBeside(unit)
        return parsing.RatesBeside(unit, all_in.values - spread.values / 100.0)

    def _choose_price(self) -> None:
        """Prefer a later column of prices to market values in currency."""
        places = self.header.columns.get("price", [])
        if len(places) < 2 or self._work("price", places[0]).says_unit:
            return
        at = parsing.price_place(places, self.cells)
        self.columns["price"] = places[at]
        self.passed_over |= dict.fromkeys(places[:at], "it holds amounts of currency, not prices")

    def _choose_all_in(self) -> None:
        """Prefer a later column of rates to one that has only those of fixed loans."""
        places = self.header.columns.get("all_in_rate", [])[:RATE_COLUMNS_MAX]
        if len(places) < 2 or self.works["all_in_rate"].field.own:
            return
        rates = [np.nan_to_num(parsing.read_numbers(self.cells(place)).values) > 0 for place in places]
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

    def _tell_of_spread(self, loans: Loans) -> None:
        """Tell of a column of spreads that no heading names."""
        if self._spread_by_cells:
            text = " ".join(self.header.texts[self.columns["spread"]].split())
            message = f"Column {text!r} is taken for spread: its cells alone tell it (an index and a margin)."
            loans.notes.warnings.append(DataWarning("ambiguous_column", message, None, ("spread",)))

    def _rates(self, loans: Loans) -> dict[str, int]:
        """Put what the column of spreads states among the loans: field -> column."""
        place = self.columns.get("spread")
        if place is None or self._work("spread", place).transforms or "spread" not in loans.numbers:
            return {}
        return dict.fromkeys(put_rates(loans, self.cells(place), self.columns), place)

    def _warn_of_level(self, loans: Loans) -> None:
        """Tell of base rates that are fractions by nothing but their level."""
        level = self.scales.get("base_rate_level")
        if level is not None and level.because == "level":
            message = (
                "Base rates are read as fractions (0.05 is 5 %), because that is the usual level of a base rate; "
                "no other rate of the sheet says so."
            )
            loans.notes.warnings.append(DataWarning("base_rate_by_level", message, None, ("base_rate_level",)))

    def _warn_of_values(self, loans: Loans) -> None:
        """Tell of market values that are next to nothing of par: prices, perhaps."""
        scale = self.scales.get("price")
        if scale is None or scale.unit != "currency" or "price" not in loans.numbers:
            return
        prices = loans.numbers["price"]
        if parsing.median_at_most(prices, VALUE_LEAST):
            count = int(np.count_nonzero(prices > 0))
            message = (
                f"price of {counted(count, 'loan')} is a market value divided by par, and mostly at most "
                f"{VALUE_LEAST:g} % of it: the figures may be prices, or in another unit than par."
            )
            loans.notes.warnings.append(DataWarning("unit_doubtful", message, count, ("price",)))

    def _put_column(self, loans: Loans, target: str, outcome: FieldColumn) -> None:
        """Put a typed column into its place among the loans."""
        column, work = outcome.column, self.works[target]
        heading = self.header.texts.get(self.columns[target], "")
        loans.notes.warnings += [*outcome.warnings, *unrecognised_flags(target, heading, outcome, self._par)]
        if column.type == "string" and (work.transforms or work.field.default is not None):
            column = text_column(parsing.merged_pool(column.text.codes, column.text.text, NO_TEXT))
        if target == "lien_type" and is_second_lien_flag(self.header.texts[self.columns[target]]):
            column = text_column(second_liens(column.as_text()))
        lost = 0 if outcome.lost is None else int(np.count_nonzero(outcome.lost))
        if unreadable := lost + put_column(loans, target, column):
            self.unreadable[target] = unreadable

    def _base_rate(self, loans: Loans) -> None:
        """Read an index by name, its level in percent, or both; earlier columns stay."""
        for place in self.header.columns["base_rate"]:
            work, cells = self._work("base_rate", place), self.cells(place)
            is_words = bool(work.transforms) or work.field.default is not None
            if is_words:
                text = self.outcome("base_rate", place).column.as_text()
                levels = parsing.rate_levels(parsing.text_numbers(text.codes, StringPool(text.text)))
            else:
                levels = parsing.rate_levels(parsing.read_numbers(cells))
            is_level = ~np.isnan(levels.values)
            if is_level.any() and "base_rate_level" not in loans.numbers:
                loans.numbers["base_rate_level"] = self._in_unit(place)("base_rate_level", levels)
                self.level_column = place
            if "base_rate" not in loans.categories and (is_words or not is_level.any() or cells.seen & bit(TEXT)):
                text = self.outcome("base_rate", place).column.as_text()
                codes = np.where(is_level, np.int32(-1), text.codes) if is_level.any() else text.codes
                if is_level.any() and not (codes >= 0).any():
                    continue  # levels, and words for none
                self._put_column(loans, "base_rate", FieldColumn(text_column(parsing.TextColumn(codes, text.text))))

    def _stand_ins(self, loans: Loans) -> None:
        """Warn of columns that feed fields for which the mapping names others."""
        for target, work in self.works.items():
            column = self.columns.get(target)
            if column is None or not work.field.own:
                continue
            if self.header.preferences.get((target, column), 0) < work.field.own:
                continue
            named = ", ".join(repr(alias) for alias in work.field.aliases[: work.field.own][:HEADERS_TOLD])
            header_text = " ".join(self.header.texts.get(column, "").split())
            message = f"Column {header_text!r} stands in for {target}: the mapping's own ({named}) is not there."
            loans.notes.warnings.append(DataWarning("column_stands_in", message, fields=(target,)))

    def _note(self, loans: Loans, columns: dict[str, int]) -> None:
        notes, texts, counts = loans.notes, self.header.texts, self.rows.counts
        notes.holdings_found = True
        notes.header_row = self.header.row
        notes.matched_columns = {target: " ".join(texts[column].split()) for target, column in sorted(columns.items())}
        notes.missing_required = [
            field.target for field in self.mapping.fields if field.required and field.target not in columns
        ]
        notes.error_cells = sum(self.cells(column).error_count() for column in set(columns.values()))
        once = {column for target, column in columns.items() if target not in SHARED_TARGETS}
        notes.unreadable_cells = {
            target: count
            for target, count in self.unreadable.items()
            if target not in SHARED_TARGETS or columns[target] not in once
        }
        notes.ignored_blank_par = counts.get("ignored_blank_par", 0)
        notes.loans_without_par = counts.get("loans_without_par", 0)
        notes.section_rows = counts.get("section_rows", 0)
        notes.total_rows = counts.get("total_rows", 0)
        notes.subtotal_rows = counts.get("subtotal_rows", 0)
        notes.cash_rows = counts.get("cash_rows", 0)
        notes.repeated_headers = counts.get("repeated_headers", 0)
        notes.unidentified_rows = counts.get("unidentified_rows", 0)
        notes.rows_after_end = counts.get("rows_after_end", 0)
        self._note_no_collateral(notes)
        self._warn_of_bare(notes)
        self._warn_of_like_totals(notes)
        self._warn_of_pools(notes)
        notes.warnings += lists_beside(self._sheet, self.header, self.mapping)
        notes.filled_borrowers = counts.get("filled_borrowers", 0)
        rows = self._rows
        places = (
            (rows.start, rows.stop - 1) if isinstance(rows, slice) else (rows[0], rows[-1]) if len(rows) else (0, -1)
        )
        if places[1] >= places[0]:
            low, high = (self.below.row(int(place)) for place in places)
            loans.source_cells = {
                target: range_place(self._sheet, low, column, high, column) for target, column in columns.items()
            }


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
