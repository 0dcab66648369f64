"""The hot loops of writing .xlsx: the rows of a sheet from its columns, and the table of shared strings, as XML.

The contract of the boundary. Python checks what it hands over: arrays of one length, rows in rising order, codes and
formats inside their tables. XML is made in a buffer of fixed size, which the caller takes away whenever it is full, in the
middle of a row too; so memory does not grow with the sheet. A text goes into the workbook's table of strings when it is
first met, so a string that no cell shows is not written.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

from core.files.write._numerals cimport put_number, put_whole
from core.grid._intern cimport Pool, pool_close, pool_code, pool_open
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

import numpy as np

from core.files.limits import CELL_CHARACTERS_MAX, FORMULA_CHARACTERS_MAX, STYLES_MAX, TEXT_BYTES_MAX
from core.seed import SEED
from core.values import ERRORS

cdef enum:
    BUFFER_BYTES = 1 << 18
    CELL_BYTES = 300_000             # a cell at its longest: 32,767 characters of seven bytes, and a formula of 8,192
    BLOCK_ROWS = 64                  # for so many rows the columns that have cells there are listed once
    MARKS = 32                       # named styles, with and without protection
    FORMATS = 65_536
    SHEET_END = 1 << 30
    DAY = 65_535                     # the formats of dates whose own does not show a date
    MOMENT = 65_534
    PLAIN_ERRORS = 8                 # from here on errors are younger than the file format
    FORMULA_DROPPED = 0
    FORMULA_PLAIN = 1
    FORMULA_ORIGIN = 2
    FORMULA_MEMBER = 3
    FORMULA_ARRAY = 4
    FORMULA_SPILLS = 5
    FORMULA_TABLE = 6
    FORMULA_DOUBTFUL = 1
    FORMULA_NEWER = 2
    OK = 0
    NO_MEMORY = 1
    TOO_MUCH_TEXT = 2
    TOO_MANY_STYLES = 3

_PROBLEMS = {
    TOO_MUCH_TEXT: f"the workbook's cells hold more distinct text than the limit of {TEXT_BYTES_MAX:,} bytes",
    TOO_MANY_STYLES: f"the workbook's cells have more styles than the limit of {STYLES_MAX:,}",
}

cdef int64_t CHARACTERS_LIMIT = CELL_CHARACTERS_MAX
cdef int64_t FORMULA_LIMIT = FORMULA_CHARACTERS_MAX
cdef int64_t STYLES_LIMIT = STYLES_MAX
cdef bytes _ERROR_TEXTS = b"".join(text.encode().ljust(16, b"\0") for text in ERRORS)
cdef const char *ERROR_TEXTS = _ERROR_TEXTS
cdef int64_t ERRORS_COUNT = len(ERRORS)

# What `Slab` is told of a formula: a cell's value alone is written, or its formula by itself, or that of a shared
# group, or an array's, or a data table's: TABLE(row input,column input).
DAY_FORMAT, MOMENT_FORMAT = DAY, MOMENT
DOUBTFUL, NEWER = FORMULA_DOUBTFUL, FORMULA_NEWER
DROPPED, PLAIN, ORIGIN, MEMBER, ARRAY, SPILLS, TABLE = (
    FORMULA_DROPPED, FORMULA_PLAIN, FORMULA_ORIGIN, FORMULA_MEMBER, FORMULA_ARRAY, FORMULA_SPILLS, FORMULA_TABLE
)


cdef inline char *put(char *out, const char *text, int64_t size) noexcept nogil:
    memcpy(out, text, size)
    return out + size


cdef inline bint is_hex(char c) noexcept nogil:
    return 48 <= c <= 57 or 97 <= c <= 102 or 65 <= c <= 70


cdef inline bint is_mark(const char *p, const char *end) noexcept nogil:
    """Whether `_xHHHH_` stands here, which Excel reads as one character."""
    return (
        end - p >= 7 and p[1] == 120 and p[6] == 95 and is_hex(p[2]) and is_hex(p[3]) and is_hex(p[4]) and is_hex(p[5])
    )


cdef inline char *put_mark(char *out, int code) noexcept nogil:
    cdef const char *digits = "0123456789ABCDEF"
    out = put(out, "_x", 2)
    out[0] = digits[code >> 12 & 15]
    out[1] = digits[code >> 8 & 15]
    out[2] = digits[code >> 4 & 15]
    out[3] = digits[code & 15]
    out[4] = 95
    return out + 5


cdef char *put_escaped(char *out, const char *p, int64_t size, bint marks) noexcept nogil:
    """Character data: XML's own characters as entities; with `marks` what XML cannot hold, and what Excel would take
    for such a mark, as `_xHHHH_`."""
    cdef const char *end = p + size
    cdef const char *run = p
    cdef uint8_t c
    while p < end:
        c = <uint8_t> p[0]
        if c > 62 and c != 95 and c != 0xEF:
            p += 1
            continue
        if c == 38:
            out = put(put(out, run, p - run), "&amp;", 5)
        elif c == 60:
            out = put(put(out, run, p - run), "&lt;", 4)
        elif c == 62:
            out = put(put(out, run, p - run), "&gt;", 4)
        elif not marks:
            p += 1
            continue
        elif c < 32 and c != 9 and c != 10:
            out = put_mark(put(out, run, p - run), c)
        elif c == 95 and is_mark(p, end):
            out = put_mark(put(out, run, p - run), 95)
        elif c == 0xEF and end - p >= 3 and <uint8_t> p[1] == 0xBF and <uint8_t> p[2] >= 0xBE:  # U+FFFE and U+FFFF
            out = put_mark(put(out, run, p - run), 0xFFFE + (<uint8_t> p[2] - 0xBE))
            p += 2
        else:
            p += 1
            continue
        p += 1
        run = p
    return put(out, run, p - run)


cdef int64_t fitting(const char *text, int64_t size) noexcept nogil:
    """How many bytes of a text are a cell's most characters, counted as UTF-16 does."""
    cdef int64_t at = 0, units = 0
    cdef uint8_t c
    if size <= CHARACTERS_LIMIT:
        return size
    while at < size:
        c = <uint8_t> text[at]
        units += (c & 0xC0) != 0x80
        units += c >= 0xF0
        if units > CHARACTERS_LIMIT:
            return at
        at += 1
    return size


