"""The tests and figures that a page prints, as facts: one of each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.portfolio.model.classes import class_keys
from core.portfolio.model.facts import (
    Direction,
    Fact,
    FactSubject,
    Status,
    Unit,
    tolerance_of,
)
from core.portfolio.pages.report import words
from core.portfolio.pages.report.blocks import Blocks, PageTable
from core.portfolio.pages.report.columns import BIG, context_of
from core.portfolio.pages.report.kinds import OPERATORS
from core.portfolio.pages.report.lines import PageLine, is_running
from core.portfolio.pages.report.page import PageCell, ReportPage
from core.portfolio.pages.report.roles import is_limit_label, limit_role, side_of, status_at, test_name
from core.portfolio.pages.report.sentences import parse_sentence
from core.portfolio.pages.report.subjects import (
    COVERAGE,
    Side,
    clause_of,
    coverage_of,
    is_test_name,
    subject_of,
)

NAME_LENGTH_MAX: Final = 300
"""Characters of a test's name."""

RATIO_MAX: Final = 10.0
"""Coverage ratios and their limits up to which a page has them as a multiple: 1.2937 is 129.37 %."""

FRACTION_MAX: Final = 20.0
"""Figures from which none is a fraction, whatever stands beside it."""

FRACTION_ROWS: Final = 2
"""Values beside limits in percent that must all stay below one to be fractions."""

WHOLE_MIN: Final = 30.0
"""Rating factors and scores from which a whole figure is printed without digits; Fitch's factor, with two, is less."""

DENOMINATOR_MIN: Final = 1_000.0
"""Currency units from which a denominator tells the scale of its ratio."""

SURE_LEAD: Final = 1.5
"""Lead of a measure below which its reading is a guess."""

EOD_LEAST: Final = 6.0
"""Weight from which a title is of events of default."""

_SEVERAL: Final = re.compile(r"[&,/]|\band\b", re.IGNORECASE)
"""What stands between several things in a title."""

_FORMULA: Final = re.compile(r"[=*^]|/\s*\d|^\s*(?:plus|minus)\b", re.I)
"""Marks of a label that is a step of a calculation."""

MULTIPLES: Final = frozenset(("oc", "ic", "reinvestment", "eod"))
"""Measures whose ratios may be printed as a multiple."""

_RATES: Final = frozenset(("was", "wac"))
"""Measures that may be in basis points."""

BASIS_POINTS_MIN: Final = 50.0
"""Spreads and coupons from which they are basis points, and no percentages."""

_UNITS: Final[dict[str, Unit]] = {
    "wal": "years",
    "warf": "factor",
    "diversity": "factor",
    "retention": "amount",
    "price": "percent",
}
"""Units of measures; of all others a percentage."""

_AMOUNTS: Final = frozenset(("retention", "sale"))
"""Measures that may be amounts."""

_NOTHING: Final = PageCell("")


def facts_of(page: ReportPage, blocks: Blocks) -> Iterator[Fact]:
    """Yield a page's tests and figures in order, those of last month marked."""
    numbered: list[tuple[int, Fact]] = []
    used_rows: set[int] = set()
    for table in blocks.tables:
        used_rows.update(table.rows)
        if table.kind == "tests":
            numbered += _of_table(table)
    numbered += _above_limits(page, blocks, used_rows)
    numbered += _vertical(page, blocks, used_rows)
    for read_row in (_read_comparison, _read_sentence):
        numbered += [
            (row, fact) for row in page.rows if row not in used_rows and (fact := read_row(page, row)) is not None
        ]
    compared = {row for row, _ in numbered}
    numbered += [
        (line.row, fact) for line in blocks.lines if line.row not in compared and (fact := _of_line(line)) is not None
    ]
    yield from (fact for _, fact in sorted(numbered, key=lambda pair: pair[0]))


