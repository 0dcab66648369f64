"""The administration's screens.

People, API keys, settings, audit log, activity, dead letters.
"""

from __future__ import annotations

from pathlib import Path

import httpx
from playwright.sync_api import expect

from service.platform.data.audit import breaks, parse
from tests.conftest import Member, Stack, wait_until
from tests.programs.console.conftest import NARROW, Visit, Visits, checked, on_enterprise
from tests.service.dlq.test_actions import buried

TENANT = "/api/v1/admin/tenant"


def confirm(visit: Visit, action: str) -> None:
    """Answer the question in the dialog with yes."""
    visit.page.get_by_role("dialog").get_by_role("button", name=action).click()


def check_narrow(visit: Visit, what: str) -> None:
    """At 390 pixels the page scrolls up and down only."""
    visit.page.set_viewport_size(NARROW)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], what
    visit.page.set_viewport_size({"width": 1440, "height": 900})


def test_people_are_invited_changed_and_removed(visits: Visits, service: Stack, owner: Member) -> None:
    viewer = owner.invite("viewer")
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/admin")
    row = page.get_by_role("row").filter(has_text=viewer.email)
    row.wait_for()
    assert page.get_by_role("row").filter(has_text=owner.email).get_by_role("combobox").count() == 0
    visit.check_accessible("people")
    check_narrow(visit, "people")

    row.get_by_role("combobox").select_option("analyst")
    page.get_by_text("Viewer is analyst now").wait_for()
    assert viewer.get("/api/v1/auth/me").status_code == 401, "the role's tokens have ended"
    page.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("combobox")).to_have_value("viewer")
    row.get_by_role("button", name="Deactivate Viewer", exact=True).click()
    row.get_by_role("button", name="Activate Viewer", exact=True).click()
    row.get_by_role("button", name="Deactivate Viewer", exact=True).wait_for()
    row.get_by_role("button", name="Remove Viewer").click()
    visit.check_accessible("the question before a removal")
    confirm(visit, "Cancel")
    row.get_by_role("button", name="Remove Viewer").click()
    confirm(visit, "Remove")
    row.wait_for(state="detached")

    page.get_by_role("button", name="Invite somebody").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill(owner.email)
    dialog.get_by_label("Name").fill("Vera New")
    dialog.get_by_label("Role").select_option("viewer")
    visit.expect("status of 409")
    dialog.get_by_role("button", name="Invite").click()
    dialog.get_by_text("User already exists").wait_for()
    visit.check_accessible("an invitation, refused")
    dialog.get_by_label("E-mail").fill(f"new-{owner.user_id[:12]}@example.com")
    dialog.get_by_role("button", name="Invite").click()
    link = dialog.get_by_label("Invitation link").inner_text()
    assert link.startswith(f"{visit.url}/console/#/accept-invitation?token=")
    visit.check_accessible("the link of an invitation")
    token = link.partition("token=")[2]
    accepted = httpx.post(
        f"{visit.url}/api/v1/auth/accept-invitation", json={"token": token, "password": "Correct-Horse-7"}, timeout=60
    )
    assert accepted.status_code == 200, accepted.text


