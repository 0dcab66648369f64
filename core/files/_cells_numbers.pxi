# Numbers and addresses in text: doubles correctly rounded, whole numbers, A1 references.

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef extern from *:
    """
    #include <float.h>
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    static const double cushion_tens[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22};
    #if LDBL_MANT_DIG == 64
    static const long double cushion_long_tens[28] = {
        1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L,
        1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    #endif

    /* digits * 10^power, correctly rounded; 0 when this way cannot promise that.
       Up to 2^53 and 10^22 both factors are exact doubles and one operation rounds once (Clinger 1990). Seventeen
       digits, as Excel writes them, take the 80-bit road: both factors are exact there too, and rounding twice differs
       from rounding once only when the 80-bit result is next to the middle of two doubles, which is looked at. */
    static inline int cushion_scale(uint64_t digits, int power, double *out) {
        if (digits <= 9007199254740992ull && power >= -22 && power <= 22) {
            *out = power < 0 ? (double)digits / cushion_tens[-power] : (double)digits * cushion_tens[power];
            return 1;
        }
    #if LDBL_MANT_DIG == 64
        if (power >= -27 && power <= 27) {
            long double exact = (long double)digits;
            uint64_t bits;
            int low;
            exact = power < 0 ? exact / cushion_long_tens[-power] : exact * cushion_long_tens[power];
            memcpy(&bits, &exact, 8);
            low = (int)(bits & 0x7FF);
            if (low < 0x3FF || low > 0x401) { *out = (double)exact; return 1; }
        }
    #endif
        return 0;
    }
    """
    int cushion_scale(uint64_t digits, int power, double *out) noexcept nogil
    double HUGE_VAL


cdef bint parse_number(const char *p, int64_t size, double *out) noexcept nogil:
    """An XML double, correctly rounded; False when the text is not one."""
    cdef const char *end = p + size
    cdef const char *begin
    cdef uint64_t digits = 0
    cdef int kept = 0, dropped = 0, power = 0, exponent = 0
    cdef bint negative = False, negative_exponent = False, any_digit = False
    while p < end and is_space(p[0]):
        p += 1
    while end > p and is_space((end - 1)[0]):
        end -= 1
    begin = p
    if p < end and (p[0] == 45 or p[0] == 43):
        negative = p[0] == 45
        p += 1
    while p < end and 48 <= p[0] <= 57:
        any_digit = True
        if kept < 19:
            digits = digits * 10 + (p[0] - 48)
            kept += digits != 0
        else:
            dropped += 1
        p += 1
    if p < end and p[0] == 46:
        p += 1
        while p < end and 48 <= p[0] <= 57:
            any_digit = True
            if kept < 19:
                digits = digits * 10 + (p[0] - 48)
                kept += digits != 0
                power -= 1
            else:
                dropped += 1
            p += 1
    if not any_digit:
        return False
    if p < end and (p[0] == 101 or p[0] == 69):
        p += 1
        if p < end and (p[0] == 45 or p[0] == 43):
            negative_exponent = p[0] == 45
            p += 1
        if p == end:
            return False
        while p < end and 48 <= p[0] <= 57:
            if exponent < 100_000:
                exponent = exponent * 10 + (p[0] - 48)
            p += 1
        power += -exponent if negative_exponent else exponent
    if p != end:
        return False
    if digits == 0 and dropped == 0:
        out[0] = -0.0 if negative else 0.0
        return True
    if dropped == 0 and cushion_scale(digits, power, out):
        if negative:
            out[0] = -out[0]
        return True
    return slow_number(begin, end - begin, out)


cdef bint slow_number(const char *p, int64_t size, double *out) noexcept with gil:
    """The same by Python's own reader, which no locale bends; for the few numbers that the quick ways cannot round."""
    try:
        text = p[:size]
        out[0] = PyOS_string_to_double(text, NULL, NULL)
    except (ValueError, MemoryError):
        return False
    return True


cdef bint parse_index(const char *p, int64_t size, int64_t *out) noexcept nogil:
    """A whole number of at most nine digits, spaces around it allowed."""
    cdef const char *end = p + size
    cdef int64_t value = 0
    while p < end and is_space(p[0]):
        p += 1
    while end > p and is_space((end - 1)[0]):
        end -= 1
    if p == end or end - p > 9:
        return False
    while p < end:
        if not 48 <= p[0] <= 57:
            return False
        value = value * 10 + (p[0] - 48)
        p += 1
    out[0] = value
    return True


cdef const char *parse_address(const char *p, const char *end, int64_t *row, int32_t *column) noexcept nogil:
    """`B12` to row 11 and column 1; returns past it, or NULL. Values past the limits come back past the limits."""
    cdef int32_t letters = 0
    cdef int64_t digits = 0
    cdef int count = 0
    cdef char c
    while p < end:
        c = p[0]
        if 97 <= c <= 122:
            c -= 32
        if not 65 <= c <= 90:
            break
        letters = letters * 26 + (c - 64)
        count += 1
        if count > 4:
            return NULL
        p += 1
    if count == 0:
        return NULL
    count = 0
    while p < end and 48 <= p[0] <= 57:
        digits = digits * 10 + (p[0] - 48)
        count += 1
        if count > 9:
            return NULL
        p += 1
    if digits == 0:
        return NULL
    row[0] = digits - 1
    column[0] = letters - 1
    return p
