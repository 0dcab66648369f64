"""The trustee's figures beside ours.

Agreed, differing and why, not matched, and a file that publishes nothing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import expect

from core.generate import generate, generate_report
from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.seeds import parsed


@cache
def report_file() -> bytes:
    """A trustee's report with a page of tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.xlsx"
        generate_report(generate(loans=300, seed=7), "pages").write(path)
        return path.read_bytes()


def deal_of_report(owner: Member, content: bytes = b"", name: str = "Trustee report.xlsx") -> str:
    """A deal with one file: the trustee's report, where no other is given."""
    deal: str = checked(owner.post("/api/v1/deals", json={"name": "Example CLO VIII"}))["id"]
    sent = owner.post(f"/api/v1/deals/{deal}/files", files={"files": (name, content or report_file())})
    assert parsed(owner, checked(sent)["id"])["status"] == "ready"
    return deal


def test_published_figures_stand_beside_ours(visits: Visits, owner: Member) -> None:
    deal = deal_of_report(owner)
    tied = checked(owner.get(f"/api/v1/deals/{deal}/tie-out"))
    items = tied["items"]
    differing = [item for item in items if item["agrees"] is False]
    agreed = [item for item in items if item["agrees"]]
    assert min(len(differing), len(agreed)) > 0, "the report has both"
    desk = visits()
    page = desk.page
    desk.sign_in(owner, f"/deals/{deal}/tie-out")
    expect(page.locator(".banner")).to_contain_text(f"{len(differing)} of {len(items)} published figures differ")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(len(items))
    each = differing[0]
    row = rows.filter(has_text=each["trustee_name"])
    expect(row).to_contain_text("Differing")
    expect(row).to_contain_text(each["cell"])
    expect(row.locator("td.number").nth(0)).to_have_text(f"{each['trustee_value']:.{each['decimals']}f} %")
    apart = f"{each['difference']:+.{each['decimals']}f} %".replace("-", "−")
    expect(row.locator("td.number").nth(2)).to_have_text(apart)
    known = "Explained by" if each["explained_by"] else "No single rule explains it"
    expect(row).to_contain_text(known)
    link = row.get_by_role("link")
    assert link.get_attribute("href") == (
        f"#/deals/{deal}/compliance?workbook={tied['workbook_id']}&test={each['test_id']}"
    )
    expect(page.get_by_text("How the file was read")).to_be_visible()
    expect(page.locator("main")).to_contain_text(f"{tied['interpretation']['tied']} of ")
    page.get_by_text("tests of ours that the file does not print").click()
    assert "rating_agency_" not in page.locator("main").inner_text()
    desk.check_accessible("a tie-out")
    page.get_by_role("button", name=f"Agreed {len(agreed)}").click()
    expect(rows).to_have_count(len(agreed))
    assert page.url.endswith("/tie-out?only=agrees")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    desk.check_accessible("a tie-out on a telephone")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_a_file_without_figures_says_so(visits: Visits, owner: Member) -> None:
    deal = deal_of_report(owner, b"Borrower,Par Amount,Rating\nAlpha,1000000,B2\nBeta,2000000,B3\n", "loans.csv")
    phone = visits(NARROW)
    phone.sign_in(owner.invite("viewer"), f"/deals/{deal}/tie-out")
    expect(phone.page.get_by_role("heading", name="Nothing published")).to_be_visible()
    expect(phone.page.get_by_role("button", name="Add the trustee's report")).to_have_count(0)
    phone.check_accessible("nothing published")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
