/* What every hash of the package is made of: one wide multiplication, and bytes of a text as a number. */

#ifndef CUSHION_FOLD_H
#define CUSHION_FOLD_H

#include <stdint.h>
#include <string.h>

static inline uint64_t cushion_fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The first `length` bytes, at most eight. */
static inline uint64_t cushion_word(const uint8_t *text, int64_t length)
{
    uint64_t word = 0;
    memcpy(&word, text, (size_t)length);
    return word;
}

#endif