# ---- rows of tables ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a test."""

    name: str
    group: str
    context: str
    """Titles of its section, table and page."""
    value: PageCell
    limit: PageCell
    status: Status | None
    side: Side | None
    """That the page prints."""
    numerator: PageCell
    denominator: PageCell
    place: str
    over: str = ""
    """Title or section that may name the classes; a sheet's name says too little of them."""
    is_single: bool = True
    """No other test of coverage has its title."""


def _of_table(table: PageTable) -> list[tuple[int, Fact]]:
    rows = _without_titles_of_one([(row, test_row) for row in table.rows if (test_row := _row(table, row)) is not None])
    is_fraction = _are_fractions([test_row for _, test_row in rows])
    is_open = is_fraction and _is_open(table, [test_row for _, test_row in rows])
    if is_open is None:
        is_fraction = False
    numbered: list[tuple[int, Fact]] = []
    for row, test_row in rows:
        is_guessed = table.is_guessed or bool(is_open and _is_bare_share(test_row))
        fact = _fact(test_row, is_fraction=is_fraction, is_guessed=is_guessed, by=table.by)
        if fact is None:
            continue
        numbered.append((row, fact))
        prior = table.cell(row, "prior")
        if prior.has_number and not fact.is_prior:
            scale = _scale(fact.subject, fact.unit, prior, test_row, is_fraction)
            numbered.append(
                (
                    row,
                    replace(
                        fact,
                        value=_scale_cell(prior, scale),
                        place=table.place(row, "prior"),
                        is_prior=True,
                        status=None,
                        numerator=None,
                        denominator=None,
                        decimals=_decimals(prior, scale),
                    ),
                )
            )
    return _tell_apart(_with_real_digits(_without_reversed(numbered)))


def _without_titles_of_one(rows: list[tuple[int, _Row]]) -> list[tuple[int, _Row]]:
    """Mark tests of coverage that share a title with others: it names no single test."""
    coverage = Counter(row.group for _, row in rows if coverage_of(row.name) is not None)
    return [(at, replace(row, is_single=coverage[row.group] < 2)) for at, row in rows]


def _row(table: PageTable, row: int) -> _Row | None:
    cells = table.page.row(row)
    name = test_name(table, row)
    value, role = table.cell(row, "value"), limit_role(table, row)
    limit, status = table.cell(row, role), status_at(table, row)
    if len(cells) < 2 or not name or len(name) > NAME_LENGTH_MAX or words.is_total(name):
        return None
    is_test = is_test_name(name, context_of(table))
    if (is_running(name) and not is_test_name(name, "")) or (is_limit_label(name) and _limits_are_below(table)):
        return None
    has_figure, has_columns = value.has_number or limit.has_number, bool(table.columns.keys() & {"value", "limit"})
    if not has_figure and (has_columns or status is None or not is_test):
        return None
    heading = table.headers.get(table.columns.get(role, -1), "")
    if not limit.has_number:
        limit, heading = _below(table, row)
    group = table.group(row) if "group" not in table.columns else table.cell(row, "group").text or table.title
    return _Row(
        name=name,
        group=group,
        context=group if coverage_of(group) is not None else context_of(table),
        value=value,
        limit=limit,
        status=status,
        side=_side(limit, table.cell(row, "dir").text, heading, name),
        numerator=_amount(table, row, "num"),
        denominator=_amount(table, row, "den"),
        place=table.place(row, "value" if value.has_number else role if has_figure else "status"),
        over="" if group == table.page.sheet.name else group,
    )


def _limits_are_below(table: PageTable) -> bool:
    """Return whether rows such as "Required" stand each below its test."""
    names = [name for row in table.rows if (name := table.cell(row, "name").text)]
    return bool(names) and not is_limit_label(names[0])


