"""The tests whose results a file prints, and the triggers of its classes: from any table with a name and a figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal, NamedTuple

import numpy as np

from core.portfolio.cells.parsing import key
from core.portfolio.classes import class_key, class_keys, covers
from core.portfolio.fields import TEST_LABELS
from core.portfolio.portfolio import Published, Tranches
from core.portfolio.report.page import Cell, Page
from core.portfolio.report.tables import Kind, Table

PUBLISHED_MAX: Final = 500
"""Tests that are read from one file."""

NAME_LENGTH_MAX: Final = 200
"""Characters of a test's name."""

RATIO_MAX: Final = 10.0
"""Coverage ratios and their triggers up to which a table has them as a multiple: 1.2937 is 129.37 %."""

_PASSED: Final = frozenset((
    "pass", "passed", "passes", "passing", "yes", "y", "ok", "compliant", "satisfied", "complies", "met", "true",
))  # fmt: skip
_FAILED: Final = frozenset((
    "fail", "failed", "fails", "failing", "no", "n", "breach", "breached", "not-satisfied", "non-compliant",
    "false",
))  # fmt: skip
_TABLES: Final = Kind(TEST_LABELS, lambda named: len(named & {"value", "trigger", "status"}) >= 2)

Subject = Literal["oc", "ic", "reinvestment", "default"]

_SUBJECTS: Final[tuple[tuple[Subject, re.Pattern[str]], ...]] = (
    ("default", re.compile(r"event of default|\beod\b")),
    ("reinvestment", re.compile(r"(?:reinvestment|diversion).*(?:over ?collater|par value|\boc\b|test|ratio)|"
                                r"(?:over ?collater|par value|\boc\b).*(?:reinvestment|diversion)|^reinvestment oc$")),
    ("ic", re.compile(r"interest coverage|\bic\b|\bi c\b")),
    ("oc", re.compile(r"over ?collater|par value|\boc\b|\bo c\b|par coverage|principal coverage")),
)  # fmt: skip
"""What a coverage test is about, by the words of its name or of its table; the first that fits."""


class Test(NamedTuple):
    """A published test, and what its name says."""

    published: Published
    subject: Subject | None
    classes: tuple[str, ...]
    """Of a coverage test, as `class_keys` gives them."""


def find_tests(pages: Iterable[Page], before: Iterable[Test] = ()) -> list[Test]:
    """The published tests of all pages in their order, below those found before; of the same test printed again the
    first, with its blanks filled.
    """
    found = {_plain(test): test for test in before}
    for page in pages:
        for test in _on(page):
            name = _plain(test)
            known = found.get(name)
            found[name] = test if known is None else _filled(known, test)
            if len(found) == PUBLISHED_MAX:
                return list(found.values())
    return list(found.values())


def _plain(test: Test) -> str:
    if test.subject in ("oc", "ic") and test.classes:
        return f"{test.subject} {'/'.join(test.classes)}"
    if test.subject is not None:
        return test.subject
    return " ".join(word for word in key(test.published.name).split() if word not in ("test", "ratio", "the"))


def _filled(known: Test, again: Test) -> Test:
    one, other = known.published, again.published
    if one.value is None and other.value is not None:
        one = replace(one, value=other.value, unit=other.unit, cell=other.cell)
    return known._replace(
        published=replace(
            one,
            trigger=other.trigger if one.trigger is None else one.trigger,
            status=other.status if one.status is None else one.status,
        )
    )


def subject_of(words: str) -> Subject | None:
    """What a coverage test with these words (as `key` gives them) is about; None for any other test."""
    return next((subject for subject, said in _SUBJECTS if said.search(words)), None)


def _on(page: Page) -> Iterator[Test]:
    taken: set[int] = set()
    for table in _TABLES.find(page):
        yield from _of(table, taken)
    for row in page.rows:
        if row not in taken and (test := _compared(page, row)) is not None:
            yield test


# ---- tables --------------------------------------------------------------------------------------------------------


class _Roles(NamedTuple):
    name: int
    value: int | None
    trigger: int | None
    status: int | None


def _of(table: Table, taken: set[int]) -> Iterator[Test]:
    """The tests of one table, down to where another one begins; a row of words alone is the title of those below."""
    page, rows, title = table.page, [], table.title
    for row in table.rows:
        cells = page.row(row)
        if len(cells) > 2 and all(_is_word(cell) for cell in cells.values()):
            break
        rows.append(row)
    roles = _roles(table, rows)
    if roles is None:
        return
    for row in rows:
        cells = page.row(row)
        name = cells.get(roles.name, Cell("")).text
        if name and len(cells) == 1:
            title = f"{key(page.sheet.name)} . {key(name)}"
            continue
        test = _test(page, row, roles, title)
        if test is not None:
            taken.add(row)
            yield test


def _is_word(cell: Cell) -> bool:
    """Whether a cell is neither a figure nor a status nor a word for nothing: a header has only such."""
    return bool(cell.text) and not cell.has_number and not cell.is_blank and _status(cell) is None


