"""The cells of a sheet and the shared strings, read by a grammar that has no more than programs write.

What passes is read alike by every program: rows and cells in their order, each once and with its address; known types
with values of one spelling; text without markup. The first thing that does not fit stops the reading and is named by
its kind and its cell. `feed` takes UTF-8 chunks of any size and keeps the tail that does not yet make a whole cell or
string, so memory is bounded by the longest of these. Every pointer is checked against the chunk's end.

Functions that read answer 1 for done, 0 where the chunk ends too early, -1 for a fault.
"""

from libc.math cimport isinf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc, strtod
from libc.string cimport memchr, memcmp, memcpy, memset

from core.files.limits import PIECE_BYTES_MAX
from core.grid.address import COLUMNS_MAX, ROWS_MAX

cdef enum:
    MARKUP = 1
    ATTRIBUTE
    ADDRESS
    ORDER
    TYPE
    VALUE
    STRING
    STYLE
    SHARED
    EMPTY_FORMULA
    ARRAY
    DATA_TABLE
    METADATA
    CHARACTER
    TOO_LONG
    CUT_OFF

CALCULATED = frozenset((DATA_TABLE, METADATA))
"""Faults that do not keep programs from reading the same cells; they may calculate or show others."""

FAULTS = {
    MARKUP: "markup that no spreadsheet program writes there",
    ATTRIBUTE: "an attribute that no spreadsheet program writes there, or writes twice",
    ADDRESS: "an address that is missing or not written as one",
    ORDER: "a row or cell that comes twice or out of order",
    TYPE: "a type of cell that programs read differently",
    VALUE: "a value that is not written as its type is",
    STRING: "a shared string that the file does not have",
    STYLE: "a cell style that the file does not have",
    SHARED: "a shared formula that programs read differently",
    EMPTY_FORMULA: "a formula without a text",
    ARRAY: "an array formula without a range that begins at its cell",
    DATA_TABLE: "a what-if data table, which programs calculate anew",
    METADATA: "metadata by which programs show another value than the cell's",
    CHARACTER: "a character or an entity that no spreadsheet program writes there",
    TOO_LONG: "a piece longer than the limit",
    CUT_OFF: "an end that is missing",
}
"""What each kind of fault is, to stand behind the words "there is"."""

cdef enum:
    NUMERIC
    STRINGS
    TEXT
    INLINE
    BOOLEAN
    ERROR
    NUMERAL_BYTES_MAX = 40
    GROUPS_MAX = 1 << 22
    LOOKS_MAX = 100_000_000  # arrays that formulas without a text are looked for in

cdef int64_t ROWS = ROWS_MAX
cdef int64_t COLUMNS = COLUMNS_MAX
cdef int64_t PIECE = PIECE_BYTES_MAX
cdef double LOW_POINTS = 2.0  # a row lower than this shows nothing

cdef struct Run:
    const char *data
    int64_t size

cdef struct Attribute:
    Run name
    Run value

cdef struct Box:
    int32_t top
    int32_t left
    int32_t bottom
    int32_t right


cdef inline bint _space(char c) noexcept nogil:
    return c == 32 or c == 10 or c == 13 or c == 9


cdef inline bint _is(Run *run, const char *word, int64_t size) noexcept nogil:
    return run.size == size and memcmp(run.data, word, size) == 0


cdef inline bint _digits(Run *run, int64_t most, int64_t *out) noexcept nogil:
    """A whole number without a sign or zeros in front."""
    cdef int64_t at, value = 0
    if run.size < 1 or run.size > 9 or (run.data[0] == 48 and run.size > 1):
        return False
    for at in range(run.size):
        if not 48 <= run.data[at] <= 57:
            return False
        value = value * 10 + run.data[at] - 48
    out[0] = value
    return value <= most


cdef inline bint _boolean(Run *run, bint *out) noexcept nogil:
    out[0] = (run.size == 1 and run.data[0] == 49) or _is(run, "true", 4)
    return out[0] or (run.size == 1 and run.data[0] == 48) or _is(run, "false", 5)


