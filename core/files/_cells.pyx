"""The hot loop over the XML of a sheet's cells and of the shared strings: bytes in, flat columns out, in one pass.

The contract of the boundary. `feed` takes UTF-8 chunks of any size and keeps the tail that does not yet make a whole
piece (a tag, a comment, a whole <c> or <si> element), so memory is bounded by the columns themselves. Nothing here
trusts the file: every pointer is checked against the chunk's end, every row, column and index against its limit, and a
file that breaks a rule raises ParseFailed. Element prefixes are ignored (x:row is row); elements that are not ours are skipped.

Three states of a reader function: a pointer past what it read; NULL with `problem` 0 when the chunk ends too early
(the piece is read again with the next chunk); NULL with `problem` set when the file is refused.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from core.grid._intern cimport Pool, pool_arrays, pool_close, pool_code, pool_open

import numpy as np

from core.files.errors import ParseFailed
from core.files.limits import COLUMNS_MAX, MERGED_MAX, PIECE_BYTES_MAX, ROWS_MAX, TEXT_BYTES_MAX
from core.values import ERROR_CODE

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef extern from *:
    """
    #include <float.h>
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    static const double cushion_tens[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22};
    #if LDBL_MANT_DIG == 64
    static const long double cushion_long_tens[28] = {
        1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L,
        1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    #endif

    /* digits * 10^power, correctly rounded; 0 when this way cannot promise that.
       Up to 2^53 and 10^22 both factors are exact doubles and one operation rounds once (Clinger 1990). Seventeen
       digits, as Excel writes them, take the 80-bit road: both factors are exact there too, and rounding twice differs
       from rounding once only when the 80-bit result is next to the middle of two doubles, which is looked at. */
    static inline int cushion_scale(uint64_t digits, int power, double *out) {
        if (digits <= 9007199254740992ull && power >= -22 && power <= 22) {
            *out = power < 0 ? (double)digits / cushion_tens[-power] : (double)digits * cushion_tens[power];
            return 1;
        }
    #if LDBL_MANT_DIG == 64
        if (power >= -27 && power <= 27) {
            long double exact = (long double)digits;
            uint64_t bits;
            int low;
            exact = power < 0 ? exact / cushion_long_tens[-power] : exact * cushion_long_tens[power];
            memcpy(&bits, &exact, 8);
            low = (int)(bits & 0x7FF);
            if (low < 0x3FF || low > 0x401) { *out = (double)exact; return 1; }
        }
    #endif
        return 0;
    }
    """
    int cushion_scale(uint64_t digits, int power, double *out) noexcept nogil
    double HUGE_VAL

cdef enum:
    BLANK = 0
    NUMBER = 1
    TEXT = 2
    BOOLEAN = 3
    ERROR = 4
    DATE = 5

cdef enum:
    TYPE_NUMBER
    TYPE_SHARED
    TYPE_TEXT
    TYPE_INLINE
    TYPE_BOOLEAN
    TYPE_ERROR
    TYPE_ISO

cdef enum:
    OK = 0
    NO_MEMORY
    BAD_XML
    DOCTYPE
    BAD_REFERENCE
    ROWS
    COLUMNS
    SLOTS
    TEXT_SIZE
    PIECE_SIZE
    BAD_STRING
    BAD_MERGE
    MERGES
    WRONG_ROOT
    TRUNCATED
    BAD_CHARACTER
    SHARED_FORMULAS

_HINTS = {
    BAD_XML: "The XML of {part} is not well formed.",
    DOCTYPE: "The XML of {part} declares a document type or entities, which a spreadsheet never does.",
    BAD_REFERENCE: "{part} holds a cell with an address that is not one.",
    ROWS: f"{{part}} has a cell below row {ROWS_MAX:,}, the limit of rows per sheet.",
    COLUMNS: f"{{part}} has a cell past column {COLUMNS_MAX:,}, the limit of columns per sheet.",
    SLOTS: "The workbook's sheets span more cells than the limit of {slots:,}; {part} passes it.",
    TEXT_SIZE: f"{{part}} holds more text than the limit of {TEXT_BYTES_MAX:,} bytes.",
    PIECE_SIZE: f"{{part}} holds a cell or a string longer than the limit of {PIECE_BYTES_MAX:,} bytes.",
    BAD_STRING: "{part} names a shared string that the workbook does not have.",
    BAD_MERGE: "{part} holds a merged range that is not one.",
    MERGES: f"{{part}} has more merged ranges than the limit of {MERGED_MAX:,}.",
    WRONG_ROOT: "{part} is not the kind of part that the workbook says it is.",
    TRUNCATED: "The XML of {part} ends too early.",
    BAD_CHARACTER: "{part} holds text that is not valid UTF-8, or a character that XML does not allow.",
    SHARED_FORMULAS: "{part} numbers its shared formulas past the limit.",
}

cdef int64_t ROWS_LIMIT = ROWS_MAX
cdef int32_t COLUMNS_LIMIT = COLUMNS_MAX
cdef int64_t PIECE_LIMIT = PIECE_BYTES_MAX
cdef int64_t MERGED_LIMIT = MERGED_MAX
cdef int32_t SHARED_INDEX_MAX = 1 << 24
# The first serial that no date format shows: 1 January 10000.
cdef double SERIAL_MAX = 2_958_466.0
cdef double NUM_ERROR = ERROR_CODE["#NUM!"]
cdef const char *EMPTY = ""


cdef struct Span:
    # One column while it grows. Slots are rows origin .. origin + room - 1; cells stand in first .. last - 1.
    int64_t origin
    int64_t room
    int64_t first
    int64_t last
    uint8_t *kinds
    double *numbers
    int32_t *codes
    uint16_t *formats

cdef struct Found:
    # One formula cell; `text` is -1 for a shared member until its origin is known, `shared` -1 outside shared groups.
    int32_t row
    int32_t column
    int32_t text
    int32_t shared
    int32_t origin

cdef struct Bytes:
    # Decoded text under work.
    char *data
    int64_t size
    int64_t room

cdef struct Run:
    # A stretch of text: in the chunk itself, or in a Bytes.
    const char *data
    int64_t size

cdef struct Attribute:
    const char *name
    int64_t name_size
    const char *value
    int64_t value_size


# ------------------------------------------------------------------------------------------------------- characters

cdef inline bint is_space(char c) noexcept nogil:
    return c == 32 or c == 10 or c == 13 or c == 9


cdef inline bint ends_name(char c) noexcept nogil:
    return c == 62 or c == 47 or is_space(c)


cdef inline bint same(const char *text, int64_t size, const char *word, int64_t word_size) noexcept nogil:
    return size == word_size and memcmp(text, word, word_size) == 0


cdef inline bint push(Bytes *into, const char *text, int64_t size) noexcept nogil:
    cdef void *moved
    if into.size + size > into.room:
        moved = realloc(into.data, (into.size + size) * 2 + 64)
        if moved == NULL:
            return False
        into.data = <char *> moved
        into.room = (into.size + size) * 2 + 64
    if size:
        memcpy(into.data + into.size, text, size)
        into.size += size
    return True


cdef bint push_character(Bytes *into, uint32_t point) noexcept nogil:
    """Append one character as UTF-8."""
    cdef char out[4]
    if point < 0x80:
        out[0] = <char> point
        return push(into, out, 1)
    if point < 0x800:
        out[0] = <char> (0xC0 | (point >> 6))
        out[1] = <char> (0x80 | (point & 63))
        return push(into, out, 2)
    if point < 0x10000:
        out[0] = <char> (0xE0 | (point >> 12))
        out[1] = <char> (0x80 | ((point >> 6) & 63))
        out[2] = <char> (0x80 | (point & 63))
        return push(into, out, 3)
    out[0] = <char> (0xF0 | (point >> 18))
    out[1] = <char> (0x80 | ((point >> 12) & 63))
    out[2] = <char> (0x80 | ((point >> 6) & 63))
    out[3] = <char> (0x80 | (point & 63))
    return push(into, out, 4)


cdef inline int hex_digit(char c) noexcept nogil:
    if 48 <= c <= 57:
        return c - 48
    if 97 <= c <= 102:
        return c - 87
    if 65 <= c <= 70:
        return c - 55
    return -1


cdef int64_t entity(const char *p, const char *end, uint32_t *point) noexcept nogil:
    """The length of the entity that starts at '&', and its character; 0 when it is none of XML's own."""
    cdef const char *stop = <const char *> memchr(p, 59, end - p if end - p < 12 else 12)
    cdef const char *at = p + 1
    cdef int64_t size
    cdef uint32_t value = 0
    cdef int digit
    if stop == NULL:
        return 0
    size = stop - at
    if same(at, size, "amp", 3):
        value = 38
    elif same(at, size, "lt", 2):
        value = 60
    elif same(at, size, "gt", 2):
        value = 62
    elif same(at, size, "quot", 4):
        value = 34
    elif same(at, size, "apos", 4):
        value = 39
    elif size >= 2 and at[0] == 35:
        at += 1
        if at[0] == 120:
            at += 1
            if at == stop:
                return 0
            while at < stop:
                digit = hex_digit(at[0])
                if digit < 0:
                    return 0
                value = value * 16 + digit
                if value > 0x10FFFF:
                    return 0
                at += 1
        else:
            while at < stop:
                if not 48 <= at[0] <= 57:
                    return 0
                value = value * 10 + (at[0] - 48)
                if value > 0x10FFFF:
                    return 0
                at += 1
        if value < 32 and value != 9 and value != 10 and value != 13 or 0xD800 <= value <= 0xDFFF:
            return 0
    else:
        return 0
    point[0] = value
    return stop - p + 1


cdef bint decode(Bytes *into, const char *p, const char *end, bint entities) noexcept nogil:
    """Append character data: entities resolved (not in CDATA), line ends made \\n as XML demands."""
    cdef const char *run = p
    cdef uint32_t point = 0
    cdef int64_t size
    while p < end:
        if p[0] == 38 and entities:
            if not push(into, run, p - run):
                return False
            size = entity(p, end, &point)
            if size == 0 or not push_character(into, point):
                return False
            p += size
            run = p
        elif p[0] == 13:
            if not push(into, run, p - run) or not push(into, "\n", 1):
                return False
            p += 1
            if p < end and p[0] == 10:
                p += 1
            run = p
        else:
            p += 1
    return push(into, run, p - run)


cdef int32_t escaped(const char *p, const char *end) noexcept nogil:
    """The UTF-16 unit that `_xHHHH_` at `p` stands for, or -1."""
    cdef int32_t value = 0
    cdef int at, digit
    if end - p < 7 or p[0] != 95 or p[1] != 120 or p[6] != 95:
        return -1
    for at in range(2, 6):
        digit = hex_digit(p[at])
        if digit < 0:
            return -1
        value = value * 16 + digit
    return value


cdef bint unescape(Bytes *into, Run *text) noexcept nogil:
    """Append a string with Excel's `_xHHHH_` marks resolved. U+0000 and half pairs stay as they are written."""
    cdef const char *p = text.data
    cdef const char *end = text.data + text.size
    cdef const char *run = p
    cdef int32_t high, low
    while p < end:
        high = escaped(p, end) if p[0] == 95 else -1
        low = escaped(p + 7, end) if 0xD800 <= high < 0xDC00 else -1
        if 0xDC00 <= low <= 0xDFFF:
            if not push(into, run, p - run):
                return False
            if not push_character(into, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)):
                return False
            p += 14
            run = p
        elif high > 0 and not 0xD800 <= high <= 0xDFFF:
            if not push(into, run, p - run) or not push_character(into, high):
                return False
            p += 7
            run = p
        else:
            p += 1
    return push(into, run, p - run)


