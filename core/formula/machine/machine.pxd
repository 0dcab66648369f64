"""A compiled formula; declarations for the other compiled modules."""

cimport cython
from core.formula.ranges.environment cimport Environment
from core.formula.language.tree cimport Node
from core.formula.values.value cimport Lambda, Reference


cdef class Frame:
    cdef Frame parent
    cdef list values


@cython.no_gc
cdef class Operation:
    cdef object run(self, Environment environment, Frame frame)
    cdef object refer(self, Environment environment, Frame frame)
    cdef object supply(self, Environment environment, Frame frame)
    cdef object places(self, Environment environment, Frame frame)


cdef class CompiledTree:
    cdef readonly Node tree
    cdef readonly str text
    cdef readonly bint arrays, volatile, positional
    cdef readonly tuple functions, unknown, slots, needs
    cdef readonly list record
    cdef Operation operation
    cpdef object value(self, Environment environment)


cpdef object call(Environment environment, Lambda function, list arguments)

cdef CompiledTree compile_tree(Node tree, str text, bint arrays, bint unknown_as_name, bint slots, list trace)
