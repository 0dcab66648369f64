"""The other formula engines, behind the few calls that the benchmarks need; `make bench` installs them, users do not.

Each is used as its documentation shows: values and formulas in batches where it has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

SHEET = "S"


class Peer(Protocol):
    """One sheet of another engine; rows and columns from 1."""

    def put(self, column: int, values: Sequence[Any]) -> None:
        """Fill a column from the first row."""

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        """Fill a column with formulas."""

    def calculate(self) -> None:
        """Recalculate."""

    def value(self, row: int, column: int) -> Any:
        """One cell, calculated."""


class Formualizer:
    """formualizer (Rust): recalculates what changed."""

    def __init__(self) -> None:
        import formualizer

        self._book: Any = formualizer.Workbook()
        self._book.add_sheet(SHEET)

    def put(self, column: int, values: Sequence[Any]) -> None:
        self._book.set_values_batch(SHEET, 1, column, [[value] for value in values])

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        self._book.set_formulas_batch(SHEET, 1, column, [[text] for text in texts])

    def calculate(self) -> None:
        self._book.evaluate_all()

    def value(self, row: int, column: int) -> Any:
        return self._book.get_value(SHEET, row, column)


class Ironcalc:
    """ironcalc (Rust): it has no batches, and recalculates everything."""

    def __init__(self) -> None:
        import ironcalc

        self._model: Any = ironcalc.create("bench", "en", "UTC", "en")

    def put(self, column: int, values: Sequence[Any]) -> None:
        for row, value in enumerate(values, 1):
            if isinstance(value, str):
                self._model.update_cell_with_text(0, row, column, value)
            else:
                self._model.update_cell_with_number(0, row, column, value)

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        for row, text in enumerate(texts, 1):
            self._model.update_cell_with_formula(0, row, column, text)

    def calculate(self) -> None:
        self._model.evaluate()

    def value(self, row: int, column: int) -> Any:
        return self._model.get_cell_value(0, row, column)


class Formulas:
    """formulas (Python): one formula compiled to a function of its ranges."""

    def __init__(self, text: str) -> None:
        import formulas

        self._function: Any = formulas.Parser().ast(text)[1].compile()

    def __call__(self, *ranges: Any) -> Any:
        return self._function(*ranges)
