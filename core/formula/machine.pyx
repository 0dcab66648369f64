"""Runs a formula for one cell: its tree compiled to operations that call each other, with values as they are.

An operation answers three questions. `run`: the value, a reference read (one cell to its value, more to an Array).
`refer`: the Reference where the operation names cells, else the value. `supply`: what a function that takes ranges
gets, cells always as an Array with its `reference`. None of them raises for an Excel error: an Error is a value.

In a cell formula of a file from before dynamic arrays (`arrays=False`) a reference of several cells that stands where
one value is expected is cut with the formula's own row or column. That is decided here, while compiling: such a place
gets an `_Intersect`. Arrays that are no references are worked through element by element in both modes.
"""

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from libc.math cimport fabs, isfinite

from core.formula.coerce cimport add, compare, equal, power, subtract, to_logical, to_number, to_text
from core.formula.environment cimport Environment
from core.formula.tree cimport (
    Area, ArrayLiteral, Binary, Call, Cell, Empty, Invoke, Literal, Name, Node, Spill, Structured, Unary,
)
from core.formula.values cimport (
    ERROR_CALC, ERROR_DIV0, ERROR_NA, ERROR_NAME, ERROR_NULL, ERROR_NUM, ERROR_REF, ERROR_VALUE, OMITTED_VALUE, Array,
    Error, Lambda, Omitted, Reference,
)

from core.formula.catalogue import FUNCTIONS, Kind
from core.formula.errors import FormulaError, LimitExceeded, SyntaxFault, UnsupportedFunction
from core.formula.values import Date as _DateClass
from core.formula.values import Failure

cdef extern from "float.h":
    double DBL_MIN

TEXT_LENGTH_MAX = 32_767
"""Characters of a text value; a longer one is #VALUE!."""

DEPTH_MAX = 12_000
"""How deep operations may stand in one another while lambdas call lambdas; deeper is #NUM!. A factorial by recursion
reaches about 2,000."""

ROWS_MAX = 1_048_576
COLUMNS_MAX = 16_384

cdef enum:
    SHEET_ROWS = 1_048_576
    SHEET_COLUMNS = 16_384
    TEXT_MAX = 32_767
    SLOTS_OF_AN_AREA_MAX = 256

cdef long _DEPTH_MAX = DEPTH_MAX
cdef object Date = _DateClass

# The kinds of arguments as numbers; those up to ANY are lifted over arrays.
cdef enum:
    K_NUMBER
    K_INTEGER
    K_TEXT
    K_LOGICAL
    K_VALUE
    K_ANY
    K_RANGE
    K_ARRAY
    K_REFERENCE
    K_OPERAND
    K_LAMBDA

cdef dict _KINDS = {
    Kind.NUMBER: K_NUMBER, Kind.INTEGER: K_INTEGER, Kind.TEXT: K_TEXT, Kind.LOGICAL: K_LOGICAL, Kind.VALUE: K_VALUE,
    Kind.ANY: K_ANY, Kind.RANGE: K_RANGE, Kind.ARRAY: K_ARRAY, Kind.REFERENCE: K_REFERENCE, Kind.OPERAND: K_OPERAND,
    Kind.LAMBDA: K_LAMBDA,
}
assert len(_KINDS) == len(Kind)

cdef enum:
    ADD
    SUBTRACT
    MULTIPLY
    DIVIDE
    POWER

cdef enum:
    EQUAL
    UNEQUAL
    LESS
    GREATER
    AT_MOST
    AT_LEAST

cdef dict _ARITHMETIC = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "^": POWER}
cdef dict _COMPARISON = {"=": EQUAL, "<>": UNEQUAL, "<": LESS, ">": GREATER, "<=": AT_MOST, ">=": AT_LEAST}


# Values.

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


cdef inline object _at(object value, Py_ssize_t row, Py_ssize_t column):
    """A value's element in a broadcast: one row or column stretches, what is missing is #N/A."""
    cdef Array array
    if not isinstance(value, Array):
        return value
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


# Operations.

cdef class Frame:
    """The values that one LET or one call of a lambda has bound, and the frame around it."""

    def __cinit__(self, Frame parent, list values):
        self.parent = parent
        self.values = values


@cython.no_gc
cdef class Operation:
    """One step of a program."""

    cdef object run(self, Environment environment, Frame frame):
        raise NotImplementedError

    cdef object refer(self, Environment environment, Frame frame):
        return self.run(environment, frame)

    cdef object supply(self, Environment environment, Frame frame):
        value = self.refer(environment, frame)
        return _read_array(environment, <Reference> value) if isinstance(value, Reference) else value


@cython.no_gc
cdef class _Constant(Operation):
    cdef object value

    cdef object run(self, Environment environment, Frame frame):
        return self.value


cdef _Constant _constant(object value):
    cdef _Constant operation = _Constant.__new__(_Constant)
    operation.value = value
    return operation


@cython.no_gc
cdef class _Referring(Operation):
    """An operation whose own answer is `refer`."""

    cdef object run(self, Environment environment, Frame frame):
        value = self.refer(environment, frame)
        return _read(environment, <Reference> value) if isinstance(value, Reference) else value


@cython.no_gc
cdef class _Cell(_Referring):
    cdef Cell node

    cdef object run(self, Environment environment, Frame frame):
        cdef Cell node = self.node
        cdef Py_ssize_t row = node.row if node.row_absolute else node.row + environment.row
        cdef Py_ssize_t column = node.column if node.column_absolute else node.column + environment.column
        if not (0 <= row < SHEET_ROWS and 0 <= column < SHEET_COLUMNS):
            return ERROR_REF
        return environment.cell(node.sheet, row, column)

    cdef object refer(self, Environment environment, Frame frame):
        cdef Cell node = self.node
        cdef Py_ssize_t row = node.row if node.row_absolute else node.row + environment.row
        cdef Py_ssize_t column = node.column if node.column_absolute else node.column + environment.column
        if not (0 <= row < SHEET_ROWS and 0 <= column < SHEET_COLUMNS):
            return ERROR_REF
        return _reference(node.sheet, row, column, row, column)


@cython.no_gc
cdef class _Area(_Referring):
    cdef Area node

    cdef object refer(self, Environment environment, Frame frame):
        return _area_reference(self.node, environment.row, environment.column)


cdef object _area_reference(Area node, Py_ssize_t row, Py_ssize_t column):
    """The Reference that an area is for the formula of a cell; REF where it leaves the sheet."""
    cdef Cell first = node.first, last = node.last
    cdef Py_ssize_t top = first.row if first.row_absolute else first.row + row
    cdef Py_ssize_t bottom = last.row if last.row_absolute else last.row + row
    cdef Py_ssize_t left = first.column if first.column_absolute else first.column + column
    cdef Py_ssize_t right = last.column if last.column_absolute else last.column + column
    if top > bottom:
        top, bottom = bottom, top
    if left > right:
        left, right = right, left
    if top < 0 or left < 0 or bottom >= SHEET_ROWS or right >= SHEET_COLUMNS:
        return ERROR_REF
    return _reference(node.sheet, top, left, bottom, right)


@cython.no_gc
cdef class _Sheets(_Referring):
    """A 3-D reference: the same cells of a run of sheets."""

    cdef Operation operand
    cdef str last

    def __cinit__(self, Operation operand, str last):
        self.operand = operand
        self.last = last

    cdef object refer(self, Environment environment, Frame frame):
        cdef Reference reference
        value = self.operand.refer(environment, frame)
        if not isinstance(value, Reference):
            return value
        reference = <Reference> value
        names = environment.sheets()
        folded = [name.casefold() for name in names]
        if reference.sheet.casefold() not in folded or self.last.casefold() not in folded:
            return ERROR_REF
        first, last = sorted((folded.index(reference.sheet.casefold()), folded.index(self.last.casefold())))
        areas = [
            Reference(name, reference.top, reference.left, reference.bottom, reference.right)
            for name in names[first : last + 1]
        ]
        reference = areas[0]
        return Reference(
            reference.sheet, reference.top, reference.left, reference.bottom, reference.right, tuple(areas[1:])
        )


