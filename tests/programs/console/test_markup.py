"""Markup in what people and files say is shown as text, on every screen."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from openpyxl import Workbook
from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import Visits, checked
from tests.programs.console.seeds import parsed

MARKUP: Final = "<img src=x onerror=alert(1)>"
HEADER: Final = ("LoanX ID", "Borrower", "Par Amount", "Spread", "Moody's Rating", "Industry", f"Note {MARKUP}")
SCREENS: Final = (
    "/deals", "/exports", "/alerts", "/account", "/formulas", "/admin/settings",
    *(f"/deals/{{deal}}/{name}" for name in (
        "compliance?test=industry_concentration", "mapping", "loans", "tie-out", "movements", "what-if",
        "reconciliation", "ask", "settings",
    )),
)  # fmt: skip


def file_of_markup(spread: int) -> BytesIO:
    """A month whose every text has markup."""
    book, file = Workbook(), BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.title = "<b>Holdings<b>"
    sheet.append(HEADER)
    for at in range(30):
        industry = f"Retail {MARKUP}"
        sheet.append((f"LX{100_000 + at}", f"{MARKUP} {at}", 1_000_000 + at, spread + at, "B1", industry, MARKUP))
    book.save(file)
    return BytesIO(file.getvalue())


def test_markup_is_text_on_every_screen(visits: Visits, owner: Member) -> None:
    labels = {"rating_agency_a_label": "<i>Agency", "trustee_a_label": "<i>Trustee"}
    checked(owner.patch("/api/v1/admin/tenant", json={"settings": labels}))
    deal = checked(owner.post("/api/v1/deals", json={"name": f"Deal {MARKUP}"}))["id"]
    path = f"/api/v1/deals/{deal}/files"
    for day in ("2026-05-31", "2026-06-30"):
        file = {"files": (f"<b>{day}.xlsx", file_of_markup(300))}
        book = checked(owner.post(path, files=file, data={"as_of": day}))
        assert parsed(owner, book["id"])["status"] == "ready"
        checked(owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_suite": "enhanced"}))
    about = {"kind": "tape", "trustee_name": "trustee_a", "statement_date": "2026-06-30"}
    tape = checked(owner.post(path, files={"files": ("<b>tape.xlsx", file_of_markup(400))}, data=about))["tape"]
    checked(owner.get(f"/api/v1/reconciliation/tapes/{tape['tape_id']}", params={"wait": 30}))
    pair = {"workbook_id": book["id"], "tape_id": tape["tape_id"]}
    job = checked(owner.post("/api/v1/reconciliation/compare", json=pair))
    checked(owner.get(f"/api/v1/jobs/{job['job_id']}", params={"wait": 30}))
    desk = visits()
    desk.page.on("dialog", lambda dialog: desk.problems.append(dialog.message))
    desk.sign_in(owner)
    for screen in SCREENS:
        desk.go(screen.format(deal=deal))
        desk.settle()
        assert desk.page.locator("main img, main i, main b").count() == 0, screen
    desk.go(f"/deals/{deal}/loans")
    expect(desk.page.get_by_text(f"{MARKUP} 0", exact=True)).to_be_visible()
    expect(desk.page.get_by_role("columnheader", name="<i>Agency")).to_be_visible()
    desk.go(f"/deals/{deal}/reconciliation")
    expect(desk.page.get_by_text(MARKUP).first).to_be_visible()
