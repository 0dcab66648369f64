"""A browser and a service with the limits of the standard tier, for the tests of the console's screens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, Response, expect, sync_playwright

from service.platform.config import Settings
from tests.conftest import PASSWORD, Member, Stack, register, run_stack

_DEFAULTS: Final = {item.name: item.default for item in msgspec.structs.fields(Settings)}
_LIMITED: Final = ("requests_per_minute", "request_burst", "requests_per_day", "uploads_per_hour")
SYSTEM_KEY: Final = "system-key-of-the-console-tests-0123456789"
SETTINGS: Final = {
    "CUSHION_DEFAULT_TIER": "standard",
    "CUSHION_SYSTEM_API_KEY": SYSTEM_KEY,
    **{f"CUSHION_{name.upper()}": " ".join(str(figure) for figure in _DEFAULTS[name]) for name in _LIMITED},
}
"""The product's limits; registrations and logins stay raised, since each test has a tenant of its own."""
FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PATIENCE_MS: Final = 15_000
LOOK_MS, QUIET_LOOKS = 25, 3
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
RULES: Final = {"runOnly": ["wcag2a", "wcag2aa"], "resultTypes": ["violations"]}
AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
WATCH: Final = """
window.policyReports = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.policyReports.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
"""
HINT: Final = "localStorage.setItem('cushion.session', '1')"
LOGIN: Final = """([username, password]) => fetch("/api/v1/auth/login", {
  method: "POST", headers: {"X-Session": "cookie"}, body: new URLSearchParams({username, password}),
}).then((answer) => answer.status)"""


@dataclass
class Visit:
    """A page of the console, and what the browser had to say while it was open."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list)
    """Uncaught exceptions."""
    printed: list[str] = field(default_factory=list)
    """Console errors."""
    expected: list[str] = field(default_factory=list)
    """Parts of those lines that a step provokes: the browser's own, for an answer or a connection."""
    statuses: list[tuple[int, str]] = field(default_factory=list)
    """Answers of the API that were refusals."""
    under_way: set[Request] = field(default_factory=set)
    """Requests that have no answer yet."""

    def go(self, address: str) -> None:
        """Open an address of the console: `/deals`."""
        self.page.goto(f"{self.url}/console/#{address}")

    def sign_in(self, member: Member, address: str = "/") -> None:
        """Begin a session as somebody without typing, and open an address."""
        self.page.goto(f"{self.url}/console/")
        assert self.page.evaluate(LOGIN, [member.email, PASSWORD]) == 200
        self.page.evaluate(HINT)
        self.page.goto(f"{self.url}/console/#{address}")
        self.page.reload()
        self.page.locator("nav.side").wait_for(state="attached")

    def settle(self) -> None:
        """Wait until the page has what it asked for, and asks for nothing more."""
        expect(self.page.locator(".waiting")).to_have_count(0)
        quiet = 0
        while quiet < QUIET_LOOKS:
            self.page.wait_for_timeout(LOOK_MS)
            quiet = 0 if self.under_way else quiet + 1

    def expect(self, *parts: str) -> None:
        """Name lines that the browser will print for what the next step provokes."""
        self.expected.extend(parts)

    def check_accessible(self, what: str) -> None:
        """Hold the page against axe's rules of WCAG 2 A and AA, light and dark."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            result = self.page.evaluate(f"async () => {{ {AXE}\nreturn axe.run(document, {json.dumps(RULES)}); }}")
            texts = [
                f"{violation['id']}: {[node['html'][:200] for node in violation['nodes']]}"
                for violation in result["violations"]
            ]
            assert texts == [], f"{what}, {scheme}"
        self.page.emulate_media(color_scheme="light")

    def check_clean(self) -> None:
        """Nothing uncaught, nothing against the content policy, and no line but those that were provoked."""
        reports = [] if self.page.is_closed() else self.page.evaluate("window.policyReports ?? []")
        assert reports == []
        assert self.problems == []
        assert [line for line in self.printed if not any(part in line for part in self.expected)] == []
        assert [row for row in self.statuses if row[0] == 429] == []


@pytest.fixture(scope="session")
def service() -> Iterator[Stack]:
    """A service whose new tenants have the standard tier, with its limits on."""
    with run_stack(**SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "these tests want chromium"
    opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
    yield opened
    opened.close()


Visits = Callable[..., Visit]


@pytest.fixture
def visits(browser: Browser, service: Stack, tmp_path: Path) -> Iterator[Visits]:
    """Open pages, each with cookies of its own or, by `beside`, with another's.

    All are clean at the end.
    """
    opened: list[Visit] = []

    def visit(size: dict[str, int] | None = None, *, beside: Visit | None = None, scheme: str = "light") -> Visit:
        sized = {"viewport": size or WIDE, "color_scheme": scheme, "accept_downloads": True, "reduced_motion": "reduce"}
        context = beside.page.context if beside else browser.new_context(**sized)  # type: ignore[arg-type]
        if beside is None:
            context.add_init_script(WATCH)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        seen = Visit(page, service.url)
        page.on("pageerror", lambda error: seen.problems.append(str(error)))
        page.on("console", lambda message: _note(seen, message))
        page.on("response", lambda answer: _note_refusal(seen, answer))
        page.on("request", lambda asked: seen.under_way.add(asked))
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, lambda asked: seen.under_way.discard(asked))  # type: ignore[call-overload]
        opened.append(seen)
        return seen

    yield visit
    for seen in opened:
        seen.check_clean()
    for context in {seen.page.context for seen in opened}:
        context.close()


def _note(seen: Visit, message: ConsoleMessage) -> None:
    if message.type == "error":
        seen.printed.append(message.text)


def _note_refusal(seen: Visit, answer: Response) -> None:
    if answer.status >= 400:
        seen.statuses.append((answer.status, answer.url))


@pytest.fixture
def owner(service: Stack) -> Member:
    """The owner of a new tenant."""
    return register(service.url)


def checked(answer: Any) -> Any:
    """The JSON of an answer that is no refusal."""
    assert answer.is_success, answer.text
    return answer.json()


def on_enterprise(member: Member) -> None:
    """Put a tenant on the enterprise tier, which has an audit log and the larger volumes."""
    headers = {"X-API-Key": SYSTEM_KEY, "X-Tenant-ID": member.tenant_id}
    url = f"{member.http.base_url}/api/v1/admin/tenant"
    checked(httpx.patch(url, headers=headers, json={"subscription_tier": "enterprise"}))