@cython.no_gc
cdef class _SlotCell(_Cell):
    """A cell that the environment holds by place."""

    cdef Py_ssize_t slot

    cdef object run(self, Environment environment, Frame frame):
        return environment.slots[self.slot]

    cdef object supply(self, Environment environment, Frame frame):
        return _array(1, 1, [environment.slots[self.slot]], self.refer(environment, frame))


@cython.no_gc
cdef class _SlotArea(_Area):
    """Cells that the environment holds by place, one after the other where `slots` is None."""

    cdef Py_ssize_t first, rows, columns
    cdef list slots

    cdef object run(self, Environment environment, Frame frame):
        return self.supply(environment, frame)

    cdef object supply(self, Environment environment, Frame frame):
        cdef list cells, values = environment.slots
        cdef Py_ssize_t slot
        reference = self.refer(environment, frame)
        if self.slots is None:
            cells = values[self.first : self.first + self.rows * self.columns]
        else:
            cells = [values[slot] for slot in self.slots]
        return _array(self.rows, self.columns, cells, reference if isinstance(reference, Reference) else None)


@cython.no_gc
cdef class _Name(_Referring):
    cdef str sheet, name

    def __cinit__(self, str sheet, str name):
        self.sheet, self.name = sheet, name

    cdef object refer(self, Environment environment, Frame frame):
        try:
            value = environment.name(self.sheet, self.name)
        except Failure as failure:
            return failure.error
        if value is ERROR_NAME and self.sheet is None:
            function = FUNCTIONS.get(self.name.upper().removeprefix("_XLETA."))
            if function is not None:
                return Lambda((), _Builtin(function.name), None)
        return value


@cython.no_gc
cdef class _SlotName(_Referring):
    """A defined name whose value the environment holds by place."""

    cdef Py_ssize_t slot

    def __cinit__(self, Py_ssize_t slot):
        self.slot = slot

    cdef object refer(self, Environment environment, Frame frame):
        return environment.slots[self.slot]


@cython.no_gc
cdef class _Variable(_Referring):
    """A name bound by LET or LAMBDA, so many frames out."""

    cdef int out, place

    def __cinit__(self, int out, int place):
        self.out, self.place = out, place

    cdef object held(self, Frame frame):
        cdef int out
        for out in range(self.out):
            frame = frame.parent
        return frame.values[self.place]

    cdef object refer(self, Environment environment, Frame frame):
        value = self.held(frame)
        return None if value is OMITTED_VALUE else value


@cython.no_gc
cdef class _IsOmitted(Operation):
    cdef _Variable variable

    def __cinit__(self, _Variable variable):
        self.variable = variable

    cdef object run(self, Environment environment, Frame frame):
        return self.variable.held(frame) is OMITTED_VALUE


@cython.no_gc
cdef class _Structured(_Referring):
    cdef Structured node

    def __cinit__(self, Structured node):
        self.node = node

    cdef object refer(self, Environment environment, Frame frame):
        try:
            return environment.structured(self.node)
        except Failure as failure:
            return failure.error


@cython.no_gc
cdef class _Spill(_Referring):
    cdef Operation operand

    def __cinit__(self, Operation operand):
        self.operand = operand

    cdef object refer(self, Environment environment, Frame frame):
        value = self.operand.refer(environment, frame)
        if not isinstance(value, Reference):
            return value if isinstance(value, Error) else ERROR_REF
        found = environment.spill((<Reference> value).sheet, (<Reference> value).top, (<Reference> value).left)
        return ERROR_REF if found is None else found


@cython.no_gc
cdef class _Intersect(_Referring):
    """Implicit intersection: of a reference the formula's own row or column, of an array the first value if asked."""

    cdef Operation operand
    cdef bint of_arrays

    def __cinit__(self, Operation operand, bint of_arrays):
        self.operand = operand
        self.of_arrays = of_arrays

    cdef object refer(self, Environment environment, Frame frame):
        value = self.operand.refer(environment, frame)
        if isinstance(value, Reference):
            return _crossing(environment, <Reference> value)
        if self.of_arrays and isinstance(value, Array):
            return (<Array> value).at(0, 0)
        return value


cdef bint _is_same_sheet(Environment environment, str a, str b):
    if a is None:
        a = environment.sheet
    if b is None:
        b = environment.sheet
    return a == b or (a is not None and b is not None and a.casefold() == b.casefold())


@cython.no_gc
cdef class _Joint(_Referring):
    """Two references as one: a range, a union or an intersection."""

    cdef Operation left, right
    cdef str operator

    def __cinit__(self, Operation left, Operation right, str operator):
        self.left, self.right, self.operator = left, right, operator

    cdef object refer(self, Environment environment, Frame frame):
        cdef Reference a, b
        left = self.left.refer(environment, frame)
        if isinstance(left, Error):
            return left
        right = self.right.refer(environment, frame)
        if isinstance(right, Error):
            return right
        if not (isinstance(left, Reference) and isinstance(right, Reference)):
            return ERROR_VALUE
        a, b = left, right
        if self.operator == ",":
            return Reference(a.sheet, a.top, a.left, a.bottom, a.right, a.more + b.areas)
        if self.operator == " ":
            return self.overlap(environment, a, b)
        if a.more or b.more or not (b.sheet is None or _is_same_sheet(environment, a.sheet, b.sheet)):
            return ERROR_VALUE
        return Reference(
            a.sheet, min(a.top, b.top), min(a.left, b.left), max(a.bottom, b.bottom), max(a.right, b.right)
        )

    cdef object overlap(self, Environment environment, Reference a, Reference b):
        cdef Reference one, other, first
        cdef list found = []
        environment.spend(len(a.more) * len(b.more))
        for one in a.areas:
            for other in b.areas:
                if not _is_same_sheet(environment, one.sheet, other.sheet):
                    return ERROR_VALUE
                top, bottom = max(one.top, other.top), min(one.bottom, other.bottom)
                left, right = max(one.left, other.left), min(one.right, other.right)
                if top <= bottom and left <= right:
                    found.append(Reference(one.sheet, top, left, bottom, right))
        if not found:
            return ERROR_NULL
        first = found[0]
        return Reference(first.sheet, first.top, first.left, first.bottom, first.right, tuple(found[1:]))


# Operators.

cdef inline object _calculate(int operator, double a, double b, bint last):
    """Two numbers under an operator. The sum or difference that comes last snaps to 0; subnormal results are 0."""
    cdef double result
    if operator == ADD:
        result = add(a, b) if last else a + b
        return result if isfinite(result) else ERROR_NUM
    if operator == SUBTRACT:
        result = subtract(a, b) if last else a - b
        return result if isfinite(result) else ERROR_NUM
    if operator == MULTIPLY:
        result = a * b
    elif operator == DIVIDE:
        if b == 0.0:
            return ERROR_DIV0
        result = a / b
    else:
        return power(a, b)
    if fabs(result) < DBL_MIN:
        return 0.0
    return result if isfinite(result) else ERROR_NUM


