"""Binding: what a request says is understood by the row's types, or refused."""

from __future__ import annotations

import gc
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from service.platform.route.api import REPEATED, Area
from service.platform.unit.context import Context
from tests.service.platform.callers import Here, client_of
from tests.service.platform.conftest import Apart


class Echo(Struct, frozen=True):
    """What was understood."""

    tags: list[str] = []
    whole: Annotated[list[str], Meta(extra=REPEATED)] = []
    count: int = 0


area = Area("/api/v1/tests", tag="tests", scope="workbooks")


@area.get("/query")
async def query(ctx: Context, query: Echo) -> Echo:
    """What the query says."""
    return query


class Given(Struct, frozen=True):
    """Anything at all."""

    values: list[Any] = []


@area.post("/body")
async def body(ctx: Context, body: Given) -> Echo:
    """How much the body says."""
    return Echo(count=len(body.values))


@pytest.fixture
def here(clean: Apart) -> Here:
    return client_of(area, clean)


@pytest.mark.parametrize(
    ("asked", "understood"),
    [
        ("", {}),
        ("?tags=a,b&count=3", {"tags": ["a", "b"], "count": 3}),
        ("?tags=a&tags=b,%20c", {"tags": ["a", "b", "c"]}),
        ("?tags=", {}),
        ("?tags=%C3%A4%2Cb", {"tags": ["ä", "b"]}),
        ("?tags=null", {"tags": ["null"]}),
        ("?whole=a,%20b&whole=&whole=c", {"whole": ["a, b", "", "c"]}),
    ],
)
def test_a_query_is_understood(here: Here, asked: str, understood: dict[str, Any]) -> None:
    assert here.call("GET", "/query" + asked).json() == {"tags": [], "whole": [], "count": 0} | understood


@pytest.mark.parametrize(
    "asked",
    [
        *("?count=x", "?count=1.5", "?count=", "?tags=%00", "?tags=%ff", "?" + "&".join(["a=1"] * 100)),
        *("?count=1&count=2", "?count=null", "?count=NULL"),
    ],
)
def test_a_query_that_cannot_be_understood_is_refused(here: Here, asked: str) -> None:
    answer = here.call("GET", "/query" + asked)
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"][0] == "query"


def objects(count: int) -> bytes:
    return b'{"values":[' + b",".join([b"{}"] * (count - 1)) + b"]}"


def test_a_body_of_too_many_objects_is_refused_before_they_are_made(here: Here) -> None:
    assert here.call("POST", "/body", content=objects(100_000)).json() == {"tags": [], "whole": [], "count": 99_999}
    refused = here.call("POST", "/body", content=objects(100_001))
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"loc": ["body"], "message": "more than 100,000 objects"}]


def test_nothing_looks_for_garbage_while_a_body_is_read(here: Here) -> None:
    begun = sum(generation["collections"] for generation in gc.get_stats())
    assert here.call("POST", "/body", content=objects(80_000)).status_code == 200
    assert sum(generation["collections"] for generation in gc.get_stats()) - begun < 60  # else one for 700 objects


@pytest.mark.parametrize(
    ("text", "status"),
    [("\\\\u0000", 200), ("\\u0000", 422), ("\\\\\\u0000", 422), ("\\\\\\\\u0000", 200), ("\\\\u00\\\\00", 200)],
)
def test_a_null_character_is_told_from_an_escaped_backslash(here: Here, text: str, status: int) -> None:
    assert here.call("POST", "/body", content=f'{{"values":["{text}"]}}'.encode()).status_code == status
