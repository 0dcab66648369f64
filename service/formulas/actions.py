"""Formulas' decisions.

Which graph may be kept, how a formula's status moves, and what it may be applied to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from core.formula.blocks import TEMPLATES, CheckedGraph, Graph, GraphFault, check
from service.formulas import schema, store
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.records import narrow
from service.processes.shared import run_limited_in_child

MOVES: Final = {("draft", "active"), ("active", "archived"), ("archived", "active")}
CUSTOM: Final = "custom"
UNFINISHED: Final = {"no_nodes", "missing_input", "wrong_arity", "several_outputs"}
"""Faults that a draft may have: somebody is still drawing it."""
SHORT_CHARACTERS: Final = 4_000
"""A graph whose JSON is no longer is checked in some milliseconds, of pure Python."""
FAULTS_MAX: Final = 20
"""Faults of a graph that one refusal names."""


# Graphs ---------------------------------------------------------------------------------------------------------------


async def validate(ctx: Context, body: schema.ValidateGraph) -> schema.GraphValidation:
    """Return what is wrong with a graph, and the formula that it comes to."""
    check = await _check(ctx, body.graph, body.input_schema)
    return schema.GraphValidation(
        valid=not check.errors, errors=check.errors, warnings=check.warnings, compiled_formula=check.formula
    )


def templates() -> list[schema.Template]:
    """Graphs to begin with."""
    return [msgspec.convert(template, schema.Template, from_attributes=True) for template in TEMPLATES.values()]


class Formula(NamedTuple):
    """What a graph comes to."""

    text: str
    """The row's own cell in a column as [@Column]."""
    columns: tuple[str, ...]


async def whole(unit: Unit, graph: Graph) -> Formula:
    """Return the formula of a graph.

    Raises:
        InvalidGraph: it has faults; each names its node.
    """
    check = await _check(unit, graph)
    _refuse(check.errors)
    assert check.formula is not None
    return Formula(check.formula, check.columns)


async def _check(unit: Unit, graph: Graph, input_schema: dict[str, Any] | None = None) -> CheckedGraph:
    """Return the faults of a graph, or its formula.

    In a thread where it is short, else in a child.

    Raises:
        ValidationFailed: it is too large.
    """
    place = ["body", "graph"]
    if len(_document(graph, place, schema.GRAPH_BYTES_MAX)) <= SHORT_CHARACTERS:
        return await unit.compute(check, graph, input_schema)
    return await run_limited_in_child(unit, check, graph, input_schema)


def _refuse(faults: Sequence[GraphFault]) -> None:
    if faults:
        raise schema.InvalidGraph(*(_fault(fault) for fault in faults[:FAULTS_MAX]))


def _fault(fault: GraphFault) -> Fault:
    place = ["body", "graph"] if fault.node_id is None else ["body", "graph", "nodes", fault.node_id]
    return Fault(place, f"{fault.code}: {fault.message}")


async def _graph_json(ctx: Context, graph: Graph, input_schema: dict[str, Any] | None, status: str) -> str:
    """Return the JSON of a graph that a formula of this status may have.

    Raises:
        InvalidGraph: it is wrong, or unfinished where it must not be.
        ValidationFailed: it is too large.
    """
    document = _document(graph, ["body", "graph"], schema.GRAPH_BYTES_MAX)
    check = await _check(ctx, graph, input_schema)
    _refuse([fault for fault in check.errors if status != "draft" or fault.code not in UNFINISHED])
    return document


def _document(value: Any, place: list[str], most_bytes: int) -> str:
    encoded = msgspec.json.encode(value)
    if len(encoded) > most_bytes:
        raise ValidationFailed.at(place, f"takes {len(encoded):,} bytes; the limit is {most_bytes:,}")
    return encoded.decode()