def _below(table: PageTable, row: int) -> tuple[PageCell, str]:
    """Return the limit in the row below a test, and its label."""
    at = table.rows.index(row)
    names = [table.cell(below, "name").text for below in table.rows[at + 1 : at + 3]]
    if not names or not is_limit_label(names[0]) or is_limit_label(names[-1]) == (len(names) > 1):
        return _NOTHING, ""
    cell = table.cell(table.rows[at + 1], "value")
    return (cell, names[0]) if cell.has_number and _limits_are_below(table) else (_NOTHING, "")


def _amount(table: PageTable, row: int, role: str) -> PageCell:
    """Return a numerator or denominator in units of currency."""
    cell = table.cell(row, role)
    scale = table.magnitude(role) if cell.has_number and role in table.columns else 1.0
    return cell if scale == 1.0 else cell._replace(number=cell.number * scale)


def _side(limit: PageCell, direction: str, heading: str, name: str) -> Side | None:
    """Return the limit's side as printed: figure, column, heading or name."""
    if limit.bound is not None:
        return limit.bound
    for text in (direction, heading, name):
        if (side := side_of(text)) is not None:
            return side
    return None


def _are_fractions(rows: Sequence[_Row]) -> bool:
    """Return whether shares are fractions: by ratios, else no limit reaches one.

    Beside limits that are printed as percentages, values that stay below one are.
    """
    votes = [
        abs(ratio - 100.0 * row.value.number) < abs(ratio - row.value.number)
        for row in rows
        if row.value.has_number and not row.value.is_percent and row.value.number and (ratio := _ratio(row)) is not None
    ]
    if votes:
        return 2 * sum(votes) > len(votes)
    shares = [row for row in rows if _is_share(row)]
    limits = [abs(share.limit.number) for share in shares if share.limit.has_number and not share.limit.is_percent]
    if limits:
        return 0 < max(limits) < 1.0
    beside = [share for share in shares if share.value.has_number and not share.value.is_percent]
    small = len(beside) >= FRACTION_ROWS and 0 < max(abs(test_row.value.number) for test_row in beside) < 1.0
    return small and _contradictions(beside, 100.0) <= _contradictions(beside, 1.0)


_PERCENT_WORDS: Final = re.compile(r"%|\bper ?cent|\bpct\b", re.IGNORECASE)

PERCENT_DIGITS: Final = 2
"""Digits that percentages are printed with; fractions have more."""

PERCENT_LEAST: Final = 0.2
"""Percent below which no limit of a share lies, unless it is 0."""


def _is_open(table: PageTable, rows: Sequence[_Row]) -> bool | None:
    """Return whether figures below one may be percentages as well; None: they are.

    By a heading or title with the sign, and by the digits, where neither a ratio nor a limit decides.
    """
    shares = [row for row in rows if _is_bare_share(row)]
    limits = [row.limit for row in shares if row.limit.has_number]
    if not limits or any(limit.is_percent for limit in limits) or any(_ratio(row) is not None for row in rows):
        return False
    if any(0 < limit.number < PERCENT_LEAST for limit in limits) or any(map(_is_least, shares)):
        return False
    headings = (table.title, *(table.headers.get(table.columns.get(role, -1), "") for role in ("value", "limit")))
    says_percent = any(_PERCENT_WORDS.search(heading) for heading in headings)
    has_few = all(_digits(cell) <= PERCENT_DIGITS for row in shares for cell in (row.value, row.limit))
    return None if has_few and says_percent else has_few or says_percent


def _is_least(row: _Row) -> bool:
    """Return whether a row's limit is a lower one: most of a pool, never below 1 %."""
    measure = words.guess("test", row.name).role
    return (row.side or (measure and words.direction_of(measure))) == "min"


def _is_bare_share(row: _Row) -> bool:
    """Return whether a row is of shares without a sign."""
    return _is_share(row) and not row.value.is_percent and not row.limit.is_percent


def _digits(cell: PageCell) -> int:
    """Return the digits behind the point that a figure shows, else has."""
    if not cell.has_number or cell.decimals is not None:
        return cell.decimals or 0
    return len(f"{cell.number:.6f}".rstrip("0").partition(".")[2])