cdef bint _numeral(Run *run) noexcept nogil:
    """A finite number as programs write one: -12.5, 1E-300."""
    cdef const char *p = run.data
    cdef const char *end = run.data + run.size
    cdef const char *begin
    cdef char copy[NUMERAL_BYTES_MAX + 1]
    if run.size > NUMERAL_BYTES_MAX:
        return False
    if p < end and p[0] == 45:
        p += 1
    begin = p
    while p < end and 48 <= p[0] <= 57:
        p += 1
    if p == begin or (begin[0] == 48 and p - begin > 1):
        return False
    if p < end and p[0] == 46:
        p += 1
        begin = p
        while p < end and 48 <= p[0] <= 57:
            p += 1
        if p == begin:
            return False
    if p == end:
        return True
    if p[0] != 69 and p[0] != 101:
        return False
    p += 1
    if p < end and (p[0] == 45 or p[0] == 43):
        p += 1
    begin = p
    while p < end and 48 <= p[0] <= 57:
        p += 1
    if p != end or p == begin:
        return False
    memcpy(copy, run.data, run.size)
    copy[run.size] = 0
    return not isinf(strtod(copy, NULL))


cdef const char *_address(const char *p, const char *end, int32_t *row, int32_t *column) noexcept nogil:
    """`B12` to row 11 and column 1; returns past it, NULL where it is not written so or past the sheet's end."""
    cdef int64_t letters = 0, number = 0
    cdef const char *begin = p
    while p < end and 65 <= p[0] <= 90 and p - begin < 4:
        letters = letters * 26 + p[0] - 64
        p += 1
    if p == begin or letters > COLUMNS or p == end or p[0] == 48:
        return NULL
    begin = p
    while p < end and 48 <= p[0] <= 57 and p - begin < 8:
        number = number * 10 + p[0] - 48
        p += 1
    if p == begin or number > ROWS:
        return NULL
    row[0] = <int32_t> (number - 1)
    column[0] = <int32_t> (letters - 1)
    return p


cdef bint _box(Run *run, Box *out) noexcept nogil:
    cdef const char *end = run.data + run.size
    cdef const char *p = _address(run.data, end, &out.top, &out.left)
    if p == NULL:
        return False
    out.bottom, out.right = out.top, out.left
    if p < end:
        if p[0] != 58:
            return False
        p = _address(p + 1, end, &out.bottom, &out.right)
    return p == end and out.top <= out.bottom and out.left <= out.right


cdef inline bint _inside(Box *box, int64_t row, int64_t column) noexcept nogil:
    return box.top <= row <= box.bottom and box.left <= column <= box.right


