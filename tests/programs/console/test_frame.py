"""The frame around the screens.

One session in several tabs, tokens that end, a service that is away.
"""

from __future__ import annotations

import time

from playwright.sync_api import Page, Route, expect

from tests.conftest import PASSWORD, Member, Stack
from tests.programs.console.conftest import NARROW, SETTINGS, Visit, Visits, checked

TOKEN_SECONDS = 2
LOST = "Failed to load resource: net::ERR_"


def open_activity(page: Page) -> None:
    """Go to a screen that asks the service."""
    page.evaluate("location.hash = '#/admin/activity'")
    page.get_by_role("cell", name="registered").wait_for()


def refreshes(visit: Visit) -> list[str]:
    """Addresses of the refreshes that a page will have sent, as they are sent."""
    sent: list[str] = []
    visit.page.on("request", lambda asked: sent.append(asked.url) if asked.url.endswith("/auth/refresh") else None)
    return sent


def ended(service: Stack, member: Member) -> list[bool]:
    """Of each session of the member's browsers whether it has ended."""
    rows = service.sql("SELECT revoked_at IS NOT NULL FROM sessions WHERE user_id = %s AND cookie", [member.user_id])
    return [row[0] for row in rows]


def test_two_tabs_refresh_at_once_when_their_token_ends(visits: Visits, service: Stack, owner: Member) -> None:
    """Tokens live for two seconds.

    Both tabs ask after theirs has ended, at the same moment.
    """
    with service.another_api(**SETTINGS, CUSHION_ACCESS_TOKEN_SECONDS=str(TOKEN_SECONDS)) as url:
        first = visits()
        first.url = url
        first.sign_in(owner, "/account")
        second = visits(beside=first)
        second.url = url
        second.go("/account")
        second.page.get_by_role("heading", name="Account").wait_for()
        sent = [refreshes(first), refreshes(second)]
        time.sleep(TOKEN_SECONDS)
        for visit in (first, second):
            visit.page.evaluate("location.hash = '#/admin/activity'")
        for visit in (first, second):
            visit.page.get_by_role("cell", name="registered").wait_for()
            assert visit.statuses == [], "no refusal is seen: a token is renewed before it ends"
        assert 1 <= len(sent[0]) + len(sent[1]) <= 4
        assert ended(service, owner) == [False]

        # Without locks, as over plain http on another machine, each tab refreshes by itself with the same cookie.
        for visit in (first, second):
            visit.page.add_init_script("Object.defineProperty(navigator, 'locks', {value: undefined})")
            visit.page.reload()
            visit.page.get_by_role("cell", name="registered").wait_for()
        time.sleep(TOKEN_SECONDS)
        for visit, screen in ((first, "audit"), (second, "people")):
            visit.page.evaluate(f"location.hash = '#/admin/{screen}'")
        for visit in (first, second):
            open_activity(visit.page)
        assert ended(service, owner) == [False]
        for visit in (first, second):
            assert visit.statuses == []
            visit.check_clean()
            visit.page.goto("about:blank")


def test_a_token_that_the_service_refuses_is_renewed_in_the_middle(
    visits: Visits, service: Stack, owner: Member
) -> None:
    visit = visits()
    visit.sign_in(owner, "/account")
    visit.expect("status of 401")

    def spoil(route: Route) -> None:
        """Send a request with a token that is none."""
        route.continue_(headers={**route.request.headers, "authorization": f"Bearer {owner.tokens['refresh_token']}"})

    visit.page.route("**/api/v1/activity*", spoil, times=1)
    open_activity(visit.page)
    assert [status for status, _ in visit.statuses] == [401]
    assert visit.page.url.endswith("#/admin/activity")


