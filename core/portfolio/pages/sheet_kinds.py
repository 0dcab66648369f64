"""What each sheet is: loans, page, list, old copy, notes, tests; and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from core.grid.places import sheet_part
from core.grid.sheet_name import in_quotes
from core.portfolio.model.facts import Kind as FactKind
from core.portfolio.model.notes import PageNote
from core.portfolio.pages.report.read import PageReport
from core.portfolio.sheets.columns.vocabulary import kind_weights
from core.portfolio.sheets.located import LocatedBook, SheetCandidate
from core.portfolio.sheets.note_tables import is_note_table
from core.words import counted

SheetKind = Literal["holdings", "page", "list", "old copy", "template", "hidden", "notes", "tests", "other"]
"""holdings: the loans. page: joined to them, or more of them. list: of some of them. old copy: of another day.
template: a header with nothing below it. hidden: nothing is taken from it. notes: the deal's classes. tests: printed
tests. other: none of these."""

NAMED: Final = 4.0
"""Weight from which the words of a sheet's name say what it is."""

FIELDS_MAX: Final = 5
"""Fields and figures that a reason names."""


_FACTS: Final[dict[FactKind, str]] = {
    "test": "test",
    "figure": "figure",
    "account": "account balance",
    "component": "calculation line",
    "stratification": "breakdown line",
    "list": "list line",
    "total": "total",
    "empty_page": "empty list",
    "note": "note figure",
}
"""What a fact is called in a reason."""


@dataclass(frozen=True, slots=True)
class _Printed:
    """What the report's pages give, by the sheet's name as places write it."""

    facts: dict[str, Counter[FactKind]] = field(default_factory=dict)
    """How many figures of each kind stand there."""
    cells: dict[str, list[str]] = field(default_factory=dict)
    """What is read there of the deal and its notes: deal.as_of, tranches.current_balance."""


def kinds(located: LocatedBook, report: PageReport, notes: Sequence[PageNote] = ()) -> dict[str, tuple[SheetKind, str]]:
    """Return what each of the sheets is, by its name, and why.

    Args:
        report: what its pages print.
        notes: what became of the other sheets that say something of loans.
    """
    holdings = located.loans
    printed = _collect_printed(report)
    by_sheet = {note.sheet: note for note in sorted(notes, key=lambda note: note.part != "left out")}
    return {
        sheet.sheet.name: ("holdings", "its loans are read")
        if holdings is not None and sheet.sheet is holdings.sheet
        else _kind(sheet, by_sheet.get(sheet.sheet.name), printed, is_old=sheet.sheet.index in located.old)
        for sheet in located.sheets
    }


def _kind(
    candidate: SheetCandidate, note: PageNote | None, printed: _Printed, *, is_old: bool
) -> tuple[SheetKind, str]:
    """Return the surest of what a sheet may be."""
    name, weights = in_quotes(candidate.sheet.name), kind_weights(candidate.sheet.name)
    facts, cells = printed.facts.get(name, Counter[FactKind]()), printed.cells.get(name, [])
    part = "left out" if note is None else note.part
    is_empty = candidate.header is not None and not candidate.has_rows
    is_notes = candidate.header is not None and is_note_table(candidate.sheet, candidate.header)
    gives_notes = any(what.startswith("tranches.") for what in cells)
    candidates: tuple[tuple[bool, SheetKind, str], ...] = (
        (part == "list", "list", _describe_join(note)),
        (part in ("joined", "added"), "page", _describe_join(note)),
        (weights.get("template", 0.0) >= NAMED, "template", "its name is that of a template"),
        (is_old, "old copy", "its name is that of a page of another day"),
        (candidate.sheet.state != "visible", "hidden", "it is hidden"),
        (weights.get("old", 0.0) >= NAMED, "old copy", "its name is that of an older page"),
        (is_empty, "template", "nothing stands below its header"),
        (is_notes or gives_notes, "notes", "it gives the classes of notes"),
        (facts["test"] > 0, "tests", f"it prints {counted(facts['test'], 'test')}"),
        (True, "other", _other_use(note, facts, cells)),
    )
    return next((kind, why) for holds, kind, why in candidates if holds)


def _describe_join(note: PageNote | None) -> str:
    """Return what was taken from a page."""
    if note is None:
        return ""
    by = ", ".join(f"{count:,} by {how}" for how, count in note.by.items())
    words = f"{counted(note.rows, 'row')} joined" + (f", {by}" if by else "")
    if note.part == "added":
        words = f"{counted(note.rows_without_loan, 'loan')} of it added"
    if note.part == "list" and not note.rows:
        words = "it says that its list is empty"
    return words


def _other_use(note: PageNote | None, facts: Counter[FactKind], cells: Sequence[str]) -> str:
    """Return what else a sheet is good for, and why no loans are taken from it."""
    parts = []
    if note is not None:
        parts.append(note.reason)
    if cells:
        more = ", ..." if len(cells) > FIELDS_MAX else ""
        parts.append(f"it gives {', '.join(cells[:FIELDS_MAX])}{more}")
    elif facts:
        parts.append("it prints " + ", ".join(counted(count, _FACTS[kind]) for kind, count in facts.most_common()))
    return "; ".join(parts) or "nothing is read from it"


def _collect_printed(report: PageReport) -> _Printed:
    printed = _Printed()
    for fact in report.facts.all:
        kind: FactKind = "figure" if fact.kind == "test" and fact.is_prior else fact.kind
        printed.facts.setdefault(sheet_part(fact.place), Counter())[kind] += 1
    for what, place in report.cells.items():
        printed.cells.setdefault(sheet_part(place), []).append(what)
    return printed
