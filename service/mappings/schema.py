"""What mappings say: the records, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from core.portfolio.mapping.normalise import SAMPLE_ROWS_MAX
from core.portfolio.mapping.profiles.configure import RULES_MAX, TRANSFORMS_MAX
from core.portfolio.model.fields import PROFILES, FieldType, SourceType
from core.words import nearest
from service.platform.base.problem import Fault, Problem
from service.platform.route.api import PageQuery
from service.platform.route.patch import Patch, patch_of

ANSWER_BYTES_MAX = 32 * 1024 * 1024
"""What a mapping made of a sample: defaults and replacements may make rows longer than they came."""

DOCUMENT_BYTES_MAX = 256 * 1024
"""JSON of a mapping's columns, transforms and rules: 25 times the longest built-in one; each run on a workbook that
names the mapping keeps a copy as evidence."""

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Search = Annotated[str, Meta(max_length=200, description="Part of the name, in any case")]
ProfileId = Annotated[
    str,
    Meta(
        max_length=200,
        description="Built-in mapping to extend, as GET /api/v1/mappings lists them with include_system; unset: none",
    ),
]


# What a mapping is made of --------------------------------------------------------------------------------------------


# Anything may come, described as what it should be: the engine checks it, and names the source column.
GivenText = Annotated[Any, Meta(extra_json_schema={"type": "string"})]
GivenType = Annotated[Any, Meta(extra_json_schema={"type": "string", "enum": list(get_args(FieldType))})]
GivenFlag = Annotated[Any, Meta(extra_json_schema={"type": "boolean", "nullable": True})]
GivenTexts = Annotated[Any, Meta(extra_json_schema={"type": "array", "items": {"type": "string"}, "nullable": True})]
GivenObject = Annotated[Any, Meta(extra_json_schema={"type": "object", "nullable": True})]


class ColumnGiven(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which field a source column feeds, as a caller writes it."""

    target: GivenText = UNSET
    """The loan's field that the column feeds: par_value, spread, ..., or a field of your own; it cannot be left out."""
    type: GivenType = UNSET
    """What its values are read as. Unset: as the standard field's, else string."""
    required: GivenFlag = UNSET
    """Whether the column, or a default, has to be there. Unset: as in the profile, else false."""
    default: Any = UNSET
    """What stands in for a blank cell, in the field's type."""
    aliases: GivenTexts = UNSET
    """Further headers of this column, in order of preference."""


