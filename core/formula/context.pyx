"""A caller's values as the place where a formula runs: a dict by cell, range and name, with a book's cells behind it."""

cimport cython
from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_READ_CHAR
from libc.math cimport isfinite

from collections.abc import Mapping
from datetime import date
from time import monotonic

from core.formula.ranges.environment cimport Environment
from core.formula.machine.machine cimport CompiledTree
from core.formula.language.tree cimport Area, Cell, Name
from core.formula.values.value cimport ERROR_NAME, Array, Error, Reference
from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS
from core.formula.ranges.environment import CELLS_MAX
from core.formula.language.errors import ContextError, FormulaError, LimitExceeded, MissingContext, SyntaxFault
from core.formula.language.parser import parse, render
from core.formula.values.locales import DEFAULT
from core.formula.values.value import ALL_ERRORS, Date
from core.frames.given import cell_value, listed
from core.grid.address import column_name, range_name
from core.values import to_serial

TEXT_LENGTH_MAX = 32_767
"""Characters of one text that a context may hold: what a cell can."""

SECONDS = 10.0
"""How long an evaluation may take unless the caller says otherwise."""

KEY_LENGTH_MAX = 600
"""Characters of a context's key: a quoted sheet name and a range, or a name."""

cdef object _MISSING = object()

cdef dict _ERROR_OF = {error.text: error for error in ALL_ERRORS}


cdef inline object _place(Py_ssize_t row, Py_ssize_t column):
    """A cell of a sheet as one number: as a key cheaper to make and to find than a tuple."""
    return row * SHEET_COLUMNS + column


cdef object _value(object raw, object key, bint date_1904):
    """One given value as a cell's: an error's text, in any case, is that error, as it is for who types it into a cell."""
    if PyFloat_CheckExact(raw):
        if not isfinite(PyFloat_AS_DOUBLE(raw)):
            if raw != raw:
                return None
            raise ContextError(f"{key}: {raw} is not a number that a cell can hold")
        return raw
    if raw is None or raw is True or raw is False or isinstance(raw, (Error, Date)):
        return raw
    if isinstance(raw, str):
        if not PyUnicode_CheckExact(raw):
            raw = str.__str__(raw)
        if len(<str> raw) > TEXT_LENGTH_MAX:
            raise ContextError(f"{key}: a text may have {TEXT_LENGTH_MAX:,} characters, this one has {len(<str> raw):,}")
        if (<str> raw).startswith("#"):
            return _ERROR_OF.get((<str> raw).upper(), raw)
        return raw
    if isinstance(raw, int) or isinstance(raw, float):
        try:
            return _value(float(raw), key, date_1904)
        except OverflowError:
            raise ContextError(f"{key}: the number is too large for a cell") from None
    try:
        plain = cell_value(raw)
    except (TypeError, ValueError, OverflowError) as refused:
        raise ContextError(f"{key}: {refused}") from None
    if isinstance(plain, date):
        serial = to_serial(plain, date_1904=date_1904)
        if serial < 0:
            raise ContextError(f"{key}: {plain} is before the first day that a cell can hold")
        return Date(serial)
    return _value(plain, key, date_1904)


cdef Array _grid(object raw, object key, bint date_1904):
    """Given rows of values; a flat list is one row."""
    cdef Py_ssize_t width
    if not len(raw):
        raise ContextError(f"{key}: an array needs at least one value")
    rows = raw if isinstance(raw[0], (list, tuple)) else [raw]
    width = len(rows[0])
    cells = []
    for row in rows:
        if not isinstance(row, (list, tuple)) or len(row) != width or not width:
            raise ContextError(f"{key}: an array is rows of values, all equally long")
        if len(cells) + width > CELLS_MAX:
            raise LimitExceeded(f"{key}: an array may hold {CELLS_MAX:,} values")
        cells.extend([_value(value, key, date_1904) for value in row])
    return Array(len(rows), width, cells)


cdef object _rows(object raw, object key):
    """What was given for a range or a name: an array as its values."""
    if raw is None or isinstance(raw, (str, int, float, list, tuple)):
        return raw
    size = getattr(raw, "size", 0)
    if isinstance(size, int) and size > CELLS_MAX:
        raise LimitExceeded(f"{key}: an array may hold {CELLS_MAX:,} values")
    try:
        return listed(raw)
    except ValueError as refused:
        raise ContextError(f"{key}: {refused}") from None


