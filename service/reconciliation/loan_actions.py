"""Stored loans of tapes: read by the page, and by the worker that compares them."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from core.grid.codec import WorkbookRecord, open_sheet
from core.grid.sheet import Sheet
from core.portfolio.assemble.stored import loans_at
from core.portfolio.model.fields import IDENTIFIERS
from core.values import EPOCH
from service.mappings.schema import MappingNotFound
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.base.lru import Lru, bytes_of
from service.platform.data.blobs import hash_path
from service.platform.unit.context import Unit
from service.platform.unit.storage import store_blob
from service.reconciliation import store
from service.reconciliation.child import Comparison
from service.reconciliation.schema import TapeLoan, TapeNotReady, TapeRow
from service.reconciliation.store import JobRow
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotFound

MAPPED_TAPES = 16
MAPPED_BYTES_MAX = 32 * 1024 * 1024
"""Of the mapped tapes together, beside the files' own pages."""
TEXT_CHARACTERS = 1_000
"""Of one text of a loan; what a stranger's cell holds beyond that is cut."""
DAYS_LEAST, DAYS_MOST = (date.min - EPOCH).days, (date.max - EPOCH).days

_TEXTS = (
    "cusip",
    "loanx_id",
    "isin",
    "borrower_name",
    "facility_name",
    "rating",
    "rating_agency_a",
    "rating_agency_b",
    "rating_agency_c",
    "base_rate",
    "industry",
    "country",
)
_NUMBERS = ("par_value", "price", "spread", "all_in_rate")
_READ = (*_TEXTS, *_NUMBERS, "maturity_date", "days_past_due")


async def open_loans(unit: Unit, tape: TapeRow) -> Sheet:
    """Return the stored loans of a tape, mapped read-only.

    Raises:
        TapeNotReady: as `loans_key`.
    """
    key = loans_key(tape, ["path", "tape_id"])
    cache: Lru[str, Sheet] = unit.resources.memory.cache("tapes", most=MAPPED_TAPES, bytes_most=MAPPED_BYTES_MAX)
    stored = await unit.resources.blobs.locate(key)
    mapped = f"{key} {stored.identity}"
    sheet = cache.get(mapped)
    if sheet is None:
        if not stored.is_there:
            raise unit.resources.blobs.away()
        sheet = await unit.compute(open_sheet, stored.path)
        cache.keep(mapped, sheet, bytes_of(sheet))
    return sheet


def loans_key(tape: TapeRow, place: list[str]) -> str:
    """Return the blob of a tape's stored loans.

    Raises:
        TapeNotReady: it is not processed, or cannot be; why is said of the `place` in the request that names the tape.
    """
    if tape.processing_status == "completed" and tape.loans_key is not None:
        return tape.loans_key
    raise TapeNotReady.at(place, tape.error_message or "its loans are still being read")


def loans(sheet: Sheet, tape_id: str, first: int, last: int) -> list[TapeLoan]:
    """Return loans `first` to `last - 1` (0-based) of a tape, fewer at its end."""
    read = loans_at(sheet, first, last)
    height = len(read["par_value"])
    columns: dict[str, list[Any]] = {name: read.get(name, [None] * height) for name in _READ}
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return [_loan(tape_id, first + at, row) for at, row in enumerate(rows)]


def _loan(tape_id: str, at: int, row: dict[str, Any]) -> TapeLoan:
    row |= {name: _text(row[name]) for name in _TEXTS}
    row["maturity_date"] = _day(row["maturity_date"])
    row["days_past_due"] = None if row["days_past_due"] is None else round(row["days_past_due"])
    named = next((row[name] for name in (*IDENTIFIERS, "borrower_name") if row[name]), None)
    return TapeLoan(id=_loan_id(tape_id, at), tape_id=tape_id, primary_identifier=named, **row)


def _text(value: str | None) -> str | None:
    return value if value is None or len(value) <= TEXT_CHARACTERS else value[: TEXT_CHARACTERS - 3] + "..."


def _day(days: float | None) -> date | None:
    return None if days is None or not DAYS_LEAST <= days <= DAYS_MOST else EPOCH + timedelta(days=int(days))


def _loan_id(tape_id: str, row: int) -> UUID:
    """Return a loan's identifier, the same each time though not stored."""
    return UUID(bytes=hashlib.sha256(f"{tape_id} {row}".encode()).digest()[:16], version=4)


# For the worker -------------------------------------------------------------------------------------------------------

GONE = "The workbook was deleted, or its columns or its mapping are no longer there."


async def keep_loans(unit: Unit, path: Path) -> str:
    """Store loans as a blob; return its key.

    It goes again should the job's transaction fail.
    """
    key = await asyncio.to_thread(hash_path, path)
    await store_blob(unit, path, key)
    return key


async def comparison(unit: Unit, job: JobRow) -> Comparison | None:
    """Return a comparison's inputs as they are stored now.

    A workbook that is being recalculated gives the columns that it had. None where one of these is gone (`GONE`).
    """
    tape = await store.tapes.get(unit, job.tape_id)
    try:
        book = await workbooks.get(unit, job.workbook_id)
        mapping = await get_mapping(unit, book.read_by or DEFAULT_MAPPING)
    except (WorkbookNotFound, MappingNotFound):
        return None
    if tape.loans_key is None or book.book_key is None:
        return None
    manifest = await workbooks.book(unit, book.id)
    records = WorkbookRecord.from_json(manifest).sheets
    blobs = unit.resources.blobs
    return Comparison(
        loans=str(await blobs.path(tape.loans_key)),
        manifest=manifest,
        paths=tuple([str(await blobs.path(record.file)) for record in records]),
        mapping=mapping.json,
        day=None if book.as_of is None else float((book.as_of - EPOCH).days),
        rules=tuple(job.rules),
        tolerances=job.tolerances,
    )
