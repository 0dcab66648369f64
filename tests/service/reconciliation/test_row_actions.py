"""Both rows of an issue over HTTP.

Which row of which file, all of its columns, and why a side has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.files.write import write_workbook_rows
from tests.conftest import Member, Stack
from tests.service.reconciliation.conftest import BASE, BOOK, CUSIPS, TAPE, Files, Pair, compared, taken


def rows_of(member: Member, issue_id: str) -> Any:
    return member.get(f"{BASE}/issues/{issue_id}/rows")


def issue_rows(pair: Pair, field: str, **query: str) -> dict[str, Any]:
    answer = rows_of(pair.member, pair.issue(field, **query)["id"])
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def values(side: dict[str, Any]) -> list[Any]:
    return [cell["value"] for cell in side["cells"]]


def test_both_rows_with_all_of_their_columns(shared_pair: Pair) -> None:
    issue = shared_pair.issue("spread")
    body = issue_rows(shared_pair, "spread")
    assert set(body) == {"issue_id", "workbook", "workbook_note", "tape", "tape_note"}
    assert (body["issue_id"], body["workbook_note"], body["tape_note"]) == (issue["id"], None, None)
    book, tape = body["workbook"], body["tape"]
    assert (book["workbook_id"], book["sheet"], book["row"]) == (shared_pair.workbook_id, "Holdings", 4)
    assert (tape["tape_id"], tape["sheet"], tape["row"]) == (shared_pair.tape_id, "Holdings", 3)
    assert values(book) == list(BOOK[3])
    assert values(tape) == list(TAPE[2])
    assert [cell["column"] for cell in book["cells"]] == list("ABCDEFGHI")
    assert [cell["header"] for cell in tape["cells"]] == list(TAPE[0])
    for side in (book, tape):
        assert [cell["field"] for cell in side["cells"]] == [
            "cusip",
            "loanx_id",
            "borrower_name",
            "par_value",
            "price",
            "spread",
            "maturity_date",
            "rating_agency_a",
            "industry",
        ]


@pytest.mark.parametrize(
    ("severity", "lacks", "has", "row"),
    [("critical", "workbook", "tape", list(TAPE[5])), ("error", "tape", "workbook", list(BOOK[5]))],
)
def test_a_side_that_lacks_the_loan(shared_pair: Pair, severity: str, lacks: str, has: str, row: list[Any]) -> None:
    body = issue_rows(shared_pair, "missing_loan", severity=severity)
    assert (body[lacks], body[f"{lacks}_note"]) == (None, "It has no such loan.")
    assert (values(body[has]), body[f"{has}_note"]) == (row, None)


def create_pair(pair_of: Member, files: Files, book: Sequence[Sequence[Any]], tape: Sequence[Sequence[Any]]) -> Pair:
    write_workbook_rows(files.folder / "book.xlsx", {"Cover": [("A report",)], "Loans": book})
    write_workbook_rows(files.folder / "tape.xlsx", {"Loans": tape})
    stored = taken(pair_of, files.folder / "tape.xlsx"), pair_of.uploaded(files.folder / "book.xlsx")
    assert compared(pair_of, stored[0]["id"], stored[1]["id"])["status"] == "completed"
    return Pair(pair_of, *stored)


def test_titles_lots_dates_and_columns_that_feed_nothing(owner: Member, files: Files) -> None:
    """The header stands below a title.

    Of two lots the row of the largest is told; a column without a header counts where it holds something.
    """
    title: list[Sequence[Any]] = [("Acme CLO",), ()]
    book = [
        *title,
        (*BOOK[0], "Our Comment", None),
        (*BOOK[1][:3], 100_000, *BOOK[1][4:], "small lot", None),
        (*BOOK[1][:3], 900_000, *BOOK[1][4:], "=1+1 is text", "no header"),
        *((*row, None, None) for row in BOOK[2:]),
    ]
    tape = [TAPE[0], (*TAPE[4][:3], 2_000_000, *TAPE[4][4:]), *TAPE[1:4], TAPE[5]]
    pair = create_pair(owner, files, book, tape)
    (issue,) = [item for item in pair.issues() if item["field_name"] == "par_value" and item["cusip"] == CUSIPS[0]]
    body = rows_of(owner, issue["id"]).json()
    assert (body["workbook"]["sheet"], body["workbook"]["row"], body["tape"]["row"]) == ("Loans", 5, 2)
    assert values(body["workbook"])[-2:] == ["=1+1 is text", "no header"]
    assert [(cell["header"], cell["field"]) for cell in body["workbook"]["cells"][-2:]] == [
        ("Our Comment", None),
        (None, None),
    ]


def test_a_deleted_workbook_has_no_row(pair: Pair) -> None:
    pair.compare()
    issue = pair.issue("spread")
    assert pair.member.delete(f"/api/v1/workbooks/{pair.workbook_id}").status_code == 204
    body = rows_of(pair.member, issue["id"]).json()
    assert (body["workbook"], body["workbook_note"]) == (None, "The workbook or its mapping was deleted.")
    assert values(body["tape"]) == list(TAPE[2])


def test_a_comparison_that_kept_no_rows(stack: Stack, pair: Pair) -> None:
    """As those of before had none: the next one keeps them, and changes nothing else."""
    pair.compare()
    issue = pair.issue("spread")
    stack.sql("UPDATE reconciliation_issues SET trustee_row = NULL, internal_row = NULL")
    body = rows_of(pair.member, issue["id"]).json()
    text = "Which row it is was not kept: compare the tape with the workbook again."
    assert (body["workbook"], body["tape"], body["workbook_note"], body["tape_note"]) == (None, None, text, text)
    assert pair.compare()["changes"] == {"created": 0, "updated": 0, "resolved": 0}
    assert pair.issue("spread") == issue
    body = rows_of(pair.member, issue["id"]).json()
    assert (body["workbook"]["row"], body["tape"]["row"]) == (4, 3)


def test_a_workbook_that_is_read_otherwise_now(stack: Stack, pair: Pair) -> None:
    pair.compare()
    issue = pair.issue("spread")
    stack.sql("UPDATE reconciliation_issues SET internal_row = 1000 WHERE id = %s", [issue["id"]])
    body = rows_of(pair.member, issue["id"]).json()
    text = "Its loans are read otherwise since the comparison: compare the tape with the workbook again."
    assert (body["workbook"], body["workbook_note"]) == (None, text)


def test_a_workbook_that_is_not_ready(stack: Stack, pair: Pair) -> None:
    pair.compare()
    stack.sql("UPDATE workbooks SET status = 'processing', book_key = NULL WHERE id = %s", [pair.workbook_id])
    answer = rows_of(pair.member, pair.issue("spread")["id"])
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_whose_issue_is_not_found(shared_pair: Pair, stranger: Member) -> None:
    issue_id = shared_pair.issue("spread")["id"]
    for member, asked in ((stranger, issue_id), (shared_pair.member, "iss_0"), (shared_pair.member, "x'--")):
        answer = rows_of(member, asked)
        assert (answer.status_code, answer.json()["detail"]) == (404, "Issue not found")
    viewer = shared_pair.member.invite("viewer")
    assert rows_of(viewer, issue_id).status_code == 200
    assert rows_of(shared_pair.member.key("workbooks:read"), issue_id).status_code == 403
