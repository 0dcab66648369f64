"""The loans of a workbook.

Conditions, order, columns, copies and files; a hundred thousand of them without a halt.
"""

from __future__ import annotations

import csv
from typing import Any, Final

from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.seeds import parsed
from tests.programs.console.smooth import RUNS, check_smooth

HEADER: Final = "LoanX ID,Borrower,Par Amount,Spread,Moody's Rating,Maturity Date,Comment"
RATINGS: Final = ("B1", "B2", "B3", "Caa1")
SMALL: Final = 40
MANY: Final = 100_000
NAMES: Final = {0: '"=HYPERLINK(""x"")"', 1: '"Alpha, Inc."', 3: '"""=1+2"""'}
"""Borrowers that a spreadsheet would run, or cut in two."""
PAGE_PX: Final = 1_000 * 30
"""Height of the loans that are read at once."""


def deal_of_loans(member: Member, count: int) -> dict[str, str]:
    """A deal with one month of so many loans; {"id", "workbook"}."""
    lines = [HEADER]
    for at in range(count):
        spread = "" if at == 2 else 300.5 + at % 400
        name = NAMES.get(at, f"Borrower {at}")
        lines.append(f"LX{100_000 + at},{name},{1_000_000 + at},{spread},{RATINGS[at % 4]},{2028 + at % 6}-06-30,+1")
    deal = checked(member.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    files = {"files": ("loans.csv", "\n".join(lines).encode())}
    sent = checked(member.post(f"/api/v1/deals/{deal}/files", files=files, data={"as_of": "2026-06-30"}))
    assert parsed(member, sent["id"])["status"] == "ready"
    return {"id": deal, "workbook": sent["id"]}


def test_loans_are_chosen_ordered_copied_and_saved(visits: Visits, owner: Member) -> None:
    deal = deal_of_loans(owner, SMALL)
    desk = visits()
    desk.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal['id']}/loans")
    rows = page.locator(".grid-body .grid-row")
    heads = page.get_by_role("columnheader")
    expect(heads).to_have_text(["Row", "Borrower", "Par", "Spread (bps)", "Maturity", "Moody's rating", "Defaulted"])
    expect(rows.nth(0)).to_have_text('2=HYPERLINK("x")1,000,000300.52028-06-30B1No')
    expect(rows.nth(2).locator("[role=cell]").nth(3)).to_have_text("–")
    status = page.locator(".banner")
    expect(status).to_have_text(f"{SMALL} loanspar {SMALL * 1_000_000 + sum(range(SMALL)):,} ")
    desk.check_accessible("loans")

    page.keyboard.press("/")
    page.get_by_label("Field", exact=True).select_option(label="Spread (bps)")
    page.get_by_label("Value", exact=True).fill("320")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(status).to_contain_text("20 loansof 40")
    page.get_by_label("Field", exact=True).select_option(label="Moody's rating")
    page.get_by_label("Condition", exact=True).select_option(label="worse than")
    page.get_by_label("Value", exact=True).fill("B2")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(status).to_contain_text("10 loansof 40")
    page.get_by_role("button", name="Spread (bps)").click()
    page.get_by_role("button", name="Spread (bps)").click()
    expect(heads.nth(3)).to_have_attribute("aria-sort", "descending")
    expect(rows.nth(0)).to_contain_text("Borrower 39")
    address = page.url
    assert address.endswith("filter=spread%3Age%3A320%2Crating_agency_a%3Agt%3AB2&sort=-spread")
    desk.check_accessible("chosen loans")

    page.get_by_role("button", name="Columns").click()
    desk.check_accessible("the choice of columns")
    for name in ("Par", "Maturity", "Moody's rating", "Defaulted"):
        page.get_by_role("dialog").get_by_label(name, exact=True).uncheck()
    page.get_by_role("button", name="Done").click()
    expect(heads).to_have_text(["Row", "Borrower", "Spread (bps) ↓"])
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("10 loans copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert copied[:2] == ["Borrower\tSpread (bps)", "Borrower 39\t339.5"]
    assert len(copied) == 11

    page.get_by_role("button", name="Spread ≥ 320").click()
    expect(status).to_contain_text("20 loansof 40")
    page.go_back()
    expect(status).to_contain_text("10 loansof 40")
    page.get_by_role("button", name="Spread ≥ 320").click()
    page.get_by_role("button", name="Moody's rating worse than B2").click()
    expect(status).to_contain_text(f"{SMALL} loans")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text(f"{SMALL} loans copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert {'\'=HYPERLINK("x")\t300.5', '"""=1+2"""\t303.5'} < set(copied)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == "Example CLO VIII loans 2026-06-30.csv"
    with open(download.value.path(), encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["Borrower", "Spread (bps)"]
    assert len(lines) == SMALL + 1
    assert ['\'=HYPERLINK("x")', "300.5"] in lines
    assert ["Alpha, Inc.", "301.5"] in lines
    assert ['"=1+2"', "303.5"] in lines
    rows.nth(0).get_by_role("link").click()
    page.locator(".picture").wait_for()
    expect(page.locator(".picture tr", has=page.locator("[aria-current]"))).to_contain_text("Borrower 39")


def test_a_viewer_looks_for_loans_on_a_telephone(visits: Visits, owner: Member) -> None:
    deal = deal_of_loans(owner, SMALL)
    phone = visits(NARROW)
    page = phone.page
    place = f"/deals/{deal['id']}/loans"
    phone.sign_in(owner.invite("viewer"), f"{place}?filter=spread:eq:")
    expect(page.locator(".banner")).to_contain_text("1 loanof 40")
    expect(page.get_by_role("button", name="Spread is blank")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    phone.check_accessible("loans on a telephone")
    page.get_by_label("Field", exact=True).select_option(label="Borrower")
    page.get_by_label("Value", exact=True).fill("nobody")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="No loan meets the conditions")).to_be_visible()
    page.get_by_role("button", name="Take all conditions away").click()
    expect(page.locator(".banner")).to_contain_text("40 loans")
    phone.expect("422")
    phone.go(f"{place}?filter=spread:ge:much")
    expect(page.get_by_role("alert")).to_contain_text("'much' is no number, as spread is")
    phone.check_accessible("a condition that is none")
    page.get_by_role("button", name="Spread ≥").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_hundred_thousand_loans_move_without_a_halt(visits: Visits, owner: Member) -> None:
    deal = deal_of_loans(owner, MANY)
    desk = visits()
    page = desk.page
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.url) if "/loans?" in request.url else None)
    desk.sign_in(owner, f"/deals/{deal['id']}/loans")
    rows = page.locator(".grid-body .grid-row")
    expect(rows.first).to_contain_text("HYPERLINK")
    pages = [(3 * at * PAGE_PX, 3 * (at + 1) * PAGE_PX) for at in range(RUNS)]
    check_smooth(page, "loans of three pages", ".grid-scroll", pages)
    check_smooth(page, f"{MANY:,} loans", ".grid-scroll")
    expect(rows.last).to_contain_text(f"Borrower {MANY - 1}")
    assert rows.count() < 60, "rows in sight only"
    assert len(asked) < 40, "a page that is passed quickly is not read"
    desk.expect("500")
    page.route("**/loans?*offset=70000*", lambda route: route.fulfill(status=500, json={"detail": "Broken"}))
    asked.clear()
    page.locator(".grid-scroll").evaluate("frame => { frame.scrollTop = 70_500 * 30; }")
    expect(page.get_by_role("alert")).to_contain_text("Broken")
    page.unroute("**/loans?*offset=70000*")
    assert len(asked) == 1, "not asked again by itself"
    page.get_by_role("button", name="Try again").click()
    expect(rows.filter(has_text="Borrower 70510")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.locator(".grid-scroll").evaluate("frame => { frame.scrollTop = 41_234 * 30; }")
    expect(rows.filter(has_text="Borrower 41240")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    with open(download.value.path(), encoding="utf-8-sig", newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == MANY + 1
