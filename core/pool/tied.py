"""The loans of one price at which the CCC excess of a pool ends.

Another pass reads what tells them apart.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from core.compliance import kernels
from core.compliance.ladders import Assumed
from core.compliance.pool_sums import Unmeasurable
from core.compliance.stand_ins import with_stand_ins
from core.pool.partial import ChunkPool, Plan, chunks, codes_of
from core.pool.source import spans_of
from core.pool.streamed import TIED, TIED_ROWS_MAX, Finished, TiedRows
from core.portfolio.cells import text_cells
from core.portfolio.cells.loans import Loans, put_column
from core.portfolio.cells.typed import text_column
from core.portfolio.model.fields import IDENTIFIERS, KEYS
from core.portfolio.model.portfolio import Names, Strings
from core.portfolio.pages.identify import sort_identifiers

_TOLD_BY: Final = (*KEYS, "facility_name")
"""Columns that tell loans apart, beside those of obligors."""


def tied_rows(plan: Plan, finished: Finished, price: float, agency: int, assumed: Assumed) -> TiedRows:
    """Return the loans of an agency's CCC bucket at a price.

    Raises:
        Unmeasurable: there are too many.
    """
    more = frozenset(_TOLD_BY) & plan.source.targets()
    apart = finished.obligors.apart
    obligor_of = np.append(apart.codes, np.int32(-1))
    obligors = list[str]()
    par, value = list[Any](), list[Any]()
    texts: dict[str, list[str | None]] = {target: [] for target in more}
    count = 0
    for span in spans_of(plan.source):
        for chunk in chunks(plan, span, more):
            portfolio = chunk.portfolio
            if not portfolio.row_count:
                continue
            if plan.definition is not None:
                portfolio = with_stand_ins(portfolio, plan.definition)
            pool = ChunkPool(portfolio, plan, assumed)
            prices, pars, values, buckets, _, rows = kernels.all_candidates(pool.tally)
            tied = (prices == price) & (buckets >> agency & 1 != 0)
            count += int(np.count_nonzero(tied))
            if count > TIED_ROWS_MAX:
                raise Unmeasurable(TIED)
            par.append(pars[tied])
            value.append(values[tied])
            codes = obligor_of[codes_of(finished.sums.obligors, chunk, portfolio.row_count)][rows[tied]]
            obligors += ["" if code < 0 else apart.values[code] for code in codes.tolist()]
            for target in more:
                texts[target] += _texts(chunk, target, rows[tied])
    return TiedRows(np.concatenate(par), np.concatenate(value), _identifiers(texts, obligors))


def _texts(chunk: Any, target: str, rows: Any) -> list[str | None]:
    names = chunk.portfolio.names.get(target)
    if names is None:
        return [None] * len(rows)
    return [None if code < 0 else names.values[code] for code in names.codes[rows].tolist()]


def _identifiers(texts: dict[str, list[str | None]], obligors: list[str]) -> list[tuple[str, ...]]:
    """Return what orders the loans, as `Pool.identifier` has it."""
    loans = Loans(row_count=len(obligors))
    for target, strings in texts.items():
        codes, text = text_cells.pool_of(strings)
        put_column(loans, target, text_column(text_cells.merged_pool(codes, text, text_cells.NO_TEXT)))
    sort_identifiers(loans)
    columns: dict[str, Names] = {
        name: Names(column.codes, Strings(column.text)) for name, column in loans.texts.items()
    }

    def texts_of(name: str) -> list[str]:
        own = columns.get(name)
        if own is None:
            return [""] * len(obligors)
        return ["" if code < 0 else own.values[code] for code in own.codes.tolist()]

    return list(zip(*map(texts_of, IDENTIFIERS), obligors, texts_of("facility_name"), strict=True))
