# From a tree to a plan.

@cython.final
cdef class _Column:
    """A column that a plan reads, with the rows that it needs of it."""

    cdef readonly object sheet
    cdef readonly Py_ssize_t column
    cdef readonly bint absolute
    cdef readonly Py_ssize_t low  # the rows, from the formula's own
    cdef readonly Py_ssize_t high
    cdef readonly Py_ssize_t anchor  # a fixed row of the sheet from which on it is read; -1 for none

    def __init__(self, sheet, Py_ssize_t column, bint absolute):
        self.sheet, self.column, self.absolute = sheet, column, absolute
        self.low, self.high, self.anchor = ROWS_MAX, -<Py_ssize_t> ROWS_MAX, -1

    cdef void reach(self, Py_ssize_t low, Py_ssize_t high):
        self.low, self.high = min(self.low, low), max(self.high, high)


@cython.final
cdef class Plan:
    """A formula as instructions over columns. Immutable; one plan may run in several threads at once."""

    cdef readonly tuple inputs
    cdef list roles, slots, window_slots, running, fixed, lifts
    cdef dict programs  # of the parts that are the same in every row
    cdef Py_ssize_t weight  # cells that one row looks at
    cdef Instruction *instructions
    cdef int instruction_count
    cdef int *input_registers
    cdef int *input_slots
    cdef Py_ssize_t *input_distances
    cdef int input_count
    cdef Item *items
    cdef int *choices
    cdef int result
    cdef bint calls_columns
    cdef bint aggregates
    cdef bint reads_rows_only  # nothing but cells of the row
    cdef object recipe  # of its loop, False until it is looked for
    cdef bint is_straight  # its loop did all of the last long run, which read nothing but whole columns beside it
    cdef dict loop_kinds  # what its loop comes to, by the kinds of the inputs

    def __cinit__(self):
        self.recipe, self.loop_kinds = False, {}

    def __dealloc__(self):
        free(self.instructions)
        free(self.input_registers)
        free(self.input_slots)
        free(self.input_distances)
        free(self.items)
        free(self.choices)

    def run(self, source, Py_ssize_t row, Py_ssize_t column, Py_ssize_t rows, Span into=None):
        """The values of the formula in `rows` cells of one column, from a 0-based row and column of its sheet on.

        `source` has `pool`, `environment` and `span(sheet, column, first_row, rows)`. The environment is made to stand
        in the first cell; what is the same in every row is read from it, once. A blank result is 0, as in a cell. The
        arrays may be shared and read-only. They are those of `into`, if that is given and the formula does not read its
        own column; where nothing comes of the run, some of its rows may have been written.

        Returns:
            The span, or None where the plan turned out not to be columnwise here (a reference that leaves the sheet, an
            array where one value is wanted, cells of its own column below): then each cell must be computed by itself.

        Raises:
            LimitExceeded: the environment's deadline has passed.
        """
        return self.run_beside(source, row, column, rows, False, into)

    cdef object run_beside(self, source, Py_ssize_t row, Py_ssize_t column, Py_ssize_t rows, bint beside,
                            Span into=None):
        """As `run`; `beside`: the formula's own cells are none of the sheet's, whatever column it counts from."""
        cdef Environment environment = source.environment
        cdef PyObject *before
        if rows == 0:
            return Span(np.empty(0, np.uint8), np.empty(0), np.empty(0, np.int32))
        before = enter_environment(<PyObject *> environment)
        try:
            return _Run(self, source, row, column, rows, beside, into).span()
        except (NotColumnar, Failure):
            return None
        finally:
            enter_environment(before)

    cdef object fusible(self):
        """The recipe of its loop, or None."""
        if self.recipe is False:
            self.recipe = _recipe_of(self)
        return self.recipe

    cdef int loop_kind(self, bytes kinds) except -1:
        """The kind of its loop's result for inputs of these kinds."""
        found = self.loop_kinds.get(kinds)
        if found is None:
            if len(self.loop_kinds) >= JUDGED_MAX:
                self.loop_kinds.clear()
            found = self.loop_kinds[kinds] = self.recipe.kind(kinds)
        return found

    cdef void take(self, _Planner planner) except *:
        """Move what the planner found into flat arrays."""
        cdef int at
        self.roles, self.slots, self.window_slots = planner.roles, planner.slots, planner.window_slots
        self.running, self.fixed, self.lifts = planner.running, planner.fixed, planner.lifts
        self.inputs = tuple([(c.sheet, c.column, c.absolute, c.low, c.high, c.anchor if c.anchor >= 0 else None)
                             for c in planner.slots])
        self.calls_columns = any((<_Lift> lift).column_body is not None for lift in planner.lifts)
        self.aggregates = bool(planner.items)
        self.weight = planner.weight
        parts = [role for role in planner.roles if isinstance(role, Node)] + [node for node, _ in planner.fixed]
        self.reads_rows_only = not planner.window_slots and not planner.fixed and all(
            [isinstance(role, (tuple, Literal)) for role in planner.roles if role is not None])
        self.programs = {node: compile(node) for node in parts if not isinstance(node, Literal)}
        inputs = [(at, role) for at, role in enumerate(planner.roles) if isinstance(role, tuple)]
        self.instructions = <Instruction *> _room(len(planner.instructions), sizeof(Instruction))
        self.input_registers = <int *> _room(len(inputs), sizeof(int))
        self.input_slots = <int *> _room(len(inputs), sizeof(int))
        self.input_distances = <Py_ssize_t *> _room(len(inputs), sizeof(Py_ssize_t))
        self.items = <Item *> _room(len(planner.items), sizeof(Item))
        self.choices = <int *> _room(len(planner.choices), sizeof(int))
        self.instruction_count, self.input_count = len(planner.instructions), len(inputs)
        for at, (operation, out, a, b, c, extra) in enumerate(planner.instructions):
            self.instructions[at] = Instruction(operation, out, a, b, c, extra)
        for at, (register, (slot, distance)) in enumerate(inputs):
            self.input_registers[at], self.input_slots[at], self.input_distances[at] = register, slot, distance
        for at, (kind, register, slot, width, low, high) in enumerate(planner.items):
            self.items[at] = Item(kind, register, slot, width, low, high)
        for at, register in enumerate(planner.choices):
            self.choices[at] = register


