"""Searching the cells of a range: Excel's exact and binary searches, and a hash of equal cells."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void *) noexcept nogil

import numpy as np

from core.formula.values.criteria cimport (
    A_BOOLEAN, A_NUMBER, A_TEXT, AN_ERROR, EQUAL, Criterion, Wildcard, number_in, starts_as_word,
)
from core.formula.ranges.environment cimport Environment
from core.formula.values.value cimport (
    Array, Error, TextPool, Reference, Span, PLAIN, UNMARKED, cell_of, has_locale,
)
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

from core.formula.values.coerce cimport compare
from core.formula.values.criteria import wildcard
from core.formula.ranges.environment import CELLS_MAX

cdef enum:
    HUGE_PAGE = 2 << 20  # bytes
    LOOKAHEAD = 8  # rows between the request for a slot, for its key, and their use

cdef enum:
    BELOW = -1  # the value is less than the cell
    SAME = 0
    ABOVE = 1
    OTHER_TYPE = 2

INDEX_ROWS_MIN = 32
"""Below this many cells a search is faster than an index."""

INDEX_AFTER = 4
"""Searches of one range before it gets an index: building costs about as much as so many searches."""

LOOKUP_CHARACTERS_MAX = 255
"""Characters of a text that VLOOKUP, HLOOKUP and MATCH look for; Excel answers #VALUE! beyond."""

# Every value as one 64-bit key: numbers as their bits, all else in the bits of NaNs that no cell holds.
cdef uint64_t TEXT_KEY = 0xFFF9_0000_0000_0000
cdef uint64_t BOOLEAN_KEY = 0xFFFA_0000_0000_0000
cdef uint64_t ERROR_KEY = 0xFFFB_0000_0000_0000
cdef uint64_t BLANK_KEY = 0xFFFC_0000_0000_0000
NO_KEY = 0xFFFD_0000_0000_0000


cdef inline uint64_t number_key(double number) noexcept nogil:
    cdef uint64_t bits
    cdef double plain = number + 0.0  # one zero
    memcpy(&bits, &plain, 8)
    return bits


cdef uint64_t key_of_text(str text, TextPool pool):
    """The key of text that equals some text of the pool without case; NO_KEY where there is none."""
    cdef int32_t found = pool.find(text)
    return NO_KEY if found < 0 else TEXT_KEY | <uint64_t> found


cdef uint64_t key_of(value, TextPool pool):
    """The key of a value among cells whose texts are the pool's."""
    if isinstance(value, str):
        return key_of_text(value, pool)
    if value is None:
        return BLANK_KEY
    if isinstance(value, bool):
        return BOOLEAN_KEY | <uint64_t> (value is True)
    if isinstance(value, Error):
        return ERROR_KEY | <uint64_t> (<Error> value).code
    return number_key(value)


cdef inline int rank_of(uint8_t kind) noexcept nogil:
    """Where the type of a cell stands among the others when unlike cells are ordered; -1 for errors and blanks."""
    return 0 if kind == NUMBER or kind == DATE else 1 if kind == TEXT else 2 if kind == BOOLEAN else -1


