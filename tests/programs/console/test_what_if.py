"""A ticket of trades with every test before and after, in a browser."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Locator, Page, Request, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visit, Visits, checked
from tests.programs.console.seeds import deal_with_months

LARGE: Final = 40_000_000.0
"""Par of one borrower that more than one concentration limit does not bear."""

OPTIMISER_MS: Final = 60_000


def trade(page: Page, place: int) -> Locator:
    return page.get_by_role("group", name=f"Trade {place}", exact=True)


def rows_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Tests before and after").locator("tbody tr")


def count_previews(page: Page) -> list[int]:
    """How many previews were under way when each one began, itself counted."""
    under_way: set[Request] = set()
    counts: list[int] = []

    def begin(request: Request) -> None:
        if request.url.endswith("/scenarios/preview"):
            under_way.add(request)
            counts.append(len(under_way))

    def end(request: Request) -> None:
        under_way.discard(request)

    page.on("request", begin)
    page.on("requestfinished", end)
    page.on("requestfailed", end)
    return counts


def preview(owner: Member, book: str, *trades: dict[str, Any]) -> dict[str, Any]:
    body = {"base_workbook_id": book, "trades": trades}
    answer: dict[str, Any] = checked(owner.post("/api/v1/scenarios/preview", json=body))
    return answer


def test_a_ticket_is_tried_kept_and_improved(owner: Member, visits: Visits) -> None:
    deal = deal_with_months(owner, months=1)
    book = deal["workbooks"][0]
    visit = visits()
    page = visit.page
    counts = count_previews(page)
    visit.sign_in(owner, f"/deals/{deal['id']}/what-if")
    expect(rows_of(page)).to_have_count(len(preview(owner, book)["results"]))
    expect(page.locator(".banner")).to_contain_text("No new failure")
    sold = _sell(owner, page, book)
    _buy(owner, page, book, sold)
    assert max(counts) == 1, "one preview is under way at a time"
    assert len(counts) < 12, "and a key is not a preview"
    page.reload()
    expect(trade(page, 2).get_by_label("Borrower")).to_have_value("New Borrower LLC")
    _refuse(visit)
    scenario = _keep(owner, visit, book)
    _propose(owner, visit, book)
    _reopen(owner, visits, deal, scenario)
    _tidy(owner, page, scenario)


def _sell(owner: Member, page: Page, book: str) -> dict[str, Any]:
    """A loan that is held is found by a part of its name."""
    query = "fields=borrower_name,cusip,par_value,price&filter=borrower_name:contains:bra&limit=8"
    columns = checked(owner.get(f"/api/v1/workbooks/{book}/loans?{query}"))["columns"]
    page.get_by_role("button", name="Add a sale").click()
    form = trade(page, 1)
    form.get_by_label("Borrower").press_sequentially("bra", delay=20)
    names = [f"{name} {cusip}" for name, cusip in zip(columns["borrower_name"], columns["cusip"], strict=True)]
    expect(form.locator("datalist option")).to_have_count(len(names))
    assert form.locator("datalist option").evaluate_all("all => all.map((one) => one.value)") == names
    form.get_by_label("Borrower").fill(names[0])
    expect(form.get_by_label("Borrower")).to_have_value(columns["borrower_name"][0])
    expect(form).to_contain_text(columns["cusip"][0])
    expect(form.get_by_label("Par", exact=True)).to_have_value(f"{columns['par_value'][0]:.0f}")
    expect(form.get_by_label("Price")).to_have_value(f"{columns['price'][0]:g}")
    form.get_by_label("Par", exact=True).fill("")
    form.get_by_label("Par", exact=True).press_sequentially("500000", delay=20)
    return {"trade_type": "sell", "cusip": columns["cusip"][0], "par_value": 500_000, "price": columns["price"][0]}


def _buy(owner: Member, page: Page, book: str, sold: dict[str, Any]) -> None:
    """A loan is described.

    Tests whose status turns come first, with the figures of the service.
    """
    bought = {"trade_type": "buy", "borrower_name": "New Borrower LLC", "par_value": LARGE, "rating_agency_a": "Caa1"}
    page.get_by_role("button", name="Add a purchase").click()
    form = trade(page, 2)
    form.get_by_label("Borrower").fill("New Borrower LLC")
    form.get_by_label("Par", exact=True).fill(f"{LARGE:.0f}")
    form.get_by_text("The loan's terms").click()
    form.get_by_label("Moody's").fill("Caa1")
    words = preview(owner, book, sold, bought)
    assert words["new_failures"] > 1
    expect(page.locator(".banner")).to_contain_text(f"{words['new_failures']} new failures")
    expect(page.locator(".banner")).to_contain_text(f"{words['impact_summary']['worsen']} worsen")
    turned = [result for result in words["results"] if result["status_current"] != result["status_projected"]]
    marked = page.locator("tbody tr.selected")
    expect(marked).to_have_count(len(turned))
    first = next(item for item in turned if item["status_projected"] == "fail")
    row = rows_of(page).first
    expect(row.locator("td").first).to_have_text(first["test_name"])
    expect(row).to_contain_text(re.compile(rf"{first['status_current']}\s*→.*fail"))
    figures = [f"{first[name]:.{first['decimals']}f} %" for name in ("current_value", "projected_value")]
    assert [cell.strip() for cell in row.locator("td.number").all_inner_texts()[:2]] == figures


def _refuse(visit: Visit) -> None:
    """A trade that cannot be made says so at its place."""
    page = visit.page
    visit.expect("status of 400")
    par = trade(page, 1).get_by_label("Par", exact=True)
    par.fill("900000000")
    expect(trade(page, 1).get_by_role("alert")).to_contain_text("held")
    expect(trade(page, 2).get_by_role("alert")).to_have_count(0)
    visit.check_accessible("a ticket with a fault")
    par.fill("500000")
    expect(page.get_by_role("alert")).to_have_count(0)


def _keep(owner: Member, visit: Visit, book: str) -> str:
    page = visit.page
    assert page.get_by_role("button", name="Headroom").count() == 0, "the service wants a scenario for it"
    page.get_by_role("button", name="Keep as a scenario").click()
    page.get_by_label("Name", exact=True).fill("Larger position")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Headroom of trade 1").wait_for()
    [scenario] = checked(owner.get("/api/v1/scenarios"))["items"]
    assert (scenario["name"], scenario["trade_count"], scenario["base_workbook_id"]) == ("Larger position", 2, book)
    expect(page).to_have_url(re.compile(f"scenario={scenario['id']}"))
    trades = checked(owner.get(f"/api/v1/scenarios/{scenario['id']}/trades"))
    query = f"trade_id={trades[1]['id']}"
    tests = checked(owner.get(f"/api/v1/scenarios/{scenario['id']}/headroom?{query}"))["tests"]
    page.get_by_role("button", name="Headroom of trade 2").click()
    box = page.get_by_role("dialog", name="Headroom")
    expect(box).to_contain_text("may be bought of New Borrower LLC")
    shown = box.locator("tbody tr td.number").all_inner_texts()
    assert len(shown) == len(tests)
    left = sorted(test["headroom"] for test in tests if test["headroom"] is not None)
    assert [text for text in shown if text[0].isdigit()] == [f"{par:,.0f}" for par in left]
    assert shown.count("any") == sum(test["headroom"] is None for test in tests)
    visit.check_accessible("headroom")
    page.keyboard.press("Escape")
    identity: str = scenario["id"]
    return identity


def _propose(owner: Member, visit: Visit, book: str) -> None:
    """What the optimiser proposes comes into the ticket and is tried at once."""
    page = visit.page
    page.get_by_label("Test to improve").select_option(label="Largest obligor")
    page.get_by_label("Other tests").select_option("maintain")
    page.get_by_label("Trades at most").fill("1")
    with page.expect_response(re.compile("/optimize"), timeout=OPTIMISER_MS) as answered:
        page.get_by_role("button", name="Propose").click()
    proposed = answered.value.json()
    asked = answered.value.request.post_data_json or {}
    assert asked["constraints"] == {"tests": "maintain", "max_trades": 1, "max_turnover": None, "allow_sells": True}
    [first] = proposed["trades"]
    banner = page.locator(".banner[role=status]")
    expect(banner).to_contain_text("1 trade: cushion from")
    banner.get_by_role("button", name="Take into the ticket").click()
    expect(trade(page, 3).get_by_label("Side")).to_have_value(first["trade_type"])
    query = f"fields=borrower_name&filter=cusip:eq:{first['cusip']}"
    [name] = checked(owner.get(f"/api/v1/workbooks/{book}/loans?{query}"))["columns"]["borrower_name"]
    expect(trade(page, 3).get_by_label("Borrower")).to_have_attribute("placeholder", name)
    expect(trade(page, 3)).to_contain_text(first["cusip"])
    expect(page.get_by_role("button", name="Headroom")).to_have_count(0)


def _reopen(owner: Member, visits: Visits, deal: dict[str, Any], scenario: str) -> None:
    """A viewer on a telephone opens what was kept by its address, and sees no button that fails."""
    visit = visits(NARROW)
    page = visit.page
    visit.sign_in(owner.invite("viewer"), f"/deals/{deal['id']}/what-if?scenario={scenario}")
    expect(trade(page, 2).get_by_label("Borrower")).to_have_value("New Borrower LLC")
    page.get_by_role("button", name="Headroom of trade 1").wait_for()
    expect(page.locator(".banner")).to_contain_text("new failures")
    assert page.get_by_role("button", name=re.compile("Keep|Rename|Delete|Propose|Add a file")).count() == 0
    visit.check_accessible("a what-if on a telephone")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.get_by_role("button", name="Remove trade 2").click()
    expect(page.locator("fieldset.trade")).to_have_count(1)
    page.get_by_role("button", name="Clear the ticket").click()
    expect(page).not_to_have_url(re.compile("scenario="))
    expect(page.locator(".banner")).to_contain_text("0 worsen")
    assert visit.statuses == []


def _tidy(owner: Member, page: Page, scenario: str) -> None:
    """The longer ticket is kept beside the first one, which is renamed, then deleted."""
    page.get_by_role("button", name="Keep as a scenario").click()
    page.get_by_label("Name", exact=True).fill("Three trades")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Headroom of trade 3").wait_for()
    expect(page).not_to_have_url(re.compile(f"scenario={scenario}"))
    page.get_by_role("button", name="Rename Larger position").click()
    page.get_by_label("Name", exact=True).fill("Two trades")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Two trades", exact=True).click()
    expect(page.locator("fieldset.trade")).to_have_count(2)
    kept = checked(owner.get("/api/v1/scenarios"))["items"]
    assert {item["name"]: item["trade_count"] for item in kept} == {"Three trades": 3, "Two trades": 2}
    page.get_by_role("button", name="Delete Two trades").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="Delete Two trades")).to_have_count(0)
    assert [item["name"] for item in checked(owner.get("/api/v1/scenarios"))["items"]] == ["Three trades"]
    expect(trade(page, 2)).to_be_visible()


def test_a_deal_without_a_month_says_the_next_step(owner: Member, visits: Visits) -> None:
    deal = checked(owner.post("/api/v1/deals", json={"name": "Example CLO IX"}))["id"]
    visit = visits()
    visit.sign_in(owner, f"/deals/{deal}/what-if")
    expect(visit.page.get_by_role("heading", name="No month to trade on")).to_be_visible()
    visit.check_accessible("a what-if without a month")
