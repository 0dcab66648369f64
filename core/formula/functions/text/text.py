"""Text functions that take text apart and put it together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from math import floor
from typing import Any, Final
from urllib.parse import quote

from core.formula.functions.catalogue import OMITTED, Argument, Takes, Work, function
from core.formula.values.coerce import to_text
from core.formula.values.criteria import wildcard
from core.formula.values.value import CALC, NA, VALUE, Array, Error, Failure, fold

TEXT_MAX: Final = 32_767
"""Characters of one text value; a longer result is #VALUE!."""

_TEXT: Final = Argument("text", Takes.TEXT, "The text.")
_OLD: Final = Argument("old_text", Takes.TEXT, "The text to change.")


def spread(text: str) -> str:
    """Return a text in the units that Excel counts, those of UTF-16.

    What lies beyond U+FFFF becomes a pair.
    """
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")))


def joined(text: str) -> str:
    """Return the opposite of `spread`; half a pair becomes U+FFFD."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bounded(text: str) -> str:
    """Return the text, if a cell can hold it."""
    if len(text) > TEXT_MAX or (not text.isascii() and len(spread(text)) > TEXT_MAX):
        raise Failure(VALUE)
    return text


def texts(argument: Any) -> Iterator[str]:
    """Yield the values of a RANGE as text, row by row; raise the first error."""
    for value in argument.cells() if isinstance(argument, Array) else (argument,):
        text = to_text(value)
        if isinstance(text, Error):
            raise Failure(text)
        yield text


def gathered(parts: Iterable[str]) -> str:
    """Return parts put together, as long as a cell can hold them."""
    kept: list[str] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > TEXT_MAX:
            raise Failure(VALUE)
        kept.append(part)
    return bounded("".join(kept))


# -- parts of a text


@function(
    "LENB", "text", "Counts the bytes of a text, which are its characters where every one takes one byte.", _TEXT,
    examples=(('=LENB("Excel")', 5.0),),
)  # fmt: skip
@function(
    "LEN", "text", "Counts the characters of a text.", _TEXT,
    work=Work(call=2_000, character=4_000, grows=0),
    examples=(('=LEN("apple pie")', 9.0),),
)  # fmt: skip
def length(text: str) -> float:
    return float(len(spread(text)))


_COUNT: Final = Argument("num_chars", Takes.INTEGER, "How many characters; 1 if left out.", required=False)


@function(
    "LEFTB", "text", "Takes bytes from the start of a text, as LEFT takes characters.", _TEXT, _COUNT,
    examples=(('=LEFTB("Sale Price",4)', "Sale"),),
)  # fmt: skip
@function(
    "LEFT", "text", "Takes characters from the start of a text.", _TEXT, _COUNT,
    work=Work(call=2_000, character=4_000),
    examples=(('=LEFT("Sale Price",4)', "Sale"), ("=LEFT(B1)", "a")),
)  # fmt: skip
def left(text: str, count: int = 1) -> str:
    if count < 0:
        raise Failure(VALUE)
    return joined(spread(text)[:count])


@function(
    "RIGHTB", "text", "Takes bytes from the end of a text, as RIGHT takes characters.", _TEXT, _COUNT,
    examples=(('=RIGHTB("Sale Price",5)', "Price"),),
)  # fmt: skip
@function(
    "RIGHT", "text", "Takes characters from the end of a text.", _TEXT, _COUNT,
    work=Work(call=2_000, character=4_000),
    examples=(('=RIGHT("Sale Price",5)', "Price"), ('=RIGHT("Stock Number")', "r")),
)  # fmt: skip
def right(text: str, count: int = 1) -> str:
    if count < 0:
        raise Failure(VALUE)
    units = spread(text)
    return joined(units[max(len(units) - count, 0) :])


_MID: Final = (
    _TEXT,
    Argument("start_num", Takes.INTEGER, "Where to begin; the first character is 1."),
    Argument("num_chars", Takes.INTEGER, "How many characters."),
)


@function(
    "MIDB", "text", "Takes bytes from inside a text, as MID takes characters.", *_MID,
    examples=(('=MIDB("Fluid Flow",7,20)', "Flow"),),
)  # fmt: skip
@function(
    "MID", "text", "Takes characters from inside a text.", *_MID,
    work=Work(call=2_000, character=4_000),
    examples=(('=MID("Fluid Flow",1,5)', "Fluid"), ('=MID("Fluid Flow",20,5)', "")),
)  # fmt: skip
def middle(text: str, start: int, count: int) -> str:
    if start < 1 or count < 0:
        raise Failure(VALUE)
    return joined(spread(text)[start - 1 : start - 1 + count])


_SEEK: Final = (
    Argument("find_text", Takes.TEXT, "What to look for."),
    Argument("within_text", Takes.TEXT, "Where to look for it."),
    Argument("start_num", Takes.INTEGER, "The character to begin at; 1 if left out.", required=False, empty=1),
)


@function(
    "FINDB", "text", "Finds a text by bytes, as FIND does by characters.", *_SEEK,
    examples=(('=FINDB("P","Sale Price")', 6.0),),
)  # fmt: skip
@function(
    "FIND", "text", "Finds a text inside another, letter for letter, and gives its place.", *_SEEK,
    work=Work(call=2_000, character=4_000, grows=0),
    examples=(('=FIND("M","Miriam McGovern")', 1.0), ('=FIND("M","Miriam McGovern",3)', 8.0)),
)  # fmt: skip
def find(sought: str, text: str, start: int = 1) -> float:
    units = spread(text)
    if not 1 <= start <= len(units) + 1:
        raise Failure(VALUE)
    at = units.find(spread(sought), start - 1)
    if at < 0:
        raise Failure(VALUE)
    return at + 1.0


@function(
    "SEARCHB", "text", "Finds a text by bytes, as SEARCH does by characters.", *_SEEK,
    examples=(('=SEARCHB("p","Sale Price")', 6.0),),
)  # fmt: skip
@function(
    "SEARCH", "text", "Finds a text inside another without regard to case; ? and * stand for any characters.", *_SEEK,
    examples=(('=SEARCH("e","Statements",6)', 7.0), ('=SEARCH("m*n","Profit Margin")', 8.0)),
)  # fmt: skip
def search(sought: str, text: str, start: int = 1) -> float:
    units = spread(text)
    if not 1 <= start <= len(units) + 1:
        raise Failure(VALUE)
    pattern = wildcard(spread(sought))
    at = pattern.search(units, start - 1) if pattern else fold(units).find(fold(spread(sought)), start - 1)
    if at < 0:
        raise Failure(VALUE)
    return at + 1.0


# -- changed text


@function(
    "SUBSTITUTE", "text", "Puts a new text in the place of an old one, everywhere or once.",
    Argument("text", Takes.TEXT, "The text to change."), Argument("old_text", Takes.TEXT, "What to replace."),
    Argument("new_text", Takes.TEXT, "What to put in its place."),
    Argument("instance_num", Takes.INTEGER, "Which occurrence; all if left out.", required=False),
    examples=(
        ('=SUBSTITUTE("Sales Data","Sales","Cost")', "Cost Data"),
        ('=SUBSTITUTE("Quarter 1, 2011","1","2",3)', "Quarter 1, 2012"),
    ),
)  # fmt: skip
def substitute(text: str, old: str, new: str, instance: int | None = None) -> str:
    if instance is not None and instance < 1:
        raise Failure(VALUE)
    if not old:
        return text
    if instance is None:
        if len(text) + text.count(old) * (len(new) - len(old)) > TEXT_MAX:
            raise Failure(VALUE)
        return bounded(text.replace(old, new))
    at = -len(old)
    for _ in range(min(instance, len(text) + 1)):
        at = text.find(old, at + len(old))
        if at < 0:
            return text
    return bounded(text[:at] + new + text[at + len(old) :])


_REPLACE: Final = (
    _OLD,
    Argument("start_num", Takes.INTEGER, "The first character to replace, from 1."),
    Argument("num_chars", Takes.INTEGER, "How many characters to replace."),
    Argument("new_text", Takes.TEXT, "What to put there."),
)


@function(
    "REPLACEB", "text", "Replaces bytes at a place, as REPLACE does characters.", *_REPLACE,
    examples=(('=REPLACEB("abcdefghijk",6,5,"*")', "abcde*k"),),
)  # fmt: skip
@function(
    "REPLACE", "text", "Replaces the characters at a place of a text.", *_REPLACE,
    examples=(('=REPLACE("abcdefghijk",6,5,"*")', "abcde*k"), ('=REPLACE("2009",3,2,"10")', "2010")),
)  # fmt: skip
def replace(text: str, start: int, count: int, new: str) -> str:
    if start < 1 or count < 0:
        raise Failure(VALUE)
    units = spread(text)
    return bounded(joined(units[: start - 1] + new + units[start - 1 + count :]))


@function(
    "UPPER", "text", "Turns letters into capitals.", _TEXT,
    work=Work(call=2_000, character=2_000, grows=3),
    examples=(('=UPPER("total")', "TOTAL"),),
)  # fmt: skip
def upper(text: str) -> str:
    if text.isascii():
        return text.upper()
    return "".join(_as_one_letter(character, character.upper()) for character in text)


@function(
    "LOWER", "text", "Turns capitals into small letters.", _TEXT,
    work=Work(call=2_000, character=2_000, grows=3),
    examples=(('=LOWER("Apt. 2B")', "apt. 2b"),),
)  # fmt: skip
def lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(_as_one_letter(character, character.lower()) for character in text)


def _as_one_letter(character: str, changed: str) -> str:
    """Excel changes a letter into one letter or leaves it: ß stays ß."""
    return changed if len(changed) == 1 else character


@function(
    "PROPER", "text", "Begins every word with a capital and goes on in small letters.", _TEXT,
    work=Work(call=2_000, character=2_000, grows=3),
    examples=(
        ('=PROPER("this is a TITLE")', "This Is A Title"), ('=PROPER("2-way street")', "2-Way Street"),
        ('=PROPER("76BudGet")', "76Budget"),
    ),
)  # fmt: skip
def proper(text: str) -> str:
    shown, inside = [], False
    for character in text:
        shown.append(_as_one_letter(character, character.lower() if inside else character.upper()))
        inside = character.isalpha()
    return "".join(shown)


@function(
    "TRIM", "text", "Drops blanks at both ends and leaves one between words.", _TEXT,
    work=Work(call=2_000, character=4_000),
    examples=(('=TRIM("  First   Quarter ")', "First Quarter"),),
)  # fmt: skip
def trim(text: str) -> str:
    return " ".join(word for word in text.split(" ") if word)


@function(
    "CLEAN", "text", "Drops the control characters of a text (codes 0 to 31).", _TEXT,
    examples=(('=CLEAN(CHAR(9)&"Monthly report"&CHAR(10))', "Monthly report"),),
)  # fmt: skip
def clean(text: str) -> str:
    return text if text.isprintable() else "".join(character for character in text if character > "\x1f")


@function(
    "REPT", "text", "Repeats a text.", _TEXT, Argument("number_times", Takes.INTEGER, "How often."),
    examples=(('=REPT("*-",3)', "*-*-*-"),),
)  # fmt: skip
def repeat(text: str, times: int) -> str:
    if times < 0 or len(text) * times > TEXT_MAX:
        raise Failure(VALUE)
    return bounded(text * times)


@function(
    "EXACT", "text", "Tells whether two texts are the same, capitals and small letters told apart.",
    Argument("text1", Takes.TEXT, "One text."), Argument("text2", Takes.TEXT, "The other."),
    work=Work(call=2_000, character=4_000, grows=0),
    examples=(('=EXACT("word","word")', True), ('=EXACT("Word","word")', False)),
)  # fmt: skip
def exact(first: str, second: str) -> bool:
    return first == second


@function(
    "T", "text", "Gives text as it is, and no text for anything else.",
    Argument("value", Takes.RANGE, "The value; of a range its first cell."),
    examples=(("=T(B1)", "apple"), ("=T(A1)", "")),
)  # fmt: skip
def only_text(value: Any) -> Any:
    if isinstance(value, Array):
        if value.reference is None:
            return Array(value.rows, value.columns, [_text_or_error(cell) for cell in value.cells()])
        value = value.at(0, 0)
    return _text_or_error(value)


def _text_or_error(value: Any) -> Any:
    return value if isinstance(value, str | Error) else ""


# -- joined text


@function(
    "CONCAT", "text", "Joins texts, and all cells of ranges.",
    Argument("text", Takes.RANGE, "A text, or cells to join row by row.", repeats=True),
    work=Work(call=2_000, cell=200, character=1_500),
    examples=(('=CONCAT("Don","t")', "Dont"), ("=CONCAT(B1:B2,A1)", "applebanana10")),
)  # fmt: skip
def concat(*arguments: Any) -> str:
    return gathered(text for argument in arguments for text in texts(argument))


@function(
    "CONCATENATE", "text", "Joins texts.", Argument("text", Takes.TEXT, "A text.", repeats=True),
    work=Work(call=2_000, cell=200, character=1_500),
    examples=(('=CONCATENATE(B1," ",A1)', "apple 10"),),
)  # fmt: skip
def concatenate(*parts: str) -> str:
    return bounded("".join(parts))


@function(
    "TEXTJOIN", "text", "Joins texts with a delimiter between them.",
    Argument("delimiter", Takes.RANGE, "What to put between; several are used in turn."),
    Argument("ignore_empty", Takes.LOGICAL, "TRUE leaves out empty cells and texts.", empty=True),
    Argument("text", Takes.RANGE, "A text, or cells to join row by row.", repeats=True),
    work=Work(call=2_000, cell=400, character=1_500, joins=True),
    examples=(('=TEXTJOIN(", ",TRUE,B1:B3)', "apple, banana, cherry"), ('=TEXTJOIN("-",FALSE,D3:D4)', "-text")),
)  # fmt: skip
def textjoin(delimiter: Any, ignore_empty: bool, *arguments: Any) -> str:
    between = list(texts(delimiter))
    chosen = (text for argument in arguments for text in texts(argument) if text or not ignore_empty)
    return gathered(
        part
        for place, text in enumerate(chosen)
        for part in ((between[(place - 1) % len(between)], text) if place else (text,))
    )


# -- split text


def _cuts(text: str, delimiters: list[str], any_case: bool) -> list[tuple[int, int]]:
    """Return (start, end) of every delimiter in a text, from left to right.

    At one place the longest counts.
    """
    if any_case:
        text, delimiters = fold(text), [fold(delimiter) for delimiter in delimiters]
    cuts: list[tuple[int, int]] = []
    at = 0
    waiting = [(text.find(delimiter), -len(delimiter), delimiter) for delimiter in set(delimiters)]
    waiting = [entry for entry in waiting if entry[0] >= 0]
    heapify(waiting)
    while waiting:
        start, size, delimiter = waiting[0]
        if start >= at:
            at = start - size
            cuts.append((start, at))
        following = text.find(delimiter, at)
        if following < 0:
            heappop(waiting)
        else:
            heapreplace(waiting, (following, size, delimiter))
    return cuts


def _divide(
    text: str, delimiter: Any, instance: Any, any_case: int, to_end: int, missing: Any
) -> tuple[str, str] | Any:
    """Return (what stands before, what stands after) the chosen delimiter.

    Else what is to be given for none.

    Excel rounds the instance down, and where it is given refuses a delimiter that is longer than the text.
    """
    delimiters = list(texts(delimiter))
    chosen = 1 if instance is OMITTED else floor(instance)
    if chosen == 0 or abs(chosen) > max(len(text), 1) + (1 if to_end else 0):
        raise Failure(VALUE)
    if instance is not OMITTED and not to_end and min(map(len, delimiters), default=0) > len(text):
        raise Failure(VALUE)
    if any_case not in (0, 1) or to_end not in (0, 1):
        raise Failure(VALUE)
    if "" in delimiters:
        return ("", text) if chosen > 0 else (text, "")
    cuts = _cuts(text, delimiters, bool(any_case))
    if to_end:
        cuts = [*cuts, (len(text), len(text))] if chosen > 0 else [(0, 0), *cuts]
    place = chosen - 1 if chosen > 0 else chosen
    if not -len(cuts) <= place < len(cuts):
        return NA if missing is OMITTED else "" if missing is None else missing
    start, end = cuts[place]
    return text[:start], text[end:]


_DIVIDE: Final = (
    _TEXT,
    Argument("delimiter", Takes.RANGE, "Where to cut; of several each counts."),
    Argument(
        "instance_num",
        Takes.NUMBER,
        "Which delimiter; negative counts from the end.",
        required=False,
        empty=OMITTED,
    ),
    Argument("match_mode", Takes.INTEGER, "1 disregards case.", required=False, empty=0),
    Argument("match_end", Takes.INTEGER, "1 takes the end of the text for a delimiter.", required=False, empty=0),
    Argument("if_not_found", Takes.ANY, "What to give where there is no delimiter.", required=False, empty=OMITTED),
)


@function(
    "TEXTBEFORE", "text", "Gives what stands before a delimiter.", *_DIVIDE,
    examples=(('=TEXTBEFORE("Red Hood, Red","Red",2)', "Red Hood, "), ('=TEXTBEFORE("a-b-c","-",-1)', "a-b")),
)  # fmt: skip
def textbefore(
    text: str, delimiter: Any, instance: Any = OMITTED, any_case: int = 0, to_end: int = 0, missing: Any = OMITTED
) -> Any:
    divided = _divide(text, delimiter, instance, any_case, to_end, missing)
    return divided[0] if isinstance(divided, tuple) else divided


@function(
    "TEXTAFTER", "text", "Gives what stands after a delimiter.", *_DIVIDE,
    examples=(('=TEXTAFTER("Red riding hood","riding")', " hood"), ('=TEXTAFTER("a-b-c","-",-1)', "c")),
)  # fmt: skip
def textafter(
    text: str, delimiter: Any, instance: Any = OMITTED, any_case: int = 0, to_end: int = 0, missing: Any = OMITTED
) -> Any:
    divided = _divide(text, delimiter, instance, any_case, to_end, missing)
    return divided[1] if isinstance(divided, tuple) else divided


@function(
    "TEXTSPLIT", "text", "Splits a text at delimiters into columns and rows.", _TEXT,
    Argument("col_delimiter", Takes.RANGE, "What parts columns; of several each counts.", empty=OMITTED),
    Argument("row_delimiter", Takes.RANGE, "What parts rows.", required=False, empty=OMITTED),
    Argument("ignore_empty", Takes.LOGICAL, "TRUE leaves out empty parts.", required=False),
    Argument("match_mode", Takes.INTEGER, "1 disregards case.", required=False, empty=0),
    Argument("pad_with", Takes.ANY, "What fills short rows; #N/A if left out.", required=False, empty=NA),
    examples=(
        ('=TEXTJOIN("|",TRUE,TEXTSPLIT("Dakota Lennon Sanchez"," "))', "Dakota|Lennon|Sanchez"),
        ('=COLUMNS(TEXTSPLIT("1,2;3,4",",",";"))', 2.0),
    ),
)  # fmt: skip
def textsplit(
    text: str, across: Any, down: Any = OMITTED, ignore_empty: bool = False, any_case: int = 0, pad: Any = NA
) -> Any:
    if any_case not in (0, 1) or (across is OMITTED and down is OMITTED):
        raise Failure(VALUE)
    lines = [text] if down is OMITTED else _split(text, down, any_case, ignore_empty)
    rows = [[line] if across is OMITTED else _split(line, across, any_case, ignore_empty) for line in lines]
    rows = [row for row in rows if row]
    width = max(map(len, rows), default=0)
    if not width:
        raise Failure(CALC)
    return Array(len(rows), width, [part for row in rows for part in (*row, *[pad] * (width - len(row)))])


def _split(text: str, delimiter: Any, any_case: int, ignore_empty: bool) -> list[str]:
    delimiters = list(texts(delimiter))
    if "" in delimiters:
        raise Failure(VALUE)
    parts, at = [], 0
    for start, end in [*_cuts(text, delimiters, bool(any_case)), (len(text), len(text))]:
        parts.append(text[at:start])
        at = end
    return [part for part in parts if part] if ignore_empty else parts


# -- other


@function(
    "ENCODEURL", "text", "Writes a text as it may stand in an address of the web.", _TEXT,
    examples=(('=ENCODEURL("a b/ü")', "a%20b%2F%C3%BC"),),
)  # fmt: skip
def encodeurl(text: str) -> str:
    return bounded(quote(text, safe="", errors="replace"))


@function(
    "HYPERLINK", "lookup", "Shows a link by its friendly name.",
    Argument("link_location", Takes.TEXT, "Where the link leads."),
    Argument("friendly_name", Takes.VALUE, "What is shown; the location if left out.", required=False),
    examples=(('=HYPERLINK("http://example.com","Report")', "Report"),),
)  # fmt: skip
def hyperlink(location: str, *name: Any) -> Any:
    if name:
        return 0.0 if name[0] is None else name[0]
    return location


@function(
    "PHONETIC", "text", "Gives the reading of Japanese text, which is the text itself where none is kept.",
    Argument("reference", Takes.RANGE, "The text or cells."),
    examples=(("=PHONETIC(B1)", "apple"),),
)  # fmt: skip
def phonetic(reference: Any) -> str:
    cells = reference.cells() if isinstance(reference, Array) else [reference]
    return gathered(cell for cell in cells if isinstance(cell, str))
