"""An LRU cache, bounded by a number of values and by their bytes."""

from __future__ import annotations

import gc
import resource
import sys
from collections import OrderedDict
from collections.abc import Hashable
from itertools import count
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, Generic, TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_SHARED: Final = (type, ModuleType, FunctionType, BuiltinFunctionType)
"""Objects of the program itself, which no value owns."""
_turns: Final = count()
_STATM: Final = Path("/proc/self/statm")


class Lru(Generic[K, T]):
    """A bounded cache, least recently used first out; of one event loop, so unlocked.

    A key names all that its value is made from, so that no value grows stale, and two tenants share one only where both
    brought the same.
    """

    def __init__(self, *, most: int, bytes_most: int) -> None:
        self._most, self._bytes_most = most, bytes_most
        self._kept: OrderedDict[K, tuple[T, int, int]] = OrderedDict()
        """With its bytes and the turn of its last use."""
        self.size_bytes = 0
        self.hits = self.misses = 0

    def get(self, key: K) -> T | None:
        """Return the value of a key, if it is still here."""
        entry = self._kept.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        value, size_bytes, _ = entry
        self._kept[key] = value, size_bytes, next(_turns)
        self._kept.move_to_end(key)
        return value

    def keep(self, key: K, value: T, size_bytes: int) -> None:
        """Keep a value of so many bytes (`bytes_of`); drop old ones past a bound."""
        if key in self._kept:
            self._drop(key)
        if size_bytes > self._bytes_most:
            return
        self._kept[key] = value, size_bytes, next(_turns)
        self.size_bytes += size_bytes
        while len(self._kept) > self._most or self.size_bytes > self._bytes_most:
            self.drop_oldest()

    def drop_oldest(self) -> int:
        """Drop what was not used for longest; return its bytes."""
        return self._drop(next(iter(self._kept)))

    @property
    def oldest(self) -> int:
        """When that was used last: a number that grows with each use of any cache."""
        return next(iter(self._kept.values()))[2]

    def _drop(self, key: K) -> int:
        _, size_bytes, _ = self._kept.pop(key)
        self.size_bytes -= size_bytes
        return size_bytes

    def __len__(self) -> int:
        return len(self._kept)


def bytes_of(value: Any) -> int:
    """Return the memory that a value keeps, all that it refers to included.

    Of a piece of an array it is the whole array; of a mapped file nothing, since its pages are the system's.
    """
    size_bytes = 0
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        fresh = {id(item): item for item in waiting if not isinstance(item, _SHARED)}
        for known in seen.intersection(fresh):
            del fresh[known]
        seen.update(fresh)
        size_bytes += sum(map(sys.getsizeof, fresh.values()))
        waiting = gc.get_referents(*fresh.values())
        waiting += [item.base for item in fresh.values() if isinstance(item, np.ndarray) and item.base is not None]
    return size_bytes


def anonymous_bytes() -> int:
    """Return this process's memory that is no file's and not shared; 0 if unknown."""
    try:
        _, resident, shared, *_ = _STATM.read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()
