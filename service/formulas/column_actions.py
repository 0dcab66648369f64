"""Formulas on the sheets of workbooks.

Tried on some rows, and handed to the worker that writes a column.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from core.confined.run import ChildKilled, run
from core.formula.blocks import Graph, UnknownColumn, by_name
from core.grid.address import column_name
from core.grid.codec import open_sheet
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings.header import find
from service.formulas import schema, store
from service.formulas.actions import whole
from service.formulas.child import PREVIEW, ColumnFailed, Place, PreviewOrder
from service.mappings.shared import DEFAULT_MAPPING
from service.platform.base.problem import Fault, Unavailable, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context, Unit
from service.workbooks import shared as workbooks
from service.workbooks.schema import SheetRow

OPENING_SECONDS: Final = 10.0
"""In which a child must have opened the workbook."""
MEGABYTE: Final = 1024 * 1024
TARGET: Final = ["body", "target_column"]


async def preview(ctx: Context, body: schema.PreviewRequest) -> schema.Preview:
    """Return a graph's results on the first rows of a sheet."""
    formula = await whole(ctx, body.graph)
    row = await workbooks.get(ctx, body.workbook_id)
    sheet = await workbooks.sheet(ctx, row.id, body.sheet_id)
    _columns_read(body.graph, formula.columns, _columns(sheet))
    stored = await workbooks.locate_book(ctx, replace(row, book_key=sheet.book_key))
    place = place_of(stored, sheet, await ctx.local_time(ctx.now()))
    await ctx.commit()  # no connection is held while it calculates
    seconds = ctx.settings.evaluation_seconds
    order = PreviewOrder(place=place, formula=formula.text, rows=body.sample_size, seconds=seconds)
    try:
        sample = await ctx.resources.probes(
            ctx.tenant_key,
            run,
            PREVIEW,
            order,
            reads=stored.paths,
            memory_bytes_max=ctx.settings.recalculation_memory_mb * MEGABYTE,
            seconds_max=seconds + OPENING_SECONDS,
        )
    except ColumnFailed as refusal:
        raise schema.PreviewFailed.at(["body", "graph"], str(refusal)) from None
    except ChildKilled as killed:  # which says nothing of the formula
        raise Unavailable from killed
    return schema.Preview(
        sample_results=sample.rows,
        total_rows=sample.total_rows,
        preview_size=len(sample.rows),
        compiled_formula=formula.text,
    )


async def apply(ctx: Context, config_id: str, body: schema.ApplyRequest) -> schema.Run:
    """Queue the writing of a column; nobody else writes meanwhile."""
    config = await store.get(ctx, config_id)
    if config.status != "active":
        raise schema.FormulaNotActive.at(["path", "config_id"], f"the formula is {config.status}")
    body = replace(body, target_column=" ".join(body.target_column.split()))  # as headers are read
    version = await store.version(ctx, config_id, body.version_id)
    run_id = f"run_{new_id().hex}"
    book = await workbooks.get(ctx, body.workbook_id, lock=True)
    sheet = await workbooks.sheet(ctx, book.id, body.sheet_id)
    await workbooks.begin_writing(ctx, book, run_id)
    formula = await whole(ctx, version.graph)
    _check_target(ctx, body, sheet, _columns_read(version.graph, formula.columns, _columns(sheet)))
    workbooks.check_storage(ctx.settings, ["body", "workbook_id"], await workbooks.room(ctx))
    row = msgspec.structs.asdict(body) | {"sheet_id": sheet.id, "created_by": await ctx.email()}
    started = await store.add_run(ctx, {**row, "id": run_id, "config_id": config_id})
    await ctx.enqueue("formulas.apply", queue="calculate", arguments={"run_id": run_id})
    ctx.set_subject(
        "formula", config_id, config.name, run_id=run_id, version_id=body.version_id, workbook_id=str(book.id)
    )
    return started


async def resume(unit: Unit, run_id: str) -> bool:
    """Hand the workbook to a run that failed once more; whether it was such a one.

    Raises:
        Problem: what `apply` would refuse by now.
    """
    run = await store.resume_run(unit, run_id)
    if run is None:
        return False
    version = await store.version(unit, run.config_id, run.version_id)
    book = await workbooks.get(unit, run.workbook_id, lock=True)
    sheet = await workbooks.sheet(unit, book.id, str(run.sheet_id))
    await workbooks.begin_writing(unit, book, run_id)
    formula = await whole(unit, version.graph)
    _check_target(unit, run, sheet, _columns_read(version.graph, formula.columns, _columns(sheet)))
    return True


def place_of(stored: workbooks.StoredBook, sheet: SheetRow, now: datetime) -> Place:
    """Return a sheet as a child opens it; `now` is the moment by the tenant's clocks."""
    return Place(
        manifest=stored.manifest,
        paths=stored.paths,
        sheet_index=sheet.index,
        header_row=sheet.header_row,
        headers=sheet.headers,
        now=now.replace(tzinfo=None),
    )


def names_row(path: Path, sheet: SheetRow) -> int | None:
    """Return the row of the columns' names.

    A row of units may stand below it, and belong to the header.
    """
    header = find(open_sheet(path), PROFILES[DEFAULT_MAPPING])
    return header.named_row if header is not None and header.row == sheet.header_row else sheet.header_row


def _columns(sheet: SheetRow) -> dict[str, int]:
    """Return the columns' places by their names, in the header or A, B, C."""
    names = sheet.headers or [column_name(at) for at in range(len(sheet.types))]
    return {name: at for at, name in enumerate(names)}


def _columns_read(graph: Graph, names: tuple[str, ...], columns: dict[str, int]) -> set[int]:
    """Return the places of the columns that a formula reads.

    Raises:
        InvalidGraph: the sheet does not have them; each fault names its node.
    """
    find, columns_read, faults = by_name(columns), set(), []
    for name in names:
        try:
            columns_read.add(find(name))
        except UnknownColumn as unknown:
            places = [["nodes", node.id] for node in graph.nodes if node.params.get("column") == name] or [[]]
            faults += [Fault(["body", "graph", *place], f"unknown_column: {unknown.message}") for place in places]
    if faults:
        raise schema.InvalidGraph(*faults)
    return columns_read


def _check_target(unit: Unit, body: schema.ApplyRequest | schema.Run, sheet: SheetRow, read: set[int]) -> None:
    """Refuse a column that may not be written.

    Raises:
        ColumnExists, ColumnNotFound, ValidationFailed: it may not.
    """
    columns, wanted = _columns(sheet), body.target_column
    if body.output_mode == "overwrite":
        try:
            at = by_name(columns)(wanted)
        except UnknownColumn as unknown:
            raise schema.ColumnNotFound.at(TARGET, unknown.message) from None
        if at in read:
            raise schema.InvalidGraph.at(TARGET, "the formula reads the column that it would overwrite")
        return
    if wanted.casefold() in {name.casefold() for name in columns}:
        raise schema.ColumnExists.at(TARGET, "output_mode overwrite writes over it")
    if len(sheet.types) >= unit.settings.max_sheet_columns:
        raise ValidationFailed.at(TARGET, f"the sheet has {len(sheet.types):,} columns, as many as it may")
    if sheet.header_row is None and wanted.upper() != (free := column_name(len(sheet.types))):
        raise ValidationFailed.at(TARGET, f"the sheet has no header: its next free column is {free}")
