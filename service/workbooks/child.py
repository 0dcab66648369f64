"""What a confined child does for workbooks: write a large page of a sheet, tell how the loans of one are read."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from core.grid.codec import WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.mapping.normalise import CellFault, Normalised
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import Mapping
from core.portfolio.model.loan_fields import label_of
from core.portfolio.model.notes import DataWarning, bounded
from core.portfolio.model.portfolio import GivenSource
from core.values import EPOCH
from service.mappings.schema import Finding
from service.platform.route.api import Raw
from service.workbooks import sheet_actions
from service.workbooks.schema import (
    DETECTED_COLUMNS_MAX,
    FINDINGS_MAX,
    DataQuery,
    ReadField,
    RowCheck,
    SheetRow,
    WorkbookDetection,
)

OPEN_MAX: Final = 4
"""Workbooks that a child keeps mapped."""


def page(key: str, manifest: str, paths: tuple[str, ...], row: SheetRow, query: DataQuery) -> Raw:
    """A page of a sheet's data, encoded; `key` is that of the stored workbook."""
    return sheet_actions.page(_opened(key, manifest, paths), row, query)


class Asked(Struct, frozen=True, kw_only=True):
    """Whose loans are asked for, and how they are read."""

    workbook_id: UUID
    mapping: Mapping
    sheet: str | None
    """The name of the only sheet to look at."""
    day: date
    """The day of its figures."""
    day_source: GivenSource
    """Who gives the day."""
    labels: dict[str, str]
    """What people of the tenant read in place of an agency's name."""


def detection(key: str, manifest: str, paths: tuple[str, ...], asked: Asked) -> Raw:
    """What is detected in a workbook and why, encoded; `key` is that of the stored workbook."""
    return detected(_opened(key, manifest, paths), asked)


def detected(book: Workbook, asked: Asked) -> Raw:
    """The same of an open workbook."""
    found = detect_columns(book, asked.mapping, sheet=asked.sheet, columns_max=DETECTED_COLUMNS_MAX)
    checked = validate(book, asked.mapping, sheet=asked.sheet)
    answer = WorkbookDetection(
        workbook_id=asked.workbook_id,
        mapping_id=asked.mapping.id,
        warnings=_warnings(book, asked) if asked.sheet is None else [],
        fields=[
            ReadField(name=one.target, label=label_of(one.target, asked.labels), type=one.type)
            for one in (*asked.mapping.fields, *asked.mapping.auxiliary)
        ],
        detection=found,
        validation=None if checked is None else _check(checked),
    )
    return Raw(msgspec.json.encode(answer), "application/json")


def _warnings(book: Workbook, asked: Asked) -> list[DataWarning]:
    days = float((asked.day - EPOCH).days)
    portfolio = Portfolio.from_workbook(book, asked.mapping, as_of=days, as_of_source=asked.day_source)
    return bounded(portfolio.notes.warnings)


def _check(normalised: Normalised) -> RowCheck:
    return RowCheck(
        valid=normalised.is_valid,
        rows_processed=normalised.row_count,
        rows_valid=normalised.row_count - normalised.rows_invalid,
        rows_invalid=normalised.rows_invalid,
        error_count=normalised.error_count,
        warning_count=normalised.warning_count,
        errors=[_finding(fault) for fault in normalised.errors[:FINDINGS_MAX]],
        warnings=[_finding(fault) for fault in normalised.warnings[:FINDINGS_MAX]],
        missing_required_columns=normalised.missing_required_columns,
    )


def _finding(fault: CellFault) -> Finding:
    return Finding(row=fault.row, field=fault.field, rule=fault.rule, message=fault.message, value=fault.value)


@lru_cache(maxsize=OPEN_MAX)
def _opened(_key: str, manifest: str, paths: tuple[str, ...]) -> Workbook:
    return open_workbook(WorkbookRecord.from_json(manifest), [Path(path) for path in paths])
