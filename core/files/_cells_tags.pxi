# Tags: attributes one by one, names without their prefixes, and what stands between two marks.

cdef struct Attribute:
    const char *name
    int64_t name_size
    const char *value
    int64_t value_size


cdef int next_attribute(const char **at, const char *end, Attribute *out) noexcept nogil:
    """Read one attribute: 1 got one, 0 the tag ends with '>', 2 it ends with '/>', -1 the chunk ends, -2 not XML."""
    cdef const char *p = at[0]
    cdef const char *stop
    cdef char quote
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    if p[0] == 62:
        at[0] = p + 1
        return 0
    if p[0] == 47:
        if p + 1 >= end:
            return -1
        if p[1] != 62:
            return -2
        at[0] = p + 2
        return 2
    out.name = p
    while p < end and p[0] != 61 and not is_space(p[0]):
        if p[0] == 62 or p[0] == 60:
            return -2
        p += 1
    out.name_size = p - out.name
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    if p[0] != 61:
        return -2
    p += 1
    while p < end and is_space(p[0]):
        p += 1
    if p >= end:
        return -1
    quote = p[0]
    if quote != 34 and quote != 39:
        return -2
    p += 1
    stop = p
    while stop < end and stop[0] != quote:
        if stop[0] == 60:
            return -2
        stop += 1
    if stop >= end:
        return -1
    out.value = p
    out.value_size = stop - p
    at[0] = stop + 1
    return 1


cdef int skip_attributes(const char **at, const char *end) noexcept nogil:
    """To the end of the tag; answers as `next_attribute`, never 1."""
    cdef Attribute ignored
    cdef int state = 1
    while state == 1:
        state = next_attribute(at, end, &ignored)
    return state


cdef const char *find_end(const char *p, const char *end, const char *mark, int64_t size) noexcept nogil:
    """Past the next `mark`, or NULL."""
    while end - p >= size:
        p = <const char *> memchr(p, mark[0], end - p)
        if p == NULL or end - p < size:
            return NULL
        if memcmp(p, mark, size) == 0:
            return p + size
        p += 1
    return NULL


cdef inline const char *local_name(const char *p, const char *end, const char **name, int64_t *size) noexcept nogil:
    """The element name at `p` without its prefix; returns past it, or NULL when the chunk ends in it."""
    cdef const char *begin = p
    while p < end and not ends_name(p[0]):
        if p[0] == 58:
            begin = p + 1
        p += 1
    if p >= end:
        return NULL
    name[0] = begin
    size[0] = p - begin
    return p
