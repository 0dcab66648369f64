# Part of machine.pyx: calls of the functions of the catalogue, lifted over arrays where their arguments are.

cdef class _Row:
    """A function as its calls need it."""

    cdef str name
    cdef object function, body
    cdef bint environment, volatile, refers, spreads, toolpak
    cdef list kinds, empties, single_cells
    cdef Py_ssize_t fixed, period, minimum, maximum

    def __cinit__(self, function):
        self.function = function
        self.name = function.name
        self.body = function.body
        self.environment = function.environment
        self.volatile = function.volatile
        self.kinds = [_kind_of(argument) for argument in function.arguments]
        self.empties = [argument.empty for argument in function.arguments]
        self.single_cells = [argument.single_cell for argument in function.arguments]
        self.toolpak = True in self.single_cells
        self.minimum, self.maximum, self.period = function.minimum, function.maximum, function.period
        self.fixed = len(function.arguments) - self.period
        self.refers = self.environment or K_OPERAND in self.kinds or K_REFERENCE in self.kinds
        self.spreads = self.name in _SPREADING

    cdef bint is_single_cell(self, Py_ssize_t index):
        """Whether a reference to several cells is an error in an argument."""
        return self.toolpak and <bint> self.single_cells[self.place(index)]

    cdef Py_ssize_t place(self, Py_ssize_t index):
        if index < len(self.kinds) or not self.period:
            return index
        return self.fixed + (index - self.fixed) % self.period


# Functions that take ranges of cells only: given several references they answer for each of them.
cdef set _SPREADING = {
    "AVERAGEIF", "AVERAGEIFS", "COUNTBLANK", "COUNTIF", "COUNTIFS", "MAXIFS", "MINIFS", "SUMIF", "SUMIFS",
}

cdef dict _ROWS = {}


cdef int _kind_of(argument):
    cdef int kind = _KINDS[argument.kind]
    return _PARTLY.get(kind, kind) if argument.partly else kind


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
    return ERROR_VALUE if isinstance(value, Lambda) else value


