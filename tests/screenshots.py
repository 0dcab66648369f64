"""Pictures of the console's screens on the demo's deals.

`python -m tests.screenshots [FOLDER]`, `make screenshots`.
"""

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
import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from service.commands.demo import EMAIL, loaded
from service.commands.demo_deals import checked

ROOT: Final = Path(__file__).parents[1]
ASSETS: Final = ROOT / "docs" / "assets"
PASSWORD: Final = "Pictures-1-of-the-console"
SIZES: Final[tuple[ViewportSize, ...]] = ({"width": 1440, "height": 900}, {"width": 390, "height": 844})
COLOURS, COMMON = 255, 48
PATIENCE_MS: Final = 30_000
SWITCH_MS: Final = 300
"""After which the screen before is gone."""
FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
DRAWN: Final = """() => document.querySelector('main')?.innerText.trim()
  && !document.querySelector('.waiting, .starting, .notices progress')"""
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
    types: tuple[str, str, str] | None = None
    """A field, what is typed there, and the button that is pressed then."""
    chooses: str | None = None
    """The name of a file that is added."""
    shows: str | None = None
    """What is there after that."""
    is_dark: bool = False
    """Taken in the dark, too."""
    is_open: bool = False
    """Nobody is signed in."""


SHOTS: Final = (
    Shot("sign-in", "/sign-in", "sign_in", is_open=True),
    Shot("register", "/register", "sign_in", is_open=True),
    Shot("deals", "/deals", "deals", "table.deals tbody tr", asset="console-deals"),
    Shot("add", "/deals", "deals", chooses="Harbour Point CLO 2022-1 2026-04-30.xlsx", shows="dialog form"),
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
        "what-if", "/deals/{deal}/what-if?scenario={scenario}", "what_if", ".desk td:last-child span",
        asset="console-what-if",
    ),
    Shot(
        "reconciliation", "/deals/{deal}/reconciliation?issue={issue}", "reconciliation", "aside table",
        asset="console-reconciliation",
    ),
    Shot("settings", "/deals/{deal}/settings", "deal_settings"),
    Shot("definition", "/deals/{deal}/settings?part=definition", "deal_settings"),
    Shot(
        "ask", "/deals/{deal}/ask", "ask",
        types=("Your question", "What are the three largest obligors?", "Ask"), shows="article table",
    ),
    Shot("insights", "/ask", "ask", "details.card"),
    Shot(
        "formulas", "/formulas", "formulas", "p.row button.pill",
        types=("Formula", "[@[Par Amount]] * [@[Market Price]] / 100", "Try it"), shows="main table tbody tr",
    ),
    Shot("formula", "/formulas?formula={formula}", "formulas", "main svg"),
    Shot("exports", "/exports", "exports", "main table tbody tr"),
    Shot("reports", "/exports?tab=reports", "exports", "main table tbody tr"),
    Shot("verify", "/exports?tab=verify", "exports"),
    Shot("inbox", "/alerts", "alerts", "main table tbody tr"),
    Shot("alerts", "/alerts?tab=alerts", "alerts", "main table tbody tr"),
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
                page.reload()
            for shot in SHOTS:
                if shot.is_open is is_open and only(shot):
                    faults += [
                        f"{shot.name}, {size['width']}: {fault}" for fault in _take(page, url, shot, known, folder)
                    ]
            context.close()
    return faults


def _take(page: Page, url: str, shot: Shot, known: Known, folder: Path) -> list[str]:
    page.goto(f"{url}/console/#{shot.address.format_map(known)}")  # the page stays: each load of it renews its session
    page.wait_for_timeout(SWITCH_MS)
    page.locator(shot.ready).first.wait_for()
    if shot.types:
        field, text, button = shot.types
        page.get_by_label(field, exact=True).fill(text)
        page.get_by_role("button", name=button, exact=True).click()
        page.locator(shot.shows or shot.ready).first.wait_for()
    if shot.chooses:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add a file").click()
        chooser.value.set_files({"name": shot.chooses, "mimeType": "application/octet-stream", "buffer": b"-"})
        page.locator(shot.shows or shot.ready).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function(DRAWN)
    width = page.viewport_size["width"] if page.viewport_size else 0
    for scheme in ("light", "dark") if shot.is_dark else ("light",):
        page.emulate_media(color_scheme=scheme)
        path = folder / f"{shot.name}-{width}{'-dark' if scheme == 'dark' else ''}.png"
        page.screenshot(path=path)
        _shrink(path)
    page.emulate_media(color_scheme="light")
    if shot.chooses:
        page.keyboard.press("Escape")
    return [str(fault) for fault in page.evaluate(FAULTS)]


