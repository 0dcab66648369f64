"""Text to dictionary codes."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy
from cpython.unicode cimport PyUnicode_AsUTF8AndSize

import numpy as np

from core.seed import SEED

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    static inline uint64_t cushion_fold(uint64_t a, uint64_t b) {
        __uint128_t product = (__uint128_t)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    static inline uint64_t cushion_hash(const char *text, int64_t length, uint64_t seed) {
        /* Multiply-and-fold over words of eight bytes; seed and length enter every step. */
        uint64_t state = seed ^ ((uint64_t)length * 0x9E3779B97F4A7C15ull);
        while (length >= 8) {
            uint64_t word; memcpy(&word, text, 8);
            state = cushion_fold(state ^ word, seed | 0x8000000000000001ull) + word;
            text += 8; length -= 8;
        }
        if (length) {
            uint64_t word = 0; memcpy(&word, text, (size_t)length);
            state = cushion_fold(state ^ word, seed | 0x8000000000000001ull) + word;
        }
        return cushion_fold(state ^ 0xD6E8FEB86659FD93ull, seed | 1);
    }
    """
    uint64_t cushion_hash(const char *text, int64_t length, uint64_t seed) noexcept nogil


cdef int pool_open(Pool *pool, uint64_t seed, int64_t size_max) noexcept nogil:
    pool.size = 0
    pool.room = 1024
    pool.count = 0
    pool.count_room = 64
    pool.mask = 127
    pool.seed = seed
    pool.size_max = size_max
    pool.data = <char *> malloc(pool.room)
    pool.offsets = <int64_t *> malloc((pool.count_room + 1) * sizeof(int64_t))
    pool.hashes = <uint32_t *> malloc(pool.count_room * sizeof(uint32_t))
    pool.table = <int32_t *> calloc(pool.mask + 1, sizeof(int32_t))
    if pool.data == NULL or pool.offsets == NULL or pool.hashes == NULL or pool.table == NULL:
        return -1
    pool.offsets[0] = 0
    return 0


cdef void pool_close(Pool *pool) noexcept nogil:
    free(pool.data)
    free(pool.offsets)
    free(pool.hashes)
    free(pool.table)
    pool.data = NULL
    pool.offsets = NULL
    pool.hashes = NULL
    pool.table = NULL


cdef int _widen(Pool *pool) noexcept nogil:
    """Double the room for strings, and the table with it."""
    cdef int64_t room = pool.count_room * 2
    cdef uint64_t mask = pool.mask * 2 + 1, slot
    cdef void *moved
    cdef int32_t *table
    cdef int64_t code
    moved = realloc(pool.offsets, (room + 1) * sizeof(int64_t))
    if moved == NULL:
        return -1
    pool.offsets = <int64_t *> moved
    moved = realloc(pool.hashes, room * sizeof(uint32_t))
    if moved == NULL:
        return -1
    pool.hashes = <uint32_t *> moved
    table = <int32_t *> calloc(mask + 1, sizeof(int32_t))
    if table == NULL:
        return -1
    for code in range(pool.count):
        slot = pool.hashes[code] & mask
        while table[slot]:
            slot = (slot + 1) & mask
        table[slot] = <int32_t> (code + 1)
    free(pool.table)
    pool.table = table
    pool.mask = mask
    pool.count_room = room
    return 0


cdef int32_t pool_code(Pool *pool, const char *text, int64_t length) noexcept nogil:
    cdef uint32_t stamp = <uint32_t> cushion_hash(text, length, pool.seed)
    cdef uint64_t slot = stamp & pool.mask
    cdef int32_t code
    cdef int64_t begin, room
    cdef void *moved
    while pool.table[slot]:
        code = pool.table[slot] - 1
        if pool.hashes[code] == stamp:
            begin = pool.offsets[code]
            if pool.offsets[code + 1] - begin == length and memcmp(pool.data + begin, text, length) == 0:
                return code
        slot = (slot + 1) & pool.mask
    if pool.size + length > pool.size_max or pool.count >= 0x3FFFFFFF:
        return -2
    if pool.size + length > pool.room:
        room = pool.room * 2 if pool.room * 2 > pool.size + length else pool.size + length
        moved = realloc(pool.data, room)
        if moved == NULL:
            return -1
        pool.data = <char *> moved
        pool.room = room
    if pool.count == pool.count_room:
        if _widen(pool) < 0:
            return -1
        slot = stamp & pool.mask
        while pool.table[slot]:
            slot = (slot + 1) & pool.mask
    code = <int32_t> pool.count
    memcpy(pool.data + pool.size, text, length)
    pool.size += length
    pool.hashes[code] = stamp
    pool.table[slot] = code + 1
    pool.count += 1
    pool.offsets[pool.count] = pool.size
    return code


cdef object pool_arrays(Pool *pool):
    """The pool as (offsets, data) arrays of its own memory."""
    cdef int64_t[::1] offsets = np.empty(pool.count + 1, np.int64)
    cdef uint8_t[::1] data = np.empty(pool.size, np.uint8)
    memcpy(&offsets[0], pool.offsets, (pool.count + 1) * sizeof(int64_t))
    if pool.size:
        memcpy(&data[0], pool.data, pool.size)
    return offsets.base, data.base


def intern(values):
    """Codes, offsets and data of a sequence of strings: equal strings share a code, None has -1.

    Raises:
        UnicodeEncodeError: a string holds half a surrogate pair.
        MemoryError: no memory, or more than 2 GiB of distinct text.
    """
    cdef Pool pool
    cdef Py_ssize_t at, length
    cdef const char *text
    cdef int32_t[::1] codes = np.empty(len(values), np.int32)
    if pool_open(&pool, <uint64_t> SEED, 0x7FFFFFFF) < 0:
        pool_close(&pool)
        raise MemoryError
    try:
        for at, value in enumerate(values):
            if value is None:
                codes[at] = -1
                continue
            text = PyUnicode_AsUTF8AndSize(value, &length)
            codes[at] = pool_code(&pool, text, length)
            if codes[at] < 0:
                raise MemoryError
        offsets, data = pool_arrays(&pool)
    finally:
        pool_close(&pool)
    return codes.base, offsets, data
