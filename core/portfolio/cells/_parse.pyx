"""Distinct strings of a column to clean text, numbers, name keys and identifier kinds."""

# A text column is dictionary codes into the pool of its sheet. What a string means is worked out once for each
# distinct string that the column uses, here, over the pool's bytes; nothing below touches a Python string.

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, strtod
from libc.string cimport memcmp, memcpy

import numpy as np

from core.seed import SEED

from core.grid._intern cimport Pool, pool_arrays, pool_close, pool_code, pool_open


cdef extern from "_identifiers.h" nogil:
    bint cusip_fits(const uint8_t *text)
    bint isin_fits(const uint8_t *text)
    bint loanx_fits(const uint8_t *text, int64_t length)


cdef enum:
    NUMBER_LENGTH = 64      # bytes of a number's text; a longer text is none
    SIZE_MAX = 0x7FFFFFFF   # bytes of distinct text in one column
    CUSIP_KIND = 1
    LOANX_KIND = 2
    ISIN_KIND = 3
    SHORT_KIND = 4
    DESTROYED_KIND = 5
    MARK_PERCENT = 1
    MARK_BASIS_POINTS = 2
    MARK_UNREADABLE = 4
    MARK_THOUSANDS_COMMA = 8
    MARK_THOUSANDS_DOT = 16
    MARK_DECIMAL_COMMA = 32
    MARK_DECIMAL_POINT = 64

PERCENT = MARK_PERCENT
BASIS_POINTS = MARK_BASIS_POINTS
UNREADABLE = MARK_UNREADABLE
THOUSANDS_COMMA = MARK_THOUSANDS_COMMA
THOUSANDS_DOT = MARK_THOUSANDS_DOT
DECIMAL_COMMA = MARK_DECIMAL_COMMA
DECIMAL_POINT = MARK_DECIMAL_POINT


def kinds_seen(const uint8_t[::1] kinds):
    """The kinds of a column's cells as bits: bit k is set when some cell is of kind k (kinds above 7 are ignored)."""
    cdef Py_ssize_t row
    cdef unsigned int bits = 0
    with nogil:
        for row in range(kinds.shape[0]):
            bits |= (<unsigned int> 1) << (kinds[row] & 31)
    return bits & 0xFF


def distinct(const int32_t[::1] codes, Py_ssize_t pool_size):
    """A column's codes renumbered 0, 1, 2, ... by first appearance, and the pool's code of each number; blanks stay -1.

    Raises:
        ValueError: a code is not below `pool_size`.
    """
    cdef Py_ssize_t row, count = codes.shape[0], used_count = 0
    local = np.empty(count, np.int32)
    used = np.empty(min(count, pool_size), np.int32)
    numbers = np.zeros(pool_size, np.int32)
    cdef int32_t[::1] local_view = local, used_view = used, numbers_view = numbers
    cdef int32_t code
    cdef bint in_range = True
    with nogil:
        for row in range(count):
            code = codes[row]
            if code < 0:
                local_view[row] = -1
                continue
            if code >= pool_size:
                in_range = False
                break
            if numbers_view[code] == 0:
                used_view[used_count] = code
                used_count += 1
                numbers_view[code] = <int32_t> used_count
            local_view[row] = numbers_view[code] - 1
    if not in_range:
        raise ValueError("a text code is not below the size of the pool")
    return local, used[:used_count]


ctypedef fused Bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def spread(const Bits[::1] table, const int32_t[::1] codes, Bits[::1] into):
    """Fill `into` with the entry of each row's code, the last one for a code below 0. Without a branch, which blanks that
    come at random would have mispredicted.

    Raises:
        IndexError: a code is not below the last entry's.
    """
    cdef Py_ssize_t row
    cdef int64_t last = table.shape[0] - 1
    cdef uint32_t most = <uint32_t> last, code
    cdef bint is_beyond = False
    if last < 0 or into.shape[0] != codes.shape[0]:
        raise ValueError("there are not as many rows as codes")
    with nogil:
        for row in range(codes.shape[0]):
            is_beyond |= codes[row] >= last
            code = <uint32_t> codes[row]
            into[row] = table[code if code < most else most]
    if is_beyond:
        raise IndexError("a code is not below the size of the table")


cdef inline bint _spans(const int64_t[::1] offsets, const uint8_t[::1] data, int64_t code) noexcept nogil:
    """Whether string `code` lies inside the pool: checked before any of its bytes is read."""
    return (0 <= code < offsets.shape[0] - 1 and 0 <= offsets[code] <= offsets[code + 1]
            and offsets[code + 1] <= data.shape[0])


