"""What COUNTIF and its kin ask of a cell: the criterion as a number, text or pattern with an operator; and wildcards."""

from libc.stdint cimport uint8_t, uint32_t

from core.formula.values.value cimport Error, fold, has_locale
from core.values cimport BLANK, BOOLEAN, ERROR, NUMBER

from core.formula.values.coerce cimport compare
from core.formula.values.numerals import read_cell, read_number
from core.formula.values.value import VALUE, Failure
from core.values import ERROR_CODE

CRITERION_CHARACTERS_MAX = 255
"""Characters of a text criterion; Excel answers #VALUE! beyond."""

cdef Py_ssize_t PATTERN_MAX = 255
cdef Py_ssize_t SIGNIFICANT_DIGITS = 15
cdef uint32_t[12] MONTHS
for _place, _name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split()):
    MONTHS[_place] = int.from_bytes(_name.encode(), "big")
cdef tuple OPERATORS = (
    ("<>", UNEQUAL), ("<=", LESS_EQUAL), (">=", GREATER_EQUAL), ("=", EQUAL), ("<", LESS), (">", GREATER),
)


cdef bint starts_as_word(str text):
    """Whether text begins with a letter, and not as the name of a month does: then it is no number of any form."""
    cdef Py_UCS4 first, second, third
    cdef uint32_t start
    cdef int month
    if not text:
        return False
    first = text[0]
    if not (u"a" <= first <= u"z" or u"A" <= first <= u"Z"):
        return False
    if len(text) < 3:
        return True
    second, third = text[1], text[2]
    if second > 127 or third > 127:
        return True
    start = (<uint32_t> first | 32) << 16 | (<uint32_t> second | 32) << 8 | (<uint32_t> third | 32)
    for month in range(12):
        if start == MONTHS[month]:
            return False
    return True


cdef object number_in(str text, bint date_1904, bint is_cell=False):
    """`read_number`, or `read_cell`, the common cases decided at a glance: they try many forms one after the other."""
    cdef Py_UCS4 letter
    read = read_cell if is_cell else read_number
    if has_locale():
        return read(text, date_1904)
    cdef bint digits = False, plain = len(text) <= SIGNIFICANT_DIGITS
    for letter in text:
        if u"0" <= letter <= u"9":
            digits = True
        elif letter != u"." and letter != u"-":
            plain = False
    if not digits or starts_as_word(text):
        return None
    if plain:
        try:
            return float(text)
        except ValueError:
            pass  # 1.2.3 or 1-2: perhaps a date
    return read(text, date_1904)


cdef class Wildcard:
    """A pattern of `*` (any characters), `?` (any one) and `~` (the next character as it is), without case.

    The time of a match is at most text times pattern, whatever the pattern: each part between stars is looked for
    once from the left. A pattern over 255 characters matches nothing, as in Excel.
    """

    def __init__(self, str pattern):
        cdef str folded = fold(pattern)
        cdef Py_ssize_t at = 0, length = len(folded)
        cdef list letters = [], wild = []
        self.segments = []
        self.too_long = length > PATTERN_MAX
        self.open_start = length > 0 and folded[0] == "*"
        self.open_end = False
        self.prefix = ""
        while at < length:
            letter = folded[at]
            if letter != "~" or at + 1 < length:  # a tilde at the end is nothing
                self.open_end = letter == "*"
            if letter == "*":
                self._close(letters, wild)
                letters, wild = [], []
            elif letter == "?":
                letters.append("?")
                wild.append(True)
            elif letter != "~":
                letters.append(letter)
                wild.append(False)
            elif at + 1 < length:
                at += 1
                letters.append(folded[at])
                wild.append(False)
            at += 1
        self._close(letters, wild)
        if self.segments and not self.open_start:
            letters, wild = list(self.segments[0][0]), self.segments[0][1]
            stop = wild.index(True) if wild is not None else len(letters)
            self.prefix = "".join(letters[:stop])

    def _close(self, list letters, list wild):
        if letters:
            self.segments.append(("".join(letters), wild if True in wild else None))

    cpdef bint matches(self, str text) except -1:
        """Whether the whole text fits the pattern."""
        cdef str folded = fold(text)
        cdef Py_ssize_t start = 0, stop = len(folded), first = 0, last = len(self.segments)
        if self.too_long:
            return False
        if last == 0:
            return self.open_start or stop == 0
        if not self.open_start:
            start = fits_at(self.segments[0], folded, 0, stop)
            if start < 0:
                return False
            first = 1
        if not self.open_end:
            if first == last:
                return start == stop
            last -= 1
            segment = self.segments[last]
            at = stop - len(<str> segment[0])
            if at < start or fits_at(segment, folded, at, stop) < 0:
                return False
            stop = at
        return self._rest(folded, first, last, start, stop)

    cpdef Py_ssize_t search(self, str text, Py_ssize_t start=0) except -2:
        """The first position at or after `start` where the pattern begins; -1 where there is none."""
        cdef str folded = fold(text)
        cdef Py_ssize_t at, stop = len(folded)
        if self.too_long or start > stop:
            return -1
        if self.open_start or not self.segments:
            return start if self._rest(folded, 0, len(self.segments), start, stop) else -1
        at = find(self.segments[0], folded, start, stop)
        if at < 0:
            return -1
        return at if self._rest(folded, 1, len(self.segments), at + len(<str> self.segments[0][0]), stop) else -1

    cdef bint _rest(self, str folded, Py_ssize_t first, Py_ssize_t last, Py_ssize_t start, Py_ssize_t stop) except -1:
        """Whether the segments stand one after the other between start and stop; the leftmost place is the best."""
        cdef Py_ssize_t index, at
        for index in range(first, last):
            segment = self.segments[index]
            at = find(segment, folded, start, stop)
            if at < 0:
                return False
            start = at + len(<str> segment[0])
        return True


