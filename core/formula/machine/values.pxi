# Part of machine.pyx: what values need on their way.

cdef inline Array _array(Py_ssize_t rows, Py_ssize_t columns, list cells, Reference reference=None):
    cdef Array array = Array.__new__(Array)
    array.rows = rows
    array.columns = columns
    array._cells = cells
    array.reference = reference
    return array


cdef inline Reference _reference(str sheet, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right):
    cdef Reference reference = Reference.__new__(Reference)
    reference.sheet = sheet
    reference.top, reference.left, reference.bottom, reference.right = top, left, bottom, right
    reference.more = ()
    return reference


cdef class _Places(Array):
    """An array of references, as a lifted call gives it; they are read where what takes them has been lifted too."""


cdef inline object _at(object value, Py_ssize_t row, Py_ssize_t column):
    """A value's element in a broadcast: one row or column stretches, what is missing is #N/A."""
    cdef Array array
    if not isinstance(value, Array):
        return ERROR_CALC if isinstance(value, Lambda) else value
    array = <Array> value
    if array.rows == 1:
        row = 0
    elif row >= array.rows:
        return ERROR_NA
    if array.columns == 1:
        column = 0
    elif column >= array.columns:
        return ERROR_NA
    return array.cells()[row * array.columns + column]


cdef inline object _single(object value):
    """The one value of a 1 x 1 array; anything else as it is."""
    if isinstance(value, Array) and (<Array> value).rows == 1 and (<Array> value).columns == 1:
        return (<Array> value).at(0, 0)
    return value


cdef object _cropped(object value, object other):
    """A value as it meets another: ROW(A:A) has every row of the sheet, but the cells of A:A are read to the last one
    in use; beyond those there is nothing to meet."""
    cdef Array array, beside
    cdef Py_ssize_t rows, columns, row
    cdef list cells, kept, line
    if not isinstance(value, Array) or not isinstance(other, Array):
        return value
    array, beside = <Array> value, <Array> other
    rows = beside.rows if array.rows == SHEET_ROWS and beside.rows > 1 else array.rows
    columns = beside.columns if array.columns == SHEET_COLUMNS and beside.columns > 1 else array.columns
    if rows == array.rows and columns == array.columns:
        return value
    cells = array.cells()
    if columns == array.columns:
        return _array(rows, columns, cells[: rows * columns])
    kept = [cells[row * array.columns : row * array.columns + columns] for row in range(rows)]
    return _array(rows, columns, [cell for line in kept for cell in line])


cdef object _settled(object value):
    """A body's result as a value of this engine."""
    cdef double number
    if PyFloat_CheckExact(value):
        return value if isfinite(PyFloat_AS_DOUBLE(value)) else ERROR_NUM
    if value is None or isinstance(value, (bool, Error, Reference, Lambda, Omitted)):
        return value
    if isinstance(value, str):
        return value if len(<str> value) <= TEXT_MAX else ERROR_VALUE
    if isinstance(value, Array):
        return _settled_array(<Array> value)
    if isinstance(value, Date):
        return value if isfinite(<double> value) else ERROR_NUM
    if hasattr(value, "dtype") and value.dtype.kind == "b":
        return bool(value)
    try:
        number = float(value)
    except OverflowError:
        return ERROR_NUM
    return number if isfinite(number) else ERROR_NUM


cdef object _settled_array(Array array):
    cdef Py_ssize_t at
    cdef object cell
    cdef list cells = array._cells
    if cells is None:
        return array
    for at in range(len(cells)):
        cell = cells[at]
        if not (PyFloat_CheckExact(cell) and isfinite(PyFloat_AS_DOUBLE(cell))):
            break
    else:
        return array
    cells = [_settled(cell) for cell in cells]
    return _array(array.rows, array.columns, [_single(cell) for cell in cells], array.reference)


cdef object _read(Environment environment, Reference reference):
    """The value of a reference: one cell's, or an Array."""
    if reference.more:
        return ERROR_VALUE
    if reference.top == reference.bottom and reference.left == reference.right:
        return environment.cell(reference.sheet, reference.top, reference.left)
    try:
        return environment.array(reference)
    except Failure as failure:
        return failure.error


cdef object _first(Environment environment, object value):
    """What stands for a value in one place of an array: the first cell of a reference or an array."""
    if isinstance(value, Reference):
        value = _read(environment, <Reference> value)
    return (<Array> value).at(0, 0) if isinstance(value, Array) else value


cdef object _read_array(Environment environment, Reference reference):
    """The cells of a reference as an Array, those of several areas one under the other; or an Error."""
    cdef Reference area
    cdef list cells
    try:
        if not reference.more:
            return environment.array(reference)
        cells = []
        for area in reference.areas:
            cells.extend((<Array> environment.array(area)).cells())
            environment.spend(len(cells))
    except Failure as failure:
        return failure.error
    return _array(len(cells), 1, cells, reference)


cdef object _crossing(Environment environment, Reference reference):
    """The cell of a reference in the formula's own row or column; VALUE where there is none."""
    if reference.more:
        return ERROR_VALUE
    if reference.top == reference.bottom:
        if reference.left == reference.right:
            return reference
        if reference.left <= environment.column <= reference.right:
            return Reference(reference.sheet, reference.top, environment.column, reference.top, environment.column)
    elif reference.left == reference.right and reference.top <= environment.row <= reference.bottom:
        return Reference(reference.sheet, environment.row, reference.left, environment.row, reference.left)
    return ERROR_VALUE
