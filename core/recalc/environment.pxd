"""Where a book's formulas run; declarations for the other compiled modules."""

from core.formula.ranges.environment cimport Environment
from core.formula.values.value cimport Array, TextPool, Reference, Span
from core.recalc.regions cimport Region
from core.recalc.store cimport SheetCells


cdef class BookEnvironment(Environment):
    cdef readonly list cells_of
    cdef readonly list regions
    cdef readonly TextPool pool
    cdef readonly object workbook
    cdef readonly object names
    cdef list hidden_rows            # by sheet; None until somebody asks
    cdef readonly dict sheet_index   # by the sheet's folded name
    cdef dict by_name                # the same, and other spellings that formulas have
    cdef SheetCells here
    cdef readonly object now
    cdef int year_of_indexes         # the one by which texts of the kept indexes were read; 0 for none
    cdef readonly object chance
    cdef public Region planned
    cdef SheetCells sheet_cells(self, str sheet)
    cdef int stand(self, SheetCells cells, Py_ssize_t row, Py_ssize_t column) except -1
    cdef int require(self, SheetCells cells, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right) except -1
    cdef list waiting(self, SheetCells cells, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right)
    cpdef Span span_of(self, SheetCells cells, Py_ssize_t column, Py_ssize_t top, Py_ssize_t rows)
    cpdef Span span(self, str sheet, Py_ssize_t column, Py_ssize_t first_row, Py_ssize_t rows)
