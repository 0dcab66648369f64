"""Formulas' rows."""

from __future__ import annotations

from service.formulas import actions, column_actions, store
from service.formulas.schema import (
    ApplyRequest,
    ColumnExists,
    ColumnNotFound,
    Config,
    ConfigCreate,
    ConfigPatch,
    FormulaLimitExceeded,
    FormulaNotFound,
    GraphValidation,
    InvalidGraph,
    NotActive,
    NotADraft,
    Preview,
    PreviewFailed,
    PreviewRequest,
    Run,
    RunList,
    StatusNotAllowed,
    Template,
    ValidateGraph,
    Version,
    VersionNotFound,
    VersionPut,
)
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Listing, Page, PageQuery, Waits
from service.platform.unit.context import Context
from service.workbooks.schema import SheetNotFound, StorageLimitExceeded, WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/formulas", tag="formulas", scope="workbooks")


@area.post("/validate", access="calculations:execute", heavy=True)
async def validate_graph(ctx: Context, body: ValidateGraph) -> GraphValidation:
    """Check a graph: list every fault with its node, or give its formula."""
    return await actions.validate(ctx, body)


@area.post(
    "/preview",
    access="calculations:execute",
    errors=(InvalidGraph, PreviewFailed, WorkbookNotFound, SheetNotFound, WorkbookNotReady, Damaged),
    heavy=True,
)
async def preview_graph(ctx: Context, body: PreviewRequest) -> Preview:
    """Try a graph on the first rows of a sheet.

    Nothing is stored.
    """
    return await column_actions.preview(ctx, body)


@area.get("/templates")
async def list_templates(ctx: Context) -> Listing[Template]:
    """List graphs to begin with."""
    found = actions.templates()
    return Listing(found, len(found))


@area.get()
async def list_formulas(ctx: Context, query: PageQuery) -> Page[Config]:
    """List the formulas of the tenant, the newest first."""
    return await store.listed(ctx, query)


@area.post(status=201, errors=(InvalidGraph, FormulaLimitExceeded), event="formula.created", versioned=True, heavy=True)
async def create_formula(ctx: Context, body: ConfigCreate) -> Config:
    """Create a formula with its version v1.

    A draft's graph may lack inputs and an end; nothing of it may be wrong.
    """
    return await actions.create(ctx, body)


@area.get("/{config_id}", errors=(FormulaNotFound,), versioned=True)
async def get_formula(ctx: Context, config_id: str) -> Config:
    """Give a formula with the graph of its current version.

    Its ETag is what If-Match of a change compares.
    """
    return await actions.detail(ctx, config_id)


@area.patch(
    "/{config_id}",
    errors=(FormulaNotFound, InvalidGraph, StatusNotAllowed, NotADraft, NotActive),
    event="formula.updated",
    versioned=True,
    heavy=True,
)
async def update_formula(ctx: Context, config_id: str, body: ConfigPatch) -> Config:
    """Change the fields in the body.

    The status moves from draft to active, to archived, and back to active. The graph is changed while it is a draft,
    which makes no version; later `PUT .../versions` does.
    """
    return await actions.update(ctx, config_id, body)


@area.get("/{config_id}/versions", errors=(FormulaNotFound,))
async def list_formula_versions(ctx: Context, config_id: str, query: PageQuery) -> Page[Version]:
    """List the versions of a formula, the newest first."""
    return await actions.versions(ctx, config_id, query)


@area.put(
    "/{config_id}/versions",
    status=201,
    errors=(FormulaNotFound, NotActive, InvalidGraph, FormulaLimitExceeded),
    event="formula.version_created",
    heavy=True,
)
async def add_formula_version(ctx: Context, config_id: str, body: VersionPut) -> Version:
    """Make the next version of an active formula.

    It is the current one from then on.
    """
    return await actions.add_version(ctx, config_id, body)


@area.get(
    "/{config_id}/runs",
    errors=(FormulaNotFound,),
    waits=Waits("config_id", frozenset({"pending", "running"}), lambda page: tuple(run.status for run in page.items)),
)
async def list_formula_runs(ctx: Context, config_id: str, query: RunList) -> Page[Run]:
    """List what became of applying a formula, the newest first."""
    return await actions.runs(ctx, config_id, query)


@area.post(
    "/{config_id}/apply",
    errors=(
        FormulaNotFound,
        NotActive,
        VersionNotFound,
        WorkbookNotFound,
        SheetNotFound,
        WorkbookNotReady,
        InvalidGraph,
        ColumnExists,
        ColumnNotFound,
        StorageLimitExceeded,
        Damaged,
    ),
    event="formula.application_started",
    flag="recalculation",
    heavy=True,
)
async def apply_formula(ctx: Context, config_id: str, body: ApplyRequest) -> Run:
    """Fill a column of a sheet by a version of an active formula.

    The column is a new one behind the others, or one that is there. The column and the cells that depend on it appear
    at once when the run is `completed`. Until then the sheet is read as it was, and nothing else may write into the
    workbook.
    """
    return await column_actions.apply(ctx, config_id, body)
