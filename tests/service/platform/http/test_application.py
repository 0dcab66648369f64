"""The application: the row that a path means, and what is nobody's."""

from __future__ import annotations

import pytest
from msgspec import Struct

from service.platform.context import Context
from service.platform.http.api import Area
from tests.service.platform.callers import Here, client_of
from tests.service.platform.conftest import Apart


class Called(Struct, frozen=True):
    """Which row it was."""

    row: str


area = Area("/api/v1/tests", tag="tests", scope="workbooks")


@area.get("/good")
async def good(ctx: Context) -> Called:
    """A row without parameters."""
    return Called("good")


@area.get("/first/{step}")
async def by_parameter(ctx: Context, step: str) -> Called:
    """Any step."""
    return Called("parameter")


@area.get("/first/summary")
async def by_name(ctx: Context) -> Called:
    """The literal one."""
    return Called("literal")


@pytest.fixture
def here(clean: Apart) -> Here:
    return client_of(area, clean)


def test_a_literal_step_goes_before_a_parameter(here: Here) -> None:
    assert here.call("GET", "/first/summary").json() == {"row": "literal"}
    assert here.call("GET", "/first/other").json() == {"row": "parameter"}


@pytest.mark.parametrize("path", ["", "/", "/good/", "//good", "/Good", "/good%00", "/first/", "/first/a/b"])
def test_other_paths_are_unknown(here: Here, path: str) -> None:
    answer = here.call("GET", path)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Not found")