def _contradictions(rows: Sequence[_Row], scale: float) -> int:
    """Count outcomes contrary to the comparison with values at a scale."""
    count = 0
    for row in rows:
        measure = words.guess("test", row.name).role
        if row.status is None or not row.limit.has_number or measure is None:
            continue
        side = row.side or words.direction_of(measure)
        value = scale * row.value.number
        passes = value >= row.limit.number if side == "min" else value <= row.limit.number
        count += passes != (row.status == "pass")
    return count


def _is_share(row: _Row) -> bool:
    """Return whether a row's unit is a percentage, never a multiple."""
    measure = words.guess("test", row.name).role
    return _unit(measure) == "percent" and measure not in MULTIPLES and measure != "warr"


# ---- one fact ------------------------------------------------------------------------------------------------------


def _unit(measure: str | None) -> Unit | None:
    return None if measure is None else _UNITS.get(measure, "percent")


def _fact(row: _Row, *, is_fraction: bool, is_guessed: bool, by: str) -> Fact | None:
    has_limit = row.limit.has_number
    is_test = has_limit or row.status is not None
    limit = _in_percent(row.limit, is_fraction=is_fraction) if has_limit else None
    label = subject_of(row.name, title=row.context, side=row.side if is_test else None, limit=limit)
    subject = _with_classes(label.subject, row.over)
    if row.is_single:
        subject = _of_default(subject, row.group)
    measure = None if subject is None else subject.measure
    unit = _unit_of(measure, row)
    if not is_test and (subject is None or not _is_figure(row.value, unit)):
        return None
    value_scale = _scale(subject, unit, row.value, row, is_fraction)
    limit_scale = _scale(subject, unit, row.limit, row, is_fraction)
    value = _scale_cell(row.value, value_scale)
    trigger = _scale_cell(row.limit, limit_scale)
    return Fact(
        kind="test" if is_test else "figure",
        label=row.name,
        subject=subject,
        value=value,
        place=row.place,
        unit=unit,
        decimals=_whole(row.value, unit) if row.value.decimals is None else _decimals(row.value, value_scale),
        numerator=row.numerator.number if row.numerator.has_number else None,
        denominator=row.denominator.number if row.denominator.has_number else None,
        trigger=trigger,
        direction=_direction(measure, row, value, trigger) if is_test else None,
        status=row.status,
        group=row.group,
        by="relation" if by == "relation" and row.denominator.has_number else "words",
        is_guessed=is_guessed or (subject is not None and label.lead < SURE_LEAD and _is_doubtful(row)),
    )


def _with_classes(subject: FactSubject | None, title: str) -> FactSubject | None:
    """Give a coverage test without a class those of its title."""
    if subject is None or subject.measure not in COVERAGE or subject.classes or subject.detail is not None:
        return subject
    return replace(subject, classes=class_keys(title))


def _of_default(subject: FactSubject | None, group: str) -> FactSubject | None:
    """Take coverage under a title of events of default alone as the test of these."""
    if subject is None or subject.measure not in COVERAGE or _SEVERAL.search(group) is not None:
        return subject
    is_of_default = words.scores("test", group).get("eod", 0.0) >= EOD_LEAST
    return replace(subject, measure="eod", classes=()) if is_of_default else subject


def _in_percent(limit: PageCell, *, is_fraction: bool) -> float:
    return limit.number * 100.0 if is_fraction and not limit.is_percent and abs(limit.number) < 1.0 else limit.number


def _is_doubtful(row: _Row) -> bool:
    """Return whether only words say what a row is about: no limit agrees."""
    return row.side is None


