"""`core.values.Kind` for compiled modules; `core.formula.values.value` asserts that both say the same."""

cdef enum:
    BLANK = 0
    NUMBER = 1
    TEXT = 2
    BOOLEAN = 3
    ERROR = 4
    DATE = 5
