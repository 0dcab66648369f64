"""What is compared between a trustee's tape and a portfolio.

Fields, tolerances and severities as rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.portfolio.model.ratings import RATING_FIELDS

Severity = Literal["critical", "error", "warning", "info"]
Category = Literal["calculation", "rating", "identity", "date", "classification", "missing", "duplicate"]
IssueType = Literal["value_mismatch", "missing_in_internal", "missing_in_trustee", "duplicate_position"]
IdentifierType = Literal["cusip", "loanx_id", "isin", "borrower_maturity", "borrower_name"]
Unit = Literal["currency", "points", "bps", "days"]

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "error", "warning", "info")
"""Worst first; the kernels know a severity as its place here plus one, 0 being none."""

ISSUE_TYPES: Final[tuple[IssueType, ...]] = (
    "value_mismatch", "missing_in_internal", "missing_in_trustee", "duplicate_position",
)  # fmt: skip

STAGES: Final[tuple[IdentifierType, ...]] = ("cusip", "loanx_id", "isin", "borrower_maturity", "borrower_name")
"""How a pair was found, in the order in which it is tried."""


ROUNDING_DECIMALS: Final = 6
"""Differences and tolerances are told apart to this many decimals."""


class ReconcileError(ValueError):
    """A comparison that cannot be made as asked.

    An unknown rule, a tolerance that is none, too many loans.
    """


@dataclass(frozen=True, slots=True)
class Band:
    """The severity of sizes above `above`, or from it on where `inclusive`."""

    above: float
    severity: Severity
    inclusive: bool = False

    def holds(self, size: float) -> bool:
        """Return whether a size lies in the band or beyond it."""
        return size >= self.above if self.inclusive else size > self.above


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it compares, how far apart the sides may be, and how bad more than that is."""

    name: str
    fields: tuple[str, ...]
    """Fields of a portfolio; the field_name of the rule's issues."""
    category: Category
    severity: Severity
    """Of what is out of tolerance and in none of the bands."""
    tolerance: float | None = None
    """The largest difference that is none, in `unit`; None where the sides must agree."""
    unit: Unit | None = None
    scale: float = 1.0
    """Units in one of the portfolio's own: 100 basis points in one percent."""
    bands: tuple[Band, ...] = ()
    """Severities by size, the largest first: percent of the trustee's figure, or the par of a missing loan."""
    lesser: Severity | None = None
    """Of a difference that is one of form: a rating withdrawn against one never given, a spelling, a tenor unknown."""


RULES: Final[dict[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule(
            "par_value", ("par_value",), "calculation", "info", 0.01, "currency",
            bands=(Band(5.0, "critical"), Band(1.0, "error", inclusive=True)),
        ),
        Rule("price", ("price",), "calculation", "warning", 0.125, "points"),
        Rule("rating", RATING_FIELDS, "rating", "warning", lesser="info"),
        Rule("spread", ("spread",), "calculation", "warning", 10.0, "bps"),
        Rule("maturity_date", ("maturity_date",), "date", "warning", 0.0, "days"),
        Rule("base_rate", ("base_rate",), "classification", "warning", lesser="info"),
        Rule("all_in_rate", ("all_in_rate",), "calculation", "warning", 5.0, "bps", scale=100.0),
        Rule("industry", ("industry",), "classification", "warning", lesser="info"),
        Rule(
            "missing_loan", ("missing_loan",), "missing", "warning",
            bands=(Band(1_000_000.0, "critical"), Band(100_000.0, "error", inclusive=True)),
        ),
    )
}  # fmt: skip
"""The rules that can be asked for, by name, in the order of their issues."""

ALWAYS: Final[dict[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule("borrower_name", ("borrower_name",), "identity", "info"),
        Rule("identifier", ("cusip", "loanx_id", "isin"), "identity", "warning", lesser="info"),
        Rule("duplicate", ("lots", "duplicates"), "duplicate", "warning"),
    )
}
"""What is compared whatever is asked for.

identifier: the lesser severity where one of the two fails its check digit or shape. duplicate: lots of one position
that disagree among themselves (the values are the counts of lots), and keys that several loans of a side share (the
values are the counts of these).
"""

FIELDS: Final = tuple((field, rule) for rules in (RULES, ALWAYS) for rule in rules.values() for field in rule.fields)
"""Every field an issue can name, with its rule, in the order of the issues of one loan."""

FIELD_CODE: Final = {field: code for code, (field, _) in enumerate(FIELDS)}


TOLERANCE_MAX: Final = 1e15
"""The largest tolerance that can be set: beyond it six decimals mean nothing."""


def chosen(rules: Iterable[str] | None) -> frozenset[str]:
    """Return the names of the rules asked for; all of them for None.

    Raises:
        ReconcileError: a name that is no rule, or none at all.
    """
    if rules is None:
        return frozenset(RULES)
    if isinstance(rules, str):
        raise ReconcileError("rules must be a list of names")
    names = list(rules)
    unknown = sorted({str(name) for name in names if not isinstance(name, str) or name not in RULES})
    if unknown:
        raise ReconcileError(f"unknown rule(s) {', '.join(unknown)[:200]}: choose from {', '.join(RULES)}")
    if not names:
        raise ReconcileError(f"no rule is asked for: choose from {', '.join(RULES)}")
    return frozenset(names)


def tolerances_of(own: Mapping[str, float] | None) -> dict[str, float]:
    """Return the tolerance of each rule that has one, in its unit.

    The default, or what `own` sets.

    Raises:
        ReconcileError: a rule without a tolerance, or a tolerance that is not a number from 0 to TOLERANCE_MAX.
    """
    tolerances = {name: rule.tolerance for name, rule in RULES.items() if rule.tolerance is not None}
    for name, value in (own or {}).items():
        if name not in tolerances:
            raise ReconcileError(
                f"no tolerance can be set for {str(name)[:200]!r}: choose from {', '.join(tolerances)}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= TOLERANCE_MAX:
            raise ReconcileError(f"the tolerance of {name} must be a number from 0 on, at most {TOLERANCE_MAX:g}")
        tolerances[name] = float(value)
    return tolerances
