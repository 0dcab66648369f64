"""Numbers out of arguments: sums, counts, extremes and products over lists and spans, and Excel's decimal rounding.

What counts follows Excel: inside an array or a reference only numbers and dates; as a direct argument also booleans,
text that reads as a number, and an empty argument as 0. The first error in reading order is the answer.
"""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from libc.math cimport INFINITY, ceil, fabs, floor, isfinite, log10, pow
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

import numpy as np

from core.formula.values.coerce import to_number
from core.formula.values.value cimport ERROR_DIV0, ERROR_NA, ERROR_NULL, ERROR_NUM, ERROR_VALUE, Array, Error, Span
from core.values cimport BOOLEAN, DATE, ERROR, NUMBER, TEXT
from core.formula.values.value import ALL_ERRORS, VALUE, Date, Failure

cdef enum Reduction:
    SUM
    COUNT
    MINIMUM
    MAXIMUM
    PRODUCT
    SQUARES

cdef tuple _ERRORS = ALL_ERRORS

cdef enum:
    LONG = 256  # cells from which NumPy is faster than a loop over a list


cdef struct Sums:
    double value  # the sum, the extreme or the product so far
    Py_ssize_t count
    int error  # the code of the first error; -1 while there is none
    bint date  # the extreme is a date


cdef inline Sums _start(Reduction operation) noexcept nogil:
    cdef Sums tally
    tally.value = 0.0
    if operation == MINIMUM:
        tally.value = INFINITY
    elif operation == MAXIMUM:
        tally.value = -INFINITY
    elif operation == PRODUCT:
        tally.value = 1.0
    tally.count = 0
    tally.error = -1
    tally.date = False
    return tally


cdef inline void _take(Sums *tally, Reduction operation, double number, bint date) noexcept nogil:
    tally.count += 1
    if operation == SUM:
        tally.value += number
    elif operation == MINIMUM:
        if number < tally.value:
            tally.value = number
            tally.date = date
    elif operation == MAXIMUM:
        if number > tally.value:
            tally.value = number
            tally.date = date
    elif operation == PRODUCT:
        tally.value *= number
    elif operation == SQUARES:
        tally.value += number * number


cdef inline void _sweep(
    Sums *tally, Reduction operation, Py_ssize_t rows, Py_ssize_t columns, const uint8_t **kinds, const double **numbers
) noexcept nogil:
    """Every cell of some columns in reading order, up to the first error (which COUNT passes by)."""
    cdef Py_ssize_t row, column
    cdef uint8_t kind
    for row in range(rows):
        for column in range(columns):
            kind = kinds[column][row]
            if kind == NUMBER or kind == DATE:
                _take(tally, operation, numbers[column][row], kind == DATE)
            elif kind == ERROR and operation != COUNT:
                tally.error = <int> numbers[column][row]
                return


cdef inline void _sweep_spans(Sums *tally, Reduction operation, Array array) except *:
    cdef Py_ssize_t column, columns = array.columns, rows = array.rows
    cdef const uint8_t[::1] kinds_view
    cdef const double[::1] numbers_view
    cdef const uint8_t **kinds
    cdef const double **numbers
    cdef Span span
    kinds = <const uint8_t **> malloc(columns * sizeof(void *))
    numbers = <const double **> malloc(columns * sizeof(void *))
    try:
        if kinds == NULL or numbers == NULL:
            raise MemoryError
        for column in range(columns):
            span = array.spans[column]
            kinds_view, numbers_view = span.kinds, span.numbers
            assert kinds_view.shape[0] == rows and numbers_view.shape[0] == rows
            kinds[column], numbers[column] = &kinds_view[0], &numbers_view[0]
        with nogil:
            if columns == 1:  # the constant lets the compiler drop the inner loop
                _sweep(tally, operation, rows, 1, kinds, numbers)
            else:
                _sweep(tally, operation, rows, columns, kinds, numbers)
    finally:
        free(kinds)
        free(numbers)


cdef inline void _sweep_list(Sums *tally, Reduction operation, list cells) noexcept:
    cdef object value
    for value in cells:
        if PyFloat_CheckExact(value):
            _take(tally, operation, PyFloat_AS_DOUBLE(value), False)
        elif value is None:
            pass
        elif isinstance(value, Error):
            if operation != COUNT:
                tally.error = (<Error> value).code
                return
        elif isinstance(value, float):
            _take(tally, operation, PyFloat_AS_DOUBLE(value), True)


