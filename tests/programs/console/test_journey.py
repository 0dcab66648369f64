"""Three people's work.

An analyst from the registration to the sign-out, a viewer, an admin.
"""

from __future__ import annotations

import csv
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from uuid import uuid4

import httpx
import openpyxl
import pytest
from playwright.sync_api import Locator, Page, expect

from core.generate import generate, generate_report
from tests.conftest import PASSWORD, Member, Stack, member, wait_until
from tests.programs.console.conftest import Visit, Visits, checked, on_enterprise
from tests.programs.console.seeds import LOANS, deal_with_months, tape_file
from tests.programs.console.test_admin import check_narrow
from tests.programs.console.test_deals import drop
from tests.programs.console.test_sign_in import fill
from tests.service.auth.conftest import AUTH, letters, token_of

REAL: Final = Path(__file__).parents[3] / "../shared/data/cairn-xvii/report-2024-12-16.xlsx"
SEED: Final = 7
PRICED: Final = ("Market Price", "Level")
"""A heading of the trustee's pages, and one that says nothing: the column has to be chosen by hand."""
DOCUMENT_MS: Final = 60_000
"""For what a child process makes, which has to start first."""
WORKED: Final = "jarfaarrffarjkarfaafrra"
"""Keys of somebody who works a queue: 20 issues, some of them looked at twice."""


