"""The front door for files: choose the reader by content, hold the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Unpack

from core.confined.table import Bounds
from core.files.archive import Archive
from core.files.calamine import read_xls, read_xlsb
from core.files.delimited import FORMATS, read_delimited
from core.files.encrypted import decrypted
from core.files.errors import FileRefused, FileTooLarge, InvalidFormat, NoTable, ParseFailed
from core.files.joined import WorkbookJoin
from core.files.kinds import EXTENSIONS, PLAIN_TEXT, WORKBOOK_KINDS, file_kind, sources_of, wanted_of
from core.files.limits import ENTRY_BYTES_MAX, FILES_MAX, NAME_CHARACTERS_MAX
from core.files.ods import read_ods
from core.files.probe import FileKind, Probe, SheetProbe
from core.files.source import Content, content_bytes
from core.files.spreadsheetml import read_spreadsheetml
from core.files.xlsx import probe_xlsx, read_xlsx
from core.grid.sheet import Workbook

PROBED_HERE_BYTES_MAX: Final = 4 * 1024 * 1024
"""An archive that unpacks to so little is looked at within 20 ms; the start of a child takes ten times as long."""

_READERS: Final[dict[FileKind, Callable[[Content], Workbook]]] = {
    "xlsx": read_xlsx, "xls": read_xls, "xlsb": read_xlsb, "ods": read_ods, "xml": read_spreadsheetml,
}  # fmt: skip
"""Of workbooks; a page and delimited text are one sheet, which their file gives its name."""

Source = tuple[str, Content]
"""A file's name, which its sheets may be called by, and its content."""

Finish = Callable[[Workbook], Workbook]
"""What becomes of each workbook before its sheets are joined to others: one with values in formulas without any."""


def as_it_is(book: Workbook) -> Workbook:
    """Return the workbook with the values that its file has."""
    return book


def read(path: Path | str, finish: Finish = as_it_is) -> Workbook:
    """Read a file of any kind that is known (`EXTENSIONS`), or a folder of such, whole, in this process.

    A file from a stranger belongs in `core.files.isolate.parse_isolated`.

    Raises:
        FileRefused: `InvalidFormat`, `FileTooLarge`, `TooManySheets` or `ParseFailed`, with the cause as its `hint`.
        OSError: the file cannot be opened.
    """
    return read_files(sources_of(Path(path)), finish)


def read_files(sources: Sequence[Source], finish: Finish = as_it_is) -> Workbook:
    """Return the workbook of one file or several, of any kinds.

    A sheet for each delimited text, by the name of its file, and all sheets of each workbook.

    A lone workbook is given as it is. Several files, and an archive, make one of values, without formulas. A sheet
    whose name is taken gets a number behind it. What cannot be a spreadsheet in an archive, and a text among several
    files that is no table, is named in `left_out`.

    Raises:
        FileRefused: as `read`; where there are several files, the hint begins with the name of the one that is refused.
        OSError: a file cannot be opened.
    """
    if not 1 <= len(sources) <= FILES_MAX:
        raise InvalidFormat(f"{len(sources)} files were given; 1 to {FILES_MAX} are read at once.")
    if len(sources) == 1:
        name, content = sources[0]
        kind, content = decrypted(content)
        if kind in _READERS:
            return finish(_READERS[kind](content))
    joined = WorkbookJoin()
    if len(sources) == 1:
        try:
            _add(joined, name, content, finish)
        except NoTable as refused:
            raise InvalidFormat(refused.hint) from refused
    else:
        for name, content in sources:
            _among_others(joined, name, "", partial(_add, joined, name, content, finish))
    if joined.is_empty:
        raise InvalidFormat("None of the files is a spreadsheet.")
    return joined.workbook()


_NO_DATA: Final[dict[str, type[InvalidFormat]]] = {
    ".txt": NoTable, ".htm": InvalidFormat, ".html": InvalidFormat, ".xml": InvalidFormat,
}  # fmt: skip
"""Files that often hold no data, by their names: the refusal that says so."""


def _among_others(joined: WorkbookJoin, name: str, where: str, add: Callable[[], bool]) -> bool:
    """Append a file that is one of several; whether it was.

    A letter among them (.txt), a page without a table and XML that is no workbook are left out.

    Raises:
        FileRefused: as `add` has it, with the file's name.
    """
    try:
        return add()
    except FileRefused as refused:
        if isinstance(refused, _NO_DATA.get(Path(name).suffix.lower(), ())):
            joined.left_out.append(name)
            return False
        refusal = InvalidFormat if isinstance(refused, NoTable) else type(refused)
        raise refusal(f"{name[:NAME_CHARACTERS_MAX]!r}{where}: {refused.hint}") from refused


def _add(joined: WorkbookJoin, name: str, content: Content, finish: Finish) -> bool:
    kind, content = decrypted(content)
    if kind == "zip":
        _add_archive(joined, content, finish)
    else:
        joined.add(finish(_book(name, content, kind)), name)
    return True


