# Arithmetic, comparisons and functions of numbers.
#
# Each has two loops: one of loops.h where all rows are numbers, and one that looks at the kind of each row. The
# second also goes over a chunk again in which the first met something special.

ctypedef double (*Combine)(double, double) noexcept nogil
ctypedef int (*Compare)(double, double) noexcept nogil

# None of the three touches Python; the casts let them run without the GIL.
cdef Combine _add = <Combine> add
cdef Combine _subtract = <Combine> subtract
cdef Compare _compare_numbers = <Compare> compare_numbers


cdef inline double _combine(int operation, bint snaps, double x, double y, int *error) noexcept nogil:
    """One row of + - * /; `error` is set where the result is none."""
    cdef double result
    if operation == ADD:
        result = _add(x, y) if snaps else x + y
    elif operation == SUBTRACT:
        result = _subtract(x, y) if snaps else x - y
    elif operation == MULTIPLY:
        result = x * y
    else:
        if y == 0:
            error[0] = CODE_DIV0
            return 0
        result = x / y
    if not isfinite(result):
        error[0] = CODE_NUM
    return 0 if operation >= MULTIPLY and fabs(result) < DBL_MIN else result


cdef inline uint8_t _dated(int operation, uint8_t left, uint8_t right) noexcept nogil:
    """The kind of a sum or a difference: a date plus or minus a number is one."""
    if operation == ADD:
        return DATE if (left == DATE) != (right == DATE) else NUMBER
    if operation == SUBTRACT:
        return DATE if left == DATE and right != DATE else NUMBER
    return NUMBER


cdef bint _quick_arithmetic(int operation, Register *out, Register *a, Register *b, Py_ssize_t rows) noexcept nogil:
    """Whether the plain loop did; all rows are numbers."""
    if operation == ADD:
        return not loop_add(out.numbers, a.numbers, b.numbers, rows)
    if operation == SUBTRACT:
        return not loop_subtract(out.numbers, a.numbers, b.numbers, rows)
    if operation == MULTIPLY:
        return not loop_multiply(out.numbers, a.numbers, b.numbers, rows)
    return not loop_divide(out.numbers, a.numbers, b.numbers, rows)


cdef int _arithmetic(_Run run, int operation, bint snaps, Register *out, Register *a, Register *b,
                     Py_ssize_t rows) except -1 nogil:
    cdef Register left, right
    cdef uint8_t *left_kinds
    cdef uint8_t *right_kinds
    cdef uint8_t kind
    cdef Py_ssize_t row
    cdef int seen = 0, error
    cdef double number
    if _is_numeric(a.kind) and _is_numeric(b.kind) and _quick_arithmetic(operation, out, a, b, rows):
        out.kind = _dated(operation, a.kind, b.kind)
        return 0
    run.numeric(a, &left, 0, rows)
    run.numeric(b, &right, 1, rows)
    left_kinds = _kinds_of(&left, rows)
    right_kinds = _kinds_of(&right, rows)
    for row in range(rows):
        if left_kinds[row] == ERROR:
            kind, number = ERROR, left.numbers[row]
        elif right_kinds[row] == ERROR:
            kind, number = ERROR, right.numbers[row]
        else:
            error = -1
            number = _combine(operation, snaps, left.numbers[row], right.numbers[row], &error)
            kind = _dated(operation, left_kinds[row], right_kinds[row])
            if error >= 0:
                kind, number = ERROR, error
        seen |= 1 << kind
        out.kinds[row] = kind
        out.numbers[row] = number
    _settle(out, seen)
    return 0


cdef inline bint _holds(int operation, int order) noexcept nogil:
    """Whether a comparison holds for operands in this order (-1, 0, 1)."""
    if operation == EQUAL:
        return order == 0
    if operation == UNEQUAL:
        return order != 0
    if operation == LESS:
        return order < 0
    if operation == GREATER:
        return order > 0
    if operation == LESS_EQUAL:
        return order <= 0
    return order >= 0


cdef bint _quick_comparison(int operation, Register *out, Register *a, Register *b, Py_ssize_t rows) noexcept nogil:
    if operation == EQUAL:
        return not loop_equal(out.numbers, a.numbers, b.numbers, rows)
    if operation == UNEQUAL:
        return not loop_unequal(out.numbers, a.numbers, b.numbers, rows)
    if operation == LESS:
        return not loop_less(out.numbers, a.numbers, b.numbers, rows)
    if operation == GREATER:
        return not loop_greater(out.numbers, a.numbers, b.numbers, rows)
    if operation == LESS_EQUAL:
        return not loop_less_equal(out.numbers, a.numbers, b.numbers, rows)
    return not loop_greater_equal(out.numbers, a.numbers, b.numbers, rows)


