# Part of machine.pyx: + - * / ^ & and comparisons, over values and arrays.

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
        a, b = _cropped(a, b), _cropped(b, a)
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
