"""Whole workbooks: columns by their headings, single cells, formulas, and that nothing of it remains in any byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files.read import read
from core.generate import MESSY, generate, generate_report
from core.grid.pivot import Pivot, PivotField
from core.grid.sheet import Table, Workbook
from core.redact.book import redact, redact_text
from core.redact.replace import Policy
from tests.core.redact.conftest import CASES, KEY, book_of, cells, redacted
from tests.rows import every

REAL = sorted((Path(__file__).parents[4] / "shared" / "data").rglob("*.xlsx"))
CARD = 4111111111111111.0

CONTACTS: list[list[Any]] = [
    ["Agent contacts"],
    ["Prepared by:", "Jane Doe"],
    ["Prepared by", "U.S. Bank Trust Company"],
    [],
    ["Issuer", "Contact", "E-mail", "Phone", "SSN", "Analyst", "Date of birth", "Par"],
    ["Acme Corp", "Max Muster", "max@muster.de", "+49 30 901820", 123456789, "Lee Wong", "1970-05-01", 123456789],
    ["Beta LLC", "Barclays Bank PLC", "ask the desk", "ext 12", "n/a", "JD", None, 987654321],
    ["Max Muster", "Muster, Erika", "e@muster.de; x@y.org", 2125550123, "987-65-4321", "Ann Lee", 25569, 5],
    [],
    ["Holdings"],
    ["Issuer", "Rating"],
    ["John Smith", 3.0],
]
WORDS = [["Analyst", "Par", "Price", "Rating"], *[[name, 1.0, 2.0, 3.0] for name in ("Jane Roes", "Lars", "John Roe")]]


def test_headings_and_labels_claim_their_cells_and_no_others() -> None:
    result = redacted(S=CONTACTS)
    assert cells(result.workbook)[1:8] == [
        ["Prepared by:", "J*** D***", *[None] * 6],
        ["Prepared by", "U.S. Bank Trust Company", *[None] * 6],
        [None] * 8,
        CONTACTS[4],
        ["Acme Corp", "M*** M***", "m***@m***.de", "***20", "***-**-****", "L*** W***", "1970-**-**", 123456789],
        ["Beta LLC", "Barclays Bank PLC", "***", "***", "n/a", "J***", None, 987654321],
        ["M*** M***", "M*** E***", "e***@m***.de; x***@y***.org", "***23", "***-**-****", "A*** L***",
         "1970-**-**", 5],
    ]  # fmt: skip
    assert cells(result.workbook)[-1][0] == "John Smith"
    assert result.counts == {
        "us_ssn": {"S!E": 2},
        "birth_date": {"S!G": 2},
        "email": {"S!C": 3},
        "phone": {"S!D": 3},
        "person": {"S!A": 1, "S!B": 3, "S!F": 3},
    }
    assert result.columns == {
        "S!B": "person", "S!C": "email", "S!D": "phone", "S!E": "us_ssn", "S!F": "person", "S!G": "birth_date",
    }  # fmt: skip


@every("policy", CASES)
def test_what_was_redacted_is_in_no_byte_and_a_second_time_finds_nothing(policy: Policy) -> None:
    book = book_of(S=[*CONTACTS, ["x", ("=B6", "Max Muster"), ("=C6", "max@muster.de")]])
    once = redact(book, policy).workbook
    text = b"".join(sheet.text.data.tobytes() + sheet.formulas.text.data.tobytes() for sheet in once.sheets)
    for secret in (b"max@", b"Muster", b"Erika", b"901820", b"987-65", b"Jane", b"Wong", b"ask the desk"):
        assert secret not in text, secret
    assert redact(once, policy).counts == {}
    texts = once.sheets[0].text.strings()
    assert len(set(texts)) == len(texts)


PEOPLE: list[list[Any]] = [
    ["Prepared by", "Jane A. Doe"], ["Given name", "Surname"], ["Erika", "Muster"], [],
    ["Comment"], ["asked Jane Doe on Monday"], ["DOE, JANE (again)"], ["j. doe"], ["Doe Holdings LLC"],
    ["Jane Doe Holdings LLC"], ["Jane and Doe"], ["erika_muster"], [("=A6", "asked Jane Doe on Monday")],
    [('=IF(1,"Jane Doe","")', "Jane Doe")], [("='Jane Doe'!A1", "x")],
]  # fmt: skip


def test_a_name_known_from_one_place_is_masked_in_all() -> None:
    result = redacted(S=PEOPLE, **{"Jane Doe": [["x"]], "Loans": [["Obligor", "Par"], ["Jane Doe", 1.0]]})
    assert [sheet.name for sheet in result.workbook.sheets] == ["S", "J___ D___", "Loans"]
    assert cells(result.workbook)[5:] == [
        ["asked J*** D*** on Monday", None], ["D*** J*** (again)", None], ["j*** d***", None],
        ["Doe Holdings LLC", None], ["Jane Doe Holdings LLC", None], ["Jane and Doe", None], ["e*** m***", None],
        ["asked J*** D*** on Monday", None], ["J*** D***", None], [("='J___ D___'!A1", "x"), None],
    ]  # fmt: skip
    assert cells(result.workbook, 2)[1] == ["J*** D***", 1.0]
    assert result.counts["person"]["(sheet names)"] == 1
    assert result.counts["person"]["Loans!A"] == 1
    assert not any("Jane" in place for places in result.counts.values() for place in places)


@every(
    "name, after",
    [
        ("JaneDoe", "J***"), ("DoeJane", "D***"), ("janedoe", "j***"), ("ErikaMuster", "E***"),
        ("IngridMcLaren", "I***"), ("JaneDoePar", "J***Par"), ("ParOfJaneDoe", "ParOfJ***"),
        ("JaneDoeing", "JaneDoeing"), ("Janedoes", "Janedoes"), ("ErikaPar", "ErikaPar"),
        ("JaneDoe Holdings LLC", "JaneDoe Holdings LLC"),
    ],
)  # fmt: skip
def test_a_known_name_is_masked_where_nothing_joins_its_words(name: str, after: str) -> None:
    rows = [["Prepared by", "Jane Doe; Ingrid McLaren"], ["Given name", "Surname"], ["Erika", "Muster"], [], [name]]
    assert cells(redacted(S=rows).workbook)[4][0] == after


def test_a_sheet_and_a_range_called_after_a_known_person_are_masked() -> None:
    book = book_of(S=[["Prepared by", "Jane Doe"]], JaneDoe=[["x"]])
    book = replace(book, defined_names={"JaneDoePar": "S!$A$1", "Jane_Doe": "S!$A$1", "Par": "S!$A$1"})
    workbook = redact(book, Policy(threshold="public")).workbook
    assert [sheet.name for sheet in workbook.sheets] == ["S", "J___"]
    assert list(workbook.defined_names) == ["Par"]


def test_short_names_are_names() -> None:
    assert [row[0] for row in cells(redacted(S=WORDS).workbook)] == ["Analyst", "J*** R***", "L***", "J*** R***"]


@every(
    "rows, after",
    [
        ([["First name", "Surname"], ["Jane", "Doe"], ["Al", "Roe"]], [["J***", "D***"], ["A***", "R***"]]),
        ([["Contact:", "Jane Doe; John Roe"]], []),
        ([["Prepared by", "Jane Doe", "Date", 3.0]], []),
        ([["Contact", "Jane Doe", "Phone", 5550123.0, "E-mail", "none"]], []),
        ([["Contact:"], ["Jane Doe"]], [["J*** D***"]]),
        ([["E-mail\nAddress"], ["x at y"], ["a@b.com"]], [["***"], ["a***@b***.com"]]),
        ([["contactName", "Par", "A", "B"], ["jane doe", 1.0, 2.0, 3.0]], [["j*** d***", 1.0, 2.0, 3.0]]),
        ([["Contact", "Senior Notes", "Par", "B"], ["Jane Doe", "x", 2.0, 3.0]], [["J*** D***", "x", 2.0, 3.0]]),
    ],
)
def test_ways_of_heading_and_labelling(rows: list[list[Any]], after: list[list[Any]]) -> None:
    result = cells(redacted(S=rows).workbook)
    assert result[1:] == after
    if after:
        assert result[0] == rows[0]
    else:
        assert {"Jane Doe", "Jane Doe; John Roe", 5550123.0}.isdisjoint(result[0])


def test_a_token_joins_what_is_the_same_and_hides_it_from_other_keys() -> None:
    rows = [["E-mail", "Phone", "SSN"], ["Jane@x.com", "+1 212-555-0123", "123-45-6789"], [None], ["a"],
            ["see jane@X.com", 2125550123, 123456789]]  # fmt: skip
    first, second = (redacted(Policy(strategy="hash", key=key), S=rows, T=[["jane@x.com"]]) for key in (KEY, KEY[::-1]))
    once, again = cells(first.workbook), cells(second.workbook)
    assert once[4][0] == f"see {once[1][0]}"
    assert once[1][0] == cells(first.workbook, 1)[0][0] != again[1][0]
    assert once[1][0].startswith("email_")


@every(
    "rows, after",
    [
        # A formula whose text holds personal data is its value.
        ([[("=HYPERLINK(\"mailto:a@b.com\",\"Mail\")", "Mail")]], [["Mail"]]),
        ([[("=\"jane\"&\"@acme.com\"", "jane@acme.com")]], [["j***@a***.com"]]),
        ([[("=HYPERLINK(\"mailto:jane@\"&\"acme.com\",\"Mail\")", "Mail")]], [["Mail"]]),
        # One that shows it has neither text nor value of it.
        ([["jane@acme.com", ("=A1&\"\"", "jane@acme.com")]], [["j***@a***.com", "j***@a***.com"]]),
        # Arithmetic is no number of a person.
        ([[("=123-45-6789", -6711.0)]], [[("=123-45-6789", -6711.0)]]),
        ([[("=212-555-1234", -1577.0)]], [[("=212-555-1234", -1577.0)]]),
        # What was filled from a dropped formula goes on, with the next as its origin.
        (
            [[("=B1", "a@b.com"), "a@b.com"], [("=B1", "x", (0, 0)), "x"], [("=B1", "y", (0, 0)), "y"]],
            [["a***@b***.com", "a***@b***.com"], [("=B2", "x"), "x"], [("=B3", "y"), "y"]],
        ),
        (
            [["x", None], ["y", ("=A1", "a@b.com")], ["z", ("=A1", "y", (1, 1))]],
            [["x", None], ["y", "a***@b***.com"], ["z", ("=A2", "y")]],
        ),
    ],
)  # fmt: skip
def test_formulas(rows: list[list[Any]], after: list[list[Any]]) -> None:
    result = redacted(S=rows)
    assert cells(result.workbook) == after
    dropped = sum(isinstance(cell, tuple) for row in rows for cell in row)
    dropped -= sum(isinstance(cell, tuple) for row in after for cell in row)
    assert sum(result.formulas.values()) == dropped


@every(
    "formula, value, after",
    [
        ("=B2", "Jane Doe", "J*** D***"),
        ("=UPPER(B2)", "JANE DOE", "J*** D***"),
        ("=LEFT(B2,4)", "Jane", "J***"),
        ('=MID(B2,6,2)&" of "&A2', "Do of Acme", "Do of Acme"),  # two letters say nothing
        ('=A2&": "&B2', "Acme: Jane Doe", "Acme: J*** D***"),
        ("=LEN(B2)", 8.0, 8.0),  # calculated anew it would be 9
        ('=IF(B2="","missing","there")', "there", "there"),
        ("=C2", 123456789.0, "***-**-****"),
        ("=RIGHT(C2,4)", "6789", "***-**-****"),
        ("=INDEX($B$1:$C$9,2,1)", "Jane Doe", "J*** D***"),
        ("=COUNTA(B:B)", 2.0, 2.0),
        ("=VLOOKUP(A2,Other!A:B,2,FALSE)", "Jane Doe", "J*** D***"),
        ("=contact", "Jane Doe", "J*** D***"),
        ("=SUM(people[SSN])", 123456789.0, "***-**-****"),
        # These read nothing that is redacted, and are kept.
        ("=A2", "Acme", None),
        ("=SUM(D1:D9)", 5.0, None),
        ("=SUM(people[Par])", 5.0, None),
        ("=SUM(Other!D:D)", 0.0, None),
        ('="Jane "&A2', "Jane Acme", None),
    ],
)
def test_what_reads_a_redacted_cell_is_a_value_that_shows_nothing_of_it(formula: str, value: Any, after: Any) -> None:
    rows = [["Issuer", "Contact", "SSN", "Par", "X"], ["Acme", "Jane Doe", 123456789, 5.0, (formula, value)]]
    others = [["Issuer", "Contact"], ["Acme", "Jane Doe"]]
    table = Table("people", "S", 0, 0, 1, 4, ("Issuer", "Contact", "SSN", "Par", "X"))
    book = replace(book_of(S=rows, Other=others), tables=(table,), defined_names={"Contact": "S!$B$2"})
    workbook = redact(book, Policy(threshold="public")).workbook
    assert cells(workbook)[1][4] == ((formula, value) if after is None else after)
    words = workbook.sheets[0].text.strings()
    assert after is None or not any("Jane" in text or "JANE" in text for text in words), words


def test_a_table_whose_heading_went_is_no_table() -> None:
    rows = [
        ["Contact", "x", "y", "z"],
        ["Jane Doe", "a", "b", "c"],
        ["Lee Wong", "Par", "Price", "Id"],
        ["Ann Lee", "d", "e", "f"],
    ]
    headed = tuple(Table(name, "S", row, 0, row + 1, 3, tuple(rows[row])) for name, row in (("good", 0), ("bad", 2)))
    result = redact(replace(book_of(S=rows), tables=headed), Policy())
    assert result.workbook.tables == headed[:1]
    assert result.warnings == ("headings of 1 table were redacted: it is plain cells",)


def test_pivot_tables_are_plain_cells_afterwards() -> None:
    pivot = Pivot(
        "Sales", "S", 0, 0, 1, 1, 1, 1, page_rows=0, data=(), fields=(PivotField("Owner", "Owner", (("x",),)),)
    )
    result = redact(replace(book_of(S=[["a", 1.0]]), pivots=(pivot,)), Policy())
    assert result.workbook.pivots is None
    assert result.warnings == ("1 pivot table is plain cells now: what is listed may be personal",)
    assert redact(book_of(S=[["a", 1.0]]), Policy()).workbook.pivots == ()


def test_readers_of_readers_and_of_filled_formulas() -> None:
    """A chain of formulas, one of them filled down.

    Each cell is judged by what it reads itself.
    """
    rows: list[list[Any]] = [
        ["Issuer", "Analyst", "Name", "Greeting", "Twice"],
        ["Acme", "Jane Doe", ("=B2", "Jane Doe"), ('="Dear "&C2', "Dear Jane Doe"), ("=E9*2", 0.0)],
        ["Beta", "n/a", ("=B2", "n/a", (1, 2)), ('="Dear "&C2', "Dear n/a", (1, 3)), ("=E9*2", 0.0, (1, 4))],
        ["Gamma", "John Roe", ("=B2", "John Roe", (1, 2)), ('="Dear "&C2', "Dear John Roe", (1, 3)), None],
    ]
    result = redacted(S=rows)
    assert [row[2:] for row in cells(result.workbook)[1:]] == [
        ["J*** D***", "Dear J*** D***", ("=E9*2", 0.0)],
        [("=B3", "n/a"), ('="Dear "&C3', "Dear n/a"), ("=E10*2", 0.0)],
        ["J*** R***", "Dear J*** R***", None],
    ]
    assert result.counts == {"person": {"S!B": 2, "S!C": 2, "S!D": 2}}
    assert result.formulas == {"S!C": 2, "S!D": 2}
    chain: list[list[Any]] = [["Contact", "X"], ["Jane Doe", ("=MID(A2,6,3)", "Doe")]]
    chain += [[None, (f"=B{row}", "Doe")] for row in range(2, 40)]
    result = redacted(S=chain)
    assert {row[1] for row in cells(result.workbook)[1:]} == {"D***"}
    assert "more than 8 formulas" in result.warnings[0]


@every(
    "rows",
    [
        [["Account"], *[[f"4000{at:04}{at * 7:04}{at * 3:04}"] for at in range(1, 60)]],  # one in ten has the digit
        [["Par"], [CARD], [1000.0], [2500.5], [12345678.0]],  # a sum
        [["Id"], *[[f"{at:03}-555-{at * 13:04}"] for at in range(100, 400)]],
        [["E-mail"], ["yes"], ["no"], ["yes"]],
        [["Contact", "Par"], ["Acme Holdings LLC", 1.0], ["Deutsche Bank AG", 2.0]],
        [["Prepared by", "Wells Fargo Bank"], ["Borrower", "Michael Kors"], ["Date", 3.0]],
        [["IP", "Mobile"], ["B2", "B3"], [1.0, 2.0]],
        [["Obligor name"], ["Jane Doe"], ["Charles Schwab"]],
        [["Portfolio Manager", "Oak Hill Advisors, L.P."]],
    ],
)
def test_what_only_seems_personal_is_kept(rows: list[list[Any]]) -> None:
    book = book_of(S=rows)
    assert redact(book, Policy(threshold="public")).workbook is book


def test_cards_as_numbers() -> None:
    """In a column of cards each goes.

    Under a heading those too whose last digit a spreadsheet lost.
    """
    result = redacted(S=[["x", "Card number"], [CARD, 4111111111111110.0], [378282246310005.0, None]])
    assert cells(result.workbook)[1:] == [["**** **** **** 1111", "**** **** **** 1110"], ["**** **** **** 0005", None]]


def test_most_values_of_a_column_say_what_its_odd_ones_are() -> None:
    addresses = [[f"user{at}@acme.com"] for at in range(5)]
    result = redacted(S=[["Report of ACME"], *addresses, ["sam at the office"], *addresses, ["Total"]])
    assert result.columns == {"S!A": "email"}
    assert [row[0] for row in cells(result.workbook)][5:8] == ["u***@a***.com", "***", "u***@a***.com"]
    assert cells(result.workbook)[-1] == ["Total"]


def test_nothing_of_a_generated_deal_is_personal(tmp_path: Path) -> None:
    """Identifiers, names, amounts and days of the generator, in all manners of its reports."""
    texts = generate(30_000, 1).texts
    strings = {*texts.companies, *texts.cusip.tolist(), *texts.isin.tolist(), *texts.loanx.tolist()}
    book = book_of(S=[["Name"], *[[text] for text in strings]])
    assert redact(book, Policy(threshold="public")).workbook is book
    policy = Policy(threshold="public")
    result = tmp_path / "deal.xlsx"
    for seed, messy in ((3, ()), (5, MESSY)):
        generate(1_500, seed, messy=messy).write(result)
        book = read(result)
        assert redact(book, policy).workbook is book
    deal = generate(300, 7)
    for manner in ("pages", "sheet", "months"):
        result = tmp_path / f"{manner}.xlsx"
        generate_report(deal, manner, 11).write(result)
        outcome = redact(read(result), policy)
        assert outcome.counts == {}, manner


@pytest.mark.parametrize("file", REAL)
def test_nothing_of_a_published_deal_is_personal(file: Path) -> None:
    book = read(file)
    assert redact(book, Policy(threshold="public")).workbook is book


def test_sheets_without_personal_data_and_arrays_that_stay_are_shared() -> None:
    book = book_of(S=[["jane@x.com", 1.0]], T=[["Acme Corp", 2.0]])
    workbook = redact(book, Policy()).workbook
    assert workbook.sheets[1] is book.sheets[1]
    before, after = book.sheets[0].columns[1], workbook.sheets[0].columns[1]
    assert before is not None
    assert after is not None
    assert after.numbers is before.numbers
    assert not after.codes.flags.writeable


def test_a_policy_says_its_choices() -> None:
    with pytest.raises(ValueError, match="public, internal, confidential, restricted: 'secret' is not"):
        Policy(threshold="secret")
    with pytest.raises(ValueError, match="mask, hash, remove"):
        Policy(strategy="blank")
    with pytest.raises(ValueError, match="key of at least 16 bytes"):
        Policy(strategy="hash", key=b"short")
    assert "key of" not in repr(Policy(strategy="hash", key=KEY))


@every(
    "threshold, after",
    [
        ("public", "ip 192.168.*.*, j***@x***.com, ***-**-****"),
        ("internal", "ip 192.168.*.*, j***@x***.com, ***-**-****"),
        ("confidential", "ip 192.168.1.20, j***@x***.com, ***-**-****"),
        ("restricted", "ip 192.168.1.20, j@x.com, ***-**-****"),
    ],
)
def test_a_threshold_redacts_its_level_and_those_above(threshold: str, after: str) -> None:
    text = "ip 192.168.1.20, j@x.com, 123-45-6789"
    assert redact_text(text, Policy(threshold=threshold))[0] == after


def test_cells_far_apart_keep_their_places() -> None:
    rows: list[list[Any]] = [["E-mail"], *[[None]] * 100, ["a@b.com"], *[[None]] * 100, ["odd"]]
    book: Workbook = book_of(S=rows)
    sheet = redact(book, Policy()).workbook.sheets[0]
    assert (sheet.value(101, 0), sheet.row_count) == ("a***@b***.com", book.sheets[0].row_count)
    assert np.array_equal(sheet.columns[0].kinds > 0, book.sheets[0].columns[0].kinds > 0)  # type: ignore[union-attr]
