"""Which of many formula texts are one formula filled to many cells, without parsing them.

A text is brought into a normal form in one pass: a relative part of a reference becomes its distance from the
formula's own cell, letters outside of texts, quoted sheets and brackets become upper case, all else stays. Two texts
have one shape exactly when their normal forms are equal, byte by byte; then `parser.parse` gives both the same tree,
up to the case of names. What the scanner will not judge (escapes inside brackets, cells behind a lost reference,
unclosed quotes, texts past the length of a formula) is a shape of its own.

Normal form: ASCII as it is; other characters as the byte 254 and four bytes; a reference as one of the bytes 128 to
191 (which kind, which parts are absolute) and its corners, four bytes for each row and column.
"""

from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from core.formula.language.parser import CHARACTERS_MAX
from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS

include "_characters.pxi"

cdef enum:
    _CHARACTERS = 8_192
    _BUFFER = 5 * _CHARACTERS + 64  # a character takes 5 bytes at most, a reference of 2 characters 9
    _CELL = 128
    _RUN_OF_COLUMNS = 144  # to 159: which parts are absolute, which sides are trimmed
    _RUN_OF_ROWS = 160  # to 175
    _FOREIGN = 254
    _UNSET = -1

assert _CHARACTERS == CHARACTERS_MAX

ctypedef fused Character:
    uint8_t
    uint16_t
    Py_UCS4

# What a character begins: 0 nothing, it stands for itself; 1 a name or a cell; 2 a number or rows; and by itself ' " [ # .
cdef uint8_t[128] _BEGINS
cdef int _at
for _at in range(128):
    _BEGINS[_at] = 0
    if _letter(_at) or _at in (c"_", c"\\", c"$"):
        _BEGINS[_at] = 1
    elif _digit(_at):
        _BEGINS[_at] = 2
    elif _at in (c"'", c'"', c"[", c"#", c"."):
        _BEGINS[_at] = _at


cdef struct Form:
    uint8_t* bytes
    Py_ssize_t size
    int32_t row  # from where relative rows are measured; _UNSET until the first one sets it
    int32_t column


