"""Dates and numbers as text in the locales of the table.

What Excel reads and writes under these regional settings.
"""

from __future__ import annotations

from datetime import datetime
from threading import Thread
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.evaluate import evaluate, evaluate_batch
from core.formula.values.locales import DEFAULT, LOCALES, UnknownLocale, current, locale_of
from core.formula.values.value import Locally
from core.recalc.book import Book
from service.workbooks.schema import LocaleTag
from tests.rows import every

# 2024-02-01 is 45323, 2024-01-01 is 45292, 2024-01-31 is 45322, 2024-12-31 is 45657, 2023-03-15 (a Wednesday) is 45000.
READ = [
    ("en-US", "1/2/2024", 45_293), ("en-US", "31/1/2024", "#VALUE!"), ("en-US", "31.1.2024", "#VALUE!"),
    ("en-GB", "1/2/2024", 45_323), ("en-GB", "31/1/2024", 45_322), ("en-GB", "1/31/2024", "#VALUE!"),
    ("en-GB", "£1,234.50", 1234.5), ("en-GB", "31 Jan 2024", 45_322), ("en-GB", "2024-01-31", 45_322),
    ("en-AU", "1-2-2024", 45_323), ("en-IE", "31/12/2024", 45_657),
    ("de-DE", "1.2.2024", 45_323), ("de-DE", "31.12.24", 45_657), ("de-DE", "1/2/2024", 45_323),
    ("de-DE", "2.2024", 45_323), ("de-DE", "2024-02-01", 45_323), ("de-DE", "1. Februar 2024", 45_323),
    ("de-DE", "31. Dez 2024", 45_657), ("de-DE", "31.Dezember.2024", 45_657), ("de-DE", "Februar 2024", 45_323),
    ("de-DE", "15. Mrz 2023", 45_000), ("de-DE", "15. March 2023", "#VALUE!"), ("de-DE", "31.12.2024 12:00", 45_657.5),
    ("de-DE", "1.234", 1234), ("de-DE", "1.234,5", 1234.5), ("de-DE", "1234,5", 1234.5), ("de-DE", ",5", 0.5),
    ("de-DE", "-1.234,50 €", -1234.5), ("de-DE", "12,5%", 0.125), ("de-DE", "1,5E2", 150), ("de-DE", "(3,5)", -3.5),
    ("de-DE", "1,234.5", "#VALUE!"), ("de-DE", "1.23.456", "#VALUE!"), ("de-DE", "32.1.2024", "#VALUE!"),
    ("de-DE", "12:30:15,5", 45_015.5 / 86_400), ("de-DE", "1 1/2", 1.5),
    ("de-CH", "1.5", 1.5), ("de-CH", "1’234.5", 1234.5), ("de-CH", "1'234.5", 1234.5), ("de-CH", "31.12.2024", 45_657),
    ("fr-FR", "1\u202f234,5", 1234.5), ("fr-FR", "1\u00a0234,5", 1234.5), ("fr-FR", "1 234,5", 1234.5),
    ("fr-FR", "31/12/2024", 45_657), ("fr-FR", "1 févr. 2024", 45_323), ("fr-FR", "1 février 2024", 45_323),
    ("fr-FR", "1 jui 2024", "#VALUE!"), ("fr-FR", "1.234,5", "#VALUE!"),
    ("es-ES", "1 ene 2024", 45_292), ("es-ES", "31/12/2024", 45_657), ("es-ES", "1.234,5", 1234.5),
    ("it-IT", "15 marzo 2023", 45_000), ("it-IT", "15/3/2023", 45_000), ("it-IT", "1.234,5", 1234.5),
    ("nl-NL", "15 mrt 2023", 45_000), ("nl-NL", "15-3-2023", 45_000), ("nl-NL", "€ 1.234,50", 1234.5),
    ("pt-BR", "15 março 2023", 45_000), ("pt-BR", "R$ 1.234,50", 1234.5), ("pt-BR", "31/12/2024", 45_657),
    ("nb-NO", "31.12.2024", 45_657), ("nb-NO", "kr 1\u00a0234,5", 1234.5),
    ("ja-JP", "2024/1/31", 45_322), ("ja-JP", "24/1/31", 45_322), ("ja-JP", "2024年1月31日", 45_322),
    ("ja-JP", "2024年2月", 45_323), ("ja-JP", "31/1/2024", "#VALUE!"), ("ja-JP", "¥1,234", 1234),
    ("zh-CN", "2024年1月31日", 45_322), ("zh-CN", "1月31日", 45_322), ("zh-CN", "1月32日", "#VALUE!"),
    ("de-DE", "31. Dez", 45_657), ("en-GB", "5/7", 45_478), ("fr-FR", "1 févr.", 45_323), ("ja-JP", "7/5", 45_478),
]  # fmt: skip
"""Locale, text, and what arithmetic makes of it."""

