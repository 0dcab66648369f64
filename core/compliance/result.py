"""What a compliance run says.

Results, skipped tests, the summary, and what to know before trusting them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, SupportsIndex, overload

import msgspec

from core.compliance import framed
from core.compliance.kernels import put, rounded
from core.frames.brief import brief, shown
from core.frames.figures import DECIMALS, decimals_of
from core.frames.frame import Frame, Framed
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning, limit_warnings
from core.portfolio.model.portfolio import AsOfSource

Status = Literal["pass", "fail", "warning"]
Direction = Literal["min", "max", "exact"]
Source = Literal["request", "workbook", "deal", "definition", "sheet", "tenant", "suite"]
"""Who set a limit, in the order in which they are asked."""


class Details(msgspec.Struct, frozen=True):
    """How a value came about."""

    formula: str
    """How the figure is worked out, in words."""
    cell_refs: list[str]
    """Ranges of the workbook that the figure was read from."""
    breakdown: dict[str, Any]
    """What the figure is made of: unit, sums, counts, largest names, classes; its keys depend on the test."""

    __repr__ = brief


DoubtCode = Literal[
    "masked_inputs", "blank_inputs", "estimate", "stand_in", "conflict", "ambiguous_column", "implausible",
    "joined_by_name", "left_out", "doubtful_cash", "doubtful_par", "doubtful_denominator", "differs",
]  # fmt: skip
"""Why a figure may be wrong; `core.compliance.grouped.KINDS` says what each means."""


class Doubt(msgspec.Struct, frozen=True):
    """One reason why a figure may be wrong."""

    code: DoubtCode
    """Kind of doubt, such as blank_inputs or differs; it keeps its spelling."""
    message: str
    """For a reader: what was seen, and how much of par it is about where that is known."""
    places: list[str]
    """Cells and ranges that it is about, with the sheet's name; none where there are no cells."""

    __repr__ = brief


class PublishedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """The figure of the same test that the file prints, beside ours."""

    name: str
    """As printed."""
    value: float | None
    """In the test's unit; null where only a limit is printed."""
    numerator: float | None
    """What the file prints above the line; null where it prints none."""
    denominator: float | None
    """What the file prints below the line; null where it prints none."""
    trigger: float | None
    """The limit that is printed, in the test's unit."""
    status: Literal["pass", "fail"] | None
    """The outcome that is printed; null where there is none."""
    place: str
    """Where it stands, with the sheet's name: 'Tests'!C7."""
    difference: float | None
    """Our figure less this one, in the test's unit; null where one is not known."""
    agrees: bool | None
    """Whether the two tie: numerator and denominator to the cent where both are printed, else the figure within half a
    unit of its last printed digit. Null: one of the two is not known."""

    __repr__ = brief


class _Deferred:
    """Fields that are made when one of their group is first read.

    Message and details; doubts; whether they may turn the status, which a summary asks of every result; how the figure
    is shown.

    A Struct cannot do that: its encoder reads the fields' memory, where a dataclass is asked for its attributes.
    """

    __slots__ = ("_args", "_maker")

    if not TYPE_CHECKING:  # for it, every attribute would be one

        def __getattr__(self, name: str) -> Any:
            """Return called for a field that is not there yet, and for what is no field."""
            if name in _TEXTS:
                group, values = _TEXTS, self._maker.texts(*self._args)
            elif name in _DOUBTS:
                group, values = _DOUBTS, tuple(self._maker.doubts(*self._args))
            elif name in _VERDICT:
                group, values = _VERDICT, tuple(self._maker.verdict(*self._args))
            elif name in _FORM:
                group, values = _FORM, self._maker.form(*self._args)
            else:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            put(self, group, values)
            return values[group.index(name)]


class Maker(Protocol):
    """Makes the fields of a result that are not figures of its comparison."""

    def texts(self, *args: Any) -> tuple[str, Details | None]:
        """Message and details."""
        ...

    def doubts(self, *args: Any) -> Doubts:
        """Return what to doubt of the result."""
        ...

    def verdict(self, *args: Any) -> Verdict:
        """How far it may be wrong."""
        ...

    def form(self, *args: Any) -> tuple[str, int]:
        """Return unit of the figures, and the decimals to show them with."""
        ...

    def is_settled(self, *args: Any) -> bool:
        """Return whether it has its status for sure."""
        ...


class Doubts(NamedTuple):
    """What speaks for and against a result: fields of `TestResult`."""

    published: PublishedFigure | None
    doubt: list[Doubt]


