"""What is asked of a month of a deal, and what comes of it.

An order goes to a confined child, its answer comes from one.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from core.batch.table import ResultRow, Step
from core.confined.table import NamedFile

SuiteName = Literal["standard", "enhanced", "deal"]
ExportFormat = Literal["xlsx", "csv", "json", "pdf"]
ReportFormat = Literal["pdf", "xlsx"]
TrusteeName = Literal["trustee_a", "trustee_b", "trustee_c"]

STEPS: Final[tuple[Step, ...]] = ("suite", "recalc", "reconcile", "report", "export")
"""What may be asked for, in the order in which it is done."""

READER: Final = "core.batch.confined.MonthReader"
"""The dotted name of what a child does with orders."""
READY: Final = b"ready"
"""The order to say how much processor time the start took."""


ISSUES_FILE: Final = "issues.csv"
OUTPUTS: Final = (
    ISSUES_FILE,
    "report.pdf",
    "report.xlsx",
    "export.xlsx",
    "export.csv",
    "export.zip",
    "export.json",
    "export.pdf",
)
"""The files that steps write, by name."""


class BatchOptions(Struct, frozen=True, kw_only=True):
    """What is done with every month of a deal."""

    steps: tuple[Step, ...] = ("suite",)
    suite: SuiteName = "standard"
    report_format: ReportFormat = "pdf"
    export_format: ExportFormat = "xlsx"
    trustee: TrusteeName | None = None
    """Whose columns are preferred on a tape."""
    now: str
    """The moment of TODAY and NOW, and of every date in the files that are written, in ISO format."""


class DealTerms(Struct, frozen=True, kw_only=True):
    """By which terms a month of a deal is read and tested."""

    ready: str | None = None
    """Name of a ready-made definition."""
    definition: str | None = None
    """Text of a definition in TOML; neither: the deal has none."""
    mapping: str | None = None
    """JSON of the mapping; None for the standard one."""
    as_of: float | None = None
    """The day of the figures in days since 1970-01-01, where the user says it."""


class StagedFile(NamedFile, frozen=True, kw_only=True):
    """A file of a month, copied to where the child may read it."""

    sha256: str
    size_bytes: int


class MonthOrder(Struct, frozen=True, kw_only=True):
    """One month of a deal."""

    deal: str
    files: tuple[StagedFile, ...]
    """Those with the loans."""
    tape: StagedFile | None = None
    """The trustee's tape, which is compared with them."""
    sha256: str
    """Of all files, as `DealMonth.sha256`."""
    terms: DealTerms
    options: BatchOptions
    writes: str
    """The folder for files that steps write."""
    calculates: bool = True
    """Whether formulas that came without values are calculated."""
    notes: tuple[str, ...] = ()
    """What was chosen before the files were opened, for the row of the reading."""

    @property
    def names(self) -> str:
        """Names of all its files, as a row has them."""
        return "; ".join(file.name for file in (*self.files, *([] if self.tape is None else [self.tape])))


Kind = Literal["start_up", "copying", "reading", "calculating", "writing", "scheduling"]
Seconds = dict[Kind, float]
"""Seconds of a processor by what they went into."""


class MonthAnswer(Struct, frozen=True, kw_only=True):
    """What came of a month of a deal."""

    rows: tuple[ResultRow, ...]
    outputs: tuple[str, ...] = ()
    """Those of `OUTPUTS` that were written."""
    seconds: Seconds = {}
