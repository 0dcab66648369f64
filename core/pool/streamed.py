"""A pool of loans that are nowhere in memory, as the tests see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.ladders import Assumed
from core.compliance.pool_sums import Pool, Sums, Unmeasurable
from core.compliance.tallied import Tallied
from core.compliance.view import View
from core.definition.definition import Definition
from core.pool.absent import AbsentColumn, AbsentNames, NotStreamed
from core.pool.obligors import ObligorSums
from core.pool.partial import CATEGORIES
from core.pool.sums import CCC_ROWS_MAX, ByName, PoolSums, Total, ViewSums
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names

Floats = NDArray[np.float64]

TIED_ROWS_MAX: Final = 1_000_000
"""Loans of the one price at which the CCC excess ends, whose identifiers decide which of them it takes."""

TIED: Final = (
    f"more than {TIED_ROWS_MAX:,} loans have the price at which the CCC excess ends: which of them it takes is not told"
)
TOO_MANY_PRICES: Final = (
    f"the CCC buckets have more than {CCC_ROWS_MAX:,} different prices: the CCC excess needs all in memory"
)


class TiedRows:
    """Loans of a CCC bucket at one price: par, value, and what orders them."""

    def __init__(self, par: Floats, value: Floats, identifiers: list[tuple[str, ...]]) -> None:
        self.par, self.value, self.identifiers = par, value, identifiers


Ties = Callable[[float, int, Assumed], TiedRows]
"""(price, agency, what masked ratings are taken for) -> the loans at that price, by another pass."""


class MissingSum(Exception):
    """A test asks for a sum that was not added up; another pass does."""

    def __init__(self, key: Hashable, of: Callable[[Pool], Any]) -> None:
        super().__init__(key)
        self.key, self.of = key, of


@dataclass(frozen=True, slots=True)
class Finished:
    """The sums of all loans of a pool."""

    sums: PoolSums
    obligors: ObligorSums
    industries: tuple[str, ...]
    """By name, as their codes are."""
    refusal: str | None
    """Why the OC numerator cannot be worked out."""


class StreamedPool(Pool):
    """The sums of a pool that was read piece by piece."""

    def __init__(
        self,
        portfolio: Portfolio,
        definition: Definition | None,
        assumed: Assumed,
        finished: Finished,
        ties: Ties,
    ) -> None:
        """Take the sums of all loans; `portfolio` has no loan."""
        self._begin(portfolio, definition)
        self.assumed = assumed
        self.scheduled_life = None
        self._finished, self._ties = finished, ties
        self._sums: ViewSums = finished.sums.views[assumed]
        self.view = _view(self._sums, finished, has_obligors="obligor" in portfolio.names)
        tally = Tallied(finished.sums.row_count, dict(self._sums.counts), self._sums.amounts.value())
        tally.obligor_count, tally.top_obligors = finished.obligors.ranked()
        tally.industry_par = self._sums.industries.array(finished.industries)
        tally.obligor_blank = finished.obligors.blank_par if "obligor" in portfolio.names else 0.0
        self._conclude(cast(kernels.Tally, tally))

    @property
    def whole(self) -> NoReturn:
        raise NotStreamed

    weights = defaulted = years = whole

    def tally_by_industry(self, industries: Names) -> NoReturn:
        raise NotStreamed

    def summed(self, key: Hashable, of: Callable[[Pool], Sums]) -> Sums:
        amount = self._sums.asked.get(key)
        if amount is None:
            raise MissingSum(key, of)
        if isinstance(amount, str):
            raise Unmeasurable(amount)
        if isinstance(amount, ByName):
            kind, field, *_ = cast(tuple[str, ...], key)
            names = self.view.names[field] if kind == "name" else self.portfolio.names["country"]
            return amount.array(names.values)  # type: ignore[return-value]
        values = cast(Total, amount).value()
        return cast(Sums, _like(values, key))

    def par_by_name(self, field: str) -> Floats:
        if field != "obligor":
            return super().par_by_name(field)
        return np.append(self._finished.obligors.par, self.tally.obligor_blank)

    def name(self, field: str, code: int) -> str:
        return self._finished.obligors.values[code] if field == "obligor" else self.view.names[field].values[code]

    @property
    def largest_apart(self) -> float:
        return self._finished.obligors.largest_apart

    def units(self, average_par: float) -> Floats:
        return self._finished.obligors.units(average_par, len(self._finished.industries))

    def _adjust(self, printed: dict[str, float]) -> dict[str, float]:
        if self._finished.refusal is not None:
            raise Unmeasurable(self._finished.refusal)
        return super()._adjust(printed)

    def filled(self, agency: int, excess: float) -> tuple[float, int]:
        rows = self._sums.ccc
        if rows.is_over:
            raise Unmeasurable(TOO_MANY_PRICES)
        price, par, value, buckets, unpriced = rows.columns()
        own = (buckets >> agency & 1) != 0
        price, par, value = price[own], par[own], value[own]
        count = int(unpriced[own].sum(dtype=np.int64))
        try:
            return kernels.fill_levels(price, par, value, excess, _Tie(price)), count
        except _Tied as tie:
            return self._fill_tied(price, par, value, excess, tie.price, agency), count

    def _fill_tied(self, price: Floats, par: Floats, value: Floats, excess: float, at: float, agency: int) -> float:
        """Return the haircut where the excess ends among loans of one price.

        They are carried at different values.
        """
        below = price < at
        left = excess - float(par[below].sum())
        haircut = float((par[below] * np.maximum(0.0, value[below] - np.maximum(0.0, price[below]))).sum()) / 100
        tied = self._ties(at, agency, self.assumed)
        return haircut + kernels.fill_alike(at, tied.par, tied.value, left, tied.identifiers.__getitem__)


class _Tied(Exception):
    def __init__(self, price: float) -> None:
        super().__init__(price)
        self.price = price


class _Tie:
    """Stops the filling of an excess where the identifiers of loans decide."""

    def __init__(self, price: Floats) -> None:
        self._price = price

    def __call__(self, row: int) -> NoReturn:
        raise _Tied(float(self._price[row]))


_SCALARS: Final = frozenset(("accrued", "unfunded", "shown_ccc", "factor_ratings", "marked", "price below"))
"""Sums that are one number."""

_ARRAYS: Final = frozenset(("ladder", "shown"))


def _like(values: Floats, key: Hashable) -> Any:
    """Return a sum as the tests give it: a number, an array, else a tuple."""
    kind = key[0] if isinstance(key, tuple) else key
    if kind in _SCALARS:
        return float(values[0])
    return values if kind in _ARRAYS else tuple(values.tolist())


def _names(name: str, sums: ViewSums, finished: Finished) -> tuple[str, ...]:
    if name == "industry":
        return finished.industries
    names = sums.names.get(name, {})
    return tuple(sorted(names) if name in CATEGORIES else names)


def _view(sums: ViewSums, finished: Finished, *, has_obligors: bool) -> View:
    columns = {kind: dict.fromkeys(names, AbsentColumn()) for kind, names in sums.seen.items()}
    names: dict[str, Any] = {name: AbsentNames(_names(name, sums, finished)) for name in sums.seen.get("names", ())}
    if has_obligors:
        names["obligor"] = AbsentNames(finished.obligors.values)
    facts = sums.facts
    view = View(
        columns=cast(Any, columns.get("numbers", {})),
        names=names,
        flags=cast(Any, columns.get("flags", {})),
        ranks=cast(Any, columns.get("ranks", {})),
        lien=cast(Any, AbsentColumn()),
        home=facts["home"],
        rules=facts["rules"],
        factors=facts["factors"],
        is_mostly_unrated=facts["is_mostly_unrated"],
        unrated_rows=sums.unrated_rows,
        has_bounds=sums.has_bounds,
        recovery_agency=facts["recovery_agency"],
        industry_agency=facts["industry_agency"],
        diversity_field=facts["diversity_field"],
        affiliates=finished.obligors.affiliates,
    )
    view.numbers = cast(Any, view.columns)  # absent columns refuse to be looked at
    return view