cdef inline int _rank(uint8_t kind) noexcept nogil:
    """The place of a kind in Excel's order; that of a blank is its neighbour's."""
    return 1 if kind == TEXT else 2 if kind == BOOLEAN else 0


cdef int _comparison(_Run run, int operation, bint is_case, Register *out, Register *a, Register *b,
                     Py_ssize_t rows) except -1 nogil:
    """`is_case`: as SWITCH compares, where a blank is neither FALSE nor an empty text."""
    cdef uint8_t *left = NULL
    cdef uint8_t *right
    cdef Py_ssize_t row
    cdef int order, seen = 0, left_rank, right_rank
    if (_is_numeric(a.kind) and _is_numeric(b.kind) and (a.kind == BOOLEAN) == (b.kind == BOOLEAN)
            and _quick_comparison(operation, out, a, b, rows)):
        out.kind = BOOLEAN
        return 0
    left, right = _kinds_of(a, rows), _kinds_of(b, rows)
    for row in range(rows):
        if left[row] == ERROR or right[row] == ERROR:
            out.kinds[row] = ERROR
            out.numbers[row] = a.numbers[row] if left[row] == ERROR else b.numbers[row]
            seen |= 1 << ERROR
            continue
        left_rank = _rank(right[row] if left[row] == BLANK and not is_case else left[row])
        right_rank = _rank(left[row] if right[row] == BLANK and not is_case else right[row])
        if left_rank != right_rank:
            order = -1 if left_rank < right_rank else 1
        elif left_rank == 1:
            order = run.order_of_texts(operation, a.codes[row] if left[row] == TEXT else run.empty_code,
                                       b.codes[row] if right[row] == TEXT else run.empty_code)
        else:
            order = _compare_numbers(a.numbers[row], b.numbers[row])
        out.kinds[row] = BOOLEAN
        out.numbers[row] = _holds(operation, order)
        seen |= 1 << BOOLEAN
    _settle(out, seen)
    return 0


cdef int _special_power(_Run run, Register *out, Py_ssize_t row, double base, double exponent) except -1:
    return run.store(out, row, power(base, exponent))


cdef int _powers(_Run run, Register *out, Register *a, Register *b, Py_ssize_t rows) except -1 nogil:
    cdef Register base, exponent
    cdef uint8_t *left
    cdef uint8_t *right
    cdef Py_ssize_t row
    cdef int seen = 0
    cdef double number
    run.numeric(a, &base, 0, rows)
    run.numeric(b, &exponent, 1, rows)
    left, right = _kinds_of(&base, rows), _kinds_of(&exponent, rows)
    for row in range(rows):
        out.kinds[row] = NUMBER
        if left[row] == ERROR or right[row] == ERROR:
            out.kinds[row] = ERROR
            number = base.numbers[row] if left[row] == ERROR else exponent.numbers[row]
        else:
            number = pow(base.numbers[row], exponent.numbers[row])
            if base.numbers[row] == 0 or not isfinite(number):
                with gil:
                    _special_power(run, out, row, base.numbers[row], exponent.numbers[row])
                number = out.numbers[row]
        out.numbers[row] = number
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0


cdef enum:
    LAST_DAY = 2_958_465  # 31 December 9999
    DAY_SECONDS = 86_400
    SYSTEMS_APART = 1_462  # days

assert (LAST_DAY, DAY_SECONDS, SYSTEMS_APART) == (SERIAL_MAX, SECONDS_PER_DAY, DAYS_BETWEEN_SYSTEMS)


