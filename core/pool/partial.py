"""The sums of one part of a pool.

Its row groups follow one another, each in pieces that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.conventions import view_of
from core.compliance.ladders import Assumed
from core.compliance.pool_sums import Pool, Unmeasurable
from core.compliance.stand_ins import with_stand_ins
from core.compliance.tallied import amounts_of, counts_of
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.pool._obligors import Obligors, TooManyObligors, appearing
from core.pool.absent import ObligorNames
from core.pool.chunk import Chunk, Settled, read_chunk
from core.pool.columns import RawNames
from core.pool.source import PoolRefused, PoolSource, RowGroups, batches
from core.pool.sums import (
    ByName,
    PoolSums,
    Total,
    ViewSums,
    add_counts,
    added,
    either,
    industry_codes,
    latest,
    order_of,
)
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import count_loans
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.portfolio import Deal, Names
from core.portfolio.model.ratings import AGENCY_OF

PIECE_ROWS: Final = 131_072
"""Loans that are read at once."""

FIRST_ROWS: Final = 8_192
"""Loans by which it is guessed how all are read."""

OBLIGORS_MAX: Final = 10_000_000
"""Distinct obligors of a pool, as it writes them."""

Sum = Callable[[Pool], Any]
"""What a test adds up over the loans of a pool, see `Pool.summed`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How every loan of a pool is read and added up."""

    source: PoolSource
    targets: frozenset[str]
    """The fields that are read."""
    definition: Definition | None
    """Whose conventions count, without what only all obligors together tell."""
    deal: Deal
    settled: Settled
    assumed: tuple[Assumed, ...] = ("value",)
    """What masked ratings are taken for, each with sums of its own."""
    obligors_max: int = OBLIGORS_MAX


class ChunkPool(Pool):
    """The sums of some loans of a pool, without their obligors."""

    def __init__(self, portfolio: Portfolio, plan: Plan, assumed: Assumed) -> None:
        """Walk the loans once."""
        self._begin(portfolio, plan.definition)
        self.assumed = assumed
        self.view = view_of(portfolio, plan.definition, assumed, plan.settled.of_all)
        self.scheduled_life = None
        self.weights = np.empty(portfolio.row_count)
        self._walk({name: column for name, column in self.view.names.items() if name != "obligor"})


def add_up(plan: Plan, span: RowGroups, sums: Mapping[Hashable, Sum]) -> PoolSums:
    """Return what the loans of a part add up to, and what tests ask beside.

    Raises:
        PoolRefused: a file is damaged, a value does not fit its field, or there are too many obligors.
    """
    total = PoolSums(Obligors(plan.obligors_max))
    for chunk in chunks(plan, span):
        add_chunk(total, chunk, plan, sums)
    return total


def chunks(
    plan: Plan, span: RowGroups, more: frozenset[str] = frozenset(), rows_max: int | None = None
) -> Iterator[Chunk]:
    """Yield the loans of a part by pieces, with the plan's fields and some more."""
    targets = plan.targets | more
    for file, batch, headings in batches(plan.source, span, targets, rows_max or PIECE_ROWS):
        checkpoint()
        try:
            yield read_chunk(batch, headings, file, plan.source, plan.settled, plan.deal, targets)
        except PoolRefused as refused:
            raise PoolRefused(f"{file.name}: {refused}") from None


def add_chunk(total: PoolSums, chunk: Chunk, plan: Plan, sums: Mapping[Hashable, Sum]) -> list[ChunkPool]:
    """Add some loans, and return their pools."""
    portfolio = chunk.portfolio
    total.row_count += portfolio.row_count
    total.notes.update(chunk.notes)
    for target, counts in chunk.words.items():
        add_counts(total.words.setdefault(target, {}), counts)
    total.currencies.update(chunk.currencies)
    total.industries.update(dict.fromkeys(chunk.industries))
    total.coupons, total.as_of = either(total.coupons, chunk.coupons), latest(total.as_of, chunk.as_of)
    if not portfolio.row_count:
        return []
    total.loan_counts.add(count_loans(portfolio))
    if plan.definition is not None:
        portfolio = with_stand_ins(portfolio, plan.definition)
    _compare_recoveries(total, portfolio)
    pools: list[ChunkPool] = []
    for assumed in plan.assumed:
        pool = ChunkPool(portfolio, plan, assumed)
        if not pools:
            _add_obligors(total, chunk, pool)
        elif not np.array_equal(pool.weights, pools[0].weights):
            raise PoolRefused("masked ratings decide which loans are defaulted: the pool needs one figure for them")
        _add_view(total.views.setdefault(assumed, ViewSums()), pool, sums)
        pools.append(pool)
    return pools


