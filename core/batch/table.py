"""The table that a batch gives: a row for each test of each deal.

Each other step and each failure has a row, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType, structs

from core.compliance.result import Direction, PublishedFigure, Results, Skipped, Source, TestResult
from core.portfolio.model.portfolio import AsOfSource

Step = Literal["read", "suite", "reconcile", "recalc", "report", "export"]
"""What a row is about: reading the files, or a step of the batch."""

RowStatus = Literal["pass", "fail", "warning", "skipped", "done", "refused"]
"""pass, fail, warning, skipped: of a test. done, refused: of any other step; refused has its reason in `message`."""


class DealMonth(Struct, frozen=True, kw_only=True):
    """Whose rows they are: one deal on one day."""

    deal: str
    files: str
    """Names of its files, separated by "; "."""
    sha256: str
    """Of the files' bytes: of one file its own hash, of several that of their names and hashes."""
    as_of: date | None = None
    as_of_source: AsOfSource | None = None


class ResultRow(Struct, frozen=True, kw_only=True):
    """One row. Figures are in the test's unit; what is not known is null."""

    deal: str
    as_of: date | None = None
    as_of_source: AsOfSource | None = None
    step: Step
    suite: str | None = None
    test_id: str | None = None
    """Id of the test, or name of what another step counts, such as issues_critical."""
    test: str | None = None
    status: RowStatus
    value: float | None = None
    limit: float | None = None
    limit_type: Direction | None = None
    limit_source: Source | None = None
    unit: str | None = None
    cushion: float | None = None
    cushion_pct: float | None = None
    low: float | None = None
    """Lowest figure that masked or blank inputs leave possible."""
    high: float | None = None
    published: float | None = None
    """The figure that the file prints for the test."""
    published_limit: float | None = None
    published_status: Literal["pass", "fail"] | None = None
    difference: float | None = None
    """Our figure less the published one."""
    agrees: bool | None = None
    """Whether the two tie."""
    doubtful: bool | None = None
    """Whether the status may be wrong; null where there is none."""
    doubt: str | None = None
    """Every reason why the figure may be wrong, as "code: message", separated by "; "."""
    message: str | None = None
    """The result in a sentence, or why a test was skipped or a step refused."""
    output: str | None = None
    """The file that the step wrote, below the batch's folder."""
    files: str | None = None
    sha256: str | None = None


COLUMNS: Final = ResultRow.__struct_fields__


def rows_of(month: DealMonth, suite: str, results: Results) -> Iterator[ResultRow]:
    """Yield a row for each result in catalogue order, then one for each skipped test."""
    for result in results:
        yield _row_of_result(month, suite, result)
    for skipped in results.skipped:
        yield _row_of_skipped(month, suite, skipped)


def refused_row(month: DealMonth, step: Step, reason: str) -> ResultRow:
    """Return the row of a step that could not be done."""
    return ResultRow(**_of_month(month), step=step, status="refused", message=reason)


def _of_month(month: DealMonth) -> dict[str, Any]:
    """Return the columns that say whose a row is."""
    return structs.asdict(month) | {"sha256": month.sha256 or None}


def _of_published(published: PublishedFigure | None) -> dict[str, Any]:
    """Return the columns of what the file prints for a test."""
    if published is None:
        return {}
    return {
        "published": published.value,
        "published_limit": published.trigger,
        "published_status": published.status,
        "difference": published.difference,
        "agrees": published.agrees,
    }


def _row_of_result(month: DealMonth, suite: str, result: TestResult) -> ResultRow:
    return ResultRow(
        **_of_month(month),
        **_of_published(result.published),
        step="suite",
        suite=suite,
        test_id=result.test_id,
        test=result.test_name,
        status=result.status,
        value=result.current_value,
        limit=result.threshold_value,
        limit_type=result.threshold_type,
        limit_source=result.threshold_source,
        unit=result.unit or None,
        cushion=result.cushion,
        cushion_pct=result.cushion_pct,
        low=_or_none(result.low),
        high=_or_none(result.high),
        doubtful=result.doubtful,
        doubt="; ".join(f"{doubt.code}: {doubt.message}" for doubt in result.doubt) or None,
        message=result.message,
    )


def _row_of_skipped(month: DealMonth, suite: str, skipped: Skipped) -> ResultRow:
    return ResultRow(
        **_of_month(month),
        **_of_published(skipped.published),
        step="suite",
        suite=suite,
        test_id=skipped.test_id,
        test=skipped.test_name,
        status="skipped",
        value=_or_none(skipped.current_value),
        low=_or_none(skipped.low),
        high=_or_none(skipped.high),
        message=skipped.reason,
    )


def _or_none(figure: float | UnsetType) -> float | None:
    return None if figure is UNSET else figure
