# The last instructions of a plan as one compiled loop (core/native), where there is one for the kinds of a chunk.

ctypedef int32_t (*_Loop)(double **inputs, double *out, int64_t rows, double first, double days_apart) noexcept nogil

cdef enum:
    FUSED_MIN = 2  # instructions: what one does alone, its own loop does
    MISSES_MAX = 16  # chunks more that needed a second look than did not, before a run stops trying
    LOOP_ROWS = 65_536  # of one call, where nothing is done in chunks before the loop
    THREAD_ROWS = 4 * 65_536  # that a thread of its own is worth
    STRAIGHT_INPUTS_MAX = 32
    JUDGED_MAX = 64  # kinds of a plan's inputs for which its loop's is remembered
    CHUNKED_ROWS = 8 * 65_536  # before the next such call, after one that met a row for a second look
    BLANKS_AMONG = 254  # as NUMBERS_AND_BLANKS, and MIXED is NO_LOOP

assert (BLANKS_AMONG, MIXED) == (NUMBERS_AND_BLANKS, NO_LOOP)

_STEPS = {
    ADD: "+", SUBTRACT: "-", MULTIPLY: "*", DIVIDE: "/", EQUAL: "=", UNEQUAL: "<>", LESS: "<", GREATER: ">",
    LESS_EQUAL: "<=", GREATER_EQUAL: ">=", SELECT: "IF", INVERT: "NOT",
}
_NUMBER_STEPS = {
    NEGATE: "negate", PERCENT: "%", ABSOLUTE: "ABS", SIGN: "SIGN", WHOLE: "INT", ROOT: "SQRT", YEAR: "YEAR",
    MONTH: "MONTH", DAY: "DAY",
}
_ROUNDING_STEPS = {ROUND: "ROUND", ROUND_UP: "ROUNDUP", ROUND_DOWN: "ROUNDDOWN"}
_QUESTION_STEPS = {
    IS_NUMBER: "ISNUMBER", IS_BLANK: "ISBLANK", IS_ERROR: "ISERROR", IS_TEXT: "ISTEXT", IS_NO_TEXT: "ISNONTEXT",
    IS_LOGICAL: "ISLOGICAL",
}
_AGGREGATE_STEPS = {
    SUM: "SUM", AVERAGE: "AVERAGE", MINIMUM: "MIN", MAXIMUM: "MAX", PRODUCT: "PRODUCT", ALL_TRUE: "AND",
    ANY_TRUE: "OR", ODD_TRUE: "XOR",
}


cdef object _recipe_of(Plan plan):
    """The recipe of a plan's last instructions, as many as a loop can do; None for none."""
    cdef int start = plan.instruction_count
    steps = []
    while start and len(steps) < STEPS_MAX and (step := _step_of(plan, &plan.instructions[start - 1])) is not None:
        steps.append(step)
        start -= 1
    steps.reverse()
    if len(steps) < FUSED_MIN or steps[len(steps) - 1].out != plan.result:
        return None
    inputs, constants, written = {}, {}, set()
    for step in steps:
        for register in step.reads:
            if register not in written:
                role = plan.roles[register]
                if isinstance(role, Literal) and type((<Literal> role).value) is float:
                    constants[register] = (<Literal> role).value.hex()
                else:
                    inputs[register] = isinstance(role, Node)
        written.add(step.out)
    return LoopRecipe(
        start, tuple(steps), tuple(inputs), tuple(inputs.values()), tuple(constants.items()), MARKS_SUBNORMALS
    )


cdef object _step_of(Plan plan, Instruction *given):
    """An instruction as a loop does it; None where none does."""
    cdef int at
    cdef Item *item
    cdef object reads, operation = given.operation
    if operation in _STEPS:
        reads = (given.a, given.b, given.c)[:1 if operation == INVERT else 3 if operation == SELECT else 2]
        name = _STEPS[operation]
        if operation <= SUBTRACT and given.extra:
            name = "sum" if operation == ADD else "difference"
        return LoopStep(name, given.out, reads)
    if operation == FUNCTION and given.extra in _NUMBER_STEPS:
        return LoopStep(_NUMBER_STEPS[given.extra], given.out, (given.a,))
    if operation == FUNCTION:
        digits = plan.roles[given.b]
        if not isinstance(digits, Literal) or not isinstance((<Literal> digits).value, float):
            return None
        places = _places((<Literal> digits).value)
        return LoopStep(_ROUNDING_STEPS[given.extra], given.out, (given.a,), (places,)) if 0 <= places <= 22 else None
    if operation == INSTEAD and not given.extra:
        return LoopStep("IFERROR", given.out, (given.a, given.b))
    if operation == ASK and given.extra in _QUESTION_STEPS:
        return LoopStep(_QUESTION_STEPS[given.extra], given.out, (given.a,))
    if operation == CHOOSE:
        return LoopStep("CHOOSE", given.out, (given.a, *[plan.choices[given.extra + at] for at in range(given.b)]))
    if operation == OWN_ROW:
        return LoopStep("ROW", given.out, (), (given.extra,))
    if operation == AGGREGATE and given.c in _AGGREGATE_STEPS:
        reads, cells = [], []
        for at in range(given.a):
            item = &plan.items[given.extra + at]
            if item.kind != VALUE_ITEM and item.kind != CELL_ITEM:
                return None
            reads.append(item.register)
            cells.append(item.kind == CELL_ITEM)
        return LoopStep(_AGGREGATE_STEPS[given.c], given.out, tuple(reads), tuple(cells))
    return None