@cython.no_gc
cdef class Slots:
    """What a program reads from a context, by the keys under which a caller most likely gives it."""

    def __cinit__(self, CompiledTree program):
        self.program = program
        self.places = program.slots
        self.keys = tuple([_key(place) for place in program.slots])
        self.distinct = len(set(self.keys)) == len(self.keys)


cdef list _LETTERS = [column_name(column) for column in range(702)]


cdef str _key(object place):
    """The canonical key of a slot: A1, Sheet1!A1, a name."""
    cdef Cell cell
    if not isinstance(place, Cell):
        return place
    cell = <Cell> place
    if cell.sheet is not None:
        return render(Cell(cell.sheet, None, cell.row, cell.column, False, False))[1:]
    letters = _LETTERS[cell.column] if cell.column < 702 else column_name(cell.column)
    return f"{letters}{cell.row + 1}"


cdef dict _as_dict(object context):
    if not isinstance(context, Mapping):
        raise TypeError(f"a context is a dict of values by cell, range or name, not {type(context).__name__}")
    return dict(context)


cdef class ContextEnvironment(Environment):
    """Values by key: `A1`, `$A$1`, `Sheet1!A1`, `'My Sheet'!A1`, a range (its rows, or one row) or a name.

    Keys are read without case; those without a sheet belong to `sheet`, the formula's own. Where the context has no
    value, `behind` is asked, with its names, tables and sheets; without a `locale` its own is taken. A text that is an error's (`#N/A`) is that error. The formula stands in the cell A1 unless `row` and
    `column` are set. Values are checked when they are first needed.

    Raises (later, from any reading):
        ContextError: a key is no reference or name, or a value is none that a cell can hold.
        MissingContext: a range of which no cell was given, with nothing behind.
    """

    def __init__(self, context=None, behind=None, *, sheet=None, clock=None, random=None, seconds=SECONDS,
                 date_1904=False, locale=None):
        if behind is not None and not isinstance(behind, Environment):  # before a cast that does not ask
            raise TypeError(f"behind is an Environment, not {type(behind).__name__}")
        Environment.__init__(self, date_1904=date_1904 or (behind is not None and (<Environment> behind).date_1904))
        if locale is not None:
            self.locale = None if locale is DEFAULT else locale
        elif behind is not None:
            self.locale = (<Environment> behind).locale
        self.context = {} if context is None else context if type(context) is dict else _as_dict(context)
        self.behind = behind
        self.sheet = sheet
        self.clock, self.chance, self.seconds = clock, random, seconds
        self.given = None

    # The fast way: every slot of the program under its canonical key.

    cdef int fill(self, Slots slots) except -1:
        """Read what a program that stands in A1 needs into `slots`.

        Raises:
            MissingContext: a cell, a name or all cells of a range were not given, and nothing stands behind.
        """
        cdef tuple keys = slots.keys
        cdef list values = [None] * len(keys)
        cdef list absent = None
        cdef dict context = self.context
        cdef Py_ssize_t place, count = len(keys), hits = 0
        cdef PyObject *found
        for place in range(count):
            found = PyDict_GetItemWithError(context, keys[place])
            if found == NULL:
                if absent is None:
                    absent = []
                absent.append(place)
                continue
            hits += 1
            raw = <object> found
            if PyFloat_CheckExact(raw) and isfinite(PyFloat_AS_DOUBLE(raw)):
                values[place] = raw
            else:
                values[place] = self.taken(raw, slots, place)
        self.slots = values
        if absent is not None:
            if hits < len(context) or not slots.distinct:
                self.normalise()
            self.fill_absent(slots, absent, 0, 0)
        return 0

    cdef object taken(self, object raw, Slots slots, Py_ssize_t place):
        if isinstance(slots.places[place], str):
            raw = _rows(raw, slots.keys[place])
            if isinstance(raw, (list, tuple)):
                return _grid(raw, slots.keys[place], self.date_1904)
        return _value(raw, slots.keys[place], self.date_1904)

    cdef int fill_at(self, Slots slots, Py_ssize_t row, Py_ssize_t column) except -1:
        """As `fill`, for a program whose relative references are measured from another cell."""
        self.normalise()
        self.row, self.column = row, column
        self.slots = [None] * len(slots.keys)
        self.fill_absent(slots, range(len(slots.keys)), row, column)
        return 0

    cdef int fill_absent(self, Slots slots, object places, Py_ssize_t row, Py_ssize_t column) except -1:
        """Look for slots in the keys however they were written, then behind."""
        cdef list values = self.slots
        cdef set missing = None
        cdef Py_ssize_t place
        for place in places:
            value = self.found(slots.places[place], row, column)
            if value is not _MISSING:
                values[place] = value
                continue
            if missing is None:
                missing = set()
            missing.add(place)
            if isinstance(slots.places[place], str):
                values[place] = ERROR_NAME
        if missing is not None and self.behind is None:
            self.refuse_missing(slots, missing, row, column)
        return 0

    cdef object found(self, object place, Py_ssize_t row, Py_ssize_t column):
        cdef Cell cell
        if not isinstance(place, Cell):
            value = _MISSING if self.given is None else self.names.get((<str> place).casefold(), _MISSING)
            if value is _MISSING and self.behind is not None:
                self.stand_behind()
                value = self.behind.name(None, place)
                return _MISSING if value is ERROR_NAME else value
            return value
        cell = <Cell> place
        if not cell.row_absolute:
            row += cell.row
        else:
            row = cell.row
        if not cell.column_absolute:
            column += cell.column
        else:
            column = cell.column
        value = _MISSING if self.given is None else self.held(cell.sheet, row, column)
        if value is _MISSING and self.behind is not None:
            self.stand_behind()
            return self.behind.cell(cell.sheet if cell.sheet is not None else self.sheet, row, column)
        return value

    cdef object held(self, str sheet, Py_ssize_t row, Py_ssize_t column):
        """The value given for a cell; _MISSING where there is none."""
        cdef PyObject *value
        cells = self.given.get(self.own(sheet))
        if cells is None or not (0 <= row < SHEET_ROWS and 0 <= column < SHEET_COLUMNS):
            return _MISSING
        value = PyDict_GetItemWithError(cells, _place(row, column))
        return _MISSING if value == NULL else <object> value

    cdef int refuse_missing(self, Slots slots, set missing, Py_ssize_t row, Py_ssize_t column) except -1:
        """Raise MissingContext where a cell, a name or a whole range is missing."""
        titles = []
        for needed in slots.program.needs:
            if isinstance(needed, int):
                if needed in missing:
                    titles.append(_title(slots.places[needed], row, column))
            elif missing.issuperset(needed):
                first, last = slots.places[needed[0]], slots.places[needed[len(needed) - 1]]
                titles.append(f"{_title(first, row, column)}:{_title(last, row, column).rpartition('!')[2]}")
        if titles:
            raise MissingContext(list(dict.fromkeys(titles)))
        return 0

    cdef int stand_behind(self) except -1:
        """Put the environment behind on the formula's own cell."""
        if self.sheet is not None:
            self.behind.sheet = self.sheet
        self.behind.row, self.behind.column = self.row, self.column
        return 0

    # All keys, read once where the fast way does not do.

    cdef object own(self, object sheet):
        """A sheet's name as a key; None for the formula's own."""
        if sheet is None:
            return None
        folded = (<str> sheet).casefold()
        return None if self.sheet is not None and folded == self.sheet.casefold() else folded

    cdef int normalise(self) except -1:
        cdef Py_ssize_t row, column
        cdef dict own = {}
        if self.given is not None:
            return 0
        self.given, self.names, self.sheets_given = {None: own}, {}, {}
        try:
            for key, raw in self.context.items():
                if isinstance(key, str) and _plain_cell(<str> key, &row, &column):
                    own[_place(row, column)] = _value(raw, key, self.date_1904)
                else:
                    self.enter(key, raw)
        except FormulaError:
            self.given = None
            raise
        return 0

    def enter(self, key, raw):
        """Note a value whose key is more than A1."""
        node = _parsed_key(key)
        if isinstance(node, Name):
            raw = _rows(raw, key)
            if isinstance(raw, (list, tuple)):
                value = _grid(raw, key, self.date_1904)
            else:
                value = _value(raw, key, self.date_1904)
            self.names[node.name.casefold()] = value
            return
        cells = self.given.setdefault(self.own(node.sheet), {})
        if node.sheet is not None:
            self.sheets_given.setdefault(node.sheet.casefold(), node.sheet)
        if isinstance(node, Cell):
            cells[_place(node.row, node.column)] = _value(raw, key, self.date_1904)
            return
        first, last = node.first, node.last
        top, bottom = sorted((first.row, last.row))
        left, right = sorted((first.column, last.column))
        raw = _rows(raw, key)
        if not isinstance(raw, (list, tuple)):
            raise ContextError(f"{key}: a range takes its rows of values")
        grid = _grid(raw, key, self.date_1904)
        rows, columns = bottom - top + 1, right - left + 1
        if grid.rows == 1 and grid.columns == rows and columns == 1:
            grid = Array(rows, 1, grid.cells())
        if grid.rows > rows or grid.columns > columns:
            raise ContextError(f"{key}: {grid.rows} x {grid.columns} values do not fit into the range")
        for place, value in enumerate(grid.cells()):
            cells.setdefault(_place(top + place // grid.columns, left + place % grid.columns), value)

    # What programs ask.

    cpdef object cell(self, str sheet, Py_ssize_t row, Py_ssize_t column):
        self.normalise()
        value = self.held(sheet, row, column)
        if value is not _MISSING:
            return value
        if self.behind is None:
            return None
        self.stand_behind()
        return self.behind.cell(sheet if sheet is not None else self.sheet, row, column)

    cpdef Array array(self, Reference reference):
        self.normalise()
        inside = self.inside(reference)
        if self.behind is not None:
            return self.overlaid(reference, inside)
        if not inside and not self.is_near(reference):
            raise MissingContext([_area_title(reference)])
        rows = self.reach(reference.top, reference.bottom, SHEET_ROWS - 1, [row for row, _ in inside])
        columns = self.reach(reference.left, reference.right, SHEET_COLUMNS - 1, [column for _, column in inside])
        self.spend(rows * columns)
        cells = [None] * (rows * columns)
        for (row, column), value in inside.items():
            cells[(row - reference.top) * columns + column - reference.left] = value
        return Array(rows, columns, cells, reference=reference)

    cdef dict inside(self, Reference reference):
        """The given cells of an area by row and column, looked for from the smaller side."""
        cdef Py_ssize_t row, column
        cdef dict found = {}
        cells = self.given.get(self.own(reference.sheet)) or {}
        if reference.rows * reference.columns < len(cells):
            for row in range(reference.top, reference.bottom + 1):
                for column in range(reference.left, reference.right + 1):
                    value = cells.get(_place(row, column), _MISSING)
                    if value is not _MISSING:
                        found[row, column] = value
            return found
        for place, value in cells.items():
            row, column = place // SHEET_COLUMNS, place % SHEET_COLUMNS
            if reference.top <= row <= reference.bottom and reference.left <= column <= reference.right:
                found[row, column] = value
        return found

    cdef bint is_near(self, Reference reference):
        """Whether a small range was meant by a formula that moves through given cells: one cell of an array, an OFFSET."""
        return reference.bottom - reference.top < 1 and reference.right - reference.left < 1

    cdef Py_ssize_t reach(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end, list used):
        """How many rows or columns an array has: a whole column or row ends with the last cell that was given."""
        return max(used, default=first) - first + 1 if first == 0 and last == end else last - first + 1

    cdef Array overlaid(self, Reference reference, dict inside):
        """A range of the book with the context's cells in place of its own."""
        cdef Array array
        cdef list cells
        self.stand_behind()
        asked = reference
        if reference.sheet is None and self.sheet is not None:
            asked = Reference(self.sheet, reference.top, reference.left, reference.bottom, reference.right)
        array = self.behind.array(asked)
        if not inside:
            return array
        rows = max(array.rows, max([row for row, _ in inside]) - reference.top + 1)
        columns = max(array.columns, max([column for _, column in inside]) - reference.left + 1)
        self.spend(rows * columns)
        cells = [None] * (rows * columns)
        for place, value in enumerate(array.cells()):
            cells[place // array.columns * columns + place % array.columns] = value
        for (row, column), value in inside.items():
            cells[(row - reference.top) * columns + column - reference.left] = value
        return Array(rows, columns, cells, reference=reference)

    cpdef object name(self, str sheet, str name):
        if sheet is None:
            self.normalise()
            value = self.names.get(name.casefold(), _MISSING)
            if value is not _MISSING:
                return value
        if self.behind is None:
            return ERROR_NAME
        self.stand_behind()
        return self.behind.name(sheet, name)

    def structured(self, node):
        if self.behind is None:
            return ERROR_NAME
        self.stand_behind()
        return self.behind.structured(node)

    def spill(self, sheet, row, column):
        return None if self.behind is None else self.behind.spill(sheet or self.sheet, row, column)

    def formula(self, sheet, row, column):
        return None if self.behind is None else self.behind.formula(sheet or self.sheet, row, column)

    def is_formula(self, sheet, row, column):
        return False if self.behind is None else self.behind.is_formula(sheet or self.sheet, row, column)

    def sheets(self):
        if self.behind is not None:
            return self.behind.sheets()
        self.normalise()
        own = [] if self.sheet is None else [self.sheet]
        return own + list(self.sheets_given.values()) or ["Sheet1"]

    def used(self, sheet):
        self.normalise()
        rows, columns = (1, 1) if self.behind is None else self.behind.used(sheet or self.sheet)
        for place in self.given.get(self.own(sheet), ()):
            rows, columns = max(rows, place // SHEET_COLUMNS + 1), max(columns, place % SHEET_COLUMNS + 1)
        return rows, columns

    def hidden(self, sheet, row):
        return None if self.behind is None else self.behind.hidden(sheet or self.sheet, row)

    def number_format(self, sheet, row, column):
        return "General" if self.behind is None else self.behind.number_format(sheet or self.sheet, row, column)

    def pivot(self, reference):
        if self.behind is None:
            return None
        self.stand_behind()
        return self.behind.pivot(reference)

    def pivot_value(self, pivot, row, column):
        return self.behind.pivot_value(pivot, row, column)

    def moment(self):
        if self.clock is None:
            raise ContextError("the formula asks for the time, and no clock was given")
        return self.clock()

    def random(self):
        if self.chance is None:
            raise ContextError("the formula asks for a random number, and no source of them was given")
        return self.chance()

    cpdef int spend(self, long cells) except -1:
        # The clock is asked only by evaluations that are long enough to be worth it.
        if self.deadline == 1e300 and self.work + cells + 1 >= 10_000:
            self.deadline = monotonic() + self.seconds
        return Environment.spend(self, cells)


cdef ContextEnvironment plain_environment(object context):
    """An environment of nothing but a context."""
    cdef ContextEnvironment environment = ContextEnvironment.__new__(ContextEnvironment)
    environment.context = {} if context is None else context if type(context) is dict else _as_dict(context)
    environment.deadline = 1e300
    environment.seconds = 10.0
    return environment


def _parsed_key(key):
    """The node that a context's key names: a Cell, an Area or a Name."""
    if not isinstance(key, str) or not 0 < len(key) <= KEY_LENGTH_MAX:
        raise ContextError(f"{str(key)[:40]!r} is no cell, range or name")
    try:
        node = parse(f"={key.strip()}")
    except SyntaxFault:
        raise ContextError(f"{key[:40]!r} is no cell, range or name") from None
    if isinstance(node, (Cell, Area)) and node.last_sheet is None or isinstance(node, Name) and node.sheet is None:
        return node
    raise ContextError(f"{key[:40]!r} is no cell, range or name")


cdef bint _plain_cell(str key, Py_ssize_t *row, Py_ssize_t *column) noexcept:
    """Whether a key is as plain as A1 or aa10; then its 0-based place."""
    cdef Py_ssize_t at = 0, count = len(key), letters = 0, digits = 0
    cdef unsigned int c
    if not 2 <= count <= 10:
        return False
    while at < count:
        c = <unsigned int> PyUnicode_READ_CHAR(key, at) & 0xFFFFFFDF
        if not 65 <= c <= 90:
            break
        letters = letters * 26 + c - 64
        at += 1
    if not 1 <= at <= 3 or at == count or PyUnicode_READ_CHAR(key, at) == 48:
        return False
    while at < count:
        c = <unsigned int> PyUnicode_READ_CHAR(key, at)
        if not 48 <= c <= 57:
            return False
        digits = digits * 10 + c - 48
        at += 1
    row[0], column[0] = digits - 1, letters - 1
    return letters <= SHEET_COLUMNS and digits <= SHEET_ROWS


cdef str _title(object place, Py_ssize_t row, Py_ssize_t column):
    """A slot as the formula names it."""
    cdef Cell cell
    if not isinstance(place, Cell):
        return place
    cell = <Cell> place
    return _key(Cell(
        cell.sheet, None, cell.row if cell.row_absolute else cell.row + row,
        cell.column if cell.column_absolute else cell.column + column, False, False,
    ))


cdef str _area_title(Reference reference):
    if reference.top == 0 and reference.bottom == SHEET_ROWS - 1:
        area = f"{column_name(reference.left)}:{column_name(reference.right)}"
    elif reference.left == 0 and reference.right == SHEET_COLUMNS - 1:
        area = f"{reference.top + 1}:{reference.bottom + 1}"
    else:
        area = range_name(reference.top, reference.left, reference.bottom, reference.right)
    return area if reference.sheet is None else f"{reference.sheet}!{area}"
