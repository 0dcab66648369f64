"""What a child that calculates does with an order.

It calls one function of ours with plain values and arrays.

An order comes from the service itself, so it is a pickle, whose arrays follow it as they are: a portfolio is neither
copied nor taken apart. An answer comes from a process that reads what strangers wrote, so it is plain MessagePack, and
the caller decodes it by the type that the function says it returns.
"""

from __future__ import annotations

import pickle
import struct
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from core.confined.wire import name_of
from core.portfolio.cells import checkpoint
from core.warm import warm_calculations
from service.platform.base.lru import anonymous_bytes
from service.platform.base.problem import Fault, Problem

_COUNT: Final = struct.Struct("<I")
_SIZE: Final = struct.Struct("<Q")


READY: Final = b""
"""The order, and the answer, of a child that is to say that it has loaded everything."""


class WorkDone(Struct, frozen=True, omit_defaults=True):
    """What came of an order: one of these."""

    answer: bytes | None = None
    """MessagePack of what the function returned."""
    is_late: bool = False
    """It took longer than it may."""
    lacked_memory: bool = False
    refused: tuple[str, list[Fault]] | None = None
    """The name of a refusal of ours (`Problem`), and what it says is wrong."""
    crashed: str | None = None
    """The class of the exception and where it was raised; not its message, which may quote a stranger's file."""


class Call(Struct, frozen=True):
    """A function with its arguments, and the time that it may take."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    seconds: float


class _OutOfTime(Exception):
    """Raised at a checkpoint of the work."""


def order_of(call: Call) -> list[bytes | memoryview]:
    """Return an order's parts: sizes of arrays, pickle, arrays."""
    arrays: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> None:
        arrays.append(buffer.raw())

    pickled = pickle.dumps((call.function, call.args, call.kwargs, call.seconds), 5, buffer_callback=keep)
    sizes = b"".join(_SIZE.pack(len(part)) for part in (pickled, *arrays))
    return [_COUNT.pack(len(arrays) + 1) + sizes + pickled, *arrays]


def _call_of(order: bytes) -> Call:
    view = memoryview(order)
    count = _COUNT.unpack_from(view)[0]
    at = _COUNT.size + count * _SIZE.size
    parts = []
    for number in range(count):
        size = _SIZE.unpack_from(view, _COUNT.size + number * _SIZE.size)[0]
        parts.append(view[at : at + size])
        at += size
    # Copied to where arrays begin in memory: kernels want their numbers aligned.
    return Call(*pickle.loads(parts[0], buffers=[bytearray(part) for part in parts[1:]]))  # noqa: S301 - our own order


class Calculating:
    """A child that takes order after order, and keeps nothing between two of them."""

    def __init__(self, *, memory_bytes_max: int) -> None:
        warm_calculations()
        self._memory_bytes_kept = anonymous_bytes() + memory_bytes_max // 2

    def __call__(self, order: bytes) -> tuple[bytes, bool]:
        """Return the answer, and whether another order can follow.

        None follows where much memory stayed taken.
        """
        if order == READY:
            return READY, True
        is_sound = True
        try:
            worked = WorkDone(answer=msgspec.msgpack.encode(_value(_call_of(order))))
        except _OutOfTime:
            worked = WorkDone(is_late=True)
        except Problem as refusal:
            worked = WorkDone(refused=(name_of(type(refusal)), list(refusal.errors)))
        except MemoryError:
            worked, is_sound = WorkDone(lacked_memory=True), False
        except Exception as fault:
            worked = WorkDone(crashed=_place_of(fault))
        return msgspec.msgpack.encode(worked), is_sound and anonymous_bytes() <= self._memory_bytes_kept


def _value(call: Call) -> Any:
    end = time.monotonic() + call.seconds

    def check(_grown_bytes: int) -> None:
        if time.monotonic() > end:
            raise _OutOfTime

    with checkpoint.checking(check):
        return call.function(*call.args, **call.kwargs)


_STEPS_SHOWN: Final = 8


def _place_of(fault: Exception) -> str:
    steps: Sequence[traceback.FrameSummary] = traceback.extract_tb(fault.__traceback__)[: -_STEPS_SHOWN - 1 : -1]
    return " < ".join([type(fault).__name__, *(f"{step.filename.rpartition('/')[2]}:{step.lineno}" for step in steps)])
