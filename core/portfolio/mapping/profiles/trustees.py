"""The three trustees whose tapes are read: standard fields, own columns first."""

from __future__ import annotations

from collections.abc import Mapping as Dict
from dataclasses import replace
from typing import Final

from core.portfolio.model.fields import PROFILES, Mapping

_FIRST: Final[Dict[str, Dict[str, tuple[str, ...]]]] = {
    # The workbook of the monthly report: one column for LoanX ids, ISINs and CUSIPs, par as traded.
    "trustee_a": {
        "loanx_id": ("LoanX ID / CUSIP", "LoanX ID"),
        "isin": ("LXID / ISIN",),
        "par_value": ("Principal Balance",),
        "rating_agency_a": ("Moody's Rating WARF", "Moody's DP Rating - WARF"),
        "spread": ("Current_Spread",),
    },
    # Flat files: a column for each identifier, funded par (bonds under Commitment), ratings in several versions.
    "trustee_b": {
        "loanx_id": ("LoanX_ID",),
        "par_value": ("Principal_Funded_Balance", "Commitment"),
        "rating_agency_a": ("Moodys_Rating_Final", "Moodys_DP_Rating_Final"),
        "rating_agency_b": ("SP_Rating_Final",),
        "rating_agency_c": ("Fitch_Rating_Final",),
        "industry": ("Moodys_Industry_Name",),
    },
    # The portal's export: par in the deal's currency beside what has settled in the loan's own.
    "trustee_c": {
        "par_value": ("Par Amount (Deal Currency)", "Current Par Amount (Issue Currency) - Settled"),
        "rating_agency_a": ("Deal Issue (Derived) Rating - Moody's",),
        "rating_agency_b": ("Deal Issue (Derived) Rating - S&P",),
        "all_in_rate": ("All-In-Rate (w/Floor)",),
    },
}
"""Trustee -> target -> the headers that it means by it, the preferred one first."""


def _mapping(trustee: str, first: Dict[str, tuple[str, ...]]) -> Mapping:
    """Put these headers ahead of standard_clo's, so that all trustees' files suit."""
    standard = PROFILES["standard_clo"]
    fields = tuple(
        replace(field, aliases=tuple(dict.fromkeys((*first.get(field.target, ()), *field.aliases))))
        for field in standard.fields
    )
    return replace(standard, id=trustee, name=f"Tape of {trustee}", fields=fields)


TRUSTEES: Final[Dict[str, Mapping]] = {trustee: _mapping(trustee, first) for trustee, first in _FIRST.items()}
"""The mapping for the tapes of each trustee, by the trustee's name."""
