"""The screen of one's own account.

Two-factor login by a picture, the password, sessions.
"""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pyotp
import zxingcpp
from PIL import Image
from playwright.sync_api import Page

from tests.conftest import PASSWORD, Member, Stack
from tests.programs.console.conftest import NARROW, Visits
from tests.service.auth.conftest import AUTH, Authenticator

NEW_PASSWORD = "Brand-New-Horse-8"


def scanned(page: Page) -> str:
    """What a camera reads in the picture."""
    picture = Image.open(io.BytesIO(page.get_by_role("img", name="QR code for the authenticator").screenshot()))
    (code,) = zxingcpp.read_barcodes(picture)
    return code.text


def login(service: Stack, email: str, **more: str) -> int:
    form = {"username": email, "password": PASSWORD, **more}
    return httpx.post(f"{service.url}{AUTH}/login", data=form, timeout=60).status_code


def test_a_tenant_that_requires_two_factor_login_leads_to_it(
    visits: Visits, service: Stack, owner: Member, tmp_path: Path
) -> None:
    analyst = owner.invite("analyst")
    asked = owner.patch("/api/v1/admin/tenant", json={"settings": {"two_factor_required": True}})
    assert asked.status_code == 200, asked.text
    visit = visits(NARROW, scheme="dark")
    page = visit.page
    page.goto(f"{visit.url}/console/")
    visit.page.get_by_label("E-mail").fill(analyst.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/#/account?enrol=required")
    page.get_by_text("requires it. You need an authenticator app").wait_for()
    assert page.locator("nav.side").count() == 0
    visit.go("/alerts")
    page.wait_for_url("**/#/account?enrol=required")
    page.get_by_role("button", name="Set up two-factor login").click()
    page.emulate_media(color_scheme="dark")
    uri = pyotp.parse_uri(scanned(page))
    assert (uri.name, uri.issuer) == (analyst.email, "Cushion")
    assert uri.secret == page.locator("code.secret").inner_text().replace(" ", "")
    visit.check_accessible("two-factor enrolment")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

    authenticator = Authenticator(uri.secret)
    visit.expect("status of 401")
    code = page.get_by_label("Two-factor code")
    code.fill(authenticator.wrong())
    page.get_by_role("button", name="Turn it on").click()
    page.get_by_text("Invalid two-factor code").wait_for()
    digits = authenticator.next()
    code.fill(f"{digits[:3]} {digits[3:]}")
    page.get_by_role("button", name="Turn it on").click()
    codes = page.get_by_label("Recovery codes").inner_text().split()
    assert len(codes) == 10
    visit.check_accessible("recovery codes")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as a file").click()
    saving.value.save_as(tmp_path / "codes.txt")
    assert (tmp_path / "codes.txt").read_text().split() == codes
    page.get_by_role("button", name="I have kept the codes").click()
    page.locator("nav.side").wait_for()
    assert login(service, analyst.email) == 401
    assert login(service, analyst.email, otp_code=codes[0]) == 200


def test_two_factor_login_is_turned_off_by_a_code(visits: Visits, service: Stack, owner: Member) -> None:
    visit = visits()
    page = visit.page
    visit.sign_in(owner, "/account")
    page.get_by_role("button", name="Set up two-factor login").click()
    authenticator = Authenticator(pyotp.parse_uri(scanned(page)).secret)
    page.get_by_label("Two-factor code").fill(authenticator.next())
    page.get_by_role("button", name="Turn it on").click()
    recovery = page.get_by_label("Recovery codes").inner_text().split()[0]
    page.get_by_role("button", name="I have kept the codes").click()
    page.get_by_role("button", name="Turn it off").click()
    visit.check_accessible("two-factor login on")
    page.get_by_label("Two-factor code").fill(recovery)
    page.get_by_role("button", name="Turn it off").click()
    page.get_by_role("button", name="Set up two-factor login").wait_for()
    assert login(service, owner.email) == 200


def test_password_and_sessions(visits: Visits, service: Stack, owner: Member) -> None:
    visit, second = visits(), visits(NARROW)
    page = visit.page
    visit.sign_in(owner, "/account")
    assert page.locator(".facts").inner_text().split("\n")[:2] == ["E-mail", owner.email]
    page.get_by_label("Name").fill("Olive Other")
    page.get_by_role("button", name="Change the name").click()
    page.get_by_role("link", name="Olive Other").wait_for()
    second.sign_in(owner, "/account")
    visit.expect("status of 401", "status of 422")
    present, new = page.locator("[name=current_password]"), page.locator("[name=new_password]")
    present.fill("Not-The-Password-1")
    new.fill(NEW_PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    page.get_by_text("Incorrect password").wait_for()
    refusals = [url for status, url in visit.statuses if status == 401]
    assert refusals == [f"{visit.url}{AUTH}/password/change"], "a wrong password is sent once, and is no lost session"
    present.fill(PASSWORD)
    new.fill(PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    page.get_by_text("this is the present password").wait_for()
    new.fill(NEW_PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    page.get_by_text("The password is changed").wait_for()
    assert (present.input_value(), new.input_value()) == ("", "")
    page.reload()
    page.get_by_role("heading", name="Account").wait_for()
    visit.check_accessible("account")

    second.expect("status of 401")
    second.page.reload()
    second.page.wait_for_url("**/#/sign-in?next=%2Faccount")
    second.page.get_by_label("E-mail").fill(owner.email)
    second.page.locator("[name=password]").fill(NEW_PASSWORD)
    second.page.get_by_role("button", name="Sign in").click()
    second.page.get_by_role("heading", name="Account").wait_for()
    assert second.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    second.page.get_by_role("button", name="Sign out everywhere").click()
    second.check_accessible("the question before signing out everywhere")
    second.page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    second.page.wait_for_url("**/#/sign-in")
    page.get_by_role("link", name="Admin").click()
    page.wait_for_url("**/#/sign-in?next=%2Fadmin")
    answer = owner.get("/api/v1/auth/me")
    assert answer.status_code == 401
