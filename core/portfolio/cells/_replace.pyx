"""The loop that puts replacements in place of matches: the text is copied here, the engine finds the matches."""

# A match costs the engine about a microsecond. Slices, lists and a join in Python cost two more, which were two thirds
# of mapping a million rows; copied in C they cost a tenth.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcpy

import numpy as np

from core.grid._intern cimport Pool, pool_arrays, pool_close, pool_code, pool_open
from core.seed import SEED

cdef enum:
    SIZE_MAX = 0x7FFFFFFF   # bytes of distinct endings
    ASK_EVERY = 8       # matches between two questions whether to go on: one takes up to a tenth of a second


cdef struct Buffer:
    char *data
    Py_ssize_t size
    Py_ssize_t room


cdef int _add(Buffer *buffer, const char *text, Py_ssize_t length) except -1:
    cdef char *larger
    if length <= 0:
        return 0
    if buffer.size + length > buffer.room:
        buffer.room = 2 * (buffer.size + length)
        larger = <char *> realloc(buffer.data, buffer.room)
        if larger == NULL:
            raise MemoryError
        buffer.data = larger
    memcpy(buffer.data + buffer.size, text, length)
    buffer.size += length
    return 0


cdef int _written(Buffer *buffer, const char *text, Py_ssize_t size, tuple parts, list spans) except -1:
    """What stands in place of a match; a group without one has the span (-1, -1), which is empty."""
    cdef Py_ssize_t begin, end
    for part in parts:
        if isinstance(part, bytes):
            _add(buffer, PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part))
        else:
            begin, end = <tuple> spans[part]
            if begin < -1 or end > size:
                raise ValueError("a group leaves the text")
            _add(buffer, text + begin, end - begin)
    return 0


cdef Py_ssize_t _after(const char *text, Py_ssize_t size, Py_ssize_t place) noexcept:
    """The place of the next character of UTF-8."""
    place += 1
    while place < size and (<unsigned char> text[place]) & 0xC0 == 0x80:
        place += 1
    return place


def joined_lines(const int64_t[::1] offsets not None, const uint8_t[::1] data not None):
    """The strings of a pool as bytes, each with a line break behind it.

    Raises:
        ValueError: the offsets leave the data.
    """
    cdef Py_ssize_t count = offsets.shape[0] - 1, at
    cdef int64_t length
    cdef bytes lines
    cdef char *into
    if count < 0 or offsets[0] != 0 or offsets[count] > data.shape[0]:
        raise ValueError("the pool's offsets leave its data")
    lines = PyBytes_FromStringAndSize(NULL, offsets[count] + count)
    into = PyBytes_AS_STRING(lines)
    for at in range(count):
        length = offsets[at + 1] - offsets[at]
        if length < 0:
            raise ValueError("the pool's offsets leave its data")
        if length:
            memcpy(into, &data[offsets[at]], length)
        into[length] = 10
        into += length + 1
    return lines


def split_lines(const uint8_t[::1] lines not None, Py_ssize_t count):
    """So many strings that each end with a line break, as a pool: (offsets, data).

    Raises:
        ValueError: there are not as many.
    """
    cdef int64_t[::1] offsets = np.empty(count + 1, np.int64)
    cdef uint8_t[::1] data = np.empty(max(lines.shape[0] - count, 0), np.uint8)
    cdef Py_ssize_t at, begin = 0, length
    cdef const uint8_t *line_break
    offsets[0] = 0
    for at in range(count):
        line_break = <const uint8_t *> memchr(&lines[begin], 10, lines.shape[0] - begin) if (
            begin < lines.shape[0]
        ) else NULL
        if line_break == NULL:
            raise ValueError("there are not as many lines")
        length = line_break - &lines[begin]
        if begin - at + length > data.shape[0]:
            raise ValueError("there are not as many lines")
        if length:
            memcpy(&data[begin - at], &lines[begin], length)
        begin += length + 1
        offsets[at + 1] = begin - at - 1
    if begin != lines.shape[0]:
        raise ValueError("there are not as many lines")
    return offsets.base, data.base


