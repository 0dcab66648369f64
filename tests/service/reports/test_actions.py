"""Reports over HTTP.

What they show, their states, every refusal, their names, and who gets them.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from core.labels import labelled
from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.deals import conftest as deals
from tests.service.reconciliation.conftest import FOUND, Pair
from tests.service.reports.conftest import URL, bytes_of, create_report, ended, ordered, run_of, sheets_of

DEFAULTS = {
    "sanitize_pii": True,
    "classification_threshold": "confidential",
    "redaction_strategy": "mask",
    "xlsx_include_styles": True,
    "xlsx_freeze_header": True,
    "xlsx_auto_width": True,
}


def test_a_report_goes_its_way(owner: Member, own_g1: dict[str, Any]) -> None:
    run = run_of(owner, own_g1)
    asked = ordered(owner, "compliance", workbook_id=own_g1["id"], filename="March")
    assert asked | {"id": 0, "created_at": 0, "options": 0} == {
        "id": 0, "report_type": "compliance", "status": "pending", "format": "pdf", "filename": "March.pdf",
        "workbook_id": own_g1["id"], "run_id": run["id"], "tape_id": None, "job_id": None, "file_size_bytes": None,
        "download_url": None, "error_details": None, "options": 0, "created_by": owner.email, "created_at": 0,
        "completed_at": None, "expires_at": None,
    }  # fmt: skip
    assert asked["options"] == DEFAULTS
    report = ended(owner, asked)
    assert report["status"] == "completed", report
    assert report["download_url"] == f"{URL}/{report['id']}/download"
    lives = datetime.fromisoformat(report["expires_at"]) - datetime.fromisoformat(report["completed_at"])
    assert abs(lives.total_seconds() - 604_800) < 60
    answer = owner.get(report["download_url"])
    assert answer.content.startswith(b"%PDF-1.7")
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == 'attachment; filename="March.pdf"'
    part = owner.get(report["download_url"], headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert owner.delete(f"{URL}/{report['id']}").status_code == 204
    for gone in (owner.get(f"{URL}/{report['id']}"), owner.get(report["download_url"])):
        assert (gone.status_code, gone.json()["detail"]) == (404, "Report not found")


def test_the_sheets_have_the_figures_of_the_run(owner: Member, own_g1: dict[str, Any]) -> None:
    run_of(owner, own_g1, test_suite="enhanced")
    run = run_of(owner, own_g1, thresholds=[{"test_id": "wal", "threshold_value": 12.5}])
    run_of(owner, own_g1, test_suite="enhanced")
    report = create_report(owner, "compliance", workbook_id=own_g1["id"], run_id=run["id"], format="xlsx")
    assert report["filename"] == "g1 compliance 2026-03-31.xlsx"
    sheets = sheets_of(owner, report)
    header, *rows = sheets["Tests"]
    by_test = {row["Test"]: row for row in (dict(zip(header, values, strict=True)) for values in rows)}
    for result in run["results"]:
        answer = by_test.pop(result["test_id"])
        for column, name in (
            ("Status", "status"), ("Value", "current_value"), ("Threshold", "threshold_value"), ("Cushion", "cushion"),
            ("Cushion %", "cushion_pct"), ("Direction", "threshold_type"), ("Limit set by", "threshold_source"),
        ):  # fmt: skip
            assert answer[column] == result[name], (result["test_id"], column)
    assert {name: row["Message"] for name, row in by_test.items()} == {
        item["test_id"]: item["reason"].removeprefix("Skipped: ") for item in run["skipped"]
    }
    of_source = {row[1]: row[2] for row in sheets["Lineage"]}
    assert (of_source["Run"], of_source["Workbook"]) == (run["id"], own_g1["id"])
    shares = [row for row in sheets["Concentrations"] if row[0] and "bligor" in row[0]]
    assert max(row[3] for row in shares[:3] if row[3]) >= 40e6, "the largest obligors of the file"


def test_what_is_personal_is_in_neither_the_file_nor_the_name_made_for_it(owner: Member, g1_file: Path) -> None:
    """A name that the caller gives stays as it is."""
    book = owner.uploaded(g1_file, name="ann.lee@trustee.com.xlsx")
    run_of(owner, book)
    asked = {"workbook_id": book["id"], "format": "xlsx"}
    clean, open_ = (
        create_report(owner, "compliance", **asked, options={"sanitize_pii": item}) for item in (True, False)
    )
    for report, shown in ((clean, False), (open_, True)):
        texts = {cell for rows in sheets_of(owner, report).values() for row in rows for cell in row}
        assert ("ann.lee@trustee.com.xlsx" in texts, "ann.lee" in str(texts), "ann.lee" in report["filename"]) == (
            shown, shown, shown,
        ), report["filename"]  # fmt: skip
    named = ordered(owner, "compliance", **asked, filename="for ann.lee@trustee.com")
    assert named["filename"] == "for ann.lee@trustee.com.xlsx"


def test_the_newest_run_is_shown_of_the_suite_that_is_named(owner: Member, own_g1: dict[str, Any]) -> None:
    nothing = owner.post(f"{URL}/compliance", json={"workbook_id": own_g1["id"]})
    assert (nothing.status_code, nothing.json()["detail"]) == (409, "Workbook has no compliance run")
    runs = {suite: run_of(owner, own_g1, test_suite=suite)["id"] for suite in ("standard", "enhanced")}
    shown = {suite: ordered(owner, "compliance", workbook_id=own_g1["id"], suite=suite)["run_id"] for suite in runs}
    assert shown == runs
    assert ordered(owner, "compliance", workbook_id=own_g1["id"])["run_id"] == runs["enhanced"]
    other_response = owner.post(f"{URL}/compliance", json={"workbook_id": own_g1["id"], "suite": "deal"})
    assert (other_response.status_code, other_response.json()["detail"]) == (409, "Workbook has no compliance run")


def test_a_changed_workbook_lends_no_figures_to_an_older_run(owner: Member, own_g1: dict[str, Any]) -> None:
    run = run_of(owner, own_g1)
    applied = {
        "name": "Half", "template_id": "custom", "status": "active",
        "graph": {
            "version": "1", "template_id": "custom", "edges": [
                {"id": "e", "source": {"nodeId": "a", "port": "output"}, "target": {"nodeId": "b", "port": "a"}}],
            "nodes": [{"id": "a", "type": "column_ref", "params": {"column": "Par Amount"}},
                      {"id": "b", "type": "expression", "params": {"formula": "=a/2"}}],
        },
    }  # fmt: skip
    formula = owner.post("/api/v1/formulas", json=applied).json()
    sheet = own_g1["sheets"][0]["id"]
    target = {"version_id": "v1", "workbook_id": own_g1["id"], "sheet_id": sheet, "target_column": "Half"}
    assert owner.post(f"/api/v1/formulas/{formula['id']}/apply", json=target).status_code == 200
    owner.parsed(own_g1["id"])
    sheets = sheets_of(owner, create_report(owner, "compliance", workbook_id=own_g1["id"], format="xlsx"))
    assert "Concentrations" not in sheets
    notes = [row[1] for row in sheets["Report"] if row[0] == "Note"]
    assert notes == ["What is drawn from the loans themselves is left out: the workbook was changed after the run."]
    values = {row[1]: row[6] for row in sheets["Tests"][1:]}
    assert {result["test_id"]: result["current_value"] for result in run["results"]}.items() <= values.items()


def test_a_reconciliation_has_both_sides_as_written(pair: Pair) -> None:
    who = pair.member
    nothing = who.post(f"{URL}/reconciliation", json={"tape_id": pair.tape_id})
    assert (nothing.status_code, nothing.json()["detail"]) == (409, "Tape has no completed comparison")
    job = pair.compare()
    pair.review(pair.issue("spread"), status="resolved", resolution_notes="mail to ann.lee@trustee.com")
    report = create_report(who, "reconciliation", tape_id=pair.tape_id, format="xlsx")
    assert (report["job_id"], report["workbook_id"]) == (job["job_id"], pair.workbook_id)
    sheets = sheets_of(who, report)
    header, *rows = sheets["Issues"]
    issues = [dict(zip(header, values, strict=True)) for values in rows]
    columns = ("Field", "Severity", "Issue", "Category", "Trustee", "Internal")
    shown = {(labelled(field), *others) for field, *others in FOUND}
    assert {tuple(issue[name] or "" for name in columns) for issue in issues} == shown
    assert [issue["Severity"] for issue in issues] == sorted(
        (issue["Severity"] for issue in issues), key=["critical", "error", "warning", "info"].index
    )
    (spread,) = (issue for issue in issues if issue["Field"] == "spread")
    assert (spread["Status"], spread["Notes"]) == ("resolved", "mail to a***@t***.com")
    assert [row[10] for row in sheets["Largest breaks"][1:]] == [2_500_000, -500_000, 80_000]
    (total,) = (row for row in sheets["Summary"] if row[1] == "all")
    assert total[2:] == (2, 1, 3, 1, 7, 6)
    plain = create_report(who, "reconciliation", tape_id=pair.tape_id, format="xlsx", options={"sanitize_pii": False})
    notes = {row[12] for row in sheets_of(who, plain)["Issues"]}
    assert "mail to ann.lee@trustee.com" in notes
    assert bytes_of(who, create_report(who, "reconciliation", tape_id=pair.tape_id)).startswith(b"%PDF-1.7")


def test_a_deal_shows_what_moved_and_the_trustees_figures(owner: Member) -> None:
    deal = deals.create_deal(owner, name="Cairn")
    for day, loans in (("2026-02-28", deals.LOANS), ("2026-03-31", deals.LOANS.replace(b"3000000", b"2500000"))):
        files = ("loans.csv", loans), ("notes.csv", deals.NOTES)
        workbook = deals.added(owner, deal, *files, as_of=day)
        run_of(owner, workbook, test_suite="deal")
    sheets = sheets_of(owner, create_report(owner, "compliance", workbook_id=workbook["id"], format="xlsx"))
    header, *rows = sheets["Changes"]
    changes = [dict(zip(header, values, strict=True)) for values in rows]
    parts: dict[str, float] = {}
    for change in changes:
        parts[change["Test"]] = parts.get(change["Test"], 0.0) + (change["Change of the part"] or 0.0)
    assert parts
    for change in changes:
        assert abs(parts[change["Test"]] - change["Change"]) < 1e-9, change
        assert abs(change["After"] - change["Before"] - change["Change"]) < 1e-9
    assert any(item["Part"] == "par" and "Charlie" in (item["Loans"] or "") for item in changes)
    days = {(row[0], row[3].date().isoformat()) for row in sheets["History"][1:]}
    assert {day for _, day in days} == {"2026-02-28", "2026-03-31"}


@every(
    "kind, body, status, detail",
    [
        ("compliance", {"workbook_id": "{other}"}, 404, "Workbook not found"),
        ("compliance", {"workbook_id": "{book}", "run_id": "{other}"}, 404, "Result not found"),
        ("compliance", {}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "format": "csv"}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "options": {"redaction_strategy": "blur"}}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "options": {"xlsx_three_zone": True}}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": "../x"}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": "..\\x"}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": ".."}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": "a\nb"}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": "fdp\u202efdp"}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": "x" * 252}, 422, "Validation error"),
        ("compliance", {"workbook_id": "{book}", "filename": ""}, 422, "Validation error"),
        ("reconciliation", {"tape_id": "tape_none"}, 404, "Tape not found"),
        ("generate", {"report_type": "compliance"}, 422, "Validation error"),
        ("generate", {"report_type": "reconciliation", "workbook_id": "{book}"}, 422, "Validation error"),
        ("generate", {"report_type": "compliance", "workbook_id": "{book}", "tape_id": "t"}, 422, "Validation error"),
        ("generate", {"report_type": "summary", "workbook_id": "{book}"}, 422, "Validation error"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    shared_owner: Member, g1: dict[str, Any], kind: str, body: dict[str, Any], status: int, detail: str
) -> None:
    run_of(shared_owner, g1)
    values = {"{book}": g1["id"], "{other}": str(uuid4())}
    answer = shared_owner.post(f"{URL}/{kind}", json={name: values.get(str(item), item) for name, item in body.items()})
    assert (answer.status_code, answer.json()["detail"]) == (status, detail), answer.text


def test_so_many_are_in_work_at_a_time(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    run_of(owner, own_g1)
    with stack.without_worker(), stack.another_api(CUSHION_MAX_EXPORTS="1") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        ordered(owner, "compliance", workbook_id=own_g1["id"])
        answer = owner.post(f"{URL}/compliance", json={"workbook_id": own_g1["id"]})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Report limit exceeded")
    assert answer.json()["errors"][0]["message"] == "the limit is 1 reports in work"


def test_lists_are_sorted_and_narrowed(pair: Pair) -> None:
    who = pair.member
    run_of(who, pair.workbook)
    pair.compare()
    first = create_report(
        who, "generate", report_type="compliance", workbook_id=pair.workbook_id, filename="Ümlaut.PDF"
    )
    second = create_report(who, "generate", report_type="reconciliation", tape_id=pair.tape_id, format="xlsx")
    assert first["filename"] == "Ümlaut.PDF"
    assert who.get(first["download_url"]).headers["content-disposition"].endswith("filename*=UTF-8''%C3%9Cmlaut.PDF")

    def listed(**query: Any) -> list[str]:
        page = who.get(URL, params=query).json()
        assert set(page) == {"items", "total", "skip", "limit"}
        return [report["id"] for report in page["items"]]

    both = [second["id"], first["id"]]
    assert listed() == both == listed(sort_by="report_type")
    for sort_by in ("created_at", "completed_at", "report_type"):
        assert listed(sort_by=sort_by, sort_dir="asc") == both[::-1], sort_by
    assert listed(skip=1, limit=1) == both[1:]
    assert listed(report_type="compliance") == [first["id"]]
    page = who.get(URL).json()
    assert (page["total"], page["skip"], page["limit"]) == (2, 0, 20)
    for wrong in ({"limit": 101}, {"limit": 0}, {"skip": -1}, {"sort_by": "filename"}, {"report_type": "other"}):
        assert who.get(URL, params=wrong).status_code == 422, wrong


def test_a_report_that_is_not_made_yet_waits_and_one_that_expired_is_gone(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    run_of(owner, own_g1)
    report = create_report(owner, "compliance", workbook_id=own_g1["id"])
    stack.sql("UPDATE documents SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    gone = owner.get(report["download_url"])
    assert (gone.status_code, gone.json()["detail"], gone.json()["error_code"]) == (
        410, "Report has expired", "EXPORT_EXPIRED",
    )  # fmt: skip
    assert owner.get(f"{URL}/{report['id']}").json()["download_url"] is None
    stack.sql("UPDATE reports SET status = 'generating', document_id = NULL WHERE tenant_id = %s", [owner.tenant_id])
    early = owner.get(report["download_url"])
    assert (early.status_code, early.json()["detail"]) == (409, "Report is not ready")


def test_a_report_is_its_tenants(stranger: Member, shared_owner: Member, g1: dict[str, Any]) -> None:
    run_of(shared_owner, g1)
    report = create_report(shared_owner, "compliance", workbook_id=g1["id"])
    for answer in (
        stranger.get(f"{URL}/{report['id']}"),
        stranger.get(report["download_url"]),
        stranger.delete(f"{URL}/{report['id']}"),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (404, "Report not found")
    assert stranger.post(f"{URL}/compliance", json={"workbook_id": g1["id"]}).status_code == 404
    assert report["id"] not in [item["id"] for item in stranger.get(URL).json()["items"]]


def test_figures_that_the_loans_do_not_give_again_are_shown_without_them(
    stack: Stack, owner: Member, own_g1: dict[str, Any]
) -> None:
    """A stored figure that is another one than ours, as after a change of the engine.

    It is shown as it was stored.
    """
    run = run_of(owner, own_g1)
    (oc,) = (result for result in run["results"] if result["test_id"] == "oc_ratio")
    stack.sql(
        "UPDATE compliance_runs SET results = replace(results::text, %s, '99.5')::json WHERE id = %s",
        [str(oc["current_value"]), run["id"]],
    )
    sheets = sheets_of(owner, create_report(owner, "compliance", workbook_id=own_g1["id"], format="xlsx"))
    assert {row[1]: row[6] for row in sheets["Tests"][1:]}["oc_ratio"] == 99.5
    (note,) = (row[1] for row in sheets["Report"] if row[0] == "Note")
    assert note.startswith("What is drawn from the loans themselves is left out: the loans give other figures now")
    assert "Concentrations" not in sheets


def test_the_loans_are_read_on_the_day_of_the_run(pair: Pair) -> None:
    """Whoever said it: the upload where nobody did, the request, the workbook's record."""
    for asked, source in (({}, "upload"), ({"as_of": "2026-06-30"}, "request"), ({}, "workbook")):
        if source == "workbook":
            pair.member.patch(f"/api/v1/workbooks/{pair.workbook_id}", json={"as_of": "2026-05-31"})
        run = run_of(pair.member, pair.workbook, **asked)
        assert run["as_of_source"] == source
        sheets = sheets_of(
            pair.member,
            create_report(pair.member, "compliance", workbook_id=pair.workbook_id, run_id=run["id"], format="xlsx"),
        )
        assert "Concentrations" in sheets, source
        answer = dict(row[:2] for row in sheets["Report"] if row[0])
        assert answer["As of"].date().isoformat() == run["as_of"]


