"""Counting and adding the rows that meet criteria: by group, by rows in order, or row after row."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

import numpy as np

from core.formula.values.criteria cimport (
    A_BOOLEAN, A_NUMBER, A_TEXT, AN_ERROR, EQUAL, GREATER as GREATER_THAN, LESS as LESS_THAN, LESS_EQUAL, UNEQUAL,
    Criterion, meets,
)
from core.formula.ranges.environment cimport Environment
from core.formula.ranges.index cimport NO_KEY, Groups, Vector, corners_of, groups_of, key_of_text
from core.formula.values.value cimport Array, Error, TextPool
from core.values cimport BLANK, DATE, ERROR, NUMBER, TEXT

from core.formula.ranges.environment import CELLS_MAX
from core.formula.ranges.index import INDEX_AFTER
from core.formula.values.value import VALUE, Failure

ORDER_ROWS_MIN = 256
ORDER_AFTER = 16
"""From how many rows, and after how many questions, a range is put in order, which costs a sort."""

ORDERED_ROWS_MAX = 4_000_000
"""Rows in all ordered indexes together, of about 100 bytes each; further ranges are tested row by row."""


cdef class Aggregates:
    """Over the groups of one range: count, sum and extremes of another range's numbers, and its first error's row."""

    def __init__(self, Groups groups, Vector values):
        cdef Py_ssize_t row, size = min(groups.vector.size, values.size)
        cdef int32_t group
        cdef double number
        cdef uint8_t kind
        self.groups = groups
        self.values = values
        self.sums = np.zeros(groups.count)
        self.smallest = np.full(groups.count, np.inf)
        self.largest = np.full(groups.count, -np.inf)
        self.numbers = np.zeros(groups.count, np.int64)
        self.error_rows = np.full(groups.count, -1, np.int32)
        with nogil:
            for row in range(size):
                kind = values.kinds[row]
                group = groups.group_at(row)
                if kind == NUMBER or kind == DATE:
                    number = values.numbers[row]
                    self.sums[group] += number
                    self.numbers[group] += 1
                    if number < self.smallest[group]:
                        self.smallest[group] = number
                    if number > self.largest[group]:
                        self.largest[group] = number
                elif kind == ERROR and self.error_rows[group] < 0:
                    self.error_rows[group] = row


cdef token_of(Environment environment, Array array, Py_ssize_t column):
    """An object that stands for the present cells of a column of a range: it goes when they are edited."""
    if array is None:
        return None
    key = corners_of(environment, array, column, False, "token")
    held = environment.indexes.get(key)
    if held is None:
        held = environment.indexes[key] = object()
    return held


cdef tuple _held(Environment environment, str kind, list arrays, Py_ssize_t column):
    """Where an index over a column of each of several ranges (some None) is kept, and what it must show to be valid."""
    cdef Array array
    for array in arrays:
        if array is not None and array.reference is None:
            return None, None
    if environment.indexes is None:
        return None, None
    others = tuple([None if array is None else corners_of(environment, array, column, False, "") for array in arrays[1:]])
    tokens = tuple([token_of(environment, array, column) for array in arrays])
    return corners_of(environment, arrays[0], column, False, (kind, others)), tokens


cdef Aggregates aggregates_of(Environment environment, Groups groups, Array range_, Array values, Py_ssize_t column):
    """The sums of a column of values by the groups of a column of a range; None where they cannot be kept."""
    if groups.last_sums is not None and values.reference is not None and environment.indexes is not None and (
            groups.last_sums[0] is token_of(environment, values, column)):
        return groups.last_sums[1]
    key, tokens = _held(environment, "sums", [range_, values], column)
    if key is None:
        return None
    held = environment.indexes.get(key)
    if held is None or held[0] != tokens:
        held = environment.indexes[key] = (tokens, Aggregates(groups, Vector(values, column)))
    groups.last_sums = (tokens[1], held[1])
    return held[1]


cdef class Ordered:
    """The rows whose cell is a number, by group and number, with running counts, sums and extremes of other cells.

    Running forward and backward from both ends of each group, so that no sum is a difference of two.
    """

    def __init__(self, Vector numbers, Groups groups, Vector values):
        kinds = np.asarray(numbers.kinds)
        rows = np.flatnonzero((kinds == NUMBER) | (kinds == DATE))
        sorted_numbers = np.asarray(numbers.numbers)[rows]
        order = np.argsort(sorted_numbers)
        if groups is None:
            self.starts = np.array([0, len(rows)], np.int64)
        else:
            order = self._by_group(rows[order], order, groups)
        self.numbers = np.ascontiguousarray(sorted_numbers[order])
        self.rows = rows[order].astype(np.int64)
        self.values = values
        self.forward = self.backward = None

    cdef _by_group(self, int64_t[::1] rows, int64_t[::1] order, Groups groups):
        """An order by number as one by group and number; rows beyond the groups' own fall away."""
        cdef Py_ssize_t place, size = groups.vector.size
        cdef int64_t[::1] starts = np.zeros(groups.count + 1, np.int64), ends
        cdef int64_t[::1] out
        cdef int32_t group
        for place in range(rows.shape[0]):
            if rows[place] < size:
                starts[groups.group_at(rows[place]) + 1] += 1
        self.starts = np.cumsum(starts)
        ends = np.array(self.starts)
        out = np.empty(self.starts[groups.count], np.int64)
        for place in range(rows.shape[0]):
            if rows[place] < size:
                group = groups.group_at(rows[place])
                out[ends[group]] = order[place]
                ends[group] += 1
        return np.asarray(out)

    cdef double[:, ::1] _run(self, int step):
        """Columns: count, sum, smallest, largest, first error's row (-1 for none), from one end of each group on."""
        cdef Py_ssize_t group, place, first, last, size = self.rows.shape[0]
        cdef double[:, ::1] out = np.empty((size, 5))
        cdef double count, total, smallest, largest, error, number
        cdef uint8_t kind
        cdef int64_t row
        with nogil:
            for group in range(self.starts.shape[0] - 1):
                count, total, smallest, largest, error = 0, 0, INFINITY, -INFINITY, -1
                first, last = self.starts[group], self.starts[group + 1] - 1
                if step < 0:
                    first, last = last, first
                place = first
                while (place <= last) if step > 0 else (place >= last):
                    row = self.rows[place]
                    kind = self.values.kinds[row] if row < self.values.size else BLANK
                    if kind == NUMBER or kind == DATE:
                        number = self.values.numbers[row]
                        count += 1
                        total += number
                        smallest, largest = min(smallest, number), max(largest, number)
                    elif kind == ERROR and (error < 0 or row < error):
                        error = row
                    out[place, 0], out[place, 1], out[place, 2], out[place, 3] = count, total, smallest, largest
                    out[place, 4] = error
                    place += step
        return out

    cdef take(self, Tally result, Criterion criterion, int32_t group):
        """Add the rows of a group whose number meets a criterion of order."""
        cdef Py_ssize_t low = self.starts[group], high = self.starts[group + 1], first = low, last = high, middle
        cdef bint after = criterion.operator == LESS_EQUAL or criterion.operator == GREATER_THAN
        while low < high:
            middle = (low + high) // 2
            if self.numbers[middle] < criterion.number or (after and self.numbers[middle] == criterion.number):
                low = middle + 1
            else:
                high = middle
        if criterion.operator == LESS_THAN or criterion.operator == LESS_EQUAL:
            if low > first:
                result.rows += low - first
                if self.values is not None:
                    if self.forward is None:
                        self.forward = self._run(1)
                    result._take_run(self.forward[low - 1], self.values)
        elif low < last:
            result.rows += last - low
            if self.values is not None:
                if self.backward is None:
                    self.backward = self._run(-1)
                result._take_run(self.backward[low], self.values)


