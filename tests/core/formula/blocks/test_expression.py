"""The formula of a block, with or without its equals sign."""

from __future__ import annotations

import pytest

from core.formula.blocks.expression import read
from core.formula.language import FormulaError
from tests.rows import every


@every("formula, position", [("1+*2", 2), ("=1+*2", 3), ("*1", 0), ("=*1", 1), (")", 0), ("=)", 1)])
def test_a_fault_has_its_place_in_the_text_that_was_given(formula: str, position: int) -> None:
    with pytest.raises(FormulaError) as refused:
        read(formula)
    assert refused.value.position == position


@every("formula", ["a+B*[Par]+a", "=a+B*[Par]+a"])
def test_what_a_formula_reads(formula: str) -> None:
    expression = read(formula)
    assert expression.ports == {"a": 2, "b": 1}
    assert expression.columns == {"par"}
