"""Put typed columns among the loans of a sheet, and say what is doubtful."""

from __future__ import annotations

from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.places import pages_of, range_place
from core.portfolio.cells import number_cells, scaling, string_pool, text_cells
from core.portfolio.cells.category_cells import country
from core.portfolio.cells.flags import liens_of_flag
from core.portfolio.cells.loans import UNSAID, Loans, note_rows, put_column
from core.portfolio.cells.string_pool import ERROR, TEXT, Cells, StringPool, bit
from core.portfolio.cells.text.figures import bid_of
from core.portfolio.cells.text_cells import NO_TEXT, TextColumn
from core.portfolio.cells.typed import text_column
from core.portfolio.mapping.ambiguous import ambiguous_columns, unrecognised_flags
from core.portfolio.mapping.funded import settle_commitments, tell_of_funded
from core.portfolio.mapping.names import (
    NAMES,
    industries_of_headings,
    prefer_liens_of_names,
    refine_liens,
    without_continued,
)
from core.portfolio.mapping.pipeline import FieldColumn, is_ruled
from core.portfolio.mapping.rates import put_rates
from core.portfolio.mapping.sheet_columns import OF_COMPANIES, SheetColumns
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import KEYS, SHARED_TARGETS
from core.portfolio.model.notes import DataWarning, Notes, row_texts, with_rows
from core.portfolio.pages.currency import currencies
from core.portfolio.sheets.rows import pools
from core.portfolio.sheets.rows.headings import GroupValues, values_of
from core.portfolio.sheets.rows.spans import currency_signs
from core.portfolio.sheets.rows.words import STATISTIC
from core.portfolio.sheets.stacked import lists_beside
from core.words import agreed, counted

FOOTING_DIGITS: Final = 0.005
"""Currency units by which a sheet's total may differ from the sum of its loans."""

HEADERS_TOLD: Final = 5
"""Columns that a warning names."""

NO_COLLATERAL: Final = (
    ("no_collateral_rows", "heading says that it is no collateral"),
    ("part_rows", "name says something of the loan above"),
    ("equity_rows", "type or facility is that of shares, warrants or units"),
    ("contract_rows", "type or name is that of a swap, a forward, a Treasury bill or a money fund"),
)
"""Rows that are left out by what is said of them -> why."""

VALUE_LEAST: Final = 10.0
"""Percent of par that the middle one of a pool's market values is not below."""

SHOWN_MIN: Final = 0.8
"""Share of the amounts with a currency from which it is that of their loans."""

EQUAL_AMONG: Final = 20_000
"""Rows among which equal ones are looked for: a list that people keep by hand has fewer."""

NEAR_SHARE: Final = 1e-3
"""Share of the sum by which a figure that stands alone may differ from it and still be meant for it."""


