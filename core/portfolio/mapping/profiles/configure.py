"""A mapping's configuration to a mapping: all is checked, faults have places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, NamedTuple, get_args

from core.portfolio.cells.patterns import program_size
from core.portfolio.cells.string_pool import key
from core.portfolio.mapping.profiles.parameters import Parameter, value_fault
from core.portfolio.mapping.profiles.rules import RULES
from core.portfolio.mapping.profiles.transforms import OPERATIONS
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import (
    AUXILIARY_FIELDS,
    PROFILES,
    SERVICER_FIELDS,
    STANDARD_CLO_FIELDS,
    Field,
    FieldRule,
    FieldType,
    Mapping,
    SourceType,
    Transform,
)

COLUMNS_MAX: Final = 300
"""Source columns of one configuration."""

ALIASES_MAX: Final = 50
"""Aliases of one source column."""

HEADER_LENGTH_MAX: Final = 200
"""Characters of a source column's name or an alias."""

TRANSFORMS_MAX: Final = 200
"""Transforms of one configuration."""

FIELD_TRANSFORMS_MAX: Final = 10
"""Transforms of one field: each reads all of its values."""

RULES_MAX: Final = 300
"""Rules of one configuration."""

FIELD_RULES_MAX: Final = 10
"""Rules of one field."""

FIELD_PROGRAM_MAX: Final = 1_000
"""Instructions of all compiled patterns of one field together: what each byte of its text can cost."""

MESSAGE_LENGTH_MAX: Final = 500
"""Characters of a rule's own message."""

FAULTS_MAX: Final = 100
"""Faults that one refusal names."""

TARGET: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""What a target may be called: a definition's formulas may name it."""

NEAR: Final = 0.65
"""How alike two names are of which one may be meant for the other."""
NEAR_KEPT_MAX: Final = 4_096
"""Names whose nearest standard field is remembered: finding one takes a millisecond."""


Place = tuple[str, ...]
Fault = tuple[Place, str]

_SOURCE_TYPES: Final[tuple[str, ...]] = get_args(SourceType)
_FIELD_TYPES: Final[tuple[str, ...]] = get_args(FieldType)
_STANDARD: Final[dict[str, dict[str, FieldType]]] = {
    "clo_holdings": {field.target: field.type for field in (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS)},
    "servicer_snapshot": {servicer_field.target: servicer_field.type for servicer_field in SERVICER_FIELDS},
    "custom": {},
}


class OwnField(NamedTuple):
    """A target that is no standard field: carried with each loan, read by no test."""

    target: str
    near: str | None
    """The standard field whose name it is close to."""
    message: str


