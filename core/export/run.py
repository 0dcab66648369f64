"""One export from start to end: redaction, Foundation, its hash, the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Final

import msgspec

from core.export.checks import sums_of, uncalculated
from core.export.control import control_sheet
from core.export.draft import page_of, settle
from core.export.foundation import Foundation, chosen_places, foundation_of
from core.export.order import (
    ExportedFile,
    ExportError,
    ExportOrder,
    ExportProduct,
    Phase,
    Progress,
    Provenance,
    ResultSummary,
)
from core.export.origin import pages_sheet
from core.export.pages import set_pages
from core.export.seal import seal
from core.export.workspace import LoanColumns, loan_columns, workspace_sheet
from core.files.write import BookSettings, Formats, Properties, SheetPage, write_xlsx
from core.files.write.delimited import Dialect, file_names, write_csv, write_csv_zip
from core.files.write.formats import CSV, JSON, PDF, XLSX, ZIP_MIME_TYPE
from core.files.write.json import write_json
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import free_name
from core.portfolio import Portfolio
from core.portfolio.model.fields import Mapping as LoanMapping
from core.portfolio.sheets.headings import header
from core.provenance.canonical import VERSION, DataHash, data_hash
from core.provenance.manifest import Manifest, hash_of, sign
from core.provenance.names import all_names
from core.provenance.prints import fingerprints
from core.provenance.shown import shown_of
from core.redact.book import RedactedBook, redact, redact_text
from core.redact.replace import Policy

WORKSPACE: Final = "Workspace"
CONTROL: Final = "Control"

MANIFEST_PART: Final = "provenance"
"""The name of the manifest among the custom XML parts."""

FINGERPRINTS: Final = "fingerprints"
"""The name of the file of fingerprints."""

_COLOURS: Final = {"foundation": "1F3864", "workspace": "B36B00", "control": "0B6E6E"}
"""Of the tabs of the zones."""


@dataclass(slots=True)
class _Work:
    """An export that is under way."""

    order: ExportOrder
    """Its texts redacted."""
    folder: Path
    begin: Callable[[Phase], None]
    foundation: Foundation
    """Redacted."""
    written: dict[str, str]
    """Names of the exported sheets in the workbook as it was given -> in the Foundation."""
    hash: DataHash
    provenance: Provenance
    redacted: dict[str, dict[str, int]]
    warnings: list[str]
    guarded: int = 0
    sealed: ExportedFile | None = None
    fingerprints: ExportedFile | None = None

    @property
    def book(self) -> Workbook:
        """What is exported."""
        return self.foundation.book

    def file(self, name: str, ending: str, media_type: str) -> ExportedFile:
        """Return a file of the folder that was written, offered under the workbook's name."""
        (offered,) = file_names([self.order.lineage.workbook_name.removesuffix(ending)])
        size = (self.folder / name).stat().st_size
        return ExportedFile(path=name, name=offered + ending, media_type=media_type, size_bytes=size)