cdef inline void _sweep_array(Sums *tally, Reduction operation, Array array) except *:
    if array.spans is not None:
        _sweep_spans(tally, operation, array)
    else:
        _sweep_list(tally, operation, array._cells)


cdef inline void _sweep_arguments(Sums *tally, Reduction operation, tuple arguments) except *:
    cdef object value
    for value in arguments:
        if isinstance(value, Array):
            _sweep_array(tally, operation, <Array> value)
        elif isinstance(value, float):
            _take(tally, operation, PyFloat_AS_DOUBLE(value), not PyFloat_CheckExact(value))
        else:
            if not isinstance(value, Error):
                value = to_number(value)
            if isinstance(value, Error):
                if operation != COUNT:
                    tally.error = (<Error> value).code
            else:
                _take(tally, operation, value, False)
        if tally.error >= 0:
            return


cdef inline object _finish(Sums *tally, Reduction operation):
    if tally.error >= 0:
        return _ERRORS[tally.error]
    if operation == COUNT:
        return <double> tally.count
    if tally.count == 0:
        return 0.0
    if not isfinite(tally.value):
        return ERROR_NUM
    if tally.date:
        return Date(tally.value)
    return tally.value


cdef inline object _mean(Sums *tally):
    if tally.error < 0 and tally.count == 0:
        return ERROR_DIV0
    tally.value /= tally.count
    return _finish(tally, SUM)


cpdef object sum_array(Array array):
    """The sum of an array's numbers, added up in reading order; the first error instead where there is one."""
    cdef Sums tally = _start(SUM)
    _sweep_array(&tally, SUM, array)
    return _finish(&tally, SUM)


cpdef object average_array(Array array):
    """The mean of an array's numbers; DIV0 where it has none."""
    cdef Sums tally = _start(SUM)
    _sweep_array(&tally, SUM, array)
    return _mean(&tally)


cpdef object count_array(Array array):
    """How many numbers an array holds."""
    cdef Sums tally = _start(COUNT)
    _sweep_array(&tally, COUNT, array)
    return _finish(&tally, COUNT)


cpdef object minimum_array(Array array):
    """The least of an array's numbers, a Date where that cell is one; 0 where it has none."""
    cdef Sums tally = _start(MINIMUM)
    _sweep_array(&tally, MINIMUM, array)
    return _finish(&tally, MINIMUM)


cpdef object maximum_array(Array array):
    """The greatest of an array's numbers, a Date where that cell is one; 0 where it has none."""
    cdef Sums tally = _start(MAXIMUM)
    _sweep_array(&tally, MAXIMUM, array)
    return _finish(&tally, MAXIMUM)


cpdef object product_array(Array array):
    """The product of an array's numbers; 0 where it has none."""
    cdef Sums tally = _start(PRODUCT)
    _sweep_array(&tally, PRODUCT, array)
    return _finish(&tally, PRODUCT)


def sum_of(*arguments):
    """The body of SUM."""
    cdef Sums tally = _start(SUM)
    _sweep_arguments(&tally, SUM, arguments)
    return _finish(&tally, SUM)


def average_of(*arguments):
    """The body of AVERAGE."""
    cdef Sums tally = _start(SUM)
    _sweep_arguments(&tally, SUM, arguments)
    return _mean(&tally)


def count_of(*arguments):
    """The body of COUNT: errors and text that is no number are passed by."""
    cdef Sums tally = _start(COUNT)
    _sweep_arguments(&tally, COUNT, arguments)
    return _finish(&tally, COUNT)


def minimum_of(*arguments):
    """The body of MIN."""
    cdef Sums tally = _start(MINIMUM)
    _sweep_arguments(&tally, MINIMUM, arguments)
    return _finish(&tally, MINIMUM)


def maximum_of(*arguments):
    """The body of MAX."""
    cdef Sums tally = _start(MAXIMUM)
    _sweep_arguments(&tally, MAXIMUM, arguments)
    return _finish(&tally, MAXIMUM)


