"""The screen of compliance and what is behind each figure, in a browser."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import openpyxl
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visit, Visits, checked
from tests.programs.console.seeds import deal_with_months, month_file, parsed

CCC: Final = "ccc_bucket_pct"
DOCUMENT_MS: Final = 60_000
"""For what a child process makes, which has to start first."""
PRINTED: Final = (
    ("Test", "Actual", "Trigger", "Result"),
    ("Weighted Average Rating Factor", 3100, 3000, "Fail"),
    ("Weighted Average Spread", 4.1, 3.0, "Pass"),
)
"""What the trustee prints of the month: another status than ours, another figure."""


@pytest.fixture
def deal(owner: Member) -> dict[str, Any]:
    return deal_with_months(owner)


def rows_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Tests", exact=True).locator("tbody tr")


def row_of(page: Page, name: str) -> Locator:
    return rows_of(page).filter(has=page.get_by_role("button", name=name, exact=True))


def panel(page: Page) -> Locator:
    return page.locator("aside.drill")


def printed_month(member: Member, deal_id: str) -> str:
    """A month whose file prints figures of its own; not run yet."""
    book = openpyxl.load_workbook(BytesIO(month_file(7)))
    sheet = book.create_sheet("Tests")
    for row in PRINTED:
        sheet.append(list(row))
    file = BytesIO()
    book.save(file)
    files = {"files": ("printed.xlsx", file.getvalue())}
    body = checked(member.post(f"/api/v1/deals/{deal_id}/files", files=files, data={"as_of": "2026-07-31"}))
    return str(parsed(member, body["id"])["id"])


def limits(member: Member, deal_id: str) -> list[float]:
    items = checked(member.get(f"/api/v1/compliance/thresholds?deal_id={deal_id}&test_id={CCC}"))["items"]
    return [item["threshold_value"] for item in items]


def test_an_analyst_reads_the_tests_drills_and_sets_a_limit(
    owner: Member, deal: dict[str, Any], visits: Visits
) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, f"/deals/{deal['id']}/compliance")
    _read(visit, deal)
    _filter(page)
    visit.check_accessible("all tests")
    _drill(visit)
    _set_a_limit(page, owner, deal["id"])


def _read(visit: Visit, deal: dict[str, Any]) -> None:
    """Every test with its figures, the thinnest cushion first."""
    page = visit.page
    expect(page.get_by_role("group", name="Tests by status")).to_contain_text("1 of 25 tests fails")
    expect(rows_of(page)).to_have_count(25)
    expect(rows_of(page).first).to_contain_text(re.compile(r"CCC/Caa bucket.*fail.*11\.13 %.*≤ 7\.50 %.*−3\.63 %"))
    results = sorted(deal["run"]["results"], key=lambda result: result["cushion_pct"])
    assert rows_of(page).locator("td:first-child").all_inner_texts() == [result["test_name"] for result in results]
    trend = row_of(page, "CCC/Caa bucket").get_by_role("img", name="From 5.34 % to 11.13 %")
    expect(trend).to_be_visible()
    expect(row_of(page, "WARF")).to_contain_text("2,953")
    page.get_by_text("4 things to know").click()
    expect(page.get_by_text("senior fees are estimated at 0.20% a year")).to_be_visible()
    page.get_by_label("Order").select_option("suite")
    expect(rows_of(page).first).to_contain_text(deal["run"]["results"][0]["test_name"])
    page.get_by_label("Order").select_option("")


def _filter(page: Page) -> None:
    """What is shown stands in the address."""
    page.get_by_role("button", name="2 warn").click()
    expect(rows_of(page)).to_have_count(2)
    assert "status=warning" in page.url
    page.get_by_label("Category").select_option("rating")
    expect(rows_of(page)).to_have_count(1)
    page.reload()
    expect(rows_of(page)).to_have_count(1)
    page.get_by_label("Category").select_option("coverage")
    expect(page.get_by_role("heading", name="No test is so")).to_be_visible()
    page.get_by_role("button", name="Show all tests").click()
    expect(rows_of(page)).to_have_count(25)


def _drill(visit: Visit) -> None:
    page = visit.page
    row_of(page, "CCC/Caa bucket").click()
    expect(panel(page).get_by_role("heading", name="CCC/Caa bucket")).to_be_focused()
    assert f"test={CCC}" in page.url
    expect(panel(page)).to_contain_text("fail 3.63 % beyond the limit")
    expect(panel(page)).to_contain_text("55,171,000 / 495,578,000")
    expect(panel(page)).to_contain_text("Moody's 11.13 %, S&P 11.13 %, Fitch 11.13 %")
    expect(panel(page)).to_contain_text("Limit ≤ 7.50 %, set by the suite")
    expect(panel(page).locator("canvas")).to_be_visible()
    expect(panel(page).get_by_role("row", name="2026-06-30")).to_contain_text("11.13 %")
    cells = panel(page).get_by_role("link", name="'Holdings'!V2:V201")
    assert "mapping?workbook=" in str(cells.get_attribute("href"))
    _parts(page)
    visit.check_accessible("a test's figure")
    page.keyboard.press("j")
    expect(panel(page).get_by_role("heading", name="Interest diversion (reinvestment OC)")).to_be_focused()
    page.keyboard.press("k")
    expect(panel(page).get_by_role("heading", name="CCC/Caa bucket")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    assert "test=" not in page.url
    page.go_back()
    expect(panel(page)).to_be_visible()
    page.get_by_role("button", name="Test", exact=True).click()
    page.keyboard.press("j")
    expect(panel(page).get_by_role("heading", name="Covenant-lite loans")).to_be_visible()
    page.keyboard.press("k")
    expect(panel(page).get_by_role("heading", name="CCC/Caa bucket")).to_be_visible()


def _parts(page: Page) -> None:
    """The loans add up to the numerator, and are saved as CSV."""
    expect(panel(page)).to_contain_text("add up to the numerator, 55,171,000", timeout=DOCUMENT_MS)
    expect(panel(page)).to_contain_text("18,002,650 of par must be sold until the limit is met")
    with page.expect_download() as saved:
        panel(page).get_by_role("button", name="Save all as CSV").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8-sig").splitlines()
    shown = panel(page).get_by_role("region").locator("tbody tr").count()
    assert len(lines) == shown + 1 == 22


def _set_a_limit(page: Page, owner: Member, deal_id: str) -> None:
    page.keyboard.press("e")
    expect(panel(page).get_by_label("Limit")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel(page).get_by_role("heading", name="CCC/Caa bucket")).to_be_focused()
    page.keyboard.press("e")
    expect(panel(page).get_by_label("Limit")).to_be_focused()
    page.keyboard.type("12.5")
    panel(page).get_by_role("button", name="Set the limit").click()
    expect(panel(page)).to_contain_text("Limit ≤ 12.50 %, set for this deal")
    expect(page.get_by_role("group", name="Tests by status")).to_contain_text("No test fails")
    assert limits(owner, deal_id) == [12.5]
    expect(panel(page).get_by_role("heading", name="CCC/Caa bucket")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(panel(page)).to_contain_text("Limit ≤ 7.50 %, set by the suite")
    assert limits(owner, deal_id) == []
    page.keyboard.press("e")
    panel(page).get_by_label("For").select_option("This month's file")
    panel(page).get_by_label("Limit").fill("11.2")
    page.keyboard.press("Enter")
    expect(panel(page)).to_contain_text("Limit ≤ 11.20 %, set for this file")
    assert limits(owner, deal_id) == []
    panel(page).get_by_role("button", name="Back to the former limit").click()
    expect(panel(page)).to_contain_text("Limit ≤ 7.50 %, set by the suite")


def test_a_month_is_run_and_made_a_document(owner: Member, visits: Visits) -> None:
    """From a deal without a file to the PDF.

    Doubtful figures and the trustee's beside ours at 390 pixels.
    """
    result = checked(owner.post("/api/v1/deals", json={"name": "New deal"}))["id"]
    visit = visits(NARROW)
    page = visit.page
    visit.sign_in(owner, f"/deals/{result}")
    expect(page.get_by_role("heading", name="No month yet")).to_be_visible()
    visit.check_accessible("a deal without a month")
    book = printed_month(owner, result)
    page.reload()
    expect(page.get_by_role("heading", name="Not run yet")).to_be_visible()
    visit.go(f"/deals/{result}/compliance?workbook={book}&run=now&suite=deal")
    expect(page.get_by_role("group", name="Tests by status")).to_contain_text("without a result")
    expect(page).not_to_have_url(re.compile("run=now"))
    run = checked(owner.get(f"/api/v1/compliance/history?workbook_id={book}"))["items"]
    assert [item["test_suite"] for item in run] == ["deal"]
    _doubts(visit)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    with page.expect_download(timeout=DOCUMENT_MS) as saved:
        page.get_by_role("button", name="PDF").click()
        expect(page.get_by_text("Making the PDF")).to_be_visible()
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF")


def _doubts(visit: Visit) -> None:
    page = visit.page
    row = row_of(page, "Moody's weighted average rating factor")
    expect(row).to_contain_text("doubtful")
    expect(row).to_contain_text("3,100")
    row.click()
    box = panel(page).bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    expect(panel(page)).to_contain_text("The status may be wrong")
    expect(panel(page)).to_contain_text("The trustee prints 3,100, fail")
    visit.check_accessible("a doubtful figure")
    page.get_by_role("button", name="Close (Esc)").click()
    page.get_by_role("button", name="without a result").click()
    expect(rows_of(page).first).to_contain_text("no result")


def test_a_viewer_sees_no_button_that_fails(owner: Member, deal: dict[str, Any], visits: Visits) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner.invite("viewer"), f"/deals/{deal['id']}/compliance?test={CCC}&run=now")
    expect(panel(page)).to_contain_text("add up to the numerator")
    expect(page).not_to_have_url(re.compile("run=now"))
    assert page.get_by_role("button", name=re.compile("Run|PDF|Add a file|limit")).count() == 0
    page.keyboard.press("e")
    expect(panel(page).get_by_label("Limit")).to_have_count(0)
    visit.go(f"/deals/{deal['id']}/compliance?test=oc_ratio")
    expect(panel(page)).to_contain_text("1 to 50 of 204")
    expect(panel(page)).to_contain_text("Principal cash")
    panel(page).get_by_role("button", name="More").click()
    expect(panel(page)).to_contain_text("51 to 100 of 204")
    assert "part=50" in page.url
    panel(page).get_by_role("button", name="Before").click()
    expect(panel(page)).to_contain_text("1 to 50 of 204")
    assert visit.statuses == []