def _unit_of(measure: str | None, row: _Row) -> Unit | None:
    """Return the unit of a row's value and limit."""
    if row.value.is_percent or row.limit.is_percent:
        return "percent"
    figures = [cell.number for cell in (row.value, row.limit) if cell.has_number]
    if measure in _AMOUNTS or any(abs(number) > BIG for number in figures):
        return "amount" if any(abs(number) > BIG for number in figures) else "percent"
    if measure is None:
        ratio = _ratio(row)
        return "percent" if ratio is not None and row.value.has_number and _is_near(ratio, row.value.number) else None
    return _unit(measure)


def _is_near(ratio: float, number: float) -> bool:
    return min(abs(ratio - number), abs(ratio - 100.0 * number)) <= max(0.06, 0.001 * abs(ratio))


def _is_figure(value: PageCell, unit: Unit | None) -> bool:
    """Return whether a figure without a limit may be compared: no amount or zero."""
    return value.has_number and value.number != 0 and unit not in (None, "amount") and abs(value.number) <= BIG


def _ratio(row: _Row) -> float | None:
    """Return numerator / denominator in percent, where both are amounts."""
    above, below = row.numerator, row.denominator
    if not (above.has_number and below.has_number) or abs(below.number) < DENOMINATOR_MIN or above.number == 0:
        return None
    return 100.0 * above.number / below.number


def _scale(subject: FactSubject | None, unit: Unit | None, cell: PageCell, row: _Row, is_fraction: bool) -> float:
    """Return what a cell's figure is to be multiplied by to stand in its unit."""
    if unit != "percent" or not cell.has_number or cell.is_percent:
        return 1.0
    if subject is not None and subject.measure in _RATES and abs(cell.number) >= BASIS_POINTS_MIN:
        return 0.01
    if abs(cell.number) >= FRACTION_MAX:
        return 1.0
    ratio = _ratio(row)
    if ratio is not None and row.value.number and row.value.has_number and not row.value.is_percent:
        return 100.0 if abs(ratio - 100.0 * row.value.number) < abs(ratio - row.value.number) else 1.0
    if subject is not None and subject.measure in MULTIPLES:
        return 100.0 if abs(cell.number) <= RATIO_MAX or _is_large_multiple(cell, row) else 1.0
    if subject is not None and subject.measure == "warr":
        return 100.0 if abs(cell.number) <= 1.0 else 1.0
    return 100.0 if is_fraction else 1.0


def _is_large_multiple(cell: PageCell, row: _Row) -> bool:
    """Return whether a ratio above ten is a multiple, by its limit or status."""
    limit = row.limit
    if not limit.has_number or cell is limit:
        return False
    if not limit.is_percent and abs(limit.number) <= RATIO_MAX:
        return True
    return row.status == "pass" and cell.number < limit.number <= 100.0 * cell.number


def _scale_cell(cell: PageCell, scale: float) -> float | None:
    return round(cell.number * scale, 9) if cell.has_number else None


def _decimals(cell: PageCell, scale: float) -> int | None:
    if not cell.has_number or cell.decimals is None:
        return None
    return cell.decimals if scale == 1.0 else max(0, cell.decimals + (2 if scale < 1.0 else -2))


def _whole(cell: PageCell, unit: Unit | None) -> int | None:
    """Drop the digits of a whole factor or score whose format says none: 2845."""
    is_whole = unit == "factor" and cell.has_number and cell.number == round(cell.number)
    return 0 if is_whole and cell.number >= WHOLE_MIN else None


def _direction(measure: str | None, row: _Row, value: float | None, trigger: float | None) -> Direction | None:
    """Return the limit's printed side, else the measure's, or by its status."""
    if row.side is not None:
        return row.side
    if measure is None or measure == "cdo_monitor":
        if value is None or trigger is None or row.status is None or value == trigger:
            return None
        return "min" if (value > trigger) == (row.status == "pass") else "max"
    return words.direction_of(measure)


# ---- what a table as a whole says ----------------------------------------------------------------------------------

