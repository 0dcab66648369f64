"""A misspelt name runs nothing.

Parameters of queries, fields of bodies and of forms, over the table of routes.
"""

from __future__ import annotations

import re
from typing import Any

import httpx
import msgspec
import pytest

from service.platform.route.api import Route
from tests.conftest import Member, Stack
from tests.records import OPEN_ROWS, ROWS, asked_of, each, error_of, path_of, records_of, sent

WITH_BODY = [row for row in ROWS if row.body is not None]
WITH_QUERY = [row for row in ROWS if row.query is not None]
FORMS = [row for row in ROWS if row.form is not None]


@pytest.fixture(scope="module")
def resources(shared_owner: Member) -> dict[str, str]:
    """One record of each kind that a path may name, of the shared tenant."""
    return records_of(shared_owner)


def names_of(kind: Any) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(kind)] if kind is not None else []


def misspelt(name: str, known: list[str]) -> list[str]:
    """The name as it may come out wrong, none of which is another one's."""
    camel = re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)
    wrong = [name[:-2] + name[-1] if len(name) > 3 else name + "s", name.upper(), camel, f"{name}s"]
    return [fromkey for fromkey in dict.fromkeys(wrong) if fromkey not in known]


def faults_of(answer: httpx.Response) -> dict[str, str]:
    """Name -> message of a refusal whose faults are all of unknown names."""
    assert answer.status_code == 422, answer.text
    body = error_of(answer)
    assert (body["detail"], body["error_code"]) == ("Validation error", "VALIDATION_ERROR")
    return {fault["loc"][-1]: fault["message"] for fault in body["errors"]}


# Queries --------------------------------------------------------------------------------------------------------------


@each(ROWS)
def test_a_parameter_that_a_route_does_not_have_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    """Once for each name, before anything of the body is read, whether the route has parameters or none."""
    known = names_of(row.query)
    query = "zzqx=1&zzqx=2&ZZQX=&=3"
    answer = shared_owner.http.request(row.method, f"{path_of(row, **resources)}?{query}")
    end = f"the parameters are {', '.join(known)}" if known else "it takes none"
    assert faults_of(answer) == {name: f"there is no parameter {name!r}; {end}" for name in ("zzqx", "ZZQX", "")}
    assert {fault["loc"][0] for fault in answer.json()["errors"]} == {"query"}


@each(WITH_QUERY)
def test_a_misspelt_parameter_says_which_may_be_meant(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    known = names_of(row.query)
    path = path_of(row, **resources)
    for name in known:
        for wrong in misspelt(name, known):
            faults = faults_of(shared_owner.http.request(row.method, f"{path}{asked_of(row)}&{wrong}=1"))
            assert list(faults) == [wrong]
            near = re.fullmatch(r"there is no parameter '.*'; did you mean (\w+)\?", faults[wrong])
            assert near is not None, faults
            assert near[1] in known
            if wrong.lower() == name:
                assert near[1] == name


def test_a_misspelt_filter_finds_nothing_else(shared_owner: Member) -> None:
    """The bug that was reported: it ran unfiltered."""
    answer = shared_owner.get("/api/v1/compliance/history", params={"workbok_id": "x"})
    assert faults_of(answer) == {"workbok_id": "there is no parameter 'workbok_id'; did you mean workbook_id?"}


def test_a_query_has_a_greatest_number_of_parameters(shared_owner: Member) -> None:
    answer = shared_owner.get("/api/v1/workbooks?" + "&".join(["page=1"] * 65))
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"loc": ["query"], "message": "more than 64 parameters"}]
    long = shared_owner.get("/api/v1/workbooks", params={"p" * 5_000: "1"})
    assert len(long.json()["errors"][0]["loc"][1]) == 300


def test_parameters_that_are_repeated_stay_what_they_are(shared_owner: Member, resources: dict[str, str]) -> None:
    twice = shared_owner.get("/api/v1/workbooks?page=1&page=2")
    assert twice.json()["errors"] == [{"loc": ["query", "page"], "message": "given twice"}]
    history = f"/api/v1/deals/{resources['deal_id']}/history"
    series = shared_owner.get(f"{history}?test_id=wal&test_id=was,oc_ratio").json()["series"]
    assert {item["test_id"] for item in series} == {"wal", "was", "oc_ratio"}


@each([row for row in OPEN_ROWS if row.method == "GET"])
def test_pages_and_health_views_take_what_visitors_add(stack: Stack, row: Route) -> None:
    path = row.path.replace("{service}", "database").replace("{name}", "none").replace("{path:path}", "")
    with httpx.Client(base_url=stack.url, timeout=60) as http:
        plain, busted = (http.get(path + query) for query in ("", "?_=1700000000&utm_source=mail&v=2&v=3"))
    assert plain.status_code == busted.status_code != 422


# Bodies ---------------------------------------------------------------------------------------------------------------


@each(WITH_BODY)
def test_a_field_that_a_body_does_not_have_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    known = names_of(row.body)
    path = path_of(row, **resources) + asked_of(row)
    for wrong in ("zzqx", *(wrong for name in known for wrong in misspelt(name, known))):
        answer = shared_owner.http.request(row.method, path, json={wrong: None})
        assert answer.status_code == 422, (wrong, answer.text)
        (message,) = (error["message"] for error in answer.json()["errors"] if error["loc"] == ["body", wrong])
        assert message.startswith(f"there is no field {wrong!r}; "), message
        assert wrong == "zzqx" or "did you mean" in message, message


# Forms ----------------------------------------------------------------------------------------------------------------


@each([row for row in FORMS if not row.path.endswith("/login")])
def test_a_field_that_a_form_does_not_have_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    known = names_of(row.form)
    for name in known:
        (wrong, *_) = misspelt(name, known)
        answer = sent(shared_owner, row, path_of(row, **resources), {wrong: "x"})
        faults = faults_of(answer)
        assert faults[wrong].startswith(f"there is no field {wrong!r}; did you mean "), faults
        assert set(faults) - {wrong} <= set(known)


def test_a_login_takes_what_oauth_adds(shared_owner: Member) -> None:
    """The password grant of RFC 6749 has fields that say nothing here."""
    from tests.conftest import PASSWORD

    form = {
        "username": shared_owner.email,
        "password": PASSWORD,
        "grant_type": "password",
        "scope": "",
        "client_id": "x",
    }
    answer = shared_owner.http.post("/api/v1/auth/login", data=form)
    assert answer.status_code == 200, answer.text