cdef Py_ssize_t _rows_held(Environment environment) except -1:
    """Rows in all the ordered indexes that are kept."""
    cdef Py_ssize_t rows = 0
    for held in environment.indexes.values():
        if isinstance(held, tuple) and len(<tuple> held) == 3 and held[2] is not None:
            rows += (<Ordered> held[2]).rows.shape[0]
    return rows


cdef Ordered ordered_of(Environment environment, Groups groups, Array grouped, Array tested, Array values,
                        Py_ssize_t column, Py_ssize_t uses):
    """The ordered rows for a criterion of order beside one of equality (or none); None while they do not pay."""
    if tested.rows < ORDER_ROWS_MIN:
        return None
    key, tokens = _held(environment, "order", [tested, grouped, values], column)
    if key is None:
        return None
    held = environment.indexes.get(key)
    if held is None or held[0] != tokens:
        held = (tokens, 0, None)
    if held[2] is None:
        used = held[1] + uses
        made = None
        if used >= ORDER_AFTER and _rows_held(environment) + tested.rows <= ORDERED_ROWS_MAX:
            made = Ordered(Vector(tested, column), groups, vector_at(values, column))
        held = environment.indexes[key] = (tokens, used, made)
    return held[2]


cdef class Tally:
    """What the rows that meet all criteria add up to.

    `rows` counts them; `numbers`, `sum`, `smallest` and `largest` are of the numbers among their values; `error` is
    the code of the first error among their values, -1 without one.
    """

    def __init__(self):
        self.smallest = np.inf
        self.largest = -np.inf
        self.error = -1

    cdef _take(self, Vector values, Py_ssize_t row):
        cdef uint8_t kind
        cdef double number
        self.rows += 1
        if values is None or row >= values.size:
            return
        kind = values.kinds[row]
        if kind == NUMBER or kind == DATE:
            number = values.numbers[row]
            self.numbers += 1
            self.sum += number
            if number < self.smallest:
                self.smallest = number
            if number > self.largest:
                self.largest = number
        elif kind == ERROR and (self.error < 0 or row < self.error_row):
            self.error = <int> values.numbers[row]
            self.error_row = row

    cdef _take_run(self, double[::1] run, Vector values):
        self.numbers += <int64_t> run[0]
        self.sum += run[1]
        self.smallest = min(self.smallest, run[2])
        self.largest = max(self.largest, run[3])
        if run[4] >= 0 and (self.error < 0 or run[4] < self.error_row):
            self.error_row = <Py_ssize_t> run[4]
            self.error = <int> values.numbers[self.error_row]

    cdef _take_group(self, Aggregates aggregates, int32_t group):
        cdef int32_t row = aggregates.error_rows[group]
        self.numbers += aggregates.numbers[group]
        self.sum += aggregates.sums[group]
        self.smallest = min(self.smallest, aggregates.smallest[group])
        self.largest = max(self.largest, aggregates.largest[group])
        if row >= 0 and (self.error < 0 or row < self.error_row):
            self.error = <int> aggregates.values.numbers[row]
            self.error_row = row


