"""The classes of notes on any page: the fullest table, filled from others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse, scaling, string_pool, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.model.classes import NAME_LENGTH_MAX, is_class_name
from core.portfolio.model.facts import Fact, Unit
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Tranches
from core.portfolio.pages.report.blocks import Blocks, PageTable
from core.portfolio.pages.report.page import NAN
from core.portfolio.pages.tranches import TRANCHES_MAX, as_percent, order_tranches
from core.portfolio.sheets.headings import wording

BLANKS_MAX: Final = 2
"""Rows without a class between two classes of one table."""

BALANCE_TOLERANCE: Final = 0.5
"""Currency units by which two pages may differ in a class's balance."""

AMOUNT_MIN: Final = 1_000.0
"""Currency units that the largest class of a deal has at least."""

_COLUMNS: Final = {
    "orig": "original_balance", "bal": "current_balance", "spread": "spread", "cpn": "coupon", "due": "interest_due",
    "defer": "deferred_interest", "oct": "oc_trigger", "ict": "ic_trigger",
}  # fmt: skip
"""Role of a table's column -> column of `Tranches`."""

_AMOUNTS: Final = ("current_balance", "original_balance", "deferred_interest", "interest_due")
_BALANCES: Final = ("current_balance", "original_balance")

_OF_A_DAY: Final = "{} has several columns of balances, and no word says which is today's: another may be meant"

_Found = tuple[Tranches | None, dict[str, str], list[DataWarning]]


def find_notes(pages: Iterable[Blocks]) -> _Found:
    """Return the notes, the cells of each column, and warnings.

    Of several tables the one that names most fields counts.
    """
    tables = list(_tables(pages))
    with_balances = [note_table for note_table in tables if note_table.columns & set(_BALANCES)]
    if not with_balances:
        return None, {}, []
    best = max(
        with_balances,
        key=lambda note_table: (
            note_table.has_amounts,
            not note_table.is_guessed,
            len(note_table.columns),
            len(note_table.classes),
        ),
    )
    warnings = [DataWarning("notes_differ", _OF_A_DAY.format(best.place))] if best.is_guessed else []
    for table in tables:
        if table is best or (table in with_balances and table.has_amounts != best.has_amounts):
            continue
        differing = best.fill(table)
        if differing:
            warnings.append(_differing(best.place, table.place, differing))
    columns = {name: np.array([values[name] for values in best.rows], np.float64) for name in best.columns}
    columns.setdefault("current_balance", columns.get("original_balance", np.zeros(len(best.rows))))
    for name in ("current_balance", "deferred_interest"):
        columns[name] = np.nan_to_num(columns.get(name, np.zeros(len(best.rows))))
    return order_tranches(best.classes, columns), best.cells, warnings


def fill_tranches(
    tranches: Tranches, cells: dict[str, str], pages: Iterable[Blocks]
) -> tuple[Tranches, dict[str, str]]:
    """Fill a named sheet's notes with the columns of other pages' tables."""
    at = {_plain(name): row for row, name in enumerate(tranches.classes)}
    new: dict[str, Any] = {}
    for table in _tables(pages):
        for name in table.columns - new.keys():
            own = getattr(tranches, name)
            if np.isfinite(own).any() and (name != "deferred_interest" or f"tranches.{name}" in cells or own.any()):
                continue
            values = np.full(len(tranches.classes), np.nan)
            for row, label in zip(table.rows, table.classes, strict=True):
                if (place := at.get(_plain(label))) is not None:
                    values[place] = row[name]
            if np.isfinite(values).any():
                new[name] = np.nan_to_num(values) if name == "deferred_interest" else values
                cells = cells | {f"tranches.{name}": table.cells[f"tranches.{name}"]}
    return (replace(tranches, **new), cells) if new else (tranches, cells)


def facts_of(pages: Iterable[Blocks]) -> Iterator[Fact]:
    """Yield the figures of classes that tables print, kind "note".

    The label is the class, the group the column.
    """
    for table in _tables(pages):
        yield from table.facts


def _differing(first: str, second: str, names: Sequence[str]) -> DataWarning:
    text = f"{first} and {second} differ in the balance of {', '.join(names)}: the first is used"
    return DataWarning("notes_differ", text, len(names))


def _tables(pages: Iterable[Blocks]) -> Iterator[_Notes]:
    for blocks in pages:
        for table in blocks.tables:
            if table.kind == "notes" and (names := _names(table)):
                notes = _Notes(table, names[:TRANCHES_MAX])
                if notes.columns:
                    yield notes


