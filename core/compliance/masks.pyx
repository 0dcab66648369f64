# The par of many shares in one pass over the loans.
#
# A program is a list of steps over masks: a byte for each row of a block, in registers that stay in the first-level
# cache. A step compares a column with bounds, looks codes up in a table, or joins two masks; the last ones add up what the
# loans in a mask weigh. A share, or what is not known of it, is one such sum.
#
# A sum does not depend on threads, on the width of the processor's vectors, or on what else is added up beside it: rows
# are taken in parts of PART_ROWS, in 32 lanes each, lanes and parts are added in their order.

import numpy as np

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from "_masks.h" nogil:
    enum:
        MASK_ROWS
        LANES
    void mask_numbers(const double*, double, double, Py_ssize_t, uint8_t*) noexcept
    void mask_scaled(const double*, double, double, double, double, Py_ssize_t, uint8_t*) noexcept
    void join_numbers(const double*, const double*, char, Py_ssize_t, double*) noexcept
    bint is_any_infinite(const double*, Py_ssize_t) noexcept
    void mask_codes(const int32_t*, int32_t, uint32_t, uint8_t, Py_ssize_t, uint8_t*) noexcept
    void mask_bytes(const uint8_t*, uint8_t, uint8_t, uint8_t, Py_ssize_t, uint8_t*) noexcept
    bint look_up_codes(const int32_t*, const uint8_t*, size_t, Py_ssize_t, uint8_t*) noexcept
    void look_up_bytes(const uint8_t*, const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void look_up_pairs(const uint8_t*, const uint8_t*, const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void mask_both(const uint8_t*, const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void mask_either(const uint8_t*, const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void mask_without(const uint8_t*, const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void mask_not(const uint8_t*, Py_ssize_t, uint8_t*) noexcept
    void add_masked(const double*, const uint8_t*, Py_ssize_t, double*) noexcept
    bint is_empty(const uint8_t*, Py_ssize_t) noexcept


cdef enum:
    PART = 65_536

PART_ROWS = PART
assert MASK_ROWS == 1024  # an array's length must stand as a number

cdef enum Operation:
    NUMBERS  # column within bounds
    SCALED  # the same of (column + shift) / scale
    JOINED  # what two columns make, within bounds; its sign is the first byte of the table
    CODES  # column within bounds; flipped: outside
    BYTES
    CODE_TABLE
    BYTE_TABLE
    PAIR_TABLE  # of two columns of bytes
    BOTH
    EITHER
    WITHOUT  # in the first mask and not in the second
    NOT
    SUM

OPERATIONS = {
    "numbers": NUMBERS, "scaled": SCALED, "joined": JOINED, "codes": CODES, "bytes": BYTES, "code_table": CODE_TABLE,
    "byte_table": BYTE_TABLE, "pair_table": PAIR_TABLE, "both": BOTH, "either": EITHER, "without": WITHOUT, "not": NOT,
    "sum": SUM,
}  # fmt: skip
cdef dict _KINDS = {
    NUMBERS: "d", SCALED: "d", JOINED: "d", CODES: "i", CODE_TABLE: "i", BYTES: "B", BYTE_TABLE: "B", PAIR_TABLE: "B",
}  # fmt: skip
cdef tuple _ON_MASKS = (BOTH, EITHER, WITHOUT, NOT, SUM)

cdef struct Step:
    int operation
    int out  # register, or the sum
    int a  # column, or register
    int b
    double low
    double high
    double shift
    double scale
    uint8_t flip
    const uint8_t* table
    size_t table_size


@cython.final
cdef class Program:
    """Steps over masks, for any columns of its kinds."""

    cdef Step* _steps
    cdef int _count, _registers
    cdef list _tables
    cdef readonly int sums
    cdef readonly str kinds

    def __init__(self, steps not None, str kinds not None):
        cdef int at
        cdef Step* step
        cdef const uint8_t[::1] table
        cdef set written = set()
        self._tables, self.kinds = [], kinds
        self._count = len(steps)
        self._steps = <Step*>malloc(max(1, self._count) * sizeof(Step))
        if self._steps == NULL:
            raise MemoryError
        memset(self._steps, 0, self._count * sizeof(Step))
        for at, (operation, out, a, b, bounds, flip, values) in enumerate(steps):
            step = &self._steps[at]
            step.operation, step.out, step.a, step.b, step.flip = operation, out, a, b, 255 if flip else 0
            step.low, step.high, step.shift, step.scale = bounds
            if values is not None:
                self._tables.append(values)
                table = values
                step.table, step.table_size = &table[0], table.shape[0]
            self._check(step, written)

    cdef int _check(self, Step* step, set written) except -1:
        cdef int operation = step.operation
        if operation in _KINDS:
            for place in {step.a, step.b} if operation in (PAIR_TABLE, JOINED) else {step.a}:
                if self.kinds[place] != _KINDS[operation]:
                    raise ValueError(f"column {place} is of kind {self.kinds[place]}")
        elif not {step.a, step.b} <= written:
            raise ValueError("a step reads a mask that none has written")
        if step.out < 0 or step.a < 0 or step.b < 0:
            raise ValueError("a place is below 0")
        if operation in (BYTE_TABLE, PAIR_TABLE, CODE_TABLE, JOINED):
            if step.table_size < (1 if operation in (CODE_TABLE, JOINED) else 256 if operation == BYTE_TABLE else 65536):
                raise ValueError("a table is too short")
        if operation == SUM:
            self.sums = max(self.sums, step.out + 1)
        else:
            written.add(step.out)
            self._registers = max(self._registers, step.out + 1)
        return 0

    def __dealloc__(self):
        free(self._steps)


def add_up(
    Program program not None, columns not None, const double[::1] weights not None, Py_ssize_t first, Py_ssize_t last,
    double[:, ::1] into not None,
):
    cdef Py_ssize_t rows = weights.shape[0], part
    cdef int at, count = len(columns)
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    cdef const uint8_t[::1] bytes_
    cdef bint is_whole = True
    cdef const void** places
    cdef uint8_t* room
    cdef double* lanes
    if count != len(program.kinds) or into.shape[1] < program.sums or first < 0 or last > into.shape[0]:
        raise ValueError("columns or sums are none of the program's")
    if into.shape[0] * PART < rows:
        raise ValueError("there is no place for the sums of each part")
    views = []
    places = <const void**>malloc(max(1, count) * sizeof(void*))
    room = <uint8_t*>malloc(max(1, program._registers) * MASK_ROWS + max(1, program.sums) * LANES * sizeof(double))
    try:
        if places == NULL or room == NULL:
            raise MemoryError
        for at, (kind, column) in enumerate(zip(program.kinds, columns)):
            if len(column) != rows:
                raise ValueError(f"a column has {len(column)} rows instead of {rows}")
            if not rows:
                continue
            views.append(column)
            if kind == "d":
                numbers = column
                places[at] = &numbers[0]
            elif kind == "i":
                codes = column
                places[at] = &codes[0]
            else:
                bytes_ = column
                places[at] = &bytes_[0]
        lanes = <double*>(room + max(1, program._registers) * MASK_ROWS)
        with nogil:
            for part in range(first, last):
                if part * PART < rows:
                    is_whole &= _add_part(
                        program, places, &weights[0], part * PART, min(rows, (part + 1) * PART), room, lanes,
                        &into[part, 0],
                    )
    finally:
        free(places)
        free(room)
    if not is_whole:
        raise ValueError("a name's code is not below the number of names")


cdef bint _add_part(
    Program program, const void** columns, const double* weights, Py_ssize_t row, Py_ssize_t end, uint8_t* room,
    double* lanes, double* into
) noexcept nogil:
    """The sums of a part of the rows; whether every code had its entry in a table."""
    cdef Py_ssize_t rows
    cdef bint is_whole = True
    cdef int at, lane
    memset(lanes, 0, program.sums * LANES * sizeof(double))
    while row < end:
        rows = min(<Py_ssize_t>MASK_ROWS, end - row)
        for at in range(program._count):
            is_whole &= _do(&program._steps[at], columns, weights + row, row, rows, room, lanes)
        row += rows
    for at in range(program.sums):
        into[at] = 0.0
        for lane in range(LANES):
            into[at] += lanes[at * LANES + lane]
    return is_whole


cdef inline bint _do(
    const Step* step, const void** columns, const double* weights, Py_ssize_t row, Py_ssize_t rows, uint8_t* room,
    double* lanes
) noexcept nogil:
    cdef uint8_t* out = room + step.out * MASK_ROWS
    cdef const uint8_t* a = room + step.a * MASK_ROWS
    cdef const uint8_t* b = room + step.b * MASK_ROWS
    cdef double joint[1024]  # MASK_ROWS
    cdef int operation = step.operation
    if operation == SUM:
        if not is_empty(a, rows):
            add_masked(weights, a, rows, lanes + step.out * LANES)
    elif operation == NUMBERS:
        mask_numbers(<const double*>columns[step.a] + row, step.low, step.high, rows, out)
    elif operation == SCALED:
        mask_scaled(<const double*>columns[step.a] + row, step.shift, step.scale, step.low, step.high, rows, out)
    elif operation == JOINED:
        join_numbers(
            <const double*>columns[step.a] + row, <const double*>columns[step.b] + row, <char>step.table[0], rows, joint
        )
        mask_numbers(joint, step.low, step.high, rows, out)
    elif operation == CODES:
        mask_codes(
            <const int32_t*>columns[step.a] + row, <int32_t>step.low, <uint32_t>(step.high - step.low), step.flip,
            rows, out,
        )
    elif operation == BYTES:
        mask_bytes(
            <const uint8_t*>columns[step.a] + row, <uint8_t>step.low, <uint8_t>(step.high - step.low), step.flip,
            rows, out,
        )
    elif operation == CODE_TABLE:
        return look_up_codes(<const int32_t*>columns[step.a] + row, step.table, step.table_size, rows, out)
    elif operation == BYTE_TABLE:
        look_up_bytes(<const uint8_t*>columns[step.a] + row, step.table, rows, out)
    elif operation == PAIR_TABLE:
        look_up_pairs(
            <const uint8_t*>columns[step.a] + row, <const uint8_t*>columns[step.b] + row, step.table, rows, out
        )
    elif operation == BOTH:
        mask_both(a, b, rows, out)
    elif operation == EITHER:
        mask_either(a, b, rows, out)
    elif operation == WITHOUT:
        mask_without(a, b, rows, out)
    else:
        mask_not(a, rows, out)
    return True


def has_infinite(const double[::1] numbers not None):
    """Whether a number is infinite."""
    cdef bint is_any = False
    if numbers.shape[0]:
        with nogil:
            is_any = is_any_infinite(&numbers[0], numbers.shape[0])
    return is_any


def largest(const double[::1] amounts not None, Py_ssize_t count):
    """The places of the largest, largest first, of equals the first. NaN is none."""
    cdef Py_ssize_t at, place, kept = 0, most = min(count, amounts.shape[0])
    cdef Py_ssize_t* places
    cdef double* best
    if most < 1:
        return []
    places = <Py_ssize_t*>malloc(most * (sizeof(Py_ssize_t) + sizeof(double)))
    if places == NULL:
        raise MemoryError
    best = <double*>(places + most)
    with nogil:
        for at in range(amounts.shape[0]):
            if kept == most and not amounts[at] > best[most - 1] or amounts[at] != amounts[at]:
                continue
            place = kept if kept < most else most - 1
            while place > 0 and best[place - 1] < amounts[at]:
                best[place], places[place] = best[place - 1], places[place - 1]
                place -= 1
            best[place], places[place] = amounts[at], at
            kept = min(kept + 1, most)
    chosen = [places[at] for at in range(kept)]
    free(places)
    return chosen


def joined(const double[:, ::1] parts not None):
    """The sums of all parts, added in their order."""
    sums_array = np.zeros(parts.shape[1])
    cdef double[::1] sums = sums_array
    cdef Py_ssize_t part, at
    for part in range(parts.shape[0]):
        for at in range(parts.shape[1]):
            sums[at] += parts[part, at]
    return sums_array.tolist()