cdef class Vector:
    """One column (or row) of an array as flat arrays, whatever the array is made of."""

    def __init__(self, Array array, Py_ssize_t index, bint row=False):
        cdef Span span
        if array.spans is None:
            self._read_cells(array, index, row)
            return
        self.pool = array.pool
        if row:
            self.size = array.columns
            self.kinds = np.array([(<Span> column).kinds[index] for column in array.spans], np.uint8)
            self.numbers = np.array([(<Span> column).numbers[index] for column in array.spans], np.float64)
            self.codes = np.array([(<Span> column).codes[index] for column in array.spans], np.int32)
        else:
            span = array.spans[index]
            self.size = array.rows
            self.kinds, self.numbers, self.codes = span.kinds, span.numbers, span.codes

    def _read_cells(self, Array array, Py_ssize_t index, bint row):
        cdef list cells = array.cells()
        cdef Py_ssize_t start = index * array.columns if row else index, step = 1 if row else array.columns, place
        cdef uint8_t[::1] kinds
        cdef double[::1] numbers
        cdef int32_t[::1] codes
        self.size = array.columns if row else array.rows
        self.pool = TextPool()
        kinds, numbers, codes = np.zeros(self.size, np.uint8), np.zeros(self.size), np.full(self.size, -1, np.int32)
        for place in range(self.size):
            value = cells[start + place * step]
            if isinstance(value, str):
                kinds[place] = TEXT
                codes[place] = self.pool.intern(value)
            elif isinstance(value, bool):
                kinds[place] = BOOLEAN
                numbers[place] = value is True
            elif isinstance(value, float):
                kinds[place] = NUMBER
                numbers[place] = value
            elif isinstance(value, Error):
                kinds[place] = ERROR
                numbers[place] = (<Error> value).code
        self.kinds, self.numbers, self.codes = kinds, numbers, codes

    cdef bint are_texts(self) noexcept:
        """Whether every cell is a text."""
        cdef Py_ssize_t row
        for row in range(self.size):
            if self.kinds[row] != TEXT:
                return False
        return self.size > 0

    cdef uint64_t key_at(self, Py_ssize_t row):
        """The key of a cell; the pool was folded to its end before."""
        cdef uint8_t kind = self.kinds[row]
        if kind == NUMBER or kind == DATE:
            return number_key(self.numbers[row])
        if kind == TEXT:
            return TEXT_KEY | <uint64_t> self.pool.entries[self.codes[row]].folded
        if kind == BLANK:
            return BLANK_KEY
        return (BOOLEAN_KEY if kind == BOOLEAN else ERROR_KEY) | <uint64_t> self.numbers[row]

    cdef int order(self, value, Py_ssize_t row) except -9:
        """How a number, text or boolean stands to the cell of a row; OTHER_TYPE where they do not compare."""
        cdef uint8_t kind = self.kinds[row]
        cdef double left, right
        if isinstance(value, str):
            return sign(compare(value, self.pool.text(self.codes[row]))) if kind == TEXT else OTHER_TYPE
        if isinstance(value, bool):
            if kind != BOOLEAN:
                return OTHER_TYPE
        elif kind != NUMBER and kind != DATE:
            return OTHER_TYPE
        left, right = value, self.numbers[row]
        return BELOW if left < right else ABOVE if left > right else SAME

    cdef int order_across(self, value, Py_ssize_t row) except -9:
        """As `order`, but numbers stand below text, and text below booleans; OTHER_TYPE for errors and blanks."""
        cdef int order = self.order(value, row), left, right
        if order != OTHER_TYPE:
            return order
        left, right = 1 if isinstance(value, str) else 2 if isinstance(value, bool) else 0, rank_of(self.kinds[row])
        return OTHER_TYPE if right < 0 else BELOW if left < right else ABOVE

    def exact(self, value, bint last=False):
        """The first (or last) row whose cell is equal to a value in type and content; -1 where none is."""
        cdef uint64_t key = key_of(value, self.pool)
        cdef Py_ssize_t row
        if key == NO_KEY:
            return -1
        if isinstance(value, float):
            return self._exact_number(value, last)
        self.pool.fold_all()
        for row in range(self.size - 1, -1, -1) if last else range(self.size):
            if self.key_at(row) == key:
                return row
        return -1

    cdef Py_ssize_t _exact_number(self, double number, bint last):
        cdef Py_ssize_t row, found = -1
        with nogil:
            for row in range(self.size):
                if self.numbers[row] == number and (self.kinds[row] == NUMBER or self.kinds[row] == DATE):
                    found = row
                    if not last:
                        break
        return found

    def matching(self, Wildcard pattern, bint last=False):
        """The first (or last) row whose text fits a pattern; -1 where none does."""
        cdef Py_ssize_t row
        cdef dict seen = {}
        for row in range(self.size - 1, -1, -1) if last else range(self.size):
            if self.kinds[row] == TEXT:
                code = self.codes[row]
                fits = seen.get(code)
                if fits is None:
                    seen[code] = fits = pattern.matches(self.pool.text(code))
                if fits:
                    return row
        return -1

    def ascending(self, value):
        """The row that Excel's binary search ends at: the last of equal cells, or the last that is less; -1 for none.

        It is a search by halves on data as it stands, sorted or not. A cell in the middle of another type gives way to
        the next one after it of the same type; where there is none before the upper end, the middle becomes that end.
        """
        cdef Py_ssize_t low = -1, high = self.size, middle, probe
        cdef int order
        while high - low > 1:
            middle = low + (high - low) // 2
            probe, order = middle, self.order(value, middle)
            while order == OTHER_TYPE and probe + 1 < high:
                probe += 1
                order = self.order(value, probe)
            if order == OTHER_TYPE or (order == BELOW and probe > middle and probe == high - 1):
                high = middle
            elif order == SAME:
                while probe + 1 < high and self.order(value, probe + 1) == SAME:
                    probe += 1
                return probe
            elif order == BELOW:
                high = probe
            else:
                low = probe
        return low

    def descending(self, value):
        """MATCH with -1: the last cell of the value's type before the first that is less, or the first equal one; -1
        where there is none. Excel goes through the cells in order here."""
        cdef Py_ssize_t row, found = -1
        cdef int order
        for row in range(self.size):
            order = self.order(value, row)
            if order == SAME:
                return row
            if order == ABOVE:
                return found
            if order == BELOW:
                found = row
        return found

    def nearest(self, value, bint larger, bint last=False):
        """The row of an equal cell, else of the nearest smaller (or larger) one, of whatever type; the first of such,
        or the last."""
        cdef Py_ssize_t row, found = -1
        cdef int order, wanted = BELOW if larger else ABOVE
        for row in range(self.size - 1, -1, -1) if last else range(self.size):
            order = self.order_across(value, row)
            if order == SAME:
                return row
            if order == wanted and (found < 0 or self._order_of_rows(row, found) == wanted):
                found = row
        return found

    cdef int _order_of_rows(self, Py_ssize_t row, Py_ssize_t other) except -9:
        """How the cell of a row stands to another, neither of them an error or blank: +1 where it is larger."""
        cdef int left = rank_of(self.kinds[row]), right = rank_of(self.kinds[other])
        if left != right:
            return (left > right) - (left < right)
        if left == 1:
            return sign(compare(self.pool.text(self.codes[row]), self.pool.text(self.codes[other])))
        return (self.numbers[row] > self.numbers[other]) - (self.numbers[row] < self.numbers[other])

    def positions(self, Environment environment, Span keys, TextPool pool, bint falling):
        """For each cell of a span what `ascending` (or `descending`) finds; errors and limits as Groups.positions."""
        cdef const uint8_t[::1] kinds = keys.kinds
        cdef const double[::1] numbers = keys.numbers
        cdef const int32_t[::1] codes = keys.codes
        cdef Py_ssize_t row
        found = np.empty(kinds.shape[0], np.int32)
        cdef int32_t[::1] out = found
        for row in range(kinds.shape[0]):
            value = cell_of(kinds[row], numbers[row], codes[row], pool)
            if isinstance(value, Error):
                out[row] = -2 - (<Error> value).code
            elif isinstance(value, str) and len(<str> value) > LOOKUP_CHARACTERS:
                out[row] = -4
            else:
                value = 0.0 if value is None else value
                environment.spend(min(self.size, <Py_ssize_t> CELLS_MAX) if falling else 32)
                out[row] = self.descending(value) if falling else self.ascending(value)
        return found

    def span(self):
        """The vector as a Span."""
        return Span(np.asarray(self.kinds), np.asarray(self.numbers), np.asarray(self.codes))

    def halving(self, value, int mode, bint falling):
        """XLOOKUP's binary search on rising (or falling) data: an equal cell's row, else by mode -1 the next smaller,
        by 1 the next larger, by 0 none (-1). Of equal cells the first of rising, the last of falling data."""
        cdef Py_ssize_t size = self.size, below = -1, above = -1, high = size, middle, probe
        cdef int order
        while high - below > 1:  # all places up to `below` are less than the value, `above` is the first that is not
            middle = below + (high - below) // 2
            probe = middle
            order = self.order_across(value, size - 1 - probe if falling else probe)
            while order == OTHER_TYPE and probe + 1 < high:
                probe += 1
                order = self.order_across(value, size - 1 - probe if falling else probe)
            if order == ABOVE:
                below = probe
            else:
                if order != OTHER_TYPE:
                    above = probe
                high = middle
        if above >= 0 and self.order(value, size - 1 - above if falling else above) == SAME:
            probe = above
        else:
            probe = -1 if mode == 0 else below if mode < 0 else above
        return -1 if probe < 0 else size - 1 - probe if falling else probe


