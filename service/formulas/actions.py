"""Formulas' decisions: which graph may be kept, how a formula's status moves, and what it may be applied to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from core.formula.blocks import TEMPLATES, CheckedGraph, Graph, GraphFault, check
from service.formulas import store
from service.formulas.schema import (
    GRAPH_BYTES_MAX,
    SCHEMA_BYTES_MAX,
    VERSIONS_MAX,
    Config,
    ConfigCreate,
    ConfigPatch,
    ConfigRow,
    FormulaLimitExceeded,
    GraphValidation,
    InvalidGraph,
    NotActive,
    NotADraft,
    Run,
    RunList,
    StatusNotAllowed,
    Template,
    ValidateGraph,
    Version,
    VersionPut,
)
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.processes.shared import limited_in_child

MOVES: Final = {("draft", "active"), ("active", "archived"), ("archived", "active")}
CUSTOM: Final = "custom"
UNFINISHED: Final = {"no_nodes", "missing_input", "wrong_arity", "several_outputs"}
"""Faults that a draft may have: somebody is still drawing it."""
SHORT_CHARACTERS: Final = 4_000
"""A graph whose JSON is no longer is checked in some milliseconds, of pure Python."""
FAULTS_MAX: Final = 20
"""Faults of a graph that one refusal names."""


# Graphs ---------------------------------------------------------------------------------------------------------------


async def validate(ctx: Context, body: ValidateGraph) -> GraphValidation:
    """What is wrong with a graph, and the formula that it comes to."""
    found = await _checked(ctx, body.graph, body.input_schema)
    return GraphValidation(
        valid=not found.errors, errors=found.errors, warnings=found.warnings, compiled_formula=found.formula
    )


def templates() -> list[Template]:
    """Graphs to begin with."""
    return [msgspec.convert(template, Template, from_attributes=True) for template in TEMPLATES.values()]


class Formula(NamedTuple):
    """What a graph comes to."""

    text: str
    """The row's own cell in a column as [@Column]."""
    columns: tuple[str, ...]


async def whole(unit: Unit, graph: Graph) -> Formula:
    """The formula of a graph.

    Raises:
        InvalidGraph: it has faults; each names its node.
    """
    found = await _checked(unit, graph)
    _refuse(found.errors)
    assert found.formula is not None
    return Formula(found.formula, found.columns)


async def _checked(unit: Unit, graph: Graph, input_schema: dict[str, Any] | None = None) -> CheckedGraph:
    """Every fault of a graph, or its formula: in a thread where it is short, else in a child.

    Raises:
        ValidationFailed: it is too large.
    """
    place = ["body", "graph"]
    if len(_document(graph, place, GRAPH_BYTES_MAX)) <= SHORT_CHARACTERS:
        return await unit.compute(check, graph, input_schema)
    return await limited_in_child(unit, check, graph, input_schema)


def _refuse(faults: Sequence[GraphFault]) -> None:
    if faults:
        raise InvalidGraph(*(_fault(fault) for fault in faults[:FAULTS_MAX]))


def _fault(fault: GraphFault) -> Fault:
    place = ["body", "graph"] if fault.node_id is None else ["body", "graph", "nodes", fault.node_id]
    return Fault(place, f"{fault.code}: {fault.message}")


async def _kept(ctx: Context, graph: Graph, input_schema: dict[str, Any] | None, status: str) -> str:
    """The JSON of a graph that a formula of this status may have.

    Raises:
        InvalidGraph: it is wrong, or unfinished where it must not be.
        ValidationFailed: it is too large.
    """
    document = _document(graph, ["body", "graph"], GRAPH_BYTES_MAX)
    found = await _checked(ctx, graph, input_schema)
    _refuse([fault for fault in found.errors if status != "draft" or fault.code not in UNFINISHED])
    return document


def _document(value: Any, place: list[str], most_bytes: int) -> str:
    encoded = msgspec.json.encode(value)
    if len(encoded) > most_bytes:
        raise ValidationFailed.at(place, f"takes {len(encoded):,} bytes; the limit is {most_bytes:,}")
    return encoded.decode()