def _shrink(path: Path) -> None:
    """Write a picture with a palette, a third of the bytes.

    Its commonest colours as they are.
    """
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    codes = np.asarray(full).astype(np.int32) @ (1 << 16, 1 << 8, 1)
    colours, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    usual = colours[np.argsort(-counts)[:COMMON]]
    rest = full.quantize(COLOURS - COMMON, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = np.concatenate([_parts(usual), np.array(rest).reshape(-1, 3)])
    apart = ((_parts(colours)[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    small = Image.fromarray(apart.argmin(axis=1)[places].reshape(codes.shape).astype(np.uint8), "P")
    small.putpalette(palette.astype(np.uint8).tobytes())
    small.save(path, optimize=True)


def _parts(colours: Any) -> Any:
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)


# What the screens show beside the demo's deals ------------------------------------------------------------------------


def prepare(url: str) -> Known:
    """Make what the demo lacks.

    A scenario, an alert, documents, a formula; the names that addresses want.
    """
    with httpx.Client(base_url=f"{url}/api/v1/", timeout=60) as client:
        tokens = checked(client.post("auth/login", data={"username": EMAIL, "password": PASSWORD}))
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        deal = checked(client.get("console/overview"))["items"][0]
        book = deal["latest"]["workbook_id"]
        tape = checked(client.get("reconciliation/tapes"))["items"][0]["id"]
        queue = checked(client.get("reconciliation/issues", params={"tape_id": tape, "status": "open"}))["items"]
        issue = next(item["id"] for item in queue if item["issue_type"] == "value_mismatch")
        known = {"deal": deal["id"], "book": book, "test": deal["latest"]["thinnest"]["test_id"], "column": "G"}
        return known | {"issue": issue, "scenario": _scenario(client, book), "formula": _others(client, book)}


def _scenario(client: httpx.Client, book: str) -> str:
    """Two trades: a loan of the worst rating goes, a better one comes."""
    asked: dict[str, str | int] = {
        "fields": "borrower_name,par_value,price",
        "filter": "rating_agency_a:contains:Caa",
        "sort": "-par_value",
        "limit": 1,
    }
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


GRAPH: Final = {
    "version": "1",
    "template_id": "custom",
    "nodes": [
        {"id": "par", "type": "column_ref", "params": {"column": "Par Amount"}},
        {"id": "price", "type": "column_ref", "params": {"column": "Market Price"}},
        {"id": "result", "type": "expression", "params": {"formula": "=par*price/100"}},
    ],
    "edges": [
        {"id": name, "source": {"nodeId": name, "port": "output"}, "target": {"nodeId": "result", "port": name}}
        for name in ("par", "price")
    ],
}
ALERT: Final = {"name": "A test of Harbour Point fails", "alert_type": "compliance", "conditions": {"status": ["fail"]}}


def _others(client: httpx.Client, book: str) -> str:
    """Make what the other lists show; the identifier of the formula."""
    inbox = {"type": "in_app", "config": {"user_ids": [checked(client.get("auth/me"))["id"]], "priority": "high"}}
    result: list[tuple[str, dict[str, Any]]] = [
        ("admin/users/invite", {"email": "ann@example.com", "full_name": "Ann Analyst", "role": "analyst"}),
        ("admin/api-keys", {"name": "Nightly upload", "permissions": ["workbooks:read", "workbooks:write"]}),
        ("alerts/configure", {**ALERT, "workbook_id": book, "channels": [inbox]}),
        ("compliance/run", {"workbook_id": book, "test_suite": "enhanced"}),
        ("exports", {"workbook_id": book, "format": "xlsx"}),
        ("reports/generate", {"report_type": "compliance", "workbook_id": book}),
        ("insights/generate", {"stakeholder_type": "analyst"}),
    ]
    checked(client.put(f"insights/nominations/{book}", json={"is_nominated": True}))
    for path, body in result:
        checked(client.post(path, json=body))
    formula = {"name": "Market value", "description": "Of each loan", "template_id": "custom", "graph": GRAPH}
    made_formula = checked(client.post("formulas", json=formula))
    checked(client.patch(f"formulas/{made_formula['id']}", json={"status": "active"}))
    return str(made_formula["id"])


if __name__ == "__main__":
    sys.exit(main())
