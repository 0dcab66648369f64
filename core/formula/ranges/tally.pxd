"""Counting and adding the rows that meet criteria; declarations for the compiled module."""

cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t

from core.formula.values.criteria cimport Criterion, Operand, Operator
from core.formula.ranges.index cimport Groups, Vector


cdef class Aggregates:
    cdef readonly Groups groups
    cdef Vector values
    cdef double[::1] sums
    cdef double[::1] smallest
    cdef double[::1] largest
    cdef int64_t[::1] numbers
    cdef int32_t[::1] error_rows


@cython.final
cdef class Tally:
    cdef readonly int64_t rows
    cdef readonly int64_t numbers
    cdef readonly double sum
    cdef readonly double smallest
    cdef readonly double largest
    cdef readonly int error
    cdef Py_ssize_t error_row
    cdef _take(self, Vector values, Py_ssize_t row)
    cdef _take_run(self, double[::1] run, Vector values)
    cdef _take_group(self, Aggregates aggregates, int32_t group)


cdef class Ordered:
    cdef double[::1] numbers
    cdef int64_t[::1] rows
    cdef int64_t[::1] starts
    cdef Vector values
    cdef double[:, ::1] forward
    cdef double[:, ::1] backward
    cdef _by_group(self, int64_t[::1] rows, int64_t[::1] order, Groups groups)
    cdef double[:, ::1] _run(self, int step)
    cdef take(self, Tally result, Criterion criterion, int32_t group)


@cython.final
cdef class RowTest:
    cdef Criterion criterion
    cdef Vector vector
    cdef Py_ssize_t size
    cdef uint8_t[::1] verdicts
    cdef int64_t folded
    cdef Operator operator
    cdef Operand operand
    cdef double wanted
    cdef bint text_at(self, int32_t code) except -1
    cdef bint at(self, Py_ssize_t row) except -1
    cdef restrict(self, uint8_t[::1] mask)
