"""A mapping as a caller writes it: made by the engine, or refused with every fault and its place."""

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
from service.mappings import child
from service.mappings.schema import (
    DOCUMENT_BYTES_MAX,
    Column,
    ColumnGiven,
    InvalidConfiguration,
    InvalidSourceType,
    MappingDraft,
    ProfileNotFound,
    Rule,
    RuleGiven,
    Transform,
    TransformGiven,
)
from service.platform.base.problem import Fault
from service.platform.unit.context import Context, Unit
from service.processes.shared import limited_in_child

SOURCE_TYPES: Final = get_args(SourceType)
FAULTS_MAX: Final = 20
"""Faults of a configuration that one refusal names."""
STEP_LENGTH_MAX: Final = 200
"""Characters that it tells of a name."""
SHORT_BYTES: Final = 4 * 1024
"""A mapping whose document is no longer takes some milliseconds to make, of pure Python."""

BODY: Final = ("body",)
UNSAVED: Final = "unsaved"
"""The name, and the identifier, of a mapping that is not stored."""


class GivenMapping(NamedTuple):
    """All that makes a mapping, as a caller wrote it."""

    source_type: str
    profile_id: str | None
    mappings: dict[str, ColumnGiven]
    transforms: list[TransformGiven]
    validation_rules: list[RuleGiven]

    def document(self) -> dict[str, Any]:
        """The engine's document; what is null or left out is not in it."""
        return {
            "source_type": self.source_type,
            "profile_id": self.profile_id,
            "mappings": {source: _plain(column) for source, column in self.mappings.items()},
            "transforms": [_plain(transform) for transform in self.transforms],
            "validation_rules": [_plain(rule) for rule in self.validation_rules],
        }


def _plain(given: ColumnGiven | TransformGiven | RuleGiven) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(given).items() if value not in (None, UNSET)}


def check_source_type(source_type: str, where: Sequence[str]) -> None:
    """Refuse a source type that there is none of.

    Raises:
        InvalidSourceType: with those that there are.
    """
    if source_type not in SOURCE_TYPES:
        raise InvalidSourceType.at([*where, "source_type"], f"the source types are {', '.join(SOURCE_TYPES)}")


async def unsaved(ctx: Context, draft: MappingDraft, where: Sequence[str]) -> CoreMapping:
    """The mapping that a draft says, which is not stored.

    Args:
        where: its place in the request.

    Raises:
        InvalidSourceType, ProfileNotFound, InvalidConfiguration: it could not be stored either.
    """
    check_source_type(draft.source_type, where)
    given_mapping = GivenMapping(
        draft.source_type, draft.profile_id, draft.mappings, draft.transforms, draft.validation_rules
    )
    mapping = await _checked(ctx, given_mapping, draft.name or UNSAVED, where, mapping_id=UNSAVED)
    _documents(given_mapping, mapping, where)
    return mapping


async def written_of(
    ctx: Context, given_mapping: GivenMapping, name: str, *, is_stored: bool = False
) -> dict[str, Any]:
    """The columns of a stored mapping that its document fills; `is_stored`: its columns were accepted once.

    Raises:
        ProfileNotFound: it extends what is not built in.
        InvalidConfiguration: it is no mapping, or a longer one than is stored.
    """
    mapping = await _checked(ctx, given_mapping, name, BODY, is_stored=is_stored)
    return {**_documents(given_mapping, mapping, BODY), "field_count": len(resolve_targets(mapping))}


async def _checked(
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
        raise ProfileNotFound.at([*where, "profile_id"], f"the profiles are {', '.join(PROFILES)}")
    if result.mapping is None:
        raise InvalidConfiguration(*(_fault(fault, where) for fault in result.faults[:FAULTS_MAX]))
    return result.mapping


def _documents(given_mapping: GivenMapping, mapping: CoreMapping, where: Sequence[str]) -> dict[str, str]:
    """The JSON of a mapping's columns, transforms and rules, unless it is too long."""
    fields = {field.target: field for field in (*mapping.auxiliary, *mapping.fields)}
    documents = {
        "mappings": _json({source: _column(column, fields) for source, column in given_mapping.mappings.items()}),
        "transforms": _json([_transform(transform) for transform in given_mapping.transforms]),
        "validation_rules": _json([_rule(validation_rule) for validation_rule in given_mapping.validation_rules]),
    }
    size_bytes = sum(len(document.encode()) for document in documents.values())
    if size_bytes > DOCUMENT_BYTES_MAX:
        message = f"the mapping takes {size_bytes:,} bytes; the limit is {DOCUMENT_BYTES_MAX:,}"
        raise InvalidConfiguration.at([*where, "mappings"], message)
    return documents


def _fault(configuration_fault: ConfigurationFault, where: Sequence[str]) -> Fault:
    """A fault of a configuration as one of the request; a source column's name may be as long as the body."""
    place, message = configuration_fault
    return Fault([*where, *(step[:STEP_LENGTH_MAX] for step in place)], message)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _column(given: ColumnGiven, fields: dict[str, CoreField]) -> Column:
    """A column with what was left out filled in."""
    assert isinstance(given.target, str), "the engine refuses a column without a target"
    field = fields[given.target]
    return Column(
        target=given.target,
        type=field.type,
        required=given.required if isinstance(given.required, bool) else field.required,
        default=None if given.default is UNSET else given.default,
        aliases=given.aliases or [],
    )


def _transform(given: TransformGiven) -> Transform:
    return Transform(field=str(given.field), operation=str(given.operation), parameters=given.parameters or None)


def _rule(given: RuleGiven) -> Rule:
    return Rule(
        field=str(given.field),
        rule=str(given.rule),
        parameters=given.parameters or None,
        message=given.message or None,
    )


async def configure(
    unit: Unit, document: dict[str, Any], mapping_id: str, name: str, *, is_stored: bool = False
) -> child.Configured:
    """The mapping that a document says: made in a thread where it is short, else in a child."""
    what = document, mapping_id, name, is_stored
    if len(msgspec.json.encode(document)) <= SHORT_BYTES:
        return await unit.compute(child.configure, *what)
    return await limited_in_child(unit, child.configure, *what)
