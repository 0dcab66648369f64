"""Which regions read which, what an edit touches, and the calculation of all that waits in an order that fits.

Calculation pulls: before a region runs, the regions that its formula names run; what only its calculation asks for
(INDIRECT, a name, a sheet by run) comes as `Needs` and runs before it is tried again. Regions that need each other are
taken apart into cells; cells that need each other are a cycle: they keep the values they have, until the engine
iterates them (`iterate`) where their book asks for that. Data tables are only noted here: the engine tries their values
when all else is calculated.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy

from time import monotonic

import numpy as np

from core.formula.language import ContextError, FormulaError, LimitExceeded
from core.formula.values.value cimport Error, Span
from core.formula.values import NAME, VALUE, Failure
from core.recalc.environment cimport BookEnvironment
from core.recalc.environment import Needs
from core.recalc.regions cimport ABOVE, BELOW, CLEAN, DIRTY, FREE, RUNNING, TANGLED, WAITING, Read, Region, Shape
from core.recalc.shapes import look_for_plan, prepare, resolve
from core.recalc.store cimport CellColumn, SheetCells, stored_form
from core.values cimport BLANK, NUMBER
from core.grid.address import COLUMNS_MAX

cdef enum:
    PLAN_ROWS_MIN = 24      # below so many rows the machine is quicker than a plan
    WIDE = 64               # a range of more columns stands in the list of its whole sheet
    ADDED_MAX = 256


cdef class Intervals:
    """Row intervals with what reads them: all that meet some rows are found without looking at the others.

    Sorted by their first row, with the largest last row kept for each half, quarter, ... (`tops`); the newest wait in
    `added` until they are worth the sorting.
    """

    def __init__(self):
        self.added = []
        self.count = 0

    cdef int build(self) except -1:
        cdef Py_ssize_t at
        cdef int32_t[::1] tops
        parts = np.array(self.added, np.int32).reshape(-1, 4)
        if self.count:
            old = [self.lows.base, self.highs.base, self.numbers.base, self.places.base]
            parts = np.concatenate([np.stack(old, axis=1), parts])
        parts = parts[np.argsort(parts[:, 0], kind="stable")]
        self.lows, self.highs, self.numbers, self.places = [np.ascontiguousarray(parts[:, at]) for at in range(4)]
        self.count = len(parts)
        self.leaves = 1
        while self.leaves < self.count:
            self.leaves *= 2
        tops = np.full(2 * self.leaves, -1, np.int32)
        for at in range(self.count):
            tops[self.leaves + at] = self.highs[at]
        for at in range(self.leaves - 1, 0, -1):
            tops[at] = max(tops[2 * at], tops[2 * at + 1])
        self.tops = tops
        self.added = []
        return 0

    cdef int find(self, Py_ssize_t low, Py_ssize_t high, list into) except -1:
        """Append (region, read) of every interval that meets rows `low` to `high`."""
        cdef Py_ssize_t left = 0, right, middle
        cdef tuple item
        if len(self.added) > ADDED_MAX:
            self.build()
        for item in self.added:
            if <Py_ssize_t> item[0] <= high and <Py_ssize_t> item[1] >= low:
                into.append((item[2], item[3]))
        right = self.count
        while left < right:
            middle = (left + right) // 2
            if self.lows[middle] <= high:
                left = middle + 1
            else:
                right = middle
        if left:
            self.descend(1, 0, self.leaves, left, low, into)
        return 0

    cdef int descend(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t width, Py_ssize_t stop, Py_ssize_t low,
                     list into) except -1:
        if first >= stop or self.tops[node] < low:
            return 0
        if width == 1:
            into.append((self.numbers[first], self.places[first]))
            return 0
        self.descend(2 * node, first, width // 2, stop, low, into)
        return self.descend(2 * node + 1, first + width // 2, width // 2, stop, low, into)


cdef class Task:
    """One entry of the calculation's stack: a region, or some of its rows where it goes cell by cell.

    `expanded`: what its formula names was put on the stack above it, on suspicion. `demanded`: nothing is put there on
    suspicion. `running`: it was calculated, and what stands above it is what its calculation asked for.
    """

    def __init__(self, Region region, Py_ssize_t low, Py_ssize_t high, bint demanded):
        self.region = region
        self.low = low
        self.high = high
        self.cursor = low
        self.demanded = demanded
        self.expanded = False
        self.running = False


cdef class Graph:
    """All regions of a book by number (None: gone), and what reads what.

    `filling` writes the values of array formulas and tells what they changed beside their cells. `volatile` are the
    regions that are calculated each time. `precision` rounds what is written; None where nothing is.
    """

    def __init__(self, BookEnvironment environment, filling, precision=None):
        self.environment = environment
        self.regions = environment.regions
        self.sheets = environment.cells_of
        self.dependents = {}
        self.unlinked = []
        self.waiting = []
        self.touched = []
        self.cycles = []
        self.faults = []
        self.volatile = set()
        self.filling = filling
        self.precision = precision
        self.overflow = []
        self.data_tables = []

    def add(self, Region region):
        """Enter a region, as waiting whole; its cells' owners are set."""
        self.unlinked.append(region)
        if region.mark(region.first, region.last):
            self.waiting.append(region)

    def remove(self, Region region):
        """Take a region out."""
        region.clear()
        region.alive = False
        self.volatile.discard(region)
        self.regions[region.number] = None

    def reads(self, Region region):
        """The ranges that a region reads."""
        return self.reads_of(region)

    cdef object reads_of(self, Region region):
        if region.reads is None:
            reads, volatile = resolve(region, self.environment)
            if volatile:
                self.volatile.add(region)
            region.link(reads)
        return region.reads

    # What an edit touches

    cdef int link_all(self) except -1:
        """Enter the ranges of the regions that came since the last time."""
        cdef Region region
        cdef Read read
        cdef Py_ssize_t at, place, low, high, column
        for region in self.unlinked:
            if not region.alive:
                continue
            self.reads_of(region)
            for place in range(len(region.reads)):
                read = <Read> region.reads[place]
                low = read.low if read.low_fixed else region.first + read.low
                high = read.high if read.high_fixed else region.last + read.high
                entry = (low, high, region.number, place)
                if read.right - read.left >= WIDE:
                    self.index_of(read.sheet, -1).append(entry)
                    continue
                for column in range(read.left, read.right + 1):
                    self.index_of(read.sheet, column).append(entry)
        self.unlinked = []
        return 0

    def index_of(self, Py_ssize_t sheet, Py_ssize_t column):
        """The new intervals over one column (-1: over many columns of the sheet)."""
        cdef Intervals found
        key = sheet * (COLUMNS_MAX + 1) + column + 1
        found = <Intervals> self.dependents.get(key)
        if found is None:
            found = self.dependents[key] = Intervals()
        return found.added

    def propagate(self, list work):
        """Mark all that depends on changed cells: (sheet, first row, last row, first column, last column) of each."""
        cdef Py_ssize_t sheet, low, high, left, right, column
        cdef Intervals found
        cdef Region region
        cdef Read read
        cdef list hits
        if self.unlinked:
            self.link_all()
        while work:
            sheet, low, high, left, right = work.pop()
            hits = []
            found = <Intervals> self.dependents.get(sheet * (COLUMNS_MAX + 1))
            if found is not None:
                found.find(low, high, hits)
            for column in range(left, right + 1):
                found = <Intervals> self.dependents.get(sheet * (COLUMNS_MAX + 1) + column + 1)
                if found is not None:
                    found.find(low, high, hits)
            for number, place in hits:
                region = <Region> self.regions[number]
                if region is None:
                    continue
                read = <Read> region.reads[place]
                if read.right >= left and read.left <= right:
                    self.mark(region, low if read.high_fixed else low - read.high,
                              high if read.low_fixed else high - read.low, read, work)

    cdef int mark(self, Region region, Py_ssize_t low, Py_ssize_t high, Read read, list work) except -1:
        """Mark the rows of a region that read the changed ones, and those that read these in turn."""
        low = region.first if read.high_fixed or low < region.first else low
        high = region.last if read.low_fixed or high > region.last else high
        if low > high:
            return 0
        if region.order == TANGLED:
            low, high = region.first, region.last
        elif region.order == ABOVE:
            high = region.last
        elif region.order == BELOW:
            low = region.first
        return self.mark_rows(region, low, high, work)

    cpdef int mark_rows(self, Region region, Py_ssize_t low, Py_ssize_t high, list work) except -1:
        """Mark rows of a region and note them as changed."""
        if not region.dirty:
            self.waiting.append(region)
        if region.fills:
            if region.mark(region.first, region.first):
                work.append((region.cells.index, region.first, region.bottom, region.left, region.right))
        elif region.mark(low, high):
            work.append((region.cells.index, low, high, region.left, region.left))
        return 0

    def forget_indexes(self, list edits):
        """Drop what was built over cells that change: edited rectangles, and what waits."""
        cdef Region region
        indexes = self.environment.indexes
        if not indexes:
            return
        if len(indexes) > 256 or len(edits) + len(self.waiting) > 64:
            indexes.clear()
            return
        waiting = [(region.cells.index, region.first, region.bottom, region.left, region.right) for region in self.waiting]
        for sheet, low, high, left, right in edits + waiting:
            name = (<SheetCells> self.sheets[sheet]).name
            for key in [key for key in indexes
                        if key[0] == name and key[1] <= high and low <= key[3] and key[2] <= right and left <= key[4]]:
                del indexes[key]

    # Calculation

    def calculate(self):
        """Calculate the regions that wait, and all that they need. What was calculated is appended to `touched`."""
        cdef Region region
        cdef list stack = [], waiting = self.waiting
        self.environment.calculating = True
        try:
            for region in waiting:
                if region.dirty and region.alive:
                    stack.append(Task(region, region.first, region.last, False))
                    self.run_stack(stack)
                    if region.dirty and not region.intervals():
                        region.clear()  # what was marked are holes: it would wait for ever, and hear of no other edit
        except BaseException:
            for region in waiting:
                region.join()
            for task in stack:
                (<Task> task).region.join()
            raise
        finally:
            self.environment.calculating = False
        self.waiting = []

    def demand(self, list cells):
        """Calculate these cells, (region, row) of each, and what they need; the rest goes on waiting."""
        cdef Region region
        cdef Py_ssize_t row
        cdef list stack = []
        self.environment.calculating = True
        try:
            for region, row in cells:
                if region.alive and region.is_dirty(row):
                    self.push(stack, region, row, row, False)
                    self.run_stack(stack)
        finally:
            self.environment.calculating = False
            for task in stack:
                (<Task> task).region.join()
            for region in self.waiting:
                region.join()
            self.waiting = [region for region in self.waiting if region.dirty and region.alive]

    cdef int run_stack(self, list stack) except -1:
        while stack:
            self.step(stack)
        return 0

    def recalculate_cell(self, Region region, Py_ssize_t row):
        """Calculate a cell from the values that stand, whether they wait or not: by how much its number changed, and
        infinity where it was or is none and another now."""
        cdef CellColumn column = region.cells.column(region.left)
        cdef Py_ssize_t at = row - column.base
        cdef uint8_t kind = column.kinds_view[at]
        cdef double number = column.numbers_view[at]
        cdef int32_t code = column.codes_view[at]
        if not region.shape.ready:
            prepare(region.shape, self.environment)
        if region.shape.carried:
            return 0.0
        if region.fills:
            self.overflow.extend(self.filling.fill(region, self.computed(region, region.first)))
            column = region.cells.column(region.left)
            at = row - column.base
        else:
            self.write(region, row, self.computed(region, row))
        if kind == column.kinds_view[at] and code == column.codes_view[at]:
            return abs(column.numbers_view[at] - number)
        return INFINITY

    cdef int step(self, list stack) except -1:
        cdef Task task = <Task> stack[len(stack) - 1]
        # What a run of cells has behind its cursor is done: looking there again would take the square of its length.
        if not task.region.is_dirty_within(max(task.low, task.cursor), task.high):
            task.region.on_stack = False
            stack.pop()
            return 0
        if task.region.states is None:
            return self.step_region(stack, task)
        return self.step_cells(stack, task)

    cdef int push(self, list stack, Region region, Py_ssize_t low, Py_ssize_t high, bint demanded) except -1:
        if region.fills:
            low = high = region.first
        stack.append(Task(region, low, high, demanded))
        return 0

    cdef int needs(self, list stack, Region region, Py_ssize_t low, Py_ssize_t high) except -1:
        """Put on the stack what the formula names, for rows `low` to `high`.

        One cell does not wait for what is read in part: its calculation asks for the cells that it needs. Many cells
        need most of it, and are calculated at once.
        """
        cdef Read read
        cdef Region other
        cdef Py_ssize_t first, last
        for read in self.reads_of(region):
            if read.partly and region.states is not None:
                continue
            first = read.low if read.low_fixed else max(0, low + read.low)
            last = read.high if read.high_fixed else high + read.high
            for other, first, last in self.environment.waiting(
                    <SheetCells> self.sheets[read.sheet], first, read.left, last, read.right):
                if other is not region and not other.on_stack:
                    self.push(stack, other, first, last, False)
                elif other.states is not None:
                    self.push(stack, other, first, last, False)
                elif other is not region:
                    return self.untangle(stack, other)
        return 0

    cdef int step_region(self, list stack, Task task) except -1:
        cdef Region region = task.region
        cdef Py_ssize_t before = len(stack)
        if not task.expanded:
            task.expanded = True
            self.reads_of(region)
            if region.order == TANGLED:
                region.split_to_cells()
                return 0
            region.on_stack = True
            for low, high in region.intervals():
                self.needs(stack, region, low, high)
                if not region.on_stack:
                    return 0
            if len(stack) > before:
                return 0
        region.on_stack = True
        try:
            self.run_region(region)
        except Needs as needs:
            self.meet(stack, task, needs.wanted)
        return 0

    cdef int step_cells(self, list stack, Task task) except -1:
        """Go on with rows of a region that goes cell by cell: its only row, or the next of them."""
        cdef Region region = task.region
        cdef Py_ssize_t row = task.low, before
        if task.low < task.high:
            while task.cursor <= min(task.high, region.last):
                row = task.cursor
                task.cursor += 1
                if row >= region.first and region.states_view[row - region.first] == DIRTY:
                    return self.push(stack, region, row, row, task.demanded)
            stack.pop()
            return 0
        if not task.expanded:
            if not task.demanded and region.states_view[row - region.first] != DIRTY:
                stack.pop()
                return 0
            task.expanded = True
            if not task.demanded:
                region.states_view[row - region.first] = WAITING
                before = len(stack)
                self.needs(stack, region, row, row)
                if len(stack) != before:
                    return 0
        region.states_view[row - region.first] = RUNNING
        task.running = True
        try:
            self.run_cell(region, row)
        except Needs as needs:
            self.meet(stack, task, needs.wanted)
        return 0

    cdef int meet(self, list stack, Task task, list wanted) except -1:
        """Put on the stack what a task's calculation asked for: the first of it on top, and nothing behind a cell that
        is asked for itself. So it is the formulas that decide which cells make a cycle, not where the calculation began."""
        cdef Region region
        cdef Py_ssize_t low, high, row
        cdef uint8_t state
        cdef bint closes = False
        cdef list found = []
        for region, low, high in wanted:
            if region.fills:
                low = high = region.first  # all that an array formula fills is one value
            if region.states is None:
                if region.on_stack:
                    return self.untangle(stack, region)
                found.append(Task(region, low, high, task.demanded))
                continue
            for row in range(low, high + 1):
                state = region.states_view[row - region.first]
                if state == RUNNING:
                    if not found:
                        return self.close_cycle(stack, region, row)
                    closes = True
                    break
                if state != CLEAN:
                    found.append(Task(region, row, row, task.demanded or state == WAITING))
            if closes:
                break
        found.reverse()
        stack.extend(found)
        return 0

    cdef int untangle(self, list stack, Region region) except -1:
        """Regions need each other: take those from `region` up the stack apart, and go on from there."""
        cdef Task task
        cdef Py_ssize_t at = 0, place
        cdef Region other
        while (<Task> stack[at]).region is not region or not (<Task> stack[at]).expanded:
            at += 1
        for place in range(at, len(stack)):
            task = <Task> stack[place]
            other = task.region
            if task.expanded and other.states is None:
                other.split_to_cells()
        task = <Task> stack[at]
        self.cut(stack, at)
        self.push(stack, region, task.low, task.high, False)
        return 0

    cdef int cut(self, list stack, Py_ssize_t at) except -1:
        """Take tasks off the stack from a place on. Their cells wait as before, and may be put there again."""
        cdef Task task
        cdef Py_ssize_t place
        for place in range(at, len(stack)):
            task = <Task> stack[place]
            if not task.expanded:
                continue
            if task.region.states is None:
                task.region.on_stack = False
            elif task.low == task.high and task.region.states_view[task.low - task.region.first] != CLEAN:
                task.region.states_view[task.low - task.region.first] = DIRTY
        del stack[at:]
        return 0

    cdef int close_cycle(self, list stack, Region region, Py_ssize_t row) except -1:
        """A calculation came back to a cell: all from there on keep the values they have.

        It is a cycle only if each of them asked for the next one. What was put on the stack on suspicion is taken off
        again, and the cell below it, or each cell of the region, calculated at once: it says what it really needs.
        """
        cdef Task task
        cdef Py_ssize_t at = len(stack) - 1, place, low, high
        cdef list cells = []
        while True:
            task = <Task> stack[at]
            if task.running and task.region is region and task.low == row:
                break
            at -= 1
        for place in range(at, len(stack)):
            task = <Task> stack[place]
            if not task.expanded:
                continue
            if task.region.states is None or not task.running:
                other, low, high = task.region, task.low, task.high
                self.cut(stack, place)
                (<Region> other).split_to_cells()
                return self.push(stack, <Region> other, low, high, True)
            cells.append(task)
        self.cut(stack, at)
        for task in cells:
            self.keep(task.region, task.low)
        self.cycles.append([(task.region.cells.index, task.low, task.region.left) for task in cells])
        return 0

    def keep(self, Region region, Py_ssize_t row):
        """Let a cell keep its value; 0 where it has none."""
        cdef CellColumn column = region.cells.column(region.left)
        if column.kinds_view[row - column.base] == BLANK:
            column.put(row, NUMBER, 0.0, -1)
        self.touched.append((region, row, row))
        region.finish_cell(row)

    # Running

    cdef int run_region(self, Region region) except -1:
        """Calculate all rows of a region that wait."""
        cdef Shape shape = region.shape
        cdef Py_ssize_t low, high
        cdef list intervals = region.intervals()
        if not shape.ready:
            prepare(shape, self.environment)
        if region.fills:
            self.run_filling(region)
        elif shape.carried:
            for low, high in intervals:
                self.touched.append((region, low, high))
            region.clear()
        else:
            for at in range(len(intervals)):
                low, high = intervals[at]
                region.set_intervals(intervals[at:])
                if high - low + 1 < PLAN_ROWS_MIN or not self.run_plan(region, low, high):
                    self.run_rows(region, low, high)
                self.touched.append((region, low, high))
            region.clear()
        region.on_stack = False
        return 0

    cdef int run_rows(self, Region region, Py_ssize_t low, Py_ssize_t high) except -1:
        """Calculate rows one by one; those that are done wait no more."""
        cdef Py_ssize_t row
        if region.order == BELOW:
            for row in range(high, low - 1, -1):
                self.write(region, row, self.computed(region, row))
                region.high = row - 1
        else:
            for row in range(low, high + 1):
                self.write(region, row, self.computed(region, row))
                region.low = row + 1
        return 0

    cdef object computed(self, Region region, Py_ssize_t row):
        """The value of one formula cell; a fault of the engine or a limit is a value too, and noted."""
        cdef BookEnvironment environment = self.environment
        cdef Shape shape = region.shape
        environment.stand(region.cells, row, region.left)
        if shape.program is None:
            return shape.value
        try:
            return shape.program.run(environment)
        except Failure as failure:
            return failure.error
        except LimitExceeded as limit:
            if monotonic() > environment.deadline:
                raise
            self.faults.append((region, row, limit.message))
        except ContextError as error:
            self.faults.append((region, row, error.message))
            return region.cells.value(row, region.left, environment.pool)
        except FormulaError as error:
            self.faults.append((region, row, error.message))
        except Exception as error:
            self.faults.append((region, row, f"{type(error).__name__}: {error}"))
        return VALUE

    cdef int write(self, Region region, Py_ssize_t row, object value) except -1:
        cdef CellColumn column = <CellColumn> region.cells.columns[region.left]
        cdef tuple form
        if type(value) is float and value - value == 0:
            if self.precision is not None:
                value = self.precision.number(region.cells.index, row, region.left, value)
            column.put(row, NUMBER, value, -1)
            return 0
        form = stored_form(0.0 if value is None else value, self.environment.pool)
        if form[0] == BLANK:
            form = (NUMBER, 0.0, -1)
        column.put(row, form[0], form[1], form[2])
        if self.precision is not None:
            self.precision.round_cells(region.cells, region.left, row, row)
        return 0

    cdef int run_cell(self, Region region, Py_ssize_t row) except -1:
        if not region.shape.ready:
            prepare(region.shape, self.environment)
        if region.fills:
            return self.run_filling(region)
        if not region.shape.carried:
            self.write(region, row, self.computed(region, row))
        self.touched.append((region, row, row))
        region.finish_cell(row)
        return 0

    cdef int run_filling(self, Region region) except -1:
        if region.shape.data_table is not None:
            self.data_tables.append(region)
            region.clear()
            return 0
        if not region.shape.carried:
            value = self.computed(region, region.first)
            self.overflow.extend(self.filling.fill(region, value))
        else:
            region.clear()
        self.touched.append((region, region.first, region.last))
        return 0

    cdef int run_plan(self, Region region, Py_ssize_t low, Py_ssize_t high) except -1:
        """Calculate rows as whole columns; whether that could be done."""
        cdef BookEnvironment environment = self.environment
        cdef CellColumn column = <CellColumn> region.cells.columns[region.left]
        cdef Span found, into
        cdef Py_ssize_t rows = high - low + 1, to = low - column.base
        cdef const uint8_t[::1] kinds
        cdef const double[::1] numbers
        cdef const int32_t[::1] codes
        environment.stand(region.cells, low, region.left)
        if not region.shape.planned:
            look_for_plan(region.shape, environment)
        if region.shape.plan is None or (self.precision is not None and region.order != FREE):
            return 0
        environment.planned = region
        into = Span(column.kinds[to : to + rows], column.numbers[to : to + rows], column.codes[to : to + rows])
        try:
            found = region.shape.plan.run(environment, low, region.left, rows, into)
        except Exception:
            if monotonic() > environment.deadline:
                raise
            found = None  # the rows tell which of them, and why
        finally:
            environment.planned = None
        if found is None:
            return 0
        kinds, numbers, codes = found.kinds, found.numbers, found.codes
        assert len(kinds) == rows
        if &kinds[0] != &column.kinds_view[to]:
            memcpy(&column.kinds_view[to], &kinds[0], rows)
            memcpy(&column.numbers_view[to], &numbers[0], rows * sizeof(double))
            memcpy(&column.codes_view[to], &codes[0], rows * sizeof(int32_t))
        if self.precision is not None:
            self.precision.round_cells(region.cells, region.left, low, high)
        return 1

    def take_data_tables(self):
        """The data tables that were met since the last time, and wait for their values to be tried."""
        found, self.data_tables = list(dict.fromkeys(self.data_tables)), []
        return found

    def take(self):
        """What was calculated since the last time: (touched, cycles, faults); and (rectangles) what array formulas
        changed beside their cells."""
        found = self.touched, self.cycles, self.faults, self.overflow
        self.touched, self.cycles, self.faults, self.overflow = [], [], [], []
        return found
