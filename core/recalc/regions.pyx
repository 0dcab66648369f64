"""A region: formula cells in one column that share one relative formula; or one array formula with all that it fills."""

from libc.stdint cimport int32_t, uint8_t

import numpy as np

from core.grid.address import move_formula
from core.recalc.store cimport CellColumn, SheetCells

cdef enum:
    INTERVALS_MAX = 32


cdef class Read:
    """Cells that each cell of a region reads: columns `left` to `right` of one sheet, rows `low` to `high`.

    A row bound that is not fixed is a distance from the reading cell's own row. `partly`: only its calculation tells which
    of them.
    """

    def __init__(self, int sheet, Py_ssize_t left, Py_ssize_t right, Py_ssize_t low, Py_ssize_t high, bint low_fixed,
                 bint high_fixed, bint partly):
        self.sheet = sheet
        self.left = left
        self.right = right
        self.low = low
        self.high = high
        self.low_fixed = low_fixed
        self.high_fixed = high_fixed
        self.partly = partly


cdef class Shape:
    """What all formulas of one relative form share: the tree and, once it was needed, the program and the plan.

    `tree` None is a formula that is none (`fault` says why). `carried`: its cells keep the values they came with, since
    it refers to another workbook. `reads` are the ranges it names, relative to the reading cell. `data_table` has the
    input cells where it is a what-if data table, whose values the engine finds by trying them.
    """

    def __init__(self, tree, bint arrays, str text):
        self.tree = tree
        self.arrays = arrays
        self.text = text
        self.program = None
        self.plan = None
        self.ready = False
        self.planned = False
        self.value = None
        self.fault = None
        self.unsupported = None
        self.carried = False
        self.reads = ()
        self.data_table = None


