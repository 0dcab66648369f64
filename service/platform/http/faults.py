"""All faults of a request in plain words: msgspec stops at the first one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeGuard, Union, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import Meta, Struct, UnsetType, json

from service.platform.base.problem import Fault, ValidationFailed
from service.platform.route.api import Upload

FAULTS_MAX: Final = 100
"""Faults that one refusal lists."""
SHOWN_MAX: Final = 300
"""Characters that a refusal repeats of what was sent."""
NEAR_MAX: Final = 64
"""Characters of a name for which anything is near: to find that takes the square of its length."""
WORDS_SHOWN: Final = 40
"""Names, of those that there are, that a refusal lists."""

Check: TypeAlias = Callable[[Any], str | None]
"""What is wrong with a value of the right type; None when nothing is.

Types name their checks in `extra={"checks": ...}`, and what a pattern asks for in `extra={"words": ...}`."""

WORDS: Final[dict[Any, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    UUID: "an identifier such as 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    date: "a date such as 2026-01-31",
    datetime: "a date and time such as 2026-01-31T09:30:00Z",
    list: "a list",
    dict: "an object",
    Upload: "a file",
    type(None): "null",
}
_UNIONS: Final = (Union, UnionType)
BLANK: Final = r"\S"
"""The pattern of a text that has more than blanks."""


def read(value: Any, kind: Any, loc: Sequence[str], *, records: Sequence[Any] = (), strict: bool = True) -> Any:
    """Convert a value of JSON or of a form to its type.

    Args:
        records: types of the record that is changed or made: the names of their fields are passed over where the type
            does not have them, since a client may send back what it read.
        strict: False where all values are text, as those of a query.

    Raises:
        ValidationFailed: with every fault, up to `FAULTS_MAX`.
    """
    search = _Search(strict=strict)
    kept = search.check(value, kind, tuple(records), list(loc))
    if search.faults:
        raise ValidationFailed(*search.faults)
    try:
        return msgspec.convert(kept, kind, strict=strict)
    except msgspec.ValidationError as error:  # what the type itself refuses as a whole
        raise ValidationFailed(fault_of(loc, error)) from None


def fault_of(loc: Sequence[str], error: msgspec.ValidationError) -> Fault:
    """Return msgspec's error as a fault, with its place behind `loc`."""
    text = str(error)
    message, at, path = text.rpartition(" - at `")  # the last one: what was sent may hold such words, too
    steps = [step for step in re.split(r"[.\[\]`]", path.removeprefix("$") if at else "") if step]
    return Fault([*loc, *(step[:SHOWN_MAX] for step in steps)], (message if at else text)[:SHOWN_MAX])


@cache
def has_checks(kind: Any) -> bool:
    """Return whether a type has checks of its own, somewhere within."""
    bare, metas = _bare(kind)
    if any((meta.extra or {}).get("checks") for meta in metas):
        return True
    if _is_struct(bare):
        return any(has_checks(field.type) for field in msgspec.structs.fields(bare))
    return any(has_checks(part) for part in get_args(bare) if get_origin(bare) is not Literal)


class _Enough(Exception):
    """No more faults are listed."""


