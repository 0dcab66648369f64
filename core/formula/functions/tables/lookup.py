"""Finding a value and what stands beside it: VLOOKUP, MATCH, XLOOKUP, INDEX and their kin."""

from __future__ import annotations

from typing import Any

from core.formula.functions.catalogue import OMITTED, Argument, Takes, Work, function
from core.formula.functions.text.regex import has_match
from core.formula.ranges.environment import Environment
from core.formula.ranges.index import LOOKUP_CHARACTERS_MAX, Vector, groups_of
from core.formula.values.coerce import to_text
from core.formula.values.criteria import wildcard
from core.formula.values.value import NA, REF, VALUE, Array, Error, Failure, Reference

VALUE_SOUGHT = Argument(
    "lookup_value", Takes.VALUE, "The value to look for; text may hold the wildcards * and ? in an exact match."
)
RANGE_LOOKUP = Argument(
    "range_lookup",
    Takes.LOGICAL,
    "FALSE for an exact match; else sorted data and the nearest smaller value.",
    required=False,
)
LOOKUP_ARRAY = Argument("lookup_array", Takes.OPERAND, "One row or column to search.")
MATCH_MODE = Argument(
    "match_mode",
    Takes.INTEGER,
    "0 exact, -1 or the next smaller, 1 or the next larger, 2 with wildcards, 3 a regular expression.",
    required=False,
)
SEARCH_MODE = Argument(
    "search_mode",
    Takes.INTEGER,
    "1 from the first, -1 from the last, 2 or -2 by halves in rising or falling data.",
    required=False,
    empty=OMITTED,
)


def exact(
    environment: Environment, array: Array, index: int, row: bool, value: Any, *, wild: bool = True, last: bool = False
) -> int:
    """The first (or last) place in one column (or row) of an array that equals a value or fits its wildcards; or -1."""
    environment.spend(array.columns if row else array.rows)
    pattern = wildcard(value) if wild and isinstance(value, str) else None
    if pattern is not None:
        return Vector(array, index, row).matching(pattern, last)
    groups = groups_of(environment, array, index, row)
    return (Vector(array, index, row) if groups is None else groups).exact(value, last)


def sought(value: Any) -> Any:
    """What VLOOKUP, HLOOKUP, LOOKUP and MATCH look for: a blank as 0; #VALUE! for text beyond the limit."""
    if isinstance(value, str) and len(value) > LOOKUP_CHARACTERS_MAX:
        raise Failure(VALUE)
    return 0.0 if value is None else value


def table_of(table: Any) -> Array:
    """The table of VLOOKUP or MATCH; #N/A where it is neither cells nor an array."""
    if isinstance(table, Array):
        return table
    raise Failure(table if isinstance(table, Error) else NA)


def look_up(environment: Environment, value: Any, table: Any, number: int, sorted_: bool, row: bool) -> Any:
    """VLOOKUP, and with `row` HLOOKUP."""
    if isinstance(table, str):
        return VALUE
    value, array = sought(value), table_of(table)
    shape = array if array.reference is None else array.reference
    if number < 1:
        return VALUE
    if number > (shape.rows if row else shape.columns):
        return REF
    found = Vector(array, 0, row).ascending(value) if sorted_ else exact(environment, array, 0, row, value)
    if found < 0:
        return NA
    if number > (array.rows if row else array.columns):
        return None  # beyond the used cells
    return array.at(number - 1, found) if row else array.at(found, number - 1)


@function(
    "VLOOKUP",
    "lookup",
    "Finds a value in the first column of a table and gives the cell of another column beside it.",
    VALUE_SOUGHT,
    Argument("table_array", Takes.RANGE, "The table."),
    Argument("col_index_num", Takes.INTEGER, "The column of the result, 1 for the first."),
    RANGE_LOOKUP,
    work=Work(call=5_000, cell=300, matches=True),
    examples=(
        ("=VLOOKUP(30,A1:B5,2,FALSE)", "cherry"),
        ("=VLOOKUP(35,A1:B5,2)", "cherry"),
        ("=VLOOKUP(5,A1:B5,2)", NA),
    ),
    environment=True,
)
def vlookup(environment: Environment, value: Any, table: Any, column: int, sorted_: bool = True) -> Any:
    return look_up(environment, value, table, column, sorted_, row=False)


@function(
    "HLOOKUP",
    "lookup",
    "Finds a value in the first row of a table and gives the cell of another row below it.",
    VALUE_SOUGHT,
    Argument("table_array", Takes.RANGE, "The table."),
    Argument("row_index_num", Takes.INTEGER, "The row of the result, 1 for the first."),
    RANGE_LOOKUP,
    work=Work(call=5_000, cell=300, matches=True),
    examples=(('=HLOOKUP("apple",A1:D5,3,FALSE)', "cherry"),),
    environment=True,
)
def hlookup(environment: Environment, value: Any, table: Any, row: int, sorted_: bool = True) -> Any:
    return look_up(environment, value, table, row, sorted_, row=True)


