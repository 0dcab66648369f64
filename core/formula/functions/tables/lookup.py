"""Finding a value and what stands beside it.

VLOOKUP, MATCH, XLOOKUP, INDEX and their kin.
"""

from __future__ import annotations

from typing import Any

from core.formula.functions.catalogue import OMITTED, Argument, Takes, Work, function
from core.formula.functions.tables.arrays import refuse_error
from core.formula.functions.text.regex import has_match
from core.formula.ranges.environment import Environment
from core.formula.ranges.index import LOOKUP_CHARACTERS_MAX, Vector, groups_of
from core.formula.values.coerce import to_number, to_text
from core.formula.values.criteria import wildcard
from core.formula.values.value import NA, REF, VALUE, Array, Error, Failure, Reference
from core.grid.address import COLUMNS_MAX, ROWS_MAX

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
    """Return the first (or last) place in one column (or row) of an array that equals a value or fits its wildcards; or
    -1."""
    environment.spend(array.columns if row else array.rows)
    pattern = wildcard(value) if wild and isinstance(value, str) else None
    if pattern is not None:
        return Vector(array, index, row).matching(pattern, last)
    groups = groups_of(environment, array, index, row)
    return (Vector(array, index, row) if groups is None else groups).exact(value, last)


def sought(value: Any) -> Any:
    """Return what VLOOKUP, HLOOKUP, LOOKUP and MATCH look for: a blank as 0.

    #VALUE! for text beyond the limit.
    """
    if isinstance(value, str) and len(value) > LOOKUP_CHARACTERS_MAX:
        raise Failure(VALUE)
    return 0.0 if value is None else value


def line_of(environment: Environment, table: Any, row: bool) -> Array:
    """Return the line that a lookup searches.

    An array whose first column (or row) it is; of a Reference no more is read.

    #N/A where the table is neither cells nor an array.
    """
    if isinstance(table, Reference):
        return environment.array(part(table, 0, None) if row else part(table, None, 0))
    return table_of(table)


def extent(table: Array | Reference) -> Array | Reference:
    """Return what has a table's rows and columns, those of whole columns beyond the used cells among them."""
    if isinstance(table, Reference) or table.reference is None or table.reference.more:
        return table
    return table.reference


def cell_of(environment: Environment, table: Array | Reference, row: int, column: int) -> Any:
    """Return one cell of a table; a blank for one that is beyond the used cells."""
    if isinstance(table, Reference):
        return environment.cell(table.sheet, table.top + row, table.left + column)
    return table.at(row, column) if row < table.rows and column < table.columns else None


def table_of(table: Any) -> Array:
    """Return the cells that MATCH searches; #N/A for neither cells nor array."""
    if isinstance(table, Array):
        return table
    raise Failure(table if isinstance(table, Error) else NA)


def look_up(environment: Environment, value: Any, table: Any, index: Any, sorted_: bool, row: bool) -> Any:
    """VLOOKUP, and with `row` HLOOKUP.

    An index beyond the table is reported first, then that nothing is found, then an index that is none: #REF! for an
    error or text, #VALUE! below 1.
    """
    if isinstance(table, str):
        return VALUE
    value, array = sought(value), line_of(environment, table, row)
    shape = extent(table)
    place = to_number(index, environment.date_1904)
    number = None if isinstance(place, Error) else int(place)
    if number is not None and number > (shape.rows if row else shape.columns):
        return REF
    place_in_line = Vector(array, 0, row).ascending(value) if sorted_ else exact(environment, array, 0, row, value)
    if place_in_line < 0:
        return NA
    if number is None:
        return REF
    if number < 1:
        return VALUE
    return cell_of(environment, table, *((number - 1, place_in_line) if row else (place_in_line, number - 1)))


