"""A portfolio from arrays and lists: typed columns, checked, nothing guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Dict
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.frames.given import cell_value, column_of, table_of
from core.portfolio.assemble.assemble import assemble
from core.portfolio.cells import string_pool, text_cells
from core.portfolio.cells.loans import Loans, put_column, take
from core.portfolio.cells.text.dates import date_days
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.cells.typed import NormalColumn, text_column
from core.portfolio.model import ratings
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import AUXILIARY_FIELDS, PROFILES, STANDARD_CLO_FIELDS, TRANCHE_LABELS, Lien
from core.portfolio.model.framed import DEAL_DAYS
from core.portfolio.model.portfolio import AnyPortfolio, Deal, Tranches
from core.portfolio.pages.tranches import as_percent, order_tranches
from core.values import EPOCH
from core.words import counted

ROWS_MAX: Final = 10_000_000
"""Loans of one portfolio."""

TEXT_BYTES_MAX: Final = 32_767
"""UTF-8 bytes of one string, as many as a spreadsheet cell has characters."""

FIELD_TYPES: Final = {field.target: field.type for field in (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS)} | {
    "base_rate_level": "number",
    "is_fixed": "boolean",
}
REQUIRED_FIELDS: Final = [field.target for field in PROFILES["standard_clo"].fields if field.required]


def portfolio_from_columns(
    columns: Dict[str, Any],
    tranches: Tranches | Dict[str, Any] | None,
    deal: Deal | Dict[str, Any] | None,
    *,
    into: type[AnyPortfolio],
) -> AnyPortfolio:
    """Read loans from columns named as standard_clo and its auxiliary fields.

    The columns are equally long: a dict of them, or a frame of pandas, polars, pyarrow or DuckDB.

    Numbers are in the units of `Portfolio` (spread in basis points, rates, prices and recovery in percent), NaN or None
    blank. Text is a sequence of strings and None, or a pair (codes, values) with -1 for blank. Dates are days since
    1970-01-01, `datetime64`, `date`, or text; a moment with a time zone is what its clock shows. Flags are 0/1. Ratings
    are symbols, or ranks as integers; lien_type is words or `Lien` values.

    `tranches` is a `Tranches` or columns under its names (`classes` required); `deal` a `Deal` or its fields.

    Raises:
        MappingError: a required column is missing, lengths differ, a name is unknown, or a value does not fit.
    """
    columns = {name: _to_plain(name, values) for name, values in table_of(columns, "columns").items()}
    unknown = sorted(set(map(str, columns)) - set(FIELD_TYPES))
    if unknown:
        raise MappingError(f"unknown column(s) {', '.join(unknown)}{_near(unknown[0])}")
    missing = [name for name in REQUIRED_FIELDS if name not in columns]
    if missing == ["borrower_name"] and "issuer_id" in columns:
        missing = []
    if missing:
        raise MappingError(f"required column(s) {', '.join(missing)} missing")
    height = _height(columns)
    loans = Loans(row_count=height)
    for name, values in columns.items():
        _read(loans, name, values)
    loans.tranches, loans.deal = tranches_of(tranches), deal_of(deal)
    if loans.deal.as_of is None and loans.notes.as_of_column is not None:
        loans.deal = replace(loans.deal, as_of=loans.notes.as_of_column, as_of_source="column")
    loans.notes.holdings_found = True
    loans.notes.matched_columns = {name: name for name in sorted(columns)}
    blank = np.isnan(loans.numbers["par_value"])
    loans.notes.ignored_blank_par = loans.notes.loans_without_par = int(np.count_nonzero(blank))
    if blank.any():
        take(loans, np.flatnonzero(~blank))
    return assemble(into, loans)


def _to_plain(name: str, values: Any) -> Any:
    """Return arrays, lists and pairs as they are; of a Series, what its cells know."""
    if _is_pair(values) or (isinstance(values, np.ndarray) and values.dtype.kind in "biufU"):
        return values
    if isinstance(values, list | tuple):
        plain = str | int | float | date | None
        if all(isinstance(value, plain) and value == value for value in values):
            return values
        try:
            return [value if isinstance(value, int) else cell_value(value) for value in values]
        except TypeError:
            return values  # refused by who knows what the column is to hold
    return column_of(name, values)


def _near(name: str) -> str:
    near = get_close_matches(name.lower(), FIELD_TYPES, n=1)
    return f"; near {name}: {near[0]}" if near else ""


def is_standard(names: Iterable[str]) -> bool:
    """Return whether columns have the names that `portfolio_from_columns` knows."""
    names = set(names)
    return names <= FIELD_TYPES.keys() and set(REQUIRED_FIELDS) <= names


def _height(columns: Dict[str, Any]) -> int:
    heights = {name: len(values[0]) if _is_pair(values) else len(values) for name, values in columns.items()}
    height = heights["par_value"]
    for name, other_height in heights.items():
        if other_height != height:
            raise MappingError(f"column {name} has {other_height} values, par_value has {height}")
    if height > ROWS_MAX:
        raise MappingError(f"{height} loans are more than {ROWS_MAX}")
    return height


def _is_pair(values: Any) -> bool:
    """Return whether text comes as (codes, values), the first an integer array."""
    return (
        isinstance(values, tuple)
        and len(values) == 2
        and isinstance(values[0], np.ndarray)
        and values[0].dtype.kind in "iu"
    )


def _read(loans: Loans, name: str, values: Any) -> None:
    """Put a column into its place; typed ones are not typed again."""
    kind = FIELD_TYPES[name]
    is_whole = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    if name in ratings.AGENCY_OF and is_whole:
        loans.ranks[name] = _within(name, values, 0, ratings.DEFAULTED, "rank")
    elif name == "lien_type" and (is_whole or (not _is_pair(values) and len(values) and _are_whole(values))):
        loans.lien = _within(name, np.asarray(values), min(Lien), max(Lien), "lien")
    elif name == "is_fixed":
        loans.coupon_fixed = _flags(name, values).astype(np.int8)
    elif name == "base_rate" and not _is_pair(values) and _is_numeric(values):
        loans.numbers["base_rate_level"] = _numbers(name, values)
    elif kind == "string":
        put_column(loans, name, text_column(_text(name, values)))
    else:
        read: Callable[[str, Any], NDArray[Any]] = {"date": _dates, "boolean": _flags}.get(kind, _numbers)
        put_column(loans, name, NormalColumn(kind, read(name, values)))


def _are_whole(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int) for value in values)


def _within(name: str, values: NDArray[Any], least: int, most: int, what: str) -> NDArray[np.uint8]:
    """Return ranks or liens that are given as such."""
    if len(values) and (values.min() < least or values.max() > most):
        raise MappingError(f"column {name} has a {what} outside {least} to {most}")
    return values.astype(np.uint8)


def _is_numeric(values: Any) -> bool:
    return all(value is None or isinstance(value, int | float | np.number) for value in values[:1000])


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    if not isinstance(values, np.ndarray):
        values = [np.nan if value is None else value for value in values]
        if any(isinstance(value, str) for value in values):
            raise MappingError(f"column {name} holds text, not numbers")
    try:
        numbers = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise MappingError(f"column {name} does not hold numbers: {error}") from error
    if numbers.ndim != 1:
        raise MappingError(f"column {name} has {numbers.ndim} dimensions, not one")
    if np.isinf(numbers).any():
        raise MappingError(f"column {name} holds an infinite value")
    return numbers


def _dates(name: str, values: Any) -> NDArray[np.float64]:
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind == "M":
        days = array.astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    if array is not None and array.dtype.kind in "fiu":
        return _numbers(name, array)
    return np.array([day_number(name, value) for value in values], np.float64)


def day_number(name: str, value: Any) -> float:
    """Return a date as days since 1970, NaN for a blank.

    Raises:
        MappingError: it is none.
    """
    if value is None:
        return np.nan
    if isinstance(value, date | datetime):
        return float(value.toordinal() - EPOCH.toordinal())
    if isinstance(value, str):
        days = date_days(value, day_first=False)
        if np.isnan(days) and value.strip().upper() not in string_pool.NULL_WORDS:
            raise MappingError(f"column {name} holds {value[:40]!r}, which is no date")
        return days
    if isinstance(value, int | float | np.number):
        return float(value)
    raise MappingError(f"column {name} holds a {type(value).__name__}, which is no date")


def _flags(name: str, values: Any) -> NDArray[np.uint8]:
    array = (
        values
        if isinstance(values, np.ndarray)
        else np.array([0 if value is None else value for value in values] or [0][:0])
    )
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise MappingError(f"column {name} does not hold flags (0 or 1)")
    with np.errstate(invalid="ignore"):
        if not (np.isnan(array) | (array == 0) | (array == 1)).all():
            raise MappingError(f"column {name} holds a flag that is neither 0 nor 1")
    return np.asarray(array == 1, np.uint8)


def _text(name: str, values: Any) -> TextColumn:
    if _is_pair(values):
        codes, strings = np.ascontiguousarray(values[0], np.int32), list(values[1])
        if len(codes) and (int(codes.max()) >= len(strings) or int(codes.min()) < -1):
            raise MappingError(f"column {name} has a code outside -1 to {len(strings) - 1}")
    else:
        codes, strings = np.arange(len(values), dtype=np.int32), list(values)
    for value in strings:
        if value is not None and not isinstance(value, str):
            raise MappingError(f"column {name} holds a {type(value).__name__}, not text")
    return read_text_pair(name, codes, strings)


def read_text_pair(name: str, codes: NDArray[np.int32], strings: list[str | None]) -> TextColumn:
    """Return a column of text from the code of each row, -1 for blank, and the texts.

    Raises:
        MappingError: a text is not valid Unicode, or too long.
    """
    try:
        written, text = text_cells.pool_of(strings)
    except UnicodeEncodeError as error:
        raise MappingError(f"column {name} holds text that is not valid Unicode") from error
    if len(text) and int(np.diff(text.offsets).max()) > TEXT_BYTES_MAX:
        raise MappingError(f"column {name} holds a text longer than {TEXT_BYTES_MAX} bytes")
    codes = string_pool.spread_out(written, -1, codes)
    return text_cells.merged_pool(codes, text, text_cells.NO_TEXT)


def tranches_of(tranches: Tranches | Dict[str, Any] | None) -> Tranches | None:
    """Return the notes of a deal from columns named as in `Tranches`, or as given.

    Raises:
        MappingError: a column is unknown or missing, or lengths differ.
    """
    return tranches if tranches is None or isinstance(tranches, Tranches) else _tranches(tranches)


def _tranches(columns: Dict[str, Any]) -> Tranches:
    names = {tranche_label.target for tranche_label in TRANCHE_LABELS} - {"class"}
    unknown = sorted(set(columns) - names - {"classes"})
    if unknown or "classes" not in columns:
        raise MappingError(
            f"tranches: unknown column(s) {', '.join(unknown)}" if unknown else "tranches: classes missing"
        )
    classes: Sequence[str] = list(columns["classes"])
    numbers = {name: _numbers(f"tranches.{name}", columns[name]) for name in names & set(columns)}
    for name, values in numbers.items():
        if len(values) != len(classes):
            raise MappingError(f"tranches: column {name} has {len(values)} values for {counted(len(classes), 'class')}")
    if "current_balance" not in numbers and "original_balance" not in numbers:
        raise MappingError("tranches: current_balance missing")
    numbers.setdefault("current_balance", numbers.get("original_balance", np.zeros(len(classes))))
    for name in ("current_balance", "deferred_interest"):
        numbers[name] = np.nan_to_num(numbers.get(name, np.zeros(len(classes))))
    for name in ("oc_trigger", "ic_trigger"):
        if name in numbers:
            numbers[name] = as_percent(numbers[name])
    return order_tranches(list(classes), numbers)


_DEAL: Final = Deal.__dataclass_fields__.keys()
_DEAL_TEXTS: Final = ("as_of_source", "currency", "defaulted_in_denominator", "factor_ratings")


def deal_of(deal: Deal | Dict[str, Any] | None) -> Deal:
    """Return a deal from figures under the names of `Deal`, checked.

    Raises:
        MappingError: a figure is unknown, or is none.
    """
    figures = {name: getattr(deal, name) for name in _DEAL} if isinstance(deal, Deal) else deal or {}
    unknown = sorted(set(figures) - _DEAL)
    if unknown:
        raise MappingError(f"deal: unknown field(s) {', '.join(unknown)}")
    known: dict[str, Any] = {}
    for name, value in figures.items():
        if value is None:
            continue
        if name in _DEAL_TEXTS:
            known[name] = str(value)
        else:
            day = name in DEAL_DAYS
            known[name] = day_number(f"deal.{name}", value) if day else float(_numbers(f"deal.{name}", [value])[0])
    return Deal(**known)
