"""The screens before a session.

Sign in, register, accept an invitation, reset a password.
"""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import expect

from tests.conftest import PASSWORD, Member, Stack
from tests.programs.console.conftest import NARROW, SETTINGS, Visit, Visits
from tests.service.auth.conftest import AUTH, enrolled, letters, token_of

REFUSED = "the server responded with a status of 401"
NEW_PASSWORD = "Brand-New-Horse-8"


def fill(visit: Visit, **fields: str) -> None:
    """Type into the fields with these names."""
    for name, text in fields.items():
        visit.page.locator(f"[name={name}]").fill(text)


def fits(visit: Visit) -> bool:
    """Whether the page scrolls up and down only."""
    return bool(visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_deep_link_asks_for_the_password_and_the_code(visits: Visits, service: Stack, owner: Member) -> None:
    authenticator, _ = enrolled(service.url, owner.tokens["access_token"])
    visit = visits()
    page = visit.page
    visit.expect(REFUSED)
    visit.go("/admin/keys?page=1")
    page.wait_for_url("**/#/sign-in?next=%2Fadmin%2Fkeys%3Fpage%3D1")
    expect(page.get_by_label("E-mail")).to_be_focused()
    fill(visit, username=owner.email, password="wrong")
    page.get_by_role("button", name="Show the password").click()
    assert page.locator("[name=password]").get_attribute("type") == "text"
    page.get_by_role("button", name="Sign in").click()
    alert = page.get_by_role("alert")
    assert "Incorrect email or password" in alert.inner_text()
    assert "Request " in alert.inner_text()
    assert page.locator("[name=username]").input_value() == owner.email
    visit.check_accessible("sign in, refused")

    fill(visit, password=PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    code = page.get_by_label("Two-factor code")
    code.fill(authenticator.wrong())
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Invalid two-factor code").wait_for()
    code.fill(authenticator.next())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/#/admin/keys?page=1")
    page.get_by_role("heading", name="Administration").wait_for()
    assert page.evaluate("Object.keys(localStorage)") == ["cushion.session"]
    assert page.evaluate("document.cookie") == ""

    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/#/sign-in")
    page.reload()
    page.get_by_label("E-mail").wait_for()
    assert page.url.endswith("#/sign-in")


def test_somebody_registers_and_invites_who_accepts(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits(NARROW)
    page = visit.page
    visit.expect("status of 422")
    visit.go("/sign-in")
    page.get_by_role("link", name="Register an organisation").click()
    email = f"rita-{owner.user_id[:12]}@example.com"
    fill(visit, organization_name="Narrow Capital", full_name="Rita Register", email=email, password="alllowercase")
    page.get_by_role("button", name="Register").click()
    fault = page.locator("[name=password]").locator("xpath=ancestor::*[contains(@class, 'field')]").locator(".fault")
    assert fault.inner_text() == "the password needs an uppercase letter; the password needs a digit"
    assert fits(visit)
    visit.check_accessible("register, refused")
    fill(visit, password=PASSWORD)
    page.get_by_role("button", name="Register").click()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Rita Register").wait_for()
    assert re.search(r"#/?$", page.url)
    assert fits(visit)

    invited = owner.post(
        "/api/v1/admin/users/invite",
        json={"email": f"ida-{owner.user_id[:12]}@example.com", "full_name": "Ida Invited", "role": "viewer"},
    ).json()
    visit.go(f"/accept-invitation?token={invited['invitation_token']}")
    page.get_by_text(f"You are signed in as {email}").wait_for()
    visit.check_accessible("accept an invitation")
    fill(visit, password=PASSWORD)
    page.get_by_role("button", name="Join").click()
    page.get_by_text("Welcome to ").wait_for()
    assert "Ida Invited" in page.locator(".notice").inner_text()
    assert "token" not in page.url
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Ida Invited").wait_for()
    assert page.get_by_role("link", name="Admin", exact=True).count() == 0

    visit.expect("status of 400")
    visit.go(f"/accept-invitation?token={invited['invitation_token']}")
    fill(visit, password=PASSWORD)
    page.get_by_role("button", name="Join").click()
    page.get_by_text("Invalid or expired invitation").wait_for()
    visit.go("/accept-invitation")
    page.get_by_text("The link is not complete").wait_for()


def test_a_password_is_reset_by_the_link_of_the_mail(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.go("/sign-in")
    page.get_by_role("link", name="Forgot the password?").click()
    page.get_by_label("E-mail").fill(owner.email)
    page.get_by_role("button", name="Send the link").click()
    page.get_by_text("is on its way").wait_for()
    visit.check_accessible("forgot the password")
    (letter,) = letters(service, owner.email)
    visit.go(f"/reset-password?token={token_of(letter)}")
    page.get_by_text("You are signed out everywhere").wait_for()
    visit.check_accessible("reset the password")
    fill(visit, new_password=NEW_PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    page.wait_for_url("**/#/sign-in")
    page.get_by_text("The password is changed").wait_for()
    page.go_back()
    assert "token" not in page.url
    login = httpx.post(f"{service.url}{AUTH}/login", data={"username": owner.email, "password": NEW_PASSWORD})
    assert login.status_code == 200


def test_closed_registration_is_not_offered(visits: Visits, service: Stack) -> None:
    with service.another_api(**SETTINGS, CUSHION_OPEN_REGISTRATION="off") as url:
        visit = visits()
        visit.url = url
        visit.go("/register")
        visit.page.get_by_text("Registration is closed here").wait_for()
        visit.check_accessible("closed registration")
        visit.page.get_by_role("link", name="Back to sign in").click()
        visit.page.get_by_role("button", name="Sign in").wait_for()
        assert visit.page.get_by_role("link").all_inner_texts() == ["Cushion", "Forgot the password?"]
        visit.page.goto("about:blank")