def test_keys_are_shown_once_replaced_and_revoked(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/admin/keys")
    page.get_by_text("No keys yet").wait_for()
    page.get_by_role("button", name="Make a key").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Nightly upload")
    visit.expect("status of 422")
    dialog.get_by_role("button", name="Make the key").click()
    dialog.get_by_role("alert").wait_for()
    dialog.get_by_label("workbooks:read").check()
    dialog.get_by_label("workbooks:write").check()
    visit.check_accessible("a key to make")
    assert dialog.get_by_label("Name").input_value() == "Nightly upload"
    dialog.get_by_role("button", name="Make the key").click()
    first = dialog.get_by_label("API key").inner_text()
    visit.check_accessible("a key, shown once")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == first
    dialog.get_by_role("button", name="Done").click()

    def status(key: str) -> int:
        return httpx.get(f"{visit.url}/api/v1/workbooks", headers={"X-API-Key": key}, timeout=60).status_code

    assert status(first) == 200
    row = page.get_by_role("row").filter(has_text="workbooks:read, workbooks:write")
    row.get_by_role("button", name="Replace Nightly upload").click()
    dialog.get_by_label("Hours that the old key still works").fill("0")
    dialog.get_by_role("button", name="Replace the key").click()
    second = dialog.get_by_label("API key").inner_text()
    dialog.get_by_role("button", name="Done").click()
    assert (status(first), status(second)) == (401, 200)
    page.get_by_role("button", name="Revoke Nightly upload").click()
    confirm(visit, "Revoke")
    page.get_by_text("Nightly upload is revoked").wait_for()
    assert status(second) == 401
    visit.check_accessible("keys")
    check_narrow(visit, "keys")


def test_settings_are_changed_and_brought_back(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/admin/settings")
    before = checked(owner.get(TENANT))["settings"]
    page.get_by_label("First agency").wait_for()
    visit.check_accessible("settings")
    check_narrow(visit, "settings")
    visit.expect("status of 422", "status of 409")
    page.get_by_label("Time zone").fill("Mars/Olympus")
    page.get_by_label("First agency").fill("Agency One")
    page.get_by_label("Only these address ranges get in").fill("10.0.0.300/8\n")
    page.get_by_role("button", name="Save").click()
    fault = "expected a time zone of the IANA database such as America/New_York"
    page.locator(".field .fault").filter(has_text=fault).wait_for()
    assert page.get_by_label("First agency").input_value() == "Agency One", "what was typed stays"
    assert page.get_by_label("Only these address ranges get in").get_attribute("aria-invalid") == "true"
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_label("Only these address ranges get in").fill("203.0.113.0/24\n2001:db8::/32")
    page.get_by_label("A session ends after").fill("30")
    page.get_by_label("Price").fill("0.25")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_text("Shut yourself out?").wait_for()
    confirm(visit, "Cancel")
    assert checked(owner.get(TENANT))["settings"] == before
    page.get_by_label("Only these address ranges get in").fill("127.0.0.0/8\n::/0")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The settings are saved").wait_for()
    changed = {
        "timezone": "Europe/Berlin", "rating_agency_a_label": "Agency One", "session_timeout_minutes": 30,
        "allowed_ip_ranges": ["127.0.0.0/8", "::/0"], "reconciliation_tolerances": {"price": 0.25},
    }  # fmt: skip
    assert checked(owner.get(TENANT))["settings"] == before | changed
    visit.page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("First agency")).to_have_value("Moody's")
    assert checked(owner.get(TENANT))["settings"] == before


def test_the_audit_log_is_filtered_saved_and_checked(
    visits: Visits, service: Stack, owner: Member, tmp_path: Path
) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/admin/audit")
    page.get_by_text("Enterprise tier required").wait_for()
    visit.check_accessible("the audit log on another tier")
    on_enterprise(owner)
    page.reload()
    viewer = owner.invite("viewer")
    checked(owner.post(f"/api/v1/admin/users/{viewer.user_id}/erase", json={"confirm": viewer.email}))
    redactions = "SELECT 1 FROM audit_log WHERE tenant_id = %s AND action = 'user.redacted'"
    wait_until(lambda: service.sql(redactions, [owner.tenant_id]), what="the erasure")
    checked(owner.post("/api/v1/deals", json={"name": '=1+1, "quoted" \N{SNOWMAN}'}))
    page.get_by_role("button", name="Check the chain").click()
    page.get_by_text("The chain is whole").wait_for()
    page.get_by_label("Action").fill("deal.created")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("cell", name="deal.created").wait_for()
    assert page.get_by_role("row").count() == 2
    assert "action=deal.created" in page.url
    visit.check_accessible("the audit log")
    check_narrow(visit, "the audit log")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as CSV").click()
    assert saving.value.suggested_filename.endswith(".csv")
    page.go_back()
    page.get_by_role("cell", name="tenant.updated").first.wait_for()

    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as JSON lines").click()
    log = tmp_path / "log.jsonl"
    saving.value.save_as(log)
    with log.open("rb") as lines:
        assert list(breaks(map(parse, lines))) == []
    service.sql("ALTER TABLE audit_log DISABLE TRIGGER USER")
    try:
        service.sql(
            "UPDATE audit_log SET resource_name = 'another' WHERE tenant_id = %s AND action = 'deal.created'",
            [owner.tenant_id],
        )
    finally:
        service.sql("ALTER TABLE audit_log ENABLE TRIGGER USER")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("The chain is broken").wait_for()
    page.get_by_text("is not the one that was hashed").wait_for()
    visit.check_accessible("a broken chain")


def test_dead_letters_are_tried_again_or_discarded(visits: Visits, service: Stack, owner: Member) -> None:
    buried(service, owner)
    buried(service, owner, exception_message="<img src=x onerror=alert(1)>")
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/admin/dead-letters")
    page.get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    visit.check_accessible("dead letters")
    check_narrow(visit, "dead letters")
    page.get_by_role("button", name="Try again webhooks.wake").first.click()
    page.get_by_text("webhooks.wake is given to a worker again").wait_for()
    discard = page.get_by_role("button", name="Discard webhooks.wake")
    expect(discard).to_have_count(1)
    discard.click()
    confirm(visit, "Discard")
    page.get_by_text("Nothing here").wait_for()
    page.get_by_label("Show").select_option("all")
    page.get_by_role("cell", name="Discarded").wait_for()
    assert page.get_by_role("row").count() == 3
    page.get_by_role("link", name="Activity").click()
    page.get_by_text("was discarded by").wait_for()
    visit.check_accessible("activity")
    check_narrow(visit, "activity")


def test_others_see_no_administration(visits: Visits, owner: Member) -> None:
    visit = visits()
    visit.sign_in(owner.invite("viewer"), "/admin/settings")
    visit.page.get_by_text("Owners and admins of").wait_for()
    assert visit.page.get_by_role("link", name="Admin", exact=True).count() == 0
    assert visit.page.locator("main button").count() == 0
    visit.check_accessible("administration as a viewer")
    assert [url for _, url in visit.statuses] == []
