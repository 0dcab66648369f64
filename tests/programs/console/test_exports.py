"""Exports and reports.

Made, watched, downloaded, deleted; a file that comes back is verified.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits
from tests.programs.console.seeds import deal_with_months


def verify(page: Page, path: Path) -> None:
    """Choose a file to be verified, as a person does."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(path)
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Verify", exact=True).click()


def with_other_figures(path: Path) -> Path:
    """The file with the first figure of each sheet another one."""
    changed = path.with_name("cushion-changed.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name.startswith("xl/worksheets/sheet"):
                text = re.sub(rb'(<c r="[A-Z]+\d+"(?![^>]*t=)[^>]*><v>)[\d.]+<', rb"\g<1>1234567<", text, count=1)
            new.writestr(name, text)
    return changed


def test_an_export_is_made_saved_and_verified(visits: Visits, owner: Member, tmp_path: Path) -> None:
    deal_with_months(owner, months=1)
    desk = visits()
    page = desk.page
    desk.sign_in(owner, "/exports")
    expect(page.get_by_role("heading", name="No exports yet")).to_be_visible()
    desk.check_accessible("no exports")
    page.get_by_role("button", name="Make an export").click()
    expect(page.get_by_label("Of", exact=True)).to_contain_text("Example CLO VIII 2026-06-30.xlsx")
    desk.check_accessible("the form of an export")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("The export is ready")).to_be_visible()
    row = page.locator("tbody tr")
    expect(row).to_contain_text("XLSX")
    expect(row).to_contain_text("Completed")
    with page.expect_download() as saving:
        row.get_by_role("button", name="Download").click()
    path = tmp_path / "cushion-export.xlsx"
    saving.value.save_as(path)
    desk.check_accessible("exports")

    page.get_by_role("link", name="Verify").click()
    verify(page, path)
    expect(page.locator(".banner.pass")).to_contain_text("As it was exported")
    verify(page, with_other_figures(path))
    expect(page.locator(".banner.fail")).to_contain_text("Changed since it was exported")
    expect(page.locator("tbody tr").first).to_contain_text("Changed")
    desk.check_accessible("a verdict")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_a_report_is_made_and_deleted(visits: Visits, owner: Member) -> None:
    deal_with_months(owner, months=1)
    desk = visits(NARROW)
    page = desk.page
    desk.sign_in(owner, "/exports?tab=reports")
    page.get_by_role("button", name="Make a report").click()
    page.get_by_label("Of", exact=True).select_option(label="Compliance of Example CLO VIII 2026-06-30.xlsx")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("The report is ready")).to_be_visible()
    row = page.locator("tbody tr")
    with page.expect_download() as saving:
        row.get_by_role("button", name="Download").click()
    assert Path(saving.value.path()).read_bytes().startswith(b"%PDF")
    desk.check_accessible("reports on a telephone")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

    reader = visits()
    reader.sign_in(owner.invite("viewer"), "/exports?tab=reports")
    expect(reader.page.locator("tbody tr")).to_have_count(1)
    expect(reader.page.locator("main").get_by_role("button", name="Make")).to_have_count(0)
    expect(reader.page.get_by_role("button", name="Delete")).to_have_count(0)

    row.get_by_role("button", name="Delete").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No reports yet")).to_be_visible()
