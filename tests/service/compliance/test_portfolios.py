"""The kept portfolios: found by what they are made from, bounded in number and in bytes."""

from __future__ import annotations

from datetime import date

import numpy as np

from core.portfolio.portfolio import Names, Portfolio
from service.compliance.portfolios import BYTES_LEAST, NAME_BYTES, Key, Portfolios, bytes_of


def key(book: str = "a", day: int = 1) -> Key:
    return Key(book, "{}", date(2026, 1, day))


def portfolio(rows: int = 0) -> Portfolio:
    return Portfolio(rows, {"par_value": np.zeros(rows)}, {}, {}, {})


def test_found_only_by_all_that_it_is_made_from() -> None:
    kept, made = Portfolios(), portfolio()
    kept.keep(key(), made)
    assert kept.get(key()) is made
    assert kept.get(key("b")) is None
    assert kept.get(key(day=2)) is None
    assert kept.get(Key("a", '{"id":"x"}', date(2026, 1, 1))) is None


def test_the_least_recently_used_goes_first() -> None:
    kept = Portfolios(most=2)
    kept.keep(key("a"), portfolio())
    kept.keep(key("b"), portfolio())
    assert kept.get(key("a")) is not None
    kept.keep(key("c"), portfolio())
    assert kept.get(key("b")) is None
    assert kept.get(key("a")) is not None
    assert len(kept) == 2


def test_bounded_in_bytes() -> None:
    kept = Portfolios(bytes_most=2 * BYTES_LEAST + 8_000)
    kept.keep(key("a"), portfolio(500))
    kept.keep(key("b"), portfolio(500))
    assert len(kept) == 2
    kept.keep(key("c"), portfolio(500))
    assert len(kept) == 2
    kept.keep(key("huge"), portfolio(100_000))
    assert kept.get(key("huge")) is None
    assert len(kept) == 2


def test_kept_again_it_counts_once() -> None:
    kept = Portfolios(bytes_most=2 * BYTES_LEAST)
    for _ in range(5):
        kept.keep(key("a"), portfolio())
    kept.keep(key("b"), portfolio())
    assert len(kept) == 2


def test_shared_arrays_and_own_names_are_weighed() -> None:
    par = np.zeros(1_000)
    names = Names(np.zeros(1_000, np.int32), ("one", "two"))
    made = Portfolio(1_000, {"par_value": par, "price": par}, {"industry": names}, {}, {})
    assert bytes_of(made) == BYTES_LEAST + 8_000 + 4_000 + 2 * NAME_BYTES
