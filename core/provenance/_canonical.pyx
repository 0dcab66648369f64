"""Canonical records of a column's cells, as bytes to be hashed or as keyed prints. `canonical` defines them."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy

from core.values import ERRORS
from core.values cimport BOOLEAN, DATE, ERROR, NUMBER, TEXT

cdef extern from "_siphash.h":
    uint64_t cushion_siphash(const uint8_t *data, size_t size, uint64_t k0, uint64_t k1) noexcept nogil

cdef extern from "_rounding.h":
    bint cushion_rounded(double size, double *result) noexcept nogil

cdef enum:
    _CHUNK = 1 << 20  # bytes after which a chunk is given out: it stays in the cache that OpenSSL reads it from
    _SLACK = 64  # bytes of a record besides its texts
    ARRAY = 1  # what a formula cell is besides its text: an array formula, one whose value is not covered
    UNSTEADY = 2
    _DIGITS = 15
    _ARRAY_DIGITS = 10
    CONSTANT_TRUE = 1  # what a formula's text may be worth by itself; above these, an error's code
    CONSTANT_FALSE = 2
    CONSTANT_ERROR = 3

cdef bytes _ERRORS_JOINED = b"".join(bytes([len(text)]) + text.encode() for text in ERRORS)
cdef const uint8_t* _ERROR_TEXTS = _ERRORS_JOINED
cdef int[16] _ERROR_BEGINS
cdef int _ERROR_COUNT = len(ERRORS)
cdef int _at = 0
for _code, _text in enumerate(ERRORS):
    _ERROR_BEGINS[_code] = _at
    _at += 1 + len(_text)


def _slowly(number, digits_kept):
    """`rounded` by the digits that Python prints."""
    if number < 0:
        return -_slowly(-number, digits_kept)
    digits, _, exponent = f"{number!r}".partition("e")
    whole, _, part = digits.partition(".")
    figures = (whole + part).lstrip("0")
    if len(figures.rstrip("0")) <= digits_kept:
        return number
    shift = int(exponent or 0) - len(part) + len(figures) - digits_kept
    return float(f"{(int(figures[:digits_kept + 1]) + 5) // 10}e{shift}")


cdef double _rounded(double number) noexcept nogil:
    """A number at 15 significant digits: its shortest decimal that reads back, rounded half away from zero."""
    cdef double size = fabs(number)
    cdef double result
    if size < 1e15 and size == <double> <int64_t> size:
        return number + 0.0  # -0 is 0
    if cushion_rounded(size, &result):
        return -result if number < 0 else result
    if not size <= 1.7976931348623157e308:  # no cell of a file has such a number
        return number
    with gil:
        return _slowly(number, _DIGITS)


cdef double _of_array(double number) noexcept nogil:
    """The number that an array formula gives: at 15 digits, then at 10."""
    number = _rounded(number)
    if number == <double> <int64_t> number and fabs(number) < 1e10:
        return number
    with gil:
        return _slowly(number, _ARRAY_DIGITS) if fabs(number) <= 1.7976931348623157e308 else number


def rounded(double number):
    """A finite number at 15 significant digits: its shortest decimal that reads back, rounded half away from zero."""
    return _rounded(number)


cdef inline bint _blank(uint8_t byte) noexcept nogil:
    return byte == 32 or byte == 9 or byte == 10 or byte == 13


cdef class Records:
    """The canonical records of one column, in the order of their rows; `chunk` gives them away as bytes, or `prints`
    as 32 bits for each. The arrays must outlive it.

    Cells are `column.dense` with its runs; `texts` the sheet's (offsets, data); formulas of this column in the order of
    their rows with the code of their normal form, flags (ARRAY, UNSTEADY) and extents (rows, columns) of arrays; `filled`
    the first and last rows that array formulas fill, in order, and whether their values are not covered;
    `forms` the normal forms' (offsets, data); `constants` by code what a form is worth by itself; `booleans` by number
    format whether it shows 0 and 1 as FALSE and TRUE.
    """

    cdef const uint8_t[::1] kinds
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    cdef const uint16_t[::1] formats
    cdef const int32_t[::1] starts
    cdef const int32_t[::1] lengths
    cdef const int64_t[::1] text_offsets
    cdef const uint8_t[::1] text_data
    cdef const int32_t[::1] formula_rows
    cdef const int32_t[::1] formula_codes
    cdef const uint8_t[::1] formula_flags
    cdef const int32_t[:, ::1] extents
    cdef const int32_t[:, ::1] filled
    cdef const int64_t[::1] form_offsets
    cdef const uint8_t[::1] form_data
    cdef const int8_t[::1] constants
    cdef const uint8_t[::1] booleans
    cdef Py_ssize_t slot, run, into, formula, filling
    cdef uint8_t* buffer
    cdef Py_ssize_t room, used
    cdef readonly int64_t count

    def __init__(self, kinds, numbers, codes, formats, starts, lengths, texts, formula_rows, formula_codes,
                 formula_flags, extents, filled, forms, constants, booleans):
        self.kinds, self.numbers, self.codes, self.formats = kinds, numbers, codes, formats
        self.starts, self.lengths = starts, lengths
        self.text_offsets, self.text_data = texts
        self.formula_rows, self.formula_codes = formula_rows, formula_codes
        self.formula_flags, self.extents, self.filled = formula_flags, extents, filled
        self.form_offsets, self.form_data = forms
        self.constants, self.booleans = constants, booleans
        self.slot = self.run = self.into = self.formula = self.filling = 0
        self.count = 0
        if self.reserve(_CHUNK + _SLACK) < 0:
            raise MemoryError

    def __dealloc__(self):
        free(self.buffer)

    cdef int reserve(self, Py_ssize_t room) noexcept nogil:
        cdef void* moved
        if room > self.room:
            moved = realloc(self.buffer, room)
            if moved == NULL:
                return -1
            self.buffer = <uint8_t*> moved
            self.room = room
        return 0

    cdef inline void byte(self, uint8_t value) noexcept nogil:
        self.buffer[self.used] = value
        self.used += 1

    cdef inline void long_(self, uint32_t value) noexcept nogil:
        memcpy(self.buffer + self.used, &value, 4)
        self.used += 4

    cdef inline void number(self, uint8_t kind, double value, bint of_array) noexcept nogil:
        self.byte(kind)
        value = _of_array(value) if of_array else _rounded(value)
        memcpy(self.buffer + self.used, &value, 8)
        self.used += 8

    cdef inline void error(self, int code) noexcept nogil:
        cdef const uint8_t* text = _ERROR_TEXTS + _ERROR_BEGINS[code]
        self.byte(b"e")
        memcpy(self.buffer + self.used, text, text[0] + 1)
        self.used += text[0] + 1

    cdef int text(self, int32_t code, bint trimmed) noexcept nogil:
        """Take a text with CR LF as LF, `trimmed` without blanks at its ends; 0 where nothing is left of it, -1
        without memory."""
        cdef int64_t begin = self.text_offsets[code]
        cdef int64_t size = self.text_offsets[code + 1] - begin
        cdef const uint8_t* data
        cdef int64_t at
        cdef Py_ssize_t mark
        cdef uint32_t length
        if trimmed:
            while size and _blank(self.text_data[begin + size - 1]):
                size -= 1
            while size and _blank(self.text_data[begin]):
                begin += 1
                size -= 1
        if size == 0:
            return 0
        if self.reserve(self.used + size + _SLACK) < 0:
            return -1
        data = &self.text_data[begin]
        self.byte(b"t")
        mark = self.used
        self.used += 4
        if memchr(data, 13, size) == NULL:
            memcpy(self.buffer + self.used, data, size)
            self.used += size
        else:
            for at in range(size):
                if not (data[at] == 13 and at + 1 < size and data[at + 1] == 10):
                    self.byte(data[at])
        length = <uint32_t> (self.used - mark - 4)
        memcpy(self.buffer + mark, &length, 4)
        return 1

    cdef int step(self) noexcept nogil:
        """Write the next record behind `used`; 0 at the end, -1 without memory."""
        cdef Py_ssize_t slots = self.kinds.shape[0]
        cdef int64_t row, formula_row
        cdef Py_ssize_t slot, begin
        cdef int said
        while True:
            slot = -1
            row = -1
            if self.slot < slots:
                while self.into == self.lengths[self.run]:
                    self.run += 1
                    self.into = 0
                slot = self.slot
                row = <int64_t> self.starts[self.run] + self.into
            formula_row = self.formula_rows[self.formula] if self.formula < self.formula_rows.shape[0] else -1
            if slot < 0 and formula_row < 0:
                return 0
            if self.reserve(self.used + _SLACK) < 0:
                return -1
            if slot >= 0 and (formula_row < 0 or row <= formula_row):
                self.slot += 1
                self.into += 1
            else:
                slot = -1
            begin = self.used
            if formula_row >= 0 and (slot < 0 or row == formula_row):
                self.formula += 1
                self.long_(<uint32_t> formula_row)
                said = self.formula_record(slot, self.formula - 1)
            else:
                while self.filling < self.filled.shape[0] and self.filled[self.filling, 1] < row:
                    self.filling += 1
                self.long_(<uint32_t> row)
                if self.filling < self.filled.shape[0] and self.filled[self.filling, 0] <= row:
                    said = 0 if self.filled[self.filling, 2] else self.result(slot, True)
                else:
                    said = self.value(slot)
            if said != 0:
                if said > 0:
                    self.count += 1
                return said
            self.used = begin

    cdef int value(self, Py_ssize_t slot) noexcept nogil:
        """What a cell without a formula holds; 0 for nothing."""
        cdef uint8_t kind = self.kinds[slot]
        cdef double number = self.numbers[slot]
        if kind == NUMBER:
            if (number == 0 or number == 1) and self.booleans[self.formats[slot]]:
                self.byte(b"b")
                self.byte(number == 1)
            else:
                self.number(b"n", number, False)
        elif kind == TEXT:
            return self.text(self.codes[slot], False)
        elif kind == DATE:
            self.number(b"d", number, False)
        elif kind == BOOLEAN:
            self.byte(b"b")
            self.byte(number != 0)
        elif kind == ERROR:
            self.error(<int> number)
        else:
            return 0
        return 1

    cdef int formula_record(self, Py_ssize_t slot, Py_ssize_t formula) noexcept nogil:
        """A formula and its value; `slot` is -1 where none is stored."""
        cdef int32_t code = self.formula_codes[formula]
        cdef int8_t constant = self.constants[code]
        cdef uint8_t flags = self.formula_flags[formula]
        cdef int64_t begin = self.form_offsets[code]
        cdef int64_t size = self.form_offsets[code + 1] - begin
        cdef int said
        if constant and not flags & ARRAY:
            if constant >= CONSTANT_ERROR:
                self.error(constant - CONSTANT_ERROR)
            else:
                self.byte(b"b")
                self.byte(constant == CONSTANT_TRUE)
            return 1
        if self.reserve(self.used + size + 2 * _SLACK) < 0:
            return -1
        if flags & ARRAY:
            self.byte(b"a")
            self.long_(<uint32_t> self.extents[formula, 0])
            self.long_(<uint32_t> self.extents[formula, 1])
        else:
            self.byte(b"f")
        self.long_(<uint32_t> size)
        if size:
            memcpy(self.buffer + self.used, &self.form_data[begin], size)
        self.used += size
        if flags & UNSTEADY:
            self.byte(b"v")
            return 1
        said = self.result(slot, flags & ARRAY) if slot >= 0 else 0
        if said == 0:
            self.byte(b"-")
        return -1 if said < 0 else 1

    cdef int result(self, Py_ssize_t slot, bint of_array) noexcept nogil:
        """What a formula gave; 0 for nothing."""
        cdef uint8_t kind = self.kinds[slot]
        if kind == NUMBER or kind == DATE or kind == BOOLEAN:
            self.number(b"n", self.numbers[slot], of_array)
        elif kind == ERROR:
            self.error(<int> self.numbers[slot])
        else:
            return self.text(self.codes[slot], True) if kind == TEXT else 0
        return 1

    def chunk(self):
        """The next records, about a megabyte of them, in memory that the next call writes over; None at the end.

        Raises:
            MemoryError: no memory for the longest text.
        """
        cdef int said = 1
        self.used = 0
        with nogil:
            while said > 0 and self.used < _CHUNK:
                said = self.step()
        if said < 0:
            raise MemoryError
        return <uint8_t[:self.used]> self.buffer if self.used else None

    def prints(self, uint64_t k0, uint64_t k1, int32_t[::1] rows not None, uint32_t[::1] found not None):
        """The row of each record, and the lower 32 bits of SipHash-2-4 over the rest of it; how many there were.

        The arrays have room for every slot and every formula.

        Raises:
            MemoryError: no memory for the longest text.
        """
        cdef int said = 1
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t room = self.kinds.shape[0] + self.formula_rows.shape[0]
        cdef int32_t row
        if rows.shape[0] < room or found.shape[0] < room:
            raise ValueError("the arrays need room for every slot and every formula")
        with nogil:
            while True:
                self.used = 0
                said = self.step()
                if said <= 0:
                    break
                memcpy(&row, self.buffer, 4)
                rows[count] = row
                found[count] = <uint32_t> cushion_siphash(self.buffer + 4, self.used - 4, k0, k1)
                count += 1
        if said < 0:
            raise MemoryError
        return count