def test_a_lost_connection_is_waited_for(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/account")
    page.get_by_role("heading", name="Account").wait_for()
    visit.expect(LOST)
    page.context.set_offline(True)
    page.evaluate("location.hash = '#/admin/activity'")  # neither the screen's file nor what it shows can be read
    page.get_by_role("status").filter(has_text="Loading").wait_for()
    time.sleep(1)
    page.context.set_offline(False)
    page.get_by_role("cell", name="registered").wait_for()
    assert visit.problems == []

    page.context.set_offline(True)
    page.evaluate("location.hash = '#/account'")
    page.locator("[name=current_password]").fill(PASSWORD)
    page.locator("[name=new_password]").fill("Brand-New-Horse-8")
    page.get_by_role("button", name="Change the password").click()
    page.get_by_text("The service cannot be reached").wait_for()
    assert page.locator("[name=new_password]").input_value() == "Brand-New-Horse-8"
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.locator(".notice.bad").wait_for()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/#/sign-in")


def test_a_restart_keeps_the_session(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    with service.another_api(**SETTINGS) as url:
        visit.url = url
        visit.sign_in(owner, "/account")
        page.get_by_role("heading", name="Account").wait_for()
    visit.expect(LOST)
    page.get_by_role("link", name="Admin", exact=True).click()
    page.get_by_role("status").filter(has_text="Loading").wait_for()
    with service.another_api(port=int(url.rpartition(":")[2]), **SETTINGS):
        page.get_by_role("cell", name=owner.email).wait_for()
        page.get_by_role("link", name="API keys").click()
        page.get_by_text("No keys yet").wait_for()


def test_signing_out_in_one_tab_signs_out_all(visits: Visits, owner: Member) -> None:
    first = visits()
    first.sign_in(owner, "/account")
    second = visits(beside=first)
    second.go("/admin/keys")
    second.page.get_by_text("No keys yet").wait_for()
    first.page.get_by_role("button", name="Sign out", exact=True).click()
    second.page.wait_for_url("**/#/sign-in?next=%2Fadmin%2Fkeys")
    viewer = owner.invite("viewer")
    first.page.get_by_label("E-mail").fill(viewer.email)
    first.page.locator("[name=password]").fill(PASSWORD)
    first.page.get_by_role("button", name="Sign in").click()
    second.page.get_by_text("Owners and admins of").wait_for()
    assert second.page.get_by_text("No keys yet").count() == 0
    assert second.page.locator("nav.side").get_by_role("link", name="Viewer").count() == 1


def test_keys_menu_and_focus(visits: Visits, owner: Member) -> None:
    visit = visits(NARROW)
    page = visit.page
    visit.sign_in(owner, "/account")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("All deals").wait_for()
    visit.check_accessible("the list of keys")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="Menu").click()
    visit.check_accessible("the menu")
    page.get_by_role("link", name="Admin", exact=True).click()
    page.get_by_role("cell", name=owner.email).wait_for()
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page.get_by_role("link", name="Admin", exact=True)).to_be_hidden()
    visit.go("/no/such/page")
    page.get_by_text("There is no such page").wait_for()
    assert checked(owner.get("/api/v1/auth/me"))["role"] == "owner"


def another_version(route: Route) -> None:
    """Answer a script that asks for the page with one of other files."""
    if route.request.resource_type == "document":
        route.continue_()
    else:
        route.fulfill(body="<p>another version</p>")


def test_files_of_a_replaced_version_load_the_page_anew_once(visits: Visits, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/account")
    visit.expect("status of 404", "Failed to fetch dynamically imported module")
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    page.route("**/screens.js*", lambda route: route.fulfill(status=404), times=1)
    page.route("**/console/", another_version)
    page.reload()
    page.get_by_role("heading", name="Account").wait_for()
    assert len(loads) == 2
    page.unroute("**/console/")
    page.route("**/screens.js*", lambda route: route.fulfill(status=404))
    page.reload()
    page.get_by_text("The page could not be loaded").wait_for()
    visit.check_accessible("a screen that cannot be loaded")


def test_a_second_factor_that_is_required_from_now_on(visits: Visits, owner: Member) -> None:
    visit = visits()
    visit.sign_in(owner.invite("analyst"), "/account")
    visit.page.get_by_role("heading", name="Account").wait_for()
    visit.expect("status of 403")
    checked(owner.patch("/api/v1/admin/tenant", json={"settings": {"two_factor_required": True}}))
    visit.page.evaluate("location.hash = '#/deals'")
    visit.page.wait_for_url("**/#/account?enrol=required")


def test_a_service_that_is_away_at_the_start(visits: Visits, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/account")
    visit.expect("status of 503")
    page.route("**/api/v1/auth/refresh", lambda route: route.fulfill(status=503, body="{}"))
    page.reload()
    page.get_by_role("button", name="Try again").wait_for()
    visit.check_accessible("a service that is away")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Account").wait_for()
