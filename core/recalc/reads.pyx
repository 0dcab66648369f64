"""What a formula reads, told from its tree: ranges relative to its cell, and whether they can be told at all."""

from core.formula.functions import FUNCTIONS
from core.formula.language.tree cimport Area, Binary, Call, Cell, Invoke, Name, Node, Spill, Structured, Unary
from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS
from core.recalc.regions cimport Read, Region

cdef frozenset _VOLATILE = frozenset(
    ("OFFSET", "INDIRECT", "RAND", "RANDBETWEEN", "RANDARRAY", "NOW", "TODAY", "CELL", "INFO"))
"""Functions whose value may change although nothing that the formula names has changed."""

cdef frozenset _STRETCHED = frozenset(("SUMIF", "AVERAGEIF"))
"""Functions whose third range is taken as large as the first, whatever its second corner says."""


cdef class Range:
    """A range that a formula names. A bound that is not fixed is a distance from the formula's own cell; `sheet` None
    is its own, `last_sheet` is set for a run of sheets. `partly`: only some of its cells are read, as a lookup does, or
    none, as OFFSET."""

    cdef readonly str sheet, last_sheet
    cdef Py_ssize_t top, left, bottom, right
    cdef bint top_fixed, left_fixed, bottom_fixed, right_fixed
    cdef readonly bint partly

    def __init__(self, str sheet, str last_sheet, Py_ssize_t top, bint top_fixed, Py_ssize_t left, bint left_fixed,
                 Py_ssize_t bottom, bint bottom_fixed, Py_ssize_t right, bint right_fixed):
        self.sheet, self.last_sheet = sheet, last_sheet
        self.top, self.left, self.bottom, self.right = top, left, bottom, right
        self.top_fixed, self.left_fixed = top_fixed, left_fixed
        self.bottom_fixed, self.right_fixed = bottom_fixed, right_fixed

    @property
    def fixed(self):
        """Whether it is the same range for every cell."""
        return self.top_fixed and self.left_fixed and self.bottom_fixed and self.right_fixed


cdef class Reads:
    """What a formula reads: the `ranges`, and three things that make it special.

    `volatile`: its value can change without an edit of what it names, or only its calculation tells what it reads.
    `external`: it refers to another workbook. `placed`: what it reads depends on the table that its cell is in.
    """

    cdef readonly list ranges
    cdef readonly bint volatile, external, placed

    def __cinit__(self):
        self.ranges = []

    cdef int add(self, Range found, bint partly=False) except -1:
        found.partly = partly
        if found.sheet is not None and u"[" in found.sheet:
            self.external = True
        self.ranges.append(found)
        return 0


def reads_of(Node tree, names):
    """The ranges that a formula reads, directly and through names.

    `names.meaning(sheet, name)` is the tree of a defined name (None where it is not defined), `names.table_range(node)`
    the Range of a structured reference (None where it means nothing).
    """
    cdef Reads found = Reads.__new__(Reads)
    cdef set seen = None
    cdef list waiting = [tree]  # nodes; in a tuple the argument of a function that reads a part of it
    cdef Node node
    cdef bint partly
    while waiting:
        item = waiting.pop()
        partly = type(item) is tuple
        node = <Node> ((<tuple> item)[0] if partly else item)
        if isinstance(node, Cell):
            found.add(_cell(<Cell> node, (<Cell> node).sheet, (<Cell> node).last_sheet), partly)
        elif isinstance(node, Binary):
            # Between two computed references stands a range that only the calculation tells.
            if (<Binary> node).operator == u":":
                found.volatile = True
            waiting.append((<Binary> node).left)
            waiting.append((<Binary> node).right)
        elif isinstance(node, Area):
            found.add(_area(<Area> node), partly)
        elif isinstance(node, Call):
            _call(found, <Call> node, waiting)
        elif isinstance(node, Unary):
            waiting.append((<Unary> node).operand)
        elif isinstance(node, Name):
            key = ((<Name> node).sheet, (<Name> node).name.casefold(), partly)
            if seen is None:
                seen = set()
            if key not in seen:
                seen.add(key)
                if (<Name> node).sheet is not None and u"[" in (<Name> node).sheet:
                    found.external = True
                meaning = names.meaning((<Name> node).sheet, (<Name> node).name)
                if meaning is not None:
                    waiting.append((meaning,) if partly else meaning)
        elif isinstance(node, Structured):
            if (<Structured> node).table is None:
                found.placed = True
            span = names.table_range(node)
            if span is not None:
                found.add(<Range?> span, partly)
        elif isinstance(node, Spill):
            waiting.append((<Spill> node).operand)
        elif isinstance(node, Invoke):
            waiting.append((<Invoke> node).callee)
            waiting.extend((<Invoke> node).arguments)
    return found


