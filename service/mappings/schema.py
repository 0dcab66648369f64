"""What mappings say: the records, the requests, the refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from core.portfolio.fields import FieldType, SourceType
from core.portfolio.profile.configure import RULES_MAX, TRANSFORMS_MAX
from core.portfolio.profile.normalise import SAMPLE_ROWS_MAX
from service.platform.http.api import PageQuery
from service.platform.http.problem import Problem

ANSWER_BYTES_MAX = 32 * 1024 * 1024
"""What a mapping made of a sample: defaults and replacements may make rows longer than they came."""

DOCUMENT_BYTES_MAX = 256 * 1024
"""JSON of a mapping's columns, transforms and rules: 25 times the longest built-in one; each run on a workbook that
names the mapping keeps a copy as evidence."""

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Search = Annotated[str, Meta(max_length=200, description="Part of the name, in any case")]
ProfileId = Annotated[str, Meta(max_length=200, description="Built-in mapping to extend: see the list's system ones")]


# What a mapping is made of --------------------------------------------------------------------------------------------


# Anything may come, described as what it should be: the engine checks it, and tells which source column it stands in.
GivenText = Annotated[Any, Meta(extra_json_schema={"type": "string"})]
GivenType = Annotated[Any, Meta(extra_json_schema={"type": "string", "enum": list(get_args(FieldType))})]
GivenFlag = Annotated[Any, Meta(extra_json_schema={"type": "boolean", "nullable": True})]
GivenTexts = Annotated[Any, Meta(extra_json_schema={"type": "array", "items": {"type": "string"}, "nullable": True})]
GivenObject = Annotated[Any, Meta(extra_json_schema={"type": "object", "nullable": True})]


class ColumnGiven(Struct, frozen=True, kw_only=True):
    """Which field a source column feeds, as a caller writes it."""

    target: GivenText = UNSET
    """The field; a column cannot do without."""
    type: GivenType = UNSET
    """That of the standard field, else string, when left out."""
    required: GivenFlag = UNSET
    """As the profile's field, else false, when left out."""
    default: Any = UNSET
    """What stands in for a blank cell, in the field's type."""
    aliases: GivenTexts = UNSET
    """Further headers of this column, in order of preference."""


class TransformGiven(Struct, frozen=True, kw_only=True):
    """A change of a field's values, as a caller writes it."""

    field: GivenText = UNSET
    operation: GivenText = UNSET
    """multiply, divide, round, uppercase, lowercase, trim, replace, date_format or lookup."""
    parameters: GivenObject = UNSET


class RuleGiven(Struct, frozen=True, kw_only=True):
    """What a field's values must be, as a caller writes it."""

    field: GivenText = UNSET
    rule: GivenText = UNSET
    """required, positive, non_negative, range, regex, length, enum or unique."""
    parameters: GivenObject = UNSET
    message: GivenText = UNSET
    """In place of the rule's own."""


class Column(Struct, frozen=True, kw_only=True):
    """Which field a source column feeds."""

    target: str
    type: FieldType
    required: bool
    default: Any
    aliases: list[str]


class Transform(Struct, frozen=True, kw_only=True):
    """A change of a field's values, made before they are checked."""

    field: str
    operation: str
    parameters: dict[str, Any] | None


class Rule(Struct, frozen=True, kw_only=True):
    """What a field's values must be."""

    field: str
    rule: str
    parameters: dict[str, Any] | None
    message: str | None


class Resolved(Struct, frozen=True, kw_only=True):
    """A field with every column that may feed it, those of the profile included."""

    sources: list[str]
    """In order of preference."""
    type: FieldType
    required: bool


# What is asked --------------------------------------------------------------------------------------------------------

Columns = dict[str, ColumnGiven]
Transforms = Annotated[list[TransformGiven], Meta(max_length=TRANSFORMS_MAX)]
Rules = Annotated[list[RuleGiven], Meta(max_length=RULES_MAX)]


class MappingCreate(Struct, frozen=True, kw_only=True):
    """A mapping, on its own or on top of a built-in one."""

    name: Name
    source_type: str
    """clo_holdings, servicer_snapshot or custom."""
    mappings: Columns
    """By source column."""
    description: Description | None = None
    profile_id: ProfileId | None = None
    transforms: Transforms = []
    validation_rules: Rules = []


