"""The columns of loans as tests read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance.masks import has_infinite
from core.portfolio import Portfolio
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Names, defaulted_loans

Bools = NDArray[np.bool_]
Ranks = NDArray[np.uint8]


class Rules(NamedTuple):
    """What the compiled pass asks of a definition, in its order.

    Percent of par, years, money.
    """

    discount: float
    discount_fixed: float
    release: float
    release_fixed: float
    worthless_years: float
    unquoted_ccc_price: float
    small_home: float
    small_abroad: float
    defers: bool
    defaulted_at: int


class FiniteColumns(Mapping[str, NDArray[np.float64]]):
    """Columns of numbers with what is infinite left blank.

    Each is looked at when it is first read: compiled passes, which read most of them, take the infinite for blank.
    """

    def __init__(self, columns: Mapping[str, NDArray[np.float64]]) -> None:
        self._columns = columns
        self._finite: dict[str, NDArray[np.float64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        column = self._finite.get(name)
        if column is None:
            column = self._columns[name]
            self._finite[name] = column = np.where(np.isinf(column), nan, column) if has_infinite(column) else column
        return column

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(slots=True)
class View:
    """The columns that the compiled pass walks, and each agency's ratings by its ladder."""

    columns: dict[str, NDArray[np.float64]]
    """Columns of numbers for compiled passes."""
    names: dict[str, Names]
    flags: dict[str, NDArray[np.uint8]]
    ranks: dict[str, Ranks]
    lien: NDArray[np.uint8] | None
    home: int
    rules: Rules
    factors: tuple[float, ...]
    """By rank, 0 to UNBUCKETED: what the suites' rating factor takes a loan for; NaN leaves it out."""
    is_mostly_unrated: bool = False
    """Whether no agency rates most loans, as in private credit, and no definition says what these count as: they are in
    no CCC bucket then."""
    unrated_rows: int = 0
    """Loans of which the file says that no agency rates them, where no definition says what these count as."""
    has_bounds: bool = False
    """Whether a rating that is masked or missing is anywhere between two."""
    recovery_agency: str | None = None
    """Whose recovery rates the weighted average is of; None where nothing says."""
    industry_agency: str | None = None
    """Whose industries `industry` are; None where nothing says."""
    diversity_field: str = "industry"
    """Name of the industries by which Moody's diversity goes: those of the tests, unless a definition takes another
    agency's for these."""
    affiliates: list[tuple[str, str]] = field(default_factory=list)
    """Obligors that were joined to another by their names: (its name, the other's)."""
    numbers: FiniteColumns = field(init=False)
    """The same columns for everything else."""

    def __post_init__(self) -> None:
        self.numbers = FiniteColumns(self.columns)

    def defaulted(self, portfolio: Portfolio) -> NDArray[np.bool_]:
        """Which loans are defaulted by the ratings as they are seen here."""
        as_of = portfolio.deal.as_of
        known = as_of if as_of is not None and isfinite(as_of) else None
        return defaulted_loans(portfolio.row_count, self.columns, self.flags, self.ranks, known)


class AllLoans(NamedTuple):
    """What the view of some loans takes from all loans of their file."""

    is_mostly_unrated: bool
    recovery_agency: str | None
    """The agency whose recovery rates the general ones are; None where no agency's are."""


# ---- obligors, industries, home, recoveries


def liens_of(portfolio: Portfolio) -> NDArray[np.uint8] | None:
    """Return the liens, where a flag alone says what is a bond."""
    is_bond, lien = portfolio.flags.get("is_bond"), portfolio.lien
    if is_bond is None or not is_bond.any():
        return lien
    if lien is None:
        return np.where(is_bond != 0, np.uint8(Lien.BOND), np.uint8(Lien.BLANK))
    unsaid = (lien == Lien.BLANK) | (lien == Lien.OTHER)
    return np.where(unsaid & (is_bond != 0), np.uint8(Lien.BOND), lien)
