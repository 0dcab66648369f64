"""The notes, and their coverage.

Numerators in their steps, and each class's ratio, as a run's results explain them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from core.compliance.coverage import CoverageGroup, cure_amount
from core.compliance.pool_sums import Pool
from core.compliance.result import Results, TestResult
from core.portfolio.model.portfolio import Tranches
from core.report.content import ClassLine, Coverage, Ladder, LadderStep, NoteLine


def notes_of(tranches: Tranches | None) -> Iterator[NoteLine]:
    """Yield the deal's notes as the file has them, most senior first."""
    if tranches is None:
        return
    total = float(np.nansum(tranches.current_balance))
    for at, name in enumerate(tranches.classes):
        current = _finite(tranches.current_balance[at])
        yield NoteLine(
            name=name,
            original_balance=_finite(tranches.original_balance[at]),
            current_balance=current,
            share_pct=current / total * 100 if current is not None and total > 0 else None,
            coupon=_finite(tranches.coupon[at]),
            spread=_finite(tranches.spread[at]),
            deferred_interest=_finite(tranches.deferred_interest[at]),
        )


def _finite(value: np.float64) -> float | None:
    return float(value) if np.isfinite(value) else None


_OC_STEPS: Final = (
    ("principal_cash", "Principal cash", 1),
    ("", "Collateral principal amount", 0),
    ("ccc_haircut", "CCC/Caa excess carried at market value", -1),
    ("discount_haircut", "Discount obligations carried at purchase price", -1),
    ("deferring_haircut", "Deferring loans carried below par", -1),
    ("long_dated_and_current_pay", "Long-dated and current pay loans above their limits", 1),
    ("other_haircut", "Other haircuts of the file's own calculation", -1),
    ("defaulted_carried", "Defaulted loans at their carrying value", 1),
    ("purchased_accrued_interest", "Purchased accrued interest", 1),
    ("par_value_other", "Other items of the file's own calculation", 1),
)
"""Key of a result's adjustments, the line's words, and how it counts; 0 is a total of what stands above."""

_IC_STEPS: Final = (
    ("interest_collected", "Interest collected", 1),
    ("interest_receivable", "Interest still to be received", 1),
    ("scheduled_interest", "Interest estimated", 1),
    ("hedge", "Hedge receipts less payments", 1),
    ("interest_other", "Other items of the file's own calculation", 1),
)


def coverage_of(results: Results, pool: Pool | None) -> Iterator[Coverage]:
    """Yield the two kinds of coverage, as the details of the run's tests explain them.

    A class that has neither a test of the run nor a trigger of the file's has no trigger here: the details would show
    the usual one of its letter.
    """
    notes = None if pool is None else pool.structure
    oc_triggers, ic_triggers = (frozenset[str](),) * 2 if notes is None else map(_with_trigger, (notes.oc, notes.ic))
    detailed = [(result, result.details.breakdown) for result in results if result.details is not None]
    oc = [(each, breakdown) for each, breakdown in detailed if "adjustments" in breakdown]
    ic = [(each, breakdown) for each, breakdown in detailed if "income" in breakdown]
    if oc:
        yield Coverage(
            title="Overcollateralisation",
            ladder=_oc_ladder(oc[0][1]["adjustments"]),
            denominator="Notes and all senior to them",
            classes=_classes(oc, oc_triggers),
        )
    if ic:
        yield Coverage(
            title="Interest coverage",
            ladder=_ic_ladder(ic[0][1]["income"]),
            denominator="Interest due, with all senior to it",
            classes=_classes(ic, ic_triggers),
        )


def _oc_ladder(breakdown: Mapping[str, float]) -> Ladder:
    cpa = breakdown["collateral_principal_amount"]
    steps = [LadderStep("Performing par", cpa - breakdown["principal_cash"])]
    for name, words, sign in _OC_STEPS:
        if not name:
            steps.append(LadderStep(words, cpa, is_total=True))
        elif name in breakdown:
            steps.append(LadderStep(words, sign * breakdown[name]))
    steps.append(LadderStep("Adjusted collateral principal amount", breakdown["adjusted"], is_total=True))
    notes = []
    if breakdown["ccc_excess"]:
        notes.append(
            f"CCC/Caa par above its limit: {breakdown['ccc_excess']:,.2f}, the cheapest loans of the bucket first."
        )
    if unpriced := breakdown["ccc_rows_without_price"]:
        notes.append(f"{unpriced:,.0f} of its loans have no price and are taken at the standard one.")
    return Ladder(title="From par to the numerator", steps=steps, notes=notes)


def _ic_ladder(breakdown: Mapping[str, Any]) -> Ladder:
    steps = [LadderStep(words, sign * breakdown[name]) for name, words, sign in _IC_STEPS if name in breakdown]
    steps.append(
        LadderStep("Senior fees and expenses", -breakdown.get("senior_fees_counted", breakdown["senior_fees"]))
    )
    steps.append(LadderStep("Interest available", breakdown["available"], is_total=True))
    notes = [
        f"Interest of the period: {breakdown['interest_basis']}.",
        f"Senior fees: {breakdown['senior_fees_basis']}.",
    ]
    return Ladder(title="From interest to the numerator", steps=steps, notes=notes)


def _with_trigger(tested: Iterable[CoverageGroup]) -> frozenset[str]:
    return frozenset(each.name for each in tested if each.from_sheet)


def _classes(tests: Sequence[tuple[TestResult, Mapping[str, Any]]], with_trigger: frozenset[str]) -> list[ClassLine]:
    """Return a line for each class, senior first, by its test where it has one.

    Then the tests that no class stands for.
    """
    lines: dict[str, ClassLine] = {}
    own: list[ClassLine] = []
    tested: set[str] = set()
    for each, breakdown in tests:
        name, line = breakdown.get("tested_class"), _test_line(each, breakdown)
        for row in breakdown.get("classes", ()):
            by_own = row["class"] in with_trigger and (each.test_id != DIVERSION or row["class"] != name)
            lines.setdefault(row["class"], _class_line(row, has_trigger=by_own))
        if name in lines and name not in tested and each.test_id != DIVERSION:
            lines[name] = replace(line, name=name)
            tested.add(name)
        else:
            own.append(line)
    return [*lines.values(), *own]


DIVERSION: Final = "interest_diversion_ratio"
"""It looks at the class of the junior ratio by a mark of its own, which is not the class's trigger."""


def _class_line(row: Mapping[str, Any], *, has_trigger: bool) -> ClassLine:
    against = row if has_trigger else {}
    return ClassLine(
        name=row["class"],
        numerator=row["numerator"],
        denominator=row["denominator"],
        ratio=row.get("ratio"),
        trigger=against.get("trigger"),
        cushion=against.get("cushion"),
        status=against.get("status"),
        cure_amount=against.get("cure_amount"),
    )


def _test_line(test_result: TestResult, breakdown: Mapping[str, Any]) -> ClassLine:
    numerator, denominator = breakdown["numerator"], breakdown["denominator"]
    return ClassLine(
        name=test_result.test_name,
        numerator=numerator,
        denominator=denominator,
        ratio=test_result.current_value,
        trigger=test_result.threshold_value,
        cushion=test_result.cushion,
        status=test_result.status,
        cure_amount=None
        if test_result.threshold_type != "min"
        else cure_amount(test_result.status, test_result.threshold_value, numerator, denominator),
        doubtful=test_result.doubtful,
    )
