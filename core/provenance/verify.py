"""Whether a file still shows what was exported, and where it does not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

from msgspec import Struct

from core.files.archive import Archive
from core.files.errors import FileRefused
from core.files.kinds import file_kind
from core.files.limits import SHEETS_MAX
from core.files.read import read_files
from core.files.source import Content
from core.files.xlsx import read_xlsx
from core.grid.sheet import Workbook
from core.provenance.audit import audit
from core.provenance.canonical import DataHash, data_hash
from core.provenance.finding import FileFinding, Findings
from core.provenance.manifest import InvalidManifest, Manifest, SignedManifest, read_manifest
from core.provenance.names import all_names
from core.provenance.prints import DIFFERENCES_MAX, Difference, differences, shown_differences, shown_in
from core.provenance.shown import shown_of
from core.provenance.spelling import misspelt_cells

OWN_SHEETS: Final = 2
"""That an export in zones has beside those of the workbook."""

Outcome = Literal["original", "modified", "invalid_provenance", "unknown"]


class Record(Struct, frozen=True):
    """What the maker of an export kept of it."""

    data_hash: str
    prints: bytes = b""
    """Of `prints.fingerprints`; empty where none were kept."""
    prints_key: bytes = b""


class FileVerdict(Struct, frozen=True, kw_only=True):
    """What a file's provenance comes to."""

    status: Outcome
    """`original`: the file shows what was exported; `modified`: it does not; `invalid_provenance`: the manifest is
    damaged, its signature is not of a known key, or programs read different cells in the file; `unknown`: there is no
    manifest."""
    reason: str
    """Why, and of an original what was not looked at."""
    data_hash: str | None = None
    """Of the file as it is; of all its sheets where no manifest says which. None where it cannot be read."""
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
    findings: tuple[FileFinding, ...] = ()
    """What the file has that neither our writer nor Excel or LibreOffice, saving it unchanged, puts there."""
    not_looked_at: tuple[str, ...] = ()
    """What may be other than it was exported in an original, too."""


def verify(
    content: Content,
    keys: Mapping[str, bytes] | None,
    record: Record | None = None,
    *,
    book: Workbook | None = None,
) -> FileVerdict:
    """Return what an .xlsx file's provenance comes to.

    Args:
        content: the file; read in this process, so a stranger's belongs into a child.
        keys: by `key_id`; None checks no signature, and then anybody may have written the manifest.
        record: what was kept of the export that the manifest names; None believes the manifest.
        book: the file's workbook, where it was read already.

    Raises:
        FileRefused: it cannot be read.
        OSError: it cannot be opened.
    """
    try:
        manifest = read_manifest(content)
    except InvalidManifest as error:
        return FileVerdict(status="invalid_provenance", reason=f"{error}.", data_hash=_hash_of(content, book))
    if manifest is None:
        book = _read_parts(content) if book is None else book
        return FileVerdict(status="unknown", reason="The file has no manifest.", data_hash=data_hash(book).hash)
    return _Look(content, manifest, keys, record, book).verdict()


def _read_parts(content: Content) -> Workbook:
    if file_kind(content) == "xlsx":
        return read_xlsx(content, sheets_max=SHEETS_MAX + OWN_SHEETS)
    return read_files([("file.xlsx", content)])


def _hash_of(content: Content, book: Workbook | None, sheets: Sequence[str] | None = None) -> str | None:
    """Return the hash of a file with invalid provenance, or None if unreadable."""
    try:
        book = _read_parts(content) if book is None else book
        return data_hash(book, None if sheets is None else [name for name in sheets if name in _names(book)]).hash
    except FileRefused:
        return None


def _names(book: Workbook) -> set[str]:
    return {sheet.name for sheet in book.sheets}


