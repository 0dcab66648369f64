"""The export command.

A workbook as .xlsx with provenance, delimited text, JSON or PDF, without personal data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, Literal, TextIO

from cyclopts import Parameter

from service.commands.draft import place
from service.commands.limits import limited
from service.commands.output import console_for, counted, json_of, people_read
from service.commands.progress import busy
from service.commands.reading import (
    NO_DEFINITION,
    changed_day,
    read_definition,
    read_keys,
    read_mapping,
    read_workbook,
    refuse_absent_definition,
    size_and_hash,
    some,
)
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.export.order import ComplianceRow, ExportOrder, ExportProduct, Keys, Lineage, Options
    from core.grid.sheet import Workbook

_NO: Final = Parameter(negative=())
_TAB: Final = ("tab", "\\t")
"""What is typed for a tab."""


def export(  # noqa: PLR0913 - a command's options
    file: Path,
    /,
    *,
    format: Literal["xlsx", "csv", "json", "pdf"] = "xlsx",  # noqa: A002 - the option's name
    out: Path | None = None,
    sheet: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    plain: Annotated[bool, _NO] = False,
    suite: Literal["standard", "enhanced", "deal", "none"] = "standard",
    deal: str | None = None,
    mapping: str | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8-sig",
    compact: Annotated[bool, _NO] = False,
    personal_data: Annotated[bool, _NO] = False,
    threshold: Literal["public", "internal", "confidential", "restricted"] = "confidential",
    redaction: Literal["mask", "hash", "remove"] = "mask",
    key_file: Path | None = None,
    json: Annotated[bool, _NO] = False,
) -> None:
    """Export a workbook, and print what was written and redacted.

    What the file does not show is printed too.

    Personal data (e-mail addresses, telephone numbers, ...) is redacted unless --personal-data is given. The exit code
    is 0 when the file is written, and 2 when it cannot be.

    Parameters
    ----------
    file:
        The workbook (.xlsx, .xlsm, .xls, .xlsb, .ods, .pdf, .csv, a .zip of these, or a folder). Formulas count by the
        values that it carries.
    format:
        xlsx (with a signed manifest that `cushion verify` checks), csv (several sheets as a ZIP archive), json or pdf.
    out:
        The file to be written, replaced if it is there, or a folder for it. Without it, the workbook's name with
        -export behind it in the present folder.
    sheet:
        A sheet to export; given several times for several. All, if not given.
    plain:
        An .xlsx of the sheets alone, without the sheets Workspace and Control and without protection.
    suite:
        The compliance tests that the sheet Control shows, run on the file's loans: standard, enhanced, deal (those of
        --deal), or none.
    deal:
        The deal's definition, for the tests: a TOML file, or the name of a ready-made one (us_bsl, euro).
    mapping:
        A JSON file with the mapping by which the loans are found, or the name of a built-in one.
    delimiter:
        What parts the fields of a csv: one of , ; | ~ or the word tab.
    encoding:
        Of a csv: utf-8-sig, utf-8, utf-16, latin-1, cp1252 and others.
    compact:
        JSON without line breaks and spaces.
    personal_data:
        Leave personal data as it is.
    threshold:
        Redact the kinds of personal data that are so secret or more.
    redaction:
        mask (the last characters stay), hash (the same token for the same text) or remove.
    key_file:
        The key to sign the manifest with, in hexadecimal, behind its name if it has one; the first of several. Without
        it nobody can tell the manifest from a forged one.
    json:
        Print what came of it as one JSON document.
    """
    if suite == "deal" and deal is None:
        raise Refused(NO_DEFINITION)
    is_stream = out is not None and (out.is_symlink() or (out.exists() and not out.is_file() and not out.is_dir()))
    if json and is_stream:
        raise Refused("--json goes to the standard output; name a plain file with --out")
    refuse_absent_definition(deal)
    with busy(f"Reading {file.name}"):
        options = _options(
            xlsx_three_zone=not plain,
            csv_delimiter="\t" if delimiter in _TAB else delimiter,
            csv_encoding=encoding,
            json_pretty_print=not compact,
            sanitize_pii=not personal_data,
            classification_threshold=threshold,
            redaction_strategy=redaction,
        )
        keys = _keys(key_file)
        book = read_workbook(file)
    with TemporaryDirectory(prefix="cushion-") as folder, busy(f"Exporting {file.name}"):
        wants_tests = format == "xlsx" and not plain and suite != "none"
        with limited(file):
            lineage, rows = _lineage(file, book, suite if wants_tests else None, deal, mapping)
            order = _order(format, options, keys, lineage, rows, sheet, mapping)
            exported = _exported(file, book, order, Path(folder))
        target = _target(file, out, exported)
        place(Path(folder) / exported.main.path, target, file)
    if json:
        import msgspec

        sys.stdout.writelines(json_of({"file": str(target)} | msgspec.to_builtins(exported.result_summary))())
    else:
        _report(target, exported, sys.stderr if is_stream else sys.stdout)


def _options(**options: object) -> Options:
    import msgspec

    from core.export.order import Options

    try:
        return msgspec.convert(options, Options)
    except msgspec.ValidationError as error:
        raise Refused(str(error).partition(" - at ")[0]) from error


def _keys(path: Path | None) -> Keys:
    """The first key of a file, or one that is forgotten.

    What redaction hashes with follows from it.
    """
    from hmac import digest
    from secrets import token_bytes

    from core.export.order import Keys

    name, key = next(iter(read_keys(path).items())) if path is not None else ("", token_bytes(32))
    return Keys(signing=key, signing_id=name, redaction=digest(key, b"redaction", "sha256"))


def _lineage(
    file: Path, book: Workbook, suite: str | None, deal: str | None, mapping: str | None
) -> tuple[Lineage, tuple[ComplianceRow, ...]]:
    """Where the figures come from, and the suite's tests where the file has loans."""
    from core.export.compliance import compliance_rows
    from core.export.order import Lineage

    chosen = read_mapping(mapping)
    _, digest = size_and_hash(file)
    lineage = Lineage(workbook_name=file.stem, file_name=file.name, source_hash=digest, mapping=chosen.name)
    if suite is None:
        return lineage, ()

    import msgspec

    from core.compliance.run import run_suite
    from core.interpretation.interpret import has_figures, interpreted
    from core.portfolio import Portfolio

    definition = read_definition(deal, chosen)
    portfolio = Portfolio.from_workbook(book, chosen, as_of=changed_day([file]), as_of_source="modified")
    if not portfolio.row_count:
        return lineage, ()
    if has_figures(portfolio):
        portfolio = interpreted(portfolio, definition)
    results = run_suite(portfolio, suite, definition=definition)
    full_lineage = msgspec.structs.replace(
        lineage,
        as_of=results.as_of,
        as_of_source=results.as_of_source,
        definition=None if definition is None else definition.name,
        suite=suite,
        warnings=tuple(people_read(warning.message) for warning in results.warnings),
    )
    return full_lineage, compliance_rows(results, results.skipped)


