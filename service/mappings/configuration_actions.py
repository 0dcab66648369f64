"""A mapping as a caller writes it.

Made by the engine, or refused with every fault and its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, get_args

import msgspec
from msgspec import UNSET

from core.portfolio.mapping.profiles.configure import Fault as ConfigurationFault
from core.portfolio.mapping.profiles.configure import resolve_targets
from core.portfolio.model.fields import PROFILES, SourceType
from core.portfolio.model.fields import Field as CoreField
from core.portfolio.model.fields import Mapping as CoreMapping
from service.mappings import child, schema
from service.platform.base.problem import Fault
from service.platform.unit.context import Context, Unit
from service.platform.unit.records import to_json
from service.processes.shared import run_limited_in_child

SOURCE_TYPES: Final = get_args(SourceType)
FAULTS_MAX: Final = 20
"""Faults of a configuration that one refusal names."""
STEP_LENGTH_MAX: Final = 200
"""Most characters of a name in a fault."""
SHORT_BYTES: Final = 4 * 1024
"""A mapping whose document is no longer takes some milliseconds to make, of pure Python."""

BODY: Final = ("body",)
UNSAVED: Final = "unsaved"
"""The name, and the identifier, of a mapping that is not stored."""


class GivenMapping(NamedTuple):
    """All that makes a mapping, as a caller wrote it."""

    source_type: str
    profile_id: str | None
    mappings: dict[str, schema.ColumnGiven]
    transforms: list[schema.TransformGiven]
    validation_rules: list[schema.RuleGiven]

    def document(self) -> dict[str, Any]:
        """Return the engine's document; what is null or left out is not in it."""
        return {
            "source_type": self.source_type,
            "profile_id": self.profile_id,
            "mappings": {source: _plain(column) for source, column in self.mappings.items()},
            "transforms": [_plain(transform) for transform in self.transforms],
            "validation_rules": [_plain(rule) for rule in self.validation_rules],
        }


def _plain(part: schema.ColumnGiven | schema.TransformGiven | schema.RuleGiven) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(part).items() if value not in (None, UNSET)}


def check_source_type(source_type: str, where: Sequence[str]) -> None:
    """Refuse a source type that there is none of.

    Raises:
        InvalidSourceType: with those that there are.
    """
    if source_type not in SOURCE_TYPES:
        raise schema.InvalidSourceType.at([*where, "source_type"], f"the source types are {', '.join(SOURCE_TYPES)}")


async def read_draft(ctx: Context, draft: schema.MappingDraft, where: Sequence[str]) -> CoreMapping:
    """Return the mapping that a draft says, which is not stored.

    Args:
        where: its place in the request.

    Raises:
        InvalidSourceType, ProfileNotFound, InvalidConfiguration: it could not be stored either.
    """
    check_source_type(draft.source_type, where)
    given_mapping = GivenMapping(
        draft.source_type, draft.profile_id, draft.mappings, draft.transforms, draft.validation_rules
    )
    mapping = await _check(ctx, given_mapping, draft.name or UNSAVED, where, mapping_id=UNSAVED)
    _documents(given_mapping, mapping, where)
    return mapping


async def document_columns(
    ctx: Context, given_mapping: GivenMapping, name: str, *, is_stored: bool = False
) -> dict[str, Any]:
    """Return the stored columns of a mapping's document.

    `is_stored`: its columns were accepted once.

    Raises:
        ProfileNotFound: it extends what is not built in.
        InvalidConfiguration: it is no mapping, or a longer one than is stored.
    """
    mapping = await _check(ctx, given_mapping, name, BODY, is_stored=is_stored)
    return {**_documents(given_mapping, mapping, BODY), "field_count": len(resolve_targets(mapping))}


async def _check(
    ctx: Context,
    given_mapping: GivenMapping,
    name: str,
    where: Sequence[str],
    *,
    mapping_id: str = "",
    is_stored: bool = False,
) -> CoreMapping:
    result = await configure(ctx, given_mapping.document(), mapping_id, name, is_stored=is_stored)
    if not result.is_profile_known:
        raise schema.ProfileNotFound.at([*where, "profile_id"], f"the profiles are {', '.join(PROFILES)}")
    if result.mapping is None:
        raise schema.InvalidConfiguration(*(_fault(fault, where) for fault in result.faults[:FAULTS_MAX]))
    return result.mapping


def _documents(given_mapping: GivenMapping, mapping: CoreMapping, where: Sequence[str]) -> dict[str, str]:
    """Return columns, transforms and rules as JSON, within a limit."""
    fields = {field.target: field for field in (*mapping.auxiliary, *mapping.fields)}
    documents = {
        "mappings": to_json({source: _column(column, fields) for source, column in given_mapping.mappings.items()}),
        "transforms": to_json([_transform(transform) for transform in given_mapping.transforms]),
        "validation_rules": to_json([_rule(validation_rule) for validation_rule in given_mapping.validation_rules]),
    }
    size_bytes = sum(len(document.encode()) for document in documents.values())
    if size_bytes > schema.DOCUMENT_BYTES_MAX:
        message = f"the mapping takes {size_bytes:,} bytes; the limit is {schema.DOCUMENT_BYTES_MAX:,}"
        raise schema.InvalidConfiguration.at([*where, "mappings"], message)
    return documents


def _fault(configuration_fault: ConfigurationFault, where: Sequence[str]) -> Fault:
    """Return a configuration's fault as one of the request."""
    place, message = configuration_fault
    return Fault([*where, *(step[:STEP_LENGTH_MAX] for step in place)], message)


def _column(column: schema.ColumnGiven, fields: dict[str, CoreField]) -> schema.Column:
    """Return a column with what was left out filled in."""
    assert isinstance(column.target, str), "the engine refuses a column without a target"
    field = fields[column.target]
    return schema.Column(
        target=column.target,
        type=field.type,
        required=column.required if isinstance(column.required, bool) else field.required,
        default=None if column.default is UNSET else column.default,
        aliases=column.aliases or [],
    )


def _transform(transform: schema.TransformGiven) -> schema.Transform:
    return schema.Transform(
        field=str(transform.field), operation=str(transform.operation), parameters=transform.parameters or None
    )


def _rule(rule: schema.RuleGiven) -> schema.Rule:
    return schema.Rule(
        field=str(rule.field),
        rule=str(rule.rule),
        parameters=rule.parameters or None,
        message=rule.message or None,
    )


async def configure(
    unit: Unit, document: dict[str, Any], mapping_id: str, name: str, *, is_stored: bool = False
) -> child.Configured:
    """Return the mapping of a document.

    Made in a thread where it is short, else in a child.
    """
    what = document, mapping_id, name, is_stored
    if len(msgspec.json.encode(document)) <= SHORT_BYTES:
        return await unit.compute(child.configure, *what)
    return await run_limited_in_child(unit, child.configure, *what)
