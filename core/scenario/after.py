"""A portfolio's sums after trades.

Those before, less what the touched loans had, and what they have now.

Whatever asks for a column is given that of the whole portfolio after the trades, which is made then: so every figure is
right, and one that rests on sums alone costs no second pass.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from math import inf
from typing import Any, Final, Literal, cast
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.file_figures import printed_parts
from core.compliance.ladders import are_mostly_unrated
from core.compliance.pool_sums import Pool, Sums
from core.compliance.tallied import DIVISORS, Tallied, amounts_of, counts_of
from core.compliance.view import View
from core.portfolio import Portfolio
from core.scenario.base import Base, CccBucket, haircut_of
from core.scenario.holdings import Holdings, TradeEffect
from core.scenario.touched import TouchedLoans, touched
from core.scenario.trades import TradeLoan

Floats = NDArray[np.float64]

NOTHING_LEFT: Final = 1e-12
"""Part of a sum below which what is left of it is the rounding of its additions, and nothing."""

PRECISE: Final = 1e-3
"""Part that must be left of a sum that averages divide by: of less, rounding is too much, and a full pass is made."""

_RATES: Final = frozenset(("spread", "all_in_rate"))


class NeedsFullPass(Exception):
    """The sums after some trades do not follow from those before."""


class After(Pool):
    """A pool after trades."""

    def __init__(self, base: Base, loans: TouchedLoans) -> None:
        """Raises NeedsFullPass: too little is left of a sum to be precise."""
        self.base = base
        self.loans = loans
        self.assumed = base.pool.assumed
        definition = self._definition = loans.holdings.definition
        self.minus = self._of(loans.before)
        self.plus = self._of(loans.after)
        self._refuse_unrated()
        own = cast(After, proxy(self))  # what it holds does not hold it: it is freed as soon as nobody needs it
        self._begin(cast(Portfolio, _LaterPortfolio(own)), definition)
        self.view = cast(View, _LaterView(own))
        self._conclude(cast(kernels.Tally, self._tally()))

    def let_go(self) -> None:
        """Forget what formulas worked out of its loans too."""
        super().let_go()
        for part in (self.minus, self.plus, self.__dict__.get("whole")):
            if part is not None:
                part.let_go()

    def _go_by_file(self) -> None:
        known = self.base.pool
        self.masked_ccc, self.masked_ratings = known.masked_ccc, known.masked_ratings
        self.printed = printed_parts(self.portfolio, self.definition, known.view)

    def _of(self, loans: Portfolio) -> Pool | None:
        pool = Pool(loans, self._definition, self.assumed) if loans.row_count else None
        seen, known = None if pool is None else pool.view, self.base.pool.view
        if seen is not None and (
            (seen.has_bounds and not known.has_bounds)
            or seen.recovery_agency != known.recovery_agency
            or seen.is_mostly_unrated
            or known.is_mostly_unrated
        ):
            raise NeedsFullPass  # what a view sees in a few loans is not what it sees in all
        return pool

    def _refuse_unrated(self) -> None:
        """Raise NeedsFullPass where loans that nobody rates are in no bucket, by their share before or after."""
        views = [part.view for part in (self.base.pool, self.minus, self.plus) if part is not None]
        rows = self.base.pool.view.unrated_rows
        rows += 0 if self.plus is None else self.plus.view.unrated_rows
        rows -= 0 if self.minus is None else self.minus.view.unrated_rows
        if any(view.is_mostly_unrated for view in views) or are_mostly_unrated(rows, self.loans.row_count):
            raise NeedsFullPass

    @property
    def kept_rows(self) -> int:
        """Those that the trades touch; the others are the simulator's."""
        return self.loans.before.row_count + self.loans.after.row_count

    @cached_property
    def whole(self) -> Pool:
        """The same by a full pass."""
        return Pool(self.loans.whole, self._definition, self.assumed)

    @property
    def defaulted(self) -> NDArray[np.bool_]:
        return self.whole.defaulted

    @property
    def years(self) -> Floats | None:
        return self.whole.years

    # ---- sums

    def summed(self, key: Hashable, of: Callable[[Pool], Sums]) -> Sums:
        parts = (None if pool is None else of(pool) for pool in (self.minus, self.plus))
        return _join(self.base.summed(key, of), *parts)  # type: ignore[no-any-return]

    def _tally(self) -> Tallied:
        before, minus, plus = (None if pool is None else pool.tally for pool in (self.base.pool, self.minus, self.plus))
        assert before is not None
        counts = counts_of(before)
        for part, sign in ((minus, -1), (plus, 1)):
            for name, count in counts_of(part).items() if part else ():
                counts[name] += sign * count
        known = self.base.amounts
        left = _join(known, *(None if tally is None else amounts_of(tally) for tally in (minus, plus)))
        if not np.isfinite(left).all():  # what is infinite cannot be taken off again
            raise NeedsFullPass
        worn = (left != 0) & (np.abs(left) < PRECISE * np.abs(known))
        if worn[: len(DIVISORS)].any():
            raise NeedsFullPass
        sums = Tallied(self.loans.row_count, counts, left)
        sums.industry_par = _join(
            before.industry_par, *(None if each is None else each.industry_par for each in (minus, plus))
        )
        sums.obligor_count, sums.top_obligors = self._rank(before)
        return sums

    # ---- obligors

    @cached_property
    def obligors_touched(self) -> tuple[dict[int, tuple[float, int]], dict[int, tuple[float, int]]]:
        """Code -> (par, industry) of the touched obligors, before and after."""
        return self._encode(self.minus), self._encode(self.plus)

    def _encode(self, pool: Pool | None) -> dict[int, tuple[float, int]]:
        names = None if pool is None else pool.view.names.get("obligor")
        if pool is None or names is None:
            return {}
        par, industry = kernels.obligors(pool.tally)
        used = set(names.codes.tolist())
        return {
            self._code(name): (float(par[at]), int(industry[at])) for at, name in enumerate(names.values) if at in used
        }

    def _code(self, name: str) -> int:
        """Return an obligor's code in the portfolio before, or a new one."""
        index = self.base.by_obligor
        code = -1 if index is None else index.code(name)
        return self._new.setdefault(name, len(self.base.obligors[0]) + len(self._new)) if code < 0 else code

    @cached_property
    def _new(self) -> dict[str, int]:
        """Obligors that the portfolio did not have."""
        return {}

    def _rank(self, before: kernels.Tally) -> tuple[int, tuple[list[int], list[float]]]:
        """How many obligors have par; codes and par of the ten largest."""
        if "obligor" not in self.view.names:
            return 0, ([], [])
        gone, come = self.obligors_touched
        count = (
            before.obligor_count + sum(par > 0 for par, _ in come.values()) - sum(par > 0 for par, _ in gone.values())
        )
        largest = self.base.largest
        stays = []
        for code in largest:
            if code not in gone and code not in come:
                stays.append(code)
                if len(stays) == _TOP:
                    break
        if len(stays) < _TOP and len(largest) < before.obligor_count:
            raise NeedsFullPass
        pars = self.base.obligors[0]
        ranked = sorted(
            [(-float(pars[code]), code) for code in stays]
            + [(-par, code) for code, (par, _) in come.items() if par > 0]
        )[:_TOP]
        return count, ([code for _, code in ranked], [-par for par, _ in ranked])

    def par_by_name(self, field: str) -> Floats:
        if field != "obligor":
            return super().par_by_name(field)
        gone, come = self.obligors_touched
        par_of_names = np.concatenate((self.base.obligors[0], np.zeros(len(self._new)), [self.tally.obligor_blank]))
        par_of_names[list(gone)] = 0.0
        for code, (par, _) in come.items():
            par_of_names[code] = par
        return par_of_names

    def name(self, field: str, code: int) -> str:
        values = self.base.pool.view.names[field].values if field in self.base.pool.view.names else ()
        if code < len(values):
            return values[code]
        if field == "obligor":
            return next(name for name, own in self._new.items() if own == code)
        assert self.plus is not None
        return self.plus.name(field, code)

    def units(self, average_par: float) -> Floats:
        floats = self.base.units_at(average_par)
        size = len(self.tally.industry_par)
        blank = len(floats) - 1
        floats = np.concatenate((floats[:-1], np.zeros(size - len(floats)), floats[-1:]))
        gone, come = self.obligors_touched
        for holdings, sign, none in ((gone, -1.0, blank), (come, 1.0, size - 1)):
            for par, industry in holdings.values():
                if par > 0:
                    floats[size - 1 if industry == none else industry] += sign * min(1.0, par / average_par)
        return np.maximum(floats, 0.0)

    # ---- the CCC excess

    def filled(self, agency: int, excess: float) -> tuple[float, int]:
        bucket = self.base.bucket(agency)
        gone, come = (
            np.zeros((5, 0)) if pool is None else kernels.candidates(pool.tally, agency)
            for pool in (self.minus, self.plus)
        )
        unpriced = bucket.unpriced - int(gone[4].sum()) + int(come[4].sum())
        moved = [
            (row, sign * amount, sign * haircut)
            for rows, sign in ((gone, -1.0), (come, 1.0))
            for row, amount, haircut in zip(
                rows[1].tolist(), rows[2].tolist(), haircut_of(*rows[1:4]).tolist(), strict=True
            )
        ]

        def below_price(price: float, side: Literal["left", "right"]) -> tuple[float, float]:
            """(par, haircut) of the rows below a price, from the right those at it with them."""
            place = int(bucket.price.searchsorted(price, side))
            some = [each for each in moved if each[0] < price or (each[0] == price and side == "right")]
            return (
                float(bucket.par_below[place]) + sum(amount for _, amount, _ in some),
                float(bucket.haircut_below[place]) + sum(haircut for _, _, haircut in some),
            )

        first, last = 0, len(bucket.price)
        while first < last:
            middle = (first + last) // 2
            if below_price(float(bucket.price[middle]), "right")[0] >= excess:
                last = middle
            else:
                first = middle + 1
        price = float(bucket.price[first]) if first < len(bucket.price) else inf
        price = min(
            [price, *(each for each in come[1].tolist() if each < price and below_price(each, "right")[0] >= excess)]
        )
        if price == inf:
            return below_price(inf, "right")[1], unpriced
        par, haircut = below_price(price, "left")
        return haircut + self._at_price(bucket, gone, come, price, excess - par), unpriced

    def _at_price(self, bucket: CccBucket, gone: Floats, come: Floats, price: float, left: float) -> float:
        """Haircut of the rows of the price at which the excess ends."""
        first, last = (int(bucket.price.searchsorted(price, side)) for side in ("left", "right"))
        rows, par, value = bucket.row[first:last], bucket.par[first:last], bucket.value[first:last]
        sold = self.loans.rows[gone[0, gone[1] == price].astype(np.intp)]
        if len(sold):
            stays = ~np.isin(rows, sold)
            rows, par, value = rows[stays], par[stays], value[stays]
        more = come[:, come[1] == price]
        par, value = np.concatenate((par, more[2])), np.concatenate((value, more[3]))

        def identifier(at: int) -> tuple[str, ...]:
            if at < len(rows):
                return self.base.pool.identifier(int(rows[at]))
            assert self.plus is not None
            return self.plus.identifier(int(more[0][at - len(rows)]))

        return kernels.fill_alike(price, par, value, left, identifier)


