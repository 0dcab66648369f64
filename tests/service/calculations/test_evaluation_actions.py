"""What an evaluation hands on beside its value is what the formula itself says, asked once or again."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from core.formula import FUNCTIONS
from core.formula import compile as compile_formula
from service.calculations import schema
from service.calculations.actions import NO_BOOKS
from service.calculations.evaluation_actions import (
    REMEMBERED_CHARACTERS,
    EncodedEvaluation,
    EvaluateOrder,
    _mentions,
    answer,
    without_limit,
)

TERMS = st.sampled_from(
    ["A1", "$B$2", "A1:C3", "Rate", "'My Sheet'!D4", "1.5", '"x"', "TRUE", "PI()", "YIELD(1,2,3,4,5,2)"]
)
CONTEXT: schema.Cells = {"Rate": 2, "'My Sheet'!D4": 4}
CONTEXT |= {f"{column}{row}": row for column in "ABC" for row in (1, 2, 3)}
FORMULAS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/&="), inner).map("".join),
        st.tuples(st.sampled_from(["SUM", "COUNT", "MAX", "CONCAT"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda call: f"{call[0]}({','.join(call[1])})"
        ),
        inner.map(lambda text: f"IFERROR({text},0)"),
    ),
    max_leaves=40,
).map("=".__add__)


@given(FORMULAS)
def test_mentions_and_warnings_are_the_formulas_own(formula: str) -> None:
    order = EvaluateOrder(
        formula=formula,
        context=CONTEXT,
        sheet_name=None,
        options=schema.Options(error_handling="excel"),
        debug=False,
        now=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=5.0,
    )
    expected = compile_formula(formula).evaluate(CONTEXT)
    cautions = [FUNCTIONS[name] for name in expected.functions_used if FUNCTIONS[name].caution]
    for _ in range(2):
        reply = answer(order, NO_BOOKS, without_limit)
        assert isinstance(reply, EncodedEvaluation)
        assert reply.cell_references == expected.cell_references
        assert reply.functions_used == expected.functions_used
        assert [warning.message for warning in reply.warnings] == [f"{row.name}: {row.caution}" for row in cautions]


def test_a_long_formula_is_not_remembered() -> None:
    before = _mentions.cache_info().currsize
    order = EvaluateOrder(
        formula="=" + "+".join(["A1"] * REMEMBERED_CHARACTERS),
        context={"A1": 1},
        sheet_name=None,
        options=schema.Options(),
        debug=False,
        now=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=5.0,
    )
    reply = answer(order, NO_BOOKS, without_limit)
    assert isinstance(reply, EncodedEvaluation)
    assert _mentions.cache_info().currsize == before
