"""The one place where a value changes its type: Excel's coercions, its order of values, its 15 digits."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.unicode cimport PyUnicode_READ_CHAR
from libc.math cimport copysign, fabs, floor, fmod, isfinite, pow, round
from libc.stdio cimport snprintf
from libc.string cimport strcmp

from unicodedata import normalize

from core.formula.values.value cimport (
    ERROR_DIV0, ERROR_NUM, ERROR_VALUE, Array, Error, fold, has_date_1904, has_locale, locale_in_use,
)
from core.formula.values.numerals import read_number

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(str text)

DIGITS = 15
"""Significant digits that Excel shows, compares and converts by."""

GENERAL_CHARACTERS_MAX = 20
"""Of a number's text without an exponent, its sign not counted."""

cdef enum:
    PLAIN_CHARACTERS_MAX = 40


cpdef object to_number(object value, bint date_1904=False):
    """What arithmetic makes of a value: a float, or the Error that it is or leads to.

    Blank is 0, TRUE 1, FALSE 0; text is read as a number, a date or a time (VALUE where it is none, "" included).
    """
    if PyFloat_CheckExact(value):
        return value
    if value is None:
        return 0.0
    if isinstance(value, float):
        return PyFloat_AS_DOUBLE(value)
    if value is True:
        return 1.0
    if value is False:
        return 0.0
    if isinstance(value, str):
        return _number_of_text(<str> value, date_1904)
    if isinstance(value, Error):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return ERROR_NUM
    if isinstance(value, Array) and (<Array> value).rows == 1 and (<Array> value).columns == 1:
        return to_number((<Array> value).at(0, 0), date_1904)
    return ERROR_VALUE


cdef object _number_of_text(str text, bint date_1904):
    cdef double number
    if not has_locale() and _is_plain(text):
        try:
            number = float(text)
        except ValueError:
            return ERROR_VALUE if not text.strip() else _of_other_notation(text, date_1904)
        return number if isfinite(number) else ERROR_VALUE
    return _of_other_notation(text, date_1904)


cdef object _of_other_notation(str text, bint date_1904):
    found = read_number(text, date_1904 or has_date_1904())
    return ERROR_VALUE if found is None else found


cdef bint _is_plain(str text) noexcept:
    """Only digits, a point, signs and an exponent: what Python and Excel read alike."""
    cdef Py_ssize_t at, count = len(text)
    cdef Py_UCS4 letter
    if count == 0 or count > PLAIN_CHARACTERS_MAX:
        return False
    for at in range(count):
        letter = PyUnicode_READ_CHAR(text, at)
        if not (48 <= letter <= 57 or letter == u"." or letter == u"-" or letter == u"+" or letter == u"E" or letter == u"e"):
            return False
    return True


