"""Pictures of the console's screens on the demo's deals: `python -m tests.screenshots [FOLDER]`, `make screenshots`."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from service.commands.demo import EMAIL, loaded
from service.commands.demo_deals import checked

ROOT: Final = Path(__file__).parents[1]
ASSETS: Final = ROOT / "docs" / "assets"
PASSWORD: Final = "Pictures-1-of-the-console"  # noqa: S105 - of a service that ends with this program
SIZES: Final[tuple[ViewportSize, ...]] = ({"width": 1440, "height": 900}, {"width": 390, "height": 844})
COLOURS, COMMON = 255, 48
PATIENCE_MS: Final = 30_000
FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
DRAWN: Final = """() => document.querySelector('main')?.innerText.trim()
  && !document.querySelector('.waiting, .starting, .works')"""
FAULTS: Final = "[...document.querySelectorAll('.problem, .notice.bad')].map((one) => one.innerText)"
LOGIN: Final = """([username, password]) => fetch("/api/v1/auth/login", {
  method: "POST", headers: {"X-Session": "cookie"}, body: new URLSearchParams({username, password}),
}).then((answer) => localStorage.setItem("cushion.session", "1") ?? answer.status)"""

Known = dict[str, str]


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the address that shows it, and what is there once it is drawn."""

    name: str
    address: str
    file: str
    """The screen's module."""
    ready: str = "main h1"
    asset: str | None = None
    """Its name in the guide; None: it is in no page."""
    is_dark: bool = False
    """Taken in the dark, too."""
    is_open: bool = False
    """Nobody is signed in."""


SHOTS: Final = (
    Shot("sign-in", "/sign-in", "sign_in", is_open=True),
    Shot("register", "/register", "sign_in", is_open=True),
    Shot("deals", "/deals", "deals", "table.deals tbody tr", asset="console-deals"),
    Shot("compliance", "/deals/{deal}/compliance", "compliance", "main table tbody tr", is_dark=True),
    Shot(
        "drill", "/deals/{deal}/compliance?test={test}", "compliance", "aside table tbody tr",
        asset="console", is_dark=True,
    ),
    Shot("limit", "/deals/{deal}/compliance?test={test}&edit=limit", "compliance", "aside form"),
    Shot("loans", "/deals/{deal}/loans", "loans", ".grid-body .grid-row", asset="console-loans"),
    Shot("mapping", "/deals/{deal}/mapping", "mapping", ".picture", asset="console-mapping"),
    Shot("column", "/deals/{deal}/mapping?col={column}", "mapping", "aside h2"),
    Shot("tie-out", "/deals/{deal}/tie-out", "tie_out"),
    Shot("movements", "/deals/{deal}/movements", "movements", "main table tbody tr"),
    Shot("movement", "/deals/{deal}/movements?test={test}", "movements", "main svg"),
    Shot(
        "what-if", "/deals/{deal}/what-if?scenario={scenario}", "what_if", "fieldset.trade",
        asset="console-what-if",
    ),
    Shot(
        "reconciliation", "/deals/{deal}/reconciliation?issue={issue}", "reconciliation", "aside table",
        asset="console-reconciliation",
    ),
    Shot("settings", "/deals/{deal}/settings", "deal_settings"),
    Shot("definition", "/deals/{deal}/settings?part=definition", "deal_settings"),
    Shot("ask", "/deals/{deal}/ask", "ask"),
    Shot("formulas", "/formulas", "formulas"),
    Shot("exports", "/exports", "exports"),
    Shot("alerts", "/alerts", "alerts"),
    Shot("account", "/account", "account"),
    Shot("people", "/admin/people", "admin"),
    Shot("keys", "/admin/keys", "admin"),
    Shot("tenant", "/admin/settings", "admin"),
    Shot("audit", "/admin/audit", "admin"),
)  # fmt: skip


