"""What a mapping does with one field.

Its part of the mapping, and what is typed, filled up and found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.portfolio.mapping.normalise import cells_from_values
from core.portfolio.mapping.pipeline import (
    FieldColumn,
    FieldWork,
    check,
    constant,
    run,
    works,
)
from core.portfolio.model.fields import Field, FieldRule, Mapping, Transform


def test_each_field_has_its_own_transforms_and_rules() -> None:
    mapping = Mapping(
        "own",
        "Own",
        "custom",
        (Field("a", "number"), Field("b", "string")),
        (Field("c", "date"),),
        transforms=(Transform("b", "trim"), Transform("a", "round", {"decimals": 1}), Transform("b", "uppercase")),
        rules=(FieldRule("a", "positive"),),
    )
    by_target = works(mapping)
    assert list(by_target) == ["a", "b", "c"]
    assert [transform.operation for transform in by_target["b"].transforms] == ["trim", "uppercase"]
    assert (by_target["a"].says_unit, by_target["b"].says_unit) == (True, False)
    assert [rule.rule for rule in by_target["a"].rules] == ["positive"]


def test_a_field_without_a_column_has_its_default_or_blanks() -> None:
    assert constant(FieldWork(Field("a", "string", default="x")), 2).column.python(slice(None)) == ["x", "x"]
    work = FieldWork(Field("a", "date", required=True))
    missing = constant(work, 2)
    check(work, missing)
    assert missing.column.python(slice(None)) == [None, None]
    assert rules_and_rows(missing) == [("required", [0, 1])]


def test_what_is_lost_gets_no_default_and_breaks_no_rule() -> None:
    work = FieldWork(Field("a", "number", required=True, default=7.0), rules=(FieldRule("a", "positive"),))
    outcome = typed(work, ["x", None, -1])
    check(work, outcome)
    assert outcome.column.python(slice(None)) == [None, 7.0, -1.0]
    assert rules_and_rows(outcome) == [("type", [0]), ("positive", [2])]


def test_only_what_states_a_unit_keeps_it_from_being_told() -> None:
    lookup = FieldWork(Field("a", "number"), (Transform("a", "lookup", {"mapping": {"call": None}}),))
    assert typed(lookup, ["3.5", "Call"], 100.0).column.python(slice(None)) == [350.0, None]
    doubled = FieldWork(Field("a", "number"), (Transform("a", "multiply", {"factor": 2}),))
    assert typed(doubled, ["3.5", "Call"], 100.0).column.python(slice(None)) == [7.0, None]


@pytest.mark.parametrize("rows", [slice(1, 4), np.array([1, 3]), slice(0, 0)])
def test_some_rows_of_an_outcome_keep_what_was_found_in_them(rows: Any) -> None:
    outcome = typed(FieldWork(Field("a", "number")), ["x", "y", 2, "z", None])
    part = outcome.take(rows)
    places = list(range(5))[rows] if isinstance(rows, slice) else rows.tolist()
    assert part.column.python(slice(None)) == [outcome.column.python(slice(None))[at] for at in places]
    (finding,) = part.findings
    assert finding.values(finding.rows) == [{1: "y", 3: "z"}[at] for at in places if at in (1, 3)]
    assert part.lost is not None
    assert np.flatnonzero(part.lost).tolist() == finding.rows.tolist()


def rules_and_rows(outcome: FieldColumn) -> list[tuple[str, list[int]]]:
    return [(finding.rule, finding.rows.tolist()) for finding in outcome.findings]


def typed(work: FieldWork, values: list[Any], factor: float = 1.0) -> FieldColumn:
    return run(work, cells_from_values(values), lambda _target, numbers: numbers.values * factor)