def export_workbook(
    book: Workbook, order: ExportOrder, folder: Path, progress: Progress = lambda phase, current, total: None
) -> ExportProduct:
    """Write an export's files into a folder.

    The same workbook and order give the same bytes.

    Formulas are not run: their last values are exported. What is hashed is what the files show, redacted; what the
    order says in texts (names, warnings) is redacted, too.

    Raises:
        ExportError: the workbook cannot be exported so, or the PDF not sealed; the message says why, for its user.
        OSError: a file cannot be written.
    """
    phases = _phases(order)

    def begin(phase: Phase) -> None:
        progress(phase, phases.index(phase), len(phases))

    places = chosen_places(book, order.sheets)
    redaction = RedactedBook(book, {}, {}, {})
    if order.options.sanitize_pii:
        begin("Redacting")
        policy = _policy(order)
        # Sheets that are not exported say what in the others is personal: by their headings, to formulas that read it.
        redaction = redact(book, policy)
        order = _redacted_order(order, policy)
    sheets = [redaction.workbook.sheets[at] for at in places]
    pages = pages_sheet(sheets) if order.format == "xlsx" else None
    foundation = foundation_of(redaction.workbook, sheets if pages is None else [*sheets, pages])
    names = [sheet.name for sheet in foundation.book.sheets]
    written = dict(zip((sheet.name for sheet in sheets), names[: len(sheets)], strict=True))
    counts = {kind: _exported_ones(counted, written) for kind, counted in redaction.counts.items()}
    redacted = {kind: counted for kind, counted in counts.items() if counted}
    redacted_formulas = sum(_exported_ones(redaction.formulas, written).values())
    warnings = [*redaction.warnings]
    if order.format in ("xlsx", "json"):  # the others have values alone
        warnings += _dropped_warnings(foundation, redacted_formulas)
    if count := sum(len(uncalculated(sheet)) for sheet in foundation.book.sheets):
        warnings.append(
            f"Formulas that were never calculated, whose cells have no value here: {count:,}. A spreadsheet that opens "
            "an .xlsx calculates them, and then it shows other cells than were exported."
        )
    begin("Hashing")
    found_hash = data_hash(foundation.book)
    provenance = Provenance(
        manifest_version=VERSION,
        hash_scope="foundation" if _has_zones(order) else "validated",
        data_hash=found_hash.hash,
        source_hash=order.lineage.source_hash,
    )
    sheet_names = dict(zip((book.sheets[at].name for at in places), names[: len(places)], strict=True))
    work = _Work(order, folder, begin, foundation, sheet_names, found_hash, provenance, redacted, warnings)
    try:
        if order.format == "xlsx":
            main = _xlsx(work, _loans(work, book) if _has_zones(order) else None)
        else:
            main = {"csv": _csv, "json": _json, "pdf": _pdf}[order.format](work)
    except ExportError:
        raise
    except ValueError as error:  # a limit of the format
        raise ExportError(str(error)) from error
    return ExportProduct(
        main=main,
        sealed=work.sealed,
        fingerprints=work.fingerprints,
        result_summary=ResultSummary(
            sheets=tuple(names),
            rows=sum(sheet.row_count for sheet in foundation.book.sheets),
            cells=sum(sheet.cells for sheet in found_hash.sheets),
            provenance=provenance,
            redacted=redacted,
            redacted_formulas=redacted_formulas,
            guarded=work.guarded,
            formulas_dropped=foundation.dropped,
            warnings=tuple(warnings),
        ),
    )


def _has_zones(order: ExportOrder) -> bool:
    return order.format == "xlsx" and order.options.xlsx_three_zone


def _has_sealed(order: ExportOrder) -> bool:
    return order.format == "xlsx" and order.options.xlsx_sealed_pdf


def _phases(order: ExportOrder) -> list[Phase]:
    wanted: dict[Phase, bool] = {
        "Redacting": order.options.sanitize_pii,
        "Hashing": True,
        "Reading loans": _has_zones(order),
        "Setting pages": order.format == "pdf" or _has_sealed(order),
        "Sealing": _has_sealed(order) and not order.keys.sealed_apart,
        "Writing": order.format != "pdf",
    }
    return [phase for phase, is_wanted in wanted.items() if is_wanted]


# Redaction ------------------------------------------------------------------------------------------------------------


def _policy(order: ExportOrder) -> Policy:
    options = order.options
    try:
        return Policy(
            threshold=options.classification_threshold, strategy=options.redaction_strategy, key=order.keys.redaction
        )
    except ValueError as error:
        raise ExportError(str(error)) from error


def _exported_ones(counts: Mapping[str, int], written: Mapping[str, str]) -> dict[str, int]:
    """Return the counts of exported sheets, under the names that these are `written` with, and those of no sheet."""
    counts_by_place = {}
    for place, count in counts.items():
        sheet, _, column = place.rpartition("!")
        if not sheet or sheet in written:
            counts_by_place[f"{written[sheet]}!{column}" if sheet else place] = count
    return counts_by_place