cdef class Styles:
    """The cell styles of a workbook, numbered in the order in which they are met: a mark and a number format each."""

    cdef int32_t *numbers            # by mark and format the number plus one
    cdef int32_t count
    cdef list met

    def __cinit__(self):
        self.numbers = <int32_t *> calloc(MARKS * FORMATS, sizeof(int32_t))
        if self.numbers == NULL:
            raise MemoryError
        self.met = [(0, 0)]
        self.numbers[0] = 1
        self.count = 1

    def __dealloc__(self):
        free(self.numbers)

    cdef inline int32_t number(self, int mark, int format) noexcept nogil:
        """The number of a style; -1 when there are too many, -2 when memory ends."""
        cdef int32_t found = self.numbers[mark * FORMATS + format]
        return found - 1 if found else self.add(mark, format)

    cdef int32_t add(self, int mark, int format) noexcept with gil:
        if self.count >= STYLES_LIMIT:
            return -1
        try:
            self.met.append((mark, format))
        except MemoryError:
            return -2
        self.count += 1
        self.numbers[mark * FORMATS + format] = self.count
        return self.count - 1

    def used(self):
        """(mark, format) of each style, by its number."""
        return self.met


cdef class Strings:
    """The distinct strings of a workbook's cells, in the order in which they are met."""

    cdef Pool pool
    cdef int64_t cut_count

    def __cinit__(self):
        if pool_open(&self.pool, <uint64_t> SEED, TEXT_BYTES_MAX) < 0:
            raise MemoryError

    def __dealloc__(self):
        pool_close(&self.pool)

    def __len__(self):
        return self.pool.count

    @property
    def cut(self):
        """How many distinct texts were longer than a cell holds, and were cut."""
        return self.cut_count

    def chunks(self):
        """The table's elements in pieces."""
        cdef bytearray buffer = bytearray(BUFFER_BYTES + CELL_BYTES)
        cdef char *begin = buffer
        cdef char *out = begin
        cdef const char *text
        cdef int64_t code = 0, size
        while code < self.pool.count:
            with nogil:
                out = begin
                while code < self.pool.count and out - begin < BUFFER_BYTES:
                    text = self.pool.data + self.pool.offsets[code]
                    size = self.pool.offsets[code + 1] - self.pool.offsets[code]
                    if size and (<uint8_t> text[0] <= 32 or <uint8_t> text[size - 1] <= 32 or memchr(text, 10, size) != NULL):
                        out = put(out, '<si><t xml:space="preserve">', 28)
                    else:
                        out = put(out, "<si><t>", 7)
                    out = put(put_escaped(out, text, size, True), "</t></si>", 9)
                    code += 1
            yield bytes(buffer[: out - begin])


