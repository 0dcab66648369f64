"""Why tests moved between two months, in a browser."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visit, Visits, checked
from tests.programs.console.seeds import deal_with_months

CCC: Final = "ccc_bucket_pct"


def rows_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Movements", exact=True).locator("tbody tr")


def test_an_analyst_sees_why_a_test_moved(owner: Member, visits: Visits) -> None:
    deal = deal_with_months(owner)
    visit = visits()
    page = visit.page
    visit.sign_in(owner, f"/deals/{deal['id']}/movements")
    first, second = deal["workbooks"]
    query = f"from={first}&to={second}&test_suite=enhanced"
    items = {
        item["test_id"]: item for item in checked(owner.get(f"/api/v1/deals/{deal['id']}/movements?{query}"))["items"]
    }
    moved = [item for item in items.values() if item["change"]]
    expect(page.get_by_text(f"{len(moved)} tests moved")).to_be_visible()
    expect(rows_of(page)).to_have_count(len(moved))
    expect(rows_of(page).first).to_contain_text("5.34 %")
    page.get_by_role("button", name=f"{len(items) - len(moved)} did not").click()
    expect(rows_of(page)).to_have_count(len(items))
    _waterfall(visit)
    _choose_months(page, first, second)


def _waterfall(visit: Visit) -> None:
    """The parts stand between the two figures, and the loans that weigh most below them."""
    page = visit.page
    page.get_by_role("button", name="CCC/Caa bucket").click()
    assert f"test={CCC}" in page.url
    panel = page.locator("aside.drill")
    bars = panel.locator("table.waterfall tr")
    assert [row.split("\t")[::2] for row in bars.all_inner_texts()] == [
        ["2026-05-31", "5.34 %"],
        ["Ratings", "+5.79 %"],
        ["2026-06-30", "11.13 %"],
    ]
    edges = [_edges(bar) for bar in bars.locator("rect").all()]
    assert abs(edges[0][1] - edges[1][0]) < 1, "the part begins where the first figure ends"
    assert abs(edges[1][1] - edges[2][1]) < 1, "and ends where the last one does"
    loans = panel.get_by_role("region", name="Loans of Ratings")
    expect(loans.locator("tbody tr")).to_have_count(5)
    visit.check_accessible("a movement")
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="WARF")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def _edges(bar: Locator) -> tuple[float, float]:
    box = bar.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


def _choose_months(page: Page, first: str, second: str) -> None:
    """The months stand in the address; backwards, the changes have the other sign."""
    page.get_by_label("From").select_option(second)
    page.get_by_label("To").select_option(first)
    expect(rows_of(page).first).to_contain_text("−5.79 %")
    assert f"from={second}" in page.url
    assert f"to={first}" in page.url


def test_a_viewer_on_a_narrow_page(owner: Member, visits: Visits) -> None:
    deal = deal_with_months(owner, months=1)
    visit = visits(NARROW)
    page = visit.page
    visit.sign_in(owner.invite("viewer"), f"/deals/{deal['id']}/movements")
    expect(page.get_by_role("heading", name="Two months are needed")).to_be_visible()
    assert page.get_by_role("button", name="Add a file").count() == 0
    visit.check_accessible("one month only")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
