"""Regions of like formulas and what they read; declarations for the other compiled modules."""

from libc.stdint cimport int32_t, uint8_t

from core.recalc.store cimport SheetCells

cdef enum Order:
    FREE = 0        # no cell of the region reads another of it
    ABOVE = 1       # cells read only cells above them: top to bottom
    BELOW = 2       # cells read only cells below them: bottom to top
    TANGLED = 3     # cell by cell, in an order that is found while calculating

cdef enum State:
    CLEAN = 0
    DIRTY = 1
    WAITING = 2     # on the stack for what its formula names
    RUNNING = 3     # on the stack for what its calculation asked for


cdef class Read:
    cdef readonly int sheet
    cdef readonly Py_ssize_t left
    cdef readonly Py_ssize_t right
    cdef readonly Py_ssize_t low
    cdef readonly Py_ssize_t high
    cdef readonly bint low_fixed
    cdef readonly bint high_fixed
    cdef readonly bint partly


cdef class Shape:
    cdef readonly object tree
    cdef readonly bint arrays
    cdef readonly str text
    cdef public object program
    cdef public object plan
    cdef public bint ready
    cdef public bint planned
    cdef public object value
    cdef public str fault
    cdef public str unsupported
    cdef public bint carried
    cdef public tuple reads
    cdef public object data_table


cdef class Region:
    cdef readonly int32_t number
    cdef readonly SheetCells cells
    cdef readonly Py_ssize_t first
    cdef readonly Py_ssize_t last
    cdef readonly Py_ssize_t left
    cdef public Py_ssize_t bottom
    cdef public Py_ssize_t right
    cdef readonly Shape shape
    cdef readonly str text
    cdef readonly Py_ssize_t origin_row
    cdef readonly Py_ssize_t origin_column
    cdef readonly bint fills
    cdef readonly bint spills
    cdef public bint alive
    cdef public set holes            # rows inside it that are another's, or no formula
    cdef list reads
    cdef Order order
    cdef readonly bint dirty
    cdef bint on_stack
    cdef Py_ssize_t low
    cdef Py_ssize_t high
    cdef list more
    cdef object states
    cdef uint8_t[::1] states_view
    cdef Py_ssize_t remaining
    cdef bint mark(self, Py_ssize_t low, Py_ssize_t high)
    cdef bint is_dirty(self, Py_ssize_t row) noexcept
    cdef bint is_dirty_within(self, Py_ssize_t low, Py_ssize_t high)
    cdef list marked(self)
    cdef list intervals(self)
    cdef int set_intervals(self, list intervals) except -1
    cdef int clear(self) except -1
    cdef int split_to_cells(self) except -1
    cdef int join(self) except -1
    cdef int finish_cell(self, Py_ssize_t row) except -1
    cdef int link(self, list reads) except -1
