"""What a formula's value can be; declarations for the other compiled modules."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


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


cdef struct Entry:  # a string of a pool
    const char *bytes  # as UTF-8
    const char *key  # the same without case; of ASCII the same bytes, whose case is taken off where they are read
    int32_t size
    int32_t key_size
    int32_t folded  # the first code that is equal without case
    uint8_t marks  # of a search, see `index`


cdef enum:  # marks that are not known
    UNMARKED = 255
    PLAIN = 128  # not all: it is no long text, and has none of * ? ~


cdef struct Slot:
    uint32_t hash
    int32_t place  # of the string, from 1; 0 where the slot is free


cdef struct Table:
    Slot *slots
    int64_t mask


cdef class TextPool:
    cdef list strings  # None for bytes of which nobody has asked for the string
    cdef dict codes_of
    cdef list owners  # of bytes and keys that are not those of a string
    cdef Entry *entries
    cdef Table exact
    cdef Table folded
    cdef int64_t room
    cdef int32_t count
    cdef int32_t entered_count  # strings in `exact`; -1 while no bytes were entered
    cdef int32_t folded_count
    cpdef int32_t intern(self, str text)
    cpdef str text(self, int32_t code)
    cpdef int32_t fold(self, int32_t code)
    cpdef int32_t find(self, str text)
    cdef int fold_all(self) except -1
    cdef int _grow(self, int64_t count) except -1
    cdef int _describe(self, int32_t code) except -1
    cdef int _enter_known(self) except -1


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
