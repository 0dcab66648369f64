"""The front door for files: choose the reader by content, hold the limits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from core.confined.table import PROBE
from core.files.archive import Archive
from core.files.container import SIGNATURE, open_container
from core.files.errors import FileTooLarge, InvalidFormat, ParseFailed
from core.files.limits import FILE_BYTES_MAX, NAME_CHARACTERS_MAX
from core.files.probe import FileKind, Probe, SheetProbe
from core.files.xls import read_xls
from core.files.xlsx import probe_xlsx, read_xlsx
from core.grid.sheet import Workbook

_EXTENSIONS: Final[dict[str, FileKind]] = {".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xls"}

PROBED_HERE_BYTES_MAX: Final = 4 * 1024 * 1024
"""An archive that unpacks to so little is looked at within 20 ms; the start of a child takes ten times as long."""

_LOOKS: Final = (
    (re.compile(rb"%PDF-"), "The file is a PDF document, whatever its name says."),
    (re.compile(rb"\s*<(!doctype\s+)?html|\s*<table", re.I), "The file is a web page, whatever its name says."),
    (re.compile(rb"\s*<\?xml"), "The file is an XML document; save it as .xlsx."),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"), "The file is a picture, whatever its name says."),
    (re.compile(rb"[\x20-\x7e\t\r\n\x80-\xff]+\Z"), "The file is plain text; open it in Excel and save it as .xlsx."),
)
"""What a refused file seems to be, by its first bytes."""


def read(path: Path | str) -> Workbook:
    """Read a spreadsheet file (.xlsx, .xlsm, .xls) whole, in this process.

    A file from a stranger belongs in `core.files.isolate.parse_isolated`.

    Raises:
        FileRefused: `InvalidFormat`, `FileTooLarge`, `TooManySheets` or `ParseFailed`, with the cause as its `hint`.
        OSError: the file cannot be opened.
    """
    return read_xlsx(path) if file_kind(path) == "xlsx" else read_xls(path)


def probe(
    path: Path | str,
    *,
    file_name: str | None = None,
    memory_bytes_max: int = PROBE.memory_bytes_max,
    seconds_max: float = PROBE.seconds_max,
) -> Probe:
    """Look at an uploaded file without keeping it: kind, archive, limits, and each sheet's true extent.

    What could take long, an .xls file (which is read whole) or a large archive (about 5 s per GB unpacked), is looked
    at in a child process within these limits. `file_name` is the name that the user gave.

    Raises:
        FileRefused: as `read`; `InvalidFormat` also for a name that is no plain file name or does not fit the content.
        OSError: the file cannot be opened.
    """
    named = None if file_name is None else check_file_name(file_name)
    kind = file_kind(path)
    if named is not None and named != kind:
        raise InvalidFormat(f"The file's name ends in {Path(file_name or '').suffix!r}, but its content is .{kind}.")
    if kind == "xlsx" and _unpacked_bytes(path) <= PROBED_HERE_BYTES_MAX:
        return probe_xlsx(path)
    from core.files.isolate import probe_isolated  # the child reads too, and starts no child

    return probe_isolated(path, kind, memory_bytes_max=memory_bytes_max, seconds_max=seconds_max)


def _unpacked_bytes(path: Path | str) -> int:
    with Archive(path) as archive:
        return sum(entry.unpacked_bytes for entry in archive.entries)


def sheets_of(path: Path) -> list[SheetProbe]:
    """The worksheets of a file, looked at in this process.

    Raises:
        FileRefused: as `read`.
    """
    if file_kind(path) == "xlsx":
        return list(probe_xlsx(path).sheets)
    return [
        SheetProbe(sheet.name, sheet.index, sheet.state, sheet.row_count, sheet.column_count)
        for sheet in read_xls(path).sheets
    ]


def check_file_name(name: str) -> FileKind:
    """The kind that a user's file name promises.

    Raises:
        InvalidFormat: a path, control characters, too long, or another extension.
    """
    if not name or len(name) > NAME_CHARACTERS_MAX:
        raise InvalidFormat(f"A file's name has 1 to {NAME_CHARACTERS_MAX} characters.")
    if "/" in name or "\\" in name or any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise InvalidFormat("A file's name holds no slashes, backslashes or control characters.")
    kind = _EXTENSIONS.get(Path(name).suffix.lower())
    if kind is None:
        raise InvalidFormat("The file's name must end in .xlsx, .xlsm or .xls.")
    return kind


def file_kind(path: Path | str) -> FileKind:
    """The kind of a file by its content.

    Raises:
        FileTooLarge: past the limit.
        InvalidFormat: not a spreadsheet.
        ParseFailed: password-protected or damaged.
    """
    path = Path(path)
    size = path.stat().st_size
    if size == 0:
        raise InvalidFormat("The file is empty.")
    if size > FILE_BYTES_MAX:
        raise FileTooLarge(f"The file has {size:,} bytes; the limit is {FILE_BYTES_MAX:,}.")
    with path.open("rb") as file:
        head = file.read(512)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "xlsx"
    if head[:8] != SIGNATURE:
        hint = next((hint for look, hint in _LOOKS if look.match(head)), "The file is not a spreadsheet.")
        raise InvalidFormat(hint)
    container = open_container(path)
    if container.is_protected:
        raise ParseFailed("The file is password-protected; remove the password and upload it again.")
    if not container.is_workbook:
        raise InvalidFormat("The file is an older Office document, but no workbook.")
    return "xls"
