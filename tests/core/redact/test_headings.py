"""What a heading claims below it, down to where another table begins."""

from __future__ import annotations

from typing import Any

from tests.core.redact.conftest import cells, redacted
from tests.rows import every

HEAD: list[Any] = ["Analyst", "Par", "A", "B"]


@every(
    "below, claimed",
    [
        ([["Ann Lee", 4.0, 5.0, 6.0]], True),  # a row of values: the table goes on behind the gap
        ([["Ann Lee", "x", "y", "z"]], True),  # texts, and no numbers below
        ([["Ann Lee", "Par", "C", "D"], ["John Smith", 7.0, 8.0, 9.0]], False),  # a head above numbers
        ([["Ann Lee", None, None, None]], False),  # a single note
    ],
)
def test_a_heading_claims_what_goes_on_behind_a_gap(below: list[list[Any]], claimed: bool) -> None:
    rows = cells(redacted(S=[HEAD, ["Jane Doe", 1.0, 2.0, 3.0], [], *below]).workbook)
    assert rows[1][0] == "J*** D***"
    assert rows[3][0] == ("A*** L***" if claimed else "Ann Lee")
    assert rows[4:] == below[1:]


@every("value, after", [(True, True), ("none", "none"), (2125550123.0, "***23")])
def test_a_label_claims_what_its_neighbour_can_be(value: Any, after: Any) -> None:
    assert cells(redacted(S=[["Phone:", value]]).workbook) == [["Phone:", after]]


def test_a_label_takes_nothing_from_a_row_of_numbers() -> None:
    """A heading stands among texts."""
    rows = [["Analyst", 1.0, 2.0, 3.0], ["Ann Lee", 4.0, 5.0, 6.0]]
    assert cells(redacted(S=rows).workbook) == rows