cdef bint _all_spans(const int64_t[::1] offsets, const uint8_t[::1] data) noexcept nogil:
    cdef Py_ssize_t code
    for code in range(offsets.shape[0] - 1):
        if not _spans(offsets, data, code):
            return False
    return True


cdef inline int64_t _blank(const uint8_t *text, int64_t length) noexcept nogil:
    """Bytes of the white space at the start of the text; 0 where there is none. No-break spaces count."""
    if length >= 1 and (text[0] <= 32):
        return 1
    if length >= 2 and text[0] == 0xC2 and text[1] == 0xA0:
        return 2
    if length >= 3 and text[0] == 0xE2 and text[1] == 0x80 and (text[2] == 0xAF or text[2] <= 0x8B):
        return 3
    return 0


cdef inline int64_t _blank_end(const uint8_t *text, int64_t length) noexcept nogil:
    """Bytes of the white space at the end of the text."""
    if length >= 1 and text[length - 1] <= 32:
        return 1
    if length >= 2 and text[length - 2] == 0xC2 and text[length - 1] == 0xA0:
        return 2
    if length >= 3 and text[length - 3] == 0xE2 and text[length - 2] == 0x80 and (
            text[length - 1] == 0xAF or text[length - 1] <= 0x8B):
        return 3
    return 0


cdef bint _is_clean(const uint8_t *text, int64_t length, bint upper) noexcept nogil:
    """Whether trimming and raising would leave a string of at least one byte as it is."""
    cdef int64_t at
    if _blank(text, length) or _blank_end(text, length):
        return False
    if upper:
        for at in range(length):
            if 97 <= text[at] <= 122:
                return False
    return True


cdef object _gathered(const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] used):
    """The used strings one after the other."""
    cdef Py_ssize_t at, count = used.shape[0]
    cdef int64_t size = 0, length
    own_offsets = np.empty(count + 1, np.int64)
    cdef int64_t[::1] offsets_view = own_offsets
    with nogil:
        for at in range(count):
            offsets_view[at] = size
            size += offsets[used[at] + 1] - offsets[used[at]]
        offsets_view[count] = size
    own_data = np.empty(size, np.uint8)
    cdef uint8_t[::1] data_view = own_data
    with nogil:
        for at in range(count):
            length = offsets_view[at + 1] - offsets_view[at]
            if length:
                memcpy(&data_view[offsets_view[at]], &data[offsets[used[at]]], length)
    return own_offsets, own_data


def clean(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] used, bint upper, bint is_distinct
):
    """The used strings trimmed, ASCII letters raised where `upper`: (code of each, offsets, data) of their own pool.

    Strings that become equal share a code; an empty one has -1. `is_distinct` says that the used strings differ, so that
    nothing needs to be looked up when none of them changes: the common case, and five times as fast.

    Raises:
        ValueError: offsets or codes do not fit the data.
        MemoryError: no memory, or more than 2 GiB of text.
    """
    cdef Py_ssize_t at, count = used.shape[0]
    cdef int64_t begin, length, step, letter, longest = 0
    cdef bint in_range = True
    with nogil:
        for at in range(count):
            if not _spans(offsets, data, used[at]):
                in_range = False
                break
            length = offsets[used[at] + 1] - offsets[used[at]]
            longest = length if length > longest else longest
            if is_distinct and (length == 0 or not _is_clean(&data[offsets[used[at]]], length, upper)):
                is_distinct = False
    if not in_range:
        raise ValueError("a text code leaves the pool")
    if is_distinct:
        return np.arange(count, dtype=np.int32), *_gathered(offsets, data, used)
    codes = np.empty(count, np.int32)
    cdef int32_t[::1] codes_view = codes
    cdef const uint8_t *text
    cdef uint8_t *raised = NULL
    cdef Pool pool
    cdef bint failed = False
    if pool_open(&pool, <uint64_t> SEED, SIZE_MAX) < 0:
        pool_close(&pool)
        raise MemoryError
    with nogil:
        if upper:
            raised = <uint8_t *> malloc(longest + 1)
            failed = raised == NULL
        if not failed:
            for at in range(count):
                begin = offsets[used[at]]
                length = offsets[used[at] + 1] - begin
                if length == 0:
                    codes_view[at] = -1
                    continue
                text = &data[begin]
                step = _blank(text, length)
                while step:
                    text += step
                    length -= step
                    step = _blank(text, length)
                step = _blank_end(text, length)
                while step:
                    length -= step
                    step = _blank_end(text, length)
                if length == 0:
                    codes_view[at] = -1
                    continue
                if upper:
                    for letter in range(length):
                        raised[letter] = text[letter] - 32 if 97 <= text[letter] <= 122 else text[letter]
                    text = raised
                codes_view[at] = pool_code(&pool, <const char *> text, length)
                if codes_view[at] < 0:
                    failed = True
                    break
    free(raised)
    try:
        if failed:
            raise MemoryError("too much distinct text in one column")
        clean_offsets, clean_data = pool_arrays(&pool)
    finally:
        pool_close(&pool)
    return codes, clean_offsets, clean_data


