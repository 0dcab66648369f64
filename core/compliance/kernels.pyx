# One pass over the loans that feeds every compliance test, and the small tails that finish it.
#
# The rows are walked in blocks that stay in the first-level cache. `_weigh` first settles what each row weighs: its par
# where it performs, 0.0 where it is defaulted or blank. Every other function then adds the block up for one family of
# tests, reading only its own columns; a family whose columns are absent is left out. What varies by a category of few
# values (rating, lien, flags) is added up in a small table by category, and the tests read the table.
#
# A number that is not finite is blank. A column that is absent is a NULL pointer.

import numpy as np

from libc.math cimport NAN, fabs, floor, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc

cdef extern from *:
    """
    #define PREFETCH(address) __builtin_prefetch((address), 1, 1)
    #define LARGEST 1.7976931348623157e308

    /* Sums in four lanes: one lane waits four cycles for each addition before the next. The lanes are fixed, so that a
       sum does not depend on the width of the machine's vectors. */
    typedef double lanes __attribute__((vector_size(32), aligned(8)));
    typedef int64_t masks __attribute__((vector_size(32), aligned(8)));

    static inline lanes where(masks mask, lanes value) { return (lanes)(mask & (masks)value); }
    static inline masks given(lanes value) { return (value <= LARGEST) & (value >= -LARGEST); }
    static inline double total(lanes sum) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

    /* Weight of the rows whose value is given, and the sum of weight x value over them. `rows` is a multiple of 4. */
    static void add_products(const double* weight, const double* value, Py_ssize_t rows, double* par, double* sum) {
        lanes known = {0}, product = {0};
        for (Py_ssize_t i = 0; i < rows; i += 4) {
            lanes w = *(const lanes*)(weight + i), v = *(const lanes*)(value + i);
            masks mask = given(v);
            w = where(mask, w);
            known += w;
            product += w * where(mask, v);
        }
        *par += total(known);
        *sum += total(product);
    }

    /* Weight of the rows whose value is given, and of those whose value is below the row's line. */
    static void add_below(
        const double* weight, const double* value, const double* line, Py_ssize_t rows, double* par, double* below
    ) {
        lanes known = {0}, under = {0};
        for (Py_ssize_t i = 0; i < rows; i += 4) {
            lanes v = *(const lanes*)(value + i), w = where(given(v), *(const lanes*)(weight + i));
            known += w;
            under += where(v < *(const lanes*)(line + i), w);
        }
        *par += total(known);
        *below += total(under);
    }
    """
    void PREFETCH(const void* address) noexcept nogil
    void add_products(const double* weight, const double* value, Py_ssize_t rows, double* par, double* sum) noexcept nogil
    void add_below(
        const double* weight, const double* value, const double* line, Py_ssize_t rows, double* par, double* below
    ) noexcept nogil

cdef enum:
    BLOCK = 1024
    LOOKAHEAD = 128  # rows between the prefetch of an obligor's sum and its use; 16 to 64 measured alike, none 2x slower
    TOP = 10
    LIENS = 8
    # Rating ranks, domain page 1.5.
    CCC_RANK = 17
    DEFAULTED_RANK = 22
    # The bits of a row's flags, in the order of FLAGS.
    COV_LITE = 1
    FIXED = 2
    DIP = 4
    CURRENT_PAY = 8
    DEFERRING = 16
    LONG_DATED = 32
    PARTICIPATION = 64

cdef double LARGEST = 1.7976931348623157e308
cdef double DAYS_A_YEAR = 365.25
cdef double DEFAULTED_DAYS = 90.0  # past due for so long is defaulted
cdef double PAST_DUE_DAYS = 30.0
cdef double WORTHLESS_YEARS = 3.0  # a default older than that is carried at nothing
cdef double DIP_RECOVERY = 50.0
cdef double SMALL_US = 150e6
cdef double SMALL_ELSEWHERE = 250e6
cdef double UNQUOTED_CCC_PRICE = 70.0

FLAGS = ("cov_lite", "is_fixed", "is_dip", "is_current_pay", "is_pik", "is_long_dated", "participation")
BUCKETS = ("rating_agency_a", "rating_agency_b", "rating_agency_c")

# What a column without a source reads as: blank ranks and flags.
cdef uint8_t NOTHING[BLOCK]


cdef struct Columns:
    const double* par
    const double* price
    const double* purchase_price
    const double* spread
    const double* floor_rate
    const double* base_rate
    const double* all_in_rate
    const double* recovery
    const double* maturity
    const double* average_life
    const double* scheduled_life
    const double* default_date
    const double* days_past_due
    const double* facility_size
    const double* quote_depth
    const int32_t* obligor
    const int32_t* industry
    const int32_t* country
    const uint8_t* lien
    const uint8_t* defaulted
    const uint8_t* rank[4]  # agencies A, B, C, then the deal's own
    const uint8_t* flag[7]
    const double* recovery_by_lien
    int32_t obligors
    int32_t industries
    int32_t countries
    int32_t home
    double as_of
    double deal_base_rate