cpdef object to_text(object value):
    """What `&` makes of a value: a str, or the Error that it is. Blank is "", numbers stand in the general format."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float):
        text = general(PyFloat_AS_DOUBLE(value))
        return (<str> text).replace(".", locale_in_use().decimal) if has_locale() else text
    if value is True:
        return "TRUE"
    if value is False:
        return "FALSE"
    if isinstance(value, Error):
        return value
    if isinstance(value, int):
        value = to_number(value)
        return value if isinstance(value, Error) else to_text(value)
    if isinstance(value, Array) and (<Array> value).rows == 1 and (<Array> value).columns == 1:
        return to_text((<Array> value).at(0, 0))
    return ERROR_VALUE


cpdef object to_logical(object value):
    """What a condition makes of a value: a bool, or an Error. Blank is FALSE; of texts only TRUE and FALSE are read."""
    if value is True or value is False:
        return value
    if value is None:
        return False
    if isinstance(value, float):
        return PyFloat_AS_DOUBLE(value) != 0.0
    if isinstance(value, str):
        value = (<str> value).strip().upper()
        if value == "TRUE":
            return True
        return False if value == "FALSE" else ERROR_VALUE
    if isinstance(value, Error):
        return value
    if isinstance(value, int):
        return value != 0
    if isinstance(value, Array) and (<Array> value).rows == 1 and (<Array> value).columns == 1:
        return to_logical((<Array> value).at(0, 0))
    return ERROR_VALUE


# The general format.

cpdef str general(double number):
    """A number as text, as `&` gives it: up to 15 significant digits, an exponent where 20 characters do not hold it.

    Where the exponent takes three digits (or is -99), one digit less is kept.
    """
    cdef char[40] buffer
    cdef long whole
    cdef int exponent
    if fabs(number) < 1e15 and number == floor(number):
        whole = <long> number
        return str(whole)
    if not isfinite(number):
        return "#NUM!"
    snprintf(buffer, 40, "%.14e", number)
    text = (<bytes> buffer).decode("ascii")
    mantissa, _, power_of_ten = text.partition("e")
    exponent = int(power_of_ten)
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if not -99 < exponent < 99:
        digits = str((int(digits) + 5) // 10)
        exponent += len(digits) - (DIGITS - 1)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if exponent >= GENERAL_CHARACTERS_MAX or len(digits) + 1 - exponent > GENERAL_CHARACTERS_MAX:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}E{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return sign + digits + "0" * (exponent + 1 - len(digits))
    return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


# Comparison.

cdef bint same_at_15_digits(double a, double b) noexcept:
    """Whether two numbers spell the same 15 significant digits."""
    cdef char[40] left
    cdef char[40] right
    if a == b:
        return True
    if fabs(a - b) > 1.1e-14 * fabs(a):  # more than a unit of the 15th digit, whatever the first digits are
        return False
    snprintf(left, 40, "%.14e", a)
    snprintf(right, 40, "%.14e", b)
    return strcmp(left, right) == 0


cdef int compare_numbers(double a, double b) noexcept:
    if a == b:
        return 0
    if fabs(a - b) <= 1.1e-14 * fabs(a) and same_at_15_digits(a, b):
        return 0
    return -1 if a < b else 1


cdef inline int _rank(object value) noexcept:
    """Where a value's type stands in Excel's order: numbers, text, booleans, errors."""
    if isinstance(value, float):
        return 0
    if isinstance(value, str):
        return 1
    if isinstance(value, bool):
        return 2
    if isinstance(value, int):
        return 0
    return 3


cpdef int compare(object a, object b) except -2:
    """-1, 0 or 1: Excel's order, numbers < text < booleans < errors; a blank is the other's 0, "" or FALSE.

    Numbers are compared by 15 significant digits, text without case and by Excel's order of characters.
    """
    cdef int left, right
    if PyFloat_CheckExact(a) and PyFloat_CheckExact(b):
        return compare_numbers(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b))
    if a is None:
        if b is None:
            return 0
        a = _blank_beside(b)
    elif b is None:
        b = _blank_beside(a)
    left, right = _rank(a), _rank(b)
    if left != right:
        return -1 if left < right else 1
    if left == 0:
        return compare_numbers(<double> a, <double> b)
    if left == 1:
        return _compare_texts(<str> a, <str> b)
    if left == 2:
        return <int> a - <int> b
    return 0


cdef object _blank_beside(object other):
    cdef int rank = _rank(other)
    return "" if rank == 1 else False if rank == 2 else 0.0


cpdef bint equal(object a, object b) except -1:
    """Whether `=` finds two values equal: 1 is not "1", text without case, numbers by 15 digits."""
    if isinstance(a, str) and isinstance(b, str):
        return a == b or fold(<str> a) == fold(<str> b)
    return compare(a, b) == 0


cdef int _compare_texts(str a, str b):
    if a == b:
        return 0
    left, right = fold(a), fold(b)
    if left == right:
        return 0
    if not (PyUnicode_IS_ASCII(left) and left.isalnum() and PyUnicode_IS_ASCII(right) and right.isalnum()):
        left, right = order_key(a), order_key(b)
    return -1 if left < right else 1


# Excel sorts as Windows does: signs, then digits, then letters, a letter with an accent after the plain one.
cdef str _SIGNS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
cdef dict _ORDER = {ord(sign): chr(1 + place) for place, sign in enumerate(_SIGNS)}


cpdef str order_key(str text):
    """A string whose plain order is Excel's order of the text: signs, digits, letters without case, accents last."""
    folded = text.casefold()
    if PyUnicode_IS_ASCII(text):
        return folded.translate(_ORDER)
    # Marks stand apart from their letters once decomposed; they decide only where all else is equal, and so does what
    # one letter for two is: a sharp s stands behind a double one.
    parts = normalize("NFD", folded)
    plain = "".join([part for part in parts if not 0x300 <= ord(part) <= 0x36F])
    return f"{plain.translate(_ORDER)}\0{fold(text)}"


# Arithmetic that is not the processor's.

cdef double add(double a, double b) noexcept:
    """A sum as the last operation of a formula: exactly 0 where the operands cancel out to 15 digits."""
    return subtract(a, -b)


cdef double subtract(double a, double b) noexcept:
    """A difference as the last operation of a formula: exactly 0 where the operands are equal to 15 digits."""
    return 0.0 if same_at_15_digits(a, b) else a - b


cdef object power(double base, double exponent):
    """base ^ exponent: NUM for 0 ^ 0 and even roots of negative numbers, DIV0 for negative powers of 0."""
    cdef double result
    if base == 0.0:
        if exponent == 0.0:
            return ERROR_NUM
        return ERROR_DIV0 if exponent < 0.0 else 0.0
    if base < 0.0 and odd_root(exponent):
        result = -pow(-base, exponent)
    else:
        result = pow(base, exponent)
    return result if isfinite(result) else ERROR_NUM


def raised(double base, double exponent):
    """`power`, for Python."""
    return power(base, exponent)


cdef bint odd_root(double exponent) noexcept:
    """Whether an exponent is one by an odd whole number: Excel takes (-8)^(1/3) as -2."""
    cdef double root, nearest
    if not 1e-9 < fabs(exponent) < 1.0:
        return False
    root = 1.0 / exponent
    nearest = round(root)
    return fabs(fmod(nearest, 2.0)) == 1.0 and fabs(root - nearest) < 1e-9 * fabs(root)
