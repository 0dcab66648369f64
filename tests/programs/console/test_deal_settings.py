"""The settings of a deal.

Its record, its definition with faults at their lines, its versions, its end.
"""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.test_tie_out import deal_of_report

FIRST = {"name": "Example", "tests": [{"id": "wal", "name": "WAL", "measure": "wal", "max": 7.27}]}


def definition_of(owner: Member, deal: str) -> dict[str, object]:
    """The present definition."""
    answer: dict[str, object] = checked(owner.get(f"/api/v1/deals/{deal}/definition"))
    return answer


def test_a_deal_is_changed_undone_and_deleted(visits: Visits, owner: Member) -> None:
    deal = checked(owner.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/settings")
    page.get_by_label("Name").fill("Renamed CLO")
    page.get_by_label("Home countries").fill("us, ca")
    page.get_by_label("Closing date").fill("2024-01-15")
    page.get_by_label("Next payment").fill("2026-07-15")
    page.get_by_label("Mapping").select_option(label="Standard CLO holdings")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Renamed CLO")).to_be_visible()
    stored = checked(owner.get(f"/api/v1/deals/{deal}"))
    changed = ("name", "home_countries", "closing_date", "next_payment_date", "mapping_id", "stated_maturity")
    assert [stored[name] for name in changed] == [
        "Renamed CLO", ["US", "CA"], "2024-01-15", "2026-07-15", "standard_clo", None,
    ]  # fmt: skip
    desk.check_accessible("a deal's record")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Example CLO VIII")).to_be_visible()
    stored = checked(owner.get(f"/api/v1/deals/{deal}"))
    assert [stored[name] for name in changed] == ["Example CLO VIII", [], None, None, None, None]

    desk.expect("422")
    page.get_by_label("Closing date").fill("2024-01-15")
    page.get_by_label("Stated maturity").fill("2023-01-15")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("small.fault")).to_contain_text("is not after the closing_date")
    desk.check_accessible("a fault of the record")
    page.get_by_role("button", name="Delete the deal").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert owner.get(f"/api/v1/deals/{deal}").status_code == 200
    page.get_by_role("button", name="Delete the deal").click()
    desk.check_accessible("the question before a deal is deleted")
    page.get_by_role("dialog").get_by_role("button", name="Delete the deal").click()
    page.wait_for_url("**/#/deals")
    expect(page.get_by_text("Example CLO VIII is deleted")).to_be_visible()
    assert owner.get(f"/api/v1/deals/{deal}").status_code == 404


def test_a_definition_is_checked_saved_and_compared(visits: Visits, owner: Member) -> None:
    deal = checked(owner.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    checked(owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": FIRST, "change_notes": "as signed"}))
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/settings?part=definition")
    text = page.get_by_label("Definition as JSON")
    expect(text).to_have_value(json.dumps(FIRST, indent=2))
    save = page.get_by_role("button", name="Save as version 2")
    expect(save).to_be_disabled()

    text.fill('{\n  "name": "Example",\n  "tests": [,]\n}')
    expect(page.get_by_role("button", name="Line 3")).to_be_visible()
    expect(page.get_by_role("button", name="Check")).to_be_disabled()
    wrong = {"colour": "red", "tests": [{"id": "wal", "name": "WAL", "measure": "wal", "max": "x"}]}
    text.fill(json.dumps(wrong, indent=2))
    desk.expect("422")
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".faults li", has_text="tests.0.max")).to_contain_text("Line 8")
    expect(page.locator(".faults li", has_text="colour")).to_contain_text("Line 2")
    expect(page.locator(".gutter .fault")).to_have_text(["2", "8"])
    page.get_by_role("button", name="Line 8").click()
    assert page.evaluate("getSelection().toString()").strip() == '"max": "x"'
    desk.check_accessible("faults of a definition")
    assert definition_of(owner, deal)["version"] == 1

    second = {"name": "Example", "tests": [{**FIRST["tests"][0], "max": 7.5}]}  # type: ignore[dict-item]
    text.fill(json.dumps(second, indent=2))
    expect(page.locator(".faults")).to_have_count(0)
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("The definition is without a fault")).to_be_visible()
    assert definition_of(owner, deal)["version"] == 1
    page.get_by_role("button", name="Versions").click()
    page.get_by_role("button", name="Definition").click()
    expect(text).to_have_value(json.dumps(second, indent=2))
    page.get_by_label("What changes, for the record").fill("the amendment")
    save.click()
    expect(page.get_by_text("Version 2 is saved")).to_be_visible()
    stored = definition_of(owner, deal)
    assert (stored["version"], stored["definition"], stored["change_notes"]) == (2, second, "the amendment")

    page.get_by_role("button", name="Versions").click()
    expect(page.locator("table.difference tr.old")).to_contain_text('"max": 7.27')
    expect(page.locator("table.difference tr.new")).to_contain_text('"max": 7.5')
    expect(page.locator("table.difference tbody tr")).to_have_count(8)
    desk.check_accessible("two versions")
    page.get_by_role("button", name="1", exact=True).click()
    expect(page.locator("table.difference tr.new")).to_have_count(11)
    assert page.url.endswith("part=versions&version=1")
    page.go_back()
    expect(page.locator("table.difference tr.new")).to_have_count(1)


def test_a_definition_is_drafted_from_the_newest_file(visits: Visits, owner: Member) -> None:
    deal = deal_of_report(owner)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/settings?part=definition")
    text = page.get_by_label("Definition as JSON")
    expect(text).to_have_value("{}")
    page.get_by_role("button", name="Draft from the newest file").click()
    page.get_by_text("things to decide").wait_for()
    assert json.loads(text.input_value())["base"] == "us_bsl"
    expect(page.get_by_text("printed figures tie under this draft")).to_be_visible()
    page.get_by_text("Where each line comes from").click()
    expect(page.locator(".draft pre")).to_contain_text('base = "us_bsl"')
    assert "rating_agency_" not in page.locator(".draft").inner_text()
    desk.check_accessible("a draft")
    page.get_by_role("button", name="Undo").click()
    expect(text).to_have_value("{}")
    assert definition_of(owner, deal)["version"] == 0


def test_a_viewer_reads_the_settings_on_a_telephone(visits: Visits, owner: Member) -> None:
    deal = checked(owner.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    checked(owner.put(f"/api/v1/deals/{deal}/definition", json={"definition": FIRST}))
    phone = visits(NARROW)
    page = phone.page
    phone.sign_in(owner.invite("viewer"), f"/deals/{deal}/settings")
    expect(page.get_by_label("Name")).to_be_disabled()
    expect(page.locator("main button", has_text="Save")).to_have_count(0)
    expect(page.locator("main button", has_text="Delete")).to_have_count(0)
    for part, text in (("Definition", "Version 1 of"), ("Versions", "Version 1")):
        phone.check_accessible(f"before {part}")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        page.get_by_role("button", name=part).click()
        expect(page.locator("main").get_by_text(text).first).to_be_visible()
    expect(page.locator("table.difference tr.new")).to_have_count(11)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.go_back()
    expect(page.get_by_label("Definition as JSON")).not_to_be_editable()
    expect(page.locator("main button", has_text="Check")).to_have_count(0)