class _Search:
    """Looks for faults in one value."""

    def __init__(self, *, strict: bool) -> None:
        self.faults: list[Fault] = []
        self._strict = strict

    def check(self, value: Any, kind: Any, records: tuple[Any, ...], loc: list[str]) -> Any:
        """Return the value without fields of a record that were sent back."""
        try:
            return self._find(value, kind, records, loc)
        except _Enough:
            return value

    def _add(self, loc: Sequence[str], message: str) -> None:
        if len(self.faults) == FAULTS_MAX:
            self.faults.append(Fault([loc[0]], f"has more than {FAULTS_MAX} faults; the others are not listed"))
            raise _Enough
        self.faults.append(Fault([step[:SHOWN_MAX] for step in loc], message))

    def _fits(self, value: Any, kind: Any) -> bool:
        try:
            msgspec.convert(value, _without_unset(kind), strict=self._strict)
        except msgspec.ValidationError:
            return False
        return not has_checks(kind)

    def _find(self, value: Any, kind: Any, records: tuple[Any, ...], loc: list[str]) -> Any:
        if self._fits(value, kind):
            return value
        bare, metas = _branch(value, kind, strict=self._strict)
        if bare is None:
            self._add(loc, f"expected {_describe(kind)}, got {_show(value)}")
        elif _is_struct(bare) and bare is not Upload:
            return self._struct(value, bare, records, loc)
        elif get_origin(bare) is dict:
            self._bounds(len(value), "entries", metas, loc)
            (key, part), within = get_args(bare), _values_of(records)
            for name in value:
                self._find(name, key, (), [*loc, name])
            return {name: self._find(inner, part, within, [*loc, name]) for name, inner in value.items()}
        elif get_origin(bare) is list:
            self._bounds(len(value), "items", metas, loc)
            (part,), within = get_args(bare), _values_of(records)
            return [self._find(inner, part, within, [*loc, str(place)]) for place, inner in enumerate(value)]
        else:
            self._leaf(value, bare, metas, loc)
        return value

    def _struct(self, record: dict[str, Any], kind: type[Struct], records: tuple[Any, ...], loc: list[str]) -> Any:
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        known, kept = _fields_of(records), {}
        for name, value in record.items():
            if name in fields:
                kept[name] = self._find(value, fields[name].type, known.get(name, ()), [*loc, name])
            elif name not in known and kind.__struct_config__.forbid_unknown_fields:
                self._add(
                    [*loc, name], f"there is no field {_show(name)}{_nearest(name, list(fields), 'the fields are')}"
                )
        for name, field in fields.items():
            if field.required and name not in record:
                self._add([*loc, name], "is required")
        return kept

    def _leaf(self, raw: Any, bare: Any, metas: list[Meta], loc: list[str]) -> None:
        if get_origin(bare) is Literal:
            words = [str(word) for word in get_args(bare)]
            if raw not in get_args(bare):
                self._add(loc, f"{_show(raw)} is none of its values{_nearest(str(raw), words, 'they are')}")
            return
        try:
            value = msgspec.convert(raw, bare, strict=self._strict)
        except msgspec.ValidationError:
            self._add(loc, f"expected {_describe(bare)}, got {_show(raw)}")
            return
        before = len(self.faults)
        for meta in metas:
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._figures(value, meta, loc)
            elif isinstance(value, str):
                self._text(value, meta, loc)
        for meta in metas if len(self.faults) == before else ():
            for check in (meta.extra or {}).get("checks", ()):
                if (wrong := check(value)) is not None:
                    self._add(loc, wrong)

    def _figures(self, value: float, meta: Meta, loc: list[str]) -> None:
        for within, words in (
            (meta.ge is None or value >= meta.ge, f"at least {_figure(meta.ge)}"),
            (meta.gt is None or value > meta.gt, f"more than {_figure(meta.gt)}"),
            (meta.le is None or value <= meta.le, f"at most {_figure(meta.le)}"),
            (meta.lt is None or value < meta.lt, f"less than {_figure(meta.lt)}"),
        ):
            if not within:
                self._add(loc, f"expected {words}, got {_figure(value)}")

    def _text(self, value: str, meta: Meta, loc: list[str]) -> None:
        before = len(self.faults)
        self._bounds(len(value), "characters", [meta], loc)
        is_told = not value and len(self.faults) > before  # that there is nothing
        if meta.pattern and not is_told and not re.search(meta.pattern, value):
            self._add(loc, "expected more than blanks" if meta.pattern == BLANK else f"expected {_words_of(meta)}")

    def _bounds(self, length: int, what: str, metas: Sequence[Meta], loc: list[str]) -> None:
        for meta in metas:
            for within, words, bound in (
                (meta.min_length is None or length >= meta.min_length, "at least", meta.min_length),
                (meta.max_length is None or length <= meta.max_length, "at most", meta.max_length),
            ):
                if not within:
                    singular = {"characters": "character", "items": "item", "entries": "entry"}[what]
                    self._add(loc, f"expected {words} {bound:,} {singular if bound == 1 else what}, got {length:,}")


def _bare(kind: Any) -> tuple[Any, list[Meta]]:
    """Return a type without its annotations, and these."""
    metas: list[Meta] = []
    while get_origin(kind) is Annotated:
        kind, *more = get_args(kind)
        metas = [*(meta for meta in more if isinstance(meta, Meta)), *metas]
    return kind, metas


