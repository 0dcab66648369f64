"""The loans of one file as recipes ask for them.

Which meet the conditions, and what they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from core.compliance.pool_sums import Pool
from core.insights.insight import LOANS_SHOWN, FigureCondition, FigureRecipe
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Names, codes_among
from core.portfolio.model.ratings import DEFAULTED, RATING_FIELDS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

IDENTIFIERS: Final = ("cusip", "loanx_id", "isin")
_DAYS_MAX: Final = 400_000.0


class ParByName(Sequence[tuple[str, float]]):
    """The names of a column with their par, decoded where they are read."""

    def __init__(self, names: Names, sums: Floats) -> None:
        self.names = names
        self.sums = sums
        """By the code of every name."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Of the names with par, largest first."""
        return np.argsort(-self.sums, kind="stable")[: len(self)]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.sums > 0))

    @overload
    def __getitem__(self, at: int) -> tuple[str, float]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[str, float]]: ...
    def __getitem__(self, at: int | slice) -> tuple[str, float] | list[tuple[str, float]]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        code = int(self.codes[at])
        return self.names.values[code], float(self.sums[code])

    @property
    def par(self) -> Floats:
        """Of the names, largest first."""
        return self.sums[self.codes]

    def par_of(self, others: ParByName) -> Floats:
        """Return the par here of the names of another month's, 0 for one without any."""
        codes = codes_among(others.names.values, self.names.values)[others.codes]
        return np.asarray(np.maximum(np.append(self.sums, 0.0)[codes], 0.0))