class LoanReader(SheetColumns):
    """Makes loans of the columns of one sheet, with warnings of what is doubtful."""

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
        if self._is_lien_flag:
            refine_liens(loans)
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
            _, text = text_cells.pool_of(group.values)
            column = text_column(TextColumn(group.codes, text))
            if target == "is_defaulted":
                is_yes = np.array([value == "yes" for value in group.values], np.uint8)
                loans.flags[target] = string_pool.spread_out(is_yes, UNSAID, group.codes)
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
            totals = np.array([row for row in totals.tolist() if not self._is_statistic(row)], np.int64)
            figures = par[totals]
            if not len(figures):
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

    def _is_statistic(self, place: int) -> bool:
        """Return whether a row's name or identifier says that it is a maximum or so."""
        row = self.below.row(place)
        named = {self.columns[target] for target in (*NAMES, *KEYS) if target in self.columns}
        return any(
            isinstance(value := self._sheet.value(row, column), str) and STATISTIC.fullmatch(value) for column in named
        )

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
        names = text_cells.read_text(self.below.cells(self.columns["borrower_name"]).take(rows[:HEADERS_TOLD]))
        shown = ", ".join(repr(names.text[int(code)]) for code in names.codes if code >= 0)
        are_loans = agreed(len(rows), "is a loan with a name/are loans with names")
        message = (
            f"{counted(len(rows), 'row')} of sheet {self._sheet.name!r} {are_loans} like a total's; no other rows add "
            f"up to {agreed(len(rows), 'its/their')} par: {shown}."
        )
        notes.warnings.append(DataWarning("bare_loans", message, len(rows)))

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

    def _warn_of_equal(self, notes: Notes) -> None:
        """Warn of loans of one borrower whose rows are equal in every cell."""
        rows, group = self.rows.places, self._borrower_codes()
        if self._all is None or group is None or len(rows) > EQUAL_AMONG:
            return
        for place in range(self._sheet.column_count):
            cells = self.below.cells(place).take(rows)
            keys = np.column_stack([group.astype(np.float64), cells.kinds, cells.numbers, cells.codes])
            _, group, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
            again = counts[group] > 1
            rows, group = rows[again], group[again]
            if not len(rows):
                return
        message = f"{counted(len(rows), 'row')} are equal to another in every cell, and all count."
        self._warn_of_rows(notes, "equal_rows", message, rows)

    def _warn_of_filled(self, notes: Notes) -> None:
        """Warn of loans with the name of a row above of which other cells say otherwise."""
        rows, source = self.rows.places, self.rows.borrower
        if source is None:
            return
        differs = np.zeros(len(rows), np.bool_)
        for target in OF_COMPANIES & self.columns.keys():
            cells = self.below.cells(self.columns[target])
            own, above = cells.take(rows), cells.take(source)
            is_other = (own.codes != above.codes) | (own.numbers != above.numbers)
            places = np.flatnonzero(own.present() & above.present() & is_other & ~differs)
            differs[places] = _are_other_words(target, own.take(places), above.take(places))
        if differs.any():
            count = int(np.count_nonzero(differs))
            message = (
                f"{counted(count, 'loan')} without a borrower {agreed(count, 'takes/take')} that of the row above, of "
                "which an issuer, an industry or a country is another one."
            )
            self._warn_of_rows(notes, "borrower_of_above", message, rows[differs])

    def _warn_of_rows(self, notes: Notes, code: str, message: str, places: NDArray[np.int64]) -> None:
        texts = row_texts(self.below.rows(places) + 1, self._sheet.page_lines if len(self._sheet.page_lines) else None)
        notes.warnings.append(DataWarning(code, with_rows(message, self._sheet.name, texts, len(places)), len(places)))

    def _borrower_codes(self) -> NDArray[np.int64] | None:
        """Return a number of each loan's borrower; None without a column of them."""
        if "borrower_name" not in self.columns:
            return None
        source = self.rows.places if self.rows.borrower is None else self.rows.borrower
        return self.below.cells(self.columns["borrower_name"]).codes[source].astype(np.int64)

    def _doubts_days(self, days: NDArray[np.float64]) -> bool:
        """Return whether days are the list's, or loans stand again on the latest."""
        return "as_of" in self.columns or pools.lists_again(days, self._loan_keys(self.rows, needs_facility=False))

    def _tell_of_rating_parts(self, loans: Loans) -> None:
        """Warn of ratings of which symbols, not the heading, tell the agency."""
        for place, parts in self._rating_parts.items():
            fields = tuple(target for target, at in self.columns.items() if at == place)
            if parts.doubt and fields:
                text = " ".join(self.header.texts[place].split())
                names = ", ".join(AGENCY_NAMES[agency] for agency in parts.columns)
                message = f"Column {text!r} is taken for ratings of {names}: {parts.doubt}."
                loans.notes.warnings.append(DataWarning("ambiguous_column", message, None, fields))

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

    def _warn_of_quotes(self, loans: Loans) -> None:
        """Tell of cells with a bid and an ask, of which the bid counts."""
        for target in scaling.PRICES & self.columns.keys():
            cells = self.cells(self.columns[target])
            if not cells.seen & bit(TEXT):
                continue
            codes = np.unique(cells.codes[cells.kinds == TEXT])[: string_pool.FIGURES_MAX]
            are_quotes = [bool(bid_of(text)) for text in string_pool.decode(cells.pool.text, codes)]
            if count := int(np.count_nonzero(np.isin(cells.codes, codes[are_quotes]))):
                heading = " ".join(self.header.texts.get(self.columns[target], "").split())
                has = agreed(count, "has/have")
                message = f"{counted(count, 'cell')} of {heading!r} {has} a bid and an ask: the bid counts."
                loans.notes.warnings.append(DataWarning("ambiguous_column", message, count, (target,)))

    def _warn_of_values(self, loans: Loans) -> None:
        """Tell of market values that are next to nothing of par: prices, perhaps."""
        self._warn_of_quotes(loans)
        scale = self.scales.get("price")
        if scale is None or scale.unit != "currency" or "price" not in loans.numbers:
            return
        prices = loans.numbers["price"]
        if number_cells.median_at_most(prices, VALUE_LEAST):
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
        loans.notes.warnings += [*outcome.warnings, *unrecognised_flags(target, heading, outcome, self._par, loans)]
        if column.type == "string" and (work.transforms or work.field.default is not None):
            column = text_column(text_cells.merged_pool(column.text.codes, column.text.text, NO_TEXT))
        if target == "lien_type" and (liens := liens_of_flag(column.as_text(), heading)) is not None:
            column = text_column(liens)
            self._is_lien_flag = True
        lost = 0 if outcome.lost is None else note_rows(loans, target, outcome.lost)
        if unreadable := lost + put_column(loans, target, column):
            self.unreadable[target] = unreadable

    def _base_rate(self, loans: Loans) -> None:
        """Read an index by name, its level in percent, or both; earlier columns stay."""
        for place in self.header.columns["base_rate"]:
            work, cells = self._work("base_rate", place), self.cells(place)
            is_words = bool(work.transforms) or work.field.default is not None
            if is_words:
                text = self.outcome("base_rate", place).column.as_text()
                levels = number_cells.rate_levels(number_cells.text_numbers(text.codes, StringPool(text.text)))
            else:
                levels = number_cells.rate_levels(number_cells.read_numbers(cells))
            is_level = ~np.isnan(levels.values)
            if is_level.any() and "base_rate_level" not in loans.numbers:
                loans.numbers["base_rate_level"] = self._in_unit(place)("base_rate_level", levels)
                self.level_column = place
            if "base_rate" not in loans.categories and (is_words or not is_level.any() or cells.seen & bit(TEXT)):
                text = self.outcome("base_rate", place).column.as_text()
                codes = np.where(is_level, np.int32(-1), text.codes) if is_level.any() else text.codes
                if is_level.any() and not (codes >= 0).any():
                    continue  # levels, and words for none
                self._put_column(loans, "base_rate", FieldColumn(text_column(TextColumn(codes, text.text))))

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
        if notes.error_cells:
            errors = [self.cells(column).kinds == ERROR for column in set(columns.values())]
            note_rows(loans, "error_cells", np.any(errors, axis=0))
        for name, lines in (("loans_without_par", self.rows.without_par), *self.rows.left_out.items()):
            if len(lines):
                notes.rows_of[name] = (self._sheet.name, row_texts(self.below.rows(lines) + 1, loans.page_lines))
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
        self._warn_of_equal(notes)
        self._warn_of_filled(notes)
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


def _are_other_words(target: str, own: Cells, above: Cells) -> NDArray[np.bool_]:
    """Return where cells of a company mean something else: "US" and "USA" do not."""
    is_other = np.ones(len(own.codes), np.bool_)
    places = np.flatnonzero((own.codes >= 0) & (above.codes >= 0))
    spelling = country if target == "country" else string_pool.key
    names = [
        [spelling(text) for text in string_pool.decode(cells.pool.text, cells.codes[places])] for cells in (own, above)
    ]
    is_other[places] = [first != second for first, second in zip(*names, strict=True)]
    return is_other
