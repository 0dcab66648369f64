"""The screen of all deals.

Their order and figures, a new one, a file dropped anywhere, five hundred of them.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from playwright.sync_api import Page, expect

from tests.conftest import Member, Stack
from tests.programs.console.conftest import NARROW, Visits
from tests.programs.console.seeds import deal_with_months, month_file, tape_file
from tests.programs.console.smooth import check_smooth
from tests.service.console.test_overview_routes import DEALS
from tests.service.console.test_overview_routes import _copies as copy_deals

DROP: Final = """([files]) => {
  const carried = new DataTransfer();
  for (const [name, content] of files) {
    carried.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name));
  }
  for (const type of ["dragenter", "dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


def drop(page: Page, **files: bytes) -> None:
    """Drop files onto the page, as from the desktop."""
    page.evaluate(DROP, [[[name, b64encode(content).decode()] for name, content in files.items()]])


def rows_of(page: Page) -> list[list[str]]:
    """The texts of the cells of the table's rows."""
    rows = page.locator("tbody tr").all()
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]


def test_deals_show_their_figures_with_the_thinnest_cushion_first(visits: Visits, owner: Member) -> None:
    deal_with_months(owner, "Quiet CLO I", months=1, seed=9)
    fails = deal_with_months(owner, "Example CLO VIII", months=2)
    owner.post("/api/v1/deals", json={"name": "Empty CLO", "next_payment_date": "2026-07-15"})
    first = owner.get("/api/v1/console/overview").json()["items"][0]
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/deals")
    expect(page.get_by_role("heading", name="Deals")).to_be_visible()
    page.get_by_role("row", name="Empty CLO").wait_for()
    shown = rows_of(page)
    assert [row[0].split("\n")[0] for row in shown][2] == "Empty CLO"
    assert {row[0] for row in shown[:2]} == {"Quiet CLO I", "Example CLO VIII"}
    thinnest = first["latest"]["thinnest"]
    assert shown[0][0] == first["name"]
    assert shown[0][1:4] == ["2026-06-30", str(first["latest"]["failed"]), str(first["latest"]["warnings"])]
    assert shown[0][5] == thinnest["test_name"]
    assert shown[0][6] == f"−{-thinnest['cushion']:.{thinnest['decimals']}f} %"
    assert shown[2][5] == "no file yet"
    assert shown[2][-1] == "2026-07-15"
    mark = page.locator("tbody tr").first.locator("svg.bullet.fail")
    assert mark.get_attribute("aria-label") == f"−{-thinnest['cushion_pct']:.1f} % of the limit"
    line = page.locator("tbody tr", has_text="Example CLO VIII").locator("svg.sparkline")
    assert "2026-05-31: " in (line.get_attribute("aria-label") or "")
    desk.check_accessible("deals")

    page.get_by_role("button", name="Not run 1").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.url.endswith("/deals?only=none")
    page.reload()
    expect(page.get_by_role("button", name="Not run 1")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All 3").click()
    page.get_by_role("link", name="Example CLO VIII", exact=True).click()
    page.wait_for_url(f"**/deals/{fails['id']}/compliance")
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(3)

    page.keyboard.press("n")
    page.get_by_label("Name").fill("New CLO II")
    page.get_by_label("Currency").fill("eu")
    desk.expect("422")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("small.fault")).to_have_count(1)
    desk.check_accessible("a new deal with a fault")
    page.get_by_label("Currency").fill("eur")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/compliance")
    item = owner.get("/api/v1/deals", params={"search": "New CLO II"}).json()["items"][0]
    assert (item["currency"], item["id"] in page.url) == ("EUR", True)


def test_a_deal_that_is_not_there_leads_to_the_others(visits: Visits, owner: Member) -> None:
    visit = visits()
    visit.expect("404 (Not Found)", "422 (Unprocessable")
    for address in (f"/deals/{owner.user_id}/compliance", "/deals/nonsense/loans"):
        visit.sign_in(owner, address)
        expect(visit.page.get_by_role("heading", name="There is no such deal")).to_be_visible()
        visit.page.get_by_role("main").get_by_role("link", name="All deals").click()
        expect(visit.page.get_by_role("heading", name="Deals", exact=True)).to_be_visible()


def test_a_viewer_on_a_telephone_sees_the_deals_and_no_button_that_fails(visits: Visits, owner: Member) -> None:
    viewer = owner.invite("viewer")
    phone = visits(NARROW)
    page = phone.page
    phone.sign_in(viewer, "/deals")
    expect(page.get_by_text("An analyst of your organisation adds the first one.")).to_be_visible()
    phone.check_accessible("no deals")
    for name in ("Example CLO VIII with a name as long as an indenture's", "Other CLO"):
        owner.post("/api/v1/deals", json={"name": name})
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    expect(page.get_by_role("button", name="New deal")).to_have_count(0)
    expect(page.get_by_role("button", name="Add a file")).to_have_count(0)
    drop(page, **{"Other CLO.xlsx": b"none"})
    expect(page.get_by_role("radio")).to_have_count(1)
    expect(page.get_by_label("Export of Cushion, to verify")).to_be_checked()
    phone.check_accessible("the choice of a viewer")


def test_a_dropped_file_becomes_what_is_likeliest(visits: Visits, owner: Member) -> None:
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/deals")
    drop(page, **{"Example_CLO_VIII-2026-05-31.xlsx": month_file(7)})
    dialog = page.get_by_role("dialog", name="Example_CLO_VIII-2026-05-31.xlsx")
    expect(dialog.get_by_label("Month of a deal")).to_be_checked()
    expect(dialog.get_by_label("Name of the deal")).to_have_value("Example CLO VIII")
    desk.check_accessible("the choice of a file")
    dialog.get_by_label("As of").fill("2026-05-31")
    dialog.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Reading Example_CLO_VIII-2026-05-31.xlsx")).to_be_visible()
    page.wait_for_url("**/compliance?workbook=*")
    deal = owner.get("/api/v1/deals").json()["items"][0]
    assert (deal["name"], deal["latest"]["as_of"]) == ("Example CLO VIII", "2026-05-31")
    other_body = owner.post("/api/v1/deals", json={"name": "Other CLO I"}).json()

    page.evaluate("location.hash = '#/deals'")
    drop(page, **{"other i statement 20260630.xlsx": tape_file(7)})
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Trustee's tape")).to_be_checked()
    expect(dialog.get_by_label("Deal", exact=True)).to_have_value(other_body["id"])
    expect(dialog.get_by_label("Statement date")).to_have_value("2026-06-30")
    expect(dialog.get_by_role("combobox", name="Trustee").locator("option").first).to_have_text("Trustee A")
    dialog.get_by_role("combobox", name="Trustee").select_option(label="Trustee B")
    dialog.get_by_role("button", name="Add").click()
    page.evaluate("location.hash = '#/account'")
    note = page.locator(".notice", has_text="other i statement 20260630.xlsx is there")
    note.get_by_role("button", name="Close").click()
    assert page.url.endswith("#/account")
    tape = owner.get("/api/v1/reconciliation/tapes").json()["items"][0]
    named = ("deal_id", "trustee_name", "statement_date", "processing_status")
    assert [tape[name] for name in named] == [other_body["id"], "trustee_b", "2026-06-30", "completed"]
    page.evaluate("location.hash = '#/deals'")
    drop(page, **{"cushion-export.xlsx": b"none"})
    expect(page.get_by_label("Export of Cushion, to verify")).to_be_checked()
    page.keyboard.press("Escape")

    drop(page, **{"a 2026-01-31.xlsx": month_file(7), "a 2026-02-28.xlsx": month_file(9)})
    dialog = page.get_by_role("dialog", name="2 files")
    expect(dialog.get_by_label("Months of a deal")).to_be_checked()
    dialog.get_by_label("Deal", exact=True).select_option(label="Other CLO I")
    dialog.get_by_role("button", name="Add").click()
    page.wait_for_url(f"**/deals/{other_body['id']}/compliance", wait_until="commit")
    shown = owner.get("/api/v1/console/overview").json()["items"]
    [months] = [deal["months"] for deal in shown if deal["id"] == other_body["id"]]
    assert [month["as_of"] for month in months] == ["2026-01-31", "2026-02-28"]
    assert None not in [month["run_id"] for month in months]
    expect(page.locator("nav.side").get_by_text("Other CLO I")).to_contain_text("2026-02-28")


def test_a_file_that_cannot_be_read_says_so_and_makes_one_deal_only(visits: Visits, owner: Member) -> None:
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/deals")
    desk.expect("400")
    drop(page, **{"broken.doc": b"no workbook"})
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.locator(".problem")).to_contain_text("Request ")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_label("Deal", exact=True).locator("option:checked")).to_have_text("broken")
    expect(dialog.locator(".problem")).to_contain_text("Request ")
    assert [deal["name"] for deal in owner.get("/api/v1/deals").json()["items"]] == ["broken"]
    page.keyboard.press("Escape")
    drop(page, **{"broken.xlsx": b"no workbook"})
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.locator(".notice.bad")).to_contain_text("broken.xlsx could not be read: ")
    deal = owner.get("/api/v1/deals", params={"search": "broken"}).json()["items"][0]["id"]
    page.evaluate("(id) => { location.hash = `#/deals/${id}/settings`; }", deal)
    page.get_by_text("1 file could not be read").click()
    desk.check_accessible("a file that could not be read")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the file").click()
    expect(page.get_by_text("1 file could not be read")).to_have_count(0)
    assert owner.get("/api/v1/workbooks").json()["total"] == 0


def test_five_hundred_deals_scroll_without_a_long_task(visits: Visits, owner: Member, service: Stack) -> None:
    seeded = deal_with_months(owner, "First CLO", months=1)
    copy_deals(service, owner, seeded["id"], seeded["workbooks"][0], seeded["run"]["id"])
    desk = visits()
    desk.sign_in(owner, "/deals")
    expect(desk.page.locator("tbody tr")).to_have_count(DEALS + 1)
    desk.page.wait_for_load_state("networkidle")
    assert desk.page.evaluate("document.documentElement.scrollHeight") > DEALS * 20, "all deals are drawn"
    check_smooth(desk.page, f"{DEALS} deals")
    desk.page.keyboard.press("/")
    desk.page.keyboard.type("deal 77")
    expect(desk.page.locator("tbody tr")).to_have_count(1)
    assert desk.page.url.endswith("/deals?q=deal+77")
