/* Arithmetic on one block of rows, as plain loops that a compiler turns into vector code.

   A number is given where it is finite; everything else is blank. No pointer overlaps another of the same call. */

#ifndef CUSHION_BLOCK_H
#define CUSHION_BLOCK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_room.h"

#define LARGEST 1.7976931348623157e308
#define BLOCK 1024

/* Bits of a row's flags, in the order of FLAGS in kernels.pyx. */
#define COV_LITE 1
#define FIXED 2
#define DIP 4
#define CURRENT_PAY 8
#define DEFERRING 16

/* The recovery rates by kind: 6 notch differences by 8 liens, then DIP. */
#define DIP_KIND 48

/* Rating ranks, as in core.portfolio.ratings. */
#define CCC_RANK 17
#define WORST_RANK 22 /* above it, in the deal's own column: no rating is known, and the CCC buckets have not the row */

/* Compiled a second time for processors with 256-bit vectors, chosen when the module is loaded. No fused operations: both
   give the same bits. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Into each of the two, with its vectors. */
#define INLINE static inline __attribute__((always_inline))

/* The processor's own prefetcher stops at each page, and a block has few pages of each column: ask for the next block's
   part while this one is worked on. Beyond the last row the request goes nowhere. */
#define AHEAD(column, i) __builtin_prefetch((column) + (i) + BLOCK)

/* The place in memory of the first byte that is not 0. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_BYTE(eight) (__builtin_ctzll(eight) / 8)
#else
#define FIRST_BYTE(eight) (__builtin_clzll(eight) / 8)
#endif

typedef ptrdiff_t rows_t;

static inline int is_given(double value) { return fabs(value) <= LARGEST; }
static inline double given_or(double value, double otherwise) { return is_given(value) ? value : otherwise; }

/* ---- Sums, in eight lanes: in a single one each addition waits four cycles for the one before. The lanes are fixed, so
   that a sum does not depend on the width of the processor's vectors. */

typedef double four __attribute__((vector_size(32), aligned(8)));
typedef int64_t mask __attribute__((vector_size(32), aligned(8)));

#define LOAD(from) (*(const four*)(from))
#define GIVEN(value) (((value) <= LARGEST) & ((value) >= -LARGEST))
#define WHERE(condition, value) ((four)((condition) & (mask)(value)))
#define PICK(condition, value, otherwise) ((four)(((condition) & (mask)(value)) | (~(condition) & (mask)(otherwise))))
#define SUM(a) (((a)[0] + (a)[1]) + ((a)[2] + (a)[3]))
#define TOTAL(a, b) ((((a)[0] + (b)[0]) + ((a)[1] + (b)[1])) + (((a)[2] + (b)[2]) + ((a)[3] + (b)[3])))

INLINE four either(four first, four second) { return PICK(GIVEN(first), first, second); }

/* Adds the weight of the rows whose value is given, and the sum of weight x value over them. */
WIDE static void add_products(const double* weight, const double* value, rows_t rows, double* par, double* sum) {
    four known = {0}, known_too = {0}, product = {0}, product_too = {0};
    rows_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        four one = LOAD(value + i), two = LOAD(value + i + 4);
        four heavy = WHERE(GIVEN(one), LOAD(weight + i)), heavy_too = WHERE(GIVEN(two), LOAD(weight + i + 4));
        AHEAD(value, i);
        known += heavy;
        known_too += heavy_too;
        product += heavy * WHERE(GIVEN(one), one);
        product_too += heavy_too * WHERE(GIVEN(two), two);
    }
    for (; i < rows; i++)
        if (is_given(value[i])) {
            known[0] += weight[i];
            product[0] += weight[i] * value[i];
        }
    *par += TOTAL(known, known_too);
    *sum += TOTAL(product, product_too);
}