cdef struct Block:
    Py_ssize_t start
    Py_ssize_t rows
    double weight[BLOCK]
    uint8_t is_default[BLOCK]
    uint8_t flags[BLOCK]
    uint16_t cell[BLOCK]


cdef inline bint _given(double number) noexcept nogil:
    """Whether a number is there and finite."""
    return fabs(number) <= LARGEST


cdef inline double _carried(double price, double recovery, double asset_recovery) noexcept nogil:
    """Percent of par at which a defaulted or deferring loan is carried: the lesser of price and recovery, where one is
    missing the other, where both are the recovery of its kind; never below nothing or above par."""
    cdef double value
    if _given(price):
        value = recovery if _given(recovery) and recovery < price else price
    else:
        value = recovery if _given(recovery) else asset_recovery
    return min(max(value, 0.0), 100.0)


cdef class Tally:
    """The sums of one pass; par and money in the deal's currency. Made by `tally`."""

    cdef readonly Py_ssize_t row_count, performing_rows, defaulted_rows, blank_rows, negative_rows, past_maturity
    cdef readonly double par, defaulted_par, defaulted_carried
    cdef readonly object obligors  # float64 (obligors, 2): par, and 1 + its industry's code (0 none, below 0 several)
    cdef readonly double obligor_blank
    cdef readonly object industry_par  # float64, the last for blank
    cdef readonly tuple par_by_rank  # 23 sums, by the rank that gives the rating factor
    cdef readonly tuple par_by_bucket  # 4 sums: the CCC buckets of A, B, C; par whose rank is another agency's than A's
    cdef readonly object par_by_lien  # float64 (8,)
    cdef readonly tuple par_by_flag  # 7 sums
    cdef readonly double recovery_sum, recovery_given
    cdef readonly double priced_par, price_sum, par_below_80, par_below_90
    cdef readonly double discount_par, discount_haircut, deferring_haircut
    cdef readonly double coupon_par, coupon_sum, spread_par, spread_sum, contractual_sum
    cdef readonly double interest_par, interest_sum
    cdef readonly double life_par, life_sum
    cdef readonly double foreign_par, country_par, small_par, sized_par, quoted_par, depth_par
    cdef readonly double past_due_par, aged_par
    cdef readonly Py_ssize_t candidate_count
    cdef object _candidates  # int32: rows of any CCC bucket
    cdef object _candidate_bits  # uint8
    cdef int32_t* _candidate_rows
    cdef uint8_t* _candidate_mask
    cdef double[:, ::1] _obligor_table
    cdef double[::1] _industry_table
    cdef double[::1] _lien_table
    cdef double _rating_table[256][16]  # by rank and the bits of `_add_ratings`
    cdef double _flag_table[128]  # by the bits of FLAGS
    cdef Py_ssize_t _conflicts
    cdef list _held  # what keeps the columns' memory alive
    cdef Columns _columns

    def __init__(self):
        raise TypeError("a Tally is made by core.compliance.kernels.tally")


cdef class _Source:
    """Takes columns out of a portfolio's dicts, checked, as pointers."""

    cdef Py_ssize_t rows
    cdef list held

    cdef const double* numbers(self, dict columns, str name) except? NULL:
        column = columns.get(name)
        if column is None:
            return NULL
        cdef const double[::1] view = column
        self._check(view.shape[0], name)
        self.held.append(column)
        return &view[0]

    cdef const uint8_t* bytes(self, object column, str name) except? NULL:
        if column is None:
            return NULL
        cdef const uint8_t[::1] view = column
        self._check(view.shape[0], name)
        self.held.append(column)
        return &view[0]

    cdef const int32_t* codes(self, object column, str name) except? NULL:
        if column is None:
            return NULL
        cdef const int32_t[::1] view = column
        self._check(view.shape[0], name)
        self.held.append(column)
        return &view[0]

    cdef int _check(self, Py_ssize_t length, str name) except -1:
        if length != self.rows:
            raise ValueError(f"column {name} has {length} rows instead of {self.rows}")
        return 0