@cython.no_gc
cdef class _Binary(Operation):
    cdef Operation left, right

    cdef object pair(self, Environment environment, object a, object b):
        raise NotImplementedError

    cdef object run(self, Environment environment, Frame frame):
        a = self.left.run(environment, frame)
        b = self.right.run(environment, frame)
        if isinstance(a, Array) or isinstance(b, Array):
            return self.lifted(environment, a, b)
        return self.pair(environment, a, b)

    cdef object lifted(self, Environment environment, object a, object b):
        cdef Py_ssize_t rows = 1, columns = 1, row, column, at
        cdef list cells, left, right
        a, b = _single(a), _single(b)
        if isinstance(a, Array):
            rows, columns = (<Array> a).rows, (<Array> a).columns
        if isinstance(b, Array):
            rows, columns = max(rows, (<Array> b).rows), max(columns, (<Array> b).columns)
        elif not isinstance(a, Array):
            return self.pair(environment, a, b)
        environment.spend(rows * columns)
        if not isinstance(b, Array):
            cells = [self.pair(environment, value, b) for value in (<Array> a).cells()]
        elif not isinstance(a, Array):
            cells = [self.pair(environment, a, value) for value in (<Array> b).cells()]
        elif (<Array> a).rows == (<Array> b).rows and (<Array> a).columns == (<Array> b).columns:
            left, right = (<Array> a).cells(), (<Array> b).cells()
            cells = [self.pair(environment, left[at], right[at]) for at in range(rows * columns)]
        else:
            cells = [
                self.pair(environment, _at(a, row, column), _at(b, row, column))
                for row in range(rows) for column in range(columns)
            ]
        return _array(rows, columns, cells)


@cython.no_gc
cdef class _Arithmetic(_Binary):
    cdef int operator
    cdef bint last

    cdef object run(self, Environment environment, Frame frame):
        a = self.left.run(environment, frame)
        b = self.right.run(environment, frame)
        if PyFloat_CheckExact(a) and PyFloat_CheckExact(b):
            return _calculate(self.operator, PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b), self.last)
        if isinstance(a, Array) or isinstance(b, Array):
            return self.lifted(environment, a, b)
        return self.pair(environment, a, b)

    cdef object pair(self, Environment environment, object a, object b):
        cdef bint left_date, right_date
        if PyFloat_CheckExact(a) and PyFloat_CheckExact(b):
            return _calculate(self.operator, PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b), self.last)
        x = to_number(a, environment.date_1904)
        if isinstance(x, Error):
            return x
        y = to_number(b, environment.date_1904)
        if isinstance(y, Error):
            return y
        result = _calculate(self.operator, PyFloat_AS_DOUBLE(x), PyFloat_AS_DOUBLE(y), self.last)
        if self.operator <= SUBTRACT and not isinstance(result, Error):
            left_date, right_date = type(a) is Date, type(b) is Date
            if left_date != right_date and (left_date or self.operator == ADD):
                return Date(result)
        return result


@cython.no_gc
cdef class _Join(_Binary):
    """The operator &."""

    cdef object pair(self, Environment environment, object a, object b):
        x = to_text(a)
        if isinstance(x, Error):
            return x
        y = to_text(b)
        if isinstance(y, Error):
            return y
        if len(<str> x) + len(<str> y) > TEXT_MAX:
            return ERROR_VALUE
        return <str> x + <str> y


@cython.no_gc
cdef class _Comparison(_Binary):
    cdef int operator

    cdef object pair(self, Environment environment, object a, object b):
        cdef int order
        if isinstance(a, Error):
            return a
        if isinstance(b, Error):
            return b
        if isinstance(a, Lambda) or isinstance(b, Lambda):
            return ERROR_VALUE
        if self.operator == EQUAL:
            return equal(a, b)
        if self.operator == UNEQUAL:
            return not equal(a, b)
        order = compare(a, b)
        if self.operator == LESS:
            return order < 0
        if self.operator == GREATER:
            return order > 0
        return order <= 0 if self.operator == AT_MOST else order >= 0


@cython.no_gc
cdef class _Sign(Operation):
    """A minus or a percent sign."""

    cdef Operation operand
    cdef bint percent

    def __cinit__(self, Operation operand, bint percent):
        self.operand, self.percent = operand, percent

    cdef object run(self, Environment environment, Frame frame):
        value = self.operand.run(environment, frame)
        if isinstance(value, Array):
            environment.spend((<Array> value).rows * (<Array> value).columns)
            return _array(
                (<Array> value).rows, (<Array> value).columns,
                [self.one(environment, cell) for cell in (<Array> value).cells()],
            )
        return self.one(environment, value)

    cdef object one(self, Environment environment, object value):
        cdef double number
        value = to_number(value, environment.date_1904)
        if isinstance(value, Error):
            return value
        number = PyFloat_AS_DOUBLE(value)
        if self.percent:
            return number / 100.0
        return 0.0 - number


@cython.no_gc
cdef class _Plus(Operation):
    """A plus sign: the value as it is, no longer a reference."""

    cdef Operation operand

    def __cinit__(self, Operation operand):
        self.operand = operand

    cdef object run(self, Environment environment, Frame frame):
        return self.operand.run(environment, frame)


# Calls of functions of the catalogue.

cdef class _Row:
    """A function as its calls need it."""

    cdef str name
    cdef object function, body
    cdef bint environment, volatile, refers
    cdef list kinds, empties
    cdef Py_ssize_t fixed, period, minimum, maximum

    def __cinit__(self, function):
        self.function = function
        self.name = function.name
        self.body = function.body
        self.environment = function.environment
        self.volatile = function.volatile
        self.kinds = [_KINDS[argument.kind] for argument in function.arguments]
        self.empties = [argument.empty for argument in function.arguments]
        self.minimum, self.maximum, self.period = function.minimum, function.maximum, function.period
        self.fixed = len(function.arguments) - self.period
        self.refers = self.environment or K_OPERAND in self.kinds or K_REFERENCE in self.kinds

    cdef Py_ssize_t place(self, Py_ssize_t index):
        if index < len(self.kinds) or not self.period:
            return index
        return self.fixed + (index - self.fixed) % self.period


cdef dict _ROWS = {}


cdef _Row _row_of(str name):
    found = _ROWS.get(name)
    if found is None:
        function = FUNCTIONS.get(name)
        if function is None:
            return None
        found = _ROWS[name] = _Row(function)
    return found


cdef object _coerced(int kind, object value, bint date_1904):
    """A value as an argument's kind wants it; an Error stays one."""
    if kind == K_NUMBER:
        return value if PyFloat_CheckExact(value) else to_number(value, date_1904)
    if kind == K_INTEGER:
        value = to_number(value, date_1904)
        return value if isinstance(value, Error) else int(value)
    if kind == K_TEXT:
        return to_text(value)
    if kind == K_LOGICAL:
        return to_logical(value)
    return value