_TOP: Final = 10


def _join(before: Any, minus: Any, plus: Any) -> Any:
    """Return a sum after trades.

    Of arrays by name, to which trades have added names before the last, the blank.
    """
    if isinstance(before, tuple):
        none = (0.0,) * len(before)
        return tuple(map(_left, before, none if minus is None else minus, none if plus is None else plus))
    if not isinstance(before, np.ndarray):
        return _left(before, 0.0 if minus is None else minus, 0.0 if plus is None else plus)
    size = max(len(each) for each in (before, minus, plus) if each is not None)
    known = _spread(before, size)
    left = known
    if minus is not None:
        left = left - _spread(minus, size)
    if plus is not None:
        left = left + _spread(plus, size)
    return np.where(np.abs(left) <= NOTHING_LEFT * np.abs(known), 0.0, left)


def _left(before: float, minus: float, plus: float) -> float:
    left = float(before - minus + plus)
    return 0.0 if abs(left) <= NOTHING_LEFT * abs(before) else left


def _spread(values: Floats, size: int) -> Floats:
    return values if len(values) == size else np.concatenate((values[:-1], np.zeros(size - len(values)), values[-1:]))


class _Later(dict[str, Any]):
    """Columns by name; a column is made when it is taken."""

    def __init__(self, names: Iterable[str], columns: Callable[[], dict[str, Any]]) -> None:
        super().__init__(dict.fromkeys(names))
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns()[name]

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self._columns()[name] if name in self else otherwise

    def items(self) -> Any:
        return self._columns().items()

    def values(self) -> Any:
        return self._columns().values()