class ConfigurationError(MappingError):
    """A configuration that is no mapping; `faults` has all (place, what)."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("; ".join(f"{'.'.join(place)}: {what}" for place, what in self.faults))


class UnknownProfile(ConfigurationError):
    """The profile to extend is none of the built-in ones."""


@dataclass(slots=True)
class _Entry:
    """What all source columns of one target say together."""

    target: str
    type: FieldType
    sources: list[str] = field(default_factory=list)
    """Its columns and their aliases, in order of preference."""
    columns: list[str] = field(default_factory=list)
    required: bool = False
    default: Any = None


def configure_mapping(
    document: dict[str, Any],
    *,
    id: str,  # noqa: A002 - the field's own name
    name: str,
    is_stored: bool = False,
) -> Mapping:
    """Make the mapping of a configuration in the API's form.

    That is source_type, profile_id, mappings, transforms and so on.

    A profile's fields stay; an entry for one of them puts its own source columns before the profile's aliases, which
    lose the names that another target claims. A field that the profile requires stays required. A target that is no
    standard field is one of the caller's own, as `own_fields` tells. An object of columns has no order: of two source
    columns of one target one names the other among its aliases, which stand in the order of preference.

    Args:
        is_stored: the document was accepted once, when two columns of one target were taken in their order.

    Raises:
        UnknownProfile: `profile_id` names no built-in mapping.
        ConfigurationError: anything else that is wrong, the first `FAULTS_MAX` faults at once.
    """
    faults: list[Fault] = []
    source_type = document.get("source_type")
    if source_type not in _SOURCE_TYPES:
        raise ConfigurationError([(("source_type",), f"is none of {', '.join(_SOURCE_TYPES)}")])
    profile = _profile(document.get("profile_id"), source_type)
    entries = _entries(document.get("mappings"), source_type, profile, faults, is_stored=is_stored)
    if not entries and profile is None and not faults:
        faults.append((("mappings",), "no column is mapped, and no profile is extended"))
    fields = _fields(entries, profile)
    types = {field.target: field.type for field in fields}
    programs = dict.fromkeys(types, 0)
    transforms = list(_transforms(document.get("transforms"), types, programs, faults))
    rules = list(_rules(document.get("validation_rules"), types, programs, faults))
    if faults:
        raise ConfigurationError(faults[:FAULTS_MAX])
    auxiliary = AUXILIARY_FIELDS if source_type == "clo_holdings" else profile.auxiliary if profile else ()
    claimed = {key(source) for entry in entries.values() for source in entry.sources}
    return Mapping(
        id,
        name,
        source_type,
        fields,
        tuple(_without(field, claimed) for field in auxiliary if field.target not in types),
        _anchors(source_type, profile, types),
        tuple(transforms),
        tuple(rules),
    )


def resolve_targets(mapping: Mapping) -> dict[str, dict[str, Any]]:
    """Return what feeds each target of a mapping: sources, type, required.

    The preferred source comes first, the target's own name last.
    """
    answer: dict[str, dict[str, Any]] = {}
    known = {key(alias) for mapped in mapping.fields for alias in mapped.aliases}
    for mapped in mapping.fields:
        own = () if key(mapped.target) in known else (mapped.target,)
        answer[mapped.target] = {"sources": [*mapped.aliases, *own], "type": mapped.type, "required": mapped.required}
    return answer


def _profile(profile_id: Any, source_type: str) -> Mapping | None:
    if profile_id is None:
        return None
    profile = PROFILES.get(profile_id) if isinstance(profile_id, str) else None
    if profile is None:
        raise UnknownProfile([(("profile_id",), f"is none of {', '.join(PROFILES)}")])
    if source_type not in (profile.source_type, "custom"):
        what = f"{profile_id} is a profile of {profile.source_type}, not of {source_type}"
        raise ConfigurationError([(("profile_id",), what)])
    return profile


# ---- columns -------------------------------------------------------------------------------------------------------


def _entries(
    mappings: Any, source_type: str, profile: Mapping | None, faults: list[Fault], *, is_stored: bool
) -> dict[str, _Entry]:
    """Return entries by target, in the order in which targets first appear."""
    if not isinstance(mappings, dict):
        faults.append((("mappings",), "is not an object of source columns"))
        return {}
    if len(mappings) > COLUMNS_MAX:
        faults.append((("mappings",), f"has {len(mappings)} source columns, more than {COLUMNS_MAX}"))
        return {}
    standard = _STANDARD[source_type] | ({field.target: field.type for field in profile.fields} if profile else {})
    entries: dict[str, _Entry] = {}
    owners: dict[str, str] = {}
    for source, column in mappings.items():
        place, entry = ("mappings", source), _with_type(column, standard)
        column_faults = list(_column_faults(place, source, entry, standard))
        faults += column_faults
        if not column_faults:
            faults += _merge(entries, owners, place, source, entry, is_stored=is_stored)
    return entries


def own_fields(source_type: str, profile_id: str | None, targets: Iterable[str]) -> list[OwnField]:
    """Return the targets of a configuration that are no standard fields, once each.

    A custom source has fields of its own only: of these one is told that is close to a field of the extended profile.
    """
    profile = PROFILES.get(profile_id or "")
    standard = _STANDARD[source_type] | ({field.target: field.type for field in profile.fields} if profile else {})
    own = []
    for target in dict.fromkeys(targets):
        if target in standard:
            continue
        near = _near(target.lower(), tuple(standard))
        if source_type == "custom" and near is None:
            continue
        what = (
            "is no standard field of its profile"
            if source_type == "custom"
            else f"is no standard field of {source_type}"
        )
        message = f"{target} {what}: it is carried with each loan as a field of your own"
        own.append(OwnField(target, near, message + (f"; did you mean {near}?" if near else "")))
    return own


@lru_cache(maxsize=NEAR_KEPT_MAX)
def _near(name: str, known: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1, cutoff=NEAR)), None)


def _with_type(column: Any, standard: dict[str, FieldType]) -> Any:
    """Add the type of the target's standard field, else text, to a source column."""
    if not isinstance(column, dict) or column.get("type") is not None:
        return column
    target = column.get("target")
    return {**column, "type": standard.get(target, "string") if isinstance(target, str) else "string"}


