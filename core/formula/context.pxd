"""A caller's values as an environment; declarations for the other compiled modules."""

from core.formula.ranges.environment cimport Environment
from core.formula.machine.machine cimport CompiledTree
from core.formula.values.value cimport Array, Reference


cdef class Slots:
    cdef readonly CompiledTree program
    cdef tuple keys
    cdef tuple places
    cdef bint distinct


cdef class ContextEnvironment(Environment):
    cdef readonly Environment behind
    cdef dict context
    cdef dict given                  # by sheet (None: the formula's own) the values by place; None while unread
    cdef dict names
    cdef dict sheets_given
    cdef object clock
    cdef object chance
    cdef double seconds
    cdef int fill(self, Slots slots) except -1
    cdef object taken(self, object raw, Slots slots, Py_ssize_t place)
    cdef int fill_at(self, Slots slots, Py_ssize_t row, Py_ssize_t column) except -1
    cdef int fill_absent(self, Slots slots, object places, Py_ssize_t row, Py_ssize_t column) except -1
    cdef object found(self, object place, Py_ssize_t row, Py_ssize_t column)
    cdef object held(self, str sheet, Py_ssize_t row, Py_ssize_t column)
    cdef dict inside(self, Reference reference)
    cdef int refuse_missing(self, Slots slots, set missing, Py_ssize_t row, Py_ssize_t column) except -1
    cdef int stand_behind(self) except -1
    cdef object own(self, object sheet)
    cdef bint is_near(self, Reference reference)
    cdef Py_ssize_t reach(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end, list used)
    cdef Array overlaid(self, Reference reference, dict inside)
    cdef int normalise(self) except -1


cdef ContextEnvironment plain_environment(object context)
