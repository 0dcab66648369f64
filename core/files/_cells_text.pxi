# Text in XML and in Excel: bytes under work, entities, CDATA, and Excel's own `_xHHHH_` marks.

cdef struct Bytes:
    # Decoded text under work.
    char *data
    int64_t size
    int64_t room

cdef struct Run:
    # A stretch of text: in the chunk itself, or in a Bytes.
    const char *data
    int64_t size


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
