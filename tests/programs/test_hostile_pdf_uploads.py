"""Hostile PDF documents among the files of a deal end as files in error, and the service goes on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Member, Stack
from tests.hostile_pdfs import FILES
from tests.raw_pdf import document
from tests.service.deals.conftest import deal, sent  # noqa: F401 - a fixture
from tests.service.deals.test_actions_tapes import TAPE, tape_of

REFUSED = {
    "a page that is listed a million times": "has 1,000,000 pages; the limit is 2,000",
    "a page of 5 million characters": "the limit is 60,000",
    "a million marks without an end": "reader",
    "pages that double thirty times": "damaged",
    "a document that wants a password": "password",
    "a picture alone": "scan",
    "no page with anything": "no text",
}
"""Documents of `tests.hostile_pdfs`, and what their refusal has."""


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_hostile_document_ends_as_a_workbook_in_error(owner: Member, deal: dict[str, Any], name: str) -> None:  # noqa: F811
    answer = sent(owner, deal, ("report.pdf", FILES[name].build()))
    assert answer.status_code in (201, 422), answer.text
    if answer.status_code == 422:
        message = answer.json()["errors"][0]["message"]
    else:
        book = owner.parsed(answer.json()["id"])
        assert book["status"] == "error"
        message = book["error_message"]
    assert REFUSED[name] in message
    good = owner.parsed(sent(owner, deal, ("report.pdf", document())).json()["id"])
    assert (good["status"], good["sheet_count"]) == ("ready", 1)


def test_a_hostile_tape_is_refused_and_no_job_dies_of_it(stack: Stack, owner: Member, deal: dict[str, Any]) -> None:  # noqa: F811
    for name in ("a page that is listed a million times", "a document that wants a password"):
        answer = sent(owner, deal, ("tape.pdf", FILES[name].build()), **TAPE)
        assert answer.status_code == 201, answer.text
        tape = tape_of(owner, answer.json()["tape"]["tape_id"])
        assert tape["processing_status"] == "failed"
    letters = "SELECT count(*) FROM dead_letters WHERE tenant_id = %s"
    assert stack.sql(letters, [owner.tenant_id]) == [(0,)]


def test_programs_and_files_in_a_document_are_left_there(owner: Member, deal: dict[str, Any]) -> None:  # noqa: F811
    book = owner.parsed(sent(owner, deal, ("report.pdf", FILES["programs, files and addresses"].build())).json()["id"])
    assert book["status"] == "ready"
    data = owner.get(f"/api/v1/workbooks/{book['id']}/sheets/{book['sheets'][0]['name']}/data").json()
    loan = ["Alder Holdings", 1_000_000, 99.5]
    assert [value for value in data["rows"][0].values() if value in loan] == loan