@cython.no_gc
cdef class _Call(_Referring):
    cdef _Row row
    cdef object body
    cdef list operations, kinds
    cdef bint arrays

    cdef object argument(self, Py_ssize_t index, Environment environment, Frame frame):
        """An argument by its kind; scalar kinds may still be an Array, which lifts the call."""
        cdef int kind = self.kinds[index]
        cdef Operation operation = self.operations[index]
        if operation is None:
            value = (<list> self.row.empties)[self.row.place(index)]
            if value is OMITTED_VALUE:
                return value
            if kind == K_ARRAY:
                return _array(1, 1, [value])
            if kind == K_REFERENCE or kind == K_LAMBDA:
                return ERROR_VALUE
            return _coerced(kind, value, environment.date_1904)
        if kind <= K_ANY:
            value = operation.run(environment, frame)
            if PyFloat_CheckExact(value) and (kind == K_NUMBER or kind >= K_VALUE):
                return value
            value = _single(value)
            return value if isinstance(value, Array) else _coerced(kind, value, environment.date_1904)
        if kind == K_RANGE:
            return operation.supply(environment, frame)
        if kind == K_ARRAY:
            value = operation.supply(environment, frame)
            return value if isinstance(value, Array) else _array(1, 1, [value])
        value = operation.refer(environment, frame)
        if kind == K_OPERAND:
            return value
        if kind == K_REFERENCE:
            return value if isinstance(value, (Reference, Error)) else ERROR_VALUE
        return value if isinstance(value, (Lambda, Error)) else ERROR_VALUE

    cdef object refer(self, Environment environment, Frame frame):
        cdef list arguments = [environment] if self.row.environment else []
        cdef Py_ssize_t index
        cdef int kind
        cdef bint lifts = False
        cdef Error error = None
        for index in range(len(self.operations)):
            value = self.argument(index, environment, frame)
            kind = self.kinds[index]
            if kind <= K_ANY and isinstance(value, Array):
                lifts = True
            elif isinstance(value, Error) and (kind < K_ANY or kind == K_REFERENCE or kind == K_LAMBDA):
                if not self.arrays:
                    return value
                if error is None:
                    error = <Error> value
            arguments.append(value)
        if lifts:
            return self.lifted(environment, arguments)
        if error is not None:
            return error
        return self.called(arguments)

    cdef object called(self, list arguments):
        try:
            return _settled(self.body(*arguments))
        except Failure as failure:
            return failure.error
        except ZeroDivisionError:
            return ERROR_DIV0
        except OverflowError:
            return ERROR_NUM

    cdef object lifted(self, Environment environment, list arguments):
        """The call for every element of its array arguments."""
        cdef Py_ssize_t rows = 1, columns = 1, row, column, place
        cdef Py_ssize_t first = 1 if self.row.environment else 0
        cdef list cells = [], places = []
        for place in range(first, len(arguments)):
            value = arguments[place]
            if <int> self.kinds[place - first] <= K_ANY and isinstance(value, Array):
                places.append(place)
                rows, columns = max(rows, (<Array> value).rows), max(columns, (<Array> value).columns)
        environment.spend(rows * columns)
        for row in range(rows):
            for column in range(columns):
                cells.append(self.element(environment, list(arguments), places, row, column, first))
        return _array(rows, columns, cells)

    cdef object element(
        self, Environment environment, list arguments, list places, Py_ssize_t row, Py_ssize_t column, Py_ssize_t first
    ):
        cdef Py_ssize_t place
        cdef int kind
        for place in places:
            arguments[place] = _coerced(
                self.kinds[place - first], _at(arguments[place], row, column), environment.date_1904
            )
        for place in range(first, len(arguments)):
            kind = self.kinds[place - first]
            if isinstance(arguments[place], Error) and (kind < K_ANY or kind == K_REFERENCE or kind == K_LAMBDA):
                return arguments[place]
        environment.spend(1)
        value = self.called(arguments)
        if isinstance(value, Reference):
            value = _read(environment, <Reference> value)
        return (<Array> value).at(0, 0) if isinstance(value, Array) else value


# Forms: functions that decide themselves what they evaluate.

@cython.no_gc
cdef class _If(_Referring):
    """IF, and a link of IFS: only the branch that is taken is evaluated, both where the condition is an array."""

    cdef Operation condition, yes, no

    cdef object run(self, Environment environment, Frame frame):
        value = _single(self.condition.run(environment, frame))
        if isinstance(value, Array):
            return self.lifted(environment, frame, <Array> value)
        if value is not True and value is not False:
            value = to_logical(value)
            if isinstance(value, Error):
                return value
        return self.yes.run(environment, frame) if value else self.no.run(environment, frame)

    cdef object refer(self, Environment environment, Frame frame):
        value = _single(self.condition.run(environment, frame))
        if isinstance(value, Array):
            return self.lifted(environment, frame, <Array> value)
        value = to_logical(value)
        if isinstance(value, Error):
            return value
        return self.yes.refer(environment, frame) if value else self.no.refer(environment, frame)

    cdef object lifted(self, Environment environment, Frame frame, Array condition):
        cdef list flags = [to_logical(cell) for cell in condition.cells()]
        yes = self.yes.run(environment, frame) if True in flags else None
        no = self.no.run(environment, frame) if False in flags else None
        picks = _array(condition.rows, condition.columns, flags)
        return _picked(environment, picks, [no, yes])


cdef object _picked(Environment environment, Array picks, list choices):
    """The element of choices[pick] for every pick (an int or bool, or an Error that stands for itself)."""
    cdef Py_ssize_t rows = picks.rows, columns = picks.columns, row, column
    cdef list cells = []
    for choice in choices:
        if isinstance(choice, Array):
            rows, columns = max(rows, (<Array> choice).rows), max(columns, (<Array> choice).columns)
    environment.spend(rows * columns)
    for row in range(rows):
        for column in range(columns):
            pick = _at(picks, row, column)
            cells.append(pick if isinstance(pick, Error) else _at(choices[pick], row, column))
    return _array(rows, columns, cells)


cdef _If _if(Operation condition, Operation yes, Operation no):
    cdef _If operation = _If.__new__(_If)
    operation.condition, operation.yes, operation.no = condition, yes, no
    return operation


@cython.no_gc
cdef class _Choose(_Referring):
    cdef Operation index
    cdef list choices

    def __cinit__(self, Operation index, list choices):
        self.index, self.choices = index, choices

    cdef object place(self, Environment environment, object value):
        value = to_number(value, environment.date_1904)
        if isinstance(value, Error):
            return value
        if not 1.0 <= <double> value < len(self.choices) + 1:
            return ERROR_VALUE
        return int(value) - 1

    cdef object refer(self, Environment environment, Frame frame):
        value = _single(self.index.run(environment, frame))
        if isinstance(value, Array):
            picks = [self.place(environment, cell) for cell in (<Array> value).cells()]
            wanted = set(picks)
            choices = [
                (<Operation> choice).run(environment, frame) if place in wanted else None
                for place, choice in enumerate(self.choices)
            ]
            return _picked(environment, _array((<Array> value).rows, (<Array> value).columns, picks), choices)
        value = self.place(environment, value)
        return value if isinstance(value, Error) else (<Operation> self.choices[value]).refer(environment, frame)


@cython.no_gc
cdef class _Switch(_Referring):
    cdef Operation subject, otherwise
    cdef list keys, results

    def __cinit__(self, Operation subject, list keys, list results, Operation otherwise):
        self.subject, self.keys, self.results, self.otherwise = subject, keys, results, otherwise

    cdef object refer(self, Environment environment, Frame frame):
        cdef Operation operation
        cdef Py_ssize_t place
        subject = _single(self.subject.run(environment, frame))
        if isinstance(subject, Array):
            return self.lifted(environment, frame, <Array> subject)
        if isinstance(subject, Error):
            return subject
        for place in range(len(self.keys)):
            operation = self.keys[place]
            key = _single(operation.run(environment, frame))
            if isinstance(key, Error):
                return key
            if not isinstance(key, Array) and equal(subject, key):
                operation = self.results[place]
                return operation.refer(environment, frame)
        return self.otherwise.refer(environment, frame)

    cdef object lifted(self, Environment environment, Frame frame, Array subject):
        cdef Operation operation
        cdef list keys = [(<Operation> key).run(environment, frame) for key in self.keys]
        cdef list picks = []
        cdef Py_ssize_t row, column, place
        for row in range(subject.rows):
            for column in range(subject.columns):
                value = _at(subject, row, column)
                pick = value if isinstance(value, Error) else len(keys)
                for place in range(0 if pick is not value else len(keys), len(keys)):
                    key = _at(keys[place], row, column)
                    if isinstance(key, Error):
                        pick = key
                        break
                    if equal(value, key):
                        pick = place
                        break
                picks.append(pick)
        wanted = set(picks)
        choices = [
            (<Operation> choice).run(environment, frame) if place in wanted else None
            for place, choice in enumerate([*self.results, self.otherwise])
        ]
        return _picked(environment, _array(subject.rows, subject.columns, picks), choices)


