"""The environment of a book's formulas: its cells, names and tables; and the demand for cells not yet calculated."""

from core.formula.ranges.environment cimport Environment
from core.formula.ranges.index cimport Groups
from core.formula.language import ContextError, LimitExceeded
from core.formula.values.value cimport Array, TextPool, Reference, Span, cell_of
from core.formula.values import REF, Failure
from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS
from core.recalc.errors import UnknownSheet
from core.recalc.regions cimport CLEAN, Region
from core.recalc.store cimport CellColumn, SheetCells
from core.values cimport ERROR
from core.values import ERROR_CODE

cdef enum:
    CELLS_AS_LIST = 16
    ARRAY_CELLS_MAX = 20_000_000  # values read from cells into one array; they are views, mostly


class Needs(BaseException):
    """A formula met cells that wait to be calculated: (region, first row, last row) of each.

    No Exception, so that no function takes it for an error of its own.
    """

    def __init__(self, wanted):
        super().__init__(wanted)
        self.wanted = wanted


cdef class BookEnvironment(Environment):
    """A place in a book. `stand` puts it on a cell; while `calculating`, a cell that waits raises `Needs`.

    `workbook` is the file that the book was made from, `names` what its names and tables mean (a `BookNames`).
    """

    def __init__(self, workbook, names, list cells_of, list regions, TextPool pool, *, double deadline=1e300):
        if not cells_of:
            raise UnknownSheet("the book has no sheet")
        Environment.__init__(self, deadline=deadline, date_1904=workbook.date_1904)
        self.workbook = workbook
        self.names = names
        self.cells_of = cells_of
        self.regions = regions
        self.pool = pool
        self.by_name = {cells.name.casefold(): cells for cells in cells_of}
        self.sheet_index = {cells.name.casefold(): cells.index for cells in cells_of}
        self.indexes = {}
        self.now = None
        self.year_of_indexes = 0
        self.chance = None
        self.planned = None
        self.stand(<SheetCells> cells_of[0], 0, 0)

    @property
    def environment(self):
        """Itself: a plan's source is an environment, and has one."""
        return self

    def clocks(self, now, chance, double deadline):
        """Set the moment, the source of chance and the deadline."""
        cdef int year = 0 if now is None else now.year
        if year != self.year_of_indexes:
            for held in self.indexes.values():
                if isinstance(held, Groups):
                    (<Groups> held).numeric_texts = None  # dates without a year may be among them
            self.year_of_indexes = year
        self.now, self.chance, self.deadline = now, chance, deadline

    def place(self, int sheet, Py_ssize_t row, Py_ssize_t column):
        """Stand on a cell."""
        self.stand(<SheetCells> self.cells_of[sheet], row, column)

    cdef int stand(self, SheetCells cells, Py_ssize_t row, Py_ssize_t column) except -1:
        self.here = cells
        self.sheet = cells.name
        self.row = row
        self.column = column
        return 0

    cdef SheetCells sheet_cells(self, str sheet):
        """The sheet of a name as formulas write it; None where there is none."""
        if sheet is None:
            if self.here.name is not self.sheet:
                self.here = <SheetCells> self.by_name[self.sheet.casefold()]
            return self.here
        found = self.by_name.get(sheet)
        if found is None:
            found = self.by_name.get(sheet.casefold())
            if found is not None and len(self.by_name) < 4096:
                self.by_name[sheet] = found
        return <SheetCells> found

    cpdef object cell(self, str sheet, Py_ssize_t row, Py_ssize_t column):
        cdef SheetCells cells = self.sheet_cells(sheet)
        cdef CellColumn found
        cdef Region region
        cdef int owner
        if cells is None:
            return REF
        if column >= len(cells.columns):
            return None
        found = <CellColumn> cells.columns[column]
        if found is None:
            found = cells.column(column)
            if found is None:
                return None
        if found.pending and self.calculating:
            owner = found.owner(row)
            if owner >= 0:
                region = <Region> self.regions[owner]
                if region.is_dirty(row):
                    raise Needs([(region, row, row)])
        return found.value(row, self.pool)

    cdef list waiting(self, SheetCells cells, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right):
        """(region, first row, last row) of the formula cells in a rectangle that wait to be calculated."""
        cdef Py_ssize_t at, column, stop
        cdef CellColumn found
        cdef Region region
        cdef list wanted = []
        for column in range(left, min(right + 1, <Py_ssize_t> len(cells.columns))):
            found = <CellColumn> cells.columns[column]
            if found is None or not found.pending or not found.has_owners:
                continue
            at = max(top, found.base)
            stop = min(bottom + 1, found.base + found.size)
            while at < stop:
                if found.owners_view[at - found.base] < 0:
                    at += 1
                    continue
                region = <Region> self.regions[found.owners_view[at - found.base]]
                low = at
                if region.holes is None:
                    at = min(region.bottom + 1, stop)
                else:
                    while at < stop and found.owners_view[at - found.base] == region.number:
                        at += 1
                if region is not self.planned and region.is_dirty_within(low, at - 1):
                    wanted.append((region, low, at - 1))
        return wanted

    cdef int require(self, SheetCells cells, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right) except -1:
        """See that a rectangle is calculated.

        Raises:
            Needs: it is not.
        """
        cdef list wanted
        if self.calculating:
            wanted = self.waiting(cells, top, left, bottom, right)
            if wanted:
                raise Needs(wanted)
        return 0

    cpdef Array array(self, Reference reference):
        cdef SheetCells cells = self.sheet_cells(reference.sheet)
        cdef Py_ssize_t top = reference.top, left = reference.left, bottom = reference.bottom, right = reference.right
        cdef Py_ssize_t row, column, rows, columns
        cdef list values
        cdef CellColumn found
        if cells is None:
            raise Failure(REF)
        if reference.sheet is not cells.name:
            reference = _on(cells.name, reference)
        if top == 0 and bottom >= SHEET_ROWS - 1:
            bottom = max(0, cells.rows_used - 1)
        if left == 0 and right >= SHEET_COLUMNS - 1:
            right = max(0, cells.columns_used - 1)
        rows, columns = bottom - top + 1, right - left + 1
        if rows * columns > ARRAY_CELLS_MAX:
            raise LimitExceeded(f"a range of {rows * columns:,} cells is over the limit of {ARRAY_CELLS_MAX:,}")
        self.spend(rows + columns)
        self.require(cells, top, left, bottom, right)
        if rows * columns <= CELLS_AS_LIST:
            values = []
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    found = cells.column(column)
                    values.append(None if found is None else found.value(row, self.pool))
            return Array(rows, columns, values, reference=reference)
        spans = tuple([self.span_of(cells, column, top, rows) for column in range(left, right + 1)])
        return _of_spans(rows, columns, reference, spans, self.pool)

    cpdef Span span_of(self, SheetCells cells, Py_ssize_t column, Py_ssize_t top, Py_ssize_t rows):
        """One column of a range; of a column without cells one that is blank."""
        cdef CellColumn found = cells.column(column)
        if found is None:
            found = _NOTHING
        return found.span(top, rows)

    cpdef Span span(self, str sheet, Py_ssize_t column, Py_ssize_t first_row, Py_ssize_t rows):
        """A span of one column, as a plan asks for it.

        Raises:
            Failure: no such sheet.
        """
        cdef SheetCells cells = self.sheet_cells(sheet)
        if cells is None:
            raise Failure(REF)
        self.require(cells, first_row, column, first_row + rows - 1, column)
        return self.span_of(cells, column, first_row, rows)

    cpdef object name(self, str sheet, str name):
        return self.names.value(self, sheet, name)

    def structured(self, node):
        return self.names.reference(node, self.sheet, self.row, self.column)

    def spill(self, sheet, Py_ssize_t row, Py_ssize_t column):
        cdef SheetCells cells = self.sheet_cells(sheet)
        cdef CellColumn found = None if cells is None else cells.column(column)
        cdef Region region
        if found is None or found.owner(row) < 0:
            return REF
        region = <Region> self.regions[found.owner(row)]
        self.require(cells, row, column, row, column)
        if not region.fills or region.first != row or region.left != column:
            return REF
        return Reference(cells.name, region.first, region.left, region.bottom, region.right)

    def formula(self, sheet, Py_ssize_t row, Py_ssize_t column):
        """The formula of a cell as Excel shows it: in braces where it is an array formula of the old kind."""
        cdef SheetCells cells = self.sheet_cells(sheet)
        cdef CellColumn found = None if cells is None else cells.column(column)
        cdef Region region
        if found is None or found.owner(row) < 0:
            return None
        region = <Region> self.regions[found.owner(row)]
        text = region.formula(row, column)
        return "{" + text + "}" if region.fills and not region.spills else text

    def is_formula(self, sheet, Py_ssize_t row, Py_ssize_t column):
        cdef SheetCells cells = self.sheet_cells(sheet)
        cdef CellColumn found = None if cells is None else cells.column(column)
        return found is not None and found.owner(row) >= 0

    def sheets(self):
        return [(<SheetCells> cells).name for cells in self.cells_of]

    def used(self, sheet):
        cdef SheetCells cells = self.sheet_cells(sheet)
        if cells is None:
            return (1, 1)
        return (max(1, cells.rows_used), max(1, cells.columns_used))

    def hidden(self, sheet, Py_ssize_t row):
        cdef SheetCells cells = self.sheet_cells(sheet)
        if cells is None:
            return None
        if self.hidden_rows is None:
            self.hidden_rows = [frozenset(stored.hidden_rows.tolist()) for stored in self.workbook.sheets]
        if row not in self.hidden_rows[cells.index]:
            return None
        return "filter" if self.workbook.sheets[cells.index].filtered else "manual"

    def number_format(self, sheet, Py_ssize_t row, Py_ssize_t column):
        """The format code of a cell, as the file has it."""
        cdef SheetCells cells = self.sheet_cells(sheet)
        stored = None if cells is None else self.workbook.sheets[cells.index]
        carried = stored.columns[column] if stored is not None and column < stored.column_count else None
        at = -1 if carried is None else carried.slot(row)
        return "General" if at < 0 else self.workbook.number_formats[int(carried.dense.formats[at])]

    def pivot(self, reference):
        cdef SheetCells cells = self.sheet_cells(reference.sheet)
        cdef str sheet
        if self.workbook.pivots is None:
            raise ContextError("the pivot tables of the workbook were not read")
        if cells is not None:
            sheet = cells.name.casefold()
            for found in reversed(self.workbook.pivots):
                if found.sheet.casefold() == sheet and found.covers(
                    reference.top, reference.left, reference.bottom, reference.right
                ):
                    return found
        return None

    def pivot_value(self, pivot, Py_ssize_t row, Py_ssize_t column):
        stored = self.workbook.sheets[self.sheet_index[pivot.sheet.casefold()]]
        value = stored.value(row, column)
        return cell_of(ERROR, ERROR_CODE[value], -1, self.pool) if stored.kind(row, column) == ERROR else value

    def moment(self):
        if self.now is None:
            raise ContextError("the formula asks for the time, and no clock was given")
        return self.now

    def random(self):
        if self.chance is None:
            raise ContextError("the formula asks for a random number, and no source of them was given")
        return self.chance()


# Made without a call of the type: with its arguments by name it takes as long as finding the spans.


cdef inline Reference _on(str sheet, Reference reference):
    cdef Reference moved = <Reference> Reference.__new__(Reference)
    moved.sheet, moved.more = sheet, reference.more
    moved.top, moved.left, moved.bottom, moved.right = reference.top, reference.left, reference.bottom, reference.right
    return moved


cdef inline Array _of_spans(Py_ssize_t rows, Py_ssize_t columns, Reference reference, tuple spans, TextPool pool):
    cdef Array found = <Array> Array.__new__(Array)
    found.rows, found.columns, found.reference, found.spans, found.pool = rows, columns, reference, spans, pool
    return found


cdef CellColumn _NOTHING = CellColumn(0, 0)