def _column_faults(place: Place, source: str, entry: Any, standard: dict[str, FieldType]) -> Iterator[Fault]:
    """Yield what is wrong with one source column by itself."""
    yield from _header_faults(place, source)
    if not isinstance(entry, dict):
        yield place, "is not an object with a target and a type"
        return
    target, kind = entry.get("target"), entry["type"]
    if not isinstance(target, str) or TARGET.fullmatch(target) is None:
        yield (*place, "target"), "is not a name of letters, digits and underscores, with a letter first, up to 64"
    elif kind not in _FIELD_TYPES:
        yield (*place, "type"), f"is none of {', '.join(_FIELD_TYPES)}"
    elif standard.get(target, kind) != kind:
        yield (*place, "type"), f"{target} is a standard field of type {standard[target]}"
    elif entry.get("default") is not None and (what := value_fault(entry["default"], kind)):
        yield (*place, "default"), what
    if not isinstance(entry.get("required"), bool | None):
        yield (*place, "required"), "is neither true nor false"
    aliases = entry.get("aliases")
    if not isinstance(aliases, list | tuple | None) or not all(isinstance(alias, str) for alias in aliases or ()):
        yield (*place, "aliases"), "is not a list of names"
    elif len(aliases or ()) > ALIASES_MAX:
        yield (*place, "aliases"), f"has more than {ALIASES_MAX} names"
    else:
        for at, alias in enumerate(aliases or ()):
            yield from _header_faults((*place, "aliases", str(at)), alias)


def _header_faults(place: Place, header: str) -> Iterator[Fault]:
    if not 0 < len(header) <= HEADER_LENGTH_MAX:
        yield place, f"a column's name has 1 to {HEADER_LENGTH_MAX} characters"
    elif not key(header):
        yield place, "a column's name has a letter or a digit"


def _merge(
    entries: dict[str, _Entry],
    owners: dict[str, str],
    place: Place,
    source: str,
    column: dict[str, Any],
    *,
    is_stored: bool,
) -> Iterator[Fault]:
    """Take one sound source column into its target's entry."""
    target, kind, default = column["target"], column["type"], column.get("default")
    entry = entries.setdefault(target, _Entry(target, kind))
    if entry.type != kind:
        yield (*place, "type"), f"another column gives {target} the type {entry.type}"
    if default is not None and entry.default not in (None, default):
        yield (*place, "default"), f"another column gives {target} another default"
    entry.default = default if entry.default is None else entry.default
    entry.required |= column.get("required") is True
    headers: dict[str, str] = {}
    for header in (source, *(column.get("aliases") or ())):
        headers.setdefault(key(header), header)
    is_named = key(source) in map(key, entry.sources)
    names_another = not headers.keys().isdisjoint(map(key, entry.columns))
    if entry.columns and not (is_named or names_another or is_stored):
        yield place, f"feeds {target}, as {entry.columns[0]!r} does: one of them names the other among its aliases"
        return
    entry.columns.append(source)
    for name, header in headers.items():
        if owners.setdefault(name, target) != target:
            yield place, f"{header!r} feeds {owners[name]} already"
    own = [header for name, header in headers.items() if owners[name] == target]
    first, then = (own, entry.sources) if names_another and not is_named else (entry.sources, own)
    known = set(map(key, first))
    entry.sources = [*first, *(header_text for header_text in then if key(header_text) not in known)]


