"""Which column carries which field, by a person's reading, beside the role that the reader gives it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from core.files.read import read
from core.grid.sheet import Workbook
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.locate import locate
from tests.real_reports.board import DATA

TRUTH = Path(__file__).parents[2] / "../shared/reading/columns.json"

Kind = Literal["right", "wrong", "left out", "false", "none"]
"""A role that is true; another one; none though it carries a field; one though it carries none; none, and rightly."""

ROLES = {
    **{f"rating_agency_{letter}": f"rating_{letter}" for letter in "abc"},
    **{f"recovery_rate_{letter}": f"recovery_{letter}" for letter in "abc"},
    **{
        f"rating_agency_{letter}_{kind}": f"rating_{'derived' if kind == 'final' else kind}_{letter}"
        for letter in "abc"
        for kind in ("derived", "final", "facility", "issuer")
    },
    "facility_rating_agency_a": "rating_facility_a",
}
"""Fields of the mapping -> the names of their roles, where these differ."""

NEAR = {
    "recovery_rate": {"recovery_a", "recovery_b", "recovery_c"},
    "industry": {"industry_a", "industry_b", "industry_c"},
    "rating_a": {"rating_issuer_a", "rating_facility_a", "rating_derived_a"},
    "rating_b": {"rating_issuer_b", "rating_facility_b", "rating_derived_b"},
    "rating_c": {"rating_issuer_c", "rating_facility_c", "rating_derived_c"},
    "price": {"market_value"},
    "cusip": {"asset_id"},
    "isin": {"asset_id"},
    "loanx_id": {"asset_id"},
    "base_rate": {"base_rate_level"},
    "facility_name": {"description"},
    "coupon_type": {"is_fixed"},
    "is_second_lien": {"lien_type"},
    "lien_type": {"asset_type"},
}
"""What a field of the mapping also covers where the reader says no role."""


@dataclass(frozen=True)
class ColumnScore:
    """One column of a file."""

    file: str
    sheet: str
    column: int
    header: str
    true: frozenset[str]
    read: frozenset[str]

    @property
    def carries(self) -> bool:
        """Return whether it must have a role."""
        return "-" not in self.true

    @property
    def kind(self) -> Kind:
        """Return how the reading of the column came out."""
        if not self.read:
            return "left out" if self.carries else "none"
        if self.read & self.true:
            return "right"
        return "wrong" if self.carries else "false"

    def __str__(self) -> str:
        roles = ", ".join(sorted(self.read)) or "-"
        true = "|".join(sorted(self.true))
        return f"  {self.kind:9} {self.sheet[:28]:28} {self.column:3} {self.header[:44]!r:46} {roles}  true: {true}"


def truth() -> dict[str, dict[str, dict[str, str]]]:
    """Return file -> sheet -> number of the column -> its roles."""
    return json.loads(TRUTH.read_text("utf-8")) if TRUTH.exists() else {}


@cache
def column_scores(file: str) -> list[ColumnScore]:
    """Return the columns of a file."""
    book = read(DATA / file)
    headers = _headers_by_sheet(book)
    scores = []
    for name, columns in truth()[file].items():
        header_match = headers.get(name) or (next(iter(headers.values()), None) if len(headers) == 1 else None)
        for number, roles in columns.items():
            at = int(number)
            header = "" if header_match is None else header_match.texts.get(at, "")
            own = frozenset() if header_match is None else frozenset(_roles(header_match, at))
            scores.append(ColumnScore(file, name, at, header, frozenset(roles.split("|")), own))
    return scores


def _headers_by_sheet(book: Workbook) -> dict[str, HeaderMatch]:
    """Sheet -> its header, for the holdings and the pages that may add to them."""
    located = locate(book, PROFILES["standard_clo"])
    if located.loans is None:
        return {}
    headers = {located.loans.sheet.name: located.loans.header}
    for page in located.pages:
        headers.setdefault(page.sheet.name, page.header)
    return headers


def _roles(header_match: HeaderMatch, column: int) -> Iterator[str]:
    """Yield the roles that the reader gives a column; sinks are none."""
    if column in header_match.evidence:
        role = header_match.evidence[column].role
        if role and not role.startswith("x_"):
            yield role
        return
    for target, places in header_match.columns.items():
        if column in places:
            role = ROLES.get(target, target)
            yield role
            yield from NEAR.get(role, ())


def summary() -> Counter[Kind]:
    """Return how all columns come out."""
    return Counter(column_score.kind for file in truth() for column_score in column_scores(file))
