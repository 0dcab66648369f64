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
    void __builtin_prefetch(const void *place) noexcept nogil

cdef enum:
    _AHEAD = 16     # strings by which the table is asked for before it is read: it does not fit into the cache


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


cdef class TextIndex:
    """The code of each string of a pool; of equal strings the first one's.

    The pool's arrays are kept as they are, so that nothing is copied.

    Raises:
        ValueError: the offsets leave the data.
        MemoryError: no memory.
    """

    cdef const int64_t[::1] offsets
    cdef const uint8_t[::1] data
    cdef uint32_t[::1] stamps
    cdef int32_t[::1] table
    cdef uint64_t seed, mask
    cdef readonly bint is_distinct
    """Whether no two of the strings are equal."""

    def __init__(self, const int64_t[::1] offsets not None, const uint8_t[::1] data not None):
        cdef Py_ssize_t count = offsets.shape[0] - 1
        cdef Py_ssize_t code
        cdef uint64_t slot
        _check_pool(offsets, data)
        self.seed, self.mask = <uint64_t> SEED, 15
        while self.mask < 2 * <uint64_t> count:
            self.mask = self.mask * 2 + 1
        self.offsets, self.data, self.is_distinct = offsets, data, True
        self.stamps = np.empty(count, np.uint32)
        self.table = np.zeros(self.mask + 1, np.int32)
        with nogil:
            for code in range(count):
                self.stamps[code] = self.stamp(self.text(code), self.size(code))
            for code in range(count):
                if code + _AHEAD < count:
                    __builtin_prefetch(&self.table[self.stamps[code + _AHEAD] & self.mask])
                if self.place(self.text(code), self.size(code), self.stamps[code], &slot) < 0:
                    self.table[slot] = <int32_t> (code + 1)
                else:
                    self.is_distinct = False

    cdef inline const char *text(self, Py_ssize_t code) noexcept nogil:
        return <const char *> self.data_at(self.offsets[code])

    cdef inline const uint8_t *data_at(self, int64_t at) noexcept nogil:
        return &self.data[at] if at < self.data.shape[0] else NULL

    cdef inline int64_t size(self, Py_ssize_t code) noexcept nogil:
        return self.offsets[code + 1] - self.offsets[code]

    cdef inline uint32_t stamp(self, const char *text, int64_t length) noexcept nogil:
        return <uint32_t> cushion_hash(text, length, self.seed)

    cdef inline int32_t place(self, const char *text, int64_t length, uint32_t stamp, uint64_t *slot) noexcept nogil:
        """The code of a string; -1 without it, with the slot where it would be."""
        cdef int32_t code
        slot[0] = stamp & self.mask
        while self.table[slot[0]]:
            code = self.table[slot[0]] - 1
            if self.stamps[code] == stamp and self.size(code) == length and (
                length == 0 or memcmp(self.text(code), text, length) == 0
            ):
                return code
            slot[0] = (slot[0] + 1) & self.mask
        return -1

    def code(self, str text not None):
        """The code of a string; -1 where the pool does not have it."""
        cdef Py_ssize_t length
        cdef const char *written
        cdef uint64_t slot
        try:
            written = PyUnicode_AsUTF8AndSize(text, &length)
        except UnicodeEncodeError:
            return -1
        return self.place(written, length, self.stamp(written, length), &slot)

    def codes(self, const int64_t[::1] offsets not None, const uint8_t[::1] data not None):
        """The code of each string of another pool; -1 where this one does not have it.

        What follows the string that was met last is compared first, since files of two months have most loans in one
        order: a string that follows is neither hashed nor looked up.

        Raises:
            ValueError: the offsets leave the data.
        """
        cdef Py_ssize_t count = offsets.shape[0] - 1
        cdef Py_ssize_t at
        cdef int64_t length
        cdef uint64_t slot
        cdef const char *text
        cdef int32_t code
        cdef Py_ssize_t next_code = 0
        cdef Py_ssize_t last = self.offsets.shape[0] - 1 if self.is_distinct else 0
        _check_pool(offsets, data)
        cdef int32_t[::1] codes = np.empty(count, np.int32)
        with nogil:
            for at in range(count):
                length = offsets[at + 1] - offsets[at]
                text = <const char *> &data[offsets[at]] if length else NULL
                if next_code < last and self.size(next_code) == length and (
                    length == 0 or memcmp(self.text(next_code), text, length) == 0
                ):
                    code = <int32_t> next_code
                else:
                    code = self.place(text, length, self.stamp(text, length), &slot)
                codes[at] = code
                if code >= 0:
                    next_code = code + 1
        return codes.base


cdef int _check_pool(const int64_t[::1] offsets, const uint8_t[::1] data) except -1:
    cdef Py_ssize_t at
    cdef bint whole = 0 < offsets.shape[0] <= 0x40000000 and offsets[0] >= 0
    if whole:
        for at in range(offsets.shape[0] - 1):
            whole &= offsets[at] <= offsets[at + 1]
        whole &= offsets[offsets.shape[0] - 1] <= data.shape[0]
    if not whole:
        raise ValueError("the pool's offsets leave its data")
    return 0
