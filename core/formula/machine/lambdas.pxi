# Part of machine.pyx: LET, LAMBDA and the functions that call a lambda again and again.

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

    def call(self, Environment environment, Lambda function, list arguments):
        """Return the value of the lambda whose body this is."""
        return call(environment, function, arguments)


cdef class _Builtin:
    """A function of the catalogue used as a value: BYROW(A1:B2, SUM). Compiled for each count of arguments."""

    cdef readonly str name
    cdef dict bodies

    def __cinit__(self, str name):
        self.name = name
        self.bodies = {}

    def call(self, Environment environment, Lambda function, list arguments):
        """Return the value of the function."""
        return call(environment, function, arguments)

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
            if isinstance(state, Array):  # lifted: of the arrays that come of it the first values
                element = part.part(0, 0, 1, 1)
                cells = [_call_single(environment, function, [cell, element]) for cell in (<Array> state).cells()]
                return _array((<Array> state).rows, (<Array> state).columns, cells)
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
            sizes.append(_single(None if value is OMITTED_VALUE else value))
        if isinstance(sizes[0], Array) or isinstance(sizes[1], Array):
            return self.first_made(environment, function, sizes[0], sizes[1])
        sizes = self.sizes(environment, sizes[0], sizes[1])
        if isinstance(sizes[0], Error):
            return sizes[0]
        environment.spend(min(sizes[0] * sizes[1], 1 << 60))
        cells = [
            _call_single(environment, function, [row + 1.0, column + 1.0])
            for row in range(sizes[0]) for column in range(sizes[1])
        ]
        return _array(sizes[0], sizes[1], cells)

    cdef list sizes(self, Environment environment, object rows, object columns):
        """How many rows and columns MAKEARRAY makes, or an Error alone."""
        cdef list sizes = [to_number(rows, environment.date_1904), to_number(columns, environment.date_1904)]
        for size in sizes:
            if isinstance(size, Error):
                return [size]
        if sizes[0] < 1.0 or sizes[1] < 1.0:
            return [ERROR_VALUE]
        return [int(size) for size in sizes]

    cdef object first_made(self, Environment environment, Lambda function, object rows, object columns):
        """MAKEARRAY lifted over several sizes: of each array its first value."""
        cdef list cells = []
        cdef Py_ssize_t height = 1, width = 1, row, column
        for sizes in (rows, columns):
            if isinstance(sizes, Array):
                height, width = max(height, (<Array> sizes).rows), max(width, (<Array> sizes).columns)
        environment.spend(height * width)
        for row in range(height):
            for column in range(width):
                size = self.sizes(environment, _at(rows, row, column), _at(columns, row, column))[0]
                cells.append(size if isinstance(size, Error) else _call_single(environment, function, [1.0, 1.0]))
        return _array(height, width, cells)