def trustee_report() -> bytes:
    """A trustee's report of ten pages, whose prices stand under a heading that no reader knows."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.xlsx"
        generate_report(generate(loans=LOANS, seed=SEED, faults=("breach_ccc",)), "pages").write(path)
        book = openpyxl.load_workbook(path)
    for cell in (cell for sheet in book for row in sheet.iter_rows(max_row=10) for cell in row):
        if cell.value == PRICED[0]:
            cell.value = PRICED[1]
    file = BytesIO()
    book.save(file)
    return file.getvalue()


@contextmanager
def step(visit: Visit, what: str, *lines: str) -> Iterator[None]:
    """One step of a journey, and what the browser prints in it.

    These lines and no other.

    The screen that it ends with is accessible and has room at 390 pixels, and nothing was refused for being too much.
    """
    begun = time.perf_counter()
    visit.expected[:] = lines
    try:
        yield
        visit.check_accessible(what)
        check_narrow(visit, what)
        visit.check_clean()
        missing = [line for line in lines if not any(line in printed for printed in visit.printed)]
        assert missing == [], "each of these lines is provoked"
    except Exception as error:
        error.add_note(f"in the step: {what}")
        raise
    print(f"{what}: {time.perf_counter() - begun:.1f} s; console lines: {visit.printed or 'none'}")
    visit.printed.clear()


def tests_of(page: Page) -> Locator:
    """The rows of the table of tests."""
    return page.get_by_role("region", name="Tests", exact=True).locator("tbody tr")


def panel(page: Page) -> Locator:
    return page.locator("aside.drill")


def tab(page: Page, name: str) -> None:
    """Go to another screen of the deal."""
    page.get_by_role("navigation", name="Deal", exact=True).get_by_role("link", name=name, exact=True).click()


def signed_in(service: Stack, email: str) -> Member:
    """Somebody who registered in the browser, with a token of the API beside."""
    form = {"username": email, "password": PASSWORD}
    return member(service.url, checked(httpx.post(f"{service.url}{AUTH}/login", data=form, timeout=60)), email)


def test_an_analyst_works_from_the_registration_to_the_sign_out(visits: Visits, service: Stack, tmp_path: Path) -> None:
    desk = visits()
    email = f"ann-{uuid4().hex[:12]}@example.com"
    _register(desk, email)
    analyst = signed_in(service, email)
    _drop_a_report(desk)
    _correct_a_column(desk, analyst)
    _drill(desk)
    _set_a_limit(desk)
    _try_trades(desk, analyst)
    _compare_a_tape(desk)
    _work_issues(desk, analyst)
    _save_a_document(desk)
    _export_and_verify(desk, tmp_path)
    _invite(desk, visits(), service)
    _sign_out(desk)


def _register(desk: Visit, email: str) -> None:
    page = desk.page
    with step(desk, "the way in"):
        desk.go("/")
        page.wait_for_url("**/#/sign-in?next=*")
    with step(desk, "register"):
        page.get_by_role("link", name="Register an organisation").click()
        fill(desk, organization_name="Example Capital", full_name="Ann Analyst", email=email, password=PASSWORD)
        page.get_by_role("button", name="Register").click()
        expect(page.get_by_role("heading", name="No deals yet")).to_be_visible()


def _drop_a_report(desk: Visit) -> None:
    page = desk.page
    with step(desk, "drop a trustee's report"):
        drop(page, **{"Example CLO VIII 2026-03-31.xlsx": trustee_report()})
        dialog = page.get_by_role("dialog", name="Example CLO VIII 2026-03-31.xlsx")
        expect(dialog.get_by_label("Month of a deal")).to_be_checked()
        expect(dialog.get_by_label("Name of the deal")).to_have_value("Example CLO VIII")
        dialog.get_by_role("button", name="Add").click()
        page.wait_for_url("**/compliance?workbook=*")
        expect(page.get_by_role("group", name="Tests by status")).to_contain_text("fail", timeout=DOCUMENT_MS)
        expect(page.get_by_text("As of 2026-03-31")).to_be_visible()


def _correct_a_column(desk: Visit, analyst: Member) -> None:
    page = desk.page
    with step(desk, "the mapping"):
        tab(page, "Mapping")
        expect(page.locator(".banner")).to_contain_text(f"{LOANS} loanson Asset Characteristics I, rows 6–{LOANS + 5}")
        expect(page.get_by_text("have no price")).to_have_count(1)
    with step(desk, "a column corrected"):
        page.locator(".picture").get_by_role("button", name="K feeds nothing").click()
        expect(panel(page)).to_contain_text(PRICED[1])
        page.get_by_label("Search a field").fill("price")
        panel(page).get_by_role("button", name="Price", exact=True).click()
        corrections = page.get_by_role("region", name="Corrections")
        expect(corrections).to_contain_text("1 correction, not saved")
        expect(corrections.locator("tbody tr").first).to_be_visible()
    with step(desk, "the mapping saved"):
        page.get_by_role("button", name="Save as the deal's mapping").click()
        again = page.get_by_role("link", name="Run the tests by the new mapping")
        expect(again).to_be_visible()
        expect(page.get_by_text("have no price")).to_have_count(0)
    with step(desk, "compliance"):
        before = len(checked(analyst.get("/api/v1/compliance/history"))["items"])
        again.click()
        expect(tests_of(page).first).to_be_visible()
        expect(page).not_to_have_url(re.compile("run=now"))
        assert len(checked(analyst.get("/api/v1/compliance/history"))["items"]) == before + 1
        assert "rating_agency" not in page.locator("body").inner_text()


def _drill(desk: Visit) -> None:
    """A figure's parts add up to its numerator, to the last cent of the file that is saved."""
    page = desk.page
    with step(desk, "drill"):
        row = tests_of(page).filter(has_text="CCC/Caa bucket")
        expect(row).to_contain_text("fail")
        row.click()
        added = panel(page).get_by_text("add up to the numerator")
        expect(added).to_be_visible(timeout=DOCUMENT_MS)
        numerator = int(re.sub(r"\D", "", added.inner_text().partition("numerator")[2]))
        with page.expect_download() as saving:
            panel(page).get_by_role("button", name="Save all as CSV").click()
        with open(saving.value.path(), encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        assert round(sum(float(row["amount"]) for row in rows)) == numerator > 0


def _set_a_limit(desk: Visit) -> None:
    page = desk.page
    with step(desk, "a limit set"):
        page.keyboard.press("e")
        panel(page).get_by_label("Limit").fill("40")
        page.keyboard.press("Enter")
        expect(panel(page)).to_contain_text("Limit ≤ 40.00 %, set for this deal")
        page.keyboard.press("Escape")
        expect(tests_of(page).filter(has_text="CCC/Caa bucket")).to_contain_text("pass")


def _try_trades(desk: Visit, analyst: Member) -> None:
    """Every test before and after a sale, while it is typed; nothing is stored."""
    page = desk.page
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url) if sent.url.endswith("/scenarios/preview") else None)
    with step(desk, "what-if"):
        tab(page, "What-if")
        page.get_by_role("button", name="Add a sale").click()
        loans = page.locator("datalist option")
        page.get_by_label("Borrower").press_sequentially("Ald", delay=20)
        expect(loans.first).to_be_attached()
        page.get_by_label("Borrower").fill(str(loans.first.get_attribute("value")))
        expect(page.get_by_label("Par", exact=True)).not_to_have_value("")
        par = page.get_by_label("Par", exact=True)
        change = page.get_by_role("region", name="Tests before and after").locator("tbody tr").first.locator("td").last
        expect(change).not_to_have_text("–")
        whole = change.inner_text()
        quarter = str(float(par.input_value()) / 4)
        par.fill("")
        begun = len(asked)
        par.press_sequentially(quarter, delay=20)
        expect(change).not_to_have_text(re.compile(f"–|{re.escape(whole)}"))
        assert 1 <= len(asked) - begun < len(quarter), "a question after the last key, not after each"
        assert checked(analyst.get("/api/v1/scenarios"))["total"] == 0