def tally(
    Py_ssize_t row_count, dict numbers not None, dict names not None, dict flags not None, dict ranks not None, lien,
    const double[::1] recovery_by_lien not None, *, double as_of, double base_rate, int32_t home, scheduled_life=None,
):
    if row_count < 1:
        raise ValueError("a tally needs at least one row")
    if recovery_by_lien.shape[0] != LIENS:
        raise ValueError("recovery_by_lien has 8 entries")
    cdef Tally self = Tally.__new__(Tally)
    cdef _Source source = _Source.__new__(_Source)
    cdef Columns* columns = &self._columns
    cdef int at
    source.rows = self.row_count = row_count
    source.held = self._held = [recovery_by_lien]
    columns.par = source.numbers(numbers, "par_value")
    if columns.par == NULL:
        raise ValueError("a tally needs par_value")
    columns.price = source.numbers(numbers, "price")
    columns.purchase_price = source.numbers(numbers, "purchase_price")
    columns.spread = source.numbers(numbers, "spread")
    columns.floor_rate = source.numbers(numbers, "floor")
    columns.base_rate = source.numbers(numbers, "base_rate_level")
    columns.all_in_rate = source.numbers(numbers, "all_in_rate")
    columns.recovery = source.numbers(numbers, "recovery_rate")
    columns.maturity = source.numbers(numbers, "maturity_date")
    columns.average_life = source.numbers(numbers, "average_life")
    columns.default_date = source.numbers(numbers, "default_date")
    columns.days_past_due = source.numbers(numbers, "days_past_due")
    columns.facility_size = source.numbers(numbers, "facility_size")
    columns.quote_depth = source.numbers(numbers, "quote_depth")
    columns.scheduled_life = NULL
    if scheduled_life is not None:
        columns.scheduled_life = source.numbers({"scheduled_life": scheduled_life}, "scheduled_life")
    columns.obligor = _names(source, names, "obligor", &columns.obligors)
    columns.industry = _names(source, names, "industry", &columns.industries)
    columns.country = _names(source, names, "country", &columns.countries)
    columns.lien = source.bytes(lien, "lien")
    columns.defaulted = source.bytes(flags.get("is_defaulted"), "is_defaulted")
    for at, name in enumerate((*BUCKETS, "rating")):
        columns.rank[at] = source.bytes(ranks.get(name), name)
    for at, name in enumerate(FLAGS):
        columns.flag[at] = source.bytes(flags.get(name), name)
    columns.recovery_by_lien = &recovery_by_lien[0]
    columns.home = home
    columns.as_of = as_of
    columns.deal_base_rate = base_rate
    _make_room(self)
    cdef bint in_range
    with nogil:
        in_range = _walk(self, columns)
    if not in_range:
        raise ValueError("a name's code is not below the number of names")
    _read_tables(self)
    if self._conflicts:
        _settle_industries(self)
    return self


cdef const int32_t* _names(_Source source, dict names, str name, int32_t* count) except? NULL:
    column = names.get(name)
    if column is None:
        count[0] = 0
        return NULL
    count[0] = len(column.values)
    return source.codes(column.codes, name)


cdef int _make_room(Tally self) except -1:
    self.obligors = np.zeros((self._columns.obligors, 2))
    self.industry_par = np.zeros(self._columns.industries + 1)
    self.par_by_lien = np.zeros(LIENS)
    self._obligor_table, self._industry_table, self._lien_table = self.obligors, self.industry_par, self.par_by_lien
    self._candidates = np.empty(self.row_count, np.int32)
    self._candidate_bits = np.empty(self.row_count, np.uint8)
    cdef int32_t[::1] rows = self._candidates
    cdef uint8_t[::1] mask = self._candidate_bits
    self._candidate_rows, self._candidate_mask = &rows[0], &mask[0]
    return 0


cdef int _read_tables(Tally self) except -1:
    """The margins of the two tables by category."""
    cdef double ranks[DEFAULTED_RANK + 1]
    cdef double bucket[4]
    cdef double flag[7]
    cdef int rank, bits, at
    ranks[:] = [0.0] * 23
    bucket[:] = [0.0] * 4
    flag[:] = [0.0] * 7
    for rank in range(256):
        for bits in range(16):
            if self._rating_table[rank][bits] != 0.0:
                if rank > DEFAULTED_RANK:
                    raise ValueError("a rating rank is above 22")
                ranks[rank] += self._rating_table[rank][bits]
                for at in range(4):
                    if bits >> at & 1:
                        bucket[at] += self._rating_table[rank][bits]
    for bits in range(128):
        for at in range(7):
            if bits >> at & 1:
                flag[at] += self._flag_table[bits]
    self.par_by_rank = tuple(ranks)
    self.par_by_bucket = tuple(bucket)
    self.par_by_flag = tuple(flag)
    return 0


cdef bint _walk(Tally self, const Columns* columns) noexcept nogil:
    """The pass over all rows; False when a code is out of range."""
    cdef Block block
    block.start = 0
    while block.start < self.row_count:
        block.rows = min(<Py_ssize_t>BLOCK, self.row_count - block.start)
        _mark(&block, columns)
        _weigh(self, &block, columns)
        if columns.obligor != NULL and not _add_obligors(self, &block, columns):
            return False
        if columns.industry != NULL and not _add_industries(self, &block, columns):
            return False
        _add_ratings(self, &block, columns)
        _add_categories(self, &block, columns)
        if columns.price != NULL:
            _add_prices(self, &block, columns)
        _add_carrying(self, &block, columns)
        _add_recoveries(self, &block, columns)
        _add_income(self, &block, columns)
        _add_life(self, &block, columns)
        _add_liquidity(self, &block, columns)
        block.start += block.rows
    return True


