"""The cells of a book in columns that can change: kinds, numbers, text codes, and which region a formula belongs to."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy, memset
from posix.mman cimport MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap, munmap

import os

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo

from core.formula.values.value cimport Error, TextPool, Span, cell_of
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT
from core.formula.values import NUM, VALUE, Array, Date
from core.grid._cells import mark
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.column import GappedColumn

cdef enum:
    SPANS_KEPT = 4096
    FEW = 8  # times as many other cells, and a column's texts are taken one by one
    BLOCK_ROWS = 4_096  # are looked at for what is no number while they are in the cache
    GAP_MIN = 65_536  # rows without a cell from which a column's memory is taken by the page
    SEEN_BITS = 12
    SEEN = 1 << SEEN_BITS  # strings of a list whose codes are kept while it is read

cdef Py_ssize_t _ROWS_MAX = ROWS_MAX
cdef Py_ssize_t _COLUMNS_MAX = COLUMNS_MAX
cdef Error _NUM = NUM
cdef Error _VALUE = VALUE
cdef type _DATE = Date

TEXT_CHARACTERS_MAX = 32_767
"""Longest text that a cell holds."""


cdef int _minus_ones = -1


cdef class _Pages:
    """Memory of which only the pages that are written take room: zeros, or the bytes of a file of -1."""

    cdef void *data
    cdef size_t size

    def __cinit__(self, Py_ssize_t size, int file=-1):
        self.size = size
        self.data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | (MAP_ANONYMOUS if file < 0 else 0), file, 0)
        if self.data == MAP_FAILED:
            raise MemoryError

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if PyBuffer_FillInfo(buffer, self, self.data, self.size, 0, flags):
            raise MemoryError

    def __dealloc__(self):
        if self.data != MAP_FAILED:
            munmap(self.data, self.size)


cdef object _blank(Py_ssize_t size, kind, bint gapped):
    """An array of zeros."""
    return np.frombuffer(_Pages(size * np.dtype(kind).itemsize), kind) if gapped and size else np.zeros(size, kind)


cdef object _none(Py_ssize_t size, bint gapped):
    """An array of -1."""
    global _minus_ones
    if not gapped or not size:
        return np.full(size, -1, np.int32)
    if _minus_ones < 0:
        file = os.memfd_create("minus ones")
        os.write(file, b"\xff" * 4 * _ROWS_MAX)
        _minus_ones = file
    return np.frombuffer(_Pages(size * 4, _minus_ones), np.int32)


cdef struct Seen:
    void *text
    int32_t code


cdef bint _all_finite(const double *numbers, Py_ssize_t size) noexcept nogil:
    cdef const uint64_t *bits = <const uint64_t *> numbers
    cdef uint64_t seen = 0
    cdef Py_ssize_t at
    for at in range(size):  # an exponent of ones alone carries over into the sign
        seen |= (bits[at] & <uint64_t> 0x7FF0_0000_0000_0000) + <uint64_t> 0x0010_0000_0000_0000
    return seen >> 63 == 0


cdef class CellColumn:
    """Rows `base` to `base + size - 1` of one column, as `core.grid.column.Column` holds them but growing.

    `owners` names the region that each formula cell belongs to, -1 elsewhere; None in a column without formulas.
    Where many rows have no cell (`gapped`), these take no memory. Invariant: codes is -1 wherever the kind is not text,
    numbers 0 for text and blank.
    """

    def __init__(self, Py_ssize_t base, Py_ssize_t size):
        self.base = base
        self.size = size
        self.gapped = False
        self._hold(np.zeros(size, np.uint8), np.zeros(size), np.full(size, -1, np.int32), None)

    cdef int _hold(self, object kinds, object numbers, object codes, object owners) except -1:
        self.kinds, self.numbers, self.codes, self.owners = kinds, numbers, codes, owners
        self.kinds_view, self.numbers_view, self.codes_view = kinds, numbers, codes
        self.has_owners = owners is not None
        if self.has_owners:
            self.owners_view = owners
        self.spans = {}
        return 0

    cpdef int reserve(self, Py_ssize_t first, Py_ssize_t last) except -1:
        """Make rows `first` to `last` part of the column; half as many again, where it grows."""
        cdef Py_ssize_t low, high, at, stop = self.base + self.size
        if first >= self.base and last < stop:
            return 0
        low, high = self.base, stop
        if self.size == 0:
            low, high = first, last + 1
        if first < low:
            low = max(0, first - self.size // 2)
        if last >= high:
            high = min(_ROWS_MAX, max(last + 1, low + self.size + self.size // 2 + 8))
        size = high - low
        at = self.base - low
        self.gapped = self.gapped or (self.size > 0 and (first - stop > GAP_MIN or self.base - last > GAP_MIN))
        kinds, numbers = _blank(size, np.uint8, self.gapped), _blank(size, np.float64, self.gapped)
        codes, owners = _none(size, self.gapped), _none(size, self.gapped) if self.has_owners else None
        if self.size:
            cut = slice(at, at + self.size)
            if self.gapped:
                held = np.flatnonzero(self.kinds)
                kinds[cut][held], numbers[cut][held], codes[cut][held] = (
                    self.kinds[held], self.numbers[held], self.codes[held])
            else:
                kinds[cut], numbers[cut], codes[cut] = self.kinds, self.numbers, self.codes
            if self.has_owners:
                held = np.flatnonzero(self.owners >= 0) if self.gapped else slice(None)
                owners[cut][held] = self.owners[held]
        self.base, self.size = low, size
        return self._hold(kinds, numbers, codes, owners)

    cdef object value(self, Py_ssize_t row, TextPool pool):
        """The value of one row; None outside the column."""
        cdef Py_ssize_t at = row - self.base
        if at < 0 or at >= self.size:
            return None
        return cell_of(self.kinds_view[at], self.numbers_view[at], self.codes_view[at], pool)

    cdef void put(self, Py_ssize_t row, uint8_t kind, double number, int32_t code) noexcept:
        """Write one row that is part of the column."""
        cdef Py_ssize_t at = row - self.base
        self.kinds_view[at] = kind
        self.numbers_view[at] = number
        self.codes_view[at] = code

    cpdef Span span(self, Py_ssize_t first, Py_ssize_t rows):
        """`rows` rows from `first`: views that follow later writes where the column has them all, else a padded copy."""
        cdef Py_ssize_t at = first - self.base, low, high
        cdef Span found
        if at >= 0 and at + rows <= self.size:
            key = (first, rows)
            found = <Span> self.spans.get(key)
            if found is None:
                if len(self.spans) >= SPANS_KEPT:
                    self.spans.clear()
                cut = slice(at, at + rows)
                found = self.spans[key] = Span(self.kinds[cut], self.numbers[cut], self.codes[cut])
            return found
        kinds, numbers, codes = np.zeros(rows, np.uint8), np.zeros(rows), np.full(rows, -1, np.int32)
        low, high = max(first, self.base), min(first + rows, self.base + self.size)
        if low < high:
            into, source = slice(low - first, high - first), slice(low - self.base, high - self.base)
            kinds[into], numbers[into], codes[into] = self.kinds[source], self.numbers[source], self.codes[source]
        return Span(kinds, numbers, codes)

    cdef int32_t owner(self, Py_ssize_t row) noexcept:
        """The region of the formula in one row, or -1."""
        cdef Py_ssize_t at = row - self.base
        if not self.has_owners or at < 0 or at >= self.size:
            return -1
        return self.owners_view[at]

    cpdef int own(self, Py_ssize_t first, Py_ssize_t last, int32_t region) except -1:
        """Give rows `first` to `last` to a region (-1: to none)."""
        self.reserve(first, last)
        if not self.has_owners:
            if region < 0:
                return 0
            self.owners = _none(self.size, self.gapped)
            self.owners_view = self.owners
            self.has_owners = True
        self.owners[first - self.base : last + 1 - self.base] = region
        return 0

    def fill(self, Py_ssize_t first, kinds, numbers, codes):
        """Write whole arrays from row `first` on."""
        self.reserve(first, first + len(kinds) - 1)
        cut = slice(first - self.base, first - self.base + len(kinds))
        self.kinds[cut], self.numbers[cut], self.codes[cut] = kinds, numbers, codes

    def fill_numbers(self, Py_ssize_t first, const double[::1] numbers):
        """Write numbers from row `first` on; what is not finite is blank."""
        cdef Py_ssize_t at, start = 0, stop, size = numbers.shape[0]
        if size == 0:
            return
        self.reserve(first, first + size - 1)
        cdef uint8_t *kinds = &self.kinds_view[first - self.base]
        cdef double *to = &self.numbers_view[first - self.base]
        with nogil:
            if memchr(kinds, TEXT, size) != NULL:  # elsewhere the codes are -1
                memset(&self.codes_view[first - self.base], 0xFF, size * sizeof(int32_t))
            memset(kinds, NUMBER, size)
            while start < size:
                stop = min(start + BLOCK_ROWS, size)
                memcpy(to + start, &numbers[start], (stop - start) * sizeof(double))
                if not _all_finite(to + start, stop - start):
                    for at in range(start, stop):
                        if to[at] - to[at] != 0:
                            kinds[at], to[at] = BLANK, 0.0
                start = stop

    def fill_plain(self, Py_ssize_t first, list values, Py_ssize_t count, TextPool pool):
        """Write so many values that `are_plain` from row `first` on.

        A string that the list repeats is known by its address.

        Raises:
            RuntimeError: another thread has changed the list since it was looked at.
        """
        cdef Py_ssize_t at
        cdef Seen[SEEN] seen
        cdef Seen *place
        cdef uint8_t kind
        cdef double number
        cdef int32_t code
        if len(values) != count or not are_plain(values):
            raise RuntimeError("the list of values was changed while it was written")
        self.reserve(first, first + count - 1)
        at = first - self.base
        memset(&seen[0], 0, sizeof(seen))
        for value in values:
            kind, number, code = BLANK, 0.0, -1
            if type(value) is str:
                place = &seen[(<uint64_t> <void *> value * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - SEEN_BITS)]
                if place.text != <void *> value:
                    place.code = pool.intern(value)
                    place.text = <void *> value
                kind, code = TEXT, place.code
            elif value is not None and <double> value == <double> value:
                kind, number = NUMBER, value
            self.kinds_view[at], self.numbers_view[at], self.codes_view[at] = kind, number, code
            at += 1

    def copy(self, stored, codes):
        """Copy the cells of a stored column in one run, its `codes` given; the column is empty."""
        self.base, self.size = stored.start, stored.stop - stored.start
        codes = codes if codes.flags.writeable else np.array(codes)
        self._hold(np.array(stored.kinds), np.array(stored.numbers), codes, None)

    def spread(self, stored, codes):
        """Write the cells of a stored column, its codes by their place in it; the column is empty."""
        self.gapped = stored.stop - stored.start - len(codes) > GAP_MIN
        self.reserve(stored.start, stored.stop - 1)
        at = stored.rows() - self.base
        self.kinds[at], self.numbers[at], self.codes[at] = stored.dense.kinds, stored.dense.numbers, codes


cdef class SheetCells:
    """One sheet of a book: its columns by position (None: never touched) and how far its cells reach."""

    def __init__(self, str name, int index):
        self.name = name
        self.index = index
        self.columns = []
        self.unread = {}
        self.unwritten = {}
        self.text = None
        self.entered = np.full(1, -1, np.int32)
        self.rows_used = 0
        self.columns_used = 0

    cpdef CellColumn column(self, Py_ssize_t column):
        """The column at a position; None where it has no cell."""
        cdef CellColumn found = <CellColumn> self.columns[column] if 0 <= column < len(self.columns) else None
        if found is None and column in self.unread:
            stored = self.unread.pop(column)
            found = self.columns[column] = CellColumn(stored.start, 0)
            if isinstance(stored, GappedColumn):
                found.spread(stored, self.codes_of(stored.dense.codes))
            else:
                found.copy(stored, self.codes_of(stored.codes))
        return found

    cdef object codes_of(self, object stored):
        """The book's codes of a stored column's, whose texts are entered into its pool; the same where none is a text."""
        is_text = stored >= 0
        count = np.count_nonzero(is_text)
        if not count:
            return stored
        if FEW * count > len(stored):
            used = np.zeros(len(self.entered), np.uint8)
            mark(used, stored)
            _enter(self, np.flatnonzero(used & (self.entered == -2)))
            return self.entered[stored]
        places = np.flatnonzero(is_text)  # a header above numbers
        texts, codes = stored[places], np.full(len(stored), -1, np.int32)
        _enter(self, np.unique(texts[self.entered[texts] == -2]).astype(np.int64))
        codes[places] = self.entered[texts]
        return codes

    cpdef CellColumn grown(self, Py_ssize_t column, Py_ssize_t first, Py_ssize_t last):
        """The column at a position with rows `first` to `last` in it."""
        cdef CellColumn found
        assert 0 <= column < _COLUMNS_MAX and 0 <= first <= last < _ROWS_MAX
        while len(self.columns) <= column:
            self.columns.append(None)
        found = self.column(column)
        if found is None:
            low = 0 if first < 1024 else first
            found = self.columns[column] = CellColumn(low, last + 1 - low)
        else:
            self.unwritten.pop(column, None)
            found.reserve(first, last)
        self.rows_used = max(self.rows_used, last + 1)
        self.columns_used = max(self.columns_used, column + 1)
        return found

    def value(self, Py_ssize_t row, Py_ssize_t column, TextPool pool):
        """The value of one cell; None outside the cells."""
        cdef CellColumn found = self.column(column)
        return None if found is None else found.value(row, pool)

    def put(self, Py_ssize_t row, Py_ssize_t column, value, TextPool pool):
        """Write one value."""
        cdef tuple form = stored_form(value, pool)
        self.grown(column, row, row).put(row, form[0], form[1], form[2])

    def load(self, sheet, TextPool pool):
        """Take the columns of a `core.grid.sheet.Sheet`; each is copied, its text entered into the book's pool, once it is
        asked for."""
        self.pool, self.text = pool, sheet.text
        self.entered = np.full(len(sheet.text) + 1, -2, np.int32)
        self.entered[len(sheet.text)] = -1  # which the code -1 finds
        self.columns = [None] * sheet.column_count
        self.unread = {at: stored for at, stored in enumerate(sheet.columns) if stored is not None}
        self.unwritten = dict(self.unread)
        self.rows_used, self.columns_used = sheet.row_count, sheet.column_count


cdef int _enter(SheetCells cells, object missing) except -1:
    """Enter stored texts into the book's pool."""
    cells.entered[missing] = cells.pool.enter(cells.text.data, cells.text.offsets, missing)
    return 0