def _compare_a_tape(desk: Visit) -> None:
    page = desk.page
    with step(desk, "a tape compared"):
        tab(page, "Reconciliation")
        expect(page.get_by_role("heading", name="No tape yet")).to_be_visible()
        drop(page, **{"Example CLO VIII statement 2026-03-31.xlsx": tape_file(SEED, 1)})
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("Trustee's tape")).to_be_checked()
        expect(dialog.get_by_label("Statement date")).to_have_value("2026-03-31")
        dialog.get_by_role("button", name="Add").click()
        expect(page.get_by_text("loans matched")).to_be_visible(timeout=DOCUMENT_MS)
        expect(page.get_by_role("table", name="Issues").get_by_role("row").nth(1)).to_be_visible()


def _work_issues(desk: Visit, analyst: Member) -> None:
    """Twenty issues by keys alone; the service has what was said of each."""
    page = desk.page
    statuses = {"a": "acknowledged", "r": "resolved", "f": "false_positive"}
    worked = Counter(statuses[key] for key in WORKED if key in statuses)
    assert worked.total() == 20
    summary = "/api/v1/reconciliation/issues/summary"
    before = checked(analyst.get(summary))["by_status"]
    assert before["open"] > worked.total()
    with step(desk, "twenty issues worked by keyboard"):
        page.keyboard.press("j")
        expect(panel(page).get_by_role("heading").first).to_be_focused()
        for key in WORKED:
            page.keyboard.press(key)
        expect(page.get_by_role("button", name=f"Open {before['open'] - worked.total()}")).to_be_visible()
        after = checked(analyst.get(summary))["by_status"]
        assert {name: after[name] - before[name] for name in worked} == worked
        page.keyboard.press("u")
        expect(page.get_by_role("button", name=f"Open {before['open'] - worked.total() + 1}")).to_be_visible()


def _save_a_document(desk: Visit) -> None:
    page = desk.page
    with step(desk, "the PDF of the month"):
        tab(page, "Compliance")
        expect(tests_of(page).first).to_be_visible()
        with page.expect_download(timeout=DOCUMENT_MS) as saving:
            page.get_by_role("button", name="PDF", exact=True).click()
        assert Path(saving.value.path()).read_bytes().startswith(b"%PDF")


