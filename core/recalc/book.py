"""A workbook that calculates.

What `cushion.read` gives, and books made of columns without a file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from io import TextIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from core.checked import checked
from core.files.kinds import file_kind
from core.files.limits import FILE_BYTES_MAX
from core.files.read import read as read_file
from core.files.read import read_files
from core.files.source import FileState, checked_size
from core.formula import parse_or_suggest
from core.formula.language import LimitExceeded
from core.formula.machine import compile as compile_tree
from core.formula.values import DEFAULT, Locally, known_locale, locale_of
from core.frames.brief import value_shown
from core.frames.given import cell_value, listed, table_of
from core.grid.address import ROWS_MAX, column_index, column_name, parse_cell
from core.grid.column import Text
from core.grid.sheet import BlankFormulas, Formulas, Sheet, Table, Value, Workbook
from core.recalc.blank import BLANK_CELLS_MAX, BlankRows, blank_formulas, count_blank, note
from core.recalc.doubts import doubts_of
from core.recalc.environment import BookEnvironment
from core.recalc.errors import BadReference, BadValue, NotSaved, UnknownSheet
from core.recalc.result import Recalculation, count_cells
from core.recalc.snapshot import sheets_of
from core.recalc.store import TEXT_CHARACTERS_MAX
from core.values import to_serial
from core.words import counted

if TYPE_CHECKING:
    from core.recalc.engine import Engine
    from core.recalc.outcome import CalculationOutcome

_NO_TEXT: Final = Text(np.zeros(1, np.int64), np.zeros(0, np.uint8))
_NO_PLACES: Final = np.zeros(0, np.int32)

_KEPT: Final = (
    "date_1904", "number_formats", "defined_names", "local_names", "tables", "pivots", "left_out", "language", "filled",
    "calculation", "doubts", "remarks",
)  # fmt: skip
"""What a book takes over of its workbook as it is."""

FILLING_SECONDS_MAX: Final = 60.0
"""How long formulas without values are calculated when a file is read; those that are left are blank."""

CellValue = float | str | bool | date | datetime | None
"""What a cell may be set to; a text that begins with '=' is a formula."""


File = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A file or a folder by its path, the bytes of a file, or a file that is open for reading bytes."""


@checked
def read(
    path: File | Any,
    *,
    name: str | None = None,
    now: datetime | None = None,
    random: Callable[[], float] | None = None,
) -> Book:
    """Read a file, or a folder of files, whole as a book that calculates.

    It may be .xlsx, .xlsm, .xls, .xlsb, .ods, .xml, .html, .pdf, .csv or .zip.
    `path` may also be the bytes of a file, or a file that is open for reading bytes (from where it stands). `name` is
    what such a file is called, in messages and as the sheet of a .csv.

    Formulas of an .xlsx, .xlsm or .xml that came without values are calculated at once, with `now` and `random` as in
    `Book.recalculate`. In an archive or a folder they are only with `now`. `Book.filled` tells of them. A file from a
    stranger belongs in `core.files.isolate.parse_isolated`. Only .xlsx, .xlsm and SpreadsheetML (.xml) bring formulas,
    all else its values. What is neither .xlsx nor .xlsm nor text is always read in a child process: a damaged file
    may end its reader.

    Raises:
        FileRefused: `InvalidFormat`, `FileTooLarge`, `TooManySheets` or `ParseFailed`, with the cause as its `hint`.
        TypeError: `path` is neither, or a file that is open for text.
        OSError: the file cannot be opened.
    """
    if not isinstance(path, str | os.PathLike):
        return _read_bytes(_bytes_of(path), name or _name_of(path), now, random)
    path = Path(path)
    if not path.is_dir() and file_kind(path) in ("xlsx", "csv"):
        origin = FileState.of(path)
        book = Book(read_file(path), origin)
        book.fill_blank(now=now, random=random)
        return book
    from core.files.isolate import read_isolated  # the child that recalculates starts no child

    book = Book(read_isolated(path, now=now))
    if not path.is_dir() and file_kind(path) in _WITH_FORMULAS:
        book.fill_blank(now=now, random=random)
    return book


_WITH_FORMULAS: Final = frozenset({"xml", "encrypted"})
"""What is read by a child, and may have formulas; those without values are calculated here, as an .xlsx's are."""


def _bytes_of(file: object) -> bytes:
    """Return what stands in a file, as far as the limit of files goes and a byte more."""
    if isinstance(file, bytes | bytearray | memoryview):
        return bytes(file)
    content = file.read(FILE_BYTES_MAX + 1) if hasattr(file, "read") and not isinstance(file, TextIOBase) else None
    if not isinstance(content, bytes):
        is_text = isinstance(file, TextIOBase) or isinstance(content, str)
        raise TypeError(
            'a file is read as bytes: open it with mode "rb"'
            if is_text
            else f"path is a path, bytes, or a file that is open for reading bytes, not {type(file).__name__}"
        )
    return content