cdef Array _cells_of(cells):
    """A range argument: cells of a sheet, #VALUE! for anything else."""
    if isinstance(cells, Array) and (<Array> cells).reference is not None:
        return cells
    raise Failure(cells if isinstance(cells, Error) else VALUE)


def ranges_many(values, tuple ranges):
    """The tested ranges and the values of the functions with many criteria; #VALUE! for unequal shapes, which are those
    that were asked for: whole columns are cut at the used cells."""
    cdef Array numbers = None if values is None else _cells_of(values)
    cdef list tested = [_cells_of(each) for each in ranges]
    cdef Array cells, first = tested[0] if numbers is None and tested else numbers
    for cells in tested:
        if (cells.reference.bottom - cells.reference.top != first.reference.bottom - first.reference.top
                or cells.reference.right - cells.reference.left != first.reference.right - first.reference.left):
            raise Failure(VALUE)
    return tested, numbers


def tally_many(Environment environment, values, tuple pairs):
    """The Tally of the functions with many criteria, given as pairs of a range and its criterion."""
    if len(pairs) % 2:
        raise Failure(VALUE)
    tested, numbers = ranges_many(values, pairs[::2])
    criteria = [Criterion(criterion, date_1904=environment.date_1904) for criterion in pairs[1::2]]
    return tally(environment, tested, criteria, numbers)


