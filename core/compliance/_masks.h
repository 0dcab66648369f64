/* Masks of a block of rows, a byte for each: 0xFF where something is TRUE, else 0; and the sum of what is in a mask.

   Plain loops that a compiler turns into vector code. No pointer overlaps another of the same call, but for `out`, which
   may be an operand of the logic. */

#ifndef CUSHION_MASKS_H
#define CUSHION_MASKS_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#define MASK_ROWS 1024

/* A sum has 32 lanes, the lane of a row its number modulo 32: they do not depend on the width of the vectors. */
#define LANES 32

/* Vectors of eight numbers take a comparison or a sum as a mask of bits, five times as fast as with four: written by hand,
   since the compiler makes bytes of each comparison. Both give the same bits. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDEST __attribute__((target("avx512f,avx512bw")))
static int has_widest(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"); }
#endif

typedef ptrdiff_t rows_t;
typedef double four __attribute__((vector_size(32), aligned(8)));
typedef int64_t mask __attribute__((vector_size(32), aligned(8)));
typedef int8_t bytes __attribute__((vector_size(4), aligned(1)));

WIDE static void mask_numbers_narrow(
    const double* restrict number, double low, double high, rows_t rows, uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++) out[i] = (uint8_t)-((number[i] >= low) & (number[i] <= high));
}

#ifdef WIDEST
WIDEST static rows_t mask_numbers_wide(const double* number, double low, double high, rows_t rows, uint8_t* out) {
    __m512d least = _mm512_set1_pd(low), most = _mm512_set1_pd(high);
    rows_t i = 0;
    for (; i + 64 <= rows; i += 64) {
        __mmask64 in = 0;
        for (int at = 0; at < 8; at++) {
            __m512d own = _mm512_loadu_pd(number + i + 8 * at);
            __mmask8 from = _mm512_cmp_pd_mask(own, least, _CMP_GE_OQ);
            in |= (__mmask64)_mm512_mask_cmp_pd_mask(from, own, most, _CMP_LE_OQ) << 8 * at;
        }
        _mm512_storeu_si512(out + i, _mm512_movm_epi8(in));
    }
    return i;
}
#endif

/* A number that is not finite is in no bounds. */
static void mask_numbers(const double* number, double low, double high, rows_t rows, uint8_t* out) {
    rows_t i = 0;
#ifdef WIDEST
    if (has_widest()) i = mask_numbers_wide(number, low, high, rows, out);
#endif
    if (i < rows) mask_numbers_narrow(number + i, low, high, rows - i, out + i);
}

/* The same of (number + shift) / scale. */
WIDE static void mask_scaled(
    const double* restrict number, double shift, double scale, double low, double high, rows_t rows,
    uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++) {
        double own = (number[i] + shift) / scale;
        out[i] = (uint8_t)-((own >= low) & (own <= high));
    }
}

/* What two columns make, by its sign. */
/* What a formula takes for 0 is 0. */
static inline double not_subnormal(double number) {
    return fabs(number) < DBL_MIN ? 0.0 : number;
}

WIDE static void join_numbers(
    const double* restrict a, const double* restrict b, char sign, rows_t rows, double* restrict out
) {
    if (sign == '+')
        for (rows_t i = 0; i < rows; i++) out[i] = a[i] + b[i];
    else if (sign == '-')
        for (rows_t i = 0; i < rows; i++) out[i] = a[i] - b[i];
    else if (sign == '*')
        for (rows_t i = 0; i < rows; i++) out[i] = not_subnormal(a[i] * b[i]);
    else
        for (rows_t i = 0; i < rows; i++)
            out[i] = not_subnormal(a[i] / b[i]) + 0.0 * b[i];  // a number by the infinite is none
}

/* Whether a number is infinite. */
WIDE static int is_any_infinite(const double* number, rows_t rows) {
    int any = 0;
    for (rows_t i = 0; i < rows; i++) any |= number[i] - number[i] != 0 && number[i] == number[i];
    return any;
}

WIDE static void mask_codes(
    const int32_t* restrict code, int32_t low, uint32_t span, uint8_t flip, rows_t rows, uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++)
        out[i] = (uint8_t)(-((uint32_t)code[i] - (uint32_t)low <= span) ^ flip);
}

WIDE static void mask_bytes(
    const uint8_t* restrict code, uint8_t low, uint8_t span, uint8_t flip, rows_t rows, uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++) out[i] = (uint8_t)(-((uint8_t)(code[i] - low) <= span) ^ flip);
}