class MappingPatch(Struct, frozen=True, kw_only=True):
    """What to change of a mapping; what is given replaces what stood there, and the whole must be a mapping again."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    mappings: Columns | UnsetType = UNSET
    transforms: Transforms | UnsetType = UNSET
    validation_rules: Rules | UnsetType = UNSET


class MappingList(PageQuery, frozen=True, kw_only=True):
    """Which mappings."""

    source_type: SourceType | None = None
    search: Search | None = None
    include_system: bool = False


class MappingDetail(Struct, frozen=True, kw_only=True):
    """How much to say of a mapping."""

    resolve_profile: bool = False


class Sample(Struct, frozen=True, kw_only=True):
    """Rows to try a mapping on."""

    sample_data: Annotated[
        list[dict[str, Any]], Meta(max_length=SAMPLE_ROWS_MAX, description="Rows by source column, as JSON values")
    ]
    strict: bool = False
    """A warning fails it too."""


# What is answered -----------------------------------------------------------------------------------------------------


class MappingSummary(Struct, frozen=True, kw_only=True):
    """A mapping in the list."""

    id: str
    name: str
    description: str | None
    source_type: SourceType
    is_system: bool
    field_count: int
    """Those of the profile included."""
    profile_id: str | None
    created_by: str
    created_at: datetime


class Mapping(Struct, frozen=True, kw_only=True):
    """A mapping."""

    id: str
    name: str
    description: str | None
    source_type: SourceType
    profile_id: str | None
    mappings: dict[str, Column]
    """By source column, in order of preference."""
    resolved_mappings: dict[str, Resolved] | UnsetType = UNSET
    """By field, with `resolve_profile`."""
    transforms: list[Transform]
    validation_rules: list[Rule]
    created_by: str
    created_at: datetime
    updated_at: datetime


class MappingRow(Struct, frozen=True, kw_only=True):
    """A stored mapping."""

    id: str
    name: str
    description: str | None
    source_type: SourceType
    profile_id: str | None
    mappings: dict[str, Column]
    transforms: list[Transform]
    validation_rules: list[Rule]
    created_by: str
    version: int
    created_at: datetime
    updated_at: datetime


class Finding(Struct, frozen=True, kw_only=True):
    """What is wrong with a value of the sample."""

    row: int | None
    """Place in the sample, from 1; null for a whole column."""
    field: str
    """The target field; the column's own name where it feeds none."""
    rule: str
    """The rule that it breaks, the operation that it fails, or what is wrong with its type or column."""
    message: str
    value: Any


class Trial(Struct, frozen=True, kw_only=True):
    """What a mapping makes of a sample."""

    valid: bool
    """No error, no required column missing and, when strict, no warning."""
    rows_processed: int
    rows_valid: int
    rows_invalid: int
    mapped_data: list[dict[str, Any]]
    """By target field, after transforms; invalid rows included."""
    warnings: list[Finding]
    errors: list[Finding]
    warning_count: int
    """Of all of them; the list holds the first ones."""
    error_count: int
    unmapped_columns: list[str]
    missing_required_columns: list[str]
    """Required fields that neither a column of the sample nor a default feeds."""


# Refusals -------------------------------------------------------------------------------------------------------------


class InvalidSourceType(Problem, status=400):
    """Invalid source type"""


class InvalidConfiguration(Problem, status=400):
    """Invalid mapping configuration"""


class ProfileNotFound(Problem, status=404):
    """Profile not found"""


class MappingNotFound(Problem, status=404):
    """Mapping not found"""


class MappingExists(Problem, status=409, constraint="mappings_name_key"):
    """Mapping already exists"""


class MappingInUse(Problem, status=409, constraint=("workbooks_mapping", "deals_mapping", "tapes_mapping")):
    """Mapping in use"""


class UndeletableMapping(Problem, status=403):
    """Cannot delete system mapping"""


class UnchangeableMapping(Problem, status=403):
    """Cannot modify system mapping"""


class MappingTooSlow(Problem, status=422):
    """Mapping takes too long"""


class MappingLimitExceeded(Problem, status=403):
    """Mapping limit exceeded"""


@contextmanager
def naming_a_mapping() -> Iterator[None]:
    """The constraint that keeps a mapping in use speaks to both sides: here it says that the mapping has just gone.

    Raises:
        MappingNotFound: what is written within names a mapping that was deleted in this moment.
    """
    try:
        yield
    except MappingInUse as gone:
        raise MappingNotFound from gone
