"""The parts of pivot tables.

Which rows of figures there are to ask for, and what is refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.files import pivots, xlsx
from core.files.pivots import PivotCache, parse_pivot_table
from core.files.xlsx import read_xlsx
from core.grid.pivot import Line, Pivot
from core.recalc.book import read
from tests.core.pivots import CACHE, MAIN, PIVOTS, parts, write
from tests.rows import every

TABULAR = 'outline="0" compact="0"'
ROWS = "<i><x/><x/></i>", '<i r="1"><x v="1"/></i>', '<i t="default"><x/></i>', '<i t="grand"><x/></i>'

LINES: tuple[tuple[str, str, tuple[str, ...], list[Line | None]], ...] = (
    # as a table: every row names all its items, and totals stand below
    (TABULAR, "", ROWS, [(-1, 0, 0), (-1, 0, 1), (-1, 0), (-1,)]),
    # an outline with its totals below, or without any: the row that begins an item has no figures
    ('subtotalTop="0"', "", ("<i><x/></i>", '<i r="1"><x/></i>', '<i t="default"><x/></i>'),
     [None, (-1, 0, 0), (-1, 0)]),
    ('defaultSubtotal="0"', "", ("<i><x/></i>", '<i r="1"><x/></i>'), [None, (-1, 0, 0)]),
    # but one that is closed has
    (TABULAR, 'sd="0"', ("<i><x/></i>", "<i><x v='1'/><x/></i>"), [(-1, 0), (-1, 1, 0)]),
    # totals by functions of their own, and blank rows, cannot be asked for
    (TABULAR, "", (*ROWS[:2], '<i t="sum"><x/></i>', '<i t="avg"><x/></i>', '<i t="blank"><x/></i>', ROWS[3]),
     [(-1, 0, 0), (-1, 0, 1), None, None, None, (-1,)]),
)  # fmt: skip


def tabular(attributes: str, item: str, rows: tuple[str, ...]) -> str:
    fields = f'<pivotField {attributes}><items><item x="0" {item}/><item x="1"/></items></pivotField>' * 2
    return (
        f'<pivotTableDefinition xmlns="{MAIN}" name="P"><location ref="A1:C9" firstDataRow="1" firstDataCol="2"/>'
        f'<pivotFields>{fields}</pivotFields><rowFields><field x="0"/><field x="1"/></rowFields>'
        f"<rowItems>{''.join(rows)}</rowItems><colItems><i/></colItems></pivotTableDefinition>"
    )


@every("attributes, item, rows, lines", LINES)
def test_rows_of_figures(attributes: str, item: str, rows: tuple[str, ...], lines: list[Line | None]) -> None:
    part = parse_pivot_table(tabular(attributes, item, rows).encode())
    assert part.rows.lines == lines
    assert part.columns.lines == [(-1,)]


def pivots_of(path: Path) -> tuple[Pivot, ...] | None:
    return read_xlsx(path.read_bytes()).pivots


FIRST = "xl/pivotTables/pivotTable1.xml"
SPOILT = {
    "no cache": {"xl/pivotTables/_rels/pivotTable1.xml.rels": f'<Relationships xmlns="{MAIN}"/>'},
    "a field that the cache has not": {
        "xl/pivotTables/pivotTable1.xml": PIVOTS[0].replace('field x="1"', 'field x="9"')
    },
    "no place": {FIRST: PIVOTS[0].replace("A3:D10", "A3:D")},
    "a document type": {"xl/pivotCache/pivotCacheDefinition1.xml": f"<!DOCTYPE a><a>{CACHE}</a>"},
    "a negative field": {
        "xl/pivotTables/pivotTable1.xml": PIVOTS[0].replace('pageField fld="3"', 'pageField fld="-3"')
    },
}


@pytest.mark.parametrize("fault", SPOILT)
def test_parts_that_contradict_each_other_are_not_guessed_at(tmp_path: Path, fault: str) -> None:
    path = write(tmp_path / "made.xlsx", parts())
    assert [pivot.name for pivot in pivots_of(path) or ()] == ["Regions", "Months", "Days"]
    path = write(tmp_path / "spoilt.xlsx", parts() | SPOILT[fault])
    assert pivots_of(path) is None
    assert read(path).value("Pivot", "D10") == 120.0


LIMITS = (
    (pivots, "PIVOT_ITEMS_MAX", 30),
    (xlsx, "PIVOT_ITEMS_MAX", 60),
    (xlsx, "PIVOTS_MAX", 2),
    (xlsx, "PIVOT_BYTES_MAX", 4_000),
)


@pytest.mark.parametrize(("module", "name", "limit"), LIMITS)
def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, limit: int) -> None:
    path = write(tmp_path / "made.xlsx", parts())
    assert pivots_of(path)
    monkeypatch.setattr(module, name, limit)
    assert pivots_of(path) is None


def test_an_item_that_repeats_costs_each_time() -> None:
    fields = "<field x='0'/>" * 1_000
    rows = f"<i>{'<x/>' * 1_000}</i>" + '<i r="1000"/>' * 1_000
    text = f"<pivotTableDefinition><rowFields>{fields}</rowFields><rowItems>{rows}</rowItems></pivotTableDefinition>"
    with pytest.raises(pivots.ParseFailed, match="more items than the limit of 200,000"):
        parse_pivot_table(text.encode())


def test_a_long_name_costs_by_its_length_for_each_item_that_bears_it() -> None:
    items = "<item x='0'/>" * 1_000
    text = f"<pivotTableDefinition><location ref='A1:B2'/><pivotFields><pivotField><items>{items}</items></pivotField>"
    part = parse_pivot_table(
        f"{text}</pivotFields><rowFields><field x='0'/></rowFields></pivotTableDefinition>".encode()
    )
    pivot_cache = PivotCache(["Region"], {0: [("x" * 100_000,)]})
    assert pivots.pivot_of_parts(part, pivot_cache, "Sheet1").size > 300_000
