# The columns of a sheet while they grow: the cells of each as they come, so that what lies between them costs nothing.

cdef struct Span:
    # One column while it grows: `count` cells, with room for `room`. They stand within rows first .. last - 1.
    int64_t room
    int64_t count
    int64_t first
    int64_t last
    bint ordered                     # each cell stands below the one before it
    int32_t *rows
    uint8_t *kinds
    double *numbers
    int32_t *codes
    uint16_t *formats
cdef struct Columns:
    Span *spans                      # COLUMNS_LIMIT of them
    bint store                       # False: only the extent is kept
    int64_t row_stop                 # one past the last row with a cell
    int32_t column_stop
    int64_t slots
    int64_t slots_limit


cdef bint columns_open(Columns *columns) noexcept nogil:
    columns.spans = <Span *> calloc(COLUMNS_LIMIT, sizeof(Span))
    return columns.spans != NULL


cdef void columns_close(Columns *columns) noexcept nogil:
    cdef int32_t column
    if columns.spans != NULL:
        for column in range(COLUMNS_LIMIT):
            span_drop(&columns.spans[column])
    free(columns.spans)


cdef int columns_put(
    Columns *columns, int64_t row, int32_t column, uint8_t kind, double number, int32_t code, uint16_t format
) noexcept nogil:
    """Store one cell, in place of the one that may stand there; OK or the problem."""
    cdef Span *span
    cdef int64_t slot
    if row < 0 or row >= ROWS_LIMIT:
        return ROWS if row >= 0 else BAD_REFERENCE
    if column >= COLUMNS_LIMIT:
        return COLUMNS
    span = &columns.spans[column]
    if span.last == 0:
        span.first = row
        span.last = row
        span.ordered = True
    if row >= span.last:
        columns.slots += row + 1 - span.last
        span.last = row + 1
        if row >= columns.row_stop:
            columns.row_stop = row + 1
        if column >= columns.column_stop:
            columns.column_stop = column + 1
    elif row < span.first:
        columns.slots += span.first - row
        span.first = row
    if columns.slots > columns.slots_limit:
        return SLOTS
    if not columns.store:
        return OK
    slot = span.count
    if slot and row <= span.rows[slot - 1]:
        if row == span.rows[slot - 1]:
            slot -= 1
        else:
            span.ordered = False
    if slot == span.room and not span_grow(span):
        return NO_MEMORY
    span.count = slot + 1
    span.rows[slot] = <int32_t> row
    span.kinds[slot] = kind
    span.numbers[slot] = number
    span.codes[slot] = code
    span.formats[slot] = format
    return OK


cdef bint span_grow(Span *span) noexcept nogil:
    """Make room for half as many cells again."""
    cdef int64_t room = span.room + span.room // 2 + 16
    cdef void *rows = realloc(span.rows, room * sizeof(int32_t))
    if rows != NULL:
        span.rows = <int32_t *> rows
    cdef void *kinds = realloc(span.kinds, room * sizeof(uint8_t))
    if kinds != NULL:
        span.kinds = <uint8_t *> kinds
    cdef void *numbers = realloc(span.numbers, room * sizeof(double))
    if numbers != NULL:
        span.numbers = <double *> numbers
    cdef void *codes = realloc(span.codes, room * sizeof(int32_t))
    if codes != NULL:
        span.codes = <int32_t *> codes
    cdef void *formats = realloc(span.formats, room * sizeof(uint16_t))
    if formats != NULL:
        span.formats = <uint16_t *> formats
    if rows == NULL or kinds == NULL or numbers == NULL or codes == NULL or formats == NULL:
        return False
    span.room = room
    return True


cdef void span_drop(Span *span) noexcept nogil:
    free(span.rows)
    free(span.kinds)
    free(span.numbers)
    free(span.codes)
    free(span.formats)
    span.rows = NULL
    span.kinds = NULL
    span.numbers = NULL
    span.codes = NULL
    span.formats = NULL


cdef object span_arrays(Span *span):
    """None for an empty column, or (rows, kinds, numbers, codes, formats) of its cells, each once, from the top; the
    span's own memory is given up."""
    cdef int64_t count = span.count
    cdef int32_t[::1] rows
    cdef uint8_t[::1] kinds
    cdef double[::1] numbers
    cdef int32_t[::1] codes
    cdef uint16_t[::1] formats
    if count == 0:
        return None
    rows = np.empty(count, np.int32)
    kinds = np.empty(count, np.uint8)
    numbers = np.empty(count, np.float64)
    codes = np.empty(count, np.int32)
    formats = np.empty(count, np.uint16)
    memcpy(&rows[0], span.rows, count * sizeof(int32_t))
    memcpy(&kinds[0], span.kinds, count * sizeof(uint8_t))
    memcpy(&numbers[0], span.numbers, count * sizeof(double))
    memcpy(&codes[0], span.codes, count * sizeof(int32_t))
    memcpy(&formats[0], span.formats, count * sizeof(uint16_t))
    span_drop(span)
    span.room = span.count = 0
    arrays = rows.base, kinds.base, numbers.base, codes.base, formats.base
    if span.ordered:
        return arrays
    order = np.argsort(rows.base, kind="stable")
    placed = rows.base[order]
    kept = order[np.append(placed[1:] != placed[:-1], True)]  # a cell that came twice is the later one
    return tuple([array[kept] for array in arrays])
