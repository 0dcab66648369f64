"""What the health views say."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct


class Health(Struct, frozen=True):
    """The basic view."""

    status: Literal["healthy"]
    version: str
    timestamp: datetime


class Live(Struct, frozen=True):
    """The process answers."""

    status: Literal["alive"]


class Check(Struct, frozen=True):
    """The state of one dependency."""

    status: Literal["ok", "error"]
    message: str


class Readiness(Struct, frozen=True):
    """Whether requests can be served."""

    status: Literal["ready", "not_ready"]
    version: str
    timestamp: datetime
    checks: dict[str, Check]
    degraded: bool
    """Something that requests can be served without is not there."""


class QueueDepths(Struct, frozen=True):
    """Jobs that wait, by queue."""

    queues: dict[str, int]
    total_pending: int
    timestamp: datetime