# ---- numbers -------------------------------------------------------------------------------------------------------

cdef inline bint _digit(uint8_t letter) noexcept nogil:
    return 48 <= letter <= 57


cdef inline bint _upper(uint8_t letter) noexcept nogil:
    return 65 <= letter <= 90


cdef inline bint _ends(const char *text, int length, const char *suffix, int size) noexcept nogil:
    return length > size and memcmp(text + length - size, suffix, size) == 0


cdef inline bint _is_currency(const char *code) noexcept nogil:
    """One of the currency codes seen in holdings."""
    cdef const char *known = b"USDEURGBPCHFCADAUDJPYSEKNOKDKKPLNNZDSGDHKD"
    cdef int at
    for at in range(0, 42, 3):
        if memcmp(known + at, code, 3) == 0:
            return True
    return False


cdef int _squeeze(const uint8_t *text, int64_t length, char *into) noexcept nogil:
    """The text in upper case without spaces, currency signs and apostrophes; its length, or -1 where it is no number."""
    cdef int64_t at = 0
    cdef int size = 0
    cdef uint8_t letter
    while at < length:
        letter = text[at]
        if letter < 0x80:
            at += 1
            if letter <= 32 or letter == 36 or letter == 39:   # white space, $, '
                continue
            if 97 <= letter <= 122:
                letter -= 32
            if size == NUMBER_LENGTH:
                return -1
            into[size] = <char> letter
            size += 1
        elif letter == 0xC2 and at + 1 < length and (
                text[at + 1] == 0xA0 or text[at + 1] == 0xA3 or text[at + 1] == 0xA5):   # no-break space, £, ¥
            at += 2
        elif letter == 0xE2 and at + 2 < length:
            if text[at + 1] == 0x82 and text[at + 2] == 0xAC:                            # €
                at += 3
            elif text[at + 1] == 0x80 and (text[at + 2] <= 0x8B or text[at + 2] == 0xAF or text[at + 2] == 0x99):
                at += 3                                                                  # thin spaces, ’
            elif (text[at + 1] == 0x88 and text[at + 2] == 0x92) or (
                    text[at + 1] == 0x80 and (text[at + 2] == 0x93 or text[at + 2] == 0x94)):
                if size == NUMBER_LENGTH:
                    return -1
                into[size] = 45                                                          # a minus or a dash
                size += 1
                at += 3
            else:
                return -1
        else:
            return -1
    return size


cdef bint _parts_thousands(const char *text, int end, char sign) noexcept nogil:
    """Whether a sign that stands several times parts a figure as people do: three digits after the last one, two (as
    lakhs are written) or three between. A version or a date with dots is no number."""
    cdef int at, last = -1
    for at in range(end):
        if text[at] == sign:
            if last >= 0 and at - last - 1 != 3 and at - last - 1 != 2:
                return False
            last = at
    return end - last - 1 == 3


