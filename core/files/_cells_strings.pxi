# The shared strings of a workbook: a list of codes into a pool.

cdef class SharedStrings(_Scanner):
    """The shared strings of a workbook. Feed it the part, then `finish`."""

    cdef int32_t *codes
    cdef int64_t count
    cdef int64_t room

    def __init__(self, part="The shared strings"):
        self.part = part

    def __dealloc__(self):
        free(self.codes)

    def __len__(self):
        return self.count

    def strings(self):
        """All strings in the file's order."""
        offsets, data = self.pool_text(&self.pool)
        return [data[offsets[self.codes[i]] : offsets[self.codes[i] + 1]].tobytes().decode() for i in range(self.count)]

    cdef bint add(self, Run *text) noexcept nogil:
        cdef void *moved
        cdef int32_t code = self.text_code(text)
        if code < 0:
            return False
        if self.count == self.room:
            moved = realloc(self.codes, (self.room * 2 + 64) * sizeof(int32_t))
            if moved == NULL:
                self.problem = NO_MEMORY
                return False
            self.codes = <int32_t *> moved
            self.room = self.room * 2 + 64
        self.codes[self.count] = code
        self.count += 1
        return True

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef const char *name
        cdef int64_t size
        cdef int state
        cdef Run text
        while True:
            piece = p
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL:
                return end - begin
            piece = p
            p += 1
            if p >= end:
                return piece - begin
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return piece - begin
                continue
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return piece - begin
                self.depth -= 1
                if self.depth < 0:
                    self.problem = BAD_XML
                    return 0
                continue
            p = local_name(p, end, &name, &size)
            if p == NULL:
                return piece - begin
            state = skip_attributes(&p, end)
            if state < 0:
                if state == -2:
                    self.problem = BAD_XML
                return piece - begin
            if self.depth == 0:
                if self.rooted or not same(name, size, "sst", 3):
                    self.problem = WRONG_ROOT
                    return 0
                self.rooted = True
                self.depth = state == 0
            elif self.depth == 1 and size == 2 and memcmp(name, "si", 2) == 0:
                text.size = 0
                text.data = NULL
                if state == 0:
                    p = self.read_rich(p, end, &text)
                    if p == NULL:
                        return piece - begin
                if not self.add(&text):
                    return 0
            else:
                self.depth += state == 0
