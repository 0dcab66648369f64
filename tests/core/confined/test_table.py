"""Each row of the table fits the function that it names."""

from __future__ import annotations

from typing import get_type_hints

from core.confined import table
from core.confined.table import ConfinedWork
from core.confined.wire import named
from core.files.probe import PROBE
from service.reconciliation.child import COMPARE

ROWS = [*(row for row in vars(table).values() if isinstance(row, ConfinedWork)), PROBE, COMPARE]


def test_a_row_states_what_its_function_takes_and_gives() -> None:
    assert len(ROWS) >= 5
    for row in ROWS:
        hints = get_type_hints(named(row.does))
        assert (hints["order"], hints["return"]) == (row.order, row.answer), row.does


def test_a_rows_refusals_are_made_of_their_message() -> None:
    for row in ROWS:
        assert [str(named(name)("Why.")) for name in row.refusals] == ["Why."] * len(row.refusals), row.does