class _LaterColumn:
    """A column that is there, and made when it is read."""

    def __init__(self, column: Callable[[], Any]) -> None:
        self._column = column

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self._column())

    def __getitem__(self, at: Any) -> Any:
        return self._column()[at]


def _later(pool: After, of: Callable[[Pool], Any], pools: Iterable[Any]) -> dict[str, _Later]:
    """Return the four kinds of columns of `of` the pool.

    Their names are those of `pools`.
    """

    def columns(kind: str) -> Callable[[], dict[str, Any]]:
        return lambda: getattr(of(pool.whole), kind)

    listed = list(pools)
    return {
        kind: _Later({name: None for each in listed for name in getattr(each, kind)}, columns(kind))
        for kind in ("numbers", "names", "flags", "ranks")
    }


class _LaterView:
    """The view of a pool after trades."""

    def __init__(self, pool: After) -> None:
        base = pool.base.pool.view
        parts = [base, *(part.view for part in (pool.plus,) if part is not None)]
        columns = _later(pool, lambda each: each.view, parts)
        self.numbers, self.names, self.flags, self.ranks = columns.values()
        self.lien = None if all(part.lien is None for part in parts) else _LaterColumn(lambda: pool.whole.view.lien)
        self.home, self.rules, self.factors = base.home, base.rules, base.factors
        self.is_mostly_unrated = base.is_mostly_unrated
        self.has_bounds, self.affiliates = base.has_bounds, base.affiliates
        self.recovery_agency, self.industry_agency = base.recovery_agency, base.industry_agency
        self.diversity_field = base.diversity_field