def _export_and_verify(desk: Visit, folder: Path) -> None:
    page = desk.page
    with step(desk, "an export"):
        page.get_by_role("link", name="Exports and reports").click()
        page.get_by_role("button", name="Make an export").click()
        page.get_by_role("button", name="Make it").click()
        expect(page.get_by_text("The export is ready")).to_be_visible(timeout=DOCUMENT_MS)
        with page.expect_download() as saving:
            page.locator("tbody tr").get_by_role("button", name="Download").click()
        export = folder / saving.value.suggested_filename
        saving.value.save_as(export)
    with step(desk, "the export verified"):
        drop(page, **{export.name: export.read_bytes()})
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Export of Cushion, to verify").check()
        dialog.get_by_role("button", name="Verify").click()
        expect(page.locator(".banner.pass")).to_contain_text("As it was exported")


def _invite(desk: Visit, other_visit: Visit, service: Stack) -> None:
    """A colleague follows the link of the mail, and sees the deal."""
    page = desk.page
    email = f"carl-{uuid4().hex[:12]}@example.com"
    with step(desk, "a colleague invited"):
        page.get_by_role("link", name="Admin", exact=True).click()
        page.get_by_role("button", name="Invite somebody").click()
        dialog = page.get_by_role("dialog")
        fill(desk, email=email, full_name="Carl Colleague")
        dialog.get_by_role("button", name="Invite").click()
        dialog.get_by_role("button", name="Done").click()
        expect(page.get_by_role("cell", name=email)).to_be_visible()
    (letter,) = letters(service, email, about="Invitation to Example Capital")
    with step(other_visit, "an invitation accepted"):
        other_visit.go(f"/accept-invitation?token={token_of(letter)}")
        fill(other_visit, password=PASSWORD)
        other_visit.page.get_by_role("button", name="Join").click()
        expect(other_visit.page.get_by_text("Welcome to Example Capital, Carl Colleague")).to_be_visible()
        expect(other_visit.page.locator("main").get_by_role("link", name="Example CLO VIII")).to_be_visible()


def _sign_out(desk: Visit) -> None:
    page = desk.page
    with step(desk, "sign out"):
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url("**/#/sign-in")
        desk.go("/admin")
        page.wait_for_url("**/#/sign-in?next=%2Fadmin")
    assert page.evaluate("Object.keys(localStorage)") == []
    assert page.context.cookies() == []


@pytest.mark.parametrize("kind", ["flat", *(["real"] if REAL.exists() else [])])
def test_another_report_is_dropped_and_drilled(visits: Visits, owner: Member, tmp_path: Path, kind: str) -> None:
    """Files of other trustees.

    An archive of delimited texts, and a real one where it is at hand.
    """
    file = REAL
    if kind == "flat":
        file = tmp_path / "Example CLO IX 2026-03-31.zip"
        generate_report(generate(loans=LOANS, seed=SEED), "flat").write(file)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/deals")
    with step(desk, f"a {kind} report"):
        drop(page, **{file.name: file.read_bytes()})
        page.get_by_role("dialog").get_by_role("button", name="Add").click()
        expect(tests_of(page).first).to_be_visible(timeout=DOCUMENT_MS)
        for _ in range(2):
            page.keyboard.press("j")
            expect(panel(page).get_by_role("heading", name="What is behind it")).to_be_visible()
        desk.settle()
    with step(desk, f"the mapping of a {kind} report"):
        tab(page, "Mapping")
        expect(page.locator(".picture")).to_be_visible()


VIEWED: Final = (
    "/deals",
    *(f"/deals/{{deal}}/{name}" for name in ("compliance", "compliance?test=ccc_bucket_pct", "loans", "mapping")),
    *(f"/deals/{{deal}}/{name}" for name in ("tie-out", "movements", "what-if", "reconciliation", "ask", "settings")),
    "/reconciliation",
    "/formulas",
    "/ask",
    *(f"/exports?tab={name}" for name in ("exports", "reports", "verify")),
    "/alerts",
    "/account",
    "/admin",
)
"""Every screen that a viewer may open."""
BUTTONS: Final = "main button:enabled:visible:not(.heading):not(.copy):not(.cell):not(th + th .column-head)"
"""Buttons that may ask the service: a heading orders the table, a cell opens what an address opens."""