def _name_of(file: object) -> str:
    name = getattr(file, "name", None)
    return Path(name).name if isinstance(name, str) else "file"


def _read_bytes(content: bytes, name: str, now: datetime | None, random: Callable[[], float] | None) -> Book:
    checked_size(content)
    if file_kind(content) in ("xlsx", "csv"):
        book = Book(read_files([(name, content)]))
        book.fill_blank(now=now, random=random)
        return book
    with TemporaryDirectory(prefix="cushion-") as folder:
        path = Path(folder, "".join(sign for sign in name if sign.isalnum() or sign in " ._-")[:100] or "file")
        path.write_bytes(content)
        return read(path, now=now, random=random)


def with_values(
    workbook: Workbook,
    *,
    now: datetime | None,
    random: Callable[[], float] | None,
    seconds_max: float = FILLING_SECONDS_MAX,
) -> Workbook:
    """Return the workbook with values in formulas that came without one, and a note of them; itself where all came with
    one.

    With no time nothing is calculated. What cannot be calculated within the limits stays blank, and the note says so.
    """
    book = Book(workbook)
    book.fill_blank(now=now, random=random, seconds_max=seconds_max)
    if book.filled is None:
        return workbook
    return replace(workbook, sheets=book.sheets, filled=book.filled, doubts=book.doubts)


