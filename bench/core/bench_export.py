"""Whole exports: a deal's workbook in three zones and as pages, and a workbook of a million cells.

Each turn has another deal. The answer is checked first: the file is verified as original by its manifest, its Control
sheet says that all its checks agree, and a change of one cell is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.run import run_suite
from core.export.compliance import compliance_rows
from core.export.order import ExportOrder, ExportProduct, Format, Keys, Lineage
from core.export.run import export_workbook
from core.files.read import read
from core.generate import generate
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.provenance.verify import Record, verify
from core.recalc.book import Book

LOANS = 400
MANY_LOANS = 31_250
"""With 32 columns: a million cells."""
SECONDS_MOST = 1.0
REPEATS = 7

KEY = b"k" * 32


def books(folder: Path, loans: int) -> Iterator[tuple[Workbook, ExportOrder]]:
    """Deals as they are read of their files, each with a run of its tests."""
    for seed in count(1):
        path = folder / "deal.xlsx"
        generate(loans=loans, seed=seed).write(path)
        book = read(path)
        results = run_suite(Portfolio.from_workbook(book), "enhanced")
        yield book, ExportOrder(
            format="xlsx", export_id=f"exp_{seed}", workbook_id="wb", tenant_id="t",
            created=datetime(2026, 11, 23, 8, tzinfo=UTC), lineage=Lineage(workbook_name="Deal"),
            keys=Keys(signing=KEY, redaction=KEY), compliance=compliance_rows(results, results.skipped),
        )  # fmt: skip


def export_checked(book: Workbook, order: ExportOrder, folder: Path, file_format: Format) -> ExportProduct:
    """One export."""
    fields = {name: getattr(order, name) for name in order.__struct_fields__}
    return export_workbook(book, ExportOrder(**fields | {"format": file_format}), folder)


def check(book: Workbook, order: ExportOrder, folder: Path) -> None:
    """The file is what was exported, its checks agree, and a changed cell is named."""
    exported = export_checked(book, order, folder, "xlsx")
    prints = exported.fingerprints
    assert prints is not None
    record = Record(exported.result_summary.provenance.data_hash, (folder / prints.path).read_bytes(), KEY)
    path = folder / exported.main.path
    assert verify(path, {"": KEY}, record).status == "original"
    again = Book(read(path))
    assert again.value("Control", "B4") == "OK"
    again.set("Holdings", "J7", 1.0)
    again.recalculate()
    assert again.value("Control", "B4") == "CHECK"
    assert "J7" in [diff.cell for diff in verify(path, {"": KEY}, record, book=again).diffs]


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _exported(file_format: Format, folder: Path) -> Prepared:
    deals = books(folder, LOANS)
    check(*next(deals), folder)
    ready = [next(deals) for _ in range(REPEATS + 1)]
    return Prepared(works={OURS: lambda: export_checked(*ready.pop(), folder, file_format)})


def _exported_many(folder: Path) -> Prepared:
    many = next(books(folder, MANY_LOANS))
    check(*many, folder)
    return Prepared(works={OURS: lambda: export_checked(*many, folder, "xlsx")})


bench_export = asked(
    Question(
        name=f"export: {LOANS} loans in three zones", data=_folder, prepare=partial(_exported, "xlsx"),
        repeats=REPEATS, seconds_most=SECONDS_MOST, quick=True,
    ),
    Question(
        name=f"export: {LOANS} loans as pages", data=_folder, prepare=partial(_exported, "pdf"), repeats=REPEATS,
    ),
    Question(name="export: 1,000,000 cells in three zones", data=_folder, prepare=_exported_many, repeats=3),
)  # fmt: skip
