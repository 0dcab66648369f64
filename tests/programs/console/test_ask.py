"""Questions on a deal and on the chosen workbooks, figures that lead to where they come from, insights."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits
from tests.programs.console.seeds import deal_with_months


def test_a_question_on_a_deal(visits: Visits, owner: Member) -> None:
    deal = deal_with_months(owner, months=1)["id"]
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/ask")
    page.get_by_label("Your question").fill("What is the total par?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answer = page.locator("article")
    expect(answer).to_contain_text("Par of the portfolio")
    expect(answer.locator("tbody tr").first).to_be_visible()
    desk.check_accessible("an answer")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    cell = answer.locator("a.cell-link").first
    expect(cell).to_have_attribute("href", re.compile(rf"#/deals/{deal}/mapping\?workbook=.+&cell="))
    page.get_by_label("Your question").fill("Which tests fail?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article")).to_have_count(2)
    test = answer.first.get_by_role("link", name="Test").first
    expect(test).to_have_attribute("href", re.compile(rf"#/deals/{deal}/compliance\?workbook=.+&test="))
    page.get_by_label("Your question").fill("Who will win the cup?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article")).to_have_count(3)
    page.locator("article").first.locator("button.pill").first.click()
    expect(page.locator("article")).to_have_count(4)


def test_insights_of_the_chosen_workbooks(visits: Visits, owner: Member) -> None:
    deal_with_months(owner, months=1)
    desk = visits()
    page = desk.page
    desk.expect("404")  # nobody had insights made yet
    desk.sign_in(owner, "/ask")
    expect(page.get_by_text("No workbook is chosen yet. Choose below")).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_count(0)
    page.get_by_label("Example CLO VIII 2026-06-30.xlsx").check()
    page.get_by_role("button", name="Make insights").click()
    first = page.locator("details.card").first
    first.locator("summary").click()
    expect(first.locator("tbody tr").first).to_be_visible()
    expect(first.get_by_role("link").first).to_have_attribute("href", re.compile("#/deals/.+(test|cell)="))
    desk.check_accessible("insights")
    page.get_by_role("button", name="From another angle, 3 left").click()
    expect(page.get_by_role("button", name="From another angle, 2 left")).to_be_visible()
    page.get_by_label("Your question").fill("What is the WARF?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article tbody tr").first).to_be_visible()

    reader = visits(NARROW)
    reader.expect("404")
    reader.sign_in(owner.invite("viewer"), "/ask")
    reader.page.locator("details summary").click()
    expect(reader.page.get_by_label("Example CLO VIII 2026-06-30.xlsx")).to_be_disabled()
    reader.check_accessible("questions of a viewer")
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
