"""What a formula's value can be: a float, str, bool or None (blank) as they are, and the classes of this file."""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

import numpy as np

from core.values import ERRORS, Kind

assert (BLANK, NUMBER, TEXT, BOOLEAN, ERROR, DATE) == tuple(Kind)


cdef extern from *:
    """
    static _Thread_local PyObject *locale_of_thread = NULL;
    """
    PyObject *locale_of_thread


cdef bint has_locale() noexcept:
    """Whether the calculation that this thread is in has a locale other than en-US."""
    return locale_of_thread != NULL


cpdef object locale_in_use():
    """That locale (a `core.formula.values.locales.Locale`); None for en-US."""
    return None if locale_of_thread == NULL else <object> locale_of_thread


cdef class Locally:
    """`with Locally(locale):` texts are read and written so in this thread; None is en-US.

    It is the thread's rather than a parameter because whatever a function of the catalogue is given or gives may be a
    number as text, and one body that forgot to hand it on would read the same text otherwise than its neighbour.
    """

    cdef object locale
    cdef PyObject *before

    def __init__(self, locale):
        self.locale = locale

    def __enter__(self):
        self.before = locale_of_thread
        set_locale(NULL if self.locale is None else <PyObject *> self.locale)
        return self

    def __exit__(self, *_):
        set_locale(self.before)


cdef void set_locale(PyObject *locale) noexcept:
    global locale_of_thread
    locale_of_thread = locale


cdef extern from *:
    """
    static _Thread_local PyObject *environment_of_thread = NULL;
    """
    PyObject *environment_of_thread


cdef PyObject *enter_environment(PyObject *environment) noexcept:
    """Set the environment (`core.formula.ranges.environment`) that this thread calculates in; the one before it.

    Of the thread for the same reason as the locale. The caller keeps the environment alive, and sets back the one before.
    """
    global environment_of_thread
    cdef PyObject *before = environment_of_thread
    environment_of_thread = environment
    return before


cdef bint has_date_1904():
    """Whether the calculation that this thread is in counts days from 1904."""
    return environment_of_thread != NULL and (<object> environment_of_thread).date_1904


cpdef object year_in_use(bint is_cell=False):
    """The year of dates without one, by the clock of the calculation that this thread is in; None outside of one.

    `is_cell`: for a cell's text that is only looked at; then a calculation without a clock has none either.

    Raises:
        FormulaError: the calculation has no clock.
    """
    return None if environment_of_thread == NULL else (<object> environment_of_thread).year(is_cell)


cdef class Error:
    """One of Excel's error values. There is one object for each, so `is` compares."""

    def __init__(self, int code, str text):
        self.code = code
        self.text = text

    def __repr__(self):
        return self.text

    def __reduce__(self):
        return _error_of, (self.code,)


ALL_ERRORS = tuple(Error(code, text) for code, text in enumerate(ERRORS))
"""The error objects by `core.values.ERRORS` code."""

ERROR_NULL, ERROR_DIV0, ERROR_VALUE, ERROR_REF, ERROR_NAME, ERROR_NUM, ERROR_NA = ALL_ERRORS[:7]
ERROR_GETTING_DATA, ERROR_SPILL, ERROR_CALC = ALL_ERRORS[7:10]
globals()["NULL"] = ERROR_NULL  # the plain name is C's null pointer in this file
DIV0, VALUE, REF, NAME, NUM, NA = ALL_ERRORS[1:7]
GETTING_DATA, SPILL, CALC = ALL_ERRORS[7:10]
cdef tuple _ERRORS = ALL_ERRORS


def _error_of(int code):
    return _ERRORS[code]


class Failure(Exception):
    """Raised by a function's body to give an Excel error as its value: `raise Failure(NUM)`."""

    def __init__(self, error):
        super().__init__(error)
        self.error = error


class Date(float):
    """A number that is a date serial: what makes a result of type `date`. Arithmetic gives plain floats."""

    __slots__ = ()


cdef class Omitted:
    """The class of OMITTED: an argument that was left empty, where its row asks to know (`Argument.empty`)."""

    def __repr__(self):
        return "OMITTED"


OMITTED_VALUE = Omitted()
OMITTED = OMITTED_VALUE


cpdef str fold(str text):
    """Text without case, character for character: positions stay, and the sharp s of German is no double s."""
    cdef str folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join([_folded_letter(letter) for letter in text])


cdef str _folded_letter(str letter):
    for small in (letter.casefold(), letter.lower()):
        if len(<str> small) == 1:
            return small
    return letter


