"""What the formula builder says.

Graphs, configurations, their versions and runs, the requests, the refusals.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.formula.blocks import Graph, GraphFault
from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery, WaitSeconds
from service.platform.route.patch import Patch, patch_of

GRAPH_BYTES_MAX = 64 * 1024
"""Of a graph's JSON; a list of configurations has the graph of each."""
SCHEMA_BYTES_MAX = 16 * 1024
"""Of an input's or an output's schema."""
VERSIONS_MAX = 200
"""Versions of one configuration."""
SAMPLE_MAX = 200

Status = Literal["draft", "active", "archived"]
RunStatus = Literal["pending", "running", "completed", "failed"]
Mode = Literal["builder", "advanced"]
OutputMode = Literal["new", "overwrite"]

Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=1000)]
ChangeNotes = Annotated[str, Meta(max_length=2000)]
TemplateId = Annotated[str, Meta(max_length=100)]
VersionId = Annotated[str, Meta(max_length=20)]
SheetId = Annotated[str, Meta(max_length=255)]
TargetColumn = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]


# Records --------------------------------------------------------------------------------------------------------------


class Config(Struct, frozen=True, kw_only=True):
    """A formula, with the graph of its current version."""

    id: str
    name: str
    description: str | None
    template_id: str
    graph: Graph
    input_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None
    mode: Mode
    status: Status
    """draft: may be edited; active: may be applied; archived: kept, not applied."""
    version_count: int
    """How many versions there are."""
    current_version: str
    """The newest version: v1, v2, ..."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class ConfigRow(Config, frozen=True, kw_only=True):
    """A stored formula."""

    revision: int
    """How often it was written; `version_count` counts graphs alone."""


class Version(Struct, frozen=True, kw_only=True):
    """A version of a formula."""

    version_id: str
    graph: Graph
    change_notes: str | None
    created_by: str
    created_at: datetime


class Run(Struct, frozen=True, kw_only=True):
    """One application of a formula to a column of a workbook."""

    run_id: str
    """Identifier of this application."""
    config_id: str
    """The formula that is applied."""
    version_id: str
    workbook_id: UUID
    """The workbook that is written into."""
    sheet_id: UUID
    """The sheet that is written into."""
    target_column: str
    output_mode: OutputMode
    status: RunStatus
    """pending: waits; running; completed: the column is there; failed: see `error_details`."""
    rows_affected: int
    """Rows whose cell in the column was written; 0 until it is completed."""
    rows_failed: int
    """How many of the written values are errors."""
    error_details: str | None
    """Why it failed, or which rows came to an error."""
    created_by: str
    started_at: datetime
    completed_at: datetime | None


class RunList(PageQuery, frozen=True, kw_only=True):
    """Which page of the runs of a formula, and how long to wait while one of them is under way."""

    wait: WaitSeconds = 0


# What is asked --------------------------------------------------------------------------------------------------------


class ConfigCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new formula. As a draft its graph may be unfinished; in every other status it is whole."""

    name: Name
    description: Description | None = None
    template_id: TemplateId
    graph: Graph
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    mode: Mode = "builder"
    status: Status = "draft"
    """draft: the graph may be unfinished; active: may be applied at once; archived."""


@patch_of(ConfigCreate, "name description status graph")
class ConfigPatch(Patch, frozen=True):
    """What to change of a formula; the graph of a draft alone, which makes no version."""

    status: Status | UnsetType = UNSET
    """Moves go draft, active, archived, and back to active."""


class VersionPut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The formula's next version."""

    graph: Graph
    change_notes: ChangeNotes | None = None


class ValidateGraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A graph to be checked."""

    graph: Graph
    input_schema: dict[str, Any] | None = None


class PreviewRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A graph to be tried on the first rows of a sheet."""

    graph: Graph
    workbook_id: UUID
    sheet_id: SheetId
    sample_size: Annotated[int, Meta(ge=1, le=SAMPLE_MAX)] = 25
    """How many rows to try."""


class ApplyRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which version is to fill which column of which sheet."""

    version_id: VersionId
    workbook_id: UUID
    sheet_id: SheetId
    target_column: TargetColumn
    output_mode: OutputMode = "new"


# What is answered -----------------------------------------------------------------------------------------------------


class GraphValidation(Struct, frozen=True, kw_only=True):
    """What was found of a graph."""

    valid: bool
    """Whether it can be compiled: there are no errors."""
    errors: tuple[GraphFault, ...]
    """What is wrong with it, each with its node."""
    warnings: tuple[str, ...]
    """What may not be meant so."""
    compiled_formula: str | None
    """Null: there are errors."""


class SampleRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row that a formula was tried on."""

    row: int
    """Number of the row in its sheet, from 1."""
    input: dict[str, Any]
    """Values of the columns that the formula reads."""
    output: Any
    """What the formula answers for the row."""
    error: str | None = None
    """The error that the output is, where it is one."""


class Preview(Struct, frozen=True, kw_only=True):
    """What a graph comes to on the first rows of a sheet."""

    sample_results: list[SampleRow]
    """The rows that were tried, from the first on."""
    total_rows: int
    """Rows that applying it would write."""
    preview_size: int
    """How many rows were tried."""
    compiled_formula: str


class TemplateInput(Struct, frozen=True, kw_only=True):
    """A column that a template reads."""

    node_id: str
    """The column_ref node that is to name the sheet's own column."""
    column: str
    """Name that the template's column has until it is replaced."""
    type: str
    """Kind of its values: number, text, date or boolean."""
    description: str
    """What the column holds."""


class Template(Struct, frozen=True, kw_only=True):
    """A graph to begin with."""

    id: str
    """What `template_id` of a formula names."""
    name: str
    description: str
    """What the formula answers."""
    inputs: list[TemplateInput]
    """The columns that it reads."""
    graph: Graph


# Refusals -------------------------------------------------------------------------------------------------------------


class FormulaNotFound(Problem, status=404):
    """Formula not found"""


class VersionNotFound(Problem, status=404):
    """Version not found"""


class ColumnNotFound(Problem, status=404):
    """Column not found"""


class ColumnExists(Problem, status=409):
    """Column already exists"""


class InvalidGraph(Problem, status=422):
    """Invalid formula graph"""


class NotADraft(Problem, status=409):
    """Formula is not a draft"""


class FormulaNotActive(Problem, status=409):
    """Formula is not active"""


class StatusNotAllowed(Problem, status=409):
    """Status change not allowed"""


class FormulaLimitExceeded(Problem, status=403):
    """Formula limit exceeded"""


class PreviewFailed(Problem, status=422, code="CALCULATION_ERROR"):
    """Formula cannot be previewed"""
