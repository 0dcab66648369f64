"""The nodes of a parsed formula; declarations for the other compiled modules."""


cdef class Node:
    cdef readonly int start
    cdef readonly int end


cdef class Literal(Node):
    cdef readonly object value


cdef class Empty(Node):
    pass


cdef class Cell(Node):
    cdef readonly str sheet
    cdef readonly str last_sheet
    cdef readonly Py_ssize_t row
    cdef readonly Py_ssize_t column
    cdef readonly bint row_absolute
    cdef readonly bint column_absolute


cdef class Area(Node):
    cdef readonly str sheet
    cdef readonly str last_sheet
    cdef readonly Cell first
    cdef readonly Cell last
    cdef readonly bint whole_columns
    cdef readonly bint whole_rows


cdef class Name(Node):
    cdef readonly str sheet
    cdef readonly str name


cdef class Structured(Node):
    cdef readonly str table
    cdef readonly tuple items
    cdef readonly str first
    cdef readonly str last


cdef class Spill(Node):
    cdef readonly Node operand


cdef class Unary(Node):
    cdef readonly str operator
    cdef readonly Node operand


cdef class Binary(Node):
    cdef readonly str operator
    cdef readonly Node left
    cdef readonly Node right


cdef class Call(Node):
    cdef readonly str name
    cdef readonly tuple arguments


cdef class Invoke(Node):
    cdef readonly Node callee
    cdef readonly tuple arguments


cdef class ArrayLiteral(Node):
    cdef readonly tuple rows
