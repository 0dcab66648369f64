"""How long a compliance report takes, from a run's results to the bytes of its PDF.

Each turn has another portfolio: what the compiler keeps of one document would make the same one again in half the time.
The answer is checked first: every test has its chart, with the run's own words, and the file says its standard.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path

import numpy as np
import pikepdf

from bench.core.bench_compliance import portfolio
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.result import Results
from core.compliance.run import run_suite
from core.generate import generate
from core.portfolio import Portfolio
from core.report.compliance import compliance_content
from core.report.content import ComplianceReport, Origin, Series, SeriesPoint
from core.report.document import compliance_pdf

LOANS = 400
MONTHS = 36
SECONDS_MOST = 1.0
REPEATS = 15
COMMAND_REPEATS = 5
A_PAGE = "a process that makes a page"
BLANK = "import numpy, typst; assert typst.compile(b'A page', ignore_system_fonts=True)"
"""What a process that makes any page does: it starts, imports the compiler and lets it find its fonts."""

WHEN = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)


def history(results: Results) -> list[Series]:
    """Three years of every test of the run."""
    return [
        Series(
            test_id=result.test_id, name=result.test_name, unit="percent", direction=result.threshold_type,
            points=[
                SeriesPoint(
                    as_of=date(2023 + at // 12, at % 12 + 1, 1), value=result.current_value * (1 + at % 5 / 100),
                    threshold=result.threshold_value, status=result.status,
                )
                for at in range(MONTHS)
            ],
        )
        for result in results
    ]  # fmt: skip


def content(loans: Portfolio, results: Results) -> ComplianceReport:
    """The report on a run."""
    return compliance_content(
        results,
        loans,
        origin=Origin(name="A deal"),
        generated_at=WHEN,
        suite="enhanced",
        history=history(results),
    )


def books() -> Iterator[tuple[Portfolio, Results]]:
    """Runs of portfolios that differ in their par and their obligors' names."""
    plain = portfolio(LOANS)
    names = plain.names["obligor"]
    for turn in count(1):
        par = np.round(plain.numbers["par_value"] * (1 + np.random.default_rng(turn).normal(0, 0.05, LOANS)), 2)
        obligor = replace(names, values=tuple(f"{name} {turn}" for name in names.values))
        loans = replace(plain, numbers={**plain.numbers, "par_value": par}, names={**plain.names, "obligor": obligor})
        yield loans, run_suite(loans, "enhanced")


def check(loans: Portfolio, results: Results) -> None:
    """Every test's chart is in the file with the result's own words, and the file says that it is PDF/A-2b."""
    with pikepdf.open(io.BytesIO(compliance_pdf(content(loans, results)))) as pdf:
        alts = " ".join(
            str(pdf_object.get("/Alt", "")) for pdf_object in pdf.objects if isinstance(pdf_object, pikepdf.Dictionary)
        )
        assert len(results) > 20
        assert all(result.message in alts for result in results)
        with pdf.open_metadata() as metadata:
            assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("2", "B")


@contextmanager
def _book() -> Iterator[tuple[Path, Path]]:
    """A workbook's path, and where its report goes."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder, "deal.xlsx")
        generate(LOANS, seed=5).write(book)
        yield book, Path(folder, "report.pdf")


def _commanded(data: tuple[Path, Path]) -> Prepared:
    """`cushion report` on a workbook in a process of its own, beside a process that makes a page with one line."""
    book, out = data

    def ours() -> None:
        out.unlink(missing_ok=True)
        _process("-m", "service.commands.cli", "report", str(book), "--out", str(out))

    ours()
    assert out.read_bytes().startswith(b"%PDF-")
    return Prepared(works={OURS: ours, A_PAGE: lambda: _process("-c", BLANK)})


def _process(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=Path(__file__).parents[2])


def _reported() -> Prepared:
    copies = books()
    check(*next(copies))
    ready = [next(copies) for _ in range(REPEATS + 1)]
    return Prepared(works={OURS: lambda: compliance_pdf(content(*ready.pop()))})


bench_report = asked(
    Question(
        name=f"report: PDF of {LOANS} loans, 25 tests", prepare=_reported, repeats=REPEATS,
        seconds_most=SECONDS_MOST, quick=True,
    ),
    Question(
        name=f"cushion report, a workbook of {LOANS} loans", data=_book, prepare=_commanded, bounds=(A_PAGE,),
        repeats=COMMAND_REPEATS,
    ),
)  # fmt: skip