# The record -----------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: schema.ConfigCreate) -> schema.Config:
    """Create a formula with its first version."""
    if body.template_id not in (templates_known := (CUSTOM, *TEMPLATES)):
        raise ValidationFailed.at(["body", "template_id"], f"the templates are {', '.join(templates_known)}")
    schemas = {
        name: None
        if (document := getattr(body, name)) is None
        else _document(document, ["body", name], schema.SCHEMA_BYTES_MAX)
        for name in ("input_schema", "output_schema")
    }
    graph = await _graph_json(ctx, body.graph, body.input_schema, body.status)
    if await store.formulas.lock_count(ctx) >= ctx.settings.max_formulas:
        raise schema.FormulaLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_formulas} formulas")
    document = msgspec.structs.asdict(body) | schemas | {"graph": graph}
    row = await store.create(ctx, {**document, "id": f"frm_{new_id().hex}", "created_by": await ctx.email()})
    ctx.set_subject("formula", row.id, row.name, status=row.status, template_id=row.template_id)
    return _to_response(ctx, row)


async def detail(ctx: Context, config_id: str) -> schema.Config:
    """Return a formula."""
    return _to_response(ctx, await store.get(ctx, config_id))


async def update(ctx: Context, config_id: str, patch: schema.ConfigPatch) -> schema.Config:
    """Change a formula.

    Of a draft all may change, of an active one all but the graph, of an archived one the status.
    """
    row = await store.get(ctx, config_id, lock=True)
    ctx.check_if_match(row.revision)
    changes = patch.changes()
    differing = {name for name, value in changes.items() if value != getattr(row, name)}
    status = changes.get("status", row.status)
    if status != row.status and (row.status, status) not in MOVES:
        raise schema.StatusNotAllowed.at(["body", "status"], f"the formula is {row.status}")
    if "graph" in differing and row.status != "draft":
        raise schema.NotADraft.at(["body", "graph"], "a formula that is no draft changes by a new version")
    if differing - {"status"} and row.status == status == "archived":
        raise schema.FormulaNotActive.at(["body"], "an archived formula can only become active")
    if not changes:
        ctx.skip_event()
        return _to_response(ctx, row)
    graph = changes.get("graph", row.graph)
    changes["graph"] = await _graph_json(ctx, graph, row.input_schema, status)
    before = {name: getattr(row, name) for name in patch.__struct_fields__}
    changed = await store.update(ctx, config_id, {**before, **changes})
    ctx.set_subject("formula", config_id, changed.name, changed=sorted(changes), status=changed.status)
    return _to_response(ctx, changed)


def _to_response(ctx: Context, row: schema.ConfigRow) -> schema.Config:
    ctx.set_etag(row.revision)
    return narrow(schema.Config, row)


# Versions and runs ----------------------------------------------------------------------------------------------------


async def add_version(ctx: Context, config_id: str, body: schema.VersionPut) -> schema.Version:
    """Store the next version of an active formula."""
    row = await store.get(ctx, config_id, lock=True)
    if row.status != "active":
        raise schema.FormulaNotActive.at(["body"], f"the formula is {row.status}")
    if row.version_count >= schema.VERSIONS_MAX:
        raise schema.FormulaLimitExceeded.at(["body"], f"the limit is {schema.VERSIONS_MAX} versions of a formula")
    graph = await _graph_json(ctx, body.graph, row.input_schema, row.status)
    version_row = {"graph": graph, "change_notes": body.change_notes, "created_by": await ctx.email()}
    version = await store.add_version(ctx, config_id, version_row)
    ctx.set_subject("formula", config_id, row.name, version_id=version.version_id, change_notes=body.change_notes)
    return version


async def versions(ctx: Context, config_id: str, query: PageQuery) -> Page[schema.Version]:
    """Return a page of the versions of a formula."""
    await store.get(ctx, config_id)
    return await store.versions(ctx, config_id, query)


async def runs(ctx: Context, config_id: str, query: schema.RunList) -> Page[schema.Run]:
    """Return a page of the runs of a formula."""
    await store.get(ctx, config_id)
    return await store.runs(ctx, config_id, query)
