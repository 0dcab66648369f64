"""A tape among the files of a deal, over HTTP.

In any format, by whom, and what is refused.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member, wait_until
from tests.service.deals.conftest import LOANS, NOTES, sent

TAPE = {"kind": "tape", "trustee_name": "trustee_a", "statement_date": "2026-03-31"}


def tape_of(who: Member, tape_id: str) -> dict[str, Any]:
    """A tape once it was read."""

    def read() -> dict[str, Any] | None:
        tape: dict[str, Any] = who.get(f"/api/v1/reconciliation/tapes/{tape_id}").json()
        return None if tape["processing_status"] == "processing" else tape

    result: dict[str, Any] = wait_until(read, what="the tape")
    return result


def zipped(**files: bytes) -> bytes:
    """An archive of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.csv", content)
    return buffer.getvalue()


def test_files_of_a_deal_are_holdings_unless_they_are_a_tape(owner: Member, deal: dict[str, Any]) -> None:
    plain = sent(owner, deal, ("march.csv", LOANS)).json()
    named = sent(owner, deal, ("april.csv", LOANS), kind="holdings").json()
    assert plain["kind"] == named["kind"] == "holdings"
    assert plain.keys() == named.keys() > {"id", "status", "sheets", "deal_id"}
    for item in (plain, named):
        assert owner.parsed(item["id"])["status"] == "ready"


@pytest.mark.parametrize(
    ("name", "content"),
    [("tape.csv", LOANS), ("tape.zip", zipped(loans=LOANS)), ("tape.xls", LOANS.replace(b",", b"\t"))],
)
def test_a_tape_of_a_deal_comes_in_any_format(owner: Member, deal: dict[str, Any], name: str, content: bytes) -> None:
    answer = sent(owner, deal, (name, content), **TAPE, as_of="2026-03-30")
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert body.keys() == {"kind", "tape"}
    assert body["kind"] == "tape"
    assert body["tape"].keys() == {"tape_id", "job_id", "status", "message"}
    assert body["tape"]["status"] == "processing"
    tape = tape_of(owner, body["tape"]["tape_id"])
    assert (tape["processing_status"], tape["loan_count"], tape["file_name"]) == ("completed", 3, name), tape
    assert (tape["deal_id"], tape["trustee_name"], tape["statement_date"], tape["as_of"]) == (
        deal["id"], "trustee_a", "2026-03-31", "2026-03-30",
    )  # fmt: skip
    assert owner.get("/api/v1/workbooks").json()["total"] == 0
    for action, count in (("tape.uploaded", 1), ("workbook.uploaded", 0)):
        assert owner.get("/api/v1/activity", params={"action": action}).json()["total"] == count, action


def test_a_tape_is_refused_as_where_tapes_are_uploaded(owner: Member, deal: dict[str, Any]) -> None:
    for change, status, detail, place in (
        ({"trustee_name": ""}, 400, "Invalid trustee", "trustee_name"),
        ({"trustee_name": "trustee_z"}, 400, "Invalid trustee", "trustee_name"),
        ({"statement_date": ""}, 400, "Invalid date", "statement_date"),
        ({"statement_date": "31.03.2026"}, 400, "Invalid date", "statement_date"),
        ({"name": "March"}, 422, "Validation error", "name"),
        ({"description": "Of March"}, 422, "Validation error", "description"),
        ({"kind": "tapes"}, 422, "Validation error", "kind"),
        ({"kind": "holdings"}, 422, "Validation error", "trustee_name"),
    ):
        answer = sent(owner, deal, ("tape.csv", LOANS), **TAPE | change)
        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (status, ["body", place]), answer.text
        if status == 400:
            stated = owner.post(
                "/api/v1/reconciliation/tapes/upload",
                files={"file": ("tape.xlsx", LOANS)},
                data={name: value for name, value in (TAPE | change).items() if name != "kind"},
            )
            assert stated.json()["detail"] == answer.json()["detail"]
        assert answer.json()["detail"] == detail
    both = sent(owner, deal, ("march.csv", LOANS), trustee_name="trustee_a", statement_date="2026-03-31")
    assert [error["loc"][1] for error in both.json()["errors"]] == ["trustee_name", "statement_date"]
    several = sent(owner, deal, ("a.csv", LOANS), ("b.csv", NOTES), **TAPE)
    assert (several.status_code, several.json()["errors"][0]["message"]) == (
        422, "a tape is one file; put several into a .zip",
    )  # fmt: skip
    letter = sent(owner, deal, ("tape.doc", LOANS), **TAPE)
    assert (letter.status_code, letter.json()["detail"]) == (400, "Invalid file format")
    assert sent(owner, {"id": uuid4()}, ("tape.csv", LOANS), **TAPE).json()["detail"] == "Deal not found"
    assert owner.get("/api/v1/reconciliation/tapes").json()["total"] == 0


def test_who_may_add_a_tape(owner: Member, stranger: Member, deal: dict[str, Any]) -> None:
    files = owner.key("workbooks:write")
    assert sent(files, deal, ("march.csv", LOANS)).status_code == 201
    answer = sent(files, deal, ("tape.csv", LOANS), **TAPE)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Insufficient permissions")
    assert "compliance:write" in answer.text
    assert sent(owner.invite("viewer"), deal, ("tape.csv", LOANS), **TAPE).status_code == 403
    assert sent(owner.invite("analyst"), deal, ("tape.csv", LOANS), **TAPE).status_code == 201
    assert sent(stranger, deal, ("tape.csv", LOANS), **TAPE).json()["detail"] == "Deal not found"


def test_other_uploads_name_the_way_of_other_formats(owner: Member) -> None:
    for path, data in (
        ("/api/v1/workbooks/upload", {}),
        ("/api/v1/reconciliation/tapes/upload", {name: value for name, value in TAPE.items() if name != "kind"}),
    ):
        answer = owner.post(path, files={"file": ("march.csv", LOANS)}, data=data)
        assert (answer.status_code, answer.json()["detail"]) == (400, "Invalid file format")
        (fault,) = answer.json()["errors"]
        assert "POST /api/v1/deals/{deal_id}/files takes other formats" in fault["message"]
        assert fault["message"].startswith("The file's name must end in .xlsx, .xlsm or .xls.")
