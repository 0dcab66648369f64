"""Mappings' decisions: what is a mapping, who may change which, and what one makes of sample rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, get_args

import msgspec
from msgspec import UNSET

from core.portfolio.mapping.profiles import configure
from core.portfolio.model.fields import PROFILES, SourceType
from core.portfolio.model.fields import Field as CoreField
from core.portfolio.model.fields import Mapping as CoreMapping
from service.mappings import child, shared, store
from service.mappings.schema import (
    DOCUMENT_BYTES_MAX,
    Column,
    ColumnGiven,
    InvalidConfiguration,
    InvalidSourceType,
    Mapping,
    MappingCreate,
    MappingDetail,
    MappingInUse,
    MappingLimitExceeded,
    MappingList,
    MappingPatch,
    MappingRow,
    MappingSummary,
    MappingWarning,
    ProfileNotFound,
    Resolved,
    Rule,
    RuleGiven,
    Sample,
    Transform,
    TransformGiven,
    UnchangeableMapping,
    UndeletableMapping,
)
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.api import Page, Raw, page_of
from service.platform.http.bodies import Unread
from service.platform.http.problem import Fault

SOURCE_TYPES: Final = get_args(SourceType)
SYSTEM: Final = "system"
"""Who made the built-in mappings."""
SYSTEM_SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""They have no day of their own; it is in front of every stored one's."""
FAULTS_MAX: Final = 20
"""Faults of a configuration that one refusal names."""
ENCODING_SECONDS: Final = 20.0
"""Beside the mapping's own time: the largest sample is written and encoded in a few seconds."""
STEP_LENGTH_MAX: Final = 200
"""Characters that it tells of a name."""


# Reading --------------------------------------------------------------------------------------------------------------


async def listed(ctx: Context, query: MappingList) -> Page[MappingSummary]:
    """A page of mappings: the built-in ones, where asked for, stand in front."""
    wanted = (query.search or "").casefold()
    system = [
        one
        for one in _SUMMARIES
        if query.include_system and query.source_type in (None, one.source_type) and wanted in one.name.casefold()
    ]
    shown = system[query.offset : query.offset + query.page_size]
    own, count = await store.listed(
        ctx, query, limit=query.page_size - len(shown), offset=max(0, query.offset - len(system))
    )
    return page_of(shown + own, len(system) + count, query)


async def detail(ctx: Context, mapping_id: str, query: MappingDetail) -> Mapping:
    """A mapping, with the fields that it comes to when asked for."""
    row = _SYSTEM.get(mapping_id) or await store.get(ctx, mapping_id)
    answer = await _answer(ctx, row)
    if not query.resolve_profile:
        return answer
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    fields = {target: msgspec.convert(field, Resolved) for target, field in configure.resolved(mapping).items()}
    return msgspec.structs.replace(answer, resolved_mappings=fields)


# Writing --------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: MappingCreate) -> Mapping:
    """A mapping of the tenant's own."""
    if body.source_type not in SOURCE_TYPES:
        raise InvalidSourceType.at(["body", "source_type"], f"the source types are {', '.join(SOURCE_TYPES)}")
    given = _Given(body.source_type, body.profile_id, body.mappings, body.transforms, body.validation_rules)
    written = await _written(ctx, given, body.name)
    if await store.lock_count(ctx) >= ctx.settings.max_mappings:
        raise MappingLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_mappings} mappings")
    row = await store.create(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": str(new_id()),
            "name": body.name,
            "description": body.description,
            "source_type": body.source_type,
            "profile_id": body.profile_id,
            "created_by": await ctx.email(),
            **written,
        },
    )
    ctx.concerns("mapping", row.id, row.name, source_type=row.source_type, profile_id=row.profile_id)
    return await _answer(ctx, row)


async def update(ctx: Context, mapping_id: str, patch: MappingPatch) -> Mapping:
    """Change a mapping of the tenant's; what comes of it must be one again."""
    if mapping_id in PROFILES:
        raise UnchangeableMapping
    row = await store.lock(ctx, mapping_id)
    ctx.match(row.version)
    named = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if not named:
        ctx.changed_nothing()
        return await _answer(ctx, row)
    name, description = named.get("name", row.name), named.get("description", row.description)
    given = _Given(
        row.source_type,
        row.profile_id,
        msgspec.convert(msgspec.to_builtins(row.mappings), dict[str, ColumnGiven])
        if patch.mappings is UNSET
        else patch.mappings,
        msgspec.convert(msgspec.to_builtins(row.transforms), list[TransformGiven])
        if patch.transforms is UNSET
        else patch.transforms,
        msgspec.convert(msgspec.to_builtins(row.validation_rules), list[RuleGiven])
        if patch.validation_rules is UNSET
        else patch.validation_rules,
    )
    written = await _written(ctx, given, name, is_stored=patch.mappings is UNSET)
    changed = await store.update(ctx, {"id": mapping_id, "name": name, "description": description, **written})
    ctx.concerns("mapping", mapping_id, changed.name, changed=sorted(named))
    return await _answer(ctx, changed)


