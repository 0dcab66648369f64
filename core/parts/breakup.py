"""What a measure hands over of its numerator.

Amounts of loans, and amounts of the deal beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance import kernels
from core.compliance.kernels import Tally
from core.compliance.pool_sums import RECOVERY_BY_KIND, Pool
from core.definition.definition import DealTest
from core.parts.content import Kind
from core.portfolio.model.portfolio import Names

Floats = NDArray[np.float64]


class Amount(NamedTuple):
    """A part that is not what a loan adds under the measure itself."""

    kind: Kind
    name: str
    amount: float
    row: int | None = None
    """Place of the loan that it is of; None: it is of no one loan."""
    fields: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Breakup:
    """A numerator in its parts."""

    loans: Floats | None = None
    """What each loan adds."""
    weights: Floats | None = None
    """What each loan weighs in an average; the loan adds weight x value."""
    amounts: tuple[Amount, ...] = ()
    agency: str | None = None
    """Whose rating is shown of a loan first."""
    is_share: bool = False
    """Whether it is par that counts, in percent of a denominator: then there is room up to the limit."""


Builder = Callable[[Pool, DealTest], Breakup]
Take = Callable[[Tally, Pool], float]
"""A sum of the pass over the loans, here of a single one."""


def by_loan(pool: Pool, *takes: Take) -> list[Floats]:
    """Return what each loan adds to sums of the pass over all loans.

    The same pass over one loan at a time.

    So that a part is what the run itself counted: a loan takes some 50 microseconds, and 10,000 of them half a second.
    """
    view, rows = pool.view, np.flatnonzero(np.isfinite(pool.view.numbers["par_value"])).tolist()
    country = view.names.get("country")
    amounts = [np.zeros(pool.portfolio.row_count) for _ in takes]
    for row in rows:
        at = slice(row, row + 1)
        tally = kernels.tally(
            1,
            {name: column[at] for name, column in view.numbers.items()},
            {} if country is None else {"country": Names(country.codes[at], country.values)},
            {name: column[at] for name, column in view.flags.items()},
            {name: column[at] for name, column in view.ranks.items()},
            None if view.lien is None else view.lien[at],
            RECOVERY_BY_KIND,
            rules=view.rules,
            as_of=pool.as_of,
            base_rate=pool.base_rate,
            home=view.home,
            scheduled_life=None if pool.scheduled_life is None else pool.scheduled_life[at],
        )
        for column, take in zip(amounts, takes, strict=True):
            column[row] = take(tally, pool)
    return amounts