cdef bint has_escape(Run *text) noexcept nogil:
    """Whether the string may hold a `_xHHHH_` mark."""
    cdef const char *p = text.data
    cdef const char *end = text.data + text.size
    while end - p >= 7:
        p = <const char *> memchr(p, 95, end - p)
        if p == NULL:
            return False
        if escaped(p, end) >= 0:
            return True
        p += 1
    return False


# ---------------------------------------------------------------------------------------------------------- numbers

cdef bint parse_number(const char *p, int64_t size, double *out) noexcept nogil:
    """An XML double, correctly rounded; False when the text is not one."""
    cdef const char *end = p + size
    cdef const char *begin
    cdef uint64_t digits = 0
    cdef int kept = 0, dropped = 0, power = 0, exponent = 0
    cdef bint negative = False, negative_exponent = False, any_digit = False
    while p < end and is_space(p[0]):
        p += 1
    while end > p and is_space((end - 1)[0]):
        end -= 1
    begin = p
    if p < end and (p[0] == 45 or p[0] == 43):
        negative = p[0] == 45
        p += 1
    while p < end and 48 <= p[0] <= 57:
        any_digit = True
        if kept < 19:
            digits = digits * 10 + (p[0] - 48)
            kept += digits != 0
        else:
            dropped += 1
        p += 1
    if p < end and p[0] == 46:
        p += 1
        while p < end and 48 <= p[0] <= 57:
            any_digit = True
            if kept < 19:
                digits = digits * 10 + (p[0] - 48)
                kept += digits != 0
                power -= 1
            else:
                dropped += 1
            p += 1
    if not any_digit:
        return False
    if p < end and (p[0] == 101 or p[0] == 69):
        p += 1
        if p < end and (p[0] == 45 or p[0] == 43):
            negative_exponent = p[0] == 45
            p += 1
        if p == end:
            return False
        while p < end and 48 <= p[0] <= 57:
            if exponent < 100_000:
                exponent = exponent * 10 + (p[0] - 48)
            p += 1
        power += -exponent if negative_exponent else exponent
    if p != end:
        return False
    if digits == 0 and dropped == 0:
        out[0] = -0.0 if negative else 0.0
        return True
    if dropped == 0 and cushion_scale(digits, power, out):
        if negative:
            out[0] = -out[0]
        return True
    return slow_number(begin, end - begin, out)


