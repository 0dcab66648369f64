# Delimited text: records, quoted fields and plain figures, into the columns of a sheet.

cdef enum:
    FIELD_MAX = 131_068              # bytes: four for each of the 32,767 characters that a cell holds
    FIGURE_MAX = 40                  # bytes of a figure; a longer one stays text
    WHOLE_MAX = 15                   # digits of a whole number: a double does not hold all of more
    PERCENT_FORMAT = 1               # the place of 0% among the formats of delimited text, 0.0% behind it, and so on
    PERCENT_DIGITS_MAX = 4           # digits behind the decimal sign that those formats tell apart
    DIGITS_SHIFT = 8                 # where a figure's state has its digits behind the decimal sign
    COMMA_SEEN = 1                   # a figure whose decimal sign can only be a comma
    POINT_SEEN = 2                   # or only a point
    IS_PLAIN = 4
    IS_PERCENT = 8

cdef struct Delimited:
    Columns cells
    Pool pool
    char *field                      # the field at hand, its quotes taken off
    char delimiter
    char decimal
    int64_t row
    int64_t line                     # where the field at hand begins, from 1
    int64_t filled
    int seen


cdef bint is_grouped(const char *p, int64_t size, char sign) noexcept nogil:
    """Whether digits are parted into thousands throughout: one to three, not beginning with 0, then always three."""
    cdef int64_t at, run = 0
    cdef bint parted = False
    if size == 0 or p[0] == 48:
        return False
    for at in range(size):
        if p[at] == sign:
            if run != 3 if parted else not 1 <= run <= 3:
                return False
            parted = True
            run = 0
        elif 48 <= p[at] <= 57:
            run += 1
        else:
            return False
    return parted and run == 3


cdef int read_figure(const char *p, int64_t size, char decimal, double *out) noexcept nogil:
    """What a field's text says of the decimal sign, and whether it is a plain number by the given one.

    Plain is what no identifier, date or footnote looks like: no zero in front, no exponent, at most 15 digits before
    the decimal sign. Everything else stays text, for the readers of columns, who know more ways to write a figure. They
    cannot know the file's decimal sign: where that is a comma, percentages, negatives in brackets and parted thousands
    are read here as well.
    """
    cdef char digits[FIGURE_MAX + 8]
    cdef int64_t at, length, whole, comma = -1, point = -1, mark, group, kept = 0
    cdef int commas = 0, points = 0, state = 0, marks, groups
    cdef bint negative = False, bracketed = False
    cdef const char *end = p + size
    if size == 0 or size > FIGURE_MAX:
        return 0
    if p[0] == 40 and (end - 1)[0] == 41:
        bracketed = True
        p += 1
        end -= 1
    if p < end and p[0] == 45:
        negative = True
        p += 1
    if p < end and (end - 1)[0] == 37:
        state = IS_PERCENT
        end -= 1
        while p < end and (end - 1)[0] == 32:
            end -= 1
    length = end - p
    for at in range(length):
        if p[at] == 44:
            commas += 1
            comma = at
        elif p[at] == 46:
            points += 1
            point = at
        elif not 48 <= p[at] <= 57:
            return 0
    if length == commas + points or bracketed and negative:
        return 0
    if commas and points:
        if point > comma and points == 1 and is_grouped(p, point, 44):
            state |= POINT_SEEN
        elif comma > point and commas == 1 and is_grouped(p, comma, 46):
            state |= COMMA_SEEN
        else:
            return 0
    elif points + commas > 1:
        if not is_grouped(p, length, 46 if points else 44):
            return 0
        state |= COMMA_SEEN if points else POINT_SEEN
    elif points + commas == 1:
        at = point if points else comma
        if at == length - 1:
            return 0
        if not is_grouped(p, length, p[at]):
            state |= POINT_SEEN if points else COMMA_SEEN
    mark, marks, group, groups = point, points, comma, commas
    if decimal == 44:
        mark, marks, group, groups = comma, commas, point, points
    elif state & IS_PERCENT or bracketed or (groups == 1 and marks == 0):
        return state
    if marks > 1 or (bracketed and not marks and not groups):
        return state
    whole = mark if marks else length
    if groups and (group > whole or not is_grouped(p, whole, 46 if decimal == 44 else 44)):
        return state
    if (whole > 1 and p[0] == 48) or whole - groups > WHOLE_MAX:
        return state
    for at in range(length):
        if 48 <= p[at] <= 57:
            digits[kept] = p[at]
            kept += 1
        elif p[at] == decimal:
            digits[kept] = 46
            kept += 1
    if state & IS_PERCENT:
        memcpy(digits + kept, "e-2", 3)
        kept += 3
        state |= <int> min(length - mark - 1 if marks else 0, PERCENT_DIGITS_MAX) << DIGITS_SHIFT
    if not parse_number(digits, kept, out):
        return state
    if negative or bracketed:
        out[0] = -out[0]
    return state | IS_PLAIN


cdef double error_of(const char *text, int64_t size) noexcept with gil:
    """The code of one of the errors that a spreadsheet writes; -1 for any other text."""
    try:
        return ERROR_CODE.get(text[:size].decode("ascii", "replace"), -1)
    except MemoryError:
        return -1


