"""Each kind of document as poppler reads it.

The numbers of its pages, its contents, and what runs at their heads.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.compliance.run import run_suite
from core.export.order import ExportOrder, Keys, Lineage, Options
from core.export.run import export_workbook
from core.files.read import read
from core.generate import generate
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning
from core.report.compliance import compliance_content
from core.report.content import ComplianceReport, Origin, Series, SeriesPoint
from core.report.document import compliance_pdf
from core.report.reconciliation import ComparedSides, IssueLine, Tally, reconciliation_pdf

WHEN = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
PAGE = re.compile(r"Page (\d+) of (\d+)$", re.MULTILINE)
ENTRY = re.compile(r"^ *(\S.*?) (?:\. )+\W*(\d+)$", re.MULTILINE)
"""A line of the contents."""


@dataclass(frozen=True)
class Pages:
    """The text of a document, page by page."""

    texts: list[str]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """What stands at the foot of each page."""
        return [PAGE.findall(text)[-1] for text in self.texts]

    @property
    def contents(self) -> dict[str, int]:
        """Each entry of the contents with its page."""
        return {title: int(page) for text in self.texts[:2] for title, page in ENTRY.findall(text)}

    def page_of(self, heading: str) -> list[int]:
        """Pages on which a line is the heading alone."""
        line = re.compile(rf"^ *{re.escape(heading)}$", re.MULTILINE)
        return [at for at, text in enumerate(self.texts, 1) if line.search(text)]

    @property
    def heads(self) -> list[str]:
        """The first line of each page, with single blanks."""
        return [" ".join(next(line for line in text.split("\n") if line.strip()).split()) for text in self.texts]


def pages_of(data: bytes, folder: Path) -> Pages:
    file = folder / "document.pdf"
    file.write_bytes(data)
    ran = subprocess.run(["pdftotext", "-layout", file, "-"], check=True, capture_output=True, text=True)
    return Pages(ran.stdout.removesuffix("\f").split("\f"))


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Workbook:
    source = tmp_path_factory.mktemp("deal") / "deal.xlsx"
    generate(loans=200, seed=7).write(source)
    return read(source)


def compliance(book: Workbook, *, notices: int = 0, thinnest: int | None = None, **more: Any) -> ComplianceReport:
    portfolio = Portfolio.from_workbook(book)
    results = run_suite(portfolio, "enhanced")
    report = compliance_content(
        results, portfolio, suite="enhanced", origin=Origin(name="Cairn XVII"), generated_at=WHEN, **more
    )
    warnings = [DataWarning("no_loans", f"Notice {at}: " + "something was left out, " * 8) for at in range(notices)]
    if thinnest is not None:
        report = msgspec.structs.replace(report, thinnest=(report.categories[0].tests * 40)[:thinnest])
    return msgspec.structs.replace(report, warnings=[*report.warnings, *warnings])


def history() -> list[Series]:
    points = [
        SeriesPoint(as_of=date(2026, month, 1), value=100.0 + month, threshold=99.0, status="pass")
        for month in range(1, 7)
    ]
    return [Series(test_id="oc_ratio", name="Class D", unit="percent", direction="min", points=points)]


def check_numbers(pages: Pages) -> None:
    count = len(pages.texts)
    assert pages.numbers == [(str(at), str(count)) for at in range(1, count + 1)]


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "a short cover": {"thinnest": 0},
    "a full cover": {"thinnest": 16},
    "a cover of two pages": {"thinnest": 40},
    "notices that the cover has no room for": {"notices": 40},
    "with months": {"history": history()},
}
"""What moves the end of the cover."""


@pytest.mark.parametrize("variant", VARIANTS)
def test_pages_of_a_compliance_report(book: Workbook, tmp_path: Path, variant: str) -> None:
    report = compliance(book, **VARIANTS[variant])
    pages = pages_of(compliance_pdf(report), tmp_path)
    assert len(pages.texts) > 4
    check_numbers(pages)
    contents = pages.contents
    assert len(contents) >= 5, contents
    assert {"Tests", "Methodology", "Data lineage"} <= set(contents)
    assert {title: [page] for title, page in contents.items()} == {title: pages.page_of(title) for title in contents}
    assert min(contents.values()) > 1, "no part begins on the cover"
    first, *others = pages.heads
    assert first.replace(" ", "") == "COMPLIANCEREPORT", "whose letters stand apart"
    assert {head.partition(" As of ")[0] for head in others} == {"Cairn XVII"}


def test_the_cover_names_the_page_of_further_notices(book: Workbook, tmp_path: Path) -> None:
    pages = pages_of(compliance_pdf(compliance(book, notices=40)), tmp_path)
    page = re.search(r"\d+ more follow on page (\d+)\.", pages.texts[0])
    assert page
    assert pages.page_of("Before relying on these figures") == [int(page[1])]


def issue(at: int) -> IssueLine:
    return IssueLine(
        severity="critical", category="calculation", rule="par_value", field_name="par_value",
        issue_type="value_mismatch", primary_identifier=f"LX{at:06}", identifier_type="loan_id",
        borrower_name="Acme", trustee_value=str(1_000_000 + at), internal_value="1000000",
    )  # fmt: skip


@pytest.mark.parametrize("issues", [0, 3, 200])
def test_pages_of_a_reconciliation_report(tmp_path: Path, issues: int) -> None:
    tally = Tally()
    for at in range(issues):
        tally.add(issue(at + 1))
    compared = ComparedSides(
        title="tape.xlsx", trustee="trustee_a", book="Cairn XVII", tape_day=date(2026, 3, 31), generated_at=WHEN,
        loans={"total_loans_compared": 200, "matched": 200, "unmatched_trustee": 0, "unmatched_internal": 0},
        stages={"cusip": 200}, rules=[], tolerances={}, not_compared={}, warnings=[], facts=[],
    )  # fmt: skip
    pages = pages_of(reconciliation_pdf(tally.report(compared)), tmp_path)
    assert len(pages.texts) > (5 if issues == 200 else 0)
    check_numbers(pages)
    assert pages.heads[0].replace(" ", "") == "RECONCILIATIONREPORT"
    assert {head.partition("Cairn XVII")[0] for head in pages.heads[1:]} <= {"tape.xlsx against "}


def test_pages_of_an_export(book: Workbook, tmp_path: Path) -> None:
    order = ExportOrder(
        format="pdf", export_id="exp_1", workbook_id="wb_1", tenant_id="t_1", created=WHEN,
        lineage=Lineage(workbook_name="Cairn XVII", file_name="deal.xlsx"),
        keys=Keys(signing=b"k" * 32, redaction=b"k" * 32), options=Options(),
    )  # fmt: skip
    exported = export_workbook(book, order, tmp_path)
    pages = pages_of((tmp_path / exported.main.path).read_bytes(), tmp_path)
    assert len(pages.texts) > 4
    check_numbers(pages)
    assert all("Cairn XVII · export exp_1" in text for text in pages.texts)
