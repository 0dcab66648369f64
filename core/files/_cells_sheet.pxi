# A worksheet: its rows, cells, formulas, merged ranges and declared extent.

cdef enum:
    TYPE_NUMBER
    TYPE_SHARED
    TYPE_TEXT
    TYPE_INLINE
    TYPE_BOOLEAN
    TYPE_ERROR
    TYPE_ISO


cdef int cell_type(const char *p, int64_t size) noexcept nogil:
    """The `t` of a cell; what is not known reads as a number, the default."""
    if size == 1:
        if p[0] == 115:
            return TYPE_SHARED
        if p[0] == 98:
            return TYPE_BOOLEAN
        if p[0] == 101:
            return TYPE_ERROR
        if p[0] == 100:
            return TYPE_ISO
    elif same(p, size, "str", 3):
        return TYPE_TEXT
    elif same(p, size, "inlineStr", 9):
        return TYPE_INLINE
    return TYPE_NUMBER


cdef bint is_address(Run *text) noexcept nogil:
    """Whether a text is a cell's address, or empty."""
    cdef int64_t row
    cdef int32_t column
    cdef const char *end = text.data + text.size
    return text.size == 0 or (
        parse_address(text.data, end, &row, &column) == end and row < ROWS_LIMIT and column < COLUMNS_LIMIT
    )


cdef inline bint is_true(const char *p, int64_t size) noexcept nogil:
    """An XML boolean."""
    return (size == 1 and p[0] == 49) or same(p, size, "true", 4)


