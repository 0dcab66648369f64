"""Words and figures of payment frequencies as payments a year."""

from __future__ import annotations

from core.compliance.frequency import payments_a_year
from tests.rows import every


@every(
    "text, often",
    [
        ("Quarterly", 4), ("3M", 4), ("3 Months", 4), ("every three months", 4), ("Q", 4), ("91 days", 4), ("4x", 4),
        ("Semi-Annual", 2), ("Semi-Annually", 2), ("6 Month", 2), ("182 D", 2), ("half-yearly", 2), ("2 per annum", 2),
        ("Annual", 1), ("12M", 1), ("1 year", 1), ("yearly", 1), ("365 days", 1), ("Monthly", 12), ("1M", 12),
        ("Bi-Monthly", 6), ("weekly", 52), ("18 months", 12 / 18), ("24M", 0.5),
        ("by agreement", None), ("", None), ("0M", None), ("0x", None), ("1M / 3M", None), ("Quarterly, Monthly", None),
        ("9" * 10_000 + " months", None), ("every " * 5_000, None),
    ],
    ids=lambda row: row[0][:20],
)  # fmt: skip
def test_a_text_says_how_often(text: str, often: float | None) -> None:
    assert payments_a_year([text]) == [often]


@every(
    "texts, often",
    [
        (["4", "12", "2", "1"], [4, 12, 2, 1]), (["4.00", "0", "1"], [4, None, 1]),
        (["3", "6", "12", "1"], [4, 2, 1, 12]), (["3", "Semi-Annual"], [4, 2]),
        (["1", "12"], [None, None]), (["3", "4"], [None, None]), (["5"], [None]), (["90"], [None]),
    ],
)  # fmt: skip
def test_bare_figures_are_payments_or_months_by_the_columns_others(texts: list[str], often: list[float | None]) -> None:
    assert payments_a_year(texts) == often