def main() -> int:
    """Take all pictures; 1 where a screen shows a fault."""
    parser = ArgumentParser(prog="python -m tests.screenshots", description="Pictures of the console's screens.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "build" / "screenshots")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with loaded(PASSWORD) as (service, _), browser() as opened:
        faults = shoot(opened, service.url, prepare(service.url), folder)
    for fault in faults:
        print(fault, file=sys.stderr)
    for shot in SHOTS:
        if shot.asset:
            shutil.copyfile(folder / f"{shot.name}-1440.png", ASSETS / f"{shot.asset}.png")
    print(f"{folder}: {len(list(folder.glob('*.png')))} pictures")
    return 1 if faults else 0


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


def shoot(opened: Browser, url: str, known: Known, folder: Path, only: Callable[[Shot], bool] = bool) -> list[str]:
    """Take the pictures that are wanted, wide and narrow; what was wrong on a screen."""
    faults = []
    for size in SIZES:
        for is_open in (True, False):
            context = opened.new_context(viewport=size, reduced_motion="reduce")
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{url}/console/")
            if not is_open:
                assert page.evaluate(LOGIN, [EMAIL, PASSWORD]) == 200
            for shot in SHOTS:
                if shot.is_open is is_open and only(shot):
                    faults += [f"{shot.name}, {size['width']}: {fault}" for fault in _take(page, url, shot, known, folder)]
            context.close()
    return faults


def _take(page: Page, url: str, shot: Shot, known: Known, folder: Path) -> list[str]:
    page.goto("about:blank")
    page.goto(f"{url}/console/#{shot.address.format_map(known)}")
    page.locator(shot.ready).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function(DRAWN)
    width = page.viewport_size["width"] if page.viewport_size else 0
    for scheme in ("light", "dark") if shot.is_dark else ("light",):
        page.emulate_media(color_scheme=scheme)
        path = folder / f"{shot.name}-{width}{'-dark' if scheme == 'dark' else ''}.png"
        page.screenshot(path=path)
        _shrink(path)
    page.emulate_media(color_scheme="light")
    return [str(fault) for fault in page.evaluate(FAULTS)]


def _shrink(path: Path) -> None:
    """Keep the commonest colours as they are and some for the edges of letters: a third of the bytes."""
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    usual = sorted(full.getcolors(full.width * full.height) or (), reverse=True)[:COMMON]
    palette = Image.new("P", (1, 1))
    rest = full.quantize(COLOURS - len(usual), method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette.putpalette([*(part for _, colour in usual for part in colour), *rest])  # type: ignore[attr-defined]
    full.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


# What the screens show beside the demo's deals ------------------------------------------------------------------------


def prepare(url: str) -> Known:
    """Make a scenario, an alert, an export, a report, a formula and a colleague; the names that addresses want."""
    with httpx.Client(base_url=f"{url}/api/v1/", timeout=60) as client:
        tokens = checked(client.post("auth/login", data={"username": EMAIL, "password": PASSWORD}))
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        deal = checked(client.get("console/overview"))["items"][0]
        book = deal["latest"]["workbook_id"]
        run = deal["latest"]["run_id"]
        issues = checked(client.get("reconciliation/issues", params={"status": "open", "page_size": 5}))["items"]
        known = {"deal": deal["id"], "book": book, "test": deal["latest"]["thinnest"]["test_id"], "column": "G"}
        known |= {"issue": issues[0]["id"], "scenario": _scenario(client, book)}
        _others(client, book, run)
        return known


def _scenario(client: httpx.Client, book: str) -> str:
    """Two trades: a loan of the worst rating goes, a better one comes."""
    asked: dict[str, str | int] = {"fields": "borrower_name,par_value,price", "filter": "rating_agency_a:contains:Caa", "sort": "-par_value", "limit": 1}
    worst = checked(client.get(f"workbooks/{book}/loans", params=asked))["columns"]
    sale = {
        "trade_type": "sell", "borrower_name": worst["borrower_name"][0],
        "par_value": worst["par_value"][0], "price": worst["price"][0],
    }  # fmt: skip
    purchase = {
        "trade_type": "buy", "borrower_name": "Aldermoor Water Holdings", "par_value": 2_500_000, "price": 99.25,
        "spread": 375, "rating_agency_a": "B1", "rating_agency_b": "B+", "maturity_date": "2031-05-15",
        "industry": "Utilities: Water",
    }  # fmt: skip
    order = {"name": "Out of Caa, into B1", "base_workbook_id": book, "trades": [sale, purchase]}
    return str(checked(client.post("scenarios", json=order))["id"])


def _others(client: httpx.Client, book: str, run: str) -> None:
    made: list[tuple[str, dict[str, Any]]] = [
        ("admin/users/invite", {"email": "ann@example.com", "full_name": "Ann Analyst", "role": "analyst"}),
        ("admin/api-keys", {"name": "Nightly upload", "permissions": ["workbooks:read", "workbooks:write"]}),
    ]
    for path, body in made:
        checked(client.post(path, json=body))


if __name__ == "__main__":
    sys.exit(main())
