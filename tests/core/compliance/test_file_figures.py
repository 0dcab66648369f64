"""What a file's own calculation decides under a definition.

By what it says, and by what its loans can say.
"""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from msgspec import UNSET

from core.compliance.conventions import view_of
from core.compliance.file_figures import PARTS, printed_ccc, printed_parts
from core.compliance.run import run_suite
from core.definition import parse
from core.definition.definition import ParValue, Ratings
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import A, portfolio_of
from tests.rows import every

COLUMNS: dict[str, list[Any]] = {
    "par_value": [60.0, 40.0], "rating_agency_a": [A["B2"], A["Caa2"]], "rating_agency_a_derived": [A["Caa1"], A["B2"]],
    "price": [99.0, 80.0],
}  # fmt: skip
SAID: dict[str, Any] = {"ccc_haircut": 1.0, "discount_haircut": 2.0, "other_haircut": 3.0, "defaulted_carried": 4.0,
        "par_value_other": 5.0}  # fmt: skip


def test_every_part_is_a_figure_of_the_deal_and_its_keys_are_keys() -> None:
    assert set(PARTS) == set(SAID) <= set(get_type_hints(Deal))
    keys = {key.partition(".") for part in PARTS.values() for key in part.keys}
    assert {name for section, _, name in keys if section == "par_value"} <= set(get_type_hints(ParValue))
    assert {name for section, _, name in keys if section == "ratings"} <= set(get_type_hints(Ratings))


@every("document, parts", [
    ({}, set(SAID)),
    ({"name": "own", "conventions": {"principal_cash": "none"}}, set(SAID)),
    ({"par_value": {"ccc_limit": 5.0}}, set(SAID) - {"ccc_haircut"}),
    ({"par_value": {"ccc_excess": False}}, set(SAID) - {"ccc_haircut"}),
    # No loan has a purchase price, a flag or accrued interest: the file alone says how much it is, where it counts.
    ({"par_value": {"discount": True, "deferring": True, "purchased_accrued_interest": True}}, set(SAID)),
    ({"par_value": {"discount": False}}, set(SAID) - {"discount_haircut"}),
    ({"par_value": {"deferring": False}}, set(SAID) - {"other_haircut"}),
    ({"par_value": {"purchased_accrued_interest": False}}, set(SAID) - {"par_value_other"}),
    # Loans have prices.
    ({"par_value": {"defaulted": "market_value"}}, set(SAID) - {"defaulted_carried"}),
    ({"ratings": {"recovery": ["a"]}}, set(SAID) - {"defaulted_carried"}),
    ({"base": "us_bsl"}, set(SAID)),
])  # fmt: skip
def test_parts_of_the_oc_numerator(document: dict[str, Any], parts: set[str]) -> None:
    portfolio, rules = portfolio_of(COLUMNS, deal=Deal(**SAID)), parse(document)
    result = printed_parts(portfolio, rules, view_of(portfolio, rules))
    assert result == {name: SAID[name] for name in parts}


def test_what_is_kept_counts_under_every_definition() -> None:
    rules = parse({"par_value": {"purchased_accrued_interest": False}})
    portfolio = portfolio_of(COLUMNS, deal=Deal(par_value_kept=7.0, par_value_other=5.0))
    assert printed_parts(portfolio, rules, view_of(portfolio, rules)) == {"par_value_other": 7.0}
    bare = portfolio_of(COLUMNS)
    assert printed_parts(bare, rules, view_of(bare, rules)) == {}


@every("document, printed, counts", [
    ({"par_value": {"defaulted": "lower"}}, 22.0, True),  # 40 at the lower of 60 and Fitch's 55
    ({"par_value": {"defaulted": "lower"}}, 18.0, True),  # the same by S&P's 45
    ({"par_value": {"defaulted": "lower"}}, 24.0, False),  # the market's
    ({"par_value": {"defaulted": "recovery"}}, 22.0, True),
    ({"par_value": {"defaulted": "market_value"}}, 22.0, False),
    ({"par_value": {"defaulted": "lower"}, "ratings": {"recovery": ["b"]}}, 22.0, False),
    ({"ratings": {"recovery": ["b"]}}, 22.0, False),
])  # fmt: skip
def test_what_defaults_are_carried_at_by_an_agency_that_the_definition_leaves_open(
    document: dict[str, Any], printed: float, counts: bool
) -> None:
    columns: dict[str, list[Any]] = {
        "par_value": [60.0, 40.0], "price": [99.0, 60.0], "is_defaulted": [0, 1], "recovery_rate_b": [50.0, 45.0],
        "recovery_rate_c": [60.0, 55.0],
    }  # fmt: skip
    portfolio, rules = portfolio_of(columns, deal=Deal(defaulted_carried=printed)), parse(document)
    result = printed_parts(portfolio, rules, view_of(portfolio, rules))
    assert result == ({"defaulted_carried": printed} if counts else {})


@every("ratings, counts", [
    ({}, True),
    ({"masked": "left_out"}, True),
    ({"masked": "bounds"}, True),
    ({"masked": "other_agency", "unrated": "B3"}, True),
    ({"masked": "CCC"}, False),
    ({"masked": 6500}, False),
    ({"columns": ["any"]}, True),
    ({"columns": ["derived"]}, False),
    ({"columns": ["any"], "watch_negative": 1}, True),
])  # fmt: skip
def test_a_rating_table_counts_of_the_ratings_that_it_is_of(ratings: dict[str, Any], counts: bool) -> None:
    """No loan is on watch: notches for that change no rating."""
    portfolio = portfolio_of(COLUMNS, deal=Deal(masked_ccc_a=10.0))
    expected = (10.0 if counts else None, None, None)
    assert printed_ccc(portfolio, parse({"ratings": {"a": ratings}})) == expected


@every("ratings, value, codes", [
    ({}, (60 * 23.671 + 25 * 32.221 + 15 * 41.111) / 100, ["masked_by_rating_table"]),
    ({"masked": "bounds"}, (60 * 23.671 + 25 * 32.221 + 15 * 41.111) / 100, ["masked_by_rating_table"]),
    ({"masked": "B+"}, 0.6 * 23.671 + 0.4 * 19.627, ["masked_ratings"]),
])  # fmt: skip
def test_the_rating_factor_of_masked_loans_is_that_of_their_rating_table(
    ratings: dict[str, Any], value: float, codes: list[str]
) -> None:
    """60 of B, and 40 masked, of which the table has 25 of B- and 15 of CCC+.

    Known, and no range.
    """
    deal = Deal(masked_ccc_c=15.0, masked_ratings_c=((16, 25.0), (17, 15.0)))
    portfolio = portfolio_of({"par_value": [60.0, 40.0], "rating_agency_c": ["B", "***"]}, deal=deal)
    tests = [{"id": "factor", "name": "F", "measure": "warf", "agency": "c", "max": 30}]
    ran = run_suite(portfolio, "deal", definition=parse({"ratings": {"c": ratings}, "tests": tests}))
    (row,) = ran
    assert row.current_value == pytest.approx(value, abs=1e-6)
    assert (row.low, row.high) == (UNSET, UNSET)
    assert [warning.code for warning in ran.warnings if warning.code.startswith("masked")] == codes