def _redacted_order(order: ExportOrder, policy: Policy) -> ExportOrder:
    """Return the order with its texts redacted.

    Names of files and people stand in more than cells.
    """

    def plain(text: str | None) -> str | None:
        return None if text is None else redact_text(text, policy)[0]

    lineage = order.lineage
    replaced = msgspec.structs.replace(
        lineage,
        workbook_name=plain(lineage.workbook_name),
        file_name=plain(lineage.file_name),
        mapping=plain(lineage.mapping),
        definition=plain(lineage.definition),
        warnings=tuple(redact_text(text, policy)[0] for text in lineage.warnings),
    )
    rows = tuple(
        msgspec.structs.replace(
            row,
            name=plain(row.name),
            reason=plain(row.reason),
            doubts=tuple(redact_text(text, policy)[0] for text in row.doubts),
        )
        for row in order.compliance
    )
    return msgspec.structs.replace(order, lineage=replaced, compliance=rows)


def _dropped_warnings(foundation: Foundation, redacted_formulas: int) -> list[str]:
    """Return what of formulas and names did not come along."""
    counts = {
        "Formulas that read what is not exported (other sheets, other files, tables), or that cannot be read; their "
        "values were kept": foundation.dropped,
        "Formulas that showed or read personal data; their values, redacted, were kept": redacted_formulas,
        "Defined names that stand for what is not exported; they were left out": foundation.names_dropped,
    }
    return [f"{text}: {count:,}." for text, count in counts.items() if count]


# Formats --------------------------------------------------------------------------------------------------------------


def _csv(work: _Work) -> ExportedFile:
    work.begin("Writing")
    options, book = work.order.options, work.book
    dialect = Dialect(delimiter=options.csv_delimiter, encoding=options.csv_encoding)
    is_single = len(book.sheets) == 1
    ending, media_type = (CSV.extension, CSV.mime_type) if is_single else (".zip", ZIP_MIME_TYPE)
    name = f"export{ending}"
    with open(work.folder / name, "wb") as stream:
        if is_single:
            written = [
                write_csv(stream, book.sheets[0], book.number_formats, dialect=dialect, date_1904=book.date_1904)
            ]
        else:
            written = [*write_csv_zip(stream, book, dialect=dialect)]
    work.guarded = sum(each.guarded for each in written)
    if work.guarded:
        work.warnings.append(f"Texts that got an apostrophe, so that no spreadsheet calculates them: {work.guarded:,}.")
    if replaced := sum(each.replaced for each in written):
        work.warnings.append(f"Characters that {options.csv_encoding} lacks, each a question mark: {replaced:,}.")
    return work.file(name, ending, media_type)


def _json(work: _Work) -> ExportedFile:
    work.begin("Writing")
    name = f"export{JSON.extension}"
    rows = {sheet.name: row for sheet in work.book.sheets if (row := header.detect(sheet).row) is not None}
    with open(work.folder / name, "wb") as stream:
        write_json(
            stream,
            work.book,
            name=work.order.lineage.workbook_name,
            header_rows=rows,
            pretty=work.order.options.json_pretty_print,
        )
    return work.file(name, JSON.extension, JSON.mime_type)


def _pdf(work: _Work) -> ExportedFile:
    work.begin("Setting pages")
    document, remarks = set_pages(work.book, work.order, work.provenance, work.redacted, work.warnings)
    work.warnings += remarks
    name = f"export{PDF.extension}"
    data = document.data
    keys = work.order.keys
    if _has_sealed(work.order) and not keys.sealed_apart:
        work.begin("Sealing")
        if keys.certificate is None:
            raise ExportError("a sealed PDF needs a certificate to be signed with")
        reason = f"Export {work.order.export_id}"
        data = seal(data, keys.certificate, keys.certificate_password, created=work.order.created, reason=reason)
    (work.folder / name).write_bytes(data)
    return work.file(name, PDF.extension, PDF.mime_type)


