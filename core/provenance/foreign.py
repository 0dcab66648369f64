"""XML of which one program reads other cells than the next: a file that has some is not what its hash says.

A spreadsheet skips elements of namespaces that it does not know where a file lets it, and takes one of several that a
file offers; the reader here goes by names without their namespaces. What spreadsheet programs write never differs so:
rows, cells and strings stand in the namespace of their part, without comments, and a workbook's sheets do, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.files.archive import Archive
from core.files.parts import parse_part, utf8_chunks

LINKS: Final = frozenset(
    f"{home}/officeDocument/{last}relationships"
    for home, last in (("http://schemas.openxmlformats.org", "2006/"), ("http://purl.oclc.org/ooxml", ""))
)
"""Namespaces of the identifiers by which a workbook names its sheets' parts."""

_READ: Final = frozenset({"sheets", "sheet", "workbookPr", "definedNames", "definedName", "Relationship"})
"""Elements of the small parts that say which cells there are, and their attributes."""
_SAYS: Final = frozenset({"name", "id", "state", "date1904", "localSheetId", "Id", "Target", "TargetMode", "Type"})

_HEAD_BYTES: Final = 64 * 1024
"""In which a part's root stands."""

_PREFIX: Final = rb"(?:[^\s<>/!?:\"'=]+:)?"
_ROOT: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*\?>\s*)*<(" + _PREFIX + rb")([^\s<>/!?:\"'=]+)")
_BEGIN: Final = re.compile(rb"<(" + _PREFIX + rb")sheetData(\s*/?>)?")
_END: Final = re.compile(rb"</" + _PREFIX + rb"sheetData\s*>")
_REDECLARED: Final = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*?\sxmlns\s*[:=]")


def ambiguous_part(archive: Archive) -> str | None:
    """The name of a part whose cells, strings or sheets programs may read differently; None where there is none.

    Raises:
        ParseFailed: a part is damaged.
    """
    for entry in archive.entries:
        name = entry.name.lower()
        is_asked = name.endswith((".xml", ".rels")) and not name.startswith(("customxml/", "docprops/"))
        if is_asked and _is_ambiguous(utf8_chunks(archive.chunks(entry.name), entry.name)):
            return entry.name
    return None


def _is_ambiguous(chunks: Iterator[bytes]) -> bool:
    head = b""
    while len(head) < _HEAD_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    root = _ROOT.match(head)
    if root is None:  # a comment before it, which no program writes
        return True
    prefix, name = root[1], root[2]
    if name in (b"workbook", b"Relationships"):
        return _names_ambiguously(head + b"".join(chunks))
    if name not in (b"worksheet", b"sst"):
        return False
    cells = _Cells(prefix, is_strings=name == b"sst")
    return any(map(cells.is_ambiguous, _whole_tags(head[root.end() :], chunks)))


def _names_ambiguously(data: bytes) -> bool:
    inside: list[str] = []
    found = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal found
        namespace, _, local = name.rpartition("}")
        inside.append(namespace)
        if local in _READ:
            said = [key.rpartition("}") for key in attributes]
            found |= any(home != inside[0] for home in inside)
            found |= any(home not in ("", *LINKS) and word in _SAYS for home, _, word in said)
            found |= [word for _, _, word in said].count("id") > 1

    def end(_: str) -> None:
        inside.pop()

    parse_part(data, "The workbook part", start, end=end, qualified=True)
    return found


def _whole_tags(piece: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of a part in pieces that end in no tag."""
    for chunk in chunks:
        cut = max(piece.rfind(b"<"), 0)
        yield piece[:cut]
        piece = piece[cut:] + chunk
    yield piece


class _Cells:
    """The rows of a sheet, or the strings of a workbook, as they go by."""

    def __init__(self, prefix: bytes, *, is_strings: bool) -> None:
        foreign = b"(?![/!?]|" + re.escape(prefix) + b")" if prefix else _PREFIX[:-1]
        self.strange = re.compile(b"<" + foreign + rb"|<[!?]")
        self.prefix = prefix
        self.inside = self.met = is_strings

    def is_ambiguous(self, piece: bytes) -> bool:
        """Whether the next piece has something in it that may be read differently."""
        while piece:
            if self.inside:
                end = _END.search(piece)
                rows = piece if end is None else piece[: end.start()]
                if self.strange.search(rows) or (b"xmlns" in rows and _REDECLARED.search(rows)):
                    return True
                if end is None:
                    break
                self.inside, piece = False, piece[end.end() :]
            elif (begin := _BEGIN.search(piece)) is None:
                break
            elif self.met or begin[1] != self.prefix or begin[2] is None:
                return True
            else:
                self.met, self.inside, piece = True, begin[2].strip() == b">", piece[begin.end() :]
        return False
