"""The usual heading of each role: what a column with the role behaves like."""

from __future__ import annotations

from typing import Final

from core.portfolio.model.facts import AGENCY_NAMES

USUAL: Final[dict[str, str]] = {
    "cusip": "CUSIP", "isin": "ISIN", "loanx_id": "LoanX ID", "asset_id": "Asset ID", "borrower_name": "Borrower",
    "issuer_id": "Issuer ID", "facility_name": "Facility Name", "description": "Security Description",
    "par_value": "Par Amount", "par_settled": "Settled Par", "commitment": "Commitment", "unfunded": "Unfunded Amount",
    "facility_size": "Facility Size", "price": "Price", "market_value": "Market Value",
    "purchase_price": "Purchase Price", "spread": "Spread", "floor": "Floor", "all_in_rate": "All In",
    "base_rate": "Index", "base_rate_level": "Base Rate", "coupon_type": "Coupon Type", "is_fixed": "Fixed Rate (Y/N)",
    "maturity_date": "Maturity Date", "default_date": "Default Date", "as_of": "As Of Date", "country": "Country",
    "currency": "Currency", "fx_rate": "FX Rate", "industry": "Industry", "lien_type": "Lien Type",
    "asset_type": "Asset Type", "rating": "Rating", "is_defaulted": "Defaulted", "cov_lite": "Cov-Lite",
    "is_performing": "Defaulted", "has_covenants": "Cov-Lite",
    "is_dip": "DIP", "is_current_pay": "Current Pay", "is_pik": "PIK", "is_deferring": "Deferring",
    "participation": "Participation", "is_second_lien": "Second Lien (Y/N)", "is_bond": "Is Bond",
    "is_revolving": "Is Revolving", "is_delayed_draw": "Is Delayed Draw", "is_bridge": "Is Bridge",
    "is_long_dated": "Long Dated", "payment_frequency": "Payment Frequency", "average_life": "WAL",
    "quote_depth": "Quote Depth", "days_past_due": "Days Past Due",
    **{f"industry_{agency}": f"{name} Industry" for agency, name in AGENCY_NAMES.items()},
    **{f"recovery_{agency}": f"{name} Recovery Rate" for agency, name in AGENCY_NAMES.items()},
    **{f"watch_{agency}": f"{name} Watch" for agency, name in AGENCY_NAMES.items()},
    **{f"rating_{agency}": f"{name} Rating" for agency, name in AGENCY_NAMES.items()},
    **{f"rating_issuer_{agency}": f"{name} Issuer Rating" for agency, name in AGENCY_NAMES.items()},
    "rating_issuer_a": "Moody's CFR",
    **{f"rating_facility_{agency}": f"{name} Facility Rating" for agency, name in AGENCY_NAMES.items()},
    "rating_derived_a": "Moody's DPR", "rating_derived_b": "SP Derived Rating",
    "rating_derived_c": "Fitch Derived Rating",
}  # fmt: skip
"""Role -> a heading of `model.fields` that has its meaning. Roles that are no fields (original par, cost, market value
in a currency of its own, sinks) have none."""

DENIED: Final = {"is_performing": "is_defaulted", "has_covenants": "cov_lite"}
"""Role -> the field that its column denies: a yes below "Performing" is a no of the default."""

INSTEAD: Final = {"asset_id": "Identifier"}
"""The usual heading of a role where a mapping does not know the first one."""

_OF_TARGET: Final[dict[str, str]] = {
    "rating_agency_a": "rating_a",
    "rating_agency_b": "rating_b",
    "rating_agency_c": "rating_c",
    "recovery_rate": "recovery_a",
    "industry": "industry_a",
}


def role_of_target(target: str) -> str:
    """Return the role of a field: its own name, but for those that agencies share."""
    return _OF_TARGET.get(target, target)
