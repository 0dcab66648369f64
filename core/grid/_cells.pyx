"""Passes over the stored cells of a sheet."""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcmp

from core.values cimport ERROR, TEXT


def is_zero(const uint8_t[::1] content):
    """Whether all bytes are 0."""
    cdef Py_ssize_t size = content.shape[0]
    return size == 0 or (content[0] == 0 and memcmp(&content[0], &content[size > 1], size - 1) == 0)


def are_cells(
    const uint8_t[::1] kinds, const double[::1] numbers, const int32_t[::1] codes, int kind_max, int32_t texts, int errors
):
    """Whether kinds are known, texts have one of so many codes and all else -1, and errors are those of errors."""
    cdef Py_ssize_t row, rows = kinds.shape[0]
    cdef int wrong = 0, has_errors = 0
    if rows != numbers.shape[0] or rows != codes.shape[0]:
        return False
    with nogil:
        for row in range(rows):
            wrong |= (kinds[row] > kind_max) | (codes[row] < -1) | (codes[row] >= texts)
            wrong |= (kinds[row] == TEXT) != (codes[row] >= 0)
            has_errors |= kinds[row] == ERROR
        if has_errors:
            for row in range(rows):
                if kinds[row] == ERROR and not (0 <= numbers[row] < errors and numbers[row] == <int> numbers[row]):
                    wrong = True
    return not wrong


def mark(uint8_t[::1] used, const int32_t[::1] codes):
    """Set a byte for each code; -1 is none.

    Raises:
        IndexError: a code has no byte.
    """
    cdef Py_ssize_t row
    cdef int32_t code
    for row in range(codes.shape[0]):
        code = codes[row]
        if code >= 0:
            if code >= used.shape[0]:
                raise IndexError(f"code {code} of {used.shape[0]}")
            used[code] = 1
