# Part of machine.pyx: functions that decide themselves what they evaluate.

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
    choices = [_cropped(choice, picks) for choice in choices]
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


cdef bint _is_case(object subject, object key) except -1:
    """Whether SWITCH takes two values for the same: as `=`, but that a blank is neither FALSE nor an empty text."""
    if (subject is None and isinstance(key, (bool, str))) or (key is None and isinstance(subject, (bool, str))):
        return False
    return equal(subject, key)


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
            if not isinstance(key, Array) and _is_case(subject, key):
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
                    if _is_case(value, key):
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
    """AND, OR and XOR: every argument counts, arrays by their numbers and booleans; text only as TRUE or FALSE."""

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
            as_logical = to_logical(value)
            if isinstance(as_logical, Error):
                if isinstance(value, str) and not value:
                    continue  # Excel passes by an empty text: OR("",TRUE) is TRUE, OR("1",TRUE) is #VALUE!
                return as_logical
            seen += 1
            true += <bint> as_logical
        if not seen:
            return ERROR_VALUE
        if self.name == "AND":
            return true == seen
        return true > 0 if self.name == "OR" else true % 2 == 1