@cython.final
cdef class _Fused:
    """The loop of a plan in one run: which kinds it was looked for with, and what that came to."""

    cdef object recipe
    cdef object loop  # holds the code that `function` leads to
    cdef _Loop function
    cdef int start  # instructions before it
    cdef int count  # of its inputs
    cdef int *registers
    cdef double **inputs
    cdef uint8_t *kinds
    cdef uint8_t *judged  # the kinds that `kind` is for
    cdef uint8_t kind  # of the result
    cdef bint is_counted
    cdef int misses
    cdef Py_ssize_t narrow_until  # row, because some above it needs a second look
    cdef Py_ssize_t done  # rows
    cdef double days_apart

    def __cinit__(self, recipe, bint date_1904):
        cdef int at
        self.recipe, self.start, self.count = recipe, recipe.start, len(recipe.inputs)
        self.days_apart = SYSTEMS_APART if date_1904 else 0
        self.registers = <int *> _room(self.count, sizeof(int))
        self.inputs = <double **> _room(self.count, sizeof(double *))
        self.kinds = <uint8_t *> _room(self.count, 1)
        self.judged = <uint8_t *> _room(self.count, 1)
        for at in range(self.count):
            self.registers[at] = recipe.inputs[at]
        self.kind = MIXED
        memset(self.judged, MIXED, self.count)

    def __dealloc__(self):
        free(self.registers)
        free(self.inputs)
        free(self.kinds)
        free(self.judged)

    cdef Py_ssize_t stride(self, _Run run) noexcept nogil:
        """How many rows are calculated next."""
        cdef bint is_wide
        is_wide = self.function != NULL and not self.start and not run.reads_own and run.position >= self.narrow_until
        return max(run.step, <Py_ssize_t> LOOP_ROWS) if is_wide else run.step

    cdef bint run(self, _Run run, Register *result, Py_ssize_t rows) except -1 nogil:
        """Whether the loop calculated this chunk."""
        cdef int at
        cdef Register *register
        for at in range(self.count):
            register = &run.registers[self.registers[at]]
            self.inputs[at], self.kinds[at] = register.numbers, register.kind
            if register.kind == MIXED:
                if not loop_either(register.kinds, NUMBER, BLANK, rows):
                    return False
                self.kinds[at] = BLANKS_AMONG
        if memcmp(self.kinds, self.judged, self.count):
            with gil:
                self.judge(run)
        if self.kind == MIXED or self.function == NULL:
            return False
        loop_unmark()
        if self.function(self.inputs, result.numbers, rows, run.row + run.position, self.days_apart) or loop_marked():
            if rows > run.step:
                return False
            self.misses += 1
            if self.misses > MISSES_MAX:
                self.function = NULL
            return False
        self.misses = max(self.misses - 1, 0)
        self.done += rows
        result.kind = self.kind
        return True

    cdef bint is_of_row(self, Plan plan):
        """Whether it is all of the plan, over columns at the row itself."""
        roles = [plan.roles[register] for register in self.recipe.inputs]
        return (not self.start and self.count <= STRAIGHT_INPUTS_MAX
                and all([isinstance(role, tuple) and role[1] == 0 for role in roles]))

    cdef int judge(self, _Run run) except -1:
        """What the loop comes to for these kinds; the first that it is for count the run."""
        self.kind = run.plan.loop_kind(self.kinds[:self.count])
        memcpy(self.judged, self.kinds, self.count)
        if self.kind != MIXED and not self.is_counted:
            self.is_counted = True
            self.loop = LOOPS.of(self.recipe, run.rows * len(self.recipe.steps))
            if self.loop is not None:
                self.function = <_Loop> <size_t> self.loop.address
        return 0


cdef object _straight(Plan plan, dict columns, Py_ssize_t rows):
    """The numbers or truths of a plan's loop down plain columns, by their place in the sheet; None where some row needs
    a second look. Most of what a run makes ready is for chunks, and out of the caches when the next call comes."""
    cdef int kind, size = len(plan.recipe.inputs)
    plan.is_straight = False
    loop, kind = LOOPS.of(plan.recipe, 0), plan.loop_kind(bytes((NUMBER,)) * size)
    if loop is None or kind == MIXED:
        return None
    inputs = [columns.get((<_Column> plan.slots[plan.roles[register][0]]).column) for register in plan.recipe.inputs]
    if any([array is None for array in inputs]):
        return None
    found, missed = np.empty(rows), []
    by_threads(partial(_loop_blocks, loop, inputs, found, missed), (rows - 1) // LOOP_ROWS + 1, rows // THREAD_ROWS)
    if missed:
        return None
    plan.is_straight = True
    loop.rows += rows
    return found != 0 if kind == BOOLEAN else found


def _loop_blocks(loop, list arrays, double[::1] values, list missed, Py_ssize_t first, Py_ssize_t last):
    """Have a loop calculate the blocks of rows from one to another; `missed` grows where a row needs a second look."""
    cdef double *inputs[STRAIGHT_INPUTS_MAX]
    cdef const double[::1] column
    cdef Py_ssize_t position = first * LOOP_ROWS, end = min(last * LOOP_ROWS, values.shape[0]), count
    cdef int at, size = len(arrays)
    cdef _Loop function = <_Loop> <size_t> loop.address
    for at in range(size):
        column = arrays[at]
        inputs[at] = <double *> &column[position]
    with nogil:
        loop_unmark()
        while position < end:
            count = min(end - position, <Py_ssize_t> LOOP_ROWS)
            if function(inputs, &values[position], count, position, 0) or loop_marked():
                break
            for at in range(size):
                inputs[at] += count
            position += count
    if position < end:
        missed.append(first)