/* Adds the weight of the rows whose value is given, and of those whose value is below the line. */
WIDE static void add_below(
    const double* weight, const double* value, double line, rows_t rows, double* par, double* below
) {
    four known = {0}, known_too = {0}, under = {0}, under_too = {0};
    rows_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        four one = LOAD(value + i), two = LOAD(value + i + 4);
        four heavy = WHERE(GIVEN(one), LOAD(weight + i)), heavy_too = WHERE(GIVEN(two), LOAD(weight + i + 4));
        AHEAD(value, i);
        known += heavy;
        known_too += heavy_too;
        under += WHERE(one < line, heavy);
        under_too += WHERE(two < line, heavy_too);
    }
    for (; i < rows; i++)
        if (is_given(value[i])) {
            known[0] += weight[i];
            under[0] += value[i] < line ? weight[i] : 0.0;
        }
    *par += TOTAL(known, known_too);
    *below += TOTAL(under, under_too);
}

/* ---- Row by row. */

WIDE static void mark_flag(const uint8_t* restrict column, int bit, rows_t rows, uint8_t* restrict bits) {
    for (rows_t i = 0; i < rows; i++) bits[i] |= (uint8_t)((column[i] != 0) * bit);
}

WIDE static void mark_rank(const uint8_t* restrict column, uint8_t rank, rows_t rows, uint8_t* restrict bad) {
    for (rows_t i = 0; i < rows; i++) bad[i] |= column[i] == rank;
}

/* Marks the rows whose value is given and at the line or above it. */
WIDE static void mark_reached(const double* restrict column, double line, rows_t rows, uint8_t* restrict bad) {
    for (rows_t i = 0; i < rows; i++) bad[i] |= (column[i] >= line) & (column[i] <= LARGEST);
    for (rows_t i = 0; i < rows; i += 8) AHEAD(column, i);
}

/* Marks the rows that were bought below par's `line` or have one of the flags. */
WIDE static void mark_low(
    const double* restrict bought, double line, const uint8_t* restrict flags, uint8_t wanted, rows_t rows,
    uint8_t* restrict low
) {
    for (rows_t i = 0; i < rows; i++) low[i] = (bought[i] < line) | ((flags[i] & wanted) != 0);
    for (rows_t i = 0; i < rows; i += 8) AHEAD(bought, i);
}

/* The next row, from `row` on, with one of the wanted bits; `rows` where there is none. Most rows have none: eight are
   passed over at once. */
static inline rows_t next_marked(const uint8_t* marks, uint8_t wanted, rows_t row, rows_t rows) {
    for (; row + 8 <= rows; row += 8) {
        uint64_t eight;
        memcpy(&eight, marks + row, 8);
        eight &= wanted * UINT64_C(0x0101010101010101);
        if (eight) return row + FIRST_BYTE(eight);
    }
    while (row < rows && !(marks[row] & wanted)) row++;
    return row;
}

/* Par, 0.0 where it is blank or the row is bad. Returns how many are blank, and how many others bad. */
WIDE static rows_t find_weights(
    const double* restrict par, const uint8_t* restrict bad, rows_t rows, double* restrict weight, rows_t* others
) {
    int64_t blank = 0, defaulted = 0;
    for (rows_t i = 0; i < rows; i++) {
        double own = given_or(par[i], 0.0);
        weight[i] = bad[i] ? 0.0 : own;
        blank += !is_given(par[i]);
        defaulted += is_given(par[i]) & (bad[i] != 0);
    }
    for (rows_t i = 0; i < rows; i += 8) AHEAD(par, i);
    *others = defaulted;
    return blank;
}

/* For each row its rank for the rating factor (A's, else B's, else C's, else the deal's own), from bit 4 up; bit 3: that is
   B's or C's; bits 0 to 2: the row is in the CCC bucket of A, B, C. A row that no agency rates is in all of them, unless
   the deal's own rating is better, or above WORST_RANK; `buckets` has these three alone. Returns the worst rank. */