class TransformGiven(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of a field's values, as a caller writes it."""

    field: GivenText = UNSET
    operation: GivenText = UNSET
    """multiply, divide, round, uppercase, lowercase, trim, replace, date_format or lookup."""
    parameters: GivenObject = UNSET


class RuleGiven(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a field's values must be, as a caller writes it."""

    field: GivenText = UNSET
    rule: GivenText = UNSET
    """required, positive, non_negative, range, regex, length, enum or unique."""
    parameters: GivenObject = UNSET
    message: GivenText = UNSET
    """What is told of a row that breaks it, in place of the rule's own words."""


class Column(Struct, frozen=True, kw_only=True):
    """Which field a source column feeds."""

    target: str
    """The loan's field that the column feeds: par_value, spread, ..."""
    type: FieldType
    """What its values are read as."""
    required: bool
    """Whether the column, or a default, has to be there."""
    default: Any
    """What stands in for a blank cell. Null: nothing."""
    aliases: list[str]
    """Other headers of the same column, in order of preference."""


class Transform(Struct, frozen=True, kw_only=True):
    """A change of a field's values, made before they are checked."""

    field: str
    operation: str
    """multiply, divide, round, uppercase, lowercase, trim, replace, date_format or lookup."""
    parameters: dict[str, Any] | None


class Rule(Struct, frozen=True, kw_only=True):
    """What a field's values must be."""

    field: str
    rule: str
    """required, positive, non_negative, range, regex, length, enum or unique."""
    parameters: dict[str, Any] | None
    message: str | None
    """What is told of a row that breaks it. Null: the rule's own words."""


class Resolved(Struct, frozen=True, kw_only=True):
    """A field with every column that may feed it, those of the profile included."""

    sources: list[str]
    """Columns that may feed it, in order of preference."""
    type: FieldType
    """What its values are read as."""
    required: bool
    """Whether one of these columns, or a default, has to be there."""


# What is asked --------------------------------------------------------------------------------------------------------

Columns = dict[str, ColumnGiven]
Transforms = Annotated[list[TransformGiven], Meta(max_length=TRANSFORMS_MAX)]
Rules = Annotated[list[RuleGiven], Meta(max_length=RULES_MAX)]


class MappingDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping that is not stored, on its own or on top of a built-in one."""

    name: Name | None = None
    source_type: str
    mappings: Columns
    description: Description | None = None
    profile_id: ProfileId | None = None
    transforms: Transforms = []
    validation_rules: Rules = []


class MappingCreate(MappingDraft, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping, on its own or on top of a built-in one."""

    name: Name


@patch_of(MappingCreate, "name description mappings transforms validation_rules")
class MappingPatch(Patch, frozen=True):
    """What to change of a mapping; what is given replaces what stood there, and the whole must be a mapping again."""


class MappingList(PageQuery, frozen=True, kw_only=True):
    """Which mappings."""

    source_type: SourceType | None = None
    search: Search | None = None
    include_system: bool = False
    """Add the built-in mappings."""


class MappingDetail(Struct, frozen=True, kw_only=True):
    """How much to say of a mapping."""

    resolve_profile: bool = False
    """Add `resolved_mappings`: every field with all of its columns."""


class Sample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows to try a mapping on."""

    sample_data: Annotated[
        list[dict[str, Any]], Meta(max_length=SAMPLE_ROWS_MAX, description="Rows by source column, as JSON values")
    ]
    strict: bool = False
    """Whether a warning makes the sample fail."""


# What is answered -----------------------------------------------------------------------------------------------------


class MappingSummary(Struct, frozen=True, kw_only=True):
    """A mapping in the list."""

    id: str
    """Identifier: a UUID, or a built-in mapping's name such as standard_clo."""
    name: str
    description: str | None
    source_type: SourceType
    is_system: bool
    """Whether it is built in, and cannot be changed."""
    field_count: int
    """How many fields it feeds, those of its profile included."""
    profile_id: str | None
    """The built-in mapping that it extends. Null: none."""
    created_by: str
    created_at: datetime


class MappingWarning(Struct, frozen=True, kw_only=True):
    """What is doubtful of a mapping."""

    code: Literal["own_field"]
    """own_field: the target is no standard field of the source type."""
    field: str
    """The target."""
    message: str


class Mapping(Struct, frozen=True, kw_only=True):
    """How a source's columns become fields of loans."""

    id: str
    """Identifier: a UUID, or a built-in mapping's name such as standard_clo."""
    name: str
    description: str | None
    source_type: SourceType
    profile_id: str | None
    """The built-in mapping that it extends. Null: none."""
    mappings: dict[str, Column]
    resolved_mappings: dict[str, Resolved] | UnsetType = UNSET
    """Every field with all columns that may feed it; only with resolve_profile."""
    transforms: list[Transform]
    validation_rules: list[Rule]
    warnings: list[MappingWarning]
    """Targets that are fields of your own: no test of the suites reads them."""
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
    """What is wrong with a value of a sample or a workbook."""

    row: int | None
    """Place in the sample, from 1; of a workbook the sheet's own row. Null: the whole column."""
    field: str
    """The target field; the column's own name where it feeds none."""
    rule: str
    """The rule that it breaks, the operation that it fails, or what is wrong with its type or column."""
    message: str
    """What is wrong, in a sentence."""
    value: Any
    """The value that is wrong. Null: blank."""
    page: int | UnsetType = UNSET
    """Page of the document on which the row stands, from 1. Left out: the file has no pages, or see `row`."""
    line: int | UnsetType = UNSET
    """The row's line on its page, from 1. Left out: see `page`."""


class Trial(Struct, frozen=True, kw_only=True):
    """What a mapping makes of a sample."""

    valid: bool
    """Whether there is no error, no required column missing and, when strict, no warning."""
    rows_processed: int
    """Rows of the sample."""
    rows_valid: int
    """Rows without an error."""
    rows_invalid: int
    """Rows with an error."""
    mapped_data: list[dict[str, Any]]
    """The rows by target field, after transforms, invalid rows included."""
    warnings: list[Finding]
    """What is doubtful, of the mapping's own fields first; the first ones, `warning_count` counts all."""
    errors: list[Finding]
    """What breaks a rule or cannot be read; the first ones, `error_count` counts all."""
    warning_count: int
    """How many warnings there are."""
    error_count: int
    """How many errors there are."""
    unmapped_columns: list[str]
    """Columns of the sample that feed no field."""
    missing_required_columns: list[str]
    """Required fields that neither a column of the sample nor a default feeds."""


# Refusals -------------------------------------------------------------------------------------------------------------


class InvalidSourceType(Problem, status=400):
    """Invalid source type"""


class InvalidConfiguration(Problem, status=400):
    """Invalid mapping configuration"""


class ProfileNotFound(Problem, status=404):
    """Profile not found"""


class MappingNotFound(
    Problem,
    status=404,
    hint=f"built-in ones are {', '.join(PROFILES)}; GET /api/v1/mappings lists the tenant's own",
):
    """Mapping not found"""

    @classmethod
    def for_id(cls, mapping_id: str) -> Self:
        """Return this problem with the built-in name that may be meant."""
        near = nearest(mapping_id, PROFILES)
        return cls(Fault(["mapping_id"], f"did you mean {near}? {cls.hint}")) if near else cls()


class MappingExists(Problem, status=409, constraint="mappings_name_key"):
    """Mapping already exists"""


class MappingInUse(Problem, status=409, constraint=("workbooks_mapping", "deals_mapping", "tapes_mapping")):
    """Mapping in use"""


class UndeletableMapping(Problem, status=403, hint="it is there for every tenant"):
    """Cannot delete system mapping"""


class UnchangeableMapping(
    Problem,
    status=403,
    hint="POST /api/v1/mappings with its name as profile_id makes one of your own",
):
    """Cannot modify system mapping"""


class MappingTooSlow(Problem, status=422):
    """Mapping takes too long"""


class MappingLimitExceeded(Problem, status=403):
    """Mapping limit exceeded"""