class _Notes:
    """One table's classes with their figures in the units of `Tranches`."""

    def __init__(self, table: PageTable, names: list[tuple[int, str]]) -> None:
        self.classes = [name for _, name in names]
        places = [row for row, _ in names]
        roles = {name: role for role, name in _COLUMNS.items() if role in table.columns}
        read = {name: _values(table, role, name, places) for name, role in roles.items()}
        if "coupon" in roles and not np.isfinite(read.get("spread", np.zeros(0))).any():
            roles["spread"], read["spread"] = roles["coupon"], _spreads_in_words(table, roles["coupon"], places)
        self.columns = {name for name, values in read.items() if np.isfinite(values).any()}
        self.rows = [{name: float(read[name][at]) for name in self.columns} for at in range(len(names))]
        self.is_guessed = table.is_guessed
        rows = (places[0], places[-1])
        self.place = table.page.range_place(rows, (0, max(table.headers)))
        self.cells = {
            f"tranches.{name}": table.page.range_place(rows, (at, at))
            for name in self.columns
            if (at := table.columns[roles[name]]) >= 0
        }
        self.facts = [
            Fact(
                kind="note",
                label=label,
                subject=None,
                value=self.rows[at][name],
                unit=_unit(name),
                group=name,
                place=table.place(row, roles[name]),
                is_guessed=table.is_guessed,
                decimals=table.cell(row, roles[name]).decimals,
            )
            for at, (row, label) in enumerate(names)
            for name in sorted(self.columns)
            if self.rows[at][name] == self.rows[at][name]
        ]

    @property
    def has_amounts(self) -> bool:
        """Return whether a balance is one of currency, not a ratio or a factor."""
        balances = [values.get(name, NAN) for values in self.rows for name in _BALANCES]
        return any(balance >= AMOUNT_MIN for balance in balances)

    def fill(self, source: _Notes) -> list[str]:
        """Take what is blank here from another table; the classes whose balances differ."""
        known = {_plain(name): values for name, values in zip(source.classes, source.rows, strict=True)}
        differing = []
        for name, values in zip(self.classes, self.rows, strict=True):
            theirs = known.get(_plain(name), {})
            for field in source.columns:
                here, there = values.get(field, NAN), theirs.get(field, NAN)
                if here != here:
                    values[field] = there
                elif field == "current_balance" and abs(here - there) > BALANCE_TOLERANCE:
                    differing.append(name)
        new = source.columns - self.columns
        self.columns |= new
        for values in self.rows:
            values.update({field: values.get(field, NAN) for field in new})
        self.cells.update({f"tranches.{field}": source.cells[f"tranches.{field}"] for field in new})
        return differing


def _spreads_in_words(table: PageTable, role: str, rows: list[int]) -> NDArray[np.float64]:
    """Return basis points of cells with an index: "SOFR + 1.30%", "E+95bps"."""
    cells = [table.cell(row, role) for row in rows]
    written, pool = text_cells.pool_of(["" if cell.has_number else cell.text for cell in cells])
    values, marks = _parse.numbers(pool.offsets, pool.data, written, True)
    marks &= np.uint8(_parse.PERCENT | _parse.BASIS_POINTS)
    return scaling.spread_bps(Numbers(values, marks))


def _unit(name: str) -> Unit:
    return "amount" if name in _AMOUNTS else "percent"


def _plain(name: str) -> str:
    words = string_pool.key(name).split()
    return " ".join(word for word in words if word not in ("class", "notes", "note", "loans", "debt"))


def _names(table: PageTable) -> list[tuple[int, str]]:
    """Return (row, name) of the classes of a table, down to the first other text."""
    names: list[tuple[int, str]] = []
    last = table.heading_rows[-1]
    for row in table.rows:
        text = table.cell(row, "class").text
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


def _values(table: PageTable, role: str, name: str, rows: list[int]) -> NDArray[np.float64]:
    """Return a column's figures in its unit."""
    cells = [table.cell(row, role) for row in rows]
    values = np.array([cell.number for cell in cells])
    marks = np.array([_parse.PERCENT if cell.is_percent else 0 for cell in cells], np.uint8)
    numbers = Numbers(values, marks if marks.any() else None)
    if name in _AMOUNTS:
        return values * table.magnitude(role)
    unit = wording.unit(table.headers[table.columns[role]])
    if name == "coupon":
        return scaling.rate_percent(numbers, unit=unit)
    if name == "spread":
        in_words = _spreads_in_words(table, role, rows)
        return np.where(np.isnan(values), in_words, scaling.spread_bps(numbers, unit))
    return as_percent(values) if name in ("oc_trigger", "ic_trigger") else values
