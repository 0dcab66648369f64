"""The documentation pages in a real browser.

They draw every operation, and ask no other host for anything.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.conftest import PASSWORD, Stack, register
from tests.programs.test_guide import Browser

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=15000",
    "--window-size=1200,30000",  # operations below the window's edge are drawn once somebody scrolls there
]  # fmt: skip


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_page_is_drawn(stack: Stack, tmp_path: Path, page: str) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "these tests want chromium"
    # The name resolver answers for nothing but this machine: a page that needs the internet stays empty.
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    drawn = subprocess.run(
        [browser, *FLAGS, rules, f"--user-data-dir={tmp_path}", "--dump-dom", stack.url + page],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    paths = httpx.get(stack.url + "/openapi.json").json()["paths"]
    summaries = [operation["summary"] for path in paths.values() for operation in path.values()]
    missing = [summary for summary in summaries if html.escape(summary, quote=False) not in drawn]
    assert missing == []


TYPED = "(name) => document.querySelector(`.dialog-ux input#${name}`)"
CLICK = """(text, within) => {
  const buttons = [...document.querySelectorAll(`${within} button`)];
  const found = buttons.find((one) => one.textContent.trim() === text);
  found?.click();
  return found !== undefined;
}"""


def test_a_person_signs_in_with_e_mail_and_password(stack: Stack, tmp_path: Path) -> None:
    """In the dialog of Swagger UI.

    Then a call that needs a user is answered, and the policy was not in the way.
    """
    member = register(stack.url)
    browser = Browser(tmp_path)

    def click(text: str, within: str = "body") -> None:
        browser.until(f"({CLICK})({json.dumps(text)}, {json.dumps(within)})")

    def type_into(name: str, text: str) -> None:
        browser.until(f"({TYPED})({json.dumps(name)})?.focus() === undefined && document.activeElement.id")
        browser.do("Input.insertText", text=text)

    try:
        browser.do("Page.navigate", url=f"{stack.url}/docs#/auth/get_current_user")
        click("Authorize", ".auth-wrapper")
        browser.until("document.querySelector('.dialog-ux')?.innerText.includes('With two-factor login on')")
        type_into("oauth_username", member.email)
        type_into("oauth_password", PASSWORD)
        click("Authorize", ".dialog-ux .auth-container")
        browser.until("[...document.querySelectorAll('.dialog-ux button')].some((one) => one.textContent === 'Logout')")
        click("Close", ".dialog-ux")
        operation = "#operations-auth-get_current_user"
        click("Try it out", operation)
        click("Execute", operation)
        shown = browser.until(f"document.querySelector('{operation} .live-responses-table')?.innerText")
        assert member.email in shown
        assert browser.messages == []
    finally:
        browser.close()