cdef class Groups:
    """The rows of a vector by equal cells: a hash from value to group, and for each group its rows in order."""

    def __init__(self, Vector vector):
        cdef Py_ssize_t size = vector.size, row
        cdef int bits = 4
        cdef uint64_t key, mask
        cdef int32_t group, count = 0
        cdef size_t slot
        # As locals, or each store might have moved them for all that the compiler knows.
        cdef int32_t[::1] slots, group_of_row, first_row, last_row
        cdef uint64_t[::1] keys
        cdef const uint8_t[::1] kinds = vector.kinds
        cdef const double[::1] numbers = vector.numbers
        while (<Py_ssize_t> 1 << bits) < 2 * size:
            bits += 1
        self.vector = vector
        self.starts = self.rows = None
        self.shift = 64 - bits
        mask = (<uint64_t> 1 << bits) - 1
        vector.pool.fold_all()
        self.by_code = vector.are_texts() and vector.pool.count <= 4 * size
        slots, keys = _table(vector.pool.count if self.by_code else <Py_ssize_t> 1 << bits, size)
        self.distinct = True
        for row in range(size):
            key = number_key(numbers[row]) if kinds[row] == NUMBER else vector.key_at(row)
            slot = <uint32_t> key if self.by_code else hashed(key, 64 - bits)
            group = slots[slot]
            while group >= 0 and keys[group] != key:
                slot = (slot + 1) & mask
                group = slots[slot]
            if self.distinct:
                if group < 0:
                    slots[slot] = <int32_t> row
                    keys[row] = key
                    continue
                self.distinct = False
                count = <int32_t> row
                group_of_row, first_row, last_row = (np.arange(size, dtype=np.int32) for _ in range(3))
            if group < 0:
                group = slots[slot] = count
                keys[count] = key
                first_row[count] = row
                count += 1
            last_row[group] = row
            group_of_row[row] = group
        self.slots, self.keys, self.count = slots, keys, size if self.distinct else count
        if not self.distinct:
            self.group_of_row, self.first_row, self.last_row = group_of_row, first_row, last_row

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        """The group of a key; -1 where there is none."""
        if self.by_code:
            return self.slots[<uint32_t> key] if (key & ~<uint64_t> 0xFFFF_FFFF) == TEXT_KEY and (
                <uint32_t> key < self.slots.shape[0]) else -1
        cdef size_t slot = hashed(key, self.shift), mask = (<size_t> 1 << (64 - self.shift)) - 1
        cdef int32_t group = self.slots[slot]
        while group >= 0 and self.keys[group] != key:
            slot = (slot + 1) & mask
            group = self.slots[slot]
        return group

    cdef int32_t row_of(self, int32_t group, bint last) noexcept nogil:
        """The first (or last) row of a group."""
        return group if self.distinct else self.last_row[group] if last else self.first_row[group]

    def exact(self, value, bint last=False):
        """As Vector.exact."""
        cdef int32_t group = self.find(key_of(value, self.vector.pool))
        if group < 0:
            return -1
        return self.row_of(group, last)

    cdef _count_rows(self):
        """Where the rows of each group begin and end in the order of their groups."""
        cdef Py_ssize_t row
        cdef int32_t group
        cdef int32_t[::1] starts
        if self.starts is not None:
            return
        starts = np.zeros(self.count + 1, np.int32)
        with nogil:
            for row in range(self.vector.size):
                starts[self.group_at(row) + 1] += 1
            for group in range(<int32_t> self.count):
                starts[group + 1] += starts[group]
        self.starts = starts

    cdef _sort_rows(self):
        """The rows in the order of their groups: those of a group stand from starts[group] to starts[group + 1]."""
        cdef Py_ssize_t row
        cdef int32_t group
        cdef int32_t[::1] rows, ends
        if self.rows is not None:
            return
        self._count_rows()
        rows, ends = np.empty(self.vector.size, np.int32), np.array(self.starts)
        with nogil:
            for row in range(self.vector.size):
                group = self.group_at(row)
                rows[ends[group]] = row
                ends[group] += 1
        self.rows = rows

    cdef list members(self, Criterion criterion):
        """The groups that meet a criterion of equality; None where groups do not tell (patterns, orders, blanks)."""
        cdef int32_t group = -1
        cdef list found
        if criterion.operator != EQUAL:
            return None
        if criterion.operand == A_TEXT:
            group = self.find(key_of_text(criterion.text, self.vector.pool))
        elif criterion.operand == A_BOOLEAN:
            group = self.find(BOOLEAN_KEY | <uint64_t> criterion.number)
        elif criterion.operand == AN_ERROR:
            group = self.find(ERROR_KEY | <uint64_t> criterion.number)
        elif criterion.operand == A_NUMBER:
            group = self.find(number_key(criterion.number))
            found = self._numeric(criterion.date_1904).get(criterion.number)
            if found is not None:
                return found if group < 0 else [group, *found]
        else:
            return None
        return [] if group < 0 else [group]

    cdef dict _numeric(self, bint date_1904):
        """The groups of texts that read as numbers, by number."""
        cdef Py_ssize_t group
        cdef Vector vector = self.vector
        if self.numeric_texts is None:
            self.numeric_texts = {}
            for group in range(self.count):
                if (self.keys[group] & <uint64_t> 0xFFFF_0000_0000_0000) == TEXT_KEY:
                    text = vector.pool.text(vector.codes[self.row_of(group, False)])
                    number = number_in(text, date_1904, True)
                    if number is not None:
                        self.numeric_texts.setdefault(number, []).append(group)
        return self.numeric_texts

    def positions(self, Environment environment, Span keys, TextPool pool, bint wild, bint legacy=True, bint last=False):
        """For each cell of a span the row of the first (or last) equal cell, as the exact matches find it.

        Returns int32 rows: -1 for none, -2 - code for an error (that of the key, #VALUE! for text over 255 characters).
        `wild`: text keys with wildcards are patterns. `legacy`: a blank key is 0, and text is limited, as for VLOOKUP;
        else a blank key is equal to blank cells. `pool` is that of the keys.
        """
        cdef const uint8_t[::1] kinds = keys.kinds
        cdef const double[::1] numbers = keys.numbers
        cdef const int32_t[::1] codes = keys.codes
        cdef Py_ssize_t row, size = kinds.shape[0]
        cdef bint same_pool = pool is self.vector.pool
        cdef uint8_t telling = (1 if wild else 0) | (2 if legacy else 0)
        cdef dict special = {}
        cdef uint8_t kind
        cdef uint64_t key
        cdef int32_t group
        found = np.empty(size, np.int32)
        cdef int32_t[::1] out = found
        pool.fold_all()
        for row in range(size):
            if row + 2 * LOOKAHEAD < size and kinds[row + 2 * LOOKAHEAD] == TEXT:
                prefetch(&pool.entries[codes[row + 2 * LOOKAHEAD]])
                if self.by_code and same_pool and kinds[row + LOOKAHEAD] == TEXT:
                    group = pool.entries[codes[row + LOOKAHEAD]].folded
                    if group < self.slots.shape[0]:
                        prefetch(&self.slots[group])
            elif row + 2 * LOOKAHEAD < size and not self.by_code:
                prefetch(&self.slots[hashed(number_key(numbers[row + 2 * LOOKAHEAD]), self.shift)])
                group = self.slots[hashed(number_key(numbers[row + LOOKAHEAD]), self.shift)]
                if group >= 0:
                    prefetch(&self.keys[group])
            kind = kinds[row]
            if kind == NUMBER:
                group = self.find(number_key(numbers[row]))
                out[row] = self.row_of(group, last) if group >= 0 else -1
                continue
            if kind == TEXT:
                if marks_at(pool, codes[row], False) & telling:
                    position = special.get(codes[row])
                    if position is None:
                        environment.spend(min(self.vector.size, <Py_ssize_t> CELLS_MAX))
                        position = special[codes[row]] = self._special(pool.text(codes[row]), legacy, last)
                    out[row] = position
                    continue
                if same_pool:
                    key = TEXT_KEY | <uint64_t> pool.entries[codes[row]].folded
                else:
                    key = key_of_text(pool.text(codes[row]), self.vector.pool)
            elif kind == ERROR:
                out[row] = -2 - <int32_t> numbers[row]
                continue
            elif kind == BOOLEAN:
                key = BOOLEAN_KEY | <uint64_t> numbers[row]
            elif kind == BLANK:
                key = number_key(0.0) if legacy else BLANK_KEY
            else:
                key = number_key(numbers[row])
            group = self.find(key)
            out[row] = self.row_of(group, last) if group >= 0 else -1
        return found

    def asked(self, Span criteria, TextPool pool, bint date_1904):
        """For each cell of a span, taken as a criterion: its group, -1 for none, -2 where Criterion must tell."""
        cdef const uint8_t[::1] kinds = criteria.kinds
        cdef const double[::1] numbers = criteria.numbers
        cdef const int32_t[::1] codes = criteria.codes
        cdef dict numeric = self._numeric(date_1904)
        cdef Py_ssize_t row
        found = np.empty(kinds.shape[0], np.int32)
        cdef int32_t[::1] out = found
        if pool is not self.vector.pool:
            found[:] = -2
            return found
        pool.fold_all()
        for row in range(kinds.shape[0]):
            if kinds[row] == NUMBER or kinds[row] == DATE:
                out[row] = -2 if numeric and numbers[row] in numeric else self.find(number_key(numbers[row]))
            elif kinds[row] == TEXT and not marks_at(pool, codes[row], True) & 4:
                out[row] = self.find(TEXT_KEY | <uint64_t> pool.entries[codes[row]].folded)
            else:
                out[row] = -2
        return found

    def _special(self, str text, bint legacy, bint last):
        return -4 if legacy and len(text) > LOOKUP_CHARACTERS else self.vector.matching(wildcard(text), last)

