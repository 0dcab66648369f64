"""The verify command: whether an exported workbook still shows what was exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, emit, json_of
from service.commands.reading import read_keys, some
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.provenance.verify import FileVerdict

EXIT_DIFFERENT: Final = 1

DIFFERENCES_SHOWN: Final = 20

UNCHECKED: Final = "not checked (no --key-file): whoever changed the file could have written the manifest anew"


def verify_file(
    file: Path,
    /,
    *,
    key_file: Path | None = None,
    output: Output | None = None,
) -> int:
    """Check that an exported .xlsx file still shows what was exported, whatever program saved it since.

    The exit code is 0 where it does (`original`), and 2 when the file cannot be read. It is 1 where it does not
    (`modified`), or where its manifest is missing (`unknown`). It is also 1 where the manifest is not to be trusted, or
    programs read different cells in the file (`invalid_provenance`).

    The JSON is the verdict: status, reason, data_hash, expected_hash, hmac_valid, manifest, diffs, diffs_truncated,
    beside, findings and not_looked_at; CSV has the places that differ.

    Parameters
    ----------
    file:
        The file (.xlsx).
    key_file:
        The key that exports are signed with, in hexadecimal; or several, one a line, each behind its name and a blank.
        Without it the signature is not checked.
    """
    from core.files.errors import FileRefused
    from core.provenance.verify import verify

    keys = None if key_file is None else read_keys(key_file)
    try:
        with limited(file):
            verdict = verify(file, keys)
    except FileRefused as refused:
        raise Refused(f"{file}: {refused.message}: {refused.hint}") from refused
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error
    page = OutputPage(
        blocks=_lines(file, verdict),
        rows=Grid(columns=[OutputColumn(name) for name in _DIFFERENCE], items=verdict.diffs),
        document=json_of(verdict),
        notes=[Line(f"{file.name}: {verdict.status}: {verdict.reason}")],
    )
    emit(page, output or Output())
    return 0 if verdict.status == "original" else EXIT_DIFFERENT


_WEIGHTS: Final = {"invalid_provenance": "read differently", "modified": "not exported"}

_DIFFERENCE: Final = ("status", "sheet", "cell")


def _lines(file: Path, verdict: FileVerdict) -> list[Line]:
    lines = [Line(f"{file.name}: {verdict.status}: {verdict.reason}")]
    manifest = verdict.manifest
    if manifest is not None:
        key = f" {manifest.key_id!r}" if manifest.key_id else ""
        checked = {None: UNCHECKED, True: f"valid, of the key{key}", False: "not valid"}[verdict.hmac_valid]
        export = f"{manifest.export_id} of workbook {manifest.workbook_id}, made {manifest.created_at}"
        lines += [Line(export, "export"), Line(checked, "signature")]
    lines.append(Line(str(verdict.data_hash), "data hash"))
    if verdict.expected_hash not in (None, verdict.data_hash):
        lines.append(Line(str(verdict.expected_hash), "of the export"))
    for diff in verdict.diffs[:DIFFERENCES_SHOWN]:
        place = "the workbook" if not diff.sheet else f"sheet {diff.sheet!r}"
        lines.append(Line(f"{place} {diff.cell or ''}", diff.status))
    if len(verdict.diffs) > DIFFERENCES_SHOWN:
        lines.append(Line(f"and {len(verdict.diffs) - DIFFERENCES_SHOWN:,} more; --json has them", "..."))
    for finding in verdict.findings[:DIFFERENCES_SHOWN]:
        lines.append(Line(finding.sentence, _WEIGHTS[finding.status]))
    if len(verdict.findings) > DIFFERENCES_SHOWN:
        lines.append(Line(f"and {len(verdict.findings) - DIFFERENCES_SHOWN:,} more; --json has them", "..."))
    if verdict.beside:
        lines.append(Line(some([repr(name) for name in verdict.beside]), "not covered, and free to change"))
    return lines
