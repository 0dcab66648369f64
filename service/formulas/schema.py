"""What the formula builder says: graphs, configurations, their versions and runs, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.formula.blocks import Graph, GraphFault
from service.platform.http.problem import Problem

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
ChangeNotes = Annotated[str, Meta(max_length=2000, description="What was changed, and why")]
TemplateId = Annotated[str, Meta(max_length=100, description="custom, or one of GET /formulas/templates")]
VersionId = Annotated[str, Meta(max_length=20, description="v1, v2, ...")]
SheetId = Annotated[str, Meta(max_length=255, description="The sheet's identifier or its name")]
TargetColumn = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=255,
        pattern=r"\S",
        description="The column's name in its header row; of a sheet without one the column's letters",
    ),
]


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
    version_count: int
    current_version: str
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
    config_id: str
    version_id: str
    workbook_id: UUID
    sheet_id: UUID
    target_column: str
    output_mode: OutputMode
    status: RunStatus
    rows_affected: int
    """Rows whose cell in the column was written; 0 until it is completed."""
    rows_failed: int
    """Those of them whose value is an error."""
    error_details: str | None
    """Why it failed, or which rows came to an error."""
    created_by: str
    started_at: datetime
    completed_at: datetime | None


# What is asked --------------------------------------------------------------------------------------------------------


class ConfigCreate(Struct, frozen=True, kw_only=True):
    """A new formula. As a draft its graph may be unfinished; in every other status it is whole."""

    name: Name
    description: Description | None = None
    template_id: TemplateId
    graph: Graph
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    mode: Mode = "builder"
    status: Status = "draft"


class ConfigPatch(Struct, frozen=True, kw_only=True):
    """What to change of a formula; the graph of a draft alone, which makes no version."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    graph: Graph | UnsetType = UNSET


class VersionPut(Struct, frozen=True, kw_only=True):
    """The formula's next version."""

    graph: Graph
    change_notes: ChangeNotes | None = None


class ValidateGraph(Struct, frozen=True, kw_only=True):
    """A graph to be checked."""

    graph: Graph
    input_schema: dict[str, Any] | None = None


class PreviewRequest(Struct, frozen=True, kw_only=True):
    """A graph to be tried on the first rows of a sheet."""

    graph: Graph
    workbook_id: UUID
    sheet_id: SheetId
    sample_size: Annotated[int, Meta(ge=1, le=SAMPLE_MAX)] = 25


class ApplyRequest(Struct, frozen=True, kw_only=True):
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
    errors: tuple[GraphFault, ...]
    warnings: tuple[str, ...]
    compiled_formula: str | None
    """Null while there are errors."""


class SampleRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row that a formula was tried on."""

    row: int
    """The sheet's own number, from 1."""
    input: dict[str, Any]
    """The columns that the formula reads."""
    output: Any
    error: str | None = None
    """The error that the output is, where it is one."""


class Preview(Struct, frozen=True, kw_only=True):
    """What a graph comes to on the first rows of a sheet."""

    sample_results: list[SampleRow]
    total_rows: int
    """Rows that applying it would write."""
    preview_size: int
    compiled_formula: str


class TemplateInput(Struct, frozen=True, kw_only=True):
    """A column that a template reads."""

    node_id: str
    """Of the column_ref that is to name the sheet's own column."""
    column: str
    type: str
    description: str


class Template(Struct, frozen=True, kw_only=True):
    """A graph to begin with."""

    id: str
    name: str
    description: str
    inputs: list[TemplateInput]
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


class NotActive(Problem, status=409):
    """Formula is not active"""


class StatusNotAllowed(Problem, status=409):
    """Status change not allowed"""


class FormulaLimitExceeded(Problem, status=403):
    """Formula limit exceeded"""


class PreviewFailed(Problem, status=422, code="CALCULATION_ERROR"):
    """Formula cannot be previewed"""