cdef class _Reader:
    """What both readers share: the tail between chunks, tags, text."""

    cdef bytes prefix_bytes
    cdef const char *prefix
    cdef int64_t prefix_size
    cdef bytes tail
    cdef int64_t wanted
    cdef int problem
    cdef bint ended

    def __cinit__(self, *args, **keywords):
        self.tail = b""

    cdef void begin(self, bytes prefix):
        self.prefix_bytes = prefix
        self.prefix = self.prefix_bytes
        self.prefix_size = len(prefix)

    @property
    def fault(self):
        """What does not fit, a key of FAULTS; 0 for nothing."""
        return self.problem

    def feed(self, bytes chunk):
        """Read on. None until the element that is read ends, then what follows it; empty after a fault."""
        cdef const char *data
        cdef int64_t size, used
        if self.tail:
            chunk = self.tail + chunk
        size = len(chunk)
        if size < self.wanted:
            self.tail = chunk
            return None
        data = chunk
        with nogil:
            used = self.scan(data, data + size)
        if self.problem:
            return b""
        if self.ended:
            self.tail = b""
            return chunk[used:]
        self.tail = chunk[used:]
        if size - used > PIECE:
            self.problem = TOO_LONG
            return b""
        self.wanted = (size - used) * 2
        return None

    def finish(self):
        """No more chunks come: what follows the element that is read; empty after a fault."""
        self.wanted = 0
        rest = b"" if self.problem or self.ended else self.feed(b"")
        if not self.problem and not self.ended:
            self.problem = CUT_OFF
        return rest or b""

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        return 0

    cdef int fail(self, int problem) noexcept nogil:
        self.problem = problem
        return -1

    cdef int opens(self, const char **at, const char *end, const char *name, int64_t size) noexcept nogil:
        """Past `<name` where that stands there; 2 where another tag does."""
        cdef const char *p = at[0]
        cdef int state
        if p >= end:
            return 0
        if p[0] != 60:
            return 2
        p += 1
        state = self.named(&p, end, name, size)
        if state != 1:
            return state
        if not (_space(p[0]) or p[0] == 62 or p[0] == 47):
            return 2
        at[0] = p
        return 1

    cdef int closes(self, const char **at, const char *end, const char *name, int64_t size) noexcept nogil:
        """Past `</name>` where that stands there; 2 where another tag does."""
        cdef const char *p = at[0]
        cdef int state
        if end - p < 2:
            return 0
        if p[0] != 60 or p[1] != 47:
            return 2
        p += 2
        state = self.named(&p, end, name, size)
        if state != 1:
            return state
        if p[0] != 62:
            return 2
        at[0] = p + 1
        return 1

    cdef int named(self, const char **at, const char *end, const char *name, int64_t size) noexcept nogil:
        """Past the prefix and a name, with a byte behind it; 2 as soon as the bytes are others."""
        cdef const char *p = at[0]
        cdef int64_t here = min(end - p, self.prefix_size)
        if memcmp(p, self.prefix, here) != 0:
            return 2
        p += here
        here = min(end - p, size)
        if memcmp(p, name, here) != 0:
            return 2
        if here < size or end - p <= size:
            return 0
        at[0] = p + size
        return 1

    cdef int attribute(self, const char **at, const char *end, Attribute *out) noexcept nogil:
        """The next attribute: 1; 2 the tag ends with '>', 3 with '/>'."""
        cdef const char *p = at[0]
        cdef const char *stop
        cdef bint apart = False
        while p < end and _space(p[0]):
            p += 1
            apart = True
        if p >= end:
            return 0
        if p[0] == 62:
            at[0] = p + 1
            return 2
        if p[0] == 47:
            if p + 1 >= end:
                return 0
            at[0] = p + 2
            return 3 if p[1] == 62 else self.fail(MARKUP)
        if not apart:
            return self.fail(MARKUP)
        out.name.data = p
        while p < end and p[0] != 61:
            if _space(p[0]) or p[0] == 60 or p[0] == 62 or p[0] == 47:
                return self.fail(MARKUP)
            p += 1
        out.name.size = p - out.name.data
        if p + 1 >= end:
            return 0
        p += 1
        if p[0] != 34 and p[0] != 39:
            return self.fail(MARKUP)
        stop = <const char *> memchr(p + 1, p[0], end - p - 1)
        if stop == NULL:
            return 0
        out.value.data = p + 1
        out.value.size = stop - p - 1
        if memchr(out.value.data, 60, out.value.size) != NULL:
            return self.fail(MARKUP)
        if memchr(out.value.data, 38, out.value.size) != NULL:
            return self.fail(CHARACTER)
        at[0] = stop + 1
        return 1

    cdef int plain_tag(self, const char **at, const char *end) noexcept nogil:
        """The rest of a tag that says at most xml:space: 2 or 3 as `attribute`."""
        cdef bint preserved
        return self.spaced_tag(at, end, &preserved)

    cdef int spaced_tag(self, const char **at, const char *end, bint *preserved) noexcept nogil:
        """`plain_tag`, and whether it says that blanks at the ends of its text count."""
        cdef Attribute item
        cdef int state
        cdef bint met = False
        preserved[0] = False
        while True:
            state = self.attribute(at, end, &item)
            if state != 1:
                return state
            if met or not _is(&item.name, "xml:space", 9) or not _is(&item.value, "preserve", 8):
                return self.fail(ATTRIBUTE)
            met = preserved[0] = True

    cdef int text(
        self, const char **at, const char *end, const char *name, int64_t size, Run *out
    ) noexcept nogil:
        """The text of an element that is open, and past its end."""
        cdef const char *p = at[0]
        cdef const char *stop = <const char *> memchr(p, 60, end - p)
        cdef int state
        if stop == NULL:
            return 0
        out.data = p
        out.size = stop - p
        if not self.is_text(out):
            return self.fail(CHARACTER)
        at[0] = stop
        state = self.closes(at, end, name, size)
        return self.fail(MARKUP) if state == 2 else state

    cdef bint is_text(self, Run *run) noexcept nogil:
        """Whether entities are XML's own or numbers, and neither a bare CR, which XML reads as LF, nor `]]>` is in it."""
        cdef const char *p = run.data
        cdef const char *end = run.data + run.size
        cdef Run entity
        cdef const char *stop
        if memchr(p, 13, run.size) != NULL:
            return False
        if memchr(p, 62, run.size) != NULL:
            while (p := <const char *> memchr(p, 62, end - p)) != NULL:
                if p - run.data >= 2 and (p - 1)[0] == 93 and (p - 2)[0] == 93:
                    return False
                p += 1
        p = run.data
        while (p := <const char *> memchr(p, 38, end - p)) != NULL:
            stop = <const char *> memchr(p, 59, end - p)
            if stop == NULL or stop - p > 12:
                return False
            entity.data, entity.size = p + 1, stop - p - 1
            if not self.is_entity(&entity):
                return False
            p = stop + 1
        return True

    cdef bint is_entity(self, Run *run) noexcept nogil:
        cdef int64_t at, begin = 1
        cdef bint hexadecimal
        cdef char c
        if run.size < 2:
            return False
        if run.data[0] != 35:
            return (
                _is(run, "amp", 3) or _is(run, "lt", 2) or _is(run, "gt", 2) or _is(run, "quot", 4)
                or _is(run, "apos", 4)
            )
        hexadecimal = run.data[1] == 120
        begin += hexadecimal
        if run.size == begin:
            return False
        for at in range(begin, run.size):
            c = run.data[at]
            if not (48 <= c <= 57 or (hexadecimal and (65 <= c <= 70 or 97 <= c <= 102))):
                return False
        return True


    cdef bint is_words(self, Run *run, bint preserved) noexcept nogil:
        """Whether a text is one to every program: blanks at its ends are said to count, and what is escaped (_x000D_) is
        what XML cannot hold."""
        cdef const char *p = run.data
        cdef const char *end = run.data + run.size
        cdef int32_t code
        if run.size and not preserved and (_space(p[0]) or _space((end - 1)[0])):
            return False
        while end - p >= 7 and (p := <const char *> memchr(p, 95, end - p - 6)) != NULL:
            code = _escaped(p)
            if code < 0:
                p += 1
                continue
            if code >= 32 and code != 95 and code != 127 and code < 0xFFFE and not 0xD800 <= code < 0xE000:
                return False
            p += 7
        return True