cdef double _plain(const char *text, int length, bint decimal_comma, uint8_t *mark) noexcept nogil:
    """Digits with separators and perhaps an exponent to a number; NaN for anything else.

    One comma before exactly three digits parts thousands, one point there is the decimal one, and both are marked so;
    with `decimal_comma` it is the other way round. A figure that has one meaning alone is marked with its decimal sign.
    """
    cdef char digits[NUMBER_LENGTH + 2]
    cdef int at, size = 0, commas = 0, dots = 0, last_comma = -1, last_dot = -1, mantissa = length
    cdef int decimal = -1, digit_count = 0
    cdef bint is_open
    for at in range(length):
        if text[at] == 69:                                       # E
            mantissa = at
            break
    for at in range(mantissa):
        if text[at] == 44:
            commas += 1
            last_comma = at
        elif text[at] == 46:
            dots += 1
            last_dot = at
        elif _digit(text[at]):
            digit_count += 1
        else:
            return NAN
    if digit_count == 0:
        return NAN
    # One sign between one to three digits and three more: it parts thousands, or it is the decimal one.
    at = last_comma + last_dot + 1
    is_open = commas + dots == 1 and mantissa == length and length - at == 4 and 1 <= at <= 3 and text[0] != 48
    if commas and dots:
        decimal = last_comma if last_comma > last_dot else last_dot
        # Two of the separator that stands last: neither can be the decimal one.
        if (decimal == last_comma and commas > 1) or (decimal == last_dot and dots > 1):
            return NAN
        mark[0] |= MARK_DECIMAL_COMMA if decimal == last_comma else MARK_DECIMAL_POINT
    elif commas == 1:
        if decimal_comma or not is_open:
            decimal = last_comma
            mark[0] |= 0 if is_open else MARK_DECIMAL_COMMA
        else:
            mark[0] |= MARK_THOUSANDS_COMMA
    elif dots == 1:
        mark[0] |= MARK_THOUSANDS_DOT if is_open else MARK_DECIMAL_POINT
        decimal = -1 if is_open and decimal_comma else last_dot
    elif commas or dots:
        mark[0] |= MARK_DECIMAL_POINT if commas else MARK_DECIMAL_COMMA
    if commas > 1 and not _parts_thousands(text, last_dot if dots else mantissa, 44):
        return NAN
    if dots > 1 and not _parts_thousands(text, last_comma if commas else mantissa, 46):
        return NAN
    for at in range(mantissa):
        if at == decimal:
            digits[size] = 46
            size += 1
        elif _digit(text[at]):
            digits[size] = text[at]
            size += 1
    if mantissa < length:
        at = mantissa + 1
        if at < length and (text[at] == 43 or text[at] == 45):
            at += 1
        if at >= length or length - at > 3:
            return NAN
        while at < length:
            if not _digit(text[at]):
                return NAN
            at += 1
        memcpy(&digits[size], text + mantissa, length - mantissa)
        size += length - mantissa
    digits[size] = 0
    return strtod(digits, NULL)


cdef int _strip_code(const char **text, int length) noexcept nogil:
    """Drop a currency code at either end; the new length."""
    if length > 3 and _is_currency(text[0]):
        text[0] += 3
        length -= 3
    elif length > 2 and text[0][0] == 85 and text[0][1] == 83 and not _upper(text[0][2]):   # what US$ leaves
        text[0] += 2
        length -= 2
    if length > 3 and _is_currency(text[0] + length - 3):
        length -= 3
    return length


cdef double _number(
    const uint8_t *source, int64_t source_length, bint is_spread, bint decimal_comma, uint8_t *mark
) noexcept nogil:
    """A cell's text to a number, its unit in `mark`; NaN where it is none."""
    cdef char squeezed[NUMBER_LENGTH + 1]
    cdef const char *text = squeezed
    cdef int length = _squeeze(source, source_length, squeezed)
    cdef int at
    cdef double sign = 1.0, factor = 1.0
    if length <= 0:
        return NAN
    if is_spread:                                                # an index and a plus before the margin: SOFR+350
        for at in range(length - 1, 0, -1):
            if text[at] == 43:
                if not (text[at - 1] == 69 and at > 1 and (_digit(text[at - 2]) or text[at - 2] == 46)):
                    text += at + 1
                    length -= at + 1
                break
    length = _strip_code(&text, length)
    if length > 2 and text[0] == 40 and text[length - 1] == 41:  # (…)
        sign = -1.0
        text += 1
        length -= 2
        length = _strip_code(&text, length)
    if length > 1 and text[length - 1] == 37:                    # %
        mark[0] = MARK_PERCENT
        length -= 1
    elif _ends(text, length, b"BPS", 3):
        mark[0] = MARK_BASIS_POINTS
        length -= 3
    elif _ends(text, length, b"BP", 2):
        mark[0] = MARK_BASIS_POINTS
        length -= 2
    elif _ends(text, length, b"PCT", 3):
        mark[0] = MARK_PERCENT
        length -= 3
    elif _ends(text, length, b"MM", 2) or _ends(text, length, b"MN", 2):
        factor = 1e6
        length -= 2
    elif _ends(text, length, b"MLN", 3):
        factor = 1e6
        length -= 3
    elif _ends(text, length, b"MILLION", 7):
        factor = 1e6
        length -= 7
    elif _ends(text, length, b"M", 1):                           # in this market M is a million
        factor = 1e6
        length -= 1
    elif _ends(text, length, b"BN", 2):
        factor = 1e9
        length -= 2
    elif _ends(text, length, b"K", 1):
        factor = 1e3
        length -= 1
    if length > 2 and text[0] == 40 and text[length - 1] == 41 and sign > 0:   # (…)%
        sign = -1.0
        text += 1
        length -= 2
    if length > 1 and text[length - 1] == 45:                    # 5-
        sign = -sign
        length -= 1
    elif length > 1 and (text[0] == 45 or text[0] == 43):
        sign = -sign if text[0] == 45 else sign
        text += 1
        length -= 1
        length = _strip_code(&text, length)
    return sign * factor * _plain(text, length, decimal_comma, mark)