def endings(const int64_t[::1] offsets not None, const uint8_t[::1] data not None, Py_ssize_t longest):
    """The last bytes of each string, up to `longest`: (code of each, offsets, data), the last two of the distinct ones.

    Raises:
        MemoryError: no memory, or more than 2 GiB of distinct endings.
        ValueError: the offsets leave the data.
    """
    cdef Py_ssize_t count = offsets.shape[0] - 1, at
    cdef int64_t length
    cdef int32_t[::1] codes = np.empty(max(count, 0), np.int32)
    cdef const uint8_t *begin = &data[0] if data.shape[0] else NULL
    cdef bint is_sound = count >= 0, is_full = False
    cdef Pool pool
    if pool_open(&pool, <uint64_t> SEED, SIZE_MAX) < 0:
        pool_close(&pool)
        raise MemoryError
    with nogil:
        for at in range(count):
            length = offsets[at + 1] - offsets[at]
            if length < 0 or offsets[at] < 0 or offsets[at + 1] > data.shape[0]:
                is_sound = False
                break
            length = min(length, <int64_t> longest)
            codes[at] = pool_code(&pool, <const char *> begin + offsets[at + 1] - length, length)
            if codes[at] < 0:
                is_full = True
                break
    try:
        if not is_sound:
            raise ValueError("the pool's offsets leave its data")
        if is_full:
            raise MemoryError("too much distinct text in one column")
        return codes.base, *pool_arrays(&pool)
    finally:
        pool_close(&pool)


def with_endings(
    const int64_t[::1] offsets not None, const uint8_t[::1] data not None, const int32_t[::1] codes not None,
    const int64_t[::1] old not None, const int64_t[::1] new not None, const uint8_t[::1] new_data not None,
):
    """The strings of a pool with other endings, as a pool: (offsets, data). `codes`, and `old` as their offsets, are what
    `endings` gave for it; `new` and `new_data` are as many others."""
    cdef Py_ssize_t count = codes.shape[0], at
    cdef int64_t size = 0, kept, length
    cdef int32_t code
    cdef int64_t[::1] own_offsets = np.empty(count + 1, np.int64)
    cdef uint8_t[::1] own
    own_offsets[0] = 0
    with nogil:
        for at in range(count):
            code = codes[at]
            size += offsets[at + 1] - offsets[at] - (old[code + 1] - old[code]) + new[code + 1] - new[code]
            own_offsets[at + 1] = size
    own = np.empty(size, np.uint8)
    with nogil:
        for at in range(count):
            code = codes[at]
            kept = offsets[at + 1] - offsets[at] - (old[code + 1] - old[code])
            length = new[code + 1] - new[code]
            if kept:
                memcpy(&own[own_offsets[at]], &data[offsets[at]], kept)
            if length:
                memcpy(&own[own_offsets[at] + kept], &new_data[new[code]], length)
    return own_offsets.base, own.base


def substituted(
    match, anchor, bytes data, tuple parts, *, bint has_lines, int64_t growth_max, int64_t match_steps, steps_left, ask
):
    """A text with every match replaced: (text, a place in each line that grew too long, where it stopped, steps left).

    `match(anchor, data, start, stop)` gives the spans of a match's groups. With `has_lines` the text is lines that each
    end with a line break, which no match crosses; else it is one line. Reading a byte takes `match_steps`: where they
    are used up the rest stays as it is and its place is told, else -1. `ask` is called now and then, with the bytes by
    which replacements since were longer than what they replace.

    Raises:
        MemoryError: no memory.
        ValueError: a span that `match` gives is none of the text.
        What `ask` raises.
    """
    cdef const char *text = PyBytes_AS_STRING(data)
    cdef const char *line_break
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data), last = size - has_lines
    cdef Py_ssize_t start = 0, copied = 0, behind = -1, line_end = -1, first, end, before, grown = 0, stopped = -1
    cdef int64_t left = steps_left, count = 0, gained = 0
    cdef Py_ssize_t longer
    cdef list spans, failed = []
    cdef Buffer buffer
    buffer.size, buffer.room = 0, size + 64
    buffer.data = <char *> malloc(buffer.room)
    if buffer.data == NULL:
        raise MemoryError
    try:
        while start <= last and stopped < 0:
            spans = match(anchor, data, start, size)
            first, end = <tuple> spans[0]
            if first < 0 or first > last:
                break
            if end < first or end > size:
                raise ValueError("a match leaves the text")
            if first > line_end:
                line_break = <const char *> memchr(text + first, 10, size - first) if has_lines else NULL
                grown, line_end = 0, line_break - text if line_break != NULL else size
            if end > behind:            # an empty match right behind another is none
                _add(&buffer, text + copied, first - copied)
                before = buffer.size
                _written(&buffer, text, size, parts, spans)
                longer = buffer.size - before - (end - first)
                grown += longer
                gained += longer if longer > 0 else 0
                copied = end
                left -= (line_end - first + 1) * match_steps
                if left < 0:
                    stopped = first
            count += 1
            if count % ASK_EVERY == 0:
                ask(gained)
                gained = 0
            behind = end
            start = _after(text, size, end) if end == first else end
            if grown > growth_max:
                failed.append(first)
                start, grown = line_end + 1, 0
        if gained:
            ask(gained)
        _add(&buffer, text + copied, size - copied)
        return PyBytes_FromStringAndSize(buffer.data, buffer.size), failed, stopped, left
    finally:
        free(buffer.data)