def _roles(table: Table, rows: list[int]) -> _Roles | None:
    """Which column is which, by its header and by what stands in it."""
    page = table.page

    def count(column: int, is_one: Callable[[Cell], bool]) -> int:
        return sum(is_one(page.cell(row, column)) for row in rows)

    columns = table.columns
    said = {at: count(at, lambda cell: _status(cell) is not None) for at in columns.get("status", ())}
    status = max((at for at in said if said[at]), key=lambda at: said[at], default=None)
    figures = {at for at in table.headers if at != status and count(at, lambda cell: cell.has_number)}
    trigger = next((at for at in columns.get("trigger", ()) if at in figures), None)
    value = next((at for at in columns.get("value", ()) if at in figures and at != trigger), None)
    named = [at for at in columns.get("name", ()) if at not in (status, trigger, value)] or [
        at for at in range(min(table.headers) + 1) if at not in (status, trigger, value)
    ]
    name = next((at for at in named if count(at, _is_word)), None)
    if name is None or sum(at is not None for at in (value, trigger, status)) < 2:
        return None
    return _Roles(name, value, trigger, status)


def _test(page: Page, row: int, roles: _Roles, title: str) -> Test | None:
    name = page.cell(row, roles.name).text
    if not name or len(name) > NAME_LENGTH_MAX or key(name).split()[:1] in (["total"], ["totals"]):
        return None
    value = Cell("") if roles.value is None else page.cell(row, roles.value)
    trigger = Cell("") if roles.trigger is None else page.cell(row, roles.trigger)
    status = None if roles.status is None else _status(page.cell(row, roles.status))
    if not value.has_number and not trigger.has_number:
        return None
    column = roles.value if value.has_number else roles.trigger
    assert column is not None, "one of them has a number"
    return _made(name, value, trigger, status, page.place(row, column), title)


def _status(cell: Cell) -> Literal["pass", "fail"] | None:
    words = key(cell.text).replace(" ", "-") if cell.text else ""
    return "pass" if words in _PASSED else "fail" if words in _FAILED else None


# ---- rows without a header -----------------------------------------------------------------------------------------

_OPERATOR: Final = re.compile(r"(?:>|<|≥|≤|=){1,2}")


def _compared(page: Page, row: int) -> Test | None:
    """A test written as a comparison: name, figure, >=, limit, and perhaps a status."""
    cells = list(page.row(row).items())
    for at, (_, cell) in enumerate(cells):
        if not 2 <= at < len(cells) - 1 or _OPERATOR.fullmatch(cell.text) is None:
            continue
        (column, value), (_, trigger) = cells[at - 1], cells[at + 1]
        name = next((cell.text for _, cell in cells[: at - 1] if cell.text and not cell.has_number), "")
        if not name or len(name) > NAME_LENGTH_MAX or not trigger.has_number:
            return None
        status = next((said for _, cell in cells[at + 2 :] if (said := _status(cell)) is not None), None)
        return _made(name, value, trigger, status, page.place(row, column), key(page.sheet.name))
    return None


# ---- figures -------------------------------------------------------------------------------------------------------

_UNITS: Final[tuple[tuple[Literal["percent", "years", "factor"], re.Pattern[str]], ...]] = (
    ("years", re.compile(r"\b(?:weighted average life|wa life|wal|average life)\b")),
    ("factor", re.compile(r"\b(?:rating factor|warf|spwarf|diversity|dispersion|ratio of)\b")),
    ("percent", re.compile(r"\b(?:spread|coupon|recovery|was|wac|warr|cdo monitor|default rate|sdr|bdr)\b")),
)  # fmt: skip


def _made(
    name: str, value: Cell, trigger: Cell, status: Literal["pass", "fail"] | None, place: str, title: str
) -> Test:
    words = key(name)
    classes = class_keys(name)
    subject = subject_of(words) or (subject_of(title) if classes else None)
    figures = [cell.number if cell.has_number else None for cell in (value, trigger)]
    unit: Literal["percent", "years", "factor", "amount", "count"] | None = None
    if subject is not None:
        unit = "percent"
        figures = [_percent(cell) if cell.has_number else None for cell in (value, trigger)]
    elif value.is_percent or trigger.is_percent:
        unit = "percent"
    else:
        unit = next((unit for unit, said in _UNITS if said.search(words)), None)
    return Test(
        Published(name=name, value=figures[0], trigger=figures[1], unit=unit, status=status, cell=place),
        subject,
        classes if subject is not None else (),
    )


def _percent(cell: Cell) -> float:
    """A coverage ratio in percent: as printed with a sign, else one of at most `RATIO_MAX` is a multiple."""
    return cell.number if cell.is_percent or abs(cell.number) > RATIO_MAX else round(cell.number * 100, 9)


# ---- triggers ------------------------------------------------------------------------------------------------------


def with_triggers(tranches: Tranches, tests: Iterable[Test]) -> Tranches:
    """The notes with the published OC and IC triggers where their own table has none: class A/B is A and all B."""
    keys = [class_key(name) for name in tranches.classes]
    columns = {"oc": tranches.oc_trigger.copy(), "ic": tranches.ic_trigger.copy()}
    given = {subject: bool(np.isfinite(column).any()) for subject, column in columns.items()}
    for test in tests:
        trigger = test.published.trigger
        if test.subject not in ("oc", "ic") or trigger is None or given[test.subject]:
            continue
        for at, note in enumerate(keys):
            if not tranches.is_income[at] and any(covers(one, note) for one in test.classes):
                columns[test.subject][at] = trigger
    return replace(tranches, oc_trigger=columns["oc"], ic_trigger=columns["ic"])
