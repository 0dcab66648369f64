"""Two prints of one identifier are told where they can mean one loan only."""

from __future__ import annotations

from core.portfolio.identifiers import Prints, is_told, may_be_one, pairs
from tests.rows import every


@every(
    "one, other, expected",
    [
        (["LX284437"], ["LX28443T7"], [(0, 0)]),
        (["LX28443T7"], ["LX28443"], [(0, 0)]),
        (["LX284437"], ["LX284438"], []),
        (["LX284437", "LX284438"], ["LX28443T7"], []),
        (["LX284437"], ["LX28443T7", "LX284439"], []),
        (["LX284431"], ["LX28443T7"], [(0, 0)]),
        (["XS2250154"], ["XS2250154494"], [(0, 0)]),
        (["XS2250154"], ["XS2250154494", "XS2250154577"], []),
        (["XS2250154", "XS22501544"], ["XS2250154494"], []),
        (["XS22"], ["XS2250154494"], []),
        (["XS2250154494"], ["XS2250154494"], []),
        (["A" * 500], ["A" * 501], []),
    ],
)
def test_prints_are_paired_where_no_other_loan_can_be_meant(
    one: list[str], other: list[str], expected: list[tuple[int, int]]
) -> None:
    assert list(pairs(Prints(one), Prints(other))) == expected
    assert sorted(pairs(Prints(other), Prints(one))) == [(j, i) for i, j in expected]


@every(
    "one, other, may_be, told",
    [
        ("LX284437", "LX28443T7", True, True),
        ("LX284431", "LX28443T7", True, False),
        ("LX28443", "LX28443T7", True, True),
        ("LX284437", "LX284438", False, False),
        ("LX28443T7", "LX28443T8", False, False),
        ("XS2250154", "XS2250154494", True, True),
        ("XS2250154", "XS2250155", False, True),
    ],
)
def test_what_contradicts_is_no_print_of_the_same(one: str, other: str, may_be: bool, told: bool) -> None:
    assert (may_be_one(one, other), is_told(one, other)) == (may_be, told)
