"""Dates in words and figures, each text alone."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells.text.dates import date_days, day_order, month_of_name
from core.values import EPOCH


@pytest.mark.parametrize(
    ("text", "expected"),
    [("31. Mai 2018", (2018, 5, 31)), ("15 Okt 2030", (2030, 10, 15)), ("1 ao\u00fbt 2029", (2029, 8, 1)),
     ("31 d\u00e9c. 2029", (2029, 12, 31)), ("30 juin 2029", (2029, 6, 30)), ("31 juil. 2029", (2029, 7, 31)),
     ("31st of May 2018", (2018, 5, 31)), ("19 de junio de 2029", (2029, 6, 19)),
     ("1\u00ba de septiembre del 2029", (2029, 9, 1)), ("2 d'agosto 2029", (2029, 8, 2))],
)  # fmt: skip
def test_months_of_other_languages(text: str, expected: tuple[int, int, int]) -> None:
    assert date_days(text, day_first=False) == float((date(*expected) - EPOCH).days)


@given(st.dates(date(1901, 1, 1), date(2199, 12, 31)))
def test_a_date_survives_every_way_of_writing_it(day: date) -> None:
    days = float((day - EPOCH).days)
    for form in ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y", "%A, %d %B %Y", "%d/%m/%Y"):
        written = day.strftime(form)
        assert date_days(written, day_first=True) == days
        assert date_days(f"{written} 12:30", day_first=True) == days
        assert date_days(f"{written}\u00b9", day_first=True) == days


@given(st.text("0123456789-/. ,JanuaryMaiofthSdT:Z+(1)", max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert np.isfinite(days := date_days(text, day_first=False)) or np.isnan(days)


@pytest.mark.parametrize("text", ["", "2029", "1.2.3.4", "31/02/2030", "Foo 3, 2030", "12 of 2030", "2030-13-01"])
def test_what_is_no_date(text: str) -> None:
    assert np.isnan(date_days(text, day_first=False))


@pytest.mark.parametrize(
    ("texts", "order"),
    [(["03/04/2030", "25/06/2031"], True), (["03/04/2030", "06/25/2031"], False), (["03/04/2030"], None),
     (["2030-01-01"], False), ([], False)],
)  # fmt: skip
def test_the_order_of_slashed_dates(texts: list[str], order: bool | None) -> None:
    assert day_order(texts) is order


def test_months_are_known_by_the_start_of_their_names() -> None:
    assert [month_of_name(name) for name in ("juin", "Juillet", "Jun", "Dezember", "Foo")] == [6, 7, 6, 12, 0]
