"""What COUNTIF and its kin ask of a cell; declarations for the other compiled modules."""

from libc.stdint cimport uint8_t


cdef class Wildcard:
    cdef readonly str prefix
    cdef list segments
    cdef bint open_start
    cdef bint open_end
    cdef bint too_long
    cpdef bint matches(self, str text) except -1
    cpdef Py_ssize_t search(self, str text, Py_ssize_t start=*) except -2
    cdef bint _rest(self, str folded, Py_ssize_t first, Py_ssize_t last, Py_ssize_t start, Py_ssize_t stop) except -1


cdef enum Operator:
    EQUAL = 0
    UNEQUAL = 1
    LESS = 2
    LESS_EQUAL = 3
    GREATER = 4
    GREATER_EQUAL = 5


cdef enum Operand:
    A_NUMBER = 0
    A_TEXT = 1
    A_PATTERN = 2
    A_BOOLEAN = 3
    AN_ERROR = 4
    A_BLANK = 5
    EMPTY_TEXT = 6
    NOTHING = 7


cdef inline bint meets(Operator operator, Operand operand, double wanted, uint8_t kind, double number) noexcept nogil:
    """Whether a cell that is no text, given as a span holds it, meets a criterion."""
    cdef bint same
    if kind == 0 and (operand == A_BLANK or operand == EMPTY_TEXT):
        return operator == EQUAL
    same = (
        (operand == A_NUMBER and (kind == 1 or kind == 5))
        or (operand == A_BOOLEAN and kind == 3)
        or (operand == AN_ERROR and kind == 4)
    )
    if not same:
        return operator == UNEQUAL
    if operator == EQUAL:
        return number == wanted
    if operator == UNEQUAL:
        return number != wanted
    if operator == LESS:
        return number < wanted
    if operator == LESS_EQUAL:
        return number <= wanted
    if operator == GREATER:
        return number > wanted
    return number >= wanted


cdef class Criterion:
    cdef Operator operator
    cdef Operand operand
    cdef double number
    cdef str text
    cdef str folded
    cdef Wildcard pattern
    cdef bint date_1904
    cpdef bint matches(self, value) except -1
    cdef bint matches_kind(self, uint8_t kind, double number) noexcept nogil
    cdef bint matches_text(self, str text) except -1
    cdef _read(self, str text, bint begins)
    cdef _read_text(self, str text, bint begins)


cdef object number_in(str text, bint date_1904, bint is_cell=*)
cdef bint starts_as_word(str text)
