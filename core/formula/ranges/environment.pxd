"""What a program asks of the place where it runs; declarations for the other compiled modules."""

from core.formula.values.value cimport Array, Reference


cdef class Environment:
    cdef public str sheet
    cdef public Py_ssize_t row
    cdef public Py_ssize_t column
    cdef public bint date_1904
    cdef public object locale
    cdef public double deadline
    cdef public long work
    cdef public dict indexes
    cdef public list slots
    cdef public long depth
    cdef public bint calculating
    cpdef object cell(self, str sheet, Py_ssize_t row, Py_ssize_t column)
    cpdef Array array(self, Reference reference)
    cpdef object name(self, str sheet, str name)
    cpdef int spend(self, long cells) except -1