def numbers(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] used, bint is_spread,
    bint decimal_comma=False,
):
    """The used strings as numbers, NaN where one is none, with the marks PERCENT, BASIS_POINTS, UNREADABLE,
    THOUSANDS_COMMA and THOUSANDS_DOT (as in "98,375" and "4.500", whose sign could be either), DECIMAL_COMMA and
    DECIMAL_POINT (as in "1.234,5" and "98.5", which leave no choice) of each.

    The value is what is written ("3.50%" is 3.5); `is_spread` drops an index before a plus sign ("L+350" is 350).
    `decimal_comma` takes a single comma for the decimal one wherever it stands, and a single point before three digits
    for one of thousands.

    Raises:
        ValueError: offsets or codes do not fit the data.
    """
    cdef Py_ssize_t at, count = used.shape[0]
    cdef int64_t begin, end
    cdef bint in_range = True
    values = np.empty(count, np.float64)
    marks = np.zeros(count, np.uint8)
    cdef double[::1] values_view = values
    cdef uint8_t[::1] marks_view = marks
    with nogil:
        for at in range(count):
            if not _spans(offsets, data, used[at]):
                in_range = False
                break
            begin = offsets[used[at]]
            end = offsets[used[at] + 1]
            if begin == end:
                values_view[at] = NAN
                continue
            values_view[at] = _number(&data[begin], end - begin, is_spread, decimal_comma, &marks_view[at])
            # An exponent can overflow: infinity is no figure of a loan.
            if not (-1e300 < values_view[at] < 1e300):
                values_view[at] = NAN
                marks_view[at] = MARK_UNREADABLE
    if not in_range:
        raise ValueError("a text code leaves the pool")
    return values, marks


# ---- words of totals -----------------------------------------------------------------------------------------------

cdef bint _may_mark(const uint8_t *text, int64_t length) noexcept nogil:
    """A start such as "tot", "sub", "max", "*" or "©", or an end such as "total", "totals", "total:"."""
    cdef const char *starts = b"gratotsubsumcouavgaveweiwtdfoonotsoumaxminmeamedpordeafunpooentwhoovesim"
    cdef uint8_t first[3]
    cdef int64_t step = _blank(text, length)
    cdef int at
    while step:
        text += step
        length -= step
        step = _blank(text, length)
    if length == 0:
        return False
    if text[0] == 42 or text[0] == 0xC2:
        return True
    if length < 3:
        return False
    for at in range(3):
        first[at] = text[at] | 0x20
    for at in range(0, 72, 3):
        if memcmp(starts + at, first, 3) == 0:
            return True
    step = _blank_end(text, length)
    while step:
        length -= step
        step = _blank_end(text, length)
    if text[length - 1] == 58:
        return True
    if text[length - 1] | 0x20 == 115:
        length -= 1
    return length >= 5 and text[length - 1] | 0x20 == 108 and text[length - 2] | 0x20 == 97 and (
        text[length - 3] | 0x20 == 116)


