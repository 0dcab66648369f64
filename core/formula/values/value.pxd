"""What a formula's value can be; declarations for the other compiled modules."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t


cdef bint has_locale() noexcept
cpdef object locale_in_use()
cdef PyObject *enter_environment(PyObject *environment) noexcept
cdef bint has_date_1904()
cpdef object year_in_use(bint is_cell=*)


cdef class Error:
    cdef readonly int code
    cdef readonly str text


cdef class Omitted:
    pass


cpdef str fold(str text)


cdef class TextPool:
    cdef readonly list strings
    cdef dict codes_of
    cdef list folded_codes
    cdef dict folded_of
    cpdef int32_t intern(self, str text)
    cpdef int32_t fold(self, int32_t code)


cdef class Span:
    cdef readonly object kinds
    cdef readonly object numbers
    cdef readonly object codes


cdef class Reference:
    cdef readonly str sheet
    cdef readonly Py_ssize_t top
    cdef readonly Py_ssize_t left
    cdef readonly Py_ssize_t bottom
    cdef readonly Py_ssize_t right
    cdef readonly tuple more


cdef class Array:
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t columns
    cdef readonly Reference reference
    cdef readonly tuple spans
    cdef readonly TextPool pool
    cdef list _cells
    cpdef list cells(self)


cdef class Lambda:
    cdef readonly tuple parameters
    cdef readonly object body
    cdef readonly object scope


cdef object cell_of(uint8_t kind, double number, int32_t code, TextPool pool)


cdef Error ERROR_NULL, ERROR_DIV0, ERROR_VALUE, ERROR_REF, ERROR_NAME, ERROR_NUM, ERROR_NA
cdef Error ERROR_GETTING_DATA, ERROR_SPILL, ERROR_CALC
cdef Omitted OMITTED_VALUE
