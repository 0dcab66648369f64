# Conditions and choices: IF, IFERROR, CHOOSE, NOT, and what kind a value is. Every branch has been computed already:
# a branch has no effect but its value.


cdef inline void _take(Register *out, Py_ssize_t row, Register *a, const uint8_t *kinds) noexcept nogil:
    out.kinds[row] = kinds[row]
    out.numbers[row] = a.numbers[row]
    if kinds[row] == TEXT:
        out.codes[row] = a.codes[row]


cdef int _select(_Run run, Register *out, Register *condition, Register *a, Register *b,
                 Py_ssize_t rows) except -1 nogil:
    """IF."""
    cdef Register logical
    cdef uint8_t *decides
    cdef uint8_t *left
    cdef uint8_t *right
    cdef Py_ssize_t row
    cdef int holds, seen = 0
    if _is_numeric(condition.kind) and a.kind == b.kind and _is_numeric(a.kind):
        loop_select(out.numbers, condition.numbers, a.numbers, b.numbers, rows)
        out.kind = a.kind
        return 0
    holds = loop_hold(condition.numbers, rows) if _is_numeric(condition.kind) else -1
    if holds >= 0:
        _copy(out, a if holds else b, rows)
        return 0
    run.logical(condition, &logical, 2, rows)
    decides, left, right = _kinds_of(&logical, rows), _kinds_of(a, rows), _kinds_of(b, rows)
    for row in range(rows):
        if decides[row] == ERROR:
            out.kinds[row] = ERROR
            out.numbers[row] = logical.numbers[row]
        elif logical.numbers[row] != 0:
            _take(out, row, a, left)
        else:
            _take(out, row, b, right)
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


cdef void _instead(bint only_missing, Register *out, Register *a, Register *b, Py_ssize_t rows) noexcept nogil:
    """IFERROR and IFNA."""
    cdef uint8_t *left
    cdef uint8_t *right
    cdef Py_ssize_t row
    cdef int seen = 0
    if a.kind != MIXED and a.kind != ERROR:
        _copy(out, a, rows)
        return
    left, right = _kinds_of(a, rows), _kinds_of(b, rows)
    for row in range(rows):
        if left[row] == ERROR and (not only_missing or a.numbers[row] == CODE_NA):
            _take(out, row, b, right)
        else:
            _take(out, row, a, left)
        seen |= 1 << out.kinds[row]
    _settle(out, seen)


cdef int _choose(_Run run, Register *out, Register *index, int *choices, int count, Py_ssize_t rows) except -1 nogil:
    """CHOOSE."""
    cdef Register place
    cdef Register *choice
    cdef uint8_t *decides
    cdef Py_ssize_t row
    cdef int seen = 0, at
    cdef double number
    run.numeric(index, &place, 0, rows)
    decides = _kinds_of(&place, rows)
    for at in range(count):
        _kinds_of(&run.registers[choices[at]], rows)
    for row in range(rows):
        number = place.numbers[row]
        if decides[row] == ERROR or not (1 <= number < count + 1):
            out.kinds[row] = ERROR
            out.numbers[row] = number if decides[row] == ERROR else CODE_VALUE
        else:
            choice = &run.registers[choices[<int> number - 1]]
            _take(out, row, choice, choice.kinds)
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


cdef int _not(_Run run, Register *out, Register *a, Py_ssize_t rows) except -1 nogil:
    cdef Register logical
    cdef uint8_t *kinds
    cdef Py_ssize_t row
    cdef int seen = 0
    run.logical(a, &logical, 0, rows)
    kinds = _kinds_of(&logical, rows)
    for row in range(rows):
        if kinds[row] == ERROR:
            out.kinds[row] = ERROR
            out.numbers[row] = logical.numbers[row]
        else:
            out.kinds[row] = BOOLEAN
            out.numbers[row] = logical.numbers[row] == 0
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


cdef inline bint _is(int question, uint8_t kind, double number) noexcept nogil:
    if question == IS_NUMBER:
        return kind == NUMBER or kind == DATE
    if question == IS_BLANK:
        return kind == BLANK
    if question == IS_ERROR:
        return kind == ERROR
    if question == IS_ERROR_BUT_MISSING:
        return kind == ERROR and number != CODE_NA
    if question == IS_MISSING:
        return kind == ERROR and number == CODE_NA
    if question == IS_TEXT:
        return kind == TEXT
    if question == IS_NO_TEXT:
        return kind != TEXT
    return kind == BOOLEAN


cdef void _ask(int question, Register *out, Register *a, Py_ssize_t rows) noexcept nogil:
    """ISNUMBER, ISBLANK and the others that look at the kind."""
    cdef uint8_t *kinds = _kinds_of(a, rows)
    cdef Py_ssize_t row
    for row in range(rows):
        out.numbers[row] = _is(question, kinds[row], a.numbers[row])
    out.kind = BOOLEAN