FORMULAS = [
    ("de-DE", '=1.5&""', "1,5"), ("de-DE", "=1.5&2", "1,52"), ("de-DE", "=LEFT(12.75,4)", "12,7"),
    ("de-DE", '=TEXTJOIN(";",TRUE,1.5,2)', "1,5;2"), ("de-DE", "=TRUE&1.5", "TRUE1,5"),
    ("de-DE", '=VALUE("1.234,5")', 1234.5), ("de-DE", '=DATEVALUE("1.2.2024")=DATE(2024,2,1)', True),
    ("de-DE", '=NUMBERVALUE("2.500,27")', 2500.27), ("de-DE", '=NUMBERVALUE("2,500.27",".",",")', 2500.27),
    ("en-US", '=NUMBERVALUE("2.500,27")', "#VALUE!"), ("fr-FR", '=NUMBERVALUE("2 500,27")', 2500.27),
    ("de-DE", '=YEAR("31.12.2024")', 2024), ("de-DE", '=EDATE("31.1.2024",1)-DATE(2024,2,29)', 0),
    ("de-DE", '=SUM("1,5",2)', 3.5), ("de-DE", '=ROUND("2,345",2)', 2.35), ("de-DE", '=ISEVEN("2,9")', True),
    ("de-DE", '=COUNTIF(A1:A4,">1.234,5")', 2), ("de-DE", '=COUNTIF(A1:A4,"2.000,5")', 2),
    ("de-DE", '=COUNTIF(A1:A4,"31.12.2024")', 0), ("de-DE", '=SUMIF(A1:A4,"2.000,5",B1:B4)', 11),
    ("de-DE", "=COMPLEX(3.5,1)", "3,5+i"), ("de-DE", '=IMREAL("3,5+i")', 3.5), ("de-DE", '=IMREAL("3.5+i")', "#NUM!"),
    ("de-DE", "=FIXED(1234.567,1)", "1.234,6"), ("de-DE", "=FIXED(-0.001,2)", "0,00"),
    ("en-US", "=DOLLAR(-1234.5)", "($1,234.50)"), ("en-GB", "=DOLLAR(-1234.5)", "-£1,234.50"),
    ("de-DE", "=DOLLAR(-1234.5)", "-1.234,50 €"), ("nl-NL", "=DOLLAR(-1234.5)", "€ -1.234,50"),
    ("ja-JP", "=DOLLAR(1234.5,0)", "¥1,235"),
    ("de-DE", '=TEXT(1234567.891,"#.##0,00 €")', "1.234.567,89 €"), ("de-DE", '=TEXT(1234.5,"0,00")', "1234,50"),
    ("de-DE", '=TEXT(1234.5,"0.00")', "1.235"), ("de-DE", '=TEXT(0.125,"0,0%")', "12,5%"),
    ("de-DE", '=TEXT(1234567,"0,0..")', "1,2"), ("de-DE", '=TEXT(12345,"0,00E+00")', "1,23E+04"),
    ("de-DE", '=TEXT(0.5,"Standard")', "0,5"), ("de-DE", '=TEXT("1,5","0,0")', "1,5"),
    ("de-DE", '=TEXT(45000.5,"TT.MM.JJJJ hh:mm:ss,00")', "15.03.2023 12:00:00,00"),
    ("de-DE", '=TEXT(45000,"TTTT, T. MMMM JJJJ")', "Mittwoch, 15. März 2023"),
    ("de-DE", '=TEXT(45000,"TTT MMM JJ")', "Mi Mrz 23"), ("de-DE", '=TEXT(45000,"yyyy-mm-dd")', "2023-03-15"),
    ("de-DE", '=TEXT(1.5,"[hh]:mm")', "36:00"), ("de-DE", '=TEXT(45000,"[$-409]mmmm")', "March"),
    ("en-US", '=TEXT(45000,"[$-407]dddd, d. mmmm")', "Mittwoch, 15. März"),
    ("en-US", '=TEXT(45000,"[$-fr-FR]mmmm")', "mars"), ("en-US", '=TEXT(45000,"mmm")', "Mar"),
    ("fr-FR", '=TEXT(1234567.5,"# ##0,00")', "1\u202f234\u202f567,50"),
    ("fr-FR", '=TEXT(45000,"jjj jj mmm aaaa")', "mer. 15 mars 2023"),
    ("es-ES", '=TEXT(45000,"dddd d mmmm aaaa")', "miércoles 15 marzo 2023"),
    ("it-IT", '=TEXT(45000,"gg/mm/aaaa")', "15/03/2023"), ("nl-NL", '=TEXT(1.5,"[uu]:mm")', "36:00"),
    ("nl-NL", '=TEXT(45000.75,"dd-mm-jjjj uu:mm")', "15-03-2023 18:00"),
    ("nb-NO", '=TEXT(45000.75,"dd.mm.åååå tt:mm")', "15.03.2023 18:00"),
    ("ja-JP", '=TEXT(45000,"aaaa aaa ddd mmm")', "水曜日 水 Wed Mar"), ("zh-CN", '=TEXT(45000,"aaaa")', "星期三"),
    ("de-DE", '=TEXT(45000,"[$-F800]")', "Mittwoch, 15. März 2023"),
    ("en-US", '=TEXT(45000,"[$-F800]")', "Wednesday, March 15, 2023"),
]  # fmt: skip
CONTEXT = {"A1": "1.234,5", "A2": 2000, "A3": "2.000,5", "A4": 2000.5, "B1": 3, "B2": 4, "B3": 5, "B4": 6}


