"""Sheets to delimited text (RFC 4180), one to a file, several to a ZIP archive.

Each row is a line with a field for every column, ended by CR LF. Numbers are in the shortest form that reads back,
moments in ISO 8601 by what their number format shows, booleans TRUE and FALSE, errors their text, blanks nothing; an
empty text is "". Formulas give their last values.

A spreadsheet that opens such a file calculates every field that looks like a formula, quoted or not, so such texts are
guarded by an apostrophe: what begins with = + - @ or a full-width or small twin of them, quotes, blanks and what is not
seen passed over, and what begins with a tab or a line end. A text that is wholly a number with a minus sign (-5.25) is
left as it is, and so is one of nothing but hyphens where fields are not parted by tabs; +44 20 7946 0000 is guarded.
A program that takes another character for the delimiter begins a new cell at a semicolon, tab, comma, bar or line end
within a text, whatever the quotes, so an apostrophe is put there too if a formula would follow. A first text `sep=` is
guarded, since it names another delimiter, and one that begins with ID or < is quoted, lest the file be taken for
another kind.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from core.files.limits import WRITTEN_BYTES_MAX
from core.files.write._texts import CsvLines
from core.files.write._texts import guarded as guarded
from core.files.write.deflated import part, zip_writer
from core.files.write.texts import Sink, pieces, shows_of
from core.grid.sheet import Sheet, Workbook

DELIMITERS: Final = ",;|~\t"
"""What may part fields: nothing that stands in a number or a date, and no operator of a formula. Parted by & or ^, the
line of a program that takes it for one cell may be a formula: -5&NAME(A1)."""

ENCODINGS: Final = {
    "utf-8-sig": ("utf-8", codecs.BOM_UTF8),
    "utf-8": ("utf-8", b""),
    "utf-16": ("utf-16-le", codecs.BOM_UTF16_LE),
    "utf-16-le": ("utf-16-le", b""),
    "utf-16-be": ("utf-16-be", b""),
    "ascii": ("ascii", b""),
    "latin-1": ("latin-1", b""),
    "iso-8859-15": ("iso-8859-15", b""),
    "cp1250": ("cp1250", b""),
    "cp1252": ("cp1252", b""),
}
"""The encodings by their names -> Python's codec and the mark that the file begins with."""

_ALSO_CALLED: Final = {
    "utf8": "utf-8", "utf16": "utf-16", "us-ascii": "ascii", "latin1": "latin-1", "iso-8859-1": "latin-1",
    "windows-1250": "cp1250", "windows-1252": "cp1252",
}  # fmt: skip


_LIKE_ASCII: Final = {"ascii", "latin-1", "iso-8859-15", "cp1250", "cp1252"}
"""Codecs of one byte a character, the first 128 those of ASCII."""

_NO_FILE: Final = frozenset('/\\:*?"<>|')
_NO_BEGINNING: Final = frozenset(".-~=+@")
"""Of a file's name: hidden ones, options and home folders to a shell, formulas where names are pasted."""
_NAME_BYTES_MAX: Final = 120
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|\Z)", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class DelimitedResult:
    """A sheet that was written as delimited text."""

    sheet: str
    size_bytes: int
    guarded: int
    """Cells whose text got an apostrophe, so that no spreadsheet calculates it."""
    replaced: int
    """Characters that the encoding lacks; a question mark stands for each."""


def checked_delimiter(delimiter: str) -> str:
    """Return a delimiter that may be used.

    Raises:
        ValueError: it may not.
    """
    if len(delimiter) != 1 or delimiter not in DELIMITERS:
        raise ValueError("a delimiter is a tab or one of , ; | ~")
    return delimiter


