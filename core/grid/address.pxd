"""The extents of a sheet for compiled modules; `core.formula.language.parser` asserts that they are those of `address`."""

cdef enum:
    SHEET_ROWS = 1_048_576
    SHEET_COLUMNS = 16_384