class Verdict(NamedTuple):
    """How far a result may be wrong: fields of `TestResult`."""

    low: float | msgspec.UnsetType
    high: float | msgspec.UnsetType
    doubtful: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult(_Deferred):
    """One test of a run.

    Figures in the test's unit, rounded to 6 decimals after the comparison.
    """

    __test__ = False  # not a test case, whatever its name says to a test collector

    test_id: str
    test_name: str
    category: str
    status: Status
    """pass; fail: the cushion is negative; warning: it passes, and reaches the warning threshold."""
    current_value: float
    """The figure, in the test's unit: percent points (7.5 is 7.5 %), years, or a plain number."""
    threshold_value: float
    threshold_type: Direction
    cushion: float | None
    """Null: the run left it out."""
    cushion_pct: float | None
    """Cushion in percent of the limit. Null: the limit is 0, or the run left it out."""
    message: str
    """The result in a sentence."""
    threshold_source: Source | None = None
    """Who set the limit; the first of this list that did: request, workbook, deal, definition, sheet (the file's own
    trigger), tenant, suite. Null: not recorded."""
    low: float | msgspec.UnsetType = msgspec.UNSET
    """Lowest figure that masked or blank inputs leave possible; left out where they leave no more than one status."""
    high: float | msgspec.UnsetType = msgspec.UNSET
    """Highest such figure."""
    details: Details | None = None
    """How the figure came about; null where details were not asked for."""
    published: PublishedFigure | None = None
    """The figure that the file prints for this test. Null: it prints none."""
    doubt: list[Doubt] = field(default_factory=list)
    """Every reason why the figure may be wrong; empty where none is known. The list is never cut."""
    doubtful: bool = False
    """Whether the status may be wrong: the file prints the other one, or the inputs miss so much par that they could
    turn it. `status` stays as computed."""
    unit: str = ""
    """Unit of the figures, as the suite names it: percent (percent points), years, factor, score, amount or number.
    Empty: not recorded."""
    decimals: int = DECIMALS
    """Decimals to show the figures with: those of the unit or the limit, or as many as tell the figure from the
    limit."""

    def __post_init__(self) -> None:
        if not self.unit:  # stored before results had the field
            unit = "" if self.details is None else self.details.breakdown.get("unit", "")
            put(self, _FORM, (unit, decimals_of(unit, self.current_value, self.threshold_value)))

    def __repr__(self) -> str:
        by_name = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _FORM}
        at = list(by_name).index("status") + 1
        doubtful = by_name.pop("doubtful")  # beside the status: what comes late in a line is left out of it
        items = list(by_name.items())
        return shown("TestResult", dict([*items[:at], *([("doubtful", True)] if doubtful else []), *items[at:]]))

    def _repr_html_(self) -> str:
        return framed.html_of_result(self)


_TEXTS: Final = ("message", "details")
_DOUBTS: Final = Doubts._fields
_VERDICT: Final = Verdict._fields
_FORM: Final = ("unit", "decimals")


def _is_settled(result: TestResult) -> bool:
    """Return whether nothing leaves a status open, without making what is said of it."""
    maker: Maker | None = getattr(result, "_maker", None)
    return maker is not None and maker.is_settled(*result._args)  # type: ignore[attr-defined]


def settle(results: Iterable[TestResult]) -> None:
    """Fill all fields of results now, and drop what computes them."""
    for result in results:
        result.message, result.doubt, result.doubtful, result.unit  # noqa: B018 - reading makes them
        put(result, ("_maker", "_args"), (None, ()))


class Skipped(msgspec.Struct, frozen=True):
    """A test that could not or should not run."""

    test_id: str
    test_name: str
    reason: str
    """Why it has no figure, or no status."""
    current_value: float | msgspec.UnsetType = msgspec.UNSET
    """Figure of a test that masked ratings leave open; left out of the others."""
    low: float | msgspec.UnsetType = msgspec.UNSET
    high: float | msgspec.UnsetType = msgspec.UNSET
    published: PublishedFigure | None = None
    """The figure that the file prints for this test. Null: it prints none."""

    __repr__ = brief


class Summary(msgspec.Struct, frozen=True):
    """Counts; total = passed + failed + warnings + skipped.

    `doubtful` counts some of these again.
    """

    total: int
    """Tests of the run: passed, failed, warnings and skipped together."""
    passed: int
    """Tests that pass without a warning."""
    failed: int
    """Tests that fail."""
    warnings: int
    """Tests that pass and reach their warning threshold."""
    skipped: int
    """Tests without a status."""
    doubtful: int = 0
    """Tests that pass, fail or warn and whose status may be wrong."""

    __repr__ = brief


