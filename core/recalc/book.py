"""A workbook that calculates: what `core.read` gives, and books made of columns without a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.files.kinds import file_kind
from core.files.read import read as read_file
from core.formula import parse_or_suggest
from core.formula.machine import compile as compile_tree
from core.grid.address import ROWS_MAX, column_index, parse_cell
from core.grid.column import Text
from core.grid.sheet import Formulas, Sheet, Table, Value, Workbook
from core.recalc.environment import BookEnvironment
from core.recalc.errors import BadReference, BadValue, UnknownSheet
from core.recalc.result import Recalculation, count_cells
from core.recalc.snapshot import sheets_of
from core.recalc.store import TEXT_CHARACTERS_MAX
from core.values import to_serial

if TYPE_CHECKING:
    from core.recalc.engine import Engine

_NO_TEXT: Final = Text(np.zeros(1, np.int64), np.zeros(0, np.uint8))
_NO_PLACES: Final = np.zeros(0, np.int32)

CellValue = float | str | bool | date | datetime | None
"""What a cell may be set to; a text that begins with '=' is a formula."""


def read(path: Path | str) -> Book:
    """Read a file (.xlsx, .xlsm, .xls, .xlsb, .ods, .csv, .zip), or a folder of such, whole as a book that calculates.

    A file from a stranger belongs in `core.files.isolate.parse_isolated`. Only .xlsx and .xlsm bring formulas, all else
    its values. What is neither of these nor text is always read in a child process, since a damaged file of the other
    kinds may end the process that reads it.

    Raises:
        FileRefused: `InvalidFormat`, `FileTooLarge`, `TooManySheets` or `ParseFailed`, with the cause as its `hint`.
        OSError: the file cannot be opened.
    """
    path = Path(path)
    if not path.is_dir() and file_kind(path) in ("xlsx", "csv"):
        return Book(read_file(path))
    from core.files.isolate import read_isolated  # the child that recalculates starts no child

    return Book(read_isolated(path))


class Book(Workbook):
    """A workbook whose formulas can be calculated, and whose cells can be set. Not shared between threads.

        book = core.read("deal.xlsx")
        book.set("Inputs", "B3", 0.05)
        for row in book.recalculate():
            print(row.sheet, row.cell, row.formula, row.value)

    The first calculation computes every formula cell from scratch, each later one what the edits since then touch (and
    the volatile formulas: TODAY, RAND, OFFSET, ...). `sheets` shows the values of the last calculation.
    """

    __slots__ = ("_current", "_engine", "_original")

    def __init__(self, workbook: Workbook) -> None:
        put = object.__setattr__
        put(self, "_original", workbook)
        put(self, "_engine", None)
        put(self, "_current", workbook.sheets)
        for name in ("date_1904", "number_formats", "defined_names", "local_names", "tables", "left_out"):
            put(self, name, getattr(workbook, name))

    _original: Workbook
    _engine: Engine | None
    _current: tuple[Sheet, ...] | None

    @classmethod
    def from_columns(
        cls,
        sheets: Mapping[str, Mapping[str, Sequence[Any] | NDArray[Any]]],
        *,
        names: Mapping[str, str] | None = None,
        tables: Sequence[Table] = (),
        date_1904: bool = False,
    ) -> Book:
        """A book of sheet name -> column letters -> values from row 1 down: numbers, text, booleans, None, formulas.

        Raises:
            BookError: bad letters, too many rows, a value that no cell can hold.
        """
        made = tuple(
            Sheet(name, at, "visible", (), 0, _NO_TEXT, _no_formulas()) for at, name in enumerate(sheets)
        )  # fmt: skip
        book = cls(Workbook(made, date_1904, ("General",), dict(names or {}), {}, tuple(tables)))
        engine = book._started()
        for at, columns in enumerate(sheets.values()):
            for letters, values in columns.items():
                if len(values) > ROWS_MAX:
                    raise BadValue(f"a column holds at most {ROWS_MAX:,} rows")
                engine.read_column(at, _column(letters), values, book._checked)
        object.__setattr__(book, "_current", None)
        return book

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The worksheets, with the values of the last calculation and the edits since."""
        if self._current is None:
            assert self._engine is not None
            object.__setattr__(self, "_current", sheets_of(self._engine))
        assert self._current is not None
        return self._current

    def set(self, sheet: str, ref: str, value: CellValue) -> None:
        """Set one cell to a constant or to a formula; what depends on it changes with the next `recalculate`.

        Raises:
            UnknownSheet, BadReference, BadValue, PartOfArray: as their names say (all are `BookError`).
            SyntaxFault: the text is no formula; with position and suggestions.
        """
        engine = self._engine or self._started()
        index = engine.sheet_index.get(sheet)
        if index is None:
            index = self._sheet(sheet)
        try:
            row, column = parse_cell(ref)
        except ValueError as error:
            raise BadReference(str(error)) from None
        if type(value) is not float or not math.isfinite(value):
            value = self._checked(value)
        if type(value) is str and len(value) > 1 and value[0] == "=":
            engine.put_formula(index, row, column, value)
        else:
            engine.put_value(index, row, column, value)
        object.__setattr__(self, "_current", None)

    def set_column(self, sheet: str, column: str, values: Sequence[Any] | NDArray[Any], *, first_row: int = 1) -> None:
        """Set many cells of one column to constants, from `first_row` (1-based) down; NaN is blank.

        Raises:
            BookError: as `set`.
        """
        engine = self._engine or self._started()
        index, at = self._sheet(sheet), _column(column)
        if not 1 <= first_row <= first_row + len(values) - 1 <= ROWS_MAX:
            raise BadReference(f"rows {first_row} to {first_row + len(values) - 1} are outside a sheet")
        engine.put_column(index, at, first_row - 1, values, self._checked)
        object.__setattr__(self, "_current", None)

    def value(self, sheet: str, ref: str) -> Value:
        """The value of one cell as of the last calculation: errors as their text, dates as serials, None for blank.

        Raises:
            UnknownSheet, BadReference: as their names say.
        """
        index = self._sheet(sheet)
        try:
            row, column = parse_cell(ref)
        except ValueError as error:
            raise BadReference(str(error)) from None
        engine = self._engine
        return self._original.sheets[index].value(row, column) if engine is None else engine.plain(index, row, column)

    def formula(self, sheet: str, ref: str) -> str | None:
        """The formula of one cell with its '='; of a filled or spilled cell that of its array formula; else None.

        Raises:
            UnknownSheet, BadReference: as their names say.
        """
        index = self._sheet(sheet)
        try:
            row, column = parse_cell(ref)
        except ValueError as error:
            raise BadReference(str(error)) from None
        region = (self._engine or self._started()).owner(index, row, column)
        return None if region is None else region.formula(row, column)

    def recalculate(
        self,
        *,
        now: datetime | None = None,
        random: Callable[[], float] | None = None,
        seconds_max: float = math.inf,
    ) -> Recalculation:
        """Calculate what the edits touched; the first time every formula.

        Args:
            now: the moment of TODAY and NOW, without zone; without it their cells keep their values (see `faults`).
            random: a source of numbers in [0, 1) for RAND and its family; without it theirs keep them too.
            seconds_max: the calculation is given up after so many seconds; what it did stays, the rest still waits.

        Raises:
            LimitExceeded: it took longer.
        """
        engine = self._engine or self._started()
        begin = perf_counter()
        touched, cycles, faults = engine.calculate(now, random, monotonic() + seconds_max)
        object.__setattr__(self, "_current", None)
        named = tuple(tuple(engine.place(*cell) for cell in cycle) for cycle in cycles)
        return Recalculation(perf_counter() - begin, count_cells(touched), named, engine, touched, faults)

    def environment(
        self, now: datetime | None = None, random: Callable[[], float] | None = None, sheet: str | None = None
    ) -> BookEnvironment:
        """An environment over the cells as they stand, for formulas of no cell; it stands in A1 of `sheet` (default:
        the first).

        Raises:
            UnknownSheet: no sheet has the name.
        """
        engine = self._engine or self._started()
        index = 0 if sheet is None else self._sheet(sheet)
        environment = engine.environment
        environment.clocks(now, random, math.inf)
        environment.place(index, 0, 0)
        return environment

    def evaluate(self, formula: str, sheet: str | None = None) -> Any:
        """The value of a formula over this book's cells as they stand (`core.formula.values`).

        Raises:
            FormulaError: it cannot be read or calculated.
            UnknownSheet: no sheet has the name.
        """
        environment = self.environment(sheet=sheet)
        return compile_tree(parse_or_suggest(formula), arrays=True, text=formula).run(environment)

    def _started(self) -> Engine:
        from core.recalc.engine import Engine  # with all functions, which a book that is only read does without

        engine = Engine(self._original)
        engine.load()
        object.__setattr__(self, "_engine", engine)
        return engine

    def _sheet(self, name: str) -> int:
        folded = name.casefold()
        for sheet in self._original.sheets:
            if sheet.name.casefold() == folded:
                return sheet.index
        raise UnknownSheet(f"the book has no sheet {name!r}")

    def _checked(self, value: Any) -> Any:
        """A value as a cell holds it."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, date):
            return to_serial(value, date_1904=self.date_1904)
        if isinstance(value, int | float):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if not math.isfinite(number):
                raise BadValue("a cell holds no infinite number and no NaN")
            return number
        if not isinstance(value, str):
            raise BadValue(f"a cell cannot hold a {type(value).__name__}")
        if len(value) > TEXT_CHARACTERS_MAX and not value.startswith("="):
            raise BadValue(f"a cell holds at most {TEXT_CHARACTERS_MAX:,} characters")
        return value


def _column(letters: str) -> int:
    try:
        return column_index(letters)
    except ValueError as error:
        raise BadReference(str(error)) from None


def _no_formulas() -> Formulas:
    return Formulas(_NO_PLACES, _NO_PLACES, _NO_PLACES, _NO_PLACES, _NO_TEXT, {})
