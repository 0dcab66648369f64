"""Exports as files.

Sheets of rows with a signed manifest, and what others make of them.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.files.limits import SHEETS_MAX
from core.files.write import Formats, Writable, sheet_of, write_workbook_rows
from core.files.xlsx import read_xlsx
from core.grid.address import parse_cell
from core.grid.sheet import Workbook
from core.provenance.canonical import data_hash
from core.provenance.manifest import Manifest, hash_of, sign
from core.provenance.names import all_names
from core.provenance.shown import shown_of
from core.provenance.verify import OWN_SHEETS

KEY = b"a key of thirty-two bytes, no less"
KEYS = {"k1": KEY}
Rows = Mapping[str, Iterable[Sequence[Writable]]]


def manifest_of(path: Path, sheets: Sequence[str] | None = None, **fields: Any) -> Manifest:
    """The manifest of a file's sheets, of all or of those named as its foundation."""
    words: dict[str, Any] = {
        "export_id": "exp_1", "workbook_id": "w", "tenant_id": "t", "created_at": "2026-01-31T00:00:00Z",
        "hash_scope": "validated" if sheets is None else "foundation", "source_hash": "0" * 64, "key_id": "k1",
    }  # fmt: skip
    book = read_xlsx(path, sheets_max=SHEETS_MAX + OWN_SHEETS)
    if sheets is not None:
        words["beside"] = tuple(sheet.name for sheet in book.sheets if sheet.name not in sheets)
    words["defined_names"] = all_names(book)
    return Manifest(**words | hash_of(data_hash(book, sheets), shown_of(book)) | fields)


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
BESIDE = (
    f'<ds:datastoreItem xmlns:ds="{OFFICE}/customXml" ds:itemID="{{7D5C1D0A-0000-4000-8000-00000000000%d}}">'
    '<ds:schemaRefs><ds:schemaRef ds:uri="urn:cushion:provenance"/></ds:schemaRefs></ds:datastoreItem>'
)


def links(*targets: tuple[str, str]) -> str:
    return "".join(
        f'<Relationship Id="custom{at}" Type="{OFFICE}/relationships/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets)
    )


def with_parts(path: Path, new_path: Path, *parts: bytes) -> Path:
    """A copy of a file with custom XML parts, as Excel and LibreOffice lay them out."""
    shutil.copy(path, new_path)
    with zipfile.ZipFile(new_path, "a", zipfile.ZIP_DEFLATED) as archive:
        for at, data in enumerate(parts, 1):
            link = links(("customXmlProps", f"itemProps{at}.xml"))
            archive.writestr(f"customXml/item{at}.xml", data)
            archive.writestr(f"customXml/itemProps{at}.xml", BESIDE % at)
            archive.writestr(
                f"customXml/_rels/item{at}.xml.rels", f'<Relationships xmlns="{LINKS}">{link}</Relationships>'
            )
    more = links(*(("customXml", f"../customXml/item{at}.xml") for at in range(1, len(parts) + 1))).encode()
    end = b"</Relationships>"
    return rewritten(new_path, {"xl/_rels/workbook.xml.rels": lambda rels: rels.replace(end, more + end)})


LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"


def rewritten(path: Path, changes: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """The same file with some of its parts changed."""
    scratch = path.with_suffix(".tmp")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, changes[name](data) if name in changes else data)
    return Path(shutil.move(scratch, path))


def exported(folder: Path, rows: Rows, sheets: Sequence[str] | None = None, **fields: Any) -> Path:
    """A file of these rows with its manifest."""
    plain = folder / "plain.xlsx"
    write_workbook_rows(plain, rows)
    part = sign(manifest_of(plain, sheets, **fields), KEY)
    return with_parts(plain, folder / "export.xlsx", part)


def edited(path: Path, new_path: Path, rows: Rows) -> Path:
    """The export with other cells: its manifest in a file of these rows."""
    write_workbook_rows(new_path, rows)
    with zipfile.ZipFile(path) as archive:
        return with_parts(new_path, new_path.with_name("edited-" + new_path.name), archive.read("customXml/item1.xml"))


def book_of(
    cells: Mapping[str, Mapping[str, Writable]],
    *,
    arrays: Mapping[tuple[str, str], str] | None = None,
    names: Mapping[str, str] | None = None,
) -> Workbook:
    """A workbook of sheet -> A1 name -> what the cell holds.

    The formulas of `arrays` fill these ranges.
    """
    formats = Formats()
    sheets = []
    for index, (name, current) in enumerate(cells.items()):
        places = {parse_cell(cell): value for cell, value in current.items()}
        high, wide = (max((place[axis] for place in places), default=0) + 1 for axis in (0, 1))
        rows = [[places.get((row, column)) for column in range(wide)] for row in range(high)]
        sheet = replace(sheet_of(rows, formats, name=name), index=index)
        formulas = sheet.formulas
        at = {place: at for at, place in enumerate(zip(formulas.rows.tolist(), formulas.columns.tolist(), strict=True))}
        own = {at[parse_cell(cell)]: area for (home, cell), area in (arrays or {}).items() if home == name}
        sheets.append(replace(sheet, formulas=replace(formulas, arrays=own)))
    return Workbook(tuple(sheets), number_formats=tuple(formats), defined_names=dict(names or {}))
