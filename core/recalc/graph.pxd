"""The order of a book's regions; declarations for the other compiled modules."""

from libc.stdint cimport int32_t, int64_t

from core.recalc.environment cimport BookEnvironment
from core.recalc.regions cimport Read, Region
from core.recalc.store cimport CellColumn, SheetCells


cdef class Intervals:
    cdef int32_t[::1] lows
    cdef int32_t[::1] highs
    cdef int32_t[::1] numbers
    cdef int32_t[::1] places
    cdef int32_t[::1] tops           # heap-ordered: the largest `high` below each node
    cdef Py_ssize_t count
    cdef Py_ssize_t leaves
    cdef list added
    cdef int find(self, Py_ssize_t low, Py_ssize_t high, list into) except -1
    cdef int descend(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t width, Py_ssize_t stop, Py_ssize_t low, list into) except -1
    cdef int build(self) except -1


cdef class Task:
    cdef Region region
    cdef Py_ssize_t low
    cdef Py_ssize_t high
    cdef Py_ssize_t cursor
    cdef bint expanded
    cdef bint demanded
    cdef bint running


cdef class Graph:
    cdef readonly BookEnvironment environment
    cdef readonly list regions
    cdef readonly list sheets
    cdef dict dependents
    cdef list unlinked
    cdef readonly list waiting
    cdef readonly list touched
    cdef readonly list cycles
    cdef readonly list faults
    cdef readonly set volatile
    cdef object filling
    cdef object precision            # rounds what is written where the book counts as it is displayed; else None
    cdef list overflow
    cdef readonly list data_tables
    cdef object reads_of(self, Region region)
    cdef int link_all(self) except -1
    cdef int mark(self, Region region, Py_ssize_t low, Py_ssize_t high, Read read, list work) except -1
    cpdef int mark_rows(self, Region region, Py_ssize_t low, Py_ssize_t high, list work) except -1
    cdef int run_stack(self, list stack) except -1
    cdef int push(self, list stack, Region region, Py_ssize_t low, Py_ssize_t high, bint demanded) except -1
    cdef int needs(self, list stack, Region region, Py_ssize_t low, Py_ssize_t high) except -1
    cdef int step(self, list stack) except -1
    cdef int step_region(self, list stack, Task task) except -1
    cdef int step_cells(self, list stack, Task task) except -1
    cdef int meet(self, list stack, Task task, list wanted) except -1
    cdef int untangle(self, list stack, Region region) except -1
    cdef int close_cycle(self, list stack, Region region, Py_ssize_t row) except -1
    cdef int cut(self, list stack, Py_ssize_t at) except -1
    cdef int run_region(self, Region region) except -1
    cdef int run_rows(self, Region region, Py_ssize_t low, Py_ssize_t high) except -1
    cdef int run_plan(self, Region region, Py_ssize_t low, Py_ssize_t high) except -1
    cdef int run_cell(self, Region region, Py_ssize_t row) except -1
    cdef int run_filling(self, Region region) except -1
    cdef object computed(self, Region region, Py_ssize_t row)
    cdef int write(self, Region region, Py_ssize_t row, object value) except -1