cdef class SheetScanner(_Scanner):
    """One worksheet's part to columns. Feed it the part, then `finish`.

    With `store` False nothing is kept but the extent of what the sheet holds.
    """

    cdef Columns cells
    cdef Formulas found
    cdef SharedStrings shared
    cdef int32_t *shared_codes       # shared string -> code in this sheet's pool, -1 until it is met
    cdef const uint16_t[::1] style_formats
    cdef const uint8_t[::1] style_dates
    cdef const int8_t[::1] rich_errors  # by `vm`, less one
    cdef int64_t styles
    cdef bint in_data
    cdef int64_t row                 # the last cell's place
    cdef int32_t column
    cdef int64_t merged_count
    cdef list merged
    cdef dict arrays
    cdef set dynamic
    cdef list hidden
    cdef bint filters
    cdef object iso_serial
    cdef bint date_1904
    cdef object declared

    def __cinit__(self, *args, **keywords):
        if not columns_open(&self.cells) or not formulas_open(&self.found, self.pool.seed):
            raise MemoryError

    def __init__(
        self, part, *, shared, style_formats, style_dates, rich_errors, slots_max, slots_used, date_1904, iso_serial, store
    ):
        self.part = part
        self.shared = shared
        self.style_formats = style_formats
        self.style_dates = style_dates
        self.rich_errors = rich_errors
        self.styles = min(len(style_formats), len(style_dates))
        self.cells.store = store
        self.slots_max = slots_max
        self.cells.slots_limit = slots_max - slots_used
        self.date_1904 = date_1904
        self.iso_serial = iso_serial
        self.row = -1
        self.column = -1
        self.merged = []
        self.arrays = {}
        self.dynamic = set()
        self.hidden = []
        self.declared = None
        if store and shared is not None and self.shared.count:
            self.shared_codes = <int32_t *> malloc(self.shared.count * sizeof(int32_t))
            if self.shared_codes == NULL:
                raise MemoryError
            memset(self.shared_codes, 0xFF, self.shared.count * sizeof(int32_t))

    def __dealloc__(self):
        columns_close(&self.cells)
        formulas_close(&self.found)
        free(self.shared_codes)

    # ------------------------------------------------------------------------------------------------ the loop

    cdef int64_t scan(self, const char *p, const char *end) noexcept nogil:
        cdef const char *begin = p
        cdef const char *piece
        cdef const char *name
        cdef int64_t size
        while True:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL:
                return end - begin
            piece = p
            p += 1
            if p >= end:
                return piece - begin
            if p[0] == 99 and self.in_data and p + 1 < end and ends_name(p[1]):
                p = self.read_cell(p + 1, end)
            elif p[0] == 33 or p[0] == 63:
                p = self.odd(p, end)
            elif p[0] == 47:
                p = self.close_tag(p + 1, end)
            else:
                p = local_name(p, end, &name, &size)
                if p != NULL:
                    p = self.open_tag(p, end, name, size)
            if p == NULL:
                return piece - begin

    cdef const char *close_tag(self, const char *p, const char *end) noexcept nogil:
        cdef const char *name
        cdef int64_t size
        p = local_name(p, end, &name, &size)
        if p == NULL:
            return NULL
        p = <const char *> memchr(p, 62, end - p)
        if p == NULL:
            return NULL
        if self.depth == 2 and self.in_data and same(name, size, "sheetData", 9):
            self.in_data = False
        self.depth -= 1
        return self.fail(BAD_XML) if self.depth < 0 else p + 1

    cdef const char *open_tag(self, const char *p, const char *end, const char *name, int64_t size) noexcept nogil:
        cdef int state
        if self.in_data:
            if size == 1 and name[0] == 99:
                return self.read_cell(p, end)
            if same(name, size, "row", 3):
                return self.read_row(p, end)
        elif self.depth == 2 and same(name, size, "mergeCell", 9):
            return self.read_range(p, end, True)
        elif self.depth == 2 and same(name, size, "filterColumn", 12):
            self.filters = True
        elif self.depth == 1 and same(name, size, "dimension", 9):
            return self.read_range(p, end, False)
        state = skip_attributes(&p, end)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if self.depth == 0:
            if self.rooted or not same(name, size, "worksheet", 9):
                return self.fail(WRONG_ROOT)
            self.rooted = True
        elif self.depth == 1 and state == 0 and same(name, size, "sheetData", 9):
            self.in_data = True
        self.depth += state == 0
        return p

    cdef const char *read_row(self, const char *p, const char *end) noexcept nogil:
        cdef Attribute attribute
        cdef int state
        cdef int64_t number = -1
        cdef bint hidden = False
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if attribute.name_size == 1 and attribute.name[0] == 114:
                if not parse_index(attribute.value, attribute.value_size, &number) or number == 0:
                    return self.fail(BAD_REFERENCE)
            elif same(attribute.name, attribute.name_size, "hidden", 6):
                hidden = is_true(attribute.value, attribute.value_size)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        self.row = number - 1 if number > 0 else self.row + 1
        self.column = -1
        self.depth += state == 0
        if hidden and self.cells.store and 0 <= self.row < ROWS_LIMIT and not self.hide(self.row):
            return self.fail(NO_MEMORY)
        return p

    cdef bint hide(self, int64_t row) noexcept with gil:
        try:
            self.hidden.append(row)
        except MemoryError:
            return False
        return True

    cdef const char *read_range(self, const char *p, const char *end, bint merge) noexcept nogil:
        """A <mergeCell ref> or <dimension ref>."""
        cdef Attribute attribute
        cdef int state
        cdef const char *at
        cdef int64_t top, bottom
        cdef int32_t left, right
        cdef bint met = False, is_range
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if not same(attribute.name, attribute.name_size, "ref", 3):
                continue
            met = True
            at = parse_address(attribute.value, attribute.value + attribute.value_size, &top, &left)
            bottom, right = top, left
            if at != NULL and at < attribute.value + attribute.value_size and at[0] == 58:
                at = parse_address(at + 1, attribute.value + attribute.value_size, &bottom, &right)
            if at != attribute.value + attribute.value_size:
                met = False
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        self.depth += state == 0
        if not merge:
            if met:
                self.declare(top, left, bottom, right)
            return p
        self.merged_count += 1
        if self.merged_count > MERGED_LIMIT:
            return self.fail(MERGES)
        # What is no range merges nothing; Excel repairs such a file by leaving it out.
        is_range = met and top <= bottom < ROWS_LIMIT and left <= right < COLUMNS_LIMIT
        if is_range and self.cells.store and not self.merge(top, left, bottom, right):
            return self.fail(NO_MEMORY)
        return p

    cdef void declare(self, int64_t top, int32_t left, int64_t bottom, int32_t right) noexcept with gil:
        self.declared = (top, left, bottom, right)

    cdef bint merge(self, int64_t top, int32_t left, int64_t bottom, int32_t right) noexcept with gil:
        try:
            self.merged.append((top, left, bottom, right))
        except MemoryError:
            return False
        return True

    # ---------------------------------------------------------------------------------------------- one cell

    cdef const char *read_cell(self, const char *p, const char *end) noexcept nogil:
        """A whole <c> element, `p` behind its name. Nothing is kept before its end tag is seen, so that a cell cut by
        the chunk's end can be read again."""
        cdef Attribute attribute
        cdef int state, kind = TYPE_NUMBER
        cdef int64_t row = self.row, size, style = 0
        cdef int32_t column = self.column + 1
        cdef const char *name
        cdef Run value, formula, formula_range
        cdef bint has_value = False, has_inline = False, has_formula = False, named_value = False
        cdef int64_t group = -1
        cdef bint is_array = False
        cdef int64_t metadata = 0, value_metadata = 0
        value.data = formula.data = formula_range.data = NULL
        value.size = formula.size = formula_range.size = 0
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if same(attribute.name, attribute.name_size, "cm", 2):
                if not parse_index(attribute.value, attribute.value_size, &metadata):
                    metadata = 0
            elif same(attribute.name, attribute.name_size, "vm", 2):
                if not parse_index(attribute.value, attribute.value_size, &value_metadata):
                    value_metadata = 0
            if attribute.name_size != 1:
                continue
            if attribute.name[0] == 114:
                if parse_address(attribute.value, attribute.value + attribute.value_size, &row, &column) \
                        != attribute.value + attribute.value_size:
                    return self.fail(BAD_REFERENCE)
            elif attribute.name[0] == 115:
                if not parse_index(attribute.value, attribute.value_size, &style):
                    style = 0
            elif attribute.name[0] == 116:
                kind = cell_type(attribute.value, attribute.value_size)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        while state == 0:
            p = <const char *> memchr(p, 60, end - p)
            if p == NULL or end - p < 2:
                return NULL
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
            if p == NULL:
                return NULL
            if size == 1 and name[0] == 118:
                named_value = True
                state = skip_attributes(&p, end)
                if state == 0:
                    has_value = True
                    p = self.read_simple(p, end, &self.value_bytes, &value)
            elif size == 1 and name[0] == 102:
                p = self.read_formula(p, end, &formula, &formula_range, &group, &is_array, &has_formula)
                state = 0
            elif size == 2 and name[0] == 105 and name[1] == 115:
                state = skip_attributes(&p, end)
                if state == 0:
                    has_inline = True
                    p = self.read_rich(p, end, &value)
            else:
                p = self.skip_element(p, end)
                state = 0
            if p == NULL:
                return NULL
            if state < 0:
                return self.fail(BAD_XML) if state == -2 else NULL
            state = 0
        if has_formula and kind == TYPE_TEXT and not named_value:
            kind = TYPE_NUMBER  # its type is known and its value is not: that is no empty text
        if (has_value or has_inline or has_formula) and not self.keep(
            row, column, kind, style, value_metadata, &value, has_inline, has_formula
        ):
            return NULL
        if has_formula and self.cells.store and not self.keep_formula(
            row, column, &formula, &formula_range, group, is_array, metadata > 0
        ):
            return NULL
        self.row = row
        self.column = column
        return p

    cdef const char *read_formula(
        self, const char *p, const char *end, Run *text, Run *covers, int64_t *group, bint *is_array, bint *has
    ) noexcept nogil:
        """An <f> element, `p` behind its name. A data table counts as an array formula: TABLE(row input,column input)."""
        cdef Attribute attribute
        cdef int state
        cdef bint shared = False, table = False, two = False, by_row = False, lost = False
        cdef Run first, second
        first.data = second.data = NULL
        first.size = second.size = 0
        group[0] = -1
        while True:
            state = next_attribute(&p, end, &attribute)
            if state != 1:
                break
            if same(attribute.name, attribute.name_size, "t", 1):
                shared = same(attribute.value, attribute.value_size, "shared", 6)
                is_array[0] = same(attribute.value, attribute.value_size, "array", 5)
                table = same(attribute.value, attribute.value_size, "dataTable", 9)
            elif same(attribute.name, attribute.name_size, "si", 2):
                if not parse_index(attribute.value, attribute.value_size, group):
                    return self.fail(SHARED_FORMULAS)
            elif same(attribute.name, attribute.name_size, "ref", 3):
                covers.data = attribute.value
                covers.size = attribute.value_size
            elif same(attribute.name, attribute.name_size, "r1", 2):
                first.data, first.size = attribute.value, attribute.value_size
            elif same(attribute.name, attribute.name_size, "r2", 2):
                second.data, second.size = attribute.value, attribute.value_size
            elif same(attribute.name, attribute.name_size, "dt2D", 4):
                two = is_true(attribute.value, attribute.value_size)
            elif same(attribute.name, attribute.name_size, "dtr", 3):
                by_row = is_true(attribute.value, attribute.value_size)
            elif (same(attribute.name, attribute.name_size, "del1", 4)
                  or same(attribute.name, attribute.name_size, "del2", 4)):
                lost = lost or is_true(attribute.value, attribute.value_size)
        if state < 0:
            return self.fail(BAD_XML) if state == -2 else NULL
        if not shared:
            group[0] = -1
        if state == 0:
            p = self.read_simple(p, end, &self.formula_bytes, text)
            if p == NULL:
                return NULL
        if table:
            text.size = 0
            if not two:
                second.size = 0
                if not by_row:
                    first, second = second, first
            # Where an input cell was deleted, or is none, the values stay as they are.
            lost = lost or not (is_address(&first) and is_address(&second)) or (two and not second.size)
            if not lost and covers.size and first.size + second.size:
                if not self.table_text(&first, &second, text):
                    return self.fail(NO_MEMORY)
                is_array[0] = True
        has[0] = text.size > 0 or group[0] >= 0
        return p

    cdef bint table_text(self, Run *row_input, Run *column_input, Run *text) noexcept nogil:
        """The formula of a data table, as Excel shows it."""
        cdef Bytes *into = &self.formula_bytes
        into.size = 0
        if not (push(into, "TABLE(", 6) and push(into, row_input.data, row_input.size) and push(into, ",", 1)
                and push(into, column_input.data, column_input.size) and push(into, ")", 1)):
            return False
        text.data, text.size = into.data, into.size
        return True

    cdef bint keep(
        self, int64_t row, int32_t column, int kind, int64_t style, int64_t metadata, Run *value, bint has_inline,
        bint has_formula
    ) noexcept nogil:
        """Turn a cell's text into its kind, number and code, and store it."""
        cdef double number = 0.0
        cdef int32_t code = -1
        cdef int64_t index
        cdef uint8_t as_kind = BLANK
        cdef bint dated = False
        if has_inline:
            kind = TYPE_INLINE
        # A formatted cell that holds nothing is no cell: sheets are formatted far below their data.
        if value.size == 0 and not has_formula and kind != TYPE_TEXT and kind != TYPE_INLINE:
            return True
        if not self.cells.store:
            return self.put(row, column, BLANK, 0.0, -1, 0)
        if style >= self.styles:
            style = 0
        if style < self.styles:
            dated = self.style_dates[style]
        if kind == TYPE_NUMBER and value.size:
            if parse_number(value.data, value.size, &number):
                as_kind = NUMBER
                if number == HUGE_VAL or number == -HUGE_VAL:
                    as_kind, number = ERROR, NUM_ERROR
                elif dated and 0 <= number < SERIAL_MAX:
                    as_kind = DATE
            else:
                as_kind = TEXT
        elif kind == TYPE_SHARED and value.size:
            if not parse_index(value.data, value.size, &index):
                self.problem = BAD_STRING
                return False
            if self.shared is None or index >= self.shared.count:  # Excel's repair makes of it an empty text
                value.size = 0
                code = self.text_code(value)
            else:
                code = self.shared_code(index)
            if code < 0:
                return False
            return self.put(row, column, TEXT, 0.0, code, self.format_of(style))
        elif kind == TYPE_TEXT or kind == TYPE_INLINE:
            as_kind = TEXT
        elif kind == TYPE_BOOLEAN and value.size:
            as_kind = BOOLEAN
            number = 1.0 if (value.data[0] == 49 or value.data[0] == 116) else 0.0
        elif kind == TYPE_ERROR and value.size:
            as_kind = ERROR
            number = self.error_code(value)
            if 0 < metadata <= self.rich_errors.shape[0] and self.rich_errors[metadata - 1] >= 0:
                number = self.rich_errors[metadata - 1]
        elif kind == TYPE_ISO and value.size:
            number = self.serial_of(value)
            as_kind = DATE if number >= 0 else TEXT
        if as_kind == TEXT:
            number = 0.0
            code = self.text_code(value)
            if code < 0:
                return False
        return self.put(row, column, as_kind, number, code, self.format_of(style))

    cdef inline bint put(
        self, int64_t row, int32_t column, uint8_t kind, double number, int32_t code, uint16_t format
    ) noexcept nogil:
        self.filled += 1
        self.problem = columns_put(&self.cells, row, column, kind, number, code, format)
        return self.problem == OK

    cdef bint keep_formula(
        self, int64_t row, int32_t column, Run *text, Run *covers, int64_t group, bint is_array, bint has_metadata
    ) noexcept nogil:
        self.problem = formulas_add(&self.found, row, column, text, group)
        if self.problem == OK and is_array and text.size and covers.size and not self.note_array(covers, has_metadata):
            self.problem = NO_MEMORY
        return self.problem == OK

    cdef bint note_array(self, Run *covers, bint has_metadata) noexcept with gil:
        """Note the range that the last formula fills; a cell with metadata spills (the only use of `cm` that is known)."""
        try:
            if has_metadata:
                self.dynamic.add(self.found.count - 1)
            self.arrays[self.found.count - 1] = covers.data[: covers.size].decode("ascii", "replace")
        except MemoryError:
            return False
        return True

    cdef inline uint16_t format_of(self, int64_t style) noexcept nogil:
        return self.style_formats[style] if style < self.styles else 0

    cdef inline int32_t shared_code(self, int64_t index) noexcept nogil:
        cdef int32_t code = self.shared_codes[index]
        cdef int32_t source
        cdef Run text
        if code >= 0:
            return code
        source = self.shared.codes[index]
        text.data = self.shared.pool.data + self.shared.pool.offsets[source]
        text.size = self.shared.pool.offsets[source + 1] - self.shared.pool.offsets[source]
        code = self.code(&text)
        self.shared_codes[index] = code
        return code

    cdef double error_code(self, Run *value) noexcept with gil:
        """The code of an error's text; an error that is not in the table counts as #VALUE!."""
        try:
            return ERROR_CODE.get(value.data[: value.size].strip().decode("ascii", "replace"), ERROR_CODE["#VALUE!"])
        except MemoryError:
            return ERROR_CODE["#VALUE!"]

    cdef double serial_of(self, Run *value) noexcept with gil:
        """The serial of an ISO 8601 date or time; -1 when it is none."""
        try:
            return self.iso_serial(value.data[: value.size].decode("utf-8", "replace"), self.date_1904)
        except Exception:
            return -1.0

    # ------------------------------------------------------------------------------------------------- the end

    @property
    def extent(self):
        """(rows, columns) to the last cell that holds something."""
        return self.cells.row_stop, self.cells.column_stop

    @property
    def dimension(self):
        """What the part declares as its extent: (first row, first column, last row, last column), or None."""
        return self.declared

    @property
    def slots_used(self):
        """Slots that the columns of this sheet span, blanks counted."""
        return self.cells.slots

    def columns(self):
        """Per column None or (rows, kinds, numbers, codes, formats) of its cells, from the top; each column's own memory
        is given up."""
        return [span_arrays(&self.cells.spans[column]) for column in range(self.cells.column_stop)]

    def text(self):
        """(offsets, data) of the sheet's distinct strings."""
        return self.pool_text(&self.pool)

    def formulas(self):
        """(rows, columns, texts, origins, (offsets, data), arrays, dynamic, ordered); origin -1 marks a shared member
        whose group has no formula text anywhere."""
        text = self.pool_text(&self.found.pool)
        return *formula_arrays(&self.found), text, self.arrays, self.dynamic, bool(self.found.ordered)

    def hidden_rows(self):
        """Rows that are hidden, by hand or by a filter, in the file's order."""
        return self.hidden

    @property
    def filtered(self):
        """Whether a filter of the sheet selects rows."""
        return bool(self.filters)

    def merged_ranges(self):
        """Merged ranges as (first row, first column, last row, last column), in the file's order."""
        return self.merged
