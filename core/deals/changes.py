"""Which loans came, went and changed between two files of a deal."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning
from core.reconciliation import RULES, Issue, reconcile
from core.reconciliation.rules import FIELD_CODE

Kind = Literal["in", "out", "changed"]

_KINDS: Final[dict[str, Kind]] = {
    "missing_in_internal": "out", "missing_in_trustee": "in", "value_mismatch": "changed",
}  # fmt: skip
"""What an issue of the earlier file against the later one says of its loan."""

_ORDER: Final[tuple[Kind, ...]] = ("in", "out", "changed")


class FieldChange(msgspec.Struct, frozen=True):
    """A field of a loan in both files.

    Numbers in full, days in ISO, "" where there is none.
    """

    field: str
    before: str
    after: str


class LoanChange(msgspec.Struct, frozen=True, kw_only=True):
    """A loan that is not as it was."""

    kind: Kind
    borrower_name: str
    identifier: str
    """CUSIP, else LoanX id, else ISIN, else the borrower's name."""
    par_change: float
    """In currency; of a loan that came its par, of one that went its par below zero."""
    fields: list[FieldChange]
    """What changed, in the order of the comparison; empty for a loan that came or went."""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the loans. Pars in currency."""

    loans_before: int
    loans_after: int
    loans_in: int
    loans_out: int
    loans_changed: int
    par_in: float
    par_out: float
    par_changed: float
    """Paydowns and draws of the loans in both files."""
    not_compared: dict[str, str]
    """Field -> why it was not compared."""
    warnings: list[DataWarning]
    loans: list[LoanChange]
    """Those that came, that went, that changed; in each the largest change of par first."""


def changes(before: Portfolio, after: Portfolio) -> Changes:
    """Pair the loans of two files as a reconciliation does, and tell every difference, however small.

    Compared are par, price, ratings, spread, maturity, base rate, all-in rate, industry, the borrower's name and the
    identifiers. Lots of one position count as one loan.

    Raises:
        ReconcileError: more loans than a reconciliation takes.
    """
    exact = {name: 0.0 for name, rule in RULES.items() if rule.tolerance is not None}
    differences = reconcile(before, after, tolerances=exact, names=("earlier file", "later file"))
    by_loan: dict[str, list[Issue]] = {}
    for issue in differences.issues:
        if issue.issue_type in _KINDS:
            by_loan.setdefault(issue.loan_key, []).append(issue)
    loans = sorted(
        map(_loan, by_loan.values()),
        key=lambda each: (_ORDER.index(each.kind), -abs(each.par_change), each.borrower_name),
    )
    par = {kind: sum(loan.par_change for loan in loans if loan.kind == kind) for kind in _ORDER}
    return Changes(
        loans_before=differences.summary.matched + differences.summary.unmatched_trustee,
        loans_after=differences.summary.matched + differences.summary.unmatched_internal,
        loans_in=differences.summary.unmatched_internal,
        loans_out=differences.summary.unmatched_trustee,
        loans_changed=sum(loan.kind == "changed" for loan in loans),
        par_in=par["in"],
        par_out=-par["out"],
        par_changed=par["changed"],
        not_compared=differences.not_compared,
        warnings=list(differences.warnings),
        loans=loans,
    )


def _loan(issues: list[Issue]) -> LoanChange:
    issues.sort(key=lambda issue: FIELD_CODE[issue.field_name])
    first = issues[0]
    kind = _KINDS[first.issue_type]
    fields = [FieldChange(issue.field_name, issue.trustee_value, issue.internal_value) for issue in issues]
    if kind == "in":
        par = _number(first.internal_value)
    elif kind == "out":
        par = -_number(first.trustee_value)
    else:
        par = sum(_number(field.after) - _number(field.before) for field in fields if field.field == "par_value")
    return LoanChange(
        kind=kind,
        borrower_name=first.borrower_name,
        identifier=first.primary_identifier,
        par_change=par,
        fields=fields if kind == "changed" else [],
    )


def _number(text: str) -> float:
    return float(text) if text else 0.0