def _xlsx(work: _Work, loans: LoanColumns | None) -> ExportedFile:
    if _has_sealed(work.order):
        work.sealed = _pdf(work)
    work.begin("Writing")
    order, book, options = work.order, work.book, work.order.options
    formats = Formats(book.number_formats)
    has_zones = _has_zones(order)
    pages = [_foundation_page(sheet, order, is_protected=has_zones) for sheet in book.sheets]
    beside: list[str] = []
    if has_zones:
        taken = {sheet.name.casefold() for sheet in book.sheets}
        beside = [free_name(name, taken) for name in (WORKSPACE, CONTROL)]
        workspace = workspace_sheet(beside[0], order.lineage.workbook_name, loans)
        sums = [sums_of(sheet) for sheet in book.sheets]
        control = control_sheet(beside[1], order, work.provenance, sums, work.redacted, work.warnings)
        settle([workspace, control], book)
        styled = options.xlsx_include_styles
        pages += [
            page_of(workspace, book, formats, tab_colour=_COLOURS["workspace"], protected=False, styled=styled),
            page_of(control, book, formats, tab_colour=_COLOURS["control"], protected=True, styled=styled),
        ]
    name = f"export{XLSX.extension}"
    written = write_xlsx(
        work.folder / name,
        pages,
        number_formats=formats,
        tables=book.tables,
        parts={MANIFEST_PART: sign(_manifest(work, tuple(beside)), order.keys.signing)},
        properties=Properties(title=order.lineage.workbook_name, created=order.created),
        settings=BookSettings(
            date_1904=book.date_1904,
            defined_names=book.defined_names,
            local_names=book.local_names,
            active=len(pages) - 1 if has_zones else None,
        ),
    )
    work.warnings += written.warnings
    prints = fingerprints(book, None, order.keys.signing)
    (work.folder / FINGERPRINTS).write_bytes(prints)
    work.fingerprints = ExportedFile(
        path=FINGERPRINTS, name=FINGERPRINTS, media_type="application/octet-stream", size_bytes=len(prints)
    )
    return work.file(name, XLSX.extension, XLSX.mime_type)


def _foundation_page(sheet: Sheet, order: ExportOrder, *, is_protected: bool) -> SheetPage:
    options = order.options
    row = header.detect(sheet).row
    return SheetPage(
        sheet.name,
        sheet,
        header_row=row,
        styled=options.xlsx_include_styles,
        frozen=(row + 1, 0) if options.xlsx_freeze_header and row is not None else (0, 0),
        widths="auto" if options.xlsx_auto_width else None,
        protected=is_protected,
        tab_colour=_COLOURS["foundation"] if is_protected else None,
    )


def _manifest(work: _Work, beside: tuple[str, ...]) -> Manifest:
    order = work.order
    totals = {kind: sum(columns.values()) for kind, columns in work.redacted.items()}
    return Manifest(
        export_id=order.export_id,
        workbook_id=order.workbook_id,
        tenant_id=order.tenant_id,
        created_at=order.created.astimezone(UTC).isoformat(),
        hash_scope=work.provenance.hash_scope,
        source_hash=order.lineage.source_hash or "",
        beside=beside,
        redaction=totals,
        key_id=order.keys.signing_id,
        defined_names=all_names(work.book),
        **hash_of(work.hash, shown_of(work.book)),
    )


# Loans ----------------------------------------------------------------------------------------------------------------


def _loans(work: _Work, source: Workbook) -> LoanColumns | None:
    """Return where the Foundation has the loans that are read of the workbook as it was given."""
    work.begin("Reading loans")
    order = work.order
    mapping = None if order.mapping is None else msgspec.json.decode(order.mapping, type=LoanMapping)
    portfolio = Portfolio.from_workbook(source, mapping)
    return loan_columns(work.book, portfolio, work.written)
