"""The loans of a workbook as a table.

Fields, conditions and order, from the portfolio that is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.compliance.conventions import currency_of
from core.portfolio import Portfolio
from core.portfolio.model.loan_fields import LoanColumn, column_of, describe, field_names
from core.portfolio.model.notes import DataWarning, limit_warnings
from core.portfolio.model.selection import OPERATIONS, ConditionError, LoanCondition, Operation, condition_of
from core.words import suggestion
from service.auth import shared as identity
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.base.lru import Lru
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.route.api import Raw
from service.platform.unit.context import Context
from service.portfolios.shared import GivenDay, portfolio_of
from service.processes.shared import run_limited_in_child
from service.readings import child
from service.readings.schema import FILTERS_MAX, LoansQuery, WorkbookLoans
from service.workbooks import shared as workbooks

ORDERS_MAX: Final = 64
"""Choices of loans that a process keeps: whoever scrolls asks for the next part of one."""
ORDERS_BYTES_MAX: Final = 32 * 1024 * 1024
FEW_LOANS: Final = 2_000
"""So many loans a thread chooses in a millisecond; of more a child does."""
FEW_CELLS: Final = 50_000
"""So many cells a thread writes in two milliseconds; more a child writes."""

_FILTER: Final = re.compile(rf"(?s)([^:]*):({'|'.join(OPERATIONS)}):(.*)")
_NEXT_FILTER: Final = re.compile(rf",(?=\w+:(?:{'|'.join(OPERATIONS)}):)")
"""Between conditions that a client joined by commas."""


class OrderKey(NamedTuple):
    """All that a choice of loans is made from. No tenant: who has the same file gets the same loans."""

    book_key: str
    mapping: str
    day: GivenDay
    conditions: tuple[LoanCondition, ...]
    sort: str


async def loans(ctx: Context, workbook_id: UUID, query: LoansQuery) -> Raw:
    """Return a part of the loans that meet the conditions, encoded by column.

    Raises:
        WorkbookNotFound, WorkbookNotReady, MappingNotFound, MappingTooSlow, Damaged: it cannot be read.
        ValidationFailed: a field is none of the workbook's, or a condition none of its field.
    """
    book = await workbooks.get(ctx, workbook_id)
    mapping = await get_mapping(ctx, book.read_by or DEFAULT_MAPPING)
    day = (
        GivenDay(book.as_of, "workbook")
        if book.as_of
        else GivenDay((await ctx.local_time(book.created_at)).date(), "upload")
    )
    portfolio, labels = await portfolio_of(ctx, book, mapping, day), await identity.labels_of(ctx)
    await ctx.commit()
    known = field_names(portfolio)
    conditions = _conditions(portfolio, query.filter, known)
    names = list(dict.fromkeys(_check_field(name, known, "fields") for name in query.fields)) or known
    if query.sort:
        _check_field(query.sort.removeprefix("-"), known, "sort")
    key = OrderKey(book.book_key or "", mapping.json, day, conditions, query.sort)
    chosen = await _chosen(ctx, portfolio, key)
    fields = {field.name: field for field in describe(portfolio, known, labels, currency_of(portfolio))}
    answer = WorkbookLoans(
        workbook_id=workbook_id,
        mapping_id=mapping.mapping.id,
        fields=[fields[name] for name in names],
        columns={},
        rows=[],
        pages=[],
        lines=[],
        total=len(chosen),
        total_par=_par(portfolio, chosen),
        offset=query.offset,
        limit=query.limit,
        available=[*fields.values()],
        warnings=_warnings(portfolio),
    )
    part = chosen[query.offset : query.offset + query.limit].astype(np.intp)
    answer, columns = await ctx.compute(_part, portfolio, answer, names, part)
    if len(part) * len(names) <= FEW_CELLS:
        return await ctx.compute(child.write, answer, columns)
    return await run_limited_in_child(ctx, child.write, answer, columns)


def _par(portfolio: Portfolio, rows: NDArray[np.int32]) -> float | None:
    """Return the par of some loans; nothing where none has one."""
    par = portfolio.numbers["par_value"][rows] if "par_value" in portfolio.numbers else np.empty(0)
    return float(np.nansum(par)) if np.isfinite(par).any() else None


def _part(
    portfolio: Portfolio, answer: WorkbookLoans, names: Sequence[str], rows: NDArray[np.intp]
) -> tuple[WorkbookLoans, dict[str, LoanColumn]]:
    """Add the sheet's rows to an answer, and cut its columns out of the portfolio's."""
    sheet_rows = [] if portfolio.sheet_rows is None else portfolio.sheet_rows[rows].tolist()
    page_lines = [] if portfolio.page_lines is None else [portfolio.page_line(row) or (0, 0) for row in sheet_rows]
    pages, lines = [page for page, _ in page_lines], [line for _, line in page_lines]
    return (
        msgspec.structs.replace(answer, rows=sheet_rows, pages=pages, lines=lines),
        {name: column_of(portfolio, name).take(rows) for name in names},
    )


def _warnings(portfolio: Portfolio) -> list[DataWarning]:
    """Return what to doubt of the loans; that there are none stands first."""
    warnings = portfolio.notes.warnings
    if not portfolio.notes.holdings_found:
        warnings = [DataWarning("no_loans", f"no loans were found: {portfolio.notes.message}"), *warnings]
    return limit_warnings(warnings)


# What is asked --------------------------------------------------------------------------------------------------------


def _check_field(name: str, fields: Sequence[str], parameter: str) -> str:
    """Return the name of a field, if the workbook's loans have it."""
    if name not in fields:
        raise ValidationFailed.at(["query", parameter], _unknown(name, fields))
    return name