cdef void *_room(Py_ssize_t count, size_t size) except NULL:
    cdef void *memory = calloc(max(count, 1), size)
    if memory == NULL:
        raise MemoryError
    return memory


def plan(Node tree not None, *, str text="", is_fixed_name=None):
    """The plan of a formula, or None where it must be computed cell by cell.

    `text` tells whether the whole formula stands in parentheses, where a difference does not snap to 0.
    `is_fixed_name(sheet, name)` tells of a defined name whether it means the same in every row; without it a formula
    with names has no plan.
    """
    cdef _Planner planner = _Planner(text, is_fixed_name)
    cdef Plan made = Plan()
    try:
        made.result = planner.alone(planner.root(tree))
        made.take(planner)
    except (NotColumnar, FormulaError):
        return None
    return made


_ARITHMETIC = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE}
_BINARY = {
    "=": EQUAL, "<>": UNEQUAL, "<": LESS, ">": GREATER, "<=": LESS_EQUAL, ">=": GREATER_EQUAL, "^": POWER, "&": JOIN,
}
_NUMBER_FUNCTIONS = {
    "ABS": ABSOLUTE, "SIGN": SIGN, "INT": WHOLE, "SQRT": ROOT, "YEAR": YEAR, "MONTH": MONTH, "DAY": DAY,
}
_DIGIT_FUNCTIONS = {"ROUND": ROUND, "ROUNDUP": ROUND_UP, "ROUNDDOWN": ROUND_DOWN}
_QUESTIONS = {
    "ISNUMBER": IS_NUMBER, "ISBLANK": IS_BLANK, "ISERROR": IS_ERROR, "ISERR": IS_ERROR_BUT_MISSING, "ISNA": IS_MISSING,
    "ISTEXT": IS_TEXT, "ISNONTEXT": IS_NO_TEXT, "ISLOGICAL": IS_LOGICAL,
}
_AGGREGATES = {
    "SUM": SUM, "AVERAGE": AVERAGE, "COUNT": COUNT, "COUNTA": COUNT_ANY, "MIN": MINIMUM, "MAX": MAXIMUM,
    "PRODUCT": PRODUCT, "AND": ALL_TRUE, "OR": ANY_TRUE, "XOR": ODD_TRUE,
}
_STEADY_VOLATILES = frozenset(("TODAY", "NOW"))
"""Volatile functions whose value is the same in all cells of one recalculation."""