cdef inline int _part_of_day(int function, double moment, bint date_1904, int *error) noexcept nogil:
    """YEAR, MONTH or DAY of a moment; half a second before midnight is the next day."""
    cdef int serial, since, era, day, year, month
    if not (0 <= moment < LAST_DAY + 1):
        error[0] = CODE_NUM
        return 0
    serial = <int> moment + (SYSTEMS_APART if date_1904 else 0)
    if serial <= LAST_DAY and <int> ((moment - <int> moment) * DAY_SECONDS + 0.5) == DAY_SECONDS:
        serial += 1
    if serial > LAST_DAY:
        error[0] = CODE_NUM
        return 0
    if serial <= 60:  # up to the 29 February 1900 that never was
        year, month = 1900, 1 if serial <= 31 else 2
        day = serial if month == 1 else serial - 31
    else:  # eras of 400 years and years that begin with March, so that a leap day is the last
        since = serial - 61 + 693_960  # from 1 March of year 0 on
        era, since = since // 146_097, since % 146_097
        year = (since - since // 1_460 + since // 36_524 - since // 146_096) // 365
        since -= 365 * year + year // 4 - year // 100
        month = (5 * since + 2) // 153
        day = since - (153 * month + 2) // 5 + 1
        year += 400 * era + (month >= 10)
        month += 3 if month < 10 else -9
    return year if function == YEAR else month if function == MONTH else day


cdef inline double _number_of(int function, double x, double digits, bint date_1904, int *error) noexcept nogil:
    """One row of a function of numbers; `error` is set where it has no value."""
    cdef int places
    if function == NEGATE:
        return 0.0 - x
    if function == PERCENT:
        return x / 100
    if function == ABSOLUTE:
        return fabs(x)
    if function == SIGN:
        return (x > 0) - (x < 0)
    if function == WHOLE:
        return whole_below(x)
    if function == ROOT:
        if x < 0:
            error[0] = CODE_NUM
            return 0
        return sqrt(x)
    if function >= YEAR:
        return _part_of_day(function, x, date_1904, error)
    places = _places(digits)
    if function == ROUND:
        return round_half_away(x, places)
    if function == ROUND_UP:
        return round_up(x, places)
    return round_down(x, places)


cdef inline int _places(double digits) noexcept nogil:
    return <int> (digits if -400 < digits < 400 else copysign(400, digits))  # a cast cuts toward zero


cdef double[23] _TENS  # the powers that a double holds exactly
cdef int _ten
for _ten in range(23):
    _TENS[_ten] = float(10**_ten)


cdef bint _quick_rounding(int function, Register *out, Register *a, Register *digits, Py_ssize_t rows) noexcept nogil:
    """Whether the plain loop did; all rows are numbers."""
    cdef const double *asked = digits.numbers
    cdef int places = 0 if function == WHOLE else _places(asked[0])
    cdef double power, limit
    if not 0 <= places <= 22:
        return False
    power, limit = _TENS[places], 1e15 if places > 0 else 4503599627370496.0
    if function == ROUND:
        return not loop_round(out.numbers, a.numbers, asked, power, limit, rows)
    if function == ROUND_UP:
        return not loop_round_up(out.numbers, a.numbers, asked, power, limit, rows)
    if function == ROUND_DOWN:
        return not loop_round_down(out.numbers, a.numbers, asked, power, limit, rows)
    return not loop_whole(out.numbers, a.numbers, rows)


cdef int _function(_Run run, int function, Register *out, Register *a, Register *b, Py_ssize_t rows) except -1 nogil:
    """A function of one number, or of a number and of digits."""
    cdef Register x, digits
    cdef uint8_t *left
    cdef uint8_t *right
    cdef Py_ssize_t row
    cdef int seen = 0, error
    cdef double number
    run.numeric(a, &x, 0, rows)
    run.numeric(b, &digits, 1, rows)
    if function == NEGATE and _is_numeric(x.kind):
        for row in range(rows):
            out.numbers[row] = 0.0 - x.numbers[row]
        out.kind = NUMBER
        return 0
    if ((WHOLE == function or ROUND <= function <= ROUND_DOWN) and _is_numeric(x.kind) and _is_numeric(digits.kind)
            and _quick_rounding(function, out, &x, &digits, rows)):
        out.kind = NUMBER
        return 0
    left, right = _kinds_of(&x, rows), _kinds_of(&digits, rows)
    for row in range(rows):
        error = -1
        if left[row] == ERROR or right[row] == ERROR:
            number, error = 0, <int> (x.numbers[row] if left[row] == ERROR else digits.numbers[row])
        else:
            number = _number_of(function, x.numbers[row], digits.numbers[row], run.environment.date_1904, &error)
            if error < 0 and not isfinite(number):
                error = CODE_NUM
        out.kinds[row] = NUMBER if error < 0 else ERROR
        out.numbers[row] = number if error < 0 else error
        seen |= 1 << out.kinds[row]
    _settle(out, seen)
    return 0
