"""How one report shows numbers.

Typed under a number format, or as text; and blocks of cells with what they print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from tests.core.portfolio.conftest import Shown

Way = Literal["typed", "text", "comma"]
"""typed: numbers under number formats. text: "1,234.56". comma: "1.234,56"."""

Deduction = Literal["negative", "parentheses", "less", "section", "plain"]
"""How an amount that is taken off is printed. negative: below zero. parentheses: below zero, shown in parentheses.
less: above zero behind the word Less. section: above zero in a section Less. plain: above zero, and no word says it."""

Row = list[Any]


@dataclass(frozen=True)
class Style:
    """Of a whole report."""

    way: Way
    percent: Literal["fraction", "points"]
    """A typed percentage: 1.3067 under 0.00 %, or 130.67."""
    deduction: Deduction
    is_total_above: bool

    def amount(self, cents: int | None, *, is_deducted: bool = False) -> Any:
        """Return money; with parentheses below zero where the report has them."""
        if cents is None:
            return None
        value = (-cents if is_deducted and self.deduction in ("negative", "parentheses") else cents) / 100
        in_parentheses = self.deduction == "parentheses"
        if self.way == "typed":
            return Shown(value, "#,##0.00_);(#,##0.00)" if in_parentheses else "#,##0.00")
        text = f"{abs(value):,.2f}"
        text = f"({text})" if value < 0 and in_parentheses else f"-{text}" if value < 0 else text
        return self._local(text)

    def figure(self, value: float | None, unit: str, decimals: int, *, is_rounded: bool = True) -> Any:
        """Return a test's value or limit in its unit."""
        if value is None:
            return None
        shown = round(value + 1e-12, decimals) if is_rounded or unit != "percent" else value
        digits = "." + "0" * decimals if decimals else ""
        if self.way != "typed":
            return self._local(f"{shown:,.{decimals}f}" + ("%" if unit == "percent" else ""))
        if unit == "percent" and self.percent == "fraction":
            return Shown(round(shown / 100, 10), f"0{digits}%")
        return Shown(shown, f"#,##0{digits}")

    def bound(self, value: float | None, unit: str, decimals: int, side: str, *, is_word: bool) -> Any:
        """Return a limit with its side in one text."""
        if value is None:
            return "N/A"
        number = self._local(f"{value:,.{decimals}f}") + ("%" if unit == "percent" else "")
        if is_word:
            return f"{'Min' if side == 'min' else 'Max'} {number}"
        return f"{'>=' if side == 'min' else '<='} {number}"

    def _local(self, text: str) -> str:
        return text.translate(str.maketrans(",.", ".,")) if self.way == "comma" else text


def style_of(rng: Random) -> Style:
    return Style(
        way=rng.choice(["typed", "typed", "typed", "text", "comma"]),
        percent=rng.choice(["fraction", "fraction", "points"]),
        deduction=rng.choice(["negative", "parentheses", "less", "section", "plain"]),
        is_total_above=rng.random() < 0.15,
    )


@dataclass
class Expectation:
    """What one cell says, for the reader to find."""

    kind: str
    """A kind of fact."""
    label: str
    value: float | None
    row: int
    column: int
    within: float = 0.0
    """Half a unit of the last digit that is shown."""
    subject: dict[str, Any] = field(default_factory=dict)
    numerator: float | None = None
    denominator: float | None = None
    trigger: float | None = None
    side: str | None = None
    status: str | None = None
    sheet: str = ""

    @property
    def place(self) -> str:
        sheet = self.sheet.replace("'", "''")
        return f"'{sheet}'!{column_letters(self.column)}{self.row + 1}"


@dataclass
class Block:
    """Rows of cells, and what they say; places within the block."""

    rows: list[Row] = field(default_factory=list)
    says: list[Expectation] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max((len(row) for row in self.rows), default=0)

    def add(self, *cells: Any) -> int:
        """Add a row and return its number."""
        self.rows.append(list(cells))
        return len(self.rows) - 1

    def below(self, other_block: Block, gap: int = 1) -> Block:
        """Return this block with another one below it."""
        at = len(self.rows) + gap
        rows = self.rows + [[] for _ in range(gap)] + other_block.rows
        return Block(rows, self.says + _moved(other_block.says, at, 0))

    def beside(self, other_block: Block, gap: int = 1) -> Block:
        """Return this block with another one to its right, both from the first row."""
        at = self.width + gap
        rows = []
        for row in range(max(len(self.rows), len(other_block.rows))):
            left = self.rows[row] if row < len(self.rows) else []
            right = other_block.rows[row] if row < len(other_block.rows) else []
            rows.append(left + [None] * (at - len(left)) + right)
        return Block(rows, self.says + _moved(other_block.says, 0, at))


def _moved(says: Sequence[Expectation], rows: int, columns: int) -> list[Expectation]:
    return [replace(figure, row=figure.row + rows, column=figure.column + columns) for figure in says]


def column_letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
