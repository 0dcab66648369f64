"""What an export is asked for and what it comes to.

Options, lineage, a run's tests, keys; files and their summary.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Literal

from msgspec import Struct, field

from core.files.write.delimited import checked_delimiter, checked_encoding
from core.redact.kinds import Level, Strategy

Format = Literal["xlsx", "csv", "json", "pdf"]
HashScope = Literal["foundation", "validated"]
"""What a data hash covers: the Foundation of an .xlsx with zones, else every sheet that was exported."""

Progress = Callable[[str, int, int], None]
"""Told of the work: the `Phase` that begins, its place among those of this export from 0, and how many these are. What
it raises ends the export."""

Phase = Literal["Redacting", "Hashing", "Reading loans", "Setting pages", "Sealing", "Writing"]
"""The steps that a `Progress` gets, in this order; some are left out."""


class ExportError(ValueError):
    """The workbook cannot be exported as it was asked for.

    The message says why, for its user.
    """


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an export is written; those of other formats than the asked one do nothing."""

    xlsx_include_styles: bool = True
    xlsx_freeze_header: bool = True
    xlsx_auto_width: bool = True
    xlsx_three_zone: bool = True
    """Foundation, Workspace and Control instead of the sheets alone."""
    xlsx_sealed_pdf: bool = False
    """A signed PDF of the same sheets beside the .xlsx."""
    xlsx_signing: bool = False
    """For the service, which calls its signing service on the finished file."""
    csv_delimiter: str = ","
    csv_encoding: str = "utf-8-sig"
    json_pretty_print: bool = True
    sanitize_pii: bool = True
    classification_threshold: Level = "confidential"
    redaction_strategy: Strategy = "mask"

    def __post_init__(self) -> None:
        """Refuse (ValueError) a delimiter or an encoding that no table is written with."""
        checked_delimiter(self.csv_delimiter)
        checked_encoding(self.csv_encoding)


class Lineage(Struct, frozen=True, kw_only=True):
    """Where the exported figures come from, in words for the Control sheet and the pages of a PDF."""

    workbook_name: str
    file_name: str | None = None
    source_hash: str | None = None
    """SHA-256 of the file as it was uploaded, in hex."""
    uploaded_at: datetime | None = None
    as_of: date | None = None
    as_of_source: str | None = None
    mapping: str | None = None
    """The mapping's name."""
    definition: str | None = None
    """The deal definition's name and version."""
    suite: str | None = None
    run_id: str | None = None
    """Of the compliance run that `ExportOrder.compliance` is of."""
    run_at: datetime | None = None
    warnings: tuple[str, ...] = ()
    """What a reader has to know of the figures."""


class ComplianceRow(Struct, frozen=True, kw_only=True):
    """A test of a compliance run."""

    test_id: str
    name: str
    category: str
    status: Literal["pass", "warning", "fail", "skipped"]
    value: float | None = None
    limit: float | None = None
    threshold_type: Literal["min", "max", "exact"] = "max"
    cushion: float | None = None
    source: str | None = None
    """Who set the limit."""
    unit: str = ""
    """percent, years, factor, score, amount, number, or unknown ("")."""
    reason: str = ""
    """Why it was skipped."""
    doubtful: bool = False
    """Whether the status may be wrong."""
    published: float | None = None
    """The figure that the file prints for the test."""
    difference: float | None = None
    """Ours less that."""
    published_status: Literal["pass", "fail"] | None = None
    doubts: tuple[str, ...] = ()
    """Why the figure may be wrong."""

    @property
    def label(self) -> str:
        """Its name with the sign of its unit."""
        sign = {"percent": " (%)", "years": " (years)"}.get(self.unit, "")
        return self.name + sign


class Keys(Struct, frozen=True, kw_only=True):
    """Secrets of an export; never part of what it answers."""

    signing: bytes
    """Signs the manifest (HMAC-SHA256), and keys the fingerprints; 16 bytes or more."""
    signing_id: str = ""
    """Which key that is, for whoever has several."""
    redaction: bytes
    """What the strategy `hash` is keyed with."""
    certificate: bytes | None = None
    """PKCS#12 with the private key that seals a PDF."""
    certificate_password: bytes | None = None
    sealed_apart: bool = False
    """The PDF is left to be sealed by whoever keeps the key from the process that reads workbooks."""

    def __repr__(self) -> str:
        return "Keys(...)"


class ExportOrder(Struct, frozen=True, kw_only=True):
    """One export of one workbook."""

    format: Format
    export_id: str
    workbook_id: str
    tenant_id: str
    created: datetime
    """With a zone; the only date that the files' bytes know."""
    lineage: Lineage
    keys: Keys
    options: Options = field(default_factory=Options)
    sheets: tuple[str, ...] | None = None
    """Names of the chosen sheets, in any case of letters; None for all. They keep the workbook's order."""
    mapping: str | None = None
    """JSON of the mapping by which the loans' columns are found; None for the standard one."""
    compliance: tuple[ComplianceRow, ...] = ()
    """The tests of the run that the Control sheet shows, in its order; none: it says so."""


class ExportedFile(Struct, frozen=True, kw_only=True):
    """A file that was written into the export's folder."""

    path: str
    """Its name in that folder."""
    name: str
    """The name to be offered for it."""
    media_type: str
    size_bytes: int


class Provenance(Struct, frozen=True, kw_only=True):
    """What is known of an export's data."""

    manifest_version: str
    hash_scope: HashScope
    data_hash: str
    """The canonical hash of what the file shows, after redaction."""
    source_hash: str | None


class ResultSummary(Struct, frozen=True, kw_only=True):
    """What an export came to, for its record."""

    sheets: tuple[str, ...]
    """Of the source, in order."""
    rows: int
    cells: int
    """Cells of these sheets that hold something."""
    provenance: Provenance
    redacted: dict[str, dict[str, int]]
    """Kind of personal data -> "Sheet!Column" -> cells. Empty where nothing was found, or nothing was looked for."""
    guarded: int = 0
    """Texts of a csv that got an apostrophe, because a spreadsheet would take them for formulas."""
    redacted_formulas: int = 0
    """Formulas that held personal data, or whose value did: only the redacted value was kept."""
    formulas_dropped: int = 0
    """Formulas of which only the value was kept."""
    warnings: tuple[str, ...] = ()
    """What the files do not show, or show in another way than the source."""


class ExportProduct(Struct, frozen=True, kw_only=True):
    """The product of an export."""

    main: ExportedFile
    result_summary: ResultSummary
    sealed: ExportedFile | None = None
    """The signed PDF beside an .xlsx."""
    fingerprints: ExportedFile | None = None
    """A few bytes for each cell, by which a changed cell is found later without the file itself; of an .xlsx."""
