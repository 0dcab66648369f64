"""Scenarios of the running service, on the pool that is worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Member
from tests.service.compliance.conftest import g1, g1_file, own_g1, write_book  # noqa: F401 - fixtures

URL = "/api/v1/scenarios"
SELL_LIMA = {
    "trade_type": "sell",
    "par_value": 10e6,
    "price": 55.0,
    "borrower_name": "Lima",
    "loan_data": {"loanx_id": "LX000012"},
}
BUY_NOVA = {
    "trade_type": "buy",
    "par_value": 8e6,
    "price": 98.5,
    "borrower_name": "Nova",
    "rating_agency_a": "B2",
    "rating_agency_b": "B",
    "industry": "Aerospace & Defense",
    "spread": 400.0,
}


@pytest.fixture
def scenario(owner: Member, own_g1: dict[str, Any]) -> dict[str, Any]:  # noqa: F811 - the fixture of that name
    """A sale and a purchase, on the pool of a fresh tenant."""
    return create_scenario(owner, base_workbook_id=own_g1["id"], trades=[SELL_LIMA, BUY_NOVA])


def create_scenario(who: Member, **fields: Any) -> dict[str, Any]:
    """A new scenario."""
    answer = who.post(URL, json={"name": "Swap", **fields})
    assert answer.status_code == 201, answer.text
    scenario: dict[str, Any] = answer.json()
    return scenario