def _unknown(name: str, fields: Sequence[str]) -> str:
    return f"the loans have no field {name[:100]!r}; {suggestion(name, fields) or 'they have none'}"


def _conditions(portfolio: Portfolio, filters: Sequence[str], fields: Sequence[str]) -> tuple[LoanCondition, ...]:
    """Return the conditions, or all that is wrong with them."""
    texts = [part for filter_ in filters for part in _NEXT_FILTER.split(filter_)]
    if len(texts) > FILTERS_MAX:
        raise ValidationFailed.at(["query", "filter"], f"expected at most {FILTERS_MAX} conditions, got {len(texts)}")
    faults, conditions = [], list[LoanCondition]()
    for text in texts:
        condition = _condition(portfolio, text, fields)
        if isinstance(condition, str):
            faults.append(Fault(["query", "filter"], condition))
        else:
            conditions.append(condition)
    if faults:
        raise ValidationFailed(*faults)
    return tuple(conditions)


def _condition(portfolio: Portfolio, text: str, fields: Sequence[str]) -> LoanCondition | str:
    """Return a condition, or why it is none."""
    if (match := _FILTER.fullmatch(text)) is None:
        return f"{text[:100]!r} is not field:op:value; op is {', '.join(OPERATIONS)}"
    name, value = match[1], match[3]
    if name not in fields:
        return _unknown(name, fields)
    try:
        return condition_of(name, cast(Operation, match[2]), value, column_of(portfolio, name))
    except ConditionError as error:
        return str(error)


async def _chosen(ctx: Context, portfolio: Portfolio, key: OrderKey) -> NDArray[np.int32]:
    """Return the rows of the wanted loans in order, chosen once."""
    if not key.conditions and not key.sort:
        return np.arange(portfolio.row_count, dtype=np.int32)
    cache: Lru[OrderKey, NDArray[np.int32]] = ctx.resources.memory.cache(
        "loan_orders", most=ORDERS_MAX, bytes_most=ORDERS_BYTES_MAX
    )
    rows = cache.get(key)
    if rows is None:
        sort = key.sort.removeprefix("-")
        fields = {condition.field for condition in key.conditions} | ({sort} if sort else set())
        columns = {name: column_of(portfolio, name) for name in fields}
        work = portfolio.row_count, columns, key.conditions, sort or None, key.sort.startswith("-")
        if portfolio.row_count <= FEW_LOANS:
            rows = (await ctx.compute(child.choose, *work)).array()
        else:
            rows = (await run_limited_in_child(ctx, child.choose, *work)).array()
        cache.keep(key, rows, rows.nbytes + len(key.mapping))
    return rows