cdef bint slow_number(const char *p, int64_t size, double *out) noexcept with gil:
    """The same by Python's own reader, which no locale bends; for the few numbers that the quick ways cannot round."""
    try:
        text = p[:size]
        out[0] = PyOS_string_to_double(text, NULL, NULL)
    except (ValueError, MemoryError):
        return False
    return True


cdef bint parse_index(const char *p, int64_t size, int64_t *out) noexcept nogil:
    """A whole number of at most nine digits, spaces around it allowed."""
    cdef const char *end = p + size
    cdef int64_t value = 0
    while p < end and is_space(p[0]):
        p += 1
    while end > p and is_space((end - 1)[0]):
        end -= 1
    if p == end or end - p > 9:
        return False
    while p < end:
        if not 48 <= p[0] <= 57:
            return False
        value = value * 10 + (p[0] - 48)
        p += 1
    out[0] = value
    return True


cdef const char *parse_address(const char *p, const char *end, int64_t *row, int32_t *column) noexcept nogil:
    """`B12` to row 11 and column 1; returns past it, or NULL. Values past the limits come back past the limits."""
    cdef int32_t letters = 0
    cdef int64_t digits = 0
    cdef int count = 0
    cdef char c
    while p < end:
        c = p[0]
        if 97 <= c <= 122:
            c -= 32
        if not 65 <= c <= 90:
            break
        letters = letters * 26 + (c - 64)
        count += 1
        if count > 4:
            return NULL
        p += 1
    if count == 0:
        return NULL
    count = 0
    while p < end and 48 <= p[0] <= 57:
        digits = digits * 10 + (p[0] - 48)
        count += 1
        if count > 9:
            return NULL
        p += 1
    if digits == 0:
        return NULL
    row[0] = digits - 1
    column[0] = letters - 1
    return p


# ------------------------------------------------------------------------------------------------------------- tags

cdef int next_attribute(const char **at, const char *end, Attribute *out) noexcept nogil:
    """Read one attribute: 1 got one, 0 the tag ends with '>', 2 it ends with '/>', -1 the chunk ends, -2 not XML."""
    cdef const char *p = at[0]
    cdef const char *stop
    cdef char quote
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    if p[0] == 62:
        at[0] = p + 1
        return 0
    if p[0] == 47:
        if p + 1 >= end:
            return -1
        if p[1] != 62:
            return -2
        at[0] = p + 2
        return 2
    out.name = p
    while p < end and p[0] != 61 and not is_space(p[0]):
        if p[0] == 62 or p[0] == 60:
            return -2
        p += 1
    out.name_size = p - out.name
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    if p[0] != 61:
        return -2
    p += 1
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    quote = p[0]
    if quote != 34 and quote != 39:
        return -2
    p += 1
    stop = p
    while stop < end and stop[0] != quote:
        if stop[0] == 60:
            return -2
        stop += 1
    if stop >= end:
        return -1
    out.value = p
    out.value_size = stop - p
    at[0] = stop + 1
    return 1


cdef int skip_attributes(const char **at, const char *end) noexcept nogil:
    """To the end of the tag; answers as `next_attribute`, never 1."""
    cdef Attribute ignored
    cdef int state = 1
    while state == 1:
        state = next_attribute(at, end, &ignored)
    return state


cdef const char *find_end(const char *p, const char *end, const char *mark, int64_t size) noexcept nogil:
    """Past the next `mark`, or NULL."""
    while end - p >= size:
        p = <const char *> memchr(p, mark[0], end - p)
        if p == NULL or end - p < size:
            return NULL
        if memcmp(p, mark, size) == 0:
            return p + size
        p += 1
    return NULL


cdef inline const char *local_name(const char *p, const char *end, const char **name, int64_t *size) noexcept nogil:
    """The element name at `p` without its prefix; returns past it, or NULL when the chunk ends in it."""
    cdef const char *begin = p
    while p < end and not ends_name(p[0]):
        if p[0] == 58:
            begin = p + 1
        p += 1
    if p >= end:
        return NULL
    name[0] = begin
    size[0] = p - begin
    return p


