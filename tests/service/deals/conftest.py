"""Deals of the running service, with files as trustees deliver them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Member
from tests.service.compliance.conftest import g1_file, write_book  # noqa: F401 - fixtures

URL = "/api/v1/deals"
LOANS = b"""LoanX ID,Issuer Name,Par Amount,Moody's Rating,Spread,Maturity Date
LX10000A1,Alpha,1000000,B1,3.5,2030-06-30
LX10000B9,Bravo,2000000,Caa1,4.0,2031-06-30
LX10000C7,Charlie,3000000,B2,4.5,2031-12-31
"""
NOTES = b"""Class,Current Balance,Coupon,OC Trigger
A,3000000,6.5,
B,1000000,7.0,120
Sub,1000000,,
"""

MakeDeal = Callable[..., dict[str, Any]]


@pytest.fixture
def deal(owner: Member) -> dict[str, Any]:
    """A deal of a fresh tenant."""
    return create_deal(owner, name="Cairn")


def create_deal(who: Member, **fields: Any) -> dict[str, Any]:
    """A new deal."""
    answer = who.post(URL, json={"name": "Deal", **fields})
    assert answer.status_code == 201, answer.text
    deal: dict[str, Any] = answer.json()
    return deal


def sent(who: Member, deal: dict[str, Any], *files: tuple[str, bytes], **fields: str) -> Any:
    """Upload files to a deal; the answer."""
    return who.post(f"{URL}/{deal['id']}/files", files=[("files", file) for file in files], data=fields)


def added(who: Member, deal: dict[str, Any], *files: tuple[str, bytes], **fields: str) -> dict[str, Any]:
    """A workbook of files, ready."""
    answer = sent(who, deal, *files, **fields)
    assert answer.status_code == 201, answer.text
    workbook = who.parsed(answer.json()["id"])
    assert workbook["status"] == "ready", workbook
    return workbook
