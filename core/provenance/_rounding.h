/* A double at 15 significant digits by its shortest decimal, rounded half away from zero, in whole numbers.

   size = m * 2^-s, so t = size * 10^tens is m * 5^tens * 2^-shift with shift = s - tens; tens is chosen so that t has 15
   digits before the point. The shortest decimal lies within half a unit of m, 5^tens / 2 in units of 2^-shift, which is
   at most 0.12 of t's last digit. So it is on the same side of the middle between two whole numbers as t, unless the
   middle itself is that near: then it has 16 digits and is the shortest, where no other tenth is nearer to t, which is
   where t is within 0.05 of it. Both bounds are strict but for an even m, whose reach is closed: a tie at 0.05 cannot be, as
   no fraction of a power of two is a twentieth. */
#ifndef CUSHION_ROUNDING_H
#define CUSHION_ROUNDING_H
#include <stdint.h>
#include <string.h>

static const double cushion_steps[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3, 1e4,
                                       1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
static const double cushion_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                        1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21};
static const uint64_t cushion_fives[] = {
    1ull, 5ull, 25ull, 125ull, 625ull, 3125ull, 15625ull, 78125ull, 390625ull, 1953125ull, 9765625ull, 48828125ull,
    244140625ull, 1220703125ull, 6103515625ull, 30517578125ull, 152587890625ull, 762939453125ull, 3814697265625ull,
    19073486328125ull, 95367431640625ull, 476837158203125ull};

/* 1 and the result; 0 where whole numbers of this size do not tell: below 1e-7, from 2^53 on, and powers of two, which are
   nearer to the double below than to the one above. `size` is positive. */
static inline int cushion_rounded(double size, double *result) {
    uint64_t bits, m;
    memcpy(&bits, &size, 8);
    m = bits & 0xFFFFFFFFFFFFFull;
    int s = 1075 - (int)(bits >> 52);
    if (m == 0 || !(size >= 1e-7 && size < 9007199254740992.0)) return 0;
    if (size >= 1e15) { /* every whole number is a double */
        *result = (double)(((uint64_t)size + 5) / 10) * 10;
        return 1;
    }
    m |= 0x10000000000000ull;
    /* log10(2) * 2^20 times the power of two below the number: the power of ten below it, or the one before. */
    int below = (int)(((int64_t)(52 - s) * 315653) >> 20) + 7;
    int tens = 21 - below - (size >= cushion_steps[below + 1]);
    uint64_t five = cushion_fives[tens];
    unsigned __int128 p = (unsigned __int128)m * five;
    int shift = s - tens;
    uint64_t unit = 1ull << shift;
    int64_t under = (int64_t)(unit >> 1) - (int64_t)((uint64_t)p & (unit - 1)); /* the middle less t */
    int64_t reach = (int64_t)(five + ((m & 1) == 0));
    uint64_t kept = (uint64_t)(p >> shift) + ((2 * under < reach) & (20 * under < (int64_t)unit));
    *result = (double)kept / cushion_powers[tens];
    return 1;
}
#endif