cdef tuple stored_form(object value, TextPool pool):
    """(kind, number, code) of a value; of an array its first element."""
    cdef double number
    kind = type(value)
    if kind is float or kind is int:
        number = value
        # NaN and the infinities are no numbers of a cell; minus zero is zero.
        return (NUMBER, number + 0.0, -1) if number - number == 0 else (ERROR, <double> _NUM.code, -1)
    if kind is str:
        if len(<str> value) > 32_767:
            return (ERROR, <double> _VALUE.code, -1)
        return (TEXT, 0.0, pool.intern(value))
    if value is None:
        return (BLANK, 0.0, -1)
    if kind is bool:
        return (BOOLEAN, 1.0 if value else 0.0, -1)
    if isinstance(value, Error):
        return (ERROR, <double> (<Error> value).code, -1)
    if isinstance(value, _DATE):
        return (DATE, <double> value, -1)
    if isinstance(value, Array):
        return stored_form(value.at(0, 0), pool)
    if isinstance(value, (float, int)) or hasattr(value, "__float__"):
        return stored_form(float(value), pool)
    return (ERROR, <double> _VALUE.code, -1)


cdef inline int _write(CellColumn column, Py_ssize_t row, object value, TextPool pool, object checked) except -1:
    """Write a given value in a row that is part of the column: NaN is blank, what is no plain value is `checked`."""
    cdef tuple form
    if type(value) is float and value - value == 0:
        column.put(row, NUMBER, value, -1)
    elif type(value) is str and len(<str> value) <= 32_767:
        column.put(row, TEXT, 0.0, pool.intern(value))
    elif value is not None and not (isinstance(value, float) and value != value):  # NA compares as neither
        form = stored_form(checked(value), pool)
        column.put(row, form[0], form[1], form[2])
    else:
        column.put(row, BLANK, 0.0, -1)
    return 0