class _LaterPortfolio:
    """The portfolio of a pool after trades."""

    stands_for = Portfolio  # to what looks at types of arguments

    def __init__(self, pool: After) -> None:
        self._pool = pool
        base, after = pool.base.pool.portfolio, pool.loans.after
        columns = _later(pool, lambda each: each.portfolio, (base, after))
        self.numbers, self.names, self.flags, self.ranks = columns.values()
        self.lien = None if after.lien is None else _LaterColumn(lambda: pool.whole.portfolio.lien)
        self.row_count, self.deal = pool.loans.row_count, pool.loans.deal
        self.tranches, self.sheet_name, self.notes = base.tranches, base.sheet_name, base.notes
        self.source_cells, self.amortization, self.facts = base.source_cells, base.amortization, base.facts
        self.own_dates, self.interpretation = base.own_dates, base.interpretation

    def defaulted(self) -> NDArray[np.bool_]:
        return self._pool.whole.portfolio.defaulted()


def pools_after(bases: tuple[Base, ...], holdings: Holdings, change: TradeEffect) -> tuple[After, ...]:
    """Return the pools after trades, one for each of the bases.

    Raises:
        NeedsFullPass: the sums after the trades do not follow from those before, or too many loans are touched.
    """
    if any(_is_strange(holdings, lot.loan) for lot in change.bought):
        raise NeedsFullPass
    also: frozenset[int] = frozenset()
    while True:
        loans = touched(holdings, bases[0], change, also)
        if loans is None or not loans.row_count:
            raise NeedsFullPass
        pools = tuple(After(base, loans) for base in bases)
        # Conventions may join a touched obligor with others, which is seen in the view of these loans.
        missing = _missing(pools[0])
        if not missing:
            return pools
        also |= missing


def _missing(pool: After) -> frozenset[int]:
    """Touched obligors that have loans elsewhere."""
    index = pool.base.by_obligor
    if index is None:
        return frozenset()
    chosen, known = set(pool.loans.rows.tolist()), len(index.names.values)
    touched_codes = {code for touched in pool.obligors_touched for code in touched if code < known}
    return frozenset(code for code in touched_codes if not chosen.issuperset(index.rows(code)))


def _is_strange(holdings: Holdings, loan: TradeLoan) -> bool:
    """Return whether a bought loan has a column that the portfolio has not, and that changes what other loans count as:
    the formulas and the ladders of a definition ask for columns, facilities are small by the country, and a deferring
    loan earns a known nothing once any loan earns."""
    portfolio = holdings.portfolio
    if holdings.definition is None:
        earns = not _RATES.isdisjoint(loan.numbers) and _RATES.isdisjoint(portfolio.numbers)
        return earns or ("country" in loan.texts and "country" not in portfolio.names)
    columns = ((loan.numbers, portfolio.numbers), (loan.texts, portfolio.names), (loan.flags, portfolio.flags))
    return any(own.keys() - its.keys() for own, its in columns) or (loan.lien is not None and portfolio.lien is None)