cdef class _Scanner:
    """What both scanners share: the tail between chunks, XML's odd pieces, text, refusals."""

    cdef bytes tail
    cdef int64_t wanted
    cdef int problem
    cdef int64_t depth
    cdef bint rooted
    cdef Bytes value_bytes           # decoded text of the value or string at hand
    cdef Bytes formula_bytes         # of the formula beside it: the two live at the same time
    cdef Bytes ignored_bytes         # of what is skipped
    cdef Pool pool
    cdef object part
    cdef object slots_max

    def __cinit__(self, *args, **keywords):
        self.tail = b""
        self.slots_max = 0
        # Python's own string hash is keyed once per process: its value of a constant is as good a seed as any.
        if pool_open(&self.pool, <uint64_t> (<Py_ssize_t> hash("cushion")), TEXT_BYTES_MAX) < 0:
            raise MemoryError

    def __dealloc__(self):
        free(self.value_bytes.data)
        free(self.formula_bytes.data)
        free(self.ignored_bytes.data)
        pool_close(&self.pool)

    def feed(self, bytes chunk):
        """Read the next chunk of the part.

        Raises:
            ParseFailed: the part breaks a rule or a limit.
        """
        cdef const char *data
        cdef int64_t size, used
        if self.tail:
            chunk = self.tail + chunk
        # A piece longer than the chunk is looked at again only when twice as much has come: linear in the end.
        size = len(chunk)
        if size < self.wanted:
            self.tail = chunk
            return
        data = chunk
        with nogil:
            used = self.scan(data, data + size)
        if self.problem:
            self.refuse()
        self.tail = chunk[used:] if used < size else b""
        if size - used > PIECE_LIMIT:
            self.problem = PIECE_SIZE
            self.refuse()
        self.wanted = (size - used) * 2

    cdef int close(self) except -1:
        """Read what is left and see that the part is whole."""
        if self.wanted:
            self.wanted = 0
            self.feed(b"")
        if not self.rooted or self.depth != 0 or self.tail.strip():
            self.problem = TRUNCATED
            self.refuse()
        return 0

    cdef int refuse(self) except -1:
        if self.problem == NO_MEMORY:
            raise MemoryError
        raise ParseFailed(_HINTS[self.problem].format(part=self.part, slots=self.slots_max))

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        return 0

    cdef const char *fail(self, int problem) noexcept nogil:
        self.problem = problem
        return NULL

    cdef const char *odd(self, const char *p, const char *end) noexcept nogil:
        """Past a comment, a processing instruction or a CDATA section that is not text; `p` stands behind '<'."""
        if p[0] == 63:
            return find_end(p, end, "?>", 2)
        if end - p < 3:
            return NULL
        if memcmp(p, "!--", 3) == 0:
            return find_end(p + 3, end, "-->", 3)
        if p[1] == 91:
            return find_end(p, end, "]]>", 3)
        return self.fail(DOCTYPE)

    cdef const char *read_text(self, const char *p, const char *end, Bytes *into) noexcept nogil:
        """Append the text of an element, `p` behind its start tag, and return past its end tag. Elements in it are
        no part of the text."""
        cdef const char *q
        cdef const char *name
        cdef int64_t size, depth = 0
        cdef int state
        while True:
            q = <const char *> memchr(p, 60, end - p)
            if q == NULL or end - q < 2:
                return NULL
            if depth == 0 and not decode(into, p, q, True):
                return self.fail(BAD_CHARACTER)
            p = q + 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                if depth == 0:
                    return p
                depth -= 1
            elif p[0] == 33 and end - p < 9:
                return NULL
            elif p[0] == 33 and memcmp(p, "![CDATA[", 8) == 0:
                q = find_end(p + 8, end, "]]>", 3)
                if q == NULL:
                    return NULL
                if depth == 0 and not decode(into, p + 8, q - 3, False):
                    return self.fail(NO_MEMORY)
                p = q
            elif p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
            else:
                p = local_name(p, end, &name, &size)
                if p == NULL:
                    return NULL
                state = skip_attributes(&p, end)
                if state < 0:
                    return self.fail(BAD_XML) if state == -2 else NULL
                depth += state == 0

    cdef const char *read_simple(self, const char *p, const char *end, Bytes *into, Run *text) noexcept nogil:
        """As `read_text` into an emptied buffer, but plain text is not copied: it is left where it stands."""
        cdef const char *q = <const char *> memchr(p, 60, end - p)
        if q == NULL or end - q < 2:
            return NULL
        if q[1] == 47 and memchr(p, 38, q - p) == NULL and memchr(p, 13, q - p) == NULL:
            text.data = p
            text.size = q - p
            q = <const char *> memchr(q, 62, end - q)
            if q == NULL:
                return NULL
            return q + 1
        into.size = 0
        p = self.read_text(p, end, into)
        text.data = into.data
        text.size = into.size
        return p

    cdef const char *read_rich(self, const char *p, const char *end, Run *text) noexcept nogil:
        """The text of an <si> or <is> element, `p` behind its start tag: all its <t>, those of phonetic runs left
        out. Returns past its end tag."""
        cdef const char *name
        cdef int64_t size, depth = 0, phonetic = 0
        cdef int state
        self.value_bytes.size = 0
        while True:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 2:
                return NULL
            p += 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                if depth == 0:
                    text.data = self.value_bytes.data
                    text.size = self.value_bytes.size
                    return p
                if phonetic == depth:
                    phonetic = 0
                depth -= 1
                continue
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
                continue
            p = local_name(p, end, &name, &size)
            if p == NULL:
                return NULL
            state = skip_attributes(&p, end)
            if state < 0:
                return self.fail(BAD_XML) if state == -2 else NULL
            if state == 2:
                continue
            if size == 1 and name[0] == 116 and phonetic == 0:
                p = self.read_text(p, end, &self.value_bytes)
                if p == NULL:
                    return NULL
                continue
            depth += 1
            if phonetic == 0 and same(name, size, "rPh", 3):
                phonetic = depth

    cdef int32_t code(self, Pool *pool, Run *text) noexcept nogil:
        """The code of a string in a pool; -1 with the problem set when it cannot have one."""
        cdef int32_t code = pool_code(pool, text.data if text.size else EMPTY, text.size)
        if code < 0:
            self.problem = NO_MEMORY if code == -1 else TEXT_SIZE
            return -1
        return code

    cdef int32_t text_code(self, Run *value) noexcept nogil:
        """The code of a string in the pool, its `_xHHHH_` marks resolved."""
        cdef Bytes work
        cdef int32_t code
        if value.size < 7 or not has_escape(value):
            return self.code(&self.pool, value)
        work.data = NULL
        work.size = work.room = 0
        if not unescape(&work, value):
            free(work.data)
            self.problem = NO_MEMORY
            return -1
        value.data = work.data
        value.size = work.size
        code = self.code(&self.pool, value)
        free(work.data)
        return code

    cdef tuple pool_text(self, Pool *pool):
        """A pool's (offsets, data), seen to be UTF-8 string by string."""
        offsets, data = pool_arrays(pool)
        if len(data) and data.max() >= 128:
            try:
                data.tobytes().decode()
            except UnicodeDecodeError:
                self.problem = BAD_CHARACTER
                self.refuse()
            starts = offsets[offsets < len(data)]
            if ((data[starts] & 0xC0) == 0x80).any():
                self.problem = BAD_CHARACTER
                self.refuse()
        return offsets, data