cdef class TextPool:
    """The distinct strings of one book, by code; and for each the code of its case-folded form."""

    def __init__(self):
        self.strings = []
        self.codes_of = {}
        self.folded_codes = []
        self.folded_of = {}

    def __len__(self):
        return len(self.strings)

    cpdef int32_t intern(self, str text):
        """The code of a string, a new one if it was never seen."""
        cdef Py_ssize_t count = len(self.strings)
        cdef Py_ssize_t found = self.codes_of.setdefault(text, count)
        if found == count:
            self.strings.append(text)
        return found

    cpdef int32_t fold(self, int32_t code):
        """The code that all strings equal without case share (that of the first of them)."""
        while len(self.folded_codes) < len(self.strings):
            at = len(self.folded_codes)
            key = fold(<str> self.strings[at])
            self.folded_codes.append(self.folded_of.setdefault(key, at))
        return self.folded_codes[code]


cdef class Span:
    """One column of an array: `kinds` uint8, `numbers` float64, `codes` int32 (into the pool; -1 where not text)."""

    def __init__(self, kinds, numbers, codes):
        self.kinds = kinds
        self.numbers = numbers
        self.codes = codes


@cython.no_gc
cdef class Reference:
    """A rectangle of cells: 0-based inclusive corners; `sheet` None is the sheet of the formula.

    `more` holds the further areas of a union or of a 3-D reference.
    """

    def __init__(self, str sheet, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right, tuple more=()):
        self.sheet = sheet
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
        self.more = more

    @property
    def rows(self):
        return self.bottom - self.top + 1

    @property
    def columns(self):
        return self.right - self.left + 1

    @property
    def areas(self):
        """All areas, this rectangle first."""
        return (self, *self.more)

    def __eq__(self, other):
        if not isinstance(other, Reference):
            return NotImplemented
        return (self.sheet, self.top, self.left, self.bottom, self.right, self.more) == (
            other.sheet, other.top, other.left, other.bottom, other.right, other.more)

    def __hash__(self):
        return hash((self.sheet, self.top, self.left, self.bottom, self.right))

    def __repr__(self):
        return f"Reference({self.sheet!r}, {self.top}, {self.left}, {self.bottom}, {self.right})"


cdef object cell_of(uint8_t kind, double number, int32_t code, TextPool pool):
    """One cell of a span as a value."""
    if kind == NUMBER:
        return number
    if kind == BLANK:
        return None
    if kind == TEXT:
        return pool.strings[code]
    if kind == BOOLEAN:
        return number != 0
    if kind == DATE:
        return Date(number)
    return _ERRORS[<int> number]


cdef class Array:
    """Values in rows and columns, held as a row-major list, or as one span a column of a sheet.

    `reference` is set when the values were read from cells: functions such as SUM then ignore text and booleans.
    Holders of an Array never change it.
    """

    def __init__(self, Py_ssize_t rows, Py_ssize_t columns, list cells=None, *,
                 Reference reference=None, tuple spans=None, TextPool pool=None):
        assert (cells is None) != (spans is None)
        assert cells is None or len(cells) == rows * columns
        self.rows = rows
        self.columns = columns
        self._cells = cells
        self.reference = reference
        self.spans = spans
        self.pool = pool

    cpdef list cells(self):
        """All values, row-major; built once from the spans where there are only those."""
        cdef Py_ssize_t row, column
        cdef const uint8_t[::1] kinds
        cdef const double[::1] numbers
        cdef const int32_t[::1] codes
        cdef list cells
        cdef Span span
        if self._cells is None:
            cells = [None] * (self.rows * self.columns)
            for column in range(self.columns):
                span = self.spans[column]
                kinds, numbers, codes = span.kinds, span.numbers, span.codes
                for row in range(self.rows):
                    if kinds[row] != BLANK:
                        cells[row * self.columns + column] = cell_of(kinds[row], numbers[row], codes[row], self.pool)
            self._cells = cells
        return self._cells

    def at(self, Py_ssize_t row, Py_ssize_t column):
        """The value in one place, 0-based."""
        cdef Span span
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError((row, column))
        if self._cells is None:
            span = self.spans[column]
            return cell_of(span.kinds[row], span.numbers[row], span.codes[row], self.pool)
        return self._cells[row * self.columns + column]

    def grid(self):
        """The values as a list of rows."""
        cells = self.cells()
        return [cells[start : start + self.columns] for start in range(0, self.rows * self.columns, self.columns)]

    def __repr__(self):
        return f"Array({self.rows}x{self.columns})"

    def __eq__(self, other):
        if not isinstance(other, Array):
            return NotImplemented
        return self.rows == other.rows and self.columns == other.columns and self.cells() == other.cells()

    __hash__ = None


cdef class Lambda:
    """A function made by LAMBDA: its parameters (name, optional), its compiled body, the names around it."""

    def __init__(self, tuple parameters, body, scope):
        self.parameters = parameters
        self.body = body
        self.scope = scope


def array_of(grid):
    """An Array of a list of equally long rows (at least one value)."""
    cells = [value for row in grid for value in row]
    assert len(cells) == len(grid) * len(grid[0])
    return Array(len(grid), len(grid[0]), cells)