@function(
    "VLOOKUP",
    "lookup",
    "Finds a value in the first column of a table and gives the cell of another column beside it.",
    VALUE_SOUGHT,
    Argument("table_array", Takes.RANGE, "The table.", partly=True),
    Argument("col_index_num", Takes.ANY, "The column of the result, 1 for the first."),
    RANGE_LOOKUP,
    work=Work(call=5_000, cell=300, matches=True),
    examples=(
        ("=VLOOKUP(30,A1:B5,2,FALSE)", "cherry"),
        ("=VLOOKUP(35,A1:B5,2)", "cherry"),
        ("=VLOOKUP(5,A1:B5,2)", NA),
    ),
    environment=True,
)
def vlookup(environment: Environment, value: Any, table: Any, column: Any, sorted_: bool = True) -> Any:
    return look_up(environment, value, table, column, sorted_, row=False)


@function(
    "HLOOKUP",
    "lookup",
    "Finds a value in the first row of a table and gives the cell of another row below it.",
    VALUE_SOUGHT,
    Argument("table_array", Takes.RANGE, "The table.", partly=True),
    Argument("row_index_num", Takes.ANY, "The row of the result, 1 for the first."),
    RANGE_LOOKUP,
    work=Work(call=5_000, cell=300, matches=True),
    examples=(('=HLOOKUP("apple",A1:D5,3,FALSE)', "cherry"),),
    environment=True,
)
def hlookup(environment: Environment, value: Any, table: Any, row: Any, sorted_: bool = True) -> Any:
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
        partly=True,
    ),
    Argument("result_vector", Takes.ARRAY, "The row or column of the results.", required=False, partly=True),
    examples=(("=LOOKUP(25,A1:A5,B1:B5)", "banana"), ('=LOOKUP(2,1/(B1:B5="apple"),A1:A5)', 40.0)),
    environment=True,
)
def lookup(
    environment: Environment, value: Any, table: Array | Reference, results: Array | Reference | None = None
) -> Any:
    refuse_error(*(area for area in (table, results) if isinstance(area, Array)))
    shape = extent(table)
    # With results beside it a table is searched in its first column; without, in its longer side.
    across = shape.columns > shape.rows and (results is None or shape.rows == 1)
    line = line_of(environment, table, across)
    environment.spend(line.rows)
    at = Vector(line, 0, across).ascending(sought(value))
    if at < 0:
        return NA
    if results is None:
        last = (shape.rows - 1, at) if across else (at, shape.columns - 1)
        return cell_of(environment, table, *last)
    shape = extent(results)
    if (shape.rows > 1 and shape.columns > 1) or at >= max(shape.rows, shape.columns):
        return NA
    return cell_of(environment, results, *((0, at) if shape.columns > shape.rows else (at, 0)))


