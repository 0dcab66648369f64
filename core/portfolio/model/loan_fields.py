"""The fields of loans for a reader: labels, kinds, units, and columns to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from core.frames.frame import day_column
from core.labels import label
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import AUXILIARY_FIELDS, STANDARD_CLO_FIELDS, Lien
from core.portfolio.model.portfolio import Names, PortfolioData
from core.portfolio.model.ratings import AGENCY_OF, DEFAULTED, MASK, SCALE_A, SCALE_B, is_masked

FieldKind = Literal["string", "number", "date", "boolean", "rating"]

FEW_NAMES: Final = 1_000
"""Distinct names that a cut column keeps as they are; of more it keeps those of its rows."""

_DATES: Final = frozenset(field.target for field in (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS) if field.type == "date")

_LABELS: Final = {
    "borrower_name": "Borrower",
    "facility_name": "Facility",
    "cusip": "CUSIP",
    "loanx_id": "LoanX ID",
    "isin": "ISIN",
    "issuer_id": "Issuer ID",
    "asset_id": "Asset ID",
    "par_value": "Par",
    "price": "Price",
    "purchase_price": "Purchase price",
    "spread": "Spread",
    "floor": "Floor",
    "all_in_rate": "All-in rate",
    "base_rate": "Index",
    "base_rate_level": "Base rate",
    "rating": "Rating",
    "recovery_rate": "Recovery rate",
    "industry": "Industry",
    "country": "Country",
    "currency": "Currency",
    "fx_rate": "FX rate",
    "maturity_date": "Maturity",
    "default_date": "Default date",
    "lien_type": "Lien",
    "is_defaulted": "Marked defaulted",
    "defaulted": "Defaulted",
    "cov_lite": "Cov-lite",
    "facility_size": "Facility size",
    "unfunded": "Unfunded",
    "purchased_accrued_interest": "Purchased accrued interest",
    "days_past_due": "Days past due",
    "quote_depth": "Quote depth",
    "average_life": "Average life",
    "payment_frequency": "Payment frequency",
    "is_dip": "DIP",
    "is_current_pay": "Current pay",
    "is_pik": "PIK",
    "is_deferring": "Deferring",
    "is_second_lien": "Second lien",
    "is_bond": "Bond",
    "is_fixed": "Fixed rate",
    "is_revolving": "Revolving",
    "is_delayed_draw": "Delayed draw",
    "is_bridge": "Bridge",
    "is_long_dated": "Long dated",
    "participation": "Participation",
    "lots": "Lots",
    "conflicting": "Lots differ",
    **{f"industry_{agency_name}": f"{{rating_agency_{agency_name}}} industry" for agency_name in AGENCY_NAMES},
    **{
        f"recovery_rate_{agency_name}": f"{{rating_agency_{agency_name}}} recovery rate" for agency_name in AGENCY_NAMES
    },
    **{f"watch_{agency_name}": f"{{rating_agency_{agency_name}}} watch" for agency_name in AGENCY_NAMES},
}
"""What people call a field that is no agency's rating; what stands in braces is a name of `core.labels`."""

CURRENCY_UNIT: Final = "currency"
"""The unit of an amount where no currency is known."""

_UNITS: Final = {
    **dict.fromkeys(("par_value", "facility_size", "unfunded", "purchased_accrued_interest"), CURRENCY_UNIT),
    **dict.fromkeys(("price", "purchase_price", "floor", "all_in_rate", "base_rate_level", "recovery_rate"), "percent"),
    **{f"recovery_rate_{agency_name}": "percent" for agency_name in AGENCY_NAMES},
    "spread": "bps", "days_past_due": "days", "average_life": "years",
}  # fmt: skip
"""The unit of each number; any other has none."""


@dataclass(frozen=True, slots=True)
class LoanField:
    """A field of loans as a reader sees it."""

    name: str
    """What `fields`, `filter` and `sort` take."""
    label: str
    """What people call it, with the names that a tenant has for the rating agencies."""
    type: FieldKind
    """How it is compared: a rating by its rank, a text in any case."""
    unit: str
    """A currency's code (`currency` where none is known), percent, bps, days or years; empty without one."""


@dataclass(frozen=True, slots=True)
class LoanColumn:
    """The values of one field: numbers, days, booleans, names, or names and ranks."""

    kind: FieldKind
    numbers: NDArray[np.float64] | None = None
    """NaN is blank: numbers, days since 1970-01-01, 0 or 1, the ranks of ratings."""
    names: Names | None = None

    def take(self, rows: NDArray[np.intp]) -> LoanColumn:
        """Return the values of some rows, without the names of the others."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return LoanColumn(self.kind, numbers, None if self.names is None else _take_names(self.names, rows))

    def values(self) -> list[Any]:
        """Return plain values: None for a blank, ISO 8601 dates, a rating's symbol."""
        if self.names is not None:
            named = [*self.names.values, None]
            return [named[code] for code in self.names.codes.tolist()]
        assert self.numbers is not None, "a column without names has numbers"
        present = np.isfinite(self.numbers)
        plain: NDArray[Any] = self.numbers
        if self.kind == "boolean":
            plain = plain != 0
        elif self.kind == "date":
            days = day_column(plain).values
            present, plain = ~np.isnat(days), np.datetime_as_string(days)
        values = plain.astype(np.object_)
        values[~present] = None
        listed: list[Any] = values.tolist()
        return listed


