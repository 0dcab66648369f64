"""Exports as files: sheets of rows with a signed manifest, and what others make of them."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.files.read import read
from core.files.write import Writable, write_workbook_rows
from core.provenance.canonical import data_hash
from core.provenance.manifest import Manifest, hashed, signed

KEY = b"a key of thirty-two bytes, no less"
KEYS = {"k1": KEY}
Rows = Mapping[str, Iterable[Sequence[Writable]]]


def manifest_of(path: Path, sheets: Sequence[str] | None = None, **fields: Any) -> Manifest:
    """The manifest of a file's sheets, of all or of those named as its foundation."""
    said: dict[str, Any] = {
        "export_id": "exp_1", "workbook_id": "w", "tenant_id": "t", "created_at": "2026-01-31T00:00:00Z",
        "hash_scope": "validated" if sheets is None else "foundation", "source_hash": "0" * 64, "key_id": "k1",
    }  # fmt: skip
    return Manifest(**said | hashed(data_hash(read(path), sheets)) | fields)


def with_parts(path: Path, made: Path, parts: Mapping[str, bytes]) -> Path:
    """A copy of a file with further custom XML parts."""
    shutil.copy(path, made)
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return rewritten(made, made.with_suffix(".tmp"), {"xl/_rels/workbook.xml.rels": lambda rels: related(rels, parts)})


def related(rels: bytes, parts: Mapping[str, bytes]) -> bytes:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/customXml"
    links = "".join(f'<Relationship Id="custom{at}" Type="{kind}" Target="/{name}"/>' for at, name in enumerate(parts))
    return rels.replace(b"</Relationships>", links.encode() + b"</Relationships>")


def rewritten(path: Path, scratch: Path, changes: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """The same file with some of its parts changed."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, changes[name](data) if name in changes else data)
    return Path(shutil.move(scratch, path))


def exported(folder: Path, rows: Rows, sheets: Sequence[str] | None = None, **fields: Any) -> Path:
    """A file of these rows with its manifest."""
    plain = folder / "plain.xlsx"
    write_workbook_rows(plain, rows)
    part = signed(manifest_of(plain, sheets, **fields), KEY)
    return with_parts(plain, folder / "export.xlsx", {"customXml/item1.xml": part})


def edited(path: Path, made: Path, rows: Rows) -> Path:
    """The export with other cells: its manifest in a file of these rows."""
    write_workbook_rows(made, rows)
    with zipfile.ZipFile(path) as archive:
        return with_parts(
            made, made.with_name("edited-" + made.name), {"customXml/item1.xml": archive.read("customXml/item1.xml")}
        )