@cython.no_gc
cdef class _IfError(_Referring):
    """IFERROR, and IFNA where only #N/A counts."""

    cdef Operation value, otherwise
    cdef bint only_na

    def __cinit__(self, Operation value, Operation otherwise, bint only_na):
        self.value, self.otherwise, self.only_na = value, otherwise, only_na

    cdef bint catches(self, object value):
        return value is ERROR_NA if self.only_na else isinstance(value, Error)

    cdef object refer(self, Environment environment, Frame frame):
        value = self.value.run(environment, frame)
        if not isinstance(value, Array):
            return self.otherwise.refer(environment, frame) if self.catches(value) else value
        picks = [self.catches(cell) for cell in (<Array> value).cells()]
        if True not in picks:
            return value
        flags = _array((<Array> value).rows, (<Array> value).columns, picks)
        return _picked(environment, flags, [value, self.otherwise.run(environment, frame)])


@cython.no_gc
cdef class _Logical(Operation):
    """AND, OR and XOR: every argument counts, arrays by their numbers and booleans."""

    cdef list operations
    cdef str name

    def __cinit__(self, str name, list operations):
        self.name, self.operations = name, operations

    cdef object run(self, Environment environment, Frame frame):
        cdef Operation operation
        cdef Py_ssize_t seen = 0, true = 0
        for operation in self.operations:
            value = None if operation is None else operation.supply(environment, frame)
            if isinstance(value, Array):
                for cell in (<Array> value).cells():
                    if isinstance(cell, (bool, float)):
                        seen += 1
                        true += cell != 0
                    elif isinstance(cell, Error):
                        return cell
                continue
            value = to_logical(value)
            if isinstance(value, Error):
                return value
            seen += 1
            true += <bint> value
        if not seen:
            return ERROR_VALUE
        if self.name == "AND":
            return true == seen
        return true > 0 if self.name == "OR" else true % 2 == 1


@cython.no_gc
cdef class _Let(_Referring):
    cdef list values
    cdef Operation body

    def __cinit__(self, list values, Operation body):
        self.values, self.body = values, body

    cdef object refer(self, Environment environment, Frame frame):
        cdef Py_ssize_t place
        cdef Frame inner = Frame(frame, [None] * len(self.values))
        for place in range(len(self.values)):
            inner.values[place] = (<Operation> self.values[place]).refer(environment, inner)
        return self.body.refer(environment, inner)


cdef class _Body:
    """What a Lambda runs: an operation, and how deep the operations in it stand."""

    cdef Operation operation
    cdef long height

    def __cinit__(self, Operation operation, long height):
        self.operation, self.height = operation, height


cdef class _Builtin:
    """A function of the catalogue used as a value: BYROW(A1:B2, SUM). Compiled for each count of arguments."""

    cdef readonly str name
    cdef dict bodies

    def __cinit__(self, str name):
        self.name = name
        self.bodies = {}

    cdef _Body body(self, Py_ssize_t count):
        cdef Compiler compiler
        found = self.bodies.get(count)
        if found is None:
            names = [f"argument{place}" for place in range(count)]
            compiler = Compiler()
            compiler.arrays, compiler.text = True, ""
            operation = compiler.callable(names, Call(self.name, tuple([Name(None, name) for name in names])))
            found = self.bodies[count] = _Body(operation, 2)
        return found


@cython.no_gc
cdef class _Lambda(Operation):
    cdef tuple parameters
    cdef _Body body

    def __cinit__(self, tuple parameters, _Body body):
        self.parameters, self.body = parameters, body

    cdef object run(self, Environment environment, Frame frame):
        return Lambda(self.parameters, self.body, frame)


@cython.no_gc
cdef class _Invoke(_Referring):
    """A call of a value; `callee` gives the Lambda."""

    cdef Operation callee
    cdef list operations

    def __cinit__(self, Operation callee, list operations):
        self.callee, self.operations = callee, operations

    cdef object refer(self, Environment environment, Frame frame):
        cdef list arguments
        function = self.callee.refer(environment, frame)
        if isinstance(function, Error):
            return function
        if not isinstance(function, Lambda):
            return ERROR_VALUE
        arguments = [
            OMITTED_VALUE if operation is None else (<Operation> operation).refer(environment, frame)
            for operation in self.operations
        ]
        return call(environment, <Lambda> function, arguments)


cpdef object call(Environment environment, Lambda function, list arguments):
    """The value (or Reference) of a lambda for some arguments; VALUE where their number does not fit, NUM where calls
    stand too deep in one another."""
    cdef _Body body
    cdef Frame frame
    cdef Py_ssize_t place
    if isinstance(function.body, _Builtin):
        try:
            body = (<_Builtin> function.body).body(len(arguments))
        except FormulaError:
            return ERROR_VALUE
        frame = Frame(None, arguments)
    else:
        if len(arguments) > len(function.parameters):
            return ERROR_VALUE
        arguments = list(arguments)
        for place in range(len(arguments), len(function.parameters)):
            if not function.parameters[place][1]:
                return ERROR_VALUE
            arguments.append(OMITTED_VALUE)
        body = <_Body?> function.body
        frame = Frame(function.scope, arguments)
    environment.spend(1)
    environment.depth += body.height
    try:
        if environment.depth > _DEPTH_MAX:
            return ERROR_NUM
        return body.operation.refer(environment, frame)
    finally:
        environment.depth -= body.height


cdef object _call_single(Environment environment, Lambda function, list arguments):
    """A lambda's value where one cell is to be filled: CALC for an array of several."""
    value = call(environment, function, arguments)
    if isinstance(value, Reference):
        value = _read(environment, <Reference> value)
    value = _single(value)
    return ERROR_CALC if isinstance(value, (Array, Lambda)) else value


cdef class _Elements:
    """The elements, rows or columns of an argument: single cells stay references where the argument is one."""

    cdef Reference reference
    cdef Array array

    def __cinit__(self, Environment environment, object value):
        cdef Reference reference
        if isinstance(value, Reference) and not (<Reference> value).more:
            reference = <Reference> value
            if reference.bottom - reference.top < SHEET_ROWS - 1 and reference.right - reference.left < SHEET_COLUMNS - 1:
                self.reference = reference
            value = environment.array(reference)
        self.array = value if isinstance(value, Array) else _array(1, 1, [value])

    cdef object part(self, Py_ssize_t top, Py_ssize_t left, Py_ssize_t rows, Py_ssize_t columns):
        cdef Reference whole = self.reference
        cdef Py_ssize_t row, width = self.array.columns
        cdef list cells
        if top >= self.array.rows or left >= width:
            return ERROR_NA
        if whole is not None:
            return Reference(
                whole.sheet, whole.top + top, whole.left + left, whole.top + top + rows - 1, whole.left + left + columns - 1
            )
        if rows == columns == 1:
            return self.array.at(top, left)
        cells = self.array.cells()
        return _array(
            rows, columns,
            [cell for row in range(top, top + rows) for cell in cells[row * width + left : row * width + left + columns]],
        )


