"""The trustees' mappings.

Which of several columns each one means, and that they know all that standard_clo knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.files.read import read
from core.files.write import write_workbook_rows
from core.generate import TRUSTEE_TAPES
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings.matcher import matcher

STANDARD = PROFILES["standard_clo"]


def portfolio(folder: Path, trustee: str, columns: dict[str, Any]) -> Portfolio:
    path = folder / "tape.xlsx"
    common = {"Issuer Name": "Acme Corp.", "Maturity Date": "30-Jun-2031"}
    row = common | columns
    write_workbook_rows(path, {"Tape": [list(row), list(row.values())]})
    return Portfolio.from_workbook(read(path), TRUSTEES[trustee])


def test_there_is_a_mapping_for_every_trustee_that_writes_tapes() -> None:
    assert set(TRUSTEES) == set(TRUSTEE_TAPES) == {"trustee_a", "trustee_b", "trustee_c"}
    assert all(mapping.id == trustee for trustee, mapping in TRUSTEES.items())


@pytest.mark.parametrize("trustee", TRUSTEES)
def test_a_trustee_knows_every_header_of_the_standard(trustee: str) -> None:
    mapping = TRUSTEES[trustee]
    assert [mapped.target for mapped in mapping.fields] == [mapped.target for mapped in STANDARD.fields]
    assert mapping.auxiliary == STANDARD.auxiliary
    for field, standard in zip(mapping.fields, STANDARD.fields, strict=True):
        assert set(field.aliases) >= set(standard.aliases)
        assert len(set(field.aliases)) == len(field.aliases)
    known = matcher(STANDARD)
    for field in mapping.fields:
        for alias in field.aliases:
            assert field.target in {target for target, *_ in known.options(alias)}, alias


@pytest.mark.parametrize(
    ("trustee", "columns", "par"),
    [
        ("trustee_a", {"LoanX ID / CUSIP": "LX131555", "Par Amount": 2.0, "Principal Balance": 1.0}, 1.0),
        ("trustee_b", {"LoanX_ID": "LX131555", "Par Amount": 2.0, "Principal_Funded_Balance": 1.0}, 1.0),
        (
            "trustee_c",
            {
                "LoanX ID": "LX131555",
                "Current Par Amount (Issue Currency) - Settled": 3.0,
                "Par Amount": 2.0,
                "Par Amount (Deal Currency)": 1.0,
            },
            1.0,
        ),
    ],
)
def test_a_trustee_has_its_own_column_of_par(tmp_path: Path, trustee: str, columns: dict[str, Any], par: float) -> None:
    assert portfolio(tmp_path, trustee, columns).numbers["par_value"].tolist() == [par]


@pytest.mark.parametrize(
    ("trustee", "columns"),
    [
        ("trustee_a", {"Moody's Rating": "B1", "Moody's DPR": "B3", "Moody's Rating WARF": "B2"}),
        ("trustee_b", {"Moodys_Adj_DP_Rating_for_WARF": "B3", "Moodys_Rating_Final": "B2"}),
        ("trustee_c", {"Moody's CFR": "B1", "Deal Issue (Derived) Rating - Moody's": "B2"}),
    ],
)
def test_a_trustee_has_its_own_rating(tmp_path: Path, trustee: str, columns: dict[str, Any]) -> None:
    loans = portfolio(tmp_path, trustee, {"LoanX ID": "LX131555", "Par Amount": 1.0} | columns)
    assert loans.ranks["rating_agency_a"].tolist() == [15]


def test_one_column_may_mix_the_identifiers(tmp_path: Path) -> None:
    path = tmp_path / "tape.xlsx"
    rows: list[list[str | float]] = [
        ["LoanX ID / CUSIP", "Issuer Name", "Principal Balance"],
        ["LX131555", "Acme Corp.", 1.0],
        ["US0378331005", "Beta LLC", 2.0],
        ["037833100", "Gamma LP", 3.0],
    ]
    write_workbook_rows(path, {"Tape": rows})
    loans = Portfolio.from_workbook(read(path), TRUSTEES["trustee_a"])
    columns = {
        name: [loans.names[name].values[code] if code >= 0 else None for code in loans.names[name].codes]
        for name in ("cusip", "loanx_id", "isin")
    }
    assert columns == {
        "cusip": [None, None, "037833100"],
        "loanx_id": ["LX131555", None, None],
        "isin": [None, "US0378331005", None],
    }