WIDE static uint8_t find_cells(
    const uint8_t* restrict a, const uint8_t* restrict b, const uint8_t* restrict c, const uint8_t* restrict own,
    rows_t rows, uint16_t* restrict cell, uint8_t* restrict buckets
) {
    uint8_t worst = 0;
    for (rows_t i = 0; i < rows; i++) {
        uint8_t agencies = a[i] | b[i] | c[i], rank = c[i] ? c[i] : own[i];
        uint8_t nobody = own[i] == 0 || (own[i] >= CCC_RANK && own[i] <= WORST_RANK) ? 7 : 0;
        uint8_t bits = (uint8_t)((a[i] >= CCC_RANK) | (b[i] >= CCC_RANK) << 1 | (c[i] >= CCC_RANK) << 2);
        uint8_t derived = a[i] == 0 && agencies != 0 ? 8 : 0;
        rank = b[i] ? b[i] : rank;
        rank = a[i] ? a[i] : rank;
        bits = (agencies ? bits : nobody) | derived;
        worst = worst > a[i] ? worst : a[i];
        worst = worst > b[i] ? worst : b[i];
        worst = worst > c[i] ? worst : c[i];
        worst = worst > own[i] ? worst : own[i];
        cell[i] = (uint16_t)((rank & 31) << 4 | bits);
        buckets[i] = bits & 7;
    }
    return worst;
}

/* For each row the place of its kind in a table of recovery rates: 48 for DIP, else by notches that the facility is rated
   better than its default probability (3 worse to 2 better, 0 where either is unrated), then by lien. */
WIDE static void find_kinds(
    const uint8_t* restrict lien, const uint8_t* restrict flags, const uint8_t* restrict rank,
    const uint8_t* restrict facility_rank, rows_t rows, uint8_t* restrict kind
) {
    for (rows_t i = 0; i < rows; i++) {
        int8_t notches = (int8_t)(rank[i] - facility_rank[i]);
        notches = (rank[i] == 0) | (facility_rank[i] == 0) ? 0 : notches;
        notches = notches < -3 ? -3 : notches;
        notches = notches > 2 ? 2 : notches;
        uint8_t place = (uint8_t)((uint8_t)(notches + 3) << 3 | (lien[i] & 7));
        kind[i] = flags[i] & DIP ? DIP_KIND : place;
    }
}

/* Adds the weight of the rows whose recovery is given, and over all rows the sum of weight x recovery, which is that of
   its kind where none is given. */
WIDE static void add_recoveries(
    const double* weight, const double* recovery, const uint8_t* kind, const double* by_kind, rows_t rows,
    double* par, double* sum
) {
    four known = {0}, product = {0}, product_too = {0};
    rows_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        four own = LOAD(recovery + i), heavy = LOAD(weight + i);
        four usual = {by_kind[kind[i]], by_kind[kind[i + 1]], by_kind[kind[i + 2]], by_kind[kind[i + 3]]};
        mask given = GIVEN(own);
        AHEAD(recovery, i);
        known += WHERE(given, heavy);
        product += heavy * WHERE(given, own);
        product_too += heavy * WHERE(~given, usual);
    }
    for (; i < rows; i++) {
        known[0] += is_given(recovery[i]) ? weight[i] : 0.0;
        product[0] += weight[i] * given_or(recovery[i], by_kind[kind[i]]);
    }
    *par += SUM(known);
    *sum += TOTAL(product, product_too);
}

/* ---- Sums of what follows from several columns. Four rows at a time, each sum in four lanes; the last rows of a block may
   be fewer, and are filled up with rows that weigh nothing. */

INLINE four numbers(const double* from, rows_t rows) {
    four found = {0};
    memcpy(&found, from, (size_t)rows * sizeof *from);
    return found;
}

INLINE mask bytes(const uint8_t* from, rows_t rows) {
    uint8_t found __attribute__((vector_size(4))) = {0};
    memcpy(&found, from, (size_t)rows * sizeof *from);
    return __builtin_convertvector(found, mask);
}

INLINE mask codes(const int32_t* from, rows_t rows) {
    int32_t found __attribute__((vector_size(16))) = {0};
    memcpy(&found, from, (size_t)rows * sizeof *from);
    return __builtin_convertvector(found, mask);
}

INLINE four all(double value) { return (four){value, value, value, value}; }

typedef struct {
    four par, sum;
} average_t;

