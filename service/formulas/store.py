"""Formulas' queries."""

from __future__ import annotations

from typing import Any

from service.formulas.schema import Config, ConfigRow, FormulaNotFound, Run, Version, VersionNotFound
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page
from service.platform.unit.records import Records, insert

formulas = Records(
    "formula_configs",
    ConfigRow,
    missing=FormulaNotFound,
    derived={
        "current_version": "'v' || version_count",
        "graph": """(
            SELECT v.graph FROM formula_versions v WHERE v.tenant_id = formula_configs.tenant_id
            AND v.config_id = formula_configs.id AND v.number = version_count)""",
    },
    touch="revision = revision + 1, updated_at = now()",
)
_CONFIG = columns_of(Config, **formulas.derived)
_VERSION = "'v' || number AS version_id, graph, change_notes, created_by, created_at"
_RUN = """
    id AS run_id, config_id, 'v' || number AS version_id, workbook_id, sheet_id, target_column, output_mode, status,
    rows_affected, rows_failed, error_details, created_by, started_at, completed_at
"""


async def get(unit: Unit, config_id: str, *, lock: bool = False) -> ConfigRow:
    """Return a formula; where asked for, locked until the transaction ends."""
    if lock:  # in a statement of its own: the one that waited would have the graph as it was before
        await unit.execute("SELECT FROM formula_configs WHERE id = %s FOR UPDATE", [config_id])
    return await formulas.get(unit, config_id)


async def read_page(ctx: Context, query: PageQuery) -> Page[Config]:
    """Return a page of formulas, the newest first."""
    return await fetch_page(ctx, Config, _CONFIG, "formula_configs WHERE true", {}, query, order="created_at DESC, id")


async def create(ctx: Context, row: dict[str, Any]) -> ConfigRow:
    """Create a formula with its first version; documents are JSON."""
    graph = row.pop("graph")
    await insert(ctx, "formula_configs", {**row, "version_count": 0})
    await add_version(ctx, row["id"], {"graph": graph, "change_notes": None, "created_by": row["created_by"]})
    return await get(ctx, row["id"])


async def update(ctx: Context, config_id: str, row: dict[str, Any]) -> ConfigRow:
    """Change a formula's record and the graph of its current version."""
    await ctx.execute(
        """
        UPDATE formula_versions v SET graph = %(graph)s FROM formula_configs c
        WHERE c.id = %(id)s AND v.tenant_id = c.tenant_id AND v.config_id = c.id AND v.number = c.version_count
        """,
        {**row, "id": config_id},
    )
    return await formulas.update(ctx, config_id, {name: value for name, value in row.items() if name != "graph"})


# Versions -------------------------------------------------------------------------------------------------------------


async def add_version(ctx: Context, config_id: str, row: dict[str, Any]) -> Version:
    """Add the next version of a formula that is locked, or new."""
    return await ctx.fetch_one(
        Version,
        f"""
        WITH next AS (
            UPDATE formula_configs SET version_count = version_count + 1, revision = revision + 1, updated_at = now()
            WHERE id = %(config_id)s RETURNING tenant_id, id, version_count
        )
        INSERT INTO formula_versions (tenant_id, config_id, number, graph, change_notes, created_by)
        SELECT tenant_id, id, version_count, %(graph)s, %(change_notes)s, %(created_by)s FROM next
        RETURNING {_VERSION}
        """,
        {**row, "config_id": config_id},
        missing=FormulaNotFound,
    )


async def version(unit: Unit, config_id: str, version_id: str) -> Version:
    """Return a version of a formula."""
    sql = f"SELECT {_VERSION} FROM formula_versions WHERE config_id = %s AND 'v' || number = %s"
    return await unit.fetch_one(Version, sql, [config_id, version_id], missing=VersionNotFound)


async def versions(ctx: Context, config_id: str, query: PageQuery) -> Page[Version]:
    """Return a page of the versions of a formula, the newest first."""
    filters = {"config_id": config_id}
    return await fetch_page(ctx, Version, _VERSION, "formula_versions WHERE true", filters, query, order="number DESC")


# Runs -----------------------------------------------------------------------------------------------------------------


async def add_run(ctx: Context, row: dict[str, Any]) -> Run:
    """Add a run that waits for its worker."""
    return await ctx.fetch_one(
        Run,
        f"""
        INSERT INTO formula_runs (tenant_id, id, config_id, number, workbook_id, sheet_id, target_column, output_mode,
                                  status, created_by)
        SELECT tenant_id, %(id)s, config_id, number, %(workbook_id)s, %(sheet_id)s, %(target_column)s,
               %(output_mode)s, 'pending', %(created_by)s
        FROM formula_versions WHERE config_id = %(config_id)s AND 'v' || number = %(version_id)s
        RETURNING {_RUN}
        """,
        row,
        missing=VersionNotFound,
    )


async def runs(ctx: Context, config_id: str, query: PageQuery) -> Page[Run]:
    """Return a page of the runs of a formula, the newest first."""
    filters = {"config_id": config_id}
    return await fetch_page(ctx, Run, _RUN, "formula_runs WHERE true", filters, query, order="started_at DESC, id")


async def start_run(unit: Unit, run_id: str) -> Run | None:
    """Set a run to running, and return it; None once it has ended."""
    sql = f"UPDATE formula_runs SET status = 'running' WHERE id = %s AND completed_at IS NULL RETURNING {_RUN}"
    return await unit.fetch_one_or_none(Run, sql, [run_id])


async def resume_run(unit: Unit, run_id: str) -> Run | None:
    """Have a failed run wait again, and return it; None if it had not failed."""
    sql = f"""
        UPDATE formula_runs SET status = 'pending', error_details = NULL, completed_at = NULL
        WHERE id = %s AND status = 'failed' RETURNING {_RUN}
    """
    return await unit.fetch_one_or_none(Run, sql, [run_id])


async def end_run(unit: Unit, run_id: str, row: dict[str, Any]) -> Run | None:
    """Complete or fail a run, and return it; None where it had ended before."""
    return await unit.fetch_one_or_none(
        Run,
        f"""
        UPDATE formula_runs SET status = %(status)s, rows_affected = %(rows_affected)s, rows_failed = %(rows_failed)s,
                                error_details = %(error_details)s, completed_at = now()
        WHERE id = %(id)s AND completed_at IS NULL RETURNING {_RUN}
        """,
        {**row, "id": run_id},
    )
