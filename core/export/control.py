"""The Control sheet.

A run's tests with live cushions, live checks of the Foundation, and where all comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from core.export.checks import SheetSums
from core.export.draft import AMOUNT, DAY, GENERAL, MOMENT, WHOLE, SheetDraft
from core.export.order import ComplianceRow, ExportOrder, Provenance
from core.frames.figures import unit_decimals
from core.grid.address import column_name
from core.grid.sheet import Sheet
from core.grid.sheet_name import in_quotes
from core.words import counted

WIDTHS: Final = (46.0, 26.0, 20.0, 20.0, 16.0, 14.0, 12.0, 16.0, 16.0, 14.0, 12.0)

DOUBTFUL: Final = "doubtful"
"""Beside the status of a test that may be wrong."""

REDACTED_MAX: Final = 200
"""Lines of redacted columns; what is left out is counted."""

CHECKED_MAX: Final = 300
"""Sums of columns that are compared, over all sheets; what is left out is counted."""

RANGE_CELLS_MAX: Final = 20_000_000
"""Cells that one count reads: what a formula may read at once."""

COUNTS_MAX: Final = 50
"""Counts that are added up for a sheet: 1,000 columns of 1,000,000 rows."""

BREACH: Final = 1e-9
"""A cushion below minus this is a breach, as in the run."""


def control_sheet(
    name: str,
    order: ExportOrder,
    provenance: Provenance,
    sums: Sequence[SheetSums],
    redacted: Mapping[str, Mapping[str, int]],
    warnings: Sequence[str],
) -> SheetDraft:
    """Return the Control sheet of an export.

    `sums` are of the Foundation's sheets under their written names.
    """
    draft = SheetDraft(name, WIDTHS)
    lineage = order.lineage
    draft.line(f"Control · {lineage.workbook_name}", style="title")
    as_of = f" · as of {lineage.as_of:%Y-%m-%d}" if lineage.as_of else ""
    draft.line(f"Export {order.export_id} · created {order.created:%Y-%m-%d %H:%M %Z}{as_of}", style="note")
    draft.row += 1
    top = draft.row
    draft.row += 2  # the two verdicts, once their ranges are known
    statuses = _compliance(draft, order.compliance, lineage.suite)
    checks = _checks(draft, sums)
    end = draft.row
    draft.row = top
    _verdicts(draft, statuses, checks, has_doubtful=any(row.doubtful for row in order.compliance))
    draft.row = end
    _provenance(draft, order, provenance)
    _redactions(draft, order, redacted)
    _warnings(draft, (*lineage.warnings, *warnings))
    _verification(draft, provenance)
    return draft


def _verdicts(draft: SheetDraft, statuses: str | None, checks: str, *, has_doubtful: bool) -> None:
    draft.put(0, "Checks", "text")
    draft.put(1, formula=f'IF(COUNTIF({checks},"OK")=ROWS({checks}),"OK","CHECK")', style="status")
    draft.put(2, formula=f'COUNTIF({checks},"OK")&" of "&ROWS({checks})&" checks agree"', style="note")
    draft.statuses.append((draft.row, 1, draft.row, 1))
    draft.row += 1
    draft.put(0, "Compliance", "text")
    if statuses is None:
        draft.put(1, "no run", "note")
    else:
        doubts = statuses.replace("$G$", "$K$")
        counts = {
            word: f'COUNTIFS({statuses},"{word}",{doubts},"<>{DOUBTFUL}")' for word in ("fail", "warning", "pass")
        }
        if has_doubtful:
            counts[DOUBTFUL] = f'COUNTIF({doubts},"{DOUBTFUL}")'
        verdict = '"none"'
        for word in ("pass", "warning", DOUBTFUL, "fail"):
            verdict = f'IF({counts[word]}>0,"{word}",{verdict})' if word in counts else verdict
        draft.put(1, formula=verdict, style="status")
        text = '&", "&'.join(f'{count}&" {word}"' for word, count in counts.items())
        draft.put(2, formula=text, style="note")
        draft.statuses.append((draft.row, 1, draft.row, 1))
    draft.row += 1


def _compliance(draft: SheetDraft, rows: Sequence[ComplianceRow], suite: str | None) -> str | None:
    """Put the table of tests; gives the range of their statuses, None without one."""
    draft.section("Compliance" + (f" · {suite}" if suite else ""))
    ran = [row for row in rows if row.value is not None and row.limit is not None and row.status != "skipped"]
    skipped = [row for row in rows if row not in ran]
    if not rows:
        draft.prose("No compliance run was exported with this workbook.")
        return None
    first = draft.row + 1
    draft.heading(
        "Test",
        "Category",
        "Value",
        "Limit",
        "Cushion",
        "Direction",
        "Status",
        "Limit set by",
        "Trustee",
        "Difference",
        "Doubtful",
        figures=(2, 3, 4, 8, 9),
    )
    for row in ran:
        _test(draft, row)
    statuses = f"$G${first + 1}:$G${draft.row}" if ran else None
    if ran:
        draft.statuses += [(first, 6, draft.row - 1, 6), (first, 10, draft.row - 1, 10)]
        draft.prose(
            "Cushion and status follow value, limit and direction. A warning is the run's own: its level is not on "
            "this sheet, so it stands while the cushion is not negative. Trustee is what the file itself prints. A "
            "status is doubtful where the file prints the other one, or where more par is missing than its cushion "
            "bears."
        )
        _doubts(draft, ran)
    if skipped:
        draft.row += 1
        draft.heading("Not tested", "Category", "Reason")
        for row in skipped:
            draft.put(0, row.name)
            draft.put(1, row.category, "aside")
            draft.put(2, row.reason or "skipped", "aside")
            draft.row += 1
    return statuses


def _test(draft: SheetDraft, row: ComplianceRow) -> None:
    assert row.value is not None
    assert row.limit is not None
    number_format = AMOUNT if unit_decimals(row.unit, row.value) else WHOLE
    draft.put(0, row.label, "text")
    draft.put(1, row.category.replace("_", " "), "aside")
    value = draft.put(2, row.value, "figure", number_format)
    limit = draft.put(3, row.limit, "figure", number_format)
    direction = draft.put(5, row.threshold_type)
    cushion = draft.put(
        4,
        style="figure",
        number_format=number_format,
        formula=f'IF({direction}="max",{limit}-{value},IF({direction}="min",{value}-{limit},-ABS({value}-{limit})))',
    )
    headroom = {"max": row.limit - row.value, "min": row.value - row.limit, "exact": -abs(row.value - row.limit)}
    holds = headroom[row.threshold_type] >= -BREACH
    if holds == (row.status == "fail"):
        # The run compared more digits than it keeps: the figure and its limit read the same here.
        draft.put(6, row.status, "status")
    else:
        above = "warning" if row.status == "warning" else "pass"
        draft.put(6, formula=f'IF({cushion}<-{BREACH:f},"fail","{above}")', style="status")
    draft.put(7, row.source or "", "aside")
    if row.published is not None:
        published = draft.put(8, row.published, "figure", number_format)
        draft.put(9, style="figure", number_format=number_format, formula=f"{value}-{published}")
    draft.put(10, DOUBTFUL if row.doubtful else None, "status")
    draft.row += 1


def _doubts(draft: SheetDraft, rows: Sequence[ComplianceRow]) -> None:
    """Put every doubt of every test, below the name of its test."""
    for row in rows:
        if row.doubts:
            printed = f" The file prints {row.published_status}." if row.published_status and row.doubtful else ""
            draft.prose(f"{row.name}: {row.status}{', doubtful' if row.doubtful else ''}.{printed}", "text")
            for doubt in row.doubts:
                draft.prose(f"- {doubt}")


def _checks(draft: SheetDraft, sums: Sequence[SheetSums]) -> str:
    """Put the table of live checks; gives the range of their results."""
    draft.section("Checks of the Foundation")
    first = draft.row + 1
    draft.heading("Sheet", "Checked", "Exported", "Now", "Difference", "Tolerance", "Result", figures=(2, 3, 4, 5))
    left = CHECKED_MAX
    unsummed = 0
    uncounted = []
    for sum_value in sums:
        there = f"{in_quotes(sum_value.sheet.name)}!"
        if sum_value.uncalculated:
            draft.put(0, sum_value.sheet.name, "text")
            draft.put(1, "Formulas never calculated", "aside")
            draft.put(2, float(sum_value.uncalculated), "figure", WHOLE)
            draft.put(6, "CHECK", "status")
            draft.row += 1
        elif filled := _count_formula(sum_value.sheet, there):
            _check(draft, sum_value.sheet.name, "Cells filled", float(sum_value.cells), filled, 0.0, WHOLE)
        else:
            uncounted.append(sum_value.sheet.name)
        for summed in sum_value.sums[:left]:
            letters = column_name(summed.column)
            live = f"SUM({there}${letters}:${letters})"
            _check(draft, sum_value.sheet.name, f"Sum of {summed.name}", summed.total, live, summed.tolerance, AMOUNT)
        unsummed += sum_value.unsummed + len(sum_value.sums[left:])
        left = max(0, left - len(sum_value.sums))
    draft.statuses.append((first, 6, draft.row - 1, 6))
    results = f"$G${first + 1}:$G${draft.row}"
    if unsummed:
        draft.prose(
            f"{counted(unsummed, 'more column', 'is/are')} not added up: errors, no values, too large or too many."
        )
    if uncounted:
        draft.prose(f"The cells of {', '.join(uncounted)} are not counted: they reach over too many rows and columns.")
    return results


def _count_formula(sheet: Sheet, there: str) -> str | None:
    """Return a formula that counts a sheet's cells in parts; None for too many."""
    width = max(1, RANGE_CELLS_MAX // max(1, sheet.row_count))
    starts = range(0, max(1, sheet.column_count), width)
    if len(starts) > COUNTS_MAX:
        return None
    ends = (min(start + width, max(1, sheet.column_count)) - 1 for start in starts)
    parts = zip(map(column_name, starts), map(column_name, ends), strict=True)
    return "+".join(f"COUNTA({there}${first}:${last})" for first, last in parts)


def _check(
    draft: SheetDraft, sheet: str, what: str, exported: float, live: str, tolerance: float, number_format: str
) -> None:
    draft.put(0, sheet, "text")
    draft.put(1, what, "aside")
    was = draft.put(2, exported, "figure", number_format)
    now = draft.put(3, formula=live, style="figure", number_format=number_format)
    draft.put(4, formula=f"{now}-{was}", style="figure", number_format=number_format)
    allowed = draft.put(5, tolerance, "figure", "0.0E+00" if 0 < tolerance < 0.01 else number_format)
    draft.put(6, formula=f'IF(ISNUMBER({now}),IF(ABS({now}-{was})<={allowed},"OK","CHECK"),"CHECK")', style="status")
    draft.row += 1


def _provenance(draft: SheetDraft, order: ExportOrder, provenance: Provenance) -> None:
    lineage = order.lineage
    draft.section("Provenance")
    facts: list[tuple[str, str | datetime | None]] = [
        ("Export", order.export_id),
        ("Workbook", order.workbook_id),
        ("Created", order.created),
        ("Data hash (SHA-256)", provenance.data_hash),
        ("Covers", f"{provenance.hash_scope}, {provenance.manifest_version}"),
        ("Source file", lineage.file_name),
        ("Source hash (SHA-256)", lineage.source_hash),
        ("Uploaded", lineage.uploaded_at),
        ("As of", None),
        ("Mapping", lineage.mapping),
        ("Definition", lineage.definition),
        ("Compliance run", lineage.run_id),
        ("Run at", lineage.run_at),
    ]
    for name, fact in facts:
        if name == "As of" and lineage.as_of is not None:
            draft.put(0, name, "text")
            draft.put(1, lineage.as_of, "text", DAY)
            draft.put(2, f"from: {lineage.as_of_source}" if lineage.as_of_source else None, "aside")
        elif fact is None:
            continue
        elif isinstance(fact, datetime):
            draft.put(0, f"{name} ({fact:%Z})", "text")
            draft.put(1, fact.replace(tzinfo=None), "text", MOMENT)
        else:
            draft.put(0, name, "text")
            draft.put(1, fact, "text", GENERAL)
        draft.row += 1


def _redactions(draft: SheetDraft, order: ExportOrder, redacted: Mapping[str, Mapping[str, int]]) -> None:
    draft.section("Redaction")
    options = order.options
    if not options.sanitize_pii:
        draft.prose("Personal data was not looked for: sanitize_pii is off.")
        return
    text = f"Looked for from level {options.classification_threshold} up; strategy {options.redaction_strategy}."
    draft.prose(text if redacted else f"{text} Nothing was found.")
    lines = [(kind, column, count) for kind, columns in redacted.items() for column, count in columns.items()]
    if not lines:
        return
    draft.heading("Column", "Kind", "Cells", figures=(2,))
    for kind, column, count in lines[:REDACTED_MAX]:
        draft.put(0, column, "text")
        draft.put(1, kind.replace("_", " "), "aside")
        draft.put(2, float(count), "figure", WHOLE)
        draft.row += 1
    if len(lines) > REDACTED_MAX:
        draft.prose(f"{len(lines) - REDACTED_MAX:,} more columns are in the export's record.")


def _warnings(draft: SheetDraft, warnings: Sequence[str]) -> None:
    if not warnings:
        return
    draft.section("What to know before trusting the figures")
    for text in warnings:
        draft.prose(text, "text")


def _verification(draft: SheetDraft, provenance: Provenance) -> None:
    draft.section("How to verify")
    draft.prose("cushion verify FILE, or POST the file to /api/v1/exports/verify.", "text")
    covered = "the Foundation sheets (all but Workspace and this one)"
    draft.prose(
        f"The hash covers {covered}: what stands in their cells, not how it looks. Any change there is found, cell by "
        "cell; Workspace is free to be changed."
    )