cdef void _mark(Block* block, const Columns* columns) noexcept nogil:
    """The flags of each row as bits, and whether it is defaulted (domain page 1.4, items 4 and 5)."""
    cdef Py_ssize_t i, start = block.start, rows = block.rows
    cdef uint8_t* bad = block.is_default
    cdef uint8_t* bits = block.flags
    cdef const uint8_t* byte
    cdef const double* number
    cdef int at
    cdef double as_of = columns.as_of
    for i in range(rows):
        bits[i] = 0
        bad[i] = 0
    for at in range(7):
        if columns.flag[at] != NULL:
            byte = columns.flag[at] + start
            for i in range(rows):
                bits[i] |= <uint8_t>((byte[i] != 0) << at)
    if columns.defaulted != NULL:
        byte = columns.defaulted + start
        for i in range(rows):
            bad[i] |= byte[i] != 0
    for at in range(1, 4):  # the scale of agency A has no rank for a default
        if columns.rank[at] != NULL:
            byte = columns.rank[at] + start
            for i in range(rows):
                bad[i] |= byte[i] == DEFAULTED_RANK
    if columns.days_past_due != NULL:
        number = columns.days_past_due + start
        for i in range(rows):
            bad[i] |= (number[i] >= DEFAULTED_DAYS) & (number[i] <= LARGEST)
    if columns.default_date != NULL:
        number = columns.default_date + start
        for i in range(rows):
            # Without a day to compare with (NaN), a default date is one that has come.
            bad[i] |= (fabs(number[i]) <= LARGEST) & (not number[i] > as_of)
    if columns.flag[3] != NULL:
        for i in range(rows):
            bad[i] &= (bits[i] & CURRENT_PAY) == 0