class Columns:
    """A portfolio's columns as the run's rules see them."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.portfolio, self._view = pool.portfolio, pool.view
        par = self._view.numbers["par_value"]
        has_par = np.isfinite(par)
        self.par = np.where(has_par, par, 0.0)
        self._loans = {"performing": has_par & ~pool.defaulted, "defaulted": has_par & pool.defaulted, "all": has_par}
        self._seen: dict[str, Floats | Names | None] = {}
        self._codes: dict[str, Callable[[str], int]] = {}
        self._by_name: dict[str, ParByName] = {}
        self.other_month: Columns | None = None
        """The other month."""
        self.pair: NDArray[np.int64] = np.full(pool.portfolio.row_count, -1)
        """The row of the same loan in the other month; -1 where there is none."""

    def has(self, *names: str) -> bool:
        """Return whether there is each of the columns."""
        return all(self.column(name) is not None for name in names)

    def column(self, name: str) -> Floats | Names | None:
        """Return a column: numbers, flags as 0 and 1 and ratings as ranks with NaN for a blank, or names; None without
        it."""
        if name not in self._seen:
            self._seen[name] = self._derive(name)
        return self._seen[name]

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers that is there."""
        column = self.column(name)
        assert isinstance(column, np.ndarray), name
        return column

    def names(self, name: str) -> Names:
        """Return a column of names that is there."""
        column = self.column(name)
        assert isinstance(column, Names), name
        return column

    def _derive(self, name: str) -> Floats | Names | None:
        view = self._view
        if name == "country":
            return self.portfolio.names.get(name)  # a definition's home countries are one in its view
        if name == "worst_rating":
            ratings = [column for rating in RATING_FIELDS if isinstance(column := self.column(rating), np.ndarray)]
            return np.fmax.reduce(ratings) if ratings else None
        if name == "year":
            return None if (maturity := view.numbers.get("maturity_date")) is None else _years(maturity)
        if name == "lien_type":
            return None if view.lien is None else Names(view.lien.astype(np.int32) - 1, LIENS)
        if name in view.ranks:
            ranks = view.ranks[name]
            return np.where((ranks == 0) | (ranks > DEFAULTED), np.nan, ranks)
        if name in view.numbers:
            values = view.numbers[name]
            return np.where(np.isinf(values), np.nan, values)  # as the tests take it
        if name in view.flags:
            return view.flags[name].astype(np.float64)
        return view.names.get(name)

    # Loans

    def chosen(self, where: Sequence[FigureCondition] = (), loans: str = "performing") -> Mask:
        """Return the loans that have a par and meet every condition."""
        loan = self._loans[loans]
        for condition in where:
            loan = loan & self._meets(condition)
        return loan

    def _meets(self, condition: FigureCondition) -> Mask:
        if condition.is_ == "only_here":
            return np.asarray(self.pair < 0)
        column = self.column(condition.column)
        assert column is not None, condition.column
        if isinstance(column, Names):
            if condition.is_ in ("known", "blank"):
                return np.asarray((column.codes >= 0) == (condition.is_ == "known"))
            assert condition.is_ == "equal"
            code = self._code(condition)
            return np.asarray(column.codes == code) if code >= 0 else np.zeros(len(column.codes), np.bool_)
        if condition.is_ in ("rose", "fell", "unchanged"):
            before = self.paired(condition.column)
            compare = {"rose": np.greater, "fell": np.less, "unchanged": np.equal}[condition.is_]
            return np.asarray(compare(column, before))
        if condition.is_ in ("known", "blank"):
            return np.asarray(np.isfinite(column) == (condition.is_ == "known"))
        assert isinstance(condition.value, float | int), condition
        return np.asarray(_COMPARED[condition.is_](column, condition.value))

    def _code(self, condition: FigureCondition) -> int:
        """Return the code of the name that a condition asks for; -1 for none."""
        name = condition.column
        if name not in self._codes:
            self._codes[name] = self.names(name).by_text()
        return self._codes[name](condition.value) if isinstance(condition.value, str) else -1

    def paired(self, name: str) -> Floats:
        """Return the other month's numbers in this order; NaN for a loan only here."""
        assert self.other_month is not None
        theirs = self.other_month.column(name)
        if not isinstance(theirs, np.ndarray):
            return np.full(len(self.pair), np.nan)
        return np.asarray(np.append(theirs, np.nan)[self.pair])

    # What they come to

    def figure(self, recipe: FigureRecipe) -> float | None:
        """Return the figure of a recipe over loans; None where no loan gives one."""
        if recipe.loans == "notes":
            return self._of_notes(recipe)
        chosen = self.chosen(recipe.where, recipe.loans)
        if recipe.operation == "count":
            return float(np.count_nonzero(chosen))
        if recipe.operation == "sum":
            values = self.par if recipe.column in (None, "par_value") else self.numbers(recipe.column or "")
            return float(np.nansum(values[chosen]))
        if recipe.operation == "share":
            divisor = {"par": self.pool.par, "cpa": self.pool.cpa, "denominator": self.pool.denominator}[
                recipe.of or "par"
            ]
            return float(self.par[chosen].sum() / divisor * 100) if divisor > 0 else None
        assert recipe.column is not None
        values = self.numbers(recipe.column)
        known = chosen & np.isfinite(values)
        if recipe.operation == "weighted":
            return _weighted(self.par[known], values[known]) * recipe.times
        if not known.any():
            return None
        if recipe.operation == "average":
            par = float(self.par[known].sum())
            return _weighted(self.par[known], values[known]) / par if par > 0 else None
        return float(values[known].min() if recipe.operation == "least" else values[known].max())

    def _of_notes(self, recipe: FigureRecipe) -> float | None:
        notes = self.portfolio.tranches
        if notes is None:
            return None
        balance = np.where(notes.is_income, 0.0, np.nan_to_num(notes.current_balance))
        if recipe.operation == "sum":
            return float(balance.sum())
        values = getattr(notes, recipe.column or "")
        known = np.isfinite(values) & (balance > 0)
        if recipe.operation == "weighted":
            return float(balance[known] @ values[known]) * recipe.times
        assert recipe.operation == "average"
        return float(balance[known] @ values[known] / balance[known].sum()) if known.any() else None

    def largest(self, chosen: Mask, most: int = LOANS_SHOWN) -> NDArray[np.intp]:
        """Rows of these loans, the most par first; of equals the first."""
        return lowest_rows(np.flatnonzero(chosen), most, -self.par)

    def lowest(self, name: str, chosen: Mask, most: int = LOANS_SHOWN) -> NDArray[np.intp]:
        """Rows of these loans, the least of a column first; of equals the most par."""
        return lowest_rows(np.flatnonzero(chosen), most, self.numbers(name), -self.par)

    def by_name(self, name: str) -> ParByName:
        """Par of performing loans by the names of a column, largest first, no blanks."""
        if name not in self._by_name:
            names = self.names(name)
            sums = np.asarray(
                np.bincount(names.codes + 1, self.par * self.chosen(), len(names.values) + 1)[1:], np.float64
            )
            self._by_name[name] = ParByName(names, sums)
        return self._by_name[name]

    @cached_property
    def borrower(self) -> Names | None:
        """The column that names borrowers for a reader."""
        return next(
            (
                borrowers
                for name in ("borrower_name", "obligor", "facility_name")
                if isinstance(borrowers := self.column(name), Names)
            ),
            None,
        )

    def identifier(self, row: int) -> str | None:
        """Return what tells a loan from others."""
        for name in IDENTIFIERS:
            names = self.portfolio.names.get(name)
            if names is not None and names.codes[row] >= 0:
                return names.values[int(names.codes[row])]
        return None


def lowest_rows(rows: NDArray[np.intp], most: int, *keys: Floats) -> NDArray[np.intp]:
    """Return the rows with the lowest keys, in their order; of equals the first."""
    if len(rows) > most:
        first = keys[0][rows]
        rows = rows[first <= np.partition(first, most - 1)[most - 1]]
    return rows[np.lexsort([key[rows] for key in keys[::-1]])][:most]


def _weighted(weights: Floats, values: Floats) -> float:
    # Not `@`: BLAS' threads wait in loops for each other, and its last digits hang on how many there are.
    return float((weights * values).sum())


_COMPARED: Final = {
    "equal": np.equal, "above": np.greater, "below": np.less, "at_least": np.greater_equal, "at_most": np.less_equal,
}  # fmt: skip

LIENS: Final = tuple(lien.name.lower() for lien in Lien)[1:]
"""The words of liens; a blank is none of them."""


def _years(maturity: Floats) -> Floats:
    dated = np.isfinite(maturity) & (np.abs(maturity) < _DAYS_MAX)
    years = np.full(len(maturity), np.nan)
    years[dated] = np.floor(maturity[dated]).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
    return years