cdef Py_ssize_t LOOKUP_CHARACTERS = LOOKUP_CHARACTERS_MAX


cdef inline int sign(int order) noexcept:
    return (order > 0) - (order < 0)


cdef tuple _table(Py_ssize_t slots, Py_ssize_t keys):
    """(int32 slots, all -1; room for so many 64-bit keys).

    From 4 MB on NumPy asks the system for pages of 2 MB. The tables of 100,000 cells fit into one, where the first touch
    of each of their 450 small pages took 2 us.
    """
    cdef Py_ssize_t start, size_bytes = 4 * slots + 8 * keys
    if size_bytes < HUGE_PAGE // 2:
        return np.full(slots, -1, np.int32), np.empty(keys, np.uint64)
    room = np.empty(max(2 * HUGE_PAGE, size_bytes + HUGE_PAGE), np.uint8)
    start = -room.ctypes.data % HUGE_PAGE
    room = room[start:start + size_bytes]
    table = room[:4 * slots].view(np.int32)
    table.fill(-1)
    return table, room[4 * slots:].view(np.uint64)


cdef inline size_t hashed(uint64_t key, int shift) noexcept nogil:
    key ^= key >> 32
    return <size_t> ((key * <uint64_t> 0x9E3779B97F4A7C15) >> shift)