def may_mark(const int64_t[::1] offsets, const uint8_t[::1] data):
    """The codes of the strings whose words are worth reading in the search for totals and footers: a few of many.

    Raises:
        ValueError: the offsets do not fit the data.
    """
    if not _all_spans(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t at, count = offsets.shape[0] - 1
    marks = np.zeros(count, np.uint8)
    cdef uint8_t[::1] marks_view = marks
    with nogil:
        for at in range(count):
            if offsets[at] < offsets[at + 1]:
                marks_view[at] = _may_mark(&data[offsets[at]], offsets[at + 1] - offsets[at])
    return np.flatnonzero(marks)


# ---- footnote marks ------------------------------------------------------------------------------------------------

cdef inline bint _mark_sign(const uint8_t *text, int64_t length) noexcept nogil:
    """Whether a superscript figure or letter, a dagger, or the sign of a section or paragraph begins here."""
    if text[0] == 0xC2:
        return length >= 2 and (
            text[1] == 0xB2 or text[1] == 0xB3 or text[1] == 0xB9 or text[1] == 0xA7 or text[1] == 0xB6)
    if text[0] == 0xE2 and length >= 3:
        return text[1] == 0x81 or (text[1] == 0x80 and (text[2] == 0xA0 or text[2] == 0xA1))
    return text[0] == 0xE1 and length >= 3 and (text[1] == 0xB5 or text[1] == 0xB6)


cdef bint _mark_bracket(const uint8_t *text, int64_t length) noexcept nogil:
    """Whether the bracket that ends the text may be a mark: figures and small letters in runs of two at most, parted."""
    cdef uint8_t opening = 40 if text[length - 1] == 41 else 91
    cdef int64_t at = length - 2, run = 0
    while at >= 0 and text[at] != opening:
        if _digit(text[at]) or 97 <= text[at] <= 122:
            run += 1
            if run > 2:
                return False
        elif text[at] == 44 or text[at] == 59 or text[at] == 38 or text[at] == 32 or text[at] == 42:   # , ; & *
            run = 0
        else:
            return False
        at -= 1
    return at > 0


cdef bint _may_have_marks(const uint8_t *text, int64_t length, bint has_wide) noexcept nogil:
    cdef uint8_t last = text[length - 1]
    cdef int64_t at
    if last == 42 or last == 94 or text[0] == 42 or text[0] == 94:             # * ^
        return True
    if (last == 41 or last == 93) and _mark_bracket(text, length):             # ) ]
        return True
    if has_wide:
        for at in range(length):
            if text[at] >= 0x80 and _mark_sign(text + at, length - at):
                return True
    return False


def may_have_marks(const int64_t[::1] offsets, const uint8_t[::1] data, bint has_wide):
    """The codes of the strings that end or begin as one with a footnote mark does, or have a superscript or a dagger.

    `has_wide` says that some byte of the data is beyond ASCII: without any the strings need not be walked.

    Raises:
        ValueError: the offsets do not fit the data.
    """
    if not _all_spans(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t code, count = offsets.shape[0] - 1
    marks = np.zeros(count, np.uint8)
    cdef uint8_t[::1] marks_view = marks
    with nogil:
        for code in range(count):
            if offsets[code] < offsets[code + 1]:
                marks_view[code] = _may_have_marks(&data[offsets[code]], offsets[code + 1] - offsets[code], has_wide)
    return np.flatnonzero(marks)


# ---- names ---------------------------------------------------------------------------------------------------------

cdef inline bint _word(uint8_t letter) noexcept nogil:
    """A letter or a digit; every byte of a letter beyond ASCII counts (the caller has replaced other signs)."""
    return 48 <= letter <= 57 or 65 <= letter <= 90 or 97 <= letter <= 122 or letter >= 0x80


cdef bint _legal(const uint8_t *word, int64_t size) noexcept nogil:
    """A token that only says the legal form."""
    if size == 2:
        return (memcmp(word, b"LP", 2) == 0 or memcmp(word, b"CO", 2) == 0 or memcmp(word, b"SA", 2) == 0
                or memcmp(word, b"NV", 2) == 0 or memcmp(word, b"BV", 2) == 0 or memcmp(word, b"AG", 2) == 0
                or memcmp(word, b"AB", 2) == 0 or memcmp(word, b"OY", 2) == 0)
    if size == 3:
        return (memcmp(word, b"INC", 3) == 0 or memcmp(word, b"LLC", 3) == 0 or memcmp(word, b"LTD", 3) == 0
                or memcmp(word, b"LLP", 3) == 0 or memcmp(word, b"PLC", 3) == 0 or memcmp(word, b"SAS", 3) == 0
                or memcmp(word, b"SPA", 3) == 0 or memcmp(word, b"DAC", 3) == 0 or memcmp(word, b"THE", 3) == 0)
    if size == 4:
        return (memcmp(word, b"CORP", 4) == 0 or memcmp(word, b"SARL", 4) == 0 or memcmp(word, b"GMBH", 4) == 0)
    if size == 7:
        return memcmp(word, b"LIMITED", 7) == 0 or memcmp(word, b"COMPANY", 7) == 0
    if size == 11:
        return memcmp(word, b"CORPORATION", 11) == 0
    return size == 12 and memcmp(word, b"INCORPORATED", 12) == 0


cdef bint _former(const uint8_t *word, int64_t size) noexcept nogil:
    """A token after which another name of the same company follows."""
    return size == 3 and (memcmp(word, b"DBA", 3) == 0 or memcmp(word, b"FKA", 3) == 0 or memcmp(word, b"AKA", 3) == 0)


cdef int64_t _bracket_end(const uint8_t *text, int64_t length, int64_t at) noexcept nogil:
    """The place after the bracket that closes the one at `at`; -1 where none does."""
    cdef uint8_t opening = text[at], closing = 41 if text[at] == 40 else 93
    cdef int64_t depth = 0
    while at < length:
        if text[at] == opening:
            depth += 1
        elif text[at] == closing:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return -1


cdef int64_t _words(const uint8_t *text, int64_t length, uint8_t *into) noexcept nogil:
    """Upper-case words parted by single spaces: brackets dropped, & as AND, initials (B.V., D/B/A) joined."""
    cdef int64_t at = 0, size = 0, run = 0, after
    cdef bint round_open = True, square_open = True
    cdef uint8_t letter
    while at < length:
        letter = text[at]
        if (letter == 40 and round_open) or (letter == 91 and square_open):
            after = _bracket_end(text, length, at)
            if after > 0:
                at = after
                letter = 32
            else:                               # no later bracket of the kind closes either: look no more
                at += 1
                if letter == 40:
                    round_open = False
                else:
                    square_open = False
        else:
            at += 1
        if _word(letter):
            into[size] = letter - 32 if 97 <= letter <= 122 else letter
            size += 1
            run += 1
            continue
        # A dot or a stroke after a single letter joins it to a next single letter: B.V. is BV, D/B/A is DBA.
        if (letter == 46 or letter == 47) and run == 1 and at < length and _word(text[at]) and (
                at + 1 >= length or not _word(text[at + 1])):
            run = 0
            continue
        run = 0
        if letter == 38:                        # &
            if size and into[size - 1] != 32:
                into[size] = 32
                size += 1
            memcpy(into + size, b"AND ", 4)
            size += 4
        elif size and into[size - 1] != 32:
            into[size] = 32
            size += 1
    while size and into[size - 1] == 32:
        size -= 1
    return size


cdef int64_t _name_key(uint8_t *words, int64_t size) noexcept nogil:
    """Cut the words at another name's tail, then drop legal forms from the end; the first word always stays."""
    cdef int64_t at = 0, start = 0
    while at <= size:
        if at == size or words[at] == 32:
            if start > 0 and _former(words + start, at - start):
                size = start - 1
                break
            start = at + 1
        at += 1
    while True:
        start = size
        while start > 0 and words[start - 1] != 32:
            start -= 1
        if size > 6 and memcmp(words + size - 6, b" SA RL", 6) == 0:   # S.à r.l.
            start = size - 5
        elif start == 0 or not _legal(words + start, size - start):
            return size
        size = start - 1


def name_keys(const int64_t[::1] offsets, const uint8_t[::1] data):
    """The key of each company name: (code of each, offsets, data); equal keys share a code, an empty name has -1.

    Letters beyond ASCII pass as they are: the caller decomposes them and blanks other signs first.

    Raises:
        ValueError: the offsets do not fit the data.
        MemoryError: no memory, or more than 2 GiB of text.
    """
    if not _all_spans(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t at, count = offsets.shape[0] - 1
    cdef int64_t length, size, longest = 0
    cdef uint8_t *words
    cdef Pool pool
    cdef bint failed = False
    codes = np.empty(count, np.int32)
    cdef int32_t[::1] codes_view = codes
    for at in range(count):
        longest = max(longest, offsets[at + 1] - offsets[at])
    words = <uint8_t *> malloc(5 * longest + 8)     # "&" grows to " AND "
    if words == NULL or pool_open(&pool, <uint64_t> SEED, SIZE_MAX) < 0:
        free(words)
        raise MemoryError
    with nogil:
        for at in range(count):
            length = offsets[at + 1] - offsets[at]
            size = _words(&data[offsets[at]], length, words) if length else 0
            size = _name_key(words, size)
            if size:
                codes_view[at] = pool_code(&pool, <const char *> words, size)
            elif length:                        # nothing but brackets and signs: the text itself
                codes_view[at] = pool_code(&pool, <const char *> &data[offsets[at]], length)
            else:
                codes_view[at] = -1
                continue
            if codes_view[at] < 0:
                failed = True
                break
    free(words)
    try:
        if failed:
            raise MemoryError("too much distinct text in one column")
        key_offsets, key_data = pool_arrays(&pool)
    finally:
        pool_close(&pool)
    return codes, key_offsets, key_data


# ---- identifiers ---------------------------------------------------------------------------------------------------

OTHER = 0
CUSIP = CUSIP_KIND
LOANX = LOANX_KIND
ISIN = ISIN_KIND
SHORT_CUSIP = SHORT_KIND
DESTROYED = DESTROYED_KIND


cdef bint _destroyed(const uint8_t *text, int64_t length) noexcept nogil:
    """A number in scientific notation, as a spreadsheet shows an identifier that it took for one: 1.23E+08; or one
    written out, twelve digits or more with six zeros at the end: no identifier has these."""
    cdef int64_t at = 1, end = length - 2 if length > 2 and text[length - 1] == 48 and text[length - 2] == 46 else length
    if end >= 12:
        for at in range(end):
            if not (_digit(text[at]) and (at < end - 6 or text[at] == 48)):
                break
        else:
            return True
        at = 1
    if length < 5 or not _digit(text[0]):
        return False
    if text[at] == 46 or text[at] == 44:
        at += 1
        while at < length and _digit(text[at]):
            at += 1
    if at + 2 >= length or text[at] != 69 or text[at + 1] != 43:
        return False
    at += 2
    while at < length:
        if not _digit(text[at]):
            return False
        at += 1
    return True


cdef uint8_t _identifier_kind(const uint8_t *text, int64_t length, bint cusip_first) noexcept nogil:
    cdef int64_t at
    if cusip_first and length == 9 and cusip_fits(text):
        return CUSIP_KIND
    if loanx_fits(text, length):
        return LOANX_KIND
    if length == 9 and cusip_fits(text):
        return CUSIP_KIND
    if length == 12 and isin_fits(text):
        return ISIN_KIND
    if length == 7 or length == 8:
        for at in range(length):
            if not _digit(text[at]):
                break
        else:
            return SHORT_KIND
    return DESTROYED_KIND if _destroyed(text, length) else 0


def letters_and_digits(const int64_t[::1] offsets, const uint8_t[::1] data):
    """The strings of a pool in upper case without ASCII signs other than letters and digits: (offsets, data) with a
    string for each of the pool's, so that codes stay as they are. What is beyond ASCII passes as it stands.

    Raises:
        ValueError: the offsets do not fit the data.
    """
    if not _all_spans(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t code, count = offsets.shape[0] - 1
    cdef int64_t at, size = 0
    cdef uint8_t sign
    new_offsets = np.zeros(count + 1, np.int64)
    new_data = np.empty(data.shape[0], np.uint8)
    cdef int64_t[::1] offsets_view = new_offsets
    cdef uint8_t[::1] data_view = new_data
    with nogil:
        for code in range(count):
            for at in range(offsets[code], offsets[code + 1]):
                sign = data[at] - 32 if 97 <= data[at] <= 122 else data[at]
                if _digit(sign) or 65 <= sign <= 90 or sign >= 0x80:
                    data_view[size] = sign
                    size += 1
            offsets_view[code + 1] = size
    return new_offsets, new_data[:size]


def identifier_kinds(const int64_t[::1] offsets, const uint8_t[::1] data, bint cusip_first):
    """What each upper-case string is: CUSIP or ISIN (check digit fits), LOANX, SHORT_CUSIP (seven or eight digits: leading
    zeros may be lost), DESTROYED (scientific notation), or OTHER.

    A tenth of all LX12345T6 pass for a CUSIP: `cusip_first` says which of the two such a string is.

    Raises:
        ValueError: the offsets do not fit the data.
    """
    if not _all_spans(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t at, count = offsets.shape[0] - 1
    kinds = np.zeros(count, np.uint8)
    cdef uint8_t[::1] kinds_view = kinds
    with nogil:
        for at in range(count):
            if offsets[at] < offsets[at + 1]:
                kinds_view[at] = _identifier_kind(&data[offsets[at]], offsets[at + 1] - offsets[at], cusip_first)
    return kinds