cdef class Region:
    """Rows `first` to `last` of the column `left`; of an array formula one cell, with the rectangle down to `bottom`
    and `right` that its result fills.

    What waits to be calculated is a list of row intervals (`low` to `high` and `more`), or a state for each row where
    the region had to be taken apart into cells (`states`).
    """

    def __init__(self, int32_t number, SheetCells cells, Py_ssize_t first, Py_ssize_t last, Py_ssize_t column,
                 Shape shape, str text, Py_ssize_t origin_row, Py_ssize_t origin_column):
        self.number = number
        self.cells = cells
        self.first = first
        self.last = self.bottom = last
        self.left = self.right = column
        self.shape = shape
        self.text = text
        self.origin_row = origin_row
        self.origin_column = origin_column
        self.alive = True

    def cover(self, Py_ssize_t bottom, Py_ssize_t right, bint spills):
        """Make it an array formula that fills its rectangle: as far as it needs (`spills`) or this one for good."""
        self.bottom = bottom
        self.right = right
        self.fills = True
        self.spills = spills

    def formula(self, Py_ssize_t row, Py_ssize_t column):
        """The text of one cell's formula, with its '='; of a cell that an array formula fills that of its first."""
        if self.fills:
            row, column = self.first, self.left
        if row == self.origin_row and column == self.origin_column:
            return self.text
        return "=" + move_formula(self.text[1:], row - self.origin_row, column - self.origin_column)

    cdef bint mark(self, Py_ssize_t low, Py_ssize_t high):
        """Note that rows must be calculated; whether any of them was not noted yet."""
        cdef Py_ssize_t a, b
        cdef list kept
        assert self.states is None
        if not self.dirty:
            self.dirty = True
            self.low, self.high, self.more = low, high, None
            _wait(self, 1)
            return True
        if self.low <= low and high <= self.high:
            return False
        if self.more is None and low <= self.high + 1 and high >= self.low - 1:
            self.low, self.high = min(low, self.low), max(high, self.high)
            return True
        kept = []
        for a, b in self.marked():
            if a <= low and high <= b:
                return False
            if low <= b + 1 and high >= a - 1:
                low, high = min(a, low), max(b, high)
            else:
                kept.append((a, b))
        kept.append((low, high))
        kept.sort()
        if len(kept) > INTERVALS_MAX:
            kept = [(kept[0][0], max([b for _, b in kept]))]
        self.set_intervals(kept)
        return True

    cdef list marked(self):
        """The rows that were marked, as (first, last), holes among them; none overlap."""
        if not self.dirty:
            return []
        found = [(self.low, self.high)] if self.low <= self.high else []
        return found + self.more if self.more is not None else found

    cdef list intervals(self):
        """The rows that wait, as (first, last); none overlap."""
        if self.holes is None:
            return self.marked()
        return [piece for low, high in self.marked() for piece in self.pieces(low, high)]

    def pieces(self, Py_ssize_t low, Py_ssize_t high):
        """Rows `low` to `high` without the holes, as (first, last)."""
        cdef Py_ssize_t hole
        if self.holes is None:
            return [(low, high)]
        found = []
        for hole in sorted([row for row in self.holes if low <= row <= high]):
            if low < hole:
                found.append((low, hole - 1))
            low = hole + 1
        if low <= high:
            found.append((low, high))
        return found

    cdef int set_intervals(self, list intervals) except -1:
        self.low, self.high = intervals[0]
        self.more = intervals[1:] or None
        return 0

    cdef bint is_dirty(self, Py_ssize_t row) noexcept:
        """Whether a row waits."""
        cdef Py_ssize_t a, b
        if not self.dirty:
            return False
        if self.fills:
            return True
        if self.states is not None:
            return self.states_view[row - self.first] != CLEAN
        if self.low <= row <= self.high:
            return True
        if self.more is not None:
            for a, b in self.more:
                if a <= row <= b:
                    return True
        return False

    cdef bint is_dirty_within(self, Py_ssize_t low, Py_ssize_t high):
        """Whether any of some rows waits."""
        cdef Py_ssize_t a, b, row
        if not self.dirty:
            return False
        if self.fills:
            return True
        if self.states is not None:
            for row in range(max(low, self.first), min(high, self.last) + 1):
                if self.states_view[row - self.first] != CLEAN:
                    return True
            return False
        if self.holes is None:
            if self.low <= high and low <= self.high and self.low <= self.high:
                return True
        if self.more is not None or self.holes is not None:
            for a, b in self.intervals():
                if a <= high and low <= b:
                    return True
        return False

    cdef int clear(self) except -1:
        """Nothing waits any more."""
        if self.dirty:
            self.dirty = False
            _wait(self, -1)
        self.low, self.high, self.more = 0, -1, None
        self.states = None
        self.states_view = None
        return 0

    cdef int split_to_cells(self) except -1:
        """Give each row a state of its own."""
        cdef Py_ssize_t a, b
        if self.states is not None or not self.dirty:
            return 0
        states = np.zeros(self.last - self.first + 1, np.uint8)
        self.remaining = 0
        for a, b in self.intervals():
            states[a - self.first : b + 1 - self.first] = DIRTY
            self.remaining += b - a + 1
        self.states = states
        self.states_view = states
        self.on_stack = False
        return 0

    def finish(self):
        """Nothing waits any more."""
        self.clear()

    def waiting_rows(self):
        """The rows that wait, as (first, last); none overlap. Not while the region is calculated."""
        return self.intervals()

    def unmark(self, Py_ssize_t low, Py_ssize_t high):
        """Rows `low` to `high` wait no more. Not while the region is calculated."""
        cdef Py_ssize_t a, b
        cdef list kept = []
        assert self.states is None
        if self.fills:
            self.clear()
            return
        for a, b in self.marked():
            if a < low:
                kept.append((a, min(b, low - 1)))
            if b > high:
                kept.append((max(a, high + 1), b))
        if kept:
            self.set_intervals(sorted(kept))
        else:
            self.clear()

    cdef int join(self) except -1:
        """After a calculation that was broken off: what waited in cells waits as a whole."""
        self.on_stack = False
        if self.states is not None:
            self.clear()
            self.mark(self.first, self.last)
        return 0

    cdef int finish_cell(self, Py_ssize_t row) except -1:
        """One row of a region in cells is calculated."""
        if self.states_view[row - self.first] != CLEAN:
            self.states_view[row - self.first] = CLEAN
            self.remaining -= 1
            if self.remaining == 0:
                self.clear()
        return 0

    cdef int link(self, list reads) except -1:
        """Take the ranges that the region reads, and see in which order its own rows must go."""
        cdef Read read
        cdef Py_ssize_t low, high
        self.reads = reads
        self.order = FREE
        for read in reads:
            if read.sheet != self.cells.index or not read.left <= self.left <= read.right:
                continue
            low = read.low if read.low_fixed else self.first + read.low
            high = read.high if read.high_fixed else self.last + read.high
            if high < self.first or low > self.last:
                continue
            if not read.high_fixed and read.high < 0:
                self.order = <Order> (self.order | ABOVE)
            elif not read.low_fixed and read.low > 0:
                self.order = <Order> (self.order | BELOW)
            else:
                self.order = TANGLED
        return 0


cdef int _wait(Region region, Py_ssize_t by) except -1:
    """Count the region in its columns' regions that wait."""
    cdef Py_ssize_t at
    for at in range(region.left, region.right + 1):
        (<CellColumn> region.cells.columns[at]).pending += by
    return 0
