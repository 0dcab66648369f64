"""A book's values and edits into a copy of the file that it was read from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files._cells import PATCH_GONE, PATCH_KEPT
from core.files.errors import FileRefused
from core.files.kinds import file_kind
from core.files.source import FileState
from core.files.write.formulas import KnownNames
from core.files.write.newer import with_prefixes
from core.files.write.patched import CellChanges, escape, formula_element, write_patched
from core.grid.address import cell_name, parse_range
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, Sheet, Table
from core.recalc.errors import NotSaved
from core.values import Kind

SAVED: Final = (".xlsx", ".xlsm")
"""Extensions of files that are saved: those whose formulas are read."""

_SPILLS: Final = 2

Places = dict[tuple[int, int], bytes | None]
"""(row, column) -> the new formula as a file has it, None for none."""


def save(
    origin: FileState,
    target: Path,
    before: tuple[Sheet, ...],
    after: tuple[Sheet, ...],
    *,
    edited: Collection[tuple[int, int, int]],
    tables: tuple[Table, ...],
    overwrite: bool,
) -> None:
    """Write a copy of the file, with the sheets' values and the formulas of `edited` cells (sheet, row, column).

    The copy takes the target's place when it is whole.

    Raises:
        NotSaved: another extension than the file's, the file itself unless `overwrite`, a file that has changed since,
            a formula that no file can hold.
        FileRefused: as `core.files.write.patched.write_patched`.
        OSError: the file cannot be read, or the target not be written.
    """
    target = target.resolve()
    _check(origin, target, overwrite=overwrite)
    known = KnownNames([each.name for each in before], {table.name.casefold() for table in tables}, _folded(before))
    changes, formulas_changed = {}, False
    for old, new in zip(before, after, strict=True):
        places = _edited_formulas(old, new, {(row, column) for at, row, column in edited if at == old.index}, known)
        formulas_changed = formulas_changed or bool(places)
        spills = _moved_spills(old, new, places)
        changes[old.index] = changes_of(old, new, places, spills)
    with NamedTemporaryFile(dir=target.parent, prefix=".cushion-", suffix=target.suffix, delete=False) as out:
        path = Path(out.name)
        try:
            write_patched(origin.path, out, changes, formulas_changed=formulas_changed)
            out.flush()
            os.fsync(out.fileno())
            if FileState.of(origin.path) != origin:
                raise NotSaved(f"{origin.path}: the file has changed since it was read")
            shutil.copymode(origin.path, path)
            path.replace(target)
        finally:
            path.unlink(missing_ok=True)


def _folded(sheets: tuple[Sheet, ...]) -> set[str]:
    return {sheet.name.casefold() for sheet in sheets}


def _check(origin: FileState, target: Path, *, overwrite: bool) -> None:
    try:
        kind: str = file_kind(origin.path)
    except FileRefused as refused:
        raise NotSaved(f"{origin.path}: the file has changed since it was read") from refused
    extension = origin.path.suffix.lower()
    if kind != "xlsx" or extension not in SAVED:
        raise NotSaved(f"{origin.path}: only {' and '.join(SAVED)} files are saved with new values")
    if target.suffix.lower() != extension:
        raise NotSaved(f"{target}: the copy of an {extension} file is one, too: its name must end so")
    if target.exists() and not target.is_file():
        raise NotSaved(f"{target}: is no plain file")
    if target.exists() and target.samefile(origin.path) and not overwrite:
        raise NotSaved(f"{target}: is the file that the book was read from, which is overwritten only when asked for")
    if FileState.of(origin.path) != origin:
        raise NotSaved(f"{origin.path}: the file has changed since it was read")


# Formulas -------------------------------------------------------------------------------------------------------------


def _edited_formulas(old: Sheet, new: Sheet, edited: set[tuple[int, int]], known: KnownNames) -> Places:
    """Return cells whose formula came, went or is another.

    With an edited cell that others were filled from, these, too, since the file has their formula in that cell only.

    Raises:
        NotSaved: a formula that no file can hold.
    """
    if not edited:
        return {}
    index = _places_of(old.formulas)
    origins = [at for place in edited if (at := index.get(place)) is not None]
    members = np.flatnonzero(np.isin(old.formulas.origins, origins)).tolist()
    rows, columns = old.formulas.rows, old.formulas.columns
    places: Places = {}
    arrays = {place: new.formulas.arrays.get(at) for place, at in _places_of(new.formulas).items()}
    for row, column in sorted(edited | {(int(rows[at]), int(columns[at])) for at in members}):
        text = new.formula(row, column)
        if text is None:
            if (row, column) in index:
                places[row, column] = None
            continue
        text = with_prefixes(text)
        if (row, column) in edited and (fault := known.fault(text)) is not None:
            raise NotSaved(f"{old.name}!{cell_name(row, column)}: its formula cannot be saved: formulas that {fault}")
        places[row, column] = formula_element(text, arrays[row, column])
    return places


def _places_of(formulas: Formulas) -> dict[tuple[int, int], int]:
    return {place: at for at, place in enumerate(zip(formulas.rows.tolist(), formulas.columns.tolist(), strict=True))}


def _moved_spills(old: Sheet, new: Sheet, edited: Places) -> Places:
    """Return formulas that spill over other cells than when the file was saved, with the range that they fill now."""
    if new.formulas is old.formulas or not old.formulas.dynamic:
        return {}
    index = _places_of(new.formulas)
    places: Places = {}
    for at in sorted(old.formulas.dynamic):
        place = int(old.formulas.rows[at]), int(old.formulas.columns[at])
        if place in edited or place not in index:
            continue
        covers = new.formulas.arrays.get(index[place], cell_name(*place))
        if covers != old.formulas.arrays[at]:
            text = old.formula(*place)
            assert text is not None
            places[place] = formula_element(text, covers)
    return places


# Values ---------------------------------------------------------------------------------------------------------------


def changes_of(old: Sheet, new: Sheet, edited: Places | None = None, spills: Places | None = None) -> CellChanges:
    """Return the cells of a sheet whose value or formula is another."""
    edited, spills = edited or {}, spills or {}
    same_text = _same_codes(old.text, new.text)
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for at in range(max(old.column_count, new.column_count)):
        changed = _changed_rows(
            old.columns[at] if at < old.column_count else None,
            new.columns[at] if at < new.column_count else None,
            same_text,
        )
        rows.append(changed)
        columns.append(np.full(len(changed), at, np.int64))
    formulas = {**spills, **edited}
    places = np.array(sorted(formulas), np.int64).reshape(-1, 2)
    keys = np.unique(
        np.concatenate([*rows, places[:, 0]]) * (1 << 14) + np.concatenate([*columns, places[:, 1]])
    )  # in the order of a sheet, each once
    return _cell_changes(new, keys >> 14, keys & ((1 << 14) - 1), formulas, spills)


def _same_codes(old: Text, new: Text) -> NDArray[np.int32]:
    """By the code of each new text that of the same old one.

    -1 for another, and last for no text.
    """
    count = len(old)
    old_codes = np.full(len(new) + 1, -1, np.int32)
    size = int(old.offsets[-1])
    if (
        len(new) >= count
        and np.array_equal(new.offsets[: count + 1], old.offsets)
        and np.array_equal(new.data[:size], old.data)
    ):
        old_codes[:count] = np.arange(count)
        return old_codes
    codes = {old[code]: code for code in range(count)}
    old_codes[: len(new)] = [codes.get(new[code], -1) for code in range(len(new))]
    return old_codes


def _changed_rows(old: Column | None, new: Column | None, same_text: NDArray[np.int32]) -> NDArray[np.int64]:
    parts = [np.zeros(0, np.int64)] + [
        column.rows()[column.dense.kinds != Kind.BLANK] for column in (old, new) if column is not None
    ]
    rows = np.unique(np.concatenate(parts))
    kinds, numbers, codes = _at(old, rows)
    new_kinds, new_numbers, new_codes = _at(new, rows)
    is_text = new_kinds == Kind.TEXT
    same = (kinds == new_kinds) & np.where(is_text, codes == same_text[new_codes], numbers == new_numbers)
    changed: NDArray[np.int64] = rows[~same]
    return changed


def _at(
    column: Column | None, rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int32]]:
    """Return kinds, numbers and codes of some ascending rows; dates are numbers."""
    kinds = np.zeros(len(rows), np.uint8)
    numbers = np.zeros(len(rows), np.float64)
    codes = np.full(len(rows), -1, np.int32)
    if column is not None:
        stored, slots = column.meeting(rows)
        cells = column.dense
        kinds[stored], numbers[stored], codes[stored] = cells.kinds[slots], cells.numbers[slots], cells.codes[slots]
    kinds[kinds == Kind.DATE] = Kind.NUMBER
    return kinds, numbers, codes


def _cell_changes(
    new: Sheet, rows: NDArray[np.int64], columns: NDArray[np.int64], formulas: Places, spills: Places
) -> CellChanges:
    kinds = np.zeros(len(rows), np.uint8)
    numbers = np.zeros(len(rows), np.float64)
    codes = np.full(len(rows), -1, np.int32)
    for at in np.unique(columns).tolist():
        of_column = np.flatnonzero(columns == at)
        column = new.columns[at] if at < new.column_count else None
        kinds[of_column], numbers[of_column], codes[of_column] = _at(column, rows[of_column])
    used = np.unique(codes[codes >= 0])
    own = np.full(len(new.text) + 1, -1, np.int32)
    own[used] = np.arange(len(used))
    actions = np.full(len(rows), PATCH_KEPT, np.int32)
    computed = _computed(new, rows, columns)
    written: list[bytes] = []
    places = (
        {place: at for at, place in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))} if formulas else {}
    )
    for place, element in formulas.items():
        actions[places[place]] = PATCH_GONE if element is None else len(written)
        computed[places[place]] |= _SPILLS if place in spills else 0
        written += [] if element is None else [element]
    return CellChanges(
        rows=rows.astype(np.int32),
        columns=columns.astype(np.int32),
        kinds=kinds,
        numbers=numbers,
        codes=own[codes],
        computed=computed,
        formulas=actions,
        texts=[escape(new.text[code]) for code in used.tolist()],
        written=written,
    )


def _computed(new: Sheet, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.uint8]:
    """1 for each cell that a formula gives its value, as its own or as one that an array formula fills."""
    formulas = new.formulas
    keys = formulas.rows.astype(np.int64) * (1 << 14) + formulas.columns
    computed = np.isin(rows * (1 << 14) + columns, keys)
    for covers in formulas.arrays.values():
        top, left, bottom, right = parse_range(covers)
        low, stop = np.searchsorted(rows, (top, bottom + 1))
        computed[low:stop] |= (columns[low:stop] >= left) & (columns[low:stop] <= right)
    return computed.astype(np.uint8)