/* By the entry behind a code's, the first for a blank; 0 for a code without one. */
static int look_up_codes(
    const int32_t* restrict code, const uint8_t* restrict table, size_t size, rows_t rows, uint8_t* restrict out
) {
    int is_whole = 1;
    for (rows_t i = 0; i < rows; i++) {
        size_t at = code[i] < 0 ? 0 : (size_t)code[i] + 1;
        is_whole &= at < size;
        out[i] = table[at < size ? at : 0];
    }
    return is_whole;
}

static void look_up_bytes(
    const uint8_t* restrict code, const uint8_t* restrict table, rows_t rows, uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++) out[i] = table[code[i]];
}

static void look_up_pairs(
    const uint8_t* restrict code, const uint8_t* restrict second, const uint8_t* restrict table, rows_t rows,
    uint8_t* restrict out
) {
    for (rows_t i = 0; i < rows; i++) out[i] = table[(size_t)code[i] << 8 | second[i]];
}

WIDE static void mask_both(const uint8_t* a, const uint8_t* b, rows_t rows, uint8_t* out) {
    for (rows_t i = 0; i < rows; i++) out[i] = a[i] & b[i];
}

WIDE static void mask_either(const uint8_t* a, const uint8_t* b, rows_t rows, uint8_t* out) {
    for (rows_t i = 0; i < rows; i++) out[i] = a[i] | b[i];
}

WIDE static void mask_without(const uint8_t* a, const uint8_t* b, rows_t rows, uint8_t* out) {
    for (rows_t i = 0; i < rows; i++) out[i] = (uint8_t)(a[i] & ~b[i]);
}

WIDE static void mask_not(const uint8_t* a, rows_t rows, uint8_t* out) {
    for (rows_t i = 0; i < rows; i++) out[i] = (uint8_t)~a[i];
}

#define LOAD(from) (*(const four*)(from))
#define IN(place, from) ((four)(__builtin_convertvector(*(const bytes*)(place), mask) & (mask)LOAD(from)))

/* Adds what is in a mask to the lanes of a sum; to what is not, 0. */
WIDE static void add_masked_narrow(const double* weight, const uint8_t* in, rows_t rows, double* lanes) {
    four sum[LANES / 4];
    rows_t i = 0;
    for (int at = 0; at < LANES / 4; at++) sum[at] = LOAD(lanes + 4 * at);
    for (; i + LANES <= rows; i += LANES)
        for (int at = 0; at < LANES / 4; at++) sum[at] += IN(in + i + 4 * at, weight + i + 4 * at);
    for (int at = 0; at < LANES / 4; at++) *(four*)(lanes + 4 * at) = sum[at];
    for (rows_t lane = 0; i + lane < rows; lane++) lanes[lane] += in[i + lane] ? weight[i + lane] : 0.0;
}

#ifdef WIDEST
WIDEST static rows_t add_masked_wide(const double* weight, const uint8_t* in, rows_t rows, double* lanes) {
    __m512d sum[4];
    rows_t i = 0;
    for (int at = 0; at < 4; at++) sum[at] = _mm512_loadu_pd(lanes + 8 * at);
    for (; i + 64 <= rows; i += 64) {
        __mmask64 own = _mm512_movepi8_mask(_mm512_loadu_si512(in + i));
        for (int at = 0; at < 8; at++)
            sum[at & 3] = _mm512_mask_add_pd(
                sum[at & 3], (__mmask8)(own >> 8 * at), sum[at & 3], _mm512_loadu_pd(weight + i + 8 * at)
            );
    }
    for (int at = 0; at < 4; at++) _mm512_storeu_pd(lanes + 8 * at, sum[at]);
    return i;
}
#endif

static void add_masked(const double* weight, const uint8_t* in, rows_t rows, double* lanes) {
    rows_t i = 0;
#ifdef WIDEST
    if (has_widest()) i = add_masked_wide(weight, in, rows, lanes);
#endif
    if (i < rows) add_masked_narrow(weight + i, in + i, rows - i, lanes);
}

/* Whether a mask has no row. */
WIDE static int is_empty(const uint8_t* in, rows_t rows) {
    uint8_t any = 0;
    for (rows_t i = 0; i < rows; i++) any |= in[i];
    return any == 0;
}

#endif
