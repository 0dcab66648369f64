"""The sums of one pass over the loans, of which figures are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from math import isfinite, nan
from typing import Any, Final, Literal, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.compliance import coverage, kernels
from core.compliance.conventions import DEFAULT, cash_of, is_plain, view_of
from core.compliance.file_figures import (
    NOT_PRINTED,
    OTHER,
    PARTS,
    ByAgency,
    printed_ccc,
    printed_parts,
    printed_ratings,
)
from core.compliance.kernels import rounded
from core.compliance.ladders import Assumed
from core.compliance.masks import largest
from core.compliance.period import period_years
from core.compliance.view import View
from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import ByRank, Deal, Names, without_figures_of_loans
from core.portfolio.model.ratings import CCC, DEFAULTED, RECOVERY
from core.portfolio.pages.report.strata import industry_shares
from core.values import SERIAL_OF_1970

DAYS_A_YEAR: Final = 365.25

OF_MASKS: Final = tuple(f"masked_{what}_{agency}" for what in ("ccc", "ratings") for agency in "abc")
"""Figures of the deal that say what masks hide: trades leave them."""
TOO_LARGE: Final = "the figures are too large to compute with"

_CLAIMS: Final[dict[int, int]] = {Lien.SECOND_LIEN: 1, Lien.UNSECURED: 2, Lien.BOND: 2, Lien.OTHER: 1}
"""The column of the recovery table for each lien but the first, which a blank counts as."""

RECOVERY_BY_KIND: Final = np.array([[rates[_CLAIMS.get(lien, 0)] for lien in range(8)] for rates in RECOVERY])
"""Recovery rate by notch difference, from -3 to +2, and `Lien`."""


LARGEST_KEPT: Final = 30
"""Largest names that are looked for at once: one pass over them all answers several tests."""

Sums = TypeVar("Sums", float, tuple[float, ...], NDArray[np.float64])
"""What is added up over the loans: the sums of two halves of a pool are, added, those of the pool."""


class Unmeasurable(Exception):
    """A figure that the portfolio does not give; the text is the reason."""


class Measurement(Struct, frozen=True):
    """A figure and how it came about, in full precision."""

    value: float
    numerator: float
    denominator: float
    coverage_pct: float | None = None
    """Share of par whose rows have the column, where blanks are left out."""
    break_down: Callable[[], dict[str, Any]] = dict
    """Makes the breakdown; it asks no column, only sums that stand."""

    @property
    def breakdown(self) -> dict[str, Any]:
        """What the figure is made of, for its details."""
        return self.break_down()


class Pool:
    """The sums of a portfolio and what several figures share.

    All money in the deal's currency.
    """

    def __init__(self, portfolio: Portfolio, definition: Definition | None = None, assumed: Assumed = "value") -> None:
        """Walk the portfolio once, under the definition's conventions.

        None for those of the suites.

        Raises:
            ValueError: a column is missing its rows, or a code is out of its range (a fault of whoever built it).
        """
        self._begin(portfolio, definition)
        self.assumed = assumed
        self.view: View = view_of(portfolio, definition, assumed)
        if definition is not None:
            self.weights = np.empty(portfolio.row_count)
        self.scheduled_life = _scheduled_life(portfolio, self.as_of)
        self._walk(self.view.names)

    def _walk(self, names: Mapping[str, Names]) -> None:
        """Add the loans up in one pass, with these of their names."""
        view = self.view
        tally = kernels.tally(
            self.portfolio.row_count,
            view.columns,
            names,
            view.flags,
            view.ranks,
            view.lien,
            RECOVERY_BY_KIND,
            rules=view.rules,
            as_of=self.as_of,
            base_rate=self.base_rate,
            home=view.home,
            scheduled_life=self.scheduled_life,
            weights=self.__dict__.get("weights"),
        )
        self._conclude(tally)

    def _begin(self, portfolio: Portfolio, definition: Definition | None) -> None:
        self.portfolio = portfolio
        deal = portfolio.deal
        self.as_of = _finite(deal.as_of, nan)
        self.base_rate = _finite(deal.base_rate, nan)
        self.definition = definition or DEFAULT
        self.figures: dict[str, float] = {}
        """The figures of the tests that were run over it, by test id: what formulas over other tests read."""
        self.limits: dict[str, float] = {}
        """What tests that were run over it under a definition are held to, by test id."""
        self.masked: dict[str, tuple[float, ...]] = {}
        """By column of ratings (par, number) of the loans whose rating it masks, those that were asked for."""
        self._par_by_name: dict[str, NDArray[np.float64]] = {}
        self._largest: dict[str, list[int]] = {}
        self.shares: dict[str, tuple[float, float]] = {}
        """By a share's formula what it adds up to, those that were worked out of these loans."""
        self.fields: Any = None
        """What the formulas over loans have worked out of it, see `core.compliance.shares`."""
        self.cash = cash_of(deal, self.definition)
        self.period_years = period_years(deal.payment_days, self.definition.conventions.day_count)

    def _go_by_file(self) -> None:
        """Take what the file's own calculation decides, of which the definition says nothing."""
        self.masked_ccc: ByAgency = printed_ccc(self.portfolio, self.definition)
        """What of `buckets` no row shows; None where no rating table says it."""
        self.masked_ratings: tuple[ByRank | None, ...] = printed_ratings(self.portfolio, self.definition)
        """By agency what rating its rating table gives to what no row rates; None where no table says it."""
        self.printed: dict[str, float] = printed_parts(self.portfolio, self.definition, self.view)
        """What the file's own calculation of the OC numerator says, by the keys of `adjustments`; nothing of what a
        definition of the deal's own says."""

    def _conclude(self, tally: kernels.Tally) -> None:
        """Set what follows from the sums."""
        self._go_by_file()
        self.tally = tally
        self.par = self.tally.par
        self.cpa = self.par + self.cash
        self.total_with_defaults = self.cpa + self.tally.defaulted_par
        defaulted_in_denominator = self.definition.conventions.defaulted_in_denominator
        if self.definition.leaves("conventions.defaulted_in_denominator"):
            defaulted_in_denominator = self.portfolio.deal.defaulted_in_denominator or defaulted_in_denominator
        self.denominator = self.cpa if self.definition.conventions.cash_in_denominator else self.par
        if defaulted_in_denominator != "none":
            carried = self.printed.get("defaulted_carried", tally.defaulted_carried)
            self.denominator += carried if defaulted_in_denominator == "carried" else tally.defaulted_par
        self.divisors = {"cpa": min(self.cpa, self.denominator), "par": self.par}
        self.least_divisor = min(self.divisors.values())
        (
            self.cov_lite_par,
            self.fixed_par,
            self.dip_par,
            self.current_pay_par,
            self.deferring_par,
            self.long_dated_par,
            self.participation_par,
        ) = self.tally.par_by_flag

    def let_go(self) -> None:
        """Forget what formulas worked out.

        It names the pool, so both would stay until the collector runs.
        """
        self.fields = None

    def under(self, portfolio: Portfolio, definition: Definition) -> Pool:
        """Return the same sums under conventions, and with a deal, that move none of them."""
        pool = Pool.__new__(Pool)
        pool._begin(portfolio, definition)
        pool.assumed, pool.view, pool.scheduled_life = self.assumed, self.view, self.scheduled_life
        for name in ("weights", "defaulted", "years", "structure"):
            if name in self.__dict__ and (name != "structure" or definition.classes == self.definition.classes):
                pool.__dict__[name] = self.__dict__[name]
        pool._conclude(self.tally)
        return pool

    def deal_for_changes(self) -> Deal:
        """Return the deal for other loans than these.

        What the file's own OC numerator says beside the loans stays as one amount, and what they are carried at
        follows from them.
        """
        deal = self.portfolio.deal
        without_figures = without_figures_of_loans(deal)
        if without_figures is deal:
            return deal
        masked = {name: getattr(deal, name) for name in OF_MASKS}
        apart = self.adjustments["adjusted"] - self.adjustments_of_loans["adjusted"] if self.printed else 0.0
        return replace(without_figures, **masked, **dict.fromkeys(PARTS), par_value_kept=apart or None)

    @property
    def interest_is_given(self) -> bool:
        """Whether the file prints all of the period's interest, and no rule asks for that of the loans."""
        rules = self.definition.interest_coverage
        return rules.interest == "collected_and_receivable" and self.portfolio.deal.is_interest_given

    @property
    def goes_by_file(self) -> bool:
        """Whether no definition of the deal's own says anything."""
        return self.definition.standard or not self.definition.stated

    @cached_property
    def fault(self) -> str | None:
        """Why nothing can be measured of it; None where it can."""
        if not isfinite(self.total_with_defaults):
            return TOO_LARGE
        if self.tally.blank_rows == self.portfolio.row_count:
            return "Skipped: required column(s) par_value has no values"
        return None

    @property
    def kept_rows(self) -> int:
        """Loans whose columns stay in memory as long as it does."""
        return self.portfolio.row_count

    @property
    def whole(self) -> Pool:
        """The same by a pass over all loans."""
        return self

    def summed(self, key: Hashable, of: Callable[[Pool], Sums]) -> Sums:
        """Return what `of` adds up over the loans of a pool.

        `key` tells it from all other sums.
        """
        return of(self)

    def par_by_name(self, field: str) -> NDArray[np.float64]:
        """Return performing par by the code of a column of names, the last for a blank."""

        def added(pool: Pool) -> NDArray[np.float64]:
            names = pool.view.names[field]
            if field == "obligor" and len(par := kernels.obligor_par(pool.tally)) == len(names.values) + 1:
                return par
            return np.roll(np.bincount(names.codes + 1, pool.weights, len(names.values) + 1), -1)

        if field not in self._par_by_name:
            self._par_by_name[field] = self.summed(("name", field), added)
        return self._par_by_name[field]

    def largest_by_name(self, field: str, count: int) -> list[int]:
        """Return the codes of the names with the most par, of equals the first first."""
        order = self._largest.get(field, [])
        if len(order) < count:
            order = self._largest[field] = largest(self.par_by_name(field)[:-1], max(count, LARGEST_KEPT))
        return order[:count]

    def name(self, field: str, code: int) -> str:
        """Return the name of a code."""
        return self.view.names[field].values[code]

    def units(self, average_par: float) -> NDArray[np.float64]:
        """Equivalent units of the diversity score by industry, the last for a blank."""
        return kernels.units(self.tally, average_par)

    def filled(self, agency: int, excess: float) -> tuple[float, int]:
        """Haircut of the CCC excess by an agency, and the rows of its bucket without a price."""
        return kernels.fill_excess(self.tally, agency, excess, self.identifier)

    def share(self, par: float) -> float:
        """Percent of the collateral principal amount, with defaulted loans as the conventions have them; a net short
        position counts as none."""
        return max(0.0, par) / self.denominator * 100

    @cached_property
    def totals(self) -> dict[str, float]:
        """What formulas may name of it beside tests.

        Without what is not known or takes a step of its own.
        """
        target = self.definition.conventions.target_par
        known = {
            "par": self.par,
            "cash": self.cash,
            "cpa": self.cpa,
            "denominator": self.denominator,
            "defaulted_par": self.tally.defaulted_par,
            "fixed_par": self.fixed_par,
            "floating_par": self.par - self.fixed_par,
            "loans": float(self.tally.performing_rows),
        }
        if target is not None:
            known["target_par"] = target
        if isfinite(self.as_of):
            known["as_of"] = self.as_of + SERIAL_OF_1970
        return known

    def covered(self, par: float) -> float:
        """Percent of performing par; of none, all is covered."""
        return par / self.par * 100 if self.par > 0 else 100.0

    @cached_property
    def largest_obligors(self) -> list[dict[str, Any]]:
        """The five largest obligors with their shares."""
        _, codes, par = self.obligors
        return [self._show("obligor", *pair) for pair in zip(codes[:5], par[:5], strict=True)]

    @cached_property
    def largest_industries(self) -> list[dict[str, Any]]:
        """The four largest industries with their shares."""
        _, codes, par = self.industries
        return [self._show("industry", *pair) for pair in zip(codes, par, strict=True)]

    def _show(self, field: str, code: int, par: float) -> dict[str, Any]:
        return {"name": self.name(field, code), "par": rounded(par), "share_pct": rounded(self.share(par))}

    @cached_property
    def obligors(self) -> tuple[int, list[int], list[float]]:
        """How many obligors have par; codes and par of the ten largest."""
        return self.tally.obligor_count, *self.tally.top_obligors

    @property
    def largest_apart(self) -> float:
        """Par of the largest obligor before any are joined."""
        return float(np.bincount(self.portfolio.names["obligor"].codes + 1, self.weights, 2)[1:].max())

    @cached_property
    def obligor_coverage_pct(self) -> float:
        return self.covered(self.par - self.tally.obligor_blank)

    @cached_property
    def industries(self) -> tuple[int, list[int], list[float]]:
        """How many named industries have par; codes and par of the four largest.

        A net short one counts as none.
        """
        *named, _ = self.tally.industry_par.tolist()
        if not any(named):
            raise no_values("industry")
        order = sorted(range(len(named)), key=named.__getitem__, reverse=True)
        return sum(par > 0 for par in named), order[:4], [max(0.0, named[code]) for code in order[:4]]

    @cached_property
    def printed_industries(self) -> tuple[Fact, ...]:
        """The industries of a table of the file that adds up to performing par, the largest first, where no row names
        one: of the agency whose industries count, else of any. None where rows do."""
        if not self.portfolio.facts.all or self.summed(("named", "industry"), _rows_with_industry):
            return ()
        agencies = dict.fromkeys((self.view.industry_agency, None, "b", "a", "c"))
        tables = (industry_shares(self.portfolio.facts, agency, self.par) for agency in agencies)  # type: ignore[arg-type]
        return next((rows for rows in tables if rows), ())

    @cached_property
    def by_classification(self) -> dict[str, list[dict[str, Any]]]:
        """The largest industries of each agency's own classification, under a definition."""
        shares: dict[str, list[dict[str, Any]]] = {}
        for field in ("industry_a", "industry_b", "industry_c") if not is_plain(self.definition) else ():
            if field in self.view.names:
                par = self.par_by_name(field)[:-1]
                order = np.argsort(-par, kind="stable")[:4].tolist()
                shares[field] = [self._show(field, at, float(par[at])) for at in order]
        return shares

    @cached_property
    def industry_coverage_pct(self) -> float:
        return self.covered(self.par - float(self.tally.industry_par[-1]))

    @property
    def buckets(self) -> tuple[float, float, float]:
        """Performing par rated Caa1 (CCC+) or below by each agency.

        Where its rating table says what masks and blanks hide, what rows show and what the table has more. A loan
        of such a table is rated: no row without a rating is CCC for the lack of it, unless a definition says so.
        """
        if self.masked_ccc == NOT_PRINTED:
            a, b, c, *_ = self.tally.par_by_bucket
            return a, b, c
        a, b, c = (
            own
            if more is None and not self.goes_by_file
            else self.summed(("shown_ccc", agency), partial(_shown_ccc, agency)) + (more or 0.0)
            for agency, more, own in zip("abc", self.masked_ccc, self.tally.par_by_bucket[:3], strict=True)
        )
        return a, b, c

    @cached_property
    def ccc(self) -> tuple[int, float]:
        """The agency with the greatest bucket (0 for A; the first of equals) and its par, of those that count."""
        buckets = [
            (par, agency)
            for agency, par in zip("abc", self.buckets, strict=True)
            if agency in self.definition.par_value.ccc_agencies
        ]
        greatest = max(par for par, _ in buckets)
        return next("abc".index(agency) for par, agency in buckets if par == greatest), max(0.0, greatest)

    @cached_property
    def adjustments(self) -> dict[str, float]:
        """The collateral principal amount, what is taken off and added, and `adjusted`: the OC numerator (1.6)."""
        return self._adjust(self.printed)

    @property
    def adjustments_of_loans(self) -> dict[str, float]:
        """The same by the loans alone, whatever the file prints.

        What `other_haircut` covers under its name.
        """
        adjusted = self._adjust({})
        other_haircut = adjusted["deferring_haircut"] - adjusted.get("long_dated_and_current_pay", 0.0)
        return {**adjusted, "other_haircut": other_haircut}

    def _adjust(self, printed: dict[str, float]) -> dict[str, float]:
        """Return the same with some parts as printed, the others by the loans."""
        tally, rules = self.tally, self.definition.par_value
        agency, bucket = self.ccc
        excess = max(0.0, bucket - rules.ccc_limit / 100 * self.cpa) if rules.ccc_excess else 0.0
        haircut, unpriced = self.filled(agency, excess) if excess > 0 else (0.0, 0)
        hidden = 0.0 if self.assumed == "best" else self.hidden_excess(agency, excess)
        haircut += hidden * max(0.0, 100.0 - rules.ccc_unpriced) / 100
        taken_off = {
            "ccc_haircut": haircut,
            "discount_haircut": tally.discount_haircut,
            "deferring_haircut": 0.0 if "other_haircut" in printed else tally.deferring_haircut,
        }
        added = {"defaulted_carried": tally.defaulted_carried}
        if tally.category_haircut and "other_haircut" not in printed:
            added["long_dated_and_current_pay"] = -tally.category_haircut
        has_accrued = "purchased_accrued_interest" in self.portfolio.numbers
        if rules.purchased_accrued_interest and has_accrued and OTHER not in printed:
            added["purchased_accrued_interest"] = self.summed(("accrued",), _accrue)
        for name, amount in printed.items():
            (taken_off if name.endswith("haircut") else added)[name] = amount
        return {
            "collateral_principal_amount": self.cpa,
            "principal_cash": self.cash,
            "ccc_excess": excess,
            "ccc_rows_without_price": unpriced,
            **taken_off,
            **added,
            "adjusted": self.cpa - sum(taken_off.values()) + sum(added.values()),
        }

    def hidden_excess(self, agency: int, excess: float) -> float:
        """Return the part of a CCC excess that a rating table alone has, and no row shows: it has no price."""
        if self.masked_ccc[agency] is None:
            return 0.0
        return max(0.0, excess - max(0.0, self.tally.par_by_bucket[agency]))

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """What each loan weighs: its par where it performs, else 0."""
        par = self.view.numbers["par_value"]
        return np.where(np.isfinite(par) & ~self.defaulted, par, 0.0)

    @cached_property
    def defaulted(self) -> NDArray[np.bool_]:
        """Which loans are defaulted."""
        return self.view.defaulted(self.portfolio)

    @cached_property
    def years(self) -> NDArray[np.float64] | None:
        """Years until each loan is repaid.

        Its average life, else that of its schedule, else until it matures; NaN where unknown, None where no column
        says.
        """
        numbers, maturity = self.view.numbers, self.view.numbers.get("maturity_date")
        bullet = None if maturity is None or not isfinite(self.as_of) else (maturity - self.as_of) / DAYS_A_YEAR
        known = [each for each in (numbers.get("average_life"), self.scheduled_life, bullet) if each is not None]
        if not known:
            return None
        years = known[0]
        for fallback in known[1:]:
            years = np.where(np.isnan(years), fallback, years)
        return np.maximum(years, 0.0)

    def tally_by_industry(self, industries: Names) -> kernels.Tally:
        """Return the sums by another column of industries."""
        view = self.view
        return kernels.tally(
            self.portfolio.row_count,
            {"par_value": view.numbers["par_value"]},
            {"obligor": view.names["obligor"], "industry": industries},
            {"is_defaulted": self.defaulted.astype(np.uint8)},
            {},
            None,
            RECOVERY_BY_KIND,
            rules=view.rules,
            as_of=self.as_of,
            base_rate=nan,
            home=-2,
        )

    def identifier(self, row: int) -> tuple[str, ...]:
        """Return what orders loans of one price: their identifiers, then their names."""
        names = self.portfolio.names
        columns = (names.get(field) for field in ("cusip", "loanx_id", "isin", "obligor", "facility_name"))
        return tuple(
            "" if column is None or column.codes[row] < 0 else column.values[column.codes[row]] for column in columns
        )

    @cached_property
    def structure(self) -> coverage.Structure | None:
        """The rated notes by seniority and what is tested; None without a tranche sheet."""
        if self.portfolio.tranches is None:
            return None
        tranches = self.portfolio.tranches
        if self.definition.classes:
            tranches = coverage.with_triggers(tranches, self.definition.classes)
        return coverage.structure(
            tranches, self.base_rate, self.period_years, self.portfolio.deal.reinvestment_oc_trigger
        )

    @cached_property
    def interest(self) -> dict[str, Any]:
        """What the period brings, how it is known, fees, and `available`: the IC numerator."""
        rules = self.definition
        bases = {
            "cpa": self.cpa,
            "par": self.par,
            "denominator": self.denominator,
            "target_par": rules.conventions.target_par or 0.0,
        }
        return coverage.income(
            self.portfolio.deal,
            yearly=self.tally.interest_sum / 100,
            bases=bases,
            as_of=self.as_of,
            day_count=rules.conventions.day_count,
            rules=rules.interest_coverage,
        )

    def classes(
        self, kind: Literal["oc", "ic"], limits: Mapping[int, coverage.ClassLimit], places: Iterable[int] | None = None
    ) -> list[dict[str, Any]]:
        """Return the tested classes, or those at these places, as `coverage.classes` tells them."""
        notes = self.structure
        assert notes is not None
        if kind == "oc":
            return coverage.classes(notes, notes.oc, self.adjustments["adjusted"], "balance", limits, places)
        return coverage.classes(notes, notes.ic, self.interest["available"], "interest_due", limits, places)


