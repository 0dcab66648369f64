/* SipHash-2-4 by its published definition (Aumasson and Bernstein, 2012), for little-endian machines as the rest. */
#ifndef CUSHION_SIPHASH_H
#define CUSHION_SIPHASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CUSHION_TURN(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define CUSHION_SIP_ROUND                                                   \
    v0 += v1; v1 = CUSHION_TURN(v1, 13); v1 ^= v0; v0 = CUSHION_TURN(v0, 32); \
    v2 += v3; v3 = CUSHION_TURN(v3, 16); v3 ^= v2;                          \
    v0 += v3; v3 = CUSHION_TURN(v3, 21); v3 ^= v0;                          \
    v2 += v1; v1 = CUSHION_TURN(v1, 17); v1 ^= v2; v2 = CUSHION_TURN(v2, 32);

static inline uint64_t cushion_siphash(const uint8_t *data, size_t size, uint64_t k0, uint64_t k1) {
    uint64_t v0 = 0x736f6d6570736575ull ^ k0, v1 = 0x646f72616e646f6dull ^ k1;
    uint64_t v2 = 0x6c7967656e657261ull ^ k0, v3 = 0x7465646279746573ull ^ k1;
    uint64_t word, last = (uint64_t)size << 56;
    size_t left = size;
    for (; left >= 8; left -= 8, data += 8) {
        memcpy(&word, data, 8);
        v3 ^= word;
        CUSHION_SIP_ROUND CUSHION_SIP_ROUND
        v0 ^= word;
    }
    for (size_t at = 0; at < left; at++) last |= (uint64_t)data[at] << (8 * at);
    v3 ^= last;
    CUSHION_SIP_ROUND CUSHION_SIP_ROUND
    v0 ^= last;
    v2 ^= 0xff;
    CUSHION_SIP_ROUND CUSHION_SIP_ROUND CUSHION_SIP_ROUND CUSHION_SIP_ROUND
    return v0 ^ v1 ^ v2 ^ v3;
}
#endif