@function(
    "MATCH",
    "lookup",
    "The place of a value in a row or column, counted from 1.",
    VALUE_SOUGHT,
    Argument("lookup_array", Takes.RANGE, "One row or column to search."),
    Argument(
        "match_type",
        Takes.ANY,
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
def match(environment: Environment, value: Any, cells: Any, match_type: Any = 1.0) -> Any:
    value, array = sought(value), table_of(cells)
    kind = to_number(match_type, environment.date_1904)
    if isinstance(kind, Error):
        return REF  # whatever the error
    if array.rows > 1 and array.columns > 1:
        return NA
    across = array.columns > 1
    if kind == 0:
        at = exact(environment, array, 0, across, value)
    else:
        environment.spend(max(array.rows, array.columns))
        vector = Vector(array, 0, across)
        at = vector.ascending(value) if kind > 0 else vector.descending(value)
    return NA if at < 0 else at + 1.0


def _searched(environment: Environment, operand: Any) -> Array:
    """Return the array in which XMATCH and XLOOKUP search."""
    if isinstance(operand, Array):
        return operand
    if isinstance(operand, Error):
        raise Failure(operand)
    if not isinstance(operand, Reference):
        return Array(1, 1, [operand])
    if operand.more:
        raise Failure(VALUE)
    return environment.array(operand)


def place(environment: Environment, value: Any, operand: Any, mode: int, search: Any) -> tuple[int, Array]:
    """Return the place that XMATCH and XLOOKUP find, -1 for none.

    And the array that was searched.
    """
    array = _searched(environment, operand)
    search = 1 if search is OMITTED else search
    if mode not in (-1, 0, 1, 2, 3) or search not in (-2, -1, 1, 2) or (mode >= 2 and abs(search) == 2):
        raise Failure(VALUE)
    if array.rows > 1 and array.columns > 1:
        raise Failure(VALUE)
    across, last = array.columns > 1, search == -1
    if mode == 3:
        return fitting(environment, array, across, value, last), array
    if value is None or mode in (0, 2):
        at = exact(environment, array, 0, across, value, wild=mode == 2, last=last)
        if at < 0 and value is None and array.reference is not None and array.rows < array.reference.rows:
            at = array.rows  # the first blank cell stands below the used ones
        if at >= 0 or (mode in (0, 2) and abs(search) == 1):
            return at, array
        if value is None and mode != -1:
            return -1, array
        value = True if value is None else value  # a blank stands above every value: TRUE is the nearest that is less
    if abs(search) == 2:
        return Vector(array, 0, across).halving(value, mode, search < 0), array
    environment.spend(max(array.rows, array.columns))
    return Vector(array, 0, across).nearest(value, mode > 0, last), array


def fitting(environment: Environment, array: Array, row: bool, value: Any, last: bool) -> int:
    """Return the first (or last) place in one column (or row) whose text has a part that fits a regular expression; or
    -1."""
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
    at, _ = place(environment, value, cells, mode, search)
    return NA if at < 0 else at + 1.0


@function(
    "XLOOKUP",
    "lookup",
    "Finds a value in a row or column and gives what stands at its place in another range.",
    Argument("lookup_value", Takes.VALUE, "The value to look for."),
    LOOKUP_ARRAY,
    Argument("return_array", Takes.OPERAND, "The rows or columns of the results.", partly=True),
    Argument(
        "if_not_found",
        Takes.ANY,
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
    for argument in (cells, results):
        if isinstance(argument, Error):
            return argument
    at, array = place(environment, value, cells, mode, search)
    shape = array.reference or array
    if not isinstance(results, Array | Reference):
        results = Array(1, 1, [results])
    across = shape.columns > 1 or (shape.rows == 1 and results.rows > 1)
    if not covers(environment, array, results, across):
        return VALUE
    if at < 0:
        return NA if absent is OMITTED else absent
    return part(results, None if across else at, at if across else None)


def covers(environment: Environment, array: Array, results: Array | Reference, across: bool) -> bool:
    """Return whether there is a result for every place that was searched.

    What was worked out of whole columns (or rows) ends with the cells in use; whole columns of results do so, too.
    """
    shape = array.reference or array
    if (results.columns if across else results.rows) == (shape.columns if across else shape.rows):
        return True
    if array.reference is not None or not isinstance(results, Reference) or results.more:
        return False
    if (results.columns < COLUMNS_MAX) if across else (results.rows < ROWS_MAX):
        return False
    used = environment.array(results)
    return used.columns == array.columns if across else used.rows == array.rows


def part(source: Array | Reference, row: int | None, column: int | None) -> Any:
    """Return one cell, or for None a whole column or row, of an array or a range.

    A range stays one.
    """
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
    Argument("array", Takes.OPERAND, "The range, several areas of cells in parentheses, or an array.", partly=True),
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
    if area > (len(source.areas) if isinstance(source, Reference) else 1):
        return REF
    if isinstance(source, Reference):
        chosen = source.areas[area - 1]
        source = Reference(chosen.sheet, chosen.top, chosen.left, chosen.bottom, chosen.right)
    elif not isinstance(source, Array):
        source = Array(1, 1, [source])
    if column is None:
        if row and isinstance(source, Reference) and source.rows > 1 and source.columns > 1:
            return REF  # of cells in rows and columns one number names none
        row, column = (0, row) if source.rows == 1 and source.columns > 1 else (row, 0)
    if row > source.rows or column > source.columns:
        return REF
    row = 1 if source.rows == 1 else row
    column = 1 if source.columns == 1 else column
    return part(source, row - 1 if row else None, column - 1 if column else None)
