"""What limits a run by somebody's own rules."""

from __future__ import annotations

from typing import Any

import pytest

from core.compliance.run import run_suite
from core.definition import parse
from core.generate import generate
from core.portfolio import Portfolio
from core.portfolio.cells import checkpoint
from service.compliance.shared import DEFINITION_BYTES_MAX
from tests.conftest import Member, Stack

RUN = "/api/v1/compliance/run"


def by(definition: dict[str, Any] | str, workbook: dict[str, Any]) -> dict[str, Any]:
    return {"workbook_id": workbook["id"], "test_suite": "deal", "definition": definition}


def share(number: int, formula: str) -> dict[str, Any]:
    return {"id": f"share_{number}", "name": "Share", "share": formula, "max": 100.0}


def test_a_run_by_own_rules_ends_with_its_time(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    slow = by({"tests": [share(1, '=ISNUMBER(SEARCH("a",borrower_name))')]}, own_g1)
    assert owner.post(RUN, json=slow).status_code == 200
    with stack.another_api(CUSHION_COMPLIANCE_SECONDS="0.000001") as url:
        answer = owner.http.post(f"{url}{RUN}", json=slow)
    assert (answer.status_code, answer.json()["detail"]) == (422, "Run takes too long")


def test_a_run_goes_by_a_ready_made_definition_of_a_name(owner: Member, own_g1: dict[str, Any]) -> None:
    """As by its document.

    Of a name that is none the answer lists those that there are.
    """
    answers = [owner.post(RUN, json=by(item, own_g1)).json() for item in ("euro", {"base": "euro", "standard": True})]
    shown = [[(result["test_id"], result["current_value"]) for result in answer["results"]] for answer in answers]
    assert shown[0] == shown[1] != []
    answer = owner.post(RUN, json=by("us_bls", own_g1))
    assert (answer.status_code, answer.json()["detail"]) == (422, "Invalid definition")
    assert "did you mean us_bsl?" in answer.json()["errors"][0]["message"]


def test_an_inline_definition_is_as_long_as_a_stored_one_may_be(owner: Member, own_g1: dict[str, Any]) -> None:
    long = by({"name": "x" * DEFINITION_BYTES_MAX}, own_g1)
    answer = owner.post(RUN, json=long)
    assert (answer.status_code, answer.json()["detail"]) == (422, "Invalid definition")


class Enough(Exception):
    """What a check raises."""


def test_every_part_of_a_formula_is_a_checkpoint() -> None:
    """Between two checkpoints a run evaluates one part over the values of one field, or a piece of the rows.

    What compares a number with a line is a step of one short pass, and asks for none.
    """
    deal = generate(300, seed=1)
    book = Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)
    parts = [f'ISNUMBER(SEARCH("{letter}",borrower_name))' for letter in "abcdefgh"]
    definition = parse({"tests": [share(at, f"=OR({part},par_value>{at})") for at, part in enumerate(parts)]})
    count = 0

    def check(_grown_bytes: int) -> None:
        nonlocal count
        count += 1
        if count >= len(parts):
            raise Enough

    with pytest.raises(Enough), checkpoint.checking(check):
        run_suite(book, "deal", definition=definition)
