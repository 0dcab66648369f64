"""What a formula's value can be: a float, str, bool or None (blank) as they are, and the classes of this file."""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

import numpy as np

from core.seed import SEED
from core.values import ERRORS, Kind

assert (BLANK, NUMBER, TEXT, BOOLEAN, ERROR, DATE) == tuple(Kind)


cdef enum:
    BLOCK = 64  # strings whose slots are asked for ahead of their use


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* Eight bytes with A to Z in lower case. */
    static inline uint64_t cushion_lower(uint64_t word) {
        uint64_t low = word & 0x7F7F7F7F7F7F7F7Full;
        uint64_t above_z = low + 0x2525252525252525ull, from_a = low + 0x3F3F3F3F3F3F3F3Full;
        return word | (((from_a ^ above_z) & ~word & 0x8080808080808080ull) >> 2);
    }
    static inline uint64_t cushion_tail(const char *text, int64_t length) {
        uint64_t word = 0; memcpy(&word, text, (size_t)length); return word;
    }
    /* Multiply-and-fold over words of eight bytes; a seed of the process, since strangers choose the texts. */
    static uint64_t cushion_seed;
    static inline uint64_t cushion_mix(uint64_t state, uint64_t word) {
        __uint128_t product = (__uint128_t)(state ^ word) * (cushion_seed | 0x8000000000000001ull);
        return ((uint64_t)product ^ (uint64_t)(product >> 64)) + word;
    }
    static inline uint32_t cushion_hash(const char *text, int64_t length, int folds) {
        uint64_t state = cushion_seed ^ ((uint64_t)length * 0x9E3779B97F4A7C15ull), word;
        for (; length > 0; text += 8, length -= 8) {
            if (length >= 8) memcpy(&word, text, 8); else word = cushion_tail(text, length);
            state = cushion_mix(state, folds ? cushion_lower(word) : word);
        }
        return (uint32_t)cushion_mix(state, 0xD6E8FEB86659FD93ull);
    }
    static inline uint32_t cushion_hash_exact(const char *text, int64_t length) { return cushion_hash(text, length, 0); }
    static inline uint32_t cushion_hash_folded(const char *text, int64_t length) { return cushion_hash(text, length, 1); }
    static inline int cushion_equal_folded(const char *a, const char *b, int64_t length) {
        uint64_t left, right;
        for (; length >= 8; a += 8, b += 8, length -= 8) {
            memcpy(&left, a, 8); memcpy(&right, b, 8);
            if (left != right && cushion_lower(left) != cushion_lower(right)) return 0;
        }
        return length <= 0 || cushion_lower(cushion_tail(a, length)) == cushion_lower(cushion_tail(b, length));
    }
    static inline int cushion_is_ascii(const char *text, int64_t length) {
        uint64_t seen = 0, word;
        for (; length >= 8; text += 8, length -= 8) { memcpy(&word, text, 8); seen |= word; }
        if (length > 0) seen |= cushion_tail(text, length);
        return (seen & 0x8080808080808080ull) == 0;
    }
    static inline int cushion_has_wildcards(const char *text, int64_t length) {
        int seen = 0;
        for (int64_t at = 0; at < length; at++) seen |= (text[at] == '*') | (text[at] == '?') | (text[at] == '~');
        return seen;
    }
    """
    uint64_t cushion_seed
    uint32_t hash_of "cushion_hash_exact"(const char *text, int64_t length) noexcept nogil
    uint32_t hash_folded "cushion_hash_folded"(const char *text, int64_t length) noexcept nogil
    bint equal_folded "cushion_equal_folded"(const char *a, const char *b, int64_t length) noexcept nogil
    bint has_wildcards "cushion_has_wildcards"(const char *text, int64_t length) noexcept nogil
    bint is_ascii "cushion_is_ascii"(const char *text, int64_t length) noexcept nogil
    void prefetch "__builtin_prefetch"(const void *) noexcept nogil

cushion_seed = <uint64_t> SEED


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


cdef int _widen(Table *table, int64_t strings) except -1:
    """Make a table at least twice as large as its strings are many."""
    cdef int64_t size = 128, slot, to
    cdef Slot *slots
    while size < 2 * strings:
        size *= 2
    if table.slots != NULL and table.mask >= size - 1:
        return 0
    slots = <Slot *> calloc(size, sizeof(Slot))
    if slots == NULL:
        raise MemoryError
    for slot in range(table.mask + 1 if table.slots != NULL else 0):
        if table.slots[slot].place:
            to = table.slots[slot].hash & (size - 1)
            while slots[to].place:
                to = (to + 1) & (size - 1)
            slots[to] = table.slots[slot]
    free(table.slots)
    table.slots, table.mask = slots, size - 1
    return 0


cdef Slot *_slot_of(Table *table, const Entry *entries, const char *bytes, int32_t size, uint32_t hash,
                    bint folds) noexcept nogil:
    """The slot of a string, or the free one where it belongs."""
    cdef Slot *slot = &table.slots[hash & table.mask]
    cdef const Entry *entry
    while slot.place:
        if slot.hash == hash:
            entry = &entries[slot.place - 1]
            if folds:
                if entry.key_size == size and equal_folded(entry.key, bytes, size):
                    return slot
            elif entry.size == size and memcmp(entry.bytes, bytes, size) == 0:
                return slot
        slot += 1
        if slot > &table.slots[table.mask]:
            slot = table.slots
    return slot


cdef class TextPool:
    """The distinct strings of one book, by code; and for each the code of its case-folded form.

    The text of a stored sheet is entered as its bytes, and becomes strings where these are asked for.
    """

    def __cinit__(self):
        self.strings, self.codes_of, self.owners = [], {}, []
        self.entered_count = -1

    def __dealloc__(self):
        free(self.entries)
        free(self.exact.slots)
        free(self.folded.slots)

    def __len__(self):
        return self.count

    cpdef int32_t intern(self, str text):
        """The code of a string, a new one if it was never seen."""
        cdef int32_t count = self.count, found
        cdef Entry *entry
        if count == self.room:
            self._grow(count + 1)
        found = self.codes_of.setdefault(text, count)
        if found != count:
            return found
        self.strings.append(text)
        self.count = count + 1
        entry = &self.entries[count]
        entry.bytes, entry.marks = NULL, UNMARKED
        if self.entered_count >= 0:
            self._enter_known()
            if self.count == count:  # it was entered as bytes
                return self.codes_of[text]
        return count

    def enter(self, const uint8_t[::1] data, const int64_t[::1] offsets, const int64_t[::1] places):
        """The int32 codes of some strings of a stored text, which stays where it is."""
        cdef Py_ssize_t size = places.shape[0], start, at, step
        cdef int32_t before
        cdef int64_t place
        cdef uint32_t[BLOCK] hashes
        cdef Entry[BLOCK] block
        cdef Slot *slot
        cdef const char *begin = ""
        cdef int32_t[::1] codes = np.empty(size, np.int32)
        if size == 0:
            return codes.base
        if data.shape[0]:
            begin = <const char *> &data[0]
        self._grow(self.count + size)
        self.entered_count = max(self.entered_count, 0)
        self._enter_known()
        self.owners.append(data.base)
        before = self.count
        with nogil:
            start = 0
            while start < size:
                step = min(size - start, <Py_ssize_t> BLOCK)
                for at in range(step):
                    place = places[start + at]
                    block[at].bytes = begin + offsets[place]
                    block[at].size = <int32_t> (offsets[place + 1] - offsets[place])
                    block[at].key, block[at].marks = NULL, UNMARKED
                    hashes[at] = hash_of(block[at].bytes, block[at].size)
                    prefetch(&self.exact.slots[hashes[at] & self.exact.mask])
                for at in range(step):
                    slot = _slot_of(&self.exact, self.entries, block[at].bytes, block[at].size, hashes[at], False)
                    if slot.place == 0:
                        self.entries[self.count] = block[at]
                        self.count += 1
                        slot.hash, slot.place = hashes[at], self.count
                    codes[start + at] = slot.place - 1
                start += step
        self.entered_count = self.count
        self.strings.extend([None] * (self.count - before))
        return codes.base

    cpdef str text(self, int32_t code):
        """The string of a code."""
        found = self.strings[code]
        if found is None:
            found = self.strings[code] = PyUnicode_DecodeUTF8(self.entries[code].bytes, self.entries[code].size, NULL)
            self.codes_of[found] = code
        return <str> found

    cpdef int32_t fold(self, int32_t code):
        """The code that all strings equal without case share (that of the first of them)."""
        if self.folded_count < self.count:
            self.fold_all()
        return self.entries[code].folded

    cpdef int32_t find(self, str text):
        """The code that strings equal to this one without case share; -1 where there is none."""
        cdef Slot *slot
        cdef const char *key
        cdef Py_ssize_t size
        if self.folded_count < self.count:
            self.fold_all()
        if self.count == 0:
            return -1
        if text.isascii():
            key = PyUnicode_AsUTF8AndSize(text, &size)
        else:
            folded = _bytes_of(fold(text))
            key, size = folded, len(folded)
        slot = _slot_of(&self.folded, self.entries, key, <int32_t> size, hash_folded(key, size), True)
        return slot.place - 1

    cdef int fold_all(self) except -1:
        """Learn of every string which are equal to it without case."""
        cdef int32_t code, start, stop
        cdef uint32_t[BLOCK] hashes
        cdef Slot *slot
        cdef Entry *entry
        _widen(&self.folded, self.count)
        for code in range(self.folded_count, self.count):
            if self.entries[code].bytes == NULL or self.entries[code].key == NULL:
                self._describe(code)
        with nogil:
            start = self.folded_count
            while start < self.count:
                stop = min(start + <int32_t> BLOCK, self.count)
                for code in range(start, stop):
                    entry = &self.entries[code]
                    hashes[code - start] = hash_folded(entry.key, entry.key_size)
                    prefetch(&self.folded.slots[hashes[code - start] & self.folded.mask])
                for code in range(start, stop):
                    entry = &self.entries[code]
                    slot = _slot_of(&self.folded, self.entries, entry.key, entry.key_size, hashes[code - start], True)
                    if slot.place == 0:
                        slot.hash, slot.place = hashes[code - start], code + 1
                    entry.folded = slot.place - 1
                start = stop
        self.folded_count = self.count
        return 0

    cdef int _grow(self, int64_t count) except -1:
        """Make room for strings."""
        cdef int64_t room = max(count, 2 * self.room, <int64_t> 64)
        if count > 0x3FFF_FFFF:
            raise MemoryError
        if count <= self.room:
            return 0
        moved = <Entry *> realloc(self.entries, room * sizeof(Entry))
        if moved == NULL:
            raise MemoryError
        self.entries, self.room = moved, room
        return 0

    cdef int _describe(self, int32_t code) except -1:
        """Fill what an entry says of its string: its bytes, and those without case."""
        cdef Entry *entry = &self.entries[code]
        cdef Py_ssize_t size
        cdef bytes key
        if entry.bytes == NULL:
            text = <str> self.strings[code]
            try:
                entry.bytes = PyUnicode_AsUTF8AndSize(text, &size)
            except UnicodeEncodeError:  # half a surrogate pair
                key = _bytes_of(text)
                self.owners.append(key)
                entry.bytes, size = key, len(key)
            entry.size, entry.key = <int32_t> size, NULL
        if is_ascii(entry.bytes, entry.size):
            entry.key, entry.key_size = entry.bytes, entry.size
            if entry.marks == UNMARKED and entry.size < 256 and not has_wildcards(entry.bytes, entry.size):
                entry.marks = PLAIN
        elif entry.key == NULL:
            key = _bytes_of(fold(self.text(code)))
            self.owners.append(key)
            entry.key, entry.key_size = key, <int32_t> len(key)
        return 0

    cdef int _enter_known(self) except -1:
        """Put the strings into the table of bytes that are not in it; the last of them may be there, and goes again."""
        cdef int32_t code
        cdef uint32_t hash
        cdef Slot *slot
        _widen(&self.exact, self.room)
        for code in range(self.entered_count, self.count):
            if self.entries[code].bytes == NULL:
                self._describe(code)
            hash = hash_of(self.entries[code].bytes, self.entries[code].size)
            slot = _slot_of(&self.exact, self.entries, self.entries[code].bytes, self.entries[code].size, hash, False)
            if slot.place:
                text = self.strings.pop()
                self.count -= 1
                self.codes_of[text] = slot.place - 1
                self.strings[slot.place - 1] = text
                break
            slot.hash, slot.place = hash, code + 1
        self.entered_count = self.count
        return 0


cdef bytes _bytes_of(str text):
    return text.encode("utf-8", "surrogatepass")


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
        return pool.text(code)
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
