"""What a confined child does with an uploaded tape.

`core.confined.table` has the row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from core.confined.table import TapeAnswer, TapeOrder
from core.files.errors import FileRefused
from core.files.read import read_files
from core.grid.codec import write_sheet
from core.portfolio.assemble import stored
from core.portfolio.assemble.read import missing_columns
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.portfolio.model.fields import Mapping
from core.recalc.confined import calculating
from core.reconciliation import tape
from core.reconciliation.written import iso_day

COLUMN_CHARACTERS: Final = 200
"""Of a header that the answer names."""


def read_tape(order: TapeOrder, folder: Path) -> TapeAnswer:
    """Read a tape and store its loans in a folder.

    Raises:
        TapeRefused: it has none that can be used, or is no spreadsheet.
        OSError: it cannot be opened.
    """
    try:
        with calculating(order.now, order.seconds_max, folder) as finish:
            book = read_files([(order.name, Path(order.path))], finish)
        if order.mapping is None:
            loans = tape.read_loans(book, TRUSTEES[order.trustee])
        else:
            mapping = msgspec.json.decode(order.mapping, type=Mapping)
            loans = tape.read_loans(book, mapping)
            if missing := missing_columns(loans, mapping):
                raise tape.TapeRefused(f"No column feeds what the mapping requires: {', '.join(missing)}.")
    except FileRefused as refusal:
        raise tape.TapeRefused(str(refusal)) from refusal
    notes = loans.notes
    assert notes.header_row is not None, "the loans of a tape stand below a header"
    write_sheet(stored.to_sheet(loans, fields=tape.COMPARED), folder / tape.LOANS_FILE)
    return TapeAnswer(
        loan_count=loans.row_count,
        total_par=tape.total_par(loans),
        sheet_name=loans.sheet_name,
        header_row=notes.header_row + 1,
        columns={field: text[:COLUMN_CHARACTERS] for field, text in notes.matched_columns.items()},
        as_of=iso_day(loans.deal.as_of),
        warnings=tuple((warning.code, warning.message, warning.rows) for warning in tape.warnings_of(loans)),
    )
