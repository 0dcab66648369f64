# Registers: one chunk of rows of one value of the formula.
#
# `kind` is the kind of every row, or MIXED; then `kinds` has each row's. `codes` are read only where a row is text, and
# `numbers` of a blank are 0. A fixed register is an input or a scalar: its `kinds` always stand, and nobody writes it.

cdef enum:
    MIXED = 255

cdef enum:
    CODE_DIV0 = 1
    CODE_VALUE = 2
    CODE_NUM = 5
    CODE_NA = 6

assert (CODE_DIV0, CODE_VALUE, CODE_NUM, CODE_NA) == (DIV0.code, VALUE.code, NUM.code, NA.code)

cdef struct Register:
    uint8_t kind
    bint fixed
    uint8_t *kinds
    double *numbers
    int32_t *codes

cdef struct Instruction:
    int operation
    int out
    int a
    int b
    int c
    int extra  # an index into the plan's extras, or a small number of the operation's own

cdef struct Slot:
    # One column that the plan reads, from sheet row `first` on.
    uint8_t *kinds
    double *numbers
    int32_t *codes
    Py_ssize_t first
    bint is_unseen  # numbers as they were given: whether all are finite shows when they are read


cdef inline uint8_t *_kinds_of(Register *register, Py_ssize_t rows) noexcept nogil:
    """The kinds of every row, written out where the register has only one for all."""
    if register.kind != MIXED and not register.fixed:
        memset(register.kinds, register.kind, rows)
    return register.kinds


cdef inline uint8_t _kind_of(const uint8_t *kinds, Py_ssize_t rows) noexcept nogil:
    """The kind that all rows share, or MIXED."""
    return kinds[0] if loop_uniform(kinds, rows) else MIXED


cdef inline bint _is_numeric(uint8_t kind) noexcept nogil:
    """Whether arithmetic takes such a row's `numbers` as they stand."""
    return kind == NUMBER or kind == DATE or kind == BOOLEAN or kind == BLANK


cdef inline void _settle(Register *out, int seen) noexcept nogil:
    """Set the register's kind from the set of the kinds that were written, bit by bit."""
    if seen & (seen - 1):
        out.kind = MIXED
    else:
        out.kind = 0
        while seen > 1:
            seen >>= 1
            out.kind += 1


cdef inline void _copy(Register *out, Register *a, Py_ssize_t rows) noexcept nogil:
    memcpy(out.numbers, a.numbers, rows * sizeof(double))
    out.kind = a.kind
    if a.kind == MIXED:
        memcpy(out.kinds, a.kinds, rows)
    if a.kind == MIXED or a.kind == TEXT:
        memcpy(out.codes, a.codes, rows * sizeof(int32_t))


cdef inline void _put(Register *out, Py_ssize_t row, uint8_t kind, double number, int32_t code) noexcept nogil:
    out.kinds[row] = kind
    out.numbers[row] = number
    out.codes[row] = code