REVERSED_ROWS: Final = 3
"""Tests whose printed outcome is the contrary of the comparison, and none that agrees, from which no outcome counts."""


def _without_reversed(numbered: list[tuple[int, Fact]]) -> list[tuple[int, Fact]]:
    """Drop outcomes where a table has the contrary of all its comparisons.

    Its yes means something else.
    """
    compared = [
        ((fact.value >= fact.trigger) if fact.direction == "min" else (fact.value <= fact.trigger))
        == (fact.status == "pass")
        for _, fact in numbered
        if fact.status is not None
        and fact.value is not None
        and fact.trigger is not None
        and fact.direction is not None
        and fact.value != fact.trigger
    ]
    if len(compared) < REVERSED_ROWS or any(compared):
        return numbered
    return [(row, replace(fact, status=None)) for row, fact in numbered]


DIGIT_ROWS: Final = 4
"""Figures of one section that must all end in a zero before the zero counts as not printed."""


def _with_real_digits(numbered: list[tuple[int, Fact]]) -> list[tuple[int, Fact]]:
    """Drop one decimal where all figures of a section end in a rounding zero.

    Values stored with one digit less than their format shows (0.089 as 8.90 %) are such.
    """
    sections: dict[tuple[str, bool, int | None], list[float]] = {}
    for _, fact in numbered:
        if fact.value and fact.unit == "percent":
            sections.setdefault((fact.group, fact.is_prior, fact.decimals), []).append(fact.value)
    return [
        (row, replace(fact, decimals=fact.decimals - 1))
        if fact.decimals
        and fact.unit == "percent"
        and _all_end_in_zero(sections.get((fact.group, fact.is_prior, fact.decimals), []), fact.decimals)
        else (row, fact)
        for row, fact in numbered
    ]


def _all_end_in_zero(values: list[float], decimals: int) -> bool:
    scale = 10.0 ** (decimals - 1)
    return len(values) >= DIGIT_ROWS and all(abs(value * scale - round(value * scale)) < 1e-6 for value in values)


def _tell_apart(numbered: list[tuple[int, Fact]]) -> list[tuple[int, Fact]]:
    """Tell facts of one subject with other limits apart by their clauses."""
    limits: dict[FactSubject, set[tuple[str, float | None]]] = {}
    for _, fact in numbered:
        if fact.subject is not None and fact.kind == "test" and not fact.is_prior:
            limits.setdefault(fact.subject, set()).add((clause_of(fact.label), fact.trigger))
    several = {
        subject
        for subject, some in limits.items()
        if len({trigger for _, trigger in some}) > 1 and len({clause for clause, _ in some}) == len(some)
    }
    return [
        (row, replace(fact, subject=replace(fact.subject, detail=_with_clause(fact.subject, fact.label))))
        if fact.subject is not None and fact.subject in several
        else (row, fact)
        for row, fact in numbered
    ]


def _with_clause(subject: FactSubject, label: str) -> str:
    return " ".join(part for part in (subject.detail, "clause", clause_of(label)) if part)


# ---- rows that stand in no table -----------------------------------------------------------------------------------


def _read_comparison(page: ReportPage, row: int) -> Fact | None:
    """Read a comparison without a heading: name, figure, >=, limit, status."""
    cells = list(page.row(row).items())
    for at, (_, cell) in enumerate(cells):
        if not 2 <= at < len(cells) - 1 or cell.text not in OPERATORS:
            continue
        (column, value), (_, limit) = cells[at - 1], cells[at + 1]
        name = next((text_cell.text for _, text_cell in cells[: at - 1] if text_cell.is_words), "")
        if not name or len(name) > NAME_LENGTH_MAX or not limit.has_number or not value.has_number:
            return None
        status = next(
            (word for _, text_cell in cells[at + 2 :] if (word := words.status_of(text_cell.text)) is not None), None
        )
        if abs(value.number) > BIG and status is None:
            return None
        place, sheet = page.place(row, column), page.sheet.name
        side = OPERATORS[cell.text]
        test_row = _Row(name, sheet, sheet, value, limit, status, side, _NOTHING, _NOTHING, place)
        return _fact(test_row, is_fraction=False, is_guessed=False, by="words")
    return None