_ROWLESS = frozenset(("COLUMN", "COLUMNS"))
"""Functions of a reference that never see its rows."""

cdef object _SINGLE_KINDS = frozenset((
    Takes.NUMBER, Takes.INTEGER, Takes.TEXT, Takes.LOGICAL, Takes.VALUE, Takes.ANY,
))


@cython.final
cdef class _Planner:
    """Registers are numbered as they are needed; `roles` has for each its (slot, distance) if it is an input, its node
    if it is a scalar, None if it is computed. What is computed and used once gives its register back."""

    cdef object is_fixed_name
    cdef str text
    cdef int depth
    cdef dict slot_of, input_of, scope
    cdef list roles, slots, window_slots, running, fixed, lifts, instructions, items, choices, spare
    cdef set pinned
    cdef Py_ssize_t weight

    def __init__(self, str text, is_fixed_name):
        self.text, self.depth, self.weight = text, 0, 1
        self.is_fixed_name = is_fixed_name
        self.slot_of, self.input_of, self.scope = {}, {}, {}
        self.roles, self.slots, self.window_slots, self.running, self.fixed = [], [], [], [], []
        self.lifts, self.instructions, self.items, self.choices, self.spare = [], [], [], [], []
        self.pinned = set()

    cdef int root(self, Node tree) except -1:
        """The last operation of a formula snaps to 0, unless parentheses stand around all of it."""
        if (isinstance(tree, Binary) and (<Binary> tree).operator in ("+", "-") and not self.is_fixed(tree)
                and "(" not in self.text[: tree.start]):
            return self.two(_ARITHMETIC[(<Binary> tree).operator], (<Binary> tree).left, (<Binary> tree).right, 1)
        return self.value(tree)

    cdef int alone(self, int result):
        """The register of the result, which is the memory of the answer: what else one has held is no input then."""
        cdef int last = len(self.instructions) - 1, register
        if last >= 0 and self.instructions[last][1] == result:
            operation, _, *rest = self.instructions[last]
            register = self.new(None)
            self.instructions[last] = (operation, register, *rest)
            return register
        return result

    # Registers.

    cdef int new(self, role):
        self.roles.append(role)
        return len(self.roles) - 1

    cdef int emit(self, int operation, list reads, int a=0, int b=0, int c=0, int extra=0):
        """Append an instruction; its result's register. `reads` are the registers that are free after it."""
        cdef int out = self.spare.pop() if self.spare else self.new(None)
        self.instructions.append((operation, out, a, b, c, extra))
        for register in set(reads):
            if self.roles[register] is None and register not in self.pinned:
                self.spare.append(register)
        return out

    cdef int scalar(self, Node node):
        return self.new(node)

    cdef int constant(self, value):
        return self.new(Literal(value))

    cdef int slot(self, sheet, Py_ssize_t column, bint absolute):
        key = (sheet, column, absolute)
        if key not in self.slot_of:
            self.slot_of[key] = len(self.slots)
            self.slots.append(_Column(sheet, column, absolute))
        return self.slot_of[key]

    cdef int input(self, sheet, Py_ssize_t column, bint absolute, Py_ssize_t distance):
        cdef int slot = self.slot(sheet, column, absolute)
        key = (slot, distance)
        if key not in self.input_of:
            (<_Column> self.slots[slot]).reach(distance, distance)
            self.input_of[key] = self.new(key)
        return self.input_of[key]

    # What is the same in every row.

    cdef bint is_fixed(self, Node node, int place=ONE_VALUE) except -1:
        """Whether a part has one value for all rows. Raises NotColumnar for what no plan may hold."""
        cdef bint fixed
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise NotColumnar
        fixed = self.is_fixed_node(node, place)
        self.depth -= 1
        return fixed

    cdef bint is_fixed_node(self, Node node, int place) except -1:
        cdef int operand = place if place == ONE_VALUE or place == ANY_SHAPE else WITHIN_RANGE
        if isinstance(node, (Literal, Empty, ArrayLiteral)):
            return True
        if isinstance(node, Cell):
            return (<Cell> node).row_absolute
        if isinstance(node, Area):
            return self.is_fixed_area(<Area> node, place)
        if isinstance(node, Unary) and (<Unary> node).operator != "@":
            return self.is_fixed((<Unary> node).operand, operand)
        if isinstance(node, Binary) and (<Binary> node).operator not in ":, ":
            return self.is_fixed((<Binary> node).left, operand) & self.is_fixed((<Binary> node).right, operand)
        if isinstance(node, Call):
            return self.is_fixed_call(<Call> node, place)
        if isinstance(node, Unary) and isinstance((<Unary> node).operand, Cell):
            return self.is_fixed((<Unary> node).operand, place)
        if isinstance(node, Name):
            if (<Name> node).sheet is None and (<Name> node).name.casefold() in self.scope:
                return False
            if place != WITHIN_RANGE and self.is_fixed_name is not None:
                if self.is_fixed_name((<Name> node).sheet, (<Name> node).name):
                    return True
        elif isinstance(node, Structured) and (place == RANGE or place == ANY_SHAPE):
            if "#This Row" not in (<Structured> node).items:
                return True
        elif isinstance(node, Spill) and (place == RANGE or place == ANY_SHAPE):
            return self.is_fixed((<Spill> node).operand, place)
        raise NotColumnar

    cdef bint is_fixed_area(self, Area node, int place) except -1:
        cdef bint fixed = node.whole_columns or (node.first.row_absolute and node.last.row_absolute)
        if fixed and (place == ONE_VALUE or place == WITHIN_RANGE):  # it is cut with the formula's own row
            raise NotColumnar
        return fixed

    cdef bint is_fixed_call(self, Call node, int place) except -1:
        function = FUNCTIONS.get(node.name)
        if function is None or not _takes(function, len(node.arguments)):
            raise NotColumnar
        if function.volatile and node.name not in _STEADY_VOLATILES or node.name == "LAMBDA":
            raise NotColumnar
        if node.name == "LET":
            return False
        if node.name in _ROWLESS and (not node.arguments or isinstance(node.arguments[0], (Cell, Area))):
            return True
        fixed = True
        for at, argument in enumerate(node.arguments):
            fixed &= self.is_fixed(argument, self.place_of(function, at, place))
        if not fixed:
            return False
        return bool(node.arguments) or not function.environment or function.volatile

    cdef int place_of(self, function, Py_ssize_t at, int place):
        """Where an argument stands, for a call that stands in some place."""
        if place == ANY_SHAPE:
            return ANY_SHAPE
        if function.body is None and function.name not in ("AND", "OR", "XOR"):
            return ONE_VALUE if place == ONE_VALUE else WITHIN_RANGE
        kind = function.argument(at).kind
        if kind is Takes.RANGE or kind is Takes.REFERENCE:
            return RANGE
        if kind in _SINGLE_KINDS:
            return ONE_VALUE if place == ONE_VALUE else WITHIN_RANGE
        return ANY_SHAPE

    # Values.

    cdef int value(self, Node node) except -1:
        """The register of a part's value."""
        if isinstance(node, (Area, ArrayLiteral)):
            raise NotColumnar
        if isinstance(node, Name) and (<Name> node).sheet is None and (<Name> node).name.casefold() in self.scope:
            return self.scope[(<Name> node).name.casefold()][0]
        if self.is_fixed(node):
            return self.scalar(node)
        if isinstance(node, Cell):
            return self.cell(<Cell> node)
        if isinstance(node, Unary):
            return self.unary(<Unary> node)
        if isinstance(node, Binary):
            return self.binary(<Binary> node)
        if isinstance(node, Call):
            return self.call(<Call> node)
        raise NotColumnar

    cdef int cell(self, Cell node) except -1:
        if node.last_sheet is not None:
            raise NotColumnar
        return self.input(node.sheet, node.column, node.column_absolute, node.row)

    cdef int unary(self, Unary node) except -1:
        cdef int a
        if node.operator == "@" and not isinstance(node.operand, Cell):
            raise NotColumnar
        a = self.value(node.operand)
        if node.operator in ("+", "@"):
            return a
        return self.emit(FUNCTION, [a], a, a, 0, NEGATE if node.operator == "-" else PERCENT)

    cdef int binary(self, Binary node) except -1:
        if node.operator in _ARITHMETIC:
            return self.two(_ARITHMETIC[node.operator], node.left, node.right, 0)
        if node.operator in _BINARY:
            return self.two(_BINARY[node.operator], node.left, node.right, 0)
        raise NotColumnar

    cdef int two(self, int operation, Node left, Node right, int extra) except -1:
        cdef int a = self.value(left)
        cdef int b = self.value(right)
        return self.emit(operation, [a, b], a, b, 0, extra)

    # Calls.

    cdef int call(self, Call node) except -1:
        cdef int a
        cdef tuple arguments = node.arguments
        name = node.name
        if name in _AGGREGATES:
            return self.aggregate(node, _AGGREGATES[name])
        if name in _QUESTIONS and not isinstance(arguments[0], Empty):
            a = self.value(arguments[0])
            return self.emit(ASK, [a], a, 0, 0, _QUESTIONS[name])
        if name in _NUMBER_FUNCTIONS:
            a = self.value(arguments[0])
            return self.emit(FUNCTION, [a], a, a, 0, _NUMBER_FUNCTIONS[name])
        if name in _DIGIT_FUNCTIONS:
            return self.two(FUNCTION, arguments[0], arguments[1], _DIGIT_FUNCTIONS[name])
        if name in ("IFERROR", "IFNA"):
            return self.two(INSTEAD, arguments[0], arguments[1], name == "IFNA")
        if name == "NOT":
            a = self.value(arguments[0])
            return self.emit(INVERT, [a], a)
        if name == "IF":
            return self.choice(arguments[0], self.value(arguments[1]),
                               self.value(arguments[2]) if len(arguments) == 3 else self.constant(False))
        if name == "IFS":
            return self.first_true(arguments)
        if name == "SWITCH":
            return self.switch(arguments)
        if name == "CHOOSE":
            return self.choose(arguments)
        if name == "LET":
            return self.let(arguments)
        if name in ("ROW", "ROWS"):
            return self.rows(name, arguments)
        return self.lift(node)

    cdef int choice(self, Node condition, int a, int b) except -1:
        cdef int decides = self.value(condition)
        return self.emit(SELECT, [decides, a, b], decides, a, b)

    cdef int first_true(self, tuple arguments) except -1:
        """IFS, as IFs inside each other."""
        cdef int so_far = self.constant(NA), at
        if len(arguments) % 2:
            raise NotColumnar
        for at in range(len(arguments) - 2, -1, -2):
            so_far = self.choice(arguments[at], self.value(arguments[at + 1]), so_far)
        return so_far

    cdef int switch(self, tuple arguments) except -1:
        cdef int subject = self.value(arguments[0]), so_far, at, other, same, answer
        cdef tuple pairs = arguments[1:]
        if len(pairs) < 2:
            raise NotColumnar
        self.pinned.add(subject)
        if len(pairs) % 2:
            so_far, pairs = self.value(pairs[len(pairs) - 1]), pairs[:len(pairs) - 1]
        else:
            so_far = self.constant(NA)
        for at in range(len(pairs) - 2, -1, -2):
            answer, other = self.value(pairs[at + 1]), self.value(pairs[at])
            same = self.emit(EQUAL, [other], subject, other, 0, 1)
            so_far = self.emit(SELECT, [same, answer, so_far], same, answer, so_far)
        return so_far

    cdef int choose(self, tuple arguments) except -1:
        cdef int index = self.value(arguments[0]), start
        registers = [self.value(argument) for argument in arguments[1:]]
        start = len(self.choices)
        self.choices.extend(registers)
        return self.emit(CHOOSE, [index, *registers], index, len(registers), 0, start)

    cdef int let(self, tuple arguments) except -1:
        cdef int at, register
        outer = dict(self.scope)
        if len(arguments) % 2 == 0:
            raise NotColumnar
        for at in range(0, len(arguments) - 1, 2):
            if not isinstance(arguments[at], Name) or (<Name> arguments[at]).sheet is not None:
                raise NotColumnar
            register = self.value(arguments[at + 1])
            self.pinned.add(register)
            self.scope[(<Name> arguments[at]).name.casefold()] = register, self.origin(arguments[at + 1])
        register = self.value(arguments[len(arguments) - 1])
        self.scope = outer
        return register

    cdef int rows(self, str name, tuple arguments) except -1:
        """ROW of a cell, and ROWS of a range that grows: a count that starts somewhere."""
        cdef Area area
        if name == "ROW" and (not arguments or isinstance(arguments[0], Cell)):
            return self.emit(OWN_ROW, [], 0, 0, 0, 1 + (<Cell> arguments[0]).row if arguments else 1)
        if name == "ROWS" and isinstance(arguments[0], Area):
            area = arguments[0]
            if area.first.row_absolute and not area.last.row_absolute:
                # Only where the range does not turn round: its first row is anchored, so that the run refuses it.
                (<_Column> self.slots[self.slot(area.sheet, area.first.column, area.first.column_absolute)]).reach(0, 0)
                raise NotColumnar
            if not area.first.row_absolute and not area.last.row_absolute:
                return self.constant(float(abs(area.last.row - area.first.row) + 1))
        raise NotColumnar

    # Windows and aggregates.

    cdef tuple window(self, Area area):
        """(first window slot, width, low, high, sheet, (column, absolute), anchored) of a range that moves with the
        row; with a fixed first row, `low` is that row."""
        cdef Cell first = area.first, last = area.last
        cdef Py_ssize_t low, high, left, right, column
        cdef int slot, start = len(self.window_slots)
        if area.last_sheet is not None or area.whole_rows or last.row_absolute:
            raise NotColumnar
        if first.column_absolute != last.column_absolute:
            raise NotColumnar
        left, right = min(first.column, last.column), max(first.column, last.column)
        if first.row_absolute:
            low, high = first.row, last.row
        else:
            low, high = min(first.row, last.row), max(first.row, last.row)
        if (right - left + 1) * (1 if first.row_absolute else high - low + 1) > WINDOW_CELLS_MAX:
            raise NotColumnar
        self.weight += (right - left + 1) * (1 if first.row_absolute else high - low + 1)
        for column in range(left, right + 1):
            slot = self.slot(area.sheet, column, first.column_absolute)
            self.window_slots.append(slot)
            read = <_Column> self.slots[slot]
            read.reach(high if first.row_absolute else low, high)
            if first.row_absolute:
                read.anchor = low if read.anchor < 0 else min(read.anchor, low)
        return start, right - left + 1, low, high, area.sheet, (left, first.column_absolute), bool(first.row_absolute)

    cdef int aggregate(self, Call node, int function) except -1:
        cdef int start, register, at
        cdef list reads = [], items = []
        for at, argument in enumerate(node.arguments):
            if isinstance(argument, Cell) and (<Cell> argument).last_sheet is not None:
                return self.lift(node)
            if isinstance(argument, (Name, ArrayLiteral)):
                return self.lift(node)
            if isinstance(argument, Area) and (
                    self.is_fixed(argument, RANGE) or (<Area> argument).first.row_absolute and at):
                return self.lift(node)
            if isinstance(argument, Area):
                slot, width, low, high, _, _, anchored = self.window(<Area> argument)
                if anchored:
                    self.running.append((function, low))
                    items.append((RUNNING_ITEM, len(self.running) - 1, slot, width, low, high))
                else:
                    items.append((SLIDING_ITEM, 0, slot, width, low, high))
            else:
                register = self.value(argument)
                reads.append(register)
                items.append((CELL_ITEM if self.origin(argument) == FROM_CELL else VALUE_ITEM, register, 0, 0, 0, 0))
        start = len(self.items)
        self.items.extend(items)
        return self.emit(AGGREGATE, reads, len(items), 0, function, start)

    cdef int origin(self, Node node) except -1:
        """Whether a value comes through a reference, where a function of ranges passes text, booleans and blanks by.

        Raises NotColumnar where that differs from row to row."""
        cdef tuple arguments
        if isinstance(node, Cell):
            return FROM_CELL
        if isinstance(node, Name):
            found = self.scope.get((<Name> node).name.casefold()) if (<Name> node).sheet is None else None
            if found is None:
                raise NotColumnar
            return found[1]
        if isinstance(node, Literal):
            return FROM_EITHER if isinstance((<Literal> node).value, float) else COMPUTED
        if isinstance(node, Unary):
            return self.origin((<Unary> node).operand) if (<Unary> node).operator == "@" else (
                COMPUTED if (<Unary> node).operator == "+" else FROM_EITHER)
        if isinstance(node, Binary):
            return FROM_EITHER if (<Binary> node).operator in "+-*/^" else COMPUTED
        if isinstance(node, Empty):
            return COMPUTED
        if not isinstance(node, Call):
            raise NotColumnar
        arguments, name = (<Call> node).arguments, (<Call> node).name
        if name == "IF":
            origins = [self.origin(a) for a in arguments[1:]]
            return self.common_origin(origins if len(origins) == 2 else [*origins, COMPUTED])
        if name in ("IFERROR", "IFNA"):
            return self.common_origin([
                FROM_EITHER if self.origin(arguments[0]) == FROM_EITHER else COMPUTED, self.origin(arguments[1])])
        if name == "IFS":
            return self.common_origin([self.origin(a) for a in arguments[1::2]])
        if name == "CHOOSE":
            return self.common_origin([self.origin(a) for a in arguments[1:]])
        if name == "SWITCH" or name == "LET" or any(
                row.kind in (Takes.OPERAND, Takes.REFERENCE) for row in FUNCTIONS[name].arguments):
            raise NotColumnar
        return FROM_EITHER if name in _NUMBER_FUNCTIONS or name in _DIGIT_FUNCTIONS else COMPUTED

    cdef int common_origin(self, list origins) except -1:
        found = set(origins) - {FROM_EITHER}
        if len(found) > 1:
            raise NotColumnar
        return found.pop() if found else FROM_EITHER

    # Everything else of the catalogue.

    cdef int lift(self, Call node) except -1:
        function = FUNCTIONS[node.name]
        if function.body is None:
            raise NotColumnar
        cdef list reads = [], sources = []
        cdef int at
        for at, argument in enumerate(node.arguments):
            sources.append(self.argument(function.argument(at), argument, reads))
        moves = any(source[0] == WINDOW_ARGUMENT for source in sources)
        numbers = not function.environment and all(
            row.kind is Takes.NUMBER for row in function.arguments) and not any(
            source[0] == GIVEN_ARGUMENT for source in sources)
        self.lifts.append(_Lift(
            _as_lambda(node), function.body if numbers else None, COLUMN_BODIES.get(node.name), tuple(sources),
            not moves and (not function.environment or function.category == "date" and not function.volatile)))
        return self.emit(CALL, reads, 0, 0, 0, len(self.lifts) - 1)

    cdef tuple argument(self, row, Node node, list reads):
        """Where an argument of a lifted call comes from."""
        cdef int register
        kind = row.kind
        single = kind in _SINGLE_KINDS
        if isinstance(node, Empty):
            return GIVEN_ARGUMENT, row.empty
        if kind is Takes.REFERENCE or kind is Takes.LAMBDA:
            raise NotColumnar
        if single and isinstance(node, (Area, ArrayLiteral)):
            raise NotColumnar
        if self.is_fixed(node, ONE_VALUE if single else RANGE if kind is Takes.RANGE else ANY_SHAPE):
            self.fixed.append((_as_area(node) if isinstance(node, Cell) and not single else node, single))
            return FIXED_ARGUMENT, len(self.fixed) - 1, kind is Takes.OPERAND
        if not single and isinstance(node, (Cell, Area)):
            found = self.window(_as_area(node) if isinstance(node, Cell) else <Area> node)
            if found[6] or kind is Takes.OPERAND:
                raise NotColumnar
            return WINDOW_ARGUMENT, found
        if not single and self.origin(node) == FROM_CELL:
            raise NotColumnar
        register = self.value(node)
        reads.append(register)
        return ROW_ARGUMENT, register


cdef bint _takes(function, Py_ssize_t count):
    """Whether a function may be given so many arguments."""
    fixed = len(function.arguments) - function.period
    return function.minimum <= count <= function.maximum and (
        function.body is None or function.period < 2 or count <= fixed or (count - fixed) % function.period == 0)


cdef object _as_lambda(Call node):
    """A call as a Lambda of its arguments that are not empty."""
    names = [Name(None, f"argument{at}") for at, given in enumerate(node.arguments) if not isinstance(given, Empty)]
    filled = iter(names)
    arguments = tuple([argument if isinstance(argument, Empty) else next(filled) for argument in node.arguments])
    return compile(Call("LAMBDA", (*names, Call(node.name, arguments)))).refer(Environment())


cdef Area _as_area(Node node):
    cdef Cell cell = node
    bare = Cell(None, None, cell.row, cell.column, cell.row_absolute, cell.column_absolute, cell.start, cell.end)
    return Area(cell.sheet, cell.last_sheet, bare, bare, False, False, cell.start, cell.end)