cdef struct Place:
    # A column and where in it the loop stands.
    int32_t column
    char letters[4]
    int letters_size
    const int32_t *starts
    const int32_t *lengths
    int64_t runs
    const uint8_t *kinds
    const double *numbers
    const int32_t *codes
    const uint16_t *formats
    int64_t run
    int64_t offset                   # of the run's first slot


cdef class Slab:
    """Rows of a sheet, written from its columns in pieces."""

    cdef list kept                   # what the pointers point into
    cdef Place *places
    cdef int64_t count
    cdef int32_t *active             # which columns have cells in the present block of rows
    cdef int64_t active_count
    cdef int64_t block_stop
    cdef const int64_t[::1] text_offsets
    cdef const uint8_t[::1] text_data
    cdef int64_t text_count
    cdef int32_t *shared             # code in this slab -> string of the workbook, -1 until it is met
    cdef const int32_t[::1] formula_rows
    cdef const int32_t[::1] formula_columns
    cdef const int32_t[::1] formula_texts
    cdef const uint8_t[::1] roles
    cdef const int32_t[::1] groups
    cdef const int32_t[::1] boxes
    cdef const int64_t[::1] formula_offsets
    cdef const uint8_t[::1] formula_data
    cdef int64_t formula             # the next one
    cdef int64_t formula_count
    cdef const int32_t[::1] hidden
    cdef int64_t hidden_at
    cdef const int32_t[::1] tall     # rows that are higher than others
    cdef const int32_t[::1] heights  # in points
    cdef int64_t tall_at
    cdef const uint8_t[::1] date_formats
    cdef Styles styles
    cdef Strings strings
    cdef int64_t row
    cdef int64_t at                  # in `active`
    cdef int64_t mark_at
    cdef bint opened                 # whether the row's tag is written
    cdef bint begun                  # whether the row was begun
    cdef int problem
    cdef bint spills                 # whether the file has the metadata of formulas that spill
    cdef bint rich                   # and of errors that are younger than the format
    cdef readonly bint unvalued      # whether a formula without a value was met
    cdef bytearray buffer
    cdef char *begin

    def __init__(
        self, columns, text, formulas, hidden, tall, heights, *, first_row, metadata, date_formats, styles, strings
    ):
        cdef Place *place
        cdef int64_t at = 0
        self.kept = []
        self.count = len(columns)
        self.places = <Place *> calloc(self.count + 1, sizeof(Place))
        self.active = <int32_t *> malloc((self.count + 1) * sizeof(int32_t))
        self.text_offsets, self.text_data = text.offsets, text.data
        self.text_count = len(text)
        self.shared = <int32_t *> malloc((self.text_count + 1) * sizeof(int32_t))
        if self.places == NULL or self.active == NULL or self.shared == NULL:
            raise MemoryError
        memset(self.shared, 0xFF, (self.text_count + 1) * sizeof(int32_t))
        for column, starts, lengths, kinds, numbers, codes, formats in columns:
            self.place(&self.places[at], column, starts, lengths, kinds, numbers, codes, formats)
            at += 1
        (
            self.formula_rows, self.formula_columns, self.formula_texts, self.roles, self.groups, self.boxes,
            self.formula_offsets, self.formula_data,
        ) = formulas
        self.formula_count = self.formula_rows.shape[0]
        self.hidden, self.tall, self.heights = hidden, tall, heights
        self.date_formats = date_formats
        self.spills, self.rich = metadata
        self.styles = styles
        self.strings = strings
        self.row = first_row
        self.block_stop = first_row
        self.buffer = bytearray(BUFFER_BYTES + CELL_BYTES)
        self.begin = self.buffer

    cdef int place(
        self, Place *into, int32_t column, const int32_t[::1] starts, const int32_t[::1] lengths,
        const uint8_t[::1] kinds, const double[::1] numbers, const int32_t[::1] codes, const uint16_t[::1] formats
    ) except -1:
        self.kept.append((starts, lengths, kinds, numbers, codes, formats))
        into.column = column
        into.letters_size = <int> (put_letters(into.letters, column) - into.letters)
        into.runs = starts.shape[0]
        if kinds.shape[0]:
            into.starts, into.lengths = &starts[0], &lengths[0]
            into.kinds, into.numbers, into.codes, into.formats = &kinds[0], &numbers[0], &codes[0], &formats[0]
        else:
            into.runs = 0
        return 0

    def __dealloc__(self):
        free(self.places)
        free(self.active)
        free(self.shared)

    def fill(self, int64_t stop, const uint8_t[::1] marks):
        """The next piece of the rows before `stop`, each cell with the style that its column has in `marks`; empty when
        they are all written. The piece is overwritten by the next call."""
        cdef char *out
        with nogil:
            out = self.write(self.begin, stop, marks)
        if self.problem == NO_MEMORY:
            raise MemoryError
        if self.problem:
            raise ValueError(_PROBLEMS[self.problem])
        return memoryview(self.buffer)[: out - self.begin]

    # ------------------------------------------------------------------------------------------------- the rows

    cdef char *write(self, char *out, int64_t stop, const uint8_t[::1] marks) noexcept nogil:
        cdef char *full = self.begin + BUFFER_BYTES
        cdef int64_t marked = marks.shape[0]
        while self.row < stop:
            if not self.begun:
                if self.row >= self.block_stop:
                    self.list_columns(self.row)
                if marked == 0 and self.active_count == 0:
                    self.row = self.next_row(stop)
                    if self.row >= stop:
                        break
                    if self.row >= self.block_stop:
                        self.list_columns(self.row)
                self.begun, self.opened = True, False
                self.at = self.mark_at = 0
                while self.hidden_at < self.hidden.shape[0] and self.hidden[self.hidden_at] < self.row:
                    self.hidden_at += 1
                if self.hidden_at < self.hidden.shape[0] and self.hidden[self.hidden_at] == self.row:
                    out = self.open_row(out, True)
            out = self.cells(out, full, marks, marked)
            if self.problem:
                return out
            if out >= full:
                return out
            if self.opened:
                out = put(out, "</row>", 6)
            self.begun = False
            self.row += 1
        return out

    cdef void list_columns(self, int64_t row) noexcept nogil:
        """List the columns with cells in the next rows, and bring each to the run that ends behind `row`."""
        cdef int64_t at
        cdef Place *place
        self.active_count = 0
        self.block_stop = row + BLOCK_ROWS
        for at in range(self.count):
            place = &self.places[at]
            while place.run < place.runs and <int64_t> place.starts[place.run] + place.lengths[place.run] <= row:
                place.offset += place.lengths[place.run]
                place.run += 1
            if place.run < place.runs and place.starts[place.run] < self.block_stop:
                self.active[self.active_count] = <int32_t> at
                self.active_count += 1

    cdef int64_t next_row(self, int64_t stop) noexcept nogil:
        """The next row that holds anything, where no column does in the present block."""
        cdef int64_t at, found = stop
        cdef Place *place
        for at in range(self.count):
            place = &self.places[at]
            if place.run < place.runs and place.starts[place.run] < found:
                found = place.starts[place.run]
        if self.formula < self.formula_count and self.formula_rows[self.formula] < found:
            found = self.formula_rows[self.formula]
        while self.hidden_at < self.hidden.shape[0] and self.hidden[self.hidden_at] < self.row:
            self.hidden_at += 1
        if self.hidden_at < self.hidden.shape[0] and self.hidden[self.hidden_at] < found:
            found = self.hidden[self.hidden_at]
        return found if found > self.row else self.row

    cdef inline char *open_row(self, char *out, bint hidden) noexcept nogil:
        self.opened = True
        out = put_whole(put(out, '<row r="', 8), self.row + 1)
        while self.tall_at < self.tall.shape[0] and self.tall[self.tall_at] < self.row:
            self.tall_at += 1
        if self.tall_at < self.tall.shape[0] and self.tall[self.tall_at] == self.row:
            out = put(put_whole(put(out, '" ht="', 6), self.heights[self.tall_at]), '" customHeight="1', 17)
        return put(out, '" hidden="1">', 13) if hidden else put(out, '">', 2)

    cdef char *cells(self, char *out, char *full, const uint8_t[::1] marks, int64_t marked) noexcept nogil:
        """The rest of the present row, or as much of it as fits."""
        cdef Place *place
        cdef int64_t slot, row = self.row
        cdef int32_t column
        cdef int64_t formula
        while out < full:
            column = SHEET_END
            place = NULL
            slot = -1
            while self.at < self.active_count:
                place = &self.places[self.active[self.at]]
                while place.run < place.runs and <int64_t> place.starts[place.run] + place.lengths[place.run] <= row:
                    place.offset += place.lengths[place.run]
                    place.run += 1
                if place.run < place.runs and place.starts[place.run] <= row:
                    slot = place.offset + row - place.starts[place.run]
                    if place.kinds[slot] != BLANK or place.formats[slot]:
                        column = place.column
                        break
                slot = -1
                self.at += 1
            formula = -1
            if (
                self.formula < self.formula_count and self.formula_rows[self.formula] == row
                and self.formula_columns[self.formula] <= column
            ):
                formula = self.formula
                if self.formula_columns[formula] < column:
                    column = self.formula_columns[formula]
                    slot = -1
                self.formula += 1
            if marked:
                while self.mark_at < marked and self.mark_at < column and marks[self.mark_at] == 0:
                    self.mark_at += 1
                if self.mark_at < marked and self.mark_at < column:
                    column = <int32_t> self.mark_at
                    slot = -1
                    if formula >= 0:
                        self.formula -= 1
                        formula = -1
                self.mark_at += self.mark_at == column
            if column == SHEET_END:
                return out
            if not self.opened:
                out = self.open_row(out, False)
            out = self.cell(out, column, place, slot, formula, marks[column] if column < marked else 0)
            if self.problem:
                return out
            if slot >= 0:
                self.at += 1
        return out

    cdef char *cell(
        self, char *out, int32_t column, Place *place, int64_t slot, int64_t formula, int mark
    ) noexcept nogil:
        cdef int kind = BLANK, format = 0
        cdef double number = 0.0
        cdef int32_t code = -1, style
        cdef char role = FORMULA_DROPPED
        cdef int64_t error = 0
        cdef const char *name
        if slot >= 0:
            kind, number, code, format = place.kinds[slot], place.numbers[slot], place.codes[slot], place.formats[slot]
            if format >= self.date_formats.shape[0]:
                format = 0
            if kind == NUMBER or kind == DATE:
                if number - number != 0:
                    # NaN means blank; a cell cannot hold an infinity, which is Excel's #NUM!.
                    kind = BLANK if number != number else ERROR
                    number = 5.0
                elif kind == DATE and not self.date_formats[format]:
                    format = DAY if number == <double> <int64_t> number else MOMENT
            elif kind == TEXT and not 0 <= code < self.text_count:
                kind = BLANK
        if formula >= 0:
            role = self.roles[formula]
        if kind == BLANK and role == FORMULA_DROPPED and format == 0 and mark == 0:
            return out
        style = self.styles.number(mark, format)
        if style < 0:
            self.problem = TOO_MANY_STYLES if style == -1 else NO_MEMORY
            return out
        out = put(out, '<c r="', 6)
        if slot >= 0:
            out = put(out, place.letters, place.letters_size)
        else:
            out = put_letters(out, column)
        out = put_whole(out, self.row + 1)
        if style:
            out = put_whole(put(out, '" s="', 5), style)
        if role == FORMULA_SPILLS and self.spills:
            out = put(out, '" cm="1', 7)
        if kind == TEXT:
            out = put(out, '" t="s', 6) if role == FORMULA_DROPPED else put(out, '" t="str', 8)
        elif kind == BOOLEAN:
            out = put(out, '" t="b', 6)
        elif kind == ERROR:
            out = put(out, '" t="e', 6)
            error = <int64_t> number
            if not 0 <= error < ERRORS_COUNT:
                error = 2
            if error >= PLAIN_ERRORS:
                if self.rich:
                    out = put_whole(put(out, '" vm="', 6), error - PLAIN_ERRORS + 1)
                error = 2
        elif kind == BLANK and role == FORMULA_DROPPED:
            return put(out, '"/>', 3)
        out = put(out, '">', 2)
        if role != FORMULA_DROPPED:
            out = self.put_formula(out, formula, role)
        if kind == BLANK:
            self.unvalued = True
            return put(out, "</c>", 4)
        if kind == TEXT and role != FORMULA_DROPPED:
            name = <const char *> &self.text_data[0] + self.text_offsets[code] if self.text_data.shape[0] else NULL
            error = self.text_offsets[code + 1] - self.text_offsets[code]
            if error and (<uint8_t> name[0] <= 32 or <uint8_t> name[error - 1] <= 32):
                out = put(out, '<v xml:space="preserve">', 24)
            else:
                out = put(out, "<v>", 3)
            out = put_escaped(out, name, fitting(name, error), True)
            return put(out, "</v></c>", 8)
        out = put(out, "<v>", 3)
        if kind == TEXT:
            if self.shared[code] < 0 and not self.share(code):
                return out
            out = put_whole(out, self.shared[code])
        elif kind == BOOLEAN:
            out[0] = 49 if number != 0 else 48
            out += 1
        elif kind == ERROR:
            name = ERROR_TEXTS + 16 * error
            while name[0]:
                out[0] = name[0]
                out += 1
                name += 1
        else:
            out = put_number(out, number)
        return put(out, "</v></c>", 8)

    cdef bint share(self, int32_t code) noexcept nogil:
        """Give a text its place among the workbook's strings."""
        cdef const char *text = NULL
        cdef int64_t begin = self.text_offsets[code], size = self.text_offsets[code + 1] - begin, kept
        cdef int32_t found
        if size:
            text = <const char *> &self.text_data[begin]
        else:
            text = ""
        kept = fitting(text, size)
        self.strings.cut_count += kept < size
        found = pool_code(&self.strings.pool, text, kept)
        if found < 0:
            self.problem = NO_MEMORY if found == -1 else TOO_MUCH_TEXT
            return False
        self.shared[code] = found
        return True

    cdef char *put_formula(self, char *out, int64_t formula, char role) noexcept nogil:
        cdef int32_t text = self.formula_texts[formula]
        cdef int64_t begin = self.formula_offsets[text], size = self.formula_offsets[text + 1] - begin
        cdef int64_t box = 4 * <int64_t> self.groups[formula]
        if role == FORMULA_MEMBER:
            out = put_whole(put(out, '<f t="shared" si="', 18), self.groups[formula])
            return put(out, '"/>', 3)
        if role == FORMULA_PLAIN:
            out = put(out, "<f>", 3)
        else:
            if role == FORMULA_TABLE:
                out = put(out, '<f t="dataTable" ref="', 22)
            else:
                out = (
                    put(out, '<f t="shared" ref="', 19) if role == FORMULA_ORIGIN else put(out, '<f t="array" ref="', 18)
                )
            out = put_whole(put_letters(out, self.boxes[box + 1]), self.boxes[box] + 1)
            if self.boxes[box] != self.boxes[box + 2] or self.boxes[box + 1] != self.boxes[box + 3]:
                out[0] = 58
                out = put_whole(put_letters(out + 1, self.boxes[box + 3]), self.boxes[box + 2] + 1)
            if role == FORMULA_ORIGIN:
                out = put_whole(put(out, '" si="', 6), self.groups[formula])
            if role == FORMULA_TABLE:
                return put_inputs(out, <const char *> &self.formula_data[begin], size)
            out = put(out, '">', 2)
        if size:
            out = put_escaped(out, <const char *> &self.formula_data[begin], size, False)
        return put(out, "</f>", 4)