cdef int32_t _escaped(const char *p) noexcept nogil:
    """The character of `_xHHHH_`; -1 where none stands there."""
    cdef int32_t code = 0, digit
    cdef int at
    if p[1] != 120 or p[6] != 95:
        return -1
    for at in range(2, 6):
        if 48 <= p[at] <= 57:
            digit = p[at] - 48
        elif 65 <= p[at] <= 70:
            digit = p[at] - 55
        elif 97 <= p[at] <= 102:
            digit = p[at] - 87
        else:
            return -1
        code = code * 16 + digit
    return code


cdef class Cells(_Reader):
    """What stands inside <sheetData>. `strings` and `styles` are how many the file has; `rich` says by a cell's `vm`
    less one the error that it stands for, or -1; `descents` whether rows may tell where their letters descend to, by
    Excel's own prefix."""

    cdef int64_t strings
    cdef int64_t styles
    cdef const int8_t[::1] rich
    cdef bint in_row
    cdef bint descents
    cdef int64_t row
    cdef int64_t column
    cdef int64_t low
    cdef Box extent                  # of the cells that hold something; bottom -1 where none does
    cdef Box *groups                 # shared formulas by number; bottom -1 where there is none
    cdef int64_t groups_room
    cdef Box *arrays
    cdef int64_t arrays_count
    cdef int64_t arrays_room
    cdef int64_t looks

    def __init__(self, bytes prefix, *, strings, styles, rich, descents):
        self.begin(prefix)
        self.strings, self.styles, self.rich, self.descents = strings, styles, rich, descents
        self.row = self.column = self.low = self.extent.bottom = -1

    def __dealloc__(self):
        free(self.groups)
        free(self.arrays)

    @property
    def place(self):
        """(row, column) of the last cell that was begun; -1 for none."""
        return self.row, self.column

    @property
    def reached(self):
        """(first row, first column, last row, last column) of the cells that hold something; None where none does."""
        box = self.extent
        return None if box.bottom < 0 else (box.top, box.left, box.bottom, box.right)

    @property
    def low_row(self):
        """The first row that is not hidden and too low to show anything; -1 for none."""
        return self.low

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef int state
        while True:
            while p < end and _space(p[0]):
                p += 1
            piece = p
            if p >= end:
                return piece - begin
            state = self.element(&p, end)
            if state <= 0:
                return piece - begin
            if self.ended:
                return p - begin

    cdef int element(self, const char **at, const char *end) noexcept nogil:
        cdef int state
        if self.in_row:
            state = self.opens(at, end, "c", 1)
            if state == 1:
                return self.cell(at, end)
            if state == 2:
                state = self.closes(at, end, "row", 3)
                if state == 1:
                    self.in_row = False
        else:
            state = self.opens(at, end, "row", 3)
            if state == 1:
                return self.begin_row(at, end)
            if state == 2:
                state = self.closes(at, end, "sheetData", 9)
                self.ended = state == 1
        return self.fail(MARKUP) if state == 2 else state

    cdef int begin_row(self, const char **at, const char *end) noexcept nogil:
        cdef Attribute item
        cdef int state
        cdef int64_t number = 0, seen = 0, bit, ignored
        cdef bint hidden = False, low = False, flag
        while True:
            state = self.attribute(at, end, &item)
            if state != 1:
                break
            if _is(&item.name, "r", 1):
                bit = 1
                if not _digits(&item.value, ROWS, &number) or number == 0:
                    return self.fail(ADDRESS)
            elif _is(&item.name, "spans", 5):
                bit = 2
            elif _is(&item.name, "s", 1):
                bit = 4
                if not _digits(&item.value, self.styles - 1, &ignored):
                    return self.fail(STYLE)
            elif _is(&item.name, "ht", 2):
                bit = 8
                if not _numeral(&item.value):
                    return self.fail(ATTRIBUTE)
                low = self.is_low(&item.value)
            elif self.descents and _is(&item.name, "x14ac:dyDescent", 15):
                bit = 16
            elif _is(&item.name, "outlineLevel", 12):
                bit = 32
                if not _digits(&item.value, 7, &ignored):
                    return self.fail(ATTRIBUTE)
            else:
                if _is(&item.name, "hidden", 6):
                    bit = 64
                elif _is(&item.name, "customFormat", 12):
                    bit = 128
                elif _is(&item.name, "customHeight", 12):
                    bit = 256
                elif _is(&item.name, "collapsed", 9):
                    bit = 512
                elif _is(&item.name, "thickTop", 8):
                    bit = 1024
                elif _is(&item.name, "thickBot", 8):
                    bit = 2048
                else:
                    return self.fail(ATTRIBUTE)
                if not _boolean(&item.value, &flag):
                    return self.fail(ATTRIBUTE)
                if bit == 64:
                    hidden = flag
            if seen & bit:
                return self.fail(ATTRIBUTE)
            seen |= bit
        if state <= 0:
            return state
        if number == 0:
            return self.fail(ADDRESS)
        if number - 1 <= self.row:
            self.column = -1
            return self.fail(ORDER)
        self.row = number - 1
        self.column = -1
        self.in_row = state == 2
        if low and not hidden and self.low < 0:
            self.low = self.row
        return 1

    cdef bint is_low(self, Run *value) noexcept nogil:
        cdef char copy[NUMERAL_BYTES_MAX + 1]
        memcpy(copy, value.data, value.size)
        copy[value.size] = 0
        return strtod(copy, NULL) < LOW_POINTS

    cdef int cell(self, const char **at, const char *end) noexcept nogil:
        cdef Attribute item
        cdef int state, kind = NUMERIC
        cdef int64_t seen = 0, bit, value_metadata = 0, ignored
        cdef int32_t row = -1, column = -1
        cdef bint has_formula = False, has_value = False, has_inline = False, is_array = False, has_cell_metadata = False
        cdef Run value
        cdef int wrong = 0
        value.data, value.size = at[0], 0
        while True:
            state = self.attribute(at, end, &item)
            if state != 1:
                break
            if _is(&item.name, "r", 1):
                bit = 1
                if seen & 1:
                    wrong = ATTRIBUTE
                    continue
                if _address(item.value.data, item.value.data + item.value.size, &row, &column) \
                        != item.value.data + item.value.size:
                    return self.fail(ADDRESS)
            elif _is(&item.name, "s", 1):
                bit = 2
                if not _digits(&item.value, self.styles - 1, &ignored):
                    wrong = STYLE
            elif _is(&item.name, "t", 1):
                bit = 4
                kind = self.kind_of(&item.value)
                if kind < 0:
                    wrong = TYPE
            elif _is(&item.name, "cm", 2):
                bit = 8
                has_cell_metadata = True
                if not _digits(&item.value, 1_000_000, &ignored) or ignored == 0:
                    wrong = METADATA
            elif _is(&item.name, "vm", 2):
                bit = 16
                if not _digits(&item.value, self.rich.shape[0], &value_metadata) or value_metadata == 0:
                    wrong = METADATA
            else:
                bit = 0
                wrong = ATTRIBUTE
            if seen & bit:
                wrong = ATTRIBUTE
            seen |= bit
        if state <= 0:
            return state
        if row < 0:
            return self.fail(ADDRESS)
        if row != self.row or column <= self.column:
            self.row, self.column = row, column
            return self.fail(ORDER)
        # A cell that is cut by the chunk's end is read again: its place is kept only once it is whole, or at fault.
        if state == 2:
            state = self.inside(at, end, row, column, kind, &has_formula, &has_value, &has_inline, &is_array, &value)
            if state == 0:
                return 0
        self.column = column
        if wrong:
            return self.fail(wrong)
        if state < 0:
            return -1
        if has_cell_metadata and not is_array:
            return self.fail(METADATA)
        if value_metadata and (
            kind != ERROR or not has_value or not _is(&value, "#VALUE!", 7) or self.rich[value_metadata - 1] < 0
        ):
            return self.fail(METADATA)
        if not self.is_value(kind, has_formula, has_value, has_inline, &value):
            return self.fail(self.problem or VALUE)
        if has_value or has_inline or has_formula:
            self.reach(row, column)
        return 1

    cdef void reach(self, int32_t row, int32_t column) noexcept nogil:
        cdef Box *box = &self.extent
        if box.bottom < 0:
            box.top, box.left, box.right = row, column, column
        box.bottom = row
        box.left = min(box.left, column)
        box.right = max(box.right, column)

    cdef int kind_of(self, Run *run) noexcept nogil:
        if run.size == 1:
            if run.data[0] == 110:
                return NUMERIC
            if run.data[0] == 115:
                return STRINGS
            if run.data[0] == 98:
                return BOOLEAN
            if run.data[0] == 101:
                return ERROR
        if _is(run, "str", 3):
            return TEXT
        if _is(run, "inlineStr", 9):
            return INLINE
        return -1

    cdef int inside(
        self, const char **at, const char *end, int32_t row, int32_t column, int kind, bint *has_formula,
        bint *has_value, bint *has_inline, bint *is_array, Run *value
    ) noexcept nogil:
        """What stands in a cell, up to its end: a formula, then a value or a text of its own."""
        cdef int state = self.opens(at, end, "f", 1)
        if state == 1:
            has_formula[0] = True
            state = self.formula(at, end, row, column, is_array)
            if state != 1:
                return state
            state = 2
        if state == 2:
            state = self.opens(at, end, "v", 1)
            if state == 1:
                has_value[0] = True
                state = self.plain_tag(at, end)
                if state == 2:
                    state = self.text(at, end, "v", 1, value)
                    if state != 1:
                        return state
                elif state != 3:
                    return state
                state = 2
            elif state == 2 and kind == INLINE:
                state = self.opens(at, end, "is", 2)
                if state == 1:
                    has_inline[0] = True
                    state = self.inline_text(at, end, value)
                    if state != 1:
                        return state
                    state = 2
        if state == 2:
            state = self.closes(at, end, "c", 1)
        return self.fail(MARKUP) if state == 2 else state

    cdef int inline_text(self, const char **at, const char *end, Run *value) noexcept nogil:
        """One plain text, as the shared strings have."""
        cdef bint preserved
        cdef int state = self.plain_tag(at, end)
        if state == 2:
            state = self.opens(at, end, "t", 1)
            if state == 1:
                state = self.spaced_tag(at, end, &preserved)
                if state == 2:
                    state = self.text(at, end, "t", 1, value)
                    if state == 1 and not self.is_words(value, preserved):
                        return self.fail(CHARACTER)
                if state == 3 or state == 1:
                    state = self.closes(at, end, "is", 2)
        return self.fail(MARKUP) if state == 2 or state == 3 else state

    cdef bint is_value(self, int kind, bint has_formula, bint has_value, bint has_inline, Run *value) noexcept nogil:
        """Whether the value is written as its kind is; `problem` says more where it is set."""
        cdef int64_t index
        if has_inline:
            return not has_formula
        if kind == INLINE or (kind == STRINGS and has_formula):
            return False
        if not has_value:
            return True
        if kind == TEXT:
            return self.is_words(value, True)
        if kind == NUMERIC:
            return (has_formula and value.size == 0) or _numeral(value)
        if kind == BOOLEAN:
            return value.size == 1 and (value.data[0] == 48 or value.data[0] == 49)
        if kind == STRINGS:
            if not _digits(value, 999_999_999, &index):
                return False
            if index >= self.strings:
                self.problem = STRING
            return index < self.strings
        return self.is_error(value)

    cdef bint is_error(self, Run *value) noexcept nogil:
        return (
            _is(value, "#NULL!", 6) or _is(value, "#DIV/0!", 7) or _is(value, "#VALUE!", 7) or _is(value, "#REF!", 5)
            or _is(value, "#NAME?", 6) or _is(value, "#NUM!", 5) or _is(value, "#N/A", 4)
            or _is(value, "#GETTING_DATA", 13)
        )

    # ------------------------------------------------------------------------------------------------- formulas

    cdef int formula(
        self, const char **at, const char *end, int32_t row, int32_t column, bint *is_array
    ) noexcept nogil:
        cdef Attribute item
        cdef int state
        cdef int64_t seen = 0, bit, group = -1
        cdef bint shared = False, flag
        cdef Run text
        cdef Box box
        box.bottom = -1
        text.data, text.size = at[0], 0
        while True:
            state = self.attribute(at, end, &item)
            if state != 1:
                break
            if _is(&item.name, "t", 1):
                bit = 1
                shared = _is(&item.value, "shared", 6)
                is_array[0] = _is(&item.value, "array", 5)
                if not shared and not is_array[0]:
                    return self.fail(DATA_TABLE if _is(&item.value, "dataTable", 9) else ATTRIBUTE)
            elif _is(&item.name, "ref", 3):
                bit = 2
                if not _box(&item.value, &box):
                    return self.fail(ADDRESS)
            elif _is(&item.name, "si", 2):
                bit = 4
                if not _digits(&item.value, GROUPS_MAX - 1, &group):
                    return self.fail(SHARED)
            elif _is(&item.name, "ca", 2) or _is(&item.name, "aca", 3):
                bit = 8 if item.name.size == 2 else 16
                if not _boolean(&item.value, &flag):
                    return self.fail(ATTRIBUTE)
            elif _is(&item.name, "xml:space", 9) and _is(&item.value, "preserve", 8):
                bit = 32
            else:
                return self.fail(ATTRIBUTE)
            if seen & bit:
                return self.fail(ATTRIBUTE)
            seen |= bit
        if state == 2:
            state = self.text(at, end, "f", 1, &text)
            if state == 1:
                state = self.piece_ends(at, end)
        elif state == 3:
            state = self.piece_ends(at, end)
        if state != 1:
            return state
        if shared:
            return self.shared_formula(row, column, group, &box, text.size)
        if group >= 0:
            return self.fail(SHARED)
        if is_array[0]:
            if text.size == 0 or box.bottom < 0 or box.top != row or box.left != column:
                return self.fail(ARRAY)
            return 1 if self.keep_array(&box) else self.fail(TOO_LONG)
        if box.bottom >= 0:
            return self.fail(ATTRIBUTE)
        if text.size == 0 and not self.in_array(row, column):
            return self.fail(EMPTY_FORMULA)
        return 1

    cdef int piece_ends(self, const char **at, const char *end) noexcept nogil:
        """1 where the cell's end is in the chunk, so that a formula is not noted twice when the cell is read again."""
        cdef const char *p = at[0]
        while end - p >= 3:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 3 + self.prefix_size + 2:
                return 0
            if p[1] == 47 and memcmp(p + 2, self.prefix, self.prefix_size) == 0 and \
                    p[2 + self.prefix_size] == 99 and p[3 + self.prefix_size] == 62:
                return 1
            p += 1
        return 0

    cdef int shared_formula(
        self, int32_t row, int32_t column, int64_t group, Box *box, int64_t size
    ) noexcept nogil:
        """A group's first cell has the text and the range; a later one has neither, and lies in that range."""
        if group < 0:
            return self.fail(SHARED)
        if not self.groups_reach(group):
            return self.fail(TOO_LONG)
        if box.bottom >= 0:
            if size == 0 or self.groups[group].bottom >= 0 or not _inside(box, row, column):
                return self.fail(SHARED)
            self.groups[group] = box[0]
            return 1
        if size or self.groups[group].bottom < 0 or not _inside(&self.groups[group], row, column):
            return self.fail(SHARED)
        return 1

    cdef bint groups_reach(self, int64_t group) noexcept nogil:
        cdef void *moved
        cdef int64_t room
        if group < self.groups_room:
            return True
        room = max(group + 64, self.groups_room * 2)
        moved = realloc(self.groups, room * sizeof(Box))
        if moved == NULL:
            return False
        self.groups = <Box *> moved
        memset(self.groups + self.groups_room, 0xFF, (room - self.groups_room) * sizeof(Box))
        self.groups_room = room
        return True

    cdef bint keep_array(self, Box *box) noexcept nogil:
        cdef void *moved
        if self.arrays_count == self.arrays_room:
            moved = realloc(self.arrays, (self.arrays_room * 2 + 64) * sizeof(Box))
            if moved == NULL:
                return False
            self.arrays = <Box *> moved
            self.arrays_room = self.arrays_room * 2 + 64
        self.arrays[self.arrays_count] = box[0]
        self.arrays_count += 1
        return True

    cdef bint in_array(self, int32_t row, int32_t column) noexcept nogil:
        """Whether an array formula fills a cell: Excel writes <f ca="1"/> into those of a volatile one."""
        cdef int64_t at
        for at in range(self.arrays_count - 1, -1, -1):
            self.looks += 1
            if self.looks > LOOKS_MAX:
                return False
            if _inside(&self.arrays[at], row, column):
                return True
        return False


