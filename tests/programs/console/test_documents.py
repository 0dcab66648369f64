"""A trustee's report as a PDF, dropped on the console: page and line stand in mapping, drill and tie-out."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import Visits
from tests.programs.console.test_deals import drop
from tests.report_pdf import draw_report

NAME: Final = "Alder Park CLO 4 2024-09-30.pdf"


def tab(page: Page, name: str) -> None:
    """Go to another screen of the deal."""
    page.get_by_role("navigation", name="Deal", exact=True).get_by_role("link", name=name, exact=True).click()


def test_a_report_is_dropped_mapped_and_drilled(visits: Visits, owner: Member) -> None:
    drawn = draw_report(30)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/deals")
    drop(page, **{NAME: drawn.data})
    dialog = page.get_by_role("dialog", name=NAME)
    expect(dialog.get_by_label("Month of a deal")).to_be_checked()
    dialog.get_by_role("button", name="Add").click()
    page.wait_for_url("**/compliance?workbook=*")
    page.get_by_role("button", name="CCC/Caa bucket", exact=True).click()
    panel = page.locator("aside.drill")
    place = "'Compliance Tests'!B5 (page 1, line 5)"
    expect(panel.get_by_role("link", name=place).first).to_be_visible()
    parts = panel.get_by_role("region", name="What is behind CCC/Caa bucket").locator("tbody tr")
    for loan in (loan for loan in drawn.loans if loan.rating == "Caa1"):
        expect(parts.filter(has_text=loan.borrower)).to_contain_text(f"page {loan.page}, line {loan.line}")
    desk.check_accessible("the drill of a report with pages")
    first = next(loan for loan in reversed(drawn.loans) if loan.rating == "Caa1")
    panel.get_by_role("link", name=first.borrower).click()
    page.wait_for_url("**/mapping?*")
    sheets = page.get_by_role("navigation", name="Sheets")
    expect(sheets.get_by_role("button", name="Schedule of Investments")).to_contain_text("pages 2–4")
    cell = page.locator("td[aria-current=true]")
    expect(cell).to_have_text(f"{first.par:,.2f}")
    expect(cell.locator("xpath=..").get_by_role("rowheader")).to_have_attribute(
        "title", f"page {first.page}, line {first.line}"
    )
    desk.check_accessible("the mapping of a report with pages")
    tab(page, "Tie-out")
    expect(page.locator("tbody tr").filter(has_text="Maximum Caa Obligations")).to_contain_text(place)
    desk.check_clean()
