"""Formulas' queries."""

from __future__ import annotations

from typing import Any

from service.formulas.schema import Config, ConfigRow, FormulaNotFound, Run, Version, VersionNotFound
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import page

_CONFIG = """
    id, name, description, template_id, input_schema, output_schema, mode, status, version_count,
    'v' || version_count AS current_version, created_by, created_at, updated_at,
    (SELECT v.graph FROM formula_versions v WHERE v.tenant_id = formula_configs.tenant_id
     AND v.config_id = formula_configs.id AND v.number = version_count) AS graph
"""
_VERSION = "'v' || number AS version_id, graph, change_notes, created_by, created_at"
_RUN = """
    id AS run_id, config_id, 'v' || number AS version_id, workbook_id, sheet_id, target_column, output_mode, status,
    rows_affected, rows_failed, error_details, created_by, started_at, completed_at
"""


async def get(unit: Unit, config_id: str, *, lock: bool = False) -> ConfigRow:
    """A formula; where asked for, locked until the transaction ends.

    Raises:
        FormulaNotFound: there is none of that identifier.
    """
    if lock:  # in a statement of its own: the one that waited would have the graph as it was before
        await unit.execute("SELECT FROM formula_configs WHERE id = %s FOR UPDATE", [config_id])
    sql = f"SELECT {_CONFIG}, revision FROM formula_configs WHERE id = %s"
    return await unit.one(ConfigRow, sql, [config_id], missing=FormulaNotFound)


async def listed(ctx: Context, query: PageQuery) -> Page[Config]:
    """A page of formulas, the newest first."""
    return await page(ctx, Config, _CONFIG, "formula_configs WHERE true", {}, query, order="created_at DESC, id")


async def lock_count(ctx: Context) -> int:
    """How many formulas the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM formula_configs"))


async def create(ctx: Context, row: dict[str, Any]) -> ConfigRow:
    """A new formula with its first version; the columns of its documents as JSON."""
    await ctx.execute(
        """
        INSERT INTO formula_configs (tenant_id, id, name, description, template_id, input_schema, output_schema, mode,
                                     status, version_count, created_by)
        VALUES (%(tenant_id)s, %(id)s, %(name)s, %(description)s, %(template_id)s, %(input_schema)s, %(output_schema)s,
                %(mode)s, %(status)s, 0, %(created_by)s)
        """,
        {**row, "tenant_id": ctx.tenant},
    )
    await add_version(ctx, row["id"], {**row, "change_notes": None})
    return await get(ctx, row["id"])


async def update(ctx: Context, config_id: str, row: dict[str, Any]) -> ConfigRow:
    """A formula changed: its record, and the graph of its current version."""
    await ctx.execute(
        """
        UPDATE formula_versions v SET graph = %(graph)s FROM formula_configs c
        WHERE c.id = %(id)s AND v.tenant_id = c.tenant_id AND v.config_id = c.id AND v.number = c.version_count
        """,
        {**row, "id": config_id},
    )
    return await ctx.one(
        ConfigRow,
        f"""
        UPDATE formula_configs SET name = %(name)s, description = %(description)s, status = %(status)s,
                                   revision = revision + 1, updated_at = now()
        WHERE id = %(id)s RETURNING {_CONFIG}, revision
        """,
        {**row, "id": config_id},
        missing=FormulaNotFound,
    )


# Versions -------------------------------------------------------------------------------------------------------------


async def add_version(ctx: Context, config_id: str, row: dict[str, Any]) -> Version:
    """The next version of a formula that is locked, or new."""
    return await ctx.one(
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
    """A version of a formula.

    Raises:
        VersionNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_VERSION} FROM formula_versions WHERE config_id = %s AND 'v' || number = %s"
    return await unit.one(Version, sql, [config_id, version_id], missing=VersionNotFound)


async def versions(ctx: Context, config_id: str, query: PageQuery) -> Page[Version]:
    """A page of the versions of a formula, the newest first."""
    asked = {"config_id": config_id}
    return await page(ctx, Version, _VERSION, "formula_versions WHERE true", asked, query, order="number DESC")


# Runs -----------------------------------------------------------------------------------------------------------------


async def add_run(ctx: Context, row: dict[str, Any]) -> Run:
    """A run that waits for its worker."""
    return await ctx.one(
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
    """A page of the runs of a formula, the newest first."""
    asked = {"config_id": config_id}
    return await page(ctx, Run, _RUN, "formula_runs WHERE true", asked, query, order="started_at DESC, id")


async def start_run(unit: Unit, run_id: str) -> Run | None:
    """A run, running from now on; None once it has ended."""
    sql = f"UPDATE formula_runs SET status = 'running' WHERE id = %s AND completed_at IS NULL RETURNING {_RUN}"
    return await unit.one_or_none(Run, sql, [run_id])


async def resume_run(unit: Unit, run_id: str) -> Run | None:
    """A run that had failed and waits for its worker again; None for another one."""
    sql = f"""
        UPDATE formula_runs SET status = 'pending', error_details = NULL, completed_at = NULL
        WHERE id = %s AND status = 'failed' RETURNING {_RUN}
    """
    return await unit.one_or_none(Run, sql, [run_id])


async def end_run(unit: Unit, run_id: str, row: dict[str, Any]) -> Run | None:
    """A run completed or failed; None where it had ended before."""
    return await unit.one_or_none(
        Run,
        f"""
        UPDATE formula_runs SET status = %(status)s, rows_affected = %(rows_affected)s, rows_failed = %(rows_failed)s,
                                error_details = %(error_details)s, completed_at = now()
        WHERE id = %(id)s AND completed_at IS NULL RETURNING {_RUN}
        """,
        {**row, "id": run_id},
    )