def product_of(*arguments):
    """The body of PRODUCT."""
    cdef Sums tally = _start(PRODUCT)
    # An empty direct argument is 0 for the other functions; PRODUCT passes it by.
    _sweep_arguments(&tally, PRODUCT, tuple([value for value in arguments if value is not None]))
    return _finish(&tally, PRODUCT)


def squares_of(*arguments):
    """The body of SUMSQ."""
    cdef Sums tally = _start(SQUARES)
    _sweep_arguments(&tally, SQUARES, arguments)
    return _finish(&tally, SQUARES)


def numbers(tuple arguments, bint everything=False):
    """All numbers of some RANGE arguments in reading order, as plain floats.

    With `everything` text in arrays is 0 and booleans in arrays are 0 and 1, as AVERAGEA, MINA, STDEVA, ... see them.

    Raises:
        Failure: the first error met; VALUE for a direct argument of text that is no number.
    """
    cdef list found = []
    cdef object value
    for value in arguments:
        if isinstance(value, Array):
            _collect(<Array> value, everything, found)
        elif isinstance(value, float):
            found.append(PyFloat_AS_DOUBLE(value))
        else:
            if not isinstance(value, Error):
                value = to_number(value)
            if isinstance(value, Error):
                raise Failure(value)
            found.append(value)
    return found


cdef object _numbers_of_spans(Array array):
    """The numbers of an array that is held as spans, as a NumPy array."""
    values, kinds = dense(array)
    flat, values = kinds.ravel(), values.ravel()
    wrong = np.flatnonzero(flat == ERROR)
    if len(wrong):
        raise Failure(_ERRORS[<int> values[wrong[0]]])
    return values[(flat == NUMBER) | (flat == DATE)]


def ordered(*arguments):
    """The numbers of some RANGE arguments from the least to the greatest: a list, or a NumPy array of a long range.

    Raises:
        Failure: as `numbers`.
    """
    if len(arguments) == 1 and isinstance(arguments[0], Array):
        if (<Array> arguments[0]).spans is not None and (<Array> arguments[0]).rows >= LONG:
            return np.sort(_numbers_of_spans(<Array> arguments[0]))
    return sorted(numbers(arguments))


cdef void _collect(Array array, bint everything, list found) except *:
    cdef object value
    if array.spans is not None and not everything:
        found.extend(_numbers_of_spans(array).tolist())
        return
    for value in array.cells():
        if isinstance(value, float):
            found.append(PyFloat_AS_DOUBLE(value))
        elif value is None:
            pass
        elif isinstance(value, Error):
            raise Failure(value)
        elif everything:
            found.append(1.0 if value is True else 0.0)


def pairs(Array first, Array second):
    """The numbers of two equally large arrays as two lists, place by place, where both hold one.

    Raises:
        Failure: NA for arrays of different sizes (what is wrong with a single cell comes first: its error, or VALUE
            where it is blank), else the first error, pair by pair and in a pair that of the first array; NUM where
            that one is NULL.
    """
    cdef list x = [], y = []
    cdef object one, other, wrong
    if first.rows * first.columns != second.rows * second.columns:
        for array in (first, second):
            if array.rows * array.columns == 1:
                one = array.cells()[0]
                if one is None or isinstance(one, Error):
                    raise Failure(one or ERROR_VALUE)
        raise Failure(ERROR_NA)
    for one, other in zip(first.cells(), second.cells()):
        wrong = one if isinstance(one, Error) else other
        if isinstance(wrong, Error):
            raise Failure(ERROR_NUM if wrong is ERROR_NULL else wrong)
        if isinstance(one, float) and isinstance(other, float):
            x.append(PyFloat_AS_DOUBLE(one))
            y.append(PyFloat_AS_DOUBLE(other))
    return x, y


def products(list x, double mean_x, list y, double mean_y):
    """The sum of the products of the distances from the means, added up in order."""
    cdef double total = 0.0
    cdef Py_ssize_t at
    for at in range(len(x)):
        total += (PyFloat_AS_DOUBLE(x[at]) - mean_x) * (PyFloat_AS_DOUBLE(y[at]) - mean_y)
    return total


