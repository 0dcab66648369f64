"""A report's file: personal data is gone from every text of it, and nothing else is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pikepdf
import pytest
from msgspec.structs import replace

from core.compliance.result import Results
from core.labels import LABELS
from core.portfolio.model.notes import DataWarning
from core.redact.replace import Policy
from core.report.content import LineageLine
from core.report.files import Cleaner, write_compliance, write_reconciliation
from core.report.reconciliation import IssueLine
from core.report.tables import Looks
from tests.core.report.conftest import reported
from tests.core.report.test_reconciliation import COMPARED, issue

PERSONAL = "call ann.lee@trustee.com or +1 212 555 0187"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def cells_of(path: Path) -> list[Any]:
    book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()))
    return [cell for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]


@pytest.mark.parametrize("policy", [Policy(), Policy(strategy="remove"), Policy(strategy="hash", key=b"k" * 32), None])
def test_what_is_personal_goes_from_every_text(tmp_path: Path, policy: Policy | None) -> None:
    issues = [
        issue(borrower_name=PERSONAL), issue(trustee_value=PERSONAL), issue(internal_value=PERSONAL),
        issue(resolution_notes=PERSONAL), issue(reviewed_by="ann.lee@trustee.com"), issue(primary_identifier=PERSONAL),
    ]  # fmt: skip
    compared = replace(
        COMPARED, book=PERSONAL, warnings=[DataWarning("few_matched", PERSONAL)], not_compared={"price": PERSONAL},
        facts=[LineageLine("SHA-256", HASH), LineageLine("Tape", "tape_0d6b1f3c9a7e4c52b8a1c2d3e4f50617")],
    )  # fmt: skip
    cleaner = Cleaner(policy)
    asked = 0

    def again() -> list[IssueLine]:
        nonlocal asked
        asked += 1
        return issues

    write_reconciliation(tmp_path / "r.xlsx", compared, again, format="xlsx", cleaner=cleaner, looks=Looks())
    cells = cells_of(tmp_path / "r.xlsx")
    actual_cells = [cell for cell in cells if isinstance(cell, str) and ("ann.lee" in cell or "555" in cell)]
    assert bool(actual_cells) is (policy is None)
    assert HASH in cells
    assert "tape_0d6b1f3c9a7e4c52b8a1c2d3e4f50617" in cells
    assert "1080000" in cells
    assert cells.count("Acme") == 5 + 3, "among the issues, and among the largest breaks"
    remarks = [cell for cell in cells if str(cell).startswith("Personal data in texts was redacted")]
    assert remarks == ([] if policy is None else ["Personal data in texts was redacted: email 2, phone 1."])
    assert asked == 2


def test_a_report_on_a_run_tells_what_was_taken_out(tmp_path: Path) -> None:
    report = reported(None, Results([], [], warnings=[DataWarning("no_loans", PERSONAL)]))
    for form, opening in (("pdf", b"%PDF-1.7"), ("xlsx", b"PK")):
        cleaner = Cleaner(Policy())
        write_compliance(tmp_path / form, report, format=form, cleaner=cleaner, looks=Looks())  # type: ignore[arg-type]
        data = (tmp_path / form).read_bytes()
        assert data.startswith(opening)
        assert cleaner.counts == {"email": 1, "phone": 1}
    assert b"ann.lee" not in (tmp_path / "pdf").read_bytes()
    assert "Personal data in texts was redacted: email 1, phone 1." in cells_of(tmp_path / "xlsx")
    assert pikepdf.open(io.BytesIO((tmp_path / "pdf").read_bytes())).pages


OWN = {**LABELS, "rating_agency_a": "Agence", "trustee_a": "First Trust"}


@pytest.mark.parametrize(
    ("labels", "agency", "trustee"), [(LABELS, "Moody's", "Trustee A"), (OWN, "Agence", "First Trust")]
)
@pytest.mark.parametrize("policy", [Policy(), None])
def test_names_of_agencies_and_trustees_become_labels(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    policy: Policy | None,
    labels: dict[str, str],
    agency: str,
    trustee: str,
) -> None:
    """In sheets and on pages, in messages too; the name of a file stays."""
    compared = replace(
        COMPARED, title="clo-trustee_a-tape.xlsx", not_compared={"rating_agency_c": "rating_agency_a has no column"},
        warnings=[DataWarning("few_matched", "rating_agency_a is masked")],
    )  # fmt: skip
    issues = [issue(field_name="rating_agency_a", rule="rating", category="rating")]

    def write(path: Path, form: Any) -> None:
        write_reconciliation(
            path, compared, lambda: issues, format=form, cleaner=Cleaner(policy, labels), looks=Looks()
        )

    pages: list[str] = []
    monkeypatch.setattr(
        "core.report.reconciliation.typeset_remarked",
        lambda _template, view, created: pages.append(str(view(()))) or b"%PDF",
    )
    write(tmp_path / "r.xlsx", "xlsx")
    write(tmp_path / "r.pdf", "pdf")
    sheets = [str(cell) for cell in cells_of(tmp_path / "r.xlsx")]
    for text in ("\n".join(sheets), *pages):
        for expected in (f"{agency} rating is masked", f"{agency} rating has no column", trustee, "Fitch rating"):
            assert expected in text.replace("\u200b", "")
        assert "clo-trustee_a-tape.xlsx" in text.replace("\u200b", "")
        assert "rating_agency" not in text
        assert "rating agency" not in text
    assert len(pages) == 1
    assert f"{agency} rating" in sheets


def test_a_report_on_a_run_has_labels(tmp_path: Path) -> None:
    warnings = [DataWarning("no_loans", "rating_agency_a of 3 rows is masked")]
    report = reported(None, Results([], [], warnings=warnings))
    write_compliance(tmp_path / "r.xlsx", report, format="xlsx", cleaner=Cleaner(None, OWN), looks=Looks())
    assert "Agence rating of 3 rows is masked" in cells_of(tmp_path / "r.xlsx")