@every("tag, text, value", READ)
def test_arithmetic_reads_texts_as_the_locale_writes_them(tag: str, text: str, value: Any) -> None:
    actual_value = evaluate("=A1+0", {"A1": text}, locale=tag, clock=lambda: datetime(2024, 5, 6)).value  # noqa: DTZ001
    assert actual_value == (value if isinstance(value, str) else pytest.approx(value, rel=1e-14))


@every("tag, formula, value", FORMULAS)
def test_functions_follow_the_locale(tag: str, formula: str, value: Any) -> None:
    assert evaluate(formula, CONTEXT, locale=tag).value == value


@every(
    "tag, text", [("de-DE", "1.2"), ("en-GB", "1/2"), ("ja-JP", "2/1"), ("ja-JP", "2月1日"), ("de-DE", "1. Februar")]
)
def test_a_day_without_a_year_is_of_the_year_of_the_clock(tag: str, text: str) -> None:
    result = evaluate("=VALUE(A1)", {"A1": text}, locale=tag, clock=lambda: datetime(2024, 6, 1))  # noqa: DTZ001
    assert result.value == 45_323


@given(st.sampled_from(sorted(LOCALES)), st.integers(-(10**13), 10**13), st.integers(61, 2_958_465))
def test_what_is_written_reads_back(tag: str, number: int, serial: int) -> None:
    value = number / 100
    assert evaluate('=(A1&"")+0', {"A1": value}, locale=tag).value == value
    assert evaluate("=VALUE(FIXED(A1,2))", {"A1": value}, locale=tag).value == pytest.approx(value, abs=0.01)
    assert evaluate('=VALUE(TEXT(A1,"d mmmm yyyy"))', {"A1": serial}, locale=tag).value == serial
    if LOCALES[tag].order == "dmy":
        assert evaluate('=VALUE(TEXT(A1,"dd/mm/yyyy"))', {"A1": serial}, locale=tag).value == serial