cdef inline Py_UCS4 _look(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    return <Py_UCS4> text[at] if at < size else 0


cdef inline void _emit(Form* form, Py_UCS4 c) noexcept:
    if c < 128:
        form.bytes[form.size] = <uint8_t> c
        form.size += 1
    else:
        form.bytes[form.size] = _FOREIGN
        memcpy(form.bytes + form.size + 1, &c, 4)
        form.size += 5


cdef inline void _emit_row(Form* form, int32_t row, bint absolute) noexcept:
    if not absolute:
        if form.row == _UNSET:
            form.row = row
        row -= form.row
    memcpy(form.bytes + form.size, &row, 4)
    form.size += 4


cdef inline void _emit_column(Form* form, int32_t column, bint absolute) noexcept:
    if not absolute:
        if form.column == _UNSET:
            form.column = column
        column -= form.column
    memcpy(form.bytes + form.size, &column, 4)
    form.size += 4


cdef inline bint _ends(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    return _ends_reference(_look(text, size, at), _look(text, size, at + 1))


cdef inline Py_ssize_t _past_colon(const Character* text, Py_ssize_t size, Py_ssize_t at, int* sides) noexcept:
    """Past a colon, its dots and the blanks around it; 0 where there is none. `sides` gets those that are trimmed."""
    while _blank(_look(text, size, at)):
        at += 1
    sides[0] = _look(text, size, at) == u"."
    at += sides[0]
    if _look(text, size, at) != u":":
        return 0
    at += 1
    if _look(text, size, at) == u".":
        sides[0] |= 2
        at += 1
    while _blank(_look(text, size, at)):
        at += 1
    return at


cdef Py_ssize_t _rows(const Character* text, Py_ssize_t size, Py_ssize_t at, Form* form) noexcept:
    """Take a run of rows, 1:3 or $1:$3, as the parser does; its end, or 0 where there is none."""
    cdef int32_t[2] rows
    cdef bint[2] absolute
    cdef Py_ssize_t begin
    cdef int part
    cdef int sides = 0
    cdef Py_UCS4 c
    for part in range(2):
        absolute[part] = _look(text, size, at) == u"$"
        at += absolute[part]
        begin = at
        rows[part] = 0
        c = _look(text, size, at)
        while _digit(c) and at - begin < 8:
            rows[part] = rows[part] * 10 + <int32_t> (<unsigned int> c - 48)
            at += 1
            c = _look(text, size, at)
        if at == begin or not 1 <= rows[part] <= SHEET_ROWS:
            return 0
        if part == 0:
            at = _past_colon(text, size, at, &sides)
            if at == 0:
                return 0
        elif not _ends(text, size, at):
            return 0
    form.bytes[form.size] = _RUN_OF_ROWS + 4 * sides + 2 * absolute[0] + absolute[1]
    form.size += 1
    _emit_row(form, rows[0] - 1, absolute[0])
    _emit_row(form, rows[1] - 1, absolute[1])
    return at


cdef Py_ssize_t _columns(const Character* text, Py_ssize_t size, Py_ssize_t at, Form* form) noexcept:
    """Take a run of columns, A:C or $A:$C, as the parser does; its end, or 0 where there is none."""
    cdef int32_t[2] columns
    cdef bint[2] absolute
    cdef Py_ssize_t begin
    cdef int part
    cdef int sides = 0
    cdef Py_UCS4 c
    for part in range(2):
        absolute[part] = _look(text, size, at) == u"$"
        at += absolute[part]
        begin = at
        columns[part] = 0
        c = _look(text, size, at)
        while _letter(c) and at - begin < 4:
            columns[part] = columns[part] * 26 + <int32_t> ((<unsigned int> c | 32) - 96)
            at += 1
            c = _look(text, size, at)
        if not 1 <= at - begin <= 3 or columns[part] > SHEET_COLUMNS:
            return 0
        if part == 0:
            at = _past_colon(text, size, at, &sides)
            if at == 0:
                return 0
        elif not _ends(text, size, at):
            return 0
    form.bytes[form.size] = _RUN_OF_COLUMNS + 4 * sides + 2 * absolute[0] + absolute[1]
    form.size += 1
    _emit_column(form, columns[0] - 1, absolute[0])
    _emit_column(form, columns[1] - 1, absolute[1])
    return at


cdef inline Py_ssize_t _reference(const Character* text, Py_ssize_t size, Py_ssize_t at, Form* form) noexcept:
    """Take a cell, columns or $rows at a letter or '$', as the parser does; its end, or 0 where there is none."""
    cdef Py_ssize_t start = at
    cdef Py_ssize_t begin
    cdef int32_t row = 0
    cdef int32_t column = 0
    cdef bint row_absolute
    cdef bint column_absolute
    cdef Py_UCS4 c = text[at]
    column_absolute = c == u"$"
    at += column_absolute
    begin = at
    c = _look(text, size, at)
    while _letter(c) and at - begin < 4:
        column = column * 26 + <int32_t> ((<unsigned int> c | 32) - 96)
        at += 1
        c = _look(text, size, at)
    if at == begin:
        return _rows(text, size, start, form) if column_absolute else 0
    if at - begin > 3 or column > SHEET_COLUMNS:
        return 0
    row_absolute = c == u"$"
    at += row_absolute
    begin = at
    c = _look(text, size, at)
    if 49 <= c <= 57:
        while _digit(c) and at - begin < 8:
            row = row * 10 + <int32_t> (<unsigned int> c - 48)
            at += 1
            c = _look(text, size, at)
        if row > SHEET_ROWS or not _ends(text, size, at):
            return 0
        form.bytes[form.size] = _CELL + 2 * row_absolute + column_absolute
        form.size += 1
        _emit_row(form, row - 1, row_absolute)
        _emit_column(form, column - 1, column_absolute)
        return at
    if c == u":" or c == u"." or _blank(c):
        return _columns(text, size, start, form)
    return 0


cdef inline Py_ssize_t _number(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    """The end of a number, its exponent included."""
    cdef Py_ssize_t mark
    while _digit(_look(text, size, at)):
        at += 1
    if _look(text, size, at) == u".":
        at += 1
        while _digit(_look(text, size, at)):
            at += 1
    if _look(text, size, at) in (u"E", u"e"):
        mark = at + 1
        if _look(text, size, mark) in (u"+", u"-"):
            mark += 1
        if _digit(_look(text, size, mark)):
            at = mark
            while _digit(_look(text, size, at)):
                at += 1
    return at


cdef Py_ssize_t _quotation(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    """The end of what begins with a quote of either kind; 0 where it is not closed. (A doubled quote inside closes
    and opens again, which comes to the same.)"""
    cdef Py_UCS4 quote = text[at]
    at += 1
    while at < size:
        if text[at] == quote:
            return at + 1
        at += 1
    return 0


cdef Py_ssize_t _bracket(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    """The end of what begins with '['; 0 where it is not closed or has escapes."""
    cdef int depth = 0
    while at < size:
        if text[at] == u"[":
            depth += 1
        elif text[at] == u"]":
            depth -= 1
            if depth == 0:
                return at + 1
        elif text[at] == u"'":
            return 0
        at += 1
    return 0


cdef Py_ssize_t _error(const Character* text, Py_ssize_t size, Py_ssize_t at) noexcept:
    """The end of an error value, or of the '#' of a spill; 0 where letters follow, which the parser may swallow."""
    at += 1
    if not _letter(_look(text, size, at)):
        return at
    if _look(text, size, at + 1) == u"/":
        return at + 3  # of #N/A
    while _in_name(_look(text, size, at)) or _look(text, size, at) == u"/":
        at += 1
    if _look(text, size, at) in (u"!", u"?"):
        at += 1
    return 0 if _in_name(_look(text, size, at)) or _look(text, size, at) in (u"$", u"/") else at


cdef bint _normal(const Character* text, Py_ssize_t size, Form* form) noexcept:
    """Write the normal form of a text; False where the scanner will not judge."""
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t end, mark
    cdef Py_UCS4 c
    cdef int begins
    while at < size:
        c = text[at]
        begins = _BEGINS[c] if c < 128 else _foreign(c)
        if begins == 0:
            _emit(form, c)
            at += 1
            continue
        if begins == 1:
            end = _reference(text, size, at, form) if c < 128 else 0
            if end:
                at = end
                continue
            if c == u"$":
                return False
            while _in_name(c):
                if 97 <= c <= 122:
                    c = <Py_UCS4> (<unsigned int> c - 32)
                _emit(form, c)
                at += 1
                c = _look(text, size, at)
            continue
        if begins == 2:
            end = at + 1
            while _digit(_look(text, size, end)):
                end += 1
            mark = end
            while _blank(_look(text, size, mark)):
                mark += 1
            mark += _look(text, size, mark) == u"."
            if _look(text, size, mark) == u":":
                end = _rows(text, size, at, form)
                if end:
                    at = end
                    continue
            end = _number(text, size, at)
        elif c == u".":
            end = at + 1 if at and text[at - 1] == u":" else _number(text, size, at)
        elif c == u"[":
            end = _bracket(text, size, at)
        elif c == u"#":
            end = _error(text, size, at)
        else:
            end = _quotation(text, size, at)
        if end == 0 or end > size:
            return False
        while at < end:
            _emit(form, text[at])
            at += 1
    return True


# ---- many texts -----------------------------------------------------------------------------------------------------

cdef inline uint64_t _hash(const uint8_t* data, Py_ssize_t size) noexcept nogil:
    """A hash that mixes eight bytes at a time; what it finds is compared byte by byte."""
    cdef uint64_t mixed = <uint64_t> 0x9E3779B97F4A7C15u ^ <uint64_t> size
    cdef uint64_t part
    while size >= 8:
        memcpy(&part, data, 8)
        mixed = (mixed ^ part) * <uint64_t> 0xD6E8FEB86659FD93u
        mixed ^= mixed >> 32
        data += 8
        size -= 8
    part = 0
    memcpy(&part, data, size)
    mixed = (mixed ^ part) * <uint64_t> 0xD6E8FEB86659FD93u
    mixed ^= mixed >> 32
    mixed *= <uint64_t> 0xD6E8FEB86659FD93u
    return mixed ^ (mixed >> 32)


cdef class _Table:
    """The normal forms that were seen, each with its code: open addressing, one arena of bytes."""

    cdef uint64_t* hashes
    cdef int32_t* codes  # -1 where a slot is free
    cdef Py_ssize_t slots
    cdef Py_ssize_t used
    cdef uint8_t* arena
    cdef Py_ssize_t arena_size
    cdef Py_ssize_t arena_room
    cdef Py_ssize_t* begins  # by slot: where its form stands in the arena
    cdef Py_ssize_t* sizes

    def __cinit__(self):
        self.arena_room = 1 << 16
        self.arena = <uint8_t*> malloc(self.arena_room)
        if self.arena == NULL:
            raise MemoryError
        self.allocate(1 << 10)

    def __dealloc__(self):
        free(self.hashes)
        free(self.codes)
        free(self.begins)
        free(self.sizes)
        free(self.arena)

    cdef int allocate(self, Py_ssize_t slots) except -1:
        self.slots = slots
        self.hashes = <uint64_t*> malloc(slots * sizeof(uint64_t))
        self.codes = <int32_t*> malloc(slots * sizeof(int32_t))
        self.begins = <Py_ssize_t*> malloc(slots * sizeof(Py_ssize_t))
        self.sizes = <Py_ssize_t*> malloc(slots * sizeof(Py_ssize_t))
        if self.hashes == NULL or self.codes == NULL or self.begins == NULL or self.sizes == NULL:
            raise MemoryError
        memset(self.codes, 0xFF, slots * sizeof(int32_t))
        return 0

    cdef int32_t find(self, Form* form, int32_t fresh) except -2:
        """The code of a form; `fresh` becomes that of a new one."""
        cdef uint64_t mixed = _hash(form.bytes, form.size)
        cdef Py_ssize_t slot = mixed & (self.slots - 1)
        while self.codes[slot] >= 0:
            if (self.hashes[slot] == mixed and self.sizes[slot] == form.size
                    and memcmp(self.arena + self.begins[slot], form.bytes, form.size) == 0):
                return self.codes[slot]
            slot = (slot + 1) & (self.slots - 1)
        self.keep(form)
        self.hashes[slot] = mixed
        self.codes[slot] = fresh
        self.begins[slot] = self.arena_size - form.size
        self.sizes[slot] = form.size
        self.used += 1
        if self.used * 2 > self.slots:
            self.grow()
        return fresh

    cdef int keep(self, Form* form) except -1:
        cdef void* larger
        if self.arena_size + form.size > self.arena_room:
            larger = realloc(self.arena, 2 * self.arena_room + form.size)
            if larger == NULL:
                raise MemoryError
            self.arena = <uint8_t*> larger
            self.arena_room = 2 * self.arena_room + form.size
        memcpy(self.arena + self.arena_size, form.bytes, form.size)
        self.arena_size += form.size
        return 0

    cdef int grow(self) except -1:
        cdef uint64_t* hashes = self.hashes
        cdef int32_t* codes = self.codes
        cdef Py_ssize_t* begins = self.begins
        cdef Py_ssize_t* sizes = self.sizes
        cdef Py_ssize_t slots = self.slots
        cdef Py_ssize_t old, slot
        self.hashes, self.codes, self.begins, self.sizes = NULL, NULL, NULL, NULL
        try:
            self.allocate(4 * slots)
            for old in range(slots):
                if codes[old] >= 0:
                    slot = hashes[old] & (self.slots - 1)
                    while self.codes[slot] >= 0:
                        slot = (slot + 1) & (self.slots - 1)
                    self.hashes[slot] = hashes[old]
                    self.codes[slot] = codes[old]
                    self.begins[slot] = begins[old]
                    self.sizes[slot] = sizes[old]
        finally:
            free(hashes)
            free(codes)
            free(begins)
            free(sizes)
        return 0


cdef bint _form_of(str text, Form* form):
    """Write the normal form of any text; False where it is a shape of its own."""
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    form.size = 0
    if size > _CHARACTERS:
        return False
    if kind == 1:
        return _normal(<const uint8_t*> data, size, form)
    if kind == 2:
        return _normal(<const uint16_t*> data, size, form)
    return _normal(<const Py_UCS4*> data, size, form)


cdef tuple _codes(list texts, int32_t[::1] rows, int32_t[::1] columns, bint anchored):
    """Codes and first indices; rows and columns are read, or written where the texts are anchored."""
    cdef Py_ssize_t count = PyList_GET_SIZE(texts)
    cdef Py_ssize_t index
    cdef _Table table = _Table()
    cdef Form form
    cdef int32_t code
    cdef int32_t fresh = 0
    cdef list firsts = []
    found = np.empty(count, dtype=np.int32)
    cdef int32_t[::1] codes = found
    form.bytes = <uint8_t*> malloc(_BUFFER)
    if form.bytes == NULL:
        raise MemoryError
    try:
        for index in range(count):
            text = <object> PyList_GET_ITEM(texts, index)
            if not isinstance(text, str):
                raise TypeError(f"a text is expected, not {type(text).__name__}")
            form.row = _UNSET if anchored else rows[index]
            form.column = _UNSET if anchored else columns[index]
            code = table.find(&form, fresh) if _form_of(<str> text, &form) else fresh
            if anchored:
                rows[index] = form.row if form.row != _UNSET else 0
                columns[index] = form.column if form.column != _UNSET else 0
            codes[index] = code
            if code == fresh:
                firsts.append(index)
                fresh += 1
    finally:
        free(form.bytes)
    return found, firsts


def shapes(list texts not None, int32_t[::1] rows not None, int32_t[::1] columns not None):
    """The shapes of formulas in the cells (rows[i], columns[i]), 0-based: an int32 code per text, numbered from 0 in
    order of appearance, and for each code the index of its first text.

    Raises:
        ValueError: rows and columns are not as long as the texts.
    """
    if rows.shape[0] != len(texts) or columns.shape[0] != len(texts):
        raise ValueError("rows and columns must be as long as the texts")
    return _codes(texts, rows, columns, False)


def anchored_shapes(list texts not None):
    """The shapes of formulas that stand in no cell: `shapes` with each text in a cell of its own choice, which is
    the row of its first relative row and the column of its first relative column (0 where it has none).

    Gives (codes, first indices, rows, columns): parsed in its cell, each text of a code has the same tree.
    """
    rows = np.zeros(len(texts), dtype=np.int32)
    columns = np.zeros(len(texts), dtype=np.int32)
    codes, firsts = _codes(texts, rows, columns, True)
    return codes, firsts, rows, columns
