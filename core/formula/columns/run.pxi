# One run of a plan down a span of rows.

cdef object _NO_CODES = np.empty(0, np.int32)


cdef object _no_codes(Py_ssize_t rows):
    """The codes of a span without text: shared and read-only."""
    global _NO_CODES
    if len(_NO_CODES) < rows:
        _NO_CODES = np.full(rows, -1, np.int32)
        _NO_CODES.setflags(write=False)
    return _NO_CODES[:rows]


cdef enum:
    REGISTER_ROW_BYTES = 13  # a number, a code, a kind
    WORK_STEP = 8_192  # cells between two looks at the deadline


cdef inline uint8_t *_give(Register *register, uint8_t *memory, Py_ssize_t step) noexcept:
    """Give a register memory for so many rows; where the free memory goes on."""
    register.numbers = <double *> memory
    register.codes = <int32_t *> (memory + step * 8)
    register.kinds = memory + step * 12
    return memory + step * REGISTER_ROW_BYTES


class _ToBeSeen(Exception):
    """A column cannot be taken for numbers alone."""


@cython.final
cdef class _Run:
    cdef Plan plan
    cdef object source
    cdef TextPool pool
    cdef Environment environment
    cdef Py_ssize_t row  # of the sheet, the span's first
    cdef Py_ssize_t column
    cdef Py_ssize_t rows
    cdef bint beside
    cdef Py_ssize_t position  # rows done
    cdef Py_ssize_t step  # rows of a chunk
    cdef bint has_unseen
    cdef bint is_filled  # where a value is the same in every row, it stands in all of them
    cdef bint reads_own  # column, of rows above
    cdef bint is_into_cells  # of a column, whose kinds and codes stand before they are written
    cdef Py_ssize_t unwritten  # rows from the first on that are numbers, whose kinds are not written yet; -1: none
    cdef Register *registers
    cdef Slot *slots
    cdef Slot **windows
    cdef Totals *running
    cdef Py_ssize_t *reached
    cdef Totals *tallies
    cdef Register[3] scratch
    cdef list kept  # owners of all memory that pointers lead to
    cdef list fixed_values
    cdef dict joined, memos, answers, orders, numbers_of
    cdef int joined_seldom
    cdef int32_t empty_code
    cdef object out_kinds, out_numbers, out_codes
    cdef uint8_t *kinds
    cdef double *numbers
    cdef int32_t *codes

    def __dealloc__(self):
        free(self.registers)
        free(self.slots)
        free(self.windows)
        free(self.running)
        free(self.reached)
        free(self.tallies)

    def __init__(self, Plan plan, source, Py_ssize_t row, Py_ssize_t column, Py_ssize_t rows, bint beside,
                 Span into):
        self.beside = beside
        self.plan, self.source, self.row, self.column, self.rows = plan, source, row, column, rows
        self.pool, self.environment = source.pool, source.environment
        self.position = 0
        self.environment.row, self.environment.column = row, column
        self.kept = []
        self.joined, self.memos, self.answers, self.orders, self.numbers_of = {}, {}, {}, {}, {}
        self.empty_code = self.pool.intern("")
        self.registers = <Register *> self.zeroed(len(plan.roles), sizeof(Register))
        self.slots = <Slot *> self.zeroed(len(plan.slots), sizeof(Slot))
        self.windows = <Slot **> self.zeroed(len(plan.window_slots), sizeof(void *))
        self.running = <Totals *> self.zeroed(len(plan.running), sizeof(Totals))
        self.reached = <Py_ssize_t *> self.zeroed(len(plan.running), sizeof(Py_ssize_t))
        self.step = CHUNK_ROWS
        if plan.calls_columns:
            self.step = REGISTERS_BYTES_MAX // (REGISTER_ROW_BYTES * (len(plan.roles) + 3))
            self.step = max(<Py_ssize_t> CHUNK_ROWS, min(<Py_ssize_t> COLUMN_CHUNK_ROWS, self.step))
        self.step = min(rows, self.step)
        self.open_columns(into)
        self.open_registers()
        if plan.aggregates:
            self.tallies = <Totals *> self.zeroed(self.step, sizeof(Totals))

    cdef void *zeroed(self, Py_ssize_t count, size_t size) except NULL:
        cdef void *memory = calloc(max(count, 1), size)
        if memory == NULL:
            raise MemoryError
        return memory

    cdef Py_ssize_t column_of(self, tuple column) except -2:
        """The sheet's column of (column, absolute)."""
        cdef Py_ssize_t found = column[0] if column[1] else self.column + <Py_ssize_t> column[0]
        if not 0 <= found < <Py_ssize_t> COLUMNS_MAX:
            raise NotColumnar
        return found

    cdef void open_columns(self, Span into) except *:
        """Bind the columns that are read; the formula's own is the one that will be written."""
        cdef Py_ssize_t at, first, last, column, own = -1, lead = 0
        cdef _Column read
        for at, read in enumerate(self.plan.slots):
            column = self.column_of((read.column, read.absolute))
            first, last = self.row + read.low, self.row + self.rows - 1 + read.high
            if read.anchor >= 0:
                if read.anchor > self.row + read.high:  # the window starts on its other corner
                    raise NotColumnar
                first = min(first, read.anchor)
            if first < 0 or last >= <Py_ssize_t> ROWS_MAX and not self.beside:  # given arrays end where they end
                raise NotColumnar
            if column == self.column and self.is_own(read.sheet):
                if read.high >= 0:
                    raise NotColumnar
                own, lead = (at, self.row - first) if self.row - first > lead else (own, lead)
                self.step = min(self.step, -read.high)
            else:
                self.bind(&self.slots[at], self.source.span(read.sheet, column, first, last - first + 1), first,
                          last - first + 1)
                if isinstance(self.source, _Columns) and column in (<_Columns> self.source).unseen:
                    if last >= (<_Columns> self.source).rows:  # blanks stand behind its end
                        raise _ToBeSeen
                    self.slots[at].is_unseen = True
                self.has_unseen |= self.slots[at].is_unseen
        self.reads_own = own >= 0
        self.open_output(lead, self.reads_own, into)
        if own >= 0:
            for at, read in enumerate(self.plan.slots):
                if self.column_of((read.column, read.absolute)) == self.column and self.is_own(read.sheet):
                    self.slots[at].kinds, self.slots[at].numbers = self.kinds - lead, self.numbers - lead
                    self.slots[at].codes, self.slots[at].first = self.codes - lead, self.row - lead
        for at in range(len(self.plan.window_slots)):
            self.windows[at] = &self.slots[<int> self.plan.window_slots[at]]
        for at, (function, anchor) in enumerate(self.plan.running):
            _open(&self.running[at], function)
            self.reached[at] = anchor

    cdef bint is_own(self, sheet):
        if self.beside:
            return False
        own = self.environment.sheet
        return sheet is None or (own is not None and sheet.casefold() == own.casefold())

    cdef void open_output(self, Py_ssize_t lead, bint is_read, Span into) except *:
        """The span to be written, after `lead` rows that stand above it in the sheet."""
        cdef uint8_t[::1] kinds
        cdef double[::1] numbers
        cdef int32_t[::1] codes = None
        self.unwritten = 0 if into is None and not is_read else -1
        self.is_into_cells = into is not None and not is_read
        if is_read or into is None:
            kinds, numbers = np.empty(lead + self.rows, np.uint8), np.empty(lead + self.rows)
        else:
            kinds, numbers, codes = into.kinds, into.numbers, into.codes
        if is_read:
            codes = np.empty(lead + self.rows, np.int32)
            above = self.source.span(None, self.column, self.row - lead, lead)
            kinds.base[:lead], numbers.base[:lead], codes.base[:lead] = above.kinds, above.numbers, above.codes
        self.out_kinds, self.out_numbers, self.out_codes = kinds.base[lead:], numbers.base[lead:], None
        self.kinds, self.numbers = &kinds[0] + lead, &numbers[0] + lead
        if codes is not None:
            self.out_codes, self.codes = codes.base[lead:], &codes[0] + lead

    cdef void bind(self, Slot *slot, Span span, Py_ssize_t first, Py_ssize_t rows) except *:
        cdef const uint8_t[::1] kinds = span.kinds
        cdef const double[::1] numbers = span.numbers
        cdef const int32_t[::1] codes = span.codes
        assert kinds.shape[0] == numbers.shape[0] == codes.shape[0] == rows
        self.kept.append(span)
        slot.kinds, slot.numbers, slot.codes = <uint8_t *> &kinds[0], <double *> &numbers[0], <int32_t *> &codes[0]
        slot.first = first

    cdef void open_registers(self) except *:
        """Memory for what is computed, and the values that are the same in every row."""
        cdef Py_ssize_t at, step = (self.step + 7) // 8 * 8  # keeps all numbers aligned
        cdef int count = 0
        self.fixed_values = [self.fixed_value(node) for node in self.plan.fixed]
        for at, role in enumerate(self.plan.roles):
            self.registers[at].fixed = role is not None
            count += not isinstance(role, tuple)
        memory = np.empty((count + 3) * step * REGISTER_ROW_BYTES, np.uint8)
        cdef uint8_t[::1] view = memory
        cdef uint8_t *free_memory = &view[0]
        self.kept.append(memory)
        for at, role in enumerate(self.plan.roles):
            if not isinstance(role, tuple):
                free_memory = _give(&self.registers[at], free_memory, step)
                if role is not None:
                    self.store(&self.registers[at], 0, self.scalar_value(role))
                    self.registers[at].kind = self.registers[at].kinds[0]
        for at in range(3):
            self.scratch[at].fixed = False
            free_memory = _give(&self.scratch[at], free_memory, step)

    cdef object scalar_value(self, node):
        """The single value of a part that is the same in every row."""
        if isinstance(node, Literal):
            return (<Literal> node).value
        value = self.plan.programs[node].value(self.environment)
        if isinstance(value, Array):
            if (<Array> value).rows != 1 or (<Array> value).columns != 1:
                raise NotColumnar
            value = (<Array> value).at(0, 0)
        return value

    cdef object fixed_value(self, tuple wanted):
        """What a call gets for an argument that is the same in every row: cells as an Array with their reference."""
        node, is_single = wanted
        if is_single or isinstance(node, Literal):
            return self.scalar_value(node)
        value = self.plan.programs[node].refer(self.environment)
        if isinstance(value, Reference) and not (<Reference> value).more:
            return self.environment.array(<Reference> value)
        if isinstance(node, ArrayLiteral):
            return self.in_columns(<Array> value)
        return value

    cdef Array in_columns(self, Array array):
        """An array as the bodies for whole columns take it."""
        cells = array.cells()
        spans = tuple([_span_of_objects(cells[at :: array.columns], None, self.pool) for at in range(array.columns)])
        return Array(array.rows, array.columns, spans=spans, pool=self.pool)

    cdef int fill(self) except -1:
        """Have all rows hold the values that are the same in each; a loop takes the first one's."""
        cdef Py_ssize_t at, row
        cdef Register *register
        self.is_filled = True
        for at, role in enumerate(self.plan.roles):
            if role is not None and not isinstance(role, tuple):
                register = &self.registers[at]
                for row in range(1, self.step):
                    _put(register, row, register.kinds[0], register.numbers[0], register.codes[0])
        return 0

    cdef int store(self, Register *out, Py_ssize_t row, value) except -1:
        """Write a value that came from Python."""
        if value is None:
            _put(out, row, BLANK, 0, -1)
        elif isinstance(value, bool):
            _put(out, row, BOOLEAN, 1 if value else 0, -1)
        elif isinstance(value, str):
            if len(value) > TEXT_MAX:
                _put(out, row, ERROR, CODE_VALUE, -1)
            else:
                _put(out, row, TEXT, 0, self.pool.intern(value))
        elif isinstance(value, Error):
            _put(out, row, ERROR, (<Error> value).code, -1)
        elif isinstance(value, (float, int, np.floating, np.integer)):
            if isfinite(<double> value):
                _put(out, row, DATE if isinstance(value, Date) else NUMBER, value, -1)
            else:
                _put(out, row, ERROR, CODE_NUM, -1)
        elif isinstance(value, Array) and (<Array> value).rows == 1 and (<Array> value).columns == 1:
            self.store(out, row, (<Array> value).at(0, 0))
        else:
            raise NotColumnar
        return 0

    cdef dict memo_of(self, lift):
        """The answers that a call has given in this run."""
        return self.memos.setdefault(lift, {})

    cdef tuple answers_of(self, lift):
        """The kinds, numbers and codes that a call gave by the code of its argument; MIXED where it is not known."""
        cdef Py_ssize_t size = len(self.pool)
        if lift not in self.answers:
            size = size if size <= 4 * self.rows else 0
            self.answers[lift] = np.full(size, MIXED, np.uint8), np.empty(size), np.empty(size, np.int32)
        return self.answers[lift]

    cdef int remember(self, dict memo, key, value) except -1:
        if len(memo) >= MEMO_MAX:
            memo.clear()
        memo[key] = value
        return 0

    cdef int32_t text_code(self, uint8_t kind, Register *a, Py_ssize_t row) except -2:
        """The code of a value as text; it is no error."""
        if kind == TEXT:
            return a.codes[row]
        if kind == BLANK:
            return self.empty_code
        return self.pool.intern(to_text(cell_of(kind, a.numbers[row], -1, self.pool)))

    cdef int numeric(self, Register *a, Register *view, int which, Py_ssize_t rows) except -1 nogil:
        """A register as arithmetic sees it, without text: each has become a number or an error."""
        view[0] = a[0]
        if a.kind == TEXT or (a.kind == MIXED and memchr(a.kinds, TEXT, rows) != NULL):
            with gil:
                self.read(a, view, which, rows, False)
        return 0

    cdef int logical(self, Register *a, Register *view, int which, Py_ssize_t rows) except -1 nogil:
        """A register as a condition sees it, without text."""
        view[0] = a[0]
        if a.kind == TEXT or (a.kind == MIXED and memchr(a.kinds, TEXT, rows) != NULL):
            with gil:
                self.read(a, view, which, rows, True)
        return 0

    cdef int read(self, Register *a, Register *view, int which, Py_ssize_t rows, bint as_logical) except -1:
        """A copy of a register in which text has been read as numbers or conditions."""
        cdef Register *copy = &self.scratch[which]
        cdef uint8_t *kinds = _kinds_of(a, rows)
        cdef Py_ssize_t row
        memcpy(copy.kinds, kinds, rows)
        memcpy(copy.numbers, a.numbers, rows * sizeof(double))
        for row in range(rows):
            if kinds[row] == TEXT:
                key = ~<int64_t> a.codes[row] if as_logical else a.codes[row]
                value = self.numbers_of.get(key)
                if value is None:
                    text = self.pool.text(a.codes[row])
                    value = to_logical(text) if as_logical else to_number(text, self.environment.date_1904)
                    self.remember(self.numbers_of, key, value)
                self.store(copy, row, value)
        view[0] = copy[0]
        view.kind = MIXED
        return 0

    cdef int order_of_texts(self, int operation, int32_t a, int32_t b) except -2 nogil:
        """-1, 0 or 1; for = and <> only whether they are equal."""
        if a == b:
            return 0
        if operation == EQUAL or operation == UNEQUAL:
            if a >= self.pool.folded_count or b >= self.pool.folded_count:
                with gil:
                    self.pool.fold_all()
            return self.pool.entries[a].folded != self.pool.entries[b].folded
        with gil:
            return self.order_of_two(a, b)

    # Objects live only in functions of their own: one in a function without the GIL would take it at every return.

    cdef int order_of_two(self, int32_t a, int32_t b) except -2:
        key = (<int64_t> a << 32) | b
        found = self.orders.get(key)
        if found is None:
            found = compare(self.pool.text(a), self.pool.text(b))
            self.remember(self.orders, key, found)
        return found

    cdef object span(self):
        """Run down all rows. The answer's arrays may be shared and read-only; _ToBeSeen for a number unseen."""
        cdef Py_ssize_t rows, since_check = 0
        cdef Register *result = &self.registers[self.plan.result]
        cdef bint is_computed = not result.fixed
        cdef _Fused fused = self.fused_or_none()
        cdef bint is_fused = fused is not None
        cdef int start = fused.start if is_fused else 0
        with nogil:
            while self.position < self.rows:
                rows = min(fused.stride(self) if is_fused else self.step, self.rows - self.position)
                if is_computed:
                    result.numbers = self.numbers + self.position
                self.aim(rows)
                if start:
                    self.see(rows)
                    self.execute(0, start, rows)
                if not (is_fused and fused.run(self, result, rows)):
                    if rows > self.step:
                        fused.narrow_until = self.position + CHUNKED_ROWS
                        continue
                    if not start:
                        self.see(rows)
                    self.execute(start, self.plan.instruction_count, rows)
                self.emit(result, rows)
                self.position += rows
                since_check += rows * self.plan.weight
                if since_check >= WORK_STEP:
                    with gil:
                        self.environment.spend(min(since_check, <Py_ssize_t> CELLS_MAX))
                    since_check = 0
        if is_fused and fused.loop is not None:
            fused.loop.rows += fused.done
            self.plan.is_straight = self.beside and fused.done == self.rows and fused.is_of_row(self.plan)
        if self.unwritten == self.rows:
            self.out_kinds = _all_numbers(self.rows)
        if self.out_codes is None:
            self.out_codes = _no_codes(self.rows)
        return Span(self.out_kinds, self.out_numbers, self.out_codes)

    cdef _Fused fused_or_none(self):
        """The loop of the plan, for a run down many rows."""
        if self.rows < <Py_ssize_t> ROWS_MIN or self.step < min(self.rows, <Py_ssize_t> CHUNK_ROWS):
            return None
        recipe = self.plan.fusible()
        return None if recipe is None else _Fused(recipe, self.environment.date_1904)

    cdef void aim(self, Py_ssize_t rows) noexcept nogil:
        """Point the inputs at the rows of this chunk."""
        cdef int at
        cdef Py_ssize_t row
        cdef Register *register
        cdef Slot *slot
        for at in range(self.plan.input_count):
            register = &self.registers[self.plan.input_registers[at]]
            slot = &self.slots[self.plan.input_slots[at]]
            row = self.row + self.position + self.plan.input_distances[at] - slot.first
            register.kinds, register.numbers, register.codes = slot.kinds + row, slot.numbers + row, slot.codes + row
            register.kind = NUMBER if slot.is_unseen else _kind_of(register.kinds, rows)

    cdef int see(self, Py_ssize_t rows) except -1 nogil:
        """Look at the numbers of this chunk that nobody has seen yet; a loop does so itself."""
        cdef int at
        if self.has_unseen:
            for at in range(self.plan.input_count):
                if self.slots[self.plan.input_slots[at]].is_unseen and not loop_finite(
                        self.registers[self.plan.input_registers[at]].numbers, rows):
                    with gil:
                        raise _ToBeSeen
        return 0

    cdef int execute(self, int start, int stop, Py_ssize_t rows) except -1 nogil:
        """Do these instructions of the plan for a chunk."""
        cdef int at, operation
        cdef Instruction *step
        cdef Register *registers = self.registers
        cdef Register *out
        cdef Register *a
        cdef Register *b
        if not self.is_filled:
            with gil:
                self.fill()
        for at in range(start, stop):
            step = &self.plan.instructions[at]
            operation = step.operation
            out, a, b = &registers[step.out], &registers[step.a], &registers[step.b]
            if operation <= DIVIDE:
                _arithmetic(self, operation, step.extra, out, a, b, rows)
            elif operation <= GREATER_EQUAL:
                _comparison(self, operation, step.extra, out, a, b, rows)
            elif operation == SELECT:
                _select(self, out, a, b, &registers[step.c], rows)
            elif operation == FUNCTION:
                _function(self, step.extra, out, a, b, rows)
            elif operation == AGGREGATE:
                _aggregate(self, step.c, out, self.plan.items + step.extra, step.a, rows)
            elif operation == INSTEAD:
                _instead(step.extra, out, a, b, rows)
            elif operation == ASK:
                _ask(step.extra, out, a, rows)
            elif operation == INVERT:
                _not(self, out, a, rows)
            elif operation == POWER:
                _powers(self, out, a, b, rows)
            elif operation == CHOOSE:
                _choose(self, out, a, self.plan.choices + step.extra, step.b, rows)
            elif operation == OWN_ROW:
                self.count_rows(out, step.extra, rows)
            else:
                with gil:
                    self.execute_python(step, out, a, b, rows)
        return 0

    cdef int execute_python(self, Instruction *step, Register *out, Register *a, Register *b,
                            Py_ssize_t rows) except -1:
        if step.operation == JOIN:
            return _join(self, out, a, b, rows)
        return _call(self, <_Lift> self.plan.lifts[step.extra], out, rows)

    cdef void count_rows(self, Register *out, int offset, Py_ssize_t rows) noexcept nogil:
        cdef Py_ssize_t row
        for row in range(rows):
            out.numbers[row] = self.row + self.position + row + offset
        out.kind = NUMBER

    cdef int emit(self, Register *result, Py_ssize_t rows) except -1 nogil:
        """Write the result of a chunk; a formula never gives a blank but 0."""
        cdef uint8_t *kinds = self.kinds + self.position
        cdef double *numbers = self.numbers + self.position
        cdef int32_t *codes
        cdef Py_ssize_t row
        if numbers != result.numbers:
            memcpy(numbers, result.numbers, rows * sizeof(double))
        if self.unwritten == self.position:
            if result.kind == NUMBER:
                self.unwritten += rows
                return 0
            memset(self.kinds, NUMBER, self.unwritten)
            self.unwritten = -1
        if result.kind != MIXED and result.kind != TEXT:
            if self.is_into_cells and result.kind != BLANK and kinds[0] == result.kind and loop_uniform(kinds, rows):
                return 0  # kinds as they were, and so the codes are -1
            memset(kinds, NUMBER if result.kind == BLANK else result.kind, rows)
            if self.codes != NULL:
                memset(self.codes + self.position, 0xFF, rows * sizeof(int32_t))
            return 0
        memcpy(kinds, _kinds_of(result, rows), rows)
        if self.codes == NULL and memchr(kinds, TEXT, rows) != NULL:
            with gil:
                self.open_codes()
        codes = self.codes + self.position if self.codes != NULL else NULL
        for row in range(rows):
            if kinds[row] == TEXT:
                numbers[row] = 0
                codes[row] = result.codes[row]
                continue
            if codes != NULL:
                codes[row] = -1
            if kinds[row] == BLANK:
                kinds[row] = NUMBER
                numbers[row] = 0
        return 0

    cdef int open_codes(self) except -1:
        """The first text of the answer was met."""
        cdef int32_t[::1] codes = np.full(self.rows, -1, np.int32)
        self.out_codes, self.codes = codes.base, &codes[0]
        return 0
