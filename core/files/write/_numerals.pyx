"""Numbers as text: the shortest decimal that reads back as the same double.

The digits are found by Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020): the double and the
two middles between it and its neighbours are scaled by one power of ten in 128 bits, and a decimal of two lengths is
looked for between them. Of the shortest the closest is taken, as Python's `repr` does.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    typedef struct { uint64_t high, low; } cushion_power;

    /* 10^k for k from -292 to 324, scaled to 128 bits and rounded up; filled when the module is imported. */
    static cushion_power cushion_powers[617];

    static const char cushion_pairs[201] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
        "525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"
        ;

    /* The floor of a binary or decimal logarithm by multiplication; exact for every exponent of a double. */
    static inline int cushion_log2_of_power10(int e) { return (e * 1741647) >> 19; }
    static inline int cushion_log10_of_power2(int e) { return (e * 1262611) >> 22; }
    static inline int cushion_log10_of_three_quarters(int e) { return (e * 1262611 - 524031) >> 22; }

    /* The upper 64 bits of power * bound / 2^128; its last bit is also set where anything was cut off. */
    static inline uint64_t cushion_scaled(cushion_power power, uint64_t bound) {
        __uint128_t low = (__uint128_t)power.low * bound;
        __uint128_t high = (__uint128_t)power.high * bound + (uint64_t)(low >> 64);
        return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
    }

    /* A finite, positive double as digits * 10^power; returns the digits, which may end in zeros. */
    static inline uint64_t cushion_shortest(double value, int *power) {
        uint64_t bits, part, c, sp, s, bound, lower, upper, vb, mid;
        int exponent, q, k, h, odd, closer, low_fits, high_fits;
        cushion_power scale;
        memcpy(&bits, &value, 8);
        part = bits & 0xFFFFFFFFFFFFFull;
        exponent = (int)(bits >> 52 & 0x7FF);
        c = exponent ? part | 0x10000000000000ull : part;
        q = (exponent ? exponent : 1) - 1075;
        odd = (int)(c & 1);
        closer = part == 0 && exponent > 1;     /* below a power of two the neighbours are half as far */
        k = closer ? cushion_log10_of_three_quarters(q) : cushion_log10_of_power2(q);
        h = q + cushion_log2_of_power10(-k) + 1;
        scale = cushion_powers[-k + 292];
        bound = 4 * c;
        lower = cushion_scaled(scale, (bound - 2 + closer) << h) + odd;
        vb = cushion_scaled(scale, bound << h);
        upper = cushion_scaled(scale, (bound + 2) << h) - odd;
        s = vb / 4;
        if (s >= 10) {
            sp = s / 10;
            low_fits = lower <= 40 * sp;
            high_fits = 40 * sp + 40 <= upper;
            if (low_fits != high_fits) { *power = k + 1; return sp + high_fits; }
        }
        *power = k;
        low_fits = lower <= 4 * s;
        high_fits = 4 * s + 4 <= upper;
        if (low_fits != high_fits) return s + high_fits;
        mid = 4 * s + 2;
        return s + (vb > mid || (vb == mid && (s & 1)));
    }

    /* The same, tried first for figures as people write them, of six decimals at most: both factors are exact, so the
       quotient is what the decimal reads as, and of fifteen digits no two read as the same double. */
    static inline uint64_t cushion_plain(double value, int *power) {
        uint64_t digits;
        if (value >= 1e9) return 0;
        digits = (uint64_t)(value * 1e6 + 0.5);
        if ((double)digits / 1e6 != value) return 0;
        *power = -6;
        return digits;
    }

    /* The digits of a whole number, ending before `end`; returns where they begin. */
    static inline char *cushion_digits(char *end, uint64_t value) {
        while (value >= 100) {
            uint64_t rest = value / 100;
            end -= 2;
            memcpy(end, cushion_pairs + 2 * (value - 100 * rest), 2);
            value = rest;
        }
        if (value < 10) { *--end = (char)('0' + value); return end; }
        end -= 2;
        memcpy(end, cushion_pairs + 2 * value, 2);
        return end;
    }
    """
    ctypedef struct cushion_power:
        uint64_t high
        uint64_t low
    cushion_power cushion_powers[617]
    uint64_t cushion_shortest(double value, int *power) noexcept nogil
    uint64_t cushion_plain(double value, int *power) noexcept nogil
    char *cushion_digits(char *end, uint64_t value) noexcept nogil

cdef enum:
    LEAST_POWER = -292
    DIGITS_MAX = 20
    FIXED_MOST = 16           # a decimal sign stands after so many digits at most, and so many zeros at most before
    FIXED_LEAST = -4          # the first: as Python writes floats


def _fill():
    for at in range(617):
        power = at + LEAST_POWER
        shift = (power * 1741647 >> 19) - 127
        top = 10 ** max(power, 0) << max(-shift, 0)
        scaled = -(-top // (10 ** max(-power, 0) << max(shift, 0)))
        cushion_powers[at].high = scaled >> 64
        cushion_powers[at].low = scaled & 0xFFFFFFFFFFFFFFFF


_fill()


cdef char *put_whole(char *out, uint64_t value) noexcept nogil:
    """Write a whole number; returns the place after it."""
    cdef char digits[DIGITS_MAX]
    cdef char *begin = cushion_digits(digits + DIGITS_MAX, value)
    cdef size_t size = digits + DIGITS_MAX - begin
    memcpy(out, begin, size)
    return out + size


cdef char *put_number(char *out, double value) noexcept nogil:
    """Write a finite number; returns the place after it. Zero has no sign and a whole number no decimal sign."""
    cdef char digits[DIGITS_MAX]
    cdef char *begin
    cdef char *end = digits + DIGITS_MAX
    cdef int power = 0, count, point
    cdef uint64_t whole
    if value < 0:
        out[0] = 45
        out += 1
        value = -value
    if value < 1e15 and value == <double> <uint64_t> value:
        return put_whole(out, <uint64_t> value)
    whole = cushion_plain(value, &power)
    begin = cushion_digits(end, whole if whole else cushion_shortest(value, &power))
    while (end - 1)[0] == 48:
        end -= 1
        power += 1
    count = end - begin
    point = count + power                    # digits before the decimal sign; none or fewer: zeros after it
    if FIXED_LEAST < point <= 0:
        memset(out, 48, 2 - point)
        out[1] = 46
        memcpy(out + 2 - point, begin, count)
        return out + 2 - point + count
    if 0 < point <= FIXED_MOST:
        if power >= 0:
            memcpy(out, begin, count)
            memset(out + count, 48, power)
            return out + point
        memcpy(out, begin, point)
        out[point] = 46
        memcpy(out + point + 1, begin + point, count - point)
        return out + count + 1
    out[0] = begin[0]
    out += 1
    if count > 1:
        out[0] = 46
        memcpy(out + 1, begin + 1, count - 1)
        out += count
    out[0] = 101
    point -= 1
    out[1] = 45 if point < 0 else 43
    if point < 0:
        point = -point
    if point < 10:
        out[2] = 48
        return put_whole(out + 3, point)
    return put_whole(out + 2, point)


def numeral(double value):
    """The shortest text that reads back as the same finite number: as `repr`, without the `.0` of whole ones and the
    sign of zero."""
    assert value - value == 0
    cdef char text[NUMERAL_MAX]
    cdef char *end = put_number(text, value)
    return text[:end - text].decode("ascii")