def _shown_ccc(agency: str, pool: Pool) -> float:
    """Return performing par of the loans that a row shows as Caa1 (CCC+) or below."""
    rows = shown_ccc_rows(agency, pool)
    return 0.0 if rows is None else float(pool.weights @ rows)


def shown_ccc_rows(agency: str, pool: Pool) -> NDArray[np.bool_] | None:
    """Return the loans shown as Caa1 (CCC+) or below; None without such ratings."""
    ranks = pool.portfolio.ranks.get(f"rating_agency_{agency}")
    return None if ranks is None else (ranks >= CCC) & (ranks < DEFAULTED)


def _accrue(pool: Pool) -> float:
    """Purchased accrued interest of the performing loans."""
    counts = ~pool.defaulted & np.isfinite(pool.view.numbers["par_value"])
    return float(np.nansum(pool.view.numbers["purchased_accrued_interest"][counts]))


def _finite(number: float | None, otherwise: float) -> float:
    return number if number is not None and isfinite(number) else otherwise


def _scheduled_life(portfolio: Portfolio, as_of: float) -> NDArray[np.float64] | None:
    schedule = portfolio.amortization
    if schedule is None or not isfinite(as_of):
        return None
    numbers = portfolio.numbers
    return kernels.scheduled_life(
        numbers["par_value"], numbers.get("maturity_date"), as_of, schedule.row, schedule.days, schedule.amount
    )


def no_values(columns: str) -> Unmeasurable:
    return Unmeasurable(f"Skipped: required column(s) {columns} has no values")


def _rows_with_industry(pool: Pool) -> float:
    names = pool.view.names.get("industry")
    return 0.0 if names is None else float(np.count_nonzero(names.codes >= 0))