async def delete(ctx: Context, mapping_id: str) -> None:
    """Delete a mapping of the tenant's that no workbook, deal or tape names."""
    if mapping_id in PROFILES:
        raise UndeletableMapping
    row = await store.lock(ctx, mapping_id)
    if await store.is_used(ctx, mapping_id):
        raise MappingInUse
    await store.delete(ctx, mapping_id)
    ctx.concerns("mapping", mapping_id, row.name)


class _Given(NamedTuple):
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


async def _written(ctx: Context, given: _Given, name: str, *, is_stored: bool = False) -> dict[str, Any]:
    """The columns of a stored mapping that its document fills; `is_stored`: its columns were accepted once.

    Raises:
        ProfileNotFound: it extends what is not built in.
        InvalidConfiguration: it is no mapping, or a longer one than is stored.
    """
    result = await shared.configure(ctx, given.document(), "", name, is_stored=is_stored)
    if not result.is_profile_known:
        raise ProfileNotFound.at(["body", "profile_id"], f"the profiles are {', '.join(PROFILES)}")
    mapping = result.mapping
    if mapping is None:
        raise InvalidConfiguration(*map(_fault, result.faults[:FAULTS_MAX]))
    fields = {field.target: field for field in (*mapping.auxiliary, *mapping.fields)}
    documents = {
        "mappings": _json({source: _column(column, fields) for source, column in given.mappings.items()}),
        "transforms": _json([_transform(one) for one in given.transforms]),
        "validation_rules": _json([_rule(one) for one in given.validation_rules]),
    }
    size_bytes = sum(len(document.encode()) for document in documents.values())
    if size_bytes > DOCUMENT_BYTES_MAX:
        message = f"the mapping takes {size_bytes:,} bytes; the limit is {DOCUMENT_BYTES_MAX:,}"
        raise InvalidConfiguration.at(["body", "mappings"], message)
    return {**documents, "field_count": len(configure.resolved(mapping))}


def _fault(found: configure.Fault) -> Fault:
    """A fault of a configuration as one of the request; a source column's name may be as long as the body."""
    place, message = found
    return Fault(["body", *(step[:STEP_LENGTH_MAX] for step in place)], message)


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


# Trying ---------------------------------------------------------------------------------------------------------------


async def validate(ctx: Context, mapping_id: str, body: Sample | Unread) -> Raw:
    """What a mapping makes of sample rows, worked out and encoded in a child."""
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    row = _SYSTEM.get(mapping_id) or await store.get(ctx, mapping_id)
    await ctx.commit()  # no connection is held while it works
    own, seconds = await _own_fields(ctx, row), ctx.settings.mapping_seconds
    return await shared.mapped_in_child(ctx, seconds + ENCODING_SECONDS, child.try_sample, mapping, body, own, seconds)


# Built-in ones --------------------------------------------------------------------------------------------------------


async def _answer(ctx: Context, row: MappingRow) -> Mapping:
    ctx.tag(row.version)
    return Mapping(
        **{name: getattr(row, name) for name in Mapping.__struct_fields__ if name in MappingRow.__struct_fields__},
        warnings=[
            MappingWarning(code="own_field", field=one.target, message=one.message)
            for one in await _own_fields(ctx, row)
        ],
    )


async def _own_fields(ctx: Context, row: MappingRow) -> list[configure.OwnField]:
    """The targets of a stored mapping that are no standard fields."""
    if row.created_by == SYSTEM:
        return []
    targets = [column.target for column in row.mappings.values()]
    return await ctx.compute(configure.own_fields, row.source_type, row.profile_id, targets)


def _system(mapping: CoreMapping) -> MappingRow:
    """A built-in mapping as if it were stored: each field by the header that is preferred."""
    return MappingRow(
        id=mapping.id,
        name=mapping.name,
        description=None,
        source_type=mapping.source_type,
        profile_id=None,
        mappings={
            field.aliases[0]: Column(
                target=field.target,
                type=field.type,
                required=field.required,
                default=field.default,
                aliases=list(field.aliases[1:]),
            )
            for field in mapping.fields
        },
        transforms=[],
        validation_rules=[],
        created_by=SYSTEM,
        version=1,
        created_at=SYSTEM_SINCE,
        updated_at=SYSTEM_SINCE,
    )


_SYSTEM: Final = {mapping_id: _system(mapping) for mapping_id, mapping in PROFILES.items()}
_SUMMARIES: Final = [
    MappingSummary(
        id=row.id,
        name=row.name,
        description=row.description,
        source_type=row.source_type,
        is_system=True,
        field_count=len(row.mappings),
        profile_id=row.profile_id,
        created_by=row.created_by,
        created_at=row.created_at,
    )
    for row in _SYSTEM.values()
]
