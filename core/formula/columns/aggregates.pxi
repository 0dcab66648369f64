# SUM, AVERAGE, COUNT, COUNTA, MIN, MAX, PRODUCT, AND, OR, XOR over single cells, values, and windows that move with the
# row. Numbers are taken in the order in which the one-value evaluator takes them, so that sums agree to the last bit.
#
# An item is a value of the row (VALUE_ITEM), a cell of the row (CELL_ITEM, where text, booleans and blanks count less),
# a window of fixed height (SLIDING_ITEM), or one that starts in a fixed row (RUNNING_ITEM: it must come first; its
# tally is carried from row to row).

cdef enum:
    VALUE_ITEM = 0
    CELL_ITEM = 1
    SLIDING_ITEM = 2
    RUNNING_ITEM = 3

cdef struct Item:
    int kind
    int register
    int slot  # of the window's first column, in the run's list of window slots
    int width
    Py_ssize_t low  # first row: from the formula's own, or of the sheet (RUNNING_ITEM)
    Py_ssize_t high  # last row, from the formula's own

cdef struct Totals:
    double value
    int64_t count
    int error
    bint date


cdef inline void _open(Totals *tally, int function) noexcept nogil:
    tally.value = 0
    if function == MINIMUM:
        tally.value = INFINITY
    elif function == MAXIMUM:
        tally.value = -INFINITY
    elif function == PRODUCT or function == ALL_TRUE:
        tally.value = 1
    tally.count = 0
    tally.error = -1
    tally.date = False


cdef inline void _count_in(Totals *tally, int function, double number, bint date) noexcept nogil:
    tally.count += 1
    if function == SUM or function == AVERAGE:
        tally.value += number
    elif function == MINIMUM:
        if number < tally.value:
            tally.value = number
            tally.date = date
    elif function == MAXIMUM:
        if number > tally.value:
            tally.value = number
            tally.date = date
    elif function == PRODUCT:
        tally.value *= number
    elif function == ALL_TRUE:
        if number == 0:
            tally.value = 0
    elif function == ANY_TRUE:
        if number != 0:
            tally.value = 1
    elif function == ODD_TRUE:
        if number != 0:
            tally.value = 1 - tally.value


cdef inline bint _is_logical(int function) noexcept nogil:
    return function == ALL_TRUE or function == ANY_TRUE or function == ODD_TRUE


cdef inline void _count_cell(Totals *tally, int function, uint8_t kind, double number) noexcept nogil:
    """One cell that was read through a reference."""
    if function == COUNT_ANY:
        tally.count += kind != BLANK
    elif kind == NUMBER or kind == DATE:
        _count_in(tally, function, number, kind == DATE)
    elif kind == ERROR:
        if tally.error < 0 and function != COUNT:
            tally.error = <int> number
    elif kind == BOOLEAN and _is_logical(function):
        _count_in(tally, function, number, False)


cdef inline void _count_value(Totals *tally, int function, uint8_t kind, double number) noexcept nogil:
    """One value given directly, text already read as a number or a condition."""
    if function == COUNT_ANY:
        tally.count += 1
    elif kind == ERROR:
        if tally.error < 0 and function != COUNT:
            tally.error = <int> number
    elif not (kind == BLANK and function == PRODUCT):
        _count_in(tally, function, number, kind == DATE)


cdef void _close(Totals *tallies, int function, Register *out, Py_ssize_t rows) noexcept nogil:
    """The answers out of the tallies."""
    cdef Py_ssize_t row
    cdef int seen = 0
    cdef uint8_t kind
    cdef double number
    cdef Totals *tally
    for row in range(rows):
        tally = &tallies[row]
        kind, number = NUMBER, tally.value
        if tally.error >= 0:
            kind, number = ERROR, tally.error
        elif function == COUNT or function == COUNT_ANY:
            number = tally.count
        elif tally.count == 0:
            number = 0
            if function == AVERAGE:
                kind, number = ERROR, CODE_DIV0
            elif _is_logical(function):
                kind, number = ERROR, CODE_VALUE
        elif _is_logical(function):
            kind = BOOLEAN
        else:
            if function == AVERAGE:
                number /= tally.count
            if not isfinite(number):
                kind, number = ERROR, CODE_NUM
            elif tally.date:
                kind = DATE
        out.kinds[row] = kind
        out.numbers[row] = number
        seen |= 1 << kind
    _settle(out, seen)