def spread(list values):
    """The mean of some floats and the sum of the squared distances from it, each added up in order (as Excel does: its
    STDEV(0.1,0.1,0.1) is 1.7E-17); at least one value."""
    cdef double total = 0.0, squares = 0.0, mean, value
    cdef object item
    for item in values:
        total += PyFloat_AS_DOUBLE(item)
    mean = total / len(values)
    for item in values:
        value = PyFloat_AS_DOUBLE(item) - mean
        squares += value * value
    return mean, squares


def dense(Array array):
    """An array as (numbers, kinds), both of shape (rows, columns): kinds as in `core.values.Kind`, numbers 0 for text
    and blanks, 0 and 1 for booleans, the code for errors."""
    cdef double[::1] values
    cdef uint8_t[::1] kinds
    cdef Py_ssize_t at = 0
    cdef object value
    shape = (array.rows, array.columns)
    if array.spans is not None:
        if array.columns == 1:
            return array.spans[0].numbers.reshape(shape), array.spans[0].kinds.reshape(shape)
        return (
            np.stack([span.numbers for span in array.spans], axis=1),
            np.stack([span.kinds for span in array.spans], axis=1),
        )
    numbers_out, kinds_out = np.zeros(array.rows * array.columns), np.zeros(array.rows * array.columns, np.uint8)
    values, kinds = numbers_out, kinds_out
    for value in array._cells:
        if isinstance(value, float):
            kinds[at] = NUMBER if PyFloat_CheckExact(value) else DATE
            values[at] = PyFloat_AS_DOUBLE(value)
        elif isinstance(value, str):
            kinds[at] = TEXT
        elif isinstance(value, bool):
            kinds[at] = BOOLEAN
            values[at] = 1.0 if value else 0.0
        elif isinstance(value, Error):
            kinds[at] = ERROR
            values[at] = (<Error> value).code
        at += 1
    return numbers_out.reshape(shape), kinds_out.reshape(shape)


cdef object _sum_product_of_lists(tuple arguments, Py_ssize_t count):
    cdef double total = 0.0, product
    cdef Py_ssize_t at
    cdef object argument, value
    for argument in arguments:  # the first error of the first array that has one
        for value in (<Array> argument)._cells:
            if isinstance(value, Error):
                return value
    if count == 1 and any([isinstance((<Array> argument)._cells[0], str) for argument in arguments]):
        return ERROR_VALUE  # single cells are values, of which text is no number
    for at in range(count):
        product = 1.0
        for argument in arguments:
            value = (<Array> argument)._cells[at]
            product *= PyFloat_AS_DOUBLE(value) if isinstance(value, float) else 0.0
        total += product
    return total if isfinite(total) else ERROR_NUM


cdef Error _error_among(tuple arrays):
    """The first argument that is an error itself, and no cell with one; VALUE where none is."""
    cdef Array array
    for array in arrays:
        if array.rows == 1 and array.columns == 1 and array.reference is None and isinstance(array.at(0, 0), Error):
            return array.at(0, 0)
    return ERROR_VALUE


def sum_product(*arguments):
    """The body of SUMPRODUCT: arrays of one shape; what is no number is 0; VALUE for other shapes."""
    cdef Array first = arguments[0], other
    cdef double[::1] product
    cdef const double[::1] values
    cdef const uint8_t[::1] kinds
    cdef Py_ssize_t at, count = first.rows * first.columns
    cdef double total = 0.0
    cdef int error = -1
    for argument in arguments[1:]:
        other = argument
        if other.rows != first.rows or other.columns != first.columns:
            return _error_among(arguments)
    if len(arguments) == 1:
        return sum_array(first)
    if count < LONG and all([argument.spans is None for argument in arguments]):
        return _sum_product_of_lists(arguments, count)
    product = np.ones(count)
    for argument in arguments:
        numbers_found, kinds_found = dense(argument)
        values, kinds = numbers_found.ravel(), kinds_found.ravel()
        with nogil:
            for at in range(count):
                if kinds[at] == NUMBER or kinds[at] == DATE:
                    product[at] *= values[at]
                elif kinds[at] == ERROR:
                    error = <int> values[at]
                    break
                else:
                    product[at] = 0.0
        if error >= 0:
            return _ERRORS[error]
    for at in range(count):
        total += product[at]
    return total if isfinite(total) else ERROR_NUM


# Rounding. Excel rounds the number that its 15 significant digits spell, not the binary one: 2.675 is a tie although
# the double is a little less. `half_unit` is half of the fifteenth digit: what lies nearer to a boundary than that
# reads as being on it.

