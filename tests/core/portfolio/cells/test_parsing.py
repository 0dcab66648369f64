"""Cells to values: numbers as the market writes them, units by column, dates, flags, words."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.portfolio.cells import parsing
from core.portfolio.cells._parse import BASIS_POINTS, PERCENT
from core.portfolio.model.fields import INDUSTRIES, Lien

NAN = math.nan


def same(values: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(np.asarray(values, float), np.array(expected, float), equal_nan=True))


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
def test_numbers_in_text(make_cells: Callable[..., parsing.Cells], text: str, number: float) -> None:
    read = parsing.read_numbers(make_cells([text]))
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
    make_cells: Callable[..., parsing.Cells], texts: list[str], expected: list[float]
) -> None:
    read = parsing.read_numbers(make_cells(texts))
    assert read.values == pytest.approx(expected, rel=1e-15)
    assert read.unreadable == 0


def test_numbers_keep_the_other_reading_of_an_open_sign(make_cells: Callable[..., parsing.Cells]) -> None:
    swapped = parsing.read_numbers(make_cells(["98,375", 99.5, None, "97"])).swapped
    assert swapped is not None
    assert swapped == pytest.approx([98.375, 99.5, NAN, 97.0], nan_ok=True)
    assert parsing.read_numbers(make_cells(["98,375", "98,5"])).swapped is None
    assert parsing.read_numbers(make_cells(["98,375", "98.5"])).swapped is None
    assert parsing.read_numbers(make_cells([98_375.0])).swapped is None


def test_the_sheet_tells_the_decimal_sign_of_a_column_that_does_not() -> None:
    def first(texts: list[str]) -> float:
        codes, text = parsing.pool_of(texts)
        return float(parsing.text_numbers(codes[:1], parsing.StringPool(text)).values[0])

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
    make_cells: Callable[..., parsing.Cells], texts: list[str], expected: list[float]
) -> None:
    read = parsing.read_numbers(make_cells(texts))
    assert same(read.values, expected)
    assert read.unreadable == int(np.isnan(expected).sum())


@pytest.mark.parametrize(
    "text", ["N/A", "NA", "n.a.", "n.m.", "N/M", "-", "--", "***", "TBD", "NM", " ", "", " n/a ", "#N/A N/A"]
)
def test_null_words_are_blank_and_not_unreadable(make_cells: Callable[..., parsing.Cells], text: str) -> None:
    read = parsing.read_numbers(make_cells([text, 1.0]))
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
def test_other_text_is_blank_and_counted(make_cells: Callable[..., parsing.Cells], text: str) -> None:
    read = parsing.read_numbers(make_cells([text, text, 1.0]))
    assert same(read.values, [NAN, NAN, 1.0])
    assert read.unreadable == 2


def test_kinds_that_are_no_number_are_blank(make_cells: Callable[..., parsing.Cells]) -> None:
    cells = make_cells([1.5, None, "#N/A", True, "2", date(2026, 3, 31)])
    assert same(parsing.read_numbers(cells).values, [1.5, NAN, NAN, NAN, 2.0, 46112.0])
    assert cells.error_count() == 1


@given(st.lists(st.floats(-1e12, 1e12).map(lambda x: round(x, 4)), min_size=1, max_size=20))
def test_a_number_survives_every_way_of_writing_it(numbers: list[float]) -> None:
    for number in numbers:
        plain = f"{abs(number):,.4f}"
        european = plain.replace(",", "_").replace(".", ",").replace("_", ".")
        ways = [f"{number:,.4f}", f"({plain})" if number < 0 else plain, f"{plain}-" if number < 0 else plain]
        ways.append(f"-{european}" if number < 0 else european)
        codes, text = parsing.pool_of(ways)
        values, _ = parsing._parse.numbers(text.offsets, text.data, np.arange(len(text), dtype=np.int32), False)
        assert all(values[code] == pytest.approx(number, abs=1e-9) for code in codes)


@given(st.lists(st.binary(max_size=80), max_size=30))
def test_no_bytes_break_the_kernels(strings: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    data = np.frombuffer(b"".join(strings), np.uint8)
    used = np.arange(len(strings), dtype=np.int32)
    for is_spread in (False, True):
        values, marks = parsing._parse.numbers(offsets, data, used, is_spread)
        assert len(values) == len(marks) == len(strings)
        assert not np.isinf(values).any()
    assert len(parsing._parse.name_keys(offsets, data)[0]) == len(strings)
    assert len(parsing._parse.identifier_kinds(offsets, data, True)) == len(strings)
    for upper in (False, True):
        codes, own, _ = parsing._parse.clean(offsets, data, used, upper, False)
        assert codes.max(initial=-1) < len(own) - 1
    assert parsing._parse.may_mark(offsets, data).max(initial=-1) < len(strings)
    assert parsing._parse.may_have_marks(offsets, data, True).max(initial=-1) < len(strings)


def test_kernels_refuse_a_pool_that_lies() -> None:
    data = np.zeros(3, np.uint8)
    for offsets in ([0, 4], [-1, 2], [0, 3, 2]):
        pool = np.array(offsets, np.int64)
        used = np.arange(len(offsets) - 1, dtype=np.int32)
        for call in (
            lambda pool=pool, used=used: parsing._parse.numbers(pool, data, used, False),
            lambda pool=pool, used=used: parsing._parse.clean(pool, data, used, True, False),
            lambda pool=pool: parsing._parse.name_keys(pool, data),
            lambda pool=pool: parsing._parse.identifier_kinds(pool, data, False),
            lambda pool=pool: parsing._parse.may_mark(pool, data),
            lambda pool=pool: parsing._parse.may_have_marks(pool, data, True),
        ):
            with pytest.raises(ValueError, match="pool"):
                call()
    with pytest.raises(ValueError, match="pool"):
        parsing._parse.distinct(np.array([0, 7], np.int32), 7)
    with pytest.raises(ValueError, match="pool"):
        parsing._parse.numbers(np.array([0, 3], np.int64), data, np.array([1], np.int32), False)


@pytest.mark.parametrize(
    ("values", "unit", "bps"),
    [
        ([0.0375, 0.0425, 0.0], "", [375, 425, 0]),
        ([3.75, 4.25], "", [375, 425]),
        ([375, 425.5], "", [375, 425.5]),
        ([375, 3], "", [375, 3]),
        ([12.5, 20.0], "bps", [12.5, 20]),
        ([3.75, 30], "%", [375, 3000]),
        (["L+350", "S + 3.50%", "SOFR+350bps", "E+375", "3M SOFR + 400"], "", [350, 350, 350, 375, 400]),
        (["3.50%", "4.25%"], "", [350, 425]),
        (["0.0375", 0.0425], "", [375, 425]),
        (["350 bps", 0.035], "", [350, 350]),
        ([None, "N/A"], "", [NAN, NAN]),
    ],
)
def test_spread_units_are_told_by_column(
    make_cells: Callable[..., parsing.Cells], values: list[Any], unit: str, bps: list[float]
) -> None:
    numbers = parsing.read_numbers(make_cells(values), is_spread=True)
    assert np.allclose(parsing.spread_bps(numbers, unit), bps, rtol=0, atol=1e-9, equal_nan=True)


def test_a_percent_format_shows_percent(make_cells: Callable[..., parsing.Cells], shown: Callable[..., Any]) -> None:
    cells = make_cells([shown(0.035, "0.00%"), 4.0, shown(5.0, '0.0"%"'), "3.5%", "7bps"])
    read = parsing.read_numbers(cells)
    assert same(read.values, [3.5, 4.0, 5.0, 3.5, 7.0])
    assert read.marks is not None
    assert read.marks.tolist() == [PERCENT, 0, 0, PERCENT, BASIS_POINTS]
    assert same(
        parsing.spread_bps(parsing.read_numbers(make_cells([shown(0.035, "0%"), shown(0.04, "0%")]))), [350, 400]
    )


@pytest.mark.parametrize(
    ("values", "percent"),
    [
        ([0.99, 1.0, 1.005], [99, 100, 100.5]),
        ([99.5, 1.5, 100], [99.5, 1.5, 100]),
        ([0.57, 0.8, 0.9], [57, 80, 90]),
        (["99.5%", 98], [99.5, 98]),
    ],
)
def test_price_conventions(make_cells: Callable[..., parsing.Cells], values: list[Any], percent: list[float]) -> None:
    numbers = parsing.read_numbers(make_cells(values))
    assert same(parsing.scale_values(numbers, parsing.price_scale(numbers)), percent)


def test_rates_by_their_median_without_zeros(make_cells: Callable[..., parsing.Cells]) -> None:
    def rates(values: list[Any], limit: float = 0.25) -> Any:
        return parsing.rate_percent(parsing.read_numbers(make_cells(values)), limit)

    assert np.allclose(rates([0.0, 0.0, 0.0, 0.085, 0.09]), [0, 0, 0, 8.5, 9])
    assert same(rates([0.0, 0.0, 8.5, 9.0]), [0, 0, 8.5, 9])
    assert same(rates([0.5, 0.45, 0.6], 1.0), [50, 45, 60])
    assert same(rates([50, 45.0, 0.6], 1.0), [50, 45, 0.6])
    # An even count: the median of 0.2 and 0.4 is 0.3.
    assert same(rates([0.2, 0.4]), [0.2, 0.4])
    assert same(rates([0.1, 0.3]), [10, 30])


def test_floors_are_fractions_only_when_all_are_small(
    make_cells: Callable[..., parsing.Cells], shown: Callable[..., Any]
) -> None:
    def floors(values: list[Any]) -> Any:
        return parsing.small_rate_percent(parsing.read_numbers(make_cells(values)))

    assert np.allclose(floors([0.01, 0.0075, 0.0]), [1, 0.75, 0])
    assert same(floors([0.5, 0.01, 0.0]), [0.5, 0.01, 0])
    assert same(floors([0.0, 0.0]), [0, 0])
    assert same(floors([shown(0.005, "0.00%"), shown(0.01, "0.00%")]), [0.5, 1])


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
def test_dates_in_text(make_cells: Callable[..., parsing.Cells], text: str) -> None:
    assert same(parsing.read_dates(make_cells([text])), [days(2032, 9, 29)])


def test_slashed_dates_are_read_alike_in_the_whole_column(make_cells: Callable[..., parsing.Cells]) -> None:
    assert same(parsing.read_dates(make_cells(["03/04/2030", "05/06/2031"])), [days(2030, 3, 4), days(2031, 5, 6)])
    assert same(parsing.read_dates(make_cells(["03/04/2030", "25/06/2031"])), [days(2030, 4, 3), days(2031, 6, 25)])


def test_slashed_dates_that_cannot_tell_go_by_the_other_texts_of_the_sheet() -> None:
    def first_day(others: list[str]) -> float:
        codes, text = parsing.pool_of(["03/04/2030", *others])
        kinds, formats = np.array([parsing.TEXT], np.uint8), np.zeros(1, np.uint16)
        cells = parsing.Cells(kinds, np.zeros(1), codes[:1], formats, parsing.StringPool(text))
        return float(parsing.read_dates(cells)[0])

    assert first_day(["25/06/2031"]) == days(2030, 4, 3)
    assert first_day(["06/25/2031"]) == days(2030, 3, 4)
    assert first_day(["25/06/2031", "06/25/2031"]) == days(2030, 3, 4)


@pytest.mark.parametrize(
    "value",
    ["", "N/A", "31/02/2030", "2030-13-01", "soon", "0", "01-Jan-1900", 0, 1, 59.0, -5, 3e6, "#N/A", True, None],
)
def test_what_is_no_date_is_blank(make_cells: Callable[..., parsing.Cells], value: Any) -> None:
    assert same(parsing.read_dates(make_cells([value, date(2030, 1, 31)])), [NAN, days(2030, 1, 31)])


@given(st.dates(date(1904, 1, 2), date(2199, 12, 31)), st.booleans())
def test_serials_of_both_systems(day: date, is_1904: bool) -> None:
    from core.values import to_serial

    kinds = np.array([5, 1], np.uint8)
    serial = to_serial(day, date_1904=is_1904)
    _, text = parsing.pool_of(["x"])
    cells = parsing.Cells(
        kinds,
        np.array([serial, serial + 0.75]),
        np.full(2, -1, np.int32),
        np.zeros(2, np.uint16),
        parsing.StringPool(text, date_1904=is_1904),
    )
    assert same(parsing.read_dates(cells), [days(day.year, day.month, day.day)] * 2)


# ---- words


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("US-DE", "US"), ("United States (Delaware)", "US"), ("Delaware, USA", "US"), ("US - United States", "US"),
        ("DE, USA", "US"), ("US (GA)", "US"), ("Georgia, USA", "US"), ("New York", "US"), ("CA-ON", "CA"),
        ("Ontario, Canada", "CA"), ("England and Wales", "GB"), ("DE - Germany", "DE"), ("Korea, Republic of", "KR"),
        ("CA", "CA"), ("Georgia", "Georgia"), ("Luxembourg / US", "Luxembourg / US"),
        ("San Diego, CA", "San Diego, CA"),
        ("Term Loan B (US)", "Term Loan B (US)"), ("Bidco, UK", "Bidco, UK"), ("The", "The"), ("-", "-"),
    ],
)  # fmt: skip
def test_countries_beside_their_states(text: str, country: str) -> None:
    assert parsing.country(text) == country


@pytest.mark.parametrize(
    ("text", "lien"),
    [
        ("First Lien", Lien.FIRST_LIEN),
        ("1L", Lien.FIRST_LIEN),
        ("1st Lien Term Loan", Lien.FIRST_LIEN),
        ("Senior Secured", Lien.FIRST_LIEN),
        ("Senior Secured Loan", Lien.FIRST_LIEN),
        ("LOAN", Lien.FIRST_LIEN),
        ("Moody’s Senior Secured loan", Lien.FIRST_LIEN),
        ("Moody's Senior Secured Loan", Lien.FIRST_LIEN),
        ("Second Lien", Lien.SECOND_LIEN),
        ("2L", Lien.SECOND_LIEN),
        ("2nd lien", Lien.SECOND_LIEN),
        ("Senior Unsecured Loan/Second Lien Loan", Lien.SECOND_LIEN),
        ("Moody's Non-Senior Secured Loan", Lien.SECOND_LIEN),
        ("Senior Unsecured", Lien.UNSECURED),
        ("Unsecured Loan", Lien.UNSECURED),
        ("Mezzanine", Lien.UNSECURED),
        ("Subordinated", Lien.UNSECURED),
        ("Senior Secured Bond", Lien.BOND),
        ("Senior Unsecured Notes", Lien.UNSECURED),
        ("Equity", Lien.OTHER),
        ("Sr Unsec", Lien.UNSECURED),
        ("Sen. Unsec.", Lien.UNSECURED),
        ("Sr. Unsecd", Lien.UNSECURED),
        ("Senior Uns", Lien.UNSECURED),
        ("Non-Secured", Lien.UNSECURED),
        ("Snr Sub", Lien.UNSECURED),
        ("SUN", Lien.UNSECURED),
        ("Sun Country Term Loan", Lien.FIRST_LIEN),
        ("Carl's Jr. Term Loan", Lien.FIRST_LIEN),
        ("Snr Sec", Lien.FIRST_LIEN),
        ("FLLO", Lien.FIRST_LIEN),
        ("SSN", Lien.BOND),
        ("Jr Lien", Lien.SECOND_LIEN),
        ("Erstrangig besichert", Lien.FIRST_LIEN),
        ("1. Rang", Lien.FIRST_LIEN),
        ("1er rang", Lien.FIRST_LIEN),
        ("Senior garantie", Lien.FIRST_LIEN),
        ("Primer gravamen", Lien.FIRST_LIEN),
        ("Primera", Lien.FIRST_LIEN),
        ("Eerste pandrecht", Lien.FIRST_LIEN),
        ("Zweitrangig besichert", Lien.SECOND_LIEN),
        ("2ème rang", Lien.SECOND_LIEN),
        ("Segundo rango", Lien.SECOND_LIEN),
        ("Tweede pandrecht", Lien.SECOND_LIEN),
        ("Nachrangig", Lien.UNSECURED),
        ("Mezzanin", Lien.UNSECURED),
        ("Unbesichert", Lien.UNSECURED),
        ("Dette senior non garantie", Lien.UNSECURED),
        ("Subordonnée", Lien.UNSECURED),
        ("No garantizado", Lien.UNSECURED),
    ],
)
def test_lien_words(text: str, lien: Lien) -> None:
    assert parsing.lien(text) is lien


@pytest.mark.parametrize("text", ["USA", "US", "U.S.", "U.S.A.", "United States", "United States of America", "usa "])
def test_the_united_states_by_every_name(text: str) -> None:
    assert parsing.country(text) == "US"


def test_other_countries() -> None:
    assert [parsing.country(text) for text in ("UK", "Cayman Islands", "The Netherlands", "Atlantis")] == [
        "GB",
        "KY",
        "NL",
        "Atlantis",
    ]


def test_industries_by_any_spelling() -> None:
    assert parsing.industries(INDUSTRIES) == list(INDUSTRIES)
    assert (
        parsing.industries(
            ["Beverage, Food, & Tobacco", "beverage food and tobacco", "CORP - Beverage, Food & Tobacco"]
        )
        == ["Beverage, Food & Tobacco"] * 3
    )
    assert parsing.industries(["CORP - High Tech Industries"]) == ["High Tech Industries"]
    coded = ["31 - Transportation: Cargo", "Transportation: Cargo", "Automotive (2)", "99 - Space Mining"]
    assert parsing.industries(coded) == [*["Transportation: Cargo"] * 2, "Automotive", "99 - Space Mining"]
    # Unknown ones are one when they are alike, whichever spelling comes first.
    assert parsing.industries(["Space-Mining", "Space Mining"]) == parsing.industries(["Space Mining", "Space-Mining"])
    assert len(INDUSTRIES) == 32


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("SOFR", "SOFR"),
        ("TSFR3M", "SOFR-3M"),
        ("3M SOFR", "SOFR-3M"),
        ("Term SOFR 3M", "SOFR-3M"),
        ("3 Month Term SOFR", "SOFR-3M"),
        ("3M Libor", "LIBOR-3M"),
        ("US0003M", "LIBOR-3M"),
        ("EUR003M", "EURIBOR-3M"),
        ("EURIBOR 6M", "EURIBOR-6M"),
        ("Prime", "PRIME"),
        ("Fixed", "FIXED"),
        ("SONIA", "SONIA"),
        ("12M EURIBOR", "EURIBOR-12M"),
        ("1 Year LIBOR", "LIBOR-12M"),
        ("USD LIBOR 3M", "LIBOR-3M"),
        ("GBP LIBOR 3M", "GBP LIBOR-3M"),
        ("JPY-LIBOR", "JPY LIBOR"),
        ("GBP SONIA", "SONIA"),
        ("xyz  9", "XYZ 9"),
    ],
)
def test_reference_rates(text: str, index: str) -> None:
    assert parsing.base_rate(text) == index


def test_names_of_reference_rates_are_no_levels(make_cells: Callable[..., parsing.Cells]) -> None:
    names = ["US0003M", "EUR003M", "EUR 3M", "3M", "EUR003M Index"]
    assert same(parsing.rate_levels(parsing.read_numbers(make_cells(names))).values, [np.nan] * len(names))
    levels = parsing.read_numbers(make_cells([4.3, 0.043, "4.30%", "430 bps", -0.5, None]))
    assert parsing.rate_levels(levels) is levels


def test_text_is_trimmed_and_numbers_are_written_out(make_cells: Callable[..., parsing.Cells]) -> None:
    column = parsing.read_text(make_cells([" A ", "A", "A\u00a0", "b", 12.0, "12", 1.5, None, "N/A", "#N/A", "  "]))
    strings = column.text.strings()
    assert [strings[code] if code >= 0 else None for code in column.codes.tolist()] == [
        "A",
        "A",
        "A",
        "b",
        "12",
        "12",
        "1.5",
        None,
        None,
        None,
        None,
    ]
    assert len(set(strings)) == len(strings)


@pytest.mark.parametrize(
    ("target", "values", "unit", "expected"),
    [
        ("spread", [3.5], "bps", ("bps", "header", 1.0)),
        ("spread", [0.035], "%", ("fraction", "median", 10_000.0)),
        ("spread", [3.5], "", ("percent", "median", 100.0)),
        ("spread", ["3.5%"], "", ("bps", "cells", 1.0)),
        ("spread", [None, 0.0], "", ("bps", "nothing", 1.0)),
        ("price", [0.99], "", ("fraction", "median", 100.0)),
        ("price", [990.0], "", ("currency", "median", 1.0)),
        ("price", [None, None], "", ("percent", "nothing", 1.0)),
        ("recovery_rate", [0.5], "", ("fraction", "median", 100.0)),
        ("all_in_rate", [850.0], "bps", ("bps", "header", 0.01)),
        ("floor", [0.5], "", ("percent", "largest", 1.0)),
        ("par_value", [5.0], "", ("as written", "nothing", 1.0)),
    ],
)
def test_a_unit_is_told_with_what_told_it(
    make_cells: Callable[..., parsing.Cells],
    target: str,
    values: list[Any],
    unit: str,
    expected: tuple[str, str, float],
) -> None:
    numbers = parsing.read_numbers(make_cells(values))
    scale = parsing.scale(target, numbers, unit, has_par=True)
    assert (scale.unit, scale.because, scale.factor) == expected


@pytest.mark.parametrize(
    ("cells", "scale", "par"),
    [
        ([1e308, 3.5], parsing.Scale("percent", "header", 100.0), None),
        ([1e300, "5%"], parsing.Scale("percent", "cells", 1.0), None),
        ([1e308, 5], parsing.Scale("millions", "header", 1_000_000.0), None),
        ([1e308, 990], parsing.Scale("currency", "median", 1.0), np.array([1e-9, 1_000.0])),
    ],
)
def test_what_leaves_the_range_of_a_number_in_its_unit_is_blank(
    make_cells: Callable[..., parsing.Cells], cells: list[Any], scale: parsing.Scale, par: NDArray[np.float64] | None
) -> None:
    values = parsing.scale_values(parsing.read_numbers(make_cells(cells)), scale, par)
    assert np.isnan(values[0])
    assert values[1] in (350.0, 5.0, 5_000_000.0, 99.0)


def test_amounts_in_thousands_are_told_by_the_header(make_cells: Callable[..., parsing.Cells]) -> None:
    numbers = parsing.read_numbers(make_cells([1.5, 2.0]))
    par = parsing.scale("par_value", numbers, magnitude=1_000.0)
    assert (par.unit, parsing.scale_values(numbers, par).tolist()) == ("thousands", [1_500.0, 2_000.0])
    # The figure that the other side wrote in full, to its last bit.
    exact = parsing.read_numbers(make_cells([320.25753429]))
    assert exact.values[0] * 1_000 != 320257.53429
    assert parsing.scale_values(exact, par).tolist() == [320257.53429]
    value = parsing.scale("price", numbers, magnitude=1_000.0, has_par=True)
    assert (value.unit, value.because) == ("currency", "header")
    assert parsing.scale_values(numbers, value, np.array([1_500.0, 2_500.0])).tolist() == [100.0, 80.0]
    # Without a par it can only be a price.
    assert parsing.scale("price", numbers, magnitude=1_000.0).unit == "fraction"


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        ("Fixed", 1), ("FXD", 1), ("Fix", 1), ("Fixed Rate", 1), ("FX", 1), ("Floating", 0), ("FLT", 0), ("FL", 0),
        ("Float", 0), ("FRN", 0), ("Variable", 0), ("Adjustable", 0), ("Fix-to-Float", 0), ("", -1), ("Term Loan", -1),
    ],
)  # fmt: skip
def test_a_coupon_is_fixed_or_floats_by_its_word(text: str, is_fixed: int) -> None:
    assert parsing.coupon_is_fixed(text) == is_fixed
