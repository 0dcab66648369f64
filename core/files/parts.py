"""The small XML parts of an .xlsx file.

Relationships, workbook, styles; and the encoding of every part.
"""

from __future__ import annotations

import codecs
import math
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final, Literal
from urllib.parse import unquote
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from core.files.errors import ParseFailed
from core.files.limits import DEFINED_NAMES_MAX, FORMATS_MAX
from core.grid.address import COLUMNS_MAX
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import ITERATIONS_MAX, Calculation
from core.values import ERROR_CODE

SheetState = Literal["visible", "hidden", "veryHidden"]

_ENCODINGS: Final = frozenset({"utf-8", "ascii", "utf-16", "iso8859-1", "cp1252"})
_DEPTH_MAX: Final = 64
_DC_LANGUAGE: Final = "http://purl.org/dc/elements/1.1/}language"
_SHEETS_NAMED_MAX: Final = 10_000
_RELATIONSHIPS_MAX: Final = 20_000

# Format codes that a file names only by number (ECMA-376 part 1, 18.8.30); 27 to 36 and 50 to 58 are the dates of
# East Asian locales, shown here by a plain date.
BUILT_IN_FORMATS: Final = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0",
    48: "##0.0E+0", 49: "@",
} | dict.fromkeys([*range(27, 37), *range(50, 59)], "yyyy-mm-dd")  # fmt: skip

_HEADING_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")

_DATE_WORD: Final = re.compile(
    r'"[^"]*"?|\\.|_.|\*.|\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]?|General|(?P<date>(?i:am/pm)|[dmyhsDMYHS])', re.S
)


class Shows(IntFlag):
    """What a format code shows of a moment."""

    DAY = 1
    TIME = 2
    ELAPSED = 4
    """Hours, minutes or seconds that are counted on past a day."""


def shown(code: str) -> Shows:
    """Return what a format code shows of a moment outside quotes, escapes, colours and conditions, in the section for
    positive numbers; nothing for a code that shows none. An m beside hours or before seconds is minutes."""
    shows = Shows(0)
    words = [word for word in _DATE_WORD.finditer(_first_section(code)) if word["date"] or word["elapsed"]]
    letters = [(word["date"] or word["elapsed"])[0].lower() for word in words]
    runs = [at for at, letter in enumerate(letters) if at == 0 or letter != letters[at - 1]]
    for place, at in enumerate(runs):
        before = letters[at - 1] if at else ""
        after = letters[runs[place + 1]] if place + 1 < len(runs) else ""
        if words[at]["elapsed"]:
            shows |= Shows.ELAPSED
        elif letters[at] in "ahs" or (letters[at] == "m" and (before == "h" or after == "s")):
            shows |= Shows.TIME
        else:
            shows |= Shows.DAY
    return shows


def is_date_format(code: str) -> bool:
    """Return whether a format code shows a date or a time."""
    return bool(shown(code))


def is_elapsed_format(code: str) -> bool:
    """Return whether a format code shows a length of time.

    Hours, minutes or seconds past a day, as [h]:mm does.
    """
    return bool(shown(code) & Shows.ELAPSED)


def is_moment_format(code: str) -> bool:
    """Return whether a number under a format code is a date or a time of day.

    Under [h]:mm it is a number of days.
    """
    return is_date_format(code) and not is_elapsed_format(code)


def _first_section(code: str) -> str:
    for word in re.finditer(r'"[^"]*"?|\\.|\[[^\]]*\]?|(?P<end>;)', code, re.S):
        if word["end"]:
            return code[: word.start()]
    return code


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where a part points to.

    The last word of the relationship's type, and the target part's name.
    """

    kind: str
    target: str


@dataclass(slots=True)
class SheetEntry:
    """A sheet as the workbook part lists it."""

    name: str
    state: SheetState
    relationship: str


@dataclass(slots=True)
class WorkbookPart:
    """What the workbook part says."""

    sheets: list[SheetEntry] = field(default_factory=list)
    date_1904: bool = False
    defined_names: dict[str, str] = field(default_factory=dict)
    local_names: dict[tuple[int, str], str] = field(default_factory=dict)
    """Names that belong to one sheet, by the sheet's place in `sheets`."""
    calculation: Calculation = CALCULATION


@dataclass(frozen=True, slots=True)
class Styles:
    """Number formats: the distinct codes, and per cell style the index of its code and whether that shows a moment."""

    codes: tuple[str, ...]
    formats: NDArray[np.uint16]
    dates: NDArray[np.uint8]