cdef void _weigh(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """What each row weighs: its par where it performs, else 0.0. Defaulted rows are finished here."""
    cdef Py_ssize_t i, row, blank = 0, negative = 0, bad = 0
    cdef const double* par = columns.par + block.start
    cdef double weight, total = 0.0
    for i in range(block.rows):
        weight = par[i] if fabs(par[i]) <= LARGEST else 0.0
        blank += not fabs(par[i]) <= LARGEST
        negative += weight < 0.0
        bad += block.is_default[i]
        weight = 0.0 if block.is_default[i] else weight
        block.weight[i] = weight
        total += weight
    self.par += total
    self.blank_rows += blank
    self.negative_rows += negative
    self.performing_rows += block.rows - blank - bad
    if bad:
        for i in range(block.rows):
            if block.is_default[i]:
                _add_default(self, block.start + i, columns, block.flags[i])


cdef void _add_default(Tally self, Py_ssize_t row, const Columns* columns, uint8_t flags) noexcept nogil:
    cdef double par = columns.par[row]
    cdef double dated = columns.default_date[row] if columns.default_date != NULL else NAN
    if not _given(par):
        self.performing_rows += 1  # taken off twice: as blank and as defaulted
        return
    self.defaulted_rows += 1
    self.defaulted_par += par
    if _given(dated) and (columns.as_of - dated) / DAYS_A_YEAR > WORTHLESS_YEARS:
        return
    self.defaulted_carried += par * _carrying(row, columns, flags) / 100.0


cdef double _carrying(Py_ssize_t row, const Columns* columns, uint8_t flags) noexcept nogil:
    """Percent of par of a defaulted or deferring row."""
    return _carried(
        columns.price[row] if columns.price != NULL else NAN,
        columns.recovery[row] if columns.recovery != NULL else NAN,
        DIP_RECOVERY if flags & DIP else columns.recovery_by_lien[columns.lien[row] & (LIENS - 1) if columns.lien != NULL else 0],
    )


cdef bint _add_obligors(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Par by obligor, and the one industry of each, or that there are several."""
    cdef const int32_t* code = columns.obligor + block.start
    cdef const int32_t* industry = columns.industry + block.start if columns.industry != NULL else NULL
    cdef double* table = &self._obligor_table[0, 0] if columns.obligors else NULL
    cdef double* entry
    cdef double weight, own, blank = 0.0
    cdef Py_ssize_t i, left = self.row_count - block.start
    cdef int32_t name, ahead
    for i in range(block.rows):
        if i + LOOKAHEAD < left:
            ahead = code[i + LOOKAHEAD]
            if 0 <= ahead < columns.obligors:
                PREFETCH(table + 2 * ahead)
        name = code[i]
        weight = block.weight[i]
        if name < 0:
            blank += weight
            continue
        if name >= columns.obligors:
            return False
        entry = table + 2 * <Py_ssize_t>name
        entry[0] += weight
        if weight > 0.0 and industry != NULL:
            own = (industry[i] if industry[i] >= 0 else columns.industries) + 1
            if entry[1] == 0.0:
                entry[1] = own
            elif entry[1] != own:
                self._conflicts += 1
                entry[1] = -1.0
    self.obligor_blank += blank
    return True


cdef bint _add_industries(Tally self, Block* block, const Columns* columns) noexcept nogil:
    cdef const int32_t* code = columns.industry + block.start
    cdef double* table = &self._industry_table[0]
    cdef Py_ssize_t i
    cdef int32_t name
    for i in range(block.rows):
        name = code[i] if code[i] >= 0 else columns.industries
        if name > columns.industries or (code[i] >= 0 and name == columns.industries):
            return False
        table[name] += block.weight[i]
    return True


cdef void _add_ratings(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Par by (rank that gives the rating factor, derived from another agency, CCC buckets); domain page 1.5.

    The rank is A's, else B's, else C's, else the deal's own. Bits 0 to 2 say that the row is in the bucket of A, B, C;
    a row that no agency rates is in all of them, unless the deal's own rating is better. Bit 3: rank is B's or C's.
    """
    cdef const uint8_t* a = columns.rank[0] + block.start if columns.rank[0] != NULL else NOTHING
    cdef const uint8_t* b = columns.rank[1] + block.start if columns.rank[1] != NULL else NOTHING
    cdef const uint8_t* c = columns.rank[2] + block.start if columns.rank[2] != NULL else NOTHING
    cdef const uint8_t* own = columns.rank[3] + block.start if columns.rank[3] != NULL else NOTHING
    cdef uint16_t* cell = block.cell
    cdef double* table = &self._rating_table[0][0]
    cdef Py_ssize_t i, count = self.candidate_count
    cdef uint8_t rank, agencies, bits, low
    for i in range(block.rows):
        agencies = a[i] | b[i] | c[i]
        rank = a[i] if a[i] else (b[i] if b[i] else (c[i] if c[i] else own[i]))
        low = (own[i] == 0) | (own[i] >= CCC_RANK)
        bits = (a[i] >= CCC_RANK) | ((b[i] >= CCC_RANK) << 1) | ((c[i] >= CCC_RANK) << 2)
        bits = bits if agencies else (7 if low else 0)
        bits |= ((a[i] == 0) & (agencies != 0)) << 3
        cell[i] = <uint16_t>((rank << 4) | bits)
    for i in range(block.rows):
        table[cell[i]] += block.weight[i]
    for i in range(block.rows):
        if cell[i] & 7 and block.weight[i] > 0.0:
            self._candidate_rows[count] = <int32_t>(block.start + i)
            self._candidate_mask[count] = cell[i] & 7
            count += 1
    self.candidate_count = count


cdef void _add_categories(Tally self, Block* block, const Columns* columns) noexcept nogil:
    cdef double* by_flags = &self._flag_table[0]
    cdef double* by_lien = &self._lien_table[0]
    cdef const uint8_t* lien
    cdef Py_ssize_t i
    for i in range(block.rows):
        by_flags[block.flags[i]] += block.weight[i]
    if columns.lien != NULL:
        lien = columns.lien + block.start
        for i in range(block.rows):
            by_lien[lien[i] & (LIENS - 1)] += block.weight[i]


cdef void _add_prices(Tally self, Block* block, const Columns* columns) noexcept nogil:
    cdef const double* price = columns.price + block.start
    cdef double weight, priced = 0.0, total = 0.0, below_80 = 0.0, below_90 = 0.0
    cdef Py_ssize_t i
    for i in range(block.rows):
        weight = block.weight[i] if fabs(price[i]) <= LARGEST else 0.0
        priced += weight
        total += weight * price[i] if fabs(price[i]) <= LARGEST else 0.0
        below_80 += weight if price[i] < 80.0 else 0.0
        below_90 += weight if price[i] < 90.0 else 0.0
    self.priced_par += priced
    self.price_sum += total
    self.par_below_80 += below_80
    self.par_below_90 += below_90


cdef inline bint _is_discount(Py_ssize_t row, const Columns* columns, uint8_t flags) noexcept nogil:
    """Bought below 80 (fixed 75) and not marked at 90 (85) or above since; domain page 1.6."""
    cdef double bought
    if columns.purchase_price == NULL:
        return False
    bought = columns.purchase_price[row]
    if not (0.0 <= bought < (75.0 if flags & FIXED else 80.0)):
        return False
    return columns.price == NULL or not (LARGEST >= columns.price[row] >= (85.0 if flags & FIXED else 90.0))


cdef double _value(Py_ssize_t row, const Columns* columns, uint8_t flags, bint* is_discount) noexcept nogil:
    """Percent of par at which a performing row is carried before the CCC rule: the lowest of what applies to it."""
    cdef double value = 100.0, deferring
    is_discount[0] = _is_discount(row, columns, flags)
    if is_discount[0]:
        value = columns.purchase_price[row]
    if flags & DEFERRING:
        deferring = _carrying(row, columns, flags)
        if deferring < value:
            value = deferring
            is_discount[0] = False
    return value


cdef void _add_carrying(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Haircuts of discount obligations and of deferring loans; a row that is both counts once, at the lower value."""
    cdef const double* bought = columns.purchase_price + block.start if columns.purchase_price != NULL else NULL
    cdef Py_ssize_t i
    cdef double haircut
    cdef bint is_discount
    if bought == NULL and columns.flag[4] == NULL:
        return
    for i in range(block.rows):
        if (bought != NULL and bought[i] < 80.0) or block.flags[i] & DEFERRING:  # few rows
            if block.weight[i] == 0.0:
                continue
            haircut = block.weight[i] * (1.0 - _value(block.start + i, columns, block.flags[i], &is_discount) / 100.0)
            if is_discount:
                self.discount_par += block.weight[i]
                self.discount_haircut += haircut
            else:
                self.deferring_haircut += haircut


cdef void _add_recoveries(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Recovery of each row: its own, else that of its kind."""
    cdef const double* recovery = columns.recovery + block.start if columns.recovery != NULL else NULL
    cdef const uint8_t* lien = columns.lien + block.start if columns.lien != NULL else NOTHING
    cdef const double* by_lien = columns.recovery_by_lien
    cdef double kind, weight, total = 0.0, given = 0.0
    cdef Py_ssize_t i
    for i in range(block.rows):
        weight = block.weight[i]
        kind = DIP_RECOVERY if block.flags[i] & DIP else by_lien[lien[i] & (LIENS - 1)]
        if recovery != NULL and fabs(recovery[i]) <= LARGEST:
            kind = recovery[i]
            given += weight
        total += weight * kind
    self.recovery_sum += total
    self.recovery_given += given


cdef void _add_income(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Spread with floor credit of floating rows, coupon of fixed ones, and a year's interest of all; domain page 1.8."""
    cdef Py_ssize_t i, start = block.start
    cdef double weight, spread, floor_rate, base, coupon, rate, effective, contractual
    cdef double coupon_par = 0.0, coupon_sum = 0.0, spread_par = 0.0, spread_sum = 0.0, contractual_sum = 0.0
    cdef double interest_par = 0.0, interest_sum = 0.0
    if columns.spread == NULL and columns.all_in_rate == NULL:
        return
    for i in range(block.rows):
        weight = block.weight[i]
        spread = columns.spread[start + i] if columns.spread != NULL else NAN
        floor_rate = columns.floor_rate[start + i] if columns.floor_rate != NULL else NAN
        base = columns.base_rate[start + i] if columns.base_rate != NULL else NAN
        coupon = columns.all_in_rate[start + i] if columns.all_in_rate != NULL else NAN
        if not fabs(base) <= LARGEST:
            base = columns.deal_base_rate
        if not fabs(floor_rate) <= LARGEST:
            floor_rate = base
        # What the index earns: the greater of base and floor; a missing one leaves the other.
        rate = base if base >= floor_rate else floor_rate
        if fabs(coupon) <= LARGEST:
            interest_par += weight
            interest_sum += 0.0 if block.flags[i] & DEFERRING else weight * coupon
        elif fabs(spread) <= LARGEST and fabs(rate) <= LARGEST:
            interest_par += weight
            interest_sum += 0.0 if block.flags[i] & DEFERRING else weight * (rate + spread / 100.0)
        if block.flags[i] & FIXED:
            if fabs(coupon) <= LARGEST:
                coupon_par += weight
                coupon_sum += weight * coupon
            continue
        if fabs(spread) <= LARGEST:
            contractual = spread
            effective = spread + ((floor_rate - base) * 100.0 if floor_rate > base else 0.0)
        else:
            # A coupon less its index has the floor's credit in it already.
            contractual = effective = (coupon - base) * 100.0
        if fabs(effective) <= LARGEST:
            spread_par += weight
            spread_sum += weight * effective
            contractual_sum += weight * contractual
    self.coupon_par += coupon_par
    self.coupon_sum += coupon_sum
    self.spread_par += spread_par
    self.spread_sum += spread_sum
    self.contractual_sum += contractual_sum
    self.interest_par += interest_par
    self.interest_sum += interest_sum


cdef void _add_life(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Years of each row: its average life, else that of its schedule, else until its maturity; domain page 1.8."""
    cdef const double* average = columns.average_life + block.start if columns.average_life != NULL else NULL
    cdef const double* scheduled = columns.scheduled_life + block.start if columns.scheduled_life != NULL else NULL
    cdef const double* maturity = columns.maturity + block.start if columns.maturity != NULL else NULL
    cdef double years, bullet, total = 0.0, par = 0.0
    cdef Py_ssize_t i, matured = 0
    if average == NULL and scheduled == NULL and maturity == NULL:
        return
    for i in range(block.rows):
        bullet = maturity[i] - columns.as_of if maturity != NULL else NAN
        matured += (bullet < 0.0) & (bullet >= -LARGEST) & (block.weight[i] != 0.0)
        years = bullet / DAYS_A_YEAR
        if scheduled != NULL and fabs(scheduled[i]) <= LARGEST:
            years = scheduled[i]
        if average != NULL and fabs(average[i]) <= LARGEST:
            years = average[i]
        if fabs(years) <= LARGEST:
            par += block.weight[i]
            total += block.weight[i] * (years if years > 0.0 else 0.0)
    self.life_par += par
    self.life_sum += total
    self.past_maturity += matured


cdef void _add_liquidity(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Country, facility size, quotes and days past due."""
    cdef const int32_t* country = columns.country + block.start if columns.country != NULL else NULL
    cdef const double* number
    cdef double weight, first = 0.0, second = 0.0
    cdef Py_ssize_t i
    cdef int32_t home = columns.home
    if country != NULL:
        for i in range(block.rows):
            weight = block.weight[i]
            first += weight if country[i] >= 0 else 0.0
            second += weight if (country[i] >= 0) & (country[i] != home) else 0.0
        self.country_par += first
        self.foreign_par += second
    if country != NULL and columns.facility_size != NULL:
        number = columns.facility_size + block.start
        first = second = 0.0
        for i in range(block.rows):
            weight = block.weight[i] if fabs(number[i]) <= LARGEST else 0.0
            first += weight
            second += weight if number[i] < (
                SMALL_ELSEWHERE if (country[i] >= 0) & (country[i] != home) else SMALL_US
            ) else 0.0
        self.sized_par += first
        self.small_par += second
    if columns.quote_depth != NULL:
        number = columns.quote_depth + block.start
        first = second = 0.0
        for i in range(block.rows):
            weight = block.weight[i] if fabs(number[i]) <= LARGEST else 0.0
            first += weight
            second += weight if number[i] >= 2.0 else 0.0
        self.depth_par += first
        self.quoted_par += second
    if columns.days_past_due != NULL:
        number = columns.days_past_due + block.start
        first = second = 0.0
        for i in range(block.rows):
            weight = block.weight[i] if fabs(number[i]) <= LARGEST else 0.0
            first += weight
            second += weight if number[i] > PAST_DUE_DAYS else 0.0
        self.aged_par += first
        self.past_due_par += second


def _settle_industries(Tally self not None):
    """Give each obligor with facilities in several industries that of its largest one; a tie goes to the smaller code,
    which is the industry that the source names first, a blank last."""
    cdef double[:, ::1] table = self.obligors
    cdef Py_ssize_t name, row, several = 0
    for name in range(table.shape[0]):
        if table[name, 1] < 0.0:
            several += 1
            table[name, 1] = -several
    cdef double[::1] largest = np.zeros(several)
    cdef double[::1] owner = np.zeros(several)
    cdef Columns* columns = &self._columns
    cdef Block block
    cdef double par, own
    cdef Py_ssize_t at, i
    with nogil:
        block.start = 0
        while block.start < self.row_count:
            block.rows = min(<Py_ssize_t>BLOCK, self.row_count - block.start)
            _mark(&block, columns)
            for i in range(block.rows):
                row = block.start + i
                par = columns.par[row]
                if columns.obligor[row] < 0 or block.is_default[i] or not (0.0 < par <= LARGEST):
                    continue
                at = <Py_ssize_t>(-table[columns.obligor[row], 1]) - 1
                if at < 0:
                    continue
                own = (columns.industry[row] if columns.industry[row] >= 0 else columns.industries) + 1
                if par > largest[at] or (par == largest[at] and own < owner[at]):
                    largest[at] = par
                    owner[at] = own
            block.start += block.rows
    for name in range(table.shape[0]):
        if table[name, 1] < 0.0:
            table[name, 1] = owner[<Py_ssize_t>(-table[name, 1]) - 1]


def top_obligors(Tally tallied not None):
    """Count of obligors with par, and the codes and par of the ten largest, largest first."""
    cdef const double[:, ::1] table = tallied.obligors
    cdef double best[TOP]
    cdef Py_ssize_t code[TOP]
    cdef Py_ssize_t name, at, kept = 0, count = 0
    cdef double par, least = 0.0
    with nogil:
        for name in range(table.shape[0]):
            par = table[name, 0]
            if not par > 0.0:
                continue
            count += 1
            if par <= least:
                continue
            at = kept if kept < TOP else TOP - 1
            while at > 0 and best[at - 1] < par:
                best[at] = best[at - 1]
                code[at] = code[at - 1]
                at -= 1
            best[at] = par
            code[at] = name
            if kept < TOP:
                kept += 1
            if kept == TOP:
                least = best[TOP - 1]
    return count, [code[at] for at in range(kept)], [best[at] for at in range(kept)]


def diversity(Tally tallied not None, double average_par, const double[::1] scores not None):
    """Score and equivalent units by industry (the last for blank); `scores` is the 201-row table of domain page 1.7."""
    if scores.shape[0] != 201:
        raise ValueError("the diversity table has 201 rows")
    if not average_par > 0.0:
        raise ValueError("the average par of an obligor must be positive")
    cdef const double[:, ::1] table = tallied.obligors
    units_array = np.zeros(tallied._columns.industries + 1)
    cdef double[::1] units = units_array
    cdef Py_ssize_t name, step
    cdef double par, score = 0.0
    with nogil:
        for name in range(table.shape[0]):
            par = table[name, 0]
            if par > 0.0:
                units[<Py_ssize_t>table[name, 1] - 1] += 1.0 if par >= average_par else par / average_par
        for name in range(units.shape[0]):
            # The lower of the two neighbours in steps of 0.1 that start at 0.05; the tolerance lets a sum that is
            # exactly a step, but for its rounding, reach it.
            step = <Py_ssize_t>floor((min(units[name], 20.0) + 0.05 + 1e-9) * 10.0)
            score += scores[min(max(step, 0), 200)]
    return score, units_array


def fill_excess(Tally tallied not None, int bucket, double excess, identifier):
    """Haircut of the CCC excess: the bucket's rows are taken from the lowest price up until the excess is filled, the
    last one in part, and each slice is carried at its price (70 where it has none) if that is below what the row is
    carried at already. `identifier(row)` orders rows of one price where the order matters.

    Returns (haircut, rows without a price). `excess` must not be above the par of the bucket's rows.
    """
    cdef Py_ssize_t count = tallied.candidate_count
    cdef double* price = <double*>malloc((count + 1) * sizeof(double))
    cdef int32_t* row = <int32_t*>malloc((count + 1) * sizeof(int32_t))
    if price == NULL or row == NULL:
        free(price)
        free(row)
        raise MemoryError
    cdef Py_ssize_t unpriced = 0
    try:
        with nogil:
            count = _gather(tallied, bucket, price, row, &unpriced)
        return _fill(tallied, price, row, count, excess, identifier), unpriced
    finally:
        free(price)
        free(row)


cdef Py_ssize_t _gather(Tally tallied, int bucket, double* price, int32_t* row, Py_ssize_t* unpriced) noexcept nogil:
    """The bucket's rows as a heap by price, lowest first."""
    cdef const Columns* columns = &tallied._columns
    cdef Py_ssize_t at, count = 0
    cdef double mark
    for at in range(tallied.candidate_count):
        if tallied._candidate_mask[at] >> bucket & 1:
            row[count] = tallied._candidate_rows[at]
            mark = columns.price[row[count]] if columns.price != NULL else NAN
            if not _given(mark):
                mark = UNQUOTED_CCC_PRICE
                unpriced[0] += 1
            price[count] = mark
            count += 1
    for at in range(count // 2 - 1, -1, -1):
        _sift(price, row, at, count)
    return count


cdef void _sift(double* price, int32_t* row, Py_ssize_t at, Py_ssize_t count) noexcept nogil:
    """Let the entry at `at` sink to its place in the heap."""
    cdef double mark = price[at]
    cdef int32_t own = row[at]
    cdef Py_ssize_t child = 2 * at + 1
    while child < count:
        if child + 1 < count and price[child + 1] < price[child]:
            child += 1
        if price[child] >= mark:
            break
        price[at] = price[child]
        row[at] = row[child]
        at = child
        child = 2 * at + 1
    price[at] = mark
    row[at] = own


cdef uint8_t _row_flags(Py_ssize_t row, const Columns* columns) noexcept nogil:
    cdef uint8_t bits = 0
    cdef int at
    for at in range(7):
        if columns.flag[at] != NULL and columns.flag[at][row] != 0:
            bits |= <uint8_t>(1 << at)
    return bits


cdef double _fill(Tally tallied, double* price, int32_t* row, Py_ssize_t count, double excess, identifier) except? -1.0:
    cdef const Columns* columns = &tallied._columns
    cdef double mark, par, value, haircut = 0.0
    cdef bint is_discount, matters
    cdef Py_ssize_t tied_count
    cdef list tied
    while count and excess > 0.0:
        mark = price[0]
        tied = []
        par = 0.0
        matters = False
        while count and price[0] == mark:  # all rows of one price
            value = _value(row[0], columns, _row_flags(row[0], columns), &is_discount)
            matters |= value < 100.0
            tied.append((row[0], value))
            par += columns.par[row[0]]
            count -= 1
            price[0] = price[count]
            row[0] = row[count]
            if count:
                _sift(price, row, 0, count)
        if matters and par > excess:
            tied.sort(key=lambda pair: identifier(pair[0]))
        for at, value in tied:
            par = min(columns.par[<Py_ssize_t>at], excess)
            excess -= par
            haircut += par * max(0.0, value - max(0.0, mark)) / 100.0
    return haircut


def scheduled_life(
    const double[::1] par not None, maturity, double as_of,
    const int64_t[::1] row not None, const double[::1] days not None, const double[::1] amount not None,
):
    """Average life in years of each loan that has a payment schedule, NaN for the others (domain page 1.8).

    Payments before `as_of` are made already and left out; what the schedule leaves of the par falls due at maturity.
    """
    if not row.shape[0] == days.shape[0] == amount.shape[0]:
        raise ValueError("row, days and amount must be equally long")
    cdef const double[::1] due = maturity
    if due is not None and due.shape[0] != par.shape[0]:
        raise ValueError("par and maturity must be equally long")
    years_array = np.zeros(par.shape[0])
    cdef double[::1] years = years_array
    cdef double[::1] paid = np.zeros(par.shape[0])
    cdef Py_ssize_t at
    cdef double rest
    for at in range(row.shape[0]):
        if not 0 <= row[at] < par.shape[0]:
            raise ValueError("a payment names a row that is not there")
        if amount[at] > 0.0 and _given(amount[at]) and _given(days[at]) and days[at] >= as_of:
            paid[row[at]] += amount[at]
            years[row[at]] += amount[at] * (days[at] - as_of) / DAYS_A_YEAR
    for at in range(par.shape[0]):
        rest = max(0.0, par[at] - paid[at]) if _given(par[at]) else 0.0
        if paid[at] == 0.0 or (rest > 0.0 and (due is None or not _given(due[at]))):
            years[at] = NAN
            continue
        if rest > 0.0:
            years[at] += rest * max(0.0, (due[at] - as_of) / DAYS_A_YEAR)
        years[at] /= paid[at] + rest
    return years_array


def rounded(double number):
    """The number to 6 decimals, as results return it, with no negative zero."""
    # Above 1e9 a double has no seventh decimal to round away.
    return rint(number * 1e6) / 1e6 + 0.0 if fabs(number) < 1e9 else number