cdef class Strings(_Reader):
    """What stands inside <sst>: texts, plain or in runs. Parts that only some programs read stop it."""

    cdef readonly int64_t count

    def __init__(self, bytes prefix):
        self.begin(prefix)

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef int state
        while True:
            while p < end and _space(p[0]):
                p += 1
            piece = p
            if p >= end:
                return piece - begin
            state = self.opens(&p, end, "si", 2)
            if state == 1:
                state = self.entry(&p, end)
                self.count += state == 1
            elif state == 2:
                state = self.closes(&p, end, "sst", 3)
                if state == 1:
                    self.ended = True
                    return p - begin
                if state == 2:
                    state = self.fail(MARKUP)
            if state <= 0:
                return piece - begin

    cdef int entry(self, const char **at, const char *end) noexcept nogil:
        """A text, or runs of text; then perhaps how its phonetic signs look, of which there are none."""
        cdef int state = self.plain_tag(at, end)
        cdef bint plain = False, runs = False
        if state == 3 or state <= 0:
            return self.fail(MARKUP) if state == 3 else state
        while True:
            state = self.opens(at, end, "t", 1)
            if state == 1:
                if plain or runs:
                    return self.fail(MARKUP)
                plain = True
                state = self.words(at, end)
                if state <= 0:
                    return state
                continue
            if state == 0:
                return 0
            state = self.opens(at, end, "r", 1)
            if state == 1:
                if plain:
                    return self.fail(MARKUP)
                runs = True
                state = self.run(at, end)
                if state <= 0:
                    return state
                continue
            if state == 0:
                return 0
            break
        state = self.opens(at, end, "phoneticPr", 10)
        if state == 1:
            state = self.empty(at, end)
            if state <= 0:
                return state
        if state == 0:
            return 0
        state = self.closes(at, end, "si", 2)
        if state == 1 and not plain and not runs:
            return self.fail(MARKUP)
        return self.fail(MARKUP) if state == 2 else state

    cdef int words(self, const char **at, const char *end) noexcept nogil:
        cdef Run item
        cdef bint preserved
        cdef int state = self.spaced_tag(at, end, &preserved)
        if state == 2:
            state = self.text(at, end, "t", 1, &item)
            return self.fail(CHARACTER) if state == 1 and not self.is_words(&item, preserved) else state
        return 1 if state == 3 else state

    cdef int empty(self, const char **at, const char *end) noexcept nogil:
        """The rest of a tag that has nothing in it, whatever its attributes say."""
        cdef Attribute ignored
        cdef int state = 1
        while state == 1:
            state = self.attribute(at, end, &ignored)
        return 1 if state == 3 else self.fail(MARKUP) if state == 2 else state

    cdef int run(self, const char **at, const char *end) noexcept nogil:
        """A run: how it looks, which is skipped, and its text."""
        cdef const char *stop
        cdef int state = self.plain_tag(at, end)
        if state != 2:
            return self.fail(MARKUP) if state == 3 else state
        state = self.opens(at, end, "rPr", 3)
        if state == 0:
            return 0
        if state == 1:
            state = self.plain_tag(at, end)
            while state == 2:
                state = self.closes(at, end, "rPr", 3)
                if state != 2:
                    break
                stop = at[0]
                if end - stop < 2:
                    return 0
                if stop[0] != 60 or not 97 <= stop[1] <= 122:
                    return self.fail(MARKUP)
                while stop < end and not _space(stop[0]) and stop[0] != 47 and stop[0] != 62:
                    stop += 1
                at[0] = stop
                state = self.empty(at, end)
                if state == 1:
                    state = 2
            if state <= 0:
                return state
        state = self.opens(at, end, "t", 1)
        if state != 1:
            return self.fail(MARKUP) if state == 2 else state
        state = self.words(at, end)
        if state <= 0:
            return state
        state = self.closes(at, end, "r", 1)
        return self.fail(MARKUP) if state == 2 else state