# The record -----------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: ConfigCreate) -> Config:
    """A new formula with its first version."""
    if body.template_id not in (known := (CUSTOM, *TEMPLATES)):
        raise ValidationFailed.at(["body", "template_id"], f"the templates are {', '.join(known)}")
    schemas = {
        name: None if (given := getattr(body, name)) is None else _document(given, ["body", name], SCHEMA_BYTES_MAX)
        for name in ("input_schema", "output_schema")
    }
    graph = await _kept(ctx, body.graph, body.input_schema, body.status)
    if await store.lock_count(ctx) >= ctx.settings.max_formulas:
        raise FormulaLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_formulas} formulas")
    given = msgspec.structs.asdict(body) | schemas | {"graph": graph}
    row = await store.create(ctx, {**given, "id": f"frm_{new_id().hex}", "created_by": await ctx.email()})
    ctx.concerns("formula", row.id, row.name, status=row.status, template_id=row.template_id)
    return _told(ctx, row)


async def detail(ctx: Context, config_id: str) -> Config:
    """A formula."""
    return _told(ctx, await store.get(ctx, config_id))


async def update(ctx: Context, config_id: str, patch: ConfigPatch) -> Config:
    """Change what is given of a formula: of a draft all, of an active one no graph, of an archived one its status."""
    row = await store.get(ctx, config_id, lock=True)
    ctx.match(row.revision)
    given = {name: value for name in patch.__struct_fields__ if (value := getattr(patch, name)) is not UNSET}
    differing = {name for name, value in given.items() if value != getattr(row, name)}  # the others are only sent back
    status = given.get("status", row.status)
    if status != row.status and (row.status, status) not in MOVES:
        raise StatusNotAllowed.at(["body", "status"], f"the formula is {row.status}")
    if "graph" in differing and row.status != "draft":
        raise NotADraft.at(["body", "graph"], "a formula that is no draft changes by a new version")
    if differing - {"status"} and row.status == status == "archived":
        raise NotActive.at(["body"], "an archived formula can only become active")
    if not given:
        ctx.changed_nothing()
        return _told(ctx, row)
    graph = given.get("graph", row.graph)
    given["graph"] = await _kept(ctx, graph, row.input_schema, status)
    kept = {name: getattr(row, name) for name in patch.__struct_fields__}
    changed = await store.update(ctx, config_id, {**kept, **given})
    ctx.concerns("formula", config_id, changed.name, changed=sorted(given), status=changed.status)
    return _told(ctx, changed)


def _told(ctx: Context, row: ConfigRow) -> Config:
    ctx.tag(row.revision)
    return Config(**{name: getattr(row, name) for name in Config.__struct_fields__})


# Versions and runs ----------------------------------------------------------------------------------------------------


async def add_version(ctx: Context, config_id: str, body: VersionPut) -> Version:
    """The next version of an active formula; what was applied keeps the version that it used."""
    row = await store.get(ctx, config_id, lock=True)
    if row.status != "active":
        raise NotActive.at(["body"], f"the formula is {row.status}")
    if row.version_count >= VERSIONS_MAX:
        raise FormulaLimitExceeded.at(["body"], f"the limit is {VERSIONS_MAX} versions of a formula")
    graph = await _kept(ctx, body.graph, row.input_schema, row.status)
    made = {"graph": graph, "change_notes": body.change_notes, "created_by": await ctx.email()}
    version = await store.add_version(ctx, config_id, made)
    ctx.concerns("formula", config_id, row.name, version_id=version.version_id, change_notes=body.change_notes)
    return version


async def versions(ctx: Context, config_id: str, query: PageQuery) -> Page[Version]:
    """A page of the versions of a formula."""
    await store.get(ctx, config_id)
    return await store.versions(ctx, config_id, query)


async def runs(ctx: Context, config_id: str, query: RunList) -> Page[Run]:
    """A page of the runs of a formula."""
    await store.get(ctx, config_id)
    return await store.runs(ctx, config_id, query)