@function(
    "LOOKUP",
    "lookup",
    "Finds a value in a sorted row or column and gives the value at the same place of another.",
    Argument("lookup_value", Takes.VALUE, "The value to look for."),
    Argument(
        "lookup_vector",
        Takes.ARRAY,
        "A sorted row or column; or an array, whose last column or row holds the results.",
    ),
    Argument("result_vector", Takes.ARRAY, "The row or column of the results.", required=False),
    examples=(("=LOOKUP(25,A1:A5,B1:B5)", "banana"), ('=LOOKUP(2,1/(B1:B5="apple"),A1:A5)', 40.0)),
    environment=True,
)
def lookup(environment: Environment, value: Any, array: Array, results: Array | None = None) -> Any:
    if array.rows == 1 and array.columns == 1 and isinstance(array.at(0, 0), Error) and array.reference is None:
        return array.at(0, 0)
    if results is not None and array.rows > 1 and array.columns > 1:
        return NA
    environment.spend(array.rows)
    across = array.columns > array.rows
    found = Vector(array, 0, across).ascending(sought(value))
    if found < 0:
        return NA
    if results is None:
        return array.at(array.rows - 1, found) if across else array.at(found, array.columns - 1)
    if results.rows > 1 and results.columns > 1:
        return NA
    if results.rows == 1 and results.columns == 1 and found == 0:
        return results.at(0, 0)
    if found >= max(results.rows, results.columns):
        shape = results.reference or results
        return NA if found >= max(shape.rows, shape.columns) else None
    return results.at(0, found) if results.columns > results.rows else results.at(found, 0)


@function(
    "MATCH",
    "lookup",
    "The place of a value in a row or column, counted from 1.",
    VALUE_SOUGHT,
    Argument("lookup_array", Takes.RANGE, "One row or column to search."),
    Argument(
        "match_type",
        Takes.NUMBER,
        "1 for the last not larger in rising data, 0 exact, -1 for the last not smaller in falling data.",
        required=False,
    ),
    work=Work(call=5_000, cell=300, matches=True, grows=0),
    examples=(
        ("=MATCH(30,A1:A5,0)", 3.0),
        ("=MATCH(39,A1:A5)", 3.0),
        ('=MATCH("ch*",B1:B5,0)', 3.0),
        ("=MATCH(7,A1:A5,0)", NA),
    ),
    environment=True,
)
def match(environment: Environment, value: Any, cells: Any, kind: float = 1.0) -> Any:
    value, array = sought(value), table_of(cells)
    if array.rows > 1 and array.columns > 1:
        return NA
    across = array.columns > 1
    if kind == 0:
        found = exact(environment, array, 0, across, value)
    else:
        environment.spend(max(array.rows, array.columns))
        vector = Vector(array, 0, across)
        found = vector.ascending(value) if kind > 0 else vector.descending(value)
    return NA if found < 0 else found + 1.0


def place(environment: Environment, value: Any, operand: Any, mode: int, search: Any) -> tuple[int, Array]:
    """The place that XMATCH and XLOOKUP find, -1 for none; and the array that was searched."""
    array = operand
    if isinstance(operand, Reference):
        array = environment.array(operand) if not operand.more else VALUE
    elif not isinstance(operand, Array):
        array = operand if isinstance(operand, Error) else Array(1, 1, [operand])
    if isinstance(array, Error):
        raise Failure(array)
    search = 1 if search is OMITTED else search
    if mode not in (-1, 0, 1, 2, 3) or search not in (-2, -1, 1, 2) or (mode >= 2 and abs(search) == 2):
        raise Failure(VALUE)
    if array.rows > 1 and array.columns > 1:
        raise Failure(VALUE)
    across, last = array.columns > 1, search == -1
    if mode == 3:
        return fitting(environment, array, across, value, last), array
    if value is None or mode in (0, 2):
        found = exact(environment, array, 0, across, value, wild=mode == 2, last=last)
        if found < 0 and value is None and array.reference is not None and array.rows < array.reference.rows:
            found = array.rows  # the first blank cell stands below the used ones
        if found >= 0 or (mode in (0, 2) and abs(search) == 1):
            return found, array
        value = 0.0 if value is None else value
    if abs(search) == 2:
        return Vector(array, 0, across).halving(value, mode, search < 0), array
    environment.spend(max(array.rows, array.columns))
    return Vector(array, 0, across).nearest(value, mode > 0, last), array


def fitting(environment: Environment, array: Array, row: bool, value: Any, last: bool) -> int:
    """The first (or last) place in one column (or row) whose text has a part that fits a regular expression; or -1."""
    written = to_text(value)
    if isinstance(written, Error):
        raise Failure(written)
    places = range(array.columns if row else array.rows)
    for place in reversed(places) if last else places:
        cell = array.at(0, place) if row else array.at(place, 0)
        if isinstance(cell, str) and has_match(environment, cell, written):
            return place
    return -1


