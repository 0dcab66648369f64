"""The library's compiled formula; declarations for the other compiled modules."""

from core.formula.machine cimport machine
from core.formula.context cimport ContextEnvironment, Slots
from core.formula.language.tree cimport Node


cdef class Evaluation:
    cdef readonly object value
    cdef readonly object raw
    cdef readonly str type
    cdef readonly str formula
    cdef readonly list trace
    cdef readonly Node tree
    cdef Py_ssize_t row, column


cdef class Program:
    cdef readonly machine.CompiledTree compiled
    cdef Slots slots
    cdef bint bare
    cdef Evaluation finished(
        self, object value, ContextEnvironment environment, str error_handling, int precision, str date_format
    )
