"""The nodes of a parsed formula. `start` and `end` are offsets in its text, the leading '=' included.

A tree is made from its leaves up and never changes, so it holds no cycle, and the collector need not know of it: with
ten thousand formulas kept, its passes took longer than reading them.
"""

cimport cython


cdef class Node:
    """Any node."""


@cython.no_gc
cdef class Literal(Node):
    """A number, text, boolean or error written in the formula."""

    def __init__(self, value, int start=0, int end=0):
        self.value = value
        self.start = start
        self.end = end


cdef class Empty(Node):
    """An argument left empty: F(1,,2)."""

    def __init__(self, int start=0, int end=0):
        self.start = start
        self.end = end


cdef class Cell(Node):
    """A cell. A part that is not absolute is the distance from the formula's own cell, so that a filled-down formula
    is one tree; an absolute part is 0-based. `last_sheet` is set in a 3-D reference."""

    def __init__(self, str sheet, str last_sheet, Py_ssize_t row, Py_ssize_t column, bint row_absolute,
                 bint column_absolute, int start=0, int end=0):
        self.sheet = sheet
        self.last_sheet = last_sheet
        self.row = row
        self.column = column
        self.row_absolute = row_absolute
        self.column_absolute = column_absolute
        self.start = start
        self.end = end


@cython.no_gc
cdef class Area(Node):
    """A rectangle by two corners (each without a sheet of its own), as written: the corners may be in any order.

    `whole_columns` for A:C (the corners' rows are absolute, first and last of a sheet), `whole_rows` for 1:3.
    """

    def __init__(self, str sheet, str last_sheet, Cell first, Cell last, bint whole_columns=False,
                 bint whole_rows=False, int start=0, int end=0):
        self.sheet = sheet
        self.last_sheet = last_sheet
        self.first = first
        self.last = last
        self.whole_columns = whole_columns
        self.whole_rows = whole_rows
        self.start = start
        self.end = end


cdef class Name(Node):
    """A defined name, or a name bound by LET or LAMBDA; as written."""

    def __init__(self, str sheet, str name, int start=0, int end=0):
        self.sheet = sheet
        self.name = name
        self.start = start
        self.end = end


cdef class Structured(Node):
    """A structured reference. `table` None inside its own table; `items` such as ("#Headers", "#Data") or
    ("#This Row",); `first` and `last` the columns, None for all (`last` equals `first` for one)."""

    def __init__(self, str table, tuple items, str first, str last, int start=0, int end=0):
        self.table = table
        self.items = items
        self.first = first
        self.last = last
        self.start = start
        self.end = end


@cython.no_gc
cdef class Spill(Node):
    """What spilled from a cell: A1#."""

    def __init__(self, Node operand, int start=0, int end=0):
        self.operand = operand
        self.start = start
        self.end = end


@cython.no_gc
cdef class Unary(Node):
    """A sign, a percent or an implicit intersection: operator one of + - % @."""

    def __init__(self, str operator, Node operand, int start=0, int end=0):
        self.operator = operator
        self.operand = operand
        self.start = start
        self.end = end


@cython.no_gc
cdef class Binary(Node):
    """Two operands: operator one of + - * / ^ & = <> < > <= >= and, between references, `:` (range) ` ` (intersection)
    and `,` (union)."""

    def __init__(self, str operator, Node left, Node right, int start=0, int end=0):
        self.operator = operator
        self.left = left
        self.right = right
        self.start = start
        self.end = end


@cython.no_gc
cdef class Call(Node):
    """A function by name: upper case, without Excel's _xlfn. prefixes."""

    def __init__(self, str name, tuple arguments, int start=0, int end=0):
        self.name = name
        self.arguments = arguments
        self.start = start
        self.end = end


@cython.no_gc
cdef class Invoke(Node):
    """A call of a value: LAMBDA(x,x+1)(2)."""

    def __init__(self, Node callee, tuple arguments, int start=0, int end=0):
        self.callee = callee
        self.arguments = arguments
        self.start = start
        self.end = end


@cython.no_gc
cdef class ArrayLiteral(Node):
    """{1,2;3,4}: a tuple of equally long rows of values."""

    def __init__(self, tuple rows, int start=0, int end=0):
        self.rows = rows
        self.start = start
        self.end = end
