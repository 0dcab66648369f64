"""The portfolio of a stored workbook; the recently used ones stay.

Mapping again costs far more than a calculation.
"""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple

import structlog

from core.definition.definition import Definition
from core.grid.sheet import Workbook
from core.interpretation.interpret import has_figures
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.portfolio import GivenSource
from core.values import EPOCH
from service.mappings.shared import MappingAndJson, mapping_time
from service.platform.base.lru import Lru, bytes_of
from service.platform.unit.context import Unit
from service.portfolios import child
from service.processes.shared import OutOfMemory, OutOfTime, in_child
from service.workbooks.shared import Parsed, StoredBook, locate_book, open_stored

log = structlog.get_logger()

PORTFOLIOS_MAX: Final = 64
BYTES_MAX: Final = 512 * 1024 * 1024
"""A million loans with every column take about 250 MB, 300 loans 0.1 MB."""

INTERPRETATIONS_MAX: Final = 256
INTERPRETATIONS_BYTES_MAX: Final = 16 * 1024 * 1024
"""One takes some 20 kB, and its search a second."""

SAMPLES_TIME: Final = 10
"""How many times as long a mapping may take for a workbook as for a sample."""


class GivenDay(NamedTuple):
    """The day of a workbook's figures, and who gave it."""

    day: date
    source: GivenSource


class Key(NamedTuple):
    """All that a portfolio is made from. No tenant: who has the same file gets the same loans."""

    book_key: str
    """Of the stored columns and their files: the same key, the same columns, in files that nobody touched since."""
    mapping: str
    """JSON of the whole mapping: a string keeps its hash, where that of a Mapping is 200 strings' each time."""
    day: GivenDay


async def portfolio_of(
    unit: Unit, workbook: Parsed, mapping: MappingAndJson, given_day: GivenDay, *, is_kept: bool = True
) -> Portfolio:
    """Return a workbook's loans by a mapping, on a day.

    Mapped in a thread. Shared, so nobody may change it.

    Args:
        is_kept: whether the loans stay for the next who asks; not of a mapping that is only tried.

    Raises:
        WorkbookNotReady, Damaged: as `locate_book`.
        MappingTooSlow: the mapping takes longer than it may.
    """
    return await portfolio_of_book(unit, await locate_book(unit, workbook), mapping, given_day, is_kept=is_kept)


async def portfolio_of_book(
    unit: Unit, stored: StoredBook, mapping: MappingAndJson, given_day: GivenDay, *, is_kept: bool = True
) -> Portfolio:
    """Return the loans of stored columns, whose workbook may be gone.

    Raises as `portfolio_of` and `open_stored`.
    """
    cache: Lru[Key, Portfolio] = unit.resources.memory.cache("portfolios", most=PORTFOLIOS_MAX, bytes_most=BYTES_MAX)
    key = Key(stored.key, mapping.json, given_day)
    cached = cache.get(key)
    if cached is not None:
        return cached
    book = await open_stored(unit, stored)
    seconds_max = SAMPLES_TIME * unit.settings.mapping_seconds
    portfolio, size_bytes = await unit.compute(_map, book, mapping, given_day, seconds_max)
    if is_kept:
        cache.keep(key, portfolio, size_bytes + bytes_of(key))
    return portfolio


class ReadingKey(NamedTuple):
    """All that an interpretation is made from. No tenant, as for `Key`."""

    book_key: str
    """Of the columns that were read."""
    mapping: str
    """JSON of the whole mapping."""
    day: GivenDay
    definition: str | None
    """JSON of the definition."""
    record: str
    """JSON of what a deal's record adds."""


async def interpret_portfolio(
    unit: Unit,
    portfolio: Portfolio,
    definition: Definition | None,
    key: ReadingKey,
    seconds: float,
    *,
    is_kept: bool = True,
) -> Portfolio:
    """Return the loans read as the file's figures say, searched once.

    A file that prints nothing of itself, and one whose search does not come to its end, is left as it is.

    Args:
        definition: the rules; a deal's own outranks what is found, a market's standard does not.
        key: what the portfolio and the definition were made from.
        is_kept: whether what is found stays for the next who asks.
    """
    if not has_figures(portfolio):
        return portfolio
    cache: Lru[ReadingKey, Interpretation] = unit.resources.memory.cache(
        "interpretations", most=INTERPRETATIONS_MAX, bytes_most=INTERPRETATIONS_BYTES_MAX
    )
    interpretation = cache.get(key)
    if interpretation is None:
        try:
            interpretation = await in_child(unit, seconds, child.interpretation_of, portfolio, definition)
        except (OutOfTime, OutOfMemory) as error:
            log.warning("interpretation.ended", error=type(error).__name__, rows=portfolio.row_count)
            return portfolio
        if is_kept:
            cache.keep(key, interpretation, bytes_of(interpretation) + bytes_of(key))
    return read_by(portfolio, interpretation, definition)


def _map(book: Workbook, mapping: MappingAndJson, given_day: GivenDay, seconds_max: float) -> tuple[Portfolio, int]:
    """Return the loans of a workbook, and the bytes that they keep."""
    with mapping_time(seconds_max):
        days = float((given_day.day - EPOCH).days)
        portfolio = Portfolio.from_workbook(book, mapping.mapping, as_of=days, as_of_source=given_day.source)
    return portfolio, bytes_of(portfolio)