cdef int put_field(Delimited *found, const char *text, int64_t size, int64_t column) noexcept nogil:
    """Store one field; OK or the problem."""
    cdef const char *p = text
    cdef int64_t length = size
    cdef double number = 0.0
    cdef int32_t code
    cdef int state = 0
    while length and is_space(p[0]):
        p += 1
        length -= 1
    while length and is_space(p[length - 1]):
        length -= 1
    if length == 0:
        return OK
    if column >= COLUMNS_LIMIT:
        return COLUMNS
    found.filled += 1
    if length > 2 and p[0] == 61 and p[1] == 34 and p[length - 1] == 34:   # ="00123": text, whatever it looks like
        text, size = p + 2, length - 3
    elif p[0] <= 57:
        if p[0] == 35:
            number = error_of(p, length)
            if number >= 0:
                return columns_put(&found.cells, found.row, <int32_t> column, ERROR, number, -1, 0)
        else:
            state = read_figure(p, length, found.decimal, &number)
            found.seen |= state & (COMMA_SEEN | POINT_SEEN)
        if state & IS_PLAIN:
            return columns_put(
                &found.cells, found.row, <int32_t> column, NUMBER, number, -1,
                PERCENT_FORMAT + (state >> DIGITS_SHIFT) if state & IS_PERCENT else 0,
            )
    code = pool_code(&found.pool, text if size else EMPTY, size)
    if code < 0:
        return NO_MEMORY if code == -1 else TEXT_SIZE
    return columns_put(&found.cells, found.row, <int32_t> column, TEXT, 0.0, code, 0)


cdef inline bint is_control(char c) noexcept nogil:
    """A character that no text holds: none of tab, line feed, vertical tab, form feed and carriage return."""
    return 0 <= c < 32 and not 9 <= c <= 13


cdef int scan_delimited(Delimited *found, const char *p, const char *end) noexcept nogil:
    """Read all records; OK or the problem."""
    cdef const char *begin
    cdef int64_t column = 0, size, line = 1
    cdef int problem
    cdef bint quoted
    while p < end:
        found.line = line
        begin = p
        if p[0] == 34:
            p += 1
            size = 0
            quoted = True
            while p < end:
                if quoted:
                    if p[0] == 34:
                        if p + 1 < end and p[1] == 34:
                            p += 1
                        else:
                            quoted = False
                            p += 1
                            continue
                    elif p[0] == 10:
                        line += 1
                elif p[0] == found.delimiter or p[0] == 10 or p[0] == 13:
                    break
                if size == FIELD_MAX:
                    return FIELD_SIZE
                if is_control(p[0]):
                    return NOT_TEXT
                found.field[size] = p[0]
                size += 1
                p += 1
            if quoted:
                return OPEN_QUOTE
            begin = found.field
        else:
            while p < end and p[0] != found.delimiter and p[0] != 10 and p[0] != 13:
                if is_control(p[0]):
                    return NOT_TEXT
                p += 1
            size = p - begin
            if size > FIELD_MAX:
                return FIELD_SIZE
        if size:
            problem = put_field(found, begin, size, column)
            if problem != OK:
                return problem
        if p < end and p[0] == found.delimiter:
            column += 1
            p += 1
            continue
        if p + 1 < end and p[0] == 13 and p[1] == 10:
            p += 1
        p += 1
        line += 1
        column = 0
        found.row += 1
    return OK


def delimited(str part, bytes data, str delimiter, bint decimal_comma, *, slots_max, slots_used):
    """The cells of delimited text in UTF-8: (extent, columns, text, slots, seen), as `SheetScanner` gives them.

    `seen` has bit 1 where a figure's decimal sign can only be a comma, and bit 2 where it can only be a point.

    Raises:
        ParseFailed: a quote that is never closed, control characters, or more than a limit.
    """
    cdef Delimited found
    cdef const char *begin = data
    cdef int64_t size = len(data)
    cdef int problem
    memset(&found, 0, sizeof(Delimited))
    found.delimiter = <char> ord(delimiter)
    found.decimal = 44 if decimal_comma else 46
    found.cells.store = True
    found.cells.slots_limit = slots_max - slots_used
    found.field = <char *> malloc(FIELD_MAX)
    try:
        if pool_open(&found.pool, <uint64_t> SEED, TEXT_LIMIT) < 0 or not columns_open(&found.cells):
            raise MemoryError
        if found.field == NULL:
            raise MemoryError
        with nogil:
            problem = scan_delimited(&found, begin, begin + size)
        if problem == NO_MEMORY:
            raise MemoryError
        if problem != OK:
            raise ParseFailed(
                _HINTS[problem].format(part=part, slots=slots_max, filled=found.filled, line=found.line)
            )
        columns = [span_arrays(&found.cells.spans[column]) for column in range(found.cells.column_stop)]
        extent = found.cells.row_stop, found.cells.column_stop
        return extent, columns, pool_arrays(&found.pool), found.cells.slots, found.seen
    finally:
        free(found.field)
        pool_close(&found.pool)
        columns_close(&found.cells)