def _take_names(names: Names, rows: NDArray[np.intp]) -> Names:
    codes = names.codes[rows]
    if len(names.values) <= FEW_NAMES:
        return Names(codes, names.values)
    used, places = np.unique(codes, return_inverse=True)
    has_blank = bool(len(used)) and int(used[0]) < 0
    values = tuple(names.values[code] for code in used[int(has_blank) :].tolist())
    return Names((places - int(has_blank)).astype(np.int32), values)


# The fields of a portfolio --------------------------------------------------------------------------------------------


def field_names(portfolio: PortfolioData) -> list[str]:
    """Return the fields that a portfolio has, in a reader's order."""
    if not portfolio.notes.holdings_found:
        return []
    derived = {f"{name}_rank" for name in portfolio.ranks} | {"obligor"}
    return [name for name in portfolio.columns if name not in derived]


def describe(
    portfolio: PortfolioData, names: Sequence[str], labels: Mapping[str, str], currency: str | None = None
) -> list[LoanField]:
    """Describe fields of a portfolio.

    Args:
        labels: what people read in place of each name of an agency, as `core.labels` has them.
        currency: of its amounts; None where nobody knows it.
    """
    currency = currency or CURRENCY_UNIT
    return [
        LoanField(name, label_of(name, labels), kind_of(portfolio, name), unit_of(name, currency)) for name in names
    ]


def label_of(name: str, labels: Mapping[str, str]) -> str:
    """Return what people call a field."""
    if name in _LABELS:
        return _LABELS[name].format_map(labels)
    text = label(name, labels)
    return text if text != name else name.replace("_", " ").capitalize()


def unit_of(name: str, currency: str) -> str:
    """Return the unit of a field, "" without one."""
    unit = _UNITS.get(name, "")
    return currency if unit == CURRENCY_UNIT else unit


def kind_of(portfolio: PortfolioData, name: str) -> FieldKind:
    """Return how a field of a portfolio is compared and shown."""
    if name in portfolio.ranks:
        return "rating"
    if name in portfolio.names or name == "lien_type":
        return "string"
    if name in portfolio.numbers:
        return "date" if name in _DATES or name in portfolio.own_dates else "number"
    return "number" if name == "lots" else "boolean"


def column_of(portfolio: PortfolioData, name: str) -> LoanColumn:
    """Return one of `field_names` as a column."""
    kind = kind_of(portfolio, name)
    if kind == "rating":
        return _ratings(portfolio, name)
    if name in portfolio.names:
        return LoanColumn(kind, names=portfolio.names[name])
    if name == "lien_type":
        assert portfolio.lien is not None, "a field of the portfolio"
        return LoanColumn(kind, names=Names(_codes(portfolio.lien), tuple(lien.name.lower() for lien in Lien)[1:]))
    if name in portfolio.numbers:
        return LoanColumn(kind, portfolio.numbers[name])
    return LoanColumn(kind, _flags(portfolio, name).astype(np.float64))


def _flags(portfolio: PortfolioData, name: str) -> NDArray[np.generic]:
    if name in portfolio.flags:
        return portfolio.flags[name]
    if name == "defaulted":
        return portfolio.defaulted()
    marks = portfolio.lots if name == "lots" else portfolio.conflicting
    assert marks is not None, "a field of the portfolio"
    return marks


def _codes(ranks: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return codes of words of which 1 is the first and 0 is blank."""
    return ranks.astype(np.int32) - 1


def _ratings(portfolio: PortfolioData, name: str) -> LoanColumn:
    """Return a rating as it is written, masked ones blank."""
    ranks = portfolio.ranks[name]
    known = (ranks >= 1) & (ranks <= DEFAULTED)
    numbers = np.where(known, ranks, np.nan)
    names = portfolio.names.get(name)
    if names is None:
        scale = SCALE_A if AGENCY_OF.get(name) == "a" else SCALE_B
        return LoanColumn(
            "rating", numbers, Names(np.where(known, _codes(ranks), -1).astype(np.int32), (*scale, "D")[:DEFAULTED])
        )
    masked = np.array([*(value == MASK or is_masked(value) for value in names.values), False], np.bool_)
    return LoanColumn(
        "rating", numbers, Names(np.where(masked[names.codes], -1, names.codes).astype(np.int32), names.values)
    )