def _order(
    format: Literal["xlsx", "csv", "json", "pdf"],  # noqa: A002
    options: Options,
    keys: Keys,
    lineage: Lineage,
    rows: tuple[ComplianceRow, ...],
    sheets: tuple[str, ...],
    mapping: str | None,
) -> ExportOrder:
    from datetime import UTC, datetime
    from uuid import uuid4

    import msgspec

    from core.export.order import ExportOrder

    return ExportOrder(
        format=format,
        export_id=f"exp_{uuid4().hex}",
        workbook_id=lineage.source_hash or "",
        tenant_id="",
        created=datetime.now(UTC).replace(microsecond=0),
        lineage=lineage,
        keys=keys,
        options=options,
        sheets=sheets or None,
        mapping=None if mapping is None else msgspec.json.encode(read_mapping(mapping)).decode(),
        compliance=rows,
    )


def _exported(file: Path, book: Workbook, order: ExportOrder, folder: Path) -> ExportProduct:
    from core.export.order import ExportError
    from core.export.run import export_workbook

    try:
        return export_workbook(book, order, folder)
    except ExportError as error:
        raise Refused(f"{file}: {error}") from error
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error


def _target(file: Path, out: Path | None, exported: ExportProduct) -> Path:
    """Where the file goes.

    Raises:
        Refused: it is an archive under another kind's name.
    """
    ending = Path(exported.main.name).suffix
    target = out or Path(f"{file.stem}-export{ending}")
    if target.is_dir():
        target /= exported.main.name
    if ending == ".zip" and target.suffix.lower() == ".csv":
        raise Refused(f"{target}: several sheets come as an archive; name a .zip with --out, or one sheet with --sheet")
    return target


def _report(target: Path, exported: ExportProduct, stream: TextIO) -> None:
    """Say what was written: not where the file itself may go, /dev/stdout say."""
    from rich.text import Text

    console = console_for(stream)
    summary = exported.result_summary
    for label, words in _remarks(exported):
        console.print(Text(f"{label}  ", style="yellow").append(one_line(words)), soft_wrap=True)
    sheets = counted(len(summary.sheets), "sheet")
    rows, cells = counted(summary.rows, "row"), counted(summary.cells, "cell")
    line = f"{sheets}, {rows}, {cells}, {exported.main.size_bytes:,} bytes"
    console.print(Text(one_line(f"{target}: {line}")), soft_wrap=True)


def _remarks(exported: ExportProduct) -> Iterator[tuple[str, str]]:
    """What the file does not show as the workbook does."""
    summary = exported.result_summary
    for kind, places in summary.redacted.items():
        listed = some([f"{place} {count:,}" for place, count in places.items()])
        yield "redacted", f"{kind.replace('_', ' ')}: {sum(places.values()):,} ({listed})"
    for warning in summary.warnings:
        yield "note", warning