def _read_sentence(page: ReportPage, row: int) -> Fact | None:
    """Read a test that a line of prose is about."""
    cells = page.row(row)
    sentence = parse_sentence(next(iter(cells.values())).text) if len(cells) == 1 else None
    if sentence is None or not is_test_name(sentence.name, ""):
        return None
    place, sheet = page.place(row, min(cells)), page.sheet.name
    name, value, limit, side, status = sentence
    test_row = _Row(name, sheet, sheet, value, limit, status, side, _NOTHING, _NOTHING, place)
    return _fact(test_row, is_fraction=False, is_guessed=False, by="words")


def _above_limits(page: ReportPage, blocks: Blocks, used_rows: set[int]) -> list[tuple[int, Fact]]:
    """Read tests whose limit, and perhaps outcome, stands in the line below."""
    numbered: list[tuple[int, Fact]] = []
    for lines in _groups(blocks.lines, used_rows):
        limits = [is_limit_label(line.label) for line in lines]
        for at, line in enumerate(lines[:-1]):
            below = lines[at + 1]
            is_one = limits[at : at + 3] in ([False, True], [False, True, False]) and not limits[0]
            if not is_one or not is_test_name(line.label, line.title) or not _are_lone(line, below):
                continue
            rows = [row for row in page.rows if line.row <= row <= below.row + 1]
            status = next((status for row in rows if (status := _status_in(page, row, line)) is not None), None)
            limit = below.page.cell(below.row, below.column)
            numerator, denominator = _amounts_of(line, lines)
            test_row = _Row(
                name=line.label,
                group=line.title or page.sheet.name,
                context=line.title or page.sheet.name,
                value=line.page.cell(line.row, line.column),
                limit=limit,
                status=status,
                side=_side(limit, "", below.label, line.label),
                numerator=numerator,
                denominator=denominator,
                place=line.place,
            )
            fact = _fact(test_row, is_fraction=False, is_guessed=False, by="words")
            if fact is not None:
                numbered.append((line.row, fact))
                used_rows.update((line.row, below.row))
    return numbered


def _are_lone(*lines: PageLine) -> bool:
    """Return whether each line has one figure, and none is an amount."""
    return all(
        abs(line.value) <= BIG and sum(cell.has_number for cell in line.page.row(line.row).values()) == 1
        for line in lines
    )


def _groups(lines: Iterable[PageLine], used_rows: set[int]) -> list[list[PageLine]]:
    """Return the lines of each block under each title, without those of some rows."""
    groups: dict[tuple[int, str], list[PageLine]] = {}
    for line in lines:
        if line.row not in used_rows:
            groups.setdefault((line.block, line.title), []).append(line)
    return [*groups.values()]


_RESULT: Final = re.compile(r"^\s*(?:test )?(?:result|outcome|status)\b", re.I)

VERTICAL_ROWS_MAX: Final = 24
"""Rows of a test whose figures stand below each other."""


