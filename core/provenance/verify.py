"""Whether a file still shows what was exported, and where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

from msgspec import Struct

from core.files.kinds import file_kind
from core.files.limits import SHEETS_MAX
from core.files.read import read_files
from core.files.source import Content
from core.files.xlsx import read_xlsx
from core.grid.sheet import Workbook
from core.provenance.canonical import DataHash, data_hash
from core.provenance.manifest import InvalidManifest, Manifest, SignedManifest, read_manifest
from core.provenance.prints import DIFFERENCES_MAX, Difference, differences

OWN_SHEETS: Final = 2
"""That an export in zones has beside those of the workbook."""

Outcome = Literal["original", "modified", "invalid_provenance", "unknown"]


class Record(Struct, frozen=True):
    """What the maker of an export kept of it."""

    data_hash: str
    prints: bytes = b""
    """Of `prints.fingerprints`; empty where none were kept."""
    prints_key: bytes = b""


class Verdict(Struct, frozen=True, kw_only=True):
    """What a file's provenance comes to."""

    status: Outcome
    """`original`: the hashed sheets hold what they did; `modified`: they do not; `invalid_provenance`: the manifest is
    damaged, or its signature is not of a known key; `unknown`: there is no manifest."""
    reason: str
    """One sentence."""
    data_hash: str | None = None
    """Of the file as it is; of all its sheets where no manifest says which. None where nobody asked."""
    expected_hash: str | None = None
    hmac_valid: bool | None = None
    """None where no key was given, or there is nothing signed."""
    manifest: Manifest | None = None
    """As the file has it: to be believed where `hmac_valid` is true."""
    diffs: tuple[Difference, ...] = ()
    diffs_truncated: bool = False
    """Whether there are differences besides `diffs`, or may be."""
    beside: tuple[str, ...] = ()
    """Sheets of the file that are not hashed: nothing is said of what they show."""


def verify(
    content: Content,
    keys: Mapping[str, bytes] | None,
    record: Record | None = None,
    *,
    book: Workbook | None = None,
) -> Verdict:
    """What an .xlsx file's provenance comes to.

    Args:
        content: the file; read in this process where `book` is not given, so a stranger's belongs into a child.
        keys: by `key_id`; None checks no signature, and then anybody may have written the manifest.
        record: what was kept of the export that the manifest names; None believes the manifest.
        book: the file's workbook, where it was read already.

    Raises:
        FileRefused: it cannot be read.
        OSError: it cannot be opened.
    """
    try:
        found = read_manifest(content)
    except InvalidManifest as error:
        return _undecided(_read(content) if book is None else book, error)
    book = _read(content) if book is None else book
    return _undecided(book) if found is None else _judged(found, book, keys, record)


def _read(content: Content) -> Workbook:
    if file_kind(content) == "xlsx":
        return read_xlsx(content, sheets_max=SHEETS_MAX + OWN_SHEETS)
    return read_files([("file.xlsx", content)])


def _undecided(book: Workbook, fault: InvalidManifest | None = None) -> Verdict:
    """The verdict on a file without a manifest, or with one that cannot be believed."""
    present = data_hash(book).hash
    if fault is None:
        return Verdict(status="unknown", reason="The file has no manifest.", data_hash=present)
    return Verdict(status="invalid_provenance", reason=f"{fault}.", data_hash=present)


def _judged(
    found: SignedManifest,
    book: Workbook,
    keys: Mapping[str, bytes] | None,
    record: Record | None = None,
) -> Verdict:
    """`verify` of a workbook and the manifest of its file."""
    manifest = found.manifest
    key = None if keys is None else keys.get(manifest.key_id)
    valid = None if keys is None else key is not None and found.is_signed_with(key)
    names = [sheet.name for sheet in manifest.sheets]
    own = {sheet.name for sheet in book.sheets}
    covered = None if manifest.hash_scope == "validated" else [name for name in names if name in own]
    present = data_hash(book, covered)
    expected = manifest.data_hash if record is None else record.data_hash
    beside = tuple(sheet.name for sheet in book.sheets if covered is not None and sheet.name not in covered)

    def verdict(status: Outcome, reason: str, diffs: Sequence[Difference] = (), *, truncated: bool = False) -> Verdict:
        return Verdict(
            status=status, reason=reason, data_hash=present.hash, expected_hash=expected, hmac_valid=valid,
            manifest=manifest, diffs=tuple(diffs), diffs_truncated=truncated, beside=beside,
        )  # fmt: skip

    if valid is False:
        why = "is not of its key" if key is not None else f"names the key {manifest.key_id!r}, which is not known"
        return verdict("invalid_provenance", f"The manifest's signature {why}.")
    if present.hash == expected:
        return verdict("original", "The hashed sheets show what was exported.")
    diffs, truncated = _differences(manifest, present, book, record, beside)
    return verdict("modified", "The hashed sheets do not show what was exported.", diffs, truncated=truncated)


def _differences(
    manifest: Manifest,
    present: DataHash,
    book: Workbook,
    record: Record | None,
    beside: Sequence[str],
) -> tuple[list[Difference], bool]:
    """What differs: the workbook, its sheets, then their cells as far as prints tell."""
    expected = {sheet.name: sheet.hash for sheet in manifest.sheets}
    actual = {sheet.name: sheet.hash for sheet in present.sheets}
    found = []
    if manifest.date_1904 != book.date_1904:
        found.append(Difference("", "date system", "changed"))
    if manifest.names_hash != present.names:
        found.append(Difference("", "defined names", "changed"))
    missing = [name for name in expected if name not in actual]
    strangers = [name for name in actual if name not in expected]
    others = {} if not missing else _hashes(book, [*strangers, *beside])
    now = {name: name for name in expected if name in actual}
    for name in missing:
        renamed = next((other for other, digest in others.items() if digest == expected[name]), None)
        found.append(Difference(name, None, "removed" if renamed is None else "renamed"))
        if renamed is not None:
            others.pop(renamed)
            strangers = [other for other in strangers if other != renamed]
    found += [Difference(name, None, "added") for name in strangers]
    found += [Difference(name, None, "moved") for name in _moved([*now], [name for name in actual if name in expected])]
    changed = {name: name for name in now if actual[name] != expected[name]}
    if record is None or not record.prints:
        found += [Difference(name, None, "changed") for name in changed]
        return found[:DIFFERENCES_MAX], bool(changed) or len(found) > DIFFERENCES_MAX
    room = max(0, DIFFERENCES_MAX - len(found))
    cells, more = differences(record.prints, record.prints_key, book, changed, limit=room)
    return [*found, *cells][:DIFFERENCES_MAX], more or len(found) > DIFFERENCES_MAX


def _hashes(book: Workbook, names: Sequence[str]) -> dict[str, str]:
    """Each sheet's hash by itself."""
    return {sheet.name: sheet.hash for sheet in data_hash(book, names).sheets}


def _moved(expected: list[str], actual: list[str]) -> list[str]:
    """The sheets that another order took from their place: as few as explain it."""
    blocks = SequenceMatcher(None, expected, actual, autojunk=False).get_matching_blocks()
    kept = {name for block in blocks for name in expected[block.a : block.a + block.size]}
    return [name for name in expected if name not in kept]