def test_what_the_file_contradicts_is_no_plain_failure(owner: Member, contradicted_file: Path) -> None:
    """The trustee's figure stands in the row, and so do the doubts.

    The first page counts neither pass nor fail.
    """
    book = owner.uploaded(contradicted_file)
    run = run_of(owner, book)
    sheets = sheets_of(owner, create_report(owner, "compliance", workbook_id=book["id"], format="xlsx"))
    header, *rows = sheets["Tests"]
    by_test = {row["Test"]: row for row in (dict(zip(header, values, strict=True)) for values in rows)}
    for result in run["results"]:
        published, row = result["published"] or {}, by_test[result["test_id"]]
        answer = [row[name] for name in ("Doubtful", "Trustee", "Difference", "Agrees", "Trustee's status")]
        assert answer == [
            "doubtful" if result["doubtful"] else None,
            *(published.get(name) for name in ("value", "difference", "agrees", "status")),
        ]
        assert all(item["message"][1:] in row["Doubts"] for item in result["doubt"]), result["test_id"]
    doubts = [(result["test_id"], item["message"]) for result in run["results"] for item in result["doubt"]]
    assert sorted((row[0], row[3]) for row in sheets["Doubts"][1:]) == sorted(doubts), "each of them, of each test"
    facts = {row[0]: row[1] for row in sheets["Report"] if row[0]}
    assert facts["Of these doubtful"] == run["summary"]["doubtful"] >= 1
    plain = run["summary"]["failed"] - sum(item["doubtful"] and item["status"] == "fail" for item in run["results"])
    assert facts["Verdict"].startswith(f"{plain} of ")
    assert "fails by our figures but the file prints a pass" in facts["Verdict"]
    assert bytes_of(owner, create_report(owner, "compliance", workbook_id=book["id"])).startswith(b"%PDF")
