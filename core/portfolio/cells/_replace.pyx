"""The loop that puts replacements in place of matches: the text is copied here, the engine finds the matches."""

# A match costs the engine about a microsecond. Slices, lists and a join in Python cost two more, which were two thirds
# of mapping a million rows; copied in C they cost a tenth.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcpy

cdef enum:
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