def _compare_recoveries(total: PoolSums, portfolio: Portfolio) -> None:
    general = portfolio.numbers.get("recovery_rate")
    for agency in AGENCIES:
        own = portfolio.numbers.get(f"recovery_rate_{agency}")
        if general is not None and own is not None:
            is_equal = own is general or np.array_equal(general, own, equal_nan=True)
            total.equal_recoveries[agency] = total.equal_recoveries.get(agency, True) and is_equal


def _add_obligors(total: PoolSums, chunk: Chunk, pool: ChunkPool) -> None:
    """Add the loans' par to that of their obligors."""
    weights, industry = pool.weights, pool.view.names.get("industry")
    codes = codes_of(total.obligors, chunk, len(weights))
    industries = order = None
    if industry is not None:
        table = industry_codes(total.obligor_industries, list(industry.values))
        industries = np.append(table, np.int32(-1))[industry.codes]
        order = order_of(total.obligor_industries)
    total.obligors.add(codes, weights, industries, order)


def codes_of(table: Obligors, chunk: Chunk, rows: int) -> NDArray[np.int32]:
    """Return the code of each loan's obligor; names without a loan are met, too."""
    raw = chunk.obligors
    if raw is None:
        return np.full(rows, -1, np.int32)
    try:
        codes = _met(table, raw)
    except TooManyObligors:
        raise too_many_obligors(table.limit) from None
    return codes if chunk.kept is None else codes[chunk.kept]


def too_many_obligors(limit: int) -> PoolRefused:
    """Return the refusal of a pool with more obligors than may be."""
    return PoolRefused(
        f"more than {limit:,} distinct obligors: the largest ones and the diversity score need them all in memory; "
        "give the loans of an obligor one issuer_id, or run parts of the pool"
    )


def _met(table: Obligors, raw: RawNames) -> NDArray[np.int32]:
    if raw.codes is None:
        codes = table.meet(raw.offsets, raw.data)
        if raw.blank is not None:
            codes[raw.blank] = -1
        return codes
    used = appearing(raw.codes, len(raw.offsets) - 1)
    sizes = np.diff(raw.offsets)[used]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    pieces = [raw.data[raw.offsets[at] : raw.offsets[at + 1]] for at in used.tolist()]
    place = np.full(len(raw.offsets), -1, np.int32)  # the last for a blank
    place[used] = table.meet(offsets, np.concatenate(pieces) if pieces else np.zeros(0, np.uint8))
    return place[raw.codes]


def _add_view(view: ViewSums, pool: ChunkPool, sums: Mapping[Hashable, Sum]) -> None:
    tally, own = pool.tally, pool.view
    view.counts.update(counts_of(tally))
    view.amounts.add(amounts_of(tally))
    industry = own.names.get("industry")
    view.industries.add(() if industry is None else industry.values, tally.industry_par)
    price, par, value, buckets, unpriced, _ = kernels.all_candidates(tally)
    view.ccc.add((price, par, value, buckets, unpriced))
    for name, column in own.names.items():
        if len(column.values) <= NAMES_KEPT_MAX and name not in AGENCY_OF:
            view.names.setdefault(name, {}).update(dict.fromkeys(_in_order(name, column)))
    for kind in ("numbers", "names", "flags", "ranks"):
        view.seen.setdefault(kind, {}).update(dict.fromkeys(getattr(own, kind)))
    view.facts = view.facts or {name: getattr(own, name) for name in _FACTS}
    view.has_bounds |= own.has_bounds
    view.unrated_rows += own.unrated_rows
    own.names["obligor"] = ObligorNames()  # type: ignore[assignment]
    for key, of in sums.items():
        view.asked[key] = added(view.asked.get(key), sum_of(key, of, pool))


def _in_order(name: str, column: Names) -> Sequence[str]:
    """Return a column's names in the order of its loans.

    Those of categories are in their own.
    """
    if name in CATEGORIES:
        return column.values
    return [column.values[code] for code in appearing(column.codes, len(column.values)).tolist()]


CATEGORIES: Final = ("industry", "country", "currency", "base_rate")
"""Columns whose names are in alphabetical order."""

NAMES_KEPT_MAX: Final = 100_000
"""Names of a column that are kept for its sums."""

_FACTS: Final = (
    "rules", "factors", "is_mostly_unrated", "recovery_agency", "industry_agency", "diversity_field", "home",
)  # fmt: skip


def sum_of(key: Hashable, of: Sum, pool: Pool) -> Any:
    """Return one of a pool's sums as parts are added, or why there is none."""
    try:
        amount = of(pool)
    except Unmeasurable as reason:
        return str(reason)
    kind = key[0] if isinstance(key, tuple) else key
    if kind in ("name", "country"):
        by_name = ByName()
        names = pool.view.names[key[1]] if kind == "name" else pool.portfolio.names["country"]  # type: ignore[index]
        by_name.add(names.values, amount)
        return by_name
    values = np.atleast_1d(np.asarray(amount, np.float64))
    total = Total(len(values))
    total.add(values)
    return total
