"""The mapping of a deal.

The sheet as a picture, a column corrected, what it changes, saved and taken back.
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import Any, Final
from urllib.parse import quote

import xlsxwriter
from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.seeds import parsed
from tests.programs.console.test_tie_out import deal_of_report

HEADER: Final = ("LoanX ID", "Borrower", "Par Amount", "Commitment", "Spread", "Rating", "Moody's Rating", "Comment")
FIRST: Final = 4
"""The row of the first loan."""
RATINGS: Final = ("B1", "B2", "B3", "Caa1")
COUNT: Final = 60
COLUMNS_AT_ONCE: Final = 100
WIDE_SHEET: Final = 108
MARKUP: Final = "=1+1 <b>bold</b>"


@cache
def file_of_two_sheets() -> bytes:
    """Loans under a title, a total below them, a page of countries of which one says something else."""
    stream = BytesIO()
    with xlsxwriter.Workbook(stream) as book:
        sheet = book.add_worksheet("Pool")
        sheet.write(0, 0, "Example CLO VIII, loans of the month")
        sheet.write_row(2, 0, HEADER)
        for at in range(COUNT):
            par = 1_000_000 + 10_000 * at
            row = [
                f"LX{100_000 + at}",
                f"Borrower {at}",
                par,
                par + 90_000 * at,
                350 + at,
                "B",
                RATINGS[at % 4],
                MARKUP,
            ]
            for column, value in enumerate(row):
                write = sheet.write_string if isinstance(value, str) else sheet.write_number
                write(3 + at, column, value)
        sheet.write_row(3 + COUNT, 1, ["Total", sum(1_000_000 + 10_000 * at for at in range(COUNT))])
        page = book.add_worksheet("Countries")
        page.write_row(0, 0, ["LoanX ID", "Country", "Moody's Rating"])
        for at in range(COUNT):
            page.write_row(1 + at, 0, [f"LX{100_000 + at}", "US" if at % 3 else "CA", RATINGS[(at + (at == 5)) % 4]])
    return stream.getvalue()


def deal_of_two_sheets(member: Member, months: int = 2) -> dict[str, Any]:
    """A deal with months of that file; {"id", "workbooks"}."""
    deal = checked(member.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    books = []
    for day in ("2026-05-31", "2026-06-30")[-months:]:
        files = {"files": (f"{day}.xlsx", file_of_two_sheets())}
        sent = checked(member.post(f"/api/v1/deals/{deal}/files", files=files, data={"as_of": day}))
        books.append(parsed(member, sent["id"])["id"])
    checked(member.get(f"/api/v1/workbooks/{books[-1]}/detection"))  # the first one waits for a child process to start
    return {"id": deal, "workbooks": books}


def uncertain_file() -> bytes:
    """Two columns that could both be par; a spread below zero in row 45."""
    lines = ["Borrower,LoanX ID,Drawn Amount Held,Drawn Amount Booked,Spread"]
    for at in range(COUNT):
        par = 1_000_000 + 250_000 * at
        lines.append(f"Borrower {at},LX{100_000 + at},{par},{par * 9 // 10},{-5 if at == 43 else 350}")
    return "\n".join(lines).encode()


def figures_of(member: Member, workbook: str) -> dict[str, float]:
    """The figures of the tests of a workbook, run now."""
    body = {"workbook_id": workbook, "test_suite": "enhanced"}
    run = checked(member.post("/api/v1/compliance/run", json=body))
    return {result["test_id"]: result["current_value"] for result in run["results"]}


def test_a_column_is_corrected_saved_and_taken_back(visits: Visits, owner: Member) -> None:
    deal = deal_of_two_sheets(owner)
    newest = deal["workbooks"][-1]
    before = figures_of(owner, newest)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal['id']}/mapping")
    picture = page.locator(".picture")
    expect(page.locator(".banner")).to_contain_text(f"{COUNT} loanson Pool, rows {FIRST}–{FIRST + COUNT - 1}")
    heads = picture.locator("thead th")
    expect(heads.nth(5)).to_contain_text("Spreadbps")
    expect(heads.nth(7)).to_contain_text("Moody's rating")
    for at, kind in ((1, "fed"), (3, "fed"), (4, "none"), (8, "none")):
        expect(heads.nth(at)).to_have_class(f"{kind}  ")
    rows = picture.locator("tbody tr")
    expect(rows).to_have_count(30)
    expect(rows.nth(2)).to_have_class("header")
    expect(rows.nth(0)).to_have_class("quiet")
    expect(rows.nth(3).locator("td").nth(7)).to_have_text(MARKUP)
    assert "rating_agency_" not in page.locator("main").inner_text()
    about = page.get_by_text("Its loans are read.")
    expect(about).to_contain_text("Rows that are no loans: 1 total rows (row 64).")
    expect(about).to_contain_text("S&P rating")
    desk.check_accessible("the picture of a sheet")

    picture.get_by_role("button", name="D feeds nothing").click()
    panel = page.locator("aside.drill")
    expect(panel).to_contain_text("Par Amount is the preferred name")
    page.get_by_label("Search a field").fill("par")
    page.get_by_label("Search a field").press("Enter")
    changes = page.locator(".corrections tbody tr")
    expect(changes.first).to_be_visible()
    expect(panel).to_contain_text(f"{changes.count()} results change.")
    expect(heads.nth(4)).to_have_class("fed chosen corrected")
    expect(heads.nth(3)).to_have_class("none  ")
    expect(page.locator(".corrections")).to_contain_text("2 months: 2026-06-30, 2026-05-31")
    desk.check_accessible("a correction")
    shown = dict(zip(changes.locator("td:nth-child(1)").all_inner_texts(), changes.all_inner_texts(), strict=True))
    assert checked(owner.get("/api/v1/mappings"))["total"] == 0, "nothing is stored yet"
    page.reload()
    expect(changes.first).to_be_visible()

    page.get_by_role("button", name="Save as the deal's mapping").click()
    expect(page.locator(".corrections")).to_have_count(0)
    expect(page.get_by_role("link", name="Run the tests by the new mapping")).to_be_visible()
    expect(heads.nth(4)).to_have_class("fed chosen ")
    stored = checked(owner.get(f"/api/v1/deals/{deal['id']}"))["mapping_id"]
    mapping = checked(owner.get(f"/api/v1/mappings/{stored}"))
    assert (mapping["name"], mapping["profile_id"]) == ("Mapping of Example CLO VIII", "standard_clo")
    assert {name: item["target"] for name, item in mapping["mappings"].items()} == {"Commitment": "par_value"}
    after = figures_of(owner, newest)
    assert len([name for name in before if before[name] != after[name]]) == len(shown)

    page.get_by_role("button", name="Undo").click()
    expect(heads.nth(3)).to_have_class("fed  ")
    assert checked(owner.get(f"/api/v1/deals/{deal['id']}"))["mapping_id"] is None
    assert checked(owner.get("/api/v1/mappings"))["total"] == 0


def test_a_mapping_of_the_deals_own_is_changed_in_place(visits: Visits, owner: Member) -> None:
    deal = deal_of_two_sheets(owner, months=1)
    path = f"/api/v1/deals/{deal['id']}"
    first = {"Commitment": {"target": "par_value"}, "Comment": {"target": "remark", "aliases": ["Spread"]}}
    body = {"name": "Ours", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": first}
    ours = checked(owner.post("/api/v1/mappings", json=body))["id"]
    checked(owner.patch(path, json={"mapping_id": ours}))
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal['id']}/mapping")
    for column, field in (("E feeds nothing", "Spread"), ("C feeds nothing", "Par")):
        page.locator(".picture").get_by_role("button", name=column).click()
        page.get_by_label("Search a field").fill(field)
        page.get_by_label("Search a field").press("Enter")
    expect(page.locator(".corrections li")).to_have_text(["Spread → Spread Take back", "Par Amount → Par Take back"])
    page.locator(".picture").get_by_role("button", name="F feeds").click()
    page.get_by_role("button", name="Leave it out").click()
    expect(page.locator("aside.drill")).to_contain_text("Left out: no test reads it")
    page.get_by_role("button", name="Save as the deal's mapping").click()
    expect(page.locator(".corrections")).to_have_count(0)
    expect(page.locator(".picture").get_by_role("button", name="F left out")).to_be_visible()
    mapping = checked(owner.get(f"/api/v1/mappings/{ours}"))
    assert checked(owner.get(path))["mapping_id"] == ours
    fed = {name: (item["target"], item["aliases"]) for name, item in mapping["mappings"].items()}
    left_out = fed.pop("Rating")[0]
    assert left_out.startswith("left_out_rating_")
    assert fed == {
        "Spread": ("spread", []), "Par Amount": ("par_value", ["Commitment"]), "Comment": ("remark", []),
    }  # fmt: skip
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".picture").get_by_role("button", name="F feeds")).to_be_visible()
    undone = checked(owner.get(f"/api/v1/mappings/{ours}"))["mappings"]
    assert {name: item["target"] for name, item in undone.items()} == {"Commitment": "par_value", "Comment": "remark"}


def test_a_mapping_that_others_use_stays_as_it_is(visits: Visits, owner: Member) -> None:
    deal = deal_of_two_sheets(owner, months=1)
    path, book = f"/api/v1/deals/{deal['id']}", f"/api/v1/workbooks/{deal['workbooks'][0]}"
    body = {"source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {"Remark": {"target": "remark"}}}
    ours = checked(owner.post("/api/v1/mappings", json={"name": "Ours", **body}))["id"]
    checked(owner.post("/api/v1/mappings", json={"name": "Mapping of Example CLO VIII", **body}))
    second = checked(owner.post("/api/v1/deals", json={"name": "Another CLO", "mapping_id": ours}))["id"]
    for place in (path, book):
        checked(owner.patch(place, json={"mapping_id": ours}))
    desk = visits()
    fix = quote(json.dumps({"Commitment": "par_value"}))
    desk.sign_in(owner, f"/deals/{deal['id']}/mapping?fix={fix}")
    desk.page.get_by_role("button", name="Save as the deal's mapping").click()
    expect(desk.page.locator(".corrections")).to_have_count(0)
    mapping_id = checked(owner.get(path))["mapping_id"]
    named = {item["id"]: item["name"] for item in checked(owner.get("/api/v1/mappings"))["items"]}
    assert named[mapping_id] == "Mapping of Example CLO VIII 2"
    columns = checked(owner.get(f"/api/v1/mappings/{mapping_id}"))["mappings"]
    assert {name: column["target"] for name, column in columns.items()} == {
        "Commitment": "par_value",
        "Remark": "remark",
    }
    assert list(checked(owner.get(f"/api/v1/mappings/{ours}"))["mappings"]) == ["Remark"]
    assert checked(owner.get(book))["mapping_id"] is None
    assert checked(owner.get(f"/api/v1/deals/{second}"))["mapping_id"] == ours
    desk.page.get_by_role("button", name="Undo").click()
    expect(desk.page.locator(".picture").get_by_role("button", name="C feeds Par")).to_be_visible()
    assert [checked(owner.get(place))["mapping_id"] for place in (path, book)] == [ours, ours]
    assert owner.get(f"/api/v1/mappings/{mapping_id}").status_code == 404


def test_a_cell_is_looked_for_and_pages_say_where_they_differ(visits: Visits, owner: Member) -> None:
    deal = deal_of_two_sheets(owner, months=1)
    phone = visits(NARROW)
    page = phone.page
    phone.sign_in(owner.invite("viewer"), f"/deals/{deal['id']}/mapping?cell='Pool'!E60:E63")
    marked = page.locator(".picture td[aria-current]")
    expect(marked).to_have_text(str(350 + 60 - FIRST))
    expect(marked).to_be_in_viewport()
    expect(page.locator(".picture tbody tr").last).to_contain_text("No loan: total rows")
    page.get_by_role("button", name="Rows before").click()
    expect(page.locator(".picture tbody tr").first).to_contain_text("22")
    page.keyboard.press("n")
    expect(page.locator(".picture tbody tr").first).to_contain_text("52")
    differing = page.locator("tbody tr", has_text="joined to the loans")
    expect(differing).to_contain_text("Moody's rating (1)")
    expect(page.locator("tbody tr", has_text="column 'Comment' feeds no field")).to_be_visible()
    phone.check_accessible("a sheet on a telephone")
    differing.get_by_role("button", name="Countries").click()
    expect(page.locator(".picture thead th").nth(2)).to_contain_text("Country")
    page.locator(".picture").get_by_role("button", name="B feeds Country").click()
    expect(page.locator("aside.drill")).to_contain_text("100% of its texts are countries")
    expect(page.locator("aside.drill").get_by_label("Search a field")).to_have_count(0)
    phone.check_accessible("a column on a telephone")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.keyboard.press("Escape")
    expect(page.locator("aside.drill")).to_have_count(0)
    assert page.get_by_role("button", name="Save as the deal's mapping").count() == 0


def test_an_uncertain_column_and_wrong_rows_are_marked(visits: Visits, owner: Member) -> None:
    deal = deal_of_report(owner, uncertain_file(), "loans.csv")
    rule = {"field": "spread", "rule": "non_negative"}
    body = {"name": "Ours", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}}
    ours = checked(owner.post("/api/v1/mappings", json={**body, "validation_rules": [rule]}))["id"]
    checked(owner.patch(f"/api/v1/deals/{deal}", json={"mapping_id": ours}))
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/mapping")
    expect(page.locator(".banner.warning")).to_contain_text("? 1 uncertain")
    head = page.locator(".picture thead .ambiguous")
    expect(head).to_contain_text("Par")
    desk.check_accessible("an uncertain column")
    head.get_by_role("button").click()
    panel = page.locator("aside.drill")
    expect(panel).to_contain_text("could as well be meant")
    expect(panel).to_contain_text("Drawn Amount Booked")
    page.get_by_label("Search a field").fill("par_value")
    page.get_by_label("Search a field").press("Enter")
    expect(page.locator(".corrections")).to_contain_text("Drawn Amount Held → Par")
    expect(page.locator(".banner.pass")).to_be_visible()
    page.get_by_role("button", name="Take back Drawn Amount Held").click()
    expect(page.locator(".banner.warning")).to_be_visible()
    page.keyboard.press("Escape")
    wrong = page.locator("tbody tr", has_text="Error").filter(has_text="Spread")
    wrong.get_by_role("button", name="45").click()
    expect(page.locator(".picture td[aria-current]")).to_have_text("-5")
    assert "cell=E45" in page.url


def test_a_file_without_loans_says_so(visits: Visits, owner: Member) -> None:
    wide = "\n".join(",".join(f"{word}{at}" for at in range(WIDE_SHEET)) for word in ("fruit", "apple", "pear"))
    deal = deal_of_report(owner, wide.encode(), "fruit.csv")
    desk = visits()
    desk.sign_in(owner, f"/deals/{deal}/loans")
    expect(desk.page.get_by_role("heading", name="No loans were found")).to_be_visible()
    desk.page.get_by_role("link", name="See how the file is read").click()
    expect(desk.page.locator(".banner.fail")).to_contain_text("No loans were found.")
    expect(desk.page.locator(".picture tbody tr")).to_have_count(3)
    desk.check_accessible("a file without loans")
    heads = desk.page.locator(".picture thead th")
    expect(heads).to_have_count(1 + COLUMNS_AT_ONCE)
    desk.page.get_by_role("button", name="Further columns").click()
    expect(heads).to_have_text(["Row", *(f"C{letter}" for letter in "WXYZ"), *(f"D{letter}" for letter in "ABCD")])
    expect(desk.page.locator(".pager")).to_contain_text("Columns CW–DD of DD")
    desk.go(f"/deals/{deal}/mapping?cell=DB2")
    expect(desk.page.locator(".picture td[aria-current]")).to_have_text(f"apple{WIDE_SHEET - 3}")
    deal = checked(owner.post("/api/v1/deals", json={"name": "Another CLO"}))["id"]
    for place in ("mapping", "loans"):
        desk.go(f"/deals/{deal}/{place}")
        expect(desk.page.get_by_role("heading", name="No file yet")).to_be_visible()


def test_a_correction_that_is_none_is_told(visits: Visits, owner: Member) -> None:
    deal = deal_of_two_sheets(owner, months=1)
    place = f"/deals/{deal['id']}/mapping?fix="
    desk = visits()
    page = desk.page
    answer = page.locator(".corrections")
    desk.sign_in(owner, place + quote(json.dumps({"Nowhere": "par_value"})))
    expect(answer).to_contain_text("No result changes.")
    desk.expect("400")
    desk.go(place + quote(json.dumps({"Spread": "2 bad"})))
    expect(answer.get_by_role("alert")).to_contain_text("is not a name of letters")
    expect(answer.get_by_role("button", name="Save as the deal's mapping")).to_be_disabled()
    desk.go(place + "%7B")
    expect(page.locator(".picture")).to_be_visible()
    expect(answer).to_have_count(0)
