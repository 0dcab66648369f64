"""What an edit touches, and in which order.

A book that was edited step by step holds what a fresh one calculates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.grid.sheet import Workbook
from core.recalc.book import Book
from tests.rows import every

ROWS = 30
LETTERS = "ABCDEF"
SHEETS = ("One", "Two words")

Cells = dict[tuple[str, str, int], Any]


def column_of(sheet: str, own: str, letter: str) -> str:
    return letter if sheet == own else f"'{sheet}'!{letter}"


@st.composite
def formulas(draw: st.DrawFn, earlier: list[tuple[str, str]], sheet: str, letter: str, row: int) -> str:
    """A formula that reads only columns that come earlier, or cells above in its own.

    No cycle can arise.
    """
    choices = [column_of(*pair_own) for pair_own in ((s, sheet, name) for s, name in earlier)]
    column = draw(st.sampled_from(choices)) if choices else None
    second = draw(st.sampled_from(choices)) if choices else None
    fixed = draw(st.integers(1, ROWS))
    shift = draw(st.integers(max(1 - row, -2), min(ROWS - row, 2)))
    result = [f"={row}*1.5"]
    if row > 1:
        result += [f"={letter}{row - 1}+1", f"=SUM({letter}$1:{letter}{row - 1})/{row}"]
    if column is not None and second is not None:
        plain = column.rpartition("!")
        result += [
            f"={column}{row + shift}*2+{second}{row}",
            f"=IF({column}{row}>3,{second}{row + shift},-1)",
            f"=SUM({column}$1:{plain[2]}{row})",
            f"=SUM({column}$1:{plain[2]}${fixed})+{row}",
            f"=SUM({column}:{plain[2]})",
            f"=INDEX({column}1:{plain[2]}{ROWS},{fixed})",
            f'=SUMIF({column}$1:{plain[2]}${ROWS},">2",{second}$1)',
            f"=SUM(OFFSET({column}1,{fixed - 1},0,2,1))",
            f'=INDIRECT("{column}{fixed}")&"!"',
            f"=COUNT({column}{fixed}:INDEX({column}1:{plain[2]}{ROWS},{fixed}))",
        ]
    return draw(st.sampled_from(result))


def columns_in_order(draw: st.DrawFn) -> list[tuple[str, str]]:
    return draw(st.permutations([(sheet, letter) for sheet in SHEETS for letter in LETTERS]))


@st.composite
def histories(draw: st.DrawFn) -> tuple[Cells, list[list[tuple[tuple[str, str, int], Any]]]]:
    """A book as cells, and batches of edits."""
    order = columns_in_order(draw)
    cells: Cells = {}
    for at, (sheet, letter) in enumerate(order):
        kind = draw(st.sampled_from(("numbers", "formulas", "blank")))
        if kind == "numbers":
            numbers = draw(st.lists(st.integers(-5, 9), min_size=ROWS, max_size=ROWS))
            cells |= {(sheet, letter, row): float(number) for row, number in enumerate(numbers, 1)}
        elif kind == "formulas":
            origin = draw(st.integers(2, 4))
            text = draw(formulas(order[:at], sheet, letter, origin))
            last = draw(st.integers(origin, ROWS))
            cells |= {(sheet, letter, row): filled(text, origin, row) for row in range(origin, last + 1)}
    batches = []
    for _ in range(draw(st.integers(1, 4))):
        batch = []
        for _ in range(draw(st.integers(1, 4))):
            at = draw(st.integers(0, len(order) - 1))
            sheet, letter = order[at]
            row = draw(st.integers(1, ROWS))
            value = draw(st.one_of(st.none(), st.integers(-5, 9).map(float), formulas(order[:at], sheet, letter, row)))
            batch.append(((sheet, letter, row), value))
        batches.append(batch)
    return cells, batches


def filled(text: str, origin: int, row: int) -> str:
    from core.grid.address import move_formula

    moved = move_formula(text[1:], row - origin, 0)
    return "=" + moved.replace("#REF!", "1")


def book_of(cells: Mapping[tuple[str, str, int], Any]) -> Book:
    sheets: dict[str, dict[str, list[Any]]] = {sheet: {} for sheet in SHEETS}
    for (sheet, letter, row), value in sorted(cells.items()):
        column = sheets[sheet].setdefault(letter, [None] * ROWS)
        column[row - 1] = value
    return Book.from_columns(sheets)


def shown(book: Book) -> dict[str, Any]:
    result = {}
    for sheet in SHEETS:
        for letter in LETTERS:
            for row in range(1, ROWS + 1):
                value = book.value(sheet, f"{letter}{row}")
                result[f"{sheet}!{letter}{row}"] = pytest.approx(value, rel=1e-9) if type(value) is float else value
    return result


@settings(max_examples=60, deadline=None)
@given(histories())
def test_edits_give_what_a_fresh_book_calculates(history: tuple[Cells, Any]) -> None:
    cells, batches = history
    book = book_of(cells)
    assert book.recalculate().cycles == ()
    for batch in batches:
        for (sheet, letter, row), value in batch:
            book.set(sheet, f"{letter}{row}", value)
            cells[sheet, letter, row] = value
        assert book.recalculate().cycles == ()
        fresh = book_of(cells)
        assert fresh.recalculate().cycles == ()
        assert shown(fresh) == shown(book)


def test_an_edit_calculates_only_what_reads_it() -> None:
    rows = range(1, 1001)
    book = Book.from_columns(
        {
            "S": {
                "A": [1.0] * 1000,
                "B": [f"=A{row}*2" for row in rows],
                "C": [f"=SUM(B${row}:B{row + 1})" for row in rows],
                "D": [f"=IF(D{row - 1}>0,D{row - 1},0)+A{row}" if row > 1 else 1.0 for row in rows],
            }
        }
    )
    assert book.recalculate().cell_count == 2999
    assert book.recalculate().cell_count == 0
    book.set("S", "A500", 7)
    by_cell = {row.cell: row.value for row in book.recalculate()}
    assert {cell for cell in by_cell if cell[0] != "D"} == {"B500", "C499", "C500"}
    assert sorted(int(cell[1:]) for cell in by_cell if cell[0] == "D") == list(range(500, 1001))
    assert (by_cell["B500"], by_cell["C499"], by_cell["C500"], by_cell["D500"], by_cell["D1000"]) == (
        14,
        16,
        16,
        506,
        1006,
    )


def test_a_region_with_a_hole_is_calculated_around_it() -> None:
    book = Book.from_columns({"S": {"A": [1.0] * 200, "B": [f"=A{row}+1" for row in range(1, 201)]}})
    book.recalculate()
    for row in range(1, 200, 2):
        book.set("S", f"B{row}", "=10*A1" if row % 4 == 1 else 5)
    book.set_column("S", "A", [2.0] * 200)
    assert book.recalculate().cell_count == 150
    values = [book.value("S", f"B{row}") for row in range(1, 201)]
    assert values == [3.0 if row % 2 == 0 else 20.0 if row % 4 == 1 else 5.0 for row in range(1, 201)]


def test_a_region_of_which_only_a_hole_was_touched_hears_of_the_next_edit() -> None:
    book = Book.from_columns({"S": {"B": [1.0] * 6, "C": [f"=B{row}+1" for row in range(1, 7)]}})
    book.recalculate()
    book.set("S", "C4", 5.0)
    book.set("S", "B4", 9.0)
    assert book.recalculate().cell_count == 0
    book.set("S", "B3", 100.0)
    assert book.recalculate().cell_count == 1
    assert [book.value("S", f"C{row}") for row in range(1, 7)] == [2, 2, 101, 5, 2, 2]


@pytest.mark.parametrize(
    ("columns", "cycle"),
    [
        ({"A": ["=A1+1"]}, {"S!A1"}),
        ({"A": ["=B1+1"], "B": ["=A1+1"]}, {"S!A1", "S!B1"}),
        ({"A": ["=B1"], "B": ["=C1"], "C": ["=A1"]}, {"S!A1", "S!B1", "S!C1"}),
        ({"A": [1.0, 2.0, "=SUM(A1:A3)"]}, {"S!A3"}),
        ({"A": ['=INDIRECT("B"&1)'], "B": ["=A1"]}, {"S!A1", "S!B1"}),
        ({"A": ["=SUM(B1:B3)"], "B": [1.0, "=SEQUENCE(2)*A1"]}, {"S!A1", "S!B2"}),
    ],
)
def test_cells_that_need_each_other_are_named_and_keep_their_values(
    columns: dict[str, list[Any]], cycle: set[str]
) -> None:
    book = Book.from_columns({"S": columns | {"Z": [5.0, "=Z1*2"]}})
    result = book.recalculate()
    assert set().union(*result.cycles) == cycle
    assert book.value("S", "Z2") == 10
    first = sorted(cycle)[0].removeprefix("S!")
    assert book.value("S", first) == 0
    book.set("S", first, 4)
    assert book.recalculate().cycles == ()


def test_a_branch_not_taken_closes_no_cycle() -> None:
    columns = {"A": ["=IF(TRUE,1,B1)"], "B": ["=A1+1"], "C": ["=IF(D1>0,D1,C2)", "=C1"], "D": [3.0]}
    book = Book.from_columns({"S": columns})
    assert book.recalculate().cycles == ()
    assert [book.value("S", cell) for cell in ("A1", "B1", "C1", "C2")] == [1, 2, 3, 3]
    book.set("S", "D1", -1)
    assert set(book.recalculate().cycles[0]) == {"S!C1", "S!C2"}


def test_a_branch_not_taken_closes_no_cycle_among_formulas_that_may_spill() -> None:
    book = Book.from_columns({"S": {"A": [1.0]}})
    for cell, text in {"B1": "=IF(A1>0,A1,C1)", "C1": "=B1+1", "D1": "=IF(A1>0,SEQUENCE(2),E1)", "E1": "=D2+1"}.items():
        book.set("S", cell, text)
    assert book.recalculate().cycles == ()
    assert [book.value("S", cell) for cell in ("B1", "C1", "D2", "E1")] == [1, 2, 2, 3]
    book.set("S", "A1", 0)
    assert {frozenset(cycle) for cycle in book.recalculate().cycles} >= {frozenset(("S!B1", "S!C1"))}


def test_columns_that_lean_on_each_other_row_by_row() -> None:
    count = 3_000
    book = Book.from_columns(
        {
            "S": {
                "A": [1.0] + [f"=B{row - 1}+1" for row in range(2, count + 1)],
                "B": [f"=A{row}*1" for row in range(1, count + 1)],
                "D": [f"=D{row + 1}+1" for row in range(1, count)] + [0.0],
                "E": [f'=INDIRECT("E{row + 1}")+1' for row in range(1, 400)] + [0.0],
            }
        }
    )
    result = book.recalculate()
    assert result.cycles == ()
    assert book.value("S", f"B{count}") == count
    assert book.value("S", "D1") == count - 1
    assert book.value("S", "E1") == 399
    book.set("S", "A1", 11)
    book.recalculate()
    assert book.value("S", f"A{count}") == count + 10


def spilling_book(cells: Mapping[str, Any]) -> Book:
    columns: dict[str, list[Any]] = {
        "A": [None] * 8,
        "B": [None] * 4,
        "D": ["=FILTER(A1:A8,A1:A8>B1,-1)", *[None] * 11],
        "F": ["=SORT(D1#)+SUM(D1:D12)", *[None] * 11],
        "G": ["=SUM(D:D)", "=COUNT(F1:F12)", "=ROWS(F1#)", "=D3*2", '=IFERROR(F2,"none")'],
        "I": [f"=IFERROR(D{row}&F{row},0)" for row in range(1, 13)],
    }
    for cell, value in cells.items():
        columns[cell[0]][int(cell[1:]) - 1] = value
    return Book.from_columns({"S": columns})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*(f"A{row}" for row in range(1, 9)), "B1", "D3", "D9", "F2", "F6"]),
            st.one_of(st.none(), st.integers(0, 5).map(float)),
        ),
        max_size=12,
    )
)
def test_spills_after_edits_are_those_of_a_fresh_book(edits: list[tuple[str, Any]]) -> None:
    cells: dict[str, Any] = {}
    book = spilling_book(cells)
    book.recalculate()
    for cell, value in edits:
        book.set("S", cell, value)
        cells[cell] = value
        book.recalculate()
        fresh = spilling_book(cells)
        fresh.recalculate()
        for letter in "ABDFGI":
            for row in range(1, 13):
                assert book.value("S", f"{letter}{row}") == fresh.value("S", f"{letter}{row}"), f"{letter}{row}"


def searching_book(keys: list[Any], values: list[Any], wanted: list[Any]) -> Book:
    count = len(keys)
    texts = [
        f"=IFERROR(VLOOKUP(D{{0}},A$1:B${count},2,FALSE),-1)",
        "=IFERROR(MATCH(D{0},A:A,0),-1)",
        "=SUMIFS(B:B,A:A,D{0})",
        f'=COUNTIF(A$1:A${count},">"&D{{0}})',
        f"=IFERROR(PERCENTRANK(B$1:B${count},D{{0}}),-1)",
        f"=MEDIAN(B$1:B${count})+D{{0}}",
    ]
    columns: dict[str, list[Any]] = {"A": keys, "B": values, "D": wanted}
    for letter, text in zip("FGHIJK", texts, strict=True):
        columns[letter] = [text.format(row) for row in range(1, len(wanted) + 1)]
    return Book.from_columns({"S": columns})


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_what_was_built_over_a_range_is_built_anew_where_it_changed(data: st.DataObject) -> None:
    number = st.integers(0, 60).map(float)
    keys, values = ([float(seed * row % 61) for row in range(300)] for seed in (7, 11))
    wanted = [float(row) for row in range(40)]
    book = searching_book(keys, values, wanted)
    book.recalculate()
    for _ in range(data.draw(st.integers(1, 4))):
        letter, column = data.draw(st.sampled_from((("A", keys), ("B", values), ("D", wanted))))
        at, value = data.draw(st.integers(0, len(column) - 1)), data.draw(number)
        column[at] = value
        book.set("S", f"{letter}{at + 1}", value)
        book.recalculate()
        fresh = searching_book(keys, values, wanted)
        fresh.recalculate()
        for result in "FGHIJK":
            for row in range(1, 41):
                assert book.value("S", f"{result}{row}") == pytest.approx(fresh.value("S", f"{result}{row}"))


@every(
    "text, value",
    [
        ("=VLOOKUP(A1,A$1:B$3,2,FALSE)+1", 11),
        ("=VLOOKUP(1.5,A:B,2)+1", 11),
        ("=HLOOKUP(A1,A$1:C$3,3,FALSE)+1", 4),
        ("=LOOKUP(A1,A$1:A$3,B$1:B$3)+1", 11),
        ("=LOOKUP(A1,A$1:B$3)+1", 11),
        ("=XLOOKUP(A1,A$1:A$3,B$1:B$3)+1", 11),
        ("=INDEX(A$1:B$3,1,2)+1", 11),
        ("=INDEX(B:B,ROW()-1)+1", 11),
        ("=INDEX(B:B,MATCH(A1,A:A,0))+1", 11),
        ("=OFFSET(B2,-1,0)+1", 11),
        ("=CHOOSE(1,B1,B2)+1", 11),
        ("=IF(A1,B1,B2)+1", 11),
        ("=VLOOKUP(A1,IF(A1,A$1:B$3,B2),2,FALSE)+1", 11),
        ("=VLOOKUP(A1,Prices,2,FALSE)+1", 11),
        ("=ROWS(B1:B3)+COLUMN(B2)", 5),
        # What is read: the cell that is found, and the whole line that is searched.
        ("=VLOOKUP(A2,A$1:B$3,2,FALSE)+1", None),
        ("=VLOOKUP(A1,B$1:C$3,2,FALSE)", None),
        ("=HLOOKUP(A1,A$2:B$3,2,FALSE)", None),
        ("=LOOKUP(A2,A$1:B$3)", None),
        ("=MATCH(10,B$1:B$3,0)", None),
        ("=SUM(INDEX(A$1:B$3,0,2))", None),
    ],
)
def test_a_lookup_reads_its_line_and_the_cell_that_it_gives(text: str, value: float | None) -> None:
    """The formula stands in B2, inside its own table; None: it needs itself."""
    plain = Book.from_columns({"S": {"A": [1.0, 2.0, 3.0], "B": [10.0, None, 30.0], "C": [5.0, 6.0, 7.0]}})
    book = Book(Workbook(sheets=plain.sheets, defined_names={"Prices": "S!$A$1:$B$3"}))
    book.set("S", "B2", text)
    result = book.recalculate()
    assert result.cycles == (() if value is not None else (("S!B2",),))
    assert book.value("S", "B2") == (0 if value is None else value)


Place = tuple[str, int]
Formula = tuple[str, Callable[[Callable[[Place], float]], float]]


def written(place: Place) -> str:
    return f"{place[0]}{place[1]}"


def random_formula(random: Random, row: int) -> Formula:
    """A formula that may read any cell, and what it means, in the order in which it reads."""
    near = lambda: (random.choice(LETTERS), row + random.randint(-2, 2))  # noqa: E731 - drawn again and again
    item, second, third, wanted = near(), near(), near(), float(random.randint(0, 4))
    left, right = sorted(random.sample(range(len(LETTERS)), 2))
    top, bottom = sorted(random.sample(range(1, ROWS + 1), 2))
    table = f"{LETTERS[left]}${top}:{LETTERS[right]}${bottom}"
    across, down = random.randint(0, right - left), random.randint(0, bottom - top)

    def result_at(read: Callable[[Place], float], line: list[Place], result: Callable[[int], Place]) -> float:
        values = [read(place) for place in line]
        return read(result(values.index(wanted))) if wanted in values else -9.0

    column = [(LETTERS[left], at) for at in range(top, bottom + 1)]
    cells = [(letter, top) for letter in LETTERS[left : right + 1]]
    beside = lambda at: (LETTERS[left + across], top + at)  # noqa: E731
    below = lambda at: (LETTERS[left + at], top + down)  # noqa: E731
    return random.choice(
        [
            (f"={written(item)}+{written(second)}", lambda read: read(item) + read(second)),
            (
                f"=IF({written(item)}>2,{written(second)},{written(third)}+1)",
                lambda read: read(second) if read(item) > 2 else read(third) + 1,
            ),
            (f"=CHOOSE(2,{written(item)},{written(second)})", lambda read: read(second)),
            (f"=IFERROR({written(item)},{written(second)})", lambda read: read(item)),
            (f"=OFFSET({written(item)},1,0)", lambda read: read((item[0], item[1] + 1))),
            (f"=ROWS({written(item)}:{item[0]}{row})", lambda read: abs(item[1] - row) + 1.0),
            (f"=INDEX({table},{down + 1},{across + 1})", lambda read: read(below(across))),
            (f"=IFNA(VLOOKUP({wanted},{table},{across + 1},FALSE),-9)", lambda read: result_at(read, column, beside)),
            (f"=IFNA(HLOOKUP({wanted},{table},{down + 1},FALSE),-9)", lambda read: result_at(read, cells, below)),
        ]
    )


def pulled(formulas: Mapping[Place, Formula], values: dict[Place, float]) -> set[Place]:
    """Calculate each formula once the first cell that it waits for is there.

    The cells that come back to themselves, which are given back, are 0.
    """

    class Waits(Exception):
        pass

    def read(place: Place) -> float:
        if place in formulas and place not in values:
            raise Waits(place)
        return values.get(place, 0.0)

    cycles: set[Place] = set()
    for start in formulas:
        stack = [start]
        while stack:
            try:
                if stack[-1] not in values:
                    values[stack[-1]] = formulas[stack[-1]][1](read)
                stack.pop()
            except Waits as waits:
                (needed,) = waits.args
                if needed not in stack:
                    stack.append(needed)
                    continue
                cycle = stack[stack.index(needed) :]
                cycles |= set(cycle)
                values |= dict.fromkeys(cycle, 0.0)
    return cycles


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_any_book_is_calculated_as_its_formulas_say_wherever_it_begins(share: float) -> None:
    """Single formulas and filled-down ones, with lookups into tables that hold them, and cycles among them."""
    for seed in range(50):
        random = Random(f"{share} {seed}")
        values: dict[Place, float] = {}
        formulas: dict[Place, Formula] = {}
        for letter in LETTERS:
            filled_down = random.random()
            for row in range(1, ROWS + 1):
                if 2 < row < ROWS - 2 and (random.random() < share if filled_down > 0.4 else filled_down < share):
                    drawn = Random(filled_down) if filled_down <= 0.4 else random
                    formulas[letter, row] = random_formula(drawn, row)
                else:
                    values[letter, row] = float(random.randint(0, 9))
        cells: Mapping[Place, Any] = values | {place: text for place, (text, _) in formulas.items()}
        columns = {letter: [cells[letter, row] for row in range(1, ROWS + 1)] for letter in LETTERS}
        listed = list(formulas.items())
        random.shuffle(listed)
        cycles = pulled(dict(listed), values)
        book = Book.from_columns({"S": columns})
        named = {cell.removeprefix("S!") for cycle in book.recalculate().cycles for cell in cycle}
        assert named == {written(place) for place in cycles}, seed
        assert {place: book.value("S", written(place)) for place in values} == values, seed
