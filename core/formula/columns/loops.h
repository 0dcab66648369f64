/* The loops of the columnar evaluator over chunks that hold only numbers: plain C that the compiler vectorises.
 *
 * A loop computes every row as if nothing special could happen and answers whether some row needs a second look (an
 * overflow, a division by zero, two operands that may be equal at 15 digits): the caller then goes over the chunk
 * again, row by row. Where the C library can choose at load time, a second copy uses wider vectors; neither uses fused
 * multiply-add, so the bits are the same on every machine. */

#include <float.h>
#include <math.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Two numbers that are equal at 15 digits are never further apart than this part of either. */
#define CLOSE 2e-14

#define SNAPS(a, r) ((fabs(r) <= fabs(a) * CLOSE) & ((r) != 0))
#define LEAVES(r) (!(fabs(r) <= DBL_MAX))
#define SINKS(r) ((fabs(r) < DBL_MIN) & ((r) != 0))

#define ARITHMETIC(name, expression, look)                                                           \
    WIDE static int name(double *restrict out, const double *a, const double *b, Py_ssize_t rows) {  \
        int64_t again = 0;                                                                           \
        for (Py_ssize_t row = 0; row < rows; row++) {                                                \
            double x = a[row], y = b[row], r = expression;                                           \
            again |= look;                                                                           \
            out[row] = r;                                                                            \
        }                                                                                            \
        return again != 0;                                                                           \
    }

ARITHMETIC(loop_add, x + y, SNAPS(x, r) | LEAVES(r))
ARITHMETIC(loop_subtract, x - y, SNAPS(x, r) | LEAVES(r))
/* Adding 0 turns -0 into 0. */
ARITHMETIC(loop_multiply, x *y + 0.0, SINKS(r) | LEAVES(r))
ARITHMETIC(loop_divide, x / y + 0.0, SINKS(r) | LEAVES(r))

#define NEAR(x, y) ((fabs((x) - (y)) <= fabs(x) * CLOSE) & ((x) != (y)))

ARITHMETIC(loop_equal, (double)(x == y), NEAR(x, y))
ARITHMETIC(loop_unequal, (double)(x != y), NEAR(x, y))
ARITHMETIC(loop_less, (double)(x < y), NEAR(x, y))
ARITHMETIC(loop_greater, (double)(x > y), NEAR(x, y))
ARITHMETIC(loop_less_equal, (double)(x <= y), NEAR(x, y))
ARITHMETIC(loop_greater_equal, (double)(x >= y), NEAR(x, y))

WIDE static void loop_select(double *restrict out, const double *condition, const double *a, const double *b,
                             Py_ssize_t rows) {
    for (Py_ssize_t row = 0; row < rows; row++) {
        double x = a[row], y = b[row];
        out[row] = condition[row] != 0 ? x : y;
    }
}

/* 1 where all conditions hold, 0 where none does, -1 for some. */
WIDE static int loop_hold(const double *conditions, Py_ssize_t rows) {
    int64_t some = 0, all = 1;
    for (Py_ssize_t row = 0; row < rows; row++) {
        int64_t holds = conditions[row] != 0;
        some |= holds;
        all &= holds;
    }
    return some ? (all ? 1 : -1) : 0;
}

#define GATHERING(name, expression)                                                          \
    WIDE static void name(double *restrict out, const double *restrict a, Py_ssize_t rows) { \
        for (Py_ssize_t row = 0; row < rows; row++) {                                        \
            double x = out[row], y = a[row];                                                 \
            out[row] = expression;                                                           \
        }                                                                                    \
    }

GATHERING(loop_sum, x + y)
GATHERING(loop_least, y < x ? y : x)
GATHERING(loop_most, y > x ? y : x)

/* Whether all bytes equal the first. */
WIDE static int loop_uniform(const uint8_t *kinds, Py_ssize_t rows) {
    uint8_t first = kinds[0], differ = 0;
    for (Py_ssize_t row = 0; row < rows; row++) differ |= kinds[row] ^ first;
    return differ == 0;
}

/* Whether all bytes are one of two. */
WIDE static int loop_either(const uint8_t *kinds, uint8_t one, uint8_t other, Py_ssize_t rows) {
    uint8_t differ = 0;
    for (Py_ssize_t row = 0; row < rows; row++) differ |= (kinds[row] != one) & (kinds[row] != other);
    return differ == 0;
}

/* Whether all numbers are finite. */
WIDE static int loop_finite(const double *numbers, Py_ssize_t rows) {
    int64_t other = 0;
    for (Py_ssize_t row = 0; row < rows; row++) other |= LEAVES(numbers[row]);
    return other == 0;
}

/* The processor's mark that a subnormal number was read, by which a compiled loop sees a product that is too small
 * (native/source.py). */
#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#define DENORMAL 2u
static inline void loop_unmark(void) { _mm_setcsr(_mm_getcsr() & ~DENORMAL); }
static inline int loop_marked(void) { return (_mm_getcsr() & DENORMAL) != 0; }
#else
static inline void loop_unmark(void) {}
static inline int loop_marked(void) { return 0; }
#endif

/* Whether there is such a mark: not every emulated processor has it. */
static int loop_marks(void) {
    volatile double small = 5e-324, sum;
    loop_unmark();
    sum = small + 0.0;
    (void)sum;
    return loop_marked();
}

/* What is this part of a number away from a boundary may read as being on it at 15 digits. */
#define ABOUT 6e-15

/* ROUND and its kin with `digits` that are the first row's in every row, 0 or more; `power` is 10 to them, and from
 * `limit` on a scaled number is whole. Its own sign and 0 as they are in `round_half_away` (ranges/reduce.pyx). */
#define ROUNDING(name, condition, look)                                                                          \
    WIDE static int name(double *restrict out, const double *a, const double *digits, double power, double limit, \
                         Py_ssize_t rows) {                                                                      \
        int64_t again = 0;                                                                                       \
        for (Py_ssize_t row = 0; row < rows; row++) {                                                            \
            double x = a[row], scaled = fabs(x) * power, whole = floor(scaled), part = scaled - whole, r;        \
            again |= !(scaled < limit) | (digits[row] != digits[0]) | (look);                                    \
            r = (whole + ((condition) ? 1.0 : 0.0)) / power;                                                     \
            r = (x < 0 ? -r : r) + 0.0;                                                                          \
            out[row] = x == 0 ? x : r;                                                                           \
        }                                                                                                        \
        return again != 0;                                                                                       \
    }

#define UNDER_HALF ((part < 0.5) & (0.5 - part < ABOUT * scaled))
#define UNDER_ONE (whole + 1 - scaled < ABOUT * scaled)
#define OVER_NONE ((part > 0) & (part < ABOUT * scaled))

ROUNDING(loop_round, part >= 0.5, UNDER_HALF)
ROUNDING(loop_round_up, part > 0, OVER_NONE)
ROUNDING(loop_round_down, 0, UNDER_ONE)

/* INT */
WIDE static int loop_whole(double *restrict out, const double *a, Py_ssize_t rows) {
    int64_t again = 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        double x = a[row], scaled = fabs(x), whole = floor(scaled), part = scaled - whole;
        again |= !(scaled < 4503599627370496.0) | (x < 0 ? OVER_NONE : UNDER_ONE);
        double r = whole + ((x < 0) & (part > 0) ? 1.0 : 0.0);
        out[row] = x == 0 ? x : x < 0 ? -r : r;
    }
    return again != 0;
}
