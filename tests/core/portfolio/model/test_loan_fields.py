"""Fields of loans for a reader.

Labels, kinds, units, and columns cut to some rows.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from core.labels import LABELS
from core.portfolio import Portfolio
from core.portfolio.model import loan_fields
from core.portfolio.model.loan_fields import LoanField, column_of, describe, field_names, kind_of, label_of
from core.portfolio.model.portfolio import Deal

GIVEN: dict[str, Any] = {
    "par_value": [1.0, 2.5, 3.0],
    "borrower_name": ["Acme", None, "Ümlaut <b>"],
    "spread": [350.0, None, 475.0],
    "maturity_date": [date(2030, 1, 31), None, date(9999, 12, 31)],
    "rating_agency_a": ["B2 *-", "***", "Caa1"],
    "rating_agency_b": np.array([22, 0, 17]),
    "cov_lite": [True, False, True],
    "lien_type": [1, 0, 2],
}
SHOWN = GIVEN | {
    "maturity_date": ["2030-01-31", None, "9999-12-31"],
    "rating_agency_a": ["B2 *-", None, "Caa1"],
    "rating_agency_b": ["D", None, "CCC+"],
    "lien_type": ["first_lien", None, "second_lien"],
    "defaulted": [True, False, False],
}


@pytest.fixture
def portfolio() -> Portfolio:
    return Portfolio.from_columns(GIVEN, deal=Deal(as_of=20_696.0, currency="EUR"))


def test_columns_have_the_values_that_a_reader_sees(portfolio: Portfolio) -> None:
    names = field_names(portfolio)
    assert set(names) == SHOWN.keys()
    assert names[0] == "borrower_name"
    assert {name: column_of(portfolio, name).values() for name in names} == SHOWN


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_cut_column_has_the_values_of_its_rows(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(loan_fields, "FEW_NAMES", few)
    for rows in ([2, 0], [1], [1, 1, 2], [0], []):
        for name, values in SHOWN.items():
            cut = column_of(portfolio, name).take(np.array(rows, np.intp))
            assert cut.values() == [values[row] for row in rows], (name, rows)
    names = column_of(portfolio, "borrower_name").take(np.array([2], np.intp)).names
    assert names is not None
    assert len(names.values) == (1 if few == 0 else 2), "the names of other rows are left behind where there are many"


def test_fields_are_described_with_the_names_of_the_agencies(portfolio: Portfolio) -> None:
    names = ["par_value", "spread", "rating_agency_a", "maturity_date", "cov_lite", "lien_type"]
    assert describe(portfolio, names, LABELS | {"rating_agency_a": "Agency One"}, "EUR") == [
        LoanField("par_value", "Par", "number", "EUR"),
        LoanField("spread", "Spread", "number", "bps"),
        LoanField("rating_agency_a", "Agency One rating", "rating", ""),
        LoanField("maturity_date", "Maturity", "date", ""),
        LoanField("cov_lite", "Cov-lite", "boolean", ""),
        LoanField("lien_type", "Lien", "string", ""),
    ]
    assert describe(portfolio, ["par_value"], LABELS)[0].unit == "currency", "where nobody knows it"


def test_every_standard_field_has_a_label_of_its_own() -> None:
    targets = {field.target for field in (*loan_fields.STANDARD_CLO_FIELDS, *loan_fields.AUXILIARY_FIELDS)}
    for name in targets - {"coupon_type", "as_of"}:  # which are no columns of loans
        assert name in loan_fields._LABELS or label_of(name, LABELS).endswith(" rating"), name
    assert label_of("my_own_field", LABELS) == "My own field"
    assert label_of("rating_agency_b_issuer", LABELS) == "S&P issuer rating"
    shown = [label_of(name, LABELS) for name in targets if name != "facility_rating_agency_a"]
    assert len(set(shown)) == len(shown)


def test_dates_of_a_mappings_own_are_dates(portfolio: Portfolio) -> None:
    assert kind_of(portfolio, "maturity_date") == "date"
    assert kind_of(portfolio, "spread") == "number"
