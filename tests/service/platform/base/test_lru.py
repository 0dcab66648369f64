"""What a process keeps.

Found by what it was made from, bounded in number and in bytes, weighed as it truly weighs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.platform.base.lru import Lru, bytes_of


def test_the_least_recently_used_goes_first() -> None:
    kept: Lru[str, int] = Lru(most=2, bytes_most=100)
    kept.keep("a", 1, 10)
    kept.keep("b", 2, 10)
    assert kept.get("a") == 1
    kept.keep("c", 3, 10)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
    kept.keep("a", 4, 20)
    assert (kept.get("a"), len(kept), kept.size_bytes) == (4, 2, 30)


def test_bounded_in_bytes() -> None:
    kept: Lru[str, int] = Lru(most=100, bytes_most=100)
    for name in "abcd":
        kept.keep(name, 1, 40)
    assert (len(kept), kept.size_bytes) == (2, 80)
    kept.keep("d", 2, 101)  # too large, and what was there under its name is old
    assert (kept.get("d"), kept.get("c"), kept.size_bytes) == (None, 1, 40)


def test_the_oldest_of_several_is_told() -> None:
    item: Lru[str, int] = Lru(most=9, bytes_most=9)
    second: Lru[str, int] = Lru(most=9, bytes_most=9)
    item.keep("a", 1, 1)
    second.keep("a", 1, 2)
    assert item.oldest < second.oldest
    item.get("a")
    assert item.oldest > second.oldest
    assert (second.drop_oldest(), second.size_bytes) == (2, 0)


def test_a_piece_of_an_array_weighs_as_the_whole(tmp_path: Path) -> None:
    whole = np.zeros(1_000_000)
    assert bytes_of(whole[:3]) > 8_000_000
    assert bytes_of([whole[:3], whole[3:]]) < 8_001_000
    whole.tofile(tmp_path / "file")
    mapped: Any = np.memmap(tmp_path / "file", np.float64, "r")
    assert bytes_of(mapped.view(np.ndarray)[:500_000]) < 10_000


FILLED = """
import gc, sys
from datetime import date
import numpy as np
from core.grid.column import Text
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names, Strings
from service.platform.base.lru import Lru, anonymous_bytes, bytes_of

def text(at):
    return {"note": [f"{at} {part}" * 20 for part in range(2_000)]}

def names(at):
    values = tuple(f"name {at} {part}" for part in range(10_000))
    return Portfolio(0, {}, {"industry": Names(np.zeros(10, np.int32), values)}, {}, {})

def piece(at):
    whole = np.ones(125_000 + at)
    return Portfolio(2, {"par_value": whole[:2]}, {}, {}, {})

def strings(at):
    pool = Text(np.arange(50_001), np.ones(50_000 * 8 + at, np.uint8))
    return Portfolio(2, {}, {"borrower_name": Names(np.zeros(2, np.int32), Strings(pool))}, {}, {})

kept = Lru(most=1_000, bytes_most=32 * 1024 * 1024)
makers = [text, names, piece, strings]
before = anonymous_bytes()
for at in range(100):
    value = makers[at % 4](at)
    kept.keep(at, value, bytes_of(value))
del value
gc.collect()
print(anonymous_bytes() - before, kept.size_bytes, len(kept))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells of no process's own memory")
def test_a_full_cache_takes_the_memory_that_its_bound_says() -> None:
    stdout = subprocess.run([sys.executable, "-c", FILLED], capture_output=True, text=True, check=True).stdout
    grown, counted, entries = map(int, stdout.split())
    bound = 32 * 1024 * 1024
    assert bound * 0.9 < counted <= bound
    assert entries < 60
    assert counted * 0.7 < grown < bound * 1.3 + 4 * 1024 * 1024
