"""Which of two readings of a section is right: the one whose printed totals tie.

A figure a space behind a text may be a cell of its own or the end of a name ("Tranche A 950"). Where what the page
shows does not tell, its totals do.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.files.pdf.blocks import Ruler
from core.files.pdf.rows import has_records
from core.files.pdf.sections import PageSection
from core.files.pdf.sheets import PrintedTable, sheets_of, table_of
from core.files.pdf.totals import tied_totals
from core.files.pdf.values import PrintedFormats
from core.grid.sheet import ReadingRemark


def chosen_tables(
    sections: Sequence[PageSection], ruler: Ruler, *, comma: bool
) -> tuple[list[PrintedTable], list[ReadingRemark]]:
    """Return the table of each section, and a remark where no total decides.

    Raises:
        ParseFailed: past a limit.
    """
    tables: list[PrintedTable] = []
    remarks: list[ReadingRemark] = []
    for section in sections:
        usual = table_of(section, ruler)
        tables.append(usual)
        if has_records([row for row in usual.rows if row is not None and len(row.cells) > 1]):
            message = f"the table on page {section.lines[0].page} has records of two lines, read as two rows each"
            remarks.append(ReadingRemark("layout_guessed", message))
        tied, untied = _totals_of(usual, comma=comma)
        if untied == 0:
            continue
        second = table_of(section, ruler, any_figure=True)
        if _texts(second) == _texts(usual):
            continue
        if _totals_of(second, comma=comma)[0] > tied:
            tables[-1] = second
        elif tied == 0:
            page = section.lines[0].page
            message = f"the table on page {page} could be parted into cells in two ways, and no printed total decides"
            remarks.append(ReadingRemark("layout_guessed", message))
    return tables, remarks


def _totals_of(table: PrintedTable, *, comma: bool) -> tuple[int, int]:
    """Return how many printed totals of a table tie, and how many do not."""
    formats = PrintedFormats()
    return tied_totals(sheets_of([table], formats, comma=comma)[0], formats.codes)


def _texts(table: PrintedTable) -> list[list[tuple[int, str]]]:
    return [sorted((column, cell.text) for column, cell in row.cells.items()) for row in table.rows if row is not None]