@cython.no_gc
cdef class _Helper(Operation):
    """MAP, REDUCE, SCAN, BYROW, BYCOL and MAKEARRAY: `function` is called again and again."""

    cdef str name
    cdef list operations
    cdef Operation function

    def __cinit__(self, str name, list operations, Operation function):
        self.name, self.operations, self.function = name, operations, function

    cdef object run(self, Environment environment, Frame frame):
        cdef list values
        function = self.function.refer(environment, frame)
        if isinstance(function, Error):
            return function
        if not isinstance(function, Lambda):
            return ERROR_VALUE
        values = [
            OMITTED_VALUE if operation is None else (<Operation> operation).refer(environment, frame)
            for operation in self.operations
        ]
        try:
            if self.name == "MAKEARRAY":
                return self.made(environment, <Lambda> function, values)
            if self.name == "REDUCE" or self.name == "SCAN":
                return self.gathered(environment, <Lambda> function, values)
            parts = [_Elements(environment, None if value is OMITTED_VALUE else value) for value in values]
        except Failure as failure:
            return failure.error
        return self.mapped(environment, <Lambda> function, parts)

    cdef object mapped(self, Environment environment, Lambda function, list parts):
        cdef _Elements part = parts[0]
        cdef Py_ssize_t rows = part.array.rows, columns = part.array.columns, row, column
        if self.name == "BYROW":
            cells = [_call_single(environment, function, [part.part(row, 0, 1, columns)]) for row in range(rows)]
            return _array(rows, 1, cells)
        if self.name == "BYCOL":
            cells = [_call_single(environment, function, [part.part(0, column, rows, 1)]) for column in range(columns)]
            return _array(1, columns, cells)
        for part in parts:
            rows, columns = max(rows, part.array.rows), max(columns, part.array.columns)
        environment.spend(rows * columns)
        cells = [
            _call_single(environment, function, [(<_Elements> part).part(row, column, 1, 1) for part in parts])
            for row in range(rows) for column in range(columns)
        ]
        return _array(rows, columns, cells)

    cdef object gathered(self, Environment environment, Lambda function, list values):
        cdef _Elements part = _Elements(environment, None if values[1] is OMITTED_VALUE else values[1])
        cdef Py_ssize_t row, column
        cdef bint scans = self.name == "SCAN", started = values[0] is not OMITTED_VALUE
        cdef list cells = []
        state = values[0]
        if scans and started:
            if isinstance(state, Reference):
                state = _read(environment, <Reference> state)
            state = _single(state)
            if isinstance(state, Array):
                return ERROR_CALC
        for row in range(part.array.rows):
            for column in range(part.array.columns):
                element = part.part(row, column, 1, 1)
                if not started:
                    state = _read(environment, <Reference> element) if isinstance(element, Reference) else element
                    started = True
                elif scans:
                    state = _call_single(environment, function, [state, element])
                else:
                    state = call(environment, function, [state, element])
                if scans:
                    cells.append(state)
        if scans:
            return _array(part.array.rows, part.array.columns, cells)
        return _read(environment, <Reference> state) if isinstance(state, Reference) else state

    cdef object made(self, Environment environment, Lambda function, list values):
        cdef list sizes = []
        cdef Py_ssize_t row, column
        for value in values:
            if isinstance(value, Reference):
                value = _read(environment, <Reference> value)
            value = to_number(_single(None if value is OMITTED_VALUE else value), environment.date_1904)
            if isinstance(value, Error):
                return value
            sizes.append(int(value))
        if sizes[0] < 1 or sizes[1] < 1:
            return ERROR_VALUE
        environment.spend(min(sizes[0] * sizes[1], 1 << 60))
        cells = [
            _call_single(environment, function, [row + 1.0, column + 1.0])
            for row in range(sizes[0]) for column in range(sizes[1])
        ]
        return _array(sizes[0], sizes[1], cells)


@cython.no_gc
cdef class _Trace(Operation):
    """Notes the value of a sub-expression with the span of its text."""

    cdef Operation operand
    cdef list record
    cdef int start, end

    def __cinit__(self, Operation operand, list record, int start, int end):
        self.operand, self.record, self.start, self.end = operand, record, start, end

    cdef object run(self, Environment environment, Frame frame):
        value = self.operand.run(environment, frame)
        self.record.append((self.start, self.end, value))
        return value

    cdef object refer(self, Environment environment, Frame frame):
        value = self.operand.refer(environment, frame)
        seen = _read(environment, <Reference> value) if isinstance(value, Reference) else value
        self.record.append((self.start, self.end, seen))
        return value

    cdef object supply(self, Environment environment, Frame frame):
        value = self.operand.supply(environment, frame)
        self.record.append((self.start, self.end, value))
        return value


# Compiling.

