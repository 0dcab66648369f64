"""The cells of a sheet as lines of delimited text or as JSON arrays, in UTF-8.

The contract of the boundary: a block of rows is opened as one array of each kind for each column, and taken in pieces
of some 64 KB, so that memory is bounded however long the rows and the texts are. What a text needs (quotes, a
guard, escapes) is found once for each distinct text of the sheet.
"""

from libc.math cimport rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from core.files.write._numerals cimport NUMERAL_MAX, put_number, put_whole
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, TEXT

import numpy as np

from core.files.parts import Shows
from core.values import DAYS_BETWEEN_SYSTEMS, ERRORS, SERIAL_OF_1970, SERIALS_STOP

cdef enum:
    CLOCK = 2                         # of `Shows`
    ELAPSED = 4

    PIECE_BYTES = 1 << 16             # a piece ends with the cell that reaches this
    CELL_BYTES = 64                   # more than any cell but a text takes, what stands around it included
    MILLISECONDS = 86_400_000         # of a day
    DAYS_1900 = 2_958_466             # serials from here on are past the year 9999
    DAYS_1904 = 2_957_004

    QUOTE = 1                         # marks of a text: it is quoted,
    GUARD = 2                         # an apostrophe stands before it,
    INNER = 4                         # or before a formula after what parts cells elsewhere
    DOUBLED = 8                       # it holds quotes
    ESCAPE = 16

    PARTS = 1                         # classes of a byte: parts cells or lines for some program
    QUOTED = 2                        # a field with it is quoted

cdef int64_t TO_1970 = -SERIAL_OF_1970
cdef int64_t TO_1970_FROM_1904 = DAYS_BETWEEN_SYSTEMS - SERIAL_OF_1970
assert Shows.TIME == CLOCK and Shows.ELAPSED == ELAPSED
assert SERIALS_STOP == DAYS_1900 and SERIALS_STOP - DAYS_BETWEEN_SYSTEMS == DAYS_1904

cdef tuple _ERROR_BYTES = tuple(text.encode() for text in ERRORS)
cdef enum:
    ERRORS_MAX = 16
    ERROR_NUM = 5
cdef char *ERROR_TEXTS[ERRORS_MAX]
cdef int64_t ERROR_SIZES[ERRORS_MAX]
cdef int ERROR_COUNT = len(_ERROR_BYTES)
assert ERRORS[ERROR_NUM] == "#NUM!" and ERROR_COUNT <= ERRORS_MAX
for _at in range(ERROR_COUNT):
    ERROR_TEXTS[_at] = _ERROR_BYTES[_at]
    ERROR_SIZES[_at] = len(_ERROR_BYTES[_at])

cdef struct Cells:
    const uint8_t *kinds              # NULL: every cell is blank
    const double *numbers
    const int32_t *codes
    const uint16_t *formats


# Dates -------------------------------------------------------------------------------------------------------------


cdef inline char *put_padded(char *out, int64_t value, int width) noexcept nogil:
    cdef int at
    for at in range(width - 1, -1, -1):
        out[at] = <char> (48 + value % 10)
        value //= 10
    return out + width