cdef class SharedStrings(_Scanner):
    """The shared strings of a workbook. Feed it the part, then `finish`."""

    cdef int32_t *codes
    cdef int64_t count
    cdef int64_t room

    def __init__(self, part="The shared strings"):
        self.part = part

    def __dealloc__(self):
        free(self.codes)

    def __len__(self):
        return self.count

    def finish(self):
        """See that the part is whole.

        Raises:
            ParseFailed: it is not.
        """
        self.close()

    def strings(self):
        """All strings in the file's order."""
        offsets, data = self.pool_text(&self.pool)
        return [data[offsets[self.codes[i]] : offsets[self.codes[i] + 1]].tobytes().decode() for i in range(self.count)]

    cdef bint add(self, Run *text) noexcept nogil:
        cdef void *moved
        cdef int32_t code = self.text_code(text)
        if code < 0:
            return False
        if self.count == self.room:
            moved = realloc(self.codes, (self.room * 2 + 64) * sizeof(int32_t))
            if moved == NULL:
                self.problem = NO_MEMORY
                return False
            self.codes = <int32_t *> moved
            self.room = self.room * 2 + 64
        self.codes[self.count] = code
        self.count += 1
        return True

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef const char *name
        cdef int64_t size
        cdef int state
        cdef Run text
        while True:
            piece = p
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL:
                return end - begin
            piece = p
            p += 1
            if p >= end:
                return piece - begin
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return piece - begin
                continue
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return piece - begin
                self.depth -= 1
                if self.depth < 0:
                    self.problem = BAD_XML
                    return 0
                continue
            p = local_name(p, end, &name, &size)
            if p == NULL:
                return piece - begin
            state = skip_attributes(&p, end)
            if state < 0:
                if state == -2:
                    self.problem = BAD_XML
                return piece - begin
            if self.depth == 0:
                if self.rooted or not same(name, size, "sst", 3):
                    self.problem = WRONG_ROOT
                    return 0
                self.rooted = True
                self.depth = state == 0
            elif self.depth == 1 and size == 2 and memcmp(name, "si", 2) == 0:
                text.size = 0
                text.data = NULL
                if state == 0:
                    p = self.read_rich(p, end, &text)
                    if p == NULL:
                        return piece - begin
                if not self.add(&text):
                    return 0
            else:
                self.depth += state == 0


