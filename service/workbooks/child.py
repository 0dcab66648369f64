"""What a confined child does for workbooks.

Write a large page of a sheet, tell how the loans of one are read.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct

from core.grid.codec import WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.mapping.normalise import CellFault, NormalisedRows
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import Mapping
from core.portfolio.model.loan_fields import label_of
from core.portfolio.model.notes import DataWarning, limit_warnings
from core.portfolio.model.portfolio import GivenSource
from core.values import EPOCH
from service.mappings.schema import Finding
from service.platform.route.api import Raw
from service.workbooks import schema, sheet_actions

OPEN_MAX: Final = 4
"""Workbooks that a child keeps mapped."""


def page(key: str, manifest: str, paths: tuple[str, ...], row: schema.SheetRow, query: schema.DataQuery) -> Raw:
    """Return a page of a sheet's data, encoded; `key` is that of the stored workbook."""
    return sheet_actions.page(_open(key, manifest, paths), row, query)


class DetectionOrder(Struct, frozen=True, kw_only=True):
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


def detection(key: str, manifest: str, paths: tuple[str, ...], order: DetectionOrder) -> Raw:
    """Return an encoded detection; `key` is the stored workbook's."""
    return detect_in(_open(key, manifest, paths), order)


def detect_in(book: Workbook, order: DetectionOrder) -> Raw:
    """Return the same of an open workbook."""
    detection = detect_columns(book, order.mapping, sheet=order.sheet, columns_max=schema.DETECTED_COLUMNS_MAX)
    checked = validate(book, order.mapping, sheet=order.sheet)
    answer = schema.WorkbookDetection(
        workbook_id=order.workbook_id,
        mapping_id=order.mapping.id,
        warnings=_warnings(book, order) if order.sheet is None else [],
        fields=[
            schema.ReadField(name=field.target, label=label_of(field.target, order.labels), type=field.type)
            for field in (*order.mapping.fields, *order.mapping.auxiliary)
        ],
        detection=detection,
        validation=None if checked is None else _check(checked),
    )
    return Raw(msgspec.json.encode(answer), "application/json")


def _warnings(book: Workbook, order: DetectionOrder) -> list[DataWarning]:
    days = float((order.day - EPOCH).days)
    portfolio = Portfolio.from_workbook(book, order.mapping, as_of=days, as_of_source=order.day_source)
    return limit_warnings(portfolio.notes.warnings)


def _check(normalised: NormalisedRows) -> schema.RowCheck:
    return schema.RowCheck(
        valid=normalised.is_valid,
        rows_processed=normalised.row_count,
        rows_valid=normalised.row_count - normalised.rows_invalid,
        rows_invalid=normalised.rows_invalid,
        error_count=normalised.error_count,
        warning_count=normalised.warning_count,
        errors=[_finding(fault) for fault in normalised.errors[: schema.FINDINGS_MAX]],
        warnings=[_finding(fault) for fault in normalised.warnings[: schema.FINDINGS_MAX]],
        missing_required_columns=normalised.missing_required_columns,
    )


def _finding(fault: CellFault) -> Finding:
    return Finding(
        row=fault.row,
        field=fault.field,
        rule=fault.rule,
        message=fault.message,
        value=fault.value,
        page=UNSET if fault.page is None else fault.page,
        line=UNSET if fault.line is None else fault.line,
    )


@lru_cache(maxsize=OPEN_MAX)
def _open(_key: str, manifest: str, paths: tuple[str, ...]) -> Workbook:
    return open_workbook(WorkbookRecord.from_json(manifest), [Path(path) for path in paths])
