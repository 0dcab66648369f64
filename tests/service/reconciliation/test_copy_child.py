"""Issues in COPY's text format.

PostgreSQL's own rules read back what was written, whatever a cell holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio import Portfolio
from core.reconciliation.run import reconcile
from service.reconciliation.copy_child import KEY_BYTES, VALUE_CHARACTERS, write_issues
from tests.service.reconciliation.copied import parsed


def written(folder: Path, tape_name: str, book_name: str) -> list[dict[str, str]]:
    """The issues of one loan whose borrower has two names, and of one that only the tape has."""
    tape = Portfolio.from_columns(
        {
            "cusip": ["00206RGQ9", None],
            "borrower_name": [tape_name, tape_name],
            "facility_name": ["TLA", "TLB"],
            "par_value": [110.0, 5e6],
        }
    )
    book = Portfolio.from_columns({"cusip": ["00206RGQ9"], "borrower_name": [book_name], "par_value": [100.0]})
    issues = reconcile(tape, book).issues
    write_issues(issues, folder / "issues")
    rows = parsed((folder / "issues").read_bytes().decode())
    assert len(rows) == len(issues) > 0
    return rows


def test_every_column_is_written_in_order(tmp_path: Path) -> None:
    (par,) = (row for row in written(tmp_path, "Acme", "Acme") if row["field_name"] == "par_value")
    assert (par["trustee_value"], par["internal_value"], par["severity"], par["cusip"]) == (
        "110",
        "100",
        "critical",
        "00206RGQ9",
    )


@pytest.mark.parametrize(
    "name", ["a\\b", "\\.", "\\N", "tab\there", "two\nlines", "one\rline", "Ünï 𝔘", "'; DROP TABLE x; --"]
)
def test_what_would_mislead_is_escaped(tmp_path: Path, name: str) -> None:
    assert " ".join(name.split()) in {
        " ".join(row["borrower_name"].split()) for row in written(tmp_path, name, "another")
    }


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), st.sampled_from(("Acme", "a\tb", "\\")))
def test_any_name_makes_whole_lines(tmp_path_factory: pytest.TempPathFactory, name: str, second: str) -> None:
    for row in written(tmp_path_factory.mktemp("any"), name, second):
        assert "\x00" not in "".join(row.values())


def test_a_long_name_is_cut_and_keys_stay_distinct(tmp_path: Path) -> None:
    tape = Portfolio.from_columns(
        {
            "borrower_name": ["x" * 30_000 + end for end in ("a", "b")],
            "par_value": [5e6, 6e6],
            "maturity_date": ["2030-01-01", "2030-01-01"],
        }
    )
    book = Portfolio.from_columns({"borrower_name": ["other"], "par_value": [1.0]})
    write_issues(reconcile(tape, book).issues, tmp_path / "issues")
    rows = parsed((tmp_path / "issues").read_text(encoding="utf-8"))
    keys = [row["loan_key"] for row in rows]
    assert len(set(keys)) == len(keys) == 3
    assert max(len(key.encode()) for key in keys) <= KEY_BYTES
    assert max(len(value) for row in rows for value in row.values()) == VALUE_CHARACTERS


def test_keys_stay_distinct_without_their_null_characters(tmp_path: Path) -> None:
    """An .xls file may hold such; PostgreSQL does not."""
    tape = Portfolio.from_columns(
        {"cusip": ["XYZ\x0012345678901234", "XYZ12345678901234"], "borrower_name": ["A", "B"], "par_value": [5e6, 6e6]}
    )
    book = Portfolio.from_columns({"borrower_name": ["other"], "par_value": [1.0]})
    write_issues(reconcile(tape, book).issues, tmp_path / "issues")
    keys = [row["loan_key"] for row in parsed((tmp_path / "issues").read_text(encoding="utf-8"))]
    assert len(set(keys)) == len(keys) == 3
    assert "\x00" not in "".join(keys)


def test_no_issue_is_an_empty_file(tmp_path: Path) -> None:
    loans = Portfolio.from_columns({"cusip": ["00206RGQ9"], "borrower_name": ["Acme"], "par_value": [1.0]})
    write_issues(reconcile(loans, loans).issues, tmp_path / "issues")
    assert (tmp_path / "issues").read_bytes() == b""
