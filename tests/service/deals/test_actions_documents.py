"""A trustee's report as a PDF among the files of a deal, over HTTP.

As holdings and as a tape: page and line stand wherever a row or a cell is named. Other uploads name this way.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from core.files.write import write_workbook_rows
from tests.conftest import Member
from tests.report_pdf import DrawnReport, draw_report
from tests.service.deals.conftest import URL, added, sent
from tests.service.deals.test_actions_tapes import TAPE, tape_of
from tests.service.reconciliation.conftest import compared

RESULTS = "/api/v1/compliance/results"


@pytest.fixture(scope="module")
def drawn() -> DrawnReport:
    return draw_report(30)


@pytest.fixture
def workbook(owner: Member, deal: dict[str, Any], drawn: DrawnReport) -> dict[str, Any]:
    """The report as the deal's month."""
    return added(owner, deal, ("report.pdf", drawn.data))


def asked(who: Member, path: str, **query: Any) -> Any:
    answer = who.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_tables_of_a_report_are_sheets(owner: Member, workbook: dict[str, Any], drawn: DrawnReport) -> None:
    assert [sheet["name"] for sheet in workbook["sheets"]] == ["Compliance Tests", "Schedule of Investments"]
    base = f"/api/v1/workbooks/{workbook['id']}"
    data = asked(owner, f"{base}/sheets/{workbook['sheets'][1]['id']}/data", letters=True)
    by_name = {row["A"]: row for row in data["rows"]}
    for loan in drawn.loans:
        row = by_name[loan.borrower]
        assert (row["_page"], row["_line"], row["C"]) == (loan.page, loan.line, loan.par)
    cell = asked(owner, f"{base}/sheets/{workbook['sheets'][1]['id']}/cells/C17")
    loan = drawn.loans[12]
    assert (cell["value"], cell["page"], cell["line"]) == (loan.par, loan.page, loan.line)
    detection = asked(owner, f"{base}/detection")["detection"]
    pages = [(sheet["first_page"], sheet["last_page"]) for sheet in detection["sheets"]]
    assert pages == [(1, 1), (2, 4)]
    loans = asked(owner, f"{base}/loans", fields="cusip,par_value")
    assert loans["columns"]["cusip"] == [loan.cusip for loan in drawn.loans]
    assert loans["pages"] == [loan.page for loan in drawn.loans]
    assert loans["lines"] == [loan.line for loan in drawn.loans]


def test_results_parts_tie_out_and_evidence_name_page_and_line(
    owner: Member, deal: dict[str, Any], workbook: dict[str, Any], drawn: DrawnReport
) -> None:
    answer = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], "test_suite": "standard"})
    assert answer.status_code == 200, answer.text
    run = answer.json()
    result = next(each for each in run["results"] if each["test_id"] == "ccc_bucket_pct")
    place = "'Compliance Tests'!B5 (page 1, line 5)"
    assert (result["published"]["value"], result["published"]["place"]) == (25.0, place)
    assert "'Schedule of Investments'!C5:C34 (pages 2 to 4)" in result["details"]["cell_refs"]
    assert [place] in [doubt["places"] for doubt in result["doubt"]]
    path = f"{RESULTS}/{run['id']}/tests/ccc_bucket_pct/parts"
    parts = asked(owner, path)
    by_name = {loan.borrower: loan for loan in drawn.loans if loan.rating == "Caa1"}
    assert {part["name"] for part in parts["items"]} == by_name.keys()
    for part in parts["items"]:
        loan = by_name[part["name"]]
        assert (part["page"], part["line"]) == (loan.page, loan.line)
        assert part["place"] == f"'Schedule of Investments'!C{part['row']} (page {loan.page}, line {loan.line})"
    rows = list(csv.DictReader(io.StringIO(owner.get(path, params={"format": "csv"}).text)))
    assert {(row["name"], row["page"], row["line"]) for row in rows} == {
        (loan.borrower, str(loan.page), str(loan.line)) for loan in by_name.values()
    }
    tied = asked(owner, f"{URL}/{deal['id']}/tie-out")
    assert [item["cell"] for item in tied["items"]] == [place, "'Compliance Tests'!B6 (page 1, line 6)"]
    wanted = {"event_type": "compliance.run_completed", "include_outputs": True, "include_proof": True}
    (event,) = asked(owner, "/api/v1/compliance/lookback", **wanted)["items"]
    assert event["outputs"]["results"] == run["results"]
    assert event["proof"]["evidence_verified"] is True