PLAIN_STYLES: Final = Styles(("General",), np.zeros(1, np.uint16), np.zeros(1, np.uint8))
"""The styles of a workbook without a styles part."""


def utf8_chunks(chunks: Iterable[bytes], part: str) -> Iterator[bytes]:
    """Yield the same part in UTF-8, whatever of the allowed encodings it is in.

    Raises:
        ParseFailed: another encoding, or bytes that are not text in the one declared.
    """
    decoder: codecs.IncrementalDecoder | None = None
    first = True
    for chunk in chunks:
        if first and chunk:
            first = False
            name = _encoding(chunk, part)
            decoder = None if name in ("utf-8", "ascii") else codecs.getincrementaldecoder(name)()
        try:
            yield chunk if decoder is None else decoder.decode(chunk).encode()
        except UnicodeError as error:
            raise ParseFailed(f"{part} is not text in the encoding that it declares.") from error


def _encoding(head: bytes, part: str) -> str:
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    if head[:4] == b"<\0?\0":
        return "utf-16-le"
    if head[:4] == b"\0<\0?":
        return "utf-16-be"
    match = re.match(rb"""(?:\xef\xbb\xbf)?<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""", head)
    if match is None:
        return "utf-8"
    try:
        name = codecs.lookup(match[1].decode()).name
    except LookupError:
        name = ""
    if name not in _ENCODINGS or name == "utf-16":
        raise ParseFailed(f"{part} declares an encoding that is not supported; spreadsheets use UTF-8 or UTF-16.")
    return name


Attributes = dict[str, str]


def parse_part(
    data: bytes,
    part: str,
    start: Callable[[str, Attributes], None],
    text: Callable[[str], None] | None = None,
    end: Callable[[str], None] | None = None,
    *,
    qualified: bool = False,
) -> None:
    """Walk a small part.

    Names come without their prefixes' namespaces, but those of elements of another namespace than the first one's (an
    extension's) and, where `qualified`, all of them as namespace}name.

    Raises:
        ParseFailed: not well-formed, nested too deeply, with a document type or entities, or what a handler raises.
    """
    depth = 0
    own: str | None = "" if qualified else None

    def known_as(name: str) -> str:
        return name[len(own) :] if own and name.startswith(own) and "}" not in name[len(own) :] else name

    def on_start(name: str, attributes: Attributes) -> None:
        nonlocal depth, own
        depth += 1
        if own is None:
            own = name[: name.rfind("}") + 1]
        if depth > _DEPTH_MAX:
            raise ParseFailed(f"{part} is nested deeper than the limit of {_DEPTH_MAX} elements.")
        start(known_as(name), {key if qualified else _local(key): value for key, value in attributes.items()})

    def on_end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(known_as(name))

    def on_doctype(*_: object) -> None:
        raise ParseFailed(f"{part} declares a document type or entities, which a spreadsheet never does.")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = on_doctype
    parser.EntityDeclHandler = on_doctype
    _feed(parser, data, part)


def _feed(parser: expat.XMLParserType, data: bytes, part: str) -> None:
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ParseFailed(f"{part} is not well-formed XML: {expat.errors.messages[error.code]}.") from error
    except ParseFailed:
        raise
    except (ValueError, LookupError) as error:
        raise ParseFailed(f"{part} declares an encoding that is not supported.") from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def relationships_name(part: str) -> str:
    """Return the part that holds the relationships of a part.

    Xl/workbook.xml -> xl/_rels/workbook.xml.rels.
    """
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", name + ".rels")


def parse_relationships(data: bytes, owner: str) -> dict[str, Relationship]:
    """Return the internal relationships of a part by id.

    Targets are resolved against the owner's folder.

    Raises:
        ParseFailed: not well-formed, or a target outside the archive.
    """
    relationships: dict[str, Relationship] = {}

    def start(name: str, attributes: Attributes) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            target = _resolve(unquote(attributes.get("Target", "")), owner)
            relationships[attributes.get("Id", "")] = Relationship(kind, target)
            if len(relationships) > _RELATIONSHIPS_MAX:
                raise ParseFailed(f"A part has more relationships than the limit of {_RELATIONSHIPS_MAX:,}.")

    parse_part(data, f"The relationships of {owner or 'the package'}", start)
    return relationships


def _resolve(target: str, owner: str) -> str:
    target = target.replace("\\", "/").partition("#")[0]
    path = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(owner), target)
    return posixpath.normpath(path).lstrip("/")


