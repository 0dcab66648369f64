"""A column body gives, row for row, what the function gives for one row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.columns.bodies import COLUMN_BODIES
from core.formula.functions.catalogue import FUNCTIONS
from core.formula.ranges.index import INDEX_ROWS_MIN
from core.formula.values.value import NA, Array, Reference, Span
from tests.core.formula.areas import CELLS, Sheet, span_of, values_of
from tests.rows import every

ROWS = 2 * INDEX_ROWS_MIN
TABLE = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=ROWS, max_size=ROWS)
KEYS = st.lists(CELLS, min_size=1, max_size=12)
CRITERIA = st.lists(
    st.one_of(CELLS, st.sampled_from([">1", "<=2", "<>a", "a*", "=", "<>", ">a", "=2", "~*", ">#N/A"])),
    min_size=1,
    max_size=12,
)
COLUMN = "A{0}:A{1}"

CALLS = (
    "VLOOKUP({key},A1:C{n},3,FALSE)", "VLOOKUP({key},A1:C{n},2)", "VLOOKUP({key},A1:C{n},1,0)",
    "MATCH({key},B1:B{n},0)", "MATCH({key},B1:B{n})",
    "MATCH({key},B1:B{n},-1)", "XMATCH({key},A1:A{n})", "XMATCH({key},A1:A{n},2)", "XMATCH({key},A1:A{n},0,-1)",
    "XLOOKUP({key},A1:A{n},B1:B{n})", 'XLOOKUP({key},A1:A{n},B1:B{n},"none")',
    "XLOOKUP({key},A1:A{n},B1:B{n},7,2,-1)", "INDEX(C1:C{n},{key})",
    "INDEX(A1:C{n},{key},2)", "INDEX(A1:C1,{key})", "INDEX(A1:C1,1,{key})", "HLOOKUP({key},A1:C{n},2,FALSE)",
    "HLOOKUP({key},A1:C{n},3)",
)  # fmt: skip
CONDITIONAL = (
    "COUNTIF(A1:A{n},{key})", "SUMIF(A1:A{n},{key})", "SUMIF(A1:A{n},{key},B1:B{n})", "SUMIF(A1:A{n},{key},B1)",
    "AVERAGEIF(A1:A{n},{key},C1:C{n})",
    "COUNTIFS(A1:A{n},{key},B1:B{n},{other})", 'SUMIFS(C1:C{n},A1:A{n},{key},B1:B{n},">0")',
    "AVERAGEIFS(C1:C{n},A1:A{n},{key})",
    "MINIFS(C1:C{n},A1:A{n},{key},B1:B{n},{other})", "MAXIFS(C1:C{n},A1:A{n},{key})",
    "SUMIFS(C1:C{n},A1:A{n},{key},B1:B9,1)",
)  # fmt: skip


def argument(sheet: Sheet, text: str, spans: dict[str, Span]) -> Any:
    """One argument of a body: a span by its name, an area, or a constant."""
    if text in spans:
        return spans[text]
    if text[0] in "ABC":
        first, _, last = text.partition(":")
        first, last = first, last or first
        place = Reference(None, int(first[1:]) - 1, ord(first[0]) - 65, int(last[1:]) - 1, ord(last[0]) - 65)
        return sheet.array(place)
    if text[0] == '"':
        return text[1:-1]
    return text == "TRUE" if text in ("TRUE", "FALSE") else float(text)


def assert_row_for_row(call: str, table: list[Any], keys: list[Any], others: list[Any]) -> None:
    columns = [list(column) for column in zip(*table, strict=True)]
    others = (others * len(keys))[: len(keys)]
    sheet = Sheet(*columns, keys, others)
    name, _, rest = call.partition("(")
    texts = rest[:-1].format(key="keys", other="others", n=len(table)).split(",")
    spans = {"keys": span_of(keys, sheet.pool), "others": span_of(others, sheet.pool)}
    result = COLUMN_BODIES[name](sheet, [argument(sheet, text, spans) for text in texts])
    if result is None:
        return
    expected = [
        sheet.value("=" + call.format(key=f"D{row + 1}", other=f"E{row + 1}", n=len(table)), arrays=False)
        for row in range(len(keys))
    ]
    shown = [0.0 if value is None else value for value in values_of(result, sheet.pool)]
    assert [type(value) for value in shown if not isinstance(value, float)] == [
        type(value) for value in expected if not isinstance(value, float)
    ]
    for value, wanted in zip(shown, expected, strict=True):
        assert value == (pytest.approx(wanted, rel=1e-12, abs=1e-9) if isinstance(wanted, float) else wanted), call


@settings(max_examples=25, deadline=None)
@given(TABLE, KEYS, st.sampled_from(CALLS))
def test_lookups(table: list[Any], keys: list[Any], call: str) -> None:
    assert_row_for_row(call, table, keys, [None])


@settings(max_examples=25, deadline=None)
@given(TABLE, CRITERIA, CRITERIA, st.sampled_from(CONDITIONAL))
def test_conditional_sums(table: list[Any], keys: list[Any], others: list[Any], call: str) -> None:
    assert_row_for_row(call, table, keys, others)


@every("call", [*CALLS, *CONDITIONAL[:-1]])
def test_a_column_has_a_way_for_plain_numbers(call: str) -> None:
    table = [(float(row), float(row % 7), float(-row)) for row in range(ROWS)]
    sheet = Sheet(*[list(column) for column in zip(*table, strict=True)])
    name, _, rest = call.partition("(")
    texts = rest[:-1].format(key="keys", other="others", n=ROWS).split(",")
    keys = span_of([1.0, 2.0, 3.0], sheet.pool)
    result = COLUMN_BODIES[name](sheet, [argument(sheet, text, {"keys": keys, "others": keys}) for text in texts])
    assert result is not None
    assert len(result.kinds) == len(result.numbers) == len(result.codes) == 3
    assert_row_for_row(call, table, [1.0, 2.0, 3.0, 500.0, -1.0], [0.0, 2.0])


def test_what_cannot_run_by_column_is_left_to_the_rows() -> None:
    sheet = Sheet([1.0, 2.0], ["a", "b"])
    table, keys = sheet.array(Reference(None, 0, 0, 1, 1)), span_of([1.0], sheet.pool)
    assert COLUMN_BODIES["VLOOKUP"](sheet, [keys, table, keys, False]) is None
    assert COLUMN_BODIES["VLOOKUP"](sheet, [keys, Array(1, 2, [1.0, "a"]), 2.0, False]) is None
    assert COLUMN_BODIES["VLOOKUP"](sheet, [1.0, table, 2.0, False]) is None
    assert COLUMN_BODIES["XMATCH"](sheet, [keys, table, 1.0]) is None
    assert COLUMN_BODIES["SUMIF"](sheet, [table, NA]) is None
    assert COLUMN_BODIES["INDEX"](sheet, [table, keys]) is None


def test_every_column_body_belongs_to_a_function() -> None:
    assert set(COLUMN_BODIES) <= set(FUNCTIONS)


class Counting(Sheet):
    """A sheet that counts the steps of work that it is told of."""

    steps = 0

    def spend(self, cells: int) -> int:
        self.steps += cells
        return super().spend(cells)


@every("call", ["MATCH({keys},A1:A{n},0)", "VLOOKUP({keys},A1:C{n},2,FALSE)", "XMATCH({keys},A1:A{n})"])
def test_a_search_for_many_keys_counts_as_work(call: str) -> None:
    """A step for each key: a limit on the work of a formula holds down a column, too."""
    table = [(float(row), float(row), float(row)) for row in range(ROWS)]
    steps = []
    for count in (5, 50):
        sheet = Counting(*[list(column) for column in zip(*table, strict=True)])
        keys = span_of([1.0] * count, sheet.pool)
        name, _, rest = call.partition("(")
        texts = rest[:-1].format(keys="keys", n=ROWS).split(",")
        assert COLUMN_BODIES[name](sheet, [argument(sheet, text, {"keys": keys}) for text in texts]) is not None
        steps.append(sheet.steps)
    assert steps[1] - steps[0] >= 45
