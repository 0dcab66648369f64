"""What a mapping does with one field: its part of the mapping, and the cells that the reader of holdings is given."""

from __future__ import annotations

import numpy as np
import pytest

from core.portfolio.fields import Field, Mapping, Rule, Transform
from core.portfolio.profile import pipeline
from core.portfolio.profile.normalise import cells_from_values
from core.portfolio.profile.pipeline import Work, constant, prepared, works


def test_each_field_has_its_own_transforms_and_rules() -> None:
    mapping = Mapping(
        "own",
        "Own",
        "custom",
        (Field("a", "number"), Field("b", "string")),
        (Field("c", "date"),),
        transforms=(Transform("b", "trim"), Transform("a", "round", {"decimals": 1}), Transform("b", "uppercase")),
        rules=(Rule("a", "positive"),),
    )
    found = works(mapping)
    assert list(found) == ["a", "b", "c"]
    assert [one.operation for one in found["b"].transforms] == ["trim", "uppercase"]
    assert (found["a"].says_unit, found["b"].says_unit) == (True, False)
    assert [rule.rule for rule in found["a"].rules] == ["positive"]


def test_a_field_without_a_column_has_its_default_or_blanks() -> None:
    assert constant(Work(Field("a", "string", default="x")), 2).column.python(slice(None)) == ["x", "x"]
    missing = constant(Work(Field("a", "date", required=True)), 2)
    assert missing.column.python(slice(None)) == [None, None]
    assert [(one.rule, one.rows.tolist()) for one in missing.findings] == [("required", [0, 1])]


def test_what_is_lost_gets_no_default_and_breaks_no_rule() -> None:
    work = Work(Field("a", "number", required=True, default=7.0), rules=(Rule("a", "positive"),))
    outcome = pipeline.run(work, cells_from_values(["x", None, -1]), lambda _target, numbers: numbers.values)
    assert outcome.column.python(slice(None)) == [None, 7.0, -1.0]
    assert [(one.rule, one.rows.tolist()) for one in outcome.findings] == [("type", [0]), ("positive", [2])]


def test_numbers_keep_their_marks_when_only_a_lookup_is_made() -> None:
    work = Work(Field("a", "number", default=1.0), (Transform("a", "lookup", {"mapping": {"call": None}}),))
    cells, lost = prepared(work, cells_from_values(["3.5%", "Call", "?"]))
    assert lost == 0
    assert [pipeline.cell_value(cells, row) for row in range(3)] == ["3.5%", None, "?"]


def test_lost_cells_are_counted_and_blank() -> None:
    work = Work(Field("a", "number"), (Transform("a", "multiply", {"factor": 2}),))
    cells, lost = prepared(work, cells_from_values(["3", "?", None]))
    assert lost == 1
    assert [pipeline.cell_value(cells, row) for row in range(3)] == [6.0, None, None]
    assert np.array_equal(cells.codes, [-1, -1, -1])


@pytest.mark.parametrize("rule", ["required", "unique"])
def test_failures_are_counted_by_rule(rule: str) -> None:
    column = constant(Work(Field("a", "string")), 3).column
    counts = pipeline.failures(Work(Field("a", "string"), rules=(Rule("a", rule),)), column)
    assert counts == ({"required": 3} if rule == "required" else {})
