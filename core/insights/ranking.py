"""Which findings a reader sees, in which order and words.

Priority, confidence, views and angles.

Priority is the urgency that a finder states, as a number:

| 1 | act | a test fails, or a critical break with the trustee stands |
| 2 | near | inside a warning band, within 2 % of a limit, or one stated step away from a failure |
| 3 | notable | a move, share or gap beyond the line that its finder names |
| 4 | context | what a reader of the deal wants to know |
| 5 | background | for information |

Confidence is the product of three parts, to two decimals:

- how the figure came about: 0.95 measured, 0.80 projected (a run over a portfolio as it would be), 0.50 extrapolated (a
  line through the past);
- the share of par whose rows have what the figure asks for;
- 0.95 for each warning of the run on which its tests rest, 0.75 at least; 0.60 where the file itself says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.insights.insight import Category, Stakeholder
from core.insights.study import Basis, Study, StudyFinding, Urgency
from core.portfolio.model.notes import DataWarning

PRIORITY: Final[dict[Urgency, int]] = {"act": 1, "near": 2, "notable": 3, "context": 4, "background": 5}
CONFIDENCE: Final[dict[Basis, float]] = {"measured": 0.95, "projected": 0.80, "extrapolated": 0.50}
PER_WARNING: Final = 0.95
WARNINGS_LEAST: Final = 0.75
DISPUTED: Final = 0.60

ANGLES: Final = 4
"""The first list of a session and three regenerations."""

OF_A_FAMILY: Final = 2
"""Findings of one finder in a list, as long as others are left."""


@dataclass(frozen=True)
class ReaderView:
    """What a kind of reader is shown, and first."""

    first: tuple[str, ...]
    """Families that come before others of the same priority, in this order."""
    lead: str = ""
    """A family that opens the first list whatever its priority, and sums up the tests: of the failing ones no more are
    shown than of any family while others are left."""
    without: frozenset[str] = frozenset()
    """Families that this reader is not shown unless they ask to act."""


VIEWS: Final[dict[Stakeholder, ReaderView]] = {
    "executive": ReaderView(
        lead="verdict",
        first=("failing", "moved", "downgrade", "default", "worth", "turnover", "distressed", "thin"),
        without=frozenset(("gaps", "warned", "odd", "kinds", "low_spread", "stale", "skipped", "ratings", "groups")),
    ),
    "finance": ReaderView(
        ("erosion", "worth", "spread", "cash", "thin", "failing", "soon", "distressed", "defaults", "prices"),
        without=frozenset(("odd", "skipped", "groups", "warned")),
    ),
    "operations": ReaderView(
        ("breaks", "failing", "gaps", "skipped", "stale", "warned", "odd", "turnover", "soon", "cash", "late"),
        without=frozenset(("spread", "erosion", "kinds", "ratings")),
    ),
    "analyst": ReaderView(
        ("failing", "thin", "moved", "downgrade", "ccc", "migration", "drift", "headroom", "ahead_of_ratings")
    ),
}  # fmt: skip

LEANINGS: Final[tuple[frozenset[Category], ...]] = (
    frozenset(),
    frozenset(("trends_forecasts", "financial_health")),
    frozenset(("portfolio_composition",)),
    frozenset(("data_quality", "risk_compliance")),
)
"""By angle, the categories that come first: what matters most, where it is heading, what is inside, what to doubt."""

RESTS_ON: Final[dict[str, frozenset[str]]] = {
    "interest_estimated": frozenset(("ic",)), "fees_estimated": frozenset(("ic",)), "no_base_rate": frozenset(("ic",)),
    "no_principal_cash": frozenset(("oc", "reinvestment_oc")), "no_rating": frozenset(("oc", "ccc", "warf")),
    "masked_ratings": frozenset(("ccc", "warf", "oc")), "masked_by_rating_table": frozenset(("ccc", "warf", "oc")),
    "no_moodys_rating": frozenset(("warf",)),
    "recovery_assumed": frozenset(("warr",)), "recovery_agency": frozenset(("warr",)),
    "lives_by_maturity": frozenset(("wal",)), "as_of_stands_in": frozenset(("wal",)),
    "no_maturity": frozenset(("wal",)),
    "obligors_alike": frozenset(("obligor", "top_obligors")), "affiliates_by_name": frozenset(("obligor",)),
    "bonds_secured": frozenset(("non_senior_secured",)), "reference_coupon_unknown": frozenset(("was",)),
    "no_price": frozenset(("price_below", "average_price")), "no_lien": frozenset(("non_senior_secured",)),
}  # fmt: skip
"""Code of a warning -> measures whose figures rest on what it tells of."""
EVERYWHERE: Final = frozenset(
    (
        "standard_definition",
        "definition_without_base",
        "par_scale",
        "par_unlike_notes",
        "required_missing",
        "par_is_commitment",
        "page_left_out",
    )
)
"""Warnings on which every figure rests."""


def rests_on(study: Study, finding: StudyFinding) -> list[DataWarning]:
    """Return the warnings of the run on which a finding rests."""
    measures = {study.measure(test_id) for test_id in finding.tests}
    return [
        warning
        for warning in study.results.warnings
        if warning.code in EVERYWHERE or not measures.isdisjoint(RESTS_ON.get(warning.code, ()))
    ]


def confidence_of(finding: StudyFinding, warnings: int) -> float:
    """By the rule above; `warnings` are those of the run on which the finding rests."""
    doubt = DISPUTED if finding.is_disputed else max(WARNINGS_LEAST, PER_WARNING**warnings)
    covered = min(1.0, max(0.0, finding.coverage_pct / 100))
    return round(CONFIDENCE[finding.basis] * covered * doubt, 2)


def ranked(
    findings: Sequence[tuple[int, StudyFinding]], view: ReaderView, angle: int, most: int
) -> list[tuple[int, StudyFinding]]:
    """Return the findings of an angle, each with the place of its subject.

    Those that the angles before it did not show.

    The angles behind the first share what it leaves, so that each has something else to say; where too few are left,
    the most important ones fill the list up to three.
    """
    left = [finding for finding in findings if finding[1].family not in view.without or finding[1].urgency == "act"]
    every, shown = list(left), list[tuple[int, StudyFinding]]()
    for place in range(angle % ANGLES + 1):
        share = most if place == 0 else min(most, max(FEWEST, -(-len(left) // (ANGLES - place))))
        shown = _pick(left, view, LEANINGS[place], share)
        left = [each for each in left if each not in shown]
    if len(shown) < FEWEST:
        top = _pick(every, view, LEANINGS[0], most)
        shown += [each for each in top if each not in shown][: FEWEST - len(shown)]
    return shown


FEWEST: Final = 3


def _pick(
    findings: Sequence[tuple[int, StudyFinding]], view: ReaderView, leaning: frozenset[Category], most: int
) -> list[tuple[int, StudyFinding]]:
    def order(ranked_finding: tuple[int, StudyFinding]) -> tuple[bool, bool, int, int, float, str, int]:
        at, finding = ranked_finding
        place = view.first.index(finding.family) if finding.family in view.first else len(view.first)
        leans = bool(leaning) and finding.category not in leaning
        return finding.family != view.lead, leans, PRIORITY[finding.urgency], place, -finding.weight, finding.key, at

    chosen: list[tuple[int, StudyFinding]] = []
    rest: list[tuple[int, StudyFinding]] = []
    seen: dict[tuple[int, str], int] = {}
    for each in sorted(findings, key=order):
        family = each[0], each[1].family
        seen[family] = seen.get(family, 0) + 1
        is_urgent = each[1].urgency == "act" and not view.lead  # which sums up what is left out
        (chosen if seen[family] <= OF_A_FAMILY or is_urgent else rest).append(each)
    return sorted((chosen + rest)[:most], key=order)
