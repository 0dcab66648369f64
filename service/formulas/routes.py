"""Formulas' rows."""

from __future__ import annotations

from service.formulas import actions, column_actions, schema, store
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Listing, Page, PageQuery, Waits
from service.platform.unit.context import Context
from service.workbooks.schema import SheetNotFound, StorageLimitExceeded, WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/formulas", tag="formulas", scope="workbooks")


@area.post("/validate", access="calculations:execute", heavy=True)
async def validate_graph(ctx: Context, body: schema.ValidateGraph) -> schema.GraphValidation:
    """Check a graph: list every fault with its node, or give its formula."""
    return await actions.validate(ctx, body)


@area.post(
    "/preview",
    access="calculations:execute",
    errors=(schema.InvalidGraph, schema.PreviewFailed, WorkbookNotFound, SheetNotFound, WorkbookNotReady, Damaged),
    heavy=True,
)
async def preview_graph(ctx: Context, body: schema.PreviewRequest) -> schema.Preview:
    """Try a graph on the first rows of a sheet.

    Nothing is stored.
    """
    return await column_actions.preview(ctx, body)


@area.get("/templates")
async def list_templates(ctx: Context) -> Listing[schema.Template]:
    """List graphs to begin with."""
    templates = actions.templates()
    return Listing(templates, len(templates))


@area.get()
async def list_formulas(ctx: Context, query: PageQuery) -> Page[schema.Config]:
    """List the formulas of the tenant, the newest first."""
    return await store.read_page(ctx, query)


@area.post(
    status=201,
    errors=(schema.InvalidGraph, schema.FormulaLimitExceeded),
    event="formula.created",
    versioned=True,
    heavy=True,
)
async def create_formula(ctx: Context, body: schema.ConfigCreate) -> schema.Config:
    """Create a formula with its version v1.

    A draft's graph may lack inputs and an end; nothing of it may be wrong.
    """
    return await actions.create(ctx, body)


@area.get("/{config_id}", errors=(schema.FormulaNotFound,), versioned=True)
async def get_formula(ctx: Context, config_id: str) -> schema.Config:
    """Give a formula with the graph of its current version.

    Its ETag is what If-Match of a change compares.
    """
    return await actions.detail(ctx, config_id)


@area.patch(
    "/{config_id}",
    errors=(
        schema.FormulaNotFound,
        schema.InvalidGraph,
        schema.StatusNotAllowed,
        schema.NotADraft,
        schema.FormulaNotActive,
    ),
    event="formula.updated",
    versioned=True,
    heavy=True,
)
async def update_formula(ctx: Context, config_id: str, body: schema.ConfigPatch) -> schema.Config:
    """Change the fields in the body.

    The status moves from draft to active, to archived, and back to active. The graph is changed while it is a draft,
    which makes no version; later `PUT .../versions` does.
    """
    return await actions.update(ctx, config_id, body)


@area.get("/{config_id}/versions", errors=(schema.FormulaNotFound,))
async def list_formula_versions(ctx: Context, config_id: str, query: PageQuery) -> Page[schema.Version]:
    """List the versions of a formula, the newest first."""
    return await actions.versions(ctx, config_id, query)


@area.put(
    "/{config_id}/versions",
    status=201,
    errors=(schema.FormulaNotFound, schema.FormulaNotActive, schema.InvalidGraph, schema.FormulaLimitExceeded),
    event="formula.version_created",
    heavy=True,
)
async def add_formula_version(ctx: Context, config_id: str, body: schema.VersionPut) -> schema.Version:
    """Make the next version of an active formula.

    It is the current one from then on.
    """
    return await actions.add_version(ctx, config_id, body)


@area.get(
    "/{config_id}/runs",
    errors=(schema.FormulaNotFound,),
    waits=Waits("config_id", frozenset({"pending", "running"}), lambda page: tuple(run.status for run in page.items)),
)
async def list_formula_runs(ctx: Context, config_id: str, query: schema.RunList) -> Page[schema.Run]:
    """List what became of applying a formula, the newest first."""
    return await actions.runs(ctx, config_id, query)


@area.post(
    "/{config_id}/apply",
    errors=(
        schema.FormulaNotFound,
        schema.FormulaNotActive,
        schema.VersionNotFound,
        WorkbookNotFound,
        SheetNotFound,
        WorkbookNotReady,
        schema.InvalidGraph,
        schema.ColumnExists,
        schema.ColumnNotFound,
        StorageLimitExceeded,
        Damaged,
    ),
    event="formula.application_started",
    flag="recalculation",
    heavy=True,
)
async def apply_formula(ctx: Context, config_id: str, body: schema.ApplyRequest) -> schema.Run:
    """Fill a column of a sheet by a version of an active formula.

    The column is a new one behind the others, or one that is there. The column and the cells that depend on it appear
    at once when the run is `completed`. Until then the sheet is read as it was, and nothing else may write into the
    workbook.
    """
    return await column_actions.apply(ctx, config_id, body)