cdef class Compiler:
    """One formula on its way from tree to operations."""

    cdef bint arrays, unknown_as_name, slotted
    cdef str text
    cdef list record, scopes, unknown, functions, entries, needs
    cdef dict slots
    cdef int level, peak
    cdef bint volatile

    def __cinit__(self):
        self.scopes, self.unknown, self.functions, self.slots = [], [], [], {}
        self.entries, self.needs = [], []

    cdef Operation callable(self, list names, Node node):
        """The operation of a node in which some names are bound, in a frame of their own."""
        self.scopes.append({name.casefold(): place for place, name in enumerate(names)})
        try:
            return self.compiled(node, False)
        finally:
            self.scopes.pop()

    cdef Operation compiled(self, Node node, bint single):
        """The operation of a node. `single`: one value is expected here (which a plain formula sees to)."""
        cdef Operation operation
        self.level += 1
        if self.level > self.peak:
            self.peak = self.level
        operation = self.bare(node, single)
        self.level -= 1
        if self.record is not None and not isinstance(node, (Literal, Empty, ArrayLiteral)):
            return _Trace(operation, self.record, node.start, node.end)
        return operation

    cdef Operation bare(self, Node node, bint single):
        cdef Operation operation
        if isinstance(node, Literal):
            return _constant((<Literal> node).value)
        if isinstance(node, Cell):
            return self.cell(<Cell> node)
        if isinstance(node, Call):
            return self.called(<Call> node, single)
        if isinstance(node, Binary):
            return self.binary(<Binary> node, single)
        if isinstance(node, Unary):
            return self.unary(<Unary> node)
        if isinstance(node, ArrayLiteral):
            rows = (<ArrayLiteral> node).rows
            return _constant(_array(len(rows), len(rows[0]), [value for row in rows for value in row]))
        if isinstance(node, Empty):
            return _constant(None)
        operation = self.reference(node)
        return _Intersect(operation, False) if single and not self.arrays else operation

    cdef Operation reference(self, Node node):
        cdef Operation operation
        if isinstance(node, Area):
            return self.area(<Area> node)
        if isinstance(node, Name):
            return self.name(<Name> node)
        if isinstance(node, Structured):
            return _Structured(<Structured> node)
        if isinstance(node, Spill):
            return _Spill(self.compiled((<Spill> node).operand, False))
        if isinstance(node, Invoke):
            operation = self.compiled((<Invoke> node).callee, False)
            return _Invoke(operation, self.passed((<Invoke> node).arguments))
        raise TypeError(f"no operation for {type(node).__name__}")

    cdef list passed(self, tuple arguments):
        return [None if isinstance(node, Empty) else self.compiled(node, False) for node in arguments]

    cdef Operation cell(self, Cell node):
        cdef _SlotCell slot
        cdef _Cell cell
        if self.slotted and node.last_sheet is None:
            slot = _SlotCell.__new__(_SlotCell)
            slot.node = node
            slot.slot = self.slot(node, node.row, node.column)
            self.needs.append(slot.slot)
            return slot
        cell = _Cell.__new__(_Cell)
        cell.node = node
        return cell if node.last_sheet is None else _Sheets(cell, node.last_sheet)

    cdef Operation area(self, Area node):
        cdef Py_ssize_t rows, columns, row, column
        cdef Cell first = node.first, last = node.last
        cdef _SlotArea slots
        cdef _Area area
        # Corners that keep their distance when the formula moves: only then the slots keep their places.
        if self.slotted and node.last_sheet is None and (
            first.row_absolute == last.row_absolute and first.column_absolute == last.column_absolute
        ):
            top, left = min(first.row, last.row), min(first.column, last.column)
            rows, columns = abs(last.row - first.row) + 1, abs(last.column - first.column) + 1
            if rows * columns <= SLOTS_OF_AN_AREA_MAX:
                slots = _SlotArea.__new__(_SlotArea)
                slots.node, slots.rows, slots.columns, slots.first = node, rows, columns, len(self.entries)
                places = [self.slot(first, row, column) for row in range(top, top + rows)
                          for column in range(left, left + columns)]
                slots.slots = None if len(self.entries) - slots.first == rows * columns else places
                self.needs.append(tuple(places))
                return slots
        area = _Area.__new__(_Area)
        area.node = node
        return area if node.last_sheet is None else _Sheets(area, node.last_sheet)

    cdef Py_ssize_t slot(self, Cell node, Py_ssize_t row, Py_ssize_t column):
        """The place of a cell that stands as `node` does, at some other row and column."""
        cdef Cell cell
        cdef long long code = (row + SHEET_ROWS << 34) | (column + SHEET_COLUMNS << 2)
        key = code | node.row_absolute | node.column_absolute << 1
        if node.sheet is not None:
            key = (node.sheet, key)
        found = self.slots.get(key)
        if found is None:
            found = self.slots[key] = len(self.entries)
            if node.row == row and node.column == column:
                cell = node
            else:
                cell = Cell.__new__(Cell)
                cell.sheet, cell.row, cell.column = node.sheet, row, column
                cell.row_absolute, cell.column_absolute = node.row_absolute, node.column_absolute
            self.entries.append(cell)
        return found

    cdef Operation name(self, Name node):
        cdef _Variable variable
        if node.sheet is None:
            variable = self.variable(node.name)
            if variable is not None:
                return variable
            if self.slotted and node.name.upper().removeprefix("_XLETA.") not in FUNCTIONS:
                found = self.slots.get(node.name.casefold())
                if found is None:
                    found = self.slots[node.name.casefold()] = len(self.slots)
                    self.entries.append(node.name)
                    self.needs.append(found)
                return _SlotName(found)
        return _Name(node.sheet, node.name)

    cdef _Variable variable(self, str name):
        cdef Py_ssize_t out
        if not self.scopes:
            return None
        key = name.casefold()
        for out in range(len(self.scopes)):
            place = (<dict> self.scopes[len(self.scopes) - 1 - out]).get(key)
            if place is not None:
                return _Variable(out, place)
        return None

    cdef Operation unary(self, Unary node):
        cdef Operation operand
        if node.operator == "@":
            return _Intersect(self.compiled(node.operand, False), True)
        operand = self.compiled(node.operand, True)
        if node.operator == "+":
            return _Plus(operand)
        return self.folded(_Sign(operand, node.operator == "%"), operand, operand)

    cdef Operation folded(self, Operation operation, Operation left, Operation right):
        """The constant that an operator over constant numbers gives; else the operation."""
        if isinstance(left, _Constant) and isinstance(right, _Constant) and self.record is None:
            if not isinstance((<_Constant> left).value, (str, Array)):
                if not isinstance((<_Constant> right).value, (str, Array)):
                    return _constant(operation.run(_NOWHERE, None))
        return operation

    cdef Operation binary(self, Binary node, bint single):
        cdef Operation left, right
        cdef _Binary operation
        cdef _Arithmetic arithmetic
        cdef _Comparison comparison
        cdef bint last = self.level == 1 and (node.operator == "+" or node.operator == "-") and self.stands_bare(node)
        if node.operator == ":" or node.operator == "," or node.operator == " ":
            left = _Joint(self.compiled(node.left, False), self.compiled(node.right, False), node.operator)
            return _Intersect(left, False) if single and not self.arrays else left
        left, right = self.compiled(node.left, True), self.compiled(node.right, True)
        operator = _ARITHMETIC.get(node.operator)
        if operator is not None:
            arithmetic = _Arithmetic.__new__(_Arithmetic)
            arithmetic.operator, arithmetic.last = operator, last
            operation = arithmetic
        elif node.operator == "&":
            operation = _Join.__new__(_Join)
        else:
            comparison = _Comparison.__new__(_Comparison)
            comparison.operator = _COMPARISON[node.operator]
            operation = comparison
        operation.left, operation.right = left, right
        return self.folded(operation, left, right)

    cdef bint stands_bare(self, Binary node):
        """Whether the operator is the formula's last step: inside a parenthesis around everything Excel does not snap."""
        return not self.text[node.end :].strip()

    cdef Operation called(self, Call node, bint single):
        cdef _Variable variable
        cdef _Row row
        cdef _Call call_
        cdef Operation operation
        cdef str name = node.name
        if self.scopes:
            variable = self.variable(name)
            if variable is not None:
                operation = _Invoke(variable, self.passed(node.arguments))
                return _Intersect(operation, False) if single and not self.arrays else operation
        row = _row_of(name)
        if row is None:
            return self.unknown_call(node, single)
        self.functions.append(name)
        self.check_count(row, node)
        if row.body is None:
            return self.form(node, single)
        self.volatile = self.volatile or row.volatile
        call_ = _Call.__new__(_Call)
        call_.row, call_.body, call_.arrays = row, row.body, self.arrays
        call_.kinds = row.kinds
        if len(node.arguments) > len(row.kinds):
            call_.kinds = [row.kinds[row.place(index)] for index in range(len(node.arguments))]
        call_.operations = self.arguments(row, node.arguments)
        operation = call_
        if single and not self.arrays and row.refers:
            return _Intersect(operation, name == "ROW" or name == "COLUMN")
        return operation

    cdef Operation unknown_call(self, Call node, bint single):
        """A call of no function: of a defined name that may hold a lambda, or a fault."""
        if not self.unknown_as_name:
            raise UnsupportedFunction(node.name, node.start, _suggestions(node.name))
        self.unknown.append((node.name, node.start))
        operation = _Invoke(_Name(None, node.name), self.passed(node.arguments))
        return _Intersect(operation, False) if single and not self.arrays else operation

    cdef object check_count(self, _Row row, Call node):
        cdef Py_ssize_t count = len(node.arguments), rest
        if count == 1 and row.maximum == 0 and isinstance(node.arguments[0], Empty):
            return
        if row.minimum <= count <= row.maximum:
            rest = (count - row.fixed) % row.period if row.period > 1 and count > row.fixed else 0
            if not rest or row.body is None:
                return
            if not any([argument.required for argument in row.function.arguments[row.fixed + rest :]]):
                return
        raise SyntaxFault(
            f"{row.name} does not take {count} argument{'' if count == 1 else 's'}: {row.function.syntax}", node.start
        )

    cdef list arguments(self, _Row row, tuple nodes):
        cdef bint arrays = self.arrays
        cdef Py_ssize_t index
        cdef int kind
        cdef list operations = []
        cdef Node node
        for index in range(len(nodes)):
            node = nodes[index]
            if isinstance(node, Empty):
                operations.append(None)
                continue
            kind = row.kinds[row.place(index)]
            self.arrays = arrays or kind == K_ARRAY or kind == K_OPERAND or kind == K_LAMBDA
            operations.append(self.compiled(node, kind <= K_ANY))
            self.arrays = arrays
        return operations

    cdef Operation branch(self, Node node, bint single):
        return _constant(None) if isinstance(node, Empty) else self.compiled(node, single)

    cdef Operation form(self, Call node, bint single):
        """The functions that evaluate their own arguments, by name."""
        cdef tuple nodes = node.arguments
        cdef Py_ssize_t count = len(nodes), place
        cdef Operation first, second, third
        cdef str name = node.name
        if name == "IF":
            first, second = self.branch(nodes[0], True), self.branch(nodes[1], single)
            third = self.branch(nodes[2], single) if count > 2 else _constant(False)
            return _if(first, second, third)
        if name == "AND" or name == "OR" or name == "XOR":
            return _Logical(name, self.passed(nodes))
        if name == "TRUE" or name == "FALSE":
            return _constant(name == "TRUE")
        if name == "IFERROR" or name == "IFNA":
            return _IfError(self.branch(nodes[0], True), self.branch(nodes[1], single), name == "IFNA")
        if name == "IFS":
            if count % 2:
                raise SyntaxFault("IFS takes its conditions and values in pairs", node.start)
            third = _constant(ERROR_NA)
            for place in range(count - 2, -1, -2):
                third = _if(self.branch(nodes[place], True), self.branch(nodes[place + 1], single), third)
            return third
        if name == "CHOOSE":
            return _Choose(self.branch(nodes[0], True), [self.branch(choice, single) for choice in nodes[1:]])
        if name == "SWITCH":
            return self.switch(nodes, single)
        return self.binding_form(node, single)

    cdef Operation switch(self, tuple nodes, bint single):
        cdef Py_ssize_t pairs = (len(nodes) - 1) // 2, place
        keys = [self.branch(nodes[1 + 2 * place], True) for place in range(pairs)]
        results = [self.branch(nodes[2 + 2 * place], single) for place in range(pairs)]
        otherwise = _constant(ERROR_NA) if len(nodes) % 2 else self.branch(nodes[len(nodes) - 1], single)
        return _Switch(self.branch(nodes[0], True), keys, results, otherwise)

    cdef Operation binding_form(self, Call node, bint single):
        """LET, LAMBDA and the functions that call one."""
        cdef bint arrays = self.arrays
        cdef Operation operation
        if node.name == "LET":
            operation = self.let(node)
            return _Intersect(operation, False) if single and not arrays else operation
        if node.name == "ISOMITTED":
            variable = self.variable((<Name> node.arguments[0]).name) if isinstance(node.arguments[0], Name) else None
            return _constant(False) if variable is None else _IsOmitted(variable)
        self.arrays = True
        try:
            if node.name == "LAMBDA":
                return self.lambda_of(node)
            if node.name in ("MAP", "REDUCE", "SCAN", "BYROW", "BYCOL", "MAKEARRAY"):
                return _Helper(node.name, self.passed(node.arguments[: len(node.arguments) - 1]), self.compiled(node.arguments[len(node.arguments) - 1], False))
        finally:
            self.arrays = arrays
        raise TypeError(f"the machine has no form {node.name}")

    cdef Operation let(self, Call node):
        cdef Py_ssize_t pairs = len(node.arguments) // 2, place
        cdef list values = []
        cdef dict scope = {}
        if len(node.arguments) % 2 == 0:
            raise SyntaxFault("LET ends with the value to calculate, after its pairs of names and values", node.start)
        self.scopes.append(scope)
        for place in range(pairs):
            name = node.arguments[2 * place]
            if not isinstance(name, Name) or (<Name> name).sheet is not None:
                raise SyntaxFault("LET needs a name here", (<Node> name).start)
            key = (<Name> name).name.casefold()
            if key in scope:
                raise SyntaxFault(f"LET names {(<Name> name).name} twice", (<Node> name).start)
            values.append(self.branch(node.arguments[2 * place + 1], False))
            scope[key] = place
        operation = _Let(values, self.branch(node.arguments[len(node.arguments) - 1], False))
        self.scopes.pop()
        return operation

    cdef Operation lambda_of(self, Call node):
        cdef list names = [], parameters = []
        cdef int level = self.level, peak = self.peak
        for parameter in node.arguments[: len(node.arguments) - 1]:
            name, optional = _parameter(parameter)
            if name.casefold() in names:
                raise SyntaxFault(f"LAMBDA names {name} twice", (<Node> parameter).start)
            names.append(name.casefold())
            parameters.append((name, optional))
        self.level = self.peak = 1
        operation = self.callable(names, node.arguments[len(node.arguments) - 1])
        body = _Body(operation, self.peak + 2)
        self.level, self.peak = level, max(peak, level + self.peak)
        return _Lambda(tuple(parameters), body)