class RunFigures(NamedTuple):
    """What a run worked out, by test id, not rounded."""

    values: Mapping[str, float] = {}
    """Every figure, those of tests without a limit too."""
    cushions: Mapping[str, float] = {}
    exact: Mapping[str, tuple[float, float]] = {}
    """The figure of each result, and what it is divided by."""


NO_FIGURES: Final = RunFigures()


class Results(list[TestResult], Framed):
    """The results of a suite in catalogue order, with what was skipped, the day that they are of, and warnings.

    `results["wal"]` is the result of a test by its id or its name, without case.
    """

    def __init__(
        self,
        results: list[TestResult],
        skipped: list[Skipped],
        *,
        as_of: date | None = None,
        as_of_source: AsOfSource | None = None,
        warnings: Sequence[DataWarning] = (),
        partial: bool = False,
        figures: RunFigures = NO_FIGURES,
        interpretation: Interpretation | None = None,
    ) -> None:
        super().__init__(results)
        self.skipped = skipped
        self.as_of = as_of
        self.as_of_source = as_of_source
        self.warnings = limit_warnings(warnings)
        self.partial = partial
        """Tests of the suite were left out on request: it says nothing of those."""
        self._figures = figures
        self.interpretation = interpretation
        """How the choices that the file leaves open were read. None: the portfolio was not interpreted."""

    @overload
    def __getitem__(self, key: SupportsIndex) -> TestResult: ...
    @overload
    def __getitem__(self, key: slice) -> list[TestResult]: ...
    @overload
    def __getitem__(self, key: str) -> TestResult: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> TestResult | list[TestResult]:
        """By place, or by a test's id or name.

        Raises:
            IndexError: as a list has it.
            KeyError: there is no result of that test; the message says why it was skipped, or what is near.
        """
        return framed.result_of(self, key) if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        """Return whether it is one of the results, or the id or name of one."""
        if not isinstance(key, str):
            return super().__contains__(key)
        return any(key.casefold() in (result.test_id.casefold(), result.test_name.casefold()) for result in self)

    def __repr__(self) -> str:
        return framed.repr_of(self)

    def _repr_html_(self) -> str:
        return framed.html_of(self)

    def head(self, count: int = 5) -> Results:
        """Return the results with the thinnest cushions, the thinnest first, with the day and the warnings of the run.

        Raises:
            ValueError: a negative count.
        """
        if count < 0:
            raise ValueError(f"head takes a count of 0 or more, not {count}")
        return self._of(framed.thinnest_first(self)[:count])

    def _of(self, results: list[TestResult]) -> Results:
        """Return some of the results, without those that were skipped."""
        return Results(
            results,
            [],
            as_of=self.as_of,
            as_of_source=self.as_of_source,
            warnings=self.warnings,
            figures=self._figures,
            interpretation=self.interpretation,
        )

    def frame(self) -> Frame:
        """Return a row for each result, figures in the test's unit.

        Those of the skipped tests have their reason in `attrs`, where the day and the warnings stand, too.
        """
        return framed.frame_of(self)

    @property
    def figures(self) -> dict[str, float]:
        """Every figure that was worked out, by test id, those of tests without a limit too; to six decimals."""
        return {test_id: rounded(value) for test_id, value in self._figures.values.items()}

    @property
    def cushions(self) -> Mapping[str, float]:
        """The cushions by test id, in full precision."""
        return self._figures.cushions

    @property
    def exact(self) -> Mapping[str, tuple[float, float]]:
        """By test id the figure, not yet rounded, and what it is divided by."""
        return self._figures.exact

    @property
    def read_as(self) -> str:
        """The readings by which the file's own figures tie, in words; empty for none."""
        return "" if self.interpretation is None else self.interpretation.read_as

    @property
    def summary(self) -> Summary:
        """The counts of this run."""
        by_status = [result.status for result in self]
        passed, failed, warnings = (by_status.count(status) for status in ("pass", "fail", "warning"))
        doubtful = sum(result.doubtful for result in self if not _is_settled(result))
        return Summary(len(self) + len(self.skipped), passed, failed, warnings, len(self.skipped), doubtful)


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A limit set by a workbook or a tenant, in place of the suite's default."""

    test_id: str
    threshold_value: float
    threshold_type: Direction | None = None
    """None keeps the test's own."""
    warning_threshold: float | None = None
    """None keeps the default's relative distance of warning to limit (none at all when the type differs)."""
    enabled: bool = True

    __repr__ = brief