def parse_workbook(data: bytes) -> WorkbookPart:
    """Return sheets, date system, defined names and the settings of the calculation.

    Excel's own names (`_xlnm.`) are left out.

    Raises:
        ParseFailed: not well-formed, not a workbook part, or past a limit.
    """
    reader = _WorkbookReader()
    parse_part(data, "The workbook part", reader.start, reader.text, reader.end)
    if reader.root != "workbook":
        raise ParseFailed("The workbook part is not one.")
    return reader.book


class _WorkbookReader:
    """The elements of a workbook part, in order."""

    def __init__(self) -> None:
        self.book = WorkbookPart()
        self.root: str | None = None
        self._name: tuple[str, str | None] | None = None
        """The defined name whose text is read: its label, and its sheet's index."""
        self._pieces: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        book = self.book
        if self.root is None:
            self.root = name
        if name == "sheet":
            book.sheets.append(SheetEntry(attributes.get("name", ""), _state(attributes), attributes.get("id", "")))
        elif name == "workbookPr":
            book.date_1904 = _is_true(attributes.get("date1904", "0"))
        elif name == "calcPr":
            book.calculation = _calculation(attributes)
        elif name == "definedName":
            self._pieces = []
            self._name = attributes.get("name", ""), attributes.get("localSheetId")
        names = len(book.defined_names) + len(book.local_names)
        if len(book.sheets) > _SHEETS_NAMED_MAX or names > DEFINED_NAMES_MAX:
            raise ParseFailed("The workbook part lists more sheets or names than any workbook has.")

    def end(self, name: str) -> None:
        if name != "definedName" or self._name is None:
            return
        (label, sheet), self._name = self._name, None
        if not label or label.startswith("_xlnm."):
            return
        if sheet is None:
            self.book.defined_names[label] = "".join(self._pieces)
        else:
            self.book.local_names[_number(sheet), label] = "".join(self._pieces)

    def text(self, data: str) -> None:
        if self._name is not None:
            self._pieces.append(data)


def _is_true(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "on")


def _calculation(attributes: Attributes) -> Calculation:
    """Return the settings of <calcPr>.

    A figure that is none, or none that Excel takes, counts as Excel's default.
    """
    count = _number(attributes.get("iterateCount", "").strip())
    try:
        change = float(attributes.get("iterateDelta", ""))
    except ValueError:
        change = CALCULATION.change_max
    return Calculation(
        iterates=_is_true(attributes.get("iterate", "0")),
        iterations_max=min(count, ITERATIONS_MAX) or CALCULATION.iterations_max,
        change_max=change if 0 <= change < math.inf else CALCULATION.change_max,
        as_displayed=not _is_true(attributes.get("fullPrecision", "1")),
    )


def parse_language(data: bytes) -> str | None:
    """Return the language that the core properties name (dc:language), such as de-DE.

    None for none, or what is no tag of one.

    Raises:
        ParseFailed: not well-formed.
    """
    parts: list[str] = []
    inside = False

    def start(name: str, attributes: Attributes) -> None:
        nonlocal inside
        inside = name == _DC_LANGUAGE

    def text(data: str) -> None:
        if inside:
            parts.append(data)

    def end(name: str) -> None:
        nonlocal inside
        inside = False

    parse_part(data, "The core properties", start, text, end, qualified=True)
    language = "".join(parts).strip()
    return language if re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}", language) else None


def _state(attributes: Attributes) -> SheetState:
    state = attributes.get("state", "visible")
    return "hidden" if state == "hidden" else "veryHidden" if state == "veryHidden" else "visible"


def parse_styles(data: bytes) -> Styles:
    """Return the number formats of the styles part.

    Raises:
        ParseFailed: not well-formed, or past a limit.
    """
    custom: dict[int, str] = {}
    styles: list[int] = []
    inside: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "numFmt" and "dxf" not in inside:
            custom[_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "General")
        elif name == "xf" and "cellXfs" in inside:
            styles.append(_number(attributes.get("numFmtId")))
        if len(styles) > FORMATS_MAX or len(custom) > FORMATS_MAX:
            raise ParseFailed(f"The workbook has more cell styles than the limit of {FORMATS_MAX:,}.")
        inside.append(name)

    def end(name: str) -> None:
        inside.pop()

    parse_part(data, "The styles part", start, end=end)
    index = {"General": 0}
    formats = []
    for number in styles:
        code = custom.get(number) or BUILT_IN_FORMATS.get(number, "General")
        formats.append(index.setdefault(code, len(index)))
    dates = {at: is_moment_format(code) for code, at in index.items()}
    if not formats:
        return PLAIN_STYLES
    return Styles(tuple(index), np.array(formats, np.uint16), np.array([dates[at] for at in formats], np.uint8))


