# What runs with the GIL: text, and functions of the catalogue called row by row or with whole columns.

cdef enum:
    MEMO_MAX = 65_536  # answers that are kept for one call, then forgotten together
    TEXT_MAX = 32_767
    SELDOM_MAX = 16_384  # pairs of texts that were joined for the first time, less those that were joined again

cdef object _value_of(_Run run, Register *a, const uint8_t *kinds, Py_ssize_t row):
    return cell_of(kinds[row], a.numbers[row], a.codes[row] if kinds[row] == TEXT else -1, run.pool)


cdef int _join(_Run run, Register *out, Register *a, Register *b, Py_ssize_t rows) except -1:
    """The `&` of two values."""
    cdef uint8_t *left = _kinds_of(a, rows)
    cdef uint8_t *right = _kinds_of(b, rows)
    cdef Py_ssize_t row
    cdef int64_t key
    cdef int seen = 0
    cdef int32_t first, second
    for row in range(rows):
        if left[row] == ERROR or right[row] == ERROR:
            _put(out, row, ERROR, a.numbers[row] if left[row] == ERROR else b.numbers[row], -1)
        else:
            first = run.text_code(left[row], a, row)
            second = run.text_code(right[row], b, row)
            found = None
            if run.joined_seldom < SELDOM_MAX:
                key = (<int64_t> first << 32) | second
                found = run.joined.get(key)
                run.joined_seldom += 1 if found is None else -1
            if found is None:
                text = run.pool.text(first) + run.pool.text(second)
                found = run.pool.intern(text) if len(text) <= TEXT_MAX else -1
                if run.joined_seldom < SELDOM_MAX:
                    run.remember(run.joined, key, found)
            if found < 0:
                _put(out, row, ERROR, CODE_VALUE, -1)
            else:
                _put(out, row, TEXT, 0, found)
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


@cython.final
cdef class _Lift:
    """A call of a function of the catalogue, row by row.

    `function` is the call as a Lambda of the one-value evaluator, so that coercions and errors are its own. `sources`
    has for each argument how it is got, and what: ROW_ARGUMENT with its register, FIXED_ARGUMENT with its place among
    the plan's fixed values and whether the body takes a reference, GIVEN_ARGUMENT with what an empty argument means,
    WINDOW_ARGUMENT with what `_Planner.window` found.
    """

    cdef object function
    cdef object number_body  # the body itself, where all that it takes are numbers
    cdef object column_body
    cdef tuple sources
    cdef bint memoised
    cdef int only_register  # of the one argument that differs by row; -1 where there are others

    def __init__(self, function, number_body, column_body, tuple sources, bint memoised):
        self.function, self.number_body, self.column_body = function, number_body, column_body
        self.sources, self.memoised = sources, memoised
        registers = [source[1] for source in sources if source[0] == ROW_ARGUMENT]
        self.only_register = registers[0] if len(registers) == 1 else -1


cdef object _called(_Run run, _Lift lift, list arguments):
    """One call."""
    value = call(run.environment, lift.function, arguments)
    if isinstance(value, Reference):
        if (<Reference> value).rows != 1 or (<Reference> value).columns != 1 or (<Reference> value).more:
            raise NotColumnar
        return run.environment.cell((<Reference> value).sheet, (<Reference> value).top, (<Reference> value).left)
    return value


cdef object _quickly(_Run run, _Lift lift, list arguments):
    """One call for arguments that are all plain numbers, past the coercions."""
    try:
        return lift.number_body(*arguments)
    except Exception:  # what it means is for the one-value evaluator to say
        return _called(run, lift, arguments)


cdef object _window_array(_Run run, tuple window, Py_ssize_t own):
    """The cells of a window that moves with the row, as an Array that was read from cells."""
    first_slot, width, low, high, sheet, column, _ = window
    cdef Py_ssize_t row, at
    cdef int place
    cdef Slot *slot
    cdef list cells = []
    for row in range(own + <Py_ssize_t> low, own + <Py_ssize_t> high + 1):
        for place in range(<int> width):
            slot = run.windows[<int> first_slot + place]
            at = row - slot.first
            cells.append(cell_of(
                slot.kinds[at], slot.numbers[at], slot.codes[at] if slot.kinds[at] == TEXT else -1, run.pool))
    left = run.column_of(column)
    return Array(high - low + 1, width, cells,
                 reference=Reference(sheet, own + low, left, own + high, left + width - 1))


cdef int _call(_Run run, _Lift lift, Register *out, Py_ssize_t rows) except -1:
    cdef Py_ssize_t row, own_row = run.environment.row
    cdef int seen = 0
    if lift.column_body is not None and _call_columns(run, lift, out, rows):
        return 0
    try:
        if lift.memoised and lift.only_register >= 0 and lift.number_body is None:
            return _call_by_cells(run, lift, out, rows)
        for row in range(rows):
            _call_by_values(run, lift, out, row, rows)
            seen |= 1 << out.kinds[row]
    finally:
        run.environment.row = own_row
    _settle(out, seen)
    return 0


cdef int _call_by_cells(_Run run, _Lift lift, Register *out, Py_ssize_t rows) except -1:
    """A call with one argument that differs by row: answers are kept by it, of texts by their code."""
    cdef Register *a = &run.registers[lift.only_register]
    cdef uint8_t *kinds = _kinds_of(a, rows)
    cdef uint8_t[::1] known_kinds
    cdef double[::1] numbers
    cdef int32_t[::1] codes
    cdef Py_ssize_t row
    cdef int32_t code
    cdef int seen = 0
    known_kinds, numbers, codes = run.answers_of(lift)
    for row in range(rows):
        code = a.codes[row] if kinds[row] == TEXT else -1
        if code < 0 or code >= known_kinds.shape[0]:
            _call_by_cell(run, lift, out, row, rows)
        elif known_kinds[code] == MIXED:
            _call_by_cell(run, lift, out, row, rows)
            known_kinds[code], numbers[code] = out.kinds[row], out.numbers[row]
            codes[code] = out.codes[row] if out.kinds[row] == TEXT else -1
        else:
            _put(out, row, known_kinds[code], numbers[code], codes[code])
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