cdef inline void _sweep_window(Totals *tally, int function, Slot **slots, int width, Py_ssize_t first,
                               Py_ssize_t last) noexcept nogil:
    """Rows `first` to `last` of the sheet, in reading order."""
    cdef Py_ssize_t row, at
    cdef int column
    for row in range(first, last + 1):
        for column in range(width):
            at = row - slots[column].first
            _count_cell(tally, function, slots[column].kinds[at], slots[column].numbers[at])


cdef void _add_cells(Totals *tallies, int function, const uint8_t *kinds, const double *numbers,
                     Py_ssize_t rows) noexcept nogil:
    """One cell of each row into its tally."""
    cdef Py_ssize_t row
    cdef uint8_t kind = _kind_of(kinds, rows)
    if kind == NUMBER and (function == SUM or function == AVERAGE):
        for row in range(rows):
            tallies[row].value += numbers[row]
            tallies[row].count += 1
    elif kind == NUMBER or kind == MIXED or kind == DATE or kind == ERROR or kind == BOOLEAN or function == COUNT_ANY:
        for row in range(rows):
            _count_cell(&tallies[row], function, kinds[row], numbers[row])


cdef bint _quick_aggregate(_Run run, int function, Register *out, Item *items, int count,
                           Py_ssize_t rows) noexcept nogil:
    """Whether plain loops did: of numbers of the row alone."""
    cdef Register *register
    cdef Py_ssize_t row
    cdef int at
    if function >= PRODUCT:
        return False
    for at in range(count):
        register = &run.registers[items[at].register]
        if items[at].kind > CELL_ITEM or register.kind != NUMBER:
            return False
        if register == out and (at or function <= AVERAGE):  # it is still to be read
            return False
    if function == COUNT or function == COUNT_ANY:
        for row in range(rows):
            out.numbers[row] = count
    else:
        register = &run.registers[items[0].register]
        for row in range(rows):
            out.numbers[row] = register.numbers[row] + 0.0 if function <= AVERAGE else register.numbers[row]
        for at in range(1, count):
            register = &run.registers[items[at].register]
            if function <= AVERAGE:
                loop_sum(out.numbers, register.numbers, rows)
            elif function == MINIMUM:
                loop_least(out.numbers, register.numbers, rows)
            else:
                loop_most(out.numbers, register.numbers, rows)
        if function == AVERAGE:
            for row in range(rows):
                out.numbers[row] /= count
    out.kind = NUMBER
    return function >= COUNT or loop_finite(out.numbers, rows)


cdef int _aggregate(_Run run, int function, Register *out, Item *items, int count, Py_ssize_t rows) except -1 nogil:
    """All items of one call, over a chunk."""
    cdef Totals *tallies = run.tallies
    cdef Py_ssize_t row, own, height
    cdef int at, column
    cdef Item *item
    cdef Slot *slot
    cdef Register value
    cdef Totals *running
    cdef uint8_t *kinds
    cdef uint8_t *given
    if _quick_aggregate(run, function, out, items, count, rows):
        return 0
    if items[0].kind != RUNNING_ITEM:
        for row in range(rows):
            _open(&tallies[row], function)
    for at in range(count):
        item = &items[at]
        own = run.row + run.position
        if item.kind == CELL_ITEM:
            _add_cells(tallies, function, _kinds_of(&run.registers[item.register], rows),
                       run.registers[item.register].numbers, rows)
        elif item.kind == VALUE_ITEM:
            if _is_logical(function):
                run.logical(&run.registers[item.register], &value, 0, rows)
            elif function == COUNT_ANY:
                value = run.registers[item.register]
            else:
                run.numeric(&run.registers[item.register], &value, 0, rows)
            kinds, given = _kinds_of(&value, rows), _kinds_of(&run.registers[item.register], rows)
            for row in range(rows):
                if (given[row] == TEXT and run.registers[item.register].codes[row] == run.empty_code
                        and _is_logical(function)):
                    continue  # Excel passes by an empty text
                _count_value(&tallies[row], function, kinds[row], value.numbers[row])
        elif item.kind == SLIDING_ITEM:
            for height in range(item.low, item.high + 1):
                for column in range(item.width):
                    slot = run.windows[item.slot + column]
                    _add_cells(tallies, function, slot.kinds + (own + height - slot.first),
                               slot.numbers + (own + height - slot.first), rows)
        else:
            running = &run.running[item.register]
            for row in range(rows):
                _sweep_window(running, function, run.windows + item.slot, item.width, run.reached[item.register],
                              own + row + item.high)
                if run.reached[item.register] <= own + row + item.high:
                    run.reached[item.register] = own + row + item.high + 1
                tallies[row] = running[0]
    _close(tallies, function, out, rows)
    return 0