def _book(name: str, content: Content, kind: FileKind) -> Workbook:
    if kind in _READERS:
        return _READERS[kind](content)
    if kind == "pdf":
        from core.files.pdf import read_pdf  # its library takes memory that few files need

        return read_pdf(content_bytes(content))
    if kind == "html":
        from core.files.html import read_html  # its parser takes memory that few files need

        return read_html(content, _sheet_name(name))
    return Workbook((read_delimited(content_bytes(content), _sheet_name(name)),), number_formats=FORMATS)


def _sheet_name(name: str) -> str:
    """Return a file's name as a sheet's: no extension, nothing that does not print."""
    stem = Path(name).stem if Path(name).suffix.lower() in EXTENSIONS else name
    return "".join(sign for sign in stem if sign.isprintable()).strip()[:NAME_CHARACTERS_MAX] or "Sheet"


def _add_archive(joined: WorkbookJoin, content: Content, finish: Finish) -> None:
    """Append every file of an archive; the names in it are only names.

    Raises:
        InvalidFormat: it holds none that is a spreadsheet.
        ParseFailed: it holds another archive, or too many files.
    """
    with Archive(content) as archive:
        names = [entry.name for entry in archive.entries if _is_file(entry.name)]
        if len(names) > FILES_MAX:
            raise ParseFailed(f"The archive holds {len(names):,} files; the limit is {FILES_MAX}.")
        added = 0
        wanted = wanted_of([path for path in names if archive.size_of(path) > 0])
        for path in names:
            name = path.rpartition("/")[2]
            if path not in wanted:
                joined.left_out.append(name)
                continue
            add = partial(_add_entry, joined, name, archive, path, finish)
            added += _among_others(joined, name, " in the archive", add)
    if not added:
        raise InvalidFormat("The file is a zip archive, but no workbook, and holds none.")


def _add_entry(joined: WorkbookJoin, name: str, archive: Archive, path: str, finish: Finish) -> bool:
    if archive.size_of(path) > ENTRY_BYTES_MAX:
        raise FileTooLarge(f"It unpacks to {archive.size_of(path):,} bytes; the limit is {ENTRY_BYTES_MAX:,}.")
    kind, content = decrypted(b"".join(archive.chunks(path)), bytes_max=ENTRY_BYTES_MAX)
    if kind == "zip":
        raise ParseFailed("It is an archive itself; archives in archives are not opened.")
    joined.add(finish(_book(name, content, kind)), name)
    return True


def _is_file(name: str) -> bool:
    """Return whether an entry is a file of the user's.

    No folder, and nothing that systems leave beside files.
    """
    return not name.endswith("/") and not name.startswith("__MACOSX/") and not name.rpartition("/")[2].startswith(".")


def probe(path: Path | str, *, file_name: str | None = None, **bounds: Unpack[Bounds]) -> Probe:
    """Look at an uploaded workbook (.xlsx, .xlsm, .xls, by whichever name) without keeping it: kind, archive, limits,
    each sheet's extent.

    What could take long, a large archive (about 5 s per GB unpacked) and all that is read whole (.xls, SpreadsheetML,
    pages, what is encrypted), is looked at in a child process within these bounds. `file_name` is what its user called
    it.

    Raises:
        FileRefused: as `read`; `InvalidFormat` also for another kind of file than a workbook.
        OSError: the file cannot be opened.
    """
    path = Path(path)
    kind = _workbook_kind(path)
    if kind == "xlsx" and _unpacked_bytes(path) <= PROBED_HERE_BYTES_MAX:
        return probe_xlsx(path)
    from core.files.isolate import probe_isolated  # the child reads too, and starts no child

    return probe_isolated(path, kind, name=file_name or path.name, **bounds)


NO_WORKBOOKS: Final[dict[FileKind, str]] = {
    "xlsb": "The file is a binary workbook (.xlsb); save it as .xlsx.",
    "ods": "The file is an OpenDocument file; save it as .xlsx.",
    "pdf": "The file is a PDF document, whatever its name says.",
    "csv": PLAIN_TEXT,
    "zip": "The file is a zip archive, but no workbook.",
}
"""What is read, and not kept as a workbook with its formulas."""


def _workbook_kind(content: Content) -> FileKind:
    kind = file_kind(content)
    if kind not in WORKBOOK_KINDS:
        raise InvalidFormat(NO_WORKBOOKS[kind])
    return kind


def _unpacked_bytes(path: Path) -> int:
    with Archive(path) as archive:
        return sum(entry.unpacked_bytes for entry in archive.entries)


def sheets_of(path: Path, name: str) -> list[SheetProbe]:
    """Return the worksheets of a file that is called `name`, looked at in this process.

    Raises:
        FileRefused: as `read`.
    """
    _, content = decrypted(path)
    kind = _workbook_kind(content)
    if kind == "xlsx":
        return list(probe_xlsx(content).sheets)
    return [
        SheetProbe(sheet.name, sheet.index, sheet.state, sheet.row_count, sheet.column_count)
        for sheet in _book(name, content, kind).sheets
    ]
