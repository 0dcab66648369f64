"""What the guide says of definitions is all that the schema has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.definition.definition import Definition
from core.definition.describe import described
from core.definition.formulas import FUNCTIONS
from core.definition.keys import ListKey, TableKey, rows_of
from core.definition.terms import DENOMINATORS, LOAN_FLAGS, LOAN_MADE, LOAN_NUMBERS, LOAN_TEXTS, MEASURES, TOTALS


def keys(of: type[Any]) -> Iterator[str]:
    """Every key of a table and of those in it."""
    for row in rows_of(of):
        kind = row.metadata["kind"]
        kind = kind.kind if isinstance(kind, ListKey) else kind
        if isinstance(kind, TableKey):
            yield from keys(kind.of)
        else:
            yield row.name.rstrip("_")


def test_nothing_of_the_schema_is_left_out() -> None:
    page = described()
    rows = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")}
    assert {*keys(Definition), *MEASURES, *LOAN_MADE, *TOTALS} <= rows
    for name in (*LOAN_NUMBERS, *LOAN_TEXTS, *LOAN_FLAGS, *DENOMINATORS, *FUNCTIONS):
        assert name in page