class _Look:
    """A file with a manifest that is looked at."""

    def __init__(
        self,
        content: Content,
        signed_manifest: SignedManifest,
        keys: Mapping[str, bytes] | None,
        record: Record | None,
        book: Workbook | None,
    ) -> None:
        self.content = content
        self.manifest = signed_manifest.manifest
        self.keys = keys
        key = None if keys is None else keys.get(self.manifest.key_id)
        self.has_key = key is not None
        self.is_valid = None if keys is None else key is not None and signed_manifest.is_signed_with(key)
        self.record = record
        self.book = book
        self.covered = [sheet.name for sheet in self.manifest.sheets]
        self.own = () if self.manifest.hash_scope == "validated" else self.manifest.beside
        self.findings = Findings()

    def verdict(self) -> FileVerdict:
        """
        Raises:
            FileRefused: it cannot be read.
        """
        if self.is_valid is False:
            why = f"names the key {self.manifest.key_id!r}, which is not known"
            return self._invalid(f"The manifest's signature {'is not of its key' if self.has_key else why}.")
        with Archive(self.content) as archive:
            audit(archive, self.own, self.covered, self.findings)
        if self.findings.is_ambiguous:
            return self._invalid(self._ambiguity())
        book = self.book = _read_parts(self.content) if self.book is None else self.book
        self._spelling(book)
        return self._invalid(self._ambiguity()) if self.findings.is_ambiguous else self._compared(book)

    def _spelling(self, book: Workbook) -> None:
        for sheet in book.sheets:
            if sheet.name not in self.own:
                for cell, word in misspelt_cells(sheet):
                    message = f"the function {word!r}, which programs read differently"
                    self.findings.differs("", message, sheet=sheet.name, cell=cell)

    def _ambiguity(self) -> str:
        first = self.findings.first
        assert first is not None
        return f"Programs read different cells in the file: {first.sentence}."

    def _invalid(self, reason: str) -> FileVerdict:
        sheets = None if self.manifest.hash_scope == "validated" else self.covered
        return FileVerdict(
            status="invalid_provenance",
            reason=reason,
            data_hash=_hash_of(self.content, self.book, sheets),
            expected_hash=self._expected(),
            hmac_valid=self.is_valid,
            manifest=self.manifest,
            findings=tuple(self.findings.items),
        )

    def _expected(self) -> str:
        return self.manifest.data_hash if self.record is None else self.record.data_hash

    def _compared(self, book: Workbook) -> FileVerdict:
        """Return the verdict on a file that every program reads alike."""
        names = _names(book)
        covered = None if self.manifest.hash_scope == "validated" else [name for name in self.covered if name in names]
        present = data_hash(book, covered)
        beside = tuple(sheet.name for sheet in book.sheets if covered is not None and sheet.name not in covered)
        diffs, truncated = self._differences(present, book, beside)
        is_changed = present.hash != self._expected()
        unseen = self._not_looked_at(present, beside)
        status: Outcome = "original"
        reason = "The hashed sheets show what was exported." + (
            f" Not looked at: {'; '.join(unseen)}." if unseen else ""
        )
        if is_changed:
            status, reason = "modified", "The hashed sheets do not show what was exported."
        elif diffs or self.findings.items:
            first = self.findings.first
            clause = first.sentence if first is not None else diffs[0].clause
            status, reason = "modified", f"The file shows something else than was exported: {clause}."
        return FileVerdict(
            status=status,
            reason=reason,
            data_hash=present.hash,
            expected_hash=self._expected(),
            hmac_valid=self.is_valid,
            manifest=self.manifest,
            diffs=tuple(diffs[:DIFFERENCES_MAX]),
            diffs_truncated=truncated or len(diffs) > DIFFERENCES_MAX or self.findings.more,
            beside=beside,
            findings=tuple(self.findings.items),
            not_looked_at=tuple(unseen),
        )

    def _not_looked_at(self, present: DataHash, beside: Sequence[str]) -> list[str]:
        unseen = [f"the sheet {name!r}" for name in beside if name in self.own]
        if present.unsteady:
            count = f"{present.unsteady:,} formula{'s' if present.unsteady > 1 else ''}"
            unseen.append(f"what {count} gave that change with the day or by chance")
        if any(not sheet.shown for sheet in self.manifest.sheets):
            unseen.append("number formats, hidden rows, merged cells and tables, of which this export says nothing")
        if self.manifest.defined_names is None:
            unseen.append("defined names that no formula reads")
        return [*unseen, "fonts, colours, widths, heights and print settings", "digits behind the 15th"]

    def _differences(self, present: DataHash, book: Workbook, beside: Sequence[str]) -> tuple[list[Difference], bool]:
        """Return what differs, and whether there may be more.

        The workbook, its sheets, their cells, what they show.
        """
        expected = {sheet.name: sheet.hash for sheet in self.manifest.sheets}
        actual = {sheet.name: sheet.hash for sheet in present.sheets}
        listed, kept = self._sheets(expected, actual, present, book, beside)
        changed = {name: name for name in kept if actual[name] != expected[name]}
        truncated = False
        if self.record is None or not self.record.prints:
            listed += [Difference(name, None, "changed") for name in changed]
            truncated = bool(changed)
        else:
            room = max(0, DIFFERENCES_MAX - len(listed))
            cells, truncated = differences(self.record.prints, self.record.prints_key, book, changed, limit=room)
            listed += cells
        listed += self._shown(book, kept, changed, {(each.sheet, each.cell) for each in listed})
        met = {(each.sheet, each.cell) for each in listed}
        for item in self.findings.items:
            if item.sheet is not None and (item.sheet, item.cell) not in met:
                listed.append(Difference(item.sheet, item.cell, item.change))
        return listed, truncated

    def _sheets(
        self,
        expected: Mapping[str, str],
        actual: Mapping[str, str],
        present: DataHash,
        book: Workbook,
        beside: Sequence[str],
    ) -> tuple[list[Difference], list[str]]:
        """Return what differs of the workbook and its sheets, and the sheets that are there under their names."""
        changed_sheets = []
        if self.manifest.date_1904 != book.date_1904:
            changed_sheets.append(Difference("", "date system", "changed"))
        if self.manifest.names_hash != present.names:
            changed_sheets.append(Difference("", "defined names", "changed"))
        listed, there = self.manifest.defined_names, all_names(book)
        if listed is not None and (there is None or not set(there) <= set(listed)):
            changed_sheets.append(Difference("", "further defined names", "added"))
        missing = [name for name in expected if name not in actual]
        strangers = [name for name in (*actual, *beside) if name not in expected and name not in self.own]
        others = {} if not missing else _hashes(book, list(dict.fromkeys([*strangers, *beside])))
        for name in missing:
            renamed = next((candidate for candidate, digest in others.items() if digest == expected[name]), None)
            changed_sheets.append(Difference(name, None, "removed" if renamed is None else "renamed"))
            if renamed is not None:
                others.pop(renamed)
                strangers = [other_stranger for other_stranger in strangers if other_stranger != renamed]
        changed_sheets += [Difference(name, None, "added") for name in strangers]
        kept = [name for name in expected if name in actual]
        changed_sheets += [
            Difference(name, None, "moved")
            for name in _out_of_order(kept, [name for name in actual if name in expected])
        ]
        return changed_sheets, kept

    def _shown(
        self, book: Workbook, kept: Sequence[str], changed: Collection[str], met: set[tuple[str, str | None]]
    ) -> list[Difference]:
        """Return what sheets show otherwise that have their cells, as far as the export says how they were shown."""
        hashes = {sheet.name: sheet.shown for sheet in self.manifest.sheets if sheet.shown}
        named = {sheet.name: sheet for sheet in book.sheets}
        now = shown_of(book, [named[name] for name in kept if name in hashes])
        sheets = [sheet for sheet in now.sheets if sheet.hash != hashes[sheet.name]]
        if not sheets:
            return []
        old = None if self.record is None else shown_in(self.record.prints)
        before = {} if old is None else {sheet.name: sheet for sheet in old.sheets}
        listed: list[Difference] = []
        for sheet in sheets:
            own: list[Difference] = []
            if old is not None and sheet.name in before:
                own = list(shown_differences(old, before[sheet.name], sheet, book, limit=DIFFERENCES_MAX))
            if not own and sheet.name not in changed:
                own = [Difference(sheet.name, None, "display")]
            listed += [each for each in own if (each.sheet, each.cell) not in met]
        return listed


def _hashes(book: Workbook, names: Sequence[str]) -> dict[str, str]:
    """Return each sheet's hash by itself."""
    return {sheet.name: sheet.hash for sheet in data_hash(book, names).sheets}


def _out_of_order(expected: list[str], actual: list[str]) -> list[str]:
    """Return the fewest sheets whose moves explain another order."""
    blocks = SequenceMatcher(None, expected, actual, autojunk=False).get_matching_blocks()
    kept = {name for block in blocks for name in expected[block.a : block.a + block.size]}
    return [name for name in expected if name not in kept]
