# Part of machine.pyx: from tree to operations.

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

    cdef object places(self, Environment environment, Frame frame):
        cdef Array array
        value = seen = self.operand.places(environment, frame)
        if isinstance(value, _Places):
            array = <Array> value
            seen = _array(array.rows, array.columns, [_first(environment, cell) for cell in array.cells()])
        elif isinstance(value, Reference):
            seen = _read(environment, <Reference> value)
        self.record.append((self.start, self.end, seen))
        return value


cdef class Compiler:
    """One formula on its way from tree to operations."""

    cdef bint arrays, unknown_as_name, slotted
    cdef str text
    cdef list record, scopes, unknown, functions, entries, needs
    cdef dict slots
    cdef int level, peak
    cdef bint volatile, positional

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
        operation = self.reference(node, single)
        return _Intersect(operation, False) if single and not self.arrays else operation

    cdef Operation reference(self, Node node, bint single):
        cdef Operation operation
        if isinstance(node, Area):
            return self.area(<Area> node)
        if isinstance(node, Name):
            return self.name(<Name> node, single)
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
        if node.sheet is not None:
            first = Cell(node.sheet, None, first.row, first.column, first.row_absolute, first.column_absolute)
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
                slots.home = _area_reference(node, 0, 0)
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

    cdef Operation name(self, Name node, bint single):
        cdef _Variable variable
        cdef _SlotName slot
        if node.sheet is None:
            variable = self.variable(node.name)
            if variable is not None:
                return variable
            if self.slotted:
                found = self.slots.get(node.name.casefold())
                if found is None:
                    found = self.slots[node.name.casefold()] = len(self.entries)
                    self.entries.append(node.name)
                # Where no single value is expected, SUM may be the function itself: BYROW(A1:B2,SUM).
                if single or _builtin(node.name) is None:
                    self.needs.append(found)
                slot = _SlotName(None, node.name, not single)
                slot.slot = found
                return slot
        return _Name(node.sheet, node.name, not single)

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
            self.positional = True
            return _Intersect(self.compiled(node.operand, False), True)
        operand = self.compiled(node.operand, True)
        if node.operator == "+":
            return _Plus(operand)
        return self.folded(_Sign(operand, node.operator == "%"), operand, operand)

    cdef Operation folded(self, Operation operation, Operation left, Operation right):
        """The constant that an operator over constant numbers gives; else the operation."""
        if isinstance(operation, _Join):  # numbers are joined as the locale writes them
            return operation
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
        self.positional = self.positional or name in _POSITIONAL
        call_ = _Call.__new__(_Call)
        call_.row, call_.body, call_.arrays = row, row.body, self.arrays
        call_.kinds = row.kinds
        if len(node.arguments) > len(row.kinds):
            call_.kinds = [row.kinds[row.place(index)] for index in range(len(node.arguments))]
        call_.operations = self.arguments(row, node.arguments)
        operation = call_
        if not self.arrays and (name == "ROW" or name == "COLUMN"):
            return _Intersect(operation, True)  # a plain formula's SUM(ROW(A1:A5)) meets the first row alone
        if single and not self.arrays and row.refers:
            return _Intersect(operation, False)
        return operation

    cdef Operation unknown_call(self, Call node, bint single):
        """A call of no function: of a defined name that may hold a lambda, or a fault."""
        if not self.unknown_as_name:
            raise UnsupportedFunction(node.name, node.start, did_you_mean(node.name))
        self.unknown.append((node.name, node.start))
        operation = _Invoke(_Name(None, node.name, False), self.passed(node.arguments))
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
            self.arrays = arrays or kind == K_ARRAY or kind == K_VECTOR or kind == K_OPERAND or kind == K_LAMBDA
            # What refuses several cells has to see them: a plain formula does not cut them there.
            operations.append(self.compiled(node, kind <= K_ANY and (arrays or not row.is_single_cell(index))))
            self.arrays = arrays
            if (kind == K_RANGE or kind == K_TABLE or kind == K_REFERENCE) and isinstance(operations[index], _Name):
                (<_Name> operations[index]).functional = False
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


# What answers by the formula's own cell: ROW() and its kin.
cdef set _POSITIONAL = {"ROW", "COLUMN", "CELL", "INDIRECT", "FORMULATEXT", "SHEET"}


cdef object _parameter(Node node):
    """The (name, optional) of a parameter: x, or [x], which reads as a column of the formula's own table."""
    if isinstance(node, Name) and (<Name> node).sheet is None:
        return (<Name> node).name, False
    if isinstance(node, Structured) and (<Structured> node).table is None and (<Structured> node).first is not None:
        return (<Structured> node).first, True
    raise SyntaxFault("LAMBDA needs the name of a parameter here", node.start)