def read_list(SheetCells cells, Py_ssize_t column, list values, TextPool pool, checked):
    """Write a list from row 0 down; (rows, texts) of the items that are formulas (a text that begins with '=').

    NaN is blank; `checked` makes a value of a cell of what is no plain number or text, or raises.
    """
    cdef Py_ssize_t row, found = 0, count = len(values)
    cdef int32_t[::1] rows = np.empty(count, np.int32)
    cdef CellColumn stored
    if count == 0:
        return rows.base, []
    stored = cells.grown(column, 0, count - 1)
    for row in range(count):
        value = values[row]
        if type(value) is str and len(<str> value) > 1 and (<str> value)[0] == u"=":
            rows[found] = row
            found += 1
        else:
            _write(stored, row, value, pool, checked)
    return rows.base[:found], values if found == count else [values[row] for row in rows[:found]]


def are_plain(list values):
    """Whether each value is a number of a cell, NaN, a text that a cell can hold, or None."""
    for value in values:
        if type(value) is str:
            if len(<str> value) > 32_767:
                return False
        elif value is not None and (type(value) is not float or value - value != 0 and value == value):
            return False
    return True


def span_of_list(list values, TextPool pool, checked):
    """The Span of a list of constants, `checked` as in `read_list`."""
    cdef CellColumn column = CellColumn(0, len(values))
    cdef Py_ssize_t row
    for row in range(len(values)):
        _write(column, row, values[row], pool, checked)
    return Span(column.kinds, column.numbers, column.codes)


def put_values(SheetCells cells, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right, list grid, TextPool pool):
    """Write a rectangle of formula results, row-major; a blank result is 0, as in any formula cell."""
    cdef Py_ssize_t row, column, width = right - left + 1
    cdef CellColumn found
    cdef tuple form
    for column in range(left, right + 1):
        found = cells.grown(column, top, bottom)
        for row in range(top, bottom + 1):
            value = grid[(row - top) * width + column - left]
            form = stored_form(0.0 if value is None else value, pool)
            found.put(row, form[0], form[1], form[2])
