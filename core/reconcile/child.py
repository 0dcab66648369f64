"""The child process that reads one tape or makes one comparison: a program, started by `core.reconcile.isolate` only.

It is run with the path of its order (JSON), the folder for what it writes, and the limits that `core.confined` hands
on. Its answer is what is to be said of the work, or under "refused" why there is nothing.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec

from core.confined import confine
from core.files.errors import FileRefused
from core.files.read import read
from core.grid.codec import Manifest, open_sheet, open_workbook, write_sheet
from core.portfolio import stored
from core.portfolio.errors import MappingError
from core.portfolio.fields import Mapping
from core.portfolio.portfolio import Portfolio
from core.portfolio.trustees import TRUSTEES
from core.reconcile import tape
from core.reconcile.copying import write_issues
from core.reconcile.isolate import ISSUES_FILE, LOANS_FILE
from core.reconcile.rules import ReconcileError
from core.reconcile.run import reconcile
from core.values import EPOCH

COLUMN_CHARACTERS: Final = 200
"""Of a header that is told."""


def read_tape(order: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Read a tape and store its loans; what is known of them."""
    try:
        loans = tape.read_loans(read(order["path"]), TRUSTEES[order["trustee"]])
    except (FileRefused, tape.TapeRefused) as refusal:
        return {"refused": str(refusal)}
    write_sheet(stored.to_sheet(loans, fields=tape.COMPARED), folder / LOANS_FILE)
    return {
        "loan_count": loans.row_count,
        "total_par": tape.total_par(loans),
        "sheet_name": loans.sheet_name,
        "header_row": loans.notes["header_row"] + 1,
        "columns": {field: text[:COLUMN_CHARACTERS] for field, text in loans.notes["matched_columns"].items()},
        "as_of": _day(loans.deal.as_of),
        "warnings": tape.warnings_of(loans),
    }


def compare(order: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Compare stored loans with a stored workbook and write the issues; what is known of the comparison."""
    loans = stored.from_sheet(open_sheet(Path(order["loans"])))
    manifest = Manifest.from_json(json.dumps(order["manifest"]))
    mapping = msgspec.json.decode(order["mapping"], type=Mapping)
    try:
        book = Portfolio.from_workbook(open_workbook(manifest, [Path(path) for path in order["paths"]]), mapping)
        if book.row_count == 0:
            return {"refused": _no_loans(book)}
        found = reconcile(loans, book, order["rules"], tolerances=order["tolerances"])
    except (MappingError, ReconcileError) as refusal:
        return {"refused": f"The workbook cannot be compared: {refusal}."}
    write_issues(found.issues, folder / ISSUES_FILE)
    return {
        "summary": {field: getattr(found.summary, field) for field in found.summary.__slots__},
        "stages": found.stages,
        "ambiguous": found.ambiguous,
        "warnings": [*found.warnings, *(f"workbook: {warning}" for warning in tape.warnings_of(book))],
        "not_compared": found.not_compared,
        "as_of": _day(book.deal.as_of),
    }


def _no_loans(book: Portfolio) -> str:
    if not book.notes.get("holdings_found"):
        return f"The workbook has no loans: {book.notes.get('message', 'no sheet has a header of loans')}."
    return f"The workbook has no loans: sheet {book.sheet_name!r} has none below its header that can be used."


def _day(days: float | None) -> str | None:
    """A day since 1970 as ISO text; None where the calendar does not have it."""
    ordinal = 0 if days is None else EPOCH.toordinal() + int(days)
    return date.fromordinal(ordinal).isoformat() if date.min.toordinal() <= ordinal <= date.max.toordinal() else None


_WORKS: Final = {"read_tape": read_tape, "compare": compare}


def main(order: str, folder: str, *limits: str) -> None:
    """Do the ordered work under the limits and say what came of it."""

    def work() -> dict[str, Any]:
        asked = json.loads(Path(order).read_text(encoding="utf-8"))
        return _WORKS[asked["work"]](asked, Path(folder))

    confine(work, *limits)


if __name__ == "__main__":
    main(*sys.argv[1:])
