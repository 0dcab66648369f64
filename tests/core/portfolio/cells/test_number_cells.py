"""Numbers and days as the market writes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells import _parse, number_cells, string_pool, text_cells
from core.portfolio.cells.string_pool import Cells, StringPool
from tests.core.portfolio.cells.compared import NAN, same


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.56", 1234.56),
        ("(1,234.56)", -1234.56),
        ("1,234.56-", -1234.56),
        ("-5", -5),
        ("−5", -5),
        ("+5", 5),
        ("$1,000", 1000),
        ("$ (5.5)", -5.5),
        ("-$5", -5),
        ("USD 5", 5),
        ("5 EUR", 5),
        ("€5", 5),
        ("£ 7", 7),
        ("US$ 4", 4),
        ("1 234.5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1\u202f234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("1.234,56", 1234.56),
        ("1,2", 1.2),
        ("1,25", 1.25),
        ("1,2345", 1.2345),
        ("1,234", 1234),
        ("0,125", 0.125),
        ("1.234.567", 1234567),
        ("1,234,567", 1234567),
        ("1.234.567,8", 1234567.8),
        ("12,34,567", 1234567),
        ("1.5MM", 1_500_000),
        ("2.0M", 2_000_000),
        ("3mm", 3_000_000),
        ("1.2bn", 1_200_000_000),
        ("250k", 250_000),
        ("3.5%", 3.5),
        ("(3.5%)", -3.5),
        ("12 bps", 12),
        ("5E+06", 5_000_000),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("5.", 5),
        ("007", 7),
    ],
)
def test_numbers_in_text(make_cells: Callable[..., Cells], text: str, number: float) -> None:
    read = number_cells.read_numbers(make_cells([text]))
    assert read.values[0] == pytest.approx(number, rel=1e-15)
    assert read.unreadable == 0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["4.500.000", "4.500"], [4_500_000, 4_500]),
        (["1.234.567,89", "4.500", "750"], [1_234_567.89, 4_500, 750]),
        (["1.234,5", "98,375"], [1_234.5, 98.375]),
        (["98,5", "98,375", "97.250"], [98.5, 98.375, 97_250]),
        (["1,234.5", "98.375", "4,500"], [1_234.5, 98.375, 4_500]),
        (["1,234,567", "98,375"], [1_234_567, 98_375]),
        (["98.375", "97.250"], [98.375, 97.25]),
        (["4,500", "4,250"], [4_500, 4_250]),
        (["0,500", "4,250"], [0.5, 4.25]),
        (["1'234'567.89", "4.500"], [1_234_567.89, 4.5]),
        (["1\u202f234\u202f567,89", "4.500"], [1_234_567.89, 4_500]),
        # Both signs are decimal ones somewhere: each figure goes by its own form.
        (["1.234,5", "1,234.5", "98,375", "4.500"], [1_234.5, 1_234.5, 98_375, 4.5]),
    ],
)
def test_the_column_tells_its_decimal_sign(
    make_cells: Callable[..., Cells], texts: list[str], expected: list[float]
) -> None:
    read = number_cells.read_numbers(make_cells(texts))
    assert read.values == pytest.approx(expected, rel=1e-15)
    assert read.unreadable == 0


def test_numbers_keep_the_other_reading_of_an_open_sign(make_cells: Callable[..., Cells]) -> None:
    swapped = number_cells.read_numbers(make_cells(["98,375", 99.5, None, "97"])).swapped
    assert swapped is not None
    assert swapped == pytest.approx([98.375, 99.5, NAN, 97.0], nan_ok=True)
    assert number_cells.read_numbers(make_cells(["98,375", "98,5"])).swapped is None
    assert number_cells.read_numbers(make_cells(["98,375", "98.5"])).swapped is None
    assert number_cells.read_numbers(make_cells([98_375.0])).swapped is None


def test_the_sheet_tells_the_decimal_sign_of_a_column_that_does_not() -> None:
    def first(texts: list[str]) -> float:
        codes, text = text_cells.pool_of(texts)
        return float(number_cells.text_numbers(codes[:1], StringPool(text)).values[0])

    assert first(["4.500", "1.250.000,00"]) == 4_500
    assert first(["4.500", "1,250,000.00"]) == 4.5
    assert first(["98,375", "1 250 000,50"]) == 98.375
    assert first(["98,375"]) == 98_375


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["(1)", "1,000,000", "2,000,000"], [NAN, 1_000_000, 2_000_000]),
        (["(1)", "1,000,000", "(250,000)"], [-1, 1_000_000, -250_000]),
        (["(1)", "5", "12"], [-1, 5, 12]),
        (["(5)(8)", "1,000,000"], [NAN, 1_000_000]),
    ],
)
def test_a_footnote_mark_alone_is_no_amount(
    make_cells: Callable[..., Cells], texts: list[str], expected: list[float]
) -> None:
    read = number_cells.read_numbers(make_cells(texts))
    assert same(read.values, expected)
    assert read.unreadable == int(np.isnan(expected).sum())


@pytest.mark.parametrize(
    "text", ["N/A", "NA", "n.a.", "n.m.", "N/M", "-", "--", "***", "TBD", "NM", " ", "", " n/a ", "#N/A N/A"]
)
def test_null_words_are_blank_and_not_unreadable(make_cells: Callable[..., Cells], text: str) -> None:
    read = number_cells.read_numbers(make_cells([text, 1.0]))
    assert same(read.values, [NAN, 1.0])
    assert read.unreadable == 0


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "1-2",
        "1/2",
        "1.2.3,4,5",
        "1.2.3",
        "24.12.2026",
        "1,234,56",
        "1,2.3,4",
        "%",
        "()",
        "M",
        "1e",
        "1e9999",
        "12 34 x",
        "9" * 65,
        "$",
        "5 USD EUR x",
    ],
)
def test_other_text_is_blank_and_counted(make_cells: Callable[..., Cells], text: str) -> None:
    read = number_cells.read_numbers(make_cells([text, text, 1.0]))
    assert same(read.values, [NAN, NAN, 1.0])
    assert read.unreadable == 2


def test_kinds_that_are_no_number_are_blank(make_cells: Callable[..., Cells]) -> None:
    cells = make_cells([1.5, None, "#N/A", True, "2", date(2026, 3, 31)])
    assert same(number_cells.read_numbers(cells).values, [1.5, NAN, NAN, NAN, 2.0, 46112.0])
    assert cells.error_count() == 1


@given(st.lists(st.floats(-1e12, 1e12).map(lambda x: round(x, 4)), min_size=1, max_size=20))
def test_a_number_survives_every_way_of_writing_it(numbers: list[float]) -> None:
    for number in numbers:
        plain = f"{abs(number):,.4f}"
        european = plain.replace(",", "_").replace(".", ",").replace("_", ".")
        ways = [f"{number:,.4f}", f"({plain})" if number < 0 else plain, f"{plain}-" if number < 0 else plain]
        ways.append(f"-{european}" if number < 0 else european)
        codes, text = text_cells.pool_of(ways)
        values, _ = _parse.numbers(text.offsets, text.data, np.arange(len(text), dtype=np.int32), False)
        assert all(values[code] == pytest.approx(number, abs=1e-9) for code in codes)


@given(st.lists(st.binary(max_size=80), max_size=30))
def test_no_bytes_break_the_kernels(strings: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    data = np.frombuffer(b"".join(strings), np.uint8)
    used = np.arange(len(strings), dtype=np.int32)
    for is_spread in (False, True):
        values, marks = _parse.numbers(offsets, data, used, is_spread)
        assert len(values) == len(marks) == len(strings)
        assert not np.isinf(values).any()
    assert len(_parse.name_keys(offsets, data)[0]) == len(strings)
    assert len(_parse.identifier_kinds(offsets, data, True)) == len(strings)
    for upper in (False, True):
        codes, own, _ = _parse.clean(offsets, data, used, upper, False)
        assert codes.max(initial=-1) < len(own) - 1
    assert _parse.may_mark(offsets, data).max(initial=-1) < len(strings)
    assert _parse.may_have_marks(offsets, data, True).max(initial=-1) < len(strings)


def test_kernels_refuse_a_pool_that_lies() -> None:
    data = np.zeros(3, np.uint8)
    for offsets in ([0, 4], [-1, 2], [0, 3, 2]):
        pool = np.array(offsets, np.int64)
        used = np.arange(len(offsets) - 1, dtype=np.int32)
        for call in (
            lambda pool=pool, used=used: _parse.numbers(pool, data, used, False),
            lambda pool=pool, used=used: _parse.clean(pool, data, used, True, False),
            lambda pool=pool: _parse.name_keys(pool, data),
            lambda pool=pool: _parse.identifier_kinds(pool, data, False),
            lambda pool=pool: _parse.may_mark(pool, data),
            lambda pool=pool: _parse.may_have_marks(pool, data, True),
        ):
            with pytest.raises(ValueError, match="pool"):
                call()
    with pytest.raises(ValueError, match="pool"):
        _parse.distinct(np.array([0, 7], np.int32), 7)
    with pytest.raises(ValueError, match="pool"):
        _parse.numbers(np.array([0, 3], np.int64), data, np.array([1], np.int32), False)


# ---- dates


def days(*when: int) -> float:
    return float((date(*when) - date(1970, 1, 1)).days)


@pytest.mark.parametrize(
    "text",
    [
        "2032-09-29",
        "2032-09-29T00:00:00",
        "2032-09-29 12:30",
        "29-Sep-2032",
        "29 Sep 2032",
        "29-SEP-32",
        "29 September 2032",
        "9/29/2032",
        "09/29/2032",
        "29.09.2032",
        "29.9.2032",
        "Sep 29, 2032",
        "20320929",
        " 29-Sep-2032 ",
        "29th of September 2032",
        "29th day of September, 2032",
        "September the 29th, 2032",
        "Wednesday, 29 September 2032",
        "Wed 29-Sep-2032",
        "2032.09.29",
        "29.09.32",
        "2032-09-29Z",
        "2032-09-29+01:00",
        "2032-09-29T00:00:00.000+02:00",
        "20320929 00:00:00",
        "20320929T000000Z",
        "09/29/2032 12:00:00 AM",
        "29. September 2032",
        "29 sept. 2032",
        "29-Sep-2032(1)",
        "29-Sep-2032\u00b9",
        "09/29/2032*",
    ],
)
def test_dates_in_text(make_cells: Callable[..., Cells], text: str) -> None:
    assert same(number_cells.read_dates(make_cells([text])), [days(2032, 9, 29)])


def test_slashed_dates_are_read_alike_in_the_whole_column(make_cells: Callable[..., Cells]) -> None:
    assert same(number_cells.read_dates(make_cells(["03/04/2030", "05/06/2031"])), [days(2030, 3, 4), days(2031, 5, 6)])
    assert same(
        number_cells.read_dates(make_cells(["03/04/2030", "25/06/2031"])), [days(2030, 4, 3), days(2031, 6, 25)]
    )


def test_slashed_dates_that_cannot_tell_go_by_the_other_texts_of_the_sheet() -> None:
    def first_day(others: list[str]) -> float:
        codes, text = text_cells.pool_of(["03/04/2030", *others])
        kinds, formats = np.array([string_pool.TEXT], np.uint8), np.zeros(1, np.uint16)
        cells = Cells(kinds, np.zeros(1), codes[:1], formats, StringPool(text))
        return float(number_cells.read_dates(cells)[0])

    assert first_day(["25/06/2031"]) == days(2030, 4, 3)
    assert first_day(["06/25/2031"]) == days(2030, 3, 4)
    assert first_day(["25/06/2031", "06/25/2031"]) == days(2030, 3, 4)


@pytest.mark.parametrize(
    "value",
    ["", "N/A", "31/02/2030", "2030-13-01", "soon", "0", "01-Jan-1900", 0, 1, 59.0, -5, 3e6, "#N/A", True, None],
)
def test_what_is_no_date_is_blank(make_cells: Callable[..., Cells], value: Any) -> None:
    assert same(number_cells.read_dates(make_cells([value, date(2030, 1, 31)])), [NAN, days(2030, 1, 31)])


@given(st.dates(date(1904, 1, 2), date(2199, 12, 31)), st.booleans())
def test_serials_of_both_systems(day: date, is_1904: bool) -> None:
    from core.values import to_serial

    kinds = np.array([5, 1], np.uint8)
    serial = to_serial(day, date_1904=is_1904)
    _, text = text_cells.pool_of(["x"])
    cells = Cells(
        kinds,
        np.array([serial, serial + 0.75]),
        np.full(2, -1, np.int32),
        np.zeros(2, np.uint16),
        StringPool(text, date_1904=is_1904),
    )
    assert same(number_cells.read_dates(cells), [days(day.year, day.month, day.day)] * 2)


def test_names_of_reference_rates_are_no_levels(make_cells: Callable[..., Cells]) -> None:
    names = ["US0003M", "EUR003M", "EUR 3M", "3M", "EUR003M Index"]
    assert same(number_cells.rate_levels(number_cells.read_numbers(make_cells(names))).values, [np.nan] * len(names))
    levels = number_cells.read_numbers(make_cells([4.3, 0.043, "4.30%", "430 bps", -0.5, None]))
    assert number_cells.rate_levels(levels) is levels
