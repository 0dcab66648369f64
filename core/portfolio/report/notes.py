"""The classes of notes on any page: the table that says most of them, its blanks filled from the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.address import range_name
from core.grid.sheet_name import in_quotes
from core.portfolio.cells import _parse, parsing
from core.portfolio.cells.parsing import Numbers
from core.portfolio.classes import NAME_LENGTH_MAX, are_class_names, is_class_name
from core.portfolio.deal import TRANCHES_MAX, as_percent, ordered
from core.portfolio.fields import TRANCHE_LABELS
from core.portfolio.layout import header
from core.portfolio.notes import DataWarning
from core.portfolio.portfolio import Tranches
from core.portfolio.report.page import NAN, Page
from core.portfolio.report.tables import Kind, Table

BLANKS_MAX: Final = 2
"""Rows without a class between two classes of one table."""

BALANCE_TOLERANCE: Final = 0.5
"""Currency units by which two pages may differ in a class's balance."""

AMOUNT_MIN: Final = 1_000.0
"""Currency units that the largest class of a deal has at least."""

_AMOUNTS: Final = ("current_balance", "original_balance", "deferred_interest", "interest_due")
_TABLES: Final = Kind(
    TRANCHE_LABELS,
    lambda named: not named.isdisjoint(("current_balance", "original_balance")) and len(named) >= 2,
)


def find_notes(pages: Iterable[Page]) -> tuple[Tranches | None, dict[str, str], list[DataWarning]]:
    """The notes, the cells of each column, and what to know: of several tables the one that names most fields."""
    found = [notes for page in pages for table in _TABLES.find(page) if (notes := _Notes.of(table)) is not None]
    if not found:
        return None, {}, []
    best = max(found, key=lambda one: (one.has_amounts, len(one.columns)))
    warnings = []
    for other in found:
        if other is not best and other.has_amounts == best.has_amounts:
            differing = best.fill(other)
            if differing:
                warnings.append(
                    DataWarning(
                        "notes_differ",
                        f"{best.place} and {other.place} differ in the balance of {', '.join(differing[:5])}: "
                        "the first is used",
                        len(differing),
                    )
                )
    columns = {name: np.array([values[name] for values in best.rows], np.float64) for name in best.columns}
    columns.setdefault("current_balance", columns.get("original_balance", np.zeros(len(best.rows))))
    for name in ("current_balance", "deferred_interest"):
        columns[name] = np.nan_to_num(columns.get(name, np.zeros(len(best.rows))))
    return ordered(best.classes, columns), best.cells, warnings


class _Notes:
    """One table's classes with their figures in the units of `Tranches`."""

    def __init__(self, table: Table, names: list[tuple[int, str]]) -> None:
        self.classes = [name for _, name in names]
        places = [row for row, _ in names]
        read = {name: _values(table, name, places) for name in table.columns.keys() - {"class"}}
        self.columns = {name for name, values in read.items() if np.isfinite(values).any()}
        self.rows = [{name: float(read[name][at]) for name in self.columns} for at in range(len(names))]
        sheet = in_quotes(table.page.sheet.name)
        self.place = f"{sheet}!{range_name(places[0], 0, places[-1], max(table.headers))}"
        self.cells = {
            f"tranches.{name}": f"{sheet}!{range_name(places[0], at, places[-1], at)}"
            for name in self.columns
            for at in table.columns[name][:1]
        }

    @property
    def has_amounts(self) -> bool:
        """Whether a balance is one of currency, not a ratio under "Current" or a rating's factor."""
        balances = [values.get(name, NAN) for values in self.rows for name in ("current_balance", "original_balance")]
        return any(balance >= AMOUNT_MIN for balance in balances)

    @classmethod
    def of(cls, table: Table) -> _Notes | None:
        """None for a table whose names are not those of classes, or that has no balance."""
        balance = min(at for name in ("current_balance", "original_balance") for at in table.columns.get(name, ()))
        for column in range(min(table.headers), balance):
            names = _names(table, column)
            if are_class_names(name for _, name in names):
                notes = cls(table, names[:TRANCHES_MAX])
                return notes if notes.columns & {"current_balance", "original_balance"} else None
        return None

    def fill(self, other: _Notes) -> list[str]:
        """Take what is blank here from another table; the classes whose balances differ."""
        known = {_plain(name): values for name, values in zip(other.classes, other.rows, strict=True)}
        differing = []
        for name, values in zip(self.classes, self.rows, strict=True):
            theirs = known.get(_plain(name), {})
            for field in other.columns:
                here, there = values.get(field, NAN), theirs.get(field, NAN)
                if here != here:
                    values[field] = there
                elif field == "current_balance" and abs(here - there) > BALANCE_TOLERANCE:
                    differing.append(name)
        new = other.columns - self.columns
        self.columns |= new
        for values in self.rows:
            values.update({field: values.get(field, NAN) for field in new})
        self.cells.update({f"tranches.{field}": other.cells[f"tranches.{field}"] for field in new})
        return differing


def _plain(name: str) -> str:
    words = parsing.key(name).split()
    return " ".join(word for word in words if word not in ("class", "notes", "note", "loans", "debt"))


def _names(table: Table, column: int) -> list[tuple[int, str]]:
    """(row, name) of the classes in a column, down to the first other text."""
    names: list[tuple[int, str]] = []
    last = table.header_row
    for row in table.rows:
        text = table.page.cell(row, column).text
        if names and row - last > BLANKS_MAX + 1:
            break
        if not text or len(text) > NAME_LENGTH_MAX:
            continue
        if not is_class_name(text):
            if names:
                break
            continue
        names.append((row, text))
        last = row
    return names


def _values(table: Table, name: str, rows: list[int]) -> NDArray[np.float64]:
    """A column's figures in its unit: the first of the columns under that name that has any."""
    for column in table.columns[name]:
        cells = [table.page.cell(row, column) for row in rows]
        if any(cell.has_number for cell in cells):
            break
    else:
        return np.full(len(rows), np.nan)
    table.columns[name] = [column]
    values = np.array([cell.number for cell in cells])
    marks = np.array([_parse.PERCENT if cell.is_percent else 0 for cell in cells], np.uint8)
    numbers = Numbers(values, marks if marks.any() else None)
    if name in _AMOUNTS:
        return values * table.magnitude(name)
    unit = header.unit(table.headers[column])
    if name == "coupon":
        return parsing.rate_percent(numbers, unit=unit)
    if name == "spread":
        return parsing.spread_bps(numbers, unit)
    return as_percent(values) if name in ("oc_trigger", "ic_trigger") else values