cdef object _one_cell(Environment environment, object value):
    """What stands in the one cell of a reference, VALUE for several; anything else as it is."""
    cdef Reference reference
    if not isinstance(value, Reference):
        return value
    reference = <Reference> value
    if reference.top != reference.bottom or reference.left != reference.right:
        return ERROR_VALUE
    return _read(environment, reference)


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
            if kind == K_ARRAY or kind == K_VECTOR:
                return _array(1, 1, [value])
            if kind == K_REFERENCE or kind == K_LAMBDA:
                return ERROR_VALUE
            return _coerced(kind, value, environment.date_1904)
        if kind <= K_ANY:
            if self.row.toolpak and not isinstance(operation, _Cell) and self.row.is_single_cell(index):
                value = _one_cell(environment, operation.refer(environment, frame))
            else:
                value = operation.run(environment, frame)
            if PyFloat_CheckExact(value) and (kind == K_NUMBER or kind >= K_VALUE):
                return value
            value = _single(value)
            return value if isinstance(value, Array) else _coerced(kind, value, environment.date_1904)
        if kind == K_RANGE:
            if self.row.spreads and isinstance(operation, (_Call, _Trace)):
                value = operation.places(environment, frame)
                if isinstance(value, Reference):
                    return _read_array(environment, <Reference> value)
            else:
                value = operation.supply(environment, frame)
            return ERROR_VALUE if isinstance(value, Lambda) else value
        if kind == K_ARRAY:
            value = operation.supply(environment, frame)
            return value if isinstance(value, Array) else _array(1, 1, [value])
        if kind == K_TABLE or kind == K_VECTOR:
            return self.table(operation, kind, environment, frame)
        if kind == K_REFERENCE:
            value = operation.places(environment, frame)
            return value if isinstance(value, (Reference, Error, _Places)) else ERROR_VALUE
        value = operation.refer(environment, frame)
        if kind == K_OPERAND:
            return value
        return value if isinstance(value, (Lambda, Error)) else ERROR_VALUE

    cdef object table(self, Operation operation, int kind, Environment environment, Frame frame):
        """An argument of which the body reads a part: a Reference while cells may have to wait, else the cells."""
        if not environment.calculating:
            value = operation.supply(environment, frame)
        else:
            value = operation.refer(environment, frame)
            if isinstance(value, Reference):
                return _read_array(environment, <Reference> value) if (<Reference> value).more else value
        if kind == K_VECTOR:
            return value if isinstance(value, Array) else _array(1, 1, [value])
        return ERROR_VALUE if isinstance(value, Lambda) else value

    cdef object refer(self, Environment environment, Frame frame):
        return self.answer(environment, frame, False)

    cdef object places(self, Environment environment, Frame frame):
        return self.answer(environment, frame, True)

    cdef object answer(self, Environment environment, Frame frame, bint places):
        cdef list arguments = [environment] if self.row.environment else []
        cdef Py_ssize_t index
        cdef int kind
        cdef bint lifts = False
        cdef Error error = None
        for index in range(len(self.operations)):
            value = self.argument(index, environment, frame)
            kind = self.kinds[index]
            if isinstance(value, Array) and (kind <= K_ANY or isinstance(value, _Places)):
                lifts = True
            elif isinstance(value, Error) and (kind < K_ANY or kind == K_REFERENCE or kind == K_LAMBDA):
                if not self.arrays:
                    return value
                if error is None:
                    error = <Error> value
            arguments.append(value)
        if lifts:
            return self.lifted(environment, arguments, places)
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
        except UnicodeError:  # half of a surrogate pair
            return ERROR_VALUE
        except (OverflowError, ValueError):  # a number that Python's own function has no answer for
            return ERROR_NUM
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            if _holds_lambda(arguments):  # HSTACK(SUM,COUNT) is an array of functions, which few functions can use
                return ERROR_VALUE
            raise BodyFault(self.row.name, error) from error

    cdef object lifted(self, Environment environment, list arguments, bint keep):
        """The call for every element of its array arguments; `keep`: as `_Places` where that gives references."""
        cdef Py_ssize_t rows = 1, columns = 1, row, column, place
        cdef Py_ssize_t first = 1 if self.row.environment else 0
        cdef list cells = [], places = []
        cdef _Places kept
        for place in range(first, len(arguments)):
            value = arguments[place]
            if isinstance(value, Array) and (<int> self.kinds[place - first] <= K_ANY or isinstance(value, _Places)):
                places.append(place)
                rows, columns = max(rows, (<Array> value).rows), max(columns, (<Array> value).columns)
        environment.spend(rows * columns)
        for row in range(rows):
            for column in range(columns):
                cells.append(self.element(environment, list(arguments), places, row, column, first))
        if not keep or not any([isinstance(cell, Reference) for cell in cells]):
            return _array(rows, columns, [_first(environment, cell) for cell in cells])
        kept = _Places.__new__(_Places)
        kept.rows, kept.columns, kept._cells = rows, columns, cells
        return kept

    cdef object element(
        self, Environment environment, list arguments, list places, Py_ssize_t row, Py_ssize_t column, Py_ssize_t first
    ):
        cdef Py_ssize_t place
        cdef int kind
        for place in places:
            kind = self.kinds[place - first]
            value = _at(arguments[place], row, column)
            if kind <= K_ANY:
                value = _coerced(kind, value, environment.date_1904)
            elif kind == K_RANGE and isinstance(value, Reference):
                value = _read_array(environment, <Reference> value)
            arguments[place] = value
        for place in range(first, len(arguments)):
            kind = self.kinds[place - first]
            if isinstance(arguments[place], Error) and (kind < K_ANY or kind == K_REFERENCE or kind == K_LAMBDA):
                return arguments[place]
        environment.spend(1)
        return self.called(arguments)


cdef bint _holds_lambda(list arguments):
    for value in arguments:
        if isinstance(value, Array):
            if _holds_lambda((<Array> value).cells()):
                return True
        elif isinstance(value, Lambda):
            return True
    return False