cdef Py_ssize_t fits_at(tuple segment, str text, Py_ssize_t start, Py_ssize_t stop) except -2:
    """Where the segment ends that begins at `start`; -1 where it does not fit."""
    cdef str letters = segment[0]
    cdef Py_ssize_t length = len(letters), index
    if start + length > stop:
        return -1
    if segment[1] is None:
        return start + length if text.startswith(letters, start) else -1
    wild = <list> segment[1]
    for index in range(length):
        if not wild[index] and text[start + index] != letters[index]:
            return -1
    return start + length


cdef Py_ssize_t find(tuple segment, str text, Py_ssize_t start, Py_ssize_t stop) except -2:
    """Where the segment stands first; -1 where nowhere."""
    cdef Py_ssize_t at, last = stop - len(<str> segment[0])
    if segment[1] is None:
        return text.find(<str> segment[0], start, stop)
    for at in range(start, last + 1):
        if fits_at(segment, text, at, stop) >= 0:
            return at
    return -1


def wildcard(str pattern):
    """The compiled pattern; None for text without a wildcard or a tilde, which only equals itself."""
    if "*" in pattern or "?" in pattern or "~" in pattern:
        return Wildcard(pattern)
    return None


cdef class Criterion:
    """One criterion of COUNTIF, SUMIFS, DSUM and the like.

    A number (or text that reads as one, with or without an operator) meets numbers, and for equality numeric text as
    well. "" meets blank and empty text, "=" blank only, "<>" whatever is not blank; a blank criterion is the number 0.
    `begins`: text without an operator means what begins so, the rule of the database functions.

    Raises:
        Failure: #VALUE! for text of over 255 characters.
    """

    def __init__(self, value, *, bint date_1904=False, bint begins=False):
        self.operator = EQUAL
        self.date_1904 = date_1904
        if value is None:
            self.operand, self.number = A_NUMBER, 0
        elif isinstance(value, str):
            self._read(value, begins)
        elif isinstance(value, bool):
            self.operand, self.number = A_BOOLEAN, value
        elif isinstance(value, float):
            self.operand, self.number = A_NUMBER, value
        elif isinstance(value, Error):
            self.operand, self.number = AN_ERROR, (<Error> value).code
        else:
            raise Failure(VALUE)

    cdef _read(self, str text, bint begins):
        cdef bint bare = True
        if len(text) > CRITERION_CHARACTERS_MAX:
            raise Failure(VALUE)
        # Most are the names of things; in other languages than English a month or a currency may come first.
        if not has_locale() and starts_as_word(text) and (len(text) > 5 or text.upper() not in ("TRUE", "FALSE")):
            return self._read_text(text, begins)
        for prefix, operator in OPERATORS:
            if text.startswith(prefix):
                self.operator = operator
                text = text[len(<str> prefix):]
                bare = False
                break
        if not text:
            self.operand = EMPTY_TEXT if bare else A_BLANK if self.operator <= UNEQUAL else NOTHING
            return
        upper = text.upper()
        if upper == "TRUE" or upper == "FALSE":
            self.operand, self.number = A_BOOLEAN, upper == "TRUE"
        elif upper in ERROR_CODE:
            self.operand, self.number = AN_ERROR, ERROR_CODE[upper]
        else:
            number = number_in(text, self.date_1904)
            if number is not None:
                self.operand, self.number = A_NUMBER, number
            else:
                self._read_text(text, bare and begins)

    cdef _read_text(self, str text, bint begins):
        self.text = text
        self.folded = fold(text)
        self.operand = A_TEXT
        if self.operator <= UNEQUAL:
            self.pattern = wildcard(text + "*" if begins else text)
            if self.pattern is not None:
                self.operand = A_PATTERN

    cpdef bint matches(self, value) except -1:
        """Whether a cell's value meets the criterion."""
        if isinstance(value, str):
            return self.matches_text(value)
        if value is None:
            return self.matches_kind(BLANK, 0)
        if isinstance(value, bool):
            return self.matches_kind(BOOLEAN, value)
        if isinstance(value, float):
            return self.matches_kind(NUMBER, value)
        if isinstance(value, Error):
            return self.matches_kind(ERROR, (<Error> value).code)
        return False

    cdef bint matches_kind(self, uint8_t kind, double number) noexcept nogil:
        """The same for a cell that is no text, as a span holds it."""
        return meets(self.operator, self.operand, self.number, kind, number)

    cdef bint matches_text(self, str text) except -1:
        """The same for text."""
        cdef bint equal
        cdef int order
        if self.operand == A_PATTERN:
            return self.pattern.matches(text) == (self.operator == EQUAL)
        if self.operand == A_TEXT:
            if self.operator <= UNEQUAL:
                return (fold(text) == self.folded) == (self.operator == EQUAL)
            order = compare(text, self.text)
            if self.operator == LESS:
                return order < 0
            if self.operator == LESS_EQUAL:
                return order <= 0
            return order > 0 if self.operator == GREATER else order >= 0
        if self.operand == EMPTY_TEXT:
            return len(text) == 0
        if self.operand == A_NUMBER and self.operator == EQUAL:
            # numeric text equals the number, yet "<>5" holds for the text "5" and ">4" does not: Excel's own way
            number = number_in(text, self.date_1904, True)
            return number is not None and <double> number == self.number
        return self.operator == UNEQUAL