cdef class SheetScanner(_Scanner):
    """One worksheet's part to columns. Feed it the part, then `finish`.

    With `store` False nothing is kept but the extent of what the sheet holds.
    """

    cdef Span *spans
    cdef SharedStrings shared
    cdef int32_t *shared_codes       # shared string -> code in this sheet's pool, -1 until it is met
    cdef Pool formula_pool
    cdef Found *found
    cdef int64_t found_count, found_room
    cdef int32_t *origins            # shared group -> index in `found` of the cell it was filled from
    cdef int64_t origins_room
    cdef bint ordered
    cdef int64_t last_key            # place of the last formula, to know whether they came in order
    cdef const uint16_t[::1] style_formats
    cdef const uint8_t[::1] style_dates
    cdef int64_t styles
    cdef bint store, in_data
    cdef int64_t row, row_stop       # the current row; one past the last row with a cell
    cdef int32_t column, column_stop
    cdef int64_t slots, slots_limit
    cdef int64_t merged_count
    cdef list merged
    cdef dict arrays
    cdef object iso_serial
    cdef bint date_1904
    cdef object declared

    def __cinit__(self, *args, **keywords):
        self.spans = <Span *> calloc(COLUMNS_MAX, sizeof(Span))
        if self.spans == NULL or pool_open(&self.formula_pool, self.pool.seed, TEXT_BYTES_MAX) < 0:
            raise MemoryError

    def __init__(
        self, part, *, shared, style_formats, style_dates, slots_max, slots_used, date_1904, iso_serial, store
    ):
        self.part = part
        self.shared = shared
        self.style_formats = style_formats
        self.style_dates = style_dates
        self.styles = min(len(style_formats), len(style_dates))
        self.store = store
        self.slots_max = slots_max
        self.slots_limit = slots_max - slots_used
        self.date_1904 = date_1904
        self.iso_serial = iso_serial
        self.row = -1
        self.column = -1
        self.last_key = -1
        self.ordered = True
        self.merged = []
        self.arrays = {}
        self.declared = None
        if store and shared is not None and self.shared.count:
            self.shared_codes = <int32_t *> malloc(self.shared.count * sizeof(int32_t))
            if self.shared_codes == NULL:
                raise MemoryError
            memset(self.shared_codes, 0xFF, self.shared.count * sizeof(int32_t))

    def __dealloc__(self):
        cdef int column
        if self.spans != NULL:
            for column in range(COLUMNS_LIMIT):
                self.drop(&self.spans[column])
        free(self.spans)
        free(self.shared_codes)
        free(self.found)
        free(self.origins)
        pool_close(&self.formula_pool)

    # ------------------------------------------------------------------------------------------------ the loop

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef const char *name
        cdef int64_t size
        while True:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL:
                return end - begin
            piece = p
            p += 1
            if p >= end:
                return piece - begin
            if p[0] == 99 and self.in_data and p + 1 < end and ends_name(p[1]):
                p = self.read_cell(p + 1, end)
            elif p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
            elif p[0] == 47:
                p = self.close_tag(p + 1, end)
            else:
                p = local_name(p, end, &name, &size)
                if p != NULL:
                    p = self.open_tag(p, end, name, size)
            if p == NULL:
                return piece - begin

    cdef const char *close_tag(self, const char *p, const char *end) noexcept nogil:
        cdef const char *name
        cdef int64_t size
        p = local_name(p, end, &name, &size)
        if p == NULL:
            return NULL
        p = <const char *> memchr(p, 62, end - p)
        if p == NULL:
            return NULL
        if self.depth == 2 and self.in_data and same(name, size, "sheetData", 9):
            self.in_data = False
        self.depth -= 1
        return self.fail(BAD_XML) if self.depth < 0 else p + 1

    cdef const char *open_tag(self, const char *p, const char *end, const char *name, int64_t size) noexcept nogil:
        cdef int state
        if self.in_data:
            if size == 1 and name[0] == 99:
                return self.read_cell(p, end)
            if same(name, size, "row", 3):
                return self.read_row(p, end)
        elif self.depth == 2 and same(name, size, "mergeCell", 9):
            return self.read_range(p, end, True)
        elif self.depth == 1 and same(name, size, "dimension", 9):
            return self.read_range(p, end, False)
        state = skip_attributes(&p, end)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if self.depth == 0:
            if self.rooted or not same(name, size, "worksheet", 9):
                return self.fail(WRONG_ROOT)
            self.rooted = True
        elif self.depth == 1 and state == 0 and same(name, size, "sheetData", 9):
            self.in_data = True
        self.depth += state == 0
        return p

    cdef const char *read_row(self, const char *p, const char *end) noexcept nogil:
        cdef Attribute attribute
        cdef int state
        cdef int64_t number = -1
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if attribute.name_size == 1 and attribute.name[0] == 114:
                if not parse_index(attribute.value, attribute.value_size, &number) or number == 0:
                    return self.fail(BAD_REFERENCE)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        self.row = number - 1 if number > 0 else self.row + 1
        self.column = -1
        self.depth += state == 0
        return p

    cdef const char *read_range(self, const char *p, const char *end, bint merge) noexcept nogil:
        """A <mergeCell ref> or <dimension ref>."""
        cdef Attribute attribute
        cdef int state
        cdef const char *at
        cdef int64_t top, bottom
        cdef int32_t left, right
        cdef bint met = False
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if not same(attribute.name, attribute.name_size, "ref", 3):
                continue
            met = True
            at = parse_address(attribute.value, attribute.value + attribute.value_size, &top, &left)
            bottom, right = top, left
            if at != NULL and at < attribute.value + attribute.value_size and at[0] == 58:
                at = parse_address(at + 1, attribute.value + attribute.value_size, &bottom, &right)
            if at != attribute.value + attribute.value_size:
                met = False
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        self.depth += state == 0
        if not merge:
            if met:
                self.declare(top, left, bottom, right)
        elif not met or bottom < top or right < left or bottom >= 1_048_576 or right >= COLUMNS_LIMIT:
            return self.fail(BAD_MERGE)
        else:
            self.merged_count += 1
            if self.merged_count > MERGED_LIMIT:
                return self.fail(MERGES)
            if self.store and not self.merge(top, left, bottom, right):
                return self.fail(NO_MEMORY)
        return p

    cdef void declare(self, int64_t top, int32_t left, int64_t bottom, int32_t right) noexcept with gil:
        self.declared = (top, left, bottom, right)

    cdef bint merge(self, int64_t top, int32_t left, int64_t bottom, int32_t right) noexcept with gil:
        try:
            self.merged.append((top, left, bottom, right))
        except MemoryError:
            return False
        return True

    # ---------------------------------------------------------------------------------------------- one cell

    cdef const char *read_cell(self, const char *p, const char *end) noexcept nogil:
        """A whole <c> element, `p` behind its name. Nothing is kept before its end tag is seen, so that a cell cut by
        the chunk's end can be read again."""
        cdef Attribute attribute
        cdef int state, kind = TYPE_NUMBER
        cdef int64_t row = self.row, size, style = 0
        cdef int32_t column = self.column + 1
        cdef const char *name
        cdef Run value, formula, formula_range
        cdef bint has_value = False, has_inline = False, has_formula = False
        cdef int64_t group = -1
        cdef bint is_array = False
        value.data = formula.data = formula_range.data = NULL
        value.size = formula.size = formula_range.size = 0
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if attribute.name_size != 1:
                continue
            if attribute.name[0] == 114:
                if parse_address(attribute.value, attribute.value + attribute.value_size, &row, &column) \
                        != attribute.value + attribute.value_size:
                    return self.fail(BAD_REFERENCE)
            elif attribute.name[0] == 115:
                if not parse_index(attribute.value, attribute.value_size, &style):
                    style = 0
            elif attribute.name[0] == 116:
                kind = cell_type(attribute.value, attribute.value_size)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        while state == 0:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 2:
                return NULL
            p += 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                break
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
                continue
            p = local_name(p, end, &name, &size)
            if p == NULL:
                return NULL
            if size == 1 and name[0] == 118:
                state = skip_attributes(&p, end)
                if state == 0:
                    has_value = True
                    p = self.read_simple(p, end, &self.value_bytes, &value)
            elif size == 1 and name[0] == 102:
                p = self.read_formula(p, end, &formula, &formula_range, &group, &is_array, &has_formula)
                state = 0
            elif size == 2 and name[0] == 105 and name[1] == 115:
                state = skip_attributes(&p, end)
                if state == 0:
                    has_inline = True
                    p = self.read_rich(p, end, &value)
            else:
                p = self.skip_element(p, end)
                state = 0
            if p == NULL:
                return NULL
            if state < 0:
                return self.fail(BAD_XML) if state == -2 else NULL
            state = 0
        if (has_value or has_inline or has_formula) and not self.keep(
            row, column, kind, style, &value, has_inline, has_formula
        ):
            return NULL
        if has_formula and self.store and not self.keep_formula(row, column, &formula, &formula_range, group, is_array):
            return NULL
        self.row = row
        self.column = column
        return p

    cdef const char *skip_element(self, const char *p, const char *end) noexcept nogil:
        """Past an element that is not ours, `p` behind its name."""
        cdef int state = skip_attributes(&p, end)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if state == 2:
            return p
        self.ignored_bytes.size = 0
        return self.read_text(p, end, &self.ignored_bytes)

    cdef const char *read_formula(
        self, const char *p, const char *end, Run *text, Run *covers, int64_t *group, bint *is_array, bint *has
    ) noexcept nogil:
        """An <f> element, `p` behind its name."""
        cdef Attribute attribute
        cdef int state
        cdef bint shared = False, table = False
        group[0] = -1
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if same(attribute.name, attribute.name_size, "t", 1):
                shared = same(attribute.value, attribute.value_size, "shared", 6)
                is_array[0] = same(attribute.value, attribute.value_size, "array", 5)
                table = same(attribute.value, attribute.value_size, "dataTable", 9)
            elif same(attribute.name, attribute.name_size, "si", 2):
                if not parse_index(attribute.value, attribute.value_size, group):
                    return self.fail(SHARED_FORMULAS)
            elif same(attribute.name, attribute.name_size, "ref", 3):
                covers.data = attribute.value
                covers.size = attribute.value_size
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if not shared:
            group[0] = -1
        if state == 0:
            p = self.read_simple(p, end, &self.formula_bytes, text)
            if p == NULL:
                return NULL
        has[0] = (text.size > 0 or group[0] >= 0) and not table
        return p

    cdef bint keep(
        self, int64_t row, int32_t column, int kind, int64_t style, Run *value, bint has_inline, bint has_formula
    ) noexcept nogil:
        """Turn a cell's text into its kind, number and code, and store it."""
        cdef double number = 0.0
        cdef int32_t code = -1
        cdef int64_t index
        cdef uint8_t as_kind = BLANK
        cdef bint dated = False
        if has_inline:
            kind = TYPE_INLINE
        # A formatted cell that holds nothing is no cell: sheets are formatted far below their data.
        if value.size == 0 and not has_formula and kind != TYPE_TEXT and kind != TYPE_INLINE:
            return True
        if not self.store:
            return self.put(row, column, BLANK, 0.0, -1, 0)
        if style >= self.styles:
            style = 0
        if style < self.styles:
            dated = self.style_dates[style]
        if kind == TYPE_NUMBER and value.size:
            if parse_number(value.data, value.size, &number):
                as_kind = NUMBER
                if number == HUGE_VAL or number == -HUGE_VAL:
                    as_kind, number = ERROR, NUM_ERROR
                elif dated and 0 <= number < SERIAL_MAX:
                    as_kind = DATE
            else:
                as_kind = TEXT
        elif kind == TYPE_SHARED and value.size:
            if not parse_index(value.data, value.size, &index) or self.shared is None or index >= self.shared.count:
                self.problem = BAD_STRING
                return False
            code = self.shared_code(index)
            if code < 0:
                return False
            return self.put(row, column, TEXT, 0.0, code, self.format_of(style))
        elif kind == TYPE_TEXT or kind == TYPE_INLINE:
            as_kind = TEXT
        elif kind == TYPE_BOOLEAN and value.size:
            as_kind = BOOLEAN
            number = 1.0 if (value.data[0] == 49 or value.data[0] == 116) else 0.0
        elif kind == TYPE_ERROR and value.size:
            as_kind = ERROR
            number = self.error_code(value)
        elif kind == TYPE_ISO and value.size:
            number = self.serial_of(value)
            as_kind = DATE if number >= 0 else TEXT
        if as_kind == TEXT:
            number = 0.0
            code = self.text_code(value)
            if code < 0:
                return False
        return self.put(row, column, as_kind, number, code, self.format_of(style))

    cdef inline uint16_t format_of(self, int64_t style) noexcept nogil:
        return self.style_formats[style] if style < self.styles else 0

    cdef inline int32_t shared_code(self, int64_t index) noexcept nogil:
        cdef int32_t code = self.shared_codes[index]
        cdef int32_t source
        cdef Run text
        if code >= 0:
            return code
        source = self.shared.codes[index]
        text.data = self.shared.pool.data + self.shared.pool.offsets[source]
        text.size = self.shared.pool.offsets[source + 1] - self.shared.pool.offsets[source]
        code = self.code(&self.pool, &text)
        self.shared_codes[index] = code
        return code

    cdef double error_code(self, Run *value) noexcept with gil:
        """The code of an error's text; an error that is not in the table counts as #VALUE!."""
        try:
            return ERROR_CODE.get(value.data[: value.size].strip().decode("ascii", "replace"), ERROR_CODE["#VALUE!"])
        except MemoryError:
            return ERROR_CODE["#VALUE!"]

    cdef double serial_of(self, Run *value) noexcept with gil:
        """The serial of an ISO 8601 date or time; -1 when it is none."""
        try:
            return self.iso_serial(value.data[: value.size].decode("utf-8", "replace"), self.date_1904)
        except Exception:
            return -1.0

    # ------------------------------------------------------------------------------------------------ storage

    cdef bint put(
        self, int64_t row, int32_t column, uint8_t kind, double number, int32_t code, uint16_t format
    ) noexcept nogil:
        cdef Span *span
        cdef int64_t slot
        if row < 0 or row >= ROWS_LIMIT:
            self.problem = ROWS if row >= 0 else BAD_REFERENCE
            return False
        if column >= COLUMNS_LIMIT:
            self.problem = COLUMNS
            return False
        span = &self.spans[column]
        if span.last == 0:
            span.first = span.origin = row
            span.last = row
        if row >= span.last:
            self.slots += row + 1 - span.last
            span.last = row + 1
            if row >= self.row_stop:
                self.row_stop = row + 1
            if column >= self.column_stop:
                self.column_stop = column + 1
        elif row < span.first:
            self.slots += span.first - row
            span.first = row
        if self.slots > self.slots_limit:
            self.problem = SLOTS
            return False
        if not self.store:
            return True
        if row < span.origin or row >= span.origin + span.room:
            if not self.grow(span, row):
                self.problem = NO_MEMORY
                return False
        slot = row - span.origin
        span.kinds[slot] = kind
        span.numbers[slot] = number
        span.codes[slot] = code
        span.formats[slot] = format
        return True

    cdef bint grow(self, Span *span, int64_t row) noexcept nogil:
        """Make room for a row, half as much again on the side where it came, so that any order of rows costs linear
        time. New slots are blank."""
        cdef int64_t low = span.origin, high = span.origin + span.room, room, shift
        cdef Span wider
        if row >= high:
            high = row + 16 + (row - low) // 2
        else:
            low = row - 16 - (high - row) // 2
        if low < 0:
            low = 0
        if high > ROWS_LIMIT:
            high = ROWS_LIMIT
        room = high - low
        shift = span.origin - low
        wider = span[0]
        wider.origin = low
        wider.room = room
        wider.kinds = <uint8_t *> calloc(room, sizeof(uint8_t))
        wider.numbers = <double *> calloc(room, sizeof(double))
        wider.codes = <int32_t *> malloc(room * sizeof(int32_t))
        wider.formats = <uint16_t *> calloc(room, sizeof(uint16_t))
        if wider.kinds == NULL or wider.numbers == NULL or wider.codes == NULL or wider.formats == NULL:
            self.drop(&wider)
            return False
        memset(wider.codes, 0xFF, room * sizeof(int32_t))
        if span.room:
            memcpy(wider.kinds + shift, span.kinds, span.room * sizeof(uint8_t))
            memcpy(wider.numbers + shift, span.numbers, span.room * sizeof(double))
            memcpy(wider.codes + shift, span.codes, span.room * sizeof(int32_t))
            memcpy(wider.formats + shift, span.formats, span.room * sizeof(uint16_t))
        self.drop(span)
        span[0] = wider
        return True

    cdef void drop(self, Span *span) noexcept nogil:
        free(span.kinds)
        free(span.numbers)
        free(span.codes)
        free(span.formats)
        span.kinds = NULL
        span.numbers = NULL
        span.codes = NULL
        span.formats = NULL

    cdef bint keep_formula(
        self, int64_t row, int32_t column, Run *text, Run *covers, int64_t group, bint is_array
    ) noexcept nogil:
        cdef Found *entry
        cdef void *moved
        cdef int64_t key = row * COLUMNS_LIMIT + column
        if self.found_count == self.found_room:
            moved = realloc(self.found, (self.found_room * 2 + 64) * sizeof(Found))
            if moved == NULL:
                self.problem = NO_MEMORY
                return False
            self.found = <Found *> moved
            self.found_room = self.found_room * 2 + 64
        if group >= 0 and not self.open_group(group):
            return False
        entry = &self.found[self.found_count]
        entry.row = <int32_t> row
        entry.column = column
        entry.shared = <int32_t> group
        entry.text = -1
        entry.origin = -1
        if text.size:
            entry.text = self.code(&self.formula_pool, text)
            entry.origin = <int32_t> self.found_count
            if entry.text < 0:
                return False
            if group >= 0:
                self.origins[group] = <int32_t> self.found_count
            if is_array and covers.size and not self.note_array(covers):
                self.problem = NO_MEMORY
                return False
        else:
            entry.origin = self.origins[group]
        self.ordered = self.ordered and key > self.last_key
        self.last_key = key
        self.found_count += 1
        return True

    cdef bint open_group(self, int64_t group) noexcept nogil:
        """Make room for a shared group's number."""
        cdef int64_t room = self.origins_room
        cdef void *moved
        if group < room:
            return True
        if group >= SHARED_INDEX_MAX:
            self.problem = SHARED_FORMULAS
            return False
        room = group + 64 if group + 64 > room * 2 else room * 2
        moved = realloc(self.origins, room * sizeof(int32_t))
        if moved == NULL:
            self.problem = NO_MEMORY
            return False
        self.origins = <int32_t *> moved
        memset(self.origins + self.origins_room, 0xFF, (room - self.origins_room) * sizeof(int32_t))
        self.origins_room = room
        return True

    cdef bint note_array(self, Run *covers) noexcept with gil:
        try:
            self.arrays[self.found_count] = covers.data[: covers.size].decode("ascii", "replace")
        except MemoryError:
            return False
        return True

    # ------------------------------------------------------------------------------------------------- the end

    @property
    def extent(self):
        """(rows, columns) to the last cell that holds something."""
        return self.row_stop, self.column_stop

    @property
    def dimension(self):
        """What the part declares as its extent: (first row, first column, last row, last column), or None."""
        return self.declared

    @property
    def slots_used(self):
        """Stored slots of this sheet."""
        return self.slots

    def finish(self):
        """See that the part is whole.

        Raises:
            ParseFailed: it is not.
        """
        self.close()

    def columns(self):
        """Per column None or (start, kinds, numbers, codes, formats); each column's own memory is given up."""
        cdef int32_t column
        out = []
        for column in range(self.column_stop):
            out.append(self.column_arrays(&self.spans[column]))
        return out

    cdef object column_arrays(self, Span *span):
        cdef int64_t count = span.last - span.first, skip = span.first - span.origin
        cdef uint8_t[::1] kinds
        cdef double[::1] numbers
        cdef int32_t[::1] codes
        cdef uint16_t[::1] formats
        if span.room == 0:
            return None
        kinds = np.empty(count, np.uint8)
        numbers = np.empty(count, np.float64)
        codes = np.empty(count, np.int32)
        formats = np.empty(count, np.uint16)
        memcpy(&kinds[0], span.kinds + skip, count * sizeof(uint8_t))
        memcpy(&numbers[0], span.numbers + skip, count * sizeof(double))
        memcpy(&codes[0], span.codes + skip, count * sizeof(int32_t))
        memcpy(&formats[0], span.formats + skip, count * sizeof(uint16_t))
        self.drop(span)
        span.room = 0
        return span.first, kinds.base, numbers.base, codes.base, formats.base

    def text(self):
        """(offsets, data) of the sheet's distinct strings."""
        return self.pool_text(&self.pool)

    def formulas(self):
        """(rows, columns, texts, origins, (offsets, data), arrays, ordered); origin -1 marks a shared member whose
        group has no formula text anywhere."""
        cdef int64_t at, count = self.found_count
        cdef int32_t[::1] rows = np.empty(count, np.int32)
        cdef int32_t[::1] columns = np.empty(count, np.int32)
        cdef int32_t[::1] texts = np.empty(count, np.int32)
        cdef int32_t[::1] origins = np.empty(count, np.int32)
        cdef Found *entry
        for at in range(count):
            entry = &self.found[at]
            # A member that came before its origin finds it now.
            if entry.origin < 0 and entry.shared >= 0:
                entry.origin = self.origins[entry.shared]
            rows[at] = entry.row
            columns[at] = entry.column
            origins[at] = entry.origin
            texts[at] = self.found[entry.origin].text if entry.origin >= 0 else -1
        text = self.pool_text(&self.formula_pool)
        return rows.base, columns.base, texts.base, origins.base, text, self.arrays, bool(self.ordered)

    def merged_ranges(self):
        """Merged ranges as (first row, first column, last row, last column), in the file's order."""
        return self.merged


cdef int cell_type(const char *p, int64_t size) noexcept nogil:
    """The `t` of a cell; what is not known reads as a number, the default."""
    if size == 1:
        if p[0] == 115:
            return TYPE_SHARED
        if p[0] == 98:
            return TYPE_BOOLEAN
        if p[0] == 101:
            return TYPE_ERROR
        if p[0] == 100:
            return TYPE_ISO
    elif same(p, size, "str", 3):
        return TYPE_TEXT
    elif same(p, size, "inlineStr", 9):
        return TYPE_INLINE
    return TYPE_NUMBER