GOODBYE: Final = "Sign out here"
"""The button that comes last."""


def full_tenant(owner: Member) -> dict[str, str]:
    """A deal with months, a tape with its issues, a scenario, an export, an alert, a limit: {"deal", "workbook"}."""
    deal = deal_with_months(owner)
    newest = deal["workbooks"][-1]
    form = {"kind": "tape", "trustee_name": "trustee_a", "statement_date": "2026-06-30"}
    files = {"files": ("tape.xlsx", tape_file(SEED, 1))}
    tape = checked(owner.post(f"/api/v1/deals/{deal['id']}/files", files=files, data=form))["tape"]["tape_id"]
    wait_until(
        lambda: _state(owner, f"reconciliation/tapes/{tape}", "processing_status") == "completed", what="the tape"
    )
    job = checked(owner.post("/api/v1/reconciliation/compare", json={"tape_id": tape, "workbook_id": newest}))
    wait_until(
        lambda: _state(owner, f"reconciliation/compare/{job['job_id']}/status", "status") == "completed",
        what="the comparison",
    )
    trade = {"trade_type": "buy", "borrower_name": "New Borrower", "par_value": 1_000_000, "rating_agency_a": "B2"}
    scenario = {"name": "Buy one", "base_workbook_id": newest, "trades": [trade]}
    checked(owner.post("/api/v1/scenarios", json=scenario))
    body = checked(owner.post("/api/v1/exports", json={"workbook_id": newest, "format": "csv"}))
    wait_until(lambda: _state(owner, f"exports/{body['id']}", "status") == "completed", what="the export")
    inbox = {"type": "in_app", "config": {"user_ids": [owner.user_id]}}
    alert = {"name": "Every morning", "alert_type": "schedule", "conditions": {"schedule": "0 8 * * 1-5"}}
    checked(owner.post("/api/v1/alerts/configure", json={**alert, "channels": [inbox]}))
    limit = {"test_id": "wal", "threshold_value": 9, "threshold_type": "max", "deal_id": deal["id"]}
    checked(owner.post("/api/v1/compliance/thresholds", json=limit))
    return {"deal": deal["id"], "workbook": newest, "tape": tape}


def _state(owner: Member, path: str, name: str) -> object:
    """A record's state once it changes: the service answers then."""
    return checked(owner.get(f"/api/v1/{path}?wait=5"))[name]


def _open(visit: Visit, address: str) -> None:
    visit.go(address)
    visit.settle()


def _press_all(visit: Visit, address: str) -> list[str]:
    """Press each button of a screen once, of those with the same words the first.

    Gives their words.
    """
    page = visit.page
    _open(visit, address)
    names = dict.fromkeys(" ".join(text.split()) for text in page.locator(BUTTONS).all_inner_texts())
    names.pop(GOODBYE, None)
    for name in names:
        words = re.compile(r"^\s*" + r"\s*".join(map(re.escape, name.split())) + r"\s*$")
        page.locator(BUTTONS).filter(has_text=words).first.click()
        visit.settle()
        assert visit.statuses == [], f"{name!r} at {address}"
        if page.get_by_role("dialog").count():
            page.keyboard.press("Escape")
        if page.url != f"{visit.url}/console/#{address}":
            _open(visit, address)
    return list(names)