cdef object _parameter(Node node):
    """The (name, optional) of a parameter: x, or [x], which reads as a column of the formula's own table."""
    if isinstance(node, Name) and (<Name> node).sheet is None:
        return (<Name> node).name, False
    if isinstance(node, Structured) and (<Structured> node).table is None and (<Structured> node).first is not None:
        return (<Structured> node).first, True
    raise SyntaxFault("LAMBDA needs the name of a parameter here", node.start)


cdef object _suggestions(str name):
    from core.formula.suggest import did_you_mean  # it reads trees, and the catalogue that is being filled

    return did_you_mean(name)


cdef Environment _NOWHERE = Environment()


cdef class Program:
    """A compiled formula. It holds no values and may run in any environment, at any cell.

    `functions`: the names that it calls, in order of appearance; `unknown`: (name, position) of calls that are no
    functions of the catalogue; `volatile`: it calls RAND, NOW and the like; `slots`: what `environment.slots` must
    hold, a tree.Cell for cells and a string for names, in order (empty unless asked for), `needs`: the slot of each
    cell and name and the tuple of slots of each area that the formula mentions.
    """

    def run(self, Environment environment):
        """The value of a cell with this formula: blank is 0, a 1 x 1 Array its value; else value or Array.

        Raises:
            FormulaError: LimitExceeded, or what the environment says (MissingContext).
        """
        value = self.value(environment)
        if value is None:
            return 0.0
        if isinstance(value, Array) and None in (<Array> value).cells():
            cells = [0.0 if cell is None else cell for cell in (<Array> value).cells()]
            return _array((<Array> value).rows, (<Array> value).columns, cells)
        return value

    cpdef object value(self, Environment environment):
        """As `run`, blanks as None."""
        cdef object value
        try:
            value = _single(self.operation.run(environment, None))
        except RecursionError:
            return ERROR_NUM
        except MemoryError:
            raise LimitExceeded("the evaluation needs more memory than it may take") from None
        if not self.arrays and isinstance(value, Array):
            value = (<Array> value).at(0, 0)
        return ERROR_CALC if isinstance(value, Lambda) else value

    def refer(self, Environment environment):
        """The Reference (or Lambda) that the formula gives where it gives one (a defined name), else its value."""
        try:
            return self.operation.refer(environment, None)
        except RecursionError:
            return ERROR_NUM


def compile(Node tree, *, bint arrays=True, str text="", bint unknown_as_name=False, bint slots=False, list trace=None):
    """The Program of a parsed formula.

    `arrays`: everything lifts over arrays; else a plain cell formula of a file, with implicit intersection.
    `unknown_as_name`: a call of an unknown function looks for a defined name when it runs (NAME where there is none).
    `slots`: small references and names are read by place from `environment.slots`.
    `trace`: gets (start, end, value) of every sub-expression when the program runs.

    Raises:
        SyntaxFault: a function is given too few or too many arguments, or a name is missing where one is bound.
        UnsupportedFunction: a function is not in the catalogue.
    """
    return compile_tree(tree, text, arrays, unknown_as_name, slots, trace)


cdef Program compile_tree(Node tree, str text, bint arrays, bint unknown_as_name, bint slots, list trace):
    """`compile` for the other compiled modules."""
    cdef Program program = Program.__new__(Program)
    cdef Compiler compiler = Compiler.__new__(Compiler)
    if not _loaded:
        _load_functions()
    compiler.arrays, compiler.text, compiler.unknown_as_name = arrays, text, unknown_as_name
    compiler.slotted, compiler.record = slots, trace
    program.operation = compiler.compiled(tree, True)
    program.tree, program.text, program.arrays = tree, text, arrays
    program.volatile = compiler.volatile
    program.functions = tuple(dict.fromkeys(compiler.functions)) if compiler.functions else ()
    program.unknown = tuple(compiler.unknown)
    program.slots, program.needs = tuple(compiler.entries), tuple(compiler.needs)
    program.record = trace
    return program


cdef bint _loaded = False


cdef object _load_functions():
    global _loaded
    import core.formula.functions  # noqa: F401 - fills the catalogue

    _loaded = True
