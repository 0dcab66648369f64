"""What stands in a report on compliance, as plain data.

Figures in their tests' units, nothing formatted yet.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Final, Literal

from msgspec import Struct

from core.compliance.result import Direction, Doubt, PublishedFigure, Source, Status, Summary
from core.deals.movements import PartName
from core.deals.tie_out import TieOut
from core.frames.figures import DECIMALS
from core.portfolio.model.notes import DataWarning

Unit = Literal["percent", "factor", "score", "years", "amount", "number"]
Outcome = Literal["pass", "warning", "doubtful", "fail", "none"]
"""Of a whole report; doubtful: no test fails beyond doubt, and some pass or fail doubtfully; none: no test has a
figure."""

MaskedEnds = tuple[float, float]

UNNAMED: Final = "A portfolio without a name"


class Origin(Struct, frozen=True, kw_only=True):
    """Where the figures come from, as the caller knows it; texts are shown as is."""

    name: str
    """Of the deal, or of the workbook."""
    file_name: str | None = None
    file_sha256: str | None = None
    file_size_bytes: int | None = None
    uploaded_at: datetime | None = None
    workbook_id: str | None = None
    run_id: str | None = None
    run_at: datetime | None = None
    mapping: str | None = None
    """The name of the mapping."""
    definition_version: int | None = None
    remarks: tuple[str, ...] = ()
    """What else its reader has to know, such as what was redacted: shown with the warnings."""


class ReportVerdict(Struct, frozen=True):
    """The report in two sentences."""

    outcome: Outcome
    headline: str
    sentence: str


class KeyFigure(Struct, frozen=True):
    """A figure of the cover."""

    label: str
    value: float
    unit: Unit
    beside: str = ""
    """What the file prints where that is another figure, and whether ours is doubtful."""


class TestLine(Struct, frozen=True, kw_only=True):
    """A test of the run."""

    __test__ = False

    test_id: str
    name: str
    category: str
    unit: Unit
    status: Status
    value: float
    threshold: float
    warning: float | None
    direction: Direction
    cushion: float | None
    cushion_pct: float | None
    message: str
    masked: MaskedEnds | None = None
    """Between which ends masked ratings, or blanks, leave the figure."""
    published: PublishedFigure | None = None
    """What the file prints for the test."""
    doubt: list[Doubt] = []
    """Why the figure may be wrong."""
    doubtful: bool = False
    """The file contradicts the status, or more par is missing than the cushion bears."""
    decimals: int = DECIMALS
    """Decimals to print the figures with."""


class SkippedLine(Struct, frozen=True, kw_only=True):
    """A test without a status, and why."""

    test_id: str
    name: str
    reason: str
    value: float | None = None
    masked: MaskedEnds | None = None
    unit: Unit = "percent"


class Category(Struct, frozen=True):
    """The tests of a category, in the order of the run."""

    name: str
    tests: list[TestLine]


class MoverLine(Struct, frozen=True):
    """A loan that moved a test: what its change alone does to the figure."""

    name: str
    effect: float


class PartLine(Struct, frozen=True):
    """A class of changes; the parts of a test add up to its change."""

    part: PartName
    change: float
    loans: list[MoverLine]


class TestChange(Struct, frozen=True, kw_only=True):
    """A test on two days."""

    test_id: str
    name: str
    unit: Unit
    before: float | None
    after: float | None
    change: float | None
    better: bool | None
    """None where it moved nowhere, or where nothing says which way is better."""
    status_before: Status | None
    status_after: Status | None
    parts: list[PartLine]
    """Those that moved it, the greatest first; empty where only the figures of the two days are known."""
    doubtful_before: bool = False
    doubtful_after: bool = False


class ReportChanges(Struct, frozen=True):
    """What moved since an earlier day."""

    since: date | None
    tests: list[TestChange]
    """A new status first, then the greatest part of the limit first; tests that did not move are left out."""
    unmoved: int
    """Tests with the same figure on both days."""


class Share(Struct, frozen=True, kw_only=True):
    """A name, or a bucket, with its par and its share in percent."""

    name: str
    par: float
    share_pct: float


class Concentration(Struct, frozen=True, kw_only=True):
    """The largest of something, and what is left."""

    title: str
    of: str
    """What the shares are shares of, and how much that is."""
    of_amount: float
    rows: list[Share]
    others: Share | None
    """All further ones together; their count is in its name."""
    blank: Share | None
    """Loans that do not say."""
    limit: float | None
    """Percent: that of the largest, where a test has one."""


class Distribution(Struct, frozen=True, kw_only=True):
    """Buckets in their own order."""

    title: str
    of: str
    note: str
    rows: list[Share]


class SeriesPoint(Struct, frozen=True, kw_only=True):
    """A test's figure on a day."""

    as_of: date
    value: float
    threshold: float
    status: Status
    doubtful: bool = False
    """The status is doubtful."""