cdef char *put_day(char *out, int64_t days) noexcept nogil:
    """Days since 1970-01-01 as YYYY-MM-DD (Howard Hinnant, "chrono-compatible low-level date algorithms")."""
    cdef int64_t era, of_era, year, of_year, month
    days += 719_468                   # from the first of March of the year 0
    era = days // 146_097
    of_era = days - era * 146_097
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    out = put_padded(out, year + era * 400 + (month >= 10), 4)
    out[0] = 45
    out = put_padded(out + 1, month + 3 if month < 10 else month - 9, 2)
    out[0] = 45
    return put_padded(out + 1, of_year - (153 * month + 2) // 5 + 1, 2)


cdef char *put_clock(char *out, int64_t milliseconds) noexcept nogil:
    """HH:MM:SS, hours past 99 with their digits, and milliseconds where there are some."""
    cdef int64_t seconds = milliseconds // 1000, hours = seconds // 3600
    out = put_whole(out, <uint64_t> hours) if hours > 99 else put_padded(out, hours, 2)
    out[0] = 58
    out = put_padded(out + 1, seconds // 60 % 60, 2)
    out[0] = 58
    out = put_padded(out + 1, seconds % 60, 2)
    if milliseconds % 1000:
        out[0] = 46
        out = put_padded(out + 1, milliseconds % 1000, 3)
    return out


cdef char *put_moment(char *out, double serial, int shows, bint date_1904) noexcept nogil:
    """A serial in ISO 8601, by what its format shows; NULL where it is no moment.

    Nothing that the serial holds is left out: a day with a time of day has it, also under a format without one.
    """
    cdef int64_t days, part
    cdef int64_t stop = DAYS_1904 if date_1904 else DAYS_1900
    if not 0 <= serial < stop:
        return NULL
    days = <int64_t> serial
    part = <int64_t> rint((serial - days) * MILLISECONDS)
    if shows & ELAPSED:
        return put_clock(out, days * MILLISECONDS + part)
    if days == 0 and (shows == CLOCK or not date_1904):
        if part == 0 and not shows & CLOCK:
            return NULL               # zero under a day's format: no such day
        return put_clock(out, part if part < MILLISECONDS else MILLISECONDS - 1)
    if part == MILLISECONDS:
        part = 0
        days += 1
        if days == stop:
            return NULL
    if date_1904:
        out = put_day(out, days + TO_1970_FROM_1904)
    else:
        out = put_day(out, days + TO_1970 + (days < 60))
    if part or shows & CLOCK:
        out[0] = 84
        out = put_clock(out + 1, part)
    return out


# What a spreadsheet would calculate ----------------------------------------------------------------------------------


cdef const uint8_t *past_unseen(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Past quotes and what is not seen: blanks of every width, controls, marks of direction and of order."""
    while p < end:
        if p[0] <= 32 or p[0] == 34 or p[0] == 127:
            p += 1
        elif p[0] == 0xC2 and end - p > 1 and (p[1] <= 0xA0 or p[1] == 0xAD):
            p += 2
        elif end - p > 2 and (
            p[0] == 0xE2 and p[1] == 0x80 and (p[2] <= 0x8F or 0xA8 <= p[2] <= 0xAF)      # U+2000-200F, 2028-202F
            or p[0] == 0xE2 and p[1] == 0x81 and 0x9F <= p[2] <= 0xAF                     # U+205F-206F
            or p[0] == 0xE1 and (p[1] == 0x9A and p[2] == 0x80 or p[1] == 0xA0 and p[2] == 0x8E)
            or p[0] == 0xE3 and (p[1] == 0x80 and p[2] == 0x80 or p[1] == 0x85 and p[2] == 0xA4)
            or p[0] == 0xEF and (p[1] == 0xBB and p[2] == 0xBF or p[1] == 0xB8 and p[2] <= 0x8F)
            or p[0] == 0xEF and p[1] == 0xBF and 0xB9 <= p[2] <= 0xBB
        ):
            p += 3
        else:
            break
    return p


cdef bint is_sign(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Whether a formula begins here: = + - @, their full-width and small twins, and the minus sign."""
    if p[0] == 61 or p[0] == 43 or p[0] == 45 or p[0] == 64:
        return True
    if end - p < 3:
        return False
    if p[0] == 0xEF and p[1] == 0xBC:
        return p[2] == 0x9D or p[2] == 0x8B or p[2] == 0x8D or p[2] == 0xA0
    if p[0] == 0xEF and p[1] == 0xB9:
        return p[2] == 0xA6 or p[2] == 0xA2 or p[2] == 0xA3 or p[2] == 0xAB
    return p[0] == 0xE2 and p[1] == 0x88 and p[2] == 0x92


cdef bint is_harmless(const uint8_t *p, const uint8_t *end, bint hyphens) noexcept nogil:
    """Whether a text is wholly a number with a minus sign (-5.25, -1e-3, -4%), or nothing but hyphens and spaces."""
    cdef const uint8_t *begin = p
    cdef int digits = 0
    if p[0] != 45:
        return False
    while end > p and (end - 1)[0] == 32:
        end -= 1
    while p < end and (p[0] == 45 or p[0] == 32):
        p += 1
    if p == end:
        return hyphens
    p = begin + 1
    while p < end and 48 <= p[0] <= 57:
        p += 1
        digits = 1
    if p < end and p[0] == 46:
        p += 1
        while p < end and 48 <= p[0] <= 57:
            p += 1
            digits = 1
    if not digits:
        return False
    if p < end and (p[0] == 69 or p[0] == 101):
        p += 1
        if p < end and (p[0] == 43 or p[0] == 45):
            p += 1
        digits = 0
        while p < end and 48 <= p[0] <= 57:
            p += 1
            digits = 1
        if not digits:
            return False
    elif p < end and p[0] == 37:
        p += 1
    return p == end


cdef bint is_formula(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Whether some spreadsheet may calculate a cell that begins so."""
    p = past_unseen(p, end)
    return p < end and is_sign(p, end)


cdef bint is_inner(const uint8_t *p, const uint8_t *end, const uint8_t *classes) noexcept nogil:
    """The same of what follows a byte that parts cells, and no other such byte."""
    cdef const uint8_t *seen = past_unseen(p, end)
    while p < seen:
        if classes[p[0]] & PARTS:
            return False
        p += 1
    return is_formula(seen, end)


cdef int csv_marks(const uint8_t *begin, const uint8_t *end, const uint8_t *classes) noexcept nogil:
    cdef const uint8_t *p = begin
    cdef int marks = 0
    if p == end:
        return QUOTE
    # Beside a tab a program that parts by commas sees -<tab>SUM(A1), which is a formula; after any other delimiter a
    # hyphen is none, nor is a number. Within a text, where a quote may follow the hyphen, nothing is harmless.
    if p[0] == 9 or p[0] == 10 or p[0] == 13:
        marks = GUARD
    elif is_formula(p, end) and not is_harmless(past_unseen(p, end), end, classes[9] & PARTS):
        marks = GUARD
    while p < end:
        if classes[p[0]]:
            marks |= QUOTE
            if p[0] == 34:
                marks |= DOUBLED
            elif classes[p[0]] & PARTS and is_inner(p + 1, end, classes):
                marks |= INNER
        p += 1
    return marks


cdef void csv_classes(uint8_t *classes, uint8_t delimiter) noexcept nogil:
    """The class of each byte in a file that is parted by `delimiter`."""
    memset(classes, 0, 256)
    classes[9] = classes[10] = classes[13] = classes[44] = classes[59] = classes[124] = QUOTED | PARTS
    classes[34] = classes[delimiter] = QUOTED


cdef char *put_guarded(
    char *out, const uint8_t *text, const uint8_t *end, int marks, const uint8_t *classes
) noexcept nogil:
    """Write a text by its marks, three bytes for each of its own and one more at most; returns the place after it."""
    if marks & GUARD:
        out[0] = 39
        out += 1
    if not marks & (DOUBLED | INNER):
        memcpy(out, text, end - text)
        return out + (end - text)
    while text < end:
        if text[0] == 34 and marks & DOUBLED:
            out[0] = 34
            out += 1
        out[0] = text[0]
        out += 1
        if marks & INNER and classes[text[0]] & PARTS and is_inner(text + 1, end, classes):
            out[0] = 39
            out += 1
        text += 1
    return out


def guarded(str text):
    """A text for a field of a comma-separated file, with an apostrophe wherever a spreadsheet would calculate."""
    cdef uint8_t classes[256]
    cdef bytes given = text.encode()
    cdef const uint8_t *begin = given
    cdef const uint8_t *end = begin + len(given)
    cdef int marks
    csv_classes(classes, 44)
    marks = csv_marks(begin, end, classes) & (GUARD | INNER)
    if not marks:
        return text
    cdef bytearray made = bytearray(2 * len(given) + 1)
    cdef char *out = made
    return made[:put_guarded(out, begin, end, marks, classes) - out].decode()


cdef int first_marks(const uint8_t *text, int64_t size) noexcept nogil:
    """What the first text of a file needs: `sep=` would name another delimiter, ID begins a SYLK file, < a web page."""
    if size >= 4 and (text[0] | 32) == 115 and (text[1] | 32) == 101 and (text[2] | 32) == 112 and text[3] == 61:
        return GUARD
    if size >= 1 and text[0] == 60 or size >= 2 and text[0] == 73 and text[1] == 68:
        return QUOTE
    return 0


# Lines ---------------------------------------------------------------------------------------------------------------


cdef class Lines:
    """The cells of a sheet, block after block."""

    cdef const int64_t[::1] offsets
    cdef const uint8_t[::1] data
    cdef const uint8_t *bytes         # of `data`
    cdef const uint8_t[::1] shows     # by number format
    cdef uint8_t[::1] marks           # by text
    cdef bint date_1904
    cdef tuple held                   # the block's columns, whose arrays `cells` points into
    cdef Cells *cells
    cdef int64_t width, height, row, column, rows_before
    cdef char *out
    cdef int64_t size, room

    def __cinit__(self, text, shows, bint date_1904, *rest):
        self.offsets, self.data, self.shows = text.offsets, text.data, shows
        self.bytes = &self.data[0] if len(self.data) else NULL
        self.marks = np.zeros(len(text), np.uint8)
        self.date_1904 = date_1904
        self.room = PIECE_BYTES + CELL_BYTES
        self.out = <char *> malloc(self.room)
        if self.out == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.cells)
        free(self.out)

    def open(self, columns, Py_ssize_t height):
        """Begin a block: plain columns of `height` rows each, None for one that is blank throughout."""
        cdef const uint8_t[::1] kinds
        cdef const double[::1] numbers
        cdef const int32_t[::1] codes
        cdef const uint16_t[::1] formats
        cdef Cells *cells = <Cells *> calloc(max(len(columns), 1), sizeof(Cells))
        if cells == NULL:
            raise MemoryError
        free(self.cells)
        self.cells = cells
        self.held = tuple(columns)
        self.rows_before += self.height
        self.width, self.height, self.row, self.column = len(columns), height, 0, 0
        for at, column in enumerate(self.held):
            if column is None or height == 0:
                continue
            kinds, numbers, codes, formats = column.kinds, column.numbers, column.codes, column.formats
            assert len(kinds) == len(numbers) == len(codes) == len(formats) == height
            cells[at] = Cells(&kinds[0], &numbers[0], &codes[0], &formats[0])

    def take(self):
        """The next piece of the block's text; empty when the block is done.

        Raises:
            IndexError: a cell has a text, an error or a format that its sheet does not have.
        """
        cdef int problem
        self.size = 0
        with nogil:
            problem = self.fill()
        if problem == -1:
            raise MemoryError
        if problem == -2:
            raise IndexError("a cell has a text, an error or a format that its sheet does not have")
        return self.out[:self.size]

    cdef int fill(self) noexcept nogil:
        cdef int problem
        while self.row < self.height:
            while self.column < self.width:
                problem = self.put_cell(&self.cells[self.column])
                if problem < 0:
                    return problem
                self.column += 1
                if self.size >= PIECE_BYTES:
                    break
            if self.column == self.width:
                if not self.reserve(0):
                    return -1
                self.end_row()
                self.column = 0
                self.row += 1
            if self.size >= PIECE_BYTES:
                break
        return 0

    cdef bint reserve(self, int64_t size) noexcept nogil:
        """Make room for so many bytes and a cell."""
        cdef char *grown
        cdef int64_t room = self.size + size + CELL_BYTES
        if room > self.room:
            grown = <char *> realloc(self.out, room)
            if grown == NULL:
                return False
            self.out, self.room = grown, room
        return True

    cdef inline void put(self, char byte) noexcept nogil:
        self.out[self.size] = byte
        self.size += 1

    cdef inline void put_bytes(self, const char *text, int64_t size) noexcept nogil:
        memcpy(self.out + self.size, text, size)
        self.size += size

    cdef int put_cell(self, const Cells *cells) noexcept nogil:
        """Write one cell; -1 without memory, -2 for what is not in the sheet."""
        cdef int64_t code
        cdef int64_t begin, size
        cdef double number
        cdef char *end = NULL
        cdef int kind = BLANK if cells.kinds == NULL else cells.kinds[self.row]
        if not self.reserve(0):
            return -1
        self.begin_cell()
        if kind == BLANK:
            self.put_blank()
        elif kind == TEXT:
            code = cells.codes[self.row]
            if not 0 <= code < self.marks.shape[0]:
                return -2
            begin, size = self.offsets[code], self.offsets[code + 1] - self.offsets[code]
            # A byte becomes six at most, an escape of JSON.
            if not self.reserve(6 * size if self.marks[code] else size):
                return -1
            self.put_text(self.bytes + begin, size, self.marks[code])
        elif kind == BOOLEAN:
            self.put_boolean(cells.numbers[self.row] != 0)
        elif kind == ERROR:
            number = cells.numbers[self.row]
            if not 0 <= number < ERROR_COUNT:
                return -2
            self.put_word(ERROR_TEXTS[<int> number], ERROR_SIZES[<int> number])
        else:
            number = cells.numbers[self.row]
            if number - number != 0:
                if number == number:
                    self.put_word(ERROR_TEXTS[ERROR_NUM], ERROR_SIZES[ERROR_NUM])
                else:
                    self.put_blank()
                return 0
            code = cells.formats[self.row]
            if kind == DATE and code >= self.shows.shape[0]:
                return -2
            if kind == DATE or (code < self.shows.shape[0] and self.shows[code] & ELAPSED):
                end = self.put_date(number, self.shows[code])
            if end == NULL:
                end = put_number(self.out + self.size, number)
            self.size = end - self.out
        return 0

    # What a kind of text decides; the room for all but a text's own bytes is there.
    cdef void begin_cell(self) noexcept nogil:
        pass

    cdef void end_row(self) noexcept nogil:
        pass

    cdef void put_blank(self) noexcept nogil:
        pass

    cdef void put_boolean(self, bint value) noexcept nogil:
        pass

    cdef void put_word(self, const char *text, int64_t size) noexcept nogil:
        pass

    cdef char *put_date(self, double serial, int shows) noexcept nogil:
        return NULL

    cdef void put_text(self, const uint8_t *text, int64_t size, int marks) noexcept nogil:
        pass


cdef class CsvLines(Lines):
    """Lines of delimited text: CR LF at each end, quotes where they are needed, guards before formulas."""

    cdef uint8_t classes[256]
    cdef char delimiter
    cdef readonly int64_t guarded
    """Cells that were guarded so far."""

    def __init__(self, text, shows, bint date_1904, str delimiter):
        cdef int64_t at
        cdef int64_t count = len(text)
        self.delimiter = ord(delimiter)
        csv_classes(self.classes, ord(delimiter))
        with nogil:
            for at in range(count):
                self.marks[at] = csv_marks(
                    self.bytes + self.offsets[at], self.bytes + self.offsets[at + 1], self.classes
                )

    cdef void begin_cell(self) noexcept nogil:
        if self.column:
            self.put(self.delimiter)

    cdef void end_row(self) noexcept nogil:
        self.put_bytes("\r\n", 2)

    cdef void put_blank(self) noexcept nogil:
        if self.width == 1:
            self.put_bytes('""', 2)   # readers skip an empty line

    cdef void put_boolean(self, bint value) noexcept nogil:
        if value:
            self.put_bytes("TRUE", 4)
        else:
            self.put_bytes("FALSE", 5)

    cdef void put_word(self, const char *text, int64_t size) noexcept nogil:
        cdef int64_t at
        for at in range(size):
            if self.classes[<uint8_t> text[at]]:
                self.put(34)
                self.put_bytes(text, size)
                self.put(34)
                return
        self.put_bytes(text, size)

    cdef char *put_date(self, double serial, int shows) noexcept nogil:
        return put_moment(self.out + self.size, serial, shows, self.date_1904)

    cdef void put_text(self, const uint8_t *text, int64_t size, int marks) noexcept nogil:
        cdef char *end
        if self.row + self.rows_before + self.column == 0:
            marks |= first_marks(text, size)
        if marks == 0:
            self.put_bytes(<const char *> text, size)
            return
        if marks & (GUARD | INNER):
            self.guarded += 1
        if marks & QUOTE:
            self.put(34)
        end = put_guarded(self.out + self.size, text, text + size, marks, self.classes)
        self.size = end - self.out
        if marks & QUOTE:
            self.put(34)


cdef class JsonLines(Lines):
    """Each row as a JSON array: numbers, texts, true and false, null for a blank; a moment and an error as text."""

    cdef bytes before_row, between
    cdef const char *row_text
    cdef const char *between_text
    cdef int64_t row_size, between_size

    def __init__(self, text, shows, bint date_1904, bytes before_row, bytes between):
        cdef int64_t at, place
        cdef int64_t count = len(text)
        assert len(before_row) + len(between) < CELL_BYTES - NUMERAL_MAX
        self.before_row, self.between = before_row, between
        self.row_text, self.row_size = self.before_row, len(before_row)
        self.between_text, self.between_size = self.between, len(between)
        with nogil:
            for at in range(count):
                for place in range(self.offsets[at], self.offsets[at + 1]):
                    if self.bytes[place] < 32 or self.bytes[place] == 34 or self.bytes[place] == 92:
                        self.marks[at] = ESCAPE
                        break

    cdef void begin_cell(self) noexcept nogil:
        if self.column:
            self.put_bytes(self.between_text, self.between_size)
            return
        if self.row + self.rows_before:
            self.put(44)
        self.put_bytes(self.row_text, self.row_size)
        self.put(91)

    cdef void end_row(self) noexcept nogil:
        self.put(93)

    cdef void put_blank(self) noexcept nogil:
        self.put_bytes("null", 4)

    cdef void put_boolean(self, bint value) noexcept nogil:
        if value:
            self.put_bytes("true", 4)
        else:
            self.put_bytes("false", 5)

    cdef void put_word(self, const char *text, int64_t size) noexcept nogil:
        self.put(34)
        self.put_bytes(text, size)
        self.put(34)

    cdef char *put_date(self, double serial, int shows) noexcept nogil:
        cdef char *end = put_moment(self.out + self.size + 1, serial, shows, self.date_1904)
        if end != NULL:
            self.out[self.size] = 34
            end[0] = 34
            end += 1
        return end

    cdef void put_text(self, const uint8_t *text, int64_t size, int marks) noexcept nogil:
        cdef const uint8_t *p = text
        cdef const uint8_t *end = text + size
        if not marks:
            self.put_word(<const char *> text, size)
            return
        self.put(34)
        while p < end:
            if p[0] >= 32:
                if p[0] == 34 or p[0] == 92:
                    self.put(92)
                self.put(p[0])
            else:
                self.put(92)
                if p[0] == 10:
                    self.put(110)
                elif p[0] == 13:
                    self.put(114)
                elif p[0] == 9:
                    self.put(116)
                else:
                    self.put_bytes("u00", 3)
                    self.put(48 + (p[0] >> 4))
                    self.put(48 + (p[0] & 15) if (p[0] & 15) < 10 else 87 + (p[0] & 15))
            p += 1
        self.put(34)
