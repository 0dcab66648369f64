"""What every object says of itself.

In one line, without fail, in no time; and names that are not there.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from time import process_time
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

import core
from core.compliance.result import Results, TestResult
from core.frames.brief import CHARACTERS_MAX, missing, shortened, shown, value_shown
from core.insights.subject import Break, Breaks, HistoryPoint, Subject
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal, Tranches
from core.recalc.book import Book
from tests import printed_by_hand
from tests.rows import every

HOSTILE = "<script>\n\x00\ud800\u202e'\"" * 20_000
SECONDS_MAX = 1e-3
HTML_MAX = 400_000

GRAPH: dict[str, Any] = {
    "nodes": [{"id": "a", "type": "constant", "params": {"value": 1}}, {"id": "b", "type": "sum", "params": {}}],
    "edges": [{"id": "e", "source": {"nodeId": "a", "port": "output"}, "target": {"nodeId": "b", "port": "x1"}}],
}


def loans(count: int, name: str = "Acme") -> Portfolio:
    return Portfolio.from_columns(
        {
            "par_value": np.linspace(1e6, 2e6, count),
            "borrower_name": [f"{name} {at}" for at in range(count)],
            "spread": np.full(count, 350.0),
            "rating_agency_a": ["B2"] * count,
            "maturity_date": np.full(count, np.datetime64("2030-01-31")),
            "industry": [name[:500]] * count,
        },
        deal={"as_of": date(2026, 8, 31), "currency": "USD", "principal_cash": 1e6},
        tranches={"classes": ["A", "B", "C", "D", "E", name[:500]], "current_balance": [1e6] * 6},
    )


def made_of(portfolio: Portfolio, book: Book) -> Iterator[Any]:
    """One of everything that the library gives for a portfolio and a book."""
    yield from (book, portfolio, replace(book["Data"], name=HOSTILE))
    yield book.recalculate()
    results = core.run_suite(portfolio, "enhanced")
    yield results
    more = replace(portfolio, numbers=portfolio.numbers | {"par_value": portfolio.numbers["par_value"] * 1.5})
    yield core.reconcile(more, portfolio)
    yield core.interpret(printed_by_hand.portfolio(printed_by_hand.cov_lite()), hold_out=True)
    yield core.Simulator(portfolio)
    trade = core.Trade(trade_type="buy", par_value=1e6, borrower_name="New", loan_data={"country": "US"})
    yield trade
    yield core.simulate(portfolio, [trade])
    breaks = Breaks(
        tape=HOSTILE, compared=1, matched=1, by_severity={"critical": 1}, by_field={"par_value": 1},
        largest=[Break(severity="critical", issue_type="value_mismatch", field_name="par_value", identifier="x",
                       borrower_name=HOSTILE, trustee_value="1", internal_value="2")],
    )  # fmt: skip
    subject = Subject(
        name="Deal",
        portfolio=portfolio,
        history={"wal": [HistoryPoint(day=date(2026, 1, 1), value=1.0)]},
        breaks=breaks,
    )
    yield subject
    yield from core.analyse([subject])
    yield core.ask("What is the WAL cushion?", [subject])
    yield core.ask("xyzzy " * 100, [subject])
    yield core.evaluate("=A1:A3&B1", {"A1": HOSTILE[:1000], "A2": 1, "A3": None, "B1": True})
    yield core.evaluate("=A1", {"A1": "x" * 30_000})
    yield core.compile("=" + "1+" * 400 + "1")
    yield msgspec.convert(GRAPH, core.Graph)
    yield core.GraphFault(HOSTILE, "code", HOSTILE)
    yield Deal(as_of=1e300, currency=HOSTILE)


def reached(roots: Iterator[Any]) -> Iterator[Any]:
    """Objects of the library by their public fields, properties and items.

    A few of each type.
    """
    waiting, seen = list(roots), dict[type, int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [value for _, value in zip(range(3), item.values(), strict=False)]
        elif isinstance(item, list | tuple):
            waiting += item[:3]
        if not type(item).__module__.startswith("core.") or callable(item) or isinstance(item, ModuleType):
            continue
        seen[type(item)] = seen.get(type(item), 0) + 1
        if seen[type(item)] > 5:
            continue
        yield item
        for name in dir(type(item)):
            value = None if name.startswith("_") else getattr(item, name, None)
            if not inspect.isroutine(value):
                waiting.append(value)
        if isinstance(item, core.Reconciliation):
            waiting += item.issues[:2]


def seconds_of(call: Callable[[], object]) -> float:
    """The least of some runs: what the machine does beside it is no cost of the call."""

    def once() -> float:
        begin = process_time()
        call()
        return process_time() - begin

    return min(once() for _ in range(5))


@pytest.mark.parametrize("name", ["Acme", HOSTILE[:5000]], ids=["plain", "hostile"])
def test_every_repr_is_short_and_every_table_a_table(name: str) -> None:
    book = Book.from_columns({"Data": {"A": [1, "=A1+1", "=1/0", name[:1000].replace("\ud800", "")]}})
    plain = name.replace("\ud800", "")
    kinds = set()
    for item in reached(made_of(loans(30, plain[:600]), book)):
        kinds.add(type(item))
        text = repr(item)
        lines = text.split("\n")
        most = 12 if isinstance(item, Results) else 1
        assert len(lines) <= most, text[:500]
        assert max(map(len, lines)) <= CHARACTERS_MAX, f"{type(item)}: {len(text)}: {text[:300]}"
        assert type(item).__name__ not in core.__all__ or " object at 0x" not in text, text
        assert seconds_of(lambda item=item: repr(item)) < SECONDS_MAX, type(item)
        if hasattr(item, "_repr_html_"):
            html = item._repr_html_()
            assert len(html) < HTML_MAX, type(item)
            ElementTree.fromstring(html)
            assert "<script" not in html, type(item)
    public = {item for item in (getattr(core, name) for name in core.__all__) if isinstance(item, type)}
    unseen = {item.__name__ for item in public - kinds if not issubclass(item, Exception)}
    assert unseen == {"Workbook"}, "of which a book is one"


def test_a_large_one_costs_no_more() -> None:
    many = np.full(1_000_000, 1e6)
    portfolio = replace(loans(3), row_count=len(many), numbers={"par_value": many})
    assert repr(portfolio) == "Portfolio(1,000,000 loans, as of 2026-08-31)"
    assert seconds_of(lambda: repr(portfolio)) < SECONDS_MAX
    tall = Book.from_columns({"Data": {"A": np.arange(500_000.0)}})
    assert "Sheet('Data', 500,000 rows" in repr(tall["Data"])
    tall.set("Data", "B1", "=A1")
    assert repr(tall) == "Book(1 sheet, formulas edited)"
    assert seconds_of(lambda: repr(tall)) < SECONDS_MAX


def test_empty_ones() -> None:
    empty = core.run_suite(Portfolio.from_columns({"par_value": [], "borrower_name": []}))
    assert repr(Results([], [])) == "Results(no tests)"
    ElementTree.fromstring(Results([], [])._repr_html_())
    ElementTree.fromstring(empty._repr_html_())
    nothing = Portfolio.from_columns({"par_value": [], "borrower_name": []})
    assert repr(nothing) == "Portfolio(0 loans, par 0.00)"
    assert repr(Deal()) == "Deal()"
    for item in (nothing, Deal(), Book.from_columns({"S": {}})["S"]):
        ElementTree.fromstring(item._repr_html_())


class Bad:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@every(
    "value,text",
    [
        ("x" * 100, "'" + "x" * 48 + "'..."),
        (b"x" * 1_000_000, "b'xxxxxxxxxxxxxxxx'... of 1,000,000 bytes"),
        (10**10_000, "an integer of 33,220 bits"),
        (np.zeros((2, 3)), "float64[2 x 3]"),
        ({at: at for at in range(100_000)}, "{0: 0, 1: 1, 2: 2, ...}"),
        ([[[[1]]]], "[[[...]]]"),
        (date(2026, 8, 31), "2026-08-31"),
        (Bad(), "<Bad>"),
        (float("nan"), "nan"),
    ],
)
def test_values(value: object, text: str) -> None:
    assert value_shown(value) == text


def test_lines() -> None:
    assert shortened("a\nb" * 3, 6) == "a b..."
    assert shown("One", {"a": None, "b": "", "c": 0, "d": []}) == "One(c=0)"
    long = shown("One", {f"field_{at}": "x" * 40 for at in range(9)})
    assert long.endswith(", ...)")
    assert len(long) <= CHARACTERS_MAX


@every(
    "name,names,brief_text",
    [
        ("par", ["spread", "par_value"], "there is no column 'par'; near: 'par_value'"),
        ("PAR_VALU", ["spread", "par_value"], "there is no column 'PAR_VALU'; near: 'par_value'"),
        ("zzz", list("abcdefg"), "there is no column 'zzz'; there are: 'a', 'b', 'c', 'd', 'e', ..."),
        (7, ["a"], "there is no column 7; there are: 'a'"),
        ("a", [], "there is no column 'a'"),
        ("x" * 1_000_000, ["a" * 1_000_000], None),
    ],
)
def test_missing(name: object, names: list[str], brief_text: str | None) -> None:
    text = str(missing("column", name, names))
    assert text == (brief_text or text)
    assert len(text) < 300


def test_a_record_without_what_is_not_known() -> None:
    result = TestResult(
        test_id="wal", test_name="x", category="y", status="pass", current_value=1.0, threshold_value=2.0,
        threshold_type="max", cushion=None, cushion_pct=None, message="",
    )  # fmt: skip
    assert repr(result) == (
        "TestResult(test_id='wal', test_name='x', category='y', status='pass', current_value=1.0, threshold_value=2.0, "
        "threshold_type='max')"
    )
    assert dataclasses.is_dataclass(Tranches)
