"""The portfolios of recently run workbooks: mapping a sheet again costs far more than running a suite on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from datetime import date
from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from core.portfolio.portfolio import Portfolio, Strings
from service.platform.context import Resources

PORTFOLIOS_MAX: Final = 64
BYTES_MAX: Final = 512 * 1024 * 1024
"""A million loans with every column take about 250 MB, 300 loans 0.1 MB."""
BYTES_LEAST: Final = 64 * 1024
"""What a portfolio counts for beside its columns: notes, tranches, objects."""
NAME_BYTES: Final = 80
"""A name that is a string of its own."""


class Key(NamedTuple):
    """All that a portfolio is made from. No tenant: who has the same file gets the same loans."""

    book_key: str
    """Of the stored columns: the same key, the same columns."""
    mapping: str
    """JSON of the whole mapping: a string keeps its hash, where that of a Mapping is 200 strings' each time."""
    as_of: date


class Portfolios:
    """A bounded cache, the least recently used first out; of one event loop, so nothing is locked."""

    def __init__(self, *, most: int = PORTFOLIOS_MAX, bytes_most: int = BYTES_MAX) -> None:
        self._most = most
        self._bytes_most = bytes_most
        self._bytes = 0
        self._kept: OrderedDict[Key, tuple[Portfolio, int]] = OrderedDict()

    def get(self, key: Key) -> Portfolio | None:
        """The portfolio made from exactly this, if it is still here."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: Key, portfolio: Portfolio) -> None:
        """Remember a portfolio, and forget the least recently used ones past the bounds."""
        size_bytes = bytes_of(portfolio)
        if size_bytes > self._bytes_most:
            return
        self._forget(key)
        self._kept[key] = portfolio, size_bytes
        self._bytes += size_bytes
        while len(self._kept) > self._most or self._bytes > self._bytes_most:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: Key) -> None:
        dropped = self._kept.pop(key, None)
        self._bytes -= dropped[1] if dropped else 0

    def __len__(self) -> int:
        return len(self._kept)


def bytes_of(portfolio: Portfolio) -> int:
    """About how much memory a portfolio holds."""
    arrays = {id(array): array.nbytes for array in _arrays(portfolio)}  # columns of one sheet share their text
    names = sum(len(names.values) for names in portfolio.names.values() if isinstance(names.values, tuple))
    return BYTES_LEAST + sum(arrays.values()) + names * NAME_BYTES


def _arrays(portfolio: Portfolio) -> Iterator[NDArray[Any]]:
    yield from portfolio.numbers.values()
    yield from portfolio.flags.values()
    yield from portfolio.ranks.values()
    yield from (array for array in (portfolio.lien, portfolio.lots, portfolio.conflicting) if array is not None)
    if portfolio.amortization is not None:
        yield from (portfolio.amortization.row, portfolio.amortization.days, portfolio.amortization.amount)
    for names in portfolio.names.values():
        yield names.codes
        if isinstance(names.values, Strings):
            yield from (names.values.text.offsets, names.values.text.data)


def recent(resources: Resources) -> Portfolios:
    """Those of this process."""
    kept: Portfolios = vars(resources).setdefault("compliance_portfolios", Portfolios())
    return kept