@function(
    "XMATCH",
    "lookup",
    "The place of a value in a row or column, counted from 1; exact unless another mode is asked for.",
    Argument("lookup_value", Takes.VALUE, "The value to look for."),
    LOOKUP_ARRAY,
    MATCH_MODE,
    SEARCH_MODE,
    examples=(("=XMATCH(30,A1:A5)", 3.0), ('=XMATCH("apple",B1:B5,0,-1)', 4.0), ("=XMATCH(35,A1:A5,1)", 4.0)),
    environment=True,
)
def xmatch(environment: Environment, value: Any, cells: Any, mode: int = 0, search: Any = 1) -> Any:
    found, _ = place(environment, value, cells, mode, search)
    return NA if found < 0 else found + 1.0


@function(
    "XLOOKUP",
    "lookup",
    "Finds a value in a row or column and gives what stands at its place in another range.",
    Argument("lookup_value", Takes.VALUE, "The value to look for."),
    LOOKUP_ARRAY,
    Argument("return_array", Takes.OPERAND, "The rows or columns of the results."),
    Argument(
        "if_not_found",
        Takes.OPERAND,
        "What to give where nothing is found; #N/A when left out.",
        required=False,
        empty=OMITTED,
    ),
    MATCH_MODE,
    SEARCH_MODE,
    examples=(
        ("=XLOOKUP(30,A1:A5,B1:B5)", "cherry"),
        ('=XLOOKUP(31,A1:A5,B1:B5,"none")', "none"),
        ("=XLOOKUP(31,A1:A5,B1:B5,,-1)", "cherry"),
    ),
    environment=True,
)
def xlookup(
    environment: Environment,
    value: Any,
    cells: Any,
    results: Any,
    absent: Any = OMITTED,
    mode: int = 0,
    search: Any = 1,
) -> Any:
    if isinstance(results, Error):
        return results
    found, array = place(environment, value, cells, mode, search)
    shape = array.reference or array
    if not isinstance(results, Array | Reference):
        results = Array(1, 1, [results])
    across = shape.columns > 1 or (shape.rows == 1 and results.rows > 1)
    if (results.columns if across else results.rows) != (shape.columns if across else shape.rows):
        return VALUE
    if found < 0:
        return NA if absent is OMITTED else absent
    return part(results, None if across else found, found if across else None)


def part(source: Array | Reference, row: int | None, column: int | None) -> Any:
    """One cell, or for None a whole column or row, of an array or a range; a range stays one."""
    if isinstance(source, Reference):
        top, bottom = (source.top, source.bottom) if row is None else (source.top + row, source.top + row)
        left, right = (source.left, source.right) if column is None else (source.left + column, source.left + column)
        return Reference(source.sheet, top, left, bottom, right)
    if row is not None and column is not None:
        return source.at(row, column)
    if row is None and column is None:
        return source
    if row is None:
        cells = [source.at(each, column) for each in range(source.rows)]  # type: ignore[arg-type]
        return cells[0] if len(cells) == 1 else Array(source.rows, 1, cells)
    cells = [source.at(row, each) for each in range(source.columns)]
    return cells[0] if len(cells) == 1 else Array(1, source.columns, cells)


@function(
    "INDEX",
    "lookup",
    "The cell at a row and column of a range or array; a whole row or column for 0.",
    Argument("array", Takes.OPERAND, "The range, several areas of cells in parentheses, or an array."),
    Argument("row_num", Takes.INTEGER, "The row, 1 for the first; 0 for all."),
    Argument("column_num", Takes.INTEGER, "The column, 1 for the first; 0 for all.", required=False),
    Argument("area_num", Takes.INTEGER, "Which of several areas, 1 for the first.", required=False),
    work=Work(call=3_000, cell=100),
    examples=(
        ("=INDEX(A1:B5,2,2)", "banana"),
        ("=SUM(INDEX(A1:C5,0,3))", 15.0),
        ("=INDEX({10,20,30},2)", 20.0),
        ("=INDEX(A1:A5,6)", REF),
    ),
)
def index(source: Any, row: int, column: int | None = None, area: int = 1) -> Any:
    if isinstance(source, Error):
        return source
    if row < 0 or (column is not None and column < 0) or area < 1:
        return VALUE
    if isinstance(source, Reference):
        if area > len(source.areas):
            return REF
        chosen = source.areas[area - 1]
        source = Reference(chosen.sheet, chosen.top, chosen.left, chosen.bottom, chosen.right)
    elif area > 1:
        return REF
    elif not isinstance(source, Array):
        source = Array(1, 1, [source])
    if column is None:
        row, column = (0, row) if source.rows == 1 and source.columns > 1 else (row, 0)
    if row > source.rows or column > source.columns:
        return REF
    if row == 0 and source.rows == 1:
        row = 1
    if column == 0 and source.columns == 1:
        column = 1
    return part(source, row - 1 if row else None, column - 1 if column else None)
