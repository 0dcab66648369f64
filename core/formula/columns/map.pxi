# A plan over arrays that are given.

@cython.final
cdef class _Columns(Environment):
    """A sheet whose columns are arrays: what a plan and the parts that are the same in every row read."""

    cdef readonly TextPool pool
    cdef dict spans
    cdef readonly Py_ssize_t rows
    cdef set unseen  # columns of numbers that may be none of a cell: NaN, infinite
    cdef object clock

    def __init__(self, dict spans, TextPool pool, Py_ssize_t rows, set unseen, clock):
        Environment.__init__(self)
        self.clock = clock
        self.spans, self.pool, self.rows, self.unseen = spans, pool, rows, unseen
        self.indexes = {}

    @property
    def environment(self):
        return self

    def span(self, sheet, Py_ssize_t column, Py_ssize_t first, Py_ssize_t rows):
        """Rows of a column, blank past its end."""
        cdef Py_ssize_t last = min(first + rows, self.rows)
        found = self.spans.get(column) if sheet is None else None
        if found is not None and first == 0 and rows == self.rows:
            return found
        if found is not None and first + rows <= self.rows:
            return Span(found.kinds[first:last], found.numbers[first:last], found.codes[first:last])
        kinds, numbers = np.zeros(rows, np.uint8), np.zeros(rows)
        codes = np.full(rows, -1, np.int32)
        if found is not None and first < last:
            size, cut = last - first, slice(first, last)
            kinds[:size], numbers[:size], codes[:size] = found.kinds[cut], found.numbers[cut], found.codes[cut]
        return Span(kinds, numbers, codes)

    cpdef object cell(self, str sheet, Py_ssize_t row, Py_ssize_t column):
        return self.array(Reference(sheet, row, column, row, column)).at(0, 0)

    cpdef Array array(self, Reference reference):
        cdef Py_ssize_t rows = min(reference.bottom, max(self.rows - 1, reference.top)) - reference.top + 1
        self.spend(rows * reference.columns)
        spans = tuple([self.span(reference.sheet, column, reference.top, rows)
                       for column in range(reference.left, reference.right + 1)])
        return Array(rows, reference.columns, reference=reference, spans=spans, pool=self.pool)

    def moment(self):
        return Environment.moment(self) if self.clock is None else self.clock()

    def year(self, is_cell=False):
        return None if self.clock is None else Environment.year(self, is_cell)

    def used(self, sheet):
        return self.rows, max(self.spans, default=0) + 1


def no_clock():
    """The clock of a caller who has none.

    Raises:
        ContextError: always.
    """
    raise ContextError("the formula asks for the time or reads a date without a year, and no clock was given")


def map_columns(Plan plan, columns, program=None, clock=None):
    """The formula, written for row 1 and filled down, over arrays by column name: {"A": array, "B": array}.

    The arrays are of one length: numbers, booleans, strings, datetime64, objects (float, int, str, bool, None, Error,
    Date), or masked. NaN, NaT, None and what is masked are blank. `clock` gives the moment; without it a date without
    a year is a mere text.

    Returns:
        float64 where every value is a number or a date (as serial), bool where every value is one, else an object
        array of float, bool and str, errors as their text. Where there is no plan, or it turns out not to be
        columnwise, the one-value `program` runs row by row; None where there is none either.

    Raises:
        FormulaError: the program gives an array in a row, or what it raises.
        ValueError: the arrays differ in length, or a name is not a column.
    """
    cdef TextPool pool = TextPool()
    cdef dict spans = {}
    cdef set unseen = set()
    rows = {len(array) for array in columns.values()}
    if len(rows) > 1:
        raise ValueError("the columns differ in length")
    size = max(rows, default=0)
    if plan is not None and plan.is_straight and size >= <Py_ssize_t> ROWS_MIN and all(map(_is_plain, columns.values())):
        numbers = _straight(plan, {column_index(name): array for name, array in columns.items()}, size)
        if numbers is not None:
            return numbers
    kinds, codes = _all_numbers(size), _no_codes(size)
    for name, array in columns.items():
        at = column_index(name)
        if plan is not None and plan.reads_rows_only and _is_plain(array):
            unseen.add(at)
            spans[at] = Span(kinds, array, codes)
        else:
            spans[at] = _span_of_array(array, pool)
    sheet = _Columns(spans, pool, size, unseen, clock)
    try:
        span = None if plan is None else plan.run_beside(sheet, 0, 0, size, True)
    except _ToBeSeen:
        span = None
    if span is None and unseen:
        spans.update((column, _span_of_array(spans[column].numbers, pool)) for column in unseen)
        unseen.clear()
        span = plan.run_beside(sheet, 0, 0, size, True)
    if span is None and program is not None:
        span = _span_of_objects([_single_value(program, sheet, row) for row in range(size)], None, pool)
    return None if span is None else _array_of_span(span, pool)


cdef object _FLOAT64 = np.dtype(np.float64)


