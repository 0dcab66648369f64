# What the scanners of both parts share: the tail between chunks, XML's odd pieces, the text of elements, refusals.

cdef inline int32_t run_code(Pool *pool, Run *text) noexcept nogil:
    """The code of a string in a pool; negative when it cannot have one, see `pool_problem`."""
    return pool_code(pool, text.data if text.size else EMPTY, text.size)


cdef inline int pool_problem(int32_t code) noexcept nogil:
    """What a negative code of `run_code` says."""
    return NO_MEMORY if code == -1 else TEXT_SIZE


cdef class _Scanner:
    """What both scanners share: the tail between chunks, XML's odd pieces, text, refusals."""

    cdef bytes tail
    cdef int64_t wanted
    cdef int problem
    cdef int64_t depth
    cdef bint rooted
    cdef Bytes value_bytes           # decoded text of the value or string at hand
    cdef Bytes formula_bytes         # of the formula beside it: the two live at the same time
    cdef Bytes ignored_bytes         # of what is skipped
    cdef Pool pool
    cdef object part
    cdef object slots_max
    cdef int64_t filled              # cells that hold something

    def __cinit__(self, *args, **keywords):
        self.tail = b""
        self.slots_max = 0
        # Python's own string hash is keyed once per process: its value of a constant is as good a seed as any.
        if pool_open(&self.pool, <uint64_t> (<Py_ssize_t> hash("cushion")), TEXT_LIMIT) < 0:
            raise MemoryError

    def __dealloc__(self):
        free(self.value_bytes.data)
        free(self.formula_bytes.data)
        free(self.ignored_bytes.data)
        pool_close(&self.pool)

    def feed(self, bytes chunk):
        """Read the next chunk of the part.

        Raises:
            ParseFailed: the part breaks a rule or a limit.
        """
        cdef const char *data
        cdef int64_t size, used
        if self.tail:
            chunk = self.tail + chunk
        # A piece longer than the chunk is looked at again only when twice as much has come: linear in the end.
        size = len(chunk)
        if size < self.wanted:
            self.tail = chunk
            return
        data = chunk
        with nogil:
            used = self.scan(data, data + size)
        if self.problem:
            self.refuse()
        self.tail = chunk[used:] if used < size else b""
        if size - used > PIECE_LIMIT:
            self.problem = PIECE_SIZE
            self.refuse()
        self.wanted = (size - used) * 2

    def finish(self):
        """Read what is left and see that the part is whole.

        Raises:
            ParseFailed: it is not.
        """
        if self.wanted:
            self.wanted = 0
            self.feed(b"")
        if not self.rooted or self.depth != 0 or self.tail.strip():
            self.problem = TRUNCATED
            self.refuse()

    cdef int refuse(self) except -1:
        if self.problem == NO_MEMORY:
            raise MemoryError
        raise ParseFailed(_HINTS[self.problem].format(part=self.part, slots=self.slots_max, filled=self.filled))

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        return 0

    cdef const char *fail(self, int problem) noexcept nogil:
        self.problem = problem
        return NULL

    cdef const char *odd(self, const char *p, const char *end) noexcept nogil:
        """Past a comment, a processing instruction or a CDATA section that is not text; `p` stands behind '<'."""
        if p[0] == 63:
            return find_end(p, end, "?>", 2)
        if end - p < 3:
            return NULL
        if memcmp(p, "!--", 3) == 0:
            return find_end(p + 3, end, "-->", 3)
        if p[1] == 91:
            return find_end(p, end, "]]>", 3)
        return self.fail(DOCTYPE)

    cdef const char *read_text(self, const char *p, const char *end, Bytes *into) noexcept nogil:
        """Append the text of an element, `p` behind its start tag, and return past its end tag. Elements in it are
        no part of the text."""
        cdef const char *q
        cdef const char *name
        cdef int64_t size, depth = 0
        cdef int state
        while True:
            q = <const char *> memchr(p, 60, end - p)
            if q == NULL or end - q < 2:
                return NULL
            if depth == 0 and not decode(into, p, q, True):
                return self.fail(BAD_CHARACTER)
            p = q + 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                if depth == 0:
                    return p
                depth -= 1
            elif p[0] == 33 and end - p < 9:
                return NULL
            elif p[0] == 33 and memcmp(p, "![CDATA[", 8) == 0:
                q = find_end(p + 8, end, "]]>", 3)
                if q == NULL:
                    return NULL
                if depth == 0 and not decode(into, p + 8, q - 3, False):
                    return self.fail(NO_MEMORY)
                p = q
            elif p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
            else:
                p = local_name(p, end, &name, &size)
                if p == NULL:
                    return NULL
                state = skip_attributes(&p, end)
                if state < 0:
                    return self.fail(BAD_XML) if state == -2 else NULL
                depth += state == 0

    cdef const char *read_simple(self, const char *p, const char *end, Bytes *into, Run *text) noexcept nogil:
        """As `read_text` into an emptied buffer, but plain text is not copied: it is left where it stands."""
        cdef const char *q = <const char *> memchr(p, 60, end - p)
        if q == NULL or end - q < 2:
            return NULL
        if q[1] == 47 and memchr(p, 38, q - p) == NULL and memchr(p, 13, q - p) == NULL:
            text.data = p
            text.size = q - p
            q = <const char *> memchr(q, 62, end - q)
            if q == NULL:
                return NULL
            return q + 1
        into.size = 0
        p = self.read_text(p, end, into)
        text.data = into.data
        text.size = into.size
        return p

    cdef const char *read_rich(self, const char *p, const char *end, Run *text) noexcept nogil:
        """The text of an <si> or <is> element, `p` behind its start tag: all its <t>, those of phonetic runs left
        out. Returns past its end tag."""
        cdef const char *name
        cdef int64_t size, depth = 0, phonetic = 0
        cdef int state
        self.value_bytes.size = 0
        while True:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 2:
                return NULL
            p += 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                if depth == 0:
                    text.data = self.value_bytes.data
                    text.size = self.value_bytes.size
                    return p
                if phonetic == depth:
                    phonetic = 0
                depth -= 1
                continue
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
                continue
            p = local_name(p, end, &name, &size)
            if p == NULL:
                return NULL
            state = skip_attributes(&p, end)
            if state < 0:
                return self.fail(BAD_XML) if state == -2 else NULL
            if state == 2:
                continue
            if size == 1 and name[0] == 116 and phonetic == 0:
                p = self.read_text(p, end, &self.value_bytes)
                if p == NULL:
                    return NULL
                continue
            depth += 1
            if phonetic == 0 and same(name, size, "rPh", 3):
                phonetic = depth

    cdef const char *skip_element(self, const char *p, const char *end) noexcept nogil:
        """Past an element that is not ours, `p` behind its name."""
        cdef int state = skip_attributes(&p, end)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if state == 2:
            return p
        self.ignored_bytes.size = 0
        return self.read_text(p, end, &self.ignored_bytes)

    cdef int32_t code(self, Run *text) noexcept nogil:
        """The code of a string in the pool; -1 with the problem set when it cannot have one."""
        cdef int32_t code = run_code(&self.pool, text)
        if code < 0:
            self.problem = pool_problem(code)
            return -1
        return code

    cdef int32_t text_code(self, Run *value) noexcept nogil:
        """The code of a string in the pool, its `_xHHHH_` marks resolved."""
        cdef Bytes work
        cdef int32_t code
        if value.size < 7 or not has_escape(value):
            return self.code(value)
        work.data = NULL
        work.size = work.room = 0
        if not unescape(&work, value):
            free(work.data)
            self.problem = NO_MEMORY
            return -1
        value.data = work.data
        value.size = work.size
        code = self.code(value)
        free(work.data)
        return code

    cdef tuple pool_text(self, Pool *pool):
        """A pool's (offsets, data), seen to be UTF-8 string by string."""
        offsets, data = pool_arrays(pool)
        if len(data) and data.max() >= 128:
            try:
                data.tobytes().decode()
            except UnicodeDecodeError:
                self.problem = BAD_CHARACTER
                self.refuse()
            starts = offsets[offsets < len(data)]
            if ((data[starts] & 0xC0) == 0x80).any():
                self.problem = BAD_CHARACTER
                self.refuse()
        return offsets, data
