"""The first page of a report as poppler reads it.

What the file itself contradicts is no plain failure there.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.compliance.result import Results
from core.compliance.run import run_suite
from core.files.read import read
from core.files.write import write_workbook_rows
from core.portfolio import Portfolio
from core.report.compliance import compliance_content
from core.report.content import Origin
from core.report.document import compliance_pdf

DATA = Path(__file__).parents[2] / "../shared/data"
REPORTS = [
    path
    for name in (
        "cairn-xvii/report-2024-12-16.xlsx",
        "contego-xi/report-2024-09-30.xlsx",
        "layouts/us-pages.xlsx",
        "layouts/euro-csv.zip",
        "layouts/wso-extract.zip",
    )
    if (path := DATA / name).exists()
]

AFTER_THE_FAILED = re.compile(
    r"Doubtful:|Close to the limit:|\d+ tests? ha(?:s|ve) no result|This run is partial|\n\s*\n"
)
"""What ends the sentence that names the failed tests."""


def first_page(results: Results, portfolio: Portfolio, folder: Path) -> str:
    report = compliance_content(
        results,
        portfolio,
        suite="enhanced",
        origin=Origin(name="Report"),
        generated_at=datetime(2026, 4, 2, tzinfo=UTC),
    )
    file = folder / "report.pdf"
    file.write_bytes(compliance_pdf(report))
    ran = subprocess.run(["pdftotext", "-layout", file, "-"], check=True, capture_output=True, text=True)
    return ran.stdout.partition("\f")[0].replace("\u200b", "").replace("\u2060", "")


def contradicted(results: Results) -> list[str]:
    """Tests that fail here while the file prints a pass."""
    return [
        result.test_name
        for result in results
        if result.status == "fail" and result.published is not None and result.published.status == "pass"
    ]


def plain_failures(page: str, names: list[str]) -> list[str]:
    """Where a first page says of one of the tests that it fails, and not that this is doubtful."""
    result = []
    _, is_named, sentence = page.partition("Failed:")
    failed = " ".join(AFTER_THE_FAILED.split(sentence)[0].split()) if is_named else ""
    lines = page.split("\n")
    for name in names:
        if re.search(rf"(?:^|; )\s*{re.escape(name)} [\d\-−]", failed):
            result.append(f"Failed: ... {name}")
        for at, line in enumerate(lines):
            near = " ".join(lines[max(0, at - 1) : at + 2])
            if line.strip().startswith(name[:24]) and re.search(r"\bFail\b", line) and "oubtful" not in near:
                result.append(line.strip())
    return result


@pytest.mark.parametrize("file", REPORTS, ids=lambda path: path.stem)
def test_the_first_page_of_a_report_that_contradicts_us(file: Path, tmp_path: Path) -> None:
    portfolio = Portfolio.from_workbook(read(file))
    results = run_suite(portfolio, "enhanced")
    page = first_page(results, portfolio, tmp_path)
    assert not plain_failures(page, contradicted(results)), page
    failing = sum(result.status == "fail" and not result.doubtful for result in results)
    if headline := re.search(r"^ *(\d+) of \d+ (?:measured )?tests? fails?\b", page, re.MULTILINE):
        assert int(headline[1]) == failing, page


def test_a_pass_of_the_file_beside_a_failure_of_ours(tmp_path: Path) -> None:
    """Every loan is cov-lite here, and the file prints a share below its limit."""
    loans = [["Issuer Name", "Par Amount", "LoanX ID", "Cov-Lite", "Maturity Date"]]
    loans += [[f"Alder {at} Inc.", 1_000_000.0 + at, f"LX{100_000 + at}", "Yes", "15-Jan-2031"] for at in range(60)]
    tests = [
        ["Test", "Current", "Limit", "Result"],
        ["Cov-Lite Loans", "47.98%", "55.00%", "PASS"],
        ["Largest Obligor", "1.67%", "2.50%", "PASS"],
    ]
    write_workbook_rows(tmp_path / "report.xlsx", {"Holdings": loans, "Concentration Limitations": tests})
    portfolio = Portfolio.from_workbook(read(tmp_path / "report.xlsx"))
    results = run_suite(portfolio, "enhanced")
    (name,) = contradicted(results)
    assert "ovenant" in name
    page = first_page(results, portfolio, tmp_path)
    assert name in page
    assert "oubtful" in page
    assert not plain_failures(page, [name]), page


def test_a_plain_failure_is_seen() -> None:
    """The search itself.

    In the sentence and in the table, and not where it is said to be doubtful.
    """
    sentence = "8 of 21 tests fail\nFailed: Cov-lite 98.99 against at most 7.50; WARF 8,054 against at most 3,000.\n\n"
    table = " Cov-lite      98.99    ≤ 7.50 %      −91.49     Fail\n"
    assert plain_failures(sentence, ["Cov-lite"]) == ["Failed: ... Cov-lite"]
    assert plain_failures(sentence, ["Diversity"]) == []
    assert plain_failures(table, ["Cov-lite"]) == [table.strip()]
    assert plain_failures(table.replace("Fail", "Doubtful: fail here"), ["Cov-lite"]) == []
    assert plain_failures("Failed: WARF 8 against 3. Doubtful: Cov-lite 98.99 against 7.50.", ["Cov-lite"]) == []