def test_a_viewer_sees_everything_and_no_button_that_fails(visits: Visits, owner: Member) -> None:
    """Every button of every screen is pressed.

    The service refuses nothing, and nothing is changed but one's own.
    """
    on_enterprise(owner)
    tenant = full_tenant(owner)
    visit = visits()
    viewer = owner.invite("viewer")
    visit.sign_in(viewer, "/")
    for template in VIEWED:
        address = template.format(**tenant)
        begun = time.perf_counter()
        pressed = _press_all(visit, address)
        print(f"{template}: {time.perf_counter() - begun:.1f} s: {', '.join(pressed)}")
        assert visit.page.get_by_role("alert").count() == 0, address
        assert re.findall("rating_agency|trustee_[abc]", visit.page.locator("body").inner_text()) == [], address
    visit.go("/account")
    visit.page.get_by_role("button", name=GOODBYE).click()
    visit.page.wait_for_url("**/#/sign-in")
    query = {"user_id": viewer.user_id, "page_size": 100}
    entries = checked(owner.get("/api/v1/admin/audit-logs", params=query))["items"]
    assert {entry["action"] for entry in entries} <= OWN_ACTIONS


OWN_ACTIONS: Final = {
    *(f"user.{name}" for name in ("joined", "logged_in", "logged_out", "two_factor_enrolment_begun")),
    "export.downloaded",
}
"""What the audit log has of somebody who only looks."""
LABELS: Final = {"First agency": "Agency One", "First trustee": "Harbour Trust"}


def test_an_admin_looks_after_the_organisation(visits: Visits, owner: Member) -> None:
    on_enterprise(owner)
    tenant = full_tenant(owner)
    admin = owner.invite("admin")
    visit = visits()
    visit.sign_in(admin, "/")
    _look_after_people(visit, owner.invite("viewer"))
    _make_a_key(visit)
    _name_agencies(visit, tenant)
    _read_the_log(visit, admin)


def _look_after_people(visit: Visit, viewer: Member) -> None:
    page = visit.page
    with step(visit, "people"):
        page.locator("nav.side a[href='#/admin']").click()
        row = page.get_by_role("row").filter(has_text=viewer.email)
        row.get_by_role("combobox").select_option("analyst")
        expect(page.get_by_text("Viewer is analyst now")).to_be_visible()
        assert "owner" not in row.get_by_role("combobox").inner_text().lower(), "an admin makes no owners"


def _make_a_key(visit: Visit) -> None:
    page = visit.page
    with step(visit, "a key"):
        page.get_by_role("link", name="API keys").click()
        page.get_by_role("button", name="Make a key").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Nightly upload")
        dialog.get_by_label("compliance:read").check()
        dialog.get_by_role("button", name="Make the key").click()
        headers = {"X-API-Key": dialog.get_by_label("API key").inner_text()}
        dialog.get_by_role("button", name="Done").click()
        assert len(checked(httpx.get(f"{visit.url}/api/v1/deals", headers=headers, timeout=60))["items"]) == 1


def _name_agencies(visit: Visit, tenant: dict[str, str]) -> None:
    """What an agency and a trustee are called is read on every screen that speaks of them."""
    page = visit.page
    deal = f"/deals/{tenant['deal']}"
    with step(visit, "names of agencies"):
        page.get_by_role("link", name="Settings", exact=True).click()
        for field, text in LABELS.items():
            page.get_by_label(field).fill(text)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("The settings are saved")).to_be_visible()
    shown = {
        "Agency One 11.13 %, S&P 11.13 %": f"{deal}/compliance?test=ccc_bucket_pct",
        "Agency One rating": f"{deal}/loans",
        "Agency One issuer rating": f"{deal}/mapping",
        "Harbour Trust": f"{deal}/reconciliation",
    }
    with step(visit, "names on the screens"):
        for text, address in shown.items():
            visit.go(address)
            expect(page.locator("main")).to_contain_text(text)


def _read_the_log(visit: Visit, admin: Member) -> None:
    page = visit.page
    with step(visit, "the audit log"):
        visit.go("/admin/audit?action=tenant.updated")
        expect(page.get_by_role("row").filter(has_text=admin.email)).to_contain_text("tenant.updated")
        page.get_by_role("button", name="Check the chain").click()
        expect(page.get_by_text("The chain is whole")).to_be_visible()
