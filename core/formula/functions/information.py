"""What a value, a cell or the place of the calculation is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Argument, Takes, Work, function
from core.formula.functions.tables.reference import of_formulas, quoted_sheet, sheet_place
from core.formula.ranges.environment import Environment
from core.formula.values.coerce import to_number
from core.formula.values.formats import parse
from core.formula.values.value import NA, VALUE, Array, Error, Failure, Lambda, Reference
from core.grid.address import column_name

_VALUE: Final = Argument("value", Takes.ANY, "The value.")


@function(
    "ISBLANK", "information", "Tells whether a cell is empty.", _VALUE,
    work=Work(call=1_000),
    examples=(("=ISBLANK(D3)", True), ('=ISBLANK("")', False)),
)  # fmt: skip
def isblank(value: Any) -> bool:
    return value is None


@function(
    "ISERR", "information", "Tells whether a value is an error other than #N/A.", _VALUE,
    examples=(("=ISERR(1/0)", True), ("=ISERR(NA())", False)),
)  # fmt: skip
def iserr(value: Any) -> bool:
    return isinstance(value, Error) and value is not NA


@function(
    "ISERROR", "information", "Tells whether a value is an error.", _VALUE,
    work=Work(call=1_000),
    examples=(("=ISERROR(1/0)", True), ("=ISERROR(1)", False)),
)  # fmt: skip
def iserror(value: Any) -> bool:
    return isinstance(value, Error)


@function(
    "ISNA", "information", "Tells whether a value is #N/A.", _VALUE,
    work=Work(call=1_000),
    examples=(("=ISNA(NA())", True), ("=ISNA(1/0)", False)),
)  # fmt: skip
def isna(value: Any) -> bool:
    return value is NA


@function(
    "ISNUMBER", "information", "Tells whether a value is a number.", _VALUE,
    work=Work(call=1_000),
    examples=(("=ISNUMBER(A1)", True), ('=ISNUMBER("1")', False)),
)  # fmt: skip
def isnumber(value: Any) -> bool:
    return isinstance(value, float)


@function(
    "ISTEXT", "information", "Tells whether a value is text.", _VALUE,
    work=Work(call=1_000),
    examples=(("=ISTEXT(B1)", True), ("=ISTEXT(A1)", False)),
)  # fmt: skip
def istext(value: Any) -> bool:
    return isinstance(value, str)


@function(
    "ISNONTEXT", "information", "Tells whether a value is anything but text.", _VALUE,
    examples=(("=ISNONTEXT(D3)", True), ("=ISNONTEXT(B1)", False)),
)  # fmt: skip
def isnontext(value: Any) -> bool:
    return not isinstance(value, str)


@function(
    "ISLOGICAL", "information", "Tells whether a value is TRUE or FALSE.", _VALUE,
    examples=(("=ISLOGICAL(D1)", True), ("=ISLOGICAL(1)", False)),
)  # fmt: skip
def islogical(value: Any) -> bool:
    return isinstance(value, bool)


@function(
    "ISREF", "information", "Tells whether a value is a reference.", Argument("value", Takes.OPERAND, "The value."),
    examples=(("=ISREF(A1)", True), ("=ISREF(1)", False)),
)  # fmt: skip
def isref(value: Any) -> bool:
    return isinstance(value, Reference)


@function(
    "ISEVEN", "information", "Tells whether a number, cut to a whole one, is even.",
    toolpak.single("number", "The number."),
    examples=(("=ISEVEN(2.5)", True), ("=ISEVEN(5)", False)),
)  # fmt: skip
def iseven(value: Any) -> bool:
    return _whole(value) % 2 == 0


@function(
    "ISODD", "information", "Tells whether a number, cut to a whole one, is odd.",
    toolpak.single("number", "The number."),
    examples=(("=ISODD(5)", True), ("=ISODD(-1)", True)),
)  # fmt: skip
def isodd(value: Any) -> bool:
    return _whole(value) % 2 == 1


def _whole(value: Any) -> int:
    number = VALUE if isinstance(value, bool) else to_number(value)
    if isinstance(number, Error):
        raise Failure(number)
    return int(abs(number))


@function(
    "N", "information", "Gives a number as it is, TRUE as 1, and 0 for anything else.",
    Argument("value", Takes.RANGE, "The value; of a range its first cell."),
    work=Work(call=1_000),
    examples=(("=N(A1)", 10.0), ("=N(D1)", 1.0), ("=N(B1)", 0.0)),
)  # fmt: skip
def number_of(value: Any) -> Any:
    if isinstance(value, Array):
        if value.reference is None:
            return Array(value.rows, value.columns, [_number_or_error(cell) for cell in value.cells()])
        value = value.at(0, 0)
    return _number_or_error(value)


def _number_or_error(value: Any) -> Any:
    if isinstance(value, bool):
        return float(value)
    return value if isinstance(value, float | Error) else 0.0


@function(
    "NA", "information", "Gives the error #N/A: no value is available.",
    work=Work(call=1_000),
    examples=(("=NA()", NA),),
)  # fmt: skip
def not_available() -> Error:
    return NA


@function(
    "TYPE", "information", "Gives a number for the kind of a value: 1 number, 2 text, 4 logical, 16 error, 64 array.",
    Argument("value", Takes.OPERAND, "The value."), environment=True,
    examples=(("=TYPE(A1)", 1.0), ("=TYPE(B1)", 2.0), ("=TYPE({1,2})", 64.0)),
)  # fmt: skip
def type_of(environment: Environment, value: Any) -> float:
    if isinstance(value, Reference) and value.rows == value.columns == 1:
        value = environment.cell(value.sheet, value.top, value.left)
    kinds = ((bool, 4.0), (str, 2.0), (Error, 16.0), (Array | Reference, 64.0), (Lambda, 128.0))
    return next((number for kind, number in kinds if isinstance(value, kind)), 1.0)


@function(
    "ERROR.TYPE", "information", "Gives the number of an error; #N/A for what is none.", _VALUE,
    examples=(("=ERROR.TYPE(1/0)", 2.0), ("=ERROR.TYPE(1)", NA)),
)  # fmt: skip
def error_type(value: Any) -> float:
    if not isinstance(value, Error):
        raise Failure(NA)
    return {"#SPILL!": 9.0, "#CALC!": 14.0}.get(value.text, value.code + 1.0)


# -- cells, sheets, the place


@function(
    "ISFORMULA", "information", "Tells whether a cell has a formula.",
    Argument("reference", Takes.REFERENCE, "The cell or cells."),
    environment=True,
    examples=(("=ISFORMULA(A1)", False),),
)  # fmt: skip
def isformula(environment: Environment, reference: Reference) -> Any:
    return of_formulas(environment, reference, lambda place, *cell: place.is_formula(*cell), False)


@function(
    "SHEET", "information", "Gives the place of a sheet among the sheets.",
    Argument("value", Takes.OPERAND, "A sheet's name, or a reference.", required=False, empty=OMITTED),
    environment=True,
    examples=(("=SHEET()", 1.0),),
)  # fmt: skip
def sheet(environment: Environment, value: Any = OMITTED) -> float:
    name = environment.sheet if value is OMITTED else value
    if isinstance(value, Error):
        raise Failure(value)
    if isinstance(value, Reference):
        name = value.sheet or environment.sheet
    if name is None:
        return 1.0
    place = sheet_place(environment, name) if isinstance(name, str) else None
    if place is None:
        raise Failure(NA)
    return place + 1.0


@function(
    "SHEETS", "information", "Counts the sheets of a reference, or all.",
    Argument("reference", Takes.REFERENCE, "The reference.", required=False),
    environment=True,
    examples=(("=SHEETS(A1:B2)", 1.0),),
)  # fmt: skip
def sheets(environment: Environment, reference: Reference | None = None) -> float:
    if reference is None:
        return float(len(environment.sheets()))
    return float(len({(area.sheet or "").casefold() for area in reference.areas}))


_INFO: Final[dict[str, str | float]] = {
    "osversion": "Windows (64-bit) NT 10.00", "recalc": "Automatic", "release": "16.0", "system": "pcdos",
    "origin": "$A:$A$1",
}  # fmt: skip


@function(
    "INFO", "information", "Tells something about the place of the calculation.",
    Argument("type_text", Takes.TEXT, "What to tell: numfile, origin, osversion, recalc, release or system."),
    environment=True, volatile=True,
    examples=(('=INFO("system")', "pcdos"),),
)  # fmt: skip
def info(environment: Environment, asked: str) -> str | float:
    asked = asked.lower()
    if asked == "numfile":
        return float(len(environment.sheets()))
    if asked in ("directory", "memavail", "memused", "totmem"):
        raise Failure(NA)
    if asked not in _INFO:
        raise Failure(VALUE)
    return _INFO[asked]


@function(
    "CELL", "information", "Tells something about a cell: its address, contents, type or format.",
    Argument("info_type", Takes.TEXT, "What to tell, such as address, row, col, contents, type or format."),
    Argument("reference", Takes.REFERENCE, "The cell; the own one if left out.", required=False),
    environment=True, volatile=True,
    examples=(('=CELL("address",B2)', "$B$2"), ('=CELL("row",A20)', 20.0), ('=CELL("type",B1)', "l")),
)  # fmt: skip
def cell(environment: Environment, asked: str, reference: Reference | None = None) -> Any:
    if reference is None:
        reference = Reference(None, environment.row, environment.column, environment.row, environment.column)
    tell = _CELL.get(asked.lower())
    if tell is None:
        raise Failure(VALUE)
    return tell(environment, reference)


def _content(environment: Environment, at: Reference) -> Any:
    return environment.cell(at.sheet, at.top, at.left)


def _contents(environment: Environment, at: Reference) -> Any:
    content = _content(environment, at)
    return 0.0 if content is None else content


def _address(environment: Environment, at: Reference) -> str:
    name = f"${column_name(at.left)}${at.top + 1}"
    own = at.sheet is None or at.sheet == environment.sheet
    return name if own else f"{quoted_sheet(at.sheet or '')}!{name}"


def _filename(environment: Environment, at: Reference) -> str:
    """Return where a book lies is not known here.

    Formulas that cut the sheet's name out of this find it.
    """
    return f"[Book]{at.sheet or environment.sheet or environment.sheets()[0]}"


def _cell_type(environment: Environment, at: Reference) -> str:
    content = _content(environment, at)
    return "b" if content is None else "l" if isinstance(content, str) else "v"


def _prefix(environment: Environment, at: Reference) -> str:
    return "'" if isinstance(_content(environment, at), str) else ""


def _code(environment: Environment, at: Reference) -> str:
    return environment.number_format(at.sheet, at.top, at.left)


_DATE_CODES: Final = (
    (r"d+[-/ ]m{3,4}[-/ ]y+", "D1"), (r"d+[-/ ]m{3,4}", "D2"), (r"m{3,4}[-/ ]y+", "D3"),
    (r"m+[-/]d+[-/]y+( h+:mm)?|d+[-/]m+[-/]y+( h+:mm)?", "D4"), (r"m+[-/]d+", "D5"),
    (r"h+:mm:ss am/pm", "D6"), (r"h+:mm am/pm", "D7"), (r"h+:mm:ss", "D8"), (r"h+:mm", "D9"),
)  # fmt: skip


def _format_code(environment: Environment, at: Reference) -> str:
    """Excel's short name of a number format.

    G, F2, ,0, C2, P0, S2, D1 to D9, with - and () marks.
    """
    code = _code(environment, at)
    section = parse(code)[0]
    if section.kind == "date":
        bare = re.sub(r"\[[^\]]*\]|[\\\"@]|;.*", "", code).lower()
        return next((short for pattern, short in _DATE_CODES if re.fullmatch(pattern, bare)), "G")
    tokens = section.tokens
    kinds = [kind for kind, _ in tokens]
    decimals = sum(kind == "digit" for kind in kinds[kinds.index("point") :]) if "point" in kinds else 0
    if section.kind == "scientific":
        decimals = (
            sum(kind == "digit" for kind in kinds[kinds.index("point") : kinds.index("exponent")])
            if "point" in kinds
            else 0
        )
        short = f"S{decimals}"
    elif section.kind != "number":
        short = "G"
    elif "percent" in kinds:
        short = f"P{decimals}"
    elif any(kind == "literal" and any(mark in word for mark in "$€£¥") for kind, word in tokens):
        short = f"C{decimals}"
    else:
        short = f"{',' if 'comma' in kinds else 'F'}{decimals}"
    return (
        short
        + ("-" if _negative_in_colour(environment, at) else "")
        + ("()" if _in_parentheses(environment, at) else "")
    )


def _negative_in_colour(environment: Environment, at: Reference) -> float:
    sections = _code(environment, at).lower().split(";")
    return float(
        len(sections) > 1 and bool(re.search(r"\[(black|blue|cyan|green|magenta|red|white|yellow|color)", sections[1]))
    )


def _in_parentheses(environment: Environment, at: Reference) -> float:
    return float("(" in re.sub(r"_.|\\.|\"[^\"]*\"", "", _code(environment, at).split(";")[0]))


_CELL: Final[dict[str, Callable[[Environment, Reference], Any]]] = {
    "address": _address,
    "col": lambda environment, at: at.left + 1.0,
    "color": _negative_in_colour,
    "contents": _contents,
    "filename": _filename,
    "format": _format_code,
    "parentheses": _in_parentheses,
    "prefix": _prefix,
    "protect": lambda environment, at: 1.0,
    "row": lambda environment, at: at.top + 1.0,
    "type": _cell_type,
    "width": lambda environment, at: 8.0,
}