cdef char *put_inputs(char *out, const char *text, int64_t size) noexcept nogil:
    """The end of a data table's element; its text is TABLE(row input,column input)."""
    cdef int64_t comma = 6
    while text[comma] != 44:
        comma += 1
    if comma > 6 and size - 2 > comma:
        out = put(put(out, '" dt2D="1" dtr="1" r1="', 23), text + 6, comma - 6)
        return put(put(put(out, '" r2="', 6), text + comma + 1, size - 2 - comma), '"/>', 3)
    if comma > 6:
        return put(put(put(out, '" dt2D="0" dtr="1" r1="', 23), text + 6, comma - 6), '"/>', 3)
    return put(put(put(out, '" dt2D="0" dtr="0" r1="', 23), text + comma + 1, size - 2 - comma), '"/>', 3)


cdef inline char *put_letters(char *out, int32_t column) noexcept nogil:
    """The letters of a column."""
    cdef int32_t rest = column
    if column >= 26 + 26 * 26:
        rest = column - 26 - 26 * 26
        out[0] = <char> (65 + rest // 676)
        out[1] = <char> (65 + rest // 26 % 26)
        out[2] = <char> (65 + rest % 26)
        return out + 3
    if column >= 26:
        rest = column - 26
        out[0] = <char> (65 + rest // 26)
        out[1] = <char> (65 + rest % 26)
        return out + 2
    out[0] = <char> (65 + column)
    return out + 1


cdef inline bint is_name_byte(uint8_t c) noexcept nogil:
    """Whether a byte can stand in a sheet's name without quotes around it."""
    return 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 or c == 95 or c == 46 or c >= 0x80


cdef struct Words:
    # Some words, end to end; by first letter and length whether there is one.
    const int64_t *offsets
    const uint8_t *data
    int64_t count
    uint64_t lengths[256]


cdef bint has_word(Words *words, const uint8_t *text, int64_t size) noexcept nogil:
    cdef int64_t at
    if size <= 0 or not words.lengths[text[0]] >> (size & 63) & 1:
        return False
    for at in range(words.count):
        if words.offsets[at + 1] - words.offsets[at] == size and memcmp(words.data + words.offsets[at], text, size) == 0:
            return True
    return False


cdef int look(const uint8_t *text, int64_t size, Words *sheets, Words *newer, Words *watched) noexcept nogil:
    """What there is to see to in one formula."""
    cdef int64_t at = 0, begin
    cdef int found = 0
    cdef uint8_t c
    if size == 0 or size > FORMULA_LIMIT:
        return FORMULA_DOUBTFUL | FORMULA_NEWER
    while at < size:
        c = text[at]
        if c < 32 or c == 91 or c == 0xEF:  # control characters, brackets, U+FFFE and its neighbours
            found |= FORMULA_DOUBTFUL
        elif c == 46:
            if (at and text[at - 1] == 58) or (at + 1 < size and text[at + 1] == 58):  # a dot at a colon trims a range
                found |= FORMULA_NEWER | FORMULA_DOUBTFUL
        elif c == 34:
            at += 1
            while at < size and text[at] != 34:
                if text[at] < 32 or text[at] == 0xEF:
                    found |= FORMULA_DOUBTFUL
                at += 1
        elif c == 39:
            at += 1
            begin = at
            while at < size and not (text[at] == 39 and (at + 1 == size or text[at + 1] != 39)):
                at += 2 if text[at] == 39 else 1
            if at + 1 >= size or text[at + 1] != 33 or not has_word(sheets, text + begin, at - begin):
                return FORMULA_DOUBTFUL | FORMULA_NEWER
            at += 1
        elif c == 33 or c == 40:
            begin = at
            while begin > 0 and is_name_byte(text[begin - 1]):
                begin -= 1
            if c == 40:
                if has_word(watched, text + begin, at - begin):
                    found |= FORMULA_DOUBTFUL
                if has_word(newer, text + begin, at - begin):
                    found |= FORMULA_NEWER
            elif (begin and (text[begin - 1] == 58 or text[begin - 1] == 35)) or not has_word(
                sheets, text + begin, at - begin
            ):
                found |= FORMULA_DOUBTFUL
        at += 1
    return found


cdef int words_of(Words *into, const int64_t[::1] offsets, const uint8_t[::1] data) except -1:
    cdef int64_t at
    memset(into, 0, sizeof(Words))
    if data.shape[0]:
        into.count = offsets.shape[0] - 1
        into.offsets = &offsets[0]
        into.data = &data[0]
        for at in range(into.count):
            into.lengths[data[offsets[at]]] |= <uint64_t> 1 << ((offsets[at + 1] - offsets[at]) & 63)
    return 0


def looks(
    const int64_t[::1] offsets, const uint8_t[::1] data,
    const int64_t[::1] sheet_offsets, const uint8_t[::1] sheets,
    const int64_t[::1] newer_offsets, const uint8_t[::1] newer,
    const int64_t[::1] watched_offsets, const uint8_t[::1] watched,
):
    """What there is to see to in each formula: `DOUBTFUL` unless it plainly reads nothing beyond the sheets of these names,
    which are as formulas write them, and calls none of the watched functions; `NEWER` where it may call a newer one."""
    cdef int64_t at, count = offsets.shape[0] - 1
    cdef uint8_t[::1] found = np.zeros(count, np.uint8)
    cdef const uint8_t *text = &data[0] if data.shape[0] else NULL
    cdef Words known, young, odd
    words_of(&known, sheet_offsets, sheets)
    words_of(&young, newer_offsets, newer)
    words_of(&odd, watched_offsets, watched)
    with nogil:
        for at in range(count):
            found[at] = <uint8_t> look(text + offsets[at], offsets[at + 1] - offsets[at], &known, &young, &odd)
    return found.base