def _fields(entries: dict[str, _Entry], profile: Mapping | None) -> tuple[Field, ...]:
    """Return the profile's fields with what the entries say, then one's own."""
    claimed = {key(source) for entry in entries.values() for source in entry.sources}
    fields = [_extend_field(field, entries.get(field.target), claimed) for field in (profile.fields if profile else ())]
    known = {field.target for field in fields}
    for entry in entries.values():
        if entry.target not in known:
            default = _to_stored(entry.default, entry.type)
            sources = tuple(entry.sources)
            fields.append(Field(entry.target, entry.type, entry.required, sources, default, len(sources)))
    return tuple(fields)


def _extend_field(field: Field, entry: _Entry | None, claimed: set[str]) -> Field:
    rest = _without(field, claimed)
    if entry is None:
        return rest
    default = field.default if entry.default is None else _to_stored(entry.default, field.type)
    aliases = (*entry.sources, *rest.aliases)
    return Field(field.target, field.type, field.required or entry.required, aliases, default, len(entry.sources))


def _without(field: Field, claimed: set[str]) -> Field:
    """Return a built-in field less the names that the configuration claims."""
    aliases = tuple(alias for alias in field.aliases if key(alias) not in claimed)
    return Field(field.target, field.type, field.required, aliases, field.default)


def _to_stored(default: Any, kind: FieldType) -> Any:
    return float(default) if kind == "number" and default is not None else default


def _anchors(source_type: str, profile: Mapping | None, types: dict[str, FieldType]) -> tuple[str, ...]:
    """Return the anchors of the source type that the mapping has, else its targets."""
    base = profile or next((mapping for mapping in PROFILES.values() if mapping.source_type == source_type), None)
    return tuple(target for target in (base.anchors if base else ()) if target in types) or tuple(types)


# ---- transforms and rules ------------------------------------------------------------------------------------------


def _transforms(
    items: Any, types: dict[str, FieldType], programs: dict[str, int], faults: list[Fault]
) -> Iterator[Transform]:
    before: dict[str, list[str]] = {}
    for place, item in _items(items, "transforms", TRANSFORMS_MAX, FIELD_TRANSFORMS_MAX, faults):
        kind = _field_type(item, place, types, faults)
        operation = OPERATIONS.get(item["operation"]) if isinstance(item.get("operation"), str) else None
        if operation is None:
            faults.append(((*place, "operation"), f"is none of {', '.join(OPERATIONS)}"))
        if kind is None or operation is None:
            continue
        target, called = item["field"], item["operation"]
        if kind not in operation.types:
            faults.append(((*place, "operation"), f"{called} does not suit {target}, which is a {kind}"))
            continue
        earlier = before.setdefault(target, [])
        if operation.is_first and kind != "string" and not all(OPERATIONS[name].is_first for name in earlier):
            faults.append(((*place, "operation"), f"{called} reads the cells of {target}: it comes before the others"))
        if operation.is_first and kind != "string" and called in earlier:
            faults.append(((*place, "operation"), f"{called} reads the cells of {target}: once"))
        earlier.append(called)
        parameters = _parameters(item, place, kind, operation.parameters, faults)
        if parameters is not None and (what := operation.fault(parameters) or _program(target, parameters, programs)):
            faults.append(((*place, "parameters"), what))
        elif parameters is not None:
            yield Transform(target, called, parameters)


