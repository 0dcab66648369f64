"""The cells of a book in columns that can change; declarations for the other compiled modules."""

from libc.stdint cimport int32_t, uint8_t

from core.formula.values.value cimport TextPool, Span


cdef class CellColumn:
    cdef readonly Py_ssize_t base
    cdef readonly Py_ssize_t size
    cdef readonly object kinds
    cdef readonly object numbers
    cdef readonly object codes
    cdef readonly object owners
    cdef uint8_t[::1] kinds_view
    cdef double[::1] numbers_view
    cdef int32_t[::1] codes_view
    cdef int32_t[::1] owners_view
    cdef bint has_owners
    cdef bint gapped
    cdef dict spans
    cdef Py_ssize_t pending          # regions with formulas in this column that wait to be calculated
    cdef int _hold(self, object kinds, object numbers, object codes, object owners) except -1
    cpdef int reserve(self, Py_ssize_t first, Py_ssize_t last) except -1
    cdef object value(self, Py_ssize_t row, TextPool pool)
    cdef void put(self, Py_ssize_t row, uint8_t kind, double number, int32_t code) noexcept
    cpdef Span span(self, Py_ssize_t first, Py_ssize_t rows)
    cdef int32_t owner(self, Py_ssize_t row) noexcept
    cpdef int own(self, Py_ssize_t first, Py_ssize_t last, int32_t region) except -1


cdef class SheetCells:
    cdef readonly str name
    cdef readonly int index
    cdef readonly list columns
    cdef readonly dict unread        # by position the stored columns that nobody asked for
    cdef readonly dict unwritten     # by position the stored columns that are as they were, those with them
    cdef readonly object text        # the stored sheet's text, and the book's code of each: -2 where it is not entered
    cdef readonly object entered
    cdef TextPool pool
    cdef public Py_ssize_t rows_used
    cdef public Py_ssize_t columns_used
    cpdef CellColumn column(self, Py_ssize_t column)
    cpdef CellColumn grown(self, Py_ssize_t column, Py_ssize_t first, Py_ssize_t last)
    cdef object codes_of(self, object stored)


cdef tuple stored_form(object value, TextPool pool)