def _is_plain(array):
    """Whether a column's memory can be read as it stands: float64 in a row."""
    return (type(array) is np.ndarray and array.dtype == _FLOAT64 and array.ndim == 1 and array.flags.c_contiguous
            and array.flags.aligned)


cdef object _single_value(program, _Columns sheet, Py_ssize_t row):
    sheet.row = row
    value = program.run(sheet)
    if isinstance(value, Array):
        raise FormulaError("the formula gives an array where a column has one value")
    return value


cdef object _NUMBER_KINDS = np.empty(0, np.uint8)


cdef object _all_numbers(Py_ssize_t rows):
    """The kinds of a column of numbers: shared and read-only."""
    global _NUMBER_KINDS
    if len(_NUMBER_KINDS) < rows:
        _NUMBER_KINDS = np.full(rows, NUMBER, np.uint8)
        _NUMBER_KINDS.setflags(write=False)
    return _NUMBER_KINDS[:rows]


cdef Span _span_of_array(array, TextPool pool):
    mask = None if np.ma.getmask(array) is np.ma.nomask else np.ma.getmaskarray(array)
    values = np.asarray(array)
    if values.ndim != 1:
        raise ValueError("a column is an array of one dimension")
    form = values.dtype.kind
    if form in "fiu":
        return _span_of_numbers(np.ascontiguousarray(values, np.float64), NUMBER, mask)
    if form == "b":
        return _span_of_numbers(values.astype(np.float64), BOOLEAN, mask)
    if form == "M":
        missing = np.isnat(values)
        days = np.where(missing, 0, moments(values).astype(np.int64)) / 86_400_000_000.0 + SERIAL_OF_1970
        # The 1900 system counts a day that never was; what lies before it is one less.
        days = np.where(days < 61, days - 1, days)
        return _span_of_numbers(days, DATE, missing if mask is None else mask | missing)
    return _span_of_objects(values.tolist(), mask, pool)


cdef Span _span_of_numbers(values, uint8_t kind, mask):
    cdef const double[::1] numbers = values
    if mask is None and kind == NUMBER and len(values) and loop_finite(&numbers[0], numbers.shape[0]):
        return Span(_all_numbers(len(values)), values, _no_codes(len(values)))
    blank = np.isnan(values) if mask is None else np.isnan(values) | mask
    kinds = _all_numbers(len(values)) if kind == NUMBER else np.full(len(values), kind, np.uint8)
    if blank.any():
        kinds, values = np.where(blank, np.uint8(BLANK), kinds), np.where(blank, 0.0, values)
    infinite = np.isinf(values)
    if infinite.any():
        kinds, values = np.where(infinite, np.uint8(ERROR), kinds), np.where(infinite, float(CODE_NUM), values)
    return Span(kinds, values, _no_codes(len(values)))


cdef Span _span_of_objects(list values, mask, TextPool pool):
    cdef Py_ssize_t row
    cdef uint8_t[::1] kinds = np.zeros(len(values), np.uint8)
    cdef double[::1] numbers = np.zeros(len(values))
    cdef int32_t[::1] codes = np.full(len(values), -1, np.int32)
    for row in range(len(values)):
        value = values[row]
        if value is None or mask is not None and mask[row]:
            continue
        if not isinstance(value, (float, str, int, Error)):
            try:
                value = cell_value(value)
            except TypeError:
                raise ValueError(f"{type(value).__name__} is no value of a cell") from None
            if value is None:
                continue
            if isinstance(value, date):
                value = Date(to_serial(value))
        if value != value:
            continue
        if isinstance(value, str):
            kinds[row], codes[row] = TEXT, pool.intern(value)
        elif isinstance(value, bool):
            kinds[row], numbers[row] = BOOLEAN, value
        elif isinstance(value, Error):
            kinds[row], numbers[row] = ERROR, (<Error> value).code
        else:
            numbers[row] = value
            kinds[row] = DATE if isinstance(value, Date) else NUMBER
    return Span(kinds.base, numbers.base, codes.base)


cdef object _array_of_span(Span span, TextPool pool):
    cdef const uint8_t[::1] kinds
    cdef const double[::1] numbers
    cdef const int32_t[::1] codes
    cdef Py_ssize_t row
    if len(span.kinds) == 0 or span.kinds.base is _NUMBER_KINDS:
        return span.numbers
    kinds, numbers, codes = span.kinds, span.numbers, span.codes
    if loop_uniform(&kinds[0], kinds.shape[0]) and kinds[0] in (NUMBER, DATE, BOOLEAN):
        return span.numbers != 0 if kinds[0] == BOOLEAN else span.numbers
    if bool(np.isin(span.kinds, (NUMBER, DATE)).all()):
        return span.numbers
    found = np.empty(kinds.shape[0], object)
    for row in range(kinds.shape[0]):
        found[row] = (
            numbers[row] if kinds[row] == DATE
            else ERRORS[<int> numbers[row]] if kinds[row] == ERROR
            else cell_of(kinds[row], numbers[row], codes[row], pool))
    return found