INLINE void add_given(average_t* average, four weight, four value) {
    mask given = GIVEN(value);
    average->par += WHERE(given, weight);
    average->sum += weight * WHERE(given, value);
}

typedef struct {
    average_t paid; /* percent a year, 0.0 while a loan defers */
    average_t plain, credited; /* floating loans: spread in basis points without and with the floor's credit */
} income_t;


INLINE void income_of(
    const double* spread, const double* floor_rate, const double* base_rate, const double* coupon, double deal_base,
    const uint8_t* flags, const double* weight, rows_t rows, income_t* income
) {
    four heavy = numbers(weight, rows), margin = numbers(spread, rows), own = numbers(coupon, rows);
    four base = either(numbers(base_rate, rows), all(deal_base)), bottom = either(numbers(floor_rate, rows), base);
    mask bits = bytes(flags, rows), defers = (bits & DEFERRING) != 0, is_fixed = (bits & FIXED) != 0;
    /* What the index earns: the greater of base and floor; a missing one leaves the other. */
    four index = PICK(base >= bottom, base, bottom);
    four credit = WHERE(bottom > base, (bottom - base) * 100.0);
    /* A coupon less its index has the floor's credit in it already. */
    four implied = (own - base) * 100.0;
    four floating = WHERE(~is_fixed, heavy);
    add_given(&income->paid, heavy, WHERE(~defers, either(own, index + margin * 0.01)));
    add_given(&income->plain, floating, either(margin, implied));
    add_given(&income->credited, floating, either(margin + credit, implied));
}

WIDE static void add_income(
    const double* spread, const double* floor_rate, const double* base_rate, const double* coupon, double deal_base,
    const uint8_t* flags, const double* weight, rows_t rows,
    double* interest_par, double* interest_sum, double* spread_par, double* contractual_sum, double* spread_sum
) {
    income_t income = {0};
    rows_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        AHEAD(spread, i);
        AHEAD(floor_rate, i);
        AHEAD(coupon, i);
        income_of(spread + i, floor_rate + i, base_rate + i, coupon + i, deal_base, flags + i, weight + i, 4, &income);
    }
    if (i < rows)
        income_of(
            spread + i, floor_rate + i, base_rate + i, coupon + i, deal_base, flags + i, weight + i, rows - i, &income
        );
    *interest_par += SUM(income.paid.par);
    *interest_sum += SUM(income.paid.sum);
    *spread_par += SUM(income.plain.par);
    *contractual_sum += SUM(income.plain.sum);
    *spread_sum += SUM(income.credited.sum);
}

typedef struct {
    average_t years;
    mask matured;
} lives_t;

INLINE void lives_of(
    const double* average, const double* scheduled, const double* maturity, double as_of, const double* weight,
    rows_t rows, lives_t* lives
) {
    four heavy = numbers(weight, rows), left = numbers(maturity, rows) - as_of;
    four life = either(numbers(average, rows), either(numbers(scheduled, rows), left * (1.0 / 365.25)));
    add_given(&lives->years, heavy, PICK((life < 0.0) & (life >= -LARGEST), all(0.0), life));
    lives->matured -= (left < 0.0) & (left >= -LARGEST) & (heavy != 0.0); /* true is -1 */
}

/* The average life in years, else that of the schedule, else the years to maturity; never less than none. Returns how many
   rows with a weight are past their maturity. */
WIDE static rows_t add_lives(
    const double* average, const double* scheduled, const double* maturity, double as_of, const double* weight,
    rows_t rows, double* par, double* sum
) {
    lives_t lives = {0};
    rows_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        AHEAD(maturity, i);
        lives_of(average + i, scheduled + i, maturity + i, as_of, weight + i, 4, &lives);
    }
    if (i < rows) lives_of(average + i, scheduled + i, maturity + i, as_of, weight + i, rows - i, &lives);
    *par += SUM(lives.years.par);
    *sum += SUM(lives.years.sum);
    return SUM(lives.matured);
}

typedef struct {
    four located, foreign, sized, small;
} abroad_t;