@dataclass(slots=True)
class TablePart:
    """What a table part says."""

    name: str = ""
    range: str = ""
    columns: list[str] = field(default_factory=list)
    header_rows: int = 1
    totals_rows: int = 0
    filtered: bool = False


def parse_table(data: bytes) -> TablePart:
    """Return name, range, headings and kinds of rows of a table part.

    Raises:
        ParseFailed: not well-formed, or past a limit.
    """
    table = TablePart()

    def start(name: str, attributes: Attributes) -> None:
        if name == "table" and not table.name:  # an extension has another element of this name
            table.name = attributes.get("displayName") or attributes.get("name", "")
            table.range = attributes.get("ref", "")
            table.header_rows = _number(attributes.get("headerRowCount", "1"))
            table.totals_rows = _number(attributes.get("totalsRowCount"))
        elif name == "tableColumn":
            table.columns.append(_HEADING_ESCAPE.sub(lambda match: chr(int(match[1], 16)), attributes.get("name", "")))
            if len(table.columns) > COLUMNS_MAX:
                raise ParseFailed(f"A table has more columns than the limit of {COLUMNS_MAX:,}.")
        elif name == "filterColumn":
            table.filtered = True

    parse_part(data, "A table part", start)
    return table


_RICH_ERRORS: Final = {"8": ERROR_CODE["#SPILL!"], "13": ERROR_CODE["#CALC!"]}
"""Errors by the `errorType` of a rich value, which is Excel's ERROR.TYPE less one."""


def parse_rich_errors(metadata: bytes, values: bytes, structures: bytes) -> list[int]:
    """By a cell's `vm`, less one, the code of the error that it stands for.

    -1 for any other value.

    Errors younger than the file format are kept so: the cell itself says #VALUE!, and its metadata names a rich value.

    Raises:
        ParseFailed: a part is not well-formed.
    """
    kinds = _error_places(structures)
    errors: list[int] = []
    texts: list[str] = []
    place: list[int] = []  # where the error's type stands in the value that is read, if that is one

    def start(name: str, attributes: Attributes) -> None:
        if name == "rv":
            errors.append(-1)
            texts.clear()
            place[:] = kinds.get(attributes.get("s", ""), [])
        elif name == "v":
            texts.append("")

    def text(data: str) -> None:
        if texts:
            texts[-1] += data

    def end(name: str) -> None:
        if name == "rv" and place and place[0] < len(texts):
            errors[-1] = _RICH_ERRORS.get(texts[place[0]].strip(), -1)

    parse_part(values, "The rich values", start, text, end)
    return [errors[at] if 0 <= at < len(errors) else -1 for at in _rich_values(metadata)]


def _error_places(structures: bytes) -> dict[str, list[int]]:
    """By the number of a structure of errors the place of the error's type among its values."""
    places: dict[str, list[int]] = {}
    count = keys = 0
    is_error = False

    def start(name: str, attributes: Attributes) -> None:
        nonlocal count, keys, is_error
        if name == "s":
            is_error = attributes.get("t") == "_error"
            count, keys = count + 1, 0
        elif name == "k":
            if is_error and attributes.get("n") == "errorType":
                places[str(count - 1)] = [keys]
            keys += 1

    parse_part(structures, "The structures of the rich values", start)
    return places


def _rich_values(metadata: bytes) -> list[int]:
    """By a cell's `vm`, less one, the place of its rich value.

    -1 for a record of another kind.
    """
    kinds: list[str] = []
    inside = ""
    rich: list[int] = []
    codes: list[int] = []

    def start(name: str, attributes: Attributes) -> None:
        nonlocal inside
        if name == "metadataType":
            kinds.append(attributes.get("name", ""))
        elif name in ("cellMetadata", "valueMetadata", "futureMetadata"):
            inside = attributes.get("name", "") if name == "futureMetadata" else name
        elif name == "bk":
            if inside == "XLRICHVALUE":
                rich.append(-1)
            elif inside == "valueMetadata":
                codes.append(-1)
        elif _local(name) == "rvb" and inside == "XLRICHVALUE" and rich:
            rich[-1] = _number(attributes.get("i"))
        elif name == "rc" and inside == "valueMetadata" and codes:
            kind, at = _number(attributes.get("t")), _number(attributes.get("v"))
            if 1 <= kind <= len(kinds) and kinds[kind - 1] == "XLRICHVALUE" and at < len(rich):
                codes[-1] = rich[at]

    parse_part(metadata, "The metadata part", start)
    return codes


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