cdef inline double _half_unit(double scaled) noexcept nogil:
    """Half a unit in the 15th significant digit of a positive number; 0 where that digit stands before the point."""
    cdef double places = floor(log10(scaled))
    if pow(10.0, places) > scaled:  # the logarithm of 999999999999999.8 is 15
        places -= 1
    places -= 14
    return 0.5 * pow(10.0, places) if places <= 0 else 0.0


cdef double[309] _POWERS  # calling `pow` took four fifths of a ROUND
cdef int _exponent
for _exponent in range(309):
    _POWERS[_exponent] = pow(10.0, _exponent)


cdef inline double _power(int digits) noexcept nogil:
    return _POWERS[digits]


cdef inline double _scaled(double number, int digits) noexcept nogil:
    return fabs(number) * _power(digits) if digits >= 0 else fabs(number) / _power(-digits)


cdef inline double _unscaled(double whole, double number, int digits) noexcept nogil:
    cdef double result
    if whole == 0:
        return 0.0
    result = whole / _power(digits) if digits >= 0 else whole * _power(-digits)
    return -result if number < 0 else result


cdef inline bint _is_fine(double number, double scaled, int digits) noexcept nogil:
    """Nothing stands behind the digit to round to."""
    return number == 0 or not isfinite(number) or digits > 300 or scaled >= (1e15 if digits > 0 else 4503599627370496.0)


cpdef double round_half_away(double number, int digits) noexcept nogil:
    """ROUND: to so many decimals, ties away from zero, as the 15 significant digits read."""
    cdef double scaled = _scaled(number, digits) if -308 <= digits <= 300 else 0.0
    cdef double whole, part
    if _is_fine(number, scaled, digits):
        return number
    whole = floor(scaled)
    part = scaled - whole
    # With 15 digits before the point nothing is left to spell a tie.
    if part >= 0.5 or (scaled < 1e14 and 0.5 - part < 6e-15 * scaled and 0.5 - part <= _half_unit(scaled)):
        whole += 1
    return _unscaled(whole, number, digits)


cpdef double round_down(double number, int digits) noexcept nogil:
    """ROUNDDOWN and TRUNC: toward zero, as the 15 significant digits read."""
    cdef double scaled = _scaled(number, digits) if -308 <= digits <= 300 else 0.0
    cdef double whole, rest
    if _is_fine(number, scaled, digits):
        return number
    whole = floor(scaled)
    rest = whole + 1 - scaled
    if rest < 6e-15 * scaled and rest <= _half_unit(scaled):
        whole += 1
    return _unscaled(whole, number, digits)


cpdef double round_up(double number, int digits) noexcept nogil:
    """ROUNDUP: away from zero, as the 15 significant digits read."""
    cdef double scaled, whole, part
    if digits < -308:
        return 0.0 if number == 0 else INFINITY
    scaled = _scaled(number, digits) if digits <= 300 else 0.0
    if _is_fine(number, scaled, digits):
        return number
    whole = floor(scaled)
    part = scaled - whole
    if part > 0 and not (part < 6e-15 * scaled and part <= _half_unit(scaled)):
        whole += 1
    return _unscaled(whole, number, digits)


cdef inline int _digits(double digits) noexcept nogil:
    """Decimals as a function is asked for them, cut; beyond 400 they say nothing."""
    return <int> (400.0 if digits > 400.0 else -400.0 if digits < -400.0 else digits)


def round_of(double number, double digits):
    """The body of ROUND."""
    return round_half_away(number, _digits(digits))


def round_down_of(double number, double digits=0.0):
    """The body of ROUNDDOWN and TRUNC."""
    return round_down(number, _digits(digits))


def round_up_of(double number, double digits):
    """The body of ROUNDUP."""
    return round_up(number, _digits(digits))


cpdef double whole_below(double number) noexcept nogil:
    """The greatest whole number not above: what INT, FLOOR and MOD take."""
    return round_up(number, 0) if number < 0 else round_down(number, 0)


cpdef double whole_above(double number) noexcept nogil:
    """The least whole number not below: what CEILING takes."""
    return round_down(number, 0) if number < 0 else round_up(number, 0)
