"""Dates by a format.

Both notations read and write the same days, and what is no format is refused.
"""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells.text.date_format import (
    DateFormatError,
    date_format,
    date_reader,
    reading_fault,
    writing_fault,
)


def at(*parts: int) -> datetime:
    """Return a moment without a zone, as a spreadsheet has them."""
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


PAIRS = [
    ("YYYY-MM-DD", "%Y-%m-%d"),
    ("DD/MM/YYYY", "%d/%m/%Y"),
    ("MM/DD/YYYY", "%m/%d/%Y"),
    ("DD-MMM-YYYY", "%d-%b-%Y"),
    ("d mmmm yyyy", "%-d %B %Y"),
    ("DD.MM.YY", "%d.%m.%y"),
    ("yyyymmdd", "%Y%m%d"),
    ("YYYY-MM-DDThh:mm:ss", "%Y-%m-%dT%H:%M:%S"),
    ("YYYY-MM-DD", "%F"),
]


@pytest.mark.parametrize(("sheet", "codes"), PAIRS)
@given(day=st.dates(date(2000, 1, 1), date(2099, 12, 31)))
def test_both_notations_write_what_strftime_does_and_read_it_back(sheet: str, codes: str, day: date) -> None:
    moment = at(day.year, day.month, day.day)
    text = moment.strftime(codes)
    assert date_format(sheet).write(moment) == text
    assert date_format(codes).write(moment) == text
    assert date_reader(sheet).read(text) == moment
    assert date_reader(codes).read(text) == moment


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("DD-MMM-YY", "05-jan-31", (2031, 1, 5)),
        ("DD MMM YYYY", "5  SEP   2031", (2031, 9, 5)),
        ("M/D/YYYY", "9/5/2031", (2031, 9, 5)),
        ("MM/DD/YY", "09/05/68", (2068, 9, 5)),
        ("%A, %d %B %Y", "Friday, 05 September 2031", (2031, 9, 5)),
        ("dddd d mmmm yyyy", "friday 5 september 2031", (2031, 9, 5)),
        ('"as of" YYYY-MM-DD', "as of 2031-09-05", (2031, 9, 5)),
        ("YYYY%%MM", None, None),
        (" YYYY-MM-DD", "2031-09-05", None),
        ("YYYY-MM-DD", " 2031-09-05 ", (2031, 9, 5)),
        ("YYYY-MM-DD", "2031-9-5", (2031, 9, 5)),
        ("YYYY-MM-DD", "2031-02-30", None),
        ("YYYYMMDD", "20310905", (2031, 9, 5)),
        ("YYYYMMDD", "2031111", None),
        ("%Y%m%d", "2031095", None),
        ("DDMMYY", "50931", None),
        ("DMMMYYYY", "5SEP2031", (2031, 9, 5)),
        ("YYYY-MM-DD", "2031-09-05 10:00", None),
        ("YYYY-MM-DD hh:mm", "2031-09-05 25:00", None),
        ("YYYY-MM-DD", "２０３１-09-05", None),
        ("YYYY-MM-DD", "0000-01-01", None),
        ("YYYY-MM-DD", "2031-09-05" + " " * 100, None),
    ],
)
def test_what_is_read(form: str, text: str | None, day: tuple[int, int, int] | None) -> None:
    if text is None:
        with pytest.raises(DateFormatError):
            date_reader(form)
    else:
        assert date_reader(form).read(text) == (None if day is None else at(*day))


def test_minutes_follow_hours() -> None:
    assert date_format("hh:mm MM").write(at(2031, 9, 5, 7, 8)) == "07:08 09"
    assert date_format("%D %T %%").write(at(2031, 9, 5, 7, 8, 9)) == "09/05/31 07:08:09 %"


@pytest.mark.parametrize(
    "form", ["", "x" * 41, "%Q-%Y", "%Y-%m-%d%", "YYY-MM-DD", "YYYY-MM-DD q", "--", '"YYYY"', 5, None]
)
def test_what_is_no_format(form: object) -> None:
    assert writing_fault(form, "date")
    assert reading_fault(form, "date")


@pytest.mark.parametrize("form", ["YYYY-MM", "MM/DD", "YYYY-MM-DD DD", "%Y-%m-%d %b", "hh:mm"])
def test_reading_needs_year_month_and_day_once_each(form: str) -> None:
    assert writing_fault(form, "date") is None
    assert reading_fault(form, "date")
