"""Serials that stand for no moment, at both ends of the calendar and in both date systems."""

from __future__ import annotations

from datetime import datetime

from core.values import SERIALS_STOP, from_serial
from tests.rows import every

LAST = datetime(9999, 12, 31)  # noqa: DTZ001


@every("serial, date_1904, moment", [
    (SERIALS_STOP - 1, False, LAST),
    (SERIALS_STOP - 1e-9, False, None),  # midnight of the year 10000, to the millisecond
    (SERIALS_STOP, False, None),
    (SERIALS_STOP - 1_463, True, LAST),
    (SERIALS_STOP - 1_462, True, None),
    (-1e-9, True, None),
    (float("nan"), False, None),
])  # fmt: skip
def test_the_ends_of_the_calendar(serial: float, date_1904: bool, moment: datetime | None) -> None:
    assert from_serial(serial, date_1904=date_1904) == moment
