/* A double at 15 significant digits by its shortest decimal, rounded half away from zero, in whole numbers.

   number = m * 2^-s * 10^-tens * 10^tens, so t = number * 10^tens is p * 2^-s with the whole number p = m * 10^tens,
   which 128 bits hold for tens <= 22. tens is chosen so that t has 16 digits before the point. A decimal near t reads back
   as the same double where it is at most half a unit of m away: 10^tens / 2 in units of 2^-s; at that very distance
   where m is even. */
#ifndef CUSHION_ROUNDING_H
#define CUSHION_ROUNDING_H
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 cushion_wide;

static const double cushion_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* 1 and the result; 0 where whole numbers of this size do not tell: below 1e-7, from 2^53 on, powers of two, and where two
   decimals are equally near. `size` is positive. */
static inline int cushion_rounded(double size, double *result) {
    uint64_t bits, m;
    memcpy(&bits, &size, 8);
    m = bits & 0xFFFFFFFFFFFFFull;
    int s = 1075 - (int)(bits >> 52);
    if (m == 0 || size < 1e-7 || size >= 9007199254740992.0) return 0;
    m |= 0x10000000000000ull;
    /* log10(2) * 2^20; the power of two below the number: 52 - s. One digit too many is mended below. */
    int tens = 15 - (int)(((int64_t)(52 - s) * 315653) >> 20);
    if (tens > 22) tens = 22;
    cushion_wide ten = tens <= 19 ? (cushion_wide)(uint64_t)cushion_powers[tens]
                                  : (cushion_wide)10000000000000000000ull * (uint64_t)cushion_powers[tens - 19];
    cushion_wide p = ten * m;
    uint64_t digits = (uint64_t)(p >> s);
    if (digits >= 10000000000000000ull) {
        tens -= 1;
        ten /= 10;
        p = ten * m;
        digits = (uint64_t)(p >> s);
    }
    if (tens < 0 || digits < 1000000000000000ull) return 0;
    cushion_wide one = (cushion_wide)1 << s, rest = p - ((cushion_wide)digits << s);
    uint64_t even = (m & 1) == 0, tenth = digits / 10;
    cushion_wide off = ((cushion_wide)(digits - tenth * 10) << s) + rest;
    if (2 * off > 10 * one) off = 10 * one - off;
    if (2 * off < ten + even) { /* fifteen digits read back: they are the number */
        *result = size;
        return 1;
    }
    uint64_t kept;
    if (2 * rest == one) return 0;
    off = 2 * rest < one ? rest : one - rest;
    if (2 * off < ten + even) { /* sixteen do */
        kept = (digits + (2 * rest > one) + 5) / 10;
    } else {
        uint64_t more = (uint64_t)((rest * 10) >> s);
        cushion_wide left = rest * 10 - ((cushion_wide)more << s);
        if (2 * left == one) return 0;
        kept = (digits * 10 + more + (2 * left > one) + 50) / 100;
    }
    *result = tens == 0 ? (double)kept * 10 : (double)kept / cushion_powers[tens - 1];
    return 1;
}
#endif