def _vertical(page: ReportPage, blocks: Blocks, used_rows: set[int]) -> list[tuple[int, Fact]]:
    """Read tests named by a block's title, with lines for figure, limit, result."""
    numbered: list[tuple[int, Fact]] = []
    for lines in _groups(blocks.lines, used_rows):
        title = lines[0].title
        roles = {words.guess("column.t", line.label).role: line for line in reversed(lines)}
        ratios = [line for line in lines if _is_ratio(line)]
        if any(class_keys(roles[role].label) for role in ("value", "limit") if role in roles):
            continue  # each of several classes has its own
        if "value" not in roles and len(ratios) == 1:
            roles["value"] = ratios[0]
        if not {"value", "limit"} <= roles.keys() or len(lines) > VERTICAL_ROWS_MAX or not is_test_name(title, ""):
            continue
        cells = {role: page.cell(line.row, line.column) for role, line in roles.items()}
        numerator, denominator = _amounts_of(roles["value"], lines)
        rows = [row for row in page.rows if lines[0].row <= row <= lines[-1].row + 1]
        row = _Row(
            name=title,
            group=page.sheet.name,
            context=page.sheet.name,
            value=cells["value"],
            limit=cells["limit"],
            status=next((status for row_line in rows if (status := _status_in(page, row_line)) is not None), None),
            side=_side(cells["limit"], "", roles["limit"].label, title),
            numerator=numerator,
            denominator=denominator,
            place=roles["value"].place,
        )
        fact = _fact(row, is_fraction=False, is_guessed=False, by="words")
        if fact is not None:
            numbered.append((roles["value"].row, fact))
            used_rows.update(line.row for line in lines)
    return numbered


def _amounts_of(value: PageLine, lines: Sequence[PageLine]) -> tuple[PageCell, PageCell]:
    """Return the only two amounts of a block that make a ratio; else nothing."""
    amounts = {round(line.value, 2): line for line in lines if abs(line.value) > BIG}
    scale = 1.0 if value.is_percent or abs(value.value) > RATIO_MAX else 100.0
    ratio, slack = scale * value.value, scale * tolerance_of(value.value, value.decimals)
    pairs = [
        (above, below)
        for above in amounts.values()
        for below in amounts.values()
        if above is not below and abs(100.0 * above.value / below.value - ratio) <= slack
    ]
    if len(pairs) != 1:
        return _NOTHING, _NOTHING
    above, below = (line.page.cell(line.row, line.column) for line in pairs[0])
    return above, below


def _is_ratio(line: PageLine) -> bool:
    """Return whether a line is the ratio of a calculation, and not its limit."""
    is_named = " ratio " in words.normal(line.label) and words.guess("column.t", line.label).role != "limit"
    return is_named and abs(line.value) <= BIG and line.value != 0


def _status_in(page: ReportPage, row: int, line: PageLine | None = None) -> Status | None:
    """Return what a line says of the test's outcome ("Result | Passed").

    `line`: that of the test, in whose own row the outcome may stand.
    """
    if line is not None and row == line.row:
        outcomes = {words.status_of(cell.text) for cell in page.row(row).values()} - {None}
        return outcomes.pop() if len(outcomes) == 1 else None
    texts = [cell.text for cell in page.row(row).values() if cell.is_words]
    if len(texts) != 2 or not (words.guess("column.t", texts[0]).role == "status" or _RESULT.search(texts[0])):
        return None
    return words.status_of(texts[1])


_NO_VALUES: Final = frozenset(("limit", "prior", "clause", "cushion", "num", "den"))
"""Roles of columns whose figures are no test's value."""


def _of_line(line: PageLine) -> Fact | None:
    """Read a line as a figure: a percentage, or a factor or life by its words."""
    label = subject_of(line.label, title=line.title, is_line=True)
    subject = label.subject
    if sum(cell.has_number for cell in line.page.row(line.row).values()) > 1:
        return None  # which of them is the figure of the day, no heading says
    if line.heading and words.guess("column.t", line.heading).role in _NO_VALUES:
        return None
    if subject is None or line.value == 0 or line.is_less or abs(line.value) > BIG or _FORMULA.search(line.label):
        return None
    unit = _unit(subject.measure)
    if not line.is_percent and unit not in ("years", "factor"):
        return None
    return Fact(
        kind="figure",
        label=line.label,
        subject=subject,
        value=line.value,
        place=line.place,
        unit="percent" if line.is_percent else unit,
        decimals=line.decimals,
        group=line.title,
        is_guessed=label.lead < SURE_LEAD,
    )
