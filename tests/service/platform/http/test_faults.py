"""Faults: every one of what a request says is told, in words.

What a client sends back of a record is none.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import msgspec
import pytest
from msgspec import UNSET, Meta, Struct, UnsetType

from service.app import areas
from service.platform.base.problem import ValidationFailed
from service.platform.http.faults import FAULTS_MAX, read
from service.platform.route.api import Upload, records_of
from tests.rows import every

ROUTES = [route for area in areas() for route in area.routes]


class Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a list."""

    id: UUID
    share: Annotated[float, Meta(gt=0, le=1)] = 1


def _even(value: int) -> str | None:
    return None if value % 2 == 0 else "is odd"


class Order(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each kind of field."""

    name: Annotated[str, Meta(min_length=2, max_length=5, pattern=r"\S")]
    colour: Literal["red", "green"] = "red"
    count: Annotated[int, Meta(ge=1, le=1000)] | None = None
    code: Annotated[str, Meta(pattern="^[A-Z]+$", extra={"words": "capital letters"})] | UnsetType = UNSET
    items: Annotated[list[Item], Meta(max_length=3)] = []
    sizes: dict[Annotated[str, Meta(max_length=3)], int] = {}
    day: date | None = None
    pairs: Annotated[int, Meta(extra={"checks": (_even,)})] = 2
    either: bool | Item = True
    free: dict[str, Any] = {}


class Told(Struct, kw_only=True):
    """An item as it is read."""

    id: UUID
    wire_name: str
    share: float


class Record(Struct, kw_only=True):
    """An order as it is read."""

    id: int
    items: list[Told] | None = None


def faults(value: Any, kind: Any = Order, **how: Any) -> dict[str, str]:
    try:
        read(value, kind, ["body"], **how)
    except ValidationFailed as refusal:
        answer: dict[str, str] = {}
        for fault in refusal.errors:
            place = ".".join(fault.loc)
            answer[place] = f"{answer[place]} | {fault.message}" if place in answer else fault.message
        return answer
    return {}


FIRST = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


@every(
    "document, expected_fault",
    [
        ({"name": "abc"}, {}),
        ({"name": "abc", "free": {"whatever": 1}, "either": {"id": FIRST}, "count": None}, {}),
        ({}, {"body.name": "is required"}),
        ([], {"body": "expected an object, got a list"}),
        (None, {"body": "expected an object, got null"}),
        ({"name": ""}, {"body.name": "expected at least 2 characters, got 0"}),
        ({"name": "  "}, {"body.name": "expected more than blanks"}),
        ({"name": "abcdef"}, {"body.name": "expected at most 5 characters, got 6"}),
        ({"name": 5}, {"body.name": "expected text, got 5"}),
        ({"name": None}, {"body.name": "expected text, got null"}),
        (
            {"name": "abc", "colour": "read", "count": 0, "code": "x", "day": "soon"},
            {
                "body.colour": "'read' is none of its values; did you mean red?",
                "body.count": "expected at least 1, got 0",
                "body.code": "expected capital letters",
                "body.day": "expected a date such as 2026-01-31, got 'soon'",
            },
        ),
        ({"name": "abc", "code": ""}, {"body.code": "expected capital letters"}),
        ({"name": "abc", "count": 2000}, {"body.count": "expected at most 1,000, got 2,000"}),
        ({"name": "abc", "count": True}, {"body.count": "expected a whole number or null, got true"}),
        ({"name": "abc", "colour": "x"}, {"body.colour": "'x' is none of its values; they are red, green"}),
        ({"name": "abc", "pairs": 3}, {"body.pairs": "is odd"}),
        ({"name": "abc", "pairs": "3"}, {"body.pairs": "expected a whole number, got '3'"}),
        ({"name": "abc", "pairs": 2.5}, {"body.pairs": "expected a whole number, got 2.5"}),
        ({"name": "abc", "either": 1}, {"body.either": "expected true or false or an object, got 1"}),
        ({"name": "abc", "either": {}}, {"body.either.id": "is required"}),
        ({"name": "abc", "sizes": {"long": 1}}, {"body.sizes.long": "expected at most 3 characters, got 4"}),
        ({"name": "abc", "sizes": {"a": "b"}}, {"body.sizes.a": "expected a whole number, got 'b'"}),
        (
            {"name": "abc", "items": [{"id": FIRST}, {"id": "x", "share": 0}, 5]},
            {
                "body.items.1.id": f"expected an identifier such as {FIRST}, got 'x'",
                "body.items.1.share": "expected more than 0, got 0",
                "body.items.2": "expected an object, got 5",
            },
        ),
        (
            {"name": "abc", "items": [{"id": FIRST}] * 4, "size": {}, "zzz": 1},
            {
                "body.items": "expected at most 3 items, got 4",
                "body.size": "there is no field 'size'; did you mean sizes?",
                "body.zzz": "there is no field 'zzz'; the fields are name, colour, count, code, items, sizes, day, "
                "pairs, either, free",
            },
        ),
    ],
)
def test_every_fault_is_told_in_words(document: Any, expected_fault: dict[str, str]) -> None:
    assert faults(document) == expected_fault


@every(
    "document, expected_fault",
    [
        ({"name": "abc", "id": 1}, {}),
        ({"name": "abc", "id": 1, "items": [{"id": FIRST, "wire_name": "today"}]}, {}),
        ({"name": "abc", "id": 1, "daay": 1}, {"body.daay": "there is no field 'daay'; did you mean day?"}),
        (
            {"name": "abc", "either": {"id": FIRST, "wire_name": "x"}},
            {"body.either.wire_name": "there is no field 'wire_name'; the fields are id, share"},
        ),
    ],
)
def test_what_was_read_of_a_record_may_be_sent_back(document: Any, expected_fault: dict[str, str]) -> None:
    assert faults(document, records=[Record]) == expected_fault
    assert len(faults(document)) > 0


def test_what_is_sent_back_changes_nothing() -> None:
    value = {"name": "abc", "id": 9, "items": [{"id": FIRST, "wire_name": "x", "share": 0.5}]}
    assert read(value, Order, ["body"], records=[Record]) == Order(name="abc", items=[Item(id=UUID(FIRST), share=0.5)])


@every(
    "document, expected_fault",
    [
        ({"name": "abc", "count": "3", "pairs": "4", "day": "2026-01-31"}, {}),
        ({"name": "abc", "count": "x"}, {"body.count": "expected a whole number, got 'x'"}),
        ({"name": "abc", "count": "0"}, {"body.count": "expected at least 1, got 0"}),
        ({"name": Upload("x", 1, None)}, {"body.name": "expected text, got a file"}),
    ],
)
def test_forms_and_queries_are_text(document: Any, expected_fault: dict[str, str]) -> None:
    assert faults(document, strict=False) == expected_fault


@every(
    "document", [{"name": "x" * 100_000}, {"name": "abc", "x" * 100_000: 1}, {"name": "abc", "colour": "x" * 100_000}]
)
def test_a_fault_repeats_little_of_what_was_sent(document: Any) -> None:
    assert sum(len(place) + len(fault) for place, fault in faults(document).items()) < 1000


def test_no_more_faults_are_listed_than_a_reader_can_use() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read({"name": "abc", "free": {}, "items": ["x"] * (FAULTS_MAX + 50)}, Order, ["body"])
    assert len(refused.value.errors) == FAULTS_MAX + 1
    assert "more than 100 faults" in refused.value.errors[-1].message


def _parts(kind: Any, seen: dict[Any, None]) -> dict[Any, None]:
    """Every type within a body's."""
    if kind in seen:
        return seen
    seen[kind] = None
    if isinstance(kind, type) and issubclass(kind, Struct):
        within = [field.type for field in msgspec.structs.fields(kind)]
    else:
        within = [part for part in get_args(kind) if not isinstance(part, str | int | list | Meta | type(...))]
    for part in within:
        _parts(part, seen)
    return seen


def test_no_body_takes_fields_that_there_are_not() -> None:
    kinds = [part for route in ROUTES if route.body is not None for part in _parts(route.body, {})]
    structs = {part for part in kinds if isinstance(part, type) and issubclass(part, Struct)}
    assert len(structs) > 70
    assert [part for part in structs if not part.__struct_config__.forbid_unknown_fields] == []


def test_no_pattern_is_shown_to_people() -> None:
    """Each says in words what it asks for."""
    kinds = [kind for route in ROUTES for kind in (route.body, route.form, route.query) if kind is not None]
    metas = [meta for kind in kinds for part in _parts(kind, {}) for meta in getattr(part, "__metadata__", ())]
    wordless = {meta.pattern for meta in metas if meta.pattern and "words" not in (meta.extra or {})}
    assert wordless == {r"\S"}
    assert not any(re.search(r"[\\^$]", meta.extra["words"]) for meta in metas if (meta.extra or {}).get("words"))


def test_only_makers_and_changers_of_records_take_what_was_read_of_them() -> None:
    records = {f"{route.method} {route.path}": records_of(route, ROUTES) for route in ROUTES if route.body is not None}
    for act in ("calculations/evaluate", "calculations/batch", "compliance/run", "reconciliation/compare"):
        assert records[f"POST /api/v1/{act}"] == []
    name__s = [kind.__name__ for kind in records["PATCH /api/v1/admin/users/{user_id}"]]
    assert name__s == ["User", "UserDetail"]
