"""One sheet: each text is looked at once, headings claim columns, and what changed is written anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.grid._intern import intern
from core.grid.address import column_name
from core.grid.column import Column, Text, frozen
from core.grid.sheet import Formulas, Sheet, Workbook
from core.grid.sheet_name import in_quotes
from core.redact.column import ColumnPass, like
from core.redact.find import Span, find
from core.redact.formulas import covering, quoted, without
from core.redact.headings import Region, regions
from core.redact.people import People
from core.redact.readers import Hidden, Readers
from core.redact.redactions import WORDS, Redactions, SecretWords
from core.redact.replace import Policy, redacted_text
from core.redact.sieve import candidates
from core.redact.texts import SheetTexts
from core.values import Kind


class SheetPass:
    """One sheet: each text is looked at once, headings claim columns, and what changed is written anew."""

    def __init__(self, sheet: Sheet, workbook: Workbook, policy: Policy, report: Redactions) -> None:
        self.sheet, self.policy, self.report = sheet, policy, report
        self.texts = SheetTexts(sheet, workbook, policy, report)
        self.columns: list[Column | None] = list(sheet.columns)
        self.changed: dict[int, NDArray[np.bool_]] = {}
        """Which stored cells of a column are redacted."""
        self.people = People(())
        self.own_sheets = {in_quotes(each.name).casefold() for each in workbook.sheets}
        """Names of sheets as formulas quote them, which follow when the sheets are renamed."""
        self.reads = np.zeros(len(sheet.formulas), np.bool_)
        """Which formulas read redacted cells."""

    def redact_cells(self) -> None:
        """Redact each cell by what it says itself, and by the headings and labels of the sheet."""
        sheet = self.sheet
        self.texts.look()
        claims: dict[int, list[Region]] = {}
        for region in regions(sheet, self.texts.labels):
            claims.setdefault(region.column, []).append(region)
        for at, column in enumerate(sheet.columns):
            if column is not None:
                work = ColumnPass(self.texts, column, f"{sheet.name}!{column_name(at)}")
                if (written := work.run(claims.get(at, []), self._is_formula(at, column))) is not None:
                    self.columns[at], self.changed[at] = written, work.changed

    def redact_people(self, people: People) -> None:
        """Mask the names of people who are known from elsewhere, in every text and formula of the sheet."""
        self.people = people
        texts = [*self.sheet.text.strings(), *self.texts.strings]
        put = np.arange(-1, len(texts), dtype=np.int32)
        for code, text in enumerate(texts):
            if spans := people.find(text):
                put[code + 1] = self.texts.code(redacted_text(text, spans, self.policy))
                for span in spans:
                    self.report.hide(span.kind, text[span.start : span.end])
        if (put == np.arange(-1, len(texts))).all():
            return
        for at, column in enumerate(self.columns):
            if column is None:
                continue
            own_cells = column.dense
            codes = put[own_cells.codes + 1]
            cells = codes != own_cells.codes
            if not cells.any():
                continue
            kinds = own_cells.kinds.copy()
            kinds[cells & (codes < 0)] = Kind.BLANK
            self.columns[at] = like(column, replace(own_cells, codes=frozen(codes), kinds=frozen(kinds)))
            self.changed[at] = self.changed.get(at, np.zeros(len(codes), np.bool_)) | cells
            self.report.add("person", f"{self.sheet.name}!{column_name(at)}", int(cells.sum()))

    def hidden(self) -> dict[int, NDArray[np.int64]]:
        """Return the rows of the redacted cells of each column."""
        rows: dict[int, NDArray[np.int64]] = {}
        for at, cells in self.changed.items():
            column = self.sheet.columns[at]
            assert column is not None
            rows[at] = column.rows()[cells]
        return rows

    def new_readers(self, readers: Readers, hidden: Hidden) -> NDArray[np.int64]:
        """Return places of the formulas that read hidden cells and were not known to."""
        reads = readers.of(self.sheet, self.sheet.formulas, hidden)
        new = np.flatnonzero(reads & ~self.reads)
        self.reads |= reads
        return new

    def redact_shown(self, new: NDArray[np.int64], words: SecretWords) -> bool:
        """Redact what the values of some formulas show of what was redacted elsewhere.

        Whether any did.
        """
        formulas = self.sheet.formulas
        cells = {(int(formulas.rows[at]), int(formulas.columns[at])) for at in new.tolist()}
        for anchor, (top, left, bottom, right) in covering(formulas) if len(new) else ():
            if (new == anchor).any():
                bottom, right = min(bottom, self.sheet.row_count - 1), min(right, self.sheet.column_count - 1)
                cells |= {(row, at) for row in range(top, bottom + 1) for at in range(left, right + 1)}
        shown: dict[int, dict[int, list[Span]]] = {}
        for row, column in sorted(cells):
            if spans := self._shown(row, column, words):
                shown.setdefault(column, {})[row] = spans
        for column, rows in shown.items():
            self._put_shown(column, rows)
        return bool(shown)

    def _shown(self, row: int, at: int, words: SecretWords) -> list[Span]:
        """Return what the value of one cell shows of what was redacted elsewhere."""
        value, column = self.sheet.value(row, at), self.sheet.columns[at]
        if column is None or (at in self.changed and self.changed[at][column.slot(row)]):
            return []
        if isinstance(value, float):
            kind = words.kinds.get(f"{value:.0f}") if value >= 10_000 and value == int(value) else None
            return [Span(0, len(f"{value:.0f}"), kind)] if kind is not None else []
        if not isinstance(value, str):
            return []
        words_found = [(match, words.kind(match[0].casefold())) for match in WORDS.finditer(value)]
        return [Span(*match.span(), kind) for match, kind in words_found if kind is not None]

    def _put_shown(self, at: int, rows: Mapping[int, list[Span]]) -> None:
        """Redact what some cells of a column show."""
        column = self.columns[at]
        assert column is not None
        cells = column.dense
        codes, kinds, numbers = cells.codes.copy(), cells.kinds.copy(), cells.numbers.copy()
        changed = self.changed.setdefault(at, np.zeros(len(codes), np.bool_))
        for row, spans in rows.items():
            slot, value = column.slot(row), self.sheet.value(row, at)
            written = value if isinstance(value, str) else f"{value:.0f}"
            codes[slot] = self.texts.code(redacted_text(written, spans, self.policy))
            kinds[slot], numbers[slot] = Kind.BLANK if codes[slot] < 0 else Kind.TEXT, 0.0
            changed[slot] = True
            for kind in {span.kind for span in spans}:
                self.report.add(kind, f"{self.sheet.name}!{column_name(at)}", 1)
        put = replace(cells, codes=frozen(codes), kinds=frozen(kinds), numbers=frozen(numbers))
        self.columns[at] = like(column, put)

    def written_anew(self) -> Sheet:
        """Return the sheet as it may be read: itself where nothing is hidden."""
        sheet = self.sheet
        formulas = self._formulas(self.changed)
        if not self.changed and formulas is sheet.formulas and not self._left_over():
            return sheet
        texts, columns = self._interned(self.columns)
        return replace(sheet, columns=tuple(columns), text=texts, formulas=formulas)

    def _is_formula(self, at: int, column: Column) -> NDArray[np.bool_]:
        """Return which stored cells of a column are formulas."""
        is_formula = np.zeros(len(column.dense.kinds), np.bool_)
        rows = self.sheet.formulas.rows[self.sheet.formulas.columns == at]
        is_formula[column.meeting(rows.astype(np.int64))[1]] = True
        return is_formula

    def _formulas(self, changed: dict[int, NDArray[np.bool_]]) -> Formulas:
        """Return the sheet's formulas but for those that hold personal data, or whose values were redacted."""
        formulas = self.sheet.formulas
        if not len(formulas):
            return formulas
        holds = np.zeros(len(formulas.text), np.bool_)
        for code, likely in candidates(formulas.text, self.policy.kinds):
            holds[code] = bool(find(quoted(formulas.text[code]), likely, self.policy.regions))
        for code, text in enumerate(formulas.text.strings()) if self.people else ():
            words = (word for word in quoted(text).split("\n") if word.casefold() not in self.own_sheets)
            holds[code] |= any(self.people.find(word) for word in words)
        dropped = holds[formulas.texts] | self.reads
        for at, cells in changed.items():
            column = self.sheet.columns[at]
            assert column is not None
            own = np.flatnonzero(formulas.columns == at)
            met, slots = column.meeting(formulas.rows[own].astype(np.int64))
            dropped[own[met]] |= cells[slots]
        for anchor, (top, left, bottom, right) in covering(formulas):
            for at in range(left, right + 1):
                if at in changed:
                    column = self.sheet.columns[at]
                    assert column is not None
                    dropped[anchor] |= bool(changed[at][column.begin(top) : column.begin(bottom + 1)].any())
        if not dropped.any():
            return formulas
        columns, counts = np.unique(formulas.columns[dropped], return_counts=True)
        for at, count in zip(columns.tolist(), counts.tolist(), strict=True):
            self.report.formulas[f"{self.sheet.name}!{column_name(at)}"] = count
        return without(formulas, dropped)

    def _left_over(self) -> bool:
        """Return whether personal data stands among the texts that no cell has."""
        used = [
            np.unique(column.dense.codes)
            for column in self.sheet.columns
            if column is not None and self.texts.spans_by_code
        ]
        return bool(set(self.texts.spans_by_code) - set(np.concatenate(used).tolist() if used else ()))

    def _interned(self, columns: list[Column | None]) -> tuple[Text, list[Column | None]]:
        """Return the texts that some cell still has, and the columns by their codes.

        What was redacted is in no byte.
        """
        first = len(self.sheet.text)
        needed = np.zeros(first + len(self.texts.strings) + 1, np.bool_)
        for column in columns:
            if column is not None:
                needed[column.dense.codes] = True  # the last place is that of -1
        kept = np.flatnonzero(needed[:-1])
        own = self.sheet.text.strings()
        codes, offsets, data = intern(
            [own[at] if at < first else self.texts.strings[at - first] for at in kept.tolist()]
        )
        moved = np.full(len(needed), -1, np.int32)
        moved[kept] = codes
        for at, column in enumerate(columns):
            if column is not None:
                cells = column.dense
                columns[at] = like(column, replace(cells, codes=frozen(moved[cells.codes])))
        return Text(frozen(offsets), frozen(data)), columns
