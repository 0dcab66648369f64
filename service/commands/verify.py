"""The verify command: whether an exported workbook still shows what was exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter

from service.commands.document import print_json
from service.commands.limits import limited
from service.commands.reading import read_keys, some
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.provenance.verify import Verdict

EXIT_DIFFERENT: Final = 1

DIFFERENCES_SHOWN: Final = 20

UNCHECKED: Final = "not checked (no --key-file): whoever changed the file could have written the manifest anew"


def register(app: App) -> None:
    """Add the command."""
    app.command(verify_file, name="verify")


def verify_file(
    file: Path,
    /,
    *,
    key_file: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Check that an exported .xlsx file still shows what was exported, whatever program saved it since.

    The exit code is 0 where it does (`original`), 1 where it does not (`modified`), or its manifest is missing
    (`unknown`) or not to be trusted (`invalid_provenance`), and 2 when the file cannot be read.

    Parameters
    ----------
    file:
        The file (.xlsx).
    key_file:
        The key that exports are signed with, in hexadecimal; or several, one a line, each behind its name and a blank.
        Without it the signature is not checked.
    json:
        Print the verdict as JSON.
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
    if json:
        import msgspec

        print_json(msgspec.to_builtins(verdict))
    else:
        print("\n".join(one_line(line) if line[0] != " " else "  " + one_line(line) for line in _lines(file, verdict)))
    return 0 if verdict.status == "original" else EXIT_DIFFERENT


def _lines(file: Path, verdict: Verdict) -> list[str]:
    told = [f"{file.name}: {verdict.status}: {verdict.reason}"]
    manifest = verdict.manifest
    if manifest is not None:
        key = f" {manifest.key_id!r}" if manifest.key_id else ""
        checked = {None: UNCHECKED, True: f"valid, of the key{key}", False: "not valid"}[verdict.hmac_valid]
        told += [
            f"  export {manifest.export_id} of workbook {manifest.workbook_id}, made {manifest.created_at}",
            f"  signature {checked}",
        ]
    told.append(f"  data hash {verdict.data_hash}")
    if verdict.expected_hash not in (None, verdict.data_hash):
        told.append(f"  of the export {verdict.expected_hash}")
    for diff in verdict.diffs[:DIFFERENCES_SHOWN]:
        told.append(
            f"  {diff.status}: {'the workbook' if not diff.sheet else f'sheet {diff.sheet!r}'} {diff.cell or ''}"
        )
    if len(verdict.diffs) > DIFFERENCES_SHOWN:
        told.append(f"  and {len(verdict.diffs) - DIFFERENCES_SHOWN:,} more; --json has them")
    if verdict.beside:
        told.append(f"  not covered, and free to change: {some([repr(name) for name in verdict.beside])}")
    return told
