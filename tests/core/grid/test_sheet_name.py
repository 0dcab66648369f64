"""Names of sheets, as files have them and as formulas write them."""

from __future__ import annotations

from core.grid.sheet_name import free_name, in_quotes
from tests.rows import every


@every(
    "names, cleaned",
    [
        (["Loans", "Control"], ["Loans", "Control (2)"]),
        (["a/b*c", "A_B_C", "x" * 40], ["a_b_c", "A_B_C (2)", "x" * 31]),
        (["x" * 31, "x" * 32], ["x" * 31, "x" * 27 + " (2)"]),
        (["'quoted'", "", "\x00"], ["quoted", "Sheet", "_"]),
        (["😀" * 20], ["😀" * 15]),
    ],
)
def test_written_names_can_be_and_are_distinct(names: list[str], cleaned: list[str]) -> None:
    taken = {"control"}
    assert [free_name(name, taken) for name in names] == cleaned


def test_names_are_quoted() -> None:
    assert [in_quotes(name) for name in ("Loans", "Q1 '24", "2024")] == ["'Loans'", "'Q1 ''24'", "'2024'"]
