"""Which kind of file something is: by its content, and by the name that a user gives it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from core.files import ods
from core.files.archive import Archive
from core.files.calamine import BINARY_BOOK
from core.files.container import SIGNATURE, open_container
from core.files.errors import InvalidFormat, ParseFailed
from core.files.limits import FILE_BYTES_MAX, FILES_MAX, NAME_CHARACTERS_MAX
from core.files.probe import FileKind
from core.files.source import Content, checked_size, opened

WORKBOOK_EXTENSIONS: Final[dict[str, FileKind]] = {".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xls"}
"""Those of a workbook that is kept with its formulas."""

EXTENSIONS: Final[dict[str, FileKind]] = WORKBOOK_EXTENSIONS | {
    ".xlsb": "xlsb", ".ods": "ods", ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".zip": "zip",
}  # fmt: skip
"""Those of every file that is read."""

_LOOKS: Final = (
    (re.compile(rb"%PDF-"), "The file is a PDF document, whatever its name says."),
    (re.compile(rb"\s*<(!doctype\s+)?html|\s*<table", re.I), "The file is a web page, whatever its name says."),
    (re.compile(rb"\s*<\?xml"), "The file is an XML document; save it as .xlsx."),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"), "The file is a picture, whatever its name says."),
)
"""What a refused file seems to be, by its first bytes."""

_TEXT: Final = re.compile(rb"[\x09-\x0d\x20-\x7e\x80-\xff]+\Z")
_WIDE_TEXT: Final = re.compile(rb"\xff\xfe|\xfe\xff|(?:[\x09-\x0d\x20-\x7e]\0){2}|(?:\0[\x09-\x0d\x20-\x7e]){2}")
"""How text in UTF-16 begins."""

PLAIN_TEXT: Final = "The file is plain text; open it in Excel and save it as .xlsx."

_DOCUMENTS: Final = {
    "word/document.xml": "The file is a text document (.docx), not a spreadsheet.",
    "ppt/presentation.xml": "The file is a presentation (.pptx), not a spreadsheet.",
}
"""What else an archive may be, by a part that gives it away."""


def file_kind(content: Content, *, bytes_max: int = FILE_BYTES_MAX) -> FileKind:
    """The kind of a file by its content.

    Raises:
        FileTooLarge: past the limit.
        InvalidFormat: neither a spreadsheet nor text nor an archive.
        ParseFailed: password-protected or damaged.
        OSError: the file cannot be opened.
    """
    checked_size(content, bytes_max=bytes_max)
    with opened(content) as file:
        head = file.read(512)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _archive_kind(content)
    if head[:8] == SIGNATURE:
        container = open_container(content)
        if container.is_protected:
            raise ParseFailed("The file is password-protected; remove the password and upload it again.")
        if not container.is_workbook:
            raise InvalidFormat("The file is an older Office document, but no workbook.")
        return "xls"
    if hint := next((hint for look, hint in _LOOKS if look.match(head)), None):
        raise InvalidFormat(hint)
    if _WIDE_TEXT.match(head) or _TEXT.match(head):
        return "csv"
    raise InvalidFormat("The file is not a spreadsheet.")


def _archive_kind(content: Content) -> FileKind:
    with Archive(content) as archive:
        for part, hint in _DOCUMENTS.items():
            if part in archive:
                raise InvalidFormat(hint)
        if BINARY_BOOK in archive:
            return "xlsb"
        if ods.CONTENT in archive:
            return "ods"
        return "xlsx" if "[Content_Types].xml" in archive or "_rels/.rels" in archive else "zip"


def stem_of(name: str) -> str:
    """A workbook's name, which is that of its file where nobody gave it another, without the extension."""
    stem, _, extension = name.rpartition(".")
    return stem if stem and f".{extension.lower()}" in EXTENSIONS else name


def check_file_name(name: str, extensions: dict[str, FileKind] = WORKBOOK_EXTENSIONS) -> FileKind:
    """The kind that a user's file name promises, by one of some extensions.

    Raises:
        InvalidFormat: a path, control characters, too long, or another extension.
    """
    if not name or len(name) > NAME_CHARACTERS_MAX:
        raise InvalidFormat(f"A file's name has 1 to {NAME_CHARACTERS_MAX} characters.")
    if "/" in name or "\\" in name or any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise InvalidFormat("A file's name holds no slashes, backslashes or control characters.")
    kind = extensions.get(Path(name).suffix.lower())
    if kind is None:
        *most, last = extensions
        raise InvalidFormat(f"The file's name must end in {', '.join(most)} or {last}.")
    return kind


def sources_of(path: Path) -> list[tuple[str, Path]]:
    """A file by its name; of a folder those of its own files that have a known extension, in the order of their names.

    Raises:
        InvalidFormat: a folder without such a file, or with more than the limit.
        OSError: it cannot be opened.
    """
    if not path.is_dir():
        return [(path.name, path)]
    found = sorted(
        one for one in path.iterdir() if one.suffix.lower() in EXTENSIONS and one.is_file() and one.name[0] not in ".~"
    )
    if not found:
        raise InvalidFormat(f"The folder holds no file that ends in {', '.join(EXTENSIONS)}.")
    if len(found) > FILES_MAX:
        raise InvalidFormat(f"The folder holds more files than the limit of {FILES_MAX}.")
    return [(one.name, one) for one in found]
