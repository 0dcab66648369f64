"""Samples under a mapping.

A row-by-row oracle says the same, and nothing a caller sends is a crash.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.mapping import normalise
from core.portfolio.mapping.normalise import CellFault, SampleError, normalise_rows
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.model.fields import PROFILES, Mapping


def mapping(**document: Any) -> Mapping:
    return configure_mapping({"source_type": "custom", **document}, id="map_1", name="Own")


OWN = mapping(
    mappings={
        "Loan": {"target": "loan", "type": "string", "required": True, "aliases": ["Loan No"]},
        "Amount": {"target": "amount", "type": "number"},
        "Shown": {"target": "shown", "type": "number", "default": 5},
        "Ends": {"target": "ends", "type": "date"},
        "Live": {"target": "live", "type": "boolean", "default": True},
        "Place": {"target": "place", "type": "string", "default": "nowhere"},
    },
    transforms=[
        {"field": "loan", "operation": "uppercase"},
        {"field": "loan", "operation": "replace", "parameters": {"pattern": "^NO[. ]*", "replacement": "#"}},
        {"field": "amount", "operation": "lookup", "parameters": {"mapping": {"nil": 0}}},
        {"field": "amount", "operation": "multiply", "parameters": {"factor": 1000}},
        {"field": "amount", "operation": "divide", "parameters": {"divisor": 8}},
        {"field": "amount", "operation": "round", "parameters": {"decimals": 1}},
        {"field": "ends", "operation": "date_format", "parameters": {"input_format": "DD.MM.YYYY"}},
        {"field": "place", "operation": "lookup", "parameters": {"mapping": {"de": "Germany", "xx": None}}},
    ],
    validation_rules=[
        {"field": "loan", "rule": "unique"},
        {"field": "loan", "rule": "regex", "parameters": {"pattern": r"^#\d+$"}, "message": "no number"},
        {"field": "loan", "rule": "length", "parameters": {"max": 4}},
        {"field": "amount", "rule": "non_negative"},
        {"field": "amount", "rule": "range", "parameters": {"max": 200}},
        {"field": "shown", "rule": "positive"},
        {"field": "ends", "rule": "range", "parameters": {"min": "2030-01-01"}},
        {"field": "place", "rule": "enum", "parameters": {"values": ["Germany", "nowhere", "fr"]}},
    ],
)

SAMPLES = st.fixed_dictionaries(
    {},
    optional={
        "Loan": st.sampled_from(["no 1", "No.12", "no 1", "x", "", None, 7, " ", "no 12345"]),
        "loan no": st.sampled_from(["NO 9", None]),
        "AMOUNT": st.sampled_from([1, -1.5, 0.0625, "nil", "1.5", "abc", None, True, [1], "n/a", 1e306]),
        "Shown": st.sampled_from([0, -2, 2.5, None, {"a": 1}, "(3)"]),
        "Ends": st.sampled_from(["05.09.2031", "5.9.2029", "2031-09-05", None, "", 47731]),
        "live": st.sampled_from([True, False, "Y", "no", "maybe", None, 1, 2]),
        "Place": st.sampled_from(["de", "DE ", "fr", "xx", "it", None]),
    },
)


class Oracle:
    """The mapping above, one row after another, written from what its document says."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.errors: list[tuple[int, str, str]] = []
        self.warnings: list[tuple[int, str, str]] = []

    def row(self, number: int, given_row: dict[str, Any]) -> dict[str, Any]:
        self.number = number
        row = {key.lower(): value for key, value in given_row.items()}
        return {
            "loan": self.loan(row.get("loan no") if str(row.get("loan") or "").strip() == "" else row.get("loan")),
            "amount": self.amount(row.get("amount")),
            "shown": self.shown(row.get("shown")),
            "ends": self.ends(row.get("ends")),
            "live": self.live(row.get("live")),
            "place": self.place(row.get("place")),
        }

    def error(self, field: str, rule: str) -> None:
        self.errors.append((self.number, field, rule))

    def loan(self, value: Any) -> str | None:
        text = "" if value is None else str(value).strip()
        if not text:
            self.error("loan", "required")
            return None
        text = re.sub(r"^NO[. ]*", "#", text.upper())
        if text in self.seen:
            self.error("loan", "unique")
        self.seen.add(text)
        if not re.search(r"^#\d+$", text):
            self.error("loan", "regex")
        if len(text) > 4:
            self.error("loan", "length")
        return text

    def amount(self, value: Any) -> float | None:
        if value is None or value == "n/a":
            return None
        if isinstance(value, bool | list) or value == "abc":
            self.error("amount", "type")
            return None
        figure = {"nil": 0.0, "1.5": 1.5}.get(value, value) * 1000 / 8
        if math.isinf(figure):
            self.error("amount", "multiply")
            return None
        figure = math.copysign(math.floor(abs(figure) * 10 + 0.5) / 10, figure) + 0.0 if abs(figure) < 1e15 else figure
        if figure < 0:
            self.error("amount", "non_negative")
        if figure > 200:
            self.error("amount", "range")
        return figure

    def shown(self, value: Any) -> float | None:
        if isinstance(value, dict):
            self.error("shown", "type")
            return None
        figure = 5.0 if value is None else {"(3)": -3.0}.get(value, value)
        if figure <= 0:
            self.error("shown", "positive")
        return float(figure)

    def ends(self, value: Any) -> str | None:
        if value in (None, ""):
            return None
        if value == 47731:  # a serial: a cell that holds a date needs no format
            day = date(2030, 9, 5)
        else:
            try:
                day = datetime.strptime(value, "%d.%m.%Y").date()  # noqa: DTZ007
            except ValueError:
                self.error("ends", "type")
                return None
        if day < date(2030, 1, 1):
            self.error("ends", "range")
        return day.isoformat()

    def live(self, value: Any) -> bool | None:
        if value is None:
            return True
        known = {"y": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        flag = known.get(str(value).lower())
        if flag is None:
            self.error("live", "type")
        return flag

    def place(self, value: Any) -> str | None:
        text = None if value is None else value.strip()
        if text is not None and text.lower() not in ("de", "xx"):
            self.warnings.append((self.number, "place", "lookup"))
        text = {"de": "Germany", "xx": None}.get(text.lower(), text) if text is not None else None
        text = "nowhere" if text is None else text
        if text not in ("Germany", "nowhere", "fr"):
            self.error("place", "enum")
        return text


def fault_places(faults: list[CellFault]) -> list[tuple[int, str, str]]:
    return sorted((fault.row, fault.field, fault.rule) for fault in faults if fault.row is not None)


@given(st.lists(SAMPLES, min_size=1, max_size=12))
def test_columns_give_what_rows_one_by_one_give(rows: list[dict[str, Any]]) -> None:
    normalised = normalise_rows(OWN, rows)
    oracle = Oracle()
    expected = [oracle.row(number, row) for number, row in enumerate(rows, 1)]
    fed = set(normalised.columns)
    assert normalised.rows() == [{target: value for target, value in row.items() if target in fed} for row in expected]
    assert fault_places(normalised.errors) == sorted(oracle.errors)
    assert fault_places(normalised.warnings) == sorted(oracle.warnings)
    assert normalised.error_count == len(oracle.errors)
    assert normalised.rows_invalid == len({row for row, _, _ in oracle.errors})
    assert normalised.row_count == len(rows)
    for target in {"loan", "amount", "shown", "ends", "live", "place"} - fed:
        assert target in normalised.missing_columns
        assert all(row[target] is None for row in expected)


def test_a_whole_answer() -> None:
    normalised = normalise_rows(OWN, [{"Loan": "no 1", "Amount": "2", "Memo": "x"}, {"Loan": "zz", "Amount": -1}])
    assert normalised.rows() == [
        {"loan": "#1", "amount": 250.0, "shown": 5.0, "live": True, "place": "nowhere"},
        {"loan": "ZZ", "amount": -125.0, "shown": 5.0, "live": True, "place": "nowhere"},
    ]
    assert normalised.errors == [
        CellFault(1, "amount", "range", "amount must be at most 200", 250.0),
        CellFault(2, "loan", "regex", "no number", "ZZ"),
        CellFault(2, "amount", "non_negative", "amount must not be negative", -125.0),
    ]
    assert normalised.warnings == [CellFault(None, "Memo", "unmapped_column", "column 'Memo' feeds no field")]
    assert (normalised.error_count, normalised.warning_count, normalised.rows_invalid) == (3, 1, 2)
    assert normalised.unmapped_columns == ["Memo"]
    assert normalised.missing_columns == ["shown", "ends", "live", "place"]
    assert normalised.missing_required_columns == []
    assert not normalised.is_valid
    assert normalised.rows(1, 2) == normalised.rows()[1:]


def test_a_required_column_that_is_missing() -> None:
    normalised = normalise_rows(OWN, [{"Amount": 1}])
    assert normalised.missing_required_columns == ["loan"]
    assert fault_places(normalised.errors) == [(1, "loan", "required")]
    assert "loan" not in normalised.columns
    none = normalise_rows(OWN, [])
    assert (none.row_count, none.rows(), none.errors) == (0, [], [])


def test_a_default_feeds_a_required_field() -> None:
    own = mapping(mappings={"A": {"target": "a", "required": True, "default": "x"}, "B": {"target": "b"}})
    normalised = normalise_rows(own, [{"B": "1"}])
    assert normalised.rows() == [{"a": "x", "b": "1"}]
    assert normalised.is_valid
    assert not normalised.warnings


def test_names_are_compared_as_headers_are_and_the_preferred_one_counts() -> None:
    rows = [
        {"LOAN_NO.": "no 1"},
        {"loan": None, "Loan No": "no 2"},
        {"Loan No": "no 4", "Loan": "no 3"},
        {"Loan": "", "Loan No": "no 5"},
        {"Loan": " \u00a0", "Loan No": "no 6"},
    ]
    normalised = normalise_rows(OWN, rows)
    assert [row["loan"] for row in normalised.rows()] == ["#1", "#2", "#3", "#5", "#6"]
    assert normalised.unmapped_columns == []


def sample(**cells: Any) -> dict[str, Any]:
    (row,) = normalise_rows(PROFILES["standard_clo"], [cells]).rows()
    return row


@pytest.mark.parametrize(
    ("name", "value", "target", "expected"),
    [
        ("Spread", 350, "spread", 350.0),
        ("Spread", 3.5, "spread", 3.5),
        ("Spread", "3.5%", "spread", 350.0),
        ("Spread", "S+425", "spread", 425.0),
        ("Spread", "350bps", "spread", 350.0),
        ("Spread (%)", 3.5, "spread", 350.0),
        ("Spread (bps)", 350, "spread", 350.0),
        ("Price", 0.985, "price", 0.985),
        ("Price", "98.5%", "price", 98.5),
        ("Coupon", 8.25, "all_in_rate", 8.25),
        ("Coupon", "825 bps", "all_in_rate", 8.25),
        ("Floor (bps)", 50, "floor", 0.5),
        ("Par Amount", "1,234,567.50", "par_value", 1_234_567.5),
        ("Par Amount", "(1,000)", "par_value", -1000.0),
        ("Par Amount", "1.5MM", "par_value", 1_500_000.0),
        ("Par ($000s)", 5, "par_value", 5_000.0),
        ("Par Amount", "n.a.", "par_value", None),
        ("Maturity", "12/31/2031", "maturity_date", "2031-12-31"),
        ("Maturity", "31-Dec-2031", "maturity_date", "2031-12-31"),
        ("Maturity", "20311231", "maturity_date", "2031-12-31"),
        ("Default Status", "Defaulted", "is_defaulted", True),
        ("Default Status", "Performing", "is_defaulted", False),
        ("Default Status", "N", "is_defaulted", False),
        ("Issuer", "  Acme  ", "borrower_name", "Acme"),
        ("CUSIP", 37833100, "cusip", "37833100"),
        ("WAL", 4.5, "average_life", 4.5),
        ("Security ID", 12345678901234567890, "cusip", "12345678901234567890"),
    ],
)
def test_standard_fields_read_as_the_market_writes(name: str, value: Any, target: str, expected: Any) -> None:
    assert sample(**{name: value})[target] == expected


def test_a_word_in_a_standard_flag_that_is_neither_yes_nor_no_is_warned_about() -> None:
    normalised = normalise_rows(PROFILES["standard_clo"], [{"Defaulted": "Watched"}])
    assert fault_places(normalised.warnings) == [(1, "is_defaulted", "type")]


@pytest.mark.parametrize(
    "value",
    [[1], {"a": {"b": 1}}, float("nan"), float("inf"), 10**400, "\ud800", "x" * (normalise.TEXT_LENGTH_MAX + 1)],
)
@pytest.mark.parametrize("name", ["Loan", "Amount", "Ends", "Live"])
def test_values_that_no_cell_could_hold_are_errors_of_their_row(name: str, value: Any) -> None:
    normalised = normalise_rows(OWN, [{"Loan": "no 1"}, {"Loan": "no 2", name: value}])
    assert [(fault.row, fault.rule, fault.value) for fault in normalised.errors] == [(2, "type", None)]
    assert normalised.rows()[1][name.lower()] is None


def test_a_long_value_is_cut_in_a_fault() -> None:
    (fault,) = normalise_rows(mapping(mappings={"A": {"target": "a", "type": "number"}}), [{"A": "x" * 5_000}]).errors
    assert len(fault.value) == normalise.VALUE_LENGTH_MAX + 3


def test_faults_are_listed_by_row_up_to_a_limit_and_all_counted() -> None:
    rows = [{"Loan": "x", "Amount": -at} for at in range(1, 2_001)]
    normalised = normalise_rows(OWN, rows)
    assert len(normalised.errors) == normalise.ERRORS_MAX
    assert [fault.row for fault in normalised.errors] == sorted(fault.row or 0 for fault in normalised.errors)
    assert normalised.error_count == 2_000 + 2_000 + 1_999
    assert normalised.rows_invalid == 2_000


@pytest.mark.parametrize(
    "rows",
    [
        [{}] * (normalise.SAMPLE_ROWS_MAX + 1),
        [{str(at): 1 for at in range(normalise.SAMPLE_COLUMNS_MAX + 1)}],
        [dict.fromkeys(map(str, range(1_000)), 1)] * 501,
        [{"Loan": "x" * 30_000}] * 40,
    ],
)
def test_a_sample_has_a_limit(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(SampleError, match="more than"):
        normalise_rows(OWN, rows)


def test_what_a_sample_comes_to_has_a_limit() -> None:
    """A short text may grow a thousandfold by ten replacements."""
    grow = {"field": "a", "operation": "replace", "parameters": {"pattern": "$", "replacement": "x" * 200}}
    own = mapping(
        mappings={f"C{at}": {"target": target} for at, target in enumerate(("a", "b"))},
        transforms=[{**grow, "field": target} for target in ("a", "b") for _ in range(10)],
    )
    rows = [{"C0": f"{at}", "C1": f"{at}"} for at in range(normalise.SAMPLE_ROWS_MAX)]
    assert normalise_rows(own, [{"C0": row["C0"]} for row in rows]).row_count == len(rows)
    with pytest.raises(SampleError, match=f"more than {normalise.MAPPED_TEXT_BYTES_MAX:,} bytes"):
        normalise_rows(own, rows)


def test_rows_that_feed_nothing_are_rows() -> None:
    normalised = normalise_rows(mapping(mappings={"A": {"target": "a"}}), [{"B": 1}] * 3)
    assert normalised.rows() == [{}, {}, {}]
    assert normalised.rows(1, 2) == [{}]


def test_a_flag_in_a_text_field_is_the_word_that_a_sheet_shows() -> None:
    own = mapping(
        mappings={name: {"target": name.lower(), "type": kind} for name, kind in (("A", "string"), ("B", "number"))},
        transforms=[
            {"field": "b", "operation": "lookup", "parameters": {"mapping": {"TRUE": 7, "1": 8}}},
        ],
    )
    normalised = normalise_rows(own, [{"A": True, "B": True}, {"A": False, "B": 1}, {"A": 1, "B": False}])
    assert normalised.rows() == [{"a": "TRUE", "b": 7.0}, {"a": "FALSE", "b": 8.0}, {"a": "1", "b": None}]
    assert fault_places(normalised.errors) == [(3, "b", "type")]


def test_a_sample_of_odd_names() -> None:
    rows = [{"": 1, "x" * 100_000: 2, "\ud800": 3, "Loan": "no 1"}]
    normalised = normalise_rows(OWN, rows)
    assert len(normalised.unmapped_columns) == 3
    assert all(len(str(fault.message)) < 500 for fault in normalised.warnings)