def checked_encoding(encoding: str) -> str:
    """Return the name in `ENCODINGS` of an encoding, whose case and underscores do not matter.

    Raises:
        ValueError: it is none of them.
    """
    name = encoding.lower().replace("_", "-")
    name = _ALSO_CALLED.get(name, name)
    if name not in ENCODINGS:
        raise ValueError(f"an encoding is one of {', '.join(ENCODINGS)}")
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How fields are parted and characters become bytes.

    Raises:
        ValueError: a delimiter or an encoding that cannot be used.
    """

    delimiter: str = ","
    encoding: str = "utf-8-sig"

    def __post_init__(self) -> None:
        checked_delimiter(self.delimiter)
        checked_encoding(self.encoding)


def write_csv(
    stream: IO[bytes], sheet: Sheet, number_formats: Sequence[str], *, dialect: Dialect, date_1904: bool = False
) -> DelimitedResult:
    """Write one sheet; `number_formats` are its workbook's.

    Raises:
        ValueError: text past `WRITTEN_BYTES_MAX`.
        OSError: the stream cannot be written.
    """
    return _write_sheet(Sink(stream.write), sheet, shows_of(number_formats), dialect, date_1904)


def write_csv_zip(stream: IO[bytes], book: Workbook, *, dialect: Dialect) -> tuple[DelimitedResult, ...]:
    """Write all sheets of a workbook into an archive, a file for each.

    The bytes depend on the arguments alone.

    Raises:
        ValueError: text past `WRITTEN_BYTES_MAX`, before it is packed.
        OSError: the stream cannot be written.
    """
    shows = shows_of(book.number_formats)
    left = WRITTEN_BYTES_MAX
    sizes = []
    with zip_writer(stream) as archive:
        for sheet, name in zip(book.sheets, file_names([sheet.name for sheet in book.sheets]), strict=True):
            with part(archive, f"{name}.csv") as put:
                sizes.append(_write_sheet(Sink(put, left), sheet, shows, dialect, book.date_1904))
            left -= sizes[-1].size_bytes
    return tuple(sizes)


def _write_sheet(
    sink: Sink, sheet: Sheet, shows: NDArray[np.uint8], dialect: Dialect, date_1904: bool
) -> DelimitedResult:
    codec, mark = ENCODINGS[checked_encoding(dialect.encoding)]
    sink.require(sheet.row_count * sheet.column_count)
    sink.write(mark)
    lines = CsvLines(sheet.text, shows, date_1904, dialect.delimiter)
    replaced = 0
    for piece in pieces(lines, sheet):
        if codec == "utf-8" or (codec in _LIKE_ASCII and piece.isascii()):
            sink.write(piece)
            continue
        text = piece.decode()
        encoded = text.encode(codec, "replace")
        if codec in _LIKE_ASCII:
            replaced += encoded.count(b"?") - text.count("?")
        sink.write(encoded)
    return DelimitedResult(sheet=sheet.name, size_bytes=sink.size_bytes, guarded=lines.guarded, replaced=replaced)


# Names of files ------------------------------------------------------------------------------------------------------


def file_names(names: Iterable[str]) -> list[str]:
    """Return names of sheets as names of files, without an extension.

    None that a system refuses, hides, takes for a folder or a device, and no two that one takes for the same.
    """
    taken: set[str] = set()
    free_names = []
    for name in names:
        safe = _file_name(name)
        count, free = 1, safe
        while unicodedata.normalize("NFKC", free).casefold() in taken:
            count += 1
            free = f"{safe} ({count})"
        taken.add(unicodedata.normalize("NFKC", free).casefold())
        free_names.append(free)
    return free_names


def _file_name(name: str) -> str:
    shown = "".join("_" if character in _NO_FILE or not character.isprintable() else character for character in name)
    # Cut by bytes, as most systems count; what stands at the end must not be half a character.
    cut = shown.encode("utf-8", "replace")[:_NAME_BYTES_MAX].decode("utf-8", "ignore").rstrip(". ").lstrip()
    safe = f"_{cut[1:]}" if cut[:1] in _NO_BEGINNING else cut
    return f"_{safe}" if not safe or _DEVICE.match(safe) else safe
