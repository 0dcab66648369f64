# The last instructions of a plan as one compiled loop (core/formula/native), where there is one for the kinds of a chunk.

ctypedef int32_t (*_Loop)(double **inputs, double *out, int64_t rows, double first, double days_apart) noexcept nogil

cdef enum:
    FUSED_MIN = 2  # instructions: what one does alone, its own loop does
    MISSES_MAX = 16  # chunks more that needed a second look than did not, before a run stops trying
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
    return LoopRecipe(start, tuple(steps), tuple(inputs), tuple(inputs.values()), tuple(constants.items()))


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
        if self.function(self.inputs, result.numbers, rows, run.row + run.position, self.days_apart):
            self.misses += 1
            if self.misses > MISSES_MAX:
                self.function = NULL
            return False
        self.misses = max(self.misses - 1, 0)
        self.done += rows
        result.kind = self.kind
        return True

    cdef int judge(self, _Run run) except -1:
        """What the loop comes to for these kinds; the first that it is for count the run."""
        self.kind = self.recipe.kind(self.kinds[:self.count])
        memcpy(self.judged, self.kinds, self.count)
        if self.kind != MIXED and not self.is_counted:
            self.is_counted = True
            self.loop = LOOPS.of(self.recipe, run.rows)
            if self.loop is not None:
                self.function = <_Loop> <size_t> self.loop.address
        return 0