def _rules(
    items: Any, types: dict[str, FieldType], programs: dict[str, int], faults: list[Fault]
) -> Iterator[FieldRule]:
    for place, item in _items(items, "validation_rules", RULES_MAX, FIELD_RULES_MAX, faults):
        kind = _field_type(item, place, types, faults)
        check = RULES.get(item["rule"]) if isinstance(item.get("rule"), str) else None
        message = item.get("message")
        if check is None:
            faults.append(((*place, "rule"), f"is none of {', '.join(RULES)}"))
        if not isinstance(message, str | None) or len(message or "") > MESSAGE_LENGTH_MAX:
            faults.append(((*place, "message"), f"is not a text of up to {MESSAGE_LENGTH_MAX} characters"))
        if kind is None or check is None:
            continue
        if kind not in check.types:
            faults.append(((*place, "rule"), f"{item['rule']} does not suit {item['field']}, which is a {kind}"))
            continue
        parameters = _parameters(item, place, kind, check.parameters, faults)
        if parameters is not None and (
            what := check.fault(parameters) or _program(item["field"], parameters, programs)
        ):
            faults.append(((*place, "parameters"), what))
        elif parameters is not None:
            yield FieldRule(item["field"], item["rule"], parameters, message or None)


def _program(target: str, parameters: dict[str, Any], programs: dict[str, int]) -> str | None:
    """Count a pattern among those of its field; return why they are too large."""
    if "pattern" not in parameters:
        return None
    programs[target] += program_size(parameters["pattern"])
    size = programs[target]
    return (
        f"the patterns of {target} have {size} steps, more than {FIELD_PROGRAM_MAX}"
        if size > FIELD_PROGRAM_MAX
        else None
    )


def _items(
    items: Any, what: str, most: int, most_of_field: int, faults: list[Fault]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the objects of a list with their places."""
    if items is None:
        return
    if not isinstance(items, list | tuple):
        faults.append(((what,), "is not a list"))
        return
    if len(items) > most:
        faults.append(((what,), f"has {len(items)} items, more than {most}"))
        return
    counts: dict[Any, int] = {}
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            faults.append(((what, str(at)), "is not an object"))
            continue
        target = item.get("field") if isinstance(item.get("field"), str) else None
        counts[target] = counts.get(target, 0) + 1
        if target is not None and counts[target] == most_of_field + 1:
            faults.append(((what, str(at)), f"{target} has more than {most_of_field}"))
        yield (what, str(at)), item


def _field_type(
    item: dict[str, Any], place: Place, types: dict[str, FieldType], faults: list[Fault]
) -> FieldType | None:
    target = item.get("field")
    kind = types.get(target) if isinstance(target, str) else None
    if kind is None:
        faults.append(((*place, "field"), "is not a field of the mapping"))
    return kind


def _parameters(
    item: dict[str, Any], place: Place, kind: FieldType, known: tuple[Parameter, ...], faults: list[Fault]
) -> dict[str, Any] | None:
    """Return the parameters less null ones; None with what is wrong in `faults`."""
    values = item.get("parameters")
    if values is None:
        values = {}
    if not isinstance(values, dict):
        faults.append(((*place, "parameters"), "is not an object"))
        return None
    values = {name: value for name, value in values.items() if value is not None}
    names = [known_parameter.name for known_parameter in known]
    own_faults: list[Fault] = [
        ((*place, "parameters", name), f"is not a parameter here; known: {', '.join(names) or 'none'}")
        for name in values
        if name not in names
    ]
    for parameter in known:
        where = (*place, "parameters", parameter.name)
        if parameter.name not in values:
            if parameter.required:
                own_faults.append((where, "is missing"))
        elif what := parameter.fault(values[parameter.name], kind):
            own_faults.append((where, what))
    faults += own_faults
    return None if own_faults else values
