"""What a caller and its child say to each other.

A line of limits, then orders and answers, each behind its length.
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any, Final

from msgspec import UNSET, Raw, Struct, UnsetType

HEAD: Final = struct.Struct("<?Q")
"""In front of an order or an answer: whether more can follow it, and its length in bytes."""

ENDED: Final = struct.Struct("<i")
"""How a fork of a kept child ended: its exit code, or a signal's negative number."""


class ChildLimits(Struct, frozen=True, kw_only=True):
    """What a child may do. It reads this as JSON before anything else."""

    parent: int
    """The process that asks; the child does not outlive it."""
    memory_bytes_max: int
    """Address space: all of it for one piece of work; for a child that stays, on top of what it holds when ready."""
    seconds_max: float | None = None
    """Time of the processor; None for a child that stays, whose caller holds the clock for each order."""
    reads: tuple[str, ...] = ()
    """Paths that it may read, beside its program."""
    writes: str | None = None
    """The folder that it may write."""
    refusals: tuple[str, ...] = ()
    """Exceptions, by dotted name, that refuse what was given; any other is a crash."""
    settings: dict[str, int] = {}
    """What a child that stays is made with."""


class ChildOutcome(Struct, frozen=True, omit_defaults=True):
    """What came of one piece of work: one of these."""

    answer: Raw | UnsetType = UNSET
    """JSON of the answer."""
    refused: tuple[str, str] | None = None
    """The dotted name of the refusal, and what it says."""
    failed: tuple[int | None, str | None] | None = None
    """The system's error number, and what it says."""
    lacked_memory: bool = False
    crashed: str | None = None
    """Where."""


def named(name: str) -> Any:
    """Return what a dotted name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def name_of(kind: type) -> str:
    """Return a class's dotted name."""
    return f"{kind.__module__}.{kind.__qualname__}"