cdef inline uint8_t marks_at(TextPool pool, int32_t code, bint as_criterion):
    """`marks_of` a string of a folded pool, kept there once they are known; those of a criterion if asked for."""
    cdef uint8_t marks = pool.entries[code].marks
    if marks == PLAIN and not as_criterion:
        return 0
    if marks == PLAIN or marks == UNMARKED:
        pool.entries[code].marks = marks = marks_of(pool.text(code))
    # "Mai 2024" is a month in German; the locale may change, so that is not kept.
    return marks | 4 if as_criterion and has_locale() else marks


cdef uint8_t marks_of(str text):
    """1 for text with wildcards, 2 for text over LOOKUP_CHARACTERS_MAX, 4 for what may be more than itself as a
    criterion: a pattern, a comparison, a number, TRUE, an error."""
    cdef Py_UCS4 letter
    cdef uint8_t marks = 2 | 4 if len(text) > LOOKUP_CHARACTERS else 0
    for letter in text:
        if letter == u"*" or letter == u"?" or letter == u"~":
            marks |= 1 | 4
    if not starts_as_word(text) or (len(text) <= 5 and text.upper() in ("TRUE", "FALSE")):
        marks |= 4
    return marks


cdef tuple corners_of(Environment environment, Array array, Py_ssize_t index, bint row, kind):
    """The key under which an index over one column or row of a range is kept."""
    cdef Reference reference = array.reference
    sheet = reference.sheet if reference.sheet is not None else environment.sheet
    if row:
        return sheet, reference.top + index, reference.left, reference.top + index, reference.left + array.columns - 1, kind
    return sheet, reference.top, reference.left + index, reference.top + array.rows - 1, reference.left + index, kind


