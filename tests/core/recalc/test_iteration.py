"""Cells that need each other where the workbook turns iterative calculation on, and where it does not.

The right values follow from the formulas by hand: a fixed point solved, or the steps of Excel's order counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from core.formula.language import LimitExceeded
from core.grid.calculation import DEFAULT, Calculation
from core.grid.codec import open_workbook, write_workbook
from core.recalc.book import Book, read
from core.recalc.doubts import doubts_of
from tests.conftest import within
from tests.hand_made import Cell, write_book

ON = 'iterate="1" iterateCount="100" iterateDelta="1E-9"'
LOOP: dict[str, Cell] = {"A1": 1000.0, "B1": "=A1+C1", "C1": "=B1*0.05", "D1": "=B1*10"}


def book_of(tmp_path: Path, cells: Mapping[str, Cell], calculation: str = ON) -> Book:
    return read(write_book(tmp_path / "book.xlsx", cells, calculation=calculation))


def values(book: Book, *cells: str) -> list[object]:
    return [book.value("S", cell) for cell in cells]


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ("", DEFAULT),
        ('calcId="191029"', DEFAULT),
        ('iterate="1"', Calculation(iterates=True)),
        ('iterate="true" iterateCount="7" iterateDelta="1E-4"', Calculation(True, 7, 1e-4)),
        ('iterateCount="50"', Calculation(iterations_max=50)),
        ('iterate="1" iterateCount="0" iterateDelta="-1"', Calculation(iterates=True)),
        ('iterate="1" iterateCount="99999999" iterateDelta="nan"', Calculation(True, 32_767)),
        ('iterate="1" iterateCount="many" iterateDelta="inf"', Calculation(iterates=True)),
        ('fullPrecision="0"', Calculation(as_displayed=True)),
        ('fullPrecision="false"', Calculation(as_displayed=True)),
        ('fullPrecision="1"', DEFAULT),
    ],
)
def test_the_settings_are_read_and_survive_the_store(tmp_path: Path, attributes: str, wanted: Calculation) -> None:
    book = book_of(tmp_path, {"A1": 1.0}, attributes)
    assert book.calculation == wanted
    manifest = write_workbook(book, tmp_path)
    assert ("calculation" in manifest.to_json()) is (wanted != DEFAULT)
    stored = open_workbook(type(manifest).from_json(manifest.to_json()), tmp_path)
    assert stored.calculation == wanted


def test_a_loop_is_iterated_to_its_fixed_point_and_what_depends_on_it_follows(tmp_path: Path) -> None:
    book = book_of(tmp_path, LOOP)
    for value in (1000.0, 2000.0, 0.0, -7.5):
        book.set("S", "A1", value)
        result = book.recalculate()
        right = value / 0.95
        assert values(book, "B1", "C1", "D1") == pytest.approx([right, right * 0.05, right * 10], abs=1e-7)
        assert (result.cycles, result.unconverged, doubts_of(result)) == ((), (), ())
        assert 1 <= result.iterations < 100


def test_all_cells_of_a_tangle_are_iterated_together(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": "=B1+C1+1", "B1": "=A1*0.1", "C1": "=A1*0.2", "E1": "=SUM(A1:C1)"}
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "A1", "B1", "C1", "E1") == pytest.approx([1 / 0.7, 0.1 / 0.7, 0.2 / 0.7, 1.3 / 0.7], abs=1e-7)


def test_interest_on_the_average_balance_down_a_column(tmp_path: Path) -> None:
    """Every period is a loop of its own, and the next one begins with what it comes to."""
    cells: dict[str, Cell] = {"F1": 0.1}
    for row in range(2, 42):
        cells |= {
            f"A{row}": f"=D{row - 1}" if row > 2 else 1000.0,
            f"B{row}": f"=AVERAGE(A{row},D{row})*$F$1",
            f"C{row}": 60.0,
            f"D{row}": f"=A{row}+B{row}-C{row}",
        }
    book = book_of(tmp_path, cells, 'iterate="1" iterateCount="1000" iterateDelta="1E-12"')
    for rate in (0.1, 0.07):
        book.set("S", "F1", rate)
        result = book.recalculate()
        balance = 1000.0
        for _ in range(40):
            balance = (balance * (1 + rate / 2) - 60) / (1 - rate / 2)
        assert book.value("S", "D41") == pytest.approx(balance, rel=1e-9)
        assert result.unconverged == ()


@pytest.mark.parametrize(
    ("cells", "count", "wanted"),
    [
        ({"A1": "=A1+1"}, 10, {"A1": 10.0}),
        ({"A1": "=A1+1", "B1": "=B1+A1"}, 10, {"A1": 10.0, "B1": 55.0}),  # the left one first, each time
        ({"B1": "=B1+1", "A1": "=A1+B1"}, 10, {"B1": 10.0, "A1": 45.0}),
        ({"A1": "=B1+1", "B1": "=A1*2"}, 1, {"A1": 1.0, "B1": 2.0}),
        ({"A1": "=A2+1", "A2": "=A1*2"}, 2, {"A1": 3.0, "A2": 6.0}),
        ({"B1": "=A2+1", "A2": "=B1*2"}, 2, {"B1": 3.0, "A2": 6.0}),  # rows before columns
    ],
)
def test_it_goes_on_from_the_values_that_stand_in_excels_order(
    tmp_path: Path, cells: dict[str, Cell], count: int, wanted: dict[str, float]
) -> None:
    book = book_of(tmp_path, cells, f'iterate="1" iterateCount="{count}"')
    result = book.recalculate()
    assert {cell: book.value("S", cell) for cell in wanted} == wanted
    assert (result.iterations, result.cycles) == (count, ())
    assert {cell.removeprefix("S!") for cell in result.unconverged} == set(wanted)


def test_sheets_go_by_their_names(tmp_path: Path) -> None:
    sheets: dict[str, dict[str, Cell]] = {"Z": {"A1": "=A!A1+1"}, "A": {"A1": "=Z!A1*2"}}
    book = read(write_book(tmp_path / "book.xlsx", sheets, calculation='iterate="1" iterateCount="2"'))
    book.recalculate()
    assert (book.value("A", "A1"), book.value("Z", "A1")) == (2.0, 3.0)


def test_what_did_not_converge_has_the_last_iterates_and_is_named(tmp_path: Path) -> None:
    book = book_of(tmp_path, LOOP, 'iterate="1" iterateCount="3" iterateDelta="0.001"')
    result = book.recalculate()
    assert values(book, "B1", "C1") == pytest.approx([1052.5, 52.625])  # 1000, 1050, 1052.5
    assert set(result.unconverged) == {"S!B1", "S!C1"}
    (doubt,) = doubts_of(result)
    assert (doubt.code, doubt.cells) == ("not_converged", 2)
    assert "did not converge: after 3 iterations" in doubt.message
    assert "S!B1" in doubt.message


def test_iteration_ends_once_no_cell_changes_by_the_maximum_change(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"A1": "=A1/2+1"}, 'iterate="1" iterateDelta="0.3"')
    result = book.recalculate()
    assert (result.iterations, book.value("S", "A1")) == (3, 1.75)  # 1, 1.5, 1.75: the last step is below 0.3


def test_without_iteration_a_cycle_is_reported_and_keeps_its_values(tmp_path: Path) -> None:
    book = book_of(tmp_path, LOOP, "")
    book.set("S", "A1", 2000)
    result = book.recalculate()
    assert [set(cycle) for cycle in result.cycles] == [{"S!B1", "S!C1"}]
    assert values(book, "B1", "C1") == [0, 0]
    (doubt,) = doubts_of(result)
    assert (doubt.code, doubt.cells) == ("circular_reference", 2)


def test_errors_and_texts_end_a_loop(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"A1": "=1/B1", "B1": "=A1*0", "C1": '=C1&"a"'}, 'iterate="1" iterateCount="5"')
    result = book.recalculate()
    assert values(book, "A1", "B1", "C1") == ["#DIV/0!", "#DIV/0!", "0aaaaa"]
    assert result.unconverged == ("S!C1",)


def test_a_loop_through_indirect_and_through_an_array_formula(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": '=INDIRECT("B1")*0.5+1', "B1": "=A1", "D1": '<f t="array" ref="D1:D2">F1:F2*0.5+1</f>', "D2": 0.0,
        "F1": "=D1", "F2": "=D2",
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    result = book.recalculate()
    assert values(book, "A1", "B1", "D1", "D2", "F2") == pytest.approx([2, 2, 2, 2, 2], abs=1e-7)
    assert result.cycles == ()


def test_a_random_cell_that_a_loop_reads_is_drawn_in_each_iteration(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"A1": "=RAND()", "B1": "=B1+A1"}, 'iterate="1" iterateCount="4"')
    drawn = iter([1.0, 0.5, 0.25, 0.125, 0.0625])
    book.recalculate(random=lambda: next(drawn))
    assert book.value("S", "B1") == 0.9375  # the first was drawn when the loop was found


def test_formulas_that_came_without_values_are_iterated_when_the_file_is_read(tmp_path: Path) -> None:
    path = write_book(tmp_path / "book.xlsx", LOOP, calculation=ON, has_values=False)
    book = read(path)
    assert values(book, "B1", "D1") == pytest.approx([1000 / 0.95, 10_000 / 0.95], abs=1e-6)
    assert book.doubts == ()
    book = read(write_book(tmp_path / "other.xlsx", LOOP, has_values=False))
    assert [doubt.code for doubt in book.doubts] == ["circular_reference"]


def test_iterations_are_given_up_at_the_deadline_and_go_on_the_next_time(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {f"A{row}": f"=A{row}+1" for row in range(1, 1001)}
    book = book_of(tmp_path, cells, 'iterate="1" iterateCount="32767" iterateDelta="0"')
    with within(5), pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.5)
    reached = book.value("S", "A1")
    with pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.5)
    assert 0 < reached < book.value("S", "A1")  # type: ignore[operator]


def test_random_linear_loops_agree_with_their_solution(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    for case in range(5):
        size = int(chance.integers(3, 12))
        weights = np.where(chance.random((size, size)) < 0.4, chance.uniform(-0.15, 0.15, (size, size)), 0.0)
        right = np.linalg.solve(np.eye(size) - weights, np.ones(size))
        places = [f"{'ABCDE'[at % 5]}{at // 5 + 1}" for at in chance.permutation(size)]
        cells: dict[str, Cell] = {
            place: "=1" + "".join(f"+{weight!r}*{places[to]}" for to, weight in enumerate(row.tolist()) if weight)
            for place, row in zip(places, weights, strict=True)
        }
        book = read(
            write_book(tmp_path / f"{case}.xlsx", cells, calculation='iterate="1" iterateCount="500" iterateDelta="0"')
        )
        assert book.recalculate().cycles == ()
        assert values(book, *places) == pytest.approx(right.tolist(), rel=1e-9)
