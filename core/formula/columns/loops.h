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

/* Whether all bytes equal the first. */
WIDE static int loop_uniform(const uint8_t *kinds, Py_ssize_t rows) {
    uint8_t first = kinds[0], differ = 0;
    for (Py_ssize_t row = 0; row < rows; row++) differ |= kinds[row] ^ first;
    return differ == 0;
}