cdef int _call(Reads found, Call node, list waiting) except -1:
    function = FUNCTIONS.get(node.name)
    if node.name in _VOLATILE or (function is not None and function.volatile):
        found.volatile = True
    if function is None:
        waiting.append(Name(None, node.name))  # a LAMBDA under a name is called like a function
    elif node.name in _STRETCHED and len(node.arguments) == 3:
        _stretch(found, node.arguments[0], node.arguments[2])
    if function is None or not function.parts:
        waiting.extend(node.arguments)
        return 0
    for at, argument in enumerate(node.arguments):
        waiting.append((argument,) if at in function.parts else argument)
    return 0


cdef Range _cell(Cell node, str sheet, str last_sheet):
    return Range(sheet, last_sheet, node.row, node.row_absolute, node.column, node.column_absolute, node.row,
                 node.row_absolute, node.column, node.column_absolute)


cdef Range _area(Area node):
    cdef Cell first = node.first, last = node.last
    if node.whole_columns:
        return Range(node.sheet, node.last_sheet, 0, True, first.column, first.column_absolute, SHEET_ROWS - 1, True,
                     last.column, last.column_absolute)
    return Range(node.sheet, node.last_sheet, first.row, first.row_absolute, first.column, first.column_absolute,
                 last.row, last.row_absolute, last.column, last.column_absolute)


cdef int _stretch(Reads found, Node shape, Node summed) except -1:
    """The cells that are really summed: as many as the first range has, from the corner of the third."""
    cdef Range size, corner
    cdef Py_ssize_t bottom, right
    if isinstance(shape, Cell):
        return 0
    if not isinstance(shape, Area) or not isinstance(summed, (Cell, Area)):
        found.volatile = True
        return 0
    size = _area(<Area> shape)
    corner = _area(<Area> summed) if isinstance(summed, Area) else _cell(<Cell> summed, summed.sheet, summed.last_sheet)
    if size.top_fixed != size.bottom_fixed or size.left_fixed != size.right_fixed:
        found.volatile = True
        return 0
    bottom, right = corner.top + abs(size.bottom - size.top), corner.left + abs(size.right - size.left)
    found.add(Range(corner.sheet, corner.last_sheet, corner.top, corner.top_fixed, corner.left, corner.left_fixed,
                    bottom, corner.top_fixed, right, corner.left_fixed))
    return 0


def resolved(Reads reads, Region region, dict sheet_index):
    """The reads of a region: the ranges with their columns and sheets known, rows still relative to each cell."""
    cdef Range span
    cdef Py_ssize_t left, right, sheet, last_sheet, low, high
    cdef bint low_fixed, high_fixed
    cdef list found = []
    for span in reads.ranges:
        left = span.left if span.left_fixed else region.left + span.left
        right = span.right if span.right_fixed else region.left + span.right
        if left > right:
            left, right = right, left
        if right < 0 or left >= SHEET_COLUMNS:
            continue
        sheet = last_sheet = region.cells.index
        if span.sheet is not None:
            sheet = last_sheet = sheet_index.get(span.sheet.casefold(), -1)
            if span.last_sheet is not None:
                last_sheet = sheet_index.get(span.last_sheet.casefold(), -1)
            if sheet < 0 or last_sheet < 0:
                continue
        low, low_fixed, high, high_fixed = span.top, span.top_fixed, span.bottom, span.bottom_fixed
        if low_fixed == high_fixed:
            if low > high:
                low, high = high, low
        else:
            if high_fixed:
                low, low_fixed, high, high_fixed = high, True, low, False
            # Now `low` is the fixed corner, `high` the moving one.
            if low >= region.last + high:
                low, low_fixed, high, high_fixed = high, False, low, True
            elif low > region.first + high:
                # The moving corner passes the fixed one: all that any of the rows reads.
                low, high, high_fixed = max(0, region.first + high), min(region.last + high, SHEET_ROWS - 1), True
        for sheet in range(min(sheet, last_sheet), max(sheet, last_sheet) + 1):
            found.append(Read(sheet, max(0, left), min(right, SHEET_COLUMNS - 1), low, high, low_fixed, high_fixed,
                              span.partly))
    return found
