from libc.stdint cimport uint64_t

cdef enum:
    NUMERAL_MAX = 32          # bytes that `put_number` and `put_whole` write at most

cdef char *put_number(char *out, double value) noexcept nogil
cdef char *put_whole(char *out, uint64_t value) noexcept nogil