def tally(Environment environment, list ranges, list criteria, Array values=None, Py_ssize_t uses=1):
    """The Tally of the rows (cells, where the ranges have columns) in which each range's cell meets its criterion.

    The ranges and values have one shape; those cut at the end of their sheet's used cells count as blank beyond.
    """
    cdef Tally result = Tally()
    cdef list arrays = ranges if values is None else [*ranges, values]
    cdef Py_ssize_t column, columns = max([(<Array> array).columns for array in arrays])
    cdef Py_ssize_t rows = max([(<Array> array).rows for array in arrays])
    cdef Array first = ranges[0]
    for column in range(columns):
        environment.spend(min(rows, <Py_ssize_t> CELLS_MAX))
        _tally_column(environment, result, ranges, criteria, values, column, rows, uses)
    if first.reference is not None:
        beyond = first.reference.rows * first.reference.columns - rows * columns
        if beyond > 0 and all([(<Criterion> criterion).matches_kind(BLANK, 0) for criterion in criteria]):
            result.rows += beyond
    return result


def tally_group(Environment environment, Groups groups, Array range_, Array values, int32_t group):
    """The Tally of one group of a one-column range."""
    cdef Tally result = Tally()
    groups._count_rows()
    if group >= 0:
        _walk(environment, result, groups, [group], 0, [range_], [None], values, 0)
    return result


cdef _tally_column(Environment environment, Tally result, list ranges, list criteria, Array values,
                   Py_ssize_t column, Py_ssize_t rows, Py_ssize_t uses):
    cdef Py_ssize_t index, best = -1, size, smallest = rows + 1, asked
    cdef Groups groups, best_groups = None
    cdef list members, best_members = None
    cdef Criterion criterion
    cdef Array range_
    cdef int32_t group
    for index in range(len(ranges)):
        criterion, range_ = criteria[index], ranges[index]
        if criterion.operator != EQUAL or column >= range_.columns:
            continue
        # To look at the texts of all rows once takes as long as to index them.
        asked = uses if criterion.operand != A_TEXT else max(uses, <Py_ssize_t> INDEX_AFTER)
        groups = groups_of(environment, range_, column, False, asked)
        members = None if groups is None else groups.members(criterion)
        if members is not None:
            groups._count_rows()
            size = 0
            for group in members:
                size += groups.starts[group + 1] - groups.starts[group]
            if size < smallest:
                best, smallest, best_groups, best_members = index, size, groups, members
    if _in_order(environment, result, best_groups, best_members, best, ranges, criteria, values, column, uses):
        return
    if best < 0:
        _scan(result, ranges, criteria, values, column, rows)
    else:
        _walk(environment, result, best_groups, best_members, best, ranges, criteria, values, column)


cdef bint _in_order(Environment environment, Tally result, Groups groups, list members, Py_ssize_t known, list ranges,
                    list criteria, Array values, Py_ssize_t column, Py_ssize_t uses) except -1:
    """Answer one criterion of order on numbers, alone or beside one of equality, from rows in order; False if not so."""
    cdef Py_ssize_t place = 0 if known != 0 else 1
    cdef Criterion criterion
    cdef Array tested
    cdef Ordered ordered
    cdef int32_t group
    if len(ranges) != (1 if known < 0 else 2):
        return False
    criterion, tested = criteria[place], ranges[place]
    if criterion.operand != A_NUMBER or criterion.operator <= UNEQUAL or column >= tested.columns:
        return False
    if values is not None and column >= values.columns:
        return False
    ordered = ordered_of(environment, groups, None if known < 0 else ranges[known], tested, values, column, uses)
    if ordered is None:
        return False
    for group in [0] if known < 0 else members:
        ordered.take(result, criterion, group)
    return True


cdef Vector vector_at(Array array, Py_ssize_t column):
    """A column of an array; None beyond its columns (cut at the used cells: all blank)."""
    return None if array is None or column >= array.columns else Vector(array, column)


