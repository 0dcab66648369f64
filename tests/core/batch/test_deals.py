"""The table of deals: its rows, and what it refuses."""

from __future__ import annotations

from datetime import date

import pytest

from core.batch import deals
from core.batch.deals import DealsError, parse_deals
from tests.rows import every

TABLE = """\ufeffPattern,deal,definition,mapping,as-of,tape
acme/*,Acme I,acme.toml,,2026-03-31,tape.xlsx

acme/2026-04,Acme April,,,,
beta.xlsx,,euro,own.json,,
*,,,,,
"""


def test_the_first_row_that_matches_counts() -> None:
    table = parse_deals(TABLE)
    first = table.match("acme/2026-04")
    assert first is not None
    assert (first.line, first.deal, first.definition, first.mapping) == (2, "Acme I", "acme.toml", None)
    assert (first.as_of, first.tape) == (date(2026, 3, 31), "tape.xlsx")
    beta, rest = table.match("beta.xlsx"), table.match("elsewhere/Beta.xlsx")
    assert beta is not None
    assert rest is not None
    assert (beta.definition, beta.mapping, rest.line, rest.definition) == ("euro", "own.json", 6, None)


def test_names_that_no_row_matches_have_none() -> None:
    table = parse_deals("pattern\nacme.xlsx\nb[12]?.csv\n")
    assert table.match("ACME.xlsx") is None
    assert table.match("b3x.csv") is None
    assert table.match("b2x.csv") is not None


@every(
    "text, message",
    [
        ("", "line 1: the column pattern is missing"),
        ("deal\nx\n", "line 1: the column pattern is missing"),
        ("pattern,defintion\na,b\n", "line 1: no column is called 'defintion'; did you mean definition?"),
        ("pattern,pattern\na,b\n", "line 1: two columns are called pattern"),
        ("pattern\n", "it has no row below its headings"),
        ("pattern,deal\na,b,c\n", "line 2: 3 fields below 2 headings"),
        ("pattern,deal\n,b\n", "line 2: no pattern"),
        ("pattern,as_of\na,31.03.2026\n", "line 2: as_of is a day as YYYY-MM-DD, not '31.03.2026'"),
        ('pattern\n"a\n', "line 2: unexpected end of data"),
        (f"pattern\n{'a' * 1001}\n", "line 2: pattern has more characters than the limit of 1,000"),
        ("pattern\n" + "a*\n" * 1001, "1,001 rows have a wildcard; the limit is 1,000: write plain names"),
    ],
)
def test_a_faulty_table_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DealsError) as refused:
        parse_deals(text)
    assert str(refused.value).startswith(message)


def test_rows_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deals, "ROWS_MAX", 2)
    assert len(parse_deals("pattern\na\nb\n").rows) == 2
    with pytest.raises(DealsError, match="more rows than the limit of 2"):
        parse_deals("pattern\na\nb\nc\n")
