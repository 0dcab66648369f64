"""Alerts: the inbox, an alert made, tested, changed and deleted by its form, its history, and webhooks."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.seeds import deal_with_months


def made_alert(owner: Member, name: str = "Watch", **changes: object) -> str:
    """An alert on failing tests that tells the owner here."""
    channel = {"type": "in_app", "config": {"user_ids": [owner.user_id]}}
    body = {"name": name, "alert_type": "compliance", "conditions": {"status": ["fail"]}, "channels": [channel]}
    alert: str = checked(owner.post("/api/v1/alerts/configure", json={**body, **changes}))["id"]
    return alert


def save(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_alert_is_made_changed_tested_and_deleted(visits: Visits, owner: Member) -> None:
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/alerts?tab=alerts")
    expect(page.get_by_role("heading", name="No alerts yet")).to_be_visible()
    page.get_by_role("button", name="Make an alert").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("CCC")
    for kind, field in (("trend", "Within days"), ("schedule", "Times"), ("compliance", "Or a cushion below")):
        form.get_by_label("Tells when").select_option(kind)
        expect(form.get_by_label(field)).to_be_visible()
    form.get_by_label("Tells when").select_option("threshold")
    form.get_by_label("Figure", exact=True).select_option("ccc_bucket_pct")
    form.get_by_label("Level").fill("7.5")
    form.get_by_role("button", name="Add: Webhook").click()
    form.get_by_label("URL").fill("https://hooks.example.com/cushion")
    form.get_by_label("Headers").fill("X-Token: secret")
    form.get_by_role("button", name="Add: Inbox of Cushion").click()
    desk.check_accessible("the form of an alert")
    save(page, "Make the alert")
    [alert] = checked(owner.get("/api/v1/alerts"))["items"]
    stored = checked(owner.get(f"/api/v1/alerts/{alert['id']}"))
    assert stored["conditions"] == {"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5}
    assert [channel["type"] for channel in stored["channels"]] == ["email", "webhook", "in_app"]
    assert stored["channels"][0]["config"]["recipients"] == [owner.email]
    assert stored["channels"][1]["config"]["headers"] == {"X-Token": "***"}
    assert stored["channels"][2]["config"]["user_ids"] == [owner.user_id]

    page.get_by_role("button", name="Edit CCC").click()
    form.get_by_label("Level").fill("8")
    form.get_by_role("button", name="Leave out").nth(1).click()
    save(page, "Save")
    changed = checked(owner.get(f"/api/v1/alerts/{alert['id']}"))
    assert changed["conditions"]["value"] == 8
    assert [channel["id"] for channel in changed["channels"]] == [stored["channels"][at]["id"] for at in (0, 2)]
    page.get_by_role("button", name="Test CCC").click()
    expect(page.locator(".notice", has_text="E-mail:")).to_be_visible()
    page.get_by_role("button", name="Switch off CCC").click()
    expect(page.locator("tbody tr")).to_contain_text("Off")
    desk.check_accessible("alerts")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.get_by_role("button", name="Delete CCC").click()
    save(page, "Delete")
    expect(page.get_by_role("heading", name="No alerts yet")).to_be_visible()


def test_what_triggered_is_read(visits: Visits, owner: Member) -> None:
    made_alert(owner)
    deal_with_months(owner, months=1)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/alerts")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("Watch")
    desk.check_accessible("the inbox")
    page.get_by_role("button", name="Mark as read Watch").click()
    expect(page.locator("tbody tr")).to_contain_text("Read")
    made_alert(owner, "Clock", alert_type="schedule", conditions={"schedule": "0 8 * * 1-5"})
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.locator(".notice", has_text="All are marked as read")).to_be_visible()
    page.get_by_role("link", name="Alerts", exact=True).last.click()
    page.get_by_role("button", name="History Watch").click()
    expect(page.get_by_role("dialog").locator("tbody tr")).to_contain_text("Inbox of Cushion: delivered")
    desk.check_accessible("the history of an alert")

    reader = visits(NARROW)
    reader.sign_in(owner.invite("viewer"), "/alerts?tab=alerts")
    expect(reader.page.get_by_role("heading", name="Nothing here")).to_be_visible()
    expect(reader.page.get_by_role("navigation", name="Alerts").get_by_role("link")).to_have_text(["Inbox"])
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_a_webhook_shows_its_secret_once_and_its_deliveries(visits: Visits, owner: Member) -> None:
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/alerts?tab=webhooks")
    page.get_by_role("button", name="Make a webhook").click()
    form = page.get_by_role("dialog")
    form.get_by_label("URL").fill("https://127.0.0.1:9/hook")
    form.get_by_label("workbook.uploaded").uncheck()
    form.get_by_role("button", name="Make it").click()
    expect(page.get_by_label("Secret")).to_contain_text("whsec_")
    page.get_by_role("button", name="Done").click()
    [hook] = checked(owner.get("/api/v1/webhooks"))["items"]
    assert hook["events"] == ["calculation.completed", "compliance.completed", "batch.completed", "alert.triggered"]
    page.get_by_role("button", name=f"Test {hook['url']}").click()
    expect(page.locator(".notice.bad")).to_contain_text(hook["url"])
    page.get_by_role("button", name=f"Deliveries {hook['url']}").click()
    expect(form.locator("tbody tr")).to_contain_text("webhook.test")
    desk.check_accessible("deliveries")
    form.get_by_role("button", name="Close").click()
    page.get_by_role("button", name=f"Delete {hook['url']}").click()
    save(page, "Delete")
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()