cpdef Groups groups_of(Environment environment, Array array, Py_ssize_t index, bint row=False, Py_ssize_t uses=1):
    """The groups of one column (or row) of a range, kept in `environment.indexes`; None while they do not pay.

    `uses` says how many questions are asked at once: from INDEX_AFTER on the index is built even if it cannot be kept.
    """
    cdef Py_ssize_t size = array.columns if row else array.rows
    cdef bint keep = environment.indexes is not None and array.reference is not None
    if size < INDEX_ROWS_MIN or not (keep or uses >= INDEX_AFTER):
        return None
    if not keep:
        return Groups(Vector(array, index, row))
    key = corners_of(environment, array, index, row, "groups")
    held = environment.indexes.get(key, 0)
    if isinstance(held, Groups):
        return held
    held += uses
    if held >= INDEX_AFTER:
        held = Groups(Vector(array, index, row))
    environment.indexes[key] = held
    return held if isinstance(held, Groups) else None


def take(Span source, positions):
    """The cells of a span at int32 rows: row -1 is #N/A, and -2 - code an error. A Span."""
    cdef const uint8_t[::1] kinds = source.kinds
    cdef const double[::1] numbers = source.numbers
    cdef const int32_t[::1] codes = source.codes
    cdef const int32_t[::1] rows = positions
    cdef Py_ssize_t size = rows.shape[0], place
    cdef int32_t row
    out_kinds, out_numbers, out_codes = np.empty(size, np.uint8), np.empty(size), np.empty(size, np.int32)
    cdef uint8_t[::1] to_kinds = out_kinds
    cdef double[::1] to_numbers = out_numbers
    cdef int32_t[::1] to_codes = out_codes
    with nogil:
        for place in range(size):
            row = rows[place]
            if row >= 0:
                to_kinds[place] = kinds[row]
                to_numbers[place] = numbers[row]
                to_codes[place] = codes[row]
            else:
                to_kinds[place] = ERROR
                to_numbers[place] = 6 if row == -1 else -2 - row
                to_codes[place] = -1
    return Span(out_kinds, out_numbers, out_codes)
