# A worksheet copied, with other values or formulas in some of its cells.

cdef enum:
    FORMULA_KEPT = -1                # the cell's own <f>, where it has one
    FORMULA_GONE = -2
    PREFIX_BYTES = 64
    YOUNGER_ERRORS = 8               # from here on errors are younger than the file format, which has #VALUE! for them

PATCH_KEPT, PATCH_GONE = FORMULA_KEPT, FORMULA_GONE

cdef list _ERROR_BYTES = [text.encode() for text in ERROR_CODE]


cdef inline bint push_word(Bytes *into, const char *text) noexcept nogil:
    return push(into, text, strlen(text))


cdef class SheetPatcher(_Scanner):
    """Copies a worksheet's part chunk by chunk: every byte as it is, but for the given cells.

    `rows` and `columns` are their places in the order of a sheet; `kinds`, `numbers` and `codes` (into `texts`, escaped
    already) their values; `formulas` say what becomes of the formula: it stays, it goes, or is one of `written`, each
    the rest of an <f> element behind its name. Where `computed` has its first bit, a text is the result of a formula, else
    a constant; with the second bit a cell whose formula is replaced keeps the mark that it spills.
    A cell that the part lacks is put where it belongs, without a style.
    """

    cdef const int32_t[::1] rows
    cdef const int32_t[::1] columns
    cdef const uint8_t[::1] kinds
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    cdef const uint8_t[::1] computed
    cdef const int32_t[::1] formulas
    cdef list kept                   # what the pointers point into
    cdef const char *texts
    cdef const char *written
    cdef const int64_t[::1] text_bounds
    cdef const int64_t[::1] written_bounds
    cdef int64_t at                  # the next of the given cells
    cdef int64_t count
    cdef bint in_data
    cdef bint had_data
    cdef int64_t row                 # the last cell's place
    cdef int32_t column
    cdef Bytes out
    cdef Bytes rest                  # a cell's elements that are neither value nor formula
    cdef char prefix[PREFIX_BYTES]   # of the part's elements, with its colon
    cdef int64_t prefix_size
    cdef int32_t left                # the outermost columns of the given cells
    cdef int32_t right

    def __init__(self, part, *, rows, columns, kinds, numbers, codes, computed, formulas, texts, written):
        self.part = part
        self.rows, self.columns, self.kinds, self.numbers = rows, columns, kinds, numbers
        self.codes, self.computed, self.formulas = codes, computed, formulas
        self.count = len(rows)
        assert all(len(array) == self.count for array in (columns, kinds, numbers, codes, computed, formulas))
        self.kept = [b"".join(texts), b"".join(written)]
        self.texts, self.written = <bytes> self.kept[0], <bytes> self.kept[1]
        self.text_bounds = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self.written_bounds = np.cumsum([0, *map(len, written)], dtype=np.int64)
        self.left, self.right = (columns.min(), columns.max()) if self.count else (0, 0)
        self.row = -1
        self.column = -1

    def __dealloc__(self):
        free(self.out.data)
        free(self.rest.data)

    def patch(self, bytes chunk):
        """The next piece of the copy.

        Raises:
            ParseFailed: the part breaks a rule or a limit, or its cells are not in the order of a sheet.
        """
        self.out.size = 0
        self.feed(chunk)
        return self.out.data[: self.out.size] if self.out.size else b""

    def end(self):
        """The last piece.

        Raises:
            ParseFailed: the part is not whole, or has no place for a cell.
        """
        self.out.size = 0
        self.finish()
        if self.at < self.count:
            self.problem = UNORDERED
            self.refuse()
        return (self.out.data[: self.out.size] if self.out.size else b"") + self.tail

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *copied = p  # what stands before it is in `out`
        cdef const char *piece
        while True:
            p = <const char *> memchr(p, 60, end - p)
            piece = end if p == NULL else p
            if p != NULL:
                p = self.element(piece, p + 1, end, &copied) if p + 1 < end else NULL
            if p == NULL:
                if not push(&self.out, copied, piece - copied):
                    self.problem = NO_MEMORY
                return piece - begin

    cdef const char *element(self, const char *piece, const char *p, const char *end, const char **copied) noexcept nogil:
        """Past one tag or one whole cell that begins at `piece`; nothing is written before all of it is seen."""
        cdef const char *name
        cdef int64_t size
        cdef int state
        if p[0] == 33 or p[0] == 63:
            return self.odd(p, end)
        if p[0] == 47:
            return self.close_tag(piece, p + 1, end, copied)
        p = local_name(p, end, &name, &size)
        if p == NULL:
            return NULL
        if self.in_data and self.depth == 3 and size == 1 and name[0] == 99:
            return self.cell(piece, p, end, copied)
        if self.in_data and self.depth == 2 and same(name, size, "row", 3):
            return self.open_row(piece, p, end, copied)
        if self.depth == 1 and self.count and same(name, size, "dimension", 9):
            return self.dimension(piece, p, end, copied)
        state = skip_attributes(&p, end)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if self.depth == 0:
            if self.rooted or not same(name, size, "worksheet", 9):
                return self.fail(WRONG_ROOT)
            self.rooted = True
        elif self.depth == 1 and same(name, size, "sheetData", 9):
            if self.had_data:  # the given cells that the first one lacked stand at its end already
                return self.fail(UNORDERED)
            self.had_data = True
            self.prefix_size = name - piece - 1
            if self.prefix_size > PREFIX_BYTES:
                return self.fail(BAD_XML)
            memcpy(self.prefix, piece + 1, self.prefix_size)
            if state == 0:
                self.in_data = True
            elif self.at < self.count:
                if not (
                    self.flush(copied, piece, p) and self.open_element("sheetData") and push(&self.out, ">", 1)
                    and self.new_rows(ROWS_LIMIT) and self.close_element("sheetData")
                ):
                    return self.fail(NO_MEMORY)
        self.depth += state == 0
        return p

    cdef const char *dimension(self, const char *piece, const char *p, const char *end, const char **copied) noexcept nogil:
        """Past the declared extent, `p` behind its name; where it has no place for a given cell it is widened, since
        some readers believe it."""
        cdef Attribute attribute
        cdef const char *named = p
        cdef const char *at
        cdef const char *stop
        cdef int state
        cdef bint met = False
        cdef int64_t top, bottom
        cdef int32_t left, right
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if same(attribute.name, attribute.name_size, "ref", 3):
                stop = attribute.value + attribute.value_size
                at = parse_address(attribute.value, stop, &top, &left)
                bottom, right = top, left
                if at != NULL and at < stop and at[0] == 58:
                    at = parse_address(at + 1, stop, &bottom, &right)
                met = at == stop
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        self.depth += state == 0
        if not met or (
            top <= self.rows[0] and self.rows[self.count - 1] <= bottom and left <= self.left and self.right <= right
        ):
            return p
        if not (
            self.flush(copied, piece, p) and push(&self.out, piece, named - piece) and push_word(&self.out, ' ref="')
            and self.push_address(min(top, <int64_t> self.rows[0]), min(left, self.left)) and push(&self.out, ":", 1)
            and self.push_address(max(bottom, <int64_t> self.rows[self.count - 1]), max(right, self.right))
            and push_word(&self.out, '"/>' if state == 2 else '">')
        ):
            return self.fail(NO_MEMORY)
        return p

    cdef bint push_address(self, int64_t row, int32_t column) noexcept nogil:
        cdef char digits[NUMERAL_MAX]
        cdef char letters[4]
        cdef int32_t size = 0
        column += 1
        while column > 0:
            size += 1
            letters[4 - size] = <char> (65 + (column - 1) % 26)
            column = (column - 1) // 26
        return (
            push(&self.out, letters + 4 - size, size)
            and push(&self.out, digits, put_whole(digits, <uint64_t> row + 1) - digits)
        )

    cdef inline bint flush(self, const char **copied, const char *upto, const char *next) noexcept nogil:
        """Copy what was passed over up to a place; copying goes on at another."""
        cdef const char *begin = copied[0]
        copied[0] = next
        return push(&self.out, begin, upto - begin)

    cdef const char *close_tag(self, const char *piece, const char *p, const char *end, const char **copied) noexcept nogil:
        cdef const char *name
        cdef int64_t size
        p = local_name(p, end, &name, &size)
        if p == NULL:
            return NULL
        p = <const char *> memchr(p, 62, end - p)
        if p == NULL:
            return NULL
        if self.in_data and self.depth == 3:
            if self.is_next(self.row, COLUMNS_LIMIT) and not (
                self.flush(copied, piece, piece) and self.new_cells(self.row, COLUMNS_LIMIT)
            ):
                return self.fail(NO_MEMORY)
        elif self.in_data and self.depth == 2:
            self.in_data = False
            if not (self.flush(copied, piece, piece) and self.new_rows(ROWS_LIMIT)):
                return self.fail(NO_MEMORY)
        self.depth -= 1
        return self.fail(BAD_XML) if self.depth < 0 else p + 1

    cdef inline bint is_next(self, int64_t row, int32_t column) noexcept nogil:
        """Whether the next given cell stands in a row, before a column."""
        return self.at < self.count and self.rows[self.at] == row and self.columns[self.at] < column

    cdef const char *open_row(self, const char *piece, const char *p, const char *end, const char **copied) noexcept nogil:
        cdef Attribute attribute
        cdef int state
        cdef int64_t number = -1, row
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if attribute.name_size == 1 and attribute.name[0] == 114:
                if not parse_index(attribute.value, attribute.value_size, &number) or number == 0:
                    return self.fail(BAD_REFERENCE)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        row = number - 1 if number > 0 else self.row + 1
        if row >= ROWS_LIMIT:
            return self.fail(ROWS)
        if row <= self.row:
            return self.fail(UNORDERED)
        if self.at < self.count and self.rows[self.at] < row:
            if not (self.flush(copied, piece, piece) and self.new_rows(row)):
                return self.fail(NO_MEMORY)
        self.row = row
        self.column = -1
        self.depth += state == 0
        if state == 2 and self.is_next(row, COLUMNS_LIMIT):
            if not (
                self.flush(copied, p - 2, p) and push(&self.out, ">", 1) and self.new_cells(row, COLUMNS_LIMIT)
                and self.close_element("row")
            ):
                return self.fail(NO_MEMORY)
        return p

    cdef const char *cell(self, const char *piece, const char *p, const char *end, const char **copied) noexcept nogil:
        """Past a whole <c> element, `p` behind its name; it is written anew where it is one of the given cells."""
        cdef Attribute attribute
        cdef int state
        cdef int64_t row = self.row, size
        cdef int32_t column = self.column + 1
        cdef const char *named = p
        cdef const char *child
        cdef const char *name
        cdef Run formula
        formula.data = NULL
        formula.size = 0
        self.rest.size = 0
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if attribute.name_size == 1 and attribute.name[0] == 114:
                if parse_address(attribute.value, attribute.value + attribute.value_size, &row, &column) \
                        != attribute.value + attribute.value_size:
                    return self.fail(BAD_REFERENCE)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        while state == 0:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 2:
                return NULL
            child = p
            p += 1
            if p[0] == 47:
                p = <const char *> memchr(p, 62, end - p)
                if p == NULL:
                    return NULL
                p += 1
                break
            if p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
                if p == NULL:
                    return NULL
                continue
            p = local_name(p, end, &name, &size)
            if p != NULL:
                p = self.skip_element(p, end)
            if p == NULL:
                return NULL
            if size == 1 and name[0] == 102:
                formula.data, formula.size = child, p - child
            elif not (size == 1 and name[0] == 118) and not same(name, size, "is", 2):
                if not push(&self.rest, child, p - child):
                    return self.fail(NO_MEMORY)
        if row != self.row or column <= self.column or column >= COLUMNS_LIMIT:
            return self.fail(UNORDERED)
        if self.is_next(row, column) and not (self.flush(copied, piece, piece) and self.new_cells(row, column)):
            return self.fail(NO_MEMORY)
        if self.is_next(row, column + 1):
            if not (self.flush(copied, piece, p) and self.replaced(piece, named, end, &formula)):
                return self.fail(NO_MEMORY)
            self.at += 1
        self.column = column
        return p

    # -------------------------------------------------------------------------------------------- what is written

    cdef inline bint open_element(self, const char *name) noexcept nogil:
        return push(&self.out, "<", 1) and push(&self.out, self.prefix, self.prefix_size) and push_word(&self.out, name)

    cdef inline bint close_element(self, const char *name) noexcept nogil:
        return (
            push(&self.out, "</", 2) and push(&self.out, self.prefix, self.prefix_size)
            and push_word(&self.out, name) and push(&self.out, ">", 1)
        )

    cdef bint new_rows(self, int64_t stop) noexcept nogil:
        """The given cells above a row that the part has, in rows that it lacks."""
        cdef char digits[NUMERAL_MAX]
        cdef int64_t row
        while self.at < self.count and self.rows[self.at] < stop:
            row = self.rows[self.at]
            if not (
                self.open_element("row") and push_word(&self.out, ' r="')
                and push(&self.out, digits, put_whole(digits, <uint64_t> row + 1) - digits)
                and push_word(&self.out, '">') and self.new_cells(row, COLUMNS_LIMIT) and self.close_element("row")
            ):
                return False
        return True

    cdef bint new_cells(self, int64_t row, int32_t stop) noexcept nogil:
        """The given cells of a row before a column, which the part lacks."""
        while self.is_next(row, stop):
            if self.kinds[self.at] != BLANK or self.formulas[self.at] >= 0:
                if not (
                    self.open_element("c") and push_word(&self.out, ' r="')
                    and self.push_address(row, self.columns[self.at])
                    and push(&self.out, '"', 1) and self.content(NULL, False) and self.close_element("c")
                ):
                    return False
            self.at += 1
        return True

    cdef bint replaced(self, const char *piece, const char *p, const char *end, Run *formula) noexcept nogil:
        """A cell of the part with its own name, attributes and elements, but for the value and what says its type."""
        cdef Attribute attribute
        cdef const char *named = p
        cdef bint gone = self.formulas[self.at] != FORMULA_KEPT
        cdef bint plain = gone and not self.computed[self.at] & 2
        if not push(&self.out, piece, p - piece):
            return False
        while next_attribute(&p, end, &attribute) == 1:
            if attribute.name_size == 1 and attribute.name[0] == 116 or same(attribute.name, attribute.name_size, "vm", 2):
                continue
            if plain and same(attribute.name, attribute.name_size, "cm", 2):
                continue
            if not (
                push(&self.out, " ", 1)
                and push(&self.out, attribute.name, attribute.value + attribute.value_size + 1 - attribute.name)
            ):
                return False
        if gone:
            formula = NULL
        return (
            self.content(formula, True) and push(&self.out, "</", 2) and push(&self.out, piece + 1, named - piece - 1)
            and push(&self.out, ">", 1)
        )

    cdef bint content(self, Run *formula, bint was_there) noexcept nogil:
        """The type of the given cell at hand, the end of its start tag, and all that stands in it but its end tag."""
        cdef char digits[NUMERAL_MAX]
        cdef int kind = self.kinds[self.at]
        cdef int32_t code = self.codes[self.at], own = self.formulas[self.at]
        cdef bint inline = kind == TEXT and not self.computed[self.at] & 1
        cdef const char *word = ""
        if kind == TEXT:
            word = ' t="inlineStr"' if inline else ' t="str"'
        elif kind == BOOLEAN:
            word = ' t="b"'
        elif kind == ERROR:
            word = ' t="e"'
        if not push_word(&self.out, word) or not push(&self.out, ">", 1):
            return False
        if own >= 0:
            if not (
                self.open_element("f")
                and push(&self.out, self.written + self.written_bounds[own],
                         self.written_bounds[own + 1] - self.written_bounds[own])
                and self.close_element("f")
            ):
                return False
        elif formula != NULL and not push(&self.out, formula.data, formula.size):
            return False
        if kind == BLANK:
            return not was_there or push(&self.out, self.rest.data, self.rest.size)
        if not (self.open_element("is") if inline else self.open_element("v")) or not push(&self.out, ">", 1):
            return False
        if inline and not (self.open_element("t") and push_word(&self.out, ' xml:space="preserve">')):
            return False
        if kind == TEXT:
            if not push(&self.out, self.texts + self.text_bounds[code], self.text_bounds[code + 1] - self.text_bounds[code]):
                return False
        elif kind == ERROR:
            if not self.push_error(<int> self.numbers[self.at]):
                return False
        elif not push(&self.out, digits, put_number(digits, self.numbers[self.at]) - digits):
            return False
        if inline and not self.close_element("t"):
            return False
        if not (self.close_element("is") if inline else self.close_element("v")):
            return False
        return not was_there or push(&self.out, self.rest.data, self.rest.size)

    cdef bint push_error(self, int code) noexcept with gil:
        cdef bytes text = _ERROR_BYTES[code if code < YOUNGER_ERRORS else ERROR_CODE["#VALUE!"]]
        return push(&self.out, <const char *> text, len(text))
