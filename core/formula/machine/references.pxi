# Part of machine.pyx: operations that name cells.

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

    cdef object places(self, Environment environment, Frame frame):
        """As `refer`; of a call lifted to several references, OFFSET(A1,{0,1},0), the references as `_Places`."""
        return self.refer(environment, frame)


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
    cdef object home  # what `refer` gives in A1, where a library's formula stands

    cdef object run(self, Environment environment, Frame frame):
        return self.supply(environment, frame)

    cdef object supply(self, Environment environment, Frame frame):
        cdef list cells, values = environment.slots
        cdef Py_ssize_t slot
        if environment.row == 0 and environment.column == 0:
            reference = self.home
        else:
            reference = self.refer(environment, frame)
        if self.slots is None:
            cells = values[self.first : self.first + self.rows * self.columns]
        else:
            cells = [values[slot] for slot in self.slots]
        return _array(self.rows, self.columns, cells, reference if isinstance(reference, Reference) else None)


cdef Lambda _builtin(str name):
    """The function of the catalogue that a name means where no name is defined so; None where there is none."""
    function = FUNCTIONS.get(name.upper().removeprefix("_XLETA."))
    return None if function is None else Lambda((), _Builtin(function.name), None)


@cython.no_gc
cdef class _Name(_Referring):
    """A defined name. `functional`: where a function may stand, as SUM in BYROW(A1:B2,SUM), an unknown one is its name."""

    cdef str sheet, name
    cdef bint functional

    def __cinit__(self, str sheet, str name, bint functional):
        self.sheet, self.name, self.functional = sheet, name, functional

    cdef object refer(self, Environment environment, Frame frame):
        try:
            value = environment.name(self.sheet, self.name)
        except Failure as failure:
            return failure.error
        if value is ERROR_NAME and self.functional and self.sheet is None:
            return _builtin(self.name) or value
        return value


@cython.no_gc
cdef class _SlotName(_Name):
    """A defined name whose value the environment holds by place; NAME there for one that is not given."""

    cdef Py_ssize_t slot

    cdef object refer(self, Environment environment, Frame frame):
        value = environment.slots[self.slot]
        return _builtin(self.name) or value if value is ERROR_NAME and self.functional else value


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