class Book(Workbook):
    """A workbook whose formulas can be calculated, and whose cells can be set.

    Not shared between threads.

        book = cushion.read("deal.xlsx")
        book.set("Inputs", "B3", 0.05)
        for row in book.recalculate():
            print(row.sheet, row.cell, row.formula, row.value)

    The first calculation computes every formula cell from scratch, each later one what the edits since then touch (and
    the volatile formulas: TODAY, RAND, OFFSET, ...). `sheets` shows the values of the last calculation.
    """

    __slots__ = ("_current", "_engine", "_origin", "_original")

    @checked
    def __init__(self, workbook: Workbook, origin: FileState | None = None) -> None:
        """A book of a workbook that was read, from the file `origin` where it is to be saved."""
        put = object.__setattr__
        put(self, "_origin", origin)
        put(self, "_original", workbook)
        put(self, "_engine", None)
        put(self, "_current", workbook.sheets)
        for name in _KEPT:
            put(self, name, getattr(workbook, name))

    _origin: FileState | None
    _original: Workbook
    _engine: Engine | None
    _current: tuple[Sheet, ...] | None

    @classmethod
    @checked
    def from_columns(
        cls,
        sheets: Mapping[str, Mapping[str, Sequence[Any] | NDArray[Any]] | Any],
        *,
        names: Mapping[str, str] | None = None,
        tables: Sequence[Table] = (),
        date_1904: bool = False,
    ) -> Book:
        """Return a book of sheet name -> column letters -> values from row 1 down.

        The values are numbers, text, booleans, None and formulas.

        A frame of pandas, polars, pyarrow or DuckDB in place of the letters is a sheet with its headings in row 1.

        Raises:
            BookError: bad letters, too many rows, a value that no cell can hold.
        """
        new_sheets = tuple(
            Sheet(name, at, "visible", (), 0, _NO_TEXT, _no_formulas()) for at, name in enumerate(sheets)
        )
        book = cls(Workbook(new_sheets, date_1904, ("General",), dict(names or {}), {}, tuple(tables)))
        engine = book._started()
        for at, columns in enumerate(sheets.values()):
            if not isinstance(columns, Mapping):
                named = list(table_of(columns, "a sheet").items())
                columns = {column_name(place): [name, *listed(values)] for place, (name, values) in enumerate(named)}
            for letters, values in columns.items():
                if len(values) > ROWS_MAX:
                    raise BadValue(f"a column holds at most {ROWS_MAX:,} rows")
                engine.read_column(at, _column(letters), values, book._checked)
        object.__setattr__(book, "_current", None)
        return book

    def __repr__(self) -> str:
        named = [] if self._origin is None else [value_shown(self._origin.path.name)]
        return f"Book({', '.join([*named, counted(len(self._original.sheets), 'sheet'), self._formula_counts()])})"

    def _formula_counts(self) -> str:
        if self._current is None and self._engine is not None and self._engine.formulas_changed:
            return "formulas edited"  # they are counted when the sheets are asked for
        sheets = self._original.sheets if self._current is None else self._current
        return counted(sum(len(sheet.formulas) for sheet in sheets), "formula")

    def __len__(self) -> int:
        return len(self._original.sheets)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The worksheets, with the values of the last calculation and the edits since."""
        if self._current is None:
            assert self._engine is not None
            object.__setattr__(self, "_current", sheets_of(self._engine))
        assert self._current is not None
        return self._current

    def set(self, sheet: str, ref: str, value: CellValue) -> None:
        """Set one cell to a constant or to a formula.

        What depends on it changes with the next `recalculate`.

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
        except TypeError:
            raise TypeError(f"ref is a cell such as B3, not {type(ref).__name__}") from None
        except ValueError as error:
            raise BadReference(str(error)) from None
        if type(value) is not float or not math.isfinite(value):
            value = self._checked(value)
        if type(value) is str and len(value) > 1 and value[0] == "=":
            engine.put_formula(index, row, column, value)
        else:
            engine.put_value(index, row, column, value)
        object.__setattr__(self, "_current", None)

    @checked
    def set_column(self, sheet: str, column: str, values: Sequence[Any] | NDArray[Any], *, first_row: int = 1) -> None:
        """Set many cells of one column to constants, from `first_row` (1-based) down.

        NaN is blank.

        Raises:
            BookError: as `set`.
        """
        engine = self._engine or self._started()
        index, at = self._sheet(sheet), _column(column)
        if not 1 <= first_row <= first_row + len(values) - 1 <= ROWS_MAX:
            raise BadReference(f"rows {first_row} to {first_row + len(values) - 1} are outside a sheet")
        engine.put_column(index, at, first_row - 1, values, self._checked)
        object.__setattr__(self, "_current", None)

    @property
    def locale(self) -> str:
        """The locale in which texts are read as dates and numbers.

        It is the last one that was asked for, else that of the file's language where it is known here, else en-US.
        """
        locale_in_use = known_locale(self.language or "") if self._engine is None else self._engine.environment.locale
        return (locale_in_use or DEFAULT).tag

    def value(self, sheet: str, ref: str) -> Value:
        """Return the value of one cell as of the last calculation.

        Errors as their text, dates as serials, None for blank.

        Raises:
            UnknownSheet, BadReference: as their names say.
        """
        index, row, column = self._place(sheet, ref)
        engine = self._engine
        return self._original.sheets[index].value(row, column) if engine is None else engine.plain(index, row, column)

    def formula(self, sheet: str, ref: str) -> str | None:
        """Return the formula of one cell with its '='.

        A filled or spilled cell has that of its array formula. None where there is none.

        Raises:
            UnknownSheet, BadReference: as their names say.
        """
        index, row, column = self._place(sheet, ref)
        region = (self._engine or self._started()).owner(index, row, column)
        return None if region is None else region.formula(row, column)

    def _place(self, sheet: str, ref: str) -> tuple[int, int, int]:
        index = self._sheet(sheet)
        try:
            return index, *parse_cell(ref)
        except TypeError:
            raise TypeError(f"ref is a cell such as B3, not {type(ref).__name__}") from None
        except ValueError as error:
            raise BadReference(str(error)) from None

    @checked
    def recalculate(
        self,
        *,
        now: datetime | None = None,
        random: Callable[[], float] | None = None,
        seconds_max: float = math.inf,
        locale: str | None = None,
    ) -> Recalculation:
        """Calculate what the edits touched.

        The first time, and in another locale, that is every formula.

        Args:
            now: the moment of TODAY and NOW, without zone; without it their cells keep their values (see `faults`).
            random: a source of numbers in [0, 1) for RAND and its family; without it theirs keep them too.
            seconds_max: the calculation is given up after so many seconds; what it did stays, the rest still waits.
            locale: de-DE, ...: that of dates and numbers as text, from now on; without it the book's own (`locale`).

        Raises:
            LimitExceeded: it took longer.
            UnknownLocale: there is no such locale; the message has those that there are.
        """
        wanted = None if locale is None else locale_of(locale)
        engine = self._engine or self._started()
        if wanted is not None:
            engine.use_locale(wanted)
        begin = perf_counter()
        outcome = engine.calculate(now, random, monotonic() + seconds_max)
        object.__setattr__(self, "_current", None)
        return self._result(engine, outcome, perf_counter() - begin)

    def _result(self, engine: Engine, outcome: CalculationOutcome, seconds: float) -> Recalculation:
        place = engine.place
        return Recalculation(
            seconds,
            count_cells(outcome.touched),
            tuple(tuple(place(*cell) for cell in cycle) for cycle in outcome.cycles) if outcome.cycles else (),
            (engine.environment.locale or DEFAULT).tag,
            outcome.iterations,
            tuple(place(*cell) for cell in outcome.unconverged) if outcome.unconverged else (),
            engine,
            outcome.touched,
            outcome.faults,
        )

    @checked
    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write a copy of the book's file (.xlsx or .xlsm) with its new values.

        These are the values of the last calculation and the edits since. All else is kept: formats, charts, pivot
        tables, macros.

        The sheets without another value go over byte for byte. Cells that the file lacks come without a format. #SPILL!
        and #CALC! that are new are written as #VALUE!, since older programs know no others. The copy appears under its
        name when it is whole.

        Args:
            overwrite: the file itself may be written over; to be saved once more, the book is then read anew.

        Raises:
            NotSaved: the book is of no such file, or the file has changed since. Or the name has another extension, or
                is that of the file itself. Or a formula that was set is none for a file.
            FileRefused: the file has a sheet whose rows or cells are in no order.
            OSError: the file cannot be read, or the copy not be written.
        """
        from core.recalc.saving import save  # with what writes, which a book that is only read does without

        if self._origin is None:
            raise NotSaved("the book was not read from a single .xlsx or .xlsm file")
        edited = () if self._engine is None else self._engine.edited
        before = self._original.sheets
        save(self._origin, Path(path), before, self.sheets, edited=edited, tables=self.tables, overwrite=overwrite)

    def fill_blank(
        self,
        *,
        now: datetime | None = None,
        random: Callable[[], float] | None = None,
        seconds_max: float = FILLING_SECONDS_MAX,
    ) -> None:
        """Calculate the formulas that came without a value, and no other.

        `filled` then tells of them.

        Those of the clock and of chance stay blank where `now` and `random` are not given.

        Meant for a book that was just read. The next `recalculate` calculates every formula.
        """
        blank = [blank_formulas(sheet) for sheet in self._original.sheets]
        cells = count_blank(blank)
        if not cells:
            return
        stopped, result = "", None
        if seconds_max <= 0:
            stopped = "they were not calculated"
        elif cells > BLANK_CELLS_MAX:
            stopped = f"more than {BLANK_CELLS_MAX:,} are not calculated"
        else:
            stopped, result = self._filled(blank, now, random, seconds_max)
        left = cells if result is None and self._engine is None else count_blank(list(map(blank_formulas, self.sheets)))
        message = note(cells, left, stopped, result)
        object.__setattr__(self, "filled", BlankFormulas(cells, left, message))
        if result is not None:
            object.__setattr__(self, "doubts", doubts_of(result))

    def _filled(
        self, blank: Sequence[BlankRows], now: datetime | None, random: Callable[[], float] | None, seconds_max: float
    ) -> tuple[str, Recalculation | None]:
        """Calculate these formulas.

        What stopped that, if something did, and what it came to.
        """
        begin = perf_counter()
        try:
            engine = self._started()
            object.__setattr__(self, "_current", None)
            outcome = engine.calculate_blank(blank, now, random, monotonic() + seconds_max)
        except LimitExceeded:
            return f"calculating them takes longer than the limit of {seconds_max:g} seconds", None
        except MemoryError:
            object.__setattr__(self, "_engine", None)
            object.__setattr__(self, "_current", self._original.sheets)
            return "calculating them needs more memory than there is", None
        return "", self._result(engine, outcome, perf_counter() - begin)

    def environment(
        self, now: datetime | None = None, random: Callable[[], float] | None = None, sheet: str | None = None
    ) -> BookEnvironment:
        """Return an environment over the cells as they stand, for formulas of no cell.

        It stands in A1 of `sheet` (default: the first).

        Raises:
            UnknownSheet: no sheet has the name.
        """
        engine = self._engine or self._started()
        index = 0 if sheet is None else self._sheet(sheet)
        environment = engine.environment
        environment.clocks(now, random, math.inf)
        environment.place(index, 0, 0)
        return environment

    def evaluate(self, formula: str, sheet: str | None = None, *, now: datetime | None = None) -> Any:
        """Evaluate a formula over this book's cells as they stand (`core.formula.values`).

        `now` is the moment of TODAY and the year of a text such as 5-Jul.

        Raises:
            FormulaError: it cannot be read or calculated.
            UnknownSheet: no sheet has the name.
        """
        environment = self.environment(now, sheet=sheet)
        with Locally(environment.locale):
            return compile_tree(parse_or_suggest(formula), arrays=True, text=formula).run(environment)

    def _started(self) -> Engine:
        from core.recalc.engine import Engine  # with all functions, which a book that is only read does without

        engine = Engine(self._original)
        engine.load()
        object.__setattr__(self, "_engine", engine)
        return engine

    def _sheet(self, name: str) -> int:
        if not isinstance(name, str):
            raise TypeError(f"sheet is the name of a sheet, not {type(name).__name__}")
        folded = name.casefold()
        for sheet in self._original.sheets:
            if sheet.name.casefold() == folded:
                return sheet.index
        raise UnknownSheet(f"the book has no sheet {name!r}")

    def _checked(self, value: Any) -> Any:
        """Return a value as a cell holds it."""
        if not isinstance(value, int | float):
            try:
                value = cell_value(value)
            except TypeError as refused:
                raise BadValue(f"a cell cannot hold a {type(value).__name__}") from refused
            except ValueError as refused:
                raise BadValue(str(refused)) from refused
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