def _branches(kind: Any) -> Iterator[tuple[Any, list[Meta]]]:
    """Yield the types of a union, or the type itself."""
    bare, metas = _bare(kind)
    if get_origin(bare) in _UNIONS:
        for part in get_args(bare):
            yield from _branches(part)
    elif bare is not UnsetType:
        yield bare, metas


def _branch(value: Any, kind: Any, *, strict: bool) -> tuple[Any, list[Meta]]:
    """Return the type of a union that a value is of: its faults are listed."""
    branches = ((bare, metas) for bare, metas in _branches(kind) if _is_like(value, bare, strict=strict))
    return next(branches, (None, []))


def _is_like(value: Any, bare: Any, *, strict: bool) -> bool:
    """Return whether the value is of the JSON (or form) kind of the type."""
    sort = get_origin(bare) or bare
    if bare is Any:
        return True
    if isinstance(value, Upload):
        return sort is Upload
    if isinstance(value, dict):
        return sort is dict or (_is_struct(bare) and sort is not Upload)
    if isinstance(value, list):
        return sort is list
    if isinstance(value, str):
        others = (bool, int, float) if strict else ()
        return sort not in (dict, list, type(None), *others) and not _is_struct(bare)
    if isinstance(value, bool):
        return sort is bool
    if isinstance(value, int | float):
        return sort in (int, float)
    return value is None and sort is type(None)


def _is_struct(bare: Any) -> TypeGuard[type[Struct]]:
    return isinstance(bare, type) and issubclass(bare, Struct)


@cache
def _without_unset(kind: Any) -> Any:
    """Return a field's type without UNSET."""
    parts = [bare for bare in get_args(kind) if bare is not UnsetType] if get_origin(kind) in _UNIONS else [kind]
    return Union[tuple(parts)]  # noqa: UP007  # of parts that are known here only


def _fields_of(records: Iterable[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the fields of records, each with its types."""
    fields: dict[str, tuple[Any, ...]] = {}
    for bare in _each(records):
        if _is_struct(bare):
            for field in msgspec.structs.fields(bare):
                fields[field.encode_name] = (*fields.get(field.encode_name, ()), field.type)
    return fields


def _values_of(records: Iterable[Any]) -> tuple[Any, ...]:
    """Return the types in the lists and under the keys of records."""
    return tuple(get_args(bare)[-1] for bare in _each(records) if get_origin(bare) in (list, dict))


def _each(kinds: Iterable[Any]) -> Iterator[Any]:
    return (bare for kind in kinds for bare, _ in _branches(kind))


def _describe(kind: Any) -> str:
    """Describe a type."""
    words = dict.fromkeys(_word(bare) for bare, _ in _branches(kind))
    return " or ".join(words)


def _word(bare: Any) -> str:
    if get_origin(bare) is Literal:
        return f"one of {', '.join(map(str, get_args(bare)))}"
    if _is_struct(bare) and bare is not Upload:
        return WORDS[dict]
    return WORDS.get(get_origin(bare) or bare, "another value")


def _show(value: Any) -> str:
    """Describe a value; a short text is shown itself."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN_MAX else f"text of {len(value):,} characters"
    if isinstance(value, int | float):  # true and false among them
        return json.encode(value).decode()[:SHOWN_MAX]
    return next(word for sort, word in WORDS.items() if isinstance(value, sort))


def _words_of(meta: Meta) -> str:
    """Return the words of a text's pattern."""
    words: str = (meta.extra or {})["words"]
    return words


def _figure(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def unknown_parameters(names: Iterable[str], known: Sequence[str]) -> list[Fault]:
    """Return a fault for each name of a query that is none of its parameters."""
    strange = [name for name in dict.fromkeys(names) if name not in known]
    return [
        Fault(
            ["query", name[:SHOWN_MAX]],
            f"there is no parameter {_show(name)}{_nearest(name, known, 'the parameters are') or '; it takes none'}",
        )
        for name in strange[:FAULTS_MAX]
    ]


def _nearest(name: str, known: Sequence[str], otherwise: str) -> str:
    """Suggest a known word for an unknown one; case does not matter."""
    near = (
        get_close_matches(name, known, 1) or get_close_matches(name.lower(), known, 1) if len(name) <= NEAR_MAX else []
    )
    if near:
        return f"; did you mean {near[0]}?"
    more = ", ..." if len(known) > WORDS_SHOWN else ""
    return f"; {otherwise} {', '.join(known[:WORDS_SHOWN])}{more}" if known else ""