class Series(Struct, frozen=True, kw_only=True):
    """A test through the months, in the order of days."""

    test_id: str
    name: str
    unit: Unit
    direction: Direction
    points: list[SeriesPoint]


class LadderStep(Struct, frozen=True):
    """A line of a sum: `amount` is added to what stands above.

    A total's is what stands above it.
    """

    label: str
    amount: float
    is_total: bool = False


class Ladder(Struct, frozen=True, kw_only=True):
    """A numerator, step by step."""

    title: str
    steps: list[LadderStep]
    notes: list[str]


class ClassLine(Struct, frozen=True, kw_only=True):
    """A class with all senior to it; ratio, trigger and cushion in percent."""

    name: str
    numerator: float
    denominator: float | None
    ratio: float | None
    trigger: float | None
    cushion: float | None
    status: Literal["pass", "warning", "fail"] | None
    cure_amount: float | None
    """What would have to be added to the numerator."""
    doubtful: bool = False
    """The status is doubtful."""


class Coverage(Struct, frozen=True, kw_only=True):
    """Overcollateralisation or interest coverage.

    The numerator in its steps, and the ratio of each class.
    """

    title: str
    ladder: Ladder
    denominator: str
    classes: list[ClassLine]


class NoteLine(Struct, frozen=True, kw_only=True):
    """A class of the notes.

    Balances in the deal's currency, the coupon in percent, the spread in basis points.
    """

    name: str
    original_balance: float | None
    current_balance: float | None
    share_pct: float | None
    """Of all current balances."""
    coupon: float | None
    spread: float | None
    deferred_interest: float | None


class Method(Struct, frozen=True, kw_only=True):
    """How a test's figure came about."""

    test_id: str
    name: str
    formula: str
    numerator: float | None
    denominator: float | None
    coverage_pct: float | None
    """Percent of par whose rows say what the figure needs."""
    cells: list[str]
    source: Source | None
    """Who set the limit."""
    limit_from: str | None
    """Where in the file the limit stands."""


class RuleLine(Struct, frozen=True):
    """A key of the deal's definition that differs from the standard."""

    key: str
    value: str
    meaning: str


class LineageLine(Struct, frozen=True):
    """A line of the lineage."""

    label: str
    value: str


class ReportLineage(Struct, frozen=True, kw_only=True):
    """From which bytes the figures come, and what was read of them."""

    source: list[LineageLine]
    rows: list[LineageLine]
    columns: list[LineageLine]
    """Field -> the column's header and its cells."""
    sheets: list[LineageLine]
    """What became of other sheets with loans."""


class ComplianceReport(Struct, frozen=True, kw_only=True):
    """All that the document shows."""

    title: str
    suite: str
    currency: str | None
    as_of: date | None
    as_of_source: str
    """Who says that day, in words; empty where nobody knows."""
    generated_at: datetime
    origin: Origin
    verdict: ReportVerdict
    summary: Summary
    warnings: list[DataWarning]
    """What was guessed, left out or could not be read."""
    read_as: str
    """The readings by which the file's own figures tie, in words; empty where none was used."""
    key_figures: list[KeyFigure]
    thinnest: list[TestLine]
    changes: ReportChanges | None
    categories: list[Category]
    skipped: list[SkippedLine]
    deal_days: list[LineageLine]
    """Closing, end of reinvestment, stated maturity and next payment, those that are known."""
    notes: list[NoteLine]
    """Most senior first."""
    coverage: list[Coverage]
    concentrations: list[Concentration]
    distributions: list[Distribution]
    history: list[Series]
    tie_out: list[TieOut]
    methods: list[Method]
    definition_name: str | None
    rules: list[RuleLine]
    lineage: ReportLineage
