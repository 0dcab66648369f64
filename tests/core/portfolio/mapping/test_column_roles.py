"""The role of each column as it is shown.

As it was weighed, with what cells and rivals say where nobody asked them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.portfolio.mapping.column_roles import ALIAS_WEIGHT, REASONS_MAX, TEXT_LENGTH_MAX, Roles, page_columns
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.located import LocatedTable
from tests.core.portfolio.conftest import MakeSheet

ROWS = [
    ["Issuer Name", "Par Amount", "Moody's Rating", "Desk"],
    ["Alpha Inc", 1_000_000.0, "B2", "x"],
    ["Beta LLC", 2_000_000.0, "B1", "y"],
    ["Gamma Inc", 3_000_000.0, "Ba3", "x"],
]
TEXTS = dict(enumerate(map(str, ROWS[0])))
FOUND = HeaderMatch(
    0, 0, 3, {"borrower_name": [0], "par_value": [1], "rating_agency_a": [2]}, TEXTS,
    preferences={("borrower_name", 0): 0, ("par_value", 1): 0, ("principal_balance", 1): 2, ("rating_agency_a", 2): 0},
)  # fmt: skip


def weighed(evidence: RoleEvidence, column: int = 2) -> HeaderMatch:
    return replace(FOUND, evidence={column: evidence})


def test_without_evidence_the_role_is_the_field_that_the_heading_names(make_sheet: MakeSheet) -> None:
    roles = Roles(make_sheet(ROWS), FOUND)
    weights = roles.of(1)
    assert (weights["role"], weights["runner_up"], weights["margin"]) == ("par_value", "principal_balance", None)
    assert not weights["is_ambiguous"]
    assert weights["evidence"].words == ALIAS_WEIGHT
    assert weights["evidence"].reasons == ("the heading is a name of par_value",)


def test_a_column_of_no_name_has_no_role(make_sheet: MakeSheet) -> None:
    roles = Roles(make_sheet(ROWS), FOUND)
    assert roles.targets_of(3) == ()
    assert roles.of(3)["role"] == ""
    assert roles.of(3)["evidence"].words == 0.0


def test_a_column_that_gave_way_says_why(make_sheet: MakeSheet) -> None:
    roles = Roles(make_sheet(ROWS), replace(FOUND, demoted={1: "blank"}))
    assert roles.of(1)["evidence"].reasons[1] == "it has no value"


def test_what_was_weighed_is_shown_with_its_lead(make_sheet: MakeSheet) -> None:
    weighed_evidence = RoleEvidence("rating_a", 2.0, 3.004, 0.5, "rating_issuer_a", 0.404, ("one", "two"))
    weights = Roles(make_sheet(ROWS), weighed(weighed_evidence)).of(2)
    assert (weights["role"], weights["runner_up"], weights["margin"]) == ("rating_a", "rating_issuer_a", 0.4)
    assert weights["is_ambiguous"]
    evidence = weights["evidence"]
    assert (evidence.words, evidence.content, evidence.relations) == (2.0, 3.0, 0.5)
    assert evidence.reasons == ("one", "two")


def test_a_sure_heading_gets_what_its_cells_say_and_its_rival(make_sheet: MakeSheet) -> None:
    weights = Roles(make_sheet(ROWS), weighed(RoleEvidence("rating_a", 12.0))).of(2)
    assert weights["evidence"].content > 0
    assert any("ratings" in reason for reason in weights["evidence"].reasons)
    assert weights["runner_up"].startswith("rating_")
    assert weights["margin"] is not None
    assert weights["margin"] > 1.0
    assert not weights["is_ambiguous"]


def test_a_lead_over_nothing_is_none(make_sheet: MakeSheet) -> None:
    weights = Roles(make_sheet(ROWS), weighed(RoleEvidence("x_text", 4.0), 3)).of(3)
    assert (weights["role"], weights["runner_up"], weights["margin"]) == ("x_text", "", None)


def test_reasons_are_few_and_short(make_sheet: MakeSheet) -> None:
    evidence = RoleEvidence("rating_a", 4.0, 1.0, reasons=("x" * 1_000,) * 100)
    reasons = Roles(make_sheet(ROWS), weighed(evidence)).of(2)["evidence"].reasons
    assert len(reasons) == REASONS_MAX
    assert {len(reason) for reason in reasons} == {TEXT_LENGTH_MAX}


@pytest.mark.parametrize("title", ["", "Defaulted"])
def test_a_page_tells_each_column_with_what_it_feeds(make_sheet: MakeSheet, title: str) -> None:
    sheet = make_sheet(ROWS, "Ratings")
    header_match = header.find(sheet, PROFILES["standard_clo"])
    assert header_match is not None
    (page,) = page_columns([LocatedTable(sheet, header_match, title)])
    assert (page.sheet, page.title, page.header_rows) == ("Ratings", title, (1,))
    assert [(column.column, column.header) for column in page.columns] == list(zip("ABCD", ROWS[0], strict=True))
    fed = {page_column.column: page_column.fields for page_column in page.columns}
    assert "borrower_name" in fed["A"]
    assert "par_value" in fed["B"]
    assert "rating_agency_a" in fed["C"]
    assert fed["D"] == ()
