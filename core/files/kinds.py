"""Which kind of file something is.

By its content, and by the name that a user gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from core.files import ods
from core.files.archive import Archive
from core.files.calamine import BINARY_BOOK
from core.files.container import SIGNATURE, open_container
from core.files.errors import InvalidFormat
from core.files.limits import FILE_BYTES_MAX, FILES_MAX, NAME_CHARACTERS_MAX
from core.files.probe import FileKind
from core.files.source import Content, checked_size, opened

WORKBOOK_EXTENSIONS: Final = (".xlsx", ".xlsm", ".xls")
"""What the name of a workbook ends in."""

WORKBOOK_KINDS: Final[frozenset[FileKind]] = frozenset({"xlsx", "xls", "xml", "html", "encrypted"})
"""What files by these names may be."""

EXTENSIONS: Final = (
    *WORKBOOK_EXTENSIONS,
    ".xlsb",
    ".ods",
    ".xml",
    ".htm",
    ".html",
    ".pdf",
    ".csv",
    ".tsv",
    ".txt",
    ".zip",
)
"""What the name of any file that is read ends in; which kind it is, its content says."""

_LOOKS: Final = (
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"), "The file is a picture, whatever its name says."),
    (
        re.compile(rb"MIME-Version:", re.I),
        "The file is a web archive (.mht), whatever its name says; open it in Excel and save it as .xlsx.",
    ),
)
"""What a refused file seems to be, by its first bytes."""

_PDF: Final = b"%PDF-"
"""How a PDF begins; its readers look for the mark in the first 1,024 bytes (ISO 32000-1, annex H, note 13)."""

_HEAD_BYTES: Final = 4_096
_TEXT_BYTES: Final = 512
_MARK_BYTES: Final = 1_024
_SPREADSHEETML: Final = re.compile(r"<(?:\w+:)?Workbook\s[^>]*urn:schemas-microsoft-com:office:spreadsheet")
_HTML: Final = re.compile(
    r"(?:<\?xml[^>]*>|<!--.*?-->|\s)*+"
    r"<(?:!doctype\s+html|(?:html|head|body|table|meta|style|title|div|p|center|font|h[1-6]|form|link|base|script|span"
    r"|b|br|hr|thead|tbody|tr)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""How marked-up text begins that may hold tables."""

_WIDE_MARKUP: Final = re.compile(rb"(\xff\xfe|\xfe\xff)|\s*<\0")
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
    """Return the kind of a file by its content.

    Raises:
        FileTooLarge: past the limit.
        InvalidFormat: neither a spreadsheet nor a PDF nor text nor an archive.
        ParseFailed: a damaged archive or container.
        OSError: the file cannot be opened.
    """
    checked_size(content, bytes_max=bytes_max)
    with opened(content) as file:
        head = file.read(_HEAD_BYTES)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _archive_kind(content)
    if head[:8] == SIGNATURE:
        container = open_container(content)
        if container.is_protected:
            return "encrypted"
        if not container.is_workbook:
            raise InvalidFormat("The file is an older Office document, but no workbook.")
        return "xls"
    if _PDF in head[:_MARK_BYTES]:
        return "pdf"
    if hint := next((hint for look, hint in _LOOKS if look.match(head)), None):
        raise InvalidFormat(hint)
    if (kind := _markup_kind(head)) is not None:
        return kind
    if _WIDE_TEXT.match(head) or _TEXT.match(head[:_TEXT_BYTES]):
        return "csv"
    raise InvalidFormat("The file is not a spreadsheet.")


def _markup_kind(head: bytes) -> FileKind | None:
    """Return the kind of a file that begins as XML or a web page does.

    None for another.

    Raises:
        InvalidFormat: XML that is no workbook.
    """
    wide = _WIDE_MARKUP.match(head)
    text = head.decode("utf-16" if wide and wide[1] else "utf-16-le", "ignore") if wide else head.decode("latin-1")
    text = text.removeprefix("\ufeff").removeprefix("ï»¿").lstrip()  # the mark of UTF-8, read byte by byte
    if not text.startswith("<"):
        return None
    if _SPREADSHEETML.search(text):
        return "xml"
    if _HTML.match(text) or (text.startswith("<!--") and "-->" not in text):
        return "html"
    if text.startswith("<?xml"):
        raise InvalidFormat("The file is an XML document, but no workbook; save it as .xlsx.")
    return None


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
    """Return a workbook's name, which is that of its file where nobody gave it another, without the extension."""
    stem, _, extension = name.rpartition(".")
    return stem if stem and f".{extension.lower()}" in EXTENSIONS else name


def check_file_name(name: str, extensions: Sequence[str] = WORKBOOK_EXTENSIONS) -> None:
    """Refuse a user's file name that ends in none of some extensions.

    What the file is, only its content says.

    Raises:
        InvalidFormat: a path, control characters, too long, or another extension.
    """
    if not name or len(name) > NAME_CHARACTERS_MAX:
        raise InvalidFormat(f"A file's name has 1 to {NAME_CHARACTERS_MAX} characters.")
    if "/" in name or "\\" in name or any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise InvalidFormat("A file's name holds no slashes, backslashes or control characters.")
    if Path(name).suffix.lower() not in extensions:
        *most, last = extensions
        raise InvalidFormat(f"The file's name must end in {', '.join(most)} or {last}.")


def wanted_of(names: Iterable[str]) -> set[str]:
    """Return which files of an archive or a folder are read.

    These are the ones with a known extension. A trustee prints what it sends as a spreadsheet, too:
    beside one a PDF is left out.
    """
    known = {name: suffix for name in names if (suffix := Path(name).suffix.lower()) in EXTENSIONS}
    has_spreadsheet = any(suffix not in _OFTEN_LETTERS for suffix in known.values())
    return {name for name, suffix in known.items() if suffix != ".pdf" or not has_spreadsheet}


_OFTEN_LETTERS: Final = (".pdf", ".txt", ".htm", ".html", ".xml")
"""Extensions of files that may hold no table, beside which a PDF is read."""


def sources_of(path: Path) -> list[tuple[str, Path]]:
    """Return a file by its name.

    Of a folder those of its own files that have a known extension, in the order of their names.

    Raises:
        InvalidFormat: a folder without such a file, or with more than the limit.
        OSError: it cannot be opened.
    """
    if not path.is_dir():
        return [(path.name, path)]
    own = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] not in ".~")
    wanted = wanted_of([each.name for each in own])
    paths = [each for each in own if each.name in wanted]
    if not paths:
        raise InvalidFormat(f"The folder holds no file that ends in {', '.join(EXTENSIONS)}.")
    if len(paths) > FILES_MAX:
        raise InvalidFormat(f"The folder holds more files than the limit of {FILES_MAX}.")
    return [(each.name, each) for each in paths]
