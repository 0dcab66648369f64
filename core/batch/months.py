"""Which files make a month of a deal.

A folder that was named is opened: each folder below it is one, each zip is one, and each other file is one. A named
folder that holds delimited text alone is one as a whole: such files are parts of a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from core.files.kinds import EXTENSIONS, stem_of, wanted_of
from core.words import counted

SOURCES_MAX: Final = 100_000
"""Months of a deal in one batch."""

_TEXTS: Final = (".csv", ".tsv", ".txt")
"""Endings of files that are parts of one report where a named folder holds nothing else."""
_TAPE: Final = re.compile(r"tape|trustee", re.IGNORECASE)
"""What the name of a trustee's tape says beside a manager's files."""


class SourceFile(Struct, frozen=True, order=True):
    """A file that was found."""

    path: str
    """Its path below what the user named, with slashes."""
    place: str
    """Where it is read: a path, or the address of an object."""


class MonthFiles(Struct, frozen=True):
    """The files of a month of a deal."""

    name: str
    """The path of the folder, the archive or the file below what the user named."""
    deal: str
    files: tuple[SourceFile, ...]
    is_folder: bool = False


class Grouping(Struct, frozen=True):
    """The months that some files make, and the files that belong to none."""

    months: tuple[MonthFiles, ...]
    left_out: tuple[str, ...]


class TapeChoice(Struct, frozen=True):
    """Which of a month's files is the tape, or why none is."""

    files: tuple[SourceFile, ...]
    tape: SourceFile | None = None
    note: str | None = None


def group_files(files: Iterable[SourceFile], folder: str | None = None) -> Grouping:
    """Return the months of deals that files make, sorted by name.

    Files with an unknown ending are left out, and so is a PDF beside a spreadsheet in a folder, as in an archive.
    What systems leave (`.DS_Store`, `__MACOSX`, `~$book.xlsx`) is passed over.

    Args:
        folder: name of the folder that they are in; None where a file was named.
    """
    alone: list[SourceFile] = []
    folders: dict[str, list[SourceFile]] = {}
    left_out: list[str] = []
    for file in sorted(set(files)):
        path = PurePosixPath(file.path)
        if any(part.startswith((".", "~")) or part == "__MACOSX" for part in path.parts):
            continue
        if path.suffix.lower() not in EXTENSIONS:
            left_out.append(file.path)
        elif len(path.parts) == 1 or path.suffix.lower() == ".zip":
            alone.append(file)
        else:
            folders.setdefault(str(path.parent), []).append(file)
    if folder and not folders and all(file.path.lower().endswith(_TEXTS) for file in alone):
        folders, alone = {folder: alone} if alone else {}, []
    months = [MonthFiles(file.path, stem_of(file.path), (file,)) for file in alone]
    for name, members in folders.items():
        wanted = wanted_of([file.path for file in members])
        left_out += [file.path for file in members if file.path not in wanted]
        months.append(MonthFiles(name, name, tuple(file for file in members if file.path in wanted), is_folder=True))
    return Grouping(tuple(sorted(months, key=lambda month: (month.name, month.files))), tuple(sorted(left_out)))


def grouping_words(months: Sequence[MonthFiles]) -> str:
    """Return how many months came from what.

    "3 deals from 1 file, 1 archive and 1 folder of 5 files".
    """
    folders = [month for month in months if month.is_folder]
    archives = sum(month.name.lower().endswith(".zip") for month in months if not month.is_folder)
    files = len(months) - len(folders) - archives
    parts = [counted(count, noun) for count, noun in ((files, "file"), (archives, "archive")) if count]
    if folders:
        parts.append(
            f"{counted(len(folders), 'folder')} of {counted(sum(len(each.files) for each in folders), 'file')}"
        )
    *first, last = parts or ["nothing"]
    return f"{counted(len(months), 'deal')} from {', '.join(first)}{' and ' if first else ''}{last}"


def choose_tape(files: tuple[SourceFile, ...], named: str | None) -> TapeChoice:
    """Return which file is the trustee's tape.

    It is the one that the table of deals names, else the only one whose name has "tape" or "trustee" in it.
    """
    if named is not None:
        tapes = [file for file in files if file.path == named or PurePosixPath(file.path).name == named]
        if len(tapes) != 1 or len(files) == 1:
            return TapeChoice(files, note=f"the deal has no file {named!r} beside others, which its row names as tape")
        note = None
    else:
        tapes = [file for file in files if _TAPE.search(PurePosixPath(file.path).name)]
        if len(tapes) != 1 or len(files) == 1:
            several = len(tapes) > 1 and len(tapes) < len(files)
            text = "several files could be the tape: name it in the column tape of the table of deals"
            return TapeChoice(files, note=text if several else None)
        name = PurePosixPath(tapes[0].path).name
        note = f"{name} is taken for the trustee's tape by its name, and its loans are not added"
    return TapeChoice(tuple(file for file in files if file != tapes[0]), tapes[0], note)
