"""A trustee's tape compared and its issues worked by keyboard, in a browser."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visit, Visits, checked
from tests.programs.console.seeds import deal_with_months, tape_file

ISSUES: Final = "/api/v1/reconciliation/issues"
JOB_MS: Final = 60_000
"""Patience with a comparison, which a process of its own makes."""
NAME: Final = "Example CLO VIII, tape of the trustee's statement of 2026-06-30.xlsx"
"""Longer than a telephone is wide."""


@pytest.fixture
def deal(owner: Member) -> dict[str, Any]:
    return deal_with_months(owner, months=1)


def issues(member: Member, **query: str) -> list[dict[str, Any]]:
    tape = checked(member.get("/api/v1/reconciliation/tapes"))["items"][0]["id"]
    items: list[dict[str, Any]] = checked(
        member.get(ISSUES, params={"tape_id": tape, "page_size": 200, "status": "open", **query})
    )["items"]
    return items


def counts(member: Member) -> dict[str, int]:
    by_status: dict[str, int] = checked(member.get(f"{ISSUES}/summary"))["by_status"]
    return by_status


def expect_count(page: Page, status: str, count: int) -> None:
    expect(page.get_by_role("button", name=f"{status} {count}", exact=True)).to_be_visible()


def names(page: Page) -> Locator:
    return page.get_by_role("table", name="Issues").locator("button.cell")


def panel(page: Page) -> Locator:
    return page.locator("aside.drill")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def upload(page: Page) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a tape").click()
    chooser.value.set_files(FilePayload(name=NAME, mimeType="", buffer=tape_file(7)))
    box = page.get_by_role("dialog")
    expect(box.get_by_label("Trustee's tape, to reconcile")).to_be_checked()
    expect(box.get_by_label("Statement date")).to_have_value("2026-06-30")
    box.get_by_role("button", name="Add", exact=True).click()


def test_a_tape_is_compared_and_worked_by_keyboard(owner: Member, deal: dict[str, Any], visits: Visits) -> None:
    assert owner.patch("/api/v1/admin/tenant", json={"settings": {"date_format": "DD.MM.YYYY"}}).status_code == 200
    visit = visits()
    page = visit.page
    visit.sign_in(owner, f"/deals/{deal['id']}/reconciliation")
    expect(page.get_by_role("heading", name="No tape yet")).to_be_visible()
    visit.check_accessible("no tape")
    upload(page)
    expect(page.locator(".banner")).to_contain_text("loans matched", timeout=JOB_MS)
    expect(page).not_to_have_url(re.compile("compare="))
    expect(page.get_by_label("Tape", exact=True)).to_contain_text(f"30.06.2026 Trustee A, {NAME}")
    result = issues(owner)
    expect(page.locator(".banner")).to_contain_text(f"{len(result)} issues")
    expect_count(page, "Open", len(result))
    expect(names(page).first).to_have_text(result[0]["borrower_name"])
    assert names(page).count() < len(result), "only the rows in sight are drawn"
    _copied(page, result)
    _days(visit, result)
    _side_by_side(owner, visit, result)
    _one_by_one(owner, page, result)
    _many(owner, visit, result)
    _as_a_viewer(owner, visits, deal)
    _all(owner, visit, len(result))


def _copied(page: Page, result: list[dict[str, Any]]) -> None:
    """All issues go to the clipboard, those out of sight, too."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text(f"{len(result)} issues copied")).to_be_visible()
    heads, *rows = (line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").split("\n"))
    assert heads == ["Severity", "Loan", "What differs", "Ours", "Tape", "Identifier"]
    assert [(row[0], row[1], row[5]) for row in rows] == [
        (item["severity"], item["borrower_name"], item["primary_identifier"]) for item in result
    ]


def _days(visit: Visit, result: list[dict[str, Any]]) -> None:
    """Days are written as the organisation writes them."""
    page = visit.page
    issue = next(item for item in result if item["field_name"] == "maturity_date")
    before = page.url
    page.goto(f"{before}&issue={issue['id']}")
    for side in ("internal_value", "trustee_value"):
        year, month, day = issue[side].split("-")
        expect(panel(page).locator("p").first).to_contain_text(f"{day}.{month}.{year}")
    page.goto(before)
    expect(panel(page)).to_have_count(0)


def _side_by_side(owner: Member, visit: Visit, result: list[dict[str, Any]]) -> None:
    """The rows of both files beside each other, the field that differs first."""
    page = visit.page
    place = next(at for at, item in enumerate(result) if item["field_name"] == "par_value")
    press(page, *["j"] * (place + 2), "k")
    issue = result[place]
    expect(panel(page).get_by_role("heading", name=issue["borrower_name"])).to_be_visible()
    expect(page).to_have_url(re.compile(f"issue={issue['id']}"))
    rows = checked(owner.get(f"{ISSUES}/{issue['id']}/rows"))
    ours, theirs = (
        next(cell["value"] for cell in rows[side]["cells"] if cell["field"] == "par_value")
        for side in ("workbook", "tape")
    )
    first = panel(page).locator("tbody tr").first
    expect(first.locator("td").nth(1)).to_have_text(f"{ours:,.0f}")
    expect(first.locator("td").nth(2)).to_contain_text(re.compile(rf"≠ differs\s+{theirs:,.0f}"))
    expect(panel(page).get_by_role("columnheader", name="Trustee A")).to_be_visible()
    row, second = rows["workbook"], rows["tape"]
    expect(panel(page)).to_contain_text(
        f"Ours: {row['sheet']}, row {row['row']}. Trustee A: {second['sheet']}, row {second['row']}"
    )
    expect(
        panel(page).locator("tbody tr").filter(has_text=re.compile(r"^Country")).locator("td").nth(2)
    ).not_to_contain_text("≠")
    visit.check_accessible("an issue")
    missing = next(at for at, item in enumerate(result) if item["issue_type"] == "missing_in_trustee")
    press(page, "Escape", *["j"] * (missing + 1))
    expect(panel(page)).to_contain_text("Missing in trustee")
    note = checked(owner.get(f"{ISSUES}/{result[missing]['id']}/rows"))["tape_note"]
    expect(panel(page)).to_contain_text(note)
    press(page, "Escape")
    expect(panel(page)).to_have_count(0)


def _one_by_one(owner: Member, page: Page, result: list[dict[str, Any]]) -> None:
    """Twenty issues as fast as keys are pressed, each for the one in sight.

    The last one is undone.
    """
    press(page, "j", *["a"] * 12, *["r"] * 5, *["f"] * 3)
    expect_count(page, "Open", len(result) - 20)
    left = {"open": len(result) - 20, "acknowledged": 12, "resolved": 5, "false_positive": 3}
    assert counts(owner) == left
    assert {issue["id"] for issue in issues(owner, status="acknowledged")} == {item["id"] for item in result[:12]}
    expect(panel(page).get_by_role("heading", name=result[20]["borrower_name"])).to_be_visible()
    expect(page.locator(".notice")).to_have_count(1)
    press(page, "u")
    expect_count(page, "False positive", 2)
    assert result[19]["id"] in {issue["id"] for issue in issues(owner)}
    expect(names(page).first).to_have_text(result[19]["borrower_name"])
    page.get_by_role("button", name="Resolved 5").click()
    expect(names(page)).to_have_count(5)
    press(page, "j")
    expect(panel(page)).to_contain_text(f"Resolved by {owner.email}")
    press(page, "r", "o")
    expect_count(page, "Resolved", 4)
    assert counts(owner)["open"] == len(result) - 18


def _many(owner: Member, visit: Visit, result: list[dict[str, Any]]) -> None:
    """Issues that were selected, those that a search finds, and all of a severity."""
    page = visit.page
    page.get_by_role("button", name=f"Open {len(result) - 18}").click()
    expect(names(page).first).to_have_text(issues(owner)[0]["borrower_name"])
    press(page, "j", "x", "j", "x", "x", "j", "x")
    expect(page.get_by_text("2 selected")).to_be_visible()
    picked = [issues(owner)[at] for at in (0, 2)]
    press(page, "r")
    expect(page.get_by_text("2 issues: Resolved")).to_be_visible()
    assert {item["id"] for item in picked} <= {issue["id"] for issue in issues(owner, status="resolved")}
    press(page, "Escape", "/")
    text = result[-1]["borrower_name"]
    page.keyboard.type(text)
    press(page, "Enter")
    expect(page).to_have_url(re.compile(f"search={text.split()[0]}"))
    some = [issue for issue in issues(owner) if text in issue["borrower_name"]]
    expect(names(page)).to_have_count(len(some))
    press(page, "X")
    expect(page.get_by_text(f"{len(some)} selected")).to_be_visible()
    press(page, "f")
    expect(page.get_by_role("heading", name="No issue fits")).to_be_visible()
    expect_count(page, "False positive", 2 + len(some))
    page.get_by_label("Search (/)").fill("")
    page.get_by_label("Severity").select_option("warning")
    same = issues(owner, severity="warning")
    page.get_by_role("button", name=f"Select all {len(same)} (X)").click()
    before = counts(owner)
    visit.check_accessible("selected issues")
    page.get_by_role("button", name="Resolve (r)").click()
    expect(page.get_by_text(f"{len(same)} issues: Resolved")).to_be_visible()
    assert counts(owner)["resolved"] == before["resolved"] + len(same)
    page.get_by_role("button", name="Undo (u)").click()
    expect(names(page).first).to_have_text(same[0]["borrower_name"])
    assert counts(owner) == before


def _as_a_viewer(owner: Member, visits: Visits, deal: dict[str, Any]) -> None:
    """A viewer on a telephone sees all and may change nothing."""
    visit = visits(NARROW)
    page = visit.page
    issue = issues(owner, severity="warning")[-1]
    visit.sign_in(owner.invite("viewer"), f"/deals/{deal['id']}/reconciliation?issue={issue['id']}")
    expect(panel(page).get_by_role("heading", name=issue["borrower_name"])).to_be_visible()
    panel(page).locator("tbody tr").first.wait_for()
    visit.check_accessible("an issue on a telephone")
    assert page.get_by_role("button", name=re.compile("Acknowledge|Resolve|Compare|Add|Select")).count() == 0
    press(page, "a", "x", "u")
    page.get_by_role("button", name="Close (Esc)").click()
    visit.check_accessible("issues on a telephone")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    expect_count(page, "Open", counts(owner)["open"])
    assert visit.statuses == []


def _all(owner: Member, visit: Visit, count: int) -> None:
    """All deals' tapes have a place of their own; all that is open is worked at once."""
    page = visit.page
    visit.go("/reconciliation")
    expect(page.get_by_role("heading", name="Reconciliation")).to_be_visible()
    expect(names(page).first).to_have_text(issues(owner)[0]["borrower_name"])
    press(page, "X", "a")
    expect(page.get_by_role("heading", name="All issues are worked")).to_be_visible()
    expect(page.get_by_text(f"{count} issues in all")).to_be_visible()
    expect_count(page, "Open", 0)
    assert counts(owner)["open"] == 0
    visit.check_accessible("all issues worked")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".banner")).to_contain_text("loans matched", timeout=JOB_MS)
    assert counts(owner)["open"] == 0, "what was reviewed stays so"
