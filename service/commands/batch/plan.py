"""A task for each month of a deal, with its terms by the table of deals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from core.batch.deals import DEALS_BYTES_MAX, DealRow, DealsError, DealTable, parse_deals
from core.batch.months import MonthFiles, SourceFile, TapeChoice, choose_tape
from core.batch.order import BatchOptions, DealTerms
from core.definition.terms import READY_NAMES
from core.files.limits import FILES_MAX
from core.values import EPOCH
from service.commands.batch.work import FileAddress, MonthTask
from service.commands.reading import definition_text, read_definition, read_mapping
from service.commands.refusal import Refused

FOLDER_CHARACTERS_MAX: Final = 120
"""Of the name of a folder that is made for a deal."""
_NOT_IN_NAMES: Final = re.compile(r"[^\w .()\-]+")


class Defaults(Struct, frozen=True, kw_only=True):
    """What holds where a row of the table of deals says nothing."""

    definition: str | None = None
    mapping: str | None = None
    as_of: float | None = None


class BatchPlan(Struct, frozen=True, kw_only=True):
    """The tasks of a batch, and what takes no task."""

    tasks: tuple[MonthTask, ...]
    refused: tuple[tuple[MonthTask, str], ...]
    unmatched: tuple[DealRow, ...]
    """Rows of the table of deals that no source matches."""


def read_deals(path: Path) -> DealTable:
    """Return the table of deals in a file.

    Raises:
        Refused: it cannot be read, is too large, or is no table of deals.
    """
    try:
        with path.open("rb") as file:
            content = file.read(DEALS_BYTES_MAX + 1)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error
    if len(content) > DEALS_BYTES_MAX:
        raise Refused(f"{path}: a table of deals has at most {DEALS_BYTES_MAX:,} bytes")
    try:
        return parse_deals(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Refused(f"{path}: no text in UTF-8") from None
    except DealsError as error:
        raise Refused(f"{path}: {error}") from error


def make_plan(
    months: Sequence[MonthFiles],
    options: BatchOptions,
    defaults: Defaults,
    out: str,
    deals: tuple[Path, DealTable] | None = None,
) -> BatchPlan:
    """Return a task for each month.

    Raises:
        Refused: a definition or a mapping cannot be read, or the suite deal has no definition anywhere.
    """
    home, table = (None, DealTable(())) if deals is None else (deals[0].parent, deals[1])
    terms = _terms_reader(defaults, home)
    rows = [table.match(month.name) for month in months]
    matched = {row.line for row in rows if row is not None}
    names = [(row and row.deal) or month.deal for month, row in zip(months, rows, strict=True)]
    folders = _folders(months, names)
    tasks: list[MonthTask] = []
    refused: list[tuple[MonthTask, str]] = []
    for month, row, deal, folder in zip(months, rows, names, folders, strict=True):
        tape = choose_tape(month.files, row.tape if row is not None else None)
        task = MonthTask(
            name=month.name,
            deal=deal,
            folder=folder,
            files=tuple(map(_address, tape.files)),
            tape=None if tape.tape is None else _address(tape.tape),
            notes=_notes(month, tape),
            terms=terms(row),
            options=options,
            out=out,
        )
        if deals is not None and row is None:
            refused.append((task, f"no row of {deals[0].name} matches {month.name}; a last row with * takes the rest"))
        elif len(month.files) > FILES_MAX:
            refused.append((task, f"{len(month.files):,} files; the limit is {FILES_MAX} for a deal"))
        else:
            tasks.append(task)
    unmatched = tuple(row for row in table.rows if row.line not in matched)
    return BatchPlan(tasks=tuple(tasks), refused=tuple(refused), unmatched=unmatched)


def _notes(month: MonthFiles, tape: TapeChoice) -> tuple[str, ...]:
    """Return what was chosen before the files are opened."""
    notes = [] if tape.note is None else [tape.note]
    if month.is_folder and len(tape.files) > 1:
        notes.append(f"the {len(tape.files)} files of the folder are read as one deal")
    return tuple(notes)


def _address(file: SourceFile) -> FileAddress:
    return FileAddress(PurePosixPath(file.path).name, file.place)


def _terms_reader(defaults: Defaults, home: Path | None) -> Callable[[DealRow | None], DealTerms]:
    """Return what gives the terms of a row; each definition and mapping is read once.

    Files that a row names stand beside the table.
    """

    @cache
    def mapping_of(name: str | None) -> str | None:
        return None if name is None else msgspec.json.encode(read_mapping(name)).decode()

    @cache
    def definition_of(name: str | None, mapping: str | None) -> tuple[str | None, str | None]:
        if name is None:
            return None, None
        read_definition(name, None if mapping is None else read_mapping(mapping))
        return (name, None) if name in READY_NAMES else (None, definition_text(name))

    def terms(row: DealRow | None) -> DealTerms:
        mapping, definition, day = defaults.mapping, defaults.definition, defaults.as_of
        if row is not None and home is not None:
            mapping = mapping if row.mapping is None else _beside(row.mapping, home)
            definition = definition if row.definition is None else _beside(row.definition, home)
            day = day if row.as_of is None else float((row.as_of - EPOCH).days)
        ready, text = definition_of(definition, mapping)
        return DealTerms(ready=ready, definition=text, mapping=mapping_of(mapping), as_of=day)

    return terms


def _beside(name: str, home: Path) -> str:
    """Return a name that a row has: of a file beside the table, else as it is."""
    return str(home / name) if (home / name).is_file() else name


def _folders(months: Sequence[MonthFiles], deals: Sequence[str]) -> list[str]:
    """Return the name of each month's folder.

    It is the deal's, with a few digits behind it where several would have it.
    """
    names = [_NOT_IN_NAMES.sub("_", deal).strip(" .")[:FOLDER_CHARACTERS_MAX] or "deal" for deal in deals]
    counts = Counter(name.casefold() for name in names)
    return [
        name if counts[name.casefold()] == 1 else f"{name}-{sha256(month.name.encode()).hexdigest()[:8]}"
        for name, month in zip(names, months, strict=True)
    ]