INLINE void abroad_of(
    const int32_t* country, int32_t home, const double* size, double line_home, double line_abroad,
    const double* weight, rows_t rows, abroad_t* abroad
) {
    four heavy = numbers(weight, rows), own = numbers(size, rows);
    mask code = codes(country, rows), away = (code >= 0) & (code != home);
    abroad->located += WHERE(code >= 0, heavy);
    abroad->foreign += WHERE(away, heavy);
    abroad->sized += WHERE(GIVEN(own), heavy);
    abroad->small += WHERE(GIVEN(own) & (own < PICK(away, all(line_abroad), all(line_home))), heavy);
}

/* Par with a country and par abroad; par with a facility size and par whose facility is below its country's line. A blank
   country has the line of home. */
WIDE static void add_abroad(
    const int32_t* country, int32_t home, const double* size, double line_home, double line_abroad,
    const double* weight, rows_t rows, double* country_par, double* foreign_par, double* sized_par, double* small_par
) {
    abroad_t abroad = {0};
    rows_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        AHEAD(size, i);
        abroad_of(country + i, home, size + i, line_home, line_abroad, weight + i, 4, &abroad);
    }
    if (i < rows) abroad_of(country + i, home, size + i, line_home, line_abroad, weight + i, rows - i, &abroad);
    *country_par += SUM(abroad.located);
    *foreign_par += SUM(abroad.foreign);
    *sized_par += SUM(abroad.sized);
    *small_par += SUM(abroad.small);
}

/* ---- By obligor. Entry 0 is for rows without one, entry 1 + code for each obligor. */

typedef struct {
    double par;
    uint64_t mark; /* of the industries of its rows with a positive weight, see MARK; 0 where there is none */
} obligor_t;

/* An industry's code in the low half, its complement in the high one: marks of several rows are put together with OR, which
   leaves a bit in both halves where two rows differ. A load and a store, whether the obligor was seen before or not. */
#define MARK(industry) ((uint64_t)(uint32_t)~(industry) << 32 | (uint32_t)(industry))
#define IS_SEVERAL(mark) (((mark) & (mark) >> 32) != 0)
#define INDUSTRY(mark) ((uint32_t)(mark))

#define LOOKAHEAD 64 /* rows between the prefetch of an entry and its use: 32 cost 0.5 ms more, 128 gained nothing */

/* Adds the weights to their obligors; `left` rows can be read from `code`, `none` is the industry of a row without one.
   Returns 0, having stopped, where a code is not below the number of obligors. */
static int add_obligors(
    const int32_t* restrict code, const int32_t* restrict industry, const double* restrict weight, rows_t rows,
    rows_t left, int32_t obligors, int32_t none, obligor_t* restrict table
) {
    for (rows_t i = 0; i < rows; i++) {
        /* A wrong code is not followed here, and is refused below. */
        if (i + LOOKAHEAD < left) __builtin_prefetch(table + 1 + (rows_t)code[i + LOOKAHEAD], 1, 1);
        if (code[i] >= obligors) return 0;
        obligor_t* entry = table + (code[i] < 0 ? 0 : 1 + (rows_t)code[i]);
        int32_t own = industry == NULL || industry[i] < 0 ? none : industry[i];
        entry->par += weight[i];
        entry->mark |= weight[i] > 0.0 ? MARK(own) : 0;
    }
    return 1;
}

/* Adds to each industry the lesser of 1 and par x inverse of its obligors. */
static void add_units(const obligor_t* restrict table, rows_t obligors, double inverse, double* restrict units) {
    double unit[BLOCK];
    for (rows_t start = 1; start <= obligors; start += BLOCK) {
        rows_t rows = obligors + 1 - start < BLOCK ? obligors + 1 - start : BLOCK;
        for (rows_t i = 0; i < rows; i++) {
            double own = table[start + i].par * inverse;
            own = own < 1.0 ? own : 1.0;
            unit[i] = own > 0.0 ? own : 0.0;
        }
        /* An obligor without a mark has no unit: whatever industry it would go to. */
        for (rows_t i = 0; i < rows; i++) units[INDUSTRY(table[start + i].mark)] += unit[i];
    }
}

#endif
