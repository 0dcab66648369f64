# The columns of a sheet while they grow: one span of rows per column, so that a sparse sheet costs its spans only.

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
        span.first = span.origin = row
        span.last = row
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
    if row < span.origin or row >= span.origin + span.room:
        if not span_grow(span, row):
            return NO_MEMORY
    slot = row - span.origin
    span.kinds[slot] = kind
    span.numbers[slot] = number
    span.codes[slot] = code
    span.formats[slot] = format
    return OK


cdef bint span_grow(Span *span, int64_t row) noexcept nogil:
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
        span_drop(&wider)
        return False
    memset(wider.codes, 0xFF, room * sizeof(int32_t))
    if span.room:
        memcpy(wider.kinds + shift, span.kinds, span.room * sizeof(uint8_t))
        memcpy(wider.numbers + shift, span.numbers, span.room * sizeof(double))
        memcpy(wider.codes + shift, span.codes, span.room * sizeof(int32_t))
        memcpy(wider.formats + shift, span.formats, span.room * sizeof(uint16_t))
    span_drop(span)
    span[0] = wider
    return True


cdef void span_drop(Span *span) noexcept nogil:
    free(span.kinds)
    free(span.numbers)
    free(span.codes)
    free(span.formats)
    span.kinds = NULL
    span.numbers = NULL
    span.codes = NULL
    span.formats = NULL


cdef object span_arrays(Span *span):
    """None for an empty column, or (start, kinds, numbers, codes, formats); the span's own memory is given up."""
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
    span_drop(span)
    span.room = 0
    return span.first, kinds.base, numbers.base, codes.base, formats.base
