"""Exports in confined children: writing files, and verifying files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from core.confined.table import GIGABYTE, PARSE, ConfinedWork, texts
from core.export.order import ExportOrder, ExportProduct
from core.export.run import export_workbook
from core.grid.codec import WorkbookRecord, open_workbook
from core.provenance.manifest import InvalidManifest, SignedManifest, read_manifest
from core.provenance.verify import FileVerdict, Record, verify

PROGRESS: Final = ".progress"
"""The file in which a child says how far it is."""


class MakeProgress(Struct, frozen=True, array_like=True):
    """How far a child is."""

    phase: str
    done: int
    of: int


class ExportTask(Struct, frozen=True, kw_only=True):
    """A stored workbook to be exported."""

    manifest: str
    """As `Manifest.to_json` writes it."""
    paths: tuple[str, ...]
    """The sheets' files, in the manifest's order."""
    order: ExportOrder


MAKE: Final = ConfinedWork(
    does="service.exports.child.make_export",
    order=ExportTask,
    answer=ExportProduct,
    refusals=("core.export.order.ExportError",),
    texts=texts("The export"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=300.0,
)


def make_export(order: ExportTask, folder: Path) -> ExportProduct:
    """Write an export's files into a folder.

    Raises:
        ExportError: it cannot be made as it was asked for.
        CodecError: something stored is damaged.
        OSError: the machine's fault.
    """

    def report(phase: str, done: int, of: int) -> None:
        (folder / PROGRESS).write_bytes(msgspec.json.encode(MakeProgress(phase, done, of)))

    book = open_workbook(WorkbookRecord.from_json(order.manifest), [Path(path) for path in order.paths])
    return export_workbook(book, order.order, folder, report)


# Verifying files ------------------------------------------------------------------------------------------------------


class ClaimOrder(Struct, frozen=True, kw_only=True):
    """A file to be asked what it says of itself."""

    path: str


class FileClaim(Struct, frozen=True, kw_only=True):
    """What it says."""

    signed: SignedManifest | None
    """A manifest, whose signature is yet to be checked. None: nothing, or what no export says."""


class VerifyOrder(Struct, frozen=True, kw_only=True):
    """A file to be compared with the record of the export that it says it is."""

    path: str
    keys: dict[str, bytes] = {}
    data_hash: str | None = None
    """Of the record; None where there is none."""
    prints_path: str | None = None
    prints_key: bytes = b""


_REFUSALS: Final = PARSE.refusals
CLAIM: Final = ConfinedWork(
    does="service.exports.child.read_claim",
    order=ClaimOrder,
    answer=FileClaim,
    refusals=_REFUSALS,
    texts=PARSE.texts,
    memory_bytes_max=GIGABYTE,
    seconds_max=30.0,
)
VERIFY: Final = ConfinedWork(
    does="service.exports.child.verify_file",
    order=VerifyOrder,
    answer=FileVerdict,
    refusals=_REFUSALS,
    texts=PARSE.texts,
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=30.0,
)


def read_claim(order: ClaimOrder) -> FileClaim:
    """Return what a file says of itself.

    Raises:
        FileRefused, OSError: it cannot be read.
    """
    try:
        return FileClaim(signed=read_manifest(Path(order.path)))
    except InvalidManifest:
        return FileClaim(signed=None)


def verify_file(order: VerifyOrder) -> FileVerdict:
    """Return whether a file still shows what was exported.

    Raises:
        FileRefused, OSError: it cannot be read.
    """
    prints = Path(order.prints_path).read_bytes() if order.prints_path else b""
    record = Record(order.data_hash, prints, order.prints_key) if order.data_hash else None
    return verify(Path(order.path), order.keys, record)