cdef _walk(Environment environment, Tally result, Groups groups, list members, Py_ssize_t known, list ranges,
           list criteria, Array values, Py_ssize_t column):
    """Go through the rows of the groups that meet one criterion, and test the others."""
    cdef list tests = [
        RowTest(criteria[index], vector_at(ranges[index], column)) for index in range(len(ranges)) if index != known
    ]
    cdef Vector numbers
    cdef Aggregates sums
    cdef int32_t group, place, row
    cdef Py_ssize_t index, count = len(tests)
    cdef bint met
    if count == 0:
        sums = None if values is None or column >= values.columns else aggregates_of(
            environment, groups, ranges[known], values, column)
        if values is None or sums is not None:
            for group in members:
                result.rows += groups.starts[group + 1] - groups.starts[group]
                if sums is not None:
                    result._take_group(sums, group)
            return
    numbers = vector_at(values, column)
    groups._sort_rows()
    for group in members:
        for place in range(groups.starts[group], groups.starts[group + 1]):
            row = groups.rows[place]
            met = True
            for index in range(count):
                if not (<RowTest> tests[index]).at(row):
                    met = False
                    break
            if met:
                result._take(numbers, row)


cdef _scan(Tally result, list ranges, list criteria, Array values, Py_ssize_t column, Py_ssize_t rows):
    """Test every row."""
    cdef uint8_t[::1] mask = np.ones(rows, np.uint8)
    cdef Vector numbers = vector_at(values, column)
    cdef Py_ssize_t index, row
    for index in range(len(ranges)):
        (<RowTest> RowTest(criteria[index], vector_at(ranges[index], column))).restrict(mask)
    for row in range(rows):
        if mask[row]:
            result._take(numbers, row)


cdef class RowTest:
    """A criterion on a vector, its verdict on each distinct text remembered. A row beyond the vector is blank."""

    def __init__(self, Criterion criterion, Vector vector):
        cdef uint64_t key
        self.criterion = criterion
        self.vector = vector
        self.size = 0 if vector is None else vector.size
        self.operator, self.operand, self.wanted = criterion.operator, criterion.operand, criterion.number
        self.folded = -1
        self.verdicts = None
        if vector is None:
            return
        if criterion.operand == A_TEXT and criterion.operator == EQUAL:
            vector.pool.fold_all()
            key = key_of_text(criterion.text, vector.pool)
            self.folded = -2 if key == NO_KEY else <int64_t> (key & <uint64_t> 0xFFFF_FFFF)

    cdef bint text_at(self, int32_t code) except -1:
        cdef TextPool pool = self.vector.pool
        cdef uint8_t verdict
        if self.folded != -1:
            return self.folded == pool.entries[code].folded
        if self.verdicts is None:
            self.verdicts = np.full(len(pool), 2, np.uint8)
        verdict = self.verdicts[code]
        if verdict == 2:
            verdict = self.verdicts[code] = self.criterion.matches_text(pool.text(code))
        return verdict

    cdef bint at(self, Py_ssize_t row) except -1:
        """Whether the cell of a row meets the criterion."""
        cdef uint8_t kind = self.vector.kinds[row] if row < self.size else BLANK
        if kind == TEXT:
            return self.text_at(self.vector.codes[row])
        return meets(self.operator, self.operand, self.wanted, kind, self.vector.numbers[row] if row < self.size else 0)

    cdef restrict(self, uint8_t[::1] mask):
        """Clear the rows of a mask that do not meet the criterion."""
        cdef Py_ssize_t row, size = min(self.size, mask.shape[0])
        cdef uint8_t kind
        cdef Vector vector = self.vector
        cdef bint constant = self.folded == -1 and self.operand in (A_NUMBER, A_BOOLEAN, AN_ERROR) and not (
            self.operand == A_NUMBER and self.operator == EQUAL)
        with nogil:
            for row in range(size):
                kind = vector.kinds[row]
                if kind != TEXT:
                    mask[row] &= meets(self.operator, self.operand, self.wanted, kind, vector.numbers[row])
                elif constant:
                    mask[row] &= self.operator == UNEQUAL
            if not meets(self.operator, self.operand, self.wanted, BLANK, 0):
                for row in range(size, mask.shape[0]):
                    mask[row] = 0
        if not constant:
            for row in range(size):
                if mask[row] and vector.kinds[row] == TEXT:
                    mask[row] = self.text_at(vector.codes[row])
