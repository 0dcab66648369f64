# A pool of distinct byte strings, in C, for every reader that turns text into dictionary codes.
#
# string i is data[offsets[i] : offsets[i + 1]]; `table` is open addressing over codes + 1, at most half full;
# `hashes` keeps each string's hash, so that growing the table reads no text. The hash is seeded per process, because
# the strings come from strangers; codes are given in order of first appearance, so the seed never shows.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef struct Pool:
    char *data
    int64_t size
    int64_t room
    int64_t *offsets
    uint32_t *hashes
    int64_t count
    int64_t count_room
    int32_t *table
    uint64_t mask
    uint64_t seed
    int64_t size_max

cdef int pool_open(Pool *pool, uint64_t seed, int64_t size_max) noexcept nogil
cdef void pool_close(Pool *pool) noexcept nogil
# The code of a string, added when new; -1 when memory ends, -2 when the text passes `size_max`.
cdef int32_t pool_code(Pool *pool, const char *text, int64_t length) noexcept nogil
cdef object pool_arrays(Pool *pool)