cdef int _call_by_cell(_Run run, _Lift lift, Register *out, Py_ssize_t row, Py_ssize_t rows) except -1:
    """A call with one argument that differs by row: answers are kept by it."""
    cdef Register *a = &run.registers[lift.only_register]
    cdef uint8_t kind = a.kind if a.kind != MIXED else a.kinds[row]
    cdef dict memo = run.memo_of(lift)
    cdef object key
    if kind == TEXT:
        key = run.pool.text(a.codes[row])
    elif kind == NUMBER:
        key = a.numbers[row]
    else:
        key = (kind, a.numbers[row])
    found = memo.get(key)
    if found is None:
        _answer(run, lift, _arguments(run, lift, row, rows), out, row)
        run.remember(memo, key, (out.kinds[row], out.numbers[row], out.codes[row]))
    else:
        _put(out, row, (<tuple> found)[0], (<tuple> found)[1], (<tuple> found)[2])
    return 0


cdef int _call_by_values(_Run run, _Lift lift, Register *out, Py_ssize_t row, Py_ssize_t rows) except -1:
    cdef list arguments = _arguments(run, lift, row, rows)
    cdef dict memo
    if lift.number_body is not None and _are_plain_numbers(arguments):
        run.store(out, row, _quickly(run, lift, arguments))
        return 0
    if not lift.memoised:
        return _answer(run, lift, arguments, out, row)
    memo = run.memo_of(lift)
    key = tuple([(type(value), value) for value in arguments if not isinstance(value, Array)])
    found = memo.get(key)
    if found is None:
        _answer(run, lift, arguments, out, row)
        run.remember(memo, key, (out.kinds[row], out.numbers[row], out.codes[row]))
    else:
        _put(out, row, (<tuple> found)[0], (<tuple> found)[1], (<tuple> found)[2])
    return 0


cdef int _answer(_Run run, _Lift lift, list arguments, Register *out, Py_ssize_t row) except -1:
    run.environment.row = run.row + run.position + row
    run.environment.spend(1)
    run.store(out, row, _called(run, lift, arguments))
    return 0


cdef list _arguments(_Run run, _Lift lift, Py_ssize_t row, Py_ssize_t rows):
    return [_passed(run, source, row, rows) for source in lift.sources if source[0] != GIVEN_ARGUMENT]


cdef bint _are_plain_numbers(list arguments) noexcept:
    for value in arguments:
        if not PyFloat_CheckExact(value):
            return False
    return True


cdef object _passed(_Run run, tuple source, Py_ssize_t row, Py_ssize_t rows):
    """An argument as the one-value evaluator passes it: a Reference where the body wants one."""
    value = _argument(run, source, row, rows)
    if source[0] == FIXED_ARGUMENT and source[2] and isinstance(value, Array) and (<Array> value).reference is not None:
        return (<Array> value).reference
    return value


cdef object _argument(_Run run, tuple source, Py_ssize_t row, Py_ssize_t rows):
    cdef Register *a
    how, what = source[0], source[1]
    if how == ROW_ARGUMENT:
        a = &run.registers[<int> what]
        return _value_of(run, a, _kinds_of(a, rows), row)
    if how == FIXED_ARGUMENT:
        return run.fixed_values[what]
    if how == WINDOW_ARGUMENT:
        return _window_array(run, what, run.row + run.position + row)
    return what


cdef bint _call_columns(_Run run, _Lift lift, Register *out, Py_ssize_t rows) except -1:
    """The whole chunk by a body that takes columns; False where it does not know how."""
    cdef list arguments = []
    cdef const uint8_t[::1] kinds
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    for source in lift.sources:
        if source[0] == ROW_ARGUMENT:
            arguments.append(_span_of(&run.registers[<int> source[1]], rows))
        elif source[0] == WINDOW_ARGUMENT:
            return False
        else:
            arguments.append(_argument(run, source, 0, rows))
    found = lift.column_body(run.environment, arguments)
    if found is None:
        return False
    kinds, numbers, codes = found.kinds, found.numbers, found.codes
    assert kinds.shape[0] == rows and numbers.shape[0] == rows and codes.shape[0] == rows
    memcpy(out.kinds, &kinds[0], rows)
    memcpy(out.numbers, &numbers[0], rows * sizeof(double))
    memcpy(out.codes, &codes[0], rows * sizeof(int32_t))
    out.kind = _kind_of(out.kinds, rows)
    return True


cdef Span _span_of(Register *a, Py_ssize_t rows):
    """A copy of a register."""
    cdef uint8_t[::1] kinds = np.empty(rows, np.uint8)
    cdef double[::1] numbers = np.empty(rows)
    cdef int32_t[::1] codes = np.empty(rows, np.int32)
    cdef Py_ssize_t row
    memcpy(&kinds[0], _kinds_of(a, rows), rows)
    memcpy(&numbers[0], a.numbers, rows * sizeof(double))
    for row in range(rows):
        codes[row] = a.codes[row] if kinds[row] == TEXT else -1
        if kinds[row] == TEXT:
            numbers[row] = 0
    return Span(kinds.base, numbers.base, codes.base)
