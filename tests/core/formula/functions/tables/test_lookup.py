"""VLOOKUP, MATCH, XLOOKUP, INDEX and their kin give Excel's answers and Excel's errors."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.values.criteria import wildcard
from core.formula.values.value import DIV0, NA, REF, VALUE, Array, Error
from tests.core.formula.areas import CELLS, Sheet, first_equal, fits
from tests.rows import every

STOCK = Sheet(
    ["Product", "Bananas", "Oranges", "Apples", "Pears", None, "Kiwi"],
    ["Count", 25.0, 38.0, 40.0, 41.0],
    [1.0, 3.0, 3.0, 3.0, 9.0, None, None],
    ["a", "b", "c", "d", "e"],
    [None, 0.0, "", 5.0, True, DIV0, "x*y"],
)

CASES: tuple[tuple[str, Any], ...] = (
    # Excel's own documentation
    ("=MATCH(39,B2:B5,1)", 2.0), ("=MATCH(41,B2:B5,0)", 4.0), ("=MATCH(40,B2:B5,-1)", NA),
    ("=MATCH(39,{25,38,40,41},1)", 2.0), ("=MATCH(41,{25,38,40,41},0)", 4.0),
    ('=LOOKUP("bump",{"a",1;"b",2;"c",3})', 2.0), ('=LOOKUP("C",{"a","b","c","d";1,2,3,4})', 3.0),
    ('=INDEX({1,2;3,4},0,2)', [[2.0], [4.0]]),
    # the binary search, on data that is not sorted, as Excel was seen to answer
    ("=MATCH(17,{14;5;3;5;11;12;11;13;13;4})", 10.0), ("=MATCH(12,{5;15;18;18;11;1;15;17})", 1.0),
    ("=MATCH(4,{10,3,FALSE,FALSE,FALSE})", NA), ("=MATCH(8,{14;0;17;FALSE;8})", NA),
    ("=MATCH(39,{25,38,38,38,40,41},1)", 4.0), ("=MATCH(25,{20,TRUE,FALSE,38,40},1)", 1.0),
    ("=MATCH(8,{FALSE;FALSE},1)", NA), ("=MATCH(5,{1,2,3},1)", 3.0), ("=MATCH(20,{25,38,40},1)", NA),
    ('=HLOOKUP(1.9,{"0","1",1,"0","text","",2;1,2,3,4,5,6,7},2,TRUE)', 3.0),
    ("=HLOOKUP(3,{1,3,3,3,3,3,3,9;1,2,3,4,5,6,7,8},2,TRUE)", 7.0),
    # falling data is gone through in order
    ("=MATCH(5,{10,5,4,5,5,5,5,5},-1)", 2.0), ("=MATCH(5,{10,4,5},-1)", 1.0),
    ('=MATCH(5,{"5",10,"4",FALSE,TRUE,#DIV/0!,5,3},-1)', 7.0),
    ('=MATCH(6,{"4",10,"4",FALSE,TRUE,#DIV/0!,5,3},-1)', 2.0),
    ('=MATCH(5,{"5"},-1)', NA), ("=MATCH(5,{4},-1)", NA), ("=MATCH(5,{10},-1)", 1.0),
    ('=MATCH("c",{"E",4,"D","B"},-1)', 3.0), ('=MATCH(FALSE,{TRUE,TRUE,"FALSE",0,FALSE,FALSE},-1)', 5.0),
    ("=MATCH(1,{3,2,1},-2)", 3.0), ("=MATCH(1,{1,2,3},2)", 1.0),
    # exact matches: the same type only, text without case and with wildcards
    ("=MATCH(35,{25,38,24,35,70},0)", 4.0), ('=MATCH(35,{"35",38,24,35,70},0)', 4.0),
    ('=MATCH("35",{35,38,24,"35",70},0)', 4.0), ('=MATCH("c*",{"a","cd"},0)', 2.0),
    ('=MATCH(TRUE,{0,"TRUE",FALSE,TRUE,1},0)', 4.0), ('=MATCH("PEARS",A1:A7,0)', 5.0), ('=MATCH("?iwi",A1:A7,0)', 7.0),
    ('=MATCH("x~*y",E1:E7,0)', 7.0), ('=MATCH("x*y",E1:E7,)', 7.0), ("=MATCH(5,A2,0)", NA), ("=MATCH(25,B2,0)", 1.0),
    # blanks: sought as 0 by the old functions, as a blank by the new; never found as 0
    ("=MATCH(Z1,E1:E7,0)", 2.0), ("=XMATCH(Z1,E1:E7)", 1.0), ('=MATCH("",E1:E7,0)', 3.0), ("=MATCH(0,{1;2},0)", NA),
    ("=XMATCH(Z1,A:A)", 6.0), ("=XMATCH(Z1,D:D)", 6.0), ("=XMATCH(0,E1:E7)", 2.0), ('=XMATCH("",E1:E7)', 3.0),
    # errors
    ("=MATCH(#DIV/0!,{1,2,3},1)", DIV0), ("=MATCH(1,{1,2;3,4},1)", NA), ("=MATCH(3,3)", NA),
    ('=MATCH(REPT("a",256),A1:A7,0)', VALUE), ('=VLOOKUP(REPT("a",256),A1:B7,1)', VALUE), ("=MATCH(1,1/0,0)", DIV0),
    ("=VLOOKUP(1,C1:D5,3)", REF), ("=VLOOKUP(20,C1:D5,3,FALSE)", REF), ("=VLOOKUP(20,C1:D5,0,FALSE)", NA),
    ("=VLOOKUP(3,C1:D5,0,FALSE)", VALUE), ("=VLOOKUP(3,C1:D5,,FALSE)", VALUE), ("=HLOOKUP(2,C1:D5,0,FALSE)", NA),
    ("=VLOOKUP(1,1,1)", NA), ("=VLOOKUP(1,TRUE,1)", NA), ("=VLOOKUP(#N/A,C1:D5,1)", NA),
    # no index, and no way to match: of whatever error or text #REF!, but what is not found is told first
    ("=VLOOKUP(1,C1:D5,NA())", REF), ("=VLOOKUP(3,C1:D5,1/0,FALSE)", REF), ("=VLOOKUP(20,C1:D5,1/0,FALSE)", NA),
    ('=HLOOKUP(1,C1:D5,"TRUE",FALSE)', REF), ("=MATCH(1,C1:C5,NA())", REF), ('=MATCH(1,C1:C5,"x")', REF),
    ('=VLOOKUP(1,C1:D5,"x")', REF), ("=VLOOKUP(0,C1:D5,2)", NA), ('=VLOOKUP("zz",A1:B7,1,FALSE)', NA),
    # VLOOKUP
    ("=VLOOKUP(3,C1:D5,2)", "d"), ("=VLOOKUP(3,C1:D5,2,FALSE)", "b"), ("=VLOOKUP(3,C1:D5,2,0)", "b"),
    ("=VLOOKUP(3,C1:D5,2,)", "b"),
    ("=VLOOKUP(100,C1:D7,2)", "e"), ("=VLOOKUP(9,C1:D5,1.9)", 9.0), ("=VLOOKUP(4,{1,2;3,2;5,3;7,4},2)", 2.0),
    ('=VLOOKUP("kiwi",A1:B7,2,FALSE)', 0.0), ('=VLOOKUP("*s",A1:B7,2,FALSE)', 25.0), ('=VLOOKUP(3,C1:D5,"2")', "d"),
    ("=VLOOKUP(TRUE,E1:E7,1,FALSE)", True), ("=VLOOKUP({1;9},C1:D5,2,FALSE)", [["a"], ["e"]]),
    ("=VLOOKUP(3,C:D,2,FALSE)", "b"),
    # LOOKUP
    ("=LOOKUP(3,C1:C5,D1:D5)", "d"), ("=LOOKUP(3.5,C1:C5,D1:D5)", "d"), ("=LOOKUP(0,C1:C5,D1:D5)", NA),
    ('=LOOKUP(2,1/(A1:A7<>""),A1:A7)', "Kiwi"), ("=LOOKUP(4,{1,2;3,2;5,3;7,4})", 2.0), ("=LOOKUP(3,C1:D5)", "d"),
    ("=LOOKUP(9,C1:C5,D1:D3)", NA), ("=LOOKUP(2,{1,2,3;4,5,6})", 5.0), ("=LOOKUP(3,C1:C5,{1,2,3,4,5})", 4.0),
    ('=LOOKUP("zzz",A1:A7)', "Kiwi"),
    # XMATCH and XLOOKUP
    ("=XMATCH(39,B2:B5)", NA), ("=XMATCH(39,B2:B5,-1)", 2.0), ("=XMATCH(39,B2:B5,1)", 3.0), ("=XMATCH(99,B2:B5,1)", NA),
    ("=XMATCH(38,B1:B5,0)", 3.0), ("=XMATCH(3,C1:C5,0,-1)", 4.0), ("=XMATCH(3,C1:C5,0,1)", 2.0),
    ('=XMATCH("*s",A1:A7,2)', 2.0),
    ('=XMATCH("*s",A1:A7,2,-1)', 5.0), ('=XMATCH("*s",A1:A7)', NA), ("=XMATCH(4,C1:C5,-1,-1)", 4.0),
    ("=XMATCH(4,C1:C5,-1)", 2.0),
    ("=XMATCH(39,B2:B5,-1,2)", 2.0), ("=XMATCH(39,B2:B5,1,2)", 3.0), ("=XMATCH(39,{41;40;38;25},1,-2)", 2.0),
    ("=XMATCH(39,{41;40;38;25},-1,-2)", 3.0), ("=XMATCH(39,{41;40;38;25},0,-2)", NA), ("=XMATCH(1,{1,2},3)", NA),
    ("=XMATCH(1,{1,2},0,0)", VALUE), ('=XMATCH("a",{"a"},2,2)', VALUE), ("=XMATCH(1,{1,2;3,4})", VALUE),
    ("=XMATCH(7,7)", 1.0),
    ('=XLOOKUP("Apples",A1:A7,B1:B7)', 40.0), ('=XLOOKUP("plum",A1:A7,B1:B7)', NA),
    ('=XLOOKUP("plum",A1:A7,B1:B7,"none")', "none"),
    ('=XLOOKUP("plum",A1:A7,B1:B7,)', NA), ('=XLOOKUP("plum",A1:A7,B1:B7,B2)', 25.0),
    ("=XLOOKUP(39,B2:B5,A2:A5,,1)", "Apples"),
    ("=XLOOKUP(39,B2:B5,A2:A5,,-1)", "Oranges"), ("=XLOOKUP(9,C1:C5,C1:D5)", [[9.0, "e"]]),
    ("=XLOOKUP(2,{1,2,3},{4,5,6;7,8,9})", [[5.0], [8.0]]),
    ("=XLOOKUP(25,B2:B5,A2:A4)", VALUE), ("=XLOOKUP({25;41},B2:B5,A2:A5)", [["Bananas"], ["Pears"]]),
    ("=SUM(XLOOKUP(25,B2:B5,B2:B5):XLOOKUP(40,B2:B5,B2:B5))", 103.0), ("=XLOOKUP(#DIV/0!,B2:B5,A2:A5)", DIV0),
    # INDEX
    ("=INDEX(A1:B5,2,2)", 25.0), ("=INDEX(A1:B5,2.9,2)", 25.0), ("=INDEX(B2:B5,4)", 41.0), ("=INDEX(A1:D1,3)", 1.0),
    ("=INDEX({1,2,3;4,5,6},2,3)", 6.0),
    ("=INDEX({1,2,3;4,5,6},,3)", [[3.0], [6.0]]), ("=INDEX({1,2,3;4,5,6},2,)", [[4.0, 5.0, 6.0]]),
    ("=INDEX({1;2;3},2)", 2.0),
    ("=INDEX({1,2,3;4,5,6},0,0)", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ('=INDEX("Text",1,1)', "Text"),
    ('=INDEX("Text",0,0)', "Text"),
    ("=INDEX(B2:B5,-1,1)", VALUE), ("=INDEX(B2:B5,5)", REF), ("=INDEX(B2:B5,1,-1)", VALUE), ("=INDEX(B2:B5,1,2)", REF),
    ("=INDEX({1},1,1,0)", VALUE), ("=INDEX({1},1,1,2)", REF), ("=INDEX((B2:B5,C1:C5),5,1,2)", 9.0),
    ("=INDEX((B2:B5,C1:C5),1,1,3)", REF),
    ("=INDEX((B2:B5,C1:C5),1,1,0)", VALUE), ("=ROWS(INDEX(B2:J12,0,4))", 11.0), ("=COLUMNS(INDEX(B2:J12,3,0))", 9.0),
    ("=SUM(B2:INDEX(B:B,4))", 103.0),
    ("=INDEX(A1:B5,{2;3},2)", [[25.0], [38.0]]), ("=INDEX(NA(),1)", NA), ("=INDEX(B2:B5,NA())", NA),
    ("=INDEX(B2:B5,MATCH(40,B2:B5,0))", 40.0),
)  # fmt: skip


@every("formula, value", CASES)
def test_answers(formula: str, value: Any) -> None:
    result = STOCK.value(formula)
    assert result is value if isinstance(value, Error | bool) else result == value


def test_lookups_in_a_plain_cell_take_arrays_where_excel_does() -> None:
    assert STOCK.value('=LOOKUP(2,1/(A1:A7<>""),A1:A7)', arrays=False) == "Kiwi"
    assert STOCK.value("=MATCH(1,INDEX((B2:B5=40)*1,0),0)", arrays=False) == 3.0


def array(cells: list[Any], across: bool) -> Array:
    return Array(1, len(cells), cells) if across else Array(len(cells), 1, cells)


MANY = st.lists(CELLS, min_size=1, max_size=60)


@settings(max_examples=150, deadline=None)
@given(MANY, CELLS, st.booleans())
def test_exact_matches_agree_with_looking_at_every_cell(cells: list[Any], key: Any, listed: bool) -> None:
    sheet = Sheet(cells, [key], listed=listed)
    if isinstance(key, Error):
        expected: Any = key
        expected_last = key
    else:
        expected_last = first_equal(key, cells, last=True) + 1.0 or NA
        sought = 0.0 if key is None else key
        if isinstance(sought, str) and wildcard(sought) is not None:
            places = [
                at
                for at, cell in enumerate(cells)
                if isinstance(cell, str) and fits(cell.casefold(), sought.casefold())
            ]
            expected = places[0] + 1.0 if places else NA
        else:
            expected = first_equal(sought, cells) + 1.0 or NA
        if key is None:
            blanks = [at for at, cell in enumerate(cells) if cell is None]
            expected_last = blanks[-1] + 1.0 if blanks else NA
    for _ in range(6):  # the later ones by an index
        assert sheet.value(f"=MATCH(B1,A1:A{len(cells)},0)") == expected
        assert sheet.value(f"=XMATCH(B1,A1:A{len(cells)},0,-1)") == expected_last


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=30), CELLS, st.booleans(), st.sampled_from([-1, 1]))
def test_the_nearest_is_the_best_of_all_cells(cells: list[Any], key: Any, listed: bool, mode: int) -> None:
    """Numbers stand below text and text below booleans.

    Errors and blanks are passed by, but a blank finds a blank, and stands above all that is none.
    """
    cells = [cell for cell in cells if not isinstance(cell, str) or cell.isalnum()]
    if isinstance(key, Error) or (isinstance(key, str) and not key.isalnum()) or not cells:
        return
    sheet = Sheet(cells, [key], listed=listed)

    def rank(value: Any) -> Any:
        if value is None:
            return (3, 0.0)
        return (1, value.casefold()) if isinstance(value, str) else (2 if isinstance(value, bool) else 0, float(value))

    def good_side(cell: Any) -> bool:
        return bool(rank(cell) <= rank(key) if mode < 0 else rank(cell) >= rank(key))

    comparable = [at for at, cell in enumerate(cells) if cell is not None and not isinstance(cell, Error)]
    good = [(rank(cells[at]), at) for at in comparable if good_side(cells[at])]
    expected: Any = NA
    if key is None and None in cells:
        expected = cells.index(None) + 1.0
    elif good:
        best = max(good, key=lambda pair: pair[0])[0] if mode < 0 else min(good, key=lambda pair: pair[0])[0]
        expected = next(at for value, at in good if value == best) + 1.0
    assert sheet.value(f"=XMATCH(B1,A1:A{len(cells)},{mode})") == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=40), st.integers(-21, 21).map(float), st.data())
def test_searches_by_halves_agree_with_counting_on_sorted_data(
    numbers: list[float], key: float, data: st.DataObject
) -> None:
    cells: list[Any] = sorted(numbers)
    for _ in range(data.draw(st.integers(0, 5))):
        cells.insert(data.draw(st.integers(0, len(cells))), data.draw(st.sampled_from([None, NA])))
    sheet = Sheet(cells, cells[::-1], [key])
    below = [at for at, cell in enumerate(cells) if isinstance(cell, float) and cell <= key]
    above = [at for at, cell in enumerate(cells) if isinstance(cell, float) and cell >= key]
    size = len(cells)
    same = key in numbers
    result = sheet.value(f"=MATCH(C1,A1:A{size})")
    assert result == (below[-1] + 1.0 if below else NA) or (same and cells[int(result) - 1] == key)
    assert sheet.value(f"=XMATCH(C1,A1:A{size},1,2)") == (above[0] + 1.0 if above else NA)
    smaller = above[0] if same else below[-1] if below else None
    assert sheet.value(f"=XMATCH(C1,A1:A{size},-1,2)") == (NA if smaller is None else smaller + 1.0)
    assert sheet.value(f"=XMATCH(C1,A1:A{size},0,2)") == (above[0] + 1.0 if same else NA)
    assert sheet.value(f"=XMATCH(C1,B1:B{size},1,-2)") == (size - above[0] if above else NA)