@given(
    st.sampled_from(sorted(LOCALES)), st.text(alphabet="0123456789.,’'/-: \u00a0\u202f€%()Ejanmrzé年月日", max_size=30)
)
def test_any_text_is_read_or_not(tag: str, text: str) -> None:
    assert evaluate("=A1+0", {"A1": text}, locale=tag).type in ("number", "error")


def test_every_locale_has_all_its_names() -> None:
    for tag, row in LOCALES.items():
        assert (len(row.months), len(row.months_short), len(row.days), len(row.days_short)) == (12, 12, 7, 7), tag
        assert len({*row.months}) == 12
        assert row.decimal != row.group
        assert locale_of(tag.lower().replace("-", "_")) is row
    assert get_args(LocaleTag) == tuple(LOCALES)


@every("tag", ["de", "xx-XX", "", "de-DE-1996", "x" * 1_000])
def test_an_unknown_locale_is_refused_with_those_that_there_are(tag: str) -> None:
    with pytest.raises(UnknownLocale, match=r"there are en-US, en-GB, .*zh-CN") as caught:
        evaluate_batch(["=1"], locale=tag)
    assert len(str(caught.value)) < 300


def test_a_locale_is_that_of_one_calculation_in_one_thread() -> None:
    seen: list[str] = []
    with Locally(locale_of("de-DE")):
        with Locally(None):
            assert current() is DEFAULT
        other_thread = Thread(target=lambda: seen.append(current().tag))
        other_thread.start()
        other_thread.join()
        assert current().tag == "de-DE"
    with pytest.raises(Exception, match="no value was given"):
        evaluate("=A1", locale="de-DE")
    assert (seen, current()) == (["en-US"], DEFAULT)


def test_a_batch_has_one_locale() -> None:
    texts = ['="1,5"+0', *(f'=A{row}+"0,5"' for row in range(1, 20))]
    context = {f"A{row}": row for row in range(1, 20)}
    result = evaluate_batch(texts, context, locale="de-DE")
    assert [getattr(item, "value", item) for item in result] == [1.5, *(row + 0.5 for row in range(1, 20))]
    assert {getattr(item, "value", item) for item in evaluate_batch(texts[1:], context)} == {"#VALUE!"}


def test_the_answer_is_shown_by_its_own_options() -> None:
    """Dates in an answer follow date_format alone, in any locale."""
    result = evaluate("=DATE(2024,5,1)", date_format="DD MMM YYYY", locale="de-DE")
    assert (result.value, result.type) == ("01 May 2024", "date")


@every("locale, month, day", [("de-DE", "Mai 2024", "1.5.2024"), ("fr-FR", "mai 2024", "1/5/2024")])
def test_a_criterion_that_begins_with_a_month_is_a_date(locale: str, month: str, day: str) -> None:
    rows = {"A": [45_413.0, 45_414.0] * 200, "B": [1.0, 10.0] * 200, "C": [month, day, "Maier", "Mais"] * 100}
    book = Book.from_columns({"S": rows})
    book.set("S", "E1", "=SUM(SUMIF(A$1:A$400,C1:C400,B$1:B$400))")
    for row in range(1, 5):
        book.set("S", f"D{row}", f"=SUMIF(A$1:A$400,C{row},B$1:B$400)")
    book.recalculate(locale=locale)
    assert [book.value("S", f"D{row}") for row in range(1, 5)] == [200, 200, 0, 0]
    assert book.value("S", "E1") == 100 * 400
    book.recalculate(locale="en-US")
    assert book.value("S", "E1") == 0