def test_a_total_that_does_not_add_up_makes_figures_of_par_doubtful(owner: Member, deal: dict[str, Any]) -> None:
    drawn = draw_report(30, total_off=90_000.0)
    workbook = added(owner, deal, ("report.pdf", drawn.data))
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]}).json()
    where = f"(page {drawn.loans[-1].page}, line {drawn.loans[-1].line + 1})"
    assert any(where in warning["message"] for warning in run["warnings"]), run["warnings"]
    (remark,) = (warning for warning in run["warnings"] if warning["code"] == "total_differs")
    assert f"{drawn.total:,.2f}" in remark["message"]
    assert remark["message"].endswith("('Schedule of Investments', row 35).")
    result = next(each for each in run["results"] if each["test_id"] == "single_obligor_concentration")
    assert any(doubt["code"] == "conflict" and where in doubt["message"] for doubt in result["doubt"])


def test_a_tape_as_a_pdf(owner: Member, deal: dict[str, Any], drawn: DrawnReport, tmp_path: Any) -> None:
    answer = sent(owner, deal, ("tape.pdf", drawn.data), **TAPE)
    assert answer.status_code == 201, answer.text
    tape = tape_of(owner, answer.json()["tape"]["tape_id"])
    assert (tape["processing_status"], tape["loan_count"]) == ("completed", len(drawn.loans)), tape
    changed = drawn.loans[20]
    rows = [(loan.borrower, loan.cusip, loan.par + 1000 * (loan is changed), loan.price) for loan in drawn.loans]
    write_workbook_rows(tmp_path / "book.xlsx", {"Loans": [("Borrower", "CUSIP", "Par Amount", "Price"), *rows]})
    book = owner.uploaded(tmp_path / "book.xlsx")
    assert compared(owner, tape["id"], book["id"])["status"] == "completed"
    (issue,) = asked(owner, "/api/v1/reconciliation/issues", tape_id=tape["id"])["items"]
    body = asked(owner, f"/api/v1/reconciliation/issues/{issue['id']}/rows")
    assert (body["tape"]["page"], body["tape"]["line"]) == (changed.page, changed.line)
    assert body["tape"]["cells"][1]["value"] == changed.cusip
    assert (body["workbook"]["row"], body["workbook"]["page"], body["workbook"]["line"]) == (22, None, None)


def test_what_is_no_pdf_leaves_its_workbook_in_error(owner: Member, deal: dict[str, Any]) -> None:
    book = owner.parsed(sent(owner, deal, ("report.pdf", b"%PDF-1.7\n%\xe2\xe3")).json()["id"])
    assert book["status"] == "error"
    assert "PDF" in book["error_message"]
    tape = tape_of(owner, sent(owner, deal, ("tape.pdf", b"%PDF-1.7"), **TAPE).json()["tape"]["tape_id"])
    assert tape["processing_status"] == "failed"
    assert "PDF" in tape["error_message"]


@pytest.mark.parametrize("name", ["report.pdf", "report.xlsx"])
def test_other_uploads_name_the_files_of_a_deal(owner: Member, drawn: DrawnReport, name: str) -> None:
    """By its name, and by its content under another one."""
    stated = {name: value for name, value in TAPE.items() if name != "kind"}
    for path, data in (("/api/v1/workbooks/upload", {}), ("/api/v1/reconciliation/tapes/upload", stated)):
        answer = owner.post(path, files={"file": (name, drawn.data)}, data=data)
        body = answer.json()
        assert answer.status_code in (400, 422), body
        assert "POST /api/v1/deals/{deal_id}/files takes other formats, such as .pdf" in body["errors"][0]["message"]
