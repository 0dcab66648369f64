"""The portfolios of recently run workbooks: mapping a sheet again costs far more than running a suite on it."""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple

from core.portfolio.portfolio import Portfolio
from service.platform.context import Resources
from service.platform.data.lru import Lru

PORTFOLIOS_MAX: Final = 64
BYTES_MAX: Final = 512 * 1024 * 1024
"""A million loans with every column take about 250 MB, 300 loans 0.1 MB."""


class Key(NamedTuple):
    """All that a portfolio is made from. No tenant: who has the same file gets the same loans."""

    book_key: str
    """Of the stored columns and their files: the same key, the same columns, in files that nobody touched since."""
    mapping: str
    """JSON of the whole mapping: a string keeps its hash, where that of a Mapping is 200 strings' each time."""
    as_of: date


def recent(resources: Resources) -> Lru[Key, Portfolio]:
    """Those of this process."""
    return resources.memory.cache("portfolios", most=PORTFOLIOS_MAX, bytes_most=BYTES_MAX)
