"""Searching the cells of a range; declarations for the other compiled modules."""

cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from core.formula.values.criteria cimport Criterion
from core.formula.ranges.environment cimport Environment
from core.formula.values.value cimport Array, TextPool


cdef uint64_t NO_KEY  # of what no cell holds


@cython.final
cdef class Vector:
    cdef readonly Py_ssize_t size
    cdef const uint8_t[::1] kinds
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    cdef readonly TextPool pool
    cdef bint are_texts(self) noexcept
    cdef uint64_t key_at(self, Py_ssize_t row)
    cdef int order(self, value, Py_ssize_t row) except -9
    cdef int order_across(self, value, Py_ssize_t row) except -9
    cdef Py_ssize_t _exact_number(self, double number, bint last)
    cdef int _order_of_rows(self, Py_ssize_t row, Py_ssize_t other) except -9


@cython.final
cdef class Groups:
    cdef readonly Vector vector
    cdef readonly Py_ssize_t count
    cdef int32_t[::1] slots
    cdef bint by_code  # all are texts: `slots` has the group of each folded code
    cdef int shift
    cdef uint64_t[::1] keys
    cdef bint distinct  # no two cells are equal: a group is its row, and the next three are not made
    cdef int32_t[::1] group_of_row
    cdef int32_t[::1] first_row
    cdef int32_t[::1] last_row
    cdef int32_t[::1] starts
    cdef int32_t[::1] rows
    cdef dict numeric_texts
    cdef tuple last_sums  # the sums of one column by these groups, behind the token of its cells
    cdef int32_t find(self, uint64_t key) noexcept nogil
    cdef int32_t row_of(self, int32_t group, bint last) noexcept nogil
    cdef inline int32_t group_at(self, Py_ssize_t row) noexcept nogil:
        """The group of a row."""
        return <int32_t> row if self.distinct else self.group_of_row[row]
    cdef _count_rows(self)
    cdef _sort_rows(self)
    cdef list members(self, Criterion criterion)
    cdef dict _numeric(self, bint date_1904)


cpdef Groups groups_of(Environment environment, Array array, Py_ssize_t index, bint row=*, Py_ssize_t uses=*)
cdef tuple corners_of(Environment environment, Array array, Py_ssize_t index, bint row, kind)
cdef uint64_t key_of_text(str text, TextPool pool)
